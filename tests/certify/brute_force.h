/* Definitions coded the long way, from the raw matrix, for comparison with what the library says. */
#ifndef BRUTE_FORCE_H
#define BRUTE_FORCE_H

#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ncut = 1/2 sum over c of cut(c, rest) / vol(c), in long double; a cluster without volume has the ratio 1 of its
 * complement, as N / V counts as 0 there. */
static inline double brute_ncut(const double *w, int64_t n, const int32_t *labels, int64_t k) {
    long double total = 0;
    for (int64_t c = 0; c < k; c++) {
        long double cut = 0, volume = 0;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n && labels[i] == c; j++) {
                volume += w[i * n + j];
                cut += labels[j] != c ? w[i * n + j] : 0;
            }
        }
        total += volume > 0 ? cut / volume : 1;
    }
    return (double)(total / 2);
}

static inline int64_t brute_size(const int32_t *labels, int64_t n, int32_t c) {
    int64_t size = 0;
    for (int64_t i = 0; i < n; i++) {
        size += labels[i] == c;
    }
    return size;
}

/* The largest decrease of ncut by one move that empties no cluster; 0 when there is none. Changes no label. */
static inline double brute_move_gain(const double *w, int64_t n, int32_t *labels, int64_t k) {
    double before = brute_ncut(w, n, labels, k), best = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        int32_t own = labels[i];
        bool may_leave = own >= 0 && brute_size(labels, n, own) > 1;
        for (int32_t c = 0; c < k; c++) {
            if (c != own && may_leave) {
                labels[i] = c;
                best = fmax(best, before - brute_ncut(w, n, labels, k));
            }
        }
        labels[i] = own;
    }
    return best > -HUGE_VAL ? best : 0;
}

/* Labels in base k counting; false after the last. */
static inline bool next_labels(int32_t *labels, int64_t n, int64_t k) {
    for (int64_t i = 0; i < n; i++) {
        if (++labels[i] < k) {
            return true;
        }
        labels[i] = 0;
    }
    return false;
}

/* The least ncut over all partitions into k nonempty clusters. */
static inline double brute_optimum(const double *w, int64_t n, int64_t k) {
    int32_t labels[16] = {0};
    double best = INFINITY;
    do {
        bool all = true;
        for (int32_t c = 0; c < k; c++) {
            all = all && brute_size(labels, n, c) > 0;
        }
        best = all ? fmin(best, brute_ncut(w, n, labels, k)) : best;
    } while (next_labels(labels, n, k));
    return best;
}

/* A symmetric matrix of uniform entries, about a third of them 0. */
static inline void random_similarity(clv_rng *rng, double *w, int64_t n, bool zeros) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double draw = clv_rng_uniform(rng);
            w[i * n + j] = w[j * n + i] = zeros && draw < 0.33 ? 0 : draw;
        }
    }
}

/* G G' with a nonnegative n x n G: positive semidefinite. */
static inline void random_semidefinite(clv_rng *rng, double *w, int64_t n) {
    double g[64 * 64];
    assert_true(n <= 64);
    for (int64_t i = 0; i < n * n; i++) {
        double draw = clv_rng_uniform(rng);
        g[i] = draw * draw * draw * draw;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t l = 0; l < n; l++) {
                sum += g[i * n + l] * g[j * n + l];
            }
            w[i * n + j] = w[j * n + i] = sum;
        }
    }
}

static inline clv_affinity *affinity_of(clv_context *ctx, const double *w, int64_t n) {
    clv_matrix matrix = {.rows = n, .cols = n, .scalar = CLV_F64, .values = w};
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    how.threads = 1;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &how, &a), CLV_OK);
    return a;
}

#endif
