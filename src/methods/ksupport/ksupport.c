/* Sparse linear models by the squared k-support norm.
 *
 * Problem      minimize sum_m loss(y_m, x_m w + b) + tau/2 ||w||^2 + lambda (||w||_k^sp)^2, or without the last term
 *              over ||w||_k^sp <= radius; logistic loss or squares. Convex.
 * Reference    Liu, Yuan, Zhang, Liu and Metaxas, "Efficient k-support-norm regularized minimization via fully
 *              corrective Frank-Wolfe method" (2016); Argyriou, Foygel and Srebro 2012 for the norm. Working sets,
 *              screening, the gap as stopping rule and the semismooth Newton solver go beyond it.
 * Certificate  relative-duality-gap: a bound on (F(w) - F*) / F(w), from w and the data alone (point.c).
 * Cost         counted in passes over X; each solver's file says what a step takes.
 *
 * Policies. The logistic loss takes any two values of y, the larger one as positive; with more there is a model for
 * each against the rest, solved one after the other. Nothing is random. */
#include "methods/ksupport/ksupport.h"

#include "base/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More values of y than this are not classes. */
enum { MOST_CLASSES = 1000 };
/* Larger numbers cannot be squared and added up. */
#define LARGEST 1e150

#define T clv_ksupport_options
static const clv_option ksupport_options[] = {
    CLV_OPT_INT(T, k, "k", 'k', 1, 1, 0x1p32, NULL, "N", "the k of the norm: about how many weights are not 0"),
    CLV_OPT_CHOICE(T, loss, "loss", CLV_KSUPPORT_LOGISTIC, "logistic|squares", "classification or regression"),
    CLV_OPT_CHOICE(T, solver, "solver", CLV_KSUPPORT_FCFW, "fcfw|fista|admm|newton", "newton: for high accuracy"),
    CLV_OPT_REAL(T, lambda, "lambda", 0.1, 1e-300, 1e300, NULL, "L", "weight of the squared k-support norm"),
    CLV_OPT_REAL(T, ridge, "ridge", 1e-3, 0, 1e300, NULL, "TAU", "weight of half the squared 2-norm"),
    CLV_OPT_REAL(T, radius, "radius", 0, 1e-300, 1e300, "none", "R", "bound the norm by R instead of weighing it"),
    CLV_OPT_FLAG(T, intercept, "intercept", NULL, 0, "fit an intercept, which is not penalized"),
    CLV_OPT_CHOICE(T, prox, "prox", CLV_KSUPPORT_SELECT, "select|search|bisect|active|box",
                   "how fista and admm compute the proximity operator"),
    CLV_OPT_CHOICE(T, inner, "inner", CLV_KSUPPORT_PROJECTED_NEWTON, "newton|pqn|pairwise",
                   "how fcfw corrects the weights of its atoms"),
    CLV_OPT_CHOICE(T, step, "step", CLV_KSUPPORT_BACKTRACKING, "backtracking|fixed", "the step size of fista"),
    CLV_OPT_CHOICE(T, rule, "rule", CLV_KSUPPORT_GAP, "gap|change",
                   "what must fall below tol; change: as in the paper"),
    CLV_OPT_FLAG(T, working_set, "working-set", NULL, 1, "fcfw: iterate on the steepest features between passes"),
    CLV_OPT_FLAG(T, screening, "screening", NULL, 1, "drop features that cannot be in the solution"),
    CLV_OPT_FLAG(T, transposed, "transposed", NULL, 0, "X has a row a feature"),
    CLV_OPT_TEXT(T, start, "start", "zero", "zero|FILE", "weights to start from"),
};
#undef T

const clv_option_table *clv_ksupport_table(void) {
    static const clv_option_table table = {"ksupport", ksupport_options, CLV_COUNT(ksupport_options)};
    return &table;
}

void clv_ksupport_defaults(clv_ksupport_options *options) {
    memset(options, 0, sizeof *options);
    clv_options_defaults(clv_control_table(), &options->control);
    clv_options_defaults(clv_ksupport_table(), options);
}

/* --- checks --- */

