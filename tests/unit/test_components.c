/* Connected components against the transitive closure of "is similar to", on random graphs in every home. */
#include "affinity/home.h"

#include "entry_of.h"
#include "failing.h"

#include <math.h>

enum { MOST = 70 };

/* The smallest object that can be reached from i. Closure by repeated relaxation: slow, and right. */
static void closure(const double *w, int64_t n, int64_t *smallest) {
    for (int64_t i = 0; i < n; i++) {
        smallest[i] = i;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                if (w[i * n + j] > 0 && smallest[j] < smallest[i]) {
                    smallest[i] = smallest[j];
                    changed = true;
                }
            }
        }
    }
}

static void expect(const double *w, int64_t n, int32_t *component, int64_t *count) {
    int64_t smallest[MOST];
    closure(w, n, smallest);
    *count = 0;
    for (int64_t i = 0; i < n; i++) {
        double degree = 0;
        for (int64_t j = 0; j < n; j++) {
            degree += w[i * n + j];
        }
        if (degree <= 0) {
            component[i] = -1;
        } else {
            component[i] = smallest[i] == i ? (int32_t)(*count)++ : component[smallest[i]];
        }
    }
}

static void check(const clv_affinity *a, const double *w) {
    int64_t n = clv_affinity_size(a), count, expected_count;
    int32_t component[MOST], expected[MOST];
    assert_int_equal(clv_affinity_components(a, component, &count), CLV_OK);
    expect(w, n, expected, &expected_count);
    assert_int_equal(count, expected_count);
    assert_memory_equal(component, expected, (size_t)n * sizeof *expected);
}

typedef struct graph {
    int64_t n;
    double w[MOST * MOST];
    float single[MOST * MOST];
    int64_t start[MOST + 1];
    int32_t index[MOST * MOST];
    double values[MOST * MOST];
} graph;

/* A few edges, some stored zeros, and a diagonal here and there. */
static void draw(graph *g, int64_t n, double edges, clv_rng *rng) {
    memset(g, 0, sizeof *g);
    g->n = n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double chance = i == j ? 0.3 : edges / (double)n;
            double weight = clv_rng_uniform(rng) < chance ? 0.1 + clv_rng_uniform(rng) : 0;
            g->w[i * n + j] = g->w[j * n + i] = weight;
        }
    }
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            g->single[i * n + j] = (float)g->w[i * n + j];
            if (g->w[i * n + j] > 0 || (i + j) % 5 == 0) {
                g->index[at] = (int32_t)j;
                g->values[at++] = g->w[i * n + j];
            }
        }
        g->start[i + 1] = at;
    }
}

static void check_restricted(const clv_affinity *a, const graph *g) {
    int64_t active[MOST], m = 0;
    double part[MOST * MOST] = {0};
    clv_affinity *some;
    for (int64_t i = g->n - 1; i >= 0; i -= 2) {
        active[m++] = i;
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++) {
            part[i * m + j] = entry_of(a, active[i], active[j]);
        }
    }
    assert_int_equal(clv_affinity_restrict(a, active, m, &some), CLV_OK);
    check(some, part);
    clv_affinity_free(some);
}

static void check_graph(clv_context *ctx, graph *g, int zero_diagonal) {
    int64_t n = g->n;
    clv_matrix matrices[] = {{.rows = n, .cols = n, .scalar = CLV_F64, .values = g->w},
                             {.rows = n, .cols = n, .scalar = CLV_F32, .values = g->single},
                             {.rows = n, .cols = n, .values = g->values, .start = g->start, .index = g->index}};
    double counted[MOST * MOST];
    clv_affinity_options o;
    clv_affinity_defaults(&o);
    o.kind = CLV_AFFINITY_PRECOMPUTED;
    o.zero_diagonal = zero_diagonal;
    memcpy(counted, g->w, sizeof counted);
    for (int64_t i = 0; zero_diagonal && i < n; i++) {
        counted[i * n + i] = 0;
    }
    for (int m = 0; m < 3; m++) {
        clv_affinity *a;
        assert_int_equal(clv_affinity_build(ctx, &matrices[m], &o, &a), CLV_OK);
        check(a, counted);
        check_restricted(a, g);
        clv_affinity_free(a);
    }
}

static void test_random_graphs(void **state) {
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(11, 0);
    graph *g = malloc(sizeof *g);
    (void)state;
    for (int trial = 0; trial < 120; trial++) {
        draw(g, 1 + clv_rng_below(&rng, MOST), 0.5 * (double)(trial % 6), &rng);
        check_graph(ctx, g, trial % 2);
    }
    free(g);
    end_context(ctx);
}

