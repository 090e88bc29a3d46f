/* The tables of kernels; similarities, distances, reductions and columns against plain loops, in every set. */
#include "kernels_support.h"

/* --- tables --- */

/* A kernel that is missing would be found when it is called, and by then in front of a user. */
static void check_table(const clv_kernel_set *set) {
    void *members[sizeof *set / sizeof(void *)];
    assert_true(sizeof members == sizeof *set);
    memcpy(members, set, sizeof *set);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        expect(members[i] != NULL, "is NULL", (int64_t)(sizeof members / sizeof *members), (int64_t)i);
    }
    assert_true(set->name[0] != 0);
}
TEST_EACH_SET(table)

static void test_sets(void **state) {
    const clv_kernel_set *sets[CLV_KERNEL_SETS];
    int count = clv_kernel_sets(sets), chosen = 0;
    (void)state;
    assert_true(count >= 1 && count <= CLV_KERNEL_SETS);
    assert_string_equal(sets[0]->name, "baseline");
    for (int s = 0; s < count; s++) {
        chosen += clv_kernels == sets[s];
        assert_string_equal(clv_isa_name(s), sets[s]->name);
        for (int t = 0; t < s; t++) {
            assert_true(strcmp(sets[s]->name, sets[t]->name) != 0);
        }
    }
    assert_int_equal(chosen, 1);
    assert_string_equal(clv_isa(), clv_kernels->name);
    assert_true(clv_isa_name(-1) == NULL && clv_isa_name(count) == NULL);
}

/* --- elementwise kernels: cases with a plain loop each --- */

/* What a case may read and write, n of each; whatever it changes is compared. */
typedef struct columns {
    int64_t n;
    double *y, *x[4], *p; /* p: from 1/2 to 2 */
    float *u, *f[4], *q;  /* q: the same */
    int32_t *labels;      /* -1 to 4 */
    uint8_t *open;
    double *slack; /* how far y, u and q may be off; the plain loop says it */
} columns;

enum { OPEN_OR_NOT = 2 }; /* where rounding decides */

typedef struct column_case {
    const char *name;
    void (*kernel)(const clv_kernel_set *set, columns *c, int64_t from, int64_t n);
    void (*plain)(columns *c, int64_t from, int64_t n); /* NULL: only that splits change nothing */
    double low, high;                                   /* of y, x, u and f */
    bool whole;
    double most; /* of u, if not `high` */
} column_case;

static columns new_columns(const column_case *one, int64_t n) {
    clv_rng rng = clv_rng_stream((uint64_t)n, 1);
    columns c = {.n = n};
    c.y = drawn_doubles(&rng, n, one->low, one->high, one->whole);
    c.u = drawn_floats(&rng, n, one->low, one->most > 0 ? one->most : one->high, one->whole);
    for (int r = 0; r < 4; r++) {
        c.x[r] = drawn_doubles(&rng, n, one->low, one->high, one->whole);
        c.f[r] = drawn_floats(&rng, n, one->low, one->high, one->whole);
    }
    c.p = drawn_doubles(&rng, n, 0.5, 2, false);
    c.q = drawn_floats(&rng, n, 0.5, 2, false);
    c.labels = ROOM(int32_t, n);
    c.open = ROOM(uint8_t, n);
    c.slack = ROOM(double, n);
    for (int64_t i = 0; i < n; i++) {
        c.labels[i] = (int32_t)clv_rng_below(&rng, 6) - 1;
    }
    return c;
}

static void compare_columns(const columns *got, const columns *expected, int64_t n) {
    for (int64_t i = 0; i < got->n; i++) {
        expect_near(got->y[i], expected->y[i], expected->slack[i], n, i);
        expect_near((double)got->u[i], (double)expected->u[i], expected->slack[i], n, i);
        expect_near((double)got->q[i], (double)expected->q[i], expected->slack[i], n, i);
        expect(got->labels[i] == expected->labels[i], "another label", n, i);
        expect(expected->open[i] == OPEN_OR_NOT || got->open[i] == expected->open[i], "open or not", n, i);
    }
}

