/* The correction of Frank-Wolfe, step (S4) of Algorithm 1: minimize
 *
 *   phi(alpha) = loss(sum_i alpha_i X u_i) + tau/2 ||sum_i alpha_i u_i||^2 + lambda sum_i alpha_i v_i
 *
 * over alpha >= 0, sum alpha <= 1 (the rest is on the atom 0); over the ball of a radius the last
 * term is missing. With the images cached it has t unknowns and costs O(samples t) per evaluation.
 *
 *   newton    quadratic models, each minimized exactly over the hull, and a line search; for
 *             squares one model is exact
 *   pqn       projected quasi-Newton (Schmidt et al. 2009): a limited-memory BFGS model, minimized
 *             by spectral projected gradients, and a line search
 *   pairwise  pairwise Frank-Wolfe: from the worst atom in use to the best one, with a line search
 *             by Newton
 *
 * Each stops when the decrease that its model, or the Frank-Wolfe gap over the hull, still promises
 * is at most the accuracy asked for. */
#include "methods/ksupport/ksupport.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { MOST_NEWTON = 50, MOST_QUASI = 100, MOST_PAIRWISE = 1000, MOST_SPECTRAL = 30, MEMORY = 10, HALVINGS = 40 };

typedef struct master {
    clv_atoms *atoms;
    const clv_ks_problem *problem;
    int64_t t, n;
    double *margin, *slope, *curvature;   /* n */
    double *alpha, *trial, *grad, *model; /* t: now, tried, gradient, linear term of the model */
    double *hessian, *weighted, *work;    /* t x t; t x n; 2 t^2 + 8 t */
    double *bend, *lean, constant;        /* squares: phi = constant + lean'alpha + alpha'bend alpha / 2; else NULL */
    double *memory;                       /* pqn: 2 x MEMORY x t */
    double *direction, *shifted;          /* pairwise: n */
    double intercept, value;
    clv_kept room; /* of the arrays, but for the margins */
} master;

/* The caller frees its room also on failure. */
static clv_status master_new(clv_atoms *atoms, double *margin, double intercept, master *m) {
    int64_t t = atoms->count, n = atoms->problem->x->samples;
    bool quasi = atoms->problem->options.inner == CLV_KSUPPORT_PQN;
    bool weighted = atoms->problem->loss.kind == CLV_KSUPPORT_LOGISTIC;
    *m = (master){.atoms = atoms, .problem = atoms->problem, .t = t, .n = n, .margin = margin, .intercept = intercept};
    m->room.ctx = atoms->ctx;
    m->slope = CLV_TAKE(&m->room, double, n);
    m->curvature = CLV_TAKE(&m->room, double, n);
    m->alpha = CLV_TAKE(&m->room, double, t);
    m->trial = CLV_TAKE(&m->room, double, t);
    m->grad = CLV_TAKE(&m->room, double, t);
    m->model = CLV_TAKE(&m->room, double, t);
    m->hessian = CLV_TAKE(&m->room, double, t *t);
    m->weighted = CLV_TAKE(&m->room, double, weighted ? t *n : 1);
    m->work = CLV_TAKE(&m->room, double, 2 * t * t + 8 * t);
    if (!weighted) {
        m->bend = CLV_TAKE(&m->room, double, t *t);
        m->lean = CLV_TAKE(&m->room, double, t);
    }
    m->memory = CLV_TAKE(&m->room, double, quasi ? 2 * MEMORY *t : 1);
    m->direction = CLV_TAKE(&m->room, double, n);
    m->shifted = CLV_TAKE(&m->room, double, n);
    return m->room.status;
}

static double entry(const master *m, const double *table, int64_t i, int64_t j) {
    return table[i * m->atoms->capacity + j];
}

