/* cleave dominant: dominant sets. */
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void defaults(cli_method_options *options) {
    clv_dominant_defaults(&options->dominant);
}

static clv_status check(const cli_job *job) {
    if (cli_args_given(&job->args, "zero-diagonal") && !job->how.zero_diagonal) {
        return cli_fail(job->app, CLV_EUSAGE,
                        "--keep-diagonal does not go with dominant: the similarity of an object to itself counts as 0");
    }
    return CLV_OK;
}

/* The weights of a file, one for each of n objects, in a row or a column. */
static clv_status read_weights(cli_job *job, int64_t n) {
    const char *path = job->options.dominant.start;
    CLI_TRY(cli_library(job->app, clv_read(job->app->ctx, path, NULL, &job->extra[0])));
    const clv_matrix *weights = clv_data_matrix(job->extra[0]);
    bool vector = weights->cols == 1 || weights->rows == 1;
    if (weights->start || !vector || weights->rows * weights->cols != n) {
        return cli_fail(job->app, CLV_EDATA,
                        "--start: %s is %lld x %lld, but weights to start from are one for each of the %lld objects",
                        path, (long long)weights->rows, (long long)weights->cols, (long long)n);
    }
    job->start_weights = malloc((size_t)n * sizeof *job->start_weights);
    if (!job->start_weights) {
        return cli_fail(job->app, CLV_ENOMEM, "out of memory");
    }
    for (int64_t i = 0; i < n; i++) {
        job->start_weights[i] = weights->scalar == CLV_F32 ? (double)((const float *)weights->values)[i]
                                                           : ((const double *)weights->values)[i];
    }
    job->options.dominant.start_weights = job->start_weights;
    return CLV_OK;
}

/* --start is the name of a start, or a file of weights. */
static clv_status read_start(cli_job *job, int64_t n) {
    static const char *const names[] = {"auto", "vertex", "center", "random"};
    const char *start = job->options.dominant.start;
    struct stat file;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(start, names[i]) == 0) {
            return CLV_OK;
        }
    }
    if (!strpbrk(start, "./") && stat(start, &file)) {
        return cli_fail(job->app, CLV_EUSAGE,
                        "--start '%s' is neither auto, vertex, center or random nor a file of weights", start);
    }
    return read_weights(job, n);
}

static clv_status prepare(cli_job *job) {
    int64_t n = clv_data_matrix(job->data)->rows;
    const clv_dominant_options *options = &job->options.dominant;
    if (options->k > n) {
        return cli_fail(job->app, CLV_EDATA, "k = %lld exceeds the %lld rows of %s", (long long)options->k,
                        (long long)n, job->args.operands[0]);
    }
    job->how.zero_diagonal = 1;
    job->how.least = -options->shift;
    return read_start(job, n);
}

/* A file to start from has been read: the other clusters start as by default. */
static clv_dominant_options for_library(const cli_method_options *options) {
    clv_dominant_options dominant = options->dominant;
    if (dominant.start_weights) {
        dominant.start = "auto";
    }
    return dominant;
}

static size_t memory(const clv_matrix *points, clv_home home, const cli_method_options *options) {
    clv_dominant_options dominant = for_library(options);
    return clv_dominant_memory(points->rows, home, &dominant);
}

static clv_status solve(const cli_job *job, const cli_method_options *options, clv_result **out) {
    clv_dominant_options dominant = for_library(options);
    return clv_dominant(job->app->ctx, job->affinity, &dominant, out);
}

/* With --assign nobody is left out, new objects neither. */
static clv_status predict(const cli_job *job, int32_t *labels) {
    const clv_matrix *fresh = clv_data_matrix(job->fresh);
    int64_t threads = job->options.control.threads;
    int nearest = job->options.dominant.assign;
    if (job->how.kind == CLV_AFFINITY_PRECOMPUTED) {
        return clv_dominant_predict(job->app->ctx, job->result, fresh, nearest, threads, labels);
    }
    return clv_dominant_predict_points(job->app->ctx, job->affinity, job->result, clv_data_matrix(job->data), &job->how,
                                       fresh, nearest, threads, labels);
}

const cli_method cli_dominant_method = {.command = &cli_dominant,
                                        .table = clv_dominant_table,
                                        .defaults = defaults,
                                        .check = check,
                                        .prepare = prepare,
                                        .memory = memory,
                                        .solve = solve,
                                        .predict = predict,
                                        .outputs = CLI_LABELS | CLI_MEMBERSHIP};

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    (void)command;
    return cli_job_run(app, &cli_dominant_method, argc, argv);
}

const cli_command cli_dominant = {
    .name = "dominant",
    .summary = "dominant sets by Frank-Wolfe",
    .operands = {"DATA"},
    .about = "Finds clusters one after the other, each a dominant set: weights x on the objects that make the\n"
             "mean similarity x'Ax inside as large as moving any weight can. Its objects are peeled off, and the\n"
             "next one is looked for among the rest; objects in no cluster get the label -1. The certificate is\n"
             "the Frank-Wolfe gap: 0 where no object outside is more similar to a cluster than its members are.\n"
             "--shift makes clusters larger: a group of m objects of similarity w holds while shift < w (m - 1).\n"
             "\n"
             "DATA holds one object a row: .npy, .csv, .tsv, .mtx, .svm, .mat (file.mat:variable), .png, .jpg;\n"
             "- is CSV from standard input. With --affinity precomputed, DATA is the n x n similarity itself.\n",
    .examples = "  cleave dominant points.csv -k 3 --shift 5 --assign\n"
                "  cleave dominant similarity.npy --affinity precomputed -k 5 --membership x.npy --json result.json\n"
                "  cleave dominant points.npy -k 4 --affinity distance --shift 15 --multistart 4 --sampling dpp\n"
                "  cleave dominant points.csv -k 3 --shift 5 -o labels.csv --predict new.csv --predict-output y.csv\n",
    .run = run,
};
