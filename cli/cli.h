/* What the files of the command share. cli/ stands on cleave.h alone, as any other program would.
 *
 * A failure is told to the user once, in one line, where it is found (cli_fail, cli_library); from there only its
 * status travels up, to become the exit status in main.
 */
#ifndef CLEAVE_CLI_H
#define CLEAVE_CLI_H

#include <cleave.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* --- the program and its console (console.c) --- */

struct cli_args;

typedef struct cli_app {
    clv_context *ctx;
    const char *program; /* as it was called, for commands that are shown to be typed */
    const char *command; /* "ncut", or NULL */
    double started;      /* on the clock of cli_seconds */
    /* What --help does instead of printing for a screen; NULL: it prints. The command's options are in the arguments.
     */
    void (*tell)(const struct cli_args *args);
    struct cli_outcome *outcome; /* where a run says what came of it; NULL: nobody asks */
} cli_app;

/* What came of a run, for a command that runs others. */
typedef struct cli_outcome {
    int64_t n, k;
    bool labeled; /* k is a number of clusters */
    char objective[32];
    double value, bound, ari; /* NaN: there is none */
    bool holds;               /* its certificate */
    double seconds;
    char verdict[544]; /* of a verification: "rejected: ..." */
} cli_outcome;
/* The objective for people: of a cut, what rounding leaves is 0. */
double cli_shown_objective(const clv_result *result);
void cli_outcome_note(const cli_app *app, const clv_result *result, double ari);

double cli_seconds(void);
/* Seconds since the program began. */
double cli_elapsed(const cli_app *app);
/* After a failure that was told, later ones are not: the outputs after one that could not be written. */
void cli_tell_no_more_failures(void);
/* "cleave ncut: sentence" on standard error; returns `status`. */
__attribute__((format(printf, 3, 4))) clv_status cli_fail(const cli_app *app, clv_status status, const char *format,
                                                          ...);
/* A file name or a field may hold anything: what would move the cursor of a terminal, or end the line, becomes "?". */
void cli_one_line(char *text);
/* How messages name an input: "-" is standard input. */
const char *cli_input_name(const char *path);
/* Say what the library says when `status` is a failure; returns it. */
clv_status cli_library(const cli_app *app, clv_status status);
/* The same for a call that was given the content of a file and not its name: bad data are said to be in `path`. */
clv_status cli_library_on(const cli_app *app, const char *path, clv_status status);
/* A block of text on standard output. */
clv_status cli_put(const cli_app *app, const char *text, size_t size);
/* Whether all that went to standard output has arrived: a full disk is an error, a closed pipe a silent one. */
clv_status cli_flush(const cli_app *app);
int cli_exit_status(clv_status status);
/* After all is written: CLV_EINTERRUPTED, told unless `quiet`, when a signal has ended the work, here or in `others`;
 * else CLV_OK. */
clv_status cli_end(bool others, int quiet);

/* A line on standard error, "warning: ..." or "FILE: warning: ..." if it is one; an object {"warning": ...} or
 * {"message": ...} once cli_tell_as_json was called, as it is for --progress=json. */
__attribute__((format(printf, 1, 2))) void cli_tell(const char *format, ...);
void cli_tell_as_json(void);
/* That the command is over, for a program that reads these lines. */
void cli_tell_end(const cli_app *app, int code);
/* The last sentence that cli_fail said; "" when there was none. */
const char *cli_last_failure(void);

/* --- several processes (ranks.c): one where nothing else is said --- */

/* The number of processes that a launcher says it has started, in what it leaves in the environment; 0: none. */
long cli_started_together(void);
/* " (on process 2 of 3)", by what the launcher says, for failures before the others can be told; "" for the first. */
const char *cli_launched_place(void);
/* Joins the others where a launcher has started several; from here on only the first one is heard. All must have been
 * given the same command. */
