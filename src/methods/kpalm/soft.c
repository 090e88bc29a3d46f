/* Objects that belong to several clusters.
 *
 * Their weights live in a pool a block of objects, as lists of (cluster, weight). In the first iterations on large
 * data, when most objects belong to most clusters, long lists are not kept: w(t) is computed again from w(0) and the
 * centers x(0), ..., x(t - 1); for uniform w(0) with one shift an object and iteration, a float, else by projections.
 * That costs t tiles instead of one for a few iterations, and no array of objects x clusters. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <string.h>

/* Clusters of an object up to which its weights are stored in any case. */
enum { SHORT = 8 };
/* What comes before the clusters of an object in a pool: its place in the block, how many, where the weights are. */
enum { PLACE, COUNT, WEIGHTS, HEAD };

static const clv_panel *panel_now(const clv_kpalm_state *s) {
    return &s->panels[s->panel];
}

/* --- pools --- */

static void store(const clv_panel *panel, const clv_worker *w, int64_t count, int64_t place, clv_pool *pool) {
    size_t size = clv_number_size(panel);
    int32_t *head = pool->index + pool->used;
    head[PLACE] = (int32_t)place;
    head[COUNT] = (int32_t)count;
    head[WEIGHTS] = (int32_t)pool->weights;
    pool->used += HEAD;
    memcpy(pool->index + pool->used, w->index, (size_t)count * sizeof *w->index);
    memcpy((char *)pool->weight + (size_t)pool->weights * size, w->listed, (size_t)count * size);
    pool->used += count;
    pool->weights += count;
}

static clv_status reserve(clv_context *ctx, const clv_pool *from, size_t size, clv_pool *pool) {
    if (from->used <= pool->capacity && from->weights <= pool->weight_room) {
        return CLV_OK;
    }
    clv_free(ctx, pool->index);
    clv_free(ctx, pool->weight);
    *pool = (clv_pool){0};
    pool->index = CLV_NEW(ctx, int32_t, from->used);
    pool->weight = clv_alloc(ctx, from->weights, size);
    if (!pool->index || !pool->weight) {
        clv_free(ctx, pool->index);
        clv_free(ctx, pool->weight);
        *pool = (clv_pool){0};
        return CLV_ENOMEM;
    }
    pool->capacity = from->used;
    pool->weight_room = from->weights;
    return CLV_OK;
}

clv_status clv_soft_keep(clv_kpalm_state *s, clv_worker *w, int64_t block) {
    clv_pool *pool = &s->pools[block];
    size_t size = clv_number_size(panel_now(s));
    CLV_TRY(reserve(s->problem->ctx, &w->fresh, size, pool));
    pool->used = w->fresh.used;
    pool->weights = w->fresh.weights;
    if (pool->used > 0) {
        memcpy(pool->index, w->fresh.index, (size_t)pool->used * sizeof *pool->index);
        memcpy(pool->weight, w->fresh.weight, (size_t)pool->weights * size);
    }
    return CLV_OK;
}

/* Whether weights of iteration t lose digits by d / alpha. */
static bool is_steep(const clv_kpalm_state *s, int64_t t) {
    const clv_kpalm_problem *p = s->problem;
    const clv_panel *panel = t < s->t ? &s->panels[t] : panel_now(s);
    double unit = p->frame.unit, alpha = clv_kpalm_alpha(p, t) / unit / (p->euclidean ? 1 : unit);
    return clv_panel_is_steep(panel, &p->frame, p->epsilon / unit, alpha);
}

/* --- one tile --- */

/* An object that has just become wholly part of one cluster. */
static void settle_row(clv_kpalm_state *s, clv_worker *w, int64_t r, double *sums, double *soft, clv_tally *tally) {
    const clv_panel *panel = panel_now(s);
    clv_nearest nearest;
    clv_tile_scan(panel, clv_tile_row(panel, w->keys, r), 1, NULL, &nearest);
    int32_t label = nearest.center;
    if (!(clv_weight_get(panel, w->weights, r * panel->width + label) > 0)) { /* by rounding: look for it */
        clv_tile_collect(panel, clv_tile_row(panel, w->weights, r), true, w->index, w->listed);
        label = w->index[0];
    }
    clv_settle(s, w->rows[r], w->was[r] >= 0 ? w->was[r] : CLV_UNASSIGNED, label, sums, soft, tally);
    if (s->problem->euclidean) { /* the keys have become smoothed distances: back to squares, less the norm */
        double epsilon = s->problem->epsilon / s->problem->frame.unit, less = epsilon * epsilon + w->norms[r];
        nearest.key = nearest.key * nearest.key - less;
        nearest.next = nearest.next * nearest.next - less;
    }
    if (nearest.center != label) { /* look again next time */
        nearest.next = nearest.key;
    }
    clv_set_bounds(s, w->rows[r], &nearest, w->norms[r]);
}

