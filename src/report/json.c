/* The JSON result: the fields of a run in a fixed order, numbers that read back exactly. Written by hand, as the JSON
 * library can only be given an allocator for the whole process. The number of threads is no field: nothing in a result
 * depends on it, so the same run on other threads gives the same text but for the seconds. */
#include "linalg/linalg.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

static void put_field(clv_text *text, const char *name) {
    clv_text_add(text, "\"%s\": ", name);
}

static void put_number_field(clv_text *text, const char *name, double value, const char *end) {
    put_field(text, name);
    clv_put_number(text, value);
    clv_text_add(text, "%s", end);
}

static void put_string_field(clv_text *text, const char *name, const char *value, const char *end) {
    put_field(text, name);
    clv_put_json_string(text, value);
    clv_text_add(text, "%s", end);
}

static void put_option_value(clv_text *text, const clv_report *report, const clv_option *option, const void *options) {
    bool is_text = option->kind == CLV_OPTION_TEXT;
    if (is_text && !*(const char *const *)((const char *)options + option->offset)) {
        clv_text_append(text, "null", 4);
    } else {
        clv_put_option(text, report, option, options, clv_put_json_string);
    }
}

static void put_options(clv_text *text, const clv_report *report) {
    const char *between = "";
    clv_text_add(text, " \"options\": {");
    for (clv_listing at = {0}; clv_next_option(report, &at);) {
        if (strcmp(at.option->name, "threads") != 0) {
            clv_text_add(text, "%s", between);
            put_field(text, at.option->name);
            put_option_value(text, report, at.option, at.options);
            between = ", ";
        }
    }
    clv_text_add(text, "},\n");
}

/* Which candidates there were for the kind, if any, and why it is this one. */
static void put_choice(clv_text *text, const clv_affinity_info *info) {
    char reason[256];
    clv_affinity_reason(info, reason, sizeof reason);
    if (info->choice == CLV_CHOICE_COMPARED) {
        clv_text_add(text, "\"chosen_on\": %lld, ", (long long)info->chosen_on);
        put_number_field(text, "agreement_gaussian", info->agreement[0], ", ");
        put_number_field(text, "agreement_local", info->agreement[1], ", ");
        put_number_field(text, "agreement_local_knn", info->agreement[2], ", ");
    }
    put_string_field(text, "reason", reason, ", ");
}

static void put_affinity(clv_text *text, const clv_affinity_info *info) {
    clv_text_add(text, " \"affinity\": {");
    put_string_field(text, "kind", clv_affinity_kind_name(info->kind), ", ");
    if (isfinite(info->gamma)) {
        put_number_field(text, "gamma", info->gamma, ", ");
    }
    if (isfinite(info->recall)) {
        put_number_field(text, "recall", info->recall, ", ");
    }
    if (info->landmarks > 0) {
        clv_text_add(text, "\"landmarks\": %lld, ", (long long)info->landmarks);
        put_number_field(text, "trace_error", info->trace_error, ", ");
        put_number_field(text, "sampled_error", info->sampled_error, ", ");
    }
    if (info->choice != CLV_CHOICE_NAMED) {
        put_choice(text, info);
    }
    put_string_field(text, "home", info->home, ", ");
    clv_text_add(text, "\"bytes\": %zu, \"nonzeros\": %lld},\n", info->bytes, (long long)info->nonzeros);
}

static void put_claims(clv_text *text, const clv_result *result) {
    clv_text_add(text, " \"objective\": {");
    put_string_field(text, "name", result->objective.name, ", ");
    put_number_field(text, "value", result->objective.value, ", ");
    clv_text_add(text, "\"sense\": \"%s\"},\n", result->objective.maximize ? "max" : "min");
    if (result->bound.name) {
        clv_text_add(text, " \"bound\": {");
        put_string_field(text, "name", result->bound.name, ", ");
        put_number_field(text, "value", result->bound.value, ", ");
        put_number_field(text, "gap_percent", clv_gap_percent(result), "},\n");
    }
    clv_text_add(text, " \"certificate\": {");
    put_string_field(text, "name", result->certificate.name, ", ");
    put_number_field(text, "value", result->certificate.value, ", ");
    put_number_field(text, "tolerance", result->certificate.tolerance, ", ");
    clv_text_add(text, "\"holds\": %s},\n", result->certificate.holds ? "true" : "false");
}

