/* Approximate nearest neighbors: a forest of random trees, then descent along neighbors.
 *
 * Each tree (order.c; Dasgupta and Freund 2008) cuts the points into leaves of LEAF, in which all distances are
 * computed, in tiles. Then the neighbors of neighbors are looked at (Dong, Moses and Li 2011), until few lists change:
 * if u was a neighbor of i, and v of u, v is offered to i, unless that was done before.
 *
 * An object changes only its own list, by the lists as they were before the round, and is in one leaf of a tree: the
 * same bits on any number of threads. The points are renumbered by the first tree, so that neighbors are near each
 * other in memory. Cost: TREES n LEAF distances, and in the first round of the descent some n k^2. What it found is
 * compared with the exact neighbors of SAMPLE objects: the recall. */
#include "affinity/knn.h"

#include "base/ranks.h"

#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAF = 8 * CLV_TILE,
    TREES = 4,
    LEAST_WIDTH = 12,   /* of a list: shorter ones lead nowhere */
    MOST_FOLLOWED = 20, /* neighbors of an object whose neighbors are looked at, and as many of each */
    SEEN = 2048,        /* slots for these: four times as many as there are, or more */
    ROUNDS = 6,
    BLOCK = 256, /* objects that a thread takes at a time */
    SAMPLE = 256,
    SEED = 20, /* of the first tree; not 0 */
};
/* A round that changes no more than this share of the lists' entries was the last. */
#define FEW_CHANGES 0.002

typedef struct forest {
    clv_context *ctx;
    int64_t n, k, width, followed; /* width: of the lists */
    int threads;
    clv_panels panels;    /* in the order of the first tree */
    clv_rows rows;        /* the same, one point after the other */
    clv_neighbor *found;  /* n x width, by the numbers in that order, the nearest first */
    int32_t *list, *last; /* n x followed: the nearest before this round, and before the last */
    uint8_t *fresh;       /* n: how many in the list were not in the last; they come first in it */
} forest;

static bool holds(const clv_neighbor *list, int64_t k, int64_t j) {
    for (int64_t e = 0; e < k; e++) {
        if (list[e].j == j) {
            return true;
        }
    }
    return false;
}

/* To a list of k, the nearest first; whether it was taken. */
static bool offer(clv_neighbor *list, int64_t k, double d2, int64_t j) {
    clv_neighbor next = {d2, j};
    int64_t at = k - 1;
    if (!clv_further(&list[at], &next) || holds(list, k, j)) {
        return false;
    }
    for (; at > 0 && clv_further(&list[at - 1], &next); at--) {
        list[at] = list[at - 1];
    }
    list[at] = next;
    return true;
}

/* --- trees --- */

/* All pairs in a leaf of panels first..last - 1. */
static void search_leaf(forest *f, const clv_panels *panels, const int64_t *order, int64_t first, int64_t last) {
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    for (int64_t bi = first; bi < last; bi++) {
        for (int64_t bj = first; bj < last; bj++) {
            const int64_t *others = order + bj * CLV_TILE;
            int64_t size = clv_panel_size(panels, bj);
            clv_distance_tile(panels, bi, bj, tile);
            for (int64_t r = 0; r < clv_panel_size(panels, bi); r++) {
                int64_t i = order[bi * CLV_TILE + r];
                clv_neighbor *list = f->found + i * f->width, *furthest = list + f->width - 1;
                const double *d2 = tile + r * CLV_TILE;
                if (clv_kernels->smallest(d2, size) > furthest->d2) {
                    continue;
                }
                for (int64_t c = 0; c < size; c++) {
                    if (d2[c] <= furthest->d2 && others[c] != i) {
                        offer(list, f->width, d2[c], others[c]);
                    }
                }
            }
        }
    }
}

static clv_status search_leaves(forest *f, const clv_panels *panels, const int64_t *order) {
    int64_t each = LEAF / CLV_TILE, leaves = panels->n / LEAF;
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(clv_team(f->threads)) schedule(dynamic)
    for (int64_t b = 0; b < leaves; b++) {
        int64_t first = b * each, last = b + 1 < leaves ? first + each : panels->count; /* with what is left over */
        if (clv_goes_on(f->ctx, &stopped, each * each * clv_tile_work(panels))) {
            search_leaf(f, panels, order, first, last);
        }
    }
    return stopped ? clv_stop_failure(f->ctx, "looking for the nearest neighbors") : CLV_OK;
}

