/* dominant: what is claimed of its answers. Evaluation, prediction and verification accept true results and reject
 * those with a number changed by hand; interrupted runs tell the truth. */
#include "dominant_points.h"

#include "engine/result.h"
#include "report/report.h"

#include <stdatomic.h>

/* The first objects are alike, and similar to everybody: they are the first cluster, and would belong to later ones. */
static void add_hubs(double *dense, int64_t n) {
    for (int64_t e = 0; e < n * n; e++) {
        int64_t i = e / n, j = e % n;
        /* multiples of powers of 2, so that they are floats as well */
        dense[e] = i == j ? dense[e] : i < 8 && j < 8 ? 1 : i < 8 || j < 8 ? 0.75 : 0.5 * dense[e];
    }
}

/* --- evaluation --- */

/* Two results say of their clusters what follows from the weights. */
static void check_same_clusters(const clv_result *left, const clv_result *right, double unit) {
    static const char *const counts[] = {"clusters.size", "clusters.prototype"};
    static const char *const numbers[] = {"clusters.cohesiveness", "clusters.similarity", "clusters.certificate"};
    for (int64_t c = 0; c < left->k; c++) {
        for (size_t t = 0; t < CLV_COUNT(counts); t++) {
            assert_int_equal(count_of(left, counts[t], c), count_of(right, counts[t], c));
        }
        for (size_t t = 0; t < CLV_COUNT(numbers); t++) {
            assert_true(fabs(number_of(left, numbers[t], c) - number_of(right, numbers[t], c)) <= unit);
        }
    }
}

static void check_accepts(clv_context *ctx, const clv_affinity *a, const clv_dominant_options *options,
                          const clv_result *result) {
    clv_result *found = NULL;
    double unit = 1e-11 * (1 + fabs(result->objective.value));
    if (clv_dominant_evaluate(ctx, &(clv_input){.affinity = a}, options, result, &found) < 0) {
        fail_msg("%s", clv_message(ctx));
        return;
    }
    assert_true(fabs(found->objective.value - result->objective.value) <= unit);
    assert_true(fabs(found->certificate.value - found->certificate.tolerance -
                     (result->certificate.value - result->certificate.tolerance)) <= unit);
    assert_int_equal(found->certificate.holds, found->certificate.value <= found->certificate.tolerance);
    check_same_clusters(found, result, unit);
    clv_result_free(found);
}

/* No run can have given this. */
static void check_refuses(clv_context *ctx, const clv_affinity *a, const clv_dominant_options *options,
                          const clv_result *result) {
    clv_result *found = NULL;
    assert_int_equal(clv_dominant_evaluate(ctx, &(clv_input){.affinity = a}, options, result, &found), CLV_EDATA);
    assert_null(found);
}

/* The numbers of a field, to be changed by hand. */
static int64_t *counts_in(clv_result *result, const char *name) {
    int64_t count;
    return (int64_t *)clv_result_integers(result, name, &count);
}
static double *numbers_in(clv_result *result, const char *name) {
    int64_t count;
    return (double *)clv_result_reals(result, name, &count);
}

/* What is changed by hand is refused, or gives other numbers. */
static void check_rejects(clv_context *ctx, const clv_affinity *a, const clv_dominant_options *options,
                          const double *dense, clv_result *result, int64_t *differs) {
    const clv_matrix *m = clv_result_matrix(result, "membership");
    double *weights = (double *)m->values;
    int64_t *pass = counts_in(result, "clusters.pass");
    for (int64_t i = 0; i < result->n; i += 7) {
        int32_t own = result->labels[i];
        result->labels[i] = own < 0 ? 0 : own == 0 ? -1 : own - 1;
        check_refuses(ctx, a, options, result);
        result->labels[i] = own;
    }
    for (int64_t e = 0; e < m->start[m->rows]; e += 5) {
        double own = weights[e];
        weights[e] = own + 1e-6;
        check_refuses(ctx, a, options, result);
        assert_non_null(strstr(clv_message(ctx), "add up to"));
        weights[e] = -own;
        check_refuses(ctx, a, options, result);
        weights[e] = NAN;
        check_refuses(ctx, a, options, result);
        weights[e] = own;
    }
    if (result->k > 1 && pass[1] != pass[0]) { /* found on other objects than it says: with the gap among those */
        int64_t own = pass[1];
        double *x = test_malloc(2 * (size_t)result->n * sizeof *x), *r = x + result->n, most = -HUGE_VAL;
        column_of(result, 1, x);
        double value = fresh_r(dense, result->n, options->shift, x, r);
        for (int64_t i = 0; i < result->n; i++) {
            most = fmax(most, r[i]);
        }
        clv_result *found = NULL;
        pass[1] = pass[0];
        clv_status status = clv_dominant_evaluate(ctx, &(clv_input){.affinity = a}, options, result, &found);
        assert_true(status == CLV_EDATA || fabs(number_of(found, "clusters.certificate", 1) - (most - value)) <= 1e-11);
        *differs += status == CLV_EDATA || most - value > number_of(result, "clusters.certificate", 1) + 1e-6;
        clv_result_free(found);
        pass[1] = own;
        test_free(x);
    }
}

