/* k-support-norm regularized learning: what the stages of the method share.
 *
 *   design.c                    X, wherever and however it is kept: X'r, X w, columns
 *   center.c                    X with columns far from the origin, beside an intercept
 *   loss.c                      logistic and squared loss, the intercept minimized out
 *   point.c                     an iterate: objective, gradient, duality gap, safe screening
 *   atoms.c                     the atoms of Frank-Wolfe, their images and the union of their supports
 *   master.c, quadratic.c       the correction over the hull of the atoms: projected Newton, PQN, pairwise
 *   working.c                   some features as a problem of their own
 *   fcfw.c fista.c admm.c newton.c   the solvers, a step each; system.c: the linear systems of newton
 *   narrow.c                    newton where features are few; gram.c: X'DX
 *   model.c                     one problem, driven
 *   ksupport.c                  options, classes, the public functions; norms.c: the norm itself for callers
 *   path.c                      many (k, lambda) in one run
 */
#ifndef CLV_METHODS_KSUPPORT_H
#define CLV_METHODS_KSUPPORT_H

#include "methods/methods.h"
#include "sets/ksupport.h"

/* *array gets room for `count` entries, or the calling function returns CLV_ENOMEM. */
#define CLV_GROW(ctx, array, count)                                                                                    \
    do {                                                                                                               \
        void *clv_grown_ = clv_resize((ctx), (array), (count), sizeof *(array));                                       \
        if (!clv_grown_) {                                                                                             \
            return CLV_ENOMEM;                                                                                         \
        }                                                                                                              \
        (array) = clv_grown_;                                                                                          \
    } while (0)

/* Larger numbers cannot be squared and added up. */
#define CLV_KS_LARGEST 1e150

/* --- point.c --- */

/* Sparse weights: places ascending. */
typedef struct clv_list {
    int64_t count, capacity;
    int64_t *index;
    double *value;
} clv_list;
clv_status clv_list_reserve(clv_context *ctx, clv_list *list, int64_t capacity);
void clv_list_free(clv_context *ctx, clv_list *list);
clv_status clv_list_copy(clv_context *ctx, clv_list *to, const clv_list *from);
/* For a checkpoint; places below `most`. */
clv_status clv_list_pass(clv_context *ctx, clv_list *list, int64_t most, clv_archive *archive);
/* Behind what is in the list, the numbers that are not 0, of `count`. That number j has the place place[j], or where
 * that is NULL first + j. */
clv_status clv_list_append(clv_context *ctx, clv_list *list, const double *number, int64_t count, const int64_t *place,
                           int64_t first);
/* The same instead of what is in the list. */
clv_status clv_list_pack(clv_context *ctx, clv_list *list, const double *number, int64_t count, const int64_t *place);

/* --- design.c --- */

typedef struct clv_design clv_design;

/* What a kind of X does. `list` names features, ascending; NULL: all of them. */
typedef struct clv_design_functions {
    /* g[j] = <column list[j], r>, and unless NULL squares[j] = <column list[j], itself> */
    void (*gradient)(const clv_design *x, const double *r, const int64_t *list, int64_t count, double *g,
                     double *squares);
    /* z = sum_j value[j] column index[j] */
    void (*margins)(const clv_design *x, const int64_t *index, const double *value, int64_t count, double *z);
    /* Some columns as a design of their own, in the room that `out` has from before, if that is enough (all zero:
     * none); NULL: not supported. Free it also on failure. */
    clv_status (*gather)(const clv_design *x, const int64_t *list, int64_t count, clv_design *out);
    /* The k largest entries of X'r in magnitude, without the others ever being stored; NULL: take the gradient. */
    clv_status (*steepest)(const clv_design *x, void *work, const double *r, int64_t k, clv_list *out);
    /* argmin 1/2 ||y - X w||^2 + rho/2 ||w - v||^2 for squares, with its margins and X'slope there; NULL: by X X'. */
    clv_status (*pull)(const clv_design *x, void *work, const double *y, double rho, const double *v, double *w,
                       double *margin, double *gradient);
    double (*scale)(const clv_design *x); /* the rho to begin with; for a design that has `pull` */
    /* The work space of these two, for one run; NULL: they need none. */
    clv_status (*new_work)(const clv_design *x, int64_t k, void **work);
    void (*free_work)(clv_context *ctx, void *work);     /* takes NULL */
    void (*pass_work)(void *work, clv_archive *archive); /* for a checkpoint; NULL: nothing in it lasts */
} clv_design_functions;

