/* The normalized cut of a labeling against its definition on a small matrix. */
#include "base/base.h"

#include "failing.h"

#include <math.h>

enum { N = 40 };

typedef struct graph {
    double weight[N * N];
    clv_matrix view;
} graph;

static void fill(graph *g, clv_rng *rng) {
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double w = clv_rng_below(rng, 3) ? clv_rng_uniform(rng) : 0;
            g->weight[i * N + j] = g->weight[j * N + i] = w;
        }
    }
    g->view = (clv_matrix){N, N, CLV_F64, g->weight, NULL, NULL};
}

static clv_affinity *affinity_of(clv_context *ctx, const graph *g) {
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    assert_int_equal(clv_affinity_build(ctx, &g->view, &how, &a), CLV_OK);
    return a;
}

/* 1/2 sum over clusters of cut / volume, one cluster at a time; no volume counts as all cut. */
static double by_definition(const graph *g, const int32_t *labels) {
    double total = 0;
    for (int64_t first = 0; first < N; first++) {
        bool seen = labels[first] < 0;
        for (int64_t i = 0; i < first; i++) {
            seen = seen || labels[i] == labels[first];
        }
        double cut = 0, volume = 0;
        for (int64_t i = 0; i < N && !seen; i++) {
            for (int64_t j = 0; j < N; j++) {
                if (labels[i] == labels[first] && labels[j] >= 0) {
                    volume += g->weight[i * N + j];
                    cut += labels[j] == labels[first] ? 0 : g->weight[i * N + j];
                }
            }
        }
        total += seen ? 0 : volume > 0 ? cut / volume : 1;
    }
    return total / 2;
}

static void check(const clv_affinity *a, clv_context *ctx, const graph *g, const int32_t *labels) {
    double one, three;
    assert_int_equal(clv_ncut_value(ctx, a, labels, 1, &one), CLV_OK);
    assert_int_equal(clv_ncut_value(ctx, a, labels, 3, &three), CLV_OK);
    assert_true(one == three);
    assert_true(fabs(one - by_definition(g, labels)) < 1e-12);
}

static void random_labelings(void **state) {
    static graph g;
    int32_t labels[N];
    clv_rng rng = clv_rng_stream(17, 0);
    (void)state;
    for (int round = 0; round < 40; round++) {
        clv_context *ctx = new_context();
        fill(&g, &rng);
        clv_affinity *a = affinity_of(ctx, &g);
        int64_t k = 1 + clv_rng_below(&rng, 6);
        for (int64_t i = 0; i < N; i++) {
            int64_t drawn = clv_rng_below(&rng, k);
            labels[i] = (int32_t)(round % 2 ? drawn : 11 * drawn - (drawn == 0));
        }
        labels[0] = 3;
        check(a, ctx, &g, labels);
        clv_affinity_free(a);
        end_context(ctx);
    }
}

static void degenerate_labelings(void **state) {
    static graph g;
    int32_t labels[N] = {0};
    clv_rng rng = clv_rng_stream(18, 0);
    clv_context *ctx = new_context();
    double value = NAN;
    (void)state;
    fill(&g, &rng);
    for (int64_t i = 0; i < N; i++) {
        g.weight[i] = g.weight[i * N] = 0; /* object 0 is isolated */
    }
    clv_affinity *a = affinity_of(ctx, &g);
    assert_int_equal(clv_ncut_value(ctx, a, labels, 1, &value), CLV_OK);
    assert_true(value == 0); /* one cluster */
    labels[0] = 1;
    assert_int_equal(clv_ncut_value(ctx, a, labels, 1, &value), CLV_OK);
    assert_true(value == 0.5); /* nothing cut, but a cluster without volume */
    for (int32_t i = 0; i < N; i++) {
        labels[i] = i;
    }
    check(a, ctx, &g, labels);
    memset(labels, 0xff, sizeof labels);
    assert_int_equal(clv_ncut_value(ctx, a, labels, 1, &value), CLV_EDATA);
    assert_string_equal(clv_message(ctx), "the normalized cut needs a labeled object: all 40 are left out");
    labels[5] = -3;
    assert_int_equal(clv_ncut_value(ctx, a, labels, 1, &value), CLV_EDATA);
    clv_context *other = new_context();
    assert_int_equal(clv_ncut_value(other, a, labels, 1, &value), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(other), "another context"));
    end_context(other);
    clv_affinity_free(a);
    end_context(ctx);
}

static clv_status value_of_some(clv_context *ctx, void *user) {
    clv_affinity_options how;
    clv_affinity *a = NULL;
    int32_t labels[N];
    double value;
    for (int32_t i = 0; i < N; i++) {
        labels[i] = i % 3 - 1;
    }
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    how.threads = 1;
    CLV_TRY(clv_affinity_build(ctx, user, &how, &a));
    clv_status status = clv_ncut_value(ctx, a, labels, 1, &value);
    clv_affinity_free(a);
    return status;
}

static void failures_leave_nothing(void **state) {
    static graph g;
    clv_rng rng = clv_rng_stream(19, 0);
    (void)state;
    fill(&g, &rng);
    assert_true(check_every_failure(value_of_some, &g.view) >= 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_labelings),
        cmocka_unit_test(degenerate_labelings),
        cmocka_unit_test(failures_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
