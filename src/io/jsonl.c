/* JSON lines, a document each, in pieces of any size: only the line at hand is held. Compressed ones are inflated on
 * the way, several gzip members one after the other included. */
#include "io/corpus.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { INFLATED = 1 << 18, LONGEST_LINE = 1 << 28, PLACE = 512, LINE_COPIES = 3 };

/* --- a line --- */

static clv_status refuse(const clv_jsonl *j, const char *what) {
    return clv_fail(j->to->ctx, CLV_EDATA, "%s, line %lld: %s", j->name, (long long)j->line, what);
}

/* NUL would end a name early, and two labels could become one. */
static bool has_nul(const json_t *string) {
    return strlen(json_string_value(string)) < json_string_length(string);
}

/* What a line calls its document: a string or an integer, else the number of the line. */
static const char *id_of(const clv_jsonl *j, const json_t *object, char number[32]) {
    const json_t *id = json_object_get(object, "id");
    if (json_is_string(id) && json_string_length(id) > 0 && !has_nul(id)) {
        return json_string_value(id);
    }
    snprintf(number, 32, "%lld", json_is_integer(id) ? (long long)json_integer_value(id) : (long long)j->line);
    return number;
}

static clv_status put_object(const clv_jsonl *j, const json_t *object, size_t not_utf8) {
    const json_t *text = json_object_get(object, "text");
    const json_t *label = json_object_get(object, "label");
    char place[PLACE], number[32], id[32];
    snprintf(place, sizeof place, "%s, line %lld", j->name, (long long)j->line);
    clv_document document = {.text = json_string_value(text),
                             .size = json_string_length(text),
                             .place = place,
                             .decoded = 1,
                             .not_utf8 = not_utf8};
    if (!json_is_object(object) || !json_is_string(text)) {
        return refuse(j, "a document must be an object with a string \"text\"");
    }
    document.id = id_of(j, object, id);
    if (json_is_integer(label)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(label));
        document.label = number;
    } else if (json_is_string(label) && has_nul(label)) {
        return refuse(j, "the \"label\" has a NUL character (\\u0000) in it");
    } else if (json_is_string(label)) {
        document.label = json_string_value(label);
    } else if (label && !json_is_null(label)) {
        return refuse(j, "the \"label\" must be a string or an integer");
    }
    return clv_corpus_put(j->to, &document);
}

static bool is_blank(const char *line, size_t size) {
    while (size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\t' || line[size - 1] == '\r')) {
        size--;
    }
    return size == 0;
}

static clv_status not_json(const clv_jsonl *j, const json_error_t *error) {
    char what[JSON_ERROR_TEXT_LENGTH + 64];
    if (json_error_code(error) == json_error_out_of_memory) {
        return clv_fail(j->to->ctx, CLV_ENOMEM, "out of memory for %s, line %lld", j->name, (long long)j->line);
    }
    snprintf(what, sizeof what, "this is not JSON: column %d: %s", error->column, error->text);
    return refuse(j, what);
}

/* The line as UTF-8, which JSON is: one that is not is taken for Latin-1, escapes in it for what they say. *not_utf8 is
 * the byte, from 1, for which that is so. */
static clv_status decode_line(clv_jsonl *j, const char **line, size_t *size, size_t *not_utf8) {
    size_t valid = clv_utf8_valid(*line, *size);
    *not_utf8 = valid < *size ? valid + 1 : 0;
    if (*not_utf8) {
        j->decoded.size = 0;
        clv_text_append_latin1(&j->decoded, *line, *size);
        CLV_TRY(j->decoded.status);
        *line = j->decoded.data;
        *size = j->decoded.size;
    }
    return CLV_OK;
}

static clv_status take_line(clv_jsonl *j, const char *line, size_t size) {
    static const char mark[] = "\xef\xbb\xbf"; /* of byte order, as some editors write it */
    json_error_t error;
    size_t not_utf8;
    j->line++;
    CLV_TRY(clv_parse_on(j->to->ctx, j->name, (int64_t)size));
    if (j->line == 1 && size >= strlen(mark) && memcmp(line, mark, strlen(mark)) == 0) {
        line += strlen(mark);
        size -= strlen(mark);
    }
    if (is_blank(line, size)) {
        return CLV_OK;
    }
    CLV_TRY(decode_line(j, &line, &size, &not_utf8));
    CLV_TRY(clv_memory_fits(j->to->ctx, LINE_COPIES * (int64_t)size));
    json_t *object = json_loadb(line, size, JSON_ALLOW_NUL, &error);
    if (!object) {
        return not_json(j, &error);
    }
    clv_status status = put_object(j, object, not_utf8);
    json_decref(object);
    return status;
}

/* --- lines out of pieces --- */

static clv_status keep_rest(clv_jsonl *j, const char *text, size_t size) {
    if (j->rest.size + size > LONGEST_LINE) {
        j->line++;
        return refuse(j, "the line has more than 2^28 bytes");
    }
    clv_text_append(&j->rest, text, size);
    return j->rest.status;
}

