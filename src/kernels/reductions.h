/* Sums, extremes and where they are. */
#include "kernels/vector.h"

enum { SHORT_BLOCK = 32, TERMS = 16 };

/* Sums: the order of additions is the same for every instruction set, TERMS interleaved partial sums, of which number i
 * and number i + half are added until one is left. */

static double sum(const double *x, int64_t n) {
    doubles sums[TERMS / DOUBLES];
    for (int v = 0; v < TERMS / DOUBLES; v++) {
        sums[v] = (doubles){0};
    }
    int64_t i = 0;
    for (; i + TERMS <= n; i += TERMS) {
        for (int v = 0; v < TERMS / DOUBLES; v++) {
            sums[v] += *(const loose_doubles *)(x + i + v * DOUBLES);
        }
    }
    double tail = 0;
    for (; i < n; i++) {
        tail += x[i];
    }
    return sum_parts(sums, TERMS / DOUBLES) + tail;
}

static double dot(const double *x, const double *y, int64_t n) {
    doubles sums[TERMS / DOUBLES];
    for (int v = 0; v < TERMS / DOUBLES; v++) {
        sums[v] = (doubles){0};
    }
    int64_t i = 0;
    for (; i + TERMS <= n; i += TERMS) {
        for (int v = 0; v < TERMS / DOUBLES; v++) {
            sums[v] += *(const loose_doubles *)(x + i + v * DOUBLES) * *(const loose_doubles *)(y + i + v * DOUBLES);
        }
    }
    double tail = 0;
    for (; i < n; i++) {
        tail += x[i] * y[i];
    }
    return sum_parts(sums, TERMS / DOUBLES) + tail;
}

/* The largest entry, or the least. As many vectors at once as hide the latency of a comparison. */
INLINE double extreme(const double *x, int64_t n, bool least) {
    double found = least ? HUGE_VAL : -HUGE_VAL;
    int64_t i = 0;
    if (n >= TERMS) {
        doubles most[TERMS / DOUBLES];
        for (int v = 0; v < TERMS / DOUBLES; v++) {
            most[v] = *(const loose_doubles *)(x + v * DOUBLES);
        }
        for (i = TERMS; i + TERMS <= n; i += TERMS) {
            for (int v = 0; v < TERMS / DOUBLES; v++) {
                doubles here = *(const loose_doubles *)(x + i + v * DOUBLES);
                double_mask beyond = least ? here < most[v] : here > most[v];
                most[v] = CHOOSE(doubles, double_mask, beyond, here, most[v]);
            }
        }
        for (int v = 0; v < TERMS / DOUBLES; v++) {
            doubles turned = least ? -most[v] : most[v];
            double here = least ? -top_double(&turned) : top_double(&turned);
            found = (least ? here < found : here > found) ? here : found;
        }
    }
    for (; i < n; i++) {
        found = (least ? x[i] < found : x[i] > found) ? x[i] : found;
    }
    return found;
}

static double largest(const double *x, int64_t n) {
    return extreme(x, n, false);
}

static double smallest(const double *x, int64_t n) {
    return extreme(x, n, true);
}

/* The first entry from `at` on that is `value`, which is there: short blocks are compared as vectors first. */
static inline int64_t place_in(const double *r, int64_t at, int64_t end, double value) {
    for (; end - at > SHORT_BLOCK; at += SHORT_BLOCK) {
        int here = 0;
#pragma omp simd reduction(| : here)
        for (int64_t i = at; i < at + SHORT_BLOCK; i++) {
            here |= r[i] == value;
        }
        if (here) {
            break;
        }
    }
    while (at < end - 1 && r[at] != value) {
        at++;
    }
    return at;
}

static int64_t place_of_largest(const double *r, int64_t n) {
    return place_in(r, 0, n, largest(r, n));
}

/* Four at a time, as entries from anywhere come one by one and only comparisons wait for each other. */
static int64_t place_of_least(const double *r, const int32_t *at, int64_t count) {
    double least = DBL_MAX;
    int64_t winner = 0;
    for (int64_t begin = 0; begin < count; begin += SHORT_BLOCK) {
        int64_t end = count - begin < SHORT_BLOCK ? count : begin + SHORT_BLOCK, t = begin;
        double low[4] = {DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX};
        for (; t + 4 <= end; t += 4) {
            for (int v = 0; v < 4; v++) {
                low[v] = r[at[t + v]] < low[v] ? r[at[t + v]] : low[v];
            }
        }
        for (; t < end; t++) {
            low[0] = r[at[t]] < low[0] ? r[at[t]] : low[0];
        }
        double left = low[0] < low[1] ? low[0] : low[1], right = low[2] < low[3] ? low[2] : low[3];
        double here = left < right ? left : right;
        winner = here < least ? begin : winner;
        least = here < least ? here : least;
    }
    int64_t t = winner;
    while (t < count - 1 && r[at[t]] != least) {
        t++;
    }
    return t;
}

