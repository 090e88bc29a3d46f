/* Whether a claimed result agrees with itself: every fact that it states twice, and every number that bounds another.
 * Nothing is computed from the data here; O(n + k). */
#include "io/io.h"
#include "report/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define RELATIVE 1e-9
#define ROUNDING_A_CLUSTER 1e-12

bool clv_reject(clv_verdict *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(out->reason, sizeof out->reason, format, args);
    va_end(args);
    out->accepted = 0;
    return false;
}

bool clv_reject_number(clv_verdict *out, const char *what, double claimed, double found) {
    char left[CLV_NUMBER_SIZE], right[CLV_NUMBER_SIZE];
    clv_print_number(claimed, left);
    clv_print_number(found, right);
    return clv_reject(out, "%s is claimed to be %s, but the data give %s", what, left, right);
}

double clv_allowed_difference(double found, int64_t k) {
    return RELATIVE * fabs(found) + ROUNDING_A_CLUSTER * (double)k;
}

bool clv_is_within(double claimed, double found, double allowed) {
    return isfinite(claimed) && isfinite(found) && isfinite(allowed) && fabs(claimed - found) <= allowed;
}

/* --- labels, sizes, numbers of objects --- */

static bool labels_in_range(const clv_result *result, clv_verdict *out) {
    for (int64_t i = 0; i < result->n; i++) {
        if (result->labels[i] < -1 || result->labels[i] >= result->k) {
            return clv_reject(out, "label %d of object %lld is outside -1..%lld", (int)result->labels[i],
                              (long long)i + 1, (long long)result->k - 1);
        }
    }
    return true;
}

static bool shape_agrees(const clv_claim *claim, const clv_method *method, int64_t objects, clv_verdict *out) {
    const clv_result *result = claim->result;
    int64_t least = method->k_meaning == CLV_K_AT_MOST ? 0 : 1;
    if (claim->doubt[0]) {
        return clv_reject(out, "%s", claim->doubt);
    }
    if (result->n != objects) {
        return clv_reject(out, "the claim is about %lld objects, but the data have %lld", (long long)result->n,
                          (long long)objects);
    }
    if (!clv_method_gives(method, "labels")) {
        return !result->labels || clv_reject(out, "labels are claimed, but %s gives none", method->name);
    }
    if (!result->labels) {
        return clv_reject(out, "no labels are claimed, but %s gives them", method->name);
    }
    if (result->k < least || result->k > result->n) {
        return clv_reject(out, "%lld clusters of %lld objects are claimed", (long long)result->k, (long long)result->n);
    }
    return labels_in_range(result, out);
}

/* --- fields --- */

/* The length that a word of a shape stands for; -1: any. */
static int64_t length_of(const clv_result *result, const char *word) {
    return *word == 'n' && !word[1] ? result->n : *word == 'k' && !word[1] ? result->k : -1;
}

static bool has_length(const clv_field_info *info, const char *word, int64_t length, const clv_result *result,
                       clv_verdict *out) {
    int64_t wanted = length_of(result, word);
    return wanted < 0 || wanted == length ||
           clv_reject(out, "%s is claimed with %lld %s, but there must be %lld", info->name, (long long)length,
                      info->kind == CLV_FIELD_MATRIX || info->kind == CLV_FIELD_SPARSE ? "rows or columns" : "entries",
                      (long long)wanted);
}

/* "n x k" into its words; how many there are. */
static int split_shape(const char *shape, char rows[16], char cols[16]) {
    const char *cross = strstr(shape, " x ");
    snprintf(rows, 16, "%.*s", cross ? (int)(cross - shape) : 15, shape);
    snprintf(cols, 16, "%s", cross ? cross + 3 : "");
    return cross ? 2 : 1;
}

/* A list as long, and a matrix as large, as the description says, where that is n or k. */
static bool field_has_shape(const clv_field_info *info, const clv_field *field, const clv_result *result,
                            clv_verdict *out) {
    char rows[16], cols[16];
    if (!field || !*info->shape) {
        return true;
    }
    int words = split_shape(info->shape, rows, cols);
    if (!field->matrix) {
        return has_length(info, rows, field->count, result, out);
    }
    return has_length(info, rows, field->matrix->rows, result, out) &&
           (words < 2 || has_length(info, cols, field->matrix->cols, result, out));
}

