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

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More values of y than this are not classes. */
enum { MOST_CLASSES = 1000 };
/* The most that the gap may be off by, as a share of the objective, or else half of itself: beyond that a certificate
 * says nothing, whatever the radius is claimed to be. */
#define MOST_ROUNDING 1e-3
/* Entries of X that are passed over before another thread is awake. */
enum { SHORT_PASS = 1 << 17 };
/* Entries of X, over all classes, that are looked at after a stop. */
#define A_MOMENT 1e8
/* Of these, as many as take the time of the loss of a sample, for which its best intercept is looked for. */
enum { LOSS_COST = 512 };

/* --- checks --- */

clv_status clv_ksupport_check(clv_context *ctx, const void *chosen) {
    const clv_ksupport_options *options = chosen;
    bool bounded = options->solver != CLV_KSUPPORT_ADMM && options->solver != CLV_KSUPPORT_NEWTON;
    if (options->radius > 0 && !bounded) {
        return clv_fail(ctx, CLV_EUSAGE, "radius = %g: only the solvers fcfw and fista bound the norm",
                        options->radius);
    }
    if (!options->path) {
        return options->k > 0 ? CLV_OK : clv_fail(ctx, CLV_EUSAGE, "ksupport needs k, the k of the norm, or a path");
    }
    if (options->k > 0 || options->radius > 0) {
        return clv_fail(ctx, CLV_EUSAGE, "a path lists its own k and lambda: it cannot be used with %s",
                        options->k > 0 ? "k" : "radius");
    }
    return clv_ks_check_path(ctx, options->path);
}

/* Weights to start from: one row per model; of one model, a column will do. */
static clv_status check_start(clv_context *ctx, const clv_matrix *start, int64_t models, int64_t features) {
    bool column = models == 1 && start->cols == 1 && start->rows == features && !start->start;
    if (start->cols != features && !column) {
        return clv_fail(ctx, CLV_EDATA, "the start is %lld x %lld, but weights are rows of %lld numbers",
                        (long long)start->rows, (long long)start->cols, (long long)features);
    }
    if (start->rows != models && !column) {
        return clv_fail(ctx, CLV_EDATA, "the weights to start from have %lld rows, but there %s %lld %s",
                        (long long)start->rows, models == 1 ? "is" : "are", (long long)models,
                        models == 1 ? "model" : "models");
    }
    return clv_matrix_check(ctx, "the weights to start from", start, CLV_KS_LARGEST);
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
        if (!isfinite(y[m]) || fabs(y[m]) > CLV_KS_LARGEST) {
            return clv_fail(ctx, CLV_EDATA, "y of sample %lld is %g: it must be a number from -%g to %g",
                            (long long)m + 1, y[m], CLV_KS_LARGEST, CLV_KS_LARGEST);
        }
    }
    return CLV_OK;
}

/* --- classes --- */

clv_status clv_ks_classes(clv_context *ctx, const double *y, int64_t samples, double **out, int64_t *count) {
    double *sorted = CLV_NEW(ctx, double, samples);
    *out = sorted;
    *count = 0;
    if (!sorted) {
        return CLV_ENOMEM;
    }
    memcpy(sorted, y, (size_t)samples * sizeof *sorted);
    qsort(sorted, (size_t)samples, sizeof *sorted, clv_ascending);
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
    clv_data *centered; /* X, where its columns are far from the origin; NULL: they are not */
    double *means;      /* features: of these; NULL: all are 0 */
    clv_design x;
    int64_t models, classes_count;
    double *classes;
    double *signs;      /* samples: y of a model */
    double passes;      /* over X, by all models */
    clv_matrix start;   /* weights to start from; no rows: none */
    int64_t unstarted;  /* models that there was no time to evaluate these of */
    clv_data *weights;  /* found: models x features */
    double *intercepts; /* models */
    clv_ks_problem problem;
} job;

static void job_free(job *j) {
    clv_design_free(&j->x);
    clv_data_free(j->centered);
    clv_free(j->ctx, j->means);
    clv_free(j->ctx, j->classes);
    clv_free(j->ctx, j->signs);
    clv_free(j->ctx, j->intercepts);
    clv_data_free(j->weights);
}