clv_status cli_ranks_join(const cli_app *app, const char *command);
/* The last that is done: of a failure, or of an end that comes too early, that only this process knows, the others
 * learn wherever they are. The exit status of all. */
int cli_ranks_leave(const cli_app *app, int code);
bool cli_is_first(const cli_app *app);
int64_t cli_ranks(const cli_app *app);
/* All bring a status, and get the first failure, which the first process tells. */
clv_status cli_meet(const cli_app *app, clv_status status);
/* The first one works, the others wait; the exit status of all. */
int cli_first_alone(cli_app *app, int (*work)(cli_app *app, int argc, char **argv), int argc, char **argv);

typedef enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_GREEN, CLI_RED } cli_style;
/* The escape sequence of a style, or "" when standard output is no terminal or NO_COLOR is set. */
const char *cli_styled(cli_style style);

/* "1.5 MiB" in a buffer of `size` bytes. */
void cli_print_bytes(double bytes, char *text, size_t size);
/* A number in JSON, which has neither NaN nor infinity: null for those. */
void cli_json_number(FILE *stream, double value);
/* In quotes; NULL: null. */
void cli_json_string(FILE *stream, const char *text);

#define CLI_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define CLI_TRY(call)                                                                                                  \
    do {                                                                                                               \
        clv_status cli_try_status_ = (call);                                                                           \
        if (cli_try_status_ < 0) {                                                                                     \
            return cli_try_status_;                                                                                    \
        }                                                                                                              \
    } while (0)

/* --- commands and their arguments (main.c, args.c, help.c) --- */

enum { CLI_OPERANDS = 3, CLI_MORE = 1024 };

typedef struct cli_command {
    const char *name;
    const char *summary;                /* one line, for the list of commands */
    const char *names;                  /* "a b c": what the operand can be, for completion; NULL: files */
    const char *operands[CLI_OPERANDS]; /* their names; the last ones may be left out if [in brackets], and the
                                           last may be repeated if it is [...]; NULL: no more */
    const char *about;                  /* a paragraph or two for the help */
    const char *about_data;             /* one more, about the operands; or NULL */
    const char *examples;               /* lines to type, indented by two spaces */
    int (*run)(cli_app *app, const struct cli_command *command, int argc, char **argv);
} cli_command;

/* A command by its name; NULL: there is none. */
const cli_command *cli_command_find(const char *name);
extern const cli_command cli_affinity, cli_segment, cli_text, cli_eval, cli_predict_command, cli_verify, cli_demo;

enum { CLI_GROUPS = 10, CLI_OPTIONS = 32 };

/* An option table, the struct that it fills, and which of its options were given. */
typedef struct cli_group {
    const clv_option_table *table;
    void *options;
    bool given[CLI_OPTIONS];
} cli_group;

typedef struct cli_args {
    const cli_command *command;
    cli_group groups[CLI_GROUPS];
    size_t group_count;
    const char *operands[CLI_OPERANDS];
    size_t operand_count;       /* of these */
    const char *more[CLI_MORE]; /* beyond them, of a command that takes any number */
    size_t more_count;
    int argc;                /* as typed, without the name of the command */
    char **argv;             /* borrowed */
    bool help;               /* --help was given: nothing else was checked */
    bool k_optional;         /* -k may be left out although its default is out of its range */
    bool k_ranges;           /* -k may be LOW:HIGH, or auto */
    int64_t k_least, k_most; /* such a range: 0, none was given; of auto -1, until the objects are known */
} cli_args;

/* Add a table; the struct at `options` must hold its defaults already. */
void cli_args_add(cli_args *args, const clv_option_table *table, void *options);
/* The same for a struct of the command's own, which is given its defaults. */
void cli_args_own(cli_args *args, const clv_option_table *table, void *options);
clv_status cli_args_parse(const cli_app *app, cli_args *args, int argc, char **argv);
/* A command: the arguments, then its help or its work, all of it. */
clv_status cli_perform(const cli_app *app, cli_args *args, int argc, char **argv, clv_status (*work)(void *job),
                       void *job);
