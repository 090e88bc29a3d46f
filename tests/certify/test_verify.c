/* Verification, end to end: a result is written, read back and judged from raw points. True ones are accepted; each
 * number changed by hand is noticed. */
#include "brute_force.h"

#include "linalg/linalg.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

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
    affinity.neighbours = 5;
    affinity.zero_diagonal = how->zero_diagonal;
    clv_ncut_defaults(&cut);
    cut.k = 3;
    cut.control.restarts = 5;
    cut.control.threads = 1;
    assert_int_equal(clv_data_scale(data, how->scale), CLV_OK);
    assert_int_equal(clv_affinity_build(ctx, clv_data_matrix(data), &affinity, &a), CLV_OK);
    assert_int_equal(clv_ncut(ctx, a, &cut, &result), CLV_OK);
    clv_affinity_describe(a, &info);
    const clv_option_table *const tables[] = {clv_control_table(), clv_ncut_table(), clv_affinity_table(), NULL};
    const void *const options[] = {&cut.control, &cut, &affinity};
    clv_report report = {.result = result,
                         .affinity = &info,
                         .scale = how->scale_name,
                         .silhouette = NAN,
                         .tables = tables,
                         .options = options};
    assert_int_equal(clv_report_json(ctx, &report, &text, &size), CLV_OK);
    assert_int_equal(strlen(text), size);
    clv_result_free(result);
    clv_affinity_free(a);
    clv_data_free(data);
    return text;
}

static clv_verdict judge(clv_context *ctx, const char *json) {
    clv_claim *claim = NULL;
    clv_verdict verdict;
    clv_data *data = make_points(ctx);
    clv_status status = clv_claim_parse(ctx, "result.json", json, strlen(json), &claim);
    if (status < 0) {
        fail_msg("%s", clv_message(ctx));
    }
    assert_int_equal(clv_claim_verify(ctx, claim, data, 1, &verdict), CLV_OK);
    clv_claim_free(claim);
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

/* The number after `field` (first occurrence after `within`) becomes `value`; owned by malloc. */
static char *replace_number(const char *json, const char *within, const char *field, const char *value) {
    const char *at = strstr(json, within);
    assert_non_null(at);
    at = strstr(at, field);
    assert_non_null(at);
    at += strlen(field);
    size_t before = (size_t)(at - json), old = strcspn(at, ",]}");
    char *changed = malloc(strlen(json) + strlen(value) + 1);
    memcpy(changed, json, before);
    strcpy(changed + before, value);
    strcat(changed, at + old);
    return changed;
}

static void check_rejected(const char *within, const char *field, const char *value, const char *reason) {
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    char *json = run_to_json(ctx, &plain);
    char *changed = replace_number(json, within, field, value);
    clv_verdict verdict = judge(ctx, changed);
    assert_false(verdict.accepted);
    if (!strstr(verdict.reason, reason)) {
        fail_msg("'%s' does not speak of '%s'", verdict.reason, reason);
    }
    free(changed);
    clv_release(ctx, json);
    clv_context_free(ctx);
}

static void changed_numbers_are_noticed(void **unused) {
    (void)unused;
    check_rejected("\"objective\"", "\"value\": ", "0.5", "ncut is claimed to be 0.5");
    check_rejected("\"objective\"", "\"value\": ", "1e300", "ncut is claimed");
    check_rejected("\"certificate\"", "\"value\": ", "-0.25", "one-move-gain is claimed to be -0.25");
    check_rejected("\"certificate\"", "\"value\": ", "0.25", "against its own value");
    check_rejected("\"certificate\"", "\"value\": ", "null", "against its own value");
    check_rejected("\"certificate\"", "\"tolerance\": ", "1", "tolerance");
    check_rejected("\"certificate\"", "\"holds\": ", "false", "against its own value");
    check_rejected("\"sizes\"", "[", "7", "size of cluster 0");
    check_rejected("\"left_out\"", ": ", "2", "left out");
    check_rejected("\"labels\"", "[", "3", "label 3 of object 1 is outside");
    check_rejected("\"labels\"", "[", "-1", "size of cluster");
    check_rejected("\"labels\"", "[", "0, 0", "31 labels are claimed for 30");
    check_rejected("\"n\"", ": ", "29", "the data have 30");
    check_rejected("\"k\"", ": ", "31", "31 clusters of 30 objects");
    check_rejected("\"k\"", ": ", "2", "3 sizes are claimed for 2");
    check_rejected("\"affinity\": {", "\"gamma\": ", "1.1", "claimed");
    check_rejected("\"options\"", "\"zero-diagonal\": ", "true", "claimed");
    check_rejected("\"options\"", "\"scale\": ", "\"none\"", "claimed");
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
        cmocka_unit_test(swapped_labels_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
