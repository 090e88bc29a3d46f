/* What similarities look like: those between PAIRS pairs of objects that are drawn, and memberships that follow from
 * them. */
#include "methods/advice.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 1024 };
#define FLAT 0.95     /* nine tenths of the similarities are above it: almost 1 */
#define STEEP 1e-3    /* or below it: almost 0 */
#define UNDECIDED 0.9 /* of the largest entropy, on average */

/* What has not been tried yet. A gamma of the library goes by a typical distance: similarities are all 1 where that is
 * 0 or next to it, whatever the scale. */
static const char *other_gamma(const clv_affinity *a, const clv_affinity_info *info, bool flat) {
    bool local = info->kind == CLV_AFFINITY_LOCAL, own = clv_affinity_has_own_gamma(a);
    return own && flat    ? "one object of each group of equal or nearly equal ones"
           : own && local ? "--scale standard, or other columns"
           : own          ? "--affinity local"
           : local        ? "--gamma auto"
                          : "--gamma auto, or --affinity local";
}

/* Quantiles of those between pairs of different objects that are drawn from a fixed seed. */
static clv_status advise_on_gamma(const clv_affinity *a, const clv_affinity_info *info, clv_result *result) {
    double drawn[PAIRS], work[PAIRS], quantiles[3];
    static const double at[] = {0.1, 0.5, 0.9};
    clv_rng rng = clv_rng_stream(0, 0);
    for (int s = 0; s < PAIRS; s++) {
        int64_t i = clv_rng_below(&rng, info->n), j = clv_rng_below(&rng, info->n - 1);
        CLV_TRY(clv_affinity_entry(a, i, j < i ? j : j + 1, &drawn[s]));
    }
    for (int q = 0; q < 3; q++) {
        memcpy(work, drawn, sizeof work);
        quantiles[q] = clv_nth_smallest(work, PAIRS, (int64_t)(at[q] * PAIRS));
    }
    bool flat = quantiles[0] > FLAT, steep = quantiles[2] < STEEP;
    return !flat && !steep
               ? CLV_OK
               : clv_result_warn(
                     result,
                     "at gamma %.3g almost all similarities are %s (10 %%, 50 %% and 90 %% of them are below %.3g, "
                     "%.3g and %.3g): try %s",
                     info->gamma, flat ? "1" : "0", quantiles[0], quantiles[1], quantiles[2],
                     other_gamma(a, info, flat));
}

static const char *sharper(const clv_affinity_info *info) {
    bool has_gamma = info && info->kind != CLV_AFFINITY_PRECOMPUTED && clv_kind_of(info->kind)->has_gamma;
    return !has_gamma                         ? ""
           : info->kind == CLV_AFFINITY_LOCAL ? "a larger --gamma, or "
                                              : "a larger --gamma, --affinity local, or ";
}

static clv_status advise_on_memberships(const clv_affinity_info *info, clv_result *result) {
    const clv_field *entropy = clv_result_field(result, "entropy");
    if (!entropy || !entropy->reals || entropy->count < 1 || result->k < 2) {
        return CLV_OK;
    }
    double mean = clv_sum(entropy->reals, entropy->count, 1) / (double)entropy->count, most = log((double)result->k);
    return mean > UNDECIDED * most
               ? clv_result_warn(
                     result,
                     "memberships are nearly uniform, with %.2f of the largest entropy on average: labels say "
                     "little; try %sfewer clusters",
                     mean / most, sharper(info))
               : CLV_OK;
}

clv_status clv_advise_on_similarities(const clv_advice *advice) {
    const clv_affinity_info *info = advice->info;
    bool has_scale = info && info->kind != CLV_AFFINITY_PRECOMPUTED && clv_kind_of(info->kind)->has_gamma;
    if (has_scale && info->landmarks == 0) {
        CLV_TRY(advise_on_gamma(advice->input->affinity, info, advice->result));
    }
    return advise_on_memberships(info, advice->result);
}
