/* The driver: restarts on parallel workers, each a loop of steps under limits, each ended by a recomputation.
 *
 * Workers are threads of their own (the calling thread is worker 0), not an OpenMP team, so that the parallel loops
 * inside a step get threads/workers threads each without nested parallelizm, which is a setting of the whole process.
 * Restarts are handed out in order from one counter; a restart depends on nothing but the seed and its number, and the
 * winner is chosen by value and number, so the outcome does not depend on who ran what. Costs beyond the method's: two
 * snapshots a worker, one `resume` a restart. */
#include "engine/driver.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A carried objective that differs from the recomputed one by more than this, relatively, has drifted. */
#define DRIFT_ALLOWED 1e-9
/* How often a restart that stopped on drifted numbers is refreshed and sent on. */
enum { REFRESHES = 3 };

/* One restart, from its start to its recomputed end. */
typedef struct attempt {
    int64_t restart, iterations;
    double began;
    double best;               /* objective of the best iterate as the method carries it */
    double value, certificate; /* of the best iterate, recomputed */
    double drift;              /* the largest met */
    double seconds;
    clv_stop stop;
    clv_trace_row *trace;
    int64_t trace_count, trace_capacity;
} attempt;

/* What the workers share. */
typedef struct run {
    clv_context *ctx;
    const clv_method *method;
    const clv_control *control;
    double began;
    atomic_bool ending;   /* cancelled or failed: every worker ends its restart with what it has */
    atomic_int busy;      /* workers other than 0 that have not finished */
    atomic_bool timed;    /* a start has been evaluated: from here on the time limit cuts into steps */
    pthread_mutex_t lock; /* over the rest */
    int64_t next;         /* restart to hand out */
    attempt *attempts;    /* finished */
    int64_t count, capacity;
    clv_status status; /* the first failure */
} run;

typedef struct worker {
    run *run;
    int index; /* 0: the calling thread, the only one that polls the interrupt hook */
    pthread_t thread;
    void *state;
    void *best;     /* snapshot of the best iterate of the restart under way */
    void *champion; /* snapshot of the best restart of this worker */
    bool has_champion;
    double champion_value;
    int64_t champion_restart;
} worker;

int clv_driver_workers(const clv_control *control) {
    int threads = clv_threads(control->threads);
    return control->restarts < threads ? (int)control->restarts : threads;
}

int clv_driver_threads_each(const clv_control *control) {
    return clv_threads(control->threads) / clv_driver_workers(control);
}

size_t clv_driver_memory(const clv_control *control, size_t snapshot_size) {
    return (size_t)clv_driver_workers(control) * (sizeof(worker) + 2 * snapshot_size);
}

/* --- limits and hooks --- */

static bool is_better(const clv_method *method, double value, double than) {
    return method->maximize ? value > than : value < than;
}

static bool out_of_time(const run *r) {
    return r->control->time_limit > 0 && clv_seconds() - r->began >= r->control->time_limit;
}

static void poll_interrupt(worker *w) {
    if (w->index == 0 && clv_asked_to_stop(w->run->ctx)) {
        atomic_store(&w->run->ending, true);
    }
}

/* Whether the restart must end before its next step, and why. */
static bool limit_reached(worker *w, attempt *now) {
    poll_interrupt(w);
    if (atomic_load(&w->run->ending)) {
        now->stop = CLV_CANCELLED;
    } else if (out_of_time(w->run)) {
        now->stop = CLV_TIME_LIMIT;
    } else if (now->iterations >= w->run->control->max_iter) {
        now->stop = CLV_ITERATION_LIMIT;
    } else {
        return false;
    }
    return true;
}

static clv_status add_trace_row(run *r, attempt *now, clv_trace_row row) {
    if (now->trace_count == now->trace_capacity) {
        int64_t capacity = 2 * now->trace_capacity + 16;
        clv_trace_row *grown = clv_resize(r->ctx, now->trace, capacity, sizeof *grown);
        if (!grown) {
            return CLV_ENOMEM;
        }
        now->trace = grown;
        now->trace_capacity = capacity;
    }
    now->trace[now->trace_count++] = row;
    return CLV_OK;
}

