/* Sweeps over single objects, in turn, each seeing the moves of those before it.
 *
 * Exact moves: an object goes where ncut falls most (FCD, coordinate descent run to its end, after Nie et al. 2024). A
 * sweep without a move is the certificate: no single move improves. It needs no definiteness of W.
 *
 * FINC (Chen et al. 2022) by the quadratic transform: with y_c = sqrt(N_c) / V_c fixed over a sweep, the object goes
 * where sum_c 2 y_c sqrt(N_c) - y_c^2 V_c rises most; N and V follow each move.
 *
 * A sweep costs O(n k) and a row of W for every move. Sums are measured anew after it, so that rounding does not
 * gather in N and V. When time ends it between two moves, the moves made stand. */
#include "methods/ncut/ncut.h"

#include <math.h>

/* The best cluster for object i, or its own when nothing gains. */
static int32_t best_exact(const clv_partition *s, int64_t i) {
    double leave = clv_partition_leave(s, i), best = CLV_LEAST_GAIN * (double)s->problem->k;
    int32_t own = s->labels[i], target = own;
    for (int32_t c = 0; c < s->problem->k; c++) {
        double gain = c == own ? 0 : leave + clv_partition_enter(s, i, c);
        bool tied = gain == best && target != own;
        if (gain > best || (tied && clv_prefers(s, i, c, target))) {
            best = gain;
            target = c;
        }
    }
    return target;
}

/* What cluster c has of the transformed objective with N and V as given: (13) with y fixed. */
static double transformed(double y, double within, double volume) {
    return 2 * y * sqrt(fmax(within, 0)) - y * y * volume;
}

static int32_t best_transformed(const clv_partition *s, int64_t i, const double *y) {
    const clv_ncut_problem *p = s->problem;
    int32_t own = s->labels[i], target = own;
    double self = p->diagonal[i], degree = p->degree[i];
    double leave = transformed(y[own], s->within[own] - 2 * s->sums[own * p->n + i] + self, s->volume[own] - degree) -
                   transformed(y[own], s->within[own], s->volume[own]);
    double best = CLV_LEAST_GAIN * (double)p->k;
    for (int32_t c = 0; c < p->k; c++) {
        double enter = transformed(y[c], s->within[c] + 2 * s->sums[c * p->n + i] + self, s->volume[c] + degree) -
                       transformed(y[c], s->within[c], s->volume[c]);
        if (c != own && leave + enter > best) {
            best = leave + enter;
            target = c;
        }
    }
    return target;
}

/* Exact moves, or those of FINC with `y`. */
static clv_status sweep(clv_partition *s, const double *y, int64_t *moved) {
    clv_status status = CLV_OK;
    *moved = 0;
    for (int64_t i = 0; i < s->problem->n && status == CLV_OK; i++) {
        int32_t own = s->labels[i];
        if (own < 0 || s->size[own] < 2) {
            continue;
        }
        int32_t target = y ? best_transformed(s, i, y) : best_exact(s, i);
        if (target != own) {
            CLV_TRY(clv_partition_move(s, i, target));
            status = clv_partition_poll(s);
            (*moved)++;
        }
    }
    clv_partition_measure(s);
    s->measured = true;
    return status;
}

clv_status clv_move_sweep(clv_partition *s, int64_t *moved) {
    return sweep(s, NULL, moved);
}

clv_status clv_finc_sweep(clv_partition *s, int64_t *moved) {
    double *y = s->column; /* free between columns; k <= n */
    for (int64_t c = 0; c < s->problem->k; c++) {
        y[c] = clv_ratio(sqrt(fmax(s->within[c], 0)), s->volume[c]);
    }
    return sweep(s, y, moved);
}