static void results_are_accepted_and_changed_ones_are_not(void **unused) {
    (void)unused;
    enum { N = 130 };
    clv_context *ctx = open_context();
    given *g = new_given(N, 33, 0.6, 0, 2);
    add_hubs(g->dense, N);
    copy_given(g);
    int64_t differs = 0;
    for (int variant = 0; variant < 6 * HOLDINGS; variant++) {
        clv_affinity *base, *a = hold(ctx, g, (holding)(variant % HOLDINGS), variant % 2, &base);
        clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, 0);
        int way = variant / HOLDINGS;
        options.k = 4;
        options.assign = way == 1 || way == 4;
        options.absorb = way == 2 || way == 4 ? 0.7 : 0;
        options.multistart = way == 3 || way == 4 ? 4 : 0;
        options.solver = way == 5 ? CLV_DOMINANT_RD : CLV_DOMINANT_PFW;
        options.shift = way >= 4 ? 0.5 : 0;
        clv_result *result = solve(ctx, a, &options);
        check_accepts(ctx, a, &options, result);
        check_rejects(ctx, a, &options, g->dense, result, &differs);
        check_accepts(ctx, a, &options, result); /* the changes were undone */
        clv_result_free(result);
        clv_affinity_free(a);
        clv_affinity_free(base);
    }
    assert_true(differs > 4);
    free_given(g);
    clv_context_free(ctx);
}

/* Similarities of either sign, peeled to the end: a set may have more negative ones than positive ones inside. */
static void signed_results_are_accepted(void **unused) {
    (void)unused;
    enum { N = 40 };
    clv_context *ctx = open_context();
    for (int variant = 0; variant < 60; variant++) {
        given *g = new_given(N, (uint64_t)variant + 900, 0.5, -0.5, 0);
        clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
        clv_dominant_options options = plain_options(variant % 3, variant % 2 ? 1 : 0.5);
        clv_result *result = NULL;
        options.multistart = variant % 5 == 0 ? 4 : 0;
        options.control.max_iter = variant % 4 == 0 ? 2 : 10000;
        clv_status status = clv_dominant(ctx, &(clv_input){.affinity = a}, &options, &result);
        assert_true(status == CLV_OK || status == CLV_EDATA); /* nothing but sets of no similarity */
        if (status == CLV_OK) {
            check_accepts(ctx, a, &options, result);
        }
        clv_result_free(result);
        clv_affinity_free(a);
        free_given(g);
    }
    clv_context_free(ctx);
}

/* Clusters of a pass that share more than is allowed, or are more than there were starts, cannot be. */
static void passes_are_checked(void **unused) {
    (void)unused;
    enum { N = 120 };
    clv_context *ctx = open_context();
    int64_t shared = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        given *g = new_given(N, seed + 300, 0.5, 0, 0);
        clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
        clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, 1);
        options.k = 8;
        options.multistart = 8;
        options.overlap = 60;
        clv_result *result = solve(ctx, a, &options);
        const clv_matrix *m = clv_result_matrix(result, "membership");
        const int64_t *pass = counts_in(result, "clusters.pass");
        check_accepts(ctx, a, &options, result);
        if (m->start[m->rows] > result->n - result->left_out) { /* somebody is in two clusters */
            options.overlap = 0;
            check_refuses(ctx, a, &options, result);
            options.overlap = 60;
            shared++;
        }
        if (result->k > 1 && pass[1] == pass[0]) {
            options.multistart = 1;
            check_refuses(ctx, a, &options, result);
        }
        clv_result_free(result);
        clv_affinity_free(a);
        free_given(g);
    }
    assert_true(shared > 2);
    clv_context_free(ctx);
}

