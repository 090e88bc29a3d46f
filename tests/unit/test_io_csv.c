/* CSV and its relatives: every feature, every refusal with its place. */
#include "io_support.h"

static clv_status parse(const char *text, const clv_read_options *options, clv_data **out) {
    return clv_csv_parse(ctx, text_bytes(text, "a.csv"), options, 0, out);
}

static void check(const char *text, int64_t rows, int64_t cols, const double *values) {
    clv_data *data;
    clv_status status = parse(text, NULL, &data);
    if (status != CLV_OK) {
        print_error("reading '%s'\n", text);
    }
    assert_ok(status);
    assert_dense(data, rows, cols, values);
    clv_data_free(data);
}

static void test_separators(void **state) {
    (void)state;
    static const double four[] = {1, 2, 3, 4};
    check("1,2\n3,4\n", 2, 2, four);
    check("1;2\n3;4", 2, 2, four);
    check("1\t2\n3\t4\n", 2, 2, four);
    check("1 2\n3 4\n", 2, 2, four);
    check("  1   2 \n\t3 \t 4\t\n", 2, 2, four);
    check(" 1 , 2\n3 ,4 \n", 2, 2, four);
    check("a b\n1 2\n3 4\n", 2, 2, four);
    check("1\n2\n3\n4\n", 4, 1, four);
    check("\"a,b\";c\n1;2\n3;4\n", 2, 2, four);
    clv_data *data;
    assert_ok(clv_csv_parse(ctx, text_bytes("1\t2\n3\t4\n", "a.tsv"), NULL, '\t', &data));
    assert_dense(data, 2, 2, four);
    clv_data_free(data);
    assert_refused(clv_csv_parse(ctx, text_bytes("1,2\n3,4\n", "a.tsv"), NULL, '\t', &data), CLV_EDATA, "a.tsv line 1",
                   "1,2", NULL);
}

static void test_lines(void **state) {
    (void)state;
    static const double four[] = {1, 2, 3, 4};
    check("1,2\r\n3,4\r\n", 2, 2, four);
    check("1,2\r3,4\r", 2, 2, four);
    check("1,2\r3,4\n", 2, 2, four);
    check("\xef\xbb\xbf"
          "1,2\n3,4",
          2, 2, four);
    check("# a comment, with a comma\n\n1,2\n   \n # more\n3,4\n\n\n", 2, 2, four);
    check("\"1\",\" 2\"\n3 , \"4\" \n", 2, 2, four);
    check("1e0,+2.\n.3e1,400e-2\n", 2, 2, four);
}

static void test_header(void **state) {
    (void)state;
    static const double four[] = {1, 2, 3, 4};
    clv_data *data;
    check("a,b\n1,2\n3,4\n", 2, 2, four);
    check("\"two\nlines\",b\n1,2\n3,4\n", 2, 2, four);
    check("\"\",b\n1,2\n3,4\n", 2, 2, four);
    check("x,y\n1,2\n3,4\n", 2, 2, four); /* coordinates, not labels */
    assert_ok(parse("9,9\n1,2\n3,4\n", &(clv_read_options){.header = CLV_HEADER_YES}, &data));
    assert_dense(data, 2, 2, four);
    clv_data_free(data);
    assert_refused(parse("a,2\n1,2\n", &(clv_read_options){.header = CLV_HEADER_NO, .label_column = "none"}, &data),
                   CLV_EDATA, "a.csv line 1 column 1: 'a' is not a number", NULL);
    assert_refused(parse("a,b\n", NULL, &data), CLV_EDATA, "a.csv has a header and no data", NULL);
}

static void check_labels(const char *text, const char *column, int64_t n, int64_t cols, const int32_t *labels) {
    clv_data *data;
    assert_ok(parse(text, &(clv_read_options){.label_column = column}, &data));
    assert_int_equal(clv_data_matrix(data)->rows, n);
    assert_int_equal(clv_data_matrix(data)->cols, cols);
    if (labels) {
        assert_labels(clv_data_labels(data), n, labels);
    } else {
        assert_null(clv_data_labels(data));
    }
    clv_data_free(data);
}

