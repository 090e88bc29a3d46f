/* Polish and search on a sparse graph, by what was touched.
 *
 * A queue holds the objects to look at. One that moves by the exact rule puts its neighbors into the queue; nothing
 * else is looked at, and an object is looked at by its row: its sums to the clusters are gathered when they are
 * needed, none are kept. So a kick with its polish costs the rows of the objects that it touched, whatever n is, and
 * what it changed is taken back by a list of the objects that moved.
 *
 * The partition is where the search stands. Changes are tried by hands, one per thread: each has labels of its own,
 * those of the partition but for the objects in its list. What one of them has found good becomes the partition's, and
 * so that of all hands.
 *
 * A move also changes two volumes, and by that, slightly, the gains of all objects. Hence a pass over all objects ends
 * the polish, and every round of kicks (local_kicks.c) with a gain: an iterate that the driver gets to see is optimal
 * under single moves. Threads and ranks share the looking of a pass, and one moves those that would move as things
 * were. */
#include "base/ranks.h"
#include "methods/ncut/ncut.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { POLL = 1024, MOST_CHUNKS = 64, LEAST_CHUNK = 4096, MOST_HANDS = 16 };

/* --- making one --- */

bool clv_local_suits(const clv_ncut_problem *p, clv_matrix *graph) {
    return clv_affinity_view(p->affinity, graph) && clv_is_sparse(graph) && graph->scalar == CLV_F64;
}

static int64_t chunks_of(int64_t n) {
    int64_t chunks = (n + LEAST_CHUNK - 1) / LEAST_CHUNK;
    return chunks < MOST_CHUNKS ? chunks : MOST_CHUNKS;
}

static int hands_of(int threads) {
    return threads < MOST_HANDS ? threads : MOST_HANDS;
}

/* The first hand works in what the partition has for work. */
static bool make_hand(clv_local *l, clv_hand *h, bool first) {
    clv_partition *s = l->s;
    clv_context *ctx = s->problem->ctx;
    int64_t n = s->problem->n, k = s->problem->k;
    *h = (clv_hand){.graph = &l->graph, .s = {.problem = s->problem, .threads = 1}};
    h->s.labels = first ? s->wanted : CLV_NEW(ctx, int32_t, n);
    h->s.moved = first ? s->moved : CLV_NEW(ctx, int64_t, 2 * n);
    h->s.within = CLV_NEW(ctx, double, 2 * k);
    h->s.size = CLV_NEW(ctx, int64_t, k);
    h->marks = CLV_NEW0(ctx, uint8_t, n);
    h->near = CLV_NEW0(ctx, double, k);
    h->list = CLV_NEW(ctx, int64_t, n);
    if (!h->s.labels || !h->s.moved || !h->s.within || !h->s.size || !h->marks || !h->near || !h->list) {
        return false;
    }
    h->s.picked = h->s.moved + n;
    h->s.volume = h->s.within + k;
    return true;
}

clv_status clv_local_new(clv_partition *s, clv_local *out) {
    const clv_ncut_problem *p = s->problem;
    int hands = hands_of(s->threads);
    *out = (clv_local){.s = s, .chunks = chunks_of(p->n)};
    clv_local_suits(p, &out->graph);
    out->partial = CLV_NEW(p->ctx, double, 2 * p->k * out->chunks);
    out->hand = CLV_NEW0(p->ctx, clv_hand, hands);
    bool made = out->partial && out->hand;
    for (; made && out->hands < hands; out->hands++) {
        made = make_hand(out, &out->hand[out->hands], out->hands == 0);
    }
    return made ? CLV_OK : CLV_ENOMEM;
}

void clv_local_free(clv_local *l) {
    if (!l->s) {
        return;
    }
    clv_context *ctx = l->s->problem->ctx;
    for (int h = 0; h < l->hands; h++) {
        clv_hand *hand = &l->hand[h];
        if (h > 0) {
            CLV_FREE_ALL(ctx, hand->s.labels, hand->s.moved);
        }
        CLV_FREE_ALL(ctx, hand->s.within, hand->s.size, hand->marks, hand->near, hand->list);
    }
    CLV_FREE_ALL(ctx, l->partial, l->hand);
    *l = (clv_local){0};
}

