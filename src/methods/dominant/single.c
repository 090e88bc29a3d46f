/* One dominant set: a start, then steps until the Frank-Wolfe gap is small against x'Ax, under the driver.
 *
 * Problem      maximize x'(A + alpha (ee' - I))x over the simplex on the active objects.
 * Reference    Pavan and Pelillo 2007; Johnell and Haghir Chehreghani, "Efficient optimization of dominant set
 *              clustering with Frank-Wolfe algorithms".
 * Certificate  gap = max_i (Bx)_i - x'Bx over the active objects, from a fresh Bx: 0 at the points that satisfy the
 *              first-order conditions. (The paper's proofs call twice this the gap.)
 * Cost         a step of fw, pfw or afw: one or two columns; of rd: a product with A. */
#include "methods/dominant/dominant.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct single {
    const clv_dominant_problem *problem;
    bool replicates;
    clv_ascent ascent;
    clv_replicator replicator;
    double *x; /* n: work */
} single;

static void single_destroy(clv_context *ctx, void *state) {
    single *s = state;
    if (s) {
        clv_ascent_free(&s->ascent);
        clv_replicator_free(&s->replicator);
        clv_free(ctx, s->x);
        clv_free(ctx, s);
    }
}

static clv_status single_create(clv_context *ctx, const void *problem, int threads, void **state) {
    const clv_dominant_problem *p = problem;
    single *s = *state = CLV_NEW0(ctx, single, 1);
    if (!s) {
        return CLV_ENOMEM;
    }
    s->problem = p;
    s->replicates = p->options->solver == CLV_DOMINANT_RD;
    s->x = CLV_NEW(ctx, double, p->n);
    if (!s->x) {
        return CLV_ENOMEM;
    }
    return s->replicates ? clv_replicator_new(p, threads, &s->replicator) : clv_ascent_new(p, threads, &s->ascent);
}

/* What the driver wants to know. A gap at the level of rounding cannot be made smaller by steps. */
static void show(const single *s, clv_iterate *out) {
    const clv_dominant_problem *p = s->problem;
    const clv_ascent *a = &s->ascent;
    double value = s->replicates ? s->replicator.value : a->value;
    double squares = s->replicates ? s->replicator.squares : a->squares;
    double similarity = s->replicates ? s->replicator.similarity : clv_ascent_similarity(a);
    out->value = value + p->options->shift;
    out->certificate = s->replicates ? s->replicator.gap : clv_ascent_gap(a);
    out->converged = out->certificate <= p->tol * similarity;
    out->stalled = out->certificate <= 4 * DBL_EPSILON * (fabs(similarity) + p->options->shift * squares);
    out->extra[0] = s->replicates ? (double)p->active_count : (double)a->size;
    out->extra[1] = (double)a->drops;
    out->extra[2] = (double)a->swaps;
}

static clv_status set(single *s, const double *x, clv_iterate *out) {
    CLV_TRY(s->replicates ? clv_replicator_set(&s->replicator, x) : clv_ascent_set(&s->ascent, x));
    show(s, out);
    return CLV_OK;
}

/* Equal weights, or half of the weight on one object and the rest on the others. */
static void set_center(const clv_dominant_problem *p, double *x) {
    bool half = p->seed.object >= 0 && p->active_count > 1;
    for (int64_t t = 0; t < p->active_count; t++) {
        x[p->active[t]] = half ? 0.5 / (double)(p->active_count - 1) : 1 / (double)p->active_count;
    }
    if (half) {
        x[p->seed.object] = 0.5;
    }
}

static void set_given(const clv_dominant_problem *p, double *x) {
    double sum = 0;
    for (int64_t t = 0; t < p->active_count; t++) {
        sum += p->seed.weights[p->active[t]];
    }
    for (int64_t t = 0; t < p->active_count; t++) {
        x[p->active[t]] = p->seed.weights[p->active[t]] / sum;
    }
}

