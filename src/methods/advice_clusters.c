/* What clusters look like: their sizes, parts of the graph that nothing joins, objects in none, and what the bound
 * says. */
#include "methods/advice.h"

#include <math.h>
#include <string.h>

#define ALL_IN_ONE 0.95 /* of the objects, in one cluster */
#define TINY 0.02       /* of an equal share of the objects, in half of the clusters */
#define LEFT_OUT 0.5    /* of the objects */
#define WIDE_BOUND 0.1  /* of the objective */

#define OUTLIERS "look at the few for what they are: outliers"

/* One way only, so that nobody is sent in a circle: from all pairs to near ones; for symnmf, which has no use for
 * these, to local scales. */
static const char *other_affinity(const clv_affinity_info *info, const clv_result *result) {
    bool near = info && clv_kind_of(info->kind)->is_graph, pairs = strcmp(result->method, "symnmf") == 0;
    return !info                                    ? "--scale standard, or another k"
           : info->kind == CLV_AFFINITY_PRECOMPUTED ? "another k"
           : near                                   ? "more --neighbors, fewer clusters, or " OUTLIERS
           : !pairs                                 ? "--affinity local-knn, --scale standard, or " OUTLIERS
           : info->kind == CLV_AFFINITY_LOCAL       ? "--scale standard, or " OUTLIERS
                                                    : "--affinity local, --scale standard, or " OUTLIERS;
}

static clv_status advise_on_sizes(const clv_affinity_info *info, clv_result *result) {
    int64_t objects = result->n - result->left_out, tiny = 0, largest = 0;
    double few = fmax(TINY * (double)objects / (double)result->k, 1);
    for (int64_t c = 0; c < result->k; c++) {
        largest = result->sizes[c] > largest ? result->sizes[c] : largest;
        tiny += (double)result->sizes[c] <= few;
    }
    bool all_in_one = (double)largest >= ALL_IN_ONE * (double)objects || (tiny > 0 && 2 * tiny >= result->k);
    if (!all_in_one && tiny > 0) {
        return clv_result_warn(
            result,
            "%lld of the %lld clusters %s at most %.0f of the %lld objects%s, lone outliers perhaps, which "
            "take the place of a cluster: leave them out, or try %s",
            (long long)tiny, (long long)result->k, tiny == 1 ? "has" : "have", floor(few), (long long)objects,
            tiny == 1 ? "" : " each", other_affinity(info, result));
    }
    if (!all_in_one) {
        return CLV_OK;
    }
    double components = clv_result_real(result, "components", 1);
    return clv_result_warn(
        result,
        "one cluster has %lld of the %lld objects, and %lld of the %lld clusters have at most %.0f each%s: try %s",
        (long long)largest, (long long)objects, (long long)tiny, (long long)result->k, floor(few),
        components >= (double)result->k ? ", as parts of the graph that nothing joins" : "",
        other_affinity(info, result));
}

static const char *fewer_parts(const clv_affinity_info *info, bool dust) {
    if (!dust) {
        return info && clv_kind_of(info->kind)->is_graph ? "as many clusters as parts, or more --neighbors"
                                                         : "as many clusters as parts";
    }
    return info && !isnan(info->gamma) ? "a smaller --gamma: at this one most objects are similar to nothing else"
                                       : "other similarities: most objects have none";
}

/* Nothing is cut, whichever of the parts share a cluster. */
static clv_status advise_on_parts(const clv_affinity_info *info, clv_result *result) {
    int64_t parts = clv_result_integer(result, "components", 1);
    return parts > result->k
               ? clv_result_warn(result,
                                 "nothing joins the %lld parts of the graph, and there are %lld clusters: which parts "
                                 "share one is arbitrary; try %s",
                                 (long long)parts, (long long)result->k, fewer_parts(info, 2 * parts > result->n))
               : CLV_OK;
}

static clv_status advise_on_bound(clv_result *result) {
    const clv_objective *objective = &result->objective;
    double trivial = 0.1 * (double)(result->k - 1) / 2;
    return result->bound.name && !objective->maximize && objective->value > trivial &&
                   result->bound.value < WIDE_BOUND * objective->value
               ? clv_result_warn(
                     result,
                     "the bound of %.3g says nothing about how much lower than %.3g the objective could be: try "
                     "more --restarts, and see whether they agree",
                     result->bound.value, objective->value)
               : CLV_OK;
}

clv_status clv_advise_on_clusters(const clv_advice *advice) {
    const clv_method *method = advice->method;
    const clv_affinity_info *info = advice->info;
    clv_result *result = advice->result;
    bool counted = result->labels && result->sizes && result->k >= 2 && !advice->useless;
    if (counted && method->k_meaning == CLV_K_CLUSTERS && result->n >= CLV_FEW_OBJECTS * result->k / 2) {
        CLV_TRY(advise_on_parts(info, result));
        CLV_TRY(advise_on_sizes(info, result));
    }
    if (method->k_meaning == CLV_K_AT_MOST && (double)result->left_out > LEFT_OUT * (double)result->n) {
        CLV_TRY(clv_result_warn(
            result,
            "%lld of %lld objects are in no cluster: try a larger --shift, so that clusters are larger, or "
            "--assign, which gives each to the cluster it is most similar to",
            (long long)result->left_out, (long long)result->n));
    }
    return advise_on_bound(result);
}