static bool counts_are_counts(const clv_field *field, clv_verdict *out) {
    for (int64_t i = 0; field && field->integers && i < field->count; i++) {
        if (field->integers[i] < 0) {
            return clv_reject(out, "%s is claimed to be %lld, and none lies below 0", field->name,
                              (long long)field->integers[i]);
        }
    }
    return true;
}

static bool fields_possible(const clv_result *result, const clv_method *method, clv_verdict *out) {
    for (size_t f = 0; f < method->gives_count; f++) {
        const clv_field *field = clv_result_field(result, method->gives[f].name);
        if (!field_has_shape(&method->gives[f], field, result, out) || !counts_are_counts(field, out)) {
            return false;
        }
    }
    return true;
}

static bool sizes_agree(const clv_result *result, const int64_t *counted, int64_t left_out, clv_verdict *out) {
    for (int64_t c = 0; c < result->k; c++) {
        if (counted[c] != result->sizes[c]) {
            return clv_reject(out, "the size of cluster %lld is claimed to be %lld, but %lld objects have that label",
                              (long long)c, (long long)result->sizes[c], (long long)counted[c]);
        }
    }
    return left_out == result->left_out ||
           clv_reject(out, "%lld objects are claimed to be left out, but %lld have the label -1",
                      (long long)result->left_out, (long long)left_out);
}

/* The claimed sizes against the labels, which must be in range. */
static clv_status compare_sizes(clv_context *ctx, const clv_result *result, clv_verdict *out) {
    int64_t left_out = 0, *counted = CLV_NEW0(ctx, int64_t, result->k);
    if (!counted) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < result->n; i++) {
        if (result->labels[i] < 0) {
            left_out++;
        } else {
            counted[result->labels[i]]++;
        }
    }
    sizes_agree(result, counted, left_out, out);
    clv_free(ctx, counted);
    return CLV_OK;
}

/* --- options --- */

/* An option as it was asked for, against what the result says of the same: "auto" leaves it open. */
static bool option_agrees(const clv_claim *claim, const char *name, const char *said, clv_verdict *out) {
    const char *asked = clv_claim_option(claim, name);
    if (!asked || !said[0] || strcmp(asked, "auto") == 0 || strcmp(asked, said) == 0) {
        return true;
    }
    return clv_reject(out, "the option %s is claimed to be '%.80s', but elsewhere in the claim it is '%.80s'", name,
                      asked, said);
}

/* The number of clusters is the one asked for, or at most that. */
static bool k_agrees(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    char k[32];
    const char *asked = clv_claim_option(claim, "k");
    int64_t most = 0;
    if (method->k_meaning != CLV_K_AT_MOST) {
        snprintf(k, sizeof k, "%lld", (long long)claim->result->k);
        return option_agrees(claim, "k", k, out);
    }
    bool number = asked && clv_scan_integer(asked, asked + strlen(asked), &most) && most > 0;
    return !number || claim->result->k <= most ||
           clv_reject(out, "%lld clusters are claimed, but at most %lld were asked for", (long long)claim->result->k,
                      (long long)most);
}

static bool options_agree(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    char seed[32];
    snprintf(seed, sizeof seed, "%lld", (long long)claim->result->seed);
    return k_agrees(claim, method, out) && option_agrees(claim, "seed", seed, out) &&
           option_agrees(claim, "solver", claim->solver, out) && option_agrees(claim, "affinity", claim->kind, out) &&
           option_agrees(claim, "home", claim->home, out);
}

/* --- the course of the run --- */

static bool iterations_possible(int64_t iterations, clv_verdict *out) {
    return iterations >= 0 || clv_reject(out, "%lld iterations are claimed", (long long)iterations);
}

