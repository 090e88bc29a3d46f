/* Samples of objects to start from: how often each subset is drawn, against its probability by the definition; what
 * cannot be drawn; large and degenerate kernels. */
#include "affinity/affinity.h"
#include "methods/dominant/dominant.h"

#include "entry_of.h"
#include "failing.h"

#include <math.h>

enum { N = 6, SUBSETS = 1 << N, DRAWS = 20000, MANY = 1100 };

static const double few_points[N * 2] = {0, 0, 0.3, 0.1, 1.4, 0, 0.2, 2, 2.2, 1.9, 1, 1.1};

/* Six directions of space for cosines; a chain with gaps of every size for minimax paths. */
static const double compass[N * 3] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1};
static const double chain[N * 2] = {0, 0, 0.1, 0, 1, 0, 1.3, 0, 4, 0, 4.6, 0};

static clv_affinity *build(clv_context *ctx, const clv_matrix *points, int kind, bool zero_diagonal) {
    clv_affinity_options o;
    clv_affinity *a;
    clv_affinity_defaults(&o);
    o.kind = kind;
    o.zero_diagonal = zero_diagonal;
    o.home = kind == CLV_AFFINITY_MINIMAX ? CLV_HOME_COMPUTED : CLV_HOME_AUTO;
    assert_int_equal(clv_affinity_build(ctx, points, &o, &a), CLV_OK);
    return a;
}

static int64_t *count_up(int64_t m) {
    int64_t *active = malloc((size_t)m * sizeof *active);
    for (int64_t i = 0; i < m; i++) {
        active[i] = i;
    }
    return active;
}

static void assert_distinct(const int64_t *out, int64_t count, const int64_t *active, int64_t m, int64_t n) {
    int *seen = calloc((size_t)n, sizeof *seen);
    for (int64_t i = 0; i < m; i++) {
        seen[active[i]] = 1;
    }
    for (int64_t t = 0; t < count; t++) {
        assert_in_range(out[t], 0, n - 1);
        assert_int_equal(seen[out[t]], 1);
        seen[out[t]] = 2;
    }
    free(seen);
}

/* --- how often --- */

static double determinant(const double *matrix, int64_t n) {
    double a[N * N], product = 1;
    memcpy(a, matrix, (size_t)(n * n) * sizeof *a);
    for (int64_t c = 0; c < n; c++) {
        int64_t pivot = c;
        for (int64_t r = c + 1; r < n; r++) {
            pivot = fabs(a[r * n + c]) > fabs(a[pivot * n + c]) ? r : pivot;
        }
        if (a[pivot * n + c] == 0) {
            return 0;
        }
        for (int64_t j = 0; j < n; j++) {
            double held = a[c * n + j];
            a[c * n + j] = a[pivot * n + j];
            a[pivot * n + j] = held;
        }
        product *= pivot == c ? a[c * n + c] : -a[c * n + c];
        for (int64_t r = c + 1; r < n; r++) {
            double factor = a[r * n + c] / a[c * n + c];
            for (int64_t j = c; j < n; j++) {
                a[r * n + j] -= factor * a[c * n + j];
            }
        }
    }
    return product;
}

static int64_t size_of(int subset) {
    return __builtin_popcount((unsigned)subset);
}

static double minor_of(const double *kernel, int subset) {
    double part[N * N];
    int64_t at = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            if (subset >> i & 1 && subset >> j & 1) {
                part[at++] = kernel[i * N + j];
            }
        }
    }
    return determinant(part, size_of(subset));
}

/* det(L_S) / (their sum over all subsets of the size). */
static void expect(const double *kernel, int64_t count, double *probability) {
    double total = 0;
    for (int s = 0; s < SUBSETS; s++) {
        probability[s] = size_of(s) == count ? fmax(minor_of(kernel, s), 0) : 0;
        total += probability[s];
    }
    for (int s = 0; s < SUBSETS; s++) {
        probability[s] /= total;
    }
}

