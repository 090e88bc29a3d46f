/* Answers of ksupport: solvers, layouts and corrections agree; the gap bounds the distance to the optimum; the
 * objective of fcfw never rises; screening drops nothing that matters; hostile input is told apart. */
#include "methods/ksupport/ksupport.h"

#include "base/options.h"

#include "../unit/failing.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>

enum { SAMPLES = 40, FEATURES = 150, DECISIVE = 10, K = 9, STEPS = 40 };

typedef struct data {
    double x[SAMPLES * FEATURES], turned[SAMPLES * FEATURES], y[SAMPLES];
    float single[SAMPLES * FEATURES];
    clv_matrix dense, transposed, floats;
} data;

/* Gaussian features, the first ten of which decide. */
static void make_data(data *d, uint64_t seed, clv_ksupport_loss loss) {
    clv_rng rng = clv_rng_stream(seed, 0);
    for (int64_t m = 0; m < SAMPLES; m++) {
        double score = 0;
        for (int64_t j = 0; j < FEATURES; j++) {
            double entry = clv_rng_normal(&rng);
            d->x[m * FEATURES + j] = d->turned[j * SAMPLES + m] = (double)(float)entry;
            d->single[m * FEATURES + j] = (float)entry;
            score += j < DECISIVE ? entry : 0;
        }
        score += clv_rng_normal(&rng);
        d->y[m] = loss == CLV_KSUPPORT_SQUARES ? score + 2 : score > 0.5 ? 7 : -3;
    }
    d->dense = (clv_matrix){SAMPLES, FEATURES, CLV_F64, d->x, NULL, NULL};
    d->transposed = (clv_matrix){FEATURES, SAMPLES, CLV_F64, d->turned, NULL, NULL};
    d->floats = (clv_matrix){SAMPLES, FEATURES, CLV_F32, d->single, NULL, NULL};
}

static clv_ksupport_options defaults(int loss) {
    clv_ksupport_options options;
    clv_ksupport_defaults(&options);
    options.k = K;
    options.loss = loss;
    options.lambda = loss == CLV_KSUPPORT_SQUARES ? 3 : 0.3;
    options.control.tol = 1e-6;
    options.control.max_iter = 100000;
    options.control.threads = 1;
    return options;
}

static clv_matrix column(const clv_matrix *x, const double *y, const clv_ksupport_options *options) {
    return (clv_matrix){options->transposed ? x->cols : x->rows, 1, CLV_F64, y, NULL, NULL};
}

static clv_result *solve(clv_context *ctx, const clv_matrix *x, const double *y, const clv_ksupport_options *options) {
    clv_result *result = NULL;
    clv_matrix targets = column(x, y, options);
    clv_status status = clv_ksupport(ctx, &(clv_input){.points = x, .targets = &targets}, options, &result);
    if (status < 0) {
        print_message("%s\n", clv_message(ctx));
    }
    assert_int_equal(status, CLV_OK);
    return result;
}

static void expect_from(clv_context *ctx, const clv_input *input, const clv_ksupport_options *options,
                        clv_status status, const char *words) {
    clv_result *result = NULL;
    assert_int_equal(clv_ksupport(ctx, input, options, &result), status);
    assert_null(result);
    if (!strstr(clv_message(ctx), words)) {
        print_message("%s\n", clv_message(ctx));
    }
    assert_non_null(strstr(clv_message(ctx), words));
}

static void expect(clv_context *ctx, const clv_matrix *x, const double *y, const clv_ksupport_options *options,
                   clv_status status, const char *words) {
    clv_matrix targets = column(x, y, options);
    expect_from(ctx, &(clv_input){.points = x, .targets = &targets}, options, status, words);
}

/* What weights are worth, or NULL; intercepts that are not given are the best ones. */
static clv_result *evaluate(clv_context *ctx, const data *d, const clv_ksupport_options *options,
                            const clv_matrix *weights, clv_status expected) {
    clv_matrix targets = column(&d->dense, d->y, options);
    clv_result *answer, *found;
    assert_int_equal(clv_result_new(ctx, 0, options->k, &answer), CLV_OK);
    answer->n = SAMPLES;
    assert_int_equal(
        clv_result_put(answer,
                       &(clv_field){.name = "weights", .kind = CLV_FIELD_SPARSE, .count = 1, .matrix = weights}),
        CLV_OK);
    assert_int_equal(
        clv_ksupport_evaluate(ctx, &(clv_input){.points = &d->dense, .targets = &targets}, options, answer, &found),
        expected);
    assert_int_equal(found != NULL, expected == CLV_OK);
    clv_result_free(answer);
    return found;
}

/* The least value, known to 1e-10 or so. */
static double optimum(clv_context *ctx, const data *d, clv_ksupport_options options) {
    options.solver = CLV_KSUPPORT_NEWTON;
    options.radius = 0;
    options.control.tol = 1e-10;
    clv_result *result = solve(ctx, &d->dense, d->y, &options);
    double value = result->objective.value * (1 - fmax(result->certificate.value, 0));
    if (result->certificate.value > 1e-8) {
        print_message("loss %d ridge %g intercept %d: %g after %lld\n", options.loss, options.ridge, options.intercept,
                      result->certificate.value, (long long)result->iterations);
    }
    assert_true(result->certificate.value <= 1e-8);
    clv_result_free(result);
    return value;
}

/* --- agreement --- */

static void check_against(clv_context *ctx, const clv_matrix *x, const data *d, const clv_ksupport_options *options,
                          double least) {
    clv_result *result = solve(ctx, x, d->y, options);
    double value = result->objective.value, gap = result->certificate.value * value;
    if (result->stop != CLV_CONVERGED) {
        print_message("%s inner %d: stop %s after %lld, gap %g\n", result->solver, options->inner,
                      clv_stop_name(result->stop), (long long)result->iterations, result->certificate.value);
    }
    assert_int_equal(result->stop, CLV_CONVERGED);
    assert_true(result->certificate.holds);
    assert_true(value >= least * (1 - 1e-9));
    assert_true(gap >= value - least - 1e-9 * least);
    assert_true(value - least <= 1.1 * options->control.tol * value);
    clv_result_free(result);
}

static void test_solvers_agree(void **state) {
    clv_context *ctx = *state;
    static data d;
    for (int trial = 0; trial < 8; trial++) {
        int loss = trial % 2;
        clv_ksupport_options options = defaults(loss);
        make_data(&d, (uint64_t)trial, (clv_ksupport_loss)loss);
        options.intercept = trial / 2 % 2;
        options.ridge = trial / 4 ? 0 : 1e-2;
        double least = optimum(ctx, &d, options);
        for (int solver = CLV_KSUPPORT_FCFW; solver <= CLV_KSUPPORT_NEWTON; solver++) {
            options.solver = solver;
            check_against(ctx, &d.dense, &d, &options, least);
        }
        options.solver = CLV_KSUPPORT_FISTA;
        options.step = CLV_KSUPPORT_FIXED;
        options.prox = CLV_KSUPPORT_BOX;
        check_against(ctx, &d.dense, &d, &options, least);
        options.solver = CLV_KSUPPORT_FCFW;
        options.control.tol = 1e-3;
        options.inner = CLV_KSUPPORT_PQN;
        check_against(ctx, &d.dense, &d, &options, least);
        options.inner = CLV_KSUPPORT_PAIRWISE;
        check_against(ctx, &d.dense, &d, &options, least);
    }
}

static clv_data *sparse_copy(clv_context *ctx, const clv_matrix *dense) {
    clv_data *out;
    int64_t at = 0;
    assert_int_equal(clv_data_new_csr(ctx, "copy", dense->rows, dense->cols, dense->rows * dense->cols, &out), CLV_OK);
    for (int64_t i = 0; i < dense->rows; i++) {
        for (int64_t j = 0; j < dense->cols; j++, at++) {
            out->index[at] = (int32_t)j;
            ((double *)out->values)[at] = ((const double *)dense->values)[at];
        }
        out->start[i + 1] = at;
    }
    return out;
}

static void test_layouts_agree(void **state) {
    clv_context *ctx = *state;
    static data d;
    for (int solver = CLV_KSUPPORT_FCFW; solver <= CLV_KSUPPORT_NEWTON; solver++) {
        clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
        make_data(&d, 77, CLV_KSUPPORT_LOGISTIC);
        double least = optimum(ctx, &d, options);
        clv_data *rows = sparse_copy(ctx, &d.dense), *columns = sparse_copy(ctx, &d.transposed);
        options.solver = solver;
        check_against(ctx, &d.floats, &d, &options, least);
        check_against(ctx, clv_data_matrix(rows), &d, &options, least);
        options.transposed = 1;
        check_against(ctx, &d.transposed, &d, &options, least);
        check_against(ctx, clv_data_matrix(columns), &d, &options, least);
        clv_data_free(rows);
        clv_data_free(columns);
    }
}

