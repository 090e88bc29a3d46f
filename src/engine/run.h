/* A run of the driver from the inside: what driver.c and progress.c share. */
#ifndef CLV_RUN_H
#define CLV_RUN_H

#include "engine/checkpoint.h"
#include "engine/driver.h"

/* How often a restart that stopped on drifted numbers is refreshed and sent on. */
enum { CLV_REFRESHES = 3 };

/* One restart, from its start to its recomputed end. */
typedef struct clv_attempt {
    int64_t restart, iterations;
    double began;
    double best;               /* objective of the best iterate as the method carries it */
    double value, certificate; /* of the best iterate, recomputed */
    double drift;              /* the largest met */
    double seconds;
    clv_stop stop;
    int refreshes;    /* times that it was refreshed and sent on */
    int64_t saved_at; /* of a monotone method: the iterations after which the best iterate was saved */
    bool hurried;     /* its start may have been cut short: no checkpoint keeps it, and it begins again */
    clv_trace_row *trace;
    int64_t trace_count;
} clv_attempt;

/* What the workers share. */
typedef struct clv_run {
    clv_context *ctx;
    const clv_solver *solver;
    const clv_control *control;
    double began;
    int workers;
    atomic_bool ending;    /* cancelled or failed: every worker ends its restart with what it has */
    atomic_int busy;       /* workers other than 0 that have not finished */
    pthread_mutex_t lock;  /* over the rest */
    int64_t next;          /* restart to hand out */
    clv_attempt *attempts; /* finished */
    int64_t count;
    clv_status status; /* the first failure */
    int64_t handed;    /* restarts handed out */
    /* Checkpoints; NULL, both: there are none. */
    clv_session *session;
    clv_record *record;
    int64_t restored; /* of the attempts: those that were over before this process began, by restart, */
    int64_t skipped;  /* and how many of them lie before `next` */
} clv_run;

typedef struct clv_run_worker {
    clv_run *run;
    int index; /* 0: the calling thread, the only one that polls the interrupt hook */
    pthread_t thread;
    void *state;
    void *best;        /* snapshot of the best iterate of the restart under way */
    void *champion;    /* snapshot of the best restart of this worker, */
    clv_attempt found; /* and what that found */
    bool has_champion;
    double pack_at; /* by clv_common_seconds: when its state is to be packed again */
} clv_run_worker;

/* The better one of two restarts, the first of equals. */
bool clv_comes_before(const clv_solver *solver, const clv_attempt *a, const clv_attempt *b);
/* Behind the others; the attempt owns its trace. */
clv_status clv_run_add_attempt(clv_run *r, const clv_attempt *done);
clv_status clv_run_add_row(clv_run *r, clv_attempt *now, clv_trace_row row);

/* One restart that is over, there or back; one that is read owns its trace, also after a failure. */
void clv_pass_attempt(clv_archive *a, clv_run *r, clv_attempt *x);
/* So many, behind those that the run has. */
clv_status clv_read_attempts(clv_archive *a, clv_run *r, int64_t count);

/* --- groups.c: groups of processes, each of which runs some of the restarts --- */

/* Whether the restart is one of this group's: always, where there are no groups. */
bool clv_group_runs(const clv_run *r, int64_t restart);
/* Restarts begin when all groups have come this far: one that is stopped before ends no restart of the others. */
clv_status clv_groups_begin(clv_run *r, clv_status status);
/* What all groups have found becomes everybody's; the best of it is the champion of the worker. */
clv_status clv_groups_join(clv_run *r, clv_run_worker *winner, clv_run_worker *w);

/* --- progress.c: all of these do nothing in a run without a session --- */

/* The record of the run, with what a checkpoint knows of it. */
clv_status clv_progress_open(clv_run *r, clv_run_worker *workers);
/* Whether the restart is over already. */
bool clv_progress_is_over(clv_run *r, int64_t restart);
/* Where the restart was, as state and best iterate of the worker; false: it is to begin. */
clv_status clv_progress_load(clv_run_worker *w, clv_attempt *now, bool *found);
/* After its start. */
clv_status clv_progress_begun(clv_run_worker *w, clv_attempt *now);
/* Between two steps, none of which was cut short: keep where the restart is, if it is time. `last`: it goes no further.
 */
clv_status clv_progress_note(clv_run_worker *w, const clv_attempt *now, bool last);
/* The restart is over, and its worker has kept its champion; also one that a limit cut short. */
clv_status clv_progress_file(clv_run_worker *w, const clv_attempt *done);

#endif