static bool same_bits(const columns *a, const columns *b) {
    size_t n = (size_t)a->n;
    return memcmp(a->y, b->y, n * sizeof *a->y) == 0 && memcmp(a->u, b->u, n * sizeof *a->u) == 0 &&
           memcmp(a->q, b->q, n * sizeof *a->q) == 0 && memcmp(a->labels, b->labels, n * sizeof *a->labels) == 0 &&
           memcmp(a->open, b->open, n) == 0;
}

static const double weights[4] = {0.3, -1.7, 0, 5};

#define REAL float
#define TABLE f32
#define NAME(x) x##_f32
#define drawn_f32 drawn_floats
#define COLUMN(r) c->f[r]
#define SCALED c->u
#define POSITIVE c->q
#define UNIT ((double)FLT_EPSILON)
#include "kernels_columns.h"
#undef REAL
#undef TABLE
#undef NAME
#undef COLUMN
#undef SCALED
#undef POSITIVE
#undef UNIT

#define REAL double
#define TABLE f64
#define NAME(x) x##_f64
#define drawn_f64 drawn_doubles
#define COLUMN(r) c->x[r]
#define SCALED c->y
#define POSITIVE c->p
#define UNIT DBL_EPSILON
#include "kernels_columns.h"

#define GAMMA 0.7

static void exp_nonpositive(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->exp_nonpositive(c->y + from, n);
}

/* exp(x) for an x that is off by so many units of itself. The kernel itself is off by 2. */
static void plain_exp(columns *c, int64_t i, double x, double units) {
    c->y[i] = x < -708 ? 0 : exp(x);
    c->slack[i] = (3 + units * fabs(x)) * DBL_EPSILON * c->y[i];
    if (fabs(x + 708) <= units * 708 * DBL_EPSILON) {
        c->slack[i] = exp(-707);
    }
}

static void plain_exp_nonpositive(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        plain_exp(c, i, c->y[i], 0);
    }
}

static void gaussian(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->gaussian(c->y + from, n, GAMMA);
}

static void plain_gaussian(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        plain_exp(c, i, -GAMMA * c->y[i], 1);
    }
}

static void exponential(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->exponential(c->y + from, n, 20 * GAMMA);
}

static void plain_exponential(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        plain_exp(c, i, -20 * GAMMA * sqrt(c->y[i]), 2);
    }
}

static void complement(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->complement(c->y + from, n, 20);
}

static void plain_complement(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        c->y[i] = fmax(20 - sqrt(c->y[i]), 0);
    }
}

static void square_root(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->square_root(c->y + from, n);
}

static void plain_square_root(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        c->y[i] = sqrt(c->y[i]);
    }
}

static void scale_pairs(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->scale_pairs(c->y + from, n, 0.7, c->x[0] + from);
}

static void plain_scale_pairs(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        double both = 0.7 * c->x[0][i];
        c->y[i] *= both;
    }
}

static void add_products(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->add_products(c->y + from, c->x[0] + from, c->x[1] + from, n);
}

static void plain_add_products(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        double term = c->x[0][i] * c->x[1][i];
        c->slack[i] = 2 * DBL_EPSILON * (fabs(c->y[i]) + fabs(term));
        c->y[i] += term;
    }
}

static void add_squares(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->add_squares(c->y + from, c->x[0] + from, 0.3, n);
}

static void plain_add_squares(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        double term = (c->x[0][i] - 0.3) * (c->x[0][i] - 0.3);
        c->slack[i] = 3 * DBL_EPSILON * (fabs(c->y[i]) + term);
        c->y[i] += term;
    }
}

static void widen(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->widen(c->y + from, c->f[0] + from, n);
}

static void plain_widen(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        c->y[i] = (double)c->f[0][i];
    }
}

static void narrow(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->narrow(c->u + from, c->x[0] + from, n);
}

static void plain_narrow(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        c->u[i] = (float)c->x[0][i];
    }
}

static void shrink(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->shrink(c->x[0] + from, n, 0.7, 1.3, c->y + from);
}

