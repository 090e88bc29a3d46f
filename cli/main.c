/* cleave: the command. Its subcommands are the methods of the library, and a few others with a file each. */
#include "job.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One command per method, then the others. */
enum { MOST_COMMANDS = 32 };
static cli_command commands[MOST_COMMANDS];
static size_t command_count;

static void list_commands(void) {
    const cli_command *const others[] = {&cli_affinity,        &cli_segment, &cli_text, &cli_eval,
                                         &cli_predict_command, &cli_verify,  &cli_demo};
    size_t methods;
    const clv_method *const *list = clv_methods(&methods);
    for (size_t i = 0; i < methods && command_count < MOST_COMMANDS; i++) {
        commands[command_count++] = cli_method_command(list[i]);
    }
    for (size_t i = 0; i < CLI_COUNT(others) && command_count < MOST_COMMANDS; i++) {
        commands[command_count++] = *others[i];
    }
}

const cli_command *cli_command_find(const char *name) {
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static clv_status unknown_command(const cli_app *app, const char *typed) {
    cli_nearest nearest = {.typed = typed};
    for (size_t i = 0; i < command_count; i++) {
        cli_nearest_offer(&nearest, commands[i].name);
    }
    const char *known = cli_synonym(typed);
    char phrase[96];
    if (known && cli_command_find(known)) {
        snprintf(phrase, sizeof phrase, "; did you mean %s", known);
    } else {
        cli_nearest_phrase(&nearest, "", phrase, sizeof phrase);
    }
    return cli_fail(app, CLV_EUSAGE, "there is no command '%s'%s (see cleave --help)", typed, phrase);
}

/* CLEAVE_ISA names an instruction set that this machine has, or nothing. */
static clv_status check_isa(const cli_app *app) {
    const char *asked = getenv("CLEAVE_ISA");
    char names[64] = "";
    if (!asked || !*asked || strcmp(asked, clv_isa()) == 0) {
        return CLV_OK;
    }
    for (int i = 0; clv_isa_name(i); i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", clv_isa_name(i));
    }
    return cli_fail(app, CLV_EUSAGE, "CLEAVE_ISA=%s: this machine has %s; unset it to use the best", asked, names);
}

static clv_status check_variables(const cli_app *app) {
    const char *joins = getenv("CLEAVE_MPI");
    bool known = !joins || !*joins || strcmp(joins, "0") == 0 || strcmp(joins, "1") == 0;
    return known ? check_isa(app) : cli_fail(app, CLV_EUSAGE, "CLEAVE_MPI=%s: it must be 0 or 1", joins);
}

static int run_command(cli_app *app, const char *name, int argc, char **argv) {
    const cli_command *command = cli_command_find(name);
    if (!command) {
        return cli_exit_status(unknown_command(app, name));
    }
    clv_status status = check_variables(app);
    if (status < 0) {
        return cli_exit_status(status);
    }
    app->command = command->name;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--progress=json") == 0) { /* all that is said from here on, mistakes in options too */
            cli_tell_as_json();
        }
    }
    int code = command->run(app, command, argc, argv);
    cli_tell_end(app, code);
    return code;
}

/* Those that are no work of their own, and have no options: NULL if it is none of them. */
const char *cli_help_of_helper(const char *name) {
    static const struct {
        const char *name, *text;
    } helpers[] = {
        {"help",
         "Usage: cleave help [COMMAND]\n\nAll commands, or every option of one, with its default, and examples.\n"},
        {"man", "Usage: cleave man [COMMAND | --list]\n\nThe manual page of a command, or of the program; --list: the "
                "names of the commands.\n\nExample:\n  cleave man ncut | man -l -\n"},
        {"completion", "Usage: cleave completion [bash | zsh | fish]\n\nA script that completes commands, options and "
                       "their values in that shell; without a name, in bash.\n\nExample:\n"
                       "  source <(cleave completion bash)\n"},
    };
    for (size_t i = 0; i < CLI_COUNT(helpers); i++) {
        if (strcmp(helpers[i].name, name) == 0) {
            return helpers[i].text;
        }
    }
    return NULL;
}

