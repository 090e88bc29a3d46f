/* The run of a method's command: arguments -> targets checked -> data -> affinity -> method -> metrics -> outputs
 * (load.c, plan.c, results.c). Methods on points alone go without the affinity. */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- arguments --- */

/* Methods without an affinity have a memory budget all the same. */
const clv_option_table *cli_job_how_table(const cli_job *job) {
    static clv_option_table memory = {.title = "memory", .count = 1};
    memory.options = clv_options_find(clv_affinity_table(), "memory");
    return cli_has_affinity(job) ? clv_affinity_table() : &memory;
}

const clv_option_table *cli_job_points_table(const cli_job *job) {
    return cli_takes_partitions(job) ? cli_partitions_table()
                                     : cli_points_table(clv_method_gives(job->method, "labels") != NULL);
}

const clv_option_table *cli_job_weights_table(void) {
    static const clv_option options[] = {CLI_FILE_OPTION(cli_job, sample_weights, "sample-weights", 0, "FILE",
                                                         "sample weights, one per object: .npy or .csv")};
    static const clv_option_table table = {"objects", options, 1, 0};
    return &table;
}

static const cli_special *find_special(const clv_method *method) {
    static const cli_special none = {0};
    static const cli_special *const specials[] = {&cli_ksupport_special, &cli_pursuit_special, &cli_dominant_special,
                                                  &cli_kpalm_special, &cli_consensus_special};
    for (size_t i = 0; i < CLI_COUNT(specials); i++) {
        if (strcmp(specials[i]->method, method->name) == 0) {
            return specials[i];
        }
    }
    return &none;
}

static void add_tables(cli_job *job) {
    const clv_method *method = job->method;
    clv_affinity_defaults(&job->how);
    clv_method_defaults(method, job->options, method->options->size);
    cli_args_add(&job->args, method->options, job->options);
    clv_options_defaults(cli_points_table(true), &job->points); /* also where only some of them can be given */
    cli_args_own(&job->args, cli_job_points_table(job), &job->points);
    cli_args_add(&job->args, cli_job_how_table(job), &job->how);
    cli_args_add(&job->args, clv_control_table(), job->options);
    cli_args_own(&job->args, cli_output_table(&job->output_room, method), &job->output);
    cli_args_own(&job->args, cli_checkpoint_table(), &job->checkpoint);
    clv_options_defaults(cli_groups_table(), &job->grouping);
    if (method->abilities & CLV_SPREADS) {
        cli_args_own(&job->args, cli_groups_table(), &job->grouping);
    }
    if (method->abilities & CLV_WEIGHS_OBJECTS) {
        cli_args_add(&job->args, cli_job_weights_table(), job);
    }
    if (method->predict) {
        cli_args_add(&job->args, cli_predict_table(method), &job->prediction);
    }
    if (job->special->table) {
        cli_args_add(&job->args, job->special->table(), &job->own);
    }
}

/* Numbers that stand at a default out of their range must be given. */
static clv_status check_required(const cli_job *job) {
    const clv_option_table *table = job->method->options;
    for (size_t i = 0; i < table->count; i++) {
        const clv_option *option = &table->options[i];
        if (cli_is_required(option) && !cli_args_given(&job->args, option->name) && !job->special->k_optional) {
            return cli_fail(job->app, CLV_EUSAGE, "%s needs -%c %.*s (%s)", job->method->name, option->letter,
                            (int)strcspn(option->meta, "|"), option->meta, option->help);
        }
    }
    return CLV_OK;
}

/* Until a range is solved, k is the largest of it. */
static clv_status set_k(cli_job *job, int64_t k) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)k);
    return cli_library(job->app, clv_options_set(job->app->ctx, job->method->options, job->options, "k", text));
}

