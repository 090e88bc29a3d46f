/* Targets: one number per sample, from whatever a file calls them. Numbers stay as they are; texts are numbered, by
 * themselves or as those of another file. */
#include "io/csv.h"
#include "io/input.h"
#include "linalg/linalg.h"

#include <string.h>

static void take_ids(clv_data *from, clv_data *to) {
    to->ids = from->ids;
    to->id_at = from->id_at;
    to->id_name = from->id_name;
    to->truth = from->truth;
    from->ids = from->id_name = from->truth = NULL;
    from->id_at = NULL;
}

/* A vector, or the labels of a file that has features, too. */
static clv_matrix vector_of(const clv_data *from) {
    const clv_matrix labels = {.rows = from->matrix.rows, .cols = 1, .values = from->targets};
    return from->targets ? labels : from->matrix;
}

static clv_status fill_numbers(clv_data *from, clv_data **out) {
    const clv_matrix vector = vector_of(from), *m = &vector;
    if (m->rows != 1 && m->cols != 1) {
        return clv_fail(from->ctx, CLV_EDATA, "%s is %lld x %lld: targets are one number per sample", from->name,
                        (long long)m->rows, (long long)m->cols);
    }
    CLV_TRY(clv_data_new_dense(from->ctx, from->name, m->rows * m->cols, 1, CLV_F64, out));
    double *values = (*out)->values;
    for (int64_t i = 0; i < m->rows; i++) {
        clv_matrix_row(m, i, values + i * m->cols);
    }
    if (m->cols == 1) {
        take_ids(from, *out);
    }
    if (!(*out)->truth && from->columns_count == 1) {
        (*out)->truth = clv_copy_text(from->ctx, from->columns[0]);
        return (*out)->truth ? CLV_OK : CLV_ENOMEM;
    }
    return CLV_OK;
}

/* --- texts --- */

static int64_t find_class(const clv_data *known, const char *text) {
    for (int64_t c = 0; c < known->classes_count; c++) {
        if (strcmp(known->classes[c], text) == 0) {
            return c;
        }
    }
    return -1;
}

/* The class of `known` that each class is. */
static clv_status translate(clv_context *ctx, const char *path, const clv_data *known, const clv_classes *classes,
                            int64_t count, double *values) {
    for (int64_t i = 0; i < count; i++) {
        const char *text = classes->text[(int64_t)values[i]];
        int64_t found = find_class(known, text);
        if (found < 0) {
            char shown[CLV_SHOWN_SIZE];
            return clv_fail(ctx, CLV_EDATA, "%s row %lld: '%s' is not one of the %lld classes of %s", path,
                            (long long)i + 1, clv_show(shown, text, strlen(text)), (long long)known->classes_count,
                            known->name);
        }
        values[i] = (double)found;
    }
    return CLV_OK;
}

/* Texts by the classes of `known`, or if that is NULL by their own, which are kept. */
static clv_status fill_texts(clv_context *ctx, clv_bytes bytes, const clv_label_request *request, const clv_data *known,
                             clv_data **out) {
    clv_data *rows;
    int32_t *labels = NULL;
    clv_classes classes = {0};
    CLV_TRY(clv_data_new(ctx, bytes.name, &rows));
    clv_status status = clv_csv_parse_classes(ctx, bytes, clv_separator_of(bytes.name), request, known != NULL, rows,
                                              &labels, &classes);
    if (status == CLV_OK) {
        status = clv_data_new_dense(ctx, bytes.name, rows->matrix.rows, 1, CLV_F64, out);
    }
    for (int64_t i = 0; status == CLV_OK && i < rows->matrix.rows; i++) {
        ((double *)(*out)->values)[i] = labels[i];
    }
    if (status == CLV_OK) {
        take_ids(rows, *out);
        status = known ? translate(ctx, bytes.name, known, &classes, rows->matrix.rows, (*out)->values) : CLV_OK;
    }
    if (status == CLV_OK && !known) {
        (*out)->classes = classes.text;
        (*out)->classes_count = classes.count;
        classes = (clv_classes){0};
    }
    clv_free_texts(ctx, classes.text, classes.count);
    clv_free(ctx, labels);
    clv_data_free(rows);
    return status;
}

/* --- both --- */

static const clv_read_options numbers = {.label_column = "none", .missing = (clv_missing)CLV_MISSING_NOWHERE};

/* Whether the first cell that is no number was the trouble: then the column may be one of texts. A number that is not
 * finite is another matter. */
static bool met_text(const clv_context *ctx) {
    return strstr(clv_message(ctx), "text, not numbers") != NULL;
}

