/* Polish and search on a sparse graph, by what was touched.
 *
 * A queue holds the objects to look at. One that moves by the exact rule puts its neighbors into the queue; nothing
 * else is looked at, and an object is looked at by its row: its sums to the clusters are gathered when they are
 * needed, none are kept. So a kick with its polish costs the rows of the objects that it touched, whatever n is, and
 * what it changed is taken back by a list of the objects that moved.
 *
 * A move also changes two volumes, and by that, slightly, the gains of all objects. Hence a pass over all objects ends
 * the polish, and every round of kicks with a gain: an iterate that the driver gets to see is optimal under single
 * moves. A round is so many kicks as look at several times n objects, so that this does not count.
 *
 * Kicks, where an object with a neighbor in another cluster is found by trying some at random:
 *
 *   capture   around such an object, up to MOST_REGION objects in the order of their distance by edges go to the other
 *             cluster
 *   scatter   they go to one or the other at random
 *   dissolve  a cluster goes to its next best ones, another is split between two objects far apart in it, by distance
 *             in edges. Costs as much as the clusters are large: it comes whenever less work has gone into these than
 *             into the others. */
#include "methods/ncut/ncut.h"

#include <math.h>
#include <string.h>

enum { QUEUED = 1, MOVED = 2, REACHED = 4 }; /* marks */
enum { MOST_REGION = 256, TRIES = 16, POLL = 1024, MOST_CHUNKS = 64, LEAST_CHUNK = 4096 };
/* Kicks of regions touch little: up to so many count as one, one and one more for each SPAN objects. On a small graph
 * fewer try all that there is to try, and the rest of the time would be spent on the last tenths of a percent. A round
 * looks at so many times n objects. */
enum { KICKS_AT_ONCE = 5, SPAN = 5000, ROUND = 4 };
/* The share of the cut that gains must add up to: on a large graph there is always some object to gain a little with.
 */
#define WORTHWHILE 1e-4

/* --- making one --- */

bool clv_local_suits(const clv_ncut_problem *p, clv_matrix *graph) {
    return clv_affinity_view(p->affinity, graph) && clv_is_sparse(graph) && graph->scalar == CLV_F64;
}

static int64_t chunks_of(int64_t n) {
    int64_t chunks = (n + LEAST_CHUNK - 1) / LEAST_CHUNK;
    return chunks < MOST_CHUNKS ? chunks : MOST_CHUNKS;
}

clv_status clv_local_new(clv_partition *s, clv_local *out) {
    const clv_ncut_problem *p = s->problem;
    *out = (clv_local){.s = s};
    clv_local_suits(p, &out->graph);
    out->chunks = chunks_of(p->n);
    out->marks = CLV_NEW0(p->ctx, uint8_t, p->n);
    out->near = CLV_NEW0(p->ctx, double, p->k);
    out->saved = CLV_NEW(p->ctx, double, 3 * p->k);
    out->partial = CLV_NEW(p->ctx, double, 2 * p->k * out->chunks);
    out->list = CLV_NEW(p->ctx, int64_t, p->n);
    return out->marks && out->near && out->saved && out->partial && out->list ? CLV_OK : CLV_ENOMEM;
}

void clv_local_free(clv_local *l) {
    if (l->s) {
        CLV_FREE_ALL(l->s->problem->ctx, l->marks, l->near, l->saved, l->partial, l->list);
        *l = (clv_local){0};
    }
}

size_t clv_local_memory(int64_t n, int64_t k) {
    return (size_t)n * (1 + sizeof(int64_t)) + (size_t)(4 * k + 2 * k * chunks_of(n)) * sizeof(double);
}

/* --- volumes and objective --- */

static void measure_chunk(const clv_local *l, int64_t q, double *within, double *volume) {
    const clv_partition *s = l->s;
    const clv_ncut_problem *p = s->problem;
    const double *values = l->graph.values;
    memset(within, 0, (size_t)p->k * sizeof *within);
    memset(volume, 0, (size_t)p->k * sizeof *volume);
    for (int64_t i = q * p->n / l->chunks; i < (q + 1) * p->n / l->chunks; i++) {
        int32_t own = s->labels[i];
        double sum = p->diagonal[i];
        for (int64_t e = l->graph.start[i]; own >= 0 && e < l->graph.start[i + 1]; e++) {
            int32_t j = l->graph.index[e];
            sum += s->labels[j] == own && j != i ? values[e] : 0;
        }
        if (own >= 0) {
            within[own] += sum;
            volume[own] += p->degree[i];
        }
    }
}

