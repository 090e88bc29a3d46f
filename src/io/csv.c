/* CSV and its relatives to a dense matrix of doubles and labels.
 *
 * csv_layout.c says what the columns are for. Then every record is a row of numbers, with a label and a row name where
 * there is a column for them. What only all rows can tell comes last: texts that are all different are row names, not
 * labels, and a column that counts the rows is dropped. One pass over the bytes; memory: the matrix and 24 bytes per
 * row for each column of text. */
#include "io/csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
    clv_context *ctx;
    clv_csv csv;
    clv_csv start;     /* at the first row */
    const char *asked; /* where reading was last asked about */
    clv_layout layout;
    bool detecting; /* the caller left the label column to us */
    int64_t rows;
    double *values;          /* rows x width */
    int64_t width;           /* columns of numbers */
    clv_token *label_fields; /* a row each */
    clv_token *name_fields;  /* likewise */
    clv_text note;           /* for clv_data_note */
} reader;

static void close_reader(reader *r) {
    clv_layout_free(r->ctx, &r->layout);
    clv_free(r->ctx, r->values);
    clv_free(r->ctx, r->label_fields);
    clv_free(r->ctx, r->name_fields);
    clv_free(r->ctx, r->note.data);
}

static clv_status open_reader(reader *r, clv_bytes bytes, char separator, const clv_layout_request *request) {
    r->detecting = !request->label_column;
    CLV_TRY(clv_layout_read(r->ctx, bytes, separator, request, &r->csv, &r->layout));
    r->start = r->csv;
    return CLV_OK;
}

/* --- rows --- */

static clv_status refuse_field(const reader *r, int64_t column, const clv_token *field) {
    char shown[CLV_SHOWN_SIZE], remedy[CLV_COLUMN_SIZE] = "";
    double value;
    const char *name = r->csv.name;
    long long line = (long long)r->csv.record_line;
    long long row = (long long)r->rows + 1;
    if (field->size == 0) {
        return clv_fail(r->ctx, CLV_EDATA, "%s row %lld column %lld (line %lld) is empty", name, row,
                        (long long)column + 1, line);
    }
    clv_show(shown, field->text, field->size);
    if (clv_field_number(field, &value)) {
        return clv_fail(r->ctx, CLV_EDATA, "%s row %lld column %lld (line %lld): '%s' is not a finite number", name,
                        row, (long long)column + 1, line, shown);
    }
    if (r->detecting && r->rows == 0 && r->layout.label < 0) { /* a column that begins with text may be one of labels */
        snprintf(remedy, sizeof remedy, " (for labels use --label-column %lld)", (long long)column + 1);
    }
    return clv_fail(r->ctx, CLV_EDATA, "%s line %lld column %lld: '%s' is not a number%s", name, line,
                    (long long)column + 1, shown, remedy);
}

static clv_status refuse_count(const reader *r, int64_t found) {
    return clv_fail(r->ctx, CLV_EDATA, "%s line %lld has %lld fields, %lld were expected", r->csv.name,
                    (long long)r->csv.record_line, (long long)found, (long long)r->layout.columns);
}

/* One record: its numbers to `values` (unless NULL), its label and its name, if there are columns for them. */
static clv_status read_row(reader *r, double *values, clv_token *label, clv_token *name) {
    clv_status status = CLV_OK;
    int64_t column = 0;
    for (bool last = false; !last; column++) {
        clv_token field;
        CLV_TRY(clv_csv_field(r->ctx, &r->csv, &field, &last));
        if (column >= r->layout.columns || status < 0) {
            continue; /* count on, a wrong number of fields explains more than a bad field does */
        }
        if (column == r->layout.label) {
            *label = field;
        } else if (column == r->layout.names) {
            *name = field;
        } else if (values) {
            double value = 0;
            if (!clv_field_number(&field, &value) || !isfinite(value)) {
                status = refuse_field(r, column, &field);
            }
            *values++ = value;
        }
    }
    return column == r->layout.columns ? status : refuse_count(r, column);
}

