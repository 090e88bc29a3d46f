/* CSV and its relatives to a dense matrix of doubles and labels.
 *
 * The first two records tell the layout: the separator, whether the first record is a header, and which column holds
 * labels. Then every record is a row of numbers. One pass over the bytes; memory: the matrix and 24 bytes a row. */
#include "io/io.h"

#include <math.h>
#include <string.h>

typedef struct reader {
    clv_context *ctx;
    clv_csv csv; /* at the first record of data, once the layout is known */
    clv_field *first, *second;
    int64_t first_count, second_count;
    bool header;
    int64_t columns;
    int64_t label;      /* column of the labels, or -1 */
    bool label_by_name; /* found by its name in the header, not asked for */
    int64_t rows;
    double *values;          /* rows x (columns without labels) */
    clv_field *label_fields; /* a row each */
} reader;

static void close_reader(reader *r) {
    clv_free(r->ctx, r->first);
    clv_free(r->ctx, r->second);
    clv_free(r->ctx, r->values);
    clv_free(r->ctx, r->label_fields);
}

static bool is_number(const clv_field *field, double *value) {
    const char *at = field->text;
    const char *end = at + field->size;
    while (at < end && *at == ' ') { /* left only inside quotes */
        at++;
    }
    const char *stop = clv_scan_number(at, end, value);
    while (stop && stop < end && *stop == ' ') {
        stop++;
    }
    return stop && stop == end;
}

/* --- layout --- */

static bool is_label_name(const clv_field *field) {
    static const char *const names[] = {"label", "labels", "class", "target", "species", "y"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (clv_field_equals(field, names[i], true)) {
            return true;
        }
    }
    return false;
}

/* A text over a number, or texts only. One column of texts may be labels: it has a header only if that says so. */
static bool looks_like_header(const reader *r) {
    double value;
    int64_t numbers = 0;
    for (int64_t c = 0; c < r->first_count; c++) {
        bool number = is_number(&r->first[c], &value);
        bool text = !number && r->first[c].size > 0;
        if (text && c < r->second_count && is_number(&r->second[c], &value)) {
            return true;
        }
        numbers += number;
    }
    return r->first_count > 1 ? numbers == 0 : is_label_name(&r->first[0]);
}

static int64_t find_name(const reader *r, const char *name) {
    for (int64_t c = 0; r->header && c < r->columns; c++) {
        if (clv_field_equals(&r->first[c], name, false)) {
            return c;
        }
    }
    return -1;
}

static clv_status find_wanted_label(reader *r, const char *wanted) {
    int64_t number;
    const char *end = wanted + strlen(wanted);
    r->label = find_name(r, wanted);
    if (r->label >= 0) {
        return CLV_OK;
    }
    if (clv_scan_integer(wanted, end, &number) == end && number >= 1 && number <= r->columns) {
        r->label = number - 1;
        return CLV_OK;
    }
    return clv_fail(r->ctx, CLV_EUSAGE, "label column '%s' is not in %s: it must be 'none', %sa number from 1 to %lld",
                    wanted, r->csv.name, r->header ? "a name of its header, or " : "", (long long)r->columns);
}

/* By name, else a last or first column of text. A y beside an x is a coordinate. */
static void detect_label(reader *r) {
    r->label = -1;
    bool has_x = find_name(r, "x") >= 0 || find_name(r, "X") >= 0;
    for (int64_t c = 0; r->header && c < r->columns; c++) {
        if (is_label_name(&r->first[c]) && !(has_x && clv_field_equals(&r->first[c], "y", true))) {
            r->label = c;
            r->label_by_name = true;
            return;
        }
    }
    const clv_field *sample = r->header ? r->second : r->first;
    int64_t count = r->header ? r->second_count : r->first_count;
    double value;
    if (count != r->columns) {
        return;
    }
    if (sample[count - 1].size > 0 && !is_number(&sample[count - 1], &value)) {
        r->label = count - 1;
    } else if (sample[0].size > 0 && !is_number(&sample[0], &value)) {
        r->label = 0;
    }
}

static clv_status check_text(const reader *r, clv_bytes bytes) {
    if (bytes.size >= 2 && (memcmp(bytes.data, "\xff\xfe", 2) == 0 || memcmp(bytes.data, "\xfe\xff", 2) == 0)) {
        return clv_fail(r->ctx, CLV_EDATA, "%s is UTF-16 text: save it as UTF-8", bytes.name);
    }
    return CLV_OK;
}

