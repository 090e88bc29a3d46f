/* k-means|| (Bahmani, Moseley, Vattani, Kumar and Vassilvitskii 2012): centers to start from in a few passes over the
 * points, however many there are to be.
 *
 * The first candidate is an object drawn by its sample weight. In each of CLV_ROUNDS rounds every object is drawn by
 * itself, with probability CLV_OVERSAMPLING k of its part of phi, the sum of the distances (squared, unless the norm is
 * Euclidean) to the nearest candidate so far, times sample weights; those drawn are candidates from then on. In the
 * end a candidate weighs as much as the objects that are nearest to it, and k-means++ chooses the centers among these,
 * the best of 2 + log k draws each time (as greedy++; for distances of one, as d1++).
 *
 * An object draws from a stream of its own, so that nothing depends on threads or ranks. Candidates are compared with
 * all objects as many at a time as there are centers: a round reads the points two or three times. All ranks have all
 * candidates, and each chooses among them by itself. Distances are kept as in starts.c, the nearest candidates in
 * s->labels.
 *
 * Where fewer than k candidates lie apart, the rest is drawn as by k-means++. What ends the time, or half of a limit,
 * leaves candidates as centers as they are, evenly spaced in their order. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { MOST_DRAWS = 64, CANDIDATES_AT_ONCE = 256 };

#define DOING "choosing centers to start from"

static double part_of(const clv_kpalm_problem *p, double square) {
    return p->euclidean ? sqrt(square) : square;
}

/* --- candidates --- */

/* Twice k in each round on average; that more than this are drawn does not happen (a chance of e^-32). */
static int64_t most_candidates(const clv_kpalm_problem *p) {
    double mean = (double)CLV_ROUNDS * CLV_OVERSAMPLING * (double)p->k, most = mean + 8 * sqrt(mean) + 40;
    most = fmin(most, INT32_MAX - 1);
    return (double)p->n < most ? p->n : (int64_t)most;
}

clv_status clv_candidates_new(const clv_kpalm_problem *p, clv_candidates *out) {
    *out = (clv_candidates){.ctx = p->ctx, .room = most_candidates(p)};
    out->object = CLV_NEW(p->ctx, int64_t, out->room);
    out->rows = CLV_NEW(p->ctx, double, out->room * p->p);
    out->phi = CLV_NEW0(p->ctx, double, p->chunks);
    out->drawn = CLV_NEW0(p->ctx, int64_t, p->chunks);
    out->mark = CLV_NEW0(p->ctx, bool, p->n);
    return out->object && out->rows && out->phi && out->drawn && out->mark ? CLV_OK : CLV_ENOMEM;
}

void clv_candidates_free(clv_candidates *c) {
    if (c->ctx) {
        CLV_FREE_ALL(c->ctx, c->object, c->rows, c->mass, c->phi, c->drawn, c->mark);
    }
}

size_t clv_candidates_bytes(const clv_kpalm_problem *p) {
    size_t room = (size_t)most_candidates(p), each = sizeof(int64_t) + (size_t)p->p * sizeof(double);
    size_t masses = (size_t)(p->chunks + 1) * sizeof(double), choosing = 2 * sizeof(double) + sizeof(bool);
    return room * (each + masses + choosing) + (size_t)p->n * sizeof(bool);
}

/* --- distances to the nearest candidate --- */

static void approach_tile(clv_kpalm_state *s, clv_worker *w, const clv_panel *panel, int64_t first, int64_t count) {
    clv_tile_nearest(panel, &s->problem->frame, w->rows, count, w->keys, w->nearest);
    for (int64_t r = 0; r < count; r++) {
        int64_t i = w->rows[r];
        double square = w->nearest[r].key + clv_square_from_mean(s->problem, i);
        float near = square > 4 * panel->error ? (float)square : 0; /* nothing where it is rounding */
        if (near < s->upper[i]) {
            s->upper[i] = near;
            s->labels[i] = (int32_t)(first + w->nearest[r].center);
        }
    }
}

/* The objects of a chunk; their part of phi. */
static double approach_chunk(clv_kpalm_state *s, const clv_panel *panel, int64_t first, int64_t chunk,
                             atomic_bool *stopped) {
    const clv_kpalm_problem *p = s->problem;
    clv_worker *w = &s->workers[omp_get_thread_num()];
    int64_t from, to, end;
    double sum = 0;
    clv_kpalm_chunk(p, chunk, &from, &to);
    for (; from < to && clv_goes_on(p->ctx, stopped, p->block * p->p * panel->width); from = end) {
        end = to - from < p->block ? to : from + p->block;
        for (int64_t i = from; i < end; i += CLV_TILE_ROWS) {
            approach_tile(s, w, panel, first, clv_tile_range(i, end, w->rows));
        }
        for (int64_t i = from; i < end; i++) {
            sum += clv_kpalm_sample(p, i) * part_of(p, (double)s->upper[i]);
        }
    }
    return sum;
}

