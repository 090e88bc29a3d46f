/* Random numbers: reproducible, in range, and by simple statistics with fixed seeds what they claim to be. */
#include "base/base.h"

#include "failing.h"

#include <math.h>

static void streams(void **state) {
    uint64_t first[64];
    int distinct = 0;
    (void)state;
    for (uint64_t s = 0; s < 64; s++) {
        clv_rng rng = clv_rng_stream(s / 8, s % 8), again = clv_rng_stream(s / 8, s % 8);
        for (int i = 0; i < 100; i++) {
            first[s] = clv_rng_next(&rng);
            assert_true(first[s] == clv_rng_next(&again));
        }
        for (uint64_t t = 0; t < s; t++) {
            distinct += first[s] != first[t];
        }
    }
    assert_int_equal(distinct, 64 * 63 / 2);
}

/* xoshiro256++ from the state 1, 2, 3, 4: the first outputs follow from its definition by hand. */
static void generator_is_xoshiro(void **state) {
    clv_rng rng = {{1, 2, 3, 4}};
    (void)state;
    assert_true(clv_rng_next(&rng) == ((uint64_t)5 << 23) + 1);
    /* the state is now 7, 0, 2^18 + 2, 6 << 45: s0 + s3 = 7 + 6 << 45, turned by 23, plus s0 */
    assert_true(clv_rng_next(&rng) == ((uint64_t)7 << 23) + (6 << 4) + 7);
}

/* Bits of neighboring streams agree half of the time. */
static void streams_are_independent(void **state) {
    int64_t agree = 0, draws = 20000;
    (void)state;
    clv_rng a = clv_rng_stream(1, 0), b = clv_rng_stream(1, 1);
    for (int64_t i = 0; i < draws; i++) {
        agree += 64 - __builtin_popcountll(clv_rng_next(&a) ^ clv_rng_next(&b));
    }
    double deviation = ((double)agree - 32.0 * (double)draws) / sqrt(16.0 * (double)draws);
    assert_true(fabs(deviation) < 4);
}

static double chi_square(const int64_t *counts, int64_t cells, double expected) {
    double total = 0;
    for (int64_t i = 0; i < cells; i++) {
        double off = (double)counts[i] - expected;
        total += off * off / expected;
    }
    return total;
}

static void below_has_no_bias(void **state) {
    static const int64_t sizes[] = {1, 2, 3, 7, 10, 64, 100};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int64_t n = sizes[s], counts[100] = {0};
        clv_rng rng = clv_rng_stream(20, s);
        for (int64_t i = 0; i < 10000 * n; i++) {
            int64_t drawn = clv_rng_below(&rng, n);
            assert_true(drawn >= 0 && drawn < n);
            counts[drawn]++;
        }
        /* mean n - 1, variance 2 (n - 1) */
        double off = chi_square(counts, n, 10000) - (double)(n - 1);
        assert_true(fabs(off) < 4.5 * sqrt(2 * (double)(n - 1)) + 1e-9);
    }
}

/* 3 * 2^61: taking a draw modulo n without rejection would favor the lowest third by half. */
static void below_has_no_bias_for_large_n(void **state) {
    const int64_t n = (int64_t)3 << 61;
    int64_t counts[3] = {0};
    clv_rng rng = clv_rng_stream(21, 0);
    (void)state;
    for (int i = 0; i < 30000; i++) {
        int64_t drawn = clv_rng_below(&rng, n);
        assert_true(drawn >= 0 && drawn < n);
        counts[drawn / (n / 3)]++;
    }
    assert_true(chi_square(counts, 3, 10000) < 18);
}

static void uniform_and_normal(void **state) {
    enum { N = 200000, CELLS = 50 };
    int64_t counts[CELLS] = {0};
    double mean = 0, square = 0, fourth = 0;
    clv_rng rng = clv_rng_stream(22, 0);
    (void)state;
    for (int i = 0; i < N; i++) {
        double u = clv_rng_uniform(&rng), z = clv_rng_normal(&rng);
        assert_true(u >= 0 && u < 1);
        counts[(int)(u * CELLS)]++;
        mean += z / N;
        square += z * z / N;
        fourth += z * z * z * z / N;
    }
    double off = chi_square(counts, CELLS, (double)N / CELLS) - (CELLS - 1);
    assert_true(fabs(off) < 4.5 * sqrt(2.0 * (CELLS - 1)));
    assert_true(fabs(mean) < 4 / sqrt(N));
    assert_true(fabs(square - 1) < 4 * sqrt(2.0 / N));
    assert_true(fabs(fourth - 3) < 4 * sqrt(96.0 / N));
}

/* Every order of four items comes up equally often. */
static void shuffles_are_fair(void **state) {
    int64_t counts[256] = {0}, orders = 0;
    clv_rng rng = clv_rng_stream(23, 0);
    (void)state;
    for (int i = 0; i < 24000; i++) {
        int64_t items[4] = {0, 1, 2, 3};
        clv_rng_shuffle(&rng, items, 4);
        assert_int_equal(1 << items[0] | 1 << items[1] | 1 << items[2] | 1 << items[3], 15);
        counts[items[0] << 6 | items[1] << 4 | items[2] << 2 | items[3]]++;
    }
    double total = 0;
    for (int i = 0; i < 256; i++) {
        orders += counts[i] > 0;
        total += counts[i] > 0 ? ((double)counts[i] - 1000) * ((double)counts[i] - 1000) / 1000 : 0;
    }
    assert_int_equal(orders, 24);
    assert_true(fabs(total - 23) < 4.5 * sqrt(46));
    clv_rng_shuffle(&rng, NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams),
        cmocka_unit_test(generator_is_xoshiro),
        cmocka_unit_test(streams_are_independent),
        cmocka_unit_test(below_has_no_bias),
        cmocka_unit_test(below_has_no_bias_for_large_n),
        cmocka_unit_test(uniform_and_normal),
        cmocka_unit_test(shuffles_are_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
