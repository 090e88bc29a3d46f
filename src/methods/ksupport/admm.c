/* ADMM with the proximity operator on one side (Parikh and Boyd 2013), the baseline of the paper.
 *
 *   x = argmin loss(X x) + tau/2 ||x||^2 + rho/2 ||x - (z - u)||^2,   z = prox of lambda / rho at x + u,   u += x - z
 *
 * The first has the form x = (rho v - X'r) / (rho + tau), v = z - u, with r the slope of the loss at t = X x; so t
 * solves t + K r(t) / (rho + tau) = rho X v / (rho + tau), K = X X', a system in the samples whose Jacobian is I + K
 * diag(h) / (rho + tau): damped Newton. K is formed once, samples^2 features / 2 multiplications. rho is balanced
 * between the two residuals (Boyd et al. 2011, 3.4.1) unless it is given. The iterate is z; its slope gives the gap by
 * a pass of its own, which is made when r, itself a dual point, bounds the gap well enough. Cost: K, then a pass for X
 * v, a pass for X'r, X z, and the proximity operator; samples^3 for a Newton step. */
#include "methods/ksupport/ksupport.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { MOST_SAMPLES = 8192, MOST_NEWTON = 50, HALVINGS = 30, PARTS = 4, PART_ROWS = 256 };

typedef struct admm {
    const clv_ks_problem *problem;
    clv_ks_work *work;
    clv_ksupport_set set;
    double *x, *z, *u, *v, *before;                 /* features */
    double *gradient;                               /* features: X'r */
    double *gram, *system, *block;                  /* K, and parts of it; work of that size; rows of X */
    double *t, *goal, *slope, *curve, *rhs, *tried; /* samples */
    clv_list packed;
    lapack_int *pivot;
    double rho, bound, intercept; /* rho 0: not chosen yet */
} admm;

static void admm_destroy(const clv_ks_problem *problem, void *state) {
    admm *run = state;
    if (run) {
        clv_list_free(problem->ctx, &run->packed);
        clv_ksupport_set_free(&run->set);
    }
}

size_t clv_ks_admm_memory(int64_t samples) {
    size_t n = (size_t)samples;
    return ((PARTS + 1) * n * n + 2 * (size_t)(PARTS * PART_ROWS) * n) * sizeof(double); /* a block is gathered, too */
}

static clv_status admm_create(const clv_ks_problem *p, clv_ks_work *work, int threads, void **state) {
    int64_t features = p->x->features, n = p->x->samples;
    clv_kept *room = &work->room;
    if (n > MOST_SAMPLES && !p->x->does->pull) {
        return clv_fail(p->ctx, CLV_EDATA,
                        "the solver admm keeps a matrix of samples x samples: %lld samples are more than %d; use fcfw, "
                        "fista or newton",
                        (long long)n, MOST_SAMPLES);
    }
    admm *run = *state = CLV_TAKE(room, admm, 1);
    CLV_TRY(room->status);
    *run = (admm){.problem = p, .work = work};
    double **const long_ones[] = {&run->x, &run->z, &run->u, &run->v, &run->before, &run->gradient};
    double **const short_ones[] = {&run->t, &run->goal, &run->slope, &run->curve, &run->rhs, &run->tried};
    for (size_t i = 0; i < CLV_COUNT(long_ones); i++) {
        *long_ones[i] = CLV_TAKE(room, double, features);
    }
    for (size_t i = 0; i < CLV_COUNT(short_ones); i++) {
        *short_ones[i] = CLV_TAKE(room, double, n);
    }
    if (!p->x->does->pull) {
        run->gram = CLV_TAKE(room, double, PARTS *n *n);
        run->system = CLV_TAKE(room, double, n *n);
        run->block = CLV_TAKE(room, double, PARTS *PART_ROWS *n);
        run->pivot = CLV_TAKE(room, lapack_int, n);
    }
    CLV_TRY(room->status);
    CLV_TRY(clv_list_reserve(p->ctx, &run->packed, features));
    return clv_ksupport_set_new(p->ctx, features, p->k, threads, p->options.prox != CLV_KSUPPORT_SELECT, &run->set);
}

/* --- K = X X' --- */

/* The part of K from some of the rows of a block, into one of the parts. */
static void add_part(admm *run, const clv_matrix *rows, int64_t part) {
    int64_t n = run->problem->x->samples, first = rows->rows * part / PARTS, end = rows->rows * (part + 1) / PARTS;
    double *block = run->block + part * PART_ROWS * n;
    for (int64_t j = first; j < end; j++) {
        clv_matrix_row(rows, j, block + (j - first) * n);
    }
    cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, (int)n, (int)(end - first), 1, block, (int)n, 1,
                run->gram + part * n * n, (int)n);
}

static clv_status add_block(admm *run, const int64_t *list, int64_t count) {
    clv_design block = {0};
    clv_status status = run->problem->x->does->gather(run->problem->x, list, count, &block);
    if (status == CLV_OK) {
#pragma omp parallel for num_threads(clv_team(run->problem->x->threads)) schedule(static)
        for (int64_t part = 0; part < PARTS; part++) {
            add_part(run, &block.matrix, part);
        }
    }
    clv_design_free(&block);
    return status;
}

