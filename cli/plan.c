/* The memory and the affinity of a run: what the method needs, what is left of the budget, and what is built within it.
 */
#include "job.h"

#include <math.h>
#include <string.h>

/* Of an affinity that is only planned, the plan is all there is; before that, the number of objects. A checkpoint holds
 * what lasts of the state, packed and as a file. */
static size_t method_memory(const cli_job *job, const clv_affinity_info *plan, int64_t threads) {
    clv_input input = job->input;
    input.plan = plan;
    size_t bytes = cli_method_bytes(job->method, &input, job->options, threads);
    return job->checkpoint.path || job->checkpoint.resume ? 2 * bytes : bytes;
}

size_t cli_job_memory(const cli_job *job, int64_t threads) {
    return method_memory(job, &job->info, threads);
}

static const char *thrift_of(const cli_job *job) {
    return job->special->thrift ? job->special->thrift(job) : NULL;
}

/* The budget named is the least whole number of MiB that is enough. */
static clv_status refuse_budget(const cli_job *job, size_t held, size_t method) {
    const size_t mib = (size_t)1 << 20;
    if (cli_has_affinity(job)) {
        return cli_fail(job->app, CLV_ENOMEM,
                        "--memory %lld is too small: %s itself needs %zu bytes, besides the data and the affinity; "
                        "--dry-run without --memory lists what is needed",
                        (long long)job->how.memory, job->method->name, method);
    }
    char budget[64];
    snprintf(budget, sizeof budget, job->how.memory > 0 ? "--memory %zu" : "the default --memory of %zu bytes",
             cli_budget(job->how.memory));
    const char *thrift = thrift_of(job);
    return cli_fail(
        job->app, CLV_ENOMEM,
        "%s is too small: the data take %zu bytes, and %s needs %zu more; --memory %zuM would be enough%s%s", budget,
        held, job->method->name, method, (held + method) / mib + 1, thrift ? "; " : "", thrift ? thrift : "");
}

clv_status cli_remaining_budget(const cli_job *job, clv_affinity_options *out) {
    clv_affinity_info unknown = {.n = clv_data_matrix(job->data)->rows};
    size_t method = method_memory(job, &unknown, 1), held = 0, peak;
    *out = job->how;
    out->threads = cli_control_of(job)->threads;
    if (!cli_has_affinity(job)) { /* else the affinity counts what is held already */
        clv_context_memory(job->app->ctx, &held, &peak);
    }
    /* By default only where all that is foreseen is needed: others may well do with less. */
    bool limited = out->memory > 0 || (thrift_of(job) && !job->output.dry_run);
    if (limited && held + method >= cli_budget(out->memory)) {
        return refuse_budget(job, held, method);
    }
    out->memory -= out->memory > 0 ? (int64_t)method : 0;
    return CLV_OK;
}

/* Of --affinity auto, the one that suits the points; from now on it is the one that was asked for. */
clv_status cli_choose_affinity(cli_job *job, clv_affinity_options *how) {
    cli_progress_phase(&job->progress, "affinity");
    clv_status status = clv_choose_affinity(job->app->ctx, job->method, clv_data_matrix(job->data), job->options, how);
    job->how.kind = how->kind;
    job->how.chosen_on = how->chosen_on;
    job->how.choice = how->choice;
    memcpy(job->how.agreement, how->agreement, sizeof how->agreement);
    cli_progress_end(&job->progress);
    return status;
}

clv_status cli_job_plan(cli_job *job) {
    clv_affinity_options how;
    CLI_TRY(cli_remaining_budget(job, &how));
    if (!cli_has_affinity(job)) {
        return CLV_OK;
    }
    const clv_matrix *points = clv_data_matrix(job->data);
    bool late; /* is for a run to decide */
    CLI_TRY(cli_job_is_shared(job) ? cli_decide_affinity(job, &how, &late)
                                   : cli_library_on(job->app, job->args.operands[0], cli_choose_affinity(job, &how)));
    CLI_TRY(cli_library(job->app, clv_suit_affinity(job->app->ctx, job->method, points, job->options, &how)));
    return cli_library(job->app, clv_affinity_plan(job->app->ctx, points, &how, &job->info));
}

