/* Labels of new objects by the rule of fractional programming, formula (28): with S_c the similarity of the new object
 * to the members of cluster c and d their sum,
 *
 *   it goes to the cluster with the largest mu_c = 2 S_c / V_c - d N_c / V_c^2
 *
 * where V and N are those of the clustered objects, which the new one does not change. V and N cost one pass over the
 * affinity and k n doubles; a new object costs its n similarities. Ties go to the smaller cluster number; a cluster
 * without volume is never chosen. */
#include "methods/ncut/ncut.h"

#include "methods/fresh.h"

#include <math.h>

typedef struct predictor {
    clv_context *ctx;
    const clv_affinity *affinity;
    const int32_t *labels;
    int64_t n, k;
    int threads;
    double *volume, *within; /* k */
} predictor;

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

/* V and N, whether similarities are given or made. */
static clv_status prepare(void *user, clv_cross *cross) {
    predictor *p = user;
    int64_t entries;
    (void)cross;
    if (p->k < 1) {
        return clv_fail(p->ctx, CLV_EUSAGE, "k = %lld: there must be at least one cluster", (long long)p->k);
    }
    CLV_TRY(clv_check_labels(p->ctx, p->labels, p->n, p->k));
    if (!clv_mul(p->k, p->n, &entries)) {
        return clv_fail(p->ctx, CLV_ENOMEM, "%lld x %lld sums are more than can be addressed", (long long)p->k,
                        (long long)p->n);
    }
    p->volume = CLV_NEW0(p->ctx, double, p->k);
    p->within = CLV_NEW0(p->ctx, double, p->k);
    double *sums = CLV_NEW(p->ctx, double, entries);
    clv_status status = CLV_ENOMEM;
    if (p->volume && p->within && sums) {
        status = clv_affinity_group_sums(p->affinity, p->labels, p->k, sums, p->threads);
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

/* A rule as in fresh.h. */
static int32_t predict_row(const void *user, const clv_matrix *cross, int64_t row, double *similar, clv_fault *fault) {
    const predictor *p = user;
    bool sparse = clv_is_sparse(cross);
    int64_t from = sparse ? cross->start[row] : row * p->n, to = sparse ? cross->start[row + 1] : from + p->n;
    for (int64_t c = 0; c < p->k; c++) {
        similar[c] = 0;
    }
    for (int64_t at = from; at < to; at++) {
        int64_t j = sparse ? cross->index[at] : at - from;
        double value = clv_stored(cross, at);
        if (!clv_is_similarity(value, 0)) {
            *fault = (clv_fault){j, value};
            return -1;
        }
        if (p->labels[j] >= 0) {
            similar[p->labels[j]] += value;
        }
    }
    return best_cluster(p, similar);
}

clv_status clv_ncut_predict_fresh(clv_context *ctx, const clv_input *input, const void *options,
                                  const clv_result *result, const clv_fresh *fresh, clv_result **out) {
    const clv_affinity *a = input->affinity;
    int threads = clv_threads(((const clv_control *)options)->threads);
    predictor p = {
        .ctx = ctx, .affinity = a, .labels = result->labels, .n = result->n, .k = result->k, .threads = threads};
    clv_fresh_reader reader = {
        .ctx = ctx, .affinity = a, .n = p.n, .threads = threads, .user = &p, .prepare = prepare, .rule = predict_row};
    if (!a || !result->labels) {
        return clv_fail(ctx, CLV_EUSAGE,
                        "ncut labels new objects by the affinity and the labels of the old ones, but there "
                        "are no %s",
                        a ? "labels" : "similarities of these");
    }
    CLV_TRY(clv_prediction_new(ctx, result, a, fresh, out));
    reader.out = *out;
    clv_status status = clv_fresh_read(&reader, fresh);
    clv_free(ctx, p.volume);
    clv_free(ctx, p.within);
    return status;
}
