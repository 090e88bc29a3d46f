/* Elementwise kernels on columns of type REAL as cases of test_kernels.c, each with its plain loop; included once per
 * type. The includer defines REAL, TABLE (f32 or f64), NAME(x) and COLUMN(r), input number r. */

static void NAME(accumulate)(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->TABLE.accumulate(c->y + from, COLUMN(0) + from, n);
}

static void NAME(plain_accumulate)(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        c->y[i] += (double)COLUMN(0)[i];
    }
}

static void NAME(deduct)(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->TABLE.deduct(c->y + from, COLUMN(0) + from, n);
}

static void NAME(plain_deduct)(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        c->y[i] -= (double)COLUMN(0)[i];
    }
}

static void NAME(accumulate_four)(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->TABLE.accumulate_four(c->y + from, COLUMN(0) + from, COLUMN(1) + from, COLUMN(2) + from, COLUMN(3) + from, n);
}

static void NAME(plain_accumulate_four)(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        c->y[i] += ((double)COLUMN(0)[i] + (double)COLUMN(1)[i]) + ((double)COLUMN(2)[i] + (double)COLUMN(3)[i]);
    }
}

/* y += the columns from `first` to `last`, each times its weight, or their squares where that is not 0. */
static void NAME(plain_weighted)(columns *c, int64_t from, int64_t n, int first, int last, const double *weight,
                                 bool squares) {
    for (int64_t i = from; i < from + n; i++) {
        double size = fabs(c->y[i]);
        for (int r = first; r <= last; r++) {
            double x = (double)COLUMN(r)[i], term = squares ? (weight[r] != 0) * (x * x) : weight[r] * x;
            c->y[i] += term;
            size += fabs(term);
        }
        c->slack[i] = 2 * (last - first + 1) * DBL_EPSILON * size;
    }
}

static void NAME(add_weighted)(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->TABLE.add_weighted(c->y + from, weights[1], COLUMN(1) + from, n);
}

static void NAME(plain_add_weighted)(columns *c, int64_t from, int64_t n) {
    NAME(plain_weighted)(c, from, n, 1, 1, weights, false);
}

#define FOUR                                                                                                           \
    (const REAL *const[4]) {                                                                                           \
        COLUMN(0) + from, COLUMN(1) + from, COLUMN(2) + from, COLUMN(3) + from                                         \
    }

static void NAME(add_weighted_four)(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->TABLE.add_weighted_four(c->y + from, weights, FOUR, n);
}

static void NAME(add_four)(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->TABLE.add_four(c->y + from, FOUR, weights, n);
}

static void NAME(plain_four)(columns *c, int64_t from, int64_t n) {
    NAME(plain_weighted)(c, from, n, 0, 3, weights, false);
}

static void NAME(add_square_four)(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->TABLE.add_square_four(c->y + from, FOUR, weights, n);
}

static void NAME(plain_square_four)(columns *c, int64_t from, int64_t n) {
    NAME(plain_weighted)(c, from, n, 0, 3, weights, true);
}

#undef FOUR

/* The places that they return are checked beside the other places. */
static void NAME(pass_one)(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    if (n > 0) {
        set->TABLE.pass_one(c->y + from, COLUMN(0) + from, weights[0], n);
    }
}

static void NAME(plain_pass_one)(columns *c, int64_t from, int64_t n) {
    NAME(plain_weighted)(c, from, n, 0, 0, weights, false);
}

static void NAME(pass_two)(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    if (n > 0) {
        set->TABLE.pass_two(c->y + from, COLUMN(0) + from, weights[0], COLUMN(1) + from, weights[1], n);
    }
}

static void NAME(plain_pass_two)(columns *c, int64_t from, int64_t n) {
    NAME(plain_weighted)(c, from, n, 0, 1, weights, false);
}

static void NAME(scale)(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->TABLE.scale(SCALED + from, NULL, n, weights[3]);
}

