/* cleave ncut: normalized cut. */
#include "job.h"

#include <string.h>
#include <sys/stat.h>

static void defaults(cli_method_options *options) {
    clv_ncut_defaults(&options->ncut);
}

static clv_status check(const cli_job *job) {
    if (!cli_args_given(&job->args, "k")) {
        return cli_fail(job->app, CLV_EUSAGE, "ncut needs -k N, the number of clusters, or -k auto");
    }
    return CLV_OK;
}

/* --start is the name of a start, or a file of labels. */
static clv_status read_start(cli_job *job, int64_t n) {
    static const char *const names[] = {"auto", "random", "spectral", "kmeans++"};
    clv_ncut_options *options = &job->options.ncut;
    struct stat file;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(options->start, names[i]) == 0) {
            return CLV_OK;
        }
    }
    if (!strpbrk(options->start, "./") && stat(options->start, &file)) {
        return cli_fail(job->app, CLV_EUSAGE,
                        "--start '%s' is neither auto, random, spectral or kmeans++ nor a file of labels",
                        options->start);
    }
    CLI_TRY(cli_read_labels_of(job->app, "--start", options->start, n, &job->start_labels));
    options->start_labels = job->start_labels;
    return CLV_OK;
}

static clv_status prepare(cli_job *job) {
    int64_t n = clv_data_matrix(job->data)->rows;
    if (job->options.ncut.k > n) {
        return cli_fail(job->app, CLV_EDATA, "k = %lld exceeds the %lld rows of %s", (long long)job->options.ncut.k,
                        (long long)n, job->args.operands[0]);
    }
    return read_start(job, n);
}

/* With a file to start from, the method's own name for that. */
static clv_ncut_options for_library(const cli_method_options *options) {
    clv_ncut_options ncut = options->ncut;
    if (ncut.start_labels) {
        ncut.start = "labels";
    }
    return ncut;
}

static size_t memory(const clv_matrix *points, clv_home home, const cli_method_options *options) {
    clv_ncut_options ncut = for_library(options);
    return clv_ncut_memory(points->rows, home, &ncut);
}

static clv_status solve(const cli_job *job, const cli_method_options *options, clv_result **out) {
    clv_ncut_options ncut = for_library(options);
    return clv_ncut(job->app->ctx, job->affinity, &ncut, out);
}

static clv_status predict(const cli_job *job, int32_t *labels) {
    const clv_result *result = job->result;
    const clv_matrix *fresh = clv_data_matrix(job->fresh);
    int64_t threads = job->options.control.threads;
    if (job->how.kind == CLV_AFFINITY_PRECOMPUTED) {
        return clv_ncut_predict(job->app->ctx, job->affinity, result->labels, result->k, fresh, threads, labels);
    }
    return clv_ncut_predict_points(job->app->ctx, job->affinity, result->labels, result->k, clv_data_matrix(job->data),
                                   &job->how, fresh, threads, labels);
}

const cli_method cli_ncut_method = {.command = &cli_ncut,
                                    .table = clv_ncut_table,
                                    .defaults = defaults,
                                    .check = check,
                                    .prepare = prepare,
                                    .memory = memory,
                                    .solve = solve,
                                    .predict = predict,
                                    .outputs = CLI_LABELS};

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    (void)command;
    return cli_job_run(app, &cli_ncut_method, argc, argv);
}

const cli_command cli_ncut = {
    .name = "ncut",
    .summary = "normalized cut by fractional programming",
    .operands = {"DATA"},
    .about = "Splits the objects into k clusters that cut little of the similarity between them:\n"
             "1/2 sum over clusters of cut(cluster, rest) / volume(cluster) is made small. The certificate\n"
             "says whether moving any one object could make it smaller.\n"
             "\n"
             "DATA holds one object a row: .npy, .csv, .tsv, .mtx, .svm, .mat (file.mat:variable), .png, .jpg;\n"
             "- is CSV from standard input. With --affinity precomputed, DATA is the n x n similarity itself.\n",
    .examples = "  cleave ncut points.csv -k 3\n"
                "  cleave ncut points.npy -k 3 --scale standard --restarts 20 -o labels.npy --truth y.npy\n"
                "  cleave ncut graph.mtx -k 5 --affinity precomputed --json result.json --report result.html\n"
                "  cleave ncut points.csv -k 3 -o labels.csv --predict new.csv --predict-output new-labels.csv\n",
    .run = run,
};
