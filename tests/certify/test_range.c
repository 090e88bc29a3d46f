/* Ranges of k: the rows are those of runs on their own, the result is that of the row taken, and limits hold for all.
 */
#include "cleave.h"

#include "base/base.h"
#include "methods/range.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PER = 40, CLOUDS = 4, N = PER * CLOUDS, P = 2 };

typedef struct world {
    clv_affinity_kind kind;
    clv_context *ctx;
    double values[N * P];
    int32_t truth[N];
    clv_matrix points;
} world;

static int set_up(void **state) {
    static world w;
    static const double places[CLOUDS][P] = {{0, 0}, {12, 0}, {0, 12}, {14, 14}};
    clv_rng rng = clv_rng_stream(5, 0);
    for (int i = 0; i < N; i++) {
        w.truth[i] = i % CLOUDS;
        for (int f = 0; f < P; f++) {
            w.values[i * P + f] = places[i % CLOUDS][f] + clv_rng_normal(&rng);
        }
    }
    w.points = (clv_matrix){.rows = N, .cols = P, .values = w.values};
    w.kind = CLV_AFFINITY_AUTO;
    *state = &w;
    return clv_context_new(NULL, &w.ctx);
}

static int tear_down(void **state) {
    size_t now, peak;
    world *w = *state;
    clv_context_memory(w->ctx, &now, &peak);
    clv_context_free(w->ctx);
    return now != 0;
}

static clv_result *solve(world *w, const char *name, const void *options, int64_t least, int64_t most,
                         clv_affinity **a) {
    const clv_method *method = clv_method_find(name);
    clv_affinity_options how;
    clv_result *result = NULL;
    clv_affinity_defaults(&how);
    how.kind = (int)w->kind;
    bool similar = method->takes == CLV_TAKES_AFFINITY;
    if (clv_solve_range(w->ctx, method, &(clv_input){.points = &w->points}, options, least, most, similar ? &how : NULL,
                        a, &result) < 0) {
        fail_msg("%s: %s", name, clv_message(w->ctx));
    }
    assert_int_equal(*a != NULL, similar);
    return result;
}

static void check_truth(world *w, const clv_result *result) {
    clv_scores scores;
    assert_int_equal(result->k, CLOUDS);
    assert_int_equal(clv_compare(w->ctx, w->truth, result->labels, N, &scores), CLV_OK);
    assert_true(scores.ari == 1);
    assert_non_null(strstr(clv_result_text(result, "k_reason"), "k = 4"));
}

/* Four clouds far apart are found by all methods, and the result is one of its k: its own evaluation says so. */
static void test_the_number_of_clouds(void **state) {
    world *w = *state;
    static const char *const names[] = {"ncut", "symnmf", "kpalm"};
    for (size_t m = 0; m < CLV_COUNT(names); m++) {
        const clv_method *method = clv_method_find(names[m]);
        clv_options_room options;
        clv_affinity *a = NULL;
        clv_result *found = NULL;
        int64_t count;
        clv_method_defaults(method, options.bytes, method->options->size);
        clv_result *result = solve(w, names[m], options.bytes, 2, 6, &a);
        check_truth(w, result);
        const int64_t *k = clv_result_integers(result, "k_table.k", &count);
        assert_true(count == 5 && k[0] == 2 && k[4] == 6);
        const double *objective = clv_result_reals(result, "k_table.objective", &count);
        assert_true(objective[2] == result->objective.value);
        const double *stability = clv_result_reals(result, "k_table.stability", &count);
        assert_true(stability[2] == 1);
        for (int i = 0; i < count && strcmp(names[m], "kpalm") == 0; i++) { /* never worse with one center more */
            assert_true(i == 0 || objective[i] <= objective[i - 1]);
        }
        assert_int_equal(clv_options_set(w->ctx, method->options, options.bytes, "k", "4"), CLV_OK);
        const clv_input input = {.affinity = a, .points = a ? NULL : &w->points};
        assert_int_equal(clv_evaluate(w->ctx, method, &input, options.bytes, result, &found), CLV_OK);
        assert_true(fabs(found->objective.value - result->objective.value) <= 1e-9 * fabs(found->objective.value));
        clv_result_free(found);
        clv_result_free(result);
        clv_affinity_free(a);
    }
}

