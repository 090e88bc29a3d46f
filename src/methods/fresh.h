/* Labels of new objects from their similarities to the clustered ones: what the rules of the methods share. */
#ifndef CLV_FRESH_H
#define CLV_FRESH_H

#include "affinity/affinity.h"
#include "engine/result.h"

#include <float.h>

/* A similarity that cannot be one. */
typedef struct clv_fault {
    int64_t object; /* -1: there is none */
    double value;
} clv_fault;

/* The label of the new object in a row of `cross`, by way of k numbers at `similar`; a similarity that it uses and that
 * clv_is_similarity refuses is left in `fault`. */
typedef int32_t (*clv_fresh_rule)(const void *user, const clv_matrix *cross, int64_t row, double *similar,
                                  clv_fault *fault);

typedef struct clv_labeler {
    clv_context *ctx;
    clv_fresh_rule rule;
    const void *user; /* for the rule */
    int64_t k;
    double least; /* a similarity may not be below this: 0, or less where the method has a shift */
    int threads;
    double *similar; /* threads x k */
    int32_t *out;    /* a label for each new object */
} clv_labeler;

static inline bool clv_is_similarity(double value, double least) {
    return value >= least && value <= DBL_MAX; /* a NaN is neither */
}

/* The value stored at a place. */
static inline double clv_stored_value(const clv_matrix *m, int64_t at) {
    return m->scalar == CLV_F32 && !clv_is_sparse(m) ? (double)((const float *)m->values)[at]
                                                     : ((const double *)m->values)[at];
}

/* A prediction for m new objects of a result on the affinity `a`: room for their labels. */
clv_status clv_prediction_new(clv_context *ctx, const clv_result *result, const clv_affinity *a, int64_t m,
                              clv_result **out);
/* Whether there is a column for each of the n clustered objects. */
clv_status clv_fresh_check(clv_context *ctx, const clv_matrix *cross, int64_t n);
/* Labels from such similarities, dense or CSR. */
clv_status clv_fresh_label(clv_labeler *fresh, const clv_matrix *cross);
/* Labels of points, a block of similarities at a time. */
clv_status clv_fresh_label_points(clv_labeler *fresh, const clv_cross *cross, const clv_matrix *points);

#endif
