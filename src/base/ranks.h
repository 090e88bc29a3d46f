/* Several processes that run one program on the same input (ranks.c). Every rank runs the same steps on state that all
 * of them have; where a step is large, each rank does its share of fixed blocks, and what they found is gathered. No
 * number depends on how many ranks there are, as none depends on the number of threads.
 *
 * Decisions are the same on all ranks: between two meetings clocks and hooks stand still, and at a meeting the latest
 * clock, any hook and the first failure become everybody's. Work between clv_own_clock_begin and the meeting that ends
 * it may look at the real clock, as what it returns is agreed upon there.
 *
 * A rank that fails by itself goes on to its next meeting, the last one at the latest; there all others learn of it. */
#ifndef CLV_RANKS_H
#define CLV_RANKS_H

#include "base/base.h"

#include <pthread.h>

/* How processes reach each other: the table of a plugin (plugins/mpi), or of a test. Functions return 0, or another
 * number when the others cannot be reached; sizes are bytes. */
typedef struct clv_communicator {
    void *self;
    int32_t rank, ranks;
    bool threads; /* whether processes that have threads may use it; else nothing but `close` is called */
    /* all[places[r]] .. of counts[r] bytes is what rank r brought; this rank's is there already. */
    int (*gather)(void *self, void *all, const int64_t *counts, const int64_t *places);
    int (*broadcast)(void *self, void *data, int64_t bytes, int32_t root);
    /* The ranks that name the same color, in their order. */
    int (*split)(void *self, int32_t color, struct clv_communicator *out);
    /* None of these waits. To tell all others something, which can be said once; whether any of them has. */
    int (*tell)(void *self);
    bool (*is_told)(void *self);
    int (*arrive)(void *self, bool *all); /* whether all have begun to ask this; asked until they have */
    void (*close)(void *self); /* of a split one: frees it; of the first: ends the connection of the process */
    void (*end_all)(void *self, int status); /* all processes, at once */
} clv_communicator;

enum { CLV_MPI_INTERFACE = 2 };
typedef struct clv_ranks_plugin {
    clv_plugin_head head;
    int (*open)(clv_communicator *out); /* joins the processes that were started together */
} clv_ranks_plugin;

enum { CLV_MESSAGE = 2048 }; /* of a context, with its end */

#define CLV_APART 0.02 /* seconds of work between looks at others that nothing but the clock is for */

/* What a context knows of the other ranks. Only the thread that made the context meets them. */
typedef struct clv_ranks {
    clv_communicator with;
    double epoch;            /* clv_seconds when time 0 of all ranks was */
    double now;              /* agreed upon, from there */
    bool asked;              /* some hook wants an end */
    bool asked_here;         /* the monitor of this rank does */
    int64_t grace, spare;    /* agreed upon: the least of all ranks */
    atomic_int own_clock;    /* above 0: the clock and the hook of this rank count */
    int alone;               /* above 0: this rank works without the others, who wait for it */
    clv_status broken;       /* a failure after which nobody meets any more */
    bool cut_off;            /* it is one of exchanging: the others may not know, and wait */
    char why[CLV_MESSAGE];   /* its sentence */
    uint64_t sequence;       /* of meetings */
    uint64_t token;          /* of clv_meet_again, to be compared */
    bool watches;            /* this rank has a monitor; at their meetings all learn */
    bool watched;            /* whether any has */
    int64_t seen;            /* meetings when clv_meet_again was last called, */
    int64_t quiet;           /* calls of it since a meeting for something else, */
    int64_t calls, most;     /* those since it has met, and how many there may be */
    double left;             /* clv_seconds when the last meeting was over */
    int64_t meetings, bytes; /* received */
    double waited, received; /* seconds in exchanges of notes, where ranks wait for each other; and in others */
    void *notes;             /* of all ranks: work */
    int64_t *counts, *places;
    /* Groups (clv_context_group): `with` is then that of the group. */
    int groups, group;        /* groups 0: there are none */
    clv_communicator all;     /* every rank */
    clv_communicator between; /* the ranks of the same place in all groups */
    uint64_t sequence_of_all;
    int alone_in_group;  /* what `alone` is while the ranks of a group work together, or on one that is a group */
    bool apart;          /* some group has ended: they do not meet any more */
    bool told;           /* the other groups, that this rank is asked for an end or has failed; */
    atomic_bool heard;   /* or by one of them */
    double listened;     /* clv_seconds when this was last looked at */
    pthread_t thread;    /* that meets others */
    atomic_bool hurried; /* since there are groups, some work of this rank was told to come to an end */
} clv_ranks;

/* Joins; the context has the communicator then, also on failure. */
clv_status clv_ranks_join(clv_context *ctx, const clv_communicator *with);
/* Also a meeting, unless all know of a failure: a rank that leaves while others go on is one. A rank that could not
 * exchange something ends them all, as the others may wait for it. */
clv_status clv_ranks_leave(clv_context *ctx);
clv_ranks *clv_ranks_of(const clv_context *ctx); /* NULL: there are no others (context.c, with those below) */
void clv_set_ranks(clv_context *ctx, clv_ranks *ranks);
/* The time since time 0 of the ranks, and what is left of grace and spare work, of this rank. */
void clv_ranks_state(clv_context *ctx, double *now, int64_t *grace, int64_t *spare);
/* From here on the memory budget of the process is no more than this, unless one is asked for. */
void clv_limit_budget(size_t bytes);
/* Whether work is shared with other ranks at the moment. */
bool clv_is_shared(const clv_context *ctx);
int clv_rank_count(const clv_context *ctx); /* 1: it is not */

