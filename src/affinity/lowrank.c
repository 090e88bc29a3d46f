/* Low-rank home: F F' with an n x r factor, 2 n r k operations for k vectors. The cosine affinity is kept here: with u
 * the unit rows, 1 + u_i'u_j = f_i'f_j for f = (1, u), and a zero row has cosine 0 with everything. So are gaussian and
 * exponential affinities by landmarks (landmarks.c), with a diagonal of their own. */
#include "affinity/home.h"
#include "affinity/kinds.h"
#include "base/options.h"

#include "kernels/kernels.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { ROW_BLOCK = 512, RANK_BLOCK = 32, FILL_BLOCK = 32 };

typedef struct lowrank {
    const double *factor; /* n x rank */
    double *owned;        /* == factor, or NULL when borrowed */
    double *excess;       /* by landmarks: what the diagonal has beyond that of F F', owned; else NULL */
    int64_t rank;
} lowrank;

static const lowrank *home_of(const clv_affinity *a) {
    return a->state;
}

static double clamp(double value) {
    return value > 0 ? value : 0; /* 1 + cos of opposite vectors, to rounding */
}

/* An entry beside the diagonal: by landmarks it may lie below 0, in products as well as here. */
static double entry_of(const lowrank *home, double product) {
    return home->excess ? product : clamp(product);
}

/* One on it. */
static double own_entry_of(const clv_affinity *a, int64_t i, double product) {
    const lowrank *home = home_of(a);
    return a->zero_diagonal ? 0 : home->excess ? product + home->excess[i] : clamp(product);
}

static clv_status lowrank_entry(const clv_affinity *a, int64_t i, int64_t j, double *out) {
    const lowrank *home = home_of(a);
    double product = clv_dot(home->factor + i * home->rank, home->factor + j * home->rank, home->rank, 1);
    *out = i == j ? own_entry_of(a, i, product) : entry_of(home, product);
    return CLV_OK;
}

static clv_status lowrank_column(const clv_affinity *a, int64_t i, double *out) {
    const lowrank *home = home_of(a);
    int64_t n = a->info.n;
    int rank = (int)home->rank;
    clv_blas_serial_begin();
    for (int64_t j = 0; j < n; j += ROW_BLOCK) {
        int count = (int)(n - j < ROW_BLOCK ? n - j : ROW_BLOCK);
        cblas_dgemv(CblasRowMajor, CblasNoTrans, count, rank, 1, home->factor + j * rank, rank, home->factor + i * rank,
                    1, 0, out + j, 1);
    }
    clv_blas_serial_end();
    for (int64_t j = 0; j < n; j++) {
        out[j] = j == i ? own_entry_of(a, i, out[i]) : entry_of(home, out[j]);
    }
    return CLV_OK;
}

static void multiply(const double *left, int64_t rows, const double *right, int64_t n, int64_t rank, double *out) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)n, (int)rank, 1, left, (int)rank, right,
                (int)rank, 0, out, (int)n);
}

void clv_lowrank_product(const double *left, int64_t rows, const double *right, int64_t n, int64_t rank, double *out) {
    multiply(left, rows, right, n, rank, out);
    for (int64_t e = 0; e < rows * n; e++) {
        out[e] = clamp(out[e]);
    }
}

void clv_cosine_factor(const clv_matrix *points, double *out) {
    int64_t rank = points->cols + 1;
    for (int64_t i = 0; i < points->rows; i++) {
        double *f = out + i * rank;
        clv_matrix_row(points, i, f + 1);
        double norm = sqrt(clv_dot(f + 1, f + 1, rank - 1, 1));
        f[0] = 1;
        for (int64_t r = 1; r < rank; r++) {
            f[r] = norm > 0 ? f[r] / norm : 0;
        }
    }
}

void clv_factor_expand(const clv_matrix *factor, const double *t, int64_t k, int64_t first, int64_t count, double *y,
                       int64_t stride) {
    const double *some = (const double *)factor->values + first * factor->cols;
    int rank = (int)factor->cols, rows = (int)count;
    if (k == 1) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, rank, 1, some, rank, t, 1, 0, y, 1);
    } else {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, rows, rank, 1, t, rank, some, rank, 0, y,
                    (int)stride);
    }
}

static clv_matrix factor_of(const clv_affinity *a) {
    const lowrank *home = home_of(a);
    return (clv_matrix){.rows = a->info.n, .cols = home->rank, .scalar = CLV_F64, .values = home->factor};
}

