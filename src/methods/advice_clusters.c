/* What clusters look like: their sizes, parts of the graph that nothing joins, objects in none, and what the bound
 * says. */
#include "methods/advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SOME_RESTARTS = 5 };
#define ALL_IN_ONE 0.95     /* of the objects, in one cluster */
#define TINY 0.02           /* of an equal share of the objects, in a cluster or a part of the graph */
#define OUTLYING 0.05       /* of the objects at most, in parts of the graph that small */
#define LEFT_OUT 0.5        /* of the objects */
#define WIDE_BOUND 0.1      /* of the objective */
#define NEGLIGIBLE_CUT 5e-3 /* of the similarities of a cluster, on average */
#define AGREEING 0.01       /* the objectives of restarts, of the best */

/* --- parts of the graph --- */

/* Parts of few objects, and how many objects they have together. */
static clv_status count_small_parts(const clv_advice *advice, double few, int64_t *parts, int64_t *objects) {
    int64_t n = advice->result->n, count = 0;
    clv_kept work = {.ctx = advice->ctx};
    int32_t *part = CLV_TAKE(&work, int32_t, n);
    int64_t *size = CLV_TAKE0(&work, int64_t, n);
    clv_status status = work.status;
    status = status == CLV_OK ? clv_affinity_components(advice->input->affinity, part, &count) : status;
    for (int64_t i = 0; status == CLV_OK && i < n; i++) {
        if (part[i] >= 0) {
            size[part[i]]++;
        }
    }
    *parts = *objects = 0;
    for (int64_t c = 0; status == CLV_OK && c < count; c++) {
        if ((double)size[c] <= few) {
            *parts += 1;
            *objects += size[c];
        }
    }
    clv_free_kept(&work);
    return status;
}

static const char *denser(const clv_affinity_info *info) {
    return clv_kind_of(info->kind)->is_graph ? "more --neighbors"
           : isnan(info->gamma)              ? "other similarities"
                                             : "a smaller --gamma";
}

/* A few objects that nothing is similar to are no clusters: to ask for as many as there are parts would make them such.
 */
static clv_status advise_on_small_parts(const clv_advice *advice, int64_t parts, int64_t objects) {
    clv_result *result = advice->result;
    bool outlying = (double)objects <= OUTLYING * (double)result->n;
    if (objects == 1) {
        return clv_result_warn(result,
                               "1 of the %lld objects is joined to no other, an outlier perhaps, and its cluster is "
                               "arbitrary: leave it out",
                               (long long)result->n);
    }
    return clv_result_warn(
        result,
        "%lld of the %lld objects are in %lld small %s of the graph that nothing joins to the rest%s, "
        "and their clusters are arbitrary: %s%s",
        (long long)objects, (long long)result->n, (long long)parts, parts == 1 ? "part" : "parts",
        outlying ? ", outliers perhaps" : "", outlying ? "leave them out" : "try ",
        outlying ? "" : denser(advice->info));
}

/* Nothing is cut, whichever of the parts share a cluster. */
static clv_status advise_on_parts(const clv_advice *advice, double few, bool *said) {
    clv_result *result = advice->result;
    const clv_affinity_info *info = advice->info;
    int64_t parts = clv_result_integer(result, "components", 1), small, objects;
    *said = info && parts > result->k;
    if (!*said) {
        return CLV_OK;
    }
    if (2 * parts > result->n) {
        return clv_result_warn(
            result,
            "nothing joins the %lld parts of the graph, and there are %lld clusters: which parts share one is "
            "arbitrary; try %s",
            (long long)parts, (long long)result->k,
            isnan(info->gamma) ? "other similarities: most objects have none"
                               : "a smaller --gamma: at this one most objects are similar to nothing else");
    }
    CLV_TRY(count_small_parts(advice, few, &small, &objects));
    if (parts - small <= result->k) {
        return advise_on_small_parts(advice, small, objects);
    }
    return clv_result_warn(
        result,
        "nothing joins the %lld %sparts of the graph, and there are %lld clusters: which parts share "
        "one is arbitrary; try as many clusters as parts%s",
        (long long)(parts - small), small > 0 ? "larger " : "", (long long)result->k,
        clv_kind_of(info->kind)->is_graph ? ", or more --neighbors" : "");
}

/* --- sizes --- */

typedef struct sizes {
    int64_t objects, largest, tiny, empty; /* tiny: of few objects, and not empty */
    double few;
} sizes;

static sizes count_sizes(const clv_result *result) {
    int64_t objects = result->n - result->left_out;
    sizes s = {.objects = objects, .few = floor(fmax(TINY * (double)objects / (double)result->k, 1))};
    for (int64_t c = 0; c < result->k; c++) {
        int64_t size = result->sizes[c];
        s.largest = size > s.largest ? size : s.largest;
        s.tiny += size > 0 && (double)size <= s.few;
        s.empty += size == 0;
    }
    return s;
}

typedef struct ways {
    char text[160];
} ways;

static void suggest(ways *w, bool apt, const char *way) {
    size_t length = strlen(w->text);
    if (apt) {
        snprintf(w->text + length, sizeof w->text - length, "%s%s", length > 0 ? ", or " : "", way);
    }
}

/* What has not been tried yet, and one way only, so that nobody is sent in a circle: from all pairs to near ones; for
 * symnmf, which has no use for these, to local scales; from squared distances to distances; from symnmf and kpalm to
 * ncut. `most`: most clusters are of no use. */
