/* Verification of methods other than those there are: a method on points alone with memberships and centers, one that
 * finds clusters one by one on an affinity, one that learns weights and gives no labels, each made by hand. What they
 * claim is recomputed from raw points, and each part of it, changed, is noticed. */
#include "brute_force.h"

#include "engine/result.h"
#include "forging.h"
#include "linalg/linalg.h"
#include "methods/methods.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 6, P = 2, K = 2 };

static const double raw[N * P] = {0, 0, 1, 0, 0, 1, 8, 8, 9, 8, 8, 9};

static clv_data *make_points(clv_context *ctx, double unit) {
    clv_data *data = NULL;
    assert_int_equal(clv_data_new_dense(ctx, "points", N, P, CLV_F64, &data), CLV_OK);
    for (int i = 0; i < N * P; i++) {
        ((double *)data->values)[i] = unit * raw[i];
    }
    return data;
}

/* Every method has a solver and a k; these options are those of all methods here. */
typedef struct any_options {
    clv_control control;
    int64_t k;
    int solver;
} any_options;

static const clv_option any_option[] = {
    CLV_OPT_INT(any_options, k, "k", 'k', 0, 1, 0x1p31 - 1, "auto", "N", "clusters"),
    CLV_OPT_CHOICE(any_options, solver, "solver", 0, "fpc", "the only one"),
};
static const clv_option_table options_table = {"any", any_option, CLV_COUNT(any_option), sizeof(any_options)};

/* --- a method on points: squared distances to centers, weighted by memberships; the certificate is the length of the
 * gradient by the centers --- */

static const clv_method means;

static size_t a_number_per_object(const clv_input *input, const void *options) {
    (void)options;
    return (size_t)input->points->rows * sizeof(double);
}

static void evaluate_means(const clv_matrix *points, const clv_matrix *membership, const clv_matrix *centers,
                           clv_result *found) {
    double gradient[K * P] = {0}, point[P], weight[K], value = 0, square = 0;
    for (int64_t i = 0; i < points->rows; i++) {
        clv_matrix_row(points, i, point);
        clv_matrix_row(membership, i, weight);
        for (int64_t c = 0; c < K; c++) {
            for (int64_t j = 0; j < P; j++) {
                double away = ((const double *)centers->values)[c * P + j] - point[j];
                value += weight[c] * away * away;
                gradient[c * P + j] += 2 * weight[c] * away;
            }
        }
    }
    for (int i = 0; i < K * P; i++) {
        square += gradient[i] * gradient[i];
    }
    clv_result_claim(found, &means, value, sqrt(square), 1e-3 * value);
}

static clv_status means_evaluate(clv_context *ctx, const clv_input *input, const void *options,
                                 const clv_result *answer, clv_result *found) {
    const clv_matrix *membership, *centers;
    (void)options;
    assert_null(input->affinity);
    CLV_TRY(clv_answer_matrix(ctx, answer, "membership", N, K, &membership));
    CLV_TRY(clv_answer_matrix(ctx, answer, "centers", K, P, &centers));
    evaluate_means(input->points, membership, centers, found);
    return CLV_OK;
}

static const clv_field_info means_give[] = {
    {"labels", CLV_FIELD_INTEGER, "n", CLV_ANSWER, .help = ""},
    {"membership", CLV_FIELD_SPARSE, "n x k", CLV_ANSWER, .help = ""},
    {"centers", CLV_FIELD_MATRIX, "k x p", CLV_ANSWER, .help = ""},
};

static const clv_method means = {.name = "means",
                                 .takes = CLV_TAKES_POINTS,
                                 .options = &options_table,
                                 .gives = means_give,
                                 .gives_count = CLV_COUNT(means_give),
                                 .objective = "within",
                                 .certificate = "gradient",
                                 .relative = 1,
                                 .memory = a_number_per_object,
                                 .evaluate = means_evaluate};

