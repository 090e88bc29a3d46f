/* What the tests of dominant sets share: one matrix in all homes, and the definitions coded the long way. */
#ifndef CLV_TEST_DOMINANT_SUPPORT_H
#define CLV_TEST_DOMINANT_SUPPORT_H

#include "methods/dominant/dominant.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A symmetric matrix as doubles, as floats and as compressed rows; its entries are floats. */
typedef struct given {
    int64_t n;
    double *dense;
    float *single;
    int64_t *start;
    int32_t *index;
    double *values;
    int64_t *all; /* 0..n-1 */
} given;

/* Bring the others up to date with the doubles. */
static inline void copy_given(given *g) {
    int64_t n = g->n;
    g->start[0] = 0;
    for (int64_t i = 0, at = 0; i < n; i++) {
        g->all[i] = i;
        for (int64_t j = 0; j < n; j++) {
            g->single[i * n + j] = (float)g->dense[i * n + j];
            if (g->dense[i * n + j] != 0) {
                g->index[at] = (int32_t)j;
                g->values[at++] = g->dense[i * n + j];
            }
        }
        g->start[i + 1] = at;
    }
}

/* Off the diagonal, a share of about `zeros` is 0 and the rest uniform between `least` and 1; `diagonal` on it. */
static inline given *new_given(int64_t n, uint64_t seed, double zeros, double least, double diagonal) {
    given *g = test_calloc(1, sizeof *g);
    clv_rng rng = clv_rng_stream(seed, 77);
    size_t count = (size_t)(n * n);
    g->n = n;
    g->dense = test_malloc(count * sizeof *g->dense);
    for (int64_t i = 0; i < n; i++) {
        g->dense[i * n + i] = diagonal;
        for (int64_t j = 0; j < i; j++) {
            bool none = clv_rng_uniform(&rng) < zeros;
            float draw = (float)(least + (1 - least) * clv_rng_uniform(&rng));
            g->dense[i * n + j] = g->dense[j * n + i] = none ? 0 : (double)draw;
        }
    }
    g->single = test_malloc(count * sizeof *g->single);
    g->start = test_malloc((size_t)(n + 1) * sizeof *g->start);
    g->index = test_malloc(count * sizeof *g->index);
    g->values = test_malloc(count * sizeof *g->values);
    g->all = test_malloc((size_t)n * sizeof *g->all);
    copy_given(g);
    return g;
}

static inline void free_given(given *g) {
    test_free(g->dense);
    test_free(g->single);
    test_free(g->start);
    test_free(g->index);
    test_free(g->values);
    test_free(g->all);
    test_free(g);
}

/* The ways to hold it. A restricted operator has neither rows nor edges to look at: it goes the way of computed ones.
 */
typedef enum holding { HELD_DOUBLES, HELD_FLOATS, HELD_SPARSE, HELD_RESTRICTED, HOLDINGS } holding;

static inline clv_affinity *hold_base(clv_context *ctx, const given *g, holding how, int zero_diagonal) {
    clv_matrix matrix = {.rows = g->n, .cols = g->n, .values = g->dense};
    clv_affinity_options options;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&options);
    options.kind = CLV_AFFINITY_PRECOMPUTED;
    options.zero_diagonal = zero_diagonal;
    options.threads = 1;
    options.least = -1e9;
    if (how == HELD_FLOATS) {
        matrix.scalar = CLV_F32;
        matrix.values = g->single;
    } else if (how == HELD_SPARSE) {
        matrix.values = g->values;
        matrix.start = g->start;
        matrix.index = g->index;
    }
    assert_int_equal(clv_affinity_build(ctx, &matrix, &options, &a), CLV_OK);
    return a;
}

/* The base of a restricted operator is `*base`, NULL for the others; free both. */
static inline clv_affinity *hold(clv_context *ctx, const given *g, holding how, int zero_diagonal,
                                 clv_affinity **base) {
    clv_affinity *a = hold_base(ctx, g, how, zero_diagonal), *restricted = NULL;
    *base = NULL;
    if (how == HELD_RESTRICTED) {
        *base = a;
        assert_int_equal(clv_affinity_restrict(a, g->all, g->n, &restricted), CLV_OK);
        a = restricted;
    }
    return a;
}

static inline clv_dominant_options plain_options(int solver, double shift) {
    clv_dominant_options options;
    clv_dominant_defaults(&options);
    options.solver = solver;
    options.shift = shift;
    options.control.threads = 1;
    return options;
}

/* Of cluster c, from the table of a result. */
static inline int64_t integer_of(const clv_result *result, const char *name, int64_t c) {
    int64_t count;
    const int64_t *column = clv_result_integers(result, name, &count);
    assert_int_equal(count, result->k);
    return column[c];
}

static inline double real_of(const clv_result *result, const char *name, int64_t c) {
    int64_t count;
    const double *column = clv_result_reals(result, name, &count);
    assert_int_equal(count, result->k);
    return column[c];
}

static inline clv_stop stop_of(const clv_result *result, int64_t c) {
    const clv_field *stops = clv_result_field(result, "clusters.stop");
    clv_stop stop = CLV_CONVERGED;
    assert_int_equal(stops->count, result->k);
    while (strcmp(clv_stop_name(stop), stops->texts[c]) != 0) {
        assert_true(stop < CLV_CANCELLED);
        stop++;
    }
    return stop;
}

static inline clv_cluster cluster_of(const clv_result *result, int64_t c) {
    return (clv_cluster){.size = integer_of(result, "clusters.size", c),
                         .cohesiveness = real_of(result, "clusters.cohesiveness", c),
                         .similarity = real_of(result, "clusters.similarity", c),
                         .certificate = real_of(result, "clusters.certificate", c),
                         .iterations = integer_of(result, "clusters.iterations", c),
                         .drops = integer_of(result, "clusters.drops", c),
                         .swaps = integer_of(result, "clusters.swaps", c),
                         .prototype = integer_of(result, "clusters.prototype", c),
                         .pass = integer_of(result, "clusters.pass", c),
                         .stop = stop_of(result, c)};
}

/* r = Bx with B = A - shift I without the diagonal of A; returns x'Bx. */
static inline double fresh_r(const double *a, int64_t n, double shift, const double *x, double *r) {
    double value = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = -shift * x[i];
        for (int64_t j = 0; j < n; j++) {
            sum += j == i ? 0 : a[i * n + j] * x[j];
        }
        r[i] = sum;
        value += x[i] * sum;
    }
    return value;
}

#endif
