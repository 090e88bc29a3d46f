/* The arena of affinities that are computed: only some objects have a slot, and columns are computed on them alone and
 * kept while memory lasts. The steps are those that all objects would give, by a bound on the r of the others: as long
 * as the top of the arena is above it, nobody outside has the largest r.
 *
 * A ball: where similarities fall with a distance, the arena is the objects nearest to the mean of the weights, and how
 * far the others are away bounds their r (affinity/reach.c), without looking at them. A load then costs the arena's
 * entries in the columns of the support. When weight has moved so far that the bound no longer holds, it is made anew
 * from the weights, at the cost of the support; when that is not enough, the ball is chosen again.
 *
 * Otherwise, or when a ball proves nothing (similarities that fall fast), r of all objects is computed from the
 * support, and the arena is those with the largest r: weight that moves by `moved` raises no r by more than moved *
 * largest.
 *
 * Where the largest r of all are close together, loads become frequent. Once they have cost more than LOADS times the
 * columns of the support, the arena is left alone until its own gap has fallen to a tenth of that of the last load: a
 * working set. The steps may then differ from those that all objects would give; what they lead to is judged by all.
 *
 * Cost: for a load, n entries per member of the support, or those of the arena; for a step, a column of the arena the
 * first time that an object is used, then the pass over the arena. Memory: the points of the arena, and a double per
 * entry of its columns. */
#include "methods/dominant/dominant.h"

#include "base/ranks.h"

#include <math.h>
#include <string.h>

/* The arena has at least so many objects, and at least this part of all; a ball begins with fewer, as its loads are
 * cheap. */
enum { LEAST = 4096, PART = 16, PART_OF_BALL = 64 };
/* Loads are free up to so many times the columns of the support, and so many more: those of a support that keeps
 * doubling stay below. */
enum { LOADS = 3, FREE_COLUMNS = 256 };
/* The arena has so many objects for each one of the support. */
enum { SHARE = 4 };
/* Columns kept at least, whatever the budget. */
enum { COLUMNS = 64 };

typedef struct nearby {
    int64_t wanted;     /* slots to have */
    clv_affinity *here; /* the operator on the arena */
    double *rank; /* n: what the arena is chosen by: r, or of a ball, the squared distances from its center, negative */
    double *fresh; /* n: rho of a load under way */
    int64_t *work; /* n */
    clv_affinity
        *held;       /* `here` before the load under way, whose objects are `before`: an interruption changes nothing */
    int64_t *before; /* n */
    int64_t before_count;
    double **column; /* a slot: kept columns, or NULL */
    int64_t *kept;   /* slots with a kept column */
    int64_t kept_count, kept_most;
    double outside;  /* the largest rank outside, */
    double chosen;   /* and what it was when the arena was chosen */
    double spent;    /* columns computed over all objects by loads, or as many entries */
    bool alone;      /* a working set */
    bool ball;       /* the arena is one, */
    bool worn;       /* but can no longer serve; */
    bool sharp;      /* none is, as it would prove nothing */
    clv_reach reach; /* of the weights, when `moved` was `weighed`; */
    double weighed;
    double within; /* squared distance from the center of all objects that have had weight since then */
    clv_rng rng;   /* which column gives way: use is cyclic, so the oldest would be the next one needed */
} nearby;

static void drop_columns(clv_arena *arena) {
    nearby *own = arena->own;
    for (int64_t t = 0; t < own->kept_count; t++) {
        clv_free(arena->problem->ctx, own->column[own->kept[t]]);
        own->column[own->kept[t]] = NULL;
    }
    own->kept_count = 0;
}

static int64_t part_of(const clv_dominant_problem *p, int64_t part) {
    return p->active_count / part > LEAST ? p->active_count / part : LEAST;
}

