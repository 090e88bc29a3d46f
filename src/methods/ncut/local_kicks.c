/* Search on a sparse graph: bouts of kicks.
 *
 *   regions   around an object with a neighbor in another cluster, found by trying some at random, up to MOST_REGION
 *             objects in the order of their distance by edges go to the other cluster, all of them or a half at random
 *   clusters  a cluster goes to its next best ones, another is split between two objects far apart in it, by distance
 *             in edges. Costs as much as the clusters are large
 *
 * A bout is CLUSTERS kicks of clusters and so many of regions as cost as much. All start from where the search stands,
 * so that threads can share them; few gain anything. What these have moved is then moved one after another on what
 * there is by then, and kept where the cut is still lower. So a bout comes to the same on any number of threads, and of
 * ranks, which share its kicks and tell each other of those that gain.
 *
 * A round is so many bouts as look at several times n objects, so that the passes over all objects at its end do not
 * count. */
#include "base/ranks.h"
#include "methods/ncut/ncut.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { MOST_REGION = 256, TRIES = 16 };
/* Kicks of clusters in a bout; kicks of regions in one, the first time, and at most. From so many objects on, threads
 * share a bout. */
enum { CLUSTERS = 2, FIRST_REGIONS = 16 * CLUSTERS, MOST_REGIONS = 1024, LEAST_SHARED = 128, WORTH_RANKS = 4096 };
/* Kicks touch little: up to so many count as one, one and one more for each SPAN objects. On a small graph fewer try
 * all that there is to try, and the rest of the time would be spent on the last tenths of a percent. A round looks at
 * so many times n objects. */
enum { KICKS_AT_ONCE = 5, SPAN = 5000, ROUND = 4 };
/* The share of the cut that gains must add up to: on a large graph there is always some object to gain a little with.
 */
#define WORTHWHILE 1e-4

/* --- regions --- */

/* A cluster of a neighbor other than the own, the first from a random place in the row on; -1: there is none. */
static int32_t cluster_beyond(const clv_hand *h, int64_t i, clv_rng *rng) {
    int64_t first = h->graph->start[i], count = h->graph->start[i + 1] - first;
    int64_t from = clv_rng_below(rng, count);
    for (int64_t e = 0; e < count; e++) {
        int32_t c = h->s.labels[h->graph->index[first + (from + e) % count]];
        if (c >= 0 && c != h->s.labels[i]) {
            return c;
        }
    }
    return -1;
}

/* An object that counts, at a border if one is soon found, and a cluster to send it to. */
static int64_t draw_center(const clv_hand *h, clv_rng *rng, int32_t *to) {
    const clv_ncut_problem *p = h->s.problem;
    int64_t i = 0;
    *to = -1;
    for (int tries = 0; *to < 0 && tries < TRIES;) {
        i = clv_rng_below(rng, p->n);
        if (h->s.labels[i] >= 0) {
            *to = cluster_beyond(h, i, rng);
            tries++;
        }
    }
    if (*to < 0) {
        int32_t drawn = (int32_t)clv_rng_below(rng, p->k - 1);
        *to = drawn < h->s.labels[i] ? drawn : drawn + 1;
    }
    return i;
}

/* Objects by their distance in edges from those that are in the list, up to `most`; with `within` >= 0 only members of
 * that cluster. Those in the list are marked; returns how many there are. */
static int64_t spread(clv_hand *h, int64_t *list, int64_t count, int64_t most, int32_t within) {
    for (int64_t at = 0; at < count && count < most; at++) {
        for (int64_t e = h->graph->start[list[at]]; e < h->graph->start[list[at] + 1] && count < most; e++) {
            int64_t j = h->graph->index[e];
            if (!(h->marks[j] & CLV_REACHED) && (within < 0 || h->s.labels[j] == within)) {
                h->marks[j] |= CLV_REACHED;
                list[count++] = j;
            }
        }
    }
    return count;
}

static void unmark(clv_hand *h, const int64_t *list, int64_t count) {
    for (int64_t m = 0; m < count; m++) {
        h->marks[list[m]] &= (uint8_t)~CLV_REACHED;
    }
}

static void kick_region(clv_hand *h, clv_rng *rng) {
    int64_t region[MOST_REGION];
    int32_t to;
    region[0] = draw_center(h, rng, &to);
    int32_t from = h->s.labels[region[0]];
    bool scatter = clv_rng_below(rng, 2) == 0;
    int64_t most = (int64_t)exp2(clv_rng_uniform(rng) * log2(MOST_REGION));
    h->marks[region[0]] |= CLV_REACHED;
    int64_t count = spread(h, region, 1, most, -1);
    unmark(h, region, count);
    for (int64_t m = 0; m < count; m++) {
        clv_hand_throw(h, region[m], scatter && clv_rng_below(rng, 2) == 0 ? from : to);
    }
}