/* Working sets need many features before they are used at all. */
static void test_working_set_and_threads(void **state) {
    clv_context *ctx = *state;
    enum { MANY = 4000, FEW = 30 };
    double *x = malloc(MANY * FEW * sizeof *x), y[FEW];
    clv_rng rng = clv_rng_stream(5, 0);
    for (int64_t m = 0; m < FEW; m++) {
        y[m] = m % 3 == 0;
        for (int64_t j = 0; j < MANY; j++) {
            x[m * MANY + j] = clv_rng_normal(&rng) + (j < 20 ? y[m] : 0);
        }
    }
    double *turned = malloc(MANY * FEW * sizeof *turned);
    for (int64_t e = 0; e < MANY * FEW; e++) {
        turned[e % MANY * FEW + e / MANY] = x[e];
    }
    clv_matrix view = {FEW, MANY, CLV_F64, x, NULL, NULL}, by_features = {MANY, FEW, CLV_F64, turned, NULL, NULL};
    clv_data *sparse = sparse_copy(ctx, &view);
    const clv_matrix *layouts[] = {&view, &by_features, clv_data_matrix(sparse)};
    clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
    options.control.tol = 1e-7;
    options.solver = CLV_KSUPPORT_NEWTON;
    clv_result *exact = solve(ctx, &view, y, &options);
    options.solver = CLV_KSUPPORT_FCFW;
    for (size_t layout = 0; layout < CLV_COUNT(layouts); layout++) {
        options.transposed = layouts[layout] == &by_features;
        for (int chosen = 0; chosen < 4; chosen++) {
            options.working_set = chosen / 2;
            options.screening = chosen % 2;
            options.control.threads = 1;
            clv_result *one = solve(ctx, layouts[layout], y, &options);
            options.control.threads = 3;
            clv_result *three = solve(ctx, layouts[layout], y, &options);
            assert_true(one->certificate.holds);
            assert_true(fabs(one->objective.value - exact->objective.value) <= 2e-7 * exact->objective.value);
            assert_true(one->objective.value == three->objective.value);
            assert_true(one->certificate.value == three->certificate.value);
            assert_int_equal(one->iterations, three->iterations);
            clv_result_free(one);
            clv_result_free(three);
        }
    }
    clv_result_free(exact);
    clv_data_free(sparse);
    free(turned);
    free(x);
}

/* --- theory --- */

/* Many samples of few features, in every layout: newton on features x features, against fista, on any threads. Two
 * features are the same, so that the curvature is singular. */
static void test_few_features(void **state) {
    clv_context *ctx = *state;
    enum { MANY = 6000, FEW = 12 };
    double *x = malloc(MANY * FEW * sizeof *x), *turned = malloc(MANY * FEW * sizeof *x), *y = malloc(MANY * sizeof *y);
    clv_rng rng = clv_rng_stream(11, 0);
    for (int64_t m = 0; m < MANY; m++) {
        double score = clv_rng_normal(&rng);
        for (int64_t j = 0; j < FEW; j++) {
            double entry = j == 7 ? x[m * FEW + 3] : clv_rng_uniform(&rng) < 0.2 ? 0 : clv_rng_normal(&rng) + 0.5;
            x[m * FEW + j] = turned[j * MANY + m] = entry;
            score += j < 4 ? 0.7 * entry : 0;
        }
        y[m] = score > 1;
    }
    clv_matrix dense = {MANY, FEW, CLV_F64, x, NULL, NULL}, by_features = {FEW, MANY, CLV_F64, turned, NULL, NULL};
    clv_data *sparse = sparse_copy(ctx, &dense);
    for (int trial = 0; trial < 8; trial++) {
        clv_ksupport_options options = defaults(trial & 1 ? CLV_KSUPPORT_SQUARES : CLV_KSUPPORT_LOGISTIC);
        options.k = 3;
        options.intercept = (trial & 2) != 0;
        options.ridge = trial & 4 ? 0 : 1e-3;
        options.lambda = 2;
        options.solver = CLV_KSUPPORT_FISTA;
        clv_result *slow = solve(ctx, &dense, y, &options);
        options.solver = CLV_KSUPPORT_AUTO;
        options.control.tol = options.ridge > 0 ? 1e-10 : 1e-8;
        clv_result *one = solve(ctx, &dense, y, &options);
        assert_string_equal(one->solver, "newton");
        assert_true(one->certificate.holds && one->iterations <= 15);
        assert_true(one->objective.value <= slow->objective.value * (1 + 1e-9));
        assert_true(one->objective.value >= slow->objective.value * (1 - slow->certificate.value - 1e-12));
        for (int layout = 0; layout < 3; layout++) {
            options.transposed = layout == 1;
            options.control.threads = 3;
            const clv_matrix *given = layout == 0 ? &dense : layout == 1 ? &by_features : clv_data_matrix(sparse);
            clv_result *other = solve(ctx, given, y, &options);
            assert_true(fabs(other->objective.value / one->objective.value - 1) < 1e-9);
            assert_true(layout > 0 || (other->objective.value == one->objective.value &&
                                       other->certificate.value == one->certificate.value));
            clv_result_free(other);
        }
        clv_result_free(one);
        clv_result_free(slow);
    }
    clv_data_free(sparse);
    free(x);
    free(turned);
    free(y);
}

static void test_objective_of_fcfw_never_rises(void **state) {
    clv_context *ctx = *state;
    static data d;
    for (int trial = 0; trial < 6; trial++) {
        clv_ksupport_options options = defaults(trial % 2);
        make_data(&d, 100 + (uint64_t)trial, (clv_ksupport_loss)(trial % 2));
        options.ridge = trial < 3 ? 0 : 1e-3;
        options.control.keep_trace = 1;
        clv_result *result = solve(ctx, &d.dense, d.y, &options);
        assert_true(result->trace_count > 5);
        for (int64_t t = 1; t < result->trace_count; t++) {
            assert_true(result->trace[t].objective <= result->trace[t - 1].objective * (1 + 1e-14));
        }
        clv_result_free(result);
    }
}

/* --- Algorithm 1 as published --- */

static clv_ksupport_options published(int loss) {
    clv_ksupport_options options = defaults(loss);
    options.solver = CLV_KSUPPORT_FCFW;
    options.inner = CLV_KSUPPORT_PQN;
    options.atoms = CLV_KSUPPORT_ALL;
    options.working_set = options.screening = 0;
    return options;
}

/* It comes to the optimum; corrections that end early leave an error of their size, which does not add up (Remark 2).
 */
static void test_inner_accuracy(void **state) {
    clv_context *ctx = *state;
    static data d;
    for (int trial = 0; trial < 2; trial++) {
        clv_ksupport_options options = published(trial);
        make_data(&d, 150 + (uint64_t)trial, (clv_ksupport_loss)trial);
        options.intercept = trial;
        double least = optimum(ctx, &d, options), worst = 0;
        options.control.max_iter = 150;
        options.control.tol = 1e-9;
        for (int digits = 2; digits <= 6; digits += 2) {
            options.inner_accuracy = pow(10, -digits);
            clv_result *result = solve(ctx, &d.dense, d.y, &options);
            double above = result->objective.value / least - 1;
            assert_true(above >= -1e-9 && above <= 2 * options.inner_accuracy);
            worst = fmax(worst, above);
            clv_result_free(result);
        }
        assert_true(worst > 1e-5); /* the option does something */
    }
}

/* X'r + tau w of dense weights, and its k largest entries over -2 lambda. */
static void find_vertex(const data *d, const clv_ksupport_options *options, const double *w, double *u) {
    double gradient[FEATURES] = {0}, sorted[FEATURES];
    for (int64_t m = 0; m < SAMPLES; m++) {
        const double *x = d->x + m * FEATURES;
        double margin = clv_dot(x, w, FEATURES, 1), sign = d->y[m] > 0 ? 1 : -1;
        double slope = options->loss == CLV_KSUPPORT_SQUARES ? margin - d->y[m] : -sign / (1 + exp(sign * margin));
        for (int64_t j = 0; j < FEATURES; j++) {
            gradient[j] += slope * x[j];
        }
    }
    for (int64_t j = 0; j < FEATURES; j++) {
        gradient[j] += options->ridge * w[j];
        sorted[j] = fabs(gradient[j]);
    }
    double bar = clv_nth_smallest(sorted, FEATURES, FEATURES - options->k);
    for (int64_t j = 0; j < FEATURES; j++) {
        u[j] = fabs(gradient[j]) >= bar ? -gradient[j] / (2 * options->lambda) : 0;
    }
}

/* The least eigenvalue of the products of `count` vectors. */
static double least_eigenvalue(const double (*vectors)[FEATURES], lapack_int count) {
    double products[STEPS * STEPS], values[STEPS];
    for (lapack_int i = 0; i < count; i++) {
        for (lapack_int j = 0; j < count; j++) {
            products[i * count + j] = clv_dot(vectors[i], vectors[j], FEATURES, 1);
        }
    }
    assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'U', count, products, count, values), 0);
    return values[0];
}

/* L of f, by the trace of X'X. */
static double smoothness(const data *d, const clv_ksupport_options *options) {
    double trace = clv_dot(d->x, d->x, SAMPLES * FEATURES, 1);
    return (options->loss == CLV_KSUPPORT_SQUARES ? 1 : 0.25) * trace + options->ridge;
}

