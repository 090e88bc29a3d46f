/* Kinds of similarity: what homes, calibration and new points share of their formulas, and checks of given ones. */
#ifndef CLV_KINDS_H
#define CLV_KINDS_H

#include "linalg/distance.h"

/* What is known of a kind. To add one: a value of clv_affinity_kind (appended), a line of the table and its name in the
 * option `affinity` (both in build.c), its formula (clv_to_similarity, if it is one of distances), and a home whose
 * maker suits it. */
typedef struct clv_kind {
    const char *name;
    double largest;           /* that of an object to itself; HUGE_VAL: depends on the points */
    bool has_gamma;           /* falls with the distance as fast as gamma says, which can be calibrated */
    bool needs_top;           /* is a difference from the largest distance */
    const char *no_newcomers; /* why it says nothing of new points; NULL: it does */
} clv_kind;
const clv_kind *clv_kind_of(clv_affinity_kind kind); /* takes any number */

/* Distances between points within this have squares that are numbers; of points that all lie within the other they have
 * none but 0. */
#define CLV_LARGEST_POINT 1e150
#define CLV_SMALLEST_POINT 1e-150
/* check.c: refuse points that cannot be compared by squares. */
clv_status clv_points_check(clv_context *ctx, const clv_matrix *points);

/* kernel.c: squared distances to similarities of the kinds gaussian, exponential and distance, in place. */
void clv_to_similarity(clv_affinity_kind kind, double gamma, double top, double *d2, int64_t n);
/* The largest distance between two points; gamma by the rule in cleave.h. */
clv_status clv_largest_distance(clv_context *ctx, const clv_panels *panels, int threads, double *out);
clv_status clv_gamma_auto(clv_context *ctx, const clv_panels *panels, clv_affinity_kind kind, double *out);
/* Squared distances between pairs of different points: all, or as many drawn from a fixed seed. Owned by the caller. */
clv_status clv_sample_distances(clv_context *ctx, const clv_panels *panels, double **out, int64_t *count);

/* lowrank.c: left right' for `rows` x rank and n x rank factors, negative entries as 0; and the factor of the cosine
 * affinity, rows x (cols + 1). */
void clv_lowrank_product(const double *left, int64_t rows, const double *right, int64_t n, int64_t rank, double *out);
void clv_cosine_factor(const clv_matrix *points, double *out);

/* knn.c: by neighbors, gamma, zero_diagonal and search of the options. Graph and order are the caller's. */
typedef struct clv_knn {
    clv_data *graph;
    int64_t *order; /* of the objects, such that near ones are near each other */
    double recall;  /* NaN after an exact search */
} clv_knn;
/* The most that is held meanwhile, if the graph takes so many bytes. */
int64_t clv_knn_peak(int64_t n, int64_t features, const clv_affinity_options *options, int64_t graph);
clv_status clv_knn_graph(clv_context *ctx, const clv_panels *panels, const clv_affinity_options *options, int threads,
                         clv_knn *out);
/* The same weights from each point of `fresh` to its nearest in `panels`: CSR. */
clv_status clv_knn_cross(clv_context *ctx, const clv_panels *fresh, const clv_panels *panels, int64_t neighbors,
                         double gamma, int threads, clv_data **out);

/* check.c: square, finite, not below what the options allow, symmetric to rounding unless it is to be symmetrized; or a
 * sentence that says where not. */
clv_status clv_affinity_check(clv_context *ctx, const clv_matrix *given, const clv_affinity_options *options,
                              int threads);

/* symmetrize.c: (A + A')/2, into room for n x n numbers of the same type, or as CSR. */
static inline double clv_mean_of(double a, double b) {
    return 0.5 * a + 0.5 * b;
}
clv_status clv_symmetrize_dense(clv_context *ctx, const clv_matrix *given, int threads, void *out);
clv_status clv_symmetrize_sparse(clv_context *ctx, const clv_matrix *given, clv_data **out);

#endif
