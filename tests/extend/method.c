/* kcenter, a complete method: k of the objects are centers, and the radius, the largest distance of an object to its
 * nearest center, is to be small. Farthest-first traversal: begin with one object, then always take the one that is
 * farthest from those before. The first k are the centers. With the next one they are k + 1 objects that lie at least
 * the radius apart; of any k centers one would be the nearest of two of them, so that no radius is below half of this:
 * a bound, and a certificate that the data prove. */
#include "extend.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* k + 1 objects and where they are, of n points in p columns. */
typedef struct traversal {
    const clv_matrix *points;
    int64_t n, p, k;
    int64_t *objects;  /* k + 1 */
    double *places;    /* (k + 1) x p */
    double *row, *far; /* p; n: the distance to the nearest so far */
} traversal;

static clv_status begin(clv_context *ctx, const clv_matrix *points, int64_t k, traversal *t) {
    *t = (traversal){.points = points, .n = points->rows, .p = points->cols, .k = k};
    if (k > t->n) {
        return clv_fail(ctx, CLV_EDATA, "k = %lld exceeds the %lld objects", (long long)k, (long long)t->n);
    }
    CLV_TRY(clv_matrix_check(ctx, "the points:", points, 1e150)); /* larger ones have no squares */
    t->objects = CLV_NEW(ctx, int64_t, k + 1);
    t->places = CLV_NEW(ctx, double, (k + 1) * t->p);
    t->row = CLV_NEW(ctx, double, t->p);
    t->far = CLV_NEW(ctx, double, t->n);
    return t->objects && t->places && t->row && t->far ? CLV_OK : CLV_ENOMEM;
}

static void end(clv_context *ctx, traversal *t) {
    clv_free(ctx, t->objects);
    clv_free(ctx, t->places);
    clv_free(ctx, t->row);
    clv_free(ctx, t->far);
}

static double distance(const double *a, const double *b, int64_t p) {
    double sum = 0;
    for (int64_t f = 0; f < p; f++) {
        sum += (a[f] - b[f]) * (a[f] - b[f]);
    }
    return sqrt(sum);
}

static clv_status traverse(clv_context *ctx, traversal *t, int64_t next) {
    for (int64_t i = 0; i < t->n; i++) {
        t->far[i] = HUGE_VAL;
    }
    for (int64_t c = 0; c <= t->k; c++) {
        double *place = t->places + c * t->p;
        if (clv_worked(ctx, t->n * t->p)) { /* whether to stop is asked every so often */
            return clv_stop_failure(ctx, "choosing centers");
        }
        t->objects[c] = next;
        clv_matrix_row(t->points, next, place);
        for (int64_t i = next = 0; i < t->n; i++) {
            clv_matrix_row(t->points, i, t->row);
            t->far[i] = fmin(t->far[i], distance(t->row, place, t->p));
            next = t->far[i] > t->far[next] ? i : next;
        }
    }
    return CLV_OK;
}

/* The nearest of k centers for each of the points, the first of equals; returns the radius. */
static double assign(const clv_matrix *points, const double *centers, int64_t k, double *row, int32_t *labels) {
    double radius = 0;
    for (int64_t i = 0; i < points->rows; i++) {
        double nearest = HUGE_VAL;
        clv_matrix_row(points, i, row);
        for (int64_t c = 0; c < k; c++) {
            double here = distance(row, centers + c * points->cols, points->cols);
            labels[i] = here < nearest ? (int32_t)c : labels[i];
            nearest = fmin(here, nearest);
        }
        radius = fmax(radius, nearest);
    }
    return radius;
}

/* What there is to say of k + 1 objects, from the data alone: for a run and for an evaluation. */
static clv_status judge(clv_context *ctx, const traversal *t, int32_t *labels, clv_result *result) {
    double radius = assign(t->points, t->places, t->k, t->row, labels), least = HUGE_VAL;
    clv_data *centers;
    for (int64_t a = 0; a <= t->k; a++) {
        for (int64_t b = 0; b < a; b++) {
            least = fmin(least, distance(t->places + a * t->p, t->places + b * t->p, t->p));
        }
    }
    clv_result_claim(result, &kcenter_method, radius, radius - least, 0);
    result->bound = (clv_bound){kcenter_method.bound, least / 2};
    CLV_TRY(clv_data_new_dense(ctx, "centers", t->k, t->p, CLV_F64, &centers));
    memcpy(centers->values, t->places, (size_t)(t->k * t->p) * sizeof(double));
    return clv_result_take(result, "centers", CLV_FIELD_MATRIX, centers);
}

static clv_status find(clv_context *ctx, traversal *t, const kcenter_options *options, clv_result **out) {
    CLV_TRY(traverse(ctx, t, options->first % t->n));
    CLV_TRY(clv_result_new(ctx, t->n, t->k, out));
    clv_result *result = *out;
    CLV_TRY(judge(ctx, t, result->labels, result));
    clv_result_count(result);
    result->restarts = CLV_NEW(ctx, clv_restart, 1);
    if (!result->restarts) {
        return CLV_ENOMEM;
    }
    result->restarts_count = result->iterations = 1;
    result->restarts[0] = (clv_restart){result->objective.value, 1, NAN, result->stop = CLV_CONVERGED};
    return clv_result_put_integers(result, "witness", t->objects, t->k + 1);
}

