/* The kernels of tile.c for one type of number; included once for float and once for double. The includer defines REAL,
 * INTEGER of the same size, NAME(x), HUGE_KEY, LARGEST, MOST_INVERSE (of alpha) and QUARTER_SUM, which end here. In
 * this file: lanes, keys, the least keys.
 *
 * A line of centers lies across the lanes of a vector: `lines` is feature by feature, `width` numbers each, so that the
 * points are read as they are, row by row, wherever they lie. What a row gets does not depend on the rows beside it.
 * Cost: one fused multiplication and addition for a key and feature, two looks at a key for the least ones. */

#define REALS NAME(reals)
#define MASK NAME(mask)
#define LANES NAME(LANES)
typedef REAL REALS __attribute__((vector_size(64), may_alias));
typedef REAL NAME(eight) __attribute__((vector_size(8 * sizeof(REAL)), may_alias));
typedef INTEGER MASK __attribute__((vector_size(64), may_alias));
typedef REAL NAME(half) __attribute__((vector_size(32), may_alias));
typedef REAL NAME(quarter) __attribute__((vector_size(16), may_alias));
enum { LANES = 64 / sizeof(REAL) };

/* Sum and maximum of the lanes, by halves: a chain of additions one by one would take longer than all the rest. Vectors
 * are handed over by address, as their passing by value depends on the instruction set. */
INLINE REAL NAME(sum_lanes)(const REALS *x) {
    REAL part[LANES];
    memcpy(part, x, sizeof part);
    NAME(half) low, high;
    memcpy(&low, part, sizeof low);
    memcpy(&high, part + LANES / 2, sizeof high);
    low += high;
    NAME(quarter) left, right;
    memcpy(&left, &low, sizeof left);
    memcpy(&right, (char *)&low + sizeof left, sizeof right);
    left += right;
    return QUARTER_SUM(left);
}

INLINE REAL NAME(top_lane)(const REALS *x) {
    REAL top = -HUGE_KEY, part[LANES];
    memcpy(part, x, sizeof part);
#pragma omp simd reduction(max : top)
    for (int l = 0; l < LANES; l++) {
        top = part[l] > top ? part[l] : top;
    }
    return top;
}

/* x where the mask is set, else y. */
#define CHOOSE(when, x, y) ((REALS)(((when) & (MASK)(x)) | (~(when) & (MASK)(y))))

/* Keys of ROWS rows to `vectors` vectors of centers. The accumulators stay in registers where `vectors` suits them. */
INLINE void NAME(key_block)(const REAL *const *rows, int64_t p, const REAL *lines, const REAL *offset, int64_t width,
                            int vectors, REAL *out) {
    REALS sum[ROWS][VECTORS];
    for (int r = 0; r < ROWS; r++) {
        for (int v = 0; v < vectors; v++) {
            sum[r][v] = ((const REALS *)offset)[v];
        }
    }
    for (int64_t f = 0; f < p; f++) {
        const REALS *line = (const REALS *)(lines + f * width);
        REALS center[VECTORS];
        for (int v = 0; v < vectors; v++) {
            center[v] = line[v];
        }
        for (int r = 0; r < ROWS; r++) {
            for (int v = 0; v < vectors; v++) {
                sum[r][v] += rows[r][f] * center[v];
            }
        }
    }
    for (int r = 0; r < ROWS; r++) {
        for (int v = 0; v < vectors; v++) {
            ((REALS *)(out + r * width))[v] = sum[r][v];
        }
    }
}

/* out[r * width + l] = offset_l + sum over f of rows[r][f] lines[f * width + l], for ROWS rows. */
CLV_KERNEL static void NAME(key_rows)(const REAL *const *rows, int64_t p, const REAL *lines, const REAL *offset,
                                      int64_t width, int most, REAL *out) {
    int64_t l = 0;
    for (; most == 4 && l + 4 * LANES <= width; l += 4 * LANES) {
        NAME(key_block)(rows, p, lines + l, offset + l, width, 4, out + l);
    }
    if (most == 4 && l + 3 * LANES <= width) {
        NAME(key_block)(rows, p, lines + l, offset + l, width, 3, out + l);
        l += 3 * LANES;
    }
    if (most == 4 && l + 2 * LANES <= width) {
        NAME(key_block)(rows, p, lines + l, offset + l, width, 2, out + l);
        l += 2 * LANES;
    }
    for (; l < width; l += LANES) {
        NAME(key_block)(rows, p, lines + l, offset + l, width, 1, out + l);
    }
}

