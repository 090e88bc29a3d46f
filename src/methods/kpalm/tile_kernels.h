/* The kernels of tile.c for one type of number; included once for float and once for double. The includer defines REAL,
 * INTEGER of the same size, NAME(x), HUGE_KEY and QUARTER_SUM, and the includes.
 *
 * A line of centres lies across the lanes of a vector: `lines` is feature by feature, `width` numbers each, so that the
 * points are read as they are, row by row, wherever they lie. What a row gets does not depend on the rows beside it. */

typedef REAL NAME(lanes) __attribute__((vector_size(64), may_alias));
typedef REAL NAME(eight) __attribute__((vector_size(8 * sizeof(REAL)), may_alias));
typedef INTEGER NAME(mask) __attribute__((vector_size(64), may_alias));
typedef REAL NAME(half) __attribute__((vector_size(32), may_alias));
typedef REAL NAME(quarter) __attribute__((vector_size(16), may_alias));
enum { NAME(LANES) = 64 / sizeof(REAL) };

/* Sum and maximum of the lanes, by halves: a chain of additions one by one would take longer than all the rest. Vectors
 * are handed over by address, as their passing by value depends on the instruction set. */
static inline __attribute__((always_inline)) REAL NAME(sum_lanes)(const NAME(lanes) * x) {
    REAL part[NAME(LANES)];
    memcpy(part, x, sizeof part);
    NAME(half) low, high;
    memcpy(&low, part, sizeof low);
    memcpy(&high, part + NAME(LANES) / 2, sizeof high);
    low += high;
    NAME(quarter) left, right;
    memcpy(&left, &low, sizeof left);
    memcpy(&right, (char *)&low + sizeof left, sizeof right);
    left += right;
    return QUARTER_SUM(left);
}

static inline __attribute__((always_inline)) REAL NAME(top_lane)(const NAME(lanes) * x) {
    REAL top = -HUGE_KEY, part[NAME(LANES)];
    memcpy(part, x, sizeof part);
#pragma omp simd reduction(max : top)
    for (int l = 0; l < NAME(LANES); l++) {
        top = part[l] > top ? part[l] : top;
    }
    return top;
}

/* x where the mask is set, else y. */
#define CHOOSE(when, x, y) ((NAME(lanes))(((when) & (NAME(mask))(x)) | (~(when) & (NAME(mask))(y))))

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

/* One step of Newton's method; the number of entries above tau. */
static inline __attribute__((always_inline)) REAL NAME(newton)(const NAME(lanes) * v, int32_t vectors, REAL *tau) {
    const NAME(lanes) zero = {0}, one = zero + 1;
    NAME(lanes) sum = zero, above = zero;
    for (int32_t j = 0; j < vectors; j++) {
        NAME(lanes) over = v[j] - *tau;
        NAME(mask) in = over > zero;
        sum += (NAME(lanes))(in & (NAME(mask))over);
        above += (NAME(lanes))(in & (NAME(mask))one);
    }
    REAL count = NAME(sum_lanes)(&above);
    *tau += (NAME(sum_lanes)(&sum) - 1) / count;
    return count;
}

/* v = w - d / alpha, and a tau from below: that of the largest entry of each lane, as tau can only rise with more
 * entries, or the one for a full support. Where alpha is so small that d / alpha would lose what matters, the least is
 * taken from d first. */
static inline __attribute__((always_inline)) REAL NAME(prepare)(const NAME(lanes) * d, const NAME(lanes) * w,
                                                                NAME(lanes) * v, int32_t k, int32_t vectors,
                                                                REAL inverse_alpha, REAL *least) {
    const NAME(lanes) zero = {0};
    NAME(lanes) top = zero - HUGE_KEY, all = zero, under = zero + HUGE_KEY;
    REAL count = NAME(LANES) + 1, now, tau, full;
    *least = 0;
    if (inverse_alpha > 64) {
        for (int32_t j = 0; j < vectors; j++) {
            under = CHOOSE(d[j] < under, d[j], under);
        }
        under = -under;
        *least = -NAME(top_lane)(&under);
    }
    for (int32_t j = 0; j < vectors; j++) {
        NAME(lanes) x = w[j] - (d[j] - *least) * inverse_alpha;
        v[j] = x;
        top = CHOOSE(x > top, x, top);
        all += CHOOSE(d[j] < HUGE_KEY / 2, x, zero);
    }
    tau = NAME(top_lane)(&top) - 1;
    while ((now = NAME(newton)(&top, 1, &tau)) < count) {
        count = now;
    }
    full = (NAME(sum_lanes)(&all) - 1) / (REAL)k;
    return full > tau && inverse_alpha <= 64 ? full : tau;
}

