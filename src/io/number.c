/* Numbers as text, exactly and without regard to the locale.
 *
 * Reading: w * 10^e with w < 10^19 and |e| <= 27 is rounded once from an exact 128-bit product or quotient, which
 * covers what data files hold, also at 17 digits; the rest goes to strtod_l in the "C" locale. Writing: 17 digits from
 * one snprintf, then the shortest of 15, 16 or 17 digits that reads back as the same value. */
#include "io/io.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum {
    POWERS = 28,       /* 5^27 is the last that fits in 64 bits */
    FAST_DIGITS = 19,  /* any number of 19 digits fits in 64 bits */
    MOST_DIGITS = 770, /* no boundary between two doubles needs more: a non-zero digit beyond counts as a 1 */
    MOST_EXPONENT = 100000
};

static const uint64_t five_to[POWERS] = {1u,
                                         5u,
                                         25u,
                                         125u,
                                         625u,
                                         3125u,
                                         15625u,
                                         78125u,
                                         390625u,
                                         1953125u,
                                         9765625u,
                                         48828125u,
                                         244140625u,
                                         1220703125u,
                                         6103515625u,
                                         30517578125u,
                                         152587890625u,
                                         762939453125u,
                                         3814697265625u,
                                         19073486328125u,
                                         95367431640625u,
                                         476837158203125u,
                                         2384185791015625u,
                                         11920928955078125u,
                                         59604644775390625u,
                                         298023223876953125u,
                                         1490116119384765625u,
                                         7450580596923828125u};

/* m * 2^exponent, plus a little when `more`, rounded to nearest even; m > 0 and the result is a normal number. */
static double round_binary(uint64_t m, bool more, int exponent) {
    int leading = __builtin_clzll(m);
    m <<= leading;
    exponent += 11 - leading;
    uint64_t kept = m >> 11;
    uint64_t rest = m & 0x7ff;
    if (rest > 0x400 || (rest == 0x400 && (more || (kept & 1)))) {
        kept++;
    }
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return (double)kept * scale;
}

/* w * 10^exponent for 0 <= exponent < POWERS. */
static double scale_up(uint64_t w, int exponent) {
    wide product = (wide)w * five_to[exponent];
    uint64_t high = (uint64_t)(product >> 64);
    if (high == 0) {
        return round_binary((uint64_t)product, false, exponent);
    }
    int shift = 64 - __builtin_clzll(high);
    bool more = (product & (((wide)1 << shift) - 1)) != 0;
    return round_binary((uint64_t)(product >> shift), more, exponent + shift);
}

/* w / 10^exponent for 0 < exponent < POWERS. */
static double scale_down(uint64_t w, int exponent) {
    int w_shift = __builtin_clzll(w);
    uint64_t divisor = five_to[exponent];
    int d_shift = __builtin_clzll(divisor);
    wide dividend = (wide)(w << w_shift) << 63;
    divisor <<= d_shift;
    uint64_t quotient = (uint64_t)(dividend / divisor);
    return round_binary(quotient, (wide)quotient * divisor != dividend, d_shift - w_shift - 63 - exponent);
}

static double parse_in_c_locale(const char *text) {
    locale_t before = clv_point_begin();
    double value = strtod(text, NULL);
    clv_point_end(before);
    return value;
}

