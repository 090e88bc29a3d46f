/* Pages of all kinds: every part says what the result says, whatever is missing, and survives failed allocations. */
#include "failing.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 9, K = 2, WIDTH = 40, HEIGHT = 10, P = 4 };

typedef struct subject {
    clv_result result;
    int32_t labels[N], classes[N];
    int64_t sizes[K];
    clv_field fields[8];
    clv_trace_row trace[4];
    clv_restart restarts[2];
    double points[N * 2], shares[N * K], similar[N * N], weights[2 * P];
    clv_matrix membership, of_points, of_similar, of_weights;
    uint8_t samples[WIDTH * HEIGHT];
    int32_t segments[WIDTH * HEIGHT];
    clv_image image;
    clv_report_picture picture;
    clv_report report;
    bool similarities; /* the report has them: made in the context of the call */
} subject;

static const char *const warnings[] = {"one cluster has <2> objects"};

static void set_up(subject *s, const char *method) {
    memset(s, 0, sizeof *s);
    for (int i = 0; i < N; i++) {
        s->labels[i] = i == N - 1 ? -1 : i % K;
        s->classes[i] = i < 4 ? 0 : 1;
        s->points[2 * i] = i % K + 0.1 * i;
        s->points[2 * i + 1] = cos(i);
        s->shares[K * i + i % K] = 0.75;
        s->shares[K * i + (i + 1) % K] = 0.25;
        for (int j = 0; j < N; j++) {
            s->similar[N * i + j] = i % K == j % K ? 1 : 0.125;
        }
    }
    for (int i = 0; i < 4; i++) {
        s->trace[i] = (clv_trace_row){
            .restart = i / 2, .iteration = i % 2, .objective = 1 + 1.0 / (1 + i), .certificate = pow(10, -i)};
    }
    s->sizes[0] = s->sizes[1] = 4;
    s->membership = (clv_matrix){.rows = N, .cols = K, .values = s->shares};
    s->of_points = (clv_matrix){.rows = N, .cols = 2, .values = s->points};
    s->of_similar = (clv_matrix){.rows = N, .cols = N, .values = s->similar};
    s->fields[0] = (clv_field){.name = "warnings", .kind = CLV_FIELD_TEXT, .is_list = 1, .count = 1, .texts = warnings};
    s->fields[1] = (clv_field){.name = "membership", .kind = CLV_FIELD_SPARSE, .count = 1, .matrix = &s->membership};
    s->restarts[0].objective = s->restarts[1].objective = 1.25;
    s->result = (clv_result){.method = method,
                             .n = N,
                             .k = K,
                             .objective = {"value", 1.25, 0},
                             .certificate = {"gap", 1e-3, 1e-2, 1},
                             .bound = {"eigenvalue", 1},
                             .restarts_count = 2,
                             .restarts = s->restarts,
                             .trace = s->trace,
                             .trace_count = 4,
                             .labels = s->labels,
                             .sizes = s->sizes,
                             .left_out = 1,
                             .fields = s->fields,
                             .fields_count = 2};
    s->report = (clv_report){.result = &s->result,
                             .points = &s->of_points,
                             .source = "a<b>.csv",
                             .command = "cleave x 'a<b>.csv'",
                             .date = "1970-01-01",
                             .classes = s->classes};
    s->similarities = true;
}

static clv_status put(clv_context *ctx, const subject *s, char **page, size_t *size) {
    clv_affinity_options how;
    clv_affinity *affinity = NULL;
    clv_report report = s->report;
    *page = NULL;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    if (s->similarities) {
        CLV_TRY(clv_affinity_build(ctx, &s->of_similar, &how, &affinity));
        report.similarities = affinity;
    }
    clv_status status = clv_report_html(ctx, &report, page, size);
    clv_affinity_free(affinity);
    return status;
}

