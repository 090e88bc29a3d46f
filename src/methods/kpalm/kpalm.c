/* KPALM: k-means and k-median by proximal alternating minimization, as the driver sees it. Problem, reference and the
 * two formulas of an iteration are in iteration.c; solvers lloyd (1982) and weiszfeld (1937) are its limit of small
 * alpha.
 *
 * The polish   of kpalm with squared distances: at a fixed point single objects move while that lowers sigma
 *              (exchange.c), then the iterations go on.
 * Certificate  subgradient: the norm of the smallest subgradient of sigma at (w, x), see evaluate.c.
 * Cost         n k p multiplications per iteration, less what bounds save; one pass over the points.
 *
 * alpha acts as annealing: once it is small every object is in one cluster, and the limit is a fixed point of Lloyd's
 * algorithm. alpha(0) = 3 (3 k)^(1/2) V' does not depend on the units of the data, nor much on their number of columns:
 * V' is the variance tr(S^2) / tr(S) along the directions that matter, S the covariance. */
#include "methods/kpalm/kpalm.h"

#include "base/options.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Multiplications that take a moment: where nothing comes of a run without them, time does not end them. */
#define MOMENT (INT64_C(1) << 28)
/* A value that is carried along keeps so many digits, or is computed again from the objects. */
#define DIGITS 1e-8
#define DIGITS_OF_FLOATS 1e-3

/* --- snapshots --- */

typedef enum content {
    NEAREST, /* the centers alone: every object is at its nearest one */
    LABELS,
    WEIGHTS
} content;

typedef struct snapshot {
    content content;
    bool torn; /* labels from before and after an iteration that was not finished */
    int64_t t;
    double *centers; /* k x p */
    int32_t *labels; /* n */
    clv_soft_rows rows;
} snapshot;

static void free_snapshot(clv_context *ctx, void *snap) {
    snapshot *s = snap;
    if (s) {
        clv_free(ctx, s->centers);
        clv_free(ctx, s->labels);
        clv_soft_rows_free(ctx, &s->rows);
        clv_free(ctx, s);
    }
}

static clv_status new_snapshot(clv_context *ctx, const void *problem, void **out) {
    const clv_kpalm_problem *p = problem;
    snapshot *s = CLV_NEW0(ctx, snapshot, 1);
    if (!s) {
        return CLV_ENOMEM;
    }
    *out = s;
    s->centers = CLV_NEW(ctx, double, p->k * p->p);
    s->labels = CLV_NEW(ctx, int32_t, p->n);
    return s->centers && s->labels ? clv_soft_rows_new(p, &s->rows) : CLV_ENOMEM;
}

static size_t snapshot_size(const clv_kpalm_problem *p) {
    size_t n = (size_t)p->n, k = (size_t)p->k;
    size_t size = sizeof(snapshot) + k * (size_t)p->p * sizeof(double) + n * sizeof(int32_t);
    return size + (p->keeps_weights ? (n + 1) * sizeof(int64_t) + n * k * (sizeof(double) + sizeof(int32_t)) : 0);
}

static clv_status kpalm_save(void *state, void *snap) {
    clv_kpalm_state *s = state;
    const clv_kpalm_problem *p = s->problem;
    snapshot *to = snap;
    /* Weights of a start say nothing yet, and matter only where it is all that is asked for; of an iteration that was
     * not finished all labels stand, but no weights. */
    bool nearest = p->options.initial_membership == CLV_KPALM_NEAREST;
    bool bare = s->t == 0 && (p->options.control.max_iter > 0 || nearest);
    bool lost = bare || (s->torn && !(p->hard && s->t > 0));
    bool whole = clv_kpalm_is_whole(s);
    to->t = s->t;
    to->torn = s->torn;
    to->content = lost || (!whole && !p->keeps_weights) ? NEAREST : whole ? LABELS : WEIGHTS;
    memcpy(to->centers, s->centers, (size_t)(p->k * p->p) * sizeof *to->centers);
    if (to->content == LABELS) {
        memcpy(to->labels, s->labels, (size_t)p->n * sizeof *to->labels);
    } else if (to->content == WEIGHTS) {
        CLV_TRY(clv_kpalm_lay_out(s, true));
        return clv_soft_export(s, &to->rows);
    }
    return CLV_OK;
}

