/* The result as a short table for a person at a terminal. */
#include "report/report.h"

#include <math.h>
#include <string.h>

/* The longest name is assignment_rate. */
enum { SIZES_SHOWN = 20, ROWS_SHOWN = 10, KS_SHOWN = 20, COLUMNS_SHOWN = 16, NAME_WIDTH = 17, LINE_WIDTH = 100 };

static void put_name(clv_text *text, const char *name) {
    clv_put_words(text, name, -1, -NAME_WIDTH);
}

/* What was clustered, or learned. */
static void put_size(clv_text *text, const clv_result *result) {
    put_name(text, clv_what_is_counted(result));
    clv_text_add(text, "%lld", (long long)result->n);
    if (result->labels) {
        clv_text_add(text, " in ");
        clv_put_clusters(text, result);
    } else {
        clv_text_add(text, ", k = %lld", (long long)result->k);
    }
    if (result->left_out > 0) {
        clv_text_add(text, ", %lld left out", (long long)result->left_out);
    }
    clv_text_add(text, "\n");
}

/* An affinity that is not what was asked for, and by how much not. */
static void put_landmarks(clv_text *text, const clv_affinity_info *info) {
    put_name(text, "affinity");
    clv_text_add(text, "%s by %lld landmark%s: error ", clv_affinity_kind_name(info->kind), (long long)info->landmarks,
                 info->landmarks == 1 ? "" : "s");
    clv_put_rounded(text, info->sampled_error, 3);
    clv_text_add(text, " of the entries (sampled), ");
    clv_put_rounded(text, info->trace_error, 3);
    clv_text_add(text, " of the trace\n");
}

static void put_distance(clv_text *text, const clv_result *result) {
    double gap = clv_gap_percent(result);
    if (gap == 0) {
        clv_text_add(text, ", reached\n");
    } else {
        clv_text_add(text, ", ");
        clv_put_rounded(text, gap, 3);
        clv_text_add(text, " %% %s\n", result->objective.maximize ? "above" : "below");
    }
}

static void put_run(clv_text *text, const clv_report *report) {
    const clv_result *result = report->result;
    put_name(text, "method");
    clv_text_add(text, "%s%s%s\n", result->method, result->solver[0] ? ", solver " : "", result->solver);
    if (report->data && *clv_data_note(report->data)) {
        put_name(text, "data");
        bool dropped = result->labels && clv_data_rows_read(report->data) > result->n;
        clv_text_add(text, "%s%s\n", clv_data_note(report->data), dropped ? " (-1 in files of labels)" : "");
    }
    if (report->truth) {
        put_name(text, "truth");
        clv_text_add(text, "%s\n", report->truth);
    }
    put_size(text, result);
    if (report->affinity && report->affinity->landmarks > 0) {
        put_landmarks(text, report->affinity);
    }
    if (report->affinity && report->affinity->choice != CLV_CHOICE_NAMED) {
        char reason[256];
        clv_affinity_reason(report->affinity, reason, sizeof reason);
        put_name(text, "affinity");
        clv_text_add(text, "%s\n", reason);
    }
    put_name(text, "objective");
    clv_text_add(text, "%s ", result->objective.name);
    clv_put_objective(text, result, result->objective.value, 9);
    clv_text_add(text, " (%s)\n", result->objective.maximize ? "maximized" : "minimized");
    if (result->bound.name) {
        put_name(text, "bound");
        clv_text_add(text, "%s ", result->bound.name);
        clv_put_objective(text, result, result->bound.value, 9);
        put_distance(text, result);
    }
}

static void put_certificate(clv_text *text, const clv_result *result) {
    const clv_certificate *certificate = &result->certificate;
    put_name(text, "certificate");
    clv_text_add(text, "%s ", certificate->name);
    if (isfinite(certificate->value)) {
        clv_put_rounded(text, certificate->value, 6);
        clv_text_add(text, ", at most ");
        clv_put_rounded(text, certificate->tolerance, 3);
        clv_text_add(text, ": %s\n", certificate->holds ? "holds" : "does not hold");
    } else {
        clv_text_add(text, "not known, at most ");
        clv_put_rounded(text, certificate->tolerance, 3);
        clv_text_add(text, " where it holds\n");
    }
    put_name(text, "");
    clv_text_add(text, "%s\n", clv_certificate_words(result));
}

