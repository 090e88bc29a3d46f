/* Tiles: the distances of a few dozen points to all centers at once, and what is done to them while they lie in the
 * first-level cache. Kernels for float and double points and for compressed sparse rows.
 *
 * |a - x|^2 = |a - mean|^2 + key, and key = |x - mean|^2 + 2 mean.(x - mean) - 2 a.(x - mean): the sum over features is
 * one multiplication and addition per center on the points as they are. What cancels is a product of the distance from
 * the origin with the spread of the data, not a square of the former. All of it is in units of a power of two near the
 * largest |a - mean|^2, so that squares of floats neither overflow nor vanish. */
#ifndef CLV_KPALM_TILE_H
#define CLV_KPALM_TILE_H

#include "kernels/kernels.h"
#include "linalg/linalg.h"

/* What the kernels know of the points. */
typedef struct clv_frame {
    const clv_matrix *points;
    const double *mean;  /* p */
    double unit;         /* length: a power of two; keys are in units of its square */
    double reach;        /* the largest |a|, in units */
    double radius;       /* the largest |a - mean|, in units */
    double mean_norm;    /* |mean|, in units */
    const double *norms; /* of the points: |a - mean|^2; NULL: computed where they are needed */
} clv_frame;

/* Centers as the kernels want them: in the type of the points, feature by feature. */
typedef struct clv_panel {
    clv_context *ctx;
    int64_t k, p;
    int64_t width; /* k, rounded up to whole vectors; the keys of the rest are huge */
    clv_scalar scalar;
    void *lines, *offset;
    double most;  /* no term of a key is larger */
    double error; /* a key is wrong by at most this */
} clv_panel;

/* Numbers in a vector of the kernels; `count`, rounded up to whole vectors. */
int64_t clv_panel_lanes(clv_scalar scalar);
int64_t clv_panel_width(clv_scalar scalar, int64_t count);
clv_status clv_panel_new(clv_context *ctx, const clv_matrix *points, int64_t k, clv_panel *out);
void clv_panel_free(clv_panel *panel); /* takes one that is all zero */
size_t clv_panel_bytes(const clv_matrix *points, int64_t k);
void clv_panel_fill(clv_panel *panel, const clv_frame *frame, const double *centers /* k x p */);

/* The rows of the tile at `from`: from, ..., to - 1 at most; how many. */
static inline int64_t clv_tile_range(int64_t from, int64_t to, int64_t *rows) {
    int64_t count = to - from < CLV_TILE_ROWS ? to - from : CLV_TILE_ROWS;
    for (int64_t r = 0; r < count; r++) {
        rows[r] = from + r;
    }
    return count;
}
/* Keys of rows[0..count-1] into count x width numbers of the panel's type. Their squared distance to the mean, in
 * units, as double. */
void clv_tile_keys(const clv_panel *panel, const clv_frame *frame, const int64_t *rows, int64_t count, void *keys);
/* Center `center[j]` of the panel becomes column j of panel `at` of a row of panels of one vector to a feature. */
void clv_panel_pick(const clv_panel *panel, const int32_t *center, void *lines, void *offset, int64_t at);
/* Keys of rows[0..count-1], of which row r is compared with panel at[r] of such a row: count x one vector. */
void clv_tile_keys_near(const clv_panel *panel, const clv_frame *frame, const int64_t *rows, const int32_t *at,
                        int64_t count, const void *lines, const void *offset, void *keys);
void clv_tile_norms(const clv_frame *frame, const int64_t *rows, int64_t count, double *norms);
/* The least keys of rows, to all centers or to one vector of them. */
void clv_tile_scan(const clv_panel *panel, const void *keys, int64_t count, clv_nearest *out);
/* The least key of a row but for that to one center. */
double clv_tile_least_other(const clv_panel *panel, const void *key, int64_t but);
/* The same from the points; `keys` has room for a tile. */
void clv_tile_nearest(const clv_panel *panel, const clv_frame *frame, const int64_t *rows, int64_t count, void *keys,
                      clv_nearest *out);
