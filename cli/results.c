/* What a method's command writes: whether all of it can be written, asked before any work is done, and the writing. */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- targets --- */

enum { COMMON = 8, GIVEN = 4 };

/* The texts among the options of a method are files to read (--start), or names that are no file. */
static void list_given(const cli_job *job, const char *list[GIVEN]) {
    const clv_option_table *table = job->method->options;
    size_t used = 0;
    for (size_t i = 0; i < table->count && used < GIVEN; i++) {
        if (table->options[i].kind == CLV_OPTION_TEXT) {
            memcpy(&list[used++], job->options + table->options[i].offset, sizeof *list);
        }
    }
}

static const char *matrix_endings(const clv_field_info *info) {
    return info->kind == CLV_FIELD_SPARSE ? "npy|csv|tsv|mtx" : "npy|csv|tsv";
}

static bool is_standard(const char *path) {
    return path && strcmp(path, "-") == 0;
}

clv_status cli_check_output_data(const cli_app *app, const char *path, const char *from) {
    if (!path || !(is_standard(path) || cli_has_ending(path, "csv|tsv"))) {
        return cli_fail(app, CLV_EUSAGE,
                        "--output-data needs -o FILE.csv or FILE.tsv, where the columns and labels go");
    }
    return clv_is_table(from) && !is_standard(from)
               ? CLV_OK
               : cli_fail(app, CLV_EUSAGE,
                          "--output-data: %s is no .csv, .tsv or .txt file, whose columns could be copied", from);
}

static clv_status check_output_data(const cli_job *job) {
    const char *path = job->output.output, *from = job->args.operands[0];
    if (!job->output.output_data) {
        return CLV_OK;
    }
    return cli_check_output_data(job->app, path, from);
}

/* All that will be written, and all that is read: no file may be both, or written twice. */
clv_status cli_job_check_targets(const cli_job *job) {
    const cli_output_options *output = &job->output;
    enum { OTHERS = CLI_OPERANDS + 5 };
    char model[PATH_MAX] = "";
    CLI_TRY(check_output_data(job));
    if (!cli_is_first(job->app)) { /* who writes nothing, and may not be able to */
        return CLV_OK;
    }
    if (output->save_model) {
        if (!output->json || is_standard(output->json)) {
            return cli_fail(job->app, CLV_EUSAGE, "--save-model needs --json FILE: the model is kept beside it");
        }
        cli_model_path(output->json, model);
    }
    cli_target targets[COMMON + CLI_OWN_FILES + CLI_MATRIX_FILES] = {
        {"output", is_standard(output->output) ? NULL : output->output, "npy|csv|tsv|txt"},
        {"json", output->json, NULL},
        {"trace", output->trace, "csv"},
        {"report", output->report, "html|htm"},
        {"predict-output", job->prediction.output, "npy|csv|tsv|txt"},
        {"predict-membership", job->prediction.membership, "npy|csv|tsv"},
        {"save-model", *model ? model : NULL, "clv"},
        {"checkpoint", job->checkpoint.path, NULL}};
    const char *inputs[OTHERS + CLI_OWN_FILES + GIVEN + CLI_MORE] = {0};
    cli_own_file own[CLI_OWN_FILES] = {{0}};
    if (is_standard(output->output) && is_standard(output->json)) {
        return cli_fail(job->app, CLV_EUSAGE, "--output and --json cannot both be standard output: give one a file");
    }
    memcpy(inputs, job->args.operands, sizeof job->args.operands);
    inputs[CLI_OPERANDS] = job->prediction.input;
    inputs[CLI_OPERANDS + 1] = job->points.truth;
    inputs[CLI_OPERANDS + 2] = job->sample_weights;
    inputs[CLI_OPERANDS + 3] = output->terms;
    inputs[CLI_OPERANDS + 4] = cli_checkpoint_is_input(&job->checkpoint) ? job->checkpoint.resume : NULL;
    if (job->special->files) {
        job->special->files(job, own);
    }
    for (size_t i = 0; i < CLI_OWN_FILES; i++) {
        inputs[OTHERS + i] = own[i].input ? own[i].path : NULL;
        targets[COMMON + i] = (cli_target){own[i].name, own[i].input ? NULL : own[i].path, own[i].endings};
    }
    for (size_t m = 0; m < job->output_room.matrix_count; m++) {
        const clv_field_info *info = job->output_room.matrices[m];
        targets[COMMON + CLI_OWN_FILES + m] = (cli_target){info->name, output->matrices[m], matrix_endings(info)};
    }
    list_given(job, inputs + OTHERS + CLI_OWN_FILES);
    memcpy(inputs + OTHERS + CLI_OWN_FILES + GIVEN, job->args.more, sizeof job->args.more);
    return cli_targets_check(job->app, targets, CLI_COUNT(targets), inputs, CLI_COUNT(inputs));
}

