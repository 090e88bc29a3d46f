/* FISTA: accelerated proximal gradients (Beck and Teboulle 2009), with any form of the proximity operator.
 *
 * From y = w + momentum (w - w before): w = prox of lambda / L at y - grad f(y) / L, f the loss and the ridge; over the
 * ball of a radius its projection. L is fixed, the largest eigenvalue of X'X by power iterations times the curvature of
 * the loss, or found by backtracking from a low guess. The momentum starts afresh when the objective rises (O'Donoghue
 * and Candes 2015), unless --momentum plain.
 *
 * The slope of the loss at y is a dual point, which bounds F* from below at no further pass over X; F at w less the
 * best such bound is the gap that is watched. Where it is small enough, the gap of w itself is computed, by one more
 * pass. Cost: a pass for X'r and one for X w, which is less the sparser w; the proximity operator. */
#include "methods/ksupport/ksupport.h"

#include <math.h>
#include <string.h>

enum { POWER_STEPS = 30, MOST_GROWTH = 60 };

typedef struct fista {
    const clv_ks_problem *problem;
    clv_ks_work *work;
    clv_ksupport_set set;
    double *w, *before, *y; /* features */
    double *gradient;       /* features, at y */
    double *z, *z_y;        /* samples: X w, X y */
    double *slope;          /* samples: work */
    double *radius_work;    /* features: what is projected; NULL without a radius */
    clv_list packed;        /* room for all features */
    double lipschitz, momentum, bound, intercept;
    double last; /* objective of w */
} fista;

static void fista_destroy(const clv_ks_problem *problem, void *state) {
    fista *run = state;
    if (run) {
        clv_list_free(problem->ctx, &run->packed);
        clv_ksupport_set_free(&run->set);
    }
}

static clv_status fista_create(const clv_ks_problem *p, clv_ks_work *work, int threads, void **state) {
    int64_t features = p->x->features, samples = p->x->samples;
    fista *run = *state = CLV_TAKE(&work->room, fista, 1);
    CLV_TRY(work->room.status);
    *run = (fista){.problem = p, .work = work};
    run->w = CLV_TAKE(&work->room, double, features);
    run->before = CLV_TAKE(&work->room, double, features);
    run->y = CLV_TAKE(&work->room, double, features);
    run->gradient = CLV_TAKE(&work->room, double, features);
    run->z = CLV_TAKE(&work->room, double, samples);
    run->z_y = CLV_TAKE(&work->room, double, samples);
    run->slope = CLV_TAKE(&work->room, double, samples);
    if (p->radius > 0) {
        run->radius_work = CLV_TAKE(&work->room, double, features);
    }
    CLV_TRY(work->room.status);
    CLV_TRY(clv_list_reserve(p->ctx, &run->packed, features));
    return clv_ksupport_set_new(p->ctx, features, p->k, threads, p->options.prox != CLV_KSUPPORT_SELECT, &run->set);
}

/* --- the step size --- */

/* The largest eigenvalue of X X' by power iterations from a fixed start. */
static double largest_eigenvalue(fista *run) {
    const clv_ks_problem *p = run->problem;
    const clv_design *x = p->x;
    double value = 0;
    for (int64_t m = 0; m < x->samples; m++) {
        run->slope[m] = 1 + 0.5 * sin((double)(m + 1));
    }
    for (int step = 0; step < POWER_STEPS; step++) {
        double size = sqrt(clv_dot(run->slope, run->slope, x->samples, 1)), last = value;
        for (int64_t m = 0; size > 0 && m < x->samples; m++) {
            run->slope[m] /= size;
        }
        x->does->gradient(x, run->slope, NULL, x->features, run->gradient, NULL);
        run->work->passes += 1;
        value = clv_dot(run->gradient, run->gradient, x->features, p->loss.threads);
        clv_ks_multiply(p, run->work, run->gradient, &run->packed, run->slope);
        if (value - last <= 1e-3 * value) {
            break;
        }
    }
    return 1.01 * value; /* a little more than what power iterations reach from below */
}

/* ||X u||^2 / ||u||^2 for the k steepest entries u of the gradient at the start: at most that eigenvalue. */
static double eigenvalue_from_below(fista *run, const clv_point *point) {
    const clv_ks_problem *p = run->problem;
    clv_list found = point->top, *u = &found;
    if (point->gradient) {
        *u = run->packed;
        u->count = clv_ksupport_vertex(&run->set, point->gradient, p->x->features, u->index);
        for (int64_t i = 0; i < u->count; i++) {
            u->value[i] = point->gradient[u->index[i]];
        }
    }
    p->x->does->margins(p->x, u->index, u->value, u->count, run->slope);
    double image = clv_dot(run->slope, run->slope, p->x->samples, 1), square = clv_list_square(u);
    return square > 0 ? image / square : 0;
}

static clv_status fista_start(void *state, clv_point *point) {
    fista *run = state;
    const clv_ks_problem *p = run->problem;
    size_t size = (size_t)p->x->features * sizeof *run->w, samples = (size_t)p->x->samples * sizeof *run->z;
    if (!(run->lipschitz > 0)) { /* not again for a state that was used before */
        double eigenvalue =
            p->options.step == CLV_KSUPPORT_FIXED ? largest_eigenvalue(run) : eigenvalue_from_below(run, point);
        run->lipschitz = clv_loss_curvature(&p->loss) * eigenvalue + p->tau;
        run->lipschitz = run->lipschitz > 0 ? run->lipschitz : 1;
    }
    memset(run->w, 0, size);
    clv_list_add_to(&point->w, 1, NULL, p->x->features, run->w);
    memcpy(run->y, run->w, size);
    memcpy(run->z, point->margin, samples);
    memcpy(run->z_y, point->margin, samples);
    run->momentum = 1;
    run->bound = -INFINITY;
    run->last = point->value;
    run->intercept = point->intercept;
    return CLV_OK;
}