static clv_status form_gram(admm *run) {
    const clv_design *x = run->problem->x;
    int64_t n = x->samples, list[PARTS * PART_ROWS];
    memset(run->gram, 0, (size_t)(PARTS * n * n) * sizeof *run->gram);
    for (int64_t first = 0; first < x->features; first += PARTS * PART_ROWS) {
        int64_t count = 0;
        while (count < PARTS * PART_ROWS && first + count < x->features) {
            list[count] = first + count;
            count++;
        }
        CLV_TRY(add_block(run, list, count));
        if (clv_interrupted(x->ctx)) {
            return clv_stop_failure(x->ctx, "forming X X'");
        }
    }
    for (int64_t part = 1; part < PARTS; part++) {
        cblas_daxpy((int)(n * n), 1, run->gram + part * n * n, 1, run->gram, 1);
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            run->gram[j * n + i] = run->gram[i * n + j];
        }
    }
    run->work->passes += 1;
    return CLV_OK;
}

static clv_status admm_start(void *state, clv_point *point) {
    admm *run = state;
    const clv_design *x = run->problem->x;
    memset(run->z, 0, (size_t)x->features * sizeof *run->z);
    memset(run->u, 0, (size_t)x->features * sizeof *run->u);
    clv_list_add_to(&point->w, 1, NULL, x->features, run->z);
    memcpy(run->t, point->margin, (size_t)x->samples * sizeof *run->t);
    run->bound = -INFINITY;
    run->intercept = point->intercept;
    return CLV_OK;
}

/* K and the first rho: part of the first step, so that an interrupted run has its start to show. */
static clv_status prepare(admm *run) {
    const clv_design *x = run->problem->x;
    double trace = 0;
    double given = run->problem->options.rho;
    if (x->does->pull) {
        run->rho = given > 0 ? given : x->does->scale(x);
        return CLV_OK;
    }
    CLV_TRY(form_gram(run));
    if (given > 0) {
        run->rho = given;
        return CLV_OK;
    }
    for (int64_t m = 0; m < x->samples; m++) {
        trace += run->gram[m * x->samples + m];
    }
    run->rho = clv_loss_curvature(&run->problem->loss) * trace / (double)x->samples;
    run->rho = run->rho > 0 ? run->rho : 1;
    return CLV_OK;
}

/* --- the smooth half --- */

/* t + K r(t) / weight - goal into rhs; returns its squared norm. */
static double residual_at(admm *run, const double *t, double weight) {
    int64_t n = run->problem->x->samples;
    clv_loss_at(&run->problem->loss, run->work->terms, t, &run->intercept, run->slope, run->curve);
    for (int64_t m = 0; m < n; m++) {
        run->rhs[m] = t[m] - run->goal[m];
    }
    cblas_dsymv(CblasColMajor, CblasUpper, (int)n, 1 / weight, run->gram, (int)n, run->slope, 1, 1, run->rhs, 1);
    return cblas_ddot((int)n, run->rhs, 1, run->rhs, 1);
}

/* I + K (diag(h) - h h' / sum h) / weight, the last part with an intercept only. */
static void form_system(admm *run, double weight) {
    int64_t n = run->problem->x->samples;
    double total = clv_sum(run->curve, n, 1), *lean = run->tried;
    cblas_dsymv(CblasColMajor, CblasUpper, (int)n, 1, run->gram, (int)n, run->curve, 1, 0, lean, 1);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < n; i++) {
            double pull = run->problem->loss.intercept ? lean[i] / total : 0;
            run->system[j * n + i] = (i == j) + (run->gram[j * n + i] - pull) * run->curve[j] / weight;
        }
    }
}

/* Damped Newton for the margins t = X x; run->slope is theirs at the end. */
static void solve_margins(admm *run, double weight) {
    lapack_int n = (lapack_int)run->problem->x->samples;
    double size = residual_at(run, run->t, weight);
    double scale = cblas_ddot(n, run->goal, 1, run->goal, 1) + cblas_ddot(n, run->t, 1, run->t, 1);
    for (int pass = 0; pass < MOST_NEWTON && size > 1e-26 * scale; pass++) {
        double length = 1, before = size;
        if (clv_interrupted(run->problem->ctx)) {
            return;
        }
        form_system(run, weight);
        if (LAPACKE_dgesv_work(LAPACK_COL_MAJOR, n, 1, run->system, n, run->pivot, run->rhs, n) != 0) {
            break;
        }
        memcpy(run->block, run->rhs, (size_t)n * sizeof *run->rhs);
        for (int halving = 0; halving < HALVINGS; halving++) {
            for (int64_t m = 0; m < n; m++) {
                run->tried[m] = run->t[m] - length * run->block[m];
            }
            size = residual_at(run, run->tried, weight);
            if (size < before * (1 - 1e-4 * length)) {
                break;
            }
            length *= 0.5;
        }
        if (!(size < before)) {
            residual_at(run, run->t, weight);
            return;
        }
        memcpy(run->t, run->tried, (size_t)n * sizeof *run->t);
    }
}

