/* Sparse home: a symmetric graph in compressed rows. Every function costs its share of the nonzeros. */
#include "affinity/home.h"
#include "affinity/kinds.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BLOCK = 256, WORTH_THREADS = 1 << 16, SHORT = 64 };

typedef struct sparse {
    clv_matrix graph;
    clv_data *owned; /* or NULL when borrowed */
    bool ones;       /* all that is stored */
    int64_t *order;  /* of the objects, such that similar ones are near each other; or NULL */
} sparse;

static const clv_matrix *graph_of(const clv_affinity *a) {
    return &((const sparse *)a->state)->graph;
}

/* Whether entry e of row i counts. */
static bool counts(const clv_affinity *a, const clv_matrix *graph, int64_t i, int64_t e) {
    return !a->zero_diagonal || graph->index[e] != i;
}

static clv_status sparse_entry(const clv_affinity *a, int64_t i, int64_t j, double *out) {
    *out = i == j && a->zero_diagonal ? 0 : clv_csr_entry(graph_of(a), i, j);
    return CLV_OK;
}

static clv_status sparse_column(const clv_affinity *a, int64_t i, double *out) {
    clv_matrix_row(graph_of(a), i, out);
    out[i] = a->zero_diagonal ? 0 : out[i];
    return CLV_OK;
}

static clv_status sparse_move(const clv_affinity *a, int64_t i, double *from, double *to) {
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
    return CLV_OK;
}

/* What takes the time is reading the graph, and finding the entries of x: two vectors at a time, side by side, and no
 * weights where all are 1. `width` is how many there are of them, `ones` whether they are all 1: constants, after
 * inlining. */
static inline __attribute__((always_inline)) void times_row(const clv_affinity *a, const clv_matrix *rows,
                                                            const double *x, int width, bool ones, int64_t i,
                                                            double *out) {
    const double *values = rows->values;
    double sum = 0, other = 0;
    for (int64_t e = rows->start[i]; e < rows->start[i + 1]; e++) {
        const double *entry = x + (int64_t)rows->index[e] * width;
        double value = !counts(a, rows, i, e) ? 0 : ones ? 1 : values[e];
        sum += value * entry[0];
        other += value * entry[width - 1];
    }
    out[0] = sum;
    out[width - 1] = other;
}

static void times_rows(const clv_affinity *a, const clv_matrix *rows, int64_t first, int64_t last, const double *x,
                       int64_t width, double *y, int threads) {
    bool ones = ((const sparse *)a->state)->ones && !a->zero_diagonal;
    double *second = y + a->info.n;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic, ROW_BLOCK)
    for (int64_t i = first; i < last; i++) {
        double out[2];
        if (width == 1) {
            times_row(a, rows, x, 1, false, i, out);
        } else if (ones) {
            times_row(a, rows, x, 2, true, i, out);
        } else {
            times_row(a, rows, x, 2, false, i, out);
        }
        y[i] = out[0];
        if (width == 2) {
            second[i] = out[1];
        }
    }
}

static void sparse_apply_rows(const clv_affinity *a, const clv_matrix *rows, const double *x, int64_t width, double *y,
                              int threads) {
    times_rows(a, rows, 0, rows->rows, x, width, y, threads);
}

static clv_status apply_pairs(const clv_affinity *a, const double *x, int64_t k, int64_t first, int64_t last, double *y,
                              int threads) {
    int64_t n = a->info.n;
    double *pair = k > 1 ? CLV_NEW(a->ctx, double, 2 * n) : NULL;
    if (k > 1 && !pair) {
        return CLV_ENOMEM;
    }
    for (int64_t c = 0; c + 1 < k; c += 2) {
        const double *left = x + c * n, *right = left + n;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
        for (int64_t i = 0; i < n; i++) {
            pair[2 * i] = left[i];
            pair[2 * i + 1] = right[i];
        }
        times_rows(a, graph_of(a), first, last, pair, 2, y + c * n, threads);
    }
    if (k % 2 == 1) {
        times_rows(a, graph_of(a), first, last, x + (k - 1) * n, 1, y + (k - 1) * n, threads);
    }
    clv_free(a->ctx, pair);
    return CLV_OK;
}

