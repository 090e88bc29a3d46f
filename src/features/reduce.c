/* Truncated SVD and principal components of a sparse matrix.
 *
 * Problem: the d largest singular values of X (or of X - 1 m', m the means of its columns) and their vectors.
 * Method: eigenpairs of X X' or X' X, whichever is smaller, by block Lanczos (linalg/krylov.c), or by LAPACK when that
 * is small. The operator is applied as two sparse products with a block of BLOCK vectors; the means enter as a rank-one
 * correction, so that nothing is ever filled. Values are correct to tol^2 or so, directions to tol over their gap.
 *
 * Cost: a step reads X and its transpose once, 24 bytes per nonzero, for BLOCK vectors; about (d + ROOM) / BLOCK steps,
 * or more where values lie close together.
 * Memory (clv_reduce_memory): a transpose of X, 12 bytes per nonzero; BLOCK vectors of either side; 2 d + ROOM + BLOCK
 * vectors of the smaller side while solving, then d of either side and the points. Where more than a third of all
 * vectors is wanted, the Gram matrix and LAPACK's work, 3 n^2 numbers. All of it is checked against the budget first.
 * References: Golub, Luk and Overton 1981; scikit-learn's TruncatedSVD and PCA compute the same. */
#include "features/reduce.h"
#include "base/options.h"
#include "linalg/krylov.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = CLV_SPMM_WIDTH,
    WORTH_THREADS = 1 << 15, /* nonzeros; for fewer, waking threads takes longer */
    ROOM = 56,               /* basis vectors beyond those wanted */
    SMALL = 400,             /* up to this side LAPACK on the full Gram matrix is as fast */
    CYCLES = 200,            /* fillings of the basis */
};
/* Eigenvalues below this share of the largest are rounding. */
#define NOTHING 1e-13

const clv_option_table *clv_reduce_table(void) {
    static const clv_option options[] = {
        CLV_OPT_INT(clv_reduce_options, dims, "dims", 'd', 20, 1, 0x1p31, NULL, "N", "columns of the result"),
        CLV_OPT_FLAG(clv_reduce_options, center, "center", NULL, 0,
                     "principal components: subtract the means of the columns first"),
        CLV_OPT_REAL(clv_reduce_options, tol, "tol", 1e-7, 1e-13, 0.1, NULL, "E",
                     "residual of a singular vector, relative to the square of its singular value"),
        CLV_OPT_INT(clv_reduce_options, seed, "seed", 0, 1, 0, 0x1p53, NULL, "S",
                    "seed of the random start; the result depends on it only within the tolerance"),
    };
    static const clv_option_table table = {"reduction", options, CLV_COUNT(options), sizeof(clv_reduce_options)};
    return &table;
}

/* The smaller side is "near", the other one "far".
 * `near` has a row for each of the near side, `far` is its transpose. */
typedef struct reduction {
    clv_context *ctx;
    clv_kept kept;
    clv_reduce_options options;
    const clv_matrix *x;
    clv_data *transpose;
    const clv_matrix *near, *far;
    bool by_rows;        /* the near side are the rows of X */
    double *means;       /* of the columns of X; NULL: not centered */
    double *near_values; /* near side x BLOCK, interleaved, as is the next */
    double *far_values;
    int threads;
} reduction;

/* --- the operator --- */

/* `count` vectors of n entries, a row each, side by side: BLOCK numbers per entry, zeros for the vectors that are not
 * there. */
static void interleave(const double *x, int64_t count, int64_t n, double *out, int threads) {
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < BLOCK; c++) {
            out[i * BLOCK + c] = c < count ? x[c * n + i] : 0;
        }
    }
}

static void separate(const double *x, int64_t count, int64_t n, double *out, int threads) {
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < count; c++) {
            out[c * n + i] = x[i * BLOCK + c];
        }
    }
}

/* sums[c] = sum of weight[i] x[i][c] (NULL: of x[i][c]). */
static void weigh(const double *weight, const double *x, int64_t n, double sums[BLOCK]) {
    memset(sums, 0, BLOCK * sizeof *sums);
    for (int64_t i = 0; i < n; i++) {
        for (int c = 0; c < BLOCK; c++) {
            sums[c] += (weight ? weight[i] : 1) * x[i * BLOCK + c];
        }
    }
}

