/* What a run keeps of itself for a checkpoint, and takes out of one.
 *
 * A worker packs the state of its restart into a slot of the run's record between two steps: so often as takes a
 * hundredth of the time, so that a run which is ended from outside loses a step or little more; whoever finds that it
 * is time writes all of it. A step that a limit or the hook cut short is none: what it left would lead elsewhere than a
 * whole one. So nothing is packed once the run is to stop, and a restart that was cut short stays under way.
 *
 * Processes that share a run pack at the same steps, by the time that they agreed on, as a method may have to gather
 * what each of them holds; the first one writes. */
#include "engine/run.h"

#include "base/ranks.h"

#include <stdlib.h>
#include <string.h>

/* Seconds between two times of packing, in units of what one takes. */
enum { SPARING = 100 };

/* --- there and back --- */

static void pass_row(clv_archive *a, clv_trace_row *row) {
    int64_t places[3] = {row->restart, row->part, row->iteration};
    double numbers[3 + CLV_TRACE_EXTRAS] = {row->seconds, row->objective, row->certificate};
    memcpy(numbers + 3, row->extra, sizeof row->extra);
    clv_pass_places(a, places, 3, 0, INT64_MAX);
    clv_pass_any_reals(a, numbers, 3 + CLV_TRACE_EXTRAS);
    if (a->loading && a->status == CLV_OK) {
        *row = (clv_trace_row){places[0], places[1], places[2], numbers[0], numbers[1], numbers[2], {0}};
        memcpy(row->extra, numbers + 3, sizeof row->extra);
    }
}

static void pass_trace(clv_archive *a, clv_run *r, clv_attempt *x) {
    int64_t rows = x->trace_count;
    clv_pass_integer(a, &rows, 0, INT64_MAX);
    for (int64_t i = 0; i < rows && a->status == CLV_OK; i++) {
        clv_trace_row row = a->loading ? (clv_trace_row){0} : x->trace[i];
        pass_row(a, &row);
        if (a->loading && a->status == CLV_OK) {
            a->status = clv_run_add_row(r, x, row);
        }
    }
}

void clv_pass_attempt(clv_archive *a, clv_run *r, clv_attempt *x) {
    int stop = (int)x->stop;
    clv_pass_integer(a, &x->restart, 0, r->control->restarts - 1);
    clv_pass_integer(a, &x->iterations, 0, INT64_MAX);
    clv_pass_int(a, &stop, CLV_CONVERGED, CLV_CANCELLED);
    clv_pass_int(a, &x->refreshes, -1, 1 << 20);
    double *const numbers[] = {&x->best, &x->value, &x->certificate, &x->drift, &x->seconds};
    for (size_t i = 0; i < CLV_COUNT(numbers); i++) {
        clv_pass_real(a, numbers[i]);
    }
    x->stop = (clv_stop)stop;
    pass_trace(a, r, x);
}

clv_status clv_read_attempts(clv_archive *a, clv_run *r, int64_t count) {
    for (int64_t i = 0; i < count && a->status == CLV_OK; i++) {
        clv_attempt one = {0};
        clv_pass_attempt(a, r, &one);
        if (a->status == CLV_OK) {
            a->status = clv_run_add_attempt(r, &one);
        }
        if (a->status < 0) {
            clv_free(r->ctx, one.trace);
        }
    }
    return a->status;
}

static clv_status pass_progress(clv_archive *a, clv_run_worker *w, clv_attempt *x) {
    const clv_solver *solver = w->run->solver;
    clv_pass_attempt(a, w->run, x);
    CLV_TRY(a->status);
    clv_status status = solver->pass(w->state, a);
    if (status == CLV_OK && a->status == CLV_OK && !solver->monotone) {
        status = solver->pass_snapshot(solver->problem, w->best, a);
    }
    CLV_TRY(status);
    return clv_archive_end(a);
}

/* --- opening --- */

static clv_status load_attempts(clv_run *r) {
    clv_record *record = r->record;
    clv_archive a = clv_archive_from(r->ctx, record->attempts.data, record->attempts.size);
    CLV_TRY(clv_read_attempts(&a, r, record->filed));
    return clv_archive_end(&a);
}

static int by_restart(const void *left, const void *right) {
    int64_t a = ((const clv_attempt *)left)->restart, b = ((const clv_attempt *)right)->restart;
    return (a > b) - (a < b);
}

