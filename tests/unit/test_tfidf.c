/* tf-idf against its definition, on random documents; what is refused; the same on any number of threads. */
#include "io_support.h"

#include "features/text/text.h"

#include <math.h>

enum { DOCUMENTS = 40, WORDS = 26, LONGEST = 30 };

/* Document d has word w counts[d][w] times; word w is the w-th small letter, twice. */
typedef struct sample {
    int counts[DOCUMENTS][WORDS];
    char texts[DOCUMENTS][4 * LONGEST + 1];
} sample;

static void draw(sample *s, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    memset(s, 0, sizeof *s);
    for (int d = 0; d < DOCUMENTS; d++) {
        int length = (int)clv_rng_below(&rng, LONGEST);
        for (int i = 0; i < length; i++) {
            double u = clv_rng_uniform(&rng);
            int w = (int)(WORDS * u * u); /* some words are common */
            char *at = s->texts[d] + strlen(s->texts[d]);
            at[0] = (char)('A' + w); /* in capitals, now and then */
            at[1] = (char)('a' + w);
            at[2] = clv_rng_below(&rng, 2) ? ' ' : ',';
            at[3] = '\0';
            s->counts[d][w]++;
        }
    }
}

static clv_status add_text(clv_tfidf *t, const char *text, size_t size, const char *place) {
    return clv_tfidf_add(t, &(clv_document){.text = text, .size = size, .place = place});
}

static clv_tfidf *make(const sample *s, const clv_tfidf_options *options) {
    clv_tfidf *t;
    assert_ok(clv_tfidf_new(ctx, options, &t));
    for (int d = 0; d < DOCUMENTS; d++) {
        assert_ok(add_text(t, s->texts[d], strlen(s->texts[d]), "text"));
    }
    return t;
}

/* Whether a word is kept, by the definition; stop words have no counts. */
static bool is_kept(const sample *s, const clv_tfidf_options *o, int word) {
    double documents[WORDS] = {0};
    int64_t times[WORDS] = {0};
    bool inside[WORDS];
    for (int w = 0; w < WORDS; w++) {
        for (int d = 0; d < DOCUMENTS; d++) {
            documents[w] += s->counts[d][w] > 0;
            times[w] += s->counts[d][w];
        }
        double least = o->min_df < 1 ? o->min_df * DOCUMENTS : o->min_df;
        double most = o->max_df <= 1 ? o->max_df * DOCUMENTS : o->max_df;
        inside[w] = documents[w] > 0 && documents[w] >= least && documents[w] <= most;
    }
    int64_t before = 0; /* words that go before this one */
    for (int w = 0; w < WORDS; w++) {
        before += inside[w] && (times[w] > times[word] || (times[w] == times[word] && w < word));
    }
    return inside[word] && (o->max_features == 0 || before < o->max_features);
}

static void check_against_definition(const sample *s, const clv_tfidf_options *o) {
    clv_tfidf *t = make(s, o);
    clv_data *data;
    int64_t columns = 0, count;
    assert_ok(clv_tfidf_finish(t, &data));
    const char *const *names = clv_tfidf_terms(t, &count);
    double expected[DOCUMENTS][WORDS];
    for (int w = 0; w < WORDS; w++) {
        if (!is_kept(s, o, w)) {
            continue;
        }
        char name[3] = {(char)('a' + w), (char)('a' + w), '\0'};
        assert_true(columns < count);
        assert_string_equal(names[columns], name);
        double documents = 0;
        for (int d = 0; d < DOCUMENTS; d++) {
            documents += s->counts[d][w] > 0;
        }
        for (int d = 0; d < DOCUMENTS; d++) {
            expected[d][columns] = s->counts[d][w] * (log((1 + DOCUMENTS) / (1 + documents)) + 1);
        }
        columns++;
    }
    assert_int_equal(columns, count);
    assert_true(clv_data_matrix(data)->rows == DOCUMENTS && clv_data_matrix(data)->cols == columns);
    for (int d = 0; d < DOCUMENTS; d++) {
        double row[WORDS], norm = 0;
        clv_matrix_row(clv_data_matrix(data), d, row);
        for (int64_t c = 0; c < columns; c++) {
            norm += expected[d][c] * expected[d][c];
        }
        for (int64_t c = 0; c < columns; c++) {
            assert_true(fabs(row[c] - (norm > 0 ? expected[d][c] / sqrt(norm) : 0)) < 1e-15);
        }
    }
    clv_data_free(data);
    clv_tfidf_free(t);
}

