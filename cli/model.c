/* cleave predict: labels of new objects by a result that was kept.
 *
 * The result says how its data were read and scaled, the names of their columns and the affinity. Methods on
 * similarities label by the objects that were clustered: --save-model keeps those beside the result, in the same name
 * with .clv, or --data names them. */
#include "job.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct model_options {
    int64_t threads; /* first: the offset of cli_threads_table */
    int64_t memory;
    const char *output, *membership, *scores, *probabilities, *data;
    int missing; /* 1: rows with missing cells are dropped, whatever the result says */
    int output_data;
    int quiet;
} model_options;

typedef struct model {
    const cli_app *app;
    cli_args args;
    model_options options;
    clv_claim *claim;
    const clv_method *method;
    cli_points_options points; /* how the data were read */
    clv_data *old, *fresh;     /* old: NULL where they are not needed */
    char old_path[PATH_MAX];   /* their file */
    clv_result *found;
} model;

#define FILE_OPTION(member_, name_, letter_, help_)                                                                    \
    CLI_FILE_OPTION(model_options, member_, name_, letter_, "FILE", help_)

static const clv_option_table *model_table(void) {
    static const clv_option options[] = {
        FILE_OPTION(output, "output", 'o',
                    "labels: .npy (int32), .csv, .txt, or - for CSV on standard output; -1: no cluster"),
        CLI_FLAG_OPTION(model_options, output_data, "output-data", 0,
                        "-o FILE.csv has all columns of NEW, a .csv, .tsv or .txt file, and the label behind them"),
        FILE_OPTION(membership, "membership", 0, "symnmf: memberships, one column per cluster: .npy or .csv"),
        FILE_OPTION(scores, "scores", 0, "ksupport: x w + b, one column per model: .npy or .csv"),
        FILE_OPTION(probabilities, "probabilities", 0,
                    "ksupport with the logistic loss: probabilities, one column per class: .npy or .csv"),
        CLI_CHOICE_OPTION(model_options, missing, "missing", "as-kept|drop",
                          "CSV: cells that are missing: as the result says, or drop their rows, which get -1"),
        FILE_OPTION(data, "data", 0, "the DATA that were clustered, where the result was kept without --save-model"),
        CLI_MEMORY_OPTION(model_options),
        CLI_FLAG_OPTION(model_options, quiet, "quiet", 'q', "no messages, only errors"),
    };
    static const clv_option_table table = {"predict", options, CLI_COUNT(options), 0};
    return &table;
}

/* --- what was kept --- */

void cli_model_path(const char *json, char path[PATH_MAX]) {
    size_t length = strlen(json), stem = length > 5 && strcmp(json + length - 5, ".json") == 0 ? length - 5 : length;
    snprintf(path, PATH_MAX, "%.*s.clv", (int)stem, json);
}

static bool is_given(const model *m) {
    const char *kind = clv_claim_option(m->claim, "affinity");
    return clv_claim_needs_points(m->claim) && kind && strcmp(kind, "precomputed") == 0;
}

/* As the data of the result were scaled: by its columns, or each row by itself. */
static clv_status scale(const model *m, const char *path, clv_data *data) {
    const char *how = clv_claim_option(m->claim, "scale");
    const double *shift, *factor;
    int64_t count = clv_claim_scaling(m->claim, &shift, &factor), cols = clv_data_matrix(data)->cols;
    if (!how || strcmp(how, "none") == 0) {
        return CLV_OK;
    }
    if (strcmp(how, "unit-rows") == 0) {
        return cli_library(m->app, clv_data_scale(data, CLV_SCALE_UNIT_ROWS));
    }
    if (count != cols) {
        return cli_fail(m->app, CLV_EDATA, "%s has %lld columns, but the result was made of %lld", cli_input_name(path),
                        (long long)cols, (long long)count);
    }
    return cli_library(m->app, clv_data_scale_as(data, shift, factor));
}

/* Whether the columns of the data were features. */
static bool has_features(const model *m) {
    return !cli_is_transposed(clv_claim_option(m->claim, "transposed"));
}

