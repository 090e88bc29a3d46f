/* Targets: one number per sample, from whatever a file calls them. Numbers stay as they are; texts are numbered, by
 * themselves or as those of another file. */
#include "io/csv.h"
#include "linalg/linalg.h"

#include <string.h>

static const char with_texts[] = "csv|tsv";

static void take_ids(clv_data *from, clv_data *to) {
    to->ids = from->ids;
    to->id_at = from->id_at;
    to->id_name = from->id_name;
    from->ids = from->id_name = NULL;
    from->id_at = NULL;
}

/* A vector, or the labels of a file that has features, too. */
static clv_status fill_numbers(clv_data *from, clv_data **out) {
    const clv_matrix labels = {.rows = from->matrix.rows, .cols = 1, .values = from->targets};
    const clv_matrix *m = from->targets ? &labels : &from->matrix;
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
    return CLV_OK;
}

static clv_status fill_labels(clv_context *ctx, const char *path, const int32_t *labels, int64_t count,
                              clv_data **out) {
    clv_data *named;
    CLV_TRY(clv_read_ids(ctx, path, &named));
    clv_status status = clv_data_new_dense(ctx, path, count, 1, CLV_F64, out);
    if (status == CLV_OK) {
        take_ids(named, *out);
    }
    for (int64_t i = 0; status == CLV_OK && i < count; i++) {
        ((double *)(*out)->values)[i] = (double)labels[i];
    }
    clv_data_free(named);
    return status;
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

/* Labels by the classes of `known` instead of their own. */
static clv_status translate(clv_context *ctx, const char *path, const clv_data *known, const clv_classes *classes,
                            int64_t count, int32_t *labels) {
    for (int64_t i = 0; i < count; i++) {
        const char *text = classes->text[labels[i]];
        int64_t found = find_class(known, text);
        if (found < 0) {
            char shown[CLV_SHOWN_SIZE];
            return clv_fail(ctx, CLV_EDATA, "%s row %lld: '%s' is not one of the %lld classes of %s", path,
                            (long long)i + 1, clv_show(shown, text, strlen(text)), (long long)known->classes_count,
                            known->name);
        }
        labels[i] = (int32_t)found;
    }
    return CLV_OK;
}

/* Texts by the classes of `known`, or if that is NULL by their own, which are kept. */
static clv_status read_texts(clv_context *ctx, const char *path, const clv_data *known, clv_data **out) {
    int64_t count;
    int32_t *labels;
    clv_classes classes;
    CLV_TRY(clv_read_classes(ctx, path, known != NULL, &count, &labels, &classes));
    clv_status status = known ? translate(ctx, path, known, &classes, count, labels) : CLV_OK;
    if (status == CLV_OK) {
        status = fill_labels(ctx, path, labels, count, out);
    }
    clv_free(ctx, labels);
    if (status < 0 || known) {
        clv_free_texts(ctx, classes.text, classes.count);
        return status;
    }
    (*out)->classes = classes.text;
    (*out)->classes_count = classes.count;
    return CLV_OK;
}

/* --- both --- */

/* Whether the first cell that is no number was the trouble: then the column may be one of texts. A number that is not
 * finite is another matter. */
static bool met_text(const clv_context *ctx, const char *path) {
    return strcmp(path, "-") != 0 && strstr(clv_message(ctx), "text, not numbers");
}

clv_status clv_read_targets(clv_context *ctx, const char *path, clv_data **out) {
    const clv_read_options numbers = {.label_column = "none", .missing = (clv_missing)CLV_MISSING_NOWHERE};
    clv_data *read = NULL;
    *out = NULL;
    clv_status status = clv_read(ctx, path, &numbers, &read);
    if (status == CLV_EDATA && clv_has_extension(path, with_texts) && met_text(ctx, path)) {
        return read_texts(ctx, path, NULL, out);
    }
    CLV_TRY(status);
    status = fill_numbers(read, out);
    clv_data_free(read);
    return status;
}

clv_status clv_read_targets_like(clv_context *ctx, const char *path, const clv_data *known, clv_data **out) {
    *out = NULL;
    if (known->classes && clv_has_extension(path, with_texts)) {
        return read_texts(ctx, path, known, out);
    }
    CLV_TRY(clv_read_targets(ctx, path, out));
    if (!known->classes && !(*out)->classes) {
        return CLV_OK;
    }
    clv_data_free(*out);
    *out = NULL;
    return clv_fail(ctx, CLV_EDATA, "%s has %s for targets, but %s has %s", path, known->classes ? "numbers" : "texts",
                    known->name, known->classes ? "texts" : "numbers");
}
