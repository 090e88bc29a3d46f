/* Nearest neighbors: the exact search, which passes over boxes, against all distances; the approximate one by its
 * recall on clusters, and that it stays the same on any number of threads. */
#include "failing.h"

#include "affinity/knn.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3000, COLUMNS = 8, K = 10 };

/* Clusters of unequal width; some points coincide. */
static void fill(double *x, int64_t n, int64_t p, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    for (int64_t i = 0; i < n; i++) {
        int64_t cluster = clv_rng_below(&rng, 6);
        for (int64_t f = 0; f < p; f++) {
            double center = (double)((cluster * 7 + f * 3) % 11);
            x[i * p + f] =
                i % 50 == 7 ? x[(i - 1) * p + f] : center + 0.3 * (double)(1 + cluster) * clv_rng_normal(&rng);
        }
    }
}

static clv_panels panels_of(clv_context *ctx, const double *x, int64_t n, int64_t p) {
    clv_matrix matrix = {.rows = n, .cols = p, .values = x};
    clv_panels panels;
    assert_int_equal(clv_panels_new(ctx, &matrix, 1, &panels), CLV_OK);
    return panels;
}

static int by_distance(const void *left, const void *right) {
    const clv_neighbor *l = left, *r = right;
    return clv_further(l, r) ? 1 : clv_further(r, l) ? -1 : 0;
}

/* All distances, sorted. */
static void check_exact(const clv_panels *panels, int64_t k, const clv_neighbor *found) {
    clv_neighbor all[1000];
    for (int64_t i = 0; i < panels->n; i++) {
        int64_t count = 0;
        for (int64_t j = 0; j < panels->n; j++) {
            if (j != i) {
                all[count++] = (clv_neighbor){clv_distance(panels, i, j), j};
            }
        }
        qsort(all, (size_t)count, sizeof *all, by_distance);
        clv_sort_by_object(all, k);
        for (int64_t e = 0; e < k; e++) {
            assert_int_equal(found[i * k + e].j, all[e].j);
        }
    }
}

/* Every object once. */
static void check_order(const int64_t *order, int64_t n) {
    static bool seen[N];
    memset(seen, 0, sizeof seen);
    for (int64_t t = 0; t < n; t++) {
        assert_true(order[t] >= 0 && order[t] < n && !seen[order[t]]);
        seen[order[t]] = true;
    }
}

static void exact_neighbors_are_those_of_all_distances(void **unused) {
    (void)unused;
    static double x[1000 * 5];
    static clv_neighbor found[1000 * K];
    static int64_t order[1000];
    static const int64_t sizes[] = {11, 64, 65, 500, 1000};
    clv_context *ctx = new_context();
    for (size_t v = 0; v < sizeof sizes / sizeof *sizes; v++) {
        for (int64_t p = 1; p <= 5; p += 2) {
            fill(x, sizes[v], p, 1 + v);
            clv_panels panels = panels_of(ctx, x, sizes[v], p);
            for (int threads = 1; threads <= 2; threads++) {
                assert_int_equal(clv_nearest_exact(ctx, &panels, K, threads, found, order), CLV_OK);
                check_exact(&panels, K, found);
                check_order(order, sizes[v]);
            }
            clv_panels_free(&panels);
        }
    }
    end_context(ctx);
}

/* Points of a grid whose distances are equal but for rounding, which differs by the set where the compiler fuses
 * operations: the same neighbors by all. */
static void neighbors_do_not_depend_on_the_set(void **unused) {
    enum { FEW = 600, WIDE = 6 };
    static double x[FEW * WIDE];
    static clv_neighbor found[CLV_KERNEL_SETS][FEW * K];
    const clv_kernel_set *sets[CLV_KERNEL_SETS], *chosen = clv_kernels;
    int count = clv_kernel_sets(sets);
    int64_t order[FEW];
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(3, 0);
    (void)unused;
    for (int64_t e = 0; e < FEW * WIDE; e++) {
        x[e] = (double)clv_rng_below(&rng, 20) / 100;
    }
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    clv_panels panels = panels_of(ctx, x, FEW, WIDE);
    for (int s = 0; s < count; s++) {
        clv_kernels = sets[s];
        assert_int_equal(clv_nearest_exact(ctx, &panels, K, 2, found[s], order), CLV_OK);
        for (int64_t e = 0; e < FEW * K; e++) {
            assert_int_equal(found[s][e].j, found[0][e].j);
        }
    }
    clv_kernels = chosen;
    clv_panels_free(&panels);
    clv_context_free(ctx);
}

/* A list is of k others, in order, with their distances. */
static void check_lists(const clv_panels *panels, int64_t k, const clv_neighbor *found) {
    for (int64_t e = 0; e < panels->n * k; e++) {
        double d2 = clv_distance(panels, e / k, found[e].j);
        assert_true(found[e].j >= 0 && found[e].j < panels->n && found[e].j != e / k);
        assert_true(e % k == 0 || found[e].j > found[e - 1].j);
        assert_true(fabs(found[e].d2 - d2) <= 1e-12 * (1 + d2));
    }
}

