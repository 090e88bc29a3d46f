/* The kernels of tile.c for one type of number; included once for float and once for double. The includer defines REAL,
 * INTEGER of the same size, NAME(x), HUGE_KEY and QUARTER_SUM, and the includes.
 *
 * A line of centers lies across the lanes of a vector: `lines` is feature by feature, `width` numbers each, so that the
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

/* Keys of ROWS rows to `vectors` vectors of centers. The accumulators stay in registers where `vectors` suits them. */
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
        NAME(lanes) center[VECTORS];
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

/* Keys of ROWS rows, each to a vector of centers of its own. */
CLV_KERNEL static void NAME(near_rows)(const REAL *const *rows, const REAL *const *lines, const REAL *const *offset,
                                       int64_t p, REAL *out) {
    NAME(lanes) sum[ROWS];
    for (int r = 0; r < ROWS; r++) {
        sum[r] = *(const NAME(lanes) *)offset[r];
    }
    for (int64_t f = 0; f < p; f++) {
        for (int r = 0; r < ROWS; r++) {
            sum[r] += rows[r][f] * ((const NAME(lanes) *)lines[r])[f];
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
            line[j] = lines + at[one] * panel->p * NAME(LANES);
            first[j] = offset + at[one] * NAME(LANES);
        }
        NAME(near_rows)(row, line, first, panel->p, keys + r * NAME(LANES));
    }
}

static void NAME(pick)(const clv_panel *panel, const int32_t *center, REAL *lines, REAL *offset) {
    for (int64_t f = 0; f < panel->p; f++) {
        const REAL *from = (const REAL *)panel->lines + f * panel->width;
        for (int j = 0; j < NAME(LANES); j++) {
            lines[f * NAME(LANES) + j] = from[center[j]];
        }
    }
    for (int j = 0; j < NAME(LANES); j++) {
        offset[j] = ((const REAL *)panel->offset)[center[j]];
    }
}

/* Numbers of one size all through, so that every lane of a vector is one key. */

/* The least of all but one. */
static inline __attribute__((always_inline)) REAL NAME(least_of)(const REAL *restrict key, INTEGER count, INTEGER but) {
    REAL least = HUGE_KEY;
#pragma omp simd reduction(min : least) aligned(key : 64)
    for (INTEGER l = 0; l < count; l++) {
        REAL one = l == but ? HUGE_KEY : key[l];
        least = one < least ? one : least;
    }
    return least;
}