static clv_status nearby_create(clv_arena *arena) {
    const clv_dominant_problem *p = arena->problem;
    nearby *own = CLV_NEW0(p->ctx, nearby, 1);
    arena->own = own;
    if (!own) {
        return CLV_ENOMEM;
    }
    own->rank = CLV_NEW(p->ctx, double, p->n);
    own->fresh = CLV_NEW(p->ctx, double, p->n);
    own->work = CLV_NEW(p->ctx, int64_t, 2 * p->n);
    own->before = CLV_NEW(p->ctx, int64_t, arena->capacity);
    own->column = CLV_NEW0(p->ctx, double *, arena->capacity);
    own->kept = CLV_NEW(p->ctx, int64_t, arena->capacity);
    own->rng = clv_rng_stream(0, 0);
    CLV_TRY(clv_reach_new(p->affinity, &own->reach));
    own->sharp = !own->reach.of.points;
    own->wanted = part_of(p, own->sharp ? PART : PART_OF_BALL);
    bool whole = own->rank && own->fresh && own->work && own->before && own->column && own->kept;
    return whole ? CLV_OK : CLV_ENOMEM;
}

static void nearby_destroy(clv_arena *arena) {
    nearby *own = arena->own;
    clv_context *ctx = arena->problem->ctx;
    if (own) {
        if (own->column && own->kept) {
            drop_columns(arena);
        }
        clv_affinity_free(own->here);
        clv_reach_free(&own->reach);
        CLV_FREE_ALL(ctx, own->rank, own->fresh, own->before, own->work, own->column, own->kept, own);
    }
}

/* --- choosing the arena --- */

/* The ranks of active objects side by side, those with weight above all others, so that they are chosen. */
static void gather_ranks(clv_arena *arena, const int64_t *objects, int64_t count, double *out) {
    const clv_dominant_problem *p = arena->problem;
    nearby *own = arena->own;
    memset(arena->slot_of, 0, (size_t)p->n * sizeof *arena->slot_of);
    for (int64_t t = 0; t < count; t++) {
        arena->slot_of[objects[t]] = -1;
    }
#pragma omp parallel for num_threads(clv_team(arena->threads)) schedule(static)
    for (int64_t t = 0; t < p->active_count; t++) {
        int64_t i = p->active[t];
        out[t] = arena->slot_of[i] < 0 ? HUGE_VAL : own->rank[i];
    }
}

/* The slots, in ascending order of objects. `values` is work of active_count. */
static void choose_slots(clv_arena *arena, const int64_t *objects, int64_t count, double *values) {
    const clv_dominant_problem *p = arena->problem;
    nearby *own = arena->own;
    int64_t wanted = own->wanted > SHARE * count ? own->wanted : SHARE * count;
    arena->slots = wanted < p->active_count / 2 && isfinite(p->largest) ? wanted : p->active_count;
    if (arena->slots == p->active_count) {
        memcpy(arena->object, p->active, (size_t)arena->slots * sizeof *arena->object);
    } else {
        gather_ranks(arena, objects, count, values);
        clv_top_k(values, p->active_count, arena->slots, own->work, own->work + p->n, arena->threads);
        for (int64_t slot = 0; slot < arena->slots; slot++) {
            arena->object[slot] = p->active[own->work[slot]];
        }
    }
    for (int64_t slot = 0; slot < arena->slots; slot++) {
        arena->slot_of[arena->object[slot]] = (int32_t)slot;
    }
}

/* How many columns of the arena fit the budget. */
static int64_t room_for_columns(const clv_arena *arena) {
    size_t now = clv_memory_at_work(arena->problem->ctx), column = (size_t)arena->slots * sizeof(double);
    size_t budget = clv_affinity_budget(arena->problem->affinity);
    size_t room = budget > now ? (budget - now) / column : 0;
    room = room < COLUMNS ? COLUMNS : room;
    return room < (size_t)arena->slots ? (int64_t)room : arena->slots;
}

/* The largest rank outside the arena as it is. */
static double largest_outside(const clv_arena *arena) {
    const clv_dominant_problem *p = arena->problem;
    const nearby *own = arena->own;
    double most = -HUGE_VAL;
#pragma omp parallel for num_threads(clv_team(arena->threads)) schedule(static) reduction(max : most)
    for (int64_t t = 0; t < p->active_count; t++) {
        int64_t i = p->active[t], slot = arena->slot_of[i];
        bool inside = slot < arena->slots && arena->object[slot] == i;
        most = !inside && own->rank[i] > most ? own->rank[i] : most;
    }
    return most;
}

static bool holds_all(const clv_arena *arena, const int64_t *objects, int64_t count) {
    for (int64_t t = 0; t < count; t++) {
        int64_t slot = arena->slot_of[objects[t]];
        if (slot >= arena->slots || arena->object[slot] != objects[t]) {
            return false;
        }
    }
    return true;
}