static void NAME(plain_scale)(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        SCALED[i] *= (REAL)weights[3];
    }
}

static void NAME(divide)(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->TABLE.scale(SCALED + from, POSITIVE + from, n, weights[3]);
}

static void NAME(plain_divide)(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        SCALED[i] = SCALED[i] * (REAL)weights[3] / POSITIVE[i];
        c->slack[i] = 2 * UNIT * fabs((double)SCALED[i]);
    }
}

/* --- places, and products of rows --- */

/* The place of the largest new entry: of many equal ones the first. */
static void NAME(check_passes)(const clv_kernel_set *set) {
    FOR_LENGTHS(n, 1) {
        for (int steps = 1; steps <= 50; steps += 7) {
            clv_rng rng = clv_rng_stream((uint64_t)n, (uint64_t)steps);
            REAL *a = NAME(drawn)(&rng, n, -steps, steps, true), *b = NAME(drawn)(&rng, n, -steps, steps, true);
            double *r = drawn_doubles(&rng, n, -steps, steps, true), *one = ROOM(double, n), *two = ROOM(double, n);
            int64_t first_one = 0, first_two = 0;
            for (int64_t i = 0; i < n; i++) {
                one[i] = r[i] + 0.5 * (double)a[i];
                two[i] = one[i] - 0.25 * (double)b[i];
                first_one = one[i] > one[first_one] ? i : first_one;
                first_two = two[i] > two[first_two] ? i : first_two;
            }
            double *q = ROOM(double, n);
            memcpy(q, r, (size_t)n * sizeof *r);
            kernel_name = "pass_one";
            expect_same((double)set->TABLE.pass_one(q, a, 0.5, n), (double)first_one, n, -1);
            expect(memcmp(q, one, (size_t)n * sizeof *q) == 0, "r differs", n, -1);
            kernel_name = "pass_two";
            expect_same((double)set->TABLE.pass_two(r, a, 0.5, b, -0.25, n), (double)first_two, n, -1);
            expect(memcmp(r, two, (size_t)n * sizeof *r) == 0, "r differs", n, -1);
            release();
        }
    }
}

/* x.r and x.x for rows of a matrix, by a list and from a first one on. */
static void NAME(check_rows)(const clv_kernel_set *set) {
    enum { ROWS = 7 };
    const int64_t list[] = {6, 0, 3, 3, 5};
    FOR_LENGTHS(n, 0) {
        for (int64_t count = 0; count <= 5; count++) {
            bool whole = n % 2;
            clv_rng rng = clv_rng_stream((uint64_t)n, (uint64_t)count);
            REAL *base = NAME(drawn)(&rng, ROWS * n, -9, 9, whole);
            double *r = drawn_doubles(&rng, n, -9, 9, whole), *out = ROOM(double, 4 * count);
            kernel_name = "dot_rows";
            set->TABLE.dot_rows(base, list, 0, count, n, r, out);
            set->TABLE.dot_rows(base, NULL, 2, count, n, r, out + count);
            double *both = ROOM(double, 4 * count);
            set->TABLE.dot_square_rows(base, list, 0, count, n, r, both, both + 2 * count);
            set->TABLE.dot_square_rows(base, NULL, 2, count, n, r, both + count, both + 3 * count);
            for (int64_t j = 0; j < 2 * count; j++) {
                const REAL *x = base + (j < count ? list[j] : 2 + j - count) * n;
                double product = 0, square = 0, size = 0;
                for (int64_t i = 0; i < n; i++) {
                    product += (double)x[i] * r[i];
                    size += fabs((double)x[i] * r[i]);
                    square += (double)x[i] * (double)x[i];
                }
                double slack = whole ? 0 : (double)(n + 1) * DBL_EPSILON;
                expect_near(out[j], product, slack * size, n, j);
                expect_near(both[j], product, slack * size, n, j);
                expect_near(both[2 * count + j], square, slack * square, n, j);
            }
            release();
        }
    }
}
