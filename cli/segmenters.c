/* The methods of cleave segment: what each makes of the objects of a picture, and how many segments it looks for. */
#include "segment.h"

#include <stdlib.h>

/* The similarities of objects near each other, as an affinity. */
static clv_status build_graph(segment_job *s) {
    clv_context *ctx = s->app->ctx;
    clv_affinity_options how;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    how.memory = s->options.memory;
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

static clv_status solve_dominant(segment_job *s, const clv_control *control) {
    clv_context *ctx = s->app->ctx;
    clv_dominant_options options;
    clv_affinity_options how;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_MINIMAX;
    how.zero_diagonal = 1;
    how.memory = s->options.memory;
    how.threads = control->threads;
    clv_dominant_defaults(&options);
    options.control = *control;
    options.k = s->options.k;
    options.assign = 1;
    CLI_TRY(cli_library(s->app, clv_affinity_build(ctx, clv_data_matrix(s->points), &how, &s->affinity)));
    CLI_TRY(choose_shift(s, &options.shift));
    return cli_library(s->app, clv_dominant(ctx, s->affinity, &options, &s->result));
}

/* --- ncut --- */

static clv_status solve_ncut(segment_job *s, const clv_control *control) {
    clv_ncut_options options;
    CLI_TRY(build_graph(s));
    clv_ncut_defaults(&options);
    options.control = *control;
    options.k = s->options.k;
    options.bound = CLV_NCUT_BOUND_NO;
    return cli_library(s->app, clv_ncut(s->app->ctx, s->affinity, &options, &s->result));
}

/* --- symnmf --- */

static clv_status solve_symnmf(segment_job *s, const clv_control *control) {
    clv_context *ctx = s->app->ctx;
    const clv_matrix *points = clv_data_matrix(s->points);
    clv_symnmf_options options;
    clv_affinity_options how;
    clv_affinity_defaults(&how);
    how.memory = s->options.memory;
    how.threads = control->threads;
    clv_symnmf_defaults(&options);
    options.control = *control;
    options.k = s->options.k;
    CLI_TRY(cli_library(s->app, clv_affinity_calibrate(ctx, points, &how, clv_symnmf_mean(options.k), &how.gamma)));
    CLI_TRY(cli_library(s->app, clv_affinity_build(ctx, points, &how, &s->affinity)));
    return cli_library(s->app, clv_symnmf(ctx, s->affinity, &options, &s->result));
}

/* --- kpalm --- */

static clv_status solve_kpalm(segment_job *s, const clv_control *control) {
    clv_kpalm_options options;
    clv_kpalm_defaults(&options);
    options.control = *control;
    options.k = s->options.k;
    return cli_library(s->app, clv_kpalm(s->app->ctx, clv_data_matrix(s->points), &options, &s->result));
}

const cli_segmenter cli_segmenters[] = {
    {"dominant", solve_dominant},
    {"ncut", solve_ncut},
    {"symnmf", solve_symnmf},
    {"kpalm", solve_kpalm},
};