static void test_definition(void **state) {
    (void)state;
    sample s;
    clv_tfidf_options o;
    for (uint64_t seed = 0; seed < 5; seed++) {
        draw(&s, seed);
        clv_tfidf_defaults(&o);
        check_against_definition(&s, &o);
        o.min_df = 5;
        check_against_definition(&s, &o);
        o.min_df = 0.1;
        o.max_df = 0.4;
        check_against_definition(&s, &o);
        o.max_df = 12;
        check_against_definition(&s, &o);
        for (o.max_features = 1; o.max_features < 12; o.max_features += 3) {
            check_against_definition(&s, &o);
        }
    }
}

static void test_stop_words(void **state) {
    (void)state;
    sample s;
    clv_tfidf_options o;
    draw(&s, 9);
    clv_tfidf_defaults(&o);
    o.stop_words = "list";
    o.stop_list = "aa  CC\nzz unknown";
    for (int d = 0; d < DOCUMENTS; d++) {
        s.counts[d][0] = s.counts[d][2] = s.counts[d][25] = 0;
    }
    check_against_definition(&s, &o);
    clv_tfidf *t;
    clv_data *data;
    int64_t count;
    o.stop_words = "english";
    assert_ok(clv_tfidf_new(ctx, &o, &t));
    const char *text = "the whales of THE sea and their songs";
    assert_ok(add_text(t, text, strlen(text), "text"));
    assert_ok(clv_tfidf_finish(t, &data));
    const char *const *names = clv_tfidf_terms(t, &count);
    assert_int_equal(count, 3);
    assert_string_equal(names[0], "sea");
    assert_string_equal(names[1], "songs");
    assert_string_equal(names[2], "whales");
    clv_data_free(data);
    clv_tfidf_free(t);
    o.stop_words = "klingon";
    assert_refused(clv_tfidf_new(ctx, &o, &t), CLV_EUSAGE, "klingon", "english", "dutch", NULL);
}

/* Every list has the words that a text would have: of two letters or more, in lower case, none twice. */
static void test_languages(void **state) {
    static const char *const names[] = {"english", "german", "french", "spanish", "italian", "portuguese", "dutch"};
    static const char *const some[] = {"the", "nicht", "été", "también", "perché", "não", "niet"};
    (void)state;
    for (size_t l = 0; l < CLV_COUNT(names); l++) {
        const char *list = clv_stop_words(names[l]);
        clv_vocabulary seen = {.ctx = ctx};
        uint8_t room[16384];
        clv_words words = {(const uint8_t *)list, (const uint8_t *)list + strlen(list), false, room};
        clv_word word;
        int32_t count = 0;
        assert_int_equal(clv_utf8_valid(list, strlen(list)), strlen(list));
        for (const char *at = list; *(at += strspn(at, " "));) {
            size_t size = strcspn(at, " ");
            assert_true(clv_next_word(&words, &word));
            assert_true(word.size == size && memcmp(word.bytes, at, size) == 0);
            assert_int_equal(clv_vocabulary_add(&seen, word), count++);
            at += size;
        }
        assert_false(clv_next_word(&words, &word));
        assert_true(count > 150 && clv_vocabulary_find(&seen, (clv_word){some[l], strlen(some[l])}) >= 0);
        clv_vocabulary_free(&seen);
    }
    assert_string_equal(clv_stop_words("none"), "");
    assert_null(clv_stop_words("klingon"));
}

/* --- some words in a row --- */

/* How often words in a row from `low` to `high` that make up `term` occur in the text, stop words left out. */
static int count_rows(const char *text, const char *stop, int low, int high, const char *term) {
    char line[256], words[64][16];
    int count = 0, found = 0;
    snprintf(line, sizeof line, "%s", text);
    for (char *at = strtok(line, " "); at; at = strtok(NULL, " ")) {
        if (strcmp(at, stop) != 0) {
            snprintf(words[count++], sizeof words[0], "%s", at);
        }
    }
    for (int n = low; n <= high; n++) {
        for (int first = 0; first + n <= count; first++) {
            char joined[256] = "";
            for (int w = first; w < first + n; w++) {
                size_t used = strlen(joined);
                snprintf(joined + used, sizeof joined - used, "%s%.15s", w > first ? " " : "", words[w]);
            }
            found += strcmp(joined, term) == 0;
        }
    }
    return found;
}

