/* What a cell of a CSV file is: a number, nothing, a date, a number that is not written as one, or text. */
#include "io/csv.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static bool is_one_of(const clv_token *field, const char *const *words) {
    while (*words && !clv_field_equals(field, *words, false)) {
        words++;
    }
    return *words != NULL;
}

/* Nothing, or a word for it. Case matters: Na is sodium. */
bool clv_is_missing(const clv_token *field) {
    enum { LONGEST = 4 };
    static const char *const words[] = {"",     "NA",   "N/A", "n/a", "<NA>", "#N/A", "NULL", "NaN", "nan",
                                        "null", "None", "?",   "-",   ".",    "NAN",  "\\N",  NULL};
    return field->size <= LONGEST && is_one_of(field, words);
}

bool clv_is_no_label(const clv_token *field) {
    static const char *const words[] = {"None", "-", ".", NULL};
    return clv_is_missing(field) && !is_one_of(field, words);
}

/* A number with a decimal comma. */
static bool has_comma_number(const clv_token *field, double *value) {
    char text[64];
    const char *comma = memchr(field->text, ',', field->size);
    if (!comma || field->size >= sizeof text) {
        return false;
    }
    memcpy(text, field->text, field->size);
    text[comma - field->text] = '.';
    return clv_field_number(&(clv_token){text, field->size, false}, value);
}

/* Numbers first: most cells are. */
clv_cell clv_cell_of(const clv_csv *csv, const clv_token *field, double *value) {
    bool number = clv_field_number(field, value);
    if (number && isfinite(*value)) {
        return CLV_CELL_NUMBER;
    }
    if (clv_is_missing(field) || (number && isnan(*value))) {
        return CLV_CELL_MISSING;
    }
    if (number || (csv->comma && has_comma_number(field, value))) {
        return isfinite(*value) ? CLV_CELL_NUMBER : CLV_CELL_INFINITE;
    }
    return CLV_CELL_TEXT;
}

static int count_digits(const clv_token *field, size_t *at) {
    size_t first = *at;
    while (*at < field->size && isdigit((unsigned char)field->text[*at])) {
        (*at)++;
    }
    return (int)(*at - first);
}

/* 2024-01-31, 31.01.2024 or 1/31/24, with or without a time after it. */
bool clv_is_date(const clv_token *field) {
    size_t at = 0;
    int first = count_digits(field, &at);
    if (first < 1 || first > 4 || at >= field->size || !strchr("-/.", field->text[at])) {
        return false;
    }
    char mark = field->text[at++];
    int second = count_digits(field, &at);
    if (second < 1 || second > 2 || at >= field->size || field->text[at] != mark) {
        return false;
    }
    at++;
    int third = count_digits(field, &at);
    return third >= 1 && third <= 4 && (at == field->size || field->text[at] == ' ' || field->text[at] == 'T');
}

/* Without what people put around digits, it is a number. */
bool clv_is_odd_number(const clv_token *field) {
    static const char *const marks[] = {
        "%",      "$",      ",",      "'",      " ",     "(", ")", "\u20ac", "\u00a3", "\u00a5", /* currencies */
        "\u00a0", "\u202f", "\u2019", "\u2212", "\u2030"}; /* blanks, ', minus, per mille */
    char plain[64];
    size_t size = 0;
    double value;
    for (size_t at = 0; at < field->size && size < sizeof plain;) {
        size_t length = 0;
        char letter = (char)(field->text[at] | 0x20);
        if (letter >= 'a' && letter <= 'z' && letter != 'e') {
            return false;
        }
        for (size_t m = 0; m < CLV_COUNT(marks) && length == 0; m++) {
            if (field->text[at] == marks[m][0]) { /* which is rare */
                size_t whole = strlen(marks[m]);
                length = whole <= field->size - at && memcmp(field->text + at, marks[m], whole) == 0 ? whole : 0;
            }
        }
        if (length == 0) {
            plain[size++] = field->text[at];
        }
        at += length ? length : 1;
    }
    return size > 0 && size < sizeof plain && clv_field_number(&(clv_token){plain, size, false}, &value) &&
           isfinite(value);
}
