/* Whether there is time for all pairs of objects: a sample of the points is measured, and the rest predicted. */
#include "job.h"

#include <math.h>
#include <stdlib.h>

/* So many objects are the sample; below the other number all of them take moments. */
enum { SAMPLED = 1024, MANY = 8 * SAMPLED };

/* Plans of knn graphs and of factors have no pass over all pairs in them. */
static bool has_all_pairs(const clv_affinity_info *plan) {
    double n = (double)plan->n;
    return !plan->sparse && 2 * plan->cost.pass > n * n;
}

/* What the affinity of the first objects takes, made as the method wants it, with two passes: what ncut and symnmf do
 * before they have a first value. The shortest of three counts: a sample is short enough for others to get in its way.
 */
static clv_status measure_sample(const cli_job *job, const clv_matrix *few, clv_affinity_options how, double *seconds) {
    clv_context *ctx = job->app->ctx;
    double began = cli_seconds(), *sums = malloc(SAMPLED * sizeof *sums);
    clv_affinity *a = NULL;
    clv_status status = sums ? clv_suit_affinity(ctx, job->method, few, job->options, &how) : CLV_ENOMEM;
    if (status >= 0) {
        status = clv_affinity_build(ctx, few, &how, &a);
    }
    double made = cli_seconds() - began, shortest = INFINITY;
    for (int pass = 0; status >= 0 && pass < 3; pass++) {
        began = cli_seconds();
        status = clv_affinity_degrees(a, sums, how.threads);
        shortest = fmin(shortest, cli_seconds() - began);
    }
    *seconds = made + 2 * shortest;
    clv_affinity_free(a);
    free(sums);
    return status;
}

static void tell(const cli_job *job, double needed, double limit) {
    bool landmarks = clv_options_find(clv_affinity_table(), "landmarks") != NULL;
    fprintf(stderr,
            "warning: about %.*f s would pass over all pairs of %lld objects before the first iteration of %s, and the "
            "time limit is %g s: the labels will be those of k-means on the points; try --affinity knn%s or a longer "
            "--time-limit\n",
            needed < 10, needed, (long long)clv_data_matrix(job->data)->rows, job->method->name, limit,
            landmarks ? ", --landmarks" : "");
}

/* What all pairs take, in seconds; 0: they are not looked at, or what is wrong will be said where they are. */
static double predict(const cli_job *job, const clv_affinity_options *how) {
    const clv_matrix *points = clv_data_matrix(job->data);
    clv_matrix few = *points;
    clv_affinity_options suited = *how, own = *how;
    clv_affinity_info plan;
    double seconds, ratio = (double)points->rows / SAMPLED;
    few.rows = SAMPLED;
    if (clv_suit_affinity(job->app->ctx, job->method, &few, job->options, &suited) < 0 || suited.looks > 0 ||
        clv_affinity_plan(job->app->ctx, points, &suited, &plan) < 0 || !has_all_pairs(&plan) ||
        clv_options_set(job->app->ctx, clv_affinity_table(), &own, "home", plan.home) < 0) {
        return 0;
    }
    return measure_sample(job, &few, own, &seconds) < 0 ? 0 : seconds * ratio * ratio;
}

bool cli_job_takes_too_long(const cli_job *job, const clv_affinity_options *how) {
    double limit = cli_control_of(job)->time_limit;
    if (!(limit > 0) || clv_data_matrix(job->data)->rows < MANY || how->kind == CLV_AFFINITY_PRECOMPUTED) {
        return false;
    }
    double needed = predict(job, how);
    bool late = needed > limit - cli_elapsed(job->app) && !cli_interrupted();
    if (late && !job->output.quiet) {
        tell(job, needed, limit);
    }
    return late;
}