static double value_of(const clv_partition *s) {
    double association = 0;
    for (int64_t c = 0; c < s->problem->k; c++) {
        association += clv_ratio(s->within[c], s->volume[c]);
    }
    return ((double)s->problem->k - association) / 2;
}

/* From the labels alone. */
static void measure(clv_local *l) {
    clv_partition *s = l->s;
    int64_t k = s->problem->k;
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(static) if (l->chunks > 1)
    for (int64_t q = 0; q < l->chunks; q++) {
        measure_chunk(l, q, l->partial + 2 * k * q, l->partial + 2 * k * q + k);
    }
    memcpy(s->within, l->partial, (size_t)k * sizeof *s->within);
    memcpy(s->volume, l->partial + k, (size_t)k * sizeof *s->volume);
    for (int64_t q = 1; q < l->chunks; q++) {
        for (int64_t c = 0; c < k; c++) {
            s->within[c] += l->partial[2 * k * q + c];
            s->volume[c] += l->partial[2 * k * q + k + c];
        }
    }
    clv_partition_count(s, s->labels);
    s->value = value_of(s);
}

/* --- one object --- */

/* Its sums to the clusters into `near`, which is zero before; whether it has neighbors in others than its own. Most are
 * in its own, whose sum stays in a register: an addition to memory would wait for the one before it. */
static bool gather(clv_local *l, int64_t i) {
    const double *values = l->graph.values;
    const int32_t *labels = l->s->labels;
    int32_t own = labels[i];
    double within = l->s->problem->diagonal[i]; /* what is stored need not count */
    bool beyond = false;
    for (int64_t e = l->graph.start[i]; e < l->graph.start[i + 1]; e++) {
        int32_t j = l->graph.index[e], c = labels[j];
        if (c == own) {
            within += j != i ? values[e] : 0;
        } else if (c >= 0) {
            l->near[c] += values[e];
            beyond = true;
        }
    }
    l->near[own] = within;
    return beyond;
}

static void forget(clv_local *l) {
    memset(l->near, 0, (size_t)l->s->problem->k * sizeof *l->near);
}

/* The best cluster for object i with sums `near`, or its own. A cluster without a neighbor of i is no gain if its own
 * is a good one, unless its members are less similar to each other than i is to itself: then `beyond`, whether i has
 * neighbors in other clusters, settles it. */
static int32_t best_cluster(const clv_local *l, int64_t i, bool beyond) {
    const clv_partition *s = l->s;
    const clv_ncut_problem *p = s->problem;
    int32_t own = s->labels[i], target = own;
    double leave = clv_leave_gain(s, i, l->near[own]), best = CLV_LEAST_GAIN * (double)p->k;
    if (!beyond && leave <= 0 && p->diagonal[i] == 0) {
        return own;
    }
    for (int32_t c = 0; c < p->k; c++) {
        bool loses = l->near[c] <= 0 && leave <= 0 && s->within[c] * p->degree[i] >= p->diagonal[i] * s->volume[c];
        if (c == own || loses) {
            continue;
        }
        double gain = leave + clv_enter_gain(s, i, c, l->near[c]);
        bool tied = gain == best && target != own;
        if (gain > best || (tied && clv_prefers(s, i, c, target))) {
            best = gain;
            target = c;
        }
    }
    return target;
}

/* --- the queue, and the list of what has moved --- */

static void push(clv_local *l, int64_t i) {
    int64_t n = l->s->problem->n;
    if (!(l->marks[i] & QUEUED) && l->s->labels[i] >= 0) {
        int64_t at = l->head + l->waiting;
        l->s->picked[at < n ? at : at - n] = i;
        l->marks[i] |= QUEUED;
        l->waiting++;
    }
}

static int64_t pop(clv_local *l) {
    int64_t i = l->s->picked[l->head];
    l->head = l->head + 1 < l->s->problem->n ? l->head + 1 : 0;
    l->waiting--;
    l->marks[i] &= (uint8_t)~QUEUED;
    return i;
}

