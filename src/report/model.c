/* Memberships, centers, weights and clusters of a result, read back from JSON. Sizes come from the lists themselves, so
 * that no more memory is asked for than the text has numbers. */
#include "linalg/linalg.h"
#include "report/fields.h"

#include <string.h>

/* --- sparse matrices: {"start": [0, ...], "cluster": [...], "weight": [...]} --- */

/* What its three lists are called. */
typedef struct csr_names {
    const char *matrix, *index, *value;
} csr_names;

static clv_status refuse_entry(const clv_place *at, const csr_names *names, const char *list, int64_t entry,
                               const char *wanted) {
    return clv_fail(at->claim->ctx, CLV_EDATA, "%s: number %lld of %s.%s is not %s", at->file, (long long)entry + 1,
                    names->matrix, list, wanted);
}

static clv_status get_starts(const clv_place *at, const csr_names *names, const json_t *list, clv_data *data) {
    int64_t nonzeros = 0;
    for (int64_t i = 0; i <= data->matrix.rows; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        int64_t least = i > 0 ? data->start[i - 1] : 0;
        json_int_t start = json_integer_value(value);
        if (!json_is_integer(value) || start < least || (i == 0 && start != 0)) {
            return refuse_entry(at, names, "start", i, "a whole number, from 0 and never falling");
        }
        data->start[i] = start;
        nonzeros = start;
    }
    int64_t listed = (int64_t)json_array_size(clv_json_find(at, names->matrix, names->index));
    if (nonzeros != listed) {
        return clv_fail(at->claim->ctx, CLV_EDATA, "%s: %s.start ends with %lld, but %s.%s has %lld numbers", at->file,
                        names->matrix, (long long)nonzeros, names->matrix, names->index, (long long)listed);
    }
    return CLV_OK;
}

static clv_status get_entries(const clv_place *at, const csr_names *names, clv_data *data) {
    const json_t *indices = clv_json_find(at, names->matrix, names->index);
    const json_t *values = clv_json_find(at, names->matrix, names->value);
    for (int64_t i = 0; i < data->matrix.rows; i++) {
        for (int64_t e = data->start[i]; e < data->start[i + 1]; e++) {
            const json_t *index = json_array_get(indices, (size_t)e), *value = json_array_get(values, (size_t)e);
            json_int_t column = json_integer_value(index);
            int64_t least = e > data->start[i] ? (int64_t)data->index[e - 1] + 1 : 0;
            if (!json_is_integer(index) || column < least || column >= data->matrix.cols) {
                return refuse_entry(at, names, names->index, e, "the number of a column, rising along its row");
            }
            if (!json_is_number(value)) {
                return refuse_entry(at, names, names->value, e, "a number");
            }
            data->index[e] = (int32_t)column;
            ((double *)data->values)[e] = json_number_value(value);
        }
    }
    return CLV_OK;
}

static clv_status get_csr(const clv_place *at, const csr_names *names, int64_t cols, clv_data **out) {
    const char *const lists[] = {"start", names->index, names->value};
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) {
        if (!json_is_array(clv_json_find(at, names->matrix, lists[l]))) {
            return clv_json_refuse(at, names->matrix, lists[l], "an array");
        }
    }
    const json_t *start = clv_json_find(at, names->matrix, "start");
    size_t nonzeros = json_array_size(clv_json_find(at, names->matrix, names->index));
    if (json_array_size(start) == 0) {
        return clv_json_refuse(at, names->matrix, "start", "an array that begins with 0");
    }
    if (json_array_size(clv_json_find(at, names->matrix, names->value)) != nonzeros) {
        return clv_fail(at->claim->ctx, CLV_EDATA, "%s: %s.%s and %s.%s are not of the same length", at->file,
                        names->matrix, names->index, names->matrix, names->value);
    }
    if (cols > INT32_MAX) {
        return clv_fail(at->claim->ctx, CLV_EDATA, "%s: %s has %lld columns, more than there can be", at->file,
                        names->matrix, (long long)cols);
    }
    int64_t rows = (int64_t)json_array_size(start) - 1;
    CLV_TRY(clv_data_new_csr(at->claim->ctx, names->matrix, rows, cols, (int64_t)nonzeros, out));
    CLV_TRY(get_starts(at, names, start, *out));
    return get_entries(at, names, *out);
}

static clv_status get_membership(const clv_place *at) {
    static const csr_names names = {"membership", "cluster", "weight"};
    if (!clv_json_find(at, NULL, names.matrix)) {
        return CLV_OK;
    }
    return get_csr(at, &names, at->claim->k, &at->claim->membership);
}

static clv_status get_weights(const clv_place *at) {
    static const csr_names names = {"weights", "index", "value"};
    clv_claim *claim = at->claim;
    int64_t rows, cols;
    const json_t *weights = clv_json_find(at, NULL, names.matrix);
    if (!weights) {
        return CLV_OK;
    }
    const clv_place inside = {claim, at->file, weights};
    CLV_TRY(clv_json_count(&inside, "rows", &rows));
    CLV_TRY(clv_json_count(&inside, "cols", &cols));
    CLV_TRY(get_csr(at, &names, cols, &claim->weights));
    if (claim->weights->matrix.rows != rows) {
        return clv_fail(claim->ctx, CLV_EDATA, "%s: weights.rows is %lld, but weights.start has %lld numbers", at->file,
                        (long long)rows, (long long)claim->weights->matrix.rows + 1);
    }
    return CLV_OK;
}

