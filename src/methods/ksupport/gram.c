/* X'DX for a diagonal D: what a quadratic model of the loss knows of X. A matrix of features x features, for X with few
 * features and any number of samples.
 *
 * Samples are taken in a fixed number of groups, each by one thread, whose matrices are added in order: no sum depends
 * on the number of threads. Cost: samples x features^2. */
#include "methods/ksupport/ksupport.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { GROUPS = 8, BLOCK = 128 };

size_t clv_ks_gram_memory(int64_t samples, int64_t features, int threads) {
    size_t p = (size_t)features, spread = (size_t)samples * (size_t)threads; /* the latter where X is sparse */
    return (GROUPS * (p * p + BLOCK * p) + spread) * sizeof(double);
}

clv_status clv_ks_gram_new(clv_kept *room, const clv_design *x, clv_ks_gram *out) {
    int64_t p = x->features;
    *out = (clv_ks_gram){.x = x};
    out->part = CLV_TAKE(room, double, (clv_is_sparse(&x->matrix) ? 1 : GROUPS) * p * p);
    out->block = CLV_TAKE(room, double, clv_is_sparse(&x->matrix) ? x->threads * x->samples : GROUPS *BLOCK *p);
    return room->status;
}

/* Samples first..first + count - 1, less the center, each times the root of its entry of D, as rows of `block`. */
static void fill_block(const clv_design *x, const double *d, const double *center, int64_t first, int64_t count,
                       double *block) {
    const clv_matrix *m = &x->matrix;
    int64_t p = x->features;
    bool turned = clv_design_has_features_as_rows(x);
    for (int64_t i = 0; i < count; i++) {
        double root = sqrt(d[first + i]);
        for (int64_t j = 0; j < p; j++) {
            int64_t at = turned ? j * m->cols + first + i : (first + i) * m->cols + j;
            block[i * p + j] = root * (clv_stored(m, at) - (center ? center[j] : 0));
        }
    }
}

static void add_group(const clv_ks_gram *g, const double *d, const double *center, int64_t group) {
    int64_t n = g->x->samples, p = g->x->features, end = n * (group + 1) / GROUPS;
    double *part = g->part + group * p * p, *block = g->block + group * BLOCK * p;
    memset(part, 0, (size_t)(p * p) * sizeof *part);
    for (int64_t first = n * group / GROUPS; first < end; first += BLOCK) {
        int64_t count = end - first < BLOCK ? end - first : BLOCK;
        fill_block(g->x, d, center, first, count, block);
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, (int)p, (int)count, 1, block, (int)p, 1, part, (int)p);
    }
}

/* Row j of the upper triangle, by column: entries i <= j are <column i, D column j>. */
static void fill_sparse(const clv_ks_gram *g, const double *d, int64_t j, double *spread) {
    const clv_matrix *m = &g->x->matrix;
    const double *values = m->values;
    int64_t p = g->x->features;
    for (int64_t e = m->start[j]; e < m->start[j + 1]; e++) {
        spread[m->index[e]] = d[m->index[e]] * values[e];
    }
    for (int64_t i = 0; i <= j; i++) {
        double sum = 0;
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            sum += values[e] * spread[m->index[e]];
        }
        g->part[j * p + i] = sum;
    }
    for (int64_t e = m->start[j]; e < m->start[j + 1]; e++) {
        spread[m->index[e]] = 0;
    }
}

/* Threads: little is done before another one is awake. */
static int team(const clv_design *x) {
    return x->samples * x->features * x->features > 1 << 18 ? x->threads : 1;
}

void clv_ks_gram_form(const clv_ks_gram *g, const double *d, const double *center, double *out) {
    int64_t p = g->x->features, n = g->x->samples;
    if (clv_is_sparse(&g->x->matrix)) {
        memset(g->block, 0, (size_t)(g->x->threads * n) * sizeof *g->block);
#pragma omp parallel for num_threads(clv_team(team(g->x))) schedule(dynamic)
        for (int64_t j = 0; j < p; j++) {
            fill_sparse(g, d, j, g->block + omp_get_thread_num() * n);
        }
        memcpy(out, g->part, (size_t)(p * p) * sizeof *out);
        if (center) {
            cblas_dsyr(CblasColMajor, CblasUpper, (int)p, -clv_sum(d, n, 1), center, 1, out, (int)p);
        }
        return;
    }
#pragma omp parallel for num_threads(clv_team(team(g->x))) schedule(dynamic)
    for (int64_t group = 0; group < GROUPS; group++) {
        add_group(g, d, center, group);
    }
    memcpy(out, g->part, (size_t)(p * p) * sizeof *out);
    for (int64_t group = 1; group < GROUPS; group++) {
        cblas_daxpy((int)(p * p), 1, g->part + group * p * p, 1, out, 1);
    }
}
