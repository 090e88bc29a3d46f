/* consensus against its definition: the cut of the co-association written out as n x n numbers, certificates by moving
 * every object, optima by brute force, and labels that say the same in other words. */
#include "cleave.h"

#include "base/base.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64, INPUTS = 5 };

static void assert_close(double a, double b, double allowed) {
    if (!(fabs(a - b) <= allowed)) {
        fail_msg("%.17g and %.17g differ by more than %g", a, b, allowed);
    }
}

typedef struct world {
    clv_context *ctx;
    int n, inputs;
    double labels[MOST * INPUTS];
    double a[MOST][MOST];
} world;

/* Labels at random around three planted clusters, some left out. */
static void draw(world *w, int n, int inputs, double noise, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    w->n = n;
    w->inputs = inputs;
    for (int i = 0; i < n; i++) {
        for (int m = 0; m < inputs; m++) {
            double label = (double)(i % 3);
            label = clv_rng_uniform(&rng) < noise ? (double)clv_rng_below(&rng, 4) : label;
            w->labels[i * inputs + m] = clv_rng_uniform(&rng) < 0.1 ? -1 : label;
        }
    }
}

/* The definition: inputs that put both together, by the roots of the numbers of those that know each. */
static void associate(world *w) {
    for (int i = 0; i < w->n; i++) {
        for (int j = 0; j < w->n; j++) {
            double together = 0, of_i = 0, of_j = 0;
            for (int m = 0; m < w->inputs; m++) {
                double x = w->labels[i * w->inputs + m], y = w->labels[j * w->inputs + m];
                of_i += x != -1;
                of_j += y != -1;
                together += x != -1 && x == y;
            }
            w->a[i][j] = of_i > 0 && of_j > 0 ? together / sqrt(of_i * of_j) : 0;
        }
    }
}

static double cut_of(const world *w, const int32_t *labels, int k) {
    double within[8] = {0}, volume[8] = {0}, cut = 0;
    for (int i = 0; i < w->n; i++) {
        for (int j = 0; j < w->n && labels[i] >= 0; j++) {
            volume[labels[i]] += w->a[i][j];
            within[labels[i]] += labels[i] == labels[j] ? w->a[i][j] : 0;
        }
    }
    for (int c = 0; c < k; c++) {
        cut += (1 - within[c] / volume[c]) / 2;
    }
    return cut;
}

static int size_of(const world *w, const int32_t *labels, int32_t c) {
    int size = 0;
    for (int i = 0; i < w->n; i++) {
        size += labels[i] == c;
    }
    return size;
}

static double gain_of(const world *w, const int32_t *labels, int k) {
    int32_t moved[MOST];
    double most = -DBL_MAX, before = cut_of(w, labels, k);
    memcpy(moved, labels, (size_t)w->n * sizeof *labels);
    for (int i = 0; i < w->n; i++) {
        for (int32_t c = 0; c < k && labels[i] >= 0 && size_of(w, labels, labels[i]) > 1; c++) {
            moved[i] = c;
            most = c != labels[i] ? fmax(most, before - cut_of(w, moved, k)) : most;
        }
        moved[i] = labels[i];
    }
    return most;
}

static clv_result *solve(world *w, const clv_consensus_options *options) {
    const clv_matrix points = {.rows = w->n, .cols = w->inputs, .values = w->labels};
    const clv_input input = {.points = &points};
    clv_result *result = NULL, *found = NULL;
    if (clv_consensus(w->ctx, &input, options, &result) < 0 ||
        clv_consensus_evaluate(w->ctx, &input, options, result, &found) < 0) {
        fail_msg("%s", clv_message(w->ctx));
    }
    assert_close(found->objective.value, result->objective.value, 1e-9);
    assert_close(found->certificate.value, result->certificate.value, 1e-9);
    clv_result_free(found);
    return result;
}

static clv_consensus_options choose(int64_t k) {
    clv_consensus_options options;
    clv_consensus_defaults(&options);
    options.k = k;
    return options;
}

/* --- the cut and its certificate --- */