static clv_status pass_snapshot(const void *problem, void *snap, clv_archive *archive) {
    const clv_kpalm_problem *p = problem;
    snapshot *s = snap;
    int held = (int)s->content;
    clv_pass_int(archive, &held, NEAREST, p->keeps_weights ? WEIGHTS : LABELS);
    s->content = (content)held;
    clv_pass_flag(archive, &s->torn);
    clv_pass_integer(archive, &s->t, 0, INT64_MAX / 4);
    clv_pass_reals(archive, s->centers, p->k * p->p);
    if (s->content == LABELS) {
        CLV_TRY(archive->loading ? CLV_OK : clv_kpalm_gather_objects(p, s->labels, sizeof *s->labels));
        clv_pass_labels(archive, s->labels, p->n, 0, p->k - 1);
    }
    return s->content == WEIGHTS && archive->status == CLV_OK ? clv_soft_rows_pass(p, &s->rows, archive)
                                                              : archive->status;
}

/* Labels of an exported iterate: the largest weight, the first of equals. */
static void label_by_weight(const clv_kpalm_problem *p, const clv_soft_rows *rows, int32_t *labels) {
    for (int64_t i = 0; i < p->n; i++) {
        int64_t best = rows->start[i];
        for (int64_t e = best; e < rows->start[i + 1]; e++) {
            best = rows->weight[e] > rows->weight[best] ? e : best;
        }
        labels[i] = rows->index[best];
    }
}

/* --- a restart, as the driver sees it --- */

/* With weiszfeld, centers that lie on objects would hardly move (the weight of that object is 1 / epsilon): start from
 * the means of the nearest objects. */
static clv_status add_rows(void *state, int64_t from, int64_t to) {
    clv_kpalm_state *s = state;
    for (int64_t i = from; i < to; i++) {
        clv_add_object(s->problem, i, clv_kpalm_sample(s->problem, i), s->labels[i], s->total);
    }
    return CLV_OK;
}

static clv_status leave_objects(clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    int64_t bytes = p->k * (p->p + 1) * (int64_t)sizeof *s->total;
    clv_status status = clv_kpalm_assign(s);
    if (clv_is_stop(status)) { /* no time for that */
        return CLV_OK;
    }
    CLV_TRY(status);
    memset(s->total, 0, (size_t)bytes);
    CLV_TRY(clv_kpalm_in_turn(p, add_rows, s, s->total, bytes));
    clv_center_update(s);
    clv_centers_publish(s, false);
    return CLV_OK;
}

/* sigma(w(0), x(0)) for uniform weights; at most this where distances are smoothed (by Jensen's inequality). */
static double uniform_value(const clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    double sum = 0;
    for (int64_t l = 0; l < p->k; l++) {
        double square = clv_square_of(s->centers + l * p->p, p->mean, p->p) + p->spread / p->mass;
        sum += p->euclidean ? sqrt(square + p->epsilon * p->epsilon) : square;
    }
    return sum / (double)p->k * p->mass;
}

/* sigma(w(0), x(0)) for weights that are given. */
static clv_status add_given(void *state, int64_t from, int64_t to) {
    clv_kpalm_state *s = state;
    const clv_kpalm_problem *p = s->problem;
    for (int64_t i = from; i < to; i++) {
        for (int64_t l = 0; l < p->k; l++) {
            double weight = p->initial[i * p->k + l];
            s->value += weight > 0 ? clv_kpalm_sample(p, i) * weight * clv_kpalm_distance(s, i, l) : 0;
        }
    }
    return CLV_OK;
}

