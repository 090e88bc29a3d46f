/* Writers: what is written reads back the same; a failure leaves the old file and nothing else. */
#include "io_support.h"

#include <math.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void check_content(const char *path, const char *expected) {
    char content[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    content[size] = '\0';
    assert_string_equal(content, expected);
}

static int count_files(void) {
    int count = -2; /* . and .. */
    DIR *listing = opendir(folder);
    while (readdir(listing)) {
        count++;
    }
    closedir(listing);
    return count;
}

enum { ROWS = 7, COLS = 5 };

static void test_dense(void **state) {
    (void)state;
    static const char *const names[] = {"m.npy", "m.csv", "m.tsv", "m.mtx"};
    clv_rng rng = clv_rng_stream(4, 0);
    double values[ROWS * COLS];
    float singles[ROWS * COLS];
    double widened[ROWS * COLS];
    for (int i = 0; i < ROWS * COLS; i++) {
        values[i] = clv_rng_normal(&rng) * (i % 3 ? 1 : 1e-200);
        singles[i] = (float)clv_rng_normal(&rng);
        widened[i] = (double)singles[i];
    }
    for (size_t f = 0; f < 4; f++) {
        const char *path = in_folder(names[f]);
        clv_data *data;
        assert_ok(clv_write_matrix(ctx, path, &(clv_matrix){ROWS, COLS, CLV_F64, values, NULL, NULL}));
        assert_ok(clv_read(ctx, path, NULL, &data));
        assert_dense(data, ROWS, COLS, values);
        clv_data_free(data);
        assert_ok(clv_write_matrix(ctx, path, &(clv_matrix){ROWS, COLS, CLV_F32, singles, NULL, NULL}));
        assert_ok(clv_read(ctx, path, NULL, &data));
        for (int i = 0; i < ROWS * COLS; i++) {
            double row[COLS];
            clv_matrix_row(clv_data_matrix(data), i / COLS, row);
            assert_true((float)row[i % COLS] == singles[i]);
        }
        if (f == 0) {
            struct stat info;
            assert_int_equal(stat(path, &info), 0);
            assert_int_equal((info.st_size - ROWS * COLS * 4) % 64, 0); /* the numbers are aligned */
            assert_int_equal(clv_data_matrix(data)->scalar, CLV_F32);
            assert_dense(data, ROWS, COLS, widened);
        }
        clv_data_free(data);
        unlink(path);
    }
}

static void test_symmetric(void **state) {
    (void)state;
    const char *path = in_folder("m.mtx");
    clv_data *data;
    static const double values[] = {1, 2, 3, 2, 4, 5.5, 3, 5.5, 6};
    assert_ok(clv_write_matrix(ctx, path, &(clv_matrix){3, 3, CLV_F64, values, NULL, NULL}));
    check_content(path, "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5.5\n6\n");
    assert_ok(clv_read(ctx, path, NULL, &data));
    assert_dense(data, 3, 3, values);
    clv_data_free(data);
    static const double other[] = {1, 2, 3, 4};
    assert_ok(clv_write_matrix(ctx, path, &(clv_matrix){2, 2, CLV_F64, other, NULL, NULL}));
    check_content(path, "%%MatrixMarket matrix array real general\n2 2\n1\n3\n2\n4\n");
    unlink(path);
}

