/* cleave pursuit: the graph that its weights are for. */
#include "job.h"

static const clv_option_table *table(void) {
    static const clv_option options[] = {
        CLI_FILE_OPTION(cli_own_options, graph, "graph", 0, "FILE",
                        "|W| + |W'| without its diagonal, sparse .mtx, for --affinity precomputed"),
    };
    static const clv_option_table table = {.title = "pursuit files", .options = options, .count = 1};
    return &table;
}

static clv_status check(const cli_job *job) {
    if (cli_args_given(&job->args, "lambda") && cli_args_given(&job->args, "radius")) {
        return cli_fail(job->app, CLV_EUSAGE, "--lambda cannot be used with --radius, which takes its place");
    }
    return CLV_OK;
}

static void files(const cli_job *job, cli_own_file list[CLI_OWN_FILES]) {
    list[0] = (cli_own_file){"graph", job->own.graph, "mtx", false};
}

static clv_status write_graph(const cli_job *job) {
    clv_data *graph = NULL;
    if (!job->own.graph) {
        return CLV_OK;
    }
    clv_status status = clv_pursuit_affinity(job->app->ctx, clv_result_matrix(job->result, "weights"), &graph);
    if (status >= 0) {
        status = clv_write_matrix(job->app->ctx, job->own.graph, clv_data_matrix(graph));
    }
    clv_data_free(graph);
    return cli_library(job->app, status);
}

/* fista and admm hold W and more of its size as n x n numbers from their first step on. */
static const char *thrift(const cli_job *job) {
    const clv_pursuit_options *options = (const void *)job->options;
    return options->solver == CLV_KSUPPORT_FCFW ? NULL : "only --solver fcfw needs no n x n numbers";
}

const cli_special cli_pursuit_special = {
    .method = "pursuit", .table = table, .check = check, .files = files, .write = write_graph, .thrift = thrift};
