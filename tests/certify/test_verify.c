/* Verification, end to end: a result is written, read back and judged from raw points. True ones are accepted; each
 * number changed by hand is noticed. */
#include "brute_force.h"

#include "forging.h"
#include "linalg/linalg.h"

enum { N = 30, P = 3 };

static clv_data *make_points(clv_context *ctx) {
    clv_data *data = NULL;
    clv_rng rng = clv_rng_stream(4, 0);
    assert_int_equal(clv_data_new_dense(ctx, "points", N, P, CLV_F64, &data), CLV_OK);
    for (int64_t i = 0; i < N * P; i++) {
        ((double *)data->values)[i] = clv_rng_normal(&rng) + 2.5 * (double)(i / P % 3);
    }
    return data;
}

typedef struct setting {
    clv_affinity_kind kind;
    double gamma;
    clv_scale scale;
    const char *scale_name;
    clv_home home;
    int zero_diagonal;
} setting;

/* The JSON text of a run on the points, owned by the context. */
static char *run_to_json(clv_context *ctx, const setting *how) {
    clv_data *data = make_points(ctx);
    clv_affinity_options affinity;
    clv_ncut_options cut;
    clv_affinity *a = NULL;
    clv_affinity_info info;
    clv_result *result = NULL;
    char *text = NULL;
    size_t size;
    clv_affinity_defaults(&affinity);
    affinity.kind = how->kind;
    affinity.gamma = how->gamma;
    affinity.home = how->home;
    affinity.neighbors = 5;
    affinity.zero_diagonal = how->zero_diagonal;
    clv_ncut_defaults(&cut);
    cut.k = 3;
    cut.control.restarts = 5;
    cut.control.threads = 1;
    assert_int_equal(clv_data_scale(data, how->scale), CLV_OK);
    assert_int_equal(clv_affinity_build(ctx, clv_data_matrix(data), &affinity, &a), CLV_OK);
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &cut, &result), CLV_OK);
    clv_affinity_describe(a, &info);
    const clv_option_table *const tables[] = {clv_control_table(), clv_method_find("ncut")->options,
                                              clv_affinity_table(), NULL};
    const void *const options[] = {&cut.control, &cut, &affinity};
    clv_report report = {
        .result = result, .affinity = &info, .scale = how->scale_name, .tables = tables, .options = options};
    assert_int_equal(clv_report_json(ctx, &report, &text, &size), CLV_OK);
    assert_int_equal(strlen(text), size);
    clv_result_free(result);
    clv_affinity_free(a);
    clv_data_free(data);
    return text;
}

static clv_status try_to_judge(clv_context *ctx, const char *json, const clv_data *data, int64_t memory,
                               clv_verdict *out) {
    clv_claim *claim = NULL;
    if (clv_claim_parse(ctx, "result.json", json, strlen(json), NULL, &claim) < 0) {
        fail_msg("%s", clv_message(ctx));
    }
    clv_status status = clv_claim_verify(ctx, claim, &(clv_input){.points = clv_data_matrix(data)}, memory, 1, out);
    clv_claim_free(claim);
    return status;
}

static clv_verdict judge(clv_context *ctx, const char *json) {
    clv_verdict verdict;
    clv_data *data = make_points(ctx);
    assert_int_equal(try_to_judge(ctx, json, data, 0, &verdict), CLV_OK);
    clv_data_free(data);
    return verdict;
}

static const setting plain = {CLV_AFFINITY_EXPONENTIAL, 1, CLV_SCALE_STANDARD, "standard", CLV_HOME_AUTO, 0};

