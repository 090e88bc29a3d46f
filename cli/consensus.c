/* cleave consensus: several files in place of one, their names beside what is said of them, and the confidences. */
#include "job.h"

static const clv_option_table *table(void) {
    static const clv_option options[] = {
        CLI_FILE_OPTION(cli_own_options, confidence, "confidence", 0, "FILE",
                        "how far the inputs agree on each object, 0 to 1: .npy or .csv"),
    };
    static const clv_option_table table = {.title = "consensus files", .options = options, .count = 1};
    return &table;
}

static clv_status check(const cli_job *job) {
    const clv_consensus_options *options = (const clv_consensus_options *)(const void *)job->options;
    if (options->medoid && (options->k > 0 || cli_args_given(&job->args, "method"))) {
        return cli_fail(job->app, CLV_EUSAGE,
                        "--medoid cannot be used with -k or --method: it is one of the inputs, with its own clusters");
    }
    if (options->k == 0 && !options->medoid) {
        return cli_fail(job->app, CLV_EUSAGE, "consensus needs -k N (the number of clusters), or --medoid");
    }
    return CLV_OK;
}

static void files(const cli_job *job, cli_own_file list[CLI_OWN_FILES]) {
    list[0] = (cli_own_file){"confidence", job->own.confidence, "npy|csv|tsv", false};
}

clv_status cli_partitions_read(cli_job *job) {
    const char *paths[CLI_OPERANDS + CLI_MORE];
    int64_t count = (int64_t)cli_args_files(&job->args, 0, paths);
    CLI_TRY(cli_library(job->app,
                        clv_read_partitions(job->app->ctx, paths, count, job->points.soft, &job->data, &job->widths)));
    job->input.widths = job->widths ? clv_data_matrix(job->widths) : NULL;
    return CLV_OK;
}

clv_status cli_partitions_name(cli_job *job) {
    const char *paths[CLI_OPERANDS + CLI_MORE];
    int64_t count = (int64_t)cli_args_files(&job->args, 0, paths);
    clv_field field = {.name = "inputs.name", .kind = CLV_FIELD_TEXT, .is_list = 1, .count = count, .texts = paths};
    return cli_library(job->app, clv_result_put(job->result, &field));
}

static clv_status write(const cli_job *job) {
    static const char *const column[] = {"confidence"};
    int64_t count;
    const double *values = clv_result_reals(job->result, column[0], &count);
    if (!job->own.confidence || !values) {
        return CLV_OK;
    }
    const clv_matrix matrix = {.rows = count, .cols = 1, .values = values};
    return cli_library(job->app, clv_write_named(job->app->ctx, job->own.confidence, &matrix, job->data, 0, column));
}

const cli_special cli_consensus_special = {
    .method = "consensus", .table = table, .check = check, .files = files, .write = write, .k_optional = true};
