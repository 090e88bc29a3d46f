/* The table between the library and the plugin libcleave_cuda.so (plugins/cuda), in plain C: the plugin computes and
 * knows nothing of the library, the library (the home `cuda` in device.c, and kpalm) knows nothing of CUDA. All
 * pointers are to the host's memory. Numbers come in and go out as doubles, and what comes out has their accuracy,
 * except where `rough` asks for less. The same call gives the same bits, in every run on cards of one kind. */
#ifndef CLV_CUDA_H
#define CLV_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum { CLV_CUDA_INTERFACE = 5, CLV_CUDA_TILE = 64 };

typedef enum clv_cuda_status {
    CLV_CUDA_OK,
    CLV_CUDA_NO_CARD,   /* no driver, no card, or one that is too old */
    CLV_CUDA_NO_MEMORY, /* on the card, or over the limit of the call */
    CLV_CUDA_STOPPED,   /* `stop` said so: what was to be written is not complete */
    CLV_CUDA_FAILED
} clv_cuda_status;

/* What a call is given besides its numbers, and where it says why it failed. */
typedef struct clv_cuda_call {
    int (*stop)(void *user, double entries); /* asked after each launch, of about so many entries; nonzero: give up */
    void *user;
    int threads;   /* of the host, for copies */
    char why[512]; /* half a sentence: "there is no driver (...)" */
} clv_cuda_call;

typedef struct clv_cuda_card {
    char name[128];
    size_t bytes, free;
} clv_cuda_card;

typedef enum clv_cuda_kind {
    CLV_CUDA_GAUSSIAN,    /* exp(-gamma d^2) */
    CLV_CUDA_EXPONENTIAL, /* exp(-gamma d) */
    CLV_CUDA_DISTANCE,    /* max(top - d, 0) */
    CLV_CUDA_PRODUCT,     /* max(x'y, 0) */
    CLV_CUDA_GIVEN        /* n x n entries */
} clv_cuda_kind;

/* What the entries are made of. */
typedef struct clv_cuda_source {
    clv_cuda_kind kind;
    double gamma, top; /* top NaN: the largest distance, which `open` finds and leaves here */
    int zero_diagonal;
    int64_t n, features;
    const double *panels; /* points: panels[(b * features + f) * CLV_CUDA_TILE + r] is feature f of object
                             b * CLV_CUDA_TILE + r, 0 beyond n */
    const void *given;    /* n x n, symmetric, doubles or, if `single`, floats */
    int single;
    size_t memory; /* bytes that may be held on the card; 0: what is free there, but for a tenth */
} clv_cuda_source;

typedef struct clv_cuda_operator clv_cuda_operator;

/* Columns that go to sums by label: column objects[m] is added to sum to[m] and taken from sum from[m]; -1: none. */
typedef struct clv_cuda_moves {
    const int32_t *objects, *from, *to; /* objects NULL: 0, 1, 2, ...; from NULL: none */
    int64_t count;
    int rough; /* entries may have errors of 1e-6 of themselves, if that is faster */
} clv_cuda_moves;

/* Sums by label, k x n, that stay on the card, and the degrees of the objects. */
typedef struct clv_cuda_kept clv_cuda_kept;

/* An object goes to the label c with the largest score (2 y_ci - degree_i ratio_c + s degree_i) inverse_c, s = shift
 * for its own and -shift for others; its own gets margin 2 y_ci inverse_c more. Of others that are equal, clv_prefers.
 */
typedef struct clv_cuda_scores {
    const double *inverse, *ratio; /* k */
    double shift, margin;
    uint64_t ties;
} clv_cuda_scores;

/* What becomes of a product: added to y; and its entries may have errors as of rough moves. */
enum { CLV_CUDA_ADD = 1, CLV_CUDA_ROUGH = 2 };

/* Points for k-means and k-median. Distances are computed in double, by differences. */
typedef struct clv_cuda_cloud {
    int64_t n, features, k;
    const void *values; /* n x features, doubles or, if `single`, floats */
    int single;
    const double *sample, *factor; /* of each object: its weight, and of alpha; NULL: 1 */
    const double *mean;            /* features */
    double epsilon;                /* > 0: distances are (|x - a|^2 + epsilon^2)^(1/2), else |x - a|^2 */
    size_t memory;                 /* as of a source */
} clv_cuda_cloud;

typedef struct clv_cuda_points clv_cuda_points;
/* Which clusters the points are in: a label, or CLV_CUDA_SEVERAL and a row of k weights, in the type of the points. */
typedef struct clv_cuda_clusters clv_cuda_clusters;
enum { CLV_CUDA_SEVERAL = -2 };

/* What a step found; the words are those of clv_tally of kpalm. */
typedef struct clv_cuda_tally {
    int64_t changed, soft;
    double change, correction, cost, largest;
} clv_cuda_tally;