/* --- prediction --- */

static clv_result *predict(clv_context *ctx, const clv_dominant_options *options, const clv_result *result,
                           const clv_matrix *similarities) {
    clv_result *found = NULL;
    assert_int_equal(
        clv_dominant_predict(ctx, &(clv_input){0}, options, result, &(clv_fresh){.similarities = similarities}, &found),
        CLV_OK);
    return found;
}

/* The row of an old object: with x stationary and a shift, (Ax)_i is f - shift + shift x_i for a member, so its own
 * cluster accepts it with a surplus of shift x_i. No cluster found while it was still there and did not take it accepts
 * it by more than its gap; so it goes to its own cluster or to a later one, and who was never taken goes nowhere. */
static void old_objects_go_where_they_were(void **unused) {
    (void)unused;
    enum { N = 120 };
    clv_context *ctx = open_context();
    int64_t members = 0, own = 0, out = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        given *g = new_given(N, seed + 60, 0.5, 0, 0);
        clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
        clv_matrix cross = {.rows = N, .cols = N, .values = g->dense};
        clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, 2);
        options.k = 3;
        options.control.tol = 1e-13;
        options.control.max_iter = 100000;
        clv_result *result = solve(ctx, a, &options);
        options.control.threads = 2;
        clv_result *found = predict(ctx, &options, result, &cross);
        for (int64_t i = 0; i < N; i++) {
            if (result->labels[i] < 0) {
                assert_int_equal(found->labels[i], -1);
                out++;
            } else {
                assert_true(found->labels[i] >= result->labels[i]);
                assert_true(result->labels[i] < 2 || found->labels[i] == 2);
                members++;
                own += found->labels[i] == result->labels[i];
            }
        }
        clv_result_free(found);
        options.assign = 1;
        options.control.threads = 1;
        found = predict(ctx, &options, result, &cross);
        for (int64_t i = 0; i < N; i++) {
            assert_true(found->labels[i] >= 0); /* the nearest, as all are similar to something */
        }
        clv_result_free(found);
        clv_result_free(result);
        clv_affinity_free(a);
        free_given(g);
    }
    assert_true(members > 100 && out > 50 && 10 * own > 9 * members);
    clv_context_free(ctx);
}

/* --- verification, from the JSON text and the raw data --- */

typedef struct trial {
    clv_affinity_kind kind;
    clv_home home;
    int solver;
    double shift, absorb;
    int assign;
    int64_t multistart;
    int symmetrize;
    double least; /* of given similarities */
    double tol;   /* 0: by default */
    int faint;    /* given similarities are those of faint_blocks */
} trial;

enum { VERIFIED = 90 };

/* Blocks of 5 objects, each with similarities far below those of the block before; only the first `blocks` of 4 have
 * any. */
static clv_data *faint_blocks(clv_context *ctx, int64_t blocks) {
    enum { BLOCK = 5, FAINT = 20 };
    static const double similarity[] = {1, 1e-6, 1e-11, 1e-13};
    clv_data *data;
    assert_int_equal(clv_data_new_dense(ctx, "similarity", FAINT, FAINT, CLV_F64, &data), CLV_OK);
    for (int64_t e = 0; e < FAINT * FAINT; e++) {
        int64_t block = e / FAINT / BLOCK, other = e % FAINT / BLOCK;
        ((double *)data->values)[e] = block == other && block < blocks ? similarity[block] : 0;
    }
    return data;
}

static clv_data *data_of(clv_context *ctx, const trial *t) {
    if (t->kind != CLV_AFFINITY_PRECOMPUTED) {
        return make_points(ctx, VERIFIED);
    }
    if (t->faint) {
        return faint_blocks(ctx, 4);
    }
    clv_data *data = NULL;
    given *g = new_given(VERIFIED, 71, 0.4, t->least, 1);
    assert_int_equal(clv_data_new_dense(ctx, "similarity", VERIFIED, VERIFIED, CLV_F64, &data), CLV_OK);
    memcpy(data->values, g->dense, sizeof(double) * VERIFIED * VERIFIED);
    add_hubs(data->values, VERIFIED);
    for (int64_t i = 0; t->symmetrize && i < VERIFIED; i++) {
        for (int64_t j = 0; j < i; j++) {
            ((double *)data->values)[i * VERIFIED + j] += i % 3 == 0 ? 0.05 : 0;
        }
    }
    free_given(g);
    return data;
}