/* For squares phi is itself quadratic, and its coefficients are at hand. */
static void find_coefficients(master *m) {
    const clv_atoms *atoms = m->atoms;
    const clv_ks_problem *p = m->problem;
    double share = p->loss.intercept ? 1 / (double)m->n : 0, sum = clv_sum(p->loss.y, m->n, p->loss.threads);
    m->constant = 0.5 * (clv_dot(p->loss.y, p->loss.y, m->n, p->loss.threads) - share * sum * sum);
    for (int64_t i = 0; i < m->t; i++) {
        for (int64_t j = 0; j < m->t; j++) {
            m->bend[i * m->t + j] = entry(m, atoms->gram, i, j) - share * atoms->total[i] * atoms->total[j] +
                                    (p->tau > 0 ? p->tau * entry(m, atoms->inner, i, j) : 0);
        }
        m->lean[i] = -atoms->target[i] + share * sum * atoms->total[i];
        m->lean[i] += p->radius > 0 ? 0 : p->lambda * atoms->atom[i].square;
    }
}

/* lean + bend alpha into `slope`. Returns phi. */
static double evaluate_squares(const master *m, const double *alpha, double *slope) {
    double value = m->constant;
    for (int64_t i = 0; i < m->t; i++) {
        double bent = cblas_ddot((int)m->t, m->bend + i * m->t, 1, alpha, 1);
        value += alpha[i] * (m->lean[i] + 0.5 * bent);
        slope[i] = m->lean[i] + bent;
    }
    return value;
}

/* phi at alpha, with margins, slopes and curvatures there. */
static double evaluate(master *m, const double *alpha) {
    const clv_ks_problem *p = m->problem;
    double penalty = 0, ridge = 0;
    if (m->bend) {
        return evaluate_squares(m, alpha, m->work);
    }
    memset(m->margin, 0, (size_t)m->n * sizeof *m->margin);
    for (int64_t i = 0; i < m->t; i++) {
        if (alpha[i] > 0) {
            cblas_daxpy((int)m->n, alpha[i], m->atoms->image + i * m->n, 1, m->margin, 1);
            penalty += alpha[i] * m->atoms->atom[i].square;
            for (int64_t j = 0; p->tau > 0 && j < m->t; j++) {
                ridge += alpha[i] * alpha[j] * entry(m, m->atoms->inner, i, j);
            }
        }
    }
    double loss = clv_loss_at(&p->loss, m->atoms->work->terms, m->margin, &m->intercept, m->slope, m->curvature);
    return clv_ks_objective(p, loss, ridge, penalty);
}

static void find_gradient(master *m) {
    const clv_ks_problem *p = m->problem;
    if (m->bend) {
        evaluate_squares(m, m->alpha, m->grad);
        return;
    }
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)m->t, (int)m->n, 1, m->atoms->image, (int)m->n, m->slope, 1, 0,
                m->grad, 1);
    for (int64_t i = 0; i < m->t; i++) {
        m->grad[i] += p->radius > 0 ? 0 : p->lambda * m->atoms->atom[i].square;
        for (int64_t j = 0; p->tau > 0 && j < m->t; j++) {
            m->grad[i] += p->tau * m->alpha[j] * entry(m, m->atoms->inner, i, j);
        }
    }
}

static double promised(const master *m) {
    double sum = 0;
    for (int64_t i = 0; i < m->t; i++) {
        sum += m->grad[i] * (m->alpha[i] - m->trial[i]);
    }
    return sum;
}

/* From alpha toward trial, halving until a part of the promised decrease is there. The point found is alpha then, and
 * evaluated. False when there is none: alpha is as it was, and evaluated. */
static bool search_line(master *m) {
    double promise = promised(m), step = 1, *held = m->model;
    for (int halving = 0; halving < HALVINGS && promise > 0 && !clv_interrupted(m->problem->ctx); halving++) {
        for (int64_t i = 0; i < m->t; i++) {
            held[i] = m->alpha[i] + step * (m->trial[i] - m->alpha[i]);
        }
        double value = evaluate(m, held);
        if (value <= m->value - 1e-4 * step * promise) {
            memcpy(m->alpha, held, (size_t)m->t * sizeof *held);
            m->value = value;
            return true;
        }
        step *= 0.5;
    }
    evaluate(m, m->alpha);
    return false;
}