/* Theorem 1: F - F* after t steps is at most (1 - zeta)^t of the first, zeta = min(rho beta / (4 L r^2), 1/2); and as
 * measured, at most 0.4^t. Where the solution has k entries it is an atom itself, so that M is that and the vertices;
 * rho is the ridge, and beta the square of the least singular value, as the proof needs it. */
static void test_linear_rate(void **state) {
    clv_context *ctx = *state;
    static data d;
    static double atoms[STEPS][FEATURES], w[FEATURES];
    int tested = 0;
    for (int trial = 0; trial < 12; trial++) {
        clv_ksupport_options options = published(CLV_KSUPPORT_LOGISTIC);
        double error[STEPS], radius = 0;
        int count = 1;
        int64_t support = 0;
        make_data(&d, 170 + (uint64_t)trial, CLV_KSUPPORT_LOGISTIC);
        options.k = DECISIVE;
        options.ridge = 1;
        options.lambda = 100;
        options.inner_accuracy = 1e-14;
        options.control.tol = 1e-13;
        double least = optimum(ctx, &d, options);
        for (; count < STEPS; count++) {
            options.control.max_iter = count - 1;
            clv_result *result = solve(ctx, &d.dense, d.y, &options);
            error[count - 1] = result->objective.value - least;
            clv_matrix_row(clv_result_matrix(result, "weights"), 0, w);
            clv_result_free(result);
            if (error[count - 1] <= 1e-7 * least) {
                break;
            }
            find_vertex(&d, &options, w, atoms[count]);
            radius = fmax(radius, sqrt(clv_dot(atoms[count], atoms[count], FEATURES, 1)));
        }
        assert_true(count > 2 && count < STEPS);
        options.solver = CLV_KSUPPORT_NEWTON;
        options.control.tol = 1e-10;
        options.control.max_iter = 1000;
        clv_result *solution = solve(ctx, &d.dense, d.y, &options);
        clv_matrix_row(clv_result_matrix(solution, "weights"), 0, atoms[0]);
        clv_result_free(solution);
        for (int64_t j = 0; j < FEATURES; j++) {
            support += atoms[0][j] != 0;
        }
        if (support > options.k) {
            continue;
        }
        tested++;
        double beta = least_eigenvalue((const double(*)[FEATURES])atoms, count);
        double zeta = fmin(options.ridge * beta / (4 * smoothness(&d, &options) * radius * radius), 0.5);
        for (int t = 1; t < count; t++) {
            assert_true(error[t] <= pow(1 - zeta, t) * error[0]);
            assert_true(error[t] <= pow(0.4, t) * error[0]);
        }
    }
    assert_true(tested >= 3);
}

/* Every iterate's gap is at least its distance to the optimum. */
static void test_gap_bounds_the_distance(void **state) {
    clv_context *ctx = *state;
    static data d;
    for (int trial = 0; trial < 12; trial++) {
        clv_ksupport_options options = defaults(trial % 2);
        make_data(&d, 200 + (uint64_t)trial, (clv_ksupport_loss)(trial % 2));
        options.ridge = trial % 3 == 0 ? 0 : 1e-2;
        options.intercept = trial % 4 == 0;
        options.solver = trial % 4;
        double least = optimum(ctx, &d, options);
        options.control.keep_trace = 1;
        clv_result *result = solve(ctx, &d.dense, d.y, &options);
        for (int64_t t = 0; t < result->trace_count; t++) {
            double value = result->trace[t].objective;
            assert_true(result->trace[t].certificate * value >= value - least - 1e-9 * least);
        }
        clv_result_free(result);
    }
}

/* The objective and the gap from their definitions: sums written out, the conjugate through the norms. */
static void test_evaluation_from_raw_data(void **state) {
    clv_context *ctx = *state;
    static data d;
    clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
    make_data(&d, 300, CLV_KSUPPORT_LOGISTIC);
    options.ridge = 0;
    options.control.tol = 1e-3;
    clv_result *result = solve(ctx, &d.dense, d.y, &options);
    double w[FEATURES] = {0}, g[FEATURES] = {0}, loss = 0, product = 0, norm, dual;
    const clv_matrix *weights = clv_result_matrix(result, "weights");
    clv_matrix_row(weights, 0, w);
    for (int64_t m = 0; m < SAMPLES; m++) {
        double margin = 0, y = d.y[m] > 0 ? 1 : -1;
        for (int64_t j = 0; j < FEATURES; j++) {
            margin += d.x[m * FEATURES + j] * w[j];
        }
        loss += log(1 + exp(-y * margin));
        double slope = -y / (1 + exp(y * margin));
        product += slope * margin;
        for (int64_t j = 0; j < FEATURES; j++) {
            g[j] += slope * d.x[m * FEATURES + j];
        }
    }
    assert_int_equal(clv_ksupport_norm(ctx, w, FEATURES, K, 1, &norm), CLV_OK);
    assert_int_equal(clv_ksupport_dual_norm(ctx, g, FEATURES, K, 1, &dual), CLV_OK);
    double value = loss + options.lambda * norm * norm;
    double gap = product + options.lambda * norm * norm + dual * dual / (4 * options.lambda);
    assert_true(fabs(value - result->objective.value) <= 1e-12 * value);
    assert_true(fabs(gap - result->certificate.value * value) <= 1e-10 * value);
    clv_result *found = evaluate(ctx, &d, &options, weights, CLV_OK);
    assert_true(fabs(found->objective.value - value) <= 1e-12 * value);
    assert_true(fabs(found->certificate.value * value - gap) <= 1e-10 * value);
    clv_result_free(found);
    clv_result_free(result);
}

/* A problem by hand, for the parts that are not public. */
static clv_ks_problem problem_of(clv_context *ctx, const clv_design *x, const double *signs,
                                 clv_ksupport_options options) {
    return (clv_ks_problem){.ctx = ctx,
                            .x = x,
                            .loss = {.kind = (clv_ksupport_loss)options.loss,
                                     .samples = x->samples,
                                     .y = signs,
                                     .intercept = options.intercept,
                                     .threads = 1},
                            .options = options,
                            .k = options.k,
                            .lambda = options.lambda,
                            .tau = options.ridge,
                            .tol = options.control.tol};
}

static void test_screening_is_safe(void **state) {
    clv_context *ctx = *state;
    static data d;
    int64_t dropped = 0;
    for (int trial = 0; trial < 30; trial++) {
        clv_ksupport_options options = defaults(trial % 2);
        make_data(&d, 400 + (uint64_t)trial, (clv_ksupport_loss)(trial % 2));
        options.ridge = trial % 3 == 0 ? 0 : trial % 3 == 1 ? 1e-2 : 1;
        options.intercept = trial % 5 == 0;
        options.solver = CLV_KSUPPORT_NEWTON;
        options.screening = 0;
        options.control.tol = 1e-10;
        clv_result *exact = solve(ctx, &d.dense, d.y, &options);
        double signs[SAMPLES];
        for (int64_t m = 0; m < SAMPLES; m++) {
            signs[m] = trial % 2 ? d.y[m] : d.y[m] > 0 ? 1 : -1;
        }
        for (int rough = 0; rough < 4; rough++) {
            options.solver = CLV_KSUPPORT_FCFW;
            options.control.tol = pow(10, -1 - 2 * rough);
            clv_result *near = solve(ctx, &d.dense, d.y, &options);
            clv_design x;
            clv_point point;
            assert_int_equal(clv_design_new(ctx, &d.dense, false, 1, &x), CLV_OK);
            clv_ks_problem p = problem_of(ctx, &x, signs, options);
            clv_ks_work work;
            assert_int_equal(clv_ks_work_new(&p, &work), CLV_OK);
            assert_int_equal(clv_point_new(&p, &work, 1, true, &point), CLV_OK);
            double w[FEATURES];
            clv_matrix_row(clv_result_matrix(near, "weights"), 0, w);
            assert_int_equal(clv_list_pack(ctx, &point.w, w, x.features, NULL), CLV_OK);
            assert_int_equal(clv_point_evaluate(&point), CLV_OK);
            point.last_gap = 0; /* the norms are wanted now */
            assert_int_equal(clv_point_evaluate(&point), CLV_OK);
            clv_point_screen(&point);
            bool kept[FEATURES] = {false};
            for (int64_t j = 0; j < point.kept; j++) {
                kept[point.kept < FEATURES ? point.keep[j] : j] = true;
            }
            dropped += FEATURES - point.kept;
            const clv_matrix *solution = clv_result_matrix(exact, "weights");
            for (int64_t e = 0; e < solution->start[1]; e++) {
                assert_true(kept[solution->index[e]] || fabs(((const double *)solution->values)[e]) < 1e-7);
            }
            clv_point_free(&point);
            clv_ks_work_free(&p, &work);
            clv_design_free(&x);
            clv_result_free(near);
        }
        clv_result_free(exact);
    }
    assert_true(dropped > 1000); /* it does something */
}

