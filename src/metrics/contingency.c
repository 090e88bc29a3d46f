/* The contingency table of two labelings: how many objects each class shares with each cluster, nonzero cells only. The
 * pairs of labels are sorted and counted: O(n) time, 24 bytes per object while it is made, 12 bytes per cell after. */
#include "metrics/metrics.h"

/* Two labelings without the objects that either leaves out. */
typedef struct labelings {
    clv_kept kept;
    int32_t *truth, *labels;
    uint64_t *keys, *buffer;
} labelings;

void clv_contingency_free(clv_contingency *table) {
    clv_free_kept(&table->kept);
    *table = (clv_contingency){.kept.ctx = table->kept.ctx};
}

static clv_status keep_compared(const int32_t *truth, const int32_t *labels, int64_t n, labelings *both,
                                int64_t *kept) {
    both->truth = CLV_TAKE(&both->kept, int32_t, n);
    both->labels = CLV_TAKE(&both->kept, int32_t, n);
    CLV_TRY(both->kept.status);
    *kept = 0;
    for (int64_t i = 0; i < n; i++) {
        if (truth[i] >= 0 && labels[i] >= 0) {
            both->truth[*kept] = truth[i];
            both->labels[(*kept)++] = labels[i];
        }
    }
    return CLV_OK;
}

static clv_status allocate_cells(clv_contingency *table) {
    table->start = CLV_TAKE0(&table->kept, int64_t, table->classes + 1);
    table->cluster = CLV_TAKE(&table->kept, int32_t, table->cells);
    table->count = CLV_TAKE0(&table->kept, int64_t, table->cells);
    table->class_size = CLV_TAKE0(&table->kept, int64_t, table->classes);
    table->cluster_size = CLV_TAKE0(&table->kept, int64_t, table->clusters);
    return table->kept.status;
}

/* One key an object, class above cluster, sorted; the number of different keys is that of the cells. */
static clv_status sort_pairs(clv_contingency *table, labelings *both) {
    int64_t n = table->objects;
    CLV_TRY(clv_labels_compress(table->kept.ctx, both->truth, n, both->truth, &table->classes));
    CLV_TRY(clv_labels_compress(table->kept.ctx, both->labels, n, both->labels, &table->clusters));
    both->keys = CLV_TAKE(&both->kept, uint64_t, n);
    both->buffer = CLV_TAKE(&both->kept, uint64_t, n);
    CLV_TRY(both->kept.status);
    for (int64_t i = 0; i < n; i++) {
        both->keys[i] = (uint64_t)both->truth[i] << 32 | (uint64_t)both->labels[i];
    }
    clv_sort_keys(both->keys, both->buffer, n, 0);
    for (int64_t i = 0; i < n; i++) {
        table->cells += i == 0 || both->keys[i] != both->keys[i - 1];
    }
    return allocate_cells(table);
}

static void count_pairs(clv_contingency *table, const uint64_t *keys) {
    int64_t cell = -1;
    for (int64_t i = 0; i < table->objects; i++) {
        int64_t class = (int64_t)(keys[i] >> 32);
        int32_t cluster = (int32_t)(keys[i] & UINT32_MAX);
        if (i == 0 || keys[i] != keys[i - 1]) {
            table->cluster[++cell] = cluster;
            table->start[class + 1] = cell + 1;
        }
        table->count[cell]++;
        table->class_size[class]++;
        table->cluster_size[cluster]++;
    }
}

clv_status clv_contingency_new(clv_context *ctx, const int32_t *truth, const int32_t *labels, int64_t n,
                               clv_contingency *out) {
    labelings both = {.kept.ctx = ctx};
    *out = (clv_contingency){.kept.ctx = ctx};
    clv_status status = keep_compared(truth, labels, n, &both, &out->objects);
    if (status == CLV_OK) {
        status = sort_pairs(out, &both);
    }
    if (status == CLV_OK) {
        count_pairs(out, both.keys);
    } else {
        clv_contingency_free(out);
    }
    clv_free_kept(&both.kept);
    return status;
}
