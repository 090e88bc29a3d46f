/* tf-idf of documents that come one after the other.
 *
 * Texts are gathered into batches of a MiB. A batch is cut into chunks of whole documents, whose terms are counted
 * side by side, each chunk with a vocabulary of its own; the chunks then join the common vocabulary in their order.
 * With more than one thread that goes on beside the reading of the next batch. So the text is gone after its batch, and
 * what is kept is 8 bytes per nonzero (up to 12, as the list grows by half) and the terms. At the end terms are chosen
 * and sorted, and the rows are written with ascending columns by two counting passes, without a comparison: 28 bytes
 * per nonzero for that time, 12 afterwards. All of it is checked against the budget.
 *
 * Cost: a pass over the text for the words (a hash look-up each), one look-up for every term of a chunk, and two passes
 * over the nonzeros. Reference: Salton and Buckley 1988; the weights are scikit-learn's (smooth idf, unit rows). */
#include "base/options.h"
#include "features/text/text.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* WORTH_THREADS: nonzeros; for fewer, waking threads takes longer. */
enum { BATCH_BYTES = 1 << 20, CHUNK_BYTES = 128 << 10, WORTH_THREADS = 1 << 16 };
enum { CHUNK_WORK = 64 * CHUNK_BYTES }; /* as clv_worked counts: some ten milliseconds */

typedef struct batch {
    clv_text texts;
    clv_piece *pieces; /* their texts are offsets until the batch is complete */
    int64_t count, room;
} batch;

typedef struct chunk {
    int64_t first, count; /* documents of the batch */
    clv_counts counts;
    clv_status status;
} chunk;

struct clv_tfidf {
    clv_context *ctx;
    clv_tfidf_options options;
    clv_tfidf_info info;
    clv_vocabulary stop, terms;
    clv_grams grams;
    bool given;            /* the terms are those of other documents */
    batch filled, counted; /* with documents as they come; by a thread of its own, meanwhile */
    pthread_t counter;
    bool counting;     /* there is that thread */
    clv_status status; /* what came of it */
    size_t needed;     /* bytes, where that is more than the budget */
    /* of the batch that is counted */
    chunk *chunks;
    int64_t chunks_room;
    int32_t *known; /* of the terms of a chunk: their number here, or -1 for stop words */
    int64_t known_room;
    /* all documents */
    clv_count *entries;
    int64_t entries_count, entries_room;
    int64_t *ends; /* of document d in entries */
    int64_t ends_room;
    const char **names; /* the terms kept, after finish, */
    double *idf;        /* and their idf */
};

const clv_option_table *clv_tfidf_table(void) {
    static const clv_option options[] = {
        CLV_OPT_REAL(clv_tfidf_options, min_df, "min-df", 1, 0, 0x1p53, NULL, "N",
                     "keep terms that occur in N documents or more; below 1: a share of the documents"),
        CLV_OPT_REAL(clv_tfidf_options, max_df, "max-df", 1, 0, 0x1p53, NULL, "N",
                     "keep terms that occur in N documents or fewer; up to 1: a share of the documents"),
        CLV_OPT_INT(clv_tfidf_options, max_features, "max-features", 0, 0, 0, 0x1p31, "all", "N",
                    "keep the N terms that occur most often"),
        CLV_OPT_TEXT(clv_tfidf_options, stop_words, "stop-words", "none",
                     "none|english|german|french|spanish|italian|portuguese|dutch|FILE",
                     "words to leave out: none, the function words of a language, or those in a file"),
        CLV_OPT_TEXT(clv_tfidf_options, ngrams, "ngrams", "1", "N|M-N",
                     "terms are N words in a row, or M to N, once stop words are left out: 1, 2, 1-2, up to 9"),
        CLV_OPT_CHOICE(clv_tfidf_options, encoding, "encoding", CLV_ENCODING_AUTO, "auto|utf-8|latin-1",
                       "encoding of the texts; auto: UTF-8, and Latin-1 for documents that are not valid UTF-8"),
    };
    static const clv_option_table table = {"terms", options, CLV_COUNT(options), sizeof(clv_tfidf_options)};
    return &table;
}