static void true_claims_are_accepted(void **unused) {
    (void)unused;
    const setting settings[] = {
        plain,
        {CLV_AFFINITY_GAUSSIAN, NAN, CLV_SCALE_UNIT_COLUMNS, "unit-columns", CLV_HOME_AUTO, 1},
        {CLV_AFFINITY_GAUSSIAN, 0.25, CLV_SCALE_NONE, "none", CLV_HOME_DENSE32, 0},
        {CLV_AFFINITY_GAUSSIAN, 0.25, CLV_SCALE_MINMAX, "minmax", CLV_HOME_COMPUTED, 0},
        {CLV_AFFINITY_COSINE, NAN, CLV_SCALE_NONE, "none", CLV_HOME_AUTO, 0},
        {CLV_AFFINITY_KNN, NAN, CLV_SCALE_NONE, NULL, CLV_HOME_AUTO, 0},
        {CLV_AFFINITY_MINIMAX, NAN, CLV_SCALE_UNIT_ROWS, "unit-rows", CLV_HOME_AUTO, 0},
        {CLV_AFFINITY_DISTANCE, NAN, CLV_SCALE_NONE, "none", CLV_HOME_AUTO, 0},
    };
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        char *json = run_to_json(ctx, &settings[i]);
        clv_verdict verdict = judge(ctx, json);
        if (!verdict.accepted) {
            fail_msg("setting %zu: %s", i, verdict.reason);
        }
        assert_non_null(strstr(verdict.reason, "as claimed"));
        clv_release(ctx, json);
    }
    clv_context_free(ctx);
}

static void check_rejected(const char *within, const char *field, const char *value, const char *reason) {
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = run_to_json(ctx, &plain);
    char *changed = replace_value(json, within, field, value);
    clv_verdict verdict = judge(ctx, changed);
    check_reason(&verdict, reason);
    free(changed);
    clv_release(ctx, json);
    clv_context_free(ctx);
}

static double claimed_objective(const char *json) {
    return strtod(strstr(strstr(json, "\"objective\""), "\"value\": ") + strlen("\"value\": "), NULL);
}

static void wrong_objectives_are_noticed(void **unused) {
    (void)unused;
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = run_to_json(ctx, &plain);
    const double factors[] = {1 - 1e-4, 1 - 1e-8, 1 + 1e-8, 1e300}; /* the last is more than any cut can be */
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        char *changed = replace_objectives(json, factors[i] * claimed_objective(json));
        char *gapless = replace_value(changed, "\"bound\": {", "\"gap_percent\": ", "null");
        clv_verdict verdict = judge(ctx, changed);
        check_reason(&verdict, factors[i] < 2 ? "gap_percent is claimed to be " : "objective claimed of restart 1");
        verdict = judge(ctx, gapless);
        check_reason(&verdict, factors[i] < 2 ? "ncut is claimed to be " : "objective claimed of restart 1");
        free(gapless);
        free(changed);
    }
    char *same = replace_objectives(json, claimed_objective(json) * (1 + 1e-13));
    assert_true(judge(ctx, same).accepted);
    free(same);
    clv_release(ctx, json);
    clv_context_free(ctx);
}

/* Claimed to be of floats, a result must be that of floats: the home buys no tolerance. */
static void the_home_buys_no_tolerance(void **unused) {
    (void)unused;
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    const setting of_floats = {CLV_AFFINITY_EXPONENTIAL, 1, CLV_SCALE_STANDARD, "standard", CLV_HOME_DENSE32, 0};
    const setting *const settings[] = {&plain, &of_floats};
    for (int s = 0; s < 2; s++) {
        char *json = run_to_json(ctx, settings[s]);
        char *moved = replace_value(json, "\"affinity\": {", "\"home\": ", "\"dense-f32\"");
        char *gapless = replace_value(moved, "\"bound\": {", "\"gap_percent\": ", "null");
        char *changed = replace_objectives(gapless, claimed_objective(json) - 2e-7);
        clv_verdict verdict = judge(ctx, changed);
        check_reason(&verdict, "ncut is claimed");
        free(moved);
        free(gapless);
        free(changed);
        changed = replace_value(json, "\"affinity\": {", "\"home\": ", s ? "\"dense-f64\"" : "\"dense-f32\"");
        verdict = judge(ctx, changed);
        check_reason(&verdict,
                     s ? "elsewhere" : "but the data give"); /* floats were asked for; floats give other numbers */
        free(changed);
        clv_release(ctx, json);
    }
    clv_context_free(ctx);
}

