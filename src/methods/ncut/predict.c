/* Labels of new objects by the rule of fractional programming, formula (28): with S_c the similarity of the new object
 * to the members of cluster c and d their sum,
 *
 *   it goes to the cluster with the largest mu_c = 2 S_c / V_c - d N_c / V_c^2
 *
 * where V and N are those of the clustered objects, which the new one does not change. V and N cost one pass over the
 * affinity and k n doubles; a new object costs its n similarities. Ties go to the smaller cluster number; a cluster
 * without volume is never chosen. */
#include "methods/ncut/ncut.h"

#include "affinity/affinity.h"

#include <math.h>
#include <omp.h>

/* Similarities of so many bytes are held at a time when they are made from points. */
enum { BLOCK_BYTES = 1 << 25 };

typedef struct predictor {
    clv_context *ctx;
    const int32_t *labels;
    int64_t n, k;
    int threads;
    double *volume, *within; /* k */
    double *similar;         /* threads x k: S_c of the object at hand */
} predictor;

static void free_predictor(predictor *p) {
    clv_free(p->ctx, p->volume);
    clv_free(p->ctx, p->within);
    clv_free(p->ctx, p->similar);
}

static clv_status check_labels(const predictor *p) {
    if (p->k < 1) {
        return clv_fail(p->ctx, CLV_EUSAGE, "k = %lld: there must be at least one cluster", (long long)p->k);
    }
    for (int64_t i = 0; i < p->n; i++) {
        if (p->labels[i] < -1 || p->labels[i] >= p->k) {
            return clv_fail(p->ctx, CLV_EDATA, "label %d of object %lld is outside -1..%lld", (int)p->labels[i],
                            (long long)i + 1, (long long)p->k - 1);
        }
    }
    return CLV_OK;
}

/* V and N from S: the degree of an object is its similarity to all that have a label. */
static void measure(predictor *p, const double *sums) {
    for (int64_t c = 0; c < p->k; c++) {
        for (int64_t i = 0; i < p->n; i++) {
            int32_t own = p->labels[i];
            if (own >= 0) {
                p->volume[own] += sums[c * p->n + i];
                p->within[own] += own == c ? sums[c * p->n + i] : 0;
            }
        }
    }
}

static clv_status new_predictor(predictor *p, const clv_affinity *a) {
    int64_t entries;
    CLV_TRY(check_labels(p));
    if (!clv_mul(p->k, p->n, &entries)) {
        return clv_fail(p->ctx, CLV_ENOMEM, "%lld x %lld sums are more than memory can address", (long long)p->k,
                        (long long)p->n);
    }
    p->volume = CLV_NEW0(p->ctx, double, p->k);
    p->within = CLV_NEW0(p->ctx, double, p->k);
    p->similar = CLV_NEW(p->ctx, double, p->k * p->threads);
    double *sums = CLV_NEW(p->ctx, double, entries);
    clv_status status = CLV_ENOMEM;
    if (p->volume && p->within && p->similar && sums) {
        status = clv_affinity_group_sums(a, p->labels, p->k, sums, p->threads);
    }
    if (status == CLV_OK) {
        measure(p, sums);
    }
    clv_free(p->ctx, sums);
    return status;
}

/* --- one object --- */

static int32_t best_cluster(const predictor *p, const double *similar) {
    double degree = 0, highest = -HUGE_VAL;
    int32_t best = -1;
    for (int64_t c = 0; c < p->k; c++) {
        degree += similar[c];
    }
    for (int64_t c = 0; c < p->k && degree > 0; c++) {
        double volume = p->volume[c];
        double score = volume > 0 ? (2 * similar[c] - degree * p->within[c] / volume) / volume : -HUGE_VAL;
        if (score > highest) {
            highest = score;
            best = (int32_t)c;
        }
    }
    return best;
}

static double entry_at(const clv_matrix *cross, int64_t at) {
    return cross->scalar == CLV_F32 && !clv_is_sparse(cross) ? (double)((const float *)cross->values)[at]
                                                             : ((const double *)cross->values)[at];
}

/* The label of row r; or in *fault the place of a stored similarity that cannot be one. */
static int32_t predict_row(const predictor *p, const clv_matrix *cross, int64_t r, double *similar, int64_t *fault) {
    bool sparse = clv_is_sparse(cross);
    int64_t from = sparse ? cross->start[r] : r * p->n, to = sparse ? cross->start[r + 1] : from + p->n;
    *fault = -1;
    for (int64_t c = 0; c < p->k; c++) {
        similar[c] = 0;
    }
    for (int64_t at = from; at < to; at++) {
        int64_t j = sparse ? cross->index[at] : at - from;
        double value = entry_at(cross, at);
        if (!(value >= 0 && isfinite(value))) {
            *fault = at;
            return -1;
        }
        if (p->labels[j] >= 0) {
            similar[p->labels[j]] += value;
        }
    }
    return best_cluster(p, similar);
}