/* Object i, whose sums are in `near`, goes to cluster `to`. Its neighbors are to be looked at. */
static void move(clv_local *l, int64_t i, int32_t to) {
    clv_partition *s = l->s;
    const clv_ncut_problem *p = s->problem;
    int32_t from = s->labels[i];
    s->within[from] += p->diagonal[i] - 2 * l->near[from];
    s->within[to] += p->diagonal[i] + 2 * l->near[to];
    s->volume[from] -= p->degree[i];
    s->volume[to] += p->degree[i];
    s->size[from]--;
    s->size[to]++;
    s->labels[i] = to;
    if (!(l->marks[i] & MOVED)) {
        l->marks[i] |= MOVED;
        s->moved[l->moves++] = i;
    }
    for (int64_t e = l->graph.start[i]; e < l->graph.start[i + 1]; e++) {
        push(l, l->graph.index[e]);
    }
}

/* The row that will be looked at so many objects from now is on its way from memory meanwhile. */
static void expect(const clv_local *l) {
    enum { AHEAD = 4 };
    int64_t n = l->s->problem->n, at = l->head + AHEAD;
    if (l->waiting > AHEAD) {
        int64_t e = l->graph.start[l->s->picked[at < n ? at : at - n]];
        __builtin_prefetch(&l->graph.index[e]);
        __builtin_prefetch((const double *)l->graph.values + e);
        __builtin_prefetch((const double *)l->graph.values + e + 8);
    }
}

/* Look at the queue until it is empty. */
static clv_status settle(clv_local *l) {
    clv_partition *s = l->s;
    while (l->waiting > 0) {
        expect(l);
        int64_t i = pop(l);
        if (++l->looked % POLL == 0 && clv_worked(s->problem->ctx, POLL * s->problem->k)) {
            return clv_stop_failure(s->problem->ctx, "moving objects");
        }
        if (s->size[s->labels[i]] > 1) {
            bool beyond = gather(l, i);
            int32_t target = best_cluster(l, i, beyond);
            if (target != s->labels[i]) {
                move(l, i, target);
            }
            forget(l);
        }
    }
    s->value = value_of(s);
    return CLV_OK;
}

/* What has moved stays: `wanted` holds the labels to go back to. */
static void keep(clv_local *l) {
    clv_partition *s = l->s;
    int64_t k = s->problem->k;
    for (int64_t m = 0; m < l->moves; m++) {
        s->wanted[s->moved[m]] = s->labels[s->moved[m]];
        l->marks[s->moved[m]] &= (uint8_t)~MOVED;
    }
    l->moves = 0;
    memcpy(l->saved, s->within, (size_t)k * sizeof *l->saved);
    memcpy(l->saved + k, s->volume, (size_t)k * sizeof *l->saved);
    for (int64_t c = 0; c < k; c++) {
        l->saved[2 * k + c] = (double)s->size[c];
    }
    l->home = s->value;
}

static void take_back(clv_local *l) {
    clv_partition *s = l->s;
    int64_t k = s->problem->k;
    for (int64_t m = 0; m < l->moves; m++) {
        s->labels[s->moved[m]] = s->wanted[s->moved[m]];
        l->marks[s->moved[m]] &= (uint8_t)~MOVED;
    }
    l->moves = 0;
    memcpy(s->within, l->saved, (size_t)k * sizeof *l->saved);
    memcpy(s->volume, l->saved + k, (size_t)k * sizeof *l->saved);
    for (int64_t c = 0; c < k; c++) {
        s->size[c] = (int64_t)l->saved[2 * k + c];
    }
    s->value = l->home;
}

void clv_local_begin(clv_local *l) {
    clv_partition *s = l->s;
    s->fresh = false;
    memset(l->marks, 0, (size_t)s->problem->n);
    memcpy(s->wanted, s->labels, (size_t)s->problem->n * sizeof *s->labels);
    forget(l);
    l->head = l->waiting = l->moves = l->looked = l->local_work = l->global_work = 0;
    measure(l);
    keep(l);
    l->mark = l->home;
}

/* The marks are 0, the queue and the list of what has moved empty; `wanted` and what is saved are as they are now. The
 * head of the queue says where it goes on, and so does not matter. */