static void check_words(const subject *s, const char *const *there, const char *const *absent) {
    char *page;
    size_t size;
    clv_context *ctx = new_context();
    assert_int_equal(put(ctx, s, &page, &size), CLV_OK);
    *strstr(page, "<script>\n") = '\0';
    for (; *there; there++) {
        if (!strstr(page, *there)) {
            fail_msg("no '%s' in\n%s", *there, strstr(page, "<body>"));
        }
    }
    for (; *absent; absent++) {
        if (strstr(page, *absent)) {
            fail_msg("'%s' in\n%s", *absent, strstr(page, "<body>"));
        }
    }
    clv_release(ctx, page);
    end_context(ctx);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void a_clustering_has_all_parts(void **unused) {
    (void)unused;
    subject s;
    set_up(&s, "ncut");
    check_words(&s,
                WORDS("class=\"claim holds\"", "class=\"claim doubts\"", "<li>one cluster has &lt;2&gt; objects</li>",
                      "No answer can be below 1 (eigenvalue); this one is 1.25, a gap of 20 %", "gap 20 %",
                      "<title>cleave ncut: 9 objects: 8 in 2 clusters, 1 left out</title>",
                      "<code>cleave verify</code> does so again", "a&lt;b&gt;.csv", "1970-01-01",
                      "cleave x &#39;a&lt;b&gt;.csv&#39;", "gray crosses", "id=\"plane\"", "id=\"members\"",
                      "id=\"heat\"", "from 0.125 to 1", "(log scale)", "\"memberships\":[0.75,",
                      "<th scope=\"row\">0</th><td style", "<td style=\"--share:50%\" data-c=\"0\">2</td>"),
                WORDS("<b>", "Nothing was noticed", "nan"));
}

/* Nothing of a page is needed but the result. */
static void what_is_missing_is_left_out(void **unused) {
    (void)unused;
    subject s;
    set_up(&s, "ncut");
    s.similarities = false;
    s.result.fields_count = 0;
    s.result.trace_count = 0;
    s.result.bound = (clv_bound){NULL, NAN};
    s.result.certificate.holds = 0;
    s.report = (clv_report){.result = &s.result};
    check_words(&s, WORDS("class=\"claim fails\"", "What is not proved", "Nothing was noticed", "does not say"),
                WORDS("<svg", "True classes", "To get this again", "made on", "No answer can"));
}

/* Where all belong wholly to one cluster there is nothing to stack; of a column that adds up to 1, likewise. */
static void only_shares_are_stacked(void **unused) {
    (void)unused;
    subject s;
    for (int way = 0; way < 2; way++) {
        set_up(&s, "dominant");
        for (int e = 0; e < N * K; e++) {
            s.shares[e] = way ? s.shares[e] / 4 : s.shares[e] > 0.5;
        }
        check_words(&s, WORDS("\"memberships\":["), WORDS("id=\"members\""));
    }
}

static void models_have_weights_and_a_path(void **unused) {
    (void)unused;
    static const double lambda[] = {1, 0.1, 1, 0.1}, objective[] = {3, 2, 4, 1};
    static const int64_t k[] = {2, 2, 3, 3}, nonzeros[] = {1, 2, 3, 4};
    const double weights[2 * P] = {0.5, -2, 0, 1, 0, 0, 0, 3};
    subject s;
    set_up(&s, "ksupport");
    memcpy(s.weights, weights, sizeof weights);
    s.of_weights = (clv_matrix){.rows = 2, .cols = P, .values = s.weights};
    s.fields[1] = (clv_field){.name = "weights", .kind = CLV_FIELD_SPARSE, .count = 1, .matrix = &s.of_weights};
    s.fields[2] = (clv_field){.name = "path.k", .kind = CLV_FIELD_INTEGER, .is_list = 1, .count = 4, .integers = k};
    s.fields[3] = (clv_field){.name = "path.lambda", .kind = CLV_FIELD_REAL, .is_list = 1, .count = 4, .reals = lambda};
    s.fields[4] =
        (clv_field){.name = "path.objective", .kind = CLV_FIELD_REAL, .is_list = 1, .count = 4, .reals = objective};
    s.fields[5] =
        (clv_field){.name = "path.nonzeros", .kind = CLV_FIELD_INTEGER, .is_list = 1, .count = 4, .integers = nonzeros};
    s.result.fields_count = 6;
    s.result.labels = NULL;
    s.result.sizes = NULL;
    s.similarities = false;
    check_words(
        &s,
        WORDS(
            "9 samples, k = 2 of the norm", "The path", "k&nbsp;=&nbsp;3", "model 1: 3 of 4 weights are not 0",
            "model 2: 1 of 4 weights are not 0",
            "<span>feature 2</span><span class=\"track\"><i class=\"below\" style=\"width:50%\"></i></span><span>-2<"),
        WORDS("clusters", "id=\"plane\""));
    s.of_weights = (clv_matrix){.rows = N, .cols = N, .values = s.similar};
    s.result.method = "pursuit";
    check_words(&s,
                WORDS("9 of the 9 objects are written as a combination of others, of 8 on average",
                      "<span>row 1</span>", "id=\"plane\""),
                WORDS("clusters"));
}

static void set_picture(subject *s) {
    set_up(s, "dominant");
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        s->samples[i] = (uint8_t)(i % WIDTH);
        s->segments[i] = i == 0 ? -1 : i % WIDTH >= WIDTH / 4;
    }
    s->image = (clv_image){WIDTH, HEIGHT, 1, s->samples};
    s->picture = (clv_report_picture){&s->image, s->segments, 2};
    s->report.picture = &s->picture;
}