static int end_after_3000(const clv_progress *progress, void *user) {
    (void)user;
    return progress->iteration >= 3000;
}

/* A solver of first order that would crawl for hours ends by itself, unless more iterations are asked for; another
 * solver goes on. Only the design knows that its passes are long. */
static void test_first_order_wears_out(void **state) {
    clv_context *ctx = *state;
    static data d;
    const int solvers[] = {CLV_KSUPPORT_FISTA, CLV_KSUPPORT_ADMM, CLV_KSUPPORT_NEWTON};
    make_data(&d, 77, CLV_KSUPPORT_SQUARES);
    for (size_t s = 0; s < 2 * CLV_COUNT(solvers); s++) {
        clv_ksupport_options options = defaults(CLV_KSUPPORT_SQUARES);
        bool first_order = s / 2 < 2, more = s % 2;
        options.solver = solvers[s / 2];
        options.momentum = CLV_KSUPPORT_PLAIN;
        options.rho = 1e9; /* steps of a billionth */
        options.step = CLV_KSUPPORT_FIXED;
        options.control.tol = first_order ? 1e-300 : 1e-6;
        options.control.max_iter = more ? CLV_MAX_ITER + 1 : CLV_MAX_ITER;
        options.control.monitor = end_after_3000; /* what goes on would do so for long */
        clv_design x;
        clv_result *result;
        clv_ks_model *model = NULL;
        assert_int_equal(clv_result_new(ctx, 0, 0, &result), CLV_OK);
        assert_int_equal(clv_design_new(ctx, &d.dense, false, 1, &x), CLV_OK);
        assert_true(x.numbers == (double)SAMPLES * FEATURES);
        x.numbers = 1e9;
        clv_ks_problem p = problem_of(ctx, &x, d.y, options);
        p.unit = 1;
        assert_int_equal(clv_ks_drive(&p, &clv_ksupport_method, result, &model), CLV_OK);
        bool ended = result->stop == CLV_STALLED && model->passes >= 1000 && model->passes < 1010;
        if (ended != (first_order && !more)) {
            fail_msg("solver %d: %s after %g passes", solvers[s / 2], clv_stop_name(result->stop), model->passes);
        }
        clv_ks_model_free(ctx, model);
        clv_design_free(&x);
        clv_result_free(result);
    }
}

/* Derivatives of the loss with its intercept by finite differences. */
static void test_loss_derivatives(void **state) {
    (void)state;
    enum { N = 7 };
    double y[2][N] = {{1, -1, 1, 1, -1, -1, 1}, {0.3, -2, 5, 1, 0, -1, 2}}, terms[N];
    for (int trial = 0; trial < 4; trial++) {
        clv_loss loss = {(clv_ksupport_loss)(trial % 2), N, y[trial % 2], trial / 2, 1};
        double z[N] = {0.1, -0.7, 1.5, 0, 2, -1, 0.4}, r[N], h[N], scratch[N], b = 0, sum = 0;
        clv_loss_at(&loss, terms, z, &b, r, h);
        for (int m = 0; m < N; m++) {
            const double step = 1e-5;
            double up[N], down[N], at = b;
            memcpy(up, z, sizeof z);
            memcpy(down, z, sizeof z);
            up[m] += step;
            down[m] -= step;
            double high = clv_loss_at(&loss, terms, up, &at, scratch, NULL);
            double low = clv_loss_at(&loss, terms, down, &at, scratch, NULL);
            assert_true(fabs((high - low) / (2 * step) - r[m]) < 1e-8);
            sum += r[m];
        }
        assert_true(!loss.intercept || fabs(sum) < 1e-12);
    }
}

/* --- the small quadratic programs --- */

static double quadratic_value(const double *h, const double *c, const double *x, int64_t t) {
    double value = 0;
    for (int64_t i = 0; i < t; i++) {
        value += c[i] * x[i];
        for (int64_t j = 0; j < t; j++) {
            value += 0.5 * x[i] * h[i * t + j] * x[j];
        }
    }
    return value;
}

/* Optimal if and only if no vertex of the hull is downhill. */
static void test_quadratic_programs(void **state) {
    clv_context *ctx = *state;
    enum { MOST = 12 };
    clv_rng rng = clv_rng_stream(6, 0);
    for (int trial = 0; trial < 500; trial++) {
        int64_t t = 1 + clv_rng_below(&rng, MOST), rank = 1 + clv_rng_below(&rng, t);
        double f[MOST * MOST] = {0}, h[MOST * MOST] = {0}, c[MOST], x[MOST] = {0}, work[2 * MOST * MOST + 8 * MOST];
        for (int64_t i = 0; i < t * rank; i++) {
            f[i] = clv_rng_normal(&rng);
        }
        for (int64_t i = 0; i < t; i++) {
            c[i] = clv_rng_normal(&rng) * (trial % 2 ? 3 : 0.3);
            for (int64_t j = 0; j < t; j++) {
                for (int64_t r = 0; r < rank; r++) {
                    h[i * t + j] += f[i * rank + r] * f[j * rank + r];
                }
            }
        }
        clv_quadratic_solve(ctx, h, c, t, x, work);
        double sum = 0, here = 0, lowest = 0;
        for (int64_t i = 0; i < t; i++) {
            double slope = c[i];
            for (int64_t j = 0; j < t; j++) {
                slope += h[i * t + j] * x[j];
            }
            assert_true(x[i] >= 0);
            sum += x[i];
            here += slope * x[i];
            lowest = fmin(lowest, slope);
        }
        assert_true(sum <= 1 + 1e-12);
        assert_true(here - lowest <= 1e-8);
        assert_true(quadratic_value(h, c, x, t) <= 1e-12);
    }
}

/* --- forms of the problem --- */

static void test_radius(void **state) {
    clv_context *ctx = *state;
    static data d;
    for (int trial = 0; trial < 6; trial++) {
        clv_ksupport_options options = defaults(trial % 2);
        make_data(&d, 500 + (uint64_t)trial, (clv_ksupport_loss)(trial % 2));
        options.radius = 0.2 + 0.3 * trial;
        options.ridge = trial < 3 ? 0 : 0.1;
        options.control.tol = 1e-5;
        clv_result *atoms = solve(ctx, &d.dense, d.y, &options);
        options.solver = CLV_KSUPPORT_FISTA;
        clv_result *gradients = solve(ctx, &d.dense, d.y, &options);
        double w[FEATURES], norm;
        clv_matrix_row(clv_result_matrix(atoms, "weights"), 0, w);
        assert_int_equal(clv_ksupport_norm(ctx, w, FEATURES, K, 1, &norm), CLV_OK);
        assert_true(norm <= options.radius * (1 + 1e-10));
        clv_matrix beyond = {1, FEATURES, CLV_F64, w, NULL, NULL};
        options.solver = CLV_KSUPPORT_FCFW;
        clv_result_free(evaluate(ctx, &d, &options, &beyond, CLV_OK));
        for (int64_t j = 0; j < FEATURES; j++) {
            w[j] *= 1.00001 * options.radius / norm;
        }
        assert_null(evaluate(ctx, &d, &options, &beyond, CLV_EDATA));
        assert_non_null(strstr(clv_message(ctx), "beyond the radius"));
        assert_true(atoms->certificate.holds && gradients->certificate.holds);
        assert_true(fabs(atoms->objective.value - gradients->objective.value) <= 2e-5 * atoms->objective.value);
        clv_result_free(atoms);
        clv_result_free(gradients);
    }
}

/* The solution of the regularized form solves the constrained one with its norm as radius. */
static void test_radius_and_lambda_meet(void **state) {
    clv_context *ctx = *state;
    static data d;
    clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
    make_data(&d, 600, CLV_KSUPPORT_LOGISTIC);
    options.solver = CLV_KSUPPORT_NEWTON;
    options.control.tol = 1e-9;
    clv_result *free_one = solve(ctx, &d.dense, d.y, &options);
    double w[FEATURES], norm;
    clv_matrix_row(clv_result_matrix(free_one, "weights"), 0, w);
    assert_int_equal(clv_ksupport_norm(ctx, w, FEATURES, K, 1, &norm), CLV_OK);
    options.solver = CLV_KSUPPORT_FCFW;
    options.control.tol = 1e-6;
    options.radius = norm;
    clv_result *bound = solve(ctx, &d.dense, d.y, &options);
    double smooth = free_one->objective.value - options.lambda * norm * norm;
    assert_true(fabs(bound->objective.value - smooth) <= 1e-5 * smooth);
    clv_result_free(free_one);
    clv_result_free(bound);
}

