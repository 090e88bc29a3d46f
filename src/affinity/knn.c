/* The k-nearest-neighbor graph. Symmetrized by max: i and j are joined when either is among the nearest of the other.
 * The kind local-knn has scales from the first half of the neighbors, and weights in units of these. */
#include "affinity/knn.h"
#include "affinity/home.h"

#include "kernels/kernels.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { ROW_BLOCK = 256 };

/* --- the symmetric graph --- */

/* Whether object j is in a list, which is by number. */
static bool is_neighbor(const clv_neighbor *list, int64_t k, int64_t j) {
    while (k > 1) {
        int64_t half = k / 2;
        list += list[half].j <= j ? half : 0;
        k -= half;
    }
    return list->j == j;
}

static double weight_of(double d2, double gamma) {
    double weight = -gamma * d2;
    if (isnan(gamma)) {
        return 1;
    }
    clv_kernels->exp_nonpositive(&weight, 1);
    return weight;
}

/* Objects are gone through in an order in which near ones are near, so that what is looked up of their neighbors stays
 * in the cache. */
typedef struct assembly {
    clv_context *ctx;
    const clv_neighbor *found;
    const int64_t *order;
    int64_t n, k;
    int threads;
    double gamma;
    const double *inverse; /* scales, or NULL */
    bool self;
    uint8_t *lone;     /* n k: this entry of `found` names an object that does not name it in return */
    int64_t *first;    /* n + 1: where the lone ones that name an object begin in `named` */
    int64_t *named;    /* as many as are lone */
    clv_neighbor *row; /* the longest for each thread: work */
    int64_t longest;
} assembly;

static void find_lone(assembly *g, int64_t i) {
    for (int64_t e = i * g->k; e < (i + 1) * g->k; e++) {
        g->lone[e] = !is_neighbor(g->found + g->found[e].j * g->k, g->k, i);
    }
}

/* Into first[j + 1] how many lone ones name object j. */
static void count_lone(assembly *g) {
    memset(g->first, 0, (size_t)(g->n + 1) * sizeof *g->first);
    for (int64_t t = 0; t < g->n; t++) {
        for (int64_t e = g->order[t] * g->k; e < (g->order[t] + 1) * g->k; e++) {
            g->first[g->found[e].j + 1] += g->lone[e];
        }
    }
}

/* Rows and their lists begin where those before them end. */
static void find_starts(assembly *g, int64_t *start) {
    start[0] = 0;
    for (int64_t i = 0; i < g->n; i++) {
        int64_t size = g->k + g->first[i + 1] + g->self;
        g->longest = size > g->longest ? size : g->longest;
        start[i + 1] = start[i] + size;
        g->first[i + 1] += g->first[i];
    }
}

/* `at` is work: n. */
static void list_lone(assembly *g, int64_t *at) {
    memcpy(at, g->first, (size_t)g->n * sizeof *at);
    for (int64_t t = 0; t < g->n; t++) {
        for (int64_t e = g->order[t] * g->k; e < (g->order[t] + 1) * g->k; e++) {
            if (g->lone[e]) {
                g->named[at[g->found[e].j]++] = e;
            }
        }
    }
}

/* The own neighbors, those that name it, and itself, by number. */
static void write_row(const assembly *g, int64_t i, clv_data *graph) {
    clv_neighbor *row = g->row + omp_get_thread_num() * g->longest;
    int64_t count = g->k, at = graph->start[i];
    memcpy(row, g->found + i * g->k, (size_t)count * sizeof *row);
    for (int64_t m = g->first[i]; m < g->first[i + 1]; m++) {
        row[count++] = (clv_neighbor){g->found[g->named[m]].d2, g->named[m] / g->k};
    }
    if (g->self) {
        row[count++] = (clv_neighbor){0, i};
    }
    clv_sort_by_object(row, count);
    for (int64_t e = 0; e < count; e++, at++) {
        graph->index[at] = (int32_t)row[e].j;
        double d2 = g->inverse ? row[e].d2 * (g->inverse[i] * g->inverse[row[e].j]) : row[e].d2;
        ((double *)graph->values)[at] = weight_of(d2, g->gamma);
    }
}

