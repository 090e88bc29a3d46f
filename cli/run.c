/* The run of a method's command: arguments -> targets checked -> data -> affinity -> method -> metrics -> outputs
 * (results.c). Methods on points alone go without the affinity. */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- arguments --- */

/* Methods without an affinity have a memory budget all the same. */
const clv_option_table *cli_job_how_table(const cli_job *job) {
    static clv_option_table memory = {"memory", NULL, 1};
    memory.options = clv_options_find(clv_affinity_table(), "memory");
    return job->method->points_only ? &memory : clv_affinity_table();
}

const clv_option_table *cli_job_points_table(const cli_job *job) {
    return cli_points_table((job->method->outputs & CLI_LABELS) != 0);
}

clv_status cli_job_open(const cli_app *app, const cli_method *method, int argc, char **argv, cli_job *job) {
    *job = (cli_job){.app = app, .method = method, .silhouette = NAN};
    job->args.command = method->command;
    const clv_option_table *output = cli_output_table(&job->output_room, method->outputs);
    clv_options_defaults(cli_points_table(true), &job->points);
    clv_options_defaults(output, &job->output);
    clv_affinity_defaults(&job->how);
    method->defaults(&job->options);
    cli_args_add(&job->args, method->table(), &job->options);
    cli_args_add(&job->args, cli_job_points_table(job), &job->points);
    cli_args_add(&job->args, cli_job_how_table(job), &job->how);
    cli_args_add(&job->args, clv_control_table(), &job->options.control);
    cli_args_add(&job->args, output, &job->output);
    if (method->predict) {
        cli_args_add(&job->args, cli_predict_table(method), &job->prediction);
    }
    if (method->own) {
        clv_options_defaults(method->own(), &job->own);
        cli_args_add(&job->args, method->own(), &job->own);
    }
    CLI_TRY(cli_args_parse(app, &job->args, argc, argv));
    return job->args.help ? CLV_OK : method->check(job);
}

clv_status cli_check_precomputed(const cli_app *app, const clv_affinity_options *how,
                                 const cli_points_options *points) {
    if (how->kind == CLV_AFFINITY_PRECOMPUTED && points->scale != CLV_SCALE_NONE) {
        return cli_fail(app, CLV_EUSAGE, "--scale does not go with --affinity precomputed: there are no points");
    }
    return CLV_OK;
}

/* --- data --- */

clv_status cli_read_labels_of(const cli_app *app, const char *what, const char *path, int64_t n, int32_t **out) {
    int64_t count = 0;
    CLI_TRY(cli_library(app, clv_read_labels(app->ctx, path, &count, out)));
    if (count != n) {
        clv_release(app->ctx, *out);
        *out = NULL;
        return cli_fail(app, CLV_EDATA, "%s: %s has %lld labels, but there are %lld objects", what, path,
                        (long long)count, (long long)n);
    }
    return CLV_OK;
}

static clv_status read_truth(cli_job *job) {
    int64_t n = clv_data_matrix(job->data)->rows;
    job->truth = clv_data_labels(job->data);
    if (job->points.truth) {
        CLI_TRY(cli_read_labels_of(job->app, "--truth", job->points.truth, n, &job->truth_read));
        job->truth = job->truth_read;
    }
    return CLV_OK;
}

static void tell_data(const cli_job *job) {
    const clv_matrix *matrix = clv_data_matrix(job->data);
    const char *kind = matrix->start ? "sparse" : matrix->scalar == CLV_F32 ? "float" : "double";
    fprintf(stderr, "%s: %lld x %lld %s%s, %s labels, %.3f s\n", job->args.operands[0], (long long)matrix->rows,
            (long long)matrix->cols, kind, clv_data_is_mapped(job->data) ? " (mapped)" : "",
            clv_data_labels(job->data) ? "with" : "without", job->load_seconds);
}

static void tell_note(const char *path, const clv_data *data) {
    if (data && *clv_data_note(data)) {
        fprintf(stderr, "%s: %s\n", path, clv_data_note(data));
    }
}

static clv_status scale(cli_job *job) {
    clv_scale how = (clv_scale)job->points.scale;
    if (job->fresh && job->how.kind != CLV_AFFINITY_PRECOMPUTED) {
        return cli_library(job->app, clv_data_scale_both(job->data, job->fresh, how));
    }
    return cli_library(job->app, clv_data_scale(job->data, how));
}

