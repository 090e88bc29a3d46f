/* Matrix Market: formats, fields, symmetries; refusals with their line. */
#include "io_support.h"

static clv_status parse(const char *text, clv_data **out) {
    return clv_mtx_parse(ctx, text_bytes(text, "a.mtx"), out);
}

static void check_sparse(const char *text, int64_t rows, int64_t cols, const double *values) {
    clv_data *data;
    assert_ok(parse(text, &data));
    assert_sparse(data, rows, cols, values);
    clv_data_free(data);
}

static void check_dense(const char *text, int64_t rows, int64_t cols, const double *values) {
    clv_data *data;
    assert_ok(parse(text, &data));
    assert_dense(data, rows, cols, values);
    clv_data_free(data);
}

static void test_coordinate(void **state) {
    (void)state;
    check_sparse("%%MatrixMarket matrix coordinate real general\n% comment\n\n2 3 3\n2 1 -1.5\n1 3 2e1\n1 1 4\n", 2, 3,
                 (double[]){4, 0, 20, -1.5, 0, 0});
    check_sparse("%%matrixmarket MATRIX Coordinate Integer General\r\n2 2 1\r\n 1  2\t7 \r\n", 2, 2,
                 (double[]){0, 7, 0, 0});
    check_sparse("%%MatrixMarket matrix coordinate pattern general\n3 2 2\n3 1\n1 2", 3, 2,
                 (double[]){0, 1, 0, 0, 1, 0});
    check_sparse("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 1 5\n3 2 6\n% c\n3 3 9\n", 3, 3,
                 (double[]){1, 5, 0, 5, 0, 6, 0, 6, 9});
    check_sparse("%%MatrixMarket matrix coordinate real general\n2 2 0\n", 2, 2, (double[]){0, 0, 0, 0});
}

/* Entries at one place are added, the same in any order. */
static void test_duplicates(void **state) {
    (void)state;
    check_sparse("%%MatrixMarket matrix coordinate real general\n2 2 5\n1 2 1\n2 2 8\n1 2 2\n1 1 3\n1 2 4\n", 2, 2,
                 (double[]){3, 7, 0, 8});
    clv_data *a;
    clv_data *b;
    assert_ok(parse("%%MatrixMarket matrix coordinate real general\n1 1 3\n1 1 1e16\n1 1 -1e16\n1 1 1\n", &a));
    assert_ok(parse("%%MatrixMarket matrix coordinate real general\n1 1 3\n1 1 1\n1 1 1e16\n1 1 -1e16\n", &b));
    assert_true(((const double *)a->values)[0] == ((const double *)b->values)[0]);
    clv_data_free(a);
    clv_data_free(b);
}

static void test_array(void **state) {
    (void)state;
    check_dense("%%MatrixMarket matrix array real general\n% c\n2 3\n1\n2\n3\n4\n% c\n5\n\n6\n", 2, 3,
                (double[]){1, 3, 5, 2, 4, 6});
    check_dense("%%MatrixMarket matrix array integer symmetric\n3 3\n1 2 3\n4 5\n6\n", 3, 3,
                (double[]){1, 2, 3, 2, 4, 5, 3, 5, 6});
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *part, *other;
    } cases[] = {
        {"", "line 1", "%%MatrixMarket"},
        {"1 2 3\n", "line 1", "%%MatrixMarket"},
        {"%%MatrixMarket vector coordinate real general\n", "line 1", "matrix"},
        {"%%MatrixMarket matrix dense real general\n", "line 1", "'dense'"},
        {"%%MatrixMarket matrix coordinate complex general\n", "line 1", "'complex'"},
        {"%%MatrixMarket matrix array pattern general\n", "line 1", "'pattern'"},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n", "line 1", "'skew-symmetric'"},
        {"%%MatrixMarket matrix coordinate real hermitian\n", "line 1", "'hermitian'"},
        {"%%MatrixMarket matrix coordinate real general\n% only\n", "ends before its size", ""},
        {"%%MatrixMarket matrix coordinate real general\n2 x 1\n", "line 2", "'x'"},
        {"%%MatrixMarket matrix coordinate real general\n2 2\n", "line 2", "whole number"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1 1\n1 1 1\n", "line 2", "'1' is one item too many"},
        {"%%MatrixMarket matrix coordinate real general\n0 2 1\n", "line 2", "0 x 2"},
        {"%%MatrixMarket matrix coordinate real general\n1 3000000000 1\n1 1 1\n", "line 2", "3000000000"},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", "line 2", "2 x 3"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1000000000000\n1 1 1\n", "line 2", "1000000000000"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 -1\n", "line 2", ""},
        {"%%MatrixMarket matrix array real general\n2000000000 2000000000\n1\n", "line 2", "more than the file"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n", "line 3", "row 3 is not from 1 to 2"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 0 1\n", "line 3", "column 0 is not from 1 to 2"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 abc\n", "line 3", "'abc' is not a number"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan\n", "line 3", "'nan'"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n", "line 3", ""},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1 1\n", "line 3", "too many"},
        {"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", "ends after 1 of 2", ""},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n2 2 2\n", "line 4", "more after the 1"},
        {"%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1e308\n1 1 1e308\n", "row 1 column 1", "inf"},
        {"%%MatrixMarket matrix array real general\n2 1\n1\n", "ends after 1 of 2", ""},
        {"%%MatrixMarket matrix array real general\n2 1\n1\n2\n3\n", "line 5", "more after the 2"},
        {"%%MatrixMarket matrix array real general\n2 1\n1\ninf\n", "line 4", "'inf'"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        clv_data *data;
        assert_refused(parse(cases[c].text, &data), CLV_EDATA, "a.mtx", cases[c].part, cases[c].other, NULL);
        assert_null(data);
    }
}

/* Many entries in random order against a table. */
static void test_random(void **state) {
    (void)state;
    enum { SIDE = 20, ENTRIES = 300 };
    clv_rng rng = clv_rng_stream(5, 0);
    double table[SIDE * SIDE] = {0};
    clv_text text = {.ctx = ctx};
    clv_text_add(&text, "%%%%MatrixMarket matrix coordinate integer general\n%d %d %d\n", SIDE, SIDE, ENTRIES);
    for (int e = 0; e < ENTRIES; e++) {
        int64_t i = clv_rng_below(&rng, SIDE);
        int64_t j = clv_rng_below(&rng, SIDE);
        int64_t value = 1 + clv_rng_below(&rng, 9);
        table[i * SIDE + j] += (double)value;
        clv_text_add(&text, "%lld %lld %lld\n", (long long)i + 1, (long long)j + 1, (long long)value);
    }
    check_sparse(text.data, SIDE, SIDE, table);
    clv_release(ctx, text.data);
}

static clv_status parse_in(clv_context *in, void *user) {
    clv_data *data;
    CLV_TRY(clv_mtx_parse(in, text_bytes(user, "a.mtx"), &data));
    clv_data_free(data);
    return CLV_OK;
}

static void test_allocations(void **state) {
    (void)state;
    char sparse[] = "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 5\n";
    char dense[] = "%%MatrixMarket matrix array real general\n1 1\n5\n";
    fail_each_allocation(parse_in, sparse);
    fail_each_allocation(parse_in, dense);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
    const struct CMUnitTest tests[] = {CASE(test_coordinate), CASE(test_duplicates), CASE(test_array),
                                       CASE(test_refused),    CASE(test_random),     CASE(test_allocations)};
    return cmocka_run_group_tests_name("io_mtx", tests, NULL, NULL);
}
