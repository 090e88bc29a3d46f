/* Minimax path distances: P_ij is the smallest, over all paths from i to j, of the largest step on the path. It is the
 * largest edge between i and j on a minimum spanning tree, and also the height at which single linkage joins them.
 *
 *   1  Prim's algorithm on the complete graph, distances computed as needed: n^2 p operations, O(n) memory.
 *   2  Merge the edges in ascending order, joining the leaf lists of two clusters end to end. In the final list the
 *      distance between two leaves is the largest gap between them, so a row of P is a running maximum from its own
 *      position outwards: O(n), no path is ever walked.
 *
 * The affinity is max(P) - P. */
#include "affinity/home.h"

#include "kernels/kernels.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Between the leaves at positions s < t the distance is max(gap[s], ..., gap[t - 1]). */
typedef struct minimax {
    clv_kept kept;
    int64_t *leaf;     /* object at a position */
    int64_t *position; /* position of an object */
    double *gap;       /* n; the last is 0 */
    double top;        /* the largest gap */
} minimax;

typedef struct edge {
    double weight; /* squared length */
    int64_t from, to;
} edge;

/* --- 1: the spanning tree --- */

typedef struct prim {
    const clv_panels *panels;
    double *nearest; /* squared distance of an object outside to the tree; HUGE_VAL inside */
    int64_t *parent; /* the object of the tree that is that near */
    char *inside;
    int64_t *candidate; /* a thread's nearest object outside, or -1 */
    edge *edges;        /* n - 1 */
} prim;

/* Compare the objects of panels [first, last) with the newest object of the tree; return the nearest one outside. */
static int64_t relax(prim *p, int64_t newest, int64_t first, int64_t last) {
    double line[CLV_TILE];
    int64_t best = -1;
    for (int64_t b = first; b < last; b++) {
        clv_distance_line(p->panels, newest, b, line);
        int64_t size = clv_panel_size(p->panels, b);
        for (int64_t r = 0; r < size; r++) {
            int64_t j = b * CLV_TILE + r;
            if (p->inside[j]) {
                continue;
            }
            if (line[r] < p->nearest[j]) {
                p->nearest[j] = line[r];
                p->parent[j] = newest;
            }
            if (best < 0 || p->nearest[j] < p->nearest[best]) {
                best = j;
            }
        }
    }
    return best;
}

/* The nearest of the threads' candidates; they come in ascending order of objects, so ties go to the smallest. */
static int64_t choose(const prim *p, int threads) {
    int64_t best = -1;
    for (int t = 0; t < threads; t++) {
        int64_t j = p->candidate[t];
        if (j >= 0 && (best < 0 || p->nearest[j] < p->nearest[best])) {
            best = j;
        }
    }
    return best;
}

enum { WORK_A_POLL = 1 << 16, WORK_TO_MEET = 1 << 20 }; /* barriers take long when there are fewer cores than threads */

static clv_status grow_tree(prim *p, int threads, clv_context *ctx) {
    int64_t n = p->panels->n, count = p->panels->count, newest = 0;
    int64_t work = n * p->panels->features + (threads > 1 ? WORK_TO_MEET : 0), objects_a_poll = 1 + WORK_A_POLL / work;
    int stopped = 0;
    for (int64_t j = 0; j < n; j++) {
        p->nearest[j] = HUGE_VAL;
        p->parent[j] = 0;
        p->inside[j] = j == 0;
    }
#pragma omp parallel num_threads(clv_team(threads))
    {
        int t = omp_get_thread_num(), team = omp_get_num_threads();
        for (int64_t added = 0; added < n - 1; added++) {
            p->candidate[t] = relax(p, newest, t * count / team, (t + 1) * count / team);
#pragma omp barrier
#pragma omp single
            {
                newest = choose(p, team);
                p->inside[newest] = 1;
                p->edges[added] = (edge){p->nearest[newest], p->parent[newest], newest};
                stopped = added % objects_a_poll == 0 && clv_worked(ctx, objects_a_poll * work);
            }
            if (stopped) {
                break;
            }
        }
    }
    return stopped ? clv_stop_failure(ctx, "finding minimax paths") : CLV_OK;
}