static clv_status check_options(clv_context *ctx, const clv_ksupport_options *options) {
    const char *start = options->start ? options->start : "";
    CLV_TRY(clv_options_check(ctx, clv_ksupport_table(), options));
    CLV_TRY(clv_options_check(ctx, clv_control_table(), &options->control));
    if (strcmp(start, "zero") != 0 && strcmp(start, "weights") != 0) {
        return clv_fail(ctx, CLV_EUSAGE, "start = '%s' is neither zero nor weights", start);
    }
    if (strcmp(start, "weights") == 0 && !options->start_weights) {
        return clv_fail(ctx, CLV_EUSAGE, "start = 'weights' needs the weights to start from");
    }
    bool bounded = options->solver == CLV_KSUPPORT_FCFW || options->solver == CLV_KSUPPORT_FISTA;
    if (options->radius > 0 && !bounded) {
        return clv_fail(ctx, CLV_EUSAGE, "radius = %g: only the solvers fcfw and fista bound the norm",
                        options->radius);
    }
    return CLV_OK;
}

static clv_status check_start(clv_context *ctx, const clv_ksupport_options *options, int64_t models, int64_t features) {
    if (strcmp(options->start, "weights") != 0) {
        return CLV_OK;
    }
    if (options->start_models != models) {
        return clv_fail(ctx, CLV_EDATA, "the weights to start from have %lld rows, but there %s %lld %s",
                        (long long)options->start_models, models == 1 ? "is" : "are", (long long)models,
                        models == 1 ? "model" : "models");
    }
    const clv_matrix weights = {models, features, CLV_F64, options->start_weights, NULL, NULL};
    return clv_matrix_check(ctx, "the weights to start from", &weights, LARGEST);
}

static clv_status check_sizes(clv_context *ctx, const clv_design *x, const clv_ksupport_options *options) {
    if (x->samples < 1 || x->features < 1) {
        return clv_fail(ctx, CLV_EDATA, "X has %lld samples and %lld features: both must be 1 or more",
                        (long long)x->samples, (long long)x->features);
    }
    if (options->k > x->features) {
        return clv_fail(ctx, CLV_EDATA, "k = %lld exceeds the %lld features of X", (long long)options->k,
                        (long long)x->features);
    }
    return CLV_OK;
}

static clv_status check_targets(clv_context *ctx, const double *y, int64_t samples) {
    for (int64_t m = 0; m < samples; m++) {
        if (!isfinite(y[m]) || fabs(y[m]) > LARGEST) {
            return clv_fail(ctx, CLV_EDATA, "y of sample %lld is %g, not a finite number of moderate size",
                            (long long)m + 1, y[m]);
        }
    }
    return CLV_OK;
}

/* --- classes --- */

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

clv_status clv_ks_classes(clv_context *ctx, const double *y, int64_t samples, double **out, int64_t *count) {
    double *sorted = CLV_NEW(ctx, double, samples);
    *out = sorted;
    *count = 0;
    if (!sorted) {
        return CLV_ENOMEM;
    }
    memcpy(sorted, y, (size_t)samples * sizeof *sorted);
    qsort(sorted, (size_t)samples, sizeof *sorted, ascending);
    for (int64_t m = 0; m < samples; m++) {
        if (m == 0 || sorted[m] > sorted[*count - 1]) {
            sorted[(*count)++] = sorted[m];
        }
    }
    if (*count < 2) {
        return clv_fail(ctx, CLV_EDATA, "y has one class only, %g: the logistic loss needs two or more", sorted[0]);
    }
    if (*count > MOST_CLASSES) {
        return clv_fail(ctx, CLV_EDATA,
                        "y has %lld values, more than the %d classes allowed: is this a regression (loss = squares)?",
                        (long long)*count, MOST_CLASSES);
    }
    return CLV_OK;
}

/* --- a job: what the models share --- */

typedef struct job {
    clv_context *ctx;
    const double *y;
    clv_design x;
    int64_t models, classes_count;
    double *classes;
    double *signs, *terms; /* samples: y of a model, work of its loss */
    clv_list best;
    double intercept, passes;
    clv_ks_problem problem;
} job;

