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
    assert_refused(clv_csv_parse(ctx, text_bytes("1,2\n3,4\n", "a.tsv"), NULL, '\t', &data), CLV_EDATA,
                   "a.tsv has no tabs: it looks like a file with commas between the fields", NULL);
    assert_ok(clv_csv_parse(ctx, text_bytes("x\n1\n2\n3\n4\n", "a.tsv"), NULL, '\t', &data));
    assert_dense(data, 4, 1, four);
    clv_data_free(data);
}

static void test_lines(void **state) {
    (void)state;
    static const double four[] = {1, 2, 3, 4};
    check("1|2\n3|4\n", 2, 2, four);
    check("sep=;\r\na;b\r\n1;2\r\n3;4\r\n", 2, 2, four);
    check("sep=\t\n1\t2\n3\t4\n", 2, 2, four);
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

static void check_note(const char *text, const clv_read_options *options, int64_t rows, int64_t cols,
                       const char *note) {
    clv_data *data;
    clv_status status = parse(text, options, &data);
    if (status != CLV_OK) {
        print_error("reading '%s': %s\n", text, clv_message(ctx));
    }
    assert_ok(status);
    assert_string_equal(clv_data_note(data), note);
    assert_int_equal(clv_data_matrix(data)->rows, rows);
    assert_int_equal(clv_data_matrix(data)->cols, cols);
    clv_data_free(data);
}

/* A line that begins with # and has the fields of a row is one. */
static void test_hashes(void **state) {
    (void)state;
    check_note("tag,a,b\n#x,1,2\n#y,3,5\n", NULL, 2, 2, "2 columns used; dropped: tag (row names)");
    check_note("#x,1,2\n#y,3,5\n#z,1,1\n", NULL, 3, 2, "no header; 2 columns used; dropped: column 1 (row names)");
    check_note("#x;1;2\n#y;3;5\n", NULL, 2, 2, "no header; 2 columns used; dropped: column 1 (row names)");
    check_note("#,a,b\n1,1,2\n2,3,5\n", NULL, 2, 2, "2 columns used; dropped: # (row names)");
    check_note("#\ta\tb\n1\t1\t2\n2\t3\t5\n", NULL, 2, 2, "2 columns used; dropped: # (row names)");
    check_note("# of 2024, by hand\na,b\n1,2\n# half\n3,5\n#\n", NULL, 2, 2, "2 columns used; 3 comment lines skipped");
    check_note("# a b\n1 2\n3 5\n", NULL, 2, 2, "no header; 2 columns used; 1 comment line skipped");
    check_note("#one\n1\n5\n2\n", NULL, 3, 1, "no header; 1 column used; 1 comment line skipped");
    check_note("a,b\n#N/A,1\n1,2\n", &(clv_read_options){.missing = CLV_MISSING_MEAN}, 2, 2,
               "2 columns used; 1 missing cell replaced by the mean");
    clv_data *data;
    assert_refused(parse("a,b\n1,2\n#3,4\n", NULL, &data), CLV_EDATA, "'#3' in line 3 is not a number", NULL);
    assert_refused(parse("# of, nothing\n", NULL, &data), CLV_EDATA, "a.csv is empty", NULL);
}

static void test_header(void **state) {
    (void)state;
    static const double four[] = {1, 2, 3, 4};
    clv_data *data;
    check("a,b\n1,2\n3,4\n", 2, 2, four);
    check("\"two\nlines\",b\n1,2\n3,4\n", 2, 2, four);
    check("\"\",a,b\n9,1,2\n9,3,4\n", 2, 2, four);
    check("x,y\n1,2\n3,4\n", 2, 2, four); /* coordinates, not labels */
    assert_ok(parse("9,9\n1,2\n3,4\n", &(clv_read_options){.header = CLV_HEADER_YES}, &data));
    assert_dense(data, 2, 2, four);
    clv_data_free(data);
    assert_refused(parse("a,2\n1,2\n", &(clv_read_options){.header = CLV_HEADER_NO, .label_column = "none"}, &data),
                   CLV_EDATA, "a.csv: column 1 has 1 bad cell (line 1): 'a' in line 1 is not a number", NULL);
    assert_refused(parse("a,b\n", NULL, &data), CLV_EDATA, "a.csv has a header and no data", NULL);
}

/* Numbers name columns: as pandas and R write them, but not where a row may begin so. */
static void test_numbered_header(void **state) {
    (void)state;
    static const char row_names[] = "2 columns used; dropped: column 1 (row names)";
    static const char doubt[] = "the first line names the columns (--header no: it is a row); ";
    static const char other[] = "no header (--header yes: the first line names the columns); ";
    static const struct {
        const char *text;
        int64_t rows, cols;
        const char *before, *note;
    } cases[] = {
        {",0,1\n0,1.5,2\n1,3,4\n", 2, 2, "", row_names},
        {",0,1\n17,1,2\n12,3,4\n", 2, 2, "", row_names},
        {"\"\",\"2019\",\"2021\"\n\"1\",5,6\n\"2\",7,9\n", 2, 2, "", row_names},
        {"\"\",\"2021\",\"2019\"\n\"Oslo\",5,6\n\"Rome\",7,9\n", 2, 2, "", row_names},
        {",5,7\n8,2,9\n9,4,1\n", 2, 2, doubt, row_names},
        {"0,1,2,3\n5.1,3.5,1.4,0.2\n4.9,3,1.4,0.2\n", 2, 4, "", "4 columns used"},
        {"1,2,3,4\n5.1,3.5,1.4,0.2\n", 1, 4, "", "4 columns used"},
        {"0,1\n-1.5,0.25\n3,4\n", 2, 2, doubt, "2 columns used"},
        {"0,1,2,3\n5,0,0,7\n", 1, 4, doubt, "4 columns used"},
        {"0,1,2,3,4,5,6,7,8,9\n5,0,0,7,0,0,0,0,1,0\n", 1, 10, "", "10 columns used"},
        {"0,1,2,3,label\n5.1,3.5,1.4,0.2,a\n4,3,1,0.2,b\n", 2, 4, "", "4 columns used; truth: label"},
        {"0,1,2,3,class\n5,3,1,0,1\n4,3,1,0,0\n", 2, 4, "", "4 columns used; truth: class"},
        {"0,1,2\n5.1,3.5,a\n4,3,a\n", 2, 2, doubt, "2 columns used; truth: 2"},
        {"land,2019,2020,2021\nF,1.5,2,3\nD,1,2,3\n", 2, 3, doubt, "3 columns used; dropped: land (row names)"},
        {"land,2019,2020,2021\nF,1.5,2.5,3.5\nD,1,2,3\n", 2, 3, "", "3 columns used; dropped: land (row names)"},
        /* rows */
        {"1,2\n3,4\n", 2, 2, "", "no header; 2 columns used"},
        {"0,1,2,3\n4,5,6,7\n", 2, 4, "", "no header; 4 columns used"},
        {"1,2,3,4\n2,1,4,3\n", 2, 4, "", "no header; 4 columns used"}, /* ranks */
        {"1,2,3\n3,4,3\n", 2, 3, other, "3 columns used"},
        {"5,3,2,1\n5.1,3.5,1.4,0.2\n", 2, 4, "", "no header; 4 columns used"},
        {"0,1,2,3.5\n5.1,3.5,1.4,0.2\n", 2, 4, "", "no header; 4 columns used"},
        {"5,3,a\n5.1,3.5,b\n1,2,a\n", 3, 2, "", "no header; 2 columns used; truth: column 3"},
        {"1,3,y\n3,5,n\n1,2,y\n", 3, 2, "", "no header; 2 columns used; truth: column 3"},
        {"a,1,2,3\nb,3,4,5\na,1,3,6\n", 3, 3, "", "no header; 3 columns used; truth: column 1"},
    };
    char note[256];
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        snprintf(note, sizeof note, "%s%s", cases[c].before, cases[c].note);
        check_note(cases[c].text, NULL, cases[c].rows, cases[c].cols, note);
    }
    check_note("0,1,2,3\n5.1,3.5,1.4,0.2\n", &(clv_read_options){.header = CLV_HEADER_NO}, 2, 4,
               "no header; 4 columns used");
    check_note("1,2\n3,4\n", &(clv_read_options){.header = CLV_HEADER_YES}, 1, 2, "2 columns used");
    clv_data *data;
    assert_refused(parse(",1.5,2\n1,2,3\n", NULL, &data), CLV_EDATA, "column 1 has 1 missing cell (line 1)", NULL);
    assert_refused(parse("a,2019\n1,2\n", NULL, &data), CLV_EDATA, "line 1 column 1: 'a' is not a number",
                   "--header yes", NULL);
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
    assert_refused(parse("p,target\n1,2\n1,2.5\n", NULL, &data), CLV_EDATA,
                   "a.csv: column 2 'target' is the column of labels, but holds fractions ('2.5' in line 3)",
                   "--label-column none", NULL);
    assert_refused(parse("p,y\n1,2\n,2.5\n", NULL, &data), CLV_EDATA, "column 1 'p' has 1 missing cell (line 3)",
                   "; column 2 'y' is the column of labels", NULL); /* both at once */
    static const char *const incomplete[] = {"p,y\n1,1\n1,\n", "p,y\n1,1\n1,nan\n", "p,y\n1,a\n1,NA\n"};
    for (size_t c = 0; c < sizeof incomplete / sizeof incomplete[0]; c++) {
        for (clv_missing how = CLV_MISSING_ERROR; how <= CLV_MISSING_MEDIAN; how++) {
            assert_ok(parse(incomplete[c], &(clv_read_options){.missing = how}, &data)); /* the row lacks its truth */
            assert_dense(data, 2, 1, (double[]){1, 1});
            assert_memory_equal(clv_data_labels(data), ((int32_t[]){0, -1}), 2 * sizeof(int32_t));
            assert_string_equal(clv_data_note(data), "1 column used; truth: y (1 row without, not compared)");
            clv_data_free(data);
        }
        assert_refused(parse(incomplete[c], &(clv_read_options){.targets = 1}, &data), CLV_EDATA,
                       "a.csv: column 2 'y' has 1 missing cell (line 3) and is the target: --missing drop", NULL);
    }
    assert_refused(parse("1\n2\n", &(clv_read_options){.label_column = "1"}, &data), CLV_EDATA,
                   "no column of numbers beside labels", NULL);
    assert_refused(parse("1,a\n2,3\n3,a\n", NULL, &data), CLV_EDATA, "line 1 column 2", "'a'", NULL);
    assert_refused(parse("1,a\n2,a\n3,3\n", NULL, &data), CLV_EDATA, "a.csv: column 2 holds text", "--label-column 2",
                   NULL);
}

