/* Small quadratic programs over the hull of 0 and the unit vectors, { x >= 0, sum x <= 1 }: primal active set.
 *
 * min c'x + x'Hx/2. From a feasible x with free entries S: solve the equations of S, with the sum held at 1 while that
 * constraint is active; go there, or to the first bound on the way, which then leaves S; at the solution of S let in
 * the entry (or loosen the sum) with the most negative multiplier. The value never rises; each S is met at most once
 * unless rounding interferes, which the limit of rounds is for. H + a shift of 1e-12 of its largest diagonal is
 * factorized. Cost |S|^3 / 3 a round. */
#include "methods/ksupport/ksupport.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

typedef struct program {
    const double *h, *c;
    int64_t t;
    double *x;
    int64_t free_count;
    double *factor;      /* free_count x free_count */
    double *step, *ones; /* solutions of the equations */
    double *slope;       /* c + H x */
    double *place;       /* the free entries, as numbers */
    bool full;           /* the sum is held at 1 */
    double shift, multiplier;
} program;

static int64_t at(const program *q, int64_t i) {
    return (int64_t)q->place[i];
}

static bool is_free(const program *q, int64_t j) {
    for (int64_t i = 0; i < q->free_count; i++) {
        if (at(q, i) == j) {
            return true;
        }
    }
    return false;
}

/* The solution over the free entries into q->step; false if the equations cannot be solved. */
static bool solve_free(program *q) {
    int64_t n = q->free_count;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            q->factor[i * n + j] = q->h[at(q, i) * q->t + at(q, j)] + (i == j ? q->shift : 0);
        }
        q->step[i] = -q->c[at(q, i)] + q->shift * q->x[at(q, i)];
        q->ones[i] = 1;
    }
    if (n == 0) {
        return true;
    }
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, q->factor, (lapack_int)n) != 0) {
        return false;
    }
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, 1, q->factor, (lapack_int)n, q->step, (lapack_int)n);
    q->multiplier = 0;
    if (q->full) {
        double sum = 0, spread = 0;
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, 1, q->factor, (lapack_int)n, q->ones, (lapack_int)n);
        for (int64_t i = 0; i < n; i++) {
            sum += q->step[i];
            spread += q->ones[i];
        }
        q->multiplier = (sum - 1) / spread;
        for (int64_t i = 0; i < n; i++) {
            q->step[i] -= q->multiplier * q->ones[i];
        }
    }
    return true;
}

/* Go toward the solution until a bound stops it; true when it got there. */
static bool advance(program *q) {
    double longest = 1, sum = 0, grow = 0;
    int64_t blocked = -1;
    for (int64_t i = 0; i < q->free_count; i++) {
        double x = q->x[at(q, i)], move = q->step[i] - x;
        sum += x;
        grow += move;
        if (move < 0 && x < longest * -move) {
            longest = x / -move;
            blocked = i;
        }
    }
    bool fills = !q->full && grow > 0 && 1 - sum < longest * grow;
    if (fills) {
        longest = fmax((1 - sum) / grow, 0);
    }
    for (int64_t i = 0; i < q->free_count; i++) {
        q->x[at(q, i)] += longest * (q->step[i] - q->x[at(q, i)]);
        q->x[at(q, i)] = fmax(q->x[at(q, i)], 0);
    }
    sum = 0;
    for (int64_t i = 0; i < q->free_count; i++) {
        sum += q->x[at(q, i)];
    }
    for (int64_t i = 0; (fills || q->full) && sum > 0 && i < q->free_count; i++) { /* long steps are rounded */
        q->x[at(q, i)] /= sum;
    }
    if (fills) {
        q->full = true;
    } else if (blocked >= 0) {
        q->x[at(q, blocked)] = 0;
        q->free_count--;
        memmove(q->place + blocked, q->place + blocked + 1, (size_t)(q->free_count - blocked) * sizeof *q->place);
    }
    return !fills && blocked < 0;
}

/* At the solution of the free entries: let in what lowers the value most; false when nothing does, and the equations of
 * the free entries hold without the shift too. */
static bool let_in(program *q, double tolerance) {
    int64_t best = -1;
    double lowest = -tolerance, worst = 0;
    for (int64_t j = 0; j < q->t; j++) {
        double slope = q->c[j];
        for (int64_t i = 0; i < q->free_count; i++) {
            slope += q->h[j * q->t + at(q, i)] * q->x[at(q, i)];
        }
        q->slope[j] = slope + (q->full ? q->multiplier : 0);
        if (is_free(q, j)) {
            worst = fmax(worst, fabs(q->slope[j]));
        } else if (q->slope[j] < lowest) {
            lowest = q->slope[j];
            best = j;
        }
    }
    if (q->full && q->multiplier < lowest) {
        q->full = false;
        return true;
    }
    if (best >= 0) {
        q->place[q->free_count++] = (double)best;
    }
    return best >= 0 || worst > 10 * tolerance;
}

void clv_quadratic_solve(clv_context *ctx, const double *h, const double *c, int64_t t, double *x, double *work) {
    program q = {.h = h, .c = c, .t = t, .x = x, .factor = work, .step = work + t * t};
    double largest = 0, sum = 0, scale = 0;
    q.ones = q.step + t;
    q.slope = q.ones + t;
    q.place = q.slope + t;
    for (int64_t i = 0; i < t; i++) {
        largest = fmax(largest, h[i * t + i]);
        scale = fmax(scale, fabs(c[i]));
        sum += x[i];
        if (x[i] > 0) {
            q.place[q.free_count++] = (double)i;
        }
    }
    q.shift = 1e-7 * largest + 1e-300;
    q.full = sum >= 1 - 1e-14;
    for (int64_t round = 0; round < 20 * t + 100 && !clv_interrupted(ctx); round++) { /* x is feasible after each */
        if (!solve_free(&q)) {
            q.shift *= 100;
            continue;
        }
        if (advance(&q) && !let_in(&q, 1e-13 * (scale + largest))) {
            break;
        }
    }
    sum = 0;
    for (int64_t i = 0; i < t; i++) {
        sum += x[i];
    }
    for (int64_t i = 0; sum > 1 && i < t; i++) { /* by rounding */
        x[i] /= sum;
    }
}

void clv_hull_project(double *x, int64_t t, double *work) {
    double sum = 0, run = 0, shift = 0, largest = 0;
    for (int64_t i = 0; i < t; i++) {
        x[i] = fmax(x[i], 0);
        sum += x[i];
        largest = fmax(largest, x[i]);
    }
    if (sum <= 1) {
        return;
    }
    for (int64_t i = 0; i < t; i++) { /* the same projection, without the digits that large entries would take */
        x[i] -= largest;
    }
    memcpy(work, x, (size_t)t * sizeof *work);
    qsort(work, (size_t)t, sizeof *work, clv_ascending);
    for (int64_t i = 1; i <= t; i++) { /* the i largest */
        run += work[t - i];
        if (work[t - i] > (run - 1) / (double)i) {
            shift = (run - 1) / (double)i;
        }
    }
    for (int64_t i = 0; i < t; i++) {
        x[i] = fmax(x[i] - shift, 0);
    }
}
