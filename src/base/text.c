/* Text that grows, and numbers in text that do not depend on the locale. */
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

locale_t clv_point_begin(void) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain ? uselocale(plain) : (locale_t)0;
}

void clv_point_end(locale_t before) {
    if (before) {
        freelocale(uselocale(before));
    }
}

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
    va_list args, again;
    locale_t before = clv_point_begin();
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    if (size < 0 && text->status == CLV_OK) {
        text->status = clv_fail(text->ctx, CLV_EINTERNAL, "the format '%s' cannot be printed", format);
    }
    if (size >= 0 && reserve(text, (size_t)size)) {
        vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
    va_end(args);
    clv_point_end(before);
}