/* --- all objects --- */

static clv_status report_fault(const predictor *p, const clv_matrix *cross, int64_t first, int64_t r, int64_t at) {
    int64_t j = clv_is_sparse(cross) ? cross->index[at] : at - r * p->n;
    return clv_fail(p->ctx, CLV_EDATA,
                    "the similarity of new object %lld to object %lld is %g; it must be finite and not negative",
                    (long long)(first + r) + 1, (long long)j + 1, entry_at(cross, at));
}

/* Labels of the rows of `cross`, which are the new objects from `first` on. */
static clv_status predict_rows(const predictor *p, const clv_matrix *cross, int64_t first, int32_t *out) {
    int64_t bad_row = INT64_MAX;
#pragma omp parallel for num_threads(p->threads) schedule(static) reduction(min : bad_row)
    for (int64_t r = 0; r < cross->rows; r++) {
        int64_t fault;
        out[first + r] = predict_row(p, cross, r, p->similar + omp_get_thread_num() * p->k, &fault);
        if (fault >= 0 && r < bad_row) {
            bad_row = r;
        }
    }
    if (bad_row < INT64_MAX) {
        int64_t fault;
        predict_row(p, cross, bad_row, p->similar, &fault);
        return report_fault(p, cross, first, bad_row, fault);
    }
    return CLV_OK;
}

static clv_status check_columns(const predictor *p, const clv_matrix *cross) {
    if (cross->cols != p->n) {
        return clv_fail(p->ctx, CLV_EDATA,
                        "the similarities of the new objects have %lld columns, but there are %lld objects",
                        (long long)cross->cols, (long long)p->n);
    }
    return CLV_OK;
}

clv_status clv_ncut_predict(clv_context *ctx, const clv_affinity *a, const int32_t *labels, int64_t k,
                            const clv_matrix *cross, int64_t threads, int32_t *out) {
    predictor p = {.ctx = ctx, .labels = labels, .n = clv_affinity_size(a), .k = k, .threads = clv_threads(threads)};
    CLV_TRY(check_columns(&p, cross));
    clv_status status = new_predictor(&p, a);
    if (status == CLV_OK) {
        status = predict_rows(&p, cross, 0, out);
    }
    free_predictor(&p);
    return status;
}

/* --- from points --- */

/* How many rows to take at a time: whole panels, at least one. */
static int64_t rows_of_block(const clv_cross *cross) {
    int64_t row = cross->kind == CLV_AFFINITY_KNN ? 24 * cross->neighbours : 8 * cross->n;
    int64_t panels = BLOCK_BYTES / (row * CLV_TILE);
    return (panels > 1 ? panels : 1) * CLV_TILE;
}

static clv_status predict_blocks(const predictor *p, const clv_cross *cross, const clv_matrix *fresh, int32_t *out) {
    int64_t step = rows_of_block(cross);
    CLV_TRY(clv_cross_check(cross, fresh));
    for (int64_t first = 0; first < fresh->rows; first += step) {
        int64_t rows = fresh->rows - first < step ? fresh->rows - first : step;
        clv_matrix part = clv_matrix_part(fresh, first, rows);
        clv_data *similarities;
        if (clv_interrupted(p->ctx)) {
            return clv_fail(p->ctx, CLV_EINTERRUPTED, "interrupted");
        }
        CLV_TRY(clv_cross_rows(cross, &part, p->threads, &similarities));
        clv_status status = predict_rows(p, clv_data_matrix(similarities), first, out);
        clv_data_free(similarities);
        CLV_TRY(status);
    }
    return CLV_OK;
}

clv_status clv_ncut_predict_points(clv_context *ctx, const clv_affinity *a, const int32_t *labels, int64_t k,
                                   const clv_matrix *points, const clv_affinity_options *options,
                                   const clv_matrix *fresh, int64_t threads, int32_t *out) {
    predictor p = {.ctx = ctx, .labels = labels, .n = clv_affinity_size(a), .k = k, .threads = clv_threads(threads)};
    clv_cross cross;
    clv_status status = clv_cross_new(ctx, a, points, options, p.threads, &cross);
    if (status == CLV_OK) {
        status = new_predictor(&p, a);
    }
    if (status == CLV_OK) {
        status = predict_blocks(&p, &cross, fresh, out);
    }
    free_predictor(&p);
    clv_cross_free(&cross);
    return status;
}