void clv_local_pass_state(clv_local *l, clv_archive *archive) {
    clv_partition *s = l->s;
    clv_pass_integer(archive, &l->looked, 0, INT64_MAX / 2);
    clv_pass_integer(archive, &l->local_work, 0, INT64_MAX / 2);
    clv_pass_integer(archive, &l->global_work, 0, INT64_MAX / 2);
    clv_pass_real(archive, &l->mark);
    if (archive->loading && archive->status == CLV_OK) {
        memset(l->marks, 0, (size_t)s->problem->n);
        memcpy(s->wanted, s->labels, (size_t)s->problem->n * sizeof *s->labels);
        forget(l);
        l->head = l->waiting = l->moves = 0;
        keep(l);
    }
}

clv_status clv_local_pass(clv_local *l, int64_t *moved) {
    for (int64_t i = 0; i < l->s->problem->n; i++) {
        push(l, i);
    }
    CLV_TRY(settle(l));
    *moved = l->moves;
    measure(l);
    keep(l);
    return CLV_OK;
}

/* --- kicks --- */

static bool may_leave(const clv_partition *s, int64_t i) {
    return s->labels[i] >= 0 && s->size[s->labels[i]] > 1;
}

/* A kick moves object i, unless it is the last of its cluster. */
static void throw_to(clv_local *l, int64_t i, int32_t to) {
    if (may_leave(l->s, i) && l->s->labels[i] != to) {
        gather(l, i);
        move(l, i, to);
        forget(l);
        push(l, i);
    }
}

/* A cluster of a neighbor other than the own, the first from a random place in the row on; -1: there is none. */
static int32_t cluster_beyond(const clv_local *l, int64_t i, clv_rng *rng) {
    int64_t first = l->graph.start[i], count = l->graph.start[i + 1] - first;
    int64_t from = clv_rng_below(rng, count);
    for (int64_t e = 0; e < count; e++) {
        int32_t c = l->s->labels[l->graph.index[first + (from + e) % count]];
        if (c >= 0 && c != l->s->labels[i]) {
            return c;
        }
    }
    return -1;
}

/* An object that counts, at a border if one is soon found, and a cluster to send it to. */
static int64_t draw_center(const clv_local *l, clv_rng *rng, int32_t *to) {
    const clv_ncut_problem *p = l->s->problem;
    int64_t i = 0;
    *to = -1;
    for (int tries = 0; *to < 0 && tries < TRIES;) {
        i = clv_rng_below(rng, p->n);
        if (l->s->labels[i] >= 0) {
            *to = cluster_beyond(l, i, rng);
            tries++;
        }
    }
    if (*to < 0) {
        int32_t drawn = (int32_t)clv_rng_below(rng, p->k - 1);
        *to = drawn < l->s->labels[i] ? drawn : drawn + 1;
    }
    return i;
}

/* Objects by their distance in edges from those that are in the list, up to `most`; with `within` >= 0 only members of
 * that cluster. Those in the list are marked; returns how many there are. */
static int64_t spread(clv_local *l, int64_t *list, int64_t count, int64_t most, int32_t within) {
    for (int64_t at = 0; at < count && count < most; at++) {
        for (int64_t e = l->graph.start[list[at]]; e < l->graph.start[list[at] + 1] && count < most; e++) {
            int64_t j = l->graph.index[e];
            if (!(l->marks[j] & REACHED) && (within < 0 || l->s->labels[j] == within)) {
                l->marks[j] |= REACHED;
                list[count++] = j;
            }
        }
    }
    return count;
}

static void unmark(clv_local *l, const int64_t *list, int64_t count) {
    for (int64_t m = 0; m < count; m++) {
        l->marks[list[m]] &= (uint8_t)~REACHED;
    }
}

static void kick_region(clv_local *l, clv_rng *rng) {
    int64_t region[MOST_REGION];
    int32_t to;
    region[0] = draw_center(l, rng, &to);
    int32_t from = l->s->labels[region[0]];
    bool scatter = clv_rng_below(rng, 2) == 0;
    int64_t most = (int64_t)exp2(clv_rng_uniform(rng) * log2(MOST_REGION));
    l->marks[region[0]] |= REACHED;
    int64_t count = spread(l, region, 1, most, -1);
    unmark(l, region, count);
    for (int64_t m = 0; m < count; m++) {
        throw_to(l, region[m], scatter && clv_rng_below(rng, 2) == 0 ? from : to);
    }
}

