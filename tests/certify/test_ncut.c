/* ncut against brute force: the optimum over all partitions, objective and certificate from the raw matrix, planted
 * optima, the monotone descent of proposition 5, the surrogate of FPC with (32) and (33), Dinkelbach's transform. */
#include "brute_force.h"

static clv_result *solve(clv_context *ctx, const clv_affinity *a, int64_t k, int64_t restarts, int64_t seed) {
    clv_ncut_options options;
    clv_result *result = NULL;
    clv_ncut_defaults(&options);
    options.k = k;
    options.control.restarts = restarts;
    options.control.seed = seed;
    options.control.threads = 1;
    options.control.keep_trace = 1;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
    return result;
}

static void check_claims(const clv_result *result, const double *w, int64_t n) {
    double value = brute_ncut(w, n, result->labels, result->k);
    double gain = brute_move_gain(w, n, result->labels, result->k);
    assert_true(fabs(result->objective.value - value) <= 1e-12);
    assert_true(fabs(result->certificate.value - gain) <= 1e-12);
    assert_true(result->drift <= 1e-12); /* S was kept up to date */
    assert_int_equal(result->certificate.holds, result->certificate.value <= result->certificate.tolerance);
    for (int32_t c = 0; c < result->k; c++) {
        assert_true(result->sizes[c] >= 1);
        assert_int_equal(result->sizes[c], brute_size(result->labels, n, c));
    }
}

/* Best of 50 starts is never below the optimum, and reaches it in nearly all cases. Semidefinite matrices are those
 * that FPC is made for; on indefinite ones it may freeze early, so there only the claims are checked. */
static void reaches_the_optimum_of_small_problems(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(11, 0);
    int cases = 0, reached = 0;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 40; trial++) {
        double w[9 * 9];
        int64_t n = 5 + trial % 5, k = 2 + trial % 2;
        bool semidefinite = trial % 4 != 3;
        if (semidefinite) {
            random_semidefinite(&rng, w, n);
        } else {
            random_similarity(&rng, w, n, true);
        }
        clv_affinity *a = affinity_of(ctx, w, n);
        clv_result *result = solve(ctx, a, k, 50, trial);
        double optimum = brute_optimum(w, n, k);
        check_claims(result, w, n);
        assert_true(result->objective.value >= optimum - 1e-12);
        cases += semidefinite;
        reached += semidefinite && result->objective.value <= optimum + 1e-12;
        clv_result_free(result);
        clv_affinity_free(a);
    }
    assert_true(10 * reached >= 9 * cases);
    clv_context_free(ctx);
}

/* Objects i and j belong together when i % k == j % k; blocks are strong, the rest weak. */
static void recovers_planted_blocks(void **unused) {
    (void)unused;
    enum { N = 60 };
    static double w[N * N];
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int64_t k = 2; k <= 5; k++) {
        int32_t planted[N];
        for (int64_t i = 0; i < N; i++) {
            planted[i] = (int32_t)(i % k);
            for (int64_t j = 0; j < N; j++) {
                w[i * N + j] = i % k == j % k ? 1 : 0.01;
            }
        }
        clv_affinity *a = affinity_of(ctx, w, N);
        clv_result *result = solve(ctx, a, k, 30, 3);
        check_claims(result, w, N);
        assert_true(fabs(result->objective.value - brute_ncut(w, N, planted, k)) <= 1e-12);
        assert_true(result->certificate.holds);
        for (int64_t i = 0; i < N; i++) {
            assert_int_equal(result->labels[i], result->labels[i % k]);
        }
        clv_result_free(result);
        clv_affinity_free(a);
    }
    clv_context_free(ctx);
}

