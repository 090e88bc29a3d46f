/* The layout of CSV files: no row is lost as a header, no row number or row name is clustered. */
#include "io_support.h"

static clv_status parse(const char *text, const clv_read_options *options, clv_data **out) {
    return clv_csv_parse(ctx, text_bytes(text, "a.csv"), options, 0, out);
}

/* A 2 x 2 matrix 1, 2, 3, 4, with this note, and with labels if `labels`. */
static void check_four(const char *text, const char *note, const int32_t *labels) {
    clv_data *data;
    clv_status status = parse(text, NULL, &data);
    if (status != CLV_OK) {
        print_error("reading '%s'\n", text);
    }
    assert_ok(status);
    assert_dense(data, 2, 2, (double[]){1, 2, 3, 4});
    assert_string_equal(clv_data_note(data), note);
    if (labels) {
        assert_labels(clv_data_labels(data), 2, labels);
    } else {
        assert_null(clv_data_labels(data));
    }
    clv_data_free(data);
}

static void test_names_over_numbers_are_a_header(void **state) {
    (void)state;
    check_four("1,2\n3,4\n", "no header; 2 columns used", NULL);
    check_four("a,b\n1,2\n3,4\n", "2 columns used", NULL);
    check_four("# made by hand\n\na,b\n1,2\n3,4\n", "2 columns used; 1 comment line skipped", NULL);
    check_four("RI,Na\n1,2\n3,4\n", "2 columns used", NULL); /* sodium is not missing */
    check_four("1stFlrSF,b\n1,2\n3,4\n", "2 columns used", NULL);
    check_four("None.,null_\n1,2\n3,4\n", "2 columns used", NULL);
    check_four("a,b,y\n1,2,0\n3,4,1\n", "2 columns used; truth: y", (int32_t[]){0, 1});
}

/* Each first line would be lost if it were taken for a header. */
static void test_bad_first_rows_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *line, *place;
    } cases[] = {
        {"1.2.3,2,3", "column 1: '1.2.3'"},  {"\"1,000\",2,3", "column 1: '1,000'"}, {"0x10,2,3", "column 1: '0x10'"},
        {"1,x,3", "column 2: 'x'"},          {"a,b,2019", "column 1: 'a'"},          {"a,NA,c", "column 1: 'a'"},
        {"a,?,c", "column 1: 'a'"},          {"a,NULL,c", "column 1: 'a'"},          {"a,,c", "column 1: 'a'"},
        {"1.2.3,4.5.6,7e", "column 1: '1."},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char text[100];
        clv_data *data;
        snprintf(text, sizeof text, "%s\n4,5,6\n7,8,9\n", cases[c].line);
        assert_refused(parse(text, NULL, &data), CLV_EDATA, "a.csv line 1", cases[c].place, "is not a number",
                       "(if the first line names the columns, use --header yes)", NULL);
        assert_ok(parse(text, &(clv_read_options){.header = CLV_HEADER_YES}, &data));
        assert_dense(data, 2, 3, (double[]){4, 5, 6, 7, 8, 9});
        clv_data_free(data);
    }
    clv_data *data;
    static const char *const missing[] = {"NA,2,3", "NA,NA,NA", ",,", ",2,3"};
    for (size_t c = 0; c < sizeof missing / sizeof missing[0]; c++) { /* a row of which something is missing */
        char text[100];
        snprintf(text, sizeof text, "%s\n4,5,6\n7,8,9\n", missing[c]);
        assert_refused(parse(text, NULL, &data), CLV_EDATA, "a.csv: column", " 1 ", "line 1)", "--missing drop", NULL);
    }
    assert_refused(parse("a,b,nan\n4,5,6\n", NULL, &data), CLV_EDATA, "a.csv line 1", "'a'", "--header yes", NULL);
    assert_refused(parse("1.2.3\n4\n5\n", NULL, &data), CLV_EDATA, "a.csv line 1 column 1", "'1.2.3'", NULL);
    assert_refused(parse(",a\n5,a\n6,b\n", NULL, &data), CLV_EDATA, "a.csv: column 1 has 1 missing cell (line 1)",
                   NULL);
    clv_read_options second = {.label_column = "2"}; /* labels may be text and numbers, so they prove nothing */
    assert_refused(parse("1.2.3,b\n5,1\n6,1\n", &second, &data), CLV_EDATA, "line 1 column 1: '1.2.3'", NULL);
    assert_refused(parse("p,7\n5,1\n6,1\n", &second, &data), CLV_EDATA, "line 1 column 1: 'p'", NULL);
    assert_refused(parse("1.2.3,b\n5,a\n6,a\n", NULL, &data), CLV_EDATA, "a.csv line 1 column 1", "'1.2.3'", NULL);
}

