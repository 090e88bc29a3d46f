/* KPALM: what the stages of the method share. Begin with iteration.c: what is below it only makes it cheap.
 *
 *   kpalm.c      options, a restart as the driver sees it, the public functions
 *   problem.c    what all restarts share: mean, spread, diameter, alpha, epsilon; the checks
 *   starts.c     random, k-means++, greedy k-means++, D^1, given centers; new ones for empty clusters
 *   oversample.c k-means||
 *   iteration.c  the problem and the two formulas of an iteration: (2.1) cluster assignment, (2.2) center update
 *     assign.c     (2.1) for all objects, block by block: bounds for those that are in one cluster
 *     soft.c       (2.1) for objects that belong to several clusters
 *     weights.c    the weights of these, as lists
 *     vicinity.c   the centers around each center
 *     centers.c    after (2.2): panels, how far centers moved
 *     tile.c       keys of a tile of points to all centers, projections, sums: the hot kernels (tile_*.h)
 *   decrease.c   sigma after an iteration, its decrease by Propositions 1 and 5, whether to go on
 *   exchange.c   the polish: single objects to other clusters
 *   evaluate.c   sigma, F and the smallest subgradient, from the data alone
 *   state.c      what one restart works with
 *   predict.c    labels of new points, the value of what is given
 *   shares.c     several processes: whose objects are whose
 *   card.c       iterations on a graphics card
 *
 * Lengths and distances in tiles and bounds are in units of frame.unit, everything else is in the units of the data. */
#ifndef CLV_KPALM_H
#define CLV_KPALM_H

#include "base/ranks.h"
#include "methods/kpalm/tile.h"
#include "methods/methods.h"

#include <math.h>

/* Labels of objects that are not (yet) wholly in one cluster. */
enum {
    CLV_UNASSIGNED = -1,
    CLV_STORED = -2,  /* several clusters; the weights are in the pool of the block */
    CLV_REPLAYED = -3 /* several clusters; the weights follow from w(0) and the centers so far */
};

/* w(0) that was given: a value of options.initial_membership beside those of clv_kpalm_membership. */
enum { CLV_KPALM_GIVEN = -1 };

/* The forms of an iteration. The fast one is what users get; tests compare it with the plain one. */
typedef struct clv_kpalm_form {
    bool bounds;      /* skip objects whose nearest center cannot have changed */
    bool incremental; /* sums of clusters follow the objects that move */
    int64_t replay;   /* iterations in which weights with many nonzeros are not stored but computed again */
} clv_kpalm_form;

/* Points on a graphics card (card.c), and the clusters of a restart there (affinity/cuda.h). */
typedef struct clv_kpalm_card clv_kpalm_card;
struct clv_cuda_clusters;

/* What all restarts share. */
typedef struct clv_kpalm_problem {
    clv_context *ctx;
    const clv_matrix *points;
    clv_kpalm_options options; /* norm, start and units resolved */
    int64_t n, p, k;
    bool euclidean; /* smoothed distances, not squared ones */
    bool affine;    /* w(0) uniform, squared distances, dense points: weights can be replayed by shifts */
    bool hard;      /* lloyd, weiszfeld: every object goes to its nearest center */
    double *sample; /* weights of the objects; NULL: all 1 */
    double *factor; /* n: alpha_i(t) = factor_i alpha(t); NULL: all 1 */
    double least_factor, most_factor;
    double *initial;                 /* n x k: w(0) as given; NULL: by its name */
    double damping;                  /* gamma_x: steps of centers are this many times shorter */
    const clv_matrix *start_centers; /* given to start from, or NULL */
    double mass;                     /* their sum */
    clv_frame frame;
    double *mean;     /* p */
    double *norms;    /* n: |a - mean|^2 */
    double spread;    /* sum of sample |a - mean|^2 */
    double length;    /* the unit of moves of centers in the certificate: (spread / mass)^1/2 */
    double extent;    /* the diameter, or less where few objects are far away; likewise */
    double effective; /* tr(S^2) / tr(S) of the covariance S; 0 where nothing asks for it */
    double diameter;  /* 0 where nothing asks for it */
    double alpha;     /* alpha(0) */
    double epsilon;   /* 0 for squared distances */
    double tolerance;
    double rounding; /* of a subgradient, whose sums are of points as far away as the farthest */
    clv_kpalm_form form;
    int64_t block, chunks; /* rows that are worked on at once; parts of the work, whatever the threads */
    bool keeps_weights;    /* a snapshot holds the weights of all objects */
    bool shared;           /* by ranks: each has the objects of its chunks (shares.c) */
    bool show;             /* someone looks at every iterate */
    clv_kpalm_card *card;  /* iterations are computed there; NULL: here */
} clv_kpalm_problem;

