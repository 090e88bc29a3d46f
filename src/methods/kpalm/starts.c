/* Starting centers, and new ones for clusters that have lost all objects.
 *
 * random     k different objects, with probability proportional to their weights
 * kmeans++   one after the other, each drawn with probability proportional to its squared distance to the nearest
 *            center so far (Arthur and Vassilvitskii 2007)
 * greedy++   the same, the best of 2 + log k draws each time
 * d1++       kmeans++ with the distance itself: outliers weigh less
 * kmeans-parallel   k-means||, many at once (oversample.c)
 *
 * All of the data take part; sample weights multiply the probabilities. When half of a time limit is over, or the run
 * is interrupted, the centers that are still missing are other objects, drawn by weight alone: a start is always there.
 * Cost: two passes over the points per center. The distances to the nearest center so far are kept in s->upper
 * (squared, in units).
 *
 * A cluster without objects gets one drawn in the same way, the best of up to REFILL_DRAWS. The object farthest from
 * its center, which other programs take, may be one that lies far from all, and then holds a center for itself. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { MOST_DRAWS = 64, REFILL_DRAWS = 16, MOST_TRIES = 64 };

typedef struct seeding {
    clv_kpalm_state *s;
    clv_panel panel; /* of candidates */
    double *rows;    /* MOST_DRAWS x p */
    double *sums;    /* chunks x draws: no more than that is gathered */
    int draws;
    bool linear; /* probabilities by the distance, not its square */
    bool there;  /* the distances to the nearest center so far are on the card */
    bool begun;  /* there is a center */
} seeding;

static double part_of(const seeding *g, double near, int64_t i) {
    return clv_kpalm_sample(g->s->problem, i) * (g->linear ? sqrt(near) : near);
}

/* --- passes over the points --- */

typedef void (*tile_visit)(seeding *g, double *sums, const clv_worker *w, int64_t count);

static clv_status gather_sums(seeding *g) {
    return clv_kpalm_gather_chunks(g->s->problem, CLV_OK, g->sums, (size_t)g->draws * sizeof *g->sums);
}

static clv_status visit_tiles(seeding *g, tile_visit visit) {
    clv_kpalm_state *s = g->s;
    const clv_kpalm_problem *p = s->problem;
    int64_t first, last;
    clv_kpalm_own_chunks(p, &first, &last);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic, 1)
    for (int64_t c = first; c < last; c++) {
        clv_worker *w = &s->workers[omp_get_thread_num()];
        double sums[MOST_DRAWS] = {0}; /* not where other threads write */
        int64_t from, to;
        clv_kpalm_chunk(p, c, &from, &to);
        for (; from < to; from += CLV_TILE_ROWS) {
            int64_t count = clv_tile_range(from, to, w->rows);
            clv_tile_keys(&g->panel, &p->frame, w->rows, count, w->keys);
            visit(g, sums, w, count);
        }
        memcpy(g->sums + c * g->draws, sums, (size_t)g->draws * sizeof *sums);
    }
    CLV_TRY(gather_sums(g));
    return clv_worked(p->ctx, p->n * p->p) ? clv_stop_failure(p->ctx, "choosing centers to start from") : CLV_OK;
}

/* Squared distance of row r of a tile, which lies so far from the mean, to candidate c; nothing where it is rounding.
 */
static double square_of(const seeding *g, const clv_worker *w, int64_t r, double from_mean, int64_t c) {
    double square = clv_weight_get(&g->panel, w->keys, r * g->panel.width + c) + from_mean;
    return square > 4 * g->panel.error ? square : 0;
}

/* What would be left if candidate c became a center. */
static void try_candidates(seeding *g, double *sums, const clv_worker *w, int64_t count) {
    for (int64_t r = 0; r < count; r++) {
        double near = (double)g->s->upper[w->rows[r]], from_mean = clv_square_from_mean(g->s->problem, w->rows[r]);
        for (int c = 0; c < g->draws; c++) {
            sums[c] += part_of(g, fmin(near, square_of(g, w, r, from_mean, c)), w->rows[r]);
        }
    }
}

