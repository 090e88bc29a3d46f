/* Where a restart begins. Never at the uniform memberships: these are a KKT point (gap 0) that no solver would leave.
 *
 *   spectral    P ~ U L U' by its k leading eigenpairs; k-means on the rows of U L^1/2, whose inner products are
 *               the best approximation of P by rank k, as W W' is to be; softened, then some sweeps on U L U'
 *   kmeans++    seeds drawn by squared distance in the feature space of P (p_ii + p_jj - 2 p_ij), every object
 *               to the nearest; softened
 *   random      rows from the uniform distribution on the simplex (Dirichlet with parameters 1)
 *   labels      given, softened; -1 is any cluster
 *   membership  given
 *
 * Softened: SOFTENED of a row goes to all clusters in equal parts. Hard labels are more often near a poor local
 * minimum.
 *
 * The eigenpairs come from block Lanczos (linalg/krylov.c) at a loose tolerance: a start is all they are for. */
#include "linalg/krylov.h"
#include "methods/ncut/ncut.h"
#include "methods/symnmf/symnmf.h"

#include <math.h>
#include <string.h>

enum {
    SMALL = 300,     /* objects: up to this clv_eigen is as fast */
    TINY = 64,       /* objects: up to this a whole matrix is no matter */
    MOST_BLOCK = 32, /* vectors to a product */
    CYCLES = 5,      /* fillings of the basis */
    WARM_SWEEPS = 20,
    RUNS = 3, /* of k-means; more than MANY clusters: 1 */
    MANY = 20,
};
#define SOFTENED 0.2
/* Sweeps on the approximation end at this share of its squares. */
#define WARM_GAP 1e-5
#define EIGEN_TOLERANCE 1e-2

/* --- eigenpairs of P --- */

static clv_status multiply(void *user, const double *x, int64_t count, double *y) {
    const clv_symnmf_problem *p = user;
    return clv_affinity_apply(p->affinity, x, count, y, p->options.control.threads);
}

clv_status clv_symnmf_multiply(void *problem, const double *x, double *y, int64_t n) {
    (void)n;
    return multiply(problem, x, 1, y);
}

static double error_of(void *user, double value, double residual) {
    (void)user;
    return residual / (EIGEN_TOLERANCE * fmax(fabs(value), 1e-300));
}

/* For more than a quarter of the objects, clv_eigen would build an n x n matrix: there, fewer pairs do, and the rest of
 * values and embedding, all 0, stays. */
static clv_status find_pairs(clv_symnmf_problem *p, double *values) {
    bool converged;
    clv_krylov plan = {.ctx = p->ctx, .n = p->n, .count = p->k, .cycles = CYCLES, .eager = true};
    plan.threads = clv_threads(p->options.control.threads);
    plan.block = p->k + 2 < MOST_BLOCK ? p->k + 2 : MOST_BLOCK;
    plan.basis = p->k + 4 * plan.block;
    plan.apply = multiply;
    plan.excess = error_of;
    plan.user = p;
    plan.seed = (uint64_t)p->options.control.seed;
    if (p->n <= SMALL || 3 * plan.basis > p->n) {
        int64_t most = p->n > TINY && p->k >= p->n / 4 ? p->n / 4 - 1 : p->k;
        return clv_eigen(p->ctx, clv_symnmf_multiply, p, p->n, most, CLV_EIGEN_LARGEST, 1e-8, plan.seed, values,
                         p->embedding);
    }
    return clv_krylov_solve(&plan, values, p->embedding, NULL, &converged); /* the best there are will do */
}

clv_status clv_symnmf_embed(clv_symnmf_problem *p) {
    double *values = CLV_NEW0(p->ctx, double, p->k);
    p->embedding = CLV_NEW0(p->ctx, double, p->k * p->n);
    clv_status status = values && p->embedding ? find_pairs(p, values) : CLV_ENOMEM;
    for (int64_t c = 0; status == CLV_OK && c < p->k; c++) {
        double scale = sqrt(fmax(values[c], 0));
        for (int64_t i = 0; i < p->n; i++) {
            p->embedding[c * p->n + i] *= scale;
        }
    }
    clv_free(p->ctx, values);
    return status;
}

/* --- labels to memberships --- */

static void soften(clv_memberships *s, const int32_t *labels) {
    int64_t n = s->problem->n, k = s->problem->k;
    for (int64_t c = 0; c < k; c++) {
        for (int64_t i = 0; i < n; i++) {
            double rest = labels[i] < 0 ? 1 : SOFTENED;
            s->w[c * n + i] = rest / (double)k + (labels[i] == c ? 1 - rest : 0);
        }
    }
}

/* --- k-means++ in the feature space of P --- */

static int64_t draw(const double *weight, int64_t n, clv_rng *rng) {
    int64_t drawn = clv_draw(weight, n, clv_sum(weight, n, 1), rng), any = clv_rng_below(rng, n);
    return drawn >= 0 ? drawn : any; /* where all objects coincide with seeds */
}

