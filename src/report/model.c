/* The fields of a result, read back from JSON as the description of its method lists them. Sizes come from the lists
 * themselves, so that no more memory is asked for than the text has numbers. */
#include "engine/result.h"
#include "report/fields.h"

#include <math.h>
#include <string.h>

static clv_status refuse_entry(const clv_place *at, const char *name, int64_t entry, const char *wanted) {
    return clv_fail(at->claim->ctx, CLV_EDATA, "%s: entry %lld of %s is not %s", at->file, (long long)entry + 1, name,
                    wanted);
}

/* --- numbers and texts --- */

/* Where the entries of a field are: in a list, one by itself, or a member of each object of a table. */
typedef struct entries {
    const json_t *list; /* or the single value */
    const char *member; /* of a table; NULL: none */
    bool single;
    int64_t count;
} entries;

static const json_t *entry_at(const entries *from, int64_t i) {
    const json_t *value = from->single ? from->list : json_array_get(from->list, (size_t)i);
    return from->member ? json_object_get(value, from->member) : value;
}

/* One entry of the kind of the field into place i; null is what JSON has no number for. */
static clv_status get_entry(const clv_place *at, const clv_field_info *info, const json_t *value, int64_t i,
                            void *values) {
    switch (info->kind) {
    case CLV_FIELD_INTEGER:
        ((int64_t *)values)[i] = json_integer_value(value);
        return json_is_integer(value) ? CLV_OK : refuse_entry(at, info->name, i, "a whole number");
    case CLV_FIELD_REAL:
        ((double *)values)[i] = json_is_null(value) ? (double)NAN : json_number_value(value);
        return json_is_number(value) || json_is_null(value) ? CLV_OK : refuse_entry(at, info->name, i, "a number");
    default:
        ((const char **)values)[i] = json_string_value(value);
        return json_is_string(value) ? CLV_OK : refuse_entry(at, info->name, i, "a text");
    }
}

static clv_status get_entries(const clv_place *at, const clv_field_info *info, const entries *from) {
    clv_context *ctx = at->claim->ctx;
    void *values = clv_alloc(ctx, from->count, sizeof(int64_t)); /* as large as a double, and as a pointer */
    clv_status status = values ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0; status == CLV_OK && i < from->count; i++) {
        status = get_entry(at, info, entry_at(from, i), i, values);
    }
    if (status == CLV_OK) {
        clv_field field = {.name = info->name, .kind = info->kind, .is_list = !from->single, .count = from->count};
        field.integers = info->kind == CLV_FIELD_INTEGER ? values : NULL;
        field.reals = info->kind == CLV_FIELD_REAL ? values : NULL;
        field.texts = info->kind == CLV_FIELD_TEXT ? values : NULL;
        status = clv_result_put(at->claim->result, &field);
    }
    clv_free(ctx, values);
    return status;
}

/* --- matrices: an array of rows --- */

static clv_status get_dense(const clv_place *at, const char *name, const json_t *rows, clv_data **out) {
    size_t count = json_array_size(rows), cols = json_array_size(json_array_get(rows, 0));
    clv_context *ctx = at->claim->ctx;
    if (count == 0) {
        return clv_json_refuse(at, NULL, name, "an array of arrays");
    }
    for (size_t i = 0; i < count; i++) { /* before any room is made for them */
        const json_t *row = json_array_get(rows, i);
        if (!json_is_array(row) || json_array_size(row) != cols || cols == 0) {
            return clv_fail(ctx, CLV_EDATA, "%s: row %zu of %s is not an array of numbers as long as row 0", at->file,
                            i, name);
        }
    }
    CLV_TRY(clv_data_new_dense(ctx, name, (int64_t)count, (int64_t)cols, CLV_F64, out));
    double *values = (*out)->values;
    for (size_t e = 0; e < count * cols; e++) {
        const json_t *value = json_array_get(json_array_get(rows, e / cols), e % cols);
        if (!json_is_number(value)) {
            return clv_fail(ctx, CLV_EDATA, "%s: number %zu in row %zu of %s is not a number", at->file, e % cols + 1,
                            e / cols, name);
        }
        values[e] = json_number_value(value);
    }
    return CLV_OK;
}

/* --- sparse matrices: {"rows", "cols", "start": [0, ...], "index": [...], "value": [...]} --- */

static clv_status refuse_place(const clv_place *at, const char *name, const char *list, int64_t entry,
                               const char *wanted) {
    return clv_fail(at->claim->ctx, CLV_EDATA, "%s: number %lld of %s.%s is not %s", at->file, (long long)entry + 1,
                    name, list, wanted);
}

static clv_status get_starts(const clv_place *at, const char *name, const json_t *list, int64_t listed,
                             clv_data *data) {
    for (int64_t i = 0; i <= data->matrix.rows; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        int64_t least = i > 0 ? data->start[i - 1] : 0;
        json_int_t start = json_integer_value(value);
        if (!json_is_integer(value) || start < least || (i == 0 && start != 0)) {
            return refuse_place(at, name, "start", i, "a whole number, from 0 and never falling");
        }
        data->start[i] = start;
    }
    int64_t nonzeros = data->start[data->matrix.rows];
    if (nonzeros != listed) {
        return clv_fail(at->claim->ctx, CLV_EDATA, "%s: %s.start ends with %lld, but %s.index has %lld numbers",
                        at->file, name, (long long)nonzeros, name, (long long)listed);
    }
    return CLV_OK;
}