/* Of theta between 0 and 1 the lower two pieces meet, and the upper two: it does not matter to which one belongs. */
static void plain_shrink(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        double size = fabs(c->x[0][i]), theta = 0.7 * size - 1.3;
        double kept = theta >= 1 ? size / 2.3 : theta > 0 ? size - 1.3 / 0.7 : 0;
        c->y[i] = copysign(kept, c->x[0][i]);
        c->slack[i] = 4 * DBL_EPSILON * (size + 1.3 / 0.7);
    }
}

/* No entry is left out: `a` is infinite, as the largest number. */
static void shrink_all(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->shrink(c->x[0] + from, n, DBL_MAX, 1, c->y + from);
}

static void plain_shrink_all(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        c->y[i] = c->x[0][i] / 2;
    }
}

static float moved[] = {0.5f, 0, 0.01f, 2, 0.1f}, others[] = {0.1f, 0.2f, 0.01f, 0, 3}, apart[] = {1, 5, 9, 0, 2},
             reach[] = {2, 5, 12, 30, 4};
static const clv_slack slack = {moved, others, apart, reach, 0.01f, 0.05f};

static void loosen(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->loosen(&slack, c->labels + from, n, c->u + from, c->q + from, c->open + from);
}

static void plain_loosen(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        int32_t l = c->labels[i] < 0 ? 0 : c->labels[i];
        double up = ((double)c->u[i] + (double)moved[l]) * (1 + CLV_LOOSE);
        double low = (double)c->q[i] - (double)others[l], rest = (double)c->q[i] - (double)slack.rest;
        low = fmax(low, fmax(fmin(rest, (double)reach[l] - up), (double)apart[l] - up)) * (1 - CLV_LOOSE);
        rest = fmax(rest * (1 - CLV_LOOSE), 0);
        double gap = (low - up) * (low + up), size = fabs(low) + up + (double)(apart[l] + reach[l]) + (double)c->q[i];
        c->slack[i] = 4 * (double)FLT_EPSILON * (size + (double)(moved[l] + others[l]));
        c->open[i] = !(c->labels[i] >= 0 && low > up && gap > (double)slack.gap);
        if (c->labels[i] >= 0 && fabs(gap - (double)slack.gap) <= 16 * (double)FLT_EPSILON * size * size) {
            c->open[i] = OPEN_OR_NOT;
            c->slack[i] += fabs(low - rest);
        }
        c->u[i] = (float)up;
        c->q[i] = (float)(c->open[i] ? rest : low);
    }
}

/* Whole numbers, so that ties are ties: these change nothing. */
static const clv_slic_center slic_center = {{3, -2, 1}, 31, 5};

static void slic_row(const clv_kernel_set *set, columns *c, int64_t from, int64_t n) {
    set->slic_row((const float *const[3]){c->f[0] + from, c->f[1] + from, c->f[2] + from}, n, (float)(20 + from), 9,
                  &slic_center, 0.25f, 7, c->u + from, c->labels + from);
}

static void plain_slic_row(columns *c, int64_t from, int64_t n) {
    for (int64_t i = from; i < from + n; i++) {
        float across = (float)(20 + i) - slic_center.x, down = 9 - slic_center.y;
        float distance = 0.25f * (across * across + down * down);
        for (int color = 0; color < 3; color++) {
            float difference = c->f[color][i] - slic_center.color[color];
            distance += difference * difference;
        }
        if (distance < c->u[i]) {
            c->u[i] = distance;
            c->labels[i] = 7;
        }
    }
}

#define REAL_CASE(name, plain)                                                                                         \
    {#name " (f32)", name##_f32, plain##_f32, -1, 1, false, 0}, {                                                      \
#name " (f64)", name##_f64, plain##_f64, -1, 1, false, 0                                                       \
    }