/* Candidate 0 has become a center. */
static void come_nearer(seeding *g, double *sums, const clv_worker *w, int64_t count) {
    for (int64_t r = 0; r < count; r++) {
        int64_t i = w->rows[r];
        double near = fmin((double)g->s->upper[i], square_of(g, w, r, clv_square_from_mean(g->s->problem, i), 0));
        g->s->upper[i] = (float)near;
        sums[0] += part_of(g, (double)g->s->upper[i], i);
    }
}

/* Either of these for all objects; on the card it is one function. */
static clv_status try_all(seeding *g) {
    clv_kpalm_draws draws = {g->rows, g->draws, g->linear, .begin = !g->begun};
    return g->there ? clv_kpalm_card_draw(g->s, &draws, g->sums, g->draws) : visit_tiles(g, try_candidates);
}

static clv_status approach(seeding *g) {
    clv_kpalm_draws draws = {g->rows, 1, g->linear, .begin = !g->begun, .keep = true};
    g->begun = true;
    return g->there ? clv_kpalm_card_draw(g->s, &draws, g->sums, g->draws) : visit_tiles(g, come_nearer);
}

static double total_of(const seeding *g, int c) {
    double sum = 0;
    for (int64_t b = 0; b < g->s->problem->chunks; b++) {
        sum += g->sums[b * g->draws + c];
    }
    return sum;
}

/* --- draws --- */

int64_t clv_kpalm_draw_object(const clv_kpalm_problem *p, clv_rng *rng) {
    return p->sample ? clv_draw(p->sample, p->n, p->mass, rng) : clv_rng_below(rng, p->n);
}

/* The object of a chunk where the parts before it add up to `left`; -1: none has a part. */
static int64_t draw_in_chunk(const seeding *g, int64_t chunk, double left) {
    int64_t from, to, last = -1;
    clv_kpalm_chunk(g->s->problem, chunk, &from, &to);
    for (int64_t i = from; i < to && (left >= 0 || last < 0); i++) {
        double part = part_of(g, (double)g->s->upper[i], i);
        if (part > 0) {
            last = i;
            left -= part;
        }
    }
    return last;
}

/* An object with probability proportional to its part; by sample weight where nothing is left. */
static clv_status draw(const seeding *g, clv_rng *rng, int64_t *out) {
    const clv_kpalm_problem *p = g->s->problem;
    double left = clv_rng_uniform(rng) * total_of(g, 0);
    int64_t chunk = 0, first, last;
    if (!(total_of(g, 0) > 0)) {
        *out = clv_kpalm_draw_object(p, rng);
        return CLV_OK;
    }
    for (; chunk + 1 < p->chunks && !(left < g->sums[chunk * g->draws]); chunk++) {
        left -= g->sums[chunk * g->draws];
    }
    clv_kpalm_own_chunks(p, &first, &last);
    CLV_TRY(g->there ? clv_kpalm_card_near(g->s, chunk) : CLV_OK);
    *out = chunk >= first && chunk < last ? draw_in_chunk(g, chunk, left) : -1;
    CLV_TRY(clv_kpalm_broadcast(p, out, sizeof *out, clv_kpalm_owner(p, chunk)));
    *out = *out >= 0 ? *out : clv_kpalm_draw_object(p, rng);
    return CLV_OK;
}

/* Object `objects[c]` as candidate c, for all c. */
static clv_status set_candidates(seeding *g, const int64_t *objects, int count) {
    const clv_kpalm_problem *p = g->s->problem;
    CLV_TRY(clv_kpalm_rows(p, objects, count, g->rows));
    for (int64_t c = count; c < g->panel.k; c++) {
        memcpy(g->rows + c * p->p, g->rows, (size_t)p->p * sizeof *g->rows);
    }
    clv_panel_fill(&g->panel, &p->frame, g->rows);
    return CLV_OK;
}

/* The best of some draws. */
static clv_status choose(seeding *g, clv_rng *rng, int64_t *out) {
    int64_t objects[MOST_DRAWS] = {0};
    int best = 0;
    for (int c = 0; c < g->draws; c++) {
        CLV_TRY(draw(g, rng, &objects[c]));
    }
    if (g->draws > 1) {
        CLV_TRY(set_candidates(g, objects, g->draws));
        CLV_TRY(try_all(g));
        for (int c = 1; c < g->draws; c++) {
            best = total_of(g, c) < total_of(g, best) ? c : best;
        }
    }
    *out = objects[best];
    return CLV_OK;
}