struct clv_design {
    clv_context *ctx;
    const clv_design_functions *does;
    int64_t samples, features;
    double numbers; /* that a pass goes over */
    int threads;
    clv_matrix matrix; /* one row per feature, dense or CSR; or one row per sample, dense */
    clv_data *owned;   /* a copy of its own, or NULL */
    const void *user;  /* of other kinds */
};

/* `transposed`: X has one row per feature. Dense X is borrowed as it is; sparse X with one row per sample is copied. */
clv_status clv_design_new(clv_context *ctx, const clv_matrix *x, bool transposed, int threads, clv_design *out);
void clv_design_free(clv_design *x); /* takes one that is all zero */
bool clv_design_has_features_as_rows(const clv_design *x);

/* --- center.c --- */

/* Whether X has columns whose means are so many times their spread: thousands cost an intercept its digits, and less is
 * enough to hold up a solver that has none. */
#define CLV_KS_FAR 1e3
#define CLV_KS_OFF 100
bool clv_ks_is_far(const clv_matrix *x, bool transposed, double times);
/* The same by ranks, each of which looks at its own features. */
clv_status clv_ks_find_far(clv_context *ctx, const clv_matrix *x, bool transposed, double times, bool *out);
/* X less the mean of each feature, and the means; both are the caller's, also on failure. */
clv_status clv_ks_center(clv_context *ctx, const clv_matrix *x, bool transposed, clv_data **out, double **means);

/* --- loss.c --- */

typedef struct clv_loss {
    clv_ksupport_loss kind;
    int64_t samples;
    const double *y; /* +1 and -1, or the targets; borrowed */
    bool intercept;
    int threads;
} clv_loss;

/* min_b sum_m loss(y_m, z_m + b), with the b that is best (0 without an intercept; a start on entry), first derivatives
 * r and, unless NULL, second derivatives h at the margins z + b. With an intercept the r add up to 0. `terms` is room
 * for one number per sample. */
double clv_loss_at(const clv_loss *loss, double *terms, const double *z, double *b, double *r, double *h);
/* The same at a given b, as far as the value. */
double clv_loss_with(const clv_loss *loss, double *terms, const double *z, double b, double *r);
/* The largest second derivative: 1/4 or 1. */
double clv_loss_curvature(const clv_loss *loss);

/* --- the problem --- */

typedef struct clv_ks_problem {
    clv_context *ctx;
    const clv_design *x;
    const clv_matrix *given; /* what x was made of, to name a value in it; NULL: nobody can */
    clv_loss loss;
    clv_ksupport_options options;
    int64_t k;
    double lambda, tau, radius; /* radius 0: the regularized form */
    double unit;                /* what objectives are multiplied by before anyone sees them */
    double tol;
    const clv_list *start; /* weights to start from, or NULL */
} clv_ks_problem;

/* What one run writes besides its iterates. */
typedef struct clv_ks_work {
    clv_kept room; /* of all arrays that last as long as the run */
    double passes; /* over X, so far */
    double *terms; /* samples: of the loss */
    void *design;  /* of the design, where its kind has some */
} clv_ks_work;

/* Free it also on failure. */
clv_status clv_ks_work_new(const clv_ks_problem *problem, clv_ks_work *out);
void clv_ks_work_free(const clv_ks_problem *problem, clv_ks_work *work);

/* --- point.c --- */