/* --- newton --- */

/* X u' diag(h) X u + tau <u, u>, less what the best intercept takes away. */
static void find_hessian(master *m) {
    int64_t t = m->t, n = m->n;
    double total = clv_sum(m->curvature, n, 1), *lean = m->model;
    for (int64_t i = 0; i < t; i++) {
        const double *image = m->atoms->image + i * n;
        double *row = m->weighted + i * n;
        for (int64_t s = 0; s < n; s++) {
            row[s] = sqrt(m->curvature[s]) * image[s];
        }
        lean[i] = cblas_ddot((int)n, m->curvature, 1, image, 1);
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)t, (int)n, 1, m->weighted, (int)n, 0, m->hessian, (int)t);
    for (int64_t i = 0; i < t; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double entry_ij = m->hessian[i * t + j];
            entry_ij -= m->problem->loss.intercept ? lean[i] * lean[j] / total : 0;
            entry_ij += m->problem->tau > 0 ? m->problem->tau * entry(m, m->atoms->inner, i, j) : 0;
            m->hessian[i * t + j] = m->hessian[j * t + i] = entry_ij;
        }
    }
}

static void newton(master *m, double accuracy) {
    for (int pass = 0; pass < MOST_NEWTON && !clv_interrupted(m->problem->ctx); pass++) {
        find_gradient(m);
        find_hessian(m);
        for (int64_t i = 0; i < m->t; i++) {
            m->model[i] = m->grad[i] - cblas_ddot((int)m->t, m->hessian + i * m->t, 1, m->alpha, 1);
        }
        memcpy(m->trial, m->alpha, (size_t)m->t * sizeof *m->trial);
        clv_quadratic_solve(m->problem->ctx, m->hessian, m->model, m->t, m->trial, m->work);
        if (promised(m) <= accuracy || !search_line(m)) {
            return;
        }
    }
}

/* --- pqn --- */

/* B = BFGS matrix of the last pairs (s, y), written out: t is small. */
static void quasi_hessian(master *m, int pairs, double *product) {
    int64_t t = m->t;
    double *s = m->memory, *y = m->memory + MEMORY * t, scale = 1;
    if (pairs > 0) {
        const double *ys = y + (pairs - 1) * t, *ss = s + (pairs - 1) * t;
        scale = cblas_ddot((int)t, ys, 1, ys, 1) / cblas_ddot((int)t, ys, 1, ss, 1);
    }
    memset(m->hessian, 0, (size_t)(t * t) * sizeof *m->hessian);
    for (int64_t i = 0; i < t; i++) {
        m->hessian[i * t + i] = scale;
    }
    for (int pair = 0; pair < pairs; pair++) {
        const double *sp = s + pair * t, *yp = y + pair * t;
        cblas_dsymv(CblasRowMajor, CblasLower, (int)t, 1, m->hessian, (int)t, sp, 1, 0, product, 1);
        double curve = cblas_ddot((int)t, sp, 1, product, 1), slope = cblas_ddot((int)t, sp, 1, yp, 1);
        for (int64_t i = 0; i < t; i++) {
            for (int64_t j = 0; j < t; j++) {
                m->hessian[i * t + j] += yp[i] * yp[j] / slope - product[i] * product[j] / curve;
            }
        }
    }
}

