/* What the certification of dominant sets shares. */
#ifndef DOMINANT_POINTS_H
#define DOMINANT_POINTS_H

#include "../unit/dominant_support.h"

#include "linalg/linalg.h"

static inline clv_context *open_context(void) {
    clv_context *ctx = NULL;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    return ctx;
}

static inline clv_result *solve(clv_context *ctx, const clv_affinity *a, const clv_dominant_options *options) {
    clv_result *result = NULL;
    if (clv_dominant(ctx, &(clv_input){.affinity = a}, options, &result) < 0) {
        fail_msg("%s", clv_message(ctx));
    }
    return result;
}

/* Column c of the membership, dense. */
static inline void column_of(const clv_result *result, int64_t c, double *x) {
    const clv_matrix *m = clv_result_matrix(result, "membership");
    for (int64_t i = 0; i < m->rows; i++) {
        x[i] = 0;
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            x[i] = m->index[e] == c ? ((const double *)m->values)[e] : x[i];
        }
    }
}

/* Entry c of a column of the table "clusters". */
static inline int64_t count_of(const clv_result *result, const char *column, int64_t c) {
    int64_t count;
    const int64_t *values = clv_result_integers(result, column, &count);
    assert_true(values && c < count);
    return values[c];
}

static inline double number_of(const clv_result *result, const char *column, int64_t c) {
    int64_t count;
    const double *values = clv_result_reals(result, column, &count);
    assert_true(values && c < count);
    return values[c];
}

enum { P = 2 };

/* Noisy groups around the corners of a square, and some points far from all. */
static inline clv_data *make_points(clv_context *ctx, int64_t n) {
    clv_data *data = NULL;
    clv_rng rng = clv_rng_stream(9, 0);
    assert_int_equal(clv_data_new_dense(ctx, "points", n, P, CLV_F64, &data), CLV_OK);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < P; j++) {
            double corner = 6 * (double)(i % 4 >> j & 1);
            ((double *)data->values)[i * P + j] =
                (i % 23 == 22 ? 15 * clv_rng_uniform(&rng) : corner) + clv_rng_normal(&rng);
        }
    }
    return data;
}

static inline clv_affinity_options how_to_build(clv_affinity_kind kind, clv_home home) {
    clv_affinity_options how;
    clv_affinity_defaults(&how);
    how.kind = kind;
    how.home = home;
    how.neighbors = 12;
    how.zero_diagonal = 1;
    return how;
}

#endif
