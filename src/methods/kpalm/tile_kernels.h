/* The kernels of tile.c for one type of number; included once for float and once for double. The includer defines REAL,
 * INTEGER of the same size, NAME(x) and HUGE_KEY, and the includes.
 *
 * A line of centres lies across the lanes of a vector: `lines` is feature by feature, `width` numbers each, so that the
 * points are read as they are, row by row, wherever they lie. What a row gets does not depend on the rows beside it. */

typedef REAL NAME(lanes) __attribute__((vector_size(64), may_alias));
typedef INTEGER NAME(mask) __attribute__((vector_size(64), may_alias));
enum { NAME(LANES) = 64 / sizeof(REAL) };

/* Keys of ROWS rows to `vectors` vectors of centres. The accumulators stay in registers where `vectors` suits them. */
static inline __attribute__((always_inline)) void NAME(key_block)(const REAL *const *rows, int64_t p, const REAL *lines,
                                                                  const REAL *offset, int64_t width, int vectors,
                                                                  REAL *out) {
    NAME(lanes) sum[ROWS][VECTORS];
    for (int r = 0; r < ROWS; r++) {
        for (int v = 0; v < vectors; v++) {
            sum[r][v] = ((const NAME(lanes) *)offset)[v];
        }
    }
    for (int64_t f = 0; f < p; f++) {
        const NAME(lanes) *line = (const NAME(lanes) *)(lines + f * width);
        NAME(lanes) centre[VECTORS];
        for (int v = 0; v < vectors; v++) {
            centre[v] = line[v];
        }
        for (int r = 0; r < ROWS; r++) {
            for (int v = 0; v < vectors; v++) {
                sum[r][v] += rows[r][f] * centre[v];
            }
        }
    }
    for (int r = 0; r < ROWS; r++) {
        for (int v = 0; v < vectors; v++) {
            ((NAME(lanes) *)(out + r * width))[v] = sum[r][v];
        }
    }
}

/* out[r * width + l] = offset_l + sum over f of rows[r][f] lines[f * width + l], for ROWS rows. */
CLV_KERNEL static void NAME(key_rows)(const REAL *const *rows, int64_t p, const REAL *lines, const REAL *offset,
                                      int64_t width, int most, REAL *out) {
    int64_t l = 0;
    for (; most == 4 && l + 4 * NAME(LANES) <= width; l += 4 * NAME(LANES)) {
        NAME(key_block)(rows, p, lines + l, offset + l, width, 4, out + l);
    }
    if (most == 4 && l + 3 * NAME(LANES) <= width) {
        NAME(key_block)(rows, p, lines + l, offset + l, width, 3, out + l);
        l += 3 * NAME(LANES);
    }
    if (most == 4 && l + 2 * NAME(LANES) <= width) {
        NAME(key_block)(rows, p, lines + l, offset + l, width, 2, out + l);
        l += 2 * NAME(LANES);
    }
    for (; l < width; l += NAME(LANES)) {
        NAME(key_block)(rows, p, lines + l, offset + l, width, 1, out + l);
    }
}

/* The least key of each row, the next one, and where the least is: the first of equals. */
CLV_KERNEL static void NAME(scan)(const REAL *keys, int64_t rows, int64_t width, clv_nearest *out) {
    const int32_t count = (int32_t)width;
    for (int64_t r = 0; r < rows; r++) {
        const REAL *restrict key = keys + r * width;
        REAL least = HUGE_KEY, next = HUGE_KEY;
        int32_t at = INT32_MAX, ties = 0;
#pragma omp simd reduction(min : least) aligned(key : 64)
        for (int32_t l = 0; l < count; l++) {
            least = key[l] < least ? key[l] : least;
        }
#pragma omp simd reduction(min : at, next) reduction(+ : ties) aligned(key : 64)
        for (int32_t l = 0; l < count; l++) {
            int equal = key[l] == least;
            int32_t place = equal ? l : INT32_MAX;
            REAL other = equal ? HUGE_KEY : key[l];
            at = place < at ? place : at;
            next = other < next ? other : next;
            ties += equal;
        }
        out[r] = (clv_nearest){(double)least, (double)(ties > 1 ? least : next), at};
    }
}

/* v = w - d / alpha, and a tau from below: at least the largest less 1, and the one for a full support. `least` is
 * taken from d first where alpha is so small that d / alpha would lose what matters. */
static inline __attribute__((always_inline)) REAL NAME(prepare)(const REAL *restrict d, const REAL *restrict w,
                                                                REAL *restrict v, int32_t k, int32_t width,
                                                                REAL inverse_alpha, REAL *least) {
    REAL top = -HUGE_KEY, all = 0, under = 0;
    if (inverse_alpha > 64) {
        under = HUGE_KEY;
#pragma omp simd reduction(min : under) aligned(d : 64)
        for (int32_t l = 0; l < width; l++) {
            under = d[l] < under ? d[l] : under;
        }
    }
#pragma omp simd reduction(max : top) reduction(+ : all) aligned(d, w, v : 64)
    for (int32_t l = 0; l < width; l++) {
        REAL x = w[l] - (d[l] - under) * inverse_alpha;
        v[l] = x;
        top = x > top ? x : top;
        all += l < k ? x : 0;
    }
    *least = under;
    REAL tau = (all - 1) / (REAL)k;
    return tau > top - 1 ? tau : top - 1;
}

