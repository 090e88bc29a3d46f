/* Answers of pursuit: the same as of ksupport on the problem written out; the largest entries of the gradient as a sort
 * finds them; the affinity. */
#include "methods/pursuit/pursuit.h"

#include "../unit/failing.h"

#include <math.h>

enum { N = 12, D = 5, K = 20 };

static void draw(double *points, int64_t n, int64_t d, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    for (int64_t i = 0; i < n * d; i++) {
        points[i] = clv_rng_normal(&rng);
    }
}

static clv_pursuit_options defaults(void) {
    clv_pursuit_options options;
    clv_pursuit_defaults(&options);
    options.k = K;
    options.lambda = 1;
    options.control.tol = 1e-7;
    options.control.max_iter = 100000;
    options.control.threads = 1;
    return options;
}

/* vec W as the weights of a regression: sample (j, f) has the feature (i, j) with value P_if. */
static void write_out(const double *points, bool zero_diagonal, double *x) {
    memset(x, 0, N * D * N * N * sizeof *x);
    for (int64_t j = 0; j < N; j++) {
        for (int64_t f = 0; f < D; f++) {
            for (int64_t i = 0; i < N; i++) {
                bool left_out = zero_diagonal && i == j;
                x[(j * D + f) * N * N + i * N + j] = left_out ? 0 : points[i * D + f];
            }
        }
    }
}

static void test_is_the_problem_written_out(void **state) {
    clv_context *ctx = *state;
    double points[N * D], *x = malloc(N * D * N * N * sizeof *x);
    const clv_matrix view = {N, D, CLV_F64, points, NULL, NULL}, big = {N * D, N * N, CLV_F64, x, NULL, NULL};
    for (int trial = 0; trial < 6; trial++) {
        clv_pursuit_options options = defaults();
        clv_ksupport_options same;
        clv_result *exact, *found;
        draw(points, N, D, (uint64_t)trial);
        options.zero_diagonal = trial % 2;
        write_out(points, options.zero_diagonal, x);
        clv_ksupport_defaults(&same);
        same.control = options.control;
        same.control.tol = 1e-8;
        same.k = K;
        same.loss = CLV_KSUPPORT_SQUARES;
        same.lambda = options.lambda;
        same.ridge = 0;
        same.solver = CLV_KSUPPORT_NEWTON;
        const clv_matrix y = {N * D, 1, CLV_F64, points, NULL, NULL};
        assert_int_equal(clv_ksupport(ctx, &(clv_input){.points = &big, .targets = &y}, &same, &exact), CLV_OK);
        for (int solver = CLV_KSUPPORT_FCFW; solver <= CLV_KSUPPORT_ADMM; solver++) {
            if (solver == CLV_KSUPPORT_ADMM && options.zero_diagonal) {
                continue;
            }
            options.solver = solver;
            options.control.tol = 1e-6;
            assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &found), CLV_OK);
            assert_true(found->certificate.holds);
            double apart = found->objective.value - exact->objective.value;
            assert_true(fabs(apart) <= 2e-6 * exact->objective.value);
            clv_result *again;
            assert_int_equal(clv_pursuit_evaluate(ctx, &(clv_input){.points = &view}, &options, found, &again), CLV_OK);
            assert_true(fabs(again->objective.value - found->objective.value) <= 1e-12 * again->objective.value);
            clv_result_free(again);
            clv_result_free(found);
        }
        clv_result_free(exact);
    }
    free(x);
}

/* Whether these N x N weights are an answer. */
static clv_status evaluate(clv_context *ctx, const clv_matrix *points, const clv_pursuit_options *options,
                           const double *w) {
    const clv_matrix weights = {N, N, CLV_F64, w, NULL, NULL};
    clv_result *answer, *found;
    assert_int_equal(clv_result_new(ctx, 0, options->k, &answer), CLV_OK);
    answer->n = N;
    assert_int_equal(
        clv_result_put(answer,
                       &(clv_field){.name = "weights", .kind = CLV_FIELD_SPARSE, .count = 1, .matrix = &weights}),
        CLV_OK);
    clv_status status = clv_pursuit_evaluate(ctx, &(clv_input){.points = points}, options, answer, &found);
    assert_int_equal(found != NULL, status == CLV_OK);
    clv_result_free(found);
    clv_result_free(answer);
    return status;
}

