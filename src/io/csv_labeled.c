/* A CSV file again, with a label behind every row: the records are copied as they stand, in the encoding of
 * the file, unless another separator is needed. */
#include "io/csv.h"
#include "io/input.h"

#include <string.h>

/* What is written where, and from what. */
typedef struct labeling {
    clv_context *ctx;
    clv_writer *writer;
    char separator;  /* of what is written */
    const char *end; /* of a line: that of the first one of the file */
    const int32_t *labels;
    int64_t n;
    const clv_data *of;
    const char *const *classes;
} labeling;

/* How the line of a record ends. */
static const char *end_of(clv_csv csv) {
    const char *first = csv.at;
    clv_csv_pass(&csv);
    bool feed = csv.at > first && csv.at[-1] == '\n', carriage = csv.at - feed > first && csv.at[-1 - feed] == '\r';
    return !carriage ? "\n" : feed ? "\r\n" : "\r";
}

/* Past a record, whose text (without the end of its line) is put. */
static clv_status copy_record(const labeling *l, clv_csv *csv) {
    const char *first = csv->at;
    clv_token field;
    for (bool last = false; !last;) {
        CLV_TRY(clv_csv_field(l->ctx, csv, &field, &last));
    }
    const char *end = csv->at;
    while (end > first && (end[-1] == '\n' || end[-1] == '\r')) {
        end--;
    }
    clv_writer_put(l->writer, first, (size_t)(end - first));
    return CLV_OK;
}

/* The same with another separator. */
static clv_status change_record(const labeling *l, clv_csv *csv) {
    clv_token field;
    for (bool last = false; !last;) {
        CLV_TRY(clv_csv_field(l->ctx, csv, &field, &last));
        clv_put_csv_field(l->writer, &field, l->separator);
        clv_writer_put(l->writer, &l->separator, !last);
    }
    return CLV_OK;
}

static clv_status put_record(const labeling *l, clv_csv *csv) {
    return csv->separator == l->separator ? copy_record(l, csv) : change_record(l, csv);
}

static clv_status put_rows(const labeling *l, clv_csv *csv) {
    int64_t next = 0;
    for (int64_t row = 0; clv_csv_next(csv); row++) {
        bool kept = next < l->n && clv_data_row(l->of, next) == row;
        CLV_TRY(put_record(l, csv));
        clv_writer_put(l->writer, &l->separator, 1);
        clv_put_label(l->writer, kept ? l->labels[next] : -1, l->classes, l->end);
        CLV_TRY(clv_writer_status(l->writer));
        next += kept;
    }
    return next == l->n ? CLV_OK : clv_fail(l->ctx, CLV_EIO, "%s has changed while it was in use", csv->name);
}

/* Whether numbers have decimal commas, which would be taken for separators. */
static clv_status has_commas(clv_context *ctx, clv_csv csv, bool *commas) {
    *commas = false;
    while (csv.comma && !*commas && clv_csv_next(&csv)) {
        clv_token field;
        double value;
        for (bool last = false; !last;) {
            CLV_TRY(clv_csv_field(ctx, &csv, &field, &last));
            *commas = *commas || (field.size > 0 && memchr(field.text, ',', field.size) &&
                                  clv_cell_of(&csv, &field, &value) == CLV_CELL_NUMBER);
        }
    }
    return CLV_OK;
}

/* A .tsv file has tabs, others commas; or semicolons, if the input has them or commas would not do. */
static clv_status choose_separator(labeling *l, const char *path, const clv_csv *csv) {
    bool commas;
    CLV_TRY(has_commas(l->ctx, *csv, &commas));
    l->separator = clv_has_extension(path, "tsv") ? '\t' : csv->separator == ';' || commas ? ';' : ',';
    return CLV_OK;
}

/* The names of all columns, also where the input has none over its row names. */
static clv_status put_header(const labeling *l, clv_layout *layout) {
    const char *name = clv_layout_own_name(layout);
    clv_writer_put(l->writer, &l->separator, layout->shifted);
    CLV_TRY(put_record(l, &layout->top));
    clv_writer_put(l->writer, &l->separator, 1);
    clv_writer_put(l->writer, name, strlen(name));
    clv_writer_put(l->writer, l->end, strlen(l->end));
    return CLV_OK;
}

static clv_status put_table(labeling *l, const char *path, clv_bytes bytes, const clv_read_options *options,
                            char separator) {
    clv_csv csv;
    clv_layout layout = {0};
    clv_layout_request request = {.header = options->header,
                                  .label_column = options->label_column,
                                  .like = options->like,
                                  .like_count = options->like_count};
    clv_status status = clv_layout_read(l->ctx, bytes, separator, &request, &csv, &layout);
    status = status < 0 ? status : choose_separator(l, path, &csv);
    if (status >= 0) {
        l->end = end_of(layout.top);
        clv_writer_put(l->writer, bytes.data, clv_has_mark(bytes) ? CLV_MARK_SIZE : 0);
    }
    status = status < 0 || !layout.header ? status : put_header(l, &layout);
    status = status < 0 ? status : put_rows(l, &csv);
    clv_layout_free(l->ctx, &layout);
    return status;
}

clv_status clv_write_labeled(clv_context *ctx, const char *path, const char *from, const clv_read_options *options,
                             const int32_t *labels, int64_t n, const clv_data *of, const char *const *classes) {
    CLV_NEED(ctx, path);
    CLV_NEED(ctx, from);
    CLV_NEED(ctx, labels);
    static const clv_read_options none = {0};
    clv_source in;
    clv_bytes bytes;
    labeling l = {.ctx = ctx, .labels = labels, .n = n, .of = of, .classes = classes};
    if (!clv_is_table(from) || strcmp(from, "-") == 0) { /* which has been read */
        return clv_fail(ctx, CLV_EUSAGE, "%s: labels can be put beside the columns of .csv, .tsv and .txt files", from);
    }
    CLV_TRY(clv_input_read(ctx, from, &in, &bytes));
    clv_status status = clv_writer_open(ctx, strcmp(path, "-") == 0 ? "/dev/stdout" : path, &l.writer);
    if (status == CLV_OK) {
        status = put_table(&l, path, bytes, options ? options : &none, clv_separator_of(from));
        status = clv_writer_finish(l.writer, status);
    }
    return clv_input_end(&in, status);
}
