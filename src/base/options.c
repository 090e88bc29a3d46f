/* Option tables: defaults, parsing, range checks and printing, all from the same description. */
#include "base/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const clv_option_table *clv_control_table(void) {
    static const clv_option options[] = {
        CLV_OPT_INT(clv_control, restarts, "restarts", 0, 1, 1, 1e9, NULL, "N", "independent starts; the best is kept"),
        CLV_OPT_INT(clv_control, seed, "seed", 0, 1, 0, 0x1p53, NULL, "S", "seed of the random numbers"),
        CLV_OPT_INT(clv_control, threads, "threads", 0, 0, 0, 1024, "all", "T",
                    "threads; the result does not depend on it"),
        CLV_OPT_REAL(clv_control, tol, "tol", NAN, 0, HUGE_VAL, "auto", "E", "tolerance of the stopping rule"),
        CLV_OPT_INT(clv_control, max_iter, "max-iter", 0, 1000000, 0, 1e15, NULL, "N", "iterations of one restart"),
        CLV_OPT_REAL(clv_control, time_limit, "time-limit", 0, 0, HUGE_VAL, "none", "SECONDS",
                     "stop then, with the best result so far"),
    };
    static const clv_option_table table = {"run", options, CLV_COUNT(options), 0};
    return &table;
}

static const void *member(const clv_option *option, const void *options) {
    return (const char *)options + option->offset;
}

/* Any member as a number; TEXT has none. */
static double get_number(const clv_option *option, const void *options) {
    const void *at = member(option, options);
    switch (option->kind) {
    case CLV_OPTION_INT:
    case CLV_OPTION_BYTES:
        return (double)*(const int64_t *)at;
    case CLV_OPTION_REAL:
        return *(const double *)at;
    case CLV_OPTION_FLAG:
    case CLV_OPTION_CHOICE:
        return *(const int *)at;
    case CLV_OPTION_TEXT:
        break;
    }
    return NAN;
}

static void set_number(const clv_option *option, void *options, double value) {
    void *at = (char *)options + option->offset;
    switch (option->kind) {
    case CLV_OPTION_INT:
    case CLV_OPTION_BYTES:
        *(int64_t *)at = (int64_t)value;
        break;
    case CLV_OPTION_REAL:
        *(double *)at = value;
        break;
    case CLV_OPTION_FLAG:
    case CLV_OPTION_CHOICE:
        *(int *)at = (int)value;
        break;
    case CLV_OPTION_TEXT:
        break;
    }
}

static size_t member_size(const clv_option *option) {
    bool small = option->kind == CLV_OPTION_FLAG || option->kind == CLV_OPTION_CHOICE;
    return small ? sizeof(int) : option->kind == CLV_OPTION_TEXT ? sizeof(char *) : sizeof(int64_t);
}

/* Of the options that lie within the first `size` bytes. */
static void set_defaults(const clv_option_table *table, void *options, size_t size) {
    for (size_t i = 0; i < table->count; i++) {
        const clv_option *option = &table->options[i];
        if (option->offset + member_size(option) > size) {
            continue;
        }
        if (option->kind == CLV_OPTION_TEXT) {
            *(const char **)((char *)options + option->offset) = option->choices;
        } else {
            set_number(option, options, option->initial);
        }
    }
}

void clv_options_defaults(const clv_option_table *table, void *options) {
    set_defaults(table, options, SIZE_MAX);
}

void clv_options_init(const clv_option_table *table, void *options, size_t size) {
    memset(options, 0, size);
    *(size_t *)options = size;
    set_defaults(table, options, size);
}

clv_status clv_options_adopt(clv_context *ctx, const clv_option_table *table, const void *given, void *out) {
    size_t size = *(const size_t *)given;
    clv_options_init(table, out, table->size);
    if (size < sizeof size || size > ((size_t)1 << 20)) {
        return clv_fail(ctx, CLV_EUSAGE, "the options of %s were not set to their defaults first: their size is %zu",
                        table->title, size);
    }
    for (size_t i = table->size; i < size; i++) {
        if (((const char *)given)[i]) {
            return clv_fail(ctx, CLV_EUSAGE, "the program sets options of %s that this version, %s, does not have",
                            table->title, clv_version());
        }
    }
    size = size < table->size ? size : table->size;
    memcpy((char *)out + sizeof size, (const char *)given + sizeof size, size - sizeof size);
    return CLV_OK;
}

