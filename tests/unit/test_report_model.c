/* Memberships, centers, weights and clusters in reports: what is written reads back as the same numbers, dense or
 * sparse alike; damaged ones are refused with the place. */
#include "failing.h"

#include "linalg/linalg.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>

enum { N = 4, K = 3, P = 2, Q = 5 };

static const double membership[N * K] = {1.0 / 3, 0, 2.0 / 3, 0, 1, 0, 0, 0, 0, 5e-324, 0.1, 0.7};
static const double centers[K * P] = {0.1, -1e300, 0, 1.0 / 7, -2, 3};
static const double weights[Q] = {0, -0.5, 0, 1e-17, 0};

static clv_data *make(clv_context *ctx, const double *values, int64_t rows, int64_t cols, int storage) {
    clv_data *data = NULL;
    int64_t count = 0;
    if (storage != 2) {
        assert_int_equal(clv_data_new_dense(ctx, "made", rows, cols, storage ? CLV_F32 : CLV_F64, &data), CLV_OK);
        for (int64_t i = 0; i < rows * cols; i++) {
            if (storage) {
                ((float *)data->values)[i] = (float)values[i];
            } else {
                ((double *)data->values)[i] = values[i];
            }
        }
        return data;
    }
    assert_int_equal(clv_data_new_csr(ctx, "made", rows, cols, rows * cols, &data), CLV_OK);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            if (values[i * cols + j] != 0 || j == 1) { /* a stored zero now and then */
                data->index[count] = (int32_t)j;
                ((double *)data->values)[count++] = values[i * cols + j];
            }
        }
        data->start[i + 1] = count;
    }
    return data;
}

typedef struct fixture {
    clv_result result;
    int32_t labels[N];
    int64_t sizes[K];
    clv_restart restart;
    clv_cluster clusters[K];
    clv_report report;
} fixture;

static void set_up(clv_context *ctx, fixture *f, int storage) {
    *f = (fixture){.labels = {2, 1, -1, 2}, .sizes = {0, 1, 2}, .restart = {0.5, 3, 0, CLV_STALLED}};
    for (int c = 0; c < K; c++) {
        f->clusters[c] = (clv_cluster){.size = c + 1,
                                       .cohesiveness = 1.0 / (3 + c),
                                       .similarity = 0.25,
                                       .certificate = c == 1 ? (double)NAN : 1e-9 * c,
                                       .iterations = 10 + c,
                                       .drops = c,
                                       .swaps = 2 * c,
                                       .prototype = c,
                                       .pass = c / 2,
                                       .stop = (clv_stop)c};
    }
    f->result = (clv_result){.method = "peel",
                             .solver = "fw",
                             .n = N,
                             .k = K,
                             .objective = {"cohesiveness", 0.5, 1},
                             .certificate = {"gap", 1e-9, 1e-6, 1},
                             .bound = {NULL, NAN},
                             .restarts_count = 1,
                             .restarts = &f->restart,
                             .labels = f->labels,
                             .sizes = f->sizes,
                             .left_out = 1,
                             .membership = make(ctx, membership, N, K, storage),
                             .centers = make(ctx, centers, K, P, 0),
                             .weights = make(ctx, weights, 1, Q, storage),
                             .clusters_count = K,
                             .clusters = f->clusters,
                             .passes = 2};
    f->report = (clv_report){.result = &f->result, .silhouette = NAN};
}

static void tear_down(fixture *f) {
    clv_data_free(f->result.membership);
    clv_data_free(f->result.centers);
    clv_data_free(f->result.weights);
}

static void check_values(const clv_data *data, const double *values, int64_t rows, int64_t cols, bool single) {
    double row[Q];
    assert_non_null(data);
    assert_int_equal(data->matrix.rows, rows);
    assert_int_equal(data->matrix.cols, cols);
    for (int64_t i = 0; i < rows; i++) {
        clv_matrix_row(&data->matrix, i, row);
        for (int64_t j = 0; j < cols; j++) {
            double wanted = values[i * cols + j];
            assert_true(row[j] == (single ? (double)(float)wanted : wanted));
        }
    }
}

