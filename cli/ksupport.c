/* cleave ksupport: sparse linear models by the k-support norm. */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What `prepare` read: places in job->extra. */
enum { TARGETS, START, VALIDATION_X, VALIDATION_Y };

#define FILE_OPTION(member_, name_, meta_, help_)                                                                      \
    {                                                                                                                  \
        .name = (name_), .kind = CLV_OPTION_TEXT, .offset = offsetof(cli_own_options, ksupport.member_),               \
        .meta = (meta_), .help = (help_)                                                                               \
    }

static const clv_option_table *own(void) {
    static const clv_option options[] = {
        FILE_OPTION(path, "path", "K,..:L,..", "solve for every k and every lambda, and report the best of them"),
        FILE_OPTION(path_output, "path-output", "FILE", "that table: .csv; without it, on standard error"),
        FILE_OPTION(validation_x, "validation-x", "FILE", "samples to score a path on, read and scaled like X"),
        FILE_OPTION(validation_y, "validation-y", "FILE", "their targets"),
        FILE_OPTION(scores, "scores", "FILE",
                    "x w + b of the samples of --predict, or else of X; a column a model: .npy or .csv"),
    };
    static const clv_option_table table = {"ksupport files", options, sizeof options / sizeof *options};
    return &table;
}

static void defaults(cli_method_options *options) {
    clv_ksupport_defaults(&options->ksupport);
}

/* --- before anything is read --- */