/* The JSON text of a result, owned by its context. */
static char *to_json(const clv_result *result, const clv_affinity *a, const clv_affinity_options *how,
                     const clv_dominant_options *options) {
    clv_affinity_info info;
    char *text = NULL;
    size_t size;
    clv_affinity_describe(a, &info);
    const clv_option_table *const tables[] = {clv_control_table(), clv_method_find("dominant")->options,
                                              clv_affinity_table(), NULL};
    const void *const structs[] = {&options->control, options, how};
    clv_report report = {.result = result, .affinity = &info, .tables = tables, .options = structs};
    assert_int_equal(clv_report_json(result->ctx, &report, &text, &size), CLV_OK);
    return text;
}

/* Called before the run, and on its result. */
typedef struct meddling {
    void (*before)(clv_context *ctx);
    void (*after)(clv_result *result);
} meddling;

/* The JSON text of a run, owned by the context; NULL: it was interrupted before anything could be claimed. */
static char *run_to_json(clv_context *ctx, const trial *t, const meddling *with) {
    clv_data *data = data_of(ctx, t);
    clv_affinity_options how = how_to_build(t->kind, t->home);
    clv_dominant_options options = plain_options(t->solver, t->shift);
    clv_affinity *a = NULL;
    clv_result *result = NULL;
    char *text = NULL;
    how.symmetrize = t->symmetrize;
    how.least = -t->shift;
    options.k = 4;
    options.absorb = t->absorb;
    options.assign = t->assign;
    options.multistart = t->multistart;
    options.control.threads = t->multistart > 0 ? 2 : 1;
    options.control.tol = t->tol > 0 ? t->tol : (double)NAN;
    assert_int_equal(clv_affinity_build(ctx, clv_data_matrix(data), &how, &a), CLV_OK);
    if (with->before) {
        with->before(ctx);
    }
    clv_status status = clv_dominant(ctx, &(clv_input){.affinity = a}, &options, &result);
    clv_context_set_interrupt(ctx, NULL, NULL);
    if (status < 0) {
        fail_msg("%s", clv_message(ctx));
    }
    if (status == CLV_OK && with->after) {
        assert_true(result->k > 1 || t->shift > 1e6); /* at such a shift all objects are one cluster */
        with->after(result);
    }
    if (status == CLV_OK && !(with->before && isnan(result->objective.value))) {
        text = to_json(result, a, &how, &options);
    }
    clv_result_free(result);
    clv_affinity_free(a);
    clv_data_free(data);
    return text;
}

/* The verdict on a run; accepted when there is nothing to judge. */
static clv_verdict judge(clv_context *ctx, const trial *t, const meddling *with) {
    char *json = run_to_json(ctx, t, with);
    clv_verdict verdict = {.accepted = 1};
    if (!json) {
        return verdict;
    }
    clv_data *data = data_of(ctx, t);
    clv_claim *claim = NULL;
    if (clv_claim_parse(ctx, "result.json", json, strlen(json), NULL, &claim) < 0 ||
        clv_claim_verify(ctx, claim, &(clv_input){.points = clv_data_matrix(data)}, 0, 2, &verdict) < 0) {
        fail_msg("%s", clv_message(ctx));
    }
    clv_claim_free(claim);
    clv_data_free(data);
    clv_release(ctx, json);
    return verdict;
}

