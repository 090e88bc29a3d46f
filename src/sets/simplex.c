/* Projection on the simplex, and quadratic programs over it.
 *
 * Projection (Michelot 1986): subtract what the entries have too much, equally; entries that fall to 0 leave, and the
 * others are shifted again until none leaves. Exact in at most n rounds, in practice two to four.
 *
 * The quadratic program is solved by the active-set method of Wolfe (1976), a finite one: the minimizer over the affine
 * hull of the support is found by a factorization; if it is outside of the simplex, go there as far as the border and
 * let go of what is 0; if inside, let in the coordinate with the least gradient, until none is below the support's.
 * What comes in is affinely independent of the support (its gradient would be equal otherwise), so that the matrix on
 * the support is definite along the simplex; adding a constant to all entries of M changes nothing on the simplex and
 * makes it definite in all directions. O(s^3) per round on a support of s. */
#include "sets/simplex.h"

#include <math.h>
#include <string.h>

/* Less the largest entry, which changes nothing, all that matters is between -1 and 0, however large the entries. */
void clv_simplex_project(double *x, int64_t n, int64_t stride) {
    double top = x[0], shift = -1; /* no less is ever taken away */
    int64_t left = -1, kept = n;
    for (int64_t i = 1; i < n; i++) {
        top = x[i * stride] > top ? x[i * stride] : top;
    }
    for (int64_t round = 0; round <= n && kept != left; round++) {
        double sum = 0;
        left = 0;
        for (int64_t i = 0; i < n; i++) {
            bool stays = x[i * stride] - top > shift;
            sum += stays ? x[i * stride] - top : 0;
            left += stays;
        }
        shift = (sum - 1) / (double)left;
        kept = 0;
        for (int64_t i = 0; i < n; i++) {
            kept += x[i * stride] - top > shift;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        double rest = x[i * stride] - top - shift;
        x[i * stride] = rest > 0 ? rest : 0;
    }
}

/* --- the quadratic program --- */

/* A coordinate enters only if its gradient is lower than the support's by more than this share of the entries. */
#define NOTICEABLE 1e-14
/* A pivot that is so much smaller than its entry is 0. */
#define SINGULAR 1e-13

typedef struct program {
    const double *m, *q;
    int64_t n, size; /* of the support */
    int64_t *support;
    double *x;        /* n */
    double *gradient; /* n: Mx - q */
    double *factor;   /* n x n: Cholesky factor on the support */
    double *target;   /* n: the minimizer over the affine hull of the support */
    double *ones;     /* n: work */
    double shift;     /* added to all entries of M */
} program;

int64_t clv_simplex_qp_work(int64_t n) {
    return n * n + 3 * n;
}

/* L L' = M on the support, plus the shift; false when a pivot is lost. */
static bool factorize(program *p) {
    for (int64_t i = 0; i < p->size; i++) {
        double *row = p->factor + i * p->n;
        for (int64_t j = 0; j <= i; j++) {
            double entry = p->m[p->support[i] * p->n + p->support[j]] + p->shift;
            double rest = entry;
            for (int64_t l = 0; l < j; l++) {
                rest -= row[l] * p->factor[j * p->n + l];
            }
            if (i == j) {
                if (!(rest > SINGULAR * entry)) {
                    return false;
                }
                row[i] = sqrt(rest);
            } else {
                row[j] = rest / p->factor[j * p->n + j];
            }
        }
    }
    return true;
}

/* L L' b = b, in place. */
static void substitute(const program *p, double *b) {
    for (int64_t i = 0; i < p->size; i++) {
        for (int64_t l = 0; l < i; l++) {
            b[i] -= p->factor[i * p->n + l] * b[l];
        }
        b[i] /= p->factor[i * p->n + i];
    }
    for (int64_t i = p->size - 1; i >= 0; i--) {
        for (int64_t l = i + 1; l < p->size; l++) {
            b[i] -= p->factor[l * p->n + i] * b[l];
        }
        b[i] /= p->factor[i * p->n + i];
    }
}

/* target = M^-1 (q + lambda 1) on the support, with the lambda for which it adds up to 1. */
static void find_target(program *p) {
    double sum = 0, per_lambda = 0;
    for (int64_t i = 0; i < p->size; i++) {
        p->target[i] = p->q[p->support[i]];
        p->ones[i] = 1;
    }
    substitute(p, p->target);
    substitute(p, p->ones);
    for (int64_t i = 0; i < p->size; i++) {
        sum += p->target[i];
        per_lambda += p->ones[i];
    }
    for (int64_t i = 0; i < p->size; i++) {
        p->target[i] += (1 - sum) / per_lambda * p->ones[i];
    }
}

/* From x toward the target, as far as the simplex goes. What is 0 then leaves the support; true when none had to. */
static bool go_to_target(program *p) {
    double share = 1;
    int64_t first = -1, kept = 0;
    for (int64_t i = 0; i < p->size; i++) {
        double now = p->x[p->support[i]], to = p->target[i];
        if (to <= 0 && now / (now - to) < share) {
            share = now / (now - to);
            first = i;
        }
    }
    for (int64_t i = 0; i < p->size; i++) {
        int64_t at = p->support[i];
        p->x[at] = i == first ? 0 : fmax(p->x[at] + share * (p->target[i] - p->x[at]), 0);
        if (p->x[at] > 0) {
            p->support[kept++] = at;
        }
    }
    bool all = kept == p->size;
    p->size = kept;
    return all;
}

/* Mx - q; returns the gap, and the coordinate with the least gradient. */
static double find_gap(program *p, int64_t *least) {
    double along = 0;
    *least = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double sum = -p->q[i];
        for (int64_t s = 0; s < p->size; s++) {
            sum += p->m[i * p->n + p->support[s]] * p->x[p->support[s]];
        }
        p->gradient[i] = sum;
        along += sum * p->x[i];
        *least = sum < p->gradient[*least] ? i : *least;
    }
    return fmax(along - p->gradient[*least], 0);
}

