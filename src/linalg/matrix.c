/* Owned matrices: storage, views, the check for finite values, and fingerprints. */
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

clv_status clv_data_new(clv_context *ctx, const char *name, clv_data **out) {
    *out = NULL;
    clv_data *data = CLV_NEW0(ctx, clv_data, 1);
    if (!data) {
        return CLV_ENOMEM;
    }
    data->ctx = ctx;
    data->name = clv_copy_text(ctx, name);
    *out = data;
    return clv_data_made(data->name ? CLV_OK : CLV_ENOMEM, out);
}

void clv_free_texts(clv_context *ctx, char **texts, int64_t count) {
    for (int64_t i = 0; texts && i < count; i++) {
        clv_free(ctx, texts[i]);
    }
    clv_free(ctx, texts);
}

void clv_data_free(clv_data *data) {
    if (!data) {
        return;
    }
    clv_context *ctx = data->ctx;
    if (data->mapping) {
        munmap(data->mapping, data->mapping_size);
    }
    clv_free(ctx, data->values);
    clv_free(ctx, data->start);
    clv_free(ctx, data->index);
    clv_free(ctx, data->labels);
    clv_free(ctx, data->targets);
    clv_free_texts(ctx, data->classes, data->classes_count);
    clv_free_texts(ctx, data->columns, data->columns_count);
    CLV_FREE_ALL(ctx, data->name, data->note, data->warning, data->truth, data->id_name, data->ids, data->id_at,
                 data->fill, data->shift, data->factor, data->rows, data);
}

clv_status clv_data_made(clv_status status, clv_data **out) {
    if (status < 0) {
        clv_data_free(*out);
        *out = NULL;
    }
    return status;
}

static clv_status refuse_size(clv_context *ctx, const char *name, int64_t rows, int64_t cols) {
    return clv_fail(ctx, CLV_EDATA, "%s would have %lld x %lld entries, more than can be addressed", name,
                    (long long)rows, (long long)cols);
}

clv_status clv_data_new_dense(clv_context *ctx, const char *name, int64_t rows, int64_t cols, clv_scalar scalar,
                              clv_data **out) {
    *out = NULL;
    int64_t count;
    if (!clv_mul(rows, cols, &count)) {
        return refuse_size(ctx, name, rows, cols);
    }
    clv_data *data;
    CLV_TRY(clv_data_new(ctx, name, &data));
    data->values = clv_alloc(ctx, count, clv_scalar_bytes(scalar));
    data->matrix = (clv_matrix){.rows = rows, .cols = cols, .scalar = scalar, .values = data->values};
    *out = data;
    return clv_data_made(data->values ? CLV_OK : CLV_ENOMEM, out);
}

clv_status clv_data_new_csr(clv_context *ctx, const char *name, int64_t rows, int64_t cols, int64_t nonzeros,
                            clv_data **out) {
    *out = NULL;
    int64_t starts;
    if (nonzeros < 0 || cols < 0 || !clv_add(rows, 1, &starts)) {
        return refuse_size(ctx, name, rows, cols);
    }
    clv_data *data;
    CLV_TRY(clv_data_new(ctx, name, &data));
    data->values = CLV_NEW(ctx, double, nonzeros);
    data->index = CLV_NEW(ctx, int32_t, nonzeros);
    data->start = CLV_NEW(ctx, int64_t, starts);
    *out = data;
    if (!data->values || !data->index || !data->start) {
        return clv_data_made(CLV_ENOMEM, out);
    }
    data->start[0] = 0;
    data->matrix = (clv_matrix){rows, cols, CLV_F64, data->values, data->start, data->index};
    return CLV_OK;
}

clv_status clv_data_copy(clv_context *ctx, const char *name, const clv_matrix *from, clv_data **out) {
    if (!from->start) {
        CLV_TRY(clv_data_new_dense(ctx, name, from->rows, from->cols, from->scalar, out));
        if (from->rows > 0 && from->cols > 0) {
            memcpy((*out)->values, from->values,
                   (size_t)from->rows * (size_t)from->cols * clv_scalar_bytes(from->scalar));
        }
        return CLV_OK;
    }
    int64_t first = from->start[0], nonzeros = from->start[from->rows] - first;
    CLV_TRY(clv_data_new_csr(ctx, name, from->rows, from->cols, nonzeros, out));
    for (int64_t i = 0; i <= from->rows; i++) {
        (*out)->start[i] = from->start[i] - first;
    }
    if (nonzeros > 0) {
        memcpy((*out)->values, (const double *)from->values + first, (size_t)nonzeros * sizeof(double));
        memcpy((*out)->index, from->index + first, (size_t)nonzeros * sizeof *from->index);
    }
    return CLV_OK;
}