/* One step of Newton's method; the number of entries above tau. */
static inline __attribute__((always_inline)) REAL NAME(newton)(const REAL *restrict v, int32_t width, REAL *tau) {
    REAL sum = 0, above = 0, from = *tau;
#pragma omp simd reduction(+ : sum, above) aligned(v : 64)
    for (int32_t l = 0; l < width; l++) {
        REAL over = v[l] - from;
        sum += over > 0 ? over : 0;
        above += over > 0 ? 1 : 0;
    }
    *tau = from + (sum - 1) / above;
    return above;
}

static inline __attribute__((always_inline)) clv_projection NAME(conclude)(REAL *restrict w, const REAL *restrict v,
                                                                           int32_t width, REAL tau, REAL one) {
    REAL change = 0, sum = 0, support = 0;
#pragma omp simd reduction(+ : change, sum, support) aligned(w, v : 64)
    for (int32_t l = 0; l < width; l++) {
        REAL over = v[l] - tau;
        REAL fresh = over > 0 ? (one > 0 ? one : over) : 0;
        change += (fresh - w[l]) * (fresh - w[l]);
        sum += fresh;
        support += over > 0 ? 1 : 0;
        w[l] = fresh;
    }
    return (clv_projection){(int64_t)support, (double)sum, (double)change, 0};
}

/* w <- P(w - d / alpha), P the projection on the simplex, by Newton's method on sum max(v - tau, 0) = 1 from below: tau
 * rises and the support shrinks until it stays. Rounding cannot make it cycle, as the count must fall. */
CLV_KERNEL static void NAME(project)(const REAL *d, REAL *w, REAL *v, int64_t rows, int32_t k, int32_t width,
                                     REAL inverse_alpha, clv_projection *out) {
    for (int64_t r = 0; r < rows; r++) {
        REAL least, count = (REAL)k, now;
        REAL tau = NAME(prepare)(d + r * width, w + r * width, v, k, width, inverse_alpha, &least);
        while ((now = NAME(newton)(v, width, &tau)) < count) {
            count = now;
        }
        out[r] = NAME(conclude)(w + r * width, v, width, tau, now == 1 ? 1 : 0);
        out[r].shift = (double)tau - (double)least * (double)inverse_alpha;
    }
}

/* Weights of ROWS rows after `steps` iterations: w <- max(w - inverse_alpha key - shift, 0) from w = base line. */
static inline __attribute__((always_inline)) void
NAME(replay_block)(const REAL *const *rows, int64_t p, const clv_panel *base, const clv_panel *panels, int64_t steps,
                   const double *inverse_alpha, const float *const *shift, int64_t l, int vectors, REAL *out) {
    int64_t width = base->width;
    NAME(lanes) zero = {0};
    for (int64_t t = -1; t < steps; t++) {
        const clv_panel *panel = t < 0 ? base : &panels[t];
        const REAL *lines = (const REAL *)panel->lines + l, *offset = (const REAL *)panel->offset + l;
        NAME(lanes) sum[ROWS][VECTORS];
        for (int r = 0; r < ROWS; r++) {
            for (int v = 0; v < vectors; v++) {
                sum[r][v] = ((const NAME(lanes) *)offset)[v];
            }
        }
        for (int64_t f = 0; f < p; f++) {
            const NAME(lanes) *line = (const NAME(lanes) *)(lines + f * width);
            NAME(lanes) centre[VECTORS];
            for (int v = 0; v < vectors; v++) {
                centre[v] = line[v];
            }
            for (int r = 0; r < ROWS; r++) {
                for (int v = 0; v < vectors; v++) {
                    sum[r][v] += rows[r][f] * centre[v];
                }
            }
        }
        for (int r = 0; r < ROWS; r++) {
            NAME(lanes) *w = (NAME(lanes) *)(out + r * width + l);
            REAL inverse = t < 0 ? 0 : (REAL)inverse_alpha[t], less = t < 0 ? 0 : (REAL)shift[r][t];
            for (int v = 0; v < vectors && t < 0; v++) {
                w[v] = sum[r][v];
            }
            for (int v = 0; v < vectors && t >= 0; v++) {
                NAME(lanes) fresh = w[v] - sum[r][v] * inverse - less;
                w[v] = (NAME(lanes))((fresh > zero) & (NAME(mask))fresh);
            }
        }
    }
}