/* The result is the best of its restarts, and no better than any of them can be. */
static bool restarts_agree(const clv_result *result, clv_verdict *out) {
    double value = result->objective.value, allowed = clv_allowed_difference(value, result->k);
    bool found = false;
    if (result->restarts_count == 0) {
        return clv_reject(out, "no restarts are claimed, and a result is the best of them");
    }
    for (int64_t r = 0; r < result->restarts_count; r++) {
        const clv_restart *restart = &result->restarts[r];
        bool equal = clv_is_within(restart->objective, value, allowed);
        bool better = result->objective.maximize ? restart->objective > value : restart->objective < value;
        if (!iterations_possible(restart->iterations, out)) {
            return false;
        }
        if (better && !equal) {
            return clv_reject(out, "restart %lld is claimed to have a better objective than the result",
                              (long long)r + 1);
        }
        found = found || equal;
    }
    return found || clv_reject(out, "the objective claimed is that of none of the restarts");
}

static bool gap_agrees(const clv_claim *claim, clv_verdict *out) {
    const clv_result *result = claim->result;
    char claimed[CLV_NUMBER_SIZE], found[CLV_NUMBER_SIZE];
    if (isnan(claim->gap_percent)) {
        return true;
    }
    if (!result->bound.name) {
        return clv_reject(out, "a gap is claimed, but no bound");
    }
    double gap = clv_gap_percent(result);
    if (clv_is_within(claim->gap_percent, gap, RELATIVE * (1 + gap))) {
        return true;
    }
    clv_print_number(claim->gap_percent, claimed);
    clv_print_number(gap, found);
    return clv_reject(out, "the gap is claimed to be %s percent, but objective and bound claimed give %s", claimed,
                      found);
}

static bool bound_agrees(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    const clv_result *result = claim->result;
    double beyond = result->bound.value - result->objective.value;
    if (!result->bound.name) {
        return gap_agrees(claim, out);
    }
    if (!method->bound) {
        return clv_reject(out, "a bound is claimed, but %s has none", method->name);
    }
    if (strcmp(result->bound.name, method->bound) != 0) {
        return clv_reject(out, "the bound is claimed to be '%.80s', but that of %s is '%s'", result->bound.name,
                          method->name, method->bound);
    }
    beyond = result->objective.maximize ? -beyond : beyond;
    if (!(beyond <= clv_allowed_difference(result->objective.value, result->k))) {
        return clv_reject(out, "the bound claimed lies %s the objective",
                          result->objective.maximize ? "below" : "above");
    }
    return gap_agrees(claim, out);
}

static bool course_agrees(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    const clv_result *result = claim->result;
    const clv_certificate *certificate = &result->certificate;
    if (!iterations_possible(result->iterations, out)) {
        return false;
    }
    if (result->drift < 0) { /* NaN is not said */
        return clv_reject(out, "the drift claimed lies below 0");
    }
    if (isnan(certificate->value) && result->stop != CLV_CANCELLED) {
        return clv_reject(out, "there is no certificate, but the run is not claimed to have been cancelled");
    }
    if (certificate->holds != (certificate->value <= certificate->tolerance)) {
        return clv_reject(out, "the certificate is claimed %s, against its own value and tolerance",
                          certificate->holds ? "to hold" : "not to hold");
    }
    return restarts_agree(result, out) && bound_agrees(claim, method, out);
}

static bool affinity_agrees(const clv_claim *claim, const clv_method *method, clv_verdict *out) {
    bool claimed = claim->kind[0] || claim->home[0] || !isnan(claim->gamma);
    return method->takes == CLV_TAKES_AFFINITY || !claimed ||
           clv_reject(out, "an affinity is claimed, but %s works on the points themselves", method->name);
}

clv_status clv_claim_check(clv_context *ctx, const clv_claim *claim, const clv_method *method, int64_t objects,
                           clv_verdict *out) {
    bool agrees = shape_agrees(claim, method, objects, out) && options_agree(claim, method, out) &&
                  affinity_agrees(claim, method, out) && course_agrees(claim, method, out) &&
                  fields_possible(claim->result, method, out);
    return agrees && claim->result->labels ? compare_sizes(ctx, claim->result, out) : CLV_OK;
}
