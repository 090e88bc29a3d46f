/* The normalized cut of a labeling (Shi and Malik 2000), 1/2 sum_c cut(c, rest) / vol(c), over the objects with a
 * label. A cluster without volume (isolated objects only) has no association either and counts 1/2, as it does in the
 * objective of the method. One pass over the affinity; k n sums. */
#include "metrics/metrics.h"

#include "affinity/affinity.h"

typedef struct cut {
    clv_context *ctx;
    clv_kept kept;
    int64_t n, k;
    int32_t *ids;   /* n: cluster 0..k-1 or -1 */
    double *sums;   /* k x n: weight between an object and a cluster */
    double *within; /* k: weight inside a cluster */
    double *across; /* k: weight between a cluster and the others; not volume less `within`, which would cancel */
} cut;

static clv_status new_cut(cut *c, const int32_t *labels) {
    int64_t entries;
    c->ids = CLV_TAKE(&c->kept, int32_t, c->n);
    CLV_TRY(c->kept.status);
    CLV_TRY(clv_labels_compress(c->ctx, labels, c->n, c->ids, &c->k));
    if (c->k < 1) {
        return clv_fail(c->ctx, CLV_EDATA, "the normalized cut needs a labeled object: all %lld are left out",
                        (long long)c->n);
    }
    if (!clv_mul(c->k, c->n, &entries)) {
        return clv_fail(c->ctx, CLV_ENOMEM, "sums for %lld clusters of %lld objects are more than can be addressed",
                        (long long)c->k, (long long)c->n);
    }
    c->sums = CLV_TAKE(&c->kept, double, entries);
    c->within = CLV_TAKE0(&c->kept, double, c->k);
    c->across = CLV_TAKE0(&c->kept, double, c->k);
    return c->kept.status;
}

static double add_up(cut *c) {
    for (int64_t to = 0; to < c->k; to++) {
        const double *sums = c->sums + to * c->n;
        for (int64_t i = 0; i < c->n; i++) {
            if (c->ids[i] == to) {
                c->within[to] += sums[i];
            } else if (c->ids[i] >= 0) {
                c->across[c->ids[i]] += sums[i];
            }
        }
    }
    double total = 0;
    for (int64_t j = 0; j < c->k; j++) {
        double volume = c->within[j] + c->across[j];
        total += volume > 0 ? c->across[j] / volume : 1.0;
    }
    return total / 2;
}

clv_status clv_ncut_value(clv_context *ctx, const clv_affinity *a, const int32_t *labels, int64_t threads,
                          double *out) {
    CLV_NEED(ctx, a);
    CLV_NEED(ctx, labels);
    cut c = {.ctx = ctx, .kept.ctx = ctx, .n = clv_affinity_size(a)};
    if (clv_affinity_context(a) != ctx) {
        return clv_fail(ctx, CLV_EUSAGE, "the affinity was made in another context than its cut is asked for in");
    }
    CLV_TRY(clv_labels_check(ctx, "labels", labels, c.n));
    clv_status status = new_cut(&c, labels);
    if (status == CLV_OK) {
        status = clv_affinity_group_sums(a, c.ids, c.k, c.sums, threads);
    }
    if (status == CLV_OK) {
        *out = add_up(&c);
    }
    clv_free_kept(&c.kept);
    return status;
}