/* An object by weight alone, none that is a center already if some tries find one. */
static int64_t draw_another(const clv_kpalm_problem *p, const bool *taken, clv_rng *rng) {
    int64_t object = clv_kpalm_draw_object(p, rng);
    for (int tries = 0; taken[object] && tries < MOST_TRIES; tries++) {
        object = clv_kpalm_draw_object(p, rng);
    }
    return object;
}

/* Object `next` has become a center: the next one is chosen. */
static clv_status follow(seeding *g, clv_rng *rng, int64_t *next) {
    CLV_TRY(set_candidates(g, next, 1));
    CLV_TRY(approach(g));
    return choose(g, rng, next);
}

clv_status clv_kpalm_forget_centers(clv_kpalm_state *s) {
    enum { ROWS_A_POLL = 1 << 14 };
    const clv_kpalm_problem *p = s->problem;
    atomic_bool stopped = false;
    int64_t first, last;
    clv_kpalm_own_rows(p, &first, &last);
    clv_kpalm_begin_own(p);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(static)
    for (int64_t from = first; from < last; from += ROWS_A_POLL) {
        int64_t to = last - from < ROWS_A_POLL ? last : from + ROWS_A_POLL;
        for (int64_t i = from; i < to && (i > from || clv_goes_on(p->ctx, &stopped, to - from)); i++) {
            s->upper[i] = 1e30f;
        }
    }
    clv_status status = stopped ? clv_stop_failure(p->ctx, "choosing centers to start from") : CLV_OK;
    clv_kpalm_end_own(p);
    return clv_kpalm_meet(p, status);
}

/* `object` becomes center l, and others those after it; `status` is a stop where they are not to be chosen. */
static clv_status draw_centers(seeding *g, clv_rng *rng, bool *taken, int64_t l, int64_t object, clv_status status) {
    clv_kpalm_state *s = g->s;
    const clv_kpalm_problem *p = s->problem;
    for (; l < p->k && (status == CLV_OK || clv_is_stop(status)); l++) {
        CLV_TRY(clv_kpalm_rows(p, &object, 1, s->centers + l * p->p));
        taken[object] = true;
        if (status == CLV_OK && clv_share_is_over(p->ctx, 0.5)) {
            status = CLV_ETIME;
        }
        if (status == CLV_OK && l + 1 < p->k) {
            status = follow(g, rng, &object);
        }
        if (clv_is_stop(status)) { /* from here on without looking at the others */
            object = draw_another(p, taken, rng);
        }
    }
    return clv_is_stop(status) ? CLV_OK : status;
}

static void free_seeding(seeding *g) {
    clv_panel_free(&g->panel);
    CLV_FREE_ALL(g->s->problem->ctx, g->rows, g->sums);
}

/* To be freed also on failure. */
static clv_status new_seeding(clv_kpalm_state *s, int draws, bool linear, seeding *g) {
    const clv_kpalm_problem *p = s->problem;
    *g = (seeding){.s = s, .draws = draws, .linear = linear};
    g->rows = CLV_NEW(p->ctx, double, MOST_DRAWS * p->p);
    g->sums = CLV_NEW0(p->ctx, double, p->chunks *draws);
    return g->rows && g->sums ? clv_panel_new(p->ctx, p->points, draws, &g->panel) : CLV_ENOMEM;
}

size_t clv_seeding_bytes(const clv_kpalm_problem *p) {
    size_t draws = MOST_DRAWS * (size_t)(p->p + p->chunks) * sizeof(double);
    bool parallel = p->options.start && strcmp(p->options.start, CLV_KMEANS_PARALLEL) == 0;
    size_t candidates = parallel ? clv_candidates_bytes(p) : 0;
    return (size_t)p->n * sizeof(bool) + draws + clv_panel_bytes(p->points, MOST_DRAWS) + candidates;
}

