/* Warnings that a user can act on: what the data, the similarities and the clusters look like, and what to try. They
 * are about answers that are right and of no use, and none of them is about data in good order. What they suggest can
 * be done, has not been done already, and does not lead back. */
#ifndef CLV_ADVICE_H
#define CLV_ADVICE_H

#include "methods/methods.h"

#include "affinity/affinity.h"
#include "affinity/kinds.h"
#include "engine/result.h"

/* A run that is looked at, and what was seen. */
typedef struct clv_advice {
    clv_context *ctx;
    const clv_method *method;
    const clv_input *input;
    const void *options;           /* of the method, at their full size */
    const clv_affinity_info *info; /* NULL: the method takes no similarities */
    const clv_matrix *points;      /* NULL: there are none */
    clv_result *result;
    bool settled; /* nothing else has to be said */
    bool uneven;  /* columns vary by so much that --scale standard would change something */
    bool copied;  /* many objects are copies of others */
    bool useless; /* the similarities: what clusters look like follows from that */
} clv_advice;

enum { CLV_FEW_OBJECTS = 50 }; /* of fewer little is said */

/* advice_points.c, advice_similar.c, advice_clusters.c */
clv_status clv_advise_on_points(clv_advice *advice);
clv_status clv_advise_on_similarities(clv_advice *advice);
clv_status clv_advise_on_clusters(const clv_advice *advice);

#endif