static void put_course(clv_text *text, const clv_report *report) {
    const clv_result *result = report->result;
    put_string_field(text, "stop", clv_stop_name(result->stop), ", ");
    clv_text_add(text, "\"iterations\": %lld, \"seconds\": {", (long long)result->iterations);
    put_number_field(text, "total", report->total_seconds, ", ");
    put_number_field(text, "load", report->load_seconds, ", ");
    if (report->affinity) {
        put_number_field(text, "affinity", report->affinity_seconds, ", ");
    }
    put_number_field(text, "solve", result->seconds, "}, ");
    put_number_field(text, "drift", result->drift, ",\n \"restarts\": [");
    for (int64_t r = 0; r < result->restarts_count; r++) {
        const clv_restart *restart = &result->restarts[r];
        clv_text_add(text, "%s{", r > 0 ? ", " : "");
        put_number_field(text, "objective", restart->objective, ", ");
        clv_text_add(text, "\"iterations\": %lld, ", (long long)restart->iterations);
        put_number_field(text, "seconds", restart->seconds, ", ");
        put_string_field(text, "stop", clv_stop_name(restart->stop), "}");
    }
    clv_text_add(text, "]");
}

/* A number of a list: a comma before all but the first. By hand, as there is one for every object: snprintf takes ten
 * times as long. */
static void put_integer(clv_text *text, int64_t value, bool first) {
    char digits[24], *at = digits + sizeof digits;
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do {
        *--at = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0) {
        *--at = '-';
    }
    if (!first) {
        at -= 2;
        memcpy(at, ", ", 2);
    }
    clv_text_append(text, at, (size_t)(digits + sizeof digits - at));
}

static void put_labels(clv_text *text, const clv_result *result) {
    clv_text_add(text, ",\n \"sizes\": [");
    for (int64_t c = 0; c < result->k; c++) {
        put_integer(text, result->sizes[c], c == 0);
    }
    clv_text_add(text, "], \"left_out\": %lld,\n \"labels\": [", (long long)result->left_out);
    for (int64_t i = 0; i < result->n; i++) {
        put_integer(text, result->labels[i], i == 0);
    }
    clv_text_add(text, "]");
}

/* --- fields --- */

static void put_real(clv_text *text, double value, bool first) {
    clv_text_append(text, ", ", first ? 0 : 2);
    clv_put_number(text, value);
}

/* Which of the three lists of a sparse matrix is written. */
typedef enum list { STARTS, INDICES, VALUES } list;

/* One list of the entries other than 0, by rows. */
static void put_list(clv_text *text, const char *name, const clv_matrix *m, list which, const char *end) {
    int64_t count = 0;
    clv_text_add(text, "\"%s\": [%s", name, which == STARTS ? "0" : "");
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t from = m->start ? m->start[i] : i * m->cols, to = m->start ? m->start[i + 1] : from + m->cols;
        for (int64_t at = from; at < to; at++) {
            double value = clv_stored(m, at);
            if (value == 0) {
                continue;
            }
            if (which == INDICES) {
                put_integer(text, m->start ? m->index[at] : at - from, count == 0);
            } else if (which == VALUES) {
                put_real(text, value, count == 0);
            }
            count++;
        }
        if (which == STARTS) {
            put_integer(text, count, false);
        }
    }
    clv_text_add(text, "]%s", end);
}

static void put_sparse(clv_text *text, const clv_matrix *m) {
    clv_text_add(text, "{\"rows\": %lld, \"cols\": %lld, ", (long long)m->rows, (long long)m->cols);
    put_list(text, "start", m, STARTS, ",\n  ");
    put_list(text, "index", m, INDICES, ",\n  ");
    put_list(text, "value", m, VALUES, "}");
}

static void put_rows(clv_text *text, const clv_matrix *m) {
    clv_text_append(text, "[", 1);
    for (int64_t i = 0; i < m->rows; i++) {
        clv_text_add(text, "%s[", i > 0 ? ",\n  " : "");
        for (int64_t j = 0; j < m->cols; j++) {
            put_real(text, clv_stored(m, i * m->cols + j), j == 0);
        }
        clv_text_append(text, "]", 1);
    }
    clv_text_append(text, "]", 1);
}