clv_status clv_kpalm_problem_new(clv_context *ctx, const clv_input *input, const clv_kpalm_options *options,
                                 clv_kpalm_problem *out);
/* What a run is given beside the problem: the factors of alpha and w(0). */
clv_status clv_kpalm_take_given(clv_kpalm_problem *p, const clv_input *input);
void clv_kpalm_problem_free(clv_kpalm_problem *p); /* also after a failure */
/* Blocks, chunks and the form, from n, p, k, norm, w(0) and `hard`. */
void clv_kpalm_divide(clv_kpalm_problem *p);
/* How many of these threads are worth waking up. */
int clv_kpalm_threads(const clv_kpalm_problem *p, int threads);
double clv_kpalm_alpha(const clv_kpalm_problem *p, int64_t t);
bool clv_kpalm_alpha_at_floor(const clv_kpalm_problem *p, int64_t t);
/* The rows of part c of the work. */
void clv_kpalm_chunk(const clv_kpalm_problem *p, int64_t c, int64_t *from, int64_t *to);
static inline double clv_kpalm_sample(const clv_kpalm_problem *p, int64_t i) {
    return p->sample ? p->sample[i] : 1;
}
/* |a_i - mean|^2 in units. */
static inline double clv_square_from_mean(const clv_kpalm_problem *p, int64_t i) {
    return p->norms[i] / p->frame.unit / p->frame.unit;
}
/* CLV_EINTERRUPTED when the computation is to stop. */
clv_status clv_kpalm_poll(const clv_kpalm_problem *p);
/* alpha(t) in the units of keys, or of smoothed distances. */
static inline double clv_alpha_in_units(const clv_kpalm_problem *p, int64_t t) {
    return clv_kpalm_alpha(p, t) / p->frame.unit / (p->euclidean ? 1 : p->frame.unit);
}
static inline double clv_alpha_factor(const clv_kpalm_problem *p, int64_t i) {
    return p->factor ? p->factor[i] : 1;
}
/* |x - y|^2, or |x|^2 where y is NULL, added up in order. */
static inline double clv_square_of(const double *x, const double *y, int64_t p) {
    double sum = 0;
    for (int64_t f = 0; f < p; f++) {
        double step = y ? x[f] - y[f] : x[f];
        sum += step * step;
    }
    return sum;
}
/* What object i adds to center l in (2.2): v a_i to the sum of p numbers, v to the number after them. */
static inline void clv_add_object(const clv_kpalm_problem *p, int64_t i, double v, int64_t l, double *sums) {
    double *sum = sums + l * (p->p + 1);
    clv_row_add(p->points, i, v, sum);
    sum[p->p] += v;
}

/* The mass of cluster l in such sums. */
static inline double clv_mass_in(const clv_kpalm_problem *p, const double *sums, int64_t l) {
    return sums[l * (p->p + 1) + p->p];
}

/* The weights of the objects of a block that are in several clusters, object by object: its place in the block, how
 * many clusters, where their weights begin, and the clusters; the weights beside, in the type of the points. Lists of
 * up to CLV_FEW clusters are stored in any case. */
typedef struct clv_pool {
    int64_t used, capacity;       /* of index */
    int64_t weights, weight_room; /* of weight */
    int32_t *index;
    void *weight;
    bool large; /* an allocation of its own, not a part of the room that all share */
} clv_pool;

/* A list in a pool: the place of its object in the block, how many clusters, where their weights begin, which. */
typedef struct clv_listed {
    int64_t place, count, first;
    const int32_t *index;
} clv_listed;

/* What objects in one cluster wait for: to be sorted out by the distance to their own center, which may settle them; to
 * be compared with the centers that went farthest, with those near by, with all. */
typedef enum clv_doubt { CLV_OPEN, CLV_SETTLED, CLV_BY_MOVERS, CLV_BY_NEAR, CLV_BY_ALL, CLV_DOUBTS } clv_doubt;

