/* A product Y = X A that follows its factor: X (k x n) changes for some neighboring objects at a time, and Y
 * is brought up to date by X's change times their rows of A instead of being computed anew.
 *
 *   dense, computed   Y += D A[rows, :], a matrix product of 2 n k operations an object; threads share the columns
 *   sparse            the edges of the objects
 *   low rank          only T = X F is kept, 2 r k operations an object; rows of Y are T F' when looked at
 *   others            by columns
 *
 * A full round over all objects thus costs what one product does. Every entry of Y adds up its shares in the same order
 * on any number of threads. Also here: the sums over all entries and over their squares, by the same homes. */
#include "affinity/affinity.h"

#include <cblas.h>
#include <omp.h>
#include <string.h>

/* Entries to go over; operations of a change: for fewer, waking threads takes longer. */
enum { WORTH_THREADS = 1 << 18, CHANGE_WORTH_THREADS = 1 << 23 };

static bool is_lowrank(const clv_affinity *a) {
    return a->home == &clv_lowrank_functions;
}

/* --- sums over all entries --- */

static clv_status moments_by_columns(const clv_affinity *a, int threads, double *sum, double *squares) {
    int64_t n = a->info.n;
    double *columns = CLV_NEW(a->ctx, double, n *(threads + 2));
    int failed = 0;
    if (!columns) {
        return CLV_ENOMEM;
    }
    double *sums = columns + n * threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double *column = columns + n * omp_get_thread_num();
        int over;
#pragma omp atomic read
        over = failed;
        if (over) {
            continue;
        }
        clv_status status = a->home->column(a, i, column);
        if (status == CLV_OK && i % 256 == 0 && clv_interrupted(a->ctx)) {
            status = clv_fail(a->ctx, CLV_EINTERRUPTED, "interrupted");
        }
        if (status < 0) {
#pragma omp atomic write
            failed = status;
            continue;
        }
        sums[i] = clv_sum(column, n, 1);
        sums[n + i] = clv_dot(column, column, n, 1);
    }
    if (failed == CLV_OK) {
        *sum = clv_sum(sums, n, 1);
        *squares = clv_sum(sums + n, n, 1);
    }
    clv_free(a->ctx, columns);
    return (clv_status)failed;
}

clv_status clv_affinity_moments(const clv_affinity *a, int64_t threads, double *sum, double *squares) {
    int used = a->info.nonzeros < WORTH_THREADS ? 1 : clv_threads(threads);
    if (a->home->moments) {
        return a->home->moments(a, used, sum, squares);
    }
    return moments_by_columns(a, used, sum, squares);
}

void clv_affinity_block(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    if (a->home->block) {
        a->home->block(a, first, count, out);
        return;
    }
    for (int64_t e = 0; e < count * count; e++) {
        out[e] = a->home->entry(a, first + e / count, first + e % count);
    }
}

/* --- the product --- */

clv_status clv_product_new(const clv_affinity *a, int64_t k, const double *x, int threads, clv_product *out) {
    int64_t n = a->info.n, entries, rank = is_lowrank(a) ? ((const clv_lowrank_home *)a->state)->rank : 0;
    *out = (clv_product){.a = a, .n = n, .k = k, .threads = threads, .x = x};
    if (!clv_mul(k, n, &entries)) {
        return clv_fail(a->ctx, CLV_ENOMEM, "%lld x %lld numbers are more than memory can address", (long long)k,
                        (long long)n);
    }
    out->y = CLV_NEW(a->ctx, double, entries);
    bool complete = out->y != NULL;
    if (is_lowrank(a)) {
        out->t = CLV_NEW(a->ctx, double, k *rank);
        complete = complete && out->t;
    } else if (!a->home->add_rows) {
        out->column = CLV_NEW(a->ctx, double, n);
        complete = complete && out->column;
    }
    if (!complete) {
        clv_product_free(out);
        return CLV_ENOMEM;
    }
    return CLV_OK;
}