/* Of auto, as far as there are objects. */
static clv_status resolve_range(cli_job *job) {
    enum { LEAST = 2, MOST = 12 };
    int64_t rows = clv_data_matrix(job->data)->rows;
    if (job->args.k_least == 0) {
        return CLV_OK;
    }
    if (job->args.k_least < 0) {
        job->args.k_most = rows - 1 < MOST ? rows - 1 : MOST;
        job->args.k_least = LEAST < job->args.k_most ? LEAST : job->args.k_most;
    }
    return job->args.k_most < 1 ? cli_fail(job->app, CLV_EDATA, "-k auto needs at least 2 objects, and %s has %lld",
                                           cli_input_name(job->args.operands[0]), (long long)rows)
                                : set_k(job, job->args.k_most);
}

clv_status cli_job_open(const cli_app *app, const cli_command *command, const clv_method *method, int argc, char **argv,
                        cli_job *job) {
    *job = (cli_job){.app = app, .method = method, .special = find_special(method), .silhouette = NAN};
    job->args.command = command;
    job->args.k_optional = job->special->k_optional;
    job->args.k_ranges = method->k_meaning == CLV_K_CLUSTERS && clv_method_gives(method, "labels");
    add_tables(job);
    CLI_TRY(cli_args_parse(app, &job->args, argc, argv));
    CLI_TRY(cli_job_agree(job));
    if (job->args.help) {
        return CLV_OK;
    }
    CLI_TRY(cli_checkpoint_begin(app, &job->args, &job->checkpoint, cli_control(job)->time_limit, job->how.memory));
    CLI_TRY(cli_library_on(app, job->checkpoint.resume, clv_context_check_resume(app->ctx, method->name)));
    CLI_TRY(check_required(job));
    if (job->args.k_least != 0 && (job->checkpoint.path || cli_args_given(&job->args, "resume"))) {
        return cli_fail(app, CLV_EUSAGE, "--checkpoint and --resume are for one k, not for a range");
    }
    CLI_TRY(job->args.k_least != 0 ? set_k(job, job->args.k_most > 0 ? job->args.k_most : 2) : CLV_OK);
    CLI_TRY(job->special->check ? job->special->check(job) : CLV_OK);
    return cli_library(app, clv_method_check(app->ctx, method, job->options));
}

clv_status cli_check_precomputed(const cli_app *app, const clv_affinity_options *how,
                                 const cli_points_options *points) {
    if (how->kind == CLV_AFFINITY_PRECOMPUTED && points->scale != CLV_SCALE_NONE) {
        return cli_fail(app, CLV_EUSAGE, "--scale cannot be used with --affinity precomputed: there are no points");
    }
    return CLV_OK;
}

/* No more clusters than objects. */
static clv_status check_k(const cli_job *job) {
    const clv_option *option = clv_options_find(job->method->options, "k");
    int64_t rows = clv_data_matrix(job->data)->rows;
    int64_t k = option ? *(const int64_t *)(const void *)(job->options + option->offset) : 0;
    if (job->method->k_meaning != CLV_K_OF_NORM && k > rows) {
        bool dropped = clv_data_rows_read(job->data) > rows;
        return cli_fail(job->app, CLV_EDATA, "k = %lld exceeds the %lld rows of %s%s", (long long)k, (long long)rows,
                        cli_input_name(job->args.operands[0]), dropped ? " that have no missing cells" : "");
    }
    return CLV_OK;
}

clv_status cli_job_settle_k(cli_job *job) {
    clv_status status = resolve_range(job);
    return status < 0 ? status : check_k(job);
}

/* --- the method --- */

/* Fewer threads when the method's work arrays for all of them would not fit the budget. */
static int64_t threads_within_budget(const cli_job *job) {
    int64_t threads = cli_control_of(job)->threads;
    size_t held, peak;
    if (job->how.memory == 0) {
        return threads;
    }
    clv_context_memory(job->app->ctx, &held, &peak);
    threads = threads > 0 ? threads : sysconf(_SC_NPROCESSORS_ONLN);
    while (threads > 1 && held + cli_job_memory(job, threads) > (size_t)job->how.memory) {
        threads--;
    }
    return threads;
}