/* Candidates first .. first + count - 1, no more than there are centers: the panel of these is not in use yet. */
static clv_status approach_some(clv_kpalm_state *s, clv_candidates *c, int64_t first, int64_t count) {
    const clv_kpalm_problem *p = s->problem;
    clv_panel panel = *clv_panel_now(s);
    atomic_bool stopped = false;
    int64_t begin, end;
    panel.k = count;
    panel.width = clv_panel_width(panel.scalar, count);
    clv_panel_fill(&panel, &p->frame, c->rows + first * p->p);
    clv_kpalm_own_chunks(p, &begin, &end);
    clv_kpalm_begin_own(p);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic, 1)
    for (int64_t chunk = begin; chunk < end; chunk++) {
        c->phi[chunk] = approach_chunk(s, &panel, first, chunk, &stopped);
    }
    clv_status status = stopped || clv_share_is_over(p->ctx, 0.5) ? clv_stop_failure(p->ctx, DOING) : CLV_OK;
    clv_kpalm_end_own(p);
    return clv_kpalm_gather_chunks(p, status, c->phi, sizeof *c->phi);
}

/* All candidates from the first that has not been looked at. */
static clv_status approach(clv_kpalm_state *s, clv_candidates *c, int64_t first) {
    int64_t k = s->problem->k;
    for (; first < c->count; first += k) {
        CLV_TRY(approach_some(s, c, first, c->count - first < k ? c->count - first : k));
    }
    return CLV_OK;
}

static double total_of(const double *parts, int64_t count) {
    double sum = 0;
    for (int64_t c = 0; c < count; c++) {
        sum += parts[c];
    }
    return sum;
}

/* --- rounds --- */

/* Marks the objects of a chunk that are drawn; how many. */
static int64_t draw_in_chunk(clv_kpalm_state *s, clv_candidates *c, uint64_t salt, double phi, int64_t chunk) {
    const clv_kpalm_problem *p = s->problem;
    double factor = CLV_OVERSAMPLING * (double)p->k;
    int64_t from, to, drawn = 0;
    clv_kpalm_chunk(p, chunk, &from, &to);
    for (int64_t i = from; i < to; i++) {
        double part = clv_kpalm_sample(p, i) * part_of(p, (double)s->upper[i]);
        clv_rng rng = clv_rng_stream(salt, (uint64_t)i);
        c->mark[i] = part > 0 && clv_rng_uniform(&rng) * phi < factor * part;
        drawn += c->mark[i];
    }
    return drawn;
}

/* The objects of a chunk that are marked, in their order, from place `at` on. */
static void list_chunk(const clv_kpalm_problem *p, clv_candidates *c, int64_t chunk, int64_t at) {
    int64_t i, to, end = at + c->drawn[chunk];
    clv_kpalm_chunk(p, chunk, &i, &to);
    for (; i < to && at < end; i++) {
        if (c->mark[i]) {
            c->object[at] = i;
            clv_matrix_row(p->points, i, c->rows + at++ * p->p);
        }
    }
}

/* Those that were drawn become candidates of all ranks. */
static clv_status list_drawn(const clv_kpalm_problem *p, clv_candidates *c, int64_t begin, int64_t end) {
    int64_t at = c->count;
    for (int64_t chunk = 0; chunk < p->chunks; chunk++) {
        c->drawn[chunk] = c->drawn[chunk] < c->room - at ? c->drawn[chunk] : c->room - at;
        if (chunk >= begin && chunk < end) {
            list_chunk(p, c, chunk, at);
        }
        at += c->drawn[chunk];
    }
    size_t row = (size_t)p->p * sizeof *c->rows;
    CLV_TRY(clv_kpalm_gather_lists(p, c->drawn, c->object + c->count, sizeof *c->object));
    CLV_TRY(clv_kpalm_gather_lists(p, c->drawn, c->rows + c->count * p->p, row));
    c->count = at;
    return CLV_OK;
}

static clv_status draw_round(clv_kpalm_state *s, clv_candidates *c, uint64_t salt) {
    const clv_kpalm_problem *p = s->problem;
    double phi = total_of(c->phi, p->chunks);
    atomic_bool stopped = false;
    int64_t begin, end;
    clv_kpalm_own_chunks(p, &begin, &end);
    clv_kpalm_begin_own(p);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic, 1)
    for (int64_t chunk = begin; chunk < end; chunk++) {
        if (clv_goes_on(p->ctx, &stopped, 16 * p->n / p->chunks)) {
            c->drawn[chunk] = draw_in_chunk(s, c, salt, phi, chunk);
        }
    }
    clv_status status = stopped ? clv_stop_failure(p->ctx, DOING) : CLV_OK;
    clv_kpalm_end_own(p);
    CLV_TRY(clv_kpalm_gather_chunks(p, status, c->drawn, sizeof *c->drawn));
    return list_drawn(p, c, begin, end);
}

