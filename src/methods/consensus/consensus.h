/* consensus: one clustering from several of the same objects.
 *
 * Inputs m = 1..M are partitions of n objects, or soft memberships. Stacked side by side they are F: row i has, for
 * each input that knows object i, its memberships there (one 1 in a partition), all divided by the root of the number
 * of these inputs. The co-association F F' is the share of the inputs that put two objects together; an input that
 * leaves an object out says nothing of it, and an object that all of them leave out has the label -1.
 *
 * The normalized cut of F F' is worked on in the space of F and never as n x n numbers: with s_c the sum of the rows of
 * cluster c, d_i = f_i . sum_j f_j the degree of an object and v_c the volume of a cluster,
 *
 *     ncut = 1/2 sum_c (1 - |s_c|^2 / v_c),
 *
 * so that a move of object i is judged for all k clusters by the products f_i . s_c: M k operations.
 *
 * Objects with the same row are one group, and move together. Nothing is lost by that: as part t of a group goes from
 * one cluster to another, |s - t f|^2 / (v - t d) and |s + t f|^2 / (v + t d) are convex in t, so their sum is largest
 * with all of it at one end. Some best partition splits no group, and where no group can be moved with gain no single
 * object can: the certificate, the largest gain from moving any one object, is that of all n objects.
 *
 * The eigenvalues of the normalized co-association are those of F'D^-1F, as wide as there are clusters in all inputs:
 * the bound costs n M^2. */
#ifndef CLV_CONSENSUS_H
#define CLV_CONSENSUS_H

#include "methods/methods.h"

/* Moves with less gain than this are rounding: that of ncut. */
#define CLV_CONSENSUS_GAIN 1e-12

/* The rows of F that differ, with how many objects have each. */
typedef struct clv_groups {
    clv_context *ctx;
    clv_kept kept;
    int64_t n, inputs, width; /* objects, M, columns of F */
    int64_t count;            /* of the groups */
    int64_t *first;           /* inputs + 1: where the columns of an input begin */
    int32_t *group;           /* n: the group of an object; -1: no input knows it */
    double *weight;           /* count: objects */
    int64_t *start;           /* the rows, CSR: n + 1, of which count + 1 are used */
    int32_t *index;
    double *value;
    double *degree, *square; /* count: f . sum_j f_j, |f|^2 */
    double *known;           /* count: inputs that know it */
} clv_groups;

/* From labels (one column per input) or, with widths, from memberships side by side. To be freed also on failure. */
clv_status clv_groups_new(clv_context *ctx, const clv_matrix *m, const clv_matrix *widths, clv_groups *g);
void clv_groups_free(clv_groups *g);
size_t clv_groups_bytes(const clv_matrix *m);
/* The label that an input gives a group, its largest membership; -1: none. */
int32_t clv_groups_label(const clv_groups *g, int64_t input, int64_t group);

/* Work of so many multiplications takes a moment: a start is worth it, whatever the time. */
#define CLV_CONSENSUS_MOMENT ((int64_t)1 << 26)
/* The largest eigenvalues of the normalized co-association, `count` of them (zeros beyond its rank), and unless
 * `vectors` is NULL the eigenvectors of F'D^-1F, count x width. */
clv_status clv_consensus_spectrum(const clv_groups *g, int64_t count, uint64_t seed, double *values, double *vectors);
/* No partition into k clusters has a smaller cut. */
double clv_consensus_bound(const double *values, int64_t k);

/* What objective, certificate and everything else that is said of labels come from: sums over the clusters. */
typedef struct clv_sums {
    const clv_groups *groups;
    clv_kept kept;
    int64_t k;
    double *sum;    /* width x k: s_c, a row per column of F */
    double *volume; /* k */
    double *square; /* k: |s_c|^2 */
    double *size;   /* k: objects */
    double *dot;    /* k: work */
} clv_sums;

clv_status clv_sums_new(const clv_groups *g, int64_t k, clv_sums *s);
void clv_sums_free(clv_sums *s);
void clv_sums_clear(clv_sums *s);
/* So many objects of a group join a cluster (a negative number: leave it); then the squares. */
void clv_sums_add(clv_sums *s, int64_t group, int32_t cluster, double objects);
void clv_sums_square(clv_sums *s);
/* s->dot = f . s_c for all clusters. */
void clv_sums_dots(clv_sums *s, int64_t group);
/* How much the cut falls when so many objects of a group go from one cluster to another, after clv_sums_dots. */
double clv_sums_gain(const clv_sums *s, int64_t group, int32_t from, int32_t to, double objects);
double clv_sums_cut(const clv_sums *s);

/* The best partition into k clusters that the search finds, as labels of the objects, and what the driver says of it.
 */
clv_status clv_consensus_search(const clv_groups *g, const clv_consensus_options *options, clv_result *result);

/* Derived fields of labels: confidence of the objects, agreement of the inputs, the medoid. */
clv_status clv_consensus_describe(const clv_groups *g, const int32_t *labels, int64_t k, clv_result *out);
/* The input that agrees best with the others, by the mean adjusted Rand index. */
clv_status clv_consensus_medoid(const clv_groups *g, double *mean /* inputs */, int64_t *out);

/* Warnings, of a result that was described. */
clv_status clv_consensus_advise(const clv_groups *g, const clv_consensus_options *options, clv_result *result);

/* F F' as an affinity of all objects, with the dense F that it borrows. To be freed also on failure. */
typedef struct clv_association {
    clv_data *factor;
    clv_affinity *affinity;
} clv_association;
clv_status clv_association_new(const clv_groups *g, bool zero_diagonal, int64_t threads, clv_association *out);
void clv_association_free(clv_association *a);

/* The inner methods on F F': symnmf and dominant. */
const clv_method *clv_consensus_inner(const clv_consensus_options *options);
clv_status clv_consensus_solve_inner(const clv_groups *g, const clv_consensus_options *options, clv_result **out);
clv_status clv_consensus_evaluate_inner(const clv_groups *g, const clv_consensus_options *options,
                                        const clv_result *answer, clv_result *found);

CLV_METHOD_PARTS(consensus)

#endif