/* What one thread works with. */
typedef struct clv_worker {
    void *keys, *weights;       /* tiles */
    void *line, *listed;        /* rows of weights */
    void *few;                  /* lists of a tile */
    int32_t *few_index;         /* and their clusters */
    int32_t *index;             /* a row's nonzeros */
    double *shares;             /* what objects with few clusters add to the sums of a part of the work */
    void *gathered;             /* rows of the points */
    double *distance;           /* k */
    bool *support;              /* k */
    uint8_t *open;              /* a block's: objects whose bounds do not settle them */
    int64_t *vertex, *replayed; /* a block's: objects by kind */
    clv_pool fresh;             /* what the block's pool will be */
    /* Objects by what they wait for: less than a tile, and what is left over by sorting one, by movers and by near. */
    int64_t queue[CLV_DOUBTS][4 * CLV_TILE_ROWS];
    /* Of a tile: objects, those with many clusters, and of each the label so far, the norm and what was found. */
    int64_t rows[CLV_TILE_ROWS], wide[CLV_TILE_ROWS];
    int32_t was[CLV_TILE_ROWS];
    double norms[CLV_TILE_ROWS];
    clv_projection projected[CLV_TILE_ROWS];
    double alpha[CLV_TILE_ROWS];
    clv_short_list lists[CLV_TILE_ROWS];
    clv_nearest nearest[CLV_TILE_ROWS];
} clv_worker;

/* What a part of the work found. */
typedef struct clv_tally {
    int64_t changed, soft;
    double change;     /* sum of sample |w(t + 1) - w(t)|^2 */
    double correction; /* of sigma: weights that do not quite add up to 1 */
    double cost;       /* euclidean: H(w(t + 1), x(t)) */
    double largest;    /* squared change of the weights of one object */
    clv_status status;
} clv_tally;

/* For each center, the `count` centers around it, itself first; a panel of these, a vector to a feature; and the
 * distance to the nearest center that is not listed, in units, from below. No lists: count 0. */
typedef struct clv_vicinity {
    int64_t count;
    int32_t *center;      /* k x count */
    void *lines, *offset; /* k x p x count, k x count, in the type of the points */
    double *beyond;       /* k */
} clv_vicinity;

/* The weights of all objects as CSR, with room for n x k of them; NULL where the problem does not keep them. */
typedef struct clv_soft_rows {
    int64_t *start; /* n + 1 */
    int32_t *index;
    double *weight;
} clv_soft_rows;

typedef struct clv_kpalm_state {
    const clv_kpalm_problem *problem;
    int threads;
    int64_t t;
    uint64_t salt;            /* of this restart's random weights */
    double *centers, *before; /* k x p: x(t) and x(t - 1) */
    double *square;           /* k: |x_l|^2 */
    clv_panel *panels;        /* of x(0), x(1), ... while weights are replayed; then only the last is filled again */
    int64_t panel_count, panel;
    float *shifts;   /* replay x n: what the projections took off */
    double *apart;   /* k: how far the next center is, in units, from below */
    clv_slack slack; /* for the step from the centers before to these */
    clv_vicinity vicinity;
    clv_panel movers;     /* the centers that went farthest; k 0: none */
    int32_t *mover;       /* which they are */
    int32_t *labels;      /* n */
    float *upper, *lower; /* n: bounds of the distances to the own center and to all others */
    clv_pool *pools;      /* of blocks */
    int64_t pool_count;
    int32_t *room_index; /* where pools lie, side by side, while lists are short */
    void *room_weight;
    double *sums;        /* k x (p + 1): of the objects wholly in a cluster; the last column is their mass */
    double *total;       /* k x (p + 1): of all */
    double *parts;       /* chunks x 2 x k x (p + 1): changes of sums, and sums of the soft objects */
    clv_tally *tallies;  /* chunks */
    clv_worker *workers; /* threads */
    int64_t soft;        /* objects in several clusters */
    bool hardened;       /* ties are broken: every object goes to its nearest center */
    bool moved;          /* the centers have, from `before`, as far as `slack` knows */
    bool torn;           /* an interrupted step: labels and centers do not belong together */
    bool assigned;       /* every object has a label, or weights of its own */
    bool unplaced;       /* labels are still to be those of a start, */
    bool unbounded;      /* and bounds to be such that nothing is known: clv_kpalm_lay_out */
    double value;        /* sigma */
    double promised;     /* decrease of sigma, by Propositions 1 and 5 */
    double sufficient;   /* the decrease over that; NaN: none to speak of */
    int64_t idle;        /* iterations in a row in which nothing moved but what rounding tells apart */
    clv_soft_rows rows;
    struct clv_cuda_clusters *there; /* on the card */
    bool known_there;                /* labels and weights there are those of the iterate */
    bool fetched;                    /* and weights are in the pools as well */
} clv_kpalm_state;

