/* A sweep over the objects: each row of W goes to (nearly) the best place that it can have while the others stay.
 *
 * With the others fixed, f as a function of the row w of object i is
 *
 *   1/4 (p_ii - |w|^2)^2 + 1/2 w'Mw - q'w,   M = W'W and q = P W without the object's own share,
 *
 * and along a pair of clusters (w_s + t, w_u - t) it is a quartic in t, whose least point is exact. The pair is always
 * the steepest: the cluster with the least gradient and, of those that have a share, the one with the largest. After
 * `moves` of these, or when they gain nothing that counts, the row is over-relaxed: the whole change is taken RELAX
 * times, as far as the simplex goes and the quartic along it stays below where it began. That takes a sweep from
 * linear convergence at one rate to one about three times as fast, and never raises f.
 *
 * Objects are taken a block at a time. Inside of such a block P W is kept up to date by the block's own entries of P;
 * for all others the changes of the block are applied together afterwards, as one matrix product (affinity/product.c).
 * The outcome is that of updating after every object, so this part of a sweep, 2 n^2 k operations, is as fast as a
 * product with P and threads share it. The other O(n k (k + moves + block)) are for one thread, which takes the objects
 * of the next block while the others go on with the product, as soon as that has reached these.
 *
 * Of several ranks, the one whose share has the block takes its objects, and the others get the rows and W'W from it.
 */
#include "methods/symnmf/symnmf.h"

#include "base/ranks.h"
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

#define RELAX 1.5
/* Objects whose own gap is below this share of what the tolerance allows for one object stay. */
#define SATISFIED 0.1
/* Newton's method for the length of a move ends when it changes that by less than this share: the next change would be
 * of the order of the square. */
#define STEP_DIGITS 1e-5
/* Moves of an object that does not stay end when its gap is below this share of the same. */
#define SETTLED 0.01

typedef struct row {
    int64_t k;
    double own;           /* p_ii */
    const double *gram;   /* k x k: W'W with the row as it was */
    const double *before; /* the row as it was */
    double *now, *slope;  /* k: the row, and its gradient */
    double length2;       /* |now|^2 */
} row;

/* Few enough for the one thread that treats them, many enough to be worth waking the others for afterwards. */
static int64_t objects_at_a_time(int64_t n) {
    return n < 8192 ? 2 * CLV_TILE : 4 * CLV_TILE;
}

/* What is told of a block besides its rows: whether any has changed, and W'W. */
static int64_t told_numbers(int64_t k) {
    return 1 + k * k;
}

int64_t clv_rows_work(int64_t n, int64_t k) {
    int64_t most = objects_at_a_time(n);
    return told_numbers(k) + 4 * most * k + most * most + 3 * k;
}

/* M_ab */
static double entry_of(const row *r, int64_t a, int64_t b) {
    return r->gram[a * r->k + b] - r->before[a] * r->before[b];
}

/* --- one move --- */

/* The least point of -gain t + h t^2 / 2 + ((e - 2 d t - 2 t^2)^2 - e^2) / 4 + e d t on [0, most], e = p_ii - |w|^2 and
 * d the difference of the two memberships. The slope at 0 is -gain. Convex when h is large enough, as it is but for
 * tiny or empty clusters: then Newton's method; else all valleys are compared. */
static double best_step(double gain, double h, double e, double d, double most) {
    double c[5] = {0, -gain, h / 2 + d * d - e, 2 * d, 1};
    if (h < 2 * e + d * d) {
        return clv_quartic_least(c, most);
    }
    double t = fmin(gain / fmax(2 * c[2], h / 2), most), low = 0, high = most;
    for (int step = 0; step < 60; step++) {
        double slope = ((4 * t + 6 * d) * t + 2 * c[2]) * t - gain, bend = (12 * t + 12 * d) * t + 2 * c[2];
        if (slope > 0) {
            high = t;
        } else {
            low = t;
        }
        double next = t - slope / bend;
        next = next > low ? fmin(next, high) : (low + high) / 2;
        if (fabs(next - t) <= STEP_DIGITS * next) {
            return next;
        }
        t = next;
    }
    return t;
}

