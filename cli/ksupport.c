/* cleave ksupport: samples to choose a model of a path on, the table of that path, and scores. */
#include "job.h"

#include <math.h>
#include <stdlib.h>

static const clv_option_table *table(void) {
    static const clv_option options[] = {
        CLI_FILE_OPTION(cli_own_options, path_output, "path-output", 0, "FILE", "the table of --path: .csv"),
        CLI_FILE_OPTION(cli_own_options, validation_x, "validation-x", 0, "FILE",
                        "samples to score a path on, read and scaled like X"),
        CLI_FILE_OPTION(cli_own_options, validation_y, "validation-y", 0, "FILE", "their targets"),
        CLI_FILE_OPTION(cli_own_options, scores, "scores", 0, "FILE",
                        "x w + b of the samples of --predict, or else of X; one column per model: .npy or .csv"),
    };
    static const clv_option_table table = {
        .title = "ksupport files", .options = options, .count = sizeof options / sizeof *options};
    return &table;
}

static const clv_ksupport_options *options_of(const cli_job *job) {
    return (const clv_ksupport_options *)(const void *)job->options;
}

/* --- before anything is read --- */

/* Options that another one leaves without effect are refused. */
static clv_status check_pairs(const cli_job *job) {
    const struct {
        const char *given, *with, *why;
    } pairs[] = {{"k", "path", "which lists its own"},
                 {"lambda", "path", "which lists its own"},
                 {"radius", "path", "whose lambda it would replace"},
                 {"lambda", "radius", "which takes its place"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool open = pairs[i].given[0] == 'k' && options_of(job)->k == 0; /* auto: the path's */
        if (!open && cli_args_given(&job->args, pairs[i].given) && cli_args_given(&job->args, pairs[i].with)) {
            return cli_fail(job->app, CLV_EUSAGE, "--%s cannot be used with --%s, %s", pairs[i].given, pairs[i].with,
                            pairs[i].why);
        }
    }
    return CLV_OK;
}

static clv_status check(const cli_job *job) {
    const clv_ksupport_options *options = options_of(job);
    const cli_own_options *own = &job->own;
    bool given = job->args.operands[1] != NULL; /* else targets are a column */
    bool squares = options->loss == CLV_KSUPPORT_SQUARES, scaled = job->points.scale != CLV_SCALE_NONE;
    const struct {
        bool wrong;
        const char *why;
    } rules[] = {
        {options->k == 0 && !options->path, "ksupport needs -k N (the k of the norm), or --path with a list of k"},
        {own->path_output && !options->path, "--path-output needs --path: it writes the table of the path"},
        {own->validation_y && !own->validation_x, "--validation-y needs --validation-x, the samples"},
        {own->validation_x && !own->validation_y && given,
         "--validation-x needs --validation-y, the targets, as X needs Y"},
        {own->validation_y && !given,
         "--validation-y cannot be used without Y: the targets are a column of --validation-x"},
        {options->transposed && !given, "--transposed needs Y: X has a column per sample, and none of targets"},
        {own->validation_x && !options->path, "--validation-x needs --path, whose models it is there to compare"},
        {job->prediction.output && squares,
         "--predict-output holds labels, and --loss squares has none: use --predict with --scores"},
        {job->prediction.input && options->transposed, "--predict cannot be used with --transposed"},
        {scaled && options->transposed, "--scale cannot be used with --transposed: it would take features for samples"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].wrong) {
            return cli_fail(job->app, CLV_EUSAGE, "%s", rules[i].why);
        }
    }
    return check_pairs(job);
}

static void files(const cli_job *job, cli_own_file list[CLI_OWN_FILES]) {
    list[0] = (cli_own_file){"path-output", job->own.path_output, "csv", false};
    list[1] = (cli_own_file){"scores", job->own.scores, "npy|csv|tsv", false};
    list[2] = (cli_own_file){"validation-x", job->own.validation_x, NULL, true};
    list[3] = (cli_own_file){"validation-y", job->own.validation_y, NULL, true};
}

