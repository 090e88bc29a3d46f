/* Fields of text files: compared, copied and shown as they were meant, and the texts that labels stand for. */
#include "io/io.h"

#include <string.h>

/* The next character of a field from `at` on, as it was meant: "" is one quote. -1 at the end. */
static int field_character(const clv_token *field, size_t *at) {
    if (*at >= field->size) {
        return -1;
    }
    unsigned char c = (unsigned char)field->text[(*at)++];
    *at += field->doubled && c == '"';
    return c;
}

int clv_field_compare(const clv_token *a, const clv_token *b) {
    size_t at_a = 0;
    size_t at_b = 0;
    if (!a->doubled && !b->doubled) {
        size_t shorter = a->size < b->size ? a->size : b->size;
        int order = shorter ? memcmp(a->text, b->text, shorter) : 0;
        return order ? order : (a->size > b->size) - (a->size < b->size);
    }
    for (;;) {
        int from_a = field_character(a, &at_a);
        int from_b = field_character(b, &at_b);
        if (from_a != from_b || from_a < 0) {
            return (from_a > from_b) - (from_a < from_b);
        }
    }
}

bool clv_field_equals(const clv_token *a, const char *text, bool ignore_case) {
    if (!ignore_case && (a->size == 0 || a->text[0] != text[0])) { /* most differ at once */
        return a->size == 0 && text[0] == '\0';
    }
    clv_token other = {text, strlen(text), false};
    if (ignore_case) {
        return a->size == other.size && clv_same_letters(a->text, text, a->size);
    }
    return clv_field_compare(a, &other) == 0;
}

bool clv_field_number(const clv_token *field, double *value) {
    const char *at = field->text;
    const char *end = at + field->size;
    while (at < end && *at == ' ') { /* left only inside quotes */
        at++;
    }
    const char *stop = clv_scan_number(at, end, value);
    while (stop && stop < end && *stop == ' ') {
        stop++;
    }
    return stop && stop == end;
}

char *clv_copy_field(clv_context *ctx, const clv_token *field) {
    char *text = CLV_NEW(ctx, char, (int64_t)field->size + 1);
    size_t at = 0, size = 0;
    for (int c = field_character(field, &at); text && c >= 0; c = field_character(field, &at)) {
        text[size++] = (char)c;
    }
    if (text) {
        text[size] = '\0';
    }
    return text;
}

const char *clv_show_field(char shown[CLV_SHOWN_SIZE], const clv_token *field) {
    char text[CLV_SHOWN_SIZE];
    size_t at = 0, size = 0;
    for (int c = 0; size < sizeof text && (c = field_character(field, &at)) >= 0;) {
        text[size++] = (char)c;
    }
    return clv_show(shown, text, size);
}

clv_status clv_name_classes(clv_context *ctx, const clv_token *fields, const int32_t *labels, int64_t n,
                            clv_classes *out) {
    *out = (clv_classes){0};
    for (int64_t i = 0; i < n; i++) {
        out->count = labels[i] >= out->count ? labels[i] + 1 : out->count;
    }
    out->text = CLV_NEW0(ctx, char *, out->count);
    clv_status status = out->text ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0; status == CLV_OK && i < n; i++) {
        if (labels[i] >= 0 && !out->text[labels[i]]) {
            out->text[labels[i]] = clv_copy_field(ctx, &fields[i]);
            status = out->text[labels[i]] ? CLV_OK : CLV_ENOMEM;
        }
    }
    if (status < 0) {
        clv_free_texts(ctx, out->text, out->count);
        *out = (clv_classes){0};
    }
    return status;
}
