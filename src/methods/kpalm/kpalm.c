/* KPALM: k-means and k-median by proximal alternating minimization.
 *
 * Problem      minimize F(x) = sum_i s_i min_l d(x_l, a_i) over k centers, as sigma(w, x) = sum_i s_i <w_i, d_i(x)>
 *              over centers x and weights w_i in the simplex; d = |x_l - a_i|^2 (norm squared) or
 *              (|x_l - a_i|^2 + epsilon^2)^(1/2) (norm euclidean); s_i sample weights, 1 unless given.
 * Reference    Voldman, Sabach and Teboulle, "A novel class of globally convergent algorithms for clustering problems"
 *              (slides, 2016): KPALM and epsilon-KPALM; Lloyd 1982; Weiszfeld 1937.
 * An iteration w_i <- P(w_i - d_i(x) / alpha(t)), P the projection on the simplex; then every center becomes the
 *              weighted mean (squared) or takes a Weiszfeld step (euclidean). Solvers lloyd and weiszfeld put every
 *              object to its nearest center instead: the limit of small alpha.
 * The polish   of kpalm with squared distances: at a fixed point single objects move while that lowers sigma
 *              (exchange.c), then the iterations go on.
 * Certificate  subgradient: the norm of the smallest subgradient of sigma at (w, x), see evaluate.c.
 * Cost         n k p multiplications an iteration, less what bounds save; one pass over the points.
 *
 * alpha acts as annealing: once it is small every object is in one cluster, and the limit is a fixed point of Lloyd's
 * algorithm. alpha(0) = 3 (3 k)^(1/2) V' does not depend on the units of the data, nor much on their number of columns:
 * V' is the variance tr(S^2) / tr(S) along the directions that matter, S the covariance. */
#include "methods/kpalm/kpalm.h"

#include "base/options.h"

#include <math.h>
#include <string.h>

#define T clv_kpalm_options
static const clv_option kpalm_options[] = {
    CLV_OPT_INT(T, k, "k", 'k', 0, 1, 0x1p31 - 1, NULL, "N", "clusters"),
    CLV_OPT_CHOICE(T, solver, "solver", CLV_KPALM_KPALM, "kpalm|lloyd|weiszfeld",
                   "lloyd: k-means, weiszfeld: k-median"),
    CLV_OPT_CHOICE(T, norm, "norm", CLV_KPALM_NORM_AUTO, "auto|squared|euclidean",
                   "of the distances; auto: euclidean for weiszfeld"),
    CLV_OPT_TEXT(T, start, "start", "auto", "NAME|FILE",
                 "random, kmeans++, greedy++, d1++, or a file of centers; auto: greedy++, for euclidean d1++"),
    CLV_OPT_CHOICE(T, membership, "initial-weights", CLV_KPALM_UNIFORM, "uniform|nearest|dirichlet", "w(0) of kpalm"),
    CLV_OPT_CHOICE(T, schedule, "alpha-schedule", CLV_KPALM_GEOMETRIC, "constant|harmonic|geometric",
                   "alpha(0), alpha(0) / (t + 1) or alpha(0) / 2^t"),
    CLV_OPT_REAL(T, alpha, "alpha", NAN, 0, HUGE_VAL, "auto", "A",
                 "alpha(0) in its unit; auto: 3 (3 / k)^(1/2) effective, 3 variance, else 1"),
    CLV_OPT_CHOICE(T, alpha_unit, "alpha-unit", CLV_KPALM_UNIT_AUTO, "auto|effective|variance|diameter|one",
                   "k V' or k V, the diameter, or 1; auto: effective, for euclidean the diameter"),
    CLV_OPT_REAL(T, epsilon, "epsilon", NAN, 0, HUGE_VAL, "auto", "E",
                 "smoothing of euclidean distances; auto: 0.05 diameters, for weiszfeld 0.001"),
    CLV_OPT_FLAG(T, polish, "polish", NULL, 1, "kpalm, squared: go on until no single object improves by moving"),
    CLV_OPT_CHOICE(T, empty, "empty", CLV_KPALM_KEEP, "keep|reseed",
                   "centers without objects stay (but for the polish), or move to a far one"),
    CLV_OPT_TEXT(T, sample_source, "sample-weights", NULL, "FILE", "weights of the objects"),
};
#undef T

