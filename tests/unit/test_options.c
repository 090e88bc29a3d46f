/* Option tables: defaults, parsing, refusals, and the round trip from text to value and back. */
#include "base/options.h"

#include "failing.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>

typedef struct sample {
    int64_t count, cores, bytes, tries;
    double rate, gamma, limit;
    int flag, choice;
    const char *name, *none;
    int untouched;
} sample;

static const clv_option sample_options[] = {
    CLV_OPT_INT(sample, count, "count", 'c', 5, 1, 100, NULL, "N", "a number from 1 to 100"),
    CLV_OPT_INT(sample, cores, "cores", 0, 0, 0, 1e12, "all", "N", "0 or more"),
    CLV_OPT_BYTES(sample, bytes, "bytes", "auto", "a size"),
    CLV_OPT_REAL(sample, rate, "rate", 0.25, -1, 1, NULL, "R", "a rate"),
    CLV_OPT_REAL(sample, gamma, "gamma", NAN, 0, HUGE_VAL, "auto", "G", "NaN when auto"),
    CLV_OPT_REAL(sample, limit, "limit", 0, 0, HUGE_VAL, "none", "L", "0 when none"),
    CLV_OPT_FLAG(sample, flag, "flag", NULL, 1, "yes or no"),
    CLV_OPT_CHOICE(sample, choice, "choice", 1, "first|second|third", "one of three"),
    CLV_OPT_TEXT(sample, name, "name", "somebody", "NAME", "any text"),
    CLV_OPT_TEXT(sample, none, "none", NULL, "NAME", "no text"),
    {.name = "tries",
     .kind = CLV_OPTION_INT,
     .offset = offsetof(sample, tries),
     .initial = 7,
     .most = 100,
     .word = "endless",
     .word_value = -1,
     .meta = "N",
     .help = "-1 when endless, and 0 is a number"},
};
static const clv_option_table table = {"sample", sample_options, CLV_COUNT(sample_options), 0};

static sample defaults(void) {
    sample s;
    memset(&s, 0x55, sizeof s);
    clv_options_defaults(&table, &s);
    return s;
}

static void default_values(void **state) {
    clv_context *ctx = new_context();
    sample s = defaults();
    (void)state;
    assert_true(s.count == 5 && s.cores == 0 && s.bytes == 0 && s.flag == 1 && s.choice == 1);
    assert_true(s.rate == 0.25 && isnan(s.gamma) && s.limit == 0);
    assert_string_equal(s.name, "somebody");
    assert_null(s.none);
    assert_int_equal(s.untouched, 0x55555555);
    assert_int_equal(clv_options_check(ctx, &table, &s), CLV_OK);
    assert_ptr_equal(clv_options_find(&table, "flag"), &sample_options[6]);
    assert_null(clv_options_find(&table, "fla"));
    end_context(ctx);
}

static void set(clv_context *ctx, sample *s, const char *name, const char *value) {
    assert_int_equal(clv_options_set(ctx, &table, s, name, value), CLV_OK);
}

static void values_from_text(void **state) {
    clv_context *ctx = new_context();
    sample s = defaults();
    (void)state;
    set(ctx, &s, "count", "100");
    set(ctx, &s, "cores", "123456789012");
    set(ctx, &s, "rate", "-1e-1");
    set(ctx, &s, "gamma", "0.5");
    set(ctx, &s, "limit", "2.5");
    set(ctx, &s, "flag", "false");
    set(ctx, &s, "choice", "third");
    set(ctx, &s, "name", "");
    assert_true(s.count == 100 && s.cores == 123456789012 && s.flag == 0 && s.choice == 2);
    assert_true(s.rate == -0.1 && s.gamma == 0.5 && s.limit == 2.5);
    assert_string_equal(s.name, "");
    set(ctx, &s, "cores", "all");
    set(ctx, &s, "gamma", "auto");
    set(ctx, &s, "limit", "none");
    set(ctx, &s, "flag", "1");
    assert_true(s.cores == 0 && isnan(s.gamma) && s.limit == 0 && s.flag == 1);
    set(ctx, &s, "tries", "0");
    assert_int_equal(s.tries, 0);
    set(ctx, &s, "tries", "endless");
    assert_int_equal(s.tries, -1);
    const char *texts[] = {"1000", "3K", "5M", "2G", "1T", "3k", "5m", "2g", "1t", "auto", "0"};
    const int64_t gigabytes = (int64_t)2 << 30, terabyte = (int64_t)1 << 40;
    const int64_t bytes[] = {1000, 3 << 10, 5 << 20, gigabytes, terabyte, 3 << 10, 5 << 20, gigabytes, terabyte, 0, 0};
    for (int i = 0; i < 11; i++) {
        set(ctx, &s, "bytes", texts[i]);
        assert_int_equal(s.bytes, bytes[i]);
    }
    assert_int_equal(clv_options_check(ctx, &table, &s), CLV_OK);
    end_context(ctx);
}