static void test_label_column(void **state) {
    (void)state;
    check_labels("1,2,b\n3,4,a\n5,6,b\n", NULL, 3, 2, (int32_t[]){1, 0, 1});
    check_labels("b,1,2\na,3,4\nb,5,6\n", NULL, 3, 2, (int32_t[]){1, 0, 1});
    check_labels("p,q,b\n1,2,b\n3,4,a\n5,6,b\n", NULL, 3, 2, (int32_t[]){1, 0, 1});
    check_labels("p,Class,q\n1,10,2\n3,9,4\n5,-1,6\n", NULL, 3, 2, (int32_t[]){2, 1, 0}); /* by number, not by text */
    check_labels("p,q,y\n1,2,1\n3,4,0\n", NULL, 2, 2, (int32_t[]){1, 0});
    check_labels("p,q,y\n1,2,1\n3,4,0\n", "none", 2, 3, NULL);
    check_labels("p,q,y\n1,2,1\n3,4,0\n", "q", 2, 2, (int32_t[]){0, 1});
    check_labels("p,q,y\n1,2,1\n3,4,0\n", "1", 2, 2, (int32_t[]){0, 1});
    check_labels("1,2,3\n3,4,3\n", "3", 2, 2, (int32_t[]){0, 0});
    check_labels("1,2,3\n3,4,3\n", NULL, 2, 3, NULL);
    check_labels("1,\"a \"\"q\"\"\"\n2,\"a\"\n3,\"a \"\"q\"\"\"\n", NULL, 3, 1, (int32_t[]){1, 0, 1});
    check_labels("1,\"a\"\"z\"\n2,a\"b\n3,a\"z\n", NULL, 3, 1, (int32_t[]){1, 0, 1}); /* a""z is a"z */
    check_labels("p,\"l\"\"q\"\n1,2\n", "l\"q", 1, 1, (int32_t[]){0});
    check_labels("b,7\n1,8\n10,9\n", "1", 3, 1, (int32_t[]){2, 0, 1});
    check_labels("1,2\n2,b\n3,10\n", "2", 3, 1, (int32_t[]){1, 2, 0}); /* mixed: as texts */
    clv_data *data;
    assert_refused(parse("p,q\n1,2\n", &(clv_read_options){.label_column = "r"}, &data), CLV_EUSAGE, "'r'", "a.csv",
                   "1 to 2", NULL);
    assert_refused(parse("1,2\n", &(clv_read_options){.label_column = "3"}, &data), CLV_EUSAGE, "'3'", "1 to 2", NULL);
    assert_refused(parse("p,target\n1,2\n1,2.5\n", NULL, &data), CLV_EDATA, "a.csv row 2 column 2", "2.5", "none",
                   NULL);
    assert_refused(parse("1,a\n1,\n", NULL, &data), CLV_EDATA, "a.csv row 2 column 2", "empty", NULL);
    assert_refused(parse("p,y\n1,1\n1,nan\n", NULL, &data), CLV_EDATA, "a.csv row 2 column 2", "'nan'", NULL);
    assert_refused(parse("1\n2\n", &(clv_read_options){.label_column = "1"}, &data), CLV_EDATA, "no other", NULL);
    assert_refused(parse("1,a\n2,3\n3,a\n", NULL, &data), CLV_EDATA, "line 1 column 2", "'a'", NULL);
    assert_refused(parse("1,a\n2,a\n3,3\n", NULL, &data), CLV_EDATA, "a.csv row 3 column 2", "'3' is a number in a",
                   "none", NULL);
    assert_refused(parse("1,NA\n2,a\n3,a\n", NULL, &data), CLV_EDATA, "a.csv line 1 column 2", "'NA'", NULL);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *part, *other;
    } cases[] = {
        {"", "a.csv is empty", ""},
        {"\n # nothing\n", "a.csv is empty", ""},
        {"1,2\n3,abc\n", "a.csv line 2 column 2: 'abc' is not a number", ""},
        {"p,q,r\n# c\n1,2,3\n\n4,nan,6\n", "a.csv row 2 column 2 (line 5)", "'nan' is not a finite"},
        {"1,2\r\n\r\n3,4\r\n5,x\r\n", "a.csv line 4 column 2", "'x'"},
        {"1,\"2\"\r\n# \"c\r\n3,x\r\n", "a.csv line 3 column 2", "'x'"},
        {"1,2\n-inf,3\n", "a.csv row 2 column 1 (line 2)", "'-inf'"},
        {"1,2\n1e999,3\n", "a.csv row 2 column 1 (line 2)", "'1e999'"},
        {"1,2\n,3\n", "a.csv row 2 column 1 (line 2) is empty", ""},
        {"1,2,\n3,4,5\n", "a.csv", ""},
        {"1,2\n3,4,5\n", "a.csv line 2 has 3 fields, 2 were expected", ""},
        {"1,2,3\n4,x\n", "a.csv line 2 has 2 fields, 3 were expected", ""},
        {"1,2\n3,\"4\n", "a.csv line 2: a quote is opened", ""},
        {"1,2\n3,\"4\"x\n", "a.csv line 2", "'x' after the closing quote"},
        {"1,0x10\n", "a.csv", "is not a number"},
        {"1,1 2\n", "a.csv", "is not a number"},
        {"\xff\xfe"
         "1,2",
         "UTF-16", ""},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        clv_data *data;
        clv_status status = parse(cases[c].text, &(clv_read_options){.label_column = "none"}, &data);
        assert_refused(status, CLV_EDATA, cases[c].part, cases[c].other, NULL);
        assert_null(data);
    }
}

