/* Option tables that several commands share. */
#include "cli.h"

#include <string.h>

enum { POINTS_OPTIONS = 4 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const clv_option points_options[POINTS_OPTIONS] = {
    {.name = "scale",
     .kind = CLV_OPTION_CHOICE,
     .offset = offsetof(cli_points_options, scale),
     .choices = CLV_SCALE_NAMES,
     .help = "what is done to the points first"},
    {.name = "header",
     .kind = CLV_OPTION_CHOICE,
     .offset = offsetof(cli_points_options, header),
     .choices = "detect|yes|no",
     .help = "CSV: whether the first line names the columns"},
    {.name = "label-column",
     .kind = CLV_OPTION_TEXT,
     .offset = offsetof(cli_points_options, label_column),
     .choices = "detect",
     .meta = "COLUMN",
     .help = "CSV: name or number from 1 of the column of true labels, or none"},
    {.name = "truth",
     .kind = CLV_OPTION_TEXT,
     .offset = offsetof(cli_points_options, truth),
     .meta = "FILE",
     .help = "true labels (.npy, .csv): metrics of agreement are added; without it, the label column of DATA"},
};

const clv_option_table *cli_points_table(bool with_truth) {
    static const clv_option_table all = {"points", points_options, POINTS_OPTIONS};
    static const clv_option_table without = {"points", points_options, POINTS_OPTIONS - 1};
    return with_truth ? &all : &without;
}

const clv_option_table *cli_reading_table(void) {
    static const clv_option_table table = {"points", points_options + 1, 2};
    return &table;
}

clv_read_options cli_read_options(const cli_points_options *points, bool map) {
    clv_read_options options = {.header = (clv_header)points->header, .map = map};
    options.label_column = strcmp(points->label_column, "detect") == 0 ? NULL : points->label_column;
    return options;
}

const clv_option_table *cli_output_table(cli_output_room *room, unsigned outputs) {
    static const clv_option options[] = {
        CLI_FILE_OPTION(cli_output_options, output, "output", 'o', "FILE",
                        "labels out: .npy (int32), .csv or .txt; -1 is left out"),
        CLI_FILE_OPTION(cli_output_options, membership, "membership", 0, "FILE",
                        "memberships out, a row an object and a column a cluster: .npy, .csv or .mtx"),
        CLI_FILE_OPTION(cli_output_options, centers, "centers", 0, "FILE",
                        "centers out, a row a cluster: .npy or .csv"),
        CLI_FILE_OPTION(cli_output_options, weights, "weights", 0, "FILE",
                        "the weights learned out: .npy, .csv or .mtx"),
        CLI_FILE_OPTION(cli_output_options, json, "json", 0, "FILE|-",
                        "the whole result; - is standard output, instead of the table"),
        CLI_FILE_OPTION(cli_output_options, trace, "trace", 0, "FILE.csv",
                        "objective and certificate, a row an iteration"),
        CLI_FILE_OPTION(cli_output_options, report, "report", 0, "FILE.html", "a self-contained page with pictures"),
        CLI_FLAG_OPTION(cli_output_options, silhouette, "silhouette", 0, "add the mean silhouette (n^2 time)"),
        CLI_FLAG_OPTION(cli_output_options, dry_run, "dry-run", 0, "say what would be allocated, and stop"),
        CLI_FLAG_OPTION(cli_output_options, progress, "progress", 0,
                        "progress on standard error, also when that is no terminal"),
        CLI_FLAG_OPTION(cli_output_options, quiet, "quiet", 'q', "no table and no messages, only errors"),
        CLI_FLAG_OPTION(cli_output_options, verbose, "verbose", 'v', "say what was read and made, on standard error"),
    };
    static const struct {
        const char *name;
        unsigned output;
    } needs[] = {{"output", CLI_LABELS},
                 {"silhouette", CLI_LABELS},
                 {"membership", CLI_MEMBERSHIP},
                 {"centers", CLI_CENTERS},
                 {"weights", CLI_WEIGHTS}};
    size_t count = 0;
    for (size_t i = 0; i < COUNT(options); i++) {
        bool offered = true;
        for (size_t j = 0; j < COUNT(needs); j++) {
            offered = offered && (strcmp(options[i].name, needs[j].name) != 0 || outputs & needs[j].output);
        }
        if (offered) {
            room->options[count++] = options[i];
        }
    }
    room->table = (clv_option_table){"output", room->options, count};
    return &room->table;
}

const clv_option_table *cli_threads_table(void) {
    static const clv_option options[] = {
        {.name = "threads",
         .kind = CLV_OPTION_INT,
         .most = 1024,
         .word = "all",
         .meta = "T",
         .help = "threads; the result does not depend on it"},
    };
    static const clv_option_table table = {"run", options, COUNT(options)};
    return &table;
}
