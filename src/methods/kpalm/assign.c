/* (2.1) for all objects, block by block, and the sums of (2.2); here the objects that are wholly in a cluster, the
 * others in soft.c.
 *
 * An object with w_i = e_l stays there exactly as long as center l is the nearest one (P(e_l - d / alpha) = e_l if and
 * only if d_l is the least), whatever alpha. So Hamerly's bounds serve KPALM as they serve Lloyd: `upper` is at least
 * the distance to the own center, `lower` at most the distance to any other; while upper < lower there is nothing to
 * compute. They allow for the rounding of the keys, so that an object is skipped only where the kernel would give it
 * the same center again: the iterates are those of the plain form. Sums of clusters follow the objects that change
 * (squared distances); smoothed distances need every object's weight, and so its own distance, each time.
 *
 * Cost: k p multiplications for an object that is compared, 16 p (double: 8 p) where the centers that went farthest
 * (centers.c) or those around its own (vicinity.c) are enough; one that is skipped costs its label and two floats. The
 * parts of the work are fixed, so that no sum depends on the threads. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* --- bounds --- */

void clv_set_bounds(clv_kpalm_state *s, int64_t i, const clv_nearest *nearest, double norm) {
    double error = clv_panel_now(s)->error, own = nearest->key + norm, others = nearest->next + norm - error;
    s->upper[i] = (float)(sqrt((own > 0 ? own : 0) + error) * (1 + CLV_LOOSE));
    s->lower[i] = (float)(sqrt(others > 0 ? others : 0) * (1 - CLV_LOOSE));
}

/* Whether what lies at least `lower` away is certainly not as near as what lies at most `upper` away. */
static bool is_clear(const clv_kpalm_state *s, double lower, double upper) {
    return (lower > upper) & ((lower - upper) * (lower + upper) > 4 * clv_panel_now(s)->error);
}

/* What an object that is open, `square` from its own center, has to be compared with. */
static clv_doubt doubt_of(clv_kpalm_state *s, int64_t i, double square) {
    int32_t l = s->labels[i];
    float rounded = (float)(sqrt(square) / s->problem->frame.unit * (1 + CLV_LOOSE));
    double upper = (double)rounded, rest = (double)s->lower[i], between = s->apart[l] - upper;
    double farther = (double)s->slack.others[l] - (double)s->slack.rest, all = rest - (farther > 0 ? farther : 0);
    all = (all > between ? all : between) * (1 - CLV_LOOSE);
    bool settled = is_clear(s, all, upper), movers = s->movers.k > 0 && is_clear(s, rest, upper);
    bool near = s->vicinity.count > 0 && is_clear(s, s->vicinity.beyond[l] - upper, upper);
    s->upper[i] = rounded;
    s->lower[i] = settled ? (float)(all * (1 - CLV_LOOSE)) : s->lower[i];
    return settled ? CLV_SETTLED : movers ? CLV_BY_MOVERS : near ? CLV_BY_NEAR : CLV_BY_ALL;
}

/* --- tiles of objects --- */

static void push(clv_visit *v, clv_doubt doubt, int64_t i) {
    v->w->queue[doubt][v->queued[doubt]++] = i;
}

/* The last objects of a queue, up to a tile of them, with their labels; how many. */
static int64_t take_tile(clv_visit *v, clv_doubt doubt, int64_t *rows) {
    int64_t count = v->queued[doubt] < CLV_TILE_ROWS ? v->queued[doubt] : CLV_TILE_ROWS;
    v->queued[doubt] -= count;
    memcpy(rows, v->w->queue[doubt] + v->queued[doubt], (size_t)count * sizeof *rows);
    for (int64_t r = 0; r < count; r++) {
        v->w->was[r] = v->s->labels[rows[r]];
    }
    return count;
}

/* --- from one cluster to another --- */

void clv_leave(clv_visit *v, int64_t i, int32_t from) {
    const clv_kpalm_problem *p = v->s->problem;
    v->tally->changed++;
    if (from >= 0 && p->form.incremental && !p->euclidean) {
        clv_add_object(p, i, -clv_kpalm_sample(p, i), from, v->sums);
    }
}

