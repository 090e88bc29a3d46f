/* The affinity operator as methods, metrics and reports use it, beyond what cleave.h has of it. Which home A has is
 * nobody's business here: ask what things cost (clv_affinity_info), or for a capability. */
#ifndef CLV_AFFINITY_H
#define CLV_AFFINITY_H

#include "linalg/distance.h"
#include "linalg/linalg.h"

/* Ranks share passes by blocks of so many objects: whole tiles, and whatever else the homes take at once. */
enum { CLV_SHARE = 256 };

/* The matrix as it lies in memory, dense or CSR with ascending columns; false: nowhere. Where clv_affinity_has_diagonal
 * says no, what is stored on the diagonal counts as 0. */
bool clv_affinity_view(const clv_affinity *a, clv_matrix *out);
/* Where several processes hold a part each: the columns of this one's objects, `first` and those that follow, of all
 * rows (n x out->cols); false: it is in no parts. */
bool clv_affinity_part(const clv_affinity *a, clv_matrix *out, int64_t *first);
/* The points that it was made of, one for each object; NULL: of none. */
const clv_matrix *clv_affinity_points(const clv_affinity *a);
/* Whether its gamma was left to the library. */
bool clv_affinity_has_own_gamma(const clv_affinity *a);
/* F, n x rank doubles, of an affinity F F' (but for the diagonal, which clv_affinity_diagonal has); false: it has none.
 */
bool clv_affinity_factor(const clv_affinity *a, clv_matrix *out);
/* Entries of different objects fall with the squared distance of their points, and the fall slows down: a convex
 * function of it, clv_to_similarity. */
typedef struct clv_radial {
    const clv_panels *points;
    clv_affinity_kind kind;
    double gamma, top;
} clv_radial;
/* False: no such points are known. */
bool clv_affinity_radial(const clv_affinity *a, clv_radial *out);
/* An order of the objects in which similar ones are near each other; NULL: none is known. */
const int64_t *clv_affinity_order(const clv_affinity *a);
/* Whether an object may be similar to itself. */
bool clv_affinity_has_diagonal(const clv_affinity *a);
clv_context *clv_affinity_context(const clv_affinity *a);
/* The bytes that the context may hold, by the options of the affinity. */
size_t clv_affinity_budget(const clv_affinity *a);
/* A number that no entry exceeds; HUGE_VAL where none is known without looking at all of them. */
clv_status clv_affinity_largest(const clv_affinity *a, double *out);
/* Whether A times a vector costs less than the columns that it is a sum of. */
static inline bool clv_affinity_has_cheap_products(const clv_affinity_info *info) {
    return info->cost.pass < (double)info->n * info->cost.column;
}

/* Column i with threads, where they pay: the bits of clv_affinity_column. */
clv_status clv_affinity_column_threads(const clv_affinity *a, int64_t i, double *out, int64_t threads);
/* The operator on objects[0..m-1] of `base` (distinct, in any order) as one of its own, with the bits of the base's
 * entries, compact if the home can: every function costs what the chosen objects cost. `base` must outlive it. */
clv_status clv_affinity_subset(const clv_affinity *base, const int64_t *objects, int64_t m, clv_affinity **out);
/* clv_affinity_group_sums, clv_affinity_move_many and clv_affinity_apply for descents and starts whose end is computed
 * again: sums may be off by CLV_ROUGH of themselves (moves: of what is moved; products: of those of magnitudes), where
 * the home is faster that way. False: its sums are exact. */
#define CLV_ROUGH 1e-6
bool clv_affinity_is_rough(const clv_affinity *a);
clv_status clv_affinity_rough_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int64_t threads);
clv_status clv_affinity_rough_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int64_t threads);
clv_status clv_affinity_rough_moves(const clv_affinity *a, const int64_t *objects, const int32_t *before,
                                    const int32_t *after, int64_t count, double *y, int64_t threads);
/* Whether ranks had better follow moves each for its own objects, first..last - 1 (all, where they need not); and that:
 * clv_affinity_move_many for the sums of these. */
bool clv_affinity_shares_moves(const clv_affinity *a, int64_t *first, int64_t *last);
clv_status clv_affinity_move_own(const clv_affinity *a, const int64_t *objects, const int32_t *before,
                                 const int32_t *after, int64_t count, double *y, int64_t threads);
/* Sums by label (k x n) and degrees that stay where a home computes, for descents of which the sums are looked at only
 * at the end. *kept is NULL where the home keeps none, or has no room for them. */
