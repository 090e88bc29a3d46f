/* The driver: restarts on parallel workers, each a loop of steps under limits, each ended by a recomputation.
 *
 * Workers are threads of their own (the calling thread is worker 0), not an OpenMP team, so that the parallel loops
 * inside a step get threads/workers threads each without nested parallelism, which is a setting of the whole process.
 * Restarts are handed out in order from one counter; a restart depends on nothing but the seed and its number, and the
 * winner is chosen by value and number, so the outcome does not depend on who ran what. Costs beyond the method's: two
 * snapshots per worker, one `resume` per restart. */
#include "engine/run.h"

#include "base/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A carried objective that differs from the recomputed one by more than this, relatively, has drifted. */
#define DRIFT_ALLOWED 1e-9

int clv_driver_workers(const clv_control *control) {
    int threads = clv_threads(control->threads);
    return control->restarts < threads ? (int)control->restarts : threads;
}

int clv_driver_threads_each(const clv_control *control) {
    return clv_threads(control->threads) / clv_driver_workers(control);
}

size_t clv_driver_memory(const clv_control *control, size_t snapshot_size) {
    return (size_t)clv_driver_workers(control) * (sizeof(clv_run_worker) + 2 * snapshot_size);
}

/* --- limits and hooks --- */

static bool is_better(const clv_solver *solver, double value, double than) {
    return solver->method->maximize ? value > than : value < than;
}

static uint64_t signature_of(const clv_attempt *now) {
    uint64_t bits = 2;
    if (now) {
        memcpy(&bits, &now->best, sizeof bits);
    }
    return (bits ^ bits >> 24) & 0xffffffffffff;
}

/* The one decision to stop, and why: asked before a restart (`now` NULL) and before every step, with CLV_OK, and when a
 * call came back with CLV_EINTERRUPTED or CLV_ETIME. Whatever ends a run from outside of the method comes together
 * here: the hook, the monitor and failures of others by way of `ending`, the deadline, the iterations. Processes that
 * share a run meet here, unless they have met in the step or a moment ago, and with the objective so far: they agree
 * on the end, and notice if their numbers differ. */
static bool decide_stop(clv_run_worker *w, const clv_attempt *now, clv_status status, clv_stop *why) {
    clv_run *r = w->run;
    /* Of several workers, none is shared: they do not look at a status that another one may be setting. */
    clv_status met = clv_is_shared(r->ctx) ? clv_meet_again(r->ctx, signature_of(now), r->status) : CLV_OK;
    if (met < 0) {
        r->status = r->status < 0 ? r->status : met;
        atomic_store(&r->ending, true);
    }
    bool given_up = clv_is_stop(status), late = clv_out_of_time(r->ctx);
    bool asked = (w->index == 0 || given_up) && clv_asked_to_stop(r->ctx);
    if (asked || (given_up && !late)) { /* a hook may ask once only */
        atomic_store(&r->ending, true);
    }
    if (atomic_load(&r->ending)) {
        clv_tell_groups(r->ctx);
        *why = CLV_CANCELLED;
    } else if (late) {
        *why = CLV_TIME_LIMIT;
    } else if (now && now->iterations >= r->control->max_iter) {
        *why = CLV_ITERATION_LIMIT;
    } else {
        return false;
    }
    return true;
}

/* A list of `count` items with room for one more: where it was, or twice as long; NULL: there is no memory. */
static void *one_more(clv_context *ctx, void *list, int64_t count, size_t size) {
    bool full = (count & (count - 1)) == 0; /* 0, 1, 2, 4, ... */
    return full ? clv_resize(ctx, list, count > 0 ? 2 * count : 1, size) : list;
}

clv_status clv_run_add_row(clv_run *r, clv_attempt *now, clv_trace_row row) {
    clv_trace_row *trace = one_more(r->ctx, now->trace, now->trace_count, sizeof *trace);
    if (!trace) {
        return CLV_ENOMEM;
    }
    now->trace = trace;
    trace[now->trace_count++] = row;
    return CLV_OK;
}

/* By the monitor: of a run that processes share, at their next meeting. */
static void stop_all(clv_run *r) {
    if (clv_is_shared(r->ctx)) {
        clv_ask_ranks_to_stop(r->ctx);
    } else {
        atomic_store(&r->ending, true);
    }
}