/* The members of cluster c into `list`. */
static int64_t list_members(const clv_local *l, int32_t c, int64_t *list) {
    int64_t count = 0;
    for (int64_t i = 0; i < l->s->problem->n; i++) {
        if (l->s->labels[i] == c) {
            list[count++] = i;
        }
    }
    return count;
}

/* The best cluster of object i but `gone`, by formula (28). */
static int32_t next_best(clv_local *l, int64_t i, int32_t gone) {
    const clv_partition *s = l->s;
    double best = -INFINITY;
    int32_t target = gone == 0 ? 1 : 0;
    gather(l, i);
    for (int32_t c = 0; c < s->problem->k; c++) {
        double ratio = clv_ratio(s->within[c], s->volume[c]);
        double here = 2 * clv_ratio(l->near[c], s->volume[c]) - s->problem->degree[i] * clv_ratio(ratio, s->volume[c]);
        if (c != gone && here > best) {
            best = here;
            target = c;
        }
    }
    forget(l);
    return target;
}

/* Half of cluster c goes to `fresh`: those that are reached first from the member that is reached last from one drawn
 * at random. */
static void split(clv_local *l, int32_t c, int32_t fresh, clv_rng *rng) {
    int64_t *list = l->list, members = list_members(l, c, list);
    if (members < 2) {
        return;
    }
    for (int turn = 0; turn < 2; turn++) {
        int64_t seed = turn == 0 ? list[clv_rng_below(rng, members)] : list[members - 1];
        list[0] = seed;
        l->marks[seed] |= REACHED;
        members = spread(l, list, 1, turn == 0 ? members : 1 + members / 2, c);
        unmark(l, list, members);
    }
    for (int64_t m = 0; m < members; m++) {
        throw_to(l, list[m], fresh);
    }
}

/* The last member of the cluster that is dissolved leaves it when the split has given it others. */
static void kick_clusters(clv_local *l, clv_rng *rng) {
    int64_t k = l->s->problem->k, *list = l->list;
    int32_t gone = (int32_t)clv_rng_below(rng, k), halved = (int32_t)clv_rng_below(rng, k - 1);
    halved = halved < gone ? halved : halved + 1;
    int64_t members = list_members(l, gone, list), last = list[members - 1];
    for (int64_t m = 0; m + 1 < members; m++) {
        throw_to(l, list[m], next_best(l, list[m], gone));
    }
    split(l, halved, gone, rng);
    throw_to(l, last, next_best(l, last, gone));
}

clv_status clv_local_kick(clv_local *l, clv_rng *rng) {
    bool global = l->global_work <= l->local_work;
    int64_t before = l->looked;
    if (global) {
        kick_clusters(l, rng);
    } else {
        kick_region(l, rng);
    }
    CLV_TRY(settle(l));
    if (l->s->value < l->home - CLV_GAIN_TOLERANCE) {
        keep(l);
    } else {
        take_back(l);
    }
    *(global ? &l->global_work : &l->local_work) += l->looked - before;
    return CLV_OK;
}

/* Some kicks; `gained` says whether the cut has fallen by what is worthwhile since it last did. */
static clv_status bout(clv_local *l, clv_rng *rng, bool *gained) {
    int64_t kicks = 1 + l->s->problem->n / SPAN;
    for (int64_t turn = 0; turn < kicks && turn < KICKS_AT_ONCE; turn++) {
        CLV_TRY(clv_local_kick(l, rng));
    }
    *gained = l->home < l->mark - fmax(WORTHWHILE * l->mark, CLV_GAIN_TOLERANCE);
    l->mark = *gained ? l->home : l->mark;
    return CLV_OK;
}

clv_status clv_local_round(clv_local *l, clv_rng *rng, int64_t patience, int64_t *fruitless) {
    int64_t until = l->looked + ROUND * l->s->problem->n, moved = 0;
    double before = l->home;
    do {
        bool gained;
        CLV_TRY(bout(l, rng, &gained));
        *fruitless = gained ? 0 : *fruitless + 1;
    } while (l->looked < until && !(patience >= 0 && *fruitless >= patience));
    do {
        CLV_TRY(l->home < before ? clv_local_pass(l, &moved) : CLV_OK);
    } while (moved > 0);
    return CLV_OK;
}