/* Whether the arena still is as good as a new one would be, or nearly: its columns are then not lost. */
static bool still_serves(clv_arena *arena, const int64_t *objects, int64_t count) {
    nearby *own = arena->own;
    bool roomy = arena->slots == arena->problem->active_count || arena->slots >= SHARE * count;
    if (!own->here || !roomy || !holds_all(arena, objects, count)) {
        return false;
    }
    double top = -HUGE_VAL;
    for (int64_t slot = 0; slot < arena->slots; slot++) {
        top = own->rank[arena->object[slot]] > top ? own->rank[arena->object[slot]] : top;
    }
    own->outside = largest_outside(arena);
    return arena->slots == arena->problem->active_count || own->outside - own->chosen <= (top - own->outside) / 4;
}

static clv_status choose_arena(clv_arena *arena, const int64_t *objects, int64_t count) {
    nearby *own = arena->own;
    if (own->here != own->held) {
        clv_affinity_free(own->here);
    }
    own->here = NULL;
    choose_slots(arena, objects, count, own->fresh);
    own->chosen = own->outside = largest_outside(arena);
    return clv_affinity_subset(arena->problem->affinity, arena->object, arena->slots, &own->here);
}

/* --- loads --- */

/* Loads are not free for ever. */
static void count_load(nearby *own, int64_t count, double columns) {
    own->spent += columns;
    own->alone = own->spent > (double)(LOADS * count + FREE_COLUMNS);
}

static clv_status load_by_r(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count) {
    const clv_dominant_problem *p = arena->problem;
    nearby *own = arena->own;
    own->ball = false;
    CLV_TRY(clv_without_diagonal(p->affinity, objects, weights, count, own->rank, arena->threads));
    count_load(own, count, (double)count);
    if (!still_serves(arena, objects, count)) {
        CLV_TRY(choose_arena(arena, objects, count));
    }
    for (int64_t slot = 0; slot < arena->slots; slot++) {
        own->fresh[slot] = own->rank[arena->object[slot]];
    }
    return CLV_OK;
}

/* The largest r of the arena, from Ax of a load under way. */
static double top_of(const clv_arena *arena, const int64_t *objects, const double *weights, int64_t count) {
    const nearby *own = arena->own;
    double most = -HUGE_VAL, shift = arena->problem->options->shift;
    for (int64_t slot = 0, t = 0; slot < arena->slots; slot++) {
        double r = own->fresh[slot];
        if (t < count && objects[t] == arena->object[slot]) {
            r -= shift * weights[t++];
        }
        most = r > most ? r : most;
    }
    return most;
}

/* The bound from these weights, and whether the largest r of the arena is above it. */
static bool weigh(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count, double top,
                  double moved) {
    nearby *own = arena->own;
    clv_reach_weigh(&own->reach, objects, weights, count);
    own->weighed = moved;
    own->within = 0;
    for (int64_t t = 0; t < count; t++) {
        own->within = fmax(own->within, -own->rank[objects[t]]);
    }
    return arena->slots == arena->problem->active_count ||
           top >= clv_reach_bound(&own->reach, own->within, -own->outside, 0);
}

/* From the arena's own entries; `*proved` when nobody outside matters. */
static clv_status load_inside(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count,
                              bool *proved) {
    nearby *own = arena->own;
    for (int64_t t = 0; t < count; t++) {
        own->work[t] = arena->slot_of[objects[t]];
    }
    CLV_TRY(clv_without_diagonal(own->here, own->work, weights, count, own->fresh, arena->threads));
    count_load(own, count, 1 + (double)count * (double)arena->slots / (double)arena->problem->active_count);
    *proved = weigh(arena, objects, weights, count, top_of(arena, objects, weights, count), 0);
    return CLV_OK;
}

static clv_status load_ball(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count,
                            bool *proved) {
    nearby *own = arena->own;
    int64_t most = part_of(arena->problem, PART);
    *proved = false;
    if (own->ball && !own->worn && holds_all(arena, objects, count)) {
        CLV_TRY(load_inside(arena, objects, weights, count, proved));
    }
    while (!*proved && !own->sharp) {
        CLV_TRY(clv_reach_center(&own->reach, objects, weights, count, own->rank, arena->threads));
#pragma omp parallel for num_threads(clv_team(arena->threads)) schedule(static)
        for (int64_t i = 0; i < arena->problem->n; i++) {
            own->rank[i] = -own->rank[i];
        }
        own->ball = true;
        own->worn = false;
        CLV_TRY(choose_arena(arena, objects, count));
        CLV_TRY(load_inside(arena, objects, weights, count, proved));
        own->sharp = !*proved && own->wanted >= most;
        own->wanted = *proved ? own->wanted : most;
    }
    return CLV_OK;
}