/* What the iterate is worth in full, if that can be had and is wanted. */
static clv_status look_closely(clv_kpalm_state *s, bool wanted, bool all, clv_iterate *out) {
    const clv_kpalm_problem *p = s->problem;
    bool whole = clv_kpalm_is_whole(s);
    clv_kpalm_judgment found;
    if (!wanted || !(whole || p->keeps_weights)) {
        return CLV_OK;
    }
    if (!whole) {
        CLV_TRY(clv_soft_export(s, &s->rows));
    }
    clv_matrix weights = clv_soft_matrix(p, &s->rows);
    CLV_TRY(clv_kpalm_judge(s, whole ? NULL : &weights, all, false, &found));
    s->value = found.sigma;
    out->certificate = found.subgradient;
    out->extra[0] = found.f;
    return CLV_OK;
}

/* Whether little is left of the digits of a value that was not summed over the objects: it is a difference of sums of
 * squares (decrease.c), centers are rounded as coordinates are, which may be far from the origin, and weights of
 * several centers are floats. */
static bool is_cancelled(const clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    double rounding = DBL_EPSILON * p->mass * p->length * p->frame.reach * p->frame.unit; /* of centers */
    double of_weights = s->soft > 0 ? (double)FLT_EPSILON * p->spread : 0;
    bool lost = clv_sigma_rounding(p) + rounding > DIGITS * s->value || of_weights > DIGITS_OF_FLOATS * s->value;
    return !p->euclidean && lost;
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
    clv_status status = clv_kpalm_assign(s);
    if (status == CLV_OK) {
        status = look_closely(s, true, true, out);
    }
    s->unplaced = true;
    s->assigned = false;
    memset(s->sums, 0, (size_t)(s->problem->k * (s->problem->p + 1)) * sizeof *s->sums);
    return status;
}

/* What ends the run here leaves the start as it is, without a closer look. */
static clv_status unless_stopped(clv_status status) {
    return clv_is_stop(status) ? CLV_OK : status;
}