static void job_free(job *j) {
    clv_design_free(&j->x);
    clv_free(j->ctx, j->classes);
    clv_free(j->ctx, j->signs);
    clv_free(j->ctx, j->terms);
    clv_list_free(j->ctx, &j->best);
}

/* The caller frees the job also on failure. */
static clv_status job_new(clv_context *ctx, const clv_matrix *x, const double *y, const clv_ksupport_options *options,
                          job *j) {
    int threads = clv_threads(options->control.threads);
    *j = (job){.ctx = ctx, .y = y, .models = 1};
    CLV_TRY(check_options(ctx, options));
    CLV_TRY(clv_design_new(ctx, x, options->transposed, threads, &j->x));
    CLV_TRY(check_sizes(ctx, &j->x, options));
    CLV_TRY(check_targets(ctx, y, j->x.samples));
    j->terms = CLV_NEW(ctx, double, j->x.samples);
    j->signs = CLV_NEW(ctx, double, j->x.samples);
    if (!j->terms || !j->signs) {
        return CLV_ENOMEM;
    }
    if (options->loss == CLV_KSUPPORT_LOGISTIC) {
        CLV_TRY(clv_ks_classes(ctx, y, j->x.samples, &j->classes, &j->classes_count));
        j->models = j->classes_count > 2 ? j->classes_count : 1;
    }
    CLV_TRY(check_start(ctx, options, j->models, j->x.features));
    j->problem = (clv_ks_problem){.ctx = ctx,
                                  .x = &j->x,
                                  .given = x,
                                  .loss = {.kind = (clv_ksupport_loss)options->loss,
                                           .samples = j->x.samples,
                                           .y = j->signs,
                                           .intercept = options->intercept,
                                           .threads = threads,
                                           .terms = j->terms},
                                  .options = *options,
                                  .k = options->k,
                                  .lambda = options->lambda,
                                  .tau = options->ridge,
                                  .radius = options->radius,
                                  .unit = 1,
                                  .tol = clv_ks_tolerance(options),
                                  .best = &j->best,
                                  .best_intercept = &j->intercept,
                                  .passes = &j->passes};
    return CLV_OK;
}

/* y of model c: +1 for its class and -1 for the others, or the targets themselves. */
static void set_signs(job *j, int64_t c) {
    for (int64_t m = 0; m < j->x.samples; m++) {
        bool one = j->classes_count > 0 && j->y[m] == j->classes[j->models > 1 ? c : 1];
        j->signs[m] = j->classes_count == 0 ? j->y[m] : one ? 1 : -1;
    }
}

/* --- solving --- */

static clv_status list_row(clv_context *ctx, const double *row, int64_t features, clv_list *out) {
    int64_t count = 0;
    for (int64_t j = 0; j < features; j++) {
        count += row[j] != 0;
    }
    CLV_TRY(clv_list_reserve(ctx, out, count));
    out->count = 0;
    for (int64_t j = 0; j < features; j++) {
        if (row[j] != 0) {
            out->index[out->count] = j;
            out->value[out->count++] = row[j];
        }
    }
    return CLV_OK;
}

/* Append the entries of a list to the rows of a growing CSR matrix. */
static clv_status append_row(clv_data *rows, int64_t row, const clv_list *w) {
    int64_t at = rows->start[row], total;
    if (!clv_add(at, w->count, &total)) {
        return CLV_ENOMEM;
    }
    double *values = clv_resize(rows->ctx, rows->values, total, sizeof *values);
    if (!values) {
        return CLV_ENOMEM;
    }
    rows->values = values;
    int32_t *index = clv_resize(rows->ctx, rows->index, total, sizeof *index);
    if (!index) {
        return CLV_ENOMEM;
    }
    rows->index = index;
    for (int64_t i = 0; i < w->count; i++) {
        values[at + i] = w->value[i];
        index[at + i] = (int32_t)w->index[i];
    }
    rows->start[row + 1] = total;
    rows->matrix = (clv_matrix){rows->matrix.rows, rows->matrix.cols, CLV_F64, values, rows->start, index};
    return CLV_OK;
}

