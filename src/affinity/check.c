/* A given similarity matrix must be square and finite, at least what is allowed (0, if nothing else is said), and
 * symmetric to rounding unless it is to be made so: then its mean with its transpose counts. The place reported is the
 * first one in row order, whatever the number of threads. */
#include "affinity/kinds.h"

#include "base/ranks.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 128 };

typedef struct rules {
    const clv_matrix *given;
    const clv_affinity_options *options;
    double tolerance; /* between a_ij and a_ji, relative to the larger */
    clv_context *ctx;
    atomic_bool *stopped;
} rules;

/* Whether the check goes on, after so many entries. */
static bool goes_on(const rules *r, int64_t entries) {
    enum { WORK_AN_ENTRY = 16 };
    return clv_goes_on(r->ctx, r->stopped, WORK_AN_ENTRY * entries);
}

/* What the operator would have at (i, j). */
static double used(const rules *r, double value, double mirror) {
    return r->options->symmetrize && isfinite(mirror) ? clv_mean_of(value, mirror) : value;
}

static bool large_enough(const rules *r, int64_t i, int64_t j, double value) {
    return value >= r->options->least || (i == j && r->options->zero_diagonal);
}

static bool alike(const rules *r, double value, double mirror) {
    return r->options->symmetrize || fabs(value - mirror) <= r->tolerance * fmax(fabs(value), fabs(mirror));
}

static bool is_good(const rules *r, int64_t i, int64_t j, double value, double mirror) {
    return isfinite(value) && large_enough(r, i, j, used(r, value, mirror)) && alike(r, value, mirror);
}

static double entry_at(const clv_matrix *given, int64_t i, int64_t j) {
    return clv_is_sparse(given) ? clv_csr_entry(given, i, j) : clv_stored(given, i * given->cols + j);
}

static clv_status report(clv_context *ctx, const rules *r, int64_t i, int64_t j) {
    long long row = (long long)i + 1, col = (long long)j + 1;
    double value = entry_at(r->given, i, j), mirror = entry_at(r->given, j, i);
    double least = r->options->least, here = used(r, value, mirror);
    const char *what = r->options->symmetrize ? "the similarity (A + A')/2" : "the similarity";
    if (!isfinite(value)) {
        return clv_fail(ctx, CLV_EDATA, "the similarity in row %lld, column %lld is %g; it must be finite", row, col,
                        value);
    }
    if (!large_enough(r, i, j, here) && least < 0) {
        return clv_fail(ctx, CLV_EDATA,
                        "%s in row %lld, column %lld is %.17g; with --shift %.10g it must be at least %.10g", what, row,
                        col, here, -least, least);
    }
    if (!large_enough(r, i, j, here)) {
        return clv_fail(ctx, CLV_EDATA, "%s in row %lld, column %lld is %.17g; it must not be negative", what, row, col,
                        here);
    }
    return clv_fail(ctx, CLV_EDATA,
                    "the similarities are not symmetric: row %lld, column %lld is %.17g, row %lld, column %lld is "
                    "%.17g; --symmetrize takes their mean",
                    row, col, value, col, row, mirror);
}

/* --- dense: tiles with their mirrors, so that every number is read once --- */

typedef struct dense_tile {
    _Alignas(64) double value[CLV_TILE * CLV_TILE];
    int64_t i, j, rows, cols; /* where it begins, and what of it is in the matrix */
} dense_tile;

/* A tile that sticks out of the matrix has zeros there. */
static void read_tile(const clv_matrix *given, int64_t i, int64_t j, dense_tile *tile) {
    int64_t n = given->rows;
    tile->i = i;
    tile->j = j;
    tile->rows = n - i < CLV_TILE ? n - i : CLV_TILE;
    tile->cols = n - j < CLV_TILE ? n - j : CLV_TILE;
    if (tile->rows < CLV_TILE || tile->cols < CLV_TILE) {
        memset(tile->value, 0, sizeof tile->value);
    }
    for (int64_t r = 0; r < tile->rows; r++) {
        double *to = tile->value + r * CLV_TILE;
        int64_t from = (i + r) * n + j;
        if (given->scalar == CLV_F32) {
            clv_kernels->widen(to, (const float *)given->values + from, tile->cols);
        } else {
            memcpy(to, (const double *)given->values + from, (size_t)tile->cols * sizeof *to);
        }
    }
}

/* Refuses too much, as it knows neither means nor the diagonal: such tiles are looked at entry by entry. With means
 * no difference is too large. */
static bool surely_good(const rules *r, const dense_tile *tile, const double *mirror) {
    double tolerance = r->options->symmetrize ? 2 : r->tolerance;
    bool good = true;
    for (int64_t row = 0; row < tile->rows && good; row++) {
        int64_t at = row * CLV_TILE;
        good = clv_kernels->all_alike(tile->value + at, mirror + at, tile->cols, r->options->least, tolerance);
    }
    return good;
}

/* The first place in a tile that is not as it must be, as i * n + j, or INT64_MAX. A difference counts in the upper
 * half. */
