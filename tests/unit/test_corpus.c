/* Corpora: folders and JSON lines, whole, compressed and in pieces; labels; what is refused. */
#include "io_support.h"

#include "io/corpus.h"

#include <sys/stat.h>
#include <zlib.h>

/* Documents as they come: "label:text|", with . for no label. */
typedef struct gathered {
    char all[4096];
    clv_status answer;
    size_t not_utf8; /* the last that was not 0 */
} gathered;

static clv_status gather(const clv_document *d, void *user) {
    gathered *g = user;
    size_t used = strlen(g->all);
    g->not_utf8 = d->not_utf8 ? d->not_utf8 : g->not_utf8;
    snprintf(g->all + used, sizeof g->all - used, "%s:%.*s|", d->label ? d->label : ".", (int)d->size, d->text);
    return g->answer < 0 ? clv_fail(ctx, g->answer, "enough of %s", d->place) : CLV_OK;
}

static const char lines[] = "{\"text\": \"one\", \"label\": \"b\"}\n"
                            "{\"label\": \"a\", \"text\": \"t\\u00e9xt\\n\", \"id\": [1, {\"x\": null}]}\r\n"
                            "\n"
                            "{\"text\": \"\", \"label\": 7}\n"
                            "{\"text\": \"no label\", \"label\": null, \"id\": \"no 5\"}\n"
                            "{\"text\": \"last, without a newline\", \"label\": \"b\", \"id\": -6}";
static const char gathered_lines[] = "b:one|a:t\u00e9xt\n|7:|.:no label|b:last, without a newline|";

/* gzip, as two members when `members` is 2; the size. */
static size_t compress_lines(uint8_t *out, size_t room, int members) {
    size_t used = 0, half = sizeof lines / 2, size = sizeof lines - 1;
    for (int m = 0; m < members; m++) {
        size_t from = m == 0 ? 0 : half, to = members == 1 || m == 1 ? size : half;
        z_stream z = {0};
        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        z.next_in = (z_const Bytef *)(uintptr_t)(lines + from);
        z.avail_in = (unsigned)(to - from);
        z.next_out = out + used;
        z.avail_out = (unsigned)(room - used);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        used = room - z.avail_out;
        deflateEnd(&z);
    }
    return used;
}

static clv_status push_in_pieces(const uint8_t *bytes, size_t size, size_t piece, gathered *g, clv_corpus **corpus) {
    clv_corpus_builder b;
    clv_jsonl j;
    clv_status status = CLV_OK;
    *corpus = NULL;
    clv_corpus_begin(&b, ctx, gather, g);
    clv_jsonl_begin(&j, &b, "x.jsonl");
    for (size_t at = 0; at < size && status == CLV_OK; at += piece) {
        status = clv_jsonl_push(&j, bytes + at, size - at < piece ? size - at : piece);
    }
    status = status == CLV_OK ? clv_jsonl_end(&j) : status;
    clv_jsonl_close(&j);
    status = status == CLV_OK ? clv_corpus_finish(&b, corpus) : status;
    clv_corpus_discard(&b);
    return status;
}

static void check_labels(const clv_corpus *corpus) {
    static const int32_t labels[5] = {2, 1, 0, -1, 2};
    assert_int_equal(corpus->documents, 5);
    assert_int_equal(corpus->classes, 3);
    assert_memory_equal(corpus->labels, labels, sizeof labels);
    assert_string_equal(corpus->names[0], "7");
    assert_string_equal(corpus->names[1], "a");
    assert_string_equal(corpus->names[2], "b");
    static const char *const ids[5] = {"1", "2", "4", "no 5",
                                       "-6"}; /* an id that is neither text nor integer is none */
    for (int d = 0; d < 5; d++) {
        assert_string_equal(corpus->ids[d], ids[d]);
    }
    assert_null(corpus->repeated);
}

