/* Pieces of text that the reports are made of. Numbers come out the same in every locale. */
#include "report/report.h"

#include "io/io.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void clv_put_number(clv_text *text, double value) {
    char digits[CLV_NUMBER_SIZE];
    if (!isfinite(value)) {
        clv_text_append(text, "null", 4);
        return;
    }
    int size = clv_print_number(value, digits);
    clv_text_append(text, digits, (size_t)size);
}

/* What printf made of a number, with whatever the locale puts for the decimal point replaced. */
static void put_with_point(clv_text *text, const char *digits) {
    bool in_point = false;
    for (; *digits; digits++) {
        bool plain = strchr("0123456789+-e", *digits) != NULL;
        if (plain) {
            clv_text_append(text, digits, 1);
        } else if (!in_point) {
            clv_text_append(text, ".", 1);
        }
        in_point = !plain;
    }
}

void clv_put_rounded(clv_text *text, double value, int digits) {
    char printed[64];
    if (!isfinite(value)) {
        clv_text_append(text, "-", 1);
        return;
    }
    snprintf(printed, sizeof printed, "%.*g", digits, value);
    put_with_point(text, printed);
}

void clv_put_seconds(clv_text *text, double seconds) {
    char printed[64];
    if (!isfinite(seconds) || fabs(seconds) > 1e15) {
        clv_text_append(text, "-", 1);
        return;
    }
    snprintf(printed, sizeof printed, "%.3f", seconds);
    put_with_point(text, printed);
}

/* The number of bytes of the UTF-8 character at `at`, or 0 when there is none (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). */
static size_t character_size(const unsigned char *at) {
    size_t size = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool outside = (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf4 && at[1] > 0x8f);
    return overlong || outside ? 0 : size;
}

void clv_put_json_string(clv_text *text, const char *string) {
    const unsigned char *at = (const unsigned char *)string;
    clv_text_append(text, "\"", 1);
    while (*at) {
        size_t size = character_size(at);
        if (size == 0) {
            clv_text_append(text, "\\ufffd", 6);
            size = 1;
        } else if (*at == '"' || *at == '\\') {
            clv_text_add(text, "\\%c", *at);
        } else if (*at < 0x20 || *at == 0x7f) {
            clv_text_add(text, "\\u%04x", *at);
        } else {
            clv_text_append(text, (const char *)at, size);
        }
        at += size;
    }
    clv_text_append(text, "\"", 1);
}

static const char *html_entity(unsigned char byte) {
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return byte < 0x20 && byte != '\n' && byte != '\t' ? "&#xFFFD;" : NULL;
    }
}

void clv_put_html(clv_text *text, const char *string) {
    const unsigned char *at = (const unsigned char *)string;
    while (*at) {
        size_t size = character_size(at);
        const char *entity = size == 0 ? "&#xFFFD;" : html_entity(*at);
        size = size == 0 ? 1 : size;
        if (entity) {
            clv_text_append(text, entity, strlen(entity));
        } else {
            clv_text_append(text, (const char *)at, size);
        }
        at += size;
    }
}

clv_status clv_take_text(clv_text *text, char **out, size_t *size) {
    *out = NULL;
    *size = 0;
    if (text->status < 0) {
        clv_free(text->ctx, text->data);
        return text->status;
    }
    *out = text->data;
    *size = text->size;
    return CLV_OK;
}

double clv_gap_percent(const clv_result *result) {
    const clv_objective *objective = &result->objective;
    return result->bound.name ? clv_gap(objective->value, result->bound.value, objective->maximize) : (double)NAN;
}

double clv_gap(double objective, double bound, bool maximize) {
    double distance = maximize ? bound - objective : objective - bound;
    return distance <= 0 ? 0 : 100 * distance / fabs(objective);
}

const char *clv_certificate_words(const clv_result *result) {
    const clv_method *method = result->method ? clv_method_find(result->method) : NULL;
    return method ? clv_certificate_sentence(method, &result->certificate) : "";
}

const char *clv_what_is_counted(const clv_result *result) {
    const clv_method *method = result->method ? clv_method_find(result->method) : NULL;
    return method && method->takes == CLV_TAKES_SAMPLES ? "samples" : "objects";
}