static const column_case column_cases[] = {
    REAL_CASE(accumulate, plain_accumulate),
    REAL_CASE(deduct, plain_deduct),
    REAL_CASE(accumulate_four, plain_accumulate_four),
    REAL_CASE(add_weighted, plain_add_weighted),
    REAL_CASE(add_weighted_four, plain_four),
    REAL_CASE(add_four, plain_four),
    REAL_CASE(add_square_four, plain_square_four),
    REAL_CASE(pass_one, plain_pass_one),
    REAL_CASE(pass_two, plain_pass_two),
    REAL_CASE(scale, plain_scale),
    REAL_CASE(divide, plain_divide),
    {"exp_nonpositive", exp_nonpositive, plain_exp_nonpositive, -750, 0, false, 0},
    {"exp_nonpositive near 0", exp_nonpositive, plain_exp_nonpositive, -1e-3, 0, false, 0},
    {"gaussian", gaussian, plain_gaussian, 0, 1050, false, 0},
    {"gaussian of whole numbers", gaussian, plain_gaussian, 0, 5, true, 0},
    {"exponential", exponential, plain_exponential, 0, 2600, false, 0},
    {"complement", complement, plain_complement, 0, 500, false, 0},
    {"square_root", square_root, plain_square_root, 0, 10, false, 0},
    {"scale_pairs", scale_pairs, plain_scale_pairs, 0, 10, false, 0},
    {"add_products", add_products, plain_add_products, -1, 1, false, 0},
    {"add_squares", add_squares, plain_add_squares, -1, 1, false, 0},
    {"widen", widen, plain_widen, -1, 1, false, 0},
    {"narrow", narrow, plain_narrow, -1, 1, false, 0},
    {"narrow far out", narrow, plain_narrow, -1e39, 1e39, false, 0},
    {"shrink", shrink, plain_shrink, -5, 5, false, 0},
    {"shrink to half", shrink_all, plain_shrink_all, -5, 5, true, 0},
    {"loosen", loosen, plain_loosen, 0, 1, false, 0},
    {"slic_row", slic_row, plain_slic_row, -5, 5, true, 200},
    {"slic_row of reals", slic_row, NULL, -5, 5, false, 200},
};

enum { COLUMN_CASES = sizeof column_cases / sizeof *column_cases };

static void check_columns(const clv_kernel_set *set) {
    const int64_t starts[] = {0, 1, 3};
    for (const column_case *one = column_cases; one < column_cases + COLUMN_CASES; one++) {
        kernel_name = one->name;
        FOR_LENGTHS(n, 0) {
            for (int s = 0; s < 3 && one->plain; s++) {
                columns got = new_columns(one, starts[s] + n), expected = new_columns(one, starts[s] + n);
                one->kernel(set, &got, starts[s], n);
                one->plain(&expected, starts[s], n);
                compare_columns(&got, &expected, n);
                release();
            }
        }
    }
}
TEST_EACH_SET(columns)

/* Blocks of one thread and blocks of another: where a call is split changes no bit. */
static void check_splits(const clv_kernel_set *set) {
    enum { LENGTH = 83 };
    for (const column_case *one = column_cases; one < column_cases + COLUMN_CASES; one++) {
        kernel_name = one->name;
        columns whole = new_columns(one, LENGTH);
        one->kernel(set, &whole, 0, LENGTH);
        for (int64_t step = 1; step < LENGTH; step++) {
            int held = blocks_held;
            columns parts = new_columns(one, LENGTH);
            for (int64_t from = 0; from < LENGTH; from += step) {
                one->kernel(set, &parts, from, from + step < LENGTH ? step : LENGTH - from);
            }
            expect(same_bits(&whole, &parts), "splits change bits", LENGTH, step);
            while (blocks_held > held) {
                free(blocks[--blocks_held]);
            }
        }
        release();
    }
}
TEST_EACH_SET(splits)

/* Four weighted rows at once are four calls for one, bit for bit; doubles and floats. */
static void check_four(const clv_kernel_set *set) {
    const column_case all = {.low = -1, .high = 1};
    FOR_LENGTHS(n, 0) {
        columns four = new_columns(&all, n), ones = new_columns(&all, n);
        kernel_name = "add_weighted_four (f64)";
        add_weighted_four_f64(set, &four, 0, n);
        for (int r = 0; r < 4; r++) {
            set->f64.add_weighted(ones.y, weights[r], ones.x[r], n);
        }
        expect(same_bits(&four, &ones), "differs from four calls", n, -1);
        kernel_name = "add_weighted_four (f32)";
        add_weighted_four_f32(set, &four, 0, n);
        for (int r = 0; r < 4; r++) {
            set->f32.add_weighted(ones.y, weights[r], ones.f[r], n);
        }
        expect(same_bits(&four, &ones), "differs from four calls", n, -1);
        release();
    }
}
TEST_EACH_SET(four)