/* y = t F' for t of k x rank. */
static void expand(const clv_affinity *a, const double *t, int64_t k, double *y, int threads) {
    int64_t n = a->info.n;
    clv_matrix factor = factor_of(a);
    clv_blas_serial_begin();
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t i = 0; i < n; i += ROW_BLOCK) {
        clv_factor_expand(&factor, t, k, i, n - i < ROW_BLOCK ? n - i : ROW_BLOCK, y + i, n);
    }
    clv_blas_serial_end();
}

clv_status clv_factor_gather(clv_context *ctx, const clv_matrix *factor, const double *x, int64_t k, double *t,
                             int threads) {
    const double *values = factor->values;
    int64_t n = factor->rows, rank = factor->cols;
    atomic_bool stopped = false;
    clv_blas_serial_begin();
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t r = 0; r < rank; r += RANK_BLOCK) {
        int64_t some = rank - r < RANK_BLOCK ? rank - r : RANK_BLOCK;
        if (clv_goes_on(ctx, &stopped, n * some * k / 2)) {
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, (int)some, (int)n, 1, x, (int)n, values + r,
                        (int)rank, 0, t + r, (int)rank);
        }
    }
    clv_blas_serial_end();
    return stopped ? clv_stop_failure(ctx, "multiplying by the affinity") : CLV_OK;
}

/* What the diagonal has beyond that of F F'. */
static bool has_excess(const clv_affinity *a) {
    return a->zero_diagonal || home_of(a)->excess;
}

static double excess_of(const clv_affinity *a, int64_t i) {
    const double *f = home_of(a)->factor + i * home_of(a)->rank;
    double sum = 0; /* a loop of its own: the rank is small, and clv_dot is for long vectors */
    if (home_of(a)->excess) {
        return home_of(a)->excess[i];
    }
    for (int64_t r = 0; r < home_of(a)->rank; r++) {
        sum += f[r] * f[r];
    }
    return -sum;
}

static clv_status lowrank_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    clv_matrix factor = factor_of(a);
    int64_t n = a->info.n;
    double *t = CLV_NEW(a->ctx, double, k *factor.cols);
    if (!t) {
        return CLV_ENOMEM;
    }
    clv_status status = clv_factor_gather(a->ctx, &factor, x, k, t, threads);
    if (status == CLV_OK) {
        expand(a, t, k, y, threads);
    }
    for (int64_t i = 0; status == CLV_OK && has_excess(a) && i < n; i++) {
        double own = excess_of(a, i);
        for (int64_t c = 0; c < k; c++) {
            y[c * n + i] += own * x[c * n + i];
        }
    }
    clv_free(a->ctx, t);
    bool stopped = status == CLV_OK && clv_worked(a->ctx, n * factor.cols * k / 2);
    return stopped ? clv_stop_failure(a->ctx, "multiplying by the affinity") : status;
}

static clv_status lowrank_group_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads) {
    const lowrank *home = home_of(a);
    int64_t n = a->info.n, rank = home->rank;
    double *t = CLV_NEW0(a->ctx, double, k *rank);
    if (!t) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t r = 0; labels[i] >= 0 && r < rank; r++) {
            t[labels[i] * rank + r] += home->factor[i * rank + r];
        }
    }
    expand(a, t, k, y, threads);
    for (int64_t i = 0; has_excess(a) && i < n; i++) {
        if (labels[i] >= 0) {
            y[labels[i] * n + i] += excess_of(a, i);
        }
    }
    clv_free(a->ctx, t);
    return clv_worked(a->ctx, n * rank) ? clv_stop_failure(a->ctx, "multiplying by the affinity") : CLV_OK;
}

/* --- for products that follow their factor (product.c) --- */

static clv_status lowrank_block(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    const lowrank *home = home_of(a);
    const double *rows = home->factor + first * home->rank;
    int rank = (int)home->rank, some = (int)count;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, some, some, rank, 1, rows, rank, rows, rank, 0, out, some);
    for (int64_t r = 0; has_excess(a) && r < count; r++) {
        out[r * count + r] = own_entry_of(a, first + r, out[r * count + r]);
    }
    return CLV_OK;
}

