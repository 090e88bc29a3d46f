/* Arguments: GNU-style options over option tables.
 *
 * `--name value`, `--name=value`, flags as `--name` and `--no-name` (or the name that the table gives for off), `-k 3`,
 * `-k3`, `-qv`; `--` ends the options; the last of a repeated option wins. Names are not abbreviated, so that a new
 * option cannot change what an old command line means; a wrong name is answered with the nearest right one. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct arg_cursor {
    int argc, at;
    char **argv;
} arg_cursor;

typedef struct match {
    cli_group *group;
    const clv_option *option;
    bool off; /* the name that clears a flag */
} match;

void cli_args_add(cli_args *args, const clv_option_table *table, void *options) {
    args->groups[args->group_count++] = (cli_group){.table = table, .options = options};
}

void cli_args_own(cli_args *args, const clv_option_table *table, void *options) {
    clv_options_defaults(table, options);
    cli_args_add(args, table, options);
}

bool cli_args_given(const cli_args *args, const char *name) {
    for (size_t g = 0; g < args->group_count; g++) {
        const clv_option *option = clv_options_find(args->groups[g].table, name);
        if (option) {
            return args->groups[g].given[option - args->groups[g].table->options];
        }
    }
    return false;
}

/* --- names --- */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* How far two names are apart: the insertions, deletions, changes and swaps from one to the other. A name that
 * begins with the other is near. */
static size_t name_distance(const char *typed, const char *name) {
    enum { LONGEST = 64 };
    size_t rows = strlen(typed), cols = strlen(name);
    size_t cost[3][LONGEST + 1]; /* the row before last, the last one, this one */
    if (rows > LONGEST || cols > LONGEST) {
        return LONGEST;
    }
    if (rows >= 2 && rows < cols && strncmp(typed, name, rows) == 0) {
        return 1;
    }
    for (size_t j = 0; j <= cols; j++) {
        cost[1][j] = cost[0][j] = j;
    }
    for (size_t i = 1; i <= rows; i++) {
        cost[2][0] = i;
        for (size_t j = 1; j <= cols; j++) {
            bool same = typed[i - 1] == name[j - 1] || (typed[i - 1] == '_' && name[j - 1] == '-');
            size_t changed = cost[1][j - 1] + !same;
            cost[2][j] = least(changed, least(cost[1][j], cost[2][j - 1]) + 1);
            if (i > 1 && j > 1 && typed[i - 1] == name[j - 2] && typed[i - 2] == name[j - 1]) {
                cost[2][j] = least(cost[2][j], cost[0][j - 2] + 1);
            }
        }
        memcpy(cost[0], cost[1], sizeof cost[0]);
        memcpy(cost[1], cost[2], sizeof cost[1]);
    }
    return cost[1][cols];
}

void cli_nearest_offer(cli_nearest *nearest, const char *name) {
    size_t distance = name_distance(nearest->typed, name);
    if (!nearest->name[0] || distance < nearest->distance) {
        nearest->distance = distance;
        snprintf(nearest->name, sizeof nearest->name, "%s", name);
    }
}

/* A wrong guess is worse than none: one slip, and one more for every five letters. */
const char *cli_nearest_phrase(const cli_nearest *nearest, const char *before, char *text, size_t size) {
    bool near = nearest->name[0] && nearest->distance <= 1 + (strlen(nearest->typed) - 1) / 5;
    snprintf(text, size, "%s%s%s", near ? "; did you mean " : "", near ? before : "", near ? nearest->name : "");
    return text;
}

