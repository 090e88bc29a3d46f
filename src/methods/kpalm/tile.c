/* Tiles: see tile.h. What is the same for floats and doubles; the kernels themselves are in tile_kernels.h (keys),
 * tile_projection.h and tile_sums.h, and those of sparse rows here.
 *
 * Cost: a key takes one fused multiplication and addition per feature; with 16 features or more the kernel runs at the
 * speed of the vector unit. Six rows by four vectors of centers are accumulated in registers where there are 32 of
 * them, six by one where there are 16. */
#include "methods/kpalm/tile.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 6, VECTORS = 4, GROUP = CLV_PROJECTED_AT_ONCE };

/* d / alpha above this, and the least is taken from d before it is divided. Keys have both signs, and what is large in
 * them is seldom what decides; smoothed distances may all be large and nearly equal. */
#define STEEP_KEYS 256
#define STEEP_DISTANCES 16

typedef double eight __attribute__((vector_size(64), may_alias));

#define INLINE static inline __attribute__((always_inline))

/* Vectors of centers that are accumulated at once. */
static int vectors_at_once(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx512f") ? VECTORS : 1;
#else
    return 1;
#endif
}

#define REAL float
#define INTEGER int32_t
#define QUARTER_SUM(x) (((x)[0] + (x)[2]) + ((x)[1] + (x)[3]))
#define NAME(x) x##_f32
#define HUGE_KEY HUGE_VALF
#define LARGEST FLT_MAX
#define MOST_INVERSE 1e30
#include "methods/kpalm/tile_kernels.h"

#define REAL double
#define INTEGER int64_t
#define QUARTER_SUM(x) ((x)[0] + (x)[1])
#define NAME(x) x##_f64
#define HUGE_KEY HUGE_VAL
#define LARGEST DBL_MAX
#define MOST_INVERSE 1e200
#include "methods/kpalm/tile_kernels.h"

/* The kernel for the numbers of a panel, or of the points. */
#define KERNEL(of, name, ...) ((of)->scalar == CLV_F32 ? name##_f32(__VA_ARGS__) : name##_f64(__VA_ARGS__))

/* --- panels --- */

int64_t clv_panel_lanes(clv_scalar scalar) {
    return scalar == CLV_F32 ? LANES_f32 : LANES_f64;
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
        return clv_fail(ctx, CLV_ENOMEM, "%lld centers of %lld coordinates are more than memory can address",
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

/* A sparse row: four nonzeros at a time, so that the line of keys is read and written once for them. */
CLV_KERNEL static void sparse_key_row(const double *value, const int32_t *index, int64_t nonzeros, const double *lines,
                                      const double *offset, int64_t width, double *restrict key) {
    int64_t e = 0;
    memcpy(key, offset, (size_t)width * sizeof *key);
    for (; e + 4 <= nonzeros; e += 4) {
        const double *a = lines + index[e] * width, *b = lines + index[e + 1] * width;
        const double *c = lines + index[e + 2] * width, *d = lines + index[e + 3] * width;
        double u = value[e], v = value[e + 1], x = value[e + 2], y = value[e + 3];
#pragma omp simd
        for (int64_t l = 0; l < width; l++) {
            key[l] += (u * a[l] + v * b[l]) + (x * c[l] + y * d[l]);
        }
    }
    for (; e < nonzeros; e++) {
        const double *a = lines + index[e] * width;
        double u = value[e];
#pragma omp simd
        for (int64_t l = 0; l < width; l++) {
            key[l] += u * a[l];
        }
    }
}

void clv_tile_keys(const clv_panel *panel, const clv_frame *frame, const int64_t *rows, int64_t count, void *keys) {
    const clv_matrix *points = frame->points;
    if (clv_is_sparse(points)) {
        for (int64_t r = 0; r < count; r++) {
            int64_t from = points->start[rows[r]];
            sparse_key_row((const double *)points->values + from, points->index + from,
                           points->start[rows[r] + 1] - from, panel->lines, panel->offset, panel->width,
                           (double *)keys + r * panel->width);
        }
    } else {
        KERNEL(panel, dense_keys, panel, points->values, rows, count, keys);
    }
}

void clv_panel_pick(const clv_panel *panel, const int32_t *center, void *lines, void *offset, int64_t at) {
    KERNEL(panel, pick, panel, center, lines, offset, at);
}

void clv_tile_keys_near(const clv_panel *panel, const clv_frame *frame, const int64_t *rows, const int32_t *at,
                        int64_t count, const void *lines, const void *offset, void *keys) {
    KERNEL(panel, near_keys, panel, frame->points->values, rows, at, count, lines, offset, keys);
}

void clv_tile_norms(const clv_frame *frame, const int64_t *rows, int64_t count, double *norms) {
    double square = frame->mean_norm * frame->unit;
    for (int64_t r = 0; r < count; r++) {
        double distance = clv_row_distance(frame->points, rows[r], frame->mean, square * square);
        norms[r] = distance / frame->unit / frame->unit;
    }
}

void clv_tile_scan(const clv_panel *panel, const void *keys, int64_t count, const int32_t *own, clv_nearest *out) {
    KERNEL(panel, scan, keys, count, panel->width, own, out);
}

void clv_tile_scan_near(const clv_panel *panel, const void *keys, int64_t count, clv_nearest *out) {
    static const int32_t first[CLV_TILE_ROWS];
    KERNEL(panel, scan, keys, count, clv_panel_lanes(panel->scalar), first, out);
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
    clv_tile_scan(panel, d, count, NULL, nearest);
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

int64_t clv_tile_collect(const clv_panel *panel, const void *weights, bool few, int32_t *index, void *out) {
    return KERNEL(panel, collect, weights, panel->width, few, index, out);
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

void clv_row_add(const clv_matrix *points, int64_t i, double weight, double *sum) {
    if (clv_is_sparse(points)) {
        const double *values = points->values;
        for (int64_t e = points->start[i]; e < points->start[i + 1]; e++) {
            sum[points->index[e]] += weight * values[e];
        }
    } else {
        KERNEL(points, row_add, row_of(points, i), weight, points->cols, sum);
    }
}

double clv_squared_distance(const double *x, const double *y, int64_t p) {
    return row_distance_f64(x, y, p);
}

/* --- bounds --- */

/* All in floats, each rounded to the safe side by CLV_LOOSE. */
CLV_KERNEL void clv_loosen(const clv_slack *slack, const int32_t *restrict labels, int64_t count, float *restrict upper,
                           float *restrict lower, uint8_t *restrict open) {
    const float *restrict moved = slack->moved, *restrict others = slack->others, *restrict apart = slack->apart;
    const float gap = slack->gap, more = (float)(1 + CLV_LOOSE), less = (float)(1 - CLV_LOOSE);
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        int32_t l = labels[i] < 0 ? 0 : labels[i];
        float up = (upper[i] + moved[l]) * more, low = (lower[i] - others[l]) * less, between = (apart[l] - up) * less;
        low = low > 0 ? low : 0;
        upper[i] = up;
        lower[i] = low;
        float least = low > between ? low : between, apart_by = least - up;
        int settled = (labels[i] >= 0) & (apart_by > 0) & (apart_by * (least + up) > gap);
        open[i] = (uint8_t)!settled;
    }
}
