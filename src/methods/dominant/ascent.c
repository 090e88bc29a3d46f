/* The iterate of fw, pfw and afw, and their steps (Algorithms 2 to 4 of Johnell and Haghir Chehreghani).
 *
 * A step asks for the object i with the largest r and, but for fw, the object j of the support with the least. With
 * B = A - alpha I in place of A:
 *   toward e_i   x <- (1 - g) x + g e_i   g = (r_i - f) / (2 r_i - f + alpha)   at most 1/2, as f >= -alpha
 *   away from e_j x <- (1 + g) x - g e_j   g = (f - r_j) / (2 r_j - f + alpha)   at most x_j / (1 - x_j)
 *   pairwise      x <- x + g (e_i - e_j)   g = (r_i - r_j) / (2 (a_ij + alpha))  at most x_j
 * where a denominator that is not positive means that f is convex that way: the longest step. At its longest a step
 * away or pairwise takes j out of the support, exactly (a drop; a swap if i was not in it). r and f follow in O(n) by
 * Lemmas 1 to 3. x = scale y and r = scale rho: the factors 1 - g and 1 + g only change the scale. */
#include "methods/dominant/dominant.h"

#include <math.h>
#include <string.h>

/* Beyond this scale y and rho are multiplied out, long before anything overflows. */
#define SCALE_RANGE 1e90

clv_status clv_ascent_new(const clv_dominant_problem *problem, int threads, clv_ascent *out) {
    clv_context *ctx = problem->ctx;
    *out = (clv_ascent){.problem = problem};
    CLV_TRY(clv_arena_new(problem, threads, &out->arena));
    out->y = CLV_NEW0(ctx, double, out->arena.capacity);
    out->support = CLV_NEW(ctx, int32_t, out->arena.capacity);
    out->position = CLV_NEW(ctx, int32_t, out->arena.capacity);
    out->full = CLV_NEW(ctx, double, problem->n);
    out->objects = CLV_NEW(ctx, int64_t, problem->n);
    out->weights = CLV_NEW(ctx, double, problem->n);
    bool whole = out->y && out->support && out->position && out->full && out->objects && out->weights;
    return whole ? CLV_OK : CLV_ENOMEM;
}

void clv_ascent_free(clv_ascent *s) {
    if (s->problem) {
        clv_context *ctx = s->problem->ctx;
        clv_arena_free(&s->arena);
        CLV_FREE_ALL(ctx, s->y, s->support, s->position, s->full, s->objects, s->weights, s->face, s->pivots);
    }
}

static void enter(clv_ascent *s, int64_t slot) {
    s->position[slot] = (int32_t)s->size;
    s->support[s->size++] = (int32_t)slot;
}

/* The last of the support takes its place. */
void clv_ascent_leave(clv_ascent *s, int64_t slot) {
    int32_t last = s->support[--s->size];
    s->support[s->position[slot]] = last;
    s->position[last] = s->position[slot];
    s->position[slot] = -1;
    s->y[slot] = 0;
}

clv_status clv_ascent_add(clv_ascent *s, int64_t i, double wi, int64_t j, double wj) {
    s->arena.support = s->support;
    s->arena.size = s->size;
    return s->arena.kind->add(&s->arena, i, wi, j, wj);
}

static void clear_slots(clv_ascent *s) {
    for (int64_t slot = 0; slot < s->arena.capacity; slot++) {
        s->y[slot] = 0;
        s->position[slot] = -1;
    }
    s->size = 0;
    s->scale = 1;
    s->moved = 0;
}

static int64_t list_weights(clv_ascent *s, const double *x) {
    int64_t count = 0;
    for (int64_t i = 0; i < s->problem->n; i++) {
        if (x[i] > 0) {
            s->objects[count] = i;
            s->weights[count++] = x[i];
        }
    }
    return count;
}

clv_status clv_ascent_set(clv_ascent *s, const double *x) {
    clv_arena *arena = &s->arena;
    int64_t count = list_weights(s, x);
    CLV_TRY(arena->kind->load(arena, s->objects, s->weights, count));
    clear_slots(s);
    s->value = 0;
    s->squares = 0;
    s->similarity = 0;
    for (int64_t t = 0; t < count; t++) {
        int64_t slot = clv_arena_slot(arena, s->objects[t]);
        double weight = s->weights[t];
        s->y[slot] = weight;
        s->similarity += weight * arena->rho[slot];
        enter(s, slot);
        arena->rho[slot] -= s->problem->options->shift * weight;
        s->value += weight * arena->rho[slot];
        s->squares += weight * weight;
    }
    /* Nothing but the support has changed; 0 weights keep the place of the largest. */
    CLV_TRY(clv_ascent_add(s, clv_arena_slot(arena, s->objects[0]), 0, -1, 0));
    arena->goal = fmax(clv_ascent_gap(s) / 10, s->problem->tol * clv_ascent_similarity(s));
    return CLV_OK;
}

