/* The bound on sums of columns by distances from a center: never below what columns give, on all kinds that fall with a
 * distance, before and after weight has moved; and close to it where similarities are flat. */
#include "affinity/affinity.h"

#include "failing.h"

#include <math.h>

enum { N = 200, P = 3, HEAVY = 20 };

static clv_affinity *make(clv_context *ctx, clv_rng *rng, clv_affinity_kind kind, double gamma, clv_data **points) {
    clv_affinity_options how;
    clv_affinity *a = NULL;
    assert_int_equal(clv_data_new_dense(ctx, "points", N, P, CLV_F64, points), CLV_OK);
    double *values = (*points)->values;
    for (int64_t e = 0; e < (int64_t)N * P; e++) {
        values[e] = clv_rng_normal(rng) * (e < HEAVY * P ? 0.5 : 3) + 5;
    }
    clv_affinity_defaults(&how);
    how.kind = kind;
    how.gamma = gamma;
    how.home = CLV_HOME_COMPUTED;
    how.zero_diagonal = 1;
    assert_int_equal(clv_affinity_build(ctx, &(*points)->matrix, &how, &a), CLV_OK);
    return a;
}

static double largest_weighted(const double *distances, const double *weights) {
    double most = 0;
    for (int64_t t = 0; t < HEAVY; t++) {
        most = weights[t] > 0 ? fmax(most, distances[t]) : most;
    }
    return most;
}

/* The bound for each object as if it were the nearest of those outside. The largest distance to what it bounds. */
static double check_bounds(const clv_affinity *a, const clv_reach *reach, const double *distances, double within,
                           const int64_t *objects, const double *weights, double moved) {
    double r[N], worst = 0;
    assert_int_equal(clv_affinity_combine(a, objects, weights, HEAVY, r, 1), CLV_OK);
    for (int64_t i = HEAVY; i < N; i++) {
        double bound = clv_reach_bound(reach, within, distances[i], moved);
        for (int64_t j = HEAVY; j < N; j++) {
            assert_true(distances[j] < distances[i] || r[j] <= bound);
        }
        worst = fmax(worst, isfinite(bound) ? bound - r[i] : 0);
    }
    return worst;
}

static double try_kind(clv_context *ctx, clv_rng *rng, clv_affinity_kind kind, double gamma) {
    clv_data *points;
    clv_affinity *a = make(ctx, rng, kind, gamma, &points);
    clv_reach reach;
    int64_t objects[HEAVY];
    double weights[HEAVY], distances[N], sum = 0;
    for (int64_t t = 0; t < HEAVY; t++) {
        objects[t] = t;
        sum += weights[t] = clv_rng_uniform(rng);
    }
    for (int64_t t = 0; t < HEAVY; t++) {
        weights[t] /= sum;
    }
    assert_int_equal(clv_reach_new(a, &reach), CLV_OK);
    assert_int_equal(clv_reach_center(&reach, objects, weights, HEAVY, distances, 1), CLV_OK);
    clv_reach_weigh(&reach, objects, weights, HEAVY);
    assert_true(reach.offset < 1e-12);
    double within = largest_weighted(distances, weights);
    double slack = check_bounds(a, &reach, distances, within, objects, weights, 0);
    double moved = 0;
    for (int64_t t = 0; t + 1 < HEAVY; t++) { /* to the nearest of the center, the worst there is */
        moved += weights[t];
        weights[t + 1] += weights[t];
        weights[t] = 0;
        check_bounds(a, &reach, distances, within, objects, weights, moved);
    }
    clv_reach_weigh(&reach, objects, weights, HEAVY); /* all on one, off the center */
    check_bounds(a, &reach, distances, within, objects, weights, 0);
    clv_reach_free(&reach);
    clv_affinity_free(a);
    clv_data_free(points);
    return slack;
}

static void nothing_exceeds_the_bound(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(5, 0);
    for (int round = 0; round < 20; round++) {
        assert_true(try_kind(ctx, &rng, CLV_AFFINITY_GAUSSIAN, 1e-3) < 2e-3);
        try_kind(ctx, &rng, CLV_AFFINITY_GAUSSIAN, 0.3);
        try_kind(ctx, &rng, CLV_AFFINITY_EXPONENTIAL, 0.5);
        try_kind(ctx, &rng, CLV_AFFINITY_DISTANCE, NAN);
    }
    end_context(ctx);
}

/* An affinity of other kinds has no reach. */
static void others_say_nothing(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    double given[4] = {0, 1, 1, 0};
    clv_matrix view = {.scalar = CLV_F64, .rows = 2, .cols = 2, .values = given};
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_reach reach;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    assert_int_equal(clv_affinity_build(ctx, &view, &how, &a), CLV_OK);
    assert_int_equal(clv_reach_new(a, &reach), CLV_OK);
    assert_null(reach.of.points);
    assert_true(isinf(clv_reach_bound(&reach, 0, 1, 0)));
    clv_reach_free(&reach);
    clv_affinity_free(a);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_exceeds_the_bound),
        cmocka_unit_test(others_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
