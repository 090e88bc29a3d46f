/* Labels: classes numbered in ascending order of their texts or numbers. O(n log n) time, O(n) memory. */
#include "io/io.h"

#include <stdlib.h>
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

static int compare_fields(const void *a, const void *b) {
    return clv_field_compare(a, b);
}

/* Labels of n items of `size` bytes by their rank among the distinct ones. */
static clv_status code(clv_context *ctx, const void *items, int64_t n, size_t size,
                       int (*compare)(const void *, const void *), int32_t *labels) {
    char *distinct = clv_alloc(ctx, n, size);
    if (!distinct) {
        return CLV_ENOMEM;
    }
    size_t kept = 0;
    if (n > 0) {
        memcpy(distinct, items, (size_t)n * size);
        qsort(distinct, (size_t)n, size, compare);
        for (size_t i = 1; i < (size_t)n; i++) {
            if (compare(distinct + kept * size, distinct + i * size) != 0) {
                kept++;
                memmove(distinct + kept * size, distinct + i * size, size);
            }
        }
        kept++;
    }
    if (kept > INT32_MAX) {
        clv_free(ctx, distinct);
        return clv_fail(ctx, CLV_EDATA, "there are %zu classes, more than labels can count", kept);
    }
    for (int64_t i = 0; i < n; i++) {
        const char *found = bsearch((const char *)items + (size_t)i * size, distinct, kept, size, compare);
        labels[i] = (int32_t)((size_t)(found - distinct) / size);
    }
    clv_free(ctx, distinct);
    return CLV_OK;
}

clv_status clv_code_texts(clv_context *ctx, const clv_token *fields, int64_t n, int32_t *labels) {
    return code(ctx, fields, n, sizeof *fields, compare_fields, labels);
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

clv_status clv_code_numbers(clv_context *ctx, const double *values, int64_t n, int32_t *labels) {
    return code(ctx, values, n, sizeof *values, clv_ascending, labels);
}

clv_status clv_find_repeated(clv_context *ctx, const clv_token *fields, int64_t n, int64_t *row) {
    *row = -1;
    clv_token *sorted = CLV_NEW(ctx, clv_token, n);
    if (!sorted) {
        return CLV_ENOMEM;
    }
    if (n > 1) {
        memcpy(sorted, fields, (size_t)n * sizeof *fields);
        qsort(sorted, (size_t)n, sizeof *sorted, compare_fields);
    }
    for (int64_t i = 1; i < n && *row < 0; i++) {
        if (clv_field_compare(&sorted[i - 1], &sorted[i]) == 0) {
            for (*row = 0; clv_field_compare(&fields[*row], &sorted[i]) != 0;) {
                (*row)++;
            }
        }
    }
    clv_free(ctx, sorted);
    return CLV_OK;
}
