/* Dominant sets: what the stages of the method share.
 *
 *   pass.c        the fused pass of a step: update r, find its largest entry; the least entry on the support
 *   arena.c       where r is kept: rows of a dense affinity
 *   parts.c         on one that several processes share, the part of each
 *   touched.c       on a sparse one, the objects that the support touches
 *   nearby.c        on any other, the objects that can have the largest r, and a bound for the rest
 *   ascent.c      the iterate: weights, support, objective; the steps of fw, pfw and afw
 *   face.c        the stationary point of the face that the support spans
 *   replicator.c  the steps of rd
 *   single.c      one dominant set, as the driver sees it
 *   peel.c        clusters one after the other: starts, labels, absorbing, taking off
 *   multistart.c  several clusters per pass
 *   shift.c       the shift at which clusters are as large as k of them can be
 *   sampling.c    objects to start from: uniform, k-DPP
 *   assign.c      objects left over
 *   predict.c     labels of new objects
 *   evaluate.c    f, Frank-Wolfe gap and labels of given weights
 *   dominant.c    a run, and its result
 *   method.c      the description: options, fields, certificate
 *
 * Notation: alpha is the shift, B = A - alpha I; on the simplex x'Bx = x'(A + alpha (ee' - I))x - alpha, so the shift
 * of all entries off the diagonal costs nothing. r = Bx, value = x'Bx, gap = max r - value over the active objects. */
#ifndef CLV_DOMINANT_H
#define CLV_DOMINANT_H

#include "affinity/affinity.h"
#include "methods/methods.h"

/* The r of objects that take no part. */
#define CLV_GONE (-1e300)

/* One cluster, in the order found. */
typedef struct clv_cluster {
    int64_t size;        /* members found, before any later assignment */
    double cohesiveness; /* the objective of this cluster, recomputed */
    double similarity;   /* x'Ax: the mean similarity inside, without any shift */
    double own; /* of an evaluation: what similarities of objects to themselves, which are taken off, add to it */
    double certificate; /* recomputed */
    int64_t iterations;
    int64_t drops, swaps; /* steps that took an object out of the support, or put another one in its place */
    int64_t prototype;    /* the heaviest object */
    int64_t pass;         /* from 0; the clusters of a pass were found on the same objects */
    clv_stop stop;
} clv_cluster;

/* Where the search for one dominant set begins. */
typedef enum clv_seed_kind { CLV_SEED_OBJECT, CLV_SEED_RANDOM, CLV_SEED_CENTER, CLV_SEED_WEIGHTS } clv_seed_kind;
typedef struct clv_seed {
    clv_seed_kind kind;
    int64_t object;        /* OBJECT; CENTER: an object with half of the weight, or -1 */
    const double *weights; /* WEIGHTS: n, of which those of active objects count */
} clv_seed;

/* One dominant set among the active objects. */
typedef struct clv_dominant_problem {
    clv_context *ctx;
    const clv_affinity *affinity;
    const clv_dominant_options *options;
    int64_t n, active_count;
    const int64_t *active; /* ascending */
    const uint8_t *gone;   /* n: peeled off */
    double tol, largest;   /* no similarity exceeds `largest` */
    clv_seed seed;
    bool compact; /* rd: on a copy of the similarities of the active objects */
    int64_t run;  /* clv_solver.run */
} clv_dominant_problem;

/* --- the arena: r on those objects that matter, each in a slot; x = scale y, r = scale rho --- */

