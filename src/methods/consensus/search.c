/* The search for a small cut: a spectral start, groups moved in turn while that lowers the cut, then kicks that give
 * all objects of one cluster of one input another label, and moves from there, until `patience` kicks in a row bring
 * nothing. A sweep costs M k per group. */
#include "methods/consensus/consensus.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { LLOYD_ROUNDS = 12, POLL = 4096 };

typedef struct problem {
    const clv_groups *groups;
    const clv_consensus_options *options;
    int64_t k, patience;
    double *place;                    /* count x k: where groups lie in the space of the eigenvectors */
    int64_t *column_start, *in_order; /* the groups of each column of F */
    bool rough;                       /* there are no eigenvectors: no time was left for them */
} problem;

typedef struct run {
    const problem *problem;
    clv_sums sums;
    clv_rng rng;
    int32_t *labels, *home; /* count: now, and at the best cut that no move lowers */
    double *centers, *mass; /* k x k, k: work of the start */
    double *nearest;        /* count: likewise */
    double value, best;
    int64_t failures; /* kicks in a row without gain */
    bool settled;     /* no group can be moved with gain */
} run;

/* --- the start: k-means on the rows of the eigenvectors --- */

static double distance(const double *a, const double *b, int64_t k) {
    double sum = 0;
    for (int64_t c = 0; c < k; c++) {
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    }
    return sum;
}

/* Whether a pass over the distances of all groups takes longer than a moment. */
static bool is_large(const problem *p) {
    return p->groups->count * p->k * p->k > CLV_CONSENSUS_MOMENT;
}

static double mass_of(const clv_groups *g, int64_t i) {
    return g->weight[i] * g->degree[i];
}

/* Each center is drawn with a probability by the distance to those before it: kmeans++. A draw that finds no distance
 * left takes any group that is no center yet. False: the time was over before all were drawn. */
static bool draw_centers(run *r) {
    const problem *p = r->problem;
    const clv_groups *g = p->groups;
    for (int64_t c = 0; c < p->k; c++) {
        double total = 0;
        for (int64_t i = 0; i < g->count; i++) {
            double far = c == 0 ? 1 : distance(p->place + i * p->k, r->centers + (c - 1) * p->k, p->k);
            r->nearest[i] = c < 2 ? far : fmin(far, r->nearest[i]);
            total += mass_of(g, i) * r->nearest[i];
        }
        double left = clv_rng_uniform(&r->rng) * total;
        int64_t chosen = clv_rng_below(&r->rng, g->count);
        for (int64_t i = 0; i < g->count && total > 0; i++) {
            left -= mass_of(g, i) * r->nearest[i];
            if (left < 0) {
                chosen = i;
                break;
            }
        }
        memcpy(r->centers + c * p->k, p->place + chosen * p->k, (size_t)p->k * sizeof *r->centers);
        if (is_large(p) && clv_worked(g->ctx, g->count * p->k)) {
            return false;
        }
    }
    return true;
}

/* How many labels change; -1: the time was over before all had one. */
static int64_t assign(run *r) {
    const problem *p = r->problem;
    bool large = is_large(p);
    int64_t changed = 0;
    for (int64_t i = 0; i < p->groups->count; i++) {
        double least = HUGE_VAL;
        int32_t label = 0;
        for (int64_t c = 0; c < p->k; c++) {
            double far = distance(p->place + i * p->k, r->centers + c * p->k, p->k);
            label = far < least ? (int32_t)c : label;
            least = fmin(far, least);
        }
        changed += label != r->labels[i];
        r->labels[i] = label;
        r->nearest[i] = least;
        if (large && i % POLL == POLL - 1 && clv_worked(p->groups->ctx, POLL * p->k * p->k)) {
            return -1;
        }
    }
    return changed;
}

