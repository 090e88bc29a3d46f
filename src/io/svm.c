/* The text format of libsvm (Chang and Lin 2011), `label index:value ...`, to CSR and labels. Indices count from 1 and
 * ascend; `qid:N` and what follows a # are passed over. Two passes over the bytes: sizes, then values. */
#include "io/io.h"

#include <math.h>
#include <string.h>

typedef struct reader {
    clv_lines in;
    clv_data *data;
    double *targets; /* one label per row, as in the file */
    int64_t rows, cols, stored;
} reader;

static clv_status read_target(reader *r, const clv_token *found) {
    const char *end = found->text + found->size;
    double value;
    if (clv_scan_number(found->text, end, &value) != end) {
        return clv_line_refuse(&r->in, found, "is not a number, as the label at the start of a line must be");
    }
    if (!isfinite(value)) {
        return clv_line_refuse(&r->in, found, "is not a finite number");
    }
    r->targets[r->rows] = value;
    return CLV_OK;
}

static clv_status read_feature(reader *r, const clv_token *found, int64_t previous, int64_t *index) {
    const char *end = found->text + found->size;
    const char *colon = clv_scan_integer(found->text, end, index);
    double value;
    if (!colon || colon == end || *colon != ':' || clv_scan_number(colon + 1, end, &value) != end) {
        return clv_line_refuse(&r->in, found, "is not of the form index:value");
    }
    if (*index < 1 || *index > INT32_MAX) {
        return clv_line_refuse(&r->in, found, "has an index that is not from 1 to 2147483647");
    }
    if (*index <= previous) {
        return clv_line_refuse(&r->in, found, "has an index that is not larger than the one before it");
    }
    if (!isfinite(value)) {
        return clv_line_refuse(&r->in, found, "is not a finite number");
    }
    r->data->index[r->stored] = (int32_t)(*index - 1);
    ((double *)r->data->values)[r->stored++] = value;
    return CLV_OK;
}

static clv_status read_line(reader *r) {
    clv_token found = clv_line_word(&r->in);
    if (found.size == 0) {
        return CLV_OK;
    }
    CLV_TRY(read_target(r, &found));
    int64_t index = 0;
    for (found = clv_line_word(&r->in); found.size > 0; found = clv_line_word(&r->in)) {
        if (found.size < 4 || memcmp(found.text, "qid:", 4) != 0) {
            CLV_TRY(read_feature(r, &found, index, &index));
        }
    }
    r->cols = index > r->cols ? index : r->cols;
    r->data->start[++r->rows] = r->stored;
    return CLV_OK;
}

static clv_status read_lines(reader *r) {
    for (; r->in.at < r->in.end; clv_line_next(&r->in)) {
        CLV_TRY(read_line(r));
        CLV_TRY(clv_parse_on_at(r->in.ctx, r->in.name, r->in.at, &r->in.asked));
    }
    if (r->rows == 0) {
        return clv_fail(r->in.ctx, CLV_EDATA, "%s is empty", r->in.name);
    }
    if (r->cols == 0) {
        return clv_fail(r->in.ctx, CLV_EDATA, "%s has labels and no features", r->in.name);
    }
    r->data->matrix.rows = r->rows;
    r->data->matrix.cols = r->cols;
    r->data->labels = CLV_NEW(r->in.ctx, int32_t, r->rows);
    return r->data->labels ? clv_code_numbers(r->in.ctx, r->in.name, r->targets, r->rows, r->data->labels) : CLV_ENOMEM;
}

static int64_t count_byte(clv_bytes bytes, char c) {
    int64_t count = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        count += bytes.data[i] == (uint8_t)c;
    }
    return count;
}

clv_status clv_svm_parse(clv_context *ctx, clv_bytes bytes, clv_data **out) {
    *out = NULL;
    int64_t lines = count_byte(bytes, '\n') + 1;
    reader r = {.in = clv_lines_of(ctx, bytes, '#')};
    CLV_TRY(clv_data_new_csr(ctx, bytes.name, lines, 0, count_byte(bytes, ':'), &r.data));
    r.targets = CLV_NEW(ctx, double, lines);
    r.data->targets = r.targets;
    return clv_data_give(r.data, r.targets ? read_lines(&r) : CLV_ENOMEM, out);
}