/* Whatever the budget, it is kept, and doubles are not judged by floats. */
static void budgets_change_no_verdict(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_verdict verdict;
    int accepted = 0, tried = 0;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = run_to_json(ctx, &plain);
    for (int64_t memory = 256; memory < 80000; memory += 256, tried++) {
        clv_context *small;
        size_t now, peak;
        assert_int_equal(clv_context_new(NULL, &small), CLV_OK);
        clv_data *data = make_points(small);
        clv_status status = try_to_judge(small, json, data, memory, &verdict);
        clv_data_free(data);
        clv_context_memory(small, &now, &peak);
        if (status == CLV_OK && (!verdict.accepted || peak > (size_t)memory)) {
            fail_msg("%lld bytes allowed, %zu held: %s", (long long)memory, peak, verdict.reason);
        }
        assert_true(status == CLV_OK || status == CLV_ENOMEM);
        accepted += status == CLV_OK;
        clv_context_free(small);
    }
    assert_true(accepted > 0 && accepted < tried);
    clv_data *data = make_points(ctx);
    assert_int_equal(try_to_judge(ctx, json, data, -1, &verdict), CLV_EUSAGE);
    clv_claim *claim = NULL; /* nor does what else the caller gets wrong */
    assert_int_equal(clv_claim_parse(ctx, "result.json", json, strlen(json), NULL, &claim), CLV_OK);
    assert_int_equal(clv_claim_verify(ctx, claim, &(clv_input){.points = clv_data_matrix(data)}, 0, -7, &verdict),
                     CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "threads = "));
    clv_claim_free(claim);
    clv_data_free(data);
    clv_release(ctx, json);
    clv_context_free(ctx);
}

/* A path of three objects, the first edge heavier by `more`, cut at that edge: to move the middle gains a little. */
static void make_path(double more, double similarity[9]) {
    const double path[9] = {1, 1 + more, 0, 1 + more, 1, 1, 0, 1, 1};
    memcpy(similarity, path, sizeof path);
}

static clv_certificate path_certificate(clv_context *ctx, double more, clv_objective *objective) {
    double similarity[9];
    const clv_matrix given = {.rows = 3, .cols = 3, .values = similarity};
    clv_affinity_options how;
    clv_ncut_options cut;
    clv_affinity *a = NULL;
    clv_result *answer = NULL, *found = NULL;
    make_path(more, similarity);
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    assert_int_equal(clv_affinity_build(ctx, &given, &how, &a), CLV_OK);
    clv_ncut_defaults(&cut);
    assert_int_equal(clv_result_new(ctx, 3, 2, &answer), CLV_OK);
    for (int i = 0; i < 3; i++) {
        answer->labels[i] = i > 0;
    }
    assert_int_equal(clv_ncut_evaluate(ctx, &(clv_input){.affinity = a}, &cut, answer, &found), CLV_OK);
    clv_certificate certificate = found->certificate;
    *objective = found->objective;
    clv_result_free(found);
    clv_result_free(answer);
    clv_affinity_free(a);
    return certificate;
}

/* The verdict on the path when the certificate is claimed to have `value`. */
static clv_verdict judge_path(clv_context *ctx, double more, double value, bool holds, const char *home) {
    char json[1024];
    clv_objective objective;
    clv_certificate found = path_certificate(ctx, more, &objective);
    clv_data *data = NULL;
    clv_verdict verdict;
    snprintf(json, sizeof json,
             "{\"cleave\": \"" CLV_VERSION "\", \"drift\": 0, \"seconds\": {\"solve\": 0}, "
             "\"method\": \"ncut\", \"solver\": \"fpc\", \"n\": 3, \"k\": 2, \"seed\": 1, \"options\": {\"k\": 2},"
             " \"affinity\": {\"kind\": \"precomputed\", \"home\": \"%s\", \"bytes\": 0, \"nonzeros\": 9},"
             " \"objective\": {\"name\": \"ncut\", \"value\": %.17g, \"sense\": \"min\"},"
             " \"certificate\": {\"name\": \"one-move-gain\", \"value\": %.17g, \"tolerance\": %.17g, \"holds\": %s},"
             " \"stop\": \"%s\", \"iterations\": 1, \"restarts\": [{\"objective\": %.17g, \"iterations\": 1, "
             "\"seconds\": 0, \"stop\": \"%s\"}],"
             " \"sizes\": [1, 2], \"left_out\": 0, \"labels\": [0, 1, 1], \"components\": 1}",
             home, objective.value, value, found.tolerance, holds ? "true" : "false", holds ? "converged" : "stalled",
             objective.value, holds ? "converged" : "stalled");
    assert_int_equal(clv_data_new_dense(ctx, "path", 3, 3, CLV_F64, &data), CLV_OK);
    make_path(more, data->values);
    assert_int_equal(try_to_judge(ctx, json, data, 0, &verdict), CLV_OK);
    clv_data_free(data);
    return verdict;
}

