/* The arena of sparse affinities: only objects that the support touches have a slot, handed out as they are touched;
 * all others have r = 0. A step costs the neighbors of its two objects and a scan of the slots, whatever n is. */
#include "methods/dominant/dominant.h"

typedef struct touched {
    int32_t *slot_of; /* n; -1: none yet */
    int64_t *object;  /* of a slot */
    int64_t cursor;   /* no active object before this one is without a slot */
} touched;

static clv_status touched_create(clv_arena *arena) {
    const clv_dominant_problem *p = arena->problem;
    touched *own = CLV_NEW0(p->ctx, touched, 1);
    arena->own = own;
    if (!own) {
        return CLV_ENOMEM;
    }
    own->slot_of = CLV_NEW(p->ctx, int32_t, p->n);
    own->object = CLV_NEW(p->ctx, int64_t, arena->capacity);
    if (!own->slot_of || !own->object) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < p->n; i++) {
        own->slot_of[i] = -1;
    }
    arena->object = own->object;
    return CLV_OK;
}

static void touched_destroy(clv_arena *arena) {
    touched *own = arena->own;
    if (own) {
        clv_free(arena->problem->ctx, own->slot_of);
        clv_free(arena->problem->ctx, own->object);
        clv_free(arena->problem->ctx, own);
    }
}

static int64_t touch(clv_arena *arena, int64_t object) {
    touched *own = arena->own;
    if (own->slot_of[object] < 0) {
        own->slot_of[object] = (int32_t)arena->slots;
        own->object[arena->slots] = object;
        arena->rho[arena->slots++] = 0;
    }
    return own->slot_of[object];
}

static void spread(clv_arena *arena, int64_t object, double weight) {
    const uint8_t *gone = arena->problem->gone;
    const int32_t *index = arena->stored.index;
    const double *values = arena->stored.values;
    for (int64_t e = arena->stored.start[object]; e < arena->stored.start[object + 1]; e++) {
        if (!gone[index[e]] && index[e] != object) {
            arena->rho[touch(arena, index[e])] += weight * values[e];
        }
    }
}

/* The largest r may be the 0 of an object without a slot: it then gets one. */
static void find_top(clv_arena *arena) {
    const clv_dominant_problem *p = arena->problem;
    touched *own = arena->own;
    arena->top = clv_place_of_largest(arena->rho, arena->slots);
    if (arena->rho[arena->top] < 0 && arena->slots < arena->capacity) {
        while (own->slot_of[p->active[own->cursor]] >= 0) {
            own->cursor++;
        }
        arena->top = touch(arena, p->active[own->cursor]);
    }
}

static clv_status touched_load(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count) {
    touched *own = arena->own;
    for (int64_t slot = 0; slot < arena->slots; slot++) {
        own->slot_of[own->object[slot]] = -1;
    }
    arena->slots = 0;
    own->cursor = 0;
    for (int64_t t = 0; t < count; t++) {
        touch(arena, objects[t]);
    }
    for (int64_t t = 0; t < count; t++) {
        spread(arena, objects[t], weights[t]);
    }
    find_top(arena);
    return CLV_OK;
}

static int64_t touched_slot(const clv_arena *arena, int64_t object) {
    return ((const touched *)arena->own)->slot_of[object];
}

static clv_status touched_add(clv_arena *arena, int64_t i, double wi, int64_t j, double wj) {
    spread(arena, arena->object[i], wi);
    if (j >= 0) {
        spread(arena, arena->object[j], wj);
    }
    find_top(arena);
    return CLV_OK;
}

static clv_status touched_entry(clv_arena *arena, int64_t i, int64_t j, double *out) {
    return clv_affinity_entry(arena->problem->affinity, arena->object[i], arena->object[j], out);
}

const clv_arena_kind clv_arena_touched = {
    .create = touched_create,
    .destroy = touched_destroy,
    .load = touched_load,
    .slot = touched_slot,
    .add = touched_add,
    .entry = touched_entry,
};