/* Each is refused with its name and its value in the message, and nothing is changed. */
static void bad_text(void **state) {
    static const char *const cases[][2] = {
        {"count", "0"},
        {"count", "101"},
        {"count", "-3"},
        {"count", "3.5"},
        {"count", "1e1"},
        {"count", ""},
        {"count", " 7"},
        {"count", "\t7"},
        {"count", "7 "},
        {"count", "all"},
        {"tries", "-1"},
        {"tries", "all"},
        {"count", "ten"},
        {"count", "99999999999999999999"},
        {"cores", "-1"},
        {"cores", "ALL"},
        {"rate", "1.01"},
        {"rate", "nan"},
        {"rate", "auto"},
        {"rate", "0,5"},
        {"rate", "0.5x"},
        {"rate", "-inf"},
        {"rate", "\n0.5"},
        {"gamma", "nan"},
        {"gamma", "-1"},
        {"gamma", "1e999"},
        {"bytes", "-1"},
        {"bytes", "1q"},
        {"bytes", "1KB"},
        {"bytes", "G"},
        {"bytes", "1.5G"},
        {"bytes", "99999999T"},
        {"flag", "yes"},
        {"flag", ""},
        {"flag", "2"},
        {"choice", "fourth"},
        {"choice", "fir"},
        {"choice", ""},
        {"choice", "first|second"},
        {"choice", "1"},
    };
    clv_context *ctx = new_context();
    (void)state;
    for (size_t i = 0; i < CLV_COUNT(cases); i++) {
        sample s = defaults(), before = s;
        assert_int_equal(clv_options_set(ctx, &table, &s, cases[i][0], cases[i][1]), CLV_EUSAGE);
        char quoted[64];
        snprintf(quoted, sizeof quoted, "'%s'", cases[i][1]);
        assert_non_null(strstr(clv_message(ctx), cases[i][0]));
        assert_non_null(strstr(clv_message(ctx), quoted));
        assert_memory_equal(&s, &before, sizeof s);
    }
    sample s = defaults();
    assert_int_equal(clv_options_set(ctx, &table, &s, "color", "red"), CLV_EUSAGE);
    assert_string_equal(clv_message(ctx), "there is no option 'color' in sample");
    assert_int_equal(clv_options_set(ctx, &table, &s, NULL, "red"), CLV_EUSAGE);
    assert_int_equal(clv_options_set(ctx, &table, &s, "count", NULL), CLV_EUSAGE);
    assert_string_equal(clv_message(ctx), "count is set to nothing");
    assert_int_equal(clv_options_set(ctx, &table, &s, "none", NULL), CLV_OK);
    clv_options_set(ctx, &table, &s, "count", "0");
    assert_string_equal(clv_message(ctx), "count = '0' is not allowed: it must be a whole number from 1 to 100");
    clv_options_set(ctx, &table, &s, "bytes", "1.5G");
    assert_string_equal(clv_message(ctx),
                        "bytes = '1.5G' is not allowed: it must be a whole number from 0 to 4611686018427387904, which "
                        "may end in K, M, G or T, or auto");
    clv_options_set(ctx, &table, &s, "gamma", "-1");
    assert_string_equal(clv_message(ctx), "gamma = '-1' is not allowed: it must be a number of 0 or more, or auto");
    clv_options_set(ctx, &table, &s, "cores", "2000000000000");
    assert_non_null(strstr(clv_message(ctx), "from 0 to 1000000000000, or all"));
    end_context(ctx);
}