/* A meeting: the first failure of a rank, or the first stop, is what all of them return; messages go along.
 * `signature` must be the same on all ranks, or they have come apart, which is a failure. */
clv_status clv_meet(clv_context *ctx, uint64_t signature, clv_status status);
/* The same, for which it is enough to have met since the last call or, after a few calls, a fiftieth of a second of
 * work ago: then the signature is compared at the next meeting. Where a rank has a monitor, its word counts at once. */
clv_status clv_meet_again(clv_context *ctx, uint64_t signature, clv_status status);
/* This rank has a monitor, or has none any more. */
void clv_watch_ranks(clv_context *ctx, bool watches);
/* Between these, loops look at the clock and the hook of their own rank; a meeting must follow. */
void clv_own_clock_begin(clv_context *ctx);
void clv_own_clock_end(clv_context *ctx);
/* Seconds by which all ranks decide the same: those of the last meeting; without others, of the clock. Only
 * differences mean something. */
double clv_common_seconds(const clv_context *ctx);
/* The monitor of this rank wants an end: said at the next meeting. */
void clv_ask_ranks_to_stop(clv_context *ctx);

/* The share of this rank, or of rank r, of `count` parts: first .. last - 1. All of them where nothing is shared. */
void clv_share_of(const clv_context *ctx, int rank, int64_t count, int64_t *first, int64_t *last);
void clv_share(const clv_context *ctx, int64_t count, int64_t *first, int64_t *last);
/* The same for n objects in blocks of `block`. */
void clv_share_objects_of(const clv_context *ctx, int rank, int64_t n, int64_t block, int64_t *first, int64_t *last);
void clv_share_objects(const clv_context *ctx, int64_t n, int64_t block, int64_t *first, int64_t *last);
/* The rank whose share has the object. */
int clv_owner_of(const clv_context *ctx, int64_t n, int64_t block, int64_t object);

/* What follows is a meeting each; `status` is that of the rank's share. */

/* Items of `size` bytes for n objects, of which each rank has those of its share of blocks. */
clv_status clv_gather_items(clv_context *ctx, clv_status status, void *items, size_t size, int64_t n, int64_t block);
/* The same for columns first .. first + count - 1 of k x n numbers, of which ranks have those of their shares of n. */
clv_status clv_gather_columns(clv_context *ctx, clv_status status, double *y, int64_t k, int64_t n, int64_t block,
                              int64_t first, int64_t count);
/* Rank r has counts[r] bytes at all + places[r]. */
clv_status clv_gather_bytes(clv_context *ctx, clv_status status, void *all, const int64_t *counts,
                            const int64_t *places);
/* The least of all ranks; the largest. */
clv_status clv_agree_least(clv_context *ctx, int64_t *value);
clv_status clv_agree_largest(clv_context *ctx, double *value);
/* Whether all have what the first has, by a hash: who has not fails with a sentence about `what`. */
clv_status clv_agree_same(clv_context *ctx, clv_status status, uint64_t hash, const char *what);
/* The sum over ranks, modulo 2^64. */
clv_status clv_agree_sum(clv_context *ctx, clv_status status, uint64_t *value);
/* What rank `root` has becomes everybody's. */
clv_status clv_broadcast(clv_context *ctx, clv_status status, void *data, int64_t bytes, int root);

/* --- rank_groups.c --- */

/* Groups: how many share the restarts at the moment (1: none do), and which this one is. */
int clv_group_count(const clv_context *ctx);
int clv_group_index(const clv_context *ctx);
/* Groups do not wait for each other while they run their restarts, but once one of them is to end, so are all: whoever
 * is asked for an end or has failed tells the others, who look now and then. True: this rank is asked, or has heard. */
bool clv_hear_groups(clv_context *ctx, bool asked);
void clv_tell_groups(clv_context *ctx);
/* A meeting of all groups, with the status of each; where there are none, the status. A group that has come to its end
 * because it was stopped ends the others, too: as if they had been stopped here. */
clv_status clv_groups_meet(clv_context *ctx, clv_status status);
/* The same; then bytes of every group, one after the other, for the caller to
 * free: group g has those from ends[g - 1] to ends[g] - 1. */
clv_status clv_groups_gather(clv_context *ctx, clv_status status, const void *own, int64_t bytes, unsigned char **all,
                             int64_t *ends);

/* --- of ranks.c, for both --- */

/* Nobody meets after this failure; work that cannot return it ends as it would after an interruption. */
clv_status clv_break_ranks(clv_context *ctx, clv_status status);
/* The same where the others cannot be reached any more. */
clv_status clv_cut_off(clv_context *ctx, const char *what);
/* What the others of `with` bring; the time that it takes is added to *seconds. */
int clv_gather_from(const clv_communicator *with, void *all, const int64_t *counts, const int64_t *places,
                    double *seconds);
/* What a program has to say of a failure of its own. */
void clv_take_message(clv_context *ctx, clv_status status, const char *message);

#endif