/* By the names of the columns, where they have names. */
static void read_like(const model *m, clv_read_options *reading) {
    int64_t count, filled;
    const char *const *names = clv_claim_columns(m->claim, &count);
    const double *fill = clv_claim_fill(m->claim, &filled);
    if (has_features(m)) {
        cli_read_like(reading, names, count, fill, filled);
    }
    reading->settled = true;
}

static clv_status check_columns(const model *m, const char *path, const clv_data *data) {
    int64_t count;
    const char *const *names = clv_claim_columns(m->claim, &count);
    return has_features(m) && !is_given(m) ? cli_check_columns(m->app, path, data, names, count, m->options.quiet)
                                           : CLV_OK;
}

/* The objects that were clustered: those that were kept are scaled already. */
static clv_status read_old(model *m) {
    char path[PATH_MAX];
    struct stat file;
    bool given = is_given(m);
    clv_read_options reading = cli_read_options(&m->points, given ? CLI_MAP_SYMMETRIC : CLI_READ);
    cli_model_path(m->args.operands[0], path);
    snprintf(m->old_path, sizeof m->old_path, "%s", m->options.data ? m->options.data : path);
    if (!clv_claim_needs_points(m->claim)) {
        return CLV_OK;
    }
    if (m->options.data) {
        read_like(m, &reading);
        CLI_TRY(cli_read_fresh(m->app, m->options.data, &reading, &m->old));
        CLI_TRY(check_columns(m, m->options.data, m->old));
        return given ? CLV_OK : scale(m, m->options.data, m->old);
    }
    if (stat(path, &file)) {
        return cli_fail(
            m->app, CLV_ENOINPUT,
            "%s labels new objects by those that were clustered, and there is no %s: give them with --data, or "
            "run %s again with --save-model",
            m->args.operands[0], path, clv_claim_result(m->claim)->method);
    }
    return cli_library(m->app, clv_read(m->app->ctx, path, NULL, &m->old));
}

static clv_status read_fresh(model *m) {
    clv_read_options reading = cli_read_options(&m->points, CLI_READ);
    bool given = is_given(m);
    read_like(m, &reading);
    reading.missing = m->options.missing ? CLV_MISSING_DROP : reading.missing;
    reading.targets =
        m->method->takes == CLV_TAKES_SAMPLES; /* where columns have no names, those of labels may be there */
    CLI_TRY(cli_read_fresh(m->app, m->args.operands[1], &reading, &m->fresh));
    CLI_TRY(check_columns(m, m->args.operands[1], m->fresh));
    int64_t cols = clv_data_matrix(m->fresh)->cols, wanted = m->old ? clv_data_matrix(m->old)->cols : cols;
    if (cols != wanted) {
        return cli_fail(m->app, CLV_EDATA, "%s has %lld columns, but %s has %lld", m->args.operands[1], (long long)cols,
                        m->old_path, (long long)wanted);
    }
    return given ? CLV_OK : scale(m, m->args.operands[1], m->fresh);
}

/* --- what is written --- */

static const char *const *class_names(const model *m) {
    const clv_field *names = clv_result_field(clv_claim_result(m->claim), "class_names");
    return names ? names->texts : NULL;
}

/* Labels are the places of these names. */
static clv_status check_classes(const model *m) {
    const clv_field *names = clv_result_field(clv_claim_result(m->claim), "class_names");
    const clv_field *classes = clv_result_field(clv_claim_result(m->claim), "classes");
    bool match = !names || (classes && names->count == classes->count);
    for (int64_t c = 0; names && match && c < names->count; c++) {
        match = classes->reals[c] == (double)c;
    }
    return match ? CLV_OK
                 : cli_fail(m->app, CLV_EDATA,
                            "%s: there must be one name in class_names for each of the classes 0, 1, ...",
                            m->args.operands[0]);
}

/* Of two classes there is one score, of the second one. */
static void put_probabilities(const double *scores, int64_t models, int64_t classes, double *out) {
    double sum = 0;
    for (int64_t c = 0; c < classes; c++) {
        double score = models == 1 ? (c == 1 ? scores[0] : -scores[0]) : scores[c];
        out[c] = 1 / (1 + exp(-score));
        sum += out[c];
    }
    for (int64_t c = 0; c < classes; c++) {
        out[c] /= sum;
    }
}