/* The caller frees the job also on failure. */
static clv_status job_new(clv_context *ctx, const clv_input *input, const clv_ksupport_options *options, job *j) {
    const clv_matrix *x = input->points;
    const double *y = input->targets->values;
    int threads = (double)x->rows * (double)x->cols <= SHORT_PASS ? 1 : clv_threads(options->control.threads);
    bool far = false;
    *j = (job){.ctx = ctx, .y = y, .models = 1};
    CLV_TRY(options->intercept ? clv_ks_find_far(ctx, x, options->transposed, CLV_KS_FAR, &far) : CLV_OK);
    if (far) {
        CLV_TRY(clv_ks_center(ctx, x, options->transposed, &j->centered, &j->means));
    }
    CLV_TRY(clv_design_new(ctx, j->centered ? clv_data_matrix(j->centered) : x, options->transposed, threads, &j->x));
    CLV_TRY(check_sizes(ctx, &j->x, options));
    CLV_TRY(check_targets(ctx, y, j->x.samples));
    j->signs = CLV_NEW(ctx, double, j->x.samples);
    if (!j->signs) {
        return CLV_ENOMEM;
    }
    if (options->loss == CLV_KSUPPORT_LOGISTIC) {
        CLV_TRY(clv_ks_classes(ctx, y, j->x.samples, &j->classes, &j->classes_count));
        j->models = j->classes_count > 2 ? j->classes_count : 1;
    }
    if (input->start) {
        CLV_TRY(check_start(ctx, input->start, j->models, j->x.features));
        j->start = *input->start;
        j->start.rows = j->models; /* a column is a row */
        j->start.cols = j->x.features;
    }
    j->problem = (clv_ks_problem){.ctx = ctx,
                                  .x = &j->x,
                                  .given = x,
                                  .loss = {.kind = (clv_ksupport_loss)options->loss,
                                           .samples = j->x.samples,
                                           .y = j->signs,
                                           .intercept = options->intercept,
                                           .threads = threads},
                                  .options = *options,
                                  .k = options->k,
                                  .lambda = options->lambda,
                                  .tau = options->ridge,
                                  .radius = options->radius,
                                  .unit = 1};
    j->problem.options.control.threads = threads;
    j->problem.options.solver = clv_ks_choose(options, j->x.samples, j->x.features);
    j->problem.tol = clv_ks_tolerance(&j->problem.options);
    return CLV_OK;
}

/* m'w, by which the intercept on X is less than the one on X less its means. */
static double of_means(const job *j, const clv_list *w) {
    double sum = 0;
    for (int64_t i = 0; j->means && i < w->count; i++) {
        sum += j->means[w->index[i]] * w->value[i];
    }
    return sum;
}

/* y of model c: +1 for its class and -1 for the others, or the targets themselves. */
static void set_signs(job *j, int64_t c) {
    for (int64_t m = 0; m < j->x.samples; m++) {
        bool one = j->classes_count > 0 && j->y[m] == j->classes[j->models > 1 ? c : 1];
        j->signs[m] = j->classes_count == 0 ? j->y[m] : one ? 1 : -1;
    }
}

/* --- solving --- */

static clv_status row_of(clv_context *ctx, const clv_matrix *weights, int64_t c, clv_list *out) {
    double *row = CLV_NEW(ctx, double, weights->cols);
    if (!row) {
        return CLV_ENOMEM;
    }
    clv_matrix_row(weights, c, row);
    clv_status status = clv_list_pack(ctx, out, row, weights->cols, NULL);
    clv_free(ctx, row);
    return status;
}

/* Append the entries of a list to the rows of a growing CSR matrix. */
static clv_status append_row(clv_data *rows, int64_t row, const clv_list *w) {
    int64_t at = rows->start[row], total;
    if (!clv_add(at, w->count, &total)) {
        return CLV_ENOMEM;
    }
    double *values = rows->values;
    CLV_GROW(rows->ctx, values, total);
    rows->values = values;
    CLV_GROW(rows->ctx, rows->index, total);
    for (int64_t i = 0; i < w->count; i++) {
        values[at + i] = w->value[i];
        rows->index[at + i] = (int32_t)w->index[i];
    }
    rows->start[row + 1] = total;
    rows->matrix.values = values;
    rows->matrix.index = rows->index;
    return CLV_OK;
}