/* At once, unless who reads this reads them in the table as well. */
static void tell_warnings(const cli_job *job) {
    const clv_field *warnings = clv_result_field(job->result, "warnings");
    bool twice = cli_job_shows_table(job) && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
    for (int64_t i = 0; warnings && !job->output.quiet && !twice && i < warnings->count; i++) {
        cli_tell("warning: %s", warnings->texts[i]);
    }
}

/* Texts that the classes of the targets stand for. */
static clv_status name_classes(cli_job *job) {
    int64_t count = 0;
    const char *const *names = job->targets ? clv_data_classes(job->targets, &count) : NULL;
    clv_field field = {.name = "class_names", .kind = CLV_FIELD_TEXT, .is_list = 1, .count = count, .texts = names};
    bool wanted = names && clv_result_field(job->result, "classes");
    return wanted ? cli_library(job->app, clv_result_put(job->result, &field)) : CLV_OK;
}

/* Of a sentence about a value of the points: from its row on; NULL for any other. */
static const char *place_in_points(const char *message) {
    static const char *const names[] = {"the points:", "the points", "X"};
    for (size_t i = 0; i < CLI_COUNT(names); i++) {
        size_t length = strlen(names[i]);
        if (strncmp(message, names[i], length) == 0 && strncmp(message + length, " row ", 5) == 0) {
            return message + length;
        }
    }
    return NULL;
}

/* What the method says of a value of the points, which in a mapped file nobody has looked at before, or of weights or a
 * start that were read from a file, is about that file; and anything, where there is but one file. */
static clv_status tell_failure(const cli_job *job, clv_status status) {
    const clv_option *option = clv_options_find(job->method->options, "start");
    const char *message = clv_message(job->app->ctx);
    const char *place = status == CLV_EDATA ? place_in_points(message) : NULL;
    if (place) {
        return cli_fail(job->app, status, "%s%s", cli_input_name(job->args.operands[0]), place);
    }
    if (status == CLV_EDATA && job->sample_weights && strstr(message, "sample weight")) {
        return cli_library_on(job->app, job->sample_weights, status);
    }
    if (status == CLV_EDATA && job->input.start && strstr(message, "start")) {
        return cli_library_on(job->app, *(const char *const *)(const void *)(job->options + option->offset), status);
    }
    bool alone = !cli_takes_partitions(job) && !job->args.operands[1] && !job->sample_weights && !job->input.start &&
                 !job->object_alpha && !job->start_membership && !job->validation && !job->checkpoint.resume;
    return alone ? cli_library_on(job->app, job->args.operands[0], status) : cli_library(job->app, status);
}

/* All k of the range; the options then have the one that was taken. */
static clv_status solve_range(cli_job *job) {
    clv_affinity_options how;
    clv_input input = job->input;
    CLI_TRY(cli_remaining_budget(job, &how));
    input.points = clv_data_matrix(job->data);
    clv_status status =
        clv_solve_range(job->app->ctx, job->method, &input, job->options, job->args.k_least, job->args.k_most,
                        cli_has_affinity(job) ? &how : NULL, &job->affinity, &job->result);
    if (job->affinity) {
        clv_affinity_describe(job->affinity, &job->info);
        job->input.affinity = job->affinity;
        if (job->output.verbose) {
            cli_tell_affinity(job);
        }
    }
    job->rough = cli_has_affinity(job) && job->result && !job->affinity;
    return status < 0 || !job->result ? status : set_k(job, job->result->k);
}

/* Of a range that there is no time for, the smallest k. */
static clv_status warn_of_range(cli_job *job) {
    char sentence[256];
    snprintf(sentence, sizeof sentence,
             "there was no time to compare k from %lld to %lld: k = %lld is the smallest of the range, and was not "
             "chosen; try a longer --time-limit",
             (long long)job->args.k_least, (long long)job->args.k_most, (long long)job->args.k_least);
    bool had_range = job->args.k_least > 0 && job->args.k_least < job->args.k_most;
    return had_range ? cli_library(job->app, clv_result_add_warning(job->result, sentence)) : CLV_OK;
}