static clv_status load_champion(clv_run *r, clv_run_worker *w) {
    const clv_solver *solver = r->solver;
    clv_archive a = clv_archive_from(r->ctx, r->record->champion.data, r->record->champion.size);
    for (int64_t i = 0; i < r->restored; i++) {
        if (r->attempts[i].restart == r->record->restart) {
            w->found = r->attempts[i];
            w->has_champion = true;
        }
        if (i > 0 && r->attempts[i].restart == r->attempts[i - 1].restart) {
            return clv_archive_refuse(&a);
        }
    }
    if (!w->has_champion) {
        return clv_archive_refuse(&a);
    }
    CLV_TRY(solver->pass_snapshot(solver->problem, w->champion, &a));
    return clv_archive_end(&a);
}

/* The record must be of this method. */
static clv_status identify(clv_run *r) {
    const char *name = r->solver->method->name;
    clv_packed *about = &r->record->about;
    size_t size = strlen(name);
    clv_archive a = clv_archive_from(r->ctx, NULL, 0);
    if (about->size > 0) {
        return about->size == size && memcmp(about->data, name, size) == 0 ? CLV_OK : clv_archive_refuse(&a);
    }
    CLV_TRY(clv_packed_reserve(r->ctx, about, size));
    memcpy(about->data, name, size);
    about->size = size;
    return CLV_OK;
}

/* With more iterations allowed, a restart that these had ended goes on. */
static void lift_limit(clv_run *r) {
    clv_record *record = r->record;
    if (record->limited && r->session->max_iter > r->session->max_iter_then) {
        record->filed = 0;
        record->attempts.size = record->champion.size = 0;
        record->has_champion = record->limited = false;
    }
}

clv_status clv_progress_open(clv_run *r, clv_run_worker *workers) {
    r->session = clv_session_of(r->ctx);
    if (!r->session) {
        return CLV_OK;
    }
    if (!r->solver->pass || !r->solver->pass_snapshot) {
        return clv_fail(r->ctx, CLV_EUSAGE, "%s cannot keep checkpoints", r->solver->method->name);
    }
    CLV_TRY(clv_session_open(r->session, r->solver->run - 1, &r->record));
    pthread_mutex_lock(&r->session->lock); /* other runs may be under way, and write */
    clv_status status = identify(r);
    lift_limit(r);
    pthread_mutex_unlock(&r->session->lock);
    CLV_TRY(status);
    bool resumed = r->record->filed > 0 || r->record->slot_count > 0;
    r->began -= resumed ? r->session->asked->spent : 0;
    CLV_TRY(load_attempts(r));
    r->restored = r->count;
    if (r->restored == 0) {
        return CLV_OK;
    }
    qsort(r->attempts, (size_t)r->restored, sizeof *r->attempts, by_restart);
    return load_champion(r, &workers[0]);
}

bool clv_progress_is_over(clv_run *r, int64_t restart) {
    while (r->skipped < r->restored && r->attempts[r->skipped].restart < restart) {
        r->skipped++;
    }
    return r->skipped < r->restored && r->attempts[r->skipped].restart == restart;
}

/* --- one restart --- */

static clv_status load_slot(clv_run_worker *w, clv_attempt *now, const clv_slot *slot) {
    int64_t restart = now->restart;
    clv_archive a = clv_archive_from(w->run->ctx, slot->state.data, slot->state.size);
    CLV_TRY(pass_progress(&a, w, now));
    if (now->restart != restart || now->refreshes < 0 || now->refreshes > CLV_REFRESHES) {
        return clv_archive_refuse(&a);
    }
    now->began = clv_seconds() - now->seconds;
    now->saved_at = -1;
    clv_grace_end(w->run->ctx);
    return CLV_OK;
}

clv_status clv_progress_load(clv_run_worker *w, clv_attempt *now, bool *found) {
    clv_run *r = w->run;
    *found = false;
    if (!r->session) {
        return CLV_OK;
    }
    pthread_mutex_lock(&r->session->lock);
    const clv_slot *slot = clv_record_find(r->record, now->restart);
    *found = slot && slot->state.size > 0;
    clv_status status = *found ? load_slot(w, now, slot) : CLV_OK;
    pthread_mutex_unlock(&r->session->lock);
    return status;
}

/* Without the memory for a checkpoint the run goes on; the last one that was written stays. Of processes that share a
 * run, those that have it cannot go on by themselves: it is a failure. */
