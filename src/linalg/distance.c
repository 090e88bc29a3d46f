/* Panels of points and distances between them. */
#include "linalg/distance.h"

#include <string.h>

int64_t clv_panels_bytes(int64_t n, int64_t features) {
    int64_t padded = (n + CLV_TILE - 1) / CLV_TILE * CLV_TILE, entries, bytes;
    if (!clv_mul(padded, features, &entries) || !clv_mul(entries, (int64_t)sizeof(double), &bytes)) {
        return INT64_MAX;
    }
    return bytes;
}

static void fill_panel(const clv_matrix *points, int64_t b, int64_t size, double *panel) {
    memset(panel, 0, (size_t)points->cols * CLV_TILE * sizeof *panel);
    for (int64_t r = 0; r < size; r++) {
        int64_t i = b * CLV_TILE + r;
        if (clv_is_sparse(points)) {
            const double *values = points->values;
            for (int64_t e = points->start[i]; e < points->start[i + 1]; e++) {
                panel[points->index[e] * CLV_TILE + r] = values[e];
            }
        } else if (points->scalar == CLV_F32) {
            const float *row = (const float *)points->values + i * points->cols;
            for (int64_t f = 0; f < points->cols; f++) {
                panel[f * CLV_TILE + r] = (double)row[f];
            }
        } else {
            const double *row = (const double *)points->values + i * points->cols;
            for (int64_t f = 0; f < points->cols; f++) {
                panel[f * CLV_TILE + r] = row[f];
            }
        }
    }
}

clv_status clv_panels_new(clv_context *ctx, const clv_matrix *points, int threads, clv_panels *out) {
    int64_t count = (points->rows + CLV_TILE - 1) / CLV_TILE;
    *out = (clv_panels){.ctx = ctx, .n = points->rows, .features = points->cols, .count = count};
    out->values = clv_alloc(ctx, clv_panels_bytes(points->rows, points->cols), 1);
    if (!out->values) {
        return CLV_ENOMEM;
    }
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t b = 0; b < count; b++) {
        fill_panel(points, b, clv_panel_size(out, b), out->values + b * points->cols * CLV_TILE);
    }
    return CLV_OK;
}

static const double *panel_of(const clv_panels *panels, int64_t b) {
    return panels->values + b * panels->features * CLV_TILE;
}

/* Feature 0 of object i; the others follow CLV_TILE apart. */
static const double *point_of(const clv_panels *panels, int64_t i) {
    return panel_of(panels, i / CLV_TILE) + i % CLV_TILE;
}

static void gather_panel(const clv_panels *from, const int64_t *objects, int64_t size, double *panel) {
    memset(panel, 0, (size_t)from->features * CLV_TILE * sizeof *panel);
    for (int64_t r = 0; r < size; r++) {
        const double *point = point_of(from, objects[r]);
        for (int64_t f = 0; f < from->features; f++) {
            panel[f * CLV_TILE + r] = point[f * CLV_TILE];
        }
    }
}

clv_status clv_panels_gather(const clv_panels *from, const int64_t *objects, int64_t count, int threads,
                             clv_panels *out) {
    int64_t features = from->features;
    *out = (clv_panels){.ctx = from->ctx, .n = count, .features = features, .count = (count + CLV_TILE - 1) / CLV_TILE};
    out->values = clv_alloc(from->ctx, clv_panels_bytes(count, features), 1);
    if (!out->values) {
        return CLV_ENOMEM;
    }
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t b = 0; b < out->count; b++) {
        gather_panel(from, objects + b * CLV_TILE, clv_panel_size(out, b), out->values + b * features * CLV_TILE);
    }
    return CLV_OK;
}

void clv_panels_free(clv_panels *panels) {
    if (panels->values) {
        clv_free(panels->ctx, panels->values);
        panels->values = NULL;
    }
}

void clv_distance_cross_tile(const clv_panels *left, int64_t bi, const clv_panels *right, int64_t bj, double *out) {
    clv_kernels->distance_tile(panel_of(left, bi), panel_of(right, bj), left->features, out);
}

void clv_distance_tile(const clv_panels *panels, int64_t bi, int64_t bj, double *out) {
    clv_distance_cross_tile(panels, bi, panels, bj, out);
}

void clv_distance_cross_line(const clv_panels *left, int64_t i, const clv_panels *right, int64_t b, double *out) {
    clv_kernels->distance_line(point_of(left, i), panel_of(right, b), left->features, out);
}

void clv_distance_line(const clv_panels *panels, int64_t i, int64_t b, double *out) {
    clv_distance_cross_line(panels, i, panels, b, out);
}

double clv_distance(const clv_panels *panels, int64_t i, int64_t j) {
    return clv_kernels->distance(point_of(panels, i), point_of(panels, j), panels->features);
}

void clv_distances(const clv_panels *panels, const int64_t *i, const int64_t *j, int64_t count, double *out) {
    const double *left[CLV_TILE], *right[CLV_TILE];
    for (int64_t t = 0; t < count; t++) {
        left[t] = point_of(panels, i[t]);
        right[t] = point_of(panels, j[t]);
    }
    clv_kernels->pair_distances(left, right, count, panels->features, out);
}