/* Pearson's statistic stays below what chance explains; subsets of no probability are never drawn. */
static void check_frequencies(const int64_t *drawn, const double *probability) {
    double statistic = 0;
    int64_t freedom = -1;
    for (int s = 0; s < SUBSETS; s++) {
        double expected = DRAWS * probability[s];
        if (expected < 1e-6) {
            assert_int_equal(drawn[s], 0);
            continue;
        }
        statistic += ((double)drawn[s] - expected) * ((double)drawn[s] - expected) / expected;
        freedom++;
    }
    assert_true(freedom >= 0);
    assert_true(statistic <= (double)freedom + 6 * sqrt(2.0 * (double)freedom + 1));
}

/* The kernel that sampling.c describes: the affinity with `self` on the diagonal, or with its largest entry. */
static void kernel_of(const clv_affinity *a, double self, double *kernel) {
    for (int e = 0; e < N * N; e++) {
        kernel[e] = entry_of(a, e / N, e % N);
        self = fmax(self, kernel[e]);
    }
    for (int i = 0; i < N; i++) {
        kernel[i * N + i] = self;
    }
}

static void clip(clv_context *ctx, double *kernel) {
    double vectors[N * N], values[N];
    memcpy(vectors, kernel, sizeof vectors);
    assert_int_equal(clv_eigen_dense(ctx, vectors, N, values), CLV_OK);
    memset(kernel, 0, sizeof vectors);
    for (int e = 0; e < N; e++) {
        for (int i = 0; i < N * N && values[e] > 1e-12; i++) {
            kernel[i] += values[e] * vectors[e * N + i / N] * vectors[e * N + i % N];
        }
    }
}

static void check_dpp(clv_context *ctx, const clv_affinity *a, const double *kernel, int64_t count) {
    const int64_t active[N] = {3, 1, 5, 0, 2, 4}; /* in any order */
    int64_t drawn[SUBSETS] = {0}, out[N];
    double probability[SUBSETS];
    clv_rng rng = clv_rng_stream(11, (uint64_t)count);
    for (int64_t d = 0; d < DRAWS; d++) {
        int subset = 0;
        assert_int_equal(clv_sample_dpp(ctx, a, active, N, count, &rng, out), CLV_OK);
        for (int64_t t = 0; t < count; t++) {
            subset |= 1 << out[t];
        }
        assert_int_equal(size_of(subset), count);
        drawn[subset]++;
    }
    expect(kernel, count, probability);
    check_frequencies(drawn, probability);
}

static void test_frequencies_of_dpp(void **state) {
    clv_context *ctx = new_context();
    const struct {
        const double *points;
        int64_t features;
        int kind;
        bool zero_diagonal;
        double self;
    } cases[] = {{few_points, 2, CLV_AFFINITY_DISTANCE, false, 0},   {few_points, 2, CLV_AFFINITY_GAUSSIAN, true, 1},
                 {few_points, 2, CLV_AFFINITY_EXPONENTIAL, true, 1}, {few_points, 2, CLV_AFFINITY_DISTANCE, true, 0},
                 {compass, 3, CLV_AFFINITY_COSINE, true, 2},         {chain, 2, CLV_AFFINITY_MINIMAX, false, 0}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const clv_matrix points = {.rows = N, .cols = cases[c].features, .scalar = CLV_F64, .values = cases[c].points};
        clv_affinity *a = build(ctx, &points, cases[c].kind, cases[c].zero_diagonal);
        double kernel[N * N];
        kernel_of(a, cases[c].self, kernel);
        clip(ctx, kernel);
        for (int64_t count = 2; count <= 3; count++) {
            check_dpp(ctx, a, kernel, count);
        }
        clv_affinity_free(a);
    }
    end_context(ctx);
}

/* A graph whose kernel is indefinite: what is negative counts as 0. */
static void test_indefinite_kernels(void **state) {
    clv_context *ctx = new_context();
    double graph[N * N] = {0}, kernel[N * N];
    const clv_matrix given = {.rows = N, .cols = N, .scalar = CLV_F64, .values = graph};
    (void)state;
    for (int i = 0; i < N; i++) {
        int next = (i + 1) % N;
        graph[i * N + next] = graph[next * N + i] = 1 - 0.1 * i;
    }
    clv_affinity *a = build(ctx, &given, CLV_AFFINITY_PRECOMPUTED, false);
    kernel_of(a, 0, kernel);
    clip(ctx, kernel);
    check_dpp(ctx, a, kernel, 2);
    check_dpp(ctx, a, kernel, 3);
    clv_affinity_free(a);
    end_context(ctx);
}

