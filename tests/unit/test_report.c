/* Reports: the JSON reads back as what was written, the page is well-formed and needs nothing from outside, results
 * that are damaged are refused with the place. */
#include "failing.h"

#include "linalg/linalg.h"
#include "report/report.h"

#include <float.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 7, K = 3, RESTARTS = 2, ROWS = 5, FIELDS = 3 };

static const int64_t components = 2;
static const double eigenvalues[] = {1, 0.75, 1.0 / 3};
static const char *const warnings[] = {"a warning"};

/* A result made by hand. */
typedef struct fixture {
    clv_result result;
    int32_t labels[N];
    int64_t sizes[K];
    clv_restart restarts[RESTARTS];
    clv_trace_row trace[ROWS];
    clv_field fields[FIELDS];
    clv_affinity_info info;
    clv_scores scores;
    clv_ncut_options cut;
    clv_affinity_options how;
    double points[N * 2];
    clv_matrix matrix;
    const clv_option_table *tables[4];
    const void *options[3];
    double silhouette;
    clv_report report;
} fixture;

static void set_up(fixture *f) {
    memset(f, 0, sizeof *f);
    const int32_t labels[N] = {0, 1, 2, 0, -1, 0, 1};
    const int64_t sizes[K] = {3, 2, 1};
    memcpy(f->labels, labels, sizeof labels);
    memcpy(f->sizes, sizes, sizeof sizes);
    f->restarts[0] = (clv_restart){0.75, 1, 0.5, CLV_STALLED};
    f->restarts[1] = (clv_restart){1.0 / 3, 2, 0.25, CLV_CONVERGED};
    for (int i = 0; i < ROWS; i++) {
        f->trace[i] = (clv_trace_row){.restart = i >= 2,
                                      .part = 10 + i,
                                      .iteration = i >= 2 ? i - 2 : i,
                                      .seconds = 0.1 * i,
                                      .objective = 1 / (1.0 + i),
                                      .certificate = i == 4 ? -0.1 : (double)NAN,
                                      .extra = {100 + i, i % 2 ? (double)NAN : i / 3.0}};
    }
    f->fields[0] = (clv_field){.name = "components", .kind = CLV_FIELD_INTEGER, .count = 1, .integers = &components};
    f->fields[1] =
        (clv_field){.name = "eigenvalues", .kind = CLV_FIELD_REAL, .is_list = 1, .count = 3, .reals = eigenvalues};
    f->fields[2] = (clv_field){.name = "warnings", .kind = CLV_FIELD_TEXT, .is_list = 1, .count = 1, .texts = warnings};
    f->result = (clv_result){.method = "ncut",
                             .solver = "fpc",
                             .n = N,
                             .k = K,
                             .seed = 9007199254740992,
                             .objective = {"ncut", 1.0 / 3, 0},
                             .certificate = {"one-move-gain", -0.1, 3e-12, 1},
                             .bound = {NULL, NAN},
                             .stop = CLV_CONVERGED,
                             .iterations = 2,
                             .seconds = 0.75,
                             .drift = DBL_MIN,
                             .restarts_count = RESTARTS,
                             .restarts = f->restarts,
                             .trace_count = ROWS,
                             .trace = f->trace,
                             .labels = f->labels,
                             .sizes = f->sizes,
                             .left_out = 1,
                             .fields_count = FIELDS,
                             .fields = f->fields};
    f->info = (clv_affinity_info){
        .kind = CLV_AFFINITY_GAUSSIAN, .gamma = 0.1, .home = "dense-f64", .n = N, .nonzeros = 49, .bytes = 392};
    f->scores = (clv_scores){.ari = 0.5, .nmi = NAN, .accuracy = 0.25, .assignment_rate = 6.0 / 7};
    clv_ncut_defaults(&f->cut);
    f->cut.k = K;
    f->cut.start = "\"quoted\"\\ \t\xff caf\xc3\xa9 <b>";
    clv_affinity_defaults(&f->how);
    for (int i = 0; i < 2 * N; i++) {
        f->points[i] = cos(3.0 * i) * (i % 2 ? 1 : 4);
    }
    f->matrix = (clv_matrix){.rows = N, .cols = 2, .values = f->points};
    f->tables[0] = clv_control_table();
    f->tables[1] = clv_method_find("ncut")->options;
    f->tables[2] = clv_affinity_table();
    f->options[0] = &f->cut.control;
    f->options[1] = &f->cut;
    f->options[2] = &f->how;
    f->silhouette = 0.125;
    f->report = (clv_report){.result = &f->result,
                             .affinity = &f->info,
                             .scores = &f->scores,
                             .scale = "unit-columns",
                             .silhouette = &f->silhouette,
                             .load_seconds = 0.5,
                             .affinity_seconds = NAN,
                             .total_seconds = 2,
                             .tables = f->tables,
                             .options = f->options,
                             .points = &f->matrix};
}

/* --- JSON --- */

