/* An iteration: w(t + 1) from w(t) and x(t), object by object, then x(t + 1).
 *
 * An object that is wholly in a cluster stays there exactly as long as its center is the nearest one (P(e_l - d /
 * alpha) = e_l if and only if d_l is the least), whatever alpha. So Hamerly's bounds serve KPALM as they serve Lloyd:
 * `upper` is at least the distance to the own center, `lower` at most the distance to any other; while upper < lower
 * there is nothing to compute. They allow for the rounding of the keys, so that an object is skipped only where the
 * kernel would give it the same center again: the iterates are those of the plain form. Sums of clusters follow the
 * objects that change (squared distances); smoothed distances need every object's weight, and so its own distance, each
 * time.
 *
 * Cost: a key is p multiplications; an object that is skipped costs its label and two floats. The parts of the work are
 * fixed, so that no sum depends on the threads. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Iterations that ties are waited for. */
enum { PATIENCE = 40 };

void clv_set_bounds(clv_kpalm_state *s, int64_t i, const clv_nearest *nearest, double norm) {
    double error = s->panels[s->panel].error, own = nearest->key + norm, others = nearest->next + norm - error;
    s->upper[i] = (float)(sqrt((own > 0 ? own : 0) + error) * (1 + CLV_LOOSE));
    s->lower[i] = (float)(sqrt(others > 0 ? others : 0) * (1 - CLV_LOOSE));
}

/* Whether what lies at least `lower` away is certainly not as near as what lies at most `upper` away. */
static bool is_clear(const clv_kpalm_state *s, double lower, double upper) {
    return lower > upper && lower * lower - upper * upper > 4 * s->panels[s->panel].error;
}

/* Whether the distance to the own center itself settles an object in one cluster. */
static bool stays(clv_kpalm_state *s, int64_t i) {
    const clv_kpalm_problem *p = s->problem;
    int32_t l = s->labels[i];
    double square = clv_row_distance(p->points, i, s->centers + l * p->p, s->square[l]);
    double upper = sqrt(square) / p->frame.unit * (1 + CLV_LOOSE), lower = (double)s->lower[i];
    s->upper[i] = (float)upper;
    upper = (double)s->upper[i];
    return is_clear(s, lower > s->apart[l] - upper ? lower : s->apart[l] - upper, upper);
}

/* The share of an object that is wholly in cluster l in the sums of smoothed distances. */
static void add_smooth(clv_kpalm_state *s, int64_t i, int32_t l, double *soft, clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    double square = clv_row_distance(p->points, i, s->centers + l * p->p, s->square[l]);
    double distance = sqrt(square + p->epsilon * p->epsilon), sample = clv_kpalm_sample(p, i);
    double *sum = soft + l * (p->p + 1);
    clv_row_add(p->points, i, sample / distance, sum);
    sum[p->p] += sample / distance;
    tally->cost += sample * distance;
}

static void add_whole(const clv_kpalm_problem *p, int64_t i, int32_t l, double sign, double *sums) {
    double weight = sign * clv_kpalm_sample(p, i);
    clv_row_add(p->points, i, weight, sums + l * (p->p + 1));
    sums[l * (p->p + 1) + p->p] += weight;
}

/* Object i, wholly in cluster `from` (or nowhere), is wholly in cluster `to` now. */
void clv_settle(clv_kpalm_state *s, int64_t i, int32_t from, int32_t to, double *sums, double *soft, clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    s->labels[i] = to;
    if (from != to) {
        if (from >= 0) {
            clv_leave(s, i, from, sums, tally);
        } else {
            tally->changed++;
        }
    }
    if (p->euclidean) {
        add_smooth(s, i, to, soft, tally);
    } else if (from != to || !p->form.incremental) {
        add_whole(p, i, to, 1, sums);
    }
}

void clv_leave(clv_kpalm_state *s, int64_t i, int32_t from, double *sums, clv_tally *tally) {
    tally->changed++;
    if (s->problem->form.incremental && !s->problem->euclidean) {
        add_whole(s->problem, i, from, -1, sums);
    }
}