/* Short rows among many lines: the room for them is bounded by the size of the file. */
static void test_many_short_lines(void **state) {
    (void)state;
    char text[3000];
    for (int i = 0; i < 999; i++) {
        text[i] = i % 2 ? ',' : '1';
    }
    memset(text + 999, '\n', 2000);
    text[2999] = '\0';
    clv_data *data;
    assert_ok(parse(text, NULL, &data));
    assert_int_equal(clv_data_matrix(data)->rows, 1);
    assert_int_equal(clv_data_matrix(data)->cols, 500);
    clv_data_free(data);
    assert_refused(parse("1,1\n,\n,\n,\n,\n,\n,\n", NULL, &data), CLV_EDATA, "a.csv", "empty", NULL);
}

static void check_only_labels(const char *text, int64_t count, const int32_t *expected) {
    int64_t n;
    int32_t *labels;
    assert_ok(clv_csv_parse_labels(ctx, text_bytes(text, "y.csv"), 0, &n, &labels));
    assert_int_equal(n, count);
    assert_labels(labels, count, expected);
    clv_release(ctx, labels);
}

static void test_labels(void **state) {
    (void)state;
    check_only_labels("5\n-1\n0\n2.0\n", 4, (int32_t[]){5, -1, 0, 2});
    check_only_labels("label\n5\n7\n", 2, (int32_t[]){5, 7});
    check_only_labels("species\nb\na\n", 2, (int32_t[]){1, 0});
    check_only_labels("b\na\nb\n", 3, (int32_t[]){1, 0, 1});
    check_only_labels("Iris setosa\nIris virginica\nIris setosa\n", 3, (int32_t[]){0, 1, 0});
    check_only_labels("x,y,class\n1,2,7\n3,4,8\n", 2, (int32_t[]){7, 8});
    check_only_labels("1,2,b\n,,a\n", 2, (int32_t[]){1, 0});
    check_only_labels("a\nb\n", 2, (int32_t[]){0, 1});
    check_only_labels("b,1,2\na,3,4\nb,5,6\n", 3, (int32_t[]){1, 0, 1});
    check_only_labels("b,1\na,3\nb,5\n", 3, (int32_t[]){1, 0, 1});
    check_only_labels("rex,1\ntom,3\nfido,1\n", 3, (int32_t[]){1, 3, 1});
    check_only_labels("name,kind\nrex,dog\ntom,cat\nfido,dog\n", 3, (int32_t[]){1, 0, 1});
    check_only_labels("\"\",\"x\"\n\"1\",2\n\"2\",7\n", 2, (int32_t[]){2, 7});
    check_only_labels(",grp\n0,b\n1,a\n", 2, (int32_t[]){1, 0});
    check_only_labels("id,grp\n17,4\n12,5\n", 2, (int32_t[]){4, 5});
    check_only_labels("\"x\"\n\"1\" 2\n\"2\" 7\n", 2, (int32_t[]){2, 7});
    int64_t n;
    int32_t *labels;
    assert_refused(clv_csv_parse_labels(ctx, text_bytes("1,2\n3,4\n", "y.csv"), 0, &n, &labels), CLV_EDATA,
                   "y.csv has 2 columns", NULL);
    assert_refused(clv_csv_parse_labels(ctx, text_bytes("1\n-2\n", "y.csv"), 0, &n, &labels), CLV_EDATA, "y.csv row 2",
                   "'-2'", NULL);
    assert_refused(clv_csv_parse_labels(ctx, text_bytes("1\n2.5\n", "y.csv"), 0, &n, &labels), CLV_EDATA, "y.csv row 2",
                   "'2.5'", NULL);
    assert_refused(clv_csv_parse_labels(ctx, text_bytes("1\n3000000000\n", "y.csv"), 0, &n, &labels), CLV_EDATA,
                   "y.csv row 2", "3000000000", NULL);
    assert_refused(clv_csv_parse_labels(ctx, text_bytes("NA\n1\n2\n", "y.csv"), 0, &n, &labels), CLV_EDATA,
                   "y.csv line 1 column 1: 'NA' is not a number", NULL);
    assert_null(strstr(clv_message(ctx), "--header")); /* labels have no such option */
    assert_refused(clv_csv_parse_labels(ctx, text_bytes("\"a\" \"b\"\n\"1\" 2 3\n", "y.csv"), 0, &n, &labels),
                   CLV_EDATA, "y.csv has 3 columns", NULL);
    assert_null(labels);
}