/* y[i][c] -= weight[i] by[c] (NULL: by[c]). */
static void correct(const double *weight, const double by[BLOCK], int64_t n, double *y, int threads) {
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        for (int c = 0; c < BLOCK; c++) {
            y[i * BLOCK + c] -= (weight ? weight[i] : 1) * by[c];
        }
    }
}

/* far_values = B' near_values, near_values = B far_values, with B = X (less its means) or its transpose. On the side of
 * the rows of X the correction has weights 1, on that of the columns the means. */
static void multiply(const reduction *r, const clv_matrix *by, bool from_rows, const double *from, double *to) {
    double sums[BLOCK];
    clv_spmm(by, from, to, r->threads);
    if (r->means) {
        weigh(from_rows ? NULL : r->means, from, by->cols, sums);
        correct(from_rows ? r->means : NULL, sums, by->rows, to, r->threads);
    }
}

static void to_far(reduction *r) {
    multiply(r, r->far, r->by_rows, r->near_values, r->far_values);
}

static void to_near(reduction *r) {
    multiply(r, r->near, !r->by_rows, r->far_values, r->near_values);
}

static clv_status apply(void *user, const double *x, int64_t count, double *y) {
    reduction *r = user;
    int64_t n = r->near->rows;
    interleave(x, count, n, r->near_values, r->threads);
    to_far(r);
    to_near(r);
    separate(r->near_values, count, n, y, r->threads);
    return CLV_OK;
}

static double excess(void *user, double value, double residual) {
    const reduction *r = user;
    return residual / (r->options.tol * fmax(value, 1e-300));
}

/* --- eigenpairs of the near side --- */

static clv_status solve_in_full(reduction *r, double *values, double *vectors) {
    int64_t n = r->near->rows;
    clv_kept work = {.ctx = r->ctx};
    double *gram = CLV_TAKE0(&work, double, n *n);
    double *images = CLV_TAKE(&work, double, n *BLOCK);
    double *all = CLV_TAKE(&work, double, n);
    clv_status status = work.status;
    for (int64_t first = 0; status == CLV_OK && first < n; first += BLOCK) {
        if (clv_worked(r->ctx, n * BLOCK)) {
            status = clv_stop_failure(r->ctx, "reducing");
            break;
        }
        int64_t count = n - first < BLOCK ? n - first : BLOCK;
        memset(images, 0, (size_t)(n * BLOCK) * sizeof *images);
        for (int64_t c = 0; c < count; c++) {
            images[c * n + first + c] = 1;
        }
        status = apply(r, images, count, gram + first * n);
    }
    if (status == CLV_OK) {
        status = clv_eigen_dense(r->ctx, gram, n, all);
    }
    for (int64_t c = 0; status == CLV_OK && c < r->options.dims; c++) {
        values[c] = all[n - 1 - c];
        memcpy(vectors + c * n, gram + (n - 1 - c) * n, (size_t)n * sizeof *vectors);
    }
    clv_free_kept(&work);
    return status;
}

static bool is_for_lapack(int64_t n, int64_t dims) {
    return n <= SMALL || 3 * (dims + ROOM) > n;
}

static clv_krylov plan_of(int64_t n, const clv_reduce_options *options, int threads) {
    return (clv_krylov){.n = n,
                        .count = options->dims,
                        .cycles = CYCLES,
                        .block = BLOCK,
                        .basis = options->dims + ROOM,
                        .eager = true,
                        .seed = (uint64_t)options->seed,
                        .threads = threads};
}

static clv_status solve(reduction *r, double *values, double *vectors) {
    clv_krylov plan = plan_of(r->near->rows, &r->options, r->threads);
    bool converged;
    if (is_for_lapack(plan.n, plan.count)) {
        return solve_in_full(r, values, vectors);
    }
    plan.ctx = r->ctx;
    plan.apply = apply;
    plan.excess = excess;
    plan.user = r;
    CLV_TRY(clv_krylov_solve(&plan, values, vectors, NULL, &converged));
    if (!converged) {
        return clv_fail(r->ctx, CLV_ENUMERIC, "the singular vectors do not converge to tol %g in %d restarts",
                        r->options.tol, (int)CYCLES);
    }
    return CLV_OK;
}

