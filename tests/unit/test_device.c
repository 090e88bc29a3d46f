/* The home on a graphics card, from the side of the host: what it says when there is no card, no memory, or a failure;
 * rough sums; limits; and that it is left alone where it does not pay. With the plugin of tests/plugin (no card), or,
 * as CLEAVE_TEST_CARD says, with the real one. */
#include "affinity/home.h"

#include "with_context.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 300, P = 4, K = 3 };
static double points[N * P];
static const clv_matrix matrix = {.rows = N, .cols = P, .scalar = CLV_F64, .values = points};

static void fill_points(void) {
    clv_rng rng = clv_rng_stream(3, 0);
    for (int e = 0; e < N * P; e++) {
        points[e] = clv_rng_normal(&rng);
    }
}

static clv_affinity_options on_card(void) {
    clv_affinity_options o;
    clv_affinity_defaults(&o);
    o.home = CLV_HOME_CUDA;
    return o;
}

static void assert_says(const char *part) {
    if (!strstr(clv_message(ctx), part)) {
        fail_msg("\"%s\" does not say \"%s\"", clv_message(ctx), part);
    }
}

static bool is_real(void) {
    return getenv("CLEAVE_PLUGINS") && !strstr(getenv("CLEAVE_PLUGINS"), "tests/plugin");
}

static void test_no_card(void **state) {
    clv_affinity_options o = on_card();
    clv_affinity *a;
    (void)state;
    if (is_real()) {
        skip();
    }
    setenv("CLEAVE_FAKE_CARD", "none", 1);
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_EUSAGE);
    assert_says("needs an NVIDIA graphics card: there is no driver (fake); choose another home");
    unsetenv("CLEAVE_FAKE_CARD");
}

static void test_no_plugin(void **state) {
    char *before = strdup(getenv("CLEAVE_PLUGINS") ? getenv("CLEAVE_PLUGINS") : "");
    clv_affinity_options o = on_card();
    clv_affinity_info plan;
    clv_affinity *a;
    (void)state;
    setenv("CLEAVE_PLUGINS", "/no/such/folder", 1);
    assert_int_equal(clv_affinity_plan(ctx, &matrix, &o, &plan), CLV_OK); /* which needs no card */
    assert_string_equal(plan.home, "cuda");
    assert_true(plan.on_card);
    if (clv_affinity_build(ctx, &matrix, &o, &a) == CLV_OK) { /* it lies where plugins are installed */
        clv_affinity_free(a);
    } else {
        assert_says("libcleave_cuda.so");
        assert_says("choose another home");
    }
    setenv("CLEAVE_PLUGINS", before, 1);
    free(before);
}

static void test_no_memory(void **state) {
    clv_affinity_options o = on_card();
    clv_affinity *a;
    (void)state;
    o.device_memory = 1000;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_ENOMEM);
    assert_says("building the affinity: the graphics card has too little memory");
    assert_says("--device-memory");
}

static void test_failure(void **state) {
    clv_affinity_options o = on_card();
    int32_t labels[N] = {0};
    double y[N];
    clv_affinity *a;
    (void)state;
    if (is_real()) {
        skip();
    }
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
    setenv("CLEAVE_FAKE_CARD", "broken", 1);
    assert_int_equal(clv_affinity_group_sums(a, labels, 1, y, 1), CLV_EINTERNAL);
    assert_says("adding up similarities: the graphics card failed, an illegal address was met (fake)");
    unsetenv("CLEAVE_FAKE_CARD");
    clv_affinity_free(a);
}

/* Rough sums and moves are near the exact ones. */
static void test_rough(void **state) {
    clv_affinity_options o = on_card();
    static int32_t labels[N], after[N];
    static int64_t moved[N];
    static double y[K * N], rough[K * N];
    clv_rng rng = clv_rng_stream(5, 0);
    clv_affinity *a;
    int64_t count = 0;
    (void)state;
    for (int64_t i = 0; i < N; i++) {
        labels[i] = (int32_t)clv_rng_below(&rng, K);
        after[i] = (int32_t)clv_rng_below(&rng, K + 1) - 1;
        moved[count] = i;
        count += i % 3 > 0;
    }
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
    assert_true(clv_affinity_is_rough(a));
    assert_int_equal(clv_affinity_group_sums(a, labels, K, y, 1), CLV_OK);
    assert_int_equal(clv_affinity_rough_sums(a, labels, K, rough, 1), CLV_OK);
    for (int e = 0; e < K * N; e++) {
        assert_true(fabs(y[e] - rough[e]) <= CLV_ROUGH * y[e]);
    }
    assert_int_equal(clv_affinity_move_many(a, moved, labels, after, count, y, 1), CLV_OK);
    assert_int_equal(clv_affinity_rough_moves(a, moved, labels, after, count, rough, 1), CLV_OK);
    for (int e = 0; e < K * N; e++) {
        assert_true(fabs(y[e] - rough[e]) <= CLV_ROUGH * N);
    }
    clv_affinity_free(a);
}

