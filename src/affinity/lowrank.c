/* Low-rank home: F F' with an n x r factor, 2 n r k operations for k vectors. The cosine affinity lives here: with u
 * the unit rows, 1 + u_i'u_j = f_i'f_j for f = (1, u), and a zero row has cosine 0 with everything. */
#include "affinity/affinity.h"

#include "linalg/kernels.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { ROW_BLOCK = 512, RANK_BLOCK = 32 };

static const clv_lowrank_home *home_of(const clv_affinity *a) {
    return a->state;
}

static double clamp(double value) {
    return value > 0 ? value : 0; /* 1 + cos of opposite vectors, to rounding */
}

static double lowrank_entry(const clv_affinity *a, int64_t i, int64_t j) {
    const clv_lowrank_home *home = home_of(a);
    if (i == j && a->zero_diagonal) {
        return 0;
    }
    return clamp(clv_dot(home->factor + i * home->rank, home->factor + j * home->rank, home->rank, 1));
}

/* Entries j0 .. j0 + count - 1 of column i. */
static void lowrank_line(const clv_affinity *a, int64_t i, int64_t j0, int64_t count, double *out) {
    const clv_lowrank_home *home = home_of(a);
    int rank = (int)home->rank;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)count, rank, 1, home->factor + j0 * home->rank, rank,
                home->factor + i * home->rank, 1, 0, out, 1);
    for (int64_t e = 0; e < count; e++) {
        out[e] = clamp(out[e]);
    }
    if (a->zero_diagonal && i >= j0 && i < j0 + count) {
        out[i - j0] = 0;
    }
}

static clv_status lowrank_column(const clv_affinity *a, int64_t i, double *out) {
    clv_blas_serial_begin();
    for (int64_t j = 0; j < a->info.n; j += ROW_BLOCK) {
        lowrank_line(a, i, j, a->info.n - j < ROW_BLOCK ? a->info.n - j : ROW_BLOCK, out + j);
    }
    clv_blas_serial_end();
    return CLV_OK;
}

static void lowrank_move(const clv_affinity *a, int64_t i, double *from, double *to) {
    double line[ROW_BLOCK];
    clv_blas_serial_begin();
    for (int64_t j = 0; j < a->info.n; j += ROW_BLOCK) {
        int64_t count = a->info.n - j < ROW_BLOCK ? a->info.n - j : ROW_BLOCK;
        lowrank_line(a, i, j, count, line);
        if (from) {
            clv_deduct(from + j, line, count);
        }
        if (to) {
            clv_accumulate(to + j, line, count);
        }
    }
    clv_blas_serial_end();
}

void clv_lowrank_product(const double *left, int64_t rows, const double *right, int64_t n, int64_t rank, double *out) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)n, (int)rank, 1, left, (int)rank, right,
                (int)rank, 0, out, (int)n);
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

void clv_lowrank_rows(const clv_affinity *a, int64_t i0, int64_t rows, double *out) {
    const clv_lowrank_home *home = home_of(a);
    clv_lowrank_product(home->factor + i0 * home->rank, rows, home->factor, a->info.n, home->rank, out);
}

void clv_lowrank_expand(const clv_affinity *a, const double *t, int64_t k, int64_t first, int64_t count, double *y,
                        int64_t stride) {
    const clv_lowrank_home *home = home_of(a);
    const double *factor = home->factor + first * home->rank;
    int rank = (int)home->rank, rows = (int)count;
    if (k == 1) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, rank, 1, factor, rank, t, 1, 0, y, 1);
    } else {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, rows, rank, 1, t, rank, factor, rank, 0, y,
                    (int)stride);
    }
}

/* y = t F' for t of k x rank. */
static void expand(const clv_affinity *a, const double *t, int64_t k, double *y, int threads) {
    int64_t n = a->info.n;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i += ROW_BLOCK) {
        clv_lowrank_expand(a, t, k, i, n - i < ROW_BLOCK ? n - i : ROW_BLOCK, y + i, n);
    }
}

void clv_lowrank_gather(const clv_affinity *a, const double *x, int64_t k, double *t, int threads) {
    const clv_lowrank_home *home = home_of(a);
    int64_t n = a->info.n, rank = home->rank;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < rank; r += RANK_BLOCK) {
        int64_t some = rank - r < RANK_BLOCK ? rank - r : RANK_BLOCK;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, (int)some, (int)n, 1, x, (int)n,
                    home->factor + r, (int)rank, 0, t + r, (int)rank);
    }
}