/* Trace and monitor. */
static clv_status show_iterate(run *r, attempt *now, const clv_iterate *iterate) {
    if (!r->control->keep_trace && !r->control->monitor) {
        return CLV_OK;
    }
    double seconds = clv_seconds() - r->began;
    if (r->control->keep_trace) {
        clv_trace_row row = {now->restart, now->iterations, seconds, iterate->value, iterate->certificate, {0}};
        memcpy(row.extra, iterate->extra, sizeof row.extra);
        CLV_TRY(add_trace_row(r, now, row));
    }
    if (r->control->monitor) {
        clv_progress progress = {now->restart,   now->iterations,      seconds,
                                 iterate->value, iterate->certificate, now->best};
        pthread_mutex_lock(&r->lock);
        if (!atomic_load(&r->ending) && r->control->monitor(&progress, r->control->monitor_user)) {
            atomic_store(&r->ending, true);
        }
        pthread_mutex_unlock(&r->lock);
    }
    return CLV_OK;
}

/* --- one restart --- */

static clv_iterate unknown_iterate(void) {
    return (clv_iterate){.value = NAN, .certificate = NAN};
}

/* A call came back interrupted: by the clock, or by the hook, which ends the run. */
static clv_stop note_interruption(run *r) {
    if (!clv_asked_to_stop(r->ctx) && out_of_time(r)) {
        return CLV_TIME_LIMIT;
    }
    atomic_store(&r->ending, true);
    return CLV_CANCELLED;
}

static bool has_converged(const clv_method *method, const clv_iterate *iterate) {
    return method->stops_on_certificate ? iterate->certificate <= method->tolerance : iterate->converged;
}

/* The start of a restart. `*began` is false when the run was interrupted before there was anything to keep. */
static clv_status begin_attempt(worker *w, attempt *now, bool *began, bool *converged) {
    run *r = w->run;
    clv_rng rng = clv_rng_stream((uint64_t)r->control->seed, (uint64_t)now->restart);
    clv_iterate iterate = unknown_iterate();
    *began = false;
    clv_status status = r->method->start(w->state, &rng, &iterate);
    if (status == CLV_EINTERRUPTED) {
        note_interruption(r);
        return CLV_OK;
    }
    CLV_TRY(status);
    if (r->control->time_limit > 0 && !atomic_exchange(&r->timed, true)) {
        clv_set_deadline(r->ctx, r->began + r->control->time_limit);
    }
    if (isnan(iterate.value)) {
        return clv_fail(r->ctx, CLV_ENUMERIC, "%s: the objective of start %lld is not a number", r->method->name,
                        (long long)now->restart + 1);
    }
    *began = true;
    *converged = has_converged(r->method, &iterate);
    now->best = iterate.value;
    r->method->save(w->state, w->best);
    return show_iterate(r, now, &iterate);
}

/* A new iterate: kept if it is the best. Of a monotone method the last one is, and is saved when the steps end. */
static void consider(worker *w, attempt *now, double value) {
    const clv_method *method = w->run->method;
    if (is_better(method, value, now->best)) {
        now->best = value;
        if (!method->monotone) {
            method->save(w->state, w->best);
        }
    }
}

/* Steps until the method or a limit ends them; `now->stop` says which. */
static clv_status step_until_stopped(worker *w, attempt *now) {
    run *r = w->run;
    while (!limit_reached(w, now)) {
        clv_iterate iterate = unknown_iterate();
        clv_status status = r->method->step(w->state, &iterate);
        if (status == CLV_EINTERRUPTED) {
            now->stop = note_interruption(r);
            return CLV_OK;
        }
        CLV_TRY(status);
        now->iterations++;
        if (isnan(iterate.value)) { /* lost in rounding: the best iterate still stands */
            now->stop = CLV_STALLED;
            return CLV_OK;
        }
        consider(w, now, iterate.value);
        CLV_TRY(show_iterate(r, now, &iterate));
        if (has_converged(r->method, &iterate) || iterate.stalled) {
            now->stop = has_converged(r->method, &iterate) ? CLV_CONVERGED : CLV_STALLED;
            return CLV_OK;
        }
    }
    return CLV_OK;
}

