/* Verification of methods other than those there are: a method on points alone with memberships and centers, one that
 * finds clusters one by one on an affinity, one that learns weights and gives no labels, each made by hand. What they
 * claim is recomputed from raw points, and each part of it, changed, is noticed. */
#include "brute_force.h"

#include "linalg/linalg.h"
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

/* --- a method on points: squared distances to centers, weighted by memberships; the certificate is the length of the
 * gradient by the centers --- */

static size_t no_memory(const clv_claim *claim, const clv_matrix *points) {
    (void)claim;
    return (size_t)points->rows * sizeof(double);
}

static void evaluate_means(const clv_matrix *points, const clv_matrix *membership, const clv_matrix *centers,
                           clv_objective *objective, clv_certificate *certificate) {
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
    *objective = (clv_objective){"within", value, 0};
    *certificate = (clv_certificate){"gradient", sqrt(square), 1e-3 * value, sqrt(square) <= 1e-3 * value};
}

static clv_status means_evaluate(clv_context *ctx, const clv_evidence *evidence, clv_verdict *out) {
    const clv_claim *claim = evidence->claim;
    assert_null(evidence->affinity);
    if (!claim->membership || !claim->centers) {
        return clv_fail(ctx, CLV_EDATA, "there are no memberships or no centers");
    }
    evaluate_means(evidence->points, clv_data_matrix(claim->membership), clv_data_matrix(claim->centers),
                   &out->objective, &out->certificate);
    return CLV_OK;
}

/* The options are those of ncut: any table will do. */
static const clv_verifier means = {.method = "means",
                                   .table = clv_ncut_table,
                                   .memory = no_memory,
                                   .evaluate = means_evaluate,
                                   .points_only = true,
                                   .objective_scale = true};

/* Memberships near to hard ones, centers near to the means, on standardized points. */
static char *means_to_json(clv_context *ctx, double unit) {
    clv_data *data = make_points(ctx, unit);
    clv_result result = {.method = "means", .solver = "fpc", .n = N, .k = K, .seed = 1, .bound = {NULL, NAN}};
    int32_t labels[N] = {0, 0, 0, 1, 1, 1};
    int64_t sizes[K] = {3, 3};
    clv_restart restart = {.iterations = 1};
    clv_report report = {.result = &result, .scale = "minmax", .silhouette = NAN};
    char *text = NULL;
    size_t size;
    assert_int_equal(clv_data_scale(data, CLV_SCALE_MINMAX), CLV_OK);
    assert_int_equal(clv_data_new_dense(ctx, "membership", N, K, CLV_F64, &result.membership), CLV_OK);
    assert_int_equal(clv_data_new_dense(ctx, "centers", K, P, CLV_F64, &result.centers), CLV_OK);
    for (int i = 0; i < N * K; i++) {
        ((double *)result.membership->values)[i] = i % K == labels[i / K] ? 0.9 : 0.1;
    }
    for (int i = 0; i < K * P; i++) {
        ((double *)result.centers->values)[i] = i / P ? 0.85 : 0.125;
    }
    evaluate_means(clv_data_matrix(data), clv_data_matrix(result.membership), clv_data_matrix(result.centers),
                   &result.objective, &result.certificate);
    restart.objective = result.objective.value;
    result.restarts = &restart;
    result.restarts_count = 1;
    result.labels = labels;
    result.sizes = sizes;
    assert_int_equal(clv_report_json(ctx, &report, &text, &size), CLV_OK);
    clv_data_free(result.membership);
    clv_data_free(result.centers);
    clv_data_free(data);
    return text;
}

static clv_status judge_by(clv_context *ctx, const clv_verifier *method, const char *json, double unit, int64_t memory,
                           clv_verdict *out) {
    clv_claim *claim = NULL;
    clv_data *data = make_points(ctx, unit);
    if (clv_claim_parse(ctx, "result.json", json, strlen(json), &claim) < 0) {
        fail_msg("%s in\n%s", clv_message(ctx), json);
    }
    clv_status status =
        clv_claim_verify_by(ctx, method, claim, data, method->two_operands ? data : NULL, memory, 1, out);
    clv_claim_free(claim);
    clv_data_free(data);
    return status;
}

