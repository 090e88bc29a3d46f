/* One problem, driven: a solver steps, every iterate that is shown has its objective, and the stopping rule is the
 * relative duality gap or, for comparisons with the paper, the relative change of the objective.
 *
 * Solvers may rise on the way; what is shown and saved is the best of their iterates. Objective and gap of an evaluated
 * point come from its weights and the data alone; so when the driver asks to have the saved iterate recomputed and the
 * point is that very iterate, evaluated on all features, there is nothing left to compute, unless the data
 * leave the gap so few digits that the way to the iterate shows in it. */
#include "methods/ksupport/ksupport.h"

#include "base/options.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What rounding may make of a gap, as a share of the objective, that `verify` would not overlook. */
#define DELICATE 1e-10
/* The share of a radius by which rounding may take weights out of its ball. */
#define OUTSIDE 1e-9

typedef struct ks_run {
    const clv_ks_problem *problem;
    clv_ks_work work;
    const clv_ks_solver *solver;
    void *state;
    clv_point point;
    double last;   /* objective of the solver's iterate */
    clv_list best; /* the best iterate */
    double intercept, value, gap;
    bool own;      /* that gap is the one of its own slope, from the data alone */
    bool given_up; /* in the start: there is a value, but no more */
    int64_t idle;  /* steps since the best objective or its gap was better than these */
    double idle_value, idle_gap;
    int64_t steps;    /* of this run, */
    double paced_gap; /* and the gap a number of steps ago, to see how fast it falls */
} ks_run;

static const clv_ks_solver *const solvers[] = {&clv_ks_fcfw, &clv_ks_fista, &clv_ks_admm, &clv_ks_newton};

double clv_ks_tolerance(const clv_ksupport_options *options) {
    bool exact = options->solver == CLV_KSUPPORT_NEWTON;
    return isnan(options->control.tol) ? (exact ? 1e-6 : 1e-4) : options->control.tol;
}

/* Whether newton is the faster one on a working set, measured on 100 to 8000 samples of 1000 to 100,000 features: its
 * system has few unknowns where k is small, while fcfw has many atoms to correct. */
static bool has_small_k(int64_t k, int64_t samples, int64_t features) {
    enum { MOST_SAMPLES = 4096, MOST_FEATURES = 32768, FEATURES_PER_K = 100 };
    bool few = k >= 1 && k <= features / FEATURES_PER_K && features <= MOST_FEATURES;
    return samples <= MOST_SAMPLES && (k == 1 || few);
}

int clv_ks_choose(const clv_ksupport_options *options, int64_t samples, int64_t features) {
    bool newton =
        (clv_ks_is_narrow(samples, features) || has_small_k(options->k, samples, features)) && !(options->radius > 0);
    return options->solver != CLV_KSUPPORT_AUTO ? options->solver : newton ? CLV_KSUPPORT_NEWTON : CLV_KSUPPORT_FCFW;
}

static const clv_ks_solver *solver_of(const clv_ks_problem *p) {
    bool narrow = p->options.solver == CLV_KSUPPORT_NEWTON && clv_ks_is_narrow(p->x->samples, p->x->features);
    return narrow ? &clv_ks_narrow : solvers[p->options.solver];
}

/* --- gaps --- */

/* As a share of the objective, which is never below 0: so it is not further than itself above the least. */
static double relative(double gap, double value) {
    return gap > 0 ? fmin(gap / fabs(value), 1) : gap;
}

/* What the last digits of X w, the intercept and the derivatives r of the loss make of the gap at most: it has the k
 * largest of X'r, where long columns cancel (an intercept makes r add up to 0), times the length of the weights it is
 * attained at, or squared. */
