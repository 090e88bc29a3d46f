/* Proximal Newton where features are few: the curvature of the loss is one matrix of features x features.
 *
 * At w, with g the gradient of the loss and D its second derivatives, H = X'DX; where an intercept is minimized out,
 * H = (X - 1c)'D(X - 1c), c = 1'DX / 1'D1. The model of the problem at w,
 *
 *   minimize over v   g'(v - w) + (v - w)'H(v - w) / 2 + Omega(v),   Omega the ridge and the squared norm,
 *
 * is with H = R'R and y = R w - R^-T g the same problem with squared loss, on the few samples R v ~ y, which newton.c
 * solves without looking at X. A step goes from w toward its solution, halved until F falls as it should. Squares need
 * one step, but for rounding. Where F does not fall any more, newton goes on with the problem as it is.
 *
 * Reference for the scheme: Lee, Sun and Saunders 2014 (proximal Newton methods).
 * Cost of a step: three passes over X, samples x features^2 for H, features^3 for each system of the model. */
#include "methods/ksupport/ksupport.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { MOST_INNER = 30, HALVINGS = 30, PATIENCE = 6 };
#define CARE 0.01 /* how well the model is solved, as a share of the gap */
#define LEAST_TOL 1e-13
#define LIFT 1e-13 /* of the largest entry of H, added to its diagonal: it may be singular */

/* The model: the problem of this form on the rows of R. */
typedef struct model {
    clv_ks_problem problem;
    clv_design x;
    clv_ks_work work;
    clv_point point;
    void *state;
    double *y;
} model;

typedef struct narrow_run {
    const clv_ks_problem *problem;
    clv_ks_work *work;
    int threads;
    clv_ks_gram gram;
    double *curve, *move, *before; /* samples: D; X (v - w); X w */
    double *sums;                  /* features: X'D1 / 1'D1, then R^-T g */
    double *w, *toward;            /* features: w; v - w */
    double *factor;                /* features x features: R, one column after the other */
    clv_data *rows;                /* of which this is the memory */
    model model;
    void *newton;  /* state of newton, which takes over where this gets no further; or NULL */
    bool given_up; /* it has */
    double lowest; /* gap met so far */
    int idle;      /* steps in a row that did not lower it much */
} narrow_run;

bool clv_ks_is_narrow(int64_t samples, int64_t features) {
    enum { FEW = 1024 };
    return features <= FEW && features <= samples;
}

size_t clv_ks_narrow_memory(int64_t samples, int64_t features, int threads) {
    return clv_ks_gram_memory(samples, features, threads) + clv_ks_newton_memory(features, features) +
           (size_t)(4 * samples + 3 * features * features + 32 * features) * sizeof(double);
}

/* --- making --- */

static void model_free(model *inner) {
    if (inner->x.does) {
        clv_ks_newton.destroy(&inner->problem, inner->state);
        clv_point_free(&inner->point);
        clv_ks_work_free(&inner->problem, &inner->work);
    }
}

static clv_status model_new(narrow_run *run) {
    const clv_ks_problem *p = run->problem;
    model *inner = &run->model;
    int64_t features = p->x->features;
    CLV_TRY(clv_data_new_dense(p->ctx, "model", features, features, CLV_F64, &run->rows));
    run->factor = run->rows->values;
    CLV_TRY(clv_design_new(p->ctx, &run->rows->matrix, true, run->threads, &inner->x));
    inner->problem = *p;
    inner->problem.x = &inner->x;
    inner->problem.given = NULL;
    inner->problem.start = NULL;
    inner->problem.loss =
        (clv_loss){.kind = CLV_KSUPPORT_SQUARES, .samples = features, .y = inner->y, .threads = run->threads};
    CLV_TRY(clv_ks_work_new(&inner->problem, &inner->work));
    CLV_TRY(clv_point_new(&inner->problem, &inner->work, run->threads, false, &inner->point));
    return clv_ks_newton.create(&inner->problem, &inner->work, run->threads, &inner->state);
}

