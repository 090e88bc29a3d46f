/* How often each term occurs in each of some documents, with terms numbered as they come: the part of tf-idf that can
 * be done for several groups of documents at a time. */
#include "features/text/text.h"

#include <string.h>

clv_status clv_make_room(clv_context *ctx, void **block, int64_t count, int64_t more, int64_t *room, size_t size) {
    if (count + more <= *room) {
        return CLV_OK;
    }
    if (count == 0) { /* nothing to keep: not both at a time */
        clv_free(ctx, *block);
        *block = NULL;
        *room = 0;
    }
    int64_t wanted = count + more + (count + more) / 2 + 16;
    char *grown = clv_resize(ctx, *block, wanted, size);
    if (!grown) {
        return CLV_ENOMEM;
    }
    memset(grown + (size_t)*room * size, 0, (size_t)(wanted - *room) * size);
    *block = grown;
    *room = wanted;
    return CLV_OK;
}

static clv_status make_room(clv_context *ctx, const clv_piece *documents, int64_t count, clv_counts *c) {
    int64_t longest = 0, words = 0;
    for (int64_t d = 0; d < count; d++) {
        int64_t size = (int64_t)documents[d].size;
        longest = size > longest ? size : longest;
        words += size / 3 + 1; /* of two characters, and something between them */
    }
    CLV_TRY(clv_make_room(ctx, (void **)&c->word, 0, 2 * longest + 8, &c->room_bytes, 1));
    CLV_TRY(clv_make_room(ctx, (void **)&c->ends, 0, count, &c->room_documents, sizeof *c->ends));
    return clv_make_room(ctx, (void **)&c->entries, 0, words, &c->room_entries, sizeof *c->entries);
}

/* Room for what is known of each term, after the vocabulary grew. */
static clv_status follow_vocabulary(clv_context *ctx, clv_counts *c) {
    if (c->room_terms >= c->terms.most) {
        return CLV_OK;
    }
    int32_t *last = clv_resize(ctx, c->last, c->terms.most, sizeof *last);
    c->last = last ? last : c->last;
    int64_t *slot = clv_resize(ctx, c->slot, c->terms.most, sizeof *slot);
    c->slot = slot ? slot : c->slot;
    if (!last || !slot) {
        return CLV_ENOMEM;
    }
    c->room_terms = c->terms.most;
    return CLV_OK;
}

static clv_status count_document(clv_context *ctx, const clv_piece *document, int32_t number, int64_t *end,
                                 clv_counts *c) {
    const uint8_t *text = (const uint8_t *)document->text;
    clv_words words = {text, text + document->size, document->latin1, c->word};
    clv_word word;
    while (clv_next_word(&words, &word)) {
        int32_t known = c->terms.count;
        int32_t term = clv_vocabulary_add(&c->terms, word);
        if (term < 0) {
            return CLV_ENOMEM;
        }
        CLV_TRY(follow_vocabulary(ctx, c));
        if (term == known || c->last[term] != number) {
            c->last[term] = number;
            c->slot[term] = *end;
            c->entries[(*end)++] = (clv_count){term, 0};
        }
        c->entries[c->slot[term]].times++;
    }
    return CLV_OK;
}

clv_status clv_count_terms(clv_context *ctx, const clv_piece *documents, int64_t count, clv_counts *out) {
    int64_t end = 0;
    out->terms.ctx = ctx;
    clv_vocabulary_clear(&out->terms);
    CLV_TRY(make_room(ctx, documents, count, out));
    for (int64_t d = 0; d < count; d++) {
        CLV_TRY(count_document(ctx, &documents[d], (int32_t)d, &end, out));
        out->ends[d] = end;
    }
    return CLV_OK;
}

void clv_counts_free(clv_context *ctx, clv_counts *counts) {
    clv_vocabulary_free(&counts->terms);
    clv_free(ctx, counts->entries);
    clv_free(ctx, counts->ends);
    clv_free(ctx, counts->word);
    clv_free(ctx, counts->last);
    clv_free(ctx, counts->slot);
}