static void check_accepted(clv_context *ctx, const clv_verifier *method, const char *json, double unit) {
    clv_verdict verdict;
    assert_int_equal(judge_by(ctx, method, json, unit, 0, &verdict), CLV_OK);
    if (!verdict.accepted) {
        fail_msg("%s: %s", method->method, verdict.reason);
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

static void check_rejected(clv_context *ctx, const clv_verifier *method, const char *json, const char *old,
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
    check_rejected(ctx, &means, json, "\"weight\": [0.9", "\"weight\": [0.8", "within is claimed");
    check_rejected(ctx, &means, json, "\"weight\": [0.9", "\"weight\": [-0.9",
                   "membership of object 1 in cluster 0 is claimed to be below 0");
    check_rejected(ctx, &means, json, "\"start\": [0, ", "\"start\": [0, 0, ", "memberships of 7 objects");
    check_rejected(ctx, &means, json, "\"centers\": [", "\"centers\": [[1, 2], ", "3 centers are claimed for 2");
    check_rejected(ctx, &means, json, "\"centers\": [", "\"centers\": [[1], [2]], \"others\": [",
                   "centers of 1 coordinates are claimed, but the data have 2");
    check_rejected(ctx, &means, json, "\"centers\"", "\"others\"", "cannot be: there are no memberships or no centers");
    check_rejected(ctx, &means, json, "\"objective\": {", "\"affinity\": {\"kind\": \"knn\"}, \"objective\": {",
                   "an affinity is claimed, but means works on the points");
    check_rejected(ctx, &means, json, "\"objective\": {", "\"components\": 1, \"objective\": {", "means has no graph");
    check_rejected(ctx, &means, json, "\"objective\": {",
                   "\"bound\": {\"name\": \"x\", \"value\": 0}, \"objective\": {",
                   "a bound is claimed, but means has none");
    check_rejected(ctx, &means, json, "\"labels\"", "\"others\"", "0 labels are claimed for 6 objects");
    clv_release(ctx, json);
    end(ctx);
}

static void budgets_count_the_points(void **unused) {
    (void)unused;
    clv_verdict verdict;
    clv_context *ctx = begin();
    char *json = means_to_json(ctx, 1);
    assert_int_equal(judge_by(ctx, &means, json, 1, 256, &verdict), CLV_ENOMEM);
    assert_non_null(strstr(clv_message(ctx), "evaluating means needs"));
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
    clv_verifier absolute = means;
    absolute.objective_scale = false;
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
    /* Points so far away that rounding of the certificate exceeds what is allowed in absolute terms. */
    assert_int_equal(judge_by(ctx, &means, unscaled, 1e6, 0, &found), CLV_OK);
    assert_false(found.accepted);
    char claim[4096];
    snprintf(claim, sizeof claim,
             "{\"method\": \"means\", \"solver\": \"fpc\", \"n\": 6, \"k\": 2, \"seed\": 1, \"options\": {},"
             " \"objective\": {\"name\": \"within\", \"value\": %.17g, \"sense\": \"min\"},"
             " \"certificate\": {\"name\": \"gradient\", \"value\": %.17g, \"tolerance\": %.17g, \"holds\": %s},"
             " \"stop\": \"converged\", \"iterations\": 1, \"restarts\": [{\"objective\": %.17g, \"iterations\": 1}],"
             "%s",
             found.objective.value, found.certificate.value * (1 + 1e-14), found.certificate.tolerance,
             found.certificate.holds ? "true" : "false", found.objective.value, strstr(json, "\n \"sizes\""));
    check_accepted(ctx, &means, claim, 1e6);
    assert_int_equal(judge_by(ctx, &absolute, claim, 1e6, 0, &verdict), CLV_OK);
    assert_false(verdict.accepted);
    free(unscaled);
    clv_release(ctx, json);
    end(ctx);
}

/* --- clusters one by one, on an affinity --- */

static clv_status peel_evaluate(clv_context *ctx, const clv_evidence *evidence, clv_verdict *out) {
    (void)ctx;
    assert_non_null(evidence->affinity);
    /* The hook has set the diagonal to 0 against the claim. */
    assert_true(clv_affinity_entry(evidence->affinity, 1, 1) == 0);
    out->objective = (clv_objective){"similarity", clv_affinity_entry(evidence->affinity, 0, 1), 1};
    out->certificate = (clv_certificate){"gap", 0, 1e-6, 1};
    return CLV_OK;
}

static void peel_adapt(const clv_claim *claim, clv_affinity_options *how) {
    (void)claim;
    how->zero_diagonal = 1;
}

static const clv_verifier peel = {.method = "peel",
                                  .table = clv_ncut_table,
                                  .memory = no_memory,
                                  .evaluate = peel_evaluate,
                                  .adapt = peel_adapt,
                                  .k_at_most = true};

#define CLUSTER(size, prototype, pass)                                                                                 \
    "{\"size\": " size                                                                                                 \
    ", \"cohesiveness\": 1, \"similarity\": 1, \"certificate\": 0, \"iterations\": 1, \"drops\": 0,"                   \
    " \"swaps\": 0, \"prototype\": " prototype ", \"pass\": " pass ", \"stop\": \"converged\"}"

static const char peeled[] =
    "{\"method\": \"peel\", \"solver\": \"fpc\", \"n\": 6, \"k\": 2, \"seed\": 1, \"options\": {\"k\": 5, "
    "\"zero-diagonal\": false},"
    " \"affinity\": {\"kind\": \"exponential\", \"gamma\": 1, \"home\": \"dense-f64\"},"
    " \"objective\": {\"name\": \"similarity\", \"value\": 0.36787944117144233, \"sense\": \"max\"},"
    " \"certificate\": {\"name\": \"gap\", \"value\": 0, \"tolerance\": 1e-6, \"holds\": true},"
    " \"stop\": \"converged\", \"iterations\": 1,"
    " \"restarts\": [{\"objective\": 0.36787944117144233, \"iterations\": 1}],"
    " \"sizes\": [3, 2], \"left_out\": 1, \"labels\": [0, 0, 0, 1, 1, -1],"
    " \"clusters\": [" CLUSTER("3", "0", "0") ", " CLUSTER("2", "5", "1") "], \"passes\": 2}";

static void clusters_found_one_by_one(void **unused) {
    (void)unused;
    clv_context *ctx = begin();
    check_accepted(ctx, &peel, peeled, 1);
    check_rejected(ctx, &peel, peeled, "\"k\": 5", "\"k\": 1", "2 clusters are claimed, but at most 1");
    check_rejected(ctx, &peel, peeled, CLUSTER("3", "0", "0") ", ", "", "1 clusters are described, but there are 2");
    check_rejected(ctx, &peel, peeled, "{\"size\": 3", "{\"size\": 7", "found with 7 of 6 objects");
    check_rejected(ctx, &peel, peeled, "{\"size\": 3", "{\"size\": 0", "found with 0 of 6 objects");
    check_rejected(ctx, &peel, peeled, "\"prototype\": 5", "\"prototype\": 6", "object 6, the prototype");
    check_rejected(ctx, &peel, peeled, "\"passes\": 2", "\"passes\": 1", "pass 1 of 1");
    check_rejected(ctx, &peel, peeled, "\"gamma\": 1", "\"gamma\": 2", "similarity is claimed");
    clv_verifier exact = peel;
    exact.k_at_most = false;
    check_rejected(ctx, &exact, peeled, "{", "{", "option k is claimed to be '5'");
    char *none = edit(peeled, "\"k\": 2", "\"k\": 0");
    char *sizeless = edit(none, "\"sizes\": [3, 2], \"left_out\": 1, \"labels\": [0, 0, 0, 1, 1, -1], \"clusters\"",
                          "\"sizes\": [], \"left_out\": 6, \"labels\": [-1, -1, -1, -1, -1, -1], \"others\"");
    check_accepted(ctx, &peel, sizeless, 1);
    free(sizeless);
    free(none);
    end(ctx);
}

/* --- weights, without labels --- */

static clv_status fit_evaluate(clv_context *ctx, const clv_evidence *evidence, clv_verdict *out) {
    const clv_claim *claim = evidence->claim;
    double sum = 0, row[P];
    if (!claim->weights || clv_data_matrix(claim->weights)->cols != evidence->points->cols) {
        return clv_fail(ctx, CLV_EDATA, "the weights are not as many as the columns");
    }
    clv_matrix_row(clv_data_matrix(claim->weights), 0, row);
    for (int64_t i = 0; i < N * P; i++) {
        sum += row[i % P] * raw[i];
    }
    out->objective = (clv_objective){"sum", sum, 0};
    out->certificate = (clv_certificate){"gap", 0, 0, 1};
    return CLV_OK;
}

static const clv_verifier fit = {.method = "fit",
                                 .table = clv_ncut_table,
                                 .memory = no_memory,
                                 .evaluate = fit_evaluate,
                                 .points_only = true,
                                 .unlabeled = true};

static const char fitted[] =
    "{\"method\": \"fit\", \"solver\": \"fpc\", \"n\": 6, \"k\": 70, \"seed\": 1, \"options\": {\"k\": 70},"
    " \"objective\": {\"name\": \"sum\", \"value\": -13, \"sense\": \"min\"},"
    " \"certificate\": {\"name\": \"gap\", \"value\": 0, \"tolerance\": 0, \"holds\": true},"
    " \"stop\": \"converged\", \"iterations\": 1, \"restarts\": [{\"objective\": -13, \"iterations\": 1}],"
    " \"weights\": {\"rows\": 1, \"cols\": 2, \"start\": [0, 1], \"index\": [1], \"value\": [-0.5]}}";

/* The second set of data reaches the evaluation, and must be there if and only if the method takes one. */
static clv_status pair_evaluate(clv_context *ctx, const clv_evidence *evidence, clv_verdict *out) {
    assert_int_equal(clv_data_matrix(evidence->second)->rows, N);
    return fit_evaluate(ctx, evidence, out);
}

static void methods_on_two_sets(void **unused) {
    (void)unused;
    clv_context *ctx = begin();
    clv_claim *claim;
    clv_verdict verdict;
    clv_verifier pair = fit;
    pair.two_operands = true;
    pair.evaluate = pair_evaluate;
    check_accepted(ctx, &pair, fitted, 1);
    clv_data *data = make_points(ctx, 1);
    assert_int_equal(clv_claim_parse(ctx, "result.json", fitted, strlen(fitted), &claim), CLV_OK);
    assert_int_equal(clv_claim_verify_by(ctx, &pair, claim, data, NULL, 0, 1, &verdict), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "results of fit are verified by two files of data"));
    assert_int_equal(clv_claim_verify_by(ctx, &fit, claim, data, data, 0, 1, &verdict), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "one file"));
    clv_claim_free(claim);
    clv_data_free(data);
    end(ctx);
}

static void methods_without_labels(void **unused) {
    (void)unused;
    clv_context *ctx = begin();
    check_accepted(ctx, &fit, fitted, 1);
    check_rejected(ctx, &fit, fitted, "[-0.5]", "[0.5]", "sum is claimed to be -13, but the data give 13");
    check_rejected(ctx, &fit, fitted, "\"cols\": 2", "\"cols\": 3", "cannot be: the weights are not as many");
    check_rejected(ctx, &fit, fitted, "\"weights\"", "\"sizes\": [6], \"left_out\": 0, \"labels\": [0], \"weights\"",
                   "labels are claimed, but fit gives none");
    check_rejected(ctx, &fit, fitted, "\"n\": 6", "\"n\": 5", "the data have 6");
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