static json_t *parse(clv_context *ctx, const fixture *f) {
    char *text;
    size_t size;
    json_error_t error;
    assert_int_equal(clv_report_json(ctx, &f->report, &text, &size), CLV_OK);
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        fail_msg("line %d column %d: %s\n%s", error.line, error.column, error.text, text);
    }
    clv_release(ctx, text);
    return root;
}

static const json_t *at(const json_t *root, const char *outer, const char *name) {
    return json_object_get(outer ? json_object_get(root, outer) : root, name);
}

static void json_holds_every_field(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    clv_context *ctx = new_context();
    json_t *root = parse(ctx, &f);
    assert_string_equal(json_string_value(at(root, NULL, "cleave")), clv_version());
    assert_string_equal(json_string_value(at(root, NULL, "method")), "ncut");
    assert_string_equal(json_string_value(at(root, NULL, "solver")), "fpc");
    assert_int_equal(json_integer_value(at(root, NULL, "n")), N);
    assert_int_equal(json_integer_value(at(root, NULL, "k")), K);
    assert_int_equal(json_integer_value(at(root, NULL, "seed")), 9007199254740992);
    assert_true(json_real_value(at(root, "objective", "value")) == 1.0 / 3);
    assert_string_equal(json_string_value(at(root, "objective", "sense")), "min");
    assert_true(json_real_value(at(root, "certificate", "value")) == -0.1);
    assert_true(json_real_value(at(root, "certificate", "tolerance")) == 3e-12);
    assert_true(json_is_true(at(root, "certificate", "holds")));
    assert_null(at(root, NULL, "bound"));
    assert_string_equal(json_string_value(at(root, NULL, "stop")), "converged");
    assert_true(json_real_value(at(root, NULL, "drift")) == DBL_MIN);
    assert_true(json_number_value(at(root, "seconds", "total")) == 2);
    assert_true(json_is_null(at(root, "seconds", "affinity")));
    assert_true(json_number_value(at(root, "seconds", "solve")) == 0.75);
    assert_int_equal(json_array_size(at(root, NULL, "restarts")), RESTARTS);
    const json_t *second = json_array_get(at(root, NULL, "restarts"), 1);
    assert_true(json_real_value(at(second, NULL, "objective")) == 1.0 / 3);
    assert_int_equal(json_integer_value(at(second, NULL, "iterations")), 2);
    assert_int_equal(json_integer_value(at(root, NULL, "left_out")), 1);
    for (int i = 0; i < N; i++) {
        assert_int_equal(json_integer_value(json_array_get(at(root, NULL, "labels"), (size_t)i)), f.labels[i]);
    }
    for (int c = 0; c < K; c++) {
        assert_int_equal(json_integer_value(json_array_get(at(root, NULL, "sizes"), (size_t)c)), f.sizes[c]);
    }
    assert_int_equal(json_integer_value(at(root, NULL, "components")), components);
    assert_int_equal(json_array_size(at(root, NULL, "eigenvalues")), 3);
    assert_true(json_real_value(json_array_get(at(root, NULL, "eigenvalues"), 2)) == eigenvalues[2]);
    assert_string_equal(json_string_value(json_array_get(at(root, NULL, "warnings"), 0)), warnings[0]);
    assert_true(json_real_value(at(root, "metrics", "ari")) == 0.5);
    assert_null(at(root, "metrics", "nmi"));
    assert_true(json_real_value(at(root, "metrics", "silhouette")) == 0.125);
    assert_string_equal(json_string_value(at(root, "affinity", "kind")), "gaussian");
    assert_string_equal(json_string_value(at(root, "affinity", "home")), "dense-f64");
    assert_null(at(root, "affinity", "mapped"));
    assert_int_equal(json_integer_value(at(root, "affinity", "bytes")), 392);
    json_decref(root);
    end_context(ctx);
}

static void json_lists_options_as_used(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    clv_context *ctx = new_context();
    json_t *root = parse(ctx, &f);
    for (int t = 0; t < 3; t++) {
        for (size_t i = 0; i < f.tables[t]->count; i++) {
            const char *name = f.tables[t]->options[i].name;
            bool listed = at(root, "options", name) != NULL;
            assert_int_equal(listed, strcmp(name, "threads") != 0);
        }
    }
    assert_int_equal(json_integer_value(at(root, "options", "k")), K);
    assert_true(json_real_value(at(root, "options", "gamma")) == 0.1); /* auto, as used */
    assert_string_equal(json_string_value(at(root, "options", "tol")), "auto");
    assert_string_equal(json_string_value(at(root, "options", "affinity")), "gaussian");
    assert_true(json_is_false(at(root, "options", "zero-diagonal")));
    assert_string_equal(json_string_value(at(root, "options", "scale")), "unit-columns");
    assert_string_equal(json_string_value(at(root, "options", "start")), "\"quoted\"\\ \t\xef\xbf\xbd caf\xc3\xa9 <b>");
    json_decref(root);
    f.info.gamma = NAN;
    f.cut.start = NULL;
    f.how.zero_diagonal = 1;
    f.cut.patience = -1;
    f.result.bound = (clv_bound){"eigenvalue", 0.25};
    f.result.certificate.value = NAN;
    root = parse(ctx, &f);
    assert_string_equal(json_string_value(at(root, "options", "gamma")), "auto");
    assert_true(json_is_null(at(root, "options", "start")));
    assert_true(json_is_true(at(root, "options", "zero-diagonal")));
    assert_string_equal(json_string_value(at(root, "options", "patience")), "none");
    assert_true(json_real_value(at(root, "bound", "value")) == 0.25);
    assert_true(json_is_null(at(root, "certificate", "value")));
    assert_null(at(root, "affinity", "gamma"));
    json_decref(root);
    end_context(ctx);
}

