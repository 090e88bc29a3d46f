/* symnmf against its theory: objective and gap from the raw matrix, theorem 1 (gap 0 exactly at KKT points), theorem 2
 * with the constant of theorem 3, both bounds of theorem 3, lemma 3 against finite differences, lemmas 4, 6 and 7,
 * affinities that are not semidefinite, exact factorizations recovered, and predictions against a search. */
#include "brute_force.h"

#include "linalg/linalg.h"
#include "methods/symnmf/symnmf.h"

enum { MOST_N = 64, MOST_K = 6 };

static const char *const solver_names[] = {"rows", "fw", "pairwise", "pgd", "spg", "penalty"};

/* --- definitions --- */

/* w: n x k. */
static double brute_value(const double *p, int64_t n, const double *w, int64_t k) {
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            long double rest = p[i * n + j];
            for (int64_t c = 0; c < k; c++) {
                rest -= (long double)w[i * k + c] * w[j * k + c];
            }
            sum += rest * rest;
        }
    }
    return (double)(sum / 4);
}

/* (W W' - P) W */
static void brute_gradient(const double *p, int64_t n, const double *w, int64_t k, double *g) {
    memset(g, 0, (size_t)(n * k) * sizeof *g);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double rest = -p[i * n + j];
            for (int64_t c = 0; c < k; c++) {
                rest += w[i * k + c] * w[j * k + c];
            }
            for (int64_t c = 0; c < k; c++) {
                g[i * k + c] += rest * w[j * k + c];
            }
        }
    }
}

static double brute_gap(const double *p, int64_t n, const double *w, int64_t k) {
    double g[MOST_N * MOST_K], gap = 0;
    brute_gradient(p, n, w, k, g);
    for (int64_t i = 0; i < n; i++) {
        double least = INFINITY;
        for (int64_t c = 0; c < k; c++) {
            gap += g[i * k + c] * w[i * k + c];
            least = fmin(least, g[i * k + c]);
        }
        gap -= least;
    }
    return gap;
}

/* How far W is from the KKT conditions, in full: multipliers l_i for the sums and m_ic >= 0 for the signs must give
 * g_ic = l_i + m_ic with m_ic w_ic = 0. The best l_i is a gradient of the support; the distance is what is left. */
static double kkt_distance(const double *p, int64_t n, const double *w, int64_t k) {
    double g[MOST_N * MOST_K], worst = 0;
    brute_gradient(p, n, w, k, g);
    for (int64_t i = 0; i < n; i++) {
        double low = INFINITY, high = -INFINITY, least = INFINITY;
        for (int64_t c = 0; c < k; c++) {
            least = fmin(least, g[i * k + c]);
            low = w[i * k + c] > 0 ? fmin(low, g[i * k + c]) : low;
            high = w[i * k + c] > 0 ? fmax(high, g[i * k + c]) : high;
        }
        worst = fmax(worst, fmax(high - low, low - least));
    }
    return worst;
}

static void random_rows(clv_rng *rng, double *w, int64_t n, int64_t k, bool sparse) {
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t c = 0; c < k; c++) {
            double draw = -log1p(-clv_rng_uniform(rng));
            w[i * k + c] = sparse && c != i % k && clv_rng_uniform(rng) < 0.5 ? 0 : draw;
            sum += w[i * k + c];
        }
        for (int64_t c = 0; c < k; c++) {
            w[i * k + c] /= sum;
        }
    }
}

static void product_of_rows(const double *w, int64_t n, int64_t k, double *p) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            p[i * n + j] = 0;
            for (int64_t c = 0; c < k; c++) {
                p[i * n + j] += w[i * k + c] * w[j * k + c];
            }
        }
    }
}

/* Gaussian similarities of points in three groups. */
static void grouped(clv_rng *rng, double *p, int64_t n) {
    double x[2 * MOST_N];
    for (int64_t e = 0; e < 2 * n; e++) {
        x[e] = 2 * (double)(e / 2 % 3 == e % 2) + 0.7 * clv_rng_normal(rng);
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double dx = x[2 * i] - x[2 * j], dy = x[2 * i + 1] - x[2 * j + 1];
            p[i * n + j] = exp(-0.5 * (dx * dx + dy * dy));
        }
    }
}

static clv_symnmf_options options_for(int64_t k, int solver) {
    clv_symnmf_options options;
    clv_symnmf_defaults(&options);
    options.k = k;
    options.solver = solver;
    options.control.threads = 1;
    options.control.keep_trace = 1;
    options.control.max_iter = 2000;
    return options;
}

