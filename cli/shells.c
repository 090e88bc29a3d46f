/* What bash, zsh and fish complete: commands, options and their values, from the same tables as the help. */
#include "cli.h"

#include <string.h>

/* --- text between single quotes, in which `special` characters take a backslash --- */

static void put_quoted(const char *text, const char *quote, const char *special) {
    for (; *text; text++) {
        if (*text == '\'') {
            fputs(quote, stdout);
        } else {
            printf("%s%c", strchr(special, *text) ? "\\" : "", *text);
        }
    }
}

static void put_choices(const clv_option *option) {
    for (const char *at = option->choices; *at; at++) {
        putchar(*at == '|' ? ' ' : *at);
    }
}

/* Whether what stands for the value is the name of a file. */
static bool takes_file(const clv_option *option) {
    return option->kind == CLV_OPTION_TEXT && option->meta && strstr(option->meta, "FILE");
}

/* The name that clears a flag, in two parts: "no-" and its name, or "" and another. */
static const char *cleared(const clv_option *option, const char **before) {
    *before = option->off ? "" : "no-";
    return option->off ? option->off : option->name;
}

/* --- bash --- */

static void put_bash_names(const clv_option_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        const clv_option *option = &table->options[i];
        const char *before, *off = cleared(option, &before);
        printf(" --%s", option->name);
        if (option->kind == CLV_OPTION_FLAG && option->choices) {
            printf(" --%s=%s", option->name, option->choices);
        }
        if (option->kind == CLV_OPTION_FLAG) {
            printf(" --%s%s", before, off);
        }
    }
}

/* The names of a choice as words, after the option that takes them; of a file none, so that bash completes files. */
static void put_bash_choices(const clv_option_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        const clv_option *option = &table->options[i];
        if (option->kind == CLV_OPTION_CHOICE) {
            printf("            --%s) words=\"", option->name);
            put_choices(option);
            printf("\" ;;\n");
        } else if (takes_file(option) && option->letter) {
            printf("            --%s | -%c) words= ;;\n", option->name, option->letter);
        } else if (takes_file(option)) {
            printf("            --%s) words= ;;\n", option->name);
        }
    }
}

static void bash_command(const cli_args *args) {
    const char *names = args->command->names;
    printf("    %s)\n        words=\"%s%s--help", args->command->name, names ? names : "", names ? " " : "");
    for (size_t g = 0; g < args->group_count; g++) {
        put_bash_names(args->groups[g].table);
    }
    printf("\"\n        case $before in\n");
    for (size_t g = 0; g < args->group_count; g++) {
        put_bash_choices(args->groups[g].table);
    }
    printf("        esac ;;\n");
}

static void put_names(const cli_command *commands, size_t count) {
    for (size_t i = 0; i < count; i++) {
        printf("%s%s", i ? " " : "", commands[i].name);
    }
}

static clv_status complete_bash(cli_app *app, const cli_command *commands, size_t count) {
    printf("# For bash: source <(cleave completion bash)\n_cleave() {\n"
           "    local words now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    case ${COMP_WORDS[1]} in\n");
    CLI_TRY(cli_tell_all(app, commands, count, bash_command));
    printf("    help | man) words=\"");
    put_names(commands, count);
    printf("\" ;;\n    completion) words=\"bash zsh fish\" ;;\n    esac\n"
           "    [ \"$COMP_CWORD\" -gt 1 ] || words=\"help man completion ");
    put_names(commands, count);
    printf("\"\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$now\")\n}\n"
           "complete -o default -F _cleave cleave\n");
    return CLV_OK;
}

/* --- zsh --- */

static void put_zsh(const char *text) {
    put_quoted(text, "'\\''", "[]:\\");
}

/* '--solver=[how a start is improved]:NAME:(fpc spectral)' */
static void put_zsh_option(const clv_option *option) {
    const char *meta = cli_option_meta(option), *before, *off = cleared(option, &before);
    if (option->letter) {
        printf(" \\\n            '-%c%s[", option->letter, meta ? "+" : "");
        put_zsh(option->help);
        printf("]%s%s%s'", meta ? ":" : "", meta ? meta : "", meta ? ": " : "");
    }
    printf(" \\\n            '--%s%s[", option->name, meta ? "=" : "");
    put_zsh(option->help);
    printf("]");
    if (meta) {
        printf(":%s:", meta);
        if (option->kind == CLV_OPTION_CHOICE) {
            printf("(");
            put_choices(option);
            printf(")");
        } else {
            printf("%s", takes_file(option) ? "_files" : " ");
        }
    }
    printf("'");
    if (option->kind == CLV_OPTION_FLAG) {
        printf(" \\\n            '--%s%s[clears --%s]'", before, off, option->name);
    }
}

