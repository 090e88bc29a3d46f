/* The projection P on the simplex of (2.1), numbers of type REAL; included once per type by real.h.
 *
 * P(v) = max(v - tau, 0) with sum max(v - tau, 0) = 1, by Newton's method from below: tau rises and the support shrinks
 * until it stays. Rounding cannot make it cycle, as the count must fall. Cost: a few passes over the k entries of a
 * row, the first ones over the largest entry of each lane only. */

#define DESCENT NAME(descent)

/* A row on its way to its projection. */
typedef struct DESCENT {
    REAL tau, count; /* from below; entries that were above it, or more */
    REAL least;      /* what was taken from d */
    REAL full;       /* tau for a full support, or less */
} DESCENT;

/* The least of a row. */
INLINE REAL NAME(least_of)(const REALS *d, int32_t vectors) {
    REALS under = (REALS){0} + HUGE_KEY;
    for (int32_t j = 0; j < vectors; j++) {
        under = PICK(d[j] < under, d[j], under);
    }
    under = -under;
    return -TOP_LANE(&under);
}

/* v = w - d / alpha of `group` rows side by side, `pitch` vectors apart, and the largest entry of each lane. Where
 * alpha is so small that d / alpha would lose what matters, the least is taken from d first. */
INLINE void NAME(prepare)(const REALS *d, const REALS *w, REALS *v, int64_t pitch, int32_t k, int32_t vectors,
                          REAL inverse_alpha, bool steep, int group, REALS *most, DESCENT *out) {
    const REALS zero = {0};
    REALS top[CLV_PROJECTED_AT_ONCE], all[CLV_PROJECTED_AT_ONCE];
    for (int g = 0; g < group; g++) {
        top[g] = zero - HUGE_KEY;
        all[g] = zero;
        out[g].least = steep ? NAME(least_of)(d + g * pitch, vectors) : 0;
    }
    for (int32_t j = 0; j < vectors; j++) {
        for (int g = 0; g < group; g++) {
            REALS here = d[g * pitch + j], x = w[g * pitch + j] - (here - out[g].least) * inverse_alpha;
            v[g * pitch + j] = x;
            top[g] = PICK(x > top[g], x, top[g]);
            /* Rows are padded to whole vectors: lanes without a center do not count. */
            all[g] += j < k / LANES ? x : PICK(here < zero + HUGE_KEY, x, zero);
        }
    }
    for (int g = 0; g < group; g++) {
        most[g] = top[g];
        out[g].tau = TOP_LANE(&top[g]) - 1;
        out[g].full = steep ? -HUGE_KEY : (SUM_LANES(&all[g]) - 1) / (REAL)k;
    }
}

/* One step of Newton's method on each row of a group: how many entries are above tau, and the next tau. The rows go
 * abreast, as each waits for one sum after the other. */
INLINE void NAME(newton)(const REALS *v, int64_t pitch, int32_t vectors, const DESCENT *rows, int group, REAL *count,
                         REAL *tau) {
    const REALS zero = {0};
    REALS sum[CLV_PROJECTED_AT_ONCE];
    MASK above[CLV_PROJECTED_AT_ONCE]; /* -1 for each */
    for (int g = 0; g < group; g++) {
        sum[g] = zero;
        above[g] = (MASK){0};
    }
    for (int32_t j = 0; j < vectors; j++) {
        for (int g = 0; g < group; g++) {
            REALS over = v[g * pitch + j] - rows[g].tau;
            MASK in = over > zero;
            sum[g] += (REALS)(in & (MASK)over);
            above[g] += in;
        }
    }
    for (int g = 0; g < group; g++) {
        REALS counts = __builtin_convertvector(above[g], REALS);
        count[g] = -SUM_LANES(&counts);
        tau[g] = rows[g].tau + (SUM_LANES(&sum[g]) - 1) / count[g];
    }
}

/* Newton's method to its end on a group of rows, from their tau and counts (more than there can be). What is done to a
 * row that is ready is thrown away. */
INLINE void NAME(solve)(const REALS *v, int64_t pitch, int32_t vectors, DESCENT *rows, int group) {
    bool going[CLV_PROJECTED_AT_ONCE], any = true;
    for (int g = 0; g < group; g++) {
        going[g] = true;
    }
    while (any) {
        REAL tau[CLV_PROJECTED_AT_ONCE], now[CLV_PROJECTED_AT_ONCE];
        any = false;
        NAME(newton)(v, pitch, vectors, rows, group, now, tau);
        for (int g = 0; g < group; g++) {
            bool fewer = now[g] < rows[g].count;
            rows[g].tau = going[g] ? tau[g] : rows[g].tau;
            rows[g].count = going[g] ? now[g] : rows[g].count;
            going[g] = going[g] & fewer;
            any |= going[g];
        }
    }
}

/* A tau from below: that of the largest entry of each lane, as tau can only rise with more entries, or the one for a
 * full support. From there on a support that is full stays so; where that tau is not known it may still shrink. */
