/* Normalized cut: what the stages of the method share.
 *
 *   partition.c  the iterate: labels, sums to clusters, volumes, objective, the exact gain of a move, the certificate
 *   starts.c     random, k-means++, components
 *   spectral.c   eigenpairs of the normalized affinity, their rounding to labels, the bound, the choice of k
 *   fpc.c        a step of fractional programming (FPC)
 *   moves.c      sweeps of single moves: exact (FCD, the polish), by the quadratic transform (FINC), by Dinkelbach's
 *   owners.c     what ranks tell each other of objects that each of them has, and moves
 *   kicks.c      perturbations of a local optimum (iterated local search)
 *   local.c      polish on sparse graphs, by what was touched
 *   local_kicks.c  search on sparse graphs, by kicks that threads share
 *   predict.c    labels of new objects
 *   problem.c    the problem from an affinity and the options
 *   ncut.c       the phases of a restart
 *   evaluate.c   answers looked at again
 *   method.c     the description: options, fields, certificate
 */
#ifndef CLV_NCUT_H
#define CLV_NCUT_H

#include "affinity/affinity.h"
#include "methods/methods.h"

/* The largest eigenvalues of D^-1/2 W D^-1/2, descending, and their unit eigenvectors. */
typedef struct clv_spectrum {
    clv_context *ctx;
    int64_t n, count;
    double *values;  /* count */
    double *vectors; /* count x n */
    double residual; /* the largest norm of a residual: every value is within this of an eigenvalue */
    bool converged;  /* false: the best there are, and larger eigenvalues may be missing */
    bool open;       /* eigenvalues may exceed 1: similarities may lie below 0 */
} clv_spectrum;

/* What all restarts share. Objects of degree 0 are left out: their label is -1 throughout. */
typedef struct clv_ncut_problem {
    clv_context *ctx;
    const clv_affinity *affinity;
    const int64_t *order;    /* object i is order[i] of the affinity given; NULL: it is i */
    clv_affinity *reordered; /* == affinity, or NULL when that is the given one */
    int64_t n, k;
    int64_t counted; /* objects of positive degree */
    double *degree, *diagonal;
    bool summed_degrees; /* they come with the sums of a pass over all pairs, rough or exact; 1 before the first */
    int32_t *component;  /* of an object, or -1 when it is left out */
    int64_t components;
    clv_spectrum spectrum; /* empty (count 0) unless a solver, a start or the bound needs it */
    double shift;          /* alpha of (29) */
    int32_t *start_labels; /* given to start from, or NULL */
    clv_ncut_options options;
    bool show_certificates; /* someone looks at every iterate */
    bool open;              /* similarities may lie below 0: those by landmarks */
} clv_ncut_problem;

/* --- problem.c --- */

/* k = auto looks at the gaps up to this k. */
enum { CLV_NCUT_MOST_K = 20 };

/* Everything about the problem, from the affinity and the options; the part that does without options: degrees,
 * diagonal, components. The caller frees it also on failure. */
clv_status clv_ncut_set(clv_context *ctx, const clv_input *input, const clv_ncut_options *options, clv_ncut_problem *p);
clv_status clv_ncut_describe(int64_t threads, clv_ncut_problem *p);
bool clv_ncut_sums_give_degrees(const clv_affinity *a);
void clv_ncut_free(clv_ncut_problem *p);
/* The number of object i in the affinity given. */
static inline int64_t clv_ncut_object(const clv_ncut_problem *p, int64_t i) {
    return p->order ? p->order[i] : i;
}
/* Refuse what cannot be a k, or labels, of this problem. */
clv_status clv_ncut_check_k(const clv_ncut_problem *p, int64_t k);
clv_status clv_ncut_check_labels(const clv_ncut_problem *p, const int32_t *labels, int64_t k);
/* Whether eigenvectors are needed, where the start is `start`. */
bool clv_ncut_wants_vectors(const clv_ncut_options *options, const char *start);
/* How many eigenvalues a run for k clusters (0: auto) lists, and to what share of themselves they are found. */
int64_t clv_ncut_eigen_count(const clv_ncut_problem *p, int64_t k);
double clv_ncut_eigen_tolerance(const clv_affinity_info *info, const clv_ncut_options *options);
/* alpha of (29): by (30), or the smallest that serves, as the options of the problem say. */
clv_status clv_ncut_find_shift(clv_ncut_problem *p);
/* Of the eigensolver at its peak. */
size_t clv_ncut_spectrum_bytes(const clv_affinity_info *plan, const clv_ncut_options *options);

