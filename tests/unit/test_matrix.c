/* Owned matrices and scaling, against the definitions. */
#include "io_support.h"

#include <math.h>

static clv_data *make_dense(int64_t rows, int64_t cols, const double *values, clv_scalar scalar) {
    clv_data *data;
    assert_ok(clv_data_new_dense(ctx, "points", rows, cols, scalar, &data));
    for (int64_t i = 0; i < rows * cols; i++) {
        if (scalar == CLV_F32) {
            ((float *)data->values)[i] = (float)values[i];
        } else {
            ((double *)data->values)[i] = values[i];
        }
    }
    return data;
}

/* 2 x 3: rows (0, 3, 0) and (4, 0, -4). */
static clv_data *make_sparse(void) {
    static const double values[] = {3, 4, -4};
    static const int32_t columns[] = {1, 0, 2};
    clv_data *data;
    assert_ok(clv_data_new_csr(ctx, "points", 2, 3, 3, &data));
    memcpy(data->values, values, sizeof values);
    memcpy(data->index, columns, sizeof columns);
    assert_int_equal(data->start[0], 0);
    data->start[1] = 1;
    data->start[2] = 3;
    return data;
}

static double entry(const clv_data *data, int64_t i, int64_t j) {
    double row[64];
    clv_matrix_row(clv_data_matrix(data), i, row);
    return row[j];
}

static void test_row(void **state) {
    (void)state;
    double row[3];
    clv_data *sparse = make_sparse();
    clv_matrix_row(clv_data_matrix(sparse), 1, row);
    assert_true(row[0] == 4 && row[1] == 0 && row[2] == -4);
    clv_data *single = make_dense(2, 3, (double[]){1, 2, 3, 4, 5, 6.5}, CLV_F32);
    clv_matrix_row(clv_data_matrix(single), 1, row);
    assert_true(row[0] == 4 && row[1] == 5 && row[2] == 6.5);
    assert_null(clv_data_labels(single));
    assert_false(clv_data_is_mapped(single));
    clv_data_free(sparse);
    clv_data_free(single);
    clv_data_free(NULL);
}

enum { ROWS = 41, COLS = 4 };

/* Columns of different kinds: usual, far from zero, constant, tiny. */
static void fill(double *values) {
    clv_rng rng = clv_rng_stream(7, 0);
    for (int64_t i = 0; i < ROWS; i++) {
        values[i * COLS] = clv_rng_normal(&rng);
        values[i * COLS + 1] = 1e6 + clv_rng_normal(&rng);
        values[i * COLS + 2] = 0.1;
        values[i * COLS + 3] = 1e-200 * clv_rng_normal(&rng);
    }
}

/* Mean and population deviation by the definition, in extended precision. */
static void moments(const clv_data *data, int64_t j, long double *mean, long double *deviation) {
    *mean = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        *mean += (long double)entry(data, i, j) / ROWS;
    }
    *deviation = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        long double d = (long double)entry(data, i, j) - *mean;
        *deviation += d * d / ROWS;
    }
    *deviation = sqrtl(*deviation);
}

static void check_standard(clv_scalar scalar, double tolerance) {
    double values[ROWS * COLS];
    fill(values);
    clv_data *before = make_dense(ROWS, COLS, values, scalar);
    clv_data *after = make_dense(ROWS, COLS, values, scalar);
    assert_ok(clv_data_scale(after, CLV_SCALE_STANDARD));
    assert_int_equal(clv_data_matrix(after)->scalar, scalar);
    for (int64_t j = 0; j < COLS; j++) {
        long double mean;
        long double deviation;
        moments(before, j, &mean, &deviation);
        for (int64_t i = 0; i < ROWS; i++) {
            bool constant = entry(before, 0, j) == entry(before, 1, j);
            double expected = constant ? 0 : (double)(((long double)entry(before, i, j) - mean) / deviation);
            assert_true(fabs(entry(after, i, j) - expected) <= tolerance);
        }
    }
    clv_data_free(before);
    clv_data_free(after);
}

