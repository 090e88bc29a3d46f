/* What the files of cleave demo share: demo.c is the command, demo_data.c its data sets. */
#ifndef CLEAVE_CLI_DEMO_H
#define CLEAVE_CLI_DEMO_H

#include "cli.h"

#include <string.h>

/* A file that comes with the program; one of the functions writes it. */
typedef struct demo_file {
    const char *name;
    cli_printer print;
    clv_status (*write)(const cli_app *app, const char *path);
    clv_status (*change)(const cli_app *app, const char *from, const char *path);
    const char *of; /* what `change` reads: a file that a run before has written */
} demo_file;

extern const demo_file demo_files[];
extern const size_t demo_file_count;

#endif
