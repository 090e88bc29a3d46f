/* symnmf: options and refusals, starts, limits and interruption, homes, sameness over threads, prediction. What the
 * numbers are checked against lives in tests/certify. */
#include "failing.h"

#include "base/options.h"
#include "linalg/linalg.h"
#include "methods/symnmf/symnmf.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { N = 200, P = 3, K = 4 };

/* Four clouds. */
static void fill_points(double *x, int64_t n) {
    clv_rng rng = clv_rng_stream(1, 0);
    for (int64_t e = 0; e < n * P; e++) {
        x[e] = 3 * (double)((e / P % K >> (e % P)) & 1) + clv_rng_normal(&rng);
    }
}

static clv_affinity *build(clv_context *ctx, const double *x, int64_t n, int kind, int home) {
    clv_matrix matrix = {.rows = n, .cols = P, .values = x};
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    how.kind = kind;
    how.home = home;
    if (kind == CLV_AFFINITY_GAUSSIAN) {
        how.gamma = 0.2;
    }
    assert_int_equal(clv_affinity_build(ctx, &matrix, &how, &a), CLV_OK);
    return a;
}

static clv_symnmf_options options_for(int64_t k) {
    clv_symnmf_options options;
    clv_symnmf_defaults(&options);
    options.k = k;
    options.control.threads = 1;
    return options;
}

static const double *rows_of(const clv_result *result) {
    return clv_result_matrix(result, "membership")->values;
}

static void refuses_what_cannot_be(void **unused) {
    (void)unused;
    double x[10 * P], rows[10 * 2], labels[10] = {0, 1, 0, 2};
    clv_context *ctx = new_context();
    clv_result *result;
    fill_points(x, 10);
    clv_affinity *a = build(ctx, x, 10, CLV_AFFINITY_GAUSSIAN, CLV_HOME_AUTO);
    clv_symnmf_options options = options_for(12);
    assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EDATA);
    assert_null(result);
    assert_string_equal(clv_message(ctx), "k = 12 exceeds the 10 objects");
    options = options_for(0);
    assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "k = '0'"));
    options = options_for(2);
    options.solver = 7;
    assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EUSAGE);
    options = options_for(2);
    options.start = "somewhere";
    assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "somewhere"));
    options.start = "labels"; /* given as input.start, not by a name */
    assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EUSAGE);
    options.start = "membership"; /* likewise */
    assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EUSAGE);
    clv_matrix start = {.rows = 10, .cols = 1, .values = labels};
    clv_input input = {.affinity = a, .start = &start};
    assert_int_equal(clv_symnmf(ctx, &input, &options, &result), CLV_EDATA);
    assert_string_equal(clv_message(ctx), "start: label 2 of object 4 is not a whole number from -1 to 1");
    for (int i = 0; i < 10; i++) {
        labels[i] = -1;
    }
    assert_int_equal(clv_symnmf(ctx, &input, &options, &result), CLV_EDATA);
    for (int e = 0; e < 20; e++) {
        rows[e] = 0.5;
    }
    start = (clv_matrix){.rows = 10, .cols = 2, .values = rows};
    assert_int_equal(clv_symnmf(ctx, &input, &options, &result), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "all 1/2"));
    rows[6] = 0.7;
    assert_int_equal(clv_symnmf(ctx, &input, &options, &result), CLV_EDATA);
    assert_string_equal(clv_message(ctx), "the memberships of object 4 add up to 1.2, not to 1");
    rows[7] = -0.1;
    assert_int_equal(clv_symnmf(ctx, &input, &options, &result), CLV_EDATA);
    assert_string_equal(clv_message(ctx), "membership -0.1 of object 4 in cluster 2 is not in 0..1");
    rows[7] = NAN;
    assert_int_equal(clv_symnmf(ctx, &input, &options, &result), CLV_EDATA);
    start.rows = 9;
    assert_int_equal(clv_symnmf(ctx, &input, &options, &result), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "9 x 2"));
    clv_affinity_free(a);
    end_context(ctx);
}

/* --- starts --- */

