/* The text format of libsvm (Chang and Lin 2011), `label index:value ...`, to CSR and labels. Indices count from 1 and
 * ascend; `qid:N` and what follows a # are passed over. Two passes over the bytes: sizes, then values. */
#include "io/io.h"

#include <math.h>
#include <string.h>

typedef struct reader {
    clv_context *ctx;
    const char *name;
    const char *at, *line_end, *end;
    const char *asked; /* where reading was last asked about */
    int64_t line;
    clv_data *data;
    double *targets; /* one label per row, as in the file */
    int64_t rows, cols, stored;
} reader;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line; size 0 at its end. */
static clv_token word(reader *r) {
    while (r->at < r->line_end && is_blank(*r->at)) {
        r->at++;
    }
    const char *first = r->at;
    while (r->at < r->line_end && !is_blank(*r->at)) {
        r->at++;
    }
    return (clv_token){first, (size_t)(r->at - first), false};
}

static clv_status refuse_word(const reader *r, const char *text, size_t size, const char *what) {
    char shown[CLV_SHOWN_SIZE];
    return clv_fail(r->ctx, CLV_EDATA, "%s line %lld: '%s' %s", r->name, (long long)r->line,
                    clv_show(shown, text, size), what);
}

static clv_status read_target(reader *r, const clv_token *found) {
    const char *end = found->text + found->size;
    double value;
    if (clv_scan_number(found->text, end, &value) != end) {
        return refuse_word(r, found->text, found->size, "is not a number, as the label at the start of a line must be");
    }
    if (!isfinite(value)) {
        return refuse_word(r, found->text, found->size, "is not a finite number");
    }
    r->targets[r->rows] = value;
    return CLV_OK;
}

static clv_status read_feature(reader *r, const clv_token *found, int64_t previous, int64_t *index) {
    const char *end = found->text + found->size;
    const char *colon = clv_scan_integer(found->text, end, index);
    double value;
    if (!colon || colon == end || *colon != ':' || clv_scan_number(colon + 1, end, &value) != end) {
        return refuse_word(r, found->text, found->size, "is not of the form index:value");
    }
    if (*index < 1 || *index > INT32_MAX) {
        return refuse_word(r, found->text, found->size, "has an index that is not from 1 to 2147483647");
    }
    if (*index <= previous) {
        return refuse_word(r, found->text, found->size, "has an index that is not larger than the one before it");
    }
    if (!isfinite(value)) {
        return refuse_word(r, found->text, found->size, "is not a finite number");
    }
    r->data->index[r->stored] = (int32_t)(*index - 1);
    ((double *)r->data->values)[r->stored++] = value;
    return CLV_OK;
}

static clv_status read_line(reader *r) {
    clv_token found = word(r);
    if (found.size == 0) {
        return CLV_OK;
    }
    CLV_TRY(read_target(r, &found));
    int64_t index = 0;
    for (found = word(r); found.size > 0; found = word(r)) {
        if (found.size < 4 || memcmp(found.text, "qid:", 4) != 0) {
            CLV_TRY(read_feature(r, &found, index, &index));
        }
    }
    r->cols = index > r->cols ? index : r->cols;
    r->data->start[++r->rows] = r->stored;
    return CLV_OK;
}

static clv_status read_lines(reader *r) {
    while (r->at < r->end) {
        const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
        const char *line_end = newline ? newline : r->end;
        const char *comment = memchr(r->at, '#', (size_t)(line_end - r->at));
        r->line_end = comment ? comment : line_end;
        CLV_TRY(read_line(r));
        CLV_TRY(clv_parse_on_at(r->ctx, r->name, r->at, &r->asked));
        r->at = newline ? newline + 1 : r->end;
        r->line++;
    }
    if (r->rows == 0) {
        return clv_fail(r->ctx, CLV_EDATA, "%s is empty", r->name);
    }
    if (r->cols == 0) {
        return clv_fail(r->ctx, CLV_EDATA, "%s has labels and no features", r->name);
    }
    r->data->matrix.rows = r->rows;
    r->data->matrix.cols = r->cols;
    r->data->labels = CLV_NEW(r->ctx, int32_t, r->rows);
    return r->data->labels ? clv_code_numbers(r->ctx, r->targets, r->rows, r->data->labels) : CLV_ENOMEM;
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
    const char *text = bytes.size ? (const char *)bytes.data : "";
    int64_t lines = count_byte(bytes, '\n') + 1;
    reader r = {.ctx = ctx, .name = bytes.name, .at = text, .end = text + bytes.size, .asked = text, .line = 1};
    CLV_TRY(clv_data_new_csr(ctx, bytes.name, lines, 0, count_byte(bytes, ':'), &r.data));
    r.targets = CLV_NEW(ctx, double, lines);
    r.data->targets = r.targets;
    clv_status status = r.targets ? read_lines(&r) : CLV_ENOMEM;
    if (status < 0) {
        clv_data_free(r.data);
        return status;
    }
    *out = r.data;
    return CLV_OK;
}