static void test_row_numbers_are_dropped(void **state) {
    (void)state;
    check_four("\"\",\"a\",\"b\"\n\"1\",1,2\n\"2\",3,4\n", "2 columns used; dropped: column 1 (row names)", NULL);
    check_four(",a,b\n0,1,2\n1,3,4\n", "2 columns used; dropped: column 1 (row names)", NULL);
    check_four("a,ID,b\n1,1,2\n3,2,4\n", "2 columns used; dropped: ID (row names)", NULL);
    check_four("index,a,b,Row\n0,1,2,1\n1,3,4,2\n", "2 columns used; dropped: index (row names), Row (row names)",
               NULL);
    check_four(",a,b,species\n0,1,2,x\n1,3,4,y\n", "2 columns used; truth: species; dropped: column 1 (row names)",
               (int32_t[]){0, 1});
    check_four("species,id,a,b\nx,0,1,2\ny,1,3,4\n", "2 columns used; truth: species; dropped: id (row names)",
               (int32_t[]){0, 1});
    check_four("a,id,b\n1,7,2\n3,,4\n", "2 columns used; dropped: id (row names)", NULL);
    check_four(",9,5\nx,1.0,2.0\ny,3,4\n", "2 columns used; dropped: column 1 (row names)", NULL);
    clv_data *data;
    assert_ok(parse(",5,1,9\na,1.5,2,3\nb,2.5,4,5\n", NULL, &data)); /* of shuffled rows, turned */
    assert_dense(data, 2, 3, (double[]){1.5, 2, 3, 2.5, 4, 5});
    clv_data_free(data);
}

/* A first column without a name, and one with the name of an id, are no features, whatever their order. */
static void test_ids_need_no_order(void **state) {
    (void)state;
    check_four("\"\",a,b\n57,1,2\n3,3,4\n", "2 columns used; dropped: column 1 (row names)", NULL);
    check_four(",a,b\n7,1,2\n7,3,4\n", "2 columns used; dropped: column 1 (row names)", NULL);
    static const char *const names[] = {"id",     "Index",       "ROW",      "key",         "No",
                                        "number", "customer_id", "Order_ID", "uuid",        "account_number",
                                        "rownum", "userid",      "USERID",   "ID_customer", "pk",
                                        "Nummer", "Order No",    "RowNr"};
    for (size_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        char text[64], note[64];
        snprintf(text, sizeof text, "a,%s,b\n1,99,2\n3,-4,4\n", names[c]);
        snprintf(note, sizeof note, "2 columns used; dropped: %s (row names)", names[c]);
        check_four(text, note, NULL);
    }
    static const char *const features[] = {"acid",      "humid", "atomic_number", "number_of_rooms", "idle",
                                           "rows_read", "age"};
    for (size_t c = 0; c < sizeof features / sizeof features[0]; c++) {
        char text[64];
        snprintf(text, sizeof text, "%s,b\n1,2\n3,4\n", features[c]);
        check_four(text, "2 columns used", NULL);
    }
    clv_data *data;
    assert_ok(parse("id,a\nx7,1\nx3,2\n", NULL, &data));
    assert_string_equal(clv_data_id_name(data), "id");
    assert_string_equal(clv_data_id(data, 0), "x7");
    assert_string_equal(clv_data_id(data, 1), "x3");
    assert_null(clv_data_id(data, 2));
    assert_string_equal(clv_data_column(data, 0), "a");
    assert_null(clv_data_column(data, 1));
    clv_data_free(data);
}

