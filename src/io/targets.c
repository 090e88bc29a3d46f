/* Targets: one number a sample, from whatever a file calls them. */
#include "io/io.h"
#include "linalg/linalg.h"

#include <string.h>

static clv_status fill_numbers(const clv_data *from, clv_data **out) {
    const clv_matrix *m = &from->matrix;
    int64_t count = m->rows == 1 ? m->cols : m->rows;
    if (m->rows != 1 && m->cols != 1) {
        return clv_fail(from->ctx, CLV_EDATA, "%s is %lld x %lld: targets are one number a sample", from->name,
                        (long long)m->rows, (long long)m->cols);
    }
    CLV_TRY(clv_data_new_dense(from->ctx, from->name, count, 1, CLV_F64, out));
    double *values = (*out)->values;
    for (int64_t i = 0; i < m->rows; i++) {
        clv_matrix_row(m, i, values + i * m->cols);
    }
    return CLV_OK;
}

static clv_status fill_labels(clv_context *ctx, const char *name, const int32_t *labels, int64_t count,
                              clv_data **out) {
    CLV_TRY(clv_data_new_dense(ctx, name, count, 1, CLV_F64, out));
    for (int64_t i = 0; i < count; i++) {
        ((double *)(*out)->values)[i] = (double)labels[i];
    }
    return CLV_OK;
}

/* Texts: a column that is no matrix, but labels. */
static clv_status read_texts(clv_context *ctx, const char *path, clv_data **out) {
    int64_t count;
    int32_t *labels;
    CLV_TRY(clv_read_labels(ctx, path, &count, &labels));
    clv_status status = fill_labels(ctx, path, labels, count, out);
    clv_release(ctx, labels);
    return status;
}

/* Whether the first cell that is no number was the trouble: then the column may be one of texts. A number that is not
 * finite is another matter. */
static bool met_text(const clv_context *ctx, const char *path) {
    return strcmp(path, "-") != 0 && strstr(clv_message(ctx), "is not a number");
}

clv_status clv_read_targets(clv_context *ctx, const char *path, clv_data **out) {
    const clv_read_options numbers = {.header = CLV_HEADER_DETECT, .label_column = "none"};
    clv_data *read = NULL;
    *out = NULL;
    clv_status status = clv_read(ctx, path, &numbers, &read);
    if (status == CLV_EDATA && met_text(ctx, path)) {
        return read_texts(ctx, path, out);
    }
    CLV_TRY(status);
    status = read->labels ? fill_labels(ctx, path, read->labels, read->matrix.rows, out) : fill_numbers(read, out);
    clv_data_free(read);
    return status;
}