static const trial trials[] = {
    {CLV_AFFINITY_GAUSSIAN, CLV_HOME_AUTO, CLV_DOMINANT_PFW, 0, 0, 0, 0, 0, 0, 0, 0},
    {CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE32, CLV_DOMINANT_AFW, 1, 0, 1, 0, 0, 0, 0, 0},
    {CLV_AFFINITY_GAUSSIAN, CLV_HOME_COMPUTED, CLV_DOMINANT_PFW, 2, 0.4, 1, 0, 0, 0, 0, 0},
    {CLV_AFFINITY_DISTANCE, CLV_HOME_AUTO, CLV_DOMINANT_PFW, 15, 0, 1, 4, 0, 0, 0, 0},
    {CLV_AFFINITY_KNN, CLV_HOME_AUTO, CLV_DOMINANT_PFW, 0, 0.3, 0, 0, 0, 0, 0, 0},
    {CLV_AFFINITY_MINIMAX, CLV_HOME_AUTO, CLV_DOMINANT_PFW, 3, 0, 1, 0, 0, 0, 0, 0},
    {CLV_AFFINITY_COSINE, CLV_HOME_AUTO, CLV_DOMINANT_FW, 2, 0.5, 0, 3, 0, 0, 0, 0},
    {CLV_AFFINITY_GAUSSIAN, CLV_HOME_AUTO, CLV_DOMINANT_RD, 1, 0, 1, 0, 0, 0, 0, 0},
    {CLV_AFFINITY_PRECOMPUTED, CLV_HOME_AUTO, CLV_DOMINANT_PFW, 0, 0, 0, 0, 0, 0, 0, 0},
    {CLV_AFFINITY_PRECOMPUTED, CLV_HOME_AUTO, CLV_DOMINANT_PFW, 0.5, 0, 1, 0, 0, -0.5, 0, 0},
    {CLV_AFFINITY_PRECOMPUTED, CLV_HOME_AUTO, CLV_DOMINANT_AFW, 0, 0, 0, 0, 1, 0, 0, 0},
    {CLV_AFFINITY_PRECOMPUTED, CLV_HOME_AUTO, CLV_DOMINANT_PFW, 0.5, 0, 1, 3, 1, -0.5, 0, 0},
};
enum { TRIALS = sizeof trials / sizeof trials[0] };

static void true_claims_are_accepted(void **unused) {
    (void)unused;
    clv_context *ctx = open_context();
    for (int t = 0; t < TRIALS; t++) {
        clv_verdict verdict = judge(ctx, &trials[t], &(meddling){0});
        if (!verdict.accepted) {
            fail_msg("trial %d: %s", t, verdict.reason);
        }
    }
    clv_context_free(ctx);
}

static double *some_weights(clv_result *result, int64_t c, double **other) {
    const clv_matrix *m = clv_result_matrix(result, "membership");
    double *first = NULL;
    *other = NULL;
    for (int64_t e = 0; e < m->start[m->rows]; e++) {
        if (m->index[e] == c) {
            *other = first ? (double *)m->values + e : NULL;
            first = first ? first : (double *)m->values + e;
        }
    }
    return first;
}

static void move_weight(clv_result *result) {
    double *to, *from = some_weights(result, 1, &to);
    if (!from || !to) {
        fail_msg("the second cluster has no two objects");
        return;
    }
    *from -= 0.5 * *from;
    *to += *from;
}
static void change_label(clv_result *result) {
    result->labels[5] = result->labels[5] == 0 ? 1 : 0;
    clv_result_count(result);
}
static void change_pass(clv_result *result) {
    counts_in(result, "clusters.pass")[1] = count_of(result, "clusters.pass", 0);
}
static void raise_cohesiveness(clv_result *result) {
    numbers_in(result, "clusters.cohesiveness")[0] *= 1 + 1e-6;
}
static void raise_similarity(clv_result *result) {
    numbers_in(result, "clusters.similarity")[0] *= 1 + 1e-6;
}
static void lower_gap(clv_result *result) {
    numbers_in(result, "clusters.certificate")[1] -= 1e-4;
}
static void change_size(clv_result *result) {
    counts_in(result, "clusters.size")[1]++;
}
static void change_prototype(clv_result *result) {
    int64_t *prototype = counts_in(result, "clusters.prototype");
    prototype[1] = (prototype[1] + 1) % result->n;
}
static void raise_objective(clv_result *result) {
    result->objective.value *= 1 + 1e-6;
    result->restarts[0].objective = result->objective.value;
}
static void lower_certificate(clv_result *result) {
    result->certificate.value -= 1e-4;
}
static void raise_tolerance(clv_result *result) {
    result->certificate.tolerance *= 1.1;
}
static void change_passes(clv_result *result) {
    int64_t passes = clv_result_integer(result, "passes", result->k);
    assert_int_equal(clv_result_put_integer(result, "passes", passes + 3), CLV_OK);
}
static void count_drops_below_0(clv_result *result) {
    counts_in(result, "clusters.drops")[1] = -1;
}
/* Nobody knows the field by its new name. */
static void forget(clv_result *result, const char *begin) {
    for (int64_t f = 0; f < result->fields_count; f++) {
        char *name = (char *)result->fields[f].name;
        if (strncmp(name, begin, strlen(begin)) == 0) {
            name[0] = 'x';
        }
    }
}
static void forget_weights(clv_result *result) {
    forget(result, "membership");
}
static void forget_clusters(clv_result *result) {
    forget(result, "clusters.");
}
/* All columns of the table one cluster shorter. */
static void forget_a_cluster(clv_result *result) {
    for (int64_t f = 0; f < result->fields_count; f++) {
        result->fields[f].count -= strncmp(result->fields[f].name, "clusters.", 9) == 0;
    }
}
static void stop_second(clv_result *result, const char *reason) {
    const clv_field *field = clv_result_field(result, "clusters.stop");
    ((const char **)field->texts)[1] = reason;
}
static void stop_for_no_reason(clv_result *result) {
    stop_second(result, "bored");
    result->stop = result->restarts[0].stop = CLV_STALLED;
}
static void stop_early(clv_result *result) {
    stop_second(result, "stalled");
}
/* A field of another method. */
static void claim_residual(clv_result *result) {
    assert_int_equal(clv_result_put_real(result, "residual", 0), CLV_OK);
}