static int64_t count_above(const float *x, int64_t n, float bar) {
    int64_t count = 0;
#pragma omp simd reduction(+ : count)
    for (int64_t i = 0; i < n; i++) {
        count += fabsf(x[i]) >= bar;
    }
    return count;
}

static bool all_alike(const double *x, const double *y, int64_t n, double least, double tolerance) {
    int64_t good = 1;
#pragma omp simd reduction(& : good)
    for (int64_t i = 0; i < n; i++) {
        double left = fabs(x[i]), right = fabs(y[i]), larger = left > right ? left : right;
        int64_t both = (x[i] >= least) & (y[i] >= least);
        good &= both & (larger <= DBL_MAX) & (fabs(x[i] - y[i]) <= tolerance * larger);
    }
    return good;
}

/* The least of the lanes, or of those and `other`. */
INLINE int64_t first_place(const double_mask *lanes, int64_t other) {
    for (int lane = 0; lane < DOUBLES; lane++) {
        other = (*lanes)[lane] < other ? (*lanes)[lane] : other;
    }
    return other;
}

/* Where g is `least`, and where it is `most` and w > 0, for the first time: from the end to the beginning, so that what
 * is met last stands. */
INLINE void find_both(const double *g, const double *w, int64_t n, double least, double most, clv_steepest *out) {
    int64_t i = n, vectors = n / DOUBLES * DOUBLES, low = INT64_MAX, high = INT64_MAX;
    while (i > vectors) {
        i--;
        low = g[i] == least ? i : low;
        high = w[i] > 0 && g[i] == most ? i : high;
    }
    double_mask at, lows = (double_mask){0} + INT64_MAX, highs = lows;
    for (int lane = 0; lane < DOUBLES; lane++) {
        at[lane] = vectors + lane;
    }
    while (i > 0) {
        i -= DOUBLES;
        at -= DOUBLES;
        doubles slope = *(const loose_doubles *)(g + i), share = *(const loose_doubles *)(w + i);
        lows = CHOOSE(double_mask, double_mask, slope == least, at, lows);
        highs = CHOOSE(double_mask, double_mask, (slope == most) & (share > 0), at, highs);
    }
    out->gainer = first_place(&lows, low);
    out->loser = first_place(&highs, high);
}

static void steepest(const double *g, const double *w, int64_t n, clv_steepest *out) {
    enum { PARTS = TERMS / DOUBLES, EXTREMES = 2 }; /* as many as fit the registers */
    doubles sums[PARTS], low[EXTREMES], high[EXTREMES];
    for (int v = 0; v < PARTS; v++) {
        sums[v] = (doubles){0};
        low[v % EXTREMES] = sums[v] + HUGE_VAL;
        high[v % EXTREMES] = -low[v % EXTREMES];
    }
    int64_t i = 0;
    for (; i + TERMS <= n; i += TERMS) {
        for (int v = 0; v < PARTS; v++) {
            doubles slope = *(const loose_doubles *)(g + i + v * DOUBLES);
            doubles share = *(const loose_doubles *)(w + i + v * DOUBLES);
            sums[v] += slope * share;
            int e = v % EXTREMES;
            low[e] = CHOOSE(doubles, double_mask, slope < low[e], slope, low[e]);
            high[e] = CHOOSE(doubles, double_mask, (slope > high[e]) & (share > 0), slope, high[e]);
        }
    }
    double along = sum_parts(sums, PARTS), tail = 0, least = HUGE_VAL, most = -HUGE_VAL;
    for (; i < n; i++) {
        tail += g[i] * w[i];
        least = g[i] < least ? g[i] : least;
        most = w[i] > 0 && g[i] > most ? g[i] : most;
    }
    for (int e = 0; e < EXTREMES; e++) {
        doubles turned = -low[e];
        double lowest = -top_double(&turned), highest = top_double(&high[e]);
        least = lowest < least ? lowest : least;
        most = highest > most ? highest : most;
    }
    find_both(g, w, n, least, most, out);
    out->loser = out->loser < n ? out->loser : -1;
    out->gap = along + tail - least;
}

static void add_products(double *restrict y, const double *restrict a, const double *restrict b, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] += a[i] * b[i];
    }
}

static void add_squares(double *restrict y, const double *restrict x, double center, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] += (x[i] - center) * (x[i] - center);
    }
}

static void widen(double *restrict out, const float *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        out[i] = (double)x[i];
    }
}

static void narrow(float *restrict out, const double *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        out[i] = (float)x[i];
    }
}
