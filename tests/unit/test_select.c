/* Selection against a sort, on arrays that are random, constant, sorted, full of ties, or hostile to quickselect. */
#include "linalg/linalg.h"

#include "failing.h"

#include <math.h>

enum { SHAPES = 8, MOST = 6000 };

static void fill(double *x, int64_t n, int shape, clv_rng *rng) {
    for (int64_t i = 0; i < n; i++) {
        double values[SHAPES] = {clv_rng_normal(rng),
                                 3.5,
                                 (double)i,
                                 (double)(n - i),
                                 (double)clv_rng_below(rng, 4),
                                 i % 2 ? (double)i : (double)-i,
                                 i < n / 2 ? (double)i : (double)(n - i),
                                 i % 3 ? 0.0 : -0.0};
        x[i] = values[shape];
    }
}

/* The strided sample sees only zeros, so that its pivots are as bad as can be. */
static void fill_against_stride(double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        x[i] = i % 32 == 0 ? 0.0 : (double)(i + 1);
    }
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static const double *keys;

static int by_value_then_index(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    if (keys[a] > keys[b] || keys[a] < keys[b]) {
        return keys[a] > keys[b] ? -1 : 1;
    }
    return (a > b) - (a < b);
}

static int by_index(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void check_rank(const double *x, int64_t n, int64_t r) {
    double *given = malloc((size_t)n * sizeof *given), *sorted = malloc((size_t)n * sizeof *sorted);
    memcpy(given, x, (size_t)n * sizeof *given);
    memcpy(sorted, x, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    assert_true(clv_nth_smallest(given, n, r) == sorted[r]);
    qsort(given, (size_t)n, sizeof *given, by_value); /* reordered, not changed */
    for (int64_t i = 0; i < n; i++) {
        assert_true(given[i] == sorted[i]);
    }
    free(given);
    free(sorted);
}

static void check_top(const double *x, int64_t n, int64_t k) {
    int64_t *order = malloc((size_t)(n + 1) * sizeof *order), *work = malloc((size_t)(n + 1) * sizeof *work);
    int64_t *out = malloc((size_t)(k + 1) * sizeof *out);
    for (int64_t i = 0; i < n; i++) {
        order[i] = i;
    }
    keys = x;
    qsort(order, (size_t)n, sizeof *order, by_value_then_index);
    qsort(order, (size_t)k, sizeof *order, by_index);
    for (int threads = 1; threads <= 3; threads += 2) {
        out[k] = work[n] = -77;
        clv_top_k(x, n, k, out, work, threads);
        assert_int_equal(out[k], -77);
        assert_int_equal(work[n], -77);
        for (int64_t i = 0; i < k; i++) {
            assert_int_equal(out[i], order[i]);
        }
    }
    free(order);
    free(work);
    free(out);
}

static void check_all(const double *x, int64_t n, clv_rng *rng) {
    int64_t ranks[] = {0, n / 3, n / 2, n - 1, clv_rng_below(rng, n)};
    for (int r = 0; r < 5; r++) {
        check_rank(x, n, ranks[r]);
        check_top(x, n, ranks[r]);
    }
    check_top(x, n, n);
}

static void selection_equals_sorting(void **state) {
    static const int64_t sizes[] = {1, 2, 3, 5, 24, 25, 26, 100, 1023, 1024, 1025, MOST};
    static double x[MOST];
    (void)state;
    clv_rng rng = clv_rng_stream(1, 0);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int shape = 0; shape < SHAPES; shape++) {
            fill(x, sizes[s], shape, &rng);
            check_all(x, sizes[s], &rng);
        }
        fill_against_stride(x, sizes[s]);
        check_all(x, sizes[s], &rng);
    }
}

/* Any rank of any small array with ties. */
static void every_rank_of_small_arrays(void **state) {
    double x[60];
    (void)state;
    clv_rng rng = clv_rng_stream(2, 0);
    for (int64_t n = 1; n <= 60; n++) {
        fill(x, n, n % 2 ? 4 : 0, &rng);
        for (int64_t r = 0; r < n; r++) {
            check_rank(x, n, r);
            check_top(x, n, r);
        }
    }
}

/* Few of many, which a sample is to find: also where it sees the least or the largest values alone. */
static void few_of_many(void **state) {
    enum { MANY = 140003 };
    static const int64_t few[] = {1, 7, 64, 1000, MANY / 17, MANY / 15};
    double *x = malloc(MANY * sizeof *x);
    (void)state;
    clv_rng rng = clv_rng_stream(3, 0);
    for (int shape = 0; shape <= SHAPES + 1; shape++) {
        if (shape < SHAPES) {
            fill(x, MANY, shape, &rng);
        } else {
            for (int64_t i = 0; i < MANY; i++) {
                x[i] = (i % 64 == 0) == (shape == SHAPES) ? 1.0 : (double)(i % 64) / 64;
            }
            x[64] = x[65] = HUGE_VAL;
        }
        for (size_t f = 0; f < sizeof few / sizeof few[0]; f++) {
            check_top(x, MANY, few[f]);
        }
    }
    free(x);
}

static void infinities_have_their_place(void **state) {
    double x[] = {1, HUGE_VAL, -HUGE_VAL, 2, HUGE_VAL};
    (void)state;
    check_top(x, 5, 1);
    check_top(x, 5, 2);
    check_top(x, 5, 4);
    assert_true(clv_nth_smallest(x, 5, 0) < -1e300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selection_equals_sorting),
        cmocka_unit_test(every_rank_of_small_arrays),
        cmocka_unit_test(few_of_many),
        cmocka_unit_test(infinities_have_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