/* Gains between the tolerance of the certificate and what is allowed between two evaluations. */
static void small_gains_are_gains(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_objective objective;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    double more = 1e-9;
    clv_certificate found = path_certificate(ctx, more, &objective);
    assert_true(found.value > 10 * found.tolerance && found.value < 1e-9 && !found.holds);
    clv_verdict verdict = judge_path(ctx, more, found.value, false, "dense-f64");
    assert_true(verdict.accepted);
    assert_non_null(strstr(verdict.reason, "as claimed"));
    verdict = judge_path(ctx, more, 0, true, "dense-f64");
    check_reason(&verdict, "claimed to hold, but the data give one-move-gain");
    verdict = judge_path(ctx, more, found.value, false, "dense-f32");
    check_reason(&verdict, "cannot hold");
    found = path_certificate(ctx, 0, &objective);
    assert_true(found.holds);
    verdict = judge_path(ctx, 0, 1e-10, false, "dense-f64");
    check_reason(&verdict, "claimed not to hold, but the data give one-move-gain");
    clv_context_free(ctx);
}

/* Next to the tolerance rounding decides, and the verdict does not say that the claim is what was found. */
static void rounding_is_forgiven_at_the_tolerance(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_objective objective;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    clv_certificate found = path_certificate(ctx, 1e-9, &objective);
    double slope = found.value / 1e-9, more = (found.tolerance + 1e-14) / slope;
    found = path_certificate(ctx, more, &objective);
    assert_true(found.value > found.tolerance && found.value < found.tolerance + 2e-14);
    clv_verdict verdict = judge_path(ctx, more, found.tolerance, true, "dense-f64");
    assert_true(verdict.accepted);
    assert_null(strstr(verdict.reason, "as claimed"));
    verdict = judge_path(ctx, more, found.tolerance - 1e-13, true, "dense-f64");
    check_reason(&verdict, "claimed to hold, but");
    clv_context_free(ctx);
}

static void contradictions_are_noticed(void **unused) {
    (void)unused;
    check_rejected("\"objective\"", "\"value\": ", "0.01", "not that of any restart");
    check_rejected("\"objective\"", "\"value\": ", "1e300", "better objective than the result");
    check_rejected("\"restarts\": [", "\"objective\": ", "0.01", "restart 1 is claimed to have a better");
    check_rejected("\"bound\": {", "\"value\": ", "2", "bound claimed lies above");
    check_rejected("\"options\"", "\"affinity\": ", "\"cosine\"", "option affinity is claimed to be 'cosine'");
    check_rejected("\"affinity\": {", "\"kind\": ", "\"cosine\"", "elsewhere in the claim it is 'cosine'");
    check_rejected("\"options\"", "\"k\": ", "4", "option k is claimed to be '4'");
    check_rejected("\"options\"", "\"seed\": ", "7", "option seed is claimed to be '7'");
    check_rejected("\"options\"", "\"solver\": ", "\"fcd\"", "option solver is claimed to be 'fcd'");
    check_rejected("\"options\"", "\"home\": ", "\"computed\"", "option home is claimed to be 'computed'");
    check_rejected("\"affinity\": {", "\"gamma\": ", "1.1", "different numbers");
    check_rejected("\"options\"", "\"gamma\": ", "1.1", "different numbers");
    check_rejected("\"certificate\"", "\"value\": ", "null", "not claimed to have been cut short");
}