/* Whether the nearest center takes the whole object at once: P(e_l - d / alpha) = e_j if no other is within 2 alpha. */
static bool takes_all(const clv_kpalm_state *s, const clv_nearest *nearest, double norm, int32_t label) {
    const clv_kpalm_problem *p = s->problem;
    bool first_nearest = s->t == 0 && p->options.membership == CLV_KPALM_NEAREST;
    if (p->hard || s->hardened || first_nearest || nearest->center == label) {
        return true;
    }
    double alpha = clv_kpalm_alpha(p, s->t), unit = p->frame.unit;
    if (p->euclidean) {
        double epsilon = p->epsilon / unit;
        double least = sqrt(fmax(nearest->key + norm, 0) + epsilon * epsilon);
        double next = sqrt(fmax(nearest->next + norm, 0) + epsilon * epsilon);
        return (next - least) * unit >= 2 * alpha;
    }
    return (nearest->next - nearest->key) * unit * unit >= 2 * alpha;
}

/* Objects that were in one cluster or nowhere, compared with all centers. Those that now belong to several are moved
 * to the front of the tile, with their keys, and go on as such. */
static clv_status compare(clv_kpalm_state *s, clv_worker *w, int64_t count, int64_t first, double *sums, double *soft,
                          clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    const clv_panel *panel = &s->panels[s->panel];
    size_t line = (size_t)panel->width * clv_number_size(panel);
    int64_t several = 0;
    if (count == 0) {
        return CLV_OK;
    }
    clv_tile_keys(panel, &p->frame, w->rows, count, w->keys);
    for (int64_t r = 0; r < count; r++) {
        w->was[r] = s->labels[w->rows[r]];
    }
    clv_tile_scan(panel, w->keys, count, w->was, w->nearest);
    clv_tile_norms(&p->frame, w->rows, count, w->norms);
    for (int64_t r = 0; r < count; r++) {
        int64_t i = w->rows[r];
        int32_t label = s->labels[i];
        w->nearest[r].center =
            clv_nearest_center(panel, p->points, i, &w->nearest[r], s->centers, s->square); /* beyond rounding */
        if (takes_all(s, &w->nearest[r], w->norms[r], label)) {
            tally->change += label >= 0 && label != w->nearest[r].center ? 2 * clv_kpalm_sample(p, i) : 0;
            clv_settle(s, i, label, w->nearest[r].center, sums, soft, tally);
            clv_set_bounds(s, i, &w->nearest[r], w->norms[r]);
            continue;
        }
        memmove(clv_tile_row(panel, w->keys, several), clv_tile_row(panel, w->keys, r), line);
        memset(clv_tile_row(panel, w->weights, several), 0, line);
        clv_weight_set(panel, w->weights, several * panel->width + label, 1);
        w->rows[several] = i;
        w->norms[several] = w->norms[r];
        w->was[several++] = label;
    }
    return clv_soft_advance(s, w, several, first, false, sums, soft, tally);
}

/* What the whole objects of a block are compared in: a tile with all centers, a tile with those near by. */
typedef struct visit {
    clv_kpalm_state *s;
    clv_worker *w;
    int64_t first; /* of the block */
    double *sums, *soft;
    clv_tally *tally;
    int64_t count, close; /* objects in w->rows and w->close */
} visit;

static clv_status compare_with_all(visit *v, int64_t i) {
    v->w->rows[v->count++] = i;
    if (v->count < CLV_TILE_ROWS) {
        return CLV_OK;
    }
    v->count = 0;
    return compare(v->s, v->w, CLV_TILE_ROWS, v->first, v->sums, v->soft, v->tally);
}

/* Whether only listed centers (vicinity.c) can be the nearest one. */
static bool is_surrounded(const clv_kpalm_state *s, int64_t i) {
    double upper = (double)s->upper[i];
    return s->vicinity.count > 0 && is_clear(s, s->vicinity.beyond[s->labels[i]] - upper, upper);
}

