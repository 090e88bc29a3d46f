/* Numbers as text: reading against strtod, writing by reading back. */
#include "io_support.h"

#include <locale.h>
#include <math.h>

/* strtod, in the "C" locale that a test program starts with. */
static void check_text(const char *text) {
    double value = 0;
    const char *end = text + strlen(text);
    char *expected_end;
    double expected = strtod(text, &expected_end);
    assert_ptr_equal(clv_scan_number(text, end, &value), end);
    if (value != expected || signbit(value) != signbit(expected)) {
        print_error("%s read as %a, not %a\n", text, value, expected);
        fail();
    }
}

static void test_reading_random(void **state) {
    (void)state;
    clv_rng rng = clv_rng_stream(1, 0);
    char text[128];
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = clv_rng_next(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) {
            continue;
        }
        snprintf(text, sizeof text, "%.*e", (int)clv_rng_below(&rng, 22), value);
        check_text(text);
        snprintf(text, sizeof text, "%.*g", 1 + (int)clv_rng_below(&rng, 20), 1e6 * clv_rng_normal(&rng));
        check_text(text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)(bits >> clv_rng_below(&rng, 64)),
                 (int)clv_rng_below(&rng, 60) - 30);
        check_text(text);
    }
}

/* Half-way between two doubles: exactly, a little less, a little more. */
static void test_reading_ties(void **state) {
    (void)state;
    clv_rng rng = clv_rng_stream(2, 0);
    char text[1200];
    for (int i = 0; i < 20000; i++) {
        int exponent = (int)clv_rng_below(&rng, 40) - 30;
        double value = ldexp((double)((clv_rng_next(&rng) >> 12) | (uint64_t)1 << 52), exponent - 30);
        long double half = ((long double)value + (long double)nextafter(value, HUGE_VAL)) / 2;
        snprintf(text, sizeof text, "%.*Lf", 130, half);
        check_text(text);
        text[strlen(text) - 1] = '1';
        check_text(text);
    }
    for (int zeros = 0; zeros < 1000; zeros += 37) { /* 2^53 + 1 is half-way */
        snprintf(text, sizeof text, "9007199254740993.%0*d1", zeros, 0);
        check_text(text);
        snprintf(text, sizeof text, "0.%0*d9007199254740993%0*d1", zeros, 0, 999 - zeros, 0);
        check_text(text);
    }
}

/* More digits before the point than are looked at. */
static void test_reading_long(void **state) {
    (void)state;
    char text[1200];
    for (int digits = 760; digits < 1000; digits += 17) {
        for (int i = 0; i < digits; i++) {
            text[i] = (char)('1' + i % 9);
        }
        snprintf(text + digits, sizeof text - (size_t)digits, ".25e-%d", digits - 20);
        check_text(text);
    }
}

static void test_reading_forms(void **state) {
    (void)state;
    static const char *const good[] = {"0",
                                       "-0",
                                       "+1",
                                       "1.",
                                       ".5",
                                       "-.5e1",
                                       "1e5",
                                       "1E+05",
                                       "1e-400",
                                       "1e400",
                                       "00012",
                                       "4.9e-324",
                                       "1e00",
                                       "2.4703282292062327e-324",
                                       "1.7976931348623159e308",
                                       "18446744073709551615",
                                       "18446744073709551616",
                                       "0.00000000000000000000000000000000001"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        check_text(good[i]);
    }
    static const char *const bad[] = {"", "-", ".", "e5", "-.", "+e", "x", "--1", "na", "0x"};
    double value;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *end = bad[i] + strlen(bad[i]);
        const char *stop = clv_scan_number(bad[i], end, &value);
        assert_true(stop == NULL || stop != end);
    }
    static const char text[] = "12e+x";
    assert_ptr_equal(clv_scan_number(text, text + 5, &value), text + 2);
    static const char not_a_number[] = "NaN";
    assert_ptr_equal(clv_scan_number(not_a_number, not_a_number + 3, &value), not_a_number + 3);
    assert_true(isnan(value));
    static const char infinite[] = "-Infinity";
    assert_ptr_equal(clv_scan_number(infinite, infinite + 9, &value), infinite + 9);
    assert_true(value == -HUGE_VAL);
    static const char bounded[] = "123456";
    assert_ptr_equal(clv_scan_number(bounded, bounded + 3, &value), bounded + 3);
    assert_true(value == 123);
}