static void expect_refusal(const sample *s, const char *name) {
    clv_context *ctx = new_context();
    assert_int_equal(clv_options_check(ctx, &table, s), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), name));
    end_context(ctx);
}

/* A word stands for 0 also where the number 0 is out of range. */
static void words_beside_a_range(void **state) {
    static const clv_option options[] = {
        CLV_OPT_INT(sample, count, "count", 'c', 0, 1, 100, "auto", "N", "a number from 1 to 100, or auto")};
    static const clv_option_table one = {"one", options, 1, 0};
    clv_context *ctx = new_context();
    sample s = defaults();
    (void)state;
    assert_int_equal(clv_options_set(ctx, &one, &s, "count", "auto"), CLV_OK);
    assert_int_equal(s.count, 0);
    assert_int_equal(clv_options_check(ctx, &one, &s), CLV_OK);
    assert_int_equal(clv_options_set(ctx, &one, &s, "count", "0"), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "a whole number from 1 to 100, or auto"));
    s.count = -1;
    assert_int_equal(clv_options_check(ctx, &one, &s), CLV_EUSAGE);
    end_context(ctx);
}

static void values_out_of_range(void **state) {
    sample s = defaults();
    (void)state;
    s.count = 0;
    expect_refusal(&s, "count");
    s = defaults();
    s.count = 101;
    expect_refusal(&s, "count");
    s = defaults();
    s.bytes = -1;
    expect_refusal(&s, "bytes");
    s = defaults();
    s.rate = NAN;
    expect_refusal(&s, "rate");
    s = defaults();
    s.limit = NAN; /* its word means 0 */
    expect_refusal(&s, "limit");
    s = defaults();
    s.choice = 3;
    expect_refusal(&s, "choice");
    s = defaults();
    s.choice = -1;
    expect_refusal(&s, "choice");
    char text[16];
    clv_options_print(clv_options_find(&table, "choice"), &s, text, sizeof text);
    assert_string_equal(text, "?");
    s = defaults();
    s.flag = 2;
    expect_refusal(&s, "flag");
}

/* print, set into another struct, print again: the same text; and the values are the same bits. */
static void check_round_trip(const clv_option_table *any, const void *from, void *to) {
    clv_context *ctx = new_context();
    for (size_t i = 0; i < any->count; i++) {
        char text[64], again[64];
        clv_options_print(&any->options[i], from, text, sizeof text);
        assert_int_equal(clv_options_set(ctx, any, to, any->options[i].name, text), CLV_OK);
        clv_options_print(&any->options[i], to, again, sizeof again);
        assert_string_equal(text, again);
    }
    end_context(ctx);
}

static void round_trips(void **state) {
    const double reals[] = {0, 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.123};
    (void)state;
    for (int i = 0; i < 6; i++) {
        double tol = reals[i] <= 1e6 ? reals[i] : 1e6 / 3;
        clv_control from = {.tol = tol, .max_iter = 7 + i, .time_limit = reals[i], .restarts = 3, .threads = i};
        clv_control to = {0};
        from.seed = ((int64_t)1 << 53) - i;
        if (reals[i] > 0 && reals[i] < 1e-300) {
            from.tol = from.time_limit = 2.2250738585072014e-308;
        }
        check_round_trip(clv_control_table(), &from, &to);
        assert_true(to.tol == from.tol && to.time_limit == from.time_limit && to.seed == from.seed);
        assert_true(to.max_iter == from.max_iter && to.restarts == 3 && to.threads == i);
    }
    clv_control initial, to = {0};
    clv_options_defaults(clv_control_table(), &initial);
    check_round_trip(clv_control_table(), &initial, &to);
    assert_true(isnan(to.tol) && to.time_limit == 0 && to.restarts == 1);
    for (int choice = 0; choice < 3; choice++) {
        sample s = defaults(), t = defaults();
        s.choice = choice;
        s.flag = choice % 2;
        s.bytes = (int64_t)choice << 40;
        s.tries = choice - 1;
        s.none = "";
        check_round_trip(&table, &s, &t);
        assert_true(t.choice == s.choice && t.flag == s.flag && t.bytes == s.bytes && t.tries == s.tries);
    }
}