/* Columns that repeat, or have another name, or are all there is. */
static void test_other_numbers_are_kept(void **state) {
    (void)state;
    clv_data *data;
    static const char *const kept[] = {"a,b\n0,5\n1,6\n", "0,5\n1,6\n", "a,idle\n0,5\n1,6\n"};
    for (size_t c = 0; c < sizeof kept / sizeof kept[0]; c++) {
        assert_ok(parse(kept[c], NULL, &data));
        assert_dense(data, 2, 2, (double[]){0, 5, 1, 6});
        clv_data_free(data);
    }
    static const char *const others[] = {"id,b\n2,5\n2,6\n", "b,id\n2,5.5\n2,6\n"};
    for (size_t c = 0; c < sizeof others / sizeof others[0]; c++) {
        assert_ok(parse(others[c], NULL, &data));
        assert_int_equal(clv_data_matrix(data)->cols, 2);
        clv_data_free(data);
    }
    assert_ok(parse("a,,b\n5,0,7\n6,1,8\n", &(clv_read_options){.header = CLV_HEADER_YES}, &data));
    assert_dense(data, 2, 3, (double[]){5, 0, 7, 6, 1, 8});
    clv_data_free(data);
    assert_ok(parse("id\n0\n1\n", NULL, &data));
    assert_dense(data, 2, 1, (double[]){0, 1});
    clv_data_free(data);
    assert_ok(parse("id,label\n0,a\n1,a\n", NULL, &data)); /* all there is */
    assert_dense(data, 2, 1, (double[]){0, 1});
    clv_data_free(data);
    assert_ok(parse(",b\n1,5\n2,6\n", &(clv_read_options){.label_column = "1"}, &data)); /* asked for as labels */
    assert_dense(data, 2, 1, (double[]){5, 6});
    assert_labels(clv_data_labels(data), 2, (int32_t[]){0, 1});
    clv_data_free(data);
    assert_ok(parse("id,b\n1,5\n2,6\n", &(clv_read_options){.id_column = "none"}, &data));
    assert_dense(data, 2, 2, (double[]){1, 5, 2, 6});
    clv_data_free(data);
}

/* What looks like an id and is used is warned about. */
static void test_warnings(void **state) {
    (void)state;
    static const struct {
        const char *name, *warning;
        int repeats;
    } cases[] = {
        {"code", "column 1 'code' has a different whole number in every row and is used as a feature", 0},
        {"code", "", 1},
        {"id", "column 1 'id' is named like an id, but repeats or is incomplete, and is used as a feature", 1}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char text[400];
        int size = snprintf(text, sizeof text, "%s,b\n", cases[c].name);
        for (int i = 0; i < 20; i++) {
            size += snprintf(text + size, sizeof text - (size_t)size, "%d,%d.5\n",
                             (i * 7) % (cases[c].repeats ? 19 : 20), i);
        }
        clv_data *data;
        assert_ok(parse(text, NULL, &data));
        assert_int_equal(clv_data_matrix(data)->cols, 2);
        assert_true(strncmp(clv_data_warning(data), cases[c].warning, strlen(cases[c].warning)) == 0);
        assert_true(cases[c].warning[0] || clv_data_warning(data)[0] == '\0');
        clv_data_free(data);
    }
}

/* Numbers with units in a first column are no row names in silence. */
static void test_names_that_may_be_numbers(void **state) {
    (void)state;
    static const struct {
        const char *name, *first, *second;
        bool warned;
    } cases[] = {{"weight", "50 kg", "60 kg", true}, {"a", "1.234.567", "2.234.567", true},
                 {"a", "1.5D+02", "1.6D+02", true},  {"a", "1_000", "2_000", true},
                 {"a", "0x1A", "0x1B", true},        {"a", "<0.5", "<= 0.7", true},
                 {"a", "u1", "u2", false},           {"day", "2024-01-31", "2024-02-01", false},
                 {"sample", "50-A", "60-A", false},  {"", "50 kg", "60 kg", false},
                 {"label", "<=50K", ">50K", false}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char text[100];
        clv_data *data;
        snprintf(text, sizeof text, "%s,b,c\n%s,1,2\n%s,3,4\n", cases[c].name, cases[c].first, cases[c].second);
        assert_ok(parse(text, NULL, &data));
        assert_int_equal(clv_data_matrix(data)->cols, 2);
        assert_int_equal(strstr(clv_data_warning(data), "holds texts that begin with digits") != NULL, cases[c].warned);
        assert_true(!cases[c].warned || strstr(clv_data_warning(data), cases[c].first));
        clv_data_free(data);
    }
}

