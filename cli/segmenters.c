/* What cleave segment makes of the objects of a picture for each method: any that gives labels will do, and those below
 * are set up with more care. */
#include "segment.h"

#include <stdlib.h>
#include <string.h>

/* The budget without what the method takes on one thread: the home of the similarities must not depend on threads. */
static int64_t similarity_budget(const segment_job *s) {
    size_t budget = cli_budget(s->options.memory);
    return (int64_t)(budget > s->plan.method_thread ? budget - s->plan.method_thread : 1);
}

/* Minimax distances: what counts is the largest step on the way from one object to another. A sky that fades from blue
 * to white is one piece by them, where plain distances would cut it. */
void cli_segment_similarity(const segment_job *s, clv_affinity_options *how) {
    clv_affinity_defaults(how);
    how->kind = CLV_AFFINITY_MINIMAX;
    how->zero_diagonal = s->segmenter->zero_diagonal;
    how->memory = similarity_budget(s);
    how->threads = s->control->threads;
}

static clv_status build_similarity(segment_job *s, const clv_matrix *points) {
    clv_affinity_options how;
    cli_segment_similarity(s, &how);
    return cli_library(s->app, clv_affinity_build(s->app->ctx, points, &how, &s->affinity));
}

static clv_status of_similarity(segment_job *s, clv_input *input) {
    CLI_TRY(build_similarity(s, clv_data_matrix(s->points)));
    input->affinity = s->affinity;
    return CLV_OK;
}

static clv_status of_points(segment_job *s, clv_input *input) {
    input->points = clv_data_matrix(s->points);
    return CLV_OK;
}

/* The mean similarity of an object to all, summed over those. */
static clv_status mean_degree(const segment_job *s, double *mean) {
    int64_t n = clv_affinity_size(s->affinity);
    double *degrees = malloc((size_t)n * sizeof *degrees);
    double sum = 0;
    if (!degrees) {
        return cli_fail(s->app, CLV_ENOMEM, "out of memory");
    }
    clv_status status = cli_library(s->app, clv_affinity_degrees(s->affinity, degrees, s->control->threads));
    for (int64_t i = 0; status == CLV_OK && i < n; i++) {
        sum += degrees[i];
    }
    *mean = sum / (double)n;
    free(degrees);
    return status;
}

/* --- dominant --- */

static size_t degree_bytes(const clv_matrix *points) {
    return (size_t)points->rows * sizeof(double);
}

/* The shift makes dominant sets as large as segments are: a share of the mean similarity of an object to all. */
static clv_status dominant_input(segment_job *s, clv_input *input) {
    static const double share = 0.08;
    clv_dominant_options *options = (clv_dominant_options *)(void *)s->method_options;
    CLI_TRY(of_similarity(s, input));
    CLI_TRY(mean_degree(s, &options->shift));
    options->shift *= share;
    return CLV_OK;
}

static void set_dominant(void *options) {
    ((clv_dominant_options *)options)->assign = 1;
}

/* --- ncut: the similarities of objects near each other --- */

static clv_status ncut_input(segment_job *s, clv_input *input) {
    clv_context *ctx = s->app->ctx;
    clv_affinity_options how;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    how.memory = similarity_budget(s);
    how.threads = s->control->threads;
    CLI_TRY(cli_library(s->app, clv_region_similarity(ctx, s->regions, clv_data_matrix(s->points), s->options.reach,
                                                      s->options.sigma, &s->graph)));
    CLI_TRY(cli_library(s->app, clv_affinity_build(ctx, clv_data_matrix(s->graph), &how, &s->affinity)));
    input->affinity = s->affinity;
    return CLV_OK;
}

static void set_ncut(void *options) {
    ((clv_ncut_options *)options)->bound = CLV_NCUT_BOUND_NO;
}

/* --- symnmf --- */

/* The points scaled, and what the eigenvectors of its start take in small problems: measured. */
static size_t scaled_bytes(const clv_matrix *points) {
    return ((size_t)1 << 20) + (size_t)points->rows * (size_t)(points->cols + 1) * sizeof(double);
}

/* Points times a factor have minimax similarities times that factor: the one with which their mean suits k clusters. It
 * is 1.25 / k, above the least that memberships have: minimax similarities are not flat (experiments/segmentation). */