static void starts_lie_on_the_simplices_and_are_not_uniform(void **unused) {
    (void)unused;
    static const char *const starts[] = {"spectral", "random", "kmeans++"};
    static double x[N * P], given[N * K], labels[N];
    const clv_matrix by_labels = {.rows = N, .cols = 1, .values = labels};
    const clv_matrix by_membership = {.rows = N, .cols = K, .values = given};
    clv_context *ctx = new_context();
    fill_points(x, N);
    for (int i = 0; i < N; i++) {
        labels[i] = i % (K + 1) - 1;
        for (int c = 0; c < K; c++) {
            given[i * K + c] = c == i % K ? 0.7 : 0.1;
        }
    }
    clv_affinity *a = build(ctx, x, N, CLV_AFFINITY_GAUSSIAN, CLV_HOME_AUTO);
    for (int s = 0; s < 5; s++) {
        clv_symnmf_options options = options_for(K);
        clv_result *result;
        double farthest = 0;
        options.start = s < 3 ? starts[s] : options.start;
        options.control.max_iter = 0;
        clv_input input = {.affinity = a, .start = s == 3 ? &by_labels : s == 4 ? &by_membership : NULL};
        assert_int_equal(clv_symnmf(ctx, &input, &options, &result), CLV_OK);
        assert_string_equal(clv_result_text(result, "start_taken"), s < 3    ? starts[s]
                                                                    : s == 3 ? "labels"
                                                                             : "memberships");
        assert_int_equal(result->stop, CLV_ITERATION_LIMIT);
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int c = 0; c < K; c++) {
                double w = rows_of(result)[i * K + c];
                assert_true(w >= 0);
                sum += w;
                farthest = fmax(farthest, fabs(w - 1.0 / K));
                assert_true(s != 4 || fabs(w - given[i * K + c]) < 1e-15);
                double soft = labels[i] < 0 ? 1.0 / K : labels[i] == c ? 0.8 + 0.2 / K : 0.2 / K;
                assert_true(s != 3 || fabs(w - soft) < 1e-15);
            }
            assert_true(fabs(sum - 1) < 1e-12);
        }
        assert_true(farthest > 0.1);
        clv_result_free(result);
    }
    clv_affinity_free(a);
    end_context(ctx);
}

/* A large problem on a card: spg, from one start, whose steps on the approximation lead as low as sweeps do. */
static void a_large_problem_has_one_start(void **unused) {
    (void)unused;
    static double x[N * P];
    double value[2];
    clv_context *ctx = new_context();
    fill_points(x, N);
    clv_affinity *a = build(ctx, x, N, CLV_AFFINITY_GAUSSIAN, CLV_HOME_AUTO);
    for (int large = 0; large < 2; large++) {
        clv_symnmf_problem p = {.ctx = ctx, .affinity = a, .n = N, .k = K, .moves = 10, .large = large};
        clv_memberships s;
        clv_rng rng = clv_rng_stream(1, 0);
        p.options = options_for(K);
        p.options.solver = CLV_SYMNMF_SPG;
        assert_int_equal(clv_affinity_moments(a, 1, &p.sum, &p.squares), CLV_OK);
        assert_int_equal(clv_symnmf_embed(&p), CLV_OK);
        assert_int_equal(clv_memberships_new(&p, 1, &s), CLV_OK);
        assert_int_equal(clv_symnmf_start(&s, &rng), CLV_OK);
        assert_int_equal(clv_memberships_refresh(&s), CLV_OK);
        value[large] = s.value;
        clv_memberships_free(&s);
        clv_free(ctx, p.embedding);
    }
    assert_true(value[0] != value[1] && value[1] <= 1.05 * value[0]);
    clv_affinity_free(a);
    end_context(ctx);
}

static void auto_knows_what_is_large(void **unused) {
    (void)unused;
    for (int turn = 0; turn < 4; turn++) {
        clv_affinity_info plan = {.n = turn % 2 ? 100000 : 99999, .on_card = turn / 2};
        clv_symnmf_options options = options_for(K), meant = options;
        options.start = meant.start = "random";
        meant.solver = turn == 3 ? CLV_SYMNMF_SPG : CLV_SYMNMF_ROWS;
        assert_int_equal(options.solver, CLV_SYMNMF_AUTO);
        assert_true(clv_symnmf_memory(&(clv_input){.plan = &plan}, &options) ==
                    clv_symnmf_memory(&(clv_input){.plan = &plan}, &meant));
    }
}

/* --- solvers, homes, threads --- */