static void test_sparse(void **state) {
    (void)state;
    const char *path = in_folder("m.mtx");
    clv_data *data;
    static const int64_t start[] = {0, 2, 3, 5};
    static const int32_t index[] = {0, 2, 1, 0, 2};
    static const double symmetric[] = {1, 2, 3, 2, 4};
    assert_ok(clv_write_matrix(ctx, path, &(clv_matrix){3, 3, CLV_F64, symmetric, start, index}));
    check_content(path, "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 2 3\n3 1 2\n3 3 4\n");
    assert_ok(clv_read(ctx, path, NULL, &data));
    assert_sparse(data, 3, 3, (double[]){1, 0, 2, 0, 3, 0, 2, 0, 4});
    clv_data_free(data);
    static const double general[] = {1, 2, 3, 2.5, 4};
    assert_ok(clv_write_matrix(ctx, path, &(clv_matrix){3, 3, CLV_F64, general, start, index}));
    assert_ok(clv_read(ctx, path, NULL, &data));
    assert_sparse(data, 3, 3, (double[]){1, 0, 2, 0, 3, 0, 2.5, 0, 4});
    clv_data_free(data);
    unlink(path);
    assert_refused(clv_write_matrix(ctx, in_folder("m.npy"), &(clv_matrix){3, 3, CLV_F64, general, start, index}),
                   CLV_EUSAGE, "m.npy", "sparse", ".mtx", NULL);
    assert_refused(clv_write_matrix(ctx, in_folder("m.npy"), &(clv_matrix){-1, 3, CLV_F64, general, NULL, NULL}),
                   CLV_EUSAGE, "-1 rows", NULL);
    assert_refused(clv_write_matrix(ctx, "m.xyz", &(clv_matrix){3, 3, CLV_F64, general, start, index}), CLV_EUSAGE,
                   "m.xyz", ".npy", ".csv", ".mtx", NULL);
}

/* With its zeros, where the format has room for them; as it is to .mtx. */
static void test_filled(void **state) {
    (void)state;
    static const char *const names[] = {"m.npy", "m.csv", "m.tsv"};
    static const int64_t start[] = {0, 2, 2, 3};
    static const int32_t index[] = {0, 3, 1};
    static const double values[] = {0.1, 2, -1e-300};
    static const double filled[] = {0.1, 0, 0, 2, 0, 0, 0, 0, 0, -1e-300, 0, 0};
    const clv_matrix sparse = {3, 4, CLV_F64, values, start, index};
    const clv_matrix dense = {3, 4, CLV_F64, filled, NULL, NULL};
    clv_data *data;
    for (size_t f = 0; f < 3; f++) {
        const char *path = in_folder(names[f]);
        for (int s = 0; s < 2; s++) {
            assert_ok(clv_write_dense(ctx, path, s ? &sparse : &dense));
            assert_ok(clv_read(ctx, path, NULL, &data));
            assert_dense(data, 3, 4, filled);
            clv_data_free(data);
        }
        unlink(path);
    }
    assert_ok(clv_write_dense(ctx, in_folder("m.mtx"), &sparse));
    assert_ok(clv_read(ctx, in_folder("m.mtx"), NULL, &data));
    assert_sparse(data, 3, 4, filled);
    clv_data_free(data);
    unlink(in_folder("m.mtx"));
    assert_refused(clv_write_dense(ctx, "m.xyz", &sparse), CLV_EUSAGE, "m.xyz", ".npy", NULL);
    assert_refused(clv_write_dense(ctx, "/nowhere/m.npy", &sparse), CLV_ECREATE, "/nowhere/m.npy", NULL);
}

static void test_labels(void **state) {
    (void)state;
    static const char *const names[] = {"y.npy", "y.csv", "y.txt", "y.csv.gz", "y.npy.gz"};
    static const int32_t labels[] = {3, -1, 0, 2147483647};
    for (size_t f = 0; f < 5; f++) {
        const char *path = in_folder(names[f]);
        int64_t n;
        int32_t *back;
        assert_ok(clv_write_labels(ctx, path, labels, 4));
        assert_ok(clv_read_labels(ctx, path, &n, &back));
        assert_int_equal(n, 4);
        assert_labels(back, 4, labels);
        clv_release(ctx, back);
        if (f == 1) {
            check_content(path, "row,label\n1,3\n2,-1\n3,0\n4,2147483647\n");
        }
        unlink(path);
    }
    assert_refused(clv_write_labels(ctx, "y.png", labels, 4), CLV_EUSAGE, "y.png", ".npy", NULL);
}

