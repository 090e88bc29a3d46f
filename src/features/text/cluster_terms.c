/* The terms that tell the documents of a cluster from the others.
 *
 * Of N documents, N_c in the cluster and N_o outside, a and b have the term. Shares are compared by their log odds
 * ratio with ALPHA documents more on either side that are as the corpus is, over its standard error (the z-score of
 * Monroe, Colaresi and Quinn 2008, with documents for occurrences: one long document cannot decide):
 *
 *   p = (a + b + 1/2) / (N + 1),   A = a + ALPHA p,   B = b + ALPHA p
 *   A' = N_c - a + ALPHA (1 - p),  B' = N_o - b + ALPHA (1 - p)
 *   score = (ln(A / A') - ln(B / B')) / sqrt(1/A + 1/A' + 1/B + 1/B')
 *
 * Only terms with a / N_c > b / N_o are listed. Cost: one pass over the occurrences, a score for each term of each
 * cluster; memory for a few numbers per term. */
#include "features/text/text.h"

#include <math.h>
#include <string.h>

#define ALPHA 1.0

typedef struct counting {
    clv_kept kept;
    const clv_matrix *x;
    int64_t *all, *inside;  /* documents of a term: in the corpus, in the cluster */
    int32_t *touched;       /* terms that the cluster has */
    int64_t *order, *begin; /* documents by cluster; begin: k + 1 */
} counting;

static double score_of(double a, double b, double in, double out) {
    double p = (a + b + 0.5) / (in + out + 1);
    double with = a + ALPHA * p, without = in - a + ALPHA * (1 - p);
    double other_with = b + ALPHA * p, other_without = out - b + ALPHA * (1 - p);
    double error = sqrt(1 / with + 1 / without + 1 / other_with + 1 / other_without);
    return (log(with / without) - log(other_with / other_without)) / error;
}

/* A term into the list of the best ones, before those with a lower score and, among equals, with a higher number. */
static void offer(int32_t term, double score, int64_t top, int32_t *terms, double *scores) {
    int64_t at = top;
    while (at > 0 &&
           (terms[at - 1] < 0 || score > scores[at - 1] || (score == scores[at - 1] && term < terms[at - 1]))) {
        at--;
    }
    if (at < top) {
        memmove(terms + at + 1, terms + at, (size_t)(top - at - 1) * sizeof *terms);
        memmove(scores + at + 1, scores + at, (size_t)(top - at - 1) * sizeof *scores);
        terms[at] = term;
        scores[at] = score;
    }
}

static void rank_cluster(counting *c, int64_t cluster, int64_t top, int32_t *terms, double *scores) {
    int64_t count = 0, size = c->begin[cluster + 1] - c->begin[cluster], others = c->x->rows - size;
    for (int64_t i = c->begin[cluster]; i < c->begin[cluster + 1]; i++) {
        for (int64_t e = c->x->start[c->order[i]]; e < c->x->start[c->order[i] + 1]; e++) {
            int32_t term = c->x->index[e];
            if (c->inside[term]++ == 0) {
                c->touched[count++] = term;
            }
        }
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t term = c->touched[i];
        int64_t in = c->inside[term], out = c->all[term] - in;
        if ((double)in * (double)others > (double)out * (double)size) {
            offer(term, score_of((double)in, (double)out, (double)size, (double)others), top, terms, scores);
        }
        c->inside[term] = 0;
    }
}

static clv_status sort_documents(counting *c, const int32_t *labels, int64_t k) {
    for (int64_t d = 0; d < c->x->rows; d++) {
        if (labels[d] >= k) {
            return clv_fail(c->kept.ctx, CLV_EUSAGE, "the label %d of document %lld is not below %lld", labels[d],
                            (long long)d + 1, (long long)k);
        }
        c->begin[labels[d] >= 0 ? labels[d] + 1 : 0]++;
        for (int64_t e = c->x->start[d]; e < c->x->start[d + 1]; e++) {
            c->all[c->x->index[e]]++;
        }
    }
    c->begin[0] = 0;
    for (int64_t i = 0; i < k; i++) {
        c->begin[i + 1] += c->begin[i];
    }
    int64_t end = c->begin[k];
    for (int64_t d = c->x->rows - 1; d >= 0; d--) { /* from the ends of the clusters down to where they begin */
        if (labels[d] >= 0) {
            c->order[--c->begin[labels[d] + 1]] = d;
        }
    }
    memmove(c->begin, c->begin + 1, (size_t)k * sizeof *c->begin);
    c->begin[k] = end;
    return CLV_OK;
}

clv_status clv_cluster_terms(clv_context *ctx, const clv_matrix *documents, const int32_t *labels, int64_t k,
                             int64_t top, int32_t *terms, double *scores) {
    CLV_NEED(ctx, documents);
    CLV_NEED(ctx, labels);
    counting c = {.kept.ctx = ctx, .x = documents};
    CLV_TRY(clv_is_sparse(documents) ? clv_csr_check(ctx, "the documents", documents, false)
                                     : clv_fail(ctx, CLV_EUSAGE, "the documents are dense; a sparse matrix is needed"));
    c.all = CLV_TAKE0(&c.kept, int64_t, documents->cols);
    c.inside = CLV_TAKE0(&c.kept, int64_t, documents->cols);
    c.touched = CLV_TAKE(&c.kept, int32_t, documents->cols);
    c.order = CLV_TAKE(&c.kept, int64_t, documents->rows);
    c.begin = CLV_TAKE0(&c.kept, int64_t, k + 1);
    clv_status status = c.kept.status;
    if (status == CLV_OK) {
        status = sort_documents(&c, labels, k);
    }
    for (int64_t i = 0; status == CLV_OK && i < k; i++) {
        for (int64_t t = 0; t < top; t++) {
            terms[i * top + t] = -1;
            scores[i * top + t] = 0;
        }
        rank_cluster(&c, i, top, terms + i * top, scores + i * top);
    }
    clv_free_kept(&c.kept);
    return status;
}
