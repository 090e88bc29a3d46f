/* Verification of symnmf: objective and Frank-Wolfe gap of the memberships claimed, with the tolerance of the run, and
 * labels that are those of the largest memberships. Entropies and expected sizes follow from the memberships and are
 * not looked at. */
#include "report/report.h"

#include <math.h>

#define ROUNDING 1e-8
/* Of the method, where the claim names none. */
#define TOLERANCE 1e-4

static size_t symnmf_memory(const clv_claim *claim, const clv_matrix *points) {
    clv_symnmf_options options;
    clv_symnmf_defaults(&options);
    options.k = claim->k;
    options.start = "random";
    options.control.threads = 1;
    return clv_symnmf_memory(points->rows, CLV_HOME_AUTO, &options);
}

/* Every label is that of a largest membership, the first of them. */
static bool labels_are_largest(const clv_claim *claim, const clv_matrix *m, clv_verdict *out) {
    const double *weight = m->values;
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t best = -1;
        for (int64_t at = m->start[i]; at < m->start[i + 1]; at++) {
            best = best < 0 || weight[at] > weight[best] ? at : best;
        }
        if (best < 0 || claim->labels[i] != m->index[best]) {
            return clv_reject(out, "label %d is claimed of object %lld, but its largest membership is another one",
                              (int)claim->labels[i], (long long)i + 1);
        }
    }
    return true;
}

/* Near 0, f is a difference of numbers of the size of |P|^2, and keeps few of their digits. With `scale` the unit of
 * the tolerance, the larger of f and a share of |P|^2, what lies closer than ROUNDING of it is the same number. */
static void allow_rounding(const clv_claim *claim, double scale, clv_verdict *out) {
    if (fabs(claim->objective - out->objective.value) <= ROUNDING * scale) {
        out->objective.value = claim->objective;
    }
    if (fabs(claim->certificate - out->certificate.value) <= ROUNDING * scale) {
        out->certificate.value = claim->certificate;
    }
    if (fabs(claim->tolerance - out->certificate.tolerance) <= ROUNDING * out->certificate.tolerance) {
        out->certificate.tolerance = claim->tolerance;
    }
}

static clv_status symnmf_evaluate(clv_context *ctx, const clv_evidence *evidence, clv_verdict *out) {
    const clv_claim *claim = evidence->claim;
    const char *given = clv_claim_option(claim, "tol");
    clv_control control = {0};
    if (!claim->membership) {
        clv_reject(out, "the claim has no memberships");
        return CLV_OK;
    }
    clv_options_defaults(clv_control_table(), &control);
    if (given && clv_options_set(ctx, clv_control_table(), &control, "tol", given) < 0) {
        clv_reject(out, "the claim cannot be: %s", clv_message(ctx));
        return CLV_OK;
    }
    const clv_matrix *membership = clv_data_matrix(claim->membership);
    if (!labels_are_largest(claim, membership, out)) {
        return CLV_OK;
    }
    /* A tolerance of 0 has no unit: that of the method's own serves for rounding. */
    double tol = control.tol > 0 ? control.tol : TOLERANCE;
    CLV_TRY(clv_symnmf_evaluate(ctx, evidence->affinity, membership, tol, evidence->threads, &out->objective,
                                &out->certificate));
    allow_rounding(claim, out->certificate.tolerance / tol, out);
    if (control.tol <= 0) {
        out->certificate.tolerance = 0;
        out->certificate.holds = out->certificate.value <= 0;
    }
    return CLV_OK;
}

const clv_verifier clv_verify_symnmf = {.method = "symnmf",
                                        .table = clv_symnmf_table,
                                        .memory = symnmf_memory,
                                        .evaluate = symnmf_evaluate,
                                        .objective_scale = true};
