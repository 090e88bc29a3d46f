/* The k-nearest-neighbor graph. Symmetrized by max: i and j are joined when either is among the nearest of the other.
 */
#include "affinity/knn.h"

#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the symmetric graph --- */

static bool is_neighbor(const clv_neighbor *list, int64_t k, int64_t j) {
    const clv_neighbor key = {0, j};
    return bsearch(&key, list, (size_t)k, sizeof *list, clv_by_object) != NULL;
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
static void count_row_sizes(const clv_neighbor *found, int64_t n, int64_t k, bool self, int64_t *start) {
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
static void write_column(graph_writer *w, const clv_neighbor *found, int64_t k, int64_t j, double gamma, bool self,
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
static void write_graph(const clv_neighbor *found, int64_t n, int64_t k, double gamma, bool self, int64_t *first,
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

/* Up to so many differences of two numbers all distances may cost, unless an exact search is asked for: seconds. */
#define MOST_FOR_EXACT 1e11

static bool is_approximate(const clv_panels *panels, const clv_affinity_options *options) {
    double n = (double)panels->n, work = n * n * (double)panels->features;
    bool wanted =
        options->search == CLV_SEARCH_APPROXIMATE || (options->search == CLV_SEARCH_AUTO && work > MOST_FOR_EXACT);
    return wanted && clv_nearest_can_be_approximate(panels->n, options->neighbors);
}

static clv_status find_nearest(clv_context *ctx, const clv_panels *panels, const clv_affinity_options *options,
                               int threads, double *recall, clv_neighbor *found) {
    *recall = NAN;
    return is_approximate(panels, options)
               ? clv_nearest_approximate(ctx, panels, options->neighbors, threads, found, recall)
               : clv_nearest_exact(ctx, panels, options->neighbors, threads, found);
}

static clv_status make_graph(clv_kept *work, const clv_panels *panels, const clv_affinity_options *options, int threads,
                             double *recall, clv_data **out) {
    clv_context *ctx = work->ctx;
    int64_t n = panels->n, k = options->neighbors;
    bool self = !options->zero_diagonal;
    clv_neighbor *found = CLV_TAKE(work, clv_neighbor, n * k);
    CLV_TRY(work->status);
    CLV_TRY(find_nearest(ctx, panels, options, threads, recall, found));
    int64_t *start = CLV_TAKE(work, int64_t, n + 1), *reverse = CLV_TAKE(work, int64_t, n * k);
    CLV_TRY(work->status);
    count_row_sizes(found, n, k, self, start);
    CLV_TRY(clv_data_new_csr(ctx, "knn graph", n, n, start[n], out));
    memcpy((*out)->start, start, (size_t)(n + 1) * sizeof *start);
    int64_t *at = CLV_TAKE(work, int64_t, n);
    CLV_TRY(work->status);
    write_graph(found, n, k, options->gamma, self, start, at, reverse, *out);
    return CLV_OK;
}

clv_status clv_knn_graph(clv_context *ctx, const clv_panels *panels, const clv_affinity_options *options, int threads,
                         double *recall, clv_data **out) {
    int64_t n = panels->n, entries;
    *out = NULL;
    if (!clv_mul(n, options->neighbors, &entries)) {
        return clv_fail(ctx, CLV_ENOMEM, "%lld neighbors of %lld objects are more than can be addressed",
                        (long long)options->neighbors, (long long)n);
    }
    clv_kept work = {.ctx = ctx};
    clv_status status = make_graph(&work, panels, options, threads, recall, out);
    clv_free_kept(&work);
    return clv_data_made(status, out);
}

/* --- from new points to old ones: not symmetric, one list per row --- */

clv_status clv_knn_cross(clv_context *ctx, const clv_panels *fresh, const clv_panels *panels, int64_t neighbors,
                         double gamma, int threads, clv_data **out) {
    int64_t entries = fresh->n * neighbors;
    CLV_TRY(clv_data_new_csr(ctx, "similarities", fresh->n, panels->n, entries, out));
    clv_neighbor *found = CLV_NEW(ctx, clv_neighbor, entries);
    clv_status status = found ? clv_nearest_among(ctx, fresh, panels, neighbors, threads, found) : CLV_ENOMEM;
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