TEST_EACH_SET(passes_f32)
TEST_EACH_SET(passes_f64)
TEST_EACH_SET(rows_f32)
TEST_EACH_SET(rows_f64)

/* --- similarities: what the header says of exp --- */

static void check_exp(const clv_kernel_set *set) {
    kernel_name = "exp_nonpositive";
    for (int scale = -60; scale <= 9; scale++) {
        enum { N = 1003 };
        clv_rng rng = clv_rng_stream((uint64_t)(scale + 100), 0);
        double *x = drawn_doubles(&rng, N, -ldexp(1, scale), 0, false), *y = ROOM(double, N);
        memcpy(y, x, N * sizeof *x);
        set->exp_nonpositive(y, N);
        for (int i = 0; i < N; i++) {
            double expected = exp(x[i]);
            expect_near(y[i], expected, 2 * (nextafter(expected, HUGE_VAL) - expected), N, i);
        }
        release();
    }
    double edges[] = {0, -0.0, -707.99, -708.5, -745, -1e6, -HUGE_VAL};
    set->exp_nonpositive(edges, 7);
    expect(edges[0] == 1 && edges[1] == 1, "exp(0) is not 1", 7, 0);
    expect_near(edges[2], exp(-707.99), 2 * DBL_EPSILON * exp(-707.99), 7, 2);
    for (int i = 3; i < 7; i++) {
        expect_same(edges[i], 0, 7, i);
    }
}
TEST_EACH_SET(exp)

/* --- reductions --- */

static void check_sums(const clv_kernel_set *set) {
    const clv_kernel_set *sets[CLV_KERNEL_SETS];
    clv_kernel_sets(sets);
    FOR_LENGTHS(n, 0) {
        for (int64_t start = 0; start < 4; start++) {
            bool whole = start % 2;
            clv_rng rng = clv_rng_stream((uint64_t)n, (uint64_t)start);
            double *x = drawn_doubles(&rng, start + n, -9, 9, whole) + start;
            double *y = drawn_doubles(&rng, start + n, -9, 9, whole) + start;
            double sum = 0, product = 0, size = 0, product_size = 0;
            for (int64_t i = 0; i < n; i++) {
                sum += x[i];
                size += fabs(x[i]);
                product += x[i] * y[i];
                product_size += fabs(x[i] * y[i]);
            }
            double unit = whole ? 0 : (double)(n + 1) * DBL_EPSILON;
            kernel_name = "sum";
            expect_near(set->sum(x, n), sum, unit * size, n, start);
            expect_same(set->sum(x, n), sets[0]->sum(x, n), n, start); /* one order of additions for all sets */
            kernel_name = "dot";
            expect_near(set->dot(x, y, n), product, unit * product_size, n, start);
            release();
        }
    }
}
TEST_EACH_SET(sums)

/* With few values the largest is there many times: the first place counts. */
static void check_extremes(const clv_kernel_set *set) {
    FOR_LENGTHS(n, 0) {
        for (int64_t values = 1; values <= 1000; values *= 10) {
            clv_rng rng = clv_rng_stream((uint64_t)n, (uint64_t)values);
            double *x = drawn_doubles(&rng, n + 1, -(double)values, -1, true) + 1; /* below 0: no lane may hold a 0 */
            double most = -HUGE_VAL, least = HUGE_VAL;
            int64_t first = 0;
            for (int64_t i = 0; i < n; i++) {
                first = x[i] > most ? i : first;
                most = fmax(most, x[i]);
                least = fmin(least, x[i]);
            }
            kernel_name = "largest";
            expect_same(set->largest(x, n), most, n, -1);
            kernel_name = "place_of_largest";
            expect(n == 0 || set->place_of_largest(x, n) == first, "not the first", n, first);
            for (int64_t i = 0; i < n; i++) {
                x[i] = -x[i];
            }
            kernel_name = "smallest";
            expect_same(set->smallest(x, n), -most, n, -1);
            kernel_name = "largest";
            expect_same(set->largest(x, n), -least, n, -1);
            release();
        }
    }
}
TEST_EACH_SET(extremes)