static clv_result *solve(clv_context *ctx, const double *p, int64_t n, const clv_symnmf_options *options) {
    clv_affinity *a = affinity_of(ctx, p, n);
    clv_result *result = NULL;
    assert_int_equal(clv_symnmf(ctx, &(clv_input){.affinity = a}, options, &result), CLV_OK);
    clv_affinity_free(a);
    return result;
}

/* --- claims --- */

static void check_claims(const clv_result *result, const double *p, int64_t n) {
    int64_t k = result->k;
    const double *w = clv_result_matrix(result, "membership")->values;
    double value = brute_value(p, n, w, k), gap = brute_gap(p, n, w, k), squares = 0;
    double residual = clv_result_real(result, "residual", NAN);
    int64_t sizes_count, entropy_count;
    const double *sizes = clv_result_reals(result, "expected_sizes", &sizes_count);
    const double *entropies = clv_result_reals(result, "entropy", &entropy_count);
    assert_true(sizes_count == k && entropy_count == n);
    assert_true(fabs(result->objective.value - value) <= 1e-12 * (double)(n * n));
    assert_true(fabs(result->certificate.value - gap) <= 1e-11 * (double)(n * n));
    assert_int_equal(result->certificate.holds, result->certificate.value <= result->certificate.tolerance);
    for (int64_t e = 0; e < n * n; e++) {
        squares += p[e] * p[e];
    }
    assert_true(fabs(residual * residual * squares - 4 * value) <= 1e-10 * squares);
    for (int64_t c = 0; c < k; c++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            sum += w[i * k + c];
        }
        assert_true(fabs(sum - sizes[c]) <= 1e-10);
    }
    for (int64_t i = 0; i < n; i++) {
        double sum = 0, entropy = 0;
        for (int64_t c = 0; c < k; c++) {
            assert_true(w[i * k + c] >= 0 && w[i * k + c] <= w[i * k + result->labels[i]]);
            sum += w[i * k + c];
            entropy -= w[i * k + c] > 0 ? w[i * k + c] * log(w[i * k + c]) : 0;
        }
        assert_true(fabs(sum - 1) <= 1e-11);
        assert_true(fabs(entropy - entropies[i]) <= 1e-11);
    }
}

/* Every solver from every start: what is claimed is so, f never rises (but with penalties), and those that converge end
 * at the same f from the spectral start. */
static void claims_are_those_of_the_matrix(void **unused) {
    (void)unused;
    enum { N = 45, K = 3 };
    static const char *const starts[] = {"spectral", "random", "kmeans++"};
    double p[N * N];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(1, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    grouped(&rng, p, N);
    for (int solver = 0; solver < 6; solver++) {
        for (int start = 0; start < 3; start++) {
            clv_symnmf_options options = options_for(K, solver);
            options.start = starts[start];
            options.control.max_iter = solver == CLV_SYMNMF_PENALTY ? 15 : 500;
            clv_result *result = solve(ctx, p, N, &options);
            assert_string_equal(result->solver, solver_names[solver]);
            check_claims(result, p, N);
            assert_true(result->drift <= 1e-10);
            for (int64_t t = 1; t < result->trace_count && solver != CLV_SYMNMF_PENALTY; t++) {
                assert_true(result->trace[t].objective <= result->trace[t - 1].objective * (1 + 1e-13));
            }
            bool exact = solver != CLV_SYMNMF_FW && solver != CLV_SYMNMF_PENALTY;
            assert_true(!exact || (result->certificate.holds && result->stop == CLV_CONVERGED));
            clv_result_free(result);
        }
    }
    clv_context_free(ctx);
}

/* In tiny problems a row's product with itself counts: its gradient must be kept up to date to the last term. */
static void tiny_problems_descend(void **unused) {
    (void)unused;
    double p[64];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(11, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 300; trial++) {
        int64_t n = 1 + trial % 6, k = 1 + trial % n;
        clv_symnmf_options options = options_for(k, trial % 5);
        random_similarity(&rng, p, n, false);
        for (int64_t i = 0; i < n; i++) {
            p[i * n + i] *= trial % 2 ? 3 : 0.5;
        }
        options.start = "random";
        options.moves = 40;
        options.control.tol = 1e-10;
        options.control.seed = trial;
        options.control.max_iter = 300;
        clv_result *result = solve(ctx, p, n, &options);
        check_claims(result, p, n);
        for (int64_t t = 1; t < result->trace_count; t++) {
            assert_true(result->trace[t].objective <= result->trace[t - 1].objective + 1e-13);
        }
        clv_result_free(result);
    }
    clv_context_free(ctx);
}

/* Points around four centers, six clusters to find: more minima than most data have. */
static void overlapping(clv_rng *rng, double *p, int64_t n) {
    double x[2 * MOST_N], center[8];
    for (int e = 0; e < 8; e++) {
        center[e] = 2 * clv_rng_normal(rng);
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t group = clv_rng_below(rng, 4);
        x[2 * i] = center[2 * group] + 0.7 * clv_rng_normal(rng);
        x[2 * i + 1] = center[2 * group + 1] + 0.7 * clv_rng_normal(rng);
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double dx = x[2 * i] - x[2 * j], dy = x[2 * i + 1] - x[2 * j + 1];
            p[i * n + j] = exp(-0.5 * (dx * dx + dy * dy));
        }
    }
}