/* Add the run of one model to the whole. */
static clv_status join_results(clv_result *all, clv_result *one, int64_t c) {
    bool first = c == 0;
    int64_t rows = all->trace_count + one->trace_count;
    if (first) {
        all->method = one->method;
        all->solver = one->solver;
        all->objective = one->objective;
        all->certificate = one->certificate;
        all->stop = one->stop;
    } else {
        double gap = all->certificate.value * all->objective.value + one->certificate.value * one->objective.value;
        all->objective.value += one->objective.value;
        all->certificate.value = gap > 0 ? gap / all->objective.value : gap;
        all->certificate.holds = all->certificate.value <= all->certificate.tolerance;
        all->stop = one->stop != CLV_CONVERGED ? one->stop : all->stop;
    }
    all->iterations += one->iterations;
    all->drift = fmax(all->drift, one->drift);
    all->restarts_count = 1;
    all->restarts[0].seconds += one->restarts[0].seconds;
    all->restarts[0] = (clv_restart){all->objective.value, all->iterations, all->restarts[0].seconds, all->stop};
    if (one->trace_count > 0) {
        clv_trace_row *trace = clv_resize(all->ctx, all->trace, rows, sizeof *trace);
        if (!trace) {
            return CLV_ENOMEM;
        }
        all->trace = trace;
        for (int64_t t = 0; t < one->trace_count; t++) {
            trace[all->trace_count + t] = one->trace[t];
            trace[all->trace_count + t].restart = c;
        }
        all->trace_count = rows;
    }
    return CLV_OK;
}

static clv_status solve_model(job *j, int64_t c, clv_result *all) {
    clv_list start = {0};
    clv_result *one = NULL;
    const clv_ksupport_options *options = &j->problem.options;
    clv_status status = CLV_OK;
    set_signs(j, c);
    if (strcmp(options->start, "weights") == 0) {
        status = list_row(j->ctx, options->start_weights + c * j->x.features, j->x.features, &start);
        j->problem.start = &start;
    }
    if (status == CLV_OK) {
        status = clv_result_new(j->ctx, 0, 0, &one);
    }
    if (status == CLV_OK) {
        status = clv_ks_drive(&j->problem, "ksupport", one);
    }
    if (status == CLV_OK) {
        status = join_results(all, one, c);
    }
    if (status == CLV_OK) {
        all->intercepts[c] = j->intercept;
        status = append_row(all->weights, c, &j->best);
    }
    clv_result_free(one);
    clv_list_free(j->ctx, &start);
    j->problem.start = NULL;
    return status;
}

/* The best intercept of weights 0. */
static double intercept_alone(const job *j) {
    double sum = clv_sum(j->signs, j->x.samples, 1), n = (double)j->x.samples;
    if (!j->problem.loss.intercept) {
        return 0;
    }
    return j->problem.loss.kind == CLV_KSUPPORT_SQUARES ? sum / n : log((n + sum) / (n - sum));
}

/* A model that an interruption left without a start: its weights are 0, and evaluated as such. */
static clv_status leave_model(job *j, int64_t c, clv_result *all) {
    clv_restart none = {.stop = CLV_CANCELLED};
    clv_result one = {.stop = CLV_CANCELLED, .restarts = &none, .restarts_count = 1};
    clv_list nothing = {0};
    set_signs(j, c);
    all->intercepts[c] = intercept_alone(j);
    CLV_TRY(
        clv_ks_evaluate(&j->problem, &nothing, &all->intercepts[c], j->x.threads, &one.objective, &one.certificate));
    CLV_TRY(join_results(all, &one, c));
    return append_row(all->weights, c, &nothing);
}

/* A result with room for all models. */
static clv_status new_result(job *j, clv_result **out) {
    CLV_TRY(clv_result_new(j->ctx, 0, 0, out));
    clv_result *all = *out;
    all->n = j->x.samples;
    all->k = j->problem.k;
    all->seed = j->problem.options.control.seed;
    all->restarts = CLV_NEW0(j->ctx, clv_restart, 1);
    all->intercepts = CLV_NEW0(j->ctx, double, j->models);
    if (!all->restarts || !all->intercepts) {
        return CLV_ENOMEM;
    }
    CLV_TRY(clv_data_new_csr(j->ctx, "weights", j->models, j->x.features, 0, &all->weights));
    return CLV_OK;
}

