/* What is kept of documents that became points, in one file.
 *
 * Layout: the magic with the version of the layout, eight numbers of 8 bytes (the sizes below, and how many words a
 * term has), the fingerprints of the points and of the tf-idf, the axes, what they are off, where the terms of each
 * document begin, these terms, then texts, each ended by NUL: the stop words, the terms, the ids. At the end the CRC-32
 * of all before it. Numbers are in the byte order of the machines that cleave runs on, little-endian. The idf of a term
 * follows from the documents that have it. */
#include "io/text_model.h"
#include "io/input.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

static const char magic[8] = "CLVTEXT1";

enum { DOCUMENTS, TERMS, DIMS, NONZEROS, TEXT, WITH_IDS, LOW, HIGH, SIZES };
enum { PRINTS = 2, HEAD = sizeof magic + (SIZES + PRINTS) * sizeof(int64_t), CHECK = sizeof(uint32_t) };

/* The public part first: that is what a program is given. */
typedef struct kept_model {
    clv_text_model model;
    clv_context *ctx;
    double *axes, *offset, *idf;
    int64_t *start;
    int32_t *index;
    char *texts;
    const char **names; /* the terms, then the ids */
    char ngrams[4];
} kept_model;

void clv_text_model_free(clv_text_model *model) {
    kept_model *k = (kept_model *)model;
    if (k) {
        CLV_FREE_ALL(k->ctx, k->axes, k->offset, k->idf, k->start, k->index, k->texts, k->names, k);
    }
}

/* --- writing --- */

typedef struct sink {
    clv_writer *writer;
    uint32_t check;
} sink;

static void put(sink *s, const void *bytes, size_t size) {
    clv_writer_put(s->writer, bytes, size);
    s->check = (uint32_t)crc32_z(s->check, bytes, size);
}

static int64_t texts_size(const char *const *texts, int64_t count) {
    int64_t size = 0;
    for (int64_t i = 0; texts && i < count; i++) {
        size += (int64_t)strlen(texts[i]) + 1;
    }
    return size;
}

static void put_texts(sink *s, const char *const *texts, int64_t count) {
    for (int64_t i = 0; texts && i < count; i++) {
        put(s, texts[i], strlen(texts[i]) + 1);
    }
}

static void put_model(sink *s, const clv_text_model *m) {
    int64_t documents = m->occurrences.rows, terms = m->occurrences.cols, dims = m->axes.rows;
    const int64_t *start = m->occurrences.start;
    const int64_t sizes[SIZES] = {[DOCUMENTS] = documents,
                                  [TERMS] = terms,
                                  [DIMS] = dims,
                                  [NONZEROS] = start[documents],
                                  [TEXT] = texts_size(&m->stop_list, 1) + texts_size(m->terms, terms) +
                                           texts_size(m->ids, documents),
                                  [WITH_IDS] = m->ids != NULL,
                                  [LOW] = m->ngrams[0] - '0',
                                  [HIGH] = m->ngrams[strlen(m->ngrams) - 1] - '0'};
    put(s, magic, sizeof magic);
    put(s, sizes, sizeof sizes);
    put(s, (const uint64_t[PRINTS]){m->points, m->tfidf}, PRINTS * sizeof(uint64_t));
    put(s, m->axes.values, (size_t)(dims * terms) * sizeof(double));
    put(s, m->offset, (size_t)dims * sizeof(double));
    put(s, start, (size_t)(documents + 1) * sizeof *start);
    put(s, m->occurrences.index, (size_t)start[documents] * sizeof *m->occurrences.index);
    put_texts(s, &m->stop_list, 1);
    put_texts(s, m->terms, terms);
    put_texts(s, m->ids, documents);
}

clv_status clv_text_model_write(clv_context *ctx, const char *path, const clv_text_model *model) {
    CLV_NEED(ctx, path);
    CLV_NEED(ctx, model);
    CLV_NEED(ctx, model->terms);
    sink s = {0};
    CLV_TRY(clv_writer_open(ctx, path, &s.writer));
    put_model(&s, model);
    uint32_t check = s.check;
    clv_writer_put(s.writer, &check, sizeof check);
    return clv_writer_finish(s.writer, clv_writer_status(s.writer));
}

/* --- reading --- */

static clv_status damaged(clv_context *ctx, const char *name, const char *what) {
    return clv_fail(ctx, CLV_EDATA, "%s is damaged: %s; make it again by cleave text --model", name, what);
}