static const char *prediction(const cli_job *job) {
    return job->own.scores;
}

/* --- validation samples --- */

static clv_status read_validation(cli_job *job) {
    const clv_matrix *given = clv_data_matrix(job->data);
    const clv_ksupport_options *options = options_of(job);
    int64_t features = options->transposed ? given->rows : given->cols;
    const char *path = job->own.validation_x;
    clv_read_options reading = cli_read_options(&job->points, CLI_MAP);
    if (options->k > features) {
        return cli_fail(job->app, CLV_EDATA, "k = %lld exceeds the %lld features of %s", (long long)options->k,
                        (long long)features, cli_input_name(job->args.operands[0]));
    }
    if (!path) {
        return CLV_OK;
    }
    if (!options->transposed) {
        cli_read_as(&reading, job->data);
    }
    if (!job->own.validation_y) {
        reading.targets = true;
        reading.label_column = reading.like ? clv_data_column(job->data, -1) : reading.label_column;
    }
    CLI_TRY(cli_library(job->app, clv_read(job->app->ctx, path, &reading, &job->validation)));
    job->input.validation = clv_data_matrix(job->validation);
    if (job->points.scale == CLV_SCALE_UNIT_ROWS) {
        CLI_TRY(cli_library(job->app, clv_data_scale(job->validation, CLV_SCALE_UNIT_ROWS)));
    } else if (job->points.scale != CLV_SCALE_NONE) {
        return cli_fail(job->app, CLV_EUSAGE, "--validation-x works only with --scale none and --scale unit-rows");
    }
    CLI_TRY(
        cli_read_targets(job, job->own.validation_y, job->validation, path, job->targets, &job->validation_targets));
    job->input.validation_targets = clv_data_matrix(job->validation_targets);
    return CLV_OK;
}

/* --- outputs --- */

static void print_path(FILE *to, const void *what) {
    static const char *const columns[] = {"k",          "lambda",      "objective", "relative_gap", "nonzeros",
                                          "iterations", "data_passes", "score",     "seconds",      "stop"};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const clv_result *result = what;
    const clv_field *fields[COLUMNS];
    char name[64];
    for (size_t c = 0; c < COLUMNS; c++) {
        snprintf(name, sizeof name, "path.%s", columns[c]);
        fields[c] = clv_result_field(result, name);
        fprintf(to, "%s%s", columns[c], c + 1 < COLUMNS ? "," : "\n");
    }
    for (int64_t i = 0; fields[0] && i < fields[0]->count; i++) {
        for (size_t c = 0; c < COLUMNS; c++) {
            const clv_field *field = fields[c];
            if (field->integers) {
                fprintf(to, "%lld", (long long)field->integers[i]);
            } else if (field->texts) {
                fprintf(to, "%s", field->texts[i]);
            } else if (isfinite(field->reals[i])) {
                fprintf(to, "%.12g", field->reals[i]);
            }
            fputc(c + 1 < COLUMNS ? ',' : '\n', to);
        }
    }
}

static clv_status write_scores(const cli_job *job) {
    clv_result *found = NULL;
    CLI_TRY(cli_predict(job, &found));
    int64_t count;
    clv_status status = cli_write_scores(job->app, job->own.scores, clv_result_matrix(found, "scores"),
                                         job->fresh ? job->fresh : job->data, clv_result_field(job->result, "classes"),
                                         clv_data_classes(job->targets, &count));
    clv_result_free(found);
    return status;
}

static clv_status write(const cli_job *job) {
    clv_status status = CLV_OK, next = CLV_OK;
    if (job->own.path_output) {
        status = cli_output_json(job->app, job->own.path_output, print_path, job->result);
    }
    if (job->own.scores && !job->unread) {
        next = write_scores(job);
    }
    return status < 0 ? status : next;
}

const cli_special cli_ksupport_special = {.method = "ksupport",
                                          .table = table,
                                          .check = check,
                                          .files = files,
                                          .read = read_validation,
                                          .write = write,
                                          .prediction = prediction,
                                          .k_optional = true};