/* The limit is for all models together; each gets what is left. Interrupted, the models made so far stay. */
static clv_status solve_all(job *j, double began, clv_result **out) {
    double limit = j->problem.options.control.time_limit;
    CLV_TRY(new_result(j, out));
    for (int64_t c = 0; c < j->models; c++) {
        if (limit > 0) {
            j->problem.options.control.time_limit = fmax(limit - (clv_seconds() - began), 1e-9);
        }
        clv_status status = solve_model(j, c, *out);
        if (status == CLV_EINTERRUPTED && c > 0) {
            status = leave_model(j, c, *out);
        }
        CLV_TRY(status);
    }
    (*out)->classes = j->classes;
    (*out)->classes_count = j->classes_count;
    j->classes = NULL;
    (*out)->passes = (int64_t)(j->passes + 0.5);
    return CLV_OK;
}

clv_status clv_ksupport(clv_context *ctx, const clv_matrix *x, const double *y, const clv_ksupport_options *options,
                        clv_result **out) {
    job j;
    double began = clv_seconds();
    *out = NULL;
    clv_status status = job_new(ctx, x, y, options, &j);
    if (status == CLV_OK) {
        status = solve_all(&j, began, out);
    }
    job_free(&j);
    if (status < 0) {
        clv_result_free(*out);
        *out = NULL;
        return status;
    }
    (*out)->seconds = clv_seconds() - began;
    return CLV_OK;
}

/* --- evaluation and prediction --- */

static clv_status check_weights(clv_context *ctx, const clv_matrix *weights, int64_t models, int64_t features) {
    if (weights->rows != models || weights->cols != features) {
        return clv_fail(ctx, CLV_EDATA, "the weights are %lld x %lld, but there are %lld models of %lld features",
                        (long long)weights->rows, (long long)weights->cols, (long long)models, (long long)features);
    }
    return clv_matrix_check(ctx, "weights", weights, LARGEST);
}

static clv_status row_of(clv_context *ctx, const clv_matrix *weights, int64_t c, clv_list *out) {
    double *row = CLV_NEW(ctx, double, weights->cols);
    if (!row) {
        return CLV_ENOMEM;
    }
    clv_matrix_row(weights, c, row);
    clv_status status = list_row(ctx, row, weights->cols, out);
    clv_free(ctx, row);
    return status;
}

static clv_status evaluate_model(job *j, const clv_matrix *weights, const double *intercept, int64_t c,
                                 clv_objective *objective, clv_certificate *certificate) {
    clv_list w = {0};
    set_signs(j, c);
    clv_status status = row_of(j->ctx, weights, c, &w);
    if (status == CLV_OK) {
        status = clv_ks_evaluate(&j->problem, &w, intercept, j->x.threads, objective, certificate);
    }
    clv_list_free(j->ctx, &w);
    return status;
}

static clv_status evaluate_all(job *j, const clv_matrix *weights, const double *intercepts, clv_objective *objective,
                               clv_certificate *certificate) {
    double value = 0, gap = 0;
    CLV_TRY(check_weights(j->ctx, weights, j->models, j->x.features));
    for (int64_t c = 0; c < j->models; c++) {
        CLV_TRY(evaluate_model(j, weights, intercepts ? intercepts + c : NULL, c, objective, certificate));
        value += objective->value;
        gap += certificate->value * objective->value;
    }
    objective->value = value;
    certificate->value = gap > 0 ? gap / value : gap;
    certificate->holds = certificate->value <= certificate->tolerance;
    return CLV_OK;
}

clv_status clv_ksupport_evaluate(clv_context *ctx, const clv_matrix *x, const double *y,
                                 const clv_ksupport_options *options, const clv_matrix *weights,
                                 const double *intercepts, clv_objective *objective, clv_certificate *certificate) {
    job j;
    clv_status status = job_new(ctx, x, y, options, &j);
    if (status == CLV_OK) {
        status = evaluate_all(&j, weights, intercepts, objective, certificate);
    }
    job_free(&j);
    return status;
}