static clv_status take_steps(worker *w, attempt *now) {
    int64_t before = now->iterations;
    CLV_TRY(step_until_stopped(w, now));
    if (w->run->method->monotone && now->iterations != before) {
        w->run->method->save(w->state, w->best);
    }
    return CLV_OK;
}

/* Go back to the best iterate and recompute it. `*sound` is false when the numbers that the restart stopped on were
 * not those of the data. */
static clv_status recompute_best(worker *w, attempt *now, bool *sound) {
    const clv_method *method = w->run->method;
    clv_iterate fresh = unknown_iterate();
    *sound = true;
    clv_status status = method->resume(w->state, w->best, &fresh);
    if (status == CLV_EINTERRUPTED && note_interruption(w->run) == CLV_TIME_LIMIT) {
        clv_set_deadline(w->run->ctx, 0); /* the end is worth the wait */
        status = method->resume(w->state, w->best, &fresh);
    }
    if (status == CLV_EINTERRUPTED) { /* keep the answer, without a certificate that nobody computed */
        atomic_store(&w->run->ending, true);
        now->stop = CLV_CANCELLED;
        now->value = now->best;
        now->certificate = NAN;
        return CLV_OK;
    }
    CLV_TRY(status);
    if (method->monotone) { /* with what it holds of the iterate besides, recomputed */
        method->save(w->state, w->best);
    }
    if (isnan(fresh.value)) {
        return clv_fail(w->run->ctx, CLV_ENUMERIC, "%s: the recomputed objective of restart %lld is not a number",
                        method->name, (long long)now->restart + 1);
    }
    double drift = fresh.rounded ? 0 : fabs(now->best - fresh.value) / fmax(1, fabs(fresh.value));
    bool holds = method->rule_on_iterate ? fresh.converged : fresh.certificate <= method->tolerance;
    bool claim_lost = (method->stops_on_certificate || method->rule_on_iterate) && now->stop == CLV_CONVERGED && !holds;
    *sound = drift <= DRIFT_ALLOWED && !claim_lost;
    now->drift = fmax(now->drift, drift);
    now->best = now->value = fresh.value;
    now->certificate = fresh.certificate;
    return CLV_OK;
}

/* From an evaluated start to a recomputed end. A stop on drifted numbers is no stop: the state, refreshed by the
 * recomputation, goes on, a few times at most. */
static clv_status finish_attempt(worker *w, attempt *now, bool converged_at_start) {
    bool sound = true;
    if (converged_at_start) {
        now->stop = CLV_CONVERGED;
        CLV_TRY(recompute_best(w, now, &sound));
        if (sound) {
            return CLV_OK;
        }
    }
    for (int refreshes = 0; refreshes <= REFRESHES; refreshes++) {
        CLV_TRY(take_steps(w, now));
        CLV_TRY(recompute_best(w, now, &sound));
        if (sound || (now->stop != CLV_CONVERGED && now->stop != CLV_STALLED)) {
            return CLV_OK;
        }
    }
    now->stop = CLV_STALLED;
    return CLV_OK;
}

/* --- a worker --- */

static void keep_champion(worker *w, const attempt *done) {
    const clv_method *method = w->run->method;
    bool tie = done->value == w->champion_value && done->restart < w->champion_restart;
    if (!w->has_champion || is_better(method, done->value, w->champion_value) || tie) {
        void *freed = w->champion;
        w->champion = w->best;
        w->best = freed;
        w->has_champion = true;
        w->champion_value = done->value;
        w->champion_restart = done->restart;
    }
}

static clv_status file_attempt(run *r, const attempt *done) {
    clv_status status = CLV_OK;
    pthread_mutex_lock(&r->lock);
    if (r->count == r->capacity) {
        int64_t capacity = 2 * r->capacity + 16;
        attempt *grown = clv_resize(r->ctx, r->attempts, capacity, sizeof *grown);
        if (grown) {
            r->attempts = grown;
            r->capacity = capacity;
        } else {
            status = CLV_ENOMEM;
        }
    }
    if (status == CLV_OK) {
        r->attempts[r->count++] = *done;
    }
    pthread_mutex_unlock(&r->lock);
    return status;
}