typedef struct clv_point {
    const clv_ks_problem *problem;
    clv_ks_work *work;
    clv_list w;
    double intercept;
    double *margin, *slope; /* samples: X w, first derivatives of the loss */
    double *gradient;       /* X'slope, of the features kept; or NULL, and */
    clv_list top;           /* its k largest entries, for a design that finds those by itself */
    int64_t kept;           /* features that screening has left, and */
    int64_t *keep;          /* which, or NULL while that is all of them */
    double *norm;           /* of all columns, near the solution; NULL without a gradient */
    double *least;          /* work of the same size; NULL without screening */
    bool has_norms;
    double longest;             /* of the norms; 0 until they are known */
    double last_gap;            /* of the last evaluation */
    clv_ksupport_set set;       /* for gradients */
    double loss, ridge, square; /* sum of losses, ||w||^2, (||w||_k^sp)^2 */
    double value, gap;          /* gap NaN: not known */
    bool fresh;                 /* all of this is of w, from the data alone */
} clv_point;

/* Free it also on failure. */
clv_status clv_point_new(const clv_ks_problem *problem, clv_ks_work *work, int threads, bool screening, clv_point *out);
void clv_point_free(clv_point *point); /* takes one that is all zero */
/* For a checkpoint. */
clv_status clv_point_pass(clv_point *point, clv_archive *archive);
/* Margins, loss and objective of point->w, from the data. */
clv_status clv_point_value(clv_point *point);
/* The same at the margins that are there. */
clv_status clv_point_measure(clv_point *point);
/* The gradient too, and the gap. */
clv_status clv_point_evaluate(clv_point *point);
/* The lengths of columns, where these are not known yet, at an evaluated point that keeps all features. */
void clv_point_measure_columns(clv_point *point);
/* Drop features that cannot be in the support of the solution, which the gap tells. */
void clv_point_screen(clv_point *point);
/* F of losses, ||w||^2 and squared norm. */
double clv_ks_objective(const clv_ks_problem *p, double loss, double ridge, double square);
/* z = X v for a vector of all features, by way of its nonzero entries, for which `packed` has room. */
void clv_ks_multiply(const clv_ks_problem *p, clv_ks_work *work, const double *v, clv_list *packed, double *z);
/* The gap from <r, X w> and from the gradient X'r of `count` features, which is changed on the way and put back. */
double clv_ks_gap(const clv_ks_problem *p, const clv_ksupport_set *set, double *g, const int64_t *list, int64_t count,
                  const clv_list *w, double product, double ridge, double square);
/* A gap that rounding has made negative is 0; one that is not a number stays so, and proves nothing. */
static inline double clv_ks_clamp(double gap) {
    return gap < 0 ? 0 : gap;
}
double clv_list_square(const clv_list *list);
/* to[j] += scale * (entry list[j] of w), list NULL: entry j; both ascend. */
void clv_list_add_to(const clv_list *w, double scale, const int64_t *list, int64_t count, double *to);

/* --- atoms.c --- */

/* An atom u and v >= (||u||_k^sp)^2. Its places are slots of the union. */
typedef struct clv_atom {
    int64_t count;
    int32_t *slot;
    double *value;
    double square;
    int idle; /* corrections in a row that gave it no weight */
} clv_atom;

typedef struct clv_atoms {
    clv_context *ctx;
    const clv_ks_problem *problem;
    clv_ks_work *work;
    int64_t count, capacity;
    clv_atom *atom;
    double *weight; /* capacity: alpha; the rest of 1 is on the zero atom */
    double *image;  /* capacity x samples: X u */
    double *inner;  /* capacity x capacity: <u_i, u_j> */
    double *gram;   /* capacity x capacity: <X u_i, X u_j>, for squares */
    double *target; /* capacity: <X u_i, y>, for squares */
    double *total;  /* capacity: the sum of X u_i, for squares */
    clv_list sum;   /* union of the supports, and sum_i alpha_i u_i there */
} clv_atoms;