/* `order` has room for n. */
static clv_status search_trees(forest *f, int64_t *order) {
    for (int64_t i = 0; i < f->n; i++) {
        order[i] = i;
    }
    CLV_TRY(search_leaves(f, &f->panels, order));
    for (uint64_t t = 1; t < TREES; t++) {
        clv_panels panels = {.ctx = f->ctx};
        CLV_TRY(clv_tree_order(f->ctx, &f->rows, LEAF, SEED + t, f->threads, order));
        clv_status status = clv_panels_gather(&f->panels, order, f->n, f->threads, &panels);
        if (status == CLV_OK) {
            status = search_leaves(f, &panels, order);
        }
        clv_panels_free(&panels);
        CLV_TRY(status);
    }
    return CLV_OK;
}

/* --- descent --- */

/* The list of object i as it is, for the next round; what was not in the last is fresh. */
static void note_list(forest *f, int64_t i, bool first) {
    int32_t *list = f->list + i * f->followed;
    const int32_t *last = f->last + i * f->followed;
    int64_t fresh = 0, from = f->followed;
    for (int64_t e = 0; e < f->followed; e++) {
        bool known = false;
        int32_t j = (int32_t)f->found[i * f->width + e].j;
        for (int64_t o = 0; o < f->followed && !first; o++) {
            known = known || last[o] == j;
        }
        list[known ? --from : fresh++] = j;
    }
    f->fresh[i] = (uint8_t)fresh;
}

static uint32_t slot_of(int32_t v) {
    return (uint32_t)v * 2654435761u >> 21;
}

/* Whether v is new to a table of SEEN slots, which it then is not. */
static bool is_new(int32_t *seen, int32_t v) {
    uint32_t at = slot_of(v);
    for (; seen[at] >= 0; at = (at + 1) % SEEN) {
        if (seen[at] == v) {
            return false;
        }
    }
    seen[at] = v;
    return true;
}

/* Lists that will be looked at for object i, on their way into the cache. */
static void ask_for_lists(const forest *f, int64_t i) {
    for (int64_t a = 0; a < f->followed && i < f->n; a++) {
        __builtin_prefetch(f->list + f->list[i * f->followed + a] * f->followed);
    }
}

/* Neighbors of neighbors of object i that it was not offered before, at most MOST_FOLLOWED^2: how many. Their points
 * are on their way into the cache. */
static int64_t find_candidates(const forest *f, int64_t i, int32_t *out) {
    int32_t seen[SEEN];
    int64_t count = 0, m = f->followed;
    ask_for_lists(f, i + 1);
    memset(seen, -1, sizeof seen);
    seen[slot_of((int32_t)i)] = (int32_t)i;
    for (int64_t a = 0; a < m; a++) {
        int32_t u = f->list[i * m + a];
        int64_t news = a < f->fresh[i] ? m : f->fresh[u];
        for (int64_t b = 0; b < news; b++) {
            int32_t v = f->list[u * m + b];
            if (is_new(seen, v)) {
                __builtin_prefetch(f->rows.values + v * f->rows.stride);
                out[count++] = v;
            }
        }
    }
    return count;
}

/* Offers the neighbors of neighbors; returns how many were taken. */
static int64_t descend_from(forest *f, int64_t i) {
    int32_t candidate[MOST_FOLLOWED * MOST_FOLLOWED];
    double d2[MOST_FOLLOWED * MOST_FOLLOWED];
    int64_t taken = 0, stride = f->rows.stride, count = find_candidates(f, i, candidate);
    clv_neighbor *list = f->found + i * f->width, *furthest = list + f->width - 1;
    clv_kernels->row_distances(f->rows.values + i * stride, f->rows.values, stride, candidate, count, d2);
    for (int64_t t = 0; t < count; t++) {
        if (d2[t] <= furthest->d2) {
            taken += offer(list, f->width, d2[t], candidate[t]);
        }
    }
    return taken;
}

