/* How results of kpalm are verified: sigma and the smallest subgradient of the centers and memberships claimed, from
 * the points alone, and from the sample weights where there were any. */
#include "linalg/linalg.h"
#include "report/report.h"

#include <string.h>

/* The options of the method and of the run that the numbers depend on. */
static clv_status options_of(clv_context *ctx, const clv_claim *claim, clv_kpalm_options *out) {
    static const char *const names[] = {"k", "solver", "norm", "epsilon"};
    const char *tol = clv_claim_option(claim, "tol");
    clv_kpalm_defaults(out);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = clv_claim_option(claim, names[i]);
        if (value) {
            CLV_TRY(clv_options_set(ctx, clv_kpalm_table(), out, names[i], value));
        }
    }
    CLV_TRY(clv_options_set(ctx, clv_kpalm_table(), out, "solver", claim->solver));
    if (tol) {
        CLV_TRY(clv_options_set(ctx, clv_control_table(), &out->control, "tol", tol));
    }
    out->k = claim->k;
    return CLV_OK;
}

/* The sample weights, one for each object. */
static clv_status sample_of(clv_context *ctx, const clv_evidence *evidence, double **out) {
    const char *claimed = clv_claim_option(evidence->claim, "sample-weights");
    bool weighted = claimed && *claimed;
    int64_t n = evidence->points->rows;
    *out = NULL;
    if (weighted != (evidence->second != NULL)) {
        return clv_fail(ctx, CLV_EUSAGE,
                        weighted ? "the result was found with sample weights: give them as the last file"
                                 : "the result was found without sample weights: only its data are needed");
    }
    if (!weighted) {
        return CLV_OK;
    }
    const clv_matrix *weights = clv_data_matrix(evidence->second);
    if (clv_is_sparse(weights) || weights->rows * weights->cols != n) {
        return clv_fail(ctx, CLV_EDATA, "there are %lld x %lld sample weights for %lld objects",
                        (long long)weights->rows, (long long)weights->cols, (long long)n);
    }
    *out = CLV_NEW(ctx, double, n);
    for (int64_t i = 0; *out && i < weights->rows; i++) {
        clv_matrix_row(weights, i, *out + i * weights->cols);
    }
    return *out ? CLV_OK : CLV_ENOMEM;
}

/* A label is that of the largest membership. */
static bool labels_follow(const clv_claim *claim, clv_verdict *out) {
    const clv_matrix *m = clv_data_matrix(claim->membership);
    const double *weight = m->values;
    for (int64_t i = 0; i < claim->n; i++) {
        double most = 0, own = 0;
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            most = weight[e] > most ? weight[e] : most;
            own = m->index[e] == claim->labels[i] ? weight[e] : own;
        }
        if (own < most) {
            return clv_reject(out, "object %lld has the label %d, but a larger membership in another cluster",
                              (long long)i + 1, (int)claim->labels[i]);
        }
    }
    return true;
}

static clv_status evaluate(clv_context *ctx, const clv_evidence *evidence, clv_verdict *out) {
    const clv_claim *claim = evidence->claim;
    clv_kpalm_options options;
    double *sample;
    if (!claim->centers) {
        clv_reject(out, "the claim says nothing of its centers");
        return CLV_OK;
    }
    clv_status status = options_of(ctx, claim, &options);
    if (status == CLV_EUSAGE) {
        clv_reject(out, "the claim cannot be: %s", clv_message(ctx));
        return CLV_OK;
    }
    CLV_TRY(status);
    if (claim->membership && !labels_follow(claim, out)) {
        return CLV_OK;
    }
    CLV_TRY(sample_of(ctx, evidence, &sample));
    options.control.threads = evidence->threads;
    options.sample_weights = sample;
    status = clv_kpalm_evaluate(ctx, evidence->points, &options, claim->labels,
                                claim->membership ? clv_data_matrix(claim->membership) : NULL,
                                clv_data_matrix(claim->centers), &out->objective, &out->certificate);
    clv_free(ctx, sample);
    return status;
}

static size_t memory(const clv_claim *claim, const clv_matrix *points) {
    clv_kpalm_options options;
    clv_kpalm_defaults(&options);
    options.k = claim->k;
    options.solver = CLV_KPALM_LLOYD;
    options.control.threads = 1;
    return clv_kpalm_memory(points, &options);
}

const clv_verifier clv_verify_kpalm = {.method = "kpalm",
                                       .table = clv_kpalm_table,
                                       .memory = memory,
                                       .evaluate = evaluate,
                                       .points_only = true,
                                       .second_possible = true,
                                       .objective_scale = true};