static clv_status run_attempt(worker *w, int64_t restart) {
    run *r = w->run;
    attempt now = {.restart = restart, .began = clv_seconds()};
    bool began, converged = false;
    clv_status status = begin_attempt(w, &now, &began, &converged);
    if (status == CLV_OK && began) {
        status = finish_attempt(w, &now, converged);
        now.seconds = clv_seconds() - now.began;
        if (status == CLV_OK) {
            status = file_attempt(r, &now);
        }
        if (status == CLV_OK) {
            keep_champion(w, &now);
            return CLV_OK;
        }
    }
    clv_free(r->ctx, now.trace);
    return status;
}

/* The next restart, or -1. The first one always begins, so that a time limit however short has a result. */
static int64_t take_restart(worker *w) {
    run *r = w->run;
    int64_t restart = -1;
    poll_interrupt(w);
    pthread_mutex_lock(&r->lock);
    if (!atomic_load(&r->ending) && r->next < r->control->restarts && (r->next == 0 || !out_of_time(r))) {
        restart = r->next++;
    }
    pthread_mutex_unlock(&r->lock);
    return restart;
}

static void *work(void *argument) {
    worker *w = argument;
    run *r = w->run;
    int64_t restart;
    while ((restart = take_restart(w)) >= 0) {
        clv_status status = run_attempt(w, restart);
        if (status < 0) {
            pthread_mutex_lock(&r->lock);
            r->status = r->status < 0 ? r->status : status;
            pthread_mutex_unlock(&r->lock);
            atomic_store(&r->ending, true);
        }
    }
    if (w->index > 0) {
        atomic_fetch_sub(&r->busy, 1);
    }
    return NULL;
}

/* --- all workers --- */

static void free_workers(run *r, worker *workers, int count) {
    for (int i = 0; workers && i < count; i++) {
        r->method->destroy(r->ctx, workers[i].state);
        clv_free(r->ctx, workers[i].best);
        clv_free(r->ctx, workers[i].champion);
    }
    clv_free(r->ctx, workers);
}

static clv_status make_workers(run *r, worker **out, int count) {
    int threads = clv_driver_threads_each(r->control);
    int64_t size = (int64_t)r->method->snapshot_size;
    worker *workers = CLV_NEW0(r->ctx, worker, count);
    clv_status status = workers ? CLV_OK : CLV_ENOMEM;
    for (int i = 0; status == CLV_OK && i < count; i++) {
        worker *w = &workers[i];
        w->run = r;
        w->index = i;
        w->best = clv_alloc(r->ctx, size, 1);
        w->champion = clv_alloc(r->ctx, size, 1);
        if (!w->best || !w->champion) {
            status = CLV_ENOMEM;
        } else {
            status = r->method->create(r->ctx, r->method->problem, threads, &w->state);
        }
    }
    if (status < 0) {
        free_workers(r, workers, count);
        return status;
    }
    *out = workers;
    return CLV_OK;
}

/* Let all workers run. Worker 0 goes on polling the interrupt hook until the others are done. A thread that cannot be
 * had leaves its restarts to the rest. */
static void run_workers(run *r, worker *workers, int count) {
    int threads = 1;
    for (; threads < count; threads++) {
        atomic_fetch_add(&r->busy, 1);
        if (pthread_create(&workers[threads].thread, NULL, work, &workers[threads]) != 0) {
            atomic_fetch_sub(&r->busy, 1);
            break;
        }
    }
    work(&workers[0]);
    while (atomic_load(&r->busy) > 0) {
        const struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
        poll_interrupt(&workers[0]);
    }
    for (int i = 1; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
    }
}

/* --- the result --- */

static int by_restart(const void *left, const void *right) {
    int64_t a = ((const attempt *)left)->restart, b = ((const attempt *)right)->restart;
    return (a > b) - (a < b);
}

static clv_status join_traces(run *r, clv_result *result) {
    int64_t rows = 0;
    for (int64_t i = 0; i < r->count; i++) {
        rows += r->attempts[i].trace_count;
    }
    result->trace = CLV_NEW(r->ctx, clv_trace_row, rows);
    if (!result->trace) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < r->count; i++) {
        const attempt *from = &r->attempts[i];
        if (from->trace_count > 0) {
            memcpy(result->trace + result->trace_count, from->trace, (size_t)from->trace_count * sizeof *from->trace);
        }
        result->trace_count += from->trace_count;
    }
    return CLV_OK;
}