static void impossible_claims_are_noticed(void **unused) {
    (void)unused;
    check_rejected("\"solver\"", ": ", "\"magic\"", "solver = 'magic' is not allowed: it must be");
    check_rejected("\"options\"", "\"polish\": ", "7", "polish = '7'");
    check_rejected("\"options\"", "\"max-iter\": ", "-1", "max-iter = '-1'");
    check_rejected("\"options\"", "\"scale\": ", "\"half\"",
                   "scale = 'half' is not allowed: it must be none, standard");
    check_rejected("\"options\"", "\"neighbors\": ", "0", "neighbors = '0'");
    check_rejected("\"affinity\": {", "\"home\": ", "\"nowhere\"",
                   "home = 'nowhere' is not allowed: it must be auto, dense-f64");
    check_rejected("\"affinity\": {", "\"home\": ", "\"auto\"", "is not the name of a home");
    check_rejected("\"affinity\": {", "\"home\": ", "\"sparse\"", "home = sparse cannot hold");
    check_rejected("\"objective\"", "\"name\": ", "\"cut\"", "objective is claimed to be 'cut'");
    check_rejected("\"objective\"", "\"sense\": ", "\"least\"", "sense of the objective is claimed to be 'least'");
    check_rejected("\"certificate\"", "\"name\": ", "\"optimal\"", "certificate is claimed to be 'optimal'");
    check_rejected("\"stop\"", ": ", "\"bored\"", "reason 'bored'");
    check_rejected("\"stop\"", "\"iterations\": ", "-1", "-1 iterations are claimed");
    check_rejected("\"restarts\": [", "\"stop\": ", "\"bored\"", "reason 'bored'");
    check_rejected("\"restarts\": [", "\"iterations\": ", "-2", "-2 iterations are claimed");
}

/* The JSON text of a run with `old` replaced by `text`. */
static void check_edited(const char *old, const char *text, const char *reason) {
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = run_to_json(ctx, &plain);
    const char *at = strstr(json, old);
    assert_non_null(at);
    char *changed = malloc(strlen(json) + strlen(text) + 1);
    memcpy(changed, json, (size_t)(at - json));
    strcpy(changed + (at - json), text);
    strcat(changed, at + strlen(old));
    clv_verdict verdict = judge(ctx, changed);
    check_reason(&verdict, reason);
    free(changed);
    clv_release(ctx, json);
    clv_context_free(ctx);
}

#define ONES "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "

static void check_without_restarts(const char *reason) {
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = run_to_json(ctx, &plain), *changed = replace_list(json, "\"restarts\": [", "\"restarts\": []");
    clv_verdict verdict = judge(ctx, changed);
    check_reason(&verdict, reason);
    free(changed);
    clv_release(ctx, json);
    clv_context_free(ctx);
}

