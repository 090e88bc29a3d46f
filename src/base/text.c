/* Text that grows. */
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool reserve(clv_text *text, size_t more) {
    if (text->status < 0) {
        return false;
    }
    size_t needed = text->size + more + 1;
    if (needed <= text->capacity) {
        return true;
    }
    size_t capacity = needed + needed / 2 + 256;
    char *grown = clv_resize(text->ctx, text->data, (int64_t)capacity, 1);
    if (!grown) {
        text->status = CLV_ENOMEM;
        return false;
    }
    text->data = grown;
    text->capacity = capacity;
    return true;
}

void clv_text_append(clv_text *text, const char *bytes, size_t size) {
    if (reserve(text, size)) {
        memcpy(text->data + text->size, bytes, size);
        text->size += size;
        text->data[text->size] = '\0';
    }
}

void clv_text_add(clv_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (size < 0 || !reserve(text, (size_t)size)) {
        return;
    }
    va_start(args, format);
    vsnprintf(text->data + text->size, (size_t)size + 1, format, args);
    va_end(args);
    text->size += (size_t)size;
}
