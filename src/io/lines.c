/* Words between blanks, line by line: what Matrix Market and libsvm files are made of. */
#include "io/io.h"

#include <string.h>

clv_lines clv_lines_of(clv_context *ctx, clv_bytes bytes, char comment) {
    const char *text = bytes.size ? (const char *)bytes.data : "";
    return (clv_lines){ctx, bytes.name, text, text + bytes.size, text, 1, comment};
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

void clv_line_blanks(clv_lines *in) {
    while (in->at < in->end && is_blank(*in->at)) {
        in->at++;
    }
}

clv_token clv_line_word(clv_lines *in) {
    clv_line_blanks(in);
    const char *first = in->at;
    while (in->at < in->end && !is_blank(*in->at) && *in->at != '\n' && *in->at != in->comment) {
        in->at++;
    }
    return (clv_token){first, (size_t)(in->at - first), false};
}

void clv_line_next(clv_lines *in) {
    const char *newline = in->at < in->end ? memchr(in->at, '\n', (size_t)(in->end - in->at)) : NULL;
    in->at = newline ? newline + 1 : in->end;
    in->line++;
}

clv_status clv_line_refuse(const clv_lines *in, const clv_token *word, const char *what) {
    char shown[CLV_SHOWN_SIZE];
    return clv_fail(in->ctx, CLV_EDATA, "%s line %lld: '%s' %s", in->name, (long long)in->line,
                    clv_show(shown, word->text, word->size), what);
}
