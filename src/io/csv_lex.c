/* Records and fields of CSV after RFC 4180, and of its relatives: any separator, blanks as separator, line ends of all
 * three kinds, blank lines and # comments between records. One pass, no copies: fields point into the bytes. */
#include "io/io.h"

#include <string.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool is_line_end(char c) {
    return c == '\n' || c == '\r';
}

/* Past one line end of any kind. */
static void pass_line_end(clv_csv *csv) {
    if (csv->at < csv->end) {
        bool pair = *csv->at == '\r' && csv->end - csv->at > 1 && csv->at[1] == '\n';
        csv->at += pair ? 2 : 1;
        csv->line++;
    }
}

static void pass_line(clv_csv *csv) {
    while (csv->at < csv->end && !is_line_end(*csv->at)) {
        csv->at++;
    }
    pass_line_end(csv);
}

/* Past blanks that separate nothing. */
static void pass_blanks(clv_csv *csv) {
    while (csv->at < csv->end && is_blank(*csv->at) && *csv->at != csv->separator) {
        csv->at++;
    }
    while (csv->separator == ' ' && csv->at < csv->end && is_blank(*csv->at)) {
        csv->at++;
    }
}

/* The rest of a quoted field; `at` is after the opening quote. False: it is never closed. */
static bool quoted_field(clv_csv *csv, clv_token *field) {
    *field = (clv_token){csv->at, 0, false};
    for (; csv->at < csv->end; csv->at++) {
        char c = *csv->at;
        if (c == '"') {
            if (csv->end - csv->at < 2 || csv->at[1] != '"') {
                field->size = (size_t)(csv->at - field->text);
                csv->at++;
                return true;
            }
            field->doubled = true;
            csv->at++;
        } else if (c == '\n' || (c == '\r' && (csv->end - csv->at < 2 || csv->at[1] != '\n'))) {
            csv->line++;
        }
    }
    return false;
}

static void plain_field(clv_csv *csv, clv_token *field) {
    const char *first = csv->at;
    const char *at = first;
    const char *end = csv->end;
    if (csv->separator == ' ') {
        while (at < end && !is_blank(*at) && !is_line_end(*at)) {
            at++;
        }
    } else {
        while (at < end && *at != csv->separator && !is_line_end(*at)) {
            at++;
        }
    }
    csv->at = at;
    while (at > first && is_blank(at[-1])) {
        at--;
    }
    *field = (clv_token){first, (size_t)(at - first), false};
}

/* What is wrong with a field. */
typedef enum lexed { LEX_FINE, LEX_UNCLOSED, LEX_BEHIND_QUOTE } lexed;

static lexed next_field(clv_csv *csv, clv_token *field, bool *last) {
    pass_blanks(csv);
    bool quoted = csv->at < csv->end && *csv->at == '"';
    if (quoted) {
        csv->at++;
        if (!quoted_field(csv, field)) {
            return LEX_UNCLOSED;
        }
    } else {
        plain_field(csv, field);
    }
    const char *stop = csv->at;
    pass_blanks(csv);
    *last = csv->at == csv->end || is_line_end(*csv->at);
    if (*last) {
        pass_line_end(csv);
    } else if (csv->separator == ' ' && csv->at > stop) {
        return LEX_FINE;
    } else if (*csv->at != csv->separator) {
        return LEX_BEHIND_QUOTE;
    } else {
        csv->at++;
    }
    return LEX_FINE;
}

clv_status clv_csv_field(clv_context *ctx, clv_csv *csv, clv_token *field, bool *last) {
    int64_t opened = csv->line;
    switch (next_field(csv, field, last)) {
    case LEX_UNCLOSED:
        return clv_fail(ctx, CLV_EDATA, "%s line %lld: a quote is opened and never closed", csv->name,
                        (long long)opened);
    case LEX_BEHIND_QUOTE:
        return clv_fail(ctx, CLV_EDATA, "%s line %lld: '%c' after the closing quote of a field", csv->name,
                        (long long)csv->line, *csv->at);
    case LEX_FINE:
        break;
    }
    return CLV_OK;
}

int64_t clv_csv_pass(clv_csv *csv) {
    clv_token field;
    int64_t count = 0;
    for (bool last = false; !last; count++) {
        if (next_field(csv, &field, &last) != LEX_FINE) {
            return 0;
        }
    }
    return count;
}

/* A line that begins with # and is none of the errors of a spreadsheet in its first cell. */
static bool has_hash(const char *at, const char *end) {
    static const char *const errors[] = {"#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"};
    bool hash = *at == '#';
    for (size_t e = 0; hash && e < CLV_COUNT(errors); e++) {
        size_t size = strlen(errors[e]);
        hash = (size_t)(end - at) < size || memcmp(at, errors[e], size) != 0;
    }
    return hash;
}

/* Such a line is a record (#ff0000,1,2) if it has the fields of one. Before the first record a line of "# words, more
 * words" is a comment all the same, and so is any line in a file of one column. */
static bool is_comment(const clv_csv *csv, const char *at) {
    if (!has_hash(at, csv->end)) {
        return false;
    }
    clv_csv ahead = *csv;
    bool words = csv->end - at > 1 && is_blank(at[1]) && (at[1] != csv->separator || csv->separator == ' ');
    bool early = csv->record_line == 0 && (words || csv->fields == 1);
    return csv->fields == 0 || (csv->fields > 0 && (early || clv_csv_pass(&ahead) != csv->fields));
}

bool clv_csv_next(clv_csv *csv) {
    while (csv->at < csv->end) {
        const char *at = csv->at;
        while (at < csv->end && is_blank(*at)) {
            at++;
        }
        bool blank = at == csv->end || is_line_end(*at);
        if (!blank && !is_comment(csv, at)) {
            csv->record_line = csv->line;
            return true;
        }
        csv->comments += !blank;
        csv->at = at;
        pass_line(csv);
    }
    return false;
}

