/* Products with the rows of X, numbers of type REAL; included once per type by real.h.
 *
 * X'r reads two rows at a time, one of each half of the list, and asks for what each of them reads a few lines later:
 * one core keeps more lines of memory under way with two streams, the hardware prefetches no farther than its page, and
 * of a list nothing. From 2048 bytes ahead on, a core that reads fast is slower by a third. Two partial sums for each
 * row are enough, as memory is slower than the additions; more would leave more of a row for the single vectors that
 * come after them. What is less than a vector is taken with the last whole one, in which what came before weighs
 * nothing: one number after the other would take a tenth of the time. Written with vectors, because a plain loop over
 * floats and doubles is split by the compiler into twice the loads. */

enum {
    NAME(PARTS) = 2,
    NAME(AHEAD) = 1280 / sizeof(REAL),
    NAME(IN_LINE) = CLV_LINE / sizeof(REAL),
    /* Whole lines, so that each is asked for once. */
    NAME(STEP) = NAME(PARTS) * DOUBLES > NAME(IN_LINE) ? NAME(PARTS) * DOUBLES : NAME(IN_LINE),
};

/* Row j of the list, or the last. */
INLINE const REAL *NAME(row_at)(const REAL *base, const int64_t *list, int64_t first, int64_t count, int64_t n,
                                int64_t j) {
    int64_t row = j < count ? j : count - 1;
    return base + (list ? list[row] : first + row) * n;
}

/* Asks for what follows entry i of a row by AHEAD: of the same row, or of the one after it. */
INLINE void NAME(ask_ahead)(const REAL *x, const REAL *next, int64_t n, int64_t i, int64_t step) {
    int64_t at = i + NAME(AHEAD);
    uintptr_t from =
        at < n ? (uintptr_t)x + sizeof(REAL) * (size_t)at : (uintptr_t)next + sizeof(REAL) * (size_t)(at - n);
    for (size_t line = 0; line < sizeof(REAL) * (size_t)step; line += CLV_LINE) {
        __builtin_prefetch((const void *)(from + line), 0, 3);
    }
}

/* x.r of two rows over whole steps, by turns into PARTS partial sums, and where it ended. */
INLINE int64_t NAME(dot_steps)(const REAL *const x[2], const REAL *const next[2], const double *r, int64_t n,
                               bool squares, doubles *products, doubles *own) {
    int64_t i = 0;
    for (; i + NAME(STEP) <= n; i += NAME(STEP)) {
        NAME(ask_ahead)(x[0], next[0], n, i, NAME(STEP));
        NAME(ask_ahead)(x[1], next[1], n, i, NAME(STEP));
#pragma GCC unroll 8
        for (int v = 0; v < NAME(STEP) / DOUBLES; v++) {
            doubles weight = *(const loose_doubles *)(r + i + v * DOUBLES);
            for (int row = 0; row < 2; row++) {
                doubles entries = LOAD(x[row] + i + v * DOUBLES);
                int sum = row * NAME(PARTS) + v % NAME(PARTS);
                products[sum] += entries * weight;
                if (squares) {
                    own[sum] += entries * entries;
                }
            }
        }
    }
    return i;
}

/* The vectors that are left of both rows, into the first partial sums, and where that ended. */
INLINE int64_t NAME(dot_rest)(const REAL *const x[2], const double *r, int64_t i, int64_t n, bool squares,
                              doubles *products, doubles *own) {
    for (; i + DOUBLES <= n; i += DOUBLES) {
        doubles weight = *(const loose_doubles *)(r + i);
        for (int row = 0; row < 2; row++) {
            doubles entries = LOAD(x[row] + i);
            products[row * NAME(PARTS)] += entries * weight;
            if (squares) {
                own[row * NAME(PARTS)] += entries * entries;
            }
        }
    }
    return i;
}

/* The last vector of both rows: `weight` and `once` are 0 but for what is left. */
INLINE void NAME(dot_last)(const REAL *const x[2], const doubles weight, const doubles once, int64_t n, bool squares,
                           doubles *products, doubles *own) {
    for (int row = 0; row < 2; row++) {
        doubles entries = LOAD(x[row] + n - DOUBLES);
        products[row * NAME(PARTS) + 1] += entries * weight;
        if (squares) {
            own[row * NAME(PARTS) + 1] += entries * (entries * once);
        }
    }
}

/* Both, or the products alone; with an odd count the row in the middle is computed twice. */
INLINE void NAME(dot_all)(const REAL *base, const int64_t *list, int64_t first, int64_t count, int64_t n,
                          const double *r, double *out, double *square) {
    int64_t half = (count + 1) / 2, left = n % DOUBLES;
    doubles weight = {0}, once = {0};
    for (int64_t i = n < DOUBLES ? DOUBLES : DOUBLES - left; i < DOUBLES; i++) {
        weight[i] = r[n - DOUBLES + i];
        once[i] = 1;
    }
    for (int64_t j = 0; j < half; j++) {
        const int64_t at[2] = {j, j + half < count ? j + half : j};
        const REAL *x[2], *next[2];
        doubles products[2 * NAME(PARTS)], own[2 * NAME(PARTS)];
        for (int row = 0; row < 2; row++) {
            x[row] = NAME(row_at)(base, list, first, count, n, at[row]);
            next[row] = NAME(row_at)(base, list, first, count, n, at[row] + 1);
        }
        for (int v = 0; v < 2 * NAME(PARTS); v++) {
            products[v] = own[v] = (doubles){0};
        }
        int64_t end = NAME(dot_steps)(x, next, r, n, square != NULL, products, own);
        end = NAME(dot_rest)(x, r, end, n, square != NULL, products, own);
        if (left > 0 && n >= DOUBLES) {
            NAME(dot_last)(x, weight, once, n, square != NULL, products, own);
            end = n;
        }
        for (int row = 0; row < 2; row++) {
            double product = sum_parts(products + row * NAME(PARTS), NAME(PARTS));
            double squares = sum_parts(own + row * NAME(PARTS), NAME(PARTS));
            for (int64_t i = end; i < n; i++) {
                product += (double)x[row][i] * r[i];
                squares += (double)x[row][i] * (double)x[row][i];
            }
            out[at[row]] = product;
            if (square) {
                square[at[row]] = squares;
            }
        }
    }
}

static void NAME(dot_rows)(const REAL *base, const int64_t *list, int64_t first, int64_t count, int64_t n,
                           const double *r, double *out) {
    NAME(dot_all)(base, list, first, count, n, r, out, NULL);
}

static void NAME(dot_square_rows)(const REAL *base, const int64_t *list, int64_t first, int64_t count, int64_t n,
                                  const double *r, double *out, double *square) {
    NAME(dot_all)(base, list, first, count, n, r, out, square);
}

static void NAME(add_four)(double *restrict sum, const REAL *const x[4], const double r[4], int64_t n) {
    const REAL *restrict a = x[0], *restrict b = x[1], *restrict c = x[2], *restrict d = x[3];
    double first = r[0], second = r[1], third = r[2], fourth = r[3];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        sum[i] += (first * (double)a[i] + second * (double)b[i]) + (third * (double)c[i] + fourth * (double)d[i]);
    }
}

static void NAME(add_square_four)(double *restrict sum, const REAL *const x[4], const double r[4], int64_t n) {
    for (int64_t row = 0; row < 4; row++) {
        const REAL *restrict a = x[row];
        double once = r[row] != 0 ? 1.0 : 0.0;
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            sum[i] += once * ((double)a[i] * (double)a[i]);
        }
    }
}
