/* Whether the memberships, centers and clusters of a claim can be, by their shape and their ranges: O(entries). What
 * they are worth is for the method's evaluation to say. Their numbers are finite, as JSON has no others. */
#include "linalg/linalg.h"
#include "report/report.h"

static bool membership_possible(const clv_claim *claim, clv_verdict *out) {
    const clv_matrix *m = clv_data_matrix(claim->membership);
    const double *weight = m->values;
    if (m->rows != claim->n) {
        return clv_reject(out, "memberships of %lld objects are claimed, but there are %lld", (long long)m->rows,
                          (long long)claim->n);
    }
    for (int64_t i = 0; i < m->rows; i++) {
        for (int64_t at = m->start[i]; at < m->start[i + 1]; at++) {
            if (!(weight[at] >= 0)) {
                return clv_reject(out, "the membership of object %lld in cluster %lld is claimed to be below 0",
                                  (long long)i + 1, (long long)m->index[at]);
            }
        }
    }
    return true;
}

static bool centers_possible(const clv_claim *claim, const clv_matrix *points, clv_verdict *out) {
    const clv_matrix *m = clv_data_matrix(claim->centers);
    if (m->rows != claim->k) {
        return clv_reject(out, "%lld centers are claimed for %lld clusters", (long long)m->rows, (long long)claim->k);
    }
    return m->cols == points->cols || clv_reject(out, "centers of %lld coordinates are claimed, but the data have %lld",
                                                 (long long)m->cols, (long long)points->cols);
}

/* Objects may be assigned to a cluster after it was found, or lost to another one that shares them: its size is bounded
 * by the number of objects alone. */
static bool clusters_possible(const clv_claim *claim, clv_verdict *out) {
    int64_t passes = claim->passes > 0 ? claim->passes : claim->clusters_count; /* not said: one a cluster */
    if (claim->clusters_count != claim->k) {
        return clv_reject(out, "%lld clusters are described, but there are %lld", (long long)claim->clusters_count,
                          (long long)claim->k);
    }
    for (int64_t c = 0; c < claim->clusters_count; c++) {
        const clv_cluster *cluster = &claim->clusters[c];
        if (cluster->size < 1 || cluster->size > claim->n) {
            return clv_reject(out, "cluster %lld is claimed to have been found with %lld of %lld objects", (long long)c,
                              (long long)cluster->size, (long long)claim->n);
        }
        if (cluster->prototype >= claim->n) {
            return clv_reject(out, "object %lld, the prototype claimed of cluster %lld, is not there",
                              (long long)cluster->prototype, (long long)c);
        }
        if (cluster->pass >= passes) {
            return clv_reject(out, "cluster %lld is claimed to have been found in pass %lld of %lld", (long long)c,
                              (long long)cluster->pass, (long long)passes);
        }
    }
    return true;
}

bool clv_claim_check_model(const clv_claim *claim, const clv_matrix *points, clv_verdict *out) {
    return (!claim->membership || membership_possible(claim, out)) &&
           (!claim->centers || centers_possible(claim, points, out)) &&
           (!claim->clusters || clusters_possible(claim, out));
}
