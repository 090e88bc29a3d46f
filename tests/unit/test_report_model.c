/* Fields in reports: what is written reads back as the same numbers, whatever their kind, shape and storage; damaged
 * ones are refused with the place; tables and pages show them. The method is made by hand: reports know fields by their
 * descriptions alone. */
#include "failing.h"

#include "methods/methods.h"
#include "report/report.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

enum { N = 4, K = 3, P = 2, MANY = 70 };

static const clv_field_info gives[] = {
    {"labels", CLV_FIELD_INTEGER, "n", CLV_ANSWER, .help = "labels"},
    {"whole", CLV_FIELD_INTEGER, "", CLV_STATED, .help = "a whole number"},
    {"real", CLV_FIELD_REAL, "", CLV_STATED, .help = "a number"},
    {"text", CLV_FIELD_TEXT, "", CLV_STATED, .help = "a text"},
    {"wholes", CLV_FIELD_INTEGER, "any", CLV_STATED, .help = "whole numbers"},
    {"reals", CLV_FIELD_REAL, "any", CLV_STATED, .help = "numbers"},
    {"texts", CLV_FIELD_TEXT, "any", CLV_STATED, .help = "texts"},
    {"nothing", CLV_FIELD_REAL, "any", CLV_STATED, .help = "an empty list"},
    {"rows", CLV_FIELD_MATRIX, "n x k", CLV_ANSWER, .help = "a matrix"},
    {"membership", CLV_FIELD_SPARSE, "n x k", CLV_ANSWER, .help = "a matrix of zeros"},
    {"parts.size", CLV_FIELD_INTEGER, "k", CLV_STATED, .help = "a column of whole numbers"},
    {"parts.value", CLV_FIELD_REAL, "k", CLV_STATED, .help = "a column of numbers"},
    {"parts.stop", CLV_FIELD_TEXT, "k", CLV_STATED, .help = "a column of texts"},
    {"none.size", CLV_FIELD_INTEGER, "any", CLV_STATED, .help = "a table without rows"},
    {"warnings", CLV_FIELD_TEXT, "any", CLV_STATED, .help = "warnings"},
};
static const clv_method method = {
    .name = "made", .gives = gives, .gives_count = sizeof gives / sizeof gives[0], .objective = "value"};

static const int64_t wholes[] = {0, -1, INT64_MAX, INT64_MIN, 9007199254740993};
static const double reals[] = {0.1, -1.0 / 3, 5e-324, DBL_MAX, 1e17, 0x1p60, 3, 0, (double)NAN};
static const char *const texts[] = {"", "a \"b\" \\ \t\n", "caf\xc3\xa9 <i>", "\x01"};
static const double matrix[N * K] = {1.0 / 3, 0, 2.0 / 3, 0, 1, 0, 0, 0, 0, 5e-324, 0.1, -1e300};
static const int64_t sizes[K] = {3, 0, -7};
static const double values[K] = {0.25, (double)NAN, 1e-9};
static const char *const stops[K] = {"converged", "<b>", ""};

enum { DOUBLES, FLOATS, SPARSE, STORAGES };

static clv_data *make(clv_context *ctx, int storage) {
    clv_data *data = NULL;
    int64_t count = 0;
    if (storage != SPARSE) {
        assert_int_equal(clv_data_new_dense(ctx, "made", N, K, storage == FLOATS ? CLV_F32 : CLV_F64, &data), CLV_OK);
        for (int64_t i = 0; i < N * K; i++) {
            if (storage == FLOATS) {
                ((float *)data->values)[i] = (float)fmax(matrix[i], -1e30);
            } else {
                ((double *)data->values)[i] = matrix[i];
            }
        }
        return data;
    }
    assert_int_equal(clv_data_new_csr(ctx, "made", N, K, (int64_t)N * K, &data), CLV_OK);
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < K; j++) {
            if (matrix[i * K + j] != 0 || j == 1) { /* a stored zero now and then */
                data->index[count] = (int32_t)j;
                ((double *)data->values)[count++] = matrix[i * K + j];
            }
        }
        data->start[i + 1] = count;
    }
    return data;
}

#define COUNT(list) (int64_t)(sizeof(list) / sizeof((list)[0]))

