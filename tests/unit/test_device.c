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

static double largest_difference(const double *x, const double *y, const double *size, int64_t count) {
    double most = 0;
    for (int64_t e = 0; e < count; e++) {
        most = fmax(most, fabs(x[e] - y[e]) / size[e]);
    }
    return most;
}

/* Whatever the number of features, of which the kernels depend, and with objects that are nowhere. */
static void check_shape(int64_t n, int64_t features, int zero) {
    enum { VECTORS = 11 };
    double *values = malloc((size_t)(n * features) * sizeof *values);
    double *rough = malloc((size_t)(n * VECTORS) * sizeof *rough), *y = malloc((size_t)(n * VECTORS) * sizeof *y);
    double *x = malloc((size_t)(n * VECTORS) * sizeof *x), *size = malloc((size_t)(n * VECTORS) * sizeof *size);
    int32_t *labels = malloc((size_t)n * sizeof *labels), *after = malloc((size_t)n * sizeof *after);
    int64_t *all = malloc((size_t)n * sizeof *all);
    clv_matrix wide = {.rows = n, .cols = features, .scalar = CLV_F64, .values = values};
    clv_rng rng = clv_rng_stream(7, (uint64_t)features);
    clv_affinity_options o = on_card();
    clv_affinity *a;
    for (int64_t e = 0; e < n * features; e++) {
        values[e] = clv_rng_normal(&rng);
    }
    for (int64_t e = 0; e < n * VECTORS; e++) {
        x[e] = clv_rng_uniform(&rng) + 0.5;
    }
    for (int64_t i = 0; i < n; i++) {
        labels[i] = clv_rng_below(&rng, 50) == 0 ? -1 : (int32_t)clv_rng_below(&rng, K);
        after[i] = clv_rng_below(&rng, 9) == 0 ? (int32_t)clv_rng_below(&rng, K + 1) - 1 : labels[i];
        all[i] = i;
    }
    o.gamma = 0.25 / (double)features;
    o.zero_diagonal = zero;
    assert_int_equal(clv_affinity_build(ctx, &wide, &o, &a), CLV_OK);
    assert_int_equal(clv_affinity_group_sums(a, labels, K, y, 1), CLV_OK);
    assert_int_equal(clv_affinity_rough_sums(a, labels, K, rough, 1), CLV_OK);
    memcpy(size, y, (size_t)(n * K) * sizeof *y);
    assert_true(largest_difference(y, rough, size, n * K) <= CLV_ROUGH);
    assert_true(memcmp(y, rough, (size_t)(n * K) * sizeof *y) != 0);
    assert_int_equal(clv_affinity_move_many(a, all, labels, after, n, y, 1), CLV_OK);
    assert_int_equal(clv_affinity_rough_moves(a, all, labels, after, n, rough, 1), CLV_OK);
    assert_true(largest_difference(y, rough, size, n * K) <= 2 * CLV_ROUGH);
    assert_int_equal(clv_affinity_apply(a, x, VECTORS, y, 1), CLV_OK);
    assert_int_equal(clv_affinity_rough_apply(a, x, VECTORS, rough, 1), CLV_OK);
    assert_true(largest_difference(y, rough, y, n * VECTORS) <= CLV_ROUGH);
    clv_affinity_free(a);
    free(values);
    free(rough);
    free(y);
    free(x);
    free(size);
    free(labels);
    free(after);
    free(all);
}

static void test_rough_shapes(void **state) {
    (void)state;
    for (int64_t features = 1; features < 80; features += 15) {
        check_shape(is_real() ? 2980 : 200, features, features % 2 == 0);
    }
    check_shape(is_real() ? 2980 : 200, 64, 1);
}

