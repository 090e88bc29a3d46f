/* Tiles: see tile.h. The loops themselves are kernels (src/kernels/keys.h, projection.h and sums.h). */
#include "methods/kpalm/tile.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* d / alpha above this, and the least is taken from d before it is divided. Keys have both signs, and what is large in
 * them is seldom what decides; smoothed distances may all be large and nearly equal. */
#define STEEP_KEYS 256
#define STEEP_DISTANCES 16

/* The kernel for the numbers of a panel, or of the points. */
#define KERNEL(of, name, ...)                                                                                          \
    ((of)->scalar == CLV_F32 ? clv_kernels->f32.name(__VA_ARGS__) : clv_kernels->f64.name(__VA_ARGS__))

/* --- panels --- */

int64_t clv_panel_lanes(clv_scalar scalar) {
    return CLV_LINE / (int64_t)clv_scalar_bytes(scalar);
}

int64_t clv_panel_width(clv_scalar scalar, int64_t count) {
    int64_t lanes = clv_panel_lanes(scalar);
    return (count + lanes - 1) / lanes * lanes;
}

size_t clv_panel_bytes(const clv_matrix *points, int64_t k) {
    return (size_t)((points->cols + 1) * clv_panel_width(points->scalar, k)) * clv_scalar_bytes(points->scalar);
}

clv_status clv_panel_new(clv_context *ctx, const clv_matrix *points, int64_t k, clv_panel *out) {
    int64_t count;
    *out = (clv_panel){.ctx = ctx, .k = k, .p = points->cols, .scalar = points->scalar};
    out->width = clv_panel_width(points->scalar, k);
    if (!clv_mul(points->cols, out->width, &count)) {
        return clv_fail(ctx, CLV_ENOMEM, "%lld centers of %lld coordinates are more than can be addressed",
                        (long long)k, (long long)points->cols);
    }
    out->lines = clv_alloc(ctx, count, clv_scalar_bytes(out->scalar));
    out->offset = clv_alloc(ctx, out->width, clv_scalar_bytes(out->scalar));
    return out->lines && out->offset ? CLV_OK : CLV_ENOMEM;
}

void clv_panel_free(clv_panel *panel) {
    if (panel->ctx) {
        clv_free(panel->ctx, panel->lines);
        clv_free(panel->ctx, panel->offset);
        panel->lines = panel->offset = NULL;
    }
}

void *clv_tile_row(const clv_panel *panel, void *tile, int64_t r) {
    return (char *)tile + (size_t)(r * panel->width) * clv_scalar_bytes(panel->scalar);
}

/* How large the terms of a key can be, and how much it can be wrong: by rounding in a sum of p products and in what
 * goes into it. */
static void find_error(clv_panel *panel, const clv_frame *frame, double largest) {
    double rounding = panel->scalar == CLV_F32 ? (double)FLT_EPSILON / 2 : DBL_EPSILON / 2;
    panel->most = 2 * (frame->reach + frame->mean_norm) * largest + largest * largest + frame->radius * frame->radius;
    panel->error = (double)(panel->p + 8) * rounding * panel->most;
}

/* One center, as it is after rounding to the type of the points: the offset must belong to the very same line. */
static double fill_line(clv_panel *panel, const clv_frame *frame, const double *center, int64_t l) {
    double scale = 1 / frame->unit, square = 0, product = 0;
    for (int64_t f = 0; f < panel->p; f++) {
        int64_t at = f * panel->width + l;
        clv_weight_set(panel, panel->lines, at, -2 * ((center[f] - frame->mean[f]) * scale) * scale);
        double shifted = -0.5 * clv_weight_get(panel, panel->lines, at) * frame->unit;
        square += shifted * shifted;
        product += shifted * (frame->mean[f] * scale);
    }
    clv_weight_set(panel, panel->offset, l, square + 2 * product);
    return square;
}

void clv_panel_fill(clv_panel *panel, const clv_frame *frame, const double *centers) {
    double largest = 0;
    for (int64_t l = 0; l < panel->k; l++) {
        largest = fmax(largest, fill_line(panel, frame, centers + l * panel->p, l));
    }
    for (int64_t l = panel->k; l < panel->width; l++) {
        clv_weight_set(panel, panel->offset, l, HUGE_VAL);
        for (int64_t f = 0; f < panel->p; f++) {
            clv_weight_set(panel, panel->lines, f * panel->width + l, 0);
        }
    }
    find_error(panel, frame, sqrt(largest));
}

/* --- keys --- */