void clv_atoms_free(clv_atoms *atoms); /* takes one that is all zero */
/* Add the atom with these entries and weight 0; its image is computed unless given. */
clv_status clv_atoms_add(clv_atoms *atoms, const clv_list *u, double square, const double *image);
/* For a checkpoint. */
clv_status clv_atoms_pass(clv_atoms *atoms, clv_archive *archive);
/* Drop the atoms that have had no weight for a while. */
void clv_atoms_prune(clv_atoms *atoms);
/* The sum of the atoms into atoms->sum.value, and that of their images into z. */
void clv_atoms_combine(clv_atoms *atoms, double *z);

/* --- master.c, quadratic.c --- */

/* Minimize over the hull of the atoms and 0: weights, sum and margins follow. `accuracy`: how far above the minimum the
 * value may stay. Work space is allocated. */
clv_status clv_master_solve(clv_atoms *atoms, double accuracy, double *margin, double *intercept);
/* min c'x + x'Hx/2 over x >= 0, sum x <= 1, from the feasible x; H symmetric t x t, semidefinite. `work`: 2 t^2 + 8 t.
 * Where the run is to stop it ends before that, with a feasible x. */
void clv_quadratic_solve(clv_context *ctx, const double *h, const double *c, int64_t t, double *x, double *work);
/* Projection onto x >= 0, sum x <= 1; `work`: t. */
void clv_hull_project(double *x, int64_t t, double *work);

/* --- working.c --- */

/* Some of the features, as a problem of their own. */
typedef struct clv_working {
    clv_context *ctx;
    clv_design x; /* once it is gathered */
    int64_t count;
    int64_t *list;        /* which, ascending */
    double *gradient;     /* count */
    clv_ksupport_set set; /* for vectors of count entries */
    clv_kept room;        /* of the arrays */
} clv_working;

/* The `wanted` features of steepest gradient among those that the point keeps, and the support of its weights. The
 * gradient is that of the point; the room of the X that `out` held before is kept (all zero: none). Free it also on
 * failure. */
clv_status clv_working_new(clv_point *point, int64_t wanted, int threads, clv_working *out);
/* Its X: a copy of these features. */
clv_status clv_working_gather(clv_point *point, clv_working *on);
void clv_working_free(clv_working *working);

/* --- system.c --- */

/* H = D + scale A P A', with A the X of a working set and P the derivative of the proximity operator. */
typedef struct clv_ks_system {
    const clv_design *x;
    int threads;
    int64_t used_count, whole; /* entries in use; of them with theta = 1, which come first */
    int64_t *used;             /* features: which, and */
    double *sign, *value;      /* their signs; work */
    double shrink, rest;       /* P is shrink 1 on the first, I - e e' / rest on the others, e their signs */
    const double *diagonal;    /* samples: D */
    double scale;
    double *part;    /* 3 x samples: work */
    double *columns; /* features x samples, and */
    double *matrix;  /* the square of the fewer; NULL, both: the system is too large for that */
} clv_ks_system;

size_t clv_ks_system_memory(int64_t samples, int64_t working);
/* All arrays are in `room`, X is borrowed. */
clv_status clv_ks_system_new(clv_kept *room, const clv_design *x, int threads, clv_ks_system *out);
/* P of the proximity operator at u, whose root this is. */
void clv_ks_system_set(clv_ks_system *system, const double *u, const clv_ksupport_root *root, int64_t k);
/* With this D (borrowed) and scale; false: H is not positive definite but for rounding. */
bool clv_ks_system_prepare(clv_ks_system *system, const double *diagonal, double scale);
/* H out = b; not in place. */
void clv_ks_system_solve(clv_ks_system *system, const double *b, double *out);

/* --- gram.c --- */

typedef struct clv_ks_gram {
    const clv_design *x;
    double *part, *block; /* work */
} clv_ks_gram;
size_t clv_ks_gram_memory(int64_t samples, int64_t features, int threads);
/* All arrays are in `room`, X is borrowed. */
clv_status clv_ks_gram_new(clv_kept *room, const clv_design *x, clv_ks_gram *out);
/* The upper triangle of X'DX, features x features, one column after the other. Unless NULL, `center` is X'D1 / 1'D1,
 * and is taken off all samples. */
