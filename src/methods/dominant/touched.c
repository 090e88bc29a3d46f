/* The arena of sparse affinities: only objects that the support touches have a slot, handed out as they are touched;
 * all others have r = 0. A step costs the neighbors of its two objects and a scan of the slots, whatever n is. */
#include "methods/dominant/dominant.h"

/* Nobody has a slot (-1) yet. */
static clv_status touched_create(clv_arena *arena) {
    for (int64_t i = 0; i < arena->problem->n; i++) {
        arena->slot_of[i] = -1;
    }
    return CLV_OK;
}

static int64_t touch(clv_arena *arena, int64_t object) {
    if (arena->slot_of[object] < 0) {
        arena->slot_of[object] = (int32_t)arena->slots;
        arena->object[arena->slots] = object;
        arena->rho[arena->slots++] = 0;
    }
    return arena->slot_of[object];
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
    const int64_t *active = arena->problem->active;
    arena->top = clv_kernels->place_of_largest(arena->rho, arena->slots);
    if (arena->rho[arena->top] < 0 && arena->slots < arena->capacity) {
        while (arena->slot_of[active[arena->cursor]] >= 0) {
            arena->cursor++;
        }
        arena->top = touch(arena, active[arena->cursor]);
    }
}

static clv_status touched_load(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count) {
    for (int64_t slot = 0; slot < arena->slots; slot++) {
        arena->slot_of[arena->object[slot]] = -1;
    }
    arena->slots = 0;
    arena->cursor = 0;
    for (int64_t t = 0; t < count; t++) {
        touch(arena, objects[t]);
    }
    for (int64_t t = 0; t < count; t++) {
        spread(arena, objects[t], weights[t]);
    }
    find_top(arena);
    return CLV_OK;
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
    .load = touched_load,
    .add = touched_add,
    .entry = touched_entry,
};