/* Ids that were asked for and repeat. */
static void test_ids_that_repeat(void **state) {
    (void)state;
    clv_data *data;
    assert_ok(parse("code,a\nu,1\nv,2\nu,3\n", &(clv_read_options){.id_column = "code"}, &data));
    assert_string_equal(clv_data_warning(data),
                        "column 1 'code' of --id-column has 'u' in more than one row: it does not "
                        "say which row is which");
    clv_data_free(data);
    assert_ok(parse("code,a\nu,1\nv,2\nw,3\n", &(clv_read_options){.id_column = "code"}, &data));
    assert_string_equal(clv_data_warning(data), "");
    clv_data_free(data);
}

/* Columns that prediction could not tell apart are warned about, however few rows there are. */
static void test_namesakes(void **state) {
    (void)state;
    clv_data *data;
    assert_ok(parse("x,y,x\n1,2,3\n4,5,7\n", NULL, &data));
    assert_non_null(
        strstr(clv_data_warning(data), "columns 1 and 3 are both named 'x': new objects cannot be labeled"));
    clv_data_free(data);
    assert_ok(parse("x,y,x\n1,2,3\n4,5,7\n", &(clv_read_options){.drop = "3"}, &data));
    assert_string_equal(clv_data_warning(data), "");
    clv_data_free(data);
}

static void test_shorter_header(void **state) {
    (void)state;
    check_four("\"a\" \"b\"\n\"1\" 1 2\n\"2\" 3 4\n", "2 columns used; dropped: column 1 (row names)", NULL);
    check_four("\"a\" \"b\"\n\"Mazda RX4\" 1 2\n\"Datsun 710\" 3 4\n", "2 columns used; dropped: column 1 (row names)",
               NULL);
    check_four("a,b\n17,1,2\n4,3,4\n", "2 columns used; dropped: column 1 (row names)", NULL);
    check_four("a,b,Species\n1,1,2,x\n2,3,4,x\n", "2 columns used; truth: Species; dropped: column 1 (row names)",
               (int32_t[]){0, 0});
    clv_data *data;
    assert_ok(parse("8,9\nr,1,2\ns,3,4\n", &(clv_read_options){.header = CLV_HEADER_YES}, &data));
    assert_dense(data, 2, 2, (double[]){1, 2, 3, 4});
    clv_data_free(data);
    check_four("a,b\n7,1,2\n7,3,4\n", "2 columns used; dropped: column 1 (row names)", NULL);
    assert_refused(parse("a,b\n1,2,\n3,4,\n", NULL, &data), CLV_EDATA,
                   "a.csv: the rows end in a comma, and the names in line 1 do not: put one behind them", NULL);
    assert_refused(parse("a;b\n1;2;\n3;4;\n", &(clv_read_options){.drop = "b"}, &data), CLV_EDATA,
                   "the rows end in a semicolon", NULL);
    assert_refused(parse("a,b,c\nr,1,2,\ns,3,4,5\n", NULL, &data), CLV_EDATA, "column 4 'c' has 1 missing cell", NULL);
    assert_refused(parse("1,2\n3,4,5\n", NULL, &data), CLV_EDATA, "line 2 has 3 fields, 2 were expected", NULL);
    assert_refused(parse("a,b\n1,2,3,4\n", NULL, &data), CLV_EDATA, "line 2 has 4 fields, 2 were expected", NULL);
    assert_refused(parse("a,b\n1,2,3\n4,5\n", NULL, &data), CLV_EDATA, "line 3 has 2 fields, 3 were expected", NULL);
}

