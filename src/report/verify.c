/* Verification: scale and affinity are rebuilt from the raw data as the claim says, objective and certificate are
 * recomputed, and everything is compared. A false claim is a verdict; only what prevents a verdict is a failure. */
#include "io/io.h"
#include "report/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How far a claimed number may lie from the recomputed one, relative to 1 or to itself if that is larger. */
#define TOLERANCE_F64 1e-9
#define TOLERANCE_F32 1e-6

typedef clv_status (*evaluator)(clv_context *ctx, const clv_affinity *a, const int32_t *labels, int64_t k,
                                int64_t threads, clv_objective *objective, clv_certificate *certificate);

/* Methods that can be verified: a new one adds a line. */
static const struct {
    const char *method;
    evaluator evaluate;
} evaluators[] = {
    {"ncut", clv_ncut_evaluate},
};

static evaluator find_evaluator(const char *method) {
    for (size_t i = 0; i < sizeof evaluators / sizeof evaluators[0]; i++) {
        if (strcmp(evaluators[i].method, method) == 0) {
            return evaluators[i].evaluate;
        }
    }
    return NULL;
}

__attribute__((format(printf, 2, 3))) static bool reject(clv_verdict *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(out->reason, sizeof out->reason, format, args);
    va_end(args);
    out->accepted = 0;
    return false;
}

/* --- does the claim agree with itself and with the data's shape? --- */

static bool labels_in_range(const clv_claim *claim, clv_verdict *out) {
    for (int64_t i = 0; i < claim->n; i++) {
        if (claim->labels[i] < -1 || claim->labels[i] >= claim->k) {
            return reject(out, "label %d of object %lld is outside -1..%lld", (int)claim->labels[i], (long long)i + 1,
                          (long long)claim->k - 1);
        }
    }
    return true;
}

static bool sizes_agree(const clv_claim *claim, const int64_t *counted, int64_t left_out, clv_verdict *out) {
    for (int64_t c = 0; c < claim->k; c++) {
        if (counted[c] != claim->sizes[c]) {
            return reject(out, "the size of cluster %lld is claimed to be %lld, but %lld objects have that label",
                          (long long)c, (long long)claim->sizes[c], (long long)counted[c]);
        }
    }
    if (left_out != claim->left_out) {
        return reject(out, "%lld objects are claimed to be left out, but %lld have the label -1",
                      (long long)claim->left_out, (long long)left_out);
    }
    return true;
}

/* The claimed sizes against the labels. */
static clv_status compare_sizes(clv_context *ctx, const clv_claim *claim, clv_verdict *out) {
    int64_t left_out = 0, *counted = CLV_NEW0(ctx, int64_t, claim->k);
    if (!counted) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < claim->n; i++) {
        if (claim->labels[i] < 0) {
            left_out++;
        } else {
            counted[claim->labels[i]]++;
        }
    }
    sizes_agree(claim, counted, left_out, out);
    clv_free(ctx, counted);
    return CLV_OK;
}

static bool shape_agrees(const clv_claim *claim, const clv_data *data, clv_verdict *out) {
    int64_t rows = clv_data_matrix(data)->rows;
    if (claim->n != rows) {
        return reject(out, "the claim is about %lld objects, but the data have %lld", (long long)claim->n,
                      (long long)rows);
    }
    if (claim->labels_count != claim->n) {
        return reject(out, "%lld labels are claimed for %lld objects", (long long)claim->labels_count,
                      (long long)claim->n);
    }
    if (claim->k < 1 || claim->k > claim->n) {
        return reject(out, "%lld clusters of %lld objects are claimed", (long long)claim->k, (long long)claim->n);
    }
    if (claim->sizes_count != claim->k) {
        return reject(out, "%lld sizes are claimed for %lld clusters", (long long)claim->sizes_count,
                      (long long)claim->k);
    }
    return labels_in_range(claim, out);
}

/* --- the affinity as claimed --- */

static clv_status scale_as_claimed(clv_context *ctx, const clv_claim *claim, clv_data *data) {
    static const char *const names[] = {"none", "standard", "minmax", "unit-columns", "unit-rows"};
    const char *asked = clv_claim_option(claim, "scale");
    if (!asked) {
        return CLV_OK;
    }
    for (int scale = CLV_SCALE_NONE; scale <= CLV_SCALE_UNIT_ROWS; scale++) {
        if (strcmp(names[scale], asked) == 0) {
            return clv_data_scale(data, (clv_scale)scale);
        }
    }
    return clv_fail(ctx, CLV_EDATA,
                    "the claim's scale '%.80s' is not one of none|standard|minmax|unit-columns|unit-rows", asked);
}

