/* Classifications (classes.c), for cleave eval. */
#ifndef CLEAVE_CLI_EVAL_H
#define CLEAVE_CLI_EVAL_H

#include "cli.h"

/* How often a class was predicted for objects of each class. */
typedef struct cli_classes {
    const cli_app *app;
    const char *const *paths;      /* TRUTH and LABELS */
    clv_label_request requests[2]; /* their columns */
    clv_data *files[2];            /* owned */
    int64_t n, count, compared;
    bool leaves_out; /* a label of -1 is no class */
    bool by_id;      /* how the rows of both files were matched */
    char **names;    /* of the classes in both files; owned */
    int64_t *table;  /* count x count, the true class first; owned */
} cli_classes;

clv_status cli_classes_read(cli_classes *classes);
void cli_classes_free(cli_classes *classes);
/* Printers of a cli_classes. */
void cli_classes_print_json(FILE *stream, const void *what);
void cli_classes_print_table(FILE *stream, const void *what);

/* Which column of a file was taken, for the table; those of both, for the JSON result. */
void cli_print_column(FILE *stream, const clv_data *of, const char *path);
void cli_print_columns_json(FILE *stream, const clv_data *truth, const clv_data *labels);

#endif