/* Memberships near to hard ones, centers near to the means, on points scaled to 0..1. */
static char *means_to_json(clv_context *ctx, double unit) {
    double membership[N * K], centers[K * P];
    const clv_matrix w = {.rows = N, .cols = K, .values = membership}, x = {.rows = K, .cols = P, .values = centers};
    clv_data *data = make_points(ctx, unit);
    clv_result *result = NULL;
    clv_restart restart = {.iterations = 1};
    char *text = NULL;
    size_t size;
    assert_int_equal(clv_data_scale(data, CLV_SCALE_MINMAX), CLV_OK);
    assert_int_equal(clv_result_new(ctx, N, K, &result), CLV_OK);
    for (int i = 0; i < N; i++) {
        result->labels[i] = i / 3;
    }
    clv_result_count(result);
    for (int i = 0; i < N * K; i++) {
        membership[i] = i % K == result->labels[i / K] ? 0.9 : 0.1;
    }
    for (int i = 0; i < K * P; i++) {
        centers[i] = i / P ? 0.85 : 0.125;
    }
    clv_field fields[] = {{.name = "membership", .kind = CLV_FIELD_SPARSE, .count = 1, .matrix = &w},
                          {.name = "centers", .kind = CLV_FIELD_MATRIX, .count = 1, .matrix = &x}};
    for (size_t f = 0; f < CLV_COUNT(fields); f++) {
        assert_int_equal(clv_result_put(result, &fields[f]), CLV_OK);
    }
    evaluate_means(clv_data_matrix(data), &w, &x, result);
    snprintf(result->solver, sizeof result->solver, "fpc");
    result->seed = 1;
    restart.objective = result->objective.value;
    result->iterations = restart.iterations;
    result->restarts = &restart;
    result->restarts_count = 1;
    const clv_report report = {.result = result, .scale = "minmax"};
    assert_int_equal(clv_report_json(ctx, &report, &text, &size), CLV_OK);
    result->restarts = NULL;
    clv_result_free(result);
    clv_data_free(data);
    return text;
}

static clv_status judge_by(clv_context *ctx, const clv_method *method, const char *json, double unit, int64_t memory,
                           clv_verdict *out) {
    clv_claim *claim = NULL;
    clv_data *data = make_points(ctx, unit);
    const clv_matrix targets = {.rows = N, .cols = 1, .values = raw};
    const clv_input input = {.points = clv_data_matrix(data),
                             .targets = method->takes == CLV_TAKES_SAMPLES ? &targets : NULL};
    if (clv_claim_parse(ctx, "result.json", json, strlen(json), method, &claim) < 0) {
        fail_msg("%s in\n%s", clv_message(ctx), json);
    }
    clv_status status = clv_claim_verify_by(ctx, method, claim, &input, memory, 1, out);
    clv_claim_free(claim);
    clv_data_free(data);
    return status;
}

static void check_accepted(clv_context *ctx, const clv_method *method, const char *json, double unit) {
    clv_verdict verdict;
    assert_int_equal(judge_by(ctx, method, json, unit, 0, &verdict), CLV_OK);
    if (!verdict.accepted) {
        fail_msg("%s: %s", method->name, verdict.reason);
    }
}

/* `json` with the first `old` replaced; by malloc. */
static char *edit(const char *json, const char *old, const char *text) {
    const char *at = strstr(json, old);
    if (!at) {
        fail_msg("no '%s' in\n%s", old, json);
        return NULL;
    }
    char *changed = malloc(strlen(json) + strlen(text) + 1);
    memcpy(changed, json, (size_t)(at - json));
    strcpy(changed + (at - json), text);
    strcat(changed, at + strlen(old));
    return changed;
}

static void check_rejected(clv_context *ctx, const clv_method *method, const char *json, const char *old,
                           const char *text, const char *reason) {
    clv_verdict verdict;
    char *changed = edit(json, old, text);
    assert_int_equal(judge_by(ctx, method, changed, 1, 0, &verdict), CLV_OK);
    if (verdict.accepted || !strstr(verdict.reason, reason)) {
        fail_msg("'%s' -> '%s': '%s' does not speak of '%s'", old, text, verdict.reason, reason);
    }
    free(changed);
}

static clv_context *begin(void) {
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    return ctx;
}