/* Long values are cut to the buffer. */
static void short_buffers(void **state) {
    sample s = defaults();
    char text[4];
    (void)state;
    clv_options_print(clv_options_find(&table, "name"), &s, text, sizeof text);
    assert_string_equal(text, "som");
    clv_options_print(clv_options_find(&table, "none"), &s, text, sizeof text);
    assert_string_equal(text, "");
}

/* In a locale with a decimal comma, if the machine has one. */
static void locale_does_not_matter(void **state) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    bool found = false;
    (void)state;
    for (size_t i = 0; i < CLV_COUNT(names) && !found; i++) {
        found = setlocale(LC_ALL, names[i]) != NULL;
    }
    if (!found) {
        skip();
    }
    assert_string_equal(localeconv()->decimal_point, ",");
    clv_context *ctx = new_context();
    sample s = defaults();
    char text[32];
    set(ctx, &s, "rate", "0.5");
    assert_true(s.rate == 0.5);
    clv_options_print(clv_options_find(&table, "rate"), &s, text, sizeof text);
    assert_string_equal(text, "0.5");
    clv_fail(ctx, CLV_EDATA, "%g", 1.5);
    assert_string_equal(clv_message(ctx), "1.5");
    clv_text report = {.ctx = ctx};
    clv_text_add(&report, "%g", 2.5);
    assert_string_equal(report.data, "2.5");
    assert_string_equal(localeconv()->decimal_point, ","); /* the program keeps its own */
    clv_free(ctx, report.data);
    end_context(ctx);
    setlocale(LC_ALL, "C");
}

/* --- structs that begin with their size --- */

/* Options as three versions of a program know them: each has more than the one before. */
typedef struct sized {
    size_t size;
    int64_t count;
    int flag;
    const char *name;
    double rate; /* of the second version */
    int64_t room;
} sized;
enum { FIRST = offsetof(sized, rate), SECOND = sizeof(sized) };

static const clv_option sized_options[] = {
    CLV_OPT_INT(sized, count, "count", 0, 5, 1, 100, NULL, "N", "a number"),
    CLV_OPT_FLAG(sized, flag, "flag", NULL, 1, "yes or no"),
    CLV_OPT_TEXT(sized, name, "name", "somebody", "NAME", "any text"),
    CLV_OPT_REAL(sized, rate, "rate", 0.25, -1, 1, NULL, "R", "a rate"),
};
static const clv_option_table first = {"sized", sized_options, 3, FIRST};
static const clv_option_table second = {"sized", sized_options, CLV_COUNT(sized_options), SECOND};

/* What begins a struct, and what lies beyond the size that a program gave. */
static void init_keeps_within_the_size(void **state) {
    const size_t sizes[] = {FIRST, SECOND, sizeof(size_t), offsetof(sized, name), offsetof(sized, rate) + 4};
    (void)state;
    for (size_t i = 0; i < CLV_COUNT(sizes); i++) {
        union {
            sized options;
            unsigned char bytes[sizeof(sized) + 16];
        } given;
        memset(&given, 0x55, sizeof given);
        clv_options_init(&second, &given, sizes[i]);
        assert_int_equal(given.options.size, sizes[i]);
        for (size_t byte = sizes[i]; byte < sizeof given; byte++) {
            assert_int_equal(given.bytes[byte], 0x55);
        }
        assert_true(sizes[i] < offsetof(sized, flag) || given.options.count == 5);
        assert_true(sizes[i] < offsetof(sized, name) || given.options.flag == 1);
        assert_true(sizes[i] < FIRST || strcmp(given.options.name, "somebody") == 0);
        assert_true(sizes[i] < SECOND || (given.options.rate == 0.25 && given.options.room == 0));
    }
}

/* A program that was compiled with fewer options than the library has: these have their defaults. */
static void adopts_options_of_an_older_program(void **state) {
    clv_context *ctx = new_context();
    sized given, full;
    (void)state;
    memset(&given, 0x55, sizeof given); /* nothing beyond the size is looked at */
    memset(&full, 0x55, sizeof full);
    clv_options_init(&first, &given, FIRST);
    given.count = 7;
    given.flag = 0;
    given.name = "me";
    assert_int_equal(clv_options_adopt(ctx, &second, &given, &full), CLV_OK);
    assert_true(full.size == SECOND && full.count == 7 && full.flag == 0 && full.rate == 0.25 && full.room == 0);
    assert_string_equal(full.name, "me");
    end_context(ctx);
}