static clv_status push_text(clv_jsonl *j, const char *text, size_t size) {
    const char *newline;
    while ((newline = memchr(text, '\n', size))) {
        size_t length = (size_t)(newline - text);
        if (j->rest.size > 0) {
            CLV_TRY(keep_rest(j, text, length));
            CLV_TRY(take_line(j, j->rest.data, j->rest.size));
            j->rest.size = 0;
        } else {
            CLV_TRY(take_line(j, text, length));
        }
        text = newline + 1;
        size -= length + 1;
    }
    return keep_rest(j, text, size);
}

/* --- compressed ones --- */

static clv_status begin_inflating(clv_jsonl *j) {
    enum { GZIP = 16 + MAX_WBITS };
    clv_context *ctx = j->to->ctx;
    j->stream = (z_stream){.zalloc = clv_zlib_allocate, .zfree = clv_zlib_release, .opaque = ctx};
    j->inflated = CLV_NEW(ctx, uint8_t, INFLATED);
    if (!j->inflated || inflateInit2(&j->stream, GZIP) != Z_OK) {
        return CLV_ENOMEM;
    }
    j->compressed = true;
    return CLV_OK;
}

static clv_status damaged(const clv_jsonl *j) {
    return clv_fail(j->to->ctx, CLV_EDATA, "%s is damaged: %s, after line %lld", j->name,
                    j->stream.msg ? j->stream.msg : "the compressed data make no sense", (long long)j->line);
}

/* What follows the end of a member is another one, or zeros to fill a block. */
static clv_status next_member(clv_jsonl *j) {
    while (j->stream.avail_in > 0 && *j->stream.next_in == 0) {
        j->stream.next_in++;
        j->stream.avail_in--;
    }
    j->ended = j->stream.avail_in == 0;
    if (!j->ended && inflateReset(&j->stream) != Z_OK) {
        return damaged(j);
    }
    return CLV_OK;
}

static clv_status push_compressed(clv_jsonl *j, const uint8_t *bytes, size_t size) {
    j->stream.next_in = (z_const Bytef *)(uintptr_t)bytes; /* zlib does not write there */
    j->stream.avail_in = (unsigned)size;
    if (j->ended) {
        CLV_TRY(next_member(j));
    }
    bool more = !j->ended; /* of what was inflated, beyond the room for it */
    while (more) {
        j->stream.next_out = j->inflated;
        j->stream.avail_out = INFLATED;
        int state = inflate(&j->stream, Z_NO_FLUSH);
        if (state == Z_MEM_ERROR) {
            return CLV_ENOMEM;
        }
        if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
            return damaged(j);
        }
        CLV_TRY(push_text(j, (const char *)j->inflated, INFLATED - j->stream.avail_out));
        more = j->stream.avail_in > 0 || j->stream.avail_out == 0;
        if (state == Z_STREAM_END) {
            CLV_TRY(next_member(j));
            more = !j->ended;
        }
    }
    return CLV_OK;
}

/* --- pieces --- */

void clv_jsonl_begin(clv_jsonl *j, clv_corpus_builder *to, const char *name) {
    *j = (clv_jsonl){.to = to, .name = name, .rest = {.ctx = to->ctx}, .decoded = {.ctx = to->ctx}};
}

static clv_status push_known(clv_jsonl *j, const uint8_t *bytes, size_t size) {
    enum { PIECE = 1 << 30 };
    while (j->compressed && size > PIECE) { /* zlib counts in unsigned ints */
        CLV_TRY(push_compressed(j, bytes, PIECE));
        bytes += PIECE;
        size -= PIECE;
    }
    return j->compressed ? push_compressed(j, bytes, size) : push_text(j, (const char *)bytes, size);
}

clv_status clv_jsonl_push(clv_jsonl *j, const uint8_t *bytes, size_t size) {
    while (j->seen < 2 && size > 0) {
        j->magic[j->seen++] = *bytes++;
        size--;
        if (j->seen == 2) {
            if (j->magic[0] == 0x1f && j->magic[1] == 0x8b) {
                CLV_TRY(begin_inflating(j));
            }
            CLV_TRY(push_known(j, j->magic, 2));
        }
    }
    return j->seen == 2 && size > 0 ? push_known(j, bytes, size) : CLV_OK;
}

clv_status clv_jsonl_end(clv_jsonl *j) {
    if (j->compressed && !j->ended) {
        return clv_fail(j->to->ctx, CLV_EDATA, "%s is cut off after line %lld", j->name, (long long)j->line);
    }
    if (j->seen == 1) {
        CLV_TRY(push_text(j, (const char *)j->magic, 1));
    }
    if (j->rest.size > 0) {
        CLV_TRY(take_line(j, j->rest.data, j->rest.size));
    }
    return CLV_OK;
}

void clv_jsonl_close(clv_jsonl *j) {
    if (j->stream.state) {
        inflateEnd(&j->stream);
    }
    clv_free(j->to->ctx, j->inflated);
    clv_free(j->to->ctx, j->rest.data);
    clv_free(j->to->ctx, j->decoded.data);
}
