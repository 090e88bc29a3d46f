/* --predict: labels of objects that were not clustered, by the clusters that were found. */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#define FILE_OPTION(member_, name_, help_) CLI_FILE_OPTION(cli_predict_options, member_, name_, 0, "FILE", help_)
#define READ "new objects to label, read and scaled like DATA"

/* Memberships are the last option: tables without them are one shorter. */
const clv_option_table *cli_predict_table(const cli_method *method) {
    enum { OPTIONS = 3 };
    static const clv_option of_points[OPTIONS] = {
        FILE_OPTION(input, "predict", READ),
        FILE_OPTION(output, "predict-output", "labels of the new objects: .npy (int32), .csv or .txt"),
        FILE_OPTION(membership, "predict-membership", "their memberships, a column a cluster: .npy or .csv"),
    };
    static const clv_option of_affinities[OPTIONS] = {
        FILE_OPTION(input, "predict",
                    READ "; with --affinity precomputed, their similarities to the objects of DATA, a row a new "
                         "object"),
        FILE_OPTION(output, "predict-output", "labels of the new objects: .npy (int32), .csv or .txt; -1: no cluster"),
        FILE_OPTION(membership, "predict-membership", "their memberships, a column a cluster: .npy or .csv"),
    };
    static const clv_option_table tables[2][2] = {
        {{"new objects", of_affinities, OPTIONS - 1}, {"new objects", of_affinities, OPTIONS}},
        {{"new objects", of_points, OPTIONS - 1}, {"new objects", of_points, OPTIONS}}};
    return &tables[method->points_only][method->predict_membership != NULL];
}

static clv_status check_input(const cli_job *job, const char *input) {
    for (size_t i = 0; i < job->args.operand_count; i++) {
        if (strcmp(input, "-") == 0 && strcmp(job->args.operands[i], "-") == 0) {
            return cli_fail(job->app, CLV_EUSAGE, "%s and --predict cannot both be standard input",
                            job->args.command->operands[i]);
        }
    }
    return CLV_OK;
}

clv_status cli_predict_check(const cli_job *job) {
    const cli_predict_options *prediction = &job->prediction;
    const cli_method *method = job->method;
    bool wanted = prediction->output || prediction->membership;
    if (!prediction->input && !wanted) {
        return CLV_OK;
    }
    if (!wanted && !(method->predict_file && method->predict_file(job))) {
        return cli_fail(job->app, CLV_EUSAGE, "--predict needs --predict-output FILE%s, where the results go",
                        method->predict_membership ? " or --predict-membership FILE"
                        : method->predict_file     ? " or --scores FILE"
                                                   : "");
    }
    if (!prediction->input) {
        return cli_fail(job->app, CLV_EUSAGE, "--%s needs --predict FILE, the new objects",
                        prediction->output ? "predict-output" : "predict-membership");
    }
    CLI_TRY(check_input(job, prediction->input));
    if (job->how.kind == CLV_AFFINITY_MINIMAX) {
        return cli_fail(job->app, CLV_EUSAGE,
                        "--predict does not go with --affinity minimax: new points would change the paths between the "
                        "old ones");
    }
    return CLV_OK;
}

/* Like DATA, but for a label column that is named and not there: new objects often have none. */
static clv_status read_file(const cli_job *job, const clv_read_options *reading, clv_data **out) {
    clv_read_options plain = *reading;
    const char *path = job->prediction.input;
    clv_status status = clv_read(job->app->ctx, path, reading, out);
    if (status == CLV_EUSAGE && reading->label_column && strcmp(path, "-") != 0) {
        plain.label_column = "none";
        status = clv_read(job->app->ctx, path, &plain, out);
    }
    return cli_library(job->app, status);
}

clv_status cli_predict_read(cli_job *job, const clv_read_options *reading) {
    if (!job->prediction.input) {
        return CLV_OK;
    }
    CLI_TRY(read_file(job, reading, &job->fresh));
    int64_t objects = clv_data_matrix(job->data)->rows, found = clv_data_matrix(job->fresh)->cols;
    if (job->how.kind == CLV_AFFINITY_PRECOMPUTED && found != objects) {
        return cli_fail(job->app, CLV_EDATA, "--predict: %s has %lld columns, but %s has %lld objects",
                        job->prediction.input, (long long)found, job->args.operands[0], (long long)objects);
    }
    return CLV_OK;
}

static clv_status write_prediction(const cli_job *job, const int32_t *labels, const double *membership) {
    const cli_predict_options *prediction = &job->prediction;
    const clv_matrix matrix = {.rows = clv_data_matrix(job->fresh)->rows, .cols = job->result->k, .values = membership};
    clv_status status = CLV_OK, next = CLV_OK;
    if (prediction->output) {
        status = cli_library(job->app, clv_write_labels(job->app->ctx, prediction->output, labels, matrix.rows));
    }
    if (prediction->membership) {
        next = cli_library(job->app, clv_write_matrix(job->app->ctx, prediction->membership, &matrix));
    }
    return status < 0 ? status : next;
}

/* `membership` NULL: labels alone. */
static clv_status predict_and_write(const cli_job *job, int32_t *labels, double *membership) {
    double began = cli_seconds();
    clv_status status =
        membership ? job->method->predict_membership(job, labels, membership) : job->method->predict(job, labels);
    if (status == CLV_EINTERRUPTED) {
        return CLV_OK; /* the clustering itself is complete; the program says and returns that it was interrupted */
    }
    CLI_TRY(cli_library(job->app, status));
    if (job->output.verbose) {
        fprintf(stderr, "%s: %lld new objects, %.3f s\n", job->prediction.input,
                (long long)clv_data_matrix(job->fresh)->rows, cli_seconds() - began);
    }
    return write_prediction(job, labels, membership);
}

clv_status cli_predict_write(const cli_job *job) {
    bool soft = job->prediction.membership != NULL;
    if (!job->fresh || !(job->prediction.output || soft) || cli_interrupted()) {
        return CLV_OK;
    }
    size_t rows = (size_t)clv_data_matrix(job->fresh)->rows;
    int32_t *labels = calloc(rows + 1, sizeof *labels);
    double *membership = soft ? calloc(rows + 1, (size_t)job->result->k * sizeof *membership) : NULL;
    clv_status status = labels && (membership || !soft) ? predict_and_write(job, labels, membership)
                                                        : cli_fail(job->app, CLV_ENOMEM, "out of memory");
    free(membership);
    free(labels);
    return status;
}