/* The least key, the next one, and where the least is: the first of equals. */
static inline __attribute__((always_inline)) clv_nearest NAME(scan_row)(const REAL *restrict key, INTEGER count) {
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

/* A row on its way to its projection. */
typedef struct NAME(descent) {
    REAL tau, count; /* from below; entries that were above it, or more */
    REAL least;      /* what was taken from d */
    REAL full;       /* tau for a full support, or less */
} NAME(descent);

/* v = w - d / alpha. Where alpha is so small that d / alpha would lose what matters, the least is taken from d first.
 */
static inline __attribute__((always_inline)) void NAME(prepare)(const NAME(lanes) * d, const NAME(lanes) * w,
                                                                NAME(lanes) * v, int32_t k, int32_t vectors,
                                                                REAL inverse_alpha, bool steep, NAME(lanes) * most,
                                                                NAME(descent) * out) {
    const NAME(lanes) zero = {0};
    NAME(lanes) top = zero - HUGE_KEY, all = zero, under = zero + HUGE_KEY;
    REAL least = 0;
    if (steep) {
        for (int32_t j = 0; j < vectors; j++) {
            under = CHOOSE(d[j] < under, d[j], under);
        }
        under = -under;
        least = -NAME(top_lane)(&under);
    }
    for (int32_t j = 0; j < vectors; j++) {
        NAME(lanes) x = w[j] - (d[j] - least) * inverse_alpha;
        v[j] = x;
        top = CHOOSE(x > top, x, top);
        all += j < vectors - 1 ? x
                               : CHOOSE(d[j] < zero + HUGE_KEY, x, zero); /* only the last has lanes without a center */
    }
    *most = top;
    out->least = least;
    out->tau = NAME(top_lane)(&top) - 1;
    out->full = steep ? -HUGE_KEY : (NAME(sum_lanes)(&all) - 1) / (REAL)k;
}

/* Newton's method to its end on rows side by side, `pitch` vectors apart, from their tau and counts (more than there
 * can be). Several at once, as each waits for one sum after the other; what is done to a row that is ready is thrown
 * away.
 */
static inline __attribute__((always_inline)) void NAME(solve)(const NAME(lanes) * v, int64_t pitch, int32_t vectors,
                                                              NAME(descent) * rows, int group) {
    bool going[GROUP], any = true;
    for (int g = 0; g < group; g++) {
        going[g] = true;
    }
    while (any) {
        any = false;
        for (int g = 0; g < group; g++) {
            REAL tau = rows[g].tau, now = NAME(newton)(v + g * pitch, vectors, &tau);
            bool fewer = now < rows[g].count;
            rows[g].tau = going[g] ? tau : rows[g].tau;
            rows[g].count = going[g] ? now : rows[g].count;
            going[g] = going[g] & fewer;
            any |= going[g];
        }
    }
}

/* A tau from below: that of the largest entry of each lane, as tau can only rise with more entries, or the one for a
 * full support. */
static inline __attribute__((always_inline)) void NAME(begin)(NAME(descent) * rows, NAME(lanes) * top, int32_t k,
                                                              int group) {
    for (int g = 0; g < group; g++) {
        rows[g].count = NAME(LANES) + 1;
    }
    NAME(solve)(top, 1, 1, rows, group);
    for (int g = 0; g < group; g++) {
        rows[g].tau = rows[g].full > rows[g].tau ? rows[g].full : rows[g].tau;
        rows[g].count = (REAL)k;
    }
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

/* Rows d and w, `group` of them; work has as many lines. */
static inline __attribute__((always_inline)) void NAME(project_group)(const REAL *d, REAL *w, REAL *work, int group,
                                                                      int32_t k, int32_t width, REAL inverse_alpha,
                                                                      bool steep, clv_projection *out) {
    int32_t vectors = width / NAME(LANES);
    NAME(descent) rows[GROUP];
    NAME(lanes) top[GROUP];
    for (int g = 0; g < group; g++) {
        NAME(prepare)
        ((const NAME(lanes) *)(d + g * width), (const NAME(lanes) *)(w + g * width), (NAME(lanes) *)(work + g * width),
         k, vectors, inverse_alpha, steep, &top[g], &rows[g]);
    }
    NAME(begin)(rows, top, k, group);
    NAME(solve)((const NAME(lanes) *)work, vectors, vectors, rows, group);
    for (int g = 0; g < group; g++) {
        out[g] = NAME(conclude)((NAME(lanes) *)(w + g * width), (const NAME(lanes) *)(work + g * width), vectors,
                                rows[g].tau, rows[g].count == 1);
        out[g].shift = (double)rows[g].tau - (double)rows[g].least * (double)inverse_alpha;
    }
}

/* w <- P(w - d / alpha), P the projection on the simplex, by Newton's method on sum max(v - tau, 0) = 1 from below: tau
 * rises and the support shrinks until it stays. Rounding cannot make it cycle, as the count must fall. */
CLV_KERNEL static void NAME(project)(const REAL *d, REAL *w, REAL *work, int64_t rows, int32_t k, int32_t width,
                                     REAL inverse_alpha, bool steep, clv_projection *out) {
    int64_t r = 0;
    for (; r + GROUP <= rows; r += GROUP) {
        NAME(project_group)(d + r * width, w + r * width, work, GROUP, k, width, inverse_alpha, steep, out + r);
    }
    for (; r < rows; r++) {
        NAME(project_group)(d + r * width, w + r * width, work, 1, k, width, inverse_alpha, steep, out + r);
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
            NAME(lanes) center[VECTORS];
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

/* Column l of `mass` += the weights of a tile for center l. `line` has room for a row. */
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

/* The lanes that are not 0, as the bits of a number. */
static inline __attribute__((always_inline)) unsigned NAME(lane_bits)(const NAME(mask) * lanes) {
    INTEGER lane[NAME(LANES)], bits = 0;
    memcpy(lane, lanes, sizeof lane);
#pragma omp simd reduction(| : bits)
    for (int l = 0; l < NAME(LANES); l++) {
        bits |= lane[l] ? (INTEGER)1 << l : 0;
    }
    return (unsigned)bits;
}

/* A few nonzeros of a row: first the vectors of each lane that have one, as the bits of a number, then the lanes; put
 * in order one by one. */
static inline __attribute__((always_inline)) int64_t NAME(collect_few)(const REAL *weight, int32_t vectors,
                                                                       int32_t *index, REAL *out) {
    const NAME(lanes) zero = {0};
    NAME(mask) found = {0};
    INTEGER lane[NAME(LANES)];
    int64_t count = 0;
    for (int32_t j = 0; j < vectors; j++) {
        found |= (((const NAME(lanes) *)weight)[j] > zero) & ((INTEGER)1 << j);
    }
    memcpy(lane, &found, sizeof lane);
    for (unsigned bits = NAME(lane_bits)(&found); bits; bits &= bits - 1) {
        int l = __builtin_ctz(bits);
        for (unsigned in = (unsigned)lane[l]; in; in &= in - 1) {
            int32_t place = __builtin_ctz(in) * NAME(LANES) + l;
            int64_t at = count++;
            for (; at > 0 && index[at - 1] > place; at--) {
                index[at] = index[at - 1];
            }
            index[at] = place;
        }
    }
    for (int64_t e = 0; e < count; e++) {
        out[e] = weight[index[e]];
    }
    return count;
}

/* The nonzeros of a row of weights. `few`: probably less than ten. */
CLV_KERNEL static int64_t NAME(collect)(const REAL *weight, int64_t width, bool few, int32_t *index, REAL *out) {
    const NAME(lanes) zero = {0};
    int64_t count = 0;
    if (few && width <= 30 * NAME(LANES)) {
        return NAME(collect_few)(weight, (int32_t)width / NAME(LANES), index, out);
    }
    for (int64_t first = 0; first < width; first += NAME(LANES)) {
        NAME(mask) in = *(const NAME(lanes) *)(weight + first) > zero;
        for (unsigned bits = NAME(lane_bits)(&in); bits; bits &= bits - 1) {
            int64_t at = first + __builtin_ctz(bits);
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
        eight center;
        memcpy(&row, x + f, sizeof row);
        memcpy(&center, c + f, sizeof center);
        eight difference = __builtin_convertvector(row, eight) - center;
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
