/* ncut against brute force: the optimum over all partitions, objective and certificate from the raw matrix, planted
 * optima, and the monotone descent of proposition 5. */
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
        cmocka_unit_test(certificate_is_exact_on_ugly_weights),
        cmocka_unit_test(claims_on_a_factor_are_those_of_its_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
