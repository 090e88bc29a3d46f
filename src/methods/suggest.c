/* The rule that takes a k from the table of a range: the finest clustering that holds on subsamples, unless it only
 * just does and a coarser one is better in every way. docs/cli.md says it in words, and on what data it was chosen
 * (experiments/k). */
#include "methods/range.h"

#include <math.h>
#include <stdio.h>

/* One more cluster than there are splits one of k at random, and costs agreement by the order of 1 / k: where clusters
 * hold, what is lost must be far less. */
#define LOST 0.1
#define FIRMLY 0.025     /* the same, where there is no doubt about it */
#define NEARLY 0.4       /* and where the other figures must speak for k as well: as much, but */
#define NEARLY_FEW 0.12  /* of few clusters no more than this, which no cloud without any reaches, */
#define NEARLY_MANY 0.06 /* and of many this, as runs on subsamples miss one now and then */
#define WHOLLY 0.999     /* the agreement of subsamples that all have the same clusters */
#define CLEARLY 0.05     /* by which the silhouette of fewer clusters must be larger */

/* How well runs on subsamples agree, on the mean, where the clusters are said to hold. */
static double needed(int64_t k) {
    return 1 - LOST / (double)k;
}

static bool is_firm(const clv_k_row *row) {
    return row->stability >= 1 - FIRMLY / (double)row->k;
}

static bool nearly_holds(const clv_k_row *row) {
    return row->stability >= 1 - fmin(fmax(NEARLY / (double)row->k, NEARLY_MANY), NEARLY_FEW);
}

/* A run that was cut short says nothing; nor can k be right where fewer clusters are used. */
static bool is_out(const clv_k_row *row) {
    return row->stop == CLV_TIME_LIMIT || row->stop == CLV_CANCELLED || row->empty > 0;
}

/* The largest number of a column, the first of equals; -1: none is known. */
static int64_t find_largest(const clv_k_row *rows, int64_t count, double (*of)(const clv_k_row *row)) {
    int64_t best = -1;
    for (int64_t i = 0; i < count; i++) {
        bool known = !isnan(of(&rows[i])) && !is_out(&rows[i]);
        best = known && (best < 0 || of(&rows[i]) > of(&rows[best])) ? i : best;
    }
    return best;
}

static double stability_of(const clv_k_row *row) {
    return row->stability;
}

static double silhouette_of(const clv_k_row *row) {
    return row->silhouette;
}

static double gap_of(const clv_k_row *row) {
    return row->eigengap;
}

static int64_t last_that_holds(const clv_k_row *rows, int64_t count) {
    int64_t last = -1;
    for (int64_t i = 0; i < count; i++) {
        last = rows[i].stability >= needed(rows[i].k) && !is_out(&rows[i]) ? i : last;
    }
    return last;
}

/* In the place of a row that only just holds, the largest k below whose clusters all subsamples have and whose
 * silhouette is clearly larger: one cluster too many, where it is cut at the same place every time, may hold. */
static int64_t firmer(const clv_k_row *rows, int64_t last) {
    int64_t best = last;
    for (int64_t i = 0; i < last && !is_firm(&rows[last]); i++) {
        bool better = rows[i].stability >= WHOLLY && rows[i].silhouette >= rows[last].silhouette + CLEARLY;
        best = better && !is_out(&rows[i]) ? i : best;
    }
    return best;
}

static bool is_like(const clv_k_row *row, const clv_k_row *best) {
    double error = row->spread / sqrt(CLV_SUBSAMPLES);
    return row == best || (row->stability + error >= best->stability && !is_out(row));
}

/* Whether everything else that is known speaks for this row. */
static bool is_clear(const clv_k_row *rows, int64_t count, int64_t row) {
    int64_t gap = find_largest(rows, count, gap_of);
    return nearly_holds(&rows[row]) && find_largest(rows, count, silhouette_of) == row && (gap < 0 || gap == row);
}

/* The largest k that is as stable as the best, but for a standard error; or the one before it, if that is as well and
 * is clear. (Not 2: the silhouette of two clusters is the largest on most data.) */
static int64_t last_like(const clv_k_row *rows, int64_t count, int64_t best) {
    int64_t last = best;
    for (int64_t i = 0; i < count; i++) {
        last = is_like(&rows[i], &rows[best]) && i > last ? i : last;
    }
    bool less = last > 0 && rows[last - 1].k > 2 && is_like(&rows[last - 1], &rows[best]);
    return less && is_clear(rows, count, last - 1) ? last - 1 : last;
}

bool clv_k_is_doubtful(const clv_k_row *rows, int64_t count) {
    int64_t stable = find_largest(rows, count, stability_of);
    return last_that_holds(rows, count) < 0 && stable >= 0 && !is_clear(rows, count, last_like(rows, count, stable));
}

/* Among rows that hold, the last of which is `last`. */
static int64_t suggest_held(const clv_k_row *rows, int64_t last, char *reason, size_t size) {
    int64_t row = firmer(rows, last);
    if (row == last) {
        snprintf(reason, size,
                 "k = %lld is the largest whose clusters hold on subsamples: agreement %.3f, at least %.3f",
                 (long long)rows[row].k, rows[row].stability, needed(rows[row].k));
    } else {
        snprintf(reason, size,
                 "k = %lld holds on subsamples where k = %lld, the largest that does, only just does: agreement %.3f "
                 "and %.3f, silhouette %.3f and %.3f",
                 (long long)rows[row].k, (long long)rows[last].k, rows[row].stability, rows[last].stability,
                 rows[row].silhouette, rows[last].silhouette);
    }
    return row;
}

/* Among rows none of which holds, the most stable of which is `stable`. */
static int64_t suggest_likely(const clv_k_row *rows, int64_t count, int64_t stable, char *reason, size_t size) {
    int64_t row = last_like(rows, count, stable);
    bool has_gaps = find_largest(rows, count, gap_of) >= 0;
    snprintf(reason, size, "k = %lld is as stable as any, but for a standard error: agreement %.3f on subsamples; %s",
             (long long)rows[row].k, rows[row].stability,
             !is_clear(rows, count, row) ? "the clusters of no k hold"
             : has_gaps                  ? "silhouette and eigenvalue gap are largest there, too"
                                         : "the silhouette is largest there, too");
    return row;
}

int64_t clv_k_suggest(const clv_k_row *rows, int64_t count, bool by_gap, char *reason, size_t size) {
    int64_t holds = last_that_holds(rows, count), gap = by_gap ? find_largest(rows, count, gap_of) : -1;
    int64_t stable = find_largest(rows, count, stability_of);
    if (gap >= 0) {
        snprintf(reason, size, "k = %lld has the largest gap between eigenvalue k and the next",
                 (long long)rows[gap].k);
        return gap;
    }
    if (holds >= 0) {
        return suggest_held(rows, holds, reason, size);
    }
    if (stable >= 0) {
        return suggest_likely(rows, count, stable, reason, size);
    }
    snprintf(reason, size, "k = %lld is the first: nothing is known of the stability of any", (long long)rows[0].k);
    return 0;
}
