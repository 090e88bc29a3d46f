/* The affinity operator: what a home supplies, and the constructors of the homes. */
#ifndef CLV_AFFINITY_H
#define CLV_AFFINITY_H

#include "linalg/distance.h"
#include "linalg/linalg.h"

/* Distances between points within this have squares that are numbers. */
#define CLV_LARGEST_POINT 1e150

/* Each of these objects i goes from label before[i] to after[i]; -1: from or to nowhere. */
typedef struct clv_moves {
    const int64_t *objects;
    const int32_t *before, *after;
    int64_t count;
} clv_moves;

/* The sum over j of weights[j] a_{., objects[j]}. Objects may come more than once. */
typedef struct clv_terms {
    const int64_t *objects;
    const double *weights;
    int64_t count;
} clv_terms;

/* What a home does. `move` may be NULL (then columns serve), `move_many` (then one move after the other), and the three
 * that product.c describes (then columns and entries); the others are required. */
typedef struct clv_home_functions {
    clv_status (*column)(const clv_affinity *a, int64_t i, double *out);
    clv_status (*apply)(const clv_affinity *a, const double *x, int64_t k, double *y, int threads);
    clv_status (*group_sums)(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads);
    void (*move)(const clv_affinity *a, int64_t i, double *from, double *to); /* rows of the sums, or NULL */
    void (*move_many)(const clv_affinity *a, const clv_moves *moves, double *y, int threads);
    clv_status (*moments)(const clv_affinity *a, int threads, double *sum, double *squares);
    void (*block)(const clv_affinity *a, int64_t first, int64_t count, double *out);
    void (*add_rows)(const clv_affinity *a, int64_t first, int64_t count, const double *d, int64_t k, double *y,
                     int threads);
    clv_status (*combine)(const clv_affinity *a, const clv_terms *terms, double *y, int threads);
    double (*entry)(const clv_affinity *a, int64_t i, int64_t j);
    void (*destroy)(clv_affinity *a); /* frees what the members of `state` own */
} clv_home_functions;

struct clv_affinity {
    clv_context *ctx;
    const clv_home_functions *home;
    clv_affinity_info info;
    size_t budget;
    int threads;        /* for writing it out */
    bool zero_diagonal; /* the objects have no similarity to themselves, whatever is stored */
    void *state;        /* the home's own struct, of the types below */
};

typedef struct clv_dense_home {
    const void *values; /* n x n; info.home says of which type */
    void *owned;        /* == values, or NULL when borrowed */
    double *diagonal;   /* stored diagonal to be taken out again, or NULL; see dense.c */
} clv_dense_home;

typedef struct clv_sparse_home {
    clv_matrix graph;
    clv_data *owned; /* or NULL when borrowed */
} clv_sparse_home;

typedef struct clv_computed_home {
    clv_panels panels;
    double gamma, top; /* top: max(D) of the kind distance */
} clv_computed_home;

typedef struct clv_lowrank_home {
    const double *factor; /* n x rank */
    double *owned;
    int64_t rank;
} clv_lowrank_home;

/* Minimax path distances by the order of the leaves of the single-linkage tree: between the leaves at positions s < t
 * the distance is max(gap[s], ..., gap[t - 1]). */
typedef struct clv_minimax_home {
    int64_t *leaf;     /* object at a position */
    int64_t *position; /* position of an object */
    double *gap;       /* n; the last is 0 */
    double top;        /* the largest gap */
} clv_minimax_home;

typedef struct clv_restricted_home {
    const clv_affinity *base;
    const int64_t *active;
} clv_restricted_home;

extern const clv_home_functions clv_dense_functions, clv_sparse_functions, clv_computed_functions,
    clv_lowrank_functions, clv_minimax_functions, clv_restricted_functions;

/* Row i as it is stored in a dense home of doubles or of floats; NULL: another home. With zero_diagonal a borrowed
 * matrix still has its diagonal there, which counts as 0. */
