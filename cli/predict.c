/* --predict: labels of objects that were not clustered, by the clusters that were found. */
#include "job.h"

#include <stdlib.h>
#include <string.h>

const clv_option_table *cli_predict_table(void) {
    static const clv_option options[] = {
        {.name = "predict",
         .kind = CLV_OPTION_TEXT,
         .offset = offsetof(cli_predict_options, input),
         .meta = "FILE",
         .help = "new objects to label, read and scaled like DATA; with --affinity precomputed, their similarities to "
                 "the objects of DATA, a row a new object"},
        {.name = "predict-output",
         .kind = CLV_OPTION_TEXT,
         .offset = offsetof(cli_predict_options, output),
         .meta = "FILE",
         .help = "labels of the new objects: .npy (int32), .csv or .txt; -1 is similar to none"},
    };
    static const clv_option_table table = {"new objects", options, sizeof options / sizeof *options};
    return &table;
}

clv_status cli_predict_check(const cli_job *job) {
    const cli_predict_options *prediction = &job->prediction;
    if (!prediction->input && !prediction->output) {
        return CLV_OK;
    }
    if (!prediction->output) {
        return cli_fail(job->app, CLV_EUSAGE, "--predict needs --predict-output FILE, where the labels go");
    }
    if (!prediction->input) {
        return cli_fail(job->app, CLV_EUSAGE, "--predict-output needs --predict FILE, the new objects");
    }
    if (strcmp(prediction->input, "-") == 0 && strcmp(job->args.operands[0], "-") == 0) {
        return cli_fail(job->app, CLV_EUSAGE, "DATA and --predict cannot both be standard input");
    }
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

static clv_status label_and_write(const cli_job *job, int32_t *labels) {
    int64_t rows = clv_data_matrix(job->fresh)->rows;
    double began = cli_seconds();
    clv_status status = job->method->predict(job, labels);
    if (status == CLV_EINTERRUPTED) {
        return CLV_OK; /* the clustering itself is complete; the program says and returns that it was interrupted */
    }
    CLI_TRY(cli_library(job->app, status));
    if (job->output.verbose) {
        fprintf(stderr, "%s: labels of %lld new objects, %.3f s\n", job->prediction.output, (long long)rows,
                cli_seconds() - began);
    }
    return cli_library(job->app, clv_write_labels(job->app->ctx, job->prediction.output, labels, rows));
}

clv_status cli_predict_write(const cli_job *job) {
    if (!job->fresh || cli_interrupted()) {
        return CLV_OK;
    }
    int32_t *labels = calloc((size_t)clv_data_matrix(job->fresh)->rows + 1, sizeof *labels);
    if (!labels) {
        return cli_fail(job->app, CLV_ENOMEM, "out of memory");
    }
    clv_status status = label_and_write(job, labels);
    free(labels);
    return status;
}
