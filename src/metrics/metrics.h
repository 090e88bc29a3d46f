/* metrics: what the measures of a labeling share. Labels are renumbered, and two labelings meet in a table of counts
 * that holds its nonzero cells only, so that n singletons against n singletons take n cells and not n^2. */
#ifndef CLV_METRICS_H
#define CLV_METRICS_H

#include "base/base.h"

/* --- labels (labels.c) --- */

/* Sort n keys by their bits from `shift` on, a multiple of 8; those that agree in these stay in order. `buffer` has
 * room for n. O(n) for each byte in which the keys differ. */
void clv_sort_keys(uint64_t *keys, uint64_t *buffer, int64_t n, int shift);
/* Refuse labels below -1, and more labels than an int32_t can count. `what` names them in the message. */
clv_status clv_labels_check(clv_context *ctx, const char *what, const int32_t *labels, int64_t n);
/* ids[i] = the rank of labels[i] among the labels that occur, or -1 where labels[i] is -1; *count = how many occur.
 * `ids` may be `labels`. */
clv_status clv_labels_compress(clv_context *ctx, const int32_t *labels, int64_t n, int32_t *ids, int64_t *count);

/* --- the table of counts (contingency.c) --- */

typedef struct clv_contingency {
    clv_kept kept;
    int64_t objects, classes, clusters, cells;
    int64_t *start;        /* classes + 1: the cells of a class */
    int32_t *cluster;      /* cells: ascending within a class */
    int64_t *count;        /* cells: above 0 */
    int64_t *class_size;   /* classes */
    int64_t *cluster_size; /* clusters */
} clv_contingency;

/* Of the objects that neither labeling leaves out. */
clv_status clv_contingency_new(clv_context *ctx, const int32_t *truth, const int32_t *labels, int64_t n,
                               clv_contingency *out);
void clv_contingency_free(clv_contingency *table);
/* Of the counts and sizes alone; counts of 0 may be among them. */
double clv_adjusted_rand(const clv_contingency *table);

/* --- the best one-to-one matching of classes to clusters (matching.c): how many objects it covers --- */

clv_status clv_match(const clv_contingency *table, int64_t *covered);
/* The two ways, for tests: by the whole table and clv_assign, or cell by cell in O(cells) memory. */
clv_status clv_match_dense(const clv_contingency *table, int64_t *covered);
clv_status clv_match_sparse(const clv_contingency *table, int64_t *covered);

#endif