static void check_rows_of_words(const char *ngrams, int low, int high) {
    static const char *const texts[] = {"aa bb the aa bb cc", "bb the", "the", "cc cc cc the cc aa bb", "aa"};
    clv_tfidf_options o;
    clv_tfidf *t;
    clv_data *data;
    int64_t count;
    clv_tfidf_defaults(&o);
    o.ngrams = ngrams;
    o.stop_words = "english";
    assert_ok(clv_tfidf_new(ctx, &o, &t));
    for (size_t d = 0; d < CLV_COUNT(texts); d++) {
        assert_ok(add_text(t, texts[d], strlen(texts[d]), "text"));
    }
    assert_ok(clv_tfidf_finish(t, &data));
    const char *const *names = clv_tfidf_terms(t, &count);
    const double *idf = clv_tfidf_idf(t);
    clv_tfidf_info info;
    clv_tfidf_describe(t, &info);
    int64_t occurrences = 0;
    for (size_t d = 0; d < CLV_COUNT(texts); d++) {
        double row[64], norm = 0;
        clv_matrix_row(clv_data_matrix(data), (int64_t)d, row);
        for (int64_t c = 0; c < count; c++) {
            double weight = count_rows(texts[d], "the", low, high, names[c]) * idf[c];
            norm += weight * weight;
        }
        for (int64_t c = 0; c < count; c++) {
            int times = count_rows(texts[d], "the", low, high, names[c]);
            assert_true(fabs(row[c] - (norm > 0 ? times * idf[c] / sqrt(norm) : 0)) < 1e-15);
            occurrences += times;
        }
    }
    assert_int_equal(occurrences, info.tokens); /* there are no others */
    clv_data_free(data);
    clv_tfidf_free(t);
}

static void test_ngrams(void **state) {
    static const char *const wrong[] = {"", "0", "10", "1-", "2-1", "-2", "1-2-3", "a", "1-0", "1 2"};
    clv_tfidf_options o;
    clv_tfidf *t;
    (void)state;
    check_rows_of_words("1", 1, 1);
    check_rows_of_words("2", 2, 2);
    check_rows_of_words("1-2", 1, 2);
    check_rows_of_words("2-5", 2, 5);
    check_rows_of_words("1-9", 1, 9);
    clv_tfidf_defaults(&o);
    for (size_t i = 0; i < CLV_COUNT(wrong); i++) {
        o.ngrams = wrong[i];
        assert_refused(clv_tfidf_new(ctx, &o, &t), CLV_EUSAGE, "ngrams = '", "from 1 to 9", NULL);
    }
}

/* --- terms of other documents --- */

static void test_like(void **state) {
    (void)state;
    sample s;
    clv_tfidf_options o, again;
    clv_data *data, *same;
    clv_tfidf *like;
    draw(&s, 3);
    clv_tfidf_defaults(&o);
    o.ngrams = "1-2";
    o.min_df = 2;
    clv_tfidf *t = make(&s, &o);
    assert_ok(clv_tfidf_finish(t, &data));
    clv_tfidf_defaults(&again);
    again.ngrams = "1-2";
    again.like = clv_tfidf_terms(t, &again.like_count);
    again.like_idf = clv_tfidf_idf(t);
    like = make(&s, &again);
    assert_ok(clv_tfidf_finish(like, &same));
    const clv_matrix *a = clv_data_matrix(data), *b = clv_data_matrix(same);
    assert_true(a->rows == b->rows && a->cols == b->cols);
    assert_memory_equal(a->start, b->start, (size_t)(a->rows + 1) * sizeof *a->start);
    assert_memory_equal(a->index, b->index, (size_t)a->start[a->rows] * sizeof *a->index);
    assert_memory_equal(a->values, b->values, (size_t)a->start[a->rows] * sizeof(double));
    clv_tfidf_free(like);
    clv_data_free(same);
    assert_ok(clv_tfidf_new(ctx, &again, &like));
    assert_ok(add_text(like, "unseen words", 12, "x"));
    assert_refused(clv_tfidf_finish(like, &same), CLV_EDATA, "none of the 1 documents has one of the", NULL);
    clv_tfidf_free(like);
    const char *const twice[] = {"aa", "aa"};
    again.like = twice;
    again.like_count = 2;
    assert_refused(clv_tfidf_new(ctx, &again, &like), CLV_EDATA, "'aa' is given twice", NULL);
    again.like_idf = NULL;
    assert_refused(clv_tfidf_new(ctx, &again, &like), CLV_EUSAGE, "idf", NULL);
    clv_data_free(data);
    clv_tfidf_free(t);
}

