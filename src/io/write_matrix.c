/* Matrices and labels to .npy, text and Matrix Market files, a number, a row or a block of rows at a time: no copy of
 * the matrix is made. */
#include "io/io.h"

#include <math.h>
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

/* --- text --- */

/* Stored number `at`, followed by `after`. */
static void put_number(clv_writer *writer, const clv_matrix *m, int64_t at, char after) {
    char text[CLV_NUMBER_SIZE + 1];
    int size = m->scalar == CLV_F32 ? clv_print_float(((const float *)m->values)[at], text)
                                    : clv_print_number(((const double *)m->values)[at], text);
    text[size] = after;
    clv_writer_put(writer, text, (size_t)size + 1);
}

static void put_csv_row(clv_writer *writer, const clv_matrix *row, char separator) {
    for (int64_t j = 0; j < row->cols; j++) {
        put_number(writer, row, j, j + 1 < row->cols ? separator : '\n');
    }
}

/* 0: to .npy. */
static char separator_for(const char *path) {
    return clv_has_extension(path, "npy|clv") ? 0 : clv_has_extension(path, "tsv") ? '\t' : ',';
}

/* Row by row, to .npy if `separator` is 0. `room`: for a row of a sparse matrix with its zeros. */
static void put_rows(clv_writer *writer, const clv_matrix *m, double *room, char separator) {
    bool single = m->scalar == CLV_F32;
    for (int64_t i = 0; i < m->rows && clv_writer_goes_on(writer, i); i++) {
        clv_matrix row = room ? (clv_matrix){.rows = 1, .cols = m->cols, .values = room} : clv_matrix_part(m, i, 1);
        if (room) {
            clv_matrix_row(m, i, room);
        }
        if (separator) {
            put_csv_row(writer, &row, separator);
        } else {
            clv_writer_put(writer, row.values, (size_t)m->cols * (single ? sizeof(float) : sizeof(double)));
        }
    }
}

/* --- Matrix Market --- */

static bool same_number(const clv_matrix *m, int64_t a, int64_t b) {
    if (m->scalar == CLV_F32) {
        return ((const float *)m->values)[a] == ((const float *)m->values)[b];
    }
    return ((const double *)m->values)[a] == ((const double *)m->values)[b];
}

/* Exactly symmetric, also in which entries are stored. */
static bool is_symmetric(clv_writer *writer, const clv_matrix *m) {
    bool symmetric = m->rows == m->cols;
    for (int64_t i = 0; i < m->rows && symmetric && clv_writer_goes_on(writer, i); i++) {
        int64_t from = clv_is_sparse(m) ? m->start[i] : i * m->cols;
        int64_t to = clv_is_sparse(m) ? m->start[i + 1] : from + i;
        for (int64_t at = from; at < to && symmetric; at++) {
            int64_t j = clv_is_sparse(m) ? m->index[at] : at - from;
            int64_t mirror = clv_is_sparse(m) ? clv_csr_find(m, j, i) : j * m->cols + i;
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
    for (int64_t j = 0; j < m->cols && clv_writer_goes_on(writer, j); j++) {
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
    for (int64_t i = 0; i < m->rows && clv_writer_goes_on(writer, i); i++) {
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
    bool symmetric = is_symmetric(writer, m);
    if (clv_is_sparse(m)) {
        put_coordinates(writer, m, symmetric);
    } else {
        put_array(writer, m, symmetric);
    }
}

/* --- by extension --- */

/* `fill`: a sparse matrix goes to .npy and text with its zeros, else to .mtx only. */
static clv_status write_matrix(clv_context *ctx, const char *path, const clv_matrix *matrix, bool fill) {
    bool kept = clv_has_extension(path, "clv"); /* of a model: whatever its matrix is */
    bool mtx = clv_has_extension(path, "mtx") || (kept && clv_is_sparse(matrix)),
         filled = fill && clv_is_sparse(matrix) && !mtx;
    if (!kept && !clv_has_extension(path, "npy|csv|tsv|mtx")) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: the name of a matrix to write must end in .npy, .csv, .tsv or .mtx",
                        path);
    }
    if (clv_is_sparse(matrix) && !mtx && !filled) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: a sparse matrix is written to .mtx only", path);
    }
    if (matrix->rows < 0 || matrix->cols < 0) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: a matrix of %lld rows and %lld columns cannot be written", path,
                        (long long)matrix->rows, (long long)matrix->cols);
    }
    if (!matrix->values && matrix->rows > 0 && matrix->cols > 0) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: the matrix to write has no values", path);
    }
    CLV_TRY(clv_csr_check(ctx, path, matrix, false));
    clv_writer *writer;
    double *room = filled ? CLV_NEW(ctx, double, matrix->cols) : NULL;
    clv_status status = filled && !room ? CLV_ENOMEM : clv_writer_open(ctx, path, &writer);
    if (status == CLV_OK) {
        if (mtx) {
            put_mtx(writer, matrix);
        } else {
            if (!separator_for(path)) {
                put_npy_header(writer, matrix->scalar == CLV_F32 ? "f4" : "f8", matrix->rows, matrix->cols);
            }
            put_rows(writer, matrix, room, separator_for(path));
        }
        status = clv_writer_finish(writer, CLV_OK);
    }
    clv_free(ctx, room);
    return status;
}