void clv_ascent_get(const clv_ascent *s, double *x) {
    for (int64_t i = 0; i < s->problem->n; i++) {
        x[i] = 0;
    }
    for (int64_t t = 0; t < s->size; t++) {
        x[clv_arena_object(&s->arena, s->support[t])] = s->scale * s->y[s->support[t]];
    }
}

/* The support as it was read, with y of its slots in `weights`: distinct slots, weights that add up to 1 and give the
 * value. */
static bool take_support(clv_ascent *s, int64_t size) {
    double sum = 0, value = 0, terms = 0;
    for (int64_t t = 0; t < size; t++) {
        int32_t slot = s->support[t];
        double weight = s->scale * s->weights[t], term = weight * s->scale * s->arena.rho[slot];
        if (s->position[slot] >= 0 || !(weight > 0)) {
            return false;
        }
        enter(s, slot);
        s->y[slot] = s->weights[t];
        sum += weight;
        value += term;
        terms += fabs(term);
    }
    return fabs(sum - 1) < 1e-3 && fabs(value - s->value) <= 1e-3 * (terms + fabs(s->value));
}

clv_status clv_ascent_pass(clv_ascent *s, clv_archive *archive) {
    double *const numbers[] = {&s->value, &s->squares, &s->similarity, &s->moved};
    int64_t *const counts[] = {&s->drops, &s->swaps, &s->settled, &s->patience};
    int64_t size = s->size, face = s->face_capacity;
    double scale = s->scale;
    CLV_TRY(clv_arena_pass(&s->arena, archive));
    clv_pass_real(archive, &scale);
    clv_pass_integer(archive, &size, 1, s->arena.slots);
    clv_pass_labels(archive, s->support, size, 0, s->arena.slots - 1);
    for (int64_t t = 0; t < size && !archive->loading; t++) {
        s->weights[t] = s->y[s->support[t]];
    }
    clv_pass_reals(archive, s->weights, size);
    for (size_t i = 0; i < CLV_COUNT(numbers); i++) {
        clv_pass_real(archive, numbers[i]);
    }
    for (size_t i = 0; i < CLV_COUNT(counts); i++) {
        clv_pass_integer(archive, counts[i], 0, INT64_MAX / 4);
    }
    clv_pass_integer(archive, &face, 0, s->arena.capacity);
    CLV_TRY(archive->status);
    if (!archive->loading) {
        return CLV_OK;
    }
    double moved = s->moved;
    clear_slots(s);
    memset(s->objects, 0, (size_t)s->problem->n * sizeof *s->objects);
    s->scale = scale;
    s->moved = moved;
    return take_support(s, size) ? clv_face_reserve(s, face) : clv_archive_refuse(archive);
}

void clv_ascent_begin(clv_ascent *s) {
    s->drops = 0;
    s->swaps = 0;
    s->settled = 0;
    s->patience = 0;
}

/* Whether the arena can do without a load. */
static bool renew(clv_ascent *s, double top) {
    clv_arena *arena = &s->arena;
    if (!arena->kind->renew) {
        return false;
    }
    for (int64_t t = 0; t < s->size; t++) {
        s->objects[t] = clv_arena_object(arena, s->support[t]);
        s->weights[t] = s->scale * s->y[s->support[t]];
    }
    return arena->kind->renew(arena, s->objects, s->weights, s->size, top, s->moved);
}

/* Slots may be handed out again, so the iterate goes through x. A load that is interrupted changes nothing: the step
 * before it stands. */
clv_status clv_ascent_keep_up(clv_ascent *s) {
    const clv_arena *arena = &s->arena;
    double top = s->scale * arena->rho[arena->top];
    if (!arena->kind->outdated || !arena->kind->outdated(&s->arena, top, s->moved, clv_ascent_gap(s)) ||
        renew(s, top)) {
        return CLV_OK;
    }
    clv_ascent_get(s, s->full);
    clv_status status = clv_ascent_set(s, s->full);
    return clv_is_stop(status) ? CLV_OK : status;
}

/* --- steps --- */

static double alpha_of(const clv_ascent *s) {
    return s->problem->options->shift;
}

static void rescale(clv_ascent *s, double factor) {
    s->scale *= factor;
    if (s->scale > SCALE_RANGE || s->scale < 1 / SCALE_RANGE) {
        for (int64_t slot = 0; slot < s->arena.slots; slot++) {
            s->y[slot] *= s->scale;
            s->arena.rho[slot] = s->arena.rho[slot] > CLV_GONE / 2 ? s->arena.rho[slot] * s->scale : CLV_GONE;
        }
        s->scale = 1;
    }
}