/* In percent of the objective; none once the bound is reached, also where rounding has gone past it. */
static void gaps_by_hand(void **unused) {
    (void)unused;
    const struct {
        double objective, bound;
        int maximize;
        double gap;
    } cases[] = {{0.5, 0.25, 0, 50},   {0.5, 0.5, 0, 0}, {0.5, 0.5000000001, 0, 0}, {0, 1e-16, 0, 0},
                 {0, 0, 0, 0},         {1e-16, 0, 0, 0}, {0.5 + 2e-16, 0.5, 0, 0},  {2, 3, 1, 50},
                 {2, 1.9999999, 1, 0}, {-2, -1, 1, 50},  {0.5, 0, 0, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        clv_result result = {.objective = {"cut", cases[i].objective, cases[i].maximize},
                             .bound = {"eigenvalue", cases[i].bound}};
        assert_true(clv_gap_percent(&result) == cases[i].gap);
        result.bound.name = NULL;
        assert_true(isnan(clv_gap_percent(&result)));
    }
}

static void bare_reports_are_enough(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    clv_context *ctx = new_context();
    f.report = (clv_report){.result = &f.result};
    f.result.trace = NULL;
    f.result.trace_count = 0;
    json_t *root = parse(ctx, &f);
    assert_null(at(root, NULL, "affinity"));
    assert_null(at(root, NULL, "metrics"));
    assert_int_equal(json_object_size(at(root, NULL, "options")), 0);
    json_decref(root);
    char *text;
    size_t size;
    assert_int_equal(clv_report_table(ctx, &f.report, &text, &size), CLV_OK);
    clv_release(ctx, text);
    assert_int_equal(clv_report_html(ctx, &f.report, &text, &size), CLV_OK);
    assert_null(strstr(text, "<svg"));
    clv_release(ctx, text);
    assert_int_equal(clv_report_trace(ctx, &f.report, &text, &size), CLV_OK);
    assert_string_equal(text, "iteration,seconds,objective,certificate,restart\n");
    clv_release(ctx, text);
    end_context(ctx);
}

/* What no method claims anything of cannot be reported: a result of a program's own, a prediction, none at all. */
static void nothing_is_not_reported(void **unused) {
    (void)unused;
    clv_status (*const writers[])(clv_context *, const clv_report *, char **,
                                  size_t *) = {clv_report_json, clv_report_table, clv_report_html};
    clv_context *ctx = new_context();
    clv_result *made;
    char *text;
    size_t size;
    assert_int_equal(clv_result_new(ctx, 3, 2, &made), CLV_OK);
    for (int way = 0; way < 3; way++) {
        const clv_report report = {.result = way < 2 ? made : NULL};
        made->method = way == 1 ? "ncut" : NULL; /* a prediction names its method */
        for (size_t w = 0; w < CLV_COUNT(writers); w++) {
            assert_int_equal(writers[w](ctx, &report, &text, &size), CLV_EUSAGE);
            assert_null(text);
            assert_non_null(strstr(clv_message(ctx), "nothing to report"));
        }
    }
    assert_int_equal(clv_report_trace(ctx, &(clv_report){0}, &text, &size), CLV_EUSAGE);
    clv_result_free(made);
    end_context(ctx);
}

static void a_comma_locale_changes_nothing(void **unused) {
    (void)unused;
    const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8", "de_DE"};
    fixture f;
    set_up(&f);
    clv_context *ctx = new_context();
    clv_status (*const writers[])(clv_context *, const clv_report *, char **,
                                  size_t *) = {clv_report_json, clv_report_table, clv_report_trace, clv_report_html};
    for (int w = 0; w < 4; w++) {
        char *plain, *foreign;
        size_t size;
        assert_int_equal(writers[w](ctx, &f.report, &plain, &size), CLV_OK);
        for (int i = 0; i < 5 && !setlocale(LC_ALL, names[i]); i++) {
        }
        assert_int_equal(writers[w](ctx, &f.report, &foreign, &size), CLV_OK);
        setlocale(LC_ALL, "C");
        assert_string_equal(plain, foreign);
        clv_release(ctx, plain);
        clv_release(ctx, foreign);
    }
    end_context(ctx);
}

/* --- table and trace --- */

static void the_table_says_what_counts(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    clv_context *ctx = new_context();
    char *text;
    size_t size;
    assert_int_equal(clv_report_table(ctx, &f.report, &text, &size), CLV_OK);
    assert_int_equal(strlen(text), size);
    const char *const expected[] = {"ncut, solver fpc",
                                    "7 in 3 clusters, 1 left out",
                                    "ncut 0.333333333",
                                    "one-move-gain -0.1",
                                    ": holds\n",
                                    "converged after 2 iterations",
                                    "best of 2 restarts",
                                    "3 2 1\n",
                                    "components       2\n",
                                    "eigenvalues      1 0.75 0.3333\n",
                                    "ari",
                                    "0.125",
                                    "solve 0.750"};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        if (!strstr(text, expected[i])) {
            fail_msg("no '%s' in\n%s", expected[i], text);
        }
    }
    assert_null(strstr(text, "nan"));
    assert_non_null(strstr(text, "\nwarning          a warning\n"));
    clv_release(ctx, text);
    f.result.certificate.holds = 0;
    assert_int_equal(clv_report_table(ctx, &f.report, &text, &size), CLV_OK);
    assert_non_null(strstr(text, ": does not hold\n"));
    assert_non_null(strstr(text, "Not optimal"));
    clv_release(ctx, text);
    end_context(ctx);
}

