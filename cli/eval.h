/* Classifications (classes.c), for cleave eval. */
#ifndef CLEAVE_CLI_EVAL_H
#define CLEAVE_CLI_EVAL_H

#include "cli.h"

/* How often a class was predicted for objects of each class. */
typedef struct cli_classes {
    const cli_app *app;
    int64_t n, count;
    bool by_id;     /* how the rows of both files were matched */
    char **names;   /* of the classes in both files; owned */
    int64_t *table; /* count x count, the true class first; owned */
} cli_classes;

clv_status cli_classes_read(cli_classes *classes, const char *truth, const char *predicted);
void cli_classes_free(cli_classes *classes);
/* Printers of a cli_classes. */
void cli_classes_print_json(FILE *stream, const void *what);
void cli_classes_print_table(FILE *stream, const void *what);

#endif
