/* --predict: labels of objects that were not clustered, by the clusters that were found. */
#include "job.h"

#include <math.h>
#include <string.h>

#define FILE_OPTION(member_, name_, help_) CLI_FILE_OPTION(cli_predict_options, member_, name_, 0, "FILE", help_)
#define READ "new objects to label, read and scaled like DATA"
#define LABELS "labels of the new objects: .npy (int32), .csv or .txt"

bool cli_predicts(const clv_method *method, const char *what) {
    const char *found = method->predicts ? strstr(method->predicts, what) : NULL;
    return found != NULL;
}

/* Memberships are the last option: a table without them is one shorter. */
const clv_option_table *cli_predict_table(const clv_method *method) {
    static clv_option options[] = {
        FILE_OPTION(input, "predict", READ),
        FILE_OPTION(output, "predict-output", LABELS),
        FILE_OPTION(membership, "predict-membership", "their memberships, one column per cluster: .npy or .csv"),
    };
    static clv_option_table table = {"new objects", options, 0, 0};
    bool affinity = method->takes == CLV_TAKES_AFFINITY;
    options[0].help =
        affinity ? READ
            "; with --affinity precomputed, their similarities to the objects of DATA, one row per new object"
                 : READ;
    options[1].help = affinity ? LABELS "; -1: no cluster" : LABELS;
    table.count = CLI_COUNT(options) - !cli_predicts(method, "membership");
    return &table;
}

clv_status cli_predict_check(const cli_job *job) {
    const cli_predict_options *prediction = &job->prediction;
    const cli_special *special = job->special;
    bool wanted = prediction->output || prediction->membership;
    if (job->how.kind == CLV_AFFINITY_MINIMAX && (prediction->input || job->output.save_model)) {
        return cli_fail(job->app, CLV_EUSAGE,
                        "--%s cannot be used with --affinity minimax: new points would change the paths between the "
                        "old ones",
                        prediction->input ? "predict" : "save-model");
    }
    if (!prediction->input && !wanted) {
        return CLV_OK;
    }
    if (!wanted && !(special->prediction && special->prediction(job))) {
        return cli_fail(job->app, CLV_EUSAGE, "--predict needs --predict-output FILE%s, where the results go",
                        cli_predicts(job->method, "membership") ? " or --predict-membership FILE"
                        : special->prediction                   ? " or --scores FILE"
                                                                : "");
    }
    if (!prediction->input) {
        return cli_fail(job->app, CLV_EUSAGE, "--%s needs --predict FILE, the new objects",
                        prediction->output ? "predict-output" : "predict-membership");
    }
    return CLV_OK;
}

static clv_status read_fresh(const cli_app *app, const char *path, const clv_read_options *reading, clv_data **out) {
    clv_read_options plain = *reading;
    clv_status status = clv_read(app->ctx, path, reading, out);
    if (status == CLV_EUSAGE && (reading->label_column || reading->id_column) && strcmp(path, "-") != 0) {
        plain.label_column = reading->label_column ? "none" : NULL;
        plain.id_column = NULL;
        status = clv_read(app->ctx, path, &plain, out);
    }
    return status;
}

clv_status cli_read_fresh(const cli_app *app, const char *path, const clv_read_options *reading, clv_data **out) {
    return cli_library(app, read_fresh(app, path, reading, out));
}

/* In half of the time that is left, so that there is a result in any case: where that is not enough, there are no
 * predictions. Processes that share the work, whose clocks differ, keep the limit that they have in common. */
static clv_status read_in_time(cli_job *job, const clv_read_options *like) {
    const char *path = job->prediction.input;
    clv_context *ctx = job->app->ctx;
    double left = cli_time_left(job);
    if (isinf(left) || left <= 0 || cli_job_is_shared(job)) {
        return cli_library(job->app, read_fresh(job->app, path, like, &job->fresh));
    }
    clv_context_set_time_limit(ctx, left / 2);
    clv_status status = read_fresh(job->app, path, like, &job->fresh);
    clv_context_set_time_limit(ctx, fmax(cli_time_left(job), 1e-3));
    job->unread = status == CLV_ETIME;
    return job->unread ? CLV_OK : cli_library(job->app, status);
}