static clv_status solve(cli_job *job) {
    if (job->args.k_least > 0 && !job->rough) {
        return solve_range(job);
    }
    CLI_TRY(job->args.k_least > 0 ? set_k(job, job->args.k_least) : CLV_OK);
    bool given = job->how.kind == CLV_AFFINITY_PRECOMPUTED;
    const clv_matrix *data = clv_data_matrix(job->data);
    clv_affinity_info plan = {.n = data->rows};
    clv_input rough = {.points = given ? NULL : data, .start = job->input.start, .plan = &plan};
    if (!job->rough) {
        return clv_solve(job->app->ctx, job->method, &job->input, job->options, &job->result);
    }
    clv_status status = clv_solve_roughly(job->app->ctx, job->method, &rough, job->options, &job->result);
    return status < 0 ? status : warn_of_range(job);
}

#define NO_AFFINITY ", as there is no affinity that new objects could be labeled by"

/* What there cannot be without an affinity. */
static clv_status warn_of_rough(cli_job *job) {
    const char *const lacks[] = {job->output.save_model ? "no model is kept" NO_AFFINITY : NULL,
                                 job->fresh ? "there are no predictions" NO_AFFINITY : NULL};
    for (size_t i = 0; job->rough && i < CLI_COUNT(lacks); i++) {
        CLI_TRY(lacks[i] ? cli_library(job->app, clv_result_add_warning(job->result, lacks[i])) : CLV_OK);
    }
    return CLV_OK;
}

static clv_status warn_of_unread(cli_job *job) {
    char sentence[PATH_MAX + 200];
    snprintf(sentence, sizeof sentence,
             "there was no time to read the new objects of %s, so that there are no predictions: cleave predict makes "
             "them from a result of --json FILE",
             job->prediction.input);
    return job->unread ? cli_library(job->app, clv_result_add_warning(job->result, sentence)) : CLV_OK;
}

static clv_status run_method(cli_job *job) {
    clv_control asked = *cli_control(job), *control = cli_control(job);
    cli_progress_begin(&job->progress, job->app, job->shows, job->output.progress, control);
    cli_progress_phase(&job->progress, "start");
    control->threads = threads_within_budget(job);
    control->keep_trace = job->traces;
    clv_status status = solve(job);
    cli_progress_end(&job->progress);
    *control = asked;
    CLI_TRY(tell_failure(job, status));
    cli_checkpoint_end(&job->checkpoint, job->result, job->output.quiet);
    CLI_TRY(warn_of_rough(job));
    CLI_TRY(warn_of_unread(job));
    tell_warnings(job);
    if (job->suggestion[0]) {
        CLI_TRY(cli_library(job->app, clv_result_add_warning(job->result, job->suggestion)));
    }
    CLI_TRY(cli_takes_partitions(job) ? cli_partitions_name(job) : CLV_OK);
    return name_classes(job);
}

/* Whether a measure was cut short: the clustering itself is there, and worth more than its measures. */
static bool is_cut_short(const cli_job *job, clv_status status, const char *what) {
    bool cut = status == CLV_EINTERRUPTED || status == CLV_ETIME;
    if (cut && !job->output.quiet) {
        cli_tell("warning: there was no time for %s of %lld objects", what, (long long)job->result->n);
    }
    return cut;
}

/* Agreement with the truth. */
static clv_status compare(cli_job *job) {
    clv_status status = clv_compare(job->app->ctx, job->truth, job->result->labels, job->result->n, &job->scores);
    if (is_cut_short(job, status, "the metrics")) {
        job->truth = NULL;
        return CLV_OK;
    }
    return cli_library(job->app, status);
}