/* Clouds of very different size, of which a run misses some: one center more than before is never worse. */
static void test_more_centers_cost_less(void **state) {
    enum { EACH = 100, MANY = 3 * EACH, MOST = 14 };
    static const double places[3][P] = {{0, 0}, {30, 0}, {0, 3}}, spread[3] = {0.1, 6, 0.6};
    world *w = *state;
    clv_kpalm_options options;
    double values[MANY * P];
    clv_matrix points = w->points;
    w->points = (clv_matrix){.rows = MANY, .cols = P, .values = values};
    clv_kpalm_defaults(&options);
    for (uint64_t seed = 0; seed < 6; seed++) {
        clv_rng rng = clv_rng_stream(seed, 0);
        clv_affinity *a = NULL;
        int64_t count;
        for (int e = 0; e < MANY * P; e++) {
            values[e] = places[e / P % 3][e % P] + spread[e / P % 3] * clv_rng_normal(&rng);
        }
        clv_result *result = solve(w, "kpalm", &options, 2, MOST, &a);
        const double *objective = clv_result_reals(result, "k_table.objective", &count);
        for (int i = 1; i < count; i++) {
            assert_true(objective[i] <= objective[i - 1]);
        }
        clv_result_free(result);
    }
    w->points = points;
}

/* The same labels in all inputs: their number is where the eigenvalues fall. */
static void test_consensus(void **state) {
    world *w = *state;
    clv_consensus_options options;
    double labels[N * 3];
    clv_rng rng = clv_rng_stream(9, 0);
    for (int e = 0; e < N * 3; e++) {
        labels[e] = clv_rng_uniform(&rng) < 0.05 ? (double)clv_rng_below(&rng, CLOUDS) : w->truth[e / 3];
    }
    clv_matrix points = w->points;
    w->points = (clv_matrix){.rows = N, .cols = 3, .values = labels};
    clv_consensus_defaults(&options);
    clv_affinity *a = NULL;
    clv_result *result = solve(w, "consensus", &options, 2, 8, &a);
    check_truth(w, result);
    clv_result_free(result);
    for (int e = 0; e < N * 3; e++) { /* no more groups than clusters: the range ends there, with a word about it */
        labels[e] = w->truth[e / 3];
    }
    result = solve(w, "consensus", &options, 2, 8, &a);
    int64_t count;
    clv_result_integers(result, "k_table.k", &count);
    assert_int_equal(count, 3);
    check_truth(w, result);
    assert_null(clv_result_field(result, "warnings"));
    assert_non_null(strstr(clv_result_text(result, "k_reason"), "no more than 4 groups of objects"));
    assert_true(result->objective.value == 0 && result->bound.value == 0); /* not by rounding, */
    const double *gap = clv_result_reals(result, "k_table.gap_percent", &count);
    assert_true(count == 3 && gap[2] == 0); /* and none away from the bound */
    clv_result_free(result);
    w->points = points;
}

/* --- limits --- */

static int stop_soon(void *user) {
    return ++*(int *)user > 400;
}

/* Whatever ends the run, there is a result, of the rows that were reached. */
static void test_limits_are_for_all(void **state) {
    world *w = *state;
    clv_ncut_options options;
    clv_affinity *a = NULL;
    int asked = 0;
    int64_t count;
    clv_ncut_defaults(&options);
    options.control.time_limit = 1e-9;
    w->kind = CLV_AFFINITY_GAUSSIAN; /* nothing is spent on the choice */
    clv_result *result = solve(w, "ncut", &options, 2, 40, &a);
    clv_result_integers(result, "k_table.k", &count);
    assert_true(count >= 1 && count < 39 && clv_result_field(result, "warnings"));
    clv_result_free(result);
    clv_affinity_free(a);
    options.control.time_limit = 0;
    clv_context_set_interrupt(w->ctx, stop_soon, &asked);
    result = solve(w, "ncut", &options, 2, 40, &a);
    clv_result_integers(result, "k_table.k", &count);
    assert_true(count >= 1 && count < 39 && result->labels);
    clv_context_set_interrupt(w->ctx, NULL, NULL);
    clv_result_free(result);
    clv_affinity_free(a);
}

static int stop_at(void *user) {
    int *left = user;
    return --*left < 0;
}