static double rounding_of(const clv_point *point) {
    const clv_ks_problem *p = point->problem;
    double longest = point->longest, sum = 0, reach = p->radius, curvature = clv_loss_curvature(&p->loss);
    for (int64_t m = 0; m < p->x->samples; m++) {
        sum += fabs(point->slope[m]) + curvature * (fabs(point->margin[m]) + fabs(point->intercept));
    }
    if (longest > 0 && !(reach > 0)) {
        reach = sqrt(clv_ksupport_dual_square(&point->set, point->gradient, point->kept)) / (2 * p->lambda);
    }
    double off = 4 * DBL_EPSILON * longest * sum;
    return reach * off + (p->radius > 0 ? 0 : (double)p->k * off * off / (4 * p->lambda));
}

/* Whether another way to the same weights may show in the gap. */
static bool is_delicate(const clv_point *point) {
    return rounding_of(point) > DELICATE * fabs(point->value);
}

/* Whether X'r is nothing but rounding, not by what that can be at most, which on columns of different scale is a
 * million times too much, but by what it is: errors of all r, as many of one sign as of the other, make more than the
 * objective. Where the lengths of columns are not known, it is not. */
static bool is_drowned(const clv_point *point) {
    const clv_ks_problem *p = point->problem;
    double square = 0, curvature = clv_loss_curvature(&p->loss);
    for (int64_t m = 0; m < p->x->samples; m++) {
        double size = fabs(point->slope[m]) + curvature * (fabs(point->margin[m]) + fabs(point->intercept));
        square += size * size;
    }
    double off = DBL_EPSILON * point->longest * sqrt(square);
    return (p->radius > 0 ? p->radius * off : (double)p->k * off * off / (4 * p->lambda)) > point->value;
}

/* What is claimed of an evaluated point, by a run and by an evaluation alike: its gap, unless that came about by
 * rounding, as 0 or as anything else. */
static double claimable(const clv_point *point) {
    return relative(is_drowned(point) ? fmax(point->gap, point->value) : point->gap, point->value);
}

/* From the weights alone, without what the way to them has left: where the best intercept was looked for, and whether
 * the gradient came with the lengths of the columns. The same weights then have the same bits in all of it. */
static clv_status evaluate_anew(clv_point *point) {
    point->intercept = 0;
    point->has_norms = false;
    point->longest = 0;
    point->last_gap = 0; /* so that it looks at the lengths of columns */
    return clv_point_evaluate(point);
}

/* --- what a run works with --- */

clv_status clv_ks_work_new(const clv_ks_problem *p, clv_ks_work *out) {
    *out = (clv_ks_work){.room = {.ctx = p->ctx}};
    out->terms = CLV_TAKE(&out->room, double, p->x->samples);
    CLV_TRY(out->room.status);
    return p->x->does->new_work ? p->x->does->new_work(p->x, p->k, &out->design) : CLV_OK;
}

void clv_ks_work_free(const clv_ks_problem *p, clv_ks_work *work) {
    if (p->x->does->free_work) {
        p->x->does->free_work(p->ctx, work->design);
    }
    clv_free_kept(&work->room);
    *work = (clv_ks_work){0};
}

void clv_ks_model_free(clv_context *ctx, void *model) {
    if (model) {
        clv_list_free(ctx, &((clv_ks_model *)model)->w);
        clv_free(ctx, model);
    }
}

/* --- what the driver calls --- */

static void run_destroy(clv_context *ctx, void *state) {
    ks_run *run = state;
    if (run) {
        run->solver->destroy(run->problem, run->state);
        clv_point_free(&run->point);
        clv_list_free(ctx, &run->best);
        clv_ks_work_free(run->problem, &run->work);
        clv_free(ctx, run);
    }
}