static void put_entry(clv_text *text, const clv_field *field, int64_t i) {
    if (field->integers) {
        put_integer(text, field->integers[i], true);
    } else if (field->reals) {
        clv_put_number(text, field->reals[i]);
    } else {
        clv_put_json_string(text, field->texts[i]);
    }
}

static void put_value(clv_text *text, const clv_field *field) {
    if (field->kind == CLV_FIELD_SPARSE) {
        put_sparse(text, field->matrix);
    } else if (field->kind == CLV_FIELD_MATRIX) {
        put_rows(text, field->matrix);
    } else if (!field->is_list) {
        put_entry(text, field, 0);
    } else {
        for (int64_t i = 0; i < field->count; i++) {
            clv_text_append(text, i > 0 ? ", " : "[", i > 0 ? 2 : 1);
            put_entry(text, field, i);
        }
        clv_text_add(text, field->count > 0 ? "]" : "[]");
    }
}

/* The columns of a table, `count` fields with the same `stem` before their dots: an array with an object per row. */
static void put_table(clv_text *text, const clv_field *columns, int64_t count, int stem) {
    for (int64_t i = 0; i < columns->count; i++) {
        clv_text_add(text, "%s{", i > 0 ? ",\n  " : "[");
        for (int64_t c = 0; c < count; c++) {
            clv_text_add(text, c > 0 ? ", " : "");
            put_field(text, columns[c].name + stem + 1);
            put_entry(text, &columns[c], i);
        }
        clv_text_append(text, "}", 1);
    }
    clv_text_add(text, columns->count > 0 ? "]" : "[]");
}

/* All that are said, of the data as well. */
static void put_warnings(clv_text *text, const clv_report *report) {
    int64_t at = 0;
    for (const char *said = clv_next_warning(report, &at); said; said = clv_next_warning(report, &at)) {
        clv_text_add(text, at == 1 ? ",\n \"warnings\": [" : ", ");
        clv_put_json_string(text, said);
    }
    clv_text_add(text, at > 1 ? "]" : "");
}

static void put_fields(clv_text *text, const clv_result *result) {
    for (int64_t f = 0; f < result->fields_count;) {
        const clv_field *field = &result->fields[f];
        int64_t columns = clv_table_columns(result, f);
        int stem = (int)strcspn(field->name, ".");
        if (strcmp(field->name, "warnings") == 0) {
            f++;
            continue;
        }
        clv_text_add(text, ",\n \"%.*s\": ", stem, field->name);
        if (columns > 0) {
            put_table(text, field, columns, stem);
        } else {
            put_value(text, field);
        }
        f += columns > 0 ? columns : 1;
    }
}

/* An array per cluster, the best term first. */
static void put_terms(clv_text *text, const clv_report_terms *terms, int64_t k) {
    clv_text_add(text, ",\n \"terms\": [");
    for (int64_t c = 0; c < k; c++) {
        clv_text_add(text, "%s[", c > 0 ? ",\n  " : "");
        for (int64_t at = c * terms->top; at < (c + 1) * terms->top && terms->terms[at] >= 0; at++) {
            clv_text_add(text, "%s{", at > c * terms->top ? ", " : "");
            put_string_field(text, "term", terms->names[terms->terms[at]], ", ");
            put_number_field(text, "score", terms->scores[at], "}");
        }
        clv_text_append(text, "]", 1);
    }
    clv_text_append(text, "]", 1);
}

static void put_metrics(clv_text *text, const clv_report *report) {
    const char *name, *between = ",\n \"metrics\": {", *end = "";
    double value;
    for (size_t at = 0; clv_next_metric(report, &at, &name, &value);) {
        clv_text_add(text, "%s", between);
        put_number_field(text, name, value, "");
        between = ", ";
        end = "}";
    }
    clv_text_add(text, "%s", end);
}

static void put_reals(clv_text *text, const char *name, const double *values, int64_t count, const char *end) {
    clv_text_add(text, "\"%s\": [", name);
    for (int64_t i = 0; i < count; i++) {
        put_real(text, values[i], i == 0);
    }
    clv_text_add(text, "]%s", end);
}

