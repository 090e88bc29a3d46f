/* What ranks tell each other of objects that each of them has: the moves of a sweep, the labels that a step wants,
 * sums. Everybody has all labels, volumes and sizes, and of the sums those of its own objects
 * (clv_partition.first..last - 1); who moves one has its sums, and sends the two that volumes follow by. So all ranks
 * do the same additions in the same order, each for its part, and no number depends on how many there are. */
#include "base/ranks.h"
#include "methods/ncut/ncut.h"

/* Sums of the objects here follow moves from s->wanted to s->labels. */
static clv_status follow(clv_partition *s, const int64_t *objects, int64_t count) {
    s->parted = true;
    return clv_affinity_move_own(s->problem->affinity, objects, s->wanted, s->labels, count, s->sums, s->threads);
}

clv_status clv_own_move(clv_partition *s, int64_t i, int32_t to, clv_told *told) {
    int32_t from = s->labels[i];
    double left = clv_partition_sum(s, i, from), entered = clv_partition_sum(s, i, to);
    told->moves[told->count].object = (int32_t)i;
    told->moves[told->count].to = to;
    told->moves[told->count].left = left;
    told->moves[told->count++].entered = entered;
    s->wanted[i] = from;
    clv_partition_relabel(s, i, to, left, entered);
    return follow(s, &i, 1);
}

clv_status clv_tell_moves(clv_partition *s, clv_status status, int owner, clv_told *told) {
    clv_context *ctx = s->problem->ctx;
    int64_t objects[CLV_TOLD_MOVES];
    CLV_TRY(clv_broadcast(ctx, status, told, sizeof *told, owner));
    if (owner == clv_ranks_of(ctx)->with.rank) {
        return CLV_OK;
    }
    for (int64_t m = 0; m < told->count; m++) {
        int64_t i = objects[m] = told->moves[m].object;
        s->wanted[i] = s->labels[i];
        clv_partition_relabel(s, i, told->moves[m].to, told->moves[m].left, told->moves[m].entered);
    }
    return told->count > 0 ? follow(s, objects, told->count) : CLV_OK;
}

clv_status clv_gather_wanted(clv_partition *s) {
    const clv_ncut_problem *p = s->problem;
    return s->shared ? clv_gather_items(p->ctx, CLV_OK, s->wanted, sizeof *s->wanted, p->n, CLV_SHARE) : CLV_OK;
}

clv_status clv_gather_own_sums(clv_partition *s) {
    const clv_ncut_problem *p = s->problem;
    for (int64_t i = s->first; i < s->last; i++) {
        s->column[i] = s->labels[i] >= 0 ? clv_partition_sum(s, i, s->labels[i]) : 0;
    }
    return clv_gather_items(p->ctx, CLV_OK, s->column, sizeof *s->column, p->n, CLV_SHARE);
}