clv_status clv_affinity_keep(const clv_affinity *a, int64_t k, const double *y, const double *degree, void **kept);
/* The bits of clv_affinity_rough_moves; own[i] is then the sum of object i to the label that it has after them. */
clv_status clv_affinity_kept_follow(const clv_affinity *a, void *kept, const int64_t *objects, const int32_t *before,
                                    const int32_t *after, int64_t count, double *own);
/* The label with the largest score (2 y_ci - degree_i ratio_c + s degree_i) inverse_c for each object, s = shift for
 * its own and -shift for others; its own gets margin 2 y_ci inverse_c more. Of others that are equal, by clv_prefers.
 */
typedef struct clv_kept_scores {
    const double *inverse, *ratio; /* k */
    double shift, margin;
    uint64_t ties;
} clv_kept_scores;
clv_status clv_affinity_kept_choose(const clv_affinity *a, void *kept, const clv_kept_scores *by, const int32_t *labels,
                                    int32_t *wanted);
clv_status clv_affinity_kept_back(const clv_affinity *a, void *kept, double *y);
void clv_affinity_let_go(const clv_affinity *a, void *kept); /* takes NULL */
/* Of two labels equally good for object i, other than its own, whether `left` is preferred: at random, but fixed by
 * `ties`. */
static inline bool clv_prefers(uint64_t ties, int64_t i, int32_t left, int32_t right) {
    uint64_t mixed = (ties ^ (uint64_t)i) * 0x9e3779b97f4a7c15u;
    return (((mixed ^ (mixed >> 29)) >> 7) & 1) ? left < right : left > right;
}
/* Sums over all pairs: of the entries, and of their squares. */
clv_status clv_affinity_moments(const clv_affinity *a, int64_t threads, double *sum, double *squares);
/* The entries between the objects first..first + count - 1: count x count. `first` is a multiple of CLV_TILE here and
 * below. */
clv_status clv_affinity_block(const clv_affinity *a, int64_t first, int64_t count, double *out);
/* What one thread does while the others go on with a change, once the CLV_SHARE columns around `at` are up to date. */
typedef struct clv_errand {
    int64_t at;
    void (*run)(void *user);
    void *user;
    bool done; /* set by a home that has done so */
} clv_errand;
/* A change of a factor for the objects first..first + count - 1: d of k x count, without gaps. */
typedef struct clv_change {
    int64_t first, count, k;
    const double *d;
    clv_errand *errand; /* or NULL */
} clv_change;
/* y += d A[first..first + count - 1, :] for y of k x n. */
clv_status clv_affinity_add_rows(const clv_affinity *a, const clv_change *change, double *y, int threads);
/* The same, off by CLV_ROUGH of the sum of magnitudes, where the home is faster that way and numbers are in the range
 * of floats. False: it is exact. `count` is at most CLV_SHARE. */
bool clv_affinity_adds_roughly(const clv_affinity *a);
clv_status clv_affinity_rough_add_rows(const clv_affinity *a, const clv_change *change, double *y, int threads);

/* build.c: the home to rebuild an affinity in that was kept in the home of this name: floats in floats; of all others
 * any, as they hold the same doubles. *planned: what is known of it in that home without building it.
 * CLV_EUSAGE: there is none of that name, or it cannot hold this affinity. */
clv_status clv_affinity_rehome(clv_context *ctx, const clv_matrix *points, const char *home,
                               clv_affinity_options *options, clv_affinity_info *planned);
/* This home, unless it is AUTO, which leaves the one that there is. */
void clv_affinity_ask(clv_affinity_options *options, clv_home home);
/* Whether that is the home of an affinity. */
bool clv_affinity_lives_in(const clv_affinity_info *info, const char *home);

/* halo.c: products of a graph by ranks that have their own entries of vectors, and those that their rows touch. */
typedef struct clv_halo {
    const clv_affinity *a; /* NULL: there is none */
    int64_t first, last;   /* own objects */
    int64_t block;         /* objects are shared in blocks */
    int64_t *border;       /* those with neighbors that another rank has, the ones of a rank after those of others */
    int64_t *ends;         /* and where they end */
    double *close;         /* of one vector, or of two side by side: entries of own objects, then of borders */
    clv_matrix rows;       /* of own objects, their columns numbered by these; */
    int64_t *start;        /* which has these */
    int32_t *index;
    int64_t *counts, *places; /* what is exchanged */
    clv_kept kept;
} clv_halo;
/* Whether ranks share such products with each other. */
bool clv_halo_suits(const clv_affinity *a, int64_t block);
clv_status clv_halo_new(const clv_affinity *a, int64_t block, clv_halo *out); /* freed also on failure */
void clv_halo_free(clv_halo *h);                                              /* takes one that is all zero */
/* Own entries of y from those of x; both are k x n, and k is 1 or 2. */
clv_status clv_halo_apply(const clv_halo *h, const double *x, int64_t k, double *y, int threads);