void cli_tell_affinity(const cli_job *job) {
    char bytes[32], method[32];
    cli_print_bytes((double)job->info.bytes, bytes, sizeof bytes);
    cli_print_bytes((double)cli_job_memory(job, cli_control_of(job)->threads), method, sizeof method);
    char line[512] = "", reason[256];
    FILE *text = fmemopen(line, sizeof line - 1, "w");
    if (!text) {
        return;
    }
    fprintf(text, "affinity: %s", clv_affinity_kind_name(job->info.kind));
    if (!isnan(job->info.gamma)) {
        fprintf(text, ", gamma %.17g", job->info.gamma);
    }
    if (!isnan(job->info.recall)) {
        fprintf(text, ", neighbors approximate with recall %.4f", job->info.recall);
    }
    if (job->info.landmarks > 0) {
        fprintf(text, ", %lld landmarks with error %.3g of the entries (sampled) and %.3g of the trace",
                (long long)job->info.landmarks, job->info.sampled_error, job->info.trace_error);
    }
    clv_affinity_reason(&job->info, reason, sizeof reason);
    fprintf(text, ", home %s, %s", job->info.home, bytes);
    if (job->affinity_seconds > 0) { /* of a range they are not told apart */
        fprintf(text, ", %.3f s", job->affinity_seconds);
    }
    fprintf(text, "; %s needs %s", job->method->name, method);
    fclose(text);
    cli_tell("%s", line);
    if (*reason) {
        cli_tell("affinity: %s", reason);
    }
}

clv_status cli_make_affinity(const cli_job *job, const clv_matrix *points, clv_affinity_options *how,
                             clv_affinity **out) {
    clv_context *ctx = job->app->ctx;
    clv_status status = clv_suit_affinity(ctx, job->method, points, job->options, how);
    return status < 0 ? status : clv_affinity_build(ctx, points, how, out);
}

double cli_time_left(const cli_job *job) {
    double limit = cli_control_of(job)->time_limit, used = clv_context_spent(job->app->ctx) + cli_elapsed(job->app);
    return limit > 0 ? limit - used : (double)INFINITY;
}

/* Of what is left of a time limit the most that building may take: with the rest there are labels in any case.
 * Processes that share the work, whose clocks differ, keep the limit that they have in common. */
#define BUILDING 0.75

static clv_status build_in_time(cli_job *job, clv_affinity_options *how) {
    double left = cli_time_left(job);
    bool limited = !isinf(left) && left > 0 && !cli_job_is_shared(job);
    if (limited) {
        clv_context_set_time_limit(job->app->ctx, BUILDING * left);
    }
    clv_status status = cli_make_affinity(job, clv_data_matrix(job->data), how, &job->affinity);
    if (limited) {
        clv_context_set_time_limit(job->app->ctx, fmax(cli_time_left(job), 1e-3));
    }
    return status;
}

clv_status cli_job_affinity(cli_job *job) {
    clv_affinity_options how;
    double began = cli_seconds();
    CLI_TRY(cli_remaining_budget(job, &how));
    if (!cli_has_affinity(job)) {
        return CLV_OK;
    }
    CLI_TRY(cli_decide_affinity(job, &how, &job->rough));
    if (job->args.k_least > 0) { /* it is built for each k, where it must be */
        job->info.n = clv_data_matrix(job->data)->rows;
        return CLV_OK;
    }
    cli_progress_phase(&job->progress, "affinity");
    clv_status status = job->rough ? CLV_ETIME : build_in_time(job, &how);
    status = cli_groups_meet(job, status);
    job->rough = job->rough || status == CLV_ETIME || status == CLV_EINTERRUPTED;
    cli_progress_end(&job->progress);
    if (job->rough) { /* also where only another group was stopped */
        clv_affinity_free(job->affinity);
        job->affinity = NULL;
        return CLV_OK;
    }
    CLI_TRY(cli_library_on(job->app, job->args.operands[0], status));
    job->input.affinity = job->affinity;
    clv_affinity_describe(job->affinity, &job->info);
    job->affinity_seconds = cli_seconds() - began;
    if (job->output.verbose) {
        cli_tell_affinity(job);
    }
    return CLV_OK;
}
