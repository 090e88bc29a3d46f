/* A range of k: a row for each, and the k that the rows suggest. */
#ifndef CLV_RANGE_H
#define CLV_RANGE_H

#include "methods/methods.h"

enum { CLV_SUBSAMPLES = 6 };

/* What is known of one k; NaN: not known. */
typedef struct clv_k_row {
    int64_t k;
    double objective, gap_percent, eigengap, silhouette;
    double stability, spread; /* the mean agreement of runs on subsamples with the run on all, and its deviation */
    double seconds;
    double gamma;  /* of the affinity; NaN: it has none */
    int64_t empty; /* clusters that no object has the label of: there are fewer than k */
    clv_stop stop;
} clv_k_row;

/* The row that the rule of the documentation takes, and why, in a phrase. `by_gap`: by the eigenvalues, where they are
 * known, as every k is stable: the objects of a consensus hang together in groups whatever part of them is there. */
int64_t clv_k_suggest(const clv_k_row *rows, int64_t count, bool by_gap, char *reason, size_t size);
/* Whether it is known of the rows that the clusters of none hold on subsamples, and the other columns do not speak for
 * the one that is suggested. */
bool clv_k_is_doubtful(const clv_k_row *rows, int64_t count);

#endif