/* Trace and monitor. */
static clv_status show_iterate(clv_run *r, clv_attempt *now, const clv_iterate *iterate) {
    if (!r->control->keep_trace && !r->control->monitor) {
        return CLV_OK;
    }
    double seconds = clv_seconds() - r->began;
    if (r->control->keep_trace) {
        clv_trace_row row = {now->restart, 0, now->iterations, seconds, iterate->value, iterate->certificate, {0}};
        memcpy(row.extra, iterate->extra, sizeof row.extra);
        CLV_TRY(clv_run_add_row(r, now, row));
    }
    if (r->control->monitor) {
        clv_progress progress = {.restart = now->restart,
                                 .iteration = now->iterations,
                                 .seconds = seconds,
                                 .objective = iterate->value,
                                 .certificate = iterate->certificate,
                                 .best = now->best,
                                 .tolerance = r->solver->stops_on_certificate ? r->solver->tolerance : (double)NAN};
        pthread_mutex_lock(&r->lock);
        progress.done = r->count;
        if (!atomic_load(&r->ending) && r->control->monitor(&progress, r->control->monitor_user)) {
            stop_all(r);
        }
        pthread_mutex_unlock(&r->lock);
    }
    return CLV_OK;
}

/* --- one restart --- */

static clv_iterate unknown_iterate(void) {
    return (clv_iterate){.value = NAN, .certificate = NAN};
}

static bool has_converged(const clv_solver *solver, const clv_iterate *iterate) {
    return solver->stops_on_certificate ? iterate->certificate <= solver->tolerance : iterate->converged;
}

/* The start of a restart. `*began` is false when the run was interrupted before there was anything to keep. */
static clv_status begin_attempt(clv_run_worker *w, clv_attempt *now, bool *began, bool *converged) {
    clv_run *r = w->run;
    clv_rng rng = clv_rng_stream((uint64_t)r->control->seed, (uint64_t)now->restart);
    clv_iterate iterate = unknown_iterate();
    *began = false;
    clv_status status = r->solver->start(w->state, &rng, &iterate);
    if (clv_is_stop(status)) {
        decide_stop(w, now, status, &now->stop);
        return CLV_OK;
    }
    CLV_TRY(status);
    CLV_TRY(clv_progress_begun(w, now));
    clv_grace_end(r->ctx);
    if (isnan(iterate.value)) {
        return clv_fail(r->ctx, CLV_ENUMERIC, "%s: the objective of start %lld is not a number",
                        r->solver->method->name, (long long)now->restart + 1);
    }
    *began = true;
    *converged = has_converged(r->solver, &iterate);
    now->best = iterate.value;
    CLV_TRY(r->solver->save(w->state, w->best));
    return show_iterate(r, now, &iterate);
}

/* A new iterate: kept if it is the best. Of a monotone method the last one is, whatever rounding makes of its value,
 * and is saved when the steps end. */
static clv_status consider(clv_run_worker *w, clv_attempt *now, double value) {
    const clv_solver *solver = w->run->solver;
    if (!solver->monotone && !is_better(solver, value, now->best)) {
        return CLV_OK;
    }
    now->best = value;
    return solver->monotone ? CLV_OK : solver->save(w->state, w->best);
}

/* Steps until the method or a limit ends them; `now->stop` says which. */
static clv_status step_until_stopped(clv_run_worker *w, clv_attempt *now) {
    clv_run *r = w->run;
    while (!decide_stop(w, now, CLV_OK, &now->stop)) {
        CLV_TRY(clv_progress_note(w, now, false));
        clv_iterate iterate = unknown_iterate();
        clv_status status = r->solver->step(w->state, &iterate);
        if (clv_is_stop(status)) {
            decide_stop(w, now, status, &now->stop);
            bool known = !isnan(iterate.value) && !r->solver->monotone;
            return known ? consider(w, now, iterate.value) : CLV_OK;
        }
        CLV_TRY(status);
        now->iterations++;
        if (isnan(iterate.value)) { /* lost in rounding: the best iterate still stands */
            now->stop = CLV_STALLED;
            return CLV_OK;
        }
        CLV_TRY(consider(w, now, iterate.value));
        CLV_TRY(show_iterate(r, now, &iterate));
        if (has_converged(r->solver, &iterate) || iterate.stalled) {
            now->stop = has_converged(r->solver, &iterate) ? CLV_CONVERGED : CLV_STALLED;
            return CLV_OK;
        }
    }
    return now->stop == CLV_ITERATION_LIMIT ? clv_progress_note(w, now, true) : CLV_OK;
}

