/* KPALM: what the stages of the method share.
 *
 *   tile.c       keys of a tile of points to all centers, projections, sums: the hot kernels
 *   problem.c    what all restarts share: mean, spread, diameter, alpha, epsilon; the checks
 *   starts.c     random, k-means++, greedy k-means++, D^1, given centers
 *   step.c       an iteration: the objects block by block, then the centers
 *   soft.c       objects that belong to several clusters: their weights, kept or computed again
 *   vicinity.c   the centers around each center
 *   centers.c    centers from the sums, how far they moved, empty clusters
 *   exchange.c   the polish: single objects to other clusters
 *   evaluate.c   sigma, F and the smallest subgradient, from the data alone
 *   state.c      what one restart works with
 *   predict.c    labels of new points, the value of what is given
 *   kpalm.c      options, a restart as the driver sees it, the public functions
 *
 * Lengths and distances in tiles and bounds are in units of frame.unit, everything else is in the units of the data. */
#ifndef CLV_KPALM_H
#define CLV_KPALM_H

#include "engine/driver.h"
#include "methods/kpalm/tile.h"

/* Labels of objects that are not (yet) wholly in one cluster. */
enum {
    CLV_UNASSIGNED = -1,
    CLV_STORED = -2,  /* several clusters; the weights are in the pool of the block */
    CLV_REPLAYED = -3 /* several clusters; the weights follow from w(0) and the centers so far */
};

/* Iterations whose centers are kept to replay weights. */
enum { CLV_MOST_REPLAY = 8 };

/* The forms of an iteration. The fast one is what users get; tests compare it with the plain one. */
typedef struct clv_kpalm_form {
    bool bounds;      /* skip objects whose nearest center cannot have changed */
    bool incremental; /* sums of clusters follow the objects that move */
    int64_t replay;   /* iterations in which weights with many nonzeros are not stored but computed again */
} clv_kpalm_form;

/* What all restarts share. */
typedef struct clv_kpalm_problem {
    clv_context *ctx;
    const clv_matrix *points;
    clv_kpalm_options options; /* norm, start and units resolved */
    int64_t n, p, k;
    bool euclidean;       /* smoothed distances, not squared ones */
    bool affine;          /* w(0) uniform, squared distances, dense points: weights can be replayed by shifts */
    bool hard;            /* lloyd, weiszfeld: every object goes to its nearest center */
    const double *sample; /* weights of the objects; NULL: all 1 */
    double mass;          /* their sum */
    clv_frame frame;
    double *mean;     /* p */
    double spread;    /* sum of sample |a - mean|^2 */
    double length;    /* the unit of moves of centers in the certificate: (spread / mass)^1/2 */
    double effective; /* tr(S^2) / tr(S) of the covariance S; 0 where nothing asks for it */
    double diameter;  /* 0 where nothing asks for it */
    double alpha;     /* alpha(0) */
    double epsilon;   /* 0 for squared distances */
    double tolerance;
    double hurry; /* when starts take what is at hand; 0: never */
    clv_kpalm_form form;
    int64_t block, chunks; /* rows that are worked on at once; parts of the work, whatever the threads */
    bool keeps_weights;    /* a snapshot holds the weights of all objects */
    bool show;             /* someone looks at every iterate */
} clv_kpalm_problem;

clv_status clv_kpalm_problem_new(clv_context *ctx, const clv_matrix *points, const clv_kpalm_options *options,
                                 clv_kpalm_problem *out);
void clv_kpalm_problem_free(clv_kpalm_problem *p); /* also after a failure */
/* Blocks, chunks and the form, from n, p, k, norm, w(0) and `hard`. */
void clv_kpalm_divide(clv_kpalm_problem *p);
double clv_kpalm_alpha(const clv_kpalm_problem *p, int64_t t);
bool clv_kpalm_alpha_at_floor(const clv_kpalm_problem *p, int64_t t);
/* The rows of part c of the work. */
void clv_kpalm_chunk(const clv_kpalm_problem *p, int64_t c, int64_t *from, int64_t *to);
static inline double clv_kpalm_sample(const clv_kpalm_problem *p, int64_t i) {
    return p->sample ? p->sample[i] : 1;
}