static bool asks_for_help(const char *word) {
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int help(cli_app *app, int argc, char **argv) {
    char *asking[] = {"--help", NULL};
    const char *text = argc > 0 ? cli_help_of_helper(argv[0]) : NULL;
    if (text) {
        fputs(text, stdout);
        return cli_exit_status(cli_flush(app));
    }
    if (argc > 0) {
        return run_command(app, argv[0], 1, asking);
    }
    return cli_exit_status(cli_help_program(app, commands, command_count));
}

static int dispatch(cli_app *app, int argc, char **argv) {
    if (argc < 2) {
        return cli_exit_status(
            cli_fail(app, CLV_EUSAGE, "a command is missing (see cleave --help, or try cleave demo)"));
    }
    if (argc == 3 && asks_for_help(argv[2]) && cli_help_of_helper(argv[1])) {
        return help(app, 1, argv + 1);
    }
    if (asks_for_help(argv[1]) || strcmp(argv[1], "help") == 0) {
        return help(app, argc - 2, argv + 2);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("cleave %s\n", clv_version());
        return cli_exit_status(cli_flush(app));
    }
    if (strcmp(argv[1], "completion") == 0) {
        return cli_completion(app, commands, command_count, argc - 2, argv + 2);
    }
    if (strcmp(argv[1], "man") == 0) {
        return cli_man(app, commands, command_count, argc - 2, argv + 2);
    }
    if (argv[1][0] == '-') {
        return cli_exit_status(cli_fail(
            app, CLV_EUSAGE, "'%s' is not a command: the first argument must be one (see cleave --help)", argv[1]));
    }
    return run_command(app, argv[1], argc - 2, argv + 2);
}

/* OpenBLAS starts its threads when it is loaded, and these spin for a tenth of a second before they sleep: longer than
 * many a run, on cores that our own threads need. The library runs BLAS on one thread anyway, and this process is ours,
 * so they are sent home; where BLAS is another one, nothing is found and nothing done. */
static void end_blas_threads(void) {
    void (*limit)(int) = NULL;
    int (*end)(void) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    memcpy(&limit, &found, sizeof limit); /* ISO C has no cast from an object to a function */
    found = dlsym(RTLD_DEFAULT, "blas_thread_shutdown_");
    memcpy(&end, &found, sizeof end);
    if (limit && end) {
        limit(1);
        end();
    }
}

/* Where OpenBLAS did not recognize the processor, the command begins again and tells it; if that cannot be done, it
 * goes on, only slower. Whoever has set the variable knows better. */
static void suit_blas(char **argv) {
    const char *core = getenv("OPENBLAS_CORETYPE") ? NULL : clv_blas_core();
    char path[4096]; /* its own: what is listed of processes is the name at the end of it */
    ssize_t length = core ? readlink("/proc/self/exe", path, sizeof path - 1) : -1;
    if (length > 0 && setenv("OPENBLAS_CORETYPE", core, 1) == 0) {
        path[length] = '\0';
        execv(path, argv);
    }
}

/* Methods may share their work with other processes; whatever else there is, the first one does. */
static bool is_method(const cli_app *app, int argc, char **argv) {
    return cli_ranks(app) == 1 || (argc > 1 && clv_method_find(argv[1]));
}

int main(int argc, char **argv) {
    suit_blas(argv);
    end_blas_threads();
    list_commands();
    cli_app app = {.program = argc > 0 ? argv[0] : "cleave", .started = cli_seconds()};
    clv_status status = clv_context_new(NULL, &app.ctx);
    if (status < 0) {
        return cli_exit_status(cli_fail(&app, status, "out of memory%s", cli_launched_place()));
    }
    cli_signals_catch(app.ctx);
    status = cli_ranks_join(&app, argc > 1 ? argv[1] : "");
    int code = status < 0                    ? cli_exit_status(status)
               : is_method(&app, argc, argv) ? dispatch(&app, argc, argv)
                                             : cli_first_alone(&app, dispatch, argc, argv);
    code = cli_ranks_leave(&app, code);
    clv_context_free(app.ctx);
    return code;
}