static void move(row *r, int64_t gainer, int64_t loser, double t) {
    double d = r->now[gainer] - r->now[loser], most = r->now[loser];
    double length2 = r->length2 + 2 * t * (d + t), growth = length2 - r->length2, rest = length2 - r->own;
    double tilt = r->before[gainer] - r->before[loser];
    /* Of M w - q, and of (|w|^2 - p_ii) w the old entries of w. */
    const double *const rows[4] = {r->gram + gainer * r->k, r->gram + loser * r->k, r->before, r->now};
    clv_kernels->f64.add_weighted_four(r->slope, (double[4]){t, -t, -t * tilt, growth}, rows, r->k);
    r->slope[gainer] += rest * t;
    r->slope[loser] -= rest * t;
    r->now[gainer] += t;
    r->now[loser] = t < most ? most - t : 0;
    r->length2 = length2;
}

/* Up to `moves` moves; false when there was none to make. */
static bool improve(row *r, int64_t moves, double enough) {
    bool moved = false;
    for (int64_t m = 0; m < moves; m++) {
        clv_steepest pair; /* from the loser, which has a share, to the gainer */
        clv_kernels->steepest(r->slope, r->now, r->k, &pair);
        if (!(pair.gap > enough) || pair.gainer == pair.loser || pair.loser < 0) {
            break;
        }
        int64_t gainer = pair.gainer, loser = pair.loser;
        double gain = r->slope[loser] - r->slope[gainer], most = r->now[loser];
        double h = entry_of(r, gainer, gainer) + entry_of(r, loser, loser) - 2 * entry_of(r, gainer, loser);
        double t = best_step(gain, fmax(h, 0), r->own - r->length2, r->now[gainer] - most, most);
        if (!(t > 0)) {
            break;
        }
        move(r, gainer, loser, t);
        moved = true;
    }
    return moved;
}

/* --- over-relaxation --- */

/* From the row before over the row now and beyond, by the quartic along that line: its slopes at both rows are known,
 * `slope_before` and the present one. */
static void relax(row *r, double slope_before) {
    double along = 0, across = 0, squares = 0, t = RELAX;
    for (int64_t c = 0; c < r->k; c++) {
        double d = r->now[c] - r->before[c];
        along += r->slope[c] * d;
        across += r->before[c] * d;
        squares += d * d;
        if (d < 0 && r->before[c] + t * d < 0) {
            t = -r->before[c] / d;
        }
    }
    /* Of the order 3 and 4 is only (p_ii - |before|^2 - 2 across t - squares t^2)^2 / 4. */
    double z[5] = {0, slope_before, 0, squares * across, squares * squares / 4};
    z[2] = (along - slope_before - 3 * z[3] - 4 * z[4]) / 2;
    if (t <= 1 || !(clv_quartic_at(z, t) < 0)) {
        return;
    }
    for (int64_t c = 0; c < r->k; c++) {
        double there = r->before[c] + t * (r->now[c] - r->before[c]);
        r->now[c] = there > 0 ? there : 0;
    }
}

/* --- one object --- */

static double slope_along_change(const row *r, const double *slope) {
    double sum = 0;
    for (int64_t c = 0; c < r->k; c++) {
        sum += slope[c] * (r->now[c] - r->before[c]);
    }
    return sum;
}

/* y += the sum of weight[b] times row b of the k x k matrix, four of those with a weight at a time: most memberships
 * are 0 where clusters are many. */
static void add_rows(double *y, const double *weight, const double *matrix, int64_t k) {
    const double *rows[4];
    double weights[4];
    int held = 0;
    for (int64_t b = 0; b < k; b++) {
        if (weight[b] != 0) {
            rows[held] = matrix + b * k;
            weights[held++] = weight[b];
        }
        if (held == 4) {
            clv_kernels->f64.add_weighted_four(y, weights, rows, k);
            held = 0;
        }
    }
    for (int left = 0; left < held; left++) {
        clv_kernels->f64.add_weighted(y, weights[left], rows[left], k);
    }
}

