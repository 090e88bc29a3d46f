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

/* NaN is close to nothing. */
bool clv_is_close(double claimed, double found, int64_t k) {
    return fabs(claimed - found) <= clv_allowed_difference(found, k);
}

/* --- labels, sizes, numbers of objects --- */

static bool labels_in_range(const clv_claim *claim, clv_verdict *out) {
    for (int64_t i = 0; i < claim->n; i++) {
        if (claim->labels[i] < -1 || claim->labels[i] >= claim->k) {
            return clv_reject(out, "label %d of object %lld is outside -1..%lld", (int)claim->labels[i],
                              (long long)i + 1, (long long)claim->k - 1);
        }
    }
    return true;
}

static bool labels_agree(const clv_claim *claim, const clv_verifier *method, clv_verdict *out) {
    int64_t least = method->k_at_most ? 0 : 1;
    if (claim->labels_count != claim->n) {
        return clv_reject(out, "%lld labels are claimed for %lld objects", (long long)claim->labels_count,
                          (long long)claim->n);
    }
    if (claim->k < least || claim->k > claim->n) {
        return clv_reject(out, "%lld clusters of %lld objects are claimed", (long long)claim->k, (long long)claim->n);
    }
    if (claim->sizes_count != claim->k) {
        return clv_reject(out, "%lld sizes are claimed for %lld clusters", (long long)claim->sizes_count,
                          (long long)claim->k);
    }
    return labels_in_range(claim, out);
}

static bool shape_agrees(const clv_claim *claim, const clv_verifier *method, int64_t objects, clv_verdict *out) {
    if (claim->n != objects) {
        return clv_reject(out, "the claim is about %lld objects, but the data have %lld", (long long)claim->n,
                          (long long)objects);
    }
    if (method->unlabeled) {
        return !claim->labels || clv_reject(out, "labels are claimed, but %s gives none", method->method);
    }
    return labels_agree(claim, method, out);
}

static bool sizes_agree(const clv_claim *claim, const int64_t *counted, int64_t left_out, clv_verdict *out) {
    for (int64_t c = 0; c < claim->k; c++) {
        if (counted[c] != claim->sizes[c]) {
            return clv_reject(out, "the size of cluster %lld is claimed to be %lld, but %lld objects have that label",
                              (long long)c, (long long)claim->sizes[c], (long long)counted[c]);
        }
    }
    if (left_out != claim->left_out) {
        return clv_reject(out, "%lld objects are claimed to be left out, but %lld have the label -1",
                          (long long)claim->left_out, (long long)left_out);
    }
    return true;
}

/* The claimed sizes against the labels, which must be in range. */
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

/* --- options --- */

/* The options of any method, to try texts on; a new method adds its struct. */
typedef union method_options {
    clv_control control;
    clv_ncut_options ncut;
    clv_dominant_options dominant;
    clv_kpalm_options kpalm;
    clv_ksupport_options ksupport;
    clv_pursuit_options pursuit;
} method_options;

static bool option_allowed(clv_context *ctx, const clv_option_table *table, const char *name, const char *value,
                           clv_verdict *out) {
    method_options tried;
    return clv_options_set(ctx, table, &tried, name, value) == CLV_OK ||
           clv_reject(out, "the claim cannot be: %s", clv_message(ctx));
}

/* Every option of the method, and of the run, that the claim names. */
static bool options_allowed(clv_context *ctx, const clv_claim *claim, const clv_option_table *method,
                            clv_verdict *out) {
    for (int64_t i = 0; i < claim->options_count; i++) {
        const clv_claim_entry *entry = &claim->options[i];
        const clv_option_table *table = clv_options_find(method, entry->name) ? method : clv_control_table();
        if (clv_options_find(table, entry->name) && !option_allowed(ctx, table, entry->name, entry->text, out)) {
            return false;
        }
    }
    return !clv_options_find(method, "solver") || option_allowed(ctx, method, "solver", claim->solver, out);
}

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
static bool k_agrees(const clv_claim *claim, const clv_verifier *method, clv_verdict *out) {
    char k[32];
    const char *asked = clv_claim_option(claim, "k");
    int64_t most = 0;
    if (!method->k_at_most) {
        snprintf(k, sizeof k, "%lld", (long long)claim->k);
        return option_agrees(claim, "k", k, out);
    }
    bool number = asked && clv_scan_integer(asked, asked + strlen(asked), &most) && most > 0;
    return !number || claim->k <= most ||
           clv_reject(out, "%lld clusters are claimed, but at most %lld were asked for", (long long)claim->k,
                      (long long)most);
}

