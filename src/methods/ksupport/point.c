/* An iterate and what is known of it: objective, gradient, duality gap, and the features that can still matter.
 *
 * Gap. With r the derivatives of the loss at X w (+ b) and Omega(w) = tau/2 ||w||^2 + lambda (||w||_k^sp)^2, r is a
 * feasible point of the Fenchel dual, and F(w) - F* <= <r, X w> + Omega(w) + Omega*(-X'r); for tau = 0 the last term is
 * ||X'r||_(k)^2 / (4 lambda). Over the ball of a radius it is the Frank-Wolfe gap. All of it comes from w alone.
 *
 * Screening. The dual is mu-strongly concave (mu = 4 for the logistic loss, 1 for squares), so that its solution r* is
 * within R = sqrt(2 gap / mu) of r, and |x_i r*| within R ||x_i|| of |x_i r|. A feature in the support of w* has
 * |x_i r*| >= beta / (1 + beta) times the k-th largest of all (beta = 2 lambda / tau; 1 for tau = 0): features that
 * cannot reach the least that this can be are dropped, and the problem without them has the same solution. */
#include "methods/ksupport/ksupport.h"

#include <math.h>
#include <string.h>

/* The largest value of X. */
#define LARGEST 1e150

/* The gap, as a share of the objective, from which on screening is worth its while. */
#define SCREENED_FROM 0.01

/* --- lists --- */

clv_status clv_list_reserve(clv_context *ctx, clv_list *list, int64_t capacity) {
    if (capacity <= list->capacity) {
        return CLV_OK;
    }
    CLV_GROW(ctx, list->index, capacity);
    CLV_GROW(ctx, list->value, capacity);
    list->capacity = capacity;
    return CLV_OK;
}

void clv_list_free(clv_context *ctx, clv_list *list) {
    clv_free(ctx, list->index);
    clv_free(ctx, list->value);
    *list = (clv_list){0};
}

clv_status clv_list_copy(clv_context *ctx, clv_list *to, const clv_list *from) {
    CLV_TRY(clv_list_reserve(ctx, to, from->count));
    to->count = from->count;
    if (from->count > 0) {
        memcpy(to->index, from->index, (size_t)from->count * sizeof *from->index);
        memcpy(to->value, from->value, (size_t)from->count * sizeof *from->value);
    }
    return CLV_OK;
}

clv_status clv_list_append(clv_context *ctx, clv_list *list, const double *number, int64_t count, const int64_t *place,
                           int64_t first) {
    int64_t more = 0;
    for (int64_t j = 0; j < count; j++) {
        more += number[j] != 0;
    }
    if (list->count + more > list->capacity) {
        CLV_TRY(clv_list_reserve(ctx, list, 2 * list->count + more));
    }
    for (int64_t j = 0; j < count; j++) {
        if (number[j] != 0) {
            list->index[list->count] = place ? place[j] : first + j;
            list->value[list->count++] = number[j];
        }
    }
    return CLV_OK;
}

clv_status clv_list_pack(clv_context *ctx, clv_list *list, const double *number, int64_t count, const int64_t *place) {
    list->count = 0;
    return clv_list_append(ctx, list, number, count, place, 0);
}

clv_status clv_list_pass(clv_context *ctx, clv_list *list, int64_t most, clv_archive *archive) {
    int64_t count = list->count;
    clv_pass_count(archive, &count, most, sizeof *list->index + sizeof *list->value);
    CLV_TRY(archive->status);
    CLV_TRY(archive->loading ? clv_list_reserve(ctx, list, count) : CLV_OK);
    list->count = archive->loading ? 0 : count;
    clv_pass_places(archive, list->index, count, 0, most - 1);
    clv_pass_reals(archive, list->value, count);
    for (int64_t i = 1; i < count && archive->loading && archive->status == CLV_OK; i++) {
        if (list->index[i] <= list->index[i - 1]) {
            clv_archive_refuse(archive);
        }
    }
    CLV_TRY(archive->status);
    list->count = count;
    return CLV_OK;
}

double clv_list_square(const clv_list *list) {
    return clv_dot(list->value, list->value, list->count, 1);
}

void clv_list_add_to(const clv_list *w, double scale, const int64_t *list, int64_t count, double *to) {
    for (int64_t i = 0, j = 0; i < w->count; i++) {
        if (!list) {
            to[w->index[i]] += scale * w->value[i];
            continue;
        }
        while (j < count && list[j] < w->index[i]) {
            j++;
        }
        if (j < count && list[j] == w->index[i]) {
            to[j] += scale * w->value[i];
        }
    }
}

/* --- making --- */

void clv_point_free(clv_point *point) {
    if (!point->problem) {
        return;
    }
    clv_context *ctx = point->problem->ctx;
    clv_list_free(ctx, &point->w);
    clv_list_free(ctx, &point->top);
    clv_ksupport_set_free(&point->set);
    *point = (clv_point){0};
}