clv_status clv_data_of(clv_context *ctx, const clv_matrix *matrix, const char *const *columns, clv_data **out) {
    CLV_NEED(ctx, matrix);
    CLV_TRY(clv_data_new(ctx, "the points", out));
    clv_data *data = *out;
    data->matrix = *matrix;
    data->columns = columns ? CLV_NEW0(ctx, char *, matrix->cols) : NULL;
    data->columns_count = data->columns ? matrix->cols : 0;
    bool named = !columns || data->columns;
    for (int64_t c = 0; c < data->columns_count && named; c++) {
        data->columns[c] = clv_copy_text(ctx, columns[c]);
        named = data->columns[c] != NULL;
    }
    return clv_data_made(named ? CLV_OK : CLV_ENOMEM, out);
}

clv_status clv_csr_transpose(clv_context *ctx, const char *name, const clv_matrix *m, clv_data **out) {
    CLV_TRY(clv_data_new_csr(ctx, name, m->cols, m->rows, m->start[m->rows] - m->start[0], out));
    int64_t *start = (*out)->start;
    double *values = (*out)->values;
    memset(start, 0, (size_t)(m->cols + 1) * sizeof *start);
    for (int64_t e = m->start[0]; e < m->start[m->rows]; e++) {
        start[m->index[e] + 1]++;
    }
    for (int64_t j = 0; j < m->cols; j++) {
        start[j + 1] += start[j];
    }
    for (int64_t i = 0; i < m->rows; i++) {
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            int64_t at = start[m->index[e]]++;
            (*out)->index[at] = (int32_t)i;
            values[at] = ((const double *)m->values)[e];
        }
    }
    memmove(start + 1, start, (size_t)m->cols * sizeof *start); /* each start has moved to the end of its row */
    start[0] = 0;
    return CLV_OK;
}

const clv_matrix *clv_data_matrix(const clv_data *data) {
    return &data->matrix;
}

const char *const *clv_data_classes(const clv_data *data, int64_t *count) {
    *count = data->classes_count;
    return (const char *const *)data->classes;
}

const int32_t *clv_data_labels(const clv_data *data) {
    return data->labels;
}

const char *clv_data_note(const clv_data *data) {
    return data->note ? data->note : "";
}

const char *clv_data_warning(const clv_data *data) {
    return data->warning ? data->warning : "";
}

const char *clv_data_column(const clv_data *data, int64_t column) {
    return column < 0 ? data->truth : column < data->columns_count ? data->columns[column] : NULL;
}

const char *clv_data_id(const clv_data *data, int64_t row) {
    return data->ids && row >= 0 && row < data->matrix.rows ? data->ids + data->id_at[clv_data_row(data, row)] : NULL;
}

const char *clv_data_id_name(const clv_data *data) {
    return data->id_name;
}

const char *const *clv_data_columns(const clv_data *data, int64_t *count) {
    *count = data->columns_count;
    return (const char *const *)data->columns;
}

const double *clv_data_fill(const clv_data *data) {
    return data->fill;
}

clv_status clv_data_set_ids(clv_data *data, const char *name, const char *const *ids) {
    int64_t rows = clv_data_rows_read(data);
    clv_text all = {.ctx = data->ctx};
    int64_t *at = CLV_NEW(data->ctx, int64_t, rows);
    char *copy = clv_copy_text(data->ctx, name);
    for (int64_t i = 0; at && i < rows; i++) {
        at[i] = (int64_t)all.size;
        clv_text_append(&all, ids[i], strlen(ids[i]) + 1);
    }
    if (!at || !copy || all.status < 0) {
        CLV_FREE_ALL(data->ctx, at, copy, all.data);
        return CLV_ENOMEM;
    }
    CLV_FREE_ALL(data->ctx, data->ids, data->id_at, data->id_name);
    data->ids = all.data;
    data->id_at = at;
    data->id_name = copy;
    return CLV_OK;
}

int64_t clv_data_rows_read(const clv_data *data) {
    return data->rows ? data->rows_read : data->matrix.rows;
}