const clv_option_table *clv_kpalm_table(void) {
    static const clv_option_table table = {"kpalm", kpalm_options, CLV_COUNT(kpalm_options)};
    return &table;
}

void clv_kpalm_defaults(clv_kpalm_options *options) {
    memset(options, 0, sizeof *options);
    clv_options_defaults(clv_control_table(), &options->control);
    clv_options_defaults(clv_kpalm_table(), options);
}

/* --- snapshots: what they hold, the centers, the labels, and the weights where they are kept --- */

typedef enum content {
    NEAREST, /* the centers alone: every object is at its nearest one */
    LABELS,
    WEIGHTS
} content;

typedef struct snapshot_head {
    content content;
    int64_t t;
} snapshot_head;

static size_t snapshot_size(const clv_kpalm_problem *p) {
    size_t n = (size_t)p->n, k = (size_t)p->k;
    size_t size = 64 + k * (size_t)p->p * sizeof(double) + n * sizeof(int32_t);
    if (p->keeps_weights) {
        size += 64 + (n + 1) * sizeof(int64_t) + n * k * (sizeof(double) + sizeof(int32_t));
    }
    return size;
}

/* The parts of a snapshot, in their order. */
typedef struct snapshot {
    snapshot_head *head;
    double *centers;
    int32_t *labels;
    int64_t *start;
    double *weight;
    int32_t *index;
} snapshot;

static snapshot parts_of(const clv_kpalm_problem *p, void *bytes) {
    char *at = bytes;
    snapshot s = {.head = bytes, .centers = (double *)(at + 64)};
    if (p->keeps_weights) {
        s.weight = s.centers + p->k * p->p;
        s.start = (int64_t *)(s.weight + p->n * p->k);
        s.labels = (int32_t *)(s.start + p->n + 1);
        s.index = s.labels + p->n;
    } else {
        s.labels = (int32_t *)(s.centers + p->k * p->p);
    }
    return s;
}

/* Only a problem that keeps weights has room for them. */
static bool has_weights(const snapshot *s) {
    return s->start && s->head->content == WEIGHTS;
}

static void kpalm_save(const void *state, void *bytes) {
    clv_kpalm_state *s = (clv_kpalm_state *)state; /* the export is work space */
    const clv_kpalm_problem *p = s->problem;
    snapshot to = parts_of(p, bytes);
    bool whole = s->soft == 0 && s->labels[0] >= 0;
    to.head->t = s->t;
    to.head->content = s->torn || (!whole && !p->keeps_weights) ? NEAREST : whole ? LABELS : WEIGHTS;
    memcpy(to.centers, s->centers, (size_t)(p->k * p->p) * sizeof *to.centers);
    if (to.head->content == LABELS) {
        memcpy(to.labels, s->labels, (size_t)p->n * sizeof *to.labels);
    } else if (has_weights(&to)) {
        clv_soft_export(s);
        memcpy(to.start, s->start, (size_t)(p->n + 1) * sizeof *to.start);
        memcpy(to.index, s->index, (size_t)s->start[p->n] * sizeof *to.index);
        memcpy(to.weight, s->weight, (size_t)s->start[p->n] * sizeof *to.weight);
    }
}

/* Labels of an exported iterate: the largest weight, the first of equals. */
static void label_by_weight(const clv_kpalm_problem *p, const int64_t *start, const int32_t *index,
                            const double *weight, int32_t *labels) {
    for (int64_t i = 0; i < p->n; i++) {
        int64_t best = start[i];
        for (int64_t e = start[i]; e < start[i + 1]; e++) {
            best = weight[e] > weight[best] ? e : best;
        }
        labels[i] = index[best];
    }
}

