/* The reduction of sparse matrices, checked by what defines it: orthonormal axes, coordinates on them, X'X v = s^2 v
 * recomputed from the entries, and the s being the largest of all, by LAPACK on the full matrix. */
#include "io_support.h"

#include <math.h>

/* rows x cols with about `per_row` entries per row, of a few hidden directions and noise. */
static clv_data *draw(int64_t rows, int64_t cols, int64_t per_row, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    clv_data *data;
    clv_entry *entries = malloc((size_t)(rows * per_row) * sizeof *entries);
    assert_non_null(entries);
    for (int64_t e = 0; e < rows * per_row; e++) {
        int64_t row = e / per_row;
        entries[e] =
            (clv_entry){(int32_t)row, (int32_t)clv_rng_below(&rng, cols), clv_rng_normal(&rng) + (double)(row % 5)};
    }
    assert_ok(clv_csr_from_entries(ctx, "x", rows, cols, entries, rows * per_row, &data));
    free(entries);
    return data;
}

/* X filled, less the means of its columns if `center`; from malloc. */
static double *fill(const clv_matrix *m, int center) {
    double *x = malloc((size_t)(m->rows * m->cols) * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < m->rows; i++) {
        clv_matrix_row(m, i, x + i * m->cols);
    }
    for (int64_t j = 0; center && j < m->cols; j++) {
        double sum = 0;
        for (int64_t i = 0; i < m->rows; i++) {
            sum += x[i * m->cols + j];
        }
        for (int64_t i = 0; i < m->rows; i++) {
            x[i * m->cols + j] -= sum / (double)m->rows;
        }
    }
    return x;
}

static double product(const double *a, const double *b, int64_t n, int64_t step) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += a[i] * b[i * step];
    }
    return sum;
}

/* All singular values, largest first, from the eigenvalues of the full X'X or X X'; from malloc. */
static double *all_values(const double *x, int64_t rows, int64_t cols, int64_t *count) {
    int64_t n = rows < cols ? rows : cols, other = rows < cols ? cols : rows;
    double *gram = calloc((size_t)(n * n), sizeof *gram), *values = malloc((size_t)n * sizeof *values);
    assert_true(gram && values);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < other; k++) {
            double a = rows < cols ? x[i * cols + k] : x[k * cols + i];
            for (int64_t j = 0; a != 0 && j < n; j++) {
                gram[i * n + j] += a * (rows < cols ? x[j * cols + k] : x[k * cols + j]);
            }
        }
    }
    assert_ok(clv_eigen_dense(ctx, gram, n, values));
    for (int64_t i = 0; i < n / 2; i++) {
        double swap = values[i];
        values[i] = values[n - 1 - i];
        values[n - 1 - i] = swap;
    }
    free(gram);
    *count = n;
    return values;
}

static void check(const clv_matrix *m, const clv_reduce_options *o) {
    clv_data *points, *axes;
    int64_t n = m->rows, p = m->cols, d = o->dims, count;
    double *s = malloc((size_t)d * sizeof *s), *x = fill(m, o->center);
    assert_ok(clv_reduce(ctx, m, o, &points, &axes, s));
    const double *y = clv_data_matrix(points)->values, *v = clv_data_matrix(axes)->values;
    double *truth = all_values(x, n, p, &count);
    assert_true(clv_data_matrix(points)->rows == n && clv_data_matrix(points)->cols == d);
    for (int64_t c = 0; c < d; c++) {
        double expected = sqrt(fmax(truth[c], 0));
        assert_true(fabs(s[c] - expected) <= 1e-7 * sqrt(truth[0]) + 1e-12);
        for (int64_t b = 0; b <= c && s[c] > 0; b++) {
            assert_true(fabs(product(v + b * p, v + c * p, p, 1) - (b == c)) < 1e-8);
        }
        double largest = 0;
        for (int64_t j = 0; j < p; j++) {
            largest = fabs(v[c * p + j]) > fabs(largest) ? v[c * p + j] : largest;
        }
        assert_true(largest > 0 || s[c] == 0);
        for (int64_t i = 0; i < n; i++) { /* coordinates are projections */
            assert_true(fabs(y[i * d + c] - product(x + i * p, v + c * p, p, 1)) <= 1e-6 * s[0]);
        }
        for (int64_t j = 0; j < p; j++) { /* X' (X v) = s^2 v */
            double sum = 0;
            for (int64_t i = 0; i < n; i++) {
                sum += x[i * p + j] * y[i * d + c];
            }
            assert_true(fabs(sum - s[c] * s[c] * v[c * p + j]) <= 1e-5 * s[0] * s[0]);
        }
    }
    free(truth);
    free(x);
    free(s);
    clv_data_free(points);
    clv_data_free(axes);
}