/* --- beginning and end --- */

static clv_status read_stop_words(clv_tfidf *t) {
    const char *how = t->options.stop_words, *text = clv_stop_words(how);
    if (strcmp(how, "list") == 0) {
        text = t->options.stop_list ? t->options.stop_list : "";
    }
    if (!text) {
        return clv_fail(t->ctx, CLV_EUSAGE,
                        "stop-words = '%s' is not allowed: it must be none, english, german, french, spanish, italian, "
                        "portuguese, dutch or list",
                        how);
    }
    size_t size = strlen(text);
    uint8_t *room = CLV_NEW(t->ctx, uint8_t, 2 * (int64_t)size + 8);
    if (!room) {
        return CLV_ENOMEM;
    }
    clv_words words = {(const uint8_t *)text, (const uint8_t *)text + size, clv_utf8_valid(text, size) < size, room};
    clv_word word;
    clv_status status = CLV_OK;
    while (status == CLV_OK && clv_next_word(&words, &word)) {
        status = clv_vocabulary_add(&t->stop, word) < 0 ? CLV_ENOMEM : CLV_OK;
    }
    clv_free(t->ctx, room);
    return status;
}

/* "2" or "1-3". */
static clv_status read_ngrams(clv_tfidf *t) {
    const char *how = t->options.ngrams;
    bool range = how[0] && how[1] == '-';
    t->grams.low = how[0] - '0';
    t->grams.high = range ? how[2] - '0' : t->grams.low;
    t->grams.stop = &t->stop;
    bool digits = t->grams.low >= 1 && t->grams.high >= t->grams.low && t->grams.high <= CLV_MOST_GRAM;
    if (!digits || strlen(how) != (range ? 3 : 1)) {
        return clv_fail(
            t->ctx, CLV_EUSAGE,
            "ngrams = '%s' is not allowed: it must be a number of words from 1 to %d, or a range such as 1-2", how,
            (int)CLV_MOST_GRAM);
    }
    return CLV_OK;
}

/* The terms of other documents: their numbers are their columns. */
static clv_status take_terms(clv_tfidf *t) {
    const clv_tfidf_options *o = &t->options;
    t->given = o->like != NULL;
    if (!t->given) {
        return CLV_OK;
    }
    if (!o->like_idf || o->like_count < 1 || o->like_count > INT32_MAX) {
        return clv_fail(t->ctx, CLV_EUSAGE, "terms of other documents need their idf, and there must be one or more");
    }
    t->idf = CLV_NEW(t->ctx, double, o->like_count);
    CLV_TRY(t->idf ? CLV_OK : CLV_ENOMEM);
    memcpy(t->idf, o->like_idf, (size_t)o->like_count * sizeof *t->idf);
    for (int64_t i = 0; i < o->like_count; i++) {
        int32_t number = clv_vocabulary_add(&t->terms, (clv_word){o->like[i], strlen(o->like[i])});
        CLV_TRY(number < 0 ? CLV_ENOMEM : CLV_OK);
        if (number != i) {
            return clv_fail(t->ctx, CLV_EDATA, "the term '%.80s' is given twice", o->like[i]);
        }
    }
    return CLV_OK;
}

clv_status clv_tfidf_new(clv_context *ctx, const clv_tfidf_options *options, clv_tfidf **out) {
    *out = NULL;
    CLV_NEED(ctx, options);
    clv_tfidf_options own;
    CLV_TRY(clv_options_adopt(ctx, clv_tfidf_table(), options, &own));
    CLV_TRY(clv_options_check(ctx, clv_tfidf_table(), &own));
    clv_tfidf *t = CLV_NEW0(ctx, clv_tfidf, 1);
    if (!t) {
        return CLV_ENOMEM;
    }
    t->ctx = t->stop.ctx = t->terms.ctx = t->filled.texts.ctx = t->counted.texts.ctx = ctx;
    t->options = own;
    clv_status status = read_ngrams(t);
    status = status < 0 ? status : read_stop_words(t);
    status = status < 0 ? status : take_terms(t);
    if (status < 0) {
        clv_tfidf_free(t);
        return status;
    }
    *out = t;
    return CLV_OK;
}

