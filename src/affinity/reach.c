/* What weights near each other can do to objects far away.
 *
 * Entries are phi(|z_i - z_t|^2), phi convex and falling. For weights x on points within R of a center c, and a point z
 * at distance D >= R from it, all squared distances s_t = |z - z_t|^2 lie between (D - R)^2 and (D + R)^2, where a
 * convex phi is below its chord; a chord is linear, so
 *
 *     (Ax)_z = sum x_t phi(s_t) <= (1 - p) phi((D - R)^2) + p phi((D + R)^2),   p = (mean of s - (D - R)^2) / (4 D R),
 *
 * and the mean of s is at least D^2 - 2 D |mean of z_t - c| + mean of |z_t - c|^2. The bound falls with D, so that its
 * value for the nearest of the objects far away holds for all. It is wrong by the square of what the similarities
 * differ by, where "x_t phi of the nearest" is wrong by the difference itself. Weight that moves among the points by m
 * moves their mean by at most 2 R m and lowers the mean square by at most R^2 m. */
#include "affinity/affinity.h"
#include "affinity/kinds.h"

#include <math.h>
#include <string.h>

/* Rounding, relative to what is rounded. */
#define ROUNDING 1e-13

clv_status clv_reach_new(const clv_affinity *a, clv_reach *out) {
    int64_t any = 0;
    *out = (clv_reach){0};
    if (!clv_affinity_radial(a, &out->of)) {
        return CLV_OK;
    }
    return clv_panels_gather(out->of.points, &any, 1, 1, &out->center);
}

void clv_reach_free(clv_reach *reach) {
    clv_panels_free(&reach->center);
}

/* Feature 0 of a point; the others follow CLV_TILE apart. */
static const double *point_of(const clv_panels *panels, int64_t i) {
    return panels->values + i / CLV_TILE * panels->features * CLV_TILE + i % CLV_TILE;
}

clv_status clv_reach_center(clv_reach *reach, const int64_t *objects, const double *weights, int64_t count,
                            double *distances, int threads) {
    const clv_panels *points = reach->of.points;
    int64_t across = points->features * CLV_TILE;
    double *center = reach->center.values, sum = clv_sum(weights, count, 1);
    if (clv_worked(points->ctx, points->n * points->features)) {
        return clv_stop_failure(points->ctx, "finding the objects near a center");
    }
    memset(center, 0, (size_t)across * sizeof *center);
    for (int64_t t = 0; t < count; t++) {
        const double *point = point_of(points, objects[t]);
        for (int64_t f = 0; f < across; f += CLV_TILE) {
            center[f] += weights[t] / sum * point[f];
        }
    }
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t b = 0; b < points->count; b++) {
        _Alignas(64) double line[CLV_TILE];
        clv_distance_cross_line(&reach->center, 0, points, b, line);
        memcpy(distances + b * CLV_TILE, line, (size_t)clv_panel_size(points, b) * sizeof *line);
    }
    return CLV_OK;
}

void clv_reach_weigh(clv_reach *reach, const int64_t *objects, const double *weights, int64_t count) {
    int64_t across = reach->of.points->features * CLV_TILE;
    double *center = reach->center.values, *mean = center + 1; /* the panel has room for more than the center */
    double second = 0, square = 0;
    for (int64_t f = 0; f < across; f += CLV_TILE) {
        mean[f] = 0;
    }
    for (int64_t t = 0; t < count; t++) {
        const double *point = point_of(reach->of.points, objects[t]);
        for (int64_t f = 0; f < across; f += CLV_TILE) {
            double difference = point[f] - center[f];
            mean[f] += weights[t] * difference;
            second += weights[t] * difference * difference;
        }
    }
    for (int64_t f = 0; f < across; f += CLV_TILE) {
        square += mean[f] * mean[f];
    }
    reach->sum = clv_sum(weights, count, 1);
    reach->second = second / reach->sum;
    reach->offset = sqrt(square) / reach->sum;
}

double clv_reach_bound(const clv_reach *reach, double within, double beyond, double moved) {
    double radius = sqrt(within), distance = sqrt(beyond), ends[2] = {0, 0};
    double offset = reach->offset + 2 * radius * moved, second = reach->second - within * moved;
    if (!reach->of.points || distance * (radius + offset) < offset * radius + second) {
        return HUGE_VAL; /* where the bound may rise with the distance */
    }
    double low = fmax(distance - radius, 0), width = (distance + radius) * (distance + radius) - low * low;
    double mean = beyond * (1 - ROUNDING) - 2 * distance * offset + second;
    double share = width > 0 ? (mean - low * low) / width : 0;
    share = fmin(fmax(share, 0), 1);
    ends[0] = low * low * (1 - ROUNDING);
    ends[1] = ends[0] + width;
    clv_to_similarity(reach->of.kind, reach->of.gamma, reach->of.top, ends, 2);
    return reach->sum * (ends[0] - share * (ends[0] - ends[1])) * (1 + ROUNDING);
}