static void test_classes(void **state) {
    clv_context *ctx = *state;
    static data d;
    clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
    make_data(&d, 700, CLV_KSUPPORT_SQUARES);
    for (int64_t m = 0; m < SAMPLES; m++) {
        d.y[m] = d.y[m] < 0.5 ? -2.5 : d.y[m] < 3.5 ? 10 : 4;
    }
    options.intercept = 1;
    options.lambda = 0.01;
    clv_result *result = solve(ctx, &d.dense, d.y, &options);
    int64_t right = 0, count;
    const double *classes = clv_result_reals(result, "classes", &count);
    assert_int_equal(count, 3);
    assert_true(classes[0] == -2.5 && classes[1] == 4 && classes[2] == 10);
    clv_result *told;
    assert_int_equal(
        clv_ksupport_predict(ctx, &(clv_input){0}, &options, result, &(clv_fresh){.points = &d.dense}, &told), CLV_OK);
    const double *values = clv_result_reals(told, "values", &count);
    const clv_matrix *scores = clv_result_matrix(told, "scores");
    assert_true(count == SAMPLES && scores->rows == SAMPLES && scores->cols == 3);
    for (int64_t m = 0; m < SAMPLES; m++) {
        const double *score = (const double *)scores->values + 3 * m;
        int32_t best = told->labels[m]; /* a place, as not all classes are whole numbers */
        assert_true(best >= 0 && best < 3 && values[m] == classes[best]);
        assert_true(score[best] >= score[0] && score[best] >= score[1] && score[best] >= score[2]);
        right += values[m] == d.y[m];
    }
    assert_true(right > SAMPLES * 9 / 10);
    clv_result_free(told);
    clv_result *found = evaluate(ctx, &d, &options, clv_result_matrix(result, "weights"), CLV_OK);
    assert_true(fabs(found->objective.value - result->objective.value) <= 1e-12 * found->objective.value);
    assert_true(fabs(found->certificate.value - result->certificate.value) <= 1e-12);
    clv_result_free(found);
    clv_result_free(result);
}

/* Says stop from the poll of this number on. */
typedef struct stopper {
    int64_t polls, after;
} stopper;

static int stop_after(void *user) {
    stopper *s = user;
    return s->polls++ >= s->after;
}

/* Wherever a run of several models is cut, what it returns is what its weights and intercepts are worth. */
static void test_interrupted_models(void **state) {
    clv_context *ctx = *state;
    static data d;
    make_data(&d, 701, CLV_KSUPPORT_SQUARES);
    for (int64_t m = 0; m < SAMPLES; m++) {
        d.y[m] = floor(d.y[m] / 3);
    }
    const clv_matrix targets = {SAMPLES, 1, CLV_F64, d.y, NULL, NULL};
    const clv_input input = {.points = &d.dense, .targets = &targets};
    for (int solver = CLV_KSUPPORT_FCFW; solver <= CLV_KSUPPORT_NEWTON; solver++) {
        clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
        int64_t kept = 0, cut = 0;
        bool whole = false;
        options.solver = solver;
        options.intercept = solver % 2;
        options.control.tol = 1e-4;
        for (int64_t after = 0; !whole; after += 1 + after / 8) {
            stopper stop = {.after = after};
            clv_result *result = NULL;
            clv_context_set_interrupt(ctx, stop_after, &stop);
            clv_status status = clv_ksupport(ctx, &input, &options, &result);
            clv_context_set_interrupt(ctx, NULL, NULL);
            whole = stop.polls <= after;
            if (status == CLV_EINTERRUPTED) {
                assert_true(!result && after < 4); /* before the first model has begun */
                continue;
            }
            assert_int_equal(status, CLV_OK);
            assert_true(whole || result->stop == CLV_CANCELLED);
            clv_result *found;
            assert_int_equal(clv_ksupport_evaluate(ctx, &input, &options, result, &found), CLV_OK);
            assert_true(fabs(found->objective.value - result->objective.value) <= 1e-9 * found->objective.value);
            clv_result_free(found);
            const clv_matrix *w = clv_result_matrix(result, "weights");
            kept += w->start[1] > 0;
            cut += w->start[w->rows] == w->start[w->rows - 1];
            clv_result_free(result);
        }
        assert_true(kept > 1 && cut > 0);
    }
}

static bool is_row_of_start(const clv_matrix *w, const clv_matrix *start, int64_t c) {
    double row[FEATURES];
    clv_matrix_row(w, c, row);
    return memcmp(row, (const double *)start->values + c * FEATURES, sizeof row) == 0;
}

/* Wherever a run of several models that starts from weights is cut, no model is worse than these. */
static void test_interrupted_models_with_a_start(void **state) {
    enum { MODELS = 3 };
    clv_context *ctx = *state;
    static data d;
    double weights[MODELS * FEATURES] = {0};
    make_data(&d, 703, CLV_KSUPPORT_SQUARES);
    for (int64_t m = 0; m < SAMPLES; m++) {
        d.y[m] = (double)(m % MODELS);
        d.x[m * FEATURES + m % MODELS] += 1;
    }
    for (int64_t c = 0; c < MODELS; c++) {
        weights[c * FEATURES + c] = 0.5;
    }
    const clv_matrix targets = {SAMPLES, 1, CLV_F64, d.y, NULL, NULL};
    const clv_matrix start = {MODELS, FEATURES, CLV_F64, weights, NULL, NULL};
    const clv_input input = {.points = &d.dense, .targets = &targets, .start = &start};
    for (int run = 0; run < 4; run++) { /* with an intercept or none, and in a ball that has the start or has not */
        clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
        int64_t left = 0;
        bool whole = false;
        options.solver = CLV_KSUPPORT_FCFW;
        options.intercept = run % 2;
        options.radius = run < 2 ? 1 : 0.3;
        options.control.tol = 1e-4;
        for (int64_t after = 0; !whole; after += 1 + after / 8) {
            stopper stop = {.after = after};
            clv_result *result, *found;
            clv_context_set_interrupt(ctx, stop_after, &stop);
            clv_status status = clv_ksupport(ctx, &input, &options, &result);
            clv_context_set_interrupt(ctx, NULL, NULL);
            whole = stop.polls <= after;
            if (status == CLV_EINTERRUPTED) {
                continue;
            }
            assert_int_equal(status, CLV_OK);
            const clv_matrix *w = clv_result_matrix(result, "weights");
            for (int64_t c = 0; c < MODELS; c++) {
                assert_true(w->start[c + 1] > w->start[c]);
            }
            left += is_row_of_start(w, &start, MODELS - 1) && !is_row_of_start(w, &start, 0);
            assert_int_equal(clv_ksupport_evaluate(ctx, &input, &options, result, &found), CLV_OK);
            assert_true(fabs(found->objective.value - result->objective.value) <= 1e-9 * found->objective.value);
            assert_null(clv_result_field(result, "warnings"));
            clv_result_free(found);
            clv_result_free(result);
        }
        assert_true(run < 2 ? left > 0 : left == 0); /* outside of the ball, the start is drawn into it */
    }
}

/* With more of them than a moment is enough for, the last ones are 0, and the result says so. */
static void test_more_starts_than_time(void **state) {
    enum { MODELS = 1000, EACH = 20, MANY = MODELS * EACH };
    clv_context *ctx = *state;
    double *x = malloc(MANY * sizeof *x), *y = malloc(MANY * sizeof *y), weights[MODELS];
    assert_true(x && y);
    for (int64_t m = 0; m < MANY; m++) {
        y[m] = (double)(m % MODELS);
        x[m] = y[m] < 2 ? 1 : -1;
    }
    for (int64_t c = 0; c < MODELS; c++) {
        weights[c] = 0.1;
    }
    const clv_matrix points = {MANY, 1, CLV_F64, x, NULL, NULL}, targets = {MANY, 1, CLV_F64, y, NULL, NULL};
    const clv_matrix start = {MODELS, 1, CLV_F64, weights, NULL, NULL};
    clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
    stopper stop = {.after = 8};
    clv_result *result, *found;
    options.k = 1;
    clv_context_set_interrupt(ctx, stop_after, &stop);
    assert_int_equal(
        clv_ksupport(ctx, &(clv_input){.points = &points, .targets = &targets, .start = &start}, &options, &result),
        CLV_OK);
    clv_context_set_interrupt(ctx, NULL, NULL);
    const clv_matrix *w = clv_result_matrix(result, "weights");
    int64_t begun = w->start[MODELS];
    assert_true(begun > 2 && begun < MODELS && w->start[begun] == begun);
    char words[64];
    snprintf(words, sizeof words, "of %d of the %d models", (int)(MODELS - begun), MODELS);
    assert_non_null(strstr(clv_result_text(result, "warnings"), words));
    assert_true(isnan(result->certificate.value));
    assert_int_equal(
        clv_ksupport_evaluate(ctx, &(clv_input){.points = &points, .targets = &targets}, &options, result, &found),
        CLV_OK);
    assert_true(fabs(found->objective.value - result->objective.value) <= 1e-9 * found->objective.value);
    clv_result_free(found);
    clv_result_free(result);
    free(x);
    free(y);
}

