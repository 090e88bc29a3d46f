/* What points look like: columns that alone count or say nothing, copies, and similarities that were taken for points.
 * They are looked at in at most ROWS rows, for copies in as many as have NUMBERS numbers, for symmetry in PAIRS pairs. */
#include "methods/advice.h"

#include "base/ranks.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096, PAIRS = 1024, COLUMNS_A_HEAVY = 6 };
enum { NUMBERS = 1 << 26, NUMBERS_LATE = 1 << 22 }; /* the latter when the time of the run is over */
#define FEW_COLUMNS 0.95 /* of the squared distances, by one column of several or by few of many */
#define REPEATED 0.25    /* of the objects */

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
    rows = rows < CLV_FEW_OBJECTS ? CLV_FEW_OBJECTS : rows;
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

/* --- all of it --- */

clv_status clv_advise_on_points(clv_advice *advice) {
    const clv_matrix *points = advice->points;
    clv_result *result = advice->result;
    bool cut = result->stop == CLV_TIME_LIMIT || result->stop == CLV_CANCELLED;
    if (points && !clv_is_shared(advice->ctx)) {
        CLV_TRY(advise_on_pairs(points, advice->info != NULL, result));
    }
    if (points && !clv_is_sparse(points)) {
        CLV_TRY(advise_on_spread(advice->ctx, points, cut ? NUMBERS_LATE : NUMBERS, result));
        CLV_TRY(advise_on_copies(advice->ctx, points, cut ? NUMBERS_LATE : NUMBERS, &advice->settled, result));
    }
    return CLV_OK;
}
