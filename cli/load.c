/* The data of a run: what is asked of them checked, read, put in the order of their ids, scaled. */
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

clv_status cli_order_labels(const cli_app *app, const int64_t *rows, int64_t n, int32_t *labels) {
    int32_t *before = rows ? malloc((size_t)n * sizeof *before + 1) : NULL;
    if (rows && !before) {
        return cli_fail(app, CLV_ENOMEM, "out of memory");
    }
    for (int64_t i = 0; before && i < n; i++) {
        before[i] = labels[rows[i]];
    }
    if (before) {
        memcpy(labels, before, (size_t)n * sizeof *before);
    }
    free(before);
    return CLV_OK;
}

clv_status cli_read_labels_by_id(const cli_app *app, const char *what, const char *path,
                                 const clv_label_request *request, const clv_data *of, int64_t n, clv_data **kept,
                                 int32_t **out, bool *by_id) {
    clv_data *named = NULL;
    int64_t *rows = NULL;
    CLI_TRY(cli_library(app, clv_read_named_labels(app->ctx, path, request, &named, out)));
    int64_t count = clv_data_matrix(named)->rows;
    clv_status status = count == n ? cli_library(app, clv_match_ids(app->ctx, of, named, &rows))
                                   : cli_fail(app, CLV_EDATA, "%s: %s has %lld labels, but there are %lld objects",
                                              what, path, (long long)count, (long long)n);
    status = status < 0 ? status : cli_order_labels(app, rows, n, *out);
    *by_id = rows != NULL;
    if (kept) {
        *kept = named;
    } else {
        clv_data_free(named);
    }
    clv_release(app->ctx, rows);
    return status;
}

clv_status cli_take_rows(const cli_app *app, const clv_data *of, clv_data *read, bool *by_id) {
    int64_t all = clv_data_rows_read(of), *rows = NULL;
    *by_id = false;
    if (clv_data_matrix(read)->rows != all) {
        return CLV_OK;
    }
    CLI_TRY(cli_library(app, clv_match_ids(app->ctx, of, read, &rows)));
    *by_id = rows != NULL;
    clv_status status =
        rows || all > clv_data_matrix(of)->rows ? cli_library(app, clv_data_keep_rows(read, of, rows)) : CLV_OK;
    clv_release(app->ctx, rows);
    return status;
}

const char *cli_matched(bool by_id) {
    return by_id ? "matched by id" : "row by row";
}

clv_status cli_read_object_labels(const cli_job *job, const char *what, const char *path, bool truth, int32_t **out,
                                  bool *by_id) {
    const clv_label_request request = {.truth = truth};
    int64_t n = clv_data_matrix(job->data)->rows, all = clv_data_rows_read(job->data);
    CLI_TRY(cli_read_labels_by_id(job->app, what, path, &request, job->data, all, NULL, out, by_id));
    for (int64_t i = 0; i < n; i++) { /* of the rows that were kept */
        (*out)[i] = (*out)[clv_data_row(job->data, i)];
    }
    return CLV_OK;
}

static clv_status read_truth(cli_job *job) {
    const char *path = job->points.truth;
    job->truth = clv_data_labels(job->data);
    if (path) {
        bool by_id;
        CLI_TRY(cli_read_object_labels(job, "--truth", path, true, &job->truth_read, &by_id));
        snprintf(job->truth_from, sizeof job->truth_from, "%s, %s", path, cli_matched(by_id));
        job->truth = job->truth_read;
    }
    return CLV_OK;
}

static void tell_data(const cli_job *job) {
    const clv_matrix *matrix = clv_data_matrix(job->data);
    const char *kind = matrix->start ? "sparse" : matrix->scalar == CLV_F32 ? "float" : "double";
    cli_tell("%s: %lld x %lld %s%s, %s labels, %.3f s", job->args.operands[0], (long long)matrix->rows,
             (long long)matrix->cols, kind, clv_data_is_mapped(job->data) ? " (mapped)" : "",
             clv_data_labels(job->data) ? "with" : "without", job->load_seconds);
}

void cli_tell_note(const char *path, const clv_data *data) {
    if (data && *clv_data_note(data)) {
        cli_tell("%s: %s", path, clv_data_note(data));
    }
}

void cli_tell_warning(const char *path, const clv_data *data) {
    if (data && *clv_data_warning(data)) {
        cli_tell("%s: warning: %s", path, clv_data_warning(data));
    }
}

static clv_status scale(cli_job *job) {
    clv_scale how = (clv_scale)job->points.scale;
    if (job->fresh && job->how.kind != CLV_AFFINITY_PRECOMPUTED) {
        return cli_library(job->app, clv_data_scale_both(job->data, job->fresh, how));
    }
    return cli_library(job->app, clv_data_scale(job->data, how));
}

/* "Y" for "[Y]". */
static const char *operand_name(const char *operand) {
    return operand && strcmp(operand, "[Y]") == 0 ? "Y" : operand;
}

