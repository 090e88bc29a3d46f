/* Warnings that a user can act on: what the data, the similarities and the clusters look like, and what to try. They
 * are about answers that are right and of no use, and none of them is about data in good order. Points are looked at in
 * at most ROWS rows, similarities in PAIRS pairs. */
#include "methods/methods.h"

#include "affinity/affinity.h"
#include "affinity/kinds.h"
#include "base/ranks.h"
#include "engine/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096, PAIRS = 1024, FEW = 50, COLUMNS_A_HEAVY = 6 };
#define FEW_COLUMNS 0.95 /* of the squared distances, by one column of several or by few of many */
#define REPEATED 0.25    /* of the objects */
#define ALL_IN_ONE 0.95  /* of the objects, in one cluster */
#define TINY 0.02        /* of an equal share of the objects, in half of the clusters */
#define LEFT_OUT 0.5     /* of the objects */
#define UNDECIDED 0.9    /* of the largest entropy, on average */
#define WIDE_BOUND 0.1   /* of the objective */
#define FLAT 0.95        /* nine tenths of the similarities are above it: almost 1 */
#define STEEP 1e-3       /* or below it: almost 0 */

/* --- points --- */

static int64_t rows_of(const clv_matrix *points) {
    return points->rows < ROWS ? points->rows : ROWS;
}

/* Which row is looked at: evenly spread. */
static int64_t row_at(const clv_matrix *points, int64_t r) {
    return (int64_t)((double)r * (double)points->rows / (double)rows_of(points));
}

/* Rows first .. last - 1 of these: to spread[0..p-1] the squares about the means, which follow there; `row`: p. And a
 * number of each row, by its contents. */
static void look_at(const clv_matrix *points, int64_t first, int64_t last, double *spread, double *row,
                    uint64_t *keys) {
    int64_t p = points->cols;
    double *mean = spread + p;
    for (int64_t r = first; r < last; r++) {
        uint64_t key = 0;
        clv_matrix_row(points, row_at(points, r), row);
        for (int64_t f = 0; f < p; f++) {
            uint64_t bits;
            double value = row[f] + 0.0, before = value - mean[f]; /* -0 is 0 */
            memcpy(&bits, &value, sizeof bits);
            key = (key ^ bits ^ (key >> 29)) * UINT64_C(0x9E3779B97F4A7C15);
            mean[f] += before / (double)(r + 1);
            spread[f] += before * (value - mean[f]);
        }
        keys[r] = key ^ (key >> 32);
    }
}

/* All of them, by ranks in turn: each has the rows of its share at hand. */
static clv_status look_at_all(clv_context *ctx, const clv_matrix *points, double *spread, uint64_t *keys) {
    int64_t p = points->cols, rows = rows_of(points), first, last, own, end;
    memset(spread, 0, 2 * (size_t)p * sizeof *spread);
    clv_share(ctx, rows, &own, &end);
    for (int q = 0; q < clv_rank_count(ctx); q++) {
        clv_share_of(ctx, q, rows, &first, &last);
        if (first == own && last == end) {
            look_at(points, first, last, spread, spread + 2 * p, keys);
        }
        CLV_TRY(clv_broadcast(ctx, CLV_OK, spread, 2 * p * (int64_t)sizeof *spread, q));
    }
    return clv_gather_items(ctx, CLV_OK, keys, sizeof *keys, rows, 1);
}

static int compare_keys(const void *l, const void *r) {
    uint64_t a = *(const uint64_t *)l, b = *(const uint64_t *)r;
    return (a > b) - (a < b);
}

static int64_t count_repeats(uint64_t *keys, int64_t rows) {
    int64_t repeats = 0;
    qsort(keys, (size_t)rows, sizeof *keys, compare_keys);
    for (int64_t r = 1; r < rows; r++) {
        repeats += keys[r] == keys[r - 1];
    }
    return repeats;
}

static int compare_falling(const void *l, const void *r) {
    double a = *(const double *)l, b = *(const double *)r;
    return (a < b) - (a > b);
}

/* `spread` is put in order. */
static clv_status advise_on_columns(double *spread, int64_t p, clv_result *result) {
    double total = 0, reached = 0;
    int64_t constant = 0, heavy = 0;
    qsort(spread, (size_t)p, sizeof *spread, compare_falling);
    for (int64_t f = 0; f < p; f++) {
        total += spread[f];
        constant += spread[f] <= 0;
    }
    while (heavy < p && reached < FEW_COLUMNS * total) {
        reached += spread[heavy++];
    }
    if (p - constant > 1 && heavy > 0 && (heavy == 1 || COLUMNS_A_HEAVY * heavy <= p)) {
        CLV_TRY(clv_result_warn(
            result,
            "%lld of %lld columns %s %.1f %% of the variance: distances are those in %s, and the others "
            "hardly count; try --scale standard",
            (long long)heavy, (long long)p, heavy == 1 ? "has" : "have", 100 * reached / total,
            heavy == 1 ? "it" : "them"));
    }
    if (2 * constant > p) {
        CLV_TRY(clv_result_warn(result,
                                "%lld of %lld columns are constant, and say nothing about the objects: try --drop",
                                (long long)constant, (long long)p));
    }
    return CLV_OK;
}

