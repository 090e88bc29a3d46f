/* Reading files: the extension says the format, the whole content goes to its parser. A plain .npy is read straight
 * into its matrix, or mapped. */
#include "io/input.h"

#include "base/ranks.h"

#include <float.h>
#include <locale.h>
#include <string.h>

const char *clv_errno_text(int code) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) {
        return "unknown error";
    }
    const char *text = strerror_l(code, c_locale);
    freelocale(c_locale);
    return text;
}

bool clv_is_compressed(const char *path) {
    size_t length = strlen(path);
    return length > 3 && clv_same_letters(path + length - 3, ".gz", 3);
}

/* What is compressed by gzip is what it was before. */
bool clv_has_extension(const char *path, const char *list) {
    size_t length = strlen(path);
    length -= clv_is_compressed(path) ? 3 : 0;
    while (list) {
        size_t size = strcspn(list, "|");
        if (length > size && path[length - size - 1] == '.' && clv_same_letters(path + length - size, list, size)) {
            return true;
        }
        list = list[size] ? list + size + 1 : NULL;
    }
    return false;
}

clv_status clv_data_give(clv_data *data, clv_status status, clv_data **out) {
    if (status == CLV_OK) {
        status = clv_data_check_finite(data);
    }
    if (status < 0) {
        clv_data_free(data);
    }
    *out = status < 0 ? NULL : data;
    return status;
}

char clv_separator_of(const char *path) {
    return clv_has_extension(path, "tsv|tab") ? '\t' : 0;
}

int clv_is_table(const char *path) {
    return strcmp(path, "-") == 0 || clv_has_extension(path, "csv|tsv|tab|txt|dat|data");
}

/* --- matrices --- */

static const char pictures[] = "png|jpg|jpeg";

static clv_status read_npy(clv_source *in, int map, clv_data **out) {
    clv_bytes bytes;
    if (in->size >= 0 && !clv_is_compressed(in->name)) {
        CLV_TRY(clv_npy_read_plain(in->ctx, in->file, in->size, in->name, map, out));
        if (*out) {
            return CLV_OK;
        }
    }
    CLV_TRY(clv_input_content(in, &bytes));
    return clv_npy_parse(in->ctx, bytes, out);
}

static clv_status parse_image(clv_context *ctx, const char *path, clv_bytes bytes, clv_image *out) {
    return clv_has_extension(path, "png") ? clv_png_parse(ctx, bytes, out) : clv_jpeg_parse(ctx, bytes, out);
}

static clv_status read_pixels(clv_context *ctx, const char *path, clv_bytes bytes, clv_data **out) {
    clv_image image;
    CLV_TRY(parse_image(ctx, path, bytes, &image));
    clv_status status = clv_image_to_data(ctx, &image, bytes.name, out);
    clv_free(ctx, image.samples);
    return status;
}

static clv_status read_matrix(clv_source *in, const char *path, const clv_read_options *options, clv_data **out) {
    clv_bytes bytes;
    if (clv_has_extension(path, "npy")) {
        return read_npy(in, options ? options->map : 0, out);
    }
    CLV_TRY(clv_input_content(in, &bytes));
    if (clv_has_extension(path, "clv") && bytes.size == 0) {
        return clv_fail(in->ctx, CLV_EDATA, "%s is empty", in->name);
    }
    if (clv_has_extension(path, "clv") && bytes.data[0] == 0x93) { /* of a model that is kept */
        return clv_npy_parse(in->ctx, bytes, out);
    }
    if (clv_has_extension(path, "mtx|clv")) {
        return clv_mtx_parse(in->ctx, bytes, out);
    }
    if (clv_has_extension(path, "svm|libsvm")) {
        return clv_svm_parse(in->ctx, bytes, out);
    }
    if (clv_has_extension(path, pictures)) {
        return read_pixels(in->ctx, path, bytes, out);
    }
    return clv_csv_parse(in->ctx, bytes, options, clv_separator_of(path), out);
}

/* Where the name of a variable begins in `file.mat:variable`, or NULL when `path` is no MATLAB file; "" for none. */
static const char *find_variable(const char *path) {
    if (clv_has_extension(path, "mat")) {
        return path + strlen(path);
    }
    const char *colon = strrchr(path, ':');
    if (colon && colon - path >= 4 && clv_same_letters(colon - 4, ".mat", 4) && !strchr(colon, '/')) {
        return colon + 1;
    }
    return NULL;
}

static clv_status read_variable(clv_context *ctx, const char *path, const char *variable, clv_data **out) {
    clv_source in;
    clv_bytes bytes;
    CLV_TRY(clv_input_read(ctx, path, &in, &bytes));
    clv_status status = clv_mat_parse(ctx, bytes, variable, out);
    return clv_input_end(&in, status);
}

static clv_status read_mat(clv_context *ctx, const char *path, const char *variable, clv_data **out) {
    if (*variable == '\0' && variable[-1] != ':') {
        return read_variable(ctx, path, NULL, out);
    }
    char *file = clv_copy_text(ctx, path);
    if (!file) {
        return CLV_ENOMEM;
    }
    file[variable - path - 1] = '\0';
    clv_status status = read_variable(ctx, file, variable, out);
    clv_free(ctx, file);
    return status;
}

