/* cleave verify: recompute the objective and the certificate of a result from the raw data. Exit 0 accepted, 1 not. */
#include "job.h"

#include <string.h>

typedef struct verify_options {
    int64_t threads; /* first: the offset of cli_threads_table */
    int64_t memory, device_memory;
    int home;
    int quiet;
    int bound;
    const char *truth;
} verify_options;

typedef struct verification {
    const cli_app *app;
    cli_args args;
    cli_points_options points;
    verify_options options;
    clv_claim *claim;
    clv_data *data, *second; /* second: NULL when there is one file; of partitions their widths */
    int32_t *truth;          /* NULL: not known */
    clv_verdict verdict;
} verification;

static const clv_option_table *verify_table(void) {
    static const clv_option options[] = {
        CLI_MEMORY_OPTION(verify_options),
        CLI_NUMBER_OPTION(CLV_OPTION_BYTES, verify_options, device_memory, "device-memory", 0, 0, 0, 0x1p62, "auto",
                          "BYTES", "memory budget on a graphics card (home cuda); auto: what is free there"),
        CLI_CHOICE_OPTION(verify_options, home, "home", "auto|dense-f64|dense-f32|computed|sparse|low-rank|cuda",
                          "where the affinity is rebuilt; auto: as the budget allows"),
        CLI_CHOICE_OPTION(verify_options, bound, "bound", "yes|no",
                          "whether eigenvalues, and with them the bound of ncut, are computed again"),
        CLI_FILE_OPTION(verify_options, truth, "truth", 0, "FILE",
                        "true labels, to check the metrics by: .npy or .csv; else those in DATA"),
        CLI_FLAG_OPTION(verify_options, quiet, "quiet", 'q', "no output but errors; only the exit status"),
    };
    static const clv_option_table table = {"verify", options, CLI_COUNT(options), 0};
    return &table;
}

static bool takes_samples(const verification *v) {
    const clv_method *method = clv_claim_method(v->claim);
    return method && method->takes == CLV_TAKES_SAMPLES;
}

/* The second file: targets of a method on samples, else weights of the objects. Without it, targets are a column of the
 * first. */
static clv_status read_second(verification *v, clv_input *input) {
    const char *path = v->args.operands[2];
    bool by_id, samples = takes_samples(v);
    if (v->args.operand_count < 3) {
        CLI_TRY(samples ? cli_library(v->app, clv_data_targets(v->data, NULL, &v->second)) : CLV_OK);
        input->targets = v->second ? clv_data_matrix(v->second) : NULL;
        return CLV_OK;
    }
    if (samples) {
        CLI_TRY(cli_library(v->app, clv_read_targets(v->app->ctx, path, &v->second)));
    } else {
        CLI_TRY(cli_library(v->app, clv_read(v->app->ctx, path, NULL, &v->second)));
    }
    *(samples ? &input->targets : &input->weights) = clv_data_matrix(v->second);
    return cli_is_transposed(clv_claim_option(v->claim, "transposed"))
               ? CLV_OK
               : cli_take_rows(v->app, v->data, v->second, &by_id);
}

/* Whether the columns have the names that are claimed. */
static bool names_the_same(verification *v) {
    int64_t claimed_count, count;
    const char *const *claimed = clv_claim_columns(v->claim, &claimed_count), *const *now =
                                                                                  clv_data_columns(v->data, &count);
    bool same = !claimed || cli_are_same(claimed, claimed_count, now, count);
    if (!same) {
        snprintf(v->verdict.reason, sizeof v->verdict.reason,
                 "the columns of %s do not have the names that are claimed", v->args.operands[1]);
    }
    return same;
}

/* Whether the classes are called as claimed; where y holds numbers they have no names. */
static bool calls_the_same(verification *v) {
    const clv_field *claimed = clv_result_field(clv_claim_result(v->claim), "class_names");
    int64_t count = 0;
    const char *const *now = v->second ? clv_data_classes(v->second, &count) : NULL;
    bool same =
        !takes_samples(v) || cli_are_same(claimed ? claimed->texts : NULL, claimed ? claimed->count : 0, now, count);
    if (!same) {
        snprintf(v->verdict.reason, sizeof v->verdict.reason,
                 "the classes of %s do not have the names that are claimed",
                 v->args.operands[v->args.operands[2] ? 2 : 1]);
    }
    return same;
}

