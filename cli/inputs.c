/* What a method is given beside its points: targets, weights of the objects, a start. */
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- targets and weights --- */

clv_status cli_read_targets(const cli_app *app, const char *path, const char *of, int64_t samples,
                            const clv_data *known, clv_data **out) {
    CLI_TRY(cli_library(app, known ? clv_read_targets_like(app->ctx, path, known, out)
                                   : clv_read_targets(app->ctx, path, out)));
    int64_t count = clv_data_matrix(*out)->rows;
    if (count != samples) {
        return cli_fail(app, CLV_EDATA, "%s has %lld targets, but %s has %lld samples", path, (long long)count, of,
                        (long long)samples);
    }
    return CLV_OK;
}

static clv_status read_targets(cli_job *job) {
    const clv_method *method = job->method;
    const clv_matrix *points = clv_data_matrix(job->data);
    if (method->takes != CLV_TAKES_SAMPLES) {
        return CLV_OK;
    }
    bool dropped = clv_data_rows_read(job->data) > points->rows;
    int64_t samples = dropped           ? clv_data_rows_read(job->data)
                      : method->objects ? method->objects(points, job->options)
                                        : points->rows;
    CLI_TRY(cli_read_targets(job->app, job->args.operands[1], job->args.operands[0], samples, NULL, &job->targets));
    CLI_TRY(dropped ? cli_library(job->app, clv_data_keep_rows(job->targets, job->data)) : CLV_OK);
    job->input.targets = clv_data_matrix(job->targets);
    return CLV_OK;
}

/* Whether a matrix is one number for each of n objects, in a row or a column. */
static bool is_vector(const clv_matrix *m, int64_t n) {
    return !m->start && (m->cols == 1 || m->rows == 1) && m->rows * m->cols == n;
}

clv_status cli_read_objects(const cli_job *job, const char *option, const char *path, int64_t cols, clv_data **out) {
    int64_t n = clv_data_rows_read(job->data);
    CLI_TRY(cli_library(job->app, clv_read(job->app->ctx, path, NULL, out)));
    const clv_matrix *m = clv_data_matrix(*out);
    if (cols == 1 && !is_vector(m, n)) {
        return cli_fail(job->app, CLV_EDATA,
                        "--%s: %s is %lld x %lld, but there must be one for each of the %lld objects", option, path,
                        (long long)m->rows, (long long)m->cols, (long long)n);
    }
    if (cols > 1 && (m->rows != n || m->cols != cols)) {
        return cli_fail(job->app, CLV_EDATA,
                        "--%s: %s is %lld x %lld, but there must be %lld numbers for each of the %lld objects", option,
                        path, (long long)m->rows, (long long)m->cols, (long long)cols, (long long)n);
    }
    bool dropped = n > clv_data_matrix(job->data)->rows;
    return dropped ? cli_library(job->app, clv_data_keep_rows(*out, job->data)) : CLV_OK;
}

static clv_status read_weights(cli_job *job) {
    if (!job->sample_weights) {
        return CLV_OK;
    }
    CLI_TRY(cli_read_objects(job, "sample-weights", job->sample_weights, 1, &job->weights));
    job->input.weights = clv_data_matrix(job->weights);
    return CLV_OK;
}

/* --- the start: the name of one, or a file --- */

/* Labels may be texts in a CSV file: read as such, they become a column of numbers. */
static clv_status read_start_labels(cli_job *job, const char *path, int64_t n) {
    int32_t *labels = NULL;
    CLI_TRY(cli_read_labels_of(job->app, "--start", path, n, &labels));
    job->start_labels = malloc((size_t)n * sizeof *job->start_labels);
    for (int64_t i = 0; job->start_labels && i < n; i++) {
        job->start_labels[i] = labels[i];
    }
    clv_release(job->app->ctx, labels);
    if (!job->start_labels) {
        return cli_fail(job->app, CLV_ENOMEM, "out of memory");
    }
    job->start_view = (clv_matrix){.rows = n, .cols = 1, .values = job->start_labels};
    job->input.start = &job->start_view;
    return CLV_OK;
}

/* Whether a file holds labels: they are all that the method takes, or the file has one column or none of numbers. A
 * column of ones is memberships in one cluster. */
static bool holds_labels(const cli_job *job, clv_status read) {
    if (strncmp(job->method->start_holds, "labels", 6) != 0) {
        return false;
    }
    if (read < 0 || clv_data_labels(job->start) || strcmp(job->method->start_holds, "labels") == 0) {
        return true;
    }
    const clv_matrix *m = clv_data_matrix(job->start);
    const double *values = m->values;
    bool ones = m->rows > 0 && !m->start && m->scalar == CLV_F64 && values[0] > 0;
    const clv_option *k = clv_options_find(job->method->options, "k");
    bool single = *(const int64_t *)(const void *)(job->options + k->offset) == 1;
    return m->cols == 1 && !(ones && single);
}

static clv_status read_start_file(cli_job *job, const char *path) {
    int64_t n = clv_data_matrix(job->data)->rows;
    clv_status status = clv_read(job->app->ctx, path, NULL, &job->start);
    if (status == CLV_ENOINPUT || status == CLV_EINTERRUPTED) {
        return cli_library(job->app, status);
    }
    if (holds_labels(job, status)) {
        return read_start_labels(job, path, n);
    }
    job->input.start = status < 0 ? NULL : clv_data_matrix(job->start);
    return cli_library(job->app, status);
}

static clv_status read_start(cli_job *job) {
    const clv_method *method = job->method;
    const clv_option *option = clv_options_find(method->options, "start");
    char names[128];
    struct stat file;
    if (!option || !method->start_holds) {
        return CLV_OK;
    }
    const char *start = *(const char *const *)(const void *)(job->options + option->offset);
    if (cli_is_listed(method->starts, start, strncmp)) {
        return CLV_OK;
    }
    if (!strpbrk(start, "./") && stat(start, &file)) {
        cli_print_list(method->starts, "", names, sizeof names);
        return cli_fail(job->app, CLV_EUSAGE, "--start '%s' is not allowed: it must be %s, or a file of %s", start,
                        names, method->start_holds);
    }
    return read_start_file(job, start);
}

clv_status cli_job_read_inputs(cli_job *job) {
    job->input.points = clv_data_matrix(job->data);
    CLI_TRY(read_targets(job));
    CLI_TRY(read_weights(job));
    CLI_TRY(read_start(job));
    return job->special->read ? job->special->read(job) : CLV_OK;
}
