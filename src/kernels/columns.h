/* Columns of numbers of type REAL, added to sums in double; included once per type by real.h. */

static void NAME(accumulate)(double *restrict y, const REAL *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] += (double)x[i];
    }
}

static void NAME(deduct)(double *restrict y, const REAL *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] -= (double)x[i];
    }
}

static void NAME(accumulate_four)(double *restrict y, const REAL *restrict a, const REAL *restrict b,
                                  const REAL *restrict c, const REAL *restrict d, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] += ((double)a[i] + (double)b[i]) + ((double)c[i] + (double)d[i]);
    }
}

static void NAME(add_weighted)(double *restrict y, double w, const REAL *restrict x, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] += w * (double)x[i];
    }
}

static void NAME(add_weighted_four)(double *restrict y, const double w[4], const REAL *const x[4], int64_t n) {
    const REAL *restrict a = x[0], *restrict b = x[1], *restrict c = x[2], *restrict d = x[3];
    double wa = w[0], wb = w[1], wc = w[2], wd = w[3];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] = (((y[i] + wa * (double)a[i]) + wb * (double)b[i]) + wc * (double)c[i]) + wd * (double)d[i];
    }
}

/* The fused pass of a Frank-Wolfe step: r is brought up to date and searched for its largest entry while it is in
 * registers. 8 n bytes of r read and written, each column read, nothing else. The maximum of a block is a vector
 * reduction; only the block that has the largest one is searched for the place. */
#define PASS(entry_)                                                                                                   \
    enum { BLOCK = 512 };                                                                                              \
    double most = -DBL_MAX;                                                                                            \
    int64_t winner = 0;                                                                                                \
    for (int64_t at = 0; at < n; at += BLOCK) {                                                                        \
        int64_t end = n - at < BLOCK ? n : at + BLOCK;                                                                 \
        double here = -DBL_MAX;                                                                                        \
        _Pragma("omp simd reduction(max : here)") for (int64_t i = at; i < end; i++) {                                 \
            double now = (entry_);                                                                                     \
            r[i] = now;                                                                                                \
            here = now > here ? now : here;                                                                            \
        }                                                                                                              \
        winner = here > most ? at : winner;                                                                            \
        most = here > most ? here : most;                                                                              \
    }                                                                                                                  \
    return place_in(r, winner, n - winner < BLOCK ? n : winner + BLOCK, most)

static int64_t NAME(pass_one)(double *restrict r, const REAL *restrict a, double wa, int64_t n) {
    PASS(r[i] + wa * (double)a[i]);
}

static int64_t NAME(pass_two)(double *restrict r, const REAL *restrict a, double wa, const REAL *restrict b, double wb,
                              int64_t n) {
    PASS(r[i] + (wa * (double)a[i] + wb * (double)b[i]));
}

#undef PASS
