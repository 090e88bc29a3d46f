/* The rule that takes a k from the table of a range: the finest clustering that holds on subsamples. docs/cli.md says
 * it in words, and on what data it was chosen (experiments/k). */
#include "methods/range.h"

#include <math.h>
#include <stdio.h>

/* How well runs on subsamples agree, on the mean, where the clusters are said to hold. One more cluster than there are
 * splits one of k at random, and costs agreement by the order of 1 / k: what is left must be far less. */
static double needed(int64_t k) {
    return 1 - 0.1 / (double)k;
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

/* The largest k that is as stable as the best, but for a standard error. */
static int64_t last_like(const clv_k_row *rows, int64_t count, int64_t best) {
    int64_t last = best;
    for (int64_t i = 0; i < count; i++) {
        double error = rows[i].spread / sqrt(CLV_SUBSAMPLES);
        last = rows[i].stability + error >= rows[best].stability && !is_out(&rows[i]) && i > last ? i : last;
    }
    return last;
}

bool clv_k_none_holds(const clv_k_row *rows, int64_t count) {
    return last_that_holds(rows, count) < 0 && find_largest(rows, count, stability_of) >= 0;
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
        snprintf(reason, size,
                 "k = %lld is the largest whose clusters hold on subsamples: agreement %.3f, at least %.3f",
                 (long long)rows[holds].k, rows[holds].stability, needed(rows[holds].k));
        return holds;
    }
    if (stable >= 0) {
        int64_t like = last_like(rows, count, stable);
        snprintf(reason, size,
                 "k = %lld is the largest that is as stable as any, but for a standard error: agreement %.3f on "
                 "subsamples; the clusters of no k hold",
                 (long long)rows[like].k, rows[like].stability);
        return like;
    }
    snprintf(reason, size, "k = %lld is the first: nothing is known of the stability of any", (long long)rows[0].k);
    return 0;
}
