/* Semismooth Newton for high accuracy: working sets x proximal points x Newton in one dual variable per sample.
 *
 * On a working set with columns A, the proximal point w+ = argmin loss(A w) + Omega(w) + ||w - w0||^2 / (2 sigma),
 * Omega the ridge and the squared norm, has the dual
 *
 *   maximize d(r) = -loss*(r) + <r, A w> + Omega(w) + ||w - w0||^2 / (2 sigma),   w = w(r) = prox of sigma Omega at
 *   w0 - sigma A'r,
 *
 * whose gradient A w - (loss*)'(r) is semismooth: -H = -(diag(loss*'') + sigma A P A') is in its generalized
 * derivative, P that of the proximity operator: a multiple of 1 on the entries with theta = 1, the identity less a
 * rank-one matrix on those in between. P = C C', so that H is the diagonal plus (A C)(A C)' over the entries in use:
 * solved by Cholesky in the samples, or for many samples by conjugate gradients with the diagonal as preconditioner (H
 * is then the identity plus a matrix of low rank). Newton steps are damped: r stays where the conjugate is finite and d
 * must rise. With an intercept the r add up to 0, and steps keep that.
 *
 * sigma grows from 10 / lambda or less by factors of 10 to 1e3 / lambda (1e2 / lambda without a ridge, beyond which
 * Newton cycles), and shrinks where Newton takes many steps. When the gap on the working set is small, a pass over X
 * looks at all features, and the working set is chosen anew. Where steps lower the gap no more, fcfw goes on.
 *
 * Reference for the scheme: Li, Sun and Toh 2018 (for the lasso).
 * Cost: passes over X, one per step; on the working set samples^2 x entries in use for each Newton step. */
#include "methods/ksupport/ksupport.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { FEATURES_A_K = 3, LEAST_FEATURES = 512, MOST_POINTS = 30, MOST_NEWTON = 60, HALVINGS = 30, PATIENCE = 6 };
enum { EASY = 8, HARD = 20 }; /* Newton steps for a proximal point */
#define INSIDE 1e-10
enum { DENSE_SAMPLES = 3000, CHUNKS = 8, MOST_CONJUGATE = 500 };

typedef struct newton_run {
    const clv_ks_problem *problem;
    clv_ks_work *work;
    int threads;
    double sigma;
    double lowest;                         /* gap met so far */
    int idle;                              /* steps in a row that did not lower it much */
    clv_list before;                       /* weights */
    double *r, *trial, *step, *rhs, *ones; /* samples */
    double *curve, *margin;                /* samples: loss*''; A w(r) */
    double *cg;                            /* 3 x samples */
    void *atoms;                           /* state of fcfw, which takes over where this gets no further; or NULL */
    bool given_up;                         /* it has */
    double *hessian;                       /* CHUNKS x samples^2, the first of which is H; NULL for many samples */
} newton_run;

/* One proximal point on a working set. */
typedef struct proximal {
    newton_run *run;
    const clv_working *on;
    double *w0, *w, *u; /* count: center, w(r), what the proximity operator was applied to */
    double *columns;    /* room for the entries in use, as rows of samples numbers */
    int64_t *used;      /* count: entries in use, and */
    int64_t used_count; /* how many; the first */
    int64_t whole;      /* of them have theta = 1 */
    double rest;        /* P is I - e e' / rest on the others */
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
        clv_list_free(problem->ctx, &run->before);
        clv_ks_fcfw.destroy(problem, run->atoms);
    }
}

size_t clv_ks_newton_memory(int64_t samples, int64_t working) {
    size_t n = (size_t)samples, used = (size_t)working;
    size_t dense = samples <= DENSE_SAMPLES ? (CHUNKS * n + used) * n : 0;
    return (dense + 10 * n + 6 * used) * sizeof(double);
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
    run->cg = CLV_TAKE(&work->room, double, 3 * n);
    if (n <= DENSE_SAMPLES) {
        run->hessian = CLV_TAKE(&work->room, double, CHUNKS *n *n);
    }
    return work->room.status;
}