void clv_product_free(clv_product *p) {
    if (p->a) {
        clv_free(p->a->ctx, p->y);
        clv_free(p->a->ctx, p->t);
        clv_free(p->a->ctx, p->column);
    }
    *p = (clv_product){0};
}

size_t clv_product_memory(int64_t n, int64_t k) {
    return (size_t)(n * k + n) * sizeof(double);
}

clv_status clv_product_begin(clv_product *p) {
    if (!is_lowrank(p->a)) {
        return clv_affinity_apply(p->a, p->x, p->k, p->y, p->threads);
    }
    clv_blas_serial_begin();
    clv_lowrank_gather(p->a, p->x, p->k, p->t, p->threads);
    clv_blas_serial_end();
    return CLV_OK;
}

/* What a diagonal that does not count must be taken out of a low-rank product again. */
static void deduct_own(const clv_product *p, int64_t first, int64_t count, double *y, int64_t stride) {
    const clv_lowrank_home *home = p->a->state;
    for (int64_t r = 0; p->a->zero_diagonal && r < count; r++) {
        const double *f = home->factor + (first + r) * home->rank;
        double own = clv_dot(f, f, home->rank, 1);
        for (int64_t c = 0; c < p->k; c++) {
            y[c * stride + r] -= own * p->x[c * p->n + first + r];
        }
    }
}

void clv_product_rows(const clv_product *p, int64_t first, int64_t count, double *out) {
    const double *y = p->y + first;
    if (is_lowrank(p->a)) { /* y has room for them where they belong */
        clv_lowrank_expand(p->a, p->t, p->k, first, count, p->y + first, p->n);
        deduct_own(p, first, count, p->y + first, p->n);
    }
    for (int64_t c = 0; c < p->k; c++) {
        for (int64_t r = 0; r < count; r++) {
            out[r * p->k + c] = y[c * p->n + r];
        }
    }
}

static clv_status add_columns(clv_product *p, int64_t first, int64_t count, const double *d) {
    for (int64_t r = 0; r < count; r++) {
        CLV_TRY(p->a->home->column(p->a, first + r, p->column));
        for (int64_t c = 0; c < p->k; c++) {
            if (d[c * count + r] != 0) {
                cblas_daxpy((int)p->n, d[c * count + r], p->column, 1, p->y + c * p->n, 1);
            }
        }
    }
    return CLV_OK;
}

clv_status clv_product_change(clv_product *p, int64_t first, int64_t count, const double *d) {
    clv_status status = CLV_OK;
    int threads = count * p->n * p->k < CHANGE_WORTH_THREADS ? 1 : p->threads;
    clv_blas_serial_begin();
    if (is_lowrank(p->a)) {
        const clv_lowrank_home *home = p->a->state;
        int rank = (int)home->rank;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)p->k, rank, (int)count, 1, d, (int)count,
                    home->factor + first * home->rank, rank, 1, p->t, rank);
    } else if (p->a->home->add_rows) {
        p->a->home->add_rows(p->a, first, count, d, p->k, p->y, threads);
    } else {
        status = add_columns(p, first, count, d);
    }
    clv_blas_serial_end();
    return status;
}

const double *clv_product_values(clv_product *p) {
    if (is_lowrank(p->a)) {
        int64_t rank = ((const clv_lowrank_home *)p->a->state)->rank;
        clv_blas_serial_begin();
#pragma omp parallel for num_threads(p->threads) schedule(static) if (p->n * p->k * rank >= CHANGE_WORTH_THREADS)
        for (int64_t i = 0; i < p->n; i += CLV_TILE) {
            int64_t count = p->n - i < CLV_TILE ? p->n - i : CLV_TILE;
            clv_lowrank_expand(p->a, p->t, p->k, i, count, p->y + i, p->n);
            deduct_own(p, i, count, p->y + i, p->n);
        }
        clv_blas_serial_end();
    }
    return p->y;
}