bool cli_args_given(const cli_args *args, const char *name);
/* All operands from number `first` on, in a list with room for CLI_OPERANDS + CLI_MORE; returns how many. */
size_t cli_args_files(const cli_args *args, size_t first, const char **list);
/* Whether an option must be given: a number whose default is out of its range, unless that has a name of its own. */
bool cli_is_required(const clv_option *option);
/* So help says; where another option may take its place, the help of the option says which. */
bool cli_must_be_given(const cli_args *args, const clv_option *option);

/* The name that was probably meant by a mistyped one: begin with {typed}, then offer all that there are. */
typedef struct cli_nearest {
    const char *typed;
    char name[64];
    size_t distance;
} cli_nearest;
void cli_nearest_offer(cli_nearest *nearest, const char *name);
/* "; did you mean --gamma", with `before` in front of the name; "" where none is near. */
const char *cli_nearest_phrase(const cli_nearest *nearest, const char *before, char *text, size_t size);
/* What other programs call an option or a command of ours, as our name for it; NULL: nothing that is known. */
const char *cli_synonym(const char *typed);

clv_status cli_help_command(const cli_app *app, const cli_args *args);
clv_status cli_help_program(const cli_app *app, const cli_command *commands, size_t count);
/* What help says of an option: its help, what it may be, its default. */
void cli_describe_option(const clv_option *option, const void *options, bool required, char *text, size_t size);
/* What stands for the value of an option in help; NULL: it takes none. */
const char *cli_option_meta(const clv_option *option);
extern const char cli_program_examples[], cli_program_statuses[];
/* Have `tell` told the options of each command in turn, instead of their help. */
/* What is said of help, man and completion, which have no options; NULL: it is none of them. */
const char *cli_help_of_helper(const char *name);
clv_status cli_tell_all(cli_app *app, const cli_command *commands, size_t count, void (*tell)(const cli_args *args));
/* A script for a shell (shells.c), and the manual page of a command or, without a name, of the program (man.c), made
 * from the same tables as the help. */
int cli_completion(cli_app *app, const cli_command *commands, size_t count, int argc, char **argv);
int cli_man(cli_app *app, const cli_command *commands, size_t count, int argc, char **argv);

/* --- interruption and the progress line (progress.c) --- */

/* From now on SIGINT, SIGTERM and SIGHUP ask for an orderly end, once; a second one ends the program. */
void cli_signals_catch(clv_context *ctx);
/* A signal that ends this process, one of several, at once is told there, with its number (from 0). */
void cli_signals_place(int standard_error, int64_t rank, int64_t ranks);
/* Files are being read: what they claim may take no more than the budget --memory (0: three quarters of the machine's
 * memory). */
void cli_reading_begin(const cli_app *app, int64_t memory);
/* Input has been read: the methods keep to the budget by themselves, and system calls go on after a signal, so that no
 * output is cut short by one. */
void cli_reading_end(const cli_app *app);
/* Whether the library is to ask about signals: not while results are being written. */
void cli_signals_watch(clv_context *ctx, bool watch);
bool cli_interrupted(void);

typedef struct cli_progress {
    const cli_app *app;
    bool shown;    /* whether there is a line at all */
    bool terminal; /* one line, rewritten, instead of many */
    bool json;     /* each line is a JSON object */
    bool drawn;
    double not_before; /* on the clock of cli_seconds */
    bool solves;       /* there are iterations, or will be */
    /* For the estimate: what was asked for, */
    int64_t restarts, beside, max_iter;
    double time_limit, began;
    /* what was seen, */
    bool several; /* runs, one after the other */
    int64_t first_done, done, iteration;
    double seconds, first_at, done_at, looked_at, certificate, certificate_at, rate;
    /* and when it will end (NaN: not known), since when that was said, and the least that was shown. */
    double end, agreed_since, least_left;
    const char *what; /* what is being done besides iterations; NULL: nothing that has a name */
} cli_progress;

