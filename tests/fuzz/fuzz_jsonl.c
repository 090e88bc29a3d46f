/* JSON lines, plain or compressed, in two pieces, and their words. */
#include "fuzz.h"

#include "io/corpus.h"

#include <string.h>

static clv_status add_document(const clv_document *document, void *user) {
    return clv_tfidf_add(user, document);
}

static clv_status push(clv_corpus_builder *b, const uint8_t *bytes, size_t size) {
    clv_jsonl lines;
    clv_jsonl_begin(&lines, b, "fuzz.jsonl");
    clv_status status = clv_jsonl_push(&lines, bytes, size / 3);
    if (status == CLV_OK) {
        status = clv_jsonl_push(&lines, bytes + size / 3, size - size / 3);
    }
    if (status == CLV_OK) {
        status = clv_jsonl_end(&lines);
    }
    clv_jsonl_close(&lines);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_memory memory;
    clv_context *ctx = fuzz_open(&memory);
    clv_tfidf_options options;
    clv_tfidf *tfidf;
    clv_corpus *corpus = NULL;
    clv_data *data = NULL;
    clv_tfidf_defaults(&options);
    options.threads = 1;
    if (clv_tfidf_new(ctx, &options, &tfidf) == CLV_OK) {
        clv_corpus_builder b;
        clv_corpus_begin(&b, ctx, add_document, tfidf);
        clv_status status = push(&b, bytes, size);
        if (status == CLV_OK) {
            (void)clv_corpus_finish(&b, &corpus);
        }
        clv_corpus_discard(&b);
        clv_corpus_free(corpus);
        clv_document text = {.text = (const char *)bytes, .size = size, .place = "fuzz"}; /* of any encoding */
        status = clv_tfidf_add(tfidf, &text);
        if (status == CLV_OK) {
            status = clv_tfidf_finish(tfidf, &data);
            fuzz_check(ctx, status, data);
        }
        clv_tfidf_free(tfidf);
    }
    fuzz_close(ctx, &memory);
    return 0;
}