static clv_status write_probabilities(const model *m, const char *path) {
    const clv_field *classes = clv_result_field(clv_claim_result(m->claim), "classes");
    const clv_matrix *scores = clv_result_matrix(m->found, "scores");
    int64_t count = classes ? classes->count : 0;
    if (count < 2 || !scores || scores->start || scores->scalar != CLV_F64) {
        return cli_fail(m->app, CLV_EUSAGE,
                        "--probabilities: only results of ksupport with the logistic loss have them");
    }
    double *values = malloc((size_t)(scores->rows * count) * sizeof *values + 1);
    if (!values) {
        return cli_fail(m->app, CLV_ENOMEM, "out of memory");
    }
    for (int64_t i = 0; i < scores->rows; i++) {
        put_probabilities((const double *)scores->values + i * scores->cols, scores->cols, count, values + i * count);
    }
    const clv_matrix table = {.rows = scores->rows, .cols = count, .values = values};
    clv_status status = cli_write_scores(m->app, path, &table, m->fresh, classes, class_names(m));
    free(values);
    return status;
}

static clv_status write_matrix(const model *m, const char *name, const char *path) {
    const clv_matrix *matrix = clv_result_matrix(m->found, name);
    if (!matrix) {
        return cli_fail(m->app, CLV_EUSAGE, "--%s: a prediction of %s has none", name, m->method->name);
    }
    return strcmp(name, "membership") == 0
               ? cli_write_memberships(m->app, path, matrix, m->fresh)
               : cli_write_scores(m->app, path, matrix, m->fresh,
                                  clv_result_field(clv_claim_result(m->claim), "classes"), class_names(m));
}

/* Beside all columns of NEW. */
static clv_status write_labeled(const model *m) {
    clv_read_options reading = cli_read_options(&m->points, CLI_READ);
    int64_t count;
    const char *const *names = clv_claim_columns(m->claim, &count);
    cli_read_like(&reading, names, count, NULL, 0);
    return cli_library(m->app, clv_write_labeled(m->app->ctx, m->options.output, m->args.operands[1], &reading,
                                                 m->found->labels, m->found->n, m->fresh, class_names(m)));
}

static clv_status write_all(const model *m) {
    const model_options *o = &m->options;
    cli_outputs out = {.app = m->app};
    if (o->output && !m->found->labels) {
        cli_outputs_note(&out, o->output,
                         cli_fail(m->app, CLV_EUSAGE, "-o: this result predicts numbers, not labels: --scores"));
    } else if (o->output_data) {
        cli_outputs_note(&out, o->output, write_labeled(m));
    } else {
        cli_outputs_labels(&out, o->output, m->found->labels, m->found->n, m->fresh, class_names(m));
    }
    if (o->membership) {
        cli_outputs_note(&out, o->membership, write_matrix(m, "membership", o->membership));
    }
    if (o->scores) {
        cli_outputs_note(&out, o->scores, write_matrix(m, "scores", o->scores));
    }
    if (o->probabilities) {
        cli_outputs_note(&out, o->probabilities, write_probabilities(m, o->probabilities));
    }
    return out.first;
}

/* --- all of it --- */

static clv_status check(const model *m) {
    const model_options *o = &m->options;
    bool standard = o->output && strcmp(o->output, "-") == 0;
    const cli_target targets[] = {{"output", standard ? NULL : o->output, "npy|csv|tsv|txt"},
                                  {"membership", o->membership, "npy|csv|tsv"},
                                  {"scores", o->scores, "npy|csv|tsv"},
                                  {"probabilities", o->probabilities, "npy|csv|tsv"}};
    char kept[PATH_MAX]; /* points of the model, where it has them */
    cli_model_path(m->args.operands[0], kept);
    const char *const inputs[] = {m->args.operands[0], m->args.operands[1], o->data, kept};
    if (!o->output && !o->membership && !o->scores && !o->probabilities) {
        return cli_fail(m->app, CLV_EUSAGE,
                        "predict needs -o FILE, --membership, --scores or --probabilities: where the results go");
    }
    CLI_TRY(o->output_data ? cli_check_output_data(m->app, o->output, m->args.operands[1]) : CLV_OK);
    return cli_targets_check(m->app, targets, CLI_COUNT(targets), inputs, CLI_COUNT(inputs));
}