/* Whether missing cells are replaced by what is claimed. */
static bool fills_the_same(verification *v) {
    int64_t count, cols = clv_data_matrix(v->data)->cols;
    const double *claimed = clv_claim_fill(v->claim, &count), *now = clv_data_fill(v->data);
    bool same = count == (now ? cols : 0);
    for (int64_t j = 0; same && j < count; j++) {
        same = claimed[j] == now[j];
    }
    if (!same) {
        snprintf(v->verdict.reason, sizeof v->verdict.reason, "missing cells of %s are not replaced by what is claimed",
                 v->args.operands[1]);
    }
    return same;
}

/* Whether the same rows are dropped. */
static bool drops_the_same(verification *v) {
    int64_t count, rows = clv_data_matrix(v->data)->rows, all = clv_data_rows_read(v->data);
    const double *claimed = clv_claim_dropped(v->claim, &count);
    bool same = !claimed || count == all - rows;
    for (int64_t row = 0, next = 0; same && claimed && row < all; row++) {
        bool kept = next < rows && clv_data_row(v->data, next) == row;
        same = kept || claimed[row - next] == (double)row;
        next += kept;
    }
    if (!same) {
        snprintf(v->verdict.reason, sizeof v->verdict.reason, "other rows of %s are dropped than is claimed",
                 v->args.operands[1]);
    }
    return same;
}

/* Whether the same columns are used as then. */
static bool reads_the_same(verification *v) {
    const char *used = clv_claim_used(v->claim), *now = clv_data_note(v->data);
    bool same = !*used || strcmp(used, now) == 0;
    if (!same) {
        snprintf(v->verdict.reason, sizeof v->verdict.reason, "the result used \"%.180s\", but %s gives \"%.180s\"",
                 used, v->args.operands[1], now);
    }
    return same && names_the_same(v) && fills_the_same(v) && drops_the_same(v);
}

/* The metrics of an accepted claim, by the true labels where these are known. */
static clv_status check_metrics(verification *v) {
    const int32_t *truth = clv_data_labels(v->data);
    if (v->options.truth) {
        int64_t n = clv_data_matrix(v->data)->rows, all = clv_data_rows_read(v->data);
        bool by_id;
        CLI_TRY(cli_read_labels_by_id(v->app, "--truth", v->options.truth, &(clv_label_request){.truth = 1}, v->data,
                                      all, NULL, &v->truth, &by_id));
        for (int64_t i = 0; i < n; i++) { /* of the rows that were kept */
            v->truth[i] = v->truth[clv_data_row(v->data, i)];
        }
        truth = v->truth;
    }
    return truth ? cli_library(v->app, clv_claim_compare(v->app->ctx, v->claim, truth, &v->verdict)) : CLV_OK;
}

/* The inputs of a consensus, in the order in which they were given. */
static clv_status judge_partitions(verification *v) {
    const char *paths[CLI_OPERANDS + CLI_MORE], *soft = clv_claim_option(v->claim, "soft");
    int64_t count = (int64_t)cli_args_files(&v->args, 1, paths);
    clv_context *ctx = v->app->ctx;
    CLI_TRY(cli_library(
        v->app, clv_read_partitions(ctx, paths, count, soft && strcmp(soft, "true") == 0, &v->data, &v->second)));
    clv_input input = {.points = clv_data_matrix(v->data), .widths = v->second ? clv_data_matrix(v->second) : NULL};
    cli_reading_end(v->app);
    return cli_library(v->app,
                       clv_claim_verify(ctx, v->claim, &input, v->options.memory, v->options.threads, &v->verdict));
}