/* Of several processes the first one does it, by its own clock, as only it writes. */
static clv_status find_silhouette(cli_job *job) {
    clv_context *ctx = job->app->ctx;
    cli_progress_phase(&job->progress, "silhouette");
    clv_context_work_alone(ctx, 1);
    clv_status status = clv_silhouette(ctx, clv_data_matrix(job->data), job->result->labels,
                                       cli_control_of(job)->threads, &job->silhouette);
    clv_context_work_alone(ctx, 0);
    cli_progress_end(&job->progress);
    if (is_cut_short(job, status, "the silhouette, a pass over all pairs")) {
        job->silhouette = NAN;
        return CLV_OK;
    }
    return cli_library(job->app, status);
}

static clv_status measure(cli_job *job) {
    const cli_app *app = job->app;
    const clv_result *result = job->result;
    if (!result->labels) {
        return CLV_OK;
    }
    CLI_TRY(job->truth ? compare(job) : CLV_OK);
    return job->output.silhouette && cli_is_first(app) ? find_silhouette(job) : CLV_OK;
}

/* Processes that share the work predict together, before the first of them writes. */
static clv_status predict_together(cli_job *job) {
    bool wanted = job->prediction.output || job->prediction.membership;
    if (!wanted || job->rough || !cli_job_is_shared(job)) {
        return CLV_OK;
    }
    clv_status status = cli_predict(job, &job->predicted);
    return status == CLV_EINTERRUPTED || status == CLV_ETIME ? CLV_OK : status;
}

clv_status cli_job_solve(cli_job *job) {
    CLI_TRY(cli_job_affinity(job));
    CLI_TRY(run_method(job));
    clv_status status = cli_terms_find(job);
    status = status < 0 ? status : measure(job);
    status = status < 0 ? status : predict_together(job);
    clv_context_set_time_limit(job->app->ctx, 0); /* to write what there is is worth the wait */
    return status;
}

void cli_job_close(cli_job *job) {
    clv_context *ctx = job->app->ctx;
    cli_progress_end(&job->progress);
    clv_data *const read[] = {job->data,
                              job->fresh,
                              job->targets,
                              job->start,
                              job->weights,
                              job->validation,
                              job->validation_targets,
                              job->object_alpha,
                              job->start_membership,
                              job->widths};
    clv_result_free(job->result);
    clv_result_free(job->predicted);
    clv_affinity_free(job->affinity);
    clv_release(ctx, job->truth_read);
    free(job->start_labels);
    cli_terms_free(job);
    for (size_t i = 0; i < CLI_COUNT(read); i++) {
        clv_data_free(read[i]);
    }
}

/* --- all of it --- */

static const char *cli_about_data(clv_takes takes) {
    return takes == CLV_TAKES_PARTITIONS
               ? "Each input is a result that --json wrote, or a file of labels (.csv, .tsv, .txt, integer .npy; -1: "
                 "left\nout) or of memberships (.npy, n x k). Rows are matched by ids where files have them, else they "
                 "are in\nthe same order.\n"
           : takes == CLV_TAKES_SAMPLES
               ? "X holds one sample per row: .npy, .csv, .tsv, .txt, .mtx, .svm, .mat "
                 "(file.mat:variable); a .npy larger than\n"
                 "--memory stays in its file. Y holds one target per sample: numbers, or texts "
                 "in .csv; of an .svm file\n"
                 "its labels. Without Y the targets are a column of X, by its name or "
                 "--label-column.\n"
           : takes == CLV_TAKES_AFFINITY
               ? "DATA holds one object per row: .npy, .csv, .tsv, .mtx, .svm, .mat (file.mat:variable), .png, .jpg;\n"
                 "- is CSV from standard input. With --affinity precomputed, DATA is the n x n similarity itself.\n"
               : "DATA holds one object per row: .npy, .csv, .tsv, .mtx, .svm, .mat (file.mat:variable), .png, .jpg;\n"
                 "- is CSV from standard input.\n";
}