/* A path that is cut, or out of time, has the rows that there are, and the best of them. */
static void test_interrupted_path(void **state) {
    clv_context *ctx = *state;
    static data d;
    enum { ROWS = 4 };
    clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
    make_data(&d, 702, CLV_KSUPPORT_LOGISTIC);
    const clv_matrix targets = {SAMPLES, 1, CLV_F64, d.y, NULL, NULL};
    const clv_input input = {
        .points = &d.dense, .targets = &targets, .validation = &d.dense, .validation_targets = &targets};
    options.k = 0;
    options.path = "3,9:0.1,1";
    int64_t seen[ROWS + 1] = {0};
    for (int64_t after = 0; seen[ROWS] == 0; after += 1 + after / 8) {
        stopper stop = {.after = after};
        clv_result *best;
        int64_t count, first = 0;
        clv_context_set_interrupt(ctx, stop_after, &stop);
        clv_status status = clv_ksupport(ctx, &input, &options, &best);
        clv_context_set_interrupt(ctx, NULL, NULL);
        if (status == CLV_EINTERRUPTED) {
            assert_null(best);
            continue;
        }
        assert_int_equal(status, CLV_OK);
        const int64_t *k = clv_result_integers(best, "path.k", &count);
        const double *lambda = clv_result_reals(best, "path.lambda", &count);
        const double *score = clv_result_reals(best, "path.score", &count);
        const double *objective = clv_result_reals(best, "path.objective", &count);
        const char *last = clv_result_field(best, "path.stop")->texts[count - 1];
        for (int64_t row = 0; row < count; row++) {
            assert_true(k[row] == (row < 2 ? 3 : 9) && lambda[row] == (row % 2 ? 0.1 : 1));
            first = score[row] > score[first] ? row : first;
        }
        seen[stop.polls > after && count == ROWS ? ROWS - 1 : count]++;
        assert_true(best->k == k[first] && best->objective.value == objective[first]);
        assert_true(clv_result_real(best, "lambda", NAN) == lambda[first]);
        /* Cut short, it says so, and how far it came; the row under way may have been over by then. */
        bool ended = strcmp(last, "cancelled") == 0, cut = count < ROWS || ended;
        char words[64];
        snprintf(words, sizeof words, "%d of its %d rows", (int)count - ended, ROWS);
        assert_true(!cut || stop.polls > after);
        assert_int_equal(best->stop, cut ? CLV_CANCELLED : CLV_CONVERGED);
        assert_int_equal(clv_result_field(best, "warnings") != NULL, cut);
        assert_true(!cut || strstr(clv_result_text(best, "warnings"), words));
        clv_result *found;
        assert_int_equal(clv_ksupport_evaluate(ctx, &input, &options, best, &found), CLV_OK);
        clv_result_free(found);
        clv_result_free(best);
    }
    assert_true(seen[1] > 0 && seen[2] > 0);
    clv_result *first;
    int64_t count;
    options.control.time_limit = 1e-9;
    assert_int_equal(clv_ksupport(ctx, &input, &options, &first), CLV_OK);
    assert_int_equal(clv_result_integers(first, "path.k", &count)[0], 3);
    assert_int_equal(count, 1);
    assert_string_equal(clv_result_text(first, "path.stop"), "time limit");
    assert_int_equal(first->stop, CLV_TIME_LIMIT);
    clv_result_free(first);
}

static int end_of_third_row(const clv_progress *progress, void *user) {
    int *begun = user;
    *begun += progress->iteration == 0;
    return *begun > 2;
}

/* A monitor that cancels a row cancels the path. Of rows that are asked for twice, the first that is best is the
 * result; without a score it is the last. */
static void test_rows_of_a_path(void **state) {
    clv_context *ctx = *state;
    static data d;
    clv_ksupport_options options = defaults(CLV_KSUPPORT_SQUARES);
    make_data(&d, 702, CLV_KSUPPORT_SQUARES);
    double same[SAMPLES] = {0};
    const clv_matrix targets = {SAMPLES, 1, CLV_F64, d.y, NULL, NULL}, flat = {SAMPLES, 1, CLV_F64, same, NULL, NULL};
    clv_input input = {.points = &d.dense, .targets = &targets, .validation = &d.dense, .validation_targets = &targets};
    clv_result *best, *found;
    int64_t count;
    int begun = 0;
    options.k = 0;
    options.path = "2,2:1,1";
    for (int scored = 0; scored < 3; scored++) { /* the third: targets that no share of the variance can be told of */
        input.validation = scored ? &d.dense : NULL;
        input.validation_targets = scored == 2 ? &flat : scored ? &targets : NULL;
        assert_int_equal(clv_ksupport(ctx, &input, &options, &best), CLV_OK);
        const double *score = clv_result_reals(best, "path.score", &count);
        assert_true(count == 4 && (isnan(score[3]) != 0) == (scored != 1));
        assert_int_equal(clv_ksupport_evaluate(ctx, &input, &options, best, &found), CLV_OK);
        clv_result_free(found);
        clv_result_free(best);
    }
    options.control.monitor = end_of_third_row;
    options.control.monitor_user = &begun;
    assert_int_equal(clv_ksupport(ctx, &input, &options, &best), CLV_OK);
    clv_result_integers(best, "path.k", &count);
    assert_true(count == 3 && best->stop == CLV_CANCELLED);
    assert_non_null(strstr(clv_result_text(best, "warnings"), "2 of its 4 rows"));
    clv_result_free(best);
}

/* A path says what k and lambda are: what else says so is refused, and so is what is no path. */
static void test_refused_paths(void **state) {
    clv_context *ctx = *state;
    static data d;
    static const char *const wrong[] = {"3", "3:", ":1", "3,:1", "3:1:1", "x:1", "0:1", "3:0", "3:-1", "3,9;0.1"};
    clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
    make_data(&d, 703, CLV_KSUPPORT_LOGISTIC);
    options.path = "3:1";
    expect(ctx, &d.dense, d.y, &options, CLV_EUSAGE, "cannot be used with k");
    options.k = 0;
    options.radius = 1;
    expect(ctx, &d.dense, d.y, &options, CLV_EUSAGE, "cannot be used with radius");
    options.radius = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.path = wrong[i];
        expect(ctx, &d.dense, d.y, &options, CLV_EUSAGE, "");
    }
    double y[SAMPLES];
    memcpy(y, d.y, sizeof y);
    y[2] = 5;
    const clv_matrix targets = {SAMPLES, 1, CLV_F64, d.y, NULL, NULL}, other = {SAMPLES, 1, CLV_F64, y, NULL, NULL};
    clv_input input = {.points = &d.dense, .targets = &targets, .validation = &d.dense};
    clv_result *result;
    options.path = "3:1";
    assert_int_equal(clv_ksupport(ctx, &input, &options, &result), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "validation targets are missing"));
    input.validation_targets = &other;
    assert_int_equal(clv_ksupport(ctx, &input, &options, &result), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "validation sample 3 is 5"));
    y[2] = NAN;
    for (int loss = CLV_KSUPPORT_LOGISTIC; loss <= CLV_KSUPPORT_SQUARES; loss++) {
        options.loss = loss;
        assert_int_equal(clv_ksupport(ctx, &input, &options, &result), CLV_EDATA);
        assert_non_null(strstr(clv_message(ctx), "the validation targets: row 3 column 1: nan"));
    }
}

/* What is forecast covers what is held. */
static void test_memory(void **state) {
    (void)state;
    enum { N = 600, P = 700 };
    double *x = malloc(N * P * sizeof *x), *y = malloc(N * sizeof *y);
    const clv_matrix view = {N, P, CLV_F64, x, NULL, NULL};
    clv_rng rng = clv_rng_stream(703, 0);
    for (int64_t e = 0; e < N * P; e++) {
        x[e] = clv_rng_normal(&rng);
    }
    for (int64_t m = 0; m < N; m++) {
        y[m] = (double)(x[m * P] + x[m * P + 1] > 0);
    }
    for (int solver = CLV_KSUPPORT_FCFW; solver <= CLV_KSUPPORT_NEWTON; solver++) {
        clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
        clv_context *own;
        size_t now, peak;
        assert_int_equal(clv_context_new(NULL, &own), CLV_OK);
        options.solver = solver;
        options.control.max_iter = 3;
        clv_result *result = solve(own, &view, y, &options);
        clv_context_memory(own, &now, &peak);
        size_t forecast = clv_ksupport_memory(&(clv_input){.points = &view}, &options);
        bool squares = solver == CLV_KSUPPORT_ADMM || solver == CLV_KSUPPORT_NEWTON; /* of the number of samples */
        assert_true(peak <= forecast && (forecast <= 2 * peak || !squares));
        clv_result_free(result);
        clv_context_free(own);
    }
    free(x);
    free(y);
}