void clv_tile_keys(const clv_panel *panel, const clv_frame *frame, const int64_t *rows, int64_t count, void *keys) {
    const clv_matrix *points = frame->points;
    if (clv_is_sparse(points)) {
        for (int64_t r = 0; r < count; r++) {
            int64_t from = points->start[rows[r]];
            clv_kernels->sparse_key_row((const double *)points->values + from, points->index + from,
                                        points->start[rows[r] + 1] - from, panel->lines, panel->offset, panel->width,
                                        (double *)keys + r * panel->width);
        }
    } else {
        KERNEL(panel, keys, points->values, panel->p, rows, count, panel->lines, panel->offset, panel->width, keys);
    }
}

void clv_panel_pick(const clv_panel *panel, const int32_t *center, void *lines, void *offset, int64_t at) {
    int64_t lanes = clv_panel_lanes(panel->scalar);
    for (int64_t j = 0; j < lanes; j++) {
        for (int64_t f = 0; f < panel->p; f++) {
            double from = clv_weight_get(panel, panel->lines, f * panel->width + center[j]);
            clv_weight_set(panel, lines, (at * panel->p + f) * lanes + j, from);
        }
        clv_weight_set(panel, offset, at * lanes + j, clv_weight_get(panel, panel->offset, center[j]));
    }
}

void clv_tile_keys_near(const clv_panel *panel, const clv_frame *frame, const int64_t *rows, const int32_t *at,
                        int64_t count, const void *lines, const void *offset, void *keys) {
    KERNEL(panel, near_keys, frame->points->values, panel->p, rows, at, count, lines, offset, keys);
}

void clv_tile_norms(const clv_frame *frame, const int64_t *rows, int64_t count, double *norms) {
    double square = frame->mean_norm * frame->unit, scale = 1 / frame->unit;
    for (int64_t r = 0; r < count; r++) {
        double distance = frame->norms ? frame->norms[rows[r]]
                                       : clv_row_distance(frame->points, rows[r], frame->mean, square * square);
        norms[r] = distance * scale * scale;
    }
}

void clv_tile_scan(const clv_panel *panel, const void *keys, int64_t count, clv_nearest *out) {
    KERNEL(panel, scan, keys, count, panel->width, out);
}

double clv_tile_least_other(const clv_panel *panel, const void *key, int64_t but) {
    return KERNEL(panel, least_other, key, panel->width, but);
}

void clv_tile_scan_near(const clv_panel *panel, const void *keys, int64_t count, clv_nearest *out) {
    KERNEL(panel, scan, keys, count, clv_panel_lanes(panel->scalar), out);
}

void clv_tile_nearest(const clv_panel *panel, const clv_frame *frame, const int64_t *rows, int64_t count, void *keys,
                      clv_nearest *out) {
    if (clv_is_sparse(frame->points) || panel->p > CLV_MOST_TURNED) {
        clv_tile_keys(panel, frame, rows, count, keys);
        clv_tile_scan(panel, keys, count, out);
    } else {
        KERNEL(panel, nearest, frame->points->values, panel->p, rows, count, panel->lines, panel->offset, panel->width,
               panel->k, out);
    }
}

void clv_tile_smooth(const clv_panel *panel, void *keys, int64_t count, const double *norms, double epsilon) {
    for (int64_t r = 0; r < count; r++) {
        for (int64_t l = 0; l < panel->k; l++) {
            int64_t at = r * panel->width + l;
            clv_weight_set(panel, keys, at,
                           sqrt(fmax(clv_weight_get(panel, keys, at) + norms[r], 0) + epsilon * epsilon));
        }
    }
}

bool clv_panel_is_steep(const clv_panel *panel, const clv_frame *frame, double epsilon, double alpha) {
    double square = panel->most + frame->radius * frame->radius + epsilon * epsilon;
    return epsilon > 0 ? !(sqrt(square) <= STEEP_DISTANCES * alpha) : !(panel->most <= STEEP_KEYS * alpha);
}

void clv_tile_project(const clv_panel *panel, const void *d, void *weights, int64_t count, void *work, double alpha,
                      bool steep, clv_projection *out) {
    KERNEL(panel, project, d, weights, work, count, (int32_t)panel->k, (int32_t)panel->width, alpha, steep, out);
}

void clv_tile_choose(const clv_panel *panel, const void *d, void *weights, int64_t count, clv_projection *out) {
    clv_nearest nearest[CLV_TILE_ROWS];
    clv_tile_scan(panel, d, count, nearest);
    for (int64_t r = 0; r < count; r++) {
        void *row = clv_tile_row(panel, weights, r);
        out[r] = (clv_projection){.support = 1, .sum = 1};
        for (int64_t l = 0; l < panel->k; l++) {
            double step = (l == nearest[r].center) - clv_weight_get(panel, row, l);
            out[r].change += step * step;
            clv_weight_set(panel, row, l, l == nearest[r].center);
        }
    }
}