static void discard_batch(const clv_tfidf *t, batch *b) {
    clv_free(t->ctx, b->texts.data);
    clv_free(t->ctx, b->pieces);
    *b = (batch){.texts.ctx = t->ctx};
}

/* What was needed to count; the terms stay. */
static void discard_counts(clv_tfidf *t) {
    for (int64_t c = 0; c < t->chunks_room; c++) {
        clv_counts_free(t->ctx, &t->chunks[c].counts);
    }
    discard_batch(t, &t->filled);
    discard_batch(t, &t->counted);
    clv_free(t->ctx, t->chunks);
    clv_free(t->ctx, t->known);
    t->chunks = NULL;
    t->known = NULL;
    t->chunks_room = t->known_room = 0;
}

static void discard_entries(clv_tfidf *t) {
    clv_free(t->ctx, t->entries);
    clv_free(t->ctx, t->ends);
    t->entries = NULL;
    t->ends = NULL;
    t->entries_count = t->entries_room = t->ends_room = 0;
}

/* Waits for the thread that counts. */
static void stop_counting(clv_tfidf *t) {
    if (t->counting) {
        pthread_join(t->counter, NULL);
        t->counting = false;
    }
}

void clv_tfidf_free(clv_tfidf *t) {
    if (!t) {
        return;
    }
    clv_context *ctx = t->ctx;
    stop_counting(t);
    discard_counts(t);
    discard_entries(t);
    clv_vocabulary_free(&t->stop);
    clv_vocabulary_free(&t->terms);
    CLV_FREE_ALL(ctx, t->names, t->idf, t);
}

/* --- a batch --- */

/* Whole documents together, CHUNK_BYTES or a little more; the last chunk has what is left. */
static clv_status cut_batch(clv_tfidf *t, int64_t *count) {
    int64_t first = 0;
    size_t bytes = 0;
    *count = 0;
    for (int64_t d = 0; d < t->counted.count; d++) {
        bytes += t->counted.pieces[d].size;
        if (bytes >= CHUNK_BYTES || d + 1 == t->counted.count) {
            CLV_TRY(clv_make_room(t->ctx, (void **)&t->chunks, *count, 1, &t->chunks_room, sizeof *t->chunks));
            t->chunks[*count].first = first;
            t->chunks[(*count)++].count = d + 1 - first;
            first = d + 1;
            bytes = 0;
        }
    }
    return CLV_OK;
}

/* The terms of a chunk as terms of all: t->known. */
static clv_status join_terms(clv_tfidf *t, const clv_vocabulary *terms) {
    CLV_TRY(clv_make_room(t->ctx, (void **)&t->known, 0, terms->count, &t->known_room, sizeof *t->known));
    for (int32_t i = 0; i < terms->count; i++) {
        clv_word term = {terms->bytes + terms->start[i], (size_t)(terms->start[i + 1] - terms->start[i] - 1)};
        t->known[i] = t->given ? clv_vocabulary_find(&t->terms, term) : -1;
        if (!t->given && clv_vocabulary_find(&t->stop, term) < 0) {
            t->known[i] = clv_vocabulary_add(&t->terms, term);
            if (t->known[i] < 0) {
                return CLV_ENOMEM;
            }
        }
    }
    return CLV_OK;
}

/* Whether `more` bytes fit the budget. */
static clv_status check_budget(clv_tfidf *t, size_t more) {
    size_t now, peak;
    clv_context_memory(t->ctx, &now, &peak);
    t->needed = now + more > clv_memory_budget(t->options.memory) ? now + more : 0;
    return t->needed > 0 ? CLV_ENOMEM : CLV_OK;
}

