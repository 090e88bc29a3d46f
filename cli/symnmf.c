/* cleave symnmf: soft clusters by simplicial symmetric NMF. */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void defaults(cli_method_options *options) {
    clv_symnmf_defaults(&options->symnmf);
}

static clv_status check(const cli_job *job) {
    if (!cli_args_given(&job->args, "k")) {
        return cli_fail(job->app, CLV_EUSAGE, "symnmf needs -k N, the number of clusters");
    }
    return CLV_OK;
}

/* --- a file to start from --- */

static double entry(const clv_matrix *m, size_t e) {
    return m->scalar == CLV_F32 ? (double)((const float *)m->values)[e] : ((const double *)m->values)[e];
}

/* Memberships as the library takes them: n x k doubles. */
static clv_status copy_membership(cli_job *job, const clv_matrix *given) {
    size_t rows = (size_t)given->rows, cols = (size_t)given->cols;
    double *out = job->start_membership = calloc(rows * cols + 1, sizeof *out);
    if (!out) {
        return cli_fail(job->app, CLV_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < rows && given->start; i++) {
        for (int64_t e = given->start[i]; e < given->start[i + 1]; e++) {
            out[i * cols + (size_t)given->index[e]] = entry(given, (size_t)e);
        }
    }
    for (size_t e = 0; e < rows * cols && !given->start; e++) {
        out[e] = entry(given, e);
    }
    job->options.symnmf.start_membership = out;
    return CLV_OK;
}

/* A matrix of k columns is memberships, and anything else is to be labels; so is one column, but for ones with k = 1.
 */
static clv_status read_start_file(cli_job *job, int64_t n) {
    clv_symnmf_options *options = &job->options.symnmf;
    const char *path = options->start;
    clv_data *given = NULL;
    clv_status status = clv_read(job->app->ctx, path, NULL, &given);
    if (status == CLV_ENOINPUT || status == CLV_EINTERRUPTED) {
        return cli_library(job->app, status);
    }
    const clv_matrix *matrix = status == CLV_OK ? clv_data_matrix(given) : NULL;
    bool ones = matrix && options->k == 1 && !matrix->start && matrix->rows > 0 && entry(matrix, 0) > 0;
    bool labels = !matrix || (matrix->cols == 1 && !ones) || clv_data_labels(given);
    if (labels) {
        status = cli_read_labels_of(job->app, "--start", path, n, &job->start_labels);
        options->start_labels = job->start_labels;
    } else if (matrix->cols != options->k) {
        status = cli_fail(job->app, CLV_EDATA,
                          "--start: %s has %lld columns; memberships in k = %lld clusters have %lld, labels have one",
                          path, (long long)matrix->cols, (long long)options->k, (long long)options->k);
    } else if (matrix->rows != n) {
        status = cli_fail(job->app, CLV_EDATA, "--start: %s has %lld rows, but there are %lld objects", path,
                          (long long)matrix->rows, (long long)n);
    } else {
        status = copy_membership(job, matrix);
    }
    clv_data_free(given);
    return status;
}

static clv_status read_start(cli_job *job, int64_t n) {
    static const char *const names[] = {"spectral", "random", "kmeans++"};
    const char *start = job->options.symnmf.start;
    struct stat file;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(start, names[i]) == 0) {
            return CLV_OK;
        }
    }
    if (!strpbrk(start, "./") && stat(start, &file)) {
        return cli_fail(job->app, CLV_EUSAGE,
                        "--start '%s' is neither spectral, random or kmeans++ nor a file of labels or memberships",
                        start);
    }
    return read_start_file(job, n);
}

static clv_status prepare(cli_job *job) {
    int64_t n = clv_data_matrix(job->data)->rows;
    if (job->options.symnmf.k > n) {
        return cli_fail(job->app, CLV_EDATA, "k = %lld exceeds the %lld rows of %s", (long long)job->options.symnmf.k,
                        (long long)n, job->args.operands[0]);
    }
    return read_start(job, n);
}

/* With a file to start from, the method's own name for that. */
static clv_symnmf_options for_library(const cli_method_options *options) {
    clv_symnmf_options symnmf = options->symnmf;
    if (symnmf.start_labels) {
        symnmf.start = "labels";
    } else if (symnmf.start_membership) {
        symnmf.start = "membership";
    }
    return symnmf;
}

static size_t memory(const clv_matrix *points, clv_home home, const cli_method_options *options) {
    clv_symnmf_options symnmf = for_library(options);
    return clv_symnmf_memory(points->rows, home, &symnmf);
}

/* --- the affinity --- */

static bool has_gamma(const clv_affinity_options *how) {
    return how->kind == CLV_AFFINITY_GAUSSIAN || how->kind == CLV_AFFINITY_EXPONENTIAL;
}

/* gamma that nobody gave: the one at which the mean similarity suits k. */
static clv_status adapt(const cli_job *job, clv_affinity_options *how) {
    if (!has_gamma(how) || !isnan(how->gamma)) {
        return CLV_OK;
    }
    double mean = clv_symnmf_mean(job->options.symnmf.k);
    return clv_affinity_calibrate(job->app->ctx, clv_data_matrix(job->data), how, mean, &how->gamma);
}