static void false_claims_are_rejected(void **unused) {
    (void)unused;
    static const struct {
        void (*change)(clv_result *);
        const char *reason;
    } spoilers[] = {
        {move_weight, "cohesiveness is claimed"},
        {change_label, "the label of object 6 is"},
        {change_pass, "they were peeled one by one"},
        {raise_cohesiveness, "entry 1 of clusters.cohesiveness"},
        {raise_similarity, "entry 1 of clusters.similarity"},
        {lower_gap, "entry 2 of clusters.certificate"},
        {change_size, "entry 2 of clusters.size"},
        {change_prototype, "entry 2 of clusters.prototype"},
        {raise_objective, "cohesiveness is claimed"},
        {lower_certificate, "frank-wolfe-gap is claimed"},
        {raise_tolerance, "the tolerance of the certificate"},
        {forget_weights, "the field xembership is claimed"},
        {forget_clusters, "the field xlusters is claimed"},
        {change_passes, "passes, but the last cluster is of pass"},
        {count_drops_below_0, "clusters.drops is claimed to be -1"},
        {forget_a_cluster, "clusters.size is claimed with 3 entries, but there must be 4"},
        {stop_for_no_reason, "reason 'bored'"},
        {stop_early, "the run has converged, but cluster 1 stopped with 'stalled'"},
        {claim_residual, "the field residual is claimed, but dominant gives no such field"},
    };
    const int judged_trials[] = {8, 9, 11};
    clv_context *ctx = open_context();
    for (size_t s = 0; s < CLV_COUNT(spoilers); s++) {
        for (size_t t = 0; t < CLV_COUNT(judged_trials); t++) {
            const trial *how = &trials[judged_trials[t]];
            if (spoilers[s].change == change_pass && judged_trials[t] != 8) {
                continue; /* only where the second cluster is none among the objects of the first */
            }
            clv_verdict verdict = judge(ctx, how, &(meddling){.after = spoilers[s].change});
            if (verdict.accepted || !strstr(verdict.reason, spoilers[s].reason)) {
                fail_msg("change %zu of trial %d: '%s' does not speak of '%s'", s, judged_trials[t], verdict.reason,
                         spoilers[s].reason);
            }
        }
    }
    clv_context_free(ctx);
}

/* --- numbers that are small beside the objective --- */

static void raise_faint_cohesiveness(clv_result *result) {
    numbers_in(result, "clusters.cohesiveness")[2] *= 60;
}
static void turn_faint_cohesiveness(clv_result *result) {
    numbers_in(result, "clusters.cohesiveness")[3] *= -1;
}
static void raise_faint_similarity(clv_result *result) {
    numbers_in(result, "clusters.similarity")[2] *= 60;
}
static void turn_faint_similarity(clv_result *result) {
    numbers_in(result, "clusters.similarity")[3] *= -1;
}
static void raise_little_similarity(clv_result *result) {
    numbers_in(result, "clusters.similarity")[1] *= 1 + 1e-6;
}
static void raise_faint_gap(clv_result *result) {
    numbers_in(result, "clusters.certificate")[2] = 7e-10;
}
/* The prototype has nearly all of the weight of the third cluster, which is far from stationary then. */
static void unbalance_faint_weights(clv_result *result) {
    const clv_matrix *m = clv_result_matrix(result, "membership");
    int64_t prototype = count_of(result, "clusters.prototype", 2);
    for (int64_t i = 0; i < m->rows; i++) {
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            double weight = i == prototype ? 0.9 : 0.025;
            ((double *)m->values)[e] = m->index[e] == 2 ? weight : ((double *)m->values)[e];
        }
    }
}

