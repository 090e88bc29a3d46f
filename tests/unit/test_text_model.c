/* Models of documents: terms of clusters by brute force, points of the same documents again, files and what is refused.
 */
#include "io_support.h"

#include "io/text_model.h"

#include <math.h>

enum { DOCUMENTS = 60, TERMS = 25, CLUSTERS = 4, TOP = 6, DIMS = 5 };

/* Random documents over TERMS terms; some clusters prefer some terms. */
static clv_data *draw(uint64_t seed, int32_t labels[DOCUMENTS]) {
    clv_rng rng = clv_rng_stream(seed, 0);
    clv_entry entries[DOCUMENTS * TERMS];
    int64_t count = 0;
    clv_data *data;
    for (int32_t d = 0; d < DOCUMENTS; d++) {
        labels[d] = (int32_t)clv_rng_below(&rng, CLUSTERS + 1) - 1;
        for (int32_t t = 0; t < TERMS; t++) {
            double share = t % CLUSTERS == labels[d] ? 0.5 : 0.02 + 0.01 * t;
            if (t == 0 || clv_rng_uniform(&rng) < share) { /* all have the first one */
                entries[count++] = (clv_entry){d, t, 1 + clv_rng_uniform(&rng)};
            }
        }
    }
    assert_ok(clv_csr_from_entries(ctx, "documents", DOCUMENTS, TERMS, entries, count, &data));
    return data;
}

/* The score by its definition; below 0: not listed. */
static double define(const clv_matrix *x, const int32_t *labels, int32_t cluster, int64_t term) {
    double a = 0, b = 0, in = 0, out = 0;
    for (int64_t d = 0; d < x->rows; d++) {
        bool has = clv_csr_find(x, d, term) >= 0;
        in += labels[d] == cluster;
        out += labels[d] != cluster;
        a += labels[d] == cluster && has;
        b += labels[d] != cluster && has;
    }
    double p = (a + b + 0.5) / (in + out + 1), c = in - a + 1 - p, e = out - b + 1 - p;
    double odds = log((a + p) / c) - log((b + p) / e);
    return a * out > b * in ? odds / sqrt(1 / (a + p) + 1 / c + 1 / (b + p) + 1 / e) : -1;
}

static void test_cluster_terms(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        int32_t labels[DOCUMENTS], terms[CLUSTERS * TOP];
        double scores[CLUSTERS * TOP];
        clv_data *data = draw(seed, labels);
        const clv_matrix *x = clv_data_matrix(data);
        assert_ok(clv_cluster_terms(ctx, x, labels, CLUSTERS, TOP, terms, scores));
        for (int32_t c = 0; c < CLUSTERS; c++) {
            bool taken[TERMS] = {false};
            for (int r = 0; r < TOP; r++) { /* the best that is left, the first of equals */
                int best = -1;
                for (int t = 0; t < TERMS; t++) {
                    double score = taken[t] ? -1 : define(x, labels, c, t);
                    best = score > 0 && (best < 0 || score > define(x, labels, c, best)) ? t : best;
                }
                assert_int_equal(terms[c * TOP + r], best);
                assert_true(best < 0 || fabs(scores[c * TOP + r] - define(x, labels, c, best)) < 1e-12);
                if (best >= 0) {
                    taken[best] = true;
                }
            }
        }
        clv_data_free(data);
    }
}

/* One cluster of all, clusters without documents, and none at all: nothing tells them from others. */
static void test_no_terms(void **state) {
    (void)state;
    int32_t labels[DOCUMENTS], terms[2 * TOP];
    double scores[2 * TOP];
    clv_data *data = draw(1, labels);
    const clv_matrix *x = clv_data_matrix(data);
    for (int32_t label = -1; label < 2; label++) {
        for (int d = 0; d < DOCUMENTS; d++) {
            labels[d] = label;
        }
        assert_ok(clv_cluster_terms(ctx, x, labels, 2, TOP, terms, scores));
        for (int i = 0; i < 2 * TOP; i++) {
            assert_true(terms[i] == -1 && scores[i] == 0);
        }
    }
    labels[7] = 2;
    assert_refused(clv_cluster_terms(ctx, x, labels, 2, TOP, terms, scores), CLV_EUSAGE, "label 2 of document 8", NULL);
    clv_data_free(data);
}

