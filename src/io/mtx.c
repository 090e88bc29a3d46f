/* Matrix Market exchange format (Boisvert, Pozo and Remington 1996): coordinate files to CSR, array files to dense.
 * Real, integer and pattern; general and symmetric. One pass; 16 bytes per entry beside the result. */
#include "io/io.h"

#include <math.h>
#include <string.h>

typedef struct reader {
    clv_lines in;
    bool coordinate, pattern, symmetric;
    int64_t rows, cols, stored; /* as the size line says; array files store rows x cols or a triangle */
} reader;

/* To the next line that holds something; false at the end. */
static bool find_content(reader *r) {
    for (;;) {
        clv_line_blanks(&r->in);
        if (r->in.at == r->in.end) {
            return false;
        }
        if (*r->in.at != '\n' && *r->in.at != '%') {
            return true;
        }
        clv_line_next(&r->in);
    }
}

static clv_status read_integer(reader *r, int64_t *out) {
    clv_token found = clv_line_word(&r->in);
    if (clv_scan_integer(found.text, found.text + found.size, out) != found.text + found.size) {
        return clv_line_refuse(&r->in, &found, "is not a whole number");
    }
    if (*out == INT64_MAX || *out == INT64_MIN) { /* as which any larger number is read */
        return clv_line_refuse(&r->in, &found, "is too large");
    }
    return CLV_OK;
}

static clv_status read_value(reader *r, double *out) {
    clv_token found = clv_line_word(&r->in);
    if (clv_scan_number(found.text, found.text + found.size, out) != found.text + found.size) {
        return clv_line_refuse(&r->in, &found, "is not a number");
    }
    return isfinite(*out) ? CLV_OK : clv_line_refuse(&r->in, &found, "is not a finite number");
}

/* --- header --- */

static bool is_word(const clv_token *found, const char *expected) {
    return clv_field_equals(found, expected, true);
}

static clv_status read_banner(reader *r) {
    clv_token banner = clv_line_word(&r->in);
    clv_token object = clv_line_word(&r->in);
    if (!is_word(&banner, "%%MatrixMarket") || !is_word(&object, "matrix")) {
        return clv_fail(r->in.ctx, CLV_EDATA, "%s line 1 does not begin with '%%%%MatrixMarket matrix'", r->in.name);
    }
    clv_token format = clv_line_word(&r->in);
    r->coordinate = is_word(&format, "coordinate");
    if (!r->coordinate && !is_word(&format, "array")) {
        return clv_line_refuse(&r->in, &format, "is neither coordinate nor array");
    }
    clv_token field = clv_line_word(&r->in);
    r->pattern = is_word(&field, "pattern");
    bool numbers = is_word(&field, "real") || is_word(&field, "integer") || is_word(&field, "double");
    if (!numbers && !(r->pattern && r->coordinate)) {
        return clv_line_refuse(&r->in, &field, "matrices are not read: real, integer and (coordinate) pattern are");
    }
    clv_token symmetry = clv_line_word(&r->in);
    r->symmetric = is_word(&symmetry, "symmetric");
    if (!r->symmetric && !is_word(&symmetry, "general")) {
        return clv_line_refuse(&r->in, &symmetry, "matrices are not read: general and symmetric are");
    }
    clv_line_next(&r->in);
    return CLV_OK;
}

/* Entries that array storage has; false when that overflows. */
static bool array_size(const reader *r, int64_t *out) {
    int64_t doubled;
    if (!r->symmetric) {
        return clv_mul(r->rows, r->cols, out);
    }
    bool fits = clv_mul(r->rows, r->rows + 1, &doubled);
    *out = fits ? doubled / 2 : 0;
    return fits;
}

/* Nothing is allocated for sizes that the file cannot hold: an entry takes two bytes at least. */
static clv_status check_size(reader *r) {
    if (r->rows < 1 || r->cols < 1 || r->rows > INT32_MAX || r->cols > INT32_MAX || r->stored < 0) {
        return clv_fail(r->in.ctx, CLV_EDATA, "%s line %lld: the size %lld x %lld is not from 1 x 1 to %d x %d",
                        r->in.name, (long long)r->in.line, (long long)r->rows, (long long)r->cols, INT32_MAX,
                        INT32_MAX);
    }
    if (r->symmetric && r->rows != r->cols) {
        return clv_fail(r->in.ctx, CLV_EDATA, "%s line %lld: symmetric, but %lld x %lld", r->in.name,
                        (long long)r->in.line, (long long)r->rows, (long long)r->cols);
    }
    if (!r->coordinate && !array_size(r, &r->stored)) {
        return clv_fail(r->in.ctx, CLV_EDATA, "%s line %lld: the size overflows", r->in.name, (long long)r->in.line);
    }
    if (r->stored > (r->in.end - r->in.at) / 2 + 1) {
        return clv_fail(r->in.ctx, CLV_EDATA, "%s line %lld declares %lld entries, more than the file can hold",
                        r->in.name, (long long)r->in.line, (long long)r->stored);
    }
    return CLV_OK;
}