/* And rough products, of few and of many vectors, by what their magnitudes add up to. */
static void test_rough_products(void **state) {
    enum { MANY = 19 };
    static double x[MANY * N], size[MANY * N], y[MANY * N], rough[MANY * N], bound[MANY * N];
    clv_rng rng = clv_rng_stream(6, 0);
    (void)state;
    for (int e = 0; e < MANY * N; e++) {
        x[e] = ldexp(clv_rng_normal(&rng), 40 * (e / N % 3)); /* of any scale */
        size[e] = fabs(x[e]);
    }
    for (int zero = 0; zero < 2; zero++) {
        clv_affinity_options o = on_card();
        clv_affinity *a;
        bool differs = false;
        o.zero_diagonal = zero;
        assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
        for (int64_t k = 1; k <= MANY; k += 6) {
            assert_int_equal(clv_affinity_apply(a, x, k, y, 1), CLV_OK);
            assert_int_equal(clv_affinity_apply(a, size, k, bound, 1), CLV_OK);
            assert_int_equal(clv_affinity_rough_apply(a, x, k, rough, 1), CLV_OK);
            for (int64_t e = 0; e < k * N; e++) {
                assert_true(fabs(y[e] - rough[e]) <= CLV_ROUGH * bound[e]);
                differs = differs || y[e] != rough[e];
            }
        }
        assert_true(differs);
        clv_affinity_free(a);
    }
}

/* A cut that begins with rough sums and degrees ends with exact ones, also where time or a hook ends it. */
static void test_rough_degrees(void **state) {
    clv_affinity_options o = on_card();
    clv_affinity *card, *host;
    (void)state;
    o.gamma = 0.5;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &card), CLV_OK);
    o.home = CLV_HOME_COMPUTED;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &host), CLV_OK);
    for (int turn = 0; turn < 12; turn++) {
        clv_ncut_options options;
        clv_result *result = NULL, *found = NULL;
        clv_ncut_defaults(&options);
        options.k = K;
        options.polish = turn % 2;
        options.patience = turn % 3 == 0 ? 0 : 5;
        options.control.seed = turn;
        options.control.max_iter = turn < 6 ? 1000 : turn - 5;
        assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = card}, &options, &result), CLV_OK);
        assert_int_equal(clv_ncut_evaluate(ctx, &(clv_input){.affinity = host}, &options, result, &found), CLV_OK);
        assert_true(fabs(found->objective.value - result->objective.value) <= 1e-12);
        assert_true(fabs(found->certificate.value - result->certificate.value) <= 1e-12);
        clv_result_free(found);
        assert_int_equal(clv_ncut_evaluate(ctx, &(clv_input){.affinity = card}, &options, result, &found), CLV_OK);
        assert_true(fabs(found->objective.value - result->objective.value) <= 1e-12);
        clv_result_free(found);
        clv_result_free(result);
    }
    clv_affinity_free(card);
    clv_affinity_free(host);
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

static void test_interrupt(void **state) {
    clv_affinity_options o = on_card();
    static double x[N], y[N];
    int32_t labels[N] = {0};
    double sum, squares;
    clv_affinity *a;
    (void)state;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
    clv_context_set_interrupt(ctx, stop_at_once, NULL);
    assert_int_equal(clv_affinity_apply(a, x, 1, y, 1), CLV_EINTERRUPTED);
    assert_says("multiplying by the affinity");
    assert_int_equal(clv_affinity_group_sums(a, labels, 1, y, 1), CLV_EINTERRUPTED);
    clv_context_set_interrupt(ctx, NULL, NULL);
    assert_int_equal(clv_affinity_moments(a, 1, &sum, &squares), CLV_OK);
    assert_true(sum > N && squares < sum); /* entries lie between 0 and 1, and N of them are 1 */
    clv_affinity_free(a);
}

/* auto takes a card for work that takes long, and not for less; nor for what another home has cheap products of. */
static void test_auto(void **state) {
    clv_affinity_options o = on_card();
    clv_affinity_info plan;
    clv_matrix many = matrix;
    (void)state;
    o.home = CLV_HOME_AUTO;
    assert_int_equal(clv_affinity_plan(ctx, &matrix, &o, &plan), CLV_OK);
    assert_string_not_equal(plan.home, "cuda");
    many.rows = 200000;
    assert_int_equal(clv_affinity_plan(ctx, &many, &o, &plan), CLV_OK);
    assert_string_equal(plan.home, "cuda");
    o.kind = CLV_AFFINITY_COSINE;
    assert_int_equal(clv_affinity_plan(ctx, &many, &o, &plan), CLV_OK);
    assert_string_not_equal(plan.home, "cuda");
    o.kind = CLV_AFFINITY_GAUSSIAN;
    if (!is_real()) {
        setenv("CLEAVE_FAKE_CARD", "none", 1);
        assert_int_equal(clv_affinity_plan(ctx, &many, &o, &plan), CLV_OK);
        assert_string_not_equal(plan.home, "cuda");
        unsetenv("CLEAVE_FAKE_CARD");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_card, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_plugin, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rough, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rough_products, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rough_degrees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interrupt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_auto, set_up, tear_down),
    };
    fill_points();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
