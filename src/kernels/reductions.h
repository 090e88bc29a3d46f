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

static void steepest(const double *g, const double *w, int64_t n, clv_steepest *out) {
    double along = 0, least = HUGE_VAL, most = -HUGE_VAL;
#pragma omp simd reduction(+ : along) reduction(min : least) reduction(max : most)
    for (int64_t i = 0; i < n; i++) {
        double held = w[i] > 0 ? g[i] : -HUGE_VAL;
        along += g[i] * w[i];
        least = g[i] < least ? g[i] : least;
        most = held > most ? held : most;
    }
    int64_t loser = 0;
    while (loser < n && !(w[loser] > 0 && g[loser] == most)) {
        loser++;
    }
    *out = (clv_steepest){place_in(g, 0, n, least), loser < n ? loser : -1, along - least};
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