/* The similarities of new points are computed there, and are those of other homes. */
static void check_cross(clv_affinity_kind kind, int64_t m) {
    static const int64_t some[] = {0, 5, 6, 200, N - 1};
    clv_affinity_options o = on_card();
    double *values = malloc((size_t)(m * P) * sizeof *values);
    clv_matrix fresh = {.rows = m, .cols = P, .scalar = CLV_F64, .values = values};
    clv_rng rng = clv_rng_stream(8, 0);
    clv_affinity *a, *b;
    clv_data *ours, *theirs, *few;
    clv_cross cross;
    for (int64_t e = 0; e < m * P; e++) { /* the first ones are old */
        values[e] = e < 70 * P ? points[e] : clv_rng_normal(&rng);
    }
    o.kind = kind;
    o.zero_diagonal = 1;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
    o.home = CLV_HOME_AUTO;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &b), CLV_OK);
    assert_int_equal(clv_affinity_cross(a, &fresh, &ours), CLV_OK);
    assert_int_equal(clv_affinity_cross(b, &fresh, &theirs), CLV_OK);
    const double *x = clv_data_matrix(ours)->values, *y = clv_data_matrix(theirs)->values;
    for (int64_t e = 0; e < m * N; e++) {
        assert_true(fabs(x[e] - y[e]) <= 1e-13 * fmax(1, fabs(y[e])));
    }
    assert_int_equal(clv_cross_new(ctx, a, 1, &cross), CLV_OK);
    assert_ptr_equal(cross.home, a);
    assert_true(clv_cross_narrow(&cross, some, 5));
    assert_int_equal(clv_cross_rows(&cross, &fresh, 1, &few), CLV_OK);
    for (int64_t e = 0; e < m * 5; e++) {
        assert_true(((const double *)clv_data_matrix(few)->values)[e] == x[e / 5 * N + some[e % 5]]);
    }
    clv_cross_free(&cross);
    clv_data_free(few);
    clv_data_free(ours);
    clv_data_free(theirs);
    clv_affinity_free(a);
    clv_affinity_free(b);
    free(values);
}

static void test_cross(void **state) {
    (void)state;
    check_cross(CLV_AFFINITY_GAUSSIAN, is_real() ? 60000 : 130); /* several parts, on a card */
    check_cross(CLV_AFFINITY_EXPONENTIAL, 130);
    check_cross(CLV_AFFINITY_COSINE, 130);
    check_cross(CLV_AFFINITY_DISTANCE, 130);
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

/* --- sums that stay on the card --- */

/* Scores of object i to all labels, and which is the largest; the margin is 0. */
static int32_t best_label(const double *y, const double *degree, const int32_t *labels, const clv_kept_scores *by,
                          int i) {
    int32_t best = labels[i];
    double most = -HUGE_VAL;
    for (int c = -1; c < K && labels[i] >= 0; c++) {
        int at = c < 0 ? labels[i] : c;
        double shifted = by->shift * (at == labels[i] ? degree[i] : -degree[i]);
        double score = (2 * y[at * N + i] - degree[i] * by->ratio[at] + shifted) * by->inverse[at];
        best = score > most ? at : best;
        most = score > most ? score : most;
    }
    return best;
}

static void test_kept(void **state) {
    clv_affinity_options o = on_card();
    static double y[K * N], moved[K * N], back[K * N], degree[N], own[N];
    static int32_t before[N], after[N], wanted[N];
    static int64_t objects[N];
    clv_kept_scores by = {.inverse = (double[K]){0.5, 0.6, 0.4}, .ratio = (double[K]){0.4, 0.3, 0.5}, .shift = 0.01};
    clv_affinity *a;
    void *kept;
    (void)state;
    o.gamma = 0.5;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
    for (int i = 0; i < N; i++) {
        before[i] = i % 7 == 6 ? -1 : i % K;
        after[i] = before[i] >= 0 && i % 5 == 0 ? (i + 1) % K : before[i];
        objects[i] = i;
    }
    assert_int_equal(clv_affinity_rough_sums(a, before, K, y, 1), CLV_OK);
    memcpy(moved, y, sizeof y);
    assert_int_equal(clv_affinity_degrees(a, degree, 1), CLV_OK);
    assert_int_equal(clv_affinity_keep(a, K, y, degree, &kept), CLV_OK);
    assert_non_null(kept);
    assert_int_equal(clv_affinity_rough_moves(a, objects, before, after, N, moved, 1), CLV_OK);
    assert_int_equal(clv_affinity_kept_follow(a, kept, objects, before, after, N, own), CLV_OK);
    assert_int_equal(clv_affinity_kept_choose(a, kept, &by, after, wanted), CLV_OK);
    assert_int_equal(clv_affinity_kept_back(a, kept, back), CLV_OK);
    assert_memory_equal(back, moved, sizeof back);
    for (int i = 0; i < N; i++) {
        assert_true(after[i] < 0 || own[i] == moved[after[i] * N + i]);
        assert_int_equal(wanted[i], best_label(moved, degree, after, &by, i));
    }
    assert_int_equal(clv_affinity_kept_follow(a, kept, objects, after, after, 0, own), CLV_OK);
    assert_true(own[0] == moved[after[0] * N]);
    clv_affinity_let_go(a, kept);
    clv_affinity_free(a);
}

/* Where there is no room for them, or a home keeps none, sums are the caller's. */
static void test_kept_nowhere(void **state) {
    clv_affinity_options o = on_card();
    static double y[40 * N], degree[N];
    clv_affinity *a;
    void *kept;
    (void)state;
    o.device_memory = 60000;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
    assert_int_equal(clv_affinity_keep(a, 40, y, degree, &kept), CLV_OK);
    assert_null(kept);
    clv_affinity_free(a);
    o.home = CLV_HOME_COMPUTED;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
    assert_int_equal(clv_affinity_keep(a, 1, y, degree, &kept), CLV_OK);
    assert_null(kept);
    clv_affinity_let_go(a, kept);
    clv_affinity_free(a);
}

static int watch(const clv_progress *progress, void *user) {
    (void)progress;
    ++*(int *)user;
    return 0;
}

/* Who looks at every iterate needs the sums here: that changes nothing. */
static void test_kept_or_not(void **state) {
    clv_affinity_options o = on_card();
    clv_affinity *a;
    (void)state;
    o.gamma = 0.5;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
    for (int seed = 0; seed < 6; seed++) {
        clv_result *found[2];
        int seen = 0;
        for (int turn = 0; turn < 2; turn++) {
            clv_ncut_options options;
            clv_ncut_defaults(&options);
            options.k = K;
            options.patience = 0;
            options.control.seed = seed;
            options.control.keep_trace = turn;
            options.control.monitor = turn ? watch : NULL;
            options.control.monitor_user = &seen;
            assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &found[turn]), CLV_OK);
        }
        assert_true(seen > 0);
        assert_memory_equal(found[0]->labels, found[1]->labels, N * sizeof(int32_t));
        assert_true(found[0]->objective.value == found[1]->objective.value);
        assert_int_equal(found[0]->iterations, found[1]->iterations);
        clv_result_free(found[0]);
        clv_result_free(found[1]);
    }
    clv_affinity_free(a);
}