static clv_status add_numbers(clv_result *r) {
    CLV_TRY(clv_result_put_integer(r, "whole", -42));
    CLV_TRY(clv_result_put_real(r, "real", 2.0 / 3));
    CLV_TRY(clv_result_put_text(r, "text", "a <tag> & \"more\""));
    CLV_TRY(clv_result_put_integers(r, "wholes", wholes, COUNT(wholes)));
    CLV_TRY(clv_result_put_reals(r, "reals", reals, COUNT(reals)));
    CLV_TRY(clv_result_put_texts(r, "texts", texts, COUNT(texts)));
    return clv_result_put_reals(r, "nothing", reals, 0);
}

static clv_status add_tables(clv_result *r) {
    CLV_TRY(clv_result_put_integers(r, "parts.size", sizes, K));
    CLV_TRY(clv_result_put_reals(r, "parts.value", values, K));
    CLV_TRY(clv_result_put_texts(r, "parts.stop", stops, K));
    CLV_TRY(clv_result_put_integers(r, "none.size", sizes, 0));
    return clv_result_warn(r, "a warning of number %d", 1);
}

static clv_status add_all(clv_result *r, int storage) {
    CLV_TRY(add_numbers(r));
    CLV_TRY(clv_result_take(r, "rows", CLV_FIELD_MATRIX, make(r->ctx, storage == SPARSE ? DOUBLES : storage)));
    CLV_TRY(clv_result_take(r, "membership", CLV_FIELD_SPARSE, make(r->ctx, storage)));
    return add_tables(r);
}

/* A result with labels and every kind of field. */
static clv_result *new_result(clv_context *ctx) {
    clv_result *r;
    assert_int_equal(clv_result_new(ctx, N, K, &r), CLV_OK);
    r->labels[0] = r->labels[3] = 2;
    r->labels[1] = 1;
    clv_result_count(r);
    clv_result_claim(r, &method, 0.5, 1e-9, 1e-6);
    r->certificate.name = "gap";
    strcpy(r->solver, "hand");
    return r;
}

static void check_matrix(const clv_result *read, const char *name, bool single) {
    const clv_matrix *m = clv_result_matrix(read, name);
    double row[K];
    assert_non_null(m);
    assert_true(m->rows == N && m->cols == K);
    for (int64_t i = 0; i < N; i++) {
        clv_matrix_row(m, i, row);
        for (int64_t j = 0; j < K; j++) {
            double wanted = matrix[i * K + j];
            assert_true(row[j] == (single ? (double)(float)fmax(wanted, -1e30) : wanted));
        }
    }
}

/* A field of any kind but a matrix is what it was, bit for bit; but bytes that are no text. */
static void check_same(const clv_result *read, const clv_field *made) {
    const clv_field *field = clv_result_field(read, made->name);
    assert_non_null(field);
    assert_true(field->kind == made->kind && field->is_list == made->is_list && field->count == made->count);
    for (int64_t i = 0; i < made->count; i++) {
        if (made->integers) {
            assert_int_equal(field->integers[i], made->integers[i]);
        } else if (made->reals) {
            assert_true(field->reals[i] == made->reals[i] || (isnan(field->reals[i]) && isnan(made->reals[i])));
        } else {
            assert_string_equal(field->texts[i], made->texts[i]);
        }
    }
}

static void fields_read_back(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    for (int storage = 0; storage < STORAGES; storage++) {
        char *text;
        size_t size;
        clv_claim *claim;
        clv_result *made = new_result(ctx);
        clv_report report = {.result = made};
        assert_int_equal(add_all(made, storage), CLV_OK);
        assert_int_equal(clv_report_json(ctx, &report, &text, &size), CLV_OK);
        if (clv_claim_parse(ctx, "r.json", text, size, &method, &claim) < 0) {
            fail_msg("%s in\n%s", clv_message(ctx), text);
        }
        const clv_result *read = clv_claim_result(claim);
        assert_int_equal(read->fields_count, made->fields_count);
        for (int64_t f = 0; f < made->fields_count; f++) {
            if (!made->fields[f].matrix) {
                check_same(read, &made->fields[f]);
            }
        }
        check_matrix(read, "rows", storage == FLOATS);
        check_matrix(read, "membership", storage == FLOATS);
        assert_null(clv_result_matrix(read, "rows")->start);
        assert_int_equal(clv_result_matrix(read, "membership")->start[N],
                         storage == FLOATS ? 5 : 6); /* without zeros */
        assert_memory_equal(read->labels, made->labels, N * sizeof *read->labels);
        assert_memory_equal(read->sizes, made->sizes, K * sizeof *read->sizes);
        assert_null(strstr(text, "\"affinity\"")); /* there is none, and no seconds of it */
        clv_claim_free(claim);
        clv_release(ctx, text);
        clv_result_free(made);
    }
    end_context(ctx);
}