static double recall_of(const clv_neighbor *exact, const clv_neighbor *found, int64_t n, int64_t k) {
    int64_t hits = 0;
    for (int64_t i = 0; i < n; i++) {
        double reach = 0;
        for (int64_t e = 0; e < k; e++) {
            reach = fmax(reach, exact[i * k + e].d2);
        }
        for (int64_t e = 0; e < k; e++) {
            hits += found[i * k + e].d2 <= reach * (1 + 1e-12);
        }
    }
    return (double)hits / (double)(n * k);
}

static void approximate_neighbors_are_nearly_all(void **unused) {
    (void)unused;
    static double x[N * COLUMNS];
    static clv_neighbor exact[N * 2 * K], one[N * 2 * K], two[N * 2 * K];
    static int64_t order[N], other[N];
    clv_context *ctx = new_context();
    for (int64_t k = 1; k <= 2 * K; k = k == 1 ? K : k + K) {
        double recall, again;
        fill(x, N, COLUMNS, (uint64_t)k);
        clv_panels panels = panels_of(ctx, x, N, COLUMNS);
        assert_int_equal(clv_nearest_exact(ctx, &panels, k, 1, exact, order), CLV_OK);
        assert_int_equal(clv_nearest_approximate(ctx, &panels, k, 1, one, order, &recall), CLV_OK);
        assert_int_equal(clv_nearest_approximate(ctx, &panels, k, 2, two, other, &again), CLV_OK);
        check_order(order, N);
        assert_memory_equal(order, other, sizeof order);
        check_lists(&panels, k, one);
        assert_true(recall == again);
        for (int64_t e = 0; e < N * k; e++) {
            assert_true(one[e].j == two[e].j && one[e].d2 == two[e].d2);
        }
        double whole = recall_of(exact, one, N, k);
        assert_true(whole > 0.9);
        assert_true(fabs(recall - whole) < 0.05);
        clv_panels_free(&panels);
    }
    end_context(ctx);
}

/* What is said to be needed is what is held, but for the guess at how many neighbors are mutual. */
static void memory_is_foretold(void **unused) {
    (void)unused;
    enum { MANY = 20000 };
    static double x[MANY * COLUMNS];
    fill(x, MANY, COLUMNS, 3);
    for (int search = CLV_SEARCH_EXACT; search <= CLV_SEARCH_APPROXIMATE; search++) {
        for (int64_t p = 1; p <= COLUMNS; p += COLUMNS - 1) {
            clv_context *ctx = new_context();
            clv_matrix points = {.rows = MANY, .cols = p, .values = x};
            clv_affinity_options how;
            clv_affinity_info plan;
            clv_affinity *a = NULL;
            size_t now, peak;
            clv_affinity_defaults(&how);
            how.kind = CLV_AFFINITY_KNN;
            how.search = search;
            how.threads = 1;
            assert_int_equal(clv_affinity_plan(ctx, &points, &how, &plan), CLV_OK);
            assert_int_equal(clv_affinity_build(ctx, &points, &how, &a), CLV_OK);
            clv_context_memory(ctx, &now, &peak);
            assert_in_range(peak, plan.peak - plan.peak / 4, plan.peak + plan.peak / 10);
            clv_affinity_free(a);
            end_context(ctx);
        }
    }
}

/* The graph by an approximate search, as the option asks for it: symmetric, with its recall. */
static clv_status build_once(clv_context *ctx, void *user) {
    clv_matrix matrix = {.rows = 600, .cols = 3, .values = user};
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_info info;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_KNN;
    how.search = CLV_SEARCH_APPROXIMATE;
    how.neighbors = 5;
    how.threads = 1;
    CLV_TRY(clv_affinity_build(ctx, &matrix, &how, &a));
    clv_affinity_describe(a, &info);
    assert_true(info.recall > 0.9 && info.recall <= 1);
    for (int64_t i = 0; i < 600; i++) {
        static double column[600];
        clv_status status = clv_affinity_column(a, i, column);
        for (int64_t j = 0; j < i && status == CLV_OK; j++) {
            double mirrored = 0;
            status = clv_affinity_entry(a, i, j, &mirrored);
            assert_true(status < 0 || mirrored == column[j]);
        }
        if (status < 0) {
            clv_affinity_free(a);
            return status;
        }
    }
    clv_affinity_free(a);
    return CLV_OK;
}

static void the_graph_is_symmetric_and_survives_failed_allocations(void **unused) {
    (void)unused;
    static double x[600 * 3];
    fill(x, 600, 3, 9);
    assert_true(check_every_failure(build_once, x) > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_neighbors_are_those_of_all_distances),
        cmocka_unit_test(neighbors_do_not_depend_on_the_set),
        cmocka_unit_test(memory_is_foretold),
        cmocka_unit_test(approximate_neighbors_are_nearly_all),
        cmocka_unit_test(the_graph_is_symmetric_and_survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