/* --- evaluate.c --- */

/* k = auto: the gaps that speak for other choices, into a result. */
clv_status clv_ncut_add_alternatives(clv_result *result, const double *eigenvalues, int64_t count);

/* --- partition.c --- */

typedef struct clv_partition {
    const clv_ncut_problem *problem;
    int threads;
    int32_t *labels, *wanted; /* n: now, and after a step */
    double *sums;             /* k x n: S_ci, the similarity of object i to the members of c */
    double *volume, *within;  /* k: V_c and N_c */
    int64_t *size;            /* k */
    int64_t *moved, *picked;  /* n: work, objects that a step moves or looks at */
    double *column, *second;  /* n: work */
    double value;             /* ncut */
    double surrogate;         /* h of (25) of the last step of FPC, where someone looks at every iterate */
    uint64_t ties;            /* decides between clusters that are equally good, by clv_prefers */
    bool measured;            /* a sweep that was given up has left it sound, value included */
    bool rough;               /* sums need not be exact: a descent that is to be gone on with */
    bool fresh;               /* sums and value are those of an exact pass for the labels: no move was made since */
    bool away;                /* the next step does not look at the sums: they may stay with the affinity */
    void *kept;               /* where they do, and those here are old; NULL: they are here */
    bool shared;              /* by ranks: each of them follows the sums of its own objects, */
    int64_t first, last;      /* first..last - 1; without others, of all */
    bool parted;              /* and has done so: those of other ranks' objects are old */
} clv_partition;

clv_status clv_partition_new(const clv_ncut_problem *problem, int threads, clv_partition *out);
void clv_partition_free(clv_partition *s); /* takes one that is all zero */
size_t clv_partition_memory(int64_t n, int64_t k);
void clv_partition_copy(clv_partition *to, const clv_partition *from);

/* Labels, volumes, objective and, if they are of use, the sums for a checkpoint; what is read has an object in every
 * cluster. */
void clv_partition_pass(clv_partition *s, bool sums, clv_archive *archive);
/* The sizes that these labels give. */
void clv_partition_count(clv_partition *s, const int32_t *labels);
/* Volumes and objective from labels and sums; from labels alone, summed degrees included. */
clv_status clv_partition_measure(clv_partition *s);
clv_status clv_partition_refresh(clv_partition *s);
/* All sums are here again. */
clv_status clv_partition_bring_back(clv_partition *s);
/* Labels become `wanted`, the sums follow by moves or afresh, whichever is less work; then measure. */
clv_status clv_partition_adopt(clv_partition *s, int64_t *moved);
/* Labels of these objects, distinct ones, become `wanted`, and the sums follow in their order; the rest does not. */
clv_status clv_partition_carry_out(clv_partition *s, const int64_t *objects, int64_t count);
/* Move one object; volumes and sums follow, the objective does not. Without the sums: clv_partition_relabel, where
 * those of the object to the clusters that it leaves and enters are as given. */
clv_status clv_partition_move(clv_partition *s, int64_t i, int32_t to);
void clv_partition_relabel(clv_partition *s, int64_t i, int32_t to, double left, double entered);
/* Its sum to the members of c. */
static inline double clv_partition_sum(const clv_partition *s, int64_t i, int32_t c) {
    return s->sums[c * s->problem->n + i];
}
/* Up to so many moves cost less than all sums afresh. */
int64_t clv_partition_few_moves(const clv_ncut_problem *p);
/* After so many moves: whether to go on. */
clv_status clv_partition_poll(const clv_partition *s, int64_t moves);
/* The decrease of ncut when object i goes to cluster `to`; clv_partition_leave is the part that does not depend on it.
 */
double clv_partition_leave(const clv_partition *s, int64_t i);
double clv_partition_enter(const clv_partition *s, int64_t i, int32_t to);
/* The same with its sum to the members of its own cluster, or of `to`, as given. */
double clv_leave_gain(const clv_partition *s, int64_t i, double sum);
double clv_enter_gain(const clv_partition *s, int64_t i, int32_t to, double sum);
/* The certificate: the best decrease by any one move that empties no cluster; 0 when there is no such move. */
clv_status clv_partition_gain(clv_partition *s, double *out);