static clv_status single_start(void *state, clv_rng *rng, clv_iterate *out) {
    single *s = state;
    const clv_dominant_problem *p = s->problem;
    memset(s->x, 0, (size_t)p->n * sizeof *s->x);
    switch (p->seed.kind) {
    case CLV_SEED_OBJECT:
        s->x[p->seed.object] = 1;
        break;
    case CLV_SEED_RANDOM:
        s->x[p->active[clv_rng_below(rng, p->active_count)]] = 1;
        break;
    case CLV_SEED_CENTER:
        set_center(p, s->x);
        break;
    case CLV_SEED_WEIGHTS:
        set_given(p, s->x);
        break;
    }
    clv_ascent_begin(&s->ascent);
    return set(s, s->x, out);
}

static clv_status single_step(void *state, clv_iterate *out) {
    single *s = state;
    bool stuck = false;
    s->ascent.step = HUGE_VAL;
    if (s->replicates) {
        CLV_TRY(clv_replicator_step(&s->replicator, &stuck));
    } else if (clv_face_is_due(&s->ascent)) {
        CLV_TRY(clv_face_jump(&s->ascent));
    } else {
        CLV_TRY(clv_ascent_step(&s->ascent, &stuck));
    }
    show(s, out);
    double change = s->problem->options->change, step = s->replicates ? s->replicator.step : s->ascent.step;
    out->stalled = out->stalled || stuck || (change > 0 && step <= change);
    return CLV_OK;
}

/* Millions of steps leave a sum of weights that is 1 to nine digits. */
static void normalize(double *x, int64_t n) {
    double sum = clv_sum(x, n, 1);
    for (int64_t i = 0; i < n; i++) {
        x[i] /= sum;
    }
}

typedef struct snapshot {
    double *x; /* n */
    int64_t drops, swaps;
    double similarity; /* x'Ax */
} snapshot;

static void free_snapshot(clv_context *ctx, void *snap) {
    snapshot *s = snap;
    if (s) {
        clv_free(ctx, s->x);
        clv_free(ctx, s);
    }
}

static clv_status new_snapshot(clv_context *ctx, const void *problem, void **out) {
    snapshot *s = *out = CLV_NEW0(ctx, snapshot, 1);
    if (!s) {
        return CLV_ENOMEM;
    }
    s->x = CLV_NEW(ctx, double, ((const clv_dominant_problem *)problem)->n);
    return s->x ? CLV_OK : CLV_ENOMEM;
}

static clv_status single_save(void *state, void *snap) {
    const single *s = state;
    snapshot *to = snap;
    int64_t n = s->problem->n;
    if (s->replicates) {
        clv_replicator_get(&s->replicator, to->x);
    } else {
        clv_ascent_get(&s->ascent, to->x);
    }
    normalize(to->x, n);
    to->drops = s->ascent.drops;
    to->swaps = s->ascent.swaps;
    to->similarity = s->replicates ? s->replicator.similarity : clv_ascent_similarity(&s->ascent);
    return CLV_OK;
}

static clv_status single_resume(void *state, const void *snap, clv_iterate *out) {
    return set(state, ((const snapshot *)snap)->x, out);
}

static clv_status single_pass(void *state, clv_archive *archive) {
    single *s = state;
    return s->replicates ? clv_replicator_pass(&s->replicator, archive) : clv_ascent_pass(&s->ascent, archive);
}

/* The objects with weight. */
static clv_status single_pass_snapshot(const void *problem, void *snap, clv_archive *archive) {
    const clv_dominant_problem *p = problem;
    snapshot *s = snap;
    int64_t count = 0, last = -1;
    for (int64_t i = 0; i < p->n && !archive->loading; i++) {
        count += s->x[i] > 0;
    }
    clv_pass_count(archive, &count, p->n, sizeof(double));
    if (archive->loading) {
        memset(s->x, 0, (size_t)p->n * sizeof *s->x);
    }
    for (int64_t e = 0, i = 0; e < count && archive->status == CLV_OK; e++) {
        while (!archive->loading && !(s->x[i] > 0)) {
            i++;
        }
        clv_pass_integer(archive, &i, last + 1, p->n - 1);
        clv_pass_reals(archive, &s->x[i], 1);
        last = i++;
    }
    clv_pass_integer(archive, &s->drops, 0, INT64_MAX / 4);
    clv_pass_integer(archive, &s->swaps, 0, INT64_MAX / 4);
    clv_pass_real(archive, &s->similarity);
    return archive->loading && count == 0 ? clv_archive_refuse(archive) : archive->status;
}

