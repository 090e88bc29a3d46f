/* A job: what the command of any method does, from the arguments to the files written. The method itself is known by
 * its description alone; what a command has beyond that is a cli_special. */
#ifndef CLEAVE_CLI_JOB_H
#define CLEAVE_CLI_JOB_H

#include "cli.h"

#include <limits.h>

typedef struct cli_job cli_job;

/* A file that an option of a command alone names: read, or else written. */
typedef struct cli_own_file {
    const char *name, *path, *endings; /* of the option; NULL: not given; "npy|csv", NULL: any */
    bool input;
} cli_own_file;
enum { CLI_OWN_FILES = 4 };

/* What the command of one method has beyond those of the others. Functions may be NULL. */
typedef struct cli_special {
    const char *method;
    const clv_option_table *(*table)(void);  /* options of the command alone, of job->own */
    clv_status (*check)(const cli_job *job); /* what the arguments alone can tell, before anything is read */
    void (*files)(const cli_job *job, cli_own_file list[CLI_OWN_FILES]); /* into a list of zeros */
    clv_status (*read)(cli_job *job);                                    /* what the options name, into job->input */
    clv_status (*write)(const cli_job *job);                             /* after all else */
    const char *(*prediction)(const cli_job *job); /* a file of its own for results of new objects; NULL: none given */
    const char *(*thrift)(const cli_job *job);     /* how to need less, if all of the estimate is needed; or NULL */
    bool k_optional;                               /* -k may be left out: the method's check says when */
} cli_special;

extern const cli_special cli_ksupport_special, cli_pursuit_special, cli_dominant_special, cli_kpalm_special,
    cli_consensus_special;

/* New objects to label, and where to. */
typedef struct cli_predict_options {
    const char *input, *output, *membership; /* files, or NULL */
} cli_predict_options;

/* Options that a command has beside those of its method: files, or NULL. */
typedef struct cli_own_options {
    const char *path_output, *validation_x, *validation_y, *scores, *graph, *confidence;
} cli_own_options;

typedef struct cli_groups_options {
    int64_t groups;
} cli_groups_options;

struct cli_job {
    const cli_app *app;
    const clv_method *method;
    const cli_special *special; /* never NULL */
    cli_args args;
    cli_points_options points;
    clv_affinity_options how;
    _Alignas(max_align_t) char options[CLI_METHOD_OPTIONS]; /* of the method, as given: what the report lists */
    const char *sample_weights;                             /* a file, or NULL */
    cli_output_options output;
    cli_output_room output_room;
    bool shows, traces; /* whether the first process shows its progress, and writes a trace or a report */
    cli_predict_options prediction;
    cli_own_options own;
    cli_checkpoint checkpoint;
    cli_groups_options grouping;
    clv_data *data;                                                        /* the first operand */
    clv_data *fresh;                                                       /* new objects, or NULL */
    clv_data *targets, *start, *weights, *validation, *validation_targets; /* owned, or NULL */
    clv_data *object_alpha, *start_membership, *widths;                    /* likewise */
    clv_input input;                                                       /* what the method is given of these */
    int32_t *truth_read;            /* owned; NULL when the labels came with the data */
    const int32_t *truth;           /* NULL: none */
    char truth_from[PATH_MAX + 32]; /* the file of --truth, and how its rows were found; "": none */
    double *start_labels;           /* owned, from malloc: a start that was read as labels */
    clv_matrix start_view;          /* of these */
    clv_affinity *affinity;
    clv_affinity_info info;
    bool rough;  /* there is no time for the affinity: the result goes without */
    bool unread; /* nor to read the new objects: there are no predictions */
    clv_result *result;
    clv_result *predicted;  /* of --predict, where processes share that work; NULL: it is done when it is written */
    clv_text_model *text;   /* of --terms, or NULL */
    clv_report_terms terms; /* valid when there is one; owned, from malloc */
    clv_scores scores;      /* valid when there is a truth */
    double silhouette;      /* NaN: none */
    double load_seconds, affinity_seconds;
    char suggestion[256]; /* of another affinity; "": none */
    cli_progress progress;
};