/* For each object, until the computation is to stop: its row of the graph is written or, before there is a graph, its
 * lone ones are found. */
static clv_status for_all(assembly *g, clv_data *graph) {
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(clv_team(g->threads)) schedule(dynamic)
    for (int64_t first = 0; first < g->n; first += ROW_BLOCK) {
        int64_t last = g->n - first < ROW_BLOCK ? g->n : first + ROW_BLOCK;
        last = clv_goes_on(g->ctx, &stopped, (last - first) * g->k) ? last : first;
        for (int64_t t = first; t < last; t++) {
            if (graph) {
                write_row(g, g->order[t], graph);
            } else {
                find_lone(g, g->order[t]);
            }
        }
    }
    return stopped ? clv_stop_failure(g->ctx, "joining the nearest neighbors") : CLV_OK;
}

/* Up to so many differences of two numbers all distances may cost, unless an exact search is asked for: seconds. */
#define MOST_FOR_EXACT 1e11

int64_t clv_knn_neighbors(clv_affinity_kind kind, int64_t neighbors, int64_t n) {
    int64_t wanted = kind == CLV_AFFINITY_LOCAL_KNN ? 2 * neighbors : neighbors;
    return wanted < n ? wanted : n - 1;
}

static bool is_approximate(int64_t n, int64_t features, const clv_affinity_options *options, int64_t k) {
    double work = (double)n * (double)n * (double)features;
    bool wanted =
        options->search == CLV_SEARCH_APPROXIMATE || (options->search == CLV_SEARCH_AUTO && work > MOST_FOR_EXACT);
    return wanted && clv_nearest_can_be_approximate(n, k);
}

/* The search holds the points in panels, once more in their order or in that of a tree, and in rows while a tree is
 * made; the assembly after it the points, the lists and the graph. */
int64_t clv_knn_peak(int64_t n, int64_t features, const clv_affinity_options *options, int64_t graph) {
    int64_t k = clv_knn_neighbors(options->kind, options->neighbors, n), panels = clv_panels_bytes(n, features),
            lists = (16 * k + 8) * n;
    int64_t search = clv_bytes_plus(panels, panels);
    if (is_approximate(n, features, options, k)) {
        int64_t rows = clv_bytes_plus(panels, 8 * (CLV_ROW_PAD - 1) * n);
        search = clv_bytes_plus(clv_bytes_plus(search, panels), clv_bytes_plus(rows, clv_forest_bytes(n, k)));
    } else {
        search = clv_bytes_plus(search, panels / 32);
    }
    int64_t assembly = clv_bytes_plus(clv_bytes_plus(panels, graph), (5 * k + 16) * n);
    return clv_bytes_plus(lists, search > assembly ? search : assembly);
}

clv_status clv_find_nearest(clv_context *ctx, const clv_panels *panels, const clv_affinity_options *options, int64_t k,
                            int threads, clv_neighbor *found, int64_t *order, double *recall) {
    *recall = NAN;
    return is_approximate(panels->n, panels->features, options, k)
               ? clv_nearest_approximate(ctx, panels, k, threads, found, order, recall)
               : clv_nearest_exact(ctx, panels, k, threads, found, order);
}

