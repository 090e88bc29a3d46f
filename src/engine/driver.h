/* The one loop under all methods. A method supplies a start, a step, a recomputation from scratch and snapshots; the
 * driver owns limits, cancellation, the clock, the monitor, the trace, the best iterate, the restarts and the final
 * check. */
#ifndef CLV_DRIVER_H
#define CLV_DRIVER_H

#include "engine/archive.h"
#include "engine/result.h"

/* What a method says of its current iterate. The driver sets all members to "unknown" (NaN, false) before a call. */
typedef struct clv_iterate {
    double value;       /* objective */
    double certificate; /* NaN: not computed */
    bool converged;     /* the stopping rule holds: this iterate is where the method wants to be */
    bool stalled;       /* further steps are pointless, yet the rule does not hold */
    bool rounded;       /* resume: not the iterate of the snapshot but one near it, whose value is no drift */
    bool rough;         /* resume: values were carried roughly so far, and from now on are not */
    double extra[CLV_TRACE_EXTRAS]; /* more columns of the trace, by the names in clv_solver */
} clv_iterate;

/* A solver set on a problem. start, step, save and resume work on a state that one worker owns; they may return
 * CLV_EINTERRUPTED or CLV_ETIME, which end the run with the best iterate so far (of a step that has set its value and
 * is not monotone, that one too); other failures end it without a result. Nothing that they compute may depend on
 * `threads` or on what the state was used for before `start`. */
typedef struct clv_solver {
    const clv_method *method;             /* whose names and sense the result has */
    const char *extras[CLV_TRACE_EXTRAS]; /* names of further columns of the trace, or NULL */
    double tolerance;                     /* the claim: certificate <= tolerance */
    bool stops_on_certificate; /* the stopping rule is that very claim; `converged` is then for the driver to say */
    bool rule_on_iterate; /* the stopping rule is a property of the iterate: `resume` says again whether it holds */
    bool monotone;        /* no iterate is worse than the one before it, and none is NaN: only the last is saved */
    const void *problem;  /* shared by the workers, read only */

    clv_status (*create)(clv_context *ctx, const void *problem, int threads, void **state);
    void (*destroy)(clv_context *ctx, void *state); /* takes NULL */
    clv_status (*start)(void *state, clv_rng *rng, clv_iterate *out);
    clv_status (*step)(void *state, clv_iterate *out);
    /* A snapshot describes an iterate completely, in whatever type suits the method. */
    clv_status (*new_snapshot)(clv_context *ctx, const void *problem, void **snapshot);
    void (*free_snapshot)(clv_context *ctx, void *snapshot); /* takes NULL */
    clv_status (*save)(void *state, void *snapshot);
    /* Make the snapshot the current iterate, with value and certificate recomputed from the data alone. */
    clv_status (*resume)(void *state, const void *snapshot, clv_iterate *out);
    /* For checkpoints (NULL, both: the run cannot have any). All that the steps to come depend on, between two steps,
     * to an archive, or from one into a state, whatever that was used for before: the bits of what follows are then
     * the same. What comes from an archive may be anything and must not be able to crash a step. And a snapshot. */
    clv_status (*pass)(void *state, clv_archive *archive);
    clv_status (*pass_snapshot)(const void *problem, void *snapshot, clv_archive *archive);
    int64_t run; /* above 0: its number is this less 1 (clv_session_reserve), as runs go on side by side */
} clv_solver;

/* Run `control->restarts` restarts and return the snapshot of the best iterate, by recomputed objective and then by
 * lowest restart, in `*answer`: the caller's, for free_snapshot. Fills all of `result` (from clv_result_new) but n, k,
 * labels and sizes. The outcome is the same for any number of threads, unless a clock or a hook ends the run. Of the
 * limits in `control` the time is not asked about: the context's deadline is. */
clv_status clv_drive(clv_context *ctx, const clv_solver *solver, const clv_control *control, clv_result *result,
                     void **answer);

/* What it means for a run that a call was given up. */
static inline clv_stop clv_stop_of(clv_status status) {
    return status == CLV_ETIME ? CLV_TIME_LIMIT : CLV_CANCELLED;
}

/* How many restarts run side by side, each with a state of its own, and the threads that each of them may use. */
int clv_driver_workers(const clv_control *control);
int clv_driver_threads_each(const clv_control *control);

/* Bytes that the driver holds for snapshots of this size. */
size_t clv_driver_memory(const clv_control *control, size_t snapshot_size);

#endif