/* --- symnmf --- */

/* Moments and the calibration of gamma, as on the processor. */
static void test_calibration(void **state) {
    clv_affinity_options o = on_card();
    double gamma[2], sum[2], squares[2];
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        for (int turn = 0; turn < 2; turn++) {
            clv_affinity *a;
            o.kind = kind ? CLV_AFFINITY_EXPONENTIAL : CLV_AFFINITY_GAUSSIAN;
            o.home = turn ? CLV_HOME_CUDA : CLV_HOME_COMPUTED;
            o.gamma = (double)NAN;
            o.zero_diagonal = kind;
            assert_int_equal(clv_affinity_calibrate(ctx, &matrix, &o, 0.2, &gamma[turn]), CLV_OK);
            o.gamma = gamma[0];
            assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
            assert_int_equal(clv_affinity_moments(a, 1, &sum[turn], &squares[turn]), CLV_OK);
            clv_affinity_free(a);
        }
        assert_true(fabs(gamma[1] - gamma[0]) <= 1e-10 * gamma[0]);
        assert_true(fabs(sum[0] / N / N - 0.2) <= 1e-10);
        assert_true(fabs(sum[1] - sum[0]) <= 1e-12 * sum[0]);
        assert_true(fabs(squares[1] - squares[0]) <= 1e-12 * squares[0]);
    }
}

/* Memberships that begin with rough products end with exact ones. */
static void test_rough_memberships(void **state) {
    clv_affinity_options o = on_card();
    clv_affinity *card, *host;
    (void)state;
    assert_int_equal(clv_affinity_calibrate(ctx, &matrix, &o, clv_symnmf_mean(K), &o.gamma), CLV_OK);
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &card), CLV_OK);
    o.home = CLV_HOME_COMPUTED;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &host), CLV_OK);
    for (int turn = 0; turn < 6; turn++) {
        clv_symnmf_options options;
        clv_result *result, *found;
        clv_symnmf_defaults(&options);
        options.k = K;
        options.solver = turn % 2 ? CLV_SYMNMF_PAIRWISE : CLV_SYMNMF_SPG;
        options.start = "kmeans++";
        options.control.tol = turn < 2 ? 1e-2 : 1e-4;
        options.control.max_iter = turn < 4 ? 5000 : 3;
        assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = card}, &options, &result), CLV_OK);
        assert_int_equal(clv_symnmf_evaluate(ctx, &(clv_input){.affinity = host}, &options, result, &found), CLV_OK);
        assert_int_equal(result->stop, turn < 4 ? CLV_CONVERGED : CLV_ITERATION_LIMIT);
        assert_true(turn >= 4 || result->certificate.value <= result->certificate.tolerance);
        assert_true(fabs(found->objective.value - result->objective.value) <= 1e-9 * found->objective.value);
        assert_true(fabs(found->certificate.value - result->certificate.value) <= 1e-7 * found->objective.value);
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
        cmocka_unit_test_setup_teardown(test_rough_shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cross, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rough_degrees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kept_nowhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kept_or_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_calibration, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rough_memberships, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interrupt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_auto, set_up, tear_down),
    };
    fill_points();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
