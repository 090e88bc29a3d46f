/* Several clusters per pass (section 6.5 of Johnell and Haghir Chehreghani): objects are sampled, a search starts from
 * each, side by side on the threads, and in descending order of f every set that shares at most `overlap` percent of
 * its members with better ones becomes a cluster. What they found depends on the seed alone, so threads do not matter.
 */
#include "methods/dominant/dominant.h"

#include "base/ranks.h"

#include <pthread.h>
#include <stdlib.h>

/* Random numbers of the samples; the streams below belong to the restarts of the driver. */
enum { STARTS_STREAM = 1 << 29 };

typedef struct pass {
    clv_peeling *peeling;
    clv_control control; /* of one search */
    int64_t count;
    int64_t *start;
    clv_dominant_set *found, **order;
    clv_status *status; /* a start: how its search ended */
    int threads;
    pthread_mutex_t lock; /* of the caller's monitor */
} pass;

static void free_pass(pass *q) {
    clv_context *ctx = q->peeling->ctx;
    for (int64_t t = 0; q->found && t < q->count; t++) {
        clv_dominant_set_free(ctx, &q->found[t]);
    }
    CLV_FREE_ALL(ctx, q->found, q->order, q->status, q->start);
}

/* The caller's monitor is called by one thread at a time. */
static int monitor_in_turn(const clv_progress *progress, void *user) {
    pass *q = user;
    const clv_control *asked = &q->peeling->options->control;
    pthread_mutex_lock(&q->lock);
    int stop = asked->monitor(progress, asked->monitor_user);
    pthread_mutex_unlock(&q->lock);
    return stop;
}

static clv_status open_pass(clv_peeling *p, pass *q) {
    const clv_dominant_options *options = p->options;
    *q = (pass){.peeling = p, .control = p->options->control};
    q->count = options->multistart < p->active_count ? options->multistart : p->active_count;
    q->threads = clv_threads(options->control.threads);
    q->threads = q->count < q->threads ? (int)q->count : q->threads;
    q->control.restarts = 1;
    q->control.threads = 1;
    if (clv_is_shared(p->ctx)) { /* processes take one start after the other, each together */
        q->control.threads = options->control.threads;
        q->threads = 1;
    }
    if (options->control.monitor) {
        q->control.monitor = monitor_in_turn;
        q->control.monitor_user = q;
    }
    q->start = CLV_NEW(p->ctx, int64_t, q->count);
    q->found = CLV_NEW0(p->ctx, clv_dominant_set, q->count);
    q->order = CLV_NEW(p->ctx, clv_dominant_set *, q->count);
    q->status = CLV_NEW0(p->ctx, clv_status, q->count);
    if (!q->start || !q->found || !q->order || !q->status) {
        return CLV_ENOMEM;
    }
    clv_rng rng = clv_rng_stream((uint64_t)options->control.seed, STARTS_STREAM + (uint64_t)p->passes);
    return options->sampling == CLV_DOMINANT_DPP
               ? clv_sample_dpp(p->ctx, p->affinity, p->active, p->active_count, q->count, &rng, q->start)
               : clv_sample_uniform(p->ctx, p->active, p->active_count, q->count, &rng, q->start);
}

/* A search that was given up before it began leaves an empty set; all of them, no result. */
static clv_status judge_searches(pass *q) {
    clv_status given_up = CLV_OK;
    bool any = false;
    for (int64_t t = 0; t < q->count; t++) {
        if (q->status[t] < 0 && !clv_is_stop(q->status[t])) {
            return q->status[t];
        }
        given_up = q->status[t] == CLV_EINTERRUPTED || given_up == CLV_OK ? q->status[t] : given_up;
        any = any || q->found[t].count > 0;
    }
    if (given_up < 0 && any) {
        clv_peel_note(q->peeling, clv_stop_of(given_up));
    }
    return any ? CLV_OK : given_up;
}

static clv_status search_all(pass *q) {
    clv_peeling *p = q->peeling;
    clv_dominant_problem problem = clv_peel_problem(p);
    CLV_TRY(clv_replicator_decide(&problem));
    problem.seed.kind = clv_starts_at_center(p->options) ? CLV_SEED_CENTER : CLV_SEED_OBJECT;
    int64_t first = clv_session_reserve(p->ctx, q->count);
    bool together = clv_is_shared(p->ctx), failed = false; /* one that has failed must not meet the others again */
    pthread_mutex_init(&q->lock, NULL);
#pragma omp parallel for num_threads(clv_team(q->threads)) schedule(dynamic, 1)
    for (int64_t t = 0; t < q->count; t++) {
        if (together && failed) {
            continue;
        }
        clv_dominant_problem mine = problem;
        mine.seed.object = q->start[t];
        mine.run = first + t + 1;
        q->status[t] = clv_dominant_single(&mine, &q->control, &q->found[t]);
        if (together) {
            failed = q->status[t] < 0 && !clv_is_stop(q->status[t]);
        }
    }
    pthread_mutex_destroy(&q->lock);
    return judge_searches(q);
}

/* Larger f first; equal ones as they were sampled. */
static int by_cohesiveness(const void *left, const void *right) {
    const clv_dominant_set *const *a = left, *const *b = right;
    double f = (*a)->about.cohesiveness, g = (*b)->about.cohesiveness;
    return f != g ? (f < g) - (f > g) : (*a > *b) - (*a < *b);
}

/* Whether few enough of its members have a label already, and not all: a cluster has an object of its own. */
static bool is_distinct(const clv_peeling *p, const clv_dominant_set *set) {
    int64_t shared = clv_peel_shared(p, set);
    return shared < set->about.size && 100 * (double)shared <= p->options->overlap * (double)set->about.size;
}

static clv_status keep_distinct(pass *q) {
    clv_peeling *p = q->peeling;
    clv_dominant_set **order = q->order;
    CLV_TRY(clv_peel_room(p, q->count));
    for (int64_t t = 0; t < q->count; t++) {
        order[t] = &q->found[t];
    }
    qsort(order, (size_t)q->count, sizeof *order, by_cohesiveness);
    for (int64_t t = 0; t < q->count && (p->options->k == 0 || p->count < p->options->k); t++) {
        if (order[t]->count > 0 && clv_peel_accepts(p, order[t]) && is_distinct(p, order[t])) {
            p->sets[p->count] = *order[t];
            *order[t] = (clv_dominant_set){0};
            CLV_TRY(clv_peel_keep(p, p->passes));
        }
    }
    return CLV_OK;
}

static clv_status run_pass(clv_peeling *p, pass *q) {
    int64_t before = p->count;
    CLV_TRY(open_pass(p, q));
    CLV_TRY(search_all(q));
    CLV_TRY(keep_distinct(q));
    /* Starts may all have been similar to nothing: then the best one is tried. */
    clv_status status = p->count > before ? clv_peel_take_off(p) : clv_peel_vertex(p);
    p->passes++;
    return status;
}

clv_status clv_peel_pass(clv_peeling *p) {
    pass q;
    clv_status status = run_pass(p, &q);
    free_pass(&q);
    return status;
}
