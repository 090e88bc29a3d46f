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

void clv_put_rounded(clv_text *text, double value, int digits) {
    if (isfinite(value)) {
        clv_text_add(text, "%.*g", digits, value);
    } else {
        clv_text_append(text, "-", 1);
    }
}

void clv_put_seconds(clv_text *text, double seconds) {
    if (isfinite(seconds) && fabs(seconds) <= 1e15) {
        clv_text_add(text, "%.3f", seconds);
    } else {
        clv_text_append(text, "-", 1);
    }
}

void clv_put_words(clv_text *text, const char *name, int size, int width) {
    size_t at = text->size;
    clv_text_add(text, "%*.*s", width, size, name);
    for (; at < text->size; at++) {
        text->data[at] = text->data[at] == '_' ? ' ' : text->data[at];
    }
}

/* What stands for a byte that cannot stand for itself, perhaps in `room`; NULL: it can. */
typedef const char *(*escape)(char byte, char room[8]);

static const char *escape_json(char byte, char room[8]) {
    bool quoted = byte == '"' || byte == '\\', plain = (unsigned char)byte >= 0x20 && byte != 0x7f;
    if (plain && !quoted) {
        return NULL;
    }
    snprintf(room, 8, quoted ? "\\%c" : "\\u%04x", byte);
    return room;
}

