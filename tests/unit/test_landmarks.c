/* Affinities by landmarks: all objects give the exact kernel, known ranks, the stated errors against all pairs, every
 * function of the operator against its entries, row sums, the same bits on any number of threads, what is refused. */
#include "affinity/affinity.h"

#include "entry_of.h"
#include "with_context.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 3, CENTERS = 4 };

/* Clusters around a few centers; the caller frees the values. */
static clv_matrix clusters(int64_t n, double spread, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    double *x = malloc((size_t)(n * COLUMNS) * sizeof *x);
    for (int64_t e = 0; e < n * COLUMNS; e++) {
        int64_t center = e / COLUMNS % CENTERS;
        x[e] = spread * clv_rng_normal(&rng) + (double)(center * (e % COLUMNS + 1) % CENTERS);
    }
    return (clv_matrix){.rows = n, .cols = COLUMNS, .scalar = CLV_F64, .values = x};
}

static double kernel(const clv_matrix *points, int kind, double gamma, int64_t i, int64_t j) {
    const double *x = points->values;
    double d2 = 0;
    for (int64_t f = 0; f < points->cols; f++) {
        double d = x[i * points->cols + f] - x[j * points->cols + f];
        d2 += d * d;
    }
    return exp(-gamma * (kind == CLV_AFFINITY_GAUSSIAN ? d2 : sqrt(d2)));
}

static clv_affinity *build(const clv_matrix *points, int kind, double gamma, int64_t landmarks, int zero_diagonal,
                           int64_t threads, clv_affinity_info *info) {
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    how.kind = kind;
    how.gamma = gamma;
    how.landmarks = landmarks;
    how.zero_diagonal = zero_diagonal;
    how.threads = threads;
    assert_int_equal(clv_affinity_build(ctx, points, &how, &a), CLV_OK);
    clv_affinity_describe(a, info);
    assert_string_equal(info->home, "low-rank");
    assert_true(info->bytes <= info->peak);
    return a;
}

static void all_objects_give_the_exact_kernel(void **unused) {
    (void)unused;
    for (int variant = 0; variant < 4; variant++) {
        clv_affinity_info info;
        clv_matrix x = clusters(150, 1, 1);
        int kind = variant % 2 ? CLV_AFFINITY_EXPONENTIAL : CLV_AFFINITY_GAUSSIAN, zero = variant / 2;
        clv_affinity *a = build(&x, kind, NAN, x.rows, zero, 1, &info);
        for (int64_t i = 0; i < x.rows; i++) {
            for (int64_t j = 0; j < x.rows; j++) {
                double exact = i == j && zero ? 0 : kernel(&x, kind, info.gamma, i, j);
                assert_true(fabs(entry_of(a, i, j) - exact) <= 1e-9);
            }
        }
        assert_true(info.landmarks <= x.rows && info.trace_error <= 1e-9 && info.sampled_error <= 1e-9);
        clv_affinity_free(a);
        free((void *)(uintptr_t)x.values);
    }
}

/* Points in seven places: seven landmarks are enough, and no more can be found. */
static void equal_points_are_one_landmark(void **unused) {
    (void)unused;
    enum { N = 90, PLACES = 7 };
    double x[N];
    for (int64_t i = 0; i < N; i++) {
        x[i] = (double)(i * i % N % PLACES);
    }
    clv_matrix points = {.rows = N, .cols = 1, .scalar = CLV_F64, .values = x};
    clv_affinity_info info;
    clv_affinity *a = build(&points, CLV_AFFINITY_GAUSSIAN, 0.5, 40, 0, 1, &info);
    assert_true(info.landmarks <= PLACES);
    for (int64_t e = 0; e < N * N; e++) {
        assert_true(fabs(entry_of(a, e / N, e % N) - kernel(&points, CLV_AFFINITY_GAUSSIAN, 0.5, e / N, e % N)) <=
                    1e-9);
    }
    clv_affinity_free(a);
}

/* Of so few objects all pairs are looked at. */
static void the_errors_stated_are_those_of_all_pairs(void **unused) {
    (void)unused;
    for (int64_t landmarks = 1; landmarks <= 64; landmarks *= 4) {
        clv_affinity_info info;
        clv_matrix x = clusters(300, 0.7, 2), factor;
        clv_affinity *a = build(&x, CLV_AFFINITY_EXPONENTIAL, 1.5, landmarks, 0, 1, &info);
        double errors = 0, squares = 0, lacks = 0;
        assert_true(clv_affinity_factor(a, &factor));
        assert_int_equal(info.landmarks, landmarks);
        assert_int_equal(factor.cols, landmarks);
        for (int64_t i = 0; i < x.rows; i++) {
            const double *f = (const double *)factor.values + i * factor.cols;
            lacks += 1 - clv_dot(f, f, factor.cols, 1);
            assert_true(fabs(entry_of(a, i, i) - 1) <= 1e-12);
            for (int64_t j = 0; j < i; j++) {
                double exact = kernel(&x, CLV_AFFINITY_EXPONENTIAL, 1.5, i, j), error = exact - entry_of(a, i, j);
                errors += error * error;
                squares += exact * exact;
            }
        }
        assert_true(fabs(info.trace_error - lacks / (double)x.rows) <= 1e-12);
        assert_true(fabs(info.sampled_error - sqrt(errors / squares)) <= 1e-12);
        assert_true(info.sampled_error > 1e-3 && info.trace_error > 1e-3);
        clv_affinity_free(a);
        free((void *)(uintptr_t)x.values);
    }
}