static void test_standard(void **state) {
    (void)state;
    check_standard(CLV_F64, 1e-8); /* the column at 1e6 has lost ten digits before we see it */
    check_standard(CLV_F32, 1e-6);
}

static void test_minmax(void **state) {
    (void)state;
    clv_data *data = make_dense(3, 3, (double[]){-1, 5, 1e308, 1, 5, -1e308, 0, 5, 0}, CLV_F64);
    assert_ok(clv_data_scale(data, CLV_SCALE_MINMAX));
    assert_dense(data, 3, 3, (double[]){0, 0, 1, 1, 0, 0, 0.5, 0, 0.5});
    clv_data_free(data);
}

static void test_unit(void **state) {
    (void)state;
    double huge = 1e300;
    clv_data *columns = make_dense(2, 3, (double[]){3, 0, 3 * huge, 4, 0, 4 * huge}, CLV_F64);
    assert_ok(clv_data_scale(columns, CLV_SCALE_UNIT_COLUMNS));
    double expected[] = {0.6, 0, 0.6, 0.8, 0, 0.8};
    for (int64_t i = 0; i < 6; i++) {
        assert_true(fabs(entry(columns, i / 3, i % 3) - expected[i]) < 1e-15);
    }
    clv_data *rows = make_dense(3, 2, (double[]){3, 4, 0, 0, 3e-320, 4e-320}, CLV_F64);
    assert_ok(clv_data_scale(rows, CLV_SCALE_UNIT_ROWS));
    assert_true(fabs(entry(rows, 0, 0) - 0.6) < 1e-15 && fabs(entry(rows, 0, 1) - 0.8) < 1e-15);
    assert_true(entry(rows, 1, 0) == 0 && entry(rows, 1, 1) == 0);
    assert_true(fabs(hypot(entry(rows, 2, 0), entry(rows, 2, 1)) - 1) < 1e-12);
    clv_data_free(columns);
    clv_data_free(rows);
}

/* The factor of a column is kept, and must be a number; rows are scaled by themselves. */
static void test_subnormal(void **state) {
    (void)state;
    const clv_scale scales[] = {CLV_SCALE_STANDARD, CLV_SCALE_MINMAX, CLV_SCALE_UNIT_COLUMNS};
    const double *shift, *factor;
    for (int s = 0; s < 3; s++) {
        clv_data *data = make_dense(2, 2, (double[]){1, 1e-310, 2, 3e-310}, CLV_F64);
        assert_refused(clv_data_scale(data, scales[s]), CLV_EDATA, "column 2", "e-310", "--drop", NULL);
        assert_dense(data, 2, 2, (double[]){1, 1e-310, 2, 3e-310});
        assert_false(clv_data_scaling(data, &shift, &factor));
        clv_data_free(data);
        data = make_dense(2, 1, (double[]){1e-307, 3e-307}, CLV_F64);
        assert_ok(clv_data_scale(data, scales[s]));
        assert_true(clv_data_scaling(data, &shift, &factor) && isfinite(factor[0]));
        clv_data_free(data);
    }
}

static void test_sparse(void **state) {
    (void)state;
    clv_data *data = make_sparse();
    assert_refused(clv_data_scale(data, CLV_SCALE_STANDARD), CLV_EUSAGE, "points is sparse", "standard", "unit-columns",
                   NULL);
    assert_refused(clv_data_scale(data, CLV_SCALE_MINMAX), CLV_EUSAGE, "points is sparse", "minmax", NULL);
    assert_ok(clv_data_scale(data, CLV_SCALE_UNIT_COLUMNS));
    assert_sparse(data, 2, 3, (double[]){0, 1, 0, 1, 0, -1});
    assert_ok(clv_data_scale(data, CLV_SCALE_UNIT_ROWS));
    assert_true(fabs(entry(data, 1, 2) + sqrt(0.5)) < 1e-15);
    assert_ok(clv_data_scale(data, CLV_SCALE_NONE));
    assert_refused(clv_data_scale(data, (clv_scale)9), CLV_EUSAGE, "9", NULL);
    clv_data_free(data);
}