static clv_status run_create(clv_context *ctx, const void *problem, int threads, void **state) {
    const clv_ks_problem *p = problem;
    ks_run *run = CLV_NEW0(ctx, ks_run, 1);
    if (!run) {
        return CLV_ENOMEM;
    }
    run->problem = p;
    run->solver = solver_of(p);
    bool screening = p->options.screening && !(p->radius > 0) &&
                     (p->options.solver == CLV_KSUPPORT_FCFW || p->options.solver == CLV_KSUPPORT_NEWTON);
    clv_status status = clv_ks_work_new(p, &run->work);
    if (status == CLV_OK) {
        status = clv_point_new(p, &run->work, threads, screening, &run->point);
    }
    if (status == CLV_OK) {
        status = run->solver->create(p, &run->work, threads, &run->state);
    }
    if (status < 0) {
        run_destroy(ctx, run);
        return status;
    }
    *state = run;
    return CLV_OK;
}

static void begin_waiting(ks_run *run) {
    run->idle = run->steps = 0;
    run->idle_value = run->value;
    run->idle_gap = run->paced_gap = run->gap;
}

/* Whether neither the best objective nor its gap has fallen by a millionth for so long that a first-order method on
 * badly scaled data will not get further. */
static bool is_stuck(ks_run *run) {
    enum { IDLE = 1000 };
    const double share = 1 - 1e-6;
    bool better = run->value < share * run->idle_value || run->gap < share * run->idle_gap;
    run->idle = better ? 0 : run->idle + 1;
    if (better) {
        run->idle_value = run->value;
        run->idle_gap = run->gap;
    }
    return run->idle >= IDLE;
}

static bool is_first_order(int solver) {
    return solver == CLV_KSUPPORT_FISTA || solver == CLV_KSUPPORT_ADMM;
}

/* Whether the gap of a first-order method falls so slowly that the default number of iterations will not take it to the
 * tolerance. */
static bool is_too_slow(ks_run *run) {
    enum { WINDOW = 10000 };
    if (++run->steps % WINDOW > 0) {
        return false;
    }
    double target = fmax(run->problem->tol, DBL_EPSILON) * run->value, before = run->paced_gap;
    double windows = (double)(CLV_MAX_ITER - run->steps) / WINDOW;
    run->paced_gap = run->gap;
    return run->gap > target && log(run->gap / target) > windows * log(before / run->gap);
}

/* Whether a first-order method has gone over so many numbers that one which crawls, on wide or badly scaled data, will
 * take hours, or is too slow. Who asks for more iterations than the default gets them. */
static bool is_worn_out(ks_run *run) {
    const clv_ks_problem *p = run->problem;
    const double most = 3e10, fewest_passes = 1000;
    bool much = run->work.passes >= fewest_passes && run->work.passes * p->x->numbers >= most;
    return is_first_order(p->options.solver) && p->options.control.max_iter <= CLV_MAX_ITER &&
           (is_too_slow(run) || much);
}

clv_status clv_ks_warn_of_crawling(clv_result *result) {
    const char *solver = result->solver;
    if (result->stop != CLV_STALLED || result->certificate.holds) {
        return CLV_OK;
    }
    if (strcmp(solver, "fcfw") == 0) {
        return clv_result_warn(result, "fcfw ended before its tolerance was reached, as its steps gained nothing any "
                                       "more; try --solver fista");
    }
    return strcmp(solver, "fista") == 0 || strcmp(solver, "admm") == 0
               ? clv_result_warn(result,
                                 "%s ended before its tolerance was reached: on wide or badly scaled data it "
                                 "crawls; try another --solver, or a --max-iter above %d",
                                 solver, CLV_MAX_ITER)
               : CLV_OK;
}

/* The point becomes the best iterate. */
static clv_status keep(ks_run *run) {
    CLV_TRY(clv_list_copy(run->problem->ctx, &run->best, &run->point.w));
    run->intercept = run->point.intercept;
    run->value = run->point.value;
    run->gap = run->point.gap;
    run->own = run->point.fresh;
    return CLV_OK;
}

/* What the driver sees is the best iterate. */
static void show(const ks_run *run, clv_iterate *out) {
    out->value = run->problem->unit * run->value;
    out->certificate = relative(run->gap, run->value);
}