clv_status clv_write_dense(clv_context *ctx, const char *path, const clv_matrix *matrix) {
    CLV_NEED(ctx, path);
    CLV_NEED(ctx, matrix);
    return write_matrix(ctx, path, matrix, true);
}

clv_status clv_write_matrix(clv_context *ctx, const char *path, const clv_matrix *matrix) {
    CLV_NEED(ctx, path);
    CLV_NEED(ctx, matrix);
    return write_matrix(ctx, path, matrix, false);
}

/* Blocks of rows, each made and put down. */
static clv_status make_and_put(clv_writer *writer, clv_data *room, int64_t rows, char separator, clv_make_rows make,
                               void *user) {
    clv_matrix block = room->matrix;
    int64_t most = block.rows;
    for (int64_t first = 0; first < rows && clv_writer_status(writer) == CLV_OK; first += most) {
        block.rows = rows - first < most ? rows - first : most;
        CLV_TRY(make(user, first, block.rows, room->values));
        put_rows(writer, &block, NULL, separator);
    }
    return CLV_OK;
}

clv_status clv_write_rows(clv_context *ctx, const char *path, int64_t rows, int64_t cols, int64_t block,
                          clv_make_rows make, void *user) {
    CLV_NEED(ctx, path);
    CLV_NEED(ctx, make);
    char separator = separator_for(path);
    if (!clv_has_extension(path, "npy|csv|tsv")) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: the name of rows to write must end in .npy, .csv or .tsv", path);
    }
    if (rows < 0 || cols < 1 || block < 1) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: %lld x %lld numbers cannot be written %lld rows at a time", path,
                        (long long)rows, (long long)cols, (long long)block);
    }
    clv_data *room;
    clv_writer *writer;
    CLV_TRY(clv_data_new_dense(ctx, path, block, cols, CLV_F64, &room));
    clv_status status = clv_writer_open(ctx, path, &writer);
    if (status == CLV_OK) {
        if (!separator) {
            put_npy_header(writer, "f8", rows, cols);
        }
        status = clv_writer_finish(writer, make_and_put(writer, room, rows, separator, make, user));
    }
    clv_data_free(room);
    return status;
}

/* Where semicolons separate, a comma may be a decimal one; elsewhere a reader may take either for the separator. */
void clv_put_csv_field(clv_writer *writer, const clv_token *field, char separator) {
    const char *special = separator == ';' ? ";\"\r\n\t" : ",;\"\r\n\t";
    bool quoted = field->size > 0 && (field->text[0] == ' ' || field->text[0] == '#');
    for (size_t i = 0; i < field->size && !quoted; i++) {
        quoted = field->text[i] != '\0' && strchr(special, field->text[i]);
    }
    clv_writer_put(writer, "\"", quoted);
    for (size_t i = 0; i < field->size; i++) {
        clv_writer_put(writer, "\"", field->text[i] == '"' && !field->doubled);
        clv_writer_put(writer, &field->text[i], 1);
    }
    clv_writer_put(writer, "\"", quoted);
}

static void put_csv_text(clv_writer *writer, const char *text) {
    clv_put_csv_field(writer, &(clv_token){text, strlen(text), false}, ',');
}

/* What a row of the file is called there, else its number from 1; then a separator. */
static void put_row_name(clv_writer *writer, const clv_data *of, int64_t row, char separator) {
    char number[24];
    if (of && of->ids) {
        put_csv_text(writer, of->ids + of->id_at[row]);
    } else {
        int size = snprintf(number, sizeof number, "%lld", (long long)row + 1);
        clv_writer_put(writer, number, (size_t)size);
    }
    clv_writer_put(writer, &separator, 1);
}

static void put_row_head(clv_writer *writer, const clv_data *of, char separator) {
    put_csv_text(writer, of && of->id_name ? of->id_name : "row");
    clv_writer_put(writer, &separator, 1);
}