static inline const double *clv_dense_row64(const clv_affinity *a, int64_t i) {
    bool here = a->home == &clv_dense_functions && a->info.home == CLV_HOME_DENSE64;
    return here ? (const double *)((const clv_dense_home *)a->state)->values + i * a->info.n : NULL;
}
static inline const float *clv_dense_row32(const clv_affinity *a, int64_t i) {
    bool here = a->home == &clv_dense_functions && a->info.home == CLV_HOME_DENSE32;
    return here ? (const float *)((const clv_dense_home *)a->state)->values + i * a->info.n : NULL;
}
/* How many entries row i of a sparse home has, with pointers to them, ascending; -1: another home. With zero_diagonal
 * entry (i, i) may be among them, and counts as 0. */
static inline int64_t clv_sparse_row(const clv_affinity *a, int64_t i, const int32_t **index, const double **values) {
    *index = NULL;
    *values = NULL;
    if (a->home != &clv_sparse_functions) {
        return -1;
    }
    const clv_matrix *graph = &((const clv_sparse_home *)a->state)->graph;
    *index = graph->index + graph->start[i];
    *values = (const double *)graph->values + graph->start[i];
    return graph->start[i + 1] - graph->start[i];
}

/* An affinity with a zeroed state of `state_size` bytes; free with clv_affinity_free. */
clv_status clv_affinity_new(clv_context *ctx, const clv_home_functions *home, size_t state_size, clv_affinity **out);

/* Squared distances to similarities of the kinds gaussian, exponential and distance, in place. */
void clv_to_similarity(clv_affinity_kind kind, double gamma, double top, double *d2, int64_t n);
/* Similarities from a tile of squared distances between panels bi and bj, with the diagonal as asked for. */
void clv_similarity_tile(const clv_affinity *a, int64_t bi, int64_t bj, double *tile);

/* computed.c: similarities of object i to the objects of panel b. */
void clv_similarity_line(const clv_affinity *a, int64_t i, int64_t b, double *line);
/* combine.c: the computed home's; and column i with threads, where they pay: the bits of clv_affinity_column. */
clv_status clv_computed_combine(const clv_affinity *a, const clv_terms *terms, double *y, int threads);
clv_status clv_affinity_column_threads(const clv_affinity *a, int64_t i, double *out, int64_t threads);

/* subset.c: the operator on objects[0..m-1] of `base` (distinct, in any order) as one of its own, compact, with the
 * bits of the base's entries. Nothing is borrowed. */
clv_status clv_affinity_subset(const clv_affinity *base, const int64_t *objects, int64_t m, clv_affinity **out);

/* fill.c: write a home out as n x n numbers. */
clv_status clv_dense_fill(const clv_affinity *source, void *values, clv_scalar scalar, int threads);
/* lowrank.c: rows i0.. of the matrix, without regard to the diagonal. */
void clv_lowrank_rows(const clv_affinity *a, int64_t i0, int64_t rows, double *out);
/* left right' for `rows` x rank and n x rank factors, negative entries as 0; and the factor of the cosine affinity,
 * rows x (cols + 1). */
void clv_lowrank_product(const double *left, int64_t rows, const double *right, int64_t n, int64_t rank, double *out);
void clv_cosine_factor(const clv_matrix *points, double *out);
/* computed.c: the largest distance between two points; gamma by the rule in cleave.h. */
clv_status clv_largest_distance(clv_context *ctx, const clv_panels *panels, int threads, double *out);
clv_status clv_gamma_auto(clv_context *ctx, const clv_panels *panels, clv_affinity_kind kind, double *out);
/* Squared distances between pairs of different points: all, or as many drawn from a fixed seed. Owned by the caller. */
clv_status clv_sample_distances(clv_context *ctx, const clv_panels *panels, double **out, int64_t *count);

/* knn.c, minimax.c: from panels. The tree belongs to the caller also on failure. */
clv_status clv_knn_graph(clv_context *ctx, const clv_panels *panels, int64_t neighbors, double gamma, bool self,
                         int threads, clv_data **out);
/* The same weights from each point of `fresh` to its nearest in `panels`: CSR. */
clv_status clv_knn_cross(clv_context *ctx, const clv_panels *fresh, const clv_panels *panels, int64_t neighbors,
                         double gamma, int threads, clv_data **out);
