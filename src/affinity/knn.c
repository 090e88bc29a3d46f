/* The k-nearest-neighbor graph, exact: all n^2 distances in tiles, a heap of the k nearest per object, O(n k) memory.
 * Ties go to the object with the smaller number. Symmetrized by max: i and j are joined when either is among the
 * nearest of the other. */
#include "affinity/kinds.h"

#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct neighbor {
    double d2;
    int64_t j;
} neighbor;

static bool further(const neighbor *l, const neighbor *r) {
    return l->d2 > r->d2 || (l->d2 == r->d2 && l->j > r->j);
}

/* Put `next` in place of the furthest, at the top of the heap. */
static void replace_furthest(neighbor *heap, int64_t k, neighbor next) {
    int64_t at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child + 1 < k && further(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (child >= k || !further(&heap[child], &next)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = next;
}

/* Offer the objects of panel bj to object i. */
static void offer(neighbor *heap, int64_t k, int64_t i, int64_t bj, int64_t size, const double *d2) {
    if (clv_kernels->smallest(d2, size) > heap[0].d2) {
        return;
    }
    for (int64_t c = 0; c < size; c++) {
        neighbor next = {d2[c], bj * CLV_TILE + c};
        if (next.j != i && further(&heap[0], &next)) {
            replace_furthest(heap, k, next);
        }
    }
}

static int by_object(const void *left, const void *right) {
    const neighbor *l = left, *r = right;
    return l->j < r->j ? -1 : l->j > r->j;
}

/* The k nearest objects of `among` to each object of panel bi of `from`; nobody is a neighbor of itself. */
static void search_panel(const clv_panels *from, const clv_panels *among, int64_t bi, int64_t k, neighbor *heaps) {
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    int64_t rows = clv_panel_size(from, bi);
    for (int64_t e = 0; e < rows * k; e++) {
        heaps[e] = (neighbor){HUGE_VAL, INT64_MAX};
    }
    for (int64_t bj = 0; bj < among->count; bj++) {
        clv_distance_cross_tile(from, bi, among, bj, tile);
        for (int64_t r = 0; r < rows; r++) {
            int64_t self = from == among ? bi * CLV_TILE + r : -1;
            offer(heaps + r * k, k, self, bj, clv_panel_size(among, bj), tile + r * CLV_TILE);
        }
    }
    for (int64_t r = 0; r < rows; r++) {
        qsort(heaps + r * k, (size_t)k, sizeof *heaps, by_object);
    }
}

static clv_status search_all(clv_context *ctx, const clv_panels *from, const clv_panels *among, int64_t k, int threads,
                             neighbor *found) {
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic)
    for (int64_t bi = 0; bi < from->count; bi++) {
        if (clv_goes_on(ctx, &stopped, clv_panel_work(among))) {
            search_panel(from, among, bi, k, found + bi * CLV_TILE * k);
        }
    }
    return stopped ? clv_stop_failure(ctx, "looking for the nearest neighbors") : CLV_OK;
}

/* --- the symmetric graph --- */

static bool is_neighbor(const neighbor *list, int64_t k, int64_t j) {
    const neighbor key = {0, j};
    return bsearch(&key, list, (size_t)k, sizeof *list, by_object) != NULL;
}

static double weight_of(double d2, double gamma) {
    double weight = -gamma * d2;
    if (isnan(gamma)) {
        return 1;
    }
    clv_kernels->exp_nonpositive(&weight, 1);
    return weight;
}

/* Edges that a row gets from others: those which have it as a neighbor, but not the other way round. */
static void count_row_sizes(const neighbor *found, int64_t n, int64_t k, bool self, int64_t *start) {
    memset(start, 0, (size_t)(n + 1) * sizeof *start);
    for (int64_t i = 0; i < n; i++) {
        start[i + 1] += k + self;
        for (int64_t e = 0; e < k; e++) {
            int64_t j = found[i * k + e].j;
            start[j + 1] += !is_neighbor(found + j * k, k, i);
        }
    }
    for (int64_t i = 0; i < n; i++) {
        start[i + 1] += start[i];
    }
}

typedef struct graph_writer {
    int64_t *at;
    int32_t *index;
    double *values;
} graph_writer;

static void put(graph_writer *w, int64_t i, int64_t j, double weight) {
    w->index[w->at[i]] = (int32_t)j;
    w->values[w->at[i]++] = weight;
}

/* Column by column, so that every row comes out sorted: column j goes to the rows that j is joined with. */
static void write_column(graph_writer *w, const neighbor *found, int64_t k, int64_t j, double gamma, bool self,
                         const int64_t *reverse, int64_t reverse_count) {
    for (int64_t e = 0; e < k; e++) {
        put(w, found[j * k + e].j, j, weight_of(found[j * k + e].d2, gamma));
    }
    for (int64_t e = 0; e < reverse_count; e++) {
        int64_t i = reverse[e] / k; /* an entry of i's list that names j */
        if (!is_neighbor(found + j * k, k, i)) {
            put(w, i, j, weight_of(found[reverse[e]].d2, gamma));
        }
    }
    if (self) {
        put(w, j, j, 1);
    }
}

/* `first` (n + 1), `at` (n) and `reverse` (n k) are work. */
static void write_graph(const neighbor *found, int64_t n, int64_t k, double gamma, bool self, int64_t *first,
                        int64_t *at, int64_t *reverse, clv_data *graph) {
    memset(first, 0, (size_t)(n + 1) * sizeof *first);
    for (int64_t e = 0; e < n * k; e++) {
        first[found[e].j + 1]++;
    }
    for (int64_t i = 0; i < n; i++) {
        first[i + 1] += first[i];
        at[i] = first[i];
    }
    for (int64_t e = 0; e < n * k; e++) {
        reverse[at[found[e].j]++] = e;
    }
    memcpy(at, graph->start, (size_t)n * sizeof *at);
    graph_writer writer = {at, graph->index, graph->values};
    for (int64_t j = 0; j < n; j++) {
        write_column(&writer, found, k, j, gamma, self, reverse + first[j], first[j + 1] - first[j]);
    }
}

static clv_status make_graph(clv_kept *work, const clv_panels *panels, int64_t k, double gamma, bool self, int threads,
                             clv_data **out) {
    clv_context *ctx = work->ctx;
    int64_t n = panels->n;
    neighbor *found = clv_keep(work, CLV_NEW(ctx, neighbor, n * k));
    int64_t *start = clv_keep(work, CLV_NEW(ctx, int64_t, n + 1));
    int64_t *reverse = clv_keep(work, CLV_NEW(ctx, int64_t, n * k));
    CLV_TRY(work->status);
    CLV_TRY(search_all(ctx, panels, panels, k, threads, found));
    count_row_sizes(found, n, k, self, start);
    CLV_TRY(clv_data_new_csr(ctx, "knn graph", n, n, start[n], out));
    memcpy((*out)->start, start, (size_t)(n + 1) * sizeof *start);
    int64_t *at = clv_keep(work, CLV_NEW(ctx, int64_t, n));
    CLV_TRY(work->status);
    write_graph(found, n, k, gamma, self, start, at, reverse, *out);
    return CLV_OK;
}

clv_status clv_knn_graph(clv_context *ctx, const clv_panels *panels, int64_t neighbors, double gamma, bool self,
                         int threads, clv_data **out) {
    int64_t n = panels->n, entries;
    *out = NULL;
    if (!clv_mul(n, neighbors, &entries)) {
        return clv_fail(ctx, CLV_ENOMEM, "%lld neighbors of %lld objects are more than can be addressed",
                        (long long)neighbors, (long long)n);
    }
    clv_kept work = {.ctx = ctx};
    clv_status status = make_graph(&work, panels, neighbors, gamma, self, threads, out);
    clv_free_kept(&work);
    return clv_data_made(status, out);
}

/* --- from new points to old ones: not symmetric, one list per row --- */

clv_status clv_knn_cross(clv_context *ctx, const clv_panels *fresh, const clv_panels *panels, int64_t neighbors,
                         double gamma, int threads, clv_data **out) {
    int64_t entries = fresh->n * neighbors;
    CLV_TRY(clv_data_new_csr(ctx, "similarities", fresh->n, panels->n, entries, out));
    neighbor *found = CLV_NEW(ctx, neighbor, entries);
    clv_status status = found ? search_all(ctx, fresh, panels, neighbors, threads, found) : CLV_ENOMEM;
    for (int64_t i = 0; i <= fresh->n; i++) {
        (*out)->start[i] = i * neighbors;
    }
    for (int64_t e = 0; status == CLV_OK && e < entries; e++) {
        (*out)->index[e] = (int32_t)found[e].j;
        ((double *)(*out)->values)[e] = weight_of(found[e].d2, gamma);
    }
    clv_free(ctx, found);
    return clv_data_made(status, out);
}
