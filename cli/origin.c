/* Where a page comes from: the files that were read, the command that was typed, and the day. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A word as a shell takes it: in quotes unless it holds nothing but what needs none. */
static void put_word(FILE *stream, const char *word) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+,./:@%";
    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, stream);
        return;
    }
    putc('\'', stream);
    for (; *word; word++) {
        if (*word == '\'') {
            fputs("'\\''", stream);
        } else {
            putc(*word, stream);
        }
    }
    putc('\'', stream);
}

static void print_command(FILE *stream, const void *what) {
    const cli_args *args = what;
    fprintf(stream, "cleave %s", args->command->name);
    for (int i = 0; i < args->argc; i++) {
        putc(' ', stream);
        put_word(stream, args->argv[i]);
    }
}

static void print_source(FILE *stream, const void *what) {
    enum { NAMED = 8 };
    const char *files[CLI_OPERANDS + CLI_MORE];
    size_t count = cli_args_files(what, 0, files), named = count > NAMED ? NAMED : count;
    for (size_t i = 0; i < named; i++) {
        fprintf(stream, "%s%s", i > 0 ? ", " : "", cli_input_name(files[i]));
    }
    if (named < count) {
        fprintf(stream, " and %zu more", count - named);
    }
}

/* From malloc; NULL: there is no memory for it. */
static char *printed(cli_printer print, const void *what) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) {
        return NULL;
    }
    print(stream, what);
    if (fclose(stream) != 0) {
        free(text);
        text = NULL;
    }
    return text;
}

void cli_origin_find(cli_origin *origin, const cli_args *args) {
    time_t now = time(NULL);
    struct tm parts;
    *origin = (cli_origin){.source = printed(print_source, args), .command = printed(print_command, args)};
    if (gmtime_r(&now, &parts)) {
        strftime(origin->date, sizeof origin->date, "%Y-%m-%d %H:%M UTC", &parts);
    }
}

void cli_origin_free(cli_origin *origin) {
    free(origin->source);
    free(origin->command);
}
