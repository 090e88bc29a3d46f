/* The arena of dense affinities of which several processes hold a part each: every object has its slot, and a process
 * follows r of the objects whose columns it has. The r of the others is needed of few: the largest, and those that
 * weight was given to. These are exchanged in each step: 16 bytes a process, and 8 for each object that has had weight
 * since the last load. Where each entry of r is computed, and how, makes no difference to its bits. */
#include "methods/dominant/dominant.h"

#include "base/ranks.h"

#include <string.h>

typedef struct parts {
    clv_matrix stored;   /* the columns first .. last - 1, of all rows */
    int64_t first, last; /* own objects */
    int ranks;           /* processes, */
    int64_t *ends;       /* where the objects of each end, */
    int64_t *counts;     /* what each sends, in bytes, */
    int64_t *places;     /* where that is, */
    int64_t *taken;      /* and how much of it was read */
    int32_t *watched;    /* objects whose r all must have, */
    int32_t *holder;     /* of each of these: whose it is */
    uint8_t *is_watched; /* n */
    int64_t count;
    double *sent; /* 2 ranks + n */
    /* Similarities between some objects, made of the points: those of other processes' objects are nowhere here. */
    clv_affinity *near;
    int32_t *place; /* of an object among these: n */
    double *column; /* n: work */
} parts;

static clv_status parts_create(clv_arena *arena) {
    clv_context *ctx = arena->problem->ctx;
    int64_t n = arena->problem->n, blocks = (n + CLV_SHARE - 1) / CLV_SHARE, begin;
    parts *own = arena->own = CLV_NEW0(ctx, parts, 1);
    if (!own) {
        return CLV_ENOMEM;
    }
    arena->slots = arena->capacity;
    clv_affinity_part(arena->problem->affinity, &own->stored, &own->first);
    own->last = own->first + own->stored.cols;
    own->ranks = clv_rank_count(ctx);
    own->ends = CLV_NEW(ctx, int64_t, 4 * own->ranks);
    own->watched = CLV_NEW(ctx, int32_t, 2 * n);
    own->is_watched = CLV_NEW0(ctx, uint8_t, n);
    own->sent = CLV_NEW(ctx, double, 2 * own->ranks + n);
    own->place = CLV_NEW(ctx, int32_t, n);
    own->column = CLV_NEW(ctx, double, n);
    if (!own->ends || !own->watched || !own->is_watched || !own->sent || !own->place || !own->column) {
        return CLV_ENOMEM;
    }
    own->counts = own->ends + own->ranks;
    own->places = own->counts + own->ranks;
    own->taken = own->places + own->ranks;
    own->holder = own->watched + n;
    for (int q = 0; q < own->ranks; q++) {
        clv_share_of(ctx, q, blocks, &begin, &own->ends[q]);
        own->ends[q] = own->ends[q] * CLV_SHARE < n ? own->ends[q] * CLV_SHARE : n;
    }
    return CLV_OK;
}

static void parts_destroy(clv_arena *arena) {
    parts *own = arena->own;
    if (own) {
        clv_affinity_free(own->near);
        CLV_FREE_ALL(arena->problem->ctx, own->ends, own->watched, own->is_watched, own->sent, own->place, own->column,
                     own);
    }
}

static void parts_watch(clv_arena *arena, int64_t slot) {
    parts *own = arena->own;
    int holder = 0;
    if (own->is_watched[slot]) {
        return;
    }
    while (slot >= own->ends[holder]) {
        holder++;
    }
    own->is_watched[slot] = 1;
    own->watched[own->count] = (int32_t)slot;
    own->holder[own->count++] = holder;
}

static clv_status parts_load(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count) {
    const clv_dominant_problem *p = arena->problem;
    parts *own = arena->own;
    memset(own->is_watched, 0, (size_t)p->n);
    own->count = 0;
    CLV_TRY(clv_without_diagonal(p->affinity, objects, weights, count, arena->rho, arena->threads));
    for (int64_t i = 0; i < p->n; i++) {
        arena->rho[i] = p->gone[i] ? CLV_GONE : arena->rho[i];
    }
    arena->top = clv_kernels->place_of_largest(arena->rho, p->n);
    return CLV_OK;
}