void clv_ks_gram_form(const clv_ks_gram *gram, const double *d, const double *center, double *out);

/* --- solvers: each works on a point and has a state of its own --- */
typedef struct clv_ks_solver {
    /* In the room of the work, as all its arrays are; destroy it also on failure. */
    clv_status (*create)(const clv_ks_problem *problem, clv_ks_work *work, int threads, void **state);
    void (*destroy)(const clv_ks_problem *problem, void *state); /* takes NULL */
    /* Begin at the weights of the point, which has been evaluated. */
    clv_status (*start)(void *state, clv_point *point);
    /* One iteration: new weights, with their value and gap, or a bound on it if the point is not fresh. */
    clv_status (*step)(void *state, clv_point *point, clv_iterate *out);
    /* What lasts from one iteration to the next beside the point, for a checkpoint. */
    clv_status (*pass)(void *state, clv_archive *archive);
} clv_ks_solver;
extern const clv_ks_solver clv_ks_fcfw, clv_ks_fista, clv_ks_admm, clv_ks_newton, clv_ks_narrow;
/* Bytes that they hold of samples x samples, and newton of a working set. */
size_t clv_ks_admm_memory(int64_t samples);
size_t clv_ks_newton_memory(int64_t samples, int64_t working);
size_t clv_ks_narrow_memory(int64_t samples, int64_t features, int threads);
/* Whether newton works on all features at once. */
bool clv_ks_is_narrow(int64_t samples, int64_t features);

/* --- ksupport.c --- */

/* The distinct values of y, ascending; owned, also where they are refused. */
clv_status clv_ks_classes(clv_context *ctx, const double *y, int64_t samples, double **out, int64_t *count);

/* --- model.c --- */

/* Weights as they were found. */
typedef struct clv_ks_model {
    clv_list w;
    double intercept;
    double passes; /* over X, that it took */
} clv_ks_model;
void clv_ks_model_free(clv_context *ctx, void *model); /* takes NULL */
/* Solve. `n`, labels and sizes of the result are left alone. */
clv_status clv_ks_drive(const clv_ks_problem *p, const clv_method *method, clv_result *result, clv_ks_model **out);
/* Where a solver stalled before its tolerance, the result says what else to try. */
clv_status clv_ks_warn_of_crawling(clv_result *result);
/* Objective and relative gap of given weights, from the data; `intercept` NULL: the best one. The gap is as a run
 * claims it; `rounding`, unless NULL: how far it may be off. */
clv_status clv_ks_evaluate(const clv_ks_problem *p, const clv_list *w, const double *intercept, int threads,
                           double *value, double *gap, double *rounding);
/* The weights that a run would start from, with the best intercept, and what they are worth; the gap is NaN where it is
 * not wanted, or takes more time than there is. The weights are freed by the caller, also on failure. */
clv_status clv_ks_evaluate_start(const clv_ks_problem *p, bool with_gap, double *value, double *gap, clv_ks_model *out);
double clv_ks_tolerance(const clv_ksupport_options *options);
/* The solver that CLV_KSUPPORT_AUTO stands for, or the one that was asked for. */
int clv_ks_choose(const clv_ksupport_options *options, int64_t samples, int64_t features);

/* --- path.c --- */

/* Every k with every lambda. */
clv_status clv_ks_walk(clv_context *ctx, const clv_input *input, const clv_ksupport_options *options, clv_result **out);
/* Whether the text is a path; the largest k in it, or 0. */
clv_status clv_ks_check_path(clv_context *ctx, const char *path);
int64_t clv_ks_largest_k(const char *path);
/* CLV_EDATA: the answer with this lambda is none of this path, or its table is none that a run can have given: the rows
 * of the path in their order, as far as the run came, of which the one to report is the answer. */
clv_status clv_ks_check_table(clv_context *ctx, const char *path, const clv_result *answer, double lambda);

/* --- the functions of the method: ksupport.c --- */
CLV_METHOD_PARTS(ksupport)

#endif