/* fcfw with a small k and lambda has many atoms, each with a number per sample. */
static void test_memory_of_atoms(void **state) {
    (void)state;
    enum { N = 4000, P = 60 };
    double *x = malloc(N * P * sizeof *x), *y = malloc(N * sizeof *y);
    const clv_matrix by_features = {P, N, CLV_F64, x, NULL, NULL};
    clv_rng rng = clv_rng_stream(704, 0);
    for (int64_t e = 0; e < N * P; e++) {
        x[e] = clv_rng_normal(&rng);
    }
    for (int64_t m = 0; m < N; m++) {
        y[m] = (double)(clv_rng_normal(&rng) > 0);
    }
    clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
    clv_context *own;
    size_t now, peak;
    assert_int_equal(clv_context_new(NULL, &own), CLV_OK);
    options.solver = CLV_KSUPPORT_FCFW;
    options.transposed = 1;
    options.k = 3;
    options.lambda = 0.01;
    options.control.tol = 1e-9;
    options.control.max_iter = 400;
    clv_result *result = solve(own, &by_features, y, &options);
    clv_context_memory(own, &now, &peak);
    assert_true(result->iterations > 32);
    assert_true(peak <= clv_ksupport_memory(&(clv_input){.points = &by_features}, &options));
    clv_result_free(result);
    clv_context_free(own);
    free(x);
    free(y);
}

static void test_warm_start(void **state) {
    clv_context *ctx = *state;
    static data d;
    double w[FEATURES];
    for (int solver = CLV_KSUPPORT_FCFW; solver <= CLV_KSUPPORT_NEWTON; solver++) {
        clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
        make_data(&d, 800, CLV_KSUPPORT_LOGISTIC);
        options.solver = CLV_KSUPPORT_NEWTON;
        options.control.tol = 1e-8;
        clv_result *cold = solve(ctx, &d.dense, d.y, &options);
        clv_matrix_row(clv_result_matrix(cold, "weights"), 0, w);
        options.solver = solver;
        options.control.tol = 1e-6;
        const clv_matrix targets = {SAMPLES, 1, CLV_F64, d.y, NULL, NULL},
                         start = {1, FEATURES, CLV_F64, w, NULL, NULL};
        clv_result *warm;
        assert_int_equal(
            clv_ksupport(ctx, &(clv_input){.points = &d.dense, .targets = &targets, .start = &start}, &options, &warm),
            CLV_OK);
        assert_int_equal(warm->iterations, 0);
        assert_true(warm->certificate.holds);
        clv_result_free(cold);
        clv_result_free(warm);
    }
}

/* Newton ends at a solution on data of any scale, with few features and many, with and without a ridge: at 0 the gap is
 * far above the objective. */
static void test_newton_on_any_scale(void **state) {
    clv_context *ctx = *state;
    enum { N = 30, P = 20 };
    static const double scales[] = {1, 10, 255, 1000};
    double x[N * P], y[N];
    const clv_matrix view = {N, P, CLV_F64, x, NULL, NULL};
    for (int trial = 0; trial < 16; trial++) {
        double scale = scales[trial % 4];
        clv_rng rng = clv_rng_stream((uint64_t)(trial / 4), 3);
        clv_ksupport_options options = defaults(trial / 4 % 2);
        for (int64_t m = 0; m < N; m++) {
            y[m] = 0.3 * clv_rng_normal(&rng);
            for (int64_t j = 0; j < P; j++) {
                x[m * P + j] = clv_rng_normal(&rng);
                y[m] += j < 4 ? x[m * P + j] : 0;
                x[m * P + j] *= scale;
            }
            y[m] = options.loss == CLV_KSUPPORT_SQUARES ? scale * y[m] : (double)(y[m] > 0);
        }
        options.k = 5;
        options.lambda = 0.1;
        options.ridge = trial < 8 ? 0 : 1e-3;
        options.intercept = trial % 3 == 0;
        options.solver = CLV_KSUPPORT_NEWTON;
        clv_result *result = solve(ctx, &view, y, &options);
        assert_true(result->certificate.holds);
        clv_result_free(result);
    }
}

/* Heavy-tailed features and wrong labels put slopes on the border of the dual's domain; where Newton gets no further,
 * the run goes on. */
static void test_newton_on_heavy_tails(void **state) {
    clv_context *ctx = *state;
    enum { N = 200, P = 30 };
    static double x[N * P], y[N];
    const clv_matrix view = {N, P, CLV_F64, x, NULL, NULL};
    for (uint64_t seed = 0; seed < 12; seed++) {
        clv_rng rng = clv_rng_stream(seed, 4);
        clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
        for (int64_t m = 0; m < N; m++) {
            double score = 0;
            for (int64_t j = 0; j < P; j++) {
                x[m * P + j] = clv_rng_normal(&rng) / pow(clv_rng_uniform(&rng) + 1e-6, 0.7);
                score += j < 3 ? x[m * P + j] : 0;
            }
            y[m] = (double)((score > 0) != (clv_rng_uniform(&rng) < 0.15));
        }
        options.k = 5;
        options.lambda = 1e-3;
        options.ridge = 1e-3;
        options.intercept = seed % 2 == 1;
        options.control.tol = 1e-5;
        options.solver = CLV_KSUPPORT_NEWTON;
        clv_result *result = solve(ctx, &view, y, &options);
        assert_true(result->certificate.holds);
        clv_result_free(result);
    }
}

/* --- hostile input --- */

static void test_refusals(void **state) {
    clv_context *ctx = *state;
    static data d;
    clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
    make_data(&d, 900, CLV_KSUPPORT_LOGISTIC);
    double one[SAMPLES], bad[SAMPLES];
    for (int64_t m = 0; m < SAMPLES; m++) {
        one[m] = 4;
        bad[m] = m == 5 ? (double)NAN : (double)(m % 2);
    }
    expect(ctx, &d.dense, one, &options, CLV_EDATA, "one class only, 4");
    expect(ctx, &d.dense, bad, &options, CLV_EDATA, "sample 6");
    options.k = FEATURES + 1;
    expect(ctx, &d.dense, d.y, &options, CLV_EDATA, "k = 151 exceeds the 150 features");
    options.k = 0;
    expect(ctx, &d.dense, d.y, &options, CLV_EUSAGE, "k");
    options = defaults(CLV_KSUPPORT_LOGISTIC);
    options.lambda = 0;
    expect(ctx, &d.dense, d.y, &options, CLV_EUSAGE, "lambda");
    options = defaults(CLV_KSUPPORT_LOGISTIC);
    options.radius = 1;
    options.solver = CLV_KSUPPORT_ADMM;
    expect(ctx, &d.dense, d.y, &options, CLV_EUSAGE, "radius = 1");
}

/* What cannot be squared is told, and so are weights to start from that are not those of the models. */
static void test_out_of_range(void **state) {
    clv_context *ctx = *state;
    static data d;
    static double w[3 * FEATURES];
    clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
    make_data(&d, 901, CLV_KSUPPORT_LOGISTIC);
    d.x[FEATURES + 2] = 1e160;
    expect(ctx, &d.dense, d.y, &options, CLV_EDATA, "row 2 column 3");
    d.x[FEATURES + 2] = NAN;
    expect(ctx, &d.dense, d.y, &options, CLV_EDATA, "row 2 column 3");
    d.x[FEATURES + 2] = 1e140;
    d.y[1] = 1e140;
    options.loss = CLV_KSUPPORT_SQUARES;
    expect(ctx, &d.dense, d.y, &options, CLV_EDATA, "scale the data");
    make_data(&d, 901, CLV_KSUPPORT_LOGISTIC);
    options = defaults(CLV_KSUPPORT_LOGISTIC);
    const clv_matrix targets = {SAMPLES, 1, CLV_F64, d.y, NULL, NULL};
    clv_matrix start = {2, FEATURES, CLV_F64, w, NULL, NULL};
    const clv_input input = {.points = &d.dense, .targets = &targets, .start = &start};
    expect_from(ctx, &input, &options, CLV_EDATA, "have 2 rows, but there is 1 model");
    start.rows = 1;
    start.cols = FEATURES - 1;
    expect_from(ctx, &input, &options, CLV_EDATA, "weights are rows of 150 numbers");
    start.cols = FEATURES;
    w[3] = 1e200;
    expect_from(ctx, &input, &options, CLV_EDATA, "the weights to start from");
    w[3] = 0;
    d.y[0] = 100;
    expect_from(ctx, &input, &options, CLV_EDATA, "have 1 rows, but there are 3 models");
    options.start = "weights";
    expect(ctx, &d.dense, d.y, &options, CLV_EUSAGE, "start = 'weights' is not allowed: it must be zero");
}

/* Separable data without a ridge, a constant column, a single sample a class, zero features: all have a solution. */
static void test_degenerate_data(void **state) {
    clv_context *ctx = *state;
    double x[] = {1, 5, 0, 2, 5, 0, -1, 5, 0, -2, 5, 0}, y[] = {1, 1, 0, 0}, zeros[12] = {0};
    clv_matrix view = {4, 3, CLV_F64, x, NULL, NULL}, nothing = {4, 3, CLV_F64, zeros, NULL, NULL};
    for (int solver = CLV_KSUPPORT_FCFW; solver <= CLV_KSUPPORT_NEWTON; solver++) {
        for (int intercept = 0; intercept < 2; intercept++) {
            clv_ksupport_options options = defaults(CLV_KSUPPORT_LOGISTIC);
            options.k = 1;
            options.solver = solver;
            options.ridge = 0;
            options.lambda = 1e-3;
            options.intercept = intercept;
            clv_result *result = solve(ctx, &view, y, &options);
            assert_true(result->certificate.holds);
            clv_result_free(result);
            result = solve(ctx, &nothing, y, &options);
            assert_true(result->certificate.holds);
            assert_true(fabs(result->objective.value - 4 * log(2)) < 1e-9);
            clv_result_free(result);
            options.loss = CLV_KSUPPORT_SQUARES;
            result = solve(ctx, &view, zeros, &options);
            assert_true(result->objective.value == 0 && result->certificate.holds);
            clv_result_free(result);
        }
    }
}