/* symnmf has an affinity of its own for each k: that of the row taken is there again, wherever the run was ended. */
static void test_rows_survive_the_affinity(void **state) {
    world *w = *state;
    clv_symnmf_options options;
    bool early = false;
    clv_symnmf_defaults(&options);
    options.control.threads = 1;
    for (int limit = 4000; limit > 200; limit = limit * 9 / 10) {
        clv_affinity *a = NULL;
        clv_result *found = NULL;
        clv_affinity_info info;
        int left = limit;
        int64_t count;
        clv_context_set_interrupt(w->ctx, stop_at, &left);
        clv_result *result = solve(w, "symnmf", &options, 2, 7, &a);
        clv_context_set_interrupt(w->ctx, NULL, NULL);
        clv_result_integers(result, "k_table.k", &count);
        early = early || (count > 1 && result->k < count + 1); /* another k was under way, or done */
        if (!isnan(result->objective.value)) {
            options.k = result->k;
            assert_int_equal(clv_symnmf_evaluate(w->ctx, &(clv_input){.affinity = a}, &options, result, &found),
                             CLV_OK);
            assert_true(fabs(found->objective.value - result->objective.value) <= 1e-9 * found->objective.value);
            clv_affinity_describe(a, &info);
            assert_true(info.gamma > 0);
            clv_result_free(found);
        }
        clv_result_free(result);
        clv_affinity_free(a);
    }
    assert_true(early);
}

static bool is_warned(const clv_result *result, const char *words) {
    const clv_field *warnings = clv_result_field(result, "warnings");
    bool found = false;
    for (int64_t i = 0; warnings && i < warnings->count; i++) {
        found = found || strstr(warnings->texts[i], words);
    }
    return found;
}

/* Of labels, a column per input: a run of dominant that ends when the hook is asked for this time; *left is below 0 if
 * it was. NULL: there was nothing yet. */
static clv_result *solve_until(world *w, const clv_matrix *labels, int64_t least, int64_t most, int *left) {
    clv_consensus_options options;
    clv_affinity *a = NULL;
    clv_result *result = NULL;
    clv_consensus_defaults(&options);
    options.method = CLV_CONSENSUS_DOMINANT;
    options.control.threads = 1;
    clv_context_set_interrupt(w->ctx, stop_at, left);
    clv_status status = clv_solve_range(w->ctx, clv_method_find("consensus"), &(clv_input){.points = labels}, &options,
                                        least, most, NULL, &a, &result);
    clv_context_set_interrupt(w->ctx, NULL, NULL);
    assert_true(status == CLV_OK || (status == CLV_EINTERRUPTED && *left < 0));
    return result;
}

/* dominant finds one cluster after the other: where it was ended, that there are no more is not known. */
static void test_fewer_clusters_by_the_end(void **state) {
    enum { INPUTS = 3, LEAST = 12, MOST = 14 };
    double values[N * INPUTS];
    clv_rng rng = clv_rng_stream(23, 0);
    for (int e = 0; e < N * INPUTS; e++) {
        values[e] = (double)clv_rng_below(&rng, 8);
    }
    const clv_matrix labels = {.rows = N, .cols = INPUTS, .values = values};
    int first = 0, later = 0;
    for (int limit = 1, left = -1; left < 0; limit += 1 + limit / 16) {
        int64_t count;
        left = limit;
        clv_result *result = solve_until(*state, &labels, LEAST, MOST, &left);
        if (!result) {
            continue;
        }
        const int64_t *k = clv_result_integers(result, "k_table.k", &count);
        bool few = count == 1 && k[0] < LEAST;
        assert_false(is_warned(result, "no more clusters"));
        assert_true(k[count - 1] == MOST || is_warned(result, "the run ended at k = "));
        assert_true(!few || is_warned(result, " of the range to 14, with "));
        first += few;
        later += count > 1 && k[count - 1] < MOST;
        clv_result_free(result);
    }
    assert_true(first > 0 && later > 0);
}