/* --- fields for people --- */

void clv_put_entry(clv_text *text, const clv_field *field, int64_t i, int digits) {
    if (field->integers) {
        clv_text_add(text, "%lld", (long long)field->integers[i]);
    } else if (field->reals) {
        clv_put_rounded(text, field->reals[i], digits);
    } else {
        clv_text_add(text, "%.60s", field->texts[i]);
    }
}

bool clv_is_for_people(const clv_field *field) {
    return strcmp(field->name, "warnings") != 0 && strcmp(field->name, "membership") != 0;
}

static void put_matrix_size(clv_text *text, const clv_matrix *m) {
    clv_text_add(text, "%lld x %lld", (long long)m->rows, (long long)m->cols);
    if (m->start) {
        clv_text_add(text, ", %lld nonzero", (long long)m->start[m->rows]);
    }
}

static void put_mean(clv_text *text, const clv_field *field) {
    double sum = 0;
    for (int64_t i = 0; i < field->count; i++) {
        sum += field->integers ? (double)field->integers[i] : field->reals[i];
    }
    clv_put_rounded(text, sum / (double)field->count, 4);
    clv_text_add(text, " on average");
}

void clv_put_field(clv_text *text, const clv_field *field) {
    enum { SHOWN = 10, MANY = 64 };
    if (field->matrix) {
        put_matrix_size(text, field->matrix);
    } else if (field->count > MANY && !field->texts) {
        put_mean(text, field);
    } else {
        for (int64_t i = 0; i < field->count && i < SHOWN; i++) {
            clv_text_add(text, "%s", i > 0 ? " " : "");
            clv_put_entry(text, field, i, field->is_list ? 4 : 9);
        }
        clv_text_add(text, "%s", field->count > SHOWN ? " ..." : "");
    }
}

int64_t clv_table_columns(const clv_result *result, int64_t first) {
    const char *name = result->fields[first].name;
    size_t stem = strcspn(name, ".");
    int64_t end = first;
    while (name[stem] && end < result->fields_count && strncmp(result->fields[end].name, name, stem + 1) == 0) {
        end++;
    }
    return end - first;
}

const clv_score_name clv_score_names[] = {
    {"ari", offsetof(clv_scores, ari)},
    {"nmi", offsetof(clv_scores, nmi)},
    {"homogeneity", offsetof(clv_scores, homogeneity)},
    {"completeness", offsetof(clv_scores, completeness)},
    {"v_measure", offsetof(clv_scores, v_measure)},
    {"accuracy", offsetof(clv_scores, accuracy)},
    {"vi", offsetof(clv_scores, vi)},
    {"purity", offsetof(clv_scores, purity)},
    {"assignment_rate", offsetof(clv_scores, assignment_rate)},
};
const size_t clv_score_count = sizeof clv_score_names / sizeof clv_score_names[0];

double clv_score(const clv_scores *scores, const clv_score_name *name) {
    return *(const double *)((const char *)scores + name->offset);
}

/* The double behind a REAL option, or the gamma that its "auto" became. */
static double real_value(const clv_report *report, const clv_option *option, const void *options) {
    double value = *(const double *)((const char *)options + option->offset);
    bool chosen = isnan(value) && strcmp(option->name, "gamma") == 0 && report->affinity;
    return chosen ? report->affinity->gamma : value;
}

void clv_put_option(clv_text *text, const clv_report *report, const clv_option *option, const void *options,
                    void (*put)(clv_text *, const char *)) {
    char printed[128];
    if (option->kind == CLV_OPTION_TEXT) {
        const char *value = *(const char *const *)((const char *)options + option->offset);
        put(text, value ? value : "");
        return;
    }
    clv_options_print(option, options, printed, sizeof printed);
    bool word = option->word && strcmp(printed, option->word) == 0;
    if (option->kind == CLV_OPTION_REAL) {
        double value = real_value(report, option, options);
        if (!word || (isnan(option->initial) && isfinite(value))) {
            clv_put_number(text, value);
            return;
        }
    }
    if (option->kind == CLV_OPTION_CHOICE || word) {
        put(text, printed);
    } else {
        clv_text_append(text, printed, strlen(printed));
    }
}