static void NAME(dense_keys)(const clv_panel *panel, const REAL *values, const int64_t *rows, int64_t count,
                             REAL *keys) {
    int most = vectors_at_once();
    for (int64_t r = 0; r < count; r += ROWS) {
        const REAL *row[ROWS];
        for (int j = 0; j < ROWS; j++) {
            row[j] = values + rows[r + j < count ? r + j : count - 1] * panel->p;
        }
        NAME(key_rows)(row, panel->p, panel->lines, panel->offset, panel->width, most, keys + r * panel->width);
    }
}

/* Keys of ROWS rows, each to a vector of centers of its own. */
CLV_KERNEL static void NAME(near_rows)(const REAL *const *rows, const REAL *const *lines, const REAL *const *offset,
                                       int64_t p, REAL *out) {
    REALS sum[ROWS];
    for (int r = 0; r < ROWS; r++) {
        sum[r] = *(const REALS *)offset[r];
    }
    for (int64_t f = 0; f < p; f++) {
        for (int r = 0; r < ROWS; r++) {
            sum[r] += rows[r][f] * ((const REALS *)lines[r])[f];
        }
    }
    memcpy(out, sum, sizeof sum);
}

static void NAME(near_keys)(const clv_panel *panel, const REAL *values, const int64_t *rows, const int32_t *at,
                            int64_t count, const REAL *lines, const REAL *offset, REAL *keys) {
    for (int64_t r = 0; r < count; r += ROWS) {
        const REAL *row[ROWS], *line[ROWS], *first[ROWS];
        for (int j = 0; j < ROWS; j++) {
            int64_t one = r + j < count ? r + j : count - 1;
            row[j] = values + rows[one] * panel->p;
            line[j] = lines + at[one] * panel->p * LANES;
            first[j] = offset + at[one] * LANES;
        }
        NAME(near_rows)(row, line, first, panel->p, keys + r * LANES);
    }
}

static void NAME(pick)(const clv_panel *panel, const int32_t *center, REAL *lines, REAL *offset, int64_t at) {
    lines += at * panel->p * LANES;
    offset += at * LANES;
    for (int64_t f = 0; f < panel->p; f++) {
        const REAL *from = (const REAL *)panel->lines + f * panel->width;
        for (int j = 0; j < LANES; j++) {
            lines[f * LANES + j] = from[center[j]];
        }
    }
    for (int j = 0; j < LANES; j++) {
        offset[j] = ((const REAL *)panel->offset)[center[j]];
    }
}

/* Numbers of one size all through, so that every lane of a vector is one key. */

/* The least of all but one. What compilers start a min reduction from is infinity or the largest number. */
INLINE REAL NAME(least_of)(const REAL *restrict key, INTEGER count, INTEGER but) {
    REAL least = HUGE_KEY;
#pragma omp simd reduction(min : least) aligned(key : 64)
    for (INTEGER l = 0; l < count; l++) {
        REAL one = l == but ? HUGE_KEY : key[l];
        least = one < least ? one : least;
    }
    return least < LARGEST ? least : HUGE_KEY;
}

/* The least key, the next one, and where the least is: the first of equals. */
INLINE clv_nearest NAME(scan_row)(const REAL *restrict key, INTEGER count) {
    REAL least = NAME(least_of)(key, count, -1);
    INTEGER at = count;
#pragma omp simd reduction(min : at) aligned(key : 64)
    for (INTEGER l = 0; l < count; l++) {
        INTEGER place = key[l] == least ? l : count;
        at = place < at ? place : at;
    }
    return (clv_nearest){(double)least, (double)NAME(least_of)(key, count, at), (int32_t)at};
}

/* Of each row. `own` says where the least probably is (below 0: no idea); then all others need but one look. */
CLV_KERNEL static void NAME(scan)(const REAL *keys, int64_t rows, int64_t width, const int32_t *own, clv_nearest *out) {
    for (int64_t r = 0; r < rows; r++) {
        const REAL *key = keys + r * width;
        int32_t at = own ? own[r] : -1;
        REAL next = at >= 0 ? NAME(least_of)(key, (INTEGER)width, at) : 0;
        if (at >= 0 && key[at] < next) {
            out[r] = (clv_nearest){(double)key[at], (double)next, at};
        } else {
            out[r] = NAME(scan_row)(key, (INTEGER)width);
        }
    }
}

#include "methods/kpalm/tile_projection.h"
#include "methods/kpalm/tile_sums.h"

#undef CHOOSE
#undef REALS
#undef MASK
#undef LANES
#undef REAL
#undef INTEGER
#undef QUARTER_SUM
#undef NAME
#undef HUGE_KEY
#undef LARGEST
#undef MOST_INVERSE