static void test_cut_is_that_of_the_co_association(void **state) {
    world *w = *state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        draw(w, 40, INPUTS, 0.3, seed);
        associate(w);
        clv_consensus_options options = choose(2 + (int64_t)(seed % 3));
        clv_result *result = solve(w, &options);
        int k = (int)result->k;
        assert_close(result->objective.value, cut_of(w, result->labels, k), 1e-12);
        assert_close(result->certificate.value, gain_of(w, result->labels, k), 1e-12);
        assert_true(result->certificate.holds);
        assert_true(result->bound.value <= result->objective.value + 1e-12);
        clv_result_free(result);
    }
}

/* All labelings of n objects, the first object with label 0 and new labels in order; those that leave one out stay. */
static double least_cut(const world *w, int k) {
    int32_t labels[MOST] = {0};
    double least = DBL_MAX;
    for (int64_t code = 0; code < (int64_t)pow(k, w->n); code++) {
        int64_t rest = code;
        int used = 0;
        for (int i = 0; i < w->n; i++, rest /= k) {
            labels[i] = (int32_t)(rest % k);
            used |= 1 << labels[i];
        }
        least = used == (1 << k) - 1 ? fmin(least, cut_of(w, labels, k)) : least;
    }
    return least;
}

static void test_optimum_by_brute_force(void **state) {
    world *w = *state;
    int reached = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        draw(w, 9, 4, 0.5, 100 + seed);
        for (int i = 0; i < w->n; i++) {
            w->labels[(size_t)(i * w->inputs)] = i % 3; /* nobody is left out by all */
        }
        associate(w);
        clv_consensus_options options = choose(3);
        clv_result *result = solve(w, &options);
        double least = least_cut(w, 3);
        assert_true(result->objective.value >= least - 1e-12);
        assert_true(result->bound.value <= least + 1e-12);
        reached += result->objective.value <= least + 1e-9;
        clv_result_free(result);
    }
    assert_true(reached >= 11);
}

/* --- the same in other words --- */

static void test_memberships_of_ones_are_labels(void **state) {
    world *w = *state;
    draw(w, 30, 3, 0.3, 7);
    clv_consensus_options options = choose(3);
    clv_result *hard = solve(w, &options), *soft = NULL;
    double rows[MOST * 12] = {0}, widths[] = {4, 4, 4};
    for (int i = 0; i < w->n; i++) {
        for (int m = 0; m < 3; m++) {
            int label = (int)w->labels[i * 3 + m];
            rows[i * 12 + m * 4 + (label < 0 ? 0 : label)] = label >= 0;
        }
    }
    const clv_matrix points = {.rows = w->n, .cols = 12, .values = rows};
    const clv_matrix view = {.rows = 1, .cols = 3, .values = widths};
    assert_int_equal(clv_consensus(w->ctx, &(clv_input){.points = &points, .widths = &view}, &options, &soft), CLV_OK);
    assert_close(hard->objective.value, soft->objective.value, 1e-12);
    assert_memory_equal(hard->labels, soft->labels, (size_t)w->n * sizeof *hard->labels);
    clv_result_free(soft);
    rows[0] = 0.5; /* a row that adds up to no 1 */
    rows[1] = rows[2] = rows[3] = 0;
    assert_int_equal(clv_consensus(w->ctx, &(clv_input){.points = &points, .widths = &view}, &options, &soft),
                     CLV_EDATA);
    clv_result_free(hard);
}

/* Names of labels, the order of objects and copies of inputs do not matter. */
static void test_names_do_not_matter(void **state) {
    static const double names[] = {17, -3.5, 1e6, 0};
    world *w = *state;
    draw(w, 40, 4, 0.2, 3);
    clv_consensus_options options = choose(3);
    clv_result *before = solve(w, &options);
    for (int e = 0; e < w->n * w->inputs; e++) {
        w->labels[e] = w->labels[e] == -1 ? -1 : names[(int)w->labels[e]];
    }
    clv_result *after = solve(w, &options);
    clv_scores scores;
    assert_close(before->objective.value, after->objective.value, 1e-12);
    assert_int_equal(clv_compare(w->ctx, before->labels, after->labels, w->n, &scores), CLV_OK);
    assert_close(scores.ari, 1, 1e-12);
    clv_result_free(before);
    clv_result_free(after);
}

