/* Rough results: what there is when time ends before a method on similarities has evaluated its first start.
 *
 * Labels that were given to start from; else those of k-means on the points, the best of the starts that about half of
 * the time is enough for (kpalm, solver lloyd, which always has an answer); without points, labels at random. Nothing
 * is claimed of them: objective and certificate are not known. */
#include "methods/methods.h"

#include "affinity/affinity.h"
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <string.h>

/* As many clusters as were asked for; where the method would choose, the fewest. */
static int64_t clusters_of(const clv_method *method, const void *options) {
    const clv_option *option = clv_options_find(method->options, "k");
    int64_t k = option ? *(const int64_t *)(const void *)((const char *)options + option->offset) : 1;
    return k > 0 ? k : method->k_meaning == CLV_K_CLUSTERS ? 2 : 1;
}

static void label_at_random(int64_t seed, clv_result *result) {
    clv_rng rng = clv_rng_stream((uint64_t)seed, 0);
    for (int64_t i = 0; i < result->n; i++) {
        result->labels[i] = i < result->k ? (int32_t)i : (int32_t)clv_rng_below(&rng, result->k);
    }
}

/* Whether half of the time is left: then there is some for another start. Without a limit, someone waits. */
static bool has_time(clv_context *ctx) {
    bool limited = clv_share_is_over(ctx, 0);
    return limited && !clv_share_is_over(ctx, 0.5) && !clv_asked_to_stop(ctx);
}

/* The best of a few starts, as one alone often merges clusters. */
static clv_status label_by_kmeans(clv_context *ctx, const clv_matrix *points, const clv_control *control,
                                  clv_result *result) {
    enum { STARTS = 20 };
    clv_kpalm_options options;
    double best = INFINITY;
    clv_kpalm_defaults(&options);
    options.control.threads = control->threads;
    options.solver = CLV_KPALM_LLOYD;
    options.start = "kmeans++";
    options.k = result->k;
    for (int64_t start = 0; start == 0 || (start < STARTS && has_time(ctx)); start++) {
        clv_result *found = NULL;
        options.control.seed = (control->seed + start) % ((int64_t)1 << 53); /* as large as seeds may be */
        clv_session_pause(ctx); /* the method itself is to be gone on with, not this */
        clv_status status = clv_kpalm(ctx, &(clv_input){.points = points}, &options, &found);
        clv_session_go_on(ctx);
        CLV_TRY(status);
        if (start == 0 || found->objective.value < best) {
            best = found->objective.value;
            memcpy(result->labels, found->labels, (size_t)result->n * sizeof *result->labels);
        }
        clv_result_free(found);
    }
    return CLV_OK;
}

static clv_status label_as_given(clv_context *ctx, const clv_matrix *start, clv_result *result) {
    int32_t *given = NULL;
    clv_status status = clv_labels_of(ctx, "start", start, result->n, result->k, &given);
    if (status == CLV_OK) {
        memcpy(result->labels, given, (size_t)result->n * sizeof *given);
    }
    clv_free(ctx, given);
    return status;
}

/* An object belongs to its cluster wholly; where the weights of a cluster add up to 1, as much as all others of it. */
static clv_status put_membership(clv_context *ctx, const clv_method *method, clv_result *result) {
    clv_data *membership;
    CLV_TRY(clv_data_new_csr(ctx, "membership", result->n, result->k, result->n - result->left_out, &membership));
    int64_t at = 0;
    double *values = membership->values;
    for (int64_t i = 0; i < result->n; i++) {
        int32_t c = result->labels[i];
        if (c >= 0) {
            membership->index[at] = c;
            values[at++] = method->k_meaning == CLV_K_AT_MOST ? 1 / (double)result->sizes[c] : 1;
        }
        membership->start[i + 1] = at;
    }
    return clv_result_take(result, "membership", CLV_FIELD_SPARSE, membership);
}

clv_status clv_describe_rough(clv_context *ctx, const clv_method *method, const clv_control *control, const char *how,
                              clv_result *result) {
    clv_result_count(result);
    result->method = method->name;
    result->seed = control->seed;
    bool limited = clv_share_is_over(ctx, 0); /* there is a deadline: it passed, or is too near */
    result->stop = limited && !clv_asked_to_stop(ctx) ? CLV_TIME_LIMIT : CLV_CANCELLED;
    clv_result_claim(result, method, NAN, NAN, 0);
    result->restarts = CLV_NEW(ctx, clv_restart, 1);
    if (!result->restarts) {
        return CLV_ENOMEM;
    }
    result->restarts[0] = (clv_restart){NAN, 0, NAN, result->stop};
    result->restarts_count = 1;
    if (clv_method_gives(method, "membership")) {
        CLV_TRY(put_membership(ctx, method, result));
    }
    return clv_result_warn(result,
                           "%s had no time to evaluate a start: the labels are %s, and nothing is claimed about them",
                           method->name, how);
}

static clv_status make(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                       clv_result *result) {
    const clv_control *control = options;
    bool given = input->start && input->start->cols == 1 && method->k_meaning == CLV_K_CLUSTERS;
    if (given) {
        CLV_TRY(label_as_given(ctx, input->start, result));
    } else if (input->points) {
        CLV_TRY(label_by_kmeans(ctx, input->points, control, result));
    } else {
        label_at_random(control->seed, result);
    }
    const char *how = given           ? "those that were given to start from"
                      : input->points ? "those of k-means on the points"
                                      : "drawn at random";
    return clv_describe_rough(ctx, method, control, how, result);
}

clv_status clv_solve_roughly(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                             clv_result **out) {
    *out = NULL;
    CLV_NEED(ctx, method);
    CLV_NEED(ctx, input);
    clv_options_room own;
    CLV_TRY(clv_method_adopt(ctx, method, options, &own));
    int64_t n = input->points ? input->points->rows : input->plan ? input->plan->n : 0;
    if (method->takes != CLV_TAKES_AFFINITY || n < 1) {
        return clv_fail(ctx, CLV_EUSAGE, "rough results are for methods on similarities, of points or of n objects");
    }
    int64_t k = clusters_of(method, own.bytes);
    CLV_TRY(clv_check_k(ctx, method, k, n));
    CLV_TRY(clv_result_new(ctx, n, k, out));
    clv_deadline before = clv_deadline_begin(ctx, ((const clv_control *)(const void *)own.bytes)->time_limit);
    clv_status status = make(ctx, method, input, own.bytes, *out);
    (*out)->seconds = clv_deadline_end(ctx, before);
    clv_name_solver(method, own.bytes, *out);
    if (status < 0) {
        clv_result_free(*out);
        *out = NULL;
    }
    return status;
}
