/* kpalm with home = cuda: what is found is what the host finds, by all variants of the method; and what it says when
 * there is no card, no memory, or a failure. With the plugin of tests/plugin (no card), or, as CLEAVE_TEST_CARD says,
 * with the real one. */
#include "methods/kpalm/kpalm.h"

#include "with_context.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 700, P = 5, K = 6, MANY = 70000, WIDE = 16 };
static double points[N * P], sample[N], factors[N], initial[N * K];
static float singles[N * P];
static const clv_matrix doubles = {.rows = N, .cols = P, .scalar = CLV_F64, .values = points};
static const clv_matrix floats = {.rows = N, .cols = P, .scalar = CLV_F32, .values = singles};

static void fill(clv_rng *rng, double *values, int64_t n, int64_t p, int64_t groups) {
    for (int64_t e = 0; e < n * p; e++) {
        double center = 3 * sin((double)(e / p % groups * 7 + e % p * 3 + 1));
        values[e] = center + clv_rng_normal(rng);
    }
}

static void fill_all(void) {
    clv_rng rng = clv_rng_stream(7, 0);
    fill(&rng, points, N, P, K);
    for (int e = 0; e < N * P; e++) {
        singles[e] = (float)points[e];
    }
    for (int i = 0; i < N; i++) {
        double sum = 0;
        sample[i] = 0.5 + clv_rng_uniform(&rng);
        factors[i] = 0.5 + clv_rng_uniform(&rng);
        for (int l = 0; l < K; l++) {
            initial[i * K + l] = clv_rng_uniform(&rng);
            sum += initial[i * K + l];
        }
        for (int l = 0; l < K; l++) {
            initial[i * K + l] /= sum;
        }
    }
}

static bool is_real(void) {
    return getenv("CLEAVE_PLUGINS") && !strstr(getenv("CLEAVE_PLUGINS"), "tests/plugin");
}

static void assert_says(const char *part) {
    if (!strstr(clv_message(ctx), part)) {
        fail_msg("\"%s\" does not say \"%s\"", clv_message(ctx), part);
    }
}

static clv_kpalm_options options_for(int64_t k) {
    clv_kpalm_options o;
    clv_kpalm_defaults(&o);
    o.k = k;
    o.control.seed = 5;
    return o;
}

static clv_result *solve(const clv_input *input, clv_kpalm_options options, int place) {
    clv_result *result = NULL;
    options.place = place;
    clv_status status = clv_kpalm(ctx, input, &options, &result);
    if (status != CLV_OK) {
        fail_msg("%s", clv_message(ctx));
    }
    return result;
}

/* Both homes go the same way to the same end. */
static void compare(const clv_input *input, const clv_kpalm_options *options) {
    clv_result *here = solve(input, *options, CLV_KPALM_HOST), *there = solve(input, *options, CLV_KPALM_CUDA);
    int64_t n = input->points->rows;
    assert_memory_equal(here->labels, there->labels, (size_t)n * sizeof *here->labels);
    assert_true(fabs(here->objective.value - there->objective.value) <= 1e-9 * here->objective.value);
    assert_int_equal(here->certificate.holds, there->certificate.holds);
    assert_int_equal(here->iterations, there->iterations);
    clv_result_free(here);
    clv_result_free(there);
}

static void test_squared(void **state) {
    clv_input inputs[] = {{.points = &doubles}, {.points = &floats}};
    (void)state;
    for (size_t i = 0; i < CLV_COUNT(inputs); i++) {
        clv_kpalm_options o = options_for(K);
        compare(&inputs[i], &o);
        o.solver = CLV_KPALM_LLOYD;
        compare(&inputs[i], &o);
        o.solver = CLV_KPALM_KPALM;
        o.initial_membership = CLV_KPALM_NEAREST;
        compare(&inputs[i], &o);
        o.initial_membership = CLV_KPALM_DIRICHLET;
        compare(&inputs[i], &o);
    }
}

static void test_euclidean(void **state) {
    clv_input input = {.points = &doubles};
    clv_kpalm_options o = options_for(K);
    (void)state;
    o.norm = CLV_KPALM_EUCLIDEAN;
    compare(&input, &o);
    o.solver = CLV_KPALM_WEISZFELD;
    compare(&input, &o);
}

