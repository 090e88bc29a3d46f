/* An iteration: w(t + 1) from w(t) and x(t), object by object, then x(t + 1).
 *
 * An object that is wholly in a cluster stays there exactly as long as its centre is the nearest one (P(e_l - d /
 * alpha) = e_l if and only if d_l is the least), whatever alpha. So Hamerly's bounds serve KPALM as they serve Lloyd:
 * `upper` is at least the distance to the own centre, `lower` at most the distance to any other; while upper < lower
 * there is nothing to compute. They allow for the rounding of the keys, so that an object is skipped only where the
 * kernel would give it the same centre again: the iterates are those of the plain form. Sums of clusters follow the
 * objects that change (squared distances); smoothed distances need every object's weight, and so its own distance, each
 * time.
 *
 * Cost: a key is p multiplications; an object that is skipped costs its label and two floats. The parts of the work are
 * fixed, so that no sum depends on the threads. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Rounding of floats that hold bounds. */
#define LOOSE 1e-6

void clv_set_bounds(clv_kpalm_state *s, int64_t i, const clv_nearest *nearest, double norm) {
    double error = s->panels[s->panel].error;
    s->upper[i] = (float)(sqrt(fmax(nearest->key + norm, 0) + error) * (1 + LOOSE));
    s->lower[i] = (float)(sqrt(fmax(nearest->next + norm - error, 0)) * (1 - LOOSE));
}

/* Whether no other centre can be found nearer than the own one. */
static bool is_settled(const clv_kpalm_state *s, int64_t i) {
    double upper = (double)s->upper[i], lower = fmax((double)s->lower[i], s->apart[s->labels[i]] - upper);
    return lower > upper && lower * lower - upper * upper > 4 * s->panels[s->panel].error;
}

static double own_distance(const clv_kpalm_state *s, int64_t i) {
    const clv_kpalm_problem *p = s->problem;
    int32_t l = s->labels[i];
    return clv_row_distance(p->points, i, s->centres + l * p->p, s->square[l]);
}

/* The bounds of an object in one cluster after the centres moved; then the own distance itself. */
static bool stays(clv_kpalm_state *s, int64_t i) {
    const clv_kpalm_problem *p = s->problem;
    int32_t l = s->labels[i];
    double other = l == s->mover ? s->next_moved : s->most_moved;
    s->upper[i] = (float)(((double)s->upper[i] + s->moved[l]) * (1 + LOOSE));
    s->lower[i] = (float)fmax(((double)s->lower[i] - other) * (1 - LOOSE), 0);
    if (!p->form.bounds) {
        return false;
    }
    if (is_settled(s, i)) {
        return true;
    }
    s->upper[i] = (float)(sqrt(own_distance(s, i)) / p->frame.unit * (1 + LOOSE));
    return is_settled(s, i);
}