/* Beside objective and certificate: each of these alone makes a true result false. */
static void side_claims_are_looked_at(void **unused) {
    (void)unused;
    check_rejected("\"components\"", ": ", "2", "components is claimed to be 2, but the data give 1");
    check_rejected("\"components\"", ": ", "0", "components is claimed to be 0, but the data give 1");
    check_rejected("\"bound\": {", "\"gap_percent\": ", "0", "gap_percent is claimed to be 0,");
    check_rejected("\"bound\": {", "\"gap_percent\": ", "-1", "gap_percent is claimed to be -1,");
    check_rejected("\"bound\": {", "\"name\": ", "\"optimum\"", "bound is claimed to be 'optimum'");
    check_rejected("\"bound\": {", "\"value\": ", "-0.5", "but the objective and the bound claimed give");
    check_rejected("\"bound\": {", "\"value\": ", "null", "gap_percent is claimed without a bound");
    check_rejected("\"drift\"", ": ", "-1e-3", "drift claimed lies outside 0..0.01");
    check_rejected("\"components\"", ": ", "-1", "components is claimed to be -1, but it cannot be below 0");
    check_rejected("\"eigenvalues\"", "[", "1.001", "eigenvalue 1 is 1.001");
    check_rejected("\"eigenvalues\"", "[", "0.999", "eigenvalue 1 is 0.999, but those of a normalized affinity begin");
    check_rejected("\"eigenvalues\"", "[", "null", "eigenvalue 1 is nan");
    check_rejected("\"eigenvalues\"", ", ", "-1.5", "eigenvalue 2 is -1.5");
    check_rejected("\"eigenvalues\"", "[", ONES ONES ONES "1", "eigenvalues of 30 objects");
    check_rejected("\"eigenvalues\"", ", ", "0.9999999, 0.99999995", "eigenvalue 3 is 0.99999995, but");
    check_rejected("\"eigenvalues\"", ", ", "0.9999999, 0.99", "there are 4 eigenvalues, but these options give 3");
    check_rejected("\"eigenvalues\"", ", ", "0.9999999", "eigenvalue 2 is 0.9999999, but the data give");
    check_edited(" \"components\"", " \"shift\": -0.5, \"components\"", "a shift of -0.5");
    check_edited(" \"components\"", " \"shift\": 0.5, \"components\"", "a shift of 0.5 cannot come from these options");
    check_edited(" \"components\"", " \"entropy\": [], \"components\"", "the field entropy is claimed, but ncut gives");
    check_edited(" \"components\"", " \"k_alternatives\": [], \"components\"", "k_alternatives.k is claimed with 0");
    check_edited(" \"affinity\": {", " \"similarity\": {", "the field similarity is claimed");
    check_without_restarts("0 restarts are claimed, but 5 were asked for");
    check_edited("\"eigenvalues\"", "\"values\"", "the field values is claimed");
}

/* The bound of a run, a little above what its eigenvalues give, and with the gap that goes with it. */
static void a_bound_is_no_better_than_its_eigenvalues(void **unused) {
    (void)unused;
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = run_to_json(ctx, &plain);
    double objective = claimed_objective(json);
    double bound = strtod(strstr(strstr(json, "\"bound\": {"), "\"value\": ") + strlen("\"value\": "), NULL);
    const double more[] = {1e-13, 1e-7};
    for (int i = 0; i < 2; i++) {
        char value[32], gap[32];
        assert_true(bound + more[i] < objective);
        snprintf(value, sizeof value, "%.17g", bound + more[i]);
        snprintf(gap, sizeof gap, "%.17g", 100 * (objective - bound - more[i]) / objective);
        char *raised = replace_value(json, "\"bound\": {", "\"value\": ", value);
        char *changed = replace_value(raised, "\"bound\": {", "\"gap_percent\": ", gap);
        clv_verdict verdict = judge(ctx, changed);
        if (i == 0) {
            assert_true(verdict.accepted);
        } else {
            check_reason(&verdict, "bound claimed is better than the other");
        }
        free(raised);
        free(changed);
    }
    clv_release(ctx, json);
    clv_context_free(ctx);
}

/* k = auto is no contradiction, and neither is a claim that leaves out what can be left out. */
static void less_may_be_said(void **unused) {
    (void)unused;
    const char *const changes[][3] = {
        {"\"options\"", "\"affinity\": ", "null"},
        {"\"options\"", "\"start\": ", "\"labels.npy\""},
        {"\"bound\": {", "\"gap_percent\": ", "null"},
        {"\"drift\"", ": ", "null"},
    };
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = run_to_json(ctx, &plain);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char *changed = replace_value(json, changes[i][0], changes[i][1], changes[i][2]);
        clv_verdict verdict = judge(ctx, changed);
        if (!verdict.accepted) {
            fail_msg("%s%s: %s", changes[i][1], changes[i][2], verdict.reason);
        }
        free(changed);
    }
    clv_release(ctx, json);
    clv_context_free(ctx);
}

