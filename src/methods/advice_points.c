/* What points look like: columns that alone count or say nothing, copies, and similarities that were taken for points.
 * They are looked at in at most ROWS rows, for copies in as many as have NUMBERS numbers, for symmetry in PAIRS pairs.
 */
#include "methods/advice.h"

#include "base/ranks.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096, PAIRS = 1024, COLUMNS_A_HEAVY = 6 };
enum { NUMBERS = 1 << 26, NUMBERS_LATE = 1 << 22 }; /* the latter when the time of the run is over */
#define FEW_COLUMNS 0.95                            /* of the squared distances */
#define REPEATED 0.25                               /* of the objects */
/* Between the variances of columns that count and of those that do not: of few, and of more than a sixth. */
#define GAP_OF_FEW 10
#define GAP_OF_MANY 100
/* Between the variances of columns, a tenth of them at either end apart: less is little that scaling them changes. */
#define UNEVEN 10

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

/* How many columns have nearly all of the variance while the others hardly count; 0: all of them count. It is one, or
 * there is a gap below them: variances that fall smoothly, as those of pixels and of principal components do, have
 * none. `spread`: falling, of `varied` columns that are not constant, a quarter of which may be the others. */
static int64_t count_heavy(const double *spread, int64_t varied, double total) {
    double reached = 0;
    int64_t heavy = 0;
    while (heavy < varied && reached < FEW_COLUMNS * total) {
        reached += spread[heavy++];
    }
    if (heavy == 1 && varied > 1) {
        return 1;
    }
    for (int64_t f = heavy; f < varied && 4 * f <= 3 * varied; f++) {
        if (spread[f - 1] >= (COLUMNS_A_HEAVY * f <= varied ? GAP_OF_FEW : GAP_OF_MANY) * spread[f]) {
            return f;
        }
    }
    return 0;
}

/* `spread` is put in order. */
static clv_status advise_on_columns(double *spread, int64_t p, clv_advice *advice) {
    clv_result *result = advice->result;
    double total = 0, reached = 0;
    int64_t constant = 0;
    qsort(spread, (size_t)p, sizeof *spread, compare_falling);
    for (int64_t f = 0; f < p; f++) {
        total += spread[f];
        constant += spread[f] <= 0;
    }
    int64_t varied = p - constant, heavy = count_heavy(spread, varied, total);
    advice->uneven = varied > 1 && spread[varied / 10] > UNEVEN * spread[varied - 1 - varied / 10];
    for (int64_t f = 0; f < heavy; f++) {
        reached += spread[f];
    }
    if (heavy > 0) {
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

static clv_status advise_on_spread(int64_t most, clv_advice *advice) {
    clv_context *ctx = advice->ctx;
    const clv_matrix *points = advice->points;
    int64_t p = points->cols, rows = p > 0 && most / p < ROWS ? most / p : ROWS;
    rows = rows < CLV_FEW_OBJECTS ? CLV_FEW_OBJECTS : rows;
    rows = rows < points->rows ? rows : points->rows;
    double *spread = CLV_NEW(ctx, double, 3 * p);
    clv_status status = spread ? look_at_all(ctx, points, rows, spread) : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = advise_on_columns(spread, p, advice);
    }
    clv_free(ctx, spread);
    return status;
}

/* Nothing else has to be said of objects that are all equal, or of which there are fewer than clusters. */
static clv_status advise_on_copies(int64_t most, clv_advice *advice) {
    clv_result *result = advice->result;
    int64_t n = advice->points->rows;
    clv_copies found;
    CLV_TRY(clv_count_copies(advice->ctx, advice->points, most, &found));
    int64_t different = found.looked - found.copies;
    bool counted = found.exact && found.looked == n, clusters = advice->method->k_meaning == CLV_K_CLUSTERS;
    advice->settled = counted && (different == 1 || (clusters && different < result->k));
    if (advice->settled && different == 1) {
        return clv_result_warn(result, "all %lld objects are equal, in every column: there is nothing to cluster by",
                               (long long)n);
    }
    if (advice->settled) {
        return clv_result_warn(result,
                               "%lld of %lld objects are copies of others, and the %lld different ones cannot be %lld "
                               "clusters: try -k %lld",
                               (long long)found.copies, (long long)n, (long long)different, (long long)result->k,
                               (long long)different);
    }
    if ((double)found.copies <= REPEATED * (double)found.looked) {
        return CLV_OK;
    }
    advice->copied = true;
    int64_t unit = found.exact ? 1 : 100; /* no more digits than are known */
    return clv_result_warn(result, "%s%lld of %lld objects%s are copies of others: try each of them once%s",
                           found.exact ? "" : "about ", (long long)((found.copies + unit / 2) / unit * unit),
                           (long long)found.looked, found.looked < n ? " looked at" : "",
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

/* The first rank looks for all: it may have to read rows of others, but not many. */
static clv_status find_pairs(clv_context *ctx, const clv_matrix *points, bool *found) {
    bool looks = !clv_is_shared(ctx) || clv_context_ranks(ctx).rank == 0;
    *found = looks && is_of_pairs(points);
    return points->rows == points->cols ? clv_broadcast(ctx, CLV_OK, found, sizeof *found, 0) : CLV_OK;
}

static clv_status advise_on_pairs(const clv_advice *advice) {
    const clv_matrix *points = advice->points;
    clv_result *result = advice->result;
    bool similar = advice->info != NULL, found;
    CLV_TRY(find_pairs(advice->ctx, points, &found));
    return found ? clv_result_warn(
                       result,
                       "the data are %lld x %lld and symmetric, and were taken for points: similarities of "
                       "pairs are for %s--affinity precomputed (distances have to be made similarities first)",
                       (long long)points->rows, (long long)points->cols,
                       similar ? "" : "ncut, symnmf and dominant, with ")
                 : CLV_OK;
}

/* --- all of it --- */

clv_status clv_advise_on_points(clv_advice *advice) {
    const clv_matrix *points = advice->points;
    bool cut = advice->result->stop == CLV_TIME_LIMIT || advice->result->stop == CLV_CANCELLED;
    if (points) {
        CLV_TRY(advise_on_pairs(advice));
    }
    if (points && !clv_is_sparse(points)) {
        CLV_TRY(advise_on_spread(cut ? NUMBERS_LATE : NUMBERS, advice));
        CLV_TRY(advise_on_copies(cut ? NUMBERS_LATE : NUMBERS, advice));
    }
    return CLV_OK;
}