static bool options_agree(const clv_claim *claim, const clv_verifier *method, clv_verdict *out) {
    char seed[32];
    snprintf(seed, sizeof seed, "%lld", (long long)claim->seed);
    return k_agrees(claim, method, out) && option_agrees(claim, "seed", seed, out) &&
           option_agrees(claim, "solver", claim->solver, out) && option_agrees(claim, "affinity", claim->kind, out) &&
           option_agrees(claim, "home", claim->home, out);
}

/* --- the course of the run --- */

static bool is_stop(const char *name) {
    for (int stop = CLV_CONVERGED; stop <= CLV_CANCELLED; stop++) {
        if (strcmp(clv_stop_name((clv_stop)stop), name) == 0) {
            return true;
        }
    }
    return false;
}

static bool ending_is_possible(const char *stop, int64_t iterations, clv_verdict *out) {
    if (!is_stop(stop)) {
        return clv_reject(out, "no run stops for the reason '%.80s'", stop);
    }
    return iterations >= 0 || clv_reject(out, "%lld iterations are claimed", (long long)iterations);
}

/* The result is the best of its restarts, and no better than any of them can be. */
static bool restarts_agree(const clv_claim *claim, bool maximize, clv_verdict *out) {
    bool found = false;
    if (claim->restarts_count == 0) {
        return clv_reject(out, "no restarts are claimed, and a result is the best of them");
    }
    for (int64_t r = 0; r < claim->restarts_count; r++) {
        const clv_claim_restart *restart = &claim->restarts[r];
        bool equal = clv_is_close(restart->objective, claim->objective, claim->k);
        bool better = maximize ? restart->objective > claim->objective : restart->objective < claim->objective;
        if (!ending_is_possible(restart->stop[0] ? restart->stop : claim->stop, restart->iterations, out)) {
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

static bool bound_agrees(const clv_claim *claim, bool maximize, clv_verdict *out) {
    double beyond = maximize ? claim->objective - claim->bound : claim->bound - claim->objective;
    if (isnan(claim->bound) || beyond <= clv_allowed_difference(claim->objective, claim->k)) {
        return true;
    }
    return clv_reject(out, "the bound claimed lies %s the objective", maximize ? "below" : "above");
}

static bool course_agrees(const clv_claim *claim, clv_verdict *out) {
    bool maximize = strcmp(claim->sense, "max") == 0;
    bool unfinished = isnan(claim->certificate);
    if (!ending_is_possible(claim->stop, claim->iterations, out)) {
        return false;
    }
    if (unfinished && strcmp(claim->stop, clv_stop_name(CLV_CANCELLED)) != 0) {
        return clv_reject(out, "there is no certificate, but the run is not claimed to have been cancelled");
    }
    if (claim->holds != (claim->certificate <= claim->tolerance)) {
        return clv_reject(out, "the certificate is claimed %s, against its own value and tolerance",
                          claim->holds ? "to hold" : "not to hold");
    }
    return restarts_agree(claim, maximize, out) && bound_agrees(claim, maximize, out);
}

static bool affinity_agrees(const clv_claim *claim, const clv_verifier *method, clv_verdict *out) {
    bool claimed = claim->kind[0] || claim->home[0] || !isnan(claim->gamma);
    return !(method->points_only && claimed) ||
           clv_reject(out, "an affinity is claimed, but %s works on the points themselves", method->method);
}

clv_status clv_claim_check(clv_context *ctx, const clv_claim *claim, const clv_verifier *method,
                           const clv_matrix *points, clv_verdict *out) {
    int64_t objects = method->objects ? method->objects(claim, points) : points->rows;
    bool agrees = shape_agrees(claim, method, objects, out) && options_allowed(ctx, claim, method->table(), out) &&
                  options_agree(claim, method, out) && affinity_agrees(claim, method, out) &&
                  course_agrees(claim, out) && clv_claim_check_model(claim, points, out);
    return agrees && claim->labels ? compare_sizes(ctx, claim, out) : CLV_OK;
}