static clv_status judge(verification *v) {
    clv_context *ctx = v->app->ctx;
    cli_reading_begin(v->app, v->options.memory);
    CLI_TRY(cli_library(v->app, clv_claim_read(ctx, v->args.operands[0], &v->claim)));
    const clv_method *method = clv_claim_method(v->claim);
    if (method && method->takes == CLV_TAKES_PARTITIONS) {
        return judge_partitions(v);
    }
    if (v->args.more_count > 0) {
        return cli_fail(v->app, CLV_EUSAGE, "'%s' is one file too many: a result of %s has at most two files of data",
                        v->args.more[0], clv_claim_result(v->claim)->method);
    }
    CLI_TRY(cli_take_reading(v->app, v->claim, v->args.operands[0], &v->args, &v->points));
    const char *kind = clv_claim_option(v->claim, "affinity");
    bool given = kind && strcmp(kind, "precomputed") == 0;
    clv_read_options reading = cli_read_options(&v->points, given ? CLI_MAP_SYMMETRIC : CLI_MAP);
    const char *truth = clv_claim_option(v->claim, "truth");
    reading.targets = takes_samples(v) && v->args.operand_count < 3;
    reading.elsewhere = takes_samples(v) && v->args.operand_count > 2 ? 2 : truth && *truth;
    CLI_TRY(cli_library(v->app, clv_read(ctx, v->args.operands[1], &reading, &v->data)));
    if (!reads_the_same(v)) {
        return CLV_OK;
    }
    clv_input input = {.points = clv_data_matrix(v->data)};
    CLI_TRY(read_second(v, &input));
    if (!calls_the_same(v)) {
        return CLV_OK;
    }
    cli_reading_end(v->app);
    const verify_options *options = &v->options;
    clv_claim_set_home(v->claim, (clv_home)options->home);
    clv_claim_set_device_memory(v->claim, options->device_memory);
    clv_claim_set_bound(v->claim, options->bound == 0);
    CLI_TRY(
        cli_library(v->app, clv_claim_verify(ctx, v->claim, &input, options->memory, options->threads, &v->verdict)));
    return takes_samples(v) ? CLV_OK : check_metrics(v);
}

/* What the library takes as it is told, less the names of classes, which are compared with those in the files here. */
static void tell_unchecked(const verification *v) {
    char rest[512], *kept = NULL;
    const char *between = "not checked: ";
    clv_claim_unchecked(v->claim, rest, sizeof rest);
    for (char *name = strtok_r(rest, ",", &kept); name; name = strtok_r(NULL, ",", &kept)) {
        name += *name == ' ';
        if (strcmp(name, "class_names") != 0) {
            printf("%s%s", between, name);
            between = ", ";
        }
    }
    printf("\n");
}

static clv_status work(void *job) {
    verification *v = job;
    CLI_TRY(judge(v));
    cli_one_line(v->verdict.reason);
    if (!v->options.quiet) {
        if (v->app->outcome) {
            snprintf(v->app->outcome->verdict, sizeof v->app->outcome->verdict, "%s: %s",
                     v->verdict.accepted ? "accepted" : "rejected", v->verdict.reason);
        }
        printf("%s%s%s: %s\n", cli_styled(v->verdict.accepted ? CLI_GREEN : CLI_RED),
               v->verdict.accepted ? "accepted" : "rejected", cli_styled(CLI_PLAIN), v->verdict.reason);
    }
    if (!v->options.quiet && v->verdict.accepted) {
        tell_unchecked(v);
    }
    return cli_flush(v->app);
}

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    verification v = {.app = app, .args = {.command = command}};
    cli_args_own(&v.args, verify_table(), &v.options);
    cli_args_own(&v.args, cli_reading_table(), &v.points);
    cli_args_own(&v.args, cli_threads_table(), &v.options);
    clv_status status = cli_perform(app, &v.args, argc, argv, work, &v);
    clv_release(app->ctx, v.truth);
    clv_data_free(v.second);
    clv_data_free(v.data);
    clv_claim_free(v.claim);
    return status < 0 ? cli_exit_status(status) : !v.args.help && !v.verdict.accepted;
}

const cli_command cli_verify = {
    .name = "verify",
    .summary = "check a result against the raw data: accept or reject it",
    .operands = {"RESULT.json", "DATA", "[...]"},
    .about = "Reads a result that --json wrote, prepares DATA as the options of that result say, and recomputes its\n"
             "objective, its certificate, its bound and every field that follows from the answer. The exit status\n"
             "is 0 when all are as claimed and the result does not contradict itself, and 1 otherwise, with the\n"
             "reason. What is taken as it is told is listed as not checked. A second file holds the targets of\n"
             "ksupport, unless they are a column of DATA, or sample weights; for a consensus, name all its inputs.\n",
    .examples = "  cleave ncut points.csv -k 3 --json result.json\n"
                "  cleave verify result.json points.csv\n",
    .run = run,
};