/* What a method does not have is not there, and a method may have no labels. */
static void nothing_is_said_of_nothing(void **unused) {
    (void)unused;
    char *text;
    size_t size;
    clv_claim *claim;
    clv_result *made;
    clv_context *ctx = new_context();
    assert_int_equal(clv_result_new(ctx, 0, K, &made), CLV_OK);
    clv_result_claim(made, &method, 0.5, 0, 1e-6);
    made->certificate.name = "gap";
    made->n = N;
    clv_report report = {.result = made};
    assert_int_equal(clv_report_json(ctx, &report, &text, &size), CLV_OK);
    for (size_t f = 0; f < method.gives_count; f++) {
        char key[64];
        snprintf(key, sizeof key, "\"%.*s\"", (int)strcspn(gives[f].name, "."), gives[f].name);
        assert_null(strstr(text, key));
    }
    assert_true(!strstr(text, "\"sizes\"") && !strstr(text, "left_out"));
    assert_int_equal(clv_claim_parse(ctx, "r.json", text, size, &method, &claim), CLV_OK);
    const clv_result *read = clv_claim_result(claim);
    assert_true(!read->labels && !read->sizes && read->fields_count == 0 && read->n == N && !claim->doubt[0]);
    clv_claim_free(claim);
    clv_release(ctx, text);
    clv_result_free(made);
    end_context(ctx);
}

/* --- people --- */

static void check_said(const char *text, const char *const *words, bool said) {
    for (; *words; words++) {
        if ((strstr(text, *words) != NULL) != said) {
            fail_msg("%s '%s' in\n%s", said ? "no" : "there is", *words, text);
        }
    }
}

static void tables_show_fields(void **unused) {
    (void)unused;
    char *text;
    size_t size;
    int64_t many[MANY];
    clv_context *ctx = new_context();
    clv_result *made = new_result(ctx);
    clv_report report = {.result = made};
    assert_int_equal(add_all(made, SPARSE), CLV_OK);
    assert_int_equal(clv_report_table(ctx, &report, &text, &size), CLV_OK);
    check_said(text,
               (const char *const[]){"whole            -42\n", "real             0.666666667\n",
                                     "rows             4 x 3\n", "text             a <tag> & \"more\"\n", "parts ",
                                     "size", "value", "stop", "0.25", "1e-09",
                                     "wholes           0 -1 9223372036854775807 ", NULL},
               true);
    check_said(text, (const char *const[]){"membership", "nan", ", affinity", NULL}, false);
    clv_release(ctx, text);
    for (int i = 0; i < MANY; i++) {
        many[i] = i;
    }
    assert_int_equal(clv_result_put_integers(made, "wholes", many, MANY), CLV_OK);
    assert_int_equal(clv_result_put_integers(made, "none.size", many, 25), CLV_OK);
    assert_int_equal(clv_report_table(ctx, &report, &text, &size), CLV_OK);
    check_said(text, (const char *const[]){"wholes           34.5 on average\n", " and 15 more\n", NULL}, true);
    clv_release(ctx, text);
    clv_result_free(made);
    end_context(ctx);
}

static void pages_show_fields(void **unused) {
    (void)unused;
    char *text;
    size_t size;
    int64_t many[2 * MANY] = {0};
    clv_context *ctx = new_context();
    clv_result *made = new_result(ctx);
    clv_report report = {.result = made};
    assert_int_equal(add_all(made, DOUBLES), CLV_OK);
    assert_int_equal(clv_report_html(ctx, &report, &text, &size), CLV_OK);
    check_said(text,
               (const char *const[]){
                   "<dt>whole</dt><dd>-42</dd>", "<dt>real</dt><dd>0.666667</dd>",
                   "<dt>text</dt><dd>a &lt;tag&gt; &amp; &quot;more&quot;</dd>", "<h2>Parts</h2>",
                   "<th>size</th><th>value</th><th>stop</th>",
                   "<tr><td>0</td><td class=\"number\">3</td><td class=\"number\">0.25</td><td>converged</td></tr>",
                   "<tr><td>1</td><td class=\"number\">0</td><td class=\"number\">-</td><td>&lt;b&gt;</td></tr>",
                   "4 objects: 3 in 2 clusters (1 of 3 is empty), 1 left out", NULL},
               true);
    check_said(text, (const char *const[]){"<b>", "<tag>", "nan", " more</p>", NULL}, false);
    clv_release(ctx, text);
    assert_int_equal(clv_result_put_integers(made, "none.size", many, 2 * MANY), CLV_OK);
    assert_int_equal(clv_report_html(ctx, &report, &text, &size), CLV_OK);
    check_said(text, (const char *const[]){"and 40 more</p>", NULL}, true);
    clv_release(ctx, text);
    clv_result_free(made);
    end_context(ctx);
}