/* Whether measured weights lie outside the ball of the radius by more than this share of it. */
static bool is_outside(const clv_point *point, double share) {
    double radius = point->problem->radius;
    return radius > 0 && !(sqrt(point->square) <= radius * (1 + share));
}

/* Weights that lie outside the ball are drawn back to it. */
static void fit_radius(clv_point *point) {
    double radius = point->problem->radius;
    double square = radius > 0 ? clv_ksupport_square(&point->set, point->w.value, point->w.count) : 0;
    if (square > radius * radius) {
        for (int64_t i = 0; i < point->w.count; i++) {
            point->w.value[i] *= radius / sqrt(square);
        }
    }
}

/* The iterate of a solver that rounding took out of the ball is no solution, and its objective may be less than that of
 * any: what is kept of it is what is drawn back. */
static clv_status bring_back(clv_point *point) {
    if (!is_outside(point, OUTSIDE / 10)) { /* for evaluations that round in another way */
        return CLV_OK;
    }
    fit_radius(point);
    return clv_point_evaluate(point);
}

/* The point at weights to start from, with a gap or without one; where time ends their evaluation, the value stands
 * alone. */
static clv_status take_start(clv_point *point, const clv_list *start, bool with_gap, bool *given_up) {
    point->w.count = 0;
    if (start) {
        CLV_TRY(clv_list_copy(point->problem->ctx, &point->w, start));
        fit_radius(point);
    }
    clv_status status = with_gap ? clv_point_evaluate(point) : clv_point_value(point);
    *given_up = clv_is_stop(status);
    CLV_TRY(*given_up ? CLV_OK : status);
    return isfinite(point->value) && (*given_up || !with_gap || isfinite(point->gap))
               ? CLV_OK
               : clv_fail(point->problem->ctx, CLV_EDATA,
                          "the numbers are out of range: at the start the objective is %g and its gap %g; scale the "
                          "data",
                          point->value, point->gap);
}

static clv_status run_start(void *state, clv_rng *rng, clv_iterate *out) {
    ks_run *run = state;
    (void)rng;
    run->point.kept = run->problem->x->features;
    CLV_TRY(take_start(&run->point, run->problem->start, true, &run->given_up));
    CLV_TRY(keep(run));
    clv_status status = run->given_up ? CLV_OK : run->solver->start(run->state, &run->point);
    run->given_up = run->given_up || clv_is_stop(status);
    CLV_TRY(run->given_up ? CLV_OK : status);
    run->last = run->value;
    begin_waiting(run);
    show(run, out);
    return CLV_OK;
}

/* Solvers that do not know the gap of their iterates bound the optimum from below. Where that seems to be enough, the
 * best iterate is evaluated by itself: that gap is the certificate. */
static clv_status settle(ks_run *run) {
    const clv_ks_problem *p = run->problem;
    clv_point *point = &run->point;
    double bound = point->value - point->gap;
    if (point->value < run->value) {
        CLV_TRY(keep(run));
    } else if (!run->own) {
        run->gap = clv_ks_clamp(run->value - bound < run->gap ? run->value - bound : run->gap);
    }
    if (!run->own && p->options.rule == CLV_KSUPPORT_GAP && relative(run->gap, run->value) <= p->tol) {
        CLV_TRY(clv_list_copy(p->ctx, &point->w, &run->best));
        CLV_TRY(clv_point_evaluate(point));
        CLV_TRY(keep(run));
    }
    return CLV_OK;
}

static clv_status run_step(void *state, clv_iterate *out) {
    ks_run *run = state;
    double before = run->last;
    if (run->given_up) {
        return clv_stop_failure(run->problem->ctx, "starting");
    }
    CLV_TRY(run->solver->step(run->state, &run->point, out));
    CLV_TRY(bring_back(&run->point));
    run->last = run->point.value;
    if (run->problem->options.rule == CLV_KSUPPORT_CHANGE) {
        out->converged = fabs(run->last - before) <= run->problem->tol * fabs(before);
        out->stalled = false;
    }
    CLV_TRY(settle(run));
    out->stalled =
        out->stalled || (run->problem->options.rule == CLV_KSUPPORT_GAP && (is_stuck(run) || is_worn_out(run)));
    show(run, out);
    return CLV_OK;
}

