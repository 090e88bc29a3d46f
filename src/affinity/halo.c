/* Products of a graph by ranks, each of which has the entries of vectors that belong to its own objects, and those that
 * its rows touch: its halo. The graph is symmetric, so what others need of a rank are the entries of its border, the
 * objects that have a neighbor elsewhere; where neighbors have numbers that are near each other these are few. Every
 * rank has the graph, and knows all borders without asking. */
#include "affinity/home.h"

/* Of the objects: from this share on in borders, vectors are gathered where they lie. */
#define MOST_PACKED 0.75

bool clv_halo_suits(const clv_affinity *a, int64_t block) {
    int64_t blocks = (a->info.n + block - 1) / block;
    return clv_is_shared(a->ctx) && a->home.apply_rows && a->home.view && a->info.sparse &&
           a->info.nonzeros >= CLV_WORTH_RANKS && blocks >= clv_rank_count(a->ctx);
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
    h->packs = (double)count < MOST_PACKED * (double)graph->rows;
}

clv_status clv_halo_new(const clv_affinity *a, int64_t block, int64_t width, clv_halo *out) {
    clv_context *ctx = a->ctx;
    clv_matrix graph;
    int ranks = clv_rank_count(ctx);
    *out = (clv_halo){.a = a, .block = block, .width = width, .kept.ctx = ctx};
    clv_share_objects(ctx, a->info.n, block, &out->first, &out->last);
    out->border = CLV_TAKE(&out->kept, int64_t, a->info.n);
    out->ends = CLV_TAKE(&out->kept, int64_t, ranks);
    out->counts = CLV_TAKE(&out->kept, int64_t, ranks);
    out->places = CLV_TAKE(&out->kept, int64_t, ranks);
    CLV_TRY(out->kept.status);
    clv_affinity_view(a, &graph);
    find_borders(out, &graph);
    out->packed = out->packs ? CLV_TAKE(&out->kept, double, width * out->ends[ranks - 1]) : NULL;
    return out->kept.status;
}

void clv_halo_free(clv_halo *h) {
    clv_free_kept(&h->kept);
    *h = (clv_halo){0};
}

clv_status clv_halo_apply(const clv_halo *h, const double *x, int64_t k, double *y, int threads) {
    return h->a->home.apply_rows(h->a, x, k, h->first, h->last, y, threads);
}

/* Between k vectors and the place of a rank's border, entry by entry. */
static void pack(const clv_halo *h, int rank, double *x, int64_t k, bool back) {
    int64_t begin = rank > 0 ? h->ends[rank - 1] : 0, n = h->a->info.n;
    for (int64_t e = begin; e < h->ends[rank]; e++) {
        for (int64_t c = 0; c < k; c++) {
            double *there = x + c * n + h->border[e], *here = h->packed + e * k + c;
            *(back ? there : here) = *(back ? here : there);
        }
    }
}

clv_status clv_halo_exchange(const clv_halo *h, double *x, int64_t k) {
    clv_context *ctx = h->a->ctx;
    int ranks = clv_rank_count(ctx), me = clv_ranks_of(ctx)->with.rank;
    if (!h->packs) {
        return clv_gather_columns(ctx, CLV_OK, x, k, h->a->info.n, h->block, 0, h->a->info.n);
    }
    for (int q = 0; q < ranks; q++) {
        int64_t begin = q > 0 ? h->ends[q - 1] : 0;
        h->places[q] = begin * k * (int64_t)sizeof *x;
        h->counts[q] = (h->ends[q] - begin) * k * (int64_t)sizeof *x;
    }
    pack(h, me, x, k, false);
    CLV_TRY(clv_gather_bytes(ctx, CLV_OK, h->packed, h->counts, h->places));
    for (int q = 0; q < ranks; q++) {
        if (q != me) {
            pack(h, q, x, k, true);
        }
    }
    return CLV_OK;
}