/* w * 10^exponent for any exponent. */
static double decimal(uint64_t w, int64_t exponent) {
    static const double ten_to[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (w == 0) {
        return 0;
    }
    if (FLT_EVAL_METHOD == 0 && w <= (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22) {
        return exponent < 0 ? (double)w / ten_to[-exponent] : (double)w * ten_to[exponent]; /* both factors exact */
    }
    if (exponent > -POWERS && exponent < POWERS) {
        return exponent < 0 ? scale_down(w, (int)-exponent) : scale_up(w, (int)exponent);
    }
    char text[64];
    snprintf(text, sizeof text, "%llue%lld", (unsigned long long)w, (long long)exponent);
    return parse_in_c_locale(text);
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool clv_same_letters(const char *a, const char *b, size_t size) {
    size_t same = 0;
    while (same < size && lower(a[same]) == lower(b[same])) {
        same++;
    }
    return same == size;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* A mantissa of any length, [at, end), times 10^exponent. */
static double long_decimal(const char *at, const char *end, int64_t exponent) {
    char text[MOST_DIGITS + 32];
    int count = 0;
    bool after_point = false;
    bool more = false;
    for (; at < end; at++) {
        if (*at == '.') {
            after_point = true;
        } else if (count == 0 && *at == '0') {
            exponent -= after_point;
        } else if (count < MOST_DIGITS) {
            text[count++] = *at;
            exponent -= after_point;
        } else {
            more = more || *at != '0';
            exponent += !after_point;
        }
    }
    if (more) {
        text[count++] = '1';
        exponent--;
    }
    snprintf(text + count, sizeof text - (size_t)count, "e%lld", (long long)exponent);
    return parse_in_c_locale(text);
}

/* nan, inf, infinity in any case, without sign. */
static const char *scan_word(const char *at, const char *end, double *out) {
    static const struct {
        const char *word;
        double value;
    } words[] = {{"infinity", HUGE_VAL}, {"inf", HUGE_VAL}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t size = strlen(words[i].word);
        if ((size_t)(end - at) >= size && clv_same_letters(at, words[i].word, size)) {
            *out = words[i].value;
            return at + size;
        }
    }
    return NULL;
}

/* The e+12 after a mantissa, if there is one. */
static const char *scan_exponent(const char *at, const char *end, int64_t *out) {
    *out = 0;
    if (at == end || (*at != 'e' && *at != 'E')) {
        return at;
    }
    const char *digit = at + 1;
    bool negative = digit < end && *digit == '-';
    digit += digit < end && (*digit == '-' || *digit == '+');
    if (digit == end || !is_digit(*digit)) {
        return at;
    }
    int64_t exponent = 0;
    for (; digit < end && is_digit(*digit); digit++) {
        exponent = exponent < MOST_EXPONENT ? exponent * 10 + (*digit - '0') : exponent;
    }
    *out = negative ? -exponent : exponent;
    return digit;
}

const char *clv_scan_number(const char *at, const char *end, double *out) {
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const char *mantissa = at;
    uint64_t w = 0;
    int64_t significant = 0, digits = 0, fraction = 0;
    const char *point = NULL;
    for (; at < end && (is_digit(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = at;
            continue;
        }
        digits++;
        fraction += point != NULL;
        if (significant < FAST_DIGITS) {
            w = w * 10 + (uint64_t)(*at - '0');
        }
        significant += w != 0;
    }
    if (digits == 0) {
        double word = 0;
        const char *stop = scan_word(mantissa, end, &word);
        *out = negative ? -word : word;
        return stop;
    }
    int64_t exponent;
    const char *stop = scan_exponent(at, end, &exponent);
    double value = significant <= FAST_DIGITS ? decimal(w, exponent - fraction) : long_decimal(mantissa, at, exponent);
    *out = negative ? -value : value;
    return stop;
}

const char *clv_scan_integer(const char *at, const char *end, int64_t *out) {
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end || !is_digit(*at)) {
        return NULL;
    }
    int64_t value = 0;
    bool over = false;
    for (; at < end && is_digit(*at); at++) {
        over = over || !clv_mul(value, 10, &value) || !clv_add(value, *at - '0', &value);
    }
    *out = over ? (negative ? INT64_MIN : INT64_MAX) : (negative ? -value : value);
    return at;
}

/* --- printing --- */

/* The 64-bit number made of the digits that "%.*e" printed, whatever stands between them, and its exponent of 10. */
static uint64_t read_digits(const char *printed, int precision, int *exponent) {
    uint64_t w = 0;
    for (; *printed && *printed != 'e'; printed++) {
        if (is_digit(*printed)) {
            w = w * 10 + (uint64_t)(*printed - '0');
        }
    }
    int64_t shown = 0;
    scan_exponent(printed, printed + strlen(printed), &shown);
    *exponent = (int)shown - precision;
    return w;
}

/* w * 10^exponent without needless zeros: positional when that is short, else with an exponent. */
static int layout(uint64_t w, int exponent, char *text) {
    while (w % 10 == 0 && w > 0) {
        w /= 10;
        exponent++;
    }
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)w);
    int point = count + exponent; /* digits before the decimal point */
    if (point > 0 && exponent >= 0 && point <= 17) {
        return snprintf(text, CLV_NUMBER_SIZE - 1, "%s%.*s", digits, exponent, "00000000000000000");
    }
    if (point > 0 && point <= 17) {
        return snprintf(text, CLV_NUMBER_SIZE - 1, "%.*s.%s", point, digits, digits + point);
    }
    if (point <= 0 && point > -5) {
        return snprintf(text, CLV_NUMBER_SIZE - 1, "0.%.*s%s", -point, "00000", digits);
    }
    return snprintf(text, CLV_NUMBER_SIZE - 1, "%c%s%se%d", digits[0], count > 1 ? "." : "", digits + 1, point - 1);
}

/* `precision` digits after the first suffice for certain; fewer are tried first, by at most `spare`. */
static int print_shortest(double value, int precision, int spare, bool single, char *text) {
    if (!isfinite(value)) {
        return snprintf(text, CLV_NUMBER_SIZE, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    }
    int sign = signbit(value) ? 1 : 0;
    text[0] = '-';
    double magnitude = fabs(value);
    if (magnitude < 1e15 && magnitude == floor(magnitude)) {
        return sign + snprintf(text + sign, CLV_NUMBER_SIZE - 1, "%lld", (long long)magnitude);
    }
    char printed[64];
    snprintf(printed, sizeof printed, "%.*e", precision, magnitude);
    int exponent;
    uint64_t w = read_digits(printed, precision, &exponent);
    uint64_t cut = 1;
    for (int i = 0; i < spare; i++) {
        cut *= 10;
    }
    for (; cut > 1; cut /= 10, spare--) {
        uint64_t rounded = (w + cut / 2) / cut;
        double back = decimal(rounded, exponent + spare);
        if (single ? (float)back == (float)magnitude : back == magnitude) {
            return sign + layout(rounded, exponent + spare, text + sign);
        }
    }
    return sign + layout(w, exponent, text + sign);
}

int clv_print_number(double value, char text[CLV_NUMBER_SIZE]) {
    return print_shortest(value, 16, 2, false, text);
}

int clv_print_float(float value, char text[CLV_NUMBER_SIZE]) {
    return print_shortest((double)value, 8, 3, true, text);
}

const char *clv_show(char shown[CLV_SHOWN_SIZE], const char *text, size_t size) {
    size_t room = CLV_SHOWN_SIZE - 4;
    size_t kept = size <= room ? size : room;
    for (size_t i = 0; i < kept; i++) {
        unsigned char c = (unsigned char)text[i];
        shown[i] = c < ' ' || c == 127 ? '?' : (char)c;
    }
    memcpy(shown + kept, "...", 4);
    if (kept == size) {
        shown[kept] = '\0';
    }
    return shown;
}