/* An upper bound of the number of records left: the lines. */
static int64_t count_lines(const clv_csv *csv) {
    int64_t lines = 1;
    for (const char *at = csv->at; (at = memchr(at, '\n', (size_t)(csv->end - at))); at++) {
        lines++;
    }
    for (const char *at = csv->at; (at = memchr(at, '\r', (size_t)(csv->end - at))); at++) {
        lines += csv->end - at < 2 || at[1] != '\n';
    }
    return lines;
}

static clv_status reserve_rows(reader *r, int64_t room, bool want_values) {
    int64_t numbers;
    r->width = r->layout.columns - (r->layout.label >= 0) - (r->layout.names >= 0);
    if (!clv_mul(room, r->width, &numbers)) {
        return clv_fail(r->ctx, CLV_ENOMEM, "%s has too many fields", r->csv.name);
    }
    r->values = want_values ? CLV_NEW(r->ctx, double, numbers) : NULL;
    r->label_fields = r->layout.label >= 0 ? CLV_NEW(r->ctx, clv_token, room) : NULL;
    r->name_fields = r->layout.names >= 0 ? CLV_NEW(r->ctx, clv_token, room) : NULL;
    bool complete = (r->values || !want_values) && (r->label_fields || r->layout.label < 0) &&
                    (r->name_fields || r->layout.names < 0);
    return complete ? CLV_OK : CLV_ENOMEM;
}

static clv_status read_rows(reader *r, bool want_values) {
    /* A row of c fields has at least 2 c - 1 bytes: a file with few long and many short lines does not ask for rows x
     * columns. */
    int64_t by_size = (r->csv.end - r->csv.at + 1) / (2 * r->layout.columns) + 1, lines = count_lines(&r->csv);
    int64_t room = want_values && by_size < lines ? by_size : lines;
    CLV_TRY(reserve_rows(r, room, want_values));
    r->asked = r->csv.at;
    for (; clv_csv_next(&r->csv); r->rows++) {
        clv_token overflow;
        bool fits = r->rows < room;
        CLV_TRY(read_row(r, fits && want_values ? r->values + r->rows * r->width : NULL,
                         fits && r->label_fields ? r->label_fields + r->rows : &overflow,
                         fits && r->name_fields ? r->name_fields + r->rows : &overflow));
        CLV_TRY(clv_parse_on_at(r->ctx, r->csv.name, r->csv.at, &r->asked));
        if (!fits) { /* only rows with empty fields are that short */
            return clv_fail(r->ctx, CLV_EDATA, "%s line %lld has an empty field", r->csv.name,
                            (long long)r->csv.record_line);
        }
    }
    return CLV_OK;
}

/* The line where a row stands. */
static long long line_of(const reader *r, int64_t row) {
    clv_csv csv = r->start;
    for (int64_t i = 0; clv_csv_next(&csv) && i < row; i++) {
        clv_token field;
        for (bool last = false; !last && clv_csv_field(r->ctx, &csv, &field, &last) == CLV_OK;) {
        }
    }
    return (long long)csv.record_line;
}

/* --- texts that are row names --- */

/* The first row whose field is no text: empty, or a number. -1 for none. */
static int64_t find_no_text(const reader *r, const clv_token *fields) {
    double value;
    for (int64_t i = 0; i < r->rows; i++) {
        if (fields[i].size == 0 || clv_field_number(&fields[i], &value)) {
            return i;
        }
    }
    return -1;
}

static clv_status refuse_names(const reader *r, int64_t repeated) {
    char shown[CLV_SHOWN_SIZE];
    double value;
    int64_t row = 0;
    while (repeated < 0 && row + 1 < r->rows && clv_field_number(&r->name_fields[row], &value)) {
        row++;
    }
    row = repeated >= 0 ? repeated : row;
    const clv_token *field = &r->name_fields[row];
    clv_show(shown, field->text, field->size);
    if (r->layout.shifted) {
        return clv_fail(r->ctx, CLV_EDATA,
                        "%s line %lld has one field less than the rows, but column 1 does not hold row names: '%s' "
                        "(line %lld) occurs twice",
                        r->csv.name, (long long)r->layout.header_line, shown, line_of(r, row));
    }
    return clv_fail(r->ctx, CLV_EDATA, "%s line %lld column 1: '%s' is not a number%s", r->csv.name, line_of(r, row),
                    shown, repeated >= 0 ? ", nor a row name, as it occurs twice" : "");
}

