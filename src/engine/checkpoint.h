/* A checkpoint of the solve under way: what its runs (calls of clv_drive) have found, and where they are.
 *
 * The work of a method around its runs is not in it, as it can be done again: runs are numbered in the order in which
 * the method begins them, so that a resumed solve, which begins the same ones, finds each as it was. A run that is over
 * has its restarts and the best of their iterates and takes no time again; one that was under way goes on. */
#ifndef CLV_CHECKPOINT_H
#define CLV_CHECKPOINT_H

#include "engine/archive.h"

#include <pthread.h>

/* Where one restart of a run is. */
typedef struct clv_slot {
    int64_t restart;
    clv_packed state;
} clv_slot;

/* A run. What is in it belongs to the lock of the session. */
typedef struct clv_record {
    clv_packed about;    /* of its solver */
    int64_t filed;       /* restarts that are over, */
    clv_packed attempts; /* and what became of them */
    bool has_champion;   /* the best of these: */
    double value;        /* its objective, */
    int64_t restart;     /* its number, */
    clv_packed champion; /* and its iterate */
    clv_slot *slots;     /* restarts under way */
    int64_t slot_count;
    bool limited; /* a restart that is over was ended by max_iter, and its slot is there still */
} clv_record;

typedef struct clv_session {
    clv_context *ctx;
    clv_checkpointing *asked;
    pthread_mutex_t lock;
    _Atomic double due; /* by clv_common_seconds: when to write the next checkpoint */
    double began;
    int64_t max_iter;      /* of this solve, */
    int64_t max_iter_then; /* and of the one that it goes on from */
    bool past_limit;       /* max_iter has ended something that other work followed */
    char *method, *about;  /* what it works on and how: lines "name=value" */
    uint64_t data;         /* a hash of the input */
    clv_record **records;  /* by their numbers; NULL: nothing is known of that run */
    int64_t record_count, next;
    clv_packed file;
    bool unkept;        /* a checkpoint was not kept by the writer, or there was no memory for it: */
    atomic_bool broken; /* then there are no more */
} clv_session;

/* That of the context, or NULL: nothing is to be kept. */
clv_session *clv_session_of(clv_context *ctx);
/* The one for a solve, or NULL where there is nothing to do; it goes on from the checkpoint that the context was given,
 * if that is one of the same work, else CLV_EDATA. `since`: when the work began, by clv_seconds; 0: now. */
clv_status clv_session_begin(clv_context *ctx, const char *method, const char *about, uint64_t data, int64_t max_iter,
                             double since, clv_session **out);
/* The last checkpoint is written; takes NULL. Whether all were kept. */
bool clv_session_end(clv_session *session);
/* Numbers for runs that are begun side by side: the first of `count`; 0 without a session. */
int64_t clv_session_reserve(clv_context *ctx, int64_t count);
/* The record of run `number` (-1: the next), made if there is none. */
clv_status clv_session_open(clv_session *session, int64_t number, clv_record **out);
/* Write all of it; the caller holds the lock. */
clv_status clv_session_write(clv_session *session);
/* Between these nothing that is solved is checkpointed. */
void clv_session_pause(clv_context *ctx);
void clv_session_go_on(clv_context *ctx);

/* The slot of a restart, or NULL; made if there is none; taken away. */
clv_slot *clv_record_find(clv_record *record, int64_t restart);
clv_status clv_record_slot(clv_session *session, clv_record *record, int64_t restart, clv_slot **out);
void clv_record_drop(clv_session *session, clv_record *record, int64_t restart);

#endif