/* Add the run of one model to the whole. */
static clv_status join_results(clv_result *all, clv_result *one, int64_t c) {
    if (c == 0) {
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
        CLV_GROW(all->ctx, all->trace, all->trace_count + one->trace_count);
    }
    for (int64_t t = 0; t < one->trace_count; t++) {
        all->trace[all->trace_count] = one->trace[t];
        all->trace[all->trace_count++].part = c;
    }
    return CLV_OK;
}

static clv_status keep_model(job *j, int64_t c, clv_result *all, clv_result *one, const clv_ks_model *model) {
    j->intercepts[c] = model->intercept - of_means(j, &model->w);
    j->passes += model->passes;
    CLV_TRY(join_results(all, one, c));
    return append_row(j->weights, c, &model->w);
}

/* The weights that model c starts from, if there are any, in memory that the caller frees, also on failure. */
static clv_status begin_model(job *j, int64_t c, clv_list *start) {
    set_signs(j, c);
    j->problem.start = j->start.rows > 0 ? start : NULL;
    return j->start.rows > 0 ? row_of(j->ctx, &j->start, c, start) : CLV_OK;
}

static void end_model(job *j, clv_list *start) {
    clv_list_free(j->ctx, start);
    j->problem.start = NULL;
}

static clv_status solve_model(job *j, int64_t c, clv_result *all) {
    clv_list start = {0};
    clv_result *one = NULL;
    clv_ks_model *model = NULL;
    clv_status status = begin_model(j, c, &start);
    if (status == CLV_OK) {
        status = clv_result_new(j->ctx, 0, 0, &one);
    }
    if (status == CLV_OK) {
        status = clv_ks_drive(&j->problem, &clv_ksupport_method, one, &model);
    }
    if (status == CLV_OK) {
        status = keep_model(j, c, all, one, model);
    }
    clv_ks_model_free(j->ctx, model);
    clv_result_free(one);
    end_model(j, &start);
    return status;
}

/* Weights of 0, with the intercept that is the best for these. What that is worth is known; its gap takes a look at
 * X. */
static clv_status take_nothing(job *j, bool with_gap, double *value, double *gap, clv_ks_model *out) {
    double n = (double)j->x.samples, positive = (n + clv_sum(j->signs, j->x.samples, 1)) / 2, negative = n - positive;
    *value = j->problem.unit * n * log(2);
    *gap = NAN;
    if (j->problem.loss.intercept) {
        out->intercept = log(positive / negative);
        *value = j->problem.unit * (positive * log(n / positive) + negative * log(n / negative));
    }
    if (with_gap) {
        double found;
        clv_status status = clv_ks_evaluate(&j->problem, &out->w, &out->intercept, j->x.threads, &found, gap, NULL);
        *value = clv_is_stop(status) ? *value : found;
        CLV_TRY(clv_is_stop(status) ? CLV_OK : status);
    }
    return CLV_OK;
}

/* A model that was given up before it was begun: the weights that it would have started from where there is time to
 * evaluate them, or else 0. */
static clv_status leave_model(job *j, int64_t c, clv_stop stop, bool *with_gap, clv_result *all) {
    clv_restart none = {.stop = stop};
    clv_result one = {.stop = stop, .restarts = &none, .restarts_count = 1};
    clv_list start = {0};
    clv_ks_model model = {0};
    double value = NAN, gap = NAN;
    clv_status status = begin_model(j, c, &start);
    bool starts = j->problem.start && !clv_worked(j->ctx, j->x.samples * (start.count + LOSS_COST));
    j->unstarted += j->problem.start && !starts;
    if (status == CLV_OK) {
        status = (starts ? clv_ks_evaluate_start(&j->problem, *with_gap, &value, &gap, &model)
                         : take_nothing(j, *with_gap, &value, &gap, &model));
    }
    *with_gap = *with_gap && !isnan(gap); /* the sum of all is not known then */
    if (status == CLV_OK) {
        clv_result_claim(&one, &clv_ksupport_method, value, gap, j->problem.tol);
        status = keep_model(j, c, all, &one, &model);
    }
    clv_list_free(j->ctx, &model.w);
    end_model(j, &start);
    return status;
}