static clv_status sparse_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    clv_spread spread = clv_spread_begin(a, (double)a->info.nonzeros);
    clv_status status = apply_pairs(a, x, k, spread.first, spread.last, y, threads);
    return clv_spread_gather(a, &spread, status, y, k);
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
    clv_spread spread = clv_spread_begin(a, (double)a->info.nonzeros);
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic, ROW_BLOCK)
    for (int64_t i = spread.first; i < spread.last; i++) {
        sum_row(a, labels, k, y, i);
    }
    return clv_spread_gather(a, &spread, CLV_OK, y, k);
}

/* --- for products that follow their factor (product.c) --- */

/* Threads share the vectors: rows of the graph would meet in the same columns. */
static clv_status sparse_add_rows(const clv_affinity *a, const clv_change *change, double *y, int threads) {
    const clv_matrix *graph = graph_of(a);
    const double *values = graph->values;
    int64_t first = change->first, end = first + change->count, entries = graph->start[end] - graph->start[first];
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static) if (entries * change->k >= WORTH_THREADS)
    for (int64_t c = 0; c < change->k; c++) {
        double *row = y + c * a->info.n;
        for (int64_t i = first; i < end; i++) {
            double d = change->d[c * change->count + i - first];
            for (int64_t e = graph->start[i]; d != 0 && e < graph->start[i + 1]; e++) {
                row[graph->index[e]] += counts(a, graph, i, e) ? d * values[e] : 0;
            }
        }
    }
    return CLV_OK;
}

static clv_status sparse_block(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    const clv_matrix *graph = graph_of(a);
    memset(out, 0, (size_t)(count * count) * sizeof *out);
    for (int64_t i = first; i < first + count; i++) {
        for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
            int64_t j = graph->index[e] - first;
            if (j >= 0 && j < count && counts(a, graph, i, e)) {
                out[(i - first) * count + j] = ((const double *)graph->values)[e];
            }
        }
    }
    return CLV_OK;
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

/* Columns first .. last - 1 of the sum. */
static void combine_range(const clv_affinity *a, const clv_terms *terms, int64_t first, int64_t last,
                          atomic_bool *stopped, double *y) {
    const clv_matrix *graph = graph_of(a);
    const double *values = graph->values;
    memset(y + first, 0, (size_t)(last - first) * sizeof *y);
    for (int64_t m = 0; m < terms->count; m++) {
        int64_t i = terms->objects[m];
        if (m % ROW_BLOCK == 0 && !clv_goes_on(a->ctx, stopped, ROW_BLOCK)) {
            return;
        }
        for (int64_t e = clv_csr_seek(graph, i, first); e < graph->start[i + 1] && graph->index[e] < last; e++) {
            if (counts(a, graph, i, e)) {
                y[graph->index[e]] += terms->weights[m] * values[e];
            }
        }
    }
}

static clv_status sparse_combine(const clv_affinity *a, const clv_terms *terms, double *y, int threads) {
    int64_t n = a->info.n;
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int t = 0; t < threads; t++) {
        combine_range(a, terms, t * n / threads, (t + 1) * n / threads, &stopped, y);
    }
    return stopped ? clv_stop_failure(a->ctx, "adding columns of the affinity") : CLV_OK;
}

/* --- some of the objects --- */

typedef struct edge {
    int32_t index;
    double value;
} edge;

static int by_index(const void *left, const void *right) {
    const edge *l = left, *r = right;
    return l->index < r->index ? -1 : l->index > r->index;
}

static void sort_edges(edge *row, int64_t count) {
    if (count > SHORT) {
        qsort(row, (size_t)count, sizeof *row, by_index);
        return;
    }
    for (int64_t e = 1; e < count; e++) {
        edge next = row[e];
        int64_t at = e;
        for (; at > 0 && row[at - 1].index > next.index; at--) {
            row[at] = row[at - 1];
        }
        row[at] = next;
    }
}