/* Read the first records, and go to the first one of data. */
static clv_status read_layout(reader *r, clv_bytes bytes, clv_header header, char separator) {
    CLV_TRY(check_text(r, bytes));
    bool marked = bytes.size >= 3 && memcmp(bytes.data, "\xef\xbb\xbf", 3) == 0;
    const char *text = bytes.size ? (const char *)bytes.data : "";
    r->csv = (clv_csv){.at = text + (marked ? 3 : 0), .end = text + bytes.size, .name = bytes.name, .line = 1};
    r->csv.separator = separator ? separator : clv_csv_guess_separator(&r->csv);
    if (!clv_csv_next(&r->csv)) {
        return clv_fail(r->ctx, CLV_EDATA, "%s is empty", bytes.name);
    }
    clv_csv first = r->csv;
    CLV_TRY(clv_csv_fields(r->ctx, &r->csv, &r->first, &r->first_count));
    clv_csv second = r->csv;
    if (clv_csv_next(&r->csv)) {
        CLV_TRY(clv_csv_fields(r->ctx, &r->csv, &r->second, &r->second_count));
    }
    r->columns = r->first_count;
    r->header = header == CLV_HEADER_YES || (header == CLV_HEADER_DETECT && looks_like_header(r));
    r->csv = r->header ? second : first;
    if (r->header && r->second_count == 0) {
        return clv_fail(r->ctx, CLV_EDATA, "%s has a header and no data after it", bytes.name);
    }
    return CLV_OK;
}

/* --- rows --- */

static clv_status refuse_field(const reader *r, int64_t column, const clv_field *field) {
    char shown[CLV_SHOWN_SIZE];
    double value;
    const char *name = r->csv.name;
    long long line = (long long)r->csv.record_line;
    long long row = (long long)r->rows + 1;
    if (field->size == 0) {
        return clv_fail(r->ctx, CLV_EDATA, "%s row %lld column %lld (line %lld) is empty", name, row,
                        (long long)column + 1, line);
    }
    clv_show(shown, field->text, field->size);
    if (is_number(field, &value)) {
        return clv_fail(r->ctx, CLV_EDATA, "%s row %lld column %lld (line %lld): '%s' is not a finite number", name,
                        row, (long long)column + 1, line, shown);
    }
    return clv_fail(r->ctx, CLV_EDATA, "%s line %lld column %lld: '%s' is not a number", name, line,
                    (long long)column + 1, shown);
}

static clv_status refuse_count(const reader *r, int64_t found) {
    return clv_fail(r->ctx, CLV_EDATA, "%s line %lld has %lld fields, %lld were expected", r->csv.name,
                    (long long)r->csv.record_line, (long long)found, (long long)r->columns);
}