/* 1'FF'1 = |F'1|^2 and |FF'|^2 = |F'F|^2. */
static clv_status lowrank_moments(const clv_affinity *a, int threads, double *sum, double *squares) {
    const lowrank *home = home_of(a);
    int64_t n = a->info.n, rank = home->rank;
    double *gram = CLV_NEW0(a->ctx, double, rank *rank + rank);
    (void)threads;
    if (!gram) {
        return CLV_ENOMEM;
    }
    double *total = gram + rank * rank;
    bool stopped = false;
    for (int64_t first = 0; first < n && !stopped; first += ROW_BLOCK) {
        int64_t rows = n - first < ROW_BLOCK ? n - first : ROW_BLOCK;
        const double *some = home->factor + first * rank;
        clv_blas_serial_begin();
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)rank, (int)rank, (int)rows, 1, some, (int)rank, some,
                    (int)rank, 1, gram, (int)rank);
        clv_blas_serial_end();
        for (int64_t i = 0; i < rows; i++) {
            clv_kernels->f64.accumulate(total, some + i * rank, rank);
        }
        stopped = clv_worked(a->ctx, rows * rank * rank);
    }
    *sum = clv_dot(total, total, rank, 1);
    *squares = clv_dot(gram, gram, rank * rank, 1);
    for (int64_t i = 0; has_excess(a) && i < n; i++) {
        const double *f = home->factor + i * rank;
        double more = excess_of(a, i);
        *sum += more;
        *squares += more * (more + 2 * clv_dot(f, f, rank, 1));
    }
    clv_free(a->ctx, gram);
    return stopped ? clv_stop_failure(a->ctx, "adding up the squares of the affinity") : CLV_OK;
}

static clv_status lowrank_combine(const clv_affinity *a, const clv_terms *terms, double *y, int threads) {
    const lowrank *home = home_of(a);
    int64_t rank = home->rank;
    double *t = CLV_NEW0(a->ctx, double, rank);
    if (!t) {
        return CLV_ENOMEM;
    }
    for (int64_t m = 0; m < terms->count; m++) {
        clv_kernels->f64.add_weighted(t, terms->weights[m], home->factor + terms->objects[m] * rank, rank);
    }
    expand(a, t, 1, y, threads);
    for (int64_t m = 0; has_excess(a) && m < terms->count; m++) {
        y[terms->objects[m]] += terms->weights[m] * excess_of(a, terms->objects[m]);
    }
    clv_free(a->ctx, t);
    return clv_worked(a->ctx, a->info.n * rank) ? clv_stop_failure(a->ctx, "adding columns of the affinity") : CLV_OK;
}

/* --- what else it can do --- */

/* By matrix products, a block of rows at a time. */
static clv_status lowrank_fill(const clv_affinity *a, const clv_sheet *out, int threads) {
    const lowrank *home = home_of(a);
    int64_t n = a->info.n, end = out->first + out->count;
    double *blocks = CLV_NEW(a->ctx, double, n *FILL_BLOCK *threads);
    atomic_bool stopped = false;
    if (!blocks) {
        return CLV_ENOMEM;
    }
    clv_blas_serial_begin();
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic)
    for (int64_t i0 = out->first / FILL_BLOCK * FILL_BLOCK; i0 < end; i0 += FILL_BLOCK) {
        double *block = blocks + n * FILL_BLOCK * omp_get_thread_num();
        int64_t rows = n - i0 < FILL_BLOCK ? n - i0 : FILL_BLOCK;
        if (!clv_goes_on(a->ctx, &stopped, rows * n * home->rank)) {
            continue;
        }
        multiply(home->factor + i0 * home->rank, rows, home->factor, n, home->rank, block);
        for (int64_t e = 0; e < rows * n; e++) {
            block[e] = entry_of(home, block[e]);
        }
        for (int64_t r = 0; r < rows; r++) {
            if (has_excess(a)) {
                block[r * n + i0 + r] = own_entry_of(a, i0 + r, block[r * n + i0 + r]);
            }
            clv_sheet_line(out, i0 + r, 0, block + r * n, n);
        }
    }
    clv_blas_serial_end();
    clv_free(a->ctx, blocks);
    return stopped ? clv_stop_failure(a->ctx, "building the affinity") : CLV_OK;
}

static clv_status own_factor(clv_affinity *a, int64_t rank) {
    lowrank *home = a->state;
    home->owned = clv_alloc(a->ctx, clv_panels_bytes(a->info.n, rank), 1);
    home->factor = home->owned;
    home->rank = rank;
    return home->owned ? CLV_OK : CLV_ENOMEM;
}

static clv_status lowrank_subset(const clv_affinity *a, const int64_t *objects, int64_t m, clv_affinity **out) {
    const lowrank *from = home_of(a);
    int64_t rank = from->rank;
    CLV_TRY(clv_affinity_like(a, m, out));
    CLV_TRY(own_factor(*out, rank));
    lowrank *to = (*out)->state;
    to->excess = from->excess ? CLV_NEW(a->ctx, double, m) : NULL;
    if (from->excess && !to->excess) {
        return CLV_ENOMEM;
    }
    for (int64_t j = 0; j < m; j++) {
        if (j % ROW_BLOCK == 0 && clv_interrupted(a->ctx)) {
            return clv_stop_failure(a->ctx, "taking some rows of the factor");
        }
        memcpy(to->owned + j * rank, from->factor + objects[j] * rank, (size_t)rank * sizeof *to->owned);
        if (to->excess) {
            to->excess[j] = from->excess[objects[j]];
        }
    }
    return CLV_OK;
}

