/* Semismooth Newton for high accuracy: working sets x proximal points x Newton in one dual variable per sample.
 *
 * On a working set with columns A, the proximal point w+ = argmin loss(A w) + Omega(w) + ||w - w0||^2 / (2 sigma),
 * Omega the ridge and the squared norm, has the dual
 *
 *   maximize d(r) = -loss*(r) + <r, A w> + Omega(w) + ||w - w0||^2 / (2 sigma),   w = w(r) = prox of sigma Omega at
 *   w0 - sigma A'r,
 *
 * whose gradient A w - (loss*)'(r) is semismooth: -H = -(diag(loss*'') + sigma A P A') is in its generalized
 * derivative, P that of the proximity operator (system.c solves with H). Newton steps are damped: r stays where the
 * conjugate is finite and d must rise. With an intercept the r add up to 0, and steps keep that.
 *
 * sigma is 10 / lambda or less at first, grows as the square root of what F may be above its least value falls, to
 * 1e3 / lambda (1e2 / lambda without a ridge, beyond which Newton cycles), and faster or slower by how many steps a
 * point takes; where steps stay short it is given up soon, for a tenth. When the gap on the working set is small, a
 * pass over X looks at all features, and the working set is chosen anew. Where steps lower the gap no more, fcfw goes
 * on.
 *
 * Reference for the scheme: Li, Sun and Toh 2018 (for the lasso).
 * Cost: passes over X, one per step; on the working set a linear system for each Newton step. */
#include "methods/ksupport/ksupport.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { FEATURES_A_K = 3, LEAST_FEATURES = 512, MOST_POINTS = 30, MOST_NEWTON = 60, HALVINGS = 30, PATIENCE = 6 };
enum { EASY = 3, HARD = 8, TRIED = 6 }; /* Newton steps for a proximal point */
#define LEAST_CARE 1e-12
#define INSIDE 1e-10

typedef struct newton_run {
    const clv_ks_problem *problem;
    clv_ks_work *work;
    int threads;
    double sigma;
    double pace;                           /* sigma is this by the square root of how far F may be from the least */
    double lowest;                         /* gap met so far */
    int idle;                              /* steps in a row that did not lower it much */
    double *r, *trial, *step, *rhs, *ones; /* samples */
    double *curve, *margin;                /* samples: loss*''; A w(r) */
    void *atoms;                           /* state of fcfw, which takes over where this gets no further; or NULL */
    bool given_up;                         /* it has */
} newton_run;

/* One proximal point on a working set. */
typedef struct proximal {
    newton_run *run;
    const clv_working *on;
    double *w0, *w, *u; /* count: center, w(r), what the proximity operator was applied to */
    clv_ks_system system;
    clv_ksupport_root root;
    double distance;       /* of w from w0, squared */
    double dual;           /* d(r) */
    double penalty, ridge; /* of w: squared norm, squared 2-norm */
    clv_list packed;       /* the nonzero entries of w; room for all */
    clv_kept room;         /* of the arrays */
} proximal;

static void newton_destroy(const clv_ks_problem *problem, void *state) {
    newton_run *run = state;
    if (run) {
        clv_ks_fcfw.destroy(problem, run->atoms);
    }
}

size_t clv_ks_newton_memory(int64_t samples, int64_t working) {
    return clv_ks_system_memory(samples, working) + (size_t)(7 * samples + 5 * working) * sizeof(double);
}

static clv_status newton_create(const clv_ks_problem *p, clv_ks_work *work, int threads, void **state) {
    int64_t n = p->x->samples;
    newton_run *run = *state = CLV_TAKE(&work->room, newton_run, 1);
    CLV_TRY(work->room.status);
    *run = (newton_run){.problem = p, .work = work, .threads = threads};
    double **const arrays[] = {&run->r, &run->trial, &run->step, &run->rhs, &run->ones, &run->curve, &run->margin};
    for (size_t i = 0; i < CLV_COUNT(arrays); i++) {
        *arrays[i] = CLV_TAKE(&work->room, double, n);
    }
    return work->room.status;
}

