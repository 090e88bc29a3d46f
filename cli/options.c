/* Option tables that several commands share. */
#include "cli.h"

#include <string.h>

enum { POINTS_OPTIONS = 9 };

static const clv_option points_options[POINTS_OPTIONS] = {
    CLI_CHOICE_OPTION(cli_points_options, scale, "scale", CLV_SCALE_NAMES, "how the points are scaled first"),
    CLI_CHOICE_OPTION(cli_points_options, header, "header", "detect|yes|no",
                      "CSV: whether the first line names the columns"),
    {.name = "label-column",
     .kind = CLV_OPTION_TEXT,
     .offset = offsetof(cli_points_options, label_column),
     .choices = "detect",
     .meta = "COLUMN",
     .help = "CSV: name or number from 1 of the column of true labels, or none"},
    CLI_FILE_OPTION(cli_points_options, columns, "columns", 0, "LIST",
                    "CSV: the columns to use: names, numbers and ranges, as age,height,5-9"),
    CLI_FILE_OPTION(cli_points_options, drop, "drop", 0, "LIST", "CSV: the columns to leave out, likewise"),
    CLI_FILE_OPTION(cli_points_options, id_column, "id-column", 0, "COLUMN",
                    "CSV: the column that says which row is which, or none; without it, found by name and content"),
    CLI_CHOICE_OPTION(
        cli_points_options, missing, "missing", "error|drop|mean|median",
        "CSV: what to do with cells that are empty, NA, NaN, null or ?: refuse them, drop their rows (which "
        "get -1 in the labels written), or put the mean or median of the column"),
    CLI_CHOICE_OPTION(
        cli_points_options, categories, "categories", "error|onehot|drop",
        "CSV: what to do with columns of text: refuse them, one column of 0 and 1 per class, or drop them"),
    CLI_FILE_OPTION(cli_points_options, truth, "truth", 0, "FILE",
                    "true labels (.npy, .csv): metrics of agreement are added; without it, the label column of DATA"),
};

const clv_option_table *cli_points_table(bool with_truth) {
    static const clv_option_table all = {"points", points_options, POINTS_OPTIONS, 0};
    static const clv_option_table without = {"points", points_options, POINTS_OPTIONS - 1, 0};
    return with_truth ? &all : &without;
}

const clv_option_table *cli_reading_table(void) {
    static const clv_option_table table = {"points", points_options + 1, POINTS_OPTIONS - 2, 0};
    return &table;
}

const clv_option_table *cli_partitions_table(void) {
    static const clv_option options[] = {
        CLI_FLAG_OPTION(cli_points_options, soft, "soft", 0,
                        "take the memberships of results that have them, instead of their labels"),
        CLI_FILE_OPTION(cli_points_options, truth, "truth", 0, "FILE", "true labels, to add metrics: .npy or .csv"),
    };
    static const clv_option_table table = {"inputs", options, CLI_COUNT(options), 0};
    return &table;
}

clv_read_options cli_read_options(const cli_points_options *points, int map) {
    clv_read_options options = {.header = (clv_header)points->header,
                                .map = map,
                                .columns = points->columns,
                                .drop = points->drop,
                                .id_column = points->id_column,
                                .missing = (clv_missing)points->missing,
                                .categories = (clv_categories)points->categories};
    options.label_column = strcmp(points->label_column, "detect") == 0 ? NULL : points->label_column;
    return options;
}

clv_status cli_take_reading(const cli_app *app, const clv_claim *claim, const char *path, const cli_args *args,
                            cli_points_options *points) {
    const clv_option_table *table = cli_reading_table();
    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->options[i].name, *claimed = clv_claim_option(claim, name);
        if (!claimed || !*claimed || cli_args_given(args, name)) {
            continue;
        }
        if (clv_options_set(app->ctx, table, points, name, claimed) < 0) {
            return cli_fail(app, CLV_EDATA, "%s: %s", path, clv_message(app->ctx));
        }
    }
    return CLV_OK;
}

void cli_read_like(clv_read_options *reading, const char *const *names, int64_t count, const double *fill,
                   int64_t fill_count) {
    reading->fill = fill;
    reading->fill_count = fill ? fill_count : 0;
    if (names) {
        reading->like = names;
        reading->like_count = count;
        reading->columns = reading->drop = NULL;
        reading->label_column = "none";
    }
}

void cli_read_as(clv_read_options *reading, const clv_data *data) {
    int64_t count;
    const char *const *names = clv_data_columns(data, &count);
    cli_read_like(reading, names, count, clv_data_fill(data), clv_data_matrix(data)->cols);
}

bool cli_are_same(const char *const *a, int64_t a_count, const char *const *b, int64_t b_count) {
    bool same = a_count == b_count;
    for (int64_t i = 0; same && i < a_count; i++) {
        same = strcmp(a[i], b[i]) == 0;
    }
    return same;
}