static clv_status give_up(clv_session *s, clv_status status) {
    s->broken = s->unkept = true;
    return clv_is_shared(s->ctx) ? status : CLV_OK;
}

static clv_status pack(clv_run_worker *w, const clv_attempt *now) {
    clv_run *r = w->run;
    clv_slot *slot;
    clv_attempt copy = *now;
    copy.seconds = clv_seconds() - now->began;
    CLV_TRY(clv_record_slot(r->session, r->record, now->restart, &slot));
    slot->state.size = 0;
    clv_archive a = clv_archive_to(r->ctx, &slot->state);
    return pass_progress(&a, w, &copy);
}

static bool keeps(const clv_run *r) {
    return r->session && r->session->asked->write && !r->session->broken;
}

/* All ranks keep it, or none. */
clv_status clv_progress_begun(clv_run_worker *w, clv_attempt *now) {
    if (!keeps(w->run)) {
        return CLV_OK;
    }
    double hurried = clv_was_hurried(w->run->ctx);
    clv_status status = clv_agree_largest(w->run->ctx, &hurried);
    now->hurried = hurried > 0;
    return status;
}

clv_status clv_progress_note(clv_run_worker *w, const clv_attempt *now, bool last) {
    clv_session *s = w->run->session;
    if (!keeps(w->run) || now->hurried || (last && w->run->control->restarts > 1)) {
        return CLV_OK;
    }
    double at = clv_common_seconds(s->ctx), began = clv_seconds();
    bool due = at >= atomic_load(&s->due);
    if (!due && !last && at < w->pack_at) {
        return CLV_OK;
    }
    pthread_mutex_lock(&s->lock);
    clv_status status = s->broken ? CLV_OK : pack(w, now);
    double took = clv_seconds() - began;
    status = status < 0 ? status : clv_agree_largest(s->ctx, &took);
    w->pack_at = at + took * SPARING * w->run->workers;
    if (status == CLV_OK && !s->broken && at >= atomic_load(&s->due)) {
        status = clv_session_write(s);
    }
    if (status == CLV_ENOMEM) {
        status = give_up(s, status);
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* --- a restart that is over --- */

static bool is_champion(const clv_run *r, const clv_attempt *done) {
    clv_attempt best = {.value = r->record->value, .restart = r->record->restart};
    return !r->record->has_champion || clv_comes_before(r->solver, done, &best);
}

/* The best iterate first: an attempt without it would be one too many. */
static clv_status file(clv_run_worker *w, const clv_attempt *done) {
    clv_run *r = w->run;
    clv_record *record = r->record;
    clv_packed best = {0};
    clv_attempt copy = *done;
    bool champion = is_champion(r, done);
    size_t size = record->attempts.size;
    clv_archive a = clv_archive_to(r->ctx, &best), b = clv_archive_to(r->ctx, &record->attempts);
    clv_status status = champion ? r->solver->pass_snapshot(r->solver->problem, w->champion, &a) : CLV_OK;
    status = status < 0 ? status : a.status;
    if (status == CLV_OK) {
        clv_pass_attempt(&b, r, &copy);
        status = b.status;
    }
    if (status < 0) {
        record->attempts.size = size;
        clv_packed_free(r->ctx, &best);
        return status;
    }
    record->filed++;
    if (champion) {
        clv_packed_free(r->ctx, &record->champion);
        record->champion = best;
        record->has_champion = true;
        record->value = done->value;
        record->restart = done->restart;
    }
    return CLV_OK;
}

/* One that max_iter ended can go on with more, if it is all that there is. */
clv_status clv_progress_file(clv_run_worker *w, const clv_attempt *done) {
    clv_run *r = w->run;
    bool cut = done->stop == CLV_TIME_LIMIT || done->stop == CLV_CANCELLED || done->hurried;
    clv_status status = CLV_OK;
    if (!keeps(r) || cut) {
        return CLV_OK;
    }
    bool limited = done->stop == CLV_ITERATION_LIMIT;
    pthread_mutex_lock(&r->session->lock);
    status = r->session->broken ? CLV_OK : file(w, done);
    if (status < 0) {
        status = give_up(r->session, status);
    }
    r->record->limited = limited && r->control->restarts == 1;
    r->session->past_limit = r->session->past_limit || (limited && r->control->restarts > 1);
    if (!r->record->limited) {
        clv_record_drop(r->session, r->record, done->restart);
    }
    pthread_mutex_unlock(&r->session->lock);
    return status;
}