/* Names that options had before: still understood, and not listed anywhere. */
static const struct {
    const char *former, *now;
} renamed[] = {{"neighbours", "neighbors"},
               {"symmetrise", "symmetrize"},
               {"no-symmetrise", "no-symmetrize"},
               {"colour", "color"},
               {"centre", "center"},
               {"no-centre", "no-center"},
               {"initial-weights", "initial-membership"}};

const char *clv_option_name(const char *name) {
    for (size_t i = 0; i < CLV_COUNT(renamed); i++) {
        if (strcmp(renamed[i].former, name) == 0) {
            return renamed[i].now;
        }
    }
    return name;
}

const clv_option *clv_options_find(const clv_option_table *table, const char *name) {
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->options[i].name, clv_option_name(name)) == 0) {
            return &table->options[i];
        }
    }
    return NULL;
}

/* Index of `value` among "a|b|c", or -1. */
static int find_choice(const char *choices, const char *value) {
    size_t length = strlen(value);
    int index = 0;
    for (const char *at = choices; at; index++) {
        const char *bar = strchr(at, '|');
        size_t size = bar ? (size_t)(bar - at) : strlen(at);
        if (size == length && strncmp(at, value, size) == 0) {
            return index;
        }
        at = bar ? bar + 1 : NULL;
    }
    return -1;
}

static int count_choices(const char *choices) {
    int count = 1;
    for (; *choices; choices++) {
        count += *choices == '|';
    }
    return count;
}

static bool has_range(const clv_option *option) {
    return option->kind == CLV_OPTION_INT || option->kind == CLV_OPTION_REAL || option->kind == CLV_OPTION_BYTES;
}

/* "0 or more", "1 to 1024", with the word that is allowed as well. */
static void describe_range(const clv_option *option, char *text, size_t size) {
    const char *kind = option->kind == CLV_OPTION_REAL ? "a number" : "a whole number";
    const char *units = option->kind == CLV_OPTION_BYTES ? ", which may end in K, M, G or T" : "";
    char range[96];
    if (option->most > 0x1p53) {
        snprintf(range, sizeof range, "%s of %.17g or more", kind, option->least);
    } else {
        snprintf(range, sizeof range, "%s from %.17g to %.17g", kind, option->least, option->most);
    }
    snprintf(text, size, "%s%s%s%s", range, units, option->word ? ", or " : "", option->word ? option->word : "");
}

static clv_status refuse(clv_context *ctx, const clv_option *option, const char *value) {
    char allowed[256];
    if (option->kind == CLV_OPTION_CHOICE) {
        return clv_fail(ctx, CLV_EUSAGE, "%s = '%s' is not one of %s", option->name, value, option->choices);
    }
    if (option->kind == CLV_OPTION_FLAG) {
        return clv_fail(ctx, CLV_EUSAGE, "%s = '%s' is neither true nor false", option->name, value);
    }
    describe_range(option, allowed, sizeof allowed);
    return clv_fail(ctx, CLV_EUSAGE, "%s = '%s' is not allowed: it must be %s", option->name, value, allowed);
}

/* The value of a word such as "auto" or "all". */
static double word_value(const clv_option *option) {
    return option->kind == CLV_OPTION_REAL && isnan(option->initial) ? NAN : option->word_value;
}

static bool in_range(const clv_option *option, double number) {
    if (isnan(number)) {
        return option->kind == CLV_OPTION_REAL && option->word && isnan(option->initial);
    }
    return number >= option->least && number <= option->most;
}

clv_status clv_options_check(clv_context *ctx, const clv_option_table *table, const void *options) {
    for (size_t i = 0; i < table->count; i++) {
        const clv_option *option = &table->options[i];
        double number = get_number(option, options);
        char text[64];
        snprintf(text, sizeof text, "%.17g", number);
        bool by_word = option->word && number == word_value(option); /* k = auto is 0, which is no number of clusters */
        if (has_range(option) && !in_range(option, number) && !by_word) {
            return refuse(ctx, option, text);
        }
        if (option->kind == CLV_OPTION_FLAG && (number < 0 || number > 1)) {
            return refuse(ctx, option, text);
        }
        if (option->kind == CLV_OPTION_CHOICE && (number < 0 || number >= count_choices(option->choices))) {
            return refuse(ctx, option, text);
        }
    }
    return CLV_OK;
}

