/* For those who write a home of the affinity: what a home supplies, and what it is made of. A home is one file, which
 * nothing but build.c names; methods see affinity.h only. CONTRIBUTING.md has the page for newcomers. */
#ifndef CLV_HOME_H
#define CLV_HOME_H

#include "affinity/affinity.h"
#include "base/ranks.h"

#include <pthread.h>

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

/* Rows first..first + count - 1 of n x n numbers of a type, to be written. */
typedef struct clv_sheet {
    void *values;
    clv_scalar scalar;
    int64_t n, first, count;
    bool turned; /* as columns: n x count */
} clv_sheet;
/* Row i from column j on = line[0..count-1], if the sheet has that row. */
void clv_sheet_line(const clv_sheet *sheet, int64_t i, int64_t j, const double *line, int64_t count);

/* What a home does. Any of it may fail. `column` and `destroy` are required; what else is NULL comes from columns
 * (fallback.c), or is a capability that the home does not have. Objects and labels have been checked. No result may
 * depend on the number of threads. */
typedef struct clv_home_functions {
    const char *name;  /* what clv_affinity_info.home says */
    size_t state_size; /* of the struct behind clv_affinity.state */
    bool serial;       /* called by one thread at a time and with threads = 1, whatever the callers do */

    /* As clv_affinity_column, ..., where nothing else is said. */
    clv_status (*column)(const clv_affinity *a, int64_t i, double *out);
    void (*destroy)(clv_affinity *a); /* frees what the members of `state` own, also of a home left half-made */

    clv_status (*column_threads)(const clv_affinity *a, int64_t i, double *out, int threads); /* the bits of column */
    clv_status (*entry)(const clv_affinity *a, int64_t i, int64_t j, double *out);
    clv_status (*diagonal)(const clv_affinity *a, double *out);
    clv_status (*apply)(const clv_affinity *a, const double *x, int64_t k, double *y, int threads);
    clv_status (*group_sums)(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads);
    /* As apply, group_sums, move_many and add_rows, with errors of up to CLV_ROUGH of the sums where that is faster. */
    clv_status (*rough_apply)(const clv_affinity *a, const double *x, int64_t k, double *y, int threads);
    clv_status (*rough_sums)(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads);
    clv_status (*rough_moves)(const clv_affinity *a, const clv_moves *moves, double *y, int threads);
    clv_status (*move)(const clv_affinity *a, int64_t i, double *from, double *to); /* rows of the sums, or NULL */
    clv_status (*move_many)(const clv_affinity *a, const clv_moves *moves, double *y, int threads);
    /* The same for the sums of this rank's own objects alone; NULL: it has no way to do less than all. */
    clv_status (*move_own)(const clv_affinity *a, const clv_moves *moves, double *y, int threads);
    clv_status (*combine)(const clv_affinity *a, const clv_terms *terms, double *y, int threads);
    clv_status (*moments)(const clv_affinity *a, int threads, double *sum, double *squares);
    clv_status (*block)(const clv_affinity *a, int64_t first, int64_t count, double *out);
    clv_status (*add_rows)(const clv_affinity *a, const clv_change *change, double *y, int threads);
    clv_status (*rough_add_rows)(const clv_affinity *a, const clv_change *change, double *y, int threads);
    /* The rows of the sheet; the same bits whichever rows come with them. */
    clv_status (*fill)(const clv_affinity *a, const clv_sheet *out, int threads);
    /* As clv_affinity_subset; begins with clv_affinity_like. What it has made is freed for it when it fails. */
    clv_status (*subset)(const clv_affinity *a, const int64_t *objects, int64_t m, clv_affinity **out);
    clv_status (*largest)(const clv_affinity *a, double *out);
    /* out[r * count + c]: of new point r and object columns[c] (NULL: of all, count = n). NULL: cross.c computes them.
     */
    clv_status (*cross)(const clv_affinity *a, const clv_matrix *fresh, const int32_t *columns, int64_t count,
                        double *out);
    clv_status (*cost)(const clv_affinity *a, clv_affinity_cost *out);

    /* Capabilities: as clv_affinity_view, clv_affinity_part, clv_affinity_factor, clv_affinity_radial and
     * clv_affinity_order. */
    clv_status (*view)(const clv_affinity *a, clv_matrix *out);
    clv_status (*part)(const clv_affinity *a, clv_matrix *out, int64_t *first);
    clv_status (*factor)(const clv_affinity *a, clv_matrix *out);
    clv_status (*radial)(const clv_affinity *a, clv_radial *out);
    const int64_t *(*order)(const clv_affinity *a);
    /* Some rows of `apply`, with a sparse view, by this rank alone: these, whose columns may have other numbers (of the
     * diagonal, that of the row), times a vector, or two that are side by side (x[2 j], x[2 j + 1]). The second
     * product is n entries after the first. */
    void (*apply_rows)(const clv_affinity *a, const clv_matrix *rows, const double *x, int64_t width, double *y,
                       int threads);
    /* And, all of them or none, as clv_affinity_keep and those after it. */
    clv_status (*keep)(const clv_affinity *a, int64_t k, const double *y, const double *degree, void **kept);
    clv_status (*kept_follow)(const clv_affinity *a, void *kept, const clv_moves *moves, double *own);
    clv_status (*kept_choose)(const clv_affinity *a, void *kept, const clv_kept_scores *by, const int32_t *labels,
                              int32_t *wanted);
    clv_status (*kept_back)(const clv_affinity *a, void *kept, double *y);
    void (*let_go)(const clv_affinity *a, void *kept);
} clv_home_functions;