/* --- whole clusters --- */

/* The members of cluster c into `list`. */
static int64_t list_members(const clv_hand *h, int32_t c, int64_t *list) {
    int64_t count = 0;
    for (int64_t i = 0; i < h->s.problem->n; i++) {
        if (h->s.labels[i] == c) {
            list[count++] = i;
        }
    }
    return count;
}

/* Half of cluster c goes to `fresh`: those that are reached first from the member that is reached last from one drawn
 * at random. */
static void split(clv_hand *h, int32_t c, int32_t fresh, clv_rng *rng) {
    int64_t *list = h->list, members = list_members(h, c, list);
    if (members < 2) {
        return;
    }
    for (int turn = 0; turn < 2; turn++) {
        int64_t seed = turn == 0 ? list[clv_rng_below(rng, members)] : list[members - 1];
        list[0] = seed;
        h->marks[seed] |= CLV_REACHED;
        members = spread(h, list, 1, turn == 0 ? members : 1 + members / 2, c);
        unmark(h, list, members);
    }
    for (int64_t m = 0; m < members; m++) {
        clv_hand_throw(h, list[m], fresh);
    }
}

/* The last member of the cluster that is dissolved leaves it when the split has given it others. */
static void kick_clusters(clv_hand *h, clv_rng *rng) {
    int64_t k = h->s.problem->k, *list = h->list;
    int32_t gone = (int32_t)clv_rng_below(rng, k), halved = (int32_t)clv_rng_below(rng, k - 1);
    halved = halved < gone ? halved : halved + 1;
    int64_t members = list_members(h, gone, list), last = list[members - 1];
    for (int64_t m = 0; m + 1 < members; m++) {
        clv_hand_throw(h, list[m], clv_hand_next_best(h, list[m], gone));
    }
    split(h, halved, gone, rng);
    clv_hand_throw(h, last, clv_hand_next_best(h, last, gone));
}

/* --- bouts --- */

typedef struct kick {
    clv_rng rng;
    bool of_clusters;
    clv_status status;
    int64_t looked; /* at so many objects */
    int64_t *moved; /* those that have moved, in a kick that gains something; else NULL */
    int32_t *labels;
    int64_t count;
} kick;

/* What hand h has moved, to be moved again. */
static clv_status note(kick *t, const clv_hand *h) {
    clv_context *ctx = h->s.problem->ctx;
    t->count = h->moves;
    t->moved = CLV_NEW(ctx, int64_t, h->moves);
    t->labels = CLV_NEW(ctx, int32_t, h->moves);
    if (!t->moved || !t->labels) {
        return CLV_ENOMEM;
    }
    memcpy(t->moved, h->s.moved, (size_t)h->moves * sizeof *t->moved);
    for (int64_t m = 0; m < h->moves; m++) {
        t->labels[m] = h->s.labels[h->s.moved[m]];
    }
    return CLV_OK;
}

/* A kick, polished by what it touched, noted if the cut is lower, and taken back. */
static clv_status attempt(kick *t, clv_hand *h, const clv_partition *from) {
    clv_hand_stand(h, from);
    (t->of_clusters ? kick_clusters : kick_region)(h, &t->rng);
    CLV_TRY(clv_hand_settle(h));
    t->looked = h->looked;
    CLV_TRY(h->s.value < from->value - CLV_GAIN_TOLERANCE ? note(t, h) : CLV_OK);
    clv_hand_take_back(h, from);
    return CLV_OK;
}

/* The kicks of clusters among those of a bout, which come first. */
static int64_t clusters_of(int64_t kicks) {
    return kicks < CLUSTERS ? kicks : CLUSTERS;
}

/* What a kick has moved, if it gains something. */
static void carry_out(clv_local *l, const kick *one) {
    clv_hand *h = &l->hand[0];
    *(one->of_clusters ? &l->clusters : &l->regions) += 1;
    *(one->of_clusters ? &l->cluster_work : &l->region_work) += one->looked;
    if (one->moved) {
        clv_hand_stand(h, l->s);
        if (clv_hand_follow(h, one->moved, one->labels, one->count)) {
            clv_local_adopt(l, h);
        } else {
            clv_hand_take_back(h, l->s);
        }
    }
}

/* Whether the cut has fallen by what is worthwhile since it last did. */
static bool gains(clv_local *l) {
    bool gained = l->s->value < l->mark - fmax(WORTHWHILE * l->mark, CLV_GAIN_TOLERANCE);
    l->mark = gained ? l->s->value : l->mark;
    return gained;
}