static void test_bounded_norm(void **state) {
    clv_context *ctx = *state;
    double points[N * D];
    const clv_matrix view = {N, D, CLV_F64, points, NULL, NULL};
    clv_pursuit_options options = defaults();
    clv_result *atoms, *gradients;
    double w[N * N], norm;
    draw(points, N, D, 50);
    options.radius = 0.8;
    options.control.tol = 1e-5;
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &atoms), CLV_OK);
    options.solver = CLV_KSUPPORT_FISTA;
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &gradients), CLV_OK);
    for (int64_t i = 0; i < N; i++) {
        clv_matrix_row(clv_result_matrix(atoms, "weights"), i, w + i * N);
    }
    assert_int_equal(clv_ksupport_norm(ctx, w, N * N, K, 1, &norm), CLV_OK);
    assert_true(norm <= 0.8 * (1 + 1e-10));
    assert_int_equal(evaluate(ctx, &view, &options, w), CLV_OK);
    for (int64_t e = 0; e < N * N; e++) {
        w[e] *= 1.00001 * 0.8 / norm;
    }
    assert_int_equal(evaluate(ctx, &view, &options, w), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "beyond the radius"));
    assert_true(fabs(atoms->objective.value - gradients->objective.value) <= 2e-5 * atoms->objective.value);
    clv_result_free(atoms);
    clv_result_free(gradients);
}

/* --- the scan --- */

static const double *keys;
static int by_magnitude(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    double x = fabs(keys[a]), y = fabs(keys[b]);
    return x > y ? -1 : x < y ? 1 : (a > b) - (a < b);
}

/* The sum of the squares of the k largest of n x n entries. */
static double squares_of_largest(const double *g, int64_t n, int64_t k, int64_t *order) {
    double sum = 0;
    for (int64_t i = 0; i < n * n; i++) {
        order[i] = i;
    }
    keys = g;
    qsort(order, (size_t)(n * n), sizeof *order, by_magnitude);
    for (int64_t i = 0; i < k; i++) {
        sum += g[order[i]] * g[order[i]];
    }
    return sum;
}

static void check_scan(clv_context *ctx, int64_t n, int64_t d, int64_t k, bool zero_diagonal, int threads) {
    double *points = malloc((size_t)(n * d) * sizeof *points), *r = malloc((size_t)(n * d) * sizeof *r);
    double *g = malloc((size_t)(n * n) * sizeof *g);
    int64_t *order = malloc((size_t)(n * n) * sizeof *order);
    clv_pursuit_points p;
    clv_list top = {0};
    draw(points, n, d, (uint64_t)(n + k));
    const clv_matrix view = {n, d, CLV_F64, points, NULL, NULL};
    assert_int_equal(clv_pursuit_points_new(ctx, &view, zero_diagonal, threads, &p), CLV_OK);
    clv_design x = clv_pursuit_design(&p);
    void *work;
    assert_int_equal(x.does->new_work(&x, k, &work), CLV_OK);
    for (int time = 0; time < 4; time++) { /* the bar of one time is used the next */
        draw(r, n, d, 1000 + (uint64_t)time);
        for (int64_t i = 0; i < n * d; i++) {
            r[i] *= pow(0.2, time);
        }
        x.does->gradient(&x, r, NULL, n * n, g, NULL);
        assert_int_equal(clv_pursuit_steepest(&x, work, r, k, &top), CLV_OK);
        double sum = squares_of_largest(g, n, k, order), found = clv_list_square(&top);
        assert_true(fabs(sum - found) <= 1e-10 * sum);
        for (int64_t i = 0; i < top.count; i++) {
            assert_true(i == 0 || top.index[i] > top.index[i - 1]);
            assert_true(fabs(top.value[i] - g[top.index[i]]) <= 1e-12 * fabs(g[order[0]]));
        }
    }
    clv_list_free(ctx, &top);
    x.does->free_work(ctx, work);
    clv_pursuit_points_free(&p);
    free(points);
    free(r);
    free(g);
    free(order);
}

