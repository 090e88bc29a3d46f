/* cleave eval: all metrics of a labeling against the truth, and of the labeling on its data. */
#include "eval.h"
#include "job.h"

#include <math.h>
#include <string.h>

typedef struct eval_options {
    int64_t threads; /* first: the offset of cli_threads_table */
    const char *data, *json, *labels_column;
    int classes;
} eval_options;

typedef struct evaluation {
    const cli_app *app;
    cli_args args;
    cli_points_options points;
    clv_affinity_options how;
    eval_options options;
    int64_t n;
    int32_t *truth, *labels;
    bool by_id;             /* how the rows of both were matched */
    clv_data *rows, *found; /* what TRUTH and LABELS call their rows and the column that was taken */
    clv_data *data;
    clv_affinity *affinity;
    clv_scores scores;
    double silhouette, ncut; /* NaN: none */
} evaluation;

static double value_of(const clv_metric *m, const clv_scores *scores) {
    return *(const double *)((const char *)scores + m->offset);
}

static const clv_option_table *eval_table(void) {
    static const clv_option options[] = {
        CLI_FILE_OPTION(eval_options, data, "data", 0, "FILE",
                        "the points: silhouette and normalized cut of LABELS are added"),
        {.name = "labels-column",
         .kind = CLV_OPTION_TEXT,
         .offset = offsetof(eval_options, labels_column),
         .choices = "detect",
         .meta = "COLUMN",
         .help = "CSV: name or number from 1 of the column of LABELS; --label-column is that of TRUTH"},
        CLI_FLAG_OPTION(eval_options, classes, "classes", 0,
                        "LABELS are predicted classes: accuracy as it stands, precision, recall, confusion table"),
        CLI_FILE_OPTION(eval_options, json, "json", 0, "FILE|-",
                        "the metrics as JSON; - writes it to standard output instead of the table"),
    };
    static const clv_option_table table = {"eval", options, CLI_COUNT(options), 0};
    return &table;
}

/* The labels of the points, which may be in another order than TRUTH. */
static clv_status order_as_data(evaluation *e) {
    int64_t *rows;
    CLI_TRY(cli_library(e->app, clv_match_ids(e->app->ctx, e->data, e->rows, &rows)));
    clv_status status = cli_order_labels(e->app, rows, e->n, e->labels);
    clv_release(e->app->ctx, rows);
    return status;
}

static clv_status measure_data(evaluation *e) {
    clv_context *ctx = e->app->ctx;
    bool given = e->how.kind == CLV_AFFINITY_PRECOMPUTED;
    clv_read_options reading = cli_read_options(&e->points, given ? CLI_MAP_SYMMETRIC : CLI_READ);
    CLI_TRY(cli_check_precomputed(e->app, &e->how, &e->points));
    clv_status status = clv_read(ctx, e->options.data, &reading, &e->data);
    if (status == CLV_EUSAGE && reading.label_column) { /* which may be that of TRUTH alone */
        reading.label_column = "none";
        status = clv_read(ctx, e->options.data, &reading, &e->data);
    }
    CLI_TRY(cli_library(e->app, status));
    const clv_matrix *points = clv_data_matrix(e->data);
    if (points->rows != e->n) {
        return cli_fail(e->app, CLV_EDATA, "%s has %lld rows, but %s has %lld labels", e->options.data,
                        (long long)points->rows, e->args.operands[1], (long long)e->n);
    }
    CLI_TRY(order_as_data(e));
    CLI_TRY(cli_library(e->app, clv_data_scale(e->data, (clv_scale)e->points.scale)));
    cli_reading_end(e->app);
    points = clv_data_matrix(e->data);
    e->how.threads = e->options.threads;
    CLI_TRY(cli_library_on(e->app, e->options.data, clv_affinity_build(ctx, points, &e->how, &e->affinity)));
    CLI_TRY(cli_library(e->app, clv_ncut_value(ctx, e->affinity, e->labels, e->options.threads, &e->ncut)));
    if (given) {
        return CLV_OK;
    }
    return cli_library(e->app, clv_silhouette(ctx, points, e->labels, e->options.threads, &e->silhouette));
}

