/* What a result says beside objective and certificate: of the graph (components, shift, eigenvalues) and of the bound.
 * The components are counted again; the rest must be possible and fit together. Whether the eigenvalues are those of
 * the graph is not looked at, so a bound is only as good as they are. O(n^2) at most, for the components. */
#include "io/io.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

/* No eigenvalue of the normalized affinity exceeds 1, but for what an eigensolver leaves. */
#define ABOVE_ONE 1e-6
/* Between numbers that were written one by one from the same run. */
#define ROUNDING 1e-9

static bool is_negative(const char *what, double value, clv_verdict *out) {
    char digits[CLV_NUMBER_SIZE];
    if (!(value < 0)) { /* NaN is not said */
        return false;
    }
    clv_print_number(value, digits);
    clv_reject(out, "the %s claimed is %s, and none lies below 0", what, digits);
    return true;
}

static bool eigenvalues_possible(const clv_claim *claim, clv_verdict *out) {
    for (int64_t e = 0; e < claim->eigenvalues_count; e++) {
        if (claim->eigenvalues[e] > 1 + ABOVE_ONE) {
            return clv_reject(out, "eigenvalue %lld is claimed to be above 1", (long long)e + 1);
        }
        if (e > 0 && claim->eigenvalues[e] > claim->eigenvalues[e - 1] + ROUNDING) {
            return clv_reject(out, "eigenvalue %lld is claimed to be above the one before it", (long long)e + 1);
        }
    }
    return true;
}

/* The most that the claimed eigenvalues give: those not listed may be as large as 1, and give nothing. */
static double best_bound(const clv_claim *claim) {
    double bound = 0;
    for (int64_t c = 0; c < claim->k && c < claim->eigenvalues_count; c++) {
        bound += (1 - fmin(claim->eigenvalues[c], 1)) / 2;
    }
    return bound;
}

static bool gap_agrees(const clv_claim *claim, clv_verdict *out) {
    char claimed[CLV_NUMBER_SIZE], found[CLV_NUMBER_SIZE];
    double gap = clv_gap(claim->objective, claim->bound, strcmp(claim->sense, "max") == 0);
    if (isnan(claim->gap_percent) || fabs(claim->gap_percent - gap) <= ROUNDING * (1 + gap)) {
        return true;
    }
    clv_print_number(claim->gap_percent, claimed);
    clv_print_number(gap, found);
    return clv_reject(out, "the gap is claimed to be %s percent, but objective and bound claimed give %s", claimed,
                      found);
}

static bool bound_possible(const clv_claim *claim, const char *name, clv_verdict *out) {
    if (isnan(claim->bound)) {
        return isnan(claim->gap_percent) || clv_reject(out, "a gap is claimed, but no bound");
    }
    if (!name) {
        return clv_reject(out, "a bound is claimed, but %s has none", claim->method);
    }
    if (strcmp(claim->bound_name, name) != 0) {
        return clv_reject(out, "the bound is claimed to be '%.80s', but that of %s is '%s'", claim->bound_name,
                          claim->method, name);
    }
    if (strcmp(name, "eigenvalue") == 0) {
        if (is_negative("bound", claim->bound, out)) {
            return false;
        }
        if (claim->bound > best_bound(claim) + ROUNDING) {
            return clv_reject(out, "the bound claimed lies above what the eigenvalues claimed give");
        }
    }
    return gap_agrees(claim, out);
}

static clv_status compare_components(clv_context *ctx, const clv_claim *claim, const clv_affinity *a,
                                     clv_verdict *out) {
    int64_t count = 0;
    if (claim->components < 0) {
        return CLV_OK;
    }
    if (!a) {
        clv_reject(out, "components of a graph are claimed, but %s has no graph", claim->method);
        return CLV_OK;
    }
    int32_t *component = CLV_NEW(ctx, int32_t, claim->n);
    if (!component) {
        return CLV_ENOMEM;
    }
    clv_status status = clv_affinity_components(a, component, &count);
    clv_free(ctx, component);
    if (status == CLV_OK && count != claim->components) {
        clv_reject(out, "%lld components are claimed, but the data give %lld", (long long)claim->components,
                   (long long)count);
    }
    return status;
}

clv_status clv_claim_check_graph(clv_context *ctx, const clv_claim *claim, const clv_affinity *a,
                                 const char *bound_name, clv_verdict *out) {
    bool possible = !is_negative("shift", claim->shift, out) && !is_negative("drift", claim->drift, out) &&
                    eigenvalues_possible(claim, out) && bound_possible(claim, bound_name, out);
    return possible ? compare_components(ctx, claim, a, out) : CLV_OK;
}