/* The share in the sums of an object with few clusters. */
static void add_listed(clv_kpalm_state *s, clv_worker *w, int64_t r, int64_t count, double *soft, clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    const clv_panel *panel = panel_now(s);
    double sample = clv_kpalm_sample(p, w->rows[r]);
    for (int64_t e = 0; e < count; e++) {
        double weight = clv_weight_get(panel, w->listed, e) * sample;
        double *sum = soft + w->index[e] * (p->p + 1);
        if (p->euclidean) {
            double distance = clv_weight_get(panel, w->keys, r * panel->width + w->index[e]) * p->frame.unit;
            tally->cost += weight * distance;
            weight /= distance;
        }
        clv_row_add(p->points, w->rows[r], weight, sum);
        sum[p->p] += weight;
    }
}

/* That of one with many clusters waits at the front of the tile for the others. */
static void put_aside(clv_kpalm_state *s, clv_worker *w, int64_t r, int64_t to, clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    const clv_panel *panel = panel_now(s);
    void *weights = clv_tile_row(panel, w->weights, r), *keys = clv_tile_row(panel, w->keys, r);
    double sample = clv_kpalm_sample(p, w->rows[r]);
    if (p->euclidean) {
        for (int64_t l = 0; l < p->k; l++) {
            tally->cost += sample * clv_weight_get(panel, weights, l) * clv_weight_get(panel, keys, l) * p->frame.unit;
        }
        clv_tile_scale(panel, weights, keys, sample / p->frame.unit);
    } else if (p->sample) {
        clv_tile_scale(panel, weights, NULL, sample);
    }
    if (to != r) {
        memcpy(clv_tile_row(panel, w->weights, to), weights, (size_t)panel->width * clv_number_size(panel));
    }
    w->wide[to] = w->rows[r];
}

/* Whether the sums of an object are made cluster by cluster, not in a tile of objects. */
static bool is_short(const clv_kpalm_state *s, int64_t support) {
    return support <= SHORT || clv_is_sparse(s->problem->points);
}

/* An object in several clusters: its weights to the pool, unless they will be replayed. */
static void keep_row(clv_kpalm_state *s, clv_worker *w, int64_t r, int64_t first, const clv_projection *found,
                     bool replayed) {
    const clv_panel *panel = panel_now(s);
    int64_t i = w->rows[r];
    bool kept = !replayed || found->support <= SHORT || s->t + 1 >= s->panel_count;
    if (kept || is_short(s, found->support)) {
        clv_tile_collect(panel, clv_tile_row(panel, w->weights, r), found->support <= SHORT, w->index, w->listed);
    }
    s->labels[i] = kept ? CLV_STORED : CLV_REPLAYED;
    if (kept) {
        store(panel, w, found->support, i - first, &w->fresh);
    } else if (s->shifts) {
        s->shifts[s->t * s->problem->n + i] = (float)found->shift;
    }
}

/* Instead of projections: all of the weight to the nearest center. */
static void choose_nearest(clv_kpalm_state *s, clv_worker *w, int64_t count) {
    const clv_panel *panel = panel_now(s);
    clv_tile_scan(panel, w->keys, count, NULL, w->nearest);
    for (int64_t r = 0; r < count; r++) {
        void *row = clv_tile_row(panel, w->weights, r);
        w->projected[r] = (clv_projection){.support = 1, .sum = 1};
        for (int64_t l = 0; l < panel->k; l++) {
            double step = (l == w->nearest[r].center) - clv_weight_get(panel, row, l);
            w->projected[r].change += step * step;
            clv_weight_set(panel, row, l, l == w->nearest[r].center);
        }
    }
}

clv_status clv_soft_advance(clv_kpalm_state *s, clv_worker *w, int64_t count, int64_t first, bool replayed,
                            double *sums, double *soft, clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    const clv_panel *panel = panel_now(s);
    double alpha = clv_kpalm_alpha(p, s->t) / p->frame.unit / (p->euclidean ? 1 : p->frame.unit);
    bool steep = is_steep(s, s->t);
    int64_t wide = 0;
    if (count > 0 && p->euclidean) {
        clv_tile_smooth(panel, w->keys, count, w->norms, p->epsilon / p->frame.unit);
    }
    if (s->hardened) {
        choose_nearest(s, w, count);
    } else {
        clv_tile_project(panel, w->keys, w->weights, count, w->line, alpha, steep, w->projected);
    }
    for (int64_t r = 0; r < count; r++) {
        double sample = clv_kpalm_sample(p, w->rows[r]);
        clv_projection found = w->projected[r];
        tally->change += sample * found.change;
        if (found.support == 1) {
            settle_row(s, w, r, sums, soft, tally);
            continue;
        }
        tally->soft++;
        tally->largest = fmax(tally->largest, found.change);
        tally->correction += sample * (found.sum - 1) * w->norms[r] * p->frame.unit * p->frame.unit;
        if (w->was[r] >= 0) {
            clv_leave(s, w->rows[r], w->was[r], sums, tally);
        }
        keep_row(s, w, r, first, &found, replayed && !steep);
        if (is_short(s, found.support)) {
            add_listed(s, w, r, found.support, soft, tally);
        } else {
            put_aside(s, w, r, wide++, tally);
        }
    }
    if (wide > 0) {
        clv_tile_gather(p->points, w->wide, wide, w->gathered);
        clv_tile_spread(panel, w->weights, w->gathered, wide, w->line, soft);
    }
    return CLV_OK;
}