/* Ranks have gone through the blocks of their shares: all lists, and how many were taken by all. */
static clv_status gather_round(forest *f, bool stopped, int64_t *taken) {
    int ranks = clv_rank_count(f->ctx);
    if (ranks == 1) {
        return CLV_OK;
    }
    int64_t *all = CLV_NEW0(f->ctx, int64_t, ranks);
    clv_status status = !all      ? CLV_ENOMEM
                        : stopped ? clv_stop_failure(f->ctx, "looking for the nearest neighbors")
                                  : CLV_OK;
    status = clv_gather_items(f->ctx, status, f->found, (size_t)f->width * sizeof *f->found, f->n, BLOCK);
    if (status == CLV_OK) {
        all[clv_ranks_of(f->ctx)->with.rank] = *taken;
        status = clv_gather_items(f->ctx, CLV_OK, all, sizeof *all, ranks, 1);
    }
    *taken = 0;
    for (int q = 0; status == CLV_OK && q < ranks; q++) {
        *taken += all[q];
    }
    clv_free(f->ctx, all);
    return status;
}

static clv_status descend(forest *f) {
    int64_t first, last, taken = INT64_MAX;
    atomic_bool stopped = false;
    clv_share(f->ctx, (f->n + BLOCK - 1) / BLOCK, &first, &last);
    for (int round = 0; round < ROUNDS && !stopped && (double)taken > FEW_CHANGES * (double)(f->n * f->k); round++) {
        int32_t *held = f->last;
        f->last = f->list;
        f->list = held;
#pragma omp parallel for num_threads(clv_team(f->threads)) schedule(static)
        for (int64_t i = 0; i < f->n; i++) {
            note_list(f, i, round == 0);
        }
        taken = 0;
        clv_own_clock_begin(f->ctx);
#pragma omp parallel for num_threads(clv_team(f->threads)) schedule(dynamic) reduction(+ : taken)
        for (int64_t b = first; b < last; b++) {
            int64_t end = (b + 1) * BLOCK < f->n ? (b + 1) * BLOCK : f->n;
            bool goes_on = clv_goes_on(f->ctx, &stopped, BLOCK * f->followed * f->followed * f->rows.features);
            for (int64_t i = b * BLOCK; i < end && goes_on; i++) {
                taken += descend_from(f, i);
            }
        }
        clv_own_clock_end(f->ctx);
        CLV_TRY(gather_round(f, stopped, &taken));
    }
    return stopped ? clv_stop_failure(f->ctx, "looking for the nearest neighbors") : CLV_OK;
}

/* --- what was found --- */

static void hand_over_one(const forest *f, const int64_t *order, int64_t i, clv_neighbor *found) {
    const clv_neighbor *list = f->found + i * f->width;
    clv_neighbor *out = found + order[i] * f->k;
    for (int64_t e = 0; e < f->k; e++) {
        out[e] = (clv_neighbor){list[e].d2, order[list[e].j]};
    }
    clv_sort_by_object(out, f->k);
}

/* By the old numbers: `order` is that of the first tree. */
static clv_status hand_over(const forest *f, const int64_t *order, clv_neighbor *found) {
    enum { SOME = 4096 };
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(clv_team(f->threads)) schedule(static)
    for (int64_t first = 0; first < f->n; first += SOME) {
        int64_t end = first + SOME < f->n ? first + SOME : f->n;
        bool on = clv_goes_on(f->ctx, &stopped, (end - first) * f->width);
        for (int64_t i = first; on && i < end; i++) {
            hand_over_one(f, order, i, found);
        }
    }
    return stopped ? clv_stop_failure(f->ctx, "looking for the nearest neighbors") : CLV_OK;
}

static int by_distance(const void *left, const void *right) {
    const clv_neighbor *l = left, *r = right;
    return clv_further(l, r) ? 1 : clv_further(r, l) ? -1 : 0;
}

/* The k-th of the exact neighbors of object i, of which there are k + 1, itself perhaps among them. */
static double exact_reach(clv_neighbor *exact, int64_t k, int64_t i) {
    qsort(exact, (size_t)k + 1, sizeof *exact, by_distance);
    bool itself = false;
    for (int64_t e = 0; e <= k; e++) {
        itself = itself || exact[e].j == i;
    }
    return exact[itself ? k : k - 1].d2;
}