/* Options that another one leaves without effect are refused. */
static clv_status check_form(const cli_job *job) {
    const cli_args *args = &job->args;
    const struct {
        const char *given, *with, *why;
    } pairs[] = {{"k", "path", "which lists its own"},
                 {"lambda", "path", "which lists its own"},
                 {"radius", "path", "whose lambda it would replace"},
                 {"lambda", "radius", "which takes its place"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (cli_args_given(args, pairs[i].given) && cli_args_given(args, pairs[i].with)) {
            return cli_fail(job->app, CLV_EUSAGE, "--%s does not go with --%s, %s", pairs[i].given, pairs[i].with,
                            pairs[i].why);
        }
    }
    if (job->own.ksupport.path_output && !job->own.ksupport.path) {
        return cli_fail(job->app, CLV_EUSAGE, "--path-output needs --path, whose table it is for");
    }
    return CLV_OK;
}

static clv_status check(const cli_job *job) {
    const clv_ksupport_options *options = &job->options.ksupport;
    if (!cli_args_given(&job->args, "k") && !job->own.ksupport.path) {
        return cli_fail(job->app, CLV_EUSAGE, "ksupport needs -k N, the k of the norm, or --path");
    }
    CLI_TRY(check_form(job));
    if ((job->own.ksupport.validation_x == NULL) != (job->own.ksupport.validation_y == NULL)) {
        return cli_fail(job->app, CLV_EUSAGE, "--validation-x and --validation-y go together");
    }
    if (job->own.ksupport.validation_x && !job->own.ksupport.path) {
        return cli_fail(job->app, CLV_EUSAGE, "--validation-x needs --path, whose models it is there to compare");
    }
    if (job->prediction.output && options->loss == CLV_KSUPPORT_SQUARES) {
        return cli_fail(job->app, CLV_EUSAGE,
                        "--predict-output holds labels, and --loss squares has none: use --predict with --scores");
    }
    if (job->prediction.input && options->transposed) {
        return cli_fail(job->app, CLV_EUSAGE, "--predict does not go with --transposed");
    }
    if (options->transposed && job->points.scale != CLV_SCALE_NONE) {
        return cli_fail(job->app, CLV_EUSAGE,
                        "--scale does not go with --transposed: it would take features for samples");
    }
    return CLV_OK;
}

static void own_files(const cli_job *job, cli_own_file list[CLI_OWN_FILES]) {
    list[0] = (cli_own_file){"path-output", job->own.ksupport.path_output, "csv", false};
    list[1] = (cli_own_file){"scores", job->own.ksupport.scores, "npy|csv", false};
    list[2] = (cli_own_file){"validation-x", job->own.ksupport.validation_x, NULL, true};
    list[3] = (cli_own_file){"validation-y", job->own.ksupport.validation_y, NULL, true};
}

static const char *predict_file(const cli_job *job) {
    return job->own.ksupport.scores;
}

/* --- reading --- */

static int64_t samples_of(const clv_matrix *x, const clv_ksupport_options *options) {
    return options->transposed ? x->cols : x->rows;
}

static int64_t features_of(const clv_matrix *x, const clv_ksupport_options *options) {
    return options->transposed ? x->rows : x->cols;
}

/* Targets of validation samples mean what those of the samples mean. */
static clv_status read_targets(cli_job *job, const char *path, const char *of, int64_t samples, int place) {
    const clv_data *known = place == TARGETS ? NULL : job->extra[TARGETS];
    clv_data **out = &job->extra[place];
    CLI_TRY(cli_library(job->app, known ? clv_read_targets_like(job->app->ctx, path, known, out)
                                        : clv_read_targets(job->app->ctx, path, out)));
    int64_t count = clv_data_matrix(job->extra[place])->rows;
    if (count != samples) {
        return cli_fail(job->app, CLV_EDATA, "%s has %lld targets, but %s has %lld samples", path, (long long)count, of,
                        (long long)samples);
    }
    return CLV_OK;
}

/* The rows of a matrix of any kind as doubles; owned by the caller. */
static double *spread_rows(const clv_matrix *from) {
    double *to = calloc((size_t)from->rows * (size_t)from->cols + 1, sizeof *to);
    for (int64_t i = 0; to && i < from->rows; i++) {
        int64_t first = from->start ? from->start[i] : i * from->cols;
        int64_t end = from->start ? from->start[i + 1] : first + from->cols;
        for (int64_t e = first; e < end; e++) {
            int64_t place = from->start ? i * from->cols + from->index[e] : e;
            bool single = from->scalar == CLV_F32;
            to[place] = single ? (double)((const float *)from->values)[e] : ((const double *)from->values)[e];
        }
    }
    return to;
}

/* --start FILE: one row of weights a model, as --weights writes them. */
static clv_status read_start(cli_job *job, int64_t features) {
    clv_ksupport_options *options = &job->options.ksupport;
    struct stat file;
    if (strcmp(options->start, "zero") == 0) {
        return CLV_OK;
    }
    if (!strpbrk(options->start, "./") && stat(options->start, &file)) {
        return cli_fail(job->app, CLV_EUSAGE, "--start '%s' is neither zero nor a file of weights", options->start);
    }
    CLI_TRY(cli_library(job->app, clv_read(job->app->ctx, options->start, NULL, &job->extra[START])));
    const clv_matrix *weights = clv_data_matrix(job->extra[START]);
    bool turned = weights->cols == 1 && weights->rows == features;
    if (weights->cols != features && !turned) {
        return cli_fail(job->app, CLV_EDATA,
                        "--start: %s is %lld x %lld, but weights to start from are rows of %lld numbers",
                        options->start, (long long)weights->rows, (long long)weights->cols, (long long)features);
    }
    job->start_weights = spread_rows(weights);
    options->start_weights = job->start_weights;
    options->start_models = turned ? 1 : weights->rows;
    return job->start_weights ? CLV_OK : cli_fail(job->app, CLV_ENOMEM, "out of memory");
}

static clv_status read_validation(cli_job *job, int64_t features) {
    const clv_ksupport_options *options = &job->options.ksupport;
    const char *path = job->own.ksupport.validation_x;
    clv_read_options reading = cli_read_options(&job->points, true);
    if (!path) {
        return CLV_OK;
    }
    CLI_TRY(cli_library(job->app, clv_read(job->app->ctx, path, &reading, &job->extra[VALIDATION_X])));
    clv_data *fresh = job->extra[VALIDATION_X];
    const clv_matrix *x = clv_data_matrix(fresh);
    if (job->points.scale == CLV_SCALE_UNIT_ROWS) {
        CLI_TRY(cli_library(job->app, clv_data_scale(fresh, CLV_SCALE_UNIT_ROWS)));
    } else if (job->points.scale != CLV_SCALE_NONE) {
        return cli_fail(job->app, CLV_EUSAGE, "--validation-x goes with --scale none and unit-rows only");
    }
    if (features_of(x, options) != features) {
        return cli_fail(job->app, CLV_EDATA, "%s has %lld features, but X has %lld", path,
                        (long long)features_of(x, options), (long long)features);
    }
    return read_targets(job, job->own.ksupport.validation_y, path, samples_of(x, options), VALIDATION_Y);
}

/* --- the path --- */

typedef struct grid {
    int64_t *k;
    double *lambda;
    int64_t k_count, lambda_count;
} grid;

static int64_t count_items(const char *text, size_t length) {
    int64_t count = 1;
    for (size_t i = 0; i < length; i++) {
        count += text[i] == ',';
    }
    return count;
}

/* One item of a list, by the rules of the option called `name`. */
static clv_status set_item(const cli_job *job, const char *name, const char *text, size_t length,
                           clv_ksupport_options *into) {
    char item[64];
    if (length == 0 || length >= sizeof item) {
        return cli_fail(job->app, CLV_EUSAGE, "--path '%s' is not K,K,...:L,L,...", job->own.ksupport.path);
    }
    memcpy(item, text, length);
    item[length] = 0;
    return cli_library(job->app, clv_options_set(job->app->ctx, clv_ksupport_table(), into, name, item));
}

static clv_status fill_grid(const cli_job *job, grid *g) {
    const char *text = job->own.ksupport.path, *colon = strchr(text, ':');
    clv_ksupport_options one = job->options.ksupport;
    const char *at = text;
    for (int64_t i = 0; i < g->k_count; i++, at++) {
        size_t length = strcspn(at, ",:");
        CLI_TRY(set_item(job, "k", at, length, &one));
        g->k[i] = one.k;
        at += length;
    }
    at = colon + 1;
    for (int64_t i = 0; i < g->lambda_count; i++, at++) {
        size_t length = strcspn(at, ",");
        CLI_TRY(set_item(job, "lambda", at, length, &one));
        g->lambda[i] = one.lambda;
        at += length;
    }
    return CLV_OK;
}

static void print_number(FILE *to, double value) {
    if (isfinite(value)) {
        fprintf(to, "%.10g", value);
    }
}

static void print_path(FILE *to, const clv_ksupport_path_row *rows, int64_t count) {
    fprintf(to, "k,lambda,objective,relative_gap,nonzeros,iterations,passes,score,seconds,stop\n");
    for (int64_t i = 0; i < count && rows[i].k > 0; i++) {
        const clv_ksupport_path_row *r = &rows[i];
        fprintf(to, "%lld,%.10g,%.12g,%.3e,%lld,%lld,%lld,", (long long)r->k, r->lambda, r->objective, r->gap,
                (long long)r->nonzeros, (long long)r->iterations, (long long)r->passes);
        print_number(to, r->score);
        fprintf(to, ",%.4f,%s\n", r->seconds, clv_stop_name(r->stop));
    }
}

static clv_status write_path(const cli_job *job, const clv_ksupport_path_row *rows, int64_t count) {
    char *text = NULL;
    size_t size = 0;
    if (!job->own.ksupport.path_output) {
        if (!job->output.quiet) {
            print_path(stderr, rows, count);
        }
        return CLV_OK;
    }
    FILE *memory = open_memstream(&text, &size);
    if (!memory) {
        return cli_fail(job->app, CLV_ENOMEM, "out of memory");
    }
    print_path(memory, rows, count);
    bool failed = fclose(memory) != 0;
    clv_status status = failed ? cli_fail(job->app, CLV_ENOMEM, "out of memory")
                               : cli_output_text(job->app, job->own.ksupport.path_output, text, size);
    free(text);
    return status;
}

/* The lambda of the row that a result is of: the best one by score, the first of equals; without scores the last. */
static double lambda_of(const clv_ksupport_path_row *rows, int64_t count) {
    int64_t best = 0;
    for (int64_t i = 0; i < count && rows[i].k > 0; i++) {
        best = isnan(rows[i].score) || rows[i].score > rows[best].score ? i : best;
    }
    return rows[best].lambda;
}

static clv_status walk(cli_job *job, const grid *g) {
    const clv_data *fresh = job->extra[VALIDATION_X];
    clv_ksupport_path_data data = {.x = clv_data_matrix(job->data),
                                   .y = clv_data_matrix(job->extra[TARGETS])->values,
                                   .k = g->k,
                                   .k_count = g->k_count,
                                   .lambda = g->lambda,
                                   .lambda_count = g->lambda_count,
                                   .validation = fresh ? clv_data_matrix(fresh) : NULL,
                                   .validation_y = fresh ? clv_data_matrix(job->extra[VALIDATION_Y])->values : NULL};
    int64_t count = g->k_count * g->lambda_count;
    clv_ksupport_path_row *rows = calloc((size_t)count, sizeof *rows);
    if (!rows) {
        return cli_fail(job->app, CLV_ENOMEM, "out of memory");
    }
    clv_ksupport_options options = job->options.ksupport;
    options.start = options.start_weights ? "weights" : "zero";
    options.control.keep_trace = job->output.trace || job->output.report;
    if (options.control.time_limit > 0) { /* it counts from the start of the program */
        options.control.time_limit = fmax(options.control.time_limit - cli_elapsed(job->app), 1e-6);
    }
    clv_result *best = NULL;
    clv_status status = cli_library(job->app, clv_ksupport_path(job->app->ctx, &data, &options, rows, &best));
    if (status >= 0) {
        job->result = best;
        job->options.ksupport.k = best->k;
        job->options.ksupport.lambda = lambda_of(rows, count);
        status = write_path(job, rows, count);
    }
    free(rows);
    return status;
}

/* A path is walked before the plan is made: whether its largest k fits the budget is asked here. */
static clv_status check_memory(const cli_job *job, const grid *g) {
    clv_ksupport_options options = job->options.ksupport;
    size_t held, peak;
    options.control.threads = 1;
    for (int64_t i = 0; i < g->k_count; i++) {
        options.k = g->k[i] > options.k ? g->k[i] : options.k;
    }
    size_t needed = clv_ksupport_memory(clv_data_matrix(job->data), &options);
    clv_context_memory(job->app->ctx, &held, &peak);
    if (job->how.memory > 0 && held + needed >= (size_t)job->how.memory) {
        return cli_fail(job->app, CLV_ENOMEM, "--memory %lld is too small: ksupport itself needs %zu bytes",
                        (long long)job->how.memory, needed);
    }
    return CLV_OK;
}

static clv_status follow_grid(cli_job *job, grid *g) {
    if (!g->k || !g->lambda) {
        return cli_fail(job->app, CLV_ENOMEM, "out of memory");
    }
    CLI_TRY(fill_grid(job, g));
    CLI_TRY(check_memory(job, g));
    return job->output.dry_run ? CLV_OK : walk(job, g);
}

static clv_status follow_path(cli_job *job) {
    const char *text = job->own.ksupport.path, *colon = text ? strchr(text, ':') : NULL;
    if (!text) {
        return CLV_OK;
    }
    if (!colon) {
        return cli_fail(job->app, CLV_EUSAGE, "--path '%s' is not K,K,...:L,L,...", text);
    }
    grid g = {.k_count = count_items(text, (size_t)(colon - text)),
              .lambda_count = count_items(colon + 1, strlen(colon + 1))};
    g.k = calloc((size_t)g.k_count, sizeof *g.k);
    g.lambda = calloc((size_t)g.lambda_count, sizeof *g.lambda);
    clv_status status = follow_grid(job, &g);
    free(g.k);
    free(g.lambda);
    return status;
}

static clv_status prepare(cli_job *job) {
    const clv_ksupport_options *options = &job->options.ksupport;
    const clv_matrix *x = clv_data_matrix(job->data);
    int64_t features = features_of(x, options);
    CLI_TRY(read_targets(job, job->args.operands[1], job->args.operands[0], samples_of(x, options), TARGETS));
    int64_t count;
    job->class_names = clv_data_classes(job->extra[TARGETS], &count);
    CLI_TRY(read_start(job, features));
    CLI_TRY(read_validation(job, features));
    CLI_TRY(follow_path(job));
    if (options->k > features) {
        return cli_fail(job->app, CLV_EDATA, "k = %lld exceeds the %lld features of %s", (long long)options->k,
                        (long long)features, job->args.operands[0]);
    }
    return CLV_OK;
}

/* --- the run --- */

/* With a file to start from, the method's own name for that. */
static clv_ksupport_options for_library(const cli_method_options *options) {
    clv_ksupport_options ksupport = options->ksupport;
    ksupport.start = ksupport.start_weights ? "weights" : "zero";
    return ksupport;
}

static size_t memory(const clv_matrix *points, clv_home home, const cli_method_options *options) {
    clv_ksupport_options ksupport = for_library(options);
    (void)home;
    return clv_ksupport_memory(points, &ksupport);
}

/* A path has found its result by now. */
static clv_status solve(const cli_job *job, const cli_method_options *options, clv_result **out) {
    clv_ksupport_options ksupport = for_library(options);
    if (*out) {
        return CLV_OK;
    }
    return clv_ksupport(job->app->ctx, clv_data_matrix(job->data), clv_data_matrix(job->extra[TARGETS])->values,
                        &ksupport, out);
}

/* --- new samples --- */

static clv_status predict_into(const cli_job *job, const clv_matrix *x, double *out, double *scores) {
    const clv_result *result = job->result;
    clv_ksupport_options options = for_library(&job->options);
    return clv_ksupport_predict(job->app->ctx, x, &options, clv_data_matrix(result->weights), result->intercepts,
                                result->classes, result->classes_count, out, scores);
}

/* Classes by their own values where these are whole numbers, else by their places in ascending order. */
static clv_status predict(const cli_job *job, int32_t *labels) {
    const clv_result *result = job->result;
    const clv_matrix *x = clv_data_matrix(job->fresh);
    double *out = calloc((size_t)x->rows + 1, sizeof *out);
    bool whole = true;
    if (!out) {
        return cli_fail(job->app, CLV_ENOMEM, "out of memory");
    }
    for (int64_t c = 0; c < result->classes_count; c++) {
        whole = whole && result->classes[c] == floor(result->classes[c]) && fabs(result->classes[c]) < 0x1p31;
    }
    clv_status status = predict_into(job, x, out, NULL);
    for (int64_t m = 0; status >= 0 && m < x->rows; m++) {
        int32_t place = 0;
        while (place + 1 < result->classes_count && result->classes[place] != out[m]) {
            place++;
        }
        labels[m] = whole ? (int32_t)out[m] : place;
    }
    free(out);
    return status;
}

/* --scores: a row a sample. */
static clv_status write_scores(const cli_job *job, const clv_matrix *x, const char *path) {
    const clv_ksupport_options *options = &job->options.ksupport;
    size_t samples = (size_t)samples_of(x, options), models = (size_t)clv_data_matrix(job->result->weights)->rows;
    double *out = calloc(samples + 1, sizeof *out), *scores = calloc(samples * models + 1, sizeof *scores);
    double *turned = calloc(samples * models + 1, sizeof *turned);
    clv_status status = CLV_ENOMEM;
    if (out && scores && turned) {
        status = cli_library(job->app, predict_into(job, x, out, scores));
        for (size_t m = 0; m < samples; m++) {
            for (size_t c = 0; c < models; c++) {
                turned[m * models + c] = scores[c * samples + m];
            }
        }
        const clv_matrix matrix = {.rows = (int64_t)samples, .cols = (int64_t)models, .values = turned};
        status = status < 0 ? status : cli_library(job->app, clv_write_matrix(job->app->ctx, path, &matrix));
    } else {
        cli_fail(job->app, status, "out of memory");
    }
    free(out);
    free(scores);
    free(turned);
    return status;
}

static clv_status finish(const cli_job *job) {
    const clv_data *x = job->fresh ? job->fresh : job->data;
    const char *path = job->own.ksupport.scores;
    return path ? write_scores(job, clv_data_matrix(x), path) : CLV_OK;
}

const cli_method cli_ksupport_method = {.command = &cli_ksupport,
                                        .table = clv_ksupport_table,
                                        .defaults = defaults,
                                        .check = check,
                                        .prepare = prepare,
                                        .memory = memory,
                                        .solve = solve,
                                        .predict = predict,
                                        .own = own,
                                        .finish = finish,
                                        .own_files = own_files,
                                        .predict_file = predict_file,
                                        .maps = true,
                                        .points_only = true,
                                        .outputs = CLI_WEIGHTS};

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    (void)command;
    return cli_job_run(app, &cli_ksupport_method, argc, argv);
}

