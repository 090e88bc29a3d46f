/* The table between the home `cuda` (device.c) and the plugin libcleave_cuda.so (plugins/cuda), in plain C: the plugin
 * computes and knows nothing of the library, the home knows nothing of CUDA. All pointers are to the host's memory.
 * Numbers come in and go out as doubles, and what comes out has their accuracy, except where `rough` asks for less. The
 * same call gives the same bits, in every run on cards of one kind. */
#ifndef CLV_CUDA_H
#define CLV_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum { CLV_CUDA_INTERFACE = 1, CLV_CUDA_TILE = 64 };

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

/* Statuses are clv_cuda_status. An operator takes one call at a time. */
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
    /* y (k x n) = x (k x count) times the rows objects[0..count-1] (NULL: all n); `add`: added to y. */
    int (*product)(clv_cuda_call *call, clv_cuda_operator *a, const int32_t *objects, int64_t count, const double *x,
                   int64_t k, double *y, int add);
    int (*sums)(clv_cuda_call *call, clv_cuda_operator *a, const clv_cuda_moves *moves, int64_t k, double *y, int add);
    /* Sums over all pairs: of the entries, and of their squares. */
    int (*moments)(clv_cuda_call *call, clv_cuda_operator *a, double *sum, double *squares);
} clv_cuda;

#endif
