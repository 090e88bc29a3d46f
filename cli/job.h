/* A job: what every method command does around its method, from the arguments to the files written. */
#ifndef CLEAVE_CLI_JOB_H
#define CLEAVE_CLI_JOB_H

#include "cli.h"

/* The options of any method; a new method adds its struct. All begin with a clv_control. */
typedef union cli_method_options {
    clv_control control;
    clv_ncut_options ncut;
    clv_symnmf_options symnmf;
    clv_dominant_options dominant;
    clv_kpalm_options kpalm;
    clv_ksupport_options ksupport;
    clv_pursuit_options pursuit;
} cli_method_options;

typedef struct cli_job cli_job;

/* A file that an option of a command alone names: read, or else written. */
typedef struct cli_own_file {
    const char *name, *path, *endings; /* of the option; NULL: not given; "npy|csv", NULL: any */
    bool input;
} cli_own_file;
enum { CLI_OWN_FILES = 4 };

/* What a method brings along. */
typedef struct cli_method {
    const cli_command *command;
    const clv_option_table *(*table)(void);
    void (*defaults)(cli_method_options *options);
    /* Check what the arguments alone can tell, before anything is read. */
    clv_status (*check)(const cli_job *job);
    /* Check the options against the data; read what an option names. */
    clv_status (*prepare)(cli_job *job);
    /* Bytes that the method holds besides the points (scaled; with --affinity precomputed, the similarity) and the
     * affinity; home AUTO: what it needs on any. */
    size_t (*memory)(const clv_matrix *points, clv_home home, const cli_method_options *options);
    /* Set what the method asks of its affinity where the arguments leave it open; NULL: nothing. */
    clv_status (*adapt)(const cli_job *job, clv_affinity_options *how);
    /* Run on job->affinity, or on job->data where points_only. `options` are those of the job with what remains of the
     * time, the monitor and the threads that fit. */
    clv_status (*solve)(const cli_job *job, const cli_method_options *options, clv_result **out);
    /* Labels of the rows of job->fresh; NULL: the method has no labels for new objects. */
    clv_status (*predict)(const cli_job *job, int32_t *labels);
    /* The same with memberships, rows of fresh x job->result->k numbers; NULL: the method has none for new objects. */
    clv_status (*predict_membership)(const cli_job *job, int32_t *labels, double *membership);
    /* Options of the command alone, of job->own; NULL: none. `finish` writes what they ask for, after all else. */
    const clv_option_table *(*own)(void);
    clv_status (*finish)(const cli_job *job);
    /* The files that they name, into a list of zeros; NULL: none. */
    void (*own_files)(const cli_job *job, cli_own_file list[CLI_OWN_FILES]);
    const char *(*predict_file)(const cli_job *job); /* another file for results of new objects; NULL: there is none */
    bool points_only; /* works on the points themselves: no affinity, and none of its options */
    bool maps;        /* reads the points one after the other: a file larger than the budget is mapped */
    unsigned outputs; /* CLI_LABELS and others: what the command can write */
} cli_method;

/* New objects to label, and where to. */
typedef struct cli_predict_options {
    const char *input, *output, *membership; /* files, or NULL */
} cli_predict_options;

/* Options that a command has beside those of its method: files, or NULL. */
typedef union cli_own_options {
    struct {
        const char *path, *path_output, *validation_x, *validation_y, *scores;
    } ksupport;
    struct {
        const char *graph;
    } pursuit;
} cli_own_options;

struct cli_job {
    const cli_app *app;
    const cli_method *method;
    cli_args args;
    cli_points_options points;
    clv_affinity_options how;
    cli_method_options options; /* as given: what the report lists */
    cli_output_options output;
    cli_output_room output_room;
    cli_predict_options prediction;
    cli_own_options own;
    clv_data *data;                 /* the first operand; a method's `prepare` reads the second */
    clv_data *fresh;                /* new objects, or NULL */
    const char *const *class_names; /* of the targets, borrowed from `extra`; NULL: numbers */
    clv_data *extra[4];             /* owned: what `prepare` read besides (a second operand, a start), or NULL */
    int32_t *truth_read;            /* owned; NULL when the labels came with the data */
    const int32_t *truth;           /* NULL: none */
    int32_t *start_labels;          /* owned, from --start FILE, or NULL */
    double *start_membership;       /* likewise */
    double *start_weights;          /* likewise */
    clv_affinity *affinity;
    clv_affinity_info info;
    clv_result *result;
    clv_scores scores; /* valid when there is a truth */
    double silhouette; /* NaN: none */
    double load_seconds, affinity_seconds;
};

/* The steps in their order; each needs the one before it. A job is closed in any state. */
clv_status cli_job_open(const cli_app *app, const cli_method *method, int argc, char **argv, cli_job *job);
clv_status cli_job_load(cli_job *job);  /* check the targets; read, scale */
clv_status cli_job_plan(cli_job *job);  /* whether the method fits the budget, and what the affinity will be */
clv_status cli_job_solve(cli_job *job); /* affinity, method, metrics */
clv_status cli_job_write(cli_job *job); /* all outputs; goes on after a failed one and returns the first failure */
void cli_job_close(cli_job *job);

/* Parts of these steps (run.c, results.c). */
const clv_option_table *cli_job_how_table(const cli_job *job); /* the options of the affinity, or of memory alone */
const clv_option_table *cli_job_points_table(const cli_job *job);
size_t cli_job_memory(const cli_job *job, const cli_method_options *options); /* of the method, as planned */
clv_status cli_job_check_targets(const cli_job *job);

extern const cli_method cli_ncut_method, cli_symnmf_method;

/* All of it: the run of a method's command. */
int cli_job_run(const cli_app *app, const cli_method *method, int argc, char **argv);

/* New objects (predict.c): the options, whether they go together, reading, labels to their file. */
const clv_option_table *cli_predict_table(const cli_method *method);
clv_status cli_predict_check(const cli_job *job);
clv_status cli_predict_read(cli_job *job, const clv_read_options *reading);
clv_status cli_predict_write(const cli_job *job);

/* Report what the job would allocate (dryrun.c). */
clv_status cli_job_forecast(const cli_job *job);

/* Labels from a file, which must have one for each of n objects. `what` names the option in messages. */
clv_status cli_read_labels_of(const cli_app *app, const char *what, const char *path, int64_t n, int32_t **out);
/* Refuse options that do not go with a given similarity. */
clv_status cli_check_precomputed(const cli_app *app, const clv_affinity_options *how, const cli_points_options *points);

#endif
