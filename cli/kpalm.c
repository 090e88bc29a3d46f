/* cleave kpalm: k-means and k-median. */
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void defaults(cli_method_options *options) {
    clv_kpalm_defaults(&options->kpalm);
}

static clv_status check(const cli_job *job) {
    if (!cli_args_given(&job->args, "k")) {
        return cli_fail(job->app, CLV_EUSAGE, "kpalm needs -k N, the number of clusters");
    }
    return CLV_OK;
}

/* --start is the name of a start, or a file of centers (in the coordinates of the scaled points). */
static clv_status read_start(cli_job *job) {
    static const char *const names[] = {"auto", "random", "kmeans++", "greedy++", "d1++"};
    clv_kpalm_options *options = &job->options.kpalm;
    const clv_matrix *points = clv_data_matrix(job->data);
    struct stat file;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(options->start, names[i]) == 0) {
            return CLV_OK;
        }
    }
    if (!strpbrk(options->start, "./") && stat(options->start, &file)) {
        return cli_fail(job->app, CLV_EUSAGE,
                        "--start '%s' is neither auto, random, kmeans++, greedy++ or d1++ nor a file of centers",
                        options->start);
    }
    CLI_TRY(cli_library(job->app, clv_read(job->app->ctx, options->start, NULL, &job->extra[0])));
    const clv_matrix *centers = clv_data_matrix(job->extra[0]);
    if (centers->rows != options->k || centers->cols != points->cols) {
        return cli_fail(job->app, CLV_EDATA,
                        "--start: %s is %lld x %lld, but %lld centers of %lld coordinates are needed", options->start,
                        (long long)centers->rows, (long long)centers->cols, (long long)options->k,
                        (long long)points->cols);
    }
    options->start_centers = centers;
    return CLV_OK;
}

/* One weight for each object, in a row or a column. */
static clv_status read_sample(cli_job *job) {
    clv_kpalm_options *options = &job->options.kpalm;
    const char *path = options->sample_source;
    int64_t n = clv_data_matrix(job->data)->rows;
    if (!path) {
        return CLV_OK;
    }
    CLI_TRY(cli_library(job->app, clv_read(job->app->ctx, path, NULL, &job->extra[1])));
    const clv_matrix *weights = clv_data_matrix(job->extra[1]);
    bool vector = weights->cols == 1 || weights->rows == 1;
    if (weights->start || !vector || weights->rows * weights->cols != n) {
        return cli_fail(job->app, CLV_EDATA,
                        "--sample-weights: %s is %lld x %lld, but there must be one for each of the %lld objects", path,
                        (long long)weights->rows, (long long)weights->cols, (long long)n);
    }
    job->start_weights = malloc((size_t)n * sizeof *job->start_weights);
    if (!job->start_weights) {
        return cli_fail(job->app, CLV_ENOMEM, "out of memory");
    }
    for (int64_t i = 0; i < n; i++) {
        job->start_weights[i] = weights->scalar == CLV_F32 ? (double)((const float *)weights->values)[i]
                                                           : ((const double *)weights->values)[i];
    }
    options->sample_weights = job->start_weights;
    return CLV_OK;
}

static clv_status prepare(cli_job *job) {
    int64_t n = clv_data_matrix(job->data)->rows;
    if (job->options.kpalm.k > n) {
        return cli_fail(job->app, CLV_EDATA, "k = %lld exceeds the %lld rows of %s", (long long)job->options.kpalm.k,
                        (long long)n, job->args.operands[0]);
    }
    CLI_TRY(read_sample(job));
    return read_start(job);
}

/* With a file to start from, the method's own name for that. */
static clv_kpalm_options for_library(const cli_method_options *options) {
    clv_kpalm_options kpalm = options->kpalm;
    if (kpalm.start_centers) {
        kpalm.start = "centers";
    }
    return kpalm;
}

static size_t memory(const clv_matrix *points, clv_home home, const cli_method_options *options) {
    clv_kpalm_options kpalm = for_library(options);
    (void)home;
    return clv_kpalm_memory(points, &kpalm);
}

static clv_status solve(const cli_job *job, const cli_method_options *options, clv_result **out) {
    clv_kpalm_options kpalm = for_library(options);
    return clv_kpalm(job->app->ctx, clv_data_matrix(job->data), &kpalm, out);
}

static clv_status predict(const cli_job *job, int32_t *labels) {
    return clv_kpalm_predict(job->app->ctx, clv_data_matrix(job->result->centers), clv_data_matrix(job->fresh),
                             job->options.control.threads, labels);
}

const cli_method cli_kpalm_method = {.command = &cli_kpalm,
                                     .table = clv_kpalm_table,
                                     .defaults = defaults,
                                     .check = check,
                                     .prepare = prepare,
                                     .memory = memory,
                                     .solve = solve,
                                     .predict = predict,
                                     .points_only = true,
                                     .maps = true,
                                     .outputs = CLI_LABELS | CLI_MEMBERSHIP | CLI_CENTERS};

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    (void)command;
    return cli_job_run(app, &cli_kpalm_method, argc, argv);
}

const cli_command cli_kpalm = {
    .name = "kpalm",
    .summary = "proximal alternating k-means / k-median",
    .operands = {"DATA"},
    .about = "Puts k centers so that the distances of the objects to their nearest one add up to little: squared\n"
             "distances (k-means) or, with --norm euclidean, distances (k-median, less moved by outliers). Objects\n"
             "belong to several clusters at first, by weights that sharpen as alpha falls; in the end to one. The\n"
             "certificate is the smallest subgradient: 0 at a critical point. --solver lloyd and weiszfeld are the\n"
             "classical iterations.\n"
             "\n"
             "DATA holds one object a row: .npy, .csv, .tsv, .mtx, .svm, .mat (file.mat:variable), .png, .jpg;\n"
             "- is CSV from standard input. A .npy file larger than --memory is mapped, not read.\n",
    .examples = "  cleave kpalm points.csv -k 3\n"
                "  cleave kpalm points.npy -k 100 --solver lloyd --start centers.npy --max-iter 20 --centers out.npy\n"
                "  cleave kpalm points.csv -k 3 --norm euclidean --restarts 10 --json result.json --report r.html\n"
                "  cleave kpalm points.csv -k 3 -o labels.csv --predict new.csv --predict-output new-labels.csv\n",
    .run = run,
};