void clv_settle(clv_visit *v, int64_t i, int32_t from, int32_t to) {
    const clv_kpalm_problem *p = v->s->problem;
    double sample = clv_kpalm_sample(p, i);
    v->s->labels[i] = to;
    if (from != to) {
        clv_leave(v, i, from);
    }
    if (p->euclidean) {
        double distance = clv_kpalm_distance(v->s, i, to);
        clv_add_object(p, i, sample / distance, to, v->soft);
        v->tally->cost += sample * distance;
    } else if (from != to || !p->form.incremental) {
        clv_add_object(p, i, sample, to, v->sums);
    }
}

/* Object i to the center that is the nearest one beyond doubt. */
static void settle_nearest(clv_visit *v, int64_t i, const clv_nearest *nearest, double norm) {
    int32_t label = v->s->labels[i];
    v->tally->change += label >= 0 && label != nearest->center ? 2 * clv_kpalm_sample(v->s->problem, i) : 0;
    clv_settle(v, i, label, nearest->center);
    clv_set_bounds(v->s, i, nearest, norm);
}

/* --- a tile of objects and all centers --- */

/* Whether the nearest center takes object i at once: P(e_l - d / alpha) = e_j if no other is within 2 alpha. */
static bool takes_all(const clv_kpalm_state *s, int64_t i, const clv_nearest *nearest, double norm, int32_t label) {
    const clv_kpalm_problem *p = s->problem;
    bool first_nearest = s->t == 0 && p->options.initial_membership == CLV_KPALM_NEAREST;
    if (p->hard || s->hardened || first_nearest || nearest->center == label) {
        return true;
    }
    double alpha = clv_kpalm_alpha(p, s->t) * clv_alpha_factor(p, i), unit = p->frame.unit;
    if (p->euclidean) {
        double epsilon = p->epsilon / unit;
        double least = sqrt(fmax(nearest->key + norm, 0) + epsilon * epsilon);
        double next = sqrt(fmax(nearest->next + norm, 0) + epsilon * epsilon);
        return (next - least) * unit >= 2 * alpha;
    }
    return (nearest->next - nearest->key) * unit * unit >= 2 * alpha;
}

/* The object of row r leaves its cluster for several: to row `to` of the tile, as w_i = e_l. */
static void move_up(clv_kpalm_state *s, clv_worker *w, int64_t r, int64_t to) {
    const clv_panel *panel = clv_panel_now(s);
    memset(clv_tile_row(panel, w->weights, to), 0, (size_t)panel->width * clv_scalar_bytes(panel->scalar));
    clv_weight_set(panel, w->weights, to * panel->width + w->was[r], 1);
    w->rows[to] = w->rows[r];
    w->norms[to] = w->norms[r];
    w->was[to] = w->was[r];
}

/* Objects wholly in one cluster or nowhere and all centers. Those that now belong to several go on as such. */
static void compare(clv_visit *v) {
    clv_kpalm_state *s = v->s;
    clv_worker *w = v->w;
    const clv_kpalm_problem *p = s->problem;
    const clv_panel *panel = clv_panel_now(s);
    int64_t several = 0, count = take_tile(v, CLV_BY_ALL, w->rows);
    clv_tile_nearest(panel, &p->frame, w->rows, count, w->keys, w->nearest);
    clv_tile_norms(&p->frame, w->rows, count, w->norms);
    for (int64_t r = 0; r < count; r++) {
        clv_nearest *nearest = &w->nearest[r];
        nearest->center = clv_nearest_center(panel, p->points, w->rows[r], nearest, s->centers, s->square);
        if (takes_all(s, w->rows[r], nearest, w->norms[r], w->was[r])) {
            settle_nearest(v, w->rows[r], nearest, w->norms[r]);
        } else {
            move_up(s, w, r, several++);
        }
    }
    if (several > 0) {
        clv_tile_keys(panel, &p->frame, w->rows, several, w->keys);
        clv_soft_advance(v, several, false);
    }
}

