/* .npy: files built byte by byte, every type, order and version; every way to lie. */
#include "io_support.h"

#include <math.h>

typedef struct file {
    uint8_t bytes[4096];
    size_t size;
} file;

static void add(file *f, const void *bytes, size_t size) {
    assert_true(f->size + size <= sizeof f->bytes);
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

/* A file with this header text (as numpy pads it), before its numbers. */
static file start(int version, const char *header) {
    file f = {.size = 0};
    size_t prefix = version == 1 ? 10 : 12;
    size_t total = (prefix + strlen(header) + 1 + 63) / 64 * 64;
    size_t length = total - prefix;
    uint8_t lead[12] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version, 0, (uint8_t)(length & 255), (uint8_t)(length >> 8), 0, 0};
    add(&f, lead, prefix);
    add(&f, header, strlen(header));
    memset(f.bytes + f.size, ' ', total - f.size);
    f.size = total;
    f.bytes[total - 1] = '\n';
    return f;
}

static file simple(const char *descr, bool fortran, const char *shape) {
    char header[256];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr,
             fortran ? "True" : "False", shape);
    return start(1, header);
}

static clv_status parse(const file *f, clv_data **out) {
    return clv_npy_parse(ctx, (clv_bytes){f->bytes, f->size, "a.npy"}, out);
}

/* Add numbers of `size` bytes, from their bits, in the order that `big` says. */
static void add_numbers(file *f, const uint64_t *bits, size_t count, size_t size, bool big) {
    for (size_t i = 0; i < count; i++) {
        for (size_t b = 0; b < size; b++) {
            size_t place = big ? size - 1 - b : b;
            uint8_t byte = (uint8_t)(bits[i] >> (8 * place));
            add(f, &byte, 1);
        }
    }
}

static uint64_t float_bits(double value, size_t size) {
    uint64_t bits = 0;
    float single = (float)value;
    uint32_t low;
    memcpy(&low, &single, sizeof low);
    memcpy(&bits, &value, sizeof bits);
    return size == 4 ? low : bits;
}

static void test_types(void **state) {
    (void)state;
    static const struct {
        const char *type;
        double values[4];
        uint64_t bits[4];
    } cases[] = {
        {"i1", {1, -2, 127, -128}, {1, 0xfe, 127, 128}},
        {"u1", {1, 2, 200, 255}, {1, 2, 200, 255}},
        {"b1", {1, 0, 1, 0}, {1, 0, 1, 0}},
        {"i2", {1, -2, 300, -32768}, {1, 0xfffe, 300, 0x8000}},
        {"u2", {1, 2, 300, 65535}, {1, 2, 300, 65535}},
        {"i4", {1, -2, 70000, -2147483648.0}, {1, 0xfffffffe, 70000, 0x80000000}},
        {"u4", {1, 2, 70000, 4294967295.0}, {1, 2, 70000, 0xffffffff}},
        {"i8", {1, -2, 1e15, -0x1p63}, {1, 0xfffffffffffffffe, 1000000000000000, 0x8000000000000000}},
        {"u8", {1, 2, 0x1p63, 4}, {1, 2, 0x8000000000000000, 4}},
        {"f2", {1, -2, 65504, 0x1p-24}, {0x3c00, 0xc000, 0x7bff, 1}},
        {"f4", {1, -2.5, 1e10, 0}, {0x3f800000, 0xc0200000, 0x501502f9, 0}},
        {"f8", {1, -2.5, 0.1, 0}, {0x3ff0000000000000, 0xc004000000000000, 0x3fb999999999999a, 0}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        for (int order = 0; order < 4; order++) {
            char descr[8];
            size_t size = (size_t)(cases[c].type[1] - '0');
            snprintf(descr, sizeof descr, "%c%s", "<>=|"[order], cases[c].type);
            for (int fortran = 0; fortran < 2; fortran++) {
                file f = simple(descr, fortran, "(2, 2)");
                add_numbers(&f, cases[c].bits, 4, size, order == 1);
                const double *v = cases[c].values;
                clv_data *data;
                assert_ok(parse(&f, &data));
                assert_dense(data, 2, 2, (double[]){v[0], v[fortran ? 2 : 1], v[fortran ? 1 : 2], v[3]});
                assert_int_equal(clv_data_matrix(data)->scalar, strcmp(cases[c].type, "f4") == 0 ? CLV_F32 : CLV_F64);
                clv_data_free(data);
            }
        }
    }
}

static void test_headers(void **state) {
    (void)state;
    static const char *const headers[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }",
        "{ \"shape\" :(2L,1L) , 'fortran_order':False,\n'descr':\"<f8\"}",
        "{'fortran_order': False, 'descr': '<f8', 'shape': (2,)}",
        "{'fortran_order': True, 'descr': 'f8', 'shape': (2,1,)}",
    };
    for (size_t h = 0; h < sizeof headers / sizeof headers[0]; h++) {
        for (int version = 1; version <= 3; version++) {
            file f = start(version, headers[h]);
            add_numbers(&f, (uint64_t[]){float_bits(3, 8), float_bits(4, 8)}, 2, 8, false);
            clv_data *data;
            assert_ok(parse(&f, &data));
            assert_dense(data, 2, 1, (double[]){3, 4});
            clv_data_free(data);
        }
    }
}