/* Of a method that gives no labels, whichever it is. */
static void without_labels_nobody_speaks_of_clusters(void **unused) {
    (void)unused;
    size_t count, checked = 0;
    const clv_method *const *methods = clv_methods(&count);
    clv_context *ctx = new_context();
    double points[N * P] = {0, 1, 2, 3};
    clv_matrix view = {.rows = N, .cols = P, .values = points};
    clv_trace_row trace[2] = {{.objective = 2}, {.objective = 1, .iteration = 1}};
    for (size_t i = 0; i < count; i++) {
        if (clv_method_gives(methods[i], "labels")) {
            continue;
        }
        clv_options_room options;
        char *text;
        size_t size;
        clv_result *made;
        const clv_option_table *const tables[] = {clv_control_table(), methods[i]->options, NULL};
        const void *const structs[] = {options.bytes, options.bytes};
        clv_method_defaults(methods[i], options.bytes, methods[i]->options->size);
        assert_int_equal(clv_result_new(ctx, 0, K, &made), CLV_OK);
        clv_result_claim(made, methods[i], 0.5, 0, 1e-6);
        made->n = N;
        assert_int_equal(add_numbers(made), CLV_OK);
        made->trace = trace;
        made->trace_count = 2;
        clv_report report = {.result = made, .tables = tables, .options = structs, .points = &view};
        clv_status (*const writers[])(clv_context *, const clv_report *, char **, size_t *) = {clv_report_table,
                                                                                               clv_report_html};
        for (int w = 0; w < 2; w++) {
            assert_int_equal(writers[w](ctx, &report, &text, &size), CLV_OK);
            char *script = strstr(text, "<script>"); /* which is the same in all pages */
            text[script ? (size_t)(script - text) : size] = '\0';
            for (char *at = text; *at; at++) {
                *at = (char)tolower((unsigned char)*at);
            }
            check_said(text, (const char *const[]){"cluster", "left out", NULL}, false);
            check_said(text, (const char *const[]){"k = 3", "proved: ", "whole", NULL}, true);
            clv_release(ctx, text);
        }
        made->trace = NULL;
        clv_result_free(made);
        checked++;
    }
    assert_true(checked >= 2);
    end_context(ctx);
}

/* --- damage --- */

#define BEFORE                                                                                                         \
    "{\"cleave\": \"" CLV_VERSION "\", \"drift\": 0, \"seconds\": {\"solve\": null},\n"                                \
    " \"method\": \"made\", \"solver\": \"hand\", \"n\": 2, \"k\": 2, \"seed\": 1,\n"                                  \
    " \"certificate\": {\"name\": \"gap\", \"value\": 0, \"tolerance\": 1, \"holds\": true},\n"                        \
    " \"objective\": {\"name\": \"x\", \"value\": 1, \"sense\": \"max\"}, \"stop\": \"stalled\", \"iterations\": 9,\n" \
    " \"restarts\": [], \"options\": {}"

/* Refused by words that say where; NULL: read. */
static void check_refused(const char *field, const char *words) {
    char text[2048];
    clv_claim *claim;
    clv_context *ctx = new_context();
    snprintf(text, sizeof text, BEFORE ",\n %s}", field);
    clv_status status = clv_claim_parse(ctx, "r.json", text, strlen(text), &method, &claim);
    if (!words) {
        assert_int_equal(status, CLV_OK);
        assert_true(clv_claim_result(claim)->fields_count > 0);
        clv_claim_free(claim);
    } else {
        assert_int_equal(status, CLV_EDATA);
        assert_null(claim);
        if (!strstr(clv_message(ctx), words) || strncmp(clv_message(ctx), "r.json: ", 8) != 0) {
            fail_msg("'%s' does not say '%s'", clv_message(ctx), words);
        }
    }
    end_context(ctx);
}