static clv_status new_model(clv_context *ctx, const void *problem, void **out) {
    (void)problem;
    *out = CLV_NEW0(ctx, clv_ks_model, 1);
    return *out ? CLV_OK : CLV_ENOMEM;
}

static clv_status run_save(void *state, void *snapshot) {
    const ks_run *run = state;
    clv_ks_model *to = snapshot;
    to->intercept = run->intercept;
    to->passes = run->work.passes;
    return clv_list_copy(run->problem->ctx, &to->w, &run->best);
}

static bool same_weights(const clv_list *a, const clv_list *b) {
    return a->count == b->count &&
           (a->count == 0 || (memcmp(a->index, b->index, (size_t)a->count * sizeof *a->index) == 0 &&
                              memcmp(a->value, b->value, (size_t)a->count * sizeof *a->value) == 0));
}

static clv_status run_resume(void *state, const void *snapshot, clv_iterate *out) {
    ks_run *run = state;
    clv_point *point = &run->point;
    const clv_list *saved = &((const clv_ks_model *)snapshot)->w;
    if (run->given_up && clv_asked_to_stop(run->problem->ctx)) { /* it was not to be evaluated then, nor is it now */
        return clv_stop_failure(run->problem->ctx, "evaluating the start");
    }
    bool known = point->fresh && point->kept == run->problem->x->features && same_weights(&point->w, saved);
    if (!known) {
        CLV_TRY(clv_list_copy(run->problem->ctx, &point->w, saved));
        point->kept = run->problem->x->features;
        CLV_TRY(clv_point_evaluate(point));
    }
    clv_point_measure_columns(point);
    if (is_delicate(point)) {
        CLV_TRY(evaluate_anew(point));
    }
    CLV_TRY(keep(run));
    double claim = claimable(point); /* before the solver takes the point on */
    CLV_TRY(run->solver->start(run->state, point));
    run->last = run->value;
    begin_waiting(run);
    show(run, out);
    out->certificate = claim;
    return CLV_OK;
}

/* --- checkpoints --- */

static clv_status run_pass(void *state, clv_archive *archive) {
    ks_run *run = state;
    const clv_ks_problem *p = run->problem;
    double *const numbers[] = {&run->last,        &run->intercept,  &run->value,    &run->gap,
                               &run->work.passes, &run->idle_value, &run->idle_gap, &run->paced_gap};
    if (archive->loading) {
        run->given_up = false; /* one that has is not kept */
    }
    for (size_t i = 0; i < CLV_COUNT(numbers); i++) {
        clv_pass_real(archive, numbers[i]);
    }
    clv_pass_flag(archive, &run->own);
    clv_pass_integer(archive, &run->idle, 0, INT64_MAX - 1);
    clv_pass_integer(archive, &run->steps, 0, INT64_MAX - 1);
    CLV_TRY(clv_list_pass(p->ctx, &run->best, p->x->features, archive));
    CLV_TRY(clv_point_pass(&run->point, archive));
    if (p->x->does->pass_work) {
        p->x->does->pass_work(run->work.design, archive);
    }
    CLV_TRY(archive->status);
    return run->solver->pass(run->state, archive);
}

static clv_status pass_model(const void *problem, void *snapshot, clv_archive *archive) {
    const clv_ks_problem *p = problem;
    clv_ks_model *model = snapshot;
    clv_pass_real(archive, &model->intercept);
    clv_pass_real(archive, &model->passes);
    CLV_TRY(archive->status);
    return clv_list_pass(p->ctx, &model->w, p->x->features, archive);
}

/* --- the public side of a problem --- */