/* Of many objects, a sample of pairs: near what all of them give. */
static void the_sample_is_a_fair_one(void **unused) {
    (void)unused;
    clv_affinity_info info;
    clv_matrix x = clusters(1500, 0.7, 3);
    clv_affinity *a = build(&x, CLV_AFFINITY_GAUSSIAN, 2, 20, 0, 1, &info);
    double errors = 0, squares = 0;
    for (int64_t e = 0; e < x.rows * x.rows; e++) {
        int64_t i = e / x.rows, j = e % x.rows;
        double exact = i == j ? 0 : kernel(&x, CLV_AFFINITY_GAUSSIAN, 2, i, j);
        errors += i == j ? 0 : pow(exact - entry_of(a, i, j), 2);
        squares += exact * exact;
    }
    assert_true(fabs(info.sampled_error / sqrt(errors / squares) - 1) < 0.1);
    clv_affinity_free(a);
    free((void *)(uintptr_t)x.values);
}

/* Far from all landmarks entries lie below 0; what they add up to does not. Points on a line, where a few among
 * hundreds of problems have such sums unless something is done about them. */
static void row_sums_are_at_least_the_diagonal(void **unused) {
    (void)unused;
    enum { N = 30, LANDMARKS = 5, TRIALS = 1500 };
    double x[N], degrees[N];
    clv_rng rng = clv_rng_stream(7, 0);
    clv_matrix points = {.rows = N, .cols = 1, .scalar = CLV_F64, .values = x};
    bool negative = false;
    for (int trial = 0; trial < TRIALS; trial++) {
        clv_affinity_info info;
        for (int64_t i = 0; i < N; i++) {
            x[i] = 3 * clv_rng_normal(&rng);
        }
        clv_affinity *a = build(&points, CLV_AFFINITY_GAUSSIAN, 1, LANDMARKS, trial % 2, 1, &info);
        assert_int_equal(clv_affinity_degrees(a, degrees, 1), CLV_OK);
        for (int64_t i = 0; i < N; i++) {
            assert_true(degrees[i] >= (trial % 2 ? 0 : 1) - 1e-9);
            negative |= entry_of(a, i, 0) < -1e-3;
        }
        clv_affinity_free(a);
    }
    assert_true(negative); /* else there was nothing to see */
}

static void threads_change_no_bit(void **unused) {
    (void)unused;
    clv_affinity_info one_info, three_info;
    clv_matrix x = clusters(3000, 0.6, 4), one, three;
    clv_affinity *a = build(&x, CLV_AFFINITY_GAUSSIAN, 4, 150, 0, 1, &one_info);
    clv_affinity *b = build(&x, CLV_AFFINITY_GAUSSIAN, 4, 150, 0, 3, &three_info);
    assert_true(clv_affinity_factor(a, &one) && clv_affinity_factor(b, &three));
    assert_int_equal(one.cols, three.cols);
    assert_memory_equal(one.values, three.values, (size_t)(one.rows * one.cols) * sizeof(double));
    assert_memory_equal(&one_info.sampled_error, &three_info.sampled_error, sizeof(double));
    assert_memory_equal(&one_info.trace_error, &three_info.trace_error, sizeof(double));
    clv_affinity_free(a);
    clv_affinity_free(b);
    free((void *)(uintptr_t)x.values);
}

static void refuse(const clv_matrix *points, int kind, int home, int64_t landmarks, const char *because) {
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    how.kind = kind;
    how.home = home;
    how.landmarks = landmarks;
    assert_int_equal(clv_affinity_build(ctx, points, &how, &a), CLV_EUSAGE);
    assert_null(a);
    assert_non_null(strstr(clv_message(ctx), because));
}

static void what_cannot_be_is_refused(void **unused) {
    (void)unused;
    clv_affinity_info info;
    clv_matrix x = clusters(20, 1, 5);
    clv_dominant_options options;
    clv_result *result = NULL;
    refuse(&x, CLV_AFFINITY_GAUSSIAN, CLV_HOME_AUTO, 21, "landmarks = 21 exceeds the 20 objects");
    refuse(&x, CLV_AFFINITY_KNN, CLV_HOME_AUTO, 5, "landmarks = 5: they are for gaussian and exponential");
    refuse(&x, CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE64, 5, "home = dense-f64");
    clv_affinity *a = build(&x, CLV_AFFINITY_GAUSSIAN, NAN, 5, 1, 1, &info);
    clv_dominant_defaults(&options);
    assert_int_equal(clv_dominant(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "landmarks = 5"));
    clv_affinity_free(a);
    free((void *)(uintptr_t)x.values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_objects_give_the_exact_kernel),
        cmocka_unit_test(equal_points_are_one_landmark),
        cmocka_unit_test(the_errors_stated_are_those_of_all_pairs),
        cmocka_unit_test(the_sample_is_a_fair_one),
        cmocka_unit_test(row_sums_are_at_least_the_diagonal),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
