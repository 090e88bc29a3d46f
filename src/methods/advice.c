/* Warnings that a user can act on: what the data, the similarities and the clusters look like, and what to try. They
 * are about answers that are right and of no use, and none of them is about data in good order. Points are looked at in
 * at most ROWS rows, for copies in as many as have NUMBERS numbers, and similarities in PAIRS pairs. */
#include "methods/methods.h"

#include "affinity/affinity.h"
#include "affinity/kinds.h"
#include "base/ranks.h"
#include "engine/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096, PAIRS = 1024, FEW = 50, COLUMNS_A_HEAVY = 6 };
enum { NUMBERS = 1 << 26, NUMBERS_LATE = 1 << 22 }; /* the latter when the time of the run is over */
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

/* Which row is looked at: evenly spread. */
static int64_t row_at(const clv_matrix *points, int64_t rows, int64_t r) {
    return (int64_t)((double)r * (double)points->rows / (double)rows);
}

/* Rows first .. last - 1 of these: to spread[0..p-1] the squares about the means, which follow there; `row`: p. */
static void look_at(const clv_matrix *points, int64_t rows, int64_t first, int64_t last, double *spread, double *row) {
    int64_t p = points->cols;
    double *mean = spread + p;
    for (int64_t r = first; r < last; r++) {
        clv_matrix_row(points, row_at(points, rows, r), row);
        for (int64_t f = 0; f < p; f++) {
            double before = row[f] - mean[f];
            mean[f] += before / (double)(r + 1);
            spread[f] += before * (row[f] - mean[f]);
        }
    }
}

/* All of them, by ranks in turn: each has the rows of its share at hand. */
static clv_status look_at_all(clv_context *ctx, const clv_matrix *points, int64_t rows, double *spread) {
    int64_t p = points->cols, first, last, own, end;
    memset(spread, 0, 2 * (size_t)p * sizeof *spread);
    clv_share(ctx, rows, &own, &end);
    for (int q = 0; q < clv_rank_count(ctx); q++) {
        clv_share_of(ctx, q, rows, &first, &last);
        if (first == own && last == end) {
            look_at(points, rows, first, last, spread, spread + 2 * p);
        }
        CLV_TRY(clv_broadcast(ctx, CLV_OK, spread, 2 * p * (int64_t)sizeof *spread, q));
    }
    return CLV_OK;
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
    if (2 * constant > p && constant < p) {
        CLV_TRY(clv_result_warn(result,
                                "%lld of %lld columns are constant, and say nothing about the objects: leave them out "
                                "(of a .csv by --drop)",
                                (long long)constant, (long long)p));
    }
    return CLV_OK;
}

static clv_status advise_on_spread(clv_context *ctx, const clv_matrix *points, int64_t most, clv_result *result) {
    int64_t p = points->cols, rows = p > 0 && most / p < ROWS ? most / p : ROWS;
    rows = rows < FEW ? FEW : rows;
    rows = rows < points->rows ? rows : points->rows;
    double *spread = CLV_NEW(ctx, double, 3 * p);
    clv_status status = spread ? look_at_all(ctx, points, rows, spread) : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = advise_on_columns(spread, p, result);
    }
    clv_free(ctx, spread);
    return status;
}

/* `equal`: all of them are copies of one, and there is nothing else to say. */
static clv_status advise_on_copies(clv_context *ctx, const clv_matrix *points, int64_t most, bool *equal,
                                   clv_result *result) {
    clv_copies found;
    CLV_TRY(clv_count_copies(ctx, points, most, &found));
    *equal = found.looked == points->rows && found.copies == found.looked - 1;
    if (*equal) {
        return clv_result_warn(result, "all %lld objects are equal, in every column: there is nothing to cluster by",
                               (long long)found.looked);
    }
    if ((double)found.copies <= REPEATED * (double)found.looked) {
        return CLV_OK;
    }
    int64_t unit = found.exact ? 1 : 100; /* no more digits than are known */
    return clv_result_warn(result, "%s%lld of %lld objects%s are copies of others: try each of them once%s",
                           found.exact ? "" : "about ", (long long)((found.copies + unit / 2) / unit * unit),
                           (long long)found.looked, found.looked < points->rows ? " looked at" : "",
                           strcmp(result->method, "kpalm") == 0 ? ", with --sample-weights" : "");
}