/* Each place in turn: no lane and no tail is forgotten. */
static void check_places(const clv_kernel_set *set) {
    enum { MOST = 140 };
    double x[MOST];
    int32_t at[MOST];
    float f[MOST];
    for (int64_t n = 1; n <= MOST; n++) {
        for (int64_t place = 0; place < n; place++) {
            for (int64_t i = 0; i < n; i++) {
                x[i] = i == place ? -1 : -2;
                f[i] = i == place ? -2 : 1;
                at[i] = (int32_t)(n - 1 - i);
            }
            kernel_name = "largest";
            expect_same(set->largest(x, n), -1, n, place);
            kernel_name = "place_of_largest";
            expect_same((double)set->place_of_largest(x, n), (double)place, n, place);
            kernel_name = "count_above";
            expect_same((double)set->count_above(f, n, 1.5f), 1, n, place);
            x[place] = -3;
            kernel_name = "smallest";
            expect_same(set->smallest(x, n), -3, n, place);
            kernel_name = "place_of_least";
            expect_same((double)set->place_of_least(x, at, n), (double)(n - 1 - place), n, place);
        }
    }
}
TEST_EACH_SET(places)

/* Few values, so that there are equals; some rows without a share. */
static void check_steepest(const clv_kernel_set *set) {
    kernel_name = "steepest";
    FOR_LENGTHS(n, 1) {
        for (int64_t values = 1; values <= 1000; values *= 10) {
            clv_rng rng = clv_rng_stream((uint64_t)n, (uint64_t)values);
            double *g = drawn_doubles(&rng, n + 1, -(double)values, -1, true) + 1;
            double *w = drawn_doubles(&rng, n + 1, values == 10 ? 0 : -1, values == 10 ? 0 : 1, true) + 1;
            double along = 0, size = 0;
            int64_t gainer = 0, loser = -1;
            for (int64_t i = 0; i < n; i++) {
                w[i] = fmax(w[i], 0);
                along += g[i] * w[i];
                size += fabs(g[i] * w[i]);
                gainer = g[i] < g[gainer] ? i : gainer;
                loser = w[i] > 0 && (loser < 0 || g[i] > g[loser]) ? i : loser;
            }
            clv_steepest found;
            set->steepest(g, w, n, &found);
            expect(found.gainer == gainer && found.loser == loser, "not the first", n, gainer);
            expect_near(found.gap, along - g[gainer], 1e-14 * (size + (double)values), n, values);
            release();
        }
    }
}
TEST_EACH_SET(steepest)

static void check_place_of_least(const clv_kernel_set *set) {
    enum { ENTRIES = 50 };
    kernel_name = "place_of_least";
    FOR_LENGTHS(count, 1) {
        for (int values = 1; values <= 1000; values *= 10) {
            clv_rng rng = clv_rng_stream((uint64_t)count, (uint64_t)values);
            double *r = drawn_doubles(&rng, ENTRIES, -values, values, true);
            int32_t *at = ROOM(int32_t, count);
            int64_t first = 0;
            for (int64_t t = 0; t < count; t++) {
                at[t] = (int32_t)clv_rng_below(&rng, ENTRIES);
                first = r[at[t]] < r[at[first]] ? t : first;
            }
            expect_same((double)set->place_of_least(r, at, count), (double)first, count, -1);
            release();
        }
    }
}
TEST_EACH_SET(place_of_least)

