/* Sparse rows, bounds of distances, rows of pixels. */
#include "kernels/vector.h"

/* Four nonzeros at a time, so that the line of keys is read and written once for them. */
static void sparse_key_row(const double *value, const int32_t *index, int64_t nonzeros, const double *lines,
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

/* Two nonzeros at a time, each with sums of its own, as an addition waits for the one before it. */
static void sparse_times_row(const double *value, const int32_t *index, int64_t nonzeros, const double *restrict x,
                             double *restrict y) {
    enum { PARTS = CLV_SPMM_WIDTH / DOUBLES };
    doubles even[PARTS] = {{0}}, odd[PARTS] = {{0}};
    int64_t e = 0;
    for (; e + 2 <= nonzeros; e += 2) {
        const double *a = x + (int64_t)index[e] * CLV_SPMM_WIDTH, *b = x + (int64_t)index[e + 1] * CLV_SPMM_WIDTH;
        for (int v = 0; v < PARTS; v++) {
            even[v] += value[e] * *(const loose_doubles *)(a + v * DOUBLES);
            odd[v] += value[e + 1] * *(const loose_doubles *)(b + v * DOUBLES);
        }
    }
    for (int v = 0; v < PARTS; v++) {
        if (e < nonzeros) {
            even[v] += value[e] * *(const loose_doubles *)(x + (int64_t)index[e] * CLV_SPMM_WIDTH + v * DOUBLES);
        }
        *(loose_doubles *)(y + v * DOUBLES) = even[v] + odd[v];
    }
}

/* Some vectors of every sum, in registers while its nonzeros are gone through: all clusters find that part of the rows
 * in the nearest cache. */
INLINE void add_part_of_rows(const int32_t *first, const int32_t *index, const float *value, int64_t k,
                             const float *rows, int64_t pitch, int64_t width, int vectors, float *sums) {
    enum { MOST = 8 };
    for (int64_t c = 0; c < k; c++) {
        loose_floats *to = (loose_floats *)(sums + c * width);
        floats part[MOST];
        for (int v = 0; v < vectors; v++) {
            part[v] = to[v];
        }
        for (int32_t e = first[c]; e < first[c + 1]; e++) {
            const loose_floats *row = (const loose_floats *)(rows + index[e] * pitch);
            for (int v = 0; v < vectors; v++) {
                part[v] += value[e] * row[v];
            }
        }
        for (int v = 0; v < vectors; v++) {
            to[v] = part[v];
        }
    }
}

static void add_sparse_rows(const int32_t *first, const int32_t *index, const float *value, int64_t k,
                            const float *rows, int64_t pitch, int64_t width, float *sums) {
    enum { ABREAST = 8 };
    int64_t j = 0;
    for (; j + ABREAST * FLOATS <= width; j += ABREAST * FLOATS) {
        add_part_of_rows(first, index, value, k, rows + j, pitch, width, ABREAST, sums + j);
    }
    for (; j < width; j += FLOATS) {
        add_part_of_rows(first, index, value, k, rows + j, pitch, width, 1, sums + j);
    }
}

/* All in floats, each rounded to the safe side by CLV_LOOSE. */
static void loosen(const clv_slack *slack, const int32_t *restrict labels, int64_t count, float *restrict upper,
                   float *restrict lower, uint8_t *restrict open) {
    const float *restrict moved = slack->moved, *restrict others = slack->others, *restrict apart = slack->apart;
    const float *restrict reach = slack->reach;
    const float gap = slack->gap, farthest = slack->rest, more = (float)(1 + CLV_LOOSE), less = (float)(1 - CLV_LOOSE);
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        int32_t l = labels[i] < 0 ? 0 : labels[i];
        float up = (upper[i] + moved[l]) * more, low = (lower[i] - others[l]) * less, between = (apart[l] - up) * less;
        float rest = (lower[i] - farthest) * less, movers = (reach[l] - up) * less;
        float split = rest < movers ? rest : movers;
        low = low > split ? low : split;
        low = low > between ? low : between;
        float apart_by = low - up, kept = rest > 0 ? rest : 0;
        int settled = (labels[i] >= 0) & (apart_by > 0) & (apart_by * (low + up) > gap);
        upper[i] = up;
        lower[i] = settled ? low : kept;
        open[i] = (uint8_t)!settled;
    }
}

static void slic_row(const float *const lab[3], int64_t count, float x, float y, const clv_slic_center *center,
                     float spread, int32_t label, float *nearest, int32_t *labels) {
    const float *restrict light = lab[0], *restrict green = lab[1], *restrict blue = lab[2];
    float *restrict best = nearest;
    int32_t *restrict owner = labels;
    float down = (y - center->y) * (y - center->y);
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        float l = light[i] - center->color[0], a = green[i] - center->color[1], b = blue[i] - center->color[2];
        float across = x + (float)i - center->x;
        float distance = l * l + a * a + b * b + spread * (across * across + down);
        owner[i] = distance < best[i] ? label : owner[i];
        best[i] = distance < best[i] ? distance : best[i];
    }
}
