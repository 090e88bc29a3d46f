/* The fused pass of a Frank-Wolfe step: r is brought up to date and searched for its largest entry while it is in
 * registers. 8 n bytes of r read and written, 8 n (floats: 4 n) of each column read, nothing else. The maximum of a
 * block is a vector reduction; only the block that has the largest one is searched for the place. Ties go to the first.
 */
#include "methods/dominant/dominant.h"

#include <float.h>

enum { BLOCK = 512, SHORT_BLOCK = 32 };

/* The first entry from `at` on that is `value`, which is there: short blocks are compared as vectors first. */
static inline int64_t place_in(const double *r, int64_t at, int64_t end, double value) {
    for (; end - at > SHORT_BLOCK; at += SHORT_BLOCK) {
        int here = 0;
#pragma omp simd reduction(| : here)
        for (int64_t i = at; i < at + SHORT_BLOCK; i++) {
            here |= r[i] == value;
        }
        if (here) {
            break;
        }
    }
    while (at < end - 1 && r[at] != value) {
        at++;
    }
    return at;
}

#define BLOCKWISE(entry_)                                                                                              \
    double largest = -DBL_MAX;                                                                                         \
    int64_t winner = 0;                                                                                                \
    for (int64_t at = 0; at < n; at += BLOCK) {                                                                        \
        int64_t end = n - at < BLOCK ? n : at + BLOCK;                                                                 \
        double most = -DBL_MAX;                                                                                        \
        _Pragma("omp simd reduction(max : most)") for (int64_t i = at; i < end; i++) {                                 \
            double now = (entry_);                                                                                     \
            r[i] = now;                                                                                                \
            most = now > most ? now : most;                                                                            \
        }                                                                                                              \
        winner = most > largest ? at : winner;                                                                         \
        largest = most > largest ? most : largest;                                                                     \
    }                                                                                                                  \
    return place_in(r, winner, n - winner < BLOCK ? n : winner + BLOCK, largest)

CLV_KERNEL int64_t clv_pass_one(double *restrict r, const double *restrict a, double wa, int64_t n) {
    BLOCKWISE(r[i] + wa * a[i]);
}

CLV_KERNEL int64_t clv_pass_two(double *restrict r, const double *restrict a, double wa, const double *restrict b,
                                double wb, int64_t n) {
    BLOCKWISE(r[i] + (wa * a[i] + wb * b[i]));
}

CLV_KERNEL int64_t clv_pass_one_f32(double *restrict r, const float *restrict a, double wa, int64_t n) {
    BLOCKWISE(r[i] + wa * (double)a[i]);
}

CLV_KERNEL int64_t clv_pass_two_f32(double *restrict r, const float *restrict a, double wa, const float *restrict b,
                                    double wb, int64_t n) {
    BLOCKWISE(r[i] + (wa * (double)a[i] + wb * (double)b[i]));
}

CLV_KERNEL int64_t clv_place_of_largest(const double *r, int64_t n) {
    double largest = -DBL_MAX;
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < n; i++) {
        largest = r[i] > largest ? r[i] : largest;
    }
    return place_in(r, 0, n, largest);
}

CLV_KERNEL int64_t clv_place_of_least(const double *r, const int32_t *at, int64_t count) {
    double least = DBL_MAX;
    int64_t winner = 0;
    for (int64_t begin = 0; begin < count; begin += SHORT_BLOCK) {
        int64_t end = count - begin < SHORT_BLOCK ? count : begin + SHORT_BLOCK;
        double smallest = DBL_MAX;
#pragma omp simd reduction(min : smallest)
        for (int64_t t = begin; t < end; t++) {
            smallest = r[at[t]] < smallest ? r[at[t]] : smallest;
        }
        winner = smallest < least ? begin : winner;
        least = smallest < least ? smallest : least;
    }
    int64_t t = winner;
    while (t < count - 1 && r[at[t]] != least) {
        t++;
    }
    return t;
}
