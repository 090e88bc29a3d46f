/* The methods of cleave segment: what each makes of the objects of a picture. */
#include "segment.h"

#include <stdlib.h>

/* The budget without what the method takes on one thread: the home of the similarities must not depend on threads. */
static int64_t similarity_budget(const segment_job *s) {
    size_t budget = cli_segment_budget(s);
    return (int64_t)(budget > s->plan.method_thread ? budget - s->plan.method_thread : 1);
}

static clv_status build_similarity(segment_job *s, const clv_matrix *points, const clv_affinity_options *how) {
    return cli_library(s->app, clv_affinity_build(s->app->ctx, points, how, &s->affinity));
}

/* Minimax distances: what counts is the largest step on the way from one object to another. A sky that fades from blue
 * to white is one piece by them, where plain distances would cut it. */
static void minimax_similarity(const segment_job *s, clv_affinity_options *how) {
    clv_affinity_defaults(how);
    how->kind = CLV_AFFINITY_MINIMAX;
    how->memory = similarity_budget(s);
    how->threads = s->control.threads;
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

/* The mean similarity of an object to all, summed over those. */
static clv_status mean_degree(const segment_job *s, double *mean) {
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
    *mean = sum / (double)n;
    free(degrees);
    return status;
}

static void dominant_similarity(const segment_job *s, clv_affinity_options *how) {
    minimax_similarity(s, how);
    how->zero_diagonal = 1;
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

/* The shift makes dominant sets as large as segments are: a share of the mean similarity of an object to all. */
static clv_status solve_dominant(segment_job *s, const clv_control *control) {
    static const double share = 0.08;
    clv_dominant_options options = dominant_options(s, control);
    clv_affinity_options how;
    dominant_similarity(s, &how);
    CLI_TRY(build_similarity(s, clv_data_matrix(s->points), &how));
    CLI_TRY(mean_degree(s, &options.shift));
    options.shift *= share;
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
    /* With the points scaled, and what the eigenvectors of its start take in small problems: measured. */
    return clv_symnmf_memory(points->rows, home, &options) + ((size_t)1 << 20) +
           (size_t)points->rows * (size_t)(points->cols + 1) * sizeof(double);
}

/* Points times a factor have minimax similarities times that factor: the one with which their mean suits k clusters. */
static clv_status scale_points(segment_job *s, int64_t k) {
    const clv_matrix *points = clv_data_matrix(s->points);
    int64_t count = points->rows * points->cols;
    double degree = 0;
    CLI_TRY(mean_degree(s, &degree));
    s->scaled = malloc((size_t)count * sizeof *s->scaled);
    if (!s->scaled) {
        return cli_fail(s->app, CLV_ENOMEM, "out of memory");
    }
    double factor = degree > 0 ? clv_symnmf_mean(k) * (double)points->rows / degree : 1;
    for (int64_t e = 0; e < count; e++) {
        s->scaled[e] = factor * ((const double *)points->values)[e];
    }
    return CLV_OK;
}

static clv_status solve_symnmf(segment_job *s, const clv_control *control) {
    clv_symnmf_options options = symnmf_options(s, control);
    clv_matrix points = *clv_data_matrix(s->points);
    clv_affinity_options how;
    minimax_similarity(s, &how);
    CLI_TRY(build_similarity(s, &points, &how));
    CLI_TRY(scale_points(s, options.k));
    clv_affinity_free(s->affinity);
    s->affinity = NULL;
    points.values = s->scaled;
    CLI_TRY(build_similarity(s, &points, &how));
    return cli_library(s->app, clv_symnmf(s->app->ctx, s->affinity, &options, &s->result));
}

/* --- kpalm: k-means of the rows of the similarity, n numbers an object; of the points where there are too many --- */

enum { KPALM_ROWS = 4096 };

static clv_kpalm_options kpalm_options(const segment_job *s, const clv_control *control) {
    clv_kpalm_options options;
    clv_kpalm_defaults(&options);
    options.control = *control;
    options.k = s->options.k;
    return options;
}

static size_t kpalm_memory(const segment_job *s, const clv_matrix *points, clv_home home, int64_t threads) {
    clv_kpalm_options options = kpalm_options(s, &s->control);
    clv_matrix rows = {.rows = points->rows, .cols = points->rows, .scalar = CLV_F64};
    size_t matrix = (size_t)points->rows * (size_t)points->rows * sizeof(double);
    (void)home;
    options.control.threads = threads;
    return points->rows <= KPALM_ROWS ? matrix + clv_kpalm_memory(&rows, &options) : clv_kpalm_memory(points, &options);
}

static clv_status solve_kpalm(segment_job *s, const clv_control *control) {
    clv_context *ctx = s->app->ctx;
    clv_kpalm_options options = kpalm_options(s, control);
    const clv_matrix *points = clv_data_matrix(s->points);
    if (points->rows <= KPALM_ROWS) {
        clv_affinity_options how;
        minimax_similarity(s, &how);
        how.home = s->plan.home; /* as planned: the matrix below is part of the method's own bytes */
        how.memory += points->rows * points->rows * (int64_t)sizeof(double);
        CLI_TRY(build_similarity(s, points, &how));
        CLI_TRY(cli_library(s->app, clv_affinity_materialize(s->affinity, &s->graph)));
        points = clv_data_matrix(s->graph);
    }
    return cli_library(s->app, clv_kpalm(ctx, points, &options, &s->result));
}

const cli_segmenter cli_segmenters[] = {
    {.name = "dominant", .k = 4, .similarity = dominant_similarity, .memory = dominant_memory, .solve = solve_dominant},
    {.name = "ncut", .k = 4, .restarts = true, .near = true, .memory = ncut_memory, .solve = solve_ncut},
    {.name = "symnmf",
     .k = 3,
     .restarts = true,
     .similarity = minimax_similarity,
     .memory = symnmf_memory,
     .solve = solve_symnmf},
    {.name = "kpalm",
     .k = 3,
     .restarts = true,
     .similarity = minimax_similarity,
     .most = KPALM_ROWS,
     .memory = kpalm_memory,
     .solve = solve_kpalm},
};