/* Gradient of the row, and its gap; entries of P W are `stride` numbers apart. */
static double find_slope(const row *r, const double *pw, int64_t stride, double *slope) {
    clv_steepest pair;
    for (int64_t c = 0; c < r->k; c++) {
        slope[c] = -pw[c * stride];
    }
    add_rows(slope, r->before, r->gram, r->k);
    clv_kernels->steepest(slope, r->before, r->k, &pair);
    return pair.gap;
}

/* The new row replaces the old one, also in W'W. */
static void adopt(const row *r, double *gram, double *w) {
    for (int64_t a = 0; a < r->k; a++) {
        if (r->now[a] != 0) {
            clv_kernels->f64.add_weighted(gram + a * r->k, r->now[a], r->now, r->k);
        }
        if (w[a] != 0) {
            clv_kernels->f64.add_weighted(gram + a * r->k, -w[a], w, r->k);
        }
    }
    memcpy(w, r->now, (size_t)r->k * sizeof *w);
}

/* --- a block of objects --- */

typedef struct block {
    int64_t first, count;
    double *told;                       /* before w, so that both are one message */
    double *w;                          /* count x k, one row per object */
    double *pw, *change;                /* k x count, one cluster per row */
    double *inside;                     /* count x count: P between the objects */
    double *now, *slope, *slope_before; /* k */
} block;

/* The change of the block before this one stays: it may be in use. */
static block block_in(const clv_memberships *s, int64_t first) {
    int64_t k = s->problem->k, left = s->problem->n - first, most = objects_at_a_time(s->problem->n);
    bool odd = first / most % 2;
    block b = {.first = first, .count = left < most ? left : most};
    b.told = s->rows;
    b.w = b.told + told_numbers(k);
    b.pw = b.w + most * k;
    b.change = b.pw + (odd ? 2 : 1) * most * k;
    b.inside = b.pw + 3 * most * k;
    b.now = b.inside + most * most;
    b.slope = b.now + k;
    b.slope_before = b.slope + k;
    return b;
}

static clv_status gather(const clv_memberships *s, const block *b) {
    int64_t n = s->problem->n, k = s->problem->k;
    for (int64_t c = 0; c < k; c++) {
        for (int64_t r = 0; r < b->count; r++) {
            b->w[r * k + c] = s->w[c * n + b->first + r];
        }
    }
    clv_product_columns(&s->product, b->first, b->count, b->pw);
    return clv_affinity_block(s->problem->affinity, b->first, b->count, b->inside);
}

static void scatter(clv_memberships *s, const block *b) {
    int64_t n = s->problem->n, k = s->problem->k;
    for (int64_t c = 0; c < k; c++) {
        for (int64_t r = 0; r < b->count; r++) {
            double *w = &s->w[c * n + b->first + r];
            b->change[c * b->count + r] = b->w[r * k + c] - *w;
            *w = b->w[r * k + c];
        }
    }
}

/* The objects of the block after this one see in which clusters it has changed. */
static void tell_the_others(const block *b, int64_t at, const row *r) {
    int64_t from = at + 1, left = b->count - from;
    for (int64_t c = 0; c < r->k; c++) {
        if (r->now[c] != r->before[c]) {
            clv_kernels->f64.add_weighted(b->pw + c * b->count + from, r->now[c] - r->before[c],
                                          b->inside + at * b->count + from, left);
        }
    }
}

static bool treat_object(clv_memberships *s, const block *b, int64_t at, double enough) {
    int64_t k = s->problem->k;
    double *w = b->w + at * k;
    row r = {
        .k = k, .own = b->inside[at * b->count + at], .gram = s->gram, .before = w, .now = b->now, .slope = b->slope};
    double gap = find_slope(&r, b->pw + at, b->count, b->slope_before);
    if (!(gap > SATISFIED * enough)) {
        return false;
    }
    memcpy(r.now, w, (size_t)k * sizeof *w);
    memcpy(r.slope, b->slope_before, (size_t)k * sizeof *w);
    for (int64_t c = 0; c < k; c++) {
        r.length2 += w[c] * w[c];
    }
    if (!improve(&r, s->problem->moves, fmax(SETTLED * enough, s->problem->settled * gap))) {
        return false;
    }
    relax(&r, slope_along_change(&r, b->slope_before));
    tell_the_others(b, at, &r);
    adopt(&r, s->gram, w);
    return true;
}

