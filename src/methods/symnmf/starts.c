/* Where a restart begins. Never at the uniform memberships: these are a KKT point (gap 0) that no solver would leave.
 *
 *   spectral    P ~ U L U' by its k leading eigenpairs, the best approximation of P by rank k, as W W' is to be;
 *               k-means on the rows of U L^1/2, softened, then some sweeps on U L U', whose cost is nothing against
 *               sweeps on P. More candidates are made that way, by turns at random and by k-means; if the best of
 *               them is lower there, some sweeps on P from both decide. A large problem has one candidate, and steps
 *               of spg, which threads share, in place of sweeps
 *   kmeans++    seeds drawn by squared distance in the feature space of P (p_ii + p_jj - 2 p_ij), every object
 *               to the nearest; softened
 *   random      rows from the uniform distribution on the simplex (Dirichlet with parameters 1)
 *   labels      given, softened; -1 is any cluster
 *   membership  given
 *
 * Softened: SOFTENED of a row goes to all clusters in equal parts. Hard labels are more often near a poor local
 * minimum.
 *
 * Minima of the approximation are few, and the lower ones are mostly near lower minima of f. k-means falls for the same
 * one again and again (satimage, k = 6), and so do random memberships, on other data (rice, k = 6): hence both.
 *
 * The eigenpairs come from block Lanczos (linalg/krylov.c) at a loose tolerance: a start is all they are for. */
#include "base/ranks.h"
#include "linalg/krylov.h"
#include "methods/ncut/ncut.h"
#include "methods/symnmf/symnmf.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    SMALL = 300,     /* objects: up to this clv_eigen is as fast */
    TINY = 64,       /* objects: up to this a whole matrix is no matter */
    MOST_BLOCK = 32, /* vectors to a product */
    CYCLES = 5,      /* fillings of the basis */
    WARM_SWEEPS = 20,
    WARM_STEPS = 100, /* of spg */
    TRIAL_SWEEPS = 8, /* after which a candidate that is HOPELESS is given up */
    RUNS = 3,         /* of k-means for the first candidate; more than MANY clusters: 1 */
    MANY = 20,
    RACE_SWEEPS = 8,           /* on P, from the first candidate and from the best other */
    CANDIDATES = 8,            /* at most; */
    CANDIDATES_CLUSTERS = 160, /* and no more than these have together: sweeps grow with the square of k */
    SIDE_BY_SIDE = 4,          /* each takes the room of a run */
};
#define SOFTENED 0.2
/* Sweeps on the approximation end at this share of its squares. */
#define WARM_GAP 1e-5
/* Further above the value of the first. */
#define HOPELESS 1.02
/* Closer values on the approximation are those of the same minimum. */
#define SAME 1e-5
#define EIGEN_TOLERANCE 1e-2

/* --- eigenpairs of P --- */

/* A start is all that they are for: products may be rough, of similarities that floats can hold. */
static clv_status multiply(void *user, const double *x, int64_t count, double *y) {
    const clv_symnmf_problem *p = user;
    return (p->squares < FLT_MAX ? clv_affinity_rough_apply : clv_affinity_apply)(p->affinity, x, count, y,
                                                                                  p->options.control.threads);
}