static clv_status affinity_as_claimed(clv_context *ctx, const clv_claim *claim, const clv_data *data, int64_t threads,
                                      clv_affinity **out) {
    static const char *const names[] = {"affinity", "gamma", "neighbours", "zero-diagonal"};
    clv_affinity_options how;
    clv_affinity_defaults(&how);
    how.threads = threads;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = clv_claim_option(claim, names[i]);
        if (value) {
            CLV_TRY(clv_options_set(ctx, clv_affinity_table(), &how, names[i], value));
        }
    }
    how.gamma = isnan(claim->gamma) ? how.gamma : claim->gamma; /* auto has become a number */
    return clv_affinity_build(ctx, clv_data_matrix(data), &how, out);
}

/* --- the numbers --- */

static double allowed_difference(const clv_claim *claim, const clv_affinity *a) {
    clv_affinity_info info;
    clv_affinity_describe(a, &info);
    bool single = info.home == CLV_HOME_DENSE32 || strcmp(claim->home, clv_home_name(CLV_HOME_DENSE32)) == 0;
    return single ? TOLERANCE_F32 : TOLERANCE_F64;
}

/* NaN is close to nothing. */
static bool is_close(double claimed, double found, double tolerance) {
    return fabs(claimed - found) <= tolerance * fmax(1, fabs(found));
}

static bool reject_number(clv_verdict *out, const char *what, double claimed, double found) {
    char left[CLV_NUMBER_SIZE], right[CLV_NUMBER_SIZE];
    clv_print_number(claimed, left);
    clv_print_number(found, right);
    return reject(out, "%s is claimed to be %s, but the data give %s", what, left, right);
}

static bool certificate_agrees(const clv_claim *claim, double tolerance, clv_verdict *out) {
    const clv_certificate *found = &out->certificate;
    if (!is_close(claim->tolerance, found->tolerance, 1e-3 * found->tolerance)) {
        return reject_number(out, "the tolerance of the certificate", claim->tolerance, found->tolerance);
    }
    if (claim->holds != (claim->certificate <= claim->tolerance)) {
        return reject(out, "the certificate is claimed %s, against its own value and tolerance",
                      claim->holds ? "to hold" : "not to hold");
    }
    if (isnan(claim->certificate)) {
        return true; /* an interrupted run claims none */
    }
    return is_close(claim->certificate, found->value, tolerance) ||
           reject_number(out, found->name, claim->certificate, found->value);
}

static void accept(const clv_claim *claim, clv_verdict *out) {
    char value[CLV_NUMBER_SIZE], gain[CLV_NUMBER_SIZE];
    clv_print_number(out->objective.value, value);
    clv_print_number(out->certificate.value, gain);
    out->accepted = 1;
    snprintf(out->reason, sizeof out->reason, "the data give %s = %s and %s = %s, %s", out->objective.name, value,
             out->certificate.name, gain, isnan(claim->certificate) ? "and no certificate was claimed" : "as claimed");
}

static clv_status judge(clv_context *ctx, const clv_claim *claim, const clv_affinity *a, evaluator evaluate,
                        int64_t threads, clv_verdict *out) {
    clv_status status = evaluate(ctx, a, claim->labels, claim->k, threads, &out->objective, &out->certificate);
    if (status == CLV_EDATA) { /* labels that the method cannot have given */
        reject(out, "%s", clv_message(ctx));
        return CLV_OK;
    }
    CLV_TRY(status);
    double tolerance = allowed_difference(claim, a);
    if (!is_close(claim->objective, out->objective.value, tolerance)) {
        reject_number(out, out->objective.name, claim->objective, out->objective.value);
    } else if (certificate_agrees(claim, tolerance, out)) {
        accept(claim, out);
    }
    return CLV_OK;
}

clv_status clv_claim_verify(clv_context *ctx, const clv_claim *claim, clv_data *data, int64_t threads,
                            clv_verdict *out) {
    *out = (clv_verdict){.objective.value = NAN, .certificate.value = NAN};
    evaluator evaluate = find_evaluator(claim->method);
    clv_affinity *a = NULL;
    if (!evaluate) {
        return clv_fail(ctx, CLV_EDATA, "results of the method '%.80s' cannot be verified", claim->method);
    }
    if (!shape_agrees(claim, data, out)) {
        return CLV_OK;
    }
    CLV_TRY(compare_sizes(ctx, claim, out));
    if (out->reason[0]) {
        return CLV_OK;
    }
    CLV_TRY(scale_as_claimed(ctx, claim, data));
    CLV_TRY(affinity_as_claimed(ctx, claim, data, threads, &a));
    clv_status status = judge(ctx, claim, a, evaluate, threads, out);
    clv_affinity_free(a);
    return status;
}
