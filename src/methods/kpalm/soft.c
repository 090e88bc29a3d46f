/* (2.1) for objects that belong to several clusters, a tile at a time: w(t), the projection, and what becomes of it.
 *
 * w(t) comes from the lists of weights.c. In the first iterations on large data, when most objects belong to most
 * clusters, long lists are not kept: w(t) is computed again from w(0) and the centers x(0), ..., x(t - 1); for uniform
 * w(0) with one shift per object and iteration, a float, else by projections.
 *
 * Cost: k p multiplications for the keys of an object, a few passes over k numbers for its projection (one where it has
 * up to 16 clusters and enters no other one), and p for each of its clusters in the sums; t + 1 times the keys where
 * w(t) is computed again, for a few iterations, and no array of objects x clusters. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <string.h>

/* --- shares of objects with few clusters --- */

/* Whether they are added up in the worker first; else each goes to the sums at once. */
static bool has_shares(const clv_visit *v) {
    const clv_kpalm_problem *p = v->s->problem;
    return !p->hard && !p->euclidean && !clv_is_sparse(p->points);
}

void clv_soft_begin_part(clv_visit *v) {
    const clv_kpalm_problem *p = v->s->problem;
    if (has_shares(v)) {
        memset(v->w->shares, 0, (size_t)(p->k * clv_shares_pitch(p->points)) * sizeof *v->w->shares);
    }
}

void clv_soft_end_part(clv_visit *v) {
    const clv_kpalm_problem *p = v->s->problem;
    int64_t pitch = clv_shares_pitch(p->points), numbers = p->p + 1;
    for (int64_t l = 0; l < p->k && has_shares(v) && v->tally->soft > 0; l++) {
        clv_kernels->f64.accumulate(v->soft + l * numbers, v->w->shares + l * pitch, numbers);
    }
}

/* --- what becomes of a row --- */

/* An object that has just become wholly part of one cluster. */
static void settle_row(clv_visit *v, int64_t r, int32_t label) {
    clv_kpalm_state *s = v->s;
    clv_worker *w = v->w;
    const clv_panel *panel = clv_panel_now(s);
    const void *keys = clv_tile_row(panel, w->keys, r);
    clv_nearest nearest = {clv_weight_get(panel, keys, label), clv_tile_least_other(panel, keys, label), label};
    clv_settle(v, w->rows[r], w->was[r], label);
    if (s->problem->euclidean) { /* the keys have become smoothed distances: back to squares, less the norm */
        double epsilon = s->problem->epsilon / s->problem->frame.unit, less = epsilon * epsilon + w->norms[r];
        nearest.key = nearest.key * nearest.key - less;
        nearest.next = nearest.next * nearest.next - less;
    }
    clv_set_bounds(s, w->rows[r], &nearest, w->norms[r]);
}

/* The share in the sums of an object with few clusters. */
static void add_listed(clv_visit *v, int64_t r, const clv_short_list *list) {
    const clv_kpalm_problem *p = v->s->problem;
    const clv_panel *panel = clv_panel_now(v->s);
    const clv_worker *w = v->w;
    double sample = clv_kpalm_sample(p, w->rows[r]);
    if (has_shares(v)) {
        clv_row_share(p->points, w->rows[r], list, sample, w->shares);
        return;
    }
    for (int64_t e = 0; e < list->count; e++) {
        double weight = clv_weight_get(panel, list->weight, e) * sample;
        if (p->euclidean) {
            double distance = clv_weight_get(panel, w->keys, r * panel->width + list->index[e]) * p->frame.unit;
            v->tally->cost += weight * distance;
            weight /= distance;
        }
        clv_add_object(p, w->rows[r], weight, list->index[e], v->soft);
    }
}

/* That of one with many clusters waits at the front of the tile for the others. */
static void put_aside(clv_visit *v, int64_t r, int64_t to) {
    const clv_kpalm_problem *p = v->s->problem;
    const clv_panel *panel = clv_panel_now(v->s);
    clv_worker *w = v->w;
    void *weights = clv_tile_row(panel, w->weights, r), *keys = clv_tile_row(panel, w->keys, r);
    double sample = clv_kpalm_sample(p, w->rows[r]), unit = p->frame.unit;
    if (p->euclidean) {
        for (int64_t l = 0; l < p->k; l++) {
            v->tally->cost += sample * clv_weight_get(panel, weights, l) * clv_weight_get(panel, keys, l) * unit;
        }
        clv_tile_scale(panel, weights, keys, sample / unit);
    } else if (p->sample) {
        clv_tile_scale(panel, weights, NULL, sample);
    }
    if (to != r) {
        memcpy(clv_tile_row(panel, w->weights, to), weights, (size_t)panel->width * clv_scalar_bytes(panel->scalar));
    }
    w->wide[to] = w->rows[r];
}