/* An object and the nearest of the centers around its own one. Whether that says it all: an object that begins to leave
 * its cluster is for compare. */
static bool settle_near(visit *v, int64_t i, clv_nearest *nearest, double norm) {
    clv_kpalm_state *s = v->s;
    const clv_kpalm_problem *p = s->problem;
    int32_t label = s->labels[i];
    float beyond = (float)((s->vicinity.beyond[label] - (double)s->upper[i]) * (1 - CLV_LOOSE));
    nearest->center = s->vicinity.center[label * s->vicinity.count + nearest->center];
    nearest->center = clv_nearest_center(&s->panels[s->panel], p->points, i, nearest, s->centers, s->square);
    if (nearest->center != label && !p->hard && !s->hardened) {
        return false;
    }
    v->tally->change += label != nearest->center ? 2 * clv_kpalm_sample(p, i) : 0;
    clv_settle(s, i, label, nearest->center, v->sums, v->soft, v->tally);
    clv_set_bounds(s, i, nearest, norm);
    s->lower[i] = s->lower[i] < beyond ? s->lower[i] : beyond;
    return true;
}

static clv_status compare_near(visit *v) {
    clv_kpalm_state *s = v->s;
    clv_worker *w = v->w;
    const clv_panel *panel = &s->panels[s->panel];
    int64_t left = 0;
    for (int64_t r = 0; r < v->close; r++) {
        w->was[r] = s->labels[w->close[r]];
    }
    clv_tile_keys_near(panel, &s->problem->frame, w->close, w->was, v->close, s->vicinity.lines, s->vicinity.offset,
                       w->keys);
    clv_tile_scan_near(panel, w->keys, v->close, w->nearest);
    clv_tile_norms(&s->problem->frame, w->close, v->close, w->norms);
    for (int64_t r = 0; r < v->close; r++) {
        if (!settle_near(v, w->close[r], &w->nearest[r], w->norms[r])) {
            w->close[left++] = w->close[r];
        }
    }
    v->close = 0;
    for (int64_t r = 0; r < left; r++) {
        CLV_TRY(compare_with_all(v, w->close[r]));
    }
    return CLV_OK;
}

/* An object that is in one cluster, or in none yet. */
static clv_status visit_whole(visit *v, int64_t i) {
    clv_kpalm_state *s = v->s;
    const clv_kpalm_problem *p = s->problem;
    int32_t label = s->labels[i];
    if (label < 0 || !p->form.bounds) {
        return compare_with_all(v, i);
    }
    if (!v->w->open[i - v->first] || stays(s, i)) {
        if (p->euclidean || !p->form.incremental) {
            clv_settle(s, i, label, label, v->sums, v->soft, v->tally);
        }
        return CLV_OK;
    }
    if (!is_surrounded(s, i)) {
        return compare_with_all(v, i);
    }
    v->w->close[v->close++] = i;
    return v->close < CLV_TILE_ROWS ? CLV_OK : compare_near(v);
}

static clv_status visit_wholes(visit *v, int64_t whole) {
    for (int64_t at = 0; at < whole; at++) {
        CLV_TRY(visit_whole(v, v->w->vertex[at]));
    }
    CLV_TRY(compare_near(v));
    return compare(v->s, v->w, v->count, v->first, v->sums, v->soft, v->tally);
}

/* Whether eight objects in a row are settled, as most are after some iterations. */
static bool none_open(const uint8_t *open) {
    uint64_t eight;
    memcpy(&eight, open, sizeof eight);
    return eight == 0;
}

/* The objects of a block by kind: in one cluster or none, of these only the ones that there is something to do for; in
 * several, with weights that are replayed; in several, with weights that are stored. */
