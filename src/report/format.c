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

/* What each certificate proves, or fails to. */
static const struct {
    const char *name, *holds, *fails;
} certificates[] = {
    {"one-move-gain", "Proved: no single object can be moved to another cluster to lower the cut.",
     "Not optimal: some object can be moved to another cluster to lower the cut."},
    {"subgradient", "Proved: a critical point, the smallest subgradient is 0 but for rounding.",
     "Not critical yet: there is a direction in which the objective falls."},
    {"frank-wolfe-gap", "Proved: a stationary point, no shift of weight can improve the objective at first order.",
     "Not stationary yet: some shift of weight would improve the objective."},
    {"relative-duality-gap", "Proved: the objective is within this share of the least possible.",
     "Not proved to be within the tolerance of the least possible; this share is what is proved."},
};

const char *clv_certificate_words(const clv_certificate *certificate) {
    if (isnan(certificate->value)) {
        return "The run was ended before the certificate could be computed.";
    }
    for (size_t i = 0; i < sizeof certificates / sizeof certificates[0]; i++) {
        if (strcmp(certificate->name, certificates[i].name) == 0) {
            return certificate->holds ? certificates[i].holds : certificates[i].fails;
        }
    }
    return certificate->holds ? "Proved: the certificate is within its tolerance."
                              : "Not proved: the certificate is above its tolerance.";
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