static void check_count_above(const clv_kernel_set *set) {
    kernel_name = "count_above";
    FOR_LENGTHS(n, 0) {
        clv_rng rng = clv_rng_stream((uint64_t)n, 0);
        float *x = drawn_floats(&rng, n + 1, -9, 9, true) + 1;
        for (int bar = 0; bar <= 10; bar++) {
            int64_t count = 0;
            for (int64_t i = 0; i < n; i++) {
                count += fabs((double)x[i]) >= bar;
            }
            expect_same((double)set->count_above(x, n, (float)bar), (double)count, n, bar);
        }
        release();
    }
}
TEST_EACH_SET(count_above)

/* One entry that is not as the others are, wherever it is; a few that are just allowed. */
static void check_all_alike(const clv_kernel_set *set) {
    static const double odd[][3] = {{1, 1, 1},         {1, 1.25, 1},
                                    {1, 1.26, 0},      {-1, -1, 1},
                                    {-2, -2, 0},       {0, 0, 1},
                                    {-1, -2, 0},       {DBL_MAX, DBL_MAX, 1},
                                    {NAN, 1, 0},       {1, NAN, 0},
                                    {NAN, NAN, 0},     {HUGE_VAL, 1, 0},
                                    {1, HUGE_VAL, 0},  {HUGE_VAL, HUGE_VAL, 0},
                                    {-HUGE_VAL, 1, 0}, {1, -HUGE_VAL, 0}};
    kernel_name = "all_alike";
    FOR_LENGTHS(n, 0) {
        double *x = ROOM(double, n + 1) + 1, *y = ROOM(double, n + 1) + 1;
        for (int64_t i = 0; i < n; i++) {
            x[i] = y[i] = (double)i - 1;
        }
        expect(set->all_alike(x, y, n, -1, 0.2), "nothing is wrong", n, -1);
        for (int64_t i = 0; i < n; i++) {
            for (size_t v = 0; v < sizeof odd / sizeof odd[0]; v++) {
                x[i] = odd[v][0];
                y[i] = odd[v][1];
                expect_same(set->all_alike(x, y, n, -1, 0.2), odd[v][2], n, i);
            }
            x[i] = y[i] = (double)i - 1;
        }
        release();
    }
}
TEST_EACH_SET(all_alike)

/* --- distances --- */

/* Of an object of the left panel to all of the right one, whose row of the tile is `tile`; to the first `row` of them
 * as pairs: one call for each number of pairs. */
static void compare_line(const clv_kernel_set *set, const double *left, const double *right, int64_t p, int64_t row,
                         const double *tile, bool whole) {
    double line[CLV_TILE] __attribute__((aligned(CLV_LINE))), pairs[CLV_TILE];
    const double *lefts[CLV_TILE], *rights[CLV_TILE];
    for (int64_t c = 0; c < CLV_TILE; c++) {
        lefts[c] = left;
        rights[c] = right + c;
    }
    pairs[row] = -1;
    set->pair_distances(lefts, rights, row, p, pairs);
    kernel_name = "pair_distances";
    expect_same(pairs[row], -1, p, row * CLV_TILE + row);
    set->distance_line(left, right, p, line);
    for (int64_t c = 0; c < CLV_TILE; c++) {
        double sum = 0;
        for (int64_t f = 0; f < p; f++) {
            double difference = left[f * CLV_TILE] - right[f * CLV_TILE + c];
            sum += difference * difference;
        }
        double some = whole || sum == 0 ? 0 : (double)(p + 2) * DBL_EPSILON * sum;
        kernel_name = "pair_distances";
        expect_near(c < row ? pairs[c] : sum, sum, some, p, row * CLV_TILE + c);
        kernel_name = "distance_tile";
        expect_near(tile[c], sum, some, p, row * CLV_TILE + c);
        kernel_name = "distance_line";
        expect_near(line[c], sum, some, p, row * CLV_TILE + c);
        kernel_name = "distance";
        expect_near(set->distance(left, right + c, p), sum, some, p, row * CLV_TILE + c);
    }
}