/* Candidates for a center, as starts look at them: `near` is the squared distance of an object to the nearest center so
 * far, over unit^2, as a float, and its part is sample min(near, that to the candidate), or of the roots of these. */
typedef struct clv_cuda_draws {
    const double *candidates; /* count x features */
    int count, linear;        /* linear: roots */
    int begin, keep;          /* there is no center yet; candidate 0, the only one, becomes one */
    double unit;
    const int64_t *starts; /* parts + 1: objects starts[b]..starts[b + 1] - 1 are added up together */
    int64_t parts;
} clv_cuda_draws;

/* Statuses are clv_cuda_status. An operator takes one call at a time, and so do points with their clusters. */
typedef struct clv_cuda {
    int32_t interface;   /* these two are the clv_plugin_head of base.h */
    const char *version; /* CLV_VERSION */

    int (*look)(clv_cuda_call *call, clv_cuda_card *out);
    int (*open)(clv_cuda_call *call, clv_cuda_source *source, clv_cuda_operator **out);
    void (*close)(clv_cuda_operator *a); /* takes NULL */
    /* The operator on some of the objects, of its own; not of one that was given. */
    int (*select)(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t m,
                  clv_cuda_operator **out);
    /* out[r * column_count + c] = entry (rows[r], columns[c]); columns NULL: all n. Bits depend on the pair alone. */
    int (*entries)(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *rows, int64_t row_count,
                   const int32_t *columns, int64_t column_count, double *out);
    /* The same of points that are not among its objects: panels of m of them, as of a source. No diagonal is left out.
     */
    int (*cross)(clv_cuda_call *call, clv_cuda_operator *a, const double *panels, int64_t m, const int32_t *columns,
                 int64_t column_count, double *out);
    /* y (k x n) = x (k x count) times the rows objects[0..count-1] (NULL: all n). */
    int (*product)(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
                   int64_t k, double *y, int how);
    int (*sums)(clv_cuda_call *call, clv_cuda_operator *a, const clv_cuda_moves *moves, int64_t k, double *y, int add);
    /* Sums over all pairs: of the entries, and of their squares. */
    int (*moments)(clv_cuda_call *call, clv_cuda_operator *a, double *sum, double *squares);

    /* Sums (k x n) and degrees (n) go there. */
    int (*keep)(clv_cuda_call *call, clv_cuda_operator *a, int64_t k, const double *y, const double *degree,
                clv_cuda_kept **out);
    /* The sums after these moves, the bits of `sums` with add; and own[i], that of an object to its label, after them.
     */
    int (*follow)(clv_cuda_call *call, clv_cuda_kept *kept, const clv_cuda_moves *moves, const int32_t *labels,
                  double *own);
    int (*choose)(clv_cuda_call *call, clv_cuda_kept *kept, const clv_cuda_scores *by, const int32_t *labels,
                  int32_t *wanted);
    int (*back)(clv_cuda_call *call, clv_cuda_kept *kept, double *y);
    void (*let_go)(clv_cuda_kept *kept); /* takes NULL; before its operator is closed */

    int (*send)(clv_cuda_call *call, const clv_cuda_cloud *cloud, clv_cuda_points **out);
    void (*forget)(clv_cuda_points *points); /* takes NULL; after its clusters */
    int (*begin)(clv_cuda_call *call, clv_cuda_points *points, int soft, clv_cuda_clusters **out);
    void (*end)(clv_cuda_clusters *c); /* takes NULL */
    /* Labels from the host; objects that have none (< 0) get weights 1 / k, where there are weights. */
    int (*place)(clv_cuda_call *call, clv_cuda_clusters *c, const int32_t *labels);
    /* Weights of objects first..first + count - 1, there or back: count x k numbers in the type of the points. */
    int (*weights)(clv_cuda_call *call, clv_cuda_clusters *c, int64_t first, int64_t count, void *w, int back);
    /* w <- P(w - d / alpha), or, where alpha is 0, all to the nearest center, the first of equals. `labels` as they are
     * then, and total (k x (features + 1)): sums of v a and of v, v = sample w, over d where it is smoothed. */
    int (*assign)(clv_cuda_call *call, clv_cuda_clusters *c, const double *centers, double alpha, int32_t *labels,
                  double *total, clv_cuda_tally *tally);
    /* sums[b * stride + c]: of the objects of part b, with candidate c; and `near` of objects from..to - 1. */
    int (*draw)(clv_cuda_call *call, clv_cuda_clusters *c, const clv_cuda_draws *draws, double *sums, int64_t stride);
    int (*near)(clv_cuda_call *call, clv_cuda_clusters *c, int64_t from, int64_t to, float *out);
    /* The nearest center of each object, and the distance (not its square) to the next one. Changes nothing there. */
    int (*nearest)(clv_cuda_call *call, clv_cuda_clusters *c, const double *centers, int32_t *labels, float *next);
} clv_cuda;

#endif
