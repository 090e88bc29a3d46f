/* Exact nearest neighbors: distances in tiles, a heap of the k nearest an object.
 *
 * The points are put in an order in which near ones are near each other (order.c), so that a panel of CLV_TILE of them
 * lies in a small box. A panel goes through the others from its own place outwards, and passes over those whose box is
 * further from its own than all its objects are from the furthest neighbor that they have so far. On few columns, or
 * on clusters that lie apart, little of the n^2 distances remains; where nothing can be passed over, looking at the
 * boxes costs 1 in CLV_TILE^2 of the rest. */
#include "affinity/knn.h"

#include "base/ranks.h"

#include "kernels/kernels.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT = 64 };
/* Squared distances that are no further apart than this share may count as equal (clv_further). */
#define EQUALLY_FAR 1e-9

/* Put `next` in place of the furthest of k, at the top of the heap. */
static void replace_furthest(clv_neighbor *heap, int64_t k, clv_neighbor next) {
    int64_t at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child + 1 < k && clv_further(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (child >= k || !clv_further(&heap[child], &next)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = next;
}

static int by_object(const void *left, const void *right) {
    const clv_neighbor *l = left, *r = right;
    return l->j < r->j ? -1 : l->j > r->j;
}

/* Lists are short, as a rule. */
void clv_sort_by_object(clv_neighbor *list, int64_t count) {
    if (count > SHORT) {
        qsort(list, (size_t)count, sizeof *list, by_object);
        return;
    }
    for (int64_t e = 1; e < count; e++) {
        clv_neighbor next = list[e];
        int64_t at = e;
        for (; at > 0 && list[at - 1].j > next.j; at--) {
            list[at] = list[at - 1];
        }
        list[at] = next;
    }
}

typedef struct search {
    clv_context *ctx;
    const clv_panels *from, *among;
    int64_t k;
    clv_neighbor *found;
    /* Of a search among the points themselves, in an order of their own; else NULL. */
    int64_t *order;
    double *box;   /* 2 x features for each panel: the least and the largest of each column */
    bool by_place; /* `found` is by places in that order */
} search;

static int64_t object_at(const search *s, int64_t place) {
    return s->order ? s->order[place] : place;
}

/* Offer the objects of panel bj to object i. */
static void offer(const search *s, clv_neighbor *heap, int64_t i, int64_t bj, const double *d2) {
    int64_t size = clv_panel_size(s->among, bj);
    double bar = heap[0].d2 * (1 + EQUALLY_FAR);
    if (clv_kernels->smallest(d2, size) > bar) {
        return;
    }
    for (int64_t c = 0; c < size; c++) {
        if (d2[c] <= bar) {
            clv_neighbor next = {d2[c], object_at(s, bj * CLV_TILE + c)};
            if (next.j != i && clv_further(&heap[0], &next)) {
                replace_furthest(heap, s->k, next);
                bar = heap[0].d2 * (1 + EQUALLY_FAR);
            }
        }
    }
}

/* --- boxes --- */

static void find_box(const clv_panels *panels, int64_t b, double *box) {
    int64_t p = panels->features, size = clv_panel_size(panels, b);
    for (int64_t f = 0; f < p; f++) {
        const double *line = panels->values + (b * p + f) * CLV_TILE;
        box[f] = clv_kernels->smallest(line, size);
        box[p + f] = clv_kernels->largest(line, size);
    }
}

/* No points of the two boxes have a lower squared distance. */
static double box_distance(const double *left, const double *right, int64_t p) {
    double sum = 0;
    for (int64_t f = 0; f < p; f++) {
        double gap = fmax(fmax(left[f] - right[p + f], right[f] - left[p + f]), 0);
        sum += gap * gap;
    }
    return sum * (1 - EQUALLY_FAR);
}

static bool passes_over(const search *s, int64_t bi, int64_t bj, double furthest) {
    int64_t size = 2 * s->among->features;
    return s->box && box_distance(s->box + bi * size, s->box + bj * size, s->among->features) > furthest;
}

/* --- the search --- */

/* The step-th panel from bi on: to both sides in turn, and around the ends. */
static int64_t panel_at(const search *s, int64_t bi, int64_t step) {
    int64_t count = s->among->count, away = step % 2 == 1 ? (step + 1) / 2 : count - step / 2;
    return s->box ? (bi + away) % count : step;
}

static double furthest_of(const search *s, const clv_neighbor *heaps, int64_t rows) {
    double furthest = 0;
    for (int64_t r = 0; r < rows; r++) {
        furthest = fmax(furthest, heaps[r * s->k].d2);
    }
    return furthest;
}

/* The nearest of each object of panel bi, written to where they belong. */
static void search_panel(const search *s, int64_t bi, clv_neighbor *heaps) {
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    int64_t rows = clv_panel_size(s->from, bi), k = s->k;
    double furthest = HUGE_VAL;
    for (int64_t e = 0; e < rows * k; e++) {
        heaps[e] = CLV_NO_NEIGHBOR;
    }
    for (int64_t step = 0; step < s->among->count; step++) {
        int64_t bj = panel_at(s, bi, step);
        if (passes_over(s, bi, bj, furthest)) {
            continue;
        }
        clv_distance_cross_tile(s->from, bi, s->among, bj, tile);
        for (int64_t r = 0; r < rows; r++) {
            int64_t self = s->from == s->among ? object_at(s, bi * CLV_TILE + r) : -1;
            offer(s, heaps + r * k, self, bj, tile + r * CLV_TILE);
        }
        furthest = furthest_of(s, heaps, rows);
    }
    for (int64_t r = 0; r < rows; r++) {
        clv_sort_by_object(heaps + r * k, k);
        int64_t place = bi * CLV_TILE + r;
        memcpy(s->found + (s->by_place ? place : object_at(s, place)) * k, heaps + r * k, (size_t)k * sizeof *heaps);
    }
}

static clv_status search_all(const search *s, int threads) {
    clv_neighbor *heaps = CLV_NEW(s->ctx, clv_neighbor, threads * CLV_TILE * s->k);
    atomic_bool stopped = false;
    int64_t first = 0, last = s->from->count;
    if (!heaps) {
        return CLV_ENOMEM;
    }
    if (s->by_place) {
        clv_share(s->ctx, s->from->count, &first, &last);
    }
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic)
    for (int64_t bi = first; bi < last; bi++) {
        if (clv_goes_on(s->ctx, &stopped, clv_panel_work(s->among))) {
            search_panel(s, bi, heaps + omp_get_thread_num() * CLV_TILE * s->k);
        }
    }
    clv_free(s->ctx, heaps);
    return stopped ? clv_stop_failure(s->ctx, "looking for the nearest neighbors") : CLV_OK;
}

clv_status clv_nearest_among(clv_context *ctx, const clv_panels *fresh, const clv_panels *among, int64_t k, int threads,
                             clv_neighbor *found) {
    search s = {.ctx = ctx, .from = fresh, .among = among, .k = k, .found = found};
    return search_all(&s, threads);
}

/* The order of the points, from a copy of them that lives no longer than it takes. */
static clv_status find_order(clv_context *ctx, const clv_panels *panels, int threads, int64_t *order) {
    clv_rows rows;
    CLV_TRY(clv_rows_new(ctx, panels, threads, &rows));
    clv_status status = clv_tree_order(ctx, &rows, CLV_TILE, 0, threads, order);
    clv_free(ctx, rows.values);
    return status;
}

/* Ranks search for the panels of their shares, and gather the lists. */
static clv_status search_shares(search *s, int threads) {
    int64_t n = s->from->n, k = s->k;
    clv_neighbor *found = s->found, *by_place = CLV_NEW(s->ctx, clv_neighbor, n * k);
    if (!by_place) {
        return CLV_ENOMEM;
    }
    s->found = by_place;
    s->by_place = true;
    clv_own_clock_begin(s->ctx);
    clv_status status = search_all(s, threads);
    clv_own_clock_end(s->ctx);
    status = clv_gather_items(s->ctx, status, by_place, (size_t)k * sizeof *by_place, n, CLV_TILE);
    for (int64_t place = 0; status == CLV_OK && place < n; place++) {
        memcpy(found + s->order[place] * k, by_place + place * k, (size_t)k * sizeof *found);
    }
    clv_free(s->ctx, by_place);
    return status;
}

static clv_status search_in_order(search *s, const clv_panels *panels, clv_panels *ordered, int threads) {
    CLV_TRY(find_order(s->ctx, panels, threads, s->order));
    CLV_TRY(clv_panels_gather(panels, s->order, panels->n, threads, ordered));
    CLV_TRY(clv_search_on(s->ctx, panels->n * panels->features));
    for (int64_t b = 0; b < ordered->count; b++) {
        find_box(ordered, b, s->box + 2 * b * ordered->features);
    }
    s->from = s->among = ordered;
    return clv_is_shared(s->ctx) ? search_shares(s, threads) : search_all(s, threads);
}

clv_status clv_nearest_exact(clv_context *ctx, const clv_panels *panels, int64_t k, int threads, clv_neighbor *found,
                             int64_t *order) {
    search s = {.ctx = ctx, .k = k, .found = found, .order = order};
    clv_panels ordered = {.ctx = ctx};
    s.box = CLV_NEW(ctx, double, 2 * panels->count * panels->features);
    clv_status status = s.box ? search_in_order(&s, panels, &ordered, threads) : CLV_ENOMEM;
    clv_panels_free(&ordered);
    clv_free(ctx, s.box);
    return status;
}