/* The share of the exact neighbors of some objects that `found` has; others at the same distance are as good. */
static clv_status measure_recall(clv_context *ctx, const clv_panels *panels, int64_t k, int threads,
                                 const clv_neighbor *found, double *recall) {
    int64_t count = panels->n < SAMPLE ? panels->n : SAMPLE, hits = 0;
    int64_t sample[SAMPLE];
    clv_panels chosen;
    clv_rng rng = clv_rng_stream(SEED, 1);
    for (int64_t m = 0; m < count; m++) {
        sample[m] = count == panels->n ? m : clv_rng_below(&rng, panels->n);
    }
    CLV_TRY(clv_panels_gather(panels, sample, count, 1, &chosen));
    clv_neighbor *exact = CLV_NEW(ctx, clv_neighbor, count * (k + 1));
    clv_status status = exact ? clv_nearest_among(ctx, &chosen, panels, k + 1, threads, exact) : CLV_ENOMEM;
    for (int64_t m = 0; m < count && status == CLV_OK; m++) {
        double reach = exact_reach(exact + m * (k + 1), k, sample[m]) * (1 + 1e-12);
        for (int64_t e = 0; e < k; e++) {
            hits += found[sample[m] * k + e].d2 <= reach;
        }
    }
    *recall = (double)hits / (double)(count * k);
    clv_free(ctx, exact);
    clv_panels_free(&chosen);
    return status;
}

/* Touched here for the first time, which for many neighbors takes a while. */
static clv_status clear(forest *f) {
    enum { LOT = 1 << 20 };
    int64_t entries = f->n * f->width;
    for (int64_t first = 0; first < entries; first += LOT) {
        int64_t count = entries - first < LOT ? entries - first : LOT;
        for (int64_t e = first; e < first + count; e++) {
            f->found[e] = CLV_NO_NEIGHBOR;
        }
        CLV_TRY(clv_search_on(f->ctx, count));
    }
    return CLV_OK;
}

static clv_status search(forest *f, clv_kept *kept, const clv_panels *panels, int64_t *order, clv_neighbor *found) {
    int64_t *other = CLV_TAKE(kept, int64_t, f->n);
    f->found = CLV_TAKE(kept, clv_neighbor, f->n * f->width);
    f->list = CLV_TAKE(kept, int32_t, f->n * f->followed);
    f->last = CLV_TAKE(kept, int32_t, f->n * f->followed);
    f->fresh = CLV_TAKE(kept, uint8_t, f->n);
    CLV_TRY(kept->status);
    CLV_TRY(clv_search_on(f->ctx, f->n * panels->features)); /* the panels */
    CLV_TRY(clear(f));
    CLV_TRY(clv_rows_new(f->ctx, panels, f->threads, &f->rows));
    CLV_TRY(clv_search_on(f->ctx, f->n * panels->features));
    CLV_TRY(clv_tree_order(f->ctx, &f->rows, LEAF, SEED, f->threads, order));
    clv_free(f->ctx, f->rows.values);
    f->rows.values = NULL;
    CLV_TRY(clv_panels_gather(panels, order, f->n, f->threads, &f->panels));
    CLV_TRY(clv_search_on(f->ctx, f->n * panels->features));
    CLV_TRY(clv_rows_new(f->ctx, &f->panels, f->threads, &f->rows));
    CLV_TRY(search_trees(f, other));
    CLV_TRY(descend(f));
    return hand_over(f, order, found);
}

static int64_t width_of(int64_t k) {
    return k > LEAST_WIDTH ? k : LEAST_WIDTH;
}

static int64_t followed_of(int64_t k) {
    return width_of(k) < MOST_FOLLOWED ? width_of(k) : MOST_FOLLOWED;
}

int64_t clv_forest_bytes(int64_t n, int64_t k) {
    return ((int64_t)sizeof(clv_neighbor) * width_of(k) + 8 * followed_of(k) + 1 + 8) * n;
}

bool clv_nearest_can_be_approximate(int64_t n, int64_t k) {
    return n >= LEAF && k < LEAF; /* so that the trees fill all lists */
}

clv_status clv_nearest_approximate(clv_context *ctx, const clv_panels *panels, int64_t k, int threads,
                                   clv_neighbor *found, int64_t *order, double *recall) {
    forest f = {.ctx = ctx, .n = panels->n, .k = k, .threads = threads, .panels.ctx = ctx};
    clv_kept kept = {.ctx = ctx};
    f.width = width_of(k);
    f.followed = followed_of(k);
    clv_status status = search(&f, &kept, panels, order, found);
    clv_panels_free(&f.panels);
    clv_free(ctx, f.rows.values);
    clv_free_kept(&kept);
    return status == CLV_OK ? measure_recall(ctx, panels, k, threads, found, recall) : status;
}