static void test_pieces(void **state) {
    (void)state;
    uint8_t packed[1024];
    for (size_t piece = 1; piece < 200; piece += piece < 10 ? 1 : 17) {
        for (int members = 0; members < 3; members++) {
            gathered g = {.answer = CLV_OK};
            clv_corpus *corpus;
            size_t size = members ? compress_lines(packed, sizeof packed, members) : sizeof lines - 1;
            assert_ok(push_in_pieces(members ? packed : (const uint8_t *)lines, size, piece, &g, &corpus));
            assert_string_equal(g.all, gathered_lines);
            check_labels(corpus);
            clv_corpus_free(corpus);
        }
    }
}

/* Two documents may have one name, which is said. */
static void test_repeated_ids(void **state) {
    static const char twice[] = "{\"text\": \"a\", \"id\": 2}\n{\"text\": \"b\"}\n{\"text\": \"c\", \"id\": \"\"}\n";
    gathered g = {.answer = CLV_OK};
    clv_corpus *corpus;
    (void)state;
    assert_ok(push_in_pieces((const uint8_t *)twice, sizeof twice - 1, 9, &g, &corpus));
    assert_string_equal(corpus->ids[1], "2");
    assert_string_equal(corpus->ids[2], "3");
    assert_string_equal(corpus->repeated, "2");
    clv_corpus_free(corpus);
}

static void test_cut_off(void **state) {
    (void)state;
    uint8_t packed[1024];
    size_t size = compress_lines(packed, sizeof packed, 1);
    for (size_t cut = 2; cut < size; cut++) {
        gathered g = {.answer = CLV_OK};
        clv_corpus *corpus;
        assert_refused(push_in_pieces(packed, cut, 64, &g, &corpus), CLV_EDATA, "x.jsonl", NULL);
    }
    for (size_t damage = 0; damage < size; damage++) { /* caught by the check sum, or before */
        gathered g = {.answer = CLV_OK};
        clv_corpus *corpus = NULL;
        packed[damage] ^= 0x10;
        clv_status status = push_in_pieces(packed, size, 1000, &g, &corpus);
        assert_true(status == CLV_EDATA || (status == CLV_OK && strcmp(g.all, gathered_lines) == 0));
        clv_corpus_free(corpus);
        packed[damage] ^= 0x10;
    }
}

static void refuse_lines(const char *text, const char *part, const char *other) {
    gathered g = {.answer = CLV_OK};
    clv_corpus *corpus;
    assert_refused(push_in_pieces((const uint8_t *)text, strlen(text), 7, &g, &corpus), CLV_EDATA, part, other, NULL);
}

static void test_bad_lines(void **state) {
    (void)state;
    refuse_lines("{\"text\": \"a\"}\n{\"text\": 3}\n", "line 2", "string \"text\"");
    refuse_lines("{\"body\": \"a\"}\n", "line 1", "string \"text\"");
    refuse_lines("[1, 2]\n", "line 1", "object");
    refuse_lines("\n\nnot json\n", "line 3", "not JSON");
    refuse_lines("{\"text\": \"a\", \"label\": [1]}", "line 1", "\"label\"");
    refuse_lines("{\"text\": \"a\"}\n{\"text\": \"b\", \"label\": \"a\\u0000b\"}", "line 2", "NUL");
    refuse_lines("{\"text\": \"\\ud800\"}", "line 1", "not JSON");
    refuse_lines("x", "line 1", "not JSON");
}

static void put_text(const char *name, const char *text) {
    put_file(in_folder(name), text, strlen(text));
}

/* A line that is not UTF-8 is Latin-1, its escapes what they say; the others are not touched. */
static void test_encodings_of_lines(void **state) {
    (void)state;
    static const char mixed[] = "\xef\xbb\xbf{\"text\": \"caf\u00e9\"}\n"
                                "{\"text\": \"caf\xe9 \\u00e9\\u4e2d\", \"label\": \"\xe0\"}\n"
                                "{\"text\": \"nul \\u0000 \\u00e9\", \"label\": \"\u00e0\"}\n";
    for (size_t piece = 1; piece < 60; piece += 7) {
        gathered g = {.answer = CLV_OK};
        clv_corpus *corpus;
        assert_ok(push_in_pieces((const uint8_t *)mixed, sizeof mixed - 1, piece, &g, &corpus));
        assert_string_equal(g.all,
                            ".:caf\u00e9|\u00e0:caf\u00e9 \u00e9\u4e2d|\u00e0:nul |"); /* NUL ends what is printed */
        assert_int_equal(g.not_utf8, 14);
        assert_int_equal(corpus->classes, 1);
        assert_string_equal(corpus->names[0], "\u00e0");
        clv_corpus_free(corpus);
    }
}

