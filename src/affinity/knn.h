/* Nearest neighbors: what the exact search (nearest.c), the approximate one (forest.c) and the order of points that
 * both stand on (order.c) share. */
#ifndef CLV_KNN_H
#define CLV_KNN_H

#include "affinity/kinds.h"

#include <string.h>

typedef struct clv_neighbor {
    double d2;
    int64_t j;
} clv_neighbor;

/* Nobody: further than all. */
#define CLV_NO_NEIGHBOR ((clv_neighbor){HUGE_VAL, INT64_MAX})

/* The leading 32 bits of the digits of d2, which is not negative, in its order. Of points that are equally far one set
 * of instructions may round up and another down: what is told apart by more digits than these would depend on the set.
 */
static inline uint64_t clv_digits(double d2) {
    uint64_t bits;
    memcpy(&bits, &d2, sizeof bits);
    return (bits + (1 << 19)) >> 20;
}

static inline bool clv_further(const clv_neighbor *l, const clv_neighbor *r) {
    uint64_t left = clv_digits(l->d2), right = clv_digits(r->d2);
    return left > right || (left == right && l->j > r->j);
}

/* nearest.c: a list becomes one by j. */
void clv_sort_by_object(clv_neighbor *list, int64_t count);
/* The k nearest of each object, or of each fresh one, by number, into found[i * k + ..]. Nobody is its own. Ties go to
 * the object with the smaller number. `order` (n) becomes an order of the objects in which near ones are near. */
clv_status clv_nearest_exact(clv_context *ctx, const clv_panels *panels, int64_t k, int threads, clv_neighbor *found,
                             int64_t *order);
clv_status clv_nearest_among(clv_context *ctx, const clv_panels *fresh, const clv_panels *among, int64_t k, int threads,
                             clv_neighbor *found);

/* forest.c: the same, but for some; `recall` is the share of the nearest that was found, on a sample. For n and k that
 * it can be done for. */
bool clv_nearest_can_be_approximate(int64_t n, int64_t k);
int64_t clv_forest_bytes(int64_t n, int64_t k); /* beyond points and what it finds */
clv_status clv_nearest_approximate(clv_context *ctx, const clv_panels *panels, int64_t k, int threads,
                                   clv_neighbor *found, int64_t *order, double *recall);

/* knn.c: exact or approximate, as the options ask. `recall` is NaN after an exact search. */
clv_status clv_find_nearest(clv_context *ctx, const clv_panels *panels, const clv_affinity_options *options, int64_t k,
                            int threads, clv_neighbor *found, int64_t *order, double *recall);
/* scales.c: the scales of all objects from lists of k, the q-th smallest distance in each. Free it also on failure. */
clv_status clv_scales_from(clv_context *ctx, const clv_panels *panels, const clv_neighbor *found, int64_t k, int64_t q,
                           clv_scales *out);

/* Points one after the other, with zeros behind each up to the stride, a multiple of CLV_ROW_PAD. */
typedef struct clv_rows {
    int64_t n, features, stride;
    double *values; /* n x stride */
} clv_rows;

/* order.c: a failure when the search is to stop, of which so much has been done since it was last asked. */
clv_status clv_search_on(clv_context *ctx, int64_t work);
/* An order of the objects in which near ones are near each other, in leaves of `leaf` (the last: what is
 * left). From all down to a leaf, halves are split at the median along the widest column, or, with a seed other than 0,
 * along the line through two points drawn at random. */
clv_status clv_tree_order(clv_context *ctx, const clv_rows *points, int64_t leaf, uint64_t seed, int threads,
                          int64_t *order);
clv_status clv_rows_new(clv_context *ctx, const clv_panels *panels, int threads, clv_rows *out);

#endif