static void sort_block(const clv_kpalm_state *s, clv_worker *w, int64_t first, int64_t last, int64_t *whole,
                       int64_t *replayed, int64_t *stored) {
    const clv_kpalm_problem *p = s->problem;
    if (p->form.bounds) {
        clv_loosen(&s->slack, s->labels + first, last - first, s->upper + first, s->lower + first, w->open);
    }
    bool every = !p->form.bounds || !p->form.incremental || p->euclidean;
    *whole = *replayed = *stored = 0;
    for (int64_t i = first; i < last; i++) {
        if (!every && i + 8 <= last && none_open(w->open + (i - first))) {
            i += 7;
            continue;
        }
        if (s->labels[i] >= CLV_UNASSIGNED) {
            w->vertex[*whole] = i;
            *whole += every || w->open[i - first];
        } else if (s->labels[i] == CLV_REPLAYED) {
            w->replayed[(*replayed)++] = i;
        } else {
            (*stored)++;
        }
    }
}

static clv_status visit_block(clv_kpalm_state *s, clv_worker *w, int64_t block, double *sums, double *soft,
                              clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    int64_t first = block * p->block, last = first + p->block < p->n ? first + p->block : p->n;
    int64_t whole, replayed, stored;
    sort_block(s, w, first, last, &whole, &replayed, &stored);
    w->fresh.used = w->fresh.weights = 0;
    CLV_TRY(visit_wholes(&(visit){s, w, first, sums, soft, tally, 0, 0}, whole));
    if (replayed + stored > 0) {
        CLV_TRY(clv_soft_block(s, w, block, replayed, sums, soft, tally));
    }
    return p->hard ? CLV_OK : clv_soft_keep(s, w, block);
}

static void visit_chunk(clv_kpalm_state *s, int64_t chunk) {
    const clv_kpalm_problem *p = s->problem;
    clv_tally tally = {0};
    double *sums = clv_part_sums(s, chunk);
    int64_t from, to;
    memset(sums, 0, 2 * (size_t)(p->k * (p->p + 1)) * sizeof *sums);
    clv_kpalm_chunk(p, chunk, &from, &to);
    for (int64_t block = from / p->block; block * p->block < to && tally.status == CLV_OK; block++) {
        clv_worker *w = &s->workers[omp_get_thread_num()];
        tally.status = visit_block(s, w, block, sums, clv_part_soft(s, chunk), &tally);
        if (tally.status == CLV_OK && clv_interrupted(p->ctx)) {
            tally.status = clv_fail(p->ctx, CLV_EINTERRUPTED, "kpalm was interrupted");
        }
    }
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
#pragma omp parallel for num_threads(s->threads) schedule(static) if (entries >= 4096 && s->threads > 1)
    for (int64_t e = 0; e < entries; e++) {
        double soft = 0;
        for (int64_t c = 0; c < p->chunks; c++) {
            s->sums[e] += clv_part_sums(s, c)[e];
            soft += clv_part_soft(s, c)[e];
        }
        s->total[e] = s->sums[e] + soft;
    }
    return CLV_OK;
}

/* --- sigma and its decrease --- */

static double mass_of(const clv_kpalm_state *s, int64_t l) {
    return s->total[l * (s->problem->p + 1) + s->problem->p];
}

static double way2(const clv_kpalm_state *s, int64_t l) {
    const clv_kpalm_problem *p = s->problem;
    double sum = 0;
    for (int64_t f = 0; f < p->p; f++) {
        double step = s->centers[l * p->p + f] - s->before[l * p->p + f];
        sum += step * step;
    }
    return sum;
}

/* Squared distances, each center the mean of its cluster: sigma = spread - sum of mass |x - mean|^2, and a little more,
 * so that rounding cannot make it fall below what is there. */
static double sigma_of_means(const clv_kpalm_state *s, const clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    double explained = 0;
    for (int64_t l = 0; l < p->k; l++) {
        double distance = 0;
        for (int64_t f = 0; f < p->p && mass_of(s, l) > 0; f++) {
            double step = s->centers[l * p->p + f] - p->mean[f];
            distance += step * step;
        }
        explained += mass_of(s, l) * distance;
    }
    double rounding = 1e-15 * (p->spread + p->mass * p->frame.unit * p->frame.unit * 1e-3);
    return fmax(p->spread + tally->correction - explained, 0) + rounding;
}