/* What the slope at t says of the least objective. */
static void find_bound(admm *run) {
    const clv_ks_problem *p = run->problem;
    double loss = clv_loss_at(&p->loss, run->work->terms, run->t, &run->intercept, run->slope, run->curve);
    double product = clv_dot(run->slope, run->t, p->x->samples, p->loss.threads);
    double conjugate = clv_ksupport_conjugate(&run->set, run->gradient, p->x->features, p->lambda, p->tau);
    run->bound = fmax(run->bound, loss - product - conjugate);
}

/* x from v = z - u, and the bound that its slope gives. */
static clv_status update_x(admm *run) {
    const clv_ks_problem *p = run->problem;
    const clv_design *x = p->x;
    double weight = run->rho + p->tau;
    for (int64_t j = 0; j < x->features; j++) {
        run->v[j] = run->z[j] - run->u[j];
    }
    if (x->does->pull) {
        CLV_TRY(x->does->pull(x, run->work->design, p->loss.y, run->rho, run->v, run->x, run->t, run->gradient));
        run->work->passes += 1;
        find_bound(run);
        return CLV_OK;
    }
    clv_ks_multiply(p, run->work, run->v, &run->packed, run->goal);
    for (int64_t m = 0; m < x->samples; m++) {
        run->goal[m] = run->rho / weight * run->goal[m];
    }
    solve_margins(run, weight);
    if (clv_interrupted(p->ctx)) {
        return clv_stop_failure(p->ctx, "taking a step of admm");
    }
    x->does->gradient(x, run->slope, NULL, x->features, run->gradient, NULL);
    run->work->passes += 1;
    find_bound(run);
    for (int64_t j = 0; j < x->features; j++) {
        run->x[j] = (run->rho * run->v[j] - run->gradient[j]) / weight;
    }
    return CLV_OK;
}

/* z and u; rho follows the residuals. */
static void update_z(admm *run) {
    const clv_ks_problem *p = run->problem;
    double primal = 0, dual = 0, *held = run->before;
    run->before = run->z;
    run->z = held;
    for (int64_t j = 0; j < p->x->features; j++) {
        run->v[j] = run->x[j] + run->u[j];
    }
    clv_ksupport_set_prox(&run->set, (clv_ksupport_form)p->options.prox, run->v, p->x->features, p->lambda / run->rho,
                          run->z);
    for (int64_t j = 0; j < p->x->features; j++) {
        double apart = run->x[j] - run->z[j], move = run->z[j] - run->before[j];
        run->u[j] += apart;
        primal += apart * apart;
        dual += run->rho * run->rho * move * move;
    }
    double factor = p->options.rho > 0 ? 1 : primal > 100 * dual ? 2 : dual > 100 * primal ? 0.5 : 1;
    run->rho *= factor;
    for (int64_t j = 0; factor != 1 && j < p->x->features; j++) {
        run->u[j] /= factor;
    }
}

static clv_status admm_step(void *state, clv_point *point, clv_iterate *out) {
    admm *run = state;
    (void)out;
    if (!(run->rho > 0)) {
        CLV_TRY(prepare(run));
    }
    CLV_TRY(update_x(run));
    if (clv_interrupted(run->problem->ctx)) { /* passes may take long, as over the n^2 entries of pursuit */
        return clv_stop_failure(run->problem->ctx, "taking a step of admm");
    }
    update_z(run);
    if (clv_interrupted(run->problem->ctx)) {
        return clv_stop_failure(run->problem->ctx, "taking a step of admm");
    }
    CLV_TRY(clv_list_pack(run->problem->ctx, &point->w, run->z, run->problem->x->features, NULL));
    CLV_TRY(clv_point_value(point));
    point->gap = clv_ks_clamp(point->value - run->bound);
    return CLV_OK;
}

/* K is formed again; it is the same, and large. */
static clv_status admm_pass(void *state, clv_archive *archive) {
    admm *run = state;
    const clv_design *x = run->problem->x;
    clv_pass_reals(archive, run->z, x->features);
    clv_pass_reals(archive, run->u, x->features);
    clv_pass_reals(archive, run->t, x->samples);
    clv_pass_real(archive, &run->rho);
    clv_pass_real(archive, &run->bound);
    clv_pass_real(archive, &run->intercept);
    if (!(run->rho >= 0 && isfinite(run->rho))) {
        return clv_archive_refuse(archive);
    }
    if (archive->loading && archive->status == CLV_OK && run->rho > 0 && !x->does->pull) {
        double passes = run->work->passes;
        CLV_TRY(form_gram(run));
        run->work->passes = passes;
    }
    return archive->status;
}

const clv_ks_solver clv_ks_admm = {admm_create, admm_destroy, admm_start, admm_step, admm_pass};
