/* The loops that pass over X, for X in floats and in doubles. Sums are in double either way.
 *
 * X'r reads one row after the other to its end, which is what the hardware prefetches well; four partial sums of eight
 * lanes each hide the latency of the additions. Written with vectors of fixed length, because a plain loop over floats
 * and doubles is split by the compiler into twice the loads. */
#include "methods/ksupport/ksupport.h"

#include <string.h>

enum { LANES = 8, STEP = 4 * LANES };

typedef double wide __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef float narrow __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

/* Macros, as functions that return vectors are called by other rules for every instruction set. */
#define LOAD_F32(x) __builtin_convertvector(*(const narrow *)(x), wide)
#define LOAD_F64(x) (*(const wide *)(x))

static inline double add_lanes(const wide *a, const wide *b) {
    wide sum = *a + *b;
    double lane[LANES];
    memcpy(lane, &sum, sizeof lane);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

#define DEFINE_KERNELS(type, load, dot_rows, dot_square_rows, add_four, add_square_four)                               \
    CLV_KERNEL void dot_rows(const type *base, const int64_t *list, int64_t first, int64_t count, int64_t n,           \
                             const double *r, double *out) {                                                           \
        for (int64_t j = 0; j < count; j++) {                                                                          \
            const type *x = base + (list ? list[j] : first + j) * n;                                                   \
            wide a = {0}, b = {0}, c = {0}, d = {0};                                                                   \
            int64_t i = 0;                                                                                             \
            for (; i + STEP <= n; i += STEP) {                                                                         \
                a += load(x + i) * LOAD_F64(r + i);                                                                    \
                b += load(x + i + LANES) * LOAD_F64(r + i + LANES);                                                    \
                c += load(x + i + 2 * LANES) * LOAD_F64(r + i + 2 * LANES);                                            \
                d += load(x + i + 3 * LANES) * LOAD_F64(r + i + 3 * LANES);                                            \
            }                                                                                                          \
            a += c;                                                                                                    \
            b += d;                                                                                                    \
            double sum = add_lanes(&a, &b);                                                                            \
            for (; i < n; i++) {                                                                                       \
                sum += (double)x[i] * r[i];                                                                            \
            }                                                                                                          \
            out[j] = sum;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    CLV_KERNEL void dot_square_rows(const type *base, const int64_t *list, int64_t first, int64_t count, int64_t n,    \
                                    const double *r, double *out, double *square) {                                    \
        for (int64_t j = 0; j < count; j++) {                                                                          \
            const type *x = base + (list ? list[j] : first + j) * n;                                                   \
            wide a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0}, g = {0}, h = {0};                               \
            int64_t i = 0;                                                                                             \
            for (; i + STEP <= n; i += STEP) {                                                                         \
                wide one = load(x + i), two = load(x + i + LANES);                                                     \
                wide three = load(x + i + 2 * LANES), four = load(x + i + 3 * LANES);                                  \
                a += one * LOAD_F64(r + i);                                                                            \
                b += two * LOAD_F64(r + i + LANES);                                                                    \
                c += three * LOAD_F64(r + i + 2 * LANES);                                                              \
                d += four * LOAD_F64(r + i + 3 * LANES);                                                               \
                e += one * one;                                                                                        \
                f += two * two;                                                                                        \
                g += three * three;                                                                                    \
                h += four * four;                                                                                      \
            }                                                                                                          \
            a += c;                                                                                                    \
            b += d;                                                                                                    \
            e += g;                                                                                                    \
            f += h;                                                                                                    \
            double sum = add_lanes(&a, &b), sum_square = add_lanes(&e, &f);                                            \
            for (; i < n; i++) {                                                                                       \
                sum += (double)x[i] * r[i];                                                                            \
                sum_square += (double)x[i] * (double)x[i];                                                             \
            }                                                                                                          \
            out[j] = sum;                                                                                              \
            square[j] = sum_square;                                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    CLV_KERNEL void add_four(double *acc, const type *const x[4], const double r[4], int64_t n) {                      \
        const type *a = x[0], *b = x[1], *c = x[2], *d = x[3];                                                         \
        double first = r[0], second = r[1], third = r[2], fourth = r[3];                                               \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) {                                                          \
            acc[i] += (first * (double)a[i] + second * (double)b[i]) + (third * (double)c[i] + fourth * (double)d[i]); \
        }                                                                                                              \
    }                                                                                                                  \
    CLV_KERNEL void add_square_four(double *acc, const type *const x[4], const double r[4], int64_t n) {               \
        for (int64_t row = 0; row < 4; row++) {                                                                        \
            const type *a = x[row];                                                                                    \
            double once = r[row] != 0 ? 1.0 : 0.0;                                                                     \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) {                                                      \
                acc[i] += once * ((double)a[i] * (double)a[i]);                                                        \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_KERNELS(float, LOAD_F32, clv_dot_rows_f32, clv_dot_square_rows_f32, clv_add_four_f32, clv_add_square_four_f32)
DEFINE_KERNELS(double, LOAD_F64, clv_dot_rows_f64, clv_dot_square_rows_f64, clv_add_four_f64, clv_add_square_four_f64)