/* The control that the options of the method begin with. */
static inline clv_control *cli_control(cli_job *job) {
    return (clv_control *)(void *)job->options;
}
/* Of the time limit, infinite where there is none; below 0 when it is over. */
double cli_time_left(const cli_job *job);
static inline const clv_control *cli_control_of(const cli_job *job) {
    return (const clv_control *)(const void *)job->options;
}
/* Whether the method works on similarities. */
static inline bool cli_has_affinity(const cli_job *job) {
    return job->method->takes == CLV_TAKES_AFFINITY;
}

/* Whether it works on other clusterings. */
static inline bool cli_takes_partitions(const cli_job *job) {
    return job->method->takes == CLV_TAKES_PARTITIONS;
}

/* The steps in their order; each needs the one before it. A job is closed in any state. */
clv_status cli_job_open(const cli_app *app, const cli_command *command, const clv_method *method, int argc, char **argv,
                        cli_job *job);
clv_status cli_job_load(cli_job *job);  /* check the targets; read, scale */
clv_status cli_job_plan(cli_job *job);  /* whether the method fits the budget, and what the affinity will be */
clv_status cli_job_solve(cli_job *job); /* affinity, method, metrics */
clv_status cli_job_write(cli_job *job); /* all outputs; goes on after a failed one and returns the first failure */
bool cli_job_shows_table(const cli_job *job);
void cli_job_close(cli_job *job);

/* DATA: one file of points, or of a method on partitions several (consensus.c). */
clv_status cli_partitions_read(cli_job *job);
clv_status cli_partitions_name(cli_job *job);

/* Parts of these steps (run.c, load.c, plan.c, inputs.c, results.c). */
const clv_option_table *cli_job_how_table(const cli_job *job); /* the options of the affinity, or of memory alone */
const clv_option_table *cli_job_points_table(const cli_job *job);
const clv_option_table *cli_job_weights_table(void);
/* The number of clusters: a range that is left open gets its ends from the objects read; no more than there are. */
clv_status cli_job_settle_k(cli_job *job);
size_t cli_job_memory(const cli_job *job, int64_t threads); /* of the method, as planned */
/* The options to build with: the budget less the bytes of the method on one thread, as the home must not depend on the
 * number of threads, nor may the result. */
clv_status cli_remaining_budget(const cli_job *job, clv_affinity_options *out);
clv_status cli_job_affinity(cli_job *job);  /* built, or found to take too long */
void cli_tell_affinity(const cli_job *job); /* of --verbose */
clv_status cli_job_check_targets(const cli_job *job);
/* Operands beyond the first, a start, weights: whatever the method is given beside its points. */
clv_status cli_job_read_inputs(cli_job *job);
/* A file that an option names, with `cols` numbers (1: also in a row) for each object that was kept. */
clv_status cli_read_objects(const cli_job *job, const char *option, const char *path, int64_t cols, clv_data **out);
/* Targets of a file, one for each sample of `of`, which was read from `of_path`; texts mean what they mean in `known`,
 * unless that is NULL. */
clv_status cli_read_targets(const cli_job *job, const char *path, const clv_data *of, const char *of_path,
                            const clv_data *known, clv_data **out);
/* Labels of a file that an option names, one for each object that was kept. */
clv_status cli_read_object_labels(const cli_job *job, const char *what, const char *path, bool truth, int32_t **out,
                                  bool *by_id);
/* "matched by id", or "row by row". */
const char *cli_matched(bool by_id);

/* Memberships, one row per object of `of` and one column per cluster (results.c). */
clv_status cli_write_memberships(const cli_app *app, const char *path, const clv_matrix *matrix, const clv_data *of);
/* Scores or probabilities; in .csv with the names of the classes (NULL: their numbers) and of the rows. */
clv_status cli_write_scores(const cli_app *app, const char *path, const clv_matrix *scores, const clv_data *of,
                            const clv_field *classes, const char *const *class_names);

/* Where the points of a result are kept: beside its JSON file (model.c). */
void cli_model_path(const char *json, char path[PATH_MAX]);

/* All of it: the run of a method's command. */
int cli_job_run(const cli_app *app, const cli_command *command, const clv_method *method, int argc, char **argv);
/* The command of a method, as its description says. */
cli_command cli_method_command(const clv_method *method);

/* New objects: by the names of the columns of the old ones; where these have none, in the same order, but for a label
 * column or ids that are named and not there: new objects often have none. */