static clv_status kpalm_start(void *state, clv_rng *rng, clv_iterate *out) {
    clv_kpalm_state *s = state;
    const clv_kpalm_problem *p = s->problem;
    bool given = p->start_centers != NULL;
    s->t = 0;
    s->soft = 0;
    s->torn = s->hardened = s->known_there = false;
    s->sufficient = NAN;
    out->extra[0] = NAN;
    memset(s->sums, 0, (size_t)(p->k * (p->p + 1)) * sizeof *s->sums);
    CLV_TRY(clv_kpalm_seed(s, rng));
    s->salt = clv_rng_next(rng);
    memcpy(s->before, s->centers, (size_t)(p->k * p->p) * sizeof *s->before);
    clv_centers_publish(s, false);
    if (p->options.solver == CLV_KPALM_WEISZFELD && !given) {
        CLV_TRY(leave_objects(s));
    }
    bool none = clv_kpalm_begins_apart(p);
    s->unplaced = s->unbounded = true;
    for (int64_t b = 0; b < s->pool_count; b++) {
        s->pools[b].used = s->pools[b].weights = 0;
    }
    s->soft = none ? 0 : p->n;
    s->assigned = false;
    s->idle = 0;
    s->value = p->initial ? 0 : uniform_value(s);
    CLV_TRY(p->initial ? clv_kpalm_in_turn(p, add_given, s, &s->value, sizeof s->value) : CLV_OK);
    if (none && p->show) {
        CLV_TRY(unless_stopped(look_at_nearest(s, out)));
    } else if (!none) {
        bool exact = p->show || p->euclidean || p->options.initial_membership == CLV_KPALM_DIRICHLET || is_cancelled(s);
        clv_status status = exact ? clv_kpalm_lay_out(s, false) : CLV_OK;
        CLV_TRY(unless_stopped(status < 0 ? status : look_closely(s, exact, p->show, out)));
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
    CLV_TRY(clv_kpalm_lay_out(s, false));
    CLV_TRY(clv_kpalm_iterate(s, out));
    if (out->converged && p->options.polish && !p->hard && !p->euclidean) {
        CLV_TRY(clv_kpalm_exchange(s, &moved));
        out->converged = moved == 0;
    }
    bool exact = p->show || p->euclidean || out->converged || is_cancelled(s);
    CLV_TRY(look_closely(s, exact, p->show, out));
    s->sufficient = moved > 0 ? (double)NAN : sufficient_decrease(s, before); /* the polish is no step of KPALM */
    describe(s, alpha, out);
    return CLV_OK;
}

static clv_status kpalm_resume(void *state, const void *snap, clv_iterate *out) {
    clv_kpalm_state *s = state;
    const clv_kpalm_problem *p = s->problem;
    const snapshot *from = snap;
    clv_kpalm_judgment found;
    clv_matrix weights = clv_soft_matrix(p, &from->rows);
    memcpy(s->centers, from->centers, (size_t)(p->k * p->p) * sizeof *s->centers);
    s->t = s->panel_count > from->t ? s->panel_count : from->t; /* nothing is replayed from here on */
    s->torn = s->known_there = false;
    out->rounded = from->torn;
    clv_centers_publish(s, false);
    s->unplaced = false;
    s->unbounded = true;
    if (from->content == WEIGHTS) {
        CLV_TRY(clv_soft_import(s, &from->rows));
        s->assigned = true;
    } else if (from->content == LABELS) {
        memcpy(s->labels, from->labels, (size_t)p->n * sizeof *s->labels);
        s->soft = 0;
        s->assigned = true;
    } else {
        if (p->n * p->p > MOMENT / p->k * s->threads && clv_out_of_time(p->ctx)) { /* it would be given up half-way */
            return clv_stop_failure(p->ctx, "evaluating centers");
        }
        CLV_TRY(clv_kpalm_assign(s));
        out->rounded = true;
    }
    CLV_TRY(clv_kpalm_judge(s, from->content == WEIGHTS ? &weights : NULL, true, true, &found));
    s->value = out->value = found.sigma;
    out->certificate = found.subgradient;
    out->converged = found.subgradient <= p->tolerance;
    return CLV_OK;
}

clv_solver clv_kpalm_solver_on(const clv_kpalm_problem *p) {
    return (clv_solver){.method = &clv_kpalm_method,
                        .extras = {"F", "decrease", "alpha", "soft"},
                        .tolerance = p->tolerance,
                        .rule_on_iterate = true,
                        .monotone = true,
                        .problem = p,
                        .create = clv_kpalm_state_new,
                        .destroy = clv_kpalm_state_free,
                        .start = kpalm_start,
                        .step = kpalm_step,
                        .new_snapshot = new_snapshot,
                        .free_snapshot = free_snapshot,
                        .save = kpalm_save,
                        .resume = kpalm_resume,
                        .pass = clv_kpalm_state_pass,
                        .pass_snapshot = pass_snapshot};
}

/* --- a run --- */

static clv_control control_of(const clv_kpalm_options *options, bool start_given) {
    bool random = options->solver == CLV_KPALM_KPALM && options->initial_membership == CLV_KPALM_DIRICHLET;
    return clv_control_for(&options->control, start_given && !random);
}

static clv_status put_matrix(clv_result *result, const char *name, clv_field_kind kind, clv_matrix m) {
    return clv_result_put(result, &(clv_field){.name = name, .kind = kind, .count = 1, .matrix = &m});
}

/* The square of the distance to a center that is looked at once. */
static double square_to(const clv_kpalm_problem *p, int64_t i, const double *center) {
    enum { NARROW = 4 }; /* columns, of which fewer take less than a call */
    double sum = 0;
    if (clv_is_sparse(p->points) || p->points->scalar != CLV_F64 || p->p > NARROW) {
        return clv_row_distance(p->points, i, center, clv_is_sparse(p->points) ? clv_square_of(center, NULL, p->p) : 0);
    }
    for (int64_t f = 0; f < p->p; f++) {
        double off = ((const double *)p->points->values)[i * p->p + f] - center[f];
        sum += off * off;
    }
    return sum;
}

/* sigma of the objects of a chunk of the answer, one by one. */
static double value_of(const clv_kpalm_problem *p, const snapshot *from, const int32_t *labels, int64_t chunk) {
    const clv_soft_rows *rows = &from->rows;
    const int64_t *start = from->content == WEIGHTS ? rows->start : NULL;
    int64_t first, last;
    double sum = 0;
    clv_kpalm_chunk(p, chunk, &first, &last);
    for (int64_t i = first; i < last; i++) {
        for (int64_t e = start ? start[i] : 0; e < (start ? start[i + 1] : 1); e++) {
            double distance = square_to(p, i, from->centers + (start ? rows->index[e] : labels[i]) * p->p);
            distance = p->euclidean ? sqrt(distance + p->epsilon * p->epsilon) : distance;
            sum += clv_kpalm_sample(p, i) * (start ? rows->weight[e] : 1) * distance;
        }
    }
    return sum;
}

/* The parts of the objective that chunks of objects have, of the chunks of this rank. */
static void find_parts(const clv_kpalm_problem *p, const snapshot *from, const int32_t *labels, double *parts,
                       int threads) {
    int64_t first, last;
    clv_kpalm_own_chunks(p, &first, &last);
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic, 1)
    for (int64_t c = first; c < last; c++) {
        parts[c] = value_of(p, from, labels, c);
    }
}