static void note_entry(clv_ascent *s, int64_t slot) {
    if (s->position[slot] < 0) {
        enter(s, slot);
        s->settled = 0;
    }
}

/* The step length, at most `most`, for slope and curvature of f along a direction of ascent. */
static double step_length(double slope, double bend, double most) {
    return bend > 0 && slope < bend * most ? slope / bend : most;
}

/* r follows first, weights after it, so that an interruption leaves x as it was: rho of slot i and of those similar to
 * it for `weight` (in units of y) more on i, and the same for j (< 0: none). */
static clv_status follow(clv_ascent *s, int64_t i, double weight, int64_t j, double other) {
    s->arena.rho[i] -= alpha_of(s) * weight;
    if (j >= 0) {
        s->arena.rho[j] -= alpha_of(s) * other;
    }
    return clv_ascent_add(s, i, weight, j, other);
}

/* x <- (1 - step) x + step e_i; a step below 0 leads away from e_i, and takes it out of the support if it `drops`. */
static clv_status step_along(clv_ascent *s, int64_t i, double step, bool drops) {
    double r = s->scale * s->arena.rho[i], f = s->value, x = s->scale * s->y[i], left = 1 - step;
    double weight = step / (s->scale * left);
    CLV_TRY(follow(s, i, weight, -1, 0));
    s->step = fabs(step) * sqrt(fmax(s->squares - 2 * x + 1, 0)); /* of step (e_i - x) */
    s->y[i] += weight;
    note_entry(s, i);
    if (drops) {
        clv_ascent_leave(s, i);
        s->drops++;
    }
    rescale(s, left);
    s->value = left * left * f + 2 * step * left * r - step * step * alpha_of(s);
    s->squares = left * left * s->squares + 2 * step * left * x + step * step;
    s->moved += fabs(step) * (1 - x);
    return CLV_OK;
}

static clv_status step_toward(clv_ascent *s, int64_t i) {
    double r = s->scale * s->arena.rho[i], f = s->value;
    return step_along(s, i, step_length(r - f, 2 * r - f + alpha_of(s), 0.5), false);
}

static clv_status step_away(clv_ascent *s, int64_t j) {
    double r = s->scale * s->arena.rho[j], f = s->value, x = s->scale * s->y[j], most = x / (1 - x);
    double step = step_length(f - r, 2 * r - f + alpha_of(s), most);
    return step_along(s, j, -step, step >= most);
}

static clv_status step_pairwise(clv_ascent *s, int64_t i, int64_t j) {
    double slope = s->scale * (s->arena.rho[i] - s->arena.rho[j]), bend;
    CLV_TRY(s->arena.kind->entry(&s->arena, i, j, &bend));
    bend += alpha_of(s);
    double most = s->scale * s->y[j], before = s->scale * s->y[i];
    double step = step_length(slope, 2 * bend, most), weight = step / s->scale;
    bool entered = s->position[i] < 0;
    CLV_TRY(follow(s, i, weight, j, -weight));
    s->step = step * sqrt(2);
    s->y[i] += weight;
    s->y[j] -= weight;
    note_entry(s, i);
    if (step >= most) {
        clv_ascent_leave(s, j);
        s->drops += !entered;
        s->swaps += entered;
    }
    s->value += 2 * step * (slope - step * bend);
    s->squares += 2 * step * (before - most + step);
    s->moved += step;
    return CLV_OK;
}

clv_status clv_ascent_step(clv_ascent *s, bool *stuck) {
    int solver = s->problem->options->solver;
    int64_t i = s->arena.top;
    int64_t j = s->support[clv_kernels->place_of_least(s->arena.rho, s->support, s->size)];
    double up = clv_ascent_gap(s), down = s->value - s->scale * s->arena.rho[j];
    clv_status status;
    if (i == j || !(up > 0)) { /* here, at least: a working set is not all */
        double moved = s->moved;
        CLV_TRY(clv_ascent_keep_up(s));
        *stuck = moved == 0 || s->moved > 0 || !(clv_ascent_gap(s) > 0);
        return CLV_OK;
    }
    *stuck = false;
    if (solver == CLV_DOMINANT_PFW) {
        status = step_pairwise(s, i, j);
    } else if (solver == CLV_DOMINANT_FW || up >= down) {
        status = step_toward(s, i);
    } else {
        status = step_away(s, j);
    }
    CLV_TRY(status);
    s->settled++;
    return clv_ascent_keep_up(s);
}