INLINE void NAME(begin)(DESCENT *rows, REALS *top, int32_t k, int group) {
    for (int g = 0; g < group; g++) {
        rows[g].count = LANES + 1;
    }
    NAME(solve)(top, 1, 1, rows, group);
    for (int g = 0; g < group; g++) {
        rows[g].tau = rows[g].full > rows[g].tau ? rows[g].full : rows[g].tau;
        rows[g].count = rows[g].full > -HUGE_KEY ? (REAL)k : (REAL)k + 1;
    }
}

/* The weights for tau of a group of rows; a single one is 1. */
INLINE void NAME(conclude)(REALS *w, const REALS *v, int64_t pitch, int32_t vectors, const DESCENT *rows, int group,
                           clv_projection *out) {
    const REALS zero = {0}, one = zero + 1;
    REALS change[CLV_PROJECTED_AT_ONCE], sum[CLV_PROJECTED_AT_ONCE];
    MASK support[CLV_PROJECTED_AT_ONCE]; /* -1 for each */
    for (int g = 0; g < group; g++) {
        change[g] = sum[g] = zero;
        support[g] = (MASK){0};
    }
    for (int32_t j = 0; j < vectors; j++) {
        for (int g = 0; g < group; g++) {
            REALS over = v[g * pitch + j] - rows[g].tau, before = w[g * pitch + j];
            MASK in = over > zero;
            REALS fresh = (REALS)(in & (rows[g].count == 1 ? (MASK)one : (MASK)over));
            change[g] += (fresh - before) * (fresh - before);
            sum[g] += fresh;
            support[g] += in;
            w[g * pitch + j] = fresh;
        }
    }
    for (int g = 0; g < group; g++) {
        REALS counts = __builtin_convertvector(support[g], REALS);
        out[g].support = -(int64_t)SUM_LANES(&counts);
        out[g].sum = (double)SUM_LANES(&sum[g]);
        out[g].change = (double)SUM_LANES(&change[g]);
    }
}

/* Rows d and w, `group` of them; work has as many lines. Newton's method takes them all at once, as it waits, also
 * where that is more than 16 registers hold (7 % less time at k = 100 than two by two); the loops before and after it
 * do not wait, and take as many as their sums have registers for. */
INLINE void NAME(project_group)(const REAL *d, REAL *w, REAL *work, int group, int32_t k, int32_t width,
                                REAL inverse_alpha, bool steep, clv_projection *out) {
    int32_t pitch = width / LANES, vectors = (k + LANES - 1) / LANES;
    DESCENT rows[CLV_PROJECTED_AT_ONCE];
    REALS top[CLV_PROJECTED_AT_ONCE];
    int some = group < PROJECTED_ABREAST ? group : PROJECTED_ABREAST;
    for (int g = 0; g < group; g += some) {
        int64_t at = (int64_t)g * width;
        NAME(prepare)
        ((const REALS *)(d + at), (const REALS *)(w + at), (REALS *)(work + at), pitch, k, vectors, inverse_alpha,
         steep, some, top + g, rows + g);
    }
    NAME(begin)(rows, top, k, group);
    NAME(solve)((const REALS *)work, pitch, vectors, rows, group);
    for (int g = 0; g < group; g += some) {
        int64_t at = (int64_t)g * width;
        NAME(conclude)((REALS *)(w + at), (const REALS *)(work + at), pitch, vectors, rows + g, some, out + g);
    }
    for (int g = 0; g < group; g++) {
        out[g].shift = (double)rows[g].tau - (double)rows[g].least * (double)inverse_alpha;
    }
}

/* w <- P(w - d / alpha) for rows of d and w. */
static void NAME(project)(const REAL *d, REAL *w, REAL *work, int64_t rows, int32_t k, int32_t width, double alpha,
                          bool steep, clv_projection *out) {
    REAL inverse_alpha = (REAL)fmin(1 / alpha, MOST_INVERSE);
    int64_t r = 0;
    for (; r + CLV_PROJECTED_AT_ONCE <= rows; r += CLV_PROJECTED_AT_ONCE) {
        NAME(project_group)
        (d + r * width, w + r * width, work, CLV_PROJECTED_AT_ONCE, k, width, inverse_alpha, steep, out + r);
    }
    for (; r < rows; r++) {
        NAME(project_group)(d + r * width, w + r * width, work, 1, k, width, inverse_alpha, steep, out + r);
    }
}

/* The same where the tau of each row is known: w <- max(w - d / alpha - shift, 0). */
static void NAME(shift)(const REAL *d, REAL *w, int64_t rows, int64_t width, double inverse_alpha, const float *shift) {
    const REALS zero = {0};
    for (int64_t r = 0; r < rows; r++) {
        REAL inverse = (REAL)inverse_alpha, less = (REAL)shift[r];
        for (int64_t l = r * width; l < (r + 1) * width; l += LANES) {
            REALS fresh = *(const REALS *)(w + l) - *(const REALS *)(d + l) * inverse - less;
            *(REALS *)(w + l) = (REALS)((fresh > zero) & (MASK)fresh);
        }
    }
}

#undef DESCENT