/* The classes from c on: with their gaps where X is looked at in a moment for all of them. */
static clv_status leave_models(job *j, int64_t c, clv_stop stop, clv_result *all) {
    clv_status status = CLV_OK;
    bool with_gap = (double)(j->models - c) * (double)j->x.samples * (double)j->x.features <= A_MOMENT;
    clv_overtime_begin(j->ctx);
    for (; c < j->models && status == CLV_OK; c++) {
        status = leave_model(j, c, stop, &with_gap, all);
    }
    clv_overtime_end(j->ctx);
    return status;
}

/* A result with room for all models. */
static clv_status new_result(job *j, clv_result **out) {
    CLV_TRY(clv_result_new(j->ctx, 0, 0, out));
    clv_result *all = *out;
    all->n = j->x.samples;
    all->k = j->problem.k;
    all->trace_part = j->models > 1 ? "model" : NULL;
    clv_name_solver(&clv_ksupport_method, &j->problem.options, all); /* the one that auto stands for */
    all->restarts = CLV_NEW0(j->ctx, clv_restart, 1);
    j->intercepts = CLV_NEW0(j->ctx, double, j->models);
    if (!all->restarts || !j->intercepts) {
        return CLV_ENOMEM;
    }
    return clv_data_new_csr(j->ctx, "weights", j->models, j->x.features, 0, &j->weights);
}

static clv_status add_fields(job *j, clv_result *all) {
    clv_data *weights = j->weights;
    j->weights = NULL;
    CLV_TRY(clv_result_take(all, "weights", CLV_FIELD_SPARSE, weights));
    CLV_TRY(clv_result_put_reals(all, "intercepts", j->intercepts, j->models));
    if (j->classes_count > 0) {
        CLV_TRY(clv_result_put_reals(all, "classes", j->classes, j->classes_count));
    }
    return clv_result_put_integer(all, "data_passes", (int64_t)(j->passes + 0.5));
}

static clv_status warn_of_unstarted(const job *j, clv_result *all) {
    return j->unstarted > 0 ? clv_result_warn(all,
                                              "the weights to start from of %lld of the %lld models are lost: the run "
                                              "ended before they could be evaluated, and the result has 0 for them",
                                              (long long)j->unstarted, (long long)j->models)
                            : CLV_OK;
}

/* Interrupted, or out of time, the models made so far stay. */
static clv_status solve_all(job *j, clv_result **out) {
    CLV_TRY(new_result(j, out));
    for (int64_t c = 0; c < j->models; c++) {
        clv_status status = solve_model(j, c, *out);
        bool given_up = clv_is_stop(status) && c > 0;
        CLV_TRY(given_up ? CLV_OK : status);
        clv_stop why = given_up ? clv_stop_of(status) : (*out)->stop;
        if (given_up || why == CLV_TIME_LIMIT || why == CLV_CANCELLED) {
            CLV_TRY(leave_models(j, c + !given_up, why, *out));
            break;
        }
    }
    CLV_TRY(warn_of_unstarted(j, *out));
    return add_fields(j, *out);
}

static clv_status solve(clv_context *ctx, const clv_input *input, const clv_ksupport_options *options,
                        clv_result **out) {
    job j;
    clv_status status = job_new(ctx, input, options, &j);
    if (status == CLV_OK) {
        status = solve_all(&j, out);
    }
    job_free(&j);
    return status;
}

/* Far from the origin all columns are nearly one, unless their means are taken away. */
static clv_status warn_of_means(clv_context *ctx, const clv_input *input, const clv_ksupport_options *options,
                                clv_result *result) {
    bool held_up = !options->intercept && !result->certificate.holds && result->stop != CLV_CANCELLED, far = false;
    CLV_TRY(held_up ? clv_ks_find_far(ctx, input->points, options->transposed, CLV_KS_OFF, &far) : CLV_OK);
    return far ? clv_result_warn(result,
                                 "columns of X have means of more than %d times their spread, and the certificate does "
                                 "not hold: use --intercept, or --scale standard",
                                 CLV_KS_OFF)
               : CLV_OK;
}