static clv_status check_standard_input(const cli_job *job) {
    const char *first = job->args.operands[0], *second = job->args.operands[1];
    if (second && strcmp(first, "-") == 0 && strcmp(second, "-") == 0) {
        return cli_fail(job->app, CLV_EUSAGE, "%s and %s cannot both be standard input", job->args.command->operands[0],
                        job->args.command->operands[1]);
    }
    return CLV_OK;
}

/* Whether DATA are to stay in their file: a similarity, or points that would not fit the budget. */
static bool stays_in_file(const cli_job *job) {
    struct stat file;
    double budget = job->how.memory > 0 ? (double)job->how.memory
                                        : 0.5 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
    if (job->how.kind == CLV_AFFINITY_PRECOMPUTED) {
        return true;
    }
    return job->method->maps && job->points.scale == CLV_SCALE_NONE && stat(job->args.operands[0], &file) == 0 &&
           (double)file.st_size > budget;
}

clv_status cli_job_load(cli_job *job) {
    const cli_app *app = job->app;
    clv_read_options reading = cli_read_options(&job->points, stays_in_file(job));
    CLI_TRY(cli_check_precomputed(app, &job->how, &job->points));
    if (job->how.kind == CLV_AFFINITY_PRECOMPUTED && job->output.silhouette) {
        return cli_fail(app, CLV_EUSAGE, "--silhouette does not go with --affinity precomputed: there are no points");
    }
    CLI_TRY(check_standard_input(job));
    CLI_TRY(cli_predict_check(job));
    CLI_TRY(cli_job_check_targets(job));
    double began = cli_seconds();
    CLI_TRY(cli_library(app, clv_read(app->ctx, job->args.operands[0], &reading, &job->data)));
    CLI_TRY(cli_predict_read(job, &reading));
    CLI_TRY(read_truth(job));
    CLI_TRY(scale(job));
    job->load_seconds = cli_seconds() - began;
    if (job->output.verbose) {
        tell_data(job);
        tell_note(job->args.operands[0], job->data);
        tell_note(job->prediction.input, job->fresh);
    }
    CLI_TRY(job->method->prepare(job));
    cli_signals_restart_calls(); /* all that is read has been read */
    return CLV_OK;
}

/* --- affinity --- */

size_t cli_job_memory(const cli_job *job, const cli_method_options *options) {
    return job->method->memory(clv_data_matrix(job->data), job->info.home, options);
}

/* The options to build with: the budget less the bytes of the method on one thread, as the home must not depend on the
 * number of threads, nor may the result. */
static clv_status remaining_budget(const cli_job *job, clv_affinity_options *out) {
    cli_method_options one = job->options;
    one.control.threads = 1;
    size_t method = job->method->memory(clv_data_matrix(job->data), CLV_HOME_AUTO, &one);
    size_t held = 0, peak;
    *out = job->how;
    out->threads = job->options.control.threads;
    if (job->method->points_only) { /* else the affinity counts what is held already */
        clv_context_memory(job->app->ctx, &held, &peak);
    }
    if (out->memory > 0) {
        if (held + method >= (size_t)out->memory) {
            return cli_fail(job->app, CLV_ENOMEM, "--memory %lld is too small: %s itself needs %zu bytes",
                            (long long)out->memory, job->method->command->name, method);
        }
        out->memory -= (int64_t)method;
    }
    return CLV_OK;
}

clv_status cli_job_plan(cli_job *job) {
    clv_affinity_options how;
    CLI_TRY(remaining_budget(job, &how));
    if (job->method->points_only) {
        return CLV_OK;
    }
    return cli_library(job->app, clv_affinity_plan(job->app->ctx, clv_data_matrix(job->data), &how, &job->info));
}

static void tell_affinity(const cli_job *job) {
    char bytes[32], method[32];
    cli_print_bytes((double)job->info.bytes, bytes, sizeof bytes);
    cli_print_bytes((double)cli_job_memory(job, &job->options), method, sizeof method);
    fprintf(stderr, "affinity: %s", clv_affinity_kind_name(job->info.kind));
    if (!isnan(job->info.gamma)) {
        fprintf(stderr, ", gamma %.17g", job->info.gamma);
    }
    fprintf(stderr, ", home %s, %s, %.3f s; %s needs %s\n", clv_home_name(job->info.home), bytes, job->affinity_seconds,
            job->method->command->name, method);
}