/* The edges of object i to numbered objects, ascending by number: how many. */
static int64_t find_edges(const clv_matrix *graph, int64_t i, const int32_t *number, edge *out) {
    int64_t kept = 0;
    bool ascending = true;
    for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
        int32_t other = number[graph->index[e]];
        if (other >= 0) {
            ascending = ascending && (kept == 0 || out[kept - 1].index < other);
            out[kept++] = (edge){other, ((const double *)graph->values)[e]};
        }
    }
    if (!ascending) {
        sort_edges(out, kept);
    }
    return kept;
}

/* Where the rows of the chosen objects begin: m + 1. Returns the length of the longest of their given ones. */
static int64_t count_edges(const clv_matrix *graph, const int64_t *objects, int64_t m, const int32_t *number,
                           int threads, int64_t *start) {
    int64_t longest = 0;
    start[0] = 0;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static) reduction(max : longest)
    for (int64_t j = 0; j < m; j++) {
        int64_t first = graph->start[objects[j]], last = graph->start[objects[j] + 1];
        longest = last - first > longest ? last - first : longest;
        start[j + 1] = 0;
        for (int64_t e = first; e < last; e++) {
            start[j + 1] += number[graph->index[e]] >= 0;
        }
    }
    for (int64_t j = 0; j < m; j++) {
        start[j + 1] += start[j];
    }
    return longest;
}

static void write_edges(const clv_matrix *graph, int64_t object, const int32_t *number, edge *row, int64_t at,
                        clv_data *out) {
    int64_t count = find_edges(graph, object, number, row);
    for (int64_t e = 0; e < count; e++) {
        out->index[at + e] = row[e].index;
        ((double *)out->values)[at + e] = row[e].value;
    }
}

static clv_status take_edges(const clv_matrix *graph, const int64_t *objects, const int32_t *number, clv_kept *kept,
                             clv_affinity *out) {
    sparse *to = out->state;
    int64_t m = out->info.n, *start = CLV_TAKE(kept, int64_t, m + 1);
    CLV_TRY(kept->status);
    int threads = m >= WORTH_THREADS ? out->threads : 1;
    int64_t longest = count_edges(graph, objects, m, number, threads, start);
    CLV_TRY(clv_data_new_csr(out->ctx, "affinity", m, m, start[m], &to->owned));
    memcpy(to->owned->start, start, (size_t)(m + 1) * sizeof *start);
    edge *row = CLV_TAKE(kept, edge, threads * longest);
    CLV_TRY(kept->status);
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic)
    for (int64_t first = 0; first < m; first += ROW_BLOCK) {
        int64_t last = m - first < ROW_BLOCK ? m : first + ROW_BLOCK;
        last = clv_goes_on(out->ctx, &stopped, start[last] - start[first]) ? last : first;
        for (int64_t j = first; j < last; j++) {
            write_edges(graph, objects[j], number, row + omp_get_thread_num() * longest, start[j], to->owned);
        }
    }
    to->graph = to->owned->matrix;
    out->info.nonzeros = start[m];
    return stopped ? clv_stop_failure(out->ctx, "taking a part of the affinity") : CLV_OK;
}

static clv_status sparse_subset(const clv_affinity *a, const int64_t *objects, int64_t m, clv_affinity **out) {
    CLV_TRY(clv_affinity_like(a, m, out));
    clv_kept kept = {.ctx = a->ctx};
    int32_t *number = clv_keep(&kept, clv_number_objects(a, objects, m));
    ((sparse *)(*out)->state)->ones = ((const sparse *)a->state)->ones;
    clv_status status = number ? take_edges(graph_of(a), objects, number, &kept, *out) : CLV_ENOMEM;
    clv_free_kept(&kept);
    return status;
}

/* --- what else it can do --- */

static clv_affinity_cost cost_of(int64_t n, int64_t nonzeros) {
    double edges = (double)(n > 0 ? nonzeros / n : 0);
    return (clv_affinity_cost){
        .entry = 1 + log2(1 + edges), .column = edges, .pass = (double)nonzeros, .resident = 1}; /* entry: bisection */
}