/* What the method does not predict is refused before anything is written. */
static clv_status check_parts(const model *m) {
    const char *asked = m->options.membership && !cli_predicts(m->method, "membership") ? "membership"
                        : m->options.scores && !cli_predicts(m->method, "scores")       ? "scores"
                        : m->options.probabilities && !clv_result_field(clv_claim_result(m->claim), "classes")
                            ? "probabilities"
                            : NULL;
    return asked ? cli_fail(m->app, CLV_EUSAGE, "--%s: a prediction of %s has none", asked, m->method->name) : CLV_OK;
}

/* New columns have names, and those of the model had none. */
static void tell_places(const model *m) {
    int64_t count, found;
    const char *const *names = clv_claim_columns(m->claim, &count), *const *own = clv_data_columns(m->fresh, &found);
    if (!names && own && found > 0 && !is_given(m)) {
        cli_tell("%s: warning: the model was made of columns without names, and these are taken by their place: '%s' "
                 "first",
                 m->args.operands[1], own[0]);
    }
}

static clv_status work(void *job) {
    model *m = job;
    clv_context *ctx = m->app->ctx;
    CLI_TRY(check(m));
    cli_reading_begin(m->app, m->options.memory);
    CLI_TRY(cli_library(m->app, clv_claim_read(ctx, m->args.operands[0], &m->claim)));
    m->method = clv_claim_method(m->claim);
    CLI_TRY(cli_library_on(m->app, m->args.operands[0], clv_claim_can_predict(ctx, m->claim)));
    CLI_TRY(check_parts(m));
    CLI_TRY(cli_take_reading(m->app, m->claim, m->args.operands[0], &m->args, &m->points));
    CLI_TRY(read_old(m));
    CLI_TRY(read_fresh(m));
    cli_reading_end(m->app);
    const clv_matrix *fresh = clv_data_matrix(m->fresh);
    clv_fresh objects = {.points = is_given(m) ? NULL : fresh, .similarities = is_given(m) ? fresh : NULL};
    CLI_TRY(check_classes(m));
    CLI_TRY(cli_library_on(m->app, m->old ? m->old_path : m->args.operands[0],
                           clv_claim_predict(ctx, m->claim, m->old ? clv_data_matrix(m->old) : NULL, &objects,
                                             m->options.memory, m->options.threads, &m->found)));
    if (!m->options.quiet) {
        if (isnan(clv_claim_result(m->claim)->objective.value)) {
            cli_tell("%s: warning: a rough result, of whose labels nothing is claimed", m->args.operands[0]);
        }
        cli_tell_note(m->args.operands[1], m->fresh);
        tell_places(m);
        cli_tell_warning(m->args.operands[1], m->fresh);
    }
    return write_all(m);
}

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    model m = {.app = app, .args = {.command = command}};
    cli_args_own(&m.args, model_table(), &m.options);
    cli_args_own(&m.args, cli_threads_table(), &m.options);
    clv_options_defaults(cli_reading_table(), &m.points);
    clv_status status = cli_perform(app, &m.args, argc, argv, work, &m);
    clv_result_free(m.found);
    clv_data_free(m.fresh);
    clv_data_free(m.old);
    clv_claim_free(m.claim);
    return cli_exit_status(status);
}

const cli_command cli_predict_command = {
    .name = "predict",
    .summary = "label new objects by a result that was kept",
    .operands = {"RESULT.json", "NEW"},
    .about = "Labels the objects of NEW by a result that --json wrote: read, scaled and compared as its data were.\n"
             "Columns are found by their names, in any order. kpalm and ksupport need nothing but the result; the\n"
             "other methods label by the objects that were clustered, which --save-model keeps beside the result.\n",
    .examples = "  cleave kpalm old.csv -k 3 --scale standard --json r.json\n"
                "  cleave predict r.json new.csv -o labels.csv\n"
                "  cleave ncut old.csv -k 3 --json r.json --save-model\n"
                "  cleave predict r.json new.csv -o labels.csv\n",
    .run = run,
};