static clv_status take_steps(clv_run_worker *w, clv_attempt *now) {
    CLV_TRY(step_until_stopped(w, now));
    bool unsaved = w->run->solver->monotone && now->iterations != now->saved_at;
    return unsaved ? w->run->solver->save(w->state, w->best) : CLV_OK;
}

static clv_status resume_in_overtime(clv_run_worker *w, clv_iterate *fresh) {
    *fresh = unknown_iterate();
    clv_overtime_begin(w->run->ctx);
    clv_status status = w->run->solver->resume(w->state, w->best, fresh);
    clv_overtime_end(w->run->ctx);
    return status;
}

/* After the deadline, or when that cuts it short, the recomputation is worth a short wait: it is one evaluation. After
 * an interruption it is done if it takes only a moment. */
static clv_status resume_best(clv_run_worker *w, const clv_attempt *now, clv_iterate *fresh) {
    clv_stop why;
    if (decide_stop(w, now, CLV_OK, &why) && (why == CLV_TIME_LIMIT || why == CLV_CANCELLED)) {
        return resume_in_overtime(w, fresh);
    }
    clv_status status = w->run->solver->resume(w->state, w->best, fresh);
    bool late = clv_is_stop(status) && decide_stop(w, now, status, &why) && why == CLV_TIME_LIMIT;
    return late ? resume_in_overtime(w, fresh) : status;
}

/* Go back to the best iterate and recompute it. `*sound` is false when the numbers that the restart stopped on were
 * not those of the data. */
static clv_status recompute_best(clv_run_worker *w, clv_attempt *now, bool *sound) {
    const clv_solver *solver = w->run->solver;
    clv_iterate fresh = unknown_iterate();
    *sound = true;
    clv_status status = resume_best(w, now, &fresh);
    if (clv_is_stop(status)) { /* keep the answer, without a certificate that nobody computed */
        decide_stop(w, now, status, &now->stop);
        now->value = now->best;
        now->certificate = NAN;
        return CLV_OK;
    }
    CLV_TRY(status);
    if (solver->monotone) { /* with what it holds of the iterate besides, recomputed */
        CLV_TRY(solver->save(w->state, w->best));
        now->saved_at = now->iterations;
    }
    if (isnan(fresh.value)) {
        return clv_fail(w->run->ctx, CLV_ENUMERIC, "%s: the recomputed objective of restart %lld is not a number",
                        solver->method->name, (long long)now->restart + 1);
    }
    double drift = fresh.rounded ? 0 : fabs(now->best - fresh.value) / fmax(1, fabs(fresh.value));
    bool holds = solver->rule_on_iterate ? fresh.converged : fresh.certificate <= solver->tolerance;
    bool claim_lost = (solver->stops_on_certificate || solver->rule_on_iterate) && now->stop == CLV_CONVERGED && !holds;
    bool as_carried = fresh.rough ? now->stop == CLV_CONVERGED : drift <= DRIFT_ALLOWED;
    *sound = as_carried && !claim_lost;
    now->drift = fmax(now->drift, drift);
    now->best = now->value = fresh.value;
    now->certificate = fresh.certificate;
    return CLV_OK;
}

/* From an evaluated start to a recomputed end. A stop on drifted numbers is no stop: the state, refreshed by the
 * recomputation, goes on, a few times at most. */
static clv_status finish_attempt(clv_run_worker *w, clv_attempt *now, bool converged_at_start) {
    bool sound = true;
    now->stop = CLV_CONVERGED;
    for (now->refreshes -= converged_at_start; now->refreshes <= CLV_REFRESHES; now->refreshes++) {
        CLV_TRY(now->refreshes < 0 ? CLV_OK : take_steps(w, now));
        CLV_TRY(recompute_best(w, now, &sound));
        if (sound || (now->stop != CLV_CONVERGED && now->stop != CLV_STALLED)) {
            return CLV_OK;
        }
    }
    now->stop = CLV_STALLED;
    return CLV_OK;
}

/* --- a worker --- */

bool clv_comes_before(const clv_solver *solver, const clv_attempt *a, const clv_attempt *b) {
    return is_better(solver, a->value, b->value) || (a->value == b->value && a->restart < b->restart);
}

static void keep_champion(clv_run_worker *w, const clv_attempt *done) {
    if (!w->has_champion || clv_comes_before(w->run->solver, done, &w->found)) {
        void *freed = w->champion;
        w->champion = w->best;
        w->best = freed;
        w->has_champion = true;
        w->found = *done;
    }
}