/* --- the weights so far --- */

/* w(0) of an object. */
static void begin_row(const clv_kpalm_state *s, const clv_panel *panel, int64_t i, void *weights) {
    const clv_kpalm_problem *p = s->problem;
    double sum = 0, even = 1 / (double)p->k;
    memset(weights, 0, (size_t)panel->width * clv_number_size(panel));
    if (p->options.membership != CLV_KPALM_DIRICHLET) {
        for (int64_t l = 0; l < p->k; l++) {
            clv_weight_set(panel, weights, l, even);
        }
        return;
    }
    for (int pass = 0; pass < 2; pass++) { /* exponential numbers over their sum: uniform on the simplex */
        clv_rng rng = clv_rng_stream(s->salt, (uint64_t)i);
        for (int64_t l = 0; l < p->k; l++) {
            double drawn = -log(1 - clv_rng_uniform(&rng)) + 1e-12;
            if (pass == 0) {
                sum += drawn;
            } else {
                clv_weight_set(panel, weights, l, drawn / sum);
            }
        }
    }
}

/* w(t) of a tile of objects from w(0) and the centers since, by projections. */
static void project_again(clv_kpalm_state *s, clv_worker *w, int64_t count) {
    const clv_kpalm_problem *p = s->problem;
    for (int64_t r = 0; r < count; r++) {
        begin_row(s, panel_now(s), w->rows[r], clv_tile_row(panel_now(s), w->weights, r));
    }
    for (int64_t t = 0; t < s->t; t++) {
        const clv_panel *panel = &s->panels[t];
        double alpha = clv_kpalm_alpha(p, t) / p->frame.unit / (p->euclidean ? 1 : p->frame.unit);
        clv_tile_keys(panel, &p->frame, w->rows, count, w->keys);
        if (p->euclidean) {
            clv_tile_smooth(panel, w->keys, count, w->norms, p->epsilon / p->frame.unit);
        }
        clv_tile_project(panel, w->keys, w->weights, count, w->line, alpha, is_steep(s, t), w->projected);
    }
}

/* The same by the shifts that the projections found. */
static void shift_again(clv_kpalm_state *s, clv_worker *w, int64_t count) {
    const clv_kpalm_problem *p = s->problem;
    double inverse[CLV_MOST_REPLAY];
    clv_replay replay = {&s->affine, s->panels, s->t, inverse, w->shifts, CLV_MOST_REPLAY};
    for (int64_t t = 0; t < replay.steps; t++) {
        inverse[t] = p->frame.unit * p->frame.unit / clv_kpalm_alpha(p, t);
        for (int64_t r = 0; r < count; r++) {
            w->shifts[r * CLV_MOST_REPLAY + t] = s->shifts[t * p->n + w->rows[r]];
        }
    }
    clv_tile_replay(&p->frame, &replay, w->rows, count, w->weights);
}

static void replay(clv_kpalm_state *s, clv_worker *w, int64_t count) {
    if (s->problem->affine) {
        shift_again(s, w, count);
    } else {
        project_again(s, w, count);
    }
    for (int64_t r = 0; r < count; r++) {
        w->was[r] = CLV_UNASSIGNED;
    }
}

static clv_status visit_replayed(clv_kpalm_state *s, clv_worker *w, int64_t first, int64_t replayed, double *sums,
                                 double *soft, clv_tally *tally) {
    for (int64_t from = 0; from < replayed; from += CLV_TILE_ROWS) {
        int64_t count = replayed - from < CLV_TILE_ROWS ? replayed - from : CLV_TILE_ROWS;
        memcpy(w->rows, w->replayed + from, (size_t)count * sizeof *w->rows);
        clv_tile_norms(&s->problem->frame, w->rows, count, w->norms);
        replay(s, w, count);
        clv_tile_keys(panel_now(s), &s->problem->frame, w->rows, count, w->keys);
        CLV_TRY(clv_soft_advance(s, w, count, first, true, sums, soft, tally));
    }
    return CLV_OK;
}