/* Enough text for several batches and many chunks. */
static clv_data *make_long(int64_t threads, clv_tfidf_info *info) {
    clv_tfidf_options o;
    clv_tfidf *t;
    clv_data *data;
    clv_rng rng = clv_rng_stream(4, 0);
    char text[8192];
    clv_tfidf_defaults(&o);
    o.threads = threads;
    assert_ok(clv_tfidf_new(ctx, &o, &t));
    for (int d = 0; d < 1300; d++) {
        size_t used = 0;
        while (used < sizeof text - 16) {
            used += (size_t)snprintf(text + used, 16, "w%lld ", (long long)clv_rng_below(&rng, 1 + d));
        }
        assert_ok(add_text(t, text, used, "text"));
    }
    assert_ok(clv_tfidf_finish(t, &data));
    clv_tfidf_describe(t, info);
    clv_tfidf_free(t);
    return data;
}

static void test_threads(void **state) {
    (void)state;
    clv_tfidf_info info, again;
    clv_data *one = make_long(1, &info), *two = make_long(3, &again);
    assert_memory_equal(&info, &again, sizeof info);
    assert_true(info.documents == 1300 && info.empty == 0 && info.terms == 1300);
    const clv_matrix *a = clv_data_matrix(one), *b = clv_data_matrix(two);
    assert_memory_equal(a->start, b->start, (size_t)(a->rows + 1) * sizeof *a->start);
    assert_memory_equal(a->index, b->index, (size_t)a->start[a->rows] * sizeof *a->index);
    assert_memory_equal(a->values, b->values, (size_t)a->start[a->rows] * sizeof(double));
    for (int64_t i = 0; i < a->rows; i++) { /* columns ascend, rows have length 1 */
        double sum = 0;
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
            assert_true(e == a->start[i] || a->index[e - 1] < a->index[e]);
            sum += ((const double *)a->values)[e] * ((const double *)a->values)[e];
        }
        assert_true(fabs(sum - 1) < 1e-12);
    }
    clv_data_free(one);
    clv_data_free(two);
}

static int stop_in_a_while(void *user) {
    int *left = user;
    return (*left)-- <= 0;
}

/* A batch is given up between its chunks, of which a document of 200,000 bytes is one, and while they join. */
static void test_stopped(void **state) {
    (void)state;
    static char text[200000];
    const clv_document document = {.text = text, .size = sizeof text, .place = "x", .decoded = true};
    clv_tfidf_options o;
    clv_tfidf *t;
    memset(text, 'x', sizeof text);
    clv_tfidf_defaults(&o);
    o.threads = 1;
    for (int polls = 0; polls < 40; polls++) {
        int left = polls;
        clv_status status = CLV_OK;
        assert_int_equal(clv_tfidf_new(ctx, &o, &t), CLV_OK);
        clv_context_set_interrupt(ctx, stop_in_a_while, &left);
        for (int i = 0; status == CLV_OK && i < 31; i++) {
            status = clv_tfidf_add(t, &document);
        }
        assert_int_equal(status, CLV_EINTERRUPTED);
        clv_context_set_interrupt(ctx, NULL, NULL);
        clv_tfidf_free(t);
    }
}

/* Given up, or out of budget, while the next batch is read: the sentence comes from the call after. */
static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

static void test_failures_beside(void **state) {
    (void)state;
    static char text[200000];
    clv_tfidf_options o;
    clv_tfidf_defaults(&o);
    o.threads = 2;
    for (size_t at = 0; at + 8 <= sizeof text; at += 8) {
        snprintf(text + at, 8, "w%05zu", at / 8);
        text[at + 6] = text[at + 7] = ' ';
    }
    for (int stopped = 0; stopped < 2; stopped++) {
        clv_tfidf *t;
        clv_status status = CLV_OK;
        o.memory = stopped ? 0 : 1 << 20;
        assert_ok(clv_tfidf_new(ctx, &o, &t));
        clv_context_set_interrupt(ctx, stopped ? stop_at_once : NULL, NULL);
        for (int i = 0; status == CLV_OK && i < 12; i++) { /* two batches */
            status = add_text(t, text, sizeof text, "x");
        }
        clv_context_set_interrupt(ctx, NULL, NULL);
        assert_refused(status, stopped ? CLV_EINTERRUPTED : CLV_ENOMEM,
                       stopped ? "interrupted while counting terms" : "more than the budget of 1048576", NULL);
        clv_tfidf_free(t);
    }
    clv_tfidf *t; /* let go of while a batch is counted */
    o.memory = 0;
    assert_ok(clv_tfidf_new(ctx, &o, &t));
    for (int i = 0; i < 6; i++) {
        assert_ok(add_text(t, text, sizeof text, "x"));
    }
    clv_tfidf_free(t);
}