/* --- 2: the order of the leaves --- */

static int by_weight(const void *left, const void *right) {
    const edge *l = left, *r = right;
    if (l->weight != r->weight) {
        return l->weight < r->weight ? -1 : 1;
    }
    return l->to < r->to ? -1 : l->to > r->to; /* an object joins the tree once: a total order */
}

static int64_t find_root(int64_t *root, int64_t i) {
    while (root[i] != i) {
        root[i] = root[root[i]];
        i = root[i];
    }
    return i;
}

/* Lists of leaves: root[] finds a cluster, whose first and last leaves and size are kept at the root. */
typedef struct leaf_lists {
    int64_t *root, *first, *last, *size, *next;
    double *gap_after; /* between a leaf and the next */
} leaf_lists;

static void join(leaf_lists *lists, const edge *e) {
    int64_t left = find_root(lists->root, e->from), right = find_root(lists->root, e->to);
    lists->next[lists->last[left]] = lists->first[right];
    lists->gap_after[lists->last[left]] = sqrt(e->weight);
    int64_t top = lists->size[left] >= lists->size[right] ? left : right, under = left + right - top;
    int64_t first = lists->first[left], last = lists->last[right];
    lists->root[under] = top;
    lists->size[top] += lists->size[under];
    lists->first[top] = first;
    lists->last[top] = last;
}

static void order_leaves(leaf_lists *lists, edge *edges, int64_t n, minimax *out) {
    for (int64_t i = 0; i < n; i++) {
        lists->root[i] = lists->first[i] = lists->last[i] = i;
        lists->size[i] = 1;
        lists->next[i] = -1;
    }
    qsort(edges, (size_t)(n - 1), sizeof *edges, by_weight);
    for (int64_t e = 0; e < n - 1; e++) {
        join(lists, &edges[e]);
    }
    int64_t i = lists->first[find_root(lists->root, 0)];
    for (int64_t s = 0; s < n; s++) {
        out->leaf[s] = i;
        out->position[i] = s;
        out->gap[s] = lists->next[i] >= 0 ? lists->gap_after[i] : 0;
        i = lists->next[i];
    }
    out->top = clv_kernels->largest(out->gap, n); /* the last entry is 0 */
}

static clv_status make_room(clv_context *ctx, int64_t n, minimax *out) {
    out->kept.ctx = ctx;
    out->leaf = CLV_TAKE(&out->kept, int64_t, n);
    out->position = CLV_TAKE(&out->kept, int64_t, n);
    out->gap = CLV_TAKE(&out->kept, double, n);
    return out->kept.status;
}

static clv_status find_tree(clv_context *ctx, const clv_panels *panels, int threads, minimax *out) {
    int64_t n = panels->n;
    if (panels->count < 2 * threads || n * panels->features < 1 << 17) {
        threads = 1; /* a step is shorter than the two barriers that it would need */
    }
    CLV_TRY(make_room(ctx, n, out));
    clv_kept work = {.ctx = ctx};
    edge *edges = CLV_TAKE(&work, edge, n);
    int64_t *integers = CLV_TAKE(&work, int64_t, 5 * n + threads);
    double *reals = CLV_TAKE(&work, double, n);
    char *inside = CLV_TAKE(&work, char, n);
    clv_status status = work.status;
    if (status == CLV_OK) {
        status = grow_tree(&(prim){panels, reals, integers, inside, integers + n, edges}, threads, ctx);
    }
    if (status == CLV_OK) {
        leaf_lists lists = {integers, integers + n, integers + 2 * n, integers + 3 * n, integers + 4 * n, reals};
        order_leaves(&lists, edges, n, out);
    }
    clv_free_kept(&work);
    return status; /* `out` belongs to the caller also on failure */
}

/* --- the home --- */

static const minimax *home_of(const clv_affinity *a) {
    return a->state;
}