/* A run that was interrupted in its last computation has the value that was carried along, of an iterate that may have
 * been rounded since. */
static clv_status correct_value(const clv_kpalm_problem *p, const snapshot *from, clv_result *result) {
    double carried = result->objective.value;
    if (!isnan(result->certificate.value)) {
        return CLV_OK;
    }
    double *parts = CLV_NEW(p->ctx, double, p->chunks);
    CLV_TRY(parts ? CLV_OK : clv_kpalm_meet(p, CLV_ENOMEM));
    find_parts(p, from, result->labels, parts, clv_kpalm_threads(p, clv_threads(p->options.control.threads)));
    clv_status status = clv_kpalm_gather_chunks(p, CLV_OK, parts, sizeof *parts);
    result->objective.value = 0;
    for (int64_t c = 0; c < p->chunks; c++) {
        result->objective.value += parts[c];
    }
    clv_free(p->ctx, parts);
    CLV_TRY(status);
    for (int64_t r = 0; r < result->restarts_count; r++) {
        if (result->restarts[r].objective == carried) {
            result->restarts[r].objective = result->objective.value;
        }
    }
    return CLV_OK;
}

/* The nearest center of every object. So that there is one also when time ends this, the nearest of as many of the
 * first centers as take a moment comes first. */
static clv_status label_by_center(const clv_kpalm_problem *p, const clv_matrix *centers, int32_t *labels) {
    int64_t threads = p->options.control.threads, few = MOMENT / (p->n * p->p);
    const clv_frame *frame = p->shared ? NULL : &p->frame; /* norms of other ranks' objects are not here */
    clv_matrix first = *centers;
    first.rows = few >= p->k ? p->k : few > 1 ? few : 1;
    clv_set_patient(p->ctx, true);
    clv_status status = clv_kpalm_nearest(p->ctx, &first, p->points, frame, threads, labels);
    clv_set_patient(p->ctx, false);
    CLV_TRY(status);
    bool all = first.rows == p->k || clv_interrupted(p->ctx);
    return all ? CLV_OK : unless_stopped(clv_kpalm_nearest(p->ctx, centers, p->points, frame, threads, labels));
}

/* Labels, centers and memberships out of the snapshot of the answer. */
static clv_status unpack(const clv_kpalm_problem *p, const snapshot *from, clv_result *result) {
    clv_matrix centers = {.rows = p->k, .cols = p->p, .values = from->centers};
    CLV_TRY(put_matrix(result, "centers", CLV_FIELD_MATRIX, centers));
    if (from->content == WEIGHTS) {
        label_by_weight(p, &from->rows, result->labels);
        CLV_TRY(put_matrix(result, "membership", CLV_FIELD_SPARSE, clv_soft_matrix(p, &from->rows)));
    } else if (from->content == LABELS) {
        memcpy(result->labels, from->labels, (size_t)p->n * sizeof *from->labels);
        CLV_TRY(clv_kpalm_gather_objects(p, result->labels, sizeof *result->labels));
    } else {
        CLV_TRY(label_by_center(p, &centers, result->labels));
    }
    clv_result_count(result);
    return correct_value(p, from, result);
}