static void every_home_and_thread_count_gives_the_same(void **unused) {
    (void)unused;
    static const int homes[] = {CLV_HOME_DENSE64, CLV_HOME_COMPUTED, CLV_HOME_DENSE32};
    static double x[N * P], bits[N * K];
    fill_points(x, N);
    for (int solver = 0; solver < 6; solver++) {
        double value = NAN;
        for (int run = 0; run < 6; run++) {
            clv_context *ctx = new_context();
            clv_affinity *a = build(ctx, x, N, CLV_AFFINITY_GAUSSIAN, homes[run / 2]);
            clv_symnmf_options options = options_for(K);
            clv_result *result;
            options.solver = solver;
            options.control.threads = 1 + run % 2;
            options.control.restarts = 3;
            options.start = solver % 2 ? "spectral" : "random";
            options.control.max_iter = solver == CLV_SYMNMF_PENALTY ? 3 : 30;
            assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
            for (int e = 0; e < N * K && run % 2 == 1; e++) {
                assert_true(rows_of(result)[e] == bits[e]);
            }
            memcpy(bits, rows_of(result), sizeof bits);
            double allowed = run / 2 == 2 ? 1e-3 : 1e-5;
            assert_true(run == 0 || fabs(result->objective.value / value - 1) < allowed);
            value = run == 0 ? result->objective.value : value;
            clv_result_free(result);
            clv_affinity_free(a);
            end_context(ctx);
        }
    }
}

/* Sparse, low-rank and minimax affinities, with and without a diagonal. */
/* Sweeps of many clusters multiply floats; the answer is exact, and the same on any number of threads. Tolerances that
 * floats cannot reach are left to doubles. */
static void many_clusters_end_with_exact_products(void **unused) {
    (void)unused;
    enum { MANY = 600, CLUSTERS = 130 };
    static double x[MANY * P];
    fill_points(x, MANY);
    for (int fine = 0; fine < 2; fine++) {
        clv_context *ctx = new_context();
        clv_affinity *a = build(ctx, x, MANY, CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE64);
        clv_input input = {.affinity = a};
        clv_symnmf_options options = options_for(CLUSTERS);
        clv_result *result, *found, *again;
        options.start = "random";
        options.control.tol = fine ? 1e-9 : 1e-4;
        options.control.max_iter = 30;
        assert_int_equal(clv_symnmf(ctx, &input, &options, &result), CLV_OK);
        assert_int_equal(clv_symnmf_evaluate(ctx, &input, &options, result, &found), CLV_OK);
        assert_true(fabs(found->objective.value - result->objective.value) <= 1e-12 * found->objective.value);
        assert_true(fabs(found->certificate.value - result->certificate.value) <= 1e-9 * found->objective.value);
        assert_true(result->drift <= (fine ? 1e-13 : FLT_EPSILON));
        options.control.threads = 2;
        assert_int_equal(clv_symnmf(ctx, &input, &options, &again), CLV_OK);
        assert_memory_equal(rows_of(result), rows_of(again), MANY * CLUSTERS * sizeof(double));
        clv_result_free(again);
        clv_result_free(found);
        clv_result_free(result);
        clv_affinity_free(a);
        end_context(ctx);
    }
}

static void other_affinities_converge(void **unused) {
    (void)unused;
    static const int kinds[] = {CLV_AFFINITY_KNN, CLV_AFFINITY_COSINE, CLV_AFFINITY_MINIMAX};
    static double x[N * P];
    fill_points(x, N);
    for (int run = 0; run < 6; run++) {
        clv_context *ctx = new_context();
        clv_matrix matrix = {.rows = N, .cols = P, .values = x};
        clv_affinity_options how;
        clv_affinity *a;
        clv_result *result, *found;
        clv_affinity_defaults(&how);
        how.kind = kinds[run / 2];
        how.home = run / 2 == 0 ? CLV_HOME_SPARSE : run / 2 == 1 ? CLV_HOME_LOWRANK : CLV_HOME_COMPUTED;
        how.zero_diagonal = run % 2;
        assert_int_equal(clv_affinity_build(ctx, &matrix, &how, &a), CLV_OK);
        clv_symnmf_options options = options_for(K);
        assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        assert_true(result->certificate.holds && result->stop == CLV_CONVERGED);
        options.control.threads = 2;
        assert_int_equal(clv_symnmf_evaluate(ctx, &(clv_input){.affinity = a}, &options, result, &found), CLV_OK);
        assert_true(fabs(found->objective.value / result->objective.value - 1) < 1e-12);
        assert_true(found->certificate.holds);
        clv_result_free(found);
        clv_result_free(result);
        clv_affinity_free(a);
        end_context(ctx);
    }
}