/* --- a tile of objects and the centers around their own --- */

/* The nearest of the centers around its own one, unless an object begins to leave its cluster for it: that is for
 * compare. */
static bool settle_near(clv_visit *v, int64_t i, clv_nearest *nearest, double norm) {
    clv_kpalm_state *s = v->s;
    const clv_kpalm_problem *p = s->problem;
    int32_t label = s->labels[i];
    float beyond = (float)((s->vicinity.beyond[label] - (double)s->upper[i]) * (1 - CLV_LOOSE));
    nearest->center = s->vicinity.center[label * s->vicinity.count + nearest->center];
    nearest->center = clv_nearest_center(clv_panel_now(s), p->points, i, nearest, s->centers, s->square);
    if (nearest->center != label && !p->hard && !s->hardened) {
        return false;
    }
    settle_nearest(v, i, nearest, norm);
    s->lower[i] = s->lower[i] < beyond ? s->lower[i] : beyond;
    return true;
}

static void compare_near(clv_visit *v) {
    clv_kpalm_state *s = v->s;
    clv_worker *w = v->w;
    const clv_panel *panel = clv_panel_now(s);
    int64_t count = take_tile(v, CLV_BY_NEAR, w->rows);
    clv_tile_keys_near(panel, &s->problem->frame, w->rows, w->was, count, s->vicinity.lines, s->vicinity.offset,
                       w->keys);
    clv_tile_scan_near(panel, w->keys, count, w->nearest);
    clv_tile_norms(&s->problem->frame, w->rows, count, w->norms);
    for (int64_t r = 0; r < count; r++) {
        if (!settle_near(v, w->rows[r], &w->nearest[r], w->norms[r])) {
            push(v, CLV_BY_ALL, w->rows[r]);
        }
    }
}

/* An object whose center is still the nearest one. */
static void settle_again(clv_visit *v, int64_t i) {
    const clv_kpalm_problem *p = v->s->problem;
    if (p->euclidean || !p->form.incremental) {
        clv_settle(v, i, v->s->labels[i], v->s->labels[i]);
    }
}

/* --- a tile of objects and the centers that went farthest --- */

static void compare_with_movers(clv_visit *v) {
    clv_kpalm_state *s = v->s;
    const clv_kpalm_problem *p = s->problem;
    clv_worker *w = v->w;
    int64_t count = take_tile(v, CLV_BY_MOVERS, w->rows);
    double error = clv_panel_now(s)->error;
    clv_tile_nearest(&s->movers, &p->frame, w->rows, count, w->keys, w->nearest);
    clv_tile_norms(&p->frame, w->rows, count, w->norms);
    for (int64_t r = 0; r < count; r++) {
        int64_t i = w->rows[r];
        const clv_nearest *nearest = &w->nearest[r];
        double square = (s->mover[nearest->center] == w->was[r] ? nearest->next : nearest->key) + w->norms[r] - error;
        float lower = (float)(sqrt(square > 0 ? square : 0) * (1 - CLV_LOOSE));
        s->lower[i] = lower < s->lower[i] ? lower : s->lower[i];
        if (is_clear(s, (double)s->lower[i], (double)s->upper[i])) {
            settle_again(v, i);
        } else {
            push(v, CLV_BY_ALL, i);
        }
    }
}

/* --- a block --- */

/* Tiles of at least `least` objects: to be compared, until there are none. */
static void compare_tiles(clv_visit *v, int64_t least) {
    while (v->queued[CLV_BY_MOVERS] >= least) {
        compare_with_movers(v);
    }
    while (v->queued[CLV_BY_NEAR] >= least) {
        compare_near(v);
    }
    while (v->queued[CLV_BY_ALL] >= least) {
        compare(v);
    }
}

