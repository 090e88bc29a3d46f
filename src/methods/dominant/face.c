/* The stationary point of a face: on the support S, Bx = f e and e'x = 1 give x = y / e'y with B_SS y = e. Once the
 * support has stopped growing, a jump toward that point replaces hundreds of steps.
 *
 * Where that point is a maximum of the face, B_SS is negative definite along it, and c ee' - B_SS is positive definite
 * for any c > f: v = t x + u with e'u = 0 has v'(c ee' - B)v = t^2 (c - f) - u'Bu. y is then, but for a factor, the
 * solution of (c ee' - B_SS) y = e, by Cholesky; elsewhere B_SS itself is factorized.
 *
 * The jump is a line search like any other step: as far as f rises, and no further than the first weight that becomes
 * 0, which then leaves the support. It is taken only if f, computed from B_SS, grows. Cost: s^3 / 3 for the solve, and
 * half a pass per object of the support to bring r up to date; tried only where that is less than the steps it may
 * save. */
#include "methods/dominant/dominant.h"

#include "base/ranks.h"

#include <cblas.h>
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

/* Supports that grow little by little do not need new memory each time. */
static int64_t with_reserve(int64_t size) {
    return size + size / 8;
}

/* The matrices, direction and product: what they take, and whether the budget has it. */
static size_t face_bytes(const clv_ascent *s) {
    size_t size = (size_t)with_reserve(s->size), copies = s->arena.kind->among ? 2 : 1;
    return (copies * size + 3) * size * sizeof(double) + size * sizeof(int32_t);
}

static clv_status has_room(const clv_ascent *s, int64_t *out) {
    size_t now = clv_memory_at_work(s->problem->ctx);
    *out = s->face_capacity >= s->size || now + face_bytes(s) <= clv_affinity_budget(s->problem->affinity);
    return clv_agree_least(s->problem->ctx, out);
}

clv_status clv_face_reserve(clv_ascent *s, int64_t size) {
    clv_context *ctx = s->problem->ctx;
    if (s->face_capacity >= size) {
        return CLV_OK;
    }
    clv_free(ctx, s->face);
    clv_free(ctx, s->pivots);
    s->face_capacity = 0;
    s->face = CLV_NEW(ctx, double, (size + 3) * size);
    s->pivots = CLV_NEW(ctx, int32_t, size);
    if (!s->face || !s->pivots) {
        return CLV_ENOMEM;
    }
    s->face_capacity = size;
    return CLV_OK;
}

/* The similarities of member a of the support to the members in [first, end). */
static clv_status gather(clv_ascent *s, int64_t a, int64_t first, int64_t end, double *out) {
    clv_arena *arena = &s->arena;
    if (arena->kind->gather) {
        return arena->kind->gather(arena, s->support[a], s->support + first, end - first, out);
    }
    for (int64_t b = first; b < end; b++) {
        CLV_TRY(arena->kind->entry(arena, s->support[a], s->support[b], out + b - first));
    }
    return CLV_OK;
}

/* Both triangles side by side, in columns of size + 1 numbers: above and on the diagonal c ee' - B_SS, which becomes
 * its factor; one place further down the lower triangle of B_SS, which stays. */
static clv_status copy_entries(clv_ascent *s, double c, double *matrix) {
    int64_t size = s->size;
    double own = -s->problem->options->shift;
    for (int64_t a = 0; a < size; a++) {
        double *column = matrix + a * (size + 1);
        CLV_TRY(gather(s, a, 0, a, column));
        for (int64_t b = 0; b < a; b++) {
            column[b] = c - column[b];
        }
        column[a] = c - own;
        column[a + 1] = own;
        CLV_TRY(gather(s, a, a + 1, size, column + a + 2));
    }
    return CLV_OK;
}

static clv_status copy_face(clv_ascent *s, double c, double *matrix) {
    clv_arena *arena = &s->arena;
    CLV_TRY(arena->kind->among ? arena->kind->among(arena, s->support, s->size) : CLV_OK);
    clv_status status = copy_entries(s, c, matrix);
    return arena->kind->among && status == CLV_OK ? arena->kind->among(arena, NULL, 0) : status;
}

/* B_SS y = e but for a factor. False: there is no such y. */
static clv_status solve_face(clv_ascent *s, double *matrix, double *y, bool *found) {
    int64_t size = s->size;
    lapack_int order = (lapack_int)size, stride = order + 1;
    double c = 2 * (fabs(s->value) + s->problem->options->shift * s->squares);
    CLV_TRY(copy_face(s, c, matrix));
    for (int64_t a = 0; a < size; a++) {
        y[a] = 1;
    }
    *found = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', order, matrix, stride) == 0;
    if (*found) {
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', order, 1, matrix, stride, y, order);
        return CLV_OK;
    }
    *found = LAPACKE_dsysv(LAPACK_COL_MAJOR, 'L', order, 1, matrix + 1, stride, s->pivots, y, order) == 0;
    return copy_face(s, c, matrix);
}

/* From a solution to the direction from x to the stationary point; false when there is none. */
static bool find_direction(const clv_ascent *s, double *direction) {
    int64_t size = s->size;
    double sum = 0;
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

static void slope_and_bend(const clv_ascent *s, const double *matrix, const double *direction, double *product,
                           double *slope, double *bend) {
    int size = (int)s->size;
    cblas_dsymv(CblasColMajor, CblasLower, size, 1, matrix + 1, size + 1, direction, 1, 0, product, 1);
    *slope = 0;
    for (int64_t a = 0; a < size; a++) {
        *slope += direction[a] * s->scale * s->arena.rho[s->support[a]];
    }
    *bend = cblas_ddot(size, direction, 1, product, 1);
}

/* x moves by step * direction. r follows first, so that an interruption leaves x as it was. */
static clv_status follow(clv_ascent *s, const double *direction, double step, int64_t first) {
    clv_arena *arena = &s->arena;
    int64_t size = s->size;
    int32_t *slots = s->pivots; /* the support as it was: leaving changes its order */
    memcpy(slots, s->support, (size_t)size * sizeof *slots);
    for (int64_t a = 0; a < size; a++) {
        arena->rho[slots[a]] -= s->problem->options->shift * step * direction[a] / s->scale;
    }
    for (int64_t a = 0; a < size; a += 2) {
        bool two = a + 1 < size;
        arena->more = a + 2 < size;
        CLV_TRY(clv_ascent_add(s, slots[a], step * direction[a] / s->scale, two ? slots[a + 1] : -1,
                               two ? step * direction[a + 1] / s->scale : 0));
    }
    CLV_TRY(arena->kind->complete ? arena->kind->complete(arena) : CLV_OK); /* several may leave */
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
    const clv_arena_kind *kind = s->arena.kind;
    double slope, bend;
    int64_t first, size = s->size, room;
    bool found;
    s->settled = 0;
    s->patience = s->patience * 2 > size / 2 ? s->patience * 2 : size / 2;
    CLV_TRY(has_room(s, &room));
    if (!room) {
        return CLV_OK;
    }
    CLV_TRY(s->face_capacity < size ? clv_face_reserve(s, with_reserve(size)) : CLV_OK);
    double *matrix = s->face, *direction = matrix + size * (size + 1), *product = direction + size;
    CLV_TRY(solve_face(s, matrix, direction, &found));
    if (!found || !find_direction(s, direction)) {
        return CLV_OK;
    }
    double most = longest_step(s, direction, &first);
    CLV_TRY(kind->complete ? kind->complete(&s->arena) : CLV_OK);
    slope_and_bend(s, matrix, direction, product, &slope, &bend);
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