typedef struct clv_arena clv_arena;
typedef struct clv_arena_kind {
    clv_status (*create)(clv_arena *arena);
    void (*destroy)(clv_arena *arena); /* also of one that create left half-made; NULL: nothing to do */
    /* Slots for these objects, and others that matter, with rho = A x for their weights x, fresh from the affinity. */
    clv_status (*load)(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count);
    /* rho += wi a_i + wj a_j (j < 0: none) without the diagonal; the largest rho to `top`. */
    clv_status (*add)(clv_arena *arena, int64_t i, double wi, int64_t j, double wj);
    clv_status (*entry)(clv_arena *arena, int64_t i, int64_t j, double *out);
    /* Those between these slots will be asked for by `gather`, and no others before it is told so again (count 0: none
     * will). NULL: it need not know. */
    clv_status (*among)(clv_arena *arena, const int32_t *slots, int64_t count);
    /* Those of i and each of some others; NULL: by entry, as there is nothing faster. */
    clv_status (*gather)(clv_arena *arena, int64_t i, const int32_t *others, int64_t count, double *out);
    /* Whether it is time to look at the objects outside, now that the largest r is `top` and the Frank-Wolfe gap inside
     * `gap`; NULL: there are none outside. */
    bool (*outdated)(clv_arena *arena, double top, double moved, double gap);
    /* Then: whether that can be put off, from the weights alone. NULL: no. */
    bool (*renew)(clv_arena *arena, const int64_t *objects, const double *weights, int64_t count, double top,
                  double moved);
    /* All rho right for once; where it is not NULL, only those are that a step looks at: at `top`, and the least of the
     * support. */
    clv_status (*complete)(clv_arena *arena);
    /* Of a checkpoint what is its own, after slots, objects and rho; NULL: nothing. */
    clv_status (*pass)(clv_arena *arena, clv_archive *archive);
} clv_arena_kind;
extern const clv_arena_kind clv_arena_rows, clv_arena_parts, clv_arena_touched, clv_arena_nearby;

struct clv_arena {
    const clv_arena_kind *kind;
    const clv_dominant_problem *problem;
    int threads;
    int64_t slots, capacity; /* capacity: the most there can be */
    double *rho;             /* capacity */
    int64_t top;             /* slot of the largest rho */
    clv_matrix stored;       /* the similarities where they lie, if they do */
    double goal;             /* the gap that a working set is to reach before all objects are looked at */
    int64_t *object;         /* of a slot; NULL: the slot is the object */
    int32_t *slot_of;        /* n: of an object that was loaded; likewise */
    int64_t cursor;          /* of touched.c: no active object before this one is without a slot */
    bool more;               /* nothing but `add` will be asked of it before the next one */
    const int32_t *support;  /* slots with weight, of the ascent, at the time of an `add` */
    int64_t size;
    void *own; /* of nearby.c and parts.c */
};

/* The kind that suits the affinity; capacity, rho and the places of slots and objects are set. Free it also on failure.
 */
clv_status clv_arena_new(const clv_dominant_problem *problem, int threads, clv_arena *out);
void clv_arena_free(clv_arena *arena);
/* For a checkpoint. */
clv_status clv_arena_pass(clv_arena *arena, clv_archive *archive);
static inline int64_t clv_arena_object(const clv_arena *arena, int64_t slot) {
    return arena->object ? arena->object[slot] : slot;
}
static inline int64_t clv_arena_slot(const clv_arena *arena, int64_t object) {
    return arena->slot_of ? arena->slot_of[object] : object;
}

/* --- ascent.c --- */

typedef struct clv_ascent {
    const clv_dominant_problem *problem;
    clv_arena arena;
    double *y;         /* a slot: x = scale y; 0 outside the support */
    double scale;      /* so that fw and afw need not touch x */
    int32_t *support;  /* slots, in no order */
    int32_t *position; /* of a slot in the support; -1: not in it */
    int64_t size;
    double value;              /* x'Bx */
    double squares;            /* x'x */
    double similarity;         /* x'Ax when x was last set: without the cancellation in value + shift * squares */
    int64_t drops, swaps;      /* since clv_ascent_begin */
    double step;               /* |x(t+1) - x(t)| of the last step; a jump on a face has none (HUGE_VAL) */
    double moved;              /* weight that changed place since the arena was loaded */
    double *full;              /* n: work, x of all objects */
    int64_t *objects;          /* n: work */
    double *weights;           /* n: work */
    int64_t settled, patience; /* steps since the support last grew or a face was tried; how many to wait for */
    double *face;              /* work of face.c, grown as needed */
    int64_t face_capacity;
    int32_t *pivots;
} clv_ascent;