/* A first k that is not reached says nothing of the next ones, either, where these were not tried. */
static void test_too_few_clusters_and_the_end(void **state) {
    enum { OBJECTS = 8, INPUTS = 3, LEAST = 3, MOST = 6 };
    const double values[OBJECTS * INPUTS] = {1, 1, 1, 1, -1, 1, 1, -1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0};
    const clv_matrix labels = {.rows = OBJECTS, .cols = INPUTS, .values = values};
    int left = INT_MAX, ended = 0;
    clv_result *result = solve_until(*state, &labels, LEAST, MOST, &left);
    assert_true(result->k == 2 && is_warned(result, "the range to 6 ends at k = 2: no more clusters were found"));
    clv_result_free(result);
    int asked = INT_MAX - left;
    for (int limit = 1; limit < asked / 2; limit++) {
        left = limit;
        result = solve_until(*state, &labels, LEAST, MOST, &left);
        assert_true(!result || is_warned(result, "the run ended at k = "));
        assert_true(!result || !is_warned(result, "no more clusters"));
        ended += result != NULL;
        clv_result_free(result);
    }
    assert_true(ended > 0);
}

/* However early kpalm is ended, a row has the stability that it has without an end, or none. */
static void test_stability_of_whole_runs(void **state) {
    enum { LEAST = 3, MOST = 5 };
    world *w = *state;
    clv_kpalm_options options;
    clv_affinity *a = NULL;
    clv_result *whole, *result = NULL;
    const clv_input input = {.points = &w->points};
    const clv_method *method = clv_method_find("kpalm");
    int last = 0, left = INT_MAX;
    int64_t count;
    clv_kpalm_defaults(&options);
    options.control.threads = 1;
    clv_context_set_interrupt(w->ctx, stop_at, &left);
    assert_int_equal(clv_solve_range(w->ctx, method, &input, &options, LEAST, MOST, NULL, &a, &whole), CLV_OK);
    const double *stability = clv_result_reals(whole, "k_table.stability", &count);
    int asked = INT_MAX - left;
    for (int limit = 1; limit < asked; limit += 1 + asked / 200) {
        left = limit;
        clv_status status = clv_solve_range(w->ctx, method, &input, &options, LEAST, MOST, NULL, &a, &result);
        assert_true(status == CLV_OK || status == CLV_EINTERRUPTED);
        const double *found = status == CLV_OK ? clv_result_reals(result, "k_table.stability", &count) : NULL;
        for (int64_t i = 0; found && i < count; i++) {
            assert_true(isnan(found[i]) || found[i] == stability[i]);
        }
        bool cut = found && count == MOST - LEAST + 1 && isnan(found[count - 1]);
        assert_true(!cut || is_warned(result, "the run ended in the last row, k = 5"));
        last += cut;
        clv_result_free(result);
        result = NULL;
    }
    clv_context_set_interrupt(w->ctx, NULL, NULL);
    clv_result_free(whole);
    assert_true(last > 0);
}

static void test_refusals(void **state) {
    world *w = *state;
    clv_kpalm_options options;
    clv_affinity *a;
    clv_result *result;
    const clv_method *method = clv_method_find("kpalm");
    const int64_t wrong[][2] = {{0, 3}, {3, 2}, {2, N + 1}};
    clv_kpalm_defaults(&options);
    const clv_input input = {.points = &w->points};
    for (size_t i = 0; i < CLV_COUNT(wrong); i++) {
        assert_int_equal(clv_solve_range(w->ctx, method, &input, &options, wrong[i][0], wrong[i][1], NULL, &a, &result),
                         CLV_EUSAGE);
    }
    clv_dominant_options other;
    clv_dominant_defaults(&other);
    assert_int_equal(clv_solve_range(w->ctx, clv_method_find("dominant"), &input, &other, 2, 3, NULL, &a, &result),
                     CLV_EUSAGE);
    const clv_input started = {.points = &w->points, .start = &w->points};
    assert_int_equal(clv_solve_range(w->ctx, method, &started, &options, 2, 3, NULL, &a, &result), CLV_EUSAGE);
}

/* --- the rule --- */