static clv_status advise_on_points(clv_context *ctx, const clv_matrix *points, clv_result *result) {
    int64_t p = points->cols, rows = rows_of(points);
    clv_kept work = {.ctx = ctx};
    double *spread = CLV_TAKE(&work, double, 3 * p);
    uint64_t *keys = CLV_TAKE(&work, uint64_t, rows);
    clv_status status = work.status;
    if (status == CLV_OK) {
        status = look_at_all(ctx, points, spread, keys);
    }
    if (status == CLV_OK) {
        status = advise_on_columns(spread, p, result);
    }
    if (status == CLV_OK) {
        int64_t repeats = count_repeats(keys, rows);
        if ((double)repeats > REPEATED * (double)rows) {
            status = clv_result_warn(result, "%lld of %lld objects are copies of others: try each of them once%s",
                                     (long long)repeats, (long long)rows,
                                     strcmp(result->method, "kpalm") == 0 ? ", with --sample-weights" : "");
        }
    }
    clv_free_kept(&work);
    return status;
}

/* --- similarities --- */

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
                     "%.3g and %.3g): try --gamma auto, or --affinity local",
                     info->gamma, flat ? "1" : "0", quantiles[0], quantiles[1], quantiles[2]);
}

/* --- clusters --- */

static const char *other_affinity(const clv_affinity_info *info) {
    bool near = info && clv_kind_of(info->kind)->is_graph;
    return !info                                    ? "--scale standard, or another k"
           : info->kind == CLV_AFFINITY_PRECOMPUTED ? "another k"
           : near                                   ? "more --neighbors, --affinity gaussian, or fewer clusters"
                  : "--affinity local-knn, --scale standard, or look at the few for what they are: outliers";
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
            tiny == 1 ? "" : " each", other_affinity(info));
    }
    if (!all_in_one) {
        return CLV_OK;
    }
    double components = clv_result_real(result, "components", 1);
    return clv_result_warn(
        result,
        "one cluster has %lld of the %lld objects, and %lld of the %lld clusters have at most %.0f each%s: try %s",
        (long long)largest, (long long)objects, (long long)tiny, (long long)result->k, floor(few),
        components >= (double)result->k ? ", as parts of the graph that nothing joins" : "", other_affinity(info));
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

static clv_status advise_on_memberships(clv_result *result) {
    const clv_field *entropy = clv_result_field(result, "entropy");
    if (!entropy || !entropy->reals || entropy->count < 1 || result->k < 2) {
        return CLV_OK;
    }
    double mean = clv_sum(entropy->reals, entropy->count, 1) / (double)entropy->count, most = log((double)result->k);
    return mean > UNDECIDED * most
               ? clv_result_warn(
                     result,
                     "memberships are nearly uniform, with %.2f of the largest entropy on average: labels say "
                     "little; try a larger --gamma, --affinity local, or fewer clusters",
                     mean / most)
               : CLV_OK;
}

static clv_status advise_on_clusters(const clv_method *method, const clv_affinity_info *info, clv_result *result) {
    bool counted = result->labels && result->sizes && result->k >= 2 && result->n >= FEW;
    if (counted && method->k_meaning == CLV_K_CLUSTERS && result->n >= FEW * result->k / 2) {
        CLV_TRY(advise_on_parts(info, result));
        CLV_TRY(advise_on_sizes(info, result));
    }
    if (method->k_meaning == CLV_K_AT_MOST && result->n >= FEW &&
        (double)result->left_out > LEFT_OUT * (double)result->n) {
        CLV_TRY(clv_result_warn(
            result,
            "%lld of %lld objects are in no cluster: try a larger --shift, so that clusters are larger, or "
            "--assign, which gives each to the cluster it is most similar to",
            (long long)result->left_out, (long long)result->n));
    }
    CLV_TRY(advise_on_bound(result));
    return advise_on_memberships(result);
}

/* --- all of it --- */

clv_status clv_advise(clv_context *ctx, const clv_method *method, const clv_input *input, clv_result *result) {
    bool cut = result->stop == CLV_TIME_LIMIT || result->stop == CLV_CANCELLED;
    if (cut || !result->labels || result->n < FEW || !clv_method_gives(method, "warnings")) {
        return CLV_OK;
    }
    bool similar = method->takes == CLV_TAKES_AFFINITY;
    clv_affinity_info info;
    if (similar) {
        clv_affinity_describe(input->affinity, &info);
    }
    const clv_matrix *points = similar ? clv_affinity_points(input->affinity) : input->points;
    if (points && !clv_is_sparse(points) && method->takes != CLV_TAKES_PARTITIONS) {
        CLV_TRY(advise_on_points(ctx, points, result));
    }
    bool has_scale = similar && info.kind != CLV_AFFINITY_PRECOMPUTED && clv_kind_of(info.kind)->has_gamma;
    if (has_scale && info.landmarks == 0) {
        CLV_TRY(advise_on_gamma(input->affinity, &info, result));
    }
    return advise_on_clusters(method, similar ? &info : NULL, result);
}