/* The arena as it was before a load that failed. */
static void take_back(clv_arena *arena) {
    nearby *own = arena->own;
    own->worn = true; /* the ranks are no longer its own */
    if (own->here == own->held) {
        return;
    }
    clv_affinity_free(own->here);
    own->here = own->held;
    arena->slots = own->before_count;
    for (int64_t slot = 0; slot < arena->slots; slot++) {
        arena->object[slot] = own->before[slot];
        arena->slot_of[arena->object[slot]] = (int32_t)slot;
    }
}

static clv_status load_somehow(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count) {
    nearby *own = arena->own;
    bool proved = false;
    if (!own->sharp) {
        CLV_TRY(load_ball(arena, objects, weights, count, &proved));
    }
    return proved ? CLV_OK : load_by_r(arena, objects, weights, count);
}

static clv_status nearby_load(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count) {
    nearby *own = arena->own;
    own->held = own->here;
    own->before_count = arena->slots;
    memcpy(own->before, arena->object, (size_t)arena->slots * sizeof *own->before);
    clv_status status = load_somehow(arena, objects, weights, count);
    if (status < 0) {
        take_back(arena);
        return status;
    }
    if (own->here != own->held) {
        drop_columns(arena);
        clv_affinity_free(own->held);
        own->kept_most = room_for_columns(arena);
        CLV_TRY(clv_agree_least(arena->problem->ctx, &own->kept_most));
    }
    memcpy(arena->rho, own->fresh, (size_t)arena->slots * sizeof *own->fresh);
    arena->top = clv_kernels->place_of_largest(arena->rho, arena->slots);
    return CLV_OK;
}

static bool nearby_outdated(clv_arena *arena, double top, double moved, double gap) {
    const nearby *own = arena->own;
    if (arena->slots == arena->problem->active_count) {
        return false;
    }
    if (own->alone) {
        return gap <= arena->goal;
    }
    return top < (own->ball ? clv_reach_bound(&own->reach, own->within, -own->outside, moved - own->weighed)
                            : own->outside + moved * arena->problem->largest);
}

static bool nearby_renew(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count, double top,
                         double moved) {
    nearby *own = arena->own;
    if (!own->ball || own->alone) {
        return false;
    }
    own->worn = !weigh(arena, objects, weights, count, top, moved);
    return !own->worn;
}

/* --- columns --- */

/* Room for one more column: fresh, or that of a kept one other than `spared`. */
static double *column_room(clv_arena *arena, int64_t spared) {
    nearby *own = arena->own;
    if (own->kept_count < own->kept_most) {
        return CLV_NEW(arena->problem->ctx, double, arena->slots);
    }
    int64_t t = clv_rng_below(&own->rng, own->kept_count);
    t = own->kept[t] == spared ? (t + 1) % own->kept_count : t;
    double *column = own->column[own->kept[t]];
    own->column[own->kept[t]] = NULL;
    own->kept[t] = own->kept[--own->kept_count];
    return column;
}

static clv_status column_of(clv_arena *arena, int64_t i, int64_t spared, const double **out) {
    nearby *own = arena->own;
    if (!own->column[i]) {
        double *column = column_room(arena, spared);
        if (!column) {
            return CLV_ENOMEM;
        }
        clv_status status = clv_affinity_column_threads(own->here, i, column, arena->threads);
        if (status < 0) {
            clv_free(arena->problem->ctx, column);
            return status;
        }
        column[i] = 0;
        own->column[i] = column;
        own->kept[own->kept_count++] = i;
    }
    *out = own->column[i];
    return CLV_OK;
}