/* The column of TRUTH or LABELS that is asked for. */
static clv_status ask(const evaluation *e, size_t operand, clv_label_request *request) {
    const char *option = operand ? "labels-column" : "label-column", *path = e->args.operands[operand];
    const char *column = operand ? e->options.labels_column : e->points.label_column;
    *request = (clv_label_request){.column = strcmp(column, "detect") == 0 ? NULL : column, .truth = operand == 0};
    if (request->column && !clv_is_table(path)) {
        return cli_fail(e->app, CLV_EUSAGE, "--%s is for .csv, .tsv and .txt files, and %s is none", option, path);
    }
    return request->column && strcmp(column, "none") == 0
               ? cli_fail(e->app, CLV_EUSAGE, "--%s none: eval needs the labels of %s", option, path)
               : CLV_OK;
}

static clv_status measure(evaluation *e) {
    clv_label_request truth, labels;
    CLI_TRY(ask(e, 0, &truth));
    CLI_TRY(ask(e, 1, &labels));
    cli_reading_begin(e->app, e->how.memory);
    CLI_TRY(cli_library(e->app, clv_read_named_labels(e->app->ctx, e->args.operands[0], &truth, &e->rows, &e->truth)));
    e->n = clv_data_matrix(e->rows)->rows;
    CLI_TRY(cli_read_labels_by_id(e->app, "LABELS", e->args.operands[1], &labels, e->rows, e->n, &e->found, &e->labels,
                                  &e->by_id));
    CLI_TRY(cli_library(e->app, clv_compare(e->app->ctx, e->truth, e->labels, e->n, &e->scores)));
    CLI_TRY(e->options.data ? measure_data(e) : CLV_OK);
    cli_reading_end(e->app);
    return CLV_OK;
}

void cli_print_column(FILE *stream, const clv_data *of, const char *path) {
    const char *column = clv_data_column(of, -1);
    fprintf(stream, "%s%s%s\n", column ? column : "", column ? " of " : "", path);
}

void cli_print_columns_json(FILE *stream, const clv_data *truth, const clv_data *labels) {
    fputs(" \"truth_column\": ", stream);
    cli_json_string(stream, clv_data_column(truth, -1));
    fputs(", \"labels_column\": ", stream);
    cli_json_string(stream, clv_data_column(labels, -1));
    fputs(",\n", stream);
}

static void print_json(FILE *stream, const void *what) {
    const evaluation *e = what;
    fprintf(stream,
            "{\"cleave\": \"%s\", \"n\": %lld, \"matched\": \"%s\", \"compared\": %lld, \"classes\": %lld, "
            "\"clusters\": %lld,\n",
            clv_version(), (long long)e->scores.n, e->by_id ? "id" : "row", (long long)e->scores.compared,
            (long long)e->scores.classes, (long long)e->scores.clusters);
    cli_print_columns_json(stream, e->rows, e->found);
    size_t count;
    const clv_metric *metrics = clv_metrics(&count);
    fputs(" \"metrics\": {", stream);
    for (size_t i = 0; i < count; i++) {
        fprintf(stream, "%s\"%s\": ", i ? ", " : "", metrics[i].name);
        cli_json_number(stream, value_of(&metrics[i], &e->scores));
    }
    if (!isnan(e->silhouette)) {
        fprintf(stream, ", \"silhouette\": %.17g", e->silhouette);
    }
    if (!isnan(e->ncut)) {
        fprintf(stream, ", \"ncut\": %.17g", e->ncut);
    }
    fputs("}}\n", stream);
}

static void print_table(FILE *stream, const void *what) {
    const evaluation *e = what;
    fprintf(stream, "%-16s %10lld  of which %lld are compared, %s\n", "objects", (long long)e->scores.n,
            (long long)e->scores.compared, cli_matched(e->by_id));
    fprintf(stream, "%-16s %10lld  ", "classes", (long long)e->scores.classes);
    cli_print_column(stream, e->rows, e->args.operands[0]);
    fprintf(stream, "%-16s %10lld  ", "clusters", (long long)e->scores.clusters);
    cli_print_column(stream, e->found, e->args.operands[1]);
    size_t count;
    const clv_metric *metrics = clv_metrics(&count);
    for (size_t i = 0; i < count; i++) {
        fprintf(stream, "%-16s %10.6f  %s\n", metrics[i].name, value_of(&metrics[i], &e->scores), metrics[i].meaning);
    }
    if (!isnan(e->silhouette)) {
        fprintf(stream, "%-16s %10.6f  mean, Euclidean\n", "silhouette", e->silhouette);
    }
    if (!isnan(e->ncut)) {
        fprintf(stream, "%-16s %10.6f  normalized cut, with the factor 1/2\n", "ncut", e->ncut);
    }
}