/* A cancelled run claims no certificate; the verdict says so. */
static void cancelled_runs_claim_less(void **unused) {
    (void)unused;
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = run_to_json(ctx, &plain);
    char *stopped = replace_value(json, "\"stop\"", ": ", "\"cancelled\"");
    char *none = replace_value(stopped, "\"certificate\"", "\"value\": ", "null");
    char *changed = replace_value(none, "\"certificate\"", "\"holds\": ", "false");
    clv_verdict verdict = judge(ctx, none);
    check_reason(&verdict, "contradicts its own value");
    verdict = judge(ctx, changed);
    assert_true(verdict.accepted);
    assert_non_null(strstr(verdict.reason, "no certificate was claimed"));
    free(stopped);
    free(none);
    free(changed);
    clv_release(ctx, json);
    clv_context_free(ctx);
}

static void unknown_methods_cannot_be_judged(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_verdict verdict;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = run_to_json(ctx, &plain);
    char *changed = replace_value(json, "\"method\"", ": ", "\"magic\"");
    clv_data *data = make_points(ctx);
    assert_int_equal(try_to_judge(ctx, changed, data, 0, &verdict), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "'magic'"));
    clv_data_free(data);
    free(changed);
    clv_release(ctx, json);
    clv_context_free(ctx);
}

static void changed_numbers_are_noticed(void **unused) {
    (void)unused;
    check_rejected("\"certificate\"", "\"value\": ", "-0.25", "one-move-gain is claimed to be -0.25");
    check_rejected("\"certificate\"", "\"value\": ", "0.25", "contradicts its own value");
    check_rejected("\"certificate\"", "\"tolerance\": ", "1", "tolerance");
    check_rejected("\"certificate\"", "\"tolerance\": ", "3.001e-12", "tolerance");
    check_rejected("\"certificate\"", "\"holds\": ", "false", "contradicts its own value");
    check_rejected("\"sizes\"", "[", "7", "size of cluster 0");
    check_rejected("\"left_out\"", ": ", "2", "left out");
    check_rejected("\"labels\"", "[", "3", "label 3 of object 1 is not in");
    check_rejected("\"labels\"", "[", "-1", "size of cluster");
    check_rejected("\"labels\"", "[", "0, 0", "31 labels are claimed for 30");
    check_rejected("\"n\"", ": ", "29", "30 labels are claimed for 29 objects");
    check_rejected("\"k\"", ": ", "31", "3 sizes are claimed for 31 clusters");
    check_rejected("\"k\"", ": ", "2", "3 sizes are claimed for 2");
    check_rejected("\"options\"", "\"zero-diagonal\": ", "true", "but the data give");
    check_rejected("\"options\"", "\"scale\": ", "\"none\"", "but the data give");
}

/* Two objects of different clusters swapped: sizes stay true, objective and certificate do not. */
static void swapped_labels_are_noticed(void **unused) {
    (void)unused;
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = run_to_json(ctx, &plain);
    char *first = strstr(json, "\"labels\": [") + strlen("\"labels\": [");
    char *other = first;
    while (*other == ',' || *other == ' ' || *other == *first) {
        other++;
    }
    char held = *first;
    *first = *other;
    *other = held;
    clv_verdict verdict = judge(ctx, json);
    assert_false(verdict.accepted);
    assert_non_null(strstr(verdict.reason, "ncut is claimed"));
    assert_true(isfinite(verdict.objective.value));
    clv_release(ctx, json);
    clv_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_claims_are_accepted),
        cmocka_unit_test(changed_numbers_are_noticed),
        cmocka_unit_test(wrong_objectives_are_noticed),
        cmocka_unit_test(the_home_buys_no_tolerance),
        cmocka_unit_test(budgets_change_no_verdict),
        cmocka_unit_test(small_gains_are_gains),
        cmocka_unit_test(rounding_is_forgiven_at_the_tolerance),
        cmocka_unit_test(contradictions_are_noticed),
        cmocka_unit_test(impossible_claims_are_noticed),
        cmocka_unit_test(side_claims_are_looked_at),
        cmocka_unit_test(a_bound_is_no_better_than_its_eigenvalues),
        cmocka_unit_test(less_may_be_said),
        cmocka_unit_test(cancelled_runs_claim_less),
        cmocka_unit_test(unknown_methods_cannot_be_judged),
        cmocka_unit_test(swapped_labels_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