/* --- from eigenpairs to points and axes --- */

/* The vectors of the far side: B' u / s for the unit vectors u, zero where s is. */
static void other_side(reduction *r, const double *vectors, const double *s, double *out) {
    int64_t n = r->near->rows, m = r->far->rows;
    for (int64_t first = 0; first < r->options.dims; first += BLOCK) {
        int64_t count = r->options.dims - first < BLOCK ? r->options.dims - first : BLOCK;
        interleave(vectors + first * n, count, n, r->near_values, r->threads);
        to_far(r);
        separate(r->far_values, count, m, out + first * m, r->threads);
    }
    for (int64_t c = 0; c < r->options.dims; c++) {
        for (int64_t i = 0; i < m; i++) {
            out[c * m + i] = s[c] > 0 ? out[c * m + i] / s[c] : 0;
        }
    }
}

/* The entry of largest magnitude of each axis becomes positive, the first of equals. */
static void choose_signs(double *axes, int64_t dims, int64_t cols) {
    for (double *axis = axes; axis < axes + dims * cols; axis += cols) {
        int64_t top = 0;
        for (int64_t j = 1; j < cols; j++) {
            top = fabs(axis[j]) > fabs(axis[top]) ? j : top;
        }
        double sign = axis[top] < 0 ? -1 : 1;
        for (int64_t j = 0; j < cols; j++) {
            axis[j] *= sign;
        }
    }
}

/* What centering takes off the coordinates of every row: those of the means. */
static void place_means(const double *means, const double *axes, int64_t dims, int64_t cols, double *offset) {
    for (int64_t c = 0; c < dims; c++) {
        offset[c] = 0;
        for (int64_t j = 0; means && j < cols; j++) {
            offset[c] += means[j] * axes[c * cols + j];
        }
    }
}

/* out = X axes' - offset, by the same sums for a row whatever the others are. `from` and `to` are BLOCK vectors of
 * either side. */
static void project(const clv_matrix *x, const double *axes, int64_t dims, const double *offset, double *from,
                    double *to, int threads, double *out) {
    for (int64_t first = 0; first < dims; first += BLOCK) {
        int64_t count = dims - first < BLOCK ? dims - first : BLOCK;
        interleave(axes + first * x->cols, count, x->cols, from, threads);
        clv_spmm(x, from, to, threads);
        for (int64_t i = 0; i < x->rows; i++) {
            for (int64_t c = 0; c < count; c++) {
                out[i * dims + first + c] = to[i * BLOCK + c] - offset[first + c];
            }
        }
    }
}

/* Singular values of eigenvalues, and unit vectors of zero where they end. */
static void take_roots(const reduction *r, double *values, double *vectors) {
    int64_t n = r->near->rows;
    double top = values[0];
    for (int64_t c = 0; c < r->options.dims; c++) {
        bool none = !(values[c] > NOTHING * top);
        values[c] = none ? 0 : sqrt(values[c]);
        for (int64_t i = 0; none && i < n; i++) {
            vectors[c * n + i] = 0;
        }
    }
}

/* The points are the coordinates of the rows on the axes as they are, which the eigenvectors of the rows would be but
 * for the tolerance: so rows that come later get the same coordinates as if they had been there. */
static clv_status write_out(reduction *r, double *axes, clv_data **points, clv_data **out) {
    int64_t rows = r->x->rows, cols = r->x->cols, dims = r->options.dims;
    double *offset = CLV_TAKE(&r->kept, double, dims);
    CLV_TRY(r->kept.status);
    choose_signs(axes, dims, cols);
    place_means(r->means, axes, dims, cols, offset);
    CLV_TRY(clv_data_new_dense(r->ctx, "reduction", rows, dims, CLV_F64, points));
    project(r->x, axes, dims, offset, r->by_rows ? r->far_values : r->near_values,
            r->by_rows ? r->near_values : r->far_values, r->threads, (*points)->values);
    if (out) {
        CLV_TRY(clv_data_new_dense(r->ctx, "axes", dims, cols, CLV_F64, out));
        memcpy((*out)->values, axes, (size_t)(dims * cols) * sizeof *axes);
    }
    return CLV_OK;
}

