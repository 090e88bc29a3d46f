/* Matrices and labels to .npy, text and Matrix Market files, a number or a row at a time: no copy of the matrix is
 * made. */
#include "io/io.h"

#include <stdio.h>
#include <string.h>

/* --- .npy --- */

/* Version 1, padded so that the numbers begin at a multiple of 64. */
static void put_npy_header(clv_writer *writer, const char *type, int64_t rows, int64_t cols) {
    char header[192];
    char shape[64];
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    if (cols < 0) {
        snprintf(shape, sizeof shape, "(%lld,)", (long long)rows);
    } else {
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)rows, (long long)cols);
    }
    int used =
        10 + snprintf(header + 10, sizeof header - 10, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
                      little ? '<' : '>', type, shape);
    int size = (used + 1 + 63) / 64 * 64;
    memset(header + used, ' ', (size_t)(size - used));
    header[size - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((size - 10) & 255);
    header[9] = (char)((size - 10) >> 8);
    clv_writer_put(writer, header, (size_t)size);
}

static void put_npy(clv_writer *writer, const clv_matrix *m) {
    size_t row = (size_t)m->cols * (m->scalar == CLV_F32 ? sizeof(float) : sizeof(double));
    put_npy_header(writer, m->scalar == CLV_F32 ? "f4" : "f8", m->rows, m->cols);
    for (int64_t i = 0; i < m->rows; i++) {
        clv_writer_put(writer, (const char *)m->values + (size_t)i * row, row);
    }
}

/* --- text --- */

/* Stored number `at`, followed by `after`. */
static void put_number(clv_writer *writer, const clv_matrix *m, int64_t at, char after) {
    char text[CLV_NUMBER_SIZE + 1];
    int size = m->scalar == CLV_F32 ? clv_print_float(((const float *)m->values)[at], text)
                                    : clv_print_number(((const double *)m->values)[at], text);
    text[size] = after;
    clv_writer_put(writer, text, (size_t)size + 1);
}

static void put_csv(clv_writer *writer, const clv_matrix *m, char separator) {
    for (int64_t i = 0; i < m->rows && clv_writer_status(writer) == CLV_OK; i++) {
        for (int64_t j = 0; j < m->cols; j++) {
            put_number(writer, m, i * m->cols + j, j + 1 < m->cols ? separator : '\n');
        }
    }
}

/* --- Matrix Market --- */

/* The stored number of entry (i, j), or -1. */
static int64_t find_entry(const clv_matrix *m, int64_t i, int64_t j) {
    if (!clv_is_sparse(m)) {
        return i * m->cols + j;
    }
    int64_t low = m->start[i];
    int64_t high = m->start[i + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (m->index[middle] < j) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < m->start[i + 1] && m->index[low] == j ? low : -1;
}

static bool same_number(const clv_matrix *m, int64_t a, int64_t b) {
    if (m->scalar == CLV_F32) {
        return ((const float *)m->values)[a] == ((const float *)m->values)[b];
    }
    return ((const double *)m->values)[a] == ((const double *)m->values)[b];
}

/* Exactly symmetric, also in which entries are stored. */
static bool is_symmetric(const clv_matrix *m) {
    bool symmetric = m->rows == m->cols;
    for (int64_t i = 0; i < m->rows && symmetric; i++) {
        int64_t from = clv_is_sparse(m) ? m->start[i] : i * m->cols;
        int64_t to = clv_is_sparse(m) ? m->start[i + 1] : from + i;
        for (int64_t at = from; at < to && symmetric; at++) {
            int64_t j = clv_is_sparse(m) ? m->index[at] : at - from;
            int64_t mirror = find_entry(m, j, i);
            symmetric = mirror >= 0 && same_number(m, at, mirror);
        }
    }
    return symmetric;
}

static void put_line(clv_writer *writer, const char *line) {
    clv_writer_put(writer, line, strlen(line));
}

static void put_array(clv_writer *writer, const clv_matrix *m, bool symmetric) {
    char line[128];
    snprintf(line, sizeof line, "%%%%MatrixMarket matrix array real %s\n%lld %lld\n",
             symmetric ? "symmetric" : "general", (long long)m->rows, (long long)m->cols);
    put_line(writer, line);
    for (int64_t j = 0; j < m->cols && clv_writer_status(writer) == CLV_OK; j++) {
        for (int64_t i = symmetric ? j : 0; i < m->rows; i++) { /* by column; along the row where that is the same */
            put_number(writer, m, symmetric ? j * m->cols + i : i * m->cols + j, '\n');
        }
    }
}

static int64_t count_lower(const clv_matrix *m) {
    int64_t count = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        for (int64_t at = m->start[i]; at < m->start[i + 1]; at++) {
            count += m->index[at] <= i;
        }
    }
    return count;
}

static void put_coordinates(clv_writer *writer, const clv_matrix *m, bool symmetric) {
    char line[160];
    snprintf(line, sizeof line, "%%%%MatrixMarket matrix coordinate real %s\n%lld %lld %lld\n",
             symmetric ? "symmetric" : "general", (long long)m->rows, (long long)m->cols,
             (long long)(symmetric ? count_lower(m) : m->start[m->rows]));
    put_line(writer, line);
    for (int64_t i = 0; i < m->rows && clv_writer_status(writer) == CLV_OK; i++) {
        for (int64_t at = m->start[i]; at < m->start[i + 1]; at++) {
            if (!symmetric || m->index[at] <= i) {
                snprintf(line, sizeof line, "%lld %lld ", (long long)i + 1, (long long)m->index[at] + 1);
                put_line(writer, line);
                put_number(writer, m, at, '\n');
            }
        }
    }
}