/* Of points that coincide any one is as good as another, and so are those that make the number full. */
static void test_filling_up(void **state) {
    clv_context *ctx = new_context();
    const double same[N * 2] = {0}, identity[N * N] = {[0] = 1, [7] = 1, [14] = 1, [21] = 1, [28] = 1, [35] = 1};
    const clv_matrix points = {.rows = N, .cols = 2, .scalar = CLV_F64, .values = same};
    clv_affinity *a = build(ctx, &points, CLV_AFFINITY_GAUSSIAN, true);
    (void)state;
    check_dpp(ctx, a, identity, 2);
    check_dpp(ctx, a, identity, 3);
    clv_affinity_free(a);
    end_context(ctx);
}

static void test_frequencies_of_uniform(void **state) {
    clv_context *ctx = new_context();
    const int64_t active[N] = {0, 1, 2, 3, 4, 5};
    (void)state;
    for (int64_t count = 1; count < N; count++) {
        int64_t drawn[SUBSETS] = {0}, out[N];
        double probability[SUBSETS], subsets = 0;
        clv_rng rng = clv_rng_stream(5, (uint64_t)count);
        for (int64_t d = 0; d < DRAWS; d++) {
            int subset = 0;
            assert_int_equal(clv_sample_uniform(ctx, active, N, count, &rng, out), CLV_OK);
            for (int64_t t = 0; t < count; t++) {
                subset |= 1 << out[t];
            }
            assert_int_equal(size_of(subset), count);
            drawn[subset]++;
        }
        for (int s = 0; s < SUBSETS; s++) {
            subsets += size_of(s) == count;
        }
        for (int s = 0; s < SUBSETS; s++) {
            probability[s] = size_of(s) == count ? 1 / subsets : 0;
        }
        check_frequencies(drawn, probability);
    }
    end_context(ctx);
}

/* --- large and degenerate ones --- */

enum { BLOBS = 4 };

/* Points that coincide in BLOBS places: a kernel of that rank. */
static clv_matrix draw_places(double *values) {
    for (int64_t i = 0; i < MANY; i++) {
        values[2 * i] = i % 2 == 0 ? 0 : 3;
        values[2 * i + 1] = i % BLOBS < 2 ? 0 : 3;
    }
    return (clv_matrix){.rows = MANY, .cols = 2, .scalar = CLV_F64, .values = values};
}

static int places_hit(const int64_t *out, int64_t count) {
    int hit = 0;
    for (int64_t t = 0; t < count; t++) {
        hit |= 1 << out[t] % BLOBS;
    }
    return hit;
}

/* One object in each place, from the sampled kernel of many as from the whole one of few; no more than the rank is
 * chosen like this, and the others make the number full. */
static void test_rank(void **state) {
    clv_context *ctx = new_context();
    double *values = malloc(sizeof(double) * 2 * MANY);
    clv_matrix points = draw_places(values);
    clv_affinity *a = build(ctx, &points, CLV_AFFINITY_GAUSSIAN, true);
    int64_t *active = count_up(MANY), out[MANY];
    (void)state;
    for (int64_t m = 40; m <= MANY; m += 530) { /* 40, 570, 1100 */
        clv_rng rng = clv_rng_stream(1, (uint64_t)m);
        for (int draw = 0; draw < 5; draw++) {
            for (int64_t count = BLOBS; count <= 40; count += 18) {
                assert_int_equal(clv_sample_dpp(ctx, a, active, m, count, &rng, out), CLV_OK);
                assert_distinct(out, count, active, m, MANY);
                assert_int_equal(places_hit(out, BLOBS), (1 << BLOBS) - 1);
            }
        }
    }
    for (int64_t m = 40; m <= MANY; m += 1060) {
        clv_rng rng = clv_rng_stream(2, 0);
        assert_int_equal(clv_sample_dpp(ctx, a, active, m, m, &rng, out), CLV_OK);
        assert_distinct(out, m, active, m, MANY);
    }
    clv_affinity_free(a);
    free(active);
    free(values);
    end_context(ctx);
}