static clv_status end_line(reader *r) {
    clv_token rest = clv_line_word(&r->in);
    if (rest.size > 0) {
        return clv_line_refuse(&r->in, &rest, "is one item too many");
    }
    clv_line_next(&r->in);
    return CLV_OK;
}

static clv_status read_size(reader *r) {
    if (!find_content(r)) {
        return clv_fail(r->in.ctx, CLV_EDATA, "%s ends before its size line", r->in.name);
    }
    CLV_TRY(read_integer(r, &r->rows));
    CLV_TRY(read_integer(r, &r->cols));
    if (r->coordinate) {
        CLV_TRY(read_integer(r, &r->stored));
    }
    CLV_TRY(check_size(r));
    return end_line(r);
}

/* --- entries --- */

static clv_status refuse_end(const reader *r, int64_t found) {
    return clv_fail(r->in.ctx, CLV_EDATA, "%s ends after %lld of %lld entries", r->in.name, (long long)found,
                    (long long)r->stored);
}

static clv_status refuse_rest(reader *r) {
    if (find_content(r)) {
        return clv_fail(r->in.ctx, CLV_EDATA, "%s line %lld: there is more after the %lld entries declared", r->in.name,
                        (long long)r->in.line, (long long)r->stored);
    }
    return CLV_OK;
}

static clv_status read_index(reader *r, const char *what, int64_t most, int32_t *out) {
    int64_t index;
    CLV_TRY(read_integer(r, &index));
    if (index < 1 || index > most) {
        return clv_fail(r->in.ctx, CLV_EDATA, "%s line %lld: %s %lld is not from 1 to %lld", r->in.name,
                        (long long)r->in.line, what, (long long)index, (long long)most);
    }
    *out = (int32_t)(index - 1);
    return CLV_OK;
}

static clv_status read_entries(reader *r, clv_entry *entries, int64_t *count) {
    for (int64_t e = 0; e < r->stored; e++) {
        clv_entry entry = {.value = 1};
        if (!find_content(r)) {
            return refuse_end(r, e);
        }
        CLV_TRY(read_index(r, "row", r->rows, &entry.row));
        CLV_TRY(read_index(r, "column", r->cols, &entry.column));
        if (!r->pattern) {
            CLV_TRY(read_value(r, &entry.value));
        }
        CLV_TRY(end_line(r));
        CLV_TRY(clv_parse_on_at(r->in.ctx, r->in.name, r->in.at, &r->in.asked));
        entries[(*count)++] = entry;
        if (r->symmetric && entry.row != entry.column) {
            entries[(*count)++] = (clv_entry){entry.column, entry.row, entry.value};
        }
    }
    return refuse_rest(r);
}

static clv_status read_coordinates(reader *r, clv_data **out) {
    int64_t count = 0;
    clv_entry *entries = CLV_NEW(r->in.ctx, clv_entry, r->stored * (r->symmetric ? 2 : 1));
    if (!entries) {
        return CLV_ENOMEM;
    }
    clv_status status = read_entries(r, entries, &count);
    if (status == CLV_OK) {
        status = clv_csr_from_entries(r->in.ctx, r->in.name, r->rows, r->cols, entries, count, out);
    }
    clv_free(r->in.ctx, entries);
    return status;
}

/* Column by column; of a symmetric matrix the lower triangle. */
static clv_status read_columns(reader *r, double *values) {
    int64_t found = 0;
    for (int64_t j = 0; j < r->cols; j++) {
        for (int64_t i = r->symmetric ? j : 0; i < r->rows; i++, found++) {
            double value;
            if (!find_content(r)) {
                return refuse_end(r, found);
            }
            CLV_TRY(read_value(r, &value));
            CLV_TRY(clv_parse_on_at(r->in.ctx, r->in.name, r->in.at, &r->in.asked));
            values[i * r->cols + j] = value;
            if (r->symmetric) {
                values[j * r->cols + i] = value;
            }
        }
    }
    return refuse_rest(r);
}

static clv_status read_array(reader *r, clv_data **out) {
    clv_data *data;
    CLV_TRY(clv_data_new_dense(r->in.ctx, r->in.name, r->rows, r->cols, CLV_F64, &data));
    return clv_data_give(data, read_columns(r, data->values), out);
}

clv_status clv_mtx_parse(clv_context *ctx, clv_bytes bytes, clv_data **out) {
    *out = NULL;
    reader r = {.in = clv_lines_of(ctx, bytes, '\n')};
    CLV_TRY(read_banner(&r));
    CLV_TRY(read_size(&r));
    return r.coordinate ? read_coordinates(&r, out) : read_array(&r, out);
}