/* Rows of the file that are not among the objects, from 0. */
static void put_dropped(clv_text *text, const clv_data *data) {
    int64_t next = 0, rows = clv_data_matrix(data)->rows, dropped = 0;
    put_field(text, "dropped");
    for (int64_t row = 0; row < clv_data_rows_read(data); row++) {
        if (next < rows && clv_data_row(data, next) == row) {
            next++;
        } else {
            clv_text_add(text, "%s%lld", dropped++ > 0 ? ", " : "[", (long long)row);
        }
    }
    clv_text_append(text, "]", 1);
}

/* What was used of the file, the names of its columns, and how they were scaled: what prediction needs. */
static void put_data(clv_text *text, const clv_report *report) {
    const clv_data *data = report->data;
    const clv_method *method = clv_method_find(report->result->method);
    bool points = report->affinity ? report->affinity->kind != CLV_AFFINITY_PRECOMPUTED
                                   : method && method->takes == CLV_TAKES_POINTS && report->result->labels &&
                                         !clv_data_is_mapped(data); /* which may be larger than the memory */
    const double *shift, *factor;
    const char *between = " \"data\": {", *end = "";
    if (points) { /* new objects are labeled by these, or other results compared */
        clv_text_add(text, "%s\"fingerprint\": \"%016llx\"", between,
                     (unsigned long long)clv_matrix_fingerprint(clv_data_matrix(data)));
        between = ",\n  ";
    }
    if (*clv_data_note(data)) {
        clv_text_add(text, "%s", between);
        put_string_field(text, "used", clv_data_note(data), "");
        between = ",\n  ";
    }
    for (int64_t c = 0; clv_data_column(data, c); c++) {
        clv_text_add(text, "%s%s", c > 0 ? ", " : between, c > 0 ? "" : "\"columns\": [");
        clv_put_json_string(text, clv_data_column(data, c));
        between = ",\n  ";
        end = "]";
    }
    clv_text_add(text, "%s", end);
    if (clv_data_fill(data)) {
        clv_text_add(text, "%s", between);
        put_reals(text, "fill", clv_data_fill(data), clv_data_matrix(data)->cols, "");
    }
    if (clv_data_rows_read(data) > clv_data_matrix(data)->rows) {
        clv_text_add(text, "%s", between);
        put_dropped(text, data);
        between = ",\n  ";
    }
    if (clv_data_scaling(data, &shift, &factor)) {
        clv_text_add(text, "%s", between);
        put_reals(text, "shift", shift, clv_data_matrix(data)->cols, ",\n  ");
        put_reals(text, "factor", factor, clv_data_matrix(data)->cols, "");
        between = ",\n  ";
    }
    clv_text_add(text, "%s", *between == ',' ? "},\n" : "");
}

clv_status clv_report_json(clv_context *ctx, const clv_report *report, char **out, size_t *size) {
    *out = NULL;
    CLV_NEED(ctx, report);
    const clv_result *result = report->result;
    clv_text text = {.ctx = ctx};
    CLV_TRY(clv_report_check(ctx, report));
    clv_text_add(&text, "{\"cleave\": \"%s\", ", clv_version());
    put_string_field(&text, "method", result->method, ", ");
    put_string_field(&text, "solver", result->solver, ", ");
    clv_text_add(&text, "\"n\": %lld, \"k\": %lld, \"seed\": %lld,\n", (long long)result->n, (long long)result->k,
                 (long long)result->seed);
    if (report->data) {
        put_data(&text, report);
    }
    put_options(&text, report);
    if (report->affinity) {
        put_affinity(&text, report->affinity);
    }
    put_claims(&text, result);
    clv_text_append(&text, " ", 1);
    put_course(&text, report);
    if (result->labels) {
        put_labels(&text, result);
    }
    put_fields(&text, result);
    put_warnings(&text, report);
    if (report->terms) {
        put_terms(&text, report->terms, result->k);
    }
    put_metrics(&text, report);
    clv_text_add(&text, "}\n");
    return clv_take_text(&text, out, size);
}