static clv_status solve(clv_context *ctx, const clv_input *input, const void *options, clv_result **out) {
    traversal t;
    clv_status status = begin(ctx, input->points, ((const kcenter_options *)options)->k, &t);
    if (status == CLV_OK) {
        status = find(ctx, &t, options, out);
    }
    end(ctx, &t);
    return status;
}

/* An answer may come from anywhere: nothing in it is believed. */
static clv_status check(clv_context *ctx, traversal *t, const clv_result *answer, clv_result *found) {
    int64_t count;
    const int64_t *objects = clv_result_integers(answer, "witness", &count);
    for (int64_t c = 0; c <= t->k; c++) {
        if (count != t->k + 1 || objects[c] < 0 || objects[c] >= t->n) {
            return clv_fail(ctx, CLV_EDATA, "witness must be %lld objects", (long long)t->k + 1);
        }
        clv_matrix_row(t->points, objects[c], t->places + c * t->p);
    }
    int32_t *labels = CLV_NEW0(ctx, int32_t, t->n);
    clv_status status = labels ? judge(ctx, t, labels, found) : CLV_ENOMEM;
    if (status == CLV_OK && memcmp(labels, answer->labels, (size_t)t->n * sizeof *labels) != 0) {
        status = clv_fail(ctx, CLV_EDATA, "an object has the label of a center that is not its nearest");
    }
    clv_free(ctx, labels);
    CLV_TRY(status);
    return clv_result_put_integer(found, "certified", 1); /* whoever has converged has its certificate */
}

static clv_status evaluate(clv_context *ctx, const clv_input *input, const void *options, const clv_result *answer,
                           clv_result *found) {
    traversal t;
    (void)options;
    clv_status status = begin(ctx, input->points, answer->k, &t);
    if (status == CLV_OK) {
        status = check(ctx, &t, answer, found);
    }
    end(ctx, &t);
    return status;
}

static clv_status predict(clv_context *ctx, const clv_input *input, const void *options, const clv_result *result,
                          const clv_fresh *fresh, clv_result **out) {
    const clv_matrix *centers;
    (void)input;
    (void)options;
    CLV_TRY(clv_answer_matrix(ctx, result, "centers", result->k, fresh->points->cols, &centers));
    CLV_TRY(clv_result_new(ctx, fresh->points->rows, result->k, out));
    double *row = CLV_NEW(ctx, double, fresh->points->cols);
    if (row) {
        assign(fresh->points, centers->values, result->k, row, (*out)->labels);
        clv_result_count(*out);
    }
    clv_free(ctx, row);
    return row ? CLV_OK : CLV_ENOMEM;
}

static size_t memory(const clv_input *input, const void *options) {
    size_t k = (size_t)((const kcenter_options *)options)->k, n = (size_t)input->points->rows;
    size_t p = (size_t)input->points->cols, objects = (k + 1) * sizeof(int64_t);
    return 2 * objects + (2 * (k + 1) + 1) * p * sizeof(double) + n * (sizeof(double) + sizeof(int32_t)) + k * 8;
}

#define T kcenter_options
static const clv_option options[] = {
    CLV_OPT_INT(T, k, "k", 'k', 0, 1, 0x1p31 - 1, NULL, "N", "the number of clusters"),
    CLV_OPT_INT(T, first, "first", 0, 0, 0, 1e15, NULL, "I", "the object to begin with, from 0"),
};
static const clv_option_table table = {"kcenter", options, CLV_COUNT(options), sizeof(T)};
#undef T

static const clv_field_info gives[] = {
    {"labels", CLV_FIELD_INTEGER, "n", CLV_ANSWER, .help = "the nearest center of each object"},
    {"witness", CLV_FIELD_INTEGER, "k + 1", CLV_ANSWER, .help = "the objects that are centers, and one far from them"},
    {"centers", CLV_FIELD_MATRIX, "k x p", CLV_DERIVED, 1e-12, CLV_UNIT_ONE, "where the centers are"},
};

const clv_method kcenter_method = {
    .name = "kcenter",
    .summary = "k centers by farthest-first traversal",
    .about = "Chooses k of the objects as centers so that the largest distance of an object to its nearest center,\n"
             "the radius, is small. The certificate says whether any k centers could have less than half of it.\n",
    .examples = "  cleave kcenter points.csv -k 3\n",
    .takes = CLV_TAKES_POINTS,
    .options = &table,
    .k_meaning = CLV_K_CLUSTERS,
    .gives = gives,
    .gives_count = CLV_COUNT(gives),
    .predicts = "labels",
    .objective = "radius",
    .certificate = "excess",
    .holds = "Proved: no k centers have less than half of this radius.",
    .open = "Not known to be within a factor of two of the least radius.",
    .relative = 1,
    .bound = "packing",
    .memory = memory,
    .solve = solve,
    .evaluate = evaluate,
    .predict = predict,
};