/* All that is wrong, in one message, with what would help. */
static void test_all_problems_at_once(void **state) {
    (void)state;
    static const char text[] = "age,city,when,size\n"
                               "1,Rome,2024-01-31,5\n"
                               "NA,Paris,2024-02-01,?\n"
                               ",Rome,2024-02-02,7,8\n"
                               ",Rome,2024-02-03,x\n"
                               "2,Oslo,2024-02-04,3\n";
    clv_data *data;
    assert_refused(
        parse(text, NULL, &data), CLV_EDATA, "a.csv: line 4 has 5 fields, 4 were expected; ",
        "columns 1 'age' (2 cells, lines 3 and 5) and 4 'size' (1 cell, line 3) have 3 missing cells: --missing drop, "
        "mean or median; ",
        "column 2 'city' holds text, not numbers ('Rome' in line 2): --drop 'city', --label-column 'city' or "
        "--categories onehot; ",
        "column 3 'when' holds dates, not numbers ('2024-01-31' in line 2): ",
        "days since the first one, or --drop 'when'",
        "column 4 'size' has 1 bad cell (line 5): ", "'x' in line 5 is not a number", NULL);
    assert_refused(parse("a;b\n1,5;2\n3;4.5\n", NULL, &data), CLV_EDATA,
                   "column 1 'a' has numbers with a decimal comma ('1,5' in line 2)",
                   "column 2 'b' with a decimal point ('4.5' in line 3)", NULL);
    assert_refused(parse("a;b\n1,5;2\n3.5;4\n", NULL, &data), CLV_EDATA, ") and others with a decimal point", NULL);
    assert_refused(parse("a,b,c,d\n1,p,x,r\n2,q,y,s\n3,r,1,t\n", NULL, &data), CLV_EDATA,
                   "columns 2 'b' ('p' in line 2), 3 'c' ('x' in line 2) and 4 'd' ('r' in line 2) hold text, not "
                   "numbers: --drop 2-4, or --categories onehot or drop",
                   NULL);
    assert_refused(parse("a,b,c\n,1,\n,inf,\n,-inf,\n", NULL, &data), CLV_EDATA,
                   "columns 1 'a' and 3 'c' have nothing but missing cells: --drop 1,3; ",
                   "column 2 'b' has 2 infinite cells (lines 3 and 4): 'inf' in line 3 is not a finite number: correct "
                   "or empty it, or --drop 'b'",
                   NULL);
    assert_refused(parse("a,b,c\n1,2,3\n4\n5,6,7\n", NULL, &data), CLV_EDATA, "line 3 has 1 field, 3 were expected",
                   NULL);
}