static void end(clv_context *ctx) {
    size_t now, peak;
    clv_context_memory(ctx, &now, &peak);
    assert_int_equal(now, 0);
    clv_context_free(ctx);
}

static void methods_on_points_are_judged(void **unused) {
    (void)unused;
    clv_context *ctx = begin();
    char *json = means_to_json(ctx, 1);
    assert_null(strstr(json, "affinity"));
    check_accepted(ctx, &means, json, 1);
    check_accepted(ctx, &means, json, 7); /* minmax undoes the unit */
    check_rejected(ctx, &means, json, "\"scale\": \"minmax\"", "\"scale\": \"none\"", "within is claimed");
    check_rejected(ctx, &means, json, "[0.125, ", "[0.126, ", "within is claimed");
    check_rejected(ctx, &means, json, "\"value\": [0.9", "\"value\": [0.8", "within is claimed");
    check_rejected(ctx, &means, json, "\"value\": [0.9", "\"value\": [-0.9", "within is claimed");
    check_rejected(ctx, &means, json, "{\"rows\": 6, \"cols\": 2, \"start\": [0, ",
                   "{\"rows\": 7, \"cols\": 2, \"start\": [0, 0, ",
                   "membership is claimed with 7 rows or columns, but there must be 6");
    check_rejected(ctx, &means, json, "\"centers\": [", "\"centers\": [[1, 2], ",
                   "centers is claimed with 3 rows or columns, but there must be 2");
    char *narrow = replace_list(json, "\"centers\"", "\"centers\": [[1], [2]]");
    char *centerless = replace_list(json, "\"centers\"", "\"metrics\": {}");
    char *unlabeled = replace_list(json, "\"labels\"", "\"metrics\": {}");
    check_rejected(ctx, &means, narrow, "{", "{", "centers must be 2 x 2, not 2 x 1");
    check_rejected(ctx, &means, centerless, "{", "{", "cannot be: the answer lacks its centers");
    check_rejected(ctx, &means, unlabeled, "{", "{", "no labels are claimed, but means gives them");
    free(narrow);
    free(centerless);
    free(unlabeled);
    check_rejected(ctx, &means, json, "\"objective\": {", "\"affinity\": {\"kind\": \"knn\"}, \"objective\": {",
                   "an affinity is claimed, but means works on the points");
    check_rejected(ctx, &means, json, "\"objective\": {", "\"components\": 1, \"objective\": {",
                   "the field components is claimed, but means gives no such field");
    check_rejected(ctx, &means, json, "\"objective\": {",
                   "\"bound\": {\"name\": \"x\", \"value\": 0}, \"objective\": {",
                   "a bound is claimed, but means has none");
    clv_release(ctx, json);
    end(ctx);
}

static void budgets_count_the_points(void **unused) {
    (void)unused;
    clv_verdict verdict;
    clv_context *ctx = begin();
    char *json = means_to_json(ctx, 1);
    assert_int_equal(judge_by(ctx, &means, json, 1, 256, &verdict), CLV_ENOMEM);
    assert_non_null(strstr(clv_message(ctx), "bytes is too small"));
    assert_int_equal(judge_by(ctx, &means, json, 1, 1 << 20, &verdict), CLV_OK);
    assert_true(verdict.accepted);
    clv_release(ctx, json);
    end(ctx);
}

/* The number after `field`, multiplied; by malloc. */
static char *multiply(const char *json, const char *within, const char *field, double factor) {
    char old[64], text[64];
    const char *at = strstr(strstr(json, within), field) + strlen(field);
    snprintf(old, sizeof old, "%s%.*s", field, (int)strcspn(at, ",]}"), at);
    snprintf(text, sizeof text, "%s%.17g", field, factor * strtod(at, NULL));
    return edit(json, old, text);
}

/* In units of the objective, a certificate of 1e12 may differ by 1e-9 of that, and one of 1e-12 may not differ by it.
 */
