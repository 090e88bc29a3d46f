/* How long all pairs of objects take, said before the work begins: the first objects are measured, and the rest
 * predicted. Where that is longer than the time limit, the affinity is not made; where a pass takes long, another
 * affinity is suggested, and what was asked for is done all the same. */
#include "job.h"

#include <math.h>
#include <stdlib.h>

/* So many objects are measured; up to MANY all of them take moments. */
enum { SAMPLED = 1024, MANY = 8 * SAMPLED };
#define LONG_PASS 30.0 /* seconds of a pass that, several times, are minutes */

/* Seconds. Before their first iteration ncut and symnmf make the affinity and pass over it twice. */
typedef struct estimate {
    double before; /* the first iteration */
    double pass;   /* each time that entries are computed again; 0: they are kept */
} estimate;

/* Plans of knn graphs and of factors have no pass over all pairs in them. */
static bool has_all_pairs(const clv_affinity_info *plan) {
    double n = (double)plan->n;
    return !plan->sparse && 2 * plan->cost.pass > n * n;
}

/* The shortest of three passes counts: a sample is short enough for others to get in its way. */
static clv_status measure_sample(const cli_job *job, const clv_matrix *few, clv_affinity_options how, estimate *out) {
    double began = cli_seconds(), *sums = malloc(SAMPLED * sizeof *sums);
    clv_affinity *a = NULL;
    clv_status status = sums ? cli_make_affinity(job, few, &how, &a) : CLV_ENOMEM;
    double made = cli_seconds() - began, shortest = INFINITY;
    for (int pass = 0; status >= 0 && pass < 3; pass++) {
        began = cli_seconds();
        status = clv_affinity_degrees(a, sums, how.threads);
        shortest = fmin(shortest, cli_seconds() - began);
    }
    *out = (estimate){made + 2 * shortest, shortest};
    clv_affinity_free(a);
    free(sums);
    return status;
}

/* Zeros: pairs are not looked at, or what is wrong will be said where they are. */
static estimate predict(const cli_job *job, const clv_affinity_options *how) {
    const clv_matrix *points = clv_data_matrix(job->data);
    clv_matrix few = *points;
    clv_affinity_options suited = *how, own = *how;
    clv_affinity_info plan;
    estimate found = {0};
    double ratio = (double)points->rows / SAMPLED;
    few.rows = SAMPLED;
    if (clv_suit_affinity(job->app->ctx, job->method, &few, job->options, &suited) < 0 || suited.looks > 0 ||
        clv_affinity_plan(job->app->ctx, points, &suited, &plan) < 0 || !has_all_pairs(&plan) ||
        clv_options_set(job->app->ctx, clv_affinity_table(), &own, "home", plan.home) < 0 ||
        measure_sample(job, &few, own, &found) < 0) {
        return (estimate){0};
    }
    return (estimate){found.before * ratio * ratio, plan.cost.resident ? 0 : found.pass * ratio * ratio};
}

static const char *print_duration(double seconds, char *text, size_t size) {
    bool hours = seconds >= 7200, minutes = !hours && seconds >= 120;
    double unit = hours ? 3600 : minutes ? 60 : 1;
    snprintf(text, size, "%.*f %s", seconds < 10, seconds / unit, hours ? "hours" : minutes ? "min" : "s");
    return text;
}

/* What else could be asked for: landmarks, where the kind and the method have a use for them. */
static const char *others(const cli_job *job, const clv_affinity_options *how) {
    clv_context *ctx = job->app->ctx;
    const clv_matrix *points = clv_data_matrix(job->data);
    clv_affinity_options asked = *how;
    clv_affinity_info plan;
    asked.landmarks = 500;
    return clv_suit_affinity(ctx, job->method, points, job->options, &asked) >= 0 &&
                   clv_affinity_plan(ctx, points, &asked, &plan) >= 0
               ? "--affinity knn (near objects alone) or --landmarks 500 (all, approximately)"
               : "--affinity knn (near objects alone)";
}

static void suggest(cli_job *job, const clv_affinity_options *how, double pass) {
    char duration[32];
    snprintf(job->suggestion, sizeof job->suggestion,
             "a pass over the similarities of %lld objects takes about %s here, and %s makes several: try %s",
             (long long)clv_data_matrix(job->data)->rows, print_duration(pass, duration, sizeof duration),
             job->method->name, others(job, how));
    if (!job->output.quiet) {
        fprintf(stderr, "warning: %s\n", job->suggestion);
    }
}

static void tell_late(const cli_job *job, const clv_affinity_options *how, double needed, double limit) {
    char duration[32];
    if (!job->output.quiet) {
        fprintf(stderr,
                "warning: about %s would pass over all pairs of %lld objects before the first iteration of %s, and the "
                "time limit is %g s: the labels will be those of k-means on the points; try %s, or a longer "
                "--time-limit\n",
                print_duration(needed, duration, sizeof duration), (long long)clv_data_matrix(job->data)->rows,
                job->method->name, limit, others(job, how));
    }
}

bool cli_job_takes_too_long(cli_job *job, const clv_affinity_options *how) {
    double limit = cli_control_of(job)->time_limit;
    if (clv_data_matrix(job->data)->rows < MANY || how->kind == CLV_AFFINITY_PRECOMPUTED) {
        return false;
    }
    estimate e = predict(job, how);
    bool late = limit > 0 && e.before > limit - cli_elapsed(job->app) && !cli_interrupted();
    if (late) {
        tell_late(job, how, e.before, limit);
    } else if (e.pass > LONG_PASS) {
        suggest(job, how, e.pass);
    }
    return late;
}