/* Whether the sums of an object are made cluster by cluster, not in a tile of objects. */
static bool is_short(const clv_kpalm_state *s, int64_t support) {
    return support <= CLV_FEW || clv_is_sparse(s->problem->points);
}

/* Whether the weights of an object in several clusters are stored. */
static bool must_keep(const clv_kpalm_state *s, const clv_projection *found, bool replayed) {
    return !replayed || found->support <= CLV_FEW || s->t + 1 >= s->panel_count;
}

/* An object in several clusters: its weights to the pool, unless they will be replayed. */
static void keep_row(clv_visit *v, int64_t r, const clv_projection *found, const clv_short_list *list, bool replayed) {
    clv_kpalm_state *s = v->s;
    clv_worker *w = v->w;
    const clv_panel *panel = clv_panel_now(s);
    int64_t i = w->rows[r];
    bool kept = must_keep(s, found, replayed);
    s->labels[i] = kept ? CLV_STORED : CLV_REPLAYED;
    if (kept) {
        clv_soft_store(w, panel->scalar, list, i - v->first);
    } else if (s->shifts) {
        s->shifts[s->t * s->problem->n + i] = (float)found->shift;
    }
}

/* --- a tile --- */

/* w(t + 1) of row r is there, with its list where that is needed: to its cluster, or to the lists and the sums. Whether
 * it waits for the sums of the tile. */
static bool conclude_row(clv_visit *v, int64_t r, const clv_projection *found, const clv_short_list *list,
                         bool replayed) {
    const clv_kpalm_problem *p = v->s->problem;
    const clv_worker *w = v->w;
    double sample = clv_kpalm_sample(p, w->rows[r]);
    v->tally->change += sample * found->change;
    if (found->support == 1) {
        settle_row(v, r, list->index[0]);
        return false;
    }
    v->tally->soft++;
    v->tally->largest = fmax(v->tally->largest, found->change);
    v->tally->correction += sample * (found->sum - 1) * w->norms[r] * p->frame.unit * p->frame.unit;
    if (w->was[r] >= 0) {
        clv_leave(v, w->rows[r], w->was[r]);
    }
    keep_row(v, r, found, list, replayed);
    if (!is_short(v->s, found->support)) {
        return true;
    }
    add_listed(v, r, list);
    return false;
}

/* A row that was projected in full. What a checkpoint holds may be so large that no weight is left. */
static bool conclude_full(clv_visit *v, int64_t r, bool replayed) {
    const clv_kpalm_state *s = v->s;
    clv_worker *w = v->w;
    const clv_panel *panel = clv_panel_now(s);
    clv_projection *found = &w->projected[r];
    clv_short_list list = {w->index, w->listed, 0};
    if (is_short(s, found->support) || must_keep(s, found, replayed)) {
        list.count = clv_tile_collect(panel, clv_tile_row(panel, w->weights, r), w->index, w->listed);
        w->index[0] = list.count > 0 ? w->index[0] : 0;
        found->support = list.count > 0 ? list.count : 1;
    }
    return conclude_row(v, r, found, &list, replayed);
}

void clv_soft_advance(clv_visit *v, int64_t count, bool replayed) {
    clv_kpalm_state *s = v->s;
    clv_worker *w = v->w;
    const clv_kpalm_problem *p = s->problem;
    int64_t wide = 0;
    clv_cluster_assignment(s, w, s->t, count);
    replayed = replayed && !clv_is_steep(s, s->t);
    for (int64_t r = 0; r < count; r++) {
        if (conclude_full(v, r, replayed)) {
            put_aside(v, r, wide++);
        }
    }
    if (wide > 0) {
        clv_tile_gather(p->points, w->wide, wide, w->gathered);
        clv_tile_spread(clv_panel_now(s), w->weights, w->gathered, wide, w->line, v->soft);
    }
}

/* --- the weights so far --- */

/* w(t) of a tile of objects from w(0) and the centers since: by the shifts that the projections found, where they are
 * kept, else by projections. */
static void replay(clv_kpalm_state *s, clv_worker *w, int64_t count) {
    const clv_kpalm_problem *p = s->problem;
    const clv_panel *panel = clv_panel_now(s);
    float shift[CLV_TILE_ROWS];
    for (int64_t r = 0; r < count; r++) {
        if (r > 0 && p->options.initial_membership == CLV_KPALM_UNIFORM) { /* all rows alike */
            size_t line = (size_t)panel->width * clv_scalar_bytes(panel->scalar);
            memcpy(clv_tile_row(panel, w->weights, r), w->weights, line);
        } else {
            clv_soft_begin(s, panel, w->rows[r], clv_tile_row(panel, w->weights, r));
        }
        w->was[r] = CLV_UNASSIGNED;
    }
    for (int64_t t = 0; t < s->t; t++) {
        clv_tile_keys(&s->panels[t], &p->frame, w->rows, count, w->keys);
        if (!p->affine) {
            clv_cluster_assignment(s, w, t, count);
            continue;
        }
        for (int64_t r = 0; r < count; r++) {
            shift[r] = s->shifts[t * p->n + w->rows[r]];
        }
        double inverse_alpha = p->frame.unit * p->frame.unit / clv_kpalm_alpha(p, t);
        clv_tile_shift(&s->panels[t], w->keys, w->weights, count, inverse_alpha, shift);
    }
}