static void certificates_have_the_scale_of_the_objective(void **unused) {
    (void)unused;
    const struct {
        double factor;
        bool accepted;
    } cases[] = {{1 + 1e-13, true}, {1 + 1e-5, false}};
    clv_context *ctx = begin();
    clv_method absolute = means;
    absolute.relative = 0;
    char *json = means_to_json(ctx, 1);
    char *unscaled = edit(json, "\"scale\": \"minmax\"", "\"scale\": \"none\"");
    clv_verdict found, verdict;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const fields[] = {"\"value\": ", "\"tolerance\": "};
        for (int f = 0; f < 2; f++) {
            char *changed = multiply(json, "\"certificate\": {", fields[f], cases[i].factor);
            assert_int_equal(judge_by(ctx, &means, changed, 1, 0, &verdict), CLV_OK);
            assert_int_equal(verdict.accepted, cases[i].accepted);
            assert_int_equal(judge_by(ctx, &absolute, changed, 1, 0, &verdict), CLV_OK);
            assert_int_equal(verdict.accepted, cases[i].accepted && f == 0);
            free(changed);
        }
    }
    /* Points so far away that the certificate is far above 1: by its digits, also where it is no multiple of the
     * objective. */
    assert_int_equal(judge_by(ctx, &means, unscaled, 1e6, 0, &found), CLV_OK);
    assert_false(found.accepted);
    char claim[4096];
    snprintf(claim, sizeof claim,
             "{\"cleave\": \"" CLV_VERSION "\", \"drift\": 0, \"seconds\": {\"solve\": 0}, "
             "\"method\": \"means\", \"solver\": \"fpc\", \"n\": 6, \"k\": 2, \"seed\": 1, \"options\": {},"
             " \"objective\": {\"name\": \"within\", \"value\": %.17g, \"sense\": \"min\"},"
             " \"certificate\": {\"name\": \"gradient\", \"value\": %.17g, \"tolerance\": %.17g, \"holds\": %s},"
             " \"stop\": \"converged\", \"iterations\": 1, \"restarts\": [{\"objective\": %.17g, \"iterations\": 1, "
             "\"seconds\": 0, \"stop\": \"converged\"}],"
             "%s",
             found.objective.value, found.certificate.value * (1 + 1e-14), found.certificate.tolerance,
             found.certificate.holds ? "true" : "false", found.objective.value, strstr(json, "\n \"sizes\""));
    check_accepted(ctx, &means, claim, 1e6);
    check_accepted(ctx, &absolute, claim, 1e6);
    char *off = multiply(claim, "\"certificate\": {", "\"value\": ", 1 + 1e-6);
    assert_int_equal(judge_by(ctx, &absolute, off, 1e6, 0, &verdict), CLV_OK);
    assert_false(verdict.accepted);
    free(off);
    free(unscaled);
    clv_release(ctx, json);
    end(ctx);
}

/* --- clusters one by one, on an affinity --- */

static const clv_method peel;

static size_t no_memory(const clv_input *input, const void *options) {
    (void)input;
    (void)options;
    return 0;
}

static clv_status peel_evaluate(clv_context *ctx, const clv_input *input, const void *options, const clv_result *answer,
                                clv_result *found) {
    static const int64_t sizes[] = {3, 2}, prototypes[] = {0, 5};
    double own, other;
    (void)ctx;
    (void)options;
    /* The method has set the diagonal to 0 against the claim. */
    CLV_TRY(clv_affinity_entry(input->affinity, 1, 1, &own));
    CLV_TRY(clv_affinity_entry(input->affinity, 0, 1, &other));
    assert_true(own == 0);
    clv_result_claim(found, &peel, other, 0, 1e-6);
    CLV_TRY(clv_result_put_integers(found, "clusters.size", sizes, answer->k));
    return clv_result_put_integers(found, "clusters.prototype", prototypes, answer->k);
}

static clv_status peel_suit(clv_context *ctx, const clv_matrix *points, const void *options,
                            clv_affinity_options *how) {
    (void)ctx;
    (void)points;
    (void)options;
    how->zero_diagonal = 1;
    return CLV_OK;
}

static const clv_field_info peel_gives[] = {
    {"labels", CLV_FIELD_INTEGER, "n", CLV_ANSWER, .help = ""},
    {"clusters.size", CLV_FIELD_INTEGER, "k", CLV_DERIVED, .help = ""},
    {"clusters.prototype", CLV_FIELD_INTEGER, "k", CLV_DERIVED, .help = ""},
    {"clusters.pass", CLV_FIELD_INTEGER, "k", CLV_STATED, .help = ""},
    {"passes", CLV_FIELD_INTEGER, "", CLV_STATED, .help = ""},
};