struct clv_affinity {
    clv_context *ctx;
    clv_home_functions home; /* with fallbacks for what the home has not */
    clv_affinity_info info;  /* the cost is the home's */
    clv_affinity_options options;
    clv_matrix points; /* that it was made of, borrowed; no rows: it says nothing of new points */
    size_t budget;
    int threads;           /* for writing it out */
    bool zero_diagonal;    /* the objects have no similarity to themselves, whatever is stored */
    pthread_mutex_t *lock; /* of a serial home, else NULL */
    void *state;           /* the home's own struct */
};

/* An affinity of n objects with a zeroed state; `options` NULL: the defaults. Set what differs from n^2 entries that
 * were given; free with clv_affinity_free. */
clv_status clv_affinity_new(clv_context *ctx, const clv_home_functions *home, int64_t n,
                            const clv_affinity_options *options, clv_affinity **out);
/* The same in the home of `base` and like it, of m objects. */
clv_status clv_affinity_like(const clv_affinity *base, int64_t m, clv_affinity **out);
/* The rows of the sheet, over threads. */
clv_status clv_affinity_fill(const clv_affinity *a, const clv_sheet *out, int threads);
/* Whether ranks have so many objects each that they may hold, or follow, those of their own alone. */
bool clv_is_worth_parts(const clv_context *ctx, int64_t n);
/* As `cross` of the home, which has it. */
clv_status clv_affinity_newcomers(const clv_affinity *a, const clv_matrix *fresh, const int32_t *columns, int64_t count,
                                  double *out);
/* Work on fewer entries than this is done by every rank for itself. */
enum { CLV_WORTH_RANKS = 1 << 16 };
/* The objects whose results this rank computes, in whole panels: all of them where the work is not shared. A pass ends
 * with clv_spread_gather if it was. */
typedef struct clv_spread {
    bool shared;
    int64_t first, last;
} clv_spread;
clv_spread clv_spread_begin(const clv_affinity *a, double entries);
/* y, k x n, of all objects. */
clv_status clv_spread_gather(const clv_affinity *a, const clv_spread *spread, clv_status status, double *y, int64_t k);
/* product.c: for a home whose changes are strips of CLV_SHARE columns (the last is narrower), of which threads take the
 * next: `add` for all that are wanted of this rank, and the errand of the change as soon as its own is there. */
typedef void clv_strip(const clv_affinity *a, const clv_change *change, const void *work, double *y, int64_t at,
                       int64_t width);
void clv_change_strips(const clv_affinity *a, const clv_change *change, clv_strip *add, const void *work, double *y,
                       int threads);

/* fallback.c: sets what is NULL. */
void clv_home_complete(clv_home_functions *home);
/* The number of each object of `base` among the m chosen, or -1: n, owned by the caller; NULL: out of memory. */
int32_t *clv_number_objects(const clv_affinity *base, const int64_t *objects, int64_t m);
/* restrict.c: the operator on these objects of `base` (borrowed), with a copy of the list. */
clv_status clv_restricted_copy(const clv_affinity *base, const int64_t *objects, int64_t m, clv_affinity **out);

/* How clv_affinity_build comes to a home. In the options that these get, `home` is the choice that means it. */
typedef struct clv_home_maker {
    clv_home asked; /* that choice */
    bool source;    /* has the entries by their definition, and no n^2 of them: dense homes are written out from it. Of
                       the makers that suit a kind at most one is; without it, the kind has no dense home */
    bool (*suits)(const clv_matrix *points, const clv_affinity_options *options);
    /* Sets nonzeros, sparse, bytes, peak and cost. */
    void (*plan)(const clv_matrix *points, const clv_affinity_options *options, clv_affinity_info *out);
    /* What it has made belongs to the caller also on failure. Kind, points and bytes are set for it afterwards. */
    clv_status (*make)(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options, int threads,
                       clv_affinity **out);
} clv_home_maker;
extern const clv_home_maker clv_dense64_maker, clv_dense32_maker, clv_computed_maker, clv_minimax_maker,
    clv_lowrank_maker, clv_sparse_maker, clv_cuda_maker;
/* device.c: whether there is a graphics card, and so much to compute that it is taken unasked. */
bool clv_cuda_pays(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options);
/* dense_make.c: what a rank needs of a dense home that several share; leaves other plans alone. */
void clv_dense_plan_part(const clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                         clv_affinity_info *out);
/* build.c: the maker of what a dense home is written out from; NULL: there is none. */
const clv_home_maker *clv_home_source(const clv_matrix *points, const clv_affinity_options *options);

/* Sums of bytes, INT64_MAX where there are more; bytes of n^2 numbers. */
int64_t clv_bytes_plus(int64_t a, int64_t b);
int64_t clv_square_bytes(int64_t n, clv_scalar scalar);

/* lowrank.c: t = x F (k x rank), the first half of a product; y = t F' over the objects first.. of k x count. */
clv_status clv_factor_gather(clv_context *ctx, const clv_matrix *factor, const double *x, int64_t k, double *t,
                             int threads);
void clv_factor_expand(const clv_matrix *factor, const double *t, int64_t k, int64_t first, int64_t count, double *y,
                       int64_t stride);

/* landmarks.c: the factor of an affinity by landmarks (clv_affinity_options.landmarks), and what its diagonal has
 * beyond that of F F'. Arrays are the caller's, also on failure. */
typedef struct clv_landmarks {
    double *factor; /* n x rank */
    double *excess; /* n */
    int64_t rank;
    double gamma, trace_error, sampled_error; /* as in clv_affinity_info */
} clv_landmarks;
clv_status clv_landmarks_new(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                             int threads, clv_landmarks *out);
/* What it holds, and the most meanwhile. */
int64_t clv_landmarks_bytes(int64_t n, int64_t landmarks);
int64_t clv_landmarks_peak(int64_t n, int64_t features, int64_t landmarks);

#endif