static clv_status compute(reduction *r, double *values, clv_data **points, clv_data **axes) {
    int64_t dims = r->options.dims;
    double *s = CLV_TAKE(&r->kept, double, dims);
    double *near = CLV_TAKE(&r->kept, double, dims * r->near->rows), *right = near;
    CLV_TRY(r->kept.status);
    CLV_TRY(solve(r, s, near));
    take_roots(r, s, near);
    if (r->by_rows) {
        right = CLV_TAKE(&r->kept, double, dims * r->far->rows); /* not held while solving */
        CLV_TRY(r->kept.status);
        other_side(r, near, s, right);
    }
    CLV_TRY(write_out(r, right, points, axes));
    if (values) {
        memcpy(values, s, (size_t)dims * sizeof *s);
    }
    return CLV_OK;
}

/* --- all of it --- */

static void take_means(reduction *r) {
    const clv_matrix *columns = clv_data_matrix(r->transpose);
    for (int64_t j = 0; j < columns->rows; j++) {
        double sum = 0;
        for (int64_t e = columns->start[j]; e < columns->start[j + 1]; e++) {
            sum += ((const double *)columns->values)[e];
        }
        r->means[j] = sum / (double)columns->cols;
    }
}

static clv_status prepare(reduction *r) {
    CLV_TRY(clv_csr_transpose(r->ctx, "transpose", r->x, &r->transpose));
    const clv_matrix *transposed = clv_data_matrix(r->transpose);
    r->by_rows = r->x->rows <= r->x->cols;
    r->near = r->by_rows ? r->x : transposed;
    r->far = r->by_rows ? transposed : r->x;
    r->near_values = CLV_TAKE(&r->kept, double, r->near->rows *BLOCK);
    r->far_values = CLV_TAKE(&r->kept, double, r->far->rows *BLOCK);
    if (r->options.center) {
        r->means = CLV_TAKE(&r->kept, double, r->x->cols);
    }
    if (r->means) {
        take_means(r);
    }
    return r->kept.status;
}

static int threads_for(const clv_matrix *sparse, const clv_reduce_options *options) {
    bool large = sparse->start[sparse->rows] - sparse->start[0] >= WORTH_THREADS;
    return large ? clv_threads(options->threads) : 1;
}

static size_t solver_bytes(int64_t n, const clv_reduce_options *options, int threads) {
    clv_krylov plan = plan_of(n, options, threads);
    size_t side = (size_t)n;
    return is_for_lapack(n, options->dims) ? (3 * side * side + (BLOCK + 10) * side) * sizeof(double)
                                           : clv_krylov_memory(&plan);
}

size_t clv_reduce_memory(const clv_matrix *sparse, const clv_reduce_options *options) {
    size_t nonzeros = (size_t)(sparse->start[sparse->rows] - sparse->start[0]);
    size_t rows = (size_t)sparse->rows, cols = (size_t)sparse->cols, dims = (size_t)options->dims;
    int64_t near = sparse->rows < sparse->cols ? sparse->rows : sparse->cols;
    size_t transposed = nonzeros * (sizeof(double) + sizeof(int32_t)) + (cols + 1) * sizeof(int64_t);
    size_t vectors = ((rows + cols) * BLOCK + cols + dims + dims * (size_t)near) * sizeof(double);
    size_t solving = solver_bytes(near, options, threads_for(sparse, options));
    size_t writing = (dims * (rows + cols - (size_t)near) + dims * rows) * sizeof(double);
    return transposed + vectors + (solving > writing ? solving : writing);
}

static clv_status check_memory(clv_context *ctx, const clv_matrix *m, const clv_reduce_options *options) {
    size_t now, peak, budget = clv_memory_budget(options->memory);
    size_t needed = clv_reduce_memory(m, options);
    clv_context_memory(ctx, &now, &peak);
    if (now + needed > budget) {
        return clv_fail(
            ctx, CLV_ENOMEM,
            "reducing a matrix of %lld x %lld to %lld columns takes %zu bytes besides the %zu held already, "
            "more than the budget of %zu",
            (long long)m->rows, (long long)m->cols, (long long)options->dims, needed, now, budget);
    }
    return CLV_OK;
}