static void pictures_are_shown(void **unused) {
    (void)unused;
    subject s;
    set_picture(&s);
    check_words(&s,
                WORDS("<title>cleave segment: 40 x 10 pixels in 2 segments</title>", "cleave segment, method dominant",
                      "segment 1", "300 (75 %)", "99 (24.8 %)", "1 (0.25 %)",
                      "id=\"numbers\" alt=\"\" src=\"data:image/png;base64,"),
                WORDS("id=\"plane\"", "id=\"heat\"", "cleave verify"));
}

enum { MANY = 20000, TURNS = 5 };

/* How often a label is in the list of the objects that are shown. */
static int64_t count_shown(const char *page, int label) {
    int64_t count = 0;
    const char *at = strstr(page, "\"labels\":[");
    assert_non_null(at);
    for (at = strchr(at, '['); *at != ']'; at += strcspn(at + 1, ",]") + 1) {
        count += strtol(at + 1, NULL, 10) == label;
    }
    return count;
}

/* Clusters that come in turns, one of a single object, and left out ones: each is shown by its size, and once at least,
 * also where few objects have room. */
static void every_cluster_is_shown(void **unused) {
    (void)unused;
    static double points[MANY];
    static int32_t labels[MANY];
    int64_t sizes[TURNS + 1] = {0};
    char *html;
    size_t size;
    clv_context *ctx = new_context();
    for (int i = 0; i < MANY; i++) {
        labels[i] = i == 7 ? TURNS : i % TURNS == TURNS - 1 ? -1 : i % TURNS;
        points[i] = i % TURNS;
        sizes[labels[i] < 0 ? TURNS - 1 : labels[i]] += labels[i] >= 0;
    }
    const clv_matrix x = {.rows = MANY, .cols = 1, .values = points};
    const clv_result result = {.method = "kpalm",
                               .n = MANY,
                               .k = TURNS + 1,
                               .objective = {"value", 1, 0},
                               .certificate = {"gap", 0, 1, 1},
                               .labels = labels,
                               .sizes = sizes,
                               .left_out = MANY / TURNS};
    const clv_report report = {.result = &result, .points = &x};
    assert_int_equal(clv_report_html(ctx, &report, &html, &size), CLV_OK);
    assert_non_null(strstr(html, "4000 of the 20000 objects are shown, drawn from each cluster at random"));
    assert_int_equal(count_shown(html, TURNS), 1);
    for (int c = -1; c < TURNS - 1; c++) {
        assert_in_range(count_shown(html, c), 798, 802);
    }
    clv_release(ctx, html);
    end_context(ctx);
}

static clv_status put_and_forget(clv_context *ctx, void *user) {
    char *page;
    size_t size;
    clv_status status = put(ctx, user, &page, &size);
    clv_release(ctx, page);
    return status;
}

static void survives_every_failed_allocation(void **unused) {
    (void)unused;
    subject s;
    set_up(&s, "ncut");
    assert_true(check_every_failure(put_and_forget, &s) > 20);
    s.report.points = NULL; /* spectral coordinates */
    assert_true(check_every_failure(put_and_forget, &s) > 20);
    set_picture(&s);
    assert_true(check_every_failure(put_and_forget, &s) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clustering_has_all_parts),
        cmocka_unit_test(what_is_missing_is_left_out),
        cmocka_unit_test(only_shares_are_stacked),
        cmocka_unit_test(models_have_weights_and_a_path),
        cmocka_unit_test(pictures_are_shown),
        cmocka_unit_test(every_cluster_is_shown),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