/* --- what is said of it --- */

static void test_agreement_and_confidence(void **state) {
    world *w = *state;
    w->n = 6;
    w->inputs = 3;
    const double labels[] = {0, 5, 1, 0, 5, 1, 0, 5, 0, 1, 7, 0, 1, 7, 0, -1, -1, -1};
    memcpy(w->labels, labels, sizeof labels);
    clv_consensus_options options = choose(2);
    clv_result *result = solve(w, &options);
    int64_t count;
    const double *ari = clv_result_reals(result, "inputs.ari", &count);
    assert_int_equal(count, 3);
    assert_close(ari[0], 1, 1e-12);
    assert_close(ari[1], 1, 1e-12);
    assert_true(ari[2] < 0.5);
    const double *confidence = clv_result_reals(result, "confidence", &count);
    assert_int_equal(count, 6);
    assert_close(confidence[0], (1 + 1 + 2.0 / 3) / 3, 1e-12);
    assert_close(confidence[2], (1 + 1 + 1.0 / 3) / 3, 1e-12);
    assert_close(confidence[3], 1, 1e-12);
    assert_int_equal(result->labels[5], -1);
    assert_close(confidence[5], 0, 0);
    assert_int_equal(clv_result_integer(result, "medoid", -1), 0);
    assert_int_equal(clv_result_integer(result, "groups", -1), 3);
    clv_result_free(result);
    options.k = 0;
    options.medoid = 1;
    result = solve(w, &options);
    const int32_t medoid[] = {0, 0, 0, 1, 1, -1};
    assert_memory_equal(result->labels, medoid, sizeof medoid);
    clv_result_free(result);
}

static void test_other_methods(void **state) {
    world *w = *state;
    draw(w, 45, INPUTS, 0.1, 11);
    for (int method = CLV_CONSENSUS_SYMNMF; method <= CLV_CONSENSUS_DOMINANT; method++) {
        clv_consensus_options options = choose(3);
        options.method = method;
        clv_result *result = solve(w, &options);
        clv_scores scores;
        int32_t truth[MOST];
        for (int i = 0; i < w->n; i++) {
            truth[i] = i % 3;
        }
        assert_int_equal(clv_compare(w->ctx, truth, result->labels, w->n, &scores), CLV_OK);
        assert_true(scores.ari > 0.8);
        assert_true(result->certificate.holds);
        clv_result_free(result);
    }
}

/* All inputs put the same objects together: nothing is cut, all are sure, to the last bit. */
static void test_perfect_agreement(void **state) {
    world *w = *state;
    for (w->inputs = 2; w->inputs <= INPUTS; w->inputs++) {
        w->n = 45;
        for (int e = 0; e < w->n * w->inputs; e++) {
            w->labels[e] = e / w->inputs % 3;
        }
        clv_consensus_options options = choose(3);
        clv_result *result = solve(w, &options);
        int64_t count;
        const double *confidence = clv_result_reals(result, "confidence", &count);
        assert_true(result->objective.value == 0 && result->bound.value == 0);
        for (int i = 0; i < w->n; i++) {
            assert_true(confidence[i] <= 1 && confidence[i] > 1 - 1e-12);
        }
        clv_result_free(result);
    }
}

