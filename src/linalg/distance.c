/* Panels of points and the distance kernels on them. */
#include "linalg/distance.h"

#include <string.h>

typedef double lanes __attribute__((vector_size(64), may_alias));

enum { LANES = sizeof(lanes) / sizeof(double), ROWS = 4, CHUNK = 64 };

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
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t b = 0; b < count; b++) {
        fill_panel(points, b, clv_panel_size(out, b), out->values + b * points->cols * CLV_TILE);
    }
    return CLV_OK;
}

static void gather_panel(const clv_panels *from, const int64_t *objects, int64_t size, double *panel) {
    memset(panel, 0, (size_t)from->features * CLV_TILE * sizeof *panel);
    for (int64_t r = 0; r < size; r++) {
        const double *point = from->values + objects[r] / CLV_TILE * from->features * CLV_TILE + objects[r] % CLV_TILE;
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
#pragma omp parallel for num_threads(threads) schedule(static)
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

static const double *panel_of(const clv_panels *panels, int64_t b) {
    return panels->values + b * panels->features * CLV_TILE;
}

/* Add the share of `features` features to a tile: ROWS x LANES accumulators stay in registers. Features come in
 * chunks, so that the lines of both panels stay in the first-level cache. */
CLV_KERNEL static void add_features(const double *restrict left, const double *restrict right, int64_t features,
                                    double *restrict out) {
    for (int64_t j = 0; j < CLV_TILE; j += LANES) {
        for (int64_t i = 0; i < CLV_TILE; i += ROWS) {
            lanes *rows[ROWS];
            for (int r = 0; r < ROWS; r++) {
                rows[r] = (lanes *)(out + (i + r) * CLV_TILE + j);
            }
            lanes s0 = *rows[0], s1 = *rows[1], s2 = *rows[2], s3 = *rows[3];
            for (int64_t f = 0; f < features; f++) {
                const lanes line = *(const lanes *)(right + f * CLV_TILE + j);
                const double *x = left + f * CLV_TILE + i;
                lanes d0 = x[0] - line, d1 = x[1] - line, d2 = x[2] - line, d3 = x[3] - line;
                s0 += d0 * d0;
                s1 += d1 * d1;
                s2 += d2 * d2;
                s3 += d3 * d3;
            }
            *rows[0] = s0;
            *rows[1] = s1;
            *rows[2] = s2;
            *rows[3] = s3;
        }
    }
}

void clv_distance_cross_tile(const clv_panels *left, int64_t bi, const clv_panels *right, int64_t bj, double *out) {
    const double *rows = panel_of(left, bi), *columns = panel_of(right, bj);
    memset(out, 0, CLV_TILE * CLV_TILE * sizeof *out);
    for (int64_t f = 0; f < left->features; f += CHUNK) {
        int64_t some = left->features - f < CHUNK ? left->features - f : CHUNK;
        add_features(rows + f * CLV_TILE, columns + f * CLV_TILE, some, out);
    }
}

void clv_distance_tile(const clv_panels *panels, int64_t bi, int64_t bj, double *out) {
    clv_distance_cross_tile(panels, bi, panels, bj, out);
}

CLV_KERNEL static void add_line(const double *restrict x, const double *restrict right, int64_t features,
                                double *restrict out) {
    lanes sums[CLV_TILE / LANES];
    memset(sums, 0, sizeof sums);
    for (int64_t f = 0; f < features; f++) {
        const lanes *line = (const lanes *)(right + f * CLV_TILE);
        for (int64_t l = 0; l < CLV_TILE / LANES; l++) {
            lanes d = x[f * CLV_TILE] - line[l];
            sums[l] += d * d;
        }
    }
    memcpy(out, sums, sizeof sums);
}

void clv_distance_line(const clv_panels *panels, int64_t i, int64_t b, double *out) {
    add_line(panel_of(panels, i / CLV_TILE) + i % CLV_TILE, panel_of(panels, b), panels->features, out);
}

CLV_KERNEL static double distance_of(const double *x, const double *y, int64_t features) {
    double sum = 0;
    for (int64_t f = 0; f < features; f++) {
        double d = x[f * CLV_TILE] - y[f * CLV_TILE];
        sum += d * d;
    }
    return sum;
}

double clv_distance(const clv_panels *panels, int64_t i, int64_t j) {
    return distance_of(panel_of(panels, i / CLV_TILE) + i % CLV_TILE, panel_of(panels, j / CLV_TILE) + j % CLV_TILE,
                       panels->features);
}
