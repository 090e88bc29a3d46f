/* Documents as rows of tf-idf: words, a vocabulary, counts, weights. One file per stage. */
#ifndef CLV_FEATURES_TEXT_H
#define CLV_FEATURES_TEXT_H

#include "linalg/linalg.h"

/* --- letters beyond ASCII (letters.c, made by scripts/unicode), ascending --- */
typedef struct clv_letter_range {
    uint32_t first, last;
} clv_letter_range;
/* first, first + step, ..., last have the lower case code + delta. */
typedef struct clv_lower_range {
    uint32_t first, last;
    int32_t step, delta;
} clv_lower_range;
extern const clv_letter_range clv_letter_ranges[];
extern const clv_lower_range clv_lower_ranges[];
extern const int64_t clv_letter_range_count, clv_lower_range_count;

/* --- words (words.c) --- */

typedef struct clv_words {
    const uint8_t *at, *end;
    bool latin1;   /* one byte per character; else the bytes are valid UTF-8 */
    uint8_t *word; /* room for twice the bytes of the text, and 8 */
} clv_words;
typedef struct clv_word {
    const char *bytes; /* in clv_words.word, until the next call: UTF-8, lower case */
    size_t size;
} clv_word;
/* The next word of two or more characters; false at the end. */
bool clv_next_word(clv_words *words, clv_word *out);

/* --- a set of terms, numbered in the order in which they came (vocabulary.c) --- */
typedef struct clv_vocabulary {
    clv_context *ctx;
    char *bytes; /* the terms one after the other, each ended by NUL */
    int64_t used, room;
    int64_t *start;  /* of term t in bytes; one more for the end */
    uint32_t *hash;  /* of term t */
    int32_t *slots;  /* open addressing: a term, or -1 */
    int64_t buckets; /* a power of two, or 0 */
    int32_t count, most;
} clv_vocabulary;
/* The number of a term, which is added if it is new; below 0: out of memory. */
int32_t clv_vocabulary_add(clv_vocabulary *v, clv_word term);
/* The number of a term, or -1. */
int32_t clv_vocabulary_find(const clv_vocabulary *v, clv_word term);
/* Empty again, with its memory kept. */
void clv_vocabulary_clear(clv_vocabulary *v);
void clv_vocabulary_free(clv_vocabulary *v);

/* --- counts of the terms of some documents (counts.c) --- */
/* Room for `more` items beyond the `count` that are kept, half as many again to spare; what is new is zero. */
clv_status clv_make_room(clv_context *ctx, void **block, int64_t count, int64_t more, int64_t *room, size_t size);

typedef struct clv_count {
    int32_t term, times;
} clv_count;
typedef struct clv_counts {
    clv_vocabulary terms;
    clv_count *entries; /* of document d: from ends[d - 1] to ends[d] */
    int64_t *ends;
    uint8_t *word; /* work, as are the following */
    char *line;    /* the words of a document one after the other, where terms are more than one */
    int32_t *last; /* the last document of a term, */
    int64_t *slot; /* and its entry there */
    int64_t room_bytes, room_line, room_documents, room_entries, room_terms;
} clv_counts;
typedef struct clv_piece {
    const char *text;
    size_t size;
    bool latin1;
} clv_piece;
/* What a term is: `low` to `high` words in a row, with a blank between, once those of `stop` are left out. Of single
 * words the stop words are counted too: it takes less time to leave out terms than words. */
enum { CLV_MOST_GRAM = 9 };
typedef struct clv_grams {
    int low, high;
    const clv_vocabulary *stop;
} clv_grams;
/* Counts of `count` documents instead of those before. */
clv_status clv_count_terms(clv_context *ctx, const clv_piece *documents, int64_t count, const clv_grams *grams,
                           clv_counts *out);
void clv_counts_free(clv_context *ctx, clv_counts *counts);

#endif