static void put_course(clv_text *text, const clv_report *report) {
    const clv_result *result = report->result;
    put_name(text, "stop");
    clv_text_add(text, "%s after %lld iteration%s", clv_stop_name(result->stop), (long long)result->iterations,
                 result->iterations == 1 ? "" : "s");
    if (result->restarts_count > 1) {
        clv_text_add(text, ", the best of %lld restarts", (long long)result->restarts_count);
    }
    clv_text_add(text, "\n");
    put_name(text, "seconds");
    clv_put_seconds(text, report->total_seconds);
    clv_text_add(text, ": load ");
    clv_put_seconds(text, report->load_seconds);
    if (report->affinity) {
        clv_text_add(text, ", affinity ");
        clv_put_seconds(text, report->affinity_seconds);
    }
    clv_text_add(text, ", solve ");
    clv_put_seconds(text, result->seconds);
    clv_text_add(text, "\n");
}

static void put_sizes(clv_text *text, const clv_result *result) {
    put_name(text, "sizes");
    for (int64_t c = 0; c < result->k && c < SIZES_SHOWN; c++) {
        clv_text_add(text, "%s%lld", c > 0 ? " " : "", (long long)result->sizes[c]);
    }
    if (result->k > SIZES_SHOWN) {
        clv_text_add(text, " and %lld more", (long long)(result->k - SIZES_SHOWN));
    }
    clv_text_add(text, "\n");
}

/* What the clusters are about, a line each. */
static void put_terms(clv_text *text, const clv_result *result, const clv_report_terms *terms) {
    for (int64_t c = 0; c < result->k && c < SIZES_SHOWN; c++) {
        put_name(text, c == 0 ? "terms" : "");
        clv_text_add(text, "%lld: ", (long long)c);
        clv_put_terms(text, terms, c);
        clv_text_add(text, "\n");
    }
    if (result->k > SIZES_SHOWN) {
        put_name(text, "");
        clv_text_add(text, "and %lld more\n", (long long)(result->k - SIZES_SHOWN));
    }
}

/* --- fields --- */

/* A cell of a table of fields, to the right of its column. */
static void put_cell(clv_text *text, const clv_field *column, int64_t row, int width, int digits) {
    clv_text cell = {.ctx = text->ctx};
    clv_put_entry(&cell, column, row, digits);
    clv_text_add(text, "%*s", width, cell.data ? cell.data : "");
    text->status = cell.status < 0 ? cell.status : text->status;
    clv_free(text->ctx, cell.data);
}

/* The columns of a table that are shown. Of a range of k the rows are called by their k, and the one that was taken is
 * among them. */
typedef struct shown {
    const clv_field *column[COLUMNS_SHOWN];
    int width[COLUMNS_SHOWN];
    int64_t count, rows, taken; /* taken -1: this is no range of k */
    const int64_t *k;           /* NULL: likewise */
} shown;

static void put_rows(clv_text *text, const shown *s) {
    int64_t left = 0;
    for (int64_t row = 0; row < s->rows; row++) {
        if (row >= (s->k ? KS_SHOWN : ROWS_SHOWN) && row != s->taken) {
            left++;
            continue;
        }
        clv_text_add(text, "%*lld", NAME_WIDTH, (long long)(s->k ? s->k[row] : row));
        for (int64_t c = 0; c < s->count; c++) {
            put_cell(text, s->column[c], row, s->width[c], s->k ? 4 : 6);
        }
        clv_text_add(text, "\n");
    }
    if (left > 0) {
        put_name(text, "");
        clv_text_add(text, "and %lld more\n", (long long)left);
    }
}

