/* A product Y = X A that follows its factor: X (k x n) changes for some neighboring objects at a time, and Y is brought
 * up to date by X's change times their rows of A (clv_affinity_add_rows) instead of being computed anew. Where A = F
 * F', only T = X F is kept, 2 r k operations per object; columns of Y are T F' when looked at.
 *
 * Ranks bring up to date their own share of Y, whose columns they alone can look at; at the end of a round all of it is
 * gathered.
 *
 * A full round over all objects thus costs what one product does. Every entry of Y adds up its shares in the same order
 * on any number of threads. */
#include "affinity/home.h"

#include <cblas.h>
#include <string.h>

/* Operations of a change: for fewer, waking threads takes longer. */
enum { CHANGE_WORTH_THREADS = 1 << 23, OBJECTS_A_POLL = 8192 };

static bool is_factored(const clv_product *p) {
    return p->factor.rows > 0;
}

/* What the diagonal has beyond that of F F', where it has. */
static clv_status find_excess(clv_product *p) {
    const double *f = p->factor.values;
    int64_t rank = p->factor.cols;
    if (!p->a->zero_diagonal && p->a->info.landmarks == 0) {
        return CLV_OK;
    }
    p->excess = CLV_NEW(p->a->ctx, double, p->n);
    CLV_TRY(p->excess ? clv_affinity_diagonal(p->a, p->excess) : CLV_ENOMEM);
    for (int64_t i = 0; i < p->n; i++) {
        if (i % OBJECTS_A_POLL == 0 && clv_interrupted(p->a->ctx)) {
            return clv_stop_failure(p->a->ctx, "computing the diagonal of the affinity");
        }
        p->excess[i] -= clv_dot(f + i * rank, f + i * rank, rank, 1);
    }
    return CLV_OK;
}

clv_status clv_product_new(const clv_affinity *a, int64_t k, const double *x, int threads, clv_product *out) {
    int64_t n = a->info.n, entries;
    *out = (clv_product){.a = a, .n = n, .k = k, .threads = threads, .x = x};
    if (!clv_mul(k, n, &entries)) {
        return clv_fail(a->ctx, CLV_ENOMEM, "%lld x %lld numbers are more than can be addressed", (long long)k,
                        (long long)n);
    }
    bool factored = clv_affinity_factor(a, &out->factor);
    out->y = CLV_NEW(a->ctx, double, entries);
    out->t = factored ? CLV_NEW(a->ctx, double, k * out->factor.cols) : NULL;
    clv_status status = out->y && (!factored || out->t) ? CLV_OK : CLV_ENOMEM;
    if (status == CLV_OK && factored) {
        status = find_excess(out);
    }
    if (status < 0) {
        clv_product_free(out);
    }
    return status;
}

void clv_product_free(clv_product *p) {
    if (p->a) {
        clv_free(p->a->ctx, p->y);
        clv_free(p->a->ctx, p->t);
        clv_free(p->a->ctx, p->excess);
    }
    *p = (clv_product){0};
}

clv_status clv_product_begin(clv_product *p) {
    if (!is_factored(p)) {
        return (p->rough ? clv_affinity_rough_apply : clv_affinity_apply)(p->a, p->x, p->k, p->y, p->threads);
    }
    return clv_factor_gather(p->a->ctx, &p->factor, p->x, p->k, p->t, p->threads);
}

/* Y of some objects from T. */
static void expand(const clv_product *p, int64_t first, int64_t count) {
    double *y = p->y + first;
    clv_factor_expand(&p->factor, p->t, p->k, first, count, y, p->n);
    for (int64_t r = 0; p->excess && r < count; r++) {
        for (int64_t c = 0; c < p->k; c++) {
            y[c * p->n + r] += p->excess[first + r] * p->x[c * p->n + first + r];
        }
    }
}

int clv_product_owner(const clv_product *p, int64_t object) {
    return is_factored(p) || !clv_is_shared(p->a->ctx) ? -1 : clv_owner_of(p->a->ctx, p->n, CLV_SHARE, object);
}

void clv_product_columns(const clv_product *p, int64_t first, int64_t count, double *out) {
    if (is_factored(p)) { /* y has room for them where they belong */
        expand(p, first, count);
    }
    for (int64_t c = 0; c < p->k; c++) {
        memcpy(out + c * count, p->y + c * p->n + first, (size_t)count * sizeof *out);
    }
}

/* An errand, at most once. */
static void run_errand(clv_errand *errand) {
    if (errand && !errand->done) {
        errand->run(errand->user);
        errand->done = true;
    }
}

void clv_change_strips(const clv_affinity *a, const clv_change *change, clv_strip *add, const void *work, double *y,
                       int threads) {
    int64_t n = a->info.n, begin, end, before = -1; /* what is wanted of this rank, and which strip comes first */
    clv_share_objects(a->ctx, n, CLV_SHARE, &begin, &end);
    if (change->errand) {
        before = change->errand->at / CLV_SHARE * CLV_SHARE;
    }
#pragma omp parallel num_threads(clv_team(threads))
    {
#pragma omp single nowait
        if (before >= 0) {
            add(a, change, work, y, before, n - before < CLV_SHARE ? n - before : CLV_SHARE);
            run_errand(change->errand);
        }
#pragma omp for schedule(dynamic)
        for (int64_t at = begin; at < end; at += CLV_SHARE) {
            if (at != before) {
                add(a, change, work, y, at, n - at < CLV_SHARE ? n - at : CLV_SHARE);
            }
        }
    }
}

clv_status clv_product_change(clv_product *p, const clv_change *change) {
    clv_status status = CLV_OK;
    int64_t first = change->first, count = change->count;
    int threads = count * p->n * p->k < CHANGE_WORTH_THREADS ? 1 : p->threads;
    clv_blas_serial_begin();
    if (is_factored(p)) {
        int rank = (int)p->factor.cols;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)p->k, rank, (int)count, 1, change->d, (int)count,
                    (const double *)p->factor.values + first * rank, rank, 1, p->t, rank);
    } else {
        status = (p->rough ? clv_affinity_rough_add_rows : clv_affinity_add_rows)(p->a, change, p->y, threads);
    }
    if (status == CLV_OK) {
        run_errand(change->errand);
    }
    clv_blas_serial_end();
    return status;
}

static void expand_all(const clv_product *p) {
    clv_blas_serial_begin();
#pragma omp parallel for num_threads(clv_team(p->threads))                                                             \
    schedule(static) if (p->n * p->k * p->factor.cols >= CHANGE_WORTH_THREADS)
    for (int64_t i = 0; i < p->n; i += CLV_TILE) {
        expand(p, i, p->n - i < CLV_TILE ? p->n - i : CLV_TILE);
    }
    clv_blas_serial_end();
}

clv_status clv_product_values(clv_product *p) {
    if (!is_factored(p)) {
        return clv_gather_columns(p->a->ctx, CLV_OK, p->y, p->k, p->n, CLV_SHARE, 0, p->n);
    }
    expand_all(p);
    return CLV_OK;
}
