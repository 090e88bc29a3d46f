/* The stationary point of a face: on the support S, Bx = f e and e'x = 1 give x = y / e'y with B_SS y = e. Once the
 * support has stopped growing, a jump toward that point replaces hundreds of steps.
 *
 * The jump is a line search like any other step: as far as f rises, and no further than the first weight that becomes
 * 0, which then leaves the support. It is taken only if f, computed from B_SS, grows. Cost: s^3 / 3 for the solve, and
 * a pass per object of the support to bring r up to date; tried only where that is less than the steps it may save. */
#include "methods/dominant/dominant.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Steps without growth of the support before a jump is tried. */
enum { SETTLED = 32 };
/* The largest support, also in relation to the slots: s^3 / 3 flops against about 4 s passes. */
enum { LARGEST = 4000, RELATION = 576 };

bool clv_face_is_due(const clv_ascent *s) {
    int64_t wait = s->patience > SETTLED ? s->patience : SETTLED;
    return s->problem->options->face_solve && s->settled >= wait && s->size > 1 && s->size <= LARGEST &&
           s->size * s->size <= RELATION * s->arena.slots;
}

/* B_SS twice (one is overwritten by its factors) and the direction: what they take, and whether the budget has it. */
static size_t face_bytes(int64_t size) {
    return (2 * (size_t)size + 1) * (size_t)size * sizeof(double) + (size_t)size * sizeof(int32_t);
}

static bool has_room(const clv_ascent *s) {
    size_t now, peak;
    clv_context_memory(s->problem->ctx, &now, &peak);
    return s->face_capacity >= s->size || now + face_bytes(s->size) <= clv_affinity_budget(s->problem->affinity);
}

static clv_status make_room(clv_ascent *s) {
    clv_context *ctx = s->problem->ctx;
    if (s->face_capacity >= s->size) {
        return CLV_OK;
    }
    clv_free(ctx, s->face);
    clv_free(ctx, s->pivots);
    s->face_capacity = 0;
    s->face = CLV_NEW(ctx, double, (2 * s->size + 1) * s->size);
    s->pivots = CLV_NEW(ctx, int32_t, s->size);
    if (!s->face || !s->pivots) {
        return CLV_ENOMEM;
    }
    s->face_capacity = s->size;
    return CLV_OK;
}

static clv_status copy_face(clv_ascent *s, double *matrix) {
    int64_t size = s->size;
    for (int64_t a = 0; a < size; a++) {
        for (int64_t b = 0; b < a; b++) {
            CLV_TRY(s->arena.kind->entry(&s->arena, s->support[a], s->support[b], matrix + a * size + b));
            matrix[b * size + a] = matrix[a * size + b];
        }
        matrix[a * size + a] = -s->problem->options->shift;
    }
    return CLV_OK;
}

/* The direction from x to the stationary point; false when there is none. */
static bool find_direction(clv_ascent *s, double *factors, double *direction) {
    int64_t size = s->size;
    double sum = 0;
    for (int64_t a = 0; a < size; a++) {
        direction[a] = 1;
    }
    if (LAPACKE_dsysv(LAPACK_ROW_MAJOR, 'L', (lapack_int)size, 1, factors, (lapack_int)size, s->pivots, direction, 1)) {
        return false;
    }
    for (int64_t a = 0; a < size; a++) {
        sum += direction[a];
    }
    if (!isfinite(sum) || fabs(sum) < 1e-300) {
        return false;
    }
    double left = 0;
    for (int64_t a = 0; a < size; a++) {
        direction[a] = direction[a] / sum - s->scale * s->y[s->support[a]];
        left += direction[a];
    }
    for (int64_t a = 0; a < size; a++) {
        direction[a] -= left / (double)size; /* an ill-conditioned system must not lead off the simplex */
    }
    return true;
}

/* How far the direction may be followed: to the first weight of 0, whose place in the support is `*first`. */
static double longest_step(const clv_ascent *s, const double *direction, int64_t *first) {
    double most = HUGE_VAL;
    *first = -1;
    for (int64_t a = 0; a < s->size; a++) {
        double weight = s->scale * s->y[s->support[a]];
        if (direction[a] < 0 && weight < -direction[a] * most) {
            most = weight / -direction[a];
            *first = a;
        }
    }
    return most;
}

static void slope_and_bend(const clv_ascent *s, const double *matrix, const double *direction, double *slope,
                           double *bend) {
    int64_t size = s->size;
    *slope = 0;
    *bend = 0;
    for (int64_t a = 0; a < size; a++) {
        double product = 0;
        for (int64_t b = 0; b < size; b++) {
            product += matrix[a * size + b] * direction[b];
        }
        *slope += direction[a] * s->scale * s->arena.rho[s->support[a]];
        *bend += direction[a] * product;
    }
}

/* x moves by step * direction. r follows first, so that an interruption leaves x as it was. */
static clv_status follow(clv_ascent *s, const double *direction, double step, int64_t first) {
    clv_arena *arena = &s->arena;
    int64_t size = s->size;
    int32_t *slots = s->pivots; /* the support as it was: leaving changes its order */
    memcpy(slots, s->support, (size_t)size * sizeof *slots);
    for (int64_t a = 0; a < size; a++) {
        double change = step * direction[a] / s->scale;
        arena->rho[slots[a]] -= s->problem->options->shift * change;
        CLV_TRY(arena->kind->add(arena, slots[a], change, -1, 0));
    }
    for (int64_t a = 0; a < size; a++) {
        double change = step * direction[a];
        s->squares += change * (2 * s->scale * s->y[slots[a]] + change);
        s->moved += change > 0 ? change : 0;
        s->y[slots[a]] += change / s->scale;
        if (a == first || s->y[slots[a]] <= 0) {
            clv_ascent_leave(s, slots[a]);
            s->drops++;
        }
    }
    return CLV_OK;
}

clv_status clv_face_jump(clv_ascent *s) {
    double slope, bend;
    int64_t first, size = s->size;
    s->settled = 0;
    s->patience = s->patience * 2 > size / 2 ? s->patience * 2 : size / 2;
    if (!has_room(s)) {
        return CLV_OK;
    }
    CLV_TRY(make_room(s));
    double *matrix = s->face, *factors = matrix + size * size, *direction = factors + size * size;
    CLV_TRY(copy_face(s, matrix));
    memcpy(factors, matrix, (size_t)(size * size) * sizeof *factors);
    if (!find_direction(s, factors, direction)) {
        return CLV_OK;
    }
    double most = longest_step(s, direction, &first);
    slope_and_bend(s, matrix, direction, &slope, &bend);
    double step = bend < 0 && slope < -bend * most ? slope / -bend : most;
    double gain = step * (2 * slope + step * bend);
    if (!isfinite(step) || !(gain > 0)) {
        return CLV_OK;
    }
    CLV_TRY(follow(s, direction, step, step < most ? -1 : first));
    s->value += gain;
    s->patience = s->size / 2;
    return clv_ascent_keep_up(s);
}
