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

const char *const clv_dominant_solvers[] = {"fw", "pfw", "afw", "rd"};

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
    single *s = CLV_NEW0(ctx, single, 1);
    if (!s) {
        return CLV_ENOMEM;
    }
    s->problem = p;
    s->replicates = p->options->solver == CLV_DOMINANT_RD;
    s->x = CLV_NEW(ctx, double, p->n);
    clv_status status = s->x ? CLV_OK : CLV_ENOMEM;
    if (status == CLV_OK) {
        status =
            s->replicates ? clv_replicator_new(p, threads, &s->replicator) : clv_ascent_new(p, threads, &s->ascent);
    }
    if (status < 0) {
        single_destroy(ctx, s);
        return status;
    }
    *state = s;
    return CLV_OK;
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
    if (s->replicates) {
        CLV_TRY(clv_replicator_step(&s->replicator, &stuck));
    } else if (clv_face_is_due(&s->ascent)) {
        CLV_TRY(clv_face_jump(&s->ascent));
    } else {
        CLV_TRY(clv_ascent_step(&s->ascent, &stuck));
    }
    show(s, out);
    out->stalled = out->stalled || stuck;
    return CLV_OK;
}

/* Millions of steps leave a sum of weights that is 1 to nine digits. */
static void normalize(double *x, int64_t n) {
    double sum = clv_sum(x, n, 1);
    for (int64_t i = 0; i < n; i++) {
        x[i] /= sum;
    }
}

static void single_save(const void *state, void *snapshot) {
    const single *s = state;
    double *x = snapshot;
    int64_t n = s->problem->n;
    if (s->replicates) {
        memcpy(x, s->replicator.x, (size_t)n * sizeof *x);
    } else {
        clv_ascent_get(&s->ascent, x);
    }
    normalize(x, n);
    x[n] = (double)s->ascent.drops;
    x[n + 1] = (double)s->ascent.swaps;
    x[n + 2] = s->replicates ? s->replicator.similarity : clv_ascent_similarity(&s->ascent);
}

static clv_status single_resume(void *state, const void *snapshot, clv_iterate *out) {
    return set(state, snapshot, out);
}

/* --- its result --- */

void clv_dominant_set_free(clv_context *ctx, clv_dominant_set *set) {
    clv_free(ctx, set->objects);
    clv_free(ctx, set->weights);
    clv_free(ctx, set->trace);
    *set = (clv_dominant_set){0};
}

/* The objects with weight, and the heaviest of them. */
static clv_status list_objects(const clv_dominant_problem *p, const double *x, clv_dominant_set *out) {
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
        }
    }
    out->about.prototype = heaviest;
    return CLV_OK;
}

static void count_members(const clv_dominant_problem *p, clv_dominant_set *out) {
    double cutoff = clv_dominant_cutoff(p->options, p->active_count);
    out->about.size = 0;
    for (int64_t t = 0; t < out->count; t++) {
        out->about.size += out->weights[t] > cutoff;
    }
}

static clv_method method_on(const clv_dominant_problem *p) {
    return (clv_method){.name = "dominant",
                        .solver = clv_dominant_solvers[p->options->solver],
                        .objective = "cohesiveness",
                        .maximize = true,
                        .certificate = "frank-wolfe-gap",
                        .extras = {"support", "drops", "swaps"},
                        .monotone = true,
                        .rule_on_iterate = true,
                        .snapshot_size = (size_t)(p->n + CLV_COUNTERS) * sizeof(double),
                        .problem = p,
                        .create = single_create,
                        .destroy = single_destroy,
                        .start = single_start,
                        .step = single_step,
                        .save = single_save,
                        .resume = single_resume};
}

clv_status clv_dominant_single(const clv_dominant_problem *p, const clv_control *control, double *x,
                               clv_dominant_set *out) {
    clv_method method = method_on(p);
    clv_result *result;
    CLV_TRY(clv_result_new(p->ctx, 0, 0, &result));
    clv_status status = clv_drive(p->ctx, &method, control, result, x);
    if (status == CLV_OK) {
        status = list_objects(p, x, out);
    }
    if (status == CLV_OK) {
        out->about.cohesiveness = result->objective.value;
        out->about.similarity = x[p->n + 2];
        out->about.certificate = result->certificate.value;
        out->about.iterations = result->iterations;
        out->about.drops = (int64_t)x[p->n];
        out->about.swaps = (int64_t)x[p->n + 1];
        out->about.stop = result->stop;
        out->drift = result->drift;
        out->trace = result->trace;
        out->trace_count = result->trace_count;
        result->trace = NULL;
        count_members(p, out);
    }
    clv_result_free(result);
    return status;
}

/* Weights, r and lists of one worker; the columns that a computed home keeps come on top, within the budget. */
size_t clv_dominant_single_memory(int64_t n, clv_home home, const clv_dominant_options *options) {
    size_t objects = (size_t)n, real = sizeof(double);
    size_t snapshots = 2 * objects * real, work = objects * real;
    if (options->solver == CLV_DOMINANT_RD) {
        return snapshots + work + 3 * objects * real;
    }
    size_t ascent = objects * (3 * real + sizeof(int64_t) + 2 * sizeof(int32_t)) + objects * real;
    size_t arena = home == CLV_HOME_SPARSE ? objects * (sizeof(int64_t) + sizeof(int32_t))
                   : home == CLV_HOME_DENSE64 || home == CLV_HOME_DENSE32
                       ? 0
                       : objects * (4 * sizeof(int64_t) + sizeof(int32_t) + real + sizeof(void *));
    return snapshots + work + ascent + arena;
}