static clv_status newton_start(void *state, clv_point *point) {
    newton_run *run = state;
    (void)point;
    run->pace = 0;
    run->lowest = INFINITY;
    run->idle = 0;
    run->given_up = false;
    return CLV_OK;
}

/* --- the conjugate of the loss --- */

/* loss*(r) summed, its first derivative into `first`, its second into `second`; infinite outside its domain. */
static double conjugate_loss(const clv_loss *loss, const double *r, double *first, double *second) {
    double sum = 0;
    for (int64_t m = 0; m < loss->samples; m++) {
        double y = loss->y[m];
        if (loss->kind == CLV_KSUPPORT_SQUARES) {
            sum += 0.5 * r[m] * r[m] + r[m] * y;
            first[m] = r[m] + y;
            second[m] = 1;
            continue;
        }
        double share = -y * r[m], rest = 1 - share;
        if (!(share > 0 && rest > 0)) {
            return INFINITY;
        }
        sum += share * log(share) + rest * log(rest);
        first[m] = y * log(rest / share);
        second[m] = 1 / (share * rest);
    }
    return sum;
}

/* --- w(r) and d(r) --- */

/* Evaluate at r: w, its parts, A w into run->margin, d. `slope` gets (loss*)'(r). False outside the domain. */
static bool evaluate_dual(proximal *q, const double *r, double *slope) {
    newton_run *run = q->run;
    const clv_ks_problem *p = run->problem;
    const clv_working *on = q->on;
    double spread = 1 + run->sigma * p->tau;
    double conjugate = conjugate_loss(&p->loss, r, slope, run->curve);
    if (!isfinite(conjugate)) {
        return false;
    }
    on->x.does->gradient(&on->x, r, NULL, on->count, on->gradient, NULL);
    for (int64_t j = 0; j < on->count; j++) {
        q->u[j] = (q->w0[j] - run->sigma * on->gradient[j]) / spread;
    }
    q->root =
        clv_ksupport_set_prox(&on->set, CLV_KSUPPORT_SELECT, q->u, on->count, run->sigma * p->lambda / spread, q->w);
    q->distance = 0;
    for (int64_t j = 0; j < on->count; j++) {
        q->distance += (q->w[j] - q->w0[j]) * (q->w[j] - q->w0[j]);
    }
    (void)clv_list_pack(p->ctx, &q->packed, q->w, on->count, NULL);
    on->x.does->margins(&on->x, q->packed.index, q->packed.value, q->packed.count, run->margin);
    q->ridge = clv_list_square(&q->packed);
    q->penalty = clv_ksupport_square(&on->set, q->packed.value, q->packed.count);
    q->dual = -conjugate + cblas_ddot((int)p->x->samples, r, 1, run->margin, 1) + 0.5 * p->tau * q->ridge +
              p->lambda * q->penalty + q->distance / (2 * run->sigma);
    return true;
}

/* --- the Newton system --- */

/* The Newton step from the right-hand side, kept orthogonal to 1 where there is an intercept. */
static bool find_step(proximal *q) {
    newton_run *run = q->run;
    int64_t n = run->problem->x->samples;
    clv_ks_system_set(&q->system, q->u, &q->root, run->problem->k);
    if (!clv_ks_system_prepare(&q->system, run->curve, run->sigma / (1 + run->sigma * run->problem->tau))) {
        return false;
    }
    clv_ks_system_solve(&q->system, run->rhs, run->step);
    if (run->problem->loss.intercept) {
        for (int64_t m = 0; m < n; m++) {
            run->trial[m] = 1;
        }
        clv_ks_system_solve(&q->system, run->trial, run->ones);
        double share = clv_sum(run->step, n, 1) / clv_sum(run->ones, n, 1);
        cblas_daxpy((int)n, -share, run->ones, 1, run->step, 1);
    }
    return true;
}