/* Objects that their bounds leave open, by the distance to their own center: what they have to be compared with. */
static void sort_open(clv_visit *v) {
    clv_kpalm_state *s = v->s;
    clv_worker *w = v->w;
    const clv_kpalm_problem *p = s->problem;
    int64_t count = take_tile(v, CLV_OPEN, w->rows);
    clv_row_distances(p->points, w->rows, w->was, count, s->centers, s->square, w->norms);
    for (int64_t r = 0; r < count; r++) {
        push(v, doubt_of(s, w->rows[r], w->norms[r]), w->rows[r]);
    }
    for (; v->queued[CLV_SETTLED] > 0; v->queued[CLV_SETTLED]--) {
        settle_again(v, w->queue[CLV_SETTLED][v->queued[CLV_SETTLED] - 1]);
    }
    compare_tiles(v, CLV_TILE_ROWS);
}

/* An object that is in one cluster, or in none yet. */
static void visit_whole(clv_visit *v, int64_t i) {
    const clv_kpalm_state *s = v->s;
    bool bounded = s->labels[i] >= 0 && s->problem->form.bounds;
    if (bounded && !v->w->open[i - v->first]) {
        settle_again(v, i);
        return;
    }
    push(v, bounded ? CLV_OPEN : CLV_BY_ALL, i);
    if (v->queued[CLV_OPEN] == CLV_TILE_ROWS) {
        sort_open(v);
    } else if (v->queued[CLV_BY_ALL] == CLV_TILE_ROWS) {
        compare(v);
    }
}

/* All that wait. */
static void visit_rest(clv_visit *v) {
    if (v->queued[CLV_OPEN] > 0) {
        sort_open(v);
    }
    compare_tiles(v, 1);
}

/* Whether eight objects in a row are settled, as most are after some iterations. */
static bool none_open(const uint8_t *open) {
    uint64_t eight;
    memcpy(&eight, open, sizeof eight);
    return eight == 0;
}

/* The objects of a block by kind: those in one cluster or none, of these only the ones that there is something to do
 * for; and those in several whose weights are replayed. */
static void sort_block(const clv_kpalm_state *s, clv_worker *w, int64_t first, int64_t last, int64_t *whole,
                       int64_t *replayed) {
    const clv_kpalm_problem *p = s->problem;
    if (p->form.bounds) {
        clv_kernels->loosen(&s->slack, s->labels + first, last - first, s->upper + first, s->lower + first, w->open);
    }
    bool every = !p->form.bounds || !p->form.incremental || p->euclidean;
    *whole = *replayed = 0;
    for (int64_t i = first; i < last; i++) {
        if (!every && i + 8 <= last && none_open(w->open + (i - first))) {
            i += 7;
        } else if (s->labels[i] >= CLV_UNASSIGNED) {
            w->vertex[*whole] = i;
            *whole += every || w->open[i - first];
        } else if (s->labels[i] == CLV_REPLAYED) {
            w->replayed[(*replayed)++] = i;
        }
    }
}

static clv_status visit_block(clv_visit *v, int64_t block) {
    clv_kpalm_state *s = v->s;
    const clv_kpalm_problem *p = s->problem;
    int64_t last, whole, replayed;
    v->first = block * p->block;
    last = v->first + p->block < p->n ? v->first + p->block : p->n;
    sort_block(s, v->w, v->first, last, &whole, &replayed);
    v->w->fresh.used = v->w->fresh.weights = 0;
    for (int64_t at = 0; at < whole; at++) {
        visit_whole(v, v->w->vertex[at]);
    }
    if (p->hard) {
        return CLV_OK; /* tiles go on to the next block */
    }
    visit_rest(v);
    if (s->soft > 0) {
        clv_soft_block(v, block, replayed);
    }
    return clv_soft_keep(s, v->w, block);
}

/* --- all blocks --- */

enum {
    SUMS_AT_ONCE = 256,   /* numbers that are added up over all parts while they lie in the cache */
    LARGE_SUMS = 1 << 17, /* numbers of all parts that are worth several threads */
};