static clv_status treat_objects(clv_memberships *s, const block *b, double enough, bool *changed) {
    CLV_TRY(gather(s, b));
    for (int64_t r = 0; r < b->count; r++) {
        *changed |= treat_object(s, b, r, enough);
    }
    return CLV_OK;
}

/* What the owner has made of the block, with `status`, becomes everybody's. */
static clv_status tell_ranks(clv_memberships *s, const block *b, int owner, clv_status status, bool *changed) {
    int64_t k = s->problem->k, numbers = told_numbers(k) + b->count * k;
    b->told[0] = *changed;
    memcpy(b->told + 1, s->gram, (size_t)(k * k) * sizeof *s->gram);
    CLV_TRY(clv_broadcast(s->problem->ctx, status, b->told, numbers * (int64_t)sizeof *b->told, owner));
    *changed = b->told[0] != 0;
    memcpy(s->gram, b->told + 1, (size_t)(k * k) * sizeof *s->gram);
    return CLV_OK;
}

/* The turn of a block. */
typedef struct turn {
    clv_memberships *s;
    double enough;
    block b;
    int owner; /* the rank whose turn it is; -1: all, each by itself */
    bool changed;
    clv_status status;
} turn;

/* The turn of the block from `first` on; after the last one, of none. */
static turn turn_of(clv_memberships *s, double enough, int64_t first) {
    turn t = {.s = s, .enough = enough, .owner = -1};
    if (first < s->problem->n) {
        t.b = block_in(s, first);
        t.owner = clv_product_owner(&s->product, first);
    }
    return t;
}

static void treat_block(void *user) {
    turn *t = user;
    if (t->owner < 0 || t->owner == clv_ranks_of(t->s->problem->ctx)->with.rank) {
        t->status = treat_objects(t->s, &t->b, t->enough, &t->changed);
    }
    if (t->owner >= 0) {
        t->status = tell_ranks(t->s, &t->b, t->owner, t->status, &t->changed);
    }
    if (t->status == CLV_OK && t->changed) {
        t->s->stuck = false;
        scatter(t->s, &t->b);
    }
}

/* What a block has changed goes into P W, and the next one has its turn: beside that, unless ranks talk to each other
 * in it. */
static clv_status pass_on(const turn *t, turn *next) {
    clv_errand errand = {.at = next->b.first, .run = treat_block, .user = next};
    clv_change change = {.first = t->b.first, .count = t->b.count, .k = t->s->problem->k, .d = t->b.change};
    bool beside = next->b.count > 0 && next->owner < 0;
    change.errand = beside ? &errand : NULL;
    if (t->changed) {
        CLV_TRY(clv_product_change(&t->s->product, &change));
    }
    if (next->b.count > 0 && !errand.done) {
        treat_block(next);
    }
    return next->status;
}

static clv_status sweep(clv_memberships *s, double enough) {
    int64_t n = s->problem->n, step = objects_at_a_time(n);
    turn now = turn_of(s, enough, 0);
    treat_block(&now);
    clv_status status = now.status;
    for (int64_t first = step; first < n + step && status == CLV_OK; first += step) {
        turn next = turn_of(s, enough, first);
        if (clv_interrupted(s->problem->ctx)) {
            return clv_stop_failure(s->problem->ctx, "taking a step of symnmf");
        }
        status = pass_on(&now, &next);
        now = next;
    }
    return status;
}

/* An interrupted sweep is undone: the iterate is the one that was measured. */
clv_status clv_rows_step(clv_memberships *s) {
    const clv_symnmf_problem *p = s->problem;
    size_t bytes = (size_t)(p->n * p->k) * sizeof *s->w;
    double enough = clv_symnmf_tolerance(p, s->value) / (double)p->n, *held = s->gradient; /* free until measured */
    memcpy(held, s->w, bytes);
    s->stuck = true;
    s->product.rough = s->rough;
    clv_status status = sweep(s, enough);
    if (status < 0) {
        memcpy(s->w, held, bytes);
        return status;
    }
    CLV_TRY(clv_product_values(&s->product));
    clv_memberships_measure(s);
    return CLV_OK;
}