/* Folders of different bytes are different labels, and their names are UTF-8 all the same. */
static void test_folder_names(void **state) {
    (void)state;
    gathered g = {.answer = CLV_OK};
    clv_corpus *corpus;
    assert_int_equal(mkdir(in_folder("\xe9"), 0700) + mkdir(in_folder("\u00e9"), 0700), 0);
    put_text("\xe9/1", "one");
    put_text("\u00e9/1", "two");
    assert_ok(clv_read_corpus(ctx, folder, gather, &g, &corpus));
    assert_int_equal(corpus->classes, 2);
    assert_int_not_equal(corpus->labels[0], corpus->labels[1]);
    assert_string_equal(corpus->names[0], "\u00e9");
    assert_string_equal(corpus->names[1], "\u00e9");
    clv_corpus_free(corpus);
    unlink(in_folder("\xe9/1"));
    unlink(in_folder("\u00e9/1"));
    rmdir(in_folder("\xe9"));
    rmdir(in_folder("\u00e9"));
}

static void test_hook_ends_it(void **state) {
    (void)state;
    gathered g = {.answer = CLV_EDATA};
    clv_corpus *corpus;
    assert_refused(push_in_pieces((const uint8_t *)lines, sizeof lines - 1, 50, &g, &corpus), CLV_EDATA,
                   "enough of x.jsonl, line 1", NULL);
    assert_string_equal(g.all, "b:one|");
}

static void test_folder(void **state) {
    (void)state;
    gathered g = {.answer = CLV_OK};
    clv_corpus *corpus;
    assert_int_equal(mkdir(in_folder("spam"), 0700) + mkdir(in_folder("ham"), 0700) + mkdir(in_folder("ham/x"), 0700),
                     0);
    put_text("spam/2", "two");
    put_text("spam/10", "ten");
    put_text("ham/1", "one");
    put_text("ham/x/1", "deep");
    put_text("ham/y", "after");
    put_text("ham/.hidden", "hidden");
    put_text("zero", "");
    assert_ok(clv_read_corpus(ctx, folder, gather, &g, &corpus));
    assert_string_equal(g.all, "ham:one|ham/x:deep|ham:after|spam:ten|spam:two|.:|");
    static const int32_t labels[6] = {0, 1, 0, 2, 2, -1};
    assert_memory_equal(corpus->labels, labels, sizeof labels);
    assert_string_equal(corpus->names[1], "ham/x");
    clv_corpus_free(corpus);
    put_text("l.jsonl", lines);
    memset(&g, 0, sizeof g);
    assert_ok(clv_read_corpus(ctx, in_folder("l.jsonl"), gather, &g, &corpus));
    assert_string_equal(g.all, gathered_lines);
    check_labels(corpus);
    clv_corpus_free(corpus);
    assert_refused(clv_read_corpus(ctx, in_folder("zero"), gather, &g, &corpus), CLV_EUSAGE, ".jsonl.gz", NULL);
    assert_refused(clv_read_corpus(ctx, in_folder("none"), gather, &g, &corpus), CLV_ENOINPUT, "none", NULL);
    assert_refused(clv_read_corpus(ctx, in_folder("none.jsonl"), gather, &g, &corpus), CLV_ENOINPUT, "none", NULL);
    static const char *const files[] = {"spam/2", "spam/10",     "ham/1", "ham/x/1",
                                        "ham/y",  "ham/.hidden", "zero",  "l.jsonl"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        unlink(in_folder(files[i]));
    }
    rmdir(in_folder("spam"));
    rmdir(in_folder("ham/x"));
    rmdir(in_folder("ham"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pieces, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_repeated_ids, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_cut_off, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_bad_lines, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_encodings_of_lines, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_folder_names, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_hook_ends_it, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_folder, open_context, close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