/* Points in three places so far apart that the kernel is 0 between them; and the homes that are computed. */
static void test_points(void **state) {
    clv_context *ctx = new_context();
    double points[60 * 2];
    clv_matrix matrix = {.rows = 60, .cols = 2, .scalar = CLV_F64, .values = points};
    clv_rng rng = clv_rng_stream(12, 0);
    static const int homes[] = {CLV_HOME_DENSE64, CLV_HOME_COMPUTED, CLV_HOME_AUTO, CLV_HOME_AUTO, CLV_HOME_AUTO};
    static const int kinds[] = {CLV_AFFINITY_GAUSSIAN, CLV_AFFINITY_GAUSSIAN, CLV_AFFINITY_KNN, CLV_AFFINITY_COSINE,
                                CLV_AFFINITY_MINIMAX};
    (void)state;
    for (int64_t i = 0; i < 60; i++) {
        points[2 * i] = 1000 * (double)(i % 3) + clv_rng_normal(&rng);
        points[2 * i + 1] = clv_rng_normal(&rng);
    }
    for (int variant = 0; variant < 5; variant++) {
        double w[60 * 60];
        clv_affinity_options o;
        clv_affinity *a;
        clv_affinity_defaults(&o);
        o.kind = kinds[variant];
        o.home = homes[variant];
        o.gamma = 1;
        o.neighbors = 3;
        assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
        for (int64_t i = 0; i < 60; i++) {
            assert_int_equal(clv_affinity_column(a, i, w + i * 60), CLV_OK);
        }
        check(a, w);
        clv_affinity_free(a);
    }
    end_context(ctx);
}

static clv_home_functions real;
static int64_t columns_made;

static clv_status counting_column(const clv_affinity *a, int64_t i, double *out) {
    columns_made++;
    return real.column(a, i, out);
}

/* Where everything is similar to everything, the first column tells it all. */
static void test_a_connected_kernel_costs_one_column(void **state) {
    clv_context *ctx = new_context();
    double points[50];
    clv_matrix matrix = {.rows = 50, .cols = 1, .scalar = CLV_F64, .values = points};
    clv_affinity_options o;
    clv_affinity *a;
    int32_t component[50];
    int64_t count;
    (void)state;
    for (int i = 0; i < 50; i++) {
        points[i] = 0.1 * i;
    }
    clv_affinity_defaults(&o);
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
    real = a->home;
    a->home.column = counting_column;
    columns_made = 0;
    assert_int_equal(clv_affinity_components(a, component, &count), CLV_OK);
    assert_int_equal(columns_made, 1);
    assert_int_equal(count, 1);
    clv_affinity_free(a);
    end_context(ctx);
}

static clv_status build_and_search(clv_context *ctx, void *user) {
    const clv_matrix *matrix = user;
    clv_affinity_options o;
    clv_affinity *a;
    int32_t component[4];
    int64_t count;
    clv_affinity_defaults(&o);
    o.kind = CLV_AFFINITY_PRECOMPUTED;
    CLV_TRY(clv_affinity_build(ctx, matrix, &o, &a));
    clv_status status = clv_affinity_components(a, component, &count);
    clv_affinity_free(a);
    return status;
}

static void test_allocations(void **state) {
    double w[16] = {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
    int64_t start[] = {0, 1, 2, 2, 3};
    int32_t index[] = {1, 0, 3};
    double values[] = {1, 1, 2};
    clv_matrix dense = {.rows = 4, .cols = 4, .scalar = CLV_F64, .values = w};
    clv_matrix sparse = {.rows = 4, .cols = 4, .values = values, .start = start, .index = index};
    (void)state;
    assert_in_range(check_every_failure(build_and_search, &dense), 5, 20);
    assert_in_range(check_every_failure(build_and_search, &sparse), 3, 20);
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

/* A chain is searched object by object, long enough for the hook to be asked. */
static void test_interrupt(void **state) {
    clv_context *ctx = new_context();
    enum { LONG = 1000 };
    int64_t start[LONG + 1] = {0}, at = 0, count;
    int32_t index[2 * LONG], component[LONG];
    double values[2 * LONG];
    clv_matrix matrix = {.rows = LONG, .cols = LONG, .values = values, .start = start, .index = index};
    clv_affinity_options o;
    clv_affinity *a;
    (void)state;
    for (int32_t i = 0; i < LONG; i++) {
        for (int32_t j = i - 1; j <= i + 1; j += 2) {
            if (j >= 0 && j < LONG) {
                index[at] = j;
                values[at++] = 1;
            }
        }
        start[i + 1] = at;
    }
    clv_affinity_defaults(&o);
    o.kind = CLV_AFFINITY_PRECOMPUTED;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
    assert_int_equal(clv_affinity_components(a, component, &count), CLV_OK);
    assert_int_equal(count, 1);
    clv_context_set_interrupt(ctx, stop_at_once, NULL);
    assert_int_equal(clv_affinity_components(a, component, &count), CLV_EINTERRUPTED);
    clv_context_set_interrupt(ctx, NULL, NULL);
    clv_affinity_free(a);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_a_connected_kernel_costs_one_column),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_interrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