/* Two panels, far from the origin: no digit may be lost. Object 5 of the left one is object 9 of the right one. */
static void compare_panels(const clv_kernel_set *set, int64_t p, bool whole) {
    clv_rng rng = clv_rng_stream((uint64_t)p, 3);
    double *left = drawn_doubles(&rng, p * CLV_TILE, 1000, whole ? 1100 : 1001, whole);
    double *right = drawn_doubles(&rng, p * CLV_TILE, 1000, whole ? 1100 : 1001, whole);
    double *tile = ROOM(double, CLV_TILE *CLV_TILE);
    for (int64_t f = 0; f < p; f++) {
        right[f * CLV_TILE + 9] = left[f * CLV_TILE + 5];
    }
    for (int i = 0; i < CLV_TILE * CLV_TILE; i++) {
        tile[i] = -1;
    }
    set->distance_tile(left, right, p, tile);
    for (int64_t r = 0; r < CLV_TILE; r++) {
        compare_line(set, left + r, right, p, r, tile + r * CLV_TILE, whole);
    }
    expect_same(tile[5 * CLV_TILE + 9], 0, p, 0);
    release();
}

static void check_distances(const clv_kernel_set *set) {
    const int64_t longer[] = {127, 128, 129, 130, 191, 193, 257};
    for (int64_t p = 0; p <= 70; p++) {
        compare_panels(set, p, false);
        compare_panels(set, p, true);
    }
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        compare_panels(set, longer[i], i % 2);
    }
}
TEST_EACH_SET(distances)

/* Whole numbers, so that the sums are exact; any number of rows, some of them twice. */
static void check_row_distances(const clv_kernel_set *set) {
    enum { ROWS = 20, MOST = 300 };
    kernel_name = "row_distances";
    for (int64_t stride = CLV_ROW_PAD; stride <= MOST; stride += stride < 40 ? CLV_ROW_PAD : 13 * CLV_ROW_PAD) {
        clv_rng rng = clv_rng_stream((uint64_t)stride, 4);
        double *rows = drawn_doubles(&rng, ROWS * stride, -100, 100, true);
        int32_t which[ROWS];
        for (int64_t count = 0; count <= ROWS; count++) {
            double *out = ROOM(double, ROWS + 1);
            for (int64_t t = 0; t < count; t++) {
                which[t] = (int32_t)((7 * t + count) % (ROWS - 2));
            }
            out[count] = -1;
            set->row_distances(rows + stride, rows, stride, which, count, out);
            for (int64_t t = 0; t < count; t++) {
                double sum = 0;
                for (int64_t f = 0; f < stride; f++) {
                    double difference = rows[stride + f] - rows[which[t] * stride + f];
                    sum += difference * difference;
                }
                expect_same(out[t], sum, count, t);
            }
            expect_same(out[count], -1, count, count);
        }
        release();
    }
}
TEST_EACH_SET(row_distances)

static void check_transpose(const clv_kernel_set *set) {
    double *tile = ROOM(double, CLV_TILE *CLV_TILE), *out = ROOM(double, CLV_TILE *CLV_TILE);
    for (int i = 0; i < CLV_TILE * CLV_TILE; i++) {
        tile[i] = i;
    }
    kernel_name = "transpose_tile";
    set->transpose_tile(out, tile);
    for (int64_t r = 0; r < CLV_TILE; r++) {
        for (int64_t c = 0; c < CLV_TILE; c++) {
            expect_same(out[c * CLV_TILE + r], tile[r * CLV_TILE + c], CLV_TILE, r * CLV_TILE + c);
        }
    }
    release();
}
TEST_EACH_SET(transpose)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),      cmocka_unit_test(test_sets),           cmocka_unit_test(test_columns),
        cmocka_unit_test(test_splits),     cmocka_unit_test(test_four),           cmocka_unit_test(test_passes_f32),
        cmocka_unit_test(test_passes_f64), cmocka_unit_test(test_rows_f32),       cmocka_unit_test(test_rows_f64),
        cmocka_unit_test(test_exp),        cmocka_unit_test(test_sums),           cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_places),     cmocka_unit_test(test_place_of_least), cmocka_unit_test(test_count_above),
        cmocka_unit_test(test_all_alike),  cmocka_unit_test(test_distances),      cmocka_unit_test(test_row_distances),
        cmocka_unit_test(test_transpose),  cmocka_unit_test(test_steepest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