/* To the minimizer over the simplex spanned by the support, or as near as its matrix can be factorized. */
static void settle(program *p) {
    while (p->size > 1) {
        if (!factorize(p)) {
            p->x[p->support[0]] += p->x[p->support[p->size - 1]]; /* dependent on the others: its share is theirs */
            p->x[p->support[--p->size]] = 0;
            continue;
        }
        find_target(p);
        if (go_to_target(p)) {
            return;
        }
    }
    p->x[p->support[0]] = 1;
}

double clv_simplex_qp(const double *m, const double *q, int64_t n, double *x, double *work, int64_t *support) {
    program p = {.m = m, .q = q, .n = n, .size = 1, .support = support, .x = x};
    double scale = 0, gap;
    int64_t least = 0;
    p.factor = work;
    p.gradient = work + n * n;
    p.target = p.gradient + n;
    p.ones = p.target + n;
    for (int64_t i = 0; i < n; i++) { /* the largest entry, and the best vertex */
        scale = fmax(scale, fmax(fabs(m[i * n + i]), fabs(q[i])));
        least = m[i * n + i] / 2 - q[i] < m[least * n + least] / 2 - q[least] ? i : least;
    }
    p.shift = scale > 0 ? scale : 1;
    memset(x, 0, (size_t)n * sizeof *x);
    x[least] = 1;
    support[0] = least;
    gap = find_gap(&p, &least);
    for (int64_t round = 0; round < 20 * n + 50 && gap > NOTICEABLE * scale && !(x[least] > 0); round++) {
        int64_t newcomer = least;
        support[p.size++] = least;
        settle(&p);
        gap = find_gap(&p, &least);
        if (!(x[newcomer] > 0) && least == newcomer) { /* as good as dependent on the others */
            break;
        }
    }
    return gap;
}