/* A clv_kpalm_state on a clv_kpalm_problem, as the driver takes it. */
clv_status clv_kpalm_state_new(clv_context *ctx, const void *of, int threads, void **out);
void clv_kpalm_state_free(clv_context *ctx, void *state); /* takes NULL */

/* Labels and bounds of all objects, before they are first needed: a start that a limit ends does without. Interrupted
 * only if it is not `patient`, and then still to be done. */
clv_status clv_kpalm_lay_out(clv_kpalm_state *s, bool patient);

/* All that iterations to come depend on, for a checkpoint (state.c), and its pools (weights.c). */
clv_status clv_kpalm_state_pass(void *state, clv_archive *archive);
clv_status clv_soft_pass(clv_kpalm_state *s, clv_archive *archive);
clv_status clv_soft_share(clv_kpalm_state *s); /* of ranks: the pools of each become everybody's */
clv_status clv_soft_rows_pass(const clv_kpalm_problem *p, clv_soft_rows *rows, clv_archive *archive);

/* Bytes of a state, at most, unless most objects stay equally near to many centers. `varied`: alpha has a factor per
 * object. */
size_t clv_kpalm_state_memory(const clv_kpalm_problem *p, const clv_kpalm_options *options, bool varied);

/* The panel of x(t), t no later than now, and that of the current centers. */
static inline const clv_panel *clv_panel_at(const clv_kpalm_state *s, int64_t t) {
    return &s->panels[t < s->t ? t : s->panel];
}
static inline const clv_panel *clv_panel_now(const clv_kpalm_state *s) {
    return &s->panels[s->panel];
}
/* Whether d / alpha(t) is so large, for some object, that weights would lose digits by it. */
static inline bool clv_is_steep(const clv_kpalm_state *s, int64_t t) {
    const clv_kpalm_problem *p = s->problem;
    return clv_panel_is_steep(clv_panel_at(s, t), &p->frame, p->epsilon / p->frame.unit,
                              clv_alpha_in_units(p, t) * p->least_factor);
}
/* d(x_l(t), a_i), in double. */
static inline double clv_kpalm_distance(const clv_kpalm_state *s, int64_t i, int64_t l) {
    const clv_kpalm_problem *p = s->problem;
    double square = clv_row_distance(p->points, i, s->centers + l * p->p, s->square[l]);
    return p->euclidean ? sqrt(square + p->epsilon * p->epsilon) : square;
}
/* |x_l(t) - x_l(t - 1)|^2. */
static inline double clv_center_way2(const clv_kpalm_state *s, int64_t l) {
    int64_t p = s->problem->p;
    return clv_square_of(s->centers + l * p, s->before + l * p, p);
}

/* Whether objects begin without memberships: each then goes to its nearest center. */
static inline bool clv_kpalm_begins_apart(const clv_kpalm_problem *p) {
    return p->hard || p->options.initial_membership == CLV_KPALM_NEAREST;
}

/* Whether all objects are wholly in one cluster. */
static inline bool clv_kpalm_is_whole(const clv_kpalm_state *s) {
    return s->soft == 0 && s->assigned;
}

/* --- shares.c: where ranks share the run; else all is everybody's, and nothing is exchanged --- */

/* By the sizes, once the work is divided. */
bool clv_kpalm_is_shared(const clv_kpalm_problem *p);
/* The chunks that this rank works on, first .. last - 1, and their rows; the rank that has a chunk. */
void clv_kpalm_own_chunks(const clv_kpalm_problem *p, int64_t *first, int64_t *last);
void clv_kpalm_own_rows(const clv_kpalm_problem *p, int64_t *from, int64_t *to);
int clv_kpalm_owner(const clv_kpalm_problem *p, int64_t chunk);
/* Around work on these, which may look at the clock; what it returns is then agreed upon by one of the next two. */
void clv_kpalm_begin_own(const clv_kpalm_problem *p);
void clv_kpalm_end_own(const clv_kpalm_problem *p);
clv_status clv_kpalm_meet(const clv_kpalm_problem *p, clv_status status);
/* An item of `size` bytes for every chunk; for every object. */
clv_status clv_kpalm_gather_chunks(const clv_kpalm_problem *p, clv_status status, void *items, size_t size);
clv_status clv_kpalm_gather_objects(const clv_kpalm_problem *p, void *items, size_t size);
/* A list of lengths[c] items for every chunk c, one after the other. */
clv_status clv_kpalm_gather_lists(const clv_kpalm_problem *p, const int64_t *lengths, void *items, size_t size);
/* Work that goes through all objects in their order: rank by rank, each on its rows, from what the one before it has
 * passed on. */