clv_status cli_read_fresh(const cli_app *app, const char *path, const clv_read_options *reading, clv_data **out);
/* New objects (predict.c): the options, whether they go together, reading, labels to their file. */
const clv_option_table *cli_predict_table(const clv_method *method);
clv_status cli_predict_check(const cli_job *job);
clv_status cli_predict_read(cli_job *job, const clv_read_options *reading);
clv_status cli_predict_write(const cli_job *job);
/* Whether a prediction of this method has a field, and the prediction itself for job->fresh, or else for job->data. */
bool cli_predicts(const clv_method *method, const char *what);
clv_status cli_predict(const cli_job *job, clv_result **out);

/* What clusters of documents are about (terms.c): the model of --terms, whose ids become those of the data, and the
 * terms of the clusters that were found. */
clv_status cli_terms_read(cli_job *job);
clv_status cli_terms_find(cli_job *job);
void cli_terms_free(cli_job *job);

/* Whether what comes before the first iteration would take longer than the time limit; if so, that is said; where no
 * affinity was asked for, it may become that of nearest neighbors instead, in `how` and job->how. Where a pass takes
 * long, another affinity is suggested on standard error and in job->suggestion; from there it goes into the result
 * (estimate.c). */
bool cli_job_takes_too_long(cli_job *job, clv_affinity_options *how);
/* An affinity of points, as the method wants it. */
clv_status cli_make_affinity(const cli_job *job, const clv_matrix *points, clv_affinity_options *how,
                             clv_affinity **out);

/* Several processes (ranks.c): whether they share the work of the job, or else the sentence that the first one does it
 * all; whether all have read the same; and what cli_job_takes_too_long finds, for all of them. */
bool cli_job_is_shared(const cli_job *job);
/* --groups, of the processes that share a job: from before the affinity is built until there is a result. */
const clv_option_table *cli_groups_table(void);
clv_status cli_groups_begin(const cli_job *job);
clv_status cli_groups_end(const cli_job *job, clv_status status);
/* A failure or a stop of one group is that of all. */
clv_status cli_groups_meet(const cli_job *job, clv_status status);
void cli_job_tell_alone(const cli_job *job);
/* Whether all were given the same options, and what of those that may differ is that of the first; whether all have
 * read the same data. */
clv_status cli_job_agree(cli_job *job);
clv_status cli_job_compare(const cli_job *job);
/* The kind of the affinity, where that is left open. */
clv_status cli_choose_affinity(cli_job *job, clv_affinity_options *how);
clv_status cli_decide_affinity(cli_job *job, clv_affinity_options *how, bool *late);

/* Whether the labels in `path` can stand beside all columns of `from`. */
clv_status cli_check_output_data(const cli_app *app, const char *path, const char *from);
/* Report what the job would allocate (dryrun.c). */
clv_status cli_job_forecast(const cli_job *job);

/* What was used of a table, and what may be wrong with it, on standard error; NULL: nothing was read. */
void cli_tell_note(const char *path, const clv_data *data);
void cli_tell_warning(const char *path, const clv_data *data);

/* Labels from a file, one for each of the n rows of the file of `of`, in their order: matched by their ids where both
 * files have them. `what` names the option in messages. *kept, unless NULL: the rows of the file, and its column that
 * was taken (clv_data_column). */
clv_status cli_read_labels_by_id(const cli_app *app, const char *what, const char *path,
                                 const clv_label_request *request, const clv_data *of, int64_t n, clv_data **kept,
                                 int32_t **out, bool *by_id);
/* The rows of what was read become the objects of `of`: in the order of their ids where both files have them, and those
 * that were kept alone. A vector that lies in a row stays as it is. */
clv_status cli_take_rows(const cli_app *app, const clv_data *of, clv_data *read, bool *by_id);
/* labels[i] becomes labels[rows[i]]; NULL: nothing changes. */
clv_status cli_order_labels(const cli_app *app, const int64_t *rows, int64_t n, int32_t *labels);
/* Whether objects are the columns of the data, by what the option "transposed" says; NULL: there is none. */
bool cli_is_transposed(const char *said);
/* Refuse options that do not go with a given similarity. */
clv_status cli_check_precomputed(const cli_app *app, const clv_affinity_options *how, const cli_points_options *points);

#endif