size_t clv_local_memory(int64_t n, int64_t k, int threads) {
    size_t objects = (size_t)n, clusters = (size_t)k, hands = (size_t)hands_of(threads);
    size_t hand =
        sizeof(clv_hand) + objects * (1 + sizeof(int64_t)) + clusters * (3 * sizeof(double) + sizeof(int64_t));
    size_t further = objects * (sizeof(int32_t) + 2 * sizeof(int64_t));
    return hands * hand + (hands - 1) * further + 2 * clusters * (size_t)chunks_of(n) * sizeof(double);
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

/* Whether ranks share passes over all objects. */
static bool shares_passes(const clv_local *l) {
    return l->chunks > 1 && clv_is_shared(l->s->problem->ctx);
}

/* From the labels alone. */
static clv_status measure(clv_local *l) {
    clv_partition *s = l->s;
    clv_context *ctx = s->problem->ctx;
    int64_t k = s->problem->k, first = 0, last = l->chunks;
    if (shares_passes(l)) {
        clv_share(ctx, l->chunks, &first, &last);
    }
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(static) if (l->chunks > 1)
    for (int64_t q = first; q < last; q++) {
        measure_chunk(l, q, l->partial + 2 * k * q, l->partial + 2 * k * q + k);
    }
    if (shares_passes(l)) {
        CLV_TRY(clv_gather_items(ctx, CLV_OK, l->partial, 2 * (size_t)k * sizeof *l->partial, l->chunks, 1));
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
    return CLV_OK;
}

/* --- one object --- */

/* Its sums to the clusters into `near`, which is zero before; whether it has neighbors in others than its own. Most are
 * in its own, whose sum stays in a register: an addition to memory would wait for the one before it. */
static bool gather(clv_hand *h, int64_t i) {
    const double *values = h->graph->values;
    const int32_t *labels = h->s.labels;
    int32_t own = labels[i];
    double within = h->s.problem->diagonal[i]; /* what is stored need not count */
    bool beyond = false;
    for (int64_t e = h->graph->start[i]; e < h->graph->start[i + 1]; e++) {
        int32_t j = h->graph->index[e], c = labels[j];
        if (c == own) {
            within += j != i ? values[e] : 0;
        } else if (c >= 0) {
            h->near[c] += values[e];
            beyond = true;
        }
    }
    h->near[own] = within;
    return beyond;
}

static void forget(clv_hand *h) {
    memset(h->near, 0, (size_t)h->s.problem->k * sizeof *h->near);
}

/* The best cluster for object i with sums `near`, or its own. A cluster without a neighbor of i is no gain if its own
 * is a good one, unless its members are less similar to each other than i is to itself: then `beyond`, whether i has
 * neighbors in other clusters, settles it. */
static int32_t best_cluster(const clv_hand *h, int64_t i, bool beyond) {
    const clv_partition *s = &h->s;
    const clv_ncut_problem *p = s->problem;
    int32_t own = s->labels[i], target = own;
    double leave = clv_leave_gain(s, i, h->near[own]), best = CLV_LEAST_GAIN * (double)p->k;
    if (!beyond && leave <= 0 && p->diagonal[i] == 0) {
        return own;
    }
    for (int32_t c = 0; c < p->k; c++) {
        bool loses = h->near[c] <= 0 && leave <= 0 && s->within[c] * p->degree[i] >= p->diagonal[i] * s->volume[c];
        if (c == own || loses) {
            continue;
        }
        double gain = leave + clv_enter_gain(s, i, c, h->near[c]);
        bool tied = gain == best && target != own;
        if (gain > best || (tied && clv_prefers(s->ties, i, c, target))) {
            best = gain;
            target = c;
        }
    }
    return target;
}

int32_t clv_hand_next_best(clv_hand *h, int64_t i, int32_t gone) {
    const clv_partition *s = &h->s;
    double best = -INFINITY;
    int32_t target = gone == 0 ? 1 : 0;
    gather(h, i);
    for (int32_t c = 0; c < s->problem->k; c++) {
        double ratio = clv_ratio(s->within[c], s->volume[c]);
        double here = 2 * clv_ratio(h->near[c], s->volume[c]) - s->problem->degree[i] * clv_ratio(ratio, s->volume[c]);
        if (c != gone && here > best) {
            best = here;
            target = c;
        }
    }
    forget(h);
    return target;
}

/* --- the queue, and the list of what has moved --- */

static void push(clv_hand *h, int64_t i) {
    int64_t n = h->s.problem->n;
    if (!(h->marks[i] & CLV_QUEUED) && h->s.labels[i] >= 0) {
        int64_t at = h->head + h->waiting;
        h->s.picked[at < n ? at : at - n] = i;
        h->marks[i] |= CLV_QUEUED;
        h->waiting++;
    }
}

static int64_t pop(clv_hand *h) {
    int64_t i = h->s.picked[h->head];
    h->head = h->head + 1 < h->s.problem->n ? h->head + 1 : 0;
    h->waiting--;
    h->marks[i] &= (uint8_t)~CLV_QUEUED;
    return i;
}

/* Object i, whose sums are in `near`, goes to cluster `to`. */
static void move(clv_hand *h, int64_t i, int32_t to) {
    clv_partition *s = &h->s;
    const clv_ncut_problem *p = s->problem;
    int32_t from = s->labels[i];
    s->within[from] += p->diagonal[i] - 2 * h->near[from];
    s->within[to] += p->diagonal[i] + 2 * h->near[to];
    s->volume[from] -= p->degree[i];
    s->volume[to] += p->degree[i];
    s->size[from]--;
    s->size[to]++;
    s->labels[i] = to;
    if (!(h->marks[i] & CLV_MOVED)) {
        h->marks[i] |= CLV_MOVED;
        s->moved[h->moves++] = i;
    }
}

static void push_neighbors(clv_hand *h, int64_t i) {
    for (int64_t e = h->graph->start[i]; e < h->graph->start[i + 1]; e++) {
        push(h, h->graph->index[e]);
    }
}

void clv_hand_throw(clv_hand *h, int64_t i, int32_t to) {
    if (h->s.labels[i] >= 0 && h->s.labels[i] != to && h->s.size[h->s.labels[i]] > 1) {
        gather(h, i);
        move(h, i, to);
        forget(h);
        push_neighbors(h, i);
        push(h, i);
    }
}

/* The row that will be looked at so many objects from now is on its way from memory meanwhile. */
static void expect(const clv_hand *h) {
    enum { AHEAD = 4 };
    int64_t n = h->s.problem->n, at = h->head + AHEAD;
    if (h->waiting > AHEAD) {
        int64_t e = h->graph->start[h->s.picked[at < n ? at : at - n]];
        __builtin_prefetch(&h->graph->index[e]);
        __builtin_prefetch((const double *)h->graph->values + e);
        __builtin_prefetch((const double *)h->graph->values + e + 8);
    }
}

clv_status clv_hand_settle(clv_hand *h) {
    clv_partition *s = &h->s;
    while (h->waiting > 0) {
        expect(h);
        int64_t i = pop(h);
        if (++h->looked % POLL == 0 && clv_worked(s->problem->ctx, POLL * s->problem->k)) {
            return clv_stop_failure(s->problem->ctx, "moving objects");
        }
        if (s->size[s->labels[i]] > 1) {
            bool beyond = gather(h, i);
            int32_t target = best_cluster(h, i, beyond);
            if (target != s->labels[i]) {
                move(h, i, target);
                push_neighbors(h, i);
            }
            forget(h);
        }
    }
    s->value = value_of(s);
    return CLV_OK;
}

/* --- a hand and the partition --- */

void clv_hand_stand(clv_hand *h, const clv_partition *on) {
    size_t k = (size_t)on->problem->k;
    memcpy(h->s.within, on->within, k * sizeof *on->within);
    memcpy(h->s.volume, on->volume, k * sizeof *on->volume);
    memcpy(h->s.size, on->size, k * sizeof *on->size);
    h->s.value = on->value;
    h->looked = 0;
}

void clv_hand_take_back(clv_hand *h, const clv_partition *to) {
    for (int64_t m = 0; m < h->moves; m++) {
        int64_t i = h->s.moved[m];
        h->s.labels[i] = to->labels[i];
        h->marks[i] &= (uint8_t)~CLV_MOVED;
    }
    h->moves = 0;
}

bool clv_hand_follow(clv_hand *h, const int64_t *objects, const int32_t *labels, int64_t count) {
    double before = h->s.value;
    for (int64_t m = 0; m < count; m++) {
        if (h->s.labels[objects[m]] != labels[m]) {
            gather(h, objects[m]);
            move(h, objects[m], labels[m]);
            forget(h);
        }
    }
    bool full = true;
    for (int64_t c = 0; c < h->s.problem->k; c++) {
        full = full && h->s.size[c] > 0;
    }
    h->s.value = value_of(&h->s);
    return full && h->s.value < before - CLV_GAIN_TOLERANCE;
}

void clv_local_adopt(clv_local *l, clv_hand *h) {
    clv_partition *s = l->s;
    size_t k = (size_t)s->problem->k;
    for (int64_t m = 0; m < h->moves; m++) {
        int64_t i = h->s.moved[m];
        s->labels[i] = h->s.labels[i];
        for (int other = 0; other < l->hands; other++) {
            l->hand[other].s.labels[i] = s->labels[i];
        }
        h->marks[i] &= (uint8_t)~CLV_MOVED;
    }
    h->moves = 0;
    memcpy(s->within, h->s.within, k * sizeof *s->within);
    memcpy(s->volume, h->s.volume, k * sizeof *s->volume);
    memcpy(s->size, h->s.size, k * sizeof *s->size);
    s->value = h->s.value;
}

/* Every hand has the labels of the partition, and nothing to do. */
static void gather_hands(clv_local *l) {
    const clv_partition *s = l->s;
    size_t n = (size_t)s->problem->n;
    for (int h = 0; h < l->hands; h++) {
        clv_hand *hand = &l->hand[h];
        memset(hand->marks, 0, n);
        memcpy(hand->s.labels, s->labels, n * sizeof *s->labels);
        hand->s.ties = s->ties;
        hand->head = hand->waiting = hand->moves = 0;
        forget(hand);
    }
}

clv_status clv_local_begin(clv_local *l) {
    l->s->fresh = false;
    l->clusters = l->regions = l->cluster_work = l->region_work = 0;
    gather_hands(l);
    CLV_TRY(measure(l));
    l->mark = l->s->value;
    return CLV_OK;
}

void clv_local_pass_state(clv_local *l, clv_archive *archive) {
    clv_pass_integer(archive, &l->clusters, 0, INT64_MAX / 2);
    clv_pass_integer(archive, &l->regions, 0, INT64_MAX / 2);
    clv_pass_integer(archive, &l->cluster_work, 0, INT64_MAX / 2);
    clv_pass_integer(archive, &l->region_work, 0, INT64_MAX / 2);
    clv_pass_real(archive, &l->mark);
    if (archive->loading && archive->status == CLV_OK) {
        gather_hands(l);
    }
}

/* Whether object i would move, as things are. */
static bool is_restless(clv_hand *h, int64_t i) {
    int32_t own = h->s.labels[i];
    if (own < 0 || h->s.size[own] <= 1) {
        return false;
    }
    bool beyond = gather(h, i), restless = best_cluster(h, i, beyond) != own;
    forget(h);
    return restless;
}

static int threads_of(const clv_local *l) {
    int team = clv_team(l->s->threads);
    return team < l->hands ? team : l->hands;
}

/* Threads look at all objects, or those of this rank; the ones that would move are queued, in order. */
static clv_status queue_restless(clv_local *l) {
    clv_context *ctx = l->s->problem->ctx;
    int64_t n = l->s->problem->n, first = 0, last = n;
    uint8_t *marks = l->hand[0].marks;
    for (int h = 0; h < l->hands; h++) {
        clv_hand_stand(&l->hand[h], l->s);
    }
    if (shares_passes(l)) {
        clv_share_objects(ctx, n, CLV_SHARE, &first, &last);
    }
#pragma omp parallel for num_threads(threads_of(l)) schedule(static) if (l->chunks > 1)
    for (int64_t i = first; i < last; i++) {
        marks[i] |= is_restless(&l->hand[omp_get_thread_num()], i) ? CLV_REACHED : 0;
    }
    CLV_TRY(shares_passes(l) ? clv_gather_items(ctx, CLV_OK, marks, sizeof *marks, n, CLV_SHARE) : CLV_OK);
    for (int64_t i = 0; i < n; i++) {
        if (marks[i] & CLV_REACHED) {
            marks[i] &= (uint8_t)~CLV_REACHED;
            push(&l->hand[0], i);
        }
    }
    return CLV_OK;
}

clv_status clv_local_pass(clv_local *l, int64_t *moved) {
    clv_hand *h = &l->hand[0];
    CLV_TRY(queue_restless(l));
    CLV_TRY(clv_hand_settle(h));
    *moved = h->moves;
    clv_local_adopt(l, h);
    return measure(l);
}