/* product.c: Y = X A for a k x n block X (borrowed) that changes for a few objects at a time. */
typedef struct clv_product {
    const clv_affinity *a;
    int64_t n, k;
    int threads;
    const double *x;
    double *y;         /* k x n; with a factor or several ranks up to date only after clv_product_values */
    clv_matrix factor; /* A = F F': F, or no rows */
    double *t;         /* k x rank: x F */
    double *excess;    /* n: what the diagonal has beyond that of F F'; NULL: nothing */
    bool rough;        /* products and changes may be rough; false at first */
} clv_product;
clv_status clv_product_new(const clv_affinity *a, int64_t k, const double *x, int threads, clv_product *out);
void clv_product_free(clv_product *p); /* takes one that is all zero */
/* Y from scratch. */
clv_status clv_product_begin(clv_product *p);
/* The rank that can look at the column of an object; -1: every rank can. The same for all CLV_SHARE objects of a block.
 */
int clv_product_owner(const clv_product *p, int64_t object);
/* Columns of Y for the objects first..first + count - 1, whose owner this rank is: k x count. */
void clv_product_columns(const clv_product *p, int64_t first, int64_t count, double *out);
/* X has changed by this. On return the errand is done, if only then. */
clv_status clv_product_change(clv_product *p, const clv_change *change);
/* All of Y. */
clv_status clv_product_values(clv_product *p);

/* reach.c: what weights near each other can do to objects far away, on an affinity that is radial. */
typedef struct clv_reach {
    clv_radial of;              /* without points: there is nothing to say */
    clv_panels center;          /* one point */
    double sum, offset, second; /* of the weights: their sum, how far their mean is from the center, and their mean
                                   squared distance from it */
} clv_reach;
clv_status clv_reach_new(const clv_affinity *a, clv_reach *out);
void clv_reach_free(clv_reach *reach); /* takes one that is all zero */
/* The mean of these weights (positive) becomes the center; squared distances of all objects from it. */
clv_status clv_reach_center(clv_reach *reach, const int64_t *objects, const double *weights, int64_t count,
                            double *distances, int threads);
/* These are the weights now. */
void clv_reach_weigh(clv_reach *reach, const int64_t *objects, const double *weights, int64_t count);
/* No entry of Ax exceeds this that belongs to an object without weight whose squared distance from the center is
 * `beyond` or more, if all objects with weight are within `within` (likewise), and weight of no more than `moved` has
 * changed its place among them since clv_reach_weigh. HUGE_VAL: not known. */
double clv_reach_bound(const clv_reach *reach, double within, double beyond, double moved);

/* cross.c: similarities of new points to those that an affinity was built of, a block of rows at a time. Free it also
 * on failure. */
typedef struct clv_cross {
    clv_context *ctx;
    const clv_affinity *home; /* that computes them, borrowed; NULL: this does, of what follows */
    int32_t *columns;         /* of the home; NULL: all */
    clv_affinity_kind kind;
    int64_t n, features, neighbors;
    double gamma, top;
    clv_panels panels; /* of the old points; not cosine */
    double *factor;    /* cosine */
    double *inverse;   /* 1 / s_i of the old points: local and local-knn */
    double least;      /* scale that a new point may have */
} clv_cross;
clv_status clv_cross_new(clv_context *ctx, const clv_affinity *a, int threads, clv_cross *out);
void clv_cross_free(clv_cross *cross);
/* Whether these points have the features of the old ones. */
clv_status clv_cross_check(const clv_cross *cross, const clv_matrix *fresh);
/* From now on only similarities to objects[0..count-1], ascending and at least one: a column each. Of a knn graph and
 * of local scales the nearest are among all objects: false, and nothing has changed. */
bool clv_cross_narrow(clv_cross *cross, const int64_t *objects, int64_t count);
/* A dense or CSR matrix, a row for each row of `part`. */
clv_status clv_cross_rows(const clv_cross *cross, const clv_matrix *part, int threads, clv_data **out);
/* All rows of `fresh`, a block at a time, so that they need not all fit: `use` gets a block and the number of its first
 * row. */
typedef clv_status (*clv_cross_use)(void *user, const clv_matrix *similarities, int64_t first);
clv_status clv_cross_blocks(const clv_cross *cross, const clv_matrix *fresh, int threads, clv_cross_use use,
                            void *user);

#endif