/* --- a restart, as the driver sees it --- */

/* No bounds are known. */
static void forget_bounds(clv_kpalm_state *s) {
    for (int64_t i = 0; i < s->problem->n; i++) {
        s->upper[i] = 1e30f;
        s->lower[i] = 0;
    }
}

/* With weiszfeld, centers that lie on objects would hardly move (the weight of that object is 1 / epsilon): start from
 * the means of the nearest objects. */
static void leave_objects(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    int64_t stride = p->p + 1;
    clv_kpalm_assign(s);
    memset(s->total, 0, (size_t)(p->k * stride) * sizeof *s->total);
    for (int64_t i = 0; i < p->n; i++) {
        double *sum = s->total + s->labels[i] * stride, sample = clv_kpalm_sample(p, i);
        clv_row_add(p->points, i, sample, sum);
        sum[p->p] += sample;
    }
    clv_centers_update(s);
    clv_centers_publish(s, false);
}

/* sigma(w(0), x(0)) for uniform weights; at most this where distances are smoothed (by Jensen's inequality). */
static double uniform_value(const clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    double sum = 0;
    for (int64_t l = 0; l < p->k; l++) {
        double square = 0;
        for (int64_t f = 0; f < p->p; f++) {
            double step = s->centers[l * p->p + f] - p->mean[f];
            square += step * step;
        }
        square += p->spread / p->mass;
        sum += p->euclidean ? sqrt(square + p->epsilon * p->epsilon) : square;
    }
    return sum / (double)p->k * p->mass;
}

/* What the iterate is worth in full, if that can be had and is wanted. */
static clv_status look_closely(clv_kpalm_state *s, bool wanted, bool all, clv_iterate *out) {
    const clv_kpalm_problem *p = s->problem;
    bool whole = s->soft == 0 && s->labels[0] >= 0;
    clv_kpalm_judgement found;
    if (!wanted || !(whole || p->keeps_weights)) {
        return CLV_OK;
    }
    if (whole) {
        CLV_TRY(clv_kpalm_judge(s, NULL, all, false, &found));
    } else {
        clv_soft_export(s);
        clv_matrix weights = clv_soft_matrix(s);
        CLV_TRY(clv_kpalm_judge(s, &weights, all, false, &found));
    }
    s->value = found.sigma;
    out->certificate = found.subgradient;
    out->extra[0] = found.f;
    return CLV_OK;
}

/* Of exact values alone; not where all of it may be rounding. */
static double sufficient_decrease(const clv_kpalm_state *s, double before) {
    const clv_kpalm_problem *p = s->problem;
    double size = before + p->mass * p->length * (p->euclidean ? 1 : p->length);
    double rounding = (p->points->scalar == CLV_F32 ? 1e-5 : 1e-12) * size;
    bool exact = p->show && (p->keeps_weights || s->soft == 0);
    return exact && s->promised > rounding ? (before - s->value) / s->promised : (double)NAN;
}

static void describe(const clv_kpalm_state *s, double alpha, clv_iterate *out) {
    out->value = s->value;
    out->extra[1] = s->sufficient;
    out->extra[2] = alpha;
    out->extra[3] = (double)s->soft;
}

/* What the start is worth where every object goes to its nearest center at once. */
static clv_status look_at_nearest(clv_kpalm_state *s, clv_iterate *out) {
    CLV_TRY(clv_kpalm_assign(s));
    CLV_TRY(look_closely(s, true, true, out));
    for (int64_t i = 0; i < s->problem->n; i++) {
        s->labels[i] = CLV_UNASSIGNED;
    }
    memset(s->sums, 0, (size_t)(s->problem->k * (s->problem->p + 1)) * sizeof *s->sums);
    return CLV_OK;
}