static clv_status run(cli_job *job) {
    CLI_TRY(cli_groups_begin(job));
    CLI_TRY(cli_job_load(job));
    if (job->output.dry_run) {
        CLI_TRY(cli_job_plan(job));
        return cli_job_forecast(job);
    }
    CLI_TRY(cli_job_solve(job));
    CLI_TRY(cli_job_write(job));
    return cli_end(false, job->output.quiet);
}

/* By several processes: each does all of it but for its share of the work; the first one writes. */
static clv_status run_together(cli_job *job) {
    clv_context_work_alone(job->app->ctx, 1); /* by its own clock, until all have read */
    clv_status status = cli_job_load(job);
    clv_context_work_alone(job->app->ctx, 0);
    CLI_TRY(cli_meet(job->app, status));
    CLI_TRY(cli_meet(job->app, cli_job_compare(job)));
    CLI_TRY(cli_groups_begin(job));
    if (job->output.dry_run) {
        CLI_TRY(cli_groups_end(job, cli_job_plan(job)));
        return cli_is_first(job->app) ? cli_job_forecast(job) : CLV_OK;
    }
    CLI_TRY(cli_groups_end(job, cli_job_solve(job)));
    /* Nothing is written before all have ended well, or by a signal to any of them. */
    clv_status end = clv_context_meet(job->app->ctx, cli_interrupted() ? CLV_EINTERRUPTED : CLV_OK, NULL);
    CLI_TRY(end == CLV_EINTERRUPTED ? CLV_OK : cli_library(job->app, end));
    clv_context_work_alone(job->app->ctx, 1);
    clv_ranks_info info = clv_context_ranks(job->app->ctx);
    if (job->output.verbose) {
        cli_tell("processes: %lld, %lld meetings, %lld bytes received by the first, which waited %.3f s and received "
                 "for %.3f s",
                 (long long)info.ranks, (long long)info.meetings, (long long)info.bytes, info.waited, info.received);
    }
    status = info.rank == 0 ? cli_job_write(job) : CLV_OK;
    clv_context_work_alone(job->app->ctx, 0);
    return status < 0 ? status : cli_end(end == CLV_EINTERRUPTED, job->output.quiet);
}

/* By the first of several alone. */
static clv_status run_alone(cli_job *job) {
    if (!cli_is_first(job->app)) {
        return CLV_OK;
    }
    if (cli_ranks(job->app) > 1) {
        cli_job_tell_alone(job);
    }
    clv_context_work_alone(job->app->ctx, 1);
    clv_status status = run(job);
    clv_context_work_alone(job->app->ctx, 0);
    return status;
}

int cli_job_run(const cli_app *app, const cli_command *command, const clv_method *method, int argc, char **argv) {
    cli_job job;
    clv_status status = cli_job_open(app, command, method, argc, argv, &job);
    if (status >= 0) {
        status = job.args.help             ? cli_help_command(app, &job.args)
                 : cli_job_is_shared(&job) ? run_together(&job)
                                           : run_alone(&job);
    }
    status = cli_meet(app, status);
    cli_job_close(&job);
    return cli_exit_status(status);
}

static int run_command(cli_app *app, const cli_command *command, int argc, char **argv) {
    return cli_job_run(app, command, clv_method_find(command->name), argc, argv);
}

cli_command cli_method_command(const clv_method *method) {
    bool samples = method->takes == CLV_TAKES_SAMPLES, several = method->takes == CLV_TAKES_PARTITIONS;
    return (cli_command){.name = method->name,
                         .summary = method->summary,
                         .operands = {several   ? "R1.json"
                                      : samples ? "X"
                                                : "DATA",
                                      several   ? "R2.json"
                                      : samples ? "[Y]"
                                                : NULL,
                                      several ? "[...]" : NULL},
                         .about = method->about,
                         .about_data = cli_about_data(method->takes),
                         .examples = method->examples,
                         .run = run_command};
}
