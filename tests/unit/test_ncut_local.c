/* ncut on sparse graphs: what is carried along by touched objects against a fresh computation, the certificate, and
 * the lowest cut of small graphs by trying all. */
#include "failing.h"

#include "methods/ncut/ncut.h"

#include <math.h>

enum { MOST = 240 };

/* A ring of three groups with shortcuts, in compressed rows; about one object in twenty is similar to nothing. */
typedef struct graph {
    int64_t start[MOST + 1];
    int32_t index[MOST * MOST];
    double values[MOST * MOST];
    clv_matrix matrix;
} graph;

static double weight_between(int64_t i, int64_t j, int64_t n, uint64_t seed) {
    int64_t low = i < j ? i : j, high = i < j ? j : i;
    clv_rng rng = clv_rng_stream(seed, (uint64_t)(low * n + high));
    bool left_out = (low * 7 + (int64_t)seed) % 20 == 3 || (high * 7 + (int64_t)seed) % 20 == 3;
    double reach = 3 * low / n == 3 * high / n ? 0.35 : 0.05;
    double draw = clv_rng_uniform(&rng), weight = 0.2 + clv_rng_uniform(&rng);
    bool joined = low == high || high - low == 1 || draw < reach;
    return n >= 40 && left_out ? 0 : joined ? weight : 0;
}

static void fill(graph *g, int64_t n, uint64_t seed) {
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        g->start[i] = at;
        for (int64_t j = 0; j < n; j++) {
            double weight = weight_between(i, j, n, seed);
            if (weight > 0) {
                g->index[at] = (int32_t)j;
                g->values[at++] = weight;
            }
        }
    }
    g->start[n] = at;
    g->matrix = (clv_matrix){n, n, CLV_F64, g->values, g->start, g->index};
}

static clv_affinity *build(clv_context *ctx, const graph *g, bool zero_diagonal) {
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    how.home = CLV_HOME_SPARSE;
    how.zero_diagonal = zero_diagonal;
    assert_int_equal(clv_affinity_build(ctx, &g->matrix, &how, &a), CLV_OK);
    return a;
}

/* The problem as far as the search needs it. */
static void set_problem(clv_context *ctx, const clv_affinity *a, int64_t k, double *numbers, clv_ncut_problem *p) {
    *p = (clv_ncut_problem){.ctx = ctx, .affinity = a, .n = clv_affinity_size(a), .k = k};
    p->degree = numbers;
    p->diagonal = numbers + p->n;
    assert_int_equal(clv_affinity_degrees(a, p->degree, 1), CLV_OK);
    assert_int_equal(clv_affinity_diagonal(a, p->diagonal), CLV_OK);
}

/* Everything that is carried along, and that no mark or label is left over. */
static void check_state(const clv_local *l, clv_partition *fresh) {
    const clv_partition *s = l->s;
    int64_t n = s->problem->n, k = s->problem->k;
    memcpy(fresh->labels, s->labels, (size_t)n * sizeof *s->labels);
    assert_int_equal(clv_partition_refresh(fresh), CLV_OK);
    for (int64_t c = 0; c < k; c++) {
        assert_true(fabs(s->within[c] - fresh->within[c]) <= 1e-10 * (1 + fresh->within[c]));
        assert_true(fabs(s->volume[c] - fresh->volume[c]) <= 1e-10 * (1 + fresh->volume[c]));
        assert_int_equal(s->size[c], fresh->size[c]);
        assert_true(s->size[c] > 0);
    }
    assert_true(fabs(s->value - fresh->value) <= 1e-12);
    for (int64_t i = 0; i < n; i++) {
        assert_true((s->labels[i] < 0) == (s->problem->degree[i] <= 0));
    }
    for (int hand = 0; hand < l->hands; hand++) {
        const clv_hand *h = &l->hand[hand];
        assert_int_equal(h->waiting, 0);
        assert_int_equal(h->moves, 0);
        for (int64_t c = 0; c < k; c++) {
            assert_true(h->near[c] == 0);
        }
        for (int64_t i = 0; i < n; i++) {
            assert_int_equal(h->marks[i], 0);
            assert_int_equal(h->s.labels[i], s->labels[i]);
        }
    }
}

static void follow(clv_context *ctx, const graph *g, int64_t k, uint64_t seed, bool zero_diagonal) {
    static double numbers[2 * MOST];
    clv_affinity *a = build(ctx, g, zero_diagonal);
    clv_ncut_problem p;
    clv_partition s, fresh;
    clv_local l;
    clv_rng rng = clv_rng_stream(seed, 1);
    int64_t moved = 1, fruitless = 0;
    double gain;
    set_problem(ctx, a, k, numbers, &p);
    assert_int_equal(clv_partition_new(&p, 1 + (int)(seed % 3), &s), CLV_OK);
    assert_int_equal(clv_partition_new(&p, 1, &fresh), CLV_OK);
    assert_int_equal(clv_local_new(&s, &l), CLV_OK);
    clv_start_random(&s, &rng);
    assert_int_equal(clv_local_begin(&l), CLV_OK);
    check_state(&l, &fresh);
    int kept = 0;
    for (int bout = 0; bout < 150; bout++) { /* from labels at random, so that some are kept */
        double before = s.value;
        assert_int_equal(clv_local_bout(&l, &rng, 1 + bout % 4, &fruitless), CLV_OK);
        assert_true(s.value <= before);
        kept += s.value < before;
        check_state(&l, &fresh);
    }
    assert_true(kept >= 1 && kept < 150);
    while (moved > 0) {
        double before = s.value;
        assert_int_equal(clv_local_pass(&l, &moved), CLV_OK);
        check_state(&l, &fresh);
        assert_true(moved > 0 ? s.value < before : fabs(s.value - before) <= 1e-12);
    }
    for (int round = 0; round < 4; round++) {
        double before = s.value;
        assert_int_equal(clv_local_round(&l, &rng, -1, &fruitless), CLV_OK);
        assert_true(s.value <= before + 1e-14);
        check_state(&l, &fresh);
        assert_int_equal(clv_partition_gain(&fresh, &gain), CLV_OK);
        assert_true(gain <= CLV_GAIN_TOLERANCE * (double)k);
    }
    clv_local_free(&l);
    clv_partition_free(&s);
    clv_partition_free(&fresh);
    clv_affinity_free(a);
}

