/* What a method is given beside its points: targets, weights of the objects, a start. */
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- targets and weights --- */

/* The rows of what was read become those of `of`; how, is said with -v. */
static clv_status take_rows(const cli_job *job, const char *path, const clv_data *of, clv_data *read) {
    bool by_id;
    CLI_TRY(cli_take_rows(job->app, of, read, &by_id));
    if (job->output.verbose) {
        cli_tell("%s: %s", path, cli_matched(by_id));
    }
    return CLV_OK;
}

bool cli_is_transposed(const char *said) {
    return said && strcmp(said, "true") == 0;
}

static bool has_objects_in_rows(const cli_job *job) {
    const clv_option *option = clv_options_find(job->method->options, "transposed");
    char said[16] = "";
    if (option) {
        clv_options_print(option, job->options, said, sizeof said);
    }
    return !cli_is_transposed(said);
}

clv_status cli_read_targets(const cli_job *job, const char *path, const clv_data *of, const char *of_path,
                            const clv_data *known, clv_data **out) {
    const cli_app *app = job->app;
    bool in_rows = has_objects_in_rows(job);
    int64_t samples = in_rows ? clv_data_rows_read(of) : clv_data_matrix(of)->cols;
    if (!path) {
        return cli_library(app, clv_data_targets(of, known, out));
    }
    CLI_TRY(cli_library(app, known ? clv_read_targets_like(app->ctx, path, known, out)
                                   : clv_read_targets(app->ctx, path, out)));
    int64_t count = clv_data_matrix(*out)->rows;
    if (count != samples) {
        return cli_fail(app, CLV_EDATA, "%s has %lld targets, but %s has %lld samples", cli_input_name(path),
                        (long long)count, cli_input_name(of_path), (long long)samples);
    }
    return in_rows ? take_rows(job, path, of, *out) : CLV_OK;
}

static clv_status read_targets(cli_job *job) {
    const char *const *paths = job->args.operands;
    if (job->method->takes != CLV_TAKES_SAMPLES) {
        return CLV_OK;
    }
    CLI_TRY(cli_read_targets(job, paths[1], job->data, paths[0], NULL, &job->targets));
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
    return take_rows(job, path, job->data, *out);
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
static clv_status read_start_labels(cli_job *job, const char *path) {
    int64_t n = clv_data_matrix(job->data)->rows;
    int32_t *labels = NULL;
    bool by_id;
    clv_status status = cli_read_object_labels(job, "--start", path, false, &labels, &by_id);
    if (status < 0) {
        clv_release(job->app->ctx, labels);
        return status;
    }
    if (job->output.verbose) {
        cli_tell("%s: %s", path, cli_matched(by_id));
    }
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
    clv_status status = clv_read(job->app->ctx, path, NULL, &job->start);
    if (status == CLV_ENOINPUT || status == CLV_EINTERRUPTED) {
        return cli_library(job->app, status);
    }
    if (holds_labels(job, status)) {
        return read_start_labels(job, path);
    }
    CLI_TRY(cli_library(job->app, status));
    job->input.start = clv_data_matrix(job->start);
    return cli_has_affinity(job) ? take_rows(job, path, job->data, job->start)
                                 : CLV_OK; /* else it is no row per object */
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