clv_status clv_data_keep_rows(clv_data *data, const clv_data *of, const int64_t *order) {
    int64_t rows = of->matrix.rows;
    size_t stride = (size_t)data->matrix.cols * clv_scalar_bytes(data->matrix.scalar);
    if (clv_is_sparse(&data->matrix) || data->matrix.values != data->values ||
        data->matrix.rows != clv_data_rows_read(of)) {
        return clv_fail(data->ctx, CLV_EUSAGE, "%s: rows can be kept of a dense matrix with the %lld rows of %s alone",
                        data->name, (long long)clv_data_rows_read(of), of->name);
    }
    char *kept = clv_alloc(data->ctx, rows, stride);
    if (!kept) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < rows; i++) {
        int64_t at = clv_data_row(of, i);
        memcpy(kept + (size_t)i * stride, (char *)data->values + (size_t)(order ? order[at] : at) * stride, stride);
    }
    CLV_FREE_ALL(data->ctx, data->values, data->ids, data->id_at, data->id_name);
    data->ids = data->id_name = NULL;
    data->id_at = NULL;
    data->matrix.values = data->values = kept;
    data->matrix.rows = rows;
    return CLV_OK;
}

int64_t clv_data_row(const clv_data *data, int64_t row) {
    return data->rows && row >= 0 && row < data->matrix.rows ? data->rows[row] : row;
}

int clv_data_is_mapped(const clv_data *data) {
    return data->mapping != NULL;
}

void clv_matrix_row(const clv_matrix *m, int64_t i, double *out) {
    if (clv_is_sparse(m)) {
        const double *values = m->values;
        memset(out, 0, (size_t)m->cols * sizeof *out);
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            out[m->index[e]] = values[e];
        }
    } else if (m->scalar == CLV_F32) {
        const float *row = (const float *)m->values + i * m->cols;
        for (int64_t j = 0; j < m->cols; j++) {
            out[j] = (double)row[j];
        }
    } else {
        memcpy(out, (const double *)m->values + i * m->cols, (size_t)m->cols * sizeof *out);
    }
}

int64_t clv_csr_seek(const clv_matrix *m, int64_t i, int64_t j) {
    int64_t low = m->start[i], high = m->start[i + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (m->index[middle] < j) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int64_t clv_csr_find(const clv_matrix *m, int64_t i, int64_t j) {
    int64_t at = clv_csr_seek(m, i, j);
    return at < m->start[i + 1] && m->index[at] == j ? at : -1;
}

double clv_csr_entry(const clv_matrix *m, int64_t i, int64_t j) {
    int64_t at = clv_csr_find(m, i, j);
    return at >= 0 ? ((const double *)m->values)[at] : 0;
}

clv_status clv_view_check(clv_context *ctx, const char *name, const clv_matrix *m) {
    if (m->rows < 0 || m->cols < 0) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: there is no matrix of %lld x %lld", name, (long long)m->rows,
                        (long long)m->cols);
    }
    if (m->scalar != CLV_F64 && m->scalar != CLV_F32) {
        return clv_fail(ctx, CLV_EUSAGE, "%s: scalar = %d is none of the clv_scalar values", name, (int)m->scalar);
    }
    bool stored = m->rows > 0 && (clv_is_sparse(m) ? m->start[m->rows] > 0 : m->cols > 0);
    if (stored && (!m->values || (clv_is_sparse(m) && !m->index))) {
        return clv_fail(ctx, CLV_EUSAGE, "%s have no values", name);
    }
    return clv_csr_check(ctx, name, m, false);
}

clv_status clv_csr_check(clv_context *ctx, const char *name, const clv_matrix *m, bool rising) {
    for (int64_t i = 0; clv_is_sparse(m) && i < m->rows; i++) {
        if (m->start[i] < 0 || m->start[i + 1] < m->start[i]) {
            return clv_fail(ctx, CLV_EUSAGE, "%s: row %lld has its entries from %lld to %lld", name, (long long)i + 1,
                            (long long)m->start[i], (long long)m->start[i + 1]);
        }
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            int64_t least = rising && e > m->start[i] ? (int64_t)m->index[e - 1] + 1 : 0;
            if (m->index[e] < least || m->index[e] >= m->cols) {
                return clv_fail(ctx, CLV_EUSAGE, "%s: column %d of row %lld is not one of %lld%s", name,
                                (int)m->index[e], (long long)i + 1, (long long)m->cols,
                                rising ? ", rising along the row" : ", from 0");
            }
        }
    }
    return CLV_OK;
}