/* One record: its numbers to `values` (unless NULL) and its label field, if there is a column for it. */
static clv_status read_row(reader *r, double *values, clv_field *label) {
    clv_status status = CLV_OK;
    int64_t column = 0;
    for (bool last = false; !last; column++) {
        clv_field field;
        CLV_TRY(clv_csv_field(r->ctx, &r->csv, &field, &last));
        if (column >= r->columns || status < 0) {
            continue; /* count on, a wrong number of fields explains more than a bad field does */
        }
        if (column == r->label) {
            *label = field;
        } else if (values) {
            double value = 0;
            if (!is_number(&field, &value) || !isfinite(value)) {
                status = refuse_field(r, column, &field);
            }
            *values++ = value;
        }
    }
    return column == r->columns ? status : refuse_count(r, column);
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

/* Rows for which there must be room. A row of c fields has at least 2 c - 1 bytes, so that a file with few long and
 * many short lines does not ask for rows x columns. */
static int64_t bound_rows(const reader *r, int64_t columns) {
    int64_t lines = count_lines(&r->csv);
    int64_t by_size = (r->csv.end - r->csv.at + 1) / (2 * columns) + 1;
    return lines < by_size ? lines : by_size;
}

static clv_status read_rows(reader *r, bool want_values) {
    int64_t width = r->columns - (r->label >= 0);
    int64_t room = want_values ? bound_rows(r, r->columns) : count_lines(&r->csv);
    int64_t numbers;
    if (!clv_mul(room, width, &numbers)) {
        return clv_fail(r->ctx, CLV_ENOMEM, "%s has too many fields", r->csv.name);
    }
    r->values = want_values ? CLV_NEW(r->ctx, double, numbers) : NULL;
    r->label_fields = r->label >= 0 ? CLV_NEW(r->ctx, clv_field, room) : NULL;
    if ((want_values && !r->values) || (r->label >= 0 && !r->label_fields)) {
        return CLV_ENOMEM;
    }
    for (; clv_csv_next(&r->csv); r->rows++) {
        clv_field overflow;
        double *row = want_values && r->rows < room ? r->values + r->rows * width : NULL;
        CLV_TRY(read_row(r, row, r->label >= 0 && r->rows < room ? r->label_fields + r->rows : &overflow));
        if (r->rows >= room) { /* only rows with empty fields are that short */
            return clv_fail(r->ctx, CLV_EDATA, "%s line %lld has an empty field", r->csv.name,
                            (long long)r->csv.record_line);
        }
    }
    if (want_values && r->rows < room) {
        double *fitted = clv_resize(r->ctx, r->values, r->rows * width, sizeof(double));
        r->values = fitted ? fitted : r->values;
        return fitted ? CLV_OK : CLV_ENOMEM;
    }
    return CLV_OK;
}

/* --- labels --- */

static clv_status refuse_label(const reader *r, int64_t row, const char *why) {
    char shown[CLV_SHOWN_SIZE];
    const clv_field *field = &r->label_fields[row];
    return clv_fail(r->ctx, CLV_EDATA, "%s row %lld column %lld: the label '%s' %s", r->csv.name, (long long)row + 1,
                    (long long)r->label + 1, clv_show(shown, field->text, field->size), why);
}

/* The labels as whole numbers; *texts when some are texts instead. */
static clv_status read_label_numbers(const reader *r, double *numbers, bool *texts) {
    int64_t fractional = -1;
    *texts = false;
    for (int64_t i = 0; i < r->rows; i++) {
        if (r->label_fields[i].size == 0) {
            return refuse_label(r, i, "is empty");
        }
        if (!is_number(&r->label_fields[i], &numbers[i])) {
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
                            r->label_by_name ? "is neither a whole number nor text: name the label column, or 'none'"
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

static clv_status make_labels(const reader *r, bool keep, int32_t **out) {
    double *numbers = CLV_NEW(r->ctx, double, r->rows);
    int32_t *labels = CLV_NEW(r->ctx, int32_t, r->rows);
    clv_status status = numbers && labels ? fill_labels(r, keep, numbers, labels) : CLV_ENOMEM;
    clv_free(r->ctx, numbers);
    if (status < 0) {
        clv_free(r->ctx, labels);
        return status;
    }
    *out = labels;
    return CLV_OK;
}

/* --- the two uses --- */

static clv_status read_matrix(reader *r, clv_bytes bytes, const clv_read_options *options, char separator,
                              clv_data *data) {
    CLV_TRY(read_layout(r, bytes, options ? options->header : CLV_HEADER_DETECT, separator));
    const char *wanted = options ? options->label_column : NULL;
    r->label = -1;
    if (wanted && strcmp(wanted, "none") != 0) {
        CLV_TRY(find_wanted_label(r, wanted));
    } else if (!wanted && r->columns > 1) {
        detect_label(r);
    }
    if (r->columns == 1 && r->label == 0) {
        return clv_fail(r->ctx, CLV_EDATA, "%s has a label column and no other", bytes.name);
    }
    CLV_TRY(read_rows(r, true));
    if (r->label >= 0) {
        CLV_TRY(make_labels(r, false, &data->labels));
    }
    data->values = r->values;
    r->values = NULL;
    data->matrix = (clv_matrix){.rows = r->rows, .cols = r->columns - (r->label >= 0), .values = data->values};
    return CLV_OK;
}

clv_status clv_csv_parse(clv_context *ctx, clv_bytes bytes, const clv_read_options *options, char separator,
                         clv_data **out) {
    *out = NULL;
    clv_data *data;
    CLV_TRY(clv_data_new(ctx, bytes.name, &data));
    reader r = {.ctx = ctx};
    clv_status status = read_matrix(&r, bytes, options, separator, data);
    close_reader(&r);
    if (status < 0) {
        clv_data_free(data);
        return status;
    }
    *out = data;
    return CLV_OK;
}

static clv_status read_labels(reader *r, clv_bytes bytes, char separator, int32_t **labels) {
    CLV_TRY(read_layout(r, bytes, CLV_HEADER_DETECT, separator));
    if (r->columns > 1) {
        detect_label(r);
    }
    if (r->label < 0) {
        return clv_fail(r->ctx, CLV_EDATA,
                        "%s has %lld columns and none of them is text or named label, labels, class, target, species "
                        "or y",
                        bytes.name, (long long)r->columns);
    }
    CLV_TRY(read_rows(r, false));
    return make_labels(r, true, labels);
}

clv_status clv_csv_parse_labels(clv_context *ctx, clv_bytes bytes, char separator, int64_t *n, int32_t **labels) {
    *n = 0;
    *labels = NULL;
    reader r = {.ctx = ctx};
    clv_status status = read_labels(&r, bytes, separator, labels);
    close_reader(&r);
    *n = status < 0 ? 0 : r.rows;
    return status;
}