static clv_status get_stored(const clv_place *at, const char *name, const json_t *matrix, clv_data *data) {
    const json_t *indices = json_object_get(matrix, "index"), *values = json_object_get(matrix, "value");
    for (int64_t i = 0; i < data->matrix.rows; i++) {
        for (int64_t e = data->start[i]; e < data->start[i + 1]; e++) {
            const json_t *index = json_array_get(indices, (size_t)e), *value = json_array_get(values, (size_t)e);
            json_int_t column = json_integer_value(index);
            int64_t least = e > data->start[i] ? (int64_t)data->index[e - 1] + 1 : 0;
            if (!json_is_integer(index) || column < least || column >= data->matrix.cols) {
                return refuse_place(at, name, "index", e, "the number of a column, above the one before it in its row");
            }
            if (!json_is_number(value)) {
                return refuse_place(at, name, "value", e, "a number");
            }
            data->index[e] = (int32_t)column;
            ((double *)data->values)[e] = json_number_value(value);
        }
    }
    return CLV_OK;
}

static clv_status get_sparse(const clv_place *at, const char *name, json_t *matrix, clv_data **out) {
    const char *const lists[] = {"start", "index", "value"};
    int64_t rows, cols;
    const clv_place inside = {at->claim, at->file, matrix};
    const clv_member sizes[] = {{NULL, "rows", CLV_JSON_COUNT, &rows, false},
                                {NULL, "cols", CLV_JSON_COUNT, &cols, false}};
    for (size_t l = 0; l < CLV_COUNT(lists); l++) {
        if (!json_is_array(json_object_get(matrix, lists[l]))) {
            return clv_json_refuse(at, name, lists[l], "an array");
        }
    }
    CLV_TRY(clv_json_get(&inside, sizes, CLV_COUNT(sizes)));
    const json_t *start = json_object_get(matrix, "start");
    size_t nonzeros = json_array_size(json_object_get(matrix, "index"));
    if (json_array_size(json_object_get(matrix, "value")) != nonzeros || cols > INT32_MAX ||
        rows != (int64_t)json_array_size(start) - 1) {
        return clv_fail(at->claim->ctx, CLV_EDATA,
                        "%s: %s has lists of different lengths, or other ones than its rows and cols say", at->file,
                        name);
    }
    CLV_TRY(clv_data_new_csr(at->claim->ctx, name, rows, cols, (int64_t)nonzeros, out));
    CLV_TRY(get_starts(at, name, start, (int64_t)nonzeros, *out));
    return get_stored(at, name, matrix, *out);
}

static clv_status get_matrix(const clv_place *at, const clv_field_info *info, json_t *value) {
    clv_data *data = NULL;
    clv_status status = info->kind == CLV_FIELD_SPARSE ? get_sparse(at, info->name, value, &data)
                                                       : get_dense(at, info->name, value, &data);
    if (status < 0) {
        clv_data_free(data);
        return status;
    }
    return clv_result_take(at->claim->result, info->name, info->kind, data);
}

/* --- a field --- */

/* A column of a table: "clusters.size" is the member "size" of the objects in the array "clusters". */
static clv_status get_column(const clv_place *at, const clv_field_info *info, const char *dot) {
    char table[64];
    size_t stem = (size_t)(dot - info->name);
    memcpy(table, info->name, stem);
    table[stem] = 0;
    const json_t *list = clv_json_find(at, NULL, table);
    if (!list) {
        return CLV_OK;
    }
    if (!json_is_array(list)) {
        return clv_json_refuse(at, NULL, table, "an array");
    }
    entries from = {.list = list, .member = dot + 1, .count = (int64_t)json_array_size(list)};
    return get_entries(at, info, &from);
}

static clv_status get_field(const clv_place *at, const clv_field_info *info) {
    const char *dot = strchr(info->name, '.');
    if (dot) {
        return get_column(at, info, dot);
    }
    json_t *value = json_object_get(at->root, info->name);
    if (!value || strcmp(info->name, "labels") == 0) {
        return CLV_OK;
    }
    if (info->kind == CLV_FIELD_MATRIX || info->kind == CLV_FIELD_SPARSE) {
        return get_matrix(at, info, value);
    }
    entries from = {.list = value, .single = !*info->shape, .count = 1};
    if (!from.single) {
        if (!json_is_array(value)) {
            return clv_json_refuse(at, NULL, info->name, "an array");
        }
        from.count = (int64_t)json_array_size(value);
    }
    return get_entries(at, info, &from);
}

clv_status clv_claim_get_fields(const clv_place *at, const clv_method *method) {
    for (size_t f = 0; f < method->gives_count; f++) {
        CLV_TRY(get_field(at, &method->gives[f]));
    }
    return CLV_OK;
}