/* --- soft.c --- */

/* The weights of the objects of a block that are in several clusters, object by object: its place in the block, how
 * many clusters, where their weights begin, and the clusters; the weights beside, in the type of the points. */
typedef struct clv_pool {
    int64_t used, capacity;       /* of index */
    int64_t weights, weight_room; /* of weight */
    int32_t *index;
    void *weight;
} clv_pool;

/* What one thread works with. */
typedef struct clv_worker {
    void *keys, *weights;       /* tiles */
    void *line, *listed;        /* rows of weights */
    int32_t *index;             /* a row's nonzeros */
    void *gathered;             /* rows of the points */
    int64_t *wide;              /* a tile's: objects with many clusters */
    double *norms;              /* a tile's */
    float *shifts;              /* tile x replay */
    double *distance;           /* k */
    bool *support;              /* k */
    int64_t *rows, *close;      /* a tile's: objects */
    uint8_t *open;              /* a block's: objects whose bounds do not settle them */
    int32_t *was;               /* a tile's: the label so far */
    clv_projection *projected;  /* a tile's */
    clv_nearest *nearest;       /* a tile's */
    int64_t *vertex, *replayed; /* a block's: objects by kind */
    clv_pool fresh;             /* what the block's pool will be */
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

typedef struct clv_kpalm_state {
    const clv_kpalm_problem *problem;
    int threads;
    int64_t t;
    uint64_t salt;            /* of this restart's random weights */
    double *centers, *before; /* k x p: x(t) and x(t - 1) */
    double *square;           /* k: |x_l|^2 */
    clv_panel *panels;        /* of x(0), x(1), ... while weights are replayed; then only the last is filled again */
    int64_t panel_count, panel;
    clv_panel affine; /* uniform weights, as a panel */
    float *shifts;    /* replay x n: what the projections took off */
    double *apart;    /* k: how far the next center is, in units, from below */
    clv_slack slack;  /* for the step from the centers before to these */
    clv_vicinity vicinity;
    int32_t *labels;      /* n */
    float *upper, *lower; /* n: bounds of the distances to the own center and to all others */
    clv_pool *pools;      /* of blocks */
    int64_t pool_count;
    double *sums;        /* k x (p + 1): of the objects wholly in a cluster; the last column is their mass */
    double *total;       /* k x (p + 1): of all */
    double *parts;       /* chunks x 2 x k x (p + 1): changes of sums, and sums of the soft objects */
    clv_tally *tallies;  /* chunks */
    clv_worker *workers; /* threads */
    int64_t soft;        /* objects in several clusters */
    bool hardened;       /* ties are broken: every object goes to its nearest center */
    bool torn;           /* an interrupted step: labels and centers do not belong together */
    double value;        /* sigma */
    double promised;     /* decrease of sigma, by Propositions 1 and 5 */
    double sufficient;   /* the decrease over that; NaN: none to speak of */
    int64_t tied;        /* iterations in which objects were in several clusters and nothing moved */
    int64_t *start;      /* n + 1: the weights of all objects as CSR, where the problem keeps them */
    int32_t *index;
    double *weight;
} clv_kpalm_state;

clv_status clv_kpalm_state_new(clv_context *ctx, const clv_kpalm_problem *problem, int threads, clv_kpalm_state **out);
void clv_kpalm_state_free(clv_context *ctx, clv_kpalm_state *s); /* takes NULL */

/* Bytes of a state, with the lists of weights as long as they usually become. */
size_t clv_kpalm_state_memory(const clv_kpalm_problem *p, const clv_kpalm_options *options);

/* A tile of objects with their weights so far in the worker's weights and the keys to x(t) in its keys: project, sort
 * out who is in one cluster now, store the others, add up. `sums` are changes of s->sums, `soft` sums afresh. */
clv_status clv_soft_advance(clv_kpalm_state *s, clv_worker *w, int64_t count, int64_t first, bool replayed,
                            double *sums, double *soft, clv_tally *tally);
/* The objects of a block that are in several clusters, as they were; replayed ones are counted and listed. */
clv_status clv_soft_block(clv_kpalm_state *s, clv_worker *w, int64_t block, int64_t replayed, double *sums,
                          double *soft, clv_tally *tally);
/* The worker's fresh pool becomes that of the block. */
clv_status clv_soft_keep(clv_kpalm_state *s, clv_worker *w, int64_t block);
/* The weights of all objects into s->start, index and weight; from there back to labels and pools. */
void clv_soft_export(clv_kpalm_state *s);
clv_status clv_soft_import(clv_kpalm_state *s);

/* --- vicinity.c --- */
clv_status clv_vicinity_new(const clv_kpalm_problem *p, clv_vicinity *out);
void clv_vicinity_free(clv_context *ctx, clv_vicinity *v);
size_t clv_vicinity_bytes(const clv_kpalm_problem *p);
/* The lists and s->apart for x(t), whose panel is filled. */
void clv_vicinity_update(clv_kpalm_state *s);

/* --- centers.c --- */

/* x(t) is new: panels, movements, separations. */
void clv_centers_publish(clv_kpalm_state *s, bool moved);
/* x(t + 1) from s->total; keeps what has no mass. Sets before. */
void clv_centers_update(clv_kpalm_state *s);
/* Give every center without mass a far object, if the options say so; `gain` is by how much sigma (squared distances)
 * falls. */
clv_status clv_centers_reseed(clv_kpalm_state *s, double *gain);
double *clv_part_sums(const clv_kpalm_state *s, int64_t chunk);
double *clv_part_soft(const clv_kpalm_state *s, int64_t chunk);

/* --- exchange.c --- */

/* Objects to other clusters, one at a time, while that lowers sigma; all of them wholly in one cluster before and
 * after. How many moved. */
clv_status clv_kpalm_exchange(clv_kpalm_state *s, int64_t *moved);

/* --- starts.c, step.c --- */
clv_status clv_kpalm_seed(clv_kpalm_state *s, clv_rng *rng);
clv_status clv_kpalm_iterate(clv_kpalm_state *s, clv_iterate *out);
/* Object i, wholly in cluster `from` (or CLV_UNASSIGNED), is wholly in cluster `to` now; or it leaves for several. */
void clv_settle(clv_kpalm_state *s, int64_t i, int32_t from, int32_t to, double *sums, double *soft, clv_tally *tally);
void clv_leave(clv_kpalm_state *s, int64_t i, int32_t from, double *sums, clv_tally *tally);
/* An object wholly in a cluster, just compared with all centers: bounds from its least keys. */
void clv_set_bounds(clv_kpalm_state *s, int64_t i, const clv_nearest *nearest, double norm);

/* --- evaluate.c --- */

typedef struct clv_kpalm_judgement {
    double sigma;
    double f;           /* sigma with every object at its nearest center */
    double subgradient; /* the norm of the smallest one */
} clv_kpalm_judgement;

/* What the current iterate is worth, from the data: s->centers (published) and s->labels, or `membership` where it is
 * not NULL (n x k, CSR). `all`: not only sigma. `refresh`: s->sums are computed again on the way. */
clv_status clv_kpalm_judge(clv_kpalm_state *s, const clv_matrix *membership, bool all, bool refresh,
                           clv_kpalm_judgement *out);
/* Every object to its nearest center. */
clv_status clv_kpalm_assign(clv_kpalm_state *s);
/* The nearest center of row i of `points`, found beyond doubt or by exact distances: the first of equals. */
int32_t clv_nearest_center(const clv_panel *panel, const clv_matrix *points, int64_t i, const clv_nearest *found,
                           const double *centers, const double *square);
/* The method as the driver takes it. */
clv_method clv_kpalm_method(const clv_kpalm_problem *p);
/* The exported weights of all objects, as a matrix. */
clv_matrix clv_soft_matrix(const clv_kpalm_state *s);

#endif