/* The next block of numbers, in memory of its own. */
static void *take(clv_context *ctx, const uint8_t **at, int64_t count, size_t size) {
    void *block = clv_alloc(ctx, count, size);
    if (block && count > 0) {
        memcpy(block, *at, (size_t)count * size);
    }
    *at += (size_t)count * size;
    return block;
}

/* The sizes, which must be those of the bytes that are there. */
static clv_status read_sizes(clv_context *ctx, clv_bytes bytes, int64_t sizes[SIZES]) {
    if (bytes.size < sizeof magic || memcmp(bytes.data, magic, sizeof magic - 1) != 0) {
        return clv_fail(ctx, CLV_EDATA, "%s is no model of documents: those are made by cleave text --model",
                        bytes.name);
    }
    if (bytes.data[sizeof magic - 1] != (uint8_t)magic[sizeof magic - 1]) {
        return clv_fail(ctx, CLV_EDATA,
                        "%s was kept by another version of cleave: make it again by cleave text --model", bytes.name);
    }
    if (bytes.size < HEAD) {
        return damaged(ctx, bytes.name, "it is cut off");
    }
    memcpy(sizes, bytes.data + sizeof magic, SIZES * sizeof *sizes);
    double wanted = HEAD;
    const double each[SIZES] = {[NONZEROS] = sizeof(int32_t), [TEXT] = 1};
    for (int i = 0; i < SIZES; i++) {
        if (sizes[i] < (i == WITH_IDS || i == NONZEROS ? 0 : 1) || sizes[i] > INT64_MAX / 64) {
            return damaged(ctx, bytes.name, "its sizes make no sense");
        }
        wanted += each[i] * (double)sizes[i];
    }
    wanted += sizeof(double) * ((double)sizes[DIMS] * ((double)sizes[TERMS] + 1) + (double)sizes[DOCUMENTS] + 1);
    bool small = sizes[TERMS] <= INT32_MAX && sizes[DOCUMENTS] <= INT32_MAX;
    if (!small || sizes[LOW] > sizes[HIGH] || sizes[HIGH] > 9 || wanted != (double)bytes.size) {
        return damaged(ctx, bytes.name, "its sizes are not those of what is there");
    }
    return CLV_OK;
}

static clv_status check_occurrences(const kept_model *k, const char *name, int64_t nonzeros) {
    const clv_matrix *m = &k->model.occurrences;
    bool good = m->start[0] == 0 && m->start[m->rows] == nonzeros;
    for (int64_t d = 0; good && d < m->rows; d++) {
        good = m->start[d] <= m->start[d + 1];
    }
    for (int64_t d = 0; good && d < m->rows; d++) {
        for (int64_t e = m->start[d]; good && e < m->start[d + 1]; e++) {
            good = m->index[e] >= 0 && m->index[e] < m->cols && (e == m->start[d] || m->index[e] > m->index[e - 1]);
        }
    }
    return good ? CLV_OK : damaged(k->ctx, name, "its documents have terms that are not there");
}

static clv_status check_axes(const kept_model *k, const char *name) {
    const clv_matrix *m = &k->model.axes;
    bool good = true;
    for (int64_t at = 0; good && at < m->rows * m->cols; at++) {
        good = isfinite(k->axes[at]);
    }
    for (int64_t c = 0; good && c < m->rows; c++) {
        good = isfinite(k->offset[c]);
    }
    return good ? CLV_OK : damaged(k->ctx, name, "its axes are no numbers");
}

/* The texts, by their ends. */
static clv_status find_texts(kept_model *k, const char *name, int64_t size, int64_t count) {
    const char *at = k->texts, *end = k->texts + size;
    k->names = CLV_NEW(k->ctx, const char *, count);
    CLV_TRY(k->names ? CLV_OK : CLV_ENOMEM);
    for (int64_t i = 0; i <= count; i++) {
        const char *stop = memchr(at, '\0', (size_t)(end - at));
        if (!stop) {
            return damaged(k->ctx, name, "it lacks texts");
        }
        *(i == 0 ? &k->model.stop_list : &k->names[i - 1]) = at;
        at = stop + 1;
    }
    return at == end ? CLV_OK : damaged(k->ctx, name, "it has texts to spare");
}

