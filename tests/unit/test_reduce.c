/* Reductions: exact where the sum is exact, accurate where it is not, and the same bits on any number of threads. */
#include "linalg/linalg.h"

#include "failing.h"

#include <math.h>

static const int64_t sizes[] = {0, 1, 2, 7, 8, 15, 16, 17, 4095, 4096, 4097, 12345, 2097152, 2097153, 6500001};
enum { SIZES = sizeof sizes / sizeof sizes[0], LARGEST = 6500001 };

static void fill(double *x, uint64_t stream) {
    clv_rng rng = clv_rng_stream(7, stream);
    for (int64_t i = 0; i < LARGEST; i++) {
        x[i] = clv_rng_normal(&rng) * exp(5 * clv_rng_normal(&rng));
    }
}

static void whole_numbers_are_exact(void **state) {
    double *x = malloc(LARGEST * sizeof *x), *y = malloc(LARGEST * sizeof *y);
    (void)state;
    for (int64_t i = 0; i < LARGEST; i++) {
        x[i] = (double)(i % 1000 - 300);
        y[i] = (double)(i % 7);
    }
    for (int s = 0; s < SIZES; s++) {
        int64_t sum = 0, dot = 0;
        for (int64_t i = 0; i < sizes[s]; i++) {
            sum += i % 1000 - 300;
            dot += (i % 1000 - 300) * (i % 7);
        }
        assert_true(clv_sum(x, sizes[s], 2) == (double)sum);
        assert_true(clv_dot(x, y, sizes[s], 2) == (double)dot);
    }
    free(x);
    free(y);
}

static void threads_do_not_matter(void **state) {
    double *x = malloc((LARGEST + 1) * sizeof *x), *y = malloc((LARGEST + 1) * sizeof *y);
    (void)state;
    fill(x + 1, 1);
    fill(y + 1, 2);
    for (int s = 0; s < SIZES; s++) {
        double sum = clv_sum(x + 1, sizes[s], 1), dot = clv_dot(x + 1, y + 1, sizes[s], 1);
        for (int threads = 2; threads <= 5; threads++) {
            assert_true(clv_sum(x + 1, sizes[s], threads) == sum);
            assert_true(clv_dot(x + 1, y + 1, sizes[s], threads) == dot);
        }
        memmove(x, x + 1, (size_t)sizes[s] * sizeof *x); /* another alignment */
        assert_true(clv_sum(x, sizes[s], 3) == sum);
        memmove(x + 1, x, (size_t)sizes[s] * sizeof *x);
    }
    free(x);
    free(y);
}

/* The error of a tree of additions is below log2(n) eps times the sum of absolute values. */
static void errors_are_those_of_a_tree(void **state) {
    double *x = malloc(LARGEST * sizeof *x), *y = malloc(LARGEST * sizeof *y);
    (void)state;
    fill(x, 3);
    fill(y, 4);
    long double sum = 0, dot = 0, sum_size = 0, dot_size = 0;
    for (int64_t i = 0; i < LARGEST; i++) {
        sum += x[i];
        dot += (long double)x[i] * y[i];
        sum_size += fabsl(x[i]);
        dot_size += fabsl((long double)x[i] * y[i]);
    }
    assert_true(fabsl(clv_sum(x, LARGEST, 2) - sum) < 23 * 0x1p-53L * sum_size);
    assert_true(fabsl(clv_dot(x, y, LARGEST, 2) - dot) < 24 * 0x1p-53L * dot_size);
    for (int64_t i = 0; i < LARGEST; i++) {
        x[i] = 0.1;
    }
    assert_true(fabs(clv_sum(x, LARGEST, 2) - 0.1 * LARGEST) < 1e-14 * LARGEST);
    free(x);
    free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(errors_are_those_of_a_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