/* A first column of texts: row names when all differ, else labels if there are no others. */
static clv_status settle_names(reader *r) {
    int64_t repeated;
    if (r->layout.names < 0) {
        return CLV_OK;
    }
    CLV_TRY(clv_find_repeated(r->ctx, r->name_fields, r->rows, &repeated));
    bool texts = r->layout.shifted || find_no_text(r, r->name_fields) < 0;
    if (texts && repeated < 0) {
        return CLV_OK;
    }
    if (r->layout.shifted || r->layout.label >= 0 || !r->detecting) {
        return refuse_names(r, texts ? repeated : -1);
    }
    r->layout.label = 0;
    r->layout.source = CLV_LABEL_TEXT;
    r->layout.names = -1;
    r->label_fields = r->name_fields;
    r->name_fields = NULL;
    return CLV_OK;
}

/* --- labels --- */

static clv_status refuse_label(const reader *r, int64_t row, const char *why) {
    char shown[CLV_SHOWN_SIZE];
    const clv_token *field = &r->label_fields[row];
    return clv_fail(r->ctx, CLV_EDATA, "%s row %lld column %lld: the label '%s' %s", r->csv.name, (long long)row + 1,
                    (long long)r->layout.label + 1, clv_show(shown, field->text, field->size), why);
}

/* A column taken for labels because it is text must be text all through, and not a name for every row. */
static clv_status check_detected_labels(const reader *r) {
    char shown[CLV_COLUMN_SIZE];
    int64_t repeated;
    if (r->layout.label < 0 || r->layout.source != CLV_LABEL_TEXT) {
        return CLV_OK;
    }
    int64_t other = find_no_text(r, r->label_fields);
    if (other >= 0) {
        return refuse_label(r, other,
                            r->label_fields[other].size == 0
                                ? "is empty"
                                : "is a number in a column of text: name the label column, or 'none'");
    }
    CLV_TRY(clv_find_repeated(r->ctx, r->label_fields, r->rows, &repeated));
    if (repeated < 0 && r->rows > 1) {
        return clv_fail(r->ctx, CLV_EDATA,
                        "%s %s has a different text in every row: these are names, not labels: remove it, or use "
                        "--label-column %lld if they are labels",
                        r->csv.name, clv_layout_show(&r->layout, r->layout.label, shown),
                        (long long)r->layout.label + 1);
    }
    return CLV_OK;
}

/* The labels as whole numbers; *texts when some are texts instead. */
static clv_status read_label_numbers(const reader *r, double *numbers, bool *texts) {
    int64_t fractional = -1;
    *texts = false;
    for (int64_t i = 0; i < r->rows; i++) {
        if (r->label_fields[i].size == 0) {
            return refuse_label(r, i, "is empty");
        }
        if (!clv_field_number(&r->label_fields[i], &numbers[i])) {
            *texts = true;
            continue;
        }
        if (!isfinite(numbers[i])) {
            return refuse_label(r, i, "is not a finite number");
        }
        fractional = fractional < 0 && numbers[i] != floor(numbers[i]) ? i : fractional;
    }
    if (!*texts && fractional >= 0) {
        return refuse_label(r, fractional,
                            r->layout.source == CLV_LABEL_NAMED
                                ? "is neither a whole number nor text: name the label column, or 'none'"
                                : "is neither a whole number nor text");
    }
    return CLV_OK;
}

/* Whole numbers as they are. */
static clv_status keep_numbers(const reader *r, const double *numbers, int32_t *labels) {
    for (int64_t i = 0; i < r->rows; i++) {
        if (numbers[i] < -1 || numbers[i] > INT32_MAX) {
            return refuse_label(r, i, "is not a number from -1 to 2147483647");
        }
        labels[i] = (int32_t)numbers[i];
    }
    return CLV_OK;
}

static clv_status fill_labels(const reader *r, bool keep, double *numbers, int32_t *labels) {
    bool texts;
    CLV_TRY(read_label_numbers(r, numbers, &texts));
    if (texts) {
        return clv_code_texts(r->ctx, r->label_fields, r->rows, labels);
    }
    return keep ? keep_numbers(r, numbers, labels) : clv_code_numbers(r->ctx, numbers, r->rows, labels);
}