/* A failure of counting, in words: the thread that counts leaves them to the one that reads. */
static clv_status tell(const clv_tfidf *t, clv_status status) {
    if (status == CLV_EINTERRUPTED) {
        return clv_stop_failure(t->ctx, "counting terms");
    }
    if (status == CLV_ENOMEM && t->needed > 0) {
        return clv_fail(t->ctx, CLV_ENOMEM,
                        "the %d terms and %lld counts of %lld documents take %zu bytes, more than the budget of %zu",
                        t->terms.count, (long long)t->entries_count, (long long)t->info.documents, t->needed,
                        clv_memory_budget(t->options.memory));
    }
    return status;
}

static clv_status join_chunk(clv_tfidf *t, const chunk *c) {
    const clv_counts *counts = &c->counts;
    CLV_TRY(c->status);
    CLV_TRY(join_terms(t, &counts->terms));
    int64_t all = c->count ? counts->ends[c->count - 1] : 0;
    bool grows = t->entries_count + all > t->entries_room;
    CLV_TRY(check_budget(t, grows ? (size_t)(t->entries_count + all) * 3 / 2 * sizeof *t->entries : 0));
    CLV_TRY(clv_make_room(t->ctx, (void **)&t->entries, t->entries_count, all, &t->entries_room, sizeof *t->entries));
    CLV_TRY(clv_make_room(t->ctx, (void **)&t->ends, t->info.documents, c->count, &t->ends_room, sizeof *t->ends));
    for (int64_t d = 0, e = 0; d < c->count; d++) {
        for (; e < counts->ends[d]; e++) {
            int32_t term = t->known[counts->entries[e].term];
            if (term >= 0) {
                t->entries[t->entries_count++] = (clv_count){term, counts->entries[e].times};
                t->info.tokens += counts->entries[e].times;
            }
        }
        t->ends[t->info.documents++] = t->entries_count;
    }
    return CLV_OK;
}

/* The batch to be counted, by so many threads. */
static clv_status count_batch(clv_tfidf *t, int threads) {
    batch *b = &t->counted;
    atomic_bool stopped = false;
    int64_t count;
    CLV_TRY(cut_batch(t, &count));
    for (int64_t d = 0, at = 0; d < b->count; d++) {
        b->pieces[d].text = b->texts.data + at;
        at += (int64_t)b->pieces[d].size;
    }
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic) if (count > 1)
    for (int64_t c = 0; c < count; c++) {
        chunk *own = &t->chunks[c];
        if (!clv_goes_on(t->ctx, &stopped, CHUNK_WORK)) {
            continue;
        }
        own->status = clv_count_terms(t->ctx, b->pieces + own->first, own->count, &t->grams, &own->counts);
    }
    for (int64_t c = 0; c < count && clv_goes_on(t->ctx, &stopped, CHUNK_WORK); c++) {
        CLV_TRY(join_chunk(t, &t->chunks[c]));
    }
    b->count = 0;
    b->texts.size = 0;
    return stopped ? CLV_EINTERRUPTED : CLV_OK;
}

/* Beside the reading, so with one thread less. */
static void *count_beside(void *user) {
    clv_tfidf *t = user;
    t->status = count_batch(t, clv_threads(t->options.threads) - 1);
    return NULL;
}

/* Once the batch before is counted, this one is next. */
static clv_status hand_over(clv_tfidf *t, bool beside) {
    stop_counting(t);
    CLV_TRY(tell(t, t->status));
    batch free = t->counted;
    t->counted = t->filled;
    t->filled = free;
    t->counting = beside && pthread_create(&t->counter, NULL, count_beside, t) == 0;
    return t->counting ? CLV_OK : tell(t, count_batch(t, clv_threads(t->options.threads)));
}

/* Whether the text is to be read as Latin-1; *invalid is the byte, from 1, for which it is though nobody said so. */
static bool is_latin1(const clv_tfidf *t, const clv_document *document, size_t *invalid) {
    *invalid = document->not_utf8;
    if (document->decoded) {
        return false;
    }
    bool told = t->options.encoding == CLV_ENCODING_LATIN1;
    size_t valid = told ? document->size : clv_utf8_valid(document->text, document->size);
    *invalid = valid < document->size ? valid + 1 : 0;
    return told || *invalid;
}

