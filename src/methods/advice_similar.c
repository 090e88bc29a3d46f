/* What similarities look like: whether their scale tells near objects from far ones, and whether those of symnmf suit
 * memberships in k clusters. They are looked at in PAIRS pairs that are drawn, and in the columns of OBJECTS objects.
 */
#include "methods/advice.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 1024, OBJECTS = 32, NEAR = 5 };
#define FLAT 0.95  /* nine tenths of the similarities are above it: almost 1 */
#define STEEP 1e-3 /* or below it, and of half of the objects all but NEAR: almost 0 */
/* Similarities that suit no k: the mean of memberships' own is at least 1 / k, and hardly any structure is left of
 * similarities whose variance is so small a part of their squares. */
#define NEAR_IDENTITY 0.5
#define NEAR_EQUAL 0.05
#define CALIBRATED 0.1 /* the mean is as near to that of gamma auto */
#define UNDECIDED 0.9  /* of the largest entropy, on average */

static bool has_gamma(const clv_affinity_info *info) {
    return info && info->kind != CLV_AFFINITY_PRECOMPUTED && clv_kind_of(info->kind)->has_gamma;
}

/* --- their scale --- */

/* What has not been tried yet. A gamma of the library goes by a typical distance: similarities are all 1 where that is
 * 0 or next to it, whatever the scale. */
static const char *other_gamma(const clv_affinity *a, const clv_affinity_info *info, bool flat) {
    bool local = info->kind == CLV_AFFINITY_LOCAL, own = clv_affinity_has_own_gamma(a);
    return own && flat    ? "one object of each group of equal or nearly equal ones"
           : own && local ? "more --neighbors"
           : own          ? "--affinity local"
           : local        ? "--gamma auto"
                          : "--gamma auto, or --affinity local";
}

/* Whether half of the objects looked at are similar to hardly any other. That most pairs are not is as it should be
 * where there are many clusters, or scales are local. */
static clv_status are_alone(const clv_affinity *a, int64_t n, bool *alone) {
    clv_context *ctx = clv_affinity_context(a);
    double *column = CLV_NEW(ctx, double, n);
    clv_status status = column ? CLV_OK : CLV_ENOMEM;
    int lone = 0;
    for (int64_t s = 0; status == CLV_OK && s < OBJECTS; s++) {
        int64_t i = s * n / OBJECTS, similar = 0;
        status = clv_affinity_column(a, i, column);
        for (int64_t j = 0; status == CLV_OK && j < n; j++) {
            similar += j != i && column[j] >= STEEP;
        }
        lone += similar < NEAR;
    }
    *alone = 2 * lone > OBJECTS;
    clv_free(ctx, column);
    return status;
}

/* Quantiles of those between pairs of different objects that are drawn from a fixed seed. */
static clv_status advise_on_gamma(clv_advice *advice) {
    const clv_affinity *a = advice->input->affinity;
    const clv_affinity_info *info = advice->info;
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
    if (steep) {
        CLV_TRY(are_alone(a, info->n, &steep));
    }
    advice->useless = flat || steep;
    return advice->useless
               ? clv_result_warn(
                     advice->result,
                     "at gamma %.3g almost all similarities are %s (10 %%, 50 %% and 90 %% of them are below %.3g, "
                     "%.3g and %.3g): try %s",
                     info->gamma, flat ? "1" : "0", quantiles[0], quantiles[1], quantiles[2],
                     other_gamma(a, info, flat))
               : CLV_OK;
}

/* --- memberships in k clusters --- */

/* What a run of symnmf, or of a consensus by it, has found. */
typedef struct fit {
    double mean, variation; /* of the similarities */
    double entropy;         /* of the memberships on average, of the largest that it can be; NaN: not known */
    bool calibrated;        /* gamma is the one that symnmf takes by itself, or next to it */
} fit;

static bool find_fit(const clv_result *result, fit *out) {
    const clv_field *entropy = clv_result_field(result, "entropy");
    double mean = clv_result_real(result, "mean_similarity", NAN);
    bool known = entropy && entropy->reals && entropy->count > 0;
    *out = (fit){.mean = mean,
                 .variation = clv_result_real(result, "variation", 1),
                 .entropy = known ? clv_sum(entropy->reals, entropy->count, 1) / (double)entropy->count /
                                        log((double)result->k)
                                  : NAN,
                 .calibrated = fabs(mean / clv_symnmf_mean(result->k) - 1) < CALIBRATED};
    return !isnan(mean);
}

/* Where symnmf has no use for the similarities that there are. */
static const char *other_method(const clv_advice *advice) {
    const clv_affinity_info *info = advice->info;
    return !info                                    ? "--method ncut"
           : info->kind == CLV_AFFINITY_PRECOMPUTED ? "ncut"
           : !has_gamma(info)                       ? "--affinity gaussian, or ncut"
           : info->kind == CLV_AFFINITY_LOCAL       ? "ncut, or other columns"
                                                    : "--affinity local, or ncut";
}

/* One diagnosis, the first that explains the others. */
static clv_status advise_on_fit(clv_advice *advice) {
    clv_result *result = advice->result;
    bool tunable = has_gamma(advice->info);
    double k = (double)result->k;
    fit f;
    if (result->k < 2 || result->n < 2 || !find_fit(result, &f)) {
        return CLV_OK;
    }
    advice->useless = f.mean * k < NEAR_IDENTITY || f.variation < NEAR_EQUAL || f.mean > 1;
    if (f.mean > 1) {
        return clv_result_warn(
            result,
            "the mean similarity is %.3g, but that of memberships is 1 at most, where all objects are "
            "in one cluster: divide the similarities by the largest, or try %s",
            f.mean, other_method(advice));
    }
    if (f.mean * k < NEAR_IDENTITY) {
        return clv_result_warn(result,
                               "the mean similarity is %.3g, but memberships in %lld clusters have at least %.3g: the "
                               "affinity is too close to the identity to tell clusters apart; try %s",
                               f.mean, (long long)result->k, 1 / k,
                               tunable ? "--gamma auto or a smaller --gamma" : other_method(advice));
    }
    if (f.variation < NEAR_EQUAL) {
        return clv_result_warn(
            result,
            "the similarities vary by %.3g of their squares around their mean of %.3g: they are too equal to tell "
            "clusters apart; try %s",
            f.variation, f.mean,
            tunable && advice->copied  ? "one object of each group of equal ones"
            : tunable && !f.calibrated ? "--gamma auto or a larger --gamma"
            : tunable                  ? "ncut, or other columns"
                                       : other_method(advice));
    }
    return f.entropy > UNDECIDED && result->n >= CLV_FEW_OBJECTS
               ? clv_result_warn(result,
                                 "memberships are nearly uniform, with %.2f of the largest entropy on average: labels "
                                 "say little; try %s",
                                 f.entropy, tunable && !f.calibrated ? "--gamma auto" : other_method(advice))
               : CLV_OK;
}

clv_status clv_advise_on_similarities(clv_advice *advice) {
    const clv_affinity_info *info = advice->info;
    bool fitted = clv_method_gives(advice->method, "mean_similarity");
    if (fitted || !has_gamma(info) || info->landmarks > 0 || info->n < CLV_FEW_OBJECTS) {
        return fitted ? advise_on_fit(advice) : CLV_OK;
    }
    return advise_on_gamma(advice);
}