/* Blocks with nothing between them: ncut 0 is the optimum and is reached. */
static void disconnected_blocks_have_no_cut(void **unused) {
    (void)unused;
    enum { N = 12 };
    double w[N * N];
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < N; j++) {
            w[i * N + j] = i / 4 == j / 4 ? 1 : 0;
        }
    }
    clv_affinity *a = affinity_of(ctx, w, N);
    clv_result *result = solve(ctx, a, 3, 50, 1);
    check_claims(result, w, N);
    assert_true(fabs(result->objective.value) <= 1e-15);
    clv_result_free(result);
    clv_affinity_free(a);
    clv_context_free(ctx);
}

static void never_rises_on_semidefinite_matrices(void **unused) {
    (void)unused;
    static double w[64 * 64];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(7, 1);
    int64_t steps = 0;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 20; trial++) {
        int64_t n = 10 + 2 * trial;
        random_semidefinite(&rng, w, n);
        clv_affinity *a = affinity_of(ctx, w, n);
        clv_result *result = solve(ctx, a, 2 + trial % 5, 10, trial);
        check_claims(result, w, n);
        assert_int_equal(result->stop, CLV_CONVERGED);
        for (int64_t t = 1; t < result->trace_count; t++) {
            if (result->trace[t].restart == result->trace[t - 1].restart) {
                assert_true(result->trace[t].objective <= result->trace[t - 1].objective + 1e-14);
                steps++;
            }
        }
        clv_result_free(result);
        clv_affinity_free(a);
    }
    assert_true(steps > 200);
    clv_context_free(ctx);
}

/* --- the surrogate of FPC: f = sum N / V, g(X | Y) = sum 2 y'W x / vol(y) - N(y) vol(x) / vol(y)^2 --- */

static double f_of(const double *w, int64_t n, const int32_t *labels, int64_t k) {
    return (double)k - 2 * brute_ncut(w, n, labels, k);
}

static double g_of(const double *w, int64_t n, const int32_t *x, const int32_t *y, int64_t k) {
    double g = 0;
    for (int32_t c = 0; c < k; c++) {
        double between = 0, within = 0, volume_x = 0, volume_y = 0;
        for (int64_t e = 0; e < n * n; e++) {
            int64_t i = e / n, j = e % n;
            between += y[i] == c && x[j] == c ? w[e] : 0;
            within += y[i] == c && y[j] == c ? w[e] : 0;
            volume_x += x[i] == c ? w[e] : 0;
            volume_y += y[i] == c ? w[e] : 0;
        }
        g += 2 * between / volume_y - within * volume_x / (volume_y * volume_y);
    }
    return g;
}

static void random_labels(clv_rng *rng, int32_t *labels, int64_t n, int64_t k) {
    for (int64_t i = 0; i < n; i++) {
        labels[i] = i < k ? (int32_t)i : (int32_t)clv_rng_below(rng, k);
    }
}

/* (32) and (33) at random pairs; on an indefinite matrix (32) fails somewhere, so that it is no empty claim. */
static void the_surrogate_bounds_the_objective(void **unused) {
    (void)unused;
    enum { N = 14 };
    double w[N * N];
    int32_t x[N], y[N];
    clv_rng rng = clv_rng_stream(32, 33);
    int64_t above = 0;
    for (int trial = 0; trial < 400; trial++) {
        int64_t k = 2 + trial % 4;
        bool semidefinite = trial % 4 != 3;
        if (semidefinite) {
            random_semidefinite(&rng, w, N);
        } else {
            random_similarity(&rng, w, N, true);
        }
        random_labels(&rng, x, N, k);
        random_labels(&rng, y, N, k);
        assert_true(fabs(g_of(w, N, y, y, k) - f_of(w, N, y, k)) <= 1e-12);
        bool below = g_of(w, N, x, y, k) <= f_of(w, N, x, k) + 1e-12;
        assert_true(below || !semidefinite);
        above += !below;
    }
    assert_true(above > 0);
}

/* Labels after so many steps of plain FPC, or of another solver. */
static clv_result *solve_plainly(clv_context *ctx, const clv_affinity *a, int64_t k, int solver, int64_t steps,
                                 int64_t seed) {
    clv_ncut_options options;
    clv_result *result = NULL;
    clv_ncut_defaults(&options);
    options.k = k;
    options.solver = solver;
    options.start = "random";
    options.polish = 0;
    options.control.max_iter = steps;
    options.control.seed = seed;
    options.control.threads = 1;
    options.control.keep_trace = 1;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
    return result;
}

