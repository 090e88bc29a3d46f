/* The ball of the k-support norm: norms, vertex oracle, proximity operator.
 *
 * (||w||_k^sp)^2 = min { sum_i w_i^2 / theta_i : 0 <= theta_i <= 1, sum_i theta_i <= k }, the gauge of the convex hull
 * of the unit vectors with at most k nonzero entries (Argyriou, Foygel and Srebro 2012; the form with theta is that of
 * McDonald, Pontil and Stamos 2014). Its dual norm is the 2-norm of the k largest entries.
 *
 * Norm, proximity operator and conjugate all have theta_i = clip(a |v_i| - beta, 0, 1) with one scalar a at which the
 * theta_i add up to k; only beta differs (0 for the norm). So all of them are one selection and one root.
 *
 *   ksupport.c          selection by histogram, the root, norms, vertex, conjugate
 *   ksupport_prox.c     the proximity operator in five forms
 *   ksupport_kernels.c  the loops over blocks of entries
 */
#ifndef CLV_SETS_KSUPPORT_H
#define CLV_SETS_KSUPPORT_H

#include "kernels/kernels.h"
#include "linalg/linalg.h"

/* Loops run over blocks of so many entries, whatever the number of threads. */
enum { CLV_KS_BLOCK = 8192, CLV_KS_BINS = 1 << 16, CLV_KS_BIN_SHIFT = 47 };

/* Work space for vectors of up to p entries. Nothing below allocates. */
typedef struct clv_ksupport_set {
    clv_context *ctx;
    int64_t p, k;
    int threads;
    double *band;        /* p: magnitudes gathered */
    int64_t *place;      /* 2 x (blocks + 1): counts of blocks, then where each block writes */
    double *partial;     /* 4 x blocks: sums of blocks */
    uint32_t *histogram; /* threads x bins */
    double *sorted;      /* p, and */
    double *spare;       /* 2 p, and */
    double *tail;        /* p + 1: for the proximity operator by sorting; NULL unless asked for */
    clv_kept room;       /* of these */
} clv_ksupport_set;

/* `sorting`: whether proximity operators that sort will be asked for. Threads of 1 or more. */
clv_status clv_ksupport_set_new(clv_context *ctx, int64_t p, int64_t k, int threads, bool sorting,
                                clv_ksupport_set *out);
void clv_ksupport_set_free(clv_ksupport_set *set); /* takes one that is all zero */
size_t clv_ksupport_set_memory(int64_t p, int threads, bool sorting);

/* The k-th largest magnitude of v[0..p-1] (0 for k > p); `above`: how many are larger. */
double clv_ksupport_rank(const clv_ksupport_set *set, const double *v, int64_t p, int64_t *above);
/* ||g||_(k)^2: the sum of the k largest squares. */
double clv_ksupport_dual_square(const clv_ksupport_set *set, const double *g, int64_t p);
/* (||w||_k^sp)^2 */
double clv_ksupport_square(const clv_ksupport_set *set, const double *w, int64_t p);
/* The places of the k largest magnitudes, ascending; ties to the smaller place, zeros never. Returns how many. */
int64_t clv_ksupport_vertex(const clv_ksupport_set *set, const double *g, int64_t p, int64_t *index /* k */);

/* Where theta_i = clip(a |v_i| - beta, 0, 1) adds up to k. */
typedef struct clv_ksupport_root {
    double a, beta;         /* a infinite: at most k entries are not 0, and theta is 1 for all */
    int64_t whole, between; /* entries with theta = 1, with 0 < theta < 1 */
} clv_ksupport_root;
clv_ksupport_root clv_ksupport_find_root(const clv_ksupport_set *set, const double *v, int64_t p, double beta);

/* sup_w <g, w> - tau/2 ||w||^2 - lambda (||w||_k^sp)^2, for tau >= 0. */
double clv_ksupport_conjugate(const clv_ksupport_set *set, const double *g, int64_t p, double lambda, double tau);

/* argmin_w 1/2 ||w - v||^2 + lambda (||w||_k^sp)^2; `out` may be v. The root says which entries are shrunk how. */
clv_ksupport_root clv_ksupport_set_prox(const clv_ksupport_set *set, clv_ksupport_form form, const double *v, int64_t p,
                                        double lambda, double *out);
/* argmin_w ||w - v|| over ||w||_k^sp <= radius; `out` is not v. */
void clv_ksupport_project(const clv_ksupport_set *set, const double *v, int64_t p, double radius, double *out);

/* --- ksupport_prox.c, for ksupport.c, and what it takes from there --- */
clv_ksupport_root clv_ksupport_root_by_form(const clv_ksupport_set *set, clv_ksupport_form form, const double *v,
                                            int64_t p, double beta);
int64_t clv_ks_count_nonzero(const double *v, int64_t p);
typedef clv_ks_sums (*clv_ks_block_sums)(const double *b, int64_t n, double a, double beta);
/* Such sums over all blocks of v. */
clv_ks_sums clv_ks_add_sums(const clv_ksupport_set *set, clv_ks_block_sums of, const double *v, int64_t n, double a,
                            double beta);

#endif
