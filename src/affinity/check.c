/* A given similarity matrix must be square, finite, nonnegative and symmetric to rounding. The place reported is the
 * first one in row order, whatever the number of threads. */
#include "affinity/affinity.h"

#include <math.h>

enum { BLOCK = 128 };

/* What is allowed between a_ij and a_ji, relative to the larger. */
static double tolerance_of(const clv_matrix *given) {
    return given->scalar == CLV_F32 ? 1e-5 : 1e-10;
}

static bool acceptable(double value) {
    return isfinite(value) && value >= 0;
}

static bool alike(double value, double mirror, double tolerance) {
    return fabs(value - mirror) <= tolerance * fmax(value, mirror);
}

static clv_status report(clv_context *ctx, int64_t i, int64_t j, double value, double mirror) {
    long long row = (long long)i + 1, col = (long long)j + 1;
    if (!isfinite(value)) {
        return clv_fail(ctx, CLV_EDATA, "the similarity in row %lld, column %lld is %g; it must be finite", row, col,
                        value);
    }
    if (value < 0) {
        return clv_fail(ctx, CLV_EDATA, "the similarity in row %lld, column %lld is %.17g; it must not be negative",
                        row, col, value);
    }
    return clv_fail(
        ctx, CLV_EDATA,
        "the similarities are not symmetric: row %lld, column %lld is %.17g, row %lld, column %lld is %.17g", row, col,
        value, col, row, mirror);
}

static double dense_at(const clv_matrix *given, int64_t i, int64_t j) {
    int64_t at = i * given->cols + j;
    return given->scalar == CLV_F32 ? (double)((const float *)given->values)[at] : ((const double *)given->values)[at];
}

/* The first place in the block of rows from i0 that is not as it must be, as i * n + j, or INT64_MAX. */
static int64_t first_fault_dense(const clv_matrix *given, int64_t i0) {
    int64_t n = given->rows, fault = INT64_MAX;
    int64_t i1 = n - i0 < BLOCK ? n : i0 + BLOCK;
    double tolerance = tolerance_of(given);
    for (int64_t j0 = 0; j0 < n; j0 += BLOCK) {
        int64_t j1 = n - j0 < BLOCK ? n : j0 + BLOCK;
        for (int64_t i = i0; i < i1; i++) {
            for (int64_t j = j0; j < j1; j++) {
                double value = dense_at(given, i, j);
                bool good = acceptable(value) && (j <= i || alike(value, dense_at(given, j, i), tolerance));
                if (!good && i * n + j < fault) {
                    fault = i * n + j;
                }
            }
        }
    }
    return fault;
}

static int64_t first_fault_sparse(const clv_matrix *given, int64_t i0) {
    int64_t n = given->rows, fault = INT64_MAX;
    for (int64_t i = i0; i < n && i < i0 + BLOCK; i++) {
        for (int64_t e = given->start[i]; e < given->start[i + 1]; e++) {
            int64_t j = given->index[e];
            double value = ((const double *)given->values)[e];
            bool good = acceptable(value) && alike(value, clv_csr_entry(given, j, i), tolerance_of(given));
            if (!good && i * n + j < fault) {
                fault = i * n + j;
            }
        }
    }
    return fault;
}

clv_status clv_affinity_check(clv_context *ctx, const clv_matrix *given, int threads) {
    int64_t n = given->rows, fault = INT64_MAX;
    if (given->rows != given->cols) {
        return clv_fail(ctx, CLV_EDATA, "a similarity matrix must be square; this one has %lld rows and %lld columns",
                        (long long)given->rows, (long long)given->cols);
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(min : fault)
    for (int64_t i0 = 0; i0 < n; i0 += BLOCK) {
        int64_t found = clv_is_sparse(given) ? first_fault_sparse(given, i0) : first_fault_dense(given, i0);
        fault = found < fault ? found : fault;
    }
    if (fault == INT64_MAX) {
        return CLV_OK;
    }
    int64_t i = fault / n, j = fault % n;
    if (clv_is_sparse(given)) {
        return report(ctx, i, j, clv_csr_entry(given, i, j), clv_csr_entry(given, j, i));
    }
    return report(ctx, i, j, dense_at(given, i, j), dense_at(given, j, i));
}