static void trivial_sizes_work(void **unused) {
    (void)unused;
    double x[3 * P] = {1, 2, 3, 1, 2, 3, 9, 9, 9}; /* two objects coincide */
    clv_context *ctx = new_context();
    for (int solver = 0; solver < 6; solver++) {
        for (int64_t n = 1; n <= 3; n++) {
            for (int64_t k = 1; k <= n; k++) {
                clv_affinity *a = build(ctx, x, n, CLV_AFFINITY_GAUSSIAN, CLV_HOME_AUTO);
                clv_symnmf_options options = options_for(k);
                clv_result *result;
                options.solver = solver;
                options.control.max_iter = 200;
                assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
                assert_true(isfinite(result->objective.value) && isfinite(result->certificate.value));
                assert_true(result->objective.value >= 0 && result->certificate.value >= -1e-12);
                assert_int_equal(result->left_out, 0);
                clv_result_free(result);
                clv_affinity_free(a);
            }
        }
    }
    end_context(ctx);
}

/* Which warning there is: -1 that the affinity is too close to the identity, 1 that it is too equal, 0 neither. */
static int degeneracy_of(const clv_result *result) {
    const clv_field *warnings = clv_result_field(result, "warnings");
    int found = 0;
    for (int64_t w = 0; warnings && w < warnings->count; w++) {
        found = strstr(warnings->texts[w], "too close to the identity") ? -1 : found;
        found = strstr(warnings->texts[w], "too equal to tell clusters apart") ? 1 : found;
    }
    return found;
}

/* Without any similarity the best is to share out evenly; nothing divides by 0. */
static void no_similarity_at_all(void **unused) {
    (void)unused;
    double zero[9] = {0};
    clv_matrix matrix = {.rows = 3, .cols = 3, .values = zero};
    clv_context *ctx = new_context();
    clv_affinity_options how;
    clv_affinity *a;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &how, &a), CLV_OK);
    for (int solver = 0; solver < 6; solver++) {
        clv_symnmf_options options = options_for(2);
        clv_result *result;
        options.solver = solver;
        options.control.max_iter = 2000;
        assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        assert_true(degeneracy_of(result) == -1 && clv_result_real(result, "residual", NAN) == 0);
        assert_true(result->objective.value <= 9.0 / 4 && result->objective.value >= 9.0 / 16 - 1e-12);
        clv_result_free(result);
    }
    clv_affinity_free(a);
    end_context(ctx);
}

static void degenerate_affinities_are_noticed(void **unused) {
    (void)unused;
    static const double gammas[] = {1e3, 0.2, 1e-4};
    static double x[N * P];
    clv_context *ctx = new_context();
    fill_points(x, N);
    for (int g = 0; g < 3; g++) {
        clv_matrix matrix = {.rows = N, .cols = P, .values = x};
        clv_affinity_options how;
        clv_affinity *a;
        clv_result *result;
        clv_affinity_defaults(&how);
        how.gamma = gammas[g];
        assert_int_equal(clv_affinity_build(ctx, &matrix, &how, &a), CLV_OK);
        clv_symnmf_options options = options_for(K);
        assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        assert_int_equal(degeneracy_of(result), g - 1);
        clv_result_free(result);
        clv_affinity_free(a);
    }
    end_context(ctx);
}

/* --- limits --- */

typedef struct countdown {
    int left;
} countdown;

static int count_down(void *user) {
    return --((countdown *)user)->left < 0;
}

