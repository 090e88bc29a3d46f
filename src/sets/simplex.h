/* The simplex {x >= 0, sum of x = 1}. */
#ifndef CLV_SIMPLEX_H
#define CLV_SIMPLEX_H

#include "linalg/linalg.h"

/* The n numbers x[0], x[stride], x[2 stride], ... become the nearest point of the simplex. */
void clv_simplex_project(double *x, int64_t n, int64_t stride);

/* The x on the simplex that minimizes 1/2 x'Mx - q'x for M = Z'Z (n x n) and q = Z'b: the least |Zx - b|. `work` has
 * room for clv_simplex_qp_work(n) doubles, `support` for n indices. Returns the gap that is left, max over s of (Mx -
 * q)'(x - s): rounding of the entries of M and q. */
double clv_simplex_qp(const double *m, const double *q, int64_t n, double *x, double *work, int64_t *support);
int64_t clv_simplex_qp_work(int64_t n);

#endif