clv_status clv_tfidf_add(clv_tfidf *t, const clv_document *document) {
    CLV_NEED(t->ctx, document);
    size_t invalid;
    bool latin1 = is_latin1(t, document, &invalid);
    if (invalid && t->options.encoding == CLV_ENCODING_UTF8) {
        return clv_fail(t->ctx, CLV_EDATA, "%s: byte %zu is not UTF-8; encoding latin-1 takes any byte",
                        document->place, invalid);
    }
    batch *b = &t->filled;
    CLV_TRY(clv_make_room(t->ctx, (void **)&b->pieces, b->count, 1, &b->room, sizeof *b->pieces));
    clv_text_append(&b->texts, document->text, document->size);
    CLV_TRY(b->texts.status);
    t->info.latin1 += invalid && t->options.encoding == CLV_ENCODING_AUTO;
    b->pieces[b->count++] = (clv_piece){NULL, document->size, latin1};
    return b->texts.size >= BATCH_BYTES ? hand_over(t, clv_threads(t->options.threads) > 1) : CLV_OK;
}

/* --- which terms --- */

typedef struct ranked {
    uint64_t begins; /* its first bytes as a number: in the order of the texts, as far as they tell */
    const char *text;
    int64_t times;
    int32_t term, documents;
} ranked;

static uint64_t first_bytes(const char *text) {
    uint64_t number = 0;
    for (int at = 0, ended = 0; at < 8; at++) {
        ended = ended || !text[at];
        number = number << 8 | (ended ? 0 : (uint8_t)text[at]);
    }
    return number;
}

static int by_text(const void *a, const void *b) {
    const ranked *x = a;
    const ranked *y = b;
    return x->begins < y->begins ? -1 : x->begins > y->begins ? 1 : strcmp(x->text, y->text);
}

static int by_times(const void *a, const void *b) {
    const ranked *x = a;
    const ranked *y = b;
    return x->times > y->times ? -1 : x->times < y->times ? 1 : by_text(a, b);
}

/* Documents and occurrences of every term. */
static ranked *rank_terms(const clv_tfidf *t) {
    ranked *all = CLV_NEW0(t->ctx, ranked, t->terms.count);
    for (int32_t i = 0; all && i < t->terms.count; i++) {
        all[i].text = t->terms.bytes + t->terms.start[i];
        all[i].begins = first_bytes(all[i].text);
        all[i].term = i;
    }
    for (int64_t e = 0; all && e < t->entries_count; e++) {
        all[t->entries[e].term].documents++;
        all[t->entries[e].term].times += t->entries[e].times;
    }
    return all;
}

/* The terms kept move to the front, sorted. */
static clv_status choose_terms(const clv_tfidf *t, ranked *all, int64_t *count) {
    double n = (double)t->info.documents;
    double least = t->options.min_df < 1 ? t->options.min_df * n : t->options.min_df;
    double most = t->options.max_df <= 1 ? t->options.max_df * n : t->options.max_df;
    int64_t kept = 0;
    bool sorted = true;
    *count = t->terms.count;
    if (t->given) {
        return CLV_OK;
    }
    for (int32_t i = 0; i < t->terms.count; i++) {
        if ((double)all[i].documents >= least && (double)all[i].documents <= most) {
            all[kept++] = all[i];
        }
    }
    if (t->options.max_features > 0 && kept > t->options.max_features) {
        sorted = clv_sort(t->ctx, all, kept, sizeof *all, by_times);
        kept = t->options.max_features;
    }
    *count = kept;
    sorted = sorted && clv_sort(t->ctx, all, kept, sizeof *all, by_text);
    return sorted ? CLV_OK : clv_stop_failure(t->ctx, "choosing terms");
}