static void zsh_command(const cli_args *args) {
    printf("    %s)\n        _arguments '--help[every option, and examples]'", args->command->name);
    for (size_t g = 0; g < args->group_count; g++) {
        for (size_t i = 0; i < args->groups[g].table->count; i++) {
            put_zsh_option(&args->groups[g].table->options[i]);
        }
    }
    if (args->command->names) {
        printf(" \\\n            '1:NAME:(%s)' ;;\n", args->command->names);
    } else {
        printf(" \\\n            '*:file:_files' ;;\n");
    }
}

static clv_status complete_zsh(cli_app *app, const cli_command *commands, size_t count) {
    printf("#compdef cleave\n# For zsh: source <(cleave completion zsh), after compinit\n_cleave() {\n"
           "    local -a commands=(\n        'help:every option of a command'\n        'man:the manual page of a "
           "command'\n"
           "        'completion:a script for a shell'\n");
    for (size_t i = 0; i < count; i++) {
        printf("        '%s:", commands[i].name);
        put_zsh(commands[i].summary);
        printf("'\n");
    }
    printf("    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n        return\n    fi\n"
           "    shift words\n    ((CURRENT--))\n    case $words[1] in\n");
    CLI_TRY(cli_tell_all(app, commands, count, zsh_command));
    printf("    help | man) _describe command commands ;;\n    completion) compadd bash zsh fish ;;\n    esac\n}\n"
           "if [ \"$funcstack[1]\" = _cleave ]; then\n    _cleave \"$@\"\nelse\n    compdef _cleave cleave\nfi\n");
    return CLV_OK;
}

/* --- fish --- */

static void put_fish(const char *text) {
    put_quoted(text, "\\'", "\\");
}

static void put_fish_option(const char *command, const clv_option *option) {
    const char *before, *off = cleared(option, &before);
    printf("complete -c cleave -n '__fish_seen_subcommand_from %s' -l %s", command, option->name);
    if (option->letter) {
        printf(" -s %c", option->letter);
    }
    printf(" -d '");
    put_fish(option->help);
    printf("'");
    if (option->kind == CLV_OPTION_CHOICE) {
        printf(" -x -a '");
        put_choices(option);
        printf("'");
    } else if (cli_option_meta(option)) {
        printf(takes_file(option) ? " -r" : " -x");
    }
    printf("\n");
    if (option->kind == CLV_OPTION_FLAG) {
        printf("complete -c cleave -n '__fish_seen_subcommand_from %s' -l %s%s -d 'clears --%s'\n", command, before,
               off, option->name);
    }
}

static void fish_command(const cli_args *args) {
    const char *name = args->command->name;
    printf("complete -c cleave -n __fish_use_subcommand -f -a %s -d '", name);
    put_fish(args->command->summary);
    printf("'\ncomplete -c cleave -n '__fish_seen_subcommand_from %s' -l help -d 'every option, and examples'\n", name);
    if (args->command->names) {
        printf("complete -c cleave -n '__fish_seen_subcommand_from %s' -f -a '%s'\n", name, args->command->names);
    }
    for (size_t g = 0; g < args->group_count; g++) {
        for (size_t i = 0; i < args->groups[g].table->count; i++) {
            put_fish_option(name, &args->groups[g].table->options[i]);
        }
    }
}

static clv_status complete_fish(cli_app *app, const cli_command *commands, size_t count) {
    printf("# For fish: cleave completion fish | source\n");
    CLI_TRY(cli_tell_all(app, commands, count, fish_command));
    printf("complete -c cleave -n __fish_use_subcommand -f -a 'help man completion'\n"
           "complete -c cleave -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n"
           "complete -c cleave -n '__fish_seen_subcommand_from help man' -f -a '");
    put_names(commands, count);
    printf("'\n");
    return CLV_OK;
}

/* --- all of them --- */

clv_status cli_tell_all(cli_app *app, const cli_command *commands, size_t count, void (*tell)(const cli_args *args)) {
    char *asking[] = {"--help", NULL};
    app->tell = tell;
    for (size_t i = 0; i < count; i++) {
        app->command = commands[i].name;
        if (commands[i].run(app, &commands[i], 1, asking) != 0) {
            return CLV_EIO;
        }
    }
    app->tell = NULL;
    app->command = NULL;
    return CLV_OK;
}

int cli_completion(cli_app *app, const cli_command *commands, size_t count, int argc, char **argv) {
    const struct {
        const char *name;
        clv_status (*complete)(cli_app *, const cli_command *, size_t);
    } shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};
    const char *name = argc > 0 ? argv[0] : "bash";
    for (size_t i = 0; i < CLI_COUNT(shells); i++) {
        if (argc <= 1 && strcmp(shells[i].name, name) == 0) {
            clv_status status = shells[i].complete(app, commands, count);
            return cli_exit_status(status < 0 ? status : cli_flush(app));
        }
    }
    return cli_exit_status(cli_fail(app, CLV_EUSAGE,
                                    "completion takes the name of one shell, bash, zsh or fish, not '%s'",
                                    argc > 1 ? argv[1] : name));
}
