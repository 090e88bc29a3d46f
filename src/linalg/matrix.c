/* Owned matrices: storage, views, the check for finite values, and scaling of columns and rows.
 *
 * Column statistics take two passes (mean, then squared deviations) in double, whatever the storage. Each column is
 * first multiplied by a power of two that brings its largest entry to about 1: that changes no rounding, and squares
 * neither overflow nor vanish. Cost: three passes over the matrix and O(cols) memory. */
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
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

/* --- scaling --- */

/* What is known of each column (or, for unit-rows, of each row). An entry x becomes (x * unit - shift) * factor. */
typedef struct scaling {
    clv_kept kept;
    int64_t count;
    bool by_row;
    double *least, *most;   /* extremes */
    double *unit;           /* a power of two: the largest magnitude times it is in [1, 2) */
    double *shift, *factor; /* in that unit */
    clv_data *scaled;       /* what is written to, */
    int64_t at;             /* and the place of the entry that is visited */
} scaling;

/* What is known of so many rows, or of columns, of which two numbers are kept with the data. */
static clv_status check_room(const clv_data *data, int64_t count, bool by_row) {
    int64_t numbers = by_row ? 5 : 7;
    char what[400];
    if (clv_memory_fits(data->ctx, numbers * (int64_t)sizeof(double) * count) == CLV_OK) {
        return CLV_OK;
    }
    snprintf(what, sizeof what, "%s", clv_message(data->ctx));
    return clv_fail(data->ctx, CLV_ENOMEM,
                    "%s has %lld %s, which take too much memory to scale: %s; allow more, or leave out --scale",
                    data->name, (long long)count, by_row ? "rows" : "columns", what);
}

static clv_status scaling_new(const clv_data *data, bool by_row, scaling *s) {
    clv_context *ctx = data->ctx;
    int64_t count = by_row ? data->matrix.rows : data->matrix.cols;
    *s = (scaling){.kept.ctx = ctx, .count = count, .by_row = by_row};
    CLV_TRY(check_room(data, count, by_row));
    s->least = CLV_TAKE(&s->kept, double, count);
    s->most = CLV_TAKE(&s->kept, double, count);
    s->unit = CLV_TAKE(&s->kept, double, count);
    s->shift = CLV_TAKE0(&s->kept, double, count);
    s->factor = CLV_TAKE0(&s->kept, double, count);
    for (int64_t g = 0; s->kept.status == CLV_OK && g < count; g++) {
        s->least[g] = HUGE_VAL;
        s->most[g] = -HUGE_VAL;
    }
    return s->kept.status;
}

/* Call `visit` for each stored entry with the number of its group (column or row). */
typedef void (*entry_visit)(scaling *s, int64_t group, double value);

static void visit_entries(const clv_matrix *m, scaling *s, entry_visit visit) {
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t from = clv_is_sparse(m) ? m->start[i] : i * m->cols;
        int64_t to = clv_is_sparse(m) ? m->start[i + 1] : from + m->cols;
        for (s->at = from; s->at < to; s->at++) {
            int64_t column = clv_is_sparse(m) ? m->index[s->at] : s->at - from;
            visit(s, s->by_row ? i : column, clv_stored(m, s->at));
        }
    }
}

static void note_extremes(scaling *s, int64_t group, double value) {
    s->least[group] = fmin(s->least[group], value);
    s->most[group] = fmax(s->most[group], value);
}

static void add_value(scaling *s, int64_t group, double value) {
    s->shift[group] += value * s->unit[group];
}

static void add_square(scaling *s, int64_t group, double value) {
    double deviation = value * s->unit[group] - s->shift[group];
    s->factor[group] += deviation * deviation;
}

/* Units from the extremes; groups without entries or of zeros get 1. */
static void set_units(scaling *s) {
    for (int64_t g = 0; g < s->count; g++) {
        double largest = fmax(fabs(s->least[g]), fabs(s->most[g]));
        bool usual = isfinite(largest) && largest > 0;
        int exponent = usual ? ilogb(largest) : 0;
        s->unit[g] = ldexp(1, exponent < -1022 ? 1022 : -exponent);
    }
}

