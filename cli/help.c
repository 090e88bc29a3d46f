/* Help: made from the same option tables as the parser, so that it cannot fall behind. */
#include "cli.h"

#include <string.h>

enum { WIDTH = 96, COLUMN = 30 };

/* Words from `at` on, from screen column `used`, wrapped at WIDTH with an indent of COLUMN. */
static void print_wrapped(const char *at, size_t used) {
    while (*at) {
        size_t word = strcspn(at, " ");
        if (used > COLUMN && used + 1 + word > WIDTH) {
            printf("\n%*s", COLUMN, "");
            used = COLUMN;
        } else if (used > COLUMN) {
            putchar(' ');
            used++;
        }
        printf("%.*s", (int)word, at);
        used += word;
        at += word;
        at += strspn(at, " ");
    }
    putchar('\n');
}

/* A default out of the range must be replaced, unless a word stands for it; "auto" of k is a range, which is asked for.
 */
bool cli_is_required(const clv_option *option) {
    bool named = option->word && option->word_value == option->initial;
    bool asked = strcmp(option->name, "k") == 0 && named && strcmp(option->word, "auto") == 0;
    return option->kind == CLV_OPTION_INT && option->initial < option->least && (!named || asked);
}

bool cli_must_be_given(const cli_args *args, const clv_option *option) {
    return cli_is_required(option) && (!args->k_optional || args->k_ranges); /* what ranges has no k of its own */
}

void cli_describe_option(const clv_option *option, const void *options, bool required, char *text, size_t size) {
    char initial[128] = "";
    clv_options_print(option, options, initial, sizeof initial);
    if (option->kind == CLV_OPTION_CHOICE) {
        size_t used = (size_t)snprintf(text, size, "%s (", option->help);
        for (const char *at = option->choices; *at && used + 3 < size; at++) {
            used += (size_t)snprintf(text + used, size - used, *at == '|' ? ", " : "%c", *at);
        }
        snprintf(text + used, size - used, ") [%s]", initial);
    } else if (option->kind == CLV_OPTION_FLAG) {
        /* Most are off and need no word about it. */
        bool on = strcmp(initial, "true") == 0;
        snprintf(text, size, "%s%s", option->help, on ? " [on]" : "");
        if (option->off) {
            snprintf(text, size, "%s; or --%s [--%s]", option->help, option->off, on ? option->name : option->off);
        }
    } else {
        snprintf(text, size, "%s%s%s%s", option->help,
                 required   ? " (required)"
                 : *initial ? " ["
                            : "",
                 required ? "" : initial, !required && *initial ? "]" : "");
    }
}

const char *cli_option_meta(const clv_option *option) {
    return option->meta ? option->meta : option->kind == CLV_OPTION_CHOICE ? "NAME" : NULL;
}

static void print_option(const clv_option *option, const void *options, bool required) {
    char head[128], text[512];
    char letter[8] = "    ";
    if (option->letter) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    const char *meta = cli_option_meta(option);
    bool word = option->kind == CLV_OPTION_FLAG && option->choices;
    int used = snprintf(head, sizeof head, "  %s--%s%s%s%s", letter, option->name,
                        meta   ? " "
                        : word ? "[="
                               : "",
                        meta   ? meta
                        : word ? option->choices
                               : "",
                        word ? "]" : "");
    cli_describe_option(option, options, required, text, sizeof text);
    if (used >= COLUMN) {
        printf("%s\n%*s", head, COLUMN, "");
    } else {
        printf("%-*s", COLUMN, head);
    }
    print_wrapped(text, COLUMN);
}

static void print_title(const char *title, const char *rest) {
    printf("\n%s%s%s%s\n", cli_styled(CLI_BOLD), title, rest, cli_styled(CLI_PLAIN));
}

clv_status cli_help_command(const cli_app *app, const cli_args *args) {
    const cli_command *command = args->command;
    if (app->tell) {
        app->tell(args);
        return cli_flush(app);
    }
    printf("cleave %s: %s\n\nUsage: cleave %s", command->name, command->summary, command->name);
    for (size_t i = 0; i < CLI_OPERANDS && command->operands[i]; i++) {
        printf(" %s", command->operands[i]);
    }
    printf(" [options]\n\n%s", command->about);
    if (command->about_data) {
        printf("\n%s", command->about_data);
    }
    for (size_t g = 0; g < args->group_count; g++) {
        const clv_option_table *table = args->groups[g].table;
        print_title("Options: ", table->title);
        for (size_t i = 0; i < table->count; i++) {
            bool required = cli_must_be_given(args, &table->options[i]);
            print_option(&table->options[i], args->groups[g].options, required);
        }
    }
    printf("\nDefaults are in [brackets].\n");
    print_title("Examples", "");
    printf("%s", command->examples);
    return cli_flush(app);
}

const char cli_program_examples[] =
    "  cleave demo                                          see it work, no data needed\n"
    "  cleave ncut points.csv -k 3 -o labels.csv            cluster a table into three\n"
    "  cleave ncut points.csv -k 3 --json result.json       the whole result, with its certificate\n"
    "  cleave verify result.json points.csv                 check that result against the data\n";

const char cli_program_statuses[] =
    "  0 done, also when a limit stopped it; 64 usage; 65 bad data; 66 no such input; 70 internal error;\n"
    "  71 out of memory; 73 output cannot be written; 74 input/output error; 75 the time limit passed\n"
    "  before there was a result; 130 interrupted, with the best result written. verify: 0 accepted,\n"
    "  1 rejected.\n";

clv_status cli_help_program(const cli_app *app, const cli_command *commands, size_t count) {
    printf("cleave %s: clustering by optimization, with certificates\n\n"
           "Usage: cleave COMMAND ... [options]\n",
           clv_version());
    print_title("Commands", "");
    for (size_t i = 0; i < count; i++) {
        char head[64];
        const char *first = commands[i].operands[0], *second = commands[i].operands[1];
        snprintf(head, sizeof head, "%s %s %s", commands[i].name, first ? first : "", second ? second : "");
        printf("  %-26s%s\n", head, commands[i].summary);
    }
    print_title("Help", "");
    printf("  cleave help COMMAND       every option of a command, with its default, and examples\n"
           "  cleave --version          the version\n"
           "  cleave man COMMAND        the same as a manual page: cleave man ncut | man -l -\n"
           "  cleave completion SHELL   a script for bash, zsh or fish: source <(cleave completion bash)\n");
    print_title("Examples", "");
    printf("%s", cli_program_examples);
    print_title("Exit status", "");
    printf("%s", cli_program_statuses);
    return cli_flush(app);
}