/* New points by the columns of the old ones: a new point that equals an old one stays equal to it. */
static void test_both(void **state) {
    (void)state;
    const double old_values[] = {1, 5, 7, 3, 5, -1, 8, 5, 0.5};
    const double new_values[] = {8, 5, 0.5, -2, 6, 100};
    for (int scale = CLV_SCALE_NONE; scale <= CLV_SCALE_UNIT_ROWS; scale++) {
        clv_data *alone = make_dense(3, 3, old_values, CLV_F64);
        clv_data *old = make_dense(3, 3, old_values, CLV_F64), *fresh = make_dense(2, 3, new_values, CLV_F64);
        assert_ok(clv_data_scale(alone, (clv_scale)scale));
        assert_ok(clv_data_scale_both(old, fresh, (clv_scale)scale));
        assert_memory_equal(old->values, alone->values, 9 * sizeof(double));
        assert_memory_equal(fresh->values, (double *)old->values + 6, 3 * sizeof(double));
        clv_data_free(alone);
        clv_data_free(old);
        clv_data_free(fresh);
    }
    clv_data *old = make_dense(3, 3, old_values, CLV_F64), *fresh = make_dense(2, 3, new_values, CLV_F32);
    assert_ok(clv_data_scale_both(old, fresh, CLV_SCALE_MINMAX));
    assert_true(fabs(entry(fresh, 1, 0) - (-2.0 - 1) / 7) < 1e-6 && entry(fresh, 1, 1) == 0);
    assert_true(fabs(entry(fresh, 1, 2) - 101.0 / 8) < 1e-5);
    clv_data_free(old);
    clv_data_free(fresh);
}

static void test_both_columns(void **state) {
    (void)state;
    clv_data *old = make_dense(2, 4, (double[]){3, 0, 1, 0, 4, 2, 0, 0}, CLV_F64);
    clv_data *narrow = make_dense(1, 3, (double[]){1, 2, 3}, CLV_F64), *sparse = make_sparse();
    assert_refused(clv_data_scale_both(old, narrow, CLV_SCALE_NONE), CLV_EDATA, "3 columns", "has 4", NULL);
    assert_refused(clv_data_scale_both(narrow, old, CLV_SCALE_NONE), CLV_EDATA, "4 columns", "has 3", NULL);
    assert_refused(clv_data_scale_both(old, sparse, CLV_SCALE_STANDARD), CLV_EUSAGE, "sparse", NULL);
    double second = entry(sparse, 0, 1);
    assert_ok(clv_data_scale_both(old, sparse, CLV_SCALE_UNIT_COLUMNS));
    assert_int_equal(sparse->matrix.cols, 4);
    assert_true(fabs(entry(old, 0, 0) - 0.6) < 1e-15 && fabs(entry(sparse, 0, 1) - second / 2) < 1e-15);
    clv_data_free(old);
    clv_data_free(narrow);
    clv_data_free(sparse);
}

static void test_part(void **state) {
    (void)state;
    clv_data *dense = make_dense(3, 2, (double[]){1, 2, 3, 4, 5, 6}, CLV_F64), *sparse = make_sparse();
    clv_data *single = make_dense(3, 2, (double[]){1, 2, 3, 4, 5, 6}, CLV_F32);
    double row[3], whole[3];
    clv_matrix part = clv_matrix_part(&dense->matrix, 1, 2);
    clv_matrix_row(&part, 1, row);
    assert_true(part.rows == 2 && row[0] == 5 && row[1] == 6);
    part = clv_matrix_part(&single->matrix, 2, 1);
    clv_matrix_row(&part, 0, row);
    assert_true(row[0] == 5 && row[1] == 6);
    part = clv_matrix_part(&sparse->matrix, 1, 1);
    clv_matrix_row(&part, 0, row);
    clv_matrix_row(&sparse->matrix, 1, whole);
    assert_memory_equal(row, whole, sizeof row);
    clv_data_free(dense);
    clv_data_free(sparse);
    clv_data_free(single);
}