/* The longest step, up to 1, that stays well inside the domain of the conjugate. */
static double longest_step(const newton_run *run) {
    const clv_loss *loss = &run->problem->loss;
    double longest = 1;
    for (int64_t m = 0; loss->kind == CLV_KSUPPORT_LOGISTIC && m < loss->samples; m++) {
        double share = -loss->y[m] * run->r[m], move = -loss->y[m] * run->step[m];
        double room = move > 0 ? 1 - share : share;
        longest = fmin(longest, fabs(move) > 0 ? 0.99 * room / fabs(move) : 1);
    }
    return longest;
}

/* --- a proximal point --- */

/* How far w(r) can be from the proximal point: the value of the problem there less d(r). */
static double proximal_gap(const proximal *q, double *intercept) {
    const newton_run *run = q->run;
    const clv_ks_problem *p = run->problem;
    double loss = clv_loss_at(&p->loss, run->work->terms, run->margin, intercept, run->ones, NULL);
    return loss + 0.5 * p->tau * q->ridge + p->lambda * q->penalty + q->distance / (2 * run->sigma) - q->dual;
}

/* Newton from run->r until the proximal point is known to `accuracy`; returns the steps that it took, MOST_NEWTON where
 * it was not found, or -1 where it cannot begin: then there is no w. */
static int find_proximal(proximal *q, double accuracy, double *intercept) {
    newton_run *run = q->run;
    int64_t n = run->problem->x->samples;
    double way = 0;
    if (!evaluate_dual(q, run->r, run->rhs)) {
        return -1;
    }
    for (int pass = 0; pass < MOST_NEWTON; pass++) {
        for (int64_t m = 0; m < n; m++) {
            run->rhs[m] = run->margin[m] - run->rhs[m];
        }
        if (proximal_gap(q, intercept) <= accuracy || clv_interrupted(run->problem->ctx) || !find_step(q)) {
            return pass;
        }
        if (pass >= TRIED && way < 0.25 * pass) { /* far from where steps are of length 1 */
            return MOST_NEWTON;
        }
        double before = q->dual, rise = cblas_ddot((int)n, run->rhs, 1, run->step, 1), length = longest_step(run);
        bool risen = false;
        for (int halving = 0; halving < HALVINGS && !risen; halving++) {
            for (int64_t m = 0; m < n; m++) {
                run->trial[m] = run->r[m] + length * run->step[m];
            }
            risen = evaluate_dual(q, run->trial, run->rhs) &&
                    q->dual >= before + 1e-4 * length * rise - 1e-15 * fabs(before);
            way += risen ? length : 0;
            length *= 0.5;
        }
        if (!risen) {
            evaluate_dual(q, run->r, run->rhs);
            return MOST_NEWTON;
        }
        memcpy(run->r, run->trial, (size_t)n * sizeof *run->r);
    }
    return MOST_NEWTON;
}

/* The caller frees its room and its list also on failure. */
static clv_status proximal_new(newton_run *run, const clv_working *on, proximal *q) {
    clv_context *ctx = run->problem->ctx;
    *q = (proximal){.run = run, .on = on, .room = {.ctx = ctx}};
    q->w0 = CLV_TAKE(&q->room, double, on->count);
    q->w = CLV_TAKE(&q->room, double, on->count);
    q->u = CLV_TAKE(&q->room, double, on->count);
    CLV_TRY(clv_ks_system_new(&q->room, &on->x, run->threads, &q->system));
    memset(q->w0, 0, (size_t)on->count * sizeof *q->w0);
    return clv_list_reserve(ctx, &q->packed, on->count);
}

/* --- a step --- */

