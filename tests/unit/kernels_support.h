/* What the tests of the kernels share: every set of the machine, memory without a byte to spare, numbers, comparisons.
 *
 * A kernel is compared with a plain loop, and may differ from it by the rounding of either: so many times the unit of
 * the type, times the size of what goes into a result. Where the arithmetic is exact (small whole numbers, extremes,
 * places, copies) nothing may differ. All sets are held to the same loop, so they agree with each other as well. */
#ifndef CLV_TEST_KERNELS_SUPPORT_H
#define CLV_TEST_KERNELS_SUPPORT_H

#include "kernels/kernels.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- sets --- */

static const char *set_name = "", *kernel_name = ""; /* what is being checked, for messages */

static inline void each_set(void (*check)(const clv_kernel_set *set)) {
    const clv_kernel_set *sets[CLV_KERNEL_SETS];
    int count = clv_kernel_sets(sets);
    for (int s = 0; s < count; s++) {
        set_name = sets[s]->name;
        check(sets[s]);
    }
}

/* test_NAME runs check_NAME for each set. */
#define TEST_EACH_SET(name) TEST_NAMED(name)
#define TEST_NAMED(name)                                                                                               \
    static void test_##name(void **state) {                                                                            \
        (void)state;                                                                                                   \
        each_set(check_##name);                                                                                        \
    }

/* --- lengths: all tails of all blocks of vectors, and a few that are longer than the blocks of reductions --- */

static inline int64_t next_length(int64_t n) {
    const int64_t longer[] = {255, 511, 512, 513, 1003, 1537};
    if (n < 150) {
        return n + 1;
    }
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        if (longer[i] > n) {
            return longer[i];
        }
    }
    return -1;
}

#define FOR_LENGTHS(n, first) for (int64_t n = (first); (n) >= 0; (n) = next_length(n))

/* --- memory: aligned to a line and not a byte longer than asked, so that a sanitizer sees a kernel that goes too far;
 * release gives back all of it --- */

static void *blocks[64];
static int blocks_held;

static inline void *room(int64_t count, size_t size) {
    void *block = NULL;
    size_t bytes = (size_t)count * size;
    assert_true(blocks_held < (int)(sizeof blocks / sizeof *blocks));
    assert_int_equal(posix_memalign(&block, CLV_LINE, bytes ? bytes : 1), 0);
    memset(block, 0, bytes);
    return blocks[blocks_held++] = block;
}

#define ROOM(type, count) ((type *)room((count), sizeof(type)))

static inline void release(void) {
    while (blocks_held > 0) {
        free(blocks[--blocks_held]);
    }
}

/* k numbers of a type, padded to whole lines. */
#define PADDED(type, k)                                                                                                \
    (((k) + CLV_LINE / (int64_t)sizeof(type) - 1) / (CLV_LINE / (int64_t)sizeof(type)) *                               \
     (CLV_LINE / (int64_t)sizeof(type)))

/* --- numbers --- */

static inline double between(clv_rng *rng, double low, double high) {
    return low + (high - low) * clv_rng_uniform(rng);
}

/* Whole numbers from low to high, or reals. */
static inline double drawn(clv_rng *rng, double low, double high, bool whole) {
    return whole ? floor(between(rng, low, high + 1)) : between(rng, low, high);
}

static inline double *drawn_doubles(clv_rng *rng, int64_t n, double low, double high, bool whole) {
    double *x = ROOM(double, n);
    for (int64_t i = 0; i < n; i++) {
        x[i] = drawn(rng, low, high, whole);
    }
    return x;
}

static inline float *drawn_floats(clv_rng *rng, int64_t n, double low, double high, bool whole) {
    float *x = ROOM(float, n);
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)drawn(rng, low, high, whole);
    }
    return x;
}

/* --- comparisons --- */

/* `at` is a place in a result, `n` the length of the call. */
static inline void expect_near(double got, double expected, double slack, int64_t n, int64_t at) {
    if (!(got == expected || fabs(got - expected) <= slack)) {
        fail_msg("%s of %s, length %lld, at %lld: %.17g should be %.17g to within %.3g", kernel_name, set_name,
                 (long long)n, (long long)at, got, expected, slack);
    }
}

static inline void expect_same(double got, double expected, int64_t n, int64_t at) {
    expect_near(got, expected, 0, n, at);
}

static inline void expect(bool holds, const char *what, int64_t n, int64_t at) {
    if (!holds) {
        fail_msg("%s of %s, length %lld, at %lld: %s", kernel_name, set_name, (long long)n, (long long)at, what);
    }
}

#endif
