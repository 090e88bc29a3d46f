/* After an iteration: sigma, by how much Propositions 1 and 5 let it fall, and whether anything may still change. All
 * of it from the centers and the sums of the iteration, O(k p). */
#include "methods/kpalm/kpalm.h"

#include <float.h>
#include <math.h>

/* Iterations that ties are waited for, and a fall of sigma that counts. */
enum { PATIENCE = 40 };

/* |m - mean|^2 of the mean m of a cluster, less |x - m|^2, which is more than 0 where centers go a part of the way:
 * from x(t) they go |m - x(t)| / gamma_x, and gamma_x - 1 times that is left. */
static double explained_by(const clv_kpalm_state *s, int64_t l) {
    const clv_kpalm_problem *p = s->problem;
    const double *x = s->centers + l * p->p, *before = s->before + l * p->p;
    double rest = p->damping - 1, sum = 0;
    if (rest == 0) {
        return clv_square_of(x, p->mean, p->p);
    }
    for (int64_t f = 0; f < p->p; f++) {
        double left = rest * (x[f] - before[f]), m = x[f] + left;
        sum += (m - p->mean[f]) * (m - p->mean[f]) - left * left;
    }
    return sum;
}

double clv_sigma_rounding(const clv_kpalm_problem *p) {
    return 1e-15 * (p->spread + p->mass * p->frame.unit * p->frame.unit * 1e-3);
}

/* sigma = spread - sum over centers of the mass times what they explain, and a little more, so that rounding cannot
 * make it fall below what is there. */
static double sigma_of_means(const clv_kpalm_state *s, const clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    double explained = 0;
    for (int64_t l = 0; l < p->k; l++) {
        double mass = clv_mass_in(p, s->total, l);
        explained += mass > 0 ? mass * explained_by(s, l) : 0;
    }
    return fmax(p->spread + tally->correction - explained, 0) + clv_sigma_rounding(p);
}

/* Smoothed distances, by Proposition 4 with <gradient, step> = -gamma_x L_l |step|^2: sigma is at most this. */
static double sigma_at_most(const clv_kpalm_state *s, const clv_tally *tally) {
    double fall = 0;
    for (int64_t l = 0; l < s->problem->k; l++) {
        fall += clv_mass_in(s->problem, s->total, l) * clv_center_way2(s, l) / 2; /* the mass is L_l here */
    }
    return tally->cost - (2 * s->problem->damping - 1) * fall;
}

double clv_sigma(const clv_kpalm_state *s, const clv_tally *tally) {
    return s->problem->euclidean ? sigma_at_most(s, tally) : sigma_of_means(s, tally);
}

/* rho_1 |z(t + 1) - z(t)|^2. rho_1 of Proposition 5 is printed twice too large: L_l >= (sum of w_il) / sqrt(d^2 +
 * epsilon^2), and beta is twice that sum. Here it is made of L_l itself. A step that is gamma_x times shorter than the
 * one to the least point of the model lowers sigma by 2 gamma_x - 1 times as much in its square. */
double clv_promised_decrease(const clv_kpalm_state *s, const clv_tally *tally) {
    const clv_kpalm_problem *p = s->problem;
    double alpha = p->hard || s->hardened ? 0 : clv_kpalm_alpha(p, s->t) * p->least_factor, least = HUGE_VAL, way = 0;
    for (int64_t l = 0; l < p->k; l++) {
        least = fmin(least, clv_mass_in(p, s->total, l));
        way += clv_center_way2(s, l);
    }
    least *= 2 * p->damping - 1;
    return fmin(alpha, p->euclidean ? least : 2 * least) / 2 * (tally->change + way);
}

/* Objects that stay in several clusters without any change are tied between centers, or alpha is so large that nothing
 * ever moves. A schedule that falls is waited for, for a while; then objects go to their nearest center, the first of
 * equals, from here on: that cannot raise sigma, and the limit is a fixed point of Lloyd's algorithm as it is without
 * ties.
 *
 * Objects that are each in one cluster may come and go for ever between centers that only rounding tells apart, the
 * means of copies of one point; those in several may be handed to and fro by the rounding of such centers, and these
 * then are ties too. Sigma, which was `before`, does not fall by that. Weighted means that take turns within their
 * rounding come no nearer to a critical point. */
void clv_note_progress(clv_kpalm_state *s, const clv_tally *tally, double before, clv_iterate *out) {
    const clv_kpalm_problem *p = s->problem;
    double gradient = 0, way = 0, rounding = 8 * DBL_EPSILON * p->frame.reach; /* of means, in units */
    for (int64_t l = 0; l < p->k; l++) {
        double mass = clv_mass_in(p, s->total, l) * p->damping * (p->euclidean ? 1 : 2);
        gradient += mass * mass * clv_center_way2(s, l);
        way = fmax(way, clv_center_way2(s, l));
    }
    way = sqrt(way) / p->frame.unit;
    bool still = tally->changed == 0 && s->t > 0, apart = tally->soft == 0;
    bool level = !p->euclidean && !(before - s->value > clv_sigma_rounding(p)), flat = level && apart;
    bool turning = p->euclidean && s->t > 0 && apart && way <= rounding;
    bool means = !p->euclidean && p->damping == 1; /* centers are where they belong */
    bool small = means || p->length * sqrt(gradient) <= p->tolerance / 2;
    out->converged = (still || (flat && s->idle >= PATIENCE)) && apart && small;
    out->stalled = turning && s->idle >= PATIENCE && !out->converged;
    bool shared = still && !apart && way <= fmax(1e-7, rounding), tied = shared && tally->largest <= 1e-12;
    s->idle = tied || (shared && level) || flat || turning ? s->idle + 1 : 0;
    bool patient = s->idle >= PATIENCE;
    bool waited = p->options.schedule == CLV_KPALM_CONSTANT || clv_kpalm_alpha_at_floor(p, s->t) || patient;
    s->hardened = s->hardened || (tied && waited) || (shared && patient);
}
