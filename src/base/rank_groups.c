/* Groups of ranks, each of which runs restarts of its own (engine/groups.c): made by splitting the ranks twice, into
 * groups and into those of the same place in all groups, which is how groups meet. */
#include "base/ranks.h"

#include <string.h>
#include <time.h>

/* As many as there are groups fit into the notes of all ranks. */
typedef struct group_note {
    int64_t bytes;
    int32_t status, ends; /* no more meetings, */
    int64_t stopped;      /* which a stop may be the reason for: its status, or 0 */
} group_note;

int clv_group_count(const clv_context *ctx) {
    const clv_ranks *r = clv_ranks_of(ctx);
    return r && r->groups > 1 && !r->apart && r->alone == r->alone_in_group ? r->groups : 1;
}

int clv_group_index(const clv_context *ctx) {
    return clv_group_count(ctx) > 1 ? clv_ranks_of(ctx)->group : 0;
}

/* Any thread may ask whether to end, but only one may talk to others. */
static bool may_talk(const clv_ranks *r) {
    return r && r->groups > 0 && !r->apart && pthread_equal(pthread_self(), r->thread);
}

void clv_tell_groups(clv_context *ctx) {
    clv_ranks *r = clv_ranks_of(ctx);
    if (may_talk(r) && !r->told) {
        r->told = true;
        r->between.tell(r->between.self); /* what comes of it is seen at the next meeting */
    }
}

bool clv_hear_groups(clv_context *ctx, bool asked) {
    clv_ranks *r = clv_ranks_of(ctx);
    if (asked) {
        clv_tell_groups(ctx);
    } else if (may_talk(r) && !atomic_load(&r->heard) && clv_seconds() - r->listened >= CLV_APART) {
        r->listened = clv_seconds();
        atomic_store(&r->heard, r->between.is_told(r->between.self));
    }
    return asked || (r && atomic_load(&r->heard));
}

/* Until all are there: who waits may be asked for an end, which is for the others to know. */
static clv_status wait_for_groups(clv_context *ctx) {
    const struct timespec pause = {0, 1000000};
    clv_ranks *r = clv_ranks_of(ctx);
    double begun = clv_seconds();
    bool all = false;
    while (!all) {
        if (r->between.arrive(r->between.self, &all)) {
            return clv_cut_off(ctx, "a meeting of groups");
        }
        if (!all) {
            clv_asked_to_stop_waiting(ctx);
            nanosleep(&pause, NULL);
        }
    }
    r->waited += clv_seconds() - begun;
    return CLV_OK;
}

/* The failure of group `root`, told to all. One that did not fail has ended before the others: stopped, or they have
 * come apart. */
static clv_status fail_with_group(clv_context *ctx, int root, const group_note *notes) {
    clv_ranks *r = clv_ranks_of(ctx);
    clv_status status = (clv_status)notes[root].status, stopped = (clv_status)notes[root].stopped;
    char text[CLV_MESSAGE] = "";
    r->apart = true;
    if (root == r->group) {
        strncpy(text, clv_message(ctx), CLV_MESSAGE - 1);
    }
    if (r->between.broadcast(r->between.self, text, CLV_MESSAGE, root)) {
        return clv_cut_off(ctx, "a meeting of groups");
    }
    if (status >= 0 && stopped < 0) {
        return notes[r->group].ends ? CLV_OK : clv_fail(ctx, stopped, "process group %d was stopped", root + 1);
    }
    if (status >= 0) {
        clv_fail(ctx, CLV_EINTERNAL, "the groups of processes have come apart: group %d has ended before others",
                 root + 1);
        return clv_break_ranks(ctx, CLV_EINTERNAL);
    }
    clv_fail(ctx, status, "%s", text);
    return clv_is_stop(status) ? status : clv_break_ranks(ctx, status);
}

/* The group whose status counts, as of ranks; one that ends while others go on; -1: none. */
static int find_group(const group_note *notes, int groups) {
    int stopped = -1, ended = -1, ends = 0;
    for (int g = 0; g < groups; g++) {
        if (notes[g].status < 0 && !clv_is_stop((clv_status)notes[g].status)) {
            return g;
        }
        stopped = stopped < 0 && notes[g].status < 0 ? g : stopped;
        ended = ended < 0 && notes[g].ends ? g : ended;
        ends += notes[g].ends != 0;
    }
    return stopped >= 0 ? stopped : ends < groups ? ended : -1;
}

