/* Memberships of new objects: with s the similarities of a new object to the old ones and W their memberships,
 *
 *   minimize |s - W w|^2 over the simplex,   that is   1/2 w'Mw - q'w   with M = W'W and q = W's.
 *
 * It is the part of f that the new object adds as one more row, counted once, without its similarity to itself, and W
 * stays as it is. Solved exactly (sets/simplex.c). M costs n k^2 operations once, a new object 2 n k and its program.
 */
#include "methods/symnmf/symnmf.h"

#include "methods/fresh.h"
#include "sets/simplex.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

/* New objects to a product. */
enum { OBJECTS = 64 };

typedef struct predictor {
    clv_context *ctx;
    int64_t n, k;
    int threads;
    double *w;        /* n x k */
    double *gram;     /* k x k: M */
    double *work;     /* threads x (OBJECTS x k + the work of a program) */
    int64_t *support; /* threads x k */
    double *wide;     /* threads x OBJECTS x n: similarities as doubles, of floats only; NULL until needed */
    double *out;      /* a row of k for each new object */
    clv_fresh_reader *reader;
} predictor;

static int64_t work_each(int64_t k) {
    return OBJECTS * k + clv_simplex_qp_work(k);
}

static clv_status check_memberships(const predictor *p) {
    for (int64_t e = 0; e < p->n * p->k; e++) {
        if (!(p->w[e] >= 0 && isfinite(p->w[e]))) {
            return clv_fail(p->ctx, CLV_EDATA, "membership %g of object %lld in cluster %lld is not in 0..1", p->w[e],
                            (long long)(e / p->k) + 1, (long long)(e % p->k) + 1);
        }
    }
    return CLV_OK;
}

static clv_status new_predictor(clv_context *ctx, const clv_matrix *membership, int threads, predictor *p) {
    int64_t n = membership->rows, k = membership->cols, entries;
    *p = (predictor){.ctx = ctx, .n = n, .k = k, .threads = threads};
    if (n < 1 || k < 1 || !clv_mul(n, k, &entries)) {
        return clv_fail(ctx, CLV_EUSAGE, "memberships of %lld x %lld are not allowed", (long long)n, (long long)k);
    }
    p->w = CLV_NEW(ctx, double, entries);
    p->gram = CLV_NEW(ctx, double, k *k);
    p->work = CLV_NEW(ctx, double, p->threads *work_each(k));
    p->support = CLV_NEW(ctx, int64_t, p->threads * k);
    if (!p->w || !p->gram || !p->work || !p->support) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < n; i++) {
        clv_matrix_row(membership, i, p->w + i * k);
    }
    CLV_TRY(check_memberships(p));
    clv_blas_serial_begin();
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)k, (int)k, (int)n, 1, p->w, (int)k, p->w, (int)k, 0,
                p->gram, (int)k);
    clv_blas_serial_end();
    return CLV_OK;
}

/* --- some new objects --- */

/* The place of the first stored similarity of row r that cannot be one, or -1. */
static int64_t find_fault(const clv_matrix *cross, int64_t r) {
    int64_t from = clv_is_sparse(cross) ? cross->start[r] : r * cross->cols;
    int64_t to = clv_is_sparse(cross) ? cross->start[r + 1] : from + cross->cols;
    for (int64_t at = from; at < to; at++) {
        if (!clv_is_similarity(clv_stored(cross, at), 0)) {
            return at;
        }
    }
    return -1;
}

/* q of the rows first.. of a sparse matrix. */
static void gather_sparse(const predictor *p, const clv_matrix *cross, int64_t first, int64_t count, double *q) {
    memset(q, 0, (size_t)(count * p->k) * sizeof *q);
    for (int64_t r = 0; r < count; r++) {
        for (int64_t e = cross->start[first + r]; e < cross->start[first + r + 1]; e++) {
            const double *w = p->w + cross->index[e] * p->k;
            for (int64_t c = 0; c < p->k; c++) {
                q[r * p->k + c] += ((const double *)cross->values)[e] * w[c];
            }
        }
    }
}

static void gather_dense(const predictor *p, const clv_matrix *cross, int64_t first, int64_t count, double *q) {
    const double *rows = (const double *)cross->values + first * p->n;
    if (cross->scalar == CLV_F32) {
        double *wide = p->wide + omp_get_thread_num() * OBJECTS * p->n;
        for (int64_t r = 0; r < count; r++) {
            clv_matrix_row(cross, first + r, wide + r * p->n);
        }
        rows = wide;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)p->k, (int)p->n, 1, rows, (int)p->n, p->w,
                (int)p->k, 0, q, (int)p->k);
}

