/* Words: what is one, its lower case, and which bytes are UTF-8. */
#include "io_support.h"

#include "features/text/text.h"

static uint8_t room[1 << 12];

/* The words of a text, with a bar after each. */
static const char *words_of(const char *text, bool latin1) {
    static char out[1 << 12];
    clv_words words = {(const uint8_t *)text, (const uint8_t *)text + strlen(text), latin1, room};
    clv_word word;
    size_t used = 0;
    out[0] = '\0';
    while (clv_next_word(&words, &word)) {
        memcpy(out + used, word.bytes, word.size);
        used += word.size;
        out[used++] = '|';
        out[used] = '\0';
    }
    return out;
}

static void test_ascii(void **state) {
    (void)state;
    assert_string_equal(words_of("", false), "");
    assert_string_equal(words_of("a b c", false), "");
    assert_string_equal(words_of("The cat's 3 hats, 42_x!\nEND", false), "the|cat|hats|42_x|end|");
    assert_string_equal(words_of("e-mail a.b.c _a", false), "mail|_a|");
    for (int c = 1; c < 128; c++) {
        char text[3] = {(char)c, (char)c, '\0'};
        bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        assert_int_equal(strlen(words_of(text, false)), word ? 3 : 0);
    }
}

static void test_other_scripts(void **state) {
    (void)state;
    assert_string_equal(words_of("\u00dcber STRA\u00dfE \u00c4\u00d6", false), "\u00fcber|stra\u00dfe|\u00e4\u00f6|");
    assert_string_equal(words_of("\u041c\u043e\u0441\u041a\u0412\u0410 \u0418", false),
                        "\u043c\u043e\u0441\u043a\u0432\u0430|");
    assert_string_equal(words_of("\u65e5\u672c\u8a9e\u3002\u5b57", false), "\u65e5\u672c\u8a9e|");
    /* A combining mark is no letter; a small letter may be longer than the capital. */
    assert_string_equal(words_of("ab\u0301cd \u023a\u023a", false), "ab|cd|\u2c65\u2c65|");
    /* Sigma by its place; a dotted capital I is an i and a mark. */
    assert_string_equal(words_of("\u039f\u03a3 \u03a3\u039f\u03a3\u039f \u03a3", false),
                        "\u03bf\u03c2|\u03c3\u03bf\u03c3\u03bf|");
    assert_string_equal(words_of("B\u0130LGI", false), "bi|lgi|");
    assert_string_equal(words_of("\U00010400\U00010401", false), "\U00010428\U00010429|");
}

static void test_latin1(void **state) {
    (void)state;
    assert_string_equal(words_of("caf\xe9 \xc9T\xc9 \xd7\xd7", true), "caf\u00e9|\u00e9t\u00e9|");
}

static void test_tables(void **state) {
    (void)state;
    for (int64_t i = 0; i < clv_letter_range_count; i++) {
        assert_true(clv_letter_ranges[i].first <= clv_letter_ranges[i].last);
        assert_true(i == 0 || clv_letter_ranges[i - 1].last < clv_letter_ranges[i].first);
    }
    for (int64_t i = 0; i < clv_lower_range_count; i++) {
        assert_true(clv_lower_ranges[i].first <= clv_lower_ranges[i].last && clv_lower_ranges[i].step > 0);
        assert_true(i == 0 || clv_lower_ranges[i - 1].last < clv_lower_ranges[i].first);
    }
}

/* By the definition: the character is decoded, and must be the one that its shortest form stands for. */
static bool is_utf8(const uint8_t *b, size_t size) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    for (size_t at = 0; at < size;) {
        size_t length = b[at] < 0x80 ? 1 : (b[at] & 0xe0) == 0xc0 ? 2 : (b[at] & 0xf0) == 0xe0 ? 3 : 4;
        if ((length == 4 && (b[at] & 0xf8) != 0xf0) || at + length > size) {
            return false;
        }
        uint32_t code = length == 1 ? b[at] : b[at] & (0x7fu >> length);
        for (size_t i = 1; i < length; i++) {
            if ((b[at + i] & 0xc0) != 0x80) {
                return false;
            }
            code = code << 6 | (b[at + i] & 0x3f);
        }
        if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
            return false;
        }
        at += length;
    }
    return true;
}

static void test_validity(void **state) {
    (void)state;
    clv_rng rng = clv_rng_stream(3, 0);
    static const uint8_t edges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf,
                                    0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    enum { EDGES = sizeof edges };
    for (int64_t code = 0; code < EDGES * EDGES * EDGES * EDGES; code++) {
        uint8_t four[4] = {edges[code % EDGES], edges[code / EDGES % EDGES], edges[code / EDGES / EDGES % EDGES],
                           edges[code / EDGES / EDGES / EDGES]};
        size_t size = (size_t)(code % 4) + 1;
        assert_true((clv_utf8_valid((const char *)four, size) == size) == is_utf8(four, size));
    }
    for (int trial = 0; trial < 2000; trial++) { /* longer ones: where it stops is the first place that is wrong */
        uint8_t text[40];
        for (size_t i = 0; i < sizeof text; i++) {
            text[i] = clv_rng_below(&rng, 30) == 0 ? edges[clv_rng_below(&rng, EDGES)] : 'x';
        }
        size_t valid = clv_utf8_valid((const char *)text, sizeof text);
        assert_true(is_utf8(text, valid));
        for (size_t more = 1; more <= 4 && valid + more <= sizeof text; more++) {
            assert_false(is_utf8(text, valid + more));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii),  cmocka_unit_test(test_other_scripts), cmocka_unit_test(test_latin1),
        cmocka_unit_test(test_tables), cmocka_unit_test(test_validity),
    };
    (void)open_context;
    (void)close_context;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