static void test_row_names_are_dropped(void **state) {
    (void)state;
    check_four("rex,1,2\ntom,3,4\n", "no header; 2 columns used; dropped: column 1 (row names)", NULL);
    check_four("name,a,b\nrex,1,2\ntom,3,4\n", "2 columns used; dropped: name (row names)", NULL);
    check_four("\"\",\"a\",\"b\"\n\"rex\",1,2\n\"tom\",3,4\n", "2 columns used; dropped: column 1 (row names)", NULL);
    check_four("rex,1,2,dog\ntom,3,4,dog\n",
               "no header; 2 columns used; truth: column 4; dropped: column 1 (row names)", (int32_t[]){0, 0});
    clv_data *data;
    assert_ok(parse("rex,1,2\ntom,3,4\n", &(clv_read_options){.label_column = "none"}, &data));
    assert_dense(data, 2, 2, (double[]){1, 2, 3, 4});
    clv_data_free(data);
    assert_ok(parse("rex,1,2\ntom,3,4\n", &(clv_read_options){.label_column = "1"}, &data));
    assert_labels(clv_data_labels(data), 2, (int32_t[]){0, 1});
    clv_data_free(data);
    assert_refused(parse("rex,1,dog\ntom,2,dog\n\nrex,3,cat\n", NULL, &data), CLV_EDATA,
                   "a.csv: column 1 holds text, not numbers ('rex' in line 1)", "--drop 1", NULL);
    assert_refused(parse("# c\nu,1\nv,2\nv,3\n", &(clv_read_options){.label_column = "none"}, &data), CLV_EDATA,
                   "a.csv: column 1 holds text", "'u' in line 2", NULL);
    assert_refused(parse("rex,dog\ntom,dog\n", NULL, &data), CLV_EDATA,
                   "no column of numbers beside row names and labels", NULL);
}

static void test_names_are_no_labels(void **state) {
    (void)state;
    clv_data *data;
    assert_refused(parse("a,pet\n1,rex\n2,tom\n", NULL, &data), CLV_EDATA, "a.csv: column 2 'pet' holds text",
                   "--label-column 'pet'", NULL);
    assert_refused(parse("1,rex\n2,tom\n", NULL, &data), CLV_EDATA, "a.csv: column 2 holds", "--label-column 2", NULL);
    assert_refused(parse("a,pet,b\n1,rex,3\n2,tom,4\n", NULL, &data), CLV_EDATA, "column 2 'pet'", "'rex' in line 2",
                   "--label-column 'pet'", NULL);
    assert_ok(parse("a,name\n1,rex\n2,tom\n", NULL, &data));
    assert_string_equal(clv_data_id(data, 1), "tom");
    clv_data_free(data);
    assert_ok(parse("1,rex\n2,tom\n", &(clv_read_options){.label_column = "2"}, &data));
    assert_labels(clv_data_labels(data), 2, (int32_t[]){0, 1});
    clv_data_free(data);
    assert_ok(parse("1,rex\n", NULL, &data)); /* one row says nothing */
    assert_labels(clv_data_labels(data), 1, (int32_t[]){0});
    clv_data_free(data);
}

static void test_names_of_label_columns(void **state) {
    (void)state;
    static const char *const names[] = {"label",   "labels",   "class", "target",  "species", "y",
                                        "variety", "Category", "TRUTH", "outcome", "Cluster"};
    for (size_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        char text[64], note[64];
        snprintf(text, sizeof text, "p,%s,q\n1,8,2\n3,7,4\n", names[c]);
        snprintf(note, sizeof note, "2 columns used; truth: %s", names[c]);
        check_four(text, note, (int32_t[]){1, 0});
    }
}

static void test_notes_of_other_formats(void **state) {
    (void)state;
    clv_data *data;
    assert_ok(clv_svm_parse(ctx, text_bytes("1 1:2\n", "a.svm"), &data));
    assert_string_equal(clv_data_note(data), "");
    clv_data_free(data);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
    const struct CMUnitTest tests[] = {
        CASE(test_names_over_numbers_are_a_header),
        CASE(test_bad_first_rows_are_refused),
        CASE(test_row_numbers_are_dropped),
        CASE(test_ids_need_no_order),
        CASE(test_other_numbers_are_kept),
        CASE(test_warnings),
        CASE(test_namesakes),
        CASE(test_ids_that_repeat),
        CASE(test_names_that_may_be_numbers),
        CASE(test_shorter_header),
        CASE(test_row_names_are_dropped),
        CASE(test_names_are_no_labels),
        CASE(test_names_of_label_columns),
        CASE(test_notes_of_other_formats),
    };
    return cmocka_run_group_tests_name("io_layout", tests, NULL, NULL);
}