/* *out is the caller's, also after a failure. */
static clv_status make_labels(const reader *r, bool keep, int32_t **out) {
    double *numbers = CLV_NEW(r->ctx, double, r->rows);
    *out = CLV_NEW(r->ctx, int32_t, r->rows);
    clv_status status = numbers && *out ? fill_labels(r, keep, numbers, *out) : CLV_ENOMEM;
    clv_free(r->ctx, numbers);
    return status;
}

/* --- columns that number the rows --- */

/* Whether a column of the values is 0, 1, 2, ... or 1, 2, 3, ... */
static bool counts_rows(const reader *r, int64_t at) {
    double base = r->values[at];
    for (int64_t i = 0; i < r->rows; i++) {
        if (r->values[i * r->width + at] != base + (double)i) {
            return false;
        }
    }
    return base == 0 || base == 1;
}

/* Mark the columns of the values that number the rows. */
static int64_t mark_row_numbers(reader *r, bool *marked) {
    int64_t at = 0;
    int64_t count = 0;
    for (int64_t c = 0; c < r->layout.columns; c++) {
        if (c != r->layout.label && c != r->layout.names) {
            marked[at] = clv_layout_may_number_rows(&r->layout, c) && counts_rows(r, at);
            count += marked[at++];
        }
    }
    return count;
}

static void note_row_numbers(reader *r, const bool *marked) {
    char shown[CLV_COLUMN_SIZE];
    int64_t at = 0;
    for (int64_t c = 0; c < r->layout.columns; c++) {
        if (c != r->layout.label && c != r->layout.names && marked[at++]) {
            clv_text_add(&r->note, "; %s dropped as row numbers", clv_layout_show(&r->layout, c, shown));
        }
    }
}

static void remove_columns(reader *r, const bool *marked) {
    double *to = r->values;
    for (int64_t i = 0; i < r->rows; i++) {
        for (int64_t c = 0; c < r->width; c++) {
            if (!marked[c]) {
                *to++ = r->values[i * r->width + c];
            }
        }
    }
}

static clv_status drop_row_numbers(reader *r) {
    bool *marked = CLV_NEW(r->ctx, bool, r->width);
    if (!marked) {
        return CLV_ENOMEM;
    }
    int64_t count = mark_row_numbers(r, marked);
    if (count > 0 && count < r->width) { /* when nothing else is there, they are the data */
        note_row_numbers(r, marked);
        remove_columns(r, marked);
        r->width -= count;
    }
    clv_free(r->ctx, marked);
    return CLV_OK;
}

/* --- the two uses --- */

static void note_layout(reader *r) {
    char shown[CLV_COLUMN_SIZE];
    if (r->layout.header) {
        clv_text_add(&r->note, "header in line %lld", (long long)r->layout.header_line);
    } else {
        clv_text_add(&r->note, "no header");
    }
    if (r->layout.label >= 0) {
        clv_text_add(&r->note, "; labels in %s", clv_layout_show(&r->layout, r->layout.label, shown));
    }
    if (r->layout.names >= 0) {
        clv_text_add(&r->note, "; %s dropped as row names", clv_layout_show(&r->layout, r->layout.names, shown));
    }
}

/* Hand over the values, in a block that fits. */
static clv_status give_values(reader *r, clv_data *data) {
    double *fitted = clv_resize(r->ctx, r->values, r->rows * r->width, sizeof(double));
    if (!fitted) {
        return CLV_ENOMEM;
    }
    r->values = NULL;
    data->values = fitted;
    data->matrix = (clv_matrix){.rows = r->rows, .cols = r->width, .values = fitted};
    return CLV_OK;
}

static clv_status read_matrix(reader *r, clv_bytes bytes, const clv_layout_request *request, char separator,
                              clv_data *data) {
    CLV_TRY(open_reader(r, bytes, separator, request));
    if (r->layout.columns == (r->layout.label >= 0) + (r->layout.names >= 0)) {
        return clv_fail(r->ctx, CLV_EDATA, "%s has no other column than %s", bytes.name,
                        r->layout.names >= 0 ? "row names and labels" : "the labels");
    }
    CLV_TRY(read_rows(r, true));
    CLV_TRY(settle_names(r));
    CLV_TRY(check_detected_labels(r));
    if (r->layout.label >= 0) {
        CLV_TRY(make_labels(r, false, &data->labels));
    }
    note_layout(r);
    CLV_TRY(drop_row_numbers(r));
    CLV_TRY(r->note.status);
    CLV_TRY(give_values(r, data));
    data->note = r->note.data;
    r->note.data = NULL;
    return CLV_OK;
}