static clv_status check_standard_input(const cli_job *job) {
    const char *first = NULL;
    for (size_t i = 0; i <= CLI_OPERANDS; i++) {
        const char *path = i < CLI_OPERANDS ? job->args.operands[i] : job->prediction.input;
        const char *name = i < CLI_OPERANDS ? operand_name(job->args.command->operands[i]) : "--predict";
        if (path && strcmp(path, "-") == 0) {
            if (cli_job_is_shared(job)) {
                return cli_fail(job->app, CLV_EUSAGE,
                                "%s cannot be standard input for several processes: put the data into a file that all "
                                "of them can read",
                                name);
            }
            if (first) {
                return cli_fail(job->app, CLV_EUSAGE, "%s and %s cannot both be standard input", first, name);
            }
            first = name;
        }
    }
    return CLV_OK;
}

/* Whether DATA are to stay in their file: a similarity, or points that would not fit the budget or are shared out. */
static int stays_in_file(const cli_job *job) {
    struct stat file;
    if (job->how.kind == CLV_AFFINITY_PRECOMPUTED) {
        return CLI_MAP_SYMMETRIC;
    }
    bool large = stat(job->args.operands[0], &file) == 0 && (size_t)file.st_size > cli_budget(job->how.memory);
    bool stays = (job->method->abilities & CLV_READS_IN_ORDER) && job->points.scale == CLV_SCALE_NONE &&
                 (large || cli_job_is_shared(job)); /* of which every process then reads its part */
    return stays ? CLI_MAP : CLI_READ;
}

/* What a row was divided by is not kept. */
static clv_status check_units(const cli_job *job) {
    return job->output.units && job->points.scale == CLV_SCALE_UNIT_ROWS
               ? cli_fail(job->app, CLV_EUSAGE,
                          "--units data cannot be used with --scale unit-rows, which cannot be undone")
               : CLV_OK;
}

/* Options that only tables have a use for. */
static clv_status check_table_options(const cli_job *job) {
    static const char *const names[] = {"columns", "drop", "id-column", "missing", "categories"};
    const char *path = job->args.operands[0];
    for (size_t i = 0; !clv_is_table(path) && i < CLI_COUNT(names); i++) {
        if (cli_args_given(&job->args, names[i])) {
            return cli_fail(job->app, CLV_EUSAGE, "--%s is for .csv, .tsv and .txt files, and %s is none", names[i],
                            path);
        }
    }
    return CLV_OK;
}

/* By all processes together, where they share the run: the library knows which of them is to read. */
static clv_status read_data(cli_job *job, const clv_read_options *reading) {
    clv_context *ctx = job->app->ctx;
    bool together = cli_job_is_shared(job);
    if (together) {
        clv_context_work_alone(ctx, 0);
    }
    clv_status status = clv_read(ctx, job->args.operands[0], reading, &job->data);
    if (together) {
        clv_context_work_alone(ctx, 1);
    }
    return cli_library(job->app, status);
}

clv_status cli_job_load(cli_job *job) {
    const cli_app *app = job->app;
    clv_read_options reading = cli_read_options(&job->points, stays_in_file(job));
    bool samples = job->method->takes == CLV_TAKES_SAMPLES;
    reading.targets = samples && !job->args.operands[1];
    reading.elsewhere = samples && job->args.operands[1] ? 2 : job->points.truth != NULL;
    CLI_TRY(cli_check_precomputed(app, &job->how, &job->points));
    if (job->how.kind == CLV_AFFINITY_PRECOMPUTED && job->output.silhouette) {
        return cli_fail(app, CLV_EUSAGE,
                        "--silhouette cannot be used with --affinity precomputed: there are no points");
    }
    CLI_TRY(check_units(job));
    CLI_TRY(check_table_options(job));
    CLI_TRY(cli_predict_check(job));
    CLI_TRY(check_standard_input(job));
    CLI_TRY(cli_job_check_targets(job));
    cli_reading_begin(app, job->how.memory);
    double began = cli_seconds();
    cli_progress_begin(&job->progress, app, job->shows, job->output.progress, NULL);
    cli_progress_phase(&job->progress, "reading");
    CLI_TRY(cli_takes_partitions(job) ? cli_partitions_read(job) : read_data(job, &reading));
    CLI_TRY(cli_predict_read(job, &reading));
    CLI_TRY(read_truth(job));
    CLI_TRY(cli_terms_read(job));
    CLI_TRY(scale(job));
    cli_progress_end(&job->progress);
    job->load_seconds = cli_seconds() - began;
    if (job->output.verbose) {
        tell_data(job);
    }
    bool labels_alone = job->output.output && strcmp(job->output.output, "-") == 0; /* no table says it */
    if (job->output.verbose || (labels_alone && !job->output.quiet)) {
        cli_tell_note(job->args.operands[0], job->data);
        cli_tell_note(job->prediction.input, job->fresh);
    }
    if (!job->output.quiet) {
        cli_tell_warning(job->args.operands[0], job->data);
        cli_tell_warning(job->prediction.input, job->fresh);
    }
    CLI_TRY(cli_job_settle_k(job));
    CLI_TRY(cli_job_read_inputs(job));
    cli_reading_end(app); /* all that is read has been read */
    return CLV_OK;
}
