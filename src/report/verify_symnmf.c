/* Verification of symnmf: objective and Frank-Wolfe gap of the memberships claimed, with the tolerance of the run;
 * labels that are those of the largest memberships; and what is said of the soft clusters and of the similarities. */
#include "affinity/affinity.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>

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

/* --- what is said of soft clusters --- */

static bool entropies_are_right(const clv_claim *claim, const clv_matrix *m, clv_verdict *out) {
    const double *weight = m->values;
    char what[64];
    if (claim->entropy_count != m->rows) {
        return clv_reject(out, "%lld entropies are claimed of %lld objects", (long long)claim->entropy_count,
                          (long long)m->rows);
    }
    for (int64_t i = 0; i < m->rows; i++) {
        double entropy = 0, claimed = claim->soft.entropy[i];
        for (int64_t at = m->start[i]; at < m->start[i + 1]; at++) {
            entropy -= weight[at] > 0 ? weight[at] * log(weight[at]) : 0;
        }
        if (!(fabs(claimed - entropy) <= ROUNDING)) {
            snprintf(what, sizeof what, "the entropy of object %lld", (long long)i + 1);
            return clv_reject_number(out, what, claimed, entropy);
        }
    }
    return true;
}

/* sums has room for k numbers. */
static bool sizes_are_right(const clv_claim *claim, const clv_matrix *m, double *sums, clv_verdict *out) {
    const double *weight = m->values;
    char what[64];
    if (claim->expected_count != m->cols) {
        return clv_reject(out, "%lld expected sizes are claimed of %lld clusters", (long long)claim->expected_count,
                          (long long)m->cols);
    }
    for (int64_t at = 0; at < m->start[m->rows]; at++) {
        sums[m->index[at]] += weight[at];
    }
    for (int64_t c = 0; c < m->cols; c++) {
        double claimed = claim->soft.expected_sizes[c];
        if (!(fabs(claimed - sums[c]) <= ROUNDING * (1 + sums[c]))) {
            snprintf(what, sizeof what, "the expected size of cluster %lld", (long long)c);
            return clv_reject_number(out, what, claimed, sums[c]);
        }
    }
    return true;
}

static bool similarities_are_right(const clv_claim *claim, double sum, double squares, clv_verdict *out) {
    double n = (double)claim->n;
    double mean = sum / (n * n), variation = squares > 0 ? fmax(1 - sum / n * (sum / n) / squares, 0) : 0;
    double residual = squares > 0 ? 2 * sqrt(fmax(out->objective.value, 0) / squares) : 0;
    if (!(fabs(claim->soft.residual - residual) <= ROUNDING * (1 + residual))) {
        return clv_reject_number(out, "the residual", claim->soft.residual, residual);
    }
    if (!(fabs(claim->soft.mean_similarity - mean) <= ROUNDING * mean)) {
        return clv_reject_number(out, "the mean similarity", claim->soft.mean_similarity, mean);
    }
    return fabs(claim->soft.variation - variation) <= ROUNDING ||
           clv_reject_number(out, "the variation of the similarities", claim->soft.variation, variation);
}

/* Results of the library itself may leave all of it out. */
static clv_status check_soft(clv_context *ctx, const clv_evidence *evidence, const clv_matrix *m, clv_verdict *out) {
    const clv_claim *claim = evidence->claim;
    double sum, squares, *sums = NULL;
    if (claim->soft.entropy && !entropies_are_right(claim, m, out)) {
        return CLV_OK;
    }
    if (claim->soft.expected_sizes) {
        sums = CLV_NEW0(ctx, double, m->cols);
        if (!sums) {
            return CLV_ENOMEM;
        }
        sizes_are_right(claim, m, sums, out);
        clv_free(ctx, sums);
    }
    if (isnan(claim->soft.residual)) {
        return CLV_OK;
    }
    CLV_TRY(clv_affinity_moments(evidence->affinity, evidence->threads, &sum, &squares));
    similarities_are_right(claim, sum, squares, out);
    return CLV_OK;
}

/* --- objective and gap --- */

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
    return check_soft(ctx, evidence, membership, out);
}

const clv_verifier clv_verify_symnmf = {.method = "symnmf",
                                        .table = clv_symnmf_table,
                                        .memory = symnmf_memory,
                                        .evaluate = symnmf_evaluate,
                                        .objective_scale = true};