static void test_integers(void **state) {
    (void)state;
    int64_t value;
    static const char *const texts[] = {
        "12", "-7", "+0", "9223372036854775807", "9223372036854775808", "-99999999999999999999"};
    static const int64_t values[] = {12, -7, 0, INT64_MAX, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < 6; i++) {
        assert_ptr_equal(clv_scan_integer(texts[i], texts[i] + strlen(texts[i]), &value), texts[i] + strlen(texts[i]));
        assert_true(value == values[i]);
    }
    static const char letter[] = "x";
    assert_null(clv_scan_integer(letter, letter + 1, &value));
}

static void check_printing(double value) {
    char text[CLV_NUMBER_SIZE];
    int size = clv_print_number(value, text);
    assert_int_equal(size, strlen(text));
    assert_true(size < CLV_NUMBER_SIZE - 1);
    double back = strtod(text, NULL);
    assert_memory_equal(&back, &value, sizeof value);
    float single = (float)value;
    size = clv_print_float(single, text);
    assert_int_equal(size, strlen(text));
    float single_back = strtof(text, NULL);
    assert_memory_equal(&single_back, &single, sizeof single);
}

static void test_printing(void **state) {
    (void)state;
    clv_rng rng = clv_rng_stream(3, 0);
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = clv_rng_next(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) {
            check_printing(value);
        }
        check_printing(clv_rng_normal(&rng));
    }
    static const double values[] = {0,
                                    -0.0,
                                    1,
                                    -1,
                                    0.1,
                                    1e15,
                                    1e16,
                                    1e17,
                                    123456789012345678.0,
                                    5e-324,
                                    1.7976931348623157e308,
                                    1e-5,
                                    0.001,
                                    9.999999999999999e22,
                                    123.456};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        check_printing(values[i]);
    }
}

/* Decimals with few digits come back as they were written. */
static void test_shortest(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0.1", "-0.3", "1e300", "1.5e-7", "123.25", "0.0001", "100000", "2.5e20", "0.123456789012345",
        "nan", "inf",  "-inf",  "-0"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[CLV_NUMBER_SIZE];
        clv_print_number(strtod(texts[i], NULL), text);
        assert_string_equal(text, texts[i]);
    }
    char text[CLV_NUMBER_SIZE];
    clv_print_float(0.1f, text);
    assert_string_equal(text, "0.1");
}

static void test_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !setlocale(LC_ALL, names[i]); i++) {
    }
    char text[CLV_NUMBER_SIZE];
    clv_print_number(0.1234567890123456, text);
    static const char written[] = "1.2345678901234567890123e-100";
    double value;
    const char *stop = clv_scan_number(written, written + strlen(written), &value);
    setlocale(LC_ALL, "C");
    assert_string_equal(text, "0.1234567890123456");
    assert_ptr_equal(stop, written + strlen(written));
    assert_true(value == 1.2345678901234567890123e-100);
}

static void test_show(void **state) {
    (void)state;
    char shown[CLV_SHOWN_SIZE];
    assert_string_equal(clv_show(shown, "abc\n\x01z", 6), "abc??z");
    char text[200];
    memset(text, 'x', sizeof text);
    clv_show(shown, text, sizeof text);
    assert_int_equal(strlen(shown), CLV_SHOWN_SIZE - 1);
    assert_string_equal(shown + CLV_SHOWN_SIZE - 4, "...");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_random), cmocka_unit_test(test_reading_ties),
        cmocka_unit_test(test_reading_forms),  cmocka_unit_test(test_reading_long),
        cmocka_unit_test(test_integers),       cmocka_unit_test(test_printing),
        cmocka_unit_test(test_shortest),       cmocka_unit_test(test_locale),
        cmocka_unit_test(test_show),
    };
    return cmocka_run_group_tests_name("io_number", tests, NULL, NULL);
}
