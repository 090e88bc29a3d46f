/* Option tables: defaults, parsing, range checks and printing, all from the same description. */
#include "base/options.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const clv_option_table *clv_control_table(void) {
    static const clv_option options[] = {
        CLV_OPT_INT(clv_control, restarts, "restarts", 0, 1, 1, 1e9, NULL, "N", "independent starts; the best is kept"),
        CLV_OPT_INT(clv_control, seed, "seed", 0, 1, 0, 0x1p53, NULL, "S", "seed of the random numbers"),
        CLV_OPT_INT(clv_control, threads, "threads", 0, 0, 0, 1024, "all", "T",
                    "number of threads; the result does not depend on it"),
        CLV_OPT_REAL(clv_control, tol, "tol", NAN, 0, 1e6, "auto", "E", "tolerance of the stopping rule"),
        CLV_OPT_INT(clv_control, max_iter, "max-iter", 0, CLV_MAX_ITER, 0, 1e15, NULL, "N",
                    "at most N iterations per restart"),
        CLV_OPT_REAL(clv_control, time_limit, "time-limit", 0, 0, HUGE_VAL, "none", "SECONDS",
                     "stop after this time, with the best result so far; 0: no limit"),
    };
    static const clv_option_table table = {"run", options, CLV_COUNT(options), 0};
    return &table;
}

static const void *member(const clv_option *option, const void *options) {
    return (const char *)options + option->offset;
}

static bool is_small(const clv_option *option) { /* an int */
    return option->kind == CLV_OPTION_FLAG || option->kind == CLV_OPTION_CHOICE;
}

/* Any member as a number; TEXT has none. */
static double get_number(const clv_option *option, const void *options) {
    const void *at = member(option, options);
    if (option->kind == CLV_OPTION_TEXT) {
        return NAN;
    }
    return option->kind == CLV_OPTION_REAL ? *(const double *)at
           : is_small(option)              ? *(const int *)at
                                           : (double)*(const int64_t *)at;
}

static void set_number(const clv_option *option, void *options, double value) {
    void *at = (char *)options + option->offset;
    if (option->kind == CLV_OPTION_REAL) {
        *(double *)at = value;
    } else if (is_small(option)) {
        *(int *)at = (int)value;
    } else {
        *(int64_t *)at = (int64_t)value;
    }
}

