/* MATLAB files, built element by element, in both byte orders, plain and compressed. */
#include "io_support.h"

#include <math.h>
#include <zlib.h>

enum {
    INT8 = 1,
    UINT8 = 2,
    INT16 = 3,
    INT32 = 5,
    UINT32 = 6,
    SINGLE = 7,
    DOUBLE = 9,
    INT64 = 12,
    MATRIX = 14,
    ZIP = 15
};
enum { CLASS_CELL = 1, CLASS_CHAR = 4, CLASS_SPARSE = 5, CLASS_DOUBLE = 6, CLASS_SINGLE = 7, CLASS_INT16 = 10 };
enum { COMPLEX = 0x800, LOGICAL = 0x200 };

typedef struct file {
    uint8_t bytes[8192];
    size_t size;
    bool big;
} file;

static void add(file *f, const void *bytes, size_t size) {
    assert_true(f->size + size <= sizeof f->bytes);
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

static void add_bits(file *f, uint64_t bits, size_t size) {
    for (size_t b = 0; b < size; b++) {
        uint8_t byte = (uint8_t)(bits >> (8 * (f->big ? size - 1 - b : b)));
        add(f, &byte, 1);
    }
}

static file start(bool big) {
    file f = {.big = big};
    memset(f.bytes, ' ', 124);
    memcpy(f.bytes, "MATLAB 5.0 MAT-file", 19);
    f.size = 124;
    add_bits(&f, 0x0100, 2);
    add_bits(&f, 'M' << 8 | 'I', 2);
    return f;
}

static size_t size_of(int type) {
    return type == DOUBLE || type == INT64 ? 8 : type == INT16 ? 2 : type <= UINT8 ? 1 : 4;
}

/* An element of numbers, small when it can be. */
static void add_numbers(file *f, int type, const double *values, size_t count) {
    size_t size = count * size_of(type);
    bool small = size > 0 && size <= 4;
    add_bits(f, small ? (uint64_t)size << 16 | (uint64_t)type : (uint64_t)type, 4);
    if (!small) {
        add_bits(f, size, 4);
    }
    for (size_t i = 0; i < count; i++) {
        float single = (float)values[i];
        uint32_t low;
        uint64_t bits;
        memcpy(&low, &single, 4);
        memcpy(&bits, &values[i], 8);
        bits = type == SINGLE ? low : type == DOUBLE ? bits : (uint64_t)(int64_t)values[i];
        add_bits(f, bits, size_of(type));
    }
    for (size_t padded = small ? 4 : (size + 7) / 8 * 8; size < padded; size++) {
        add(f, "", 1);
    }
}

/* The tag of a variable and its description; close_matrix sets the size in the tag. */
static size_t open_matrix(file *f, int class_number, int flags, double rows, double cols, const char *name) {
    double letters[64];
    size_t tag = f->size;
    add_bits(f, MATRIX, 4);
    add_bits(f, 0, 4);
    add_numbers(f, UINT32, (double[]){class_number | flags, 9}, 2);
    add_numbers(f, INT32, (double[]){rows, cols}, 2);
    for (size_t i = 0; name[i]; i++) {
        letters[i] = name[i];
    }
    add_numbers(f, INT8, letters, strlen(name));
    return tag;
}

static void close_matrix(file *f, size_t tag) {
    size_t end = f->size;
    f->size = tag + 4;
    add_bits(f, end - tag - 8, 4);
    f->size = end;
}

/* Replace the element at `tag` by its compressed form. */
static void zip(file *f, size_t tag) {
    uint8_t packed[4096];
    uLongf size = sizeof packed;
    assert_int_equal(compress(packed, &size, f->bytes + tag, f->size - tag), Z_OK);
    f->size = tag;
    add_bits(f, ZIP, 4);
    add_bits(f, size, 4);
    add(f, packed, size);
}

static void add_matrix(file *f, const char *name, int class_number, int type, bool zipped) {
    size_t tag = open_matrix(f, class_number, 0, 2, 3, name);
    add_numbers(f, type, (double[]){1, 2, 3, 4, 5, 6}, 6);
    close_matrix(f, tag);
    if (zipped) {
        zip(f, tag);
    }
}

/* 3 x 2 with 7 at (3, 1), 8 at (1, 2) and 9 at (2, 2). */
static void add_sparse(file *f, const char *name, bool zipped) {
    size_t tag = open_matrix(f, CLASS_SPARSE, 0, 3, 2, name);
    add_numbers(f, INT32, (double[]){2, 0, 1}, 3);
    add_numbers(f, INT32, (double[]){0, 1, 3}, 3);
    add_numbers(f, DOUBLE, (double[]){7, 8, 9}, 3);
    close_matrix(f, tag);
    if (zipped) {
        zip(f, tag);
    }
}

static clv_status parse(const file *f, const char *variable, clv_data **out) {
    return clv_mat_parse(ctx, (clv_bytes){f->bytes, f->size, "a.mat"}, variable, out);
}

static const double expected[] = {1, 3, 5, 2, 4, 6};

static void test_dense(void **state) {
    (void)state;
    static const int types[][2] = {{CLASS_DOUBLE, DOUBLE}, {CLASS_DOUBLE, UINT8},  {CLASS_DOUBLE, INT16},
                                   {CLASS_DOUBLE, INT64},  {CLASS_SINGLE, SINGLE}, {CLASS_INT16, INT16}};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        for (int way = 0; way < 4; way++) {
            file f = start(way & 1);
            add_matrix(&f, "x", types[t][0], types[t][1], way & 2);
            clv_data *data;
            assert_ok(parse(&f, way & 1 ? "x" : NULL, &data));
            assert_dense(data, 2, 3, expected);
            assert_int_equal(clv_data_matrix(data)->scalar, types[t][0] == CLASS_SINGLE ? CLV_F32 : CLV_F64);
            clv_data_free(data);
        }
    }
}