clv_status clv_minimax_tree(clv_context *ctx, const clv_panels *panels, int threads, clv_minimax_home *out);

/* cross.c: similarities of new points to old ones, a block of rows at a time. Free it also on failure. */
typedef struct clv_cross {
    clv_context *ctx;
    clv_affinity_kind kind;
    int64_t n, features, neighbors;
    double gamma, top;
    clv_panels panels; /* of the old points; not cosine */
    double *factor;    /* cosine */
} clv_cross;
clv_status clv_cross_new(clv_context *ctx, const clv_affinity *a, const clv_matrix *points,
                         const clv_affinity_options *options, int threads, clv_cross *out);
void clv_cross_free(clv_cross *cross);
/* Whether these points have the features of the old ones. */
clv_status clv_cross_check(const clv_cross *cross, const clv_matrix *fresh);
/* From now on only similarities to objects[0..count-1], ascending and at least one: a column each. Of a knn graph the
 * nearest are among all objects: false, and nothing has changed. */
bool clv_cross_narrow(clv_cross *cross, const int64_t *objects, int64_t count);
/* A dense or CSR matrix, a row for each row of `part`. */
clv_status clv_cross_rows(const clv_cross *cross, const clv_matrix *part, int threads, clv_data **out);
/* All rows of `fresh`, a block at a time, so that they need not all fit: `use` gets a block and the number of its first
 * row. */
typedef clv_status (*clv_cross_use)(void *user, const clv_matrix *similarities, int64_t first);
clv_status clv_cross_blocks(const clv_cross *cross, const clv_matrix *fresh, int threads, clv_cross_use use,
                            void *user);

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

/* lowrank.c: t = x F (k x rank), the first half of a product; y = t F' over the objects first.. of k x count. */
void clv_lowrank_gather(const clv_affinity *a, const double *x, int64_t k, double *t, int threads);
void clv_lowrank_expand(const clv_affinity *a, const double *t, int64_t k, int64_t first, int64_t count, double *y,
                        int64_t stride);

/* product.c: a product that follows its factor.
 *
 * Sums over all pairs: of the entries, and of their squares. */
clv_status clv_affinity_moments(const clv_affinity *a, int64_t threads, double *sum, double *squares);
/* The entries between the objects first..first + count - 1: count x count. `first` is a multiple of CLV_TILE here and
 * below. */
void clv_affinity_block(const clv_affinity *a, int64_t first, int64_t count, double *out);

/* Y = X A for a k x n block X (borrowed) that changes for a few objects at a time. */
typedef struct clv_product {
    const clv_affinity *a;
    int64_t n, k;
    int threads;
    const double *x;
    double *y;      /* k x n; of a low-rank home up to date only after clv_product_values */
    double *t;      /* low rank: k x rank, x F */
    double *column; /* homes by columns: n */
} clv_product;
clv_status clv_product_new(const clv_affinity *a, int64_t k, const double *x, int threads, clv_product *out);
void clv_product_free(clv_product *p); /* takes one that is all zero */
size_t clv_product_memory(int64_t n, int64_t k);
/* Y from scratch. */
clv_status clv_product_begin(clv_product *p);
/* Rows of Y' for the objects first..first + count - 1: out[r * k + c]. */
void clv_product_rows(const clv_product *p, int64_t first, int64_t count, double *out);
/* X has changed by d (k x count, without gaps) for these objects. */
clv_status clv_product_change(clv_product *p, int64_t first, int64_t count, const double *d);
/* All of Y. */
const double *clv_product_values(clv_product *p);

/* affinity.c: a number that no entry exceeds; HUGE_VAL where none is known without looking at all of them. */
double clv_affinity_largest(const clv_affinity *a);
/* Sums and products from columns alone, for homes that have nothing better. */
clv_status clv_apply_by_columns(const clv_affinity *a, const double *x, int64_t k, double *y, int threads);
clv_status clv_group_sums_by_columns(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads);

#endif