/* min of the model over the hull by spectral projected gradients, from alpha into trial. */
static void minimize_model(master *m) {
    int64_t t = m->t;
    double *direction = m->work, *product = direction + t, *sorted = product + t, length = 1;
    memcpy(m->trial, m->alpha, (size_t)t * sizeof *m->trial);
    for (int pass = 0; pass < MOST_SPECTRAL; pass++) {
        double slope = 0, curve = 0;
        for (int64_t i = 0; i < t; i++) {
            product[i] = m->trial[i] - m->alpha[i];
        }
        cblas_dsymv(CblasRowMajor, CblasLower, (int)t, 1, m->hessian, (int)t, product, 1, 0, m->model, 1);
        for (int64_t i = 0; i < t; i++) {
            m->model[i] += m->grad[i];
            direction[i] = m->trial[i] - length * m->model[i];
        }
        clv_hull_project(direction, t, sorted);
        for (int64_t i = 0; i < t; i++) {
            direction[i] -= m->trial[i];
            slope += direction[i] * m->model[i];
        }
        if (slope >= -1e-16 * fabs(m->value)) {
            return;
        }
        cblas_dsymv(CblasRowMajor, CblasLower, (int)t, 1, m->hessian, (int)t, direction, 1, 0, product, 1);
        curve = cblas_ddot((int)t, direction, 1, product, 1);
        double step = curve > 0 ? fmin(1, -slope / curve) : 1;
        cblas_daxpy((int)t, step, direction, 1, m->trial, 1);
        length = curve > 0 ? cblas_ddot((int)t, direction, 1, direction, 1) / curve : 1;
    }
}

/* What the steepest atom, or 0, still promises. */
static double hull_gap(const master *m) {
    double lowest = 0, here = 0;
    for (int64_t i = 0; i < m->t; i++) {
        lowest = fmin(lowest, m->grad[i]);
        here += m->alpha[i] * m->grad[i];
    }
    return here - lowest;
}

static void keep_pair(master *m, int *pairs, const double *before, const double *slopes) {
    int64_t t = m->t;
    double *s = m->memory, *y = m->memory + MEMORY * t, slope = 0, length = 0;
    if (*pairs == MEMORY) {
        memmove(s, s + t, (size_t)((MEMORY - 1) * t) * sizeof *s);
        memmove(y, y + t, (size_t)((MEMORY - 1) * t) * sizeof *y);
        (*pairs)--;
    }
    s += *pairs * t;
    y += *pairs * t;
    for (int64_t i = 0; i < t; i++) {
        s[i] = m->alpha[i] - before[i];
        y[i] = m->grad[i] - slopes[i];
        slope += s[i] * y[i];
        length += s[i] * s[i];
    }
    *pairs += slope > 1e-12 * length && length > 0;
}

static void quasi_newton(master *m, double accuracy) {
    int64_t t = m->t;
    double *before = m->work + 3 * t, *slopes = before + t, *product = slopes + t;
    int pairs = 0;
    find_gradient(m);
    for (int pass = 0; pass < MOST_QUASI && hull_gap(m) > accuracy && !clv_interrupted(m->problem->ctx); pass++) {
        quasi_hessian(m, pairs, product);
        minimize_model(m);
        memcpy(before, m->alpha, (size_t)t * sizeof *before);
        memcpy(slopes, m->grad, (size_t)t * sizeof *slopes);
        if (!search_line(m)) {
            return;
        }
        find_gradient(m);
        keep_pair(m, &pairs, before, slopes);
    }
}

/* --- pairwise --- */

static double part(const double *row, int64_t to, int64_t from) {
    return (to >= 0 ? row[to] : 0) - (from >= 0 ? row[from] : 0);
}

/* The step s of alpha_to + s, alpha_from - s that minimizes phi, for s up to `most`: Newton on its derivative inside a
 * bracket. Only the margins along the direction are followed, so that a trial costs O(samples). */
