/* Manual pages, from the same tables as the help: `cleave man` is cleave(1), `cleave man ncut` cleave-ncut(1). The
 * build writes them all (cmake/CleaveManual.cmake), and the install puts them where man looks. */
#include "cli.h"

#include <string.h>

/* When what is written here, and not in the tables, was last changed. */
#define CHANGED "2026-11-16"

/* One character, so that it stays what it is: man makes quotes and hyphens of others. */
static void put_character(char c) {
    static const char *const glyphs[] = {"\\\\e", "-\\-", "'\\(aq", "`\\(ga", "^\\(ha", "~\\(ti"};
    for (size_t i = 0; i < CLI_COUNT(glyphs); i++) {
        if (glyphs[i][0] == c) {
            fputs(glyphs[i] + 1, stdout);
            return;
        }
    }
    putchar(c);
}

static void put_text(const char *text) {
    if (*text == '.' || *text == '\'') {
        fputs("\\&", stdout); /* would be a request */
    }
    for (; *text; text++) {
        put_character(*text);
    }
}

/* Words, a line of the page for some of them: text is filled anyway. */
static void put_words(const char *text) {
    enum { WIDTH = 72 };
    size_t used = 0;
    while (*text) {
        size_t length = strcspn(text, " \n");
        bool fits = used > 0 && used + length < WIDTH && *text != '.' && *text != '\'';
        fputs(used == 0 ? "" : fits ? " " : "\n", stdout);
        used = fits ? used + 1 + length : length;
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        put_text(word);
        text += length;
        text += strspn(text, " \n");
    }
    putchar('\n');
}

/* Paragraphs, with a blank line between them. */
static void put_paragraphs(const char *text) {
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        char paragraph[2048];
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, text);
        put_words(paragraph);
        text += length;
        text += strspn(text, "\n");
        if (*text) {
            printf(".PP\n");
        }
    }
}

/* Lines as they are. */
static void put_lines(const char *text) {
    printf(".EX\n");
    while (*text) {
        size_t length = strcspn(text, "\n");
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        put_text(line + strspn(line, " "));
        putchar('\n');
        text += length + (text[length] == '\n');
    }
    printf(".EE\n");
}

