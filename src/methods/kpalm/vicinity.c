/* The centers around each center.
 *
 * An object at distance u of its own center x_l can have another nearest center only within 2 u of x_l (Newling and
 * Fleuret 2016). So each center has a list of the few centers around it, itself included, a panel of just these, and
 * the distance to the nearest center that is not listed, `beyond`: while beyond - u > u, the list is enough, and beyond
 * - u bounds the distances to all the others. One vector of keys instead of k.
 *
 * Cost: k^2 p multiplications per iteration for the distances between the centers, and k vectors of p numbers. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* The panels of the lists must stay in a cache near by. */
#define MOST_BYTES (INT64_C(1) << 22)

static bool is_worth_it(const clv_kpalm_problem *p) {
    int64_t lanes = clv_panel_lanes(p->points->scalar), bytes;
    return p->form.bounds && !clv_is_sparse(p->points) && p->k >= 3 * lanes && p->k * 8 < p->n &&
           clv_mul(p->k * 64, p->p + 1, &bytes) && bytes <= MOST_BYTES;
}

clv_status clv_vicinity_new(const clv_kpalm_problem *p, clv_vicinity *out) {
    *out = (clv_vicinity){0};
    if (!is_worth_it(p)) {
        return CLV_OK;
    }
    int64_t lanes = clv_panel_lanes(p->points->scalar);
    size_t size = clv_scalar_bytes(p->points->scalar);
    out->count = lanes;
    out->center = CLV_NEW(p->ctx, int32_t, p->k * lanes);
    out->lines = clv_alloc(p->ctx, p->k * p->p * lanes, size);
    out->offset = clv_alloc(p->ctx, p->k * lanes, size);
    out->beyond = CLV_NEW(p->ctx, double, p->k);
    return out->center && out->lines && out->offset && out->beyond ? CLV_OK : CLV_ENOMEM;
}

void clv_vicinity_free(clv_context *ctx, clv_vicinity *v) {
    clv_free(ctx, v->center);
    clv_free(ctx, v->lines);
    clv_free(ctx, v->offset);
    clv_free(ctx, v->beyond);
}

size_t clv_vicinity_bytes(const clv_kpalm_problem *p) {
    return is_worth_it(p) ? (size_t)p->k * (64 * (size_t)(p->p + 1) + 16 * sizeof(int32_t) + sizeof(double)) : 0;
}

/* The `count` centers of least distance, nearest first, into center; the least distance of the others. */
static double nearest_centers(const double *distance, int64_t k, int64_t count, int32_t *center) {
    int64_t listed = 0;
    double beyond = HUGE_VAL;
    for (int32_t j = 0; j < k; j++) {
        if (listed == count && distance[j] >= distance[center[count - 1]]) {
            beyond = distance[j] < beyond ? distance[j] : beyond;
            continue;
        }
        if (listed == count) {
            listed--;
            beyond = distance[center[listed]] < beyond ? distance[center[listed]] : beyond;
        }
        int64_t at = listed++;
        for (; at > 0 && distance[center[at - 1]] > distance[j]; at--) {
            center[at] = center[at - 1];
        }
        center[at] = j;
    }
    return beyond;
}

/* Distances to center l, in units; its own is below all others, that it may be listed whatever coincides with it. */
static void measure(const clv_kpalm_state *s, int64_t l, double *distance) {
    const clv_kpalm_problem *p = s->problem;
    for (int64_t j = 0; j < p->k; j++) {
        double square = clv_squared_distance(s->centers + l * p->p, s->centers + j * p->p, p->p);
        distance[j] = j == l ? -1 : sqrt(square) / p->frame.unit;
    }
}

/* How far the next center is, and the next one of those that went farthest, from below. */
static void set_apart(clv_kpalm_state *s, int64_t l, const double *distance) {
    const clv_kpalm_problem *p = s->problem;
    double least = HUGE_VAL, mover = HUGE_VAL;
    for (int64_t j = 0; j < p->k; j++) {
        least = j != l && distance[j] < least ? distance[j] : least;
    }
    for (int64_t j = 0; j < s->movers.k; j++) {
        int32_t at = s->mover[j];
        mover = at != l && distance[at] < mover ? distance[at] : mover;
    }
    s->apart[l] = p->k > 1 ? least * (1 - 1e-6) : 0;
    s->slack.apart[l] = (float)(s->apart[l] * (1 - CLV_LOOSE));
    s->slack.reach[l] = s->movers.k > 0 ? (float)(mover * (1 - 1e-6) * (1 - CLV_LOOSE)) : 0;
}

/* How far the nearest other center is, from below, and the lists. Not worth it where there are nearly as many centers
 * as objects. */
void clv_vicinity_update(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    const clv_vicinity *v = &s->vicinity;
    bool worth = p->k * 8 < p->n;
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(static) if (worth && p->k >= 64 && s->threads > 1)
    for (int64_t l = 0; l < p->k; l++) {
        double *distance = s->workers[omp_get_thread_num()].distance;
        if (!worth) {
            s->apart[l] = 0;
            continue;
        }
        measure(s, l, distance);
        set_apart(s, l, distance);
        if (v->count > 0) {
            int32_t *center = v->center + l * v->count;
            v->beyond[l] = nearest_centers(distance, p->k, v->count, center) * (1 - 1e-6);
            clv_panel_pick(clv_panel_now(s), center, v->lines, v->offset, l);
        }
    }
}