static void update_centers(run *r) {
    const problem *p = r->problem;
    int64_t k = p->k;
    memset(r->centers, 0, (size_t)(k * k) * sizeof *r->centers);
    memset(r->mass, 0, (size_t)k * sizeof *r->mass);
    for (int64_t i = 0; i < p->groups->count; i++) {
        double mass = mass_of(p->groups, i), *center = r->centers + r->labels[i] * k;
        r->mass[r->labels[i]] += mass;
        for (int64_t c = 0; c < k; c++) {
            center[c] += mass * p->place[i * k + c];
        }
    }
    for (int64_t c = 0; c < k; c++) {
        for (int64_t j = 0; j < k && r->mass[c] > 0; j++) {
            r->centers[c * k + j] /= r->mass[c];
        }
    }
}

/* Every cluster has a group: an empty one gets the group farthest from its center, of a cluster with others. */
static void fill_empty(run *r) {
    const clv_groups *g = r->problem->groups;
    int64_t *count = (int64_t *)(void *)r->mass; /* k entries of the same size, free now */
    memset(count, 0, (size_t)r->problem->k * sizeof *count);
    for (int64_t i = 0; i < g->count; i++) {
        count[r->labels[i]]++;
    }
    for (int32_t c = 0; c < r->problem->k; c++) {
        int64_t farthest = -1;
        for (int64_t i = 0; count[c] == 0 && i < g->count; i++) {
            bool more = farthest < 0 || r->nearest[i] > r->nearest[farthest];
            farthest = count[r->labels[i]] > 1 && more ? i : farthest;
        }
        if (farthest >= 0) {
            count[r->labels[farthest]]--;
            r->labels[farthest] = c;
            r->nearest[farthest] = 0;
            count[c]++;
        }
    }
}

static void refresh(run *r) {
    const clv_groups *g = r->problem->groups;
    clv_sums_clear(&r->sums);
    for (int64_t i = 0; i < g->count; i++) {
        clv_sums_add(&r->sums, i, r->labels[i], g->weight[i]);
    }
    clv_sums_square(&r->sums);
    r->value = clv_sums_cut(&r->sums);
}

/* Labels of the first input, in as many clusters: for a search that has no time for eigenvectors. */
static void begin_roughly(run *r) {
    const clv_groups *g = r->problem->groups;
    for (int64_t i = 0; i < g->count; i++) {
        int32_t label = clv_groups_label(g, 0, i);
        r->labels[i] = (int32_t)((label < 0 ? i : label) % r->problem->k);
        r->nearest[i] = 0;
    }
}

/* False: there was no time for labels of all groups. */
static bool begin_spectrally(run *r) {
    const clv_groups *g = r->problem->groups;
    memset(r->labels, -1, (size_t)g->count * sizeof *r->labels);
    if (r->problem->rough || !draw_centers(r) || assign(r) < 0) {
        return false;
    }
    for (int round = 1; round < LLOYD_ROUNDS; round++) {
        update_centers(r);
        if (assign(r) <= 0 || clv_worked(g->ctx, g->count * r->problem->k * r->problem->k)) {
            break; /* in the middle of a round, too, all have a label: that of this round or of the one before */
        }
    }
    return true;
}

/* A start is a result: it does not give up, only refines less. */
static clv_status begin(void *state, clv_rng *rng, clv_iterate *out) {
    run *r = state;
    const clv_groups *g = r->problem->groups;
    r->rng = *rng;
    r->failures = 0;
    r->settled = false;
    if (!begin_spectrally(r)) {
        begin_roughly(r);
    }
    fill_empty(r);
    refresh(r);
    memcpy(r->home, r->labels, (size_t)g->count * sizeof *r->home);
    out->value = r->best = r->value;
    return CLV_OK;
}

/* --- moves --- */

