/* Largest eigenpairs of a symmetric operator that is applied to blocks of vectors (krylov.c). */
#ifndef CLV_KRYLOV_H
#define CLV_KRYLOV_H

#include "linalg/linalg.h"

/* y = A x for `count` vectors of n entries, a row each. */
typedef clv_status (*clv_block_operator)(void *user, const double *x, int64_t count, double *y);

typedef struct clv_krylov {
    clv_context *ctx;
    int64_t n, count;      /* pairs wanted */
    int64_t block;         /* vectors to a product */
    int64_t basis;         /* vectors held: at least count + 2 block, and well below the dimension */
    int64_t cycles;        /* the basis is filled at most so many times */
    bool eager;            /* look after every product whether it was the last: products cost more than looking */
    bool check;            /* look for copies of multiple eigenvalues that were missed; for blocks below their number */
    int64_t check_basis;   /* vectors after which that is decided; 0: a full basis */
    const double *support; /* n: the operator acts on vectors that vanish where this is 0; NULL: on all */
    int64_t exact;         /* the first of `vectors` are orthonormal eigenvectors, to the largest eigenvalue */
    double top;            /* that eigenvalue */
    int64_t guessed;       /* the ones after those are guesses */
    clv_block_operator apply;
    bool own_entries; /* of several ranks each has the entries of x of its share alone, of blocks of
                         clv_krylov_chunk(n), and gives those of y */
    /* How a residual (or a difference of values) at an eigenvalue compares with what is allowed: at most 1 is good. */
    double (*excess)(void *user, double value, double residual);
    void *user;
    uint64_t seed;
    int threads;
} clv_krylov;

/* values (count, the largest first), unit vectors (count x n). Without convergence in time these are the best there
 * are. `lowest`, unless NULL, is an estimate from below of the least eigenvalue. */
clv_status clv_krylov_solve(const clv_krylov *plan, double *values, double *vectors, double *lowest, bool *converged);
/* Entries that are summed up together, and that ranks share as a whole. */
int64_t clv_krylov_chunk(int64_t n);
/* Bytes that it holds at most, beside values and vectors. */
size_t clv_krylov_memory(const clv_krylov *plan);

#endif