/* Interrupted anywhere, a run that has begun gives memberships that are what it says they are. */
static void interruptions_leave_a_sound_result(void **unused) {
    (void)unused;
    static double x[N * P];
    fill_points(x, N);
    for (int solver = 0; solver < 6; solver++) {
        for (int after = 0; after < 120; after = solver == CLV_SYMNMF_ROWS ? after + 1 : 2 * after + 1) {
            clv_context *ctx = new_context();
            clv_affinity *a = build(ctx, x, N, CLV_AFFINITY_GAUSSIAN, CLV_HOME_COMPUTED);
            clv_symnmf_options options = options_for(K);
            countdown hook = {after};
            clv_result *result;
            options.solver = solver;
            options.start = "random"; /* eigenvectors take many polls */
            options.control.max_iter = 50;
            clv_context_set_interrupt(ctx, count_down, &hook);
            clv_status status = clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result);
            clv_context_set_interrupt(ctx, NULL, NULL);
            assert_int_equal(status, CLV_OK);
            if (result->stop == CLV_CANCELLED && !isnan(result->objective.value)) { /* else a rough result */
                clv_result *found;
                assert_int_equal(clv_symnmf_evaluate(ctx, &(clv_input){.affinity = a}, &options, result, &found),
                                 CLV_OK);
                assert_true(fabs(found->objective.value / result->objective.value - 1) < 1e-9);
                assert_true(result->drift <= 1e-9);
                clv_result_free(found);
            }
            clv_result_free(result);
            clv_affinity_free(a);
            end_context(ctx);
        }
    }
}

static void a_time_limit_however_short_gives_a_result(void **unused) {
    (void)unused;
    static double x[N * P];
    clv_context *ctx = new_context();
    fill_points(x, N);
    clv_affinity *a = build(ctx, x, N, CLV_AFFINITY_GAUSSIAN, CLV_HOME_COMPUTED);
    clv_symnmf_options options = options_for(K);
    clv_result *result;
    options.control.time_limit = 1e-9;
    assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
    assert_int_equal(result->stop, CLV_TIME_LIMIT);
    assert_true(isfinite(result->certificate.value));
    clv_result_free(result);
    clv_affinity_free(a);
    end_context(ctx);
}

/* A tolerance of 0 cannot be met: the run ends when rounding is all that is left. */
static void without_a_tolerance_it_ends_by_itself(void **unused) {
    (void)unused;
    static double x[N * P];
    clv_context *ctx = new_context();
    fill_points(x, N);
    clv_affinity *a = build(ctx, x, N, CLV_AFFINITY_GAUSSIAN, CLV_HOME_AUTO);
    clv_symnmf_options options = options_for(K);
    clv_result *result;
    options.control.tol = 0;
    options.control.max_iter = 100000;
    assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
    assert_true(result->iterations < 100000);
    assert_true(result->certificate.value <= 1e-6 * result->objective.value);
    clv_result_free(result);
    clv_affinity_free(a);
    end_context(ctx);
}

/* --- the quartic --- */

static void quartics_are_minimized(void **unused) {
    (void)unused;
    clv_rng rng = clv_rng_stream(7, 0);
    for (int trial = 0; trial < 3000; trial++) {
        double c[5], most = trial % 3 ? 1 : 5, least = INFINITY;
        for (int e = 0; e < 5; e++) {
            c[e] = clv_rng_normal(&rng);
        }
        c[4] = trial % 5 == 0 ? 0 : c[4];
        c[3] = trial % 10 == 0 ? 0 : c[3];
        double t = clv_quartic_least(c, most);
        assert_true(t >= 0 && t <= most);
        for (int g = 0; g <= 1000; g++) {
            least = fmin(least, clv_quartic_at(c, most * g / 1000));
        }
        assert_true(clv_quartic_at(c, t) <= least + 1e-12);
    }
}

/* --- new objects --- */

/* Memberships of new objects, which are also the labels. */
static clv_status predict(clv_context *ctx, const clv_affinity *a, const clv_result *result, const clv_fresh *fresh,
                          int64_t threads, double *out) {
    clv_symnmf_options options = options_for(result->k);
    clv_result *made;
    options.control.threads = threads;
    CLV_TRY(clv_symnmf_predict(ctx, &(clv_input){.affinity = a}, &options, result, fresh, &made));
    const double *rows = clv_result_matrix(made, "membership")->values;
    memcpy(out, rows, (size_t)(made->n * made->k) * sizeof *out);
    for (int64_t i = 0; i < made->n; i++) {
        for (int64_t c = 0; c < made->k; c++) {
            assert_true(rows[i * made->k + made->labels[i]] >= rows[i * made->k + c]);
        }
    }
    clv_result_free(made);
    return CLV_OK;
}