/* The h of a trace is g of two iterates in turn, lies between f before and f after the step, and never falls. */
static void the_trace_has_a_monotone_h(void **unused) {
    (void)unused;
    enum { N = 40 };
    static double w[N * N];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(25, 1);
    int64_t steps = 0;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 30; trial++) {
        int64_t k = 2 + trial % 4;
        random_semidefinite(&rng, w, N);
        clv_affinity *a = affinity_of(ctx, w, N);
        clv_result *whole = solve_plainly(ctx, a, k, CLV_NCUT_FPC, 1000, trial);
        clv_result *before = solve_plainly(ctx, a, k, CLV_NCUT_FPC, 0, trial);
        assert_string_equal(whole->trace_extras[0], "h");
        assert_true(isnan(whole->trace[0].extra[0]));
        for (int64_t t = 1; t < whole->trace_count; t++) {
            double h = whole->trace[t].extra[0];
            clv_result *after = solve_plainly(ctx, a, k, CLV_NCUT_FPC, t, trial);
            assert_true(fabs(h - g_of(w, N, after->labels, before->labels, k)) <= 1e-12);
            assert_true(f_of(w, N, before->labels, k) <= h + 1e-12 && h <= f_of(w, N, after->labels, k) + 1e-12);
            assert_true(t == 1 || h >= whole->trace[t - 1].extra[0] - 1e-12);
            clv_result_free(before);
            before = after;
            steps++;
        }
        clv_result_free(before);
        clv_result_free(whole);
        clv_affinity_free(a);
    }
    assert_true(steps > 60);
    clv_context_free(ctx);
}

/* Two clusters by Dinkelbach's transform: the cut never rises, and its end is one that no single move improves, on any
 * matrix. FINC all at once may end anywhere, and says the truth of it. */
static void transforms_end_where_they_say(void **unused) {
    (void)unused;
    enum { N = 30 };
    static double w[N * N];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(6, 6);
    clv_ncut_options options;
    clv_result *refused = NULL;
    int64_t optima = 0;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 40; trial++) {
        int64_t n = trial % 2 ? 9 : N;
        random_similarity(&rng, w, n, trial % 4 < 2);
        clv_affinity *a = affinity_of(ctx, w, n);
        clv_result *result = solve_plainly(ctx, a, 2, CLV_NCUT_DINKELBACH, 1000, trial);
        check_claims(result, w, n);
        assert_true(result->stop == CLV_CONVERGED && result->certificate.holds);
        for (int64_t t = 1; t < result->trace_count; t++) {
            assert_true(result->trace[t].objective <= result->trace[t - 1].objective + 1e-14);
        }
        optima += n == 9 && result->objective.value <= brute_optimum(w, n, 2) + 1e-12;
        clv_result_free(result);
        result = solve_plainly(ctx, a, 3, CLV_NCUT_FINC_AT_ONCE, 1000, trial);
        check_claims(result, w, n);
        clv_result_free(result);
        clv_affinity_free(a);
    }
    assert_true(optima > 0);
    random_similarity(&rng, w, N, true);
    clv_affinity *a = affinity_of(ctx, w, N);
    clv_ncut_defaults(&options);
    options.k = 3;
    options.solver = CLV_NCUT_DINKELBACH;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &refused), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "k = 2"));
    clv_affinity_free(a);
    clv_context_free(ctx);
}

static clv_result *evaluate(clv_context *ctx, const clv_affinity *a, const int32_t *labels, int64_t k) {
    clv_ncut_options options;
    clv_result *answer = NULL, *found = NULL;
    clv_ncut_defaults(&options);
    options.control.threads = 1;
    assert_int_equal(clv_result_new(ctx, clv_affinity_size(a), k, &answer), CLV_OK);
    memcpy(answer->labels, labels, (size_t)answer->n * sizeof *labels);
    assert_int_equal(clv_ncut_evaluate(ctx, &(clv_input){.affinity = a}, &options, answer, &found), CLV_OK);
    clv_result_free(answer);
    return found;
}