static void damaged_values_are_refused(void **unused) {
    (void)unused;
    check_refused("\"whole\": 7", NULL);
    check_refused("\"whole\": 7.5", "entry 1 of whole is not a whole number");
    check_refused("\"whole\": \"7\"", "entry 1 of whole is not a whole number");
    check_refused("\"whole\": [7]", "entry 1 of whole is not a whole number");
    check_refused("\"whole\": null", "entry 1 of whole is not a whole number");
    check_refused("\"real\": 7", NULL);
    check_refused("\"real\": null", NULL); /* no number */
    check_refused("\"real\": true", "entry 1 of real is not a number");
    check_refused("\"text\": \"\"", NULL);
    check_refused("\"text\": 7", "entry 1 of text is not a text");
    check_refused("\"wholes\": []", NULL);
    check_refused("\"wholes\": 7", "field wholes is missing or not an array");
    check_refused("\"wholes\": [1, 2, 3.5]", "entry 3 of wholes is not a whole number");
    check_refused("\"wholes\": [1, null]", "entry 2 of wholes is not a whole number");
    check_refused("\"reals\": [1, null, 2.5]", NULL);
    check_refused("\"reals\": {}", "field reals is missing or not an array");
    check_refused("\"reals\": [[1]]", "entry 1 of reals is not a number");
    check_refused("\"texts\": [\"a\", null]", "entry 2 of texts is not a text");
    check_refused("\"texts\": \"a\"", "field texts is missing or not an array");
}

static void damaged_matrices_are_refused(void **unused) {
    (void)unused;
    check_refused("\"rows\": [[1, 2], [3, 4]]", NULL);
    check_refused("\"rows\": []", "field rows is missing or not an array of arrays");
    check_refused("\"rows\": 7", "field rows is missing or not an array of arrays");
    check_refused("\"rows\": [[]]", "row 0 of rows is not");
    check_refused("\"rows\": [7]", "row 0 of rows is not");
    check_refused("\"rows\": [[1, 2], [3]]", "row 1 of rows is not an array of numbers as long as row 0");
    check_refused("\"rows\": [[1, 2], [3, 4, 5]]", "row 1 of rows is not an array");
    check_refused("\"rows\": [[1, 2], [3, \"4\"]]", "number 2 in row 1 of rows is not a number");
    check_refused("\"rows\": [[1, null]]", "number 2 in row 0 of rows is not a number");
}

#define SPARSE_OF(rows, cols, start, index, value)                                                                     \
    "\"membership\": {\"rows\": " rows ", \"cols\": " cols ", \"start\": " start ", \"index\": " index                 \
    ", \"value\": " value "}"
#define LISTS(start, index, value) SPARSE_OF("2", "2", start, index, value)

static void damaged_sparse_matrices_are_refused(void **unused) {
    (void)unused;
    check_refused(LISTS("[0, 1, 3]", "[1, 0, 1]", "[1, 0.5, 0.5]"), NULL);
    check_refused(SPARSE_OF("0", "2", "[0]", "[]", "[]"), NULL);
    check_refused("\"membership\": 7", "membership.start is missing or not an array");
    check_refused("\"membership\": []", "membership.start is missing or not an array");
    check_refused(LISTS("[0, 1, 3]", "7", "[1, 1, 1]"), "membership.index is missing or not an array");
    check_refused(LISTS("[0, 1, 3]", "[1, 0, 1]", "7"), "membership.value is missing or not an array");
    check_refused("\"membership\": {\"cols\": 3, \"start\": [0, 0], \"index\": [], \"value\": []}", "field rows");
    check_refused(SPARSE_OF("1", "-3", "[0, 0]", "[]", "[]"), "field cols");
    check_refused(SPARSE_OF("1", "3000000000", "[0, 0]", "[]", "[]"), "membership has lists of different lengths");
    check_refused(SPARSE_OF("3", "2", "[0, 1, 3]", "[1, 0, 1]", "[1, 1, 1]"), "membership has lists of different");
    check_refused(SPARSE_OF("0", "2", "[]", "[]", "[]"), "membership has lists of different");
    check_refused(LISTS("[0, 1, 3]", "[1, 0, 1]", "[1, 1]"), "membership has lists of different");
    check_refused(LISTS("[1, 1, 3]", "[1, 0, 1]", "[1, 1, 1]"), "number 1 of membership.start is not");
    check_refused(LISTS("[0, 2, 1]", "[0]", "[1]"), "number 3 of membership.start is not");
    check_refused(LISTS("[0, 1.5, 3]", "[1, 0, 1]", "[1, 1, 1]"), "number 2 of membership.start is not");
    check_refused(LISTS("[0, 1, 4]", "[1, 0, 1]", "[1, 1, 1]"), "membership.start ends with 4");
    check_refused(LISTS("[0, 1, 2]", "[1, 0, 1]", "[1, 1, 1]"), "membership.index has 3 numbers");
    check_refused(LISTS("[0, 1, 3]", "[1, 0, 2]", "[1, 1, 1]"), "number 3 of membership.index is not");
    check_refused(LISTS("[0, 1, 3]", "[-1, 0, 1]", "[1, 1, 1]"), "number 1 of membership.index is not");
    check_refused(LISTS("[0, 1, 3]", "[1, 1, 0]", "[1, 1, 1]"), "number 3 of membership.index is not");
    check_refused(LISTS("[0, 1, 3]", "[1, 1, 1]", "[1, 1, 1]"), "number 3 of membership.index is not");
    check_refused(LISTS("[0, 1, 3]", "[1, 0, 1]", "[1, null, 1]"), "number 2 of membership.value is not a number");
}