/* The largest r of each process with its place, and the r of watched objects, become everybody's. */
static clv_status exchange(clv_arena *arena, int64_t top) {
    parts *own = arena->own;
    for (int q = 0; q < own->ranks; q++) {
        own->counts[q] = 2;
    }
    for (int64_t t = 0; t < own->count; t++) {
        own->counts[own->holder[t]]++;
    }
    for (int64_t q = 0, at = 0; q < own->ranks; at += own->counts[q++]) {
        own->places[q] = at;
        own->taken[q] = at + 2;
        if (own->ends[q] == own->last) {
            own->sent[at] = arena->rho[top];
            own->sent[at + 1] = (double)top;
        }
    }
    for (int64_t t = 0; t < own->count; t++) {
        own->sent[own->taken[own->holder[t]]++] = arena->rho[own->watched[t]];
    }
    for (int q = 0; q < own->ranks; q++) {
        own->taken[q] = own->places[q] + 2;
        own->counts[q] *= (int64_t)sizeof(double);
        own->places[q] *= (int64_t)sizeof(double);
    }
    CLV_TRY(clv_gather_bytes(arena->problem->ctx, CLV_OK, own->sent, own->counts, own->places));
    for (int64_t t = 0; t < own->count; t++) {
        arena->rho[own->watched[t]] = own->sent[own->taken[own->holder[t]]++];
    }
    const double *best = own->sent;
    for (int q = 1; q < own->ranks; q++) { /* objects ascend: the first of equals is the first of all */
        const double *other = own->sent + own->places[q] / (int64_t)sizeof(double);
        best = other[0] > best[0] ? other : best;
    }
    arena->top = (int64_t)best[1];
    arena->rho[arena->top] = best[0];
    return CLV_OK;
}

/* As in arena.c: a stored diagonal is taken out beforehand. */
static void take_out(clv_arena *arena, int64_t i, double weight) {
    const parts *own = arena->own;
    if (i >= own->first && i < own->last) {
        arena->rho[i] -= weight * clv_stored(&own->stored, i * own->stored.cols + i - own->first);
    }
}

static clv_status parts_add(clv_arena *arena, int64_t i, double wi, int64_t j, double wj) {
    const parts *own = arena->own;
    int64_t width = own->stored.cols, top;
    double *r = arena->rho + own->first;
    parts_watch(arena, i);
    take_out(arena, i, wi);
    if (j >= 0) {
        take_out(arena, j, wj);
    }
    if (own->stored.scalar == CLV_F32) {
        const float *values = own->stored.values, *left = values + i * width;
        top = j < 0 ? clv_kernels->f32.pass_one(r, left, wi, width)
                    : clv_kernels->f32.pass_two(r, left, wi, values + j * width, wj, width);
    } else {
        const double *values = own->stored.values, *left = values + i * width;
        top = j < 0 ? clv_kernels->f64.pass_one(r, left, wi, width)
                    : clv_kernels->f64.pass_two(r, left, wi, values + j * width, wj, width);
    }
    return arena->more ? CLV_OK : exchange(arena, own->first + top);
}

static clv_status parts_entry(clv_arena *arena, int64_t i, int64_t j, double *out) {
    return clv_affinity_entry(arena->problem->affinity, i, j, out);
}

static clv_status parts_among(clv_arena *arena, const int32_t *slots, int64_t count) {
    clv_context *ctx = arena->problem->ctx;
    parts *own = arena->own;
    clv_affinity_free(own->near);
    own->near = NULL;
    if (count == 0) {
        return CLV_OK;
    }
    int64_t *objects = CLV_NEW(ctx, int64_t, count);
    for (int64_t t = 0; objects && t < count; t++) {
        objects[t] = slots[t];
        own->place[slots[t]] = (int32_t)t;
    }
    clv_status status =
        objects ? clv_affinity_subset(arena->problem->affinity, objects, count, &own->near) : CLV_ENOMEM;
    clv_free(ctx, objects);
    return status;
}

static clv_status parts_gather(clv_arena *arena, int64_t i, const int32_t *others, int64_t count, double *out) {
    parts *own = arena->own;
    CLV_TRY(clv_affinity_column(own->near, own->place[i], own->column));
    for (int64_t t = 0; t < count; t++) {
        out[t] = own->column[own->place[others[t]]];
    }
    return CLV_OK;
}

static clv_status parts_complete(clv_arena *arena) {
    return clv_gather_items(arena->problem->ctx, CLV_OK, arena->rho, sizeof *arena->rho, arena->problem->n, CLV_SHARE);
}

const clv_arena_kind clv_arena_parts = {
    .create = parts_create,
    .destroy = parts_destroy,
    .load = parts_load,
    .add = parts_add,
    .entry = parts_entry,
    .among = parts_among,
    .gather = parts_gather,
    .watch = parts_watch,
    .complete = parts_complete,
};