static void put_title(const char *command, const char *summary) {
    printf(".TH CLEAVE%s", command ? "\\-" : "");
    for (const char *at = command ? command : ""; *at; at++) {
        putchar(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
    }
    printf(" 1 " CHANGED " \"cleave %s\" \"User Commands\"\n.SH NAME\ncleave%s%s \\- ", clv_version(),
           command ? "\\-" : "", command ? command : "");
    put_text(summary);
    printf("\n.SH SYNOPSIS\n.B cleave%s%s\n", command ? " " : "", command ? command : "");
}

static void put_option(const clv_option *option, const void *options, bool required) {
    char text[1024];
    const char *meta = cli_option_meta(option);
    printf(".TP\n");
    if (option->letter) {
        printf("\\fB\\-%c\\fR, ", option->letter);
    }
    printf("\\fB\\-\\-");
    put_text(option->name);
    printf("\\fR");
    if (meta) {
        printf(" \\fI");
        put_text(meta);
        printf("\\fR");
    }
    putchar('\n');
    cli_describe_option(option, options, required, text, sizeof text);
    put_words(text);
}

static void put_command(const cli_args *args) {
    const cli_command *command = args->command;
    put_title(command->name, command->summary);
    for (size_t i = 0; i < CLI_OPERANDS && command->operands[i]; i++) {
        printf(".I ");
        put_text(command->operands[i]);
        putchar('\n');
    }
    printf("[options]\n.SH DESCRIPTION\n");
    put_paragraphs(command->about);
    if (command->about_data) {
        printf(".PP\n");
        put_paragraphs(command->about_data);
    }
    printf(".SH OPTIONS\nDefaults are in [brackets].\n");
    for (size_t g = 0; g < args->group_count; g++) {
        const clv_option_table *table = args->groups[g].table;
        printf(".SS %s\n", table->title);
        for (size_t i = 0; i < table->count; i++) {
            const clv_option *option = &table->options[i];
            put_option(option, args->groups[g].options, cli_must_be_given(args, option));
        }
    }
    printf(".SH EXAMPLES\n");
    put_lines(command->examples);
    printf(".SH SEE ALSO\n.BR cleave (1)\n");
}

static const char *const helpers[][2] = {{"help", "all commands, or every option of one"},
                                         {"man", "the manual page of a command"},
                                         {"completion", "a script that completes commands in a shell"}};

/* From "Usage: cleave NAME [...]\n\nAbout.\n\nExample:\n  ...\n". */
static void put_helper(const char *name, const char *summary) {
    static const char usage[] = "Usage: cleave ", example[] = "\nExample:\n";
    const char *text = cli_help_of_helper(name), *about = strstr(text, "\n\n") + 2, *shown = strstr(about, example);
    char part[1024];
    put_title(name, summary);
    snprintf(part, sizeof part, "%.*s", (int)(about - 2 - text - sizeof usage + 1 - strlen(name)),
             text + sizeof usage - 1 + strlen(name));
    put_words(part + strspn(part, " "));
    printf(".SH DESCRIPTION\n");
    snprintf(part, sizeof part, "%.*s", shown ? (int)(shown - about) : (int)strlen(about), about);
    put_paragraphs(part);
    if (shown) {
        printf(".SH EXAMPLES\n");
        put_lines(shown + sizeof example - 1);
    }
    printf(".SH SEE ALSO\n.BR cleave (1)\n");
}

static void put_program(const cli_command *commands, size_t count) {
    put_title(NULL, "clustering by optimization, with certificates");
    printf(".I COMMAND\n\\&... [options]\n.SH DESCRIPTION\n");
    put_paragraphs(
        "cleave solves the problem behind a clustering method, and says with every answer how good it is: the "
        "objective, a certificate of local optimality, and where there is one a bound on the global optimum. Both "
        "are recomputed from the data at the end of a run, and once more by cleave verify from the raw file.");
    printf(".SH COMMANDS\n");
    for (size_t i = 0; i < count; i++) {
        printf(".TP\n.BR cleave\\-%s (1)\n", commands[i].name);
        put_words(commands[i].summary);
    }
    printf(".PP\n.B cleave help\n.I COMMAND\nsays the same on the screen,\n.B cleave completion\n.I SHELL\n"
           "prints a script for bash, zsh or fish.\n.SH EXIT STATUS\n");
    put_words(cli_program_statuses + strspn(cli_program_statuses, " "));
    printf(".SH ENVIRONMENT\n.TP\n.B CLEAVE_ISA\n");
    put_words("the instruction set to compute with, where it is to be less than the best of the machine");
    printf(".TP\n.B OMP_NUM_THREADS\n");
    put_words("the number of threads where --threads does not say it");
    printf(".TP\n.B NO_COLOR\nno colors on a terminal\n.SH EXAMPLES\n");
    put_lines(cli_program_examples);
    printf(".SH SEE ALSO\n");
    for (size_t i = 0; i < count; i++) {
        printf(".BR cleave\\-%s (1)%s\n", commands[i].name, i + 1 < count ? "," : "");
    }
}

int cli_man(cli_app *app, const cli_command *commands, size_t count, int argc, char **argv) {
    const cli_command *command = argc == 1 ? cli_command_find(argv[0]) : NULL;
    if (argc == 0) {
        put_program(commands, count);
        return cli_exit_status(cli_flush(app));
    }
    if (argc == 1 && strcmp(argv[0], "--list") == 0) {
        for (size_t i = 0; i < count; i++) {
            printf("%s\n", commands[i].name);
        }
        for (size_t i = 0; i < CLI_COUNT(helpers); i++) {
            printf("%s\n", helpers[i][0]);
        }
        return cli_exit_status(cli_flush(app));
    }
    for (size_t i = 0; argc == 1 && i < CLI_COUNT(helpers); i++) {
        if (strcmp(argv[0], helpers[i][0]) == 0) {
            put_helper(helpers[i][0], helpers[i][1]);
            return cli_exit_status(cli_flush(app));
        }
    }
    if (!command) {
        return cli_exit_status(cli_fail(app, CLV_EUSAGE,
                                        "man takes the name of one command, not '%s' (see cleave --help)",
                                        argc > 1 ? argv[1] : argv[0]));
    }
    clv_status status = cli_tell_all(app, command, 1, put_command);
    return cli_exit_status(status < 0 ? status : cli_flush(app));
}
