/* Objects without a label go to the cluster of the largest mean similarity: against the means written out, on every
 * home, with few and with many objects to assign. */
#include "affinity/affinity.h"
#include "methods/dominant/dominant.h"

#include "entry_of.h"
#include "failing.h"

#include <math.h>

enum { N = 97, K = 5, FEATURES = 3 };

static double points[N * FEATURES];
static clv_matrix cloud = {.rows = N, .cols = FEATURES, .scalar = CLV_F64, .values = points};

static int set_up(void **state) {
    clv_rng rng = clv_rng_stream(4, 0);
    (void)state;
    for (int64_t e = 0; e < N * FEATURES; e++) {
        points[e] = clv_rng_normal(&rng) + 2 * (double)(e / FEATURES % K);
    }
    return 0;
}

typedef struct place {
    int kind, home;
    bool zero_diagonal;
} place;

static const place places[] = {
    {CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE64, false},    {CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE32, true},
    {CLV_AFFINITY_EXPONENTIAL, CLV_HOME_COMPUTED, true}, {CLV_AFFINITY_DISTANCE, CLV_HOME_COMPUTED, false},
    {CLV_AFFINITY_COSINE, CLV_HOME_LOWRANK, true},       {CLV_AFFINITY_MINIMAX, CLV_HOME_COMPUTED, true},
    {CLV_AFFINITY_KNN, CLV_HOME_SPARSE, false},
};
enum { PLACES = sizeof places / sizeof *places };

static clv_status build(clv_context *ctx, const place *where, clv_affinity **out) {
    clv_affinity_options o;
    clv_affinity_defaults(&o);
    o.kind = where->kind;
    o.home = where->home;
    o.zero_diagonal = where->zero_diagonal;
    o.neighbors = 4;
    return clv_affinity_build(ctx, &cloud, &o, out);
}

/* Labels with a share of -1; cluster 3 is empty, cluster 1 has a single member. */
static void draw_labels(int32_t *labels, int64_t n, double share, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    for (int64_t i = 0; i < n; i++) {
        int32_t c = (int32_t)clv_rng_below(&rng, K);
        labels[i] = clv_rng_uniform(&rng) < share ? -1 : c == 1 || c == 3 ? 0 : c;
    }
    labels[n / 2] = 1;
}

/* The mean similarity of j to a cluster, from entries; -1 when nobody is in it. */
static double mean_of(const clv_affinity *a, const int32_t *labels, int64_t j, int32_t c) {
    double sum = 0;
    int64_t size = 0;
    for (int64_t p = 0; p < clv_affinity_size(a); p++) {
        if (labels[p] == c) {
            sum += entry_of(a, j, p);
            size++;
        }
    }
    return size > 0 ? sum / (double)size : -1;
}

static void check_labels(const clv_affinity *a, const int32_t *before, const int32_t *after) {
    for (int64_t j = 0; j < clv_affinity_size(a); j++) {
        double best = 0;
        if (before[j] >= 0) {
            assert_int_equal(after[j], before[j]);
            continue;
        }
        for (int32_t c = 0; c < K; c++) {
            best = fmax(best, mean_of(a, before, j, c));
        }
        if (best > 0) {
            assert_in_range(after[j], 0, K - 1);
            assert_true(mean_of(a, before, j, after[j]) >= best * (1 - 1e-12));
        } else {
            assert_int_equal(after[j], -1);
        }
    }
}

static void test_means(void **state) {
    clv_context *ctx = new_context();
    const double shares[] = {0.02, 0.4, 0.6, 0.9, 1};
    (void)state;
    for (int w = 0; w < PLACES; w++) {
        clv_affinity *a;
        assert_int_equal(build(ctx, &places[w], &a), CLV_OK);
        for (int s = 0; s < 5; s++) {
            int32_t before[N], first[N], labels[N];
            draw_labels(before, N, shares[s], (uint64_t)(10 * w + s));
            for (int threads = 1; threads <= 3; threads++) {
                memcpy(labels, before, sizeof labels);
                assert_int_equal(clv_dominant_assign(ctx, a, K, threads, labels), CLV_OK);
                memcpy(first, threads == 1 ? labels : first, sizeof labels);
                assert_memory_equal(labels, first, sizeof labels);
            }
            check_labels(a, before, labels);
        }
        clv_affinity_free(a);
    }
    end_context(ctx);
}

static clv_affinity *given(clv_context *ctx, const double *values, int64_t n, clv_matrix *view) {
    clv_affinity_options o;
    clv_affinity *a;
    *view = (clv_matrix){.rows = n, .cols = n, .scalar = CLV_F64, .values = values};
    clv_affinity_defaults(&o);
    o.kind = CLV_AFFINITY_PRECOMPUTED;
    assert_int_equal(clv_affinity_build(ctx, view, &o, &a), CLV_OK);
    return a;
}