/* --- weights of candidates --- */

static clv_status weigh(clv_kpalm_state *s, clv_candidates *c) {
    const clv_kpalm_problem *p = s->problem;
    double *parts = CLV_NEW0(p->ctx, double, p->chunks * c->count);
    int64_t begin, end;
    c->mass = CLV_NEW0(p->ctx, double, c->count);
    clv_status status = parts && c->mass ? CLV_OK : clv_kpalm_meet(p, CLV_ENOMEM);
    clv_kpalm_own_chunks(p, &begin, &end);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic, 1) if (status == CLV_OK)
    for (int64_t chunk = begin; chunk < (status == CLV_OK ? end : begin); chunk++) {
        int64_t from, to;
        clv_kpalm_chunk(p, chunk, &from, &to);
        for (int64_t i = from; i < to; i++) {
            parts[chunk * c->count + s->labels[i]] += clv_kpalm_sample(p, i);
        }
    }
    if (status == CLV_OK) {
        status = clv_kpalm_gather_chunks(p, CLV_OK, parts, (size_t)c->count * sizeof *parts);
    }
    for (int64_t e = 0; e < p->chunks * c->count && status == CLV_OK; e++) {
        c->mass[e % c->count] += parts[e];
    }
    clv_free(p->ctx, parts);
    return status;
}

clv_status clv_kpalm_oversample(clv_kpalm_state *s, clv_rng *rng, clv_candidates *c) {
    const clv_kpalm_problem *p = s->problem;
    c->object[0] = clv_kpalm_draw_object(p, rng);
    CLV_TRY(clv_kpalm_forget_centers(s));
    CLV_TRY(clv_kpalm_rows(p, c->object, 1, c->rows));
    c->count = 1;
    CLV_TRY(approach(s, c, 0));
    for (int round = 0; round < CLV_ROUNDS; round++) {
        int64_t before = c->count;
        CLV_TRY(draw_round(s, c, clv_rng_next(rng)));
        CLV_TRY(approach(s, c, before));
        c->ends[round] = c->count;
    }
    return weigh(s, c);
}

/* --- centers among the candidates --- */

typedef struct choosing {
    clv_kpalm_state *s;
    const clv_candidates *c;
    int64_t blocks;
    double *near;  /* of each candidate: the squared distance to the nearest center so far */
    double *parts; /* blocks x MOST_DRAWS */
} choosing;

/* What a block has to say of centers at `drawn`: what would be left of its potential with each; `keep`: with the first,
 * which is one from now on. */
static void look_at_block(choosing *g, const int64_t *drawn, int count, bool keep, int64_t block) {
    const clv_kpalm_problem *p = g->s->problem;
    const double *rows = g->c->rows;
    int64_t from = block * CANDIDATES_AT_ONCE, to = from + CANDIDATES_AT_ONCE;
    double *sums = g->parts + block * MOST_DRAWS, unit2 = p->frame.unit * p->frame.unit;
    memset(sums, 0, (size_t)count * sizeof *sums);
    for (int64_t i = from; i < to && i < g->c->count; i++) {
        for (int d = 0; d < count; d++) {
            double square = clv_squared_distance(rows + i * p->p, rows + drawn[d] * p->p, p->p) / unit2;
            square = fmin(g->near[i], square);
            sums[d] += g->c->mass[i] * part_of(p, square);
            g->near[i] = keep ? square : g->near[i];
        }
    }
}

static clv_status look(choosing *g, const int64_t *drawn, int count, bool keep) {
    const clv_kpalm_problem *p = g->s->problem;
#pragma omp parallel for num_threads(clv_team(g->s->threads)) schedule(static) if (g->blocks > 1)
    for (int64_t block = 0; block < g->blocks; block++) {
        look_at_block(g, drawn, count, keep, block);
    }
    bool over = clv_worked(p->ctx, g->c->count * p->p * count) || clv_share_is_over(p->ctx, 0.5);
    return over ? clv_stop_failure(p->ctx, DOING) : CLV_OK;
}

static double left_with(const choosing *g, int d) {
    double sum = 0;
    for (int64_t block = 0; block < g->blocks; block++) {
        sum += g->parts[block * MOST_DRAWS + d];
    }
    return sum;
}

