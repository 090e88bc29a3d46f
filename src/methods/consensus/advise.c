/* What to warn of: inputs that do not agree, and clusters of inputs that nothing joins. */
#include "methods/consensus/consensus.h"

#include "engine/result.h"

enum { FEW_OBJECTS = 50 }; /* of fewer, labels that agree by chance or not at all say little */
#define STRANGE 0.05       /* the mean adjusted Rand index to the others that chance may give */

#define WHAT_TO_CHECK                                                                                                  \
    "are they of the same objects, in the same order of rows? Files with ids are matched by them; else leave it out"

/* Labels at random, or rows in another order. */
static clv_status advise_on_agreement(const clv_groups *g, clv_result *result) {
    int64_t count, strange = 0, last = 0;
    double sum = 0;
    const double *mean = clv_result_reals(result, "inputs.mean_ari", &count);
    for (int64_t m = 0; mean && m < count; m++) {
        sum += mean[m];
        strange += mean[m] < STRANGE;
        last = mean[m] < STRANGE ? m : last;
    }
    if (!mean || g->inputs < 2 || g->n < FEW_OBJECTS || strange == 0) {
        return CLV_OK;
    }
    if (sum < STRANGE * (double)count) {
        return clv_result_warn(result,
                               "the inputs agree no better than chance, their mean adjusted Rand index is %.2f, and so "
                               "there is no consensus: are they of the same objects, in the same order of rows? Files "
                               "with ids are matched by them",
                               sum / (double)count + 0.0);
    }
    return strange == 1
               ? clv_result_warn(result, "input %lld agrees with the others no better than chance: " WHAT_TO_CHECK,
                                 (long long)last + 1)
               : clv_result_warn(result,
                                 "%lld of the %lld inputs agree with the others no better than chance (the last "
                                 "is input %lld): " WHAT_TO_CHECK,
                                 (long long)strange, (long long)count, (long long)last + 1);
}

/* --- parts --- */

static int32_t root_of(int32_t *parent, int32_t c) {
    while (parent[c] != c) {
        parent[c] = parent[parent[c]];
        c = parent[c];
    }
    return c;
}

/* Clusters of inputs that have an object in common are in one part. */
static clv_status count_parts(const clv_groups *g, int64_t *out) {
    int32_t *parent = CLV_NEW(g->ctx, int32_t, g->width);
    int64_t parts = 0;
    if (!parent) {
        return CLV_ENOMEM;
    }
    for (int64_t c = 0; c < g->width; c++) {
        parent[c] = -1; /* nobody is in it */
    }
    for (int64_t i = 0; i < g->count; i++) {
        for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
            int32_t c = g->index[e];
            parts += parent[c] < 0;
            parent[c] = parent[c] < 0 ? c : parent[c];
            int32_t a = root_of(parent, c), b = root_of(parent, g->index[g->start[i]]);
            parts -= a != b;
            parent[a] = b;
        }
    }
    clv_free(g->ctx, parent);
    *out = parts;
    return CLV_OK;
}

static clv_status advise_on_parts(const clv_groups *g, clv_result *result) {
    int64_t parts;
    CLV_TRY(count_parts(g, &parts));
    return parts > result->k ? clv_result_warn(result,
                                               "no input joins the %lld parts of the objects, and there are %lld "
                                               "clusters: which parts share one is arbitrary; try -k %lld",
                                               (long long)parts, (long long)result->k, (long long)parts)
                             : CLV_OK;
}

clv_status clv_consensus_advise(const clv_groups *g, const clv_consensus_options *options, clv_result *result) {
    CLV_TRY(advise_on_agreement(g, result));
    bool cuts = options->method == CLV_CONSENSUS_NCUT && !options->medoid && result->k > 1;
    return cuts ? advise_on_parts(g, result) : CLV_OK;
}
