/* Matrix Market: another banner; numbers and lines changed, with the count of the entries made right. */
#include "mutate.h"

#include <stdio.h>
#include <string.h>

enum { MOST_LINES = 512 };

typedef struct lines {
    char text[FUZZ_ROOM + 1]; /* ended by NUL where a line ends */
    char *line[MOST_LINES + 1];
    char drawn[160];
    size_t count;
} lines;

static bool split(lines *l, const uint8_t *bytes, size_t size) {
    if (size < 14 || size > FUZZ_ROOM || memcmp(bytes, "%%MatrixMarket", 14) != 0) {
        return false;
    }
    memcpy(l->text, bytes, size);
    l->text[size] = '\0';
    l->count = 0;
    for (char *at = strtok(l->text, "\n"); at && l->count < MOST_LINES; at = strtok(NULL, "\n")) {
        l->line[l->count++] = at;
    }
    return l->count > 1;
}

/* The line of the sizes; 0: there is none. */
static size_t find_sizes(const lines *l) {
    size_t at = 1;
    while (at < l->count && l->line[at][0] == '%') {
        at++;
    }
    return at < l->count ? at : 0;
}

static void draw_banner(clv_rng *rng, lines *l) {
    static const char *const forms[] = {"coordinate", "coordinate", "array", "Array", "vector"};
    static const char *const fields[] = {"real", "real", "integer", "pattern", "double", "complex", "unsigned-integer"};
    static const char *const kinds[] = {"general", "general", "symmetric", "skew-symmetric", "hermitian", "none"};
    snprintf(l->drawn, sizeof l->drawn, "%%%%MatrixMarket matrix %s %s %s", FUZZ_PICK(rng, forms),
             FUZZ_PICK(rng, fields), FUZZ_PICK(rng, kinds));
    l->line[0] = l->drawn;
}

/* One of the words of a line becomes another; or there is one more. */
static void draw_number(clv_rng *rng, lines *l, size_t at) {
    static const char *const good[] = {"0", "1",   "1",    "2",     "2",    "3",  "4",
                                       "5", "1.5", "-2e3", "1e308", "1e-9", "+3", ".5"};
    static const char *const odd[] = {
        "-1",          "1e309", "nan",   "inf", "007", "0x10", "2147483647", "5.", "2147483648",         "4294967297",
        "99999999999", "1e",    "1 1 1", "2 1", "1d0", "%",    "1 2 3",      "",   "9223372036854775808"};
    const char *number = clv_rng_below(rng, 4) > 0 ? FUZZ_PICK(rng, good) : FUZZ_PICK(rng, odd);
    const char *from = l->line[at];
    const char *space = strchr(from, ' ');
    if (strlen(from) > 64) {
        return;
    }
    if (space && clv_rng_below(rng, 2)) {
        snprintf(l->drawn, sizeof l->drawn, "%.*s %s", (int)(space - from), from, number);
    } else {
        snprintf(l->drawn, sizeof l->drawn, "%s%s", number, space ? space : "");
    }
    l->line[at] = l->drawn;
}

static void change_lines(clv_rng *rng, lines *l) {
    size_t at = 1 + (size_t)clv_rng_below(rng, (int64_t)l->count - 1);
    switch (clv_rng_below(rng, 8)) {
    case 0:
        draw_banner(rng, l);
        break;
    case 1: /* once more */
        memmove(l->line + at + 1, l->line + at, (l->count - at) * sizeof l->line[0]);
        l->count += l->count < MOST_LINES;
        break;
    case 2: /* no more */
        memmove(l->line + at, l->line + at + 1, (l->count - at - 1) * sizeof l->line[0]);
        l->count -= l->count > 2;
        break;
    default:
        draw_number(rng, l, at);
    }
}

static size_t join(clv_rng *rng, const lines *l, uint8_t *bytes, size_t most) {
    bool right = clv_rng_below(rng, 8) > 0;
    size_t sizes = find_sizes(l), used = 0;
    for (size_t i = 0; i < l->count; i++) {
        unsigned rows, cols, entries;
        char line[128];
        const char *text = l->line[i];
        int given = right && i > 0 && i == sizes ? sscanf(text, "%u %u %u", &rows, &cols, &entries) : 0;
        if (given == 3) {
            snprintf(line, sizeof line, "%u %u %zu", rows, cols, l->count - 1 - i);
            text = line;
        } else if (given == 2 && rows * cols != l->count - 1 - i) {
            snprintf(line, sizeof line, "%zu 1", l->count - 1 - i);
            text = line;
        }
        size_t length = strlen(text);
        if (used + length + 1 > most) {
            return 0;
        }
        memcpy(bytes + used, text, length);
        bytes[used + length] = '\n';
        used += length + 1;
    }
    return used;
}

size_t fuzz_mutate_mtx(clv_rng *rng, uint8_t *bytes, size_t size, size_t most) {
    static lines l;
    if (!split(&l, bytes, size)) {
        return 0;
    }
    change_lines(rng, &l);
    return join(rng, &l, bytes, most);
}