/* From points, from similarities, dense or not, of doubles or floats. */
static void predictions_agree(void **unused) {
    (void)unused;
    enum { M = 70 };
    static double x[N * P], fresh[M * P], by_points[M * K], by_cross[M * K], by_floats[M * K];
    static float narrow[M * N];
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(8, 0);
    fill_points(x, N);
    for (int e = 0; e < M * P; e++) {
        fresh[e] = e < N * P / 4 ? x[e] : 2 * clv_rng_normal(&rng); /* some are old ones */
    }
    clv_affinity *a = build(ctx, x, N, CLV_AFFINITY_GAUSSIAN, CLV_HOME_AUTO);
    clv_symnmf_options options = options_for(K);
    clv_result *result;
    clv_matrix made = {.rows = M, .cols = P, .values = fresh};
    assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
    clv_data *cross;
    assert_int_equal(clv_affinity_cross(a, &made, &cross), CLV_OK);
    const clv_fresh points = {.points = &made}, doubles = {.similarities = clv_data_matrix(cross)};
    assert_int_equal(predict(ctx, a, result, &points, 2, by_points), CLV_OK);
    assert_int_equal(predict(ctx, NULL, result, &doubles, 1, by_cross), CLV_OK);
    for (int e = 0; e < M * N; e++) {
        narrow[e] = (float)((const double *)clv_data_matrix(cross)->values)[e];
    }
    clv_matrix floats = {.rows = M, .cols = N, .scalar = CLV_F32, .values = narrow};
    const clv_fresh singles = {.similarities = &floats};
    assert_int_equal(predict(ctx, NULL, result, &singles, 2, by_floats), CLV_OK);
    for (int e = 0; e < M * K; e++) {
        assert_true(fabs(by_points[e] - by_cross[e]) < 1e-12 && fabs(by_floats[e] - by_cross[e]) < 1e-4);
    }
    narrow[5 * N + 2] = -1;
    assert_int_equal(predict(ctx, NULL, result, &singles, 2, by_floats), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "new object 6 to object 3 is -1"));
    floats.cols = N - 1;
    assert_int_equal(predict(ctx, NULL, result, &singles, 2, by_floats), CLV_EDATA);
    assert_int_equal(predict(ctx, NULL, result, &points, 1, by_points), CLV_EUSAGE);
    assert_string_equal(clv_message(ctx), "symnmf needs an affinity, and none was given");
    assert_int_equal(predict(ctx, a, result, &(clv_fresh){0}, 1, by_points), CLV_EUSAGE);
    clv_data_free(cross);
    clv_result_free(result);
    clv_affinity_free(a);
    end_context(ctx);
}

/* --- memory --- */

static void memory_is_foretold(void **unused) {
    (void)unused;
    static double x[N * P];
    fill_points(x, N);
    for (int round = 0; round < 14; round++) {
        int solver = round % 7;
        bool spectral = round >= 7;
        clv_context *ctx = new_context();
        clv_affinity *a = build(ctx, x, N, CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE64);
        clv_symnmf_options options = options_for(20);
        clv_result *result;
        size_t before, now, peak;
        options.solver = solver;
        options.start = spectral ? "spectral" : "random";
        options.control.max_iter = 3;
        clv_context_memory(ctx, &before, &peak);
        assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        clv_context_memory(ctx, &now, &peak);
        clv_affinity_info info;
        clv_affinity_describe(a, &info);
        double foretold = (double)clv_symnmf_memory(&(clv_input){.plan = &info}, &options),
               held = (double)(peak - before);
        assert_true(clv_symnmf_memory(&(clv_input){.affinity = a}, &options) == (size_t)foretold);
        assert_true(held <= 1.05 * foretold + 4096 && held >= 0.8 * foretold);
        clv_result_free(result);
        clv_affinity_free(a);
        end_context(ctx);
    }
}

typedef struct failure_case {
    const double *x;
    int solver, home;
    const char *start;
} failure_case;