const cli_command cli_ksupport = {
    .name = "ksupport",
    .summary = "k-support-norm sparse logistic or least-squares regression",
    .operands = {"X", "Y"},
    .about = "Fits a linear model whose weights are few: the loss, half of --ridge times the squared 2-norm, and\n"
             "--lambda times the squared k-support norm of the weights are made least together. The problem is\n"
             "convex; the certificate is the duality gap, so the result says how far from the least it is at\n"
             "most. -k is about how many weights are to be nonzero.\n"
             "\n"
             "X holds one sample a row: .npy, .csv, .tsv, .mtx, .svm, .mat (file.mat:variable); .npy of floats or\n"
             "doubles stays in its file. Y holds one target a sample: numbers, or texts in .csv; of an .svm file\n"
             "its labels. With --loss logistic any two values do, and more give one model a class against the\n"
             "rest.\n",
    .examples = "  cleave ksupport X.npy y.npy -k 100 --lambda 0.1 --weights w.npy --json result.json\n"
                "  cleave ksupport train.svm train.svm -k 50 --solver newton --tol 1e-8\n"
                "  cleave ksupport X.csv y.csv -k 10 --loss squares --intercept --predict new.csv --scores s.csv\n"
                "  cleave ksupport X.npy y.npy --path 50,100,200:1,0.3,0.1 --validation-x V.npy --validation-y v.npy\n"
                "  cleave verify result.json X.npy y.npy\n",
    .run = run,
};