/* Object 4 is as similar to both clusters on average (2 of 1 to one of two, 1 of 1 to one of one); object 5 only to
 * object 4, which has no label when the assignment begins: it stays out. Both ways to add up are taken. */
static void test_ties_and_strangers(void **state) {
    enum { SMALL = 6, LARGE = 12 };
    clv_context *ctx = new_context();
    double w[LARGE * LARGE] = {0};
    clv_matrix view;
    (void)state;
    for (int64_t n = SMALL; n <= LARGE; n += LARGE - SMALL) { /* of the large one, half has no similarity to anyone */
        int32_t labels[LARGE] = {1, 1, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1};
        int32_t expected[LARGE] = {1, 1, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1};
        memset(w, 0, sizeof w);
        w[4 * n + 0] = w[0 * n + 4] = 2;
        w[4 * n + 2] = w[2 * n + 4] = 1;
        w[4 * n + 5] = w[5 * n + 4] = 7;
        w[3 * n + 0] = w[0 * n + 3] = 0.25;
        w[3 * n + 2] = w[2 * n + 3] = 0.75;
        labels[3] = n == SMALL ? 2 : -1;
        expected[3] = n == SMALL ? 2 : 0;
        clv_affinity *a = given(ctx, w, n, &view);
        assert_int_equal(clv_dominant_assign(ctx, a, 3, 2, labels), CLV_OK);
        assert_memory_equal(labels, expected, (size_t)n * sizeof *labels);
        clv_affinity_free(a);
    }
    end_context(ctx);
}

static void test_nothing_to_do(void **state) {
    clv_context *ctx = new_context();
    double w[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    int32_t all[3] = {1, 0, 1}, none[3] = {-1, -1, -1};
    clv_matrix view;
    clv_affinity *a = given(ctx, w, 3, &view);
    (void)state;
    assert_int_equal(clv_dominant_assign(ctx, a, 2, 1, all), CLV_OK);
    assert_memory_equal(all, ((int32_t[]){1, 0, 1}), sizeof all);
    for (int64_t k = 0; k <= 2; k++) { /* without clusters nobody can be assigned */
        assert_int_equal(clv_dominant_assign(ctx, a, k, 1, none), CLV_OK);
        assert_memory_equal(none, ((int32_t[]){-1, -1, -1}), sizeof none);
    }
    clv_affinity_free(a);
    end_context(ctx);
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

/* A failure leaves the labels as they were. */
static void test_refusals(void **state) {
    clv_context *ctx = new_context();
    int32_t before[N], labels[N];
    clv_affinity *a;
    (void)state;
    assert_int_equal(build(ctx, &places[2], &a), CLV_OK);
    for (int many = 0; many < 2; many++) {
        draw_labels(before, N, many ? 0.9 : 0.1, 3);
        memcpy(labels, before, sizeof labels);
        clv_context_set_interrupt(ctx, stop_at_once, NULL);
        assert_int_equal(clv_dominant_assign(ctx, a, K, 2, labels), CLV_EINTERRUPTED);
        assert_non_null(strstr(clv_message(ctx), "interrupted while "));
        clv_context_set_interrupt(ctx, NULL, NULL);
        assert_memory_equal(labels, before, sizeof labels);
    }
    for (int32_t bad = -2; bad <= K; bad += K + 2) {
        labels[7] = bad;
        assert_int_equal(clv_dominant_assign(ctx, a, K, 1, labels), CLV_EDATA);
        assert_non_null(strstr(clv_message(ctx), bad < 0 ? "label -2 of object 8 is not in -1..4"
                                                         : "label 5 of object 8 is not in -1..4"));
    }
    clv_affinity_free(a);
    end_context(ctx);
}

static clv_status build_and_assign(clv_context *ctx, void *user) {
    const place *where = user;
    int32_t few[N], many[N];
    clv_affinity *a;
    draw_labels(few, N, 0.1, 1);
    draw_labels(many, N, 0.9, 1);
    CLV_TRY(build(ctx, where, &a));
    clv_status status = clv_dominant_assign(ctx, a, K, 2, few);
    if (status == CLV_OK) {
        status = clv_dominant_assign(ctx, a, K, 2, many);
    }
    clv_affinity_free(a);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    for (int w = 0; w < PLACES; w++) {
        place where = places[w];
        assert_in_range(check_every_failure(build_and_assign, &where), 12, 80);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means),         cmocka_unit_test(test_ties_and_strangers),
        cmocka_unit_test(test_nothing_to_do), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