static clv_status check(clv_context *ctx, const clv_matrix *m, const clv_reduce_options *options) {
    CLV_TRY(clv_options_check(ctx, clv_reduce_table(), options));
    if (!clv_is_sparse(m)) {
        return clv_fail(ctx, CLV_EUSAGE, "the matrix to reduce is dense; a sparse one is needed");
    }
    int64_t most = m->rows < m->cols ? m->rows : m->cols;
    if (options->dims > most) {
        return clv_fail(ctx, CLV_EUSAGE, "dims = %lld exceeds the smaller side of a matrix of %lld x %lld",
                        (long long)options->dims, (long long)m->rows, (long long)m->cols);
    }
    CLV_TRY(clv_matrix_check(ctx, "the matrix to reduce", m, 1e150));
    return check_memory(ctx, m, options);
}

clv_status clv_reduce(clv_context *ctx, const clv_matrix *sparse, const clv_reduce_options *given, clv_data **points,
                      clv_data **axes, double *values) {
    *points = NULL;
    CLV_NEED(ctx, sparse);
    CLV_NEED_AS(ctx, given, "options");
    clv_reduce_options own, *options = &own;
    if (axes) {
        *axes = NULL;
    }
    CLV_TRY(clv_options_adopt(ctx, clv_reduce_table(), given, options));
    CLV_TRY(check(ctx, sparse, options));
    reduction r = {
        .ctx = ctx, .kept.ctx = ctx, .options = *options, .x = sparse, .threads = threads_for(sparse, options)};
    clv_blas_serial_begin();
    clv_status status = prepare(&r);
    if (status == CLV_OK) {
        status = compute(&r, values, points, axes);
    }
    clv_blas_serial_end();
    clv_free_kept(&r.kept);
    clv_data_free(r.transpose);
    return clv_data_made(status, points);
}

/* --- other rows --- */

static clv_status check_axes(clv_context *ctx, const clv_matrix *sparse, const clv_matrix *axes) {
    if (!clv_is_sparse(sparse) || clv_is_sparse(axes) || axes->scalar != CLV_F64 || axes->cols != sparse->cols) {
        return clv_fail(ctx, CLV_EUSAGE,
                        "a sparse matrix of %lld columns goes with dense axes of as many doubles, not of %lld",
                        (long long)sparse->cols, (long long)axes->cols);
    }
    return clv_csr_check(ctx, "the matrix to reduce", sparse, false);
}

clv_status clv_reduce_offset(clv_context *ctx, const clv_matrix *sparse, const clv_matrix *axes, double *offset) {
    CLV_NEED(ctx, sparse);
    CLV_NEED(ctx, axes);
    CLV_TRY(check_axes(ctx, sparse, axes));
    double *means = CLV_NEW0(ctx, double, sparse->cols);
    CLV_TRY(means ? CLV_OK : CLV_ENOMEM);
    for (int64_t e = sparse->start[0]; e < sparse->start[sparse->rows]; e++) {
        means[sparse->index[e]] += ((const double *)sparse->values)[e];
    }
    for (int64_t j = 0; j < sparse->cols; j++) {
        means[j] /= (double)sparse->rows;
    }
    place_means(means, axes->values, axes->rows, axes->cols, offset);
    clv_free(ctx, means);
    return CLV_OK;
}

clv_status clv_reduce_like(clv_context *ctx, const clv_matrix *sparse, const clv_matrix *axes, const double *offset,
                           int64_t threads, clv_data **points) {
    *points = NULL;
    CLV_NEED(ctx, sparse);
    CLV_NEED(ctx, axes);
    CLV_NEED(ctx, offset);
    clv_kept kept = {.ctx = ctx};
    CLV_TRY(check_axes(ctx, sparse, axes));
    double *from = CLV_TAKE(&kept, double, sparse->cols *BLOCK);
    double *to = CLV_TAKE(&kept, double, sparse->rows *BLOCK);
    clv_status status = kept.status;
    if (status == CLV_OK) {
        status = clv_data_new_dense(ctx, "points", sparse->rows, axes->rows, CLV_F64, points);
    }
    if (status == CLV_OK) {
        project(sparse, axes->values, axes->rows, offset, from, to, clv_threads(threads), (*points)->values);
    }
    clv_free_kept(&kept);
    return status;
}
