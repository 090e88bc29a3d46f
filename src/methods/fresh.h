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

/* Who wants the similarities of new objects to the n clustered ones: a rule that labels them, or any other use. */
typedef struct clv_fresh_reader {
    clv_context *ctx;
    const clv_affinity *affinity; /* not looked at where similarities are given */
    int64_t n;
    int threads;
    double least; /* a similarity may not be below this: 0, or less where the method has a shift */
    void *user;   /* for the functions */
    /* NULL, or what comes before the first similarity, with what makes them (NULL: they are given). */
    clv_status (*prepare)(void *user, clv_cross *cross);
    clv_fresh_rule rule;
    clv_cross_use use; /* instead of a rule */
    clv_result *out;   /* the prediction that a rule makes */
    double *similar;   /* threads x k: work of the rule */
} clv_fresh_reader;

static inline bool clv_is_similarity(double value, double least) {
    return value >= least && value <= DBL_MAX; /* a NaN is neither */
}

/* A prediction for the new objects of a result on the affinity `a` (NULL: not looked at): room for their labels. */
clv_status clv_prediction_new(clv_context *ctx, const clv_result *result, const clv_affinity *a, const clv_fresh *fresh,
                              clv_result **out);
/* Similarities that are given at once, those of points a block at a time; a rule sets labels and sizes. */
clv_status clv_fresh_read(clv_fresh_reader *reader, const clv_fresh *fresh);
/* The failure of a similarity of new object number `object`. */
clv_status clv_fresh_fault(const clv_fresh_reader *reader, int64_t object, clv_fault fault);

#endif
