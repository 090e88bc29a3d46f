/* Sparse home: a symmetric graph in compressed rows. Every function costs its share of the nonzeros. */
#include "affinity/affinity.h"

enum { ROW_BLOCK = 256, WORTH_THREADS = 1 << 16 };

static const clv_matrix *graph_of(const clv_affinity *a) {
    return &((const clv_sparse_home *)a->state)->graph;
}

/* Whether entry e of row i counts. */
static bool counts(const clv_affinity *a, const clv_matrix *graph, int64_t i, int64_t e) {
    return !a->zero_diagonal || graph->index[e] != i;
}

static double sparse_entry(const clv_affinity *a, int64_t i, int64_t j) {
    return i == j && a->zero_diagonal ? 0 : clv_csr_entry(graph_of(a), i, j);
}

static clv_status sparse_column(const clv_affinity *a, int64_t i, double *out) {
    const clv_matrix *graph = graph_of(a);
    for (int64_t j = 0; j < a->info.n; j++) {
        out[j] = 0;
    }
    for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
        if (counts(a, graph, i, e)) {
            out[graph->index[e]] = ((const double *)graph->values)[e];
        }
    }
    return CLV_OK;
}

static void sparse_move(const clv_affinity *a, int64_t i, double *from, double *to) {
    const clv_matrix *graph = graph_of(a);
    const double *values = graph->values;
    for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
        if (counts(a, graph, i, e)) {
            if (from) {
                from[graph->index[e]] -= values[e];
            }
            if (to) {
                to[graph->index[e]] += values[e];
            }
        }
    }
}

static void apply_row(const clv_affinity *a, const double *x, int64_t k, double *y, int64_t i) {
    const clv_matrix *graph = graph_of(a);
    const double *values = graph->values;
    int64_t n = a->info.n;
    for (int64_t c = 0; c < k; c++) {
        double sum = 0;
        for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
            if (counts(a, graph, i, e)) {
                sum += values[e] * x[c * n + graph->index[e]];
            }
        }
        y[c * n + i] = sum;
    }
}

static clv_status sparse_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, ROW_BLOCK)
    for (int64_t i = 0; i < a->info.n; i++) {
        apply_row(a, x, k, y, i);
    }
    return CLV_OK;
}

static void sum_row(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int64_t i) {
    const clv_matrix *graph = graph_of(a);
    const double *values = graph->values;
    int64_t n = a->info.n;
    for (int64_t c = 0; c < k; c++) {
        y[c * n + i] = 0;
    }
    for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
        int32_t label = labels[graph->index[e]];
        if (label >= 0 && counts(a, graph, i, e)) {
            y[label * n + i] += values[e];
        }
    }
}

static clv_status sparse_group_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, ROW_BLOCK)
    for (int64_t i = 0; i < a->info.n; i++) {
        sum_row(a, labels, k, y, i);
    }
    return CLV_OK;
}

/* --- for products that follow their factor (product.c) --- */

/* Threads share the vectors: rows of the graph would meet in the same columns. */
static void sparse_add_rows(const clv_affinity *a, int64_t first, int64_t count, const double *d, int64_t k, double *y,
                            int threads) {
    const clv_matrix *graph = graph_of(a);
    const double *values = graph->values;
    int64_t entries = graph->start[first + count] - graph->start[first];
#pragma omp parallel for num_threads(threads) schedule(static) if (entries * k >= WORTH_THREADS)
    for (int64_t c = 0; c < k; c++) {
        double *row = y + c * a->info.n;
        for (int64_t i = first; i < first + count; i++) {
            double change = d[c * count + i - first];
            for (int64_t e = graph->start[i]; change != 0 && e < graph->start[i + 1]; e++) {
                row[graph->index[e]] += counts(a, graph, i, e) ? change * values[e] : 0;
            }
        }
    }
}

static void sparse_block(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    const clv_matrix *graph = graph_of(a);
    for (int64_t e = 0; e < count * count; e++) {
        out[e] = 0;
    }
    for (int64_t i = first; i < first + count; i++) {
        for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
            int64_t j = graph->index[e] - first;
            if (j >= 0 && j < count && counts(a, graph, i, e)) {
                out[(i - first) * count + j] = ((const double *)graph->values)[e];
            }
        }
    }
}

static clv_status sparse_moments(const clv_affinity *a, int threads, double *sum, double *squares) {
    const clv_matrix *graph = graph_of(a);
    int64_t entries = graph->start[a->info.n];
    *sum = clv_sum(graph->values, entries, threads);
    *squares = clv_dot(graph->values, graph->values, entries, threads);
    for (int64_t i = 0; a->zero_diagonal && i < a->info.n; i++) {
        double own = clv_csr_entry(graph, i, i);
        *sum -= own;
        *squares -= own * own;
    }
    return CLV_OK;
}

/* The first entry of row i in column `first` or after. */
static int64_t seek(const clv_matrix *graph, int64_t i, int64_t first) {
    int64_t low = graph->start[i], high = graph->start[i + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (graph->index[middle] < first) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Columns first .. last - 1 of the sum; whether it came to its end. */
static bool combine_range(const clv_affinity *a, const clv_terms *terms, int64_t first, int64_t last, double *y) {
    const clv_matrix *graph = graph_of(a);
    const double *values = graph->values;
    for (int64_t j = first; j < last; j++) {
        y[j] = 0;
    }
    for (int64_t m = 0; m < terms->count; m++) {
        int64_t i = terms->objects[m];
        if (m % ROW_BLOCK == 0 && clv_interrupted(a->ctx)) {
            return false;
        }
        for (int64_t e = seek(graph, i, first); e < graph->start[i + 1] && graph->index[e] < last; e++) {
            if (counts(a, graph, i, e)) {
                y[graph->index[e]] += terms->weights[m] * values[e];
            }
        }
    }
    return true;
}

static clv_status sparse_combine(const clv_affinity *a, const clv_terms *terms, double *y, int threads) {
    int64_t n = a->info.n;
    int stopped = 0;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        if (!combine_range(a, terms, t * n / threads, (t + 1) * n / threads, y)) {
#pragma omp atomic write
            stopped = 1;
        }
    }
    return stopped ? clv_fail(a->ctx, CLV_EINTERRUPTED, "interrupted") : CLV_OK;
}

static void sparse_destroy(clv_affinity *a) {
    clv_data_free(((clv_sparse_home *)a->state)->owned);
}

const clv_home_functions clv_sparse_functions = {
    .column = sparse_column,
    .apply = sparse_apply,
    .group_sums = sparse_group_sums,
    .move = sparse_move,
    .moments = sparse_moments,
    .block = sparse_block,
    .add_rows = sparse_add_rows,
    .combine = sparse_combine,
    .entry = sparse_entry,
    .destroy = sparse_destroy,
};