/* Whether a column says anything: the eigenvalue gaps of a method without eigenvalues do not. */
static bool is_known(const clv_field *column) {
    bool known = !column->reals;
    for (int64_t i = 0; !known && i < column->count; i++) {
        known = !isnan(column->reals[i]);
    }
    return known;
}

/* The columns of a table that fit side by side, the first rows of it and the one that the result is of. */
static void put_columns(clv_text *text, const clv_field *columns, int64_t count, int64_t taken) {
    size_t stem = strcspn(columns->name, ".");
    shown s = {.rows = columns->count, .taken = taken, .k = taken >= 0 ? columns->integers : NULL};
    int room = LINE_WIDTH - NAME_WIDTH;
    clv_put_words(text, columns->name, (int)stem, -NAME_WIDTH);
    for (int64_t c = s.k ? 1 : 0; c < count && s.count < COLUMNS_SHOWN; c++) {
        const char *name = columns[c].name + stem + 1;
        int least = columns[c].texts ? 16 : columns[c].reals ? (s.k ? 9 : 12) : 8;
        int width = 2 + ((int)strlen(name) > least ? (int)strlen(name) : least);
        if (s.k && !is_known(&columns[c])) {
            continue;
        }
        if (width > room) {
            break;
        }
        room -= width;
        clv_put_words(text, name, -1, width);
        s.column[s.count] = &columns[c];
        s.width[s.count++] = width;
    }
    clv_text_add(text, "\n");
    put_rows(text, &s);
}

/* The row of a range of k that was taken; -1: this is no such table. */
static int64_t find_taken(const clv_result *result, const clv_field *column) {
    if (strcmp(column->name, "k_table.k") != 0 || !column->integers) {
        return -1;
    }
    int64_t row = column->count - 1;
    while (row >= 0 && column->integers[row] != result->k) {
        row--;
    }
    return row;
}

static void put_fields(clv_text *text, const clv_result *result) {
    for (int64_t f = 0; f < result->fields_count; f++) {
        int64_t columns = clv_table_columns(result, f);
        if (columns > 0) {
            put_columns(text, &result->fields[f], columns, find_taken(result, &result->fields[f]));
            f += columns - 1;
        } else if (clv_is_for_people(&result->fields[f])) {
            put_name(text, result->fields[f].name);
            clv_put_field(text, &result->fields[f]);
            clv_text_add(text, "\n");
        }
    }
}

/* Last, where they are seen: each says what to try. */
static void put_warnings(clv_text *text, const clv_report *report) {
    int64_t at = 0;
    for (const char *said = clv_next_warning(report, &at); said; said = clv_next_warning(report, &at)) {
        put_name(text, "warning");
        clv_text_add(text, "%s\n", said);
    }
}

clv_status clv_report_table(clv_context *ctx, const clv_report *report, char **out, size_t *size) {
    *out = NULL;
    CLV_NEED(ctx, report);
    clv_text text = {.ctx = ctx};
    const char *name;
    double value;
    CLV_TRY(clv_report_check(ctx, report));
    put_run(&text, report);
    put_certificate(&text, report->result);
    put_course(&text, report);
    if (report->result->sizes) {
        put_sizes(&text, report->result);
    }
    if (report->terms) {
        put_terms(&text, report->result, report->terms);
    }
    put_fields(&text, report->result);
    if (report->scores && report->scores->compared < report->scores->n) {
        put_name(&text, "metrics");
        clv_text_add(&text, "of the %lld objects that have a label, ", (long long)report->scores->compared);
        clv_put_rounded(&text, 100 * (double)report->scores->compared / (double)report->scores->n, 3);
        clv_text_add(&text, " %% of all\n");
    }
    for (size_t at = 0; clv_next_metric(report, &at, &name, &value);) {
        put_name(&text, name);
        clv_put_rounded(&text, value, 6);
        clv_text_add(&text, "\n");
    }
    put_warnings(&text, report);
    return clv_take_text(&text, out, size);
}
