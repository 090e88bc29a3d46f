/* Simplicial symmetric NMF: what the stages of the method share.
 *
 *   iterate.c    memberships W with P W and W'W; objective, gradient, Frank-Wolfe gap; the quartic along a direction
 *   quartic.c    the least point of a quartic on an interval
 *   rows.c       a sweep of exact pairwise moves, object by object (rows)
 *   joint.c      steps of all rows at once along one direction: fw, pairwise, spg
 *   descent.c    steps that need a new product for every trial: pgd, penalty
 *   starts.c     spectral, random, k-means++, labels, memberships
 *   predict.c    memberships of new objects
 *   symnmf.c     the problem, a restart as the driver sees it, evaluation
 *   method.c     the description: options, fields, certificate
 */
#ifndef CLV_SYMNMF_H
#define CLV_SYMNMF_H

#include "affinity/affinity.h"
#include "affinity/kinds.h"
#include "methods/methods.h"

/* What all restarts share. */
typedef struct clv_symnmf_problem {
    clv_context *ctx;
    const clv_affinity *affinity;
    int64_t n, k;
    double sum, squares; /* over all entries of P: of these, of their squares */
    double tol;
    double curvature; /* C of theorem 3; NaN where no solver needs it */
    int64_t moves;
    double settled;    /* moves of an object end at this share of the gap that it had before them */
    bool large;        /* a sweep of rows would take minutes, where a product takes a second: spg, from one start */
    double *embedding; /* k x n: eigenvectors of P times the roots of their eigenvalues; NULL unless starts need it */
    int32_t *start_labels;    /* given to start from, or NULL */
    double *start_membership; /* likewise, n x k */
    clv_symnmf_options options;
} clv_symnmf_problem;

/* --- iterate.c --- */

/* Blocks are k x n, one cluster per row. */
typedef struct clv_memberships {
    const clv_symnmf_problem *problem;
    int threads;
    double *w;
    double *pw;       /* P W: the product's for rows, else owned */
    double *gram;     /* k x k: W'W */
    double *gradient; /* k x n: W W'W - P W */
    double value, gap;
    double inner; /* <W, P W> */
    /* Work of the solvers; NULL where it has none. */
    clv_product product; /* P W, of rows */
    double *held;        /* k x n: W before a step; of penalty: the free variables */
    double *direction;   /* k x n */
    double *image;       /* k x n: P times the direction */
    double *previous;    /* k x n: the gradient before; of fw: P S */
    int32_t *vertex;     /* 2 x n: the clusters of S, before and now */
    int64_t *moved;      /* n: objects whose vertex is another one */
    double *cross;       /* 2 k x k: W'D and D'D */
    double *partial;     /* CHUNKS x k x k, and as many numbers again for sums */
    double *rows;        /* work of rows.c */
    double step;         /* length of the last gradient step */
    double weight;       /* of the penalties, in units of the first ones */
    bool primed;         /* the restart has taken a step: previous, P S and the free variables are its own */
    bool stuck;          /* the last step found nothing to gain */
    bool rough;          /* products need not be exact: a descent that is to be gone on with */
} clv_memberships;

/* To be freed also on failure. */
clv_status clv_memberships_new(const clv_symnmf_problem *problem, int threads, clv_memberships *out);
void clv_memberships_free(clv_memberships *s);
size_t clv_memberships_memory(int64_t n, int64_t k, int solver);

/* For a checkpoint: all that steps to come depend on. */
clv_status clv_memberships_pass(clv_memberships *s, clv_archive *archive);

/* Gram matrix, gradient, objective and gap from W and P W as they are carried along; from W alone. */
void clv_memberships_measure(clv_memberships *s);
clv_status clv_memberships_refresh(clv_memberships *s);
/* y = P x for a block x of k x n, rough or exact as the iterate is. */
clv_status clv_memberships_multiply(const clv_memberships *s, const double *x, double *y);
/* The Frank-Wolfe gap at which the run has converged. */
double clv_symnmf_tolerance(const clv_symnmf_problem *problem, double value);
/* The t in [0, most] where f is least along W + t D, from D and its image. */
double clv_memberships_best(clv_memberships *s, double most);
/* The first step along the gradient: 1 / tr(W'W). */
double clv_memberships_length(const clv_memberships *s);
/* W += t D, P W += t P D; then measure. Stuck where t is 0. */
void clv_memberships_go(clv_memberships *s, double t);
/* n x k, one row per object, and back. */
void clv_memberships_save(const clv_memberships *s, double *rows);
void clv_memberships_load(clv_memberships *s, const double *rows);
/* Every row of a k x n block becomes the nearest point of the simplex. */
void clv_project_rows(const clv_memberships *s, double *block);

/* Loops over objects run in this many columns at a time, on any number of threads. */
enum { CLV_SYMNMF_CHUNK = 512 };
static inline bool clv_memberships_are_many(const clv_memberships *s) {
    return s->problem->n * s->problem->k >= 1 << 16;
}

/* --- quartic.c --- */

/* The t in [0, most] where c[0] + c[1] t + ... + c[4] t^4 is least; 0 where nothing is lower than at 0. */
double clv_quartic_least(const double *c, double most);
double clv_quartic_at(const double *c, double t);

/* --- steps: from a measured iterate to the next, measured --- */
clv_status clv_rows_step(clv_memberships *s);
clv_status clv_fw_step(clv_memberships *s);
clv_status clv_pairwise_step(clv_memberships *s);
clv_status clv_spg_step(clv_memberships *s);
clv_status clv_pgd_step(clv_memberships *s);
clv_status clv_penalty_step(clv_memberships *s);
/* Doubles that clv_rows_step works in. */
int64_t clv_rows_work(int64_t n, int64_t k);

/* --- starts.c --- */

/* y = P x, for clv_eigen. */
clv_status clv_symnmf_multiply(void *problem, const double *x, double *y, int64_t n);
/* The embedding that spectral starts are made of. */
clv_status clv_symnmf_embed(clv_symnmf_problem *p);
/* Candidates of a spectral start that are swept at the same time. */
int clv_symnmf_side_by_side(int64_t k, int threads);
/* W of a restart. */
clv_status clv_symnmf_start(clv_memberships *s, clv_rng *rng);

/* --- the functions of the method: symnmf.c, predict.c --- */
CLV_METHOD_PARTS(symnmf)

#endif