static void test_sparse(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        file f = start(way & 1);
        add_sparse(&f, "s", way & 2);
        clv_data *data;
        assert_ok(parse(&f, NULL, &data));
        assert_sparse(data, 3, 2, (double[]){0, 8, 0, 9, 7, 0});
        clv_data_free(data);
    }
}

/* A small element (data in the tag) and logical values. */
static void test_small(void **state) {
    (void)state;
    file f = start(false);
    size_t tag = open_matrix(&f, 9, LOGICAL, 1, 3, "flags");
    add_numbers(&f, UINT8, (double[]){1, 0, 1}, 3);
    close_matrix(&f, tag);
    clv_data *data;
    assert_ok(parse(&f, NULL, &data));
    assert_dense(data, 1, 3, (double[]){1, 0, 1});
    clv_data_free(data);
}

static void test_choice(void **state) {
    (void)state;
    clv_data *data;
    file f = start(false);
    size_t tag = open_matrix(&f, CLASS_CELL, 0, 1, 1, "names");
    add_numbers(&f, UINT8, (double[]){1}, 1);
    close_matrix(&f, tag);
    tag = open_matrix(&f, CLASS_CHAR, 0, 1, 2, "title");
    add_numbers(&f, INT16, (double[]){65, 66}, 2);
    close_matrix(&f, tag);
    tag = open_matrix(&f, CLASS_DOUBLE, COMPLEX, 1, 1, "z");
    add_numbers(&f, DOUBLE, (double[]){1}, 1);
    add_numbers(&f, DOUBLE, (double[]){1}, 1);
    close_matrix(&f, tag);
    assert_refused(parse(&f, NULL, &data), CLV_EDATA, "a.mat", "no variable that is a real matrix", NULL);
    add_matrix(&f, "points", CLASS_DOUBLE, DOUBLE, true);
    assert_ok(parse(&f, NULL, &data));
    assert_dense(data, 2, 3, expected);
    clv_data_free(data);
    add_sparse(&f, "graph", true);
    assert_refused(parse(&f, NULL, &data), CLV_EDATA, "a.mat has several", "points", "graph", NULL);
    assert_refused(parse(&f, "w", &data), CLV_EDATA, "'w'", "names, title, z, points, graph", NULL);
    assert_refused(parse(&f, "z", &data), CLV_EDATA, "'z' is complex", NULL);
    assert_refused(parse(&f, "names", &data), CLV_EDATA, "'names' is not a matrix", NULL);
    assert_refused(parse(&f, "title", &data), CLV_EDATA, "'title' is not a matrix", NULL);
    assert_ok(parse(&f, "points", &data));
    clv_data_free(data);
    assert_ok(parse(&f, "graph", &data));
    clv_data_free(data);
}

