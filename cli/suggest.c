/* What to do instead where every pass over the similarities takes long: said before the work begins, with an estimate
 * by the similarities of a few objects. What was asked for is done all the same. */
#include "job.h"

#include <math.h>

/* Operations of a pass that takes a few seconds anywhere: no need to measure. Seconds of one that, several times, are
 * minutes. */
#define FEW_OPERATIONS 1e11
#define LONG_PASS 30.0
enum { MEASURED = 1024 }; /* objects */

/* Whether the method will go over all similarities, and each time compute them. */
static bool computes_all(const cli_job *job, const clv_affinity_options *how, const clv_affinity_info *plan) {
    clv_affinity_options asked = *how;
    asked.gamma = 1; /* is not looked for */
    bool cheap = plan->cost.resident || plan->cost.pass < (double)plan->n * plan->cost.column;
    return !cheap && plan->cost.pass > FEW_OPERATIONS &&
           clv_suit_affinity(job->app->ctx, job->method, clv_data_matrix(job->data), job->options, &asked) >= 0 &&
           asked.looks == 0;
}

/* Seconds of a pass, by one over the first objects; NaN: not known. */
static double pass_seconds(const cli_job *job, const clv_affinity_options *how) {
    clv_matrix some = *clv_data_matrix(job->data);
    clv_affinity_options asked = *how;
    clv_affinity *a = NULL;
    double degrees[MEASURED], ratio = (double)some.rows / MEASURED, seconds = NAN;
    some.rows = MEASURED;
    asked.gamma = 1;
    asked.home = CLV_HOME_COMPUTED;
    if (clv_affinity_build(job->app->ctx, &some, &asked, &a) >= 0 &&
        clv_affinity_degrees(a, degrees, how->threads) >= 0) { /* the first wakes up the threads */
        double began = cli_seconds();
        clv_status status = clv_affinity_degrees(a, degrees, how->threads);
        seconds = status >= 0 ? (cli_seconds() - began) * ratio * ratio : NAN;
    }
    clv_affinity_free(a);
    return seconds;
}

static void print_duration(double seconds, char *text, size_t size) {
    bool short_one = seconds < 120, long_one = seconds >= 7200;
    snprintf(text, size, "%.0f %s",
             seconds / (short_one  ? 1
                        : long_one ? 3600
                                   : 60),
             short_one  ? "s"
             : long_one ? "hours"
                        : "min");
}

void cli_job_suggest(cli_job *job, const clv_affinity_options *how) {
    clv_affinity_info plan;
    char duration[32];
    const clv_matrix *points = clv_data_matrix(job->data);
    if (points->rows <= MEASURED || clv_affinity_plan(job->app->ctx, points, how, &plan) < 0 ||
        !computes_all(job, how, &plan)) {
        return;
    }
    double seconds = pass_seconds(job, how);
    if (!(seconds > LONG_PASS)) {
        return;
    }
    print_duration(seconds, duration, sizeof duration);
    snprintf(job->suggestion, sizeof job->suggestion,
             "a pass over the similarities of %lld objects takes about %s here, and %s makes several; --affinity knn "
             "takes those of near objects alone%s",
             (long long)points->rows, duration, job->method->name,
             how->kind == CLV_AFFINITY_DISTANCE ? "" : ", --landmarks 500 approximates all of them");
    if (!job->output.quiet) {
        fprintf(stderr, "warning: %s\n", job->suggestion);
    }
}

clv_status cli_job_keep_suggestion(cli_job *job) {
    enum { MOST = 16 };
    const char *texts[MOST];
    const clv_field *before = clv_result_field(job->result, "warnings");
    int64_t count = before ? before->count : 0;
    if (!job->suggestion[0] || count >= MOST) {
        return CLV_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        texts[i] = before->texts[i];
    }
    texts[count] = job->suggestion;
    clv_field field = {.name = "warnings", .kind = CLV_FIELD_TEXT, .is_list = 1, .count = count + 1, .texts = texts};
    return cli_library(job->app, clv_result_put(job->result, &field));
}