/* Smoothed distances, by Proposition 4: sigma is at most this. */
static double sigma_at_most(const clv_kpalm_state *s, const clv_tally *tally) {
    double fall = 0;
    for (int64_t l = 0; l < s->problem->k; l++) {
        fall += mass_of(s, l) * way2(s, l) / 2;
    }
    return tally->cost - fall;
}

/* rho_1 |z(t + 1) - z(t)|^2: by how much sigma must fall at least, by Propositions 1 and 5. rho_1 of Proposition 5 is
 * printed twice too large: L_l >= (sum of w_il) / sqrt(d^2 + epsilon^2), and beta is twice that sum. Here it is made of
 * L_l itself. */
static double promised_decrease(const clv_kpalm_state *s, const clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    double alpha = p->hard || s->hardened ? 0 : clv_kpalm_alpha(p, s->t), least = HUGE_VAL, way = 0;
    for (int64_t l = 0; l < p->k; l++) {
        least = fmin(least, mass_of(s, l)); /* smoothed: the sum of w / distance is L_l itself */
        way += way2(s, l);
    }
    return fmin(alpha, p->euclidean ? least : 2 * least) / 2 * (tally->change + way);
}

/* --- the iteration --- */

/* Whether anything may still change. Objects that stay in several clusters without any change are tied between centers,
 * or alpha is so large that nothing ever moves. A schedule that falls is waited for, for a while; then objects go to
 * their nearest center, the first of equals, from here on: that cannot raise sigma, and the limit is a fixed point of
 * Lloyd's algorithm as it is without ties. */
static void note_progress(clv_kpalm_state *s, const clv_tally *tally, clv_iterate *out) {
    const clv_kpalm_problem *p = s->problem;
    double gradient = 0, way = 0;
    for (int64_t l = 0; l < p->k; l++) {
        gradient += mass_of(s, l) * mass_of(s, l) * way2(s, l);
        way = fmax(way, way2(s, l));
    }
    bool still = tally->changed == 0 && s->t > 0;
    bool small = !p->euclidean || p->length * sqrt(gradient) <= p->tolerance / 2;
    out->converged = still && tally->soft == 0 && small;
    bool tied = still && tally->soft > 0 && tally->largest <= 1e-12 && sqrt(way) <= 1e-7 * p->frame.unit;
    s->tied = tied ? s->tied + 1 : 0;
    bool waited = p->options.schedule == CLV_KPALM_CONSTANT || clv_kpalm_alpha_at_floor(p, s->t) || s->tied >= PATIENCE;
    s->hardened = s->hardened || (tied && waited);
}

static void visit_all(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
#pragma omp parallel for num_threads(s->threads) schedule(dynamic, 1)
    for (int64_t c = 0; c < p->chunks; c++) {
        visit_chunk(s, c);
    }
}

clv_status clv_kpalm_iterate(clv_kpalm_state *s, clv_iterate *out) {
    const clv_kpalm_problem *p = s->problem;
    clv_tally tally;
    double gain = 0;
    s->torn = true;
    visit_all(s);
    CLV_TRY(add_up(s, &tally));
    s->soft = tally.soft;
    clv_centers_update(s);
    s->value = p->euclidean ? sigma_at_most(s, &tally) : sigma_of_means(s, &tally);
    note_progress(s, &tally, out);
    CLV_TRY(clv_centers_reseed(s, &gain));
    if (gain > 0) {
        s->value -= p->euclidean ? 0 : gain;
        out->converged = false;
    }
    s->promised = promised_decrease(s, &tally);
    s->t++;
    clv_centers_publish(s, true);
    s->torn = false;
    return CLV_OK;
}
