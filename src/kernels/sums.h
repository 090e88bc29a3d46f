/* What (2.2) adds up, and rows of weights and of the points one by one, numbers of type REAL; included
 * once per type by real.h. Cost of the sums: one fused multiplication and addition for a row, center and feature. */

/* sums[l * stride + f] += sum over r of weight[r * width + l] a[r * pitch + f]: the share of a tile in weighted
 * sums. */
INLINE void NAME(spread_block)(const REAL *weight, int64_t width, const REAL *a, int64_t pitch, int64_t rows, int64_t l,
                               int64_t k, int64_t f, int64_t p, int vectors, double *sums, int64_t stride) {
    REALS sum[KEY_ROWS][ACROSS] = {{{0}}};
    for (int64_t r = 0; r < rows; r++) {
        const REALS *row = (const REALS *)(a + r * pitch + f);
        REALS x[ACROSS];
        for (int v = 0; v < vectors; v++) {
            x[v] = row[v];
        }
        for (int c = 0; c < KEY_ROWS; c++) {
            REAL share = weight[r * width + (l + c < k ? l + c : k - 1)];
            for (int v = 0; v < vectors; v++) {
                sum[c][v] += share * x[v];
            }
        }
    }
    int64_t some = p - f < vectors * LANES ? p - f : vectors * LANES;
    for (int c = 0; c < KEY_ROWS && l + c < k; c++) {
        const REAL *from = (const REAL *)sum[c];
        double *to = sums + (l + c) * stride + f;
        for (int64_t j = 0; j < some; j++) {
            to[j] += (double)from[j];
        }
    }
}

static void NAME(spread)(const REAL *weight, int64_t width, const REAL *a, int64_t pitch, int64_t rows, int64_t k,
                         int64_t p, double *sums, int64_t stride) {
    for (int64_t l = 0; l < k; l += KEY_ROWS) {
        int64_t f = 0;
        for (; f + ACROSS * LANES <= pitch; f += ACROSS * LANES) {
            NAME(spread_block)(weight, width, a, pitch, rows, l, k, f, p, ACROSS, sums, stride);
        }
        for (; f < pitch; f += LANES) {
            NAME(spread_block)(weight, width, a, pitch, rows, l, k, f, p, 1, sums, stride);
        }
    }
}

/* Column l of `mass` += the weights of a tile for center l. `line` has room for a row. */
static void NAME(add_mass)(const REAL *weight, int64_t width, int64_t rows, int64_t k, REAL *restrict line,
                           double *mass, int64_t stride) {
    memset(line, 0, (size_t)width * sizeof *line);
    for (int64_t r = 0; r < rows; r++) {
        const REAL *row = weight + r * width;
#pragma omp simd
        for (int64_t l = 0; l < width; l++) {
            line[l] += row[l];
        }
    }
    for (int64_t l = 0; l < k; l++) {
        mass[l * stride] += (double)line[l];
    }
}

/* Weights in sums: times the sample weight, and over the distance where there is one. */
static void NAME(scale)(REAL *restrict weight, const REAL *restrict distance, int64_t width, double sample) {
    REAL times = (REAL)sample;
#pragma omp simd
    for (int64_t l = 0; l < width; l++) {
        weight[l] = weight[l] * times / (distance ? distance[l] : 1);
    }
}

/* |x - c|^2 in double, of a row as it is stored: two partial sums. */
static double NAME(row_distance)(const REAL *x, const double *c, int64_t p) {
    doubles part[2] = {{0}};
    double tail = 0;
    int64_t f = 0;
    for (; f + 2 * DOUBLES <= p; f += 2 * DOUBLES) {
        for (int v = 0; v < 2; v++) {
            doubles difference = LOAD(x + f + v * DOUBLES) - *(const loose_doubles *)(c + f + v * DOUBLES);
            part[v] += difference * difference;
        }
    }
    for (; f < p; f++) {
        double difference = (double)x[f] - c[f];
        tail += difference * difference;
    }
    part[0] += part[1];
    return sum_doubles(part) + tail;
}

static void NAME(row_distances)(const REAL *values, int64_t p, const int64_t *rows, const int32_t *at, int64_t count,
                                const double *centers, double *out) {
    for (int64_t r = 0; r < count; r++) {
        out[r] = NAME(row_distance)(values + rows[r] * p, centers + at[r] * p, p);
    }
}
