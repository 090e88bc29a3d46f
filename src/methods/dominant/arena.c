/* The arena of dense affinities: every object has its slot, columns are the rows of the matrix where they lie. */
#include "methods/dominant/dominant.h"

static clv_status rows_create(clv_arena *arena) {
    arena->slots = arena->capacity;
    return CLV_OK;
}

static void rows_destroy(clv_arena *arena) {
    (void)arena;
}

static clv_status rows_load(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count) {
    const clv_dominant_problem *p = arena->problem;
    CLV_TRY(clv_without_diagonal(p->affinity, objects, weights, count, arena->rho, arena->threads));
    for (int64_t i = 0; i < p->n; i++) {
        arena->rho[i] = p->gone[i] ? CLV_GONE : arena->rho[i];
    }
    arena->top = clv_place_of_largest(arena->rho, p->n);
    return CLV_OK;
}

static int64_t rows_slot(const clv_arena *arena, int64_t object) {
    (void)arena;
    return object;
}

/* A stored diagonal is taken out beforehand: the pass then puts it in again. */
static clv_status rows_add(clv_arena *arena, int64_t i, double wi, int64_t j, double wj) {
    int64_t n = arena->slots;
    double *r = arena->rho;
    if (arena->stored.scalar == CLV_F32) {
        const float *values = arena->stored.values, *left = values + i * n, *right = j < 0 ? NULL : values + j * n;
        r[i] -= wi * (double)left[i];
        if (j >= 0) {
            r[j] -= wj * (double)right[j];
        }
        arena->top = j < 0 ? clv_pass_one_f32(r, left, wi, n) : clv_pass_two_f32(r, left, wi, right, wj, n);
    } else {
        const double *values = arena->stored.values, *left = values + i * n, *right = j < 0 ? NULL : values + j * n;
        r[i] -= wi * left[i];
        if (j >= 0) {
            r[j] -= wj * right[j];
        }
        arena->top = j < 0 ? clv_pass_one(r, left, wi, n) : clv_pass_two(r, left, wi, right, wj, n);
    }
    return CLV_OK;
}

static clv_status rows_entry(clv_arena *arena, int64_t i, int64_t j, double *out) {
    return clv_affinity_entry(arena->problem->affinity, i, j, out);
}

const clv_arena_kind clv_arena_rows = {
    .create = rows_create,
    .destroy = rows_destroy,
    .load = rows_load,
    .slot = rows_slot,
    .add = rows_add,
    .entry = rows_entry,
};

clv_status clv_arena_new(const clv_dominant_problem *problem, int threads, clv_arena *out) {
    *out = (clv_arena){.kind = &clv_arena_nearby, .problem = problem, .threads = threads};
    if (clv_affinity_view(problem->affinity, &out->stored)) {
        out->kind = clv_is_sparse(&out->stored) ? &clv_arena_touched : &clv_arena_rows;
    }
    out->capacity = out->kind == &clv_arena_rows ? problem->n : problem->active_count;
    out->rho = CLV_NEW(problem->ctx, double, out->capacity);
    return out->rho ? out->kind->create(out) : CLV_ENOMEM;
}

void clv_arena_free(clv_arena *arena) {
    if (arena->kind) {
        arena->kind->destroy(arena);
        clv_free(arena->problem->ctx, arena->rho);
    }
}
