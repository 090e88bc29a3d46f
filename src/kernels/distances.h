/* Squared distances of panels of points, by differences: no digits are lost, equal points have distance exactly 0.
 *
 * Cost: a subtraction and a fused multiplication and addition per pair and feature. ROWS x ACROSS accumulators stay in
 * registers; features come in chunks, so that the lines of both panels stay in the first-level cache. */
#include "kernels/vector.h"

enum { DISTANCE_ROWS = 4, CHUNK = 64 };

INLINE void add_block(const double *restrict left, const double *restrict right, int64_t features,
                      double *restrict out) {
    doubles sum[DISTANCE_ROWS][ACROSS];
    for (int r = 0; r < DISTANCE_ROWS; r++) {
        for (int v = 0; v < ACROSS; v++) {
            sum[r][v] = *(const doubles *)(out + r * CLV_TILE + v * DOUBLES);
        }
    }
    for (int64_t f = 0; f < features; f++) {
        const doubles *line = (const doubles *)(right + f * CLV_TILE);
        const double *x = left + f * CLV_TILE;
        for (int r = 0; r < DISTANCE_ROWS; r++) {
            for (int v = 0; v < ACROSS; v++) {
                doubles difference = x[r] - line[v];
                sum[r][v] += difference * difference;
            }
        }
    }
    for (int r = 0; r < DISTANCE_ROWS; r++) {
        for (int v = 0; v < ACROSS; v++) {
            *(doubles *)(out + r * CLV_TILE + v * DOUBLES) = sum[r][v];
        }
    }
}

static void distance_tile(const double *left, const double *right, int64_t features, double *out) {
    memset(out, 0, CLV_TILE * CLV_TILE * sizeof *out);
    for (int64_t f = 0; f < features; f += CHUNK) {
        int64_t some = features - f < CHUNK ? features - f : CHUNK;
        for (int64_t j = 0; j < CLV_TILE; j += ACROSS * DOUBLES) {
            for (int64_t i = 0; i < CLV_TILE; i += DISTANCE_ROWS) {
                add_block(left + f * CLV_TILE + i, right + f * CLV_TILE + j, some, out + i * CLV_TILE + j);
            }
        }
    }
}

/* Half the registers hold sums. */
static void distance_line(const double *restrict x, const double *restrict right, int64_t features,
                          double *restrict out) {
    enum { SUMS = REGISTERS / 2 < CLV_TILE / DOUBLES ? REGISTERS / 2 : CLV_TILE / DOUBLES };
    for (int64_t j = 0; j < CLV_TILE; j += SUMS * DOUBLES) {
        doubles sum[SUMS];
        for (int v = 0; v < SUMS; v++) {
            sum[v] = (doubles){0};
        }
        for (int64_t f = 0; f < features; f++) {
            const doubles *line = (const doubles *)(right + f * CLV_TILE + j);
            for (int v = 0; v < SUMS; v++) {
                doubles difference = x[f * CLV_TILE] - line[v];
                sum[v] += difference * difference;
            }
        }
        memcpy(out + j, sum, sizeof sum);
    }
}

static double distance(const double *x, const double *y, int64_t features) {
    double sum = 0;
    for (int64_t f = 0; f < features; f++) {
        double difference = x[f * CLV_TILE] - y[f * CLV_TILE];
        sum += difference * difference;
    }
    return sum;
}

/* Several pairs at a time: the numbers of an object are a line of the cache each, and the next pair need not wait for
 * those of the last. */
static void pair_distances(const double *const *x, const double *const *y, int64_t count, int64_t features,
                           double *restrict out) {
    enum { PAIRS = 4 };
    int64_t t = 0;
    for (; t + PAIRS <= count; t += PAIRS) {
        double sum[PAIRS] = {0};
        for (int64_t f = 0; f < features * CLV_TILE; f += CLV_TILE) {
            for (int v = 0; v < PAIRS; v++) {
                double difference = x[t + v][f] - y[t + v][f];
                sum[v] += difference * difference;
            }
        }
        memcpy(out + t, sum, sizeof sum);
    }
    for (; t < count; t++) {
        out[t] = distance(x[t], y[t], features);
    }
}

/* Two rows at a time, so that their sums do not wait for each other, in vectors no wider than those of the machine. */
static void row_distances(const double *x, const double *rows, int64_t stride, const int32_t *which, int64_t count,
                          double *restrict out) {
    enum { SOME = (int)DOUBLES < (int)CLV_ROW_PAD ? (int)DOUBLES : (int)CLV_ROW_PAD, PARTS = CLV_ROW_PAD / SOME };
    typedef double some __attribute__((vector_size(SOME * sizeof(double)), aligned(sizeof(double)), may_alias));
    for (int64_t t = 0; t < count; t += 2) {
        const double *left = rows + which[t] * stride, *right = t + 1 < count ? rows + which[t + 1] * stride : left;
        some a[PARTS] = {{0}}, b[PARTS] = {{0}};
        for (int64_t f = 0; f < stride; f += CLV_ROW_PAD) {
            for (int v = 0; v < PARTS; v++) {
                some here = *(const some *)(x + f + v * SOME);
                some u = here - *(const some *)(left + f + v * SOME), w = here - *(const some *)(right + f + v * SOME);
                a[v] += u * u;
                b[v] += w * w;
            }
        }
        double sum[2][CLV_ROW_PAD];
        memcpy(sum[0], a, sizeof a);
        memcpy(sum[1], b, sizeof b);
        for (int row = 0; row < 2 && t + row < count; row++) {
            out[t + row] = (sum[row][0] + sum[row][1]) + (sum[row][2] + sum[row][3]);
        }
    }
}

/* In 8 x 8 blocks, whose lines stay in the first-level cache. */
static void transpose_tile(double *restrict out, const double *restrict tile) {
    enum { BLOCK = 8 };
    for (int64_t i = 0; i < CLV_TILE; i += BLOCK) {
        for (int64_t j = 0; j < CLV_TILE; j += BLOCK) {
            for (int64_t r = 0; r < BLOCK; r++) {
                for (int64_t c = 0; c < BLOCK; c++) {
                    out[(j + r) * CLV_TILE + i + c] = tile[(i + c) * CLV_TILE + j + r];
                }
            }
        }
    }
}