/* The weights of the point from those on the working set, with everything but the gradient. */
static clv_status take_weights(const proximal *q, clv_point *point) {
    const clv_working *on = q->on;
    CLV_TRY(clv_list_pack(on->ctx, &point->w, q->w, on->count, on->list));
    memcpy(point->margin, q->run->margin, (size_t)on->x.samples * sizeof *point->margin);
    point->loss =
        clv_loss_at(&q->run->problem->loss, point->work->terms, point->margin, &point->intercept, point->slope, NULL);
    point->ridge = q->ridge;
    point->square = q->penalty;
    point->value = clv_ks_objective(q->run->problem, point->loss, point->ridge, point->square);
    return CLV_OK;
}

/* F of w(r). */
static double value_of(const proximal *q, double *intercept) {
    const newton_run *run = q->run;
    double loss = clv_loss_at(&run->problem->loss, run->work->terms, run->margin, intercept, run->ones, NULL);
    return clv_ks_objective(run->problem, loss, q->ridge, q->penalty);
}

/* The first sigma: 10 / lambda, but no more than 10 times what a gradient step could be. */
static double first_sigma(const proximal *q) {
    const clv_ks_problem *p = q->run->problem;
    const clv_working *on = q->on;
    on->x.does->gradient(&on->x, q->run->r, NULL, on->count, q->w, q->u);
    double square = clv_sum(q->u, on->count, 1) / (double)p->x->samples;
    double step = square > 0 ? 1 / (clv_loss_curvature(&p->loss) * square) : (double)INFINITY;
    return fmin(10 / p->lambda, 10 * step);
}

/* The slope of the logistic loss reaches the border of the domain of its conjugate where margins are large: a little of
 * a point well inside, whose entries add up to 0, brings it back. */
static void begin_inside(newton_run *run, const double *slope) {
    const clv_loss *loss = &run->problem->loss;
    int64_t positive = 0;
    bool outside = false;
    memcpy(run->r, slope, (size_t)loss->samples * sizeof *run->r);
    for (int64_t m = 0; loss->kind == CLV_KSUPPORT_LOGISTIC && m < loss->samples; m++) {
        double share = -loss->y[m] * slope[m];
        positive += loss->y[m] > 0;
        outside = outside || !(share > 0 && 1 - share > 0);
    }
    double part = (double)positive / (double)loss->samples;
    for (int64_t m = 0; outside && m < loss->samples; m++) {
        double inside = loss->y[m] > 0 ? part - 1 : part;
        run->r[m] = (1 - INSIDE) * slope[m] + INSIDE * inside;
    }
}

/* After a try that did not lower F: from the start again and not as far, or on to a better solution of the same. False:
 * neither helps. */
static bool try_again(newton_run *run, bool unfinished, const double *slope, double *care) {
    if (unfinished) {
        begin_inside(run, slope);
    } else {
        *care *= 0.01;
    }
    return (unfinished || *care > LEAST_CARE) && !clv_interrupted(run->problem->ctx);
}

