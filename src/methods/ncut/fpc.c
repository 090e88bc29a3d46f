/* Fractional programming for the normalized cut (FPC): algorithm 1 and formulas (27), (28), all objects at once.
 *
 *   object i goes to the cluster with the largest mu_ci = 2 S_ci / V_c - d_i N_c / V_c^2
 *
 * For positive semidefinite W no step raises ncut (proposition 5). For an indefinite W, proposition 6 uses
 * W + alpha D: S_ci gains alpha d_i where i is in c, and N_c gains alpha V_c. It is the same problem, with a wider
 * margin in favor of staying. mu_ci / d_i is the score of weighted kernel k-means.
 *
 * Ties with the own cluster, up to rounding, keep the label; between others the seed decides. A step that would empty a
 * cluster leaves it the member that loses least by staying; h of (25) still does not fall, so proposition 5 stands. O(n
 * k), then what adopting the labels costs. */
#include "base/ranks.h"
#include "methods/ncut/ncut.h"

#include <math.h>

enum { BLOCK = 512 };
/* A score must exceed the own one by more than this share of its positive part. */
#define ROUNDING 1e-14

/* Of a cluster: 1 / V_c and N_c / V_c; 0 without volume, where y = 0 in (21), hence mu = 0. */
typedef struct shares {
    double inverse, ratio;
} shares;

static shares shares_of(const clv_partition *s, int64_t c) {
    return (shares){clv_ratio(1, s->volume[c]), clv_ratio(s->within[c], s->volume[c])};
}

/* mu_ci. */
static double score_with(const clv_partition *s, int64_t c, int64_t i, shares of) {
    const clv_ncut_problem *p = s->problem;
    double degree = p->degree[i];
    double shifted = s->labels[i] == c ? degree : -degree; /* 2 alpha d_i / V_c less alpha d_i / V_c, if in c */
    return (2 * s->sums[c * p->n + i] - degree * of.ratio + p->shift * shifted) * of.inverse;
}

static double score(const clv_partition *s, int64_t c, int64_t i) {
    return score_with(s, c, i, shares_of(s, c));
}

static void choose_in_block(clv_partition *s, int64_t from, int64_t to) {
    const clv_ncut_problem *p = s->problem;
    double best[BLOCK];
    for (int64_t i = from; i < to; i++) {
        int32_t own = s->labels[i];
        s->wanted[i] = own;
        best[i - from] = HUGE_VAL;
        if (own >= 0) {
            shares of = {s->column[own], s->second[own]};
            double margin = ROUNDING * 2 * s->sums[own * p->n + i] * of.inverse;
            best[i - from] = score_with(s, own, i, of) + margin;
        }
    }
    for (int64_t c = 0; c < p->k; c++) {
        shares of = {s->column[c], s->second[c]};
        for (int64_t i = from; i < to; i++) {
            double here = score_with(s, c, i, of);
            bool tied = here == best[i - from] && s->wanted[i] != s->labels[i];
            if (here > best[i - from] || (tied && clv_prefers(s->ties, i, (int32_t)c, s->wanted[i]))) {
                best[i - from] = here;
                s->wanted[i] = (int32_t)c;
            }
        }
    }
}

/* (27): every object's best cluster. */
static clv_status choose_labels(clv_partition *s) {
    const clv_ncut_problem *p = s->problem;
    for (int64_t c = 0; c < p->k; c++) { /* k <= n */
        shares of = shares_of(s, c);
        s->column[c] = of.inverse;
        s->second[c] = of.ratio;
    }
    if (s->kept) {
        clv_kept_scores by = {s->column, s->second, p->shift, ROUNDING, s->ties};
        return clv_affinity_kept_choose(p->affinity, s->kept, &by, s->labels, s->wanted);
    }
    int64_t first = s->first, last = s->last;
    bool divides = !s->shared && clv_partition_is_large(s); /* every rank has all sums, and looks at some of them */
    if (divides) {
        clv_share_objects(p->ctx, p->n, CLV_SHARE, &first, &last);
    }
#pragma omp parallel for num_threads(clv_team(s->threads)) if (clv_partition_is_large(s))
    for (int64_t from = first; from < last; from += BLOCK) {
        choose_in_block(s, from, last - from < BLOCK ? last : from + BLOCK);
    }
    return divides ? clv_gather_items(p->ctx, CLV_OK, s->wanted, sizeof *s->wanted, p->n, CLV_SHARE)
                   : clv_gather_wanted(s);
}

/* Leave in cluster c the member that loses least by staying. */
static void keep_one_member(clv_partition *s, int32_t c) {
    int64_t kept = -1;
    double least = INFINITY;
    for (int64_t i = 0; i < s->problem->n; i++) {
        if (s->labels[i] == c) {
            double loss = score(s, s->wanted[i], i) - score(s, c, i);
            if (kept < 0 || loss < least) {
                kept = i;
                least = loss;
            }
        }
    }
    s->size[s->wanted[kept]]--;
    s->size[c]++;
    s->wanted[kept] = c;
}

/* One member kept may have been the only arrival of another emptied cluster, hence the rounds: each round fixes a
 * cluster for good, as those kept are never called away again. */
clv_status clv_keep_clusters(clv_partition *s) {
    int64_t c = 0;
    clv_partition_count(s, s->wanted);
    while (c < s->problem->k) {
        if (s->size[c] == 0) {
            CLV_TRY(clv_partition_bring_back(s));
            keep_one_member(s, (int32_t)c);
            c = 0;
        } else {
            c++;
        }
    }
    return CLV_OK;
}

/* h of (25) for the labels chosen, mu being that of the labels now: between f before the step and f after it. */
static double surrogate(const clv_partition *s) {
    long double h = 0;
    for (int64_t i = 0; i < s->problem->n; i++) {
        h += s->wanted[i] >= 0 ? score(s, s->wanted[i], i) : 0;
    }
    return (double)h;
}

clv_status clv_fpc_step(clv_partition *s, int64_t *moved) {
    CLV_TRY(choose_labels(s));
    CLV_TRY(clv_keep_clusters(s));
    if (s->problem->show_certificates) {
        CLV_TRY(clv_partition_bring_back(s));
        s->surrogate = surrogate(s);
    }
    s->away = s->rough && !s->problem->show_certificates;
    return clv_partition_adopt(s, moved);
}