static void test_missing(void **state) {
    (void)state;
    static const char text[] = "a,b,c,y\n1,,3,u\n4,5,6,v\nNA,7,9,u\n10,9,null,\n0,9,?,v\n";
    clv_data *data;
    clv_read_options how = {.missing = CLV_MISSING_DROP};
    assert_ok(parse(text, &how, &data));
    assert_dense(data, 1, 3, (double[]){4, 5, 6});
    assert_labels(clv_data_labels(data), 1, (int32_t[]){0});
    assert_int_equal(clv_data_rows_read(data), 5);
    assert_int_equal(clv_data_row(data, 0), 1);
    assert_non_null(strstr(clv_data_note(data), "4 rows with missing cells dropped"));
    clv_data_free(data);
    how = (clv_read_options){.missing = CLV_MISSING_MEAN, .label_column = "none", .drop = "y"};
    assert_ok(parse(text, &how, &data));
    assert_dense(data, 5, 3, (double[]){1, 7.5, 3, 4, 5, 6, 3.75, 7, 9, 10, 9, 6, 0, 9, 6});
    assert_int_equal(clv_data_rows_read(data), 5);
    clv_data_free(data);
    how.missing = CLV_MISSING_MEDIAN;
    assert_ok(parse(text, &how, &data));
    assert_dense(data, 5, 3, (double[]){1, 8, 3, 4, 5, 6, 2.5, 7, 9, 10, 9, 6, 0, 9, 6});
    assert_non_null(strstr(clv_data_note(data), "4 missing cells replaced by the median"));
    clv_data_free(data);
    how = (clv_read_options){.missing = CLV_MISSING_MEAN};
    assert_ok(parse("a,b\n1,2\n3,\n8,4\n", &how, &data)); /* and other data get what these were given */
    assert_true(clv_data_fill(data)[0] == 4 && clv_data_fill(data)[1] == 3);
    how.like = clv_data_columns(data, &how.like_count);
    how.fill = clv_data_fill(data);
    how.fill_count = how.like_count;
    clv_data *other;
    assert_ok(parse("c,b,a\n1,,\n2,,6\n", &how, &other));
    assert_dense(other, 2, 2, (double[]){4, 3, 6, 3});
    clv_data_free(other);
    clv_data_free(data);
    how = (clv_read_options){
        .missing = CLV_MISSING_MEAN, .header = CLV_HEADER_NO, .fill = (double[]){4, 3}, .fill_count = 2};
    assert_ok(parse("1,\n,9\n", &how, &other)); /* without names: by their place */
    assert_dense(other, 2, 2, (double[]){1, 3, 4, 9});
    clv_data_free(other);
    how = (clv_read_options){0};
    how.missing = CLV_MISSING_MEDIAN;
    assert_refused(parse("a,b\n1,\n2,\n", &how, &data), CLV_EDATA, "which are all of them: --drop 'b'", NULL);
    how = (clv_read_options){.missing = CLV_MISSING_DROP};
    assert_refused(parse("a,b\n1,\n,2\n", &how, &data), CLV_EDATA, "would leave no row", NULL);
}

