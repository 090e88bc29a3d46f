/* An iteration of KPALM: the two formulas of the paper. What is below them (kpalm.h) only makes them cheap.
 *
 * Problem    minimize sigma(w, x) = sum_i s_i <w_i, d_i(x)> over centers x_1, ..., x_k and weights w_i in the simplex,
 *            d_i(x) = (d(x_1, a_i), ..., d(x_k, a_i)), with objects a_i, sample weights s_i and
 *                d(x, a) = |x - a|^2                           KPALM (norm squared),
 *                d(x, a) = (|x - a|^2 + epsilon^2)^(1/2)       epsilon-KPALM (norm euclidean).
 * (2.1)      Cluster assignment, P the projection on the simplex: clv_cluster_assignment.
 *                w_i(t + 1) = argmin { <w_i, d_i(x(t))> + alpha_i(t) / 2 |w_i - w_i(t)|^2 : w_i in the simplex }
 *                           = P(w_i(t) - d_i(x(t)) / alpha_i(t)),  alpha_i(t) = c_i alpha(t), c_i = 1 unless asked for
 * (2.2)      Center update: clv_center_update.
 *                x_l(t + 1) = sum_i v_il a_i / sum_i v_il
 *                v_il = s_i w_il(t + 1)                        KPALM: x(t + 1) = argmin sigma(w(t + 1), x),
 *                v_il = s_i w_il(t + 1) / d(x_l(t), a_i)       epsilon-KPALM: a gradient step of length 1 / L_l,
 *                                                              L_l = sum_i v_il, which is one of Weiszfeld's.
 * PALM       The generic algorithm takes steps 1 / gamma_x as long in (2.2), and gamma_w alpha_i(t) in (2.1), where
 *            sigma is linear, and so any alpha_i(t) > 0 will do; gamma_w and gamma_x are its gamma_1, gamma_2 > 1.
 * Decrease   sigma falls by at least rho_1 |z(t + 1) - z(t)|^2, z = (w, x): Propositions 1 and 5 (decrease.c). So z(t)
 *            converges to a critical point (Theorem 4); how near it is, by Propositions 2 and 6, is in evaluate.c.
 * Limit      Solvers lloyd and weiszfeld are alpha = 0: P gives all weight to the nearest center.
 * Reference  Voldman, Sabach and Teboulle, "A novel class of globally convergent algorithms for clustering problems"
 *            (slides, 2016). Their alpha_i(t) is s_i alpha_i(t) here.
 * Cost       n k p multiplications at most, and one pass over the points: (2.1) goes through tiles of objects, which
 *            add v_il (a_i, 1) to the sums of (2.2) on their way (assign.c); (2.2) itself is k p divisions. */
#include "methods/kpalm/kpalm.h"

#include <string.h>

/* (2.1) w <- P(w - d / alpha) for a tile of objects: w(t) is in w->weights, the keys of d to x(t) are in w->keys. P
 * does not see what is added to all entries of a row: keys, which lack |a_i - mean|^2, serve as squared distances.
 * Where ties are to be broken (decrease.c), alpha is 0. */
void clv_cluster_assignment(clv_kpalm_state *s, clv_worker *w, int64_t t, int64_t count) {
    const clv_kpalm_problem *p = s->problem;
    const clv_panel *x = clv_panel_at(s, t);
    if (p->euclidean) {
        clv_tile_smooth(x, w->keys, count, w->norms, p->epsilon / p->frame.unit);
    }
    if (t == s->t && s->hardened) {
        clv_tile_choose(x, w->keys, w->weights, count, w->projected);
        return;
    }
    double alpha = clv_alpha_in_units(p, t);
    bool steep = clv_is_steep(s, t);
    int64_t alike = p->factor ? 1 : count; /* rows with the same alpha */
    for (int64_t r = 0; r < count; r += alike) {
        clv_tile_project(x, clv_tile_row(x, w->keys, r), clv_tile_row(x, w->weights, r), alike, w->line,
                         alpha * clv_alpha_factor(p, w->rows[r]), steep, w->projected + r);
    }
}

/* (2.2) x_l <- sum_i v_il a_i / sum_i v_il, both sums from s->total, or with gamma_x > 1 a part of the way there; a
 * center without weight stays. */
void clv_center_update(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    memcpy(s->before, s->centers, (size_t)(p->k * p->p) * sizeof *s->before);
    for (int64_t l = 0; l < p->k; l++) {
        const double *sum = s->total + l * (p->p + 1);
        double v = sum[p->p];
        for (int64_t f = 0; f < p->p && v > 0; f++) {
            double x = s->before[l * p->p + f];
            s->centers[l * p->p + f] = p->damping == 1 ? sum[f] / v : x + (sum[f] / v - x) / p->damping;
        }
    }
}

/* Whether a center without objects is to move. kpalm needs it not: its soft steps reach all centers, and the polish
 * fills those that are left. */
static bool must_refill(const clv_kpalm_state *s) {
    const clv_kpalm_options *options = &s->problem->options;
    bool refills = options->empty == CLV_KPALM_RESEED ||
                   (options->empty == CLV_KPALM_EMPTY_AUTO && options->solver != CLV_KPALM_KPALM);
    for (int64_t l = 0; refills && l < s->problem->k; l++) {
        if (clv_mass_in(s->problem, s->total, l) <= 0) {
            return true;
        }
    }
    return false;
}

clv_status clv_kpalm_iterate(clv_kpalm_state *s, clv_iterate *out) {
    clv_tally tally;
    double gain = 0, before = s->value;
    s->torn = true;
    CLV_TRY(clv_assign_objects(s, &tally)); /* (2.1), and the sums of (2.2) */
    clv_center_update(s);                   /* (2.2) */
    s->value = clv_sigma(s, &tally);
    clv_note_progress(s, &tally, before, out);
    CLV_TRY(must_refill(s) ? clv_kpalm_refill(s, &gain) : CLV_OK);
    if (gain > 0) {
        s->value -= s->problem->euclidean ? 0 : gain;
        out->converged = false;
    }
    s->promised = clv_promised_decrease(s, &tally);
    s->t++;
    clv_centers_publish(s, true);
    s->torn = false;
    return CLV_OK;
}