static void put_mtx(clv_writer *writer, const clv_matrix *m) {
    bool symmetric = is_symmetric(m);
    if (clv_is_sparse(m)) {
        put_coordinates(writer, m, symmetric);
    } else {
        put_array(writer, m, symmetric);
    }
}

/* --- by extension --- */

/* A sparse matrix with its zeros, a row at a time. */
static void put_filled(clv_writer *writer, const clv_matrix *m, double *row, bool npy, char separator) {
    const clv_matrix one = {.rows = 1, .cols = m->cols, .values = row};
    if (npy) {
        put_npy_header(writer, "f8", m->rows, m->cols);
    }
    for (int64_t i = 0; i < m->rows && clv_writer_status(writer) == CLV_OK; i++) {
        clv_matrix_row(m, i, row);
        if (npy) {
            clv_writer_put(writer, row, (size_t)m->cols * sizeof *row);
        } else {
            put_csv(writer, &one, separator);
        }
    }
}

clv_status clv_write_dense(clv_context *ctx, const char *path, const clv_matrix *matrix) {
    char extension[CLV_EXTENSION_SIZE];
    clv_extension(path, extension);
    bool npy = strcmp(extension, "npy") == 0;
    bool tsv = strcmp(extension, "tsv") == 0;
    if (!clv_is_sparse(matrix) || (!npy && !tsv && strcmp(extension, "csv") != 0)) {
        return clv_write_matrix(ctx, path, matrix);
    }
    clv_writer *writer;
    double *row = CLV_NEW(ctx, double, matrix->cols);
    if (!row) {
        return CLV_ENOMEM;
    }
    clv_status status = clv_writer_open(ctx, path, &writer);
    if (status == CLV_OK) {
        put_filled(writer, matrix, row, npy, tsv ? '\t' : ',');
        status = clv_writer_finish(writer, CLV_OK);
    }
    clv_free(ctx, row);
    return status;
}

clv_status clv_write_matrix(clv_context *ctx, const char *path, const clv_matrix *matrix) {
    char extension[CLV_EXTENSION_SIZE];
    clv_extension(path, extension);
    bool npy = strcmp(extension, "npy") == 0;
    bool mtx = strcmp(extension, "mtx") == 0;
    bool tsv = strcmp(extension, "tsv") == 0;
    if (!npy && !mtx && !tsv && strcmp(extension, "csv") != 0) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: the name of a matrix to write must end in .npy, .csv, .tsv or .mtx",
                        path);
    }
    if (clv_is_sparse(matrix) && !mtx) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: a sparse matrix is written to .mtx only", path);
    }
    clv_writer *writer;
    CLV_TRY(clv_writer_open(ctx, path, &writer));
    if (npy) {
        put_npy(writer, matrix);
    } else if (mtx) {
        put_mtx(writer, matrix);
    } else {
        put_csv(writer, matrix, tsv ? '\t' : ',');
    }
    return clv_writer_finish(writer, CLV_OK);
}

clv_status clv_write_labels(clv_context *ctx, const char *path, const int32_t *labels, int64_t n) {
    char extension[CLV_EXTENSION_SIZE];
    clv_extension(path, extension);
    bool npy = strcmp(extension, "npy") == 0;
    if (!npy && strcmp(extension, "csv") != 0 && strcmp(extension, "txt") != 0) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: the name of labels to write must end in .npy, .csv or .txt", path);
    }
    clv_writer *writer;
    CLV_TRY(clv_writer_open(ctx, path, &writer));
    if (npy) {
        put_npy_header(writer, "i4", n, -1);
        clv_writer_put(writer, labels, (size_t)n * sizeof *labels);
    }
    for (int64_t i = 0; !npy && i < n; i++) {
        char line[16];
        int size = snprintf(line, sizeof line, "%d\n", labels[i]);
        clv_writer_put(writer, line, (size_t)size);
    }
    return clv_writer_finish(writer, CLV_OK);
}

clv_status clv_write_label_image(clv_context *ctx, const char *path, int64_t width, int64_t height,
                                 const int32_t *labels) {
    char extension[CLV_EXTENSION_SIZE];
    clv_extension(path, extension);
    bool npy = strcmp(extension, "npy") == 0;
    int64_t pixels;
    if (!npy && strcmp(extension, "png") != 0) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: the name of a picture of labels to write must end in .png or .npy", path);
    }
    if (width < 1 || height < 1 || !clv_mul(width, height, &pixels) || pixels > INT32_MAX) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: %lld x %lld labels cannot be written: 1 to %d are allowed", path,
                        (long long)width, (long long)height, INT32_MAX);
    }
    if (!npy) {
        return clv_png_write_labels(ctx, path, width, height, labels);
    }
    clv_writer *writer;
    CLV_TRY(clv_writer_open(ctx, path, &writer));
    put_npy_header(writer, "i4", height, width);
    clv_writer_put(writer, labels, (size_t)pixels * sizeof *labels);
    return clv_writer_finish(writer, CLV_OK);
}
