/* Squared Euclidean distances in tiles of CLV_TILE x CLV_TILE.
 *
 * Points are copied once into panels: CLV_TILE consecutive objects side by side, one line of CLV_TILE doubles a
 * feature, zeros where the last panel is not full. A tile is then a loop over features of "load a line, broadcast,
 * subtract, multiply-add", which runs at the speed of a matrix product (2 operations per feature and entry, no
 * packing), and, unlike |x|^2 + |y|^2 - 2 x'y, loses no digits: equal points have distance exactly 0. */
#ifndef CLV_DISTANCE_H
#define CLV_DISTANCE_H

#include "kernels/kernels.h"
#include "linalg/linalg.h"

typedef struct clv_panels {
    clv_context *ctx;
    int64_t n, features, count; /* count = ceil(n / CLV_TILE) */
    double *values;             /* values[(b * features + f) * CLV_TILE + r]: feature f of object b * CLV_TILE + r */
} clv_panels;

/* Bytes that the panels of n points take. */
int64_t clv_panels_bytes(int64_t n, int64_t features);
clv_status clv_panels_new(clv_context *ctx, const clv_matrix *points, int threads, clv_panels *out);
/* Panels of objects[0..count-1] of `from`, in this order. */
clv_status clv_panels_gather(const clv_panels *from, const int64_t *objects, int64_t count, int threads,
                             clv_panels *out);
void clv_panels_free(clv_panels *panels);

/* Objects in panel b. */
static inline int64_t clv_panel_size(const clv_panels *panels, int64_t b) {
    int64_t left = panels->n - b * CLV_TILE;
    return left < CLV_TILE ? left : CLV_TILE;
}

/* Multiplications for the distances of a tile, and of a panel to all objects. */
static inline int64_t clv_tile_work(const clv_panels *panels) {
    return CLV_TILE * CLV_TILE * panels->features;
}
static inline int64_t clv_panel_work(const clv_panels *panels) {
    return panels->count * clv_tile_work(panels);
}

/* Squared distances of the objects of panels bi (rows) and bj (columns): out[r * CLV_TILE + c], all CLV_TILE^2 of them,
 * those of padding included. */
void clv_distance_tile(const clv_panels *panels, int64_t bi, int64_t bj, double *out);
/* The same between two sets of points with the same features: panel bi of `left`, panel bj of `right`. */
void clv_distance_cross_tile(const clv_panels *left, int64_t bi, const clv_panels *right, int64_t bj, double *out);
/* Squared distances of object i to the objects of panel b: CLV_TILE numbers. */
void clv_distance_line(const clv_panels *panels, int64_t i, int64_t b, double *out);
/* The same between two sets: object i of `left`, panel b of `right`. */
void clv_distance_cross_line(const clv_panels *left, int64_t i, const clv_panels *right, int64_t b, double *out);
double clv_distance(const clv_panels *panels, int64_t i, int64_t j); /* squared */
/* The same of `count` pairs i[t], j[t], at most CLV_TILE. */
void clv_distances(const clv_panels *panels, const int64_t *i, const int64_t *j, int64_t count, double *out);

#endif