/* --- labels, memberships, centers, weights --- */

/* "cluster 0", "cluster 1", ... in one block; NULL: no memory. */
static const char **name_clusters(int64_t k) {
    enum { SIZE = 32 };
    const char **names = malloc((size_t)k * (sizeof *names + SIZE) + 1);
    char *text = (char *)(names + k);
    for (int64_t c = 0; names && c < k; c++, text += SIZE) {
        snprintf(text, SIZE, "cluster %lld", (long long)c);
        names[c] = text;
    }
    return names;
}

clv_status cli_write_memberships(const cli_app *app, const char *path, const clv_matrix *matrix, const clv_data *of) {
    const char **names = name_clusters(matrix->cols);
    if (!names) {
        return cli_fail(app, CLV_ENOMEM, "out of memory");
    }
    clv_status status = clv_write_named(app->ctx, path, matrix, of, 0, names);
    free(names);
    return cli_library(app, status);
}

typedef char number_text[32];

clv_status cli_write_scores(const cli_app *app, const char *path, const clv_matrix *scores, const clv_data *of,
                            const clv_field *classes, const char *const *class_names) {
    const char **names = calloc((size_t)scores->cols + 1, sizeof *names);
    number_text *numbers = calloc((size_t)scores->cols + 1, sizeof *numbers);
    clv_status status = CLV_ENOMEM;
    if (names && numbers) {
        for (int64_t c = 0; c < scores->cols; c++) {
            int64_t class = scores->cols == 1 ? 1 : c; /* of two classes, one score is of the second one */
            bool known = classes && class < classes->count;
            snprintf(numbers[c], sizeof numbers[c], "%.15g", known ? classes->reals[class] : 0);
            names[c] = !known ? "value" : class_names ? class_names[class] : numbers[c];
        }
        status = cli_library(app, clv_write_named(app->ctx, path, scores, of, NAN, names));
    } else {
        cli_fail(app, status, "out of memory");
    }
    free(numbers);
    free(names);
    return status;
}

/* The names of the columns of the data, or NULL for those that have none, and of intercepts behind them; NULL: no
 * memory. */
static const char **name_columns(const cli_job *job, int64_t cols) {
    const char **names = malloc((size_t)cols * sizeof *names + 1);
    for (int64_t j = 0; names && j < cols; j++) {
        names[j] = j < clv_data_matrix(job->data)->cols ? clv_data_column(job->data, j) : "intercept";
    }
    return names;
}

/* Centers as they would be in DATA before it was scaled; a column that was all one value is that. NULL: no memory. */
static double *unscale(const cli_job *job, const clv_matrix *centers) {
    const double *shift, *factor;
    bool scaled = clv_data_scaling(job->data, &shift, &factor);
    double *values = malloc((size_t)(centers->rows * centers->cols) * sizeof *values + 1);
    for (int64_t at = 0; values && at < centers->rows * centers->cols; at++) {
        int64_t j = at % centers->cols;
        double value = centers->scalar == CLV_F32 ? (double)((const float *)centers->values)[at]
                                                  : ((const double *)centers->values)[at];
        values[at] = !scaled ? value : shift[j] + (factor[j] != 0 ? value / factor[j] : 0);
    }
    return values;
}