static void test_given(void **state) {
    clv_matrix weights = {.rows = N, .cols = 1, .values = sample}, alphas = {.rows = N, .cols = 1, .values = factors};
    clv_matrix begin = {.rows = N, .cols = K, .values = initial};
    clv_input input = {.points = &doubles, .weights = &weights, .object_alpha = &alphas};
    clv_kpalm_options o = options_for(K);
    (void)state;
    compare(&input, &o);
    input.start_membership = &begin;
    o.control.restarts = 3;
    o.control.threads = 2;
    compare(&input, &o);
}

/* A run that is stopped with objects in several clusters keeps its weights. */
static void test_memberships(void **state) {
    clv_input input = {.points = &doubles};
    clv_kpalm_options o = options_for(K);
    (void)state;
    o.control.max_iter = 2;
    clv_result *here = solve(&input, o, CLV_KPALM_HOST), *there = solve(&input, o, CLV_KPALM_CUDA);
    const clv_matrix *w = clv_result_matrix(here, "membership"), *v = clv_result_matrix(there, "membership");
    assert_non_null(w);
    assert_non_null(v);
    assert_int_equal(w->start[N], v->start[N]);
    for (int64_t e = 0; e < w->start[N]; e++) {
        assert_int_equal(w->index[e], v->index[e]);
        assert_true(fabs(((double *)w->values)[e] - ((double *)v->values)[e]) <= 1e-9);
    }
    clv_result_free(here);
    clv_result_free(there);
}

/* So many weights that a host does not keep them all; empty clusters that are filled again. */
static void test_many(void **state) {
    double *values = malloc(sizeof(double) * MANY * 2), far[2 * WIDE];
    clv_matrix many = {.rows = MANY, .cols = 2, .values = values}, centers = {.rows = WIDE, .cols = 2, .values = far};
    clv_input input = {.points = &many};
    clv_kpalm_options o = options_for(WIDE);
    clv_rng rng = clv_rng_stream(9, 0);
    (void)state;
    if (getenv("CLEAVE_TEST_SMALL")) { /* under tools that make everything slow */
        free(values);
        skip();
    }
    fill(&rng, values, MANY, 2, WIDE);
    o.control.max_iter = 9;
    o.polish = 0;
    compare(&input, &o);
    for (int e = 0; e < 2 * WIDE; e++) {
        far[e] = e < WIDE ? values[e] : 40 + e; /* half of them are nobody's */
    }
    input.start = &centers;
    o.solver = CLV_KPALM_LLOYD;
    compare(&input, &o);
    free(values);
}

static void test_failures(void **state) {
    clv_input input = {.points = &doubles};
    clv_kpalm_options o = options_for(K);
    clv_result *result = NULL;
    int64_t start[] = {0, 1, 1};
    int32_t index[] = {0};
    clv_matrix sparse = {2, 2, CLV_F64, points, start, index};
    (void)state;
    o.place = CLV_KPALM_CUDA;
    o.device_memory = 1000;
    assert_int_equal(clv_kpalm(ctx, &input, &o, &result), CLV_ENOMEM);
    assert_says("sending the points: the graphics card has too little memory");
    o.device_memory = 0;
    o.k = 1;
    assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &sparse}, &o, &result), CLV_EUSAGE);
    assert_says("home = cuda takes dense points, and these are sparse; choose home = host");
    if (is_real()) {
        return;
    }
    o.k = K;
    setenv("CLEAVE_FAKE_CARD", "none", 1);
    assert_int_equal(clv_kpalm(ctx, &input, &o, &result), CLV_EUSAGE);
    assert_says("needs an NVIDIA graphics card: there is no driver (fake)");
    setenv("CLEAVE_FAKE_CARD", "broken", 1);
    assert_int_equal(clv_kpalm(ctx, &input, &o, &result), CLV_EINTERNAL);
    assert_says("assigning objects to centers: the graphics card failed, an illegal address was met (fake)");
    unsetenv("CLEAVE_FAKE_CARD");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_squared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_euclidean, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_given, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memberships, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
    };
    fill_all();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