/* --- a step --- */

/* Loss and ridge at y, their gradient, and what the slope there says of the least objective. */
static double expand_at_y(fista *run) {
    const clv_ks_problem *p = run->problem;
    const clv_design *x = p->x;
    double loss = clv_loss_at(&p->loss, run->work->terms, run->z_y, &run->intercept, run->slope, NULL);
    double ridge = clv_dot(run->y, run->y, x->features, p->loss.threads);
    double product = clv_dot(run->slope, run->z_y, x->samples, p->loss.threads), bound = -INFINITY;
    x->does->gradient(x, run->slope, NULL, x->features, run->gradient, NULL);
    run->work->passes += 1;
    if (!(p->radius > 0)) {
        bound = loss - product - clv_ksupport_conjugate(&run->set, run->gradient, x->features, p->lambda, p->tau);
    }
    for (int64_t j = 0; j < x->features; j++) {
        run->gradient[j] += p->tau * run->y[j];
    }
    if (p->radius > 0) {
        double steepest = sqrt(clv_ksupport_dual_square(&run->set, run->gradient, x->features));
        bound = loss - product - 0.5 * p->tau * ridge - p->radius * steepest;
    }
    run->bound = fmax(run->bound, bound);
    return loss + 0.5 * p->tau * ridge;
}

/* w from y with the step 1 / L; the weights of the point, their margins and their objective follow. */
static clv_status try_step(fista *run, clv_point *point) {
    const clv_ks_problem *p = run->problem;
    double *target = run->radius_work ? run->radius_work : run->w;
    for (int64_t j = 0; j < p->x->features; j++) {
        target[j] = run->y[j] - run->gradient[j] / run->lipschitz;
    }
    if (p->radius > 0) {
        clv_ksupport_project(&run->set, target, p->x->features, p->radius, run->w);
    } else {
        clv_ksupport_set_prox(&run->set, (clv_ksupport_form)p->options.prox, target, p->x->features,
                              p->lambda / run->lipschitz, run->w);
    }
    if (clv_interrupted(p->ctx)) {
        return clv_stop_failure(p->ctx, "taking a step of fista");
    }
    CLV_TRY(clv_list_pack(p->ctx, &point->w, run->w, p->x->features, NULL));
    return clv_point_value(point);
}

/* Whether the quadratic model at y with this L lies above loss and ridge at w. */
static bool is_majorized(const fista *run, const clv_point *point, double at_y) {
    double linear = 0, square = 0;
    for (int64_t j = 0; j < run->problem->x->features; j++) {
        double move = run->w[j] - run->y[j];
        linear += run->gradient[j] * move;
        square += move * move;
    }
    double smooth = point->loss + 0.5 * run->problem->tau * point->ridge;
    return smooth <= at_y + linear + 0.5 * run->lipschitz * square + 1e-14 * fabs(at_y);
}

/* y and X y from the last two points. */
static void extrapolate(fista *run, const clv_point *point, bool rose) {
    double next = 0.5 * (1 + sqrt(1 + 4 * run->momentum * run->momentum));
    double share = rose ? 0 : (run->momentum - 1) / next;
    for (int64_t j = 0; j < run->problem->x->features; j++) {
        run->y[j] = run->w[j] + share * (run->w[j] - run->before[j]);
    }
    for (int64_t m = 0; m < run->problem->x->samples; m++) {
        run->z_y[m] = point->margin[m] + share * (point->margin[m] - run->z[m]);
    }
    memcpy(run->z, point->margin, (size_t)run->problem->x->samples * sizeof *run->z);
    run->momentum = rose ? 1 : next;
}

static clv_status fista_step(void *state, clv_point *point, clv_iterate *out) {
    fista *run = state;
    const clv_ks_problem *p = run->problem;
    double at_y = expand_at_y(run), *held = run->before;
    (void)out;
    if (clv_interrupted(p->ctx)) { /* passes of a step may take long, as over the n^2 entries of pursuit */
        return clv_stop_failure(p->ctx, "taking a step of fista");
    }
    run->before = run->w;
    run->w = held;
    CLV_TRY(try_step(run, point));
    for (int grown = 0; p->options.step == CLV_KSUPPORT_BACKTRACKING && grown < MOST_GROWTH; grown++) {
        if (is_majorized(run, point, at_y)) {
            break;
        }
        run->lipschitz *= 2;
        CLV_TRY(try_step(run, point));
    }
    extrapolate(run, point, p->options.momentum == CLV_KSUPPORT_RESTARTED && point->value > run->last);
    run->last = point->value;
    point->gap = clv_ks_clamp(point->value - run->bound);
    return CLV_OK;
}

static clv_status fista_pass(void *state, clv_archive *archive) {
    fista *run = state;
    int64_t features = run->problem->x->features, samples = run->problem->x->samples;
    double *const numbers[] = {&run->lipschitz, &run->momentum, &run->bound, &run->intercept, &run->last};
    clv_pass_reals(archive, run->w, features);
    clv_pass_reals(archive, run->y, features);
    clv_pass_reals(archive, run->z, samples);
    clv_pass_reals(archive, run->z_y, samples);
    for (size_t i = 0; i < CLV_COUNT(numbers); i++) {
        clv_pass_real(archive, numbers[i]);
    }
    return run->lipschitz > 0 && run->momentum > 0 ? archive->status : clv_archive_refuse(archive);
}

const clv_ks_solver clv_ks_fista = {fista_create, fista_destroy, fista_start, fista_step, fista_pass};