static clv_status sparse_cost(const clv_affinity *a, clv_affinity_cost *out) {
    *out = cost_of(a->info.n, a->info.nonzeros);
    return CLV_OK;
}

static clv_status sparse_view(const clv_affinity *a, clv_matrix *out) {
    *out = *graph_of(a);
    return CLV_OK;
}

static const int64_t *sparse_order(const clv_affinity *a) {
    return ((const sparse *)a->state)->order;
}

static void sparse_destroy(clv_affinity *a) {
    sparse *home = a->state;
    clv_data_free(home->owned);
    clv_free(a->ctx, home->order);
}

static const clv_home_functions functions = {
    .name = "sparse",
    .state_size = sizeof(sparse),
    .column = sparse_column,
    .destroy = sparse_destroy,
    .entry = sparse_entry,
    .apply = sparse_apply,
    .group_sums = sparse_group_sums,
    .move = sparse_move,
    .combine = sparse_combine,
    .moments = sparse_moments,
    .block = sparse_block,
    .add_rows = sparse_add_rows,
    .subset = sparse_subset,
    .cost = sparse_cost,
    .view = sparse_view,
    .order = sparse_order,
    .apply_rows = sparse_apply_rows,
};

/* --- making one: a given graph, or that of the nearest neighbors --- */

static bool suits(const clv_matrix *points, const clv_affinity_options *options) {
    return clv_kind_of(options->kind)->is_graph || (options->kind == CLV_AFFINITY_PRECOMPUTED && clv_is_sparse(points));
}

/* About half of the neighbor pairs are mutual. A symmetrized copy has the most when no entry is on both sides. */
static void plan(const clv_matrix *points, const clv_affinity_options *options, clv_affinity_info *out) {
    int64_t n = points->rows, held = 0, peak = 0;
    bool near = clv_kind_of(options->kind)->is_graph;
    if (near) {
        int64_t neighbors = clv_knn_neighbors(options->kind, options->neighbors, n);
        held = clv_bytes_plus((3 * neighbors / 2 + 1) * 12 * n, 16 * n);
        peak = clv_knn_peak(n, points->cols, options, held);
    } else if (options->symmetrize) {
        int64_t once = clv_bytes_plus(12 * points->start[n], 8 * (n + 1));
        held = clv_bytes_plus(once, 12 * points->start[n]);
        peak = clv_bytes_plus(held, once);
    }
    out->nonzeros = near ? held / 12 : points->start[n];
    out->sparse = 1;
    out->bytes = (size_t)held;
    out->peak = (size_t)peak;
    out->cost = cost_of(n, out->nonzeros);
}

static clv_status find_neighbors(const clv_matrix *points, const clv_affinity_options *options, int threads,
                                 clv_affinity *a) {
    clv_panels panels;
    CLV_TRY(clv_panels_new(a->ctx, points, threads, &panels));
    clv_knn made;
    clv_status status = clv_knn_graph(a->ctx, &panels, options, threads, &made);
    clv_panels_free(&panels);
    sparse *home = a->state;
    home->owned = made.graph;
    home->order = made.order;
    bool scaled = clv_kind_of(options->kind)->has_scales;
    home->ones = isnan(options->gamma) && !scaled;
    a->info.recall = made.recall;
    a->info.gamma = scaled && isnan(options->gamma) ? 1 : options->gamma;
    return status;
}

static clv_status make(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options, int threads,
                       clv_affinity **out) {
    CLV_TRY(clv_affinity_new(ctx, &functions, points->rows, options, out));
    sparse *home = (*out)->state;
    if (clv_kind_of(options->kind)->is_graph) {
        CLV_TRY(find_neighbors(points, options, threads, *out));
    } else if (options->symmetrize) {
        CLV_TRY(clv_symmetrize_sparse(ctx, points, &home->owned));
    }
    home->graph = home->owned ? home->owned->matrix : *points;
    (*out)->info.sparse = 1;
    (*out)->info.nonzeros = home->graph.start[points->rows];
    return CLV_OK;
}

const clv_home_maker clv_sparse_maker = {CLV_HOME_SPARSE, false, suits, plan, make};
