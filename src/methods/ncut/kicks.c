/* Perturbations for the iterated local search: each changes a local optimum in a way that a polish does not simply
 * undo. One of three, at random:
 *
 *   dissolve  a cluster goes to its next best ones, and another is split in two: changes which clusters there are
 *   scatter   a few objects anywhere get labels at random
 *   capture   an object and its nearest go to another cluster: moves a border
 *
 * On the data sets of the paper the mixture finds the lowest cuts known in milliseconds to seconds; each kind alone
 * gets stuck on one of them. Cost: a few rows of W, or one pass over it for the first. */
#include "linalg/linalg.h"
#include "methods/ncut/ncut.h"

#include <math.h>
#include <string.h>

/* A number below `count` other than `not_this`. */
static int32_t other(clv_rng *rng, int64_t count, int32_t not_this) {
    int32_t drawn = (int32_t)clv_rng_below(rng, count - 1);
    return drawn < not_this ? drawn : drawn + 1;
}

/* An object that counts. */
static int64_t any_object(const clv_partition *s, clv_rng *rng) {
    int64_t i;
    do {
        i = clv_rng_below(rng, s->problem->n);
    } while (s->labels[i] < 0);
    return i;
}

/* Let every member of cluster `gone` want the other cluster with the best score of formula (28). */
static clv_status dissolve(clv_partition *s, int32_t gone) {
    const clv_ncut_problem *p = s->problem;
    for (int64_t i = s->first; i < s->last; i++) {
        double best = -INFINITY;
        for (int32_t c = 0; c < p->k && s->labels[i] == gone; c++) {
            double volume = s->volume[c];
            double here = 2 * clv_ratio(clv_partition_sum(s, i, c), volume) -
                          p->degree[i] * clv_ratio(clv_ratio(s->within[c], volume), volume);
            if (c != gone && here > best) {
                best = here;
                s->wanted[i] = c;
            }
        }
    }
    return clv_gather_wanted(s);
}

/* The objects that want cluster c, into s->moved. */
static int64_t list_wanting(clv_partition *s, int32_t c) {
    int64_t count = 0;
    for (int64_t i = 0; i < s->problem->n; i++) {
        if (s->wanted[i] == c) {
            s->moved[count++] = i;
        }
    }
    return count;
}

/* Split what wants cluster c: of two seeds, the second and those that are nearer to it want `fresh`. */
static clv_status split(clv_partition *s, int32_t c, int32_t fresh, clv_rng *rng) {
    const clv_ncut_problem *p = s->problem;
    int64_t count = list_wanting(s, c);
    if (count < 2) { /* nothing to split: no kick this time */
        memcpy(s->wanted, s->labels, (size_t)p->n * sizeof *s->wanted);
        return CLV_OK;
    }
    int64_t at = clv_rng_below(rng, count), first = s->moved[at];
    int64_t second = s->moved[other(rng, count, (int32_t)at)];
    CLV_TRY(clv_affinity_column(p->affinity, first, s->column));
    CLV_TRY(clv_affinity_column(p->affinity, second, s->second));
    for (int64_t m = 0; m < count; m++) {
        int64_t i = s->moved[m];
        bool nearer = s->second[i] / p->degree[second] > s->column[i] / p->degree[first];
        if (i == second || (i != first && nearer)) {
            s->wanted[i] = fresh;
        }
    }
    return CLV_OK;
}

static clv_status dissolve_and_split(clv_partition *s, clv_rng *rng) {
    int64_t k = s->problem->k, moved;
    int32_t gone = (int32_t)clv_rng_below(rng, k), halved = other(rng, k, gone);
    memcpy(s->wanted, s->labels, (size_t)s->problem->n * sizeof *s->wanted);
    CLV_TRY(dissolve(s, gone));
    CLV_TRY(split(s, halved, gone, rng));
    return clv_partition_adopt(s, &moved);
}

/* --- many moves, some at a time or, where that takes longer than all sums afresh, together --- */

static bool moves_together(const clv_partition *s) {
    clv_affinity_info info;
    clv_affinity_describe(s->problem->affinity, &info);
    return clv_affinity_has_cheap_products(&info);
}

static void begin_moves(clv_partition *s) {
    memcpy(s->wanted, s->labels, (size_t)s->problem->n * sizeof *s->wanted);
}

/* Object i, the `at`-th of s->moved, is to go to cluster `to`. */
static void want(clv_partition *s, int64_t at, int64_t i, int32_t to) {
    s->size[s->wanted[i]]--;
    s->size[to]++;
    s->wanted[i] = to;
    s->moved[at] = i;
}

static clv_status end_moves(clv_partition *s, int64_t count) {
    enum { AT_ONCE = 16 };
    if (moves_together(s)) {
        return clv_partition_adopt(s, &count);
    }
    for (int64_t m = 0; m < count; m += AT_ONCE) {
        int64_t some = count - m < AT_ONCE ? count - m : AT_ONCE;
        CLV_TRY(clv_partition_carry_out(s, s->moved + m, some));
        CLV_TRY(clv_partition_poll(s, some));
    }
    return clv_partition_measure(s);
}

/* Between 2 % and 12 % of the objects. */
static clv_status scatter(clv_partition *s, clv_rng *rng) {
    const clv_ncut_problem *p = s->problem;
    double share = 0.02 + 0.1 * clv_rng_uniform(rng);
    int64_t moved = 0;
    begin_moves(s);
    for (int64_t i = 0; i < p->n; i++) {
        if (s->labels[i] >= 0 && clv_rng_uniform(rng) < share && s->size[s->labels[i]] > 1) {
            want(s, moved++, i, other(rng, p->k, s->labels[i]));
        }
    }
    return end_moves(s, moved);
}

/* Up to half of a cluster of mean size. */
static clv_status capture(clv_partition *s, clv_rng *rng) {
    const clv_ncut_problem *p = s->problem;
    int64_t center = any_object(s, rng), most = p->n / p->k / 2 + 1, similar = 0, moved = 0;
    int32_t to = other(rng, p->k, s->labels[center]);
    CLV_TRY(clv_affinity_column(p->affinity, center, s->column));
    s->column[center] = INFINITY;
    for (int64_t i = 0; i < p->n; i++) {
        similar += s->column[i] > 0;
        s->column[i] = clv_ratio(s->column[i], p->degree[i]);
    }
    begin_moves(s);
    most = most < similar ? most : similar;
    int64_t count = 1 + clv_rng_below(rng, most);
    clv_top_k(s->column, p->n, count, s->picked, s->moved, 1);
    for (int64_t m = 0; m < count; m++) {
        int64_t i = s->picked[m];
        if (s->labels[i] != to && s->labels[i] >= 0 && s->size[s->labels[i]] > 1) {
            want(s, moved++, i, to);
        }
    }
    return end_moves(s, moved);
}

clv_status clv_kick(clv_partition *s, clv_rng *rng) {
    switch (clv_rng_below(rng, 3)) {
    case 0:
        return dissolve_and_split(s, rng);
    case 1:
        return scatter(s, rng);
    default:
        return capture(s, rng);
    }
}