static clv_status scale_points(segment_job *s, int64_t k) {
    const clv_matrix *points = clv_data_matrix(s->points);
    int64_t count = points->rows * points->cols;
    double degree = 0;
    CLI_TRY(mean_degree(s, &degree));
    s->scaled = malloc((size_t)count * sizeof *s->scaled);
    if (!s->scaled) {
        return cli_fail(s->app, CLV_ENOMEM, "out of memory");
    }
    double factor = degree > 0 ? 1.25 / (double)k * (double)points->rows / degree : 1;
    for (int64_t e = 0; e < count; e++) {
        s->scaled[e] = factor * ((const double *)points->values)[e];
    }
    return CLV_OK;
}

static clv_status symnmf_input(segment_job *s, clv_input *input) {
    s->scaled_points = *clv_data_matrix(s->points);
    CLI_TRY(build_similarity(s, &s->scaled_points));
    CLI_TRY(scale_points(s, s->options.k));
    clv_affinity_free(s->affinity);
    s->affinity = NULL;
    s->scaled_points.values = s->scaled;
    CLI_TRY(build_similarity(s, &s->scaled_points));
    input->affinity = s->affinity;
    return CLV_OK;
}

/* --- kpalm: k-means of the rows of the similarity, n numbers per object; of the points where there are too many --- */

enum { KPALM_ROWS = 4096 };

static size_t row_bytes(const clv_matrix *points) {
    return points->rows <= KPALM_ROWS ? (size_t)points->rows * (size_t)points->rows * sizeof(double) : 0;
}

static int64_t kpalm_columns(const clv_matrix *points) {
    return points->rows <= KPALM_ROWS ? points->rows : points->cols;
}

static clv_status kpalm_input(segment_job *s, clv_input *input) {
    const clv_matrix *points = clv_data_matrix(s->points);
    clv_affinity_options how;
    if (points->rows > KPALM_ROWS) {
        return of_points(s, input);
    }
    cli_segment_similarity(s, &how);
    /* As planned: the matrix below is part of the method's own bytes. */
    CLI_TRY(
        cli_library(s->app, clv_options_set(s->app->ctx, clv_affinity_table(), &how, "home", s->plan.affinity.home)));
    how.memory += (int64_t)row_bytes(points);
    CLI_TRY(cli_library(s->app, clv_affinity_build(s->app->ctx, points, &how, &s->affinity)));
    CLI_TRY(cli_library(s->app, clv_affinity_materialize(s->affinity, &s->graph)));
    input->points = clv_data_matrix(s->graph);
    return CLV_OK;
}

/* --- the list --- */

static const cli_segmenter segmenters[] = {
    {.method = "dominant",
     .k = 4,
     .similarity = true,
     .zero_diagonal = true,
     .more = degree_bytes,
     .set = set_dominant,
     .input = dominant_input},
    {.method = "ncut", .k = 4, .restarts = true, .near = true, .set = set_ncut, .input = ncut_input},
    {.method = "symnmf", .k = 3, .restarts = true, .similarity = true, .more = scaled_bytes, .input = symnmf_input},
    {.method = "kpalm",
     .k = 3,
     .restarts = true,
     .similarity = true,
     .most = KPALM_ROWS,
     .more = row_bytes,
     .columns = kpalm_columns,
     .input = kpalm_input},
};

/* Any other method that gives labels: on minimax similarities, or on the points. */
static const cli_segmenter on_similarity = {.k = 4, .restarts = true, .similarity = true, .input = of_similarity};
static const cli_segmenter on_points = {.k = 4, .restarts = true, .input = of_points};

const cli_segmenter *cli_segmenter_of(const clv_method *method) {
    for (size_t i = 0; i < CLI_COUNT(segmenters); i++) {
        if (strcmp(segmenters[i].method, method->name) == 0) {
            return &segmenters[i];
        }
    }
    return method->takes == CLV_TAKES_AFFINITY ? &on_similarity : &on_points;
}

static bool can_segment(const clv_method *method) {
    bool of_pixels = method->takes == CLV_TAKES_AFFINITY || method->takes == CLV_TAKES_POINTS;
    return of_pixels && clv_method_gives(method, "labels");
}

const clv_method *cli_segment_method(int number) {
    size_t count;
    const clv_method *const *methods = clv_methods(&count);
    for (size_t i = 0; i < count; i++) {
        if (can_segment(methods[i]) && number-- == 0) {
            return methods[i];
        }
    }
    return NULL;
}

const char *cli_segment_methods(void) {
    static char names[256];
    size_t used = 0;
    for (int i = 0; cli_segment_method(i) && used < sizeof names; i++) {
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? "|" : "", cli_segment_method(i)->name);
    }
    return names;
}