static void narrow_destroy(const clv_ks_problem *problem, void *state) {
    narrow_run *run = state;
    if (run) {
        model_free(&run->model);
        clv_data_free(run->rows);
        clv_ks_newton.destroy(problem, run->newton);
    }
}

static clv_status narrow_create(const clv_ks_problem *p, clv_ks_work *work, int threads, void **state) {
    int64_t n = p->x->samples, features = p->x->features;
    narrow_run *run = *state = CLV_TAKE0(&work->room, narrow_run, 1);
    CLV_TRY(work->room.status);
    *run = (narrow_run){.problem = p, .work = work, .threads = threads};
    double **const long_ones[] = {&run->curve, &run->move, &run->before};
    double **const short_ones[] = {&run->sums, &run->w, &run->toward, &run->model.y};
    for (size_t i = 0; i < CLV_COUNT(long_ones); i++) {
        *long_ones[i] = CLV_TAKE(&work->room, double, n);
    }
    for (size_t i = 0; i < CLV_COUNT(short_ones); i++) {
        *short_ones[i] = CLV_TAKE(&work->room, double, features);
    }
    CLV_TRY(clv_ks_gram_new(&work->room, p->x, &run->gram));
    return model_new(run);
}

static clv_status narrow_start(void *state, clv_point *point) {
    narrow_run *run = state;
    (void)point;
    run->given_up = false;
    run->lowest = INFINITY;
    run->idle = 0;
    return CLV_OK;
}

/* --- the model at a point --- */

/* H = R'R; false: it has no such factor. */
static bool factorize(narrow_run *run, const clv_point *point) {
    const clv_ks_problem *p = run->problem;
    int64_t n = p->x->samples, count = p->x->features;
    double *h = run->factor, largest = 0, intercept = point->intercept;
    (void)clv_loss_at(&p->loss, run->work->terms, point->margin, &intercept, point->slope, run->curve);
    if (p->loss.intercept) {
        double total = clv_sum(run->curve, n, 1);
        p->x->does->gradient(p->x, run->curve, NULL, count, run->sums, NULL);
        run->work->passes += 1;
        cblas_dscal((int)count, total > 0 ? 1 / total : 0, run->sums, 1);
    }
    clv_ks_gram_form(&run->gram, run->curve, p->loss.intercept ? run->sums : NULL, h);
    run->work->passes += 1;
    for (int64_t j = 0; j < count; j++) {
        largest = fmax(largest, h[j * count + j]);
    }
    for (int64_t j = 0; j < count; j++) {
        h[j * count + j] += LIFT * largest;
        memset(h + j * count + j + 1, 0, (size_t)(count - j - 1) * sizeof *h);
    }
    return largest > 0 && isfinite(largest) &&
           LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (int)count, h, (int)count) == 0;
}

/* y = R w - R^-T g. */
static void set_targets(narrow_run *run, const clv_point *point) {
    int count = (int)run->problem->x->features;
    model *inner = &run->model;
    memcpy(run->sums, point->gradient, (size_t)count * sizeof *run->sums);
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasTrans, CblasNonUnit, count, run->factor, count, run->sums, 1);
    inner->x.does->margins(&inner->x, point->w.index, point->w.value, point->w.count, inner->y);
    cblas_daxpy(count, -1, run->sums, 1, inner->y, 1);
}

/* v - w into run->toward. */
static clv_status solve_model(narrow_run *run, const clv_point *point) {
    model *inner = &run->model;
    clv_point *at = &inner->point;
    int64_t count = run->problem->x->features;
    clv_iterate ignored;
    set_targets(run, point);
    CLV_TRY(clv_list_copy(run->problem->ctx, &at->w, &point->w));
    CLV_TRY(clv_point_evaluate(at));
    double goal = CARE * fmin(point->gap, point->value);
    inner->problem.tol = fmax(goal / at->value, LEAST_TOL);
    CLV_TRY(clv_ks_newton.start(inner->state, at));
    for (int pass = 0; pass < MOST_INNER && at->gap > inner->problem.tol * at->value; pass++) {
        CLV_TRY(clv_ks_newton.step(inner->state, at, &ignored));
        if (clv_interrupted(run->problem->ctx)) {
            break;
        }
    }
    memset(run->w, 0, (size_t)count * sizeof *run->w);
    memset(run->toward, 0, (size_t)count * sizeof *run->toward);
    clv_list_add_to(&point->w, 1, NULL, count, run->w);
    clv_list_add_to(&at->w, 1, NULL, count, run->toward);
    cblas_daxpy((int)count, -1, run->w, 1, run->toward, 1);
    return CLV_OK;
}