void clv_put_label(clv_writer *writer, int32_t label, const char *const *classes, const char *end) {
    char number[16];
    if (classes && label >= 0) {
        put_csv_text(writer, classes[label]);
    } else {
        int size = snprintf(number, sizeof number, "%d", label);
        clv_writer_put(writer, number, (size_t)size);
    }
    clv_writer_put(writer, end, strlen(end));
}

/* A label for each row of the file that the objects came from: those that were dropped have -1. Separator 0: labels
 * alone. */
static void put_labels(clv_writer *writer, const int32_t *labels, int64_t n, const clv_data *of, char separator,
                       const char *const *classes) {
    bool named = separator != 0;
    int64_t rows = of ? clv_data_rows_read(of) : n, next = 0;
    if (named) {
        put_row_head(writer, of, separator);
        clv_writer_put(writer, "label\n", 6);
    }
    for (int64_t row = 0; row < rows; row++) {
        bool kept = next < n && (!of || clv_data_row(of, next) == row);
        if (named) {
            put_row_name(writer, of, row, separator);
        }
        clv_put_label(writer, kept ? labels[next] : -1, named ? classes : NULL, "\n");
        next += kept;
    }
}

static void put_npy_labels(clv_writer *writer, const int32_t *labels, int64_t n, const clv_data *of) {
    int64_t rows = of ? clv_data_rows_read(of) : n;
    static const int32_t left_out = -1;
    put_npy_header(writer, "i4", rows, -1);
    for (int64_t row = 0, next = 0; row < rows && rows > n; row++) {
        bool kept = next < n && clv_data_row(of, next) == row;
        clv_writer_put(writer, kept ? &labels[next] : &left_out, sizeof *labels);
        next += kept;
    }
    if (rows == n) {
        clv_writer_put(writer, labels, (size_t)n * sizeof *labels);
    }
}

clv_status clv_write_labels_of(clv_context *ctx, const char *path, const int32_t *labels, int64_t n, const clv_data *of,
                               const char *const *classes) {
    CLV_NEED(ctx, path);
    CLV_NEED(ctx, labels);
    if (n < 0) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: %lld labels cannot be written", path, (long long)n);
    }
    bool npy = clv_has_extension(path, "npy"), standard = strcmp(path, "-") == 0;
    if (!npy && !standard && !clv_has_extension(path, "csv|tsv|txt")) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: the name of labels to write must end in .npy, .csv, .tsv or .txt", path);
    }
    clv_writer *writer;
    CLV_TRY(clv_writer_open(ctx, standard ? "/dev/stdout" : path, &writer));
    if (npy) {
        put_npy_labels(writer, labels, n, of);
    } else {
        put_labels(writer, labels, n, of, clv_has_extension(path, "txt") ? 0 : separator_for(path), classes);
    }
    return clv_writer_finish(writer, CLV_OK);
}

clv_status clv_write_labels(clv_context *ctx, const char *path, const int32_t *labels, int64_t n) {
    CLV_NEED(ctx, path);
    CLV_NEED(ctx, labels);
    return clv_write_labels_of(ctx, path, labels, n, NULL, NULL);
}

/* --- matrices with names --- */

/* The same matrix with empty rows for those that were dropped. */
static clv_status spread_sparse(clv_context *ctx, const clv_matrix *m, const clv_data *rows, clv_data **out) {
    int64_t count = clv_data_rows_read(rows), next = 0;
    CLV_TRY(clv_data_copy(ctx, rows->name, m, out));
    int64_t *start = clv_resize(ctx, (*out)->start, count + 1, sizeof *start);
    CLV_TRY(start ? CLV_OK : CLV_ENOMEM);
    for (int64_t i = 0; i < count; i++) {
        next += next < m->rows && clv_data_row(rows, next) == i;
        start[i + 1] = m->start[next] - m->start[0];
    }
    (*out)->matrix.start = (*out)->start = start;
    (*out)->matrix.rows = count;
    return CLV_OK;
}

/* A row for each row of the file, with `lost` in those that were dropped. */
static clv_status spread(clv_context *ctx, const clv_matrix *m, const clv_data *rows, double lost, clv_data **out) {
    int64_t count = clv_data_rows_read(rows), next = 0;
    if (clv_is_sparse(m) && lost == 0) {
        return spread_sparse(ctx, m, rows, out);
    }
    CLV_TRY(clv_data_new_dense(ctx, rows->name, count, m->cols, CLV_F64, out));
    double *values = (*out)->values;
    for (int64_t i = 0; i < count; i++, values += m->cols) {
        bool kept = next < m->rows && clv_data_row(rows, next) == i;
        if (kept) {
            clv_matrix_row(m, next++, values);
        }
        for (int64_t j = 0; j < m->cols && !kept; j++) {
            values[j] = lost;
        }
    }
    return CLV_OK;
}