static void the_state_follows_the_labels(void **unused) {
    (void)unused;
    static graph g;
    clv_context *ctx = new_context();
    for (uint64_t seed = 1; seed <= 12; seed++) {
        int64_t n = 20 + (int64_t)seed * 18, k = 2 + (int64_t)seed % 5;
        fill(&g, n, seed);
        follow(ctx, &g, k, seed, seed % 3 == 0);
    }
    end_context(ctx);
}

/* All labelings of n objects in k clusters, k^n of them. */
static double lowest_of_all(clv_partition *s) {
    int64_t n = s->problem->n, k = s->problem->k, codes = 1;
    double lowest = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        codes *= k;
    }
    for (int64_t code = 0; code < codes; code++) {
        for (int64_t i = 0, rest = code; i < n; i++, rest /= k) {
            s->labels[i] = (int32_t)(rest % k);
        }
        assert_int_equal(clv_partition_refresh(s), CLV_OK);
        bool full = true;
        for (int64_t c = 0; c < k; c++) {
            full = full && s->size[c] > 0;
        }
        lowest = full ? fmin(lowest, s->value) : lowest;
    }
    return lowest;
}

static void small_graphs_are_solved(void **unused) {
    (void)unused;
    static graph g;
    double numbers[2 * MOST];
    clv_context *ctx = new_context();
    for (uint64_t seed = 1; seed <= 6; seed++) {
        int64_t k = 2 + (int64_t)seed % 2, n = k == 2 ? 12 : 9;
        fill(&g, n, seed);
        clv_affinity *a = build(ctx, &g, false);
        clv_ncut_problem p;
        clv_partition s;
        clv_ncut_options options;
        clv_result *result;
        set_problem(ctx, a, k, numbers, &p);
        assert_int_equal(clv_partition_new(&p, 1, &s), CLV_OK);
        clv_ncut_defaults(&options);
        options.k = k;
        assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        assert_true(fabs(result->objective.value - lowest_of_all(&s)) <= 1e-12);
        assert_true(result->certificate.holds);
        clv_result_free(result);
        clv_partition_free(&s);
        clv_affinity_free(a);
    }
    end_context(ctx);
}

/* The bits are the same whoever looks on, and on any number of threads. */
static void same_bits_with_a_trace_and_on_threads(void **unused) {
    (void)unused;
    static graph g;
    clv_context *ctx = new_context();
    fill(&g, MOST, 5);
    clv_affinity *a = build(ctx, &g, false);
    clv_ncut_options options;
    clv_result *result[3];
    clv_ncut_defaults(&options);
    options.k = 5;
    for (int restarts = 1; restarts <= 2; restarts++) { /* threads share the kicks of one; each has one of two */
        options.control.restarts = restarts;
        for (int variant = 0; variant < 3; variant++) {
            options.control.keep_trace = variant == 1;
            options.control.threads = variant == 2 ? 3 : 1;
            assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result[variant]), CLV_OK);
            assert_true(result[variant]->certificate.holds);
            assert_true(result[variant]->objective.value == result[0]->objective.value);
            assert_int_equal(result[variant]->iterations, result[0]->iterations);
            assert_memory_equal(result[variant]->labels, result[0]->labels, MOST * sizeof *result[0]->labels);
        }
        for (int variant = 0; variant < 3; variant++) {
            clv_result_free(result[variant]);
        }
    }
    clv_affinity_free(a);
    end_context(ctx);
}

static clv_status run_once(clv_context *ctx, void *user) {
    const graph *g = user;
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_result *result = NULL;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    how.home = CLV_HOME_SPARSE;
    how.threads = 1;
    clv_status status = clv_affinity_build(ctx, &g->matrix, &how, &a);
    if (status == CLV_OK) {
        clv_ncut_options options;
        clv_ncut_defaults(&options);
        options.k = 3;
        options.patience = 3;
        options.control.threads = 1;
        status = clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result);
    }
    clv_result_free(result);
    clv_affinity_free(a);
    return status;
}

static void survives_every_failed_allocation(void **unused) {
    (void)unused;
    static graph g;
    fill(&g, 60, 2);
    assert_true(check_every_failure(run_once, &g) > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_follows_the_labels),
        cmocka_unit_test(small_graphs_are_solved),
        cmocka_unit_test(same_bits_with_a_trace_and_on_threads),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
