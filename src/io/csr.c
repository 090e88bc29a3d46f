/* Entries in any order to compressed sparse rows: a counting sort by row, then each row by column. Entries at the same
 * place are added in ascending order of value, so that the sum does not depend on their order in the file.
 * O(nonzeros + rows) and O(m log m) for a row of m entries out of order. */
#include "io/io.h"

#include <stdlib.h>
#include <string.h>

typedef struct placed {
    int32_t column;
    double value;
} placed;

static int compare_placed(const void *a, const void *b) {
    const placed *x = a;
    const placed *y = b;
    if (x->column != y->column) {
        return x->column < y->column ? -1 : 1;
    }
    return (x->value > y->value) - (x->value < y->value);
}

static void scatter(const clv_entry *entries, int64_t count, int64_t rows, int64_t *start, placed *sorted) {
    memset(start, 0, (size_t)(rows + 1) * sizeof *start);
    for (int64_t e = 0; e < count; e++) {
        start[entries[e].row + 1]++;
    }
    for (int64_t i = 0; i < rows; i++) {
        start[i + 1] += start[i];
    }
    for (int64_t e = 0; e < count; e++) { /* start[i] runs to the end of row i ... */
        sorted[start[entries[e].row]++] = (placed){entries[e].column, entries[e].value};
    }
    for (int64_t i = rows; i > 0; i--) { /* ... and is put back */
        start[i] = start[i - 1];
    }
    start[0] = 0;
}

static void sort_row(placed *row, int64_t count) {
    for (int64_t e = 1; e < count; e++) {
        if (row[e].column <= row[e - 1].column) {
            qsort(row, (size_t)count, sizeof *row, compare_placed);
            return;
        }
    }
}

/* Sort each row, add what shares a place, and move the rows together. */
static void gather(clv_data *data, placed *sorted) {
    double *values = data->values;
    int64_t kept = 0;
    for (int64_t i = 0; i < data->matrix.rows; i++) {
        int64_t from = data->start[i];
        int64_t to = data->start[i + 1];
        sort_row(sorted + from, to - from);
        data->start[i] = kept;
        for (int64_t e = from; e < to; e++) {
            if (e > from && sorted[e].column == sorted[e - 1].column) {
                values[kept - 1] += sorted[e].value;
            } else {
                data->index[kept] = sorted[e].column;
                values[kept++] = sorted[e].value;
            }
        }
    }
    data->start[data->matrix.rows] = kept;
}

clv_status clv_csr_from_entries(clv_context *ctx, const char *name, int64_t rows, int64_t cols,
                                const clv_entry *entries, int64_t count, clv_data **out) {
    *out = NULL;
    clv_data *data;
    if ((size_t)rows > clv_memory_budget(0) / sizeof(int64_t)) {
        return clv_fail(ctx, CLV_ENOMEM, "its %lld rows are too many for the memory of this machine", (long long)rows);
    }
    CLV_TRY(clv_data_new_csr(ctx, name, rows, cols, count, &data));
    placed *sorted = CLV_NEW(ctx, placed, count);
    if (sorted) {
        scatter(entries, count, rows, data->start, sorted);
        gather(data, sorted);
        clv_free(ctx, sorted);
    }
    return clv_data_give(data, sorted ? CLV_OK : CLV_ENOMEM, out); /* sums may overflow */
}