static void test_damage(void **state) {
    (void)state;
    clv_data *data;
    for (int way = 0; way < 4; way++) { /* cut anywhere */
        file f = start(false);
        if (way & 1) {
            add_sparse(&f, "x", way & 2);
        } else {
            add_matrix(&f, "x", CLASS_DOUBLE, DOUBLE, way & 2);
        }
        for (size_t size = 0; size < f.size; size++) {
            file cut = f;
            cut.size = size;
            assert_refused(parse(&cut, NULL, &data), CLV_EDATA, "a.mat", NULL);
            assert_null(data);
        }
    }
    file f = start(false);
    memcpy(f.bytes, "MATLAB 7.3", 10);
    assert_refused(parse(&f, NULL, &data), CLV_EDATA, "7.3", "-v7", NULL);
}

/* Sizes and indices that do not agree. */
static void test_lies(void **state) {
    (void)state;
    clv_data *data;
    file f = start(false);
    size_t tag = open_matrix(&f, CLASS_DOUBLE, 0, 2000000000, 2000000000, "x");
    add_numbers(&f, DOUBLE, (double[]){1}, 1);
    close_matrix(&f, tag);
    assert_refused(parse(&f, NULL, &data), CLV_EDATA, "'x'", "dimensions", NULL);
    f = start(false);
    tag = open_matrix(&f, CLASS_DOUBLE, 0, 1, 2, "x");
    add_numbers(&f, DOUBLE, (double[]){1, (double)NAN}, 2);
    close_matrix(&f, tag);
    assert_refused(parse(&f, NULL, &data), CLV_EDATA, "a.mat row 1 column 2", "nan", NULL);
    static const double starts[][3] = {{0, 1, 4}, {1, 1, 3}, {0, 3, 2}, {0, -1, 3}};
    for (size_t s = 0; s < 4; s++) {
        f = start(false);
        tag = open_matrix(&f, CLASS_SPARSE, 0, 3, 2, "s");
        add_numbers(&f, INT32, (double[]){2, 0, 1}, 3);
        add_numbers(&f, INT32, starts[s], 3);
        add_numbers(&f, DOUBLE, (double[]){7, 8, 9}, 3);
        close_matrix(&f, tag);
        assert_refused(parse(&f, NULL, &data), CLV_EDATA, "'s' is not a valid sparse", NULL);
    }
    f = start(false);
    tag = open_matrix(&f, CLASS_SPARSE, 0, 2, 1, "s");
    add_numbers(&f, INT32, (double[]){2}, 1);
    add_numbers(&f, INT32, (double[]){0, 1}, 2);
    add_numbers(&f, DOUBLE, (double[]){7}, 1);
    close_matrix(&f, tag);
    assert_refused(parse(&f, NULL, &data), CLV_EDATA, "'s' is not a valid sparse", NULL);
}

static clv_status read_in(clv_context *in, void *user) {
    clv_data *data;
    CLV_TRY(clv_read(in, user, NULL, &data));
    clv_data_free(data);
    return CLV_OK;
}

static void test_files(void **state) {
    (void)state;
    char path[256];
    char named[300];
    clv_data *data;
    snprintf(path, sizeof path, "%s", in_folder("a.mat"));
    file f = start(false);
    add_matrix(&f, "x", CLASS_DOUBLE, DOUBLE, true);
    add_sparse(&f, "s", true);
    put_file(path, f.bytes, f.size);
    assert_refused(clv_read(ctx, path, NULL, &data), CLV_EDATA, path, "several", NULL);
    snprintf(named, sizeof named, "%s:x", path);
    fail_each_allocation(read_in, named);
    snprintf(named, sizeof named, "%s:s", path);
    fail_each_allocation(read_in, named);
    unlink(path);
    assert_refused(clv_read(ctx, named, NULL, &data), CLV_ENOINPUT, path, NULL);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
    const struct CMUnitTest tests[] = {CASE(test_dense),  CASE(test_sparse), CASE(test_small), CASE(test_choice),
                                       CASE(test_damage), CASE(test_lies),   CASE(test_files)};
    return cmocka_run_group_tests_name("io_mat", tests, NULL, NULL);
}
