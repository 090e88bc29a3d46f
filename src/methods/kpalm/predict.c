/* New points: the nearest center of each, the first of equals; and the value of given labels, memberships and centers.
 * k p multiplications per point. */
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { WORTH_RANKS = 1 << 17 }; /* multiplications */

typedef struct prediction {
    clv_context *ctx;
    clv_frame frame;
    clv_panel panel;
    double *centers, *square; /* k x p, k */
    double *mean;             /* p: of the centers */
    void *keys;               /* threads x tile */
    int threads;
    bool shared; /* by ranks: each goes through its share of the points */
} prediction;

static void free_prediction(prediction *q) {
    clv_panel_free(&q->panel);
    clv_free(q->ctx, q->centers);
    clv_free(q->ctx, q->square);
    clv_free(q->ctx, q->mean);
    clv_free(q->ctx, q->keys);
}

/* Mean and size of the centers, and how far the new points reach, unless a frame of these is known. */
static clv_status measure(prediction *q, const clv_matrix *centers, const clv_matrix *points, const clv_frame *known) {
    int64_t k = centers->rows, p = centers->cols;
    double reach = 0, radius = 0;
    for (int64_t l = 0; l < k; l++) {
        double *x = q->centers + l * p;
        clv_matrix_row(centers, l, x);
        q->square[l] = clv_square_of(x, NULL, p);
        for (int64_t f = 0; f < p; f++) {
            q->mean[f] += x[f] / (double)k;
        }
    }
    double norm = clv_square_of(q->mean, NULL, p);
    int64_t first = 0, last = points->rows;
    if (known) {
        q->frame = *known;
        return CLV_OK;
    }
    if (q->shared) {
        clv_share_objects(q->ctx, points->rows, CLV_TILE_ROWS, &first, &last);
    }
#pragma omp parallel for num_threads(clv_team(q->threads)) schedule(static) reduction(max : reach)
    for (int64_t i = first; i < last; i++) {
        double distance = clv_row_distance(points, i, q->mean, norm);
        reach = distance > reach || isnan(distance) ? (isnan(distance) ? HUGE_VAL : distance) : reach;
    }
    CLV_TRY(q->shared ? clv_agree_largest(q->ctx, &reach) : CLV_OK);
    if (!(reach <= 1e140)) {
        CLV_TRY(clv_matrix_check(q->ctx, "the new points:", points, 1e70));
        return clv_fail(q->ctx, CLV_EDATA, "a new point is too far from the centers to be squared");
    }
    radius = sqrt(reach);
    for (int64_t l = 0; l < k; l++) {
        reach = fmax(reach, clv_squared_distance(q->centers + l * p, q->mean, p));
    }
    double unit = reach > 0 ? ldexp(1, ilogb(sqrt(reach))) : 1;
    q->frame = (clv_frame){points, q->mean, unit, (radius + sqrt(norm)) / unit, radius / unit, sqrt(norm) / unit, NULL};
    return CLV_OK;
}

static clv_status make_prediction(clv_context *ctx, const clv_matrix *centers, const clv_matrix *points,
                                  const clv_frame *known, int64_t threads, prediction *q) {
    int64_t k = centers->rows, p = centers->cols;
    bool large = (double)points->rows * (double)(k * p) >= WORTH_RANKS;
    *q = (prediction){.ctx = ctx, .threads = clv_threads(threads), .shared = large && clv_is_shared(ctx)};
    CLV_TRY(clv_panel_new(ctx, points, k, &q->panel));
    q->centers = CLV_NEW(ctx, double, k *p);
    q->square = CLV_NEW(ctx, double, k);
    q->mean = CLV_NEW0(ctx, double, p);
    q->keys = clv_alloc(ctx, q->threads * CLV_TILE_ROWS * q->panel.width, clv_scalar_bytes(points->scalar));
    if (!q->centers || !q->square || !q->mean || !q->keys) {
        return CLV_ENOMEM;
    }
    CLV_TRY(measure(q, centers, points, known));
    clv_panel_fill(&q->panel, &q->frame, q->centers);
    return CLV_OK;
}

