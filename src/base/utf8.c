/* UTF-8: whether bytes are, and Latin-1 made into it. */
#include "base/base.h"

#include <string.h>

size_t clv_utf8_size(const char *text, size_t left) {
    const uint8_t *at = (const uint8_t *)text;
    uint8_t lead = at[0];
    size_t size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (size == 0 || size > left) {
        return 0;
    }
    if (size > 2) {
        uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (at[1] < low || at[1] > high) {
            return 0;
        }
    }
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return size;
}

size_t clv_utf8_valid(const char *text, size_t size) {
    const uint8_t *bytes = (const uint8_t *)text;
    size_t at = 0;
    while (at < size) {
        uint64_t eight;
        if (size - at >= sizeof eight && (memcpy(&eight, bytes + at, sizeof eight), !(eight & 0x8080808080808080u))) {
            at += sizeof eight;
            continue;
        }
        size_t step = clv_utf8_size(text + at, size - at);
        if (step == 0) {
            return at;
        }
        at += step;
    }
    return size;
}

void clv_text_append_latin1(clv_text *text, const char *bytes, size_t size) {
    enum { PIECE = 256 };
    char piece[2 * PIECE];
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)bytes[i];
        if (byte >= 0x80) {
            piece[used++] = (char)(0xc0 | byte >> 6);
            byte = 0x80 | (byte & 0x3f);
        }
        piece[used++] = (char)byte;
        if (used >= 2 * PIECE - 1 || i + 1 == size) {
            clv_text_append(text, piece, used);
            used = 0;
        }
    }
}
