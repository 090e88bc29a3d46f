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

static clv_status make_room(clv_context *ctx, const clv_piece *documents, int64_t count, const clv_grams *grams,
                            clv_counts *c) {
    int64_t longest = 0, words = 0;
    for (int64_t d = 0; d < count; d++) {
        int64_t size = (int64_t)documents[d].size;
        longest = size > longest ? size : longest;
        words += size / 3 + 1; /* of two characters, and something between them */
    }
    CLV_TRY(clv_make_room(ctx, (void **)&c->word, 0, 2 * longest + 8, &c->room_bytes, 1));
    if (grams->high > 1) {
        CLV_TRY(clv_make_room(ctx, (void **)&c->line, 0, 3 * longest + 8, &c->room_line, 1));
    }
    CLV_TRY(clv_make_room(ctx, (void **)&c->ends, 0, count, &c->room_documents, sizeof *c->ends));
    int64_t terms = words * (grams->high - grams->low + 1);
    return clv_make_room(ctx, (void **)&c->entries, 0, terms, &c->room_entries, sizeof *c->entries);
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

/* One more occurrence of a term in document `number`, whose entries end at *end. */
static clv_status count_term(clv_context *ctx, clv_word text, int32_t number, int64_t *end, clv_counts *c) {
    int32_t known = c->terms.count;
    int32_t term = clv_vocabulary_add(&c->terms, text);
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
    return CLV_OK;
}

/* The words that are kept stand in a line, so that words in a row are a piece of it: `begin` is where each of the last
 * ones begins, by its number modulo the longest. */
static clv_status count_grams(clv_context *ctx, clv_words *words, const clv_grams *grams, int32_t number, int64_t *end,
                              clv_counts *c) {
    size_t begin[CLV_MOST_GRAM], used = 0;
    clv_word word;
    for (int seen = 0; clv_next_word(words, &word);) {
        if (clv_vocabulary_find(grams->stop, word) >= 0) {
            continue;
        }
        begin[seen++ % grams->high] = used;
        memcpy(c->line + used, word.bytes, word.size);
        used += word.size;
        for (int n = grams->low; n <= grams->high && n <= seen; n++) {
            size_t from = begin[(seen - n) % grams->high];
            CLV_TRY(count_term(ctx, (clv_word){c->line + from, used - from}, number, end, c));
        }
        c->line[used++] = ' ';
    }
    return CLV_OK;
}

static clv_status count_document(clv_context *ctx, const clv_piece *document, const clv_grams *grams, int32_t number,
                                 int64_t *end, clv_counts *c) {
    const uint8_t *text = (const uint8_t *)document->text;
    clv_words words = {text, text + document->size, document->latin1, c->word};
    clv_word word;
    if (grams->high > 1) {
        return count_grams(ctx, &words, grams, number, end, c);
    }
    while (clv_next_word(&words, &word)) {
        CLV_TRY(count_term(ctx, word, number, end, c));
    }
    return CLV_OK;
}

clv_status clv_count_terms(clv_context *ctx, const clv_piece *documents, int64_t count, const clv_grams *grams,
                           clv_counts *out) {
    int64_t end = 0;
    out->terms.ctx = ctx;
    clv_vocabulary_clear(&out->terms);
    CLV_TRY(make_room(ctx, documents, count, grams, out));
    for (int64_t d = 0; d < count; d++) {
        CLV_TRY(count_document(ctx, &documents[d], grams, (int32_t)d, &end, out));
        out->ends[d] = end;
    }
    return CLV_OK;
}

void clv_counts_free(clv_context *ctx, clv_counts *counts) {
    clv_vocabulary_free(&counts->terms);
    clv_free(ctx, counts->entries);
    clv_free(ctx, counts->ends);
    clv_free(ctx, counts->word);
    clv_free(ctx, counts->line);
    clv_free(ctx, counts->last);
    clv_free(ctx, counts->slot);
}