static clv_status kpalm_start(void *state, clv_rng *rng, clv_iterate *out) {
    clv_kpalm_state *s = state;
    const clv_kpalm_problem *p = s->problem;
    bool given = strcmp(p->options.start, "centers") == 0;
    s->t = 0;
    s->soft = 0;
    s->torn = s->hardened = false;
    s->sufficient = NAN;
    out->extra[0] = NAN;
    memset(s->sums, 0, (size_t)(p->k * (p->p + 1)) * sizeof *s->sums);
    CLV_TRY(clv_kpalm_seed(s, rng));
    s->salt = clv_rng_next(rng);
    memcpy(s->before, s->centers, (size_t)(p->k * p->p) * sizeof *s->before);
    if (p->affine) {
        clv_panel_fill_even(&s->affine);
    }
    clv_centers_publish(s, false);
    if (p->options.solver == CLV_KPALM_WEISZFELD && !given) {
        leave_objects(s);
    }
    bool none = p->hard || p->options.membership == CLV_KPALM_NEAREST;
    for (int64_t i = 0; i < p->n; i++) {
        s->labels[i] = none ? CLV_UNASSIGNED : CLV_REPLAYED;
    }
    for (int64_t b = 0; b < s->pool_count; b++) {
        s->pools[b].used = s->pools[b].weights = 0;
    }
    s->soft = none ? 0 : p->n;
    forget_bounds(s);
    s->tied = 0;
    s->value = uniform_value(s);
    if (none && p->show) {
        CLV_TRY(look_at_nearest(s, out));
    } else if (!none) {
        bool exact = p->show || p->euclidean || p->options.membership == CLV_KPALM_DIRICHLET;
        CLV_TRY(look_closely(s, exact, p->show, out));
    }
    describe(s, NAN, out);
    return CLV_OK;
}

static clv_status kpalm_step(void *state, clv_iterate *out) {
    clv_kpalm_state *s = state;
    const clv_kpalm_problem *p = s->problem;
    double alpha = p->hard ? 0 : clv_kpalm_alpha(p, s->t), before = s->value;
    int64_t moved = 0;
    out->extra[0] = NAN;
    CLV_TRY(clv_kpalm_iterate(s, out));
    if (out->converged && p->options.polish && !p->hard && !p->euclidean) {
        CLV_TRY(clv_kpalm_exchange(s, &moved));
        out->converged = moved == 0;
    }
    CLV_TRY(look_closely(s, p->show || p->euclidean || out->converged, p->show, out));
    s->sufficient = moved > 0 ? (double)NAN : sufficient_decrease(s, before); /* the polish is no step of KPALM */
    describe(s, alpha, out);
    return CLV_OK;
}

static clv_status kpalm_resume(void *state, const void *bytes, clv_iterate *out) {
    clv_kpalm_state *s = state;
    const clv_kpalm_problem *p = s->problem;
    snapshot from = parts_of(p, (void *)bytes);
    clv_kpalm_judgement found;
    clv_matrix weights = {0};
    memcpy(s->centers, from.centers, (size_t)(p->k * p->p) * sizeof *s->centers);
    s->t = s->panel_count > from.head->t ? s->panel_count : from.head->t; /* nothing is replayed from here on */
    s->torn = false;
    clv_centers_publish(s, false);
    forget_bounds(s);
    if (has_weights(&from)) {
        memcpy(s->start, from.start, (size_t)(p->n + 1) * sizeof *s->start);
        memcpy(s->index, from.index, (size_t)from.start[p->n] * sizeof *s->index);
        memcpy(s->weight, from.weight, (size_t)from.start[p->n] * sizeof *s->weight);
        CLV_TRY(clv_soft_import(s));
        weights = clv_soft_matrix(s);
    } else if (from.head->content == LABELS) {
        memcpy(s->labels, from.labels, (size_t)p->n * sizeof *s->labels);
        s->soft = 0;
    } else {
        CLV_TRY(clv_kpalm_assign(s));
        out->rounded = true;
    }
    CLV_TRY(clv_kpalm_judge(s, weights.start ? &weights : NULL, true, true, &found));
    s->value = out->value = found.sigma;
    out->certificate = found.subgradient;
    return CLV_OK;
}