static double best_step(master *m, int64_t to, int64_t from, double most) {
    const clv_ks_problem *p = m->problem;
    double low = 0, high = most, step = most, pull = 0, bend = 0;
    int64_t stride = m->atoms->capacity;
    const double *inner = m->atoms->inner;
    if (m->bend) {
        double across = to >= 0 && from >= 0 ? m->bend[to * m->t + from] : 0;
        double slope = (to >= 0 ? m->grad[to] : 0) - (from >= 0 ? m->grad[from] : 0);
        double curve =
            (to >= 0 ? m->bend[to * m->t + to] : 0) + (from >= 0 ? m->bend[from * m->t + from] : 0) - 2 * across;
        return curve > 0 ? fmin(-slope / curve, most) : most;
    }
    for (int64_t i = 0; i < m->n; i++) {
        m->direction[i] = part(m->atoms->image + i, m->n * to, m->n * from);
    }
    for (int64_t i = 0; p->tau > 0 && i < m->t; i++) {
        pull += p->tau * m->alpha[i] * part(inner + i * stride, to, from);
    }
    if (p->tau > 0) {
        bend = p->tau * ((to >= 0 ? part(inner + to * stride, to, from) : 0) -
                         (from >= 0 ? part(inner + from * stride, to, from) : 0));
    }
    pull +=
        p->radius > 0
            ? 0
            : p->lambda * ((to >= 0 ? m->atoms->atom[to].square : 0) - (from >= 0 ? m->atoms->atom[from].square : 0));
    for (int pass = 0; pass < HALVINGS; pass++) {
        double slope = pull + step * bend, curve = bend;
        for (int64_t i = 0; i < m->n; i++) {
            m->shifted[i] = m->margin[i] + step * m->direction[i];
        }
        clv_loss_at(&p->loss, m->atoms->work->terms, m->shifted, &m->intercept, m->slope, m->curvature);
        for (int64_t i = 0; i < m->n; i++) {
            slope += m->slope[i] * m->direction[i];
            curve += m->curvature[i] * m->direction[i] * m->direction[i];
        }
        low = slope <= 0 ? step : low;
        high = slope <= 0 ? high : step;
        double next = step - slope / curve;
        if (low >= most || fabs(next - step) <= 1e-6 * high) {
            return fmin(fmax(next, low), high);
        }
        step = next > low && next < high ? next : 0.5 * (low + high);
    }
    return step;
}

static void pairwise(master *m, double accuracy) {
    for (int pass = 0; pass < MOST_PAIRWISE && !clv_interrupted(m->problem->ctx); pass++) {
        double lowest = 0, highest = -INFINITY, rest = 1;
        int64_t to = -1, from = -1; /* -1: the atom 0 */
        find_gradient(m);
        for (int64_t i = 0; i < m->t; i++) {
            rest -= m->alpha[i];
            if (m->grad[i] < lowest) {
                lowest = m->grad[i];
                to = i;
            }
            if (m->alpha[i] > 0 && m->grad[i] > highest) {
                highest = m->grad[i];
                from = i;
            }
        }
        if (rest > 1e-15 && highest < 0) {
            highest = 0;
            from = -1;
        }
        if (hull_gap(m) <= accuracy || highest <= lowest) {
            return;
        }
        double step = best_step(m, to, from, from >= 0 ? m->alpha[from] : rest);
        if (to >= 0) {
            m->alpha[to] += step;
        }
        if (from >= 0) {
            m->alpha[from] = fmax(m->alpha[from] - step, 0);
        }
        m->value = evaluate(m, m->alpha);
    }
}

clv_status clv_master_solve(clv_atoms *atoms, double accuracy, double *margin, double *intercept) {
    master m;
    clv_status status = master_new(atoms, margin, *intercept, &m);
    if (status == CLV_OK) {
        clv_ksupport_inner inner = (clv_ksupport_inner)atoms->problem->options.inner;
        memcpy(m.alpha, atoms->weight, (size_t)m.t * sizeof *m.alpha);
        if (m.bend) {
            find_coefficients(&m);
        }
        m.value = evaluate(&m, m.alpha);
        if (inner == CLV_KSUPPORT_PQN) {
            quasi_newton(&m, accuracy);
        } else if (inner == CLV_KSUPPORT_PAIRWISE) {
            pairwise(&m, accuracy);
        } else if (m.bend) {
            clv_quadratic_solve(m.problem->ctx, m.bend, m.lean, m.t, m.alpha, m.work);
        } else {
            newton(&m, accuracy);
        }
        memcpy(atoms->weight, m.alpha, (size_t)m.t * sizeof *m.alpha);
        *intercept = m.intercept;
        clv_atoms_combine(atoms, margin);
    }
    clv_free_kept(&m.room);
    return status;
}
