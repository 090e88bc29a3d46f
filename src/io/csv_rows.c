/* The rows of a CSV file: all of them, read once, and what they say of each column.
 *
 * One pass over the bytes counts numbers, missing cells and texts of every column and keeps the numbers; texts stay in
 * the bytes, and are read again by those who ask for them. Memory: the matrix of all columns. */
#include "io/csv.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* --- all rows, once --- */

static void add_place(clv_places *places, int64_t line, const clv_token *field) {
    if (places->count == 0) {
        places->first = *field;
    }
    if (places->count < CLV_PLACES) {
        places->line[places->count] = line;
    }
    places->count++;
}

/* <0.5 and >= 7 */
static bool is_bound(const clv_token *field) {
    size_t at = field->size > 0 && strchr("<>", field->text[0]) ? 1 : field->size;
    while (at < field->size && strchr("= .", field->text[at])) {
        at++;
    }
    return at < field->size && isdigit((unsigned char)field->text[at]);
}

static double read_cell(clv_table *t, const clv_csv *csv, clv_column *column, const clv_token *field) {
    double value = NAN;
    switch (clv_cell_of(csv, field, &value)) {
    case CLV_CELL_NUMBER:
        column->numbers++;
        if (value != floor(value)) {
            add_place(&column->fractions, csv->record_line, field);
        }
        if (csv->comma && memchr(field->text, ',', field->size)) {
            t->comma_column = t->commas.count == 0 ? column - t->columns : t->comma_column;
            add_place(&t->commas, csv->record_line, field);
        } else if (csv->comma && memchr(field->text, '.', field->size)) {
            t->point_column = t->points.count == 0 ? column - t->columns : t->point_column;
            add_place(&t->points, csv->record_line, field);
        }
        return value;
    case CLV_CELL_MISSING:
        add_place(&column->missing, csv->record_line, field);
        column->no_label += clv_is_no_label(field);
        column->empty += field->size == 0;
        return NAN;
    case CLV_CELL_INFINITE:
        add_place(&column->infinite, csv->record_line, field);
        return NAN;
    case CLV_CELL_TEXT:
        add_place(&column->texts, csv->record_line, field);
        column->dates += clv_is_date(field);
        column->odd += clv_is_odd_number(field);
        column->digits += isdigit((unsigned char)field->text[0]) != 0;
        column->bounds += is_bound(field);
        return NAN;
    }
    return NAN;
}