/* The ranks of a group agree first, so that each has the same to say; the notes of that meeting have been read. */
static clv_status meet_groups(clv_context *ctx, clv_status status, group_note mine) {
    clv_ranks *r = clv_ranks_of(ctx);
    group_note *notes = r->notes;
    mine.status = r->broken < 0 ? r->broken : clv_meet(ctx, 8, status);
    if (r->apart || r->cut_off) { /* nobody waits for this one; or they do until it leaves */
        return (clv_status)mine.status;
    }
    for (int g = 0; g < r->groups; g++) {
        r->counts[g] = sizeof *notes;
        r->places[g] = g * (int64_t)sizeof *notes;
    }
    if (mine.status < 0 && mine.status != CLV_ETIME) { /* each group has the time limit itself */
        clv_tell_groups(ctx);
    }
    CLV_TRY(wait_for_groups(ctx));
    notes[r->group] = mine;
    if (clv_gather_from(&r->between, notes, r->counts, r->places, &r->waited)) {
        return clv_cut_off(ctx, "a meeting of groups");
    }
    int found = find_group(notes, r->groups);
    return found < 0 ? CLV_OK : fail_with_group(ctx, found, notes);
}

clv_status clv_groups_meet(clv_context *ctx, clv_status status) {
    return clv_group_count(ctx) > 1 ? meet_groups(ctx, status, (group_note){0}) : status;
}

/* Bytes of all groups, behind each other; those of this one are there. */
static clv_status exchange_groups(clv_context *ctx, unsigned char *all, const int64_t *ends) {
    clv_ranks *r = clv_ranks_of(ctx);
    for (int g = 0; g < r->groups; g++) {
        r->places[g] = g > 0 ? ends[g - 1] : 0;
        r->counts[g] = ends[g] - r->places[g];
        r->bytes += g == r->group ? 0 : r->counts[g];
    }
    bool failed = clv_gather_from(&r->between, all, r->counts, r->places, &r->received);
    return failed ? clv_cut_off(ctx, "a meeting of groups") : CLV_OK;
}

clv_status clv_groups_gather(clv_context *ctx, clv_status status, const void *own, int64_t bytes, unsigned char **all,
                             int64_t *ends) {
    clv_ranks *r = clv_ranks_of(ctx);
    int64_t end = 0;
    *all = NULL;
    CLV_TRY(meet_groups(ctx, status, (group_note){.bytes = bytes}));
    for (int g = 0; g < r->groups; g++) {
        ends[g] = end += ((const group_note *)r->notes)[g].bytes;
    }
    *all = clv_alloc(ctx, end > 0 ? end : 1, 1);
    if (*all && bytes > 0) {
        memcpy(*all + ends[r->group] - bytes, own, (size_t)bytes);
    }
    status = meet_groups(ctx, *all ? CLV_OK : CLV_ENOMEM, (group_note){0});
    status = status < 0 ? status : exchange_groups(ctx, *all, ends);
    if (status < 0) {
        clv_free(ctx, *all);
        *all = NULL;
    }
    return status;
}

clv_status clv_context_group(clv_context *ctx, int64_t groups) {
    clv_ranks *r = clv_ranks_of(ctx);
    int64_t ranks = r ? r->with.ranks : 1;
    if (groups < 1 || ranks % groups != 0) {
        return clv_fail(ctx, CLV_EUSAGE, "%lld processes cannot be divided into %lld groups of the same size",
                        (long long)ranks, (long long)groups);
    }
    if (groups == 1 || !r) {
        return CLV_OK;
    }
    int32_t size = (int32_t)(ranks / groups), rank = r->with.rank;
    r->all = r->with;
    if (r->all.split(r->all.self, rank / size, &r->with) || r->all.split(r->all.self, rank % size, &r->between)) {
        r->with = r->all;
        return clv_cut_off(ctx, "making groups");
    }
    r->groups = (int)groups;
    r->group = rank / size;
    r->sequence_of_all = r->sequence;
    r->alone += size == 1;
    r->alone_in_group = r->alone;
    r->apart = r->told = false;
    r->listened = 0;
    r->thread = pthread_self();
    atomic_store(&r->heard, false);
    atomic_store(&r->hurried, false);
    return CLV_OK;
}

/* What may have brought this rank to its end before others, by its own clock and hook; 0: nothing. */
static clv_status own_stop(clv_context *ctx) {
    clv_own_clock_begin(ctx);
    bool asked = clv_ranks_of(ctx)->asked || clv_asked_to_stop(ctx);
    clv_own_clock_end(ctx);
    return asked ? CLV_EINTERRUPTED : atomic_load(&clv_ranks_of(ctx)->hurried) ? CLV_ETIME : CLV_OK;
}

clv_status clv_context_ungroup(clv_context *ctx, clv_status status, const char *message) {
    clv_ranks *r = clv_ranks_of(ctx);
    if (!r || r->groups == 0) {
        return status;
    }
    clv_take_message(ctx, status, message);
    clv_status met = meet_groups(ctx, status, (group_note){.ends = 1, .stopped = own_stop(ctx)});
    r->alone -= r->with.ranks == 1;
    if (!r->cut_off) { /* all close them together */
        r->with.close(r->with.self);
        r->between.close(r->between.self);
    }
    r->with = r->all;
    r->sequence = r->sequence_of_all;
    r->groups = 0;
    return met;
}
