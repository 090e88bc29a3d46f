/* The methods of cleave segment: what each makes of the objects of a picture, and how many segments it looks for. */
#include "segment.h"

#include <stdlib.h>

/* The budget without what the method takes on one thread: the home of the similarities must not depend on threads. */
static int64_t similarity_budget(const segment_job *s) {
    size_t budget = cli_segment_budget(s);
    return (int64_t)(budget > s->plan.method_thread ? budget - s->plan.method_thread : 1);
}

static clv_status build_similarity(segment_job *s, const clv_affinity_options *how) {
    return cli_library(s->app, clv_affinity_build(s->app->ctx, clv_data_matrix(s->points), how, &s->affinity));
}

/* The similarities of objects near each other, as an affinity. */
static clv_status build_graph(segment_job *s) {
    clv_context *ctx = s->app->ctx;
    clv_affinity_options how;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    how.memory = similarity_budget(s);
    how.threads = s->control.threads;
    CLI_TRY(cli_library(s->app, clv_region_similarity(ctx, s->regions, clv_data_matrix(s->points), s->options.reach,
                                                      s->options.sigma, &s->graph)));
    return cli_library(s->app, clv_affinity_build(ctx, clv_data_matrix(s->graph), &how, &s->affinity));
}

/* --- dominant --- */

/* The shift that makes dominant sets as large as segments are: a share of the mean similarity of an object to all. */
static clv_status choose_shift(const segment_job *s, double *shift) {
    static const double share = 0.08;
    int64_t n = clv_affinity_size(s->affinity);
    double *degrees = malloc((size_t)n * sizeof *degrees);
    double sum = 0;
    if (!degrees) {
        return cli_fail(s->app, CLV_ENOMEM, "out of memory");
    }
    clv_status status = cli_library(s->app, clv_affinity_degrees(s->affinity, degrees, s->control.threads));
    for (int64_t i = 0; status == CLV_OK && i < n; i++) {
        sum += degrees[i];
    }
    *shift = share * sum / (double)n;
    free(degrees);
    return status;
}

static void dominant_similarity(const segment_job *s, clv_affinity_options *how) {
    clv_affinity_defaults(how);
    how->kind = CLV_AFFINITY_MINIMAX;
    how->zero_diagonal = 1;
    how->memory = similarity_budget(s);
    how->threads = s->control.threads;
}

static clv_dominant_options dominant_options(const segment_job *s, const clv_control *control) {
    clv_dominant_options options;
    clv_dominant_defaults(&options);
    options.control = *control;
    options.k = s->options.k;
    options.assign = 1;
    return options;
}

static size_t dominant_memory(const segment_job *s, const clv_matrix *points, clv_home home, int64_t threads) {
    clv_dominant_options options = dominant_options(s, &s->control);
    options.control.threads = threads;
    return clv_dominant_memory(points->rows, home, &options) + (size_t)points->rows * sizeof(double);
}

static clv_status solve_dominant(segment_job *s, const clv_control *control) {
    clv_dominant_options options = dominant_options(s, control);
    clv_affinity_options how;
    dominant_similarity(s, &how);
    CLI_TRY(build_similarity(s, &how));
    CLI_TRY(choose_shift(s, &options.shift));
    return cli_library(s->app, clv_dominant(s->app->ctx, s->affinity, &options, &s->result));
}

/* --- ncut --- */

static clv_ncut_options ncut_options(const segment_job *s, const clv_control *control) {
    clv_ncut_options options;
    clv_ncut_defaults(&options);
    options.control = *control;
    options.k = s->options.k;
    options.bound = CLV_NCUT_BOUND_NO;
    return options;
}

static size_t ncut_memory(const segment_job *s, const clv_matrix *points, clv_home home, int64_t threads) {
    clv_ncut_options options = ncut_options(s, &s->control);
    options.control.threads = threads;
    return clv_ncut_memory(points->rows, home, &options);
}

static clv_status solve_ncut(segment_job *s, const clv_control *control) {
    clv_ncut_options options = ncut_options(s, control);
    CLI_TRY(build_graph(s));
    return cli_library(s->app, clv_ncut(s->app->ctx, s->affinity, &options, &s->result));
}

/* --- symnmf --- */

static void symnmf_similarity(const segment_job *s, clv_affinity_options *how) {
    clv_affinity_defaults(how);
    how->memory = similarity_budget(s);
    how->threads = s->control.threads;
}

static clv_symnmf_options symnmf_options(const segment_job *s, const clv_control *control) {
    clv_symnmf_options options;
    clv_symnmf_defaults(&options);
    options.control = *control;
    options.k = s->options.k;
    return options;
}

static size_t symnmf_memory(const segment_job *s, const clv_matrix *points, clv_home home, int64_t threads) {
    clv_symnmf_options options = symnmf_options(s, &s->control);
    options.control.threads = threads;
    return clv_symnmf_memory(points->rows, home, &options);
}

static clv_status solve_symnmf(segment_job *s, const clv_control *control) {
    clv_context *ctx = s->app->ctx;
    clv_symnmf_options options = symnmf_options(s, control);
    clv_affinity_options how;
    symnmf_similarity(s, &how);
    CLI_TRY(cli_library(
        s->app, clv_affinity_calibrate(ctx, clv_data_matrix(s->points), &how, clv_symnmf_mean(options.k), &how.gamma)));
    CLI_TRY(build_similarity(s, &how));
    return cli_library(s->app, clv_symnmf(ctx, s->affinity, &options, &s->result));
}

/* --- kpalm --- */

static clv_kpalm_options kpalm_options(const segment_job *s, const clv_control *control) {
    clv_kpalm_options options;
    clv_kpalm_defaults(&options);
    options.control = *control;
    options.k = s->options.k;
    return options;
}

static size_t kpalm_memory(const segment_job *s, const clv_matrix *points, clv_home home, int64_t threads) {
    clv_kpalm_options options = kpalm_options(s, &s->control);
    (void)home;
    options.control.threads = threads;
    return clv_kpalm_memory(points, &options);
}

static clv_status solve_kpalm(segment_job *s, const clv_control *control) {
    clv_kpalm_options options = kpalm_options(s, control);
    return cli_library(s->app, clv_kpalm(s->app->ctx, clv_data_matrix(s->points), &options, &s->result));
}

const cli_segmenter cli_segmenters[] = {
    {.name = "dominant", .similarity = dominant_similarity, .memory = dominant_memory, .solve = solve_dominant},
    {.name = "ncut", .restarts = true, .near = true, .memory = ncut_memory, .solve = solve_ncut},
    {.name = "symnmf",
     .restarts = true,
     .similarity = symnmf_similarity,
     .memory = symnmf_memory,
     .solve = solve_symnmf},
    {.name = "kpalm", .restarts = true, .memory = kpalm_memory, .solve = solve_kpalm},
};