/* Rows keep their names, those that were dropped get -1, columns keep theirs. */
static void test_names(void **state) {
    (void)state;
    static const char text[] = "key,a,\"b \"\"c\"\"\"\n\"x, 1\",1,2\n7,,5\ny,3,4\n";
    static const int32_t labels[] = {5, 8};
    clv_data *data;
    assert_ok(
        clv_csv_parse(ctx, text_bytes(text, "a.csv"), &(clv_read_options){.missing = CLV_MISSING_DROP}, 0, &data));
    const char *path = in_folder("y.csv"), *plain = in_folder("y.txt"), *matrix = in_folder("m.csv");
    assert_ok(clv_write_labels_of(ctx, path, labels, 2, data, NULL));
    check_content(path, "key,label\n\"x, 1\",5\n7,-1\ny,8\n");
    assert_ok(clv_write_labels_of(ctx, plain, labels, 2, data, NULL));
    check_content(plain, "5\n-1\n8\n");
    static const char *const classes[] = {"cat", "dog \"x\""};
    assert_ok(clv_write_labels_of(ctx, path, (const int32_t[]){1, 0}, 2, data, classes));
    check_content(path, "key,label\n\"x, 1\",\"dog \"\"x\"\"\"\n7,-1\ny,cat\n");
    const char *names[] = {clv_data_column(data, 0), clv_data_column(data, 1)};
    assert_ok(clv_write_named(ctx, matrix, clv_data_matrix(data), data, (double)NAN, names));
    check_content(matrix, "key,a,\"b \"\"c\"\"\"\n\"x, 1\",1,2\n7,,\ny,3,4\n");
    const clv_matrix sparse = {.rows = 2,
                               .cols = 2,
                               .values = (const double[]){0.5, 1},
                               .start = (const int64_t[]){0, 1, 2},
                               .index = (const int32_t[]){1, 0}};
    assert_ok(clv_write_named(ctx, matrix, &sparse, data, 0, names));
    check_content(matrix, "key,a,\"b \"\"c\"\"\"\n\"x, 1\",0,0.5\n7,0,0\ny,1,0\n");
    const char *filled = in_folder("m.npy");
    clv_data *back;
    assert_ok(clv_write_named(ctx, filled, &sparse, data, 0, names));
    assert_ok(clv_read(ctx, filled, NULL, &back));
    static const double expected[] = {0, 0.5, 0, 0, 1, 0};
    assert_int_equal(clv_data_matrix(back)->rows, 3);
    assert_memory_equal(clv_data_matrix(back)->values, expected, sizeof expected);
    clv_data_free(back);
    unlink(filled);
    clv_data_free(data);
    unlink(path);
    unlink(plain);
    unlink(matrix);
}

/* What is compressed is read back as it was, from several members, too; what is cut short is refused. */
static void test_gzip(void **state) {
    (void)state;
    const char *path = in_folder("m.csv.gz");
    static double values[3000];
    for (int i = 0; i < 3000; i++) {
        values[i] = sin(i);
    }
    const clv_matrix m = {.rows = 1000, .cols = 3, .values = values};
    clv_data *data;
    assert_ok(clv_write_matrix(ctx, path, &m));
    assert_ok(clv_read(ctx, path, NULL, &data));
    assert_int_equal(clv_data_matrix(data)->rows, 1000);
    assert_memory_equal(clv_data_matrix(data)->values, values, sizeof values);
    clv_data_free(data);
    static char bytes[1 << 16], twice[1 << 17];
    FILE *file = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(size > 100 && size < sizeof bytes && bytes[0] == 0x1f);
    memcpy(twice, bytes, size);
    memcpy(twice + size, bytes, size);
    put_file(path, twice, 2 * size);
    assert_ok(clv_read(ctx, path, NULL, &data));
    assert_int_equal(clv_data_matrix(data)->rows, 2000);
    clv_data_free(data);
    put_file(path, bytes, size - 10);
    assert_refused(clv_read(ctx, path, NULL, &data), CLV_EDATA, "m.csv.gz is damaged", NULL);
    bytes[size / 2] = (char)~bytes[size / 2];
    put_file(path, bytes, size);
    assert_refused(clv_read(ctx, path, NULL, &data), CLV_EDATA, "m.csv.gz", NULL);
    unlink(path);
}