static void visit_replayed(clv_visit *v, int64_t replayed) {
    clv_kpalm_state *s = v->s;
    clv_worker *w = v->w;
    for (int64_t from = 0; from < replayed; from += CLV_TILE_ROWS) {
        int64_t count = replayed - from < CLV_TILE_ROWS ? replayed - from : CLV_TILE_ROWS;
        memcpy(w->rows, w->replayed + from, (size_t)count * sizeof *w->rows);
        clv_tile_norms(&s->problem->frame, w->rows, count, w->norms);
        replay(s, w, count);
        clv_tile_keys(clv_panel_now(s), &s->problem->frame, w->rows, count, w->keys);
        clv_soft_advance(v, count, true);
    }
}

/* --- short lists --- */

/* w(t + 1) of the objects of a tile by their lists alone, as far as these are short. */
static void project_lists(clv_visit *v, const clv_pool *pool, const clv_listed *from, int64_t count) {
    clv_kpalm_state *s = v->s;
    clv_worker *w = v->w;
    const clv_panel *panel = clv_panel_now(s);
    size_t size = clv_scalar_bytes(panel->scalar);
    double alpha = clv_alpha_in_units(s->problem, s->t);
    for (int64_t r = 0; r < count; r++) {
        const char *weight = (const char *)pool->weight + (size_t)from[r].first * size;
        w->lists[r] = (clv_short_list){from[r].index, weight, from[r].count <= CLV_FEW ? from[r].count : 1};
        w->alpha[r] = alpha * clv_alpha_factor(s->problem, w->rows[r]);
    }
    clv_tile_project_few(panel, w->keys, w->lists, count, w->alpha, w->few_index, w->few, w->projected);
}

/* What became of the object of row r, if its list alone told that: of few clusters, none of them new. */
static bool advance_short(clv_visit *v, int64_t r, const clv_listed *from) {
    const clv_worker *w = v->w;
    const clv_projection *found = &w->projected[r];
    if (from->count > CLV_FEW || found->support == 0) {
        return false;
    }
    size_t size = clv_scalar_bytes(v->s->problem->points->scalar);
    const char *weights = (const char *)w->few + (size_t)(r * CLV_FEW) * size;
    conclude_row(v, r, found, &(clv_short_list){w->few_index + r * CLV_FEW, weights, found->support}, false);
    return true;
}

/* The objects of a tile, w->rows, whose lists are `from`; those that need all centers go on together. */
static void advance_tile(clv_visit *v, const clv_pool *pool, const clv_listed *from, int64_t count) {
    clv_kpalm_state *s = v->s;
    clv_worker *w = v->w;
    const clv_panel *panel = clv_panel_now(s);
    size_t line = (size_t)panel->width * clv_scalar_bytes(panel->scalar);
    bool by_lists = !s->problem->euclidean && !s->hardened;
    int64_t left = 0;
    clv_tile_keys(panel, &s->problem->frame, w->rows, count, w->keys);
    clv_tile_norms(&s->problem->frame, w->rows, count, w->norms);
    if (by_lists) {
        project_lists(v, pool, from, count);
    }
    for (int64_t r = 0; r < count; r++) {
        w->was[r] = CLV_UNASSIGNED;
        if (!by_lists || !advance_short(v, r, &from[r])) {
            memmove(clv_tile_row(panel, w->keys, left), clv_tile_row(panel, w->keys, r), line);
            clv_soft_load(pool, &from[r], panel, clv_tile_row(panel, w->weights, left));
            w->rows[left] = w->rows[r];
            w->norms[left++] = w->norms[r];
        }
    }
    if (left > 0) {
        clv_soft_advance(v, left, false);
    }
}

static void visit_stored(clv_visit *v, int64_t block) {
    const clv_pool *pool = &v->s->pools[block];
    clv_listed from[CLV_TILE_ROWS];
    for (int64_t at = 0; at < pool->used;) {
        int64_t count = 0;
        for (; at < pool->used && count < CLV_TILE_ROWS; count++) {
            at = clv_soft_find(pool, at, &from[count]);
            v->w->rows[count] = v->first + from[count].place;
        }
        advance_tile(v, pool, from, count);
    }
}

void clv_soft_block(clv_visit *v, int64_t block, int64_t replayed) {
    visit_stored(v, block);
    visit_replayed(v, replayed);
}