/* The values of all rows begin in one column, and metrics have the names that they have everywhere. */
static void the_table_is_aligned(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    clv_context *ctx = new_context();
    char *text;
    size_t size;
    f.scores.nmi = 0.5;
    f.result.k = 1;
    f.result.bound = (clv_bound){"eigenvalue", 0.25};
    assert_int_equal(clv_report_table(ctx, &f.report, &text, &size), CLV_OK);
    size_t column = strcspn(text, " ") + strspn(text + strcspn(text, " "), " ");
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        assert_true(strcspn(line, "\n") > column && line[column - 1] == ' ' && line[column] != ' ');
    }
    const char *name;
    double value;
    int metrics = 0;
    for (size_t at = 0; clv_next_metric(&f.report, &at, &name, &value); metrics++) {
        char words[32];
        snprintf(words, sizeof words, "\n%s", name);
        words[strcspn(words, "_")] = strchr(words, '_') ? ' ' : '\0';
        if (!strstr(text, words)) {
            fail_msg("no %s in\n%s", words, text);
        }
    }
    assert_true(metrics >= 9);
    assert_non_null(strstr(text, "7 in 1 cluster, 1 left out\n"));
    clv_release(ctx, text);
    assert_int_equal(clv_report_html(ctx, &f.report, &text, &size), CLV_OK);
    assert_non_null(strstr(text, "7 objects: 6 in 1 cluster, 1 left out<"));
    clv_release(ctx, text);
    end_context(ctx);
}

static void the_trace_reads_back(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    clv_context *ctx = new_context();
    char *text;
    size_t size;
    assert_int_equal(clv_report_trace(ctx, &f.report, &text, &size), CLV_OK);
    const char *line = strchr(text, '\n') + 1;
    for (int i = 0; i < ROWS; i++, line = strchr(line, '\n') + 1) {
        long long iteration, restart;
        double seconds, objective, certificate;
        int fields = sscanf(line, "%lld,%lf,%lf,%lf,%lld", &iteration, &seconds, &objective, &certificate, &restart);
        assert_int_equal(fields, i == 4 ? 5 : 3); /* no certificate: an empty cell */
        assert_int_equal(iteration, f.trace[i].iteration);
        assert_true(seconds == f.trace[i].seconds && objective == f.trace[i].objective);
    }
    assert_true(*line == '\0');
    clv_release(ctx, text);
    end_context(ctx);
}

/* Columns of one method only: what a part is, and further ones. */
static void the_trace_has_the_columns_of_its_method(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    clv_context *ctx = new_context();
    char *text;
    size_t size;
    f.result.trace_part = "cluster";
    f.result.trace_count = 2;
    assert_int_equal(clv_report_trace(ctx, &f.report, &text, &size), CLV_OK);
    assert_string_equal(text,
                        "iteration,seconds,objective,certificate,restart,cluster\n0,0,1,,0,10\n1,0.1,0.5,,0,11\n");
    clv_release(ctx, text);
    f.result.trace_extras[0] = "F";
    f.result.trace_extras[1] = "soft";
    assert_int_equal(clv_report_trace(ctx, &f.report, &text, &size), CLV_OK);
    assert_string_equal(text, "iteration,seconds,objective,certificate,restart,cluster,F,soft\n"
                              "0,0,1,,0,10,100,0\n1,0.1,0.5,,0,11,101,\n");
    clv_release(ctx, text);
    f.result.trace_part = NULL;
    assert_int_equal(clv_report_trace(ctx, &f.report, &text, &size), CLV_OK);
    assert_string_equal(text, "iteration,seconds,objective,certificate,restart,F,soft\n"
                              "0,0,1,,0,100,0\n1,0.1,0.5,,0,101,\n");
    clv_release(ctx, text);
    end_context(ctx);
}

/* --- the page --- */