CLV_KERNEL static void NAME(replay_rows)(const REAL *const *rows, const clv_panel *base, const clv_panel *panels,
                                         int64_t steps, const double *inverse_alpha, const float *const *shift,
                                         int most, REAL *out) {
    int64_t l = 0, p = base->p;
    for (; most == 4 && l + 4 * NAME(LANES) <= base->width; l += 4 * NAME(LANES)) {
        NAME(replay_block)(rows, p, base, panels, steps, inverse_alpha, shift, l, 4, out);
    }
    if (most == 4 && l + 3 * NAME(LANES) <= base->width) {
        NAME(replay_block)(rows, p, base, panels, steps, inverse_alpha, shift, l, 3, out);
        l += 3 * NAME(LANES);
    }
    if (most == 4 && l + 2 * NAME(LANES) <= base->width) {
        NAME(replay_block)(rows, p, base, panels, steps, inverse_alpha, shift, l, 2, out);
        l += 2 * NAME(LANES);
    }
    for (; l < base->width; l += NAME(LANES)) {
        NAME(replay_block)(rows, p, base, panels, steps, inverse_alpha, shift, l, 1, out);
    }
}

/* sums[l * stride + f] += sum over r of weight[r * width + l] a[r * pitch + f]: the share of a tile in weighted sums.
 */
static inline __attribute__((always_inline)) void NAME(spread_block)(const REAL *weight, int64_t width, const REAL *a,
                                                                     int64_t pitch, int64_t rows, int64_t l, int64_t k,
                                                                     int64_t f, int64_t p, int vectors, double *sums,
                                                                     int64_t stride) {
    NAME(lanes) sum[ROWS][VECTORS] = {{{0}}};
    for (int64_t r = 0; r < rows; r++) {
        const NAME(lanes) *row = (const NAME(lanes) *)(a + r * pitch + f);
        NAME(lanes) x[VECTORS];
        for (int v = 0; v < vectors; v++) {
            x[v] = row[v];
        }
        for (int c = 0; c < ROWS; c++) {
            REAL share = weight[r * width + (l + c < k ? l + c : k - 1)];
            for (int v = 0; v < vectors; v++) {
                sum[c][v] += share * x[v];
            }
        }
    }
    int64_t some = p - f < vectors * NAME(LANES) ? p - f : vectors * NAME(LANES);
    for (int c = 0; c < ROWS && l + c < k; c++) {
        const REAL *from = (const REAL *)sum[c];
        double *to = sums + (l + c) * stride + f;
        for (int64_t j = 0; j < some; j++) {
            to[j] += (double)from[j];
        }
    }
}

CLV_KERNEL static void NAME(spread)(const REAL *weight, int64_t width, const REAL *a, int64_t pitch, int64_t rows,
                                    int64_t k, int64_t p, double *sums, int64_t stride) {
    for (int64_t l = 0; l < k; l += ROWS) {
        int64_t f = 0;
        for (; f + 4 * NAME(LANES) <= pitch; f += 4 * NAME(LANES)) {
            NAME(spread_block)(weight, width, a, pitch, rows, l, k, f, p, 4, sums, stride);
        }
        for (; f < pitch; f += NAME(LANES)) {
            NAME(spread_block)(weight, width, a, pitch, rows, l, k, f, p, 1, sums, stride);
        }
    }
}

/* Column l of `mass` += the weights of a tile for centre l. `line` has room for a row. */
CLV_KERNEL static void NAME(add_mass)(const REAL *weight, int64_t width, int64_t rows, int64_t k, REAL *restrict line,
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

/* The nonzeros of a row of weights: most vectors have none. */
CLV_KERNEL static int64_t NAME(collect)(const REAL *weight, int64_t width, int32_t *index, REAL *out) {
    int64_t count = 0;
    for (int64_t first = 0; first < width; first += NAME(LANES)) {
        REAL any = 0;
#pragma omp simd reduction(max : any)
        for (int l = 0; l < NAME(LANES); l++) {
            any = weight[first + l] > any ? weight[first + l] : any;
        }
        for (int l = 0; any > 0 && l < NAME(LANES); l++) {
            index[count] = (int32_t)(first + l);
            out[count] = weight[first + l];
            count += weight[first + l] > 0;
        }
    }
    return count;
}

/* Weights in sums: times the sample weight, and over the distance where there is one. */
CLV_KERNEL static void NAME(scale)(REAL *restrict weight, const REAL *restrict distance, int64_t width, REAL sample) {
#pragma omp simd
    for (int64_t l = 0; l < width; l++) {
        weight[l] = weight[l] * sample / (distance ? distance[l] : 1);
    }
}

/* |x - c|^2 in double, of a row as it is stored. */
CLV_KERNEL static double NAME(row_distance)(const REAL *x, const double *c, int64_t p) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t f = 0; f < p; f++) {
        double difference = (double)x[f] - c[f];
        sum += difference * difference;
    }
    return sum;
}

CLV_KERNEL static void NAME(row_add)(const REAL *restrict x, double weight, int64_t p, double *restrict sum) {
#pragma omp simd
    for (int64_t f = 0; f < p; f++) {
        sum[f] += weight * (double)x[f];
    }
}