void clv_tile_shift(const clv_panel *panel, const void *d, void *weights, int64_t count, double inverse_alpha,
                    const float *shift) {
    KERNEL(panel, shift, d, weights, count, panel->width, inverse_alpha, shift);
}

/* --- rows --- */

int64_t clv_tile_pitch(const clv_matrix *points) {
    return clv_panel_width(points->scalar, points->cols);
}

/* Row i of dense points, as it is stored. */
static const void *row_of(const clv_matrix *points, int64_t i) {
    return (const char *)points->values + (size_t)(i * points->cols) * clv_scalar_bytes(points->scalar);
}

void clv_tile_gather(const clv_matrix *points, const int64_t *rows, int64_t count, void *out) {
    int64_t p = points->cols, pitch = clv_tile_pitch(points);
    size_t size = clv_scalar_bytes(points->scalar);
    for (int64_t r = 0; r < count; r++) {
        char *to = (char *)out + (size_t)(r * pitch) * size;
        memcpy(to, row_of(points, rows[r]), (size_t)p * size);
        memset(to + (size_t)p * size, 0, (size_t)(pitch - p) * size);
    }
}

void clv_tile_spread(const clv_panel *panel, const void *weights, const void *gathered, int64_t count, void *line,
                     double *sums) {
    int64_t pitch = clv_panel_width(panel->scalar, panel->p), stride = panel->p + 1;
    KERNEL(panel, spread, weights, panel->width, gathered, pitch, count, panel->k, panel->p, sums, stride);
    KERNEL(panel, add_mass, weights, panel->width, count, panel->k, line, sums + panel->p, stride);
}

int64_t clv_tile_collect(const clv_panel *panel, const void *weights, int32_t *index, void *out) {
    return KERNEL(panel, collect, weights, panel->width, index, out);
}

void clv_tile_project_few(const clv_panel *panel, const void *d, const clv_short_list *list, int64_t count,
                          const double *alpha, int32_t *index, void *out, clv_projection *found) {
    KERNEL(panel, project_few, d, panel->width, list, count, alpha, index, out, found);
}

void clv_tile_scale(const clv_panel *panel, void *weights, const void *distance, double sample) {
    KERNEL(panel, scale, weights, distance, panel->width, sample);
}

/* Of a sparse row: |a|^2 - 2 a.c + |c|^2, term by term over the nonzeros. */
static double sparse_distance(const clv_matrix *points, int64_t i, const double *c, double square) {
    const double *values = points->values;
    double sum = square;
    for (int64_t e = points->start[i]; e < points->start[i + 1]; e++) {
        sum += values[e] * (values[e] - 2 * c[points->index[e]]);
    }
    return sum < 0 ? 0 : sum; /* what is not a number stays */
}

double clv_row_distance(const clv_matrix *points, int64_t i, const double *c, double square) {
    if (clv_is_sparse(points)) {
        return sparse_distance(points, i, c, square);
    }
    return KERNEL(points, row_distance, row_of(points, i), c, points->cols);
}

void clv_row_distances(const clv_matrix *points, const int64_t *rows, const int32_t *at, int64_t count,
                       const double *centers, const double *square, double *out) {
    if (!clv_is_sparse(points)) {
        KERNEL(points, row_distances, points->values, points->cols, rows, at, count, centers, out);
        return;
    }
    for (int64_t r = 0; r < count; r++) {
        out[r] = sparse_distance(points, rows[r], centers + at[r] * points->cols, square[at[r]]);
    }
}

void clv_row_add(const clv_matrix *points, int64_t i, double weight, double *sum) {
    if (clv_is_sparse(points)) {
        const double *values = points->values;
        for (int64_t e = points->start[i]; e < points->start[i + 1]; e++) {
            sum[points->index[e]] += weight * values[e];
        }
    } else {
        KERNEL(points, add_weighted, sum, weight, row_of(points, i), points->cols);
    }
}

int64_t clv_shares_pitch(const clv_matrix *points) {
    int64_t lanes = clv_panel_lanes(CLV_F64);
    return clv_is_sparse(points) ? 0 : points->cols / lanes * lanes + lanes;
}

void clv_row_share(const clv_matrix *points, int64_t i, const clv_short_list *list, double times, double *shares) {
    KERNEL(points, add_listed, shares, clv_shares_pitch(points), row_of(points, i), points->cols, list, times);
}

double clv_squared_distance(const double *x, const double *y, int64_t p) {
    return clv_kernels->f64.row_distance(x, y, p);
}