static clv_status kpalm_create(clv_context *ctx, const void *problem, int threads, void **state) {
    return clv_kpalm_state_new(ctx, problem, threads, (clv_kpalm_state **)state);
}

static void kpalm_destroy(clv_context *ctx, void *state) {
    clv_kpalm_state_free(ctx, state);
}

clv_method clv_kpalm_method(const clv_kpalm_problem *p) {
    static const char *const solvers[] = {"kpalm", "lloyd", "weiszfeld"};
    return (clv_method){.name = "kpalm",
                        .solver = solvers[p->options.solver],
                        .objective = p->euclidean ? "sigma-epsilon" : "sigma",
                        .certificate = "subgradient",
                        .extras = {"F", "decrease", "alpha", "soft"},
                        .tolerance = p->tolerance,
                        .monotone = true,
                        .snapshot_size = snapshot_size(p),
                        .problem = p,
                        .create = kpalm_create,
                        .destroy = kpalm_destroy,
                        .start = kpalm_start,
                        .step = kpalm_step,
                        .save = kpalm_save,
                        .resume = kpalm_resume};
}

/* --- the public functions --- */

/* Without anything random in it, one restart says it all. */
static clv_control control_of(const clv_kpalm_options *options) {
    clv_control control = options->control;
    bool given = options->start && strcmp(options->start, "centers") == 0;
    if (given && (options->solver != CLV_KPALM_KPALM || options->membership != CLV_KPALM_DIRICHLET)) {
        control.restarts = 1;
    }
    return control;
}

static clv_status add_membership(const clv_kpalm_problem *p, const snapshot *from, clv_result *result) {
    int64_t entries = from->start[p->n];
    CLV_TRY(clv_data_new_csr(p->ctx, "memberships", p->n, p->k, entries, &result->membership));
    memcpy(result->membership->start, from->start, (size_t)(p->n + 1) * sizeof *from->start);
    memcpy(result->membership->index, from->index, (size_t)entries * sizeof *from->index);
    memcpy(result->membership->values, from->weight, (size_t)entries * sizeof *from->weight);
    return CLV_OK;
}

/* |x_l|^2, where sparse rows need it. */
static double square_of(const clv_kpalm_problem *p, const snapshot *from, int64_t l) {
    double sum = 0;
    for (int64_t f = 0; clv_is_sparse(p->points) && f < p->p; f++) {
        sum += from->centers[l * p->p + f] * from->centers[l * p->p + f];
    }
    return sum;
}

/* sigma of the answer, object by object. */
static double value_of(const clv_kpalm_problem *p, const snapshot *from, const int32_t *labels) {
    const int64_t *start = has_weights(from) ? from->start : NULL;
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t e = start ? start[i] : 0; e < (start ? start[i + 1] : 1); e++) {
            int64_t l = start ? from->index[e] : labels[i];
            double distance = clv_row_distance(p->points, i, from->centers + l * p->p, square_of(p, from, l));
            distance = p->euclidean ? sqrt(distance + p->epsilon * p->epsilon) : distance;
            sum += clv_kpalm_sample(p, i) * (start ? from->weight[e] : 1) * distance;
        }
    }
    return sum;
}

/* A run that was interrupted in its last computation has the value that was carried along, of an iterate that may have
 * been rounded since. */
