/* The loops that everything else spends its time in, for the instruction set of the machine.
 *
 * Each kernel is written once, in the file of its family, over a vector type as wide as the registers are (vector.h);
 * set.c compiles all of them once per instruction set and puts them into a table. `clv_kernels` is the table that was
 * chosen when the library was loaded: the best one that the machine can run, or the one that CLEAVE_ISA names. None of
 * them allocates, none uses threads. A result does not depend on how its caller splits the work; between instruction
 * sets results agree to rounding. */
#ifndef CLV_KERNELS_H
#define CLV_KERNELS_H

#include "base/base.h"

enum {
    CLV_TILE = 64,   /* objects on a side of a tile of distances */
    CLV_ROW_PAD = 4, /* rows of points have a multiple of so many numbers, zeros at their end */
    CLV_LINE = 64,   /* bytes that rows of keys, weights and centers are padded to: the widest vector */
    /* Rows of a tile of keys: with 100 centers a tile of floats has 21 KiB. A multiple of the rows of a block. */
    CLV_TILE_ROWS = 48,
    CLV_MOST_TURNED = 128,     /* features of rows that are turned to find their nearest centers */
    CLV_PROJECTED_AT_ONCE = 4, /* rows that are projected side by side */
    CLV_FEW = 16,              /* weights in a list that is projected as such, at most */
    CLV_SPMM_WIDTH = 8         /* vectors that a sparse matrix is multiplied by at once */
};

/* Asks for memory before its turn: for parts of rows that lie farther from each other than the hardware looks ahead. */
static inline void clv_ask_for(const void *part, int64_t bytes) {
    for (int64_t line = 0; line < bytes; line += CLV_LINE) {
        __builtin_prefetch((const char *)part + line, 0, 2);
    }
}

/* The least key of a row, the second least, and where the least is: the first of equals. */
typedef struct clv_nearest {
    double key, next;
    int32_t center;
} clv_nearest;

/* A row of weights that are 0 but for weight[e] (float or double) at index[e], in rising order; count <= CLV_FEW. */
typedef struct clv_short_list {
    const int32_t *index;
    const void *weight;
    int64_t count;
} clv_short_list;

/* What became of a row of weights. */
typedef struct clv_projection {
    int64_t support;
    double sum;    /* of the weights: 1 but for rounding */
    double change; /* squared length of the step */
    double shift;  /* the weights are max(w - d / alpha - shift, 0) */
} clv_projection;

/* What becomes of bounds of the distances of objects to their own center (upper) and to all others (lower) when the
 * centers move; in units, each a little too large (apart: too small), k of each: how far a center went, how far any
 * other one went at most, how far the next center is. An object is settled while the square of its lower bound is more
 * than `gap` above that of the upper one. No center but a few, the movers, went farther than `rest`; `reach` is how far
 * the next mover is. */
typedef struct clv_slack {
    float *moved, *others, *apart, *reach;
    float gap, rest;
} clv_slack;

/* Rounding of floats that hold bounds. */
#define CLV_LOOSE 1e-6

/* Of a row w on the simplex with the gradient g: the first places of the least entry of g and of the largest where
 * w > 0 (-1: w is 0), and w.g less that least entry, which is what a Frank-Wolfe step promises. */
typedef struct clv_steepest {
    int64_t gainer, loser;
    double gap;
} clv_steepest;

/* Sums over a block of magnitudes b. root_sums: the number with a b >= 1 + beta, of those with beta < a b < 1 + beta
 * the number and the sum. norm_sums: the squares of the former, the sum of all others. conjugate_sums, with theta = a b
 * - beta between 0 and 1: the squares where theta is 1, the sum of all theta, that of b^2 theta / (theta + beta) over
 * the theta below 1. */
typedef struct clv_ks_sums {
    double whole, between, sum;
} clv_ks_sums;

typedef struct clv_slic_center {
    float color[3], x, y;
} clv_slic_center;

/* Kernels on numbers that are stored as floats, and on doubles. */
typedef struct clv_kernels_f32 {
#define REAL float
#include "kernels/table.h"
#undef REAL
} clv_kernels_f32;
typedef struct clv_kernels_f64 {
#define REAL double
#include "kernels/table.h"
#undef REAL
} clv_kernels_f64;