clv_status clv_run_add_attempt(clv_run *r, const clv_attempt *done) {
    pthread_mutex_lock(&r->lock);
    clv_attempt *attempts = one_more(r->ctx, r->attempts, r->count, sizeof *attempts);
    if (attempts) {
        r->attempts = attempts;
        attempts[r->count++] = *done;
    }
    pthread_mutex_unlock(&r->lock);
    return attempts ? CLV_OK : CLV_ENOMEM;
}

static clv_status run_attempt(clv_run_worker *w, int64_t restart) {
    clv_run *r = w->run;
    clv_attempt now = {.restart = restart, .began = clv_seconds()};
    bool began = false, converged = false;
    clv_status status = clv_progress_load(w, &now, &began);
    if (status == CLV_OK && !began) {
        status = begin_attempt(w, &now, &began, &converged);
    }
    if (status == CLV_OK && began) {
        status = finish_attempt(w, &now, converged);
        now.seconds = clv_seconds() - now.began;
        if (status == CLV_OK) {
            status = clv_run_add_attempt(r, &now);
        }
        if (status == CLV_OK) {
            keep_champion(w, &now);
            return clv_progress_file(w, &now);
        }
    }
    clv_free(r->ctx, now.trace);
    return status;
}

/* The next restart, or -1. The first one always begins, so that a run that ends at once has a result: its start. */
static int64_t take_restart(clv_run_worker *w) {
    clv_run *r = w->run;
    int64_t restart = -1;
    clv_stop why;
    bool stop = decide_stop(w, NULL, CLV_OK, &why);
    pthread_mutex_lock(&r->lock);
    while (r->next < r->control->restarts && (clv_progress_is_over(r, r->next) || !clv_group_runs(r, r->next))) {
        r->next++;
    }
    if (r->next < r->control->restarts && (!stop || r->handed + r->restored == 0)) {
        restart = r->next++;
        r->handed++;
    }
    pthread_mutex_unlock(&r->lock);
    return restart;
}