static clv_status no_terms(const clv_tfidf *t) {
    if (t->info.documents == 0) {
        return clv_fail(t->ctx, CLV_EDATA, "there are no documents");
    }
    if (t->given) {
        return clv_fail(t->ctx, CLV_EDATA, "none of the %lld documents has one of the %d terms that are known",
                        (long long)t->info.documents, t->terms.count);
    }
    if (t->terms.count == 0) {
        return clv_fail(t->ctx, CLV_EDATA,
                        "the vocabulary is empty: none of the %lld documents has a word of two or more characters%s",
                        (long long)t->info.documents, t->stop.count ? " that is not a stop word" : "");
    }
    return clv_fail(t->ctx, CLV_EDATA,
                    "the vocabulary is empty: none of the %d terms of %lld documents lies between min-df %g and "
                    "max-df %g",
                    t->terms.count, (long long)t->info.documents, t->options.min_df, t->options.max_df);
}

/* --- the matrix --- */

typedef struct builder {
    clv_kept kept;
    const clv_tfidf *t;
    const ranked *chosen; /* the terms that are columns */
    int64_t count;
    int32_t *column;       /* of a term, or -1 */
    int64_t *column_start; /* count + 1 */
    int32_t *row;          /* of the entries by column, */
    int32_t *times;        /* and how often */
    int64_t *next;         /* of a row */
} builder;

/* At most: the entries by column, the matrix, and arrays over terms (their names and idf too) and documents. */
static size_t matrix_bytes(const clv_tfidf *t, int64_t columns) {
    size_t entries = (size_t)t->entries_count, rows = (size_t)t->info.documents + 1;
    return entries * (2 * sizeof(int32_t) + sizeof(double) + sizeof(int32_t)) + 2 * rows * sizeof(int64_t) +
           (size_t)t->terms.count * sizeof(int32_t) +
           (size_t)(columns + 1) * (sizeof(int64_t) + sizeof(char *) + sizeof(double));
}

static clv_status reserve(builder *b) {
    b->column = CLV_TAKE(&b->kept, int32_t, b->t->terms.count);
    b->column_start = CLV_TAKE0(&b->kept, int64_t, b->count + 1);
    b->row = CLV_TAKE(&b->kept, int32_t, b->t->entries_count);
    b->times = CLV_TAKE(&b->kept, int32_t, b->t->entries_count);
    b->next = CLV_TAKE0(&b->kept, int64_t, b->t->info.documents + 1);
    return b->kept.status;
}

/* Whether to end at item i of a pass over documents or columns. */
static bool is_late(const clv_tfidf *t, int64_t i) {
    enum { ITEMS_A_POLL = 1 << 10 };
    return i % ITEMS_A_POLL == 0 && clv_worked(t->ctx, i > 0 ? 64 * ITEMS_A_POLL : 0);
}

/* The entries of terms that are kept, by column; rows ascend in each. next[d + 1] counts those of row d. */
static clv_status sort_by_column(builder *b) {
    const clv_tfidf *t = b->t;
    memset(b->column, 0xff, (size_t)t->terms.count * sizeof *b->column);
    for (int64_t c = 0; c < b->count; c++) {
        b->column[b->chosen[c].term] = (int32_t)c;
        b->column_start[c + 1] = b->column_start[c] + b->chosen[c].documents;
    }
    for (int64_t d = 0, e = 0; d < t->info.documents; d++) {
        if (is_late(t, d)) {
            return CLV_EINTERRUPTED;
        }
        for (; e < t->ends[d]; e++) {
            int32_t c = b->column[t->entries[e].term];
            if (c >= 0) {
                int64_t at = b->column_start[c]++;
                b->row[at] = (int32_t)d;
                b->times[at] = t->entries[e].times;
                b->next[d + 1]++;
            }
        }
    }
    memmove(b->column_start + 1, b->column_start, (size_t)b->count * sizeof *b->column_start);
    b->column_start[0] = 0;
    return CLV_OK;
}

/* The same entries by row; columns ascend, as they are gone through in order. */
static clv_status fill_rows(builder *b, clv_data *out) {
    double *values = out->values;
    for (int64_t d = 0; d < out->matrix.rows; d++) {
        b->next[d + 1] += b->next[d];
    }
    memcpy(out->start, b->next, (size_t)(out->matrix.rows + 1) * sizeof *out->start);
    for (int64_t c = 0; c < b->count; c++) {
        double idf = b->t->idf[c];
        if (is_late(b->t, c)) {
            return CLV_EINTERRUPTED;
        }
        for (int64_t e = b->column_start[c]; e < b->column_start[c + 1]; e++) {
            int64_t at = b->next[b->row[e]]++;
            out->index[at] = (int32_t)c;
            values[at] = b->times[e] * idf;
        }
    }
    return CLV_OK;
}