/* Whether a loop over all objects and clusters is worth waking up other threads. */
static inline bool clv_partition_is_large(const clv_partition *s) {
    return s->problem->n * s->problem->k >= 1 << 18;
}

/* Decreases of ncut by a move below this, a cluster, are rounding; and those of what is claimed. */
#define CLV_LEAST_GAIN 1e-14
#define CLV_GAIN_TOLERANCE 1e-12

static inline double clv_ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

/* The components of the graph, the one with the largest volume first, for the caller to free; NULL: no memory. A graph
 * whose components were not looked for counts as one (starts.c). */
typedef struct clv_component {
    double volume;
    int64_t component;
} clv_component;
clv_component *clv_components_by_volume(const clv_ncut_problem *p, int64_t *count);
/* That of an object, or -1 when it is left out. */
int64_t clv_component_of(const clv_ncut_problem *p, int64_t i);

/* --- starts.c: labels into s->labels; every cluster gets an object --- */
void clv_start_random(clv_partition *s, clv_rng *rng);
clv_status clv_start_plusplus(clv_partition *s, clv_rng *rng);
/* Whole components to clusters, balanced by volume; for k <= components, where the cut is then 0. */
clv_status clv_start_components(clv_partition *s);
/* Give every empty cluster an object of the largest one. */
void clv_fill_empty(clv_partition *s, clv_rng *rng);

/* --- spectral.c --- */

/* `count` pairs, on every home. The operator is applied to vectors scaled by degree^-1/2 (0 for degree 0). */
clv_status clv_spectrum_new(const clv_ncut_problem *problem, int64_t count, double tol, int threads, clv_spectrum *out);
void clv_spectrum_free(clv_spectrum *spectrum);
/* Labels 0..k-1 into s->labels by k-means on the rows of D^-1/2 U, or by rotation (Yu and Shi 2003). */
clv_status clv_start_spectral(clv_partition *s, clv_rng *rng);
/* Labels 0..k-1 of m points of k coordinates (x: one coordinate per row) by k-means, the best of `runs`. A label may
 * have no point when points coincide. */
clv_status clv_kmeans_points(clv_context *ctx, const double *x /* k x m */, int64_t m, int64_t k, int runs, int threads,
                             clv_rng *rng, int32_t *labels /* m */);
/* 1/2 sum of the k smallest eigenvalues of the normalized Laplacian, lowered by what the residuals allow; 0 unless
 * converged. */
double clv_spectral_bound(const clv_spectrum *spectrum, int64_t k);
/* The k of 2..count-1 with the largest gap between eigenvalues k and k + 1, or 1 when there is none beyond rounding. A
 * graph of at least `count` components (0: not known) gets a cluster for each. */
int64_t clv_choose_k(const clv_spectrum *spectrum, int64_t components);

/* --- fpc.c, moves.c: one step on all objects; `moved` says how many changed their label --- */
clv_status clv_fpc_step(clv_partition *s, int64_t *moved);
clv_status clv_move_sweep(clv_partition *s, int64_t *moved);
clv_status clv_finc_sweep(clv_partition *s, int64_t *moved);
clv_status clv_finc_step(clv_partition *s, int64_t *moved);        /* all at once */
clv_status clv_dinkelbach_sweep(clv_partition *s, int64_t *moved); /* k = 2 */
/* Of `wanted`: a cluster that would be empty keeps the member that loses least by staying, by the score of FPC. */
clv_status clv_keep_clusters(clv_partition *s);

/* --- owners.c: of several ranks, the one that has an object moves it --- */

/* Moves of one rank, as the others are told of them. */
enum { CLV_TOLD_MOVES = 64 };
typedef struct clv_told {
    int64_t next, count; /* objects before `next` have been looked at */
    struct {
        int32_t object, to;
        double left, entered; /* its sums to the clusters that it leaves and enters */
    } moves[CLV_TOLD_MOVES];
} clv_told;
/* The rank that has object i moves it, and notes it. */
clv_status clv_own_move(clv_partition *s, int64_t i, int32_t to, clv_told *told);
/* Rank `owner` has moved these, with `status`: so do the others. */
clv_status clv_tell_moves(clv_partition *s, clv_status status, int owner, clv_told *told);
/* The labels that each rank wants for its objects are what all of them want. */
clv_status clv_gather_wanted(clv_partition *s);
/* Of every object the sum to its own cluster, into s->column. */
clv_status clv_gather_own_sums(clv_partition *s);

