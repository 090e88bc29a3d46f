/* Words of a text: runs of letters, numbers and underscores of any script, in lower case, two characters or more.
 * These are what \b\w\w+\b of Python's regular expressions finds in text.lower(), but for the final sigma.
 * One pass, a table look-up per byte for ASCII, a bisection for other characters.
 *
 * Two characters change their length or look around. A capital I with a dot becomes i and a combining dot, which ends
 * the word. A capital sigma at the end of a word becomes the final one; Python asks for a cased letter before it, and
 * looks past apostrophes and marks for one after it. */
#include "features/text/text.h"

#include <stdlib.h>

enum { CAPITAL_I_DOTTED = 0x130, CAPITAL_SIGMA = 0x3a3, FINAL_SIGMA = 0x3c2 };

/* --- UTF-8 --- */

/* The character at words->at, which is valid and not ASCII; goes past it. */
static uint32_t take_character(clv_words *words) {
    const uint8_t *at = words->at;
    if (words->latin1) {
        words->at++;
        return at[0];
    }
    size_t size = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t code = at[0] & (0xffu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        code = code << 6 | (at[i] & 0x3fu);
    }
    words->at += size;
    return code;
}

static size_t put_character(uint8_t *to, uint32_t code) {
    if (code < 0x80) {
        to[0] = (uint8_t)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--) {
        to[i] = (uint8_t)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    to[0] = (uint8_t)(0xf00u >> size | code);
    return size;
}

/* --- letters --- */

/* Where a character lies to a range of either kind, which begins with its first and last. */
static int beside_range(const void *character, const void *range) {
    uint32_t code = *(const uint32_t *)character;
    const uint32_t *ends = range;
    return code < ends[0] ? -1 : code > ends[1];
}

static bool is_letter(uint32_t code) {
    return bsearch(&code, clv_letter_ranges, (size_t)clv_letter_range_count, sizeof *clv_letter_ranges, beside_range) !=
           NULL;
}

static uint32_t to_lower(uint32_t code) {
    const clv_lower_range *range =
        bsearch(&code, clv_lower_ranges, (size_t)clv_lower_range_count, sizeof *clv_lower_ranges, beside_range);
    bool member = range && (code - range->first) % (uint32_t)range->step == 0;
    return member ? (uint32_t)((int32_t)code + range->delta) : code;
}

/* What an ASCII character becomes in a word: its lower case, or 0 for what is not part of one. */
static const uint8_t folded[128] = {
    ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4', ['5'] = '5', ['6'] = '6', ['7'] = '7',
    ['8'] = '8', ['9'] = '9', ['_'] = '_', ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd', ['e'] = 'e',
    ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i', ['j'] = 'j', ['k'] = 'k', ['l'] = 'l', ['m'] = 'm',
    ['n'] = 'n', ['o'] = 'o', ['p'] = 'p', ['q'] = 'q', ['r'] = 'r', ['s'] = 's', ['t'] = 't', ['u'] = 'u',
    ['v'] = 'v', ['w'] = 'w', ['x'] = 'x', ['y'] = 'y', ['z'] = 'z', ['A'] = 'a', ['B'] = 'b', ['C'] = 'c',
    ['D'] = 'd', ['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i', ['J'] = 'j', ['K'] = 'k',
    ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o', ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r', ['S'] = 's',
    ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x', ['Y'] = 'y', ['Z'] = 'z'};

/* --- words --- */

typedef struct run {
    size_t size;     /* bytes in words->word */
    int64_t letters; /* characters */
    bool sigma;      /* the last one was a capital sigma */
    bool ended;
} run;

/* The next character, not ASCII, joins the word or ends it. */
static void take_other(clv_words *words, run *r) {
    uint32_t code = take_character(words);
    if (!is_letter(code)) {
        r->ended = true;
        return;
    }
    r->sigma = code == CAPITAL_SIGMA;
    r->ended = code == CAPITAL_I_DOTTED;
    r->size += put_character(words->word + r->size, code == CAPITAL_I_DOTTED ? 'i' : to_lower(code));
    r->letters++;
}

/* Characters up to the end of a word, which may be empty. */
static run take_run(clv_words *words) {
    run r = {0};
    while (words->at < words->end && !r.ended) {
        uint8_t byte = *words->at;
        if (byte >= 0x80) {
            take_other(words, &r);
            continue;
        }
        uint8_t lower = folded[byte];
        words->at++;
        words->word[r.size] = lower;
        r.size += lower != 0;
        r.letters += lower != 0;
        r.sigma = r.sigma && !lower;
        r.ended = !lower;
    }
    return r;
}

bool clv_next_word(clv_words *words, clv_word *out) {
    while (words->at < words->end) {
        run r = take_run(words);
        if (r.letters < 2) {
            continue;
        }
        if (r.sigma) {
            put_character(words->word + r.size - 2, FINAL_SIGMA); /* two bytes, as the other small one */
        }
        *out = (clv_word){(const char *)words->word, r.size};
        return true;
    }
    return false;
}