static clv_status build_affinity(cli_job *job) {
    clv_affinity_options how;
    double began = cli_seconds();
    CLI_TRY(remaining_budget(job, &how));
    if (job->method->points_only) {
        return CLV_OK;
    }
    if (job->method->adapt) {
        CLI_TRY(cli_library_on(job->app, job->args.operands[0], job->method->adapt(job, &how)));
    }
    CLI_TRY(cli_library_on(job->app, job->args.operands[0],
                           clv_affinity_build(job->app->ctx, clv_data_matrix(job->data), &how, &job->affinity)));
    clv_affinity_describe(job->affinity, &job->info);
    job->affinity_seconds = cli_seconds() - began;
    if (job->output.verbose) {
        tell_affinity(job);
    }
    return CLV_OK;
}

/* --- the method --- */

/* Fewer threads when the method's work arrays for all of them would not fit the budget. */
static int64_t threads_within_budget(const cli_job *job) {
    cli_method_options options = job->options;
    int64_t *threads = &options.control.threads;
    size_t held, peak;
    if (job->how.memory == 0) {
        return *threads;
    }
    clv_context_memory(job->app->ctx, &held, &peak);
    *threads = *threads > 0 ? *threads : sysconf(_SC_NPROCESSORS_ONLN);
    while (*threads > 1 && held + cli_job_memory(job, &options) > (size_t)job->how.memory) {
        (*threads)--;
    }
    return *threads;
}

static clv_status run_method(cli_job *job) {
    cli_method_options options = job->options;
    clv_control *control = &options.control;
    cli_progress progress;
    cli_progress_begin(&progress, job->app, control->restarts,
                       cli_progress_wanted(&job->args, job->output.progress, job->output.quiet));
    if (progress.shown) {
        control->monitor = cli_progress_monitor;
        control->monitor_user = &progress;
    }
    control->threads = threads_within_budget(job);
    control->keep_trace = job->output.trace || job->output.report;
    if (control->time_limit > 0) {
        /* The user's limit counts from the start of the program. */
        control->time_limit = fmax(control->time_limit - cli_elapsed(job->app), 1e-6);
    }
    clv_status status = job->method->solve(job, &options, &job->result);
    cli_progress_end(&progress);
    return cli_library(job->app, status);
}

static clv_status measure(cli_job *job) {
    const cli_app *app = job->app;
    const clv_result *result = job->result;
    if (!result->labels) {
        return CLV_OK;
    }
    if (job->truth) {
        CLI_TRY(cli_library(app, clv_compare(app->ctx, job->truth, result->labels, result->n, &job->scores)));
    }
    /* Once interrupted, no more work of n^2. */
    if (job->output.silhouette && !cli_interrupted()) {
        clv_status status = clv_silhouette(app->ctx, clv_data_matrix(job->data), result->labels,
                                           job->options.control.threads, &job->silhouette);
        if (status == CLV_EINTERRUPTED) { /* the clustering itself is there */
            job->silhouette = NAN;
            return CLV_OK;
        }
        CLI_TRY(cli_library(app, status));
    }
    return CLV_OK;
}

clv_status cli_job_solve(cli_job *job) {
    CLI_TRY(build_affinity(job));
    CLI_TRY(run_method(job));
    return measure(job);
}

void cli_job_close(cli_job *job) {
    clv_context *ctx = job->app->ctx;
    clv_result_free(job->result);
    clv_affinity_free(job->affinity);
    clv_release(ctx, job->start_labels);
    free(job->start_membership);
    free(job->start_weights);
    clv_release(ctx, job->truth_read);
    for (size_t i = 0; i < sizeof job->extra / sizeof *job->extra; i++) {
        clv_data_free(job->extra[i]);
    }
    clv_data_free(job->fresh);
    clv_data_free(job->data);
}

/* --- all of it --- */

static clv_status run(cli_job *job) {
    CLI_TRY(cli_job_load(job));
    if (job->output.dry_run) {
        CLI_TRY(cli_job_plan(job));
        return cli_job_forecast(job);
    }
    CLI_TRY(cli_job_solve(job));
    CLI_TRY(cli_job_write(job));
    if (cli_interrupted()) {
        if (!job->output.quiet) {
            fprintf(stderr, "interrupted: this is the best result so far\n");
        }
        return CLV_EINTERRUPTED;
    }
    return CLV_OK;
}

int cli_job_run(const cli_app *app, const cli_method *method, int argc, char **argv) {
    cli_job job;
    clv_status status = cli_job_open(app, method, argc, argv, &job);
    if (status >= 0) {
        status = job.args.help ? cli_help_command(app, &job.args) : run(&job);
    }
    cli_job_close(&job);
    return cli_exit_status(status);
}
