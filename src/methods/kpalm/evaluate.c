/* What an iterate is worth, from the data alone; and the nearest center of every object.
 *
 * The certificate is the norm of the smallest element of the subdifferential of sigma at (w, x),
 *     { (d_i(x) + u_i)_i, grad_x H(w, x) },  u_i in the normal cone of the simplex at w_i.
 * gamma(t) of Propositions 2 and 6 is one such element, so this is at most |gamma(t)|; unlike gamma(t) it needs no
 * earlier iterate. For object i it is the distance of d_i to the cone: with c = -(the multiplier of sum w = 1) the
 * least over c of sum over the support (d_l - c)^2 + sum over the rest max(c - d_l, 0)^2. It is 0 where every cluster
 * that an object belongs to is at the least distance. Moves of centers are measured in p->length, the spread of the
 * data, so that both parts have the unit of sigma.
 *
 * Distances that decide are computed again in double, of dense points term by term; keys only say which ones are beyond
 * doubt. Cost: n k p multiplications, and again in double for objects in several clusters or in doubt. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { ROWS_A_POLL = 16 * CLV_TILE_ROWS };

/* What a part of the objects adds. */
typedef struct share {
    double sigma, f, residual;
    bool given_up;
} share;

/* The least over c, by Newton's method from the right on the derivative, which is convex and rises. `in` says whether l
 * is in the support. */
static double cone_distance(const double *d, const bool *in, int64_t k) {
    double c = -HUGE_VAL, sum = 0;
    int64_t count = k + 2, now = k + 1; /* more than there are: the first pass decides nothing */
    for (int64_t l = 0; l < k; l++) {
        c = in[l] ? fmax(c, d[l]) : c;
    }
    while (now < count) { /* rounding cannot make it cycle, as the count must fall */
        double slope = 0, value = 0;
        count = now;
        now = 0;
        for (int64_t l = 0; l < k; l++) {
            if (in[l] || d[l] < c) {
                slope += 1;
                value += c - d[l];
                now++;
            }
        }
        c -= value / slope;
    }
    for (int64_t l = 0; l < k; l++) {
        sum += in[l] || d[l] < c ? (d[l] - c) * (d[l] - c) : 0;
    }
    return sum;
}

/* F and the residual of an object from all of its distances. */
static void judge_exactly(clv_kpalm_state *s, clv_worker *w, int64_t i, const int32_t *index, const double *weight,
                          int64_t count, share *part) {
    const clv_kpalm_problem *p = s->problem;
    double least = HUGE_VAL, sample = clv_kpalm_sample(p, i);
    memset(w->support, 0, (size_t)p->k * sizeof *w->support);
    for (int64_t l = 0; l < p->k; l++) {
        w->distance[l] = clv_kpalm_distance(s, i, l);
        least = fmin(least, w->distance[l]);
    }
    for (int64_t e = 0; e < count; e++) {
        w->support[index[e]] = weight[e] > 0;
    }
    part->f += sample * least;
    part->residual += sample * sample * cone_distance(w->distance, w->support, p->k);
}

/* sigma and the sums of one object; its entries are index and weight. */
static double add_object(clv_kpalm_state *s, int64_t i, const int32_t *index, const double *weight, int64_t count,
                         double *sums, share *part) {
    const clv_kpalm_problem *p = s->problem;
    double sample = clv_kpalm_sample(p, i), distance = 0;
    for (int64_t e = 0; e < count; e++) {
        distance = clv_kpalm_distance(s, i, index[e]);
        part->sigma += sample * weight[e] * distance;
        clv_add_object(p, i, sample * weight[e] / (p->euclidean ? distance : 1), index[e], sums);
    }
    return sample * distance;
}

static void judge_tile(clv_kpalm_state *s, clv_worker *w, const clv_matrix *membership, int64_t chunk, int64_t count,
                       bool all, share *part) {
    static const double whole = 1;
    const clv_panel *panel = clv_panel_now(s);
    if (all) {
        clv_tile_nearest(panel, &s->problem->frame, w->rows, count, w->keys, w->nearest);
    }
    for (int64_t r = 0; r < count; r++) {
        int64_t i = w->rows[r], from = membership ? membership->start[i] : 0;
        int64_t entries = membership ? membership->start[i + 1] - from : 1;
        const int32_t *index = membership ? membership->index + from : &s->labels[i];
        const double *weight = membership ? (const double *)membership->values + from : &whole;
        double *sums = entries == 1 ? clv_part_sums(s, chunk) : clv_part_soft(s, chunk);
        double own = add_object(s, i, index, weight, entries, sums, part);
        const clv_nearest *nearest = &w->nearest[r];
        bool clear =
            entries == 1 && all && index[0] == nearest->center && nearest->next - nearest->key > 4 * panel->error;
        if (clear) {
            part->f += own;
        } else if (all) {
            judge_exactly(s, w, i, index, weight, entries, part);
        }
    }
}

static void judge_chunk(clv_kpalm_state *s, const clv_matrix *membership, int64_t chunk, bool all, share *part) {
    const clv_kpalm_problem *p = s->problem;
    clv_worker *w = &s->workers[omp_get_thread_num()];
    int64_t from, to;
    *part = (share){0};
    memset(clv_part_sums(s, chunk), 0, (size_t)(p->k * (p->p + 1)) * sizeof(double));
    memset(clv_part_soft(s, chunk), 0, (size_t)(p->k * (p->p + 1)) * sizeof(double));
    clv_kpalm_chunk(p, chunk, &from, &to);
    for (; from < to && !part->given_up; from += CLV_TILE_ROWS) {
        int64_t count = clv_tile_range(from, to, w->rows);
        judge_tile(s, w, membership, chunk, count, all, part);
        part->given_up = clv_worked(p->ctx, count * p->k * p->p);
    }
}