static void visit_chunk(clv_kpalm_state *s, int64_t chunk) {
    const clv_kpalm_problem *p = s->problem;
    clv_tally tally = {0};
    clv_visit v = {.s = s, .w = &s->workers[omp_get_thread_num()], .tally = &tally};
    v.sums = clv_part_sums(s, chunk);
    v.soft = clv_part_soft(s, chunk);
    int64_t from, to;
    memset(v.sums, 0, (size_t)(p->k * (p->p + 1)) * sizeof *v.sums);
    memset(v.soft, 0, (size_t)(p->k * (p->p + 1)) * sizeof *v.soft);
    clv_kpalm_chunk(p, chunk, &from, &to);
    clv_soft_begin_part(&v);
    for (int64_t block = from / p->block; block * p->block < to && tally.status == CLV_OK; block++) {
        tally.status = visit_block(&v, block);
        if (tally.status == CLV_OK) {
            tally.status = clv_kpalm_poll(p);
        }
    }
    visit_rest(&v);
    clv_soft_end_part(&v);
    s->tallies[chunk] = tally;
}

/* Sums and counts of all parts, in their order. */
static clv_status add_up(clv_kpalm_state *s, clv_tally *out) {
    const clv_kpalm_problem *p = s->problem;
    int64_t entries = p->k * (p->p + 1);
    *out = (clv_tally){0};
    if (!p->form.incremental || p->euclidean) {
        memset(s->sums, 0, (size_t)entries * sizeof *s->sums);
    }
    for (int64_t c = 0; c < p->chunks; c++) {
        const clv_tally *part = &s->tallies[c];
        CLV_TRY(part->status);
        out->changed += part->changed;
        out->soft += part->soft;
        out->change += part->change;
        out->correction += part->correction;
        out->cost += part->cost;
        out->largest = fmax(out->largest, part->largest);
    }
    bool soft = p->euclidean || out->soft > 0; /* else there is nothing in these sums */
    bool large = entries * p->chunks >= LARGE_SUMS && s->threads > 1;
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(static) if (large)
    for (int64_t from = 0; from < entries; from += SUMS_AT_ONCE) {
        int64_t count = entries - from < SUMS_AT_ONCE ? entries - from : SUMS_AT_ONCE;
        double *total = s->total + from;
        memset(total, 0, (size_t)count * sizeof *total);
        for (int64_t c = 0; c < p->chunks; c++) {
            clv_kernels->f64.accumulate(s->sums + from, clv_part_sums(s, c) + from, count);
            if (soft) {
                clv_kernels->f64.accumulate(total, clv_part_soft(s, c) + from, count);
            }
        }
        clv_kernels->f64.accumulate(total, s->sums + from, count);
    }
    return CLV_OK;
}

/* What other ranks found in their chunks; sums of soft objects where there are any. */
static clv_status gather_parts(clv_kpalm_state *s, int64_t first, int64_t last) {
    const clv_kpalm_problem *p = s->problem;
    size_t bytes = (size_t)(p->k * (p->p + 1)) * sizeof *s->parts;
    clv_status status = CLV_OK;
    bool soft = p->euclidean;
    for (int64_t c = first; c < last; c++) {
        status = status < 0 ? status : s->tallies[c].status;
    }
    CLV_TRY(clv_kpalm_gather_chunks(p, status, s->tallies, sizeof *s->tallies));
    CLV_TRY(clv_kpalm_gather_chunks(p, CLV_OK, clv_part_sums(s, 0), bytes));
    for (int64_t c = 0; c < p->chunks; c++) {
        soft = soft || s->tallies[c].soft > 0;
    }
    return soft ? clv_kpalm_gather_chunks(p, CLV_OK, clv_part_soft(s, 0), bytes) : CLV_OK;
}

clv_status clv_assign_objects(clv_kpalm_state *s, clv_tally *tally) {
    int64_t first, last;
    if (s->problem->card) {
        return clv_kpalm_card_assign(s, tally);
    }
    clv_kpalm_own_chunks(s->problem, &first, &last);
    clv_kpalm_begin_own(s->problem);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic, 1)
    for (int64_t c = first; c < last; c++) {
        visit_chunk(s, c);
    }
    clv_kpalm_end_own(s->problem);
    CLV_TRY(gather_parts(s, first, last));
    CLV_TRY(add_up(s, tally));
    s->soft = tally->soft;
    s->assigned = true;
    return CLV_OK;
}