static clv_status seed(clv_memberships *s, clv_rng *rng, int32_t *labels, double *near, double *column, double *own) {
    const clv_symnmf_problem *p = s->problem;
    CLV_TRY(clv_affinity_diagonal(p->affinity, own));
    for (int64_t i = 0; i < p->n; i++) {
        near[i] = 1; /* the first: any */
    }
    for (int32_t c = 0; c < p->k; c++) {
        int64_t chosen = draw(near, p->n, rng);
        CLV_TRY(clv_affinity_column(p->affinity, chosen, column));
        for (int64_t i = 0; i < p->n; i++) {
            double distance = i == chosen ? 0 : fmax(own[i] + own[chosen] - 2 * column[i], 0);
            if (c == 0 || distance < near[i] || i == chosen) {
                near[i] = distance;
                labels[i] = c;
            }
        }
    }
    return CLV_OK;
}

/* By the eigenpairs where there are any, or by k-means++. */
static clv_status find_labels(clv_memberships *s, clv_rng *rng, int32_t *labels) {
    const clv_symnmf_problem *p = s->problem;
    if (p->embedding) {
        int runs = p->k > MANY ? 1 : RUNS;
        return clv_kmeans_points(p->ctx, p->embedding, p->n, p->k, runs, s->threads, rng, labels);
    }
    double *work = CLV_NEW(p->ctx, double, 3 * p->n);
    clv_status status = work ? seed(s, rng, labels, work, work + p->n, work + 2 * p->n) : CLV_ENOMEM;
    clv_free(p->ctx, work);
    return status;
}

/* --- random, and given --- */

/* Rows of a file add up to 1 as far as its digits go; the steps keep what they find. */
static void normalize_rows(clv_memberships *s) {
    int64_t n = s->problem->n, k = s->problem->k;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t c = 0; c < k; c++) {
            sum += s->w[c * n + i];
        }
        for (int64_t c = 0; c < k; c++) {
            s->w[c * n + i] /= sum;
        }
    }
}

static void start_random(clv_memberships *s, clv_rng *rng) {
    int64_t n = s->problem->n, k = s->problem->k;
    for (int64_t e = 0; e < n * k; e++) {
        s->w[e % k * n + e / k] = -log1p(-clv_rng_uniform(rng)) + 1e-300;
    }
    normalize_rows(s);
}

/* --- warming up on the approximation --- */

/* Sweeps on E E' instead of P: O(n k^2) each. */
static clv_status sweep_embedding(clv_memberships *s, const clv_affinity *low) {
    clv_symnmf_problem p = *s->problem;
    clv_memberships t = {0};
    p.affinity = low;
    p.options.solver = CLV_SYMNMF_ROWS;
    CLV_TRY(clv_affinity_moments(low, s->threads, &p.sum, &p.squares));
    clv_status status = clv_memberships_new(&p, s->threads, &t);
    if (status == CLV_OK) {
        memcpy(t.w, s->w, (size_t)(p.n * p.k) * sizeof *t.w);
        status = clv_memberships_refresh(&t);
    }
    for (int sweep = 0; status == CLV_OK && sweep < WARM_SWEEPS && !t.stuck; sweep++) {
        if (t.gap <= WARM_GAP * p.squares) {
            break;
        }
        status = clv_rows_step(&t);
    }
    if (status == CLV_OK) {
        memcpy(s->w, t.w, (size_t)(p.n * p.k) * sizeof *t.w);
    }
    clv_memberships_free(&t);
    return status;
}

static clv_status warm_up(clv_memberships *s) {
    const clv_symnmf_problem *p = s->problem;
    clv_affinity_options how;
    clv_affinity *low = NULL;
    double *factor = CLV_NEW(p->ctx, double, p->n * p->k);
    clv_status status = factor ? CLV_OK : CLV_ENOMEM;
    clv_affinity_defaults(&how);
    for (int64_t e = 0; factor && e < p->n * p->k; e++) {
        factor[e] = p->embedding[e % p->k * p->n + e / p->k];
    }
    if (factor) {
        clv_matrix matrix = {.rows = p->n, .cols = p->k, .values = factor};
        status = clv_affinity_lowrank(p->ctx, &matrix, &how, &low);
    }
    if (status == CLV_OK) {
        status = sweep_embedding(s, low);
    }
    clv_affinity_free(low);
    clv_free(p->ctx, factor);
    return status;
}

/* --- all --- */

clv_status clv_symnmf_start(clv_memberships *s, clv_rng *rng) {
    const clv_symnmf_problem *p = s->problem;
    const char *start = p->options.start;
    if (strcmp(start, "memberships") == 0) {
        clv_memberships_load(s, p->start_membership);
        normalize_rows(s);
        return CLV_OK;
    }
    if (strcmp(start, "labels") == 0) {
        soften(s, p->start_labels);
        return CLV_OK;
    }
    if (strcmp(start, "random") == 0) {
        start_random(s, rng);
        return CLV_OK;
    }
    int32_t *labels = CLV_NEW(p->ctx, int32_t, p->n);
    clv_status status = labels ? find_labels(s, rng, labels) : CLV_ENOMEM;
    if (status == CLV_OK) {
        soften(s, labels);
        status = p->embedding ? warm_up(s) : CLV_OK;
    }
    clv_free(p->ctx, labels);
    return status;
}
