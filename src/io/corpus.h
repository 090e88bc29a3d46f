/* Documents: JSON lines, plain or compressed (jsonl.c), and the labels of a corpus (corpus.c). */
#ifndef CLV_CORPUS_H
#define CLV_CORPUS_H

#include "io/io.h"

#include <zlib.h>

/* Where documents go: to the hook, and their labels here until all are known. */
typedef struct clv_corpus_builder {
    clv_context *ctx;
    clv_document_hook hook;
    void *user;
    int64_t documents, labeled;
    clv_text names; /* a document after the other, each ended by NUL: "=" and its label, or nothing */
    clv_text ids;   /* likewise: its id, or its number */
} clv_corpus_builder;
void clv_corpus_begin(clv_corpus_builder *b, clv_context *ctx, clv_document_hook hook, void *user);
clv_status clv_corpus_put(clv_corpus_builder *b, const clv_document *document);
/* The labels as numbers; frees nothing. */
clv_status clv_corpus_finish(clv_corpus_builder *b, clv_corpus **out);
void clv_corpus_discard(clv_corpus_builder *b);

/* JSON lines that come in pieces of any size, gzip-compressed if the first bytes say so. */
typedef struct clv_jsonl {
    clv_corpus_builder *to;
    const char *name;
    int64_t line;
    clv_text rest;    /* the beginning of a line whose end has not come yet */
    clv_text decoded; /* a line that is not UTF-8, made so */
    uint8_t magic[2];
    int seen; /* bytes of magic; when both are there, the kind is known */
    bool compressed, ended;
    z_stream stream;
    uint8_t *inflated;
} clv_jsonl;
void clv_jsonl_begin(clv_jsonl *j, clv_corpus_builder *to, const char *name);
clv_status clv_jsonl_push(clv_jsonl *j, const uint8_t *bytes, size_t size);
/* After the last piece. */
clv_status clv_jsonl_end(clv_jsonl *j);
void clv_jsonl_close(clv_jsonl *j);

#endif