enum { CLI_PROGRESS_JSON = 2 }; /* --progress=json */

/* There is a progress line as --progress or --no-progress say (`asked`), else if standard error is a terminal and
 * there is no --quiet. */
bool cli_progress_is_wanted(const cli_args *args, int asked, int quiet);
/* `control` is given the monitor that draws the line; NULL: work that is counted. */
void cli_progress_begin(cli_progress *progress, const cli_app *app, bool shown, int asked, clv_control *control);
/* From here on the line says "WHAT  3.1 s" while the library works for long without anything to show: it is drawn when
 * that asks whether to stop. `what` is borrowed until cli_progress_end. */
void cli_progress_phase(cli_progress *progress, const char *what);
/* A clv_monitor; `user` is a cli_progress. */
int cli_progress_monitor(const clv_progress *now, void *user);
/* "documents 1200  3.1 s": for work that is counted. */
void cli_progress_count(cli_progress *progress, const char *what, int64_t count);
void cli_progress_end(cli_progress *progress);

/* --- options that several commands have (options.c) --- */

typedef struct cli_points_options {
    int scale;  /* clv_scale */
    int header; /* clv_header */
    const char *label_column;
    const char *columns, *drop, *id_column; /* NULL: not given */
    int missing, categories;                /* clv_missing, clv_categories */
    const char *truth;                      /* a file, or NULL */
    int soft;                               /* of partitions: memberships for labels */
} cli_points_options;

/* "points": scale, header, the columns, and truth where `with_truth`. */
const clv_option_table *cli_points_table(bool with_truth);
/* Of a method on partitions. */
const clv_option_table *cli_partitions_table(void);
/* The part of it that says how to read. */
const clv_option_table *cli_reading_table(void);
/* What was not given here is read as the result in `path` was read. */
clv_status cli_take_reading(const cli_app *app, const clv_claim *claim, const char *path, const cli_args *args,
                            cli_points_options *points);
/* Other data of the columns `names` (NULL: without names), whose missing cells were replaced by `fill`. */
void cli_read_like(clv_read_options *reading, const char *const *names, int64_t count, const double *fill,
                   int64_t fill_count);
void cli_read_as(clv_read_options *reading, const clv_data *data);
/* Whether what was read so from `path` has these columns. Where its file has no names for them, they are taken by their
 * place, with a warning unless `quiet`; refused are another number, and classes of text, whose places differ from file
 * to file. */
clv_status cli_check_columns(const cli_app *app, const char *path, const clv_data *data, const char *const *names,
                             int64_t count, bool quiet);
/* Whether two lists of names are the same. */
bool cli_are_same(const char *const *a, int64_t a_count, const char *const *b, int64_t b_count);
/* The reading options that they stand for. */
enum { CLI_READ, CLI_MAP, CLI_MAP_SYMMETRIC }; /* clv_read_options.map */
clv_read_options cli_read_options(const cli_points_options *points, int map);

/* --- checkpoints (checkpoint.c) --- */
typedef struct cli_checkpoint {
    const char *path, *resume; /* files, or NULL */
    double every;
    const cli_app *app;
    bool kept; /* one at least */
    bool told; /* that none can be written */
} cli_checkpoint;
const clv_option_table *cli_checkpoint_table(void);
/* The context of the program goes on from one, which may have `memory` bytes (0: as cli_budget says), keeps others, and
 * has the time that is left of the limit. */
clv_status cli_checkpoint_begin(const cli_app *app, const cli_args *args, cli_checkpoint *c, double limit,
                                int64_t memory);
/* Whether --resume is a file that may not be written: any other than that of --checkpoint. */
bool cli_checkpoint_is_input(const cli_checkpoint *c);
/* How to go on with a run that was cut short. */
void cli_checkpoint_end(const cli_checkpoint *c, const clv_result *result, int quiet);