clv_status clv_ascent_new(const clv_dominant_problem *problem, int threads, clv_ascent *out);
void clv_ascent_free(clv_ascent *s);
/* Make x (n, of sum 1, 0 on objects that are gone) the iterate, with everything else computed from the affinity. */
clv_status clv_ascent_set(clv_ascent *s, const double *x);
void clv_ascent_get(const clv_ascent *s, double *x);
clv_status clv_ascent_pass(clv_ascent *s, clv_archive *archive);
/* Counters to 0: a new run. */
void clv_ascent_begin(clv_ascent *s);
/* One step of fw, pfw or afw; `*stuck` when no step can raise the value any more. */
clv_status clv_ascent_step(clv_ascent *s, bool *stuck);
/* rho for wi more on slot i and wj on j (< 0: none), which the support does not know of yet. */
clv_status clv_ascent_add(clv_ascent *s, int64_t i, double wi, int64_t j, double wj);
/* A slot of the support has lost its weight. */
void clv_ascent_leave(clv_ascent *s, int64_t slot);
/* Weight has moved: load the arena again if objects outside it may matter now. */
clv_status clv_ascent_keep_up(clv_ascent *s);
static inline double clv_ascent_gap(const clv_ascent *s) {
    return s->scale * s->arena.rho[s->arena.top] - s->value;
}
/* x'Ax: as it was computed, or what follows from the value since then. */
static inline double clv_ascent_similarity(const clv_ascent *s) {
    return s->moved > 0 ? s->value + s->problem->options->shift * s->squares : s->similarity;
}

/* --- face.c: when it is time, try to jump --- */
bool clv_face_is_due(const clv_ascent *s);
clv_status clv_face_jump(clv_ascent *s);
/* Room for a support of this size. */
clv_status clv_face_reserve(clv_ascent *s, int64_t size);

/* --- replicator.c --- */
typedef struct clv_replicator {
    const clv_dominant_problem *problem;
    int threads;
    const clv_affinity *affinity; /* of the m objects that it works on: all, */
    clv_affinity *left;           /* or those that are left, in a copy; else NULL */
    const int64_t *object;        /* m: where a place of x belongs; NULL: the objects are all */
    int64_t m;
    double *before;           /* m: the weights before a step */
    double *x, *r, *diagonal; /* m: weights, Bx, and what the affinity keeps on its diagonal (NULL: zeros) */
    double value, squares, similarity, gap;
    double step; /* |x(t+1) - x(t)| of the last one */
} clv_replicator;
/* Whether rd is to work on a copy of the similarities of the active objects: they are few, and there is room. */
clv_status clv_replicator_decide(clv_dominant_problem *problem);
clv_status clv_replicator_new(const clv_dominant_problem *problem, int threads, clv_replicator *out);
void clv_replicator_free(clv_replicator *s);
/* x of n, of sum 1 and 0 on objects that are gone. */
clv_status clv_replicator_set(clv_replicator *s, const double *x);
void clv_replicator_get(const clv_replicator *s, double *x);
clv_status clv_replicator_pass(clv_replicator *s, clv_archive *archive);
clv_status clv_replicator_step(clv_replicator *s, bool *stuck);

/* --- single.c: one dominant set --- */
typedef struct clv_dominant_set {
    int64_t count;    /* objects with any weight, */
    int64_t *objects; /* ascending, */
    double *weights;  /* and their weights */
    clv_cluster about;
    double drift;
    clv_trace_row *trace;
    int64_t trace_count;
} clv_dominant_set;
/* The set belongs to the caller also on failure. */
clv_status clv_dominant_single(const clv_dominant_problem *problem, const clv_control *control, clv_dominant_set *out);
void clv_dominant_set_free(clv_context *ctx, clv_dominant_set *set);
size_t clv_dominant_single_memory(const clv_affinity_info *plan, const clv_dominant_options *options);

/* --- sampling.c: `count` distinct ones of the m active objects --- */
clv_status clv_sample_uniform(clv_context *ctx, const int64_t *active, int64_t m, int64_t count, clv_rng *rng,
                              int64_t *out);
clv_status clv_sample_dpp(clv_context *ctx, const clv_affinity *a, const int64_t *active, int64_t m, int64_t count,
                          clv_rng *rng, int64_t *out);

/* --- assign.c: labels of -1 by the largest mean similarity to a cluster of the others (formula 29) --- */
clv_status clv_dominant_assign(clv_context *ctx, const clv_affinity *a, int64_t k, int64_t threads, int32_t *labels);

/* --- peel.c --- */