clv_status clv_csv_parse(clv_context *ctx, clv_bytes bytes, const clv_read_options *options, char separator,
                         clv_data **out) {
    *out = NULL;
    clv_data *data;
    CLV_TRY(clv_data_new(ctx, bytes.name, &data));
    reader r = {.ctx = ctx, .note = {.ctx = ctx}};
    clv_layout_request request = {.header = options ? options->header : CLV_HEADER_DETECT,
                                  .label_column = options ? options->label_column : NULL};
    clv_status status = read_matrix(&r, bytes, &request, separator, data);
    close_reader(&r);
    return clv_data_give(data, status, out);
}

/* Of two columns the first may be row names; if those repeat, they are the labels. */
static clv_status settle_lone_labels(reader *r) {
    int64_t repeated = -1;
    if (r->layout.names < 0 || r->layout.shifted || r->layout.source != CLV_LABEL_NONE) {
        return CLV_OK;
    }
    CLV_TRY(clv_find_repeated(r->ctx, r->name_fields, r->rows, &repeated));
    if (repeated >= 0) {
        clv_token *labels = r->name_fields;
        r->name_fields = r->label_fields;
        r->label_fields = labels;
        r->layout.label = 0;
    }
    return CLV_OK;
}

static clv_status read_label_column(reader *r, clv_bytes bytes, char separator) {
    CLV_TRY(open_reader(r, bytes, separator, &(clv_layout_request){.only_labels = true}));
    if (r->layout.label < 0) {
        return clv_fail(r->ctx, CLV_EDATA,
                        "%s has %lld columns and none of them is text or has a name for labels (label, class, target, "
                        "species and the like)",
                        bytes.name, (long long)r->layout.columns);
    }
    CLV_TRY(read_rows(r, false));
    return settle_lone_labels(r);
}

/* Texts with their classes; a column of numbers has labels alone, unless it is to be taken for texts. */
static clv_status make_classes(const reader *r, bool texts, int32_t **labels, clv_classes *classes) {
    double value;
    for (int64_t i = 0; i < r->rows && !texts; i++) {
        texts = r->label_fields[i].size > 0 && !clv_field_number(&r->label_fields[i], &value);
    }
    if (!texts) {
        return make_labels(r, true, labels);
    }
    for (int64_t i = 0; i < r->rows; i++) {
        if (r->label_fields[i].size == 0) {
            return refuse_label(r, i, "is empty");
        }
    }
    *labels = CLV_NEW(r->ctx, int32_t, r->rows);
    CLV_TRY(*labels ? clv_code_texts(r->ctx, r->label_fields, r->rows, *labels) : CLV_ENOMEM);
    return clv_name_classes(r->ctx, r->label_fields, *labels, r->rows, classes);
}

clv_status clv_csv_parse_classes(clv_context *ctx, clv_bytes bytes, char separator, bool texts, int64_t *n,
                                 int32_t **labels, clv_classes *classes) {
    *n = 0;
    *labels = NULL;
    if (classes) {
        *classes = (clv_classes){0};
    }
    reader r = {.ctx = ctx};
    clv_status status = read_label_column(&r, bytes, separator);
    if (status == CLV_OK) {
        status = classes ? make_classes(&r, texts, labels, classes) : make_labels(&r, true, labels);
    }
    close_reader(&r);
    if (status < 0) {
        clv_free(ctx, *labels);
        *labels = NULL;
        return status;
    }
    *n = r.rows;
    return CLV_OK;
}

clv_status clv_csv_parse_labels(clv_context *ctx, clv_bytes bytes, char separator, int64_t *n, int32_t **labels) {
    return clv_csv_parse_classes(ctx, bytes, separator, false, n, labels, NULL);
}