static void check_clusters(const clv_claim *claim, const fixture *f) {
    assert_int_equal(claim->clusters_count, K);
    for (int c = 0; c < K; c++) {
        const clv_cluster *read = &claim->clusters[c], *made = &f->clusters[c];
        assert_int_equal(read->size, made->size);
        assert_true(read->cohesiveness == made->cohesiveness && read->similarity == made->similarity);
        assert_true(c == 1 ? isnan(read->certificate) : read->certificate == made->certificate);
        assert_int_equal(read->iterations, made->iterations);
        assert_int_equal(read->drops, made->drops);
        assert_int_equal(read->swaps, made->swaps);
        assert_int_equal(read->prototype, made->prototype);
        assert_int_equal(read->pass, made->pass);
        assert_int_equal(read->stop, made->stop);
    }
}

static void models_read_back(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    for (int storage = 0; storage < 3; storage++) {
        fixture f;
        char *text;
        size_t size;
        clv_claim *claim;
        set_up(ctx, &f, storage);
        assert_int_equal(clv_report_json(ctx, &f.report, &text, &size), CLV_OK);
        if (clv_claim_parse(ctx, "r.json", text, size, &claim) < 0) {
            fail_msg("%s in\n%s", clv_message(ctx), text);
        }
        check_values(claim->membership, membership, N, K, storage == 1);
        check_values(claim->centers, centers, K, P, false);
        check_values(claim->weights, weights, 1, Q, storage == 1);
        assert_int_equal(claim->weights->matrix.start[1], 2); /* zeros are left out */
        check_clusters(claim, &f);
        assert_int_equal(claim->passes, 2);
        assert_null(strstr(text, "\"affinity\"")); /* there is none, and no seconds of it */
        clv_claim_free(claim);
        clv_release(ctx, text);
        tear_down(&f);
    }
    end_context(ctx);
}

/* What a method does not have is not there, and a method may have no labels. */
static void nothing_is_said_of_nothing(void **unused) {
    (void)unused;
    fixture f;
    char *text;
    size_t size;
    clv_claim *claim;
    clv_context *ctx = new_context();
    set_up(ctx, &f, 0);
    tear_down(&f);
    f.result.membership = f.result.centers = f.result.weights = NULL;
    f.result.clusters = NULL;
    f.result.passes = 0;
    f.result.labels = NULL;
    assert_int_equal(clv_report_json(ctx, &f.report, &text, &size), CLV_OK);
    const char *const absent[] = {"membership", "centers", "weights", "clusters", "passes", "labels"};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        assert_null(strstr(text, absent[i]));
    }
    assert_int_equal(clv_claim_parse(ctx, "r.json", text, size, &claim), CLV_OK);
    assert_true(!claim->membership && !claim->centers && !claim->weights && !claim->clusters && claim->passes == 0);
    assert_true(!claim->labels && claim->labels_count == 0 && claim->sizes_count == 0);
    clv_claim_free(claim);
    clv_release(ctx, text);
    end_context(ctx);
}

static void people_see_the_clusters(void **unused) {
    (void)unused;
    enum { MANY = 25 };
    fixture f;
    char *text;
    size_t size;
    clv_cluster many[MANY];
    clv_context *ctx = new_context();
    set_up(ctx, &f, 0);
    assert_int_equal(clv_report_table(ctx, &f.report, &text, &size), CLV_OK);
    const char *const expected[] = {"passes           2\n", "0.3333333", "1e-09", "iteration limit\n", "cohesiveness"};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        if (!strstr(text, expected[i])) {
            fail_msg("no '%s' in\n%s", expected[i], text);
        }
    }
    assert_null(strstr(text, ", affinity"));
    clv_release(ctx, text);
    assert_int_equal(clv_report_html(ctx, &f.report, &text, &size), CLV_OK);
    assert_non_null(strstr(text, "<tr><td>1</td><td>2</td><td>0.25</td><td>-</td><td>11</td><td>stalled</td></tr>"));
    assert_non_null(strstr(text, "<dt>passes</dt><dd>2</dd>"));
    clv_release(ctx, text);
    for (int c = 0; c < MANY; c++) {
        many[c] = f.clusters[c % K];
    }
    f.result.clusters = many;
    f.result.clusters_count = MANY;
    assert_int_equal(clv_report_table(ctx, &f.report, &text, &size), CLV_OK);
    assert_non_null(strstr(text, " and 5 more\n"));
    clv_release(ctx, text);
    tear_down(&f);
    end_context(ctx);
}