static void test_chosen_columns(void **state) {
    (void)state;
    static const char text[] = "a,b,\"c,d\",e,f,y\n1,2,3,4,5,u\n6,7,8,9,10,u\n";
    clv_data *data;
    static const struct {
        const char *columns, *drop;
        int64_t cols;
        double values[10];
    } cases[] = {{"a,3-4", NULL, 3, {1, 3, 4, 6, 8, 9}},
                 {NULL, "\"c,d\",f", 3, {1, 2, 4, 6, 7, 9}},
                 {"a,b,f", "b", 2, {1, 5, 6, 10}},
                 {NULL, NULL, 5, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
                 {"5", NULL, 1, {5, 10}}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        assert_ok(parse(text, &(clv_read_options){.columns = cases[c].columns, .drop = cases[c].drop}, &data));
        assert_dense(data, 2, cases[c].cols, cases[c].values);
        assert_labels(clv_data_labels(data), 2, (int32_t[]){0, 0});
        assert_string_equal(clv_data_column(data, -1), "y");
        clv_data_free(data);
    }
    assert_refused(parse(text, &(clv_read_options){.columns = "a,g"}, &data), CLV_EUSAGE, "--columns", "'g'", "1 to 6",
                   NULL);
    clv_read_options wrong = {.columns = "g,a,h", .drop = "i", .id_column = "j", .label_column = "k"};
    assert_refused(parse(text, &wrong, &data), CLV_EUSAGE,
                   "a.csv has no column 'g' (--columns), 'h' (--columns), 'i' (--drop), 'j' (--id-column), 'k' "
                   "(--label-column): its columns are a, b, c,d, e, f, y",
                   NULL);
    assert_refused(parse(text, &(clv_read_options){.drop = "3-9"}, &data), CLV_EUSAGE, "--drop", "'3-9'", NULL);
    assert_refused(parse(text, &(clv_read_options){.id_column = "k"}, &data), CLV_EUSAGE, "--id-column", "'k'", NULL);
    assert_refused(parse("Age,b\n1,2\n", &(clv_read_options){.drop = "age"}, &data), CLV_EUSAGE,
                   "a.csv has no column 'age' (--drop), but 'Age': its columns are Age, b", NULL);
    assert_ok(parse("a,b,c d\n1,7,2\n3,8,4\n", &(clv_read_options){.columns = "a , c d "}, &data));
    assert_dense(data, 2, 2, (double[]){1, 2, 3, 4});
    clv_data_free(data);
    assert_ok(parse(text, &(clv_read_options){.id_column = "e"}, &data));
    assert_dense(data, 2, 4, (double[]){1, 2, 3, 5, 6, 7, 8, 10});
    assert_string_equal(clv_data_id(data, 1), "9");
    clv_data_free(data);
    assert_ok(parse("id,a\n1,2\n2,3\n", &(clv_read_options){.columns = "id,a"}, &data)); /* asked for, so it is used */
    assert_dense(data, 2, 2, (double[]){1, 2, 2, 3});
    clv_data_free(data);
}

/* Labels beside the labels are no features. */
static void test_other_labels(void **state) {
    (void)state;
    static const char text[] = "a,b,species,target\n1,2,u,0\n3,4,v,1\n5,6,v,1\n";
    check_note(text, NULL, 3, 2, "2 columns used; truth: species; dropped: target (labels too)");
    check_note(text, &(clv_read_options){.label_column = "target"}, 3, 2,
               "2 columns used; truth: target; dropped: species (labels too)");
    check_note(text, &(clv_read_options){.columns = "a,target"}, 3, 2, "2 columns used; truth: species");
    check_note("a,b,label,cluster,cleave_label\n1,2,u,0,1\n3,4,v,1,1\n", NULL, 2, 2,
               "2 columns used; truth: label; dropped: cluster (labels too), cleave_label (labels too)");
    check_note("x,y,class\n1,2,0\n3,4,1\n", NULL, 2, 2, "2 columns used; truth: class");
}

static void test_no_column_is_left(void **state) {
    (void)state;
    static const clv_read_options none[] = {
        {.columns = "a", .drop = "a"}, {.drop = "a,b"}, {.columns = "a,b", .drop = "a-b"}};
    clv_data *data;
    for (size_t c = 0; c < sizeof none / sizeof none[0]; c++) {
        assert_refused(parse("id,a,b\n1,2,3\n2,4,5\n", &none[c], &data), CLV_EUSAGE, "a.csv: no column is left", NULL);
    }
    check_note("id,a,b\n1,2,3\n2,4,5\n", &(clv_read_options){.columns = "id"}, 2, 1, "1 column used");
}

static void test_categories(void **state) {
    (void)state;
    static const char text[] = "a,city,y\n1,Rome,0\n2,Oslo,1\n3,Rome,1\n";
    clv_data *data;
    assert_ok(parse(text, &(clv_read_options){.categories = CLV_CATEGORIES_ONEHOT}, &data));
    assert_dense(data, 3, 3, (double[]){1, 0, 1, 2, 1, 0, 3, 0, 1});
    assert_string_equal(clv_data_column(data, 1), "city=Oslo");
    assert_string_equal(clv_data_column(data, 2), "city=Rome");
    assert_string_equal(clv_data_note(data), "2 columns used; truth: y; city became 2 columns");
    clv_data_free(data);
    assert_ok(
        parse("a,city,y\n1,,0\n2,Oslo,1\n3,NA,1\n", &(clv_read_options){.categories = CLV_CATEGORIES_ONEHOT}, &data));
    assert_dense(data, 3, 3, (double[]){1, 1, 0, 2, 0, 1, 3, 1, 0}); /* what is missing is one class */
    clv_data_free(data);
    assert_ok(parse("a,b,city\n1,4,Rome\n2,5,Rome\n",
                    &(clv_read_options){.categories = CLV_CATEGORIES_ONEHOT, .label_column = "none"}, &data));
    assert_string_equal(clv_data_note(data), "3 columns used; city became 1 column");
    clv_data_free(data);
    assert_ok(parse(text, &(clv_read_options){.categories = CLV_CATEGORIES_DROP}, &data));
    assert_dense(data, 3, 1, (double[]){1, 2, 3});
    assert_string_equal(clv_data_note(data), "1 column used; truth: y; dropped: city (text)");
    clv_data_free(data);
}

/* By the names of other data: what is used of this file, and classes that those do not have. */
static void test_like(void **state) {
    (void)state;
    static const char *const like[] = {"city=Oslo", "city=Rome", "city=Ulm", "a"};
    clv_data *data;
    clv_read_options options = {.like = like, .like_count = 4};
    assert_ok(parse("id,a,city,b\nu,1,Rome,0\nv,2,Bonn,0\nw,3,,0\nx,4,Bonn,0\n", &options, &data));
    assert_dense(data, 4, 4, (double[]){0, 1, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4});
    assert_string_equal(clv_data_note(data),
                        "2 columns used; dropped: id (row names); city became 3 columns; not in the model: b");
    assert_string_equal(clv_data_warning(data), "the model has no city= (1 row), city=Bonn (2 rows): in these rows all "
                                                "columns of the class are 0");
    clv_data_free(data);
}

/* Numbers that name columns of other data name those of this file. */
static void test_like_numbers(void **state) {
    (void)state;
    static const char *const like[] = {"0", "1"};
    clv_read_options options = {.like = like, .like_count = 2};
    check_note("0,1\n5,6\n1,2\n", &options, 2, 2, "2 columns used");
    check_note("1,0\n5,6\n", &options, 1, 2, "2 columns used");
    check_note("7,0\n5,6\n", &options, 2, 2, "no header; 2 columns used");
}

/* Numbers that people write otherwise are neither row names, nor labels, nor classes. */
static void test_odd_numbers(void **state) {
    (void)state;
    static const char *const spellings[][2] = {{"12%", "13.5 %"},          {"$1", "$2"},
                                               {"\"1,234\"", "\"2,345\""}, {"1'234", "2'345"},
                                               {"\u20ac5", "7\u20ac"},     {"1\u00a0234", "2\u202f345"},
                                               {"\u22125", "\u22126"},     {"(5)", "(6)"}};
    static const char *const shapes[] = {"a,b\n%s,1\n%s,2\n", "b,a\n1,%s\n2,%s\n3,%s\n"};
    char text[128];
    clv_data *data;
    for (size_t s = 0; s < sizeof spellings / sizeof spellings[0]; s++) {
        for (size_t shape = 0; shape < 2; shape++) {
            const char *const *cell = spellings[s];
            snprintf(text, sizeof text, shapes[shape], cell[0], cell[1], cell[1]);
            clv_read_options options = {.categories = CLV_CATEGORIES_ONEHOT};
            assert_refused(parse(text, &options, &data), CLV_EDATA, "'a' holds numbers in a spelling that is not read",
                           "--drop 'a'", NULL);
        }
    }
    static const char *const ends[] = {"1.234.567", "5 kg", "12:30:00", "5-Jan-24"};
    for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++) { /* nor is a last column the truth */
        snprintf(text, sizeof text, "b,a\n1,%s\n2,%s\n3,9 and more\n", ends[e], ends[e]);
        assert_refused(parse(text, NULL, &data), CLV_EDATA, "column 2 'a' holds text that begins with digits", ends[e],
                       "write them as numbers; or --drop 'a', --label-column 'a'", NULL);
    }
    check_note("b,a\n1,1st\n2,last\n3,last\n", NULL, 3, 1, "1 column used; truth: a");
    assert_ok(parse("a,b\n1.2.3,1\n1.2.4,2\n", NULL, &data)); /* names all the same */
    assert_string_equal(clv_data_note(data), "1 column used; dropped: a (row names)");
    clv_data_free(data);
}