/* Memberships of the rows first.. of `cross`; the first row with a fault, or INT64_MAX. */
static int64_t predict_some(const predictor *p, const clv_matrix *cross, int64_t first, int64_t count, double *out) {
    double *q = p->work + omp_get_thread_num() * work_each(p->k);
    int64_t *support = p->support + omp_get_thread_num() * p->k;
    for (int64_t r = first; r < first + count; r++) {
        if (find_fault(cross, r) >= 0) {
            return r;
        }
    }
    if (clv_is_sparse(cross)) {
        gather_sparse(p, cross, first, count, q);
    } else {
        gather_dense(p, cross, first, count, q);
    }
    for (int64_t r = 0; r < count; r++) {
        clv_simplex_qp(p->gram, q + r * p->k, p->k, out + r * p->k, q + OBJECTS * p->k, support);
    }
    return INT64_MAX;
}

/* --- all of them --- */

static clv_status report_fault(const predictor *p, const clv_matrix *cross, int64_t before, int64_t r) {
    int64_t at = find_fault(cross, r), j = clv_is_sparse(cross) ? cross->index[at] : at - r * cross->cols;
    return clv_fresh_fault(p->reader, before + r, (clv_fault){j, clv_stored(cross, at)});
}

/* Memberships of the rows of `cross`, which are the new objects from `before` on. */
static clv_status predict_rows(void *user, const clv_matrix *cross, int64_t before) {
    predictor *p = user;
    int64_t bad_row = INT64_MAX;
    if (!clv_is_sparse(cross) && cross->scalar == CLV_F32 && !p->wide) {
        p->wide = CLV_NEW(p->ctx, double, p->threads *OBJECTS * p->n);
        if (!p->wide) {
            return CLV_ENOMEM;
        }
    }
    clv_blas_serial_begin();
#pragma omp parallel for num_threads(clv_team(p->threads)) schedule(static) reduction(min : bad_row)
    for (int64_t first = 0; first < cross->rows; first += OBJECTS) {
        int64_t count = cross->rows - first < OBJECTS ? cross->rows - first : OBJECTS;
        int64_t bad = predict_some(p, cross, first, count, p->out + (before + first) * p->k);
        bad_row = bad < bad_row ? bad : bad_row;
    }
    clv_blas_serial_end();
    return bad_row == INT64_MAX ? CLV_OK : report_fault(p, cross, before, bad_row);
}

static void label_rows(const double *membership, clv_result *out) {
    for (int64_t i = 0; i < out->n; i++) {
        int32_t best = 0;
        for (int32_t c = 1; c < out->k; c++) {
            best = membership[i * out->k + c] > membership[i * out->k + best] ? c : best;
        }
        out->labels[i] = best;
    }
    clv_result_count(out);
}

clv_status clv_symnmf_predict_fresh(clv_context *ctx, const clv_input *input, const void *options,
                                    const clv_result *result, const clv_fresh *fresh, clv_result **out) {
    const clv_affinity *a = fresh->similarities ? NULL : input->affinity;
    int threads = clv_threads(((const clv_control *)options)->threads);
    const clv_matrix *old;
    predictor p = {.ctx = ctx};
    clv_fresh_reader reader = {
        .ctx = ctx, .affinity = a, .n = result->n, .threads = threads, .user = &p, .use = predict_rows};
    clv_data *membership = NULL;
    CLV_TRY(clv_answer_matrix(ctx, result, "membership", result->n, result->k, &old));
    CLV_TRY(clv_prediction_new(ctx, result, a, fresh, out));
    clv_status status = clv_data_new_dense(ctx, "memberships", (*out)->n, result->k, CLV_F64, &membership);
    if (status == CLV_OK) {
        status = new_predictor(ctx, old, threads, &p);
    }
    if (status == CLV_OK) {
        p.reader = &reader;
        p.out = membership->values;
        status = clv_fresh_read(&reader, fresh);
    }
    CLV_FREE_ALL(p.ctx, p.w, p.gram, p.work, p.support, p.wide);
    if (status < 0) {
        clv_data_free(membership);
        return status;
    }
    label_rows(membership->values, *out);
    return clv_result_take(*out, "membership", CLV_FIELD_SPARSE, membership);
}
