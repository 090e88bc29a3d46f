/* Steps of which every trial needs a new product with P.
 *
 *   pgd      W goes to the projection of W - a G; a is halved until f falls by a share of what the gradient promises
 *            (Armijo), and doubled for the next step.
 *   penalty  the baseline of Zhao, Poupart, Zhang and Lysy (2015): the constraints become penalties,
 *            f(V) + mu/2 |V 1 - 1|^2 + nu/2 |min(V, 0)|^2, which gradient descent lowers by at most INNER steps;
 *            then mu and nu are doubled. What is shown of it is the projection of V on the simplices. */
#include "methods/symnmf/symnmf.h"

#include <math.h>
#include <string.h>

enum { INNER = 50, HALVINGS = 60 };
#define ARMIJO 1e-4
/* The most that a step may grow to, in units of the first. */
#define LONGEST 1e6
/* The factor of both weights from one outer iteration to the next. */
#define WEIGHT_FACTOR 2.0
/* An inner iteration that lowers the sum by less than this share was the last. */
#define INNER_ENOUGH 1e-7
/* V is as good as on the simplices, and f no longer changes. */
#define FEASIBLE 1e-6
#define OUTER_ENOUGH 1e-9

static void copy(double *to, const double *from, const clv_memberships *s) {
    memcpy(to, from, (size_t)(s->problem->n * s->problem->k) * sizeof *to);
}

/* --- projected gradient --- */

/* W = projection of held - a direction; f and gradient there. */
static clv_status try_length(clv_memberships *s) {
    int64_t count = s->problem->n * s->problem->k;
    for (int64_t e = 0; e < count; e++) {
        s->w[e] = s->held[e] - s->step * s->direction[e];
    }
    clv_project_rows(s, s->w);
    return clv_memberships_refresh(s);
}

/* <G, W - held> with the gradient at `held`. */
static double promised(const clv_memberships *s) {
    int64_t count = s->problem->n * s->problem->k;
    return clv_dot(s->direction, s->w, count, s->threads) - clv_dot(s->direction, s->held, count, s->threads);
}

clv_status clv_pgd_step(clv_memberships *s) {
    double before = s->value;
    s->step = s->primed ? fmin(2 * s->step, LONGEST * clv_memberships_length(s)) : clv_memberships_length(s);
    s->primed = true;
    copy(s->held, s->w, s);
    copy(s->direction, s->gradient, s);
    for (int halving = 0; halving < HALVINGS; halving++) {
        clv_status status = try_length(s);
        if (status < 0) {
            copy(s->w, s->held, s);
            return status;
        }
        double promise = promised(s);
        if (promise < 0 && s->value <= before + ARMIJO * promise) {
            s->stuck = false;
            return CLV_OK;
        }
        s->step /= 2;
    }
    s->stuck = true;
    copy(s->w, s->held, s);
    return clv_memberships_refresh(s);
}

/* --- penalties --- */

/* The penalties of V, which is in w, and their part of the gradient, added to it. */
static double add_penalties(clv_memberships *s) {
    int64_t n = s->problem->n, k = s->problem->k;
    double mu = s->weight * s->problem->options.sum_weight, nu = s->weight * s->problem->options.sign_weight, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double excess = -1;
        for (int64_t c = 0; c < k; c++) {
            excess += s->w[c * n + i];
        }
        for (int64_t c = 0; c < k; c++) {
            double below = fmin(s->w[c * n + i], 0);
            sum += nu * below * below;
            s->gradient[c * n + i] += mu * excess + nu * below;
        }
        sum += mu * excess * excess;
    }
    return sum / 2;
}

/* f and gradient of the penalized problem at V in w. */
static clv_status evaluate_free(clv_memberships *s, double *value) {
    CLV_TRY(clv_memberships_refresh(s));
    *value = s->value + add_penalties(s);
    return CLV_OK;
}

/* One gradient step from w, of which value and gradient are known; `*moved` is false when no length will do. */
static clv_status descend(clv_memberships *s, double *value, bool *moved) {
    int64_t count = s->problem->n * s->problem->k;
    double slope = clv_dot(s->gradient, s->gradient, count, s->threads), before = *value;
    copy(s->previous, s->w, s);
    copy(s->direction, s->gradient, s);
    s->step = fmin(2 * s->step, LONGEST * clv_memberships_length(s));
    for (int halving = 0; halving < HALVINGS; halving++) {
        for (int64_t e = 0; e < count; e++) {
            s->w[e] = s->previous[e] - s->step * s->direction[e];
        }
        CLV_TRY(evaluate_free(s, value));
        if (*value <= before - ARMIJO * s->step * slope) {
            *moved = true;
            return CLV_OK;
        }
        s->step /= 2;
    }
    *moved = false;
    copy(s->w, s->previous, s);
    return evaluate_free(s, value);
}

/* At most INNER steps with the present weight. */
static clv_status minimize(clv_memberships *s) {
    double value, before;
    bool moved = true;
    CLV_TRY(evaluate_free(s, &value));
    for (int inner = 0; inner < INNER && moved; inner++) {
        before = value;
        CLV_TRY(descend(s, &value, &moved));
        moved = moved && before - value > INNER_ENOUGH * value;
    }
    return CLV_OK;
}

static double largest_change(const clv_memberships *s) {
    double largest = 0;
    for (int64_t e = 0; e < s->problem->n * s->problem->k; e++) {
        largest = fmax(largest, fabs(s->w[e] - s->held[e]));
    }
    return largest;
}

/* `image` keeps the projected W, to go back to when interrupted. */
clv_status clv_penalty_step(clv_memberships *s) {
    double before = s->value;
    copy(s->image, s->w, s);
    if (!s->primed) {
        copy(s->held, s->w, s);
        s->weight = 1;
        s->step = clv_memberships_length(s);
        s->primed = true;
    }
    copy(s->w, s->held, s);
    clv_status status = minimize(s);
    if (status == CLV_OK) {
        copy(s->held, s->w, s);
        clv_project_rows(s, s->w);
        status = clv_memberships_refresh(s);
    }
    if (status < 0) {
        copy(s->w, s->image, s);
        return status;
    }
    s->weight *= WEIGHT_FACTOR;
    s->stuck = largest_change(s) <= FEASIBLE && fabs(before - s->value) <= OUTER_ENOUGH * before;
    return CLV_OK;
}