/* y += weight times column i */
static void add_column(const clv_affinity *a, int64_t i, double weight, double *y) {
    const minimax *home = home_of(a);
    int64_t own = home->position[i];
    double largest = 0;
    y[i] += a->zero_diagonal ? 0 : weight * home->top;
    for (int64_t s = own; s < a->info.n - 1; s++) {
        largest = home->gap[s] > largest ? home->gap[s] : largest;
        y[home->leaf[s + 1]] += weight * (home->top - largest);
    }
    largest = 0;
    for (int64_t s = own - 1; s >= 0; s--) {
        largest = home->gap[s] > largest ? home->gap[s] : largest;
        y[home->leaf[s]] += weight * (home->top - largest);
    }
}

static clv_status minimax_column(const clv_affinity *a, int64_t i, double *out) {
    memset(out, 0, (size_t)a->info.n * sizeof *out);
    add_column(a, i, 1, out);
    return CLV_OK;
}

/* --- weighted sums of columns ---
 *
 * A few are added one by one. Many come from two sweeps over the leaves, O(n + count) in all: a stack holds what lies
 * on one side of the current leaf, by distance, nearest on top; passing a gap, everything that was nearer comes to be
 * that far away. Every level knows the sum up to it, so nothing is ever subtracted. */

enum { FEW = 4 };

typedef struct level {
    double distance, weight;
    double sum; /* of weight * (top - distance), over this level and all below */
} level;

typedef struct sweep {
    const minimax *home;
    const double *weights; /* by object */
    level *levels;
    int64_t depth;
} sweep;

static void add_level(sweep *s, double distance, double weight) {
    double below = s->depth > 0 ? s->levels[s->depth - 1].sum : 0;
    s->levels[s->depth++] = (level){distance, weight, below + weight * (s->home->top - distance)};
}

static void pass_gap(sweep *s, double gap) {
    double weight = 0;
    int64_t before = s->depth;
    while (s->depth > 0 && s->levels[s->depth - 1].distance <= gap) {
        weight += s->levels[--s->depth].weight;
    }
    if (s->depth < before) {
        add_level(s, gap, weight);
    }
}

/* Take in what the leaf at position t sees behind it, then the leaf itself. */
static void visit(sweep *s, int64_t t, double *y) {
    int64_t i = s->home->leaf[t];
    y[i] += s->depth > 0 ? s->levels[s->depth - 1].sum : 0;
    if (s->weights[i] != 0) {
        add_level(s, 0, s->weights[i]);
    }
}

static void sweep_both_ways(const clv_affinity *a, sweep *s, double *y) {
    int64_t n = a->info.n;
    for (int64_t i = 0; i < n; i++) {
        y[i] = a->zero_diagonal ? 0 : s->weights[i] * s->home->top;
    }
    for (int64_t t = 0; t < n; t++) {
        visit(s, t, y);
        pass_gap(s, s->home->gap[t]);
    }
    s->depth = 0;
    for (int64_t t = n - 1; t >= 0; t--) {
        visit(s, t, y);
        pass_gap(s, t > 0 ? s->home->gap[t - 1] : 0);
    }
}

static clv_status combine_many(const clv_affinity *a, const clv_terms *terms, double *y) {
    clv_kept work = {.ctx = a->ctx};
    double *weights = CLV_TAKE0(&work, double, a->info.n);
    level *levels = CLV_TAKE(&work, level, terms->count + 1);
    for (int64_t m = 0; work.status == CLV_OK && m < terms->count; m++) {
        weights[terms->objects[m]] += terms->weights[m];
    }
    if (work.status == CLV_OK) {
        sweep_both_ways(a, &(sweep){home_of(a), weights, levels, 0}, y);
    }
    clv_free_kept(&work);
    return work.status;
}

static clv_status minimax_combine(const clv_affinity *a, const clv_terms *terms, double *y, int threads) {
    (void)threads;
    if (terms->count > FEW) {
        CLV_TRY(combine_many(a, terms, y));
    } else {
        memset(y, 0, (size_t)a->info.n * sizeof *y);
        for (int64_t m = 0; m < terms->count; m++) {
            add_column(a, terms->objects[m], terms->weights[m], y);
        }
    }
    return clv_worked(a->ctx, a->info.n) ? clv_stop_failure(a->ctx, "adding columns of the affinity") : CLV_OK;
}