/* Each value of y is a class, and a regression would be taken for very many. */
static clv_status warn_of_fractions(clv_result *result) {
    const clv_field *classes = clv_result_field(result, "classes");
    bool fractions = false;
    for (int64_t c = 0; classes && c < classes->count; c++) {
        fractions = fractions || classes->reals[c] != floor(classes->reals[c]);
    }
    return fractions && classes->count > 2
               ? clv_result_warn(result,
                                 "each of the %lld values of y is taken for a class, and not all of them are whole "
                                 "numbers: for a regression, use --loss squares",
                                 (long long)classes->count)
               : CLV_OK;
}

clv_status clv_ksupport_solve(clv_context *ctx, const clv_input *input, const void *chosen, clv_result **out) {
    const clv_ksupport_options *options = chosen;
    CLV_TRY(options->path ? clv_ks_walk(ctx, input, options, out) : solve(ctx, input, options, out));
    CLV_TRY(warn_of_fractions(*out));
    CLV_TRY(clv_ks_warn_of_crawling(*out));
    return warn_of_means(ctx, input, options, *out);
}

/* --- evaluation and prediction --- */

static clv_status check_weights(clv_context *ctx, const clv_matrix *weights, int64_t models, int64_t features) {
    if (weights->rows != models || weights->cols != features) {
        return clv_fail(ctx, CLV_EDATA, "the weights are %lld x %lld, but there are %lld models of %lld features",
                        (long long)weights->rows, (long long)weights->cols, (long long)models, (long long)features);
    }
    return clv_matrix_check(ctx, "weights", weights, CLV_KS_LARGEST);
}

/* How far a loss may be off because its intercept, the best one on X less its means, is told on X itself: far from the
 * origin that is a large number, which is rounded. */
static double rounding_of(const job *j, double intercept) {
    double off = j->means ? DBL_EPSILON * intercept : 0;
    return clv_loss_curvature(&j->problem.loss) * (double)j->x.samples * off * off / 2;
}

/* Intercepts that are not said are the best ones. */
static clv_status evaluate_all(job *j, const clv_matrix *weights, const double *intercepts, clv_result *found) {
    double total = 0, gaps = 0, rounding = 0, digits = 0;
    CLV_TRY(check_weights(j->ctx, weights, j->models, j->x.features));
    for (int64_t c = 0; c < j->models; c++) {
        double value = 0, gap = 0, off = 0;
        clv_list w = {0};
        set_signs(j, c);
        clv_status status = row_of(j->ctx, weights, c, &w);
        if (status == CLV_OK) {
            double intercept = intercepts ? intercepts[c] + of_means(j, &w) : NAN;
            status = clv_ks_evaluate(&j->problem, &w, intercepts ? &intercept : NULL, j->x.threads, &value, &gap, &off);
        }
        rounding += intercepts ? rounding_of(j, intercepts[c]) : 0;
        clv_list_free(j->ctx, &w);
        CLV_TRY(status);
        total += value;
        gaps += gap * value;
        digits += off * value;
    }
    clv_result_claim(found, &clv_ksupport_method, total, gaps > 0 ? gaps / total : gaps, j->problem.tol);
    CLV_TRY(clv_result_put_real(found, "rounding", total > 0 ? rounding * fmax(1, 1 / total) : rounding));
    CLV_TRY(clv_result_put_real(found, "gap_rounding",
                                digits > 0 ? fmin(digits, fmax(MOST_ROUNDING * total, gaps / 2)) / total : 0));
    CLV_TRY(clv_result_put_real(found, "gap_noise", digits > 0 ? digits / total : 0));
    CLV_TRY(clv_result_put_integer(found, "certified", j->problem.options.rule == CLV_KSUPPORT_GAP));
    return j->classes_count > 0 ? clv_result_put_reals(found, "classes", j->classes, j->classes_count) : CLV_OK;
}

/* What the answer says of k and lambda is a row of the path, or what the options say. */
static clv_status check_row(clv_context *ctx, const clv_ksupport_options *asked, const clv_result *answer,
                            double lambda) {
    if (asked->path) {
        return clv_ks_check_table(ctx, asked->path, answer, lambda);
    }
    if (clv_result_field(answer, "path.k")) {
        return clv_fail(ctx, CLV_EDATA, "there is the table of a path, but no path was asked for");
    }
    return lambda == asked->lambda
               ? CLV_OK
               : clv_fail(ctx, CLV_EDATA, "lambda is %g, but %g was asked for", lambda, asked->lambda);
}