/* Matrices that a method gives can be written, each to a file that the option of its name says. */
enum { CLI_MATRIX_FILES = 4 };

typedef struct cli_output_options {
    const char *output;                     /* labels: a file, or NULL, as all below */
    const char *matrices[CLI_MATRIX_FILES]; /* in the order in which the method gives them */
    const char *json, *trace, *report, *terms;
    int silhouette, save_model, output_data;
    int units; /* of centers: 0 scaled, 1 those of the data */
    int dry_run, progress, quiet, verbose;
} cli_output_options;

/* The output options of a method, in `room`, where they stay, with the fields that its matrices are. */
typedef struct cli_output_room {
    clv_option options[CLI_OPTIONS];
    clv_option_table table;
    const clv_field_info *matrices[CLI_MATRIX_FILES];
    size_t matrix_count;
    char helps[CLI_MATRIX_FILES][160];
} cli_output_room;
const clv_option_table *cli_output_table(cli_output_room *room, const clv_method *method);

/* Options in a table for a struct of type_: a file's name or another text, a switch, a choice, a number. */
#define CLI_FILE_OPTION(type_, member_, name_, letter_, meta_, help_)                                                  \
    {                                                                                                                  \
        .name = (name_), .letter = (letter_), .kind = CLV_OPTION_TEXT, .offset = offsetof(type_, member_),             \
        .meta = (meta_), .help = (help_)                                                                               \
    }
#define CLI_FLAG_OPTION(type_, member_, name_, letter_, help_)                                                         \
    {                                                                                                                  \
        .name = (name_), .letter = (letter_), .kind = CLV_OPTION_FLAG, .offset = offsetof(type_, member_), .most = 1,  \
        .help = (help_)                                                                                                \
    }
#define CLI_CHOICE_OPTION(type_, member_, name_, choices_, help_)                                                      \
    {                                                                                                                  \
        .name = (name_), .kind = CLV_OPTION_CHOICE, .offset = offsetof(type_, member_), .choices = (choices_),         \
        .help = (help_)                                                                                                \
    }
#define CLI_NUMBER_OPTION(kind_, type_, member_, name_, letter_, initial_, least_, most_, word_, meta_, help_)         \
    {                                                                                                                  \
        .name = (name_), .letter = (letter_), .kind = (kind_), .offset = offsetof(type_, member_),                     \
        .initial = (initial_), .least = (least_), .most = (most_), .word = (word_), .meta = (meta_), .help = (help_)   \
    }
#define CLI_MEMORY_OPTION(type_)                                                                                       \
    CLI_NUMBER_OPTION(CLV_OPTION_BYTES, type_, memory, "memory", 0, 0, 0, 0x1p62, "auto", "BYTES",                     \
                      "memory budget, as 500M or 2G; auto: half of the machine's")
/* Of a command that has its result at the end or none, for a struct with the member time_limit. */
#define CLI_TIME_OPTION(type_)                                                                                         \
    CLI_NUMBER_OPTION(CLV_OPTION_REAL, type_, time_limit, "time-limit", 0, 0, 0, HUGE_VAL, "none", "SECONDS",          \
                      "give up after this time, with nothing written; 0: no limit")
/* What is said on the way, for a struct with the members progress, quiet and verbose. */
#define CLI_TALK_OPTIONS(type_)                                                                                        \
    {.name = "progress",                                                                                               \
     .kind = CLV_OPTION_FLAG,                                                                                          \
     .offset = offsetof(type_, progress),                                                                              \
     .most = 1,                                                                                                        \
     .choices = "json",                                                                                                \
     .help = "progress on standard error, also when it is not a terminal; as JSON: one object per line"},              \
        CLI_FLAG_OPTION(type_, quiet, "quiet", 'q', "no table and no messages, only errors"),                          \
        CLI_FLAG_OPTION(type_, verbose, "verbose", 'v', "say what was read and made, on standard error")

