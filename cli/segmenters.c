/* The methods of cleave segment: what each makes of the objects of a picture, and how many segments it looks for. */
#include "segment.h"

/* The similarities of objects near each other, as an affinity. */
static clv_status build_graph(segment_job *s) {
    clv_context *ctx = s->app->ctx;
    clv_affinity_options how;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    how.threads = s->control.threads;
    CLI_TRY(cli_library(s->app, clv_region_similarity(ctx, s->regions, clv_data_matrix(s->points), s->options.reach,
                                                      s->options.sigma, &s->graph)));
    return cli_library(s->app, clv_affinity_build(ctx, clv_data_matrix(s->graph), &how, &s->affinity));
}

static clv_status solve_ncut(segment_job *s, const clv_control *control) {
    clv_ncut_options options;
    CLI_TRY(build_graph(s));
    clv_ncut_defaults(&options);
    options.control = *control;
    options.k = s->options.k;
    options.bound = CLV_NCUT_BOUND_NO;
    return cli_library(s->app, clv_ncut(s->app->ctx, s->affinity, &options, &s->result));
}

const cli_segmenter cli_segmenters[] = {
    {"ncut", solve_ncut},
};