/* Scores of one model over all samples, by its sparse weights. */
static clv_status score_model(const clv_design *x, const clv_matrix *weights, int64_t c, double intercept,
                              double *out) {
    clv_list w = {0};
    clv_status status = row_of(x->ctx, weights, c, &w);
    if (status == CLV_OK) {
        x->does->margins(x, w.index, w.value, w.count, out);
        for (int64_t m = 0; m < x->samples; m++) {
            out[m] += intercept;
        }
    }
    clv_list_free(x->ctx, &w);
    return status;
}

static void decide(const double *classes, int64_t class_count, int64_t models, int64_t samples, const double *scores,
                   double *out) {
    for (int64_t m = 0; m < samples; m++) {
        int64_t best = 0;
        for (int64_t c = 1; c < models; c++) {
            best = scores[c * samples + m] > scores[best * samples + m] ? c : best;
        }
        best = class_count == 2 ? scores[m] > 0 : best;
        out[m] = class_count > 0 ? classes[best] : scores[m];
    }
}

static clv_status predict(const clv_design *x, const clv_matrix *weights, const double *intercepts,
                          const double *classes, int64_t class_count, double *out, double *scores) {
    int64_t models = weights->rows;
    bool fits = class_count == 0 ? models == 1 : class_count == 2 ? models == 1 : models == class_count;
    if (!fits || class_count == 1) {
        return clv_fail(x->ctx, CLV_EDATA, "%lld models do not tell %lld classes apart", (long long)models,
                        (long long)class_count);
    }
    CLV_TRY(check_weights(x->ctx, weights, models, x->features));
    for (int64_t c = 0; c < models; c++) {
        CLV_TRY(score_model(x, weights, c, intercepts ? intercepts[c] : 0, scores + c * x->samples));
    }
    decide(classes, class_count, models, x->samples, scores, out);
    return CLV_OK;
}

clv_status clv_ksupport_predict(clv_context *ctx, const clv_matrix *x, const clv_ksupport_options *options,
                                const clv_matrix *weights, const double *intercepts, const double *classes,
                                int64_t class_count, double *out, double *scores) {
    clv_design design;
    double *own = NULL;
    int64_t room;
    clv_status status = clv_design_new(ctx, x, options->transposed, clv_threads(options->control.threads), &design);
    if (status == CLV_OK && !scores) {
        own = clv_mul(weights->rows, design.samples, &room) ? CLV_NEW(ctx, double, room) : NULL;
        status = own ? CLV_OK : CLV_ENOMEM;
    }
    if (status == CLV_OK) {
        status = predict(&design, weights, intercepts, classes, class_count, out, scores ? scores : own);
    }
    clv_free(ctx, own);
    clv_design_free(&design);
    return status;
}

/* --- memory --- */

size_t clv_ksupport_memory(const clv_matrix *x, const clv_ksupport_options *options) {
    size_t samples = (size_t)(options->transposed ? x->cols : x->rows);
    size_t features = (size_t)(options->transposed ? x->rows : x->cols);
    size_t k = (size_t)options->k, number = sizeof(double);
    bool sorting = options->prox != CLV_KSUPPORT_SELECT;
    bool sets = options->solver == CLV_KSUPPORT_FCFW || options->solver == CLV_KSUPPORT_NEWTON;
    size_t most = 6 * k + 512 < features ? 6 * k + 512 : features, working = sets ? most : 0;
    size_t dense = sets ? 8 : 14, atoms = sets ? 32 : 0; /* newton may hand over to fcfw */
    size_t turned = x->start && !options->transposed ? (size_t)x->start[x->rows] * (number + sizeof(int32_t)) : 0;
    size_t square = options->solver == CLV_KSUPPORT_ADMM     ? clv_ks_admm_memory((int64_t)samples)
                    : options->solver == CLV_KSUPPORT_NEWTON ? clv_ks_newton_memory((int64_t)samples, (int64_t)most)
                                                             : 0;
    return turned + square + features * dense * number + working * samples * number +
           atoms * (samples + 2 * k) * number + samples * 16 * number +
           2 * clv_ksupport_set_memory((int64_t)features, clv_threads(options->control.threads), sorting);
}