static clv_status lowrank_largest(const clv_affinity *a, double *out) {
    *out = clv_kind_of(a->info.kind)->largest;
    return CLV_OK;
}

static clv_affinity_cost cost_of(int64_t n, int64_t rank) {
    double size = (double)n, entry = (double)rank + 1; /* with the comparison with 0 */
    return (clv_affinity_cost){.entry = entry, .column = size * entry, .pass = 2 * size * (double)rank};
}

static clv_status lowrank_cost(const clv_affinity *a, clv_affinity_cost *out) {
    *out = cost_of(a->info.n, home_of(a)->rank);
    return CLV_OK;
}

static clv_status lowrank_factor(const clv_affinity *a, clv_matrix *out) {
    *out = factor_of(a);
    return CLV_OK;
}

static void lowrank_destroy(clv_affinity *a) {
    clv_free(a->ctx, ((lowrank *)a->state)->owned);
    clv_free(a->ctx, ((lowrank *)a->state)->excess);
}

static const clv_home_functions functions = {
    .name = "low-rank",
    .state_size = sizeof(lowrank),
    .column = lowrank_column,
    .destroy = lowrank_destroy,
    .entry = lowrank_entry,
    .apply = lowrank_apply,
    .group_sums = lowrank_group_sums,
    .combine = lowrank_combine,
    .moments = lowrank_moments,
    .block = lowrank_block,
    .fill = lowrank_fill,
    .subset = lowrank_subset,
    .largest = lowrank_largest,
    .cost = lowrank_cost,
    .factor = lowrank_factor,
};

/* --- making one --- */

clv_status clv_affinity_lowrank(clv_context *ctx, const clv_matrix *factor, const clv_affinity_options *options,
                                clv_affinity **out) {
    *out = NULL;
    CLV_NEED(ctx, factor);
    CLV_NEED(ctx, factor->values);
    CLV_NEED(ctx, options);
    clv_affinity_options own;
    CLV_TRY(clv_options_adopt(ctx, clv_affinity_table(), options, &own));
    if (clv_is_sparse(factor) || factor->scalar != CLV_F64) {
        return clv_fail(ctx, CLV_EUSAGE, "the factor of a low-rank affinity must be dense and double");
    }
    CLV_TRY(clv_affinity_new(ctx, &functions, factor->rows, &own, out));
    *(lowrank *)(*out)->state = (lowrank){.factor = factor->values, .rank = factor->cols};
    return CLV_OK;
}

static bool suits(const clv_matrix *points, const clv_affinity_options *options) {
    (void)points;
    return options->kind == CLV_AFFINITY_COSINE || options->landmarks > 0;
}

static void plan(const clv_matrix *points, const clv_affinity_options *options, clv_affinity_info *out) {
    int64_t n = points->rows, landmarks = options->landmarks;
    out->nonzeros = n * n;
    out->landmarks = landmarks;
    out->bytes = (size_t)clv_panels_bytes(n, clv_bytes_plus(points->cols, 1));
    out->bytes = landmarks > 0 ? (size_t)clv_landmarks_bytes(n, landmarks) : out->bytes;
    out->peak = landmarks > 0 ? (size_t)clv_landmarks_peak(n, points->cols, landmarks) : out->bytes;
    out->cost = cost_of(n, landmarks > 0 ? landmarks : points->cols + 1);
}

static clv_status make_by_landmarks(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                                    int threads, clv_affinity *a) {
    clv_landmarks made;
    clv_status status = clv_landmarks_new(ctx, points, options, threads, &made);
    *(lowrank *)a->state =
        (lowrank){.factor = made.factor, .owned = made.factor, .excess = made.excess, .rank = made.rank};
    a->info.gamma = made.gamma;
    a->info.landmarks = made.rank;
    a->info.trace_error = made.trace_error;
    a->info.sampled_error = made.sampled_error;
    return status;
}

static clv_status make(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options, int threads,
                       clv_affinity **out) {
    CLV_TRY(clv_affinity_new(ctx, &functions, points->rows, options, out));
    if (options->landmarks > 0) {
        return make_by_landmarks(ctx, points, options, threads, *out);
    }
    CLV_TRY(own_factor(*out, points->cols + 1));
    clv_cosine_factor(points, ((lowrank *)(*out)->state)->owned);
    return CLV_OK;
}

const clv_home_maker clv_lowrank_maker = {CLV_HOME_LOWRANK, true, suits, plan, make};
