/* Matrix pursuit: objects as sparse combinations of each other, and the affinity that this gives.
 *
 * Problem      minimize 1/2 ||X - X W||_F^2 + lambda (||vec W||_k^sp)^2 over n x n matrices W,
 *              X the d x n matrix of the objects. Convex.
 * Reference    equation (10) of Liu et al. 2016, after Lai et al. 2014.
 * Method       the solvers of ksupport, on the map W -> X W (kron.c), whose gradient is looked at
 *              tile by tile (scan.c): fcfw holds n d numbers per atom and the nonzero entries of W,
 *              nothing of size n^2.
 * Certificate  relative-duality-gap, as for ksupport.
 * Affinity     |W| + |W'| without its diagonal, sparse: for ncut and dominant.
 * Cost         2 n^2 d operations per iteration of fcfw. */
#include "methods/pursuit/pursuit.h"

#include "base/options.h"

#include <math.h>
#include <string.h>

/* Entries of points that can be squared and added up; lambda, in units of such squares. */
#define LARGEST 1e100
#define SMALLEST 1e-140
#define LEAST_LAMBDA 1e-140

static clv_status check(clv_context *ctx, const clv_matrix *points, const clv_pursuit_options *options) {
    int64_t n = points->rows, entries;
    if (n < 2 || points->cols < 1) {
        return clv_fail(ctx, CLV_EDATA,
                        "pursuit explains objects by each other: %lld objects of %lld features are too few",
                        (long long)n, (long long)points->cols);
    }
    if (!clv_mul(n, points->cols, &entries) || n > INT32_MAX || entries > INT32_MAX) {
        return clv_fail(ctx, CLV_EDATA, "%lld x %lld points are more than pursuit can hold", (long long)n,
                        (long long)points->cols);
    }
    if (options->k > n * n) {
        return clv_fail(ctx, CLV_EDATA, "k = %lld exceeds the %lld x %lld entries of W", (long long)options->k,
                        (long long)n, (long long)n);
    }
    if (options->radius > 0 && options->solver == CLV_KSUPPORT_ADMM) {
        return clv_fail(ctx, CLV_EUSAGE, "radius = %g: only the solvers fcfw and fista bound the norm",
                        options->radius);
    }
    if (options->zero_diagonal && options->solver == CLV_KSUPPORT_ADMM) {
        return clv_fail(ctx, CLV_EUSAGE, "zero-diagonal: only the solvers fcfw and fista leave out the diagonal");
    }
    return clv_matrix_check(ctx, "the points", points, LARGEST);
}

/* --- a job --- */

typedef struct job {
    clv_pursuit_points points;
    clv_design x;
    clv_ks_problem problem;
} job;

/* The options of ksupport that stand for these. */
static clv_ksupport_options as_ksupport(const clv_pursuit_options *options) {
    clv_ksupport_options same;
    clv_ksupport_defaults(&same);
    same.control = options->control;
    same.control.size = sizeof same;
    same.k = options->k;
    same.loss = CLV_KSUPPORT_SQUARES;
    same.solver = options->solver;
    same.lambda = options->lambda;
    same.ridge = 0;
    same.radius = options->radius;
    same.prox = options->prox;
    same.inner = options->inner;
    same.inner_accuracy = options->inner_accuracy;
    same.atoms = options->atoms;
    same.step = options->step;
    same.momentum = options->momentum;
    same.rho = options->rho;
    same.rule = options->rule;
    same.screening = same.working_set = 0;
    return same;
}

/* The caller frees the points of the job also on failure. */
static clv_status job_new(clv_context *ctx, const clv_matrix *points, const clv_pursuit_options *options, job *j) {
    clv_ksupport_options same = as_ksupport(options);
    int threads = clv_threads(options->control.threads);
    *j = (job){0};
    CLV_TRY(check(ctx, points, options));
    CLV_TRY(clv_pursuit_points_new(ctx, points, options->zero_diagonal, threads, &j->points));
    if (j->points.longest > 0 && ldexp(1, j->points.exponent) < SMALLEST) {
        return clv_fail(ctx, CLV_EDATA,
                        "no entry of the points is larger than %g, and their squares vanish: scale them",
                        ldexp(1, j->points.exponent));
    }
    double lambda = ldexp(options->lambda, -2 * j->points.exponent);
    if (!(lambda >= LEAST_LAMBDA && lambda <= 1 / LEAST_LAMBDA) && !(options->radius > 0)) {
        return clv_fail(ctx, CLV_EDATA,
                        "lambda = %g is too small or too large for points with entries up to %g: scale them",
                        options->lambda, ldexp(1, j->points.exponent));
    }
    same.rho = ldexp(same.rho, -2 * j->points.exponent);
    j->x = clv_pursuit_design(&j->points);
    j->problem = (clv_ks_problem){
        .ctx = ctx,
        .x = &j->x,
        .loss = {.kind = CLV_KSUPPORT_SQUARES, .samples = j->x.samples, .y = j->points.points, .threads = threads},
        .options = same,
        .k = options->k,
        .lambda = lambda,
        .radius = options->radius,
        .unit = ldexp(1, 2 * j->points.exponent),
        .tol = clv_ks_tolerance(&same)};
    return CLV_OK;
}