static clv_status assemble(clv_kept *work, assembly *g, clv_data **out) {
    clv_context *ctx = work->ctx;
    int64_t *start = CLV_TAKE(work, int64_t, g->n + 1);
    g->lone = CLV_TAKE(work, uint8_t, g->n * g->k);
    g->first = CLV_TAKE(work, int64_t, g->n + 1);
    CLV_TRY(work->status);
    CLV_TRY(for_all(g, NULL));
    count_lone(g);
    find_starts(g, start);
    CLV_TRY(clv_data_new_csr(ctx, "knn graph", g->n, g->n, start[g->n], out));
    memcpy((*out)->start, start, (size_t)(g->n + 1) * sizeof *start);
    g->named = CLV_TAKE(work, int64_t, g->first[g->n]);
    g->row = CLV_TAKE(work, clv_neighbor, g->threads * g->longest);
    CLV_TRY(work->status);
    list_lone(g, start);
    return for_all(g, *out);
}

static clv_status make_graph(clv_kept *work, const clv_panels *panels, const clv_affinity_options *options, int threads,
                             clv_knn *out) {
    int64_t n = panels->n, k = clv_knn_neighbors(options->kind, options->neighbors, n);
    bool scaled = options->kind == CLV_AFFINITY_LOCAL_KNN;
    clv_scales scales = {0};
    clv_neighbor *found = CLV_TAKE(work, clv_neighbor, n * k);
    out->order = CLV_NEW(work->ctx, int64_t, n);
    CLV_TRY(out->order ? work->status : CLV_ENOMEM);
    CLV_TRY(clv_find_nearest(work->ctx, panels, options, k, threads, found, out->order, &out->recall));
    clv_status status = scaled ? clv_scales_from(work->ctx, panels, found, k, options->neighbors, &scales) : CLV_OK;
    assembly g = {.ctx = work->ctx,
                  .found = found,
                  .order = out->order,
                  .n = n,
                  .k = k,
                  .threads = threads,
                  .gamma = scaled && isnan(options->gamma) ? 1 : options->gamma,
                  .inverse = scales.inverse,
                  .self = !options->zero_diagonal};
    status = status < 0 ? status : assemble(work, &g, &out->graph);
    clv_scales_free(work->ctx, &scales);
    return status;
}

clv_status clv_knn_graph(clv_context *ctx, const clv_panels *panels, const clv_affinity_options *options, int threads,
                         clv_knn *out) {
    int64_t n = panels->n, entries;
    *out = (clv_knn){0};
    if (!clv_mul(n, clv_knn_neighbors(options->kind, options->neighbors, n), &entries)) {
        return clv_fail(ctx, CLV_ENOMEM, "%lld neighbors of %lld objects are more than can be addressed",
                        (long long)options->neighbors, (long long)n);
    }
    clv_kept work = {.ctx = ctx};
    clv_status status = make_graph(&work, panels, options, threads, out);
    clv_free_kept(&work);
    if (status < 0) {
        clv_free(ctx, out->order);
        out->order = NULL;
    }
    return clv_data_made(status, &out->graph);
}

/* --- from new points to old ones: not symmetric, one list per row --- */

clv_status clv_knn_cross(clv_context *ctx, const clv_panels *fresh, const clv_panels *panels, int64_t neighbors,
                         const clv_knn_weights *weights, int threads, clv_data **out) {
    int64_t entries = fresh->n * neighbors;
    CLV_TRY(clv_data_new_csr(ctx, "similarities", fresh->n, panels->n, entries, out));
    clv_neighbor *found = CLV_NEW(ctx, clv_neighbor, entries);
    clv_status status = found ? clv_nearest_among(ctx, fresh, panels, neighbors, threads, found) : CLV_ENOMEM;
    for (int64_t i = 0; i <= fresh->n; i++) {
        (*out)->start[i] = i * neighbors;
    }
    for (int64_t e = 0; status == CLV_OK && e < entries; e++) {
        (*out)->index[e] = (int32_t)found[e].j;
        double d2 =
            weights->old ? found[e].d2 * (weights->fresh[e / neighbors] * weights->old[found[e].j]) : found[e].d2;
        ((double *)(*out)->values)[e] = weight_of(d2, weights->gamma);
    }
    clv_free(ctx, found);
    return clv_data_made(status, out);
}