/* So many kicks count as one. */
static int64_t at_once(const clv_local *l) {
    int64_t some = 1 + l->s->problem->n / SPAN;
    return some < KICKS_AT_ONCE ? some : KICKS_AT_ONCE;
}

/* One after another: each kick of clusters with its part of those of regions. */
static void carry_out_all(clv_local *l, const kick *kicks, int64_t count, int64_t *fruitless) {
    int64_t clusters = clusters_of(count), regions = count - clusters;
    for (int64_t c = 0; c < clusters; c++) {
        int64_t first = regions * c / clusters, last = regions * (c + 1) / clusters;
        carry_out(l, &kicks[c]);
        for (int64_t t = first; t < last; t++) {
            carry_out(l, &kicks[clusters + t]);
        }
        *fruitless = gains(l) ? 0 : *fruitless + (last - first + at_once(l)) / at_once(l);
    }
}

/* --- bouts that ranks share --- */

static bool is_shared_out(const clv_local *l) {
    return l->s->problem->n >= WORTH_RANKS && clv_is_shared(l->s->problem->ctx);
}

/* The kicks of rank r: those whose middle lies in its part of what a bout costs, by what kicks cost so far. */
static void kicks_of(const clv_local *l, int rank, int64_t count, int64_t *first, int64_t *last) {
    double whole = l->clusters > 0 ? (double)l->cluster_work / (double)l->clusters : 1;
    double each = l->regions > 0 ? (double)l->region_work / (double)l->regions : (double)CLUSTERS / FIRST_REGIONS;
    double clusters = (double)clusters_of(count), regions = (double)count - clusters;
    double part = (whole * clusters + each * regions) / clv_rank_count(l->s->problem->ctx);
    int64_t *ends[2] = {first, last};
    for (int side = 0; side < 2; side++) {
        double at = part * (rank + side), beyond = at - whole * clusters;
        double t = beyond <= 0 ? fmin(ceil(at / whole - 0.5), clusters) : clusters + fmax(ceil(beyond / each - 0.5), 0);
        *ends[side] = t < (double)count ? (int64_t)t : count;
    }
    *last = rank + 1 < clv_rank_count(l->s->problem->ctx) ? *last : count;
}

/* What a kick has come to, before the objects that it has moved, and these. */
typedef struct finding {
    int64_t looked, count; /* count -1: it gains nothing */
} finding;
typedef struct placing {
    int32_t object, label;
} placing;

static clv_status tell_findings(const clv_local *l, clv_status status, kick *kicks, int64_t count, finding *found,
                                int64_t *bytes) {
    clv_context *ctx = l->s->problem->ctx;
    int ranks = clv_rank_count(ctx);
    int64_t first, last;
    for (int q = 0; q < ranks; q++) {
        kicks_of(l, q, count, &first, &last);
        bytes[q] = (last - first) * (int64_t)sizeof *found;
        bytes[ranks + q] = first * (int64_t)sizeof *found;
    }
    for (int64_t t = 0; t < count; t++) {
        found[t] = (finding){kicks[t].looked, kicks[t].moved ? kicks[t].count : -1};
    }
    return clv_gather_bytes(ctx, status, found, bytes, bytes + ranks);
}

/* Objects that kicks of others have moved, from `all`, where those of kick t follow those before it. */
static clv_status take_findings(clv_context *ctx, kick *kicks, int64_t count, const finding *found,
                                const placing *all) {
    for (int64_t t = 0; t < count; t++) {
        kick *one = &kicks[t];
        one->looked = found[t].looked;
        if (found[t].count >= 0 && !one->moved) {
            one->count = found[t].count;
            one->moved = CLV_NEW(ctx, int64_t, one->count);
            one->labels = CLV_NEW(ctx, int32_t, one->count);
            if (!one->moved || !one->labels) {
                return CLV_ENOMEM;
            }
            for (int64_t m = 0; m < one->count; m++) {
                one->moved[m] = all[m].object;
                one->labels[m] = all[m].label;
            }
        }
        all += found[t].count > 0 ? found[t].count : 0;
    }
    return CLV_OK;
}

static clv_status tell_placings(const clv_local *l, clv_status status, const kick *kicks, int64_t count,
                                const finding *found, placing *all, int64_t *bytes) {
    clv_context *ctx = l->s->problem->ctx;
    int ranks = clv_rank_count(ctx);
    int64_t first, last, at = 0;
    for (int q = 0; q < ranks; q++) {
        kicks_of(l, q, count, &first, &last);
        bytes[ranks + q] = at * (int64_t)sizeof *all;
        for (int64_t t = first; t < last; t++) {
            for (int64_t m = 0; all && kicks[t].moved && m < kicks[t].count; m++) {
                all[at + m] = (placing){(int32_t)kicks[t].moved[m], kicks[t].labels[m]};
            }
            at += found[t].count > 0 ? found[t].count : 0;
        }
        bytes[q] = at * (int64_t)sizeof *all - bytes[ranks + q];
    }
    return clv_gather_bytes(ctx, status, all, bytes, bytes + ranks);
}