/* A row that is not known has empty cells. */
static void put_named_row(clv_writer *writer, const clv_matrix *row, char separator) {
    bool known = row->scalar == CLV_F32 || row->cols < 1 || !isnan(((const double *)row->values)[0]);
    for (int64_t j = 0; j < row->cols && !known; j++) {
        clv_writer_put(writer, j + 1 < row->cols ? &separator : "\n", 1);
    }
    if (known) {
        put_csv_row(writer, row, separator);
    }
}

static void put_named_rows(clv_writer *writer, const clv_matrix *m, const clv_data *rows, double *room,
                           char separator) {
    for (int64_t i = 0; i < m->rows && clv_writer_goes_on(writer, i); i++) {
        clv_matrix row =
            clv_is_sparse(m) ? (clv_matrix){.rows = 1, .cols = m->cols, .values = room} : clv_matrix_part(m, i, 1);
        if (clv_is_sparse(m)) {
            clv_matrix_row(m, i, room);
        }
        if (rows) {
            put_row_name(writer, rows, i, separator);
        }
        put_named_row(writer, &row, separator);
    }
}

static clv_status write_table(clv_context *ctx, const char *path, const clv_matrix *m, const clv_data *rows,
                              const char *const *columns) {
    char separator = separator_for(path);
    clv_writer *writer;
    double *room = CLV_NEW(ctx, double, m->cols);
    clv_status status = room ? clv_writer_open(ctx, path, &writer) : CLV_ENOMEM;
    if (status == CLV_OK) {
        if (rows) {
            put_row_head(writer, rows, separator);
        }
        for (int64_t j = 0; j < m->cols; j++) {
            clv_writer_put(writer, &separator, j > 0);
            put_csv_text(writer, columns[j]);
        }
        clv_writer_put(writer, "\n", 1);
        put_named_rows(writer, m, rows, room, separator);
        status = clv_writer_finish(writer, clv_writer_status(writer));
    }
    clv_free(ctx, room);
    return status;
}

clv_status clv_write_named(clv_context *ctx, const char *path, const clv_matrix *m, const clv_data *rows, double lost,
                           const char *const *columns) {
    CLV_NEED(ctx, path);
    CLV_NEED_AS(ctx, m, "matrix");
    clv_data *all = NULL;
    bool dropped = rows && clv_data_rows_read(rows) > m->rows;
    clv_status status = dropped ? spread(ctx, m, rows, lost, &all) : CLV_OK;
    if (status == CLV_OK) {
        const clv_matrix *written = dropped ? &all->matrix : m;
        status = clv_has_extension(path, "csv|tsv") ? write_table(ctx, path, written, rows, columns)
                                                    : clv_write_dense(ctx, path, written);
    }
    clv_data_free(all);
    return status;
}

typedef clv_status (*png_writer)(clv_context *ctx, const char *path, int64_t width, int64_t height,
                                 const int32_t *labels);

static clv_status write_label_picture(clv_context *ctx, const char *path, int64_t width, int64_t height,
                                      const int32_t *labels, png_writer write) {
    bool npy = clv_has_extension(path, "npy");
    int64_t pixels;
    if (!npy && !clv_has_extension(path, "png")) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: the name of a picture of labels to write must end in .png or .npy", path);
    }
    if (width < 1 || height < 1 || !clv_mul(width, height, &pixels) || pixels > INT32_MAX) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: %lld x %lld labels cannot be written: 1 to %d are allowed", path,
                        (long long)width, (long long)height, INT32_MAX);
    }
    if (!npy) {
        return write(ctx, path, width, height, labels);
    }
    clv_writer *writer;
    CLV_TRY(clv_writer_open(ctx, path, &writer));
    put_npy_header(writer, "i4", height, width);
    clv_writer_put(writer, labels, (size_t)pixels * sizeof *labels);
    return clv_writer_finish(writer, CLV_OK);
}

clv_status clv_write_label_image(clv_context *ctx, const char *path, int64_t width, int64_t height,
                                 const int32_t *labels) {
    CLV_NEED(ctx, path);
    CLV_NEED(ctx, labels);
    return write_label_picture(ctx, path, width, height, labels, clv_png_write_labels);
}

clv_status clv_write_label_colors(clv_context *ctx, const char *path, int64_t width, int64_t height,
                                  const int32_t *labels) {
    CLV_NEED(ctx, path);
    CLV_NEED(ctx, labels);
    return write_label_picture(ctx, path, width, height, labels, clv_png_write_colors);
}