void clv_tile_scan_near(const clv_panel *panel, const void *keys, int64_t count, clv_nearest *out);
/* Keys become smoothed distances sqrt(key + norm + epsilon^2), in units. */
void clv_tile_smooth(const clv_panel *panel, void *keys, int64_t count, const double *norms, double epsilon);
/* Whether d / alpha can be so large that weights would lose digits by it; d are keys, or smoothed distances where
 * epsilon > 0; in units. */
bool clv_panel_is_steep(const clv_panel *panel, const clv_frame *frame, double epsilon, double alpha);
/* weights <- P(weights - d / alpha), row by row; steep: with care for large d / alpha. `work` has room for
 * CLV_PROJECTED_AT_ONCE rows. */
void clv_tile_project(const clv_panel *panel, const void *d, void *weights, int64_t count, void *work, double alpha,
                      bool steep, clv_projection *out);
/* The limit alpha = 0 of it: all of the weight to the nearest center. */
void clv_tile_choose(const clv_panel *panel, const void *d, void *weights, int64_t count, clv_projection *out);
/* The same without a projection, by the shifts that it found, row by row: max(weights - d / alpha - shift, 0). */
void clv_tile_shift(const clv_panel *panel, const void *d, void *weights, int64_t count, double inverse_alpha,
                    const float *shift);
/* The nonzeros of a row of weights, at most k: how many. */
int64_t clv_tile_collect(const clv_panel *panel, const void *weights, int32_t *index, void *out);
/* clv_tile_project, steep, for weights that are short lists, row by row with an alpha each: the nonzeros of a new list
 * from CLV_FEW r on. Where its support is 0, others get weight as well. */
void clv_tile_project_few(const clv_panel *panel, const void *d, const clv_short_list *list, int64_t count,
                          const double *alpha, int32_t *index, void *out, clv_projection *found);
/* A row of weights times `sample`, and over `distance` unless that is NULL. */
void clv_tile_scale(const clv_panel *panel, void *weights, const void *distance, double sample);
/* Rows of the points side by side, padded with zeros to whole vectors; and the sums over them by their weights, with
 * the sum of the weights in column p. `line` has room for a row of weights. */
int64_t clv_tile_pitch(const clv_matrix *points);
void clv_tile_gather(const clv_matrix *points, const int64_t *rows, int64_t count, void *out);
void clv_tile_spread(const clv_panel *panel, const void *weights, const void *gathered, int64_t count, void *line,
                     double *sums /* k x (p + 1) */);

/* One row of the points, in double: |a_i - c|^2, and sum += weight a_i. `square` is |c|^2, needed for sparse rows. */
double clv_row_distance(const clv_matrix *points, int64_t i, const double *c, double square);
void clv_row_distances(const clv_matrix *points, const int64_t *rows, const int32_t *at, int64_t count,
                       const double *centers, const double *square, double *out); /* of row r to center at[r] */
void clv_row_add(const clv_matrix *points, int64_t i, double weight, double *sum);
/* Of dense points, `times` the weights of a list into shares, a line of this many numbers (sparse points: 0) to a
 * center: p, and one for the weights themselves. Lines begin where vectors do, which sums, k x (p + 1), do not. */
int64_t clv_shares_pitch(const clv_matrix *points);
void clv_row_share(const clv_matrix *points, int64_t i, const clv_short_list *list, double times, double *shares);

double clv_squared_distance(const double *x, const double *y, int64_t p);

/* Row r of a tile of numbers, and one of them. */
void *clv_tile_row(const clv_panel *panel, void *tile, int64_t r);
static inline double clv_weight_get(const clv_panel *panel, const void *weights, int64_t at) {
    return panel->scalar == CLV_F32 ? (double)((const float *)weights)[at] : ((const double *)weights)[at];
}
static inline void clv_weight_set(const clv_panel *panel, void *weights, int64_t at, double value) {
    if (panel->scalar == CLV_F32) {
        ((float *)weights)[at] = (float)value;
    } else {
        ((double *)weights)[at] = value;
    }
}

#endif
