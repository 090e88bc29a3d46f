/* Restarts that are divided among groups of processes. A restart depends on nothing but the seed and its number, and
 * the winner is chosen by value and number: who ran what makes no difference. When its restarts are over, a group packs
 * what they have found, and the best iterate as a checkpoint has it; all groups get all of it, and go on with the best
 * of all. Costs the bytes of one snapshot per group. */
#include "engine/run.h"

#include "base/ranks.h"

#include <stdlib.h>
#include <string.h>

/* Runs of a single restart, and those that go on side by side, each group does by itself. */
static bool are_shared(const clv_run *r) {
    return clv_group_count(r->ctx) > 1 && r->control->restarts > 1 && r->solver->run == 0;
}

bool clv_group_runs(const clv_run *r, int64_t restart) {
    return !are_shared(r) || restart % clv_group_count(r->ctx) == clv_group_index(r->ctx);
}

clv_status clv_groups_begin(clv_run *r, clv_status status) {
    return are_shared(r) ? clv_groups_meet(r->ctx, status) : status;
}

/* The attempts, then the best iterate. */
static clv_status pack(clv_run *r, const clv_run_worker *winner, clv_packed *to) {
    clv_archive a = clv_archive_to(r->ctx, to);
    int64_t count = r->count;
    bool ending = atomic_load(&r->ending), found = winner != NULL;
    clv_pass_flag(&a, &ending);
    clv_pass_integer(&a, &count, 0, INT64_MAX);
    for (int64_t i = 0; i < count; i++) {
        clv_pass_attempt(&a, r, &r->attempts[i]);
    }
    clv_pass_flag(&a, &found);
    if (winner) {
        clv_attempt best = winner->found;
        clv_pass_integer(&a, &best.restart, 0, INT64_MAX);
        CLV_TRY(a.status);
        CLV_TRY(r->solver->pass_snapshot(r->solver->problem, winner->champion, &a));
    }
    return a.status;
}

/* The best iterate of another group, if it is better than the worker's. */
static clv_status read_champion(clv_run *r, clv_archive *a, clv_run_worker *w) {
    bool found;
    int64_t restart;
    clv_pass_flag(a, &found);
    CLV_TRY(a->status);
    if (!found) {
        return CLV_OK;
    }
    clv_pass_integer(a, &restart, 0, r->control->restarts - 1);
    for (int64_t i = 0; i < r->count && a->status == CLV_OK; i++) {
        const clv_attempt *one = &r->attempts[i];
        if (one->restart == restart && (!w->has_champion || clv_comes_before(r->solver, one, &w->found))) {
            CLV_TRY(r->solver->pass_snapshot(r->solver->problem, w->champion, a));
            w->found = *one;
            w->has_champion = true;
        }
    }
    return a->status;
}

static clv_status unpack(clv_run *r, const unsigned char *from, int64_t size, clv_run_worker *w) {
    clv_archive a = clv_archive_from(r->ctx, from, (size_t)size);
    bool ending;
    int64_t count;
    clv_pass_flag(&a, &ending);
    clv_pass_integer(&a, &count, 0, r->control->restarts);
    CLV_TRY(a.status);
    if (ending) {
        atomic_store(&r->ending, true);
    }
    CLV_TRY(clv_read_attempts(&a, r, count));
    return read_champion(r, &a, w);
}

clv_status clv_groups_join(clv_run *r, clv_run_worker *winner, clv_run_worker *w) {
    if (!are_shared(r)) {
        return r->status;
    }
    int groups = clv_group_count(r->ctx);
    clv_packed mine = {0};
    unsigned char *all = NULL;
    int64_t *ends = CLV_NEW(r->ctx, int64_t, groups);
    clv_status status = r->status < 0 ? r->status : ends ? pack(r, winner, &mine) : CLV_ENOMEM;
    status = clv_groups_gather(r->ctx, status, mine.data, (int64_t)mine.size, &all, ends);
    if (status == CLV_OK && winner && winner != w) { /* all that is found goes to one worker */
        void *freed = w->champion;
        w->champion = winner->champion;
        winner->champion = freed;
        w->found = winner->found;
        w->has_champion = true;
        winner->has_champion = false;
    }
    for (int g = 0; status == CLV_OK && g < groups; g++) {
        int64_t first = g > 0 ? ends[g - 1] : 0;
        status = g == clv_group_index(r->ctx) ? CLV_OK : unpack(r, all + first, ends[g] - first, w);
    }
    clv_packed_free(r->ctx, &mine);
    CLV_FREE_ALL(r->ctx, all, ends);
    return status;
}