/* W as CSR from its entries in the order of their places. */
static clv_status take_matrix(clv_context *ctx, const clv_list *w, int64_t n, clv_data **out) {
    CLV_TRY(clv_data_new_csr(ctx, "W", n, n, w->count, out));
    clv_data *m = *out;
    int64_t e = 0;
    for (int64_t i = 0; i < n; i++) {
        for (; e < w->count && w->index[e] / n == i; e++) {
            m->index[e] = (int32_t)(w->index[e] % n);
            ((double *)m->values)[e] = w->value[e];
        }
        m->start[i + 1] = e;
    }
    return CLV_OK;
}

/* Objects that no other one explains have no edge in the graph but by whom they explain. */
static clv_status warn_of_unexplained(const job *j, const clv_list *w, clv_result *result) {
    int64_t n = result->n, explained = 0;
    char *seen = CLV_NEW0(result->ctx, char, n);
    if (!seen) {
        return CLV_ENOMEM;
    }
    for (int64_t e = 0; e < w->count; e++) {
        int64_t by = w->index[e] / n, object = w->index[e] % n;
        explained += by != object && w->value[e] != 0 && !seen[object];
        seen[object] |= by != object && w->value[e] != 0;
    }
    clv_free(result->ctx, seen);
    return 2 * explained < n
               ? clv_result_warn(result,
                                 "%lld of %lld objects are explained by no other, so that the graph says little of "
                                 "them: try a larger -k, or a %s",
                                 (long long)(n - explained), (long long)n,
                                 j->problem.radius > 0 ? "larger --radius" : "smaller --lambda")
               : CLV_OK;
}

/* Where lambda is far below the squared length of the objects, W has several times k entries, which take long to find.
 * Objects of length 1 are no answer to a lambda below 1, and a larger lambda is another problem. */
static clv_status warn_of_length(const job *j, clv_result *result) {
    double square = j->points.longest * j->points.longest * j->problem.unit,
           lambda = j->problem.lambda * j->problem.unit;
    bool small = !result->certificate.holds && !(j->problem.radius > 0) && lambda >= 1 && lambda < square;
    return small ? clv_result_warn(result,
                                   "lambda = %.3g is small beside the squared length of the objects, up to %.3g, which "
                                   "makes the problem hard: try --scale unit-rows",
                                   lambda, square)
                 : CLV_OK;
}

static clv_status fill_result(const job *j, const clv_ks_model *model, clv_result *result) {
    clv_data *weights;
    result->n = j->points.n;
    result->k = j->problem.k;
    CLV_TRY(take_matrix(j->problem.ctx, &model->w, j->points.n, &weights));
    CLV_TRY(clv_result_take(result, "weights", CLV_FIELD_SPARSE, weights));
    CLV_TRY(clv_result_put_integer(result, "data_passes", (int64_t)(model->passes + 0.5)));
    CLV_TRY(clv_ks_warn_of_crawling(result));
    CLV_TRY(warn_of_length(j, result));
    return warn_of_unexplained(j, &model->w, result);
}

static clv_status drive(const job *j, clv_result **out) {
    clv_context *ctx = j->problem.ctx;
    clv_ks_model *model;
    CLV_TRY(clv_result_new(ctx, 0, 0, out));
    CLV_TRY(clv_ks_drive(&j->problem, &clv_pursuit_method, *out, &model));
    clv_status status = fill_result(j, model, *out);
    clv_ks_model_free(ctx, model);
    return status;
}

clv_status clv_pursuit_solve(clv_context *ctx, const clv_input *input, const void *options, clv_result **out) {
    job j;
    clv_status status = job_new(ctx, input->points, options, &j);
    if (status == CLV_OK) {
        status = drive(&j, out);
    }
    clv_pursuit_points_free(&j.points);
    return status;
}

/* --- evaluation --- */

static clv_status list_matrix(clv_context *ctx, const clv_matrix *w, clv_list *out) {
    double *row = CLV_NEW(ctx, double, w->cols);
    clv_status status = row ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0; status == CLV_OK && i < w->rows; i++) {
        clv_matrix_row(w, i, row);
        status = clv_list_append(ctx, out, row, w->cols, NULL, i * w->cols);
    }
    clv_free(ctx, row);
    return status;
}

static clv_status check_diagonal(const job *j, const clv_list *w) {
    for (int64_t e = 0; j->points.zero_diagonal && e < w->count; e++) {
        int64_t row = w->index[e] / j->points.n;
        if (row == w->index[e] % j->points.n) {
            return clv_fail(j->problem.ctx, CLV_EDATA, "entry %lld of the diagonal of W is not 0", (long long)row + 1);
        }
    }
    return CLV_OK;
}

