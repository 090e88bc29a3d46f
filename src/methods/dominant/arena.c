/* The arena of dense affinities: every object has its slot, columns are the rows of the matrix where they lie. */
#include "methods/dominant/dominant.h"

static clv_status rows_create(clv_arena *arena) {
    arena->slots = arena->capacity;
    return CLV_OK;
}

static clv_status rows_load(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count) {
    const clv_dominant_problem *p = arena->problem;
    CLV_TRY(clv_without_diagonal(p->affinity, objects, weights, count, arena->rho, arena->threads));
    for (int64_t i = 0; i < p->n; i++) {
        arena->rho[i] = p->gone[i] ? CLV_GONE : arena->rho[i];
    }
    arena->top = clv_kernels->place_of_largest(arena->rho, p->n);
    return CLV_OK;
}

/* A stored diagonal is taken out beforehand: the pass then puts it in again. */
static clv_status rows_add(clv_arena *arena, int64_t i, double wi, int64_t j, double wj) {
    int64_t n = arena->slots;
    double *r = arena->rho;
    r[i] -= wi * clv_stored(&arena->stored, i * n + i);
    if (j >= 0) {
        r[j] -= wj * clv_stored(&arena->stored, j * n + j);
    }
    if (arena->stored.scalar == CLV_F32) {
        const float *values = arena->stored.values, *left = values + i * n;
        arena->top = j < 0 ? clv_kernels->f32.pass_one(r, left, wi, n)
                           : clv_kernels->f32.pass_two(r, left, wi, values + j * n, wj, n);
    } else {
        const double *values = arena->stored.values, *left = values + i * n;
        arena->top = j < 0 ? clv_kernels->f64.pass_one(r, left, wi, n)
                           : clv_kernels->f64.pass_two(r, left, wi, values + j * n, wj, n);
    }
    return CLV_OK;
}

static clv_status rows_entry(clv_arena *arena, int64_t i, int64_t j, double *out) {
    return clv_affinity_entry(arena->problem->affinity, i, j, out);
}

static clv_status rows_gather(clv_arena *arena, int64_t i, const int32_t *others, int64_t count, double *out) {
    const float *narrow = (const float *)arena->stored.values + i * arena->slots;
    const double *wide = (const double *)arena->stored.values + i * arena->slots;
    bool is_narrow = arena->stored.scalar == CLV_F32;
    for (int64_t t = 0; t < count && is_narrow; t++) {
        out[t] = (double)narrow[others[t]];
    }
    for (int64_t t = 0; t < count && !is_narrow; t++) {
        out[t] = wide[others[t]];
    }
    return CLV_OK;
}

const clv_arena_kind clv_arena_rows = {
    .create = rows_create,
    .load = rows_load,
    .add = rows_add,
    .entry = rows_entry,
    .gather = rows_gather,
};

clv_status clv_arena_new(const clv_dominant_problem *problem, int threads, clv_arena *out) {
    clv_matrix part;
    int64_t first;
    *out = (clv_arena){.kind = &clv_arena_nearby, .problem = problem, .threads = threads};
    if (clv_affinity_view(problem->affinity, &out->stored)) {
        out->kind = clv_is_sparse(&out->stored) ? &clv_arena_touched : &clv_arena_rows;
    } else if (clv_affinity_part(problem->affinity, &part, &first)) {
        out->kind = &clv_arena_parts;
    }
    bool whole = out->kind == &clv_arena_rows || out->kind == &clv_arena_parts;
    out->capacity = whole ? problem->n : problem->active_count;
    out->rho = CLV_NEW(problem->ctx, double, out->capacity);
    out->object = whole ? NULL : CLV_NEW(problem->ctx, int64_t, out->capacity);
    out->slot_of = whole ? NULL : CLV_NEW0(problem->ctx, int32_t, problem->n);
    return out->rho && (whole || (out->object && out->slot_of)) ? out->kind->create(out) : CLV_ENOMEM;
}

/* Slots of distinct active objects. */
static bool place_objects(clv_arena *arena) {
    const clv_dominant_problem *p = arena->problem;
    for (int64_t i = 0; i < p->n; i++) {
        arena->slot_of[i] = -1;
    }
    for (int64_t slot = 0; slot < arena->slots; slot++) {
        int64_t i = arena->object[slot];
        if (p->gone[i] || arena->slot_of[i] >= 0) {
            return false;
        }
        arena->slot_of[i] = (int32_t)slot;
    }
    arena->cursor = 0; /* it only saves looking */
    return true;
}

clv_status clv_arena_pass(clv_arena *arena, clv_archive *archive) {
    int64_t least = arena->object ? 1 : arena->capacity;
    CLV_TRY(arena->kind->complete && !archive->loading ? arena->kind->complete(arena) : CLV_OK);
    clv_pass_integer(archive, &arena->slots, least, arena->capacity);
    if (arena->object) {
        clv_pass_places(archive, arena->object, arena->slots, 0, arena->problem->n - 1);
    }
    clv_pass_reals(archive, arena->rho, arena->slots);
    clv_pass_integer(archive, &arena->top, 0, arena->slots - 1);
    clv_pass_real(archive, &arena->goal);
    CLV_TRY(archive->status);
    if (archive->loading && arena->object && !place_objects(arena)) {
        return clv_archive_refuse(archive);
    }
    return arena->kind->pass ? arena->kind->pass(arena, archive) : CLV_OK;
}

void clv_arena_free(clv_arena *arena) {
    if (arena->kind) {
        if (arena->kind->destroy) {
            arena->kind->destroy(arena);
        }
        CLV_FREE_ALL(arena->problem->ctx, arena->rho, arena->object, arena->slot_of);
    }
}