static void invert_norms(scaling *s, double divisor) {
    for (int64_t g = 0; g < s->count; g++) {
        s->factor[g] = s->factor[g] > 0 ? 1 / sqrt(s->factor[g] / divisor) : 0;
    }
}

static void find_standard(const clv_matrix *m, scaling *s) {
    visit_entries(m, s, add_value);
    for (int64_t g = 0; g < s->count; g++) {
        s->shift[g] /= (double)m->rows;
    }
    visit_entries(m, s, add_square);
    invert_norms(s, (double)m->rows);
    for (int64_t g = 0; g < s->count; g++) { /* the mean of equal values may round: do not scale up what is left */
        s->factor[g] = s->least[g] == s->most[g] ? 0 : s->factor[g];
    }
}

static void find_minmax(scaling *s) {
    for (int64_t g = 0; g < s->count; g++) {
        s->shift[g] = s->least[g] * s->unit[g];
        double range = s->most[g] * s->unit[g] - s->shift[g];
        s->factor[g] = range > 0 ? 1 / range : 0;
    }
}

static void write_scaled(scaling *s, int64_t group, double value) {
    double scaled = (value * s->unit[group] - s->shift[group]) * s->factor[group];
    if (s->scaled->matrix.scalar == CLV_F32) {
        ((float *)s->scaled->values)[s->at] = (float)scaled;
    } else {
        ((double *)s->scaled->values)[s->at] = scaled;
    }
}

static void apply_scaling(clv_data *data, scaling *s) {
    s->scaled = data;
    visit_entries(&data->matrix, s, write_scaled);
}