/* --- points of the same rows again --- */

static void test_same_points(void **state) {
    (void)state;
    for (int center = 0; center < 2; center++) {
        for (int transposed = 0; transposed < 2; transposed++) { /* more rows than columns, and fewer */
            int32_t labels[DOCUMENTS];
            double offset[DIMS] = {0};
            clv_data *data = draw(5, labels), *turned, *points, *axes, *again;
            clv_reduce_options o;
            clv_reduce_defaults(&o);
            o.dims = DIMS;
            o.center = center;
            assert_ok(clv_csr_transpose(ctx, "turned", clv_data_matrix(data), &turned));
            const clv_matrix *x = clv_data_matrix(transposed ? turned : data);
            assert_ok(clv_reduce(ctx, x, &o, &points, &axes, NULL));
            if (center) {
                assert_ok(clv_reduce_offset(ctx, x, clv_data_matrix(axes), offset));
            }
            for (int64_t first = 0; first < x->rows; first += 7) { /* whichever come with them */
                clv_matrix some = clv_matrix_part(x, first, x->rows - first < 7 ? x->rows - first : 7);
                assert_ok(clv_reduce_like(ctx, &some, clv_data_matrix(axes), offset, 1, &again));
                assert_memory_equal(clv_data_matrix(again)->values,
                                    (const double *)clv_data_matrix(points)->values + first * DIMS,
                                    (size_t)(some.rows * DIMS) * sizeof(double));
                clv_data_free(again);
            }
            assert_refused(clv_reduce_like(ctx, clv_data_matrix(transposed ? data : turned), clv_data_matrix(axes),
                                           offset, 1, &again),
                           CLV_EUSAGE, "columns", NULL);
            clv_data_free(data);
            clv_data_free(turned);
            clv_data_free(points);
            clv_data_free(axes);
        }
    }
}

/* --- files --- */

static const char *const term_names[] = {"apple", "apple pie", "caf\u00e9"};
static const char *const ids[] = {"a/1.txt", "", "17", "with, comma"};
static const int64_t start[] = {0, 2, 2, 3, 5};
static const int32_t columns[] = {0, 2, 1, 0, 1};
static const double axes[] = {1, 2.5, -3, 1e-300, 0, 7}, offset[] = {0.25, -1};

static clv_text_model small_model(void) {
    return (clv_text_model){.terms = term_names,
                            .ids = ids,
                            .occurrences = {.rows = 4, .cols = 3, .start = start, .index = columns},
                            .axes = {.rows = 2, .cols = 3, .values = axes},
                            .offset = offset,
                            .ngrams = "1-2",
                            .stop_list = "the of",
                            .points = UINT64_C(0xfedcba9876543210),
                            .tfidf = 7};
}

static void check_small(const clv_text_model *m, bool with_ids) {
    assert_true(m->occurrences.rows == 4 && m->occurrences.cols == 3 && m->axes.rows == 2 && m->axes.cols == 3);
    assert_memory_equal(m->occurrences.start, start, sizeof start);
    assert_memory_equal(m->occurrences.index, columns, sizeof columns);
    assert_memory_equal(m->axes.values, axes, sizeof axes);
    assert_memory_equal(m->offset, offset, sizeof offset);
    assert_string_equal(m->stop_list, "the of");
    assert_true(m->points == UINT64_C(0xfedcba9876543210) && m->tfidf == 7);
    static const double documents[] = {2, 2, 1};
    for (int t = 0; t < 3; t++) {
        assert_string_equal(m->terms[t], term_names[t]);
        assert_true(m->idf[t] == log(5 / (1 + documents[t])) + 1);
    }
    for (int d = 0; with_ids && d < 4; d++) {
        assert_string_equal(m->ids[d], ids[d]);
    }
    assert_true(with_ids == (m->ids != NULL));
}