static bool is_void(const char *name) {
    const char *const voids[] = {"meta", "link", "img", "br"};
    for (size_t i = 0; i < sizeof voids / sizeof voids[0]; i++) {
        if (strcmp(name, voids[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Every element that is opened is closed in order; void elements and self-closed ones aside. */
static void check_nesting(const char *page) {
    char open[64][16];
    int depth = 0;
    for (const char *at = strchr(page, '<'); at; at = strchr(at + 1, '<')) {
        char name[16] = "";
        bool closing = at[1] == '/';
        if (at[1] == '!') {
            continue;
        }
        assert_int_equal(sscanf(at + 1 + closing, "%15[a-zA-Z0-9]", name), 1);
        const char *end = strchr(at, '>');
        assert_non_null(end);
        if (closing) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (end[-1] != '/' && !is_void(name)) {
            assert_true(depth < 64);
            strcpy(open[depth++], name);
            at = strcmp(name, "script") == 0 ? strstr(at, "</script>") - 1 : at;
        }
    }
    assert_int_equal(depth, 0);
}

static void the_page_is_whole(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    clv_context *ctx = new_context();
    char *page;
    size_t size;
    assert_int_equal(clv_report_html(ctx, &f.report, &page, &size), CLV_OK);
    assert_int_equal(strlen(page), size);
    check_nesting(page);
    const char *const expected[] = {"7 objects: 6 in 3 clusters, 1 left out",
                                    "Proved: no single object",
                                    "class=\"claim holds\"",
                                    "prefers-color-scheme:dark",
                                    "class=\"best\"",
                                    "class=\"curve\"",
                                    "class=\"dots\"",
                                    "left out",
                                    "<td>ari</td><td>0.5</td>",
                                    "<dt>components</dt><dd>2</dd>",
                                    "<dt>home</dt><dd>dense-f64</dd>",
                                    "&quot;quoted&quot;",
                                    "&lt;b&gt;",
                                    "<td>gamma</td><td>0.1</td>",
                                    "<td>scale</td><td>unit-columns</td>"};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        if (!strstr(page, expected[i])) {
            fail_msg("no '%s' in the page", expected[i]);
        }
    }
    const char *const absent[] = {"<script src", "http", "@import", "url(", "src=", "<b>", ">nan", ">inf"};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        if (strstr(page, absent[i])) {
            fail_msg("'%s' in the page", absent[i]);
        }
    }
    clv_release(ctx, page);
    end_context(ctx);
}

/* Where the trace has parts, each of them is a line, and none is more than the others. */
static void the_page_says_what_its_lines_are(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    clv_context *ctx = new_context();
    char *page;
    size_t size;
    assert_int_equal(clv_report_html(ctx, &f.report, &page, &size), CLV_OK);
    assert_non_null(strstr(page, "one line per restart; the one returned stands out."));
    clv_release(ctx, page);
    f.result.trace_part = "cluster";
    f.trace[1].part = f.trace[0].part;
    f.result.trace_count = 2; /* of one restart */
    assert_int_equal(clv_report_html(ctx, &f.report, &page, &size), CLV_OK);
    assert_non_null(strstr(page, "one line per cluster."));
    assert_non_null(strstr(page, "<title>cluster 10: ncut "));
    assert_null(strstr(page, "one line per restart"));
    assert_null(strstr(page, "class=\"best\""));
    clv_release(ctx, page);
    end_context(ctx);
}

/* Points on an ellipse, turned: the components are its axes. */
static void the_plane_is_that_of_the_components(void **unused) {
    (void)unused;
    enum { M = 40, P = 5 };
    double points[M * P];
    clv_context *ctx = new_context();
    for (int i = 0; i < M; i++) {
        double angle = 2 * acos(-1) * i / M, u = 3 * cos(angle), v = sin(angle);
        double turned[P] = {0.6 * u, 0.8 * u, 0.8 * v, 0.6 * v, 0};
        for (int j = 0; j < P; j++) {
            points[i * P + j] = turned[j] + 100 * j;
        }
    }
    clv_matrix matrix = {.rows = M, .cols = P, .values = points};
    clv_plane plane;
    int64_t objects[M];
    for (int i = 0; i < M; i++) {
        objects[i] = i;
    }
    assert_int_equal(clv_plane_of_points(ctx, &matrix, objects, M, &plane), CLV_OK);
    assert_int_equal(plane.count, M);
    for (int i = 0; i < M; i++) {
        double angle = 2 * acos(-1) * i / M;
        assert_true(fabs(plane.x[i] - 3 * cos(angle)) < 1e-4);
        assert_true(fabs(plane.y[i] - sin(angle)) < 1e-4);
    }
    clv_plane_free(ctx, &plane);
    matrix.cols = 1;
    matrix.rows = 3;
    assert_int_equal(clv_plane_of_points(ctx, &matrix, objects, 3, &plane), CLV_OK);
    assert_true(plane.y[0] == 0 && plane.y[2] == 0);
    clv_plane_free(ctx, &plane);
    end_context(ctx);
}

/* Two cliques that hang together by a thread lie on two sides of the first coordinate. */
static void similarities_have_a_plane(void **unused) {
    (void)unused;
    enum { M = 12 };
    double similar[M * M];
    int64_t objects[M];
    clv_context *ctx = new_context();
    for (int e = 0; e < M * M; e++) {
        similar[e] = (e / M < M / 2) == (e % M < M / 2) ? 1 : 0.01;
    }
    for (int i = 0; i < M; i++) {
        objects[i] = i;
    }
    const clv_matrix matrix = {.rows = M, .cols = M, .values = similar};
    clv_affinity_options how;
    clv_affinity *affinity = NULL;
    clv_plane plane;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &how, &affinity), CLV_OK);
    assert_int_equal(clv_plane_of_affinity(ctx, affinity, objects, M, &plane), CLV_OK);
    assert_int_equal(plane.count, M);
    for (int i = 1; i < M; i++) {
        assert_true((plane.x[i] > 0) == ((plane.x[0] > 0) == (i < M / 2)));
    }
    clv_plane_free(ctx, &plane);
    assert_int_equal(clv_plane_of_affinity(ctx, affinity, objects, 3, &plane), CLV_OK);
    assert_int_equal(plane.count, 0);
    clv_affinity_free(affinity);
    end_context(ctx);
}

/* A page of very many objects shows some of them, and says so. */
static void large_sets_are_thinned(void **unused) {
    (void)unused;
    enum { M = 12345 };
    clv_context *ctx = new_context();
    double *points = CLV_NEW(ctx, double, 2 * M);
    int32_t *labels = CLV_NEW0(ctx, int32_t, M);
    const int64_t sizes[K] = {M, 0, 0};
    fixture f;
    char *page;
    size_t size;
    set_up(&f);
    for (int i = 0; i < 2 * M; i++) {
        points[i] = sin(i);
    }
    memcpy(f.sizes, sizes, sizeof sizes);
    f.matrix = (clv_matrix){.rows = M, .cols = 2, .values = points};
    f.result.n = M;
    f.result.labels = labels;
    f.result.left_out = 0;
    assert_int_equal(clv_report_html(ctx, &f.report, &page, &size), CLV_OK);
    assert_non_null(strstr(page, "4000 of the 12345 objects are shown"));
    assert_non_null(strstr(page, "\"count\":4000"));
    assert_true(size < 300000);
    clv_release(ctx, page);
    clv_free(ctx, points);
    clv_free(ctx, labels);
    end_context(ctx);
}

/* --- results read back --- */

static const char good[] =
    "{\"cleave\": \"" CLV_VERSION "\", \"seconds\": {\"solve\": 1}, "
    "\"method\": \"ncut\", \"solver\": \"fcd\", \"n\": 2, \"k\": 1, \"seed\": -5, \"left_out\": 0,\n"
    " \"certificate\": {\"name\": \"gain\", \"value\": 0, \"tolerance\": 1e-12, \"holds\": true},\n"
    " \"objective\": {\"name\": \"cut\", \"value\": 0.5, \"sense\": \"min\"}, \"bound\": {\"value\": 0.25},\n"
    " \"components\": 4, \"drift\": 1e-15, \"eigenvalues\": [1, 0.75],\n"
    " \"affinity\": {\"kind\": \"knn\", \"gamma\": 2}, \"stop\": \"stalled\", \"iterations\": 9,\n"
    " \"restarts\": [{\"objective\": 0.75, \"iterations\": 8, \"seconds\": null, \"stop\": \"converged\"},\n"
    "  {\"objective\": 0.5, \"iterations\": -1, \"seconds\": 0.5, \"stop\": \"stalled\"}],\n"
    " \"options\": {\"gamma\": 0.1, \"k\": 3, \"flag\": true, \"text\": \"a b\", \"none\": null},\n"
    " \"sizes\": [2], \"labels\": [0, -1]}";

static void claims_read_back(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    clv_claim *claim;
    char path[] = "/tmp/cleave-claim-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, good, strlen(good)), strlen(good));
    close(file);
    assert_int_equal(clv_claim_read(ctx, path, &claim), CLV_OK);
    unlink(path);
    assert_string_equal(clv_claim_option(claim, "gamma"), "0.1");
    assert_string_equal(clv_claim_option(claim, "k"), "3");
    assert_string_equal(clv_claim_option(claim, "flag"), "true");
    assert_string_equal(clv_claim_option(claim, "text"), "a b");
    assert_null(clv_claim_option(claim, "none"));
    assert_null(clv_claim_option(claim, "missing"));
    const clv_result *result = clv_claim_result(claim);
    int64_t count;
    assert_true(claim->gamma == 2 && result->labels[1] == -1 && result->sizes[0] == 2 && result->certificate.holds);
    assert_true(result->n == 2 && result->k == 1 && result->seed == -5 && result->iterations == 9);
    assert_true(result->bound.value == 0.25 && result->objective.value == 0.5 && !result->objective.maximize);
    assert_string_equal(result->solver, "fcd");
    assert_int_equal(result->stop, CLV_STALLED);
    assert_string_equal(result->method, "ncut");
    assert_ptr_equal(clv_claim_method(claim), clv_method_find("ncut"));
    assert_string_equal(result->objective.name, "cut");
    assert_string_equal(claim->sense, "min");
    assert_string_equal(result->certificate.name, "gain");
    assert_string_equal(claim->kind, "knn");
    assert_string_equal(claim->home, "");
    assert_string_equal(claim->bound_name, "");
    assert_true(result->drift == 1e-15 && isnan(claim->gap_percent));
    assert_true(clv_result_integer(result, "components", 0) == 4 && !clv_result_field(result, "shift"));
    const double *values = clv_result_reals(result, "eigenvalues", &count);
    assert_true(count == 2 && values[0] == 1 && values[1] == 0.75);
    assert_int_equal(result->restarts_count, 2);
    assert_true(result->restarts[0].objective == 0.75 && result->restarts[1].iterations == -1);
    assert_int_equal(result->restarts[0].stop, CLV_CONVERGED);
    assert_int_equal(result->restarts[1].stop, CLV_STALLED);
    assert_true(isnan(result->restarts[0].seconds) && result->restarts[1].seconds == 0.5);
    assert_string_equal(claim->doubt, "");
    clv_claim_free(claim);
    clv_claim_free(NULL);
    assert_int_equal(clv_claim_read(ctx, "/nowhere/result.json", &claim), CLV_ENOINPUT);
    assert_null(claim);
    assert_non_null(strstr(clv_message(ctx), "/nowhere/result.json"));
    end_context(ctx);
}

/* `good` with `from` replaced by `to`. */
static void damage(const char *from, const char *to, char *text, size_t size) {
    const char *place = strstr(good, from);
    assert_non_null(place);
    assert_true((size_t)snprintf(text, size, "%.*s%s%s", (int)(place - good), good, to, place + strlen(from)) < size);
}

/* It is refused with a message that has `word` in it. */
static void check_refused(const char *from, const char *to, const char *word) {
    clv_context *ctx = new_context();
    clv_claim *claim;
    char text[2048];
    damage(from, to, text, sizeof text);
    assert_int_equal(clv_claim_parse(ctx, "r.json", text, strlen(text), NULL, &claim), CLV_EDATA);
    assert_null(claim);
    if (!strstr(clv_message(ctx), word) || strncmp(clv_message(ctx), "r.json", 6) != 0) {
        fail_msg("'%s' does not say '%s'", clv_message(ctx), word);
    }
    end_context(ctx);
}

/* It reads, but cannot be true: that is kept for the verdict, and nothing is there that could be read beyond its end.
 */
static void check_doubted(const char *from, const char *to, const char *word) {
    clv_context *ctx = new_context();
    clv_claim *claim;
    char text[2048];
    damage(from, to, text, sizeof text);
    assert_int_equal(clv_claim_parse(ctx, "r.json", text, strlen(text), NULL, &claim), CLV_OK);
    if (!strstr(claim->doubt, word)) {
        fail_msg("'%s' does not say '%s'", claim->doubt, word);
    }
    const clv_result *result = clv_claim_result(claim);
    assert_true(!result->labels == (strstr(word, "labels") != NULL) &&
                !result->sizes == (strstr(word, "sizes") != NULL));
    clv_claim_free(claim);
    end_context(ctx);
}

static void impossible_claims_are_doubted(void **unused) {
    (void)unused;
    check_doubted("[0, -1]", "[0]", "1 labels are claimed for 2 objects");
    check_doubted("[0, -1]", "[0, 0, 0]", "3 labels are claimed for 2 objects");
    check_doubted("\"n\": 2", "\"n\": 9000000000000000000", "labels are claimed");
    check_doubted("\"sizes\": [2]", "\"sizes\": []", "0 sizes are claimed for 1 clusters");
    check_doubted("\"stop\": \"stalled\"", "\"stop\": \"bored\"", "'bored'");
    check_doubted("\"stop\": \"converged\"", "\"stop\": \"Converged\"", "'Converged'");
}

/* A method that nobody knows has no fields that could be read. */
static void unknown_methods_read_back(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    clv_claim *claim;
    char text[2048];
    damage("\"method\": \"ncut\"", "\"method\": \"magic\"", text, sizeof text);
    assert_int_equal(clv_claim_parse(ctx, "r.json", text, strlen(text), NULL, &claim), CLV_OK);
    assert_null(clv_claim_method(claim));
    assert_int_equal(clv_claim_result(claim)->fields_count, 0);
    clv_claim_free(claim);
    assert_int_equal(clv_claim_parse(ctx, "r.json", text, strlen(text), clv_method_find("ncut"), &claim), CLV_OK);
    assert_int_equal(clv_result_integer(clv_claim_result(claim), "components", 0), 4);
    clv_claim_free(claim);
    end_context(ctx);
}

static void damaged_claims_are_refused(void **unused) {
    (void)unused;
    check_refused("\"certificate\": {", "\"certificate\" {", "line 2, column 1");
    check_refused("\"method\": \"ncut\"", "\"x\": 0", "the field method is missing");
    check_refused("\"n\": 2", "\"n\": -2", "field n ");
    check_refused("\"n\": 2", "\"n\": 2.5", "field n ");
    check_refused("\"value\": 0.5", "\"value\": \"0.5\"", "objective.value");
    check_refused("\"tolerance\": 1e-12, ", "", "certificate.tolerance");
    check_refused("\"holds\": true", "\"holds\": 1", "certificate.holds");
    check_refused("\"value\": 0,", "", "certificate.value");
    check_refused("\"solver\": \"fcd\", ", "", "the field solver is missing");
    check_refused("\"sense\": \"min\"", "\"sense\": 1", "objective.sense");
    check_refused("\"name\": \"gain\", ", "", "certificate.name");
    check_refused("\"seed\": -5", "\"seed\": \"x\"", "field seed ");
    check_refused("\"kind\": \"knn\"", "\"kind\": 3", "affinity.kind");
    check_refused("\"gamma\": 2", "\"gamma\": \"2\"", "affinity.gamma");
    check_refused("\"value\": 0.25", "\"value\": true", "bound.value");
    check_refused("\"value\": 0.25", "\"name\": 1", "bound.name");
    check_refused("\"value\": 0.25", "\"gap_percent\": \"1\"", "bound.gap_percent");
    check_refused("\"components\": 4", "\"components\": 4.5", "entry 1 of components is not a whole number");
    check_refused("\"drift\": 1e-15", "\"drift\": []", "field drift ");
    check_refused("\"drift\": 1e-15, ", "", "field drift ");
    check_refused("\"seconds\": {\"solve\": 1}, ", "", "field seconds.solve is missing");
    check_refused("\"cleave\": \"" CLV_VERSION "\", ", "", "field cleave is missing");
    check_refused("\"cleave\": \"" CLV_VERSION "\"", "\"cleave\": \"0.1.0\"",
                  " was written by cleave 0.1.0; verify it with that version");
    check_refused("\"cleave\": \"" CLV_VERSION "\"", "\"cleave\": \"" CLV_VERSION "x\"", " was written by cleave ");
    check_refused("\"components\": 4", "\"shift\": true", "entry 1 of shift is not a number");
    check_refused("[1, 0.75]", "[1, \"0.75\"]", "entry 2 of eigenvalues is not a number");
    check_refused("[1, 0.75]", "0.75", "field eigenvalues ");
    check_refused("\"stop\": \"stalled\"", "\"stop\": null", "field stop ");
    check_refused("\"iterations\": 9", "\"iterations\": 9.5", "field iterations ");
    check_refused("\"restarts\": [", "\"restarts\": 1, \"x\": [", "field restarts ");
    check_refused("[{\"objective\": 0.75", "[7, {\"objective\": 0.75", "restart 1 is not an object");
    check_refused("\"objective\": 0.75, ", "", "objective");
    check_refused("[0, -1]", "[0, 0.5]", "label of object 2");
    check_refused("[0, -1]", "[0, 3000000000]", "label of object 2");
    check_refused("[0, -1]", "7", "labels");
    check_refused("\"sizes\": [2]", "\"sizes\": [[2]]", "size of cluster 0");
    check_refused("\"text\": \"a b\"", "\"text\": []", "text");
    check_refused("\"k\": 1", "\"n\": 1", "duplicate");
    check_refused(good, "[]", "JSON object");
    check_refused(good, "", "line");
}

static clv_status write_and_read_all(clv_context *ctx, void *user) {
    const fixture *f = user;
    clv_status (*const writers[])(clv_context *, const clv_report *, char **,
                                  size_t *) = {clv_report_json, clv_report_table, clv_report_trace, clv_report_html};
    for (int w = 0; w < 4; w++) {
        char *text;
        size_t size;
        clv_claim *claim = NULL;
        clv_status status = writers[w](ctx, &f->report, &text, &size);
        if (status == CLV_OK && w == 0) {
            status = clv_claim_parse(ctx, "r.json", text, size, NULL, &claim);
        }
        clv_claim_free(claim);
        clv_release(ctx, text);
        CLV_TRY(status);
    }
    return CLV_OK;
}

static void survives_every_failed_allocation(void **unused) {
    (void)unused;
    fixture f;
    set_up(&f);
    assert_true(check_every_failure(write_and_read_all, &f) > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_holds_every_field),
        cmocka_unit_test(json_lists_options_as_used),
        cmocka_unit_test(gaps_by_hand),
        cmocka_unit_test(bare_reports_are_enough),
        cmocka_unit_test(nothing_is_not_reported),
        cmocka_unit_test(a_comma_locale_changes_nothing),
        cmocka_unit_test(the_table_says_what_counts),
        cmocka_unit_test(the_table_is_aligned),
        cmocka_unit_test(the_trace_reads_back),
        cmocka_unit_test(the_trace_has_the_columns_of_its_method),
        cmocka_unit_test(the_page_is_whole),
        cmocka_unit_test(the_page_says_what_its_lines_are),
        cmocka_unit_test(the_plane_is_that_of_the_components),
        cmocka_unit_test(similarities_have_a_plane),
        cmocka_unit_test(large_sets_are_thinned),
        cmocka_unit_test(claims_read_back),
        cmocka_unit_test(damaged_claims_are_refused),
        cmocka_unit_test(impossible_claims_are_doubted),
        cmocka_unit_test(unknown_methods_read_back),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
