/* The first iterations of KPALM from uniform weights.
 *
 * With squared distances d_il = |a_i|^2 + |x_l|^2 - 2 a_i.x_l (all relative to the mean of the data) a projection that
 * leaves no weight at 0 is
 *     w_il <- w_il + (2 a_i.(x_l - x') - (|x_l|^2 - q)) / alpha,   x' and q the means of x_l and |x_l|^2 over l,
 * so that w_il = slope_l.a_i + level_l for all objects at once. Sums over the objects then need only the covariance S
 * of the data: sum_i w_il a_i = S slope_l and sum_i w_il = mass level_l. An iteration costs k p^2, whatever the number
 * of objects. It is made only while level_l >= |slope_l| max_i |a_i| for all l proves that no weight can become 0. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <string.h>

void clv_linear_begin(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    s->base = 0;
    s->linear = p->covariance && p->form.linear;
    for (int64_t l = 0; l < p->k && p->affine; l++) {
        s->level[l] = 1 / (double)p->k;
        memset(s->slope + l * p->p, 0, (size_t)p->p * sizeof *s->slope);
    }
    if (p->affine) {
        clv_panel_fill_affine(&s->affine, s->slope, s->level);
    }
}

void clv_linear_row(const clv_kpalm_state *s, int64_t i, double *out) {
    const clv_kpalm_problem *p = s->problem;
    double *row = s->workers[0].row;
    clv_matrix_row(p->points, i, row);
    for (int64_t l = 0; l < p->k; l++) {
        out[l] = s->level[l];
        for (int64_t f = 0; f < p->p; f++) {
            out[l] += s->slope[l * p->p + f] * (row[f] - p->mean[f]);
        }
    }
}

/* next_slope and next_level from x(t). */
static void advance(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    double alpha = clv_kpalm_alpha(p, s->t), mean_square = 0, *middle = s->workers[0].row;
    memset(middle, 0, (size_t)p->p * sizeof *middle);
    for (int64_t l = 0; l < p->k; l++) {
        double square = 0;
        for (int64_t f = 0; f < p->p; f++) {
            double x = s->centres[l * p->p + f] - p->mean[f];
            middle[f] += x / (double)p->k;
            square += x * x;
        }
        s->next_level[l] = square;
        mean_square += square / (double)p->k;
    }
    for (int64_t l = 0; l < p->k; l++) {
        s->next_level[l] = s->level[l] - (s->next_level[l] - mean_square) / alpha;
        for (int64_t f = 0; f < p->p; f++) {
            double x = s->centres[l * p->p + f] - p->mean[f];
            s->next_slope[l * p->p + f] = s->slope[l * p->p + f] + 2 * (x - middle[f]) / alpha;
        }
    }
}

static bool none_vanishes(const clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    double radius = p->frame.radius * p->frame.unit * (1 + 1e-6);
    for (int64_t l = 0; l < p->k; l++) {
        double square = 0;
        for (int64_t f = 0; f < p->p; f++) {
            square += s->next_slope[l * p->p + f] * s->next_slope[l * p->p + f];
        }
        if (!(s->next_level[l] > sqrt(square) * radius)) {
            return false;
        }
    }
    return true;
}

/* S slope_l, and |w(t + 1) - w(t)|^2 = sum of step' S step + mass (difference of levels)^2 over l. */
static void add_cluster(clv_kpalm_state *s, int64_t l, clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    const double *slope = s->next_slope + l * p->p, *before = s->slope + l * p->p;
    double *total = s->total + l * (p->p + 1), raised = s->next_level[l] - s->level[l];
    for (int64_t f = 0; f < p->p; f++) {
        const double *row = p->covariance + f * p->p;
        double sum = 0, step = 0;
        for (int64_t g = 0; g < p->p; g++) {
            sum += row[g] * slope[g];
            step += row[g] * (slope[g] - before[g]);
        }
        total[f] = sum + p->mean[f] * p->mass * s->next_level[l];
        tally->change += (slope[f] - before[f]) * step;
    }
    total[p->p] = p->mass * s->next_level[l];
    tally->change += p->mass * raised * raised;
}

bool clv_linear_iterate(clv_kpalm_state *s, clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    *tally = (clv_tally){.soft = p->n, .changed = p->n, .largest = 1};
    advance(s);
    s->linear = p->k > 1 && none_vanishes(s);
    if (!s->linear) {
        for (int64_t l = 0; l < p->k; l++) { /* for the panel, relative to the origin */
            s->next_level[l] = s->level[l];
            for (int64_t f = 0; f < p->p; f++) {
                s->next_level[l] -= s->slope[l * p->p + f] * p->mean[f];
            }
        }
        clv_panel_fill_affine(&s->affine, s->slope, s->next_level);
        return false;
    }
    for (int64_t l = 0; l < p->k; l++) {
        add_cluster(s, l, tally);
    }
    memcpy(s->slope, s->next_slope, (size_t)(p->k * p->p) * sizeof *s->slope);
    memcpy(s->level, s->next_level, (size_t)p->k * sizeof *s->level);
    s->base++;
    return true;
}