static void test_rule(void **state) {
    char reason[256];
    (void)state;
    clv_k_row rows[] = {{.k = 2, .stability = 0.9, .eigengap = 0.1},
                        {.k = 3, .stability = 0.99, .eigengap = 0.2},
                        {.k = 4, .stability = 0.976, .eigengap = NAN},
                        {.k = 5, .stability = 0.976, .eigengap = 0.3}};        /* which is not enough for 5 */
    assert_int_equal(clv_k_suggest(rows, 4, false, reason, sizeof reason), 2); /* the largest that holds */
    assert_int_equal(clv_k_suggest(rows, 4, true, reason, sizeof reason), 3);
    rows[3].stop = CLV_TIME_LIMIT;
    assert_int_equal(clv_k_suggest(rows, 4, true, reason, sizeof reason), 1);
    assert_false(clv_k_is_doubtful(rows, 4));
    rows[1].stability = rows[2].stability = 0.8;
    assert_int_equal(clv_k_suggest(rows, 4, false, reason, sizeof reason), 0); /* else the most stable, */
    rows[2].spread = 0.25;                                                     /* or one that may be */
    assert_int_equal(clv_k_suggest(rows, 4, false, reason, sizeof reason), 2);
    assert_true(clv_k_is_doubtful(rows, 4));
    for (int i = 0; i < 4; i++) {
        rows[i].stability = NAN;
    }
    assert_false(clv_k_is_doubtful(rows, 4)); /* that is not known */
    assert_int_equal(clv_k_suggest(rows, 4, false, reason, sizeof reason), 0);
}

static int64_t suggested(const clv_k_row *rows, int64_t count) {
    char reason[256], start[16];
    int64_t row = clv_k_suggest(rows, count, false, reason, sizeof reason);
    snprintf(start, sizeof start, "k = %lld ", (long long)rows[row].k);
    assert_true(strncmp(reason, start, strlen(start)) == 0);
    assert_true(clv_k_is_doubtful(rows, count) == (strstr(reason, "the clusters of no k hold") != NULL));
    return rows[row].k;
}

/* One cluster too many may just hold. */
static void test_the_firmer_of_two(void **state) {
    (void)state;
    clv_k_row rows[] = {{.k = 2, .stability = 0.7, .silhouette = 0.5, .eigengap = NAN},
                        {.k = 3, .stability = 1, .silhouette = 0.82, .eigengap = NAN},
                        {.k = 4, .stability = 0.976, .silhouette = 0.72, .eigengap = NAN}};
    assert_int_equal(suggested(rows, 3), 3);
    rows[2].stability = 0.995; /* which is no matter of luck */
    assert_int_equal(suggested(rows, 3), 4);
    rows[2].stability = 0.976;
    rows[1].stability = 0.99; /* not all subsamples have these either */
    assert_int_equal(suggested(rows, 3), 4);
    rows[1].stability = 1;
    rows[2].silhouette = 0.79; /* about as good */
    assert_int_equal(suggested(rows, 3), 4);
    rows[2].silhouette = rows[1].silhouette = NAN; /* not known: the rule without it */
    assert_int_equal(suggested(rows, 3), 4);
}

/* None holds; what else is known decides between neighbors, and whether to doubt it. */
static void test_what_else_is_known(void **state) {
    (void)state;
    clv_k_row rows[] = {{.k = 2, .stability = 0.6, .silhouette = 0.26, .eigengap = 0.1},
                        {.k = 3, .stability = 0.89, .silhouette = 0.28, .eigengap = 0.3, .spread = 0.1},
                        {.k = 4, .stability = 0.9, .silhouette = 0.27, .eigengap = 0.02}};
    assert_int_equal(suggested(rows, 3), 3);
    assert_false(clv_k_is_doubtful(rows, 3));
    rows[0].eigengap = 0.4; /* they disagree: the larger of two that are as stable */
    assert_int_equal(suggested(rows, 3), 4);
    assert_true(clv_k_is_doubtful(rows, 3));
    for (int i = 0; i < 3; i++) {
        rows[i].eigengap = NAN; /* a method without eigenvalues */
    }
    assert_int_equal(suggested(rows, 3), 3);
    assert_false(clv_k_is_doubtful(rows, 3));
    rows[0].silhouette = 0.4;
    assert_int_equal(suggested(rows, 3), 4);
    rows[0].silhouette = 0.26;
    rows[1].stability = 0.87; /* too little to believe the silhouette alone */
    assert_int_equal(suggested(rows, 3), 4);
    assert_true(clv_k_is_doubtful(rows, 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_number_of_clouds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_more_centers_cost_less, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_consensus, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limits_are_for_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows_survive_the_affinity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fewer_clusters_by_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_few_clusters_and_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stability_of_whole_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test(test_rule),
        cmocka_unit_test(test_the_firmer_of_two),
        cmocka_unit_test(test_what_else_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