/* A table of one's own that has only `threads`, described as in clv_control_table, at offset 0 (an int64_t). */
const clv_option_table *cli_threads_table(void);

/* --- what would be held (dryrun.c) --- */

/* The budget in bytes: what --memory says, or half of the machine's. */
size_t cli_budget(int64_t memory);
/* A field such as "VmHWM" of the kernel's account of this process, in bytes; 0 where there is none. */
size_t cli_process_bytes(const char *field);
/* What the program will have held when it has held so many bytes more than it does now. */
size_t cli_resident_peak(size_t more);
size_t cli_matrix_bytes(const clv_matrix *matrix);
enum { CLI_METHOD_OPTIONS = 1024 }; /* bytes, room for the options of any method */
/* Bytes of a method on so many threads, whatever its options say about these. */
size_t cli_method_bytes(const clv_method *method, const clv_input *input, const void *options, int64_t threads);
/* A line of the table of --dry-run. */
void cli_forecast_line(FILE *stream, const char *name, size_t bytes, const char *note);

/* --- output files (outputs.c) --- */

/* Whether a name is in a list such as "npy|csv" (NULL: none), by strncmp or strncasecmp. */
bool cli_is_listed(const char *list, const char *name, int (*compare)(const char *, const char *, size_t));
/* The list as ".npy or .csv", each with `before` in front of it. */
void cli_print_list(const char *list, const char *before, char *text, size_t size);
/* Whether a path ends in one of them, after a dot. */
bool cli_has_ending(const char *path, const char *endings);
/* What a command may write: the option that names it, the path (NULL: not asked for), and the endings that it may have
 * (NULL: any). */
typedef struct cli_target {
    const char *option, *path, *endings;
} cli_target;
/* Found out before any work is done: whether all of them can be written, none is one of the inputs (NULL: passed over;
 * files, folders of files, file.mat:variable, "-"), and no two are one file, however it is spelled. --json - is
 * standard output, and passes. */
clv_status cli_targets_check(const cli_app *app, const cli_target *targets, size_t count, const char *const *inputs,
                             size_t input_count);
/* Text to a file, or to standard output when `path` is "-". */
clv_status cli_output_text(const cli_app *app, const char *path, const char *text, size_t size);
/* What `print` writes of `what`, to the same places. */
typedef void (*cli_printer)(FILE *stream, const void *what);
clv_status cli_output_json(const cli_app *app, const char *path, cli_printer print, const void *what);

/* Where a page comes from (origin.c). */
typedef struct cli_origin {
    char *source, *command; /* from malloc; NULL: no memory */
    char date[32];
} cli_origin;
void cli_origin_find(cli_origin *origin, const cli_args *args);
void cli_origin_free(cli_origin *origin);

typedef clv_status (*cli_renderer)(clv_context *ctx, const clv_report *report, char **text, size_t *size);
/* The outputs of a run: each is written whatever became of those before it, and the first failure is the status. */
typedef struct cli_outputs {
    const cli_app *app;
    clv_status first;
} cli_outputs;
/* What became of `path`; a failure has been told, and those of later outputs are not. A file that could not be written
 * to its end counts as one that could not be begun, standard output ("-") does not. */
void cli_outputs_note(cli_outputs *out, const char *path, clv_status status);
/* Write a file, unless `path` is NULL. */
void cli_outputs_matrix(cli_outputs *out, const char *path, const clv_data *data);
void cli_outputs_labels(cli_outputs *out, const char *path, const int32_t *labels, int64_t n, const clv_data *of,
                        const char *const *classes);
void cli_outputs_render(cli_outputs *out, const char *path, cli_renderer render, const clv_report *report);
void cli_outputs_print(cli_outputs *out, const char *path, cli_printer print, const void *what);
/* The last outputs: JSON where --json says, and the table unless that is standard output or nothing is to be said. */
clv_status cli_outputs_tell(cli_outputs *out, const char *json, int quiet, cli_printer print_json,
                            cli_printer print_table, const void *what);

#endif