static clv_status run_once(clv_context *ctx, void *user) {
    const failure_case *what = user;
    enum { SOME = 40 };
    clv_matrix matrix = {.rows = SOME, .cols = P, .values = what->x};
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_result *result = NULL, *found = NULL;
    double out[SOME * 3];
    clv_affinity_defaults(&how);
    how.kind = what->home == CLV_HOME_LOWRANK ? CLV_AFFINITY_COSINE : CLV_AFFINITY_GAUSSIAN;
    how.home = what->home;
    how.threads = 1;
    clv_status status =
        what->home == CLV_HOME_LOWRANK ? CLV_OK : clv_affinity_calibrate(ctx, &matrix, &how, 0.4, &how.gamma);
    if (status == CLV_OK) {
        status = clv_affinity_build(ctx, &matrix, &how, &a);
    }
    if (status == CLV_OK) {
        clv_symnmf_options options = options_for(3);
        options.control.restarts = 2;
        options.control.max_iter = 3;
        options.solver = what->solver;
        options.start = what->start;
        status = clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, &result);
    }
    if (status == CLV_OK) {
        status = predict(ctx, a, result, &(clv_fresh){.points = &matrix}, 1, out);
    }
    if (status == CLV_OK) {
        clv_symnmf_options options = options_for(3);
        status = clv_symnmf_evaluate(ctx, &(clv_input){.affinity = a}, &options, result, &found);
        double value = status < 0 ? 0 : found->objective.value;
        assert_true(status < 0 || fabs(value - result->objective.value) <= 1e-12 * value);
    }
    clv_result_free(found);
    clv_result_free(result);
    clv_affinity_free(a);
    return status;
}

static void survives_every_failed_allocation(void **unused) {
    (void)unused;
    static const char *const starts[] = {"spectral", "random", "kmeans++"};
    static const int homes[] = {CLV_HOME_DENSE64, CLV_HOME_COMPUTED, CLV_HOME_LOWRANK};
    static double x[N * P];
    fill_points(x, N);
    for (int solver = 0; solver < 6; solver++) {
        failure_case what = {x, solver, homes[solver % 3], starts[solver % 3]};
        assert_true(check_every_failure(run_once, &what) > 15);
    }
    failure_case spectral = {x, CLV_SYMNMF_ROWS, CLV_HOME_LOWRANK, "spectral"};
    assert_true(check_every_failure(run_once, &spectral) > 20);
}

#ifdef CLEAVE_SOURCE_DIR
/* docs/symnmf.md lists each option of the table with its default and its help. */
static void the_page_lists_the_options(void **unused) {
    (void)unused;
    static char page[1 << 16];
    FILE *file = fopen(CLEAVE_SOURCE_DIR "/docs/symnmf.md", "r");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[size] = '\0';
    const clv_option_table *table = clv_method_find("symnmf")->options;
    clv_symnmf_options options;
    clv_symnmf_defaults(&options);
    for (size_t i = 0; i < table->count; i++) {
        const clv_option *option = &table->options[i];
        char row[256], value[64];
        clv_options_print(option, &options, value, sizeof value);
        const char *given = option->kind == CLV_OPTION_CHOICE ? option->choices : option->meta;
        snprintf(row, sizeof row, "| `--%s%s%s` | %s | %s |\n", option->name, given ? " " : "", given ? given : "",
                 strcmp(option->name, "k") == 0 ? "required" : value, option->help);
        for (char *bar = strchr(row + 1, '|'); bar && given && strchr(given, '|'); bar = strchr(bar + 1, '|')) {
            if (bar[1] != ' ' && bar[1] != '\n') { /* a bar inside a cell is escaped */
                memmove(bar + 1, bar, strlen(bar) + 1);
                *bar++ = '\\';
            }
        }
        if (!strstr(page, row)) {
            fail_msg("docs/symnmf.md lacks: %s", row);
        }
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(starts_lie_on_the_simplices_and_are_not_uniform),
        cmocka_unit_test(a_large_problem_has_one_start),
        cmocka_unit_test(auto_knows_what_is_large),
        cmocka_unit_test(every_home_and_thread_count_gives_the_same),
        cmocka_unit_test(many_clusters_end_with_exact_products),
        cmocka_unit_test(other_affinities_converge),
        cmocka_unit_test(trivial_sizes_work),
        cmocka_unit_test(no_similarity_at_all),
        cmocka_unit_test(degenerate_affinities_are_noticed),
        cmocka_unit_test(interruptions_leave_a_sound_result),
        cmocka_unit_test(a_time_limit_however_short_gives_a_result),
        cmocka_unit_test(without_a_tolerance_it_ends_by_itself),
        cmocka_unit_test(quartics_are_minimized),
        cmocka_unit_test(predictions_agree),
        cmocka_unit_test(memory_is_foretold),
        cmocka_unit_test(survives_every_failed_allocation),
#ifdef CLEAVE_SOURCE_DIR
        cmocka_unit_test(the_page_lists_the_options),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