static double own_entry(const clv_affinity *a, int64_t i) {
    const double *f = home_of(a)->factor + i * home_of(a)->rank;
    double sum = 0; /* a loop of its own: the rank is small, and clv_dot is for long vectors */
    for (int64_t r = 0; r < home_of(a)->rank; r++) {
        sum += f[r] * f[r];
    }
    return sum;
}

static clv_status lowrank_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    const clv_lowrank_home *home = home_of(a);
    int64_t n = a->info.n, rank = home->rank;
    double *t = CLV_NEW(a->ctx, double, k *rank);
    if (!t) {
        return CLV_ENOMEM;
    }
    clv_blas_serial_begin();
    clv_lowrank_gather(a, x, k, t, threads);
    expand(a, t, k, y, threads);
    clv_blas_serial_end();
    for (int64_t i = 0; a->zero_diagonal && i < n; i++) {
        double own = own_entry(a, i);
        for (int64_t c = 0; c < k; c++) {
            y[c * n + i] -= own * x[c * n + i];
        }
    }
    clv_free(a->ctx, t);
    return CLV_OK;
}

static clv_status lowrank_group_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads) {
    const clv_lowrank_home *home = home_of(a);
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
    clv_blas_serial_begin();
    expand(a, t, k, y, threads);
    clv_blas_serial_end();
    for (int64_t i = 0; a->zero_diagonal && i < n; i++) {
        if (labels[i] >= 0) {
            y[labels[i] * n + i] -= own_entry(a, i);
        }
    }
    clv_free(a->ctx, t);
    return CLV_OK;
}

/* --- for products that follow their factor (product.c) --- */

static void lowrank_block(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    const clv_lowrank_home *home = home_of(a);
    const double *rows = home->factor + first * home->rank;
    int rank = (int)home->rank, some = (int)count;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, some, some, rank, 1, rows, rank, rows, rank, 0, out, some);
    for (int64_t r = 0; a->zero_diagonal && r < count; r++) {
        out[r * count + r] = 0;
    }
}

/* 1'FF'1 = |F'1|^2 and |FF'|^2 = |F'F|^2. */
static clv_status lowrank_moments(const clv_affinity *a, int threads, double *sum, double *squares) {
    const clv_lowrank_home *home = home_of(a);
    int64_t n = a->info.n, rank = home->rank;
    double *gram = CLV_NEW0(a->ctx, double, rank *rank + rank);
    (void)threads;
    if (!gram) {
        return CLV_ENOMEM;
    }
    clv_blas_serial_begin();
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)rank, (int)rank, (int)n, 1, home->factor, (int)rank,
                home->factor, (int)rank, 0, gram, (int)rank);
    clv_blas_serial_end();
    double *total = gram + rank * rank;
    for (int64_t i = 0; i < n; i++) {
        clv_accumulate(total, home->factor + i * rank, rank);
    }
    *sum = clv_dot(total, total, rank, 1);
    *squares = clv_dot(gram, gram, rank * rank, 1);
    for (int64_t i = 0; a->zero_diagonal && i < n; i++) {
        double own = own_entry(a, i);
        *sum -= own;
        *squares -= own * own;
    }
    clv_free(a->ctx, gram);
    return CLV_OK;
}

static clv_status lowrank_combine(const clv_affinity *a, const clv_terms *terms, double *y, int threads) {
    const clv_lowrank_home *home = home_of(a);
    int64_t rank = home->rank;
    double *t = CLV_NEW0(a->ctx, double, rank);
    if (!t) {
        return CLV_ENOMEM;
    }
    for (int64_t m = 0; m < terms->count; m++) {
        clv_add_weighted(t, terms->weights[m], home->factor + terms->objects[m] * rank, rank);
    }
    clv_blas_serial_begin();
    expand(a, t, 1, y, threads);
    clv_blas_serial_end();
    for (int64_t m = 0; a->zero_diagonal && m < terms->count; m++) {
        y[terms->objects[m]] -= terms->weights[m] * own_entry(a, terms->objects[m]);
    }
    clv_free(a->ctx, t);
    return clv_interrupted(a->ctx) ? clv_fail(a->ctx, CLV_EINTERRUPTED, "interrupted") : CLV_OK;
}

static void lowrank_destroy(clv_affinity *a) {
    clv_free(a->ctx, ((clv_lowrank_home *)a->state)->owned);
}

const clv_home_functions clv_lowrank_functions = {
    .column = lowrank_column,
    .move = lowrank_move,
    .apply = lowrank_apply,
    .group_sums = lowrank_group_sums,
    .moments = lowrank_moments,
    .block = lowrank_block,
    .combine = lowrank_combine,
    .entry = lowrank_entry,
    .destroy = lowrank_destroy,
};