static void make_unit_rows(clv_data *data, int threads) {
    const int64_t *start = data->start;
    double *values = data->values;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static) if (start[data->matrix.rows] > WORTH_THREADS)
    for (int64_t d = 0; d < data->matrix.rows; d++) {
        double sum = 0;
        for (int64_t e = start[d]; e < start[d + 1]; e++) {
            sum += values[e] * values[e];
        }
        double length = sqrt(sum);
        for (int64_t e = start[d]; e < start[d + 1]; e++) {
            values[e] /= length;
        }
    }
}

static clv_status build(clv_tfidf *t, const ranked *chosen, int64_t count, clv_data **out) {
    builder b = {.kept.ctx = t->ctx, .t = t, .chosen = chosen, .count = count};
    clv_status status = reserve(&b);
    if (status == CLV_OK) {
        status = sort_by_column(&b);
    }
    if (status == CLV_OK) {
        status = clv_data_new_csr(t->ctx, "tf-idf", t->info.documents, count, b.column_start[count], out);
    }
    if (status == CLV_OK) {
        status = fill_rows(&b, *out);
    }
    if (status == CLV_OK) {
        make_unit_rows(*out, clv_threads(t->options.threads));
        for (int64_t d = 0; d < t->info.documents; d++) {
            t->info.empty += (*out)->start[d + 1] == (*out)->start[d];
        }
    }
    clv_free_kept(&b.kept);
    return clv_data_made(status, out);
}

static clv_status name_terms(clv_tfidf *t, const ranked *kept, int64_t count) {
    double n = (double)t->info.documents;
    t->names = CLV_NEW(t->ctx, const char *, count);
    t->idf = t->given ? t->idf : CLV_NEW(t->ctx, double, count);
    CLV_TRY(t->names && t->idf ? CLV_OK : CLV_ENOMEM);
    for (int64_t c = 0; c < count; c++) {
        t->names[c] = kept[c].text;
        t->idf[c] = t->given ? t->idf[c] : log((1 + n) / (1 + (double)kept[c].documents)) + 1;
    }
    t->info.terms = count;
    return CLV_OK;
}

clv_status clv_tfidf_finish(clv_tfidf *t, clv_data **out) {
    *out = NULL;
    CLV_TRY(hand_over(t, false));
    discard_counts(t);
    t->info.seen = t->terms.count;
    if (t->info.documents > INT32_MAX) {
        return clv_fail(t->ctx, CLV_EDATA, "%lld documents are more than the %d that are allowed",
                        (long long)t->info.documents, INT32_MAX);
    }
    CLV_TRY(tell(t, check_budget(t, (size_t)t->terms.count * sizeof(ranked))));
    ranked *all = rank_terms(t);
    if (!all) {
        return CLV_ENOMEM;
    }
    int64_t kept;
    clv_status status = choose_terms(t, all, &kept);
    if (status == CLV_OK) {
        bool some = t->given ? t->entries_count > 0 : kept > 0;
        status = some ? tell(t, check_budget(t, matrix_bytes(t, kept))) : no_terms(t);
    }
    if (status == CLV_OK) {
        status = name_terms(t, all, kept);
    }
    if (status == CLV_OK) {
        status = tell(t, build(t, all, kept, out));
    }
    clv_free(t->ctx, all);
    discard_entries(t);
    return status;
}

const char *const *clv_tfidf_terms(const clv_tfidf *t, int64_t *count) {
    *count = t->info.terms;
    return t->names;
}

const double *clv_tfidf_idf(const clv_tfidf *t) {
    return t->idf;
}

void clv_tfidf_describe(const clv_tfidf *t, clv_tfidf_info *out) {
    *out = t->info;
}