clv_status cli_check_columns(const cli_app *app, const char *path, const clv_data *data, const char *const *names,
                             int64_t count, bool quiet) {
    int64_t found, cols = clv_data_matrix(data)->cols, at = 0;
    const char *const *own = clv_data_columns(data, &found);
    if (!names || count < 1 || cli_are_same(names, count, own, found)) {
        return CLV_OK;
    }
    if (cols != count) {
        return cli_fail(app, CLV_EDATA, "%s has %lld columns without names, but the model was made of %lld, '%s' first",
                        path, (long long)cols, (long long)count, names[0]);
    }
    while (at < count && !strchr(names[at], '=')) {
        at++;
    }
    if (at < count) {
        return cli_fail(app, CLV_EDATA,
                        "%s has no names of columns, and the model has '%s', which is found by its name alone: give it "
                        "a header",
                        path, names[at]);
    }
    if (!quiet) {
        cli_tell("%s: warning: its columns have no names and are taken by their place: '%s' first", path, names[0]);
    }
    return CLV_OK;
}

/* An option for every matrix of the answer: --centers FILE. */
static void add_matrices(cli_output_room *room, const clv_method *method) {
    for (size_t f = 0; f < method->gives_count && room->matrix_count < CLI_MATRIX_FILES; f++) {
        const clv_field_info *info = &method->gives[f];
        bool sparse = info->kind == CLV_FIELD_SPARSE;
        if (!sparse && info->kind != CLV_FIELD_MATRIX) {
            continue;
        }
        size_t at = room->matrix_count++;
        room->matrices[at] = info;
        snprintf(room->helps[at], sizeof room->helps[at], "%s (%s): .npy%s", info->help, info->shape,
                 sparse ? ", .csv or .mtx" : " or .csv");
        clv_option *option = &room->options[room->table.count++];
        *option = (clv_option)CLI_FILE_OPTION(cli_output_options, matrices, info->name, 0, "FILE", room->helps[at]);
        option->offset += at * sizeof(const char *);
    }
}

const clv_option_table *cli_output_table(cli_output_room *room, const clv_method *method) {
    static const clv_option of_labels[] = {
        CLI_FILE_OPTION(cli_output_options, output, "output", 'o', "FILE",
                        "labels: .npy (int32), .csv (beside the id or number of the row), .txt, or - for CSV on "
                        "standard output; -1 means left out"),
        CLI_FILE_OPTION(cli_output_options, terms, "terms", 0, "FILE.clv",
                        "DATA are documents, and this is what cleave text --model kept of them: say what each cluster "
                        "is about, and put their ids beside the labels"),
        CLI_FLAG_OPTION(cli_output_options, output_data, "output-data", 0,
                        "-o FILE.csv has all columns of DATA, a .csv, .tsv or .txt file, and the label behind them"),
        CLI_FLAG_OPTION(cli_output_options, silhouette, "silhouette", 0, "add the mean silhouette (n^2 time)"),
    };
    static const clv_option of_all[] = {
        CLI_FILE_OPTION(cli_output_options, json, "json", 0, "FILE|-",
                        "the whole result; - writes it to standard output instead of the table"),
        CLI_FILE_OPTION(cli_output_options, trace, "trace", 0, "FILE.csv",
                        "objective and certificate, one row per iteration"),
        CLI_FILE_OPTION(cli_output_options, report, "report", 0, "FILE.html", "a self-contained page with pictures"),
        CLI_FLAG_OPTION(cli_output_options, dry_run, "dry-run", 0, "say what would be allocated, and stop"),
        CLI_TALK_OPTIONS(cli_output_options),
    };
    clv_option_table *table = &room->table;
    *table = (clv_option_table){.title = "output", .options = room->options};
    if (clv_method_gives(method, "labels")) {
        memcpy(room->options, of_labels, sizeof of_labels);
        table->count = method->takes == CLV_TAKES_PARTITIONS ? 1 : CLI_COUNT(of_labels); /* the rest is about points */
    }
    add_matrices(room, method);
    if (clv_method_gives(method, "centers")) {
        room->options[table->count++] = (clv_option)CLI_CHOICE_OPTION(
            cli_output_options, units, "units", "scaled|data",
            "what --centers are in: the scaled data, as in the JSON result, or DATA as they are");
    }
    if (clv_method_gives(method, "intercepts")) {
        room->options[table->count++] = (clv_option)CLI_CHOICE_OPTION(
            cli_output_options, units, "units", "scaled|data",
            "what --weights are for: scaled samples, as in the JSON result, or samples as they are in X, with the "
            "intercepts as a last column");
    }
    if (method->predict && method->takes == CLV_TAKES_AFFINITY) {
        room->options[table->count++] = (clv_option)CLI_FLAG_OPTION(
            cli_output_options, save_model, "save-model", 0,
            "keep the points beside the result of --json, with .clv for .json: for cleave predict");
    }
    memcpy(room->options + table->count, of_all, sizeof of_all);
    table->count += CLI_COUNT(of_all);
    return table;
}

const clv_option_table *cli_threads_table(void) {
    static const clv_option options[] = {
        {.name = "threads",
         .kind = CLV_OPTION_INT,
         .most = 1024,
         .word = "all",
         .meta = "T",
         .help = "number of threads; the result does not depend on it"},
    };
    static const clv_option_table table = {"run", options, CLI_COUNT(options), 0};
    return &table;
}