static const char *escape_html(char byte, char room[8]) {
    static const char special[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    const char *at = strchr(special, byte);
    (void)room;
    bool control = (unsigned char)byte < 0x20 && byte != '\n' && byte != '\t';
    return at ? entities[at - special] : control ? "&#xFFFD;" : NULL;
}

/* `other` stands for every byte that is not UTF-8. */
static void put_escaped(clv_text *text, const char *string, escape by, const char *other) {
    for (const char *end = string + strlen(string); string < end;) {
        char room[8];
        size_t size = clv_utf8_size(string, (size_t)(end - string));
        const char *instead = size == 0 ? other : by(*string, room);
        size = size == 0 ? 1 : size;
        clv_text_append(text, instead ? instead : string, instead ? strlen(instead) : size);
        string += size;
    }
}

void clv_put_json_string(clv_text *text, const char *string) {
    clv_text_append(text, "\"", 1);
    put_escaped(text, string, escape_json, "\\ufffd");
    clv_text_append(text, "\"", 1);
}

void clv_put_html(clv_text *text, const char *string) {
    put_escaped(text, string, escape_html, "&#xFFFD;");
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

void clv_put_clusters(clv_text *text, const clv_result *result) {
    int64_t filled = 0;
    for (int64_t c = 0; c < result->k; c++) {
        filled += !result->sizes || result->sizes[c] > 0;
    }
    clv_text_add(text, "%lld cluster%s", (long long)filled, filled == 1 ? "" : "s");
    if (filled < result->k) {
        int64_t empty = result->k - filled;
        clv_text_add(text, " (%lld of %lld %s empty)", (long long)empty, (long long)result->k,
                     empty == 1 ? "is" : "are");
    }
}

double clv_objective_rounding(const clv_result *result) {
    const clv_method *method = result->method ? clv_method_find(result->method) : NULL;
    double unit = method && method->bound ? fmax((double)result->k, 1) : 0;
    return CLV_ROUNDING_A_CLUSTER * fmax(unit, fabs(result->objective.value));
}

void clv_put_objective(clv_text *text, const clv_result *result, double value, int digits) {
    clv_put_rounded(text, fabs(value) <= clv_objective_rounding(result) ? 0 : value, digits);
}

const char *clv_certificate_words(const clv_result *result) {
    const clv_method *method = result->method ? clv_method_find(result->method) : NULL;
    if (method && method->takes == CLV_TAKES_PARTITIONS) { /* the sentence is of the method that it was found by */
        method = clv_method_find(result->solver);
    }
    return method ? clv_certificate_sentence(method, &result->certificate) : "";
}

const char *clv_what_is_counted(const clv_result *result) {
    const clv_method *method = result->method ? clv_method_find(result->method) : NULL;
    return method && method->takes == CLV_TAKES_SAMPLES ? "samples" : "objects";
}

/* --- fields for people --- */

void clv_put_entry(clv_text *text, const clv_field *field, int64_t i, int digits) {
    if (field->integers && strcmp(field->name, "weighted") == 0) {
        clv_text_add(text, "%s", field->integers[i] ? "yes" : "no");
    } else if (field->integers) {
        clv_text_add(text, "%lld", (long long)field->integers[i]);
    } else if (field->reals) {
        clv_put_rounded(text, field->reals[i], digits);
    } else if (field->texts) {
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
    if (field->texts && !field->is_list && field->count == 1) { /* a sentence, of which all is said */
        clv_text_add(text, "%s", field->texts[0]);
    } else if (field->matrix) {
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

void clv_put_terms(clv_text *text, const clv_report_terms *terms, int64_t cluster) {
    const int32_t *own = terms->terms + cluster * terms->top;
    for (int64_t i = 0; i < terms->top && own[i] >= 0; i++) {
        clv_text_append(text, ", ", i > 0 ? 2 : 0);
        clv_put_html(text, terms->names[own[i]]);
    }
    clv_text_append(text, "none", own[0] < 0 ? 4 : 0);
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

clv_status clv_report_check(clv_context *ctx, const clv_report *report) {
    const clv_result *result = report->result;
    bool whole = result && result->method && result->objective.name && result->certificate.name;
    return whole ? CLV_OK
                 : clv_fail(ctx, CLV_EUSAGE,
                            "there is nothing to report: only results of runs and evaluations have an objective and a "
                            "certificate");
}

bool clv_next_metric(const clv_report *report, size_t *at, const char **name, double *value) {
    size_t count;
    const clv_metric *scores = clv_metrics(&count);
    while (*at <= count) {
        size_t m = (*at)++;
        bool last = m == count;
        *name = last ? "silhouette" : scores[m].name;
        *value = last             ? (report->silhouette ? *report->silhouette : (double)NAN)
                 : report->scores ? *(const double *)(const void *)((const char *)report->scores + scores[m].offset)
                                  : (double)NAN;
        if (isfinite(*value)) {
            return true;
        }
    }
    return false;
}

const char *clv_next_warning(const clv_report *report, int64_t *at) {
    const clv_field *said = clv_result_field(report->result, "warnings");
    const char *const *texts = said ? said->texts : NULL;
    int64_t count = texts ? said->count : 0, i = (*at)++;
    const char *of_data = report->data ? clv_data_warning(report->data) : "";
    return texts && i < count ? texts[i] : i == count && *of_data ? of_data : NULL;
}

bool clv_next_option(const clv_report *report, clv_listing *at) {
    static const clv_option scale = {
        .name = "scale", .kind = CLV_OPTION_TEXT, .help = "what was done to the points first"};
    const clv_option_table *const *tables = report->tables;
    while (tables && tables[at->table] && at->next == tables[at->table]->count) {
        at->table++;
        at->next = 0;
    }
    if (tables && tables[at->table]) {
        at->option = &tables[at->table]->options[at->next++];
        at->options = report->options[at->table];
    } else if (report->scale && !at->has_scale) {
        at->option = &scale;
        at->options = &report->scale;
    } else {
        return false;
    }
    at->has_scale = at->has_scale || strcmp(at->option->name, "scale") == 0;
    return true;
}

void clv_put_option(clv_text *text, const clv_report *report, const clv_option *option, const void *options,
                    void (*put)(clv_text *, const char *)) {
    const void *member = (const char *)options + option->offset;
    bool real = option->kind == CLV_OPTION_REAL;
    char printed[128];
    if (option->kind == CLV_OPTION_TEXT) {
        const char *value = *(const char *const *)member;
        put(text, value ? value : "");
        return;
    }
    clv_options_print(option, options, printed, sizeof printed);
    if (report->affinity && strcmp(option->name, "affinity") == 0 && strcmp(printed, "auto") == 0) {
        put(text, clv_affinity_kind_name(report->affinity->kind)); /* what its "auto" became */
        return;
    }
    bool word = option->word && strcmp(printed, option->word) == 0;
    double value = real ? *(const double *)member : (double)NAN;
    if (real && isnan(value) && report->affinity && strcmp(option->name, "gamma") == 0) {
        value = report->affinity->gamma; /* likewise */
    }
    if (real && (!word || (isnan(option->initial) && isfinite(value)))) {
        clv_put_number(text, value);
    } else if (option->kind == CLV_OPTION_CHOICE || word) {
        put(text, printed);
    } else {
        clv_text_append(text, printed, strlen(printed));
    }
}
