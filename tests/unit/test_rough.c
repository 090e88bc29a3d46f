/* Whenever a run is ended there are labels: those of an evaluated iterate, or a rough result that claims nothing. */
#include "methods/methods.h"

#include "affinity/affinity.h"
#include "failing.h"
#include "methods/ncut/ncut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, P = 3, K = 3 };

typedef struct world {
    clv_context *ctx;
    double values[N * P];
    clv_matrix points;
} world;

static void set_up(world *w) {
    clv_rng rng = clv_rng_stream(3, 0);
    w->ctx = new_context();
    for (int e = 0; e < N * P; e++) {
        w->values[e] = 6 * (e / P % K) + clv_rng_normal(&rng);
    }
    w->points = (clv_matrix){.rows = N, .cols = P, .values = w->values};
}

static clv_affinity *build(const world *w, const clv_method *method, const void *options, int kind) {
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    how.kind = kind;
    assert_int_equal(clv_suit_affinity(w->ctx, method, &w->points, options, &how), CLV_OK);
    assert_int_equal(clv_affinity_build(w->ctx, &w->points, &how, &a), CLV_OK);
    return a;
}

static void set_options(const world *w, const clv_method *method, clv_options_room *room) {
    clv_method_defaults(method, room->bytes, method->options->size);
    assert_int_equal(clv_options_set(w->ctx, method->options, room->bytes, "k", "3"), CLV_OK);
}

static int stop_at(void *user) {
    return --*(int *)user < 0;
}

static bool is_rough(const clv_result *result) {
    return isnan(result->objective.value);
}

/* Labels in their range, of which nothing is claimed unless they were evaluated. */
static void assert_sound(const clv_method *method, const clv_result *result) {
    assert_int_equal(result->n, N);
    for (int64_t i = 0; i < N; i++) {
        assert_true(result->labels[i] >= -1 && result->labels[i] < result->k);
        assert_true(!is_rough(result) || result->labels[i] >= 0);
    }
    if (is_rough(result)) {
        assert_true(isnan(result->certificate.value) && !result->certificate.holds);
        assert_true(result->stop == CLV_CANCELLED || result->stop == CLV_TIME_LIMIT);
        assert_non_null(strstr(clv_result_text(result, "warnings"), method->name));
        assert_true(!clv_method_gives(method, "membership") || clv_result_matrix(result, "membership"));
    }
}

static void every_interruption_has_labels(void **unused) {
    (void)unused;
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    const int kinds[] = {CLV_AFFINITY_GAUSSIAN, CLV_AFFINITY_KNN, CLV_AFFINITY_MINIMAX};
    world w;
    int rough = 0;
    set_up(&w);
    for (size_t m = 0; m < count * CLV_COUNT(kinds); m++) {
        const clv_method *method = methods[m / CLV_COUNT(kinds)];
        clv_options_room options;
        if (method->takes != CLV_TAKES_AFFINITY) {
            continue;
        }
        set_options(&w, method, &options);
        clv_affinity *a = build(&w, method, options.bytes, kinds[m % CLV_COUNT(kinds)]);
        for (int polls = 0; polls < 60; polls++) {
            int left = polls;
            clv_result *result = NULL;
            clv_context_set_interrupt(w.ctx, stop_at, &left);
            assert_int_equal(clv_solve(w.ctx, method, &(clv_input){.affinity = a}, options.bytes, &result), CLV_OK);
            clv_context_set_interrupt(w.ctx, NULL, NULL);
            assert_true(left >= 0 || result->stop == CLV_CANCELLED);
            assert_sound(method, result);
            rough += is_rough(result);
            clv_result_free(result);
        }
        clv_affinity_free(a);
    }
    assert_true(rough > 5); /* else this checks nothing */
    end_context(w.ctx);
}