static void test_files(void **state) {
    (void)state;
    clv_data *data;
    int64_t n;
    int32_t *labels;
    const char *path = in_folder("a.csv");
    put_file(path, "1,2\n3,4\n", 8);
    assert_ok(clv_read(ctx, path, NULL, &data));
    assert_dense(data, 2, 2, (double[]){1, 2, 3, 4});
    clv_data_free(data);
    unlink(path);
    path = in_folder("y.txt");
    put_file(path, "1\n0\n", 4);
    assert_ok(clv_read_labels(ctx, path, &n, &labels));
    assert_labels(labels, 2, (int32_t[]){1, 0});
    clv_release(ctx, labels);
    assert_refused(clv_read(ctx, path, NULL, &data), CLV_EUSAGE, "y.txt", ".npy", ".csv", ".mtx", NULL);
    unlink(path);
    assert_refused(clv_read_labels(ctx, path, &n, &labels), CLV_ENOINPUT, "y.txt", NULL);
    assert_refused(clv_read(ctx, "/.csv", NULL, &data), CLV_ENOINPUT, "/.csv", NULL);
    assert_refused(clv_read_labels(ctx, "a.mtx", &n, &labels), CLV_EUSAGE, "a.mtx", ".npy", NULL);
}

/* A stream of unknown length on standard input. */
static void test_standard_input(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int before = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    assert_int_equal(write(ends[1], "1,2\n3,x\n", 8), 8);
    close(ends[1]);
    clv_data *data;
    clv_status status = clv_read(ctx, "-", NULL, &data);
    dup2(before, STDIN_FILENO);
    close(before);
    assert_refused(status, CLV_EDATA, "standard input line 2 column 2", NULL);
}

static clv_status parse_labeled(clv_context *in, void *user) {
    clv_data *data;
    int64_t n;
    int32_t *labels;
    CLV_TRY(clv_csv_parse(in, text_bytes(user, "a.csv"), NULL, 0, &data));
    clv_data_free(data);
    CLV_TRY(clv_csv_parse_labels(in, text_bytes(user, "a.csv"), 0, &n, &labels));
    clv_release(in, labels);
    return CLV_OK;
}

static void test_allocations(void **state) {
    (void)state;
    char texts[] = "p,q,species\n1,2,b\n\n3,4,a\n";
    char numbers[] = "p,q,y\n1,2,3\n3,4,4\n";
    fail_each_allocation(parse_labeled, texts);
    fail_each_allocation(parse_labeled, numbers);
    char names[] = "id,q,s\n1,2,b\n2,4,a\n3,4,a\n";
    fail_each_allocation(parse_labeled, names);
    char rows[] = ",q,r\nrex,2,dog\ntom,4,cat\nfido,4,cat\n";
    fail_each_allocation(parse_labeled, rows);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
    const struct CMUnitTest tests[] = {
        CASE(test_separators),   CASE(test_lines),   CASE(test_header),
        CASE(test_label_column), CASE(test_refused), CASE(test_many_short_lines),
        CASE(test_labels),       CASE(test_files),   CASE(test_standard_input),
        CASE(test_allocations),
    };
    return cmocka_run_group_tests_name("io_csv", tests, NULL, NULL);
}