static clv_status read_here(clv_context *ctx, const char *path, const clv_read_options *options, clv_data **out) {
    const char *variable = find_variable(path);
    if (variable) {
        return read_mat(ctx, path, variable, out);
    }
    if (clv_has_extension(path, "parquet|feather|arrow|xlsx|xls|ods")) {
        return clv_fail(ctx, CLV_EUSAGE,
                        "%s: such files are not read: save it as .csv, or give what pandas reads of it to the Python "
                        "package",
                        path);
    }
    if (!clv_is_table(path) && !clv_has_extension(path, "npy|mtx|svm|libsvm|clv") &&
        !clv_has_extension(path, pictures)) {
        return clv_fail(
            ctx, CLV_EUSAGE,
            "%s: the name must end in .npy, .csv, .tsv, .tab, .txt, .dat, .data, .mtx, .svm, .libsvm, .mat, "
            ".mat:VARIABLE, .png, .jpg or .jpeg, with or without .gz after it (or be -, for CSV from standard input)",
            path);
    }
    clv_source in;
    CLV_TRY(clv_input_open(ctx, path, &in));
    clv_status status = read_matrix(&in, path, options, out);
    return clv_input_end(&in, status);
}

/* What processes compare of a file that each of them has: type, shape and a few rows, from the first to the last. */
static uint64_t hash_some_rows(const clv_matrix *m) {
    enum { SOME = 16 };
    uint64_t hash = (uint64_t)m->rows;
    for (int64_t s = 0; s < SOME; s++) {
        size_t at = (size_t)(s * (m->rows - 1) / (SOME - 1)) * (size_t)m->cols * clv_scalar_bytes(m->scalar);
        clv_matrix row = {.rows = 1, .cols = m->cols, .scalar = m->scalar, .values = (const char *)m->values + at};
        hash = hash * 31 + clv_matrix_hash(&row);
    }
    return hash;
}

/* Of a file that processes map, nobody has looked at the numbers: each does at its share, if they are to be looked at,
 * so that the first that is none is told of before anything else is, as by one process, which reads them. */
static clv_status check_share(clv_context *ctx, bool look, clv_status status, clv_data **data) {
    int64_t first, last;
    const clv_data *read = status == CLV_OK ? *data : NULL;
    if (read && look && clv_data_is_mapped(read)) {
        const clv_matrix *m = clv_data_matrix(read);
        clv_share(ctx, m->rows, &first, &last);
        status = clv_matrix_check_rows(ctx, read->name, m, DBL_MAX, first, last);
    }
    status = clv_agree_same(ctx, status, read ? hash_some_rows(clv_data_matrix(read)) : 0, read ? read->name : "");
    if (status < 0) {
        clv_data_free(*data);
        *data = NULL;
    }
    return status;
}

/* Of several processes each looks at a plain .npy itself, of which it may need but a part; anything else is read by the
 * first one, for all. */
clv_status clv_read(clv_context *ctx, const char *path, const clv_read_options *options, clv_data **out) {
    *out = NULL;
    if (!path || !*path) {
        return clv_fail(ctx, CLV_EUSAGE, "there is no name of a file to read");
    }
    bool together = clv_is_shared(ctx), each = clv_has_extension(path, "npy") && !clv_is_compressed(path);
    clv_status status = CLV_OK;
    clv_context_work_alone(ctx, 1); /* by its own clock */
    if (!together || each || clv_ranks_of(ctx)->with.rank == 0) {
        status = read_here(ctx, path, options, out);
    }
    clv_context_work_alone(ctx, 0);
    if (together && each && options && options->map) {
        return check_share(ctx, options->map == 1, status, out);
    }
    return together && !each ? clv_data_share(ctx, status, path, out) : status;
}

/* --- labels and pictures --- */

clv_status clv_read_named_labels(clv_context *ctx, const char *path, const clv_label_request *request, clv_data **rows,
                                 int32_t **labels) {
    *rows = NULL;
    CLV_NEED(ctx, path);
    clv_source in;
    clv_bytes bytes;
    *labels = NULL;
    if (!clv_is_table(path) && !clv_has_extension(path, "npy")) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: the name of a file of labels must end in .npy, .csv, .tsv or .txt", path);
    }
    CLV_TRY(clv_data_new(ctx, path, rows));
    clv_status status = clv_input_read(ctx, path, &in, &bytes);
    if (status == CLV_OK) {
        status = clv_has_extension(path, "npy")
                     ? clv_npy_parse_labels(ctx, bytes, &(*rows)->matrix.rows, labels)
                     : clv_csv_parse_classes(ctx, bytes, clv_separator_of(path), request, false, *rows, labels, NULL);
        status = clv_input_end(&in, status);
    }
    return clv_data_made(status, rows);
}

clv_status clv_read_labels(clv_context *ctx, const char *path, int64_t *n, int32_t **labels) {
    *n = 0;
    CLV_NEED(ctx, path);
    clv_data *rows;
    CLV_TRY(clv_read_named_labels(ctx, path, NULL, &rows, labels));
    *n = rows->matrix.rows;
    clv_data_free(rows);
    return CLV_OK;
}

clv_status clv_read_image(clv_context *ctx, const char *path, clv_image *out) {
    *out = (clv_image){0};
    CLV_NEED(ctx, path);
    bool npy = clv_has_extension(path, "npy");
    if (!npy && !clv_has_extension(path, pictures)) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: the name of a picture must end in .png, .jpg, .jpeg or .npy", path);
    }
    clv_source in;
    clv_bytes bytes;
    CLV_TRY(clv_input_read(ctx, path, &in, &bytes));
    clv_status status = npy ? clv_npy_parse_image(ctx, bytes, out) : parse_image(ctx, path, bytes, out);
    return clv_input_end(&in, status);
}