static void test_scan_finds_the_largest(void **state) {
    check_scan(*state, 150, 7, 40, false, 1);
    check_scan(*state, 150, 7, 3000, true, 2);
    check_scan(*state, 65, 3, 65 * 65, false, 3);
    check_scan(*state, 64, 200, 1, true, 2);
    check_scan(*state, 2, 1, 4, false, 1);
}

/* Slopes that floats cannot hold, and products that cancel to what floats cannot tell from 0: the k largest all the
 * same. */
static void test_scan_beyond_single_precision(void **state) {
    clv_context *ctx = *state;
    enum { M = 70, K_TOP = 150 };
    static double points[M * 2], r[M * 2], g[M * M];
    static int64_t order[M * M];
    const clv_matrix view = {M, 2, CLV_F64, points, NULL, NULL};
    clv_rng rng = clv_rng_stream(5, 0);
    for (int trial = 0; trial < 6; trial++) {
        static const double sizes[] = {1, 1e-60, 1e60};
        double size = sizes[trial % 3], apart = trial < 3 ? 1 : 1e-11;
        clv_pursuit_points p;
        clv_list top = {0};
        for (int64_t i = 0; i < M; i++) {
            double along = 1 + clv_rng_uniform(&rng);
            points[2 * i] = points[2 * i + 1] = along;
            r[2 * i] = size * (1 + clv_rng_uniform(&rng));
            r[2 * i + 1] = -r[2 * i] + size * apart * clv_rng_normal(&rng);
        }
        assert_int_equal(clv_pursuit_points_new(ctx, &view, trial % 2, 1, &p), CLV_OK);
        clv_design x = clv_pursuit_design(&p);
        void *work;
        assert_int_equal(x.does->new_work(&x, K_TOP, &work), CLV_OK);
        x.does->gradient(&x, r, NULL, M * M, g, NULL);
        for (int time = 0; time < 2; time++) {
            assert_int_equal(clv_pursuit_steepest(&x, work, r, K_TOP, &top), CLV_OK);
            double sum = squares_of_largest(g, M, K_TOP, order), found = clv_list_square(&top);
            assert_true(top.count == K_TOP && fabs(found - sum) <= 1e-4 * sum);
            for (int64_t i = 1; i < top.count; i++) {
                assert_true(top.index[i] > top.index[i - 1]);
            }
        }
        clv_list_free(ctx, &top);
        x.does->free_work(ctx, work);
        clv_pursuit_points_free(&p);
    }
}

/* W is the same in any unit of the points, with lambda in units of their squares. */
static void test_any_unit(void **state) {
    clv_context *ctx = *state;
    double points[N * D], scaled[N * D], w[N], v[N];
    const clv_matrix view = {N, D, CLV_F64, points, NULL, NULL}, other = {N, D, CLV_F64, scaled, NULL, NULL};
    clv_pursuit_options options = defaults();
    clv_result *found, *same;
    draw(points, N, D, 51);
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &found), CLV_OK);
    double lambda = options.lambda;
    for (int power = -400; power <= 300; power += 70) {
        for (int64_t e = 0; e < N * D; e++) {
            scaled[e] = ldexp(points[e], power);
        }
        options.lambda = ldexp(lambda, 2 * power);
        assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &other}, &options, &same), CLV_OK);
        assert_true(same->objective.value == ldexp(found->objective.value, 2 * power));
        assert_true(same->certificate.value == found->certificate.value && same->certificate.holds);
        for (int64_t i = 0; i < N; i++) {
            clv_matrix_row(clv_result_matrix(found, "weights"), i, w);
            clv_matrix_row(clv_result_matrix(same, "weights"), i, v);
            assert_memory_equal(w, v, sizeof w);
        }
        clv_result_free(same);
    }
    clv_result_free(found);
    options.lambda = 1e200;
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &same), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "too small or too large for points"));
    for (int64_t e = 0; e < N * D; e++) {
        scaled[e] = ldexp(points[e], -500);
    }
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &other}, &options, &same), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "scale them"));
}