static clv_status list_restarts(run *r, clv_result *result) {
    qsort(r->attempts, (size_t)r->count, sizeof *r->attempts, by_restart);
    result->restarts = CLV_NEW(r->ctx, clv_restart, r->count);
    if (!result->restarts) {
        return CLV_ENOMEM;
    }
    result->restarts_count = r->count;
    for (int64_t i = 0; i < r->count; i++) {
        const attempt *from = &r->attempts[i];
        result->restarts[i] = (clv_restart){from->value, from->iterations, from->seconds, from->stop};
    }
    return r->control->keep_trace ? join_traces(r, result) : CLV_OK;
}

static const worker *find_winner(const run *r, const worker *workers, int count) {
    const worker *winner = NULL;
    for (int i = 0; i < count; i++) {
        const worker *w = &workers[i];
        if (!w->has_champion) {
            continue;
        }
        bool tie = winner && w->champion_value == winner->champion_value;
        if (!winner || is_better(r->method, w->champion_value, winner->champion_value) ||
            (tie && w->champion_restart < winner->champion_restart)) {
            winner = w;
        }
    }
    return winner;
}

/* Why the run ended: a limit that cut it short counts, whatever the winner did. */
static clv_stop stop_of_run(const run *r, const attempt *best) {
    bool cut = r->count < r->control->restarts;
    for (int64_t i = 0; i < r->count; i++) {
        cut = cut || r->attempts[i].stop == CLV_TIME_LIMIT;
    }
    if (atomic_load(&r->ending)) {
        return CLV_CANCELLED;
    }
    return cut ? CLV_TIME_LIMIT : best->stop;
}

static void describe_winner(const run *r, const attempt *best, clv_result *result) {
    const clv_method *method = r->method;
    result->method = method->name;
    result->solver = method->solver;
    memcpy(result->trace_extras, method->extras, sizeof result->trace_extras);
    result->seed = r->control->seed;
    result->objective = (clv_objective){method->objective, best->value, method->maximize};
    result->certificate = (clv_certificate){method->certificate, best->certificate, method->tolerance,
                                            best->certificate <= method->tolerance};
    result->stop = stop_of_run(r, best);
    result->iterations = best->iterations;
    result->drift = best->drift;
    result->seconds = clv_seconds() - r->began;
}

static clv_status collect(run *r, const worker *workers, int count, clv_result *result, void *answer) {
    CLV_TRY(r->status);
    const worker *winner = find_winner(r, workers, count);
    if (!winner) {
        return clv_fail(r->ctx, CLV_EINTERRUPTED, "%s was interrupted before its first start was evaluated",
                        r->method->name);
    }
    CLV_TRY(list_restarts(r, result));
    for (int64_t i = 0; i < r->count; i++) {
        if (r->attempts[i].restart == winner->champion_restart) {
            describe_winner(r, &r->attempts[i], result);
        }
    }
    memcpy(answer, winner->champion, r->method->snapshot_size);
    return CLV_OK;
}

clv_status clv_drive(clv_context *ctx, const clv_method *method, const clv_control *control, clv_result *result,
                     void *answer) {
    CLV_TRY(clv_options_check(ctx, clv_control_table(), control));
    run r = {.ctx = ctx, .method = method, .control = control, .began = clv_seconds()};
    int count = clv_driver_workers(control);
    worker *workers = NULL;
    CLV_TRY(make_workers(&r, &workers, count));
    pthread_mutex_init(&r.lock, NULL);
    poll_interrupt(&workers[0]);
    clv_blas_serial_begin(); /* once for all: the steps find it so */
    run_workers(&r, workers, count);
    clv_blas_serial_end();
    clv_set_deadline(ctx, 0);
    clv_status status = collect(&r, workers, count, result, answer);
    for (int64_t i = 0; i < r.count; i++) {
        clv_free(ctx, r.attempts[i].trace);
    }
    clv_free(ctx, r.attempts);
    free_workers(&r, workers, count);
    pthread_mutex_destroy(&r.lock);
    return status;
}