static const clv_method peel = {.name = "peel",
                                .takes = CLV_TAKES_AFFINITY,
                                .options = &options_table,
                                .k_meaning = CLV_K_AT_MOST,
                                .gives = peel_gives,
                                .gives_count = CLV_COUNT(peel_gives),
                                .objective = "similarity",
                                .maximize = 1,
                                .certificate = "gap",
                                .suit = peel_suit,
                                .memory = no_memory,
                                .evaluate = peel_evaluate};

#define CLUSTER(size, prototype, pass) "{\"size\": " size ", \"prototype\": " prototype ", \"pass\": " pass "}"

static const char peeled[] =
    "{\"cleave\": \"" CLV_VERSION "\", \"drift\": 0, \"seconds\": {\"solve\": 0}, "
    "\"method\": \"peel\", \"solver\": \"fpc\", \"n\": 6, \"k\": 2, \"seed\": 1, \"options\": {\"k\": 5, "
    "\"zero-diagonal\": false},"
    " \"affinity\": {\"kind\": \"exponential\", \"gamma\": 1, \"home\": \"dense-f64\", \"bytes\": 700, \"nonzeros\": "
    "36},"
    " \"objective\": {\"name\": \"similarity\", \"value\": 0.36787944117144233, \"sense\": \"max\"},"
    " \"certificate\": {\"name\": \"gap\", \"value\": 0, \"tolerance\": 1e-6, \"holds\": true},"
    " \"stop\": \"converged\", \"iterations\": 1,"
    " \"restarts\": [{\"objective\": 0.36787944117144233, \"iterations\": 1, \"seconds\": 0, \"stop\": \"converged\"}],"
    " \"sizes\": [3, 2], \"left_out\": 1, \"labels\": [0, 0, 0, 1, 1, -1],"
    " \"clusters\": [" CLUSTER("3", "0", "0") ", " CLUSTER("2", "5", "1") "], \"passes\": 2}";

static void clusters_found_one_by_one(void **unused) {
    (void)unused;
    clv_context *ctx = begin();
    check_accepted(ctx, &peel, peeled, 1);
    check_rejected(ctx, &peel, peeled, "\"k\": 5", "\"k\": 1", "2 clusters are claimed, but at most 1");
    check_rejected(ctx, &peel, peeled, "\"pass\": 1", "\"pass\": 1, \"proof\": 1",
                   "clusters has a member proof, but peel gives no such one");
    check_rejected(ctx, &peel, peeled, CLUSTER("3", "0", "0") ", ", "",
                   "clusters.size is claimed with 1 entries, but there must be 2");
    check_rejected(ctx, &peel, peeled, "{\"size\": 3", "{\"size\": 7",
                   "entry 1 of clusters.size is claimed to be 7, but the data give 3");
    check_rejected(ctx, &peel, peeled, "{\"size\": 3", "{\"size\": 0",
                   "entry 1 of clusters.size is claimed to be 0, but the data give 3");
    check_rejected(ctx, &peel, peeled, "\"prototype\": 5", "\"prototype\": 6",
                   "entry 2 of clusters.prototype is claimed to be 6, but the data give 5");
    check_rejected(ctx, &peel, peeled, "\"pass\": 1", "\"pass\": -1", "clusters.pass is claimed to be -1");
    check_rejected(ctx, &peel, peeled, "\"passes\": 2", "\"passes\": -2", "passes is claimed to be -2, but it cannot");
    check_rejected(ctx, &peel, peeled, "\"k\": 2, \"seed\"", "\"k\": 3, \"seed\"", "2 sizes are claimed for 3");
    check_rejected(ctx, &peel, peeled, "\"sizes\": [3, 2]", "\"sizes\": [4, 1]", "the size of cluster 0 is claimed");
    check_rejected(ctx, &peel, peeled, "\"gamma\": 1", "\"gamma\": 2", "similarity is claimed");
    clv_method exact = peel;
    exact.k_meaning = CLV_K_CLUSTERS;
    check_rejected(ctx, &exact, peeled, "{", "{", "option k is claimed to be '5'");
    char *none = edit(peeled, "\"k\": 2", "\"k\": 0");
    char *rowless = replace_list(none, "\"clusters\"", "\"metrics\": {}");
    char *sizeless = edit(rowless, "\"sizes\": [3, 2], \"left_out\": 1, \"labels\": [0, 0, 0, 1, 1, -1]",
                          "\"sizes\": [], \"left_out\": 6, \"labels\": [-1, -1, -1, -1, -1, -1]");
    check_accepted(ctx, &peel, sizeless, 1);
    free(sizeless);
    free(rowless);
    free(none);
    end(ctx);
}