/* What other programs call it, and what it is called here. */
static const char *const synonyms[][2] = {
    {"n-clusters", "k"},
    {"n_clusters", "k"},
    {"clusters", "k"},
    {"n-cluster", "k"},
    {"ncluster", "k"},
    {"nclusters", "k"},
    {"rbf", "gaussian"},
    {"nearest_neighbors", "knn"},
    {"nearest-neighbors", "knn"},
    {"self-tuning", "local"},
    {"num-clusters", "k"},
    {"n-components", "k"},
    {"n_components", "k"},
    {"n-neighbors", "neighbors"},
    {"n_neighbors", "neighbors"},
    {"knn", "neighbors"},
    {"random-state", "seed"},
    {"random_state", "seed"},
    {"n-init", "restarts"},
    {"n_init", "restarts"},
    {"replicates", "restarts"},
    {"nstart", "restarts"},
    {"n-jobs", "threads"},
    {"n_jobs", "threads"},
    {"jobs", "threads"},
    {"kernel", "affinity"},
    {"metric", "affinity"},
    {"similarity", "affinity"},
    {"init", "start"},
    {"algorithm", "solver"},
    {"iterations", "max-iter"},
    {"tolerance", "tol"},
    {"standardize", "scale"},
    {"normalize", "scale"},
    {"index-col", "id-column"},
    {"index_col", "id-column"},
    {"usecols", "columns"},
    {"labels", "output"},
    {"out", "output"},
    {"ignore", "drop"},
    {"exclude", "drop"},
    {"features", "columns"},
    {"na", "missing"},
    {"impute", "missing"},
    {"timeout", "time-limit"},
    {"alpha", "lambda"},
    {"spectral", "ncut"},
    {"spectral-clustering", "ncut"},
    {"normalized-cut", "ncut"},
    {"cut", "ncut"},
    {"kmeans", "kpalm"},
    {"k-means", "kpalm"},
    {"kmedian", "kpalm"},
    {"k-median", "kpalm"},
    {"kmedians", "kpalm"},
    {"lloyd", "kpalm"},
    {"nmf", "symnmf"},
    {"dominant-sets", "dominant"},
    {"lasso", "ksupport"},
    {"logistic", "ksupport"},
    {"regression", "ksupport"},
    {"classify", "ksupport"},
    {"metrics", "eval"},
    {"score", "eval"},
    {"compare", "eval"},
    {"check", "verify"},
    {"tfidf", "text"},
    {"superpixels", "segment"},
    {"image", "segment"},
};

const char *cli_synonym(const char *typed) {
    for (size_t i = 0; i < CLI_COUNT(synonyms); i++) {
        if (strcasecmp(synonyms[i][0], typed) == 0) {
            return synonyms[i][1];
        }
    }
    return NULL;
}

static void off_name(const clv_option *option, char *name, size_t size) {
    snprintf(name, size, "%s%s", option->off ? "" : "no-", option->off ? option->off : option->name);
}

/* The option of a long name, or of a letter if that is NULL; `nearest` is offered all names on the way. */
static bool find_option(cli_args *args, const char *typed, char letter, cli_nearest *nearest, match *found) {
    char off[64];
    const char *now = typed ? clv_option_name(typed) : NULL;
    for (size_t g = 0; g < args->group_count; g++) {
        const clv_option_table *table = args->groups[g].table;
        for (size_t i = 0; i < table->count; i++) {
            const clv_option *option = &table->options[i];
            bool flag = option->kind == CLV_OPTION_FLAG;
            off_name(option, off, sizeof off);
            *found = (match){&args->groups[g], option, now && flag && strcmp(off, now) == 0};
            if (now ? found->off || strcmp(option->name, now) == 0 : option->letter == letter) {
                return true;
            }
            if (nearest) {
                cli_nearest_offer(nearest, option->name);
                cli_nearest_offer(nearest, flag ? off : option->name);
            }
        }
    }
    return false;
}

/* --- values --- */

/* The choice that was probably meant. */
static void nearest_choice(const clv_option *option, const char *value, char *phrase, size_t size) {
    cli_nearest nearest = {.typed = value};
    const char *at = option->kind == CLV_OPTION_CHOICE ? option->choices : NULL, *known = cli_synonym(value);
    if (!*value || strlen(value) >= sizeof nearest.name) {
        return;
    }
    while (at && *at) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "|"), at);
        if (known && strcmp(name, known) == 0) {
            snprintf(phrase, size, "; did you mean %s", name);
            return;
        }
        cli_nearest_offer(&nearest, name);
        at += strcspn(at, "|");
        at += *at == '|';
    }
    cli_nearest_phrase(&nearest, "", phrase, size);
}

/* LOW:HIGH, or auto, where a command takes these for k. */
static clv_status set_range(const cli_app *app, cli_args *args, const match *to, const char *value) {
    char *end = NULL, rest = 0;
    long long least = strtoll(value, &end, 10), most = -1;
    bool automatic = strcmp(value, "auto") == 0;
    bool whole = end > value && sscanf(end, ":%lld%c", &most, &rest) == 1 && least >= 1 && most >= least;
    if (!automatic && !(whole && (double)most <= to->option->most)) {
        return cli_fail(app, CLV_EUSAGE,
                        "-k '%s' is not allowed: a range is LOW:HIGH, two whole numbers from 1 on, as 2:12", value);
    }
    args->k_least = automatic ? -1 : (int64_t)least;
    args->k_most = automatic ? -1 : (int64_t)most;
    to->group->given[to->option - to->group->table->options] = true;
    return CLV_OK;
}