/* Numbers if they are that, else texts; of classes, also a column among others. */
static clv_status fill_either(clv_context *ctx, clv_bytes bytes, const clv_label_request *request, bool classes,
                              clv_data **out) {
    clv_data *read = NULL;
    if (request->column) {
        return fill_texts(ctx, bytes, request, NULL, out);
    }
    clv_status status = clv_csv_parse(ctx, bytes, &numbers, clv_separator_of(bytes.name), &read);
    bool beside = status == CLV_OK && classes && vector_of(read).rows != 1 && vector_of(read).cols != 1;
    if (beside || (status == CLV_EDATA && met_text(ctx))) {
        clv_data_free(read);
        return fill_texts(ctx, bytes, request, NULL, out);
    }
    status = status < 0 ? status : fill_numbers(read, out);
    clv_data_free(read);
    return status;
}

/* `known`: as texts, by the classes of these. */
static clv_status read_table(clv_context *ctx, const char *path, const clv_label_request *request, bool classes,
                             const clv_data *known, clv_data **out) {
    clv_source in;
    clv_bytes bytes;
    CLV_TRY(clv_input_read(ctx, path, &in, &bytes));
    clv_status status =
        known ? fill_texts(ctx, bytes, request, known, out) : fill_either(ctx, bytes, request, classes, out);
    return clv_input_end(&in, clv_data_made(status, out));
}

static const clv_label_request truth = {.truth = 1};

clv_status clv_read_classes(clv_context *ctx, const char *path, const clv_label_request *request, clv_data **out) {
    *out = NULL;
    CLV_NEED(ctx, path);
    static const clv_label_request none = {0};
    return clv_is_table(path) ? read_table(ctx, path, request ? request : &none, true, NULL, out)
                              : clv_read_targets(ctx, path, out);
}

clv_status clv_read_targets(clv_context *ctx, const char *path, clv_data **out) {
    *out = NULL;
    CLV_NEED(ctx, path);
    clv_data *read = NULL;
    if (clv_is_table(path)) {
        return read_table(ctx, path, &truth, false, NULL, out);
    }
    CLV_TRY(clv_read(ctx, path, &numbers, &read));
    clv_status status = fill_numbers(read, out);
    clv_data_free(read);
    return status;
}

static clv_status refuse_kind(clv_context *ctx, const char *name, const clv_data *known) {
    return clv_fail(ctx, CLV_EDATA, "%s has %s for targets, but %s has %s", name, known->classes ? "numbers" : "texts",
                    known->name, known->classes ? "texts" : "numbers");
}

clv_status clv_read_targets_like(clv_context *ctx, const char *path, const clv_data *known, clv_data **out) {
    *out = NULL;
    CLV_NEED(ctx, path);
    CLV_NEED(ctx, known);
    if (known->classes && clv_is_table(path)) {
        return read_table(ctx, path, &truth, false, known, out);
    }
    CLV_TRY(clv_read_targets(ctx, path, out));
    if (!known->classes && !(*out)->classes) {
        return CLV_OK;
    }
    return clv_data_made(refuse_kind(ctx, path, known), out);
}

/* --- a column of the samples --- */

static clv_status copy_classes(const clv_data *from, clv_data *to) {
    to->classes = CLV_NEW0(to->ctx, char *, from->classes_count);
    CLV_TRY(to->classes ? CLV_OK : CLV_ENOMEM);
    to->classes_count = from->classes_count;
    for (int64_t c = 0; c < from->classes_count; c++) {
        to->classes[c] = clv_copy_text(to->ctx, from->classes[c]);
        CLV_TRY(to->classes[c] ? CLV_OK : CLV_ENOMEM);
    }
    return CLV_OK;
}

static clv_status fill_own(const clv_data *data, const clv_data *known, clv_data *out) {
    const clv_classes classes = {data->classes_count, data->classes};
    int64_t rows = data->matrix.rows;
    if (known && !known->classes != !data->classes) {
        return refuse_kind(data->ctx, data->name, known);
    }
    memcpy(out->values, data->targets, (size_t)rows * sizeof *data->targets);
    if (!data->classes) {
        return CLV_OK;
    }
    return known ? translate(data->ctx, data->name, known, &classes, rows, out->values) : copy_classes(data, out);
}

clv_status clv_data_targets(const clv_data *data, const clv_data *known, clv_data **out) {
    *out = NULL;
    if (!data->targets) {
        return clv_fail(data->ctx, CLV_EUSAGE,
                        "%s has no column of targets: give a file of them, or say which column of a table holds them "
                        "by --label-column",
                        data->name);
    }
    CLV_TRY(clv_data_new_dense(data->ctx, data->name, data->matrix.rows, 1, CLV_F64, out));
    return clv_data_made(fill_own(data, known, *out), out);
}