/* Replace values of a mapping, or of the caller, by owned ones. */
static clv_status own_values(clv_data *data) {
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

static clv_status check_scale(const clv_data *data, clv_scale scale) {
    if ((int)scale < CLV_SCALE_NONE || scale > CLV_SCALE_UNIT_ROWS) {
        return clv_fail(data->ctx, CLV_EUSAGE, "scale = %d is not one of the clv_scale values 0 to 4", (int)scale);
    }
    if (clv_is_sparse(&data->matrix) && (scale == CLV_SCALE_STANDARD || scale == CLV_SCALE_MINMAX)) {
        return clv_fail(data->ctx, CLV_EUSAGE,
                        "%s is sparse, and scale '%s' would fill it: use unit-columns, unit-rows or none", data->name,
                        scale == CLV_SCALE_STANDARD ? "standard" : "minmax");
    }
    return CLV_OK;
}

static void find_scaling(const clv_matrix *m, clv_scale scale, scaling *s) {
    visit_entries(m, s, note_extremes);
    set_units(s);
    if (scale == CLV_SCALE_STANDARD) {
        find_standard(m, s);
    } else if (scale == CLV_SCALE_MINMAX) {
        find_minmax(s);
    } else {
        visit_entries(m, s, add_square);
        invert_norms(s, 1);
    }
}

/* A result tells the factors, so that new objects can be scaled alike; that of subnormal numbers may be beyond all. */
static clv_status check_factors(const clv_data *data, const scaling *s) {
    for (int64_t g = 0; g < s->count; g++) {
        const char *name = clv_data_column(data, g);
        if (!isfinite(s->factor[g] * s->unit[g])) {
            return clv_fail(data->ctx, CLV_EDATA,
                            "%s: the numbers of column %lld%s%.80s%s spread by only %.3g, which no factor scales to 1: "
                            "multiply them by 1e300, say, or leave the column out (--drop)",
                            data->name, (long long)g + 1, name ? " '" : "", name ? name : "", name ? "'" : "",
                            1 / s->factor[g] / s->unit[g]);
        }
    }
    return CLV_OK;
}

/* Keep how the columns were scaled. Units are powers of two, so that nothing is lost here. */
static clv_status keep_scaling(clv_data *data, const scaling *s) {
    CLV_TRY(check_factors(data, s));
    data->shift = CLV_NEW(data->ctx, double, s->count);
    data->factor = CLV_NEW(data->ctx, double, s->count);
    CLV_TRY(data->shift && data->factor ? CLV_OK : CLV_ENOMEM);
    for (int64_t g = 0; g < s->count; g++) {
        data->shift[g] = s->shift[g] / s->unit[g];
        data->factor[g] = s->factor[g] * s->unit[g];
    }
    return CLV_OK;
}

const char *const *clv_data_columns(const clv_data *data, int64_t *count) {
    *count = data->columns_count;
    return (const char *const *)data->columns;
}

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

const double *clv_data_fill(const clv_data *data) {
    return data->fill;
}

int clv_data_scaling(const clv_data *data, const double **shift, const double **factor) {
    *shift = data->shift;
    *factor = data->factor;
    return data->shift != NULL;
}

clv_status clv_data_scale_as(clv_data *data, const double *shift, const double *factor) {
    int64_t cols = data->matrix.cols;
    scaling s;
    CLV_TRY(own_values(data));
    for (int64_t j = 0; j < cols && clv_is_sparse(&data->matrix); j++) {
        if (shift[j] != 0) {
            return clv_fail(data->ctx, CLV_EDATA, "%s is sparse, and its columns would be shifted, which would fill it",
                            data->name);
        }
    }
    clv_status status = scaling_new(data, false, &s);
    for (int64_t j = 0; status == CLV_OK && j < cols; j++) {
        s.unit[j] = 1;
        s.shift[j] = shift[j];
        s.factor[j] = factor[j];
    }
    if (status == CLV_OK) {
        apply_scaling(data, &s);
    }
    clv_free_kept(&s.kept);
    return status;
}

/* By the columns of `data`: both, if there are two. By rows: `data` alone, as rows do not look at others. */
static clv_status scale_by(clv_data *data, clv_data *fresh, clv_scale scale) {
    bool by_row = scale == CLV_SCALE_UNIT_ROWS;
    scaling s;
    clv_status status = scaling_new(data, by_row, &s);
    if (status == CLV_OK) {
        find_scaling(&data->matrix, scale, &s);
        status = by_row ? CLV_OK : keep_scaling(data, &s);
    }
    if (status == CLV_OK) {
        apply_scaling(data, &s);
    }
    if (status == CLV_OK && fresh) {
        apply_scaling(fresh, &s);
    }
    clv_free_kept(&s.kept);
    return status;
}

/* A sparse file may end before the last features: the others are zero. */
static clv_status match_columns(const clv_data *data, clv_data *fresh) {
    int64_t cols = data->matrix.cols, found = fresh->matrix.cols;
    if (found > cols || (found < cols && !clv_is_sparse(&fresh->matrix))) {
        return clv_fail(data->ctx, CLV_EDATA, "%s has %lld columns, but %s has %lld", fresh->name, (long long)found,
                        data->name, (long long)cols);
    }
    fresh->matrix.cols = cols;
    return CLV_OK;
}

clv_status clv_data_scale_both(clv_data *data, clv_data *fresh, clv_scale scale) {
    CLV_TRY(check_scale(data, scale));
    CLV_TRY(check_scale(fresh, scale));
    CLV_TRY(match_columns(data, fresh));
    if (scale == CLV_SCALE_NONE) {
        return CLV_OK;
    }
    CLV_TRY(own_values(data));
    CLV_TRY(own_values(fresh));
    if (scale == CLV_SCALE_UNIT_ROWS) {
        CLV_TRY(scale_by(fresh, NULL, scale));
        return scale_by(data, NULL, scale);
    }
    return scale_by(data, fresh, scale);
}

clv_status clv_data_scale(clv_data *data, clv_scale scale) {
    CLV_TRY(check_scale(data, scale));
    if (scale == CLV_SCALE_NONE) {
        return CLV_OK;
    }
    CLV_TRY(own_values(data));
    return scale_by(data, NULL, scale);
}
