/* cleave pursuit: matrix pursuit by the k-support norm. */
#include "job.h"

static const clv_option_table *own(void) {
    static const clv_option options[] = {
        {.name = "graph",
         .kind = CLV_OPTION_TEXT,
         .offset = offsetof(cli_own_options, pursuit.graph),
         .meta = "FILE",
         .help = "|W| + |W'| without its diagonal, sparse .mtx, for --affinity precomputed"},
    };
    static const clv_option_table table = {"pursuit files", options, 1};
    return &table;
}

static void defaults(cli_method_options *options) {
    clv_pursuit_defaults(&options->pursuit);
}

static clv_status check(const cli_job *job) {
    if (!cli_args_given(&job->args, "k")) {
        return cli_fail(job->app, CLV_EUSAGE, "pursuit needs -k N, the k of the norm: about the entries of W wanted");
    }
    if (cli_args_given(&job->args, "lambda") && cli_args_given(&job->args, "radius")) {
        return cli_fail(job->app, CLV_EUSAGE, "--lambda does not go with --radius, which takes its place");
    }
    return CLV_OK;
}

static void own_files(const cli_job *job, cli_own_file list[CLI_OWN_FILES]) {
    list[0] = (cli_own_file){"graph", job->own.pursuit.graph, "mtx", false};
}

static clv_status prepare(cli_job *job) {
    int64_t n = clv_data_matrix(job->data)->rows;
    if (n < INT32_MAX && job->options.pursuit.k > n * n) {
        return cli_fail(job->app, CLV_EDATA, "k = %lld exceeds the %lld x %lld entries of W for %s",
                        (long long)job->options.pursuit.k, (long long)n, (long long)n, job->args.operands[0]);
    }
    return CLV_OK;
}

static size_t memory(const clv_matrix *points, clv_home home, const cli_method_options *options) {
    (void)home;
    return clv_pursuit_memory(points, &options->pursuit);
}

static clv_status solve(const cli_job *job, const cli_method_options *options, clv_result **out) {
    return clv_pursuit(job->app->ctx, clv_data_matrix(job->data), &options->pursuit, out);
}

static clv_status finish(const cli_job *job) {
    const char *path = job->own.pursuit.graph;
    clv_data *graph = NULL;
    if (!path) {
        return CLV_OK;
    }
    clv_status status = clv_pursuit_affinity(job->app->ctx, clv_data_matrix(job->result->weights), &graph);
    if (status >= 0) {
        status = clv_write_matrix(job->app->ctx, path, clv_data_matrix(graph));
    }
    clv_data_free(graph);
    return cli_library(job->app, status);
}

const cli_method cli_pursuit_method = {.command = &cli_pursuit,
                                       .table = clv_pursuit_table,
                                       .defaults = defaults,
                                       .check = check,
                                       .prepare = prepare,
                                       .memory = memory,
                                       .solve = solve,
                                       .own = own,
                                       .finish = finish,
                                       .own_files = own_files,
                                       .points_only = true,
                                       .outputs = CLI_WEIGHTS};

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    (void)command;
    return cli_job_run(app, &cli_pursuit_method, argc, argv);
}

const cli_command cli_pursuit = {
    .name = "pursuit",
    .summary = "k-support-norm matrix pursuit: learns an affinity, feeds ncut and dominant",
    .operands = {"DATA"},
    .about = "Writes every object as a combination of all objects: 1/2 ||X - X W||^2, X the objects as columns, and\n"
             "--lambda times the squared k-support norm of W are made least together; -k is about how many of the\n"
             "n x n entries of W are to be nonzero. |W| + |W'| is an affinity between objects that lie in the same\n"
             "subspace: --graph writes it, and ncut and dominant take it with --affinity precomputed. The\n"
             "certificate is the duality gap.\n"
             "\n"
             "DATA holds one object a row: .npy, .csv, .tsv, .mtx, .svm, .mat (file.mat:variable); - is CSV from\n"
             "standard input.\n",
    .examples = "  cleave pursuit digits.npy -k 4000 --scale unit-rows --weights W.mtx --graph A.mtx\n"
                "  cleave ncut A.mtx --affinity precomputed -k 10 --truth y.npy\n"
                "  cleave pursuit digits.npy -k 4000 --lambda 20 --json result.json\n"
                "  cleave verify result.json digits.npy\n",
    .run = run,
};
