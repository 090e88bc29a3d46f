/* The elementwise loops that everything else spends its time in. Compiled for several instruction sets; none of them
 * allocates. Every result entry depends on its own inputs only, so splitting a call never changes a result. */
#ifndef CLV_KERNELS_H
#define CLV_KERNELS_H

#include "base/base.h"

/* x[i] = exp(x[i]) for x[i] <= 0, to 2 units in the last place; below -708 it is 0. */
void clv_exp_nonpositive(double *x, int64_t n);
/* From squared distances d2, in place. */
void clv_gaussian(double *d2, int64_t n, double gamma);    /* exp(-gamma d2) */
void clv_exponential(double *d2, int64_t n, double gamma); /* exp(-gamma sqrt(d2)) */
void clv_complement(double *d2, int64_t n, double top);    /* max(top - sqrt(d2), 0) */
void clv_square_root(double *d2, int64_t n);
double clv_largest(const double *x, int64_t n);
double clv_smallest(const double *x, int64_t n);

/* y += x; y -= x */
void clv_accumulate(double *y, const double *x, int64_t n);
void clv_deduct(double *y, const double *x, int64_t n);
void clv_accumulate_f32(double *y, const float *x, int64_t n);
void clv_deduct_f32(double *y, const float *x, int64_t n);
/* y += (a + b) + (c + d): four rows for one pass over y. */
void clv_accumulate_four(double *y, const double *a, const double *b, const double *c, const double *d, int64_t n);
void clv_accumulate_four_f32(double *y, const float *a, const float *b, const float *c, const float *d, int64_t n);
/* y += w x; four rows for one pass over y, added one after the other: the same bits as four calls for one. */
void clv_add_weighted(double *y, double w, const double *x, int64_t n);
void clv_add_weighted_f32(double *y, double w, const float *x, int64_t n);
void clv_add_weighted_four(double *y, const double *w, const double *const *x, int64_t n);
void clv_add_weighted_four_f32(double *y, const double *w, const float *const *x, int64_t n);
/* The transpose of a 64 x 64 tile. */
void clv_transpose_tile(double *out, const double *tile);
void clv_widen(double *out, const float *x, int64_t n);
void clv_narrow(float *out, const double *x, int64_t n);

#endif