static clv_status find_idf(kept_model *k) {
    const clv_matrix *m = &k->model.occurrences;
    k->idf = CLV_NEW0(k->ctx, double, m->cols);
    CLV_TRY(k->idf ? CLV_OK : CLV_ENOMEM);
    for (int64_t e = 0; e < m->start[m->rows]; e++) {
        k->idf[m->index[e]]++;
    }
    for (int64_t t = 0; t < m->cols; t++) {
        k->idf[t] = log((1 + (double)m->rows) / (1 + k->idf[t])) + 1;
    }
    return CLV_OK;
}

static clv_status fill(kept_model *k, clv_bytes bytes, const int64_t sizes[SIZES]) {
    const uint8_t *at = bytes.data + HEAD;
    uint64_t prints[PRINTS];
    int64_t documents = sizes[DOCUMENTS], terms = sizes[TERMS], dims = sizes[DIMS];
    k->axes = take(k->ctx, &at, dims * terms, sizeof *k->axes);
    k->offset = take(k->ctx, &at, dims, sizeof *k->offset);
    k->start = take(k->ctx, &at, documents + 1, sizeof *k->start);
    k->index = take(k->ctx, &at, sizes[NONZEROS], sizeof *k->index);
    k->texts = take(k->ctx, &at, sizes[TEXT], 1);
    CLV_TRY(k->axes && k->offset && k->start && k->index && k->texts ? CLV_OK : CLV_ENOMEM);
    k->model.axes = (clv_matrix){.rows = dims, .cols = terms, .values = k->axes};
    k->model.occurrences = (clv_matrix){.rows = documents, .cols = terms, .start = k->start, .index = k->index};
    CLV_TRY(check_occurrences(k, bytes.name, sizes[NONZEROS]));
    CLV_TRY(check_axes(k, bytes.name));
    CLV_TRY(find_texts(k, bytes.name, sizes[TEXT], terms + (sizes[WITH_IDS] ? documents : 0)));
    CLV_TRY(find_idf(k));
    k->ngrams[0] = (char)('0' + sizes[LOW]);
    k->ngrams[1] = sizes[HIGH] > sizes[LOW] ? '-' : '\0';
    k->ngrams[2] = (char)('0' + sizes[HIGH]);
    memcpy(prints, bytes.data + HEAD - sizeof prints, sizeof prints);
    k->model.points = prints[0];
    k->model.tfidf = prints[1];
    k->model.terms = k->names;
    k->model.ids = sizes[WITH_IDS] ? k->names + terms : NULL;
    k->model.offset = k->offset;
    k->model.idf = k->idf;
    k->model.ngrams = k->ngrams;
    return CLV_OK;
}

clv_status clv_text_model_parse(clv_context *ctx, clv_bytes bytes, clv_text_model **out) {
    int64_t sizes[SIZES];
    *out = NULL;
    CLV_TRY(read_sizes(ctx, bytes, sizes));
    kept_model *k = CLV_NEW0(ctx, kept_model, 1);
    CLV_TRY(k ? CLV_OK : CLV_ENOMEM);
    k->ctx = ctx;
    clv_status status = fill(k, bytes, sizes);
    if (status < 0) {
        clv_text_model_free(&k->model);
        return status;
    }
    *out = &k->model;
    return CLV_OK;
}

/* What is no model, or one of another version, is said to be that before it is said to be damaged. */
static clv_status parse_checked(clv_context *ctx, clv_bytes bytes, clv_text_model **out) {
    uint32_t check;
    bool ours = bytes.size > CHECK + sizeof magic && memcmp(bytes.data, magic, sizeof magic) == 0;
    if (!ours) {
        return clv_text_model_parse(ctx, bytes, out);
    }
    bytes.size -= CHECK;
    memcpy(&check, bytes.data + bytes.size, sizeof check);
    if ((uint32_t)crc32_z(0, bytes.data, bytes.size) != check) {
        return damaged(ctx, bytes.name, "its check sum is wrong, or it is cut off");
    }
    return clv_text_model_parse(ctx, bytes, out);
}

clv_status clv_text_model_read(clv_context *ctx, const char *path, clv_text_model **out) {
    *out = NULL;
    CLV_NEED(ctx, path);
    clv_source in;
    clv_bytes bytes;
    CLV_TRY(clv_input_read(ctx, path, &in, &bytes));
    clv_status status = parse_checked(ctx, bytes, out);
    return clv_input_end(&in, status);
}
