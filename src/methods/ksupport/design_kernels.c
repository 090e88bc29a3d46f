/* The loops that pass over X, for X in floats and in doubles. Sums are in double either way. */
#include "methods/ksupport/ksupport.h"

#define DEFINE_KERNELS(type, dot_four, dot_square_four, add_four, add_square_four)                                     \
    CLV_KERNEL void dot_four(const type *const x[4], const double *r, int64_t n, double out[4]) {                      \
        const type *a = x[0], *b = x[1], *c = x[2], *d = x[3];                                                         \
        double first = 0, second = 0, third = 0, fourth = 0;                                                           \
        _Pragma("omp simd reduction(+ : first, second, third, fourth)") for (int64_t i = 0; i < n; i++) {              \
            first += (double)a[i] * r[i];                                                                              \
            second += (double)b[i] * r[i];                                                                             \
            third += (double)c[i] * r[i];                                                                              \
            fourth += (double)d[i] * r[i];                                                                             \
        }                                                                                                              \
        out[0] = first;                                                                                                \
        out[1] = second;                                                                                               \
        out[2] = third;                                                                                                \
        out[3] = fourth;                                                                                               \
    }                                                                                                                  \
    CLV_KERNEL void dot_square_four(const type *const x[4], const double *r, int64_t n, double out[4],                 \
                                    double square[4]) {                                                                \
        for (int64_t row = 0; row < 4; row++) {                                                                        \
            const type *a = x[row];                                                                                    \
            double dot = 0, sum = 0;                                                                                   \
            _Pragma("omp simd reduction(+ : dot, sum)") for (int64_t i = 0; i < n; i++) {                              \
                dot += (double)a[i] * r[i];                                                                            \
                sum += (double)a[i] * (double)a[i];                                                                    \
            }                                                                                                          \
            out[row] = dot;                                                                                            \
            square[row] = sum;                                                                                         \
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

DEFINE_KERNELS(float, clv_dot_four_f32, clv_dot_square_four_f32, clv_add_four_f32, clv_add_square_four_f32)
DEFINE_KERNELS(double, clv_dot_four_f64, clv_dot_square_four_f64, clv_add_four_f64, clv_add_square_four_f64)
