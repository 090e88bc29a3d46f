/* The polish: single objects to other clusters (Hartigan 1975), squared distances.
 *
 * A fixed point of Lloyd's algorithm may still be improved by moving one object, because its old center moves away from
 * it and the new one toward it: sigma falls by s W_a / (W_a - s) d_a - s W_b / (W_b + s) d_b, with W the masses of the
 * clusters and s the sample weight. What no such move improves is a fixed point of Lloyd's algorithm as well. Cost: one
 * pass over the objects that bounds do not rule out, k p each. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <string.h>

/* By how much sigma falls when object i leaves its cluster. */
static double leaving_gain(const clv_kpalm_state *s, int64_t i) {
    double sample = clv_kpalm_sample(s->problem, i), mass = clv_mass_in(s->problem, s->sums, s->labels[i]);
    return mass > sample ? sample * mass / (mass - sample) * clv_kpalm_distance(s, i, s->labels[i]) : 0;
}

/* Whether no cluster can be worth entering: by the bound of the distances to the other centers, which have moved by at
 * most `drift` since. */
static bool is_ruled_out(const clv_kpalm_state *s, int64_t i, double gain, double least_mass, double drift) {
    const clv_kpalm_problem *p = s->problem;
    double sample = clv_kpalm_sample(p, i), lower = fmax((double)s->lower[i] * p->frame.unit - drift, 0);
    return gain <= 0 || sample * least_mass / (least_mass + sample) * lower * lower * (1 - 1e-6) >= gain;
}

/* The cluster that costs least to enter. */
static int32_t best_entry(const clv_kpalm_state *s, int64_t i, double *cost) {
    double sample = clv_kpalm_sample(s->problem, i);
    int32_t best = -1;
    *cost = HUGE_VAL;
    for (int32_t l = 0; l < s->problem->k; l++) {
        double mass = clv_mass_in(s->problem, s->sums, l);
        double entering = l == s->labels[i] ? HUGE_VAL : sample * mass / (mass + sample) * clv_kpalm_distance(s, i, l);
        if (entering < *cost) {
            *cost = entering;
            best = l;
        }
    }
    return best;
}

static void move_center(clv_kpalm_state *s, int64_t i, int32_t l, double weight) {
    const clv_kpalm_problem *p = s->problem;
    double *sum = s->sums + l * (p->p + 1), *x = s->centers + l * p->p;
    clv_add_object(p, i, weight, l, s->sums);
    for (int64_t f = 0; f < p->p; f++) {
        x[f] = sum[f] / sum[p->p];
    }
    s->square[l] = clv_square_of(x, NULL, p->p);
}

/* What goes from one object to the next, and from rank to rank. */
typedef struct polish {
    clv_kpalm_state *s;
    double worth;
    double *passed; /* least_mass, drift, value, moved; then sums, centers and their squares */
    int64_t moved;
    double least_mass, drift;
} polish;

enum { SCALARS = 4 };

static int64_t passed_numbers(const clv_kpalm_problem *p) {
    return SCALARS + p->k * (p->p + 1) + p->k * p->p + p->k;
}

/* The state to what is passed on, or back from there. */
static void pass_on(polish *x, bool back) {
    clv_kpalm_state *s = x->s;
    const clv_kpalm_problem *p = s->problem;
    double scalars[SCALARS] = {x->least_mass, x->drift, s->value, (double)x->moved}, *at = x->passed;
    const struct {
        double *values;
        int64_t count;
    } parts[] = {{scalars, SCALARS}, {s->sums, p->k * (p->p + 1)}, {s->centers, p->k * p->p}, {s->square, p->k}};
    for (size_t i = 0; i < CLV_COUNT(parts); at += parts[i].count, i++) {
        memcpy(back ? parts[i].values : at, back ? at : parts[i].values, (size_t)parts[i].count * sizeof *at);
    }
    x->least_mass = scalars[0];
    x->drift = scalars[1];
    s->value = scalars[2];
    x->moved = (int64_t)scalars[3];
}