/* Larger than a tile in both directions. */
static void test_large_fortran(void **state) {
    (void)state;
    enum { LARGE_ROWS = 150, LARGE_COLS = 70 };
    char header[128];
    snprintf(header, sizeof header, "{'descr': '<i2', 'fortran_order': True, 'shape': (%d, %d), }", LARGE_ROWS,
             LARGE_COLS);
    file lead = start(1, header);
    size_t size = lead.size + (size_t)LARGE_ROWS * LARGE_COLS * 2;
    uint8_t *bytes = malloc(size);
    memcpy(bytes, lead.bytes, lead.size);
    for (size_t at = 0; at < (size_t)LARGE_ROWS * LARGE_COLS; at++) { /* entry (i, j) is i + 200 j */
        size_t value = at % LARGE_ROWS + 200 * (at / LARGE_ROWS);
        bytes[lead.size + 2 * at] = (uint8_t)(value & 255);
        bytes[lead.size + 2 * at + 1] = (uint8_t)(value >> 8);
    }
    clv_data *data;
    assert_ok(clv_npy_parse(ctx, (clv_bytes){bytes, size, "a.npy"}, &data));
    for (int64_t i = 0; i < LARGE_ROWS; i++) {
        for (int64_t j = 0; j < LARGE_COLS; j++) {
            assert_true(((const double *)data->values)[i * LARGE_COLS + j] == (double)(i + 200 * j));
        }
    }
    clv_data_free(data);
    free(bytes);
}

static void test_refused_headers(void **state) {
    (void)state;
    static const struct {
        const char *header, *part;
    } cases[] = {
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "'|O'"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", "'<c16'"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", "'<f16'"},
        {"{'descr': '', 'fortran_order': False, 'shape': (1,), }", "''"},
        {"{'descr': '<', 'fortran_order': False, 'shape': (1,), }", "'<'"},
        {"{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }", "'<f3'"},
        {"{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,), }", "structured"},
        {"{'descr': 8, 'fortran_order': False, 'shape': (1,), }", "descr"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "0 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1), }", "3 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1), }", "4 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4), }", "empty"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1 1), }", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': 1, }", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "overflows"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }", "shape"},
        {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }", "fortran_order"},
        {"{'descr': '<f8', 'shape': (1,), }", "lacks"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}", "key"},
        {"{'descr': '<f8' 'fortran_order': False, 'shape': (1,)}", "dict"},
        {"['descr']", "lacks"},
        {"{'descr", "dict"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        file f = start(1, cases[c].header);
        add_numbers(&f, (uint64_t[]){0}, 1, 8, false);
        clv_data *data;
        assert_refused(parse(&f, &data), CLV_EDATA, "a.npy", cases[c].part, NULL);
        assert_null(data);
    }
}

static void test_refused_bodies(void **state) {
    (void)state;
    clv_data *data;
    file f = simple("<f8", false, "(2, 2)");
    uint64_t bits[] = {float_bits(1, 8), float_bits(2, 8), float_bits((double)NAN, 8), float_bits(4, 8)};
    add_numbers(&f, bits, 4, 8, false);
    assert_refused(parse(&f, &data), CLV_EDATA, "a.npy row 2 column 1", "nan", NULL);
    for (size_t size = 0; size < f.size; size++) { /* cut anywhere */
        assert_refused(clv_npy_parse(ctx, (clv_bytes){f.bytes, size, "a.npy"}, &data), CLV_EDATA, "a.npy", NULL);
    }
    add(&f, "x", 1);
    assert_refused(parse(&f, &data), CLV_EDATA, "a.npy is too long", "32", "33", NULL);
    f.bytes[6] = 4;
    assert_refused(parse(&f, &data), CLV_EDATA, "version 4.0", NULL);
    f.bytes[0] = 'P';
    assert_refused(parse(&f, &data), CLV_EDATA, "NUMPY", NULL);
    f = simple("<f4", true, "(1, 3)");
    add_numbers(&f, (uint64_t[]){0, float_bits(HUGE_VAL, 4), 0}, 3, 4, false);
    assert_refused(parse(&f, &data), CLV_EDATA, "row 1 column 2", "inf", NULL);
}