static void test_decimal_commas(void **state) {
    (void)state;
    check("a;b\n1,5;-2,25\n3;4e1\n", 2, 2, (double[]){1.5, -2.25, 3, 40});
    check("1,5;2,5\n3,5;4,5\n", 2, 2, (double[]){1.5, 2.5, 3.5, 4.5});
    check("1,5\t2,5\n3,5\t4,5\n", 2, 2, (double[]){1.5, 2.5, 3.5, 4.5});
    clv_data *data;
    assert_refused(parse("a;b\n1,000,5;2\n3;4\n", NULL, &data), CLV_EDATA, "line 2", "'1,000,5'", NULL);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *part, *other;
    } cases[] = {
        {"", "a.csv is empty", ""},
        {"\n # nothing\n", "a.csv is empty", ""},
        {"1,2\n3,abc\n", "a.csv: column 2 has 1 bad cell (line 2): 'abc' in line 2 is not a number", ""},
        {"p,q,r\n# c\n1,2,3\n\n4,nan,6\n", "a.csv: column 2 'q' has 1 missing cell (line 5)", "--missing"},
        {"1,2\r\n\r\n3,4\r\n5,x\r\n", "a.csv: column 2", "'x' in line 4"},
        {"1,\"2\"\r\n# \"c\r\n3,x\r\n", "a.csv: column 2", "'x' in line 3"},
        {"1,2\n-inf,3\n", "a.csv: column 1 has 1 infinite cell (line 2)", "'-inf' in line 2"},
        {"1,2\n1e999,3\n", "a.csv: column 1 has 1 infinite cell (line 2)", "'1e999'"},
        {"1,2\n,3\n", "a.csv: column 1 has 1 missing cell (line 2)", ""},
        {"1,2\n#N/A,3\n4,5\n", "a.csv: column 1 has 1 missing cell (line 2)", ""}, /* no comment */
        {"1,2\n#DIV/0!,3\n4,5\n", "a.csv: column 1 has 1 bad cell (line 2)", ""},
        {"1,2,\n3,4,5\n", "a.csv", ""},
        {"1,2\n3,4,5\n", "a.csv: line 2 has 3 fields, 2 were expected", ""},
        {"1,2,3\n4,x\n", "a.csv: line 2 has 2 fields, 3 were expected", ""},
        {"1,2\n3,\"4\n", "a.csv line 2: a quote is opened", ""},
        {"1,2\n3,\"4\"x\n", "a.csv line 2", "'x' after the closing quote"},
        {"1,0x10\n", "a.csv", "not numbers ('0x10' in line 1)"},
        {"1,1 2\n", "a.csv", "is not read ('1 2' in line 1)"},
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
    assert_refused(parse("1,1\n,\n,\n,\n,\n,\n,\n", NULL, &data), CLV_EDATA,
                   "columns 1 (6 cells, lines 2, 3, 4, ...) and 2 (6 cells, ", NULL);
}