static clv_status nearby_add(clv_arena *arena, int64_t i, double wi, int64_t j, double wj) {
    nearby *own = arena->own;
    const double *left, *right;
    if (own->ball) { /* it may have weight now */
        own->within = fmax(own->within, -own->rank[arena->object[i]]);
    }
    CLV_TRY(column_of(arena, i, j, &left));
    if (j < 0) {
        arena->top = clv_kernels->f64.pass_one(arena->rho, left, wi, arena->slots);
        return CLV_OK;
    }
    CLV_TRY(column_of(arena, j, i, &right));
    arena->top = clv_kernels->f64.pass_two(arena->rho, left, wi, right, wj, arena->slots);
    return CLV_OK;
}

static clv_status nearby_entry(clv_arena *arena, int64_t i, int64_t j, double *out) {
    const nearby *own = arena->own;
    if (!own->column[i] && !own->column[j]) {
        return clv_affinity_entry(own->here, i, j, out);
    }
    *out = own->column[j] ? own->column[j][i] : own->column[i][j];
    return CLV_OK;
}

static clv_status nearby_gather(clv_arena *arena, int64_t i, const int32_t *others, int64_t count, double *out) {
    const double *column = ((const nearby *)arena->own)->column[i];
    for (int64_t t = 0; t < count; t++) {
        if (column) {
            out[t] = column[others[t]];
        } else {
            CLV_TRY(nearby_entry(arena, i, others[t], out + t));
        }
    }
    return CLV_OK;
}

/* --- checkpoints --- */

/* The columns that were kept, in their order: which of them give way depends on it, and an entry is looked up in them.
 */
static clv_status compute_columns(clv_arena *arena, int64_t count) {
    nearby *own = arena->own;
    int64_t *kept = own->work;
    const double *column;
    memcpy(kept, own->kept, (size_t)count * sizeof *kept);
    for (int64_t t = 0; t < count; t++) {
        if (own->column[kept[t]]) {
            return CLV_EDATA; /* twice */
        }
        CLV_TRY(column_of(arena, kept[t], -1, &column));
    }
    return CLV_OK;
}

static void pass_reach(nearby *own, clv_archive *archive) {
    double *const numbers[] = {&own->reach.sum, &own->reach.offset, &own->reach.second, &own->weighed, &own->within};
    if (own->reach.of.points) {
        clv_pass_reals(archive, own->reach.center.values, own->reach.center.features * CLV_TILE);
    }
    for (size_t i = 0; i < CLV_COUNT(numbers); i++) {
        clv_pass_real(archive, numbers[i]);
    }
}

static clv_status nearby_pass(clv_arena *arena, clv_archive *archive) {
    const clv_dominant_problem *p = arena->problem;
    nearby *own = arena->own;
    bool *const flags[] = {&own->alone, &own->ball, &own->worn, &own->sharp};
    double *const numbers[] = {&own->outside, &own->chosen, &own->spent};
    if (archive->loading) {
        drop_columns(arena);
    }
    int64_t kept = own->kept_count;
    clv_pass_integer(archive, &own->wanted, 1, INT64_MAX / 4);
    clv_pass_reals(archive, own->rank, p->n);
    for (size_t i = 0; i < CLV_COUNT(flags); i++) {
        clv_pass_flag(archive, flags[i]);
    }
    for (size_t i = 0; i < CLV_COUNT(numbers); i++) {
        clv_pass_real(archive, numbers[i]);
    }
    pass_reach(own, archive);
    clv_pass_rng(archive, &own->rng);
    clv_pass_integer(archive, &own->kept_most, arena->slots > 1 ? 2 : 1, arena->slots);
    clv_pass_integer(archive, &kept, 0, own->kept_most);
    clv_pass_places(archive, own->kept, kept, 0, arena->slots - 1);
    if (!archive->loading || archive->status < 0) {
        return archive->status;
    }
    own->sharp = own->sharp || !own->reach.of.points;
    own->ball = own->ball && own->reach.of.points;
    clv_affinity_free(own->here);
    own->here = own->held = NULL;
    CLV_TRY(clv_affinity_subset(p->affinity, arena->object, arena->slots, &own->here));
    clv_status status = compute_columns(arena, kept);
    return status == CLV_EDATA ? clv_archive_refuse(archive) : status;
}

const clv_arena_kind clv_arena_nearby = {
    .create = nearby_create,
    .destroy = nearby_destroy,
    .load = nearby_load,
    .add = nearby_add,
    .entry = nearby_entry,
    .gather = nearby_gather,
    .outdated = nearby_outdated,
    .renew = nearby_renew,
    .pass = nearby_pass,
};
