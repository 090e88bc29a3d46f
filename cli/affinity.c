/* cleave affinity: build an affinity and keep it. */
#include "job.h"

#include <math.h>

typedef struct keep_options {
    int64_t threads; /* first: the offset of cli_threads_table */
    double time_limit;
    const char *output, *json;
    int quiet;
} keep_options;

typedef struct keeper {
    const cli_app *app;
    cli_args args;
    cli_points_options points;
    clv_affinity_options how;
    keep_options keep;
    clv_data *data, *matrix; /* matrix: NULL where rows are made as they are written */
    clv_affinity *affinity;
    clv_affinity_info info;
    bool written;
    double load_seconds, affinity_seconds;
} keeper;

static const clv_option_table *keep_table(void) {
    static const clv_option options[] = {
        CLI_FILE_OPTION(keep_options, output, "output", 'o', "FILE",
                        "where it goes (required): .npy for a dense one, .mtx for any"),
        CLI_FILE_OPTION(keep_options, json, "json", 0, "FILE|-",
                        "what was made; - writes it to standard output instead of the table"),
        CLI_TIME_OPTION(keep_options),
        CLI_FLAG_OPTION(keep_options, quiet, "quiet", 'q', "no table, only errors"),
    };
    static const clv_option_table table = {"output", options, CLI_COUNT(options), 0};
    return &table;
}

static clv_status check(const keeper *k) {
    const keep_options *keep = &k->keep;
    const cli_target targets[] = {{"output", keep->output, "npy|mtx"}, {"json", keep->json, NULL}};
    if (!keep->output) {
        return cli_fail(k->app, CLV_EUSAGE, "affinity needs -o FILE, where the affinity goes (.npy or .mtx)");
    }
    CLI_TRY(cli_check_precomputed(k->app, &k->how, &k->points));
    return cli_targets_check(k->app, targets, CLI_COUNT(targets), k->args.operands, 1);
}

/* Find out before the work whether the format can hold what will come. */
static clv_status check_plan(const keeper *k) {
    clv_affinity_info plan;
    CLI_TRY(cli_library(k->app, clv_affinity_plan(k->app->ctx, clv_data_matrix(k->data), &k->how, &plan)));
    if (plan.sparse && !cli_has_ending(k->keep.output, "mtx")) {
        return cli_fail(k->app, CLV_ECREATE, "--output %s cannot be written: a sparse affinity needs a .mtx file",
                        k->keep.output);
    }
    return CLV_OK;
}

/* A dense affinity that lies nowhere. */
static bool by_rows(const keeper *k) {
    return !k->info.cost.resident && cli_has_ending(k->keep.output, "npy");
}

static clv_status make(keeper *k) {
    clv_context *ctx = k->app->ctx;
    clv_read_options reading =
        cli_read_options(&k->points, k->how.kind == CLV_AFFINITY_PRECOMPUTED ? CLI_MAP_SYMMETRIC : CLI_READ);
    double began = cli_seconds();
    clv_context_set_time_limit(ctx, k->keep.time_limit);
    k->how.threads = k->keep.threads;
    cli_reading_begin(k->app, k->how.memory);
    CLI_TRY(cli_library(k->app, clv_read(ctx, k->args.operands[0], &reading, &k->data)));
    CLI_TRY(cli_library(k->app, clv_data_scale(k->data, (clv_scale)k->points.scale)));
    cli_reading_end(k->app);
    k->load_seconds = cli_seconds() - began;
    CLI_TRY(check_plan(k));
    began = cli_seconds();
    CLI_TRY(cli_library_on(k->app, k->args.operands[0],
                           clv_affinity_build(ctx, clv_data_matrix(k->data), &k->how, &k->affinity)));
    clv_affinity_describe(k->affinity, &k->info);
    k->affinity_seconds = cli_seconds() - began;
    return by_rows(k) ? CLV_OK : cli_library(k->app, clv_affinity_materialize(k->affinity, &k->matrix));
}

/* --- rows that are made as they are written --- */

static clv_status make_rows(void *user, int64_t first, int64_t count, double *out) {
    return clv_affinity_rows(((keeper *)user)->affinity, first, count, out);
}

/* As many rows as the budget leaves room for, but no more than it takes to keep all threads busy: whole tiles, where
 * that many fit. */
static int64_t rows_at_once(const keeper *k) {
    enum { TILE = 64, MOST = 64 << 20 };
    size_t held, peak, budget = cli_budget(k->how.memory), row = (size_t)k->info.n * sizeof(double);
    clv_context_memory(k->app->ctx, &held, &peak);
    size_t left = budget > held ? budget - held : 0, room = left < MOST ? left : MOST;
    int64_t rows = (int64_t)(room / row);
    rows = rows < k->info.n ? rows : k->info.n;
    return rows > TILE ? rows / TILE * TILE : rows;
}