/* --- weights, without labels --- */

static const clv_method fit;

static clv_status fit_evaluate(clv_context *ctx, const clv_input *input, const void *options, const clv_result *answer,
                               clv_result *found) {
    const clv_matrix *weights;
    double sum = 0, row[P];
    (void)input;
    (void)options;
    CLV_TRY(clv_answer_matrix(ctx, answer, "weights", 1, P, &weights));
    clv_matrix_row(weights, 0, row);
    for (int64_t i = 0; i < N * P; i++) {
        sum += row[i % P] * raw[i];
    }
    clv_result_claim(found, &fit, sum, 0, 0);
    return CLV_OK;
}

static const clv_field_info fit_gives[] = {{"weights", CLV_FIELD_SPARSE, "1 x p", CLV_ANSWER, .help = ""}};

static const clv_method fit = {.name = "fit",
                               .takes = CLV_TAKES_POINTS,
                               .options = &options_table,
                               .k_meaning = CLV_K_OF_NORM,
                               .gives = fit_gives,
                               .gives_count = CLV_COUNT(fit_gives),
                               .objective = "sum",
                               .certificate = "gap",
                               .memory = no_memory,
                               .evaluate = fit_evaluate};

static const char fitted[] =
    "{\"cleave\": \"" CLV_VERSION "\", \"drift\": 0, \"seconds\": {\"solve\": 0}, "
    "\"method\": \"fit\", \"solver\": \"fpc\", \"n\": 6, \"k\": 70, \"seed\": 1, \"options\": {\"k\": 70},"
    " \"objective\": {\"name\": \"sum\", \"value\": -13, \"sense\": \"min\"},"
    " \"certificate\": {\"name\": \"gap\", \"value\": 0, \"tolerance\": 0, \"holds\": true},"
    " \"stop\": \"converged\", \"iterations\": 1, \"restarts\": [{\"objective\": -13, \"iterations\": 1, \"seconds\": "
    "0, \"stop\": \"converged\"}],"
    " \"weights\": {\"rows\": 1, \"cols\": 2, \"start\": [0, 1], \"index\": [1], \"value\": [-0.5]}}";

/* The targets reach the evaluation, and must be there if and only if the method takes them. */
static clv_status pair_evaluate(clv_context *ctx, const clv_input *input, const void *options, const clv_result *answer,
                                clv_result *found) {
    assert_int_equal(input->targets->rows, N);
    return fit_evaluate(ctx, input, options, answer, found);
}

static void methods_on_two_sets(void **unused) {
    (void)unused;
    clv_context *ctx = begin();
    clv_claim *claim;
    clv_verdict verdict;
    clv_method pair = fit;
    pair.takes = CLV_TAKES_SAMPLES;
    pair.evaluate = pair_evaluate;
    check_accepted(ctx, &pair, fitted, 1);
    clv_data *data = make_points(ctx, 1);
    const clv_matrix targets = {.rows = N, .cols = 1, .values = raw};
    const clv_input one = {.points = clv_data_matrix(data)}, two = {.points = one.points, .targets = &targets};
    assert_int_equal(clv_claim_parse(ctx, "result.json", fitted, strlen(fitted), &fit, &claim), CLV_OK);
    assert_int_equal(clv_claim_verify_by(ctx, &pair, claim, &one, 0, 1, &verdict), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "to verify a result of fit, give two files of data"));
    assert_int_equal(clv_claim_verify_by(ctx, &fit, claim, &two, 0, 1, &verdict), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "one file"));
    assert_int_equal(clv_claim_verify_by(ctx, &fit, claim, &(clv_input){0}, 0, 1, &verdict), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "no data"));
    clv_claim_free(claim);
    clv_data_free(data);
    end(ctx);
}