clv_status clv_kpalm_nearest(clv_context *ctx, const clv_matrix *centers, const clv_matrix *fresh,
                             const clv_frame *known, int64_t threads, int32_t *out) {
    prediction q;
    if (centers->rows < 1 || centers->cols != fresh->cols) {
        return clv_fail(ctx, CLV_EDATA, "the new points have %lld columns, but the %lld centers have %lld",
                        (long long)fresh->cols, (long long)centers->rows, (long long)centers->cols);
    }
    clv_status status = make_prediction(ctx, centers, fresh, known, threads, &q);
    int64_t first = 0, last = (fresh->rows + CLV_TILE_ROWS - 1) / CLV_TILE_ROWS;
    atomic_bool stopped = false;
    if (status == CLV_OK) {
        if (q.shared) {
            clv_share(ctx, last, &first, &last);
            clv_own_clock_begin(ctx);
        }
#pragma omp parallel for num_threads(clv_team(q.threads)) schedule(static)
        for (int64_t b = first; b < last; b++) {
            int64_t from = b * CLV_TILE_ROWS, to = from + CLV_TILE_ROWS;
            void *keys = clv_tile_row(&q.panel, q.keys, omp_get_thread_num() * CLV_TILE_ROWS);
            if (clv_goes_on(ctx, &stopped, CLV_TILE_ROWS * centers->rows * centers->cols)) {
                clv_nearest_centers(&q.panel, &q.frame, from, to < fresh->rows ? to : fresh->rows, q.centers, q.square,
                                    keys, out);
            }
        }
        status = stopped ? clv_stop_failure(ctx, "assigning objects to centers") : CLV_OK;
        if (q.shared) {
            clv_own_clock_end(ctx);
            status = clv_gather_items(ctx, status, out, sizeof *out, fresh->rows, CLV_TILE_ROWS);
            if (clv_is_stop(status)) { /* some ranks have come further than others, but all have the same labels */
                clv_status met = clv_gather_items(ctx, CLV_OK, out, sizeof *out, fresh->rows, CLV_TILE_ROWS);
                status = met < 0 ? met : status;
            }
        }
    }
    free_prediction(&q);
    return status;
}

/* --- the value of what is given --- */

static clv_status check_labels(const clv_kpalm_problem *p, const int32_t *labels) {
    for (int64_t i = 0; i < p->n; i++) {
        if (labels[i] < 0 || labels[i] >= p->k) {
            return clv_fail(p->ctx, CLV_EDATA, "label %d of object %lld is not in 0..%lld", (int)labels[i],
                            (long long)i + 1, (long long)p->k - 1);
        }
    }
    return CLV_OK;
}

static clv_status check_membership(const clv_kpalm_problem *p, const clv_matrix *m) {
    const double *weight = m->values;
    if (!m->start || m->rows != p->n || m->cols != p->k) {
        return clv_fail(p->ctx, CLV_EDATA, "the memberships must be sparse and %lld x %lld", (long long)p->n,
                        (long long)p->k);
    }
    for (int64_t i = 0; i < p->n; i++) {
        double sum = 0;
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            sum += weight[e] >= 0 ? weight[e] : (double)NAN;
        }
        if (!(fabs(sum - 1) <= 1e-5)) { /* weights of floats */
            return clv_fail(p->ctx, CLV_EDATA,
                            "the memberships of object %lld are not numbers of 0 or more that add up to 1",
                            (long long)i + 1);
        }
    }
    return CLV_OK;
}

static clv_status judge(clv_kpalm_problem *p, const int32_t *labels, const clv_matrix *membership,
                        const clv_matrix *centers, clv_kpalm_judgment *out) {
    void *state;
    CLV_TRY(membership ? check_membership(p, membership) : check_labels(p, labels));
    p->hard = true; /* no room for weights is needed */
    p->keeps_weights = false;
    p->form.replay = 0;
    CLV_TRY(clv_kpalm_state_new(p->ctx, p, clv_threads(p->options.control.threads), &state));
    clv_kpalm_state *s = state;
    for (int64_t l = 0; l < p->k; l++) {
        clv_matrix_row(centers, l, s->centers + l * p->p);
    }
    if (!membership) {
        memcpy(s->labels, labels, (size_t)p->n * sizeof *labels);
    }
    clv_centers_publish(s, false);
    clv_status status = clv_kpalm_judge(s, membership, true, true, out);
    clv_kpalm_state_free(p->ctx, s);
    return status;
}

/* Of object-alpha, with room for rounding. */
#define LARGEST_FACTOR 1e7