static clv_status parse_rows(clv_context *in, const char *text, const char *name, clv_data **rows, int32_t **labels) {
    CLV_TRY(clv_data_new(in, name, rows));
    return clv_data_made(clv_csv_parse_classes(in, text_bytes(text, name), 0, NULL, false, *rows, labels, NULL), rows);
}

static clv_status parse_labels(clv_context *in, const char *text, const char *name, int64_t *n, int32_t **labels) {
    clv_data *rows;
    *labels = NULL;
    CLV_TRY(parse_rows(in, text, name, &rows, labels));
    *n = clv_data_matrix(rows)->rows;
    clv_data_free(rows);
    return CLV_OK;
}

static void check_only_labels(const char *text, int64_t count, const int32_t *expected) {
    int64_t n = 0;
    int32_t *labels = NULL;
    assert_ok(parse_labels(ctx, text, "y.csv", &n, &labels));
    assert_int_equal(n, count);
    assert_non_null(labels);
    if (labels) { /* which the analyzer does not know */
        assert_labels(labels, count, expected);
    }
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
    check_only_labels(",species\n7,b\n3,a\n", 2, (int32_t[]){1, 0}); /* a shuffled index */
    check_only_labels("id,label\n1,b\n2,-1\n3,a\n", 3, (int32_t[]){1, -1, 0});
    check_only_labels("id,grp\n17,4\n12,5\n", 2, (int32_t[]){4, 5});
    check_only_labels("\"x\"\n\"1\" 2\n\"2\" 7\n", 2, (int32_t[]){2, 7});
    check_only_labels("a,species,label\n1,u,4\n2,v,5\n", 2, (int32_t[]){4, 5}); /* which cleave wrote behind it */
    check_only_labels("label,cluster,a\n1,6,4\n2,7,5\n", 2, (int32_t[]){6, 7});
    int64_t n;
    int32_t *labels;
    assert_refused(parse_labels(ctx, "1,2\n3,4\n", "y.csv", &n, &labels), CLV_EDATA, "y.csv has 2 columns", NULL);
    assert_refused(parse_labels(ctx, "1\n-2\n", "y.csv", &n, &labels), CLV_EDATA, "y.csv row 2", "'-2'", NULL);
    assert_refused(parse_labels(ctx, "1\n2.5\n", "y.csv", &n, &labels), CLV_EDATA, "y.csv row 2", "'2.5'", NULL);
    assert_refused(parse_labels(ctx, "1\n3000000000\n", "y.csv", &n, &labels), CLV_EDATA, "y.csv row 2", "3000000000",
                   NULL);
    assert_refused(parse_labels(ctx, "NA\n1\n2\n", "y.csv", &n, &labels), CLV_EDATA,
                   "y.csv row 1, column 1: the label 'NA' is missing", NULL);
    assert_null(strstr(clv_message(ctx), "--header")); /* labels have no such option */
    assert_refused(parse_labels(ctx, "\"a\" \"b\"\n\"1\" 2 3\n", "y.csv", &n, &labels), CLV_EDATA,
                   "y.csv has 3 columns", NULL);
    assert_null(labels);
}

