/* Products with the rows of X, numbers of type REAL; included once per type by real.h.
 *
 * X'r reads one row after the other to its end, and asks for one a few thousand bytes ahead: the hardware prefetches no
 * farther than its page, and of a list nothing. Partial sums, a quarter of the registers, hide the latency of the
 * additions. Written with vectors, because a plain loop over floats and doubles is split by the compiler into twice the
 * loads. */

enum { NAME(DOTS) = REGISTERS / 4, NAME(SQUARES) = REGISTERS / 8, NAME(AHEAD) = 2048 };

/* The row to prefetch while row j is read. */
INLINE const REAL *NAME(row_ahead)(const REAL *base, const int64_t *list, int64_t first, int64_t count, int64_t n,
                                   int64_t j) {
    int64_t ahead = j + 1 + NAME(AHEAD) / (n * (int64_t)sizeof(REAL) + 1), row = ahead < count ? ahead : count - 1;
    return base + (list ? list[row] : first + row) * n;
}

/* x.r over whole steps of `parts` vectors, and where it ended. */
INLINE int64_t NAME(dot_steps)(const REAL *x, const REAL *ahead, const double *r, int64_t n, int parts, bool squares,
                               doubles *products, doubles *own) {
    int64_t i = 0, step = (int64_t)parts * DOUBLES;
    for (; i + step <= n; i += step) {
        for (int line = 0; line < parts * DOUBLES * (int)sizeof(REAL); line += CLV_LINE) {
            __builtin_prefetch((const char *)(ahead + i) + line, 0, 2);
        }
        for (int v = 0; v < parts; v++) {
            doubles row = LOAD(x + i + v * DOUBLES);
            products[v] += row * *(const loose_doubles *)(r + i + v * DOUBLES);
            if (squares) {
                own[v] += row * row;
            }
        }
    }
    return i;
}

static void NAME(dot_rows)(const REAL *base, const int64_t *list, int64_t first, int64_t count, int64_t n,
                           const double *r, double *out) {
    for (int64_t j = 0; j < count; j++) {
        const REAL *x = base + (list ? list[j] : first + j) * n;
        doubles part[NAME(DOTS)];
        for (int v = 0; v < NAME(DOTS); v++) {
            part[v] = (doubles){0};
        }
        int64_t i =
            NAME(dot_steps)(x, NAME(row_ahead)(base, list, first, count, n, j), r, n, NAME(DOTS), false, part, NULL);
        double product = sum_parts(part, NAME(DOTS));
        for (; i < n; i++) {
            product += (double)x[i] * r[i];
        }
        out[j] = product;
    }
}

static void NAME(dot_square_rows)(const REAL *base, const int64_t *list, int64_t first, int64_t count, int64_t n,
                                  const double *r, double *out, double *square) {
    for (int64_t j = 0; j < count; j++) {
        const REAL *x = base + (list ? list[j] : first + j) * n;
        doubles part[NAME(SQUARES)], own[NAME(SQUARES)];
        for (int v = 0; v < NAME(SQUARES); v++) {
            part[v] = own[v] = (doubles){0};
        }
        int64_t i =
            NAME(dot_steps)(x, NAME(row_ahead)(base, list, first, count, n, j), r, n, NAME(SQUARES), true, part, own);
        double product = sum_parts(part, NAME(SQUARES)), squares = sum_parts(own, NAME(SQUARES));
        for (; i < n; i++) {
            product += (double)x[i] * r[i];
            squares += (double)x[i] * (double)x[i];
        }
        out[j] = product;
        square[j] = squares;
    }
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