/* --- its result --- */

void clv_dominant_set_free(clv_context *ctx, clv_dominant_set *set) {
    CLV_FREE_ALL(ctx, set->objects, set->weights, set->trace);
    *set = (clv_dominant_set){0};
}

/* The objects with weight, the heaviest of them, and how many are members. */
static clv_status list_objects(const clv_dominant_problem *p, const double *x, clv_dominant_set *out) {
    double cutoff = clv_dominant_cutoff(p->options, p->active_count);
    int64_t count = 0, heaviest = 0;
    for (int64_t i = 0; i < p->n; i++) {
        count += x[i] > 0;
        heaviest = x[i] > x[heaviest] ? i : heaviest;
    }
    out->objects = CLV_NEW(p->ctx, int64_t, count);
    out->weights = CLV_NEW(p->ctx, double, count);
    if (!out->objects || !out->weights) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < p->n; i++) {
        if (x[i] > 0) {
            out->objects[out->count] = i;
            out->weights[out->count++] = x[i];
            out->about.size += x[i] > cutoff;
        }
    }
    out->about.prototype = heaviest;
    return CLV_OK;
}

/* The set that the best iterate is. */
static clv_status describe(const clv_dominant_problem *p, const snapshot *best, clv_result *result,
                           clv_dominant_set *out) {
    CLV_TRY(list_objects(p, best->x, out));
    out->about.cohesiveness = result->objective.value;
    out->about.similarity = best->similarity;
    out->about.certificate = result->certificate.value;
    out->about.iterations = result->iterations;
    out->about.drops = best->drops;
    out->about.swaps = best->swaps;
    out->about.stop = result->stop;
    out->drift = result->drift;
    out->trace = result->trace;
    out->trace_count = result->trace_count;
    result->trace = NULL;
    return CLV_OK;
}

clv_status clv_dominant_single(const clv_dominant_problem *p, const clv_control *control, clv_dominant_set *out) {
    clv_solver solver = {.method = &clv_dominant_method,
                         .extras = {"support", "drops", "swaps"},
                         .monotone = true,
                         .rule_on_iterate = true,
                         .problem = p,
                         .create = single_create,
                         .destroy = single_destroy,
                         .start = single_start,
                         .step = single_step,
                         .new_snapshot = new_snapshot,
                         .free_snapshot = free_snapshot,
                         .save = single_save,
                         .resume = single_resume,
                         .pass = single_pass,
                         .pass_snapshot = single_pass_snapshot,
                         .run = p->run};
    clv_result *result;
    void *best;
    CLV_TRY(clv_result_new(p->ctx, 0, 0, &result));
    clv_status status = clv_drive(p->ctx, &solver, control, result, &best);
    if (status == CLV_OK) {
        status = describe(p, best, result, out);
    }
    free_snapshot(p->ctx, best);
    clv_result_free(result);
    return status;
}

/* Weights, r and lists of one worker; the columns that are kept where they are computed come on top, within the budget.
 */
size_t clv_dominant_single_memory(const clv_affinity_info *plan, const clv_dominant_options *options) {
    size_t objects = (size_t)plan->n, real = sizeof(double);
    size_t snapshots = 2 * objects * real, work = objects * real;
    if (options->solver == CLV_DOMINANT_RD) {
        return snapshots + work + 3 * objects * real;
    }
    size_t ascent = objects * (3 * real + sizeof(int64_t) + 2 * sizeof(int32_t)) + objects * real;
    size_t arena = plan->sparse ? objects * (sizeof(int64_t) + sizeof(int32_t))
                   : plan->cost.resident
                       ? 0
                       : objects * (5 * sizeof(int64_t) + sizeof(int32_t) + 2 * real + sizeof(void *));
    return snapshots + work + ascent + arena;
}