/* One group to where it lowers the cut most, if it does and its cluster has others. */
static bool move_group(run *r, int64_t i) {
    clv_sums *s = &r->sums;
    int32_t from = r->labels[i], to = -1;
    double weight = s->groups->weight[i], most = CLV_CONSENSUS_GAIN;
    if (s->size[from] < weight + 0.5) {
        return false;
    }
    clv_sums_dots(s, i);
    for (int32_t c = 0; c < s->k; c++) {
        double gain = c != from ? clv_sums_gain(s, i, from, c, weight) : 0;
        if (gain > most) {
            most = gain;
            to = c;
        }
    }
    if (to < 0) {
        return false;
    }
    double own = weight * weight * s->groups->square[i];
    s->square[from] += own - 2 * weight * s->dot[from];
    s->square[to] += own + 2 * weight * s->dot[to];
    clv_sums_add(s, i, from, -weight);
    clv_sums_add(s, i, to, weight);
    r->labels[i] = to;
    return true;
}

static clv_status sweep(run *r) {
    const clv_groups *g = r->problem->groups;
    int64_t moved = 0;
    for (int64_t i = 0; i < g->count; i++) {
        moved += move_group(r, i);
        if (i % POLL == POLL - 1 && clv_interrupted(g->ctx)) {
            return clv_stop_failure(g->ctx, "searching for a consensus");
        }
    }
    clv_sums_square(&r->sums);
    r->value = clv_sums_cut(&r->sums);
    r->settled = moved == 0;
    return CLV_OK;
}

/* All groups of one column of F get one label, but for the last group of a cluster. */
static void kick(run *r) {
    const problem *p = r->problem;
    const clv_groups *g = p->groups;
    memcpy(r->labels, r->home, (size_t)g->count * sizeof *r->home);
    refresh(r);
    int64_t column = clv_rng_below(&r->rng, g->width);
    int32_t to = (int32_t)clv_rng_below(&r->rng, p->k);
    for (int64_t e = p->column_start[column]; e < p->column_start[column + 1]; e++) {
        int64_t i = p->in_order[e];
        int32_t from = r->labels[i];
        if (from != to && r->sums.size[from] > g->weight[i] + 0.5) {
            clv_sums_add(&r->sums, i, from, -g->weight[i]);
            clv_sums_add(&r->sums, i, to, g->weight[i]);
            r->labels[i] = to;
        }
    }
    clv_sums_square(&r->sums);
    r->settled = false;
}

static clv_status step(void *state, clv_iterate *out) {
    run *r = state;
    const clv_groups *g = r->problem->groups;
    if (r->settled) {
        kick(r);
    }
    CLV_TRY(sweep(r));
    out->value = r->value;
    if (!r->settled) {
        return CLV_OK;
    }
    bool better = r->value < r->best - CLV_CONSENSUS_GAIN;
    if (better || r->failures == 0) { /* the first time, home is the start */
        memcpy(r->home, r->labels, (size_t)g->count * sizeof *r->home);
        r->best = fmin(r->best, r->value);
    }
    r->failures = better ? 1 : r->failures + 1;
    out->converged = r->failures > r->problem->patience || r->problem->k == 1;
    return CLV_OK;
}

/* --- for the driver --- */

static clv_status new_labels(clv_context *ctx, const void *problem_, void **snapshot) {
    const problem *p = problem_;
    *snapshot = CLV_NEW(ctx, int32_t, p->groups->count);
    return *snapshot ? CLV_OK : CLV_ENOMEM;
}

static void destroy(clv_context *ctx, void *state) {
    run *r = state;
    if (r) {
        clv_sums_free(&r->sums);
        CLV_FREE_ALL(ctx, r->labels, r->home, r->centers, r->mass, r->nearest);
        clv_free(ctx, r);
    }
}

static clv_status create(clv_context *ctx, const void *problem_, int threads, void **state) {
    const problem *p = problem_;
    int64_t count = p->groups->count;
    run *r = *state = CLV_NEW0(ctx, run, 1);
    (void)threads; /* a sweep is in turn: each group is judged by the moves before it */
    if (!r) {
        return CLV_ENOMEM;
    }
    r->problem = p;
    r->labels = CLV_NEW(ctx, int32_t, count);
    r->home = CLV_NEW(ctx, int32_t, count);
    r->centers = CLV_NEW(ctx, double, p->k * p->k);
    r->mass = CLV_NEW(ctx, double, p->k);
    r->nearest = CLV_NEW(ctx, double, count);
    clv_status status = clv_sums_new(p->groups, p->k, &r->sums);
    bool all = r->labels && r->home && r->centers && r->mass && r->nearest;
    return all ? status : CLV_ENOMEM;
}