/* The share of an object that is wholly in cluster l in the sums of smoothed distances. */
static void add_smooth(clv_kpalm_state *s, int64_t i, int32_t l, double *soft, clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    double square = clv_row_distance(p->points, i, s->centres + l * p->p, s->square[l]);
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

/* Whether the nearest centre takes the whole object at once: P(e_l - d / alpha) = e_j if no other is within 2 alpha. */
static bool takes_all(const clv_kpalm_state *s, const clv_nearest *nearest, double norm, int32_t label) {
    const clv_kpalm_problem *p = s->problem;
    bool first_nearest = s->t == 0 && p->options.membership == CLV_KPALM_NEAREST;
    if (p->hard || s->hardened || first_nearest || nearest->centre == label) {
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

/* Objects that were in one cluster or nowhere, compared with all centres. Those that now belong to several are moved
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
    clv_tile_scan(panel, w->keys, count, w->nearest);
    clv_tile_norms(&p->frame, w->rows, count, w->norms);
    for (int64_t r = 0; r < count; r++) {
        int64_t i = w->rows[r];
        int32_t label = s->labels[i];
        w->nearest[r].centre =
            clv_nearest_centre(panel, p->points, i, &w->nearest[r], s->centres, s->square); /* beyond rounding */
        if (takes_all(s, &w->nearest[r], w->norms[r], label)) {
            tally->change += label != w->nearest[r].centre ? 2 * clv_kpalm_sample(p, i) : 0;
            clv_settle(s, i, label, w->nearest[r].centre, sums, soft, tally);
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

/* The objects of a block that are in one cluster, or in none yet. */
static clv_status visit_whole(clv_kpalm_state *s, clv_worker *w, int64_t whole, int64_t first, double *sums,
                              double *soft, clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    int64_t count = 0;
    for (int64_t v = 0; v < whole; v++) {
        int64_t i = w->vertex[v];
        if (s->labels[i] >= 0 && stays(s, i)) {
            if (p->euclidean || !p->form.incremental) {
                clv_settle(s, i, s->labels[i], s->labels[i], sums, soft, tally);
            }
            continue;
        }
        w->rows[count++] = i;
        if (count == CLV_TILE_ROWS) {
            CLV_TRY(compare(s, w, count, first, sums, soft, tally));
            count = 0;
        }
    }
    return compare(s, w, count, first, sums, soft, tally);
}

static clv_status visit_block(clv_kpalm_state *s, clv_worker *w, int64_t block, double *sums, double *soft,
                              clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    int64_t first = block * p->block, last = first + p->block < p->n ? first + p->block : p->n;
    int64_t whole = 0, replayed = 0, stored = 0;
    for (int64_t i = first; i < last; i++) {
        if (s->labels[i] >= CLV_UNASSIGNED) {
            w->vertex[whole++] = i;
        } else if (s->labels[i] == CLV_REPLAYED) {
            w->replayed[replayed++] = i;
        } else {
            stored++;
        }
    }
    w->fresh.used = w->fresh.weights = 0;
    CLV_TRY(visit_whole(s, w, whole, first, sums, soft, tally));
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
        double step = s->centres[l * p->p + f] - s->before[l * p->p + f];
        sum += step * step;
    }
    return sum;
}

/* Squared distances, each centre the mean of its cluster: sigma = spread - sum of mass |x - mean|^2, and a little more,
 * so that rounding cannot make it fall below what is there. */
static double sigma_of_means(const clv_kpalm_state *s, const clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    double explained = 0;
    for (int64_t l = 0; l < p->k; l++) {
        double distance = 0;
        for (int64_t f = 0; f < p->p && mass_of(s, l) > 0; f++) {
            double step = s->centres[l * p->p + f] - p->mean[f];
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

/* The decrease of sigma over rho_1 |z(t + 1) - z(t)|^2; at least 1 by Propositions 1 and 5. rho_1 of Proposition 5 is
 * printed twice too large: L_l >= (sum of w_il) / sqrt(d^2 + epsilon^2), and beta is twice that sum. */
static double sufficient_decrease(const clv_kpalm_state *s, const clv_tally *tally, double decrease) {
    const clv_kpalm_problem *p = s->problem;
    double alpha = p->hard || s->hardened ? 0 : clv_kpalm_alpha(p, s->t), least = HUGE_VAL, way = 0, bound;
    for (int64_t l = 0; l < p->k; l++) {
        least = fmin(least, mass_of(s, l)); /* smoothed: the sum of w / distance is L_l itself */
        way += way2(s, l);
    }
    bound = p->euclidean ? least : 2 * least;
    double promised = fmin(alpha, bound) / 2 * (tally->change + way);
    return promised > 0 ? decrease / promised : HUGE_VAL;
}

/* --- the iteration --- */

/* Whether anything may still change. Objects that stay in several clusters without any change are tied between centres,
 * or alpha is so large that nothing ever moves. A schedule that falls is waited for; then objects go to their nearest
 * centre, the first of equals, from here on: that cannot raise sigma, and the limit is a fixed point of Lloyd's
 * algorithm as it is without ties. */
static void note_progress(clv_kpalm_state *s, const clv_tally *tally, clv_iterate *out) {
    const clv_kpalm_problem *p = s->problem;
    double gradient = 0, way = 0;
    for (int64_t l = 0; l < p->k; l++) {
        gradient += mass_of(s, l) * mass_of(s, l) * way2(s, l);
        way = fmax(way, way2(s, l));
    }
    bool still = tally->changed == 0 && s->t > 0;
    bool small = !p->euclidean || sqrt(gradient) <= p->tolerance / 2;
    out->converged = still && tally->soft == 0 && small;
    bool tied = still && tally->soft > 0 && tally->largest <= 1e-12 && sqrt(way) <= 1e-7 * p->frame.unit;
    if (tied && (p->options.schedule == CLV_KPALM_CONSTANT || clv_kpalm_alpha_at_floor(p, s->t))) {
        s->hardened = true;
    }
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
    double before = s->value, gain = 0;
    s->torn = true;
    visit_all(s);
    CLV_TRY(add_up(s, &tally));
    s->soft = tally.soft;
    clv_centres_update(s);
    s->value = p->euclidean ? sigma_at_most(s, &tally) : sigma_of_means(s, &tally);
    note_progress(s, &tally, out);
    CLV_TRY(clv_centres_reseed(s, &gain));
    if (gain > 0) {
        s->value -= p->euclidean ? 0 : gain;
        out->converged = false;
    }
    s->sufficient = sufficient_decrease(s, &tally, before - s->value);
    s->t++;
    clv_centres_publish(s, true);
    s->torn = false;
    return CLV_OK;
}