static void test_threads_do_not_matter(void **state) {
    clv_context *ctx = *state;
    enum { MANY = 150, WIDE = 9 };
    double *points = malloc(MANY * WIDE * sizeof *points);
    const clv_matrix view = {MANY, WIDE, CLV_F64, points, NULL, NULL};
    clv_pursuit_options options = defaults();
    clv_result *one, *three;
    draw(points, MANY, WIDE, 9);
    options.k = 400;
    options.control.tol = 1e-4;
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &one), CLV_OK);
    options.control.threads = 3;
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &three), CLV_OK);
    const clv_matrix *a = clv_result_matrix(one, "weights"), *b = clv_result_matrix(three, "weights");
    assert_true(one->objective.value == three->objective.value);
    assert_int_equal(a->start[MANY], b->start[MANY]);
    assert_memory_equal(a->values, b->values, (size_t)a->start[MANY] * sizeof(double));
    clv_result_free(one);
    clv_result_free(three);
    free(points);
}

/* What one shape asks of admm: the optimum that fcfw finds, within the memory that is forecast, on any number of
 * threads. */
static void check_admm(int64_t n, int64_t d) {
    double *points = malloc((size_t)(n * d) * sizeof *points);
    const clv_matrix view = {n, d, CLV_F64, points, NULL, NULL};
    const clv_input input = {.points = &view};
    clv_pursuit_options options = defaults();
    clv_result *exact, *found[2];
    size_t now, peak;
    clv_context *own;
    assert_int_equal(clv_context_new(NULL, &own), CLV_OK);
    draw(points, n, d, (uint64_t)d);
    options.lambda = (double)d / 4;
    options.control.tol = 1e-5;
    for (int run = 0; run < 2; run++) {
        options.solver = CLV_KSUPPORT_ADMM;
        options.control.threads = 1 + 2 * run;
        assert_int_equal(clv_pursuit(own, &input, &options, &found[run]), CLV_OK);
        clv_context_memory(own, &now, &peak);
        assert_true(peak <= clv_pursuit_memory(&input, &options));
        assert_true(found[run]->certificate.holds);
    }
    assert_true(found[0]->objective.value == found[1]->objective.value);
    options.solver = CLV_KSUPPORT_FCFW;
    assert_int_equal(clv_pursuit(own, &input, &options, &exact), CLV_OK);
    assert_true(fabs(found[0]->objective.value - exact->objective.value) <= 2e-5 * exact->objective.value);
    clv_result_free(exact);
    clv_result_free(found[0]);
    clv_result_free(found[1]);
    clv_context_free(own);
    free(points);
}

static void test_admm_of_any_shape(void **state) {
    (void)state;
    check_admm(12, 900);
    check_admm(40, 40);
    check_admm(90, 20);
    check_admm(300, 310); /* several panels to factor */
    check_admm(310, 300);
}

/* --- the affinity --- */

static void test_affinity(void **state) {
    clv_context *ctx = *state;
    double points[N * D], w[N * N], a[N * N];
    const clv_matrix view = {N, D, CLV_F64, points, NULL, NULL};
    clv_pursuit_options options = defaults();
    clv_result *found;
    clv_data *graph;
    draw(points, N, D, 70);
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &found), CLV_OK);
    assert_int_equal(clv_pursuit_affinity(ctx, clv_result_matrix(found, "weights"), &graph), CLV_OK);
    for (int64_t i = 0; i < N; i++) {
        clv_matrix_row(clv_result_matrix(found, "weights"), i, w + i * N);
        clv_matrix_row(clv_data_matrix(graph), i, a + i * N);
    }
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < N; j++) {
            double wanted = i == j ? 0 : fabs(w[i * N + j]) + fabs(w[j * N + i]);
            assert_true(fabs(a[i * N + j] - wanted) <= 1e-15 && a[i * N + j] == a[j * N + i]);
        }
    }
    clv_data_free(graph);
    clv_result_free(found);
}