/* One row per cluster, the columns of the data. */
static clv_status write_centers(const cli_job *job, const char *path, const clv_matrix *matrix) {
    const char **names = name_columns(job, matrix->cols);
    double *values = job->output.units ? unscale(job, matrix) : NULL;
    clv_matrix shown = *matrix;
    if (!names || (job->output.units && !values)) {
        free(names);
        free(values);
        return cli_fail(job->app, CLV_ENOMEM, "out of memory");
    }
    if (values) {
        shown.values = values;
        shown.scalar = CLV_F64;
    }
    clv_status status = matrix->cols > 0 && names[0] ? clv_write_named(job->app->ctx, path, &shown, NULL, 0, names)
                                                     : clv_write_dense(job->app->ctx, path, &shown);
    free(names);
    free(values);
    return cli_library(job->app, status);
}

/* Whether a matrix of the answer, to a table, has the columns of the data, and these have names. */
static bool has_named_columns(const cli_job *job, const char *path, const clv_matrix *matrix) {
    return cli_has_ending(path, "csv|tsv") && matrix->cols >= clv_data_matrix(job->data)->cols &&
           clv_data_column(job->data, 0) && matrix->cols > 0;
}

/* Weights of columns, say. */
static clv_status write_by_column(const cli_job *job, const char *path, const clv_matrix *matrix,
                                  const clv_data *rows) {
    const char **names = name_columns(job, matrix->cols);
    clv_status status = names ? cli_library(job->app, clv_write_named(job->app->ctx, path, matrix, rows, NAN, names))
                              : cli_fail(job->app, CLV_ENOMEM, "out of memory");
    free(names);
    return status;
}

/* Where a method gives labels alone, an object belongs to its cluster wholly. */
static clv_status write_hard_membership(const cli_job *job, const char *path) {
    const clv_result *result = job->result;
    size_t n = (size_t)result->n;
    double *ones = calloc(n + 1, sizeof *ones);
    int64_t *start = calloc(n + 1, sizeof *start);
    int32_t *index = calloc(n + 1, sizeof *index);
    clv_status status = CLV_ENOMEM;
    if (ones && start && index) {
        for (size_t i = 0; i < n; i++) {
            start[i + 1] = start[i] + (result->labels[i] >= 0);
            if (result->labels[i] >= 0) {
                index[start[i]] = result->labels[i];
                ones[start[i]] = 1;
            }
        }
        const clv_matrix matrix = {
            .rows = result->n, .cols = result->k, .values = ones, .start = start, .index = index};
        status = cli_write_memberships(job->app, path, &matrix, job->data);
    } else {
        cli_fail(job->app, status, "out of memory");
    }
    free(index);
    free(start);
    free(ones);
    return status;
}

/* --- weights, as samples are in X --- */

/* With samples (x - shift) factor, w'x + b is (factor w)'x and b less the sum of factor w shift; models x (p + 1), for
 * the caller to free. NULL: no memory. */
static double *unscale_weights(const cli_job *job, const clv_matrix *weights) {
    int64_t p = weights->cols, count = 0;
    const double *shift, *factor, *intercepts = clv_result_reals(job->result, "intercepts", &count);
    bool scaled = clv_data_scaling(job->data, &shift, &factor);
    double *values = calloc((size_t)(weights->rows * (p + 1)) + 1, sizeof *values);
    for (int64_t m = 0; values && m < weights->rows; m++) {
        double *own = values + m * (p + 1);
        own[p] = intercepts && m < count ? intercepts[m] : 0;
        int64_t from = weights->start ? weights->start[m] : m * p,
                to = weights->start ? weights->start[m + 1] : from + p;
        for (int64_t e = from; e < to; e++) {
            int64_t j = weights->start ? weights->index[e] : e - from;
            own[j] = ((const double *)weights->values)[e] * (scaled ? factor[j] : 1);
            own[p] -= scaled ? own[j] * shift[j] : 0;
        }
    }
    return values;
}