/* What no input knows has no label, whatever is solved, and an answer that gives it one is none. */
static void test_unknown_objects(void **state) {
    world *w = *state;
    const double labels[] = {0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, -1, 1, -1, -1, -1, -1};
    w->n = 6;
    w->inputs = 3;
    memcpy(w->labels, labels, sizeof labels);
    const clv_matrix points = {.rows = w->n, .cols = w->inputs, .values = w->labels};
    for (int method = CLV_CONSENSUS_NCUT; method <= CLV_CONSENSUS_DOMINANT; method++) {
        clv_consensus_options options = choose(2);
        options.method = method;
        clv_result *result = solve(w, &options), *found = NULL;
        assert_int_equal(result->labels[5], -1);
        assert_int_equal(result->left_out, 1);
        assert_true(result->labels[0] == result->labels[1] && result->labels[0] != result->labels[2]);
        result->labels[5] = 0;
        assert_int_equal(clv_consensus_evaluate(w->ctx, &(clv_input){.points = &points}, &options, result, &found),
                         CLV_EDATA);
        clv_result_free(result);
    }
}

/* Nor where a shift makes all objects similar, as dominant's does; and what it says of the others is true. */
static void test_unknown_objects_under_a_shift(void **state) {
    world *w = *state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        draw(w, 12, 3, 0.5, seed);
        for (int e = 9 * w->inputs; e < 11 * w->inputs; e++) {
            w->labels[e] = -1;
        }
        const clv_matrix points = {.rows = w->n, .cols = w->inputs, .values = w->labels};
        clv_consensus_options options = choose(2);
        options.method = CLV_CONSENSUS_DOMINANT;
        clv_result *result = solve(w, &options), *found = NULL;
        assert_true(result->labels[9] == -1 && result->labels[10] == -1);
        assert_int_equal(clv_consensus_evaluate(w->ctx, &(clv_input){.points = &points}, &options, result, &found),
                         CLV_OK);
        assert_close(found->objective.value, result->objective.value, 1e-12);
        clv_result_free(found);
        clv_result_free(result);
    }
}

/* Whatever the limit, there are labels, with what is said of them; a bound is not worth the time. */
static void test_limits_leave_a_result(void **state) {
    world *w = *state;
    draw(w, 60, INPUTS, 0.4, 21);
    clv_consensus_options options = choose(3);
    options.control.time_limit = 1e-9;
    clv_result *result = solve(w, &options);
    assert_true(result->stop == CLV_TIME_LIMIT || result->stop == CLV_CONVERGED);
    assert_non_null(clv_result_field(result, "confidence"));
    clv_result_free(result);
}

/* An answer that no run can have given, and inputs that are none. */
static void test_refusals(void **state) {
    world *w = *state;
    draw(w, 20, 3, 0.2, 5);
    clv_consensus_options options = choose(3);
    const clv_matrix points = {.rows = w->n, .cols = w->inputs, .values = w->labels};
    clv_result *result = solve(w, &options), *found = NULL;
    int32_t kept = result->labels[0];
    result->labels[0] = -1;
    assert_int_equal(clv_consensus_evaluate(w->ctx, &(clv_input){.points = &points}, &options, result, &found),
                     CLV_EDATA);
    result->labels[0] = (kept + 1) % 3; /* another answer: the numbers are other ones */
    assert_int_equal(clv_consensus_evaluate(w->ctx, &(clv_input){.points = &points}, &options, result, &found), CLV_OK);
    assert_true(found->objective.value > result->objective.value);
    clv_result_free(found);
    clv_result_free(result);
    options.k = 0;
    assert_int_equal(clv_consensus(w->ctx, &(clv_input){.points = &points}, &options, &result), CLV_EUSAGE);
    for (int e = 0; e < w->n * w->inputs; e++) {
        w->labels[e] = e % w->inputs == 0 ? 0 : -1;
    }
    options.k = 2;
    assert_int_equal(clv_consensus(w->ctx, &(clv_input){.points = &points}, &options, &result), CLV_EDATA);
    for (int e = 0; e < w->n * w->inputs; e++) {
        w->labels[e] = -1;
    }
    assert_int_equal(clv_consensus(w->ctx, &(clv_input){.points = &points}, &options, &result), CLV_EDATA);
}

static int set_up(void **state) {
    static world w;
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cut_is_that_of_the_co_association, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_optimum_by_brute_force, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memberships_of_ones_are_labels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_do_not_matter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_agreement_and_confidence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_methods, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_perfect_agreement, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_objects_under_a_shift, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limits_leave_a_result, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