/* --- damage --- */

#define BEFORE                                                                                                         \
    "{\"method\": \"peel\", \"solver\": \"fw\", \"n\": 2, \"k\": 2, \"seed\": 1,\n"                                    \
    " \"certificate\": {\"name\": \"gap\", \"value\": 0, \"tolerance\": 1, \"holds\": true},\n"                        \
    " \"objective\": {\"name\": \"x\", \"value\": 1, \"sense\": \"max\"}, \"stop\": \"stalled\", \"iterations\": 9,\n" \
    " \"restarts\": [], \"options\": {}"

static void check_refused(const char *field, const char *word) {
    char text[2048];
    clv_claim *claim;
    clv_context *ctx = new_context();
    snprintf(text, sizeof text, BEFORE ",\n %s}", field);
    clv_status status = clv_claim_parse(ctx, "r.json", text, strlen(text), &claim);
    if (!word) {
        assert_int_equal(status, CLV_OK);
        clv_claim_free(claim);
    } else {
        assert_int_equal(status, CLV_EDATA);
        assert_null(claim);
        if (!strstr(clv_message(ctx), word) || strncmp(clv_message(ctx), "r.json: ", 8) != 0) {
            fail_msg("'%s' does not say '%s'", clv_message(ctx), word);
        }
    }
    end_context(ctx);
}

#define MEMBERSHIP(start, cluster, weight)                                                                             \
    "\"membership\": {\"start\": " start ", \"cluster\": " cluster ", \"weight\": " weight "}"

static void damaged_memberships_are_refused(void **unused) {
    (void)unused;
    check_refused(MEMBERSHIP("[0, 1, 3]", "[1, 0, 1]", "[1, 0.5, 0.5]"), NULL);
    check_refused(MEMBERSHIP("[0]", "[]", "[]"), NULL);
    check_refused("\"membership\": 7", "membership.start is missing or not an array");
    check_refused(MEMBERSHIP("[]", "[]", "[]"), "membership.start is missing or not an array that begins with 0");
    check_refused(MEMBERSHIP("[1, 1, 3]", "[1, 0, 1]", "[1, 1, 1]"), "number 1 of membership.start is not");
    check_refused(MEMBERSHIP("[0, 2, 1]", "[0]", "[1]"), "number 3 of membership.start is not");
    check_refused(MEMBERSHIP("[0, 1.5, 3]", "[1, 0, 1]", "[1, 1, 1]"), "number 2 of membership.start is not");
    check_refused(MEMBERSHIP("[0, 1, 4]", "[1, 0, 1]", "[1, 1, 1]"), "membership.start ends with 4");
    check_refused(MEMBERSHIP("[0, 1, 2]", "[1, 0, 1]", "[1, 1, 1]"), "membership.cluster has 3 numbers");
    check_refused(MEMBERSHIP("[0, 1, 3]", "[1, 0, 1]", "[1, 1]"), "not of the same length");
    check_refused(MEMBERSHIP("[0, 1, 3]", "[1, 0, 2]", "[1, 1, 1]"), "number 3 of membership.cluster is not");
    check_refused(MEMBERSHIP("[0, 1, 3]", "[-1, 0, 1]", "[1, 1, 1]"), "number 1 of membership.cluster is not");
    check_refused(MEMBERSHIP("[0, 1, 3]", "[1, 1, 0]", "[1, 1, 1]"), "number 3 of membership.cluster is not");
    check_refused(MEMBERSHIP("[0, 1, 3]", "[1, 1, 1]", "[1, 1, 1]"), "number 3 of membership.cluster is not");
    check_refused(MEMBERSHIP("[0, 1, 3]", "[1, 0, 1]", "[1, null, 1]"),
                  "number 2 of membership.weight is not a number");
    check_refused(MEMBERSHIP("[0, 1, 3]", "[1, 0, 1]", "7"), "membership.weight is missing or not an array");
}