static void test_encodings(void **state) {
    (void)state;
    clv_tfidf_options o;
    clv_tfidf *t;
    clv_data *data;
    clv_tfidf_info info;
    int64_t count;
    clv_tfidf_defaults(&o);
    o.encoding = CLV_ENCODING_UTF8;
    assert_ok(clv_tfidf_new(ctx, &o, &t));
    assert_refused(add_text(t, "caf\xe9!", 5, "a/b.txt"), CLV_EDATA, "a/b.txt", "byte 4", NULL);
    clv_tfidf_free(t);
    o.encoding = CLV_ENCODING_AUTO;
    assert_ok(clv_tfidf_new(ctx, &o, &t));
    assert_ok(add_text(t, "caf\xe9!", 5, "a"));
    assert_ok(add_text(t, "caf\xc3\xa9!", 6, "b"));
    assert_ok(add_text(t, "", 0, "c"));
    assert_ok(clv_tfidf_finish(t, &data));
    clv_tfidf_describe(t, &info);
    assert_true(info.latin1 == 1 && info.documents == 3 && info.empty == 1 && info.terms == 1 && info.tokens == 2);
    assert_string_equal(clv_tfidf_terms(t, &count)[0], "caf\u00e9");
    clv_data_free(data);
    clv_tfidf_free(t);
    /* What JSON decoded is UTF-8 whatever is said of the corpus. */
    clv_document json = {.text = "caf\u00e9", .size = 5, .place = "x.jsonl, line 3", .decoded = 1};
    o.encoding = CLV_ENCODING_LATIN1;
    assert_ok(clv_tfidf_new(ctx, &o, &t));
    assert_ok(clv_tfidf_add(t, &json));
    assert_ok(add_text(t, "caf\xe9", 4, "file"));
    assert_ok(clv_tfidf_finish(t, &data));
    clv_tfidf_describe(t, &info);
    assert_true(info.terms == 1 && info.latin1 == 0);
    assert_string_equal(clv_tfidf_terms(t, &count)[0], "caf\u00e9");
    clv_data_free(data);
    clv_tfidf_free(t);
    json.not_utf8 = 14;
    o.encoding = CLV_ENCODING_UTF8;
    assert_ok(clv_tfidf_new(ctx, &o, &t));
    assert_refused(clv_tfidf_add(t, &json), CLV_EDATA, "x.jsonl, line 3", "byte 14", NULL);
    clv_tfidf_free(t);
}

static void test_refused(void **state) {
    (void)state;
    clv_tfidf_options o;
    clv_tfidf *t;
    clv_data *data;
    clv_tfidf_defaults(&o);
    assert_ok(clv_tfidf_new(ctx, &o, &t));
    assert_refused(clv_tfidf_finish(t, &data), CLV_EDATA, "no documents", NULL);
    clv_tfidf_free(t);
    assert_ok(clv_tfidf_new(ctx, &o, &t));
    assert_ok(add_text(t, "a . b", 5, "x"));
    assert_refused(clv_tfidf_finish(t, &data), CLV_EDATA, "vocabulary is empty", "1 documents", NULL);
    clv_tfidf_free(t);
    o.min_df = 3;
    assert_ok(clv_tfidf_new(ctx, &o, &t));
    assert_ok(add_text(t, "word word word", 14, "x"));
    assert_refused(clv_tfidf_finish(t, &data), CLV_EDATA, "vocabulary is empty", "min-df 3", NULL);
    clv_tfidf_free(t);
    o.min_df = -1;
    assert_refused(clv_tfidf_new(ctx, &o, &t), CLV_EUSAGE, "min-df", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_definition, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_stop_words, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_languages, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_ngrams, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_like, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_threads, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_stopped, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_failures_beside, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_encodings, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_refused, open_context, close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