static clv_status set(const cli_app *app, cli_args *args, const match *to, const char *value) {
    bool is_k = args->k_ranges && strcmp(to->option->name, "k") == 0;
    if (is_k && (strchr(value, ':') || strcmp(value, "auto") == 0)) {
        return set_range(app, args, to, value);
    }
    args->k_least = is_k ? 0 : args->k_least; /* the last one counts */
    clv_status status = clv_options_set(app->ctx, to->group->table, to->group->options, to->option->name, value);
    if (status < 0) {
        const char *said =
            clv_message(app->ctx) + strlen(to->option->name) + strlen(" ="); /* "home = 'x' is not ..." */
        char phrase[96] = "";
        nearest_choice(to->option, value, phrase, sizeof phrase);
        if (strcmp(to->option->name, "home") == 0 && strcmp(value, "mpi") == 0) {
            return cli_fail(app, status,
                            "--home mpi: several processes are not a home, they share any: start the command by "
                            "mpirun -n N, and leave this out");
        }
        const char *ranges = !is_k                     ? ""
                             : strstr(said, "or auto") ? ", or a range as 2:12"
                                                       : ", auto, or a range as 2:12";
        return cli_fail(app, status, "--%s%s%s%s", to->option->name, said, ranges, phrase);
    }
    to->group->given[to->option - to->group->table->options] = true;
    return CLV_OK;
}

/* A switch that can also be on in another way: the first of its choices is 2, the next 3. */
static clv_status set_word(const cli_app *app, const match *to, const char *value) {
    int number = 2;
    for (const char *at = to->option->choices; at; number++) {
        size_t length = strcspn(at, "|");
        if (strlen(value) == length && strncmp(at, value, length) == 0) {
            *(int *)(void *)((char *)to->group->options + to->option->offset) = number;
            to->group->given[to->option - to->group->table->options] = true;
            return CLV_OK;
        }
        at = at[length] ? at + length + 1 : NULL;
    }
    char allowed[128];
    cli_print_list(to->option->choices, "=", allowed, sizeof allowed);
    return cli_fail(app, CLV_EUSAGE, "--%s=%s is not allowed: use --%s, or --%s%s", to->option->name, value,
                    to->option->name, to->option->name, allowed);
}

/* The next argument as a value. One that looks like a long option is a forgotten value; `--name=--value` gives it. */
static clv_status set_next(const cli_app *app, cli_args *args, const match *to, arg_cursor *cursor) {
    const char *value = cursor->at + 1 < cursor->argc ? cursor->argv[cursor->at + 1] : NULL;
    if (!value || (strncmp(value, "--", 2) == 0 && value[2])) {
        char allowed[256];
        cli_print_list(to->option->meta ? to->option->meta : to->option->choices, "", allowed, sizeof allowed);
        return cli_fail(app, CLV_EUSAGE, "--%s needs a value: %s", to->option->name, *allowed ? allowed : "VALUE");
    }
    cursor->at++;
    return set(app, args, to, value);
}

/* Of a command that has no labels of its own data, as ksupport. */
#define OF_NEW_OBJECTS                                                                                                 \
    ": --predict NEW --predict-output FILE labels new objects, as cleave predict RESULT.json NEW -o FILE does"

/* With what it is called here, if this command has that, or what it looks like. */
static clv_status refuse_name(const cli_app *app, cli_args *args, cli_nearest *nearest) {
    const char *known = cli_synonym(nearest->typed);
    char phrase[160];
    match found;
    bool separator = strcmp(nearest->typed, "sep") == 0 || strcmp(nearest->typed, "delimiter") == 0;
    cli_nearest_offer(nearest, "help");
    if (separator && find_option(args, "header", 0, NULL, &found)) {
        snprintf(phrase, sizeof phrase, ", nor a need for one: what separates the fields is found in the file");
    } else if (strcmp(nearest->typed, "output") == 0 && find_option(args, "predict-output", 0, NULL, &found)) {
        snprintf(phrase, sizeof phrase, OF_NEW_OBJECTS);
    } else if (strcmp(nearest->typed, "save-model") == 0 && find_option(args, "predict", 0, NULL, &found)) {
        snprintf(phrase, sizeof phrase, ", nor a need for one: --json FILE holds all that cleave predict takes");
    } else if (known && find_option(args, known, 0, NULL, &found)) {
        snprintf(phrase, sizeof phrase, "; did you mean %s%s", known[1] ? "--" : "-", known);
    } else {
        cli_nearest_phrase(nearest, "--", phrase, sizeof phrase);
    }
    return cli_fail(app, CLV_EUSAGE, "there is no option --%s%s (see cleave %s --help)", nearest->typed, phrase,
                    args->command->name);
}