/* Of methods that find weights, those of the start stand with their value, wherever the run is interrupted. */
static void weights_of_a_start_are_a_result(void **unused) {
    (void)unused;
    static const char *const names[] = {"ksupport", "pursuit"};
    world w;
    double classes[N];
    clv_matrix targets = {.rows = N, .cols = 1, .values = classes};
    set_up(&w);
    for (int i = 0; i < N; i++) {
        classes[i] = i % 2;
    }
    for (int turn = 0; turn < 2 * 30; turn++) {
        const clv_method *method = clv_method_find(names[turn % 2]);
        clv_input input = {.points = &w.points, .targets = turn % 2 == 0 ? &targets : NULL};
        clv_options_room options;
        clv_result *result = NULL;
        int left = turn / 2;
        set_options(&w, method, &options);
        clv_context_set_interrupt(w.ctx, stop_at, &left);
        assert_int_equal(clv_solve(w.ctx, method, &input, options.bytes, &result), CLV_OK);
        clv_context_set_interrupt(w.ctx, NULL, NULL);
        assert_true(isfinite(result->objective.value) && clv_result_matrix(result, "weights"));
        assert_true(left >= 0 || result->stop == CLV_CANCELLED);
        clv_result_free(result);
    }
    end_context(w.ctx);
}

/* Without an affinity: on points, k-means, which tells these groups apart; without points, any labels. */
static void without_similarities_there_are_labels(void **unused) {
    (void)unused;
    world w;
    set_up(&w);
    const clv_method *method = clv_method_find("ncut");
    clv_options_room options;
    clv_result *result = NULL;
    clv_affinity_info plan = {.n = N};
    double given[N];
    clv_matrix start = {.rows = N, .cols = 1, .values = given};
    set_options(&w, method, &options);
    assert_int_equal(clv_solve_roughly(w.ctx, method, &(clv_input){.points = &w.points}, options.bytes, &result),
                     CLV_OK);
    assert_sound(method, result);
    for (int i = K; i < N; i++) {
        assert_int_equal(result->labels[i], result->labels[i - K]);
    }
    clv_result_free(result);
    assert_int_equal(clv_solve_roughly(w.ctx, method, &(clv_input){.plan = &plan}, options.bytes, &result), CLV_OK);
    assert_sound(method, result);
    assert_true(result->sizes[0] > 0 && result->sizes[1] > 0 && result->sizes[2] > 0);
    clv_result_free(result);
    for (int i = 0; i < N; i++) {
        given[i] = i % 2;
    }
    clv_input all = {.points = &w.points, .start = &start};
    assert_int_equal(clv_solve_roughly(w.ctx, method, &all, options.bytes, &result), CLV_OK);
    assert_int_equal(result->sizes[0], N / 2);
    clv_result_free(result);
    assert_int_equal(clv_solve_roughly(w.ctx, method, &(clv_input){0}, options.bytes, &result), CLV_EUSAGE);
    end_context(w.ctx);
}

/* While there is time, k-means begins again: the best of twenty starts, not the first. */
static void time_that_is_left_goes_into_starts(void **unused) {
    (void)unused;
    enum { SEEDS = 5, SIDE = 7, EACH = 30, GROUPS = SIDE * SIDE };
    double values[GROUPS * EACH][2];
    clv_matrix points = {.rows = GROUPS * EACH, .cols = 2, .values = values};
    const clv_method *method = clv_method_find("ncut");
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(5, 0);
    int merged[2] = {0};
    for (int i = 0; i < GROUPS * EACH; i++) {
        values[i][0] = 20 * (i / EACH % SIDE) + clv_rng_normal(&rng);
        values[i][1] = 20 * (i / EACH / SIDE) + clv_rng_normal(&rng);
    }
    for (int turn = 0; turn < 2 * SEEDS; turn++) {
        int limited = turn % 2;
        clv_options_room options;
        clv_result *result = NULL;
        clv_method_defaults(method, options.bytes, method->options->size);
        assert_int_equal(clv_options_set(ctx, method->options, options.bytes, "k", "49"), CLV_OK);
        ((clv_control *)(void *)options.bytes)->seed = turn / 2;
        clv_context_set_time_limit(ctx, limited ? 1e6 : 0);
        assert_int_equal(clv_solve_roughly(ctx, method, &(clv_input){.points = &points}, options.bytes, &result),
                         CLV_OK);
        for (int64_t c = 0; c < GROUPS; c++) {
            merged[limited] += result->sizes[c] > EACH;
        }
        clv_result_free(result);
    }
    assert_true(merged[0] > 0 && merged[1] == 0);
    clv_context_set_time_limit(ctx, 0);
    end_context(ctx);
}

