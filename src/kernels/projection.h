/* The projection P on the simplex of (2.1), numbers of type REAL; included once per type by real.h.
 *
 * P(v) = max(v - tau, 0) with sum max(v - tau, 0) = 1, by Newton's method from below: tau rises and the support shrinks
 * until it stays. Rounding cannot make it cycle, as the count must fall. Cost: a few passes over the k entries of a
 * row, the first ones over the largest entry of each lane only. */

#define DESCENT NAME(descent)

/* One step of Newton's method; the number of entries above tau. */
INLINE REAL NAME(newton)(const REALS *v, int32_t vectors, REAL *tau) {
    const REALS zero = {0}, one = zero + 1;
    REALS sum = zero, above = zero;
    for (int32_t j = 0; j < vectors; j++) {
        REALS over = v[j] - *tau;
        MASK in = over > zero;
        sum += (REALS)(in & (MASK)over);
        above += (REALS)(in & (MASK)one);
    }
    REAL count = SUM_LANES(&above);
    *tau += (SUM_LANES(&sum) - 1) / count;
    return count;
}

/* A row on its way to its projection. */
typedef struct DESCENT {
    REAL tau, count; /* from below; entries that were above it, or more */
    REAL least;      /* what was taken from d */
    REAL full;       /* tau for a full support, or less */
} DESCENT;

/* v = w - d / alpha. Where alpha is so small that d / alpha would lose what matters, the least is taken
 * from d first. */
INLINE void NAME(prepare)(const REALS *d, const REALS *w, REALS *v, int32_t k, int32_t vectors, REAL inverse_alpha,
                          bool steep, REALS *most, DESCENT *out) {
    const REALS zero = {0};
    REALS top = zero - HUGE_KEY, all = zero, under = zero + HUGE_KEY;
    REAL least = 0;
    if (steep) {
        for (int32_t j = 0; j < vectors; j++) {
            under = PICK(d[j] < under, d[j], under);
        }
        under = -under;
        least = -TOP_LANE(&under);
    }
    for (int32_t j = 0; j < vectors; j++) {
        REALS x = w[j] - (d[j] - least) * inverse_alpha;
        v[j] = x;
        top = PICK(x > top, x, top);
        /* Rows are padded to lines, which may be several vectors: lanes without a center do not count. */
        all += j < k / LANES ? x : PICK(d[j] < zero + HUGE_KEY, x, zero);
    }
    *most = top;
    out->least = least;
    out->tau = TOP_LANE(&top) - 1;
    out->full = steep ? -HUGE_KEY : (SUM_LANES(&all) - 1) / (REAL)k;
}

/* Newton's method to its end on rows side by side, `pitch` vectors apart, from their tau and counts (more than there
 * can be). Several at once, as each waits for one sum after the other; what is done to a row that is ready is thrown
 * away. */
INLINE void NAME(solve)(const REALS *v, int64_t pitch, int32_t vectors, DESCENT *rows, int group) {
    bool going[CLV_PROJECTED_AT_ONCE], any = true;
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

/* The weights for tau; a single one is 1. */
INLINE clv_projection NAME(conclude)(REALS *w, const REALS *v, int32_t vectors, REAL tau, bool single) {
    const REALS zero = {0}, one = zero + 1;
    REALS change = zero, sum = zero, support = zero;
    for (int32_t j = 0; j < vectors; j++) {
        REALS over = v[j] - tau;
        MASK in = over > zero;
        REALS fresh = (REALS)(in & (single ? (MASK)one : (MASK)over));
        REALS step = fresh - w[j];
        change += step * step;
        sum += fresh;
        support += (REALS)(in & (MASK)one);
        w[j] = fresh;
    }
    return (clv_projection){(int64_t)SUM_LANES(&support), (double)SUM_LANES(&sum), (double)SUM_LANES(&change), 0};
}

/* Rows d and w, `group` of them; work has as many lines. */
INLINE void NAME(project_group)(const REAL *d, REAL *w, REAL *work, int group, int32_t k, int32_t width,
                                REAL inverse_alpha, bool steep, clv_projection *out) {
    int32_t vectors = width / LANES;
    DESCENT rows[CLV_PROJECTED_AT_ONCE];
    REALS top[CLV_PROJECTED_AT_ONCE];
    for (int g = 0; g < group; g++) {
        NAME(prepare)
        ((const REALS *)(d + g * width), (const REALS *)(w + g * width), (REALS *)(work + g * width), k, vectors,
         inverse_alpha, steep, &top[g], &rows[g]);
    }
    NAME(begin)(rows, top, k, group);
    NAME(solve)((const REALS *)work, vectors, vectors, rows, group);
    for (int g = 0; g < group; g++) {
        out[g] = NAME(conclude)((REALS *)(w + g * width), (const REALS *)(work + g * width), vectors, rows[g].tau,
                                rows[g].count == 1);
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
