/* Matrix pursuit: what its files share.
 *
 *   pursuit.c  options, the public functions, W as a sparse matrix and as an affinity
 *   kron.c     the design of the problem: samples are the n x d entries of the points, weights the n x n entries of W
 *   pull.c     the smooth half of admm, a system with all weights
 *   scan.c     the k largest entries of the gradient, found tile by tile
 */
#ifndef CLV_METHODS_PURSUIT_H
#define CLV_METHODS_PURSUIT_H

#include "methods/ksupport/ksupport.h"

/* Points P, one row per object, X = P', in units of a power of two that makes the largest entry about 1: neither floats
 * nor squares leave their range, and W is the same if lambda is in units of its square. Entry (i, j) of W has the place
 * i n + j; entry f of X W's column j, the margin of sample j d + f. So X W is W'P, and the gradient at the slope R (n x
 * d) is P R'. */
typedef struct clv_pursuit_points {
    clv_context *ctx;
    int64_t n, d;
    int threads;
    bool zero_diagonal; /* W has no diagonal */
    int exponent;       /* the unit is 2^exponent */
    double *points;     /* n x d */
    float *single;      /* n x d: the same as floats */
    double longest;     /* norm of a row */
} clv_pursuit_points;

/* What a run looks for the k largest entries of a gradient with, and what it pulls with. */
typedef struct clv_pursuit_work {
    const clv_pursuit_points *points;
    float *slope;           /* n x d */
    float *tile;            /* threads x CLV_PURSUIT_ROWS x n */
    int64_t *first, *count; /* a block of rows: where its candidates begin, how many */
    int64_t *candidate;     /* capacity */
    double *value;          /* capacity */
    int64_t *order;         /* capacity: candidates in the order of their places */
    int64_t capacity;
    double bar;  /* the k-th largest entry last time, 0 before */
    double keep; /* candidates are entries above keep times that */
    clv_ksupport_set set;
    int64_t *top;
    /* For admm (pull.c), made when first needed; m is the smaller one of n and d. */
    double *gram, *factor; /* m x m: P'P or P P', and what rho plus that is factored into */
    double *pulled;        /* n x m */
    double rho;            /* of the factor */
} clv_pursuit_work;

enum { CLV_PURSUIT_ROWS = 64 };

clv_status clv_pursuit_points_new(clv_context *ctx, const clv_matrix *points, bool zero_diagonal, int threads,
                                  clv_pursuit_points *out);
void clv_pursuit_points_free(clv_pursuit_points *points); /* takes one that is all zero */
/* The design over these points, which are borrowed. */
clv_design clv_pursuit_design(const clv_pursuit_points *points);

/* scan.c: a clv_design_functions.steepest */
clv_status clv_pursuit_steepest(const clv_design *x, void *work, const double *r, int64_t k, clv_list *out);

/* pull.c: clv_design_functions.pull and .scale; and the bytes that they take */
clv_status clv_pursuit_pull(const clv_design *x, void *work, const double *y, double rho, const double *v, double *w,
                            double *margin, double *gradient);
double clv_pursuit_scale(const clv_design *x);
size_t clv_pursuit_pull_memory(int64_t n, int64_t d);

/* --- the functions of the method: pursuit.c --- */
CLV_METHOD_PARTS(pursuit)

#endif