static clv_status evaluate(const job *j, const clv_matrix *w, clv_result *found) {
    clv_context *ctx = j->problem.ctx;
    clv_list list = {0};
    double value = NAN, gap = NAN;
    CLV_TRY(clv_matrix_check(ctx, "W", w, 1e150));
    clv_status status = list_matrix(ctx, w, &list);
    if (status == CLV_OK) {
        status = check_diagonal(j, &list);
    }
    if (status == CLV_OK) {
        status = clv_ks_evaluate(&j->problem, &list, NULL, j->points.threads, &value, &gap, NULL);
    }
    clv_list_free(ctx, &list);
    CLV_TRY(status);
    clv_result_claim(found, &clv_pursuit_method, value, gap, j->problem.tol);
    return clv_result_put_integer(found, "certified", j->problem.options.rule == CLV_KSUPPORT_GAP);
}

clv_status clv_pursuit_evaluate_answer(clv_context *ctx, const clv_input *input, const void *options,
                                       const clv_result *answer, clv_result *found) {
    clv_pursuit_options own = *(const clv_pursuit_options *)options;
    const clv_matrix *w;
    job j;
    CLV_TRY(clv_answer_matrix(ctx, answer, "weights", answer->n, answer->n, &w));
    own.k = answer->k;
    clv_status status = job_new(ctx, input->points, &own, &j);
    if (status == CLV_OK) {
        status = evaluate(&j, w, found);
    }
    clv_pursuit_points_free(&j.points);
    return status;
}

/* --- the affinity --- */

/* Row i of `to` as |a| + |b| off the diagonal, from rows whose columns rise. Returns where it ends. */
static int64_t add_magnitudes(const clv_matrix *a, const clv_matrix *b, int64_t i, clv_data *to, int64_t at) {
    const clv_matrix *const parts[] = {a, b};
    int64_t next[] = {a->start[i], b->start[i]};
    for (;;) {
        int32_t column = INT32_MAX;
        double sum = 0;
        for (int s = 0; s < 2; s++) {
            bool left = next[s] < parts[s]->start[i + 1];
            column = left && parts[s]->index[next[s]] < column ? parts[s]->index[next[s]] : column;
        }
        if (column == INT32_MAX) {
            return at;
        }
        for (int s = 0; s < 2; s++) {
            for (; next[s] < parts[s]->start[i + 1] && parts[s]->index[next[s]] == column; next[s]++) {
                sum += fabs(((const double *)parts[s]->values)[next[s]]);
            }
        }
        if (column != i) {
            to->index[at] = column;
            ((double *)to->values)[at++] = sum;
        }
    }
}

clv_status clv_pursuit_affinity(clv_context *ctx, const clv_matrix *w, clv_data **out) {
    *out = NULL;
    CLV_NEED(ctx, w);
    clv_data *turned = NULL, *again = NULL;
    int64_t n = w->rows;
    if (!clv_is_sparse(w) || w->rows != w->cols) {
        return clv_fail(ctx, CLV_EDATA, "the affinity of a pursuit is made of its sparse n x n weights");
    }
    CLV_TRY(clv_matrix_check(ctx, "W", w, 1e150));
    clv_status status = clv_csr_transpose(ctx, "W'", w, &turned);
    if (status == CLV_OK) {
        status = clv_csr_transpose(ctx, "W", &turned->matrix, &again); /* columns rise, whatever they did in w */
    }
    if (status == CLV_OK) {
        status = clv_data_new_csr(ctx, "|W| + |W'|", n, n, 2 * turned->start[n], out);
    }
    for (int64_t i = 0; status == CLV_OK && i < n; i++) {
        (*out)->start[i + 1] = add_magnitudes(&again->matrix, &turned->matrix, i, *out, (*out)->start[i]);
    }
    clv_data_free(turned);
    clv_data_free(again);
    return status;
}

size_t clv_pursuit_bytes(const clv_input *input, const void *chosen) {
    const clv_pursuit_options *options = chosen;
    const clv_matrix *points = input->points;
    size_t n = (size_t)points->rows, d = (size_t)points->cols, k = (size_t)options->k, number = sizeof(double);
    int threads = clv_threads(options->control.threads);
    size_t common = n * d * (8 * number + 2 * sizeof(float)) + (size_t)threads * CLV_PURSUIT_ROWS * n * sizeof(float) +
                    8 * k * number + 2 * clv_ksupport_set_memory(4 * options->k, threads, false);
    if (options->solver == CLV_KSUPPORT_FCFW) {
        return common + 32 * (n * d + 2 * k) * number;
    }
    bool sorting = options->prox != CLV_KSUPPORT_SELECT;
    size_t iterates = 8 * n * n * number + clv_ksupport_set_memory(points->rows * points->rows, threads, sorting);
    if (options->solver == CLV_KSUPPORT_FISTA) {
        return common + iterates;
    }
    return common + iterates + (2 * n * n + 4 * n * d) * number + clv_pursuit_pull_memory(points->rows, points->cols);
}