static void methods_without_labels(void **unused) {
    (void)unused;
    clv_context *ctx = begin();
    check_accepted(ctx, &fit, fitted, 1);
    check_rejected(ctx, &fit, fitted, "[-0.5]", "[0.5]", "sum is claimed to be -13, but the data give 13");
    check_rejected(ctx, &fit, fitted, "\"cols\": 2", "\"cols\": 3", "cannot be: weights must be 1 x 2, not 1 x 3");
    check_rejected(ctx, &fit, fitted, "\"weights\"", "\"sizes\": [6], \"left_out\": 0, \"labels\": [0], \"weights\"",
                   "1 sizes are claimed for 70 clusters");
    char *single = edit(fitted, "\"k\": 70", "\"k\": 1");
    check_rejected(ctx, &fit, single, "\"weights\"",
                   "\"sizes\": [6], \"left_out\": 0, \"labels\": [0, 0, 0, 0, 0, 0], \"weights\"",
                   "labels are claimed, but fit gives none");
    free(single);
    check_rejected(ctx, &fit, fitted, "\"n\": 6", "\"n\": 5", "the data have 6");
    end(ctx);
}

/* --- an evaluation that overflows, and fields that follow from the answer --- */

/* What the evaluation finds, whatever the claim. */
static clv_objective odd_objective;
static clv_certificate odd_certificate;

static clv_status odd_evaluate(clv_context *ctx, const clv_input *input, const void *options, const clv_result *answer,
                               clv_result *found) {
    (void)ctx;
    (void)input;
    (void)options;
    (void)answer;
    clv_result_claim(found, &fit, odd_objective.value, odd_certificate.value, odd_certificate.tolerance);
    return CLV_OK;
}

static void evaluations_that_overflow_prove_nothing(void **unused) {
    (void)unused;
    const double odd[] = {INFINITY, -INFINITY, NAN};
    clv_context *ctx = begin();
    clv_verdict verdict;
    for (int relative = 0; relative < 2; relative++) {
        clv_method method = fit;
        method.evaluate = odd_evaluate;
        method.relative = relative;
        odd_objective.value = -13;
        odd_certificate = (clv_certificate){.value = 0, .tolerance = 0};
        check_accepted(ctx, &method, fitted, 1);
        for (size_t i = 0; i < CLV_COUNT(odd); i++) {
            double *const places[] = {&odd_objective.value, &odd_certificate.value, &odd_certificate.tolerance};
            for (size_t p = 0; p < CLV_COUNT(places); p++) {
                double good = *places[p];
                *places[p] = odd[i];
                assert_int_equal(judge_by(ctx, &method, fitted, 1, 0, &verdict), CLV_OK);
                assert_false(verdict.accepted);
                bool unknown = isnan(odd[i]) && p == 1; /* as of a run that was cancelled */
                assert_non_null(strstr(verdict.reason, unknown ? "gap is claimed to be 0" : "must be numbers"));
                *places[p] = good;
            }
        }
    }
    end(ctx);
}

static clv_status tell_evaluate(clv_context *ctx, const clv_input *input, const void *options, const clv_result *answer,
                                clv_result *found) {
    static const double numbers[] = {1000, 0};
    static const char *const texts[] = {"one", "two"};
    CLV_TRY(fit_evaluate(ctx, input, options, answer, found));
    CLV_TRY(clv_result_put_reals(found, "numbers", numbers, 2));
    CLV_TRY(clv_result_put_reals(found, "shares", numbers, 2));
    CLV_TRY(clv_result_put_reals(found, "slopes", numbers, 2));
    CLV_TRY(clv_result_put_reals(found, "sums", numbers, 2));
    CLV_TRY(clv_result_put_reals(found, "sums_rounding", (const double[]){0, 0.5}, 2));
    return clv_result_put_texts(found, "words", texts, 2);
}