/* A candidate by its part of the potential, which has just been looked at. */
static int64_t draw_candidate(const choosing *g, clv_rng *rng) {
    const clv_kpalm_problem *p = g->s->problem;
    double left = clv_rng_uniform(rng) * left_with(g, 0);
    int64_t block = 0, last = -1;
    for (; block + 1 < g->blocks && !(left < g->parts[block * MOST_DRAWS]); block++) {
        left -= g->parts[block * MOST_DRAWS];
    }
    for (int64_t i = block * CANDIDATES_AT_ONCE; i < g->c->count && (left >= 0 || last < 0); i++) {
        double part = g->c->mass[i] * part_of(p, g->near[i]);
        last = part > 0 ? i : last;
        left -= part;
    }
    return last;
}

/* Centers among the candidates, until there are k or none is left that lies apart from these: how many. */
static clv_status choose(choosing *g, clv_rng *rng, int64_t *chosen, int64_t *found) {
    const clv_kpalm_problem *p = g->s->problem;
    int64_t drawn[MOST_DRAWS] = {clv_draw(g->c->mass, g->c->count, p->mass, rng)};
    int draws = p->euclidean ? 1 : (int)fmin(2 + log((double)p->k), MOST_DRAWS), best = 0;
    for (*found = 0; drawn[best] >= 0;) {
        chosen[(*found)++] = drawn[best];
        if (*found == p->k) {
            return CLV_OK;
        }
        drawn[0] = drawn[best];
        CLV_TRY(look(g, drawn, 1, true));
        for (int d = 0; d < draws; d++) {
            drawn[d] = draw_candidate(g, rng);
        }
        best = 0;
        if (draws > 1 && drawn[0] >= 0) {
            CLV_TRY(look(g, drawn, draws, false));
            for (int d = 1; d < draws; d++) {
                best = left_with(g, d) < left_with(g, best) ? d : best;
            }
        }
    }
    return CLV_OK;
}

/* Every rank by itself: on candidates a meeting for each center would take longer. */
static clv_status choose_alone(clv_kpalm_state *s, const clv_candidates *c, clv_rng *rng, int64_t *chosen,
                               int64_t *found) {
    const clv_kpalm_problem *p = s->problem;
    choosing g = {.s = s, .c = c, .blocks = (c->count + CANDIDATES_AT_ONCE - 1) / CANDIDATES_AT_ONCE};
    g.near = CLV_NEW(p->ctx, double, c->count);
    g.parts = CLV_NEW(p->ctx, double, g.blocks *MOST_DRAWS);
    clv_status status = g.near && g.parts ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0; i < c->count && status == CLV_OK; i++) {
        g.near[i] = HUGE_VAL;
    }
    if (status == CLV_OK) {
        clv_kpalm_begin_own(p);
        status = choose(&g, rng, chosen, found);
        clv_kpalm_end_own(p);
    }
    CLV_FREE_ALL(p->ctx, g.near, g.parts);
    return clv_kpalm_meet(p, status);
}

/* --- the start --- */

/* Candidates from first to last, where there was no time to choose. */
static int64_t choose_evenly(const clv_kpalm_problem *p, const clv_candidates *c, int64_t *chosen) {
    int64_t count = c->count < p->k ? c->count : p->k;
    for (int64_t l = 0; l < count; l++) {
        chosen[l] = l * c->count / count;
    }
    return count;
}

/* Candidates chosen[0 .. found - 1] as centers, and the rest. */
static clv_status set_centers(clv_kpalm_state *s, clv_candidates *c, clv_rng *rng, const int64_t *chosen, int64_t found,
                              clv_status status) {
    const clv_kpalm_problem *p = s->problem;
    memset(c->mark, 0, (size_t)p->n * sizeof *c->mark);
    for (int64_t l = 0; l < found; l++) {
        memcpy(s->centers + l * p->p, c->rows + chosen[l] * p->p, (size_t)p->p * sizeof *c->rows);
        c->mark[c->object[chosen[l]]] = true;
    }
    return found < p->k ? clv_kpalm_seed_rest(s, rng, c->phi, c->mark, found, status) : CLV_OK;
}

clv_status clv_kpalm_seed_parallel(clv_kpalm_state *s, clv_rng *rng) {
    const clv_kpalm_problem *p = s->problem;
    clv_candidates c;
    int64_t found = 0, *chosen = CLV_NEW(p->ctx, int64_t, p->k);
    clv_status status = clv_candidates_new(p, &c);
    status = chosen ? status : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = clv_kpalm_oversample(s, rng, &c);
    }
    if (status == CLV_OK) {
        clv_rng own = clv_rng_stream(clv_rng_next(rng), 0); /* of which every rank draws alone */
        status = choose_alone(s, &c, &own, chosen, &found);
    }
    if (clv_is_stop(status)) {
        found = choose_evenly(p, &c, chosen);
    }
    if (status == CLV_OK || clv_is_stop(status)) {
        status = set_centers(s, &c, rng, chosen, found, status);
    }
    clv_candidates_free(&c);
    clv_free(p->ctx, chosen);
    return status;
}
