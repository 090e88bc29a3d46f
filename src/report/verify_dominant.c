/* How results of dominant are verified: the peeling is replayed with the weights claimed, every cluster is compared. */
#include "report/report.h"

#include <math.h>
#include <string.h>

#define CLOSE 1e-9

static bool stopped_by(const clv_claim *claim, clv_stop stop) {
    return strcmp(claim->stop, clv_stop_name(stop)) == 0;
}

static bool is_cut_short(const clv_claim *claim) {
    return stopped_by(claim, CLV_TIME_LIMIT) || stopped_by(claim, CLV_CANCELLED);
}

/* The options of the method and of the run, as far as the claim names them. */
static clv_status options_of(clv_context *ctx, const clv_claim *claim, clv_dominant_options *out) {
    const clv_option_table *table = clv_dominant_table();
    const char *tol = clv_claim_option(claim, "tol");
    clv_dominant_defaults(out);
    for (size_t i = 0; i < table->count; i++) {
        const char *value = clv_claim_option(claim, table->options[i].name);
        if (value && table->options[i].kind != CLV_OPTION_TEXT) {
            CLV_TRY(clv_options_set(ctx, table, out, table->options[i].name, value));
        }
    }
    if (tol) {
        CLV_TRY(clv_options_set(ctx, clv_control_table(), &out->control, "tol", tol));
    }
    if (is_cut_short(claim)) {
        out->k = claim->k;
    }
    /* An interrupted run has not assigned anything any more. */
    out->assign = out->assign && !stopped_by(claim, CLV_CANCELLED);
    return CLV_OK;
}

/* The scale of the similarities is the user's: differences are relative. */
static bool is_close(double claimed, double found, double scale) {
    return fabs(claimed - found) <= CLOSE * fabs(scale);
}

static bool cluster_agrees(const clv_claim *claim, int64_t c, const clv_cluster *found, clv_verdict *out) {
    const clv_cluster *claimed = &claim->clusters[c];
    if (claimed->size != found->size || claimed->prototype != found->prototype) {
        return clv_reject(out,
                          "cluster %lld is claimed to have %lld members around object %lld, but the weights give %lld "
                          "around object %lld",
                          (long long)c, (long long)claimed->size, (long long)claimed->prototype, (long long)found->size,
                          (long long)found->prototype);
    }
    if (!is_close(claimed->cohesiveness, found->cohesiveness, found->cohesiveness)) {
        return clv_reject_number(out, "the cohesiveness of a cluster", claimed->cohesiveness, found->cohesiveness);
    }
    if (!is_close(claimed->similarity, found->similarity, found->similarity)) {
        return clv_reject_number(out, "the similarity inside a cluster", claimed->similarity, found->similarity);
    }
    if (isnan(claimed->certificate) ? !is_cut_short(claim)
                                    : !is_close(claimed->certificate, found->certificate, found->cohesiveness)) {
        return clv_reject_number(out, "the gap of a cluster", claimed->certificate, found->certificate);
    }
    return true;
}

/* What is said of the whole, against what is said of its parts. */
static bool course_agrees(const clv_claim *claim, const clv_dominant_options *options, clv_verdict *out) {
    double shift = isnan(claim->shift) ? 0 : claim->shift;
    int64_t last = claim->clusters[claim->k - 1].pass;
    if (shift != options->shift) {
        return clv_reject_number(out, "the shift", shift, options->shift);
    }
    if (claim->passes > 0 && (claim->passes < last + 1 || claim->passes > last + 2)) {
        return clv_reject(out, "%lld passes are claimed, but the last cluster is of pass %lld",
                          (long long)claim->passes, (long long)last);
    }
    for (int64_t c = 0; c < claim->k; c++) {
        if (options->multistart == 0 && claim->clusters[c].pass != c) {
            return clv_reject(out, "cluster %lld is claimed to be of pass %lld, but they were peeled one by one",
                              (long long)c, (long long)claim->clusters[c].pass);
        }
        if (stopped_by(claim, CLV_CONVERGED) && claim->clusters[c].stop != CLV_CONVERGED) {
            return clv_reject(out, "the run is claimed to have converged, but cluster %lld stopped by '%s'",
                              (long long)c, clv_stop_name(claim->clusters[c].stop));
        }
    }
    return true;
}