clv_status clv_ksupport_evaluate_answer(clv_context *ctx, const clv_input *input, const void *options,
                                        const clv_result *answer, clv_result *found) {
    clv_ksupport_options own = *(const clv_ksupport_options *)options;
    const clv_matrix *weights = clv_result_matrix(answer, "weights");
    clv_input data = {.points = input->points, .targets = input->targets};
    int64_t count;
    job j;
    if (!weights) {
        return clv_fail(ctx, CLV_EDATA, "the answer lacks its weights");
    }
    const double *intercepts = clv_result_reals(answer, "intercepts", &count);
    if (intercepts && count != weights->rows) {
        return clv_fail(ctx, CLV_EDATA, "there are %lld intercepts of %lld models", (long long)count,
                        (long long)weights->rows);
    }
    if (!intercepts && own.intercept && answer->method) { /* what a run gave says it; a program may leave it out */
        return clv_fail(ctx, CLV_EDATA, "the answer lacks its intercepts");
    }
    own.k = answer->k;
    own.lambda = clv_result_real(answer, "lambda", own.lambda);
    CLV_TRY(check_row(ctx, options, answer, own.lambda));
    clv_status status = job_new(ctx, &data, &own, &j);
    if (status == CLV_OK) {
        status = evaluate_all(&j, weights, intercepts, found);
    }
    job_free(&j);
    return status;
}

/* What is known of a model, and room for its scores. */
typedef struct predictor {
    const clv_matrix *weights;
    const double *intercepts, *classes;
    int64_t class_count;
    clv_data *scores;        /* samples x models */
    double *margin, *values; /* samples */
    clv_kept room;           /* of these two */
} predictor;

/* Scores of one model over all samples, by its sparse weights. */
static clv_status score_model(const clv_design *x, const predictor *p, int64_t c) {
    clv_list w = {0};
    double intercept = p->intercepts ? p->intercepts[c] : 0, *scores = p->scores->values;
    clv_status status = row_of(x->ctx, p->weights, c, &w);
    if (status == CLV_OK) {
        x->does->margins(x, w.index, w.value, w.count, p->margin);
        for (int64_t m = 0; m < x->samples; m++) {
            scores[m * p->weights->rows + c] = p->margin[m] + intercept;
        }
    }
    clv_list_free(x->ctx, &w);
    return status;
}

static void decide(const predictor *p, int64_t samples) {
    int64_t models = p->weights->rows;
    for (int64_t m = 0; m < samples; m++) {
        const double *score = (const double *)p->scores->values + m * models;
        int64_t best = 0;
        for (int64_t c = 1; c < models; c++) {
            best = score[c] > score[best] ? c : best;
        }
        best = p->class_count == 2 ? score[0] > 0 : best;
        p->values[m] = p->class_count > 0 ? p->classes[best] : score[0];
    }
}

/* The classes themselves where they are small whole numbers, else their places. */
static void label(const predictor *p, clv_result *out) {
    bool whole = true;
    for (int64_t c = 0; c < p->class_count; c++) {
        whole = whole && p->classes[c] == floor(p->classes[c]) && fabs(p->classes[c]) < 0x1p31;
    }
    for (int64_t m = 0; m < out->n; m++) {
        int32_t place = 0;
        while (place + 1 < p->class_count && p->classes[place] != p->values[m]) {
            place++;
        }
        out->labels[m] = whole ? (int32_t)p->values[m] : place;
    }
}