/* The fields of a record, if it has as many as it should; *found says how many it has. */
static clv_status read_record(clv_table *t, clv_csv *csv, clv_token *fields, int64_t *found) {
    *found = 0;
    for (bool last = false; !last; (*found)++) {
        clv_token field;
        CLV_TRY(clv_csv_field(t->ctx, csv, &field, &last));
        if (*found < t->layout.columns) {
            fields[*found] = field;
        }
    }
    return CLV_OK;
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

/* Room for the rows: a record of c fields has at least c - 1 separators and the end of its line, so that a file of few
 * long and many short lines does not ask for lines x columns. */
static clv_status reserve_rows(clv_table *t) {
    int64_t c = t->layout.columns, lines = count_lines(&t->start), numbers;
    int64_t by_size = (t->start.end - t->start.at) / c + 2, room = by_size < lines ? by_size : lines;
    if (!clv_mul(room, c, &numbers)) {
        return clv_fail(t->ctx, CLV_ENOMEM, "%s has too many fields", t->start.name);
    }
    t->values = CLV_NEW(t->ctx, double, numbers);
    t->columns = CLV_NEW0(t->ctx, clv_column, c);
    return t->values && t->columns ? CLV_OK : CLV_ENOMEM;
}

static clv_status read_rows(clv_table *t, clv_token *fields) {
    clv_csv csv = t->start;
    const char *asked = csv.at;
    int64_t width = t->layout.columns, found;
    while (clv_csv_next(&csv)) {
        CLV_TRY(read_record(t, &csv, fields, &found));
        CLV_TRY(clv_parse_on_at(t->ctx, csv.name, csv.at, &asked));
        if (found != width) {
            t->found = t->counts.count == 0 ? found : t->found;
            t->found_varies = t->found_varies || found != t->found;
            add_place(&t->counts, csv.record_line, &fields[0]);
            continue;
        }
        double *row = t->values + t->rows++ * width;
        for (int64_t c = 0; c < width; c++) {
            row[c] = read_cell(t, &csv, &t->columns[c], &fields[c]);
        }
    }
    t->comments = csv.comments;
    return CLV_OK;
}

/* A header that is one field shorter than rows which all end in a separator has no row names before it: it lacks that
 * separator, and its names would be those of the next columns. */
static clv_status check_ends(const clv_table *t) {
    const clv_column *last = &t->columns[t->layout.columns - 1];
    char separator = t->start.separator;
    return t->layout.shifted && t->rows > 0 && last->empty == t->rows
               ? clv_fail(t->ctx, CLV_EDATA,
                          "%s: the rows end in a %s, and the names in line %lld do not: put one behind them, or take "
                          "out those of the rows",
                          t->start.name,
                          separator == ','   ? "comma"
                          : separator == ';' ? "semicolon"
                                             : "separator",
                          (long long)t->layout.header_line)
               : CLV_OK;
}

clv_status clv_table_read(clv_table *t, clv_bytes bytes, char separator, const clv_layout_request *request) {
    t->decoded = (clv_text){.ctx = t->ctx};
    CLV_TRY(clv_csv_decode(&bytes, &t->decoded));
    CLV_TRY(clv_layout_read(t->ctx, bytes, separator, request, &t->start, &t->layout));
    CLV_TRY(reserve_rows(t));
    clv_token *fields = CLV_NEW(t->ctx, clv_token, t->layout.columns);
    clv_status status = fields ? read_rows(t, fields) : CLV_ENOMEM;
    clv_free(t->ctx, fields);
    return status == CLV_OK ? check_ends(t) : status;
}

void clv_table_free(clv_table *t) {
    clv_layout_free(t->ctx, &t->layout);
    CLV_FREE_ALL(t->ctx, t->values, t->columns, t->decoded.data);
}

clv_status clv_table_visit(const clv_table *t, int64_t column, clv_field_visit visit, void *user) {
    clv_csv csv = t->start;
    const char *asked = csv.at;
    int64_t row = 0;
    while (clv_csv_next(&csv)) {
        clv_token field, kept = {0};
        CLV_TRY(clv_parse_on_at(t->ctx, csv.name, csv.at, &asked));
        int64_t found = 0;
        for (bool last = false; !last; found++) {
            CLV_TRY(clv_csv_field(t->ctx, &csv, &field, &last));
            kept = found == column ? field : kept;
        }
        if (found == t->layout.columns) {
            CLV_TRY(visit(user, row++, &kept));
        }
    }
    return CLV_OK;
}

static clv_status keep_text(void *user, int64_t row, const clv_token *field) {
    clv_token *texts = user;
    texts[row] = *field;
    return CLV_OK;
}

clv_status clv_table_texts(const clv_table *t, int64_t column, clv_token **out) {
    *out = CLV_NEW(t->ctx, clv_token, t->rows);
    return *out ? clv_table_visit(t, column, keep_text, *out) : CLV_ENOMEM;
}

/* --- what differs in every row --- */

/* Whether the first `count` numbers of a column rise, as the numbers of rows mostly do. */
static bool are_rising(const clv_table *t, int64_t column, int64_t count) {
    const double *at = t->values + column;
    int64_t i = 1, width = t->layout.columns;
    while (i < count && at[i * width] > at[(i - 1) * width]) {
        i++;
    }
    return i >= count;
}

/* Whether the first `count` numbers of a column are all different. */
static clv_status are_distinct(const clv_table *t, int64_t column, int64_t count, bool *distinct) {
    *distinct = are_rising(t, column, count);
    if (*distinct) {
        return CLV_OK;
    }
    int64_t repeated;
    CLV_TRY(clv_find_repeated_number(t->ctx, t->start.name, t->values + column, t->layout.columns, count, &repeated));
    *distinct = repeated < 0;
    return CLV_OK;
}

static bool has_large(const clv_table *t, int64_t c) {
    for (int64_t i = 0; i < t->rows; i++) {
        if (fabs(t->values[i * t->layout.columns + c]) >= 0x1p53) {
            return true;
        }
    }
    return false;
}

/* A few rows settle most columns. */
clv_status clv_table_differs(const clv_table *t, int64_t c, bool *differs) {
    enum { FEW = 1000 };
    const clv_column *column = &t->columns[c];
    *differs = false;
    if (column->numbers == t->rows && column->fractions.count == 0) {
        CLV_TRY(are_distinct(t, c, t->rows < FEW ? t->rows : FEW, differs));
        if (*differs && t->rows > FEW) {
            CLV_TRY(are_distinct(t, c, t->rows, differs));
        }
    }
    /* A text is enough: some names are numbers. And whole numbers may be too large to be told apart as such. */
    bool large = column->fractions.count == 0 && !*differs && has_large(t, c);
    if ((column->texts.count > 0 || large) && column->missing.count == 0) {
        clv_token *texts = NULL;
        int64_t repeated = -1;
        clv_status status = clv_table_texts(t, c, &texts);
        if (status == CLV_OK) {
            status = clv_find_repeated(t->ctx, t->start.name, texts, t->rows, &repeated);
        }
        clv_free(t->ctx, texts);
        *differs = repeated < 0;
        return status;
    }
    return CLV_OK;
}
