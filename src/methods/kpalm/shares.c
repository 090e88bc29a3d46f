/* Ranks that share a run (base/ranks.h): each goes through the chunks of its share, and reads only the points of these;
 * rows that are drawn come from the ranks that have them. Labels, bounds and norms are right for the own objects alone,
 * until they are gathered; sums of chunks are gathered and then added up in their order, as if one process had made
 * them all. */
#include "methods/kpalm/kpalm.h"

#include <string.h>

enum { WORTH_RANKS = 1 << 17 }; /* multiplications of a pass */

/* Where weights of all objects are kept there are few of them, and every rank does all of the work. */
bool clv_kpalm_is_shared(const clv_kpalm_problem *p) {
    double work = (double)p->n * (double)p->p * (double)p->k;
    return p->ctx && clv_is_shared(p->ctx) && !p->keeps_weights && work >= WORTH_RANKS;
}

void clv_kpalm_own_chunks(const clv_kpalm_problem *p, int64_t *first, int64_t *last) {
    *first = 0;
    *last = p->chunks;
    if (p->shared) {
        clv_share(p->ctx, p->chunks, first, last);
    }
}

/* The rows of chunks first .. last - 1. */
static void rows_of(const clv_kpalm_problem *p, int64_t first, int64_t last, int64_t *from, int64_t *to) {
    int64_t unused;
    *from = *to = 0;
    if (first < last) {
        clv_kpalm_chunk(p, first, from, &unused);
        clv_kpalm_chunk(p, last - 1, &unused, to);
    }
}

void clv_kpalm_own_rows(const clv_kpalm_problem *p, int64_t *from, int64_t *to) {
    int64_t first, last;
    clv_kpalm_own_chunks(p, &first, &last);
    rows_of(p, first, last, from, to);
}

int clv_kpalm_owner(const clv_kpalm_problem *p, int64_t chunk) {
    int64_t first, last = 0;
    int rank = -1;
    while (p->shared && last <= chunk) {
        clv_share_of(p->ctx, ++rank, p->chunks, &first, &last);
    }
    return rank < 0 ? 0 : rank;
}

void clv_kpalm_begin_own(const clv_kpalm_problem *p) {
    if (p->shared) {
        clv_own_clock_begin(p->ctx);
    }
}

void clv_kpalm_end_own(const clv_kpalm_problem *p) {
    if (p->shared) {
        clv_own_clock_end(p->ctx);
    }
}

clv_status clv_kpalm_meet(const clv_kpalm_problem *p, clv_status status) {
    return p->shared ? clv_meet(p->ctx, 8, status) : status;
}

clv_status clv_kpalm_gather_chunks(const clv_kpalm_problem *p, clv_status status, void *items, size_t size) {
    return p->shared ? clv_gather_items(p->ctx, status, items, size, p->chunks, 1) : status;
}

clv_status clv_kpalm_gather_objects(const clv_kpalm_problem *p, void *items, size_t size) {
    int ranks = p->shared ? clv_rank_count(p->ctx) : 0;
    int64_t *counts = ranks > 0 ? CLV_NEW(p->ctx, int64_t, 2 * ranks) : NULL;
    if (ranks == 0) {
        return CLV_OK;
    }
    for (int q = 0; counts && q < ranks; q++) {
        int64_t first, last, from, to;
        clv_share_of(p->ctx, q, p->chunks, &first, &last);
        rows_of(p, first, last, &from, &to);
        counts[q] = (to - from) * (int64_t)size;
        counts[ranks + q] = from * (int64_t)size;
    }
    clv_status status =
        counts ? clv_gather_bytes(p->ctx, CLV_OK, items, counts, counts + ranks) : clv_meet(p->ctx, 0, CLV_ENOMEM);
    clv_free(p->ctx, counts);
    return status;
}