static int count_polls(void *user) {
    ++*(int *)user;
    return 0;
}

/* A kick moves many objects, and a move costs a column: it asks whether to go on after every few. */
static void a_kick_asks_between_its_moves(void **unused) {
    (void)unused;
    world w;
    set_up(&w);
    double degree[N], diagonal[N], value = NAN;
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_partition s;
    clv_rng rng = clv_rng_stream(1, 0);
    int polls = 0;
    clv_affinity_defaults(&how);
    how.home = CLV_HOME_COMPUTED;
    assert_int_equal(clv_affinity_build(w.ctx, &w.points, &how, &a), CLV_OK);
    assert_int_equal(clv_affinity_degrees(a, degree, 1), CLV_OK);
    assert_int_equal(clv_affinity_diagonal(a, diagonal), CLV_OK);
    clv_ncut_problem p = {
        .ctx = w.ctx, .affinity = a, .n = N, .k = K, .counted = N, .degree = degree, .diagonal = diagonal};
    assert_int_equal(clv_partition_new(&p, 1, &s), CLV_OK);
    clv_start_random(&s, &rng);
    assert_int_equal(clv_partition_refresh(&s), CLV_OK);
    clv_context_set_interrupt(w.ctx, count_polls, &polls);
    for (int kick = 0; kick < 60; kick++) {
        assert_int_equal(clv_kick(&s, &rng), CLV_OK);
    }
    assert_true(polls > 30); /* one kick in three moves all objects together */
    int64_t moved = 1;
    clv_start_random(&s, &rng);
    assert_int_equal(clv_partition_refresh(&s), CLV_OK);
    value = s.value;
    s.measured = false;
    clv_context_set_interrupt(w.ctx, stop_at, &(int){1}); /* between two moves of a sweep, which stand */
    assert_int_equal(clv_move_sweep(&s, &moved), CLV_EINTERRUPTED);
    assert_true(s.measured && moved > 0 && s.value < value);
    clv_context_set_interrupt(w.ctx, NULL, NULL);
    value = s.value;
    assert_int_equal(clv_partition_refresh(&s), CLV_OK);
    assert_true(fabs(s.value - value) < 1e-12);
    clv_partition_free(&s);
    clv_affinity_free(a);
    end_context(w.ctx);
}

/* The work of a moment is done after the deadline; a rough result where that is not enough. */
static void a_passed_deadline_has_labels(void **unused) {
    (void)unused;
    world w;
    set_up(&w);
    const clv_method *method = clv_method_find("ncut");
    clv_options_room options;
    clv_result *result = NULL;
    set_options(&w, method, &options);
    clv_affinity *a = build(&w, method, options.bytes, CLV_AFFINITY_GAUSSIAN);
    clv_context_set_time_limit(w.ctx, 1e-9);
    assert_false(clv_worked(w.ctx, 1));
    assert_true(clv_worked(w.ctx, INT64_C(1) << 40)); /* the moment is over */
    assert_int_equal(clv_solve(w.ctx, method, &(clv_input){.affinity = a}, options.bytes, &result), CLV_OK);
    assert_true(is_rough(result) && result->stop == CLV_TIME_LIMIT);
    assert_sound(method, result);
    clv_result_free(result);
    clv_affinity_free(a);
    end_context(w.ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_interruption_has_labels),         cmocka_unit_test(weights_of_a_start_are_a_result),
        cmocka_unit_test(without_similarities_there_are_labels), cmocka_unit_test(a_kick_asks_between_its_moves),
        cmocka_unit_test(a_passed_deadline_has_labels),          cmocka_unit_test(time_that_is_left_goes_into_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