static clv_status minimax_entry(const clv_affinity *a, int64_t i, int64_t j, double *out) {
    const minimax *home = home_of(a);
    int64_t s = home->position[i], t = home->position[j];
    double own = a->zero_diagonal ? 0 : home->top;
    *out = i == j ? own : home->top - clv_kernels->largest(home->gap + (s < t ? s : t), s < t ? t - s : s - t);
    return CLV_OK;
}

/* --- some of the objects: the chosen leaves in their order; the gap between two is the largest of those that lie
 * between --- */

static void take_leaves(const clv_affinity *a, const int32_t *number, minimax *to) {
    const minimax *from = home_of(a);
    double between = 0;
    int64_t taken = 0;
    for (int64_t s = 0; s < a->info.n; s++) {
        int32_t j = number[from->leaf[s]];
        if (j >= 0) {
            if (taken > 0) {
                to->gap[taken - 1] = between;
            }
            to->leaf[taken] = j;
            to->position[j] = taken;
            to->gap[taken++] = 0;
            between = 0;
        }
        between = fmax(between, from->gap[s]);
    }
    to->top = from->top;
}

static clv_status minimax_subset(const clv_affinity *a, const int64_t *objects, int64_t m, clv_affinity **out) {
    CLV_TRY(clv_affinity_like(a, m, out));
    CLV_TRY(make_room(a->ctx, m, (*out)->state));
    int32_t *number = clv_number_objects(a, objects, m);
    if (!number) {
        return CLV_ENOMEM;
    }
    take_leaves(a, number, (*out)->state);
    clv_free(a->ctx, number);
    return CLV_OK;
}

static clv_status minimax_largest(const clv_affinity *a, double *out) {
    *out = home_of(a)->top;
    return CLV_OK;
}

/* An entry walks over the leaves between two, a column over all of them. */
static clv_affinity_cost cost_of(int64_t n) {
    double size = (double)n;
    return (clv_affinity_cost){.entry = size, .column = size, .pass = size * size};
}

static clv_status minimax_cost(const clv_affinity *a, clv_affinity_cost *out) {
    *out = cost_of(a->info.n);
    return CLV_OK;
}

static void minimax_destroy(clv_affinity *a) {
    clv_free_kept(&((minimax *)a->state)->kept);
}

static const clv_home_functions functions = {
    .name = "computed",
    .state_size = sizeof(minimax),
    .column = minimax_column,
    .destroy = minimax_destroy,
    .entry = minimax_entry,
    .combine = minimax_combine,
    .subset = minimax_subset,
    .largest = minimax_largest,
    .cost = minimax_cost,
};

/* --- making one --- */

static bool suits(const clv_matrix *points, const clv_affinity_options *options) {
    (void)points;
    return options->kind == CLV_AFFINITY_MINIMAX;
}

static void plan(const clv_matrix *points, const clv_affinity_options *options, clv_affinity_info *out) {
    int64_t n = points->rows, held = 3 * 8 * n;
    (void)options;
    out->nonzeros = n * n;
    out->bytes = (size_t)held;
    out->peak = (size_t)clv_bytes_plus(clv_panels_bytes(n, points->cols), held + (24 + 5 * 8 + 8 + 1) * n);
    out->cost = cost_of(n);
}

static clv_status make(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options, int threads,
                       clv_affinity **out) {
    clv_panels panels;
    CLV_TRY(clv_affinity_new(ctx, &functions, points->rows, options, out));
    CLV_TRY(clv_panels_new(ctx, points, threads, &panels));
    clv_status status = find_tree(ctx, &panels, threads, (*out)->state);
    clv_panels_free(&panels);
    return status;
}

const clv_home_maker clv_minimax_maker = {CLV_HOME_COMPUTED, true, suits, plan, make};
