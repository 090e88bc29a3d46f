/* The arena of dense affinities of which several processes hold a part each: every object has its slot, and a process
 * follows r of the objects whose columns it has. Of the others it knows what the next step needs: the largest r, and
 * the least of the support. What each process has of these is said at the meeting of a step, in 56 bytes, whatever the
 * support; all other r that are not its own are hidden, as HUGE_VAL. Where each entry of r is computed, and how, makes
 * no difference to its bits.
 *
 * r changes before the support does: i gets weight, j may leave it, and the last of the support then takes the place of
 * j, before others of the same r. So r of these three is said by itself, and the least is that of the rest. */
#include "methods/dominant/dominant.h"

#include "base/ranks.h"

#include <math.h>
#include <string.h>

/* What a process says: the largest r of its objects, the least of those in the support with its position there, and r
 * of three objects, if it has them. */
typedef struct found {
    double top, object, least, position, named[3];
} found;

typedef struct parts {
    clv_matrix stored;   /* the columns first .. last - 1, of all rows */
    int64_t first, last; /* own objects */
    int ranks;           /* processes, */
    int64_t *ends;       /* where the objects of each end, */
    int64_t *counts;     /* what each says, in bytes, */
    int64_t *places;     /* where that is, */
    found *said;         /* and what it was */
    bool bare;           /* r of all objects is right; or of */
    int64_t shown[5];    /* these besides the own */
    int shown_count;
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
    own->bare = true;
    own->ranks = clv_rank_count(ctx);
    own->ends = CLV_NEW(ctx, int64_t, 3 * own->ranks);
    own->said = CLV_NEW0(ctx, found, own->ranks);
    own->place = CLV_NEW(ctx, int32_t, n);
    own->column = CLV_NEW(ctx, double, n);
    if (!own->ends || !own->said || !own->place || !own->column) {
        return CLV_ENOMEM;
    }
    own->counts = own->ends + own->ranks;
    own->places = own->counts + own->ranks;
    for (int q = 0; q < own->ranks; q++) {
        clv_share_of(ctx, q, blocks, &begin, &own->ends[q]);
        own->ends[q] = own->ends[q] * CLV_SHARE < n ? own->ends[q] * CLV_SHARE : n;
        own->counts[q] = sizeof *own->said;
        own->places[q] = q * (int64_t)sizeof *own->said;
    }
    return CLV_OK;
}

static void parts_destroy(clv_arena *arena) {
    parts *own = arena->own;
    if (own) {
        clv_affinity_free(own->near);
        CLV_FREE_ALL(arena->problem->ctx, own->ends, own->said, own->place, own->column, own);
    }
}

static clv_status parts_load(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count) {
    const clv_dominant_problem *p = arena->problem;
    parts *own = arena->own;
    own->bare = true;
    CLV_TRY(clv_without_diagonal(p->affinity, objects, weights, count, arena->rho, arena->threads));
    for (int64_t i = 0; i < p->n; i++) {
        arena->rho[i] = p->gone[i] ? CLV_GONE : arena->rho[i];
    }
    arena->top = clv_kernels->place_of_largest(arena->rho, p->n);
    return CLV_OK;
}

static bool is_own(const parts *own, int64_t slot) {
    return slot >= own->first && slot < own->last;
}

static int holder_of(const parts *own, int64_t slot) {
    int q = 0;
    while (slot >= own->ends[q]) {
        q++;
    }
    return q;
}

/* What is not its own, and was shown for one step. */
static void hide(clv_arena *arena) {
    parts *own = arena->own;
    for (int64_t slot = 0; own->bare && slot < arena->slots; slot++) {
        arena->rho[slot] = is_own(own, slot) ? arena->rho[slot] : HUGE_VAL;
    }
    for (int t = 0; t < own->shown_count; t++) {
        arena->rho[own->shown[t]] = HUGE_VAL;
    }
    own->bare = false;
    own->shown_count = 0;
}

static void show(clv_arena *arena, int64_t slot, double r) {
    parts *own = arena->own;
    if (!is_own(own, slot)) {
        arena->rho[slot] = r;
        own->shown[own->shown_count++] = slot;
    }
}

/* The own least of the support without those that are named (slots, or -1). */
static void find_least(clv_arena *arena, const int64_t named[3], found *out) {
    double kept[3];
    for (int t = 0; t < 3; t++) {
        kept[t] = named[t] < 0 ? HUGE_VAL : arena->rho[named[t]];
    }
    for (int t = 0; t < 3; t++) {
        if (named[t] >= 0) {
            arena->rho[named[t]] = HUGE_VAL;
        }
    }
    int64_t position = clv_kernels->place_of_least(arena->rho, arena->support, arena->size);
    out->least = arena->rho[arena->support[position]];
    out->position = (double)position;
    for (int t = 0; t < 3; t++) {
        out->named[t] = kept[t];
        if (named[t] >= 0) {
            arena->rho[named[t]] = kept[t];
        }
    }
}

/* What a step needs becomes everybody's; `top` is the own object of the largest r. */
static clv_status exchange(clv_arena *arena, int64_t top, int64_t i, int64_t j) {
    parts *own = arena->own;
    const int64_t named[3] = {i, j, arena->support[arena->size - 1]};
    hide(arena);
    for (int q = 0; q < own->ranks; q++) {
        if (own->ends[q] == own->last) {
            own->said[q].top = arena->rho[top];
            own->said[q].object = (double)top;
            find_least(arena, named, &own->said[q]);
        }
    }
    CLV_TRY(clv_gather_bytes(arena->problem->ctx, CLV_OK, own->said, own->counts, own->places));
    const found *best = own->said, *least = own->said;
    for (const found *q = own->said + 1; q < own->said + own->ranks; q++) {
        best = q->top > best->top ? q : best; /* objects ascend: the first of equals is the first of all */
        least = q->least < least->least || (q->least == least->least && q->position < least->position) ? q : least;
    }
    show(arena, arena->support[(int64_t)least->position], least->least); /* HUGE_VAL where there are none but these: */
    for (int t = 0; t < 3; t++) {
        if (named[t] >= 0) {
            show(arena, named[t], own->said[holder_of(own, named[t])].named[t]);
        }
    }
    arena->top = (int64_t)best->object;
    show(arena, arena->top, best->top);
    return CLV_OK;
}

/* As in arena.c: a stored diagonal is taken out beforehand. */
static void take_out(clv_arena *arena, int64_t i, double weight) {
    const parts *own = arena->own;
    if (is_own(own, i)) {
        arena->rho[i] -= weight * clv_stored(&own->stored, i * own->stored.cols + i - own->first);
    }
}

static clv_status parts_add(clv_arena *arena, int64_t i, double wi, int64_t j, double wj) {
    const parts *own = arena->own;
    int64_t width = own->stored.cols, top;
    double *r = arena->rho + own->first;
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
    return arena->more ? CLV_OK : exchange(arena, own->first + top, i, j);
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
    ((parts *)arena->own)->bare = true;
    return clv_gather_items(arena->problem->ctx, CLV_OK, arena->rho, sizeof *arena->rho, arena->problem->n, CLV_SHARE);
}

/* What was read is r of all. */
static clv_status parts_pass(clv_arena *arena, clv_archive *archive) {
    ((parts *)arena->own)->bare = true;
    return archive->status;
}

const clv_arena_kind clv_arena_parts = {
    .create = parts_create,
    .destroy = parts_destroy,
    .load = parts_load,
    .add = parts_add,
    .entry = parts_entry,
    .among = parts_among,
    .gather = parts_gather,
    .complete = parts_complete,
    .pass = parts_pass,
};