/* The object at `at` in a pool into row r of the weights; where the next one is. */
static int64_t load_row(clv_kpalm_state *s, clv_worker *w, const clv_pool *pool, int64_t at, int64_t r, int64_t first) {
    const clv_panel *panel = panel_now(s);
    const int32_t *head = pool->index + at;
    void *row = clv_tile_row(panel, w->weights, r);
    memset(row, 0, (size_t)panel->width * clv_number_size(panel));
    w->rows[r] = first + head[PLACE];
    w->was[r] = CLV_UNASSIGNED;
    for (int64_t e = 0; e < head[COUNT]; e++) {
        clv_weight_set(panel, row, head[HEAD + e], clv_weight_get(panel, pool->weight, head[WEIGHTS] + e));
    }
    return at + HEAD + head[COUNT];
}

static clv_status visit_stored(clv_kpalm_state *s, clv_worker *w, int64_t block, double *sums, double *soft,
                               clv_tally *tally) {
    const clv_pool *pool = &s->pools[block];
    int64_t first = block * s->problem->block, at = 0;
    while (at < pool->used) {
        int64_t count = 0;
        while (at < pool->used && count < CLV_TILE_ROWS) {
            at = load_row(s, w, pool, at, count++, first);
        }
        clv_tile_keys(panel_now(s), &s->problem->frame, w->rows, count, w->keys);
        clv_tile_norms(&s->problem->frame, w->rows, count, w->norms);
        CLV_TRY(clv_soft_advance(s, w, count, first, false, sums, soft, tally));
    }
    return CLV_OK;
}

clv_status clv_soft_block(clv_kpalm_state *s, clv_worker *w, int64_t block, int64_t replayed, double *sums,
                          double *soft, clv_tally *tally) {
    CLV_TRY(visit_stored(s, w, block, sums, soft, tally));
    return visit_replayed(s, w, block * s->problem->block, replayed, sums, soft, tally);
}

/* --- all weights --- */

/* Add an entry to the weights of all objects. */
static void add_entry(clv_kpalm_state *s, int64_t *used, int64_t cluster, double weight) {
    s->index[*used] = (int32_t)cluster;
    s->weight[(*used)++] = weight;
}

/* Object i, whose list begins at `head` unless it has none. */
static void export_object(clv_kpalm_state *s, int64_t i, const clv_pool *pool, const int32_t *head, int64_t *used) {
    const clv_panel *panel = panel_now(s);
    s->start[i] = *used;
    if (s->labels[i] >= 0) {
        add_entry(s, used, s->labels[i], 1);
    } else if (head) {
        for (int64_t e = 0; e < head[COUNT]; e++) {
            add_entry(s, used, head[HEAD + e], clv_weight_get(panel, pool->weight, head[WEIGHTS] + e));
        }
    } else { /* not yet begun: w(0) */
        begin_row(s, panel, i, s->workers[0].line);
        for (int64_t l = 0; l < s->problem->k; l++) {
            add_entry(s, used, l, clv_weight_get(panel, s->workers[0].line, l));
        }
    }
}

void clv_soft_export(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    int64_t *place = s->workers[0].vertex, used = 0; /* of an object of a block: where its list begins */
    for (int64_t b = 0; b < s->pool_count; b++) {
        const clv_pool *pool = &s->pools[b];
        int64_t first = b * p->block, count = p->n - first < p->block ? p->n - first : p->block;
        for (int64_t r = 0; r < count; r++) {
            place[r] = -1;
        }
        for (int64_t at = 0; at < pool->used; at += HEAD + pool->index[at + COUNT]) {
            place[pool->index[at + PLACE]] = at;
        }
        for (int64_t r = 0; r < count; r++) {
            bool listed = s->labels[first + r] == CLV_STORED && place[r] >= 0;
            export_object(s, first + r, pool, listed ? pool->index + place[r] : NULL, &used);
        }
    }
    s->start[p->n] = used;
}

clv_status clv_soft_import(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    const clv_panel *panel = panel_now(s);
    clv_worker *w = &s->workers[0];
    s->soft = 0;
    for (int64_t b = 0; b < s->pool_count; b++) {
        int64_t first = b * p->block, last = first + p->block < p->n ? first + p->block : p->n;
        w->fresh.used = w->fresh.weights = 0;
        for (int64_t i = first; i < last; i++) {
            int64_t from = s->start[i], count = s->start[i + 1] - from;
            s->labels[i] = count == 1 ? s->index[from] : CLV_STORED;
            for (int64_t e = 0; e < count && count > 1; e++) {
                w->index[e] = s->index[from + e];
                clv_weight_set(panel, w->listed, e, s->weight[from + e]);
            }
            if (count > 1) {
                store(panel, w, count, i - first, &w->fresh);
                s->soft++;
            }
        }
        CLV_TRY(clv_soft_keep(s, w, b));
    }
    return CLV_OK;
}