typedef clv_status (*clv_kpalm_turn)(void *user, int64_t from, int64_t to);
clv_status clv_kpalm_in_turn(const clv_kpalm_problem *p, clv_kpalm_turn turn, void *user, void *passed, int64_t bytes);
/* Points of some objects, p numbers each, from the ranks that have them. */
clv_status clv_kpalm_rows(const clv_kpalm_problem *p, const int64_t *objects, int64_t count, double *rows);
clv_status clv_kpalm_broadcast(const clv_kpalm_problem *p, void *data, int64_t bytes, int root);

/* --- iteration.c --- */

/* (2.1) of iteration t for a tile: w->weights from w(t) to w(t + 1), w->keys from keys to distances; w->projected. */
void clv_cluster_assignment(clv_kpalm_state *s, clv_worker *w, int64_t t, int64_t count);
/* (2.2): x(t + 1) from s->total; keeps what has no mass. Sets before. */
void clv_center_update(clv_kpalm_state *s);
clv_status clv_kpalm_iterate(clv_kpalm_state *s, clv_iterate *out);

/* --- decrease.c: after (2.2) --- */

/* sigma, for squared distances; for smoothed ones no less than it. */
double clv_sigma(const clv_kpalm_state *s, const clv_tally *tally);
/* What is added to squared distances' sigma for the rounding of its sums. */
double clv_sigma_rounding(const clv_kpalm_problem *p);
/* By how much sigma must fall at least, by Propositions 1 and 5. */
double clv_promised_decrease(const clv_kpalm_state *s, const clv_tally *tally);
/* Whether anything may still change. */
void clv_note_progress(clv_kpalm_state *s, const clv_tally *tally, double before, clv_iterate *out);

/* --- assign.c --- */

/* A block of objects on its way through (2.1). */
typedef struct clv_visit {
    clv_kpalm_state *s;
    clv_worker *w;
    int64_t first;       /* of the block */
    double *sums, *soft; /* changes of s->sums; sums afresh */
    clv_tally *tally;
    int64_t queued[CLV_DOUBTS]; /* objects that wait, in w->queue */
} clv_visit;

/* (2.1) for all objects, and the sums of (2.2) into s->total. */
clv_status clv_assign_objects(clv_kpalm_state *s, clv_tally *tally);
/* Object i, wholly in cluster `from` (or CLV_UNASSIGNED), is wholly in cluster `to` now; or it leaves for several. */
void clv_settle(clv_visit *v, int64_t i, int32_t from, int32_t to);
void clv_leave(clv_visit *v, int64_t i, int32_t from);
/* An object wholly in a cluster, just compared with all centers: bounds from its least keys. */
void clv_set_bounds(clv_kpalm_state *s, int64_t i, const clv_nearest *nearest, double norm);

/* --- soft.c --- */

/* A tile of objects with w(t) in the worker's weights and the keys to x(t) in its keys: project, sort out who is in one
 * cluster now, store the others, add up. `replayed`: long lists need not be stored. */
void clv_soft_advance(clv_visit *v, int64_t count, bool replayed);
/* The objects of a block that were in several clusters; those that are replayed are listed in the worker. */
void clv_soft_block(clv_visit *v, int64_t block, int64_t replayed);
/* Before and after the blocks of a part of the work: shares of objects with few clusters, and these to the sums. */
void clv_soft_begin_part(clv_visit *v);
void clv_soft_end_part(clv_visit *v);

/* --- weights.c --- */

/* w(0) of object i, as a row of a tile. */
void clv_soft_begin(const clv_kpalm_state *s, const clv_panel *panel, int64_t i, void *weights);
/* The list of the object at `place` of its block, to the fresh pool. A short one has room for CLV_FEW, whatever its
 * count. */