/* --- a step --- */

/* The point at w + length (v - w). */
static clv_status move_to(const narrow_run *run, double length, clv_point *point) {
    int64_t n = run->problem->x->samples, count = run->problem->x->features;
    double *w = run->model.y; /* not needed any more */
    for (int64_t j = 0; j < count; j++) {
        w[j] = run->w[j] + length * run->toward[j];
    }
    CLV_TRY(clv_list_pack(run->problem->ctx, &point->w, w, count, NULL));
    for (int64_t m = 0; m < n; m++) {
        point->margin[m] = run->before[m] + length * run->move[m];
    }
    return clv_point_measure(point);
}

/* Toward the solution of the model until F falls by enough; false: it does not. */
static clv_status search(narrow_run *run, clv_point *point, bool *fell) {
    const clv_ks_problem *p = run->problem;
    int64_t count = p->x->features;
    const model *inner = &run->model;
    double old = point->value, penalty = 0.5 * p->tau * point->ridge + p->lambda * point->square;
    double fall = cblas_ddot((int)count, point->gradient, 1, run->toward, 1) + 0.5 * p->tau * inner->point.ridge +
                  p->lambda * inner->point.square - penalty;
    CLV_TRY(clv_list_reserve(p->ctx, &point->w, count));
    clv_ks_multiply(p, run->work, run->toward, &point->w, run->move);
    memcpy(run->before, point->margin, (size_t)p->x->samples * sizeof *run->before);
    double length = 1;
    *fell = false;
    for (int halving = 0; halving < HALVINGS && fall < 0 && !*fell; halving++) {
        CLV_TRY(move_to(run, length, point));
        *fell = point->value <= old + 1e-4 * length * fall;
        length *= 0.5;
    }
    return *fell ? CLV_OK : move_to(run, 0, point);
}

/* Newton in the dual goes on from there. */
static clv_status give_up(narrow_run *run, clv_point *point) {
    run->given_up = true;
    if (!run->newton) {
        CLV_TRY(clv_ks_newton.create(run->problem, run->work, run->threads, &run->newton));
    }
    return clv_ks_newton.start(run->newton, point);
}

static clv_status narrow_step(void *state, clv_point *point, clv_iterate *out) {
    narrow_run *run = state;
    bool fell = false;
    if (run->given_up) {
        return clv_ks_newton.step(run->newton, point, out);
    }
    if (factorize(run, point)) {
        CLV_TRY(solve_model(run, point));
        CLV_TRY(search(run, point, &fell));
    }
    CLV_TRY(clv_point_evaluate(point));
    run->idle = point->gap < 0.7 * run->lowest ? 0 : run->idle + 1;
    run->lowest = fmin(run->lowest, point->gap);
    bool stuck = !fell || run->idle >= PATIENCE;
    return stuck && !clv_interrupted(run->problem->ctx) ? give_up(run, point) : CLV_OK;
}

/* The model is a new one in each step. */
static clv_status narrow_pass(void *state, clv_archive *archive) {
    narrow_run *run = state;
    clv_pass_real(archive, &run->lowest);
    clv_pass_int(archive, &run->idle, 0, INT32_MAX / 2);
    clv_pass_flag(archive, &run->given_up);
    CLV_TRY(archive->status);
    if (!run->given_up) {
        return CLV_OK;
    }
    if (!run->newton) {
        CLV_TRY(clv_ks_newton.create(run->problem, run->work, run->threads, &run->newton));
    }
    return clv_ks_newton.pass(run->newton, archive);
}

const clv_ks_solver clv_ks_narrow = {narrow_create, narrow_destroy, narrow_start, narrow_step, narrow_pass};