static clv_status seed_plusplus(clv_kpalm_state *s, clv_rng *rng, bool greedy, bool linear) {
    const clv_kpalm_problem *p = s->problem;
    seeding g;
    int draws = greedy ? (int)fmin(2 + log((double)p->k), MOST_DRAWS) : 1;
    clv_status status = new_seeding(s, draws, linear, &g);
    bool *taken = CLV_NEW0(p->ctx, bool, p->n);
    status = taken ? status : CLV_ENOMEM;
    if (status == CLV_OK) {
        int64_t object = clv_kpalm_draw_object(p, rng);
        g.there = p->card != NULL;
        status = clv_share_is_over(p->ctx, 0.5) ? CLV_ETIME : clv_kpalm_forget_centers(s);
        status = draw_centers(&g, rng, taken, 0, object, status);
    }
    clv_free(p->ctx, taken);
    free_seeding(&g);
    return status;
}

clv_status clv_kpalm_seed_rest(clv_kpalm_state *s, clv_rng *rng, const double *parts, bool *taken, int64_t l,
                               clv_status stop) {
    const clv_kpalm_problem *p = s->problem;
    int64_t object = 0;
    seeding g;
    clv_status status = new_seeding(s, 1, p->euclidean, &g);
    for (int64_t c = 0; c < p->chunks && status == CLV_OK; c++) {
        g.sums[c] = parts[c];
    }
    if (status == CLV_OK && stop == CLV_OK) {
        status = draw(&g, rng, &object);
    }
    if (status == CLV_OK) {
        object = stop == CLV_OK ? object : draw_another(p, taken, rng);
        status = draw_centers(&g, rng, taken, l, object, stop);
    }
    free_seeding(&g);
    return status;
}

/* k different objects by weight: the k largest of -weight / log(uniform) (Efraimidis and Spirakis 2006), the heap of
 * which is sifted in `first`. Where fewer than k have a weight, others follow. */
static void keep_largest(double *first, int64_t *object, int64_t k, double key, int64_t i) {
    int64_t at = 0;
    while (2 * at + 1 < k) {
        int64_t child = 2 * at + 1;
        child += child + 1 < k && first[child + 1] < first[child];
        if (key <= first[child]) {
            break;
        }
        first[at] = first[child];
        object[at] = object[child];
        at = child;
    }
    first[at] = key;
    object[at] = i;
}

static clv_status seed_random(clv_kpalm_state *s, clv_rng *rng) {
    const clv_kpalm_problem *p = s->problem;
    double *first = CLV_NEW(p->ctx, double, p->k);
    int64_t *object = CLV_NEW(p->ctx, int64_t, p->k);
    bool room = first && object;
    for (int64_t l = 0; room && l < p->k; l++) {
        first[l] = -HUGE_VAL; /* below any key */
    }
    for (int64_t i = 0; room && i < p->n; i++) {
        double sample = clv_kpalm_sample(p, i), drawn = -log1p(-clv_rng_uniform(rng)) + 1e-300;
        double key = sample > 0 ? fmax(-drawn / sample, -1e299) : -1e300 * (1 + drawn);
        if (key > first[0]) {
            keep_largest(first, object, p->k, key, i);
        }
    }
    clv_status status = room ? clv_kpalm_rows(p, object, p->k, s->centers) : clv_kpalm_meet(p, CLV_ENOMEM);
    clv_free(p->ctx, first);
    clv_free(p->ctx, object);
    return status;
}

clv_status clv_kpalm_seed(clv_kpalm_state *s, clv_rng *rng) {
    const clv_kpalm_problem *p = s->problem;
    const char *start = p->options.start;
    if (p->start_centers) {
        for (int64_t l = 0; l < p->k; l++) {
            clv_matrix_row(p->start_centers, l, s->centers + l * p->p);
        }
        return CLV_OK;
    }
    if (strcmp(start, "random") == 0) {
        return seed_random(s, rng);
    }
    if (strcmp(start, CLV_KMEANS_PARALLEL) == 0) {
        return clv_kpalm_seed_parallel(s, rng);
    }
    return seed_plusplus(s, rng, strcmp(start, "greedy++") == 0, strcmp(start, "d1++") == 0);
}

/* --- clusters without objects --- */