static void damaged_matrices_are_refused(void **unused) {
    (void)unused;
    check_refused("\"centers\": [[1, 2], [3, 4]]", NULL);
    check_refused("\"centers\": []", "field centers is missing or not an array of arrays");
    check_refused("\"centers\": [[]]", "center 0 is not");
    check_refused("\"centers\": [7]", "center 0 is not");
    check_refused("\"centers\": [[1, 2], [3]]", "r.json: center 1 is not an array");
    check_refused("\"centers\": [[1, 2], [3, 4, 5]]", "r.json: center 1 is not an array");
    check_refused("\"centers\": [[1, 2], [3, \"4\"]]", "coordinate 2 of center 1 is not a number");
    check_refused("\"weights\": {\"rows\": 1, \"cols\": 3, \"start\": [0, 1], \"index\": [2], \"value\": [-1]}", NULL);
    check_refused("\"weights\": {\"rows\": 2, \"cols\": 3, \"start\": [0, 1], \"index\": [2], \"value\": [-1]}",
                  "weights.rows is 2");
    check_refused("\"weights\": {\"rows\": 1, \"cols\": 2, \"start\": [0, 1], \"index\": [2], \"value\": [-1]}",
                  "number 1 of weights.index is not");
    check_refused("\"weights\": {\"rows\": 1, \"cols\": 3000000000, \"start\": [0, 0], \"index\": [], \"value\": []}",
                  "3000000000 columns");
    check_refused("\"weights\": {\"cols\": 3, \"start\": [0, 0], \"index\": [], \"value\": []}", "field rows");
    check_refused("\"weights\": []", "field rows");
}

#define CLUSTER(size, certificate, stop)                                                                               \
    "\"clusters\": [{\"size\": " size ", \"cohesiveness\": 1, \"similarity\": 1, \"certificate\": " certificate        \
    ", \"iterations\": 1, \"drops\": 0, \"swaps\": 0, \"prototype\": 0, \"pass\": 0, \"stop\": " stop "}]"

static void damaged_clusters_are_refused(void **unused) {
    (void)unused;
    check_refused(CLUSTER("1", "null", "\"converged\""), NULL);
    check_refused(CLUSTER("-1", "0", "\"converged\""), "field size is missing or not a whole number of 0 or more");
    check_refused(CLUSTER("1", "\"0\"", "\"converged\""), "field certificate");
    check_refused(CLUSTER("1", "0", "\"bored\""), "stop of cluster 0");
    check_refused(CLUSTER("1", "0", "1"), "stop of cluster 0");
    check_refused("\"clusters\": {}", "field clusters is missing or not an array");
    check_refused("\"clusters\": [1]", "cluster 0 is not an object");
    check_refused("\"clusters\": [{\"size\": 1}]", "field iterations");
    check_refused("\"passes\": -1", "field passes");
}

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
            status = clv_claim_parse(ctx, "r.json", text, size, &claim);
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
    clv_context *ctx = new_context();
    set_up(ctx, &f, 2);
    assert_true(check_every_failure(write_and_read, &f.report) > 20);
    tear_down(&f);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_read_back),
        cmocka_unit_test(nothing_is_said_of_nothing),
        cmocka_unit_test(people_see_the_clusters),
        cmocka_unit_test(damaged_memberships_are_refused),
        cmocka_unit_test(damaged_matrices_are_refused),
        cmocka_unit_test(damaged_clusters_are_refused),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