/* --- kicks.c: a random change that a polish does not simply undo --- */
clv_status clv_kick(clv_partition *s, clv_rng *rng);

/* --- local.c: polish and search on a graph in compressed rows --- */

enum { CLV_QUEUED = 1, CLV_MOVED = 2, CLV_REACHED = 4 }; /* marks of an object */

/* What tries changes, a thread each. Its labels are those of the partition but for the objects that it has moved. */
typedef struct clv_hand {
    const clv_matrix *graph;
    clv_partition s;       /* labels, volumes, sizes, objective; no sums */
    uint8_t *marks;        /* n */
    int64_t *list;         /* n: work */
    double *near;          /* k: sums of the object that is looked at; else 0 */
    int64_t head, waiting; /* of the queue, in s.picked: a ring */
    int64_t moves;         /* objects in s.moved */
    int64_t looked;        /* at so many objects since it stood on the partition */
} clv_hand;

/* Works on labels, volumes and objective of a partition; its sums are not looked at and do not follow. Between calls
 * every hand has the labels of the partition. */
typedef struct clv_local {
    clv_partition *s;
    clv_matrix graph;
    clv_hand *hand;
    int hands;
    double mark;                       /* the objective when the cut last fell by an amount worth waiting for */
    double *partial;                   /* chunks x 2 k */
    int64_t chunks;                    /* of objects */
    int64_t clusters, regions;         /* kicks of clusters so far, and of regions */
    int64_t cluster_work, region_work; /* objects looked at for kicks of clusters, of regions */
} clv_local;

/* Whether there is such a graph. */
bool clv_local_suits(const clv_ncut_problem *p, clv_matrix *graph);
/* Free it also on failure. */
clv_status clv_local_new(clv_partition *s, clv_local *out);
void clv_local_free(clv_local *l); /* takes one that is all zero */
size_t clv_local_memory(int64_t n, int64_t k, int threads);
/* For a checkpoint, between calls; after its partition. */
void clv_local_pass_state(clv_local *l, clv_archive *archive);
/* From the labels of the partition. */
clv_status clv_local_begin(clv_local *l);
/* Look at all objects, and again at those that moves have touched. Without a move, no single one lowers the cut. */
clv_status clv_local_pass(clv_local *l, int64_t *moved);

/* A hand takes over volumes and objective of the partition, whose labels it has; gives up what it has moved since. */
void clv_hand_stand(clv_hand *h, const clv_partition *on);
void clv_hand_take_back(clv_hand *h, const clv_partition *to);
/* What it has moved is the partition's, and that of all hands. */
void clv_local_adopt(clv_local *l, clv_hand *h);
/* Moves object i, unless it is the last of its cluster, and puts it and its neighbors into the queue. */
void clv_hand_throw(clv_hand *h, int64_t i, int32_t to);
/* Looks at the queue until it is empty. */
clv_status clv_hand_settle(clv_hand *h);
/* Gives these objects these labels and looks at nothing else; whether the cut is lower and no cluster empty. */
bool clv_hand_follow(clv_hand *h, const int64_t *objects, const int32_t *labels, int64_t count);
/* The best cluster of object i but `gone`, by formula (28). */
int32_t clv_hand_next_best(clv_hand *h, int64_t i, int32_t gone);

/* --- local_kicks.c --- */

/* So many kicks, the first ones of whole clusters, the others of regions; what lowers the cut stays.
 * *fruitless counts them from the last that was worthwhile on, some at once. */
clv_status clv_local_bout(clv_local *l, clv_rng *rng, int64_t count, int64_t *fruitless);
/* Bouts that look at several times n objects together, then passes until no object moves. `fruitless` counts kicks in a
 * row (several at once) without a gain worth the wait; a round ends early when there are `patience` of them, unless
 * that is below 0. */
clv_status clv_local_round(clv_local *l, clv_rng *rng, int64_t patience, int64_t *fruitless);

/* --- the functions of the method: ncut.c, predict.c --- */
CLV_METHOD_PARTS(ncut)

/* choose.c: gaussian, local or local-knn, whichever suits the points. */
clv_status clv_ncut_choose(clv_context *ctx, const clv_matrix *points, const void *options, clv_affinity_options *how);

#endif