static void small_numbers_are_compared_by_their_own_digits(void **unused) {
    (void)unused;
    static const trial faint = {.kind = CLV_AFFINITY_PRECOMPUTED, .solver = CLV_DOMINANT_PFW, .faint = 1};
    static const trial shifted = {.kind = CLV_AFFINITY_GAUSSIAN, .solver = CLV_DOMINANT_PFW, .shift = 1e9};
    static const struct {
        const trial *trial;
        void (*change)(clv_result *);
        const char *reason;
    } spoilers[] = {
        {&faint, raise_faint_cohesiveness, "entry 3 of clusters.cohesiveness"},
        {&faint, turn_faint_cohesiveness, "entry 4 of clusters.cohesiveness"},
        {&faint, raise_faint_similarity, "entry 3 of clusters.similarity"},
        {&faint, turn_faint_similarity, "entry 4 of clusters.similarity"},
        {&faint, raise_little_similarity, "entry 2 of clusters.similarity"},
        {&faint, raise_faint_gap, "entry 3 of clusters.certificate"},
        {&faint, unbalance_faint_weights, "the certificate is claimed to hold"},
        {&shifted, raise_similarity, "entry 1 of clusters.similarity"},
    };
    clv_context *ctx = open_context();
    for (size_t s = 0; s < CLV_COUNT(spoilers); s++) {
        clv_verdict honest = judge(ctx, spoilers[s].trial, &(meddling){0});
        clv_verdict verdict = judge(ctx, spoilers[s].trial, &(meddling){.after = spoilers[s].change});
        if (!honest.accepted) {
            fail_msg("before change %zu: %s", s, honest.reason);
        }
        if (verdict.accepted || !strstr(verdict.reason, spoilers[s].reason)) {
            fail_msg("change %zu: '%s' does not speak of '%s'", s, verdict.reason, spoilers[s].reason);
        }
    }
    clv_context_free(ctx);
}