static void test_modes(void **state) {
    (void)state;
    struct stat info;
    const char *path = in_folder("t.json");
    mode_t before = umask(027);
    assert_ok(clv_write_text(ctx, path, "new", 3));
    umask(before);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    chmod(path, 0604);
    assert_ok(clv_write_text(ctx, path, "newer", 5));
    check_content(path, "newer");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0604);
    assert_int_equal(count_files(), 1);
    unlink(path);
}

static void test_links(void **state) {
    (void)state;
    struct stat info;
    const char *target = in_folder("target");
    const char *link = in_folder("link");
    assert_int_equal(symlink("target", link), 0);
    assert_ok(clv_write_text(ctx, link, "one", 3)); /* the target is not there yet */
    check_content(target, "one");
    assert_ok(clv_write_text(ctx, link, "two", 3));
    check_content(target, "two");
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    unlink(target);
    unlink(link);
    assert_int_equal(symlink("link", link), 0); /* round and round */
    assert_refused(clv_write_text(ctx, link, "x", 1), CLV_ECREATE, "link", NULL);
    unlink(link);
}

static void test_refused(void **state) {
    (void)state;
    const char *path = in_folder("nowhere/t.json");
    assert_refused(clv_write_text(ctx, path, "x", 1), CLV_ECREATE, path, "No such file", NULL);
    assert_refused(clv_write_text(ctx, folder, "x", 1), CLV_ECREATE, folder, "directory", NULL);
    char name[5000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_refused(clv_write_text(ctx, name, "x", 1), CLV_ECREATE, "xxx", NULL);
    char longer[400]; /* a temporary file can be made, but not renamed to this */
    snprintf(longer, sizeof longer, "%s/%.300s", folder, name);
    assert_refused(clv_write_text(ctx, longer, "x", 1), CLV_ECREATE, "too long", NULL);
    assert_int_equal(count_files(), 0);
    if (geteuid() != 0) { /* root may write anything */
        path = in_folder("t.json");
        put_file(path, "old", 3);
        chmod(path, 0444);
        assert_refused(clv_write_text(ctx, path, "x", 1), CLV_ECREATE, path, "denied", NULL);
        check_content(path, "old");
        unlink(path);
    }
}

/* The file system takes no more bytes half-way: the old content stays, no temporary file does. */
static void test_full(void **state) {
    (void)state;
    const char *path = in_folder("t.txt");
    put_file(path, "old", 3);
    char *text = calloc(1, 1 << 20);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {4096, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    clv_status status = clv_write_text(ctx, path, text, 1 << 20);
    clv_status in_pieces = clv_write_text(ctx, path, text, 10000);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_refused(status, CLV_EIO, path, "large", NULL);
    assert_int_equal(in_pieces, CLV_EIO);
    check_content(path, "old");
    assert_int_equal(count_files(), 1);
    unlink(path);
    free(text);
}

/* What is no regular file is written as it is. */
static void test_direct(void **state) {
    (void)state;
    char got[4] = "";
    const char *fifo = in_folder("pipe");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int reading = open(fifo, O_RDONLY | O_NONBLOCK);
    assert_ok(clv_write_text(ctx, fifo, "abc", 3));
    assert_int_equal(read(reading, got, 3), 3);
    assert_string_equal(got, "abc");
    close(reading);
    struct stat info;
    assert_true(stat(fifo, &info) == 0 && S_ISFIFO(info.st_mode));
    unlink(fifo);
    assert_ok(clv_write_text(ctx, "/dev/null", "abc", 3));
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    assert_ok(clv_write_text(ctx, path, "xyz", 3));
    assert_int_equal(read(ends[0], got, 3), 3);
    assert_string_equal(got, "xyz");
    close(ends[0]);
    close(ends[1]);
    assert_refused(clv_write_text(ctx, "/dev/fd/9999", "x", 1), CLV_ECREATE, "/dev/fd/9999", NULL);
}

/* Appended to where the shell's `>>` stands, not from the start of the file. */
static void test_standard_output(void **state) {
    (void)state;
    const char *path = in_folder("out.txt");
    put_file(path, "before ", 7);
    int file = open(path, O_WRONLY | O_APPEND);
    fflush(stdout);
    int held = dup(STDOUT_FILENO);
    dup2(file, STDOUT_FILENO);
    close(file);
    clv_status status = clv_write_text(ctx, "/dev/stdout", "after", 5);
    dup2(held, STDOUT_FILENO);
    close(held);
    assert_ok(status);
    check_content(path, "before after");
    unlink(path);
}

/* More than the buffer, in pieces that do not fit it evenly. */
static void test_large(void **state) {
    (void)state;
    enum { LARGE = 40000 };
    const char *path = in_folder("y.csv");
    int32_t *labels = calloc(LARGE, sizeof *labels);
    for (int i = 0; i < LARGE; i++) {
        labels[i] = (i * 7919) % 100003;
    }
    int64_t n;
    int32_t *back;
    assert_ok(clv_write_labels(ctx, path, labels, LARGE));
    assert_ok(clv_read_labels(ctx, path, &n, &back));
    assert_int_equal(n, LARGE);
    assert_labels(back, LARGE, labels);
    clv_release(ctx, back);
    free(labels);
    unlink(path);
}

static clv_status write_all(clv_context *in, void *user) {
    static const double values[] = {1, 2, 3, 4};
    static const int32_t labels[] = {0, 1};
    static const char *const names[] = {"m.npy", "m.csv", "m.mtx"};
    char path[256];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", (const char *)user, names[i]);
        clv_status status = clv_write_matrix(in, path, &(clv_matrix){2, 2, CLV_F64, values, NULL, NULL});
        unlink(path);
        CLV_TRY(status);
    }
    snprintf(path, sizeof path, "%s/y.npy", (const char *)user);
    clv_status status = clv_write_labels(in, path, labels, 2);
    unlink(path);
    return status;
}

/* A row for each row of a file, of which one was dropped. */
static clv_status write_spread(clv_context *in, void *user) {
    static const char *const names[] = {"a", "b"}, *const files[] = {"s.csv", "s.mtx"};
    static const double values[] = {1, 2, 3, 4};
    const clv_matrix dense = {.rows = 2, .cols = 2, .values = values};
    const clv_matrix sparse = {
        .rows = 2, .cols = 2, .values = values, .start = (const int64_t[]){0, 1, 2}, .index = (const int32_t[]){1, 0}};
    clv_data *data;
    clv_read_options how = {.missing = CLV_MISSING_DROP};
    CLV_TRY(clv_csv_parse(in, text_bytes("a,b\n1,2\n3,\n5,6\n", "a.csv"), &how, 0, &data));
    clv_status status = CLV_OK;
    for (int i = 0; status == CLV_OK && i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", (const char *)user, files[i]);
        status = clv_write_named(in, path, i ? &sparse : &dense, data, i ? 0 : (double)NAN, names);
        if (status == CLV_OK) {
            check_content(path, i ? "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 2 1\n3 1 2\n"
                                  : "row,a,b\n1,1,2\n2,,\n3,3,4\n");
        }
        unlink(path);
    }
    clv_data_free(data);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    fail_each_allocation(write_all, folder);
    fail_each_allocation(write_spread, folder);
    assert_int_equal(count_files(), 0);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
    const struct CMUnitTest tests[] = {
        CASE(test_dense), CASE(test_symmetric), CASE(test_sparse), CASE(test_filled),          CASE(test_labels),
        CASE(test_names), CASE(test_gzip),      CASE(test_modes),  CASE(test_links),           CASE(test_refused),
        CASE(test_full),  CASE(test_direct),    CASE(test_large),  CASE(test_standard_output), CASE(test_allocations),
    };
    return cmocka_run_group_tests_name("io_write", tests, NULL, NULL);
}