/* The pool of a large problem is drawn from all objects: every one comes up. */
static void test_pool_covers_all(void **state) {
    clv_context *ctx = new_context();
    double *graph = calloc((size_t)MANY * MANY, sizeof *graph);
    const clv_matrix given = {.rows = MANY, .cols = MANY, .scalar = CLV_F64, .values = graph};
    int64_t *active = count_up(MANY), out[500];
    int seen[MANY] = {0}, covered = 0;
    (void)state;
    for (int64_t i = 0; i < MANY; i++) {
        graph[i * MANY + i] = 1;
    }
    clv_affinity *a = build(ctx, &given, CLV_AFFINITY_PRECOMPUTED, false);
    clv_rng rng = clv_rng_stream(3, 0);
    for (int draw = 0; draw < 10; draw++) {
        assert_int_equal(clv_sample_dpp(ctx, a, active, MANY, 500, &rng, out), CLV_OK);
        for (int64_t t = 0; t < 500; t++) {
            covered += !seen[out[t]]++;
        }
    }
    assert_in_range(covered, MANY - 10, MANY); /* (4/9)^10 of them are missed: 0.3 in the mean */
    clv_affinity_free(a);
    free(active);
    free(graph);
    end_context(ctx);
}

/* Products of eigenvalues far outside the range of a double: the same subsets whatever the unit, and with eigenvalues
 * that fall off to rounding. */
static void test_units_do_not_matter(void **state) {
    enum { SOME = 80, COUNT = 50 };
    clv_context *ctx = new_context();
    static double graph[SOME * SOME], scaled[SOME * SOME];
    const clv_matrix given = {.rows = SOME, .cols = SOME, .scalar = CLV_F64, .values = scaled};
    const double units[] = {1, 0x1p-900, 0x1p900};
    int64_t *active = count_up(SOME), out[3][COUNT];
    (void)state;
    for (int64_t e = 0; e < SOME * SOME; e++) {
        int64_t i = e / SOME, j = e % SOME;
        double d = (double)(i - j);
        graph[e] = exp(-d * d / 8);
    }
    for (int u = 0; u < 3; u++) {
        for (int64_t e = 0; e < SOME * SOME; e++) {
            scaled[e] = graph[e] * units[u];
        }
        clv_affinity *a = build(ctx, &given, CLV_AFFINITY_PRECOMPUTED, false);
        clv_rng rng = clv_rng_stream(8, 0);
        assert_int_equal(clv_sample_dpp(ctx, a, active, SOME, COUNT, &rng, out[u]), CLV_OK);
        assert_distinct(out[u], COUNT, active, SOME, SOME);
        assert_memory_equal(out[u], out[0], sizeof out[0]);
        clv_affinity_free(a);
    }
    free(active);
    end_context(ctx);
}

static void test_no_similarity_at_all(void **state) {
    clv_context *ctx = new_context();
    double graph[N * N] = {0};
    const clv_matrix given = {.rows = N, .cols = N, .scalar = CLV_F64, .values = graph};
    clv_affinity *a = build(ctx, &given, CLV_AFFINITY_PRECOMPUTED, true);
    const int64_t active[3] = {5, 0, 3};
    int64_t out[3];
    clv_rng rng = clv_rng_stream(1, 1);
    (void)state;
    for (int64_t count = 0; count <= 3; count++) {
        assert_int_equal(clv_sample_dpp(ctx, a, active, 3, count, &rng, out), CLV_OK);
        assert_distinct(out, count, active, 3, N);
    }
    assert_int_equal(clv_sample_uniform(ctx, NULL, 0, 0, &rng, out), CLV_OK);
    clv_affinity_free(a);
    end_context(ctx);
}

/* --- the same again, refusals, failures --- */