static double entry_of(const clv_matrix *m, int64_t i, int64_t j) {
    const float *singles = m->values;
    const double *doubles = m->values;
    return clv_is_sparse(m)       ? clv_csr_entry(m, i, j)
           : m->scalar == CLV_F32 ? (double)singles[i * m->cols + j]
                                  : doubles[i * m->cols + j];
}

/* A place in row i: of an entry that is stored, if there is one. */
static int64_t draw_place(const clv_matrix *m, int64_t i, clv_rng *rng) {
    int64_t stored = clv_is_sparse(m) ? m->start[i + 1] - m->start[i] : m->cols;
    int64_t at = stored > 0 ? clv_rng_below(rng, stored) : i;
    return clv_is_sparse(m) && stored > 0 ? m->index[m->start[i] + at] : at;
}

/* Whether these are similarities or distances, taken for points: as many columns as rows, and equal across the diagonal
 * wherever one looks. */
static bool is_of_pairs(const clv_matrix *points) {
    clv_rng rng = clv_rng_stream(0, 1);
    bool symmetric = points->rows == points->cols, varies = false;
    for (int s = 0; symmetric && s < PAIRS; s++) {
        int64_t i = clv_rng_below(&rng, points->rows), j = draw_place(points, i, &rng);
        symmetric = entry_of(points, i, j) == entry_of(points, j, i);
        varies = varies || entry_of(points, i, j) != entry_of(points, i, i);
    }
    return symmetric && varies;
}

static clv_status advise_on_pairs(const clv_matrix *points, bool similar, clv_result *result) {
    return is_of_pairs(points)
               ? clv_result_warn(
                     result,
                     "the data are %lld x %lld and symmetric, and were taken for points: similarities of "
                     "pairs are for %s--affinity precomputed (distances have to be made similarities first)",
                     (long long)points->rows, (long long)points->cols,
                     similar ? "" : "ncut, symnmf and dominant, with ")
               : CLV_OK;
}

/* --- similarities --- */

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

/* --- clusters --- */

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
    return advise_on_memberships(info, result);
}

/* --- all of it --- */

static clv_status advise(clv_context *ctx, const clv_method *method, const clv_input *input, clv_result *result) {
    bool cut = result->stop == CLV_TIME_LIMIT || result->stop == CLV_CANCELLED;
    bool similar = method->takes == CLV_TAKES_AFFINITY;
    clv_affinity_info info;
    if (similar) {
        clv_affinity_describe(input->affinity, &info);
    }
    const clv_matrix *points = similar ? clv_affinity_points(input->affinity) : input->points;
    if (points && method->takes != CLV_TAKES_PARTITIONS && !clv_is_shared(ctx)) {
        CLV_TRY(advise_on_pairs(points, similar, result));
    }
    if (points && !clv_is_sparse(points) && method->takes != CLV_TAKES_PARTITIONS) {
        bool equal = false;
        CLV_TRY(advise_on_spread(ctx, points, cut ? NUMBERS_LATE : NUMBERS, result));
        CLV_TRY(advise_on_copies(ctx, points, cut ? NUMBERS_LATE : NUMBERS, &equal, result));
        if (equal) {
            return CLV_OK;
        }
    }
    bool has_scale = similar && info.kind != CLV_AFFINITY_PRECOMPUTED && clv_kind_of(info.kind)->has_gamma;
    if (has_scale && info.landmarks == 0) {
        CLV_TRY(advise_on_gamma(input->affinity, &info, result));
    }
    return advise_on_clusters(method, similar ? &info : NULL, result);
}

/* Also of a run that was ended, in a moment: what is wrong with its data is what a longer one ends with. */
clv_status clv_advise(clv_context *ctx, const clv_method *method, const clv_input *input, clv_result *result) {
    if (!result->labels || result->n < FEW || !clv_method_gives(method, "warnings")) {
        return CLV_OK;
    }
    clv_status status = advise(ctx, method, input, result);
    return clv_is_stop(status) ? CLV_OK : status;
}