clv_status clv_point_new(const clv_ks_problem *p, clv_ks_work *work, int threads, bool screening, clv_point *out) {
    int64_t samples = p->x->samples, features = p->x->features;
    bool dense = !p->x->does->steepest; /* else nothing here is as long as the weights */
    *out = (clv_point){.problem = p, .work = work, .kept = features, .last_gap = INFINITY};
    out->margin = CLV_TAKE(&work->room, double, samples);
    out->slope = CLV_TAKE(&work->room, double, samples);
    if (dense) {
        out->gradient = CLV_TAKE(&work->room, double, features);
        out->norm = CLV_TAKE(&work->room, double, features);
    }
    if (dense && screening) {
        out->keep = CLV_TAKE(&work->room, int64_t, features);
        out->least = CLV_TAKE(&work->room, double, features);
    }
    CLV_TRY(work->room.status);
    int64_t entries = dense || features < 4 * p->k ? features : 4 * p->k;
    return clv_ksupport_set_new(p->ctx, entries, p->k, threads, false, &out->set);
}

/* --- checkpoints --- */

/* The features kept, ascending. */
static void pass_kept(clv_point *point, clv_archive *archive) {
    int64_t features = point->problem->x->features;
    bool some = point->kept < features;
    clv_pass_integer(archive, &point->kept, point->keep ? 0 : features, features);
    some = point->kept < features;
    if (some) {
        clv_pass_places(archive, point->keep, point->kept, 0, features - 1);
    }
    for (int64_t j = 1; some && j < point->kept && archive->loading && archive->status == CLV_OK; j++) {
        if (point->keep[j] <= point->keep[j - 1]) {
            clv_archive_refuse(archive);
        }
    }
}

static void find_longest(clv_point *point) {
    double longest = 0;
    for (int64_t j = 0; j < point->problem->x->features; j++) {
        longest = point->norm[j] > longest ? point->norm[j] : longest;
    }
    point->longest = longest;
}

clv_status clv_point_pass(clv_point *point, clv_archive *archive) {
    const clv_ks_problem *p = point->problem;
    double *const numbers[] = {&point->intercept, &point->last_gap, &point->loss, &point->ridge,
                               &point->square,    &point->value,    &point->gap};
    CLV_TRY(clv_list_pass(p->ctx, &point->w, p->x->features, archive));
    CLV_TRY(clv_list_pass(p->ctx, &point->top, p->x->features, archive));
    if (point->top.count > p->k || (point->top.count > 0 && point->gradient)) {
        return clv_archive_refuse(archive);
    }
    clv_pass_reals(archive, point->margin, p->x->samples);
    clv_pass_reals(archive, point->slope, p->x->samples);
    pass_kept(point, archive);
    CLV_TRY(archive->status);
    if (point->gradient) {
        clv_pass_reals(archive, point->gradient, point->kept);
    }
    clv_pass_flag(archive, &point->has_norms);
    if (point->has_norms && !point->norm) {
        return clv_archive_refuse(archive);
    }
    point->longest = 0;
    if (point->has_norms) {
        clv_pass_reals(archive, point->norm, p->x->features);
        find_longest(point);
    }
    for (size_t i = 0; i < CLV_COUNT(numbers); i++) {
        clv_pass_real(archive, numbers[i]);
    }
    clv_pass_flag(archive, &point->fresh);
    return archive->status;
}

/* --- values --- */

double clv_ks_objective(const clv_ks_problem *p, double loss, double ridge, double square) {
    return loss + 0.5 * p->tau * ridge + (p->radius > 0 ? 0 : p->lambda * square);
}

static void note_pass(clv_point *point, int64_t features) {
    point->work->passes += (double)features / (double)point->problem->x->features;
}

clv_status clv_point_value(clv_point *point) {
    const clv_ks_problem *p = point->problem;
    p->x->does->margins(p->x, point->w.index, point->w.value, point->w.count, point->margin);
    note_pass(point, point->w.count);
    return clv_point_measure(point);
}

clv_status clv_point_measure(clv_point *point) {
    const clv_ks_problem *p = point->problem;
    if (point->w.count > point->set.p) { /* the set has less room than there are features */
        int threads = point->set.threads;
        clv_ksupport_set_free(&point->set);
        CLV_TRY(clv_ksupport_set_new(p->ctx, point->w.count * 3 / 2, p->k, threads, false, &point->set));
    }
    point->loss = clv_loss_at(&p->loss, point->work->terms, point->margin, &point->intercept, point->slope, NULL);
    point->ridge = clv_list_square(&point->w);
    point->square = clv_ksupport_square(&point->set, point->w.value, point->w.count);
    point->value = clv_ks_objective(p, point->loss, point->ridge, point->square);
    point->gap = NAN;
    point->fresh = false;
    return CLV_OK;
}

void clv_ks_multiply(const clv_ks_problem *p, clv_ks_work *work, const double *v, clv_list *packed, double *z) {
    (void)clv_list_pack(p->ctx, packed, v, p->x->features, NULL);
    p->x->does->margins(p->x, packed->index, packed->value, packed->count, z);
    work->passes += (double)packed->count / (double)p->x->features;
}