static void test_seeds(void **state) {
    clv_context *ctx = new_context();
    double *values = malloc(sizeof(double) * 2 * MANY);
    clv_rng place = clv_rng_stream(9, 9);
    for (int64_t e = 0; e < 2 * MANY; e++) {
        values[e] = clv_rng_uniform(&place);
    }
    const clv_matrix points = {.rows = MANY, .cols = 2, .scalar = CLV_F64, .values = values};
    clv_affinity *a = build(ctx, &points, CLV_AFFINITY_DISTANCE, false);
    int64_t *active = count_up(MANY), first[8], again[8];
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        for (int dpp = 0; dpp < 2; dpp++) {
            clv_rng one = clv_rng_stream(seed, 0), two = one, other = clv_rng_stream(seed, 1);
            clv_rng *rngs[3] = {&one, &two, &other};
            for (int r = 0; r < 3; r++) {
                int64_t *out = r == 0 ? first : again;
                assert_int_equal(dpp ? clv_sample_dpp(ctx, a, active, MANY, 8, rngs[r], out)
                                     : clv_sample_uniform(ctx, active, MANY, 8, rngs[r], out),
                                 CLV_OK);
                assert_int_equal(memcmp(first, out, sizeof first) == 0, r < 2);
            }
        }
    }
    clv_affinity_free(a);
    free(active);
    free(values);
    end_context(ctx);
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

static void test_refusals(void **state) {
    clv_context *ctx = new_context();
    const clv_matrix points = {.rows = N, .cols = 2, .scalar = CLV_F64, .values = few_points};
    clv_affinity *a = build(ctx, &points, CLV_AFFINITY_DISTANCE, false);
    const int64_t active[3] = {5, 0, 3};
    int64_t out[4];
    clv_rng rng = clv_rng_stream(1, 1);
    (void)state;
    assert_int_equal(clv_sample_uniform(ctx, active, 3, 4, &rng, out), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "4 objects to start from were asked for, but there are only 3"));
    assert_int_equal(clv_sample_dpp(ctx, a, active, 3, 4, &rng, out), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "4 objects to start from were asked for, but there are only 3"));
    assert_int_equal(clv_sample_dpp(ctx, a, active, 3, -1, &rng, out), CLV_EUSAGE);
    clv_context_set_interrupt(ctx, stop_at_once, NULL);
    assert_int_equal(clv_sample_dpp(ctx, a, active, 3, 2, &rng, out), CLV_EINTERRUPTED);
    clv_affinity_free(a);
    end_context(ctx);
}

static clv_status sample_both(clv_context *ctx, void *user) {
    const clv_matrix points = {.rows = N, .cols = 2, .scalar = CLV_F64, .values = few_points};
    const int64_t active[N] = {0, 1, 2, 3, 4, 5};
    int64_t out[N];
    clv_rng rng = clv_rng_stream(1, 1);
    clv_affinity_options o;
    clv_affinity *a;
    clv_affinity_defaults(&o);
    o.kind = *(const int *)user;
    o.home = o.kind == CLV_AFFINITY_MINIMAX ? CLV_HOME_COMPUTED : CLV_HOME_AUTO;
    CLV_TRY(clv_affinity_build(ctx, &points, &o, &a));
    clv_status status = clv_sample_dpp(ctx, a, active, N, 3, &rng, out);
    if (status == CLV_OK) {
        status = clv_sample_uniform(ctx, active, N, 3, &rng, out);
    }
    clv_affinity_free(a);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    int kinds[] = {CLV_AFFINITY_DISTANCE, CLV_AFFINITY_MINIMAX};
    for (int kind = 0; kind < 2; kind++) {
        assert_in_range(check_every_failure(sample_both, &kinds[kind]), 12, 60);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frequencies_of_dpp),
        cmocka_unit_test(test_indefinite_kernels),
        cmocka_unit_test(test_filling_up),
        cmocka_unit_test(test_frequencies_of_uniform),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_pool_covers_all),
        cmocka_unit_test(test_units_do_not_matter),
        cmocka_unit_test(test_no_similarity_at_all),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