static void test_labels(void **state) {
    (void)state;
    int64_t n;
    int32_t *labels;
    file f = simple("<i8", false, "(4,)");
    add_numbers(&f, (uint64_t[]){3, (uint64_t)-1, 0, INT32_MAX}, 4, 8, false);
    assert_ok(clv_npy_parse_labels(ctx, (clv_bytes){f.bytes, f.size, "y.npy"}, &n, &labels));
    assert_int_equal(n, 4);
    assert_labels(labels, 4, (int32_t[]){3, -1, 0, INT32_MAX});
    clv_release(ctx, labels);
    f = simple("<f8", true, "(1, 2)");
    add_numbers(&f, (uint64_t[]){float_bits(2, 8), float_bits(7, 8)}, 2, 8, false);
    assert_ok(clv_npy_parse_labels(ctx, (clv_bytes){f.bytes, f.size, "y.npy"}, &n, &labels));
    assert_labels(labels, 2, (int32_t[]){2, 7});
    clv_release(ctx, labels);
    static const double bad[] = {1.5, -2, 2147483648.0, (double)NAN};
    static const char *const shown[] = {"1.5", "-2", "2147483648", "nan"};
    for (size_t b = 0; b < 4; b++) {
        f = simple("<f8", false, "(2,)");
        add_numbers(&f, (uint64_t[]){0, float_bits(bad[b], 8)}, 2, 8, false);
        assert_refused(clv_npy_parse_labels(ctx, (clv_bytes){f.bytes, f.size, "y.npy"}, &n, &labels), CLV_EDATA,
                       "y.npy row 2", shown[b], NULL);
        assert_null(labels);
    }
    f = simple("|u1", false, "(2, 2)");
    add(&f, "abcd", 4);
    assert_refused(clv_npy_parse_labels(ctx, (clv_bytes){f.bytes, f.size, "y.npy"}, &n, &labels), CLV_EDATA, "2 x 2",
                   NULL);
}

static void test_pictures(void **state) {
    (void)state;
    clv_image image;
    file f = simple("|u1", false, "(2, 3, 3)");
    uint8_t samples[18];
    for (int i = 0; i < 18; i++) {
        samples[i] = (uint8_t)(10 * i);
    }
    add(&f, samples, sizeof samples);
    put_file(in_folder("p.npy"), f.bytes, f.size);
    assert_ok(clv_read_image(ctx, in_folder("p.npy"), &image));
    assert_true(image.width == 3 && image.height == 2 && image.channels == 3);
    assert_memory_equal(image.samples, samples, sizeof samples);
    clv_release(ctx, image.samples);
    unlink(in_folder("p.npy"));
    f = simple("|u1", false, "(2, 2, 2)");
    add(&f, samples, 8);
    assert_refused(clv_npy_parse_image(ctx, (clv_bytes){f.bytes, f.size, "p.npy"}, &image), CLV_EDATA, "p.npy", NULL);
    assert_null(image.samples);
    f = simple("<f4", false, "(1, 1)");
    add(&f, samples, 4);
    assert_refused(clv_npy_parse_image(ctx, (clv_bytes){f.bytes, f.size, "p.npy"}, &image), CLV_EDATA, "uint8", NULL);
}