/* Predicted classes, which nobody has to match. */
static clv_status tell_classes(const evaluation *e) {
    cli_classes classes = {.app = e->app, .paths = e->args.operands};
    cli_outputs out = {.app = e->app};
    if (e->options.data) {
        return cli_fail(e->app, CLV_EUSAGE, "--data cannot be used with --classes: it is about clusters");
    }
    CLI_TRY(ask(e, 0, &classes.requests[0]));
    CLI_TRY(ask(e, 1, &classes.requests[1]));
    clv_status status = cli_classes_read(&classes);
    if (status >= 0) {
        status = cli_outputs_tell(&out, e->options.json, 0, cli_classes_print_json, cli_classes_print_table, &classes);
    }
    cli_classes_free(&classes);
    return status;
}

/* What says how points are read needs some. */
static clv_status check_options(const evaluation *e) {
    static const char *const of_data[] = {"header", "id-column", "missing", "columns", "drop", "categories", "scale"};
    for (size_t i = 0; i < CLI_COUNT(of_data) && !e->options.data; i++) {
        if (cli_args_given(&e->args, of_data[i])) {
            return cli_fail(e->app, CLV_EUSAGE, "--%s is about the points of --data FILE, which is not given",
                            of_data[i]);
        }
    }
    return CLV_OK;
}

static clv_status work(void *job) {
    evaluation *e = job;
    const cli_target target = {"json", e->options.json, NULL};
    const char *const inputs[] = {e->args.operands[0], e->args.operands[1], e->options.data};
    cli_outputs out = {.app = e->app};
    CLI_TRY(check_options(e));
    CLI_TRY(cli_targets_check(e->app, &target, 1, inputs, CLI_COUNT(inputs)));
    if (e->options.classes) {
        return tell_classes(e);
    }
    CLI_TRY(measure(e));
    return cli_outputs_tell(&out, e->options.json, 0, print_json, print_table, e);
}

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    evaluation e = {.app = app, .args = {.command = command}, .silhouette = NAN, .ncut = NAN};
    clv_affinity_defaults(&e.how);
    cli_args_own(&e.args, eval_table(), &e.options);
    cli_args_own(&e.args, cli_points_table(false), &e.points);
    cli_args_add(&e.args, clv_affinity_table(), &e.how);
    cli_args_own(&e.args, cli_threads_table(), &e.options);
    clv_status status = cli_perform(app, &e.args, argc, argv, work, &e);
    clv_affinity_free(e.affinity);
    clv_data_free(e.data);
    clv_data_free(e.rows);
    clv_data_free(e.found);
    clv_release(app->ctx, e.truth);
    clv_release(app->ctx, e.labels);
    return cli_exit_status(status);
}

const cli_command cli_eval = {
    .name = "eval",
    .summary = "all metrics of a labeling against the truth",
    .operands = {"TRUTH", "LABELS"},
    .about = "Compares two labelings of the same objects: .npy vectors of integers, or .csv files with one\n"
             "column, or with a column of labels. Of several columns that are named like labels, LABELS gives the\n"
             "one that cleave wrote, TRUTH the other; which were taken is said. Rows are matched by their ids if\n"
             "both files have them. A label of -1 is left out. With --data, the silhouette and the normalized cut\n"
             "of LABELS are added; the options of points and affinity are then those of ncut. With --classes,\n"
             "labels are classes by their names or numbers, as ksupport predicts them.\n",
    .examples = "  cleave eval truth.npy labels.npy\n"
                "  cleave eval truth.csv labels.csv --json -\n"
                "  cleave eval test-y.csv predicted.csv --classes\n"
                "  cleave eval truth.npy labels.npy --data points.npy --affinity exponential --gamma 1\n",
    .run = run,
};
