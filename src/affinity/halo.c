/* Products of a graph by ranks, each of which has the entries of vectors that belong to its own objects, and those that
 * its rows touch: its halo. The graph is symmetric, so what others need of a rank are the entries of its border, the
 * objects that have a neighbor elsewhere; where neighbors have numbers that are near each other these are few. Every
 * rank has the graph, and knows all borders without asking.
 *
 * What a rank multiplies lies close together: the entries of its own objects, then those of all borders as they arrive,
 * and its rows have their columns numbered so. Nothing is moved to where it would lie in a whole vector. */
#include "affinity/home.h"

enum { MOST = INT32_MAX / 2 }; /* objects: own ones and borders have numbers of 32 bits */

bool clv_halo_suits(const clv_affinity *a, int64_t block) {
    int64_t blocks = (a->info.n + block - 1) / block;
    return clv_is_shared(a->ctx) && a->home.apply_rows && a->home.view && a->info.sparse &&
           a->info.nonzeros >= CLV_WORTH_RANKS && blocks >= clv_rank_count(a->ctx) && a->info.n <= MOST;
}

/* Whether object i, of the share first .. last - 1, has a neighbor elsewhere; neighbors ascend. */
static bool is_at_border(const clv_matrix *graph, int64_t i, int64_t first, int64_t last) {
    int64_t begin = graph->start[i], end = graph->start[i + 1];
    return end > begin && (graph->index[begin] < first || graph->index[end - 1] >= last);
}

/* The borders of all ranks, one after the other. */
static void find_borders(clv_halo *h, const clv_matrix *graph) {
    int64_t count = 0, last = 0;
    int rank = -1;
    for (int64_t i = 0, first = 0; i < graph->rows; i++) {
        while (i >= last) {
            h->ends[++rank] = count;
            clv_share_objects_of(h->a->ctx, rank, graph->rows, h->block, &first, &last);
        }
        if (is_at_border(graph, i, first, last)) {
            h->border[count++] = i;
        }
        h->ends[rank] = count;
    }
    for (rank++; rank < clv_rank_count(h->a->ctx); rank++) {
        h->ends[rank] = count;
    }
}

/* Own rows, by the numbers of what lies close together; `place` has room for all objects. */
static void number_rows(clv_halo *h, const clv_matrix *graph, int32_t *place) {
    int64_t own = h->last - h->first, begin = graph->start[h->first];
    for (int64_t e = 0; e < h->ends[clv_rank_count(h->a->ctx) - 1]; e++) {
        place[h->border[e]] = (int32_t)(own + e);
    }
    for (int64_t i = h->first; i < h->last; i++) {
        place[i] = (int32_t)(i - h->first);
    }
    for (int64_t i = 0; i <= own; i++) {
        h->start[i] = graph->start[h->first + i] - begin;
    }
    for (int64_t e = 0; e < h->start[own]; e++) {
        h->index[e] = place[graph->index[begin + e]];
    }
    h->rows = *graph;
    h->rows.rows = own;
    h->rows.start = h->start;
    h->rows.index = h->index;
    h->rows.values = (const double *)graph->values + begin;
}

clv_status clv_halo_new(const clv_affinity *a, int64_t block, clv_halo *out) {
    clv_context *ctx = a->ctx;
    clv_matrix graph;
    int ranks = clv_rank_count(ctx);
    *out = (clv_halo){.a = a, .block = block, .kept.ctx = ctx};
    clv_share_objects(ctx, a->info.n, block, &out->first, &out->last);
    clv_affinity_view(a, &graph);
    out->border = CLV_TAKE(&out->kept, int64_t, a->info.n);
    out->ends = CLV_TAKE(&out->kept, int64_t, ranks);
    out->counts = CLV_TAKE(&out->kept, int64_t, ranks);
    out->places = CLV_TAKE(&out->kept, int64_t, ranks);
    out->start = CLV_TAKE(&out->kept, int64_t, out->last - out->first + 1);
    out->index = CLV_TAKE(&out->kept, int32_t, graph.start[out->last] - graph.start[out->first]);
    CLV_TRY(out->kept.status);
    find_borders(out, &graph);
    out->close = CLV_TAKE(&out->kept, double, 2 * (out->last - out->first + out->ends[ranks - 1]));
    int32_t *place = CLV_NEW(ctx, int32_t, a->info.n);
    if (!place || out->kept.status < 0) {
        clv_free(ctx, place);
        return CLV_ENOMEM;
    }
    number_rows(out, &graph, place);
    clv_free(ctx, place);
    return CLV_OK;
}

void clv_halo_free(clv_halo *h) {
    clv_free_kept(&h->kept);
    *h = (clv_halo){0};
}

clv_status clv_halo_apply(const clv_halo *h, const double *x, int64_t k, double *y, int threads) {
    clv_context *ctx = h->a->ctx;
    int ranks = clv_rank_count(ctx), me = clv_ranks_of(ctx)->with.rank;
    int64_t n = h->a->info.n, begin = me > 0 ? h->ends[me - 1] : 0;
    double *borders = h->close + (h->last - h->first) * k;
    const double *second = x + (k - 1) * n;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t i = h->first; i < h->last; i++) {
        h->close[(i - h->first) * k] = x[i];
        h->close[(i - h->first) * k + k - 1] = second[i];
    }
    for (int64_t e = begin; e < h->ends[me]; e++) {
        borders[e * k] = x[h->border[e]];
        borders[e * k + k - 1] = second[h->border[e]];
    }
    for (int q = 0; q < ranks; q++) {
        h->places[q] = (q > 0 ? h->ends[q - 1] : 0) * k * (int64_t)sizeof *x;
        h->counts[q] = h->ends[q] * k * (int64_t)sizeof *x - h->places[q];
    }
    CLV_TRY(clv_gather_bytes(ctx, CLV_OK, borders, h->counts, h->places));
    h->a->home.apply_rows(h->a, &h->rows, h->close, k, y + h->first, threads);
    return CLV_OK;
}