/* Far from the data the logistic loss is flat, and the best intercept must be found all the same. */
static void test_intercept_far_away(void **state) {
    (void)state;
    enum { N = 6 };
    double y[N] = {1, 1, 1, -1, -1, -1}, terms[N], r[N], z[N];
    clv_loss loss = {CLV_KSUPPORT_LOGISTIC, N, y, true, 1};
    for (int trial = 0; trial < 40; trial++) {
        double shift = trial < 20 ? pow(4, trial - 10) : -pow(4, trial - 30), b = trial % 3 ? 0 : -shift * 100, sum = 0;
        for (int m = 0; m < N; m++) {
            z[m] = shift + 0.3 * m;
        }
        double value = clv_loss_at(&loss, terms, z, &b, r, NULL);
        for (int m = 0; m < N; m++) {
            sum += r[m];
        }
        assert_true(isfinite(value) && value <= 2 * N);
        assert_true(fabs(sum) <= 1e-9 + 1e-15 * fabs(shift));
    }
}

/* The loss with this intercept and, unless NULL, its derivative. */
static long double long_loss(const clv_loss *loss, const double *z, long double b, long double *slope) {
    long double value = 0, sum = 0;
    for (int64_t m = 0; m < loss->samples; m++) {
        long double y = loss->y[m], t = y * (z[m] + b), e = expl(-fabsl(t));
        value += log1pl(e) + (t < 0 ? -t : 0);
        sum -= y * (t > 0 ? e : 1) / (1 + e);
    }
    if (slope) {
        *slope = sum;
    }
    return value;
}

/* The least loss of any intercept, by bisection. */
static long double least_loss(const clv_loss *loss, const double *z) {
    long double low = INFINITY, high = -INFINITY, slope;
    for (int64_t m = 0; m < loss->samples; m++) {
        low = fminl(low, -z[m] - 10.0L);
        high = fmaxl(high, -z[m] + 10.0L);
    }
    for (;;) {
        long double b = (low + high) / 2;
        if (!(b > low && b < high)) {
            return fminl(long_loss(loss, z, low, NULL), long_loss(loss, z, high, NULL));
        }
        (void)long_loss(loss, z, b, &slope);
        low = slope < 0 ? b : low;
        high = slope < 0 ? high : b;
    }
}

/* Margins of one size or of very different ones, far from 0 or not, and starts that have nothing to do with them: the
 * intercept is the best one but for the digits of the margins. */
static void test_intercept_from_any_start(void **state) {
    (void)state;
    enum { MOST = 16, SIZES = 8, TRIALS = 2000 };
    const double sizes[SIZES] = {1e-8, 1, 30, 1e3, 1e8, 1e15, 1e30, 1e100};
    double y[MOST], z[MOST], r[MOST], terms[MOST];
    clv_rng rng = clv_rng_stream(23, 0);
    for (int trial = 0; trial < TRIALS; trial++) {
        double size = sizes[clv_rng_below(&rng, SIZES)], largest = 0;
        double shift = trial % 2 ? 0 : sizes[clv_rng_below(&rng, SIZES)] * (2 * clv_rng_uniform(&rng) - 1);
        double start = sizes[clv_rng_below(&rng, SIZES)] * (2 * clv_rng_uniform(&rng) - 1), b = start;
        clv_loss loss = {CLV_KSUPPORT_LOGISTIC, 2 + clv_rng_below(&rng, MOST - 1), y, true, 1};
        for (int64_t m = 0; m < loss.samples; m++) {
            size = trial % 2 ? sizes[clv_rng_below(&rng, SIZES)] : size;
            z[m] = shift + size * (2 * clv_rng_uniform(&rng) - 1);
            y[m] = m < 2 ? (double)(2 * m - 1) : clv_rng_uniform(&rng) < 0.3 ? 1 : -1;
            largest = fmax(largest, fabs(z[m]));
        }
        double value = clv_loss_at(&loss, terms, z, &b, r, NULL), n = (double)loss.samples;
        long double least = least_loss(&loss, z), found = long_loss(&loss, z, b, NULL);
        long double rounding = 1e-13L * (1 + least) + 2 * DBL_EPSILON * n * fmax(largest, fabs(b));
        if (!(found - least <= rounding && fabsl(value - found) <= rounding)) {
            fail_msg("trial %d: from %g to %.17g, where the loss is %Lg (%g) and not %Lg", trial, start, b, found,
                     value, least);
        }
    }
}

/* Margins that are neighbors far from 0: the intercept is the best of all numbers that there are, from any start. */
static void test_intercept_among_neighbors(void **state) {
    (void)state;
    enum { MOST = 9, NEIGHBORS = 8 };
    const double starts[] = {0, -1, 1e15, -2.99e30, 3.01e30, -1e31, 1e100};
    double y[MOST], z[MOST], r[MOST], terms[MOST], all[2 * NEIGHBORS];
    clv_rng rng = clv_rng_stream(29, 0);
    all[0] = -3e30;
    for (int e = 1; e < 2 * NEIGHBORS; e++) {
        all[e] = nextafter(all[e - 1], 0);
    }
    for (int trial = 0; trial < 500; trial++) {
        clv_loss loss = {CLV_KSUPPORT_LOGISTIC, 2 + clv_rng_below(&rng, MOST - 1), y, true, 1};
        double least = INFINITY;
        for (int64_t m = 0; m < loss.samples; m++) {
            z[m] = -all[NEIGHBORS / 2 + clv_rng_below(&rng, NEIGHBORS)];
            y[m] = m < 2 ? (double)(2 * m - 1) : clv_rng_uniform(&rng) < 0.3 ? 1 : -1;
        }
        for (int e = 0; e < 2 * NEIGHBORS; e++) {
            least = fmin(least, clv_loss_with(&loss, terms, z, all[e], r));
        }
        for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
            double b = starts[s], value = clv_loss_at(&loss, terms, z, &b, r, NULL);
            if (!(value <= least * (1 + 1e-14))) {
                fail_msg("trial %d: from %g to %.17g, where the loss is %g and not %g", trial, starts[s], b, value,
                         least);
            }
        }
    }
}

/* Whatever the unit of the targets, the derivatives at the best intercept add up to 0 but for rounding. */
static void test_intercept_in_any_unit(void **state) {
    (void)state;
    enum { N = 5 };
    double y[N], z[N], r[N], terms[N];
    clv_loss loss = {CLV_KSUPPORT_SQUARES, N, y, true, 1};
    for (int power = -60; power <= 60; power += 5) {
        double unit = pow(10, power), b = 0, sum = 0, size = 0;
        for (int m = 0; m < N; m++) {
            y[m] = unit * (m + 0.3 * m * m);
            z[m] = unit * (1 - 0.1 * m);
        }
        clv_loss_at(&loss, terms, z, &b, r, NULL);
        for (int m = 0; m < N; m++) {
            sum += r[m];
            size += fabs(r[m]);
        }
        assert_true(fabs(sum) <= 1e-14 * size);
    }
}

static int make(void **state) {
    return clv_context_new(NULL, (clv_context **)state);
}

static int finish(void **state) {
    size_t now, peak;
    clv_context_memory(*state, &now, &peak);
    clv_context_free(*state);
    return now == 0 ? 0 : -1;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make, finish)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_solvers_agree),
        CASE(test_layouts_agree),
        CASE(test_working_set_and_threads),
        CASE(test_few_features),
        CASE(test_objective_of_fcfw_never_rises),
        CASE(test_inner_accuracy),
        CASE(test_linear_rate),
        CASE(test_gap_bounds_the_distance),
        CASE(test_evaluation_from_raw_data),
        CASE(test_screening_is_safe),
        CASE(test_first_order_wears_out),
        CASE(test_loss_derivatives),
        CASE(test_intercept_far_away),
        CASE(test_intercept_from_any_start),
        CASE(test_intercept_among_neighbors),
        CASE(test_intercept_in_any_unit),
        CASE(test_quadratic_programs),
        CASE(test_radius),
        CASE(test_radius_and_lambda_meet),
        CASE(test_classes),
        CASE(test_interrupted_models),
        CASE(test_interrupted_models_with_a_start),
        CASE(test_more_starts_than_time),
        CASE(test_interrupted_path),
        CASE(test_rows_of_a_path),
        CASE(test_refused_paths),
        CASE(test_memory),
        CASE(test_memory_of_atoms),
        CASE(test_warm_start),
        CASE(test_newton_on_any_scale),
        CASE(test_newton_on_heavy_tails),
        CASE(test_refusals),
        CASE(test_out_of_range),
        CASE(test_degenerate_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
