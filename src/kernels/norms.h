/* Loops of the k-support norm over one block of entries. Comparisons become masks, so that all is vector code. */
#include "kernels/vector.h"

static void count_between(const double *v, int64_t n, double low, double high, int64_t *above, int64_t *inside) {
    int64_t over = 0, within = 0;
#pragma omp simd reduction(+ : over, within)
    for (int64_t i = 0; i < n; i++) {
        double size = fabs(v[i]);
        over += size > high;
        within += size > low;
    }
    *above = over;
    *inside = within - over;
}

/* Few are: stretches without any are passed over at the speed of a comparison. */
static void gather_between(const double *v, int64_t n, double low, double high, double *out) {
    enum { STRETCH = 16 };
    for (int64_t first = 0; first < n; first += STRETCH) {
        const double *x = v + first;
        int64_t length = n - first < STRETCH ? n - first : STRETCH, some = 0;
#pragma omp simd reduction(+ : some)
        for (int64_t i = 0; i < length; i++) {
            double size = fabs(x[i]);
            some += (size > low) & (size <= high);
        }
        for (int64_t i = 0; some > 0 && i < length; i++) {
            double size = fabs(x[i]);
            if (size > low && size <= high) {
                *out++ = size;
            }
        }
    }
}

static clv_ks_sums root_sums(const double *b, int64_t n, double a, double beta) {
    double whole = 0, between = 0, sum = 0;
#pragma omp simd reduction(+ : whole, between, sum)
    for (int64_t i = 0; i < n; i++) {
        double size = fabs(b[i]), theta = a * size - beta;
        double full = theta >= 1 ? 1.0 : 0.0, some = theta > 0 ? 1.0 : 0.0;
        whole += full;
        between += some - full;
        sum += (some - full) * size;
    }
    return (clv_ks_sums){whole, between, sum};
}

static clv_ks_sums norm_sums(const double *b, int64_t n, double a, double beta) {
    double squares = 0, sum = 0;
#pragma omp simd reduction(+ : squares, sum)
    for (int64_t i = 0; i < n; i++) {
        double size = fabs(b[i]), full = a * size - beta >= 1 ? size : 0.0;
        squares += full * full;
        sum += size - full;
    }
    return (clv_ks_sums){squares, 0, sum};
}

static clv_ks_sums conjugate_sums(const double *b, int64_t n, double a, double beta) {
    double squares = 0, share = 0, sum = 0;
#pragma omp simd reduction(+ : squares, share, sum)
    for (int64_t i = 0; i < n; i++) {
        double square = b[i] * b[i], theta = a * fabs(b[i]) - beta;
        double full = theta >= 1 ? 1.0 : 0.0, part = theta > 0 ? (1 - full) * theta : 0.0;
        squares += full * square;
        share += full + part;
        sum += part > 0 ? square * part / (part + beta) : 0.0;
    }
    return (clv_ks_sums){squares, share, sum};
}

static void shrink(const double *v, int64_t n, double a, double beta, double *out) {
    double shrink = 1 / (1 + beta), step = beta / a;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        double size = fabs(v[i]), theta = a * size - beta;
        double kept = theta >= 1 ? size * shrink : theta > 0 ? size - step : 0.0;
        out[i] = copysign(kept, v[i]);
    }
}

static double squares_above(const double *v, int64_t n, double low) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        double kept = fabs(v[i]) > low ? v[i] : 0.0;
        sum += kept * kept;
    }
    return sum;
}
