/* Elementwise kernels. The flags of this file allow fused multiply-add and vector square roots, nothing that changes
 * the meaning of a sum (see CMakeLists.txt). */
#include "linalg/kernels.h"

#include <math.h>
#include <string.h>

/* exp(x) = 2^k exp(r), |r| <= ln(2)/2, with the Taylor polynomial of degree 13 for exp(r): its remainder is below
 * 1e-17. k comes from adding 1.5 * 2^52, which leaves the nearest integer in the low bits; shifted to the exponent,
 * these scale the result. Written without branches, so that a loop around it becomes vector code. */
static inline double exp_of(double x) {
    const double log2e = 1.4426950408889634, ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
    const double shift = 0x1.8p52;
    double bounded = x < -708.0 ? -708.0 : x;
    double shifted = bounded * log2e + shift;
    double k = shifted - shift;
    double r = (bounded - k * ln2_high) - k * ln2_low;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    uint64_t bits, exponent;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&exponent, &shifted, sizeof exponent);
    bits += exponent << 52;
    memcpy(&p, &bits, sizeof p);
    return x < -708.0 ? 0.0 : p;
}

CLV_KERNEL void clv_exp_nonpositive(double *x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        x[i] = exp_of(x[i]);
    }
}

CLV_KERNEL void clv_gaussian(double *d2, int64_t n, double gamma) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        d2[i] = exp_of(-gamma * d2[i]);
    }
}

CLV_KERNEL void clv_exponential(double *d2, int64_t n, double gamma) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        d2[i] = exp_of(-gamma * sqrt(d2[i]));
    }
}

CLV_KERNEL void clv_complement(double *d2, int64_t n, double top) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        double left = top - sqrt(d2[i]);
        d2[i] = left > 0 ? left : 0;
    }
}

CLV_KERNEL void clv_square_root(double *d2, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        d2[i] = sqrt(d2[i]);
    }
}

CLV_KERNEL double clv_largest(const double *x, int64_t n) {
    double most = -HUGE_VAL;
#pragma omp simd reduction(max : most)
    for (int64_t i = 0; i < n; i++) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

CLV_KERNEL double clv_smallest(const double *x, int64_t n) {
    double least = HUGE_VAL;
#pragma omp simd reduction(min : least)
    for (int64_t i = 0; i < n; i++) {
        least = x[i] < least ? x[i] : least;
    }
    return least;
}

CLV_KERNEL void clv_accumulate(double *restrict y, const double *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] += x[i];
    }
}

CLV_KERNEL void clv_deduct(double *restrict y, const double *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] -= x[i];
    }
}

CLV_KERNEL void clv_accumulate_f32(double *restrict y, const float *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] += (double)x[i];
    }
}

CLV_KERNEL void clv_deduct_f32(double *restrict y, const float *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] -= (double)x[i];
    }
}

CLV_KERNEL void clv_accumulate_four(double *restrict y, const double *restrict a, const double *restrict b,
                                    const double *restrict c, const double *restrict d, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] += (a[i] + b[i]) + (c[i] + d[i]);
    }
}

CLV_KERNEL void clv_accumulate_four_f32(double *restrict y, const float *restrict a, const float *restrict b,
                                        const float *restrict c, const float *restrict d, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] += ((double)a[i] + (double)b[i]) + ((double)c[i] + (double)d[i]);
    }
}

CLV_KERNEL void clv_add_weighted(double *restrict y, double w, const double *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] += w * x[i];
    }
}

CLV_KERNEL void clv_add_weighted_f32(double *restrict y, double w, const float *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] += w * (double)x[i];
    }
}

CLV_KERNEL void clv_add_weighted_four(double *restrict y, const double *w, const double *const *x, int64_t n) {
    const double *restrict a = x[0], *restrict b = x[1], *restrict c = x[2], *restrict d = x[3];
    double wa = w[0], wb = w[1], wc = w[2], wd = w[3];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] = (((y[i] + wa * a[i]) + wb * b[i]) + wc * c[i]) + wd * d[i];
    }
}

CLV_KERNEL void clv_add_weighted_four_f32(double *restrict y, const double *w, const float *const *x, int64_t n) {
    const float *restrict a = x[0], *restrict b = x[1], *restrict c = x[2], *restrict d = x[3];
    double wa = w[0], wb = w[1], wc = w[2], wd = w[3];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] = (((y[i] + wa * (double)a[i]) + wb * (double)b[i]) + wc * (double)c[i]) + wd * (double)d[i];
    }
}

/* In 8 x 8 blocks, whose lines stay in the first-level cache. */
CLV_KERNEL void clv_transpose_tile(double *restrict out, const double *restrict tile) {
    enum { SIDE = 64, BLOCK = 8 };
    for (int64_t i = 0; i < SIDE; i += BLOCK) {
        for (int64_t j = 0; j < SIDE; j += BLOCK) {
            for (int64_t r = 0; r < BLOCK; r++) {
                for (int64_t c = 0; c < BLOCK; c++) {
                    out[(j + r) * SIDE + i + c] = tile[(i + c) * SIDE + j + r];
                }
            }
        }
    }
}

CLV_KERNEL void clv_widen(double *restrict out, const float *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        out[i] = (double)x[i];
    }
}

CLV_KERNEL void clv_narrow(float *restrict out, const double *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        out[i] = (float)x[i];
    }
}