static clv_status parse_long(const cli_app *app, cli_args *args, arg_cursor *cursor) {
    const char *typed = cursor->argv[cursor->at] + 2;
    const char *equals = strchr(typed, '=');
    char name[64];
    cli_nearest nearest = {.typed = name};
    match found;
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - typed) : (int)sizeof name, typed);
    if (!find_option(args, name, 0, &nearest, &found)) {
        return refuse_name(app, args, &nearest);
    }
    if (found.option->kind != CLV_OPTION_FLAG) {
        return equals ? set(app, args, &found, equals + 1) : set_next(app, args, &found, cursor);
    }
    if (equals && !found.off && found.option->choices) {
        return set_word(app, &found, equals + 1);
    }
    if (equals) {
        return cli_fail(app, CLV_EUSAGE, "--%s takes no value, but was given '%s'", name, equals + 1);
    }
    return set(app, args, &found, found.off ? "false" : "true");
}

static clv_status parse_short(const cli_app *app, cli_args *args, arg_cursor *cursor) {
    for (const char *at = cursor->argv[cursor->at] + 1; *at; at++) {
        match found;
        if (*at == 'h') {
            args->help = true;
            return CLV_OK;
        }
        if (!find_option(args, NULL, *at, NULL, &found)) {
            bool output = *at == 'o' && find_option(args, "predict-output", 0, NULL, &found);
            return cli_fail(app, CLV_EUSAGE, "there is no option -%c%s (see cleave %s --help)", *at,
                            output ? OF_NEW_OBJECTS : "", args->command->name);
        }
        if (found.option->kind != CLV_OPTION_FLAG) {
            return at[1] ? set(app, args, &found, at + 1) : set_next(app, args, &found, cursor);
        }
        CLI_TRY(set(app, args, &found, "true"));
    }
    return CLV_OK;
}

/* --- operands --- */

static size_t operands_taken(const cli_command *command) {
    size_t count = 0;
    while (count < CLI_OPERANDS && command->operands[count]) {
        count++;
    }
    return count;
}

static size_t operands_required(const cli_command *command) {
    size_t count = operands_taken(command);
    while (count > 0 && command->operands[count - 1][0] == '[') {
        count--;
    }
    return count;
}

static clv_status add_operand(const cli_app *app, cli_args *args, const char *operand) {
    const cli_command *command = args->command;
    size_t taken = operands_taken(command), used = 0;
    char names[128] = "options only";
    bool any = taken == CLI_OPERANDS && strcmp(command->operands[taken - 1], "[...]") == 0;
    if (args->operand_count == taken && any) {
        if (args->more_count == CLI_MORE) {
            return cli_fail(app, CLV_EUSAGE, "'%s' is one file too many: %s takes at most %d", operand, command->name,
                            CLI_OPERANDS + CLI_MORE);
        }
        args->more[args->more_count++] = operand;
        return CLV_OK;
    }
    if (args->operand_count == taken) {
        for (size_t i = 0; i < taken && used < sizeof names; i++) {
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? " and " : "", command->operands[i]);
        }
        return cli_fail(app, CLV_EUSAGE, "'%s' is one argument too many: %s takes %s", operand, command->name, names);
    }
    args->operands[args->operand_count++] = operand;
    return CLV_OK;
}

size_t cli_args_files(const cli_args *args, size_t first, const char **list) {
    size_t count = 0;
    for (size_t i = first; i < args->operand_count; i++) {
        list[count++] = args->operands[i];
    }
    for (size_t i = 0; i < args->more_count; i++) {
        list[count++] = args->more[i];
    }
    return count;
}

static clv_status parse_one(const cli_app *app, cli_args *args, arg_cursor *cursor, bool *ended) {
    const char *arg = cursor->argv[cursor->at];
    if (*ended || arg[0] != '-' || arg[1] == '\0') {
        return add_operand(app, args, arg);
    }
    if (strcmp(arg, "--") == 0) {
        *ended = true;
        return CLV_OK;
    }
    if (strcmp(arg, "--help") == 0) {
        args->help = true;
        return CLV_OK;
    }
    return arg[1] == '-' ? parse_long(app, args, cursor) : parse_short(app, args, cursor);
}

clv_status cli_args_parse(const cli_app *app, cli_args *args, int argc, char **argv) {
    arg_cursor cursor = {argc, 0, argv};
    bool ended = false;
    args->argc = argc;
    args->argv = argv;
    for (; cursor.at < argc && !args->help; cursor.at++) {
        CLI_TRY(parse_one(app, args, &cursor, &ended));
    }
    if (!args->help && args->operand_count < operands_required(args->command)) {
        return cli_fail(app, CLV_EUSAGE, "%s is missing (see cleave %s --help)",
                        args->command->operands[args->operand_count], args->command->name);
    }
    return CLV_OK;
}

clv_status cli_perform(const cli_app *app, cli_args *args, int argc, char **argv, clv_status (*work)(void *job),
                       void *job) {
    CLI_TRY(cli_args_parse(app, args, argc, argv));
    return args->help ? cli_help_command(app, args) : work(job);
}