/* The classes of the models as the names of the rows, where there is a model of each; else NULL. */
static clv_status name_models(const cli_job *job, const clv_matrix *weights, clv_data **out) {
    const clv_field *classes = clv_result_field(job->result, "classes"),
                    *texts = clv_result_field(job->result, "class_names");
    *out = NULL;
    if (!classes || classes->count != weights->rows) {
        return CLV_OK;
    }
    char(*numbers)[32] = malloc((size_t)classes->count * sizeof *numbers);
    const char **names = malloc((size_t)classes->count * sizeof *names);
    clv_status status = cli_library(job->app, clv_data_of(job->app->ctx, weights, NULL, out));
    if (!numbers || !names) {
        status = cli_fail(job->app, CLV_ENOMEM, "out of memory");
    } else if (status >= 0) {
        for (int64_t c = 0; c < classes->count; c++) {
            snprintf(numbers[c], sizeof numbers[c], "%.15g", classes->reals[c]);
            names[c] = texts && c < texts->count ? texts->texts[c] : numbers[c];
        }
        status = cli_library(job->app, clv_data_set_ids(*out, "class", names));
    }
    free(numbers);
    free(names);
    return status;
}

static clv_status write_weights(const cli_job *job, const char *path, const clv_matrix *matrix) {
    clv_matrix shown = *matrix;
    clv_data *rows = NULL;
    double *values = NULL;
    if (job->output.units) {
        if (matrix->cols != clv_data_matrix(job->data)->cols) {
            return cli_fail(job->app, CLV_EUSAGE, "--units data cannot be used with samples in the columns of X");
        }
        values = unscale_weights(job, matrix);
        shown = (clv_matrix){.rows = matrix->rows, .cols = matrix->cols + 1, .values = values};
    }
    clv_status status = job->output.units && !values ? cli_fail(job->app, CLV_ENOMEM, "out of memory")
                                                     : name_models(job, &shown, &rows);
    if (status >= 0) {
        status = has_named_columns(job, path, &shown)
                     ? write_by_column(job, path, &shown, rows)
                     : cli_library(job->app, clv_write_dense(job->app->ctx, path, &shown));
    }
    clv_data_free(rows);
    free(values);
    return status;
}

static clv_status write_matrix(const cli_job *job, const char *name, const char *path) {
    const clv_matrix *matrix = clv_result_matrix(job->result, name);
    if (!matrix && strcmp(name, "membership") == 0 && job->result->labels) {
        return write_hard_membership(job, path);
    }
    if (!matrix) {
        return cli_fail(job->app, CLV_EDATA, "--%s %s: this run has nothing to write there", name, path);
    }
    if (strcmp(name, "membership") == 0) {
        return cli_write_memberships(job->app, path, matrix, job->data);
    }
    if (strcmp(name, "centers") == 0) {
        return write_centers(job, path, matrix);
    }
    if (strcmp(name, "weights") == 0) {
        return write_weights(job, path, matrix);
    }
    return has_named_columns(job, path, matrix) ? write_by_column(job, path, matrix, NULL)
                                                : cli_library(job->app, clv_write_dense(job->app->ctx, path, matrix));
}

/* Beside all columns of DATA. */
static clv_status write_labeled(const cli_job *job) {
    clv_read_options reading = cli_read_options(&job->points, CLI_READ);
    const clv_result *result = job->result;
    return cli_library(job->app, clv_write_labeled(job->app->ctx, job->output.output, job->args.operands[0], &reading,
                                                   result->labels, result->n, job->data, NULL));
}