void clv_soft_store(clv_worker *w, clv_scalar scalar, const clv_short_list *list, int64_t place);
/* The list at `at` of a pool; where the next one is. And such a list as a row of a tile. */
int64_t clv_soft_find(const clv_pool *pool, int64_t at, clv_listed *out);
void clv_soft_load(const clv_pool *pool, const clv_listed *from, const clv_panel *panel, void *row);
/* Pools for lists of up to CLV_FEW clusters: one allocation, as what is touched for the first time a few pages at a
 * time takes longer than the lists themselves. */
clv_status clv_soft_pools_new(clv_kpalm_state *s);
void clv_soft_pools_free(clv_kpalm_state *s);
/* The worker's fresh pool becomes that of the block. */
clv_status clv_soft_keep(clv_kpalm_state *s, clv_worker *w, int64_t block);
/* Bytes of all lists, of the rows and of what is replayed. */
size_t clv_soft_bytes(const clv_kpalm_problem *p, const clv_kpalm_options *options, bool varied);
clv_status clv_soft_rows_new(const clv_kpalm_problem *p, clv_soft_rows *out);
void clv_soft_rows_free(clv_context *ctx, clv_soft_rows *rows);
/* The weights of all objects into rows; these as a matrix; and back to labels and pools. */
clv_status clv_soft_export(clv_kpalm_state *s, clv_soft_rows *to);
clv_matrix clv_soft_matrix(const clv_kpalm_problem *p, const clv_soft_rows *rows);
clv_status clv_soft_import(clv_kpalm_state *s, const clv_soft_rows *rows);

/* --- vicinity.c --- */
clv_status clv_vicinity_new(const clv_kpalm_problem *p, clv_vicinity *out);
void clv_vicinity_free(clv_context *ctx, clv_vicinity *v);
size_t clv_vicinity_bytes(const clv_kpalm_problem *p);
/* The lists and s->apart for x(t), whose panel is filled. */
void clv_vicinity_update(clv_kpalm_state *s);

/* --- centers.c --- */

/* Room for the centers that go farthest. */
clv_status clv_movers_new(clv_kpalm_state *s);

/* x(t) is new: panels, movements, separations. */
void clv_centers_publish(clv_kpalm_state *s, bool moved);
double *clv_part_sums(const clv_kpalm_state *s, int64_t chunk);
double *clv_part_soft(const clv_kpalm_state *s, int64_t chunk);

/* --- exchange.c --- */

/* Objects to other clusters, one at a time, while that lowers sigma; all of them wholly in one cluster before and
 * after. How many moved. */
clv_status clv_kpalm_exchange(clv_kpalm_state *s, int64_t *moved);

/* --- starts.c --- */

/* Bytes of what chooses centers. */
size_t clv_seeding_bytes(const clv_kpalm_problem *p);
clv_status clv_kpalm_seed(clv_kpalm_state *s, clv_rng *rng);
/* An object with probability proportional to its sample weight. */
int64_t clv_kpalm_draw_object(const clv_kpalm_problem *p, clv_rng *rng);
/* s->upper: squared distances, in units, to no center yet. */
clv_status clv_kpalm_forget_centers(clv_kpalm_state *s);
/* Centers from l on, by k-means++: `parts` has the sum of the distances of each chunk, `taken` the objects that are
 * centers. With a stop, by weight alone. */
clv_status clv_kpalm_seed_rest(clv_kpalm_state *s, clv_rng *rng, const double *parts, bool *taken, int64_t l,
                               clv_status stop);
/* Give every center without mass an object of another cluster; `gain` is by how much sigma (squared distances) falls.
 */
clv_status clv_kpalm_refill(clv_kpalm_state *s, double *gain);

/* --- oversample.c --- */

#define CLV_KMEANS_PARALLEL "kmeans-parallel" /* the value of options.start */
enum { CLV_ROUNDS = 5, CLV_OVERSAMPLING = 2 };

/* Objects that were drawn, of all ranks: the first, then round by round in their order. */
typedef struct clv_candidates {
    clv_context *ctx;
    int64_t count, room;
    int64_t ends[CLV_ROUNDS]; /* how many there were after each round */
    int64_t *object;          /* count */
    double *rows;             /* count x p */
    double *mass;             /* count: the sample weights of the objects nearest to each */
    double *phi;              /* chunks: the distances that are left, by sample weight */
    int64_t *drawn;           /* chunks: work */
    bool *mark;               /* n: work */
} clv_candidates;