clv_status cli_predict_read(cli_job *job, const clv_read_options *reading) {
    if (!job->prediction.input) {
        return CLV_OK;
    }
    clv_read_options like = *reading;
    bool given = job->how.kind == CLV_AFFINITY_PRECOMPUTED;
    if (!given) {
        cli_read_as(&like, job->data);
    }
    CLI_TRY(read_in_time(job, &like));
    if (job->unread) {
        return CLV_OK;
    }
    if (!given) {
        CLI_TRY(cli_check_columns(job->app, job->prediction.input, job->fresh, like.like, like.like_count,
                                  job->output.quiet));
    }
    int64_t objects = clv_data_matrix(job->data)->rows, found = clv_data_matrix(job->fresh)->cols;
    if (given && found != objects) {
        return cli_fail(job->app, CLV_EDATA, "--predict: %s has %lld columns, but %s has %lld objects",
                        cli_input_name(job->prediction.input), (long long)found, cli_input_name(job->args.operands[0]),
                        (long long)objects);
    }
    return CLV_OK;
}

clv_status cli_predict(const cli_job *job, clv_result **out) {
    const clv_matrix *fresh = clv_data_matrix(job->fresh ? job->fresh : job->data);
    bool similar = cli_has_affinity(job) && job->how.kind == CLV_AFFINITY_PRECOMPUTED;
    clv_fresh objects = {.points = similar ? NULL : fresh, .similarities = similar ? fresh : NULL};
    clv_status status = clv_predict(job->app->ctx, job->method, &job->input, job->options, job->result, &objects, out);
    return status == CLV_ETIME ? status : cli_library(job->app, status);
}

/* What is left of the time limit, and half a second at the least: new objects are mostly few. */
static clv_status predict_in_time(const cli_job *job, clv_result **out) {
    double left = cli_time_left(job);
    clv_context_set_time_limit(job->app->ctx, isinf(left) ? 0 : fmax(left, 0.5));
    clv_status status = cli_predict(job, out);
    clv_context_set_time_limit(job->app->ctx, 0);
    if (status == CLV_ETIME && !job->output.quiet) {
        cli_tell("warning: there was no time for the predictions of %lld new objects: cleave predict makes them "
                 "from a result of --json FILE",
                 (long long)clv_data_matrix(job->fresh)->rows);
    }
    return status;
}

clv_status cli_predict_write(const cli_job *job) {
    clv_result *found = NULL;
    double began = cli_seconds();
    if (!(job->prediction.output || job->prediction.membership) || cli_interrupted()) {
        return CLV_OK;
    }
    clv_status status = job->predicted ? CLV_OK : predict_in_time(job, &found);
    if (status == CLV_EINTERRUPTED || status == CLV_ETIME) {
        return CLV_OK; /* the clustering itself is complete; the program says and returns that it was interrupted */
    }
    CLI_TRY(status);
    const clv_result *labeled = job->predicted ? job->predicted : found;
    if (job->output.verbose) {
        cli_tell("%s: %lld new objects, %.3f s", job->prediction.input, (long long)labeled->n, cli_seconds() - began);
    }
    cli_outputs out = {.app = job->app};
    int64_t count;
    const char *const *classes = job->targets ? clv_data_classes(job->targets, &count) : NULL;
    cli_outputs_labels(&out, job->prediction.output, labeled->labels, labeled->n, job->fresh, classes);
    const char *path = job->prediction.membership;
    if (path) {
        const clv_matrix *memberships = clv_result_matrix(labeled, "membership");
        cli_outputs_note(&out, path, cli_write_memberships(job->app, path, memberships, job->fresh));
    }
    clv_result_free(found);
    return out.first;
}