/* The column of a request, and what it is called. */
static void check_request(const char *text, clv_label_request request, const char *name, const int32_t *expected) {
    clv_data *rows;
    int32_t *labels = NULL;
    assert_ok(clv_data_new(ctx, "y.csv", &rows));
    assert_ok(clv_csv_parse_classes(ctx, text_bytes(text, "y.csv"), 0, &request, false, rows, &labels, NULL));
    assert_string_equal(clv_data_column(rows, -1), name);
    assert_non_null(labels);
    if (labels) { /* which the analyzer does not know */
        assert_labels(labels, 2, expected);
    }
    clv_release(ctx, labels);
    clv_data_free(rows);
}

static void test_label_requests(void **state) {
    (void)state;
    static const char written[] = "id,species,label\n7,v,4\n9,u,5\n";
    check_request(written, (clv_label_request){0}, "label", (int32_t[]){4, 5});
    check_request(written, (clv_label_request){.truth = 1}, "species", (int32_t[]){1, 0});
    check_request(written, (clv_label_request){.column = "1"}, "id", (int32_t[]){7, 9});
    check_request("id,label\n7,4\n9,5\n", (clv_label_request){.truth = 1}, "label", (int32_t[]){4, 5});
    check_request("a,kind,label\n7,u,4\n9,u,5\n", (clv_label_request){.truth = 1}, "kind", (int32_t[]){0, 0});
    clv_data *rows;
    int32_t *labels = NULL;
    assert_ok(clv_data_new(ctx, "y.csv", &rows));
    assert_refused(clv_csv_parse_classes(ctx, text_bytes(written, "y.csv"), 0, &(clv_label_request){.column = "b"},
                                         false, rows, &labels, NULL),
                   CLV_EUSAGE, "y.csv has no column 'b': its columns are id, species, label", NULL);
    clv_data_free(rows);
}

/* What is not UTF-8 is Windows-1252. */
static void test_encoding(void **state) {
    (void)state;
    clv_data *data;
    assert_ok(parse("gr\xf6\xdf\x65,\x80,id\n1,2,\xe9\n3,4,e\n", NULL, &data));
    assert_string_equal(clv_data_column(data, 0), "gr\xc3\xb6\xc3\x9f\x65");
    assert_string_equal(clv_data_column(data, 1), "\xe2\x82\xac");
    assert_string_equal(clv_data_id(data, 0), "\xc3\xa9");
    assert_non_null(strstr(clv_data_note(data), "; not UTF-8, read as Windows-1252"));
    clv_data_free(data);
    assert_ok(parse("gr\xc3\xb6\xc3\x9f\x65,b\n1,2\n3,4\n", NULL, &data));
    assert_string_equal(clv_data_column(data, 0), "gr\xc3\xb6\xc3\x9f\x65");
    assert_null(strstr(clv_data_note(data), "UTF-8"));
    clv_data_free(data);
    assert_refused(parse("\xff\xfe\x61", NULL, &data), CLV_EDATA, "UTF-16", NULL);
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
    assert_ok(clv_read(ctx, path, NULL, &data));
    assert_dense(data, 2, 1, (double[]){1, 0});
    clv_data_free(data);
    unlink(path);
    assert_refused(clv_read(ctx, "y.doc", NULL, &data), CLV_EUSAGE, "y.doc", ".npy", ".csv", ".mtx", NULL);
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
    assert_refused(status, CLV_EDATA, "standard input: column 2", "'x' in line 2", NULL);
}

static clv_status parse_labeled(clv_context *in, void *user) {
    clv_data *data;
    int64_t n;
    int32_t *labels;
    CLV_TRY(clv_csv_parse(in, text_bytes(user, "a.csv"), NULL, 0, &data));
    clv_data_free(data);
    CLV_TRY(parse_labels(in, user, "a.csv", &n, &labels));
    clv_release(in, labels);
    return CLV_OK;
}