/* |grad_x H|^2, from the sums; these also refresh those of the state. */
static double gradient_of(clv_kpalm_state *s, bool refresh) {
    const clv_kpalm_problem *p = s->problem;
    double norm = 0;
    for (int64_t l = 0; l < p->k; l++) {
        for (int64_t f = p->p; f >= 0; f--) {
            int64_t at = l * (p->p + 1) + f;
            double sums = 0, soft = 0;
            for (int64_t c = 0; c < p->chunks; c++) {
                sums += clv_part_sums(s, c)[at];
                soft += clv_part_soft(s, c)[at];
            }
            s->total[at] = sums + soft;
            s->sums[at] = refresh ? sums : s->sums[at];
            if (f < p->p) {
                double mass = s->total[l * (p->p + 1) + p->p];
                double slope = (p->euclidean ? 1 : 2) * (mass * s->centers[l * p->p + f] - s->total[at]);
                norm += slope * slope;
            }
        }
    }
    return norm;
}

/* Of all chunks. */
static clv_status gather_judgments(clv_kpalm_state *s, share *parts, int64_t first, int64_t last) {
    const clv_kpalm_problem *p = s->problem;
    size_t bytes = (size_t)(p->k * (p->p + 1)) * sizeof *s->parts;
    bool given_up = false;
    for (int64_t c = first; c < last; c++) {
        given_up = given_up || parts[c].given_up;
    }
    clv_status status = given_up ? clv_stop_failure(p->ctx, "evaluating centers") : CLV_OK;
    CLV_TRY(clv_kpalm_gather_chunks(p, status, parts, sizeof *parts));
    CLV_TRY(clv_kpalm_gather_chunks(p, CLV_OK, clv_part_sums(s, 0), bytes));
    return clv_kpalm_gather_chunks(p, CLV_OK, clv_part_soft(s, 0), bytes);
}

clv_status clv_kpalm_judge(clv_kpalm_state *s, const clv_matrix *membership, bool all, bool refresh,
                           clv_kpalm_judgment *out) {
    const clv_kpalm_problem *p = s->problem;
    share *parts = CLV_NEW0(p->ctx, share, p->chunks), sum = {0};
    int64_t first, last;
    if (!parts) {
        return CLV_ENOMEM;
    }
    clv_kpalm_own_chunks(p, &first, &last);
    clv_kpalm_begin_own(p);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic, 1)
    for (int64_t c = first; c < last; c++) {
        judge_chunk(s, membership, c, all, &parts[c]);
    }
    clv_kpalm_end_own(p);
    clv_status status = gather_judgments(s, parts, first, last);
    if (status < 0) {
        clv_free(p->ctx, parts);
        return status;
    }
    for (int64_t c = 0; c < p->chunks; c++) {
        sum.sigma += parts[c].sigma;
        sum.f += parts[c].f;
        sum.residual += parts[c].residual;
    }
    clv_free(p->ctx, parts);
    double gradient = gradient_of(s, refresh);
    *out = (clv_kpalm_judgment){sum.sigma, all ? sum.f : (double)NAN,
                                all ? sqrt(sum.residual + p->length * p->length * gradient) : (double)NAN};
    return CLV_OK;
}

/* --- nearest centers --- */

int32_t clv_nearest_center(const clv_panel *panel, const clv_matrix *points, int64_t i, const clv_nearest *found,
                           const double *centers, const double *square) {
    int32_t best = found->center;
    if (found->next - found->key > 4 * panel->error) {
        return best;
    }
    double least = HUGE_VAL;
    for (int64_t l = 0; l < panel->k; l++) {
        double distance = clv_row_distance(points, i, centers + l * panel->p, square[l]);
        if (distance < least) {
            least = distance;
            best = (int32_t)l;
        }
    }
    return best;
}

void clv_nearest_centers(const clv_panel *panel, const clv_frame *frame, int64_t from, int64_t to,
                         const double *centers, const double *square, void *keys, int32_t *labels) {
    int64_t rows[CLV_TILE_ROWS];
    clv_nearest nearest[CLV_TILE_ROWS];
    for (; from < to; from += CLV_TILE_ROWS) {
        int64_t count = clv_tile_range(from, to, rows);
        clv_tile_nearest(panel, frame, rows, count, keys, nearest);
        for (int64_t r = 0; r < count; r++) {
            labels[from + r] = clv_nearest_center(panel, frame->points, from + r, &nearest[r], centers, square);
        }
    }
}

clv_status clv_kpalm_assign(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    atomic_bool stopped = false;
    int64_t first, last;
    if (p->card) {
        return clv_kpalm_card_nearest(s);
    }
    clv_kpalm_own_chunks(p, &first, &last);
    clv_kpalm_begin_own(p);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic, 1)
    for (int64_t c = first; c < last; c++) {
        int64_t from, to;
        clv_kpalm_chunk(p, c, &from, &to);
        for (; from < to && clv_goes_on(p->ctx, &stopped, ROWS_A_POLL * p->k * p->p); from += ROWS_A_POLL) {
            clv_nearest_centers(clv_panel_now(s), &p->frame, from, to - from < ROWS_A_POLL ? to : from + ROWS_A_POLL,
                                s->centers, s->square, s->workers[omp_get_thread_num()].keys, s->labels);
        }
    }
    clv_status status = stopped ? clv_stop_failure(p->ctx, "assigning objects to centers") : CLV_OK;
    clv_kpalm_end_own(p);
    s->soft = 0;
    s->assigned = true;
    return clv_kpalm_meet(p, status);
}