static ways other_ways(const clv_advice *advice, bool most) {
    const clv_affinity_info *info = advice->info;
    const clv_result *result = advice->result;
    bool pairs = strcmp(result->method, "symnmf") == 0, means = strcmp(result->method, "kpalm") == 0;
    bool near = info && clv_kind_of(info->kind)->is_graph, local = info && info->kind == CLV_AFFINITY_LOCAL;
    bool far = info && !near && info->kind != CLV_AFFINITY_PRECOMPUTED;
    bool whole = clv_result_integer(result, "components", 1) < result->k;
    ways w = {""};
    suggest(&w, advice->uneven, "--scale standard");
    suggest(&w, far && !pairs, "--affinity local-knn");
    suggest(&w, far && pairs, local ? "ncut" : "--affinity local");
    suggest(&w, near && whole && most, "more --neighbors");
    suggest(&w, means && strcmp(result->objective.name, clv_kpalm_method.objective) == 0, "--norm euclidean");
    suggest(&w, means, "ncut");
    return w;
}

/* Nearly all objects in one cluster; a few are not, unless it is all of them. */
static clv_status advise_on_one(const clv_advice *advice, const sizes *s) {
    clv_result *result = advice->result;
    int64_t small = s->tiny + s->empty;
    char others[96] = "";
    ways w = other_ways(advice, true);
    if (s->largest < s->objects) {
        suggest(&w, true, "looking at the few for what they are: outliers");
    }
    suggest(&w, w.text[0] == 0, advice->info ? "other similarities" : "other inputs");
    if (small > 0) {
        snprintf(others, sizeof others, ", and %lld of the %lld clusters %s at most %.0f%s", (long long)small,
                 (long long)result->k, small == 1 ? "has" : "have", s->few, small == 1 ? "" : " each");
    }
    return clv_result_warn(result, "one cluster has %lld of the %lld objects%s: try %s", (long long)s->largest,
                           (long long)s->objects, others, w.text);
}

static clv_status advise_on_sizes(const clv_advice *advice, const sizes *s) {
    clv_result *result = advice->result;
    if ((double)s->largest >= ALL_IN_ONE * (double)s->objects) {
        return advise_on_one(advice, s);
    }
    if (s->tiny > 0) {
        ways w = other_ways(advice, 2 * s->tiny >= result->k);
        CLV_TRY(clv_result_warn(
            result,
            "%lld of the %lld clusters %s at most %.0f of the %lld objects%s, lone outliers perhaps, which take the "
            "place of a cluster: leave them out%s%s",
            (long long)s->tiny, (long long)result->k, s->tiny == 1 ? "has" : "have", s->few, (long long)s->objects,
            s->tiny == 1 ? "" : " each", w.text[0] ? ", or try " : "", w.text));
    }
    return s->empty > 0 ? clv_result_warn(result, "%lld of the %lld clusters %s empty: try -k %lld, or more --restarts",
                                          (long long)s->empty, (long long)result->k, s->empty == 1 ? "is" : "are",
                                          (long long)(result->k - s->empty))
                        : CLV_OK;
}

/* --- dominant sets --- */

static clv_status advise_on_sets(const clv_advice *advice) {
    const clv_dominant_options *options = advice->options;
    clv_result *result = advice->result;
    sizes s = count_sizes(result);
    if ((double)result->left_out > LEFT_OUT * (double)result->n) {
        return clv_result_warn(
            result, "%lld of %lld objects are in no cluster: try a larger --shift, so that clusters are larger%s",
            (long long)result->left_out, (long long)result->n,
            options->assign ? "" : ", or --assign, which gives each to the cluster it is most similar to");
    }
    return options->k != 1 && options->shift > 0 && (double)s.largest >= ALL_IN_ONE * (double)result->n
               ? clv_result_warn(result, "one cluster has %lld of the %lld objects: try a smaller --shift%s",
                                 (long long)s.largest, (long long)result->n, options->k > 1 ? ", or --shift auto" : "")
               : CLV_OK;
}

/* --- the bound --- */

/* Whether it has been tried, and half of them ended next to the best. */
static bool do_restarts_agree(const clv_result *result) {
    int64_t near = 0;
    for (int64_t r = 0; r < result->restarts_count; r++) {
        near += result->restarts[r].objective <= (1 + AGREEING) * result->objective.value;
    }
    return result->restarts_count >= SOME_RESTARTS && 2 * near >= result->restarts_count;
}

/* Of a cut that is next to nothing, no better one is missed. */
static clv_status advise_on_bound(clv_result *result) {
    const clv_objective *objective = &result->objective;
    return result->bound.name && !objective->maximize && objective->value > NEGLIGIBLE_CUT * (double)result->k &&
                   result->bound.value < WIDE_BOUND * objective->value && !do_restarts_agree(result)
               ? clv_result_warn(
                     result,
                     "the bound of %.3g says nothing about how much lower than %.3g the objective could be: try "
                     "more --restarts, and see whether they agree",
                     result->bound.value, objective->value)
               : CLV_OK;
}

clv_status clv_advise_on_clusters(const clv_advice *advice) {
    clv_result *result = advice->result;
    bool many = result->n >= CLV_FEW_OBJECTS * result->k / 2;
    if (result->sizes && result->k >= 2 && advice->method->k_meaning == CLV_K_CLUSTERS && many) {
        sizes s = count_sizes(result);
        bool said;
        CLV_TRY(advise_on_parts(advice, s.few, &said));
        CLV_TRY(said ? CLV_OK : advise_on_sizes(advice, &s));
    }
    if (result->sizes && advice->method == &clv_dominant_method) {
        CLV_TRY(advise_on_sets(advice));
    }
    return advise_on_bound(result);
}