static size_t member_size(const clv_option *option) {
    return is_small(option) ? sizeof(int) : option->kind == CLV_OPTION_TEXT ? sizeof(char *) : sizeof(int64_t);
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

/* Where number `index` of "a|b|c" begins, and its length; NULL: there are not so many. */
static const char *choice_at(const char *choices, int index, int *size) {
    const char *at = index < 0 ? NULL : choices;
    for (; at && index > 0; index--) {
        at = strchr(at, '|');
        at = at ? at + 1 : NULL;
    }
    *size = at ? (int)strcspn(at, "|") : 0;
    return at;
}

/* Index of `value` among "a|b|c", or -1. */
static int find_choice(const char *choices, const char *value) {
    const char *at;
    int size;
    for (int index = 0; (at = choice_at(choices, index, &size)); index++) {
        if (strlen(value) == (size_t)size && strncmp(at, value, (size_t)size) == 0) {
            return index;
        }
    }
    return -1;
}

bool clv_is_listed(const char *list, const char *name) {
    return list && *name && find_choice(list, name) >= 0;
}

void clv_options_list(const char *choices, char *text, size_t size) {
    const char *at;
    size_t used = 0;
    int length;
    text[0] = '\0';
    for (int index = 0; (at = choice_at(choices, index, &length)) && used < size; index++) {
        const char *between = index == 0 ? "" : at[length] ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", between, length, at);
    }
}

/* "0 or more", "1 to 1024", "above 0 and up to 1", with the word that is allowed as well. */
static void describe_range(const clv_option *option, char *text, size_t size) {
    const char *kind = option->kind == CLV_OPTION_REAL ? "a number" : "a whole number";
    const char *units = option->kind == CLV_OPTION_BYTES ? ", which may end in K, M, G or T" : "";
    int digits = option->kind == CLV_OPTION_REAL ? 15 : 20; /* whole numbers in full */
    char range[96];
    if (option->least == DBL_TRUE_MIN) {
        snprintf(range, sizeof range, "%s above 0 and up to %.*g", kind, digits, option->most);
    } else if (isinf(option->most)) {
        snprintf(range, sizeof range, "%s of %.*g or more", kind, digits, option->least);
    } else {
        snprintf(range, sizeof range, "%s from %.*g to %.*g", kind, digits, option->least, digits, option->most);
    }
    snprintf(text, size, "%s%s%s%s", range, units, option->word ? ", or " : "", option->word ? option->word : "");
}

static clv_status refuse(clv_context *ctx, const clv_option *option, const char *value) {
    char allowed[256];
    if (is_small(option)) {
        clv_options_list(option->kind == CLV_OPTION_FLAG ? "true|false" : option->choices, allowed, sizeof allowed);
    } else {
        describe_range(option, allowed, sizeof allowed);
    }
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

static bool is_allowed(const clv_option *option, double number) {
    int size;
    switch (option->kind) {
    case CLV_OPTION_TEXT:
        return true;
    case CLV_OPTION_CHOICE:
        return choice_at(option->choices, (int)number, &size) != NULL;
    case CLV_OPTION_FLAG:
        return number == 0 || number == 1;
    default: /* k = auto is 0, which is no number of clusters */
        return in_range(option, number) || (option->word && number == word_value(option));
    }
}

clv_status clv_options_check(clv_context *ctx, const clv_option_table *table, const void *options) {
    CLV_NEED(ctx, table);
    CLV_NEED(ctx, options);
    for (size_t i = 0; i < table->count; i++) {
        double number = get_number(&table->options[i], options);
        if (!is_allowed(&table->options[i], number)) {
            char text[64];
            snprintf(text, sizeof text, "%.15g", number);
            return refuse(ctx, &table->options[i], text);
        }
    }
    return CLV_OK;
}

static bool parse_number(const clv_option *option, const char *value, double *number) {
    char *end;
    errno = 0;
    if (value[0] == '\0' || strspn(value, " \t\n\v\f\r") > 0) {
        return false;
    }
    locale_t before = clv_point_begin();
    *number = option->kind == CLV_OPTION_REAL ? strtod(value, &end) : (double)strtoll(value, &end, 10);
    clv_point_end(before);
    bool is_number = option->kind == CLV_OPTION_REAL && isfinite(*number) && *number != 0;
    if (end == value || (errno == ERANGE && !is_number)) { /* which is also said of a denormal number */
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

/* What `value` says; false: nothing that is allowed. */
static bool parse(const clv_option *option, const char *value, double *number) {
    if (option->kind == CLV_OPTION_CHOICE || option->kind == CLV_OPTION_FLAG) {
        bool flag = option->kind == CLV_OPTION_FLAG;
        int index = find_choice(flag ? "false|true|0|1" : option->choices, value);
        *number = flag ? index % 2 : index;
        return index >= 0;
    }
    if (option->word && strcmp(value, option->word) == 0) {
        *number = word_value(option);
        return true;
    }
    return parse_number(option, value, number);
}

clv_status clv_options_set(clv_context *ctx, const clv_option_table *table, void *options, const char *name,
                           const char *value) {
    CLV_NEED(ctx, table);
    CLV_NEED(ctx, options);
    const clv_option *option = name ? clv_options_find(table, name) : NULL;
    double number = 0;
    if (!option) {
        return clv_fail(ctx, CLV_EUSAGE, "there is no option '%s' in %s", name ? name : "", table->title);
    }
    if (!value && option->kind != CLV_OPTION_TEXT) {
        return clv_fail(ctx, CLV_EUSAGE, "%s is set to nothing", name);
    }
    if (option->kind == CLV_OPTION_TEXT) {
        *(const char **)((char *)options + option->offset) = value;
    } else if (parse(option, value, &number)) {
        set_number(option, options, number);
    } else {
        return refuse(ctx, option, value);
    }
    return CLV_OK;
}

void clv_options_print(const clv_option *option, const void *options, char *text, size_t size) {
    double number = get_number(option, options);
    bool ranged = option->kind != CLV_OPTION_TEXT && !is_small(option);
    if (ranged && option->word && (isnan(number) || number == word_value(option))) {
        snprintf(text, size, "%s", option->word);
        return;
    }
    switch (option->kind) {
    case CLV_OPTION_TEXT: {
        const char *value = *(const char *const *)member(option, options);
        snprintf(text, size, "%s", value ? value : "");
        break;
    }
    case CLV_OPTION_CHOICE: {
        int length;
        const char *at = choice_at(option->choices, (int)number, &length);
        snprintf(text, size, "%.*s", at ? length : 1, at ? at : "?");
        break;
    }
    case CLV_OPTION_FLAG:
        snprintf(text, size, "%s", number != 0 ? "true" : "false");
        break;
    case CLV_OPTION_REAL: {
        locale_t before = clv_point_begin();
        snprintf(text, size, "%.15g", number); /* 0.3, unless that is another number */
        if (strtod(text, NULL) != number) {
            snprintf(text, size, "%.17g", number);
        }
        clv_point_end(before);
        break;
    }
    case CLV_OPTION_INT:
    case CLV_OPTION_BYTES:
        snprintf(text, size, "%lld", (long long)*(const int64_t *)member(option, options));
        break;
    }
}