clv_status clv_ks_drive(const clv_ks_problem *p, const clv_method *method, clv_result *result, clv_ks_model **out) {
    clv_solver solver = {.method = method,
                         .tolerance = p->tol,
                         .stops_on_certificate = p->options.rule == CLV_KSUPPORT_GAP,
                         .monotone = true,
                         .problem = p,
                         .create = run_create,
                         .destroy = run_destroy,
                         .start = run_start,
                         .step = run_step,
                         .new_snapshot = new_model,
                         .free_snapshot = clv_ks_model_free,
                         .save = run_save,
                         .resume = run_resume,
                         .pass = run_pass,
                         .pass_snapshot = pass_model};
    clv_control control = p->options.control;
    void *found;
    control.restarts = 1;
    clv_status status = clv_drive(p->ctx, &solver, &control, result, &found);
    *out = found;
    return status;
}

/* Weights outside the ball of the radius are no solutions, however small their loss. */
static clv_status check_radius(const clv_point *point) {
    return is_outside(point, OUTSIDE)
               ? clv_fail(point->problem->ctx, CLV_EDATA, "the norm of the weights is %.12g, beyond the radius %.12g",
                          sqrt(point->square), point->problem->radius)
               : CLV_OK;
}

/* The objective with another intercept than the best one is higher, and so is what it may be above the least. */
static clv_status take_intercept(clv_point *point, double intercept) {
    const clv_ks_problem *p = point->problem;
    if (!p->loss.intercept && intercept != 0) {
        return clv_fail(p->ctx, CLV_EDATA, "the intercept is %g, but the model has none", intercept);
    }
    double loss = clv_loss_with(&p->loss, point->work->terms, point->margin, intercept, point->slope);
    point->gap += fmax(loss - point->loss, 0);
    point->value += loss - point->loss;
    return CLV_OK;
}

static clv_status evaluate(clv_point *point, const clv_list *w, const double *intercept) {
    CLV_TRY(clv_list_copy(point->problem->ctx, &point->w, w));
    CLV_TRY(evaluate_anew(point));
    CLV_TRY(check_radius(point));
    return intercept ? take_intercept(point, *intercept) : CLV_OK;
}

clv_status clv_ks_evaluate(const clv_ks_problem *p, const clv_list *w, const double *intercept, int threads,
                           double *value, double *gap, double *rounding) {
    clv_ks_work work;
    clv_point point = {0};
    clv_status status = clv_ks_work_new(p, &work);
    if (status == CLV_OK) {
        status = clv_point_new(p, &work, threads, false, &point);
    }
    if (status == CLV_OK) {
        status = evaluate(&point, w, intercept);
    }
    *value = p->unit * point.value;
    *gap = status == CLV_OK ? claimable(&point) : NAN;
    if (rounding && status == CLV_OK) {
        *rounding = relative(rounding_of(&point), point.value);
    }
    clv_point_free(&point);
    clv_ks_work_free(p, &work);
    return status;
}

clv_status clv_ks_evaluate_start(const clv_ks_problem *p, bool with_gap, double *value, double *gap,
                                 clv_ks_model *out) {
    clv_ks_work work;
    clv_point point = {0};
    bool given_up = false;
    clv_status status = clv_ks_work_new(p, &work);
    if (status == CLV_OK) {
        status = clv_point_new(p, &work, p->x->threads, false, &point);
    }
    if (status == CLV_OK) {
        point.last_gap = 0; /* as where an answer is evaluated, so that the gap has the same bits */
        status = take_start(&point, p->start, with_gap, &given_up);
    }
    if (status == CLV_OK) {
        *value = p->unit * point.value;
        *gap = with_gap && !given_up ? claimable(&point) : NAN;
        out->intercept = point.intercept;
        out->passes = work.passes;
        status = clv_list_copy(p->ctx, &out->w, &point.w);
    }
    clv_point_free(&point);
    clv_ks_work_free(p, &work);
    return status;
}