clv_status clv_candidates_new(const clv_kpalm_problem *p, clv_candidates *out);
void clv_candidates_free(clv_candidates *c); /* also after a failure */
size_t clv_candidates_bytes(const clv_kpalm_problem *p);
/* The first of them by clv_kpalm_draw_object. In a round the next number of rng is the seed of streams, and object i is
 * drawn where the first uniform number of stream i is below CLV_OVERSAMPLING k times its part of phi. */
clv_status clv_kpalm_oversample(clv_kpalm_state *s, clv_rng *rng, clv_candidates *c);
clv_status clv_kpalm_seed_parallel(clv_kpalm_state *s, clv_rng *rng);

/* --- evaluate.c --- */

typedef struct clv_kpalm_judgment {
    double sigma;
    double f;           /* sigma with every object at its nearest center */
    double subgradient; /* the norm of the smallest one */
} clv_kpalm_judgment;

/* What the current iterate is worth, from the data: s->centers (published) and s->labels, or `membership` where it is
 * not NULL (n x k, CSR). `all`: not only sigma. `refresh`: s->sums are computed again on the way. */
clv_status clv_kpalm_judge(clv_kpalm_state *s, const clv_matrix *membership, bool all, bool refresh,
                           clv_kpalm_judgment *out);
/* Every object to its nearest center. */
clv_status clv_kpalm_assign(clv_kpalm_state *s);
/* The nearest center of row i of `points`, found beyond doubt or by exact distances: the first of equals. */
int32_t clv_nearest_center(const clv_panel *panel, const clv_matrix *points, int64_t i, const clv_nearest *found,
                           const double *centers, const double *square);
/* The same for rows from..to - 1, into labels; `keys` has room for a tile. */
void clv_nearest_centers(const clv_panel *panel, const clv_frame *frame, int64_t from, int64_t to,
                         const double *centers, const double *square, void *keys, int32_t *labels);

/* --- card.c: with p->card, in place of the functions of the same names --- */

/* Whether `auto` should take a card: there is one, it has room, and the work is large. */
bool clv_kpalm_card_pays(const clv_kpalm_problem *p);
/* Where home = cuda: p->card, with the points; to be closed also on failure. */
clv_status clv_kpalm_card_open(clv_kpalm_problem *p);
void clv_kpalm_card_close(clv_kpalm_problem *p);
clv_status clv_kpalm_card_begin(clv_kpalm_state *s);
void clv_kpalm_card_end(clv_kpalm_state *s);
clv_status clv_kpalm_card_assign(clv_kpalm_state *s, clv_tally *tally); /* clv_assign_objects */
clv_status clv_kpalm_card_nearest(clv_kpalm_state *s);                  /* clv_kpalm_assign */
/* Sums of the parts that objects have in a start (starts.c), chunk by chunk: chunks x `stride` numbers; and s->upper of
 * the objects of a chunk. */
typedef struct clv_kpalm_draws {
    const double *candidates; /* count x p */
    int count;
    bool linear, begin, keep; /* as in clv_cuda_draws */
} clv_kpalm_draws;
clv_status clv_kpalm_card_draw(clv_kpalm_state *s, const clv_kpalm_draws *draws, double *sums, int64_t stride);
clv_status clv_kpalm_card_near(clv_kpalm_state *s, int64_t chunk);
/* s->lower for the polish. */
clv_status clv_kpalm_card_bounds(clv_kpalm_state *s);
/* Weights that only the card has, to the pools. */
clv_status clv_kpalm_card_fetch(clv_kpalm_state *s);

/* --- predict.c --- */

/* The nearest center of each point, the smaller one of two; in a frame of these points, if one is known (else NULL). */
clv_status clv_kpalm_nearest(clv_context *ctx, const clv_matrix *centers, const clv_matrix *fresh,
                             const clv_frame *known, int64_t threads, int32_t *out);
/* The name of the objective: sigma, or sigma-epsilon with smoothed distances. */
const char *clv_kpalm_objective(const clv_kpalm_problem *p);

/* --- kpalm.c --- */

/* A restart as the driver takes it. */
clv_solver clv_kpalm_solver_on(const clv_kpalm_problem *p);

/* --- the functions of the method: kpalm.c, predict.c --- */
CLV_METHOD_PARTS(kpalm)

#endif