#define PART(size, value, stop) "{\"size\": " size ", \"value\": " value ", \"stop\": " stop "}"

static void damaged_tables_are_refused(void **unused) {
    (void)unused;
    check_refused("\"parts\": [" PART("1", "null", "\"a\"") ", " PART("-1", "2", "\"\"") "]", NULL);
    check_refused("\"parts\": []", NULL);
    check_refused("\"parts\": {}", "field parts is missing or not an array");
    check_refused("\"parts\": 7", "field parts is missing or not an array");
    check_refused("\"parts\": [1]", "entry 1 of parts.size is not a whole number");
    check_refused("\"parts\": [" PART("1", "2", "\"a\"") ", {\"size\": 1}]", "entry 2 of parts.value is not a number");
    check_refused("\"parts\": [" PART("1.5", "2", "\"a\"") "]", "entry 1 of parts.size is not a whole number");
    check_refused("\"parts\": [" PART("1", "\"2\"", "\"a\"") "]", "entry 1 of parts.value is not a number");
    check_refused("\"parts\": [" PART("1", "2", "3") "]", "entry 1 of parts.stop is not a text");
}

/* --- memory --- */

static clv_status write_and_read(clv_context *ctx, void *user) {
    const clv_report *report = user;
    clv_status (*const writers[])(clv_context *, const clv_report *, char **,
                                  size_t *) = {clv_report_json, clv_report_table, clv_report_html};
    for (int w = 0; w < 3; w++) {
        char *text;
        size_t size;
        clv_claim *claim = NULL;
        clv_status status = writers[w](ctx, report, &text, &size);
        if (status == CLV_OK && w == 0) {
            status = clv_claim_parse(ctx, "r.json", text, size, &method, &claim);
        }
        clv_claim_free(claim);
        clv_release(ctx, text);
        CLV_TRY(status);
    }
    return CLV_OK;
}

/* Fields that are made one after the other. */
static clv_status put_and_replace(clv_context *ctx, void *user) {
    const clv_matrix m = {.rows = N, .cols = K, .values = matrix};
    const clv_field fields[] = {{.name = "rows", .kind = CLV_FIELD_MATRIX, .count = 1, .matrix = &m},
                                {.name = "texts", .kind = CLV_FIELD_TEXT, .is_list = 1, .count = 4, .texts = texts},
                                {.name = "rows", .kind = CLV_FIELD_REAL, .count = 1, .reals = reals}};
    clv_result *made;
    (void)user;
    CLV_TRY(clv_result_new(ctx, 0, K, &made));
    clv_status status = add_numbers(made);
    for (size_t f = 0; f < 3 && status == CLV_OK; f++) {
        status = clv_result_put(made, &fields[f]);
    }
    if (status == CLV_OK) {
        status = add_tables(made);
    }
    clv_result_free(made);
    return status;
}

static void survives_every_failed_allocation(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    clv_result *made = new_result(ctx);
    clv_report report = {.result = made};
    assert_int_equal(add_all(made, SPARSE), CLV_OK);
    assert_true(check_every_failure(write_and_read, &report) > 20);
    assert_true(check_every_failure(put_and_replace, NULL) > 20);
    clv_result_free(made);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_read_back),
        cmocka_unit_test(nothing_is_said_of_nothing),
        cmocka_unit_test(tables_show_fields),
        cmocka_unit_test(pages_show_fields),
        cmocka_unit_test(without_labels_nobody_speaks_of_clusters),
        cmocka_unit_test(damaged_values_are_refused),
        cmocka_unit_test(damaged_matrices_are_refused),
        cmocka_unit_test(damaged_sparse_matrices_are_refused),
        cmocka_unit_test(damaged_tables_are_refused),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
