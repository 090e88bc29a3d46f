/* Steps of all rows at once along one direction D, of a length in closed form: f along W + t D is a quartic whose
 * coefficients need P W, P D and k x k matrices only, so a step costs one product with P and O(n k^2).
 *
 *   fw        D = S - W, S the vertices with the least gradient (algorithms 1 and 2 of the paper). P S is sums of
 *             columns of P by vertex: n^2 additions, or two columns for each object whose vertex has changed.
 *   pairwise  every row moves from its worst cluster to its best, by what is best for it alone; then jointly.
 *   spg       D = projection of a gradient step on the simplices, less W; the length of the gradient step is that of
 *             Barzilai and Borwein (1988), as in Birgin, Martinez and Raydan (2000). */
#include "methods/symnmf/symnmf.h"

#include <math.h>
#include <string.h>

/* P S is updated where so many objects times two columns are less work than all of it. */
enum { COLUMNS_A_MOVE = 3 };
/* Lengths of gradient steps stay between these, in units of the first. */
#define SHORTEST 1e-6
#define LONGEST 1e6

/* --- Frank-Wolfe --- */

/* The clusters of S; the number of objects that have another one than before. */
static int64_t find_vertices(clv_memberships *s) {
    int64_t n = s->problem->n, moved = 0;
    int32_t *before = s->vertex, *now = s->vertex + n;
    for (int64_t i = 0; i < n; i++) {
        int32_t best = 0;
        for (int32_t c = 1; c < s->problem->k; c++) {
            best = s->gradient[c * n + i] < s->gradient[best * n + i] ? c : best;
        }
        now[i] = best;
        if (s->primed && now[i] != before[i]) {
            s->moved[moved++] = i;
        }
    }
    return s->primed ? moved : n;
}

/* P S in `previous`. An interruption leaves it unusable: then the next step begins anew. */
static clv_status follow_vertices(clv_memberships *s, int64_t moved) {
    const clv_symnmf_problem *p = s->problem;
    bool update = s->primed && COLUMNS_A_MOVE * moved < p->n;
    s->primed = false;
    if (update) {
        CLV_TRY(
            clv_affinity_move_many(p->affinity, s->moved, s->vertex, s->vertex + p->n, moved, s->previous, s->threads));
    } else {
        CLV_TRY(clv_affinity_group_sums(p->affinity, s->vertex + p->n, p->k, s->previous, s->threads));
    }
    memcpy(s->vertex, s->vertex + p->n, (size_t)p->n * sizeof *s->vertex);
    s->primed = true;
    return CLV_OK;
}

clv_status clv_fw_step(clv_memberships *s) {
    const clv_symnmf_problem *p = s->problem;
    int64_t n = p->n, count = n * p->k;
    CLV_TRY(follow_vertices(s, find_vertices(s)));
    for (int64_t e = 0; e < count; e++) {
        s->direction[e] = (s->vertex[e % n] == e / n) - s->w[e];
        s->image[e] = s->previous[e] - s->pw[e];
    }
    bool exact = p->options.step == CLV_SYMNMF_EXACT;
    clv_memberships_go(s, exact ? clv_memberships_best(s, 1) : fmin(s->gap / p->curvature, 1));
    return CLV_OK;
}

/* --- pairwise --- */

/* The direction of object i; `most` is lowered to how far it may be followed. */
static void pair_up(clv_memberships *s, int64_t i, double *most) {
    int64_t n = s->problem->n, k = s->problem->k, low = 0, high = -1;
    const double *g = s->gradient + i, *w = s->w + i, *gram = s->gram;
    for (int64_t c = 0; c < k; c++) {
        s->direction[c * n + i] = 0;
        low = g[c * n] < g[low * n] ? c : low;
        if (w[c * n] > 0 && (high < 0 || g[c * n] > g[high * n])) {
            high = c;
        }
    }
    double gain = g[high * n] - g[low * n], room = w[high * n];
    double bend = gram[low * k + low] + gram[high * k + high] - 2 * gram[low * k + high];
    if (low == high || !(gain > 0)) {
        return;
    }
    double length = gain < bend * room ? gain / bend : room;
    s->direction[low * n + i] = length;
    s->direction[high * n + i] = -length;
    *most = fmin(*most, room / length);
}

clv_status clv_pairwise_step(clv_memberships *s) {
    const clv_symnmf_problem *p = s->problem;
    double most = INFINITY;
    for (int64_t i = 0; i < p->n; i++) {
        pair_up(s, i, &most);
    }
    CLV_TRY(clv_memberships_multiply(s, s->direction, s->image));
    clv_memberships_go(s, most < HUGE_VAL ? clv_memberships_best(s, most) : 0);
    return CLV_OK;
}

/* --- spectral projected gradient --- */

/* |S|^2 / <S, Y>: S the last change of W, t D, and Y that of the gradient. */
static double next_length(const clv_memberships *s, double t) {
    int64_t count = s->problem->n * s->problem->k;
    double squares = clv_dot(s->direction, s->direction, count, s->threads);
    double bend =
        clv_dot(s->direction, s->gradient, count, s->threads) - clv_dot(s->direction, s->previous, count, s->threads);
    double first = clv_memberships_length(s), length = bend > 0 ? t * squares / bend : LONGEST * first;
    return fmin(fmax(length, SHORTEST * first), LONGEST * first);
}

clv_status clv_spg_step(clv_memberships *s) {
    const clv_symnmf_problem *p = s->problem;
    int64_t count = p->n * p->k;
    s->step = s->primed ? s->step : clv_memberships_length(s);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(static) if (clv_memberships_are_many(s))
    for (int64_t e = 0; e < count; e++) {
        s->direction[e] = s->w[e] - s->step * s->gradient[e];
    }
    clv_project_rows(s, s->direction);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(static) if (clv_memberships_are_many(s))
    for (int64_t e = 0; e < count; e++) {
        s->direction[e] -= s->w[e];
    }
    CLV_TRY(clv_memberships_multiply(s, s->direction, s->image));
    double t = clv_memberships_best(s, 1);
    memcpy(s->previous, s->gradient, (size_t)count * sizeof *s->previous);
    clv_memberships_go(s, t);
    s->step = next_length(s, t);
    s->primed = true;
    return CLV_OK;
}