clv_status clv_csv_fields(clv_context *ctx, clv_csv *csv, clv_token **fields, int64_t *count) {
    *fields = NULL;
    *count = 0;
    int64_t room = 0;
    for (bool last = false; !last; (*count)++) {
        if (*count == room) {
            room = 2 * room + 16;
            clv_token *grown = clv_resize(ctx, *fields, room, sizeof **fields);
            if (!grown) {
                return CLV_ENOMEM;
            }
            *fields = grown;
        }
        CLV_TRY(clv_csv_field(ctx, csv, &(*fields)[*count], &last));
    }
    return CLV_OK;
}

/* How often `c` stands outside quotes in the line at `at`. */
static int64_t count_in_line(const char *at, const char *end, char c) {
    int64_t count = 0;
    bool quoted = false;
    for (; at < end && (quoted || !is_line_end(*at)); at++) {
        quoted = quoted != (*at == '"');
        count += !quoted && *at == c;
    }
    return count;
}

/* Whether the line at `at`, split at blanks, has several fields and a number among them. */
static bool has_numbers_between_blanks(const char *at, const char *end) {
    int64_t fields = 0;
    int64_t numbers = 0;
    while (at < end && !is_line_end(*at)) {
        if (is_blank(*at)) {
            at++;
            continue;
        }
        double value;
        const char *number_end = clv_scan_number(at, end, &value);
        while (at < end && !is_blank(*at) && !is_line_end(*at)) {
            at++;
        }
        fields++;
        numbers += number_end == at;
    }
    return fields > 1 && numbers > 0;
}

/* Whether the first two records have `c` equally often, but for a header that is one field shorter. */
static bool separates(const clv_csv *csv, char c) {
    clv_csv ahead = *csv;
    int64_t first = count_in_line(ahead.at, ahead.end, c);
    pass_line(&ahead);
    int64_t second = clv_csv_next(&ahead) ? count_in_line(ahead.at, ahead.end, c) : first;
    return first > 0 && (second == first || second == first + 1);
}

/* What separates the second and the third record alike, below a first one that has none: a title, as will be said. */
static char separator_below(const clv_csv *csv) {
    static const char candidates[] = {';', '\t'};
    clv_csv ahead = *csv;
    pass_line(&ahead);
    bool more = clv_csv_next(&ahead);
    clv_csv third = ahead;
    pass_line(&third);
    more = more && clv_csv_next(&third);
    for (size_t i = 0; i < sizeof candidates && more; i++) {
        int64_t count = count_in_line(ahead.at, ahead.end, candidates[i]);
        if (count > 0 && count == count_in_line(third.at, third.end, candidates[i])) {
            return candidates[i];
        }
    }
    return 0;
}

/* A comma comes last: beside another separator it is a decimal one. */
char clv_csv_guess_separator(const clv_csv *csv) {
    clv_csv ahead = *csv;
    if (!clv_csv_next(&ahead)) {
        return ',';
    }
    static const char candidates[][4] = {{';', '\t', ',', '|'}, {',', '\t', ';', '|'}};
    for (size_t pass = 0; pass < 2; pass++) { /* first those of both records */
        for (size_t i = 0; i < sizeof candidates[pass]; i++) {
            char c = candidates[pass][i];
            if (pass ? count_in_line(ahead.at, ahead.end, c) > 0 : separates(&ahead, c)) {
                return c;
            }
        }
    }
    char below = separator_below(&ahead);
    if (below) {
        return below;
    }
    bool blanks = has_numbers_between_blanks(ahead.at, ahead.end);
    pass_line(&ahead);
    if (!blanks && clv_csv_next(&ahead)) { /* the first line may be a header */
        blanks = has_numbers_between_blanks(ahead.at, ahead.end);
    }
    return blanks ? ' ' : ',';
}

/* --- encodings --- */

/* Where Latin-1 has control characters, Windows-1252 has these; the five bytes that it leaves open stay as they are. */
static const uint16_t windows[32] = {0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021,
                                     0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0x8d,   0x17d,  0x8f,
                                     0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                     0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};

static size_t put_utf8(unsigned code, char to[3]) {
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
    for (size_t i = size - 1; i > 0; i--, code >>= 6) {
        to[i] = (char)(0x80 | (code & 0x3f));
    }
    to[0] = (char)(size == 1 ? code : size == 2 ? 0xc0 | code : 0xe0 | code);
    return size;
}

clv_status clv_csv_decode(clv_bytes *bytes, clv_text *decoded) {
    size_t valid = bytes->size ? clv_utf8_valid((const char *)bytes->data, bytes->size) : 0;
    bool wide =
        bytes->size > 1 && (bytes->data[0] ^ bytes->data[1]) == 1; /* ff fe or fe ff: UTF-16, which is refused */
    if (valid == bytes->size || (wide && valid == 0)) {
        return CLV_OK;
    }
    const char *text = (const char *)bytes->data, *end = text + bytes->size, *asked = text;
    for (const char *at = text; at < end;) {
        const char *first = at;
        char piece[3];
        while (at < end && (uint8_t)*at < 0x80) {
            at++;
        }
        clv_text_append(decoded, first, (size_t)(at - first));
        if (at < end) {
            unsigned code = (uint8_t)*at++;
            clv_text_append(decoded, piece, put_utf8(code < 0xa0 ? windows[code - 0x80] : code, piece));
        }
        CLV_TRY(clv_parse_on_at(decoded->ctx, bytes->name, at, &asked));
    }
    *bytes = (clv_bytes){(const uint8_t *)decoded->data, decoded->size, bytes->name};
    return decoded->status;
}