/* One spectral start finds the best of 20 random ones on most data; without its candidates it would on fewer. */
static void spectral_starts_find_good_minima(void **unused) {
    (void)unused;
    enum { N = 60, K = 6, SETS = 24, FOUND = 22 };
    double p[N * N];
    int found = 0;
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int set = 0; set < SETS; set++) {
        clv_rng rng = clv_rng_stream(21, (uint64_t)set);
        overlapping(&rng, p, N);
        clv_symnmf_options options = options_for(K, CLV_SYMNMF_ROWS);
        clv_result *once = solve(ctx, p, N, &options);
        options.start = "random";
        options.control.restarts = 20;
        clv_result *often = solve(ctx, p, N, &options);
        found += once->objective.value <= (1 + 1e-4) * often->objective.value;
        clv_result_free(once);
        clv_result_free(often);
    }
    assert_true(found >= FOUND);
    clv_context_free(ctx);
}

static void converging_solvers_agree(void **unused) {
    (void)unused;
    enum { N = 60, K = 3 };
    double p[N * N], least = INFINITY, values[6];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(2, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    grouped(&rng, p, N);
    for (int solver = 0; solver < 6; solver++) {
        clv_symnmf_options options = options_for(K, solver);
        options.control.tol = 1e-7;
        options.control.max_iter = solver == CLV_SYMNMF_PENALTY ? 20 : 20000;
        clv_result *result = solve(ctx, p, N, &options);
        values[solver] = result->objective.value;
        least = fmin(least, values[solver]);
        clv_result_free(result);
    }
    for (int solver = 0; solver < 6; solver++) {
        double allowed = solver == CLV_SYMNMF_PENALTY ? 0.2 : solver == CLV_SYMNMF_FW ? 1e-3 : 1e-6;
        assert_true(values[solver] <= least * (1 + allowed));
    }
    clv_context_free(ctx);
}

/* --- theorem 1 --- */

/* Memberships as an answer, with the labels that follow from them: the first of the largest. */
static clv_result *answer_of(clv_context *ctx, const double *w, int64_t n, int64_t k) {
    const clv_matrix membership = {.rows = n, .cols = k, .values = w};
    const clv_field field = {.name = "membership", .kind = CLV_FIELD_SPARSE, .count = 1, .matrix = &membership};
    clv_result *answer = NULL;
    assert_int_equal(clv_result_new(ctx, n, k, &answer), CLV_OK);
    assert_int_equal(clv_result_put(answer, &field), CLV_OK);
    for (int64_t i = 0; i < n; i++) {
        answer->labels[i] = 0;
        for (int32_t c = 1; c < k; c++) {
            answer->labels[i] = w[i * k + c] > w[i * k + answer->labels[i]] ? c : answer->labels[i];
        }
    }
    return answer;
}

static double library_gap(clv_context *ctx, const double *p, int64_t n, const double *w, int64_t k) {
    clv_affinity *a = affinity_of(ctx, p, n);
    clv_symnmf_options options = options_for(k, CLV_SYMNMF_ROWS);
    clv_result *answer = answer_of(ctx, w, n, k), *found = NULL;
    assert_int_equal(clv_symnmf_evaluate(ctx, &(clv_input){.affinity = a}, &options, answer, &found), CLV_OK);
    double gap = found->certificate.value;
    assert_true(fabs(found->objective.value - brute_value(p, n, w, k)) <= 1e-12 * (double)(n * n));
    clv_result_free(found);
    clv_result_free(answer);
    clv_affinity_free(a);
    return gap;
}

static void the_gap_is_0_at_kkt_points_only(void **unused) {
    (void)unused;
    enum { N = 20, K = 3 };
    double p[N * N], w[N * K];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(3, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 30; trial++) {
        /* Uniform memberships, whatever the matrix. */
        random_semidefinite(&rng, p, N);
        for (int e = 0; e < N * K; e++) {
            w[e] = 1.0 / K;
        }
        assert_true(kkt_distance(p, N, w, K) <= 1e-12 && fabs(library_gap(ctx, p, N, w, K)) <= 1e-11);
        /* An exact factorization, with zeros: the gradient vanishes. */
        random_rows(&rng, w, N, K, true);
        product_of_rows(w, N, K, p);
        assert_true(kkt_distance(p, N, w, K) <= 1e-12 && fabs(library_gap(ctx, p, N, w, K)) <= 1e-11);
        /* Shares of a row shifted between two clusters: no longer. */
        w[0] = w[0] > 0.5 ? w[0] - 0.2 : w[0] + 0.2 * (1 - w[0]);
        double rest = w[1] + w[2];
        w[1] = rest > 0 ? w[1] * (1 - w[0]) / rest : 1 - w[0];
        w[2] = 1 - w[0] - w[1];
        assert_true(kkt_distance(p, N, w, K) > 1e-3 && library_gap(ctx, p, N, w, K) > 1e-4);
        /* Anything else: the gap is the steepest feasible slope, met by finite differences toward the vertices. */
        random_rows(&rng, w, N, K, trial % 2);
        random_semidefinite(&rng, p, N);
        double gap = library_gap(ctx, p, N, w, K), g[N * K], moved[N * K], t = 1e-6;
        assert_true(gap > 1e-6 && kkt_distance(p, N, w, K) > 1e-6);
        brute_gradient(p, N, w, K, g);
        for (int i = 0; i < N; i++) {
            int best = 0;
            for (int c = 1; c < K; c++) {
                best = g[i * K + c] < g[i * K + best] ? c : best;
            }
            for (int c = 0; c < K; c++) {
                moved[i * K + c] = w[i * K + c] + t * ((c == best) - w[i * K + c]);
            }
        }
        double slope = (brute_value(p, N, moved, K) - brute_value(p, N, w, K)) / t;
        assert_true(fabs(slope + gap) <= 1e-4 * gap + 1e-6);
    }
    clv_context_free(ctx);
}

/* Solved to the end, the point satisfies the conditions on its border too. */
static void solutions_are_kkt_points(void **unused) {
    (void)unused;
    enum { N = 40, K = 4 };
    double p[N * N];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(4, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    grouped(&rng, p, N);
    clv_symnmf_options options = options_for(K, CLV_SYMNMF_ROWS);
    options.control.tol = 1e-11;
    clv_result *result = solve(ctx, p, N, &options);
    const double *w = clv_result_matrix(result, "membership")->values;
    int64_t zeros = 0;
    for (int e = 0; e < N * K; e++) {
        zeros += w[e] == 0;
    }
    assert_true(result->certificate.holds && zeros > 0);
    assert_true(kkt_distance(p, N, w, K) <= 1e-4);
    clv_result_free(result);
    clv_context_free(ctx);
}

/* --- theorems 2 and 3 --- */

static double curvature_of(clv_context *ctx, const double *p, int64_t n) {
    double copy[MOST_N * MOST_N], values[MOST_N];
    memcpy(copy, p, (size_t)(n * n) * sizeof *p);
    assert_int_equal(clv_eigen_dense(ctx, copy, n, values), CLV_OK);
    return 2 * (double)n * (3 * (double)n + fmax(fabs(values[0]), values[n - 1]));
}

/* The decrease (16) at every iteration, and the bound (11) after it. */
static void frank_wolfe_keeps_its_promise(void **unused) {
    (void)unused;
    enum { N = 30, K = 3 };
    double p[N * N];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(5, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 6; trial++) {
        if (trial % 2) {
            grouped(&rng, p, N);
        } else {
            random_semidefinite(&rng, p, N);
        }
        double c = curvature_of(ctx, p, N), least = INFINITY;
        clv_symnmf_options options = options_for(K, CLV_SYMNMF_FW);
        options.step = CLV_SYMNMF_CURVATURE;
        options.start = "random";
        options.control.seed = trial;
        options.control.max_iter = 1000;
        clv_result *result = solve(ctx, p, N, &options);
        check_claims(result, p, N);
        double h = result->trace[0].objective; /* at least h_0, as f >= 0 */
        for (int64_t t = 0; t < result->trace_count; t++) {
            double f = result->trace[t].objective, g = result->trace[t].certificate;
            least = fmin(least, g);
            assert_true(least <= fmax(2 * h * c, sqrt(2 * h * c)) / sqrt((double)t + 1));
            assert_true(least > c || least <= sqrt(2 * h * c / ((double)t + 1)) * (1 + 1e-6));
            if (t + 1 < result->trace_count) {
                double promised = g > c ? g - c / 2 : g * g / (2 * c);
                assert_true(result->trace[t + 1].objective <= f - promised * (1 - 1e-5) + 1e-10 * f);
            }
        }
        clv_result_free(result);
    }
    clv_context_free(ctx);
}

/* |f(y) - f(x) - <gradient, y - x>| <= C t^2 / 2, vertices included. */
static void the_curvature_is_bounded(void **unused) {
    (void)unused;
    enum { N = 25, K = 3 };
    double p[N * N], x[N * K], s[N * K], y[N * K], g[N * K];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(6, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 300; trial++) {
        double t = trial % 3 ? clv_rng_uniform(&rng) + 1e-3 : 1, slope = 0;
        random_similarity(&rng, p, N, true);
        random_rows(&rng, x, N, K, trial % 2);
        for (int i = 0; i < N; i++) {
            int vertex = trial % 4 ? (int)clv_rng_below(&rng, K) : 0;
            for (int c = 0; c < K; c++) {
                s[i * K + c] = c == vertex;
                y[i * K + c] = x[i * K + c] + t * (s[i * K + c] - x[i * K + c]);
            }
        }
        brute_gradient(p, N, x, K, g);
        for (int e = 0; e < N * K; e++) {
            slope += g[e] * (y[e] - x[e]);
        }
        double bend = 2 / (t * t) * fabs(brute_value(p, N, y, K) - brute_value(p, N, x, K) - slope);
        assert_true(bend <= curvature_of(ctx, p, N) * (1 + 1e-9));
    }
    clv_context_free(ctx);
}

/* --- lemma 3 --- */

/* The gradient by the library at any W, n x k in and out. */
static void library_gradient(clv_memberships *s, const double *w, double *g) {
    int64_t n = s->problem->n, k = s->problem->k;
    clv_memberships_load(s, w);
    assert_int_equal(clv_memberships_refresh(s), CLV_OK);
    for (int64_t e = 0; e < n * k; e++) {
        g[e] = s->gradient[e % k * n + e / k];
    }
}

/* Entry of (12) between vec W at (i, c) and (j, d), columns stacked: W'W (x) I + I (x) (W W' - P) + (W' (x) W) K, of
 * which the last takes the place (j, d) of W to (d, j) of W'. */
static double hessian_entry(const double *p, int64_t n, const double *w, int64_t k, int64_t i, int64_t c, int64_t j,
                            int64_t d) {
    double entry = w[i * k + d] * w[j * k + c];
    for (int64_t a = 0; i == j && a < n; a++) {
        entry += w[a * k + c] * w[a * k + d];
    }
    for (int64_t b = 0; c == d && b < k; b++) {
        entry += w[i * k + b] * w[j * k + b];
    }
    return entry - (c == d ? p[i * n + j] : 0);
}

static void the_hessian_is_that_of_lemma_3(void **unused) {
    (void)unused;
    enum { N = 7, K = 3 };
    double p[N * N], w[N * K], up[N * K] = {0}, down[N * K] = {0}, step = 1e-5;
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(7, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    random_semidefinite(&rng, p, N);
    random_rows(&rng, w, N, K, false);
    clv_affinity *a = affinity_of(ctx, p, N);
    clv_symnmf_problem problem = {.ctx = ctx, .affinity = a, .n = N, .k = K};
    clv_memberships s;
    problem.options.solver = CLV_SYMNMF_PGD;
    assert_int_equal(clv_memberships_new(&problem, 1, &s), CLV_OK);
    for (int64_t to = 0; to < N * K; to++) {
        double held = w[to];
        w[to] = held + step;
        library_gradient(&s, w, up);
        w[to] = held - step;
        library_gradient(&s, w, down);
        w[to] = held;
        for (int64_t from = 0; from < N * K; from++) {
            double difference = (up[from] - down[from]) / (2 * step);
            double entry = hessian_entry(p, N, w, K, from / K, from % K, to / K, to % K);
            assert_true(fabs(difference - entry) <= 1e-8);
        }
    }
    clv_memberships_free(&s);
    clv_affinity_free(a);
    clv_context_free(ctx);
}

/* --- lemmas 4, 6 and 7, and the lower bound of theorem 3 --- */

static double spectral_norm(clv_context *ctx, const double *a, int64_t m) {
    double copy[MOST_N * MOST_N], values[MOST_N];
    memcpy(copy, a, (size_t)(m * m) * sizeof *a);
    assert_int_equal(clv_eigen_dense(ctx, copy, m, values), CLV_OK);
    return fmax(fabs(values[0]), fabs(values[m - 1]));
}

/* 1 on the diagonal and little beside, so that |P|_2 is below n / k^2 and the bounds say something. */
static void nearly_identity(clv_rng *rng, double *p, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            p[i * n + j] = p[j * n + i] = i == j ? 1 : 0.02 * clv_rng_uniform(rng);
        }
    }
}

/* All objects in cluster c. */
static void one_cluster(double *w, int64_t n, int64_t k, int64_t c) {
    for (int64_t e = 0; e < n * k; e++) {
        w[e] = e % k == c;
    }
}

/* Lemma 4: |W'W|_2 <= n, and is n for one cluster. Lemma 6: |W - Z|^2 <= 2 n, and is 2 n for two clusters. */
static void sizes_are_those_of_lemmas_4_and_6(void **unused) {
    (void)unused;
    enum { N = 30, K = 4 };
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(31, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    double w[N * K], z[N * K], gram[K * K], most_norm = 0, most_way = 0;
    for (int trial = 0; trial < 200; trial++) {
        random_rows(&rng, w, N, K, trial % 2);
        random_rows(&rng, z, N, K, trial % 2);
        if (trial == 0) {
            one_cluster(w, N, K, 0);
            one_cluster(z, N, K, 1);
        }
        double way = 0;
        memset(gram, 0, sizeof gram);
        for (int i = 0; i < N; i++) {
            for (int e = 0; e < K * K; e++) {
                gram[e] += w[i * K + e / K] * w[i * K + e % K];
            }
            for (int c = 0; c < K; c++) {
                way += pow(w[i * K + c] - z[i * K + c], 2);
            }
        }
        most_norm = fmax(most_norm, spectral_norm(ctx, gram, K));
        most_way = fmax(most_way, way);
    }
    assert_true(fabs(most_norm - N) <= 1e-9 * N);
    assert_true(fabs(most_way - 2 * N) <= 1e-9 * N);
    clv_context_free(ctx);
}

/* Lemma 7: |Hessian|_2 >= n / k^2 - |P|_2 at every W, the uniform one included. */
static void the_hessian_is_at_least_that_of_lemma_7(void **unused) {
    (void)unused;
    enum { N = 24, K = 2, M = N * K };
    static double p[N * N], w[M], hessian[M * M];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(32, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 20; trial++) {
        nearly_identity(&rng, p, N);
        random_rows(&rng, w, N, K, trial % 2);
        for (int e = 0; trial == 0 && e < M; e++) {
            w[e] = 1.0 / K;
        }
        for (int from = 0; from < M; from++) {
            for (int to = 0; to < M; to++) {
                hessian[from * M + to] = hessian_entry(p, N, w, K, from / K, from % K, to / K, to % K);
            }
        }
        double bound = (double)N / (K * K) - spectral_norm(ctx, p, N);
        assert_true(bound > 4 && spectral_norm(ctx, hessian, M) >= bound);
    }
    clv_context_free(ctx);
}

/* 2 / t^2 |f(y) - f(x) - <gradient, y - x>| from one cluster to another. */
static double bend_between_clusters(const double *p, int64_t n, int64_t k, double t) {
    double x[MOST_N * MOST_K], y[MOST_N * MOST_K], g[MOST_N * MOST_K], slope = 0;
    one_cluster(x, n, k, 0);
    one_cluster(y, n, k, 1);
    brute_gradient(p, n, x, k, g);
    for (int64_t e = 0; e < n * k; e++) {
        y[e] = x[e] + t * (y[e] - x[e]);
        slope += g[e] * (y[e] - x[e]);
    }
    return 2 / (t * t) * fabs(brute_value(p, n, y, k) - brute_value(p, n, x, k) - slope);
}

/* Theorem 3: 2 n (n / k^2 - |P|_2) <= C, which the way from one cluster to another shows. */
static void the_curvature_is_not_small(void **unused) {
    (void)unused;
    enum { N = 40 };
    static double p[N * N];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(33, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 12; trial++) {
        int64_t k = 2 + trial % 3;
        nearly_identity(&rng, p, N);
        double lower = 2 * N * ((double)N / (double)(k * k) - spectral_norm(ctx, p, N)),
               upper = curvature_of(ctx, p, N);
        double bend = bend_between_clusters(p, N, k, trial % 2 ? 1 : 0.01);
        assert_true(lower > 0 && bend >= lower && bend <= upper);
    }
    clv_context_free(ctx);
}

/* P with the eigenvalues n/2 and -n/2: (16) holds with the same C, the claims are true, and f is at least 1/4 (n/2)^2.
 */
static void affinities_need_not_be_semidefinite(void **unused) {
    (void)unused;
    enum { N = 20, K = 3 };
    double p[N * N];
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int e = 0; e < N * N; e++) {
        p[e] = (e / N < N / 2) != (e % N < N / 2);
    }
    double c = curvature_of(ctx, p, N);
    assert_true(fabs(c - 2 * N * (3 * N + N / 2.0)) <= 1e-3 * c);
    for (int solver = CLV_SYMNMF_ROWS; solver <= CLV_SYMNMF_SPG; solver++) {
        clv_symnmf_options options = options_for(K, solver);
        options.step = CLV_SYMNMF_CURVATURE;
        options.start = "random";
        options.control.max_iter = 300;
        clv_result *result = solve(ctx, p, N, &options);
        check_claims(result, p, N);
        assert_true(result->objective.value >= N * N / 16.0);
        for (int64_t t = 0; t + 1 < result->trace_count && solver == CLV_SYMNMF_FW; t++) {
            double g = result->trace[t].certificate, promised = g > c ? g - c / 2 : g * g / (2 * c);
            double f = result->trace[t].objective;
            assert_true(result->trace[t + 1].objective <= f - promised * (1 - 1e-5) + 1e-10 * f);
        }
        clv_result_free(result);
    }
    clv_context_free(ctx);
}

/* The paper's rule: a run ends at the first change of f below the number given, stalled, and not before. */
static void small_changes_end_a_run(void **unused) {
    (void)unused;
    enum { N = 30, K = 3 };
    double p[N * N];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(34, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    grouped(&rng, p, N);
    for (int solver = CLV_SYMNMF_ROWS; solver <= CLV_SYMNMF_PENALTY; solver++) {
        clv_symnmf_options options = options_for(K, solver);
        options.start = "random";
        options.control.tol = 0;
        options.change = 1e-3;
        clv_result *result = solve(ctx, p, N, &options);
        assert_int_equal(result->stop, CLV_STALLED);
        for (int64_t t = 1; t < result->trace_count; t++) {
            double change = fabs(result->trace[t].objective - result->trace[t - 1].objective);
            assert_true(t + 1 < result->trace_count ? change >= 1e-3 : change < 1e-3);
        }
        clv_result_free(result);
    }
    clv_context_free(ctx);
}

/* --- exact factorizations --- */

/* The largest difference between two matrices of memberships under the best order of clusters. */
static double difference_of(clv_context *ctx, const double *w, const double *truth, int64_t n, int64_t k) {
    double weight[MOST_K * MOST_K] = {0}, worst = 0;
    int64_t match[MOST_K];
    for (int64_t i = 0; i < n; i++) {
        for (int64_t e = 0; e < k * k; e++) {
            weight[e] -= pow(w[i * k + e / k] - truth[i * k + e % k], 2);
        }
    }
    for (int64_t e = 0; e < k * k; e++) {
        weight[e] += 2 * (double)n;
    }
    assert_int_equal(clv_assign(ctx, weight, k, k, match), CLV_OK);
    for (int64_t e = 0; e < n * k; e++) {
        worst = fmax(worst, fabs(w[e] - truth[e / k * k + match[e % k]]));
    }
    return worst;
}

/* Some rows are vertices, which makes W unique up to the order of clusters. */
static void a_product_of_memberships_is_taken_apart(void **unused) {
    (void)unused;
    enum { N = 60 };
    double p[N * N], truth[N * MOST_K];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(8, 0);
    int cases = 0, found = 0;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 12; trial++) {
        int64_t k = 2 + trial % 4;
        random_rows(&rng, truth, N, k, true);
        for (int64_t i = 0; i < 4 * k; i++) {
            for (int64_t c = 0; c < k; c++) {
                truth[i * k + c] = c == i % k;
            }
        }
        product_of_rows(truth, N, k, p);
        clv_symnmf_options options = options_for(k, CLV_SYMNMF_ROWS);
        options.control.tol = 1e-9;
        options.control.restarts = 5;
        clv_result *result = solve(ctx, p, N, &options);
        check_claims(result, p, N);
        assert_true(result->objective.value <= 1e-8);
        cases++;
        found += difference_of(ctx, clv_result_matrix(result, "membership")->values, truth, N, k) <= 1e-3;
        clv_result_free(result);
    }
    assert_int_equal(found, cases);
    clv_context_free(ctx);
}

/* --- new objects --- */

/* Of `count` new objects with these similarities to the old ones. */
static clv_result *predict(clv_context *ctx, const clv_result *answer, const double *cross, int64_t count) {
    const clv_matrix similarities = {.rows = count, .cols = answer->n, .values = cross};
    clv_symnmf_options options = options_for(answer->k, CLV_SYMNMF_ROWS);
    clv_result *found = NULL;
    assert_int_equal(
        clv_symnmf_predict(ctx, &(clv_input){0}, &options, answer, &(clv_fresh){.similarities = &similarities}, &found),
        CLV_OK);
    return found;
}

static void predictions_are_optimal(void **unused) {
    (void)unused;
    enum { N = 30, K = 3, M = 40, GRID = 60 };
    double w[N * K], cross[M * N];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(9, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    random_rows(&rng, w, N, K, true);
    for (int e = 0; e < M * N; e++) {
        cross[e] = clv_rng_uniform(&rng);
    }
    clv_result *answer = answer_of(ctx, w, N, K), *found = predict(ctx, answer, cross, M);
    const double *out = clv_result_matrix(found, "membership")->values;
    for (int r = 0; r < M; r++) {
        double least = INFINITY, here = 0;
        for (int a = 0; a <= GRID; a++) {
            for (int b = 0; a + b <= GRID; b++) {
                double row[K] = {(double)a / GRID, (double)b / GRID, (double)(GRID - a - b) / GRID}, sum = 0;
                for (int j = 0; j < N; j++) {
                    double rest = cross[r * N + j] - row[0] * w[j * K] - row[1] * w[j * K + 1] - row[2] * w[j * K + 2];
                    sum += rest * rest;
                }
                least = fmin(least, sum);
            }
        }
        for (int j = 0; j < N; j++) {
            const double *row = out + r * K;
            double rest = cross[r * N + j] - row[0] * w[j * K] - row[1] * w[j * K + 1] - row[2] * w[j * K + 2];
            here += rest * rest;
        }
        assert_true(here <= least + 1e-12);
        assert_true(fabs(out[r * K] + out[r * K + 1] + out[r * K + 2] - 1) <= 1e-12);
    }
    /* Similarities that memberships explain are explained by those. */
    for (int r = 0; r < M; r++) {
        double row[K];
        random_rows(&rng, row, 1, K, r % 2);
        for (int j = 0; j < N; j++) {
            cross[r * N + j] = row[0] * w[j * K] + row[1] * w[j * K + 1] + row[2] * w[j * K + 2];
        }
        clv_result *one = predict(ctx, answer, cross + (ptrdiff_t)r * N, 1);
        for (int c = 0; c < K; c++) {
            assert_true(fabs(((const double *)clv_result_matrix(one, "membership")->values)[c] - row[c]) <= 1e-9);
        }
        clv_result_free(one);
    }
    clv_result_free(found);
    clv_result_free(answer);
    clv_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_are_those_of_the_matrix),
        cmocka_unit_test(tiny_problems_descend),
        cmocka_unit_test(spectral_starts_find_good_minima),
        cmocka_unit_test(converging_solvers_agree),
        cmocka_unit_test(the_gap_is_0_at_kkt_points_only),
        cmocka_unit_test(solutions_are_kkt_points),
        cmocka_unit_test(frank_wolfe_keeps_its_promise),
        cmocka_unit_test(the_curvature_is_bounded),
        cmocka_unit_test(the_hessian_is_that_of_lemma_3),
        cmocka_unit_test(a_product_of_memberships_is_taken_apart),
        cmocka_unit_test(predictions_are_optimal),
        cmocka_unit_test(sizes_are_those_of_lemmas_4_and_6),
        cmocka_unit_test(the_curvature_is_not_small),
        cmocka_unit_test(the_hessian_is_at_least_that_of_lemma_7),
        cmocka_unit_test(affinities_need_not_be_semidefinite),
        cmocka_unit_test(small_changes_end_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