static clv_status write_rows(keeper *k) {
    int64_t rows = rows_at_once(k);
    if (rows < 1) {
        return cli_fail(k->app, CLV_ENOMEM, "one row of %lld numbers is more than --memory leaves room for",
                        (long long)k->info.n);
    }
    return cli_library(k->app, clv_write_rows(k->app->ctx, k->keep.output, k->info.n, k->info.n, rows, make_rows, k));
}

static void print_json(FILE *stream, const void *what) {
    const keeper *k = what;
    char scale[32];
    clv_options_print(clv_options_find(cli_points_table(false), "scale"), &k->points, scale, sizeof scale);
    fprintf(stream, "{\"cleave\": \"%s\", \"n\": %lld, \"scale\": \"%s\",\n \"affinity\": {\"kind\": \"%s\"",
            clv_version(), (long long)k->info.n, scale, clv_affinity_kind_name(k->info.kind));
    if (!isnan(k->info.gamma)) {
        fputs(", \"gamma\": ", stream);
        cli_json_number(stream, k->info.gamma);
    }
    if (!isnan(k->info.recall)) {
        fputs(", \"recall\": ", stream);
        cli_json_number(stream, k->info.recall);
    }
    if (k->info.landmarks > 0) {
        fprintf(stream, ", \"landmarks\": %lld, \"trace_error\": ", (long long)k->info.landmarks);
        cli_json_number(stream, k->info.trace_error);
        fputs(", \"sampled_error\": ", stream);
        cli_json_number(stream, k->info.sampled_error);
    }
    fprintf(stream,
            ", \"home\": \"%s\", \"nonzeros\": %lld, \"bytes\": %zu},\n"
            " \"seconds\": {\"total\": %.6f, \"load\": %.6f, \"affinity\": %.6f}}\n",
            k->info.home, (long long)k->info.nonzeros, k->info.bytes, cli_elapsed(k->app), k->load_seconds,
            k->affinity_seconds);
}

static void print_table(FILE *stream, const void *what) {
    const keeper *k = what;
    char bytes[32];
    cli_print_bytes((double)k->info.bytes, bytes, sizeof bytes);
    fprintf(stream, "affinity   %s\n", clv_affinity_kind_name(k->info.kind));
    if (!isnan(k->info.gamma)) {
        fprintf(stream, "gamma      %.17g\n", k->info.gamma);
    }
    if (!isnan(k->info.recall)) {
        fprintf(stream, "neighbors  approximate with recall %.4f\n", k->info.recall);
    }
    if (k->info.landmarks > 0) {
        fprintf(stream, "landmarks  %lld: error %.3g of the entries (sampled), %.3g of the trace\n",
                (long long)k->info.landmarks, k->info.sampled_error, k->info.trace_error);
    }
    fprintf(stream, "objects    %lld\nentries    %lld\nhome       %s, %s\n", (long long)k->info.n,
            (long long)k->info.nonzeros, k->info.home, bytes);
    if (k->written) {
        fprintf(stream, "written    %s\n", k->keep.output);
    }
}

static clv_status work(void *job) {
    keeper *k = job;
    cli_outputs out = {.app = k->app};
    CLI_TRY(check(k));
    CLI_TRY(make(k));
    if (k->matrix) {
        clv_context_set_time_limit(k->app->ctx, 0); /* to write what there is is worth the wait */
        cli_outputs_matrix(&out, k->keep.output, k->matrix);
    } else {
        clv_status status = write_rows(k);
        CLI_TRY(status == CLV_ECREATE ? CLV_OK : status); /* without an affinity there is nothing to tell */
        cli_outputs_note(&out, k->keep.output, status);
    }
    k->written = out.first >= 0;
    return cli_outputs_tell(&out, k->keep.json, k->keep.quiet, print_json, print_table, k);
}

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    keeper k = {.app = app, .args = {.command = command}};
    clv_affinity_defaults(&k.how);
    cli_args_own(&k.args, keep_table(), &k.keep);
    cli_args_own(&k.args, cli_points_table(false), &k.points);
    cli_args_add(&k.args, clv_affinity_table(), &k.how);
    cli_args_own(&k.args, cli_threads_table(), &k.keep);
    clv_status status = cli_perform(app, &k.args, argc, argv, work, &k);
    clv_data_free(k.matrix);
    clv_affinity_free(k.affinity);
    clv_data_free(k.data);
    return cli_exit_status(status);
}

const cli_command cli_affinity = {
    .name = "affinity",
    .summary = "build an affinity and write it to a file",
    .operands = {"DATA"},
    .about = "Builds the n x n similarity of the objects and writes it, for --affinity precomputed or for\n"
             "another program. A nearest neighbor graph (--affinity knn) is sparse and goes to a .mtx file.\n",
    .examples = "  cleave affinity points.npy -o A.npy --affinity gaussian --gamma 0.5\n"
                "  cleave affinity points.csv -o A.mtx --affinity knn --neighbors 15\n"
                "  cleave ncut A.mtx -k 3 --affinity precomputed\n",
    .run = run,
};