static size_t read_bytes(const char *path, uint8_t *bytes, size_t room) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

static void test_file(void **state) {
    (void)state;
    const char *path = in_folder("m.clv");
    clv_text_model m = small_model(), *read;
    for (int with_ids = 1; with_ids >= 0; with_ids--) {
        m.ids = with_ids ? ids : NULL;
        m.ngrams = with_ids ? "1-2" : "3";
        assert_ok(clv_text_model_write(ctx, path, &m));
        assert_ok(clv_text_model_read(ctx, path, &read));
        check_small(read, with_ids);
        assert_string_equal(read->ngrams, m.ngrams);
        clv_text_model_free(read);
    }
    remove(path);
    assert_refused(clv_text_model_read(ctx, path, &read), CLV_ENOINPUT, "m.clv", NULL);
}

/* Cut anywhere, or with any bit turned: refused with the name of the file. */
static void test_damage(void **state) {
    (void)state;
    const char *path = in_folder("m.clv");
    clv_text_model m = small_model(), *read;
    uint8_t bytes[1024];
    assert_ok(clv_text_model_write(ctx, path, &m));
    size_t size = read_bytes(path, bytes, sizeof bytes);
    for (size_t cut = 0; cut < size; cut++) {
        put_file(path, bytes, cut);
        assert_refused(clv_text_model_read(ctx, path, &read), CLV_EDATA, "m.clv", "cleave text --model", NULL);
    }
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= (uint8_t)(1u << at % 8);
        put_file(path, bytes, size);
        assert_refused(clv_text_model_read(ctx, path, &read), CLV_EDATA, "m.clv", "cleave text --model", NULL);
        if (at < size - 4) { /* without the check sum: no reading out of bounds */
            clv_status status = clv_text_model_parse(ctx, (clv_bytes){bytes, size - 4, "m.clv"}, &read);
            assert_true(status == CLV_OK || status == CLV_EDATA);
            clv_text_model_free(read);
        }
        bytes[at] ^= (uint8_t)(1u << at % 8);
    }
    bytes[7] = '2';
    put_file(path, bytes, size);
    assert_refused(clv_text_model_read(ctx, path, &read), CLV_EDATA, "another version", NULL);
    put_file(path, "\x93NUMPY", 6);
    assert_refused(clv_text_model_read(ctx, path, &read), CLV_EDATA, "no model of documents", NULL);
    remove(path);
}

/* What every number of the file says is checked where it is used. */
static void test_content(void **state) {
    (void)state;
    const char *path = in_folder("m.clv");
    clv_text_model *read;
    static const int64_t falls[] = {0, 2, 1, 3, 5}, late[] = {1, 2, 2, 3, 5};
    static const int32_t outside[] = {0, 3, 1, 0, 1}, twice[] = {2, 2, 1, 0, 1}, below[] = {0, -1, 1, 0, 1};
    double infinite[6] = {1, 2, (double)INFINITY, 4, 5, 6};
    const int64_t *const starts[] = {falls, late};
    const int32_t *const indices[] = {outside, twice, below};
    for (int i = 0; i < 6; i++) {
        clv_text_model m = small_model();
        m.occurrences.start = i < 2 ? starts[i] : start;
        m.occurrences.index = i >= 2 && i < 5 ? indices[i - 2] : columns;
        m.axes.values = i == 5 ? infinite : axes;
        assert_ok(clv_text_model_write(ctx, path, &m));
        assert_refused(clv_text_model_read(ctx, path, &read), CLV_EDATA, "m.clv is damaged",
                       i < 5 ? "terms that are not there" : "axes", NULL);
    }
    remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cluster_terms, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_no_terms, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_same_points, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_file, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_damage, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_content, open_context, close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