/* The warning about the length of the objects, after an iteration or two, or NULL. */
static void check_advice(clv_context *ctx, double length, double lambda, const char *expected) {
    double points[N * D];
    const clv_matrix view = {N, D, CLV_F64, points, NULL, NULL};
    clv_pursuit_options options = defaults();
    clv_result *result;
    bool found = false;
    draw(points, N, D, 7);
    for (int64_t i = 0; i < N; i++) {
        double norm = sqrt(clv_dot(points + i * D, points + i * D, D, 1));
        for (int64_t f = 0; f < D; f++) {
            points[i * D + f] *= length / norm;
        }
    }
    options.lambda = lambda;
    options.control.max_iter = 2;
    options.control.tol = 1e-12;
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &result), CLV_OK);
    assert_false(result->certificate.holds);
    const clv_field *warnings = clv_result_field(result, "warnings");
    for (int64_t w = 0; warnings && w < warnings->count; w++) {
        bool is_it = strstr(warnings->texts[w], "squared length") != NULL;
        assert_true(!is_it || (expected && strstr(warnings->texts[w], expected)));
        found = found || is_it;
    }
    assert_int_equal(found, expected != NULL);
    clv_result_free(result);
}

static void test_long_objects(void **state) {
    check_advice(*state, 100, 20, "try --scale unit-rows");
    check_advice(*state, 1, 0.01, NULL); /* it would be no advice there */
    check_advice(*state, 1, 1.1, NULL);  /* what the advice leads to */
}

/* Few entries explain few objects: more of them, or a weaker bound of the kind that was given. */
static void test_unexplained_objects(void **state) {
    double points[N * D];
    const clv_matrix view = {N, D, CLV_F64, points, NULL, NULL};
    draw(points, N, D, 7);
    for (int bounded = 0; bounded < 2; bounded++) {
        clv_pursuit_options options = defaults();
        clv_result *result;
        options.k = 1;
        options.lambda = 1000;
        options.radius = bounded ? 1e-3 : 0;
        assert_int_equal(clv_pursuit(*state, &(clv_input){.points = &view}, &options, &result), CLV_OK);
        const clv_field *warnings = clv_result_field(result, "warnings");
        assert_true(warnings && warnings->count == 1);
        assert_non_null(strstr(warnings->texts[0], bounded ? "a larger --radius" : "a smaller --lambda"));
        assert_int_equal(strstr(warnings->texts[0], "--lambda") != NULL, !bounded);
        clv_result_free(result);
    }
}

static void test_refusals(void **state) {
    clv_context *ctx = *state;
    double points[N * D];
    clv_matrix view = {N, D, CLV_F64, points, NULL, NULL};
    clv_pursuit_options options = defaults();
    clv_result *found;
    draw(points, N, D, 80);
    options.k = N * N + 1;
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &found), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "exceeds the 12 x 12 entries"));
    options = defaults();
    options.lambda = -1;
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &found), CLV_EUSAGE);
    options = defaults();
    view.rows = 1;
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &found), CLV_EDATA);
    view.rows = N;
    points[3] = NAN;
    assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &found), CLV_EDATA);
}

/* Objects that are all the same, or all 0, have a solution. */
static void test_degenerate_points(void **state) {
    clv_context *ctx = *state;
    double same[N * D], zero[N * D] = {0};
    clv_matrix view = {N, D, CLV_F64, same, NULL, NULL}, nothing = {N, D, CLV_F64, zero, NULL, NULL};
    clv_pursuit_options options = defaults();
    options.control.tol = 1e-4;
    for (int64_t i = 0; i < N * D; i++) {
        same[i] = 1;
    }
    for (int solver = CLV_KSUPPORT_FCFW; solver <= CLV_KSUPPORT_ADMM; solver++) {
        clv_result *found;
        options.solver = solver;
        assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &view}, &options, &found), CLV_OK);
        assert_true(found->certificate.holds);
        clv_result_free(found);
        assert_int_equal(clv_pursuit(ctx, &(clv_input){.points = &nothing}, &options, &found), CLV_OK);
        assert_true(found->objective.value == 0 && found->certificate.holds);
        clv_result_free(found);
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
        CASE(test_is_the_problem_written_out),
        CASE(test_bounded_norm),
        CASE(test_scan_finds_the_largest),
        CASE(test_scan_beyond_single_precision),
        CASE(test_any_unit),
        CASE(test_threads_do_not_matter),
        CASE(test_admm_of_any_shape),
        CASE(test_affinity),
        CASE(test_long_objects),
        CASE(test_unexplained_objects),
        CASE(test_refusals),
        CASE(test_degenerate_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
