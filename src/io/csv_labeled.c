/* A CSV file again, with a label behind every row: the records are copied as they stand. */
#include "io/csv.h"
#include "io/input.h"

#include <stdio.h>
#include <string.h>

/* Past a record, whose text (without the end of its line) is put. */
static clv_status copy_record(clv_context *ctx, clv_csv *csv, clv_writer *writer) {
    const char *first = csv->at;
    clv_token field;
    for (bool last = false; !last;) {
        CLV_TRY(clv_csv_field(ctx, csv, &field, &last));
    }
    const char *end = csv->at;
    while (end > first && (end[-1] == '\n' || end[-1] == '\r')) {
        end--;
    }
    clv_writer_put(writer, first, (size_t)(end - first));
    return CLV_OK;
}

/* A name for the new column that no other has. */
static const char *free_name(const clv_layout *layout) {
    static const char *const names[] = {"label", "cluster", "cleave_label", "cleave_cluster"};
    size_t n = 0;
    for (int64_t c = 0; c < layout->columns && n + 1 < CLV_COUNT(names); c++) {
        const clv_token *name = clv_layout_name(layout, c);
        if (name && clv_field_equals(name, names[n], true)) {
            n++;
            c = -1; /* look at all columns again */
        }
    }
    return names[n];
}

static clv_status put_rows(clv_context *ctx, clv_csv *csv, clv_writer *writer, const int32_t *labels, int64_t n,
                           const clv_data *of) {
    int64_t next = 0;
    for (int64_t row = 0; clv_csv_next(csv); row++) {
        bool kept = next < n && clv_data_row(of, next) == row;
        char label[24];
        CLV_TRY(copy_record(ctx, csv, writer));
        int size = snprintf(label, sizeof label, "%c%d\n", csv->separator, kept ? labels[next] : -1);
        clv_writer_put(writer, label, (size_t)size);
        CLV_TRY(clv_writer_status(writer));
        next += kept;
    }
    return next == n ? CLV_OK : clv_fail(ctx, CLV_EIO, "%s has changed while it was in use", csv->name);
}

static clv_status put_table(clv_context *ctx, clv_bytes bytes, const clv_read_options *options, char separator,
                            clv_writer *writer, const int32_t *labels, int64_t n, const clv_data *of) {
    clv_csv csv;
    clv_layout layout = {0};
    clv_layout_request request = {.header = options->header, .label_column = options->label_column};
    clv_status status = clv_layout_read(ctx, bytes, separator, &request, &csv, &layout);
    if (status == CLV_OK && layout.header) {
        const char *name = free_name(&layout);
        status = copy_record(ctx, &layout.top, writer);
        clv_writer_put(writer, &csv.separator, 1);
        clv_writer_put(writer, name, strlen(name));
        clv_writer_put(writer, "\n", 1);
    }
    if (status == CLV_OK) {
        status = put_rows(ctx, &csv, writer, labels, n, of);
    }
    clv_layout_free(ctx, &layout);
    return status;
}

clv_status clv_write_labeled(clv_context *ctx, const char *path, const char *from, const clv_read_options *options,
                             const int32_t *labels, int64_t n, const clv_data *of) {
    static const clv_read_options none = {0};
    clv_source in;
    clv_bytes bytes;
    clv_writer *writer;
    if (!clv_is_table(from) || strcmp(from, "-") == 0) { /* which has been read */
        return clv_fail(ctx, CLV_EUSAGE, "%s: labels can be put beside the columns of .csv, .tsv and .txt files", from);
    }
    CLV_TRY(clv_input_read(ctx, from, &in, &bytes));
    clv_status status = clv_writer_open(ctx, strcmp(path, "-") == 0 ? "/dev/stdout" : path, &writer);
    if (status == CLV_OK) {
        status = put_table(ctx, bytes, options ? options : &none, clv_separator_of(from), writer, labels, n, of);
        status = clv_writer_finish(writer, status);
    }
    return clv_input_end(&in, status);
}