static clv_status exchange(const clv_local *l, clv_status status, kick *kicks, int64_t count) {
    clv_context *ctx = l->s->problem->ctx;
    clv_kept kept = {.ctx = ctx};
    finding *found = CLV_TAKE(&kept, finding, count);
    int64_t *bytes = CLV_TAKE(&kept, int64_t, 2 * clv_rank_count(ctx)), moved = 0;
    placing *all = NULL;
    status = kept.status < 0 ? clv_meet(ctx, 0, kept.status) : tell_findings(l, status, kicks, count, found, bytes);
    for (int64_t t = 0; status == CLV_OK && t < count; t++) {
        moved += found[t].count > 0 ? found[t].count : 0;
    }
    if (status == CLV_OK && moved > 0) {
        all = CLV_TAKE(&kept, placing, moved);
        status = tell_placings(l, kept.status, kicks, count, found, all, bytes);
    }
    if (status == CLV_OK) {
        status = take_findings(ctx, kicks, count, found, all);
    }
    clv_free_kept(&kept);
    return status;
}

static int hands_at_work(const clv_local *l) {
    int team = clv_team(l->s->threads);
    return team < l->hands ? team : l->hands;
}

/* Every kick of the bout, or those of this rank, and what the others found. */
static clv_status attempt_all(clv_local *l, kick *kicks, int64_t count) {
    clv_partition *s = l->s;
    clv_context *ctx = s->problem->ctx;
    bool shared = is_shared_out(l);
    int64_t first = 0, last = count;
    clv_status status = CLV_OK;
    if (shared) {
        kicks_of(l, clv_ranks_of(ctx)->with.rank, count, &first, &last);
        clv_own_clock_begin(ctx);
    }
#pragma omp parallel for num_threads(hands_at_work(l)) schedule(dynamic, 1) if (s->problem->n >= LEAST_SHARED)
    for (int64_t t = first; t < last; t++) {
        kicks[t].status = attempt(&kicks[t], &l->hand[omp_get_thread_num()], s);
    }
    for (int64_t t = first; t < last && status == CLV_OK; t++) {
        status = kicks[t].status;
    }
    if (shared) {
        clv_own_clock_end(ctx);
        status = exchange(l, status, kicks, count);
    }
    return status;
}

clv_status clv_local_bout(clv_local *l, clv_rng *rng, int64_t count, int64_t *fruitless) {
    clv_partition *s = l->s;
    kick *kicks = CLV_NEW0(s->problem->ctx, kick, count);
    if (!kicks) {
        return CLV_ENOMEM;
    }
    for (int64_t t = 0; t < count; t++) {
        kicks[t].rng = clv_rng_stream(clv_rng_next(rng), 0);
        kicks[t].of_clusters = t < clusters_of(count);
    }
    clv_status status = attempt_all(l, kicks, count);
    if (status == CLV_OK) {
        carry_out_all(l, kicks, count, fruitless);
    }
    for (int64_t t = 0; t < count; t++) {
        CLV_FREE_ALL(s->problem->ctx, kicks[t].moved, kicks[t].labels);
    }
    clv_free(s->problem->ctx, kicks);
    return status;
}

/* --- rounds --- */

/* Kicks of regions in the next bout: such that they will have cost as much as those of clusters. */
static int64_t regions_next(const clv_local *l) {
    if (l->clusters == 0 || l->region_work == 0) {
        return FIRST_REGIONS;
    }
    double clusters = (double)l->cluster_work * (double)(l->clusters + CLUSTERS) / (double)l->clusters;
    double each = (double)l->region_work / (double)l->regions;
    return (int64_t)fmin(fmax((clusters - (double)l->region_work) / each, 1), MOST_REGIONS);
}

clv_status clv_local_round(clv_local *l, clv_rng *rng, int64_t patience, int64_t *fruitless) {
    int64_t n = l->s->problem->n, until = l->cluster_work + l->region_work + ROUND * n, moved = 1;
    double before = l->s->value;
    do {
        int64_t kicks = CLUSTERS + regions_next(l), left = patience < 0 ? kicks : (patience - *fruitless) * at_once(l);
        kicks = kicks < left ? kicks : left;
        CLV_TRY(clv_local_bout(l, rng, kicks, fruitless));
    } while (l->cluster_work + l->region_work < until && !(patience >= 0 && *fruitless >= patience));
    while (moved > 0 && l->s->value < before) {
        CLV_TRY(clv_local_pass(l, &moved));
    }
    return CLV_OK;
}