typedef struct clv_kernel_set {
    const char *name;

    /* --- similarities.h: in place. exp(x) for x <= 0, to 2 units in the last place, 0 below -708 --- */
    void (*exp_nonpositive)(double *x, int64_t n);
    void (*gaussian)(double *d2, int64_t n, double gamma);    /* exp(-gamma d2) */
    void (*exponential)(double *d2, int64_t n, double gamma); /* exp(-gamma sqrt(d2)) */
    void (*complement)(double *d2, int64_t n, double top);    /* max(top - sqrt(d2), 0) */
    void (*square_root)(double *d2, int64_t n);
    void (*scale_pairs)(double *d2, int64_t n, double own, const double *others); /* d2 (own others) */

    /* --- distances.h: panels are CLV_TILE objects side by side, feature by feature --- */
    /* out[r * CLV_TILE + c] = squared distance of object r of `left` and c of `right` */
    void (*distance_tile)(const double *left, const double *right, int64_t features, double *out);
    /* of one object, whose features are CLV_TILE apart, to those of `right` */
    void (*distance_line)(const double *x, const double *right, int64_t features, double *out);
    double (*distance)(const double *x, const double *y, int64_t features);
    /* out[t] = squared distance of x[t] and y[t], of such objects */
    void (*pair_distances)(const double *const *x, const double *const *y, int64_t count, int64_t features,
                           double *out);
    /* out[t] = squared distance of x to row which[t]; rows of a multiple of CLV_ROW_PAD numbers each */
    void (*row_distances)(const double *x, const double *rows, int64_t stride, const int32_t *which, int64_t count,
                          double *out);
    void (*transpose_tile)(double *out, const double *tile); /* CLV_TILE x CLV_TILE */

    /* --- reductions.h --- */
    double (*sum)(const double *x, int64_t n);
    double (*dot)(const double *x, const double *y, int64_t n);
    double (*largest)(const double *x, int64_t n);
    double (*smallest)(const double *x, int64_t n);
    int64_t (*place_of_largest)(const double *r, int64_t n);                      /* the first */
    int64_t (*place_of_least)(const double *r, const int32_t *at, int64_t count); /* the t with the least r[at[t]] */
    int64_t (*count_above)(const float *x, int64_t n, float bar);                 /* |x| >= bar */
    /* all x and y finite and at least `least`, |x - y| <= tolerance max(|x|, |y|) */
    bool (*all_alike)(const double *x, const double *y, int64_t n, double least, double tolerance);
    void (*steepest)(const double *g, const double *w, int64_t n, clv_steepest *out);

    /* --- columns.h --- */
    void (*add_products)(double *y, const double *a, const double *b, int64_t n); /* y += a b */
    void (*add_squares)(double *y, const double *x, double center, int64_t n);    /* y += (x - center)^2 */
    void (*widen)(double *out, const float *x, int64_t n);
    void (*narrow)(float *out, const double *x, int64_t n);

    /* --- norms.h: blocks of the k-support norm --- */
    void (*count_between)(const double *v, int64_t n, double low, double high, int64_t *above, int64_t *inside);
    /* The magnitudes in (low, high] of v, in order. */
    void (*gather_between)(const double *v, int64_t n, double low, double high, double *out);
    clv_ks_sums (*root_sums)(const double *b, int64_t n, double a, double beta);
    clv_ks_sums (*norm_sums)(const double *b, int64_t n, double a, double beta);
    clv_ks_sums (*conjugate_sums)(const double *b, int64_t n, double a, double beta);
    void (*shrink)(const double *v, int64_t n, double a, double beta, double *out);
    double (*squares_above)(const double *v, int64_t n, double low);

    /* --- rows.h: sparse rows, bounds, pixels --- */
    /* key = offset + sum over the nonzeros of value lines[index * width + ..] */
    void (*sparse_key_row)(const double *value, const int32_t *index, int64_t nonzeros, const double *lines,
                           const double *offset, int64_t width, double *key);
    /* y[0..CLV_SPMM_WIDTH - 1] = sum over the nonzeros of value x[index * CLV_SPMM_WIDTH + ..] */
    void (*sparse_times_row)(const double *value, const int32_t *index, int64_t nonzeros, const double *x, double *y);
    /* sums[c * width + j] += sum over e from first[c] to first[c + 1] - 1 of value[e] rows[index[e] * pitch + j], for k
     * sums; `width` is whole lines */
    void (*add_sparse_rows)(const int32_t *first, const int32_t *index, const float *value, int64_t k,
                            const float *rows, int64_t pitch, int64_t width, float *sums);
    /* open: objects that are not settled, and all with a label below 0; what becomes of their lower bound leaves out
     * the movers. */
    void (*loosen)(const clv_slack *slack, const int32_t *labels, int64_t count, float *upper, float *lower,
                   uint8_t *open);
    /* Where `center` is nearer to a pixel than what was nearest, that and `label` are written. `lab` points to the
     * three planes at the first pixel, `x` is its place. */
    void (*slic_row)(const float *const lab[3], int64_t count, float x, float y, const clv_slic_center *center,
                     float spread, int32_t label, float *nearest, int32_t *labels);

    clv_kernels_f32 f32;
    clv_kernels_f64 f64;
} clv_kernel_set;

extern const clv_kernel_set *clv_kernels;

/* All sets that this build has and this machine can run, from the plainest to the best; how many. */
int clv_kernel_sets(const clv_kernel_set **out /* CLV_KERNEL_SETS */);
/* What to tell an OpenBLAS that took the processor, whose best set is given, for `taken`; NULL: nothing (blas.c). */
const char *clv_blas_core_for(const char *taken, const char *best_set);
enum { CLV_KERNEL_SETS = 3 };

#endif