static clv_status save(void *state, void *snapshot) {
    run *r = state;
    memcpy(snapshot, r->labels, (size_t)r->problem->groups->count * sizeof *r->labels);
    return CLV_OK;
}

/* The largest gain of a single object of any group; NaN: the time was over before all had been looked at. */
static double largest_gain(run *r) {
    const clv_groups *g = r->problem->groups;
    double most = -HUGE_VAL;
    for (int64_t i = 0; i < g->count; i++) {
        int32_t from = r->labels[i];
        if (i % POLL == POLL - 1 && clv_worked(g->ctx, (g->start[i] - g->start[i + 1 - POLL]) * r->sums.k)) {
            return NAN;
        }
        if (r->sums.size[from] < 1.5) {
            continue;
        }
        clv_sums_dots(&r->sums, i);
        for (int32_t c = 0; c < r->sums.k; c++) {
            most = c != from ? fmax(most, clv_sums_gain(&r->sums, i, from, c, 1)) : most;
        }
    }
    return most > -HUGE_VAL ? most : 0;
}

static clv_status resume(void *state, const void *snapshot, clv_iterate *out) {
    run *r = state;
    const clv_groups *g = r->problem->groups;
    memcpy(r->labels, snapshot, (size_t)g->count * sizeof *r->labels);
    refresh(r);
    out->value = r->value;
    out->certificate = largest_gain(r);
    return isnan(out->certificate) ? clv_stop_failure(g->ctx, "evaluating a consensus") : CLV_OK;
}

/* --- checkpoints --- */

/* Every cluster has a group: a label that is nowhere cannot be from a run. */
static clv_status check_used(const problem *p, const int32_t *labels, clv_archive *archive) {
    int64_t *count = CLV_NEW0(p->groups->ctx, int64_t, p->k), used = 0;
    if (!count) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < p->groups->count; i++) {
        used += count[labels[i]]++ == 0;
    }
    clv_free(p->groups->ctx, count);
    return used == p->k ? CLV_OK : clv_archive_refuse(archive);
}

static clv_status pass_snapshot(const void *problem_, void *snapshot, clv_archive *archive) {
    const problem *p = problem_;
    clv_pass_labels(archive, snapshot, p->groups->count, 0, p->k - 1);
    CLV_TRY(archive->status);
    return archive->loading ? check_used(p, snapshot, archive) : CLV_OK;
}

/* Sums too: those of a sweep are carried along, and what they become depends on their last bits. */
static clv_status pass(void *state, clv_archive *archive) {
    run *r = state;
    const problem *p = r->problem;
    int64_t k = p->k;
    clv_pass_labels(archive, r->labels, p->groups->count, 0, k - 1);
    clv_pass_labels(archive, r->home, p->groups->count, 0, k - 1);
    clv_pass_reals(archive, r->sums.sum, p->groups->width * k);
    clv_pass_reals(archive, r->sums.volume, k);
    clv_pass_reals(archive, r->sums.square, k);
    clv_pass_reals(archive, r->sums.size, k);
    clv_pass_rng(archive, &r->rng);
    clv_pass_real(archive, &r->value);
    clv_pass_real(archive, &r->best);
    clv_pass_integer(archive, &r->failures, 0, INT64_MAX / 2);
    clv_pass_flag(archive, &r->settled);
    CLV_TRY(archive->status);
    return archive->loading ? check_used(p, r->home, archive) : CLV_OK;
}

/* --- the problem --- */