static void write_model(cli_outputs *out, const cli_job *job) {
    const cli_output_options *output = &job->output;
    if (output->output_data) {
        cli_outputs_note(out, output->output, write_labeled(job));
    } else {
        cli_outputs_labels(out, output->output, job->result->labels, job->result->n, job->data, NULL);
    }
    for (size_t m = 0; m < job->output_room.matrix_count; m++) {
        const char *path = output->matrices[m];
        if (path) {
            cli_outputs_note(out, path, write_matrix(job, job->output_room.matrices[m]->name, path));
        }
    }
}

/* --- reports --- */

bool cli_job_shows_table(const cli_job *job) {
    const cli_output_options *output = &job->output;
    return !output->quiet && !is_standard(output->json) && !is_standard(output->output);
}

/* What is computed is written whole, interrupted or not; only the prediction still asks. */
static clv_status write_outputs(const cli_job *job, const clv_report *report) {
    const cli_output_options *output = &job->output;
    cli_outputs out = {.app = job->app};
    cli_signals_watch(job->app->ctx, false);
    write_model(&out, job);
    cli_outputs_render(&out, output->trace, clv_report_trace, report);
    cli_outputs_render(&out, output->report, clv_report_html, report);
    cli_outputs_render(&out, output->json, clv_report_json, report);
    if (output->save_model && !job->rough) { /* else there is a warning */
        char path[PATH_MAX];
        cli_model_path(output->json, path);
        cli_outputs_note(&out, path,
                         cli_library(job->app, clv_write_matrix(job->app->ctx, path, clv_data_matrix(job->data))));
    }
    cli_outputs_render(&out, cli_job_shows_table(job) ? "-" : NULL, clv_report_table, report);
    cli_signals_watch(job->app->ctx, true);
    if (job->fresh && !job->rough) {
        cli_outputs_note(&out, "", cli_predict_write(job));
    }
    if (job->special->write) {
        cli_outputs_note(&out, "", job->special->write(job));
    }
    return out.first;
}

clv_status cli_job_write(cli_job *job) {
    /* Only what shapes the result is listed: not the names of files out, nor what is said on the way. */
    const clv_option_table *tables[] = {job->method->options,
                                        cli_job_points_table(job),
                                        cli_job_how_table(job),
                                        clv_control_table(),
                                        job->sample_weights ? cli_job_weights_table() : NULL,
                                        NULL};
    const void *options[] = {job->options, &job->points, &job->how, job->options, job};
    bool given = job->how.kind == CLV_AFFINITY_PRECOMPUTED || cli_takes_partitions(job); /* there are no points */
    char scale[32];
    cli_origin origin;
    cli_origin_find(&origin, &job->args);
    clv_options_print(clv_options_find(cli_points_table(true), "scale"), &job->points, scale, sizeof scale);
    clv_report report = {.result = job->result,
                         .affinity = job->affinity ? &job->info : NULL,
                         .scores = job->truth && job->result->labels ? &job->scores : NULL,
                         .scale = scale,
                         .silhouette = isnan(job->silhouette) ? NULL : &job->silhouette,
                         .load_seconds = job->load_seconds,
                         .affinity_seconds = job->affinity_seconds,
                         .total_seconds = cli_elapsed(job->app),
                         .tables = tables,
                         .options = options,
                         .points = given ? NULL : clv_data_matrix(job->data),
                         .data = job->data,
                         .terms = job->terms.terms ? &job->terms : NULL,
                         .truth = *job->truth_from ? job->truth_from : NULL,
                         .source = origin.source,
                         .command = origin.command,
                         .date = origin.date,
                         .classes = job->result->labels ? job->truth : NULL,
                         .similarities = job->affinity,
                         .partitions = cli_takes_partitions(job) ? clv_data_matrix(job->data) : NULL,
                         .widths = job->input.widths};
    cli_outcome_note(job->app, job->result, report.scores ? job->scores.ari : (double)NAN);
    clv_status status = write_outputs(job, &report);
    cli_origin_free(&origin);
    return status;
}