/* A cluster whose similarities are exactly 0 is none: there is nothing that could have been rounded. */
static void nothing_is_no_cluster(void **unused) {
    (void)unused;
    clv_context *ctx = open_context();
    clv_affinity_options how = how_to_build(CLV_AFFINITY_PRECOMPUTED, CLV_HOME_AUTO);
    clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, 0);
    clv_data *all = faint_blocks(ctx, 4), *fewer = faint_blocks(ctx, 3);
    clv_affinity *a, *b;
    clv_result *result;
    options.k = 4;
    assert_int_equal(clv_affinity_build(ctx, clv_data_matrix(all), &how, &a), CLV_OK);
    assert_int_equal(clv_affinity_build(ctx, clv_data_matrix(fewer), &how, &b), CLV_OK);
    assert_int_equal(clv_dominant(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
    assert_int_equal(result->k, 4);
    check_accepts(ctx, a, &options, result);
    check_refuses(ctx, b, &options, result);
    assert_non_null(strstr(clv_message(ctx), "cluster 3 has 5 members and x'Ax = 0"));
    clv_result_free(result);
    clv_affinity_free(a);
    clv_affinity_free(b);
    clv_data_free(all);
    clv_data_free(fewer);
    clv_context_free(ctx);
}

/* So are those of consensus by dominant. */
static void consensus_compares_clusters_alike(void **unused) {
    (void)unused;
    static const char *const names[] = {"clusters.cohesiveness", "clusters.similarity", "clusters.certificate"};
    for (size_t i = 0; i < CLV_COUNT(names); i++) {
        const clv_field_info *own = clv_method_gives(clv_method_find("dominant"), names[i]);
        const clv_field_info *other = clv_method_gives(clv_method_find("consensus"), names[i]);
        assert_true(own && other && own->role == other->role && own->unit == other->unit && own->slack == other->slack);
    }
}

/* As a run leaves it that was interrupted in all clusters from this one on, before their gaps were recomputed. */
static int64_t first_cut;

static void cut_short(clv_result *result) {
    enum { MOST = 8 };
    clv_cluster clusters[MOST] = {0};
    const char *stops[MOST];
    assert_true(result->k <= MOST);
    for (int64_t c = 0; c < result->k; c++) {
        bool cut = c >= first_cut;
        double *certificate = numbers_in(result, "clusters.certificate") + c;
        *certificate = cut ? (double)NAN : *certificate;
        stops[c] = clv_stop_name(cut ? CLV_CANCELLED : CLV_CONVERGED);
        clusters[c].certificate = *certificate;
        clusters[c].cohesiveness = number_of(result, "clusters.cohesiveness", c);
        clusters[c].similarity = number_of(result, "clusters.similarity", c);
    }
    assert_int_equal(clv_result_put_texts(result, "clusters.stop", stops, result->k), CLV_OK);
    result->stop = result->restarts[0].stop = CLV_CANCELLED;
    result->certificate = clv_dominant_certificate(clusters, result->k, 1e-6);
}

static void claims_without_a_certificate_are_accepted(void **unused) {
    (void)unused;
    clv_context *ctx = open_context();
    for (first_cut = 0; first_cut < 4; first_cut++) {
        clv_verdict verdict = judge(ctx, &trials[8], &(meddling){.after = cut_short});
        if (!verdict.accepted) {
            fail_msg("without the gaps from cluster %lld on: %s", (long long)first_cut, verdict.reason);
        }
    }
    clv_context_free(ctx);
}

static atomic_long polls;
static long polls_allowed;

static int stop_after_polls(void *unused) {
    (void)unused;
    return atomic_fetch_add(&polls, 1) >= polls_allowed;
}

static void be_interrupted(clv_context *ctx) {
    atomic_store(&polls, 0);
    clv_context_set_interrupt(ctx, stop_after_polls, NULL);
}

/* Whichever of its polls the hook stops a run at, there is no result or a true one. */
static void interrupted_runs_tell_the_truth(void **unused) {
    (void)unused;
    const trial cut[] = {
        {CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE64, CLV_DOMINANT_PFW, 0.5, 0.5, 1, 0, 0, 0, 1e-12, 0},
        {CLV_AFFINITY_GAUSSIAN, CLV_HOME_COMPUTED, CLV_DOMINANT_PFW, 0.5, 0.5, 1, 0, 0, 0, 1e-12, 0},
        {CLV_AFFINITY_GAUSSIAN, CLV_HOME_COMPUTED, CLV_DOMINANT_AFW, 0, 0, 1, 3, 0, 0, 1e-12, 0},
        {CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE64, CLV_DOMINANT_FW, 0.5, 0.4, 1, 4, 0, 0, 1e-12, 0},
        {CLV_AFFINITY_GAUSSIAN, CLV_HOME_COMPUTED, CLV_DOMINANT_RD, 0.5, 0, 1, 0, 0, 0, 1e-3, 0},
        {CLV_AFFINITY_MINIMAX, CLV_HOME_COMPUTED, CLV_DOMINANT_PFW, 0.5, 0.5, 1, 2, 0, 0, 1e-12, 0},
        {CLV_AFFINITY_COSINE, CLV_HOME_LOWRANK, CLV_DOMINANT_AFW, 0.5, 0, 1, 0, 0, 0, 1e-12, 0},
        {CLV_AFFINITY_KNN, CLV_HOME_AUTO, CLV_DOMINANT_PFW, 0, 0.5, 1, 3, 0, 0, 1e-12, 0},
    };
    clv_context *ctx = open_context();
    for (size_t t = 0; t < sizeof cut / sizeof cut[0]; t++) {
        bool stopped = true;
        for (polls_allowed = 0; stopped && polls_allowed < 4000; polls_allowed += 1 + polls_allowed / 60) {
            clv_verdict verdict = judge(ctx, &cut[t], &(meddling){.before = be_interrupted});
            if (!verdict.accepted) {
                fail_msg("trial %zu, stopped after %ld polls: %s", t, polls_allowed, verdict.reason);
            }
            stopped = atomic_load(&polls) > polls_allowed;
        }
    }
    clv_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_accepted_and_changed_ones_are_not),
        cmocka_unit_test(signed_results_are_accepted),
        cmocka_unit_test(passes_are_checked),
        cmocka_unit_test(old_objects_go_where_they_were),
        cmocka_unit_test(true_claims_are_accepted),
        cmocka_unit_test(false_claims_are_rejected),
        cmocka_unit_test(small_numbers_are_compared_by_their_own_digits),
        cmocka_unit_test(nothing_is_no_cluster),
        cmocka_unit_test(consensus_compares_clusters_alike),
        cmocka_unit_test(claims_without_a_certificate_are_accepted),
        cmocka_unit_test(interrupted_runs_tell_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