/* Rows of D^-1/2 U, with U the eigenvectors: f . z / (degree root(eigenvalue)). */
static clv_status place_groups(problem *p, double *values, double *vectors) {
    const clv_groups *g = p->groups;
    bool large = g->start[g->count] * p->k > CLV_CONSENSUS_MOMENT;
    CLV_TRY(clv_consensus_spectrum(g, p->k, (uint64_t)p->options->control.seed, values, vectors));
    for (int64_t i = 0; i < g->count; i++) {
        double *place = p->place + i * p->k;
        for (int64_t c = 0; c < p->k; c++) {
            double sum = 0;
            for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
                sum += g->value[e] * vectors[c * g->width + g->index[e]];
            }
            place[c] = values[c] > 1e-9 ? sum / (g->degree[i] * sqrt(values[c])) : 0;
        }
        if (large && i % POLL == POLL - 1 && clv_worked(g->ctx, (g->start[i] - g->start[i + 1 - POLL]) * p->k)) {
            return clv_stop_failure(g->ctx, "placing objects by the eigenvectors");
        }
    }
    return CLV_OK;
}

static void list_columns(problem *p) {
    const clv_groups *g = p->groups;
    for (int64_t e = 0; e < g->start[g->count]; e++) {
        p->column_start[g->index[e] + 1]++;
    }
    for (int64_t c = 0; c < g->width; c++) {
        p->column_start[c + 1] += p->column_start[c];
    }
    for (int64_t i = g->count - 1; i >= 0; i--) { /* filled from behind, then the starts are right again */
        for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
            p->in_order[--p->column_start[g->index[e] + 1]] = i;
        }
    }
    memmove(p->column_start, p->column_start + 1, (size_t)g->width * sizeof *p->column_start);
    p->column_start[g->width] = g->start[g->count];
}

static clv_status drive(const problem *p, const double *values, clv_result *result) {
    const clv_groups *g = p->groups;
    clv_solver solver = {.method = &clv_consensus_method,
                         .tolerance = CLV_CONSENSUS_GAIN * (double)p->k,
                         .problem = p,
                         .create = create,
                         .destroy = destroy,
                         .start = begin,
                         .step = step,
                         .new_snapshot = new_labels,
                         .free_snapshot = clv_free,
                         .save = save,
                         .resume = resume,
                         .pass = pass,
                         .pass_snapshot = pass_snapshot};
    void *labels;
    CLV_TRY(clv_drive(g->ctx, &solver, &p->options->control, result, &labels));
    for (int64_t i = 0; i < g->n; i++) {
        result->labels[i] = g->group[i] < 0 ? -1 : ((const int32_t *)labels)[g->group[i]];
    }
    clv_free(g->ctx, labels);
    if (p->rough) {
        return CLV_OK;
    }
    result->bound = (clv_bound){clv_consensus_method.bound, clv_consensus_bound(values, p->k)};
    return clv_result_put_reals(result, "eigenvalues", values, p->k);
}

clv_status clv_consensus_search(const clv_groups *g, const clv_consensus_options *options, clv_result *result) {
    clv_kept kept = {.ctx = g->ctx};
    int64_t many = 2000000 / g->count, kicks = many > 20 ? 20 : many < 3 ? 3 : many; /* as long as a few sweeps take */
    problem p = {.groups = g, .options = options, .k = options->k};
    p.patience = options->patience >= 0 ? options->patience : kicks;
    double *values = CLV_TAKE(&kept, double, p.k), *vectors = CLV_TAKE(&kept, double, p.k * g->width);
    p.place = CLV_TAKE(&kept, double, g->count *p.k);
    p.column_start = CLV_TAKE0(&kept, int64_t, g->width + 1);
    p.in_order = CLV_TAKE(&kept, int64_t, g->start[g->count]);
    clv_status status = kept.status;
    if (status == CLV_OK) {
        clv_optional_begin(g->ctx, 0.5);
        status = place_groups(&p, values, vectors);
        clv_optional_end(g->ctx);
        p.rough = clv_is_stop(status);
        status = p.rough ? CLV_OK : status;
    }
    if (status == CLV_OK) {
        list_columns(&p);
        status = drive(&p, values, result);
    }
    clv_free_kept(&kept);
    return status;
}