static void warn(const cli_job *job, const clv_result *result) {
    const clv_soft *soft = result->soft;
    if (job->output.quiet) {
        return;
    }
    if (strcmp(job->options.symnmf.start, "spectral") == 0 && strcmp(soft->start, "spectral") != 0) {
        fprintf(stderr, "warning: the eigenvectors for --start spectral were not found%s: the start is %s\n",
                job->options.control.time_limit > 0 ? " in half of the time limit" : "", soft->start);
    }
    if (soft->degenerate < 0) {
        fprintf(stderr,
                "warning: the mean similarity is %.3g, and memberships in %lld clusters cannot say less than %.3g: the "
                "affinity is too close to the identity to say anything; try %s\n",
                soft->mean_similarity, (long long)result->k, 1 / (double)result->k,
                has_gamma(&job->how) ? "--gamma auto or a smaller --gamma" : "--affinity gaussian, or ncut");
    } else if (soft->degenerate > 0) {
        fprintf(
            stderr,
            "warning: the similarities vary by %.3g of their squares around their mean of %.3g: the affinity is too "
            "close to all ones to say anything; try %s\n",
            soft->variation, soft->mean_similarity,
            has_gamma(&job->how) ? "--gamma auto or a larger --gamma" : "--affinity gaussian, or ncut");
    }
}

/* --- the run --- */

static clv_status solve(const cli_job *job, const cli_method_options *options, clv_result **out) {
    clv_symnmf_options symnmf = for_library(options);
    clv_status status = clv_symnmf(job->app->ctx, job->affinity, &symnmf, out);
    if (status >= 0) {
        warn(job, *out);
    }
    return status;
}

static void label_rows(const double *membership, int64_t rows, int64_t k, int32_t *labels) {
    for (int64_t i = 0; i < rows; i++) {
        labels[i] = 0;
        for (int32_t c = 1; c < k; c++) {
            labels[i] = membership[i * k + c] > membership[i * k + labels[i]] ? c : labels[i];
        }
    }
}

static clv_status predict_membership(const cli_job *job, int32_t *labels, double *membership) {
    const clv_matrix *fresh = clv_data_matrix(job->fresh), *old = clv_data_matrix(job->result->membership);
    int64_t threads = job->options.control.threads;
    clv_status status;
    if (job->how.kind == CLV_AFFINITY_PRECOMPUTED) {
        status = clv_symnmf_predict(job->app->ctx, old, fresh, threads, membership);
    } else {
        status = clv_symnmf_predict_points(job->app->ctx, job->affinity, old, clv_data_matrix(job->data), &job->how,
                                           fresh, threads, membership);
    }
    if (status >= 0) {
        label_rows(membership, fresh->rows, old->cols, labels);
    }
    return status;
}

static clv_status predict(const cli_job *job, int32_t *labels) {
    size_t entries = (size_t)clv_data_matrix(job->fresh)->rows * (size_t)job->result->k;
    double *membership = calloc(entries + 1, sizeof *membership);
    if (!membership) {
        return cli_fail(job->app, CLV_ENOMEM, "out of memory");
    }
    clv_status status = predict_membership(job, labels, membership);
    free(membership);
    return status;
}

const cli_method cli_symnmf_method = {.command = &cli_symnmf,
                                      .table = clv_symnmf_table,
                                      .defaults = defaults,
                                      .check = check,
                                      .prepare = prepare,
                                      .memory = memory,
                                      .adapt = adapt,
                                      .solve = solve,
                                      .predict = predict,
                                      .predict_membership = predict_membership,
                                      .outputs = CLI_LABELS | CLI_MEMBERSHIP};

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    (void)command;
    return cli_job_run(app, &cli_symnmf_method, argc, argv);
}

const cli_command cli_symnmf = {
    .name = "symnmf",
    .summary = "simplicial symmetric NMF (soft clusters)",
    .operands = {"DATA"},
    .about = "Gives every object probabilities of belonging to k clusters, such that the probability that two\n"
             "objects belong together is close to their similarity: 1/4 |P - W W'|^2 is made small over matrices W\n"
             "with rows on the simplex. The certificate is the Frank-Wolfe gap, 0 exactly at KKT points.\n"
             "\n"
             "DATA holds one object a row: .npy, .csv, .tsv, .mtx, .svm, .mat (file.mat:variable), .png, .jpg;\n"
             "- is CSV from standard input. With --affinity precomputed, DATA is the n x n similarity itself.\n"
             "--gamma auto makes the mean similarity 1.25 / k, which memberships in k clusters can express.\n",
    .examples = "  cleave symnmf points.csv -k 3 --scale standard\n"
                "  cleave symnmf points.npy -k 10 --scale standard --membership w.npy -o labels.npy --truth y.npy\n"
                "  cleave symnmf points.npy -k 10 --solver fw --step curvature --start random --trace fw.csv\n"
                "  cleave symnmf points.csv -k 3 --predict new.csv --predict-membership new-w.csv\n",
    .run = run,
};
