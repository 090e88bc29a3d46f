/* A path: every k with every lambda, from large lambda to small, each started from the solution before it; scored on
 * validation data where there are some. */
#include "methods/ksupport/ksupport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* --- scores --- */

static double mean(const double *y, int64_t n) {
    return clv_sum(y, n, 1) / (double)n;
}

/* Squares: the share of the variance that is explained; classes: the share of samples that are right. */
static double score_of(const clv_ksupport_options *options, const double *y, const double *predicted, int64_t n) {
    double wrong = 0, total = 0, center = mean(y, n);
    for (int64_t m = 0; m < n; m++) {
        bool squares = options->loss == CLV_KSUPPORT_SQUARES;
        wrong += squares ? (y[m] - predicted[m]) * (y[m] - predicted[m]) : y[m] != predicted[m];
        total += squares ? (y[m] - center) * (y[m] - center) : 1;
    }
    return 1 - wrong / total;
}

static clv_status score(clv_context *ctx, const clv_ksupport_options *options, const clv_result *result,
                        const clv_ksupport_path_data *data, double *out) {
    const clv_matrix *x = data->validation;
    int64_t n = x ? (options->transposed ? x->cols : x->rows) : 0;
    double *predicted = CLV_NEW(ctx, double, n);
    clv_status status = predicted ? CLV_OK : CLV_ENOMEM;
    *out = NAN;
    if (status == CLV_OK && x) {
        status = clv_ksupport_predict(ctx, x, options, clv_data_matrix(result->weights), result->intercepts,
                                      result->classes, result->classes_count, predicted, NULL);
    }
    if (status == CLV_OK && x) {
        *out = score_of(options, data->validation_y, predicted, n);
    }
    clv_free(ctx, predicted);
    return status;
}

/* --- the path --- */

typedef struct walk {
    clv_context *ctx;
    const clv_ksupport_path_data *data;
    clv_ksupport_options options;
    double *start;    /* weights to start from, dense; NULL before the first */
    clv_result *best; /* so far; NULL before the first */
    double score;     /* its score */
} walk;

static clv_status keep_start(walk *w, const clv_matrix *weights) {
    int64_t entries;
    if (!w->start) {
        w->start = clv_mul(weights->rows, weights->cols, &entries) ? CLV_NEW(w->ctx, double, entries) : NULL;
    }
    if (!w->start) {
        return CLV_ENOMEM;
    }
    for (int64_t c = 0; c < weights->rows; c++) {
        clv_matrix_row(weights, c, w->start + c * weights->cols);
    }
    w->options.start = "weights";
    w->options.start_weights = w->start;
    w->options.start_models = weights->rows;
    return CLV_OK;
}

static clv_status one_step(walk *w, clv_ksupport_path_row *row) {
    clv_result *result = NULL;
    w->options.k = row->k;
    w->options.lambda = row->lambda;
    CLV_TRY(clv_ksupport(w->ctx, w->data->x, w->data->y, &w->options, &result));
    const clv_matrix *weights = clv_data_matrix(result->weights);
    row->objective = result->objective.value;
    row->gap = result->certificate.value;
    row->iterations = result->iterations;
    row->passes = result->passes;
    row->seconds = result->seconds;
    row->nonzeros = weights->start[weights->rows];
    row->stop = result->stop;
    clv_status status = score(w->ctx, &w->options, result, w->data, &row->score);
    if (status == CLV_OK) {
        status = keep_start(w, weights);
    }
    if (status == CLV_OK && (!w->best || isnan(row->score) || row->score > w->score)) {
        clv_result *last = w->best;
        w->best = result;
        w->score = row->score;
        result = last;
    }
    clv_result_free(result);
    return status;
}

/* All rows, one after the other, until there is no time for another one. */
static clv_status walk_rows(walk *w, const double *lambda, clv_ksupport_path_row *rows) {
    const clv_ksupport_path_data *data = w->data;
    double limit = w->options.control.time_limit, began = clv_seconds();
    int64_t count = data->k_count * data->lambda_count;
    memset(rows, 0, (size_t)count * sizeof *rows);
    for (int64_t i = 0; i < count; i++) {
        double left = limit - (clv_seconds() - began);
        clv_ksupport_path_row row = {.k = data->k[i / data->lambda_count],
                                     .lambda = lambda[data->lambda_count - 1 - i % data->lambda_count]};
        if (i > 0 && ((limit > 0 && left <= 0) || clv_interrupted(w->ctx))) {
            return CLV_OK;
        }
        w->options.control.time_limit = limit > 0 ? fmax(left, 1e-9) : 0;
        clv_status status = one_step(w, &row);
        if (status == CLV_EINTERRUPTED && i > 0) {
            return CLV_OK;
        }
        CLV_TRY(status);
        rows[i] = row;
    }
    return CLV_OK;
}

static clv_status check_lists(clv_context *ctx, const clv_ksupport_path_data *data) {
    if (data->k_count < 1 || data->lambda_count < 1) {
        return clv_fail(ctx, CLV_EUSAGE, "a path needs at least one k and one lambda");
    }
    for (int64_t i = 0; i < data->lambda_count; i++) {
        if (!(data->lambda[i] > 0) || !isfinite(data->lambda[i])) {
            return clv_fail(ctx, CLV_EUSAGE, "lambda %lld of the path is %g, not a positive number", (long long)i + 1,
                            data->lambda[i]);
        }
    }
    return CLV_OK;
}

/* Targets to score on must be of the classes that there are models for. */
static clv_status check_validation(clv_context *ctx, const clv_ksupport_path_data *data,
                                   const clv_ksupport_options *options) {
    double *classes = NULL;
    int64_t count;
    if (!data->validation || options->loss != CLV_KSUPPORT_LOGISTIC) {
        return CLV_OK;
    }
    int64_t samples = options->transposed ? data->x->cols : data->x->rows;
    int64_t fresh = options->transposed ? data->validation->cols : data->validation->rows;
    clv_status status = clv_ks_classes(ctx, data->y, samples, &classes, &count);
    for (int64_t m = 0; status == CLV_OK && m < fresh; m++) {
        if (!bsearch(&data->validation_y[m], classes, (size_t)count, sizeof *classes, by_value)) {
            status = clv_fail(ctx, CLV_EDATA, "y of validation sample %lld is %g, which no sample of X has",
                              (long long)m + 1, data->validation_y[m]);
        }
    }
    clv_free(ctx, classes);
    return status;
}

clv_status clv_ksupport_path(clv_context *ctx, const clv_ksupport_path_data *data, const clv_ksupport_options *options,
                             clv_ksupport_path_row *rows, clv_result **best) {
    walk w = {.ctx = ctx, .data = data, .options = *options};
    if (best) {
        *best = NULL;
    }
    CLV_TRY(check_lists(ctx, data));
    CLV_TRY(check_validation(ctx, data, options));
    double *lambda = CLV_NEW(ctx, double, data->lambda_count);
    if (!lambda) {
        return CLV_ENOMEM;
    }
    memcpy(lambda, data->lambda, (size_t)data->lambda_count * sizeof *lambda);
    qsort(lambda, (size_t)data->lambda_count, sizeof *lambda, by_value);
    clv_status status = walk_rows(&w, lambda, rows);
    if (status == CLV_OK && best) {
        *best = w.best;
        w.best = NULL;
    }
    clv_result_free(w.best);
    clv_free(ctx, lambda);
    clv_free(ctx, w.start);
    return status;
}
