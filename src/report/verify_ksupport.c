/* How results of ksupport and pursuit are verified: the weights claimed are evaluated on the data. */
#include "linalg/linalg.h"
#include "methods/ksupport/ksupport.h"
#include "report/report.h"

#include <string.h>

/* Every option of the method, and the tolerance, that the claim names; false: rejected. */
static bool take_options(clv_context *ctx, const clv_claim *claim, const clv_option_table *table, void *options,
                         clv_verdict *out) {
    for (int64_t i = 0; i < claim->options_count; i++) {
        const char *name = claim->options[i].name;
        const clv_option_table *of = clv_options_find(table, name) ? table : clv_control_table();
        bool needed = of == table || strcmp(name, "tol") == 0;
        if (needed && clv_options_find(of, name) &&
            clv_options_set(ctx, of, options, name, claim->options[i].text) < 0) {
            return clv_reject(out, "the claim cannot be: %s", clv_message(ctx));
        }
    }
    return claim->weights || clv_reject(out, "the claim says nothing of its weights");
}

/* --- ksupport --- */

static bool ksupport_options(clv_context *ctx, const clv_claim *claim, clv_ksupport_options *options,
                             clv_verdict *out) {
    clv_ksupport_defaults(options);
    bool taken = take_options(ctx, claim, clv_ksupport_table(), options, out);
    options->start = "zero"; /* where it began says nothing of where it ended */
    return taken;
}

static int64_t ksupport_objects(const clv_claim *claim, const clv_matrix *points) {
    const char *transposed = clv_claim_option(claim, "transposed");
    return transposed && strcmp(transposed, "true") == 0 ? points->cols : points->rows;
}

/* Intercepts and classes may be left out; claimed, they are one a model and the values of y. */
static clv_status compare_classes(clv_context *ctx, const clv_claim *claim, const clv_matrix *y,
                                  const clv_ksupport_options *options, clv_verdict *out) {
    double *classes = NULL;
    int64_t count = 0, models = clv_data_matrix(claim->weights)->rows;
    if (claim->intercepts && claim->intercepts_count != models) {
        clv_reject(out, "%lld intercepts are claimed for %lld models", (long long)claim->intercepts_count,
                   (long long)models);
        return CLV_OK;
    }
    if (!claim->classes) {
        return CLV_OK;
    }
    clv_status status =
        options->loss == CLV_KSUPPORT_LOGISTIC ? clv_ks_classes(ctx, y->values, y->rows, &classes, &count) : CLV_OK;
    bool same = count == claim->classes_count;
    for (int64_t c = 0; status == CLV_OK && same && c < count; c++) {
        same = classes[c] == claim->classes[c];
    }
    if (status == CLV_OK && !same) {
        clv_reject(out, "the %lld classes claimed are not the values of y", (long long)claim->classes_count);
    }
    clv_free(ctx, classes);
    return status;
}

static clv_status ksupport_evaluate(clv_context *ctx, const clv_evidence *evidence, clv_verdict *out) {
    clv_ksupport_options options;
    const clv_matrix *y = clv_data_matrix(evidence->second);
    if (!ksupport_options(ctx, evidence->claim, &options, out)) {
        return CLV_OK;
    }
    if (y->start || y->scalar != CLV_F64 || y->cols != 1 ||
        y->rows != ksupport_objects(evidence->claim, evidence->points)) {
        clv_reject(out, "the claim is about %lld samples, but y is %lld x %lld", (long long)evidence->claim->n,
                   (long long)y->rows, (long long)y->cols);
        return CLV_OK;
    }
    const clv_claim *claim = evidence->claim;
    CLV_TRY(compare_classes(ctx, claim, y, &options, out));
    if (out->reason[0]) {
        return CLV_OK;
    }
    options.control.threads = evidence->threads;
    return clv_ksupport_evaluate(ctx, evidence->points, y->values, &options, clv_data_matrix(claim->weights),
                                 claim->intercepts, &out->objective, &out->certificate);
}

static size_t ksupport_memory(const clv_claim *claim, const clv_matrix *points) {
    clv_ksupport_options options;
    clv_ksupport_defaults(&options);
    options.k = claim->k;
    options.transposed = ksupport_objects(claim, points) != points->rows;
    options.solver = CLV_KSUPPORT_FISTA;
    options.control.threads = 1;
    return clv_ksupport_memory(points, &options);
}

const clv_verifier clv_verify_ksupport = {.method = "ksupport",
                                          .table = clv_ksupport_table,
                                          .memory = ksupport_memory,
                                          .evaluate = ksupport_evaluate,
                                          .objects = ksupport_objects,
                                          .points_only = true,
                                          .two_operands = true,
                                          .unlabeled = true};

/* --- pursuit --- */

static clv_status pursuit_evaluate(clv_context *ctx, const clv_evidence *evidence, clv_verdict *out) {
    clv_pursuit_options options;
    clv_pursuit_defaults(&options);
    if (!take_options(ctx, evidence->claim, clv_pursuit_table(), &options, out)) {
        return CLV_OK;
    }
    options.control.threads = evidence->threads;
    return clv_pursuit_evaluate(ctx, evidence->points, &options, clv_data_matrix(evidence->claim->weights),
                                &out->objective, &out->certificate);
}

static size_t pursuit_memory(const clv_claim *claim, const clv_matrix *points) {
    clv_pursuit_options options;
    clv_pursuit_defaults(&options);
    options.k = claim->k;
    options.control.threads = 1;
    return clv_pursuit_memory(points, &options);
}

const clv_verifier clv_verify_pursuit = {.method = "pursuit",
                                         .table = clv_pursuit_table,
                                         .memory = pursuit_memory,
                                         .evaluate = pursuit_evaluate,
                                         .points_only = true,
                                         .unlabeled = true};