/* strtod with a decimal point, whatever the locale of the program. */
static double parse_real(const char *value, char **end) {
    locale_t before = clv_point_begin();
    double number = strtod(value, end);
    clv_point_end(before);
    return number;
}

static bool parse_number(const clv_option *option, const char *value, double *number) {
    char *end;
    errno = 0;
    if (value[0] == '\0' || strspn(value, " \t\n\v\f\r") > 0) {
        return false;
    }
    if (option->kind == CLV_OPTION_REAL) {
        *number = parse_real(value, &end);
    } else {
        *number = (double)strtoll(value, &end, 10);
    }
    if (end == value || errno == ERANGE) {
        return false;
    }
    if (option->kind == CLV_OPTION_BYTES && *end) {
        const char *units = "KkMmGgTt";
        const char *unit = strchr(units, *end);
        if (!unit) {
            return false;
        }
        *number = ldexp(*number, 10 * (int)((unit - units) / 2 + 1));
        end++;
    }
    return *end == '\0' && !isnan(*number) && in_range(option, *number);
}

static bool parse_flag(const char *value, double *number) {
    bool yes = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    *number = yes;
    return yes || strcmp(value, "false") == 0 || strcmp(value, "0") == 0;
}

clv_status clv_options_set(clv_context *ctx, const clv_option_table *table, void *options, const char *name,
                           const char *value) {
    const clv_option *option = clv_options_find(table, name);
    double number = 0;
    if (!option) {
        return clv_fail(ctx, CLV_EUSAGE, "there is no option '%s' in %s", name, table->title);
    }
    if (option->kind == CLV_OPTION_TEXT) {
        *(const char **)((char *)options + option->offset) = value;
        return CLV_OK;
    }
    if (option->kind == CLV_OPTION_CHOICE) {
        number = find_choice(option->choices, value);
        if (number < 0) {
            return refuse(ctx, option, value);
        }
    } else if (option->kind == CLV_OPTION_FLAG) {
        if (!parse_flag(value, &number)) {
            return refuse(ctx, option, value);
        }
    } else if (option->word && strcmp(value, option->word) == 0) {
        number = word_value(option);
    } else if (!parse_number(option, value, &number)) {
        return refuse(ctx, option, value);
    }
    set_number(option, options, number);
    return CLV_OK;
}

static void print_choice(const clv_option *option, int index, char *text, size_t size) {
    const char *at = option->choices;
    if (index < 0) {
        at = NULL;
    }
    for (; index > 0 && at; index--) {
        at = strchr(at, '|');
        at = at ? at + 1 : NULL;
    }
    snprintf(text, size, "%.*s", at ? (int)strcspn(at, "|") : 1, at ? at : "?");
}

void clv_options_print(const clv_option *option, const void *options, char *text, size_t size) {
    double number = get_number(option, options);
    switch (option->kind) {
    case CLV_OPTION_TEXT: {
        const char *value = *(const char *const *)member(option, options);
        snprintf(text, size, "%s", value ? value : "");
        break;
    }
    case CLV_OPTION_CHOICE:
        print_choice(option, (int)number, text, size);
        break;
    case CLV_OPTION_FLAG:
        snprintf(text, size, "%s", number != 0 ? "true" : "false");
        break;
    case CLV_OPTION_REAL:
        if (option->word && (isnan(number) || (number == 0 && !isnan(option->initial)))) {
            snprintf(text, size, "%s", option->word);
        } else {
            locale_t before = clv_point_begin();
            snprintf(text, size, "%.15g", number); /* 0.3, unless that is another number */
            if (strtod(text, NULL) != number) {
                snprintf(text, size, "%.17g", number);
            }
            clv_point_end(before);
        }
        break;
    case CLV_OPTION_INT:
    case CLV_OPTION_BYTES:
        if (option->word && number == word_value(option)) {
            snprintf(text, size, "%s", option->word);
        } else {
            snprintf(text, size, "%lld", (long long)*(const int64_t *)member(option, options));
        }
        break;
    }
}