static void correct_value(const clv_kpalm_problem *p, const snapshot *from, clv_result *result) {
    double carried = result->objective.value;
    if (!isnan(result->certificate.value)) {
        return;
    }
    result->objective.value = value_of(p, from, result->labels);
    for (int64_t r = 0; r < result->restarts_count; r++) {
        if (result->restarts[r].objective == carried) {
            result->restarts[r].objective = result->objective.value;
        }
    }
}

/* Labels, centers and memberships out of the snapshot of the answer. */
static clv_status unpack(clv_kpalm_problem *p, void *answer, clv_result *result) {
    snapshot from = parts_of(p, answer);
    CLV_TRY(clv_data_new_dense(p->ctx, "centers", p->k, p->p, CLV_F64, &result->centers));
    memcpy(result->centers->values, from.centers, (size_t)(p->k * p->p) * sizeof *from.centers);
    if (has_weights(&from)) {
        label_by_weight(p, from.start, from.index, from.weight, result->labels);
        CLV_TRY(add_membership(p, &from, result));
    } else if (from.head->content == LABELS) {
        memcpy(result->labels, from.labels, (size_t)p->n * sizeof *from.labels);
    } else {
        CLV_TRY(clv_kpalm_predict(p->ctx, clv_data_matrix(result->centers), p->points, p->options.control.threads,
                                  result->labels));
    }
    clv_result_count(result);
    correct_value(p, &from, result);
    return CLV_OK;
}

static clv_status solve(clv_kpalm_problem *p, double began, clv_result **out) {
    clv_method method = clv_kpalm_method(p);
    clv_control control = control_of(&p->options);
    if (control.time_limit > 0) { /* the limit is for all of clv_kpalm */
        control.time_limit = fmax(control.time_limit - (clv_seconds() - began), 1e-9);
    }
    CLV_TRY(clv_result_new(p->ctx, p->n, p->k, out));
    void *answer = clv_alloc(p->ctx, (int64_t)method.snapshot_size, 1);
    if (!answer) {
        return CLV_ENOMEM;
    }
    clv_status status = clv_drive(p->ctx, &method, &control, *out, answer);
    if (status == CLV_OK) {
        (*out)->alpha = p->hard ? 0 : p->alpha;
        (*out)->epsilon = p->epsilon;
        status = unpack(p, answer, *out);
    }
    clv_free(p->ctx, answer);
    return status;
}

clv_status clv_kpalm(clv_context *ctx, const clv_matrix *points, const clv_kpalm_options *options, clv_result **out) {
    clv_kpalm_problem problem = {0};
    double began = clv_seconds();
    *out = NULL;
    clv_status status = clv_kpalm_problem_new(ctx, points, options, &problem);
    if (status == CLV_OK) {
        problem.hurry = options->control.time_limit > 0 ? began + options->control.time_limit / 2 : 0;
        status = solve(&problem, began, out);
    }
    clv_kpalm_problem_free(&problem);
    if (status != CLV_OK) {
        clv_result_free(*out);
        *out = NULL;
        return status;
    }
    (*out)->seconds = clv_seconds() - began;
    return CLV_OK;
}

size_t clv_kpalm_memory(const clv_matrix *points, const clv_kpalm_options *options) {
    clv_control control = control_of(options);
    size_t n = (size_t)points->rows, k = (size_t)(options->k > 0 ? options->k : 1), p = (size_t)points->cols;
    clv_kpalm_problem problem = {.points = points, .n = points->rows, .p = points->cols, .k = (int64_t)k};
    problem.hard = options->solver != CLV_KPALM_KPALM;
    problem.euclidean = options->norm == CLV_KPALM_EUCLIDEAN;
    problem.options = *options;
    clv_kpalm_divide(&problem);
    size_t answer = snapshot_size(&problem), state = clv_kpalm_state_memory(&problem, options);
    size_t result = sizeof(clv_result) + n * sizeof(int32_t) + k * (sizeof(int64_t) + p * sizeof(double));
    return (size_t)clv_driver_workers(&control) * state + clv_driver_memory(&control, answer) + answer + result;
}
