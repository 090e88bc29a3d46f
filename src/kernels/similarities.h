/* Similarities from distances. */
#include "kernels/vector.h"

/* exp(x) = 2^k exp(r), |r| <= ln(2)/2. exp(r) = 1 + r + r^2 q(r), where q is the polynomial of degree 9 that agrees
 * with (exp(r) - 1 - r) / r^2 at ten Chebyshev points: it is off by 2e-17 of the whole at most. Its even and odd terms
 * are added up side by side, as each waits for the one before. k comes from adding 1.5 * 2^52, which leaves the nearest
 * integer in the low bits; shifted to the exponent, these scale the result. Below -708 it is 0, whatever came of all
 * this. */
INLINE doubles exp_of(doubles x) {
    const doubles zero = {0};
    const double lowest = -708, log2e = 1.4426950408889634, shift = 0x1.8p52;
    const double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
    double_mask inside = x >= zero + lowest;
    doubles shifted = x * log2e + shift;
    doubles k = shifted - shift;
    doubles r = (x - k * ln2_high) - k * ln2_low, square = r * r;
    doubles even = zero + 0x1.28917c8be7ad6p-22, odd = zero + 0x1.af389ed28db09p-26;
    even = even * square + 0x1.a019b914985a9p-16;
    odd = odd * square + 0x1.71de0db2f585ep-19;
    even = even * square + 0x1.6c16c17889ef9p-10;
    odd = odd * square + 0x1.a01a01a7c2f03p-13;
    even = even * square + 0x1.5555555553d68p-5;
    odd = odd * square + 0x1.11111111109b5p-7;
    even = even * square + 0x1.0000000000001p-1;
    odd = odd * square + 0x1.5555555555556p-3;
    doubles power = 1 + (r + square * (even + r * odd));
    double_bits scaled = (double_bits)power + ((double_bits)shifted << 52);
    return (doubles)(inside & (double_mask)scaled);
}

INLINE doubles root_of(doubles x) {
    double lane[DOUBLES];
    memcpy(lane, &x, sizeof lane);
#pragma omp simd
    for (int l = 0; l < DOUBLES; l++) {
        lane[l] = sqrt(lane[l]);
    }
    memcpy(&x, lane, sizeof lane);
    return x;
}

/* x[i] = exp(factor x[i]), or of its root; the last ones by a vector that is filled up. Roots are another unit's work
 * than the rest: within one loop they are taken while the exponentials of entries before them are. */
INLINE void exp_all(double *x, int64_t n, double factor, bool root) {
    int64_t i = 0;
    for (; i + DOUBLES <= n; i += DOUBLES) {
        doubles here = *(const loose_doubles *)(x + i);
        *(loose_doubles *)(x + i) = exp_of(factor * (root ? root_of(here) : here));
    }
    if (i < n) {
        doubles rest = {0};
        memcpy(&rest, x + i, (size_t)(n - i) * sizeof *x);
        rest = exp_of(factor * (root ? root_of(rest) : rest));
        memcpy(x + i, &rest, (size_t)(n - i) * sizeof *x);
    }
}

static void exp_nonpositive(double *x, int64_t n) {
    exp_all(x, n, 1, false);
}

static void gaussian(double *d2, int64_t n, double gamma) {
    exp_all(d2, n, -gamma, false);
}

static void square_root(double *d2, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        d2[i] = sqrt(d2[i]);
    }
}

static void exponential(double *d2, int64_t n, double gamma) {
    exp_all(d2, n, -gamma, true);
}

static void complement(double *d2, int64_t n, double top) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        double left = top - sqrt(d2[i]);
        d2[i] = left > 0 ? left : 0;
    }
}

/* The product of the two scales first: the same bits from either side. */
static void scale_pairs(double *restrict d2, int64_t n, double own, const double *restrict others) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        d2[i] *= own * others[i];
    }
}
