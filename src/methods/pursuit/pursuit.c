/* Matrix pursuit: objects as sparse combinations of each other, and the affinity that this gives.
 *
 * Problem      minimize 1/2 ||X - X W||_F^2 + lambda (||vec W||_k^sp)^2 over n x n matrices W,
 *              X the d x n matrix of the objects. Convex.
 * Reference    equation (10) of Liu et al. 2016, after Lai et al. 2014.
 * Method       the solvers of ksupport, on the map W -> X W (kron.c), whose gradient is looked at
 *              tile by tile (scan.c): fcfw holds n d numbers an atom and the nonzero entries of W,
 *              nothing of size n^2.
 * Certificate  relative-duality-gap, as for ksupport.
 * Affinity     |W| + |W'| without its diagonal, sparse: for ncut and dominant.
 * Cost         2 n^2 d operations an iteration of fcfw. */
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
    same.step = options->step;
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
        return clv_fail(ctx, CLV_EDATA, "lambda = %g is out of all proportion to points with entries up to %g",
                        options->lambda, ldexp(1, j->points.exponent));
    }
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

static clv_status fill_result(const job *j, const clv_ks_model *model, clv_result *result) {
    clv_data *weights;
    result->n = j->points.n;
    result->k = j->problem.k;
    CLV_TRY(take_matrix(j->problem.ctx, &model->w, j->points.n, &weights));
    CLV_TRY(clv_result_take(result, "weights", CLV_FIELD_SPARSE, weights));
    return clv_result_put_integer(result, "data_passes", (int64_t)(model->passes + 0.5));
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
        int64_t count = 0;
        clv_matrix_row(w, i, row);
        for (int64_t j = 0; j < w->cols; j++) {
            count += row[j] != 0;
        }
        if (out->count + count > out->capacity) {
            status = clv_list_reserve(ctx, out, 2 * (out->count + count));
        }
        for (int64_t j = 0; status == CLV_OK && j < w->cols; j++) {
            if (row[j] != 0) {
                /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is room, as this row has been counted */
                out->index[out->count] = i * w->cols + j;
                out->value[out->count++] = row[j];
            }
        }
    }
    clv_free(ctx, row);
    return status;
}

static clv_status evaluate(const job *j, const clv_matrix *w, clv_result *found) {
    clv_context *ctx = j->problem.ctx;
    clv_list list = {0};
    double value = NAN, gap = NAN;
    CLV_TRY(clv_matrix_check(ctx, "W", w, 1e150));
    clv_status status = list_matrix(ctx, w, &list);
    for (int64_t e = 0; status == CLV_OK && j->points.zero_diagonal && e < list.count; e++) {
        if (list.index[e] / j->points.n == list.index[e] % j->points.n) {
            status = clv_fail(ctx, CLV_EDATA, "entry %lld of the diagonal of W is not 0",
                              (long long)(list.index[e] / j->points.n) + 1);
        }
    }
    if (status == CLV_OK) {
        status = clv_ks_evaluate(&j->problem, &list, NULL, j->points.threads, &value, &gap);
    }
    clv_list_free(ctx, &list);
    clv_result_claim(found, &clv_pursuit_method, value, gap, j->problem.tol);
    return status;
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

/* Entries (i, j) and (j, i) of |W| + |W'| for each entry of W off the diagonal; rows are merged afterwards. */
static clv_status spread(clv_context *ctx, const clv_matrix *w, clv_data **out) {
    int64_t n = w->rows, total = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t e = w->start[i]; e < w->start[i + 1]; e++) {
            total += w->index[e] != i;
        }
    }
    CLV_TRY(clv_data_new_csr(ctx, "|W| + |W'|", n, n, 2 * total, out));
    clv_data *a = *out;
    memset(a->start, 0, (size_t)(n + 1) * sizeof *a->start);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t e = w->start[i]; e < w->start[i + 1]; e++) {
            if (w->index[e] != i) {
                a->start[i + 1]++;
                a->start[w->index[e] + 1]++;
            }
        }
    }
    for (int64_t i = 0; i < n; i++) {
        a->start[i + 1] += a->start[i];
    }
    return CLV_OK;
}

static void place(clv_data *a, int64_t *next, int64_t i, int64_t j, double value) {
    a->index[next[i]] = (int32_t)j;
    ((double *)a->values)[next[i]++] = fabs(value);
}

/* Insertion sort of each row by column, equal columns added up; rows close up to the front. */
static void merge_rows(clv_data *a, int64_t n) {
    double *values = a->values;
    int64_t to = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t first = a->start[i], end = a->start[i + 1], row = to;
        a->start[i] = to;
        for (int64_t e = first; e < end; e++) {
            int32_t column = a->index[e];
            double value = values[e];
            int64_t at = to;
            while (at > row && a->index[at - 1] > column) {
                at--;
            }
            if (at > row && a->index[at - 1] == column) {
                values[at - 1] += value;
                continue;
            }
            memmove(a->index + at + 1, a->index + at, (size_t)(to - at) * sizeof *a->index);
            memmove(values + at + 1, values + at, (size_t)(to - at) * sizeof *values);
            a->index[at] = column;
            values[at] = value;
            to++;
        }
    }
    a->start[n] = to;
}

clv_status clv_pursuit_affinity(clv_context *ctx, const clv_matrix *w, clv_data **out) {
    *out = NULL;
    if (!clv_is_sparse(w) || w->rows != w->cols) {
        return clv_fail(ctx, CLV_EDATA, "the affinity of a pursuit is made of its sparse n x n weights");
    }
    CLV_TRY(clv_matrix_check(ctx, "W", w, 1e150));
    int64_t *next = CLV_NEW(ctx, int64_t, w->rows);
    clv_status status = next ? spread(ctx, w, out) : CLV_ENOMEM;
    if (status == CLV_OK) {
        const double *values = w->values;
        memcpy(next, (*out)->start, (size_t)w->rows * sizeof *next);
        for (int64_t i = 0; i < w->rows; i++) {
            for (int64_t e = w->start[i]; e < w->start[i + 1]; e++) {
                if (w->index[e] != i) {
                    place(*out, next, i, w->index[e], values[e]);
                    place(*out, next, w->index[e], i, values[e]);
                }
            }
        }
        merge_rows(*out, w->rows);
    }
    clv_free(ctx, next);
    return status;
}

size_t clv_pursuit_bytes(const clv_input *input, const void *chosen) {
    const clv_pursuit_options *options = chosen;
    const clv_matrix *points = input->points;
    size_t n = (size_t)points->rows, d = (size_t)points->cols, k = (size_t)options->k, number = sizeof(double);
    int threads = clv_threads(options->control.threads);
    size_t common = n * d * (6 * number + 2 * sizeof(float)) + (size_t)threads * CLV_PURSUIT_ROWS * n * sizeof(float) +
                    8 * k * number + clv_ksupport_set_memory(4 * options->k, threads, false);
    if (options->solver == CLV_KSUPPORT_FCFW) {
        return common + 32 * (n * d + 2 * k) * number;
    }
    bool sorting = options->prox != CLV_KSUPPORT_SELECT;
    return common + 8 * n * n * number + clv_ksupport_set_memory(points->rows * points->rows, threads, sorting);
}