/* Of clusters that are equally far from their tolerances, but for rounding, the one whose tolerance is claimed; where
 * no gap is, one without a gap. */
static void settle_tie(const clv_claim *claim, const clv_cluster *found, double tol, clv_verdict *out) {
    double most = out->certificate.value - out->certificate.tolerance;
    for (int64_t c = 0; c < claim->k; c++) {
        double tolerance = tol * found[c].similarity;
        bool tied = isnan(claim->certificate) ? isnan(claim->clusters[c].certificate)
                                              : is_close(found[c].certificate - tolerance, most, out->objective.value);
        if (tied && is_close(claim->tolerance, tolerance, tolerance)) {
            out->certificate.value = found[c].certificate;
            out->certificate.tolerance = tolerance;
            return;
        }
    }
}

static clv_status compare(clv_context *ctx, const clv_evidence *evidence, const clv_dominant_options *options,
                          int64_t *pass, clv_cluster *found, clv_verdict *out) {
    const clv_claim *claim = evidence->claim;
    if (!course_agrees(claim, options, out)) {
        return CLV_OK;
    }
    for (int64_t c = 0; c < claim->k; c++) {
        pass[c] = claim->clusters[c].pass;
    }
    CLV_TRY(clv_dominant_evaluate(ctx, evidence->affinity, options, clv_data_matrix(claim->membership), pass,
                                  claim->labels, &out->objective, &out->certificate, found));
    for (int64_t c = 0; c < claim->k; c++) {
        if (!cluster_agrees(claim, c, &found[c], out)) {
            return CLV_OK;
        }
    }
    settle_tie(claim, found, isnan(options->control.tol) ? 1e-6 : options->control.tol, out);
    return CLV_OK;
}

static clv_status evaluate(clv_context *ctx, const clv_evidence *evidence, clv_verdict *out) {
    const clv_claim *claim = evidence->claim;
    clv_dominant_options options;
    if (!claim->membership || !claim->clusters || claim->k < 1) {
        clv_reject(out, "the claim says nothing of its clusters or of the weights in them");
        return CLV_OK;
    }
    clv_status status = options_of(ctx, claim, &options);
    if (status == CLV_EUSAGE) {
        clv_reject(out, "the claim cannot be: %s", clv_message(ctx));
        return CLV_OK;
    }
    CLV_TRY(status);
    options.control.threads = evidence->threads;
    int64_t *pass = CLV_NEW(ctx, int64_t, claim->k);
    clv_cluster *found = CLV_NEW0(ctx, clv_cluster, claim->k);
    status = pass && found ? compare(ctx, evidence, &options, pass, found, out) : CLV_ENOMEM;
    clv_free(ctx, pass);
    clv_free(ctx, found);
    return status;
}

static size_t memory(const clv_claim *claim, const clv_matrix *points) {
    clv_dominant_options options;
    clv_dominant_defaults(&options);
    options.control.threads = 1;
    options.k = claim->k;
    return clv_dominant_memory(points->rows, CLV_HOME_AUTO, &options);
}

static void adapt(const clv_claim *claim, clv_affinity_options *how) {
    clv_dominant_options options;
    const char *shift = clv_claim_option(claim, "shift");
    clv_dominant_defaults(&options);
    if (shift && clv_options_set(claim->ctx, clv_dominant_table(), &options, "shift", shift) == CLV_OK) {
        how->least = -options.shift;
    }
    how->zero_diagonal = 1;
}

const clv_verifier clv_verify_dominant = {.method = "dominant",
                                          .table = clv_dominant_table,
                                          .memory = memory,
                                          .evaluate = evaluate,
                                          .adapt = adapt,
                                          .k_at_most = true,
                                          .objective_scale = true};
