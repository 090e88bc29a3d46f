/* Additions to the library as a newcomer would write them: a method (method.c) and a home of the affinity (home.c),
 * each in one file that nothing else of the library knows. CONTRIBUTING.md explains them; main.c runs them. */
#ifndef TESTS_EXTEND_H
#define TESTS_EXTEND_H

#include "methods/methods.h"

/* k centers among the objects, none of them far from its nearest one (method.c). */
typedef struct kcenter_options {
    clv_control control;
    int64_t k;
    int64_t first;
} kcenter_options;

extern const clv_method kcenter_method;

/* n objects in a ring, a_ij = 1 / (1 + steps from i to j) (home.c); `serial`: called by one thread at a time. */
clv_status ring_affinity(clv_context *ctx, int64_t n, bool serial, clv_affinity **out);
extern const struct clv_home_maker ring_maker;

/* What the command does for methods of all shapes (shapes.c): no clustering, only output of every kind.
 *   soft DATA   on points: memberships, centers; labels and memberships of new objects
 *   hard DATA   on an affinity: labels, which are all the membership there is
 *   fit X Y     two operands, weights, no labels */
extern const clv_method soft_method, hard_method, fit_method;

#endif