static void *work(void *argument) {
    clv_run_worker *w = argument;
    clv_run *r = w->run;
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

static void free_workers(clv_run *r, clv_run_worker *workers, int count) {
    for (int i = 0; workers && i < count; i++) {
        r->solver->destroy(r->ctx, workers[i].state);
        r->solver->free_snapshot(r->ctx, workers[i].best);
        r->solver->free_snapshot(r->ctx, workers[i].champion);
    }
    clv_free(r->ctx, workers);
}

static clv_status make_worker(clv_run *r, int index, clv_run_worker *w) {
    const clv_solver *solver = r->solver;
    w->run = r;
    w->index = index;
    CLV_TRY(solver->new_snapshot(r->ctx, solver->problem, &w->best));
    CLV_TRY(solver->new_snapshot(r->ctx, solver->problem, &w->champion));
    int threads = r->workers == 1 ? clv_threads(r->control->threads) : clv_driver_threads_each(r->control);
    return solver->create(r->ctx, solver->problem, threads, &w->state);
}

static clv_status make_workers(clv_run *r, clv_run_worker **out, int count) {
    clv_run_worker *workers = CLV_NEW0(r->ctx, clv_run_worker, count);
    clv_status status = workers ? CLV_OK : CLV_ENOMEM;
    for (int i = 0; status == CLV_OK && i < count; i++) {
        status = make_worker(r, i, &workers[i]);
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
static void run_workers(clv_run *r, clv_run_worker *workers, int count) {
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
        clv_stop why;
        nanosleep(&pause, NULL);
        decide_stop(&workers[0], NULL, CLV_OK, &why);
    }
    for (int i = 1; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
    }
}

/* --- the result --- */

static int by_restart(const void *left, const void *right) {
    int64_t a = ((const clv_attempt *)left)->restart, b = ((const clv_attempt *)right)->restart;
    return (a > b) - (a < b);
}

static clv_status join_traces(clv_run *r, clv_result *result) {
    int64_t rows = 0;
    for (int64_t i = 0; i < r->count; i++) {
        rows += r->attempts[i].trace_count;
    }
    result->trace = CLV_NEW(r->ctx, clv_trace_row, rows);
    if (!result->trace) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < r->count; i++) {
        const clv_attempt *from = &r->attempts[i];
        if (from->trace_count > 0) {
            memcpy(result->trace + result->trace_count, from->trace, (size_t)from->trace_count * sizeof *from->trace);
        }
        result->trace_count += from->trace_count;
    }
    return CLV_OK;
}

static clv_status list_restarts(clv_run *r, clv_result *result) {
    qsort(r->attempts, (size_t)r->count, sizeof *r->attempts, by_restart);
    result->restarts = CLV_NEW(r->ctx, clv_restart, r->count);
    if (!result->restarts) {
        return CLV_ENOMEM;
    }
    result->restarts_count = r->count;
    for (int64_t i = 0; i < r->count; i++) {
        const clv_attempt *from = &r->attempts[i];
        result->restarts[i] = (clv_restart){from->value, from->iterations, from->seconds, from->stop};
    }
    return r->control->keep_trace ? join_traces(r, result) : CLV_OK;
}

static clv_run_worker *find_winner(const clv_run *r, clv_run_worker *workers, int count) {
    clv_run_worker *winner = NULL;
    for (int i = 0; i < count; i++) {
        clv_run_worker *w = &workers[i];
        if (w->has_champion && (!winner || clv_comes_before(r->solver, &w->found, &winner->found))) {
            winner = w;
        }
    }
    return winner;
}

/* Why the run ended: a limit that cut it short counts, whatever the winner did. */
static clv_stop stop_of_run(const clv_run *r, const clv_attempt *best) {
    bool cut = r->count < r->control->restarts;
    for (int64_t i = 0; i < r->count; i++) {
        cut = cut || r->attempts[i].stop == CLV_TIME_LIMIT;
    }
    if (atomic_load(&r->ending)) {
        return CLV_CANCELLED;
    }
    return cut ? CLV_TIME_LIMIT : best->stop;
}

static void describe_winner(const clv_run *r, const clv_attempt *best, clv_result *result) {
    const clv_solver *solver = r->solver;
    clv_result_claim(result, solver->method, best->value, best->certificate, solver->tolerance);
    memcpy(result->trace_extras, solver->extras, sizeof result->trace_extras);
    result->seed = r->control->seed;
    result->stop = stop_of_run(r, best);
    result->iterations = best->iterations;
    result->drift = best->drift;
    result->seconds = clv_seconds() - r->began;
}

static clv_status collect(clv_run *r, clv_run_worker *workers, int count, clv_result *result, void **answer) {
    CLV_TRY(clv_groups_join(r, find_winner(r, workers, count), &workers[0]));
    clv_run_worker *winner = find_winner(r, workers, count);
    if (!winner) {
        const char *name = r->solver->method->name;
        return atomic_load(&r->ending)
                   ? clv_fail(r->ctx, CLV_EINTERRUPTED, "%s was interrupted before its first start was evaluated", name)
                   : clv_fail(r->ctx, CLV_ETIME, "the time limit passed before the first start of %s was evaluated",
                              name);
    }
    CLV_TRY(list_restarts(r, result));
    describe_winner(r, &winner->found, result);
    *answer = winner->champion;
    winner->champion = NULL;
    return CLV_OK;
}

clv_status clv_drive(clv_context *ctx, const clv_solver *solver, const clv_control *control, clv_result *result,
                     void **answer) {
    *answer = NULL;
    CLV_TRY(clv_options_check(ctx, clv_control_table(), control));
    clv_run r = {.ctx = ctx, .solver = solver, .control = control, .began = clv_seconds()};
    /* Processes that share a run take its restarts, or those of their group, one after the other, together. */
    int count = r.workers = clv_is_shared(ctx) ? 1 : clv_driver_workers(control);
    clv_run_worker *workers = NULL;
    clv_stop why;
    CLV_TRY(make_workers(&r, &workers, count));
    pthread_mutex_init(&r.lock, NULL);
    clv_watch_ranks(ctx, control->monitor != NULL);
    clv_status status = clv_groups_begin(&r, clv_meet(ctx, 13, clv_progress_open(&r, workers)));
    if (status == CLV_OK) {
        decide_stop(&workers[0], NULL, CLV_OK, &why);
        clv_blas_serial_begin(); /* once for all: the steps find it so */
        run_workers(&r, workers, count);
        clv_blas_serial_end();
        status = collect(&r, workers, count, result, answer);
    }
    for (int64_t i = 0; i < r.count; i++) {
        clv_free(ctx, r.attempts[i].trace);
    }
    clv_free(ctx, r.attempts);
    free_workers(&r, workers, count);
    pthread_mutex_destroy(&r.lock);
    return status;
}
