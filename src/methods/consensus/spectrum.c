/* Eigenvalues of the normalized co-association D^-1/2 F F' D^-1/2: those of B = F' D^-1 F, which is as wide as F. */
#include "methods/consensus/consensus.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { DENSE = 600, POLL = 4096 }; /* LAPACK on the whole of B takes less than half a second */

/* B itself, width x width. */
static clv_status fill(const clv_groups *g, double *b) {
    bool large = g->count * g->inputs * g->inputs > CLV_CONSENSUS_MOMENT;
    memset(b, 0, (size_t)(g->width * g->width) * sizeof *b);
    for (int64_t i = 0; i < g->count; i++) {
        double scale = g->weight[i] / g->degree[i];
        for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
            double *row = b + g->index[e] * g->width, left = scale * g->value[e];
            for (int64_t f = g->start[i]; f < g->start[i + 1]; f++) {
                row[g->index[f]] += left * g->value[f];
            }
        }
        if (large && i % POLL == POLL - 1 && clv_worked(g->ctx, POLL * g->inputs * g->inputs)) {
            return clv_stop_failure(g->ctx, "computing eigenvalues");
        }
    }
    return CLV_OK;
}

static clv_status solve_dense(const clv_groups *g, int64_t count, double *values, double *vectors) {
    int64_t width = g->width;
    double *b = CLV_NEW(g->ctx, double, width *width), *all = CLV_NEW(g->ctx, double, width);
    clv_status status = b && all ? CLV_OK : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = fill(g, b);
    }
    if (status == CLV_OK) {
        status = clv_eigen_dense(g->ctx, b, width, all);
    }
    for (int64_t c = 0; status == CLV_OK && c < count; c++) {
        values[c] = all[width - 1 - c];
        if (vectors) {
            memcpy(vectors + c * width, b + (width - 1 - c) * width, (size_t)width * sizeof *b);
        }
    }
    CLV_FREE_ALL(g->ctx, b, all);
    return status;
}

static clv_status multiply(void *user, const double *x, double *y, int64_t width) {
    const clv_groups *g = user;
    memset(y, 0, (size_t)width * sizeof *y);
    for (int64_t i = 0; i < g->count; i++) {
        double sum = 0;
        for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
            sum += g->value[e] * x[g->index[e]];
        }
        sum *= g->weight[i] / g->degree[i];
        for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
            y[g->index[e]] += sum * g->value[e];
        }
    }
    return clv_worked(g->ctx, 2 * g->start[g->count]) ? clv_stop_failure(g->ctx, "computing eigenvalues") : CLV_OK;
}

clv_status clv_consensus_spectrum(const clv_groups *g, int64_t count, uint64_t seed, double *values, double *vectors) {
    const double tolerance = 1e-10;
    int64_t found = count < g->width ? count : g->width;
    for (int64_t c = found; c < count; c++) {
        values[c] = 0;
    }
    if (vectors && count > found) {
        memset(vectors + found * g->width, 0, (size_t)((count - found) * g->width) * sizeof *vectors);
    }
    CLV_TRY(g->width <= DENSE ? solve_dense(g, found, values, vectors)
                              : clv_eigen(g->ctx, multiply, (void *)(uintptr_t)g, g->width, found, CLV_EIGEN_LARGEST,
                                          tolerance, seed, values, vectors));
    for (int64_t c = 0; c < found; c++) {
        values[c] = fmin(fmax(values[c], 0), 1); /* where they lie, to rounding */
    }
    return CLV_OK;
}

/* Rounding of the eigenvalues is on the side of the bound. */
double clv_consensus_bound(const double *values, int64_t k) {
    double bound = 0;
    for (int64_t c = 0; c < k; c++) {
        bound += (1 - values[c]) / 2;
    }
    return fmax(bound - 1e-12 * (double)k, 0);
}