double clv_ks_gap(const clv_ks_problem *p, const clv_ksupport_set *set, double *g, const int64_t *list, int64_t count,
                  const clv_list *w, double product, double ridge, double square) {
    if (p->radius > 0) {
        clv_list_add_to(w, p->tau, list, count, g);
        double steepest = sqrt(clv_ksupport_dual_square(set, g, count));
        clv_list_add_to(w, -p->tau, list, count, g);
        return clv_ks_clamp(product + p->tau * ridge + p->radius * steepest);
    }
    double conjugate = clv_ksupport_conjugate(set, g, count, p->lambda, p->tau);
    return clv_ks_clamp(product + 0.5 * p->tau * ridge + p->lambda * square + conjugate);
}

/* The gradient of the features kept, with the norms of all columns the first time these are wanted. */
static void find_gradient(clv_point *point) {
    const clv_ks_problem *p = point->problem;
    const int64_t *list = point->kept < p->x->features ? point->keep : NULL;
    /* Far from the solution nothing is dropped or claimed yet; and until it is, these are the norms of all. */
    bool norms = point->norm && !point->has_norms && point->last_gap <= SCREENED_FROM * fabs(point->value);
    p->x->does->gradient(p->x, point->slope, list, point->kept, point->gradient, norms ? point->norm : NULL);
#pragma omp parallel for num_threads(clv_team(p->loss.threads)) schedule(static) if (norms)
    for (int64_t j = 0; j < (norms ? p->x->features : 0); j++) {
        point->norm[j] = sqrt(point->norm[j]);
    }
    if (norms) {
        point->has_norms = true;
        find_longest(point);
    }
    note_pass(point, point->kept);
}

void clv_point_measure_columns(clv_point *point) {
    if (point->norm && !point->has_norms) {
        point->last_gap = 0;
        find_gradient(point);
    }
}

/* Values of X that are no numbers, or too large to be squared, show in the gradient, which is there anyway: X is looked
 * through only then. */
static clv_status check_gradient(const clv_point *point) {
    const clv_ks_problem *p = point->problem;
    bool fine = isfinite(clv_dot(point->gradient, point->gradient, point->kept, p->loss.threads));
    return fine || !p->given ? CLV_OK : clv_matrix_check(p->ctx, "X", p->given, LARGEST);
}

clv_status clv_point_evaluate(clv_point *point) {
    const clv_ks_problem *p = point->problem;
    CLV_TRY(clv_point_value(point));
    if (clv_worked(p->ctx, p->x->samples * (p->x->does->steepest ? 1 : point->kept))) {
        return clv_stop_failure(p->ctx, "computing a duality gap");
    }
    double product = clv_dot(point->slope, point->margin, p->x->samples, p->loss.threads);
    if (p->x->does->steepest) {
        CLV_TRY(p->x->does->steepest(p->x, point->work->design, point->slope, p->k, &point->top));
        note_pass(point, p->x->features);
        double square = clv_list_square(&point->top);
        double pull = p->radius > 0 ? p->radius * sqrt(square) : p->lambda * point->square + square / (4 * p->lambda);
        point->gap = clv_ks_clamp(product + pull);
    } else {
        find_gradient(point);
        CLV_TRY(check_gradient(point));
        const int64_t *list = point->kept < p->x->features ? point->keep : NULL;
        point->gap = clv_ks_gap(p, &point->set, point->gradient, list, point->kept, &point->w, product, point->ridge,
                                point->square);
    }
    point->last_gap = point->gap;
    point->fresh = true;
    return CLV_OK;
}

/* --- screening --- */

void clv_point_screen(clv_point *point) {
    const clv_ks_problem *p = point->problem;
    double mu = 1 / clv_loss_curvature(&p->loss), reach = sqrt(2 * point->gap / mu) * (1 + 1e-9);
    double share = p->tau > 0 ? 2 * p->lambda / (2 * p->lambda + p->tau) : 1;
    double *surely = point->least;
    bool some = point->kept < p->x->features; /* only those in `keep` */
    int64_t left = 0, positive = 0, above;
    if (!point->keep || !point->has_norms || p->radius > 0 || !isfinite(reach)) {
        return;
    }
#pragma omp parallel for num_threads(clv_team(p->loss.threads)) schedule(static) reduction(+ : positive)
    for (int64_t j = 0; j < point->kept; j++) {
        double size = fabs(point->gradient[j]) - reach * point->norm[some ? point->keep[j] : j];
        surely[j] = size > 0 ? size : 0;
        positive += size > 0;
    }
    if (positive < point->set.k) {
        return;
    }
    double bar = share * clv_ksupport_rank(&point->set, surely, point->kept, &above) * (1 - 1e-9);
    for (int64_t j = 0; j < point->kept; j++) {
        int64_t feature = some ? point->keep[j] : j;
        if (fabs(point->gradient[j]) + reach * point->norm[feature] >= bar) {
            point->gradient[left] = point->gradient[j];
            point->keep[left++] = feature;
        }
    }
    point->kept = left;
}