/* The objects still there, and the clusters taken off. */
typedef struct clv_peeling {
    clv_context *ctx;
    const clv_affinity *affinity;
    const clv_dominant_options *options;
    int64_t n, active_count;
    int64_t *active;
    uint8_t *gone;
    double largest; /* no similarity exceeds it */
    double *degree; /* n: sums of similarities to the active objects; NULL: sampled */
    double *work;   /* n */
    int32_t *labels;
    double *start_weights; /* n: of the first cluster, where they are given; else NULL */
    int64_t count, capacity, passes;
    clv_dominant_set *sets;
    clv_stop stop;    /* CLV_CONVERGED unless a limit ended it */
    bool shift_found; /* it was not given */
    bool end_unseen;  /* of given weights: whether any similar objects remain was not checked */
} clv_peeling;
/* All objects active, no clusters. The peeling belongs to the caller also on failure. */
clv_status clv_peeling_new(clv_context *ctx, const clv_affinity *a, const clv_dominant_options *options,
                           clv_peeling *out);
void clv_peeling_free(clv_peeling *p);
/* Peel until nothing similar is left, or `options` or a limit end it; labels are set. */
clv_status clv_peel(clv_peeling *p);
/* The labels that cluster number `c` gives: to its members, and to the objects that it absorbs, as far as they are
 * active and have none yet. */
clv_status clv_peel_label(clv_peeling *p, const clv_dominant_set *set, int32_t c);
/* Objects with a label are no longer active; with clv_peel_take_off the sums of similarities follow. */
void clv_peel_off(clv_peeling *p);
clv_status clv_peel_take_off(clv_peeling *p);
clv_dominant_problem clv_peel_problem(const clv_peeling *p);
bool clv_starts_at_center(const clv_dominant_options *options);
bool clv_peel_accepts(const clv_peeling *p, const clv_dominant_set *set);
/* How many of its members have a label already. */
int64_t clv_peel_shared(const clv_peeling *p, const clv_dominant_set *set);
void clv_peel_note(clv_peeling *p, clv_stop stop);
/* Ax without the diagonal, into r, for x of these weights. */
clv_status clv_without_diagonal(const clv_affinity *a, const int64_t *objects, const double *weights, int64_t count,
                                double *r, int64_t threads);
/* The same into p->work. */
clv_status clv_peel_product(clv_peeling *p, const clv_dominant_set *set);
/* The set in place p->count becomes a cluster. */
clv_status clv_peel_keep(clv_peeling *p, int64_t pass);
/* A cluster from the object with the largest sum of similarities. */
clv_status clv_peel_vertex(clv_peeling *p);
/* Room for so many more sets. */
clv_status clv_peel_room(clv_peeling *p, int64_t more);
/* Where the first cluster starts by default: the object with the largest sum of similarities. */
clv_status clv_peel_first(clv_peeling *p, clv_seed *out);
/* What rounding may leave of a mean of similarities of 0: nothing where they are given, or 0 by themselves; of cosines
 * it is a little. */
double clv_dominant_rounding(const clv_affinity *a);
/* multistart.c: one pass. */
clv_status clv_peel_pass(clv_peeling *p);
double clv_dominant_cutoff(const clv_dominant_options *options, int64_t active);

/* --- shift.c --- */
/* The one that suits k clusters, as far as the time allows; 0 where k is not given, or 1. Nothing is peeled. */
clv_status clv_dominant_find_shift(clv_peeling *p, double *out);
/* A warning, where clusters of n / k would have more members than are looked for, and many objects are left out. */
clv_status clv_dominant_warn_of_cores(const clv_peeling *p, clv_result *result);
/* That of the options, or the one that the result says was found. */
double clv_dominant_shift(const clv_dominant_options *options, const clv_result *result);

/* --- dominant.c --- */
double clv_dominant_objective(const clv_cluster *clusters, int64_t count);
/* The table "clusters" of a result: all of it, or only what follows from the weights. */
clv_status clv_dominant_table(clv_result *result, const clv_cluster *clusters, int64_t k, bool all);
/* That of the cluster furthest beyond its tolerance. */
clv_certificate clv_dominant_certificate(const clv_cluster *clusters, int64_t count, double tol);

/* Similarities by landmarks are refused. */
clv_status clv_dominant_check_landmarks(clv_context *ctx, int64_t landmarks);

/* --- the functions of the method: dominant.c, evaluate.c, predict.c --- */
CLV_METHOD_PARTS(dominant)

#endif