static clv_status parse_mended(clv_context *in, void *user) {
    for (clv_missing m = CLV_MISSING_DROP; m <= CLV_MISSING_MEDIAN; m++) {
        clv_data *data;
        clv_read_options how = {.missing = m, .categories = CLV_CATEGORIES_ONEHOT, .drop = "q"};
        CLV_TRY(clv_csv_parse(in, text_bytes(user, "a.csv"), &how, 0, &data));
        clv_data_free(data);
    }
    return CLV_OK;
}

/* The same rows in another order, then with the names of new classes. */
static clv_status match_and_like(clv_context *in, void *user) {
    static const char *const like[] = {"city=Oslo", "q"};
    clv_data *of = NULL, *to = NULL;
    int64_t *rows = NULL;
    int32_t *labels[2] = {NULL, NULL};
    clv_status status = parse_rows(in, user, "a.csv", &of, &labels[0]);
    status = status < 0 ? status : parse_rows(in, "id,y\n9,a\n4,b\n7,c\n", "b.csv", &to, &labels[1]);
    status = status < 0 ? status : clv_match_ids(in, of, to, &rows);
    if (status >= 0) {
        assert_true(rows[0] == 1 && rows[1] == 2 && rows[2] == 0);
    }
    clv_data_free(of);
    clv_data_free(to);
    clv_release(in, rows);
    clv_release(in, labels[0]);
    clv_release(in, labels[1]);
    CLV_TRY(status);
    CLV_TRY(clv_csv_parse(in, text_bytes(user, "a.csv"), &(clv_read_options){.like = like, .like_count = 2}, 0, &of));
    clv_data_free(of);
    return CLV_OK;
}

static clv_status ask_for_others(clv_context *in, void *user) {
    clv_data *data;
    clv_read_options how = {.columns = "k,l", .drop = "m"};
    clv_status status = clv_csv_parse(in, text_bytes(user, "a.csv"), &how, 0, &data);
    return status == CLV_EUSAGE ? CLV_OK : status;
}

/* Targets in a column, by themselves and as the classes of others. */
static clv_status parse_targets(clv_context *in, void *user) {
    clv_data *data, *own = NULL, *like = NULL;
    clv_read_options how = {.missing = CLV_MISSING_DROP, .label_column = "y", .targets = 1};
    CLV_TRY(clv_csv_parse(in, text_bytes(user, "a.csv"), &how, 0, &data));
    clv_status status = clv_data_targets(data, NULL, &own);
    status = status < 0 ? status : clv_data_targets(data, own, &like);
    if (status == CLV_OK) {
        assert_memory_equal(clv_data_matrix(own)->values, clv_data_matrix(like)->values, 2 * sizeof(double));
    }
    clv_data_free(like);
    clv_data_free(own);
    clv_data_free(data);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    char fractions[] = "p,q,y\n1,2,3.5\n3,4,.\n2,2,-1\n", classes[] = "p,q,y\n1,2,cat\n,4,ant\n2,2,ant\n";
    fail_each_allocation(parse_targets, fractions);
    fail_each_allocation(parse_targets, classes);
    char texts[] = "p,q,species\n1,2,b\n\n3,4,a\n";
    char numbers[] = "p,q,y\n1,2,3\n3,4,4\n";
    fail_each_allocation(parse_labeled, texts);
    fail_each_allocation(parse_labeled, numbers);
    char names[] = "id,q,s\n1,2,b\n2,4,a\n3,4,a\n";
    fail_each_allocation(parse_labeled, names);
    char rows[] = ",q,r\nrex,2,dog\ntom,4,cat\nfido,4,cat\n";
    fail_each_allocation(parse_labeled, rows);
    char many[] = "id,q,city,r,y\n4,2,Rome,,a\n7,4,Oslo,2,b\n9,4,Rome,5,b\n";
    fail_each_allocation(parse_mended, many);
    static char windows[] = "id,caf\xe9,y\n\x80,2,u\ne,4,v\n";
    fail_each_allocation(parse_labeled, windows);
    fail_each_allocation(match_and_like, many);
    fail_each_allocation(ask_for_others, many);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
    const struct CMUnitTest tests[] = {
        CASE(test_separators),
        CASE(test_lines),
        CASE(test_hashes),
        CASE(test_numbered_header),
        CASE(test_header),
        CASE(test_all_problems_at_once),
        CASE(test_missing),
        CASE(test_chosen_columns),
        CASE(test_categories),
        CASE(test_other_labels),
        CASE(test_no_column_is_left),
        CASE(test_like),
        CASE(test_like_numbers),
        CASE(test_odd_numbers),
        CASE(test_decimal_commas),
        CASE(test_label_column),
        CASE(test_refused),
        CASE(test_many_short_lines),
        CASE(test_labels),
        CASE(test_label_requests),
        CASE(test_encoding),
        CASE(test_files),
        CASE(test_standard_input),
        CASE(test_allocations),
    };
    return cmocka_run_group_tests_name("io_csv", tests, NULL, NULL);
}