/* --- centers: rows of numbers --- */

/* All rows as long as the first: looked at before any room is made for them. */
static clv_status check_rows(const clv_place *at, const json_t *centers, size_t cols) {
    for (size_t c = 0; c < json_array_size(centers); c++) {
        const json_t *row = json_array_get(centers, c);
        if (!json_is_array(row) || json_array_size(row) != cols || cols == 0) {
            return clv_fail(at->claim->ctx, CLV_EDATA, "%s: center %zu is not an array of numbers as long as center 0",
                            at->file, c);
        }
    }
    return CLV_OK;
}

static clv_status get_center(const clv_place *at, const json_t *row, int64_t number) {
    clv_data *centers = at->claim->centers;
    int64_t cols = centers->matrix.cols;
    for (int64_t j = 0; j < cols; j++) {
        const json_t *value = json_array_get(row, (size_t)j);
        if (!json_is_number(value)) {
            return clv_fail(at->claim->ctx, CLV_EDATA, "%s: coordinate %lld of center %lld is not a number", at->file,
                            (long long)j + 1, (long long)number);
        }
        ((double *)centers->values)[number * cols + j] = json_number_value(value);
    }
    return CLV_OK;
}

static clv_status get_centers(const clv_place *at) {
    const json_t *centers = clv_json_find(at, NULL, "centers");
    clv_claim *claim = at->claim;
    if (!centers) {
        return CLV_OK;
    }
    if (json_array_size(centers) == 0) {
        return clv_json_refuse(at, NULL, "centers", "an array of arrays");
    }
    size_t rows = json_array_size(centers), cols = json_array_size(json_array_get(centers, 0));
    CLV_TRY(check_rows(at, centers, cols));
    CLV_TRY(clv_data_new_dense(claim->ctx, "centers", (int64_t)rows, (int64_t)cols, CLV_F64, &claim->centers));
    for (size_t c = 0; c < rows; c++) {
        CLV_TRY(get_center(at, json_array_get(centers, c), (int64_t)c));
    }
    return CLV_OK;
}

/* --- clusters --- */

static clv_status get_stop(const clv_place *at, int64_t number, clv_stop *out) {
    const char *name = json_string_value(clv_json_find(at, NULL, "stop"));
    for (int stop = CLV_CONVERGED; name && stop <= CLV_CANCELLED; stop++) {
        if (strcmp(clv_stop_name((clv_stop)stop), name) == 0) {
            *out = (clv_stop)stop;
            return CLV_OK;
        }
    }
    return clv_fail(at->claim->ctx, CLV_EDATA, "%s: the field stop of cluster %lld is missing or no reason to stop",
                    at->file, (long long)number);
}

static clv_status get_cluster(const clv_place *at, int64_t number) {
    clv_cluster *cluster = &at->claim->clusters[number];
    const struct {
        const char *name;
        int64_t *out;
    } counts[] = {{"size", &cluster->size},   {"iterations", &cluster->iterations}, {"drops", &cluster->drops},
                  {"swaps", &cluster->swaps}, {"prototype", &cluster->prototype},   {"pass", &cluster->pass}};
    if (!json_is_object(at->root)) {
        return clv_fail(at->claim->ctx, CLV_EDATA, "%s: cluster %lld is not an object", at->file, (long long)number);
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        CLV_TRY(clv_json_count(at, counts[i].name, counts[i].out));
    }
    CLV_TRY(clv_json_number(at, NULL, "cohesiveness", &cluster->cohesiveness));
    CLV_TRY(clv_json_number(at, NULL, "similarity", &cluster->similarity));
    CLV_TRY(clv_json_optional_number(at, NULL, "certificate", &cluster->certificate));
    return get_stop(at, number, &cluster->stop);
}

static clv_status get_clusters(const clv_place *at) {
    const json_t *clusters = clv_json_find(at, NULL, "clusters");
    clv_claim *claim = at->claim;
    if (!clusters) {
        return CLV_OK;
    }
    if (!json_is_array(clusters)) {
        return clv_json_refuse(at, NULL, "clusters", "an array");
    }
    int64_t count = (int64_t)json_array_size(clusters);
    claim->clusters = CLV_NEW0(claim->ctx, clv_cluster, count);
    if (!claim->clusters) {
        return CLV_ENOMEM;
    }
    claim->clusters_count = count;
    for (int64_t c = 0; c < count; c++) {
        CLV_TRY(get_cluster(&(clv_place){claim, at->file, json_array_get(clusters, (size_t)c)}, c));
    }
    return CLV_OK;
}

clv_status clv_claim_get_model(const clv_place *at) {
    CLV_TRY(get_membership(at));
    CLV_TRY(get_centers(at));
    CLV_TRY(get_weights(at));
    CLV_TRY(get_clusters(at));
    clv_claim *claim = at->claim;
    CLV_TRY(clv_json_optional_numbers(at, NULL, "intercepts", &claim->intercepts, &claim->intercepts_count));
    CLV_TRY(clv_json_optional_numbers(at, NULL, "classes", &claim->classes, &claim->classes_count));
    return clv_json_find(at, NULL, "passes") ? clv_json_count(at, "passes", &at->claim->passes) : CLV_OK;
}