/* Proximal points on a working set until its gap is a small part of the whole one, or of what is asked for. */
static clv_status find_points(proximal *q, clv_point *point) {
    newton_run *run = q->run;
    const clv_ks_problem *p = run->problem;
    const clv_working *on = q->on;
    double gap = point->gap, far = fmin(gap, point->value), care = 1; /* no value is farther than that from the least */
    double goal = fmax(0.1 * p->tol * point->value, 1e-3 * far), most = (p->tau > 0 ? 1e3 : 1e2) / p->lambda;
    clv_list_add_to(&point->w, 1, on->list, on->count, q->w0);
    begin_inside(run, point->slope);
    run->pace = run->pace > 0 ? run->pace : first_sigma(q) * sqrt(far);
    for (int pass = 0; pass < MOST_POINTS; pass++) {
        /* Without a ridge the gap is of first order in the distance to the solution, the objective of second. */
        double wanted = p->tau > 0 ? fmax(0.1 * goal, 1e-3 * far) : 1e-3 * far * far / point->value;
        run->sigma = fmin(run->pace / sqrt(far), most);
        int steps = find_proximal(q, fmax(care * wanted, 1e-15 * point->value), &point->intercept);
        if (steps < 0) {
            return CLV_OK;
        }
        run->pace *= steps <= EASY ? 2 : steps <= HARD ? 1 : steps < MOST_NEWTON ? 0.5 : 0.1;
        if (!(value_of(q, &point->intercept) <= point->value * (1 + 1e-9))) {
            if (!try_again(run, steps == MOST_NEWTON, point->slope, &care)) {
                break;
            }
            continue;
        }
        care = 1;
        CLV_TRY(take_weights(q, point));
        on->x.does->gradient(&on->x, point->slope, NULL, on->count, on->gradient, NULL);
        double product = clv_dot(point->slope, point->margin, p->x->samples, 1), last = gap;
        gap =
            clv_ks_gap(p, &on->set, on->gradient, on->list, on->count, &point->w, product, point->ridge, point->square);
        far = fmin(gap, point->value);
        run->work->passes += (double)on->count / (double)p->x->features;
        if (gap <= goal || clv_interrupted(p->ctx) || (pass > 3 && gap > 0.9 * last && steps <= HARD)) {
            break;
        }
        memcpy(q->w0, q->w, (size_t)on->count * sizeof *q->w);
    }
    return CLV_OK;
}

static clv_status solve_working(newton_run *run, const clv_working *on, clv_point *point) {
    proximal q;
    clv_status status = proximal_new(run, on, &q);
    if (status == CLV_OK) {
        status = find_points(&q, point);
    }
    clv_list_free(on->ctx, &q.packed);
    clv_free_kept(&q.room);
    return status;
}

/* Where Newton gets no further and the gap is too large, Frank-Wolfe goes on from there. */
static clv_status give_up(newton_run *run, clv_point *point) {
    const clv_ks_problem *p = run->problem;
    run->given_up = true;
    if (!run->atoms) {
        CLV_TRY(clv_ks_fcfw.create(p, run->work, run->threads, &run->atoms));
    }
    return clv_ks_fcfw.start(run->atoms, point);
}

static clv_status newton_step(void *state, clv_point *point, clv_iterate *out) {
    newton_run *run = state;
    const clv_ks_problem *p = run->problem;
    int64_t wanted = FEATURES_A_K * p->k + point->w.count;
    clv_working on = {0};
    if (run->given_up) {
        return clv_ks_fcfw.step(run->atoms, point, out);
    }
    clv_point_screen(point);
    wanted = wanted > LEAST_FEATURES ? wanted : LEAST_FEATURES;
    clv_status status = clv_working_new(point, wanted, run->threads, &on);
    status = status == CLV_OK ? clv_working_gather(point, &on) : status;
    if (status == CLV_OK) {
        status = solve_working(run, &on, point);
    }
    clv_working_free(&on);
    CLV_TRY(status);
    CLV_TRY(clv_point_evaluate(point));
    run->idle = point->gap < 0.7 * run->lowest ? 0 : run->idle + 1;
    run->lowest = fmin(run->lowest, point->gap);
    return run->idle >= PATIENCE ? give_up(run, point) : CLV_OK;
}

static clv_status newton_pass(void *state, clv_archive *archive) {
    newton_run *run = state;
    clv_pass_real(archive, &run->pace);
    clv_pass_real(archive, &run->lowest);
    clv_pass_int(archive, &run->idle, 0, INT32_MAX / 2);
    clv_pass_flag(archive, &run->given_up);
    CLV_TRY(archive->status);
    if (!run->given_up) {
        return CLV_OK;
    }
    if (!run->atoms) {
        CLV_TRY(clv_ks_fcfw.create(run->problem, run->work, run->threads, &run->atoms));
    }
    return clv_ks_fcfw.pass(run->atoms, archive);
}

const clv_ks_solver clv_ks_newton = {newton_create, newton_destroy, newton_start, newton_step, newton_pass};