clv_status clv_symnmf_multiply(void *problem, const double *x, double *y, int64_t n) {
    const clv_symnmf_problem *p = problem;
    (void)n;
    return clv_affinity_apply(p->affinity, x, 1, y, p->options.control.threads);
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

static clv_status start_seeded(clv_memberships *s, clv_rng *rng) {
    const clv_symnmf_problem *p = s->problem;
    int32_t *labels = CLV_NEW(p->ctx, int32_t, p->n);
    double *work = CLV_NEW(p->ctx, double, 3 * p->n);
    clv_status status = labels && work ? seed(s, rng, labels, work, work + p->n, work + 2 * p->n) : CLV_ENOMEM;
    if (status == CLV_OK) {
        soften(s, labels);
    }
    clv_free(p->ctx, labels);
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

/* --- candidates, on the approximation --- */

static int candidates(int64_t k) { /* of a problem that is not large */
    int64_t affordable = CANDIDATES_CLUSTERS / k;
    return affordable < 1 ? 1 : affordable < CANDIDATES ? (int)affordable : CANDIDATES;
}

int clv_symnmf_side_by_side(int64_t k, int threads) {
    int most = candidates(k) - 1 < SIDE_BY_SIDE ? candidates(k) - 1 : SIDE_BY_SIDE;
    return most < 1 ? 1 : threads < most ? threads : most;
}

/* Memberships t of E E' where a candidate begins: softened labels of the best of so many runs of k-means on E, or, for
 * none, random. */
static clv_status begin_candidate(clv_memberships *t, int runs, clv_rng *rng, int32_t *labels) {
    const clv_symnmf_problem *p = t->problem;
    if (runs > 0) {
        CLV_TRY(clv_kmeans_points(p->ctx, p->embedding, p->n, p->k, runs, t->threads, rng, labels));
        soften(t, labels);
    } else {
        start_random(t, rng);
    }
    t->stuck = t->primed = false;
    return clv_memberships_refresh(t);
}

/* At most so many sweeps, to a gap of `enough`; a candidate that is HOPELESS ends sooner. */
static clv_status sweep(clv_memberships *t, int most, double enough, double least) {
    clv_status (*step)(clv_memberships *) = t->problem->large ? clv_spg_step : clv_rows_step;
    for (int done = 0; done < most && !t->stuck && t->gap > enough; done++) {
        if (done >= TRIAL_SWEEPS && t->value > HOPELESS * least) {
            break;
        }
        CLV_TRY(step(t));
    }
    return CLV_OK;
}

/* The first candidate, and of the others the best that is lower. */
typedef struct pair {
    double *first, *rival; /* k x n */
    double value, rival_value;
    int which; /* of the others */
} pair;

/* A candidate, made by random numbers of its own. */
static clv_status try_candidate(clv_memberships *t, int c, uint64_t seed, double least, int32_t *labels) {
    const clv_symnmf_problem *p = t->problem;
    clv_rng rng = clv_rng_stream(seed, (uint64_t)c);
    CLV_TRY(begin_candidate(t, c == 0 && p->k <= MANY ? RUNS : c % 2 == 0, &rng, labels));
    return sweep(t, p->large ? WARM_STEPS : WARM_SWEEPS, WARM_GAP * p->squares, least);
}

/* Of candidates that are as low as each other, the one that is listed first. */
static void keep_if_lower(const clv_memberships *t, int c, pair *out) {
    bool lower = t->value < (1 - SAME) * out->value &&
                 (t->value < out->rival_value || (t->value == out->rival_value && c < out->which));
    if (lower) {
        memcpy(out->rival, t->w, (size_t)(t->problem->n * t->problem->k) * sizeof *t->w);
        out->rival_value = t->value;
        out->which = c;
    }
}

/* What is swept, and the labels that it begins with. */
typedef struct sweeper {
    clv_symnmf_problem problem;
    clv_memberships t;
    int32_t *labels;
} sweeper;

/* The same problem for sweeps on an affinity, whatever the solver. To be freed also on failure. */
static clv_status new_sweeper(const clv_symnmf_problem *of, const clv_affinity *a, int threads, sweeper *out) {
    out->problem = *of;
    out->problem.affinity = a;
    out->problem.options.solver = of->large ? CLV_SYMNMF_SPG : CLV_SYMNMF_ROWS;
    out->labels = CLV_NEW(of->ctx, int32_t, of->n);
    if (!out->labels) {
        out->t = (clv_memberships){0};
        return CLV_ENOMEM;
    }
    return clv_memberships_new(&out->problem, threads, &out->t);
}

static void free_sweeper(sweeper *w) {
    clv_memberships_free(&w->t);
    clv_free(w->problem.ctx, w->labels);
}

/* Which of the ranks this is, and of how many. */
typedef struct place {
    int64_t own, ranks;
} place;

/* The candidate that this rank takes in a turn. Odd ones are random and take more sweeps than even ones: ranks go to
 * and fro through them, so that each has some of both. */
static int candidate_of(place here, int turn) {
    return 1 + turn * (int)here.ranks + (int)(turn % 2 == 0 ? here.own : here.ranks - 1 - here.own);
}

/* One thread's part of the others: the next one that nobody has begun, until time or candidates end. */
static clv_status try_some(const clv_symnmf_problem *low, place here, uint64_t seed, atomic_int *turns, pair *out) {
    sweeper w;
    clv_status status = new_sweeper(low, low->affinity, 1, &w);
    int c;
    while (status == CLV_OK && (c = candidate_of(here, atomic_fetch_add(turns, 1))) < candidates(low->k) &&
           !clv_share_is_over(low->ctx, 0.5)) {
        status = try_candidate(&w.t, c, seed, out->value, w.labels);
        if (status == CLV_OK) {
#pragma omp critical
            keep_if_lower(&w.t, c, out);
        }
    }
    free_sweeper(&w);
    return status;
}

/* What each rank has found; of those that are as low as each other, the one that is listed first is everybody's. */
static clv_status share_rival(const clv_symnmf_problem *low, clv_status status, pair *out) {
    typedef struct offer {
        double value;
        int64_t which;
    } offer;
    int64_t own, end, winner = 0, ranks = clv_rank_count(low->ctx);
    if (ranks == 1) {
        return status;
    }
    offer *offers = CLV_NEW0(low->ctx, offer, ranks);
    clv_share(low->ctx, ranks, &own, &end);
    if (offers) {
        offers[own] = (offer){out->rival_value, out->which};
    }
    status = offers ? clv_gather_items(low->ctx, status, offers, sizeof *offers, ranks, 1)
                    : clv_meet(low->ctx, 0, CLV_ENOMEM);
    for (int64_t q = 1; status == CLV_OK && q < ranks; q++) {
        bool tied = offers[q].value == offers[winner].value && offers[q].which < offers[winner].which;
        winner = offers[q].value < offers[winner].value || tied ? q : winner;
    }
    if (status == CLV_OK && offers[winner].value < INFINITY) {
        out->rival_value = offers[winner].value;
        out->which = (int)offers[winner].which;
        status =
            clv_broadcast(low->ctx, CLV_OK, out->rival, low->n * low->k * (int64_t)sizeof *out->rival, (int)winner);
    }
    clv_free(low->ctx, offers);
    return status;
}

/* Side by side, one thread each, and each rank by itself: what they compute is not the same. */
static clv_status try_others(const clv_symnmf_problem *low, int threads, uint64_t seed, pair *out) {
    clv_status worst = CLV_OK;
    atomic_int turns = 0;
    place here = {.ranks = clv_rank_count(low->ctx)};
    int64_t end;
    clv_share(low->ctx, here.ranks, &here.own, &end);
    clv_context_work_alone(low->ctx, 1);
    clv_blas_serial_begin();
#pragma omp parallel num_threads(clv_team(clv_symnmf_side_by_side(low->k, threads)))
    {
        clv_status status = try_some(low, here, seed, &turns, out);
        if (status != CLV_OK) {
#pragma omp critical
            worst = clv_is_stop(status) && worst != CLV_OK ? worst : status;
        }
    }
    clv_blas_serial_end();
    clv_context_work_alone(low->ctx, 0);
    return share_rival(low, clv_is_stop(worst) ? CLV_OK : worst, out);
}

/* After the first candidate, which has all threads, there is a start: half of the time is the most to spend on more.
 * A large problem is left at that. */
static clv_status try_candidates(const clv_symnmf_problem *low, int threads, uint64_t seed, pair *out) {
    sweeper w;
    clv_status status = new_sweeper(low, low->affinity, threads, &w);
    if (status == CLV_OK) {
        status = try_candidate(&w.t, 0, seed, INFINITY, w.labels);
    }
    if (status == CLV_OK) {
        memcpy(out->first, w.t.w, (size_t)(low->n * low->k) * sizeof *w.t.w);
        out->value = w.t.value;
    }
    free_sweeper(&w);
    return status == CLV_OK && !low->large ? try_others(low, threads, seed, out) : status;
}

static clv_status search_embedding(const clv_memberships *s, const clv_affinity *low, clv_rng *rng, pair *out) {
    clv_symnmf_problem p = *s->problem;
    p.affinity = low;
    CLV_TRY(clv_affinity_moments(low, s->threads, &p.sum, &p.squares));
    return try_candidates(&p, s->threads, clv_rng_next(rng), out);
}

static clv_status approximate(clv_memberships *s, clv_rng *rng, pair *out) {
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
        status = search_embedding(s, low, rng, out);
    }
    clv_affinity_free(low);
    clv_free(p->ctx, factor);
    return status;
}

/* Sweeps on P from both: the lower one is the start. Where time ends them, it is the first. */
static clv_status race(clv_memberships *s, const pair *both) {
    sweeper w;
    double least = INFINITY;
    size_t bytes = (size_t)(s->problem->n * s->problem->k) * sizeof *s->w;
    clv_status status = new_sweeper(s->problem, s->problem->affinity, s->threads, &w);
    for (int turn = 0; turn < 2 && status == CLV_OK; turn++) {
        memcpy(w.t.w, turn == 0 ? both->first : both->rival, bytes);
        w.t.stuck = false;
        status = clv_memberships_refresh(&w.t);
        if (status == CLV_OK) {
            status = sweep(&w.t, RACE_SWEEPS, clv_symnmf_tolerance(&w.problem, w.t.value), INFINITY);
        }
        if (status == CLV_OK && w.t.value < least) {
            least = w.t.value;
            memcpy(s->w, w.t.w, bytes);
        }
    }
    free_sweeper(&w);
    return clv_is_stop(status) ? CLV_OK : status;
}

static clv_status start_spectral(clv_memberships *s, clv_rng *rng) {
    const clv_symnmf_problem *p = s->problem;
    pair both = {.first = s->w, .rival = CLV_NEW(p->ctx, double, p->n * p->k), .rival_value = INFINITY};
    clv_status status = both.rival ? approximate(s, rng, &both) : CLV_ENOMEM;
    if (status == CLV_OK && both.rival_value < both.value && !clv_share_is_over(p->ctx, 0.5)) {
        status = race(s, &both);
    }
    clv_free(p->ctx, both.rival);
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
    return p->embedding ? start_spectral(s, rng) : start_seeded(s, rng);
}