static void test_by_definition(void **state) {
    (void)state;
    static const int64_t shapes[][3] = {{40, 25, 6}, {25, 40, 8}, {700, 500, 12}, {450, 900, 20}, {1, 5, 3}, {5, 1, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        clv_data *data = draw(shapes[i][0], shapes[i][1], shapes[i][2], i);
        clv_reduce_options o;
        clv_reduce_defaults(&o);
        o.threads = 2;
        o.dims = shapes[i][0] > 5 && shapes[i][1] > 5 ? 9 : 1;
        for (o.center = 0; o.center < 2; o.center++) {
            check(clv_data_matrix(data), &o);
        }
        clv_data_free(data);
    }
}

/* Rank 2: what is beyond is zero, not noise. */
static void test_rank(void **state) {
    (void)state;
    clv_entry entries[120];
    for (int e = 0; e < 120; e++) {
        int row = e / 4;
        entries[e] = (clv_entry){row, (row % 2) * 4 + e % 4, 1.0 + e % 4};
    }
    clv_data *data, *points, *axes;
    double values[4];
    clv_reduce_options o;
    clv_reduce_defaults(&o);
    o.dims = 4;
    assert_ok(clv_csr_from_entries(ctx, "x", 30, 8, entries, 120, &data));
    assert_ok(clv_reduce(ctx, clv_data_matrix(data), &o, &points, &axes, values));
    assert_true(fabs(values[0] * values[0] - 15.0 * 30) < 1e-9 && fabs(values[1] * values[1] - 15.0 * 30) < 1e-9);
    assert_true(values[2] == 0 && values[3] == 0);
    for (int64_t i = 0; i < 30; i++) {
        const double *row = (const double *)clv_data_matrix(points)->values + 4 * i;
        assert_true(row[2] == 0 && row[3] == 0);
        assert_true(fabs(row[0] * row[0] + row[1] * row[1] - 30) < 1e-9);
    }
    clv_data_free(data);
    clv_data_free(points);
    clv_data_free(axes);
}

static void test_threads_and_seeds(void **state) {
    (void)state;
    clv_data *data = draw(900, 600, 15, 77), *points[3];
    clv_reduce_options o;
    clv_reduce_defaults(&o);
    o.dims = 6;
    for (int run = 0; run < 3; run++) {
        o.threads = run == 1 ? 3 : 1;
        o.seed = run == 2 ? 5 : 1;
        assert_ok(clv_reduce(ctx, clv_data_matrix(data), &o, &points[run], NULL, NULL));
    }
    const double *one = clv_data_matrix(points[0])->values, *other = clv_data_matrix(points[2])->values;
    assert_memory_equal(one, clv_data_matrix(points[1])->values, 900 * 6 * sizeof *one);
    for (int64_t e = 0; e < 900; e++) { /* the first column is far from the others */
        assert_true(fabs(one[6 * e] - other[6 * e]) < 1e-6);
    }
    for (int run = 0; run < 3; run++) {
        clv_data_free(points[run]);
    }
    clv_data_free(data);
}

/* What is held stays within the forecast, which is not far off, by Lanczos and by LAPACK; a budget below it is refused.
 */
static void test_memory(void **state) {
    static const int64_t cases[][3] = {{900, 1500, 10}, {1500, 900, 60}, {700, 1000, 400}, {120, 3000, 100}};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const int64_t *size = cases[i / 2];
        clv_context *outer = ctx;
        size_t held, before, now, peak;
        assert_ok(clv_context_new(NULL, &ctx)); /* with a peak of its own */
        clv_data *data = draw(size[0], size[1], 12, i), *points;
        clv_reduce_options o;
        clv_reduce_defaults(&o);
        o.dims = size[2];
        o.center = i % 2;
        o.threads = 2;
        clv_context_memory(ctx, &held, &before);
        size_t forecast = clv_reduce_memory(clv_data_matrix(data), &o);
        assert_ok(clv_reduce(ctx, clv_data_matrix(data), &o, &points, NULL, NULL));
        clv_context_memory(ctx, &now, &peak);
        assert_true(peak <= held + forecast + 4096); /* and the headers of blocks */
        assert_true(peak - held >= forecast / 2);
        clv_data_free(points);
        o.memory = (int64_t)(held + forecast - 1);
        assert_refused(clv_reduce(ctx, clv_data_matrix(data), &o, &points, NULL, NULL), CLV_ENOMEM, "budget", NULL);
        assert_null(points);
        clv_data_free(data);
        clv_context_free(ctx);
        ctx = outer;
    }
}

static void test_refused(void **state) {
    (void)state;
    clv_data *data = draw(10, 6, 2, 1), *points;
    double dense[4] = {1, 2, 3, 4};
    clv_reduce_options o;
    clv_reduce_defaults(&o);
    assert_refused(clv_reduce(ctx, clv_data_matrix(data), &o, &points, NULL, NULL), CLV_EUSAGE, "dims = 20", "10 x 6",
                   NULL);
    o.dims = 1;
    assert_refused(clv_reduce(ctx, &(clv_matrix){2, 2, CLV_F64, dense, NULL, NULL}, &o, &points, NULL, NULL),
                   CLV_EUSAGE, "dense", NULL);
    ((double *)data->values)[3] = INFINITY;
    assert_int_equal(clv_reduce(ctx, clv_data_matrix(data), &o, &points, NULL, NULL), CLV_EDATA);
    clv_data_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_by_definition, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_rank, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_threads_and_seeds, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_memory, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_refused, open_context, close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