/* Distances to the own centers in place of those to the nearest center so far. Objects that may not leave, in several
 * clusters or alone in one, have none, and neither has what lies in its center but for rounding. */
static clv_status measure_costs(seeding *g, const int64_t *members) {
    clv_kpalm_state *s = g->s;
    const clv_kpalm_problem *p = s->problem;
    double unit2 = p->frame.unit * p->frame.unit;
    double least = 1e-12 * p->spread / (double)p->n / unit2 + 1e-28 * p->frame.reach * p->frame.reach;
    int64_t first, last;
    clv_kpalm_own_chunks(p, &first, &last);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic, 1)
    for (int64_t c = first; c < last; c++) {
        int64_t from, to;
        double sum = 0;
        clv_kpalm_chunk(p, c, &from, &to);
        for (int64_t i = from; i < to; i++) {
            int32_t l = s->labels[i];
            double square = 0;
            if (l >= 0 && members[l] > 1) {
                square = clv_row_distance(p->points, i, s->centers + l * p->p, s->square[l]) / unit2;
            }
            s->upper[i] = square > least ? (float)square : 0;
            sum += part_of(g, (double)s->upper[i], i);
        }
        g->sums[c * g->draws] = sum;
    }
    return gather_sums(g);
}

/* Object i alone becomes cluster l. Its old center stays where it is until the next update: sigma falls by the share of
 * the object, which is returned. */
static double move_center(clv_kpalm_state *s, int64_t i, int64_t l) {
    const clv_kpalm_problem *p = s->problem;
    int32_t from = s->labels[i];
    double sample = clv_kpalm_sample(p, i);
    double share = sample * clv_row_distance(p->points, i, s->centers + from * p->p, s->square[from]);
    clv_add_object(p, i, -sample, from, s->sums);
    clv_add_object(p, i, sample, l, s->sums);
    clv_matrix_row(p->points, i, s->centers + l * p->p);
    s->labels[i] = (int32_t)l;
    return share;
}

static clv_status refill(seeding *g, int64_t *members, double *gain) {
    clv_kpalm_state *s = g->s;
    const clv_kpalm_problem *p = s->problem;
    clv_rng rng = clv_rng_stream(~s->salt, (uint64_t)s->t);
    CLV_TRY(measure_costs(g, members));
    for (int64_t l = 0; l < p->k && total_of(g, 0) > 0; l++) {
        int64_t object;
        if (clv_mass_in(p, s->total, l) > 0) {
            continue;
        }
        CLV_TRY(choose(g, &rng, &object));
        if (members[s->labels[object]] > 1) { /* the other one may just have left */
            members[s->labels[object]]--;
            members[l]++;
            *gain += move_center(s, object, l);
            CLV_TRY(set_candidates(g, &object, 1));
            CLV_TRY(approach(g));
        }
    }
    return CLV_OK;
}

clv_status clv_kpalm_refill(clv_kpalm_state *s, double *gain) {
    const clv_kpalm_problem *p = s->problem;
    seeding g;
    int64_t room = clv_panel_now(s)->width; /* of the tiles of the workers, which are for k centers */
    *gain = 0;
    CLV_TRY(clv_kpalm_card_fetch(s)); /* labels change here, so the card is told everything again */
    clv_status status = new_seeding(s, room < REFILL_DRAWS ? (int)room : REFILL_DRAWS, p->euclidean, &g);
    int64_t *members = CLV_NEW(p->ctx, int64_t, p->k);
    if (status == CLV_OK && members) {
        status = clv_kpalm_gather_objects(p, s->labels, sizeof *s->labels);
    }
    if (status == CLV_OK && members) {
        clv_count_labels(s->labels, p->n, p->k, members);
        for (int64_t l = 0; l < p->k; l++) {
            s->square[l] = clv_square_of(s->centers + l * p->p, NULL, p->p);
        }
        status = refill(&g, members, gain);
        for (int64_t i = 0; i < p->n; i++) { /* these are bounds again, of nothing that is known */
            s->upper[i] = 1e30f;
            s->lower[i] = 0;
        }
    }
    clv_free(p->ctx, members);
    free_seeding(&g);
    s->known_there = false;
    return status == CLV_OK && !members ? CLV_ENOMEM : status;
}