static clv_status predict(const clv_design *x, predictor *p, clv_result **out) {
    int64_t models = p->weights->rows;
    bool fits = p->class_count <= 2 ? models == 1 : models == p->class_count;
    if (!fits || p->class_count == 1) {
        return clv_fail(x->ctx, CLV_EDATA, "%lld models cannot tell %lld classes apart", (long long)models,
                        (long long)p->class_count);
    }
    CLV_TRY(check_weights(x->ctx, p->weights, models, x->features));
    CLV_TRY(clv_data_new_dense(x->ctx, "scores", x->samples, models, CLV_F64, &p->scores));
    p->margin = CLV_TAKE(&p->room, double, x->samples);
    p->values = CLV_TAKE(&p->room, double, x->samples);
    CLV_TRY(p->room.status);
    for (int64_t c = 0; c < models; c++) {
        CLV_TRY(score_model(x, p, c));
    }
    decide(p, x->samples);
    CLV_TRY(clv_result_new(x->ctx, p->class_count > 0 ? x->samples : 0, 0, out));
    (*out)->n = x->samples;
    if ((*out)->labels) {
        label(p, *out);
    }
    CLV_TRY(clv_result_put_reals(*out, "values", p->values, x->samples));
    clv_data *scores = p->scores;
    p->scores = NULL;
    return clv_result_take(*out, "scores", CLV_FIELD_MATRIX, scores);
}

clv_status clv_ksupport_predict_fresh(clv_context *ctx, const clv_input *input, const void *options,
                                      const clv_result *result, const clv_fresh *fresh, clv_result **out) {
    const clv_ksupport_options *own = options;
    predictor p = {.weights = clv_result_matrix(result, "weights"), .room = {.ctx = ctx}};
    clv_design design;
    int64_t count;
    (void)input;
    p.classes = clv_result_reals(result, "classes", &p.class_count);
    p.intercepts = clv_result_reals(result, "intercepts", &count);
    if (!p.weights || (p.intercepts ? count != p.weights->rows : own->intercept)) {
        return clv_fail(ctx, CLV_EUSAGE, "the result has no weights, or not one intercept per model");
    }
    clv_status status = clv_design_new(ctx, fresh->points, own->transposed, clv_threads(own->control.threads), &design);
    if (status == CLV_OK) {
        status = predict(&design, &p, out);
    }
    clv_data_free(p.scores);
    clv_free_kept(&p.room);
    clv_design_free(&design);
    return status;
}

/* --- memory --- */

/* Atoms that fcfw keeps, and room that it has for more: those in use are independent, as many as a working set has
 * features or X has samples at most, and some wait to be dropped. With --atoms all there is no such number. */
static size_t most_atoms(size_t samples, size_t working) {
    size_t used = samples < working ? samples : working;
    return (used + 64) / 4 * 5;
}

size_t clv_ksupport_bytes(const clv_input *input, const void *chosen) {
    const clv_ksupport_options *options = chosen;
    const clv_matrix *x = input->points;
    size_t samples = (size_t)(options->transposed ? x->cols : x->rows);
    size_t features = (size_t)(options->transposed ? x->rows : x->cols);
    size_t k = (size_t)(options->path ? clv_ks_largest_k(options->path) : options->k), number = sizeof(double);
    int solver = clv_ks_choose(options, (int64_t)samples, (int64_t)features);
    int threads = clv_threads(options->control.threads);
    bool sorting = options->prox != CLV_KSUPPORT_SELECT, newton = solver == CLV_KSUPPORT_NEWTON;
    bool sets = solver == CLV_KSUPPORT_FCFW || newton;
    bool gathered = newton || (sets && !x->start && !options->transposed);
    size_t most = 6 * k + 512 < features ? 6 * k + 512 : features, working = gathered ? most : 0;
    size_t dense = sets ? 8 : 15, atoms = sets ? most_atoms(samples, most) : 0; /* newton may hand over to fcfw */
    size_t turned = x->start && !options->transposed ? (size_t)x->start[x->rows] * (number + sizeof(int32_t)) : 0;
    size_t centered = options->intercept && x->values && clv_ks_is_far(x, options->transposed, CLV_KS_FAR)
                          ? samples * features * clv_scalar_bytes(x->scalar)
                          : 0;
    size_t square = solver == CLV_KSUPPORT_ADMM ? clv_ks_admm_memory((int64_t)samples)
                    : newton                    ? clv_ks_newton_memory((int64_t)samples, (int64_t)most)
                                                : 0;
    if (newton && clv_ks_is_narrow((int64_t)samples, (int64_t)features)) {
        square += clv_ks_narrow_memory((int64_t)samples, (int64_t)features, threads);
    }
    return turned + centered + square + features * dense * number + working * samples * number +
           atoms * (samples + 2 * k) * number + samples * 16 * number +
           2 * clv_ksupport_set_memory((int64_t)features, threads, sorting);
}
