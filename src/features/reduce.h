/* The sparse product that the reduction spends its time in (spmm.c). */
#ifndef CLV_FEATURES_REDUCE_H
#define CLV_FEATURES_REDUCE_H

#include "kernels/kernels.h"
#include "linalg/linalg.h"

/* y = M x for CLV_SPMM_WIDTH vectors side by side: x (cols x width), y (rows x width). M is CSR. Rows are shared among
 * the threads; each is added up by one, in order. */
void clv_spmm(const clv_matrix *m, const double *x, double *y, int threads);

#endif
