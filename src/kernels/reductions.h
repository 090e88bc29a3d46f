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

/* The first place, of those of the lanes, that has this value; -1: none. */
INLINE int64_t place_of(double value, const doubles *lanes, const double_mask *places, int parts) {
    int64_t first = INT64_MAX;
    for (int v = 0; v < parts; v++) {
        double_mask here = CHOOSE(double_mask, double_mask, lanes[v] == value, places[v], (double_mask){0} + INT64_MAX);
        for (int lane = 0; lane < DOUBLES; lane++) {
            first = here[lane] < first ? here[lane] : first;
        }
    }
    return first < INT64_MAX ? first : -1;
}

/* One pass: each lane has the least and the largest that it has met, and where. */
static void steepest(const double *g, const double *w, int64_t n, clv_steepest *out) {
    enum { PARTS = TERMS / DOUBLES };
    doubles sums[PARTS], low[PARTS], high[PARTS];
    double_mask at[PARTS], low_at[PARTS], high_at[PARTS];
    for (int v = 0; v < PARTS; v++) {
        sums[v] = (doubles){0};
        low[v] = sums[v] + HUGE_VAL;
        high[v] = -low[v];
        for (int lane = 0; lane < DOUBLES; lane++) {
            at[v][lane] = v * DOUBLES + lane;
        }
        low_at[v] = high_at[v] = (double_mask){0} + INT64_MAX;
    }
    int64_t i = 0;
    for (; i + TERMS <= n; i += TERMS) {
        for (int v = 0; v < PARTS; v++) {
            doubles slope = *(const loose_doubles *)(g + i + v * DOUBLES);
            doubles share = *(const loose_doubles *)(w + i + v * DOUBLES);
            double_mask lower = slope < low[v], higher = (slope > high[v]) & (share > 0);
            sums[v] += slope * share;
            low[v] = CHOOSE(doubles, double_mask, lower, slope, low[v]);
            low_at[v] = CHOOSE(double_mask, double_mask, lower, at[v], low_at[v]);
            high[v] = CHOOSE(doubles, double_mask, higher, slope, high[v]);
            high_at[v] = CHOOSE(double_mask, double_mask, higher, at[v], high_at[v]);
            at[v] += TERMS;
        }
    }
    double along = sum_parts(sums, PARTS), least = HUGE_VAL, most = -HUGE_VAL;
    for (int v = 0; v < PARTS; v++) {
        doubles turned = -low[v];
        double lowest = -top_double(&turned), highest = top_double(&high[v]);
        least = lowest < least ? lowest : least;
        most = highest > most ? highest : most;
    }
    int64_t gainer = place_of(least, low, low_at, PARTS), loser = place_of(most, high, high_at, PARTS);
    double tail = 0;
    for (; i < n; i++) {
        tail += g[i] * w[i];
        gainer = g[i] < least ? i : gainer;
        least = g[i] < least ? g[i] : least;
        loser = w[i] > 0 && g[i] > most ? i : loser;
        most = w[i] > 0 && g[i] > most ? g[i] : most;
    }
    *out = (clv_steepest){gainer, loser, along + tail - least};
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