static int64_t first_fault_in(const rules *r, const dense_tile *tile) {
    const clv_matrix *given = r->given;
    int64_t n = given->rows;
    for (int64_t i = tile->i; i < tile->i + tile->rows; i++) {
        for (int64_t j = tile->j; j < tile->j + tile->cols; j++) {
            double value = clv_stored(given, i * n + j);
            double mirror = j > i || r->options->symmetrize ? clv_stored(given, j * n + i) : value;
            if (!is_good(r, i, j, value, mirror)) {
                return i * n + j;
            }
        }
    }
    return INT64_MAX;
}

/* In the tile at (i, j), which is not below the diagonal, and in its mirror. */
static int64_t first_fault_of_pair(const rules *r, int64_t i, int64_t j) {
    dense_tile tile, below;
    _Alignas(64) double mirror[CLV_TILE * CLV_TILE];
    read_tile(r->given, i, j, &tile);
    read_tile(r->given, j, i, &below);
    clv_kernels->transpose_tile(mirror, below.value);
    if (surely_good(r, &tile, mirror)) {
        return INT64_MAX;
    }
    int64_t here = first_fault_in(r, &tile), there = first_fault_in(r, &below);
    return here < there ? here : there;
}

/* In the block of rows from i0 on, right of the diagonal, and in its mirror. Blocks are wider than tiles, as a file
 * that is mapped comes by pages. */
static int64_t first_fault_dense(const rules *r, int64_t i0) {
    int64_t n = r->given->rows, fault = INT64_MAX;
    for (int64_t j0 = i0; j0 < n && goes_on(r, 2 * BLOCK * BLOCK); j0 += BLOCK) {
        for (int64_t i = i0; i < n && i < i0 + BLOCK; i += CLV_TILE) {
            for (int64_t j = j0 > i ? j0 : i; j < n && j < j0 + BLOCK; j += CLV_TILE) {
                int64_t found = first_fault_of_pair(r, i, j);
                fault = found < fault ? found : fault;
            }
        }
    }
    return fault;
}

/* The first place in the block of rows from i0 on. */
static int64_t first_fault_sparse(const rules *r, int64_t i0) {
    const clv_matrix *given = r->given;
    int64_t n = given->rows, fault = INT64_MAX;
    for (int64_t i = i0; i < n && i < i0 + BLOCK && goes_on(r, given->start[i + 1] - given->start[i]); i++) {
        for (int64_t e = given->start[i]; e < given->start[i + 1]; e++) {
            int64_t j = given->index[e];
            double value = ((const double *)given->values)[e], mirror = clv_csr_entry(given, j, i);
            if (!is_good(r, i, j, value, mirror) && i * n + j < fault) {
                fault = i * n + j;
            }
        }
    }
    return fault;
}

clv_status clv_affinity_check(clv_context *ctx, const clv_matrix *given, const clv_affinity_options *options,
                              int threads) {
    int64_t n = given->rows, fault = INT64_MAX;
    atomic_bool stopped = false;
    rules r = {given, options, given->scalar == CLV_F32 ? 1e-5 : 1e-10, ctx, &stopped};
    if (given->rows != given->cols) {
        return clv_fail(ctx, CLV_EDATA, "a similarity matrix must be square; this one has %lld rows and %lld columns",
                        (long long)given->rows, (long long)given->cols);
    }
    int64_t first, last; /* ranks look at the blocks of their shares */
    clv_share(ctx, (n + BLOCK - 1) / BLOCK, &first, &last);
    clv_own_clock_begin(ctx);
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic) reduction(min : fault)
    for (int64_t i0 = first * BLOCK; i0 < last * BLOCK; i0 += BLOCK) {
        int64_t found = clv_is_sparse(given) ? first_fault_sparse(&r, i0) : first_fault_dense(&r, i0);
        fault = found < fault ? found : fault;
    }
    clv_status status = atomic_load(&stopped) ? clv_stop_failure(ctx, "checking the affinity") : CLV_OK;
    clv_own_clock_end(ctx);
    CLV_TRY(clv_meet(ctx, 6, status));
    CLV_TRY(clv_agree_least(ctx, &fault));
    return fault == INT64_MAX ? CLV_OK : report(ctx, &r, fault / n, fault % n);
}

/* --- points --- */

clv_status clv_points_check(clv_context *ctx, const clv_matrix *points) {
    int64_t count = clv_is_sparse(points) ? points->start[points->rows] : points->rows * points->cols;
    double largest = 0;
    CLV_TRY(clv_matrix_check(ctx, "points", points, CLV_LARGEST_POINT));
    for (int64_t at = 0; at < count && largest < CLV_SMALLEST_POINT; at++) {
        largest = fmax(largest, fabs(clv_stored(points, at)));
    }
    return largest == 0 || largest >= CLV_SMALLEST_POINT
               ? CLV_OK
               : clv_fail(ctx, CLV_EDATA, "points: the largest number, %g, is too small to be squared: scale them",
                          largest);
}