/* What was used where the options leave it open. */
static clv_status add_parameters(const clv_kpalm_problem *p, clv_result *result) {
    result->objective.name = clv_kpalm_objective(p);
    if (!p->hard) {
        CLV_TRY(clv_result_put_real(result, "alpha", p->alpha));
    }
    if (p->factor) {
        CLV_TRY(clv_result_put_real(result, "alpha_least", p->alpha * p->least_factor));
        CLV_TRY(clv_result_put_real(result, "alpha_most", p->alpha * p->most_factor));
    }
    if (p->epsilon > 0) {
        CLV_TRY(clv_result_put_real(result, "epsilon", p->epsilon));
    }
    return p->sample ? clv_result_put_integer(result, "weighted", 1) : CLV_OK;
}

static clv_status drive(const clv_kpalm_problem *p, clv_result **out) {
    clv_solver solver = clv_kpalm_solver_on(p);
    clv_control control = control_of(&p->options, p->start_centers != NULL);
    void *answer;
    CLV_TRY(clv_result_new(p->ctx, p->n, p->k, out));
    CLV_TRY(clv_drive(p->ctx, &solver, &control, *out, &answer));
    clv_overtime_begin(p->ctx); /* what was found is kept */
    clv_status status = unpack(p, answer, *out);
    clv_overtime_end(p->ctx);
    free_snapshot(p->ctx, answer);
    CLV_TRY(status);
    return add_parameters(p, *out);
}

clv_status clv_kpalm_solve(clv_context *ctx, const clv_input *input, const void *options, clv_result **out) {
    clv_kpalm_problem problem = {0};
    /* A few passes over the points, without which there is no start: where they take a moment. */
    clv_set_patient(ctx, input->points->rows <= MOMENT / 4 / (input->points->cols + 1));
    clv_overtime_begin(ctx);
    clv_status status = clv_kpalm_problem_new(ctx, input, options, &problem);
    clv_overtime_end(ctx);
    clv_set_patient(ctx, false);
    if (status == CLV_OK) {
        status = clv_kpalm_take_given(&problem, input);
    }
    if (status == CLV_OK) {
        status = clv_kpalm_card_open(&problem);
    }
    if (status == CLV_OK) {
        status = drive(&problem, out);
    }
    clv_kpalm_card_close(&problem);
    clv_kpalm_problem_free(&problem);
    return status;
}

size_t clv_kpalm_bytes(const clv_input *input, const void *chosen) {
    const clv_kpalm_options *options = chosen;
    const clv_matrix *points = input->points;
    clv_control control = control_of(options, input->start != NULL);
    size_t n = (size_t)points->rows, k = (size_t)(options->k > 0 ? options->k : 1), p = (size_t)points->cols;
    clv_kpalm_problem problem = {.points = points, .n = points->rows, .p = points->cols, .k = (int64_t)k};
    problem.hard = options->solver != CLV_KPALM_KPALM;
    problem.euclidean = options->norm == CLV_KPALM_EUCLIDEAN;
    problem.options = *options;
    clv_kpalm_divide(&problem);
    size_t result = sizeof(clv_result) + n * sizeof(int32_t) + k * (sizeof(int64_t) + p * sizeof(double));
    bool varied = input->object_alpha || (options->object_alpha && strcmp(options->object_alpha, "same") != 0);
    size_t answer = snapshot_size(&problem), state = clv_kpalm_state_memory(&problem, options, varied);
    size_t given = (varied ? n * sizeof(double) : 0) + (input->start_membership ? n * k * sizeof(double) : 0);
    return (size_t)clv_driver_workers(&control) * state + clv_driver_memory(&control, answer) + result +
           n * sizeof(double) + given;
}