static clv_status newton_start(void *state, clv_point *point) {
    newton_run *run = state;
    (void)point;
    run->sigma = 0;
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

/* The entries in use, those with theta = 1 first. */
static void list_used(proximal *q) {
    double beta = q->root.beta;
    q->whole = q->used_count = 0;
    for (int part = 0; part < 2; part++) {
        for (int64_t j = 0; j < q->on->count; j++) {
            double theta = isinf(q->root.a) ? 1 : q->root.a * fabs(q->u[j]) - beta;
            if (part == 0 ? theta >= 1 : theta > 0 && theta < 1) {
                q->used[q->used_count++] = j;
            }
        }
        q->whole = part == 0 ? q->used_count : q->whole;
    }
    q->rest = (double)(q->run->problem->k - q->whole) / beta + (double)(q->used_count - q->whole);
}

/* The sum of the columns in between, with the signs of u. */
static void add_between(const proximal *q, double *sum) {
    const clv_design *x = &q->on->x;
    double *sign = q->packed.value;
    for (int64_t i = q->whole; i < q->used_count; i++) {
        sign[i - q->whole] = q->u[q->used[i]] < 0 ? -1 : 1;
    }
    x->does->margins(x, q->used + q->whole, sign, q->used_count - q->whole, sum);
}

/* Rows first..end-1 of (A C)', scaled by sqrt(sigma), and their part of H. */
static void add_rows(const proximal *q, int64_t first, int64_t end, const double *sum, double *out) {
    const newton_run *run = q->run;
    int64_t n = run->problem->x->samples;
    double spread = 1 + run->sigma * run->problem->tau, between = (double)(q->used_count - q->whole);
    double whole = sqrt(run->sigma / (spread * (1 + q->root.beta))), some = sqrt(run->sigma / spread);
    double lean = between > 0 ? (1 - sqrt(fmax(1 - between / q->rest, 0))) / between : 0;
    for (int64_t i = first; i < end; i++) {
        double *row = q->columns + i * n;
        clv_matrix_row(&q->on->x.matrix, q->used[i], row);
        if (i >= q->whole) {
            cblas_daxpy((int)n, q->u[q->used[i]] < 0 ? lean : -lean, sum, 1, row, 1);
        }
        cblas_dscal((int)n, i < q->whole ? whole : some, row, 1);
    }
    cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, (int)n, (int)(end - first), 1, q->columns + first * n, (int)n,
                0, out, (int)n);
}

/* H = diag(loss*'') + sigma A P A', in fixed parts whatever the number of threads. */
static void form_hessian(proximal *q) {
    newton_run *run = q->run;
    int64_t n = run->problem->x->samples, square = n * n;
    double *sum = run->cg;
    add_between(q, sum);
#pragma omp parallel for num_threads(clv_team(run->threads)) schedule(static) if (square * q->used_count > 1 << 20)
    for (int64_t c = 0; c < CHUNKS; c++) {
        add_rows(q, q->used_count * c / CHUNKS, q->used_count * (c + 1) / CHUNKS, sum, run->hessian + c * square);
    }
    for (int64_t c = 1; c < CHUNKS; c++) {
        cblas_daxpy((int)square, 1, run->hessian + c * square, 1, run->hessian, 1);
    }
    for (int64_t m = 0; m < n; m++) {
        run->hessian[m * n + m] += run->curve[m];
    }
}

/* H v, without H: out may not be v. */
static void apply_hessian(const proximal *q, const double *v, double *out) {
    const newton_run *run = q->run;
    const clv_design *x = &q->on->x;
    double spread = 1 + run->sigma * run->problem->tau, sum = 0, *g = q->packed.value;
    x->does->gradient(x, v, q->used, q->used_count, g, NULL);
    for (int64_t i = q->whole; i < q->used_count; i++) {
        sum += q->u[q->used[i]] < 0 ? -g[i] : g[i];
    }
    for (int64_t i = 0; i < q->used_count; i++) {
        double lean = q->u[q->used[i]] < 0 ? -sum / q->rest : sum / q->rest;
        g[i] = run->sigma / spread * (i < q->whole ? g[i] / (1 + q->root.beta) : g[i] - lean);
    }
    x->does->margins(x, q->used, g, q->used_count, out);
    for (int64_t m = 0; m < x->samples; m++) {
        out[m] += run->curve[m] * v[m];
    }
}