clv_status clv_kpalm_gather_lists(const clv_kpalm_problem *p, const int64_t *lengths, void *items, size_t size) {
    int ranks = p->shared ? clv_rank_count(p->ctx) : 0;
    int64_t *counts = ranks > 0 ? CLV_NEW0(p->ctx, int64_t, 2 * ranks) : NULL, at = 0;
    if (ranks == 0) {
        return CLV_OK;
    }
    for (int q = 0; counts && q < ranks; q++) {
        int64_t first, last;
        clv_share_of(p->ctx, q, p->chunks, &first, &last);
        counts[ranks + q] = at;
        for (; first < last; first++) {
            counts[q] += lengths[first] * (int64_t)size;
        }
        at += counts[q];
    }
    clv_status status =
        counts ? clv_gather_bytes(p->ctx, CLV_OK, items, counts, counts + ranks) : clv_meet(p->ctx, 0, CLV_ENOMEM);
    clv_free(p->ctx, counts);
    return status;
}

clv_status clv_kpalm_in_turn(const clv_kpalm_problem *p, clv_kpalm_turn turn, void *user, void *passed, int64_t bytes) {
    int64_t from, to;
    clv_kpalm_own_rows(p, &from, &to);
    if (!p->shared) {
        return turn(user, from, to);
    }
    for (int q = 0; q < clv_rank_count(p->ctx); q++) {
        bool mine = q == clv_ranks_of(p->ctx)->with.rank;
        clv_own_clock_begin(p->ctx);
        clv_status status = mine ? turn(user, from, to) : CLV_OK;
        clv_own_clock_end(p->ctx);
        CLV_TRY(clv_broadcast(p->ctx, status, passed, bytes, q));
    }
    return CLV_OK;
}

/* Rank by rank, in `packed`: the own ones are read, and where[m] is the place of objects[m]. */
static void pack_rows(const clv_kpalm_problem *p, const int64_t *objects, int64_t count, double *packed, int64_t *where,
                      int64_t *counts, int64_t *places) {
    int64_t at = 0, row = p->p * (int64_t)sizeof *packed;
    for (int q = 0; q < clv_rank_count(p->ctx); q++) {
        int64_t first, last, from, to;
        bool mine = q == clv_ranks_of(p->ctx)->with.rank;
        clv_share_of(p->ctx, q, p->chunks, &first, &last);
        rows_of(p, first, last, &from, &to);
        places[q] = at * row;
        for (int64_t m = 0; m < count; m++) {
            if (objects[m] >= from && objects[m] < to) {
                where[m] = at++;
                if (mine) {
                    clv_matrix_row(p->points, objects[m], packed + where[m] * p->p);
                }
            }
        }
        counts[q] = at * row - places[q];
    }
}

clv_status clv_kpalm_rows(const clv_kpalm_problem *p, const int64_t *objects, int64_t count, double *rows) {
    for (int64_t m = 0; m < count && !p->shared; m++) {
        clv_matrix_row(p->points, objects[m], rows + m * p->p);
    }
    if (!p->shared) {
        return CLV_OK;
    }
    clv_kept kept = {.ctx = p->ctx};
    int64_t ranks = clv_rank_count(p->ctx), *where = CLV_TAKE(&kept, int64_t, count + 2 * ranks);
    double *packed = CLV_TAKE(&kept, double, count * p->p);
    clv_status status = kept.status;
    if (status == CLV_OK) {
        int64_t *counts = where + count, *places = counts + ranks;
        pack_rows(p, objects, count, packed, where, counts, places);
        status = clv_gather_bytes(p->ctx, CLV_OK, packed, counts, places);
    } else {
        status = clv_meet(p->ctx, 0, status);
    }
    for (int64_t m = 0; status == CLV_OK && m < count; m++) {
        memcpy(rows + m * p->p, packed + where[m] * p->p, (size_t)p->p * sizeof *rows);
    }
    clv_free_kept(&kept);
    return status;
}

clv_status clv_kpalm_broadcast(const clv_kpalm_problem *p, void *data, int64_t bytes, int root) {
    return p->shared ? clv_broadcast(p->ctx, CLV_OK, data, bytes, root) : CLV_OK;
}