/* Files: plain ones are read without a copy, mapped ones share the file, others are parsed. */
static void test_files(void **state) {
    (void)state;
    const char *path = in_folder("m.NPY");
    clv_read_options map = {.map = 1};
    clv_data *data;
    file f = simple("<f4", false, "(2, 2)");
    uint64_t bits[] = {float_bits(1, 4), float_bits(2, 4), float_bits(3, 4), float_bits(4, 4)};
    add_numbers(&f, bits, 4, 4, false);
    put_file(path, f.bytes, f.size);
    assert_ok(clv_read(ctx, path, NULL, &data));
    assert_false(clv_data_is_mapped(data));
    assert_dense(data, 2, 2, (double[]){1, 2, 3, 4});
    clv_data_free(data);
    assert_ok(clv_read(ctx, path, &map, &data));
    assert_true(clv_data_is_mapped(data));
    assert_dense(data, 2, 2, (double[]){1, 2, 3, 4});
    assert_ok(clv_data_scale(data, CLV_SCALE_MINMAX)); /* into memory, and the file stays */
    assert_false(clv_data_is_mapped(data));
    assert_dense(data, 2, 2, (double[]){0, 0, 1, 1});
    clv_data_free(data);
    f = simple("<f4", true, "(2, 2)"); /* a square one may be mapped as it lies, and is turned when read */
    add_numbers(&f, bits, 4, 4, false);
    put_file(path, f.bytes, f.size);
    assert_ok(clv_read(ctx, path, NULL, &data));
    assert_dense(data, 2, 2, (double[]){1, 3, 2, 4});
    clv_data_free(data);
    assert_ok(clv_read(ctx, path, &map, &data)); /* points, which it would be wrong to turn */
    assert_false(clv_data_is_mapped(data));
    assert_dense(data, 2, 2, (double[]){1, 3, 2, 4});
    clv_data_free(data);
    assert_ok(clv_read(ctx, path, &(clv_read_options){.map = 2}, &data));
    assert_true(clv_data_is_mapped(data));
    clv_data_free(data);
    f = simple(">f4", false, "(2, 2)");
    add_numbers(&f, bits, 4, 4, true);
    put_file(path, f.bytes, f.size);
    assert_ok(clv_read(ctx, path, &map, &data));
    assert_false(clv_data_is_mapped(data));
    assert_dense(data, 2, 2, (double[]){1, 2, 3, 4});
    clv_data_free(data);
    put_file(path, f.bytes, f.size - 1);
    assert_refused(clv_read(ctx, path, &map, &data), CLV_EDATA, path, "cut off", NULL);
    unlink(path);
    assert_refused(clv_read(ctx, path, &map, &data), CLV_ENOINPUT, path, "No such file", NULL);
}

/* What is mapped is not looked at; scaling reads it, and must see what is not finite. */
static void test_mapped_nan(void **state) {
    (void)state;
    const char *path = in_folder("m.npy");
    clv_data *data;
    file f = simple("<f8", false, "(1, 2)");
    add_numbers(&f, (uint64_t[]){0, float_bits((double)NAN, 8)}, 2, 8, false);
    put_file(path, f.bytes, f.size);
    assert_ok(clv_read(ctx, path, &(clv_read_options){.map = 1}, &data));
    assert_refused(clv_data_scale(data, CLV_SCALE_UNIT_ROWS), CLV_EDATA, path, "row 1 column 2", "nan", NULL);
    clv_data_free(data);
    unlink(path);
}

/* A header whose length breaks the alignment of the numbers: read, not mapped. */
static void test_misaligned(void **state) {
    (void)state;
    const char *path = in_folder("m.npy");
    static const char header[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }";
    file f = {.size = 0};
    add(&f, "\x93NUMPY\x01\x00", 8);
    uint8_t length[2] = {sizeof header - 1, 0};
    add(&f, length, 2);
    add(&f, header, sizeof header - 1);
    assert_int_not_equal(f.size % 8, 0);
    add_numbers(&f, (uint64_t[]){float_bits(5, 8)}, 1, 8, false);
    put_file(path, f.bytes, f.size);
    clv_data *data;
    assert_ok(clv_read(ctx, path, &(clv_read_options){.map = 1}, &data));
    assert_false(clv_data_is_mapped(data));
    assert_dense(data, 1, 1, (double[]){5});
    clv_data_free(data);
    unlink(path);
}

static clv_status read_all_ways(clv_context *in, void *user) {
    clv_data *data;
    int64_t n;
    int32_t *labels;
    const char *path = user;
    CLV_TRY(clv_read(in, path, NULL, &data));
    clv_data_free(data);
    CLV_TRY(clv_read(in, path, &(clv_read_options){.map = 1}, &data));
    clv_data_free(data);
    CLV_TRY(clv_read_labels(in, path, &n, &labels));
    clv_release(in, labels);
    return CLV_OK;
}

static void test_allocations(void **state) {
    (void)state;
    static const char *const types[] = {"<f8", ">f8"};
    for (int t = 0; t < 2; t++) {
        char path[256];
        snprintf(path, sizeof path, "%s", in_folder("m.npy"));
        file f = simple(types[t], false, "(2,)");
        add_numbers(&f, (uint64_t[]){float_bits(1, 8), float_bits(2, 8)}, 2, 8, t == 1);
        put_file(path, f.bytes, f.size);
        fail_each_allocation(read_all_ways, path);
        unlink(path);
    }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
    const struct CMUnitTest tests[] = {
        CASE(test_types),      CASE(test_headers),    CASE(test_large_fortran), CASE(test_refused_headers),
        CASE(test_labels),     CASE(test_pictures),   CASE(test_files),         CASE(test_refused_bodies),
        CASE(test_misaligned), CASE(test_mapped_nan), CASE(test_allocations),
    };
    return cmocka_run_group_tests_name("io_npy", tests, NULL, NULL);
}