/* A label is that of the largest membership. */
static clv_status labels_follow(clv_context *ctx, const clv_matrix *m, const int32_t *labels) {
    const double *weight = m->values;
    for (int64_t i = 0; i < m->rows; i++) {
        double most = 0, own = 0;
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            most = weight[e] > most ? weight[e] : most;
            own = m->index[e] == labels[i] ? weight[e] : own;
        }
        if (own < most) {
            return clv_fail(ctx, CLV_EDATA, "object %lld has the label %d, but a larger membership in another cluster",
                            (long long)i + 1, (int)labels[i]);
        }
    }
    return CLV_OK;
}

const char *clv_kpalm_objective(const clv_kpalm_problem *p) {
    return p->euclidean ? "sigma-epsilon" : clv_kpalm_method.objective;
}

/* Objects have an alpha of their own only where one was asked for; which is not looked at, but for its order. */
static clv_status check_alphas(const clv_kpalm_problem *p, const clv_result *answer) {
    const char *asked = p->options.object_alpha ? p->options.object_alpha : "same";
    double least = clv_result_real(answer, "alpha_least", p->alpha),
           most = clv_result_real(answer, "alpha_most", p->alpha);
    bool own = clv_result_field(answer, "alpha_least") || clv_result_field(answer, "alpha_most");
    bool possible =
        !own || (strcmp(asked, "same") != 0 && least > 0 && least <= most && most <= LARGEST_FACTOR * p->alpha);
    return possible ? CLV_OK
                    : clv_fail(p->ctx, CLV_EDATA, "alphas from %g to %g cannot come from object-alpha '%.80s'", least,
                               most, asked);
}

static clv_status evaluate(clv_kpalm_problem *p, const clv_result *answer, const clv_matrix *centers,
                           clv_result *found) {
    const clv_matrix *membership = clv_result_matrix(answer, "membership");
    clv_kpalm_judgment judgment = {0};
    bool soft = !p->hard;
    CLV_TRY(check_alphas(p, answer));
    CLV_TRY(judge(p, answer->labels, membership, centers, &judgment));
    CLV_TRY(membership ? labels_follow(p->ctx, membership, answer->labels) : CLV_OK);
    clv_result_claim(found, &clv_kpalm_method, judgment.sigma, judgment.subgradient, p->tolerance);
    found->objective.name = clv_kpalm_objective(p);
    CLV_TRY(clv_result_put_integer(found, "certified", 1));
    CLV_TRY(clv_result_put_real(found, "gap_rounding", p->rounding));
    CLV_TRY(soft ? clv_result_put_real(found, "alpha", p->alpha) : CLV_OK);
    return p->epsilon > 0 ? clv_result_put_real(found, "epsilon", p->epsilon) : CLV_OK;
}

clv_status clv_kpalm_evaluate_answer(clv_context *ctx, const clv_input *input, const void *options,
                                     const clv_result *answer, clv_result *found) {
    clv_kpalm_problem problem = {0};
    clv_kpalm_options given = *(const clv_kpalm_options *)options;
    clv_input with_centers = *input;
    const clv_matrix *centers;
    CLV_TRY(clv_answer_matrix(ctx, answer, "centers", answer->k, input->points->cols, &centers));
    CLV_TRY(clv_matrix_check(ctx, "the centers:", centers, 1e70));
    given.k = answer->k;
    given.place = CLV_KPALM_HOST; /* one pass, and the second opinion of what a card has found */
    with_centers.start = centers; /* which the unit of lengths must suit */
    clv_status status = clv_kpalm_problem_new(ctx, &with_centers, &given, &problem);
    if (status == CLV_OK) {
        status = evaluate(&problem, answer, centers, found);
    }
    clv_kpalm_problem_free(&problem);
    return status;
}

/* --- new objects --- */

clv_status clv_kpalm_predict_fresh(clv_context *ctx, const clv_input *input, const void *options,
                                   const clv_result *result, const clv_fresh *fresh, clv_result **out) {
    const clv_matrix *centers = clv_result_matrix(result, "centers");
    (void)input;
    if (!centers) {
        return clv_fail(ctx, CLV_EUSAGE, "the result has no centers that new objects could belong to");
    }
    CLV_TRY(clv_result_new(ctx, fresh->points->rows, centers->rows, out));
    (*out)->method = result->method;
    CLV_TRY(
        clv_kpalm_nearest(ctx, centers, fresh->points, NULL, ((const clv_control *)options)->threads, (*out)->labels));
    clv_result_count(*out);
    return CLV_OK;
}
