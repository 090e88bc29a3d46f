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
    bool definite;            /* a positive definite function of the points: landmarks can stand for all of them */
    bool has_scales;          /* distances count in units of the objects' own (clv_scales) */
    bool is_graph;            /* joins near objects alone */
    bool needs_top;           /* is a difference from the largest distance */
    const char *no_newcomers; /* why it says nothing of new points; NULL: it does */
} clv_kind;
const clv_kind *clv_kind_of(clv_affinity_kind kind); /* takes any number */

/* Whether the options leave it to others which kind it is: they ask for nothing that one kind alone has. */
bool clv_kind_is_open(const clv_affinity_options *options);
/* Which of gaussian, local and local-knn suits points whose partitions by these agree so with the others': the last,
 * unless one agrees better by more than CLV_AGREEMENT_MARGIN, or nothing is known. */
#define CLV_AGREEMENT_MARGIN 0.1
clv_affinity_kind clv_agreed_kind(const double agreement[3]);

/* Distances between points within this have squares that are numbers; of points that all lie within the other they have
 * none but 0. */
#define CLV_LARGEST_POINT 1e150
#define CLV_SMALLEST_POINT 1e-150
/* check.c: refuse points that cannot be compared by squares. */
clv_status clv_points_check(clv_context *ctx, const clv_matrix *points);

/* kernel.c: squared distances to similarities of the kinds gaussian, exponential and distance, in place; of the
 * kind local from distances in units of its scales. */
void clv_to_similarity(clv_affinity_kind kind, double gamma, double top, double *d2, int64_t n);
/* The largest distance between two points; gamma by the rule in cleave.h. */
clv_status clv_largest_distance(clv_context *ctx, const clv_panels *panels, int threads, double *out);
clv_status clv_gamma_auto(clv_context *ctx, const clv_panels *panels, clv_affinity_kind kind, double *out);
/* Squared distances between pairs of different points: all, or as many drawn from a fixed seed; `inverse`: in units of
 * their scales, or NULL. Owned by the caller. */
clv_status clv_sample_distances(clv_context *ctx, const clv_panels *panels, const double *inverse, double **out,
                                int64_t *count);

/* scales.c: the scales of self-tuned similarities. */
typedef struct clv_scales {
    double *inverse; /* 1 / s_i, up to a whole panel; NULL: there are none */
    double least;    /* that a scale may be */
    double recall;   /* of the search for neighbors; NaN: exact */
} clv_scales;
/* Free it also on failure. */
clv_status clv_scales_new(clv_context *ctx, const clv_panels *panels, const clv_affinity_options *options, int threads,
                          clv_scales *out);
/* The inverse scales of new points, up to a whole panel; the caller's, also on failure. */
clv_status clv_scales_fresh(clv_context *ctx, const clv_panels *fresh, const clv_panels *old, const clv_scales *scales,
                            int64_t q, int threads, double **out);
void clv_scales_free(clv_context *ctx, clv_scales *scales);
/* Squared distances of a tile in units of the scales. */
void clv_scales_tile(const double *rows, const double *cols, double *tile);
/* The most that is held while they are found. */
int64_t clv_scales_peak(int64_t n, int64_t features, const clv_affinity_options *options);

/* lowrank.c: left right' for `rows` x rank and n x rank factors, negative entries as 0; and the factor of the cosine
 * affinity, rows x (cols + 1). */
void clv_lowrank_product(const double *left, int64_t rows, const double *right, int64_t n, int64_t rank, double *out);
void clv_cosine_factor(const clv_matrix *points, double *out);

/* knn.c: by kind, neighbors, gamma, zero_diagonal and search of the options. Graph and order are the caller's. */
typedef struct clv_knn {
    clv_data *graph;
    int64_t *order; /* of the objects, such that near ones are near each other */
    double recall;  /* NaN after an exact search */
} clv_knn;
/* The most that is held meanwhile, if the graph takes so many bytes. */
int64_t clv_knn_peak(int64_t n, int64_t features, const clv_affinity_options *options, int64_t graph);
clv_status clv_knn_graph(clv_context *ctx, const clv_panels *panels, const clv_affinity_options *options, int threads,
                         clv_knn *out);
/* How many neighbors of an object its graph has. */
int64_t clv_knn_neighbors(clv_affinity_kind kind, int64_t neighbors, int64_t n);
/* The same weights from each point of `fresh` to its nearest in `panels`: CSR. Inverse scales of these, and of those,
 * or NULL. */
typedef struct clv_knn_weights {
    double gamma;
    const double *fresh, *old;
} clv_knn_weights;
clv_status clv_knn_cross(clv_context *ctx, const clv_panels *fresh, const clv_panels *panels, int64_t neighbors,
                         const clv_knn_weights *weights, int threads, clv_data **out);

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
