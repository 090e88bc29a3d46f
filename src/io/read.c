/* Reading files: the extension says the format, the whole content goes to its parser. A plain .npy is read straight
 * into its matrix, or mapped. */
#include "io/input.h"

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

void clv_extension(const char *path, char extension[CLV_EXTENSION_SIZE]) {
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    extension[0] = '\0';
    if (dot && strlen(dot + 1) < CLV_EXTENSION_SIZE) {
        size_t i = 0;
        for (; dot[i + 1]; i++) {
            char c = dot[i + 1];
            extension[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        }
        extension[i] = '\0';
    }
}

/* --- matrices --- */

static clv_status read_npy(clv_source *in, bool map, clv_data **out) {
    clv_bytes bytes;
    if (in->size >= 0) {
        CLV_TRY(clv_npy_read_plain(in->ctx, in->file, in->size, in->name, map, out));
        if (*out) {
            return CLV_OK;
        }
    }
    CLV_TRY(clv_input_content(in, &bytes));
    return clv_npy_parse(in->ctx, bytes, out);
}

static clv_status parse_image(clv_context *ctx, const char *extension, clv_bytes bytes, clv_image *out) {
    bool png = strcmp(extension, "png") == 0;
    return png ? clv_png_parse(ctx, bytes, out) : clv_jpeg_parse(ctx, bytes, out);
}

static bool is_image(const char *extension) {
    return strcmp(extension, "png") == 0 || strcmp(extension, "jpg") == 0 || strcmp(extension, "jpeg") == 0;
}

static clv_status read_pixels(clv_context *ctx, const char *extension, clv_bytes bytes, clv_data **out) {
    clv_image image;
    CLV_TRY(parse_image(ctx, extension, bytes, &image));
    clv_status status = clv_image_to_data(ctx, &image, bytes.name, out);
    clv_free(ctx, image.samples);
    return status;
}

static bool is_svm(const char *extension) {
    return strcmp(extension, "svm") == 0 || strcmp(extension, "libsvm") == 0;
}

static bool is_known(const char *extension) {
    return strcmp(extension, "npy") == 0 || strcmp(extension, "csv") == 0 || strcmp(extension, "tsv") == 0 ||
           strcmp(extension, "mtx") == 0 || is_svm(extension) || is_image(extension);
}

static clv_status read_matrix(clv_source *in, const char *extension, const clv_read_options *options, clv_data **out) {
    clv_bytes bytes;
    if (strcmp(extension, "npy") == 0) {
        return read_npy(in, options && options->map, out);
    }
    CLV_TRY(clv_input_content(in, &bytes));
    if (strcmp(extension, "mtx") == 0) {
        return clv_mtx_parse(in->ctx, bytes, out);
    }
    if (is_svm(extension)) {
        return clv_svm_parse(in->ctx, bytes, out);
    }
    if (is_image(extension)) {
        return read_pixels(in->ctx, extension, bytes, out);
    }
    return clv_csv_parse(in->ctx, bytes, options, strcmp(extension, "tsv") == 0 ? '\t' : 0, out);
}

/* Where the name of a variable begins in `file.mat:variable`, or NULL when `path` is no MATLAB file; "" for none. */
static const char *find_variable(const char *path) {
    size_t length = strlen(path);
    if (length >= 4 && clv_same_letters(path + length - 4, ".mat", 4)) {
        return path + length;
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
    CLV_TRY(clv_input_open(ctx, path, &in));
    clv_status status = clv_input_content(&in, &bytes);
    if (status == CLV_OK) {
        status = clv_mat_parse(ctx, bytes, variable, out);
    }
    clv_input_close(&in);
    return status;
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

clv_status clv_read(clv_context *ctx, const char *path, const clv_read_options *options, clv_data **out) {
    *out = NULL;
    char extension[CLV_EXTENSION_SIZE];
    const char *variable = find_variable(path);
    if (variable) {
        return read_mat(ctx, path, variable, out);
    }
    clv_extension(path, extension);
    if (!is_known(extension) && strcmp(path, "-") != 0) {
        return clv_fail(
            ctx, CLV_EUSAGE,
            "%s: the name must end in .npy, .csv, .tsv, .mtx, .svm, .libsvm, .mat, .mat:VARIABLE, .png, .jpg "
            "or .jpeg (or be -, for CSV from standard input)",
            path);
    }
    clv_source in;
    CLV_TRY(clv_input_open(ctx, path, &in));
    clv_status status = read_matrix(&in, extension, options, out);
    clv_input_close(&in);
    return status;
}

/* --- labels and pictures --- */

clv_status clv_read_labels(clv_context *ctx, const char *path, int64_t *n, int32_t **labels) {
    *n = 0;
    *labels = NULL;
    char extension[CLV_EXTENSION_SIZE];
    clv_extension(path, extension);
    bool npy = strcmp(extension, "npy") == 0;
    bool tsv = strcmp(extension, "tsv") == 0;
    bool csv = strcmp(extension, "csv") == 0 || strcmp(extension, "txt") == 0 || strcmp(path, "-") == 0;
    if (!npy && !tsv && !csv) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: the name of a file of labels must end in .npy, .csv, .tsv or .txt", path);
    }
    clv_source in;
    clv_bytes bytes;
    CLV_TRY(clv_input_open(ctx, path, &in));
    clv_status status = clv_input_content(&in, &bytes);
    if (status == CLV_OK) {
        status = npy ? clv_npy_parse_labels(ctx, bytes, n, labels)
                     : clv_csv_parse_labels(ctx, bytes, tsv ? '\t' : 0, n, labels);
    }
    clv_input_close(&in);
    return status;
}

clv_status clv_read_classes(clv_context *ctx, const char *path, bool texts, int64_t *n, int32_t **labels,
                            clv_classes *classes) {
    char extension[CLV_EXTENSION_SIZE];
    clv_source in;
    clv_bytes bytes;
    *labels = NULL;
    *classes = (clv_classes){0};
    clv_extension(path, extension);
    CLV_TRY(clv_input_open(ctx, path, &in));
    clv_status status = clv_input_content(&in, &bytes);
    if (status == CLV_OK) {
        status = clv_csv_parse_classes(ctx, bytes, strcmp(extension, "tsv") == 0 ? '\t' : 0, texts, n, labels, classes);
    }
    clv_input_close(&in);
    return status;
}

clv_status clv_read_image(clv_context *ctx, const char *path, clv_image *out) {
    *out = (clv_image){0};
    char extension[CLV_EXTENSION_SIZE];
    clv_extension(path, extension);
    bool npy = strcmp(extension, "npy") == 0;
    if (!npy && !is_image(extension)) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: the name of a picture must end in .png, .jpg, .jpeg or .npy", path);
    }
    clv_source in;
    clv_bytes bytes;
    CLV_TRY(clv_input_open(ctx, path, &in));
    clv_status status = clv_input_content(&in, &bytes);
    if (status == CLV_OK) {
        status = npy ? clv_npy_parse_image(ctx, bytes, out) : parse_image(ctx, extension, bytes, out);
    }
    clv_input_close(&in);
    return status;
}