static void treat_object(polish *x, int64_t i) {
    clv_kpalm_state *s = x->s;
    const clv_kpalm_problem *p = s->problem;
    double gain = leaving_gain(s, i), cost;
    if (is_ruled_out(s, i, gain, x->least_mass, x->drift)) {
        return;
    }
    int32_t to = best_entry(s, i, &cost);
    if (to >= 0 && gain - cost > x->worth) {
        int32_t from = s->labels[i];
        move_center(s, i, from, -clv_kpalm_sample(p, i));
        move_center(s, i, to, clv_kpalm_sample(p, i));
        s->labels[i] = to;
        x->drift = fmax(x->drift, sqrt(fmax(clv_center_way2(s, from), clv_center_way2(s, to))));
        x->least_mass = fmin(x->least_mass, clv_mass_in(s->problem, s->sums, from));
        s->upper[i] = 1e30f;
        s->lower[i] = 0;
        s->value -= gain - cost;
        x->moved++;
    }
}

static clv_status treat_rows(void *user, int64_t from, int64_t to) {
    polish *x = user;
    clv_context *ctx = x->s->problem->ctx;
    pass_on(x, true);
    for (int64_t i = from; i < to; i++) {
        treat_object(x, i);
        if (i % 1024 == 0 && clv_interrupted(ctx)) {
            if (!x->s->problem->shared) { /* else ranks go back to what all of them know */
                pass_on(x, false);
            }
            return clv_stop_failure(ctx, "moving objects between clusters");
        }
    }
    pass_on(x, false);
    return CLV_OK;
}

/* Gains are those of means, which centers that go a part of the way only (gamma_x > 1) have not come to yet. */
static void go_to_means(polish *x) {
    clv_kpalm_state *s = x->s;
    const clv_kpalm_problem *p = s->problem;
    for (int64_t l = 0; l < p->k && p->damping != 1; l++) {
        double mass = clv_mass_in(p, s->sums, l), *center = s->centers + l * p->p;
        for (int64_t f = 0; f < p->p && mass > 0; f++) {
            center[f] = s->sums[l * (p->p + 1) + f] / mass;
        }
        s->square[l] = clv_square_of(center, NULL, p->p);
        s->value -= mass * clv_center_way2(s, l);
        x->drift = fmax(x->drift, sqrt(clv_center_way2(s, l)));
    }
}

clv_status clv_kpalm_exchange(clv_kpalm_state *s, int64_t *moved) {
    const clv_kpalm_problem *p = s->problem;
    double reach = p->frame.reach * p->frame.unit;
    /* Less is rounding: of sigma, or of coordinates far from the origin. */
    polish x = {.s = s,
                .worth = 1e-12 * p->spread / (double)p->n + 1e-14 * p->mass / (double)p->n * reach * p->length,
                .least_mass = HUGE_VAL};
    int64_t numbers = passed_numbers(p);
    *moved = 0;
    CLV_TRY(p->card ? clv_kpalm_card_bounds(s) : CLV_OK);
    x.passed = CLV_NEW(p->ctx, double, numbers);
    if (!x.passed) {
        return CLV_ENOMEM;
    }
    memcpy(s->before, s->centers, (size_t)(p->k * p->p) * sizeof *s->before);
    for (int64_t l = 0; l < p->k; l++) {
        x.least_mass = fmin(x.least_mass, clv_mass_in(s->problem, s->sums, l));
    }
    s->torn = true;
    go_to_means(&x);
    pass_on(&x, false);
    clv_status status = clv_kpalm_in_turn(p, treat_rows, &x, x.passed, numbers * (int64_t)sizeof *x.passed);
    pass_on(&x, true);
    clv_free(p->ctx, x.passed);
    *moved = x.moved;
    s->known_there = s->known_there && x.moved == 0;
    CLV_TRY(status);
    clv_centers_publish(s, true);
    s->torn = false;
    return CLV_OK;
}