/* One that knows more options than the library: they must not be used. */
static void adopts_options_of_a_newer_program(void **state) {
    clv_context *ctx = new_context();
    sized given;
    union {
        sized options;
        unsigned char bytes[sizeof(sized)];
    } kept;
    (void)state;
    memset(&kept, 0x55, sizeof kept);
    memset(&given, 0, sizeof given);
    given.size = SECOND;
    given.count = 7;
    given.name = "me";
    assert_int_equal(clv_options_adopt(ctx, &first, &given, &kept.options), CLV_OK);
    assert_true(kept.options.size == FIRST && kept.options.count == 7 && kept.options.flag == 0);
    for (size_t byte = FIRST; byte < sizeof kept; byte++) {
        assert_int_equal(kept.bytes[byte], 0x55);
    }
    given.rate = 0.25;
    assert_int_equal(clv_options_adopt(ctx, &first, &given, &kept.options), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "does not have"));
    given.rate = 0;
    ((unsigned char *)&given)[SECOND - 1] = 1; /* the very last byte counts */
    assert_int_equal(clv_options_adopt(ctx, &first, &given, &kept.options), CLV_EUSAGE);
    end_context(ctx);
}

/* A struct that nobody has set: its size is whatever was there. */
static void sizes_that_cannot_be_are_refused(void **state) {
    clv_context *ctx = new_context();
    const size_t sizes[] = {0, 1, sizeof(size_t) - 1, SIZE_MAX, ((size_t)1 << 20) + 1};
    (void)state;
    for (size_t i = 0; i < CLV_COUNT(sizes); i++) {
        sized given = {.size = sizes[i]}, full;
        assert_int_equal(clv_options_adopt(ctx, &second, &given, &full), CLV_EUSAGE);
        assert_non_null(strstr(clv_message(ctx), "not set to their defaults"));
    }
    end_context(ctx);
}

/* --- former names --- */

static void former_names_are_understood(void **state) {
    static const char *const names[][2] = {{"neighbours", "neighbors"},
                                           {"symmetrise", "symmetrize"},
                                           {"no-symmetrise", "no-symmetrize"},
                                           {"colour", "color"},
                                           {"centre", "center"},
                                           {"no-centre", "no-center"},
                                           {"initial-weights", "initial-membership"}};
    static const char *const others[] = {"neighbors", "centr", "centres", "", "weights"};
    clv_context *ctx = new_context();
    clv_affinity_options how;
    clv_kpalm_options centers;
    const clv_option_table *kpalm = clv_method_find("kpalm")->options;
    (void)state;
    for (size_t i = 0; i < CLV_COUNT(names); i++) {
        assert_string_equal(clv_option_name(names[i][0]), names[i][1]);
        assert_string_equal(clv_option_name(names[i][1]), names[i][1]);
    }
    for (size_t i = 0; i < CLV_COUNT(others); i++) {
        assert_ptr_equal(clv_option_name(others[i]), others[i]);
    }
    clv_affinity_defaults(&how);
    assert_int_equal(clv_options_set(ctx, clv_affinity_table(), &how, "neighbours", "17"), CLV_OK);
    assert_int_equal(how.neighbors, 17);
    clv_kpalm_defaults(&centers);
    assert_int_equal(clv_options_set(ctx, kpalm, &centers, "initial-weights", "dirichlet"), CLV_OK);
    assert_int_equal(centers.initial_membership, CLV_KPALM_DIRICHLET);
    assert_ptr_equal(clv_options_find(kpalm, "initial-weights"), clv_options_find(kpalm, "initial-membership"));
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_values),
        cmocka_unit_test(values_from_text),
        cmocka_unit_test(bad_text),
        cmocka_unit_test(values_out_of_range),
        cmocka_unit_test(words_beside_a_range),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(short_buffers),
        cmocka_unit_test(locale_does_not_matter),
        cmocka_unit_test(init_keeps_within_the_size),
        cmocka_unit_test(adopts_options_of_an_older_program),
        cmocka_unit_test(adopts_options_of_a_newer_program),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(former_names_are_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