/* The weights for tau; a single one is 1. */
static inline __attribute__((always_inline)) clv_projection NAME(conclude)(NAME(lanes) * w, const NAME(lanes) * v,
                                                                           int32_t vectors, REAL tau, bool single) {
    const NAME(lanes) zero = {0}, one = zero + 1;
    NAME(lanes) change = zero, sum = zero, support = zero;
    for (int32_t j = 0; j < vectors; j++) {
        NAME(lanes) over = v[j] - tau;
        NAME(mask) in = over > zero;
        NAME(lanes) fresh = (NAME(lanes))(in & (single ? (NAME(mask))one : (NAME(mask))over));
        NAME(lanes) step = fresh - w[j];
        change += step * step;
        sum += fresh;
        support += (NAME(lanes))(in & (NAME(mask))one);
        w[j] = fresh;
    }
    return (clv_projection){(int64_t)NAME(sum_lanes)(&support), (double)NAME(sum_lanes)(&sum),
                            (double)NAME(sum_lanes)(&change), 0};
}

/* w <- P(w - d / alpha), P the projection on the simplex, by Newton's method on sum max(v - tau, 0) = 1 from below: tau
 * rises and the support shrinks until it stays. Rounding cannot make it cycle, as the count must fall. */
CLV_KERNEL static void NAME(project)(const REAL *d, REAL *w, REAL *work, int64_t rows, int32_t k, int32_t width,
                                     REAL inverse_alpha, clv_projection *out) {
    int32_t vectors = width / NAME(LANES);
    NAME(lanes) *v = (NAME(lanes) *)work;
    for (int64_t r = 0; r < rows; r++) {
        NAME(lanes) *weights = (NAME(lanes) *)(w + r * width);
        REAL least, count = (REAL)k, now;
        REAL tau = NAME(prepare)((const NAME(lanes) *)(d + r * width), weights, v, k, vectors, inverse_alpha, &least);
        while ((now = NAME(newton)(v, vectors, &tau)) < count) {
            count = now;
        }
        out[r] = NAME(conclude)(weights, v, vectors, tau, now == 1);
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

/* The nonzeros of a row of weights, vector by vector as the bits of a number. */
CLV_KERNEL static int64_t NAME(collect)(const REAL *weight, int64_t width, int32_t *index, REAL *out) {
    const NAME(lanes) zero = {0};
    int64_t count = 0;
    for (int64_t first = 0; first < width; first += NAME(LANES)) {
        NAME(mask) in = *(const NAME(lanes) *)(weight + first) > zero;
        INTEGER lane[NAME(LANES)], bits = 0;
        memcpy(lane, &in, sizeof lane);
#pragma omp simd reduction(| : bits)
        for (int l = 0; l < NAME(LANES); l++) {
            bits |= lane[l] & ((INTEGER)1 << l);
        }
        for (; bits; bits &= bits - 1) {
            int64_t at = first + __builtin_ctz((unsigned)bits);
            index[count] = (int32_t)at;
            out[count++] = weight[at];
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
    eight sum = {0};
    double part[8], tail = 0;
    int64_t f = 0;
    for (; f + 8 <= p; f += 8) {
        NAME(eight) row;
        eight centre;
        memcpy(&row, x + f, sizeof row);
        memcpy(&centre, c + f, sizeof centre);
        eight difference = __builtin_convertvector(row, eight) - centre;
        sum += difference * difference;
    }
    for (; f < p; f++) {
        double difference = (double)x[f] - c[f];
        tail += difference * difference;
    }
    memcpy(part, &sum, sizeof part);
    return ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7])) + tail;
}

CLV_KERNEL static void NAME(row_add)(const REAL *restrict x, double weight, int64_t p, double *restrict sum) {
#pragma omp simd
    for (int64_t f = 0; f < p; f++) {
        sum[f] += weight * (double)x[f];
    }
}

#undef CHOOSE