clv_matrix clv_matrix_part(const clv_matrix *m, int64_t first, int64_t rows) {
    clv_matrix part = *m;
    part.rows = rows;
    if (clv_is_sparse(m)) {
        part.start += first;
    } else {
        part.values = (const char *)m->values + (size_t)(first * m->cols) * clv_scalar_bytes(m->scalar);
    }
    return part;
}

static int64_t stored_count(const clv_matrix *m) {
    return clv_is_sparse(m) ? m->start[m->rows] : m->rows * m->cols;
}

#define SMALLER_BY_SCALE 1e60 /* limits of measurements, not of labels */

static clv_status refuse_value(clv_context *ctx, const char *name, const clv_matrix *m, int64_t at, double most) {
    long long row = clv_is_sparse(m) ? 0 : at / m->cols, column = clv_is_sparse(m) ? m->index[at] : at % m->cols;
    while (clv_is_sparse(m) && m->start[row + 1] <= at) {
        row++;
    }
    double value = clv_stored(m, at);
    if (isfinite(value)) {
        return clv_fail(
            ctx, CLV_EDATA, "%s row %lld column %lld: %g is too large to be squared: at most %g is allowed%s", name,
            row + 1, column + 1, value, most, most > SMALLER_BY_SCALE ? "; take another unit, or --scale" : "");
    }
    return clv_fail(ctx, CLV_EDATA, "%s row %lld column %lld: %s is not a finite number", name, row + 1, column + 1,
                    isnan(value) ? "nan"
                    : value > 0  ? "inf"
                                 : "-inf");
}

static clv_status check_stored(clv_context *ctx, const char *name, const clv_matrix *m, double most, int64_t from,
                               int64_t to) {
    for (int64_t at = from; at < to; at++) {
        if (!(fabs(clv_stored(m, at)) <= most)) {
            return refuse_value(ctx, name, m, at, most);
        }
    }
    return CLV_OK;
}

clv_status clv_matrix_check(clv_context *ctx, const char *name, const clv_matrix *m, double most) {
    return check_stored(ctx, name, m, most, 0, stored_count(m));
}

clv_status clv_matrix_check_rows(clv_context *ctx, const char *name, const clv_matrix *m, double most, int64_t first,
                                 int64_t last) {
    return check_stored(ctx, name, m, most, clv_is_sparse(m) ? m->start[first] : first * m->cols,
                        clv_is_sparse(m) ? m->start[last] : last * m->cols);
}

clv_status clv_data_check_finite(const clv_data *data) {
    return clv_matrix_check(data->ctx, data->name, &data->matrix, DBL_MAX);
}

clv_status clv_data_own_values(clv_data *data) {
    size_t size = clv_scalar_bytes(data->matrix.scalar);
    int64_t count = stored_count(&data->matrix);
    if (data->matrix.values == data->values) {
        return CLV_OK;
    }
    void *values = clv_alloc(data->ctx, count, size);
    if (!values) {
        return CLV_ENOMEM;
    }
    memcpy(values, data->matrix.values, (size_t)count * size);
    if (data->mapping) {
        munmap(data->mapping, data->mapping_size);
    }
    data->mapping = NULL;
    data->mapping_size = 0;
    data->values = values;
    data->matrix.values = values;
    return clv_data_check_finite(data);
}

/* --- fingerprints --- */

/* Every number changes all bits of what comes after: xor, multiply by an odd number, fold the upper half down. */
static uint64_t hash_number(uint64_t hash, uint32_t number) {
    hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* Of the entries as floats, or to the last bit. */
static uint64_t hash_entries(const clv_matrix *m, bool exact) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    int64_t stored = stored_count(m);
    hash = hash_number(hash_number(hash, (uint32_t)m->rows), (uint32_t)m->cols);
    for (int64_t at = 0; at < stored; at++) {
        double whole = clv_stored(m, at);
        float value = (float)whole + 0.0F; /* -0 is 0 */
        uint32_t bits[2];
        if (exact) {
            memcpy(bits, &whole, sizeof whole);
            hash = hash_number(hash, bits[1]);
        } else {
            memcpy(bits, &value, sizeof value);
        }
        hash = hash_number(hash, bits[0]);
        hash = m->start ? hash_number(hash, (uint32_t)m->index[at]) : hash;
    }
    return hash;
}

uint64_t clv_matrix_fingerprint(const clv_matrix *points) {
    return hash_entries(points, false);
}

uint64_t clv_matrix_hash(const clv_matrix *m) {
    return hash_entries(m, true) * 31 + (uint64_t)m->scalar;
}