/* Degrees over many orders of magnitude, objects of degree 0, clusters of one: the certificate stays exact. */
static void certificate_is_exact_on_ugly_weights(void **unused) {
    (void)unused;
    enum { N = 8 };
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(13, 0);
    int tried = 0;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 500; trial++) {
        double w[N * N], scale[N];
        int32_t labels[N];
        int64_t k = 1 + trial % 4;
        random_similarity(&rng, w, N, true);
        for (int64_t i = 0; i < N; i++) {
            double draw = clv_rng_uniform(&rng);
            scale[i] = draw < 0.2 ? 0 : pow(10, 12 * draw - 8);
            labels[i] = (int32_t)(i < k ? i : clv_rng_below(&rng, k));
        }
        double degree[N] = {0};
        for (int64_t i = 0; i < N * N; i++) {
            w[i] *= scale[i / N] * scale[i % N];
            degree[i / N] += w[i];
        }
        bool all_there = true;
        for (int64_t i = 0; i < N; i++) {
            labels[i] = degree[i] > 0 ? labels[i] : -1;
            all_there = all_there && (i >= k || labels[i] >= 0);
        }
        if (!all_there) { /* a cluster may be empty */
            continue;
        }
        clv_affinity *a = affinity_of(ctx, w, N);
        clv_result *found = evaluate(ctx, a, labels, k);
        tried++;
        assert_true(fabs(found->objective.value - brute_ncut(w, N, labels, k)) <= 1e-12);
        assert_true(fabs(found->certificate.value - brute_move_gain(w, N, labels, k)) <= 1e-12);
        clv_result_free(found);
        clv_affinity_free(a);
    }
    assert_true(tried > 200);
    clv_context_free(ctx);
}

/* A factor of landmarks instead of a matrix, with enough moves that sweeps go on by the factor: objective and
 * certificate are those of its entries, and verification by evaluation agrees. */
static void claims_on_a_factor_are_those_of_its_entries(void **unused) {
    (void)unused;
    enum { N = 120 };
    static double x[N * 2], w[N * N];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(31, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 6; trial++) {
        clv_matrix points = {.rows = N, .cols = 2, .scalar = CLV_F64, .values = x};
        clv_affinity_options how;
        clv_affinity *a;
        for (int64_t e = 0; e < 2 * N; e++) {
            x[e] = clv_rng_normal(&rng) + (double)(e / 2 % 4 * (e % 2 + 1));
        }
        clv_affinity_defaults(&how);
        how.gamma = 0.5;
        how.landmarks = 4 + 6 * trial;
        how.zero_diagonal = trial % 2;
        assert_int_equal(clv_affinity_build(ctx, &points, &how, &a), CLV_OK);
        assert_int_equal(clv_affinity_rows(a, 0, N, w), CLV_OK);
        clv_result *result = solve(ctx, a, 2 + trial % 3, 3, trial);
        check_claims(result, w, N);
        assert_true(result->certificate.holds);
        clv_result_free(result);
        clv_affinity_free(a);
    }
    clv_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reaches_the_optimum_of_small_problems),
        cmocka_unit_test(recovers_planted_blocks),
        cmocka_unit_test(disconnected_blocks_have_no_cut),
        cmocka_unit_test(never_rises_on_semidefinite_matrices),
        cmocka_unit_test(the_surrogate_bounds_the_objective),
        cmocka_unit_test(the_trace_has_a_monotone_h),
        cmocka_unit_test(transforms_end_where_they_say),
        cmocka_unit_test(certificate_is_exact_on_ugly_weights),
        cmocka_unit_test(claims_on_a_factor_are_those_of_its_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