/* Of the caller's memory: it is looked at where it is, and never written. */
static void test_borrowed(void **state) {
    (void)state;
    double values[] = {1, 2, 3, 6};
    clv_matrix points = {2, 2, CLV_F64, values, NULL, NULL};
    int64_t count;
    clv_data *data, *other, *plain;
    assert_ok(clv_data_of(ctx, &points, (const char *const[]){"a", "b"}, &data));
    assert_ptr_equal(clv_data_matrix(data)->values, values);
    assert_string_equal(clv_data_columns(data, &count)[1], "b");
    assert_int_equal(count, 2);
    assert_ok(clv_data_of(ctx, &points, NULL, &plain));
    assert_null(clv_data_columns(plain, &count));
    other = make_dense(2, 2, values, CLV_F64);
    assert_ok(clv_data_scale(data, CLV_SCALE_MINMAX));
    assert_ok(clv_data_scale(other, CLV_SCALE_MINMAX));
    assert_memory_equal(clv_data_matrix(data)->values, clv_data_matrix(other)->values, sizeof values);
    assert_refused(clv_data_keep_rows(plain, other, NULL), CLV_EUSAGE, NULL);
    assert_true(values[0] == 1 && values[3] == 6);
    clv_data_free(data);
    clv_data_free(other);
    clv_data_free(plain);
}

static void test_finite(void **state) {
    (void)state;
    clv_data *data = make_dense(2, 2, (double[]){1, 2, (double)NAN, 3}, CLV_F32);
    assert_refused(clv_data_check_finite(data), CLV_EDATA, "points row 2 column 1", "nan", NULL);
    clv_data_free(data);
    data = make_sparse();
    assert_ok(clv_data_check_finite(data));
    ((double *)data->values)[2] = -HUGE_VAL;
    assert_refused(clv_data_check_finite(data), CLV_EDATA, "points row 2 column 3", "-inf", NULL);
    clv_data_free(data);
}

static void test_sizes(void **state) {
    (void)state;
    clv_data *data;
    assert_refused(clv_data_new_dense(ctx, "points", INT64_MAX / 2, 3, CLV_F64, &data), CLV_EDATA, "points", NULL);
    assert_null(data);
    assert_refused(clv_data_new_csr(ctx, "points", INT64_MAX, 3, 1, &data), CLV_EDATA, "points", NULL);
    assert_int_equal(clv_data_new_dense(ctx, "points", INT64_MAX / 4, 3, CLV_F64, &data), CLV_ENOMEM);
}

static clv_status make_and_scale(clv_context *in, void *user) {
    (void)user;
    clv_data *dense;
    clv_data *sparse;
    CLV_TRY(clv_data_new_dense(in, "points", 2, 2, CLV_F64, &dense));
    memcpy(dense->values, (double[]){1, 2, 3, 4}, 4 * sizeof(double));
    clv_status status = clv_data_scale(dense, CLV_SCALE_STANDARD);
    if (status == CLV_OK) {
        status = clv_data_scale_both(dense, dense, CLV_SCALE_UNIT_ROWS);
    }
    if (status == CLV_OK) {
        status = clv_data_new_csr(in, "points", 2, 2, 1, &sparse);
    }
    if (status == CLV_OK) {
        clv_data_free(sparse);
        status = clv_data_of(in, &dense->matrix, (const char *const[]){"a", "b"}, &sparse);
    }
    if (status == CLV_OK) {
        clv_data_free(sparse);
    }
    clv_data_free(dense);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    fail_each_allocation(make_and_scale, NULL);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
    const struct CMUnitTest tests[] = {
        CASE(test_row),    CASE(test_standard),    CASE(test_minmax),       CASE(test_unit), CASE(test_subnormal),
        CASE(test_sparse), CASE(test_both),        CASE(test_both_columns), CASE(test_part), CASE(test_finite),
        CASE(test_sizes),  CASE(test_allocations), CASE(test_borrowed),
    };
    return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}