/* Solve H out = b by conjugate gradients, preconditioned by the diagonal of the loss. */
static void solve_iteratively(const proximal *q, const double *b, double *out) {
    const newton_run *run = q->run;
    int64_t n = run->problem->x->samples;
    double *residual = run->cg, *direction = residual + n, *image = direction + n, scaled = 0;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int64_t m = 0; m < n; m++) {
        residual[m] = b[m];
        direction[m] = b[m] / run->curve[m];
        scaled += residual[m] * direction[m];
    }
    double first = scaled;
    for (int pass = 0; pass < MOST_CONJUGATE && scaled > 1e-20 * first; pass++) {
        apply_hessian(q, direction, image);
        double step = scaled / cblas_ddot((int)n, direction, 1, image, 1), next = 0;
        for (int64_t m = 0; m < n; m++) {
            out[m] += step * direction[m];
            residual[m] -= step * image[m];
            next += residual[m] * residual[m] / run->curve[m];
        }
        for (int64_t m = 0; m < n; m++) {
            direction[m] = residual[m] / run->curve[m] + next / scaled * direction[m];
        }
        scaled = next;
    }
}

/* The Newton step from the right-hand side, kept orthogonal to 1 where there is an intercept. */
static bool find_step(proximal *q) {
    newton_run *run = q->run;
    lapack_int n = (lapack_int)run->problem->x->samples;
    bool intercept = run->problem->loss.intercept;
    list_used(q);
    for (int64_t m = 0; m < n; m++) {
        run->ones[m] = 1;
        run->step[m] = run->rhs[m];
    }
    if (run->hessian) {
        form_hessian(q);
        if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', n, run->hessian, n) != 0) {
            return false;
        }
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', n, 1, run->hessian, n, run->step, n);
        if (intercept) {
            LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', n, 1, run->hessian, n, run->ones, n);
        }
    } else {
        solve_iteratively(q, run->rhs, run->step);
        if (intercept) {
            for (int64_t m = 0; m < n; m++) {
                run->trial[m] = 1;
            }
            solve_iteratively(q, run->trial, run->ones);
        }
    }
    if (intercept) {
        double share = clv_sum(run->step, n, 1) / clv_sum(run->ones, n, 1);
        cblas_daxpy(n, -share, run->ones, 1, run->step, 1);
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

/* Newton from run->r until the proximal point is known to `accuracy`; returns the steps that it took, or -1 where it
 * cannot begin: then there is no w. */
static int find_proximal(proximal *q, double accuracy, double *intercept) {
    newton_run *run = q->run;
    int64_t n = run->problem->x->samples;
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
        double before = q->dual, rise = cblas_ddot((int)n, run->rhs, 1, run->step, 1), length = longest_step(run);
        bool risen = false;
        for (int halving = 0; halving < HALVINGS && !risen; halving++) {
            for (int64_t m = 0; m < n; m++) {
                run->trial[m] = run->r[m] + length * run->step[m];
            }
            risen = evaluate_dual(q, run->trial, run->rhs) &&
                    q->dual >= before + 1e-4 * length * rise - 1e-15 * fabs(before);
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
    int64_t rows;
    *q = (proximal){.run = run, .on = on, .room = {.ctx = ctx}};
    if (!clv_mul(on->count, run->hessian ? run->problem->x->samples : 1, &rows)) {
        return clv_fail(ctx, CLV_ENOMEM, "a working set of %lld features does not fit", (long long)on->count);
    }
    q->w0 = CLV_TAKE(&q->room, double, on->count);
    q->w = CLV_TAKE(&q->room, double, on->count);
    q->u = CLV_TAKE(&q->room, double, on->count);
    q->used = CLV_TAKE(&q->room, int64_t, on->count);
    q->columns = CLV_TAKE(&q->room, double, rows);
    CLV_TRY(q->room.status);
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

/* The first sigma: 10 / lambda, but no more than 100 times what a gradient step could be. */
static double first_sigma(const proximal *q) {
    const clv_ks_problem *p = q->run->problem;
    const clv_working *on = q->on;
    on->x.does->gradient(&on->x, q->run->r, NULL, on->count, q->w, q->u);
    double square = clv_sum(q->u, on->count, 1) / (double)p->x->samples;
    double step = square > 0 ? 1 / (clv_loss_curvature(&p->loss) * square) : (double)INFINITY;
    return fmin(10 / p->lambda, 100 * step);
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

/* Proximal points on a working set until its gap is a small part of what is asked for. */
static clv_status find_points(proximal *q, clv_point *point) {
    newton_run *run = q->run;
    const clv_ks_problem *p = run->problem;
    const clv_working *on = q->on;
    double goal = 0.1 * p->tol * point->value, gap = point->gap, value = point->value;
    clv_list_add_to(&point->w, 1, on->list, on->count, q->w0);
    begin_inside(run, point->slope);
    run->sigma = run->sigma > 0 ? run->sigma : first_sigma(q);
    for (int pass = 0; pass < MOST_POINTS; pass++) {
        /* Without a ridge the gap is of first order in the distance to the solution, the objective of second. */
        double far = fmin(gap, point->value); /* no value is farther than that from the least */
        double wanted = p->tau > 0 ? fmax(0.1 * goal, 1e-3 * far) : 1e-3 * far * far / point->value;
        int steps = find_proximal(q, fmax(wanted, 1e-15 * point->value), &point->intercept);
        if (steps < 0) {
            return CLV_OK;
        }
        CLV_TRY(take_weights(q, point));
        if (!(point->value <= value * (1 + 1e-9))) { /* lost: shorter ways are surer */
            run->sigma *= 0.01;
            return CLV_OK;
        }
        value = point->value;
        on->x.does->gradient(&on->x, point->slope, NULL, on->count, on->gradient, NULL);
        double product = clv_dot(point->slope, point->margin, p->x->samples, 1), last = gap;
        gap =
            clv_ks_gap(p, &on->set, on->gradient, on->list, on->count, &point->w, product, point->ridge, point->square);
        run->work->passes += (double)on->count / (double)p->x->features;
        if (gap <= goal || clv_interrupted(p->ctx) || (pass > 3 && gap > 0.9 * last && steps <= EASY)) {
            break;
        }
        memcpy(q->w0, q->w, (size_t)on->count * sizeof *q->w);
        run->sigma = steps <= EASY   ? fmin(10 * run->sigma, (p->tau > 0 ? 1e3 : 1e2) / p->lambda)
                     : steps >= HARD ? 0.2 * run->sigma
                                     : run->sigma;
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
    double value = point->value;
    if (run->given_up) {
        return clv_ks_fcfw.step(run->atoms, point, out);
    }
    CLV_TRY(clv_list_copy(p->ctx, &run->before, &point->w));
    wanted = wanted > LEAST_FEATURES ? wanted : LEAST_FEATURES;
    clv_status status = clv_working_new(point, wanted, run->threads, &on);
    if (status == CLV_OK) {
        status = solve_working(run, &on, point);
    }
    clv_working_free(&on);
    CLV_TRY(status);
    if (!(point->value <= value * (1 + 1e-9))) {
        CLV_TRY(clv_list_copy(p->ctx, &point->w, &run->before));
        point->intercept = 0;
    }
    CLV_TRY(clv_point_evaluate(point));
    clv_point_screen(point);
    run->idle = point->gap < 0.7 * run->lowest ? 0 : run->idle + 1;
    run->lowest = fmin(run->lowest, point->gap);
    return run->idle >= PATIENCE ? give_up(run, point) : CLV_OK;
}

const clv_ks_solver clv_ks_newton = {newton_create, newton_destroy, newton_start, newton_step};