/* Each unit of slack by itself: numbers may be off by 1e-3 of 1 + |number|, shares of |number|, slopes of |objective|,
 * and the second of the sums, besides, by 0.5. */
static void derived_fields_have_their_slack(void **unused) {
    (void)unused;
    static const clv_field_info gives[] = {
        {"weights", CLV_FIELD_SPARSE, "1 x p", CLV_ANSWER, .help = ""},
        {"numbers", CLV_FIELD_REAL, "many", CLV_DERIVED, 1e-3, CLV_UNIT_ONE, ""},
        {"shares", CLV_FIELD_REAL, "many", CLV_DERIVED, 1e-3, CLV_UNIT_OWN, ""},
        {"slopes", CLV_FIELD_REAL, "many", CLV_DERIVED, 1e-3, CLV_UNIT_OBJECTIVE, ""},
        {"sums", CLV_FIELD_REAL, "many", CLV_DERIVED, 1e-3, CLV_UNIT_OWN, ""},
        {"words", CLV_FIELD_TEXT, "many", CLV_DERIVED, .help = ""},
        {"more", CLV_FIELD_REAL, "", CLV_DERIVED, .help = ""},
    };
    static const char told[] = "\"numbers\": [1000.9, 0.0009], \"shares\": [999.1, 0], \"slopes\": [1000.012, -0.012],"
                               " \"sums\": [1000.8, 0.4], \"words\": [\"one\", \"two\"], \"weights\"";
    clv_context *ctx = begin();
    clv_method tell = fit;
    tell.evaluate = tell_evaluate;
    tell.gives = gives;
    tell.gives_count = CLV_COUNT(gives);
    char *json = edit(fitted, "\"weights\"", told);
    check_accepted(ctx, &tell, json, 1);
    check_rejected(ctx, &tell, json, "1000.9", "1001.1", "entry 1 of numbers is claimed to be 1001.1");
    check_rejected(ctx, &tell, json, "0.0009", "0.0011", "entry 2 of numbers is claimed to be 0.0011");
    check_rejected(ctx, &tell, json, "999.1", "998.9", "entry 1 of shares is claimed to be 998.9");
    check_rejected(ctx, &tell, json, "999.1, 0", "999.1, 1e-300", "entry 2 of shares is claimed to be 1e-300");
    check_rejected(ctx, &tell, json, "1000.012", "1000.014", "entry 1 of slopes is claimed to be 1000.014");
    check_rejected(ctx, &tell, json, "-0.012", "-0.014", "entry 2 of slopes is claimed to be -0.014");
    check_rejected(ctx, &tell, json, "-0.012", "null", "entry 2 of slopes is claimed to be nan");
    check_rejected(ctx, &tell, json, "1000.8", "1001.2", "entry 1 of sums is claimed to be 1001.2");
    check_rejected(ctx, &tell, json, "0.4]", "0.6]", "entry 2 of sums is claimed to be 0.6");
    check_rejected(ctx, &tell, json, "\"two\"", "\"three\"", "words is claimed to be 'three', but the data give 'two'");
    check_rejected(ctx, &tell, json, ", \"two\"", "", "words is claimed with 1 entries, but the data give 2");
    check_rejected(ctx, &tell, json, "[999.1, 0]", "[]", "shares is claimed with 0 entries, but the data give 2");
    check_rejected(ctx, &tell, json, "\"words\"", "\"more\": 0, \"words\"",
                   "more is claimed with 1 entries, but the data give 0");
    free(json);
    end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_on_points_are_judged),
        cmocka_unit_test(budgets_count_the_points),
        cmocka_unit_test(certificates_have_the_scale_of_the_objective),
        cmocka_unit_test(clusters_found_one_by_one),
        cmocka_unit_test(methods_without_labels),
        cmocka_unit_test(methods_on_two_sets),
        cmocka_unit_test(evaluations_that_overflow_prove_nothing),
        cmocka_unit_test(derived_fields_have_their_slack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
