/* Several processes, started together by mpirun or srun, that run one command (docs/mpi.md). The first of them alone
 * speaks and writes. */
#include "job.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long cli_started_together(void) {
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "MPI_LOCALNRANKS"};
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    for (size_t i = 0; i < CLI_COUNT(sizes); i++) {
        const char *size = getenv(sizes[i]);
        if (size && strtol(size, NULL, 10) > 0) {
            return strtol(size, NULL, 10);
        }
    }
    bool managed = getenv("PMIX_RANK") || getenv("PMI_RANK"); /* srun --mpi=... */
    return managed && tasks ? strtol(tasks, NULL, 10) : 0;
}

/* By what the launcher says, from 0. */
static long launched_number(void) {
    static const char *const numbers[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK"};
    for (size_t i = 0; i < CLI_COUNT(numbers); i++) {
        const char *number = getenv(numbers[i]);
        if (number) {
            return strtol(number, NULL, 10);
        }
    }
    return 0;
}

const char *cli_launched_place(void) {
    static char place[64];
    long number = launched_number(), started = cli_started_together();
    if (number > 0 && started > number) {
        snprintf(place, sizeof place, " (on process %ld of %ld)", number + 1, started);
    }
    return place;
}

/* What others would say and write goes nowhere, but for what ends them at once, which the first cannot say for them. */
static void be_silent(clv_ranks_info of) {
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), heard = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (heard >= 0) {
        cli_signals_place(heard, of.rank, of.ranks);
    }
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        close(nowhere);
    }
}

bool cli_is_first(const cli_app *app) {
    return clv_context_ranks(app->ctx).rank == 0;
}

int64_t cli_ranks(const cli_app *app) {
    return clv_context_ranks(app->ctx).ranks;
}

/* By its name, so that no process works on one of its own. */
static clv_status compare_commands(const cli_app *app, const char *command) {
    char own[64], first[sizeof own]; /* in the note of a meeting */
    memset(own, 0, sizeof own);
    snprintf(own, sizeof own, "%s", command);
    memcpy(first, own, sizeof own);
    CLI_TRY(cli_library(app, clv_context_share(app->ctx, first, sizeof first)));
    return cli_meet(
        app, strcmp(own, first) == 0
                 ? CLV_OK
                 : cli_fail(app, CLV_EUSAGE,
                            "this process was given the command '%s', but the first '%s': all must be given the same",
                            own, first));
}

/* CLEAVE_MPI=1 joins where no launcher is recognized, CLEAVE_MPI=0 never. */
clv_status cli_ranks_join(const cli_app *app, const char *command) {
    const char *asked = getenv("CLEAVE_MPI");
    bool never = asked && strcmp(asked, "0") == 0, always = asked && strcmp(asked, "1") == 0;
    long started = cli_started_together();
    if (never || !(always || started > 1)) {
        return CLV_OK;
    }
    clv_status status = clv_context_join(app->ctx, "mpi");
    clv_ranks_info found = clv_context_ranks(app->ctx);
    bool joined = status >= 0 && (started <= 1 || found.ranks > 1);
    if (found.rank > 0 || (!joined && launched_number() > 0)) { /* of a failure that all have, the first one tells */
        be_silent(found);
    }
    if (status >= 0 && !joined) {
        return cli_fail(app, CLV_EUSAGE,
                        "%ld processes were started, but this one finds itself alone: libcleave_mpi.so was built with "
                        "another MPI than that of the launcher; build it with the same one",
                        started);
    }
    CLI_TRY(cli_library(app, status));
    return found.ranks > 1 ? compare_commands(app, command) : CLV_OK;
}

/* The sentence of a failure that this process has not told: that of another one. */
static clv_status tell(const cli_app *app, clv_status before, clv_status status) {
    return before >= 0 && status < 0 ? cli_library(app, status) : status;
}

clv_status cli_meet(const cli_app *app, clv_status status) {
    return cli_ranks(app) == 1 ? status : tell(app, status, clv_context_meet(app->ctx, status, cli_last_failure()));
}

/* One that ends with this exit status. */
static clv_status status_of(int code) {
    int status = CLV_OK;
    while (status > CLV_ETIME && cli_exit_status((clv_status)status) != code) {
        status--;
    }
    return cli_exit_status((clv_status)status) == code ? (clv_status)status : CLV_OK;
}

int cli_ranks_leave(const cli_app *app, int code) {
    clv_status status = status_of(code), met = cli_meet(app, status);
    clv_status left = clv_context_leave(app->ctx);
    met = met < 0 ? met : tell(app, CLV_OK, left);
    return met < 0 ? cli_exit_status(met) : code;
}

int cli_first_alone(cli_app *app, int (*work)(cli_app *app, int argc, char **argv), int argc, char **argv) {
    int code = 0;
    clv_context_work_alone(app->ctx, 1);
    if (cli_is_first(app)) {
        code = work(app, argc, argv);
    }
    clv_context_work_alone(app->ctx, 0);
    clv_status status = clv_context_share(app->ctx, &code, sizeof code);
    return status < 0 ? cli_exit_status(status) : code;
}

/* --- a job --- */

bool cli_job_is_shared(const cli_job *job) {
    return cli_ranks(job->app) > 1 && (job->method->abilities & CLV_SPREADS);
}

void cli_job_tell_alone(const cli_job *job) {
    if (!job->output.quiet && !job->output.dry_run) {
        cli_tell("cleave %s: the first of the %lld processes does it all, as %s cannot share its work",
                 job->method->name, (long long)cli_ranks(job->app), job->method->name);
    }
}

/* --- groups --- */

const clv_option_table *cli_groups_table(void) {
    static const clv_option options[] = {
        {.name = "groups",
         .kind = CLV_OPTION_INT,
         .offset = offsetof(cli_groups_options, groups),
         .initial = 1,
         .least = 1,
         .most = 1e6,
         .meta = "N",
         .help = "under mpirun: groups of processes, each of which runs some of the restarts"},
    };
    static const clv_option_table table = {"groups", options, CLI_COUNT(options), 0};
    return &table;
}

static bool is_grouped(const cli_job *job) {
    return job->grouping.groups > 1;
}

clv_status cli_groups_begin(const cli_job *job) {
    int64_t groups = job->grouping.groups, restarts = cli_control_of(job)->restarts;
    if (!is_grouped(job)) {
        return CLV_OK;
    }
    if (cli_ranks(job->app) == 1) {
        return cli_fail(job->app, CLV_EUSAGE, "--groups %lld divides processes, and this is one: run it with mpirun",
                        (long long)groups);
    }
    if (restarts < groups || job->args.k_least > 0) {
        return cli_fail(job->app, CLV_EUSAGE,
                        job->args.k_least > 0 ? "--groups divides the restarts of one run, not those of a range of k"
                                              : "--groups %lld divides restarts, of which there are %lld: give it "
                                                "--restarts %lld or more",
                        (long long)groups, (long long)restarts, (long long)groups);
    }
    if (job->checkpoint.path || job->checkpoint.resume) {
        return cli_fail(job->app, CLV_EUSAGE, "--groups and checkpoints do not go together: leave one of them out");
    }
    return cli_library(job->app, clv_context_group(job->app->ctx, groups));
}

clv_status cli_groups_end(const cli_job *job, clv_status status) {
    return is_grouped(job) ? tell(job->app, status, clv_context_ungroup(job->app->ctx, status, cli_last_failure()))
                           : status;
}

clv_status cli_groups_meet(const cli_job *job, clv_status status) {
    return is_grouped(job) ? clv_context_meet(job->app->ctx, status, NULL) : status;
}

/* Options that may differ between processes. Only the first one writes outputs, and steps that depend on them follow
 * its options (cli_job_agree); for a checkpoint all gather what they hold, at the same time. */
static bool is_own(const cli_job *job, const cli_group *group, const char *name) {
    static const char *const names[] = {"memory", "device-memory", "threads"};
    bool own = group->options == &job->output && strcmp(name, "dry-run") != 0;
    for (size_t i = 0; i < CLI_COUNT(names); i++) {
        own = own || strcmp(names[i], name) == 0;
    }
    return own;
}

/* As the user would write it; "" for what is not there unless it is given. */
static void print_value(const cli_job *job, const cli_group *group, const clv_option *option, char *text, size_t size) {
    *text = '\0';
    if (!cli_is_required(option) || cli_args_given(&job->args, option->name)) {
        clv_options_print(option, group->options, text, size);
    }
}

/* A line for each option that all must have alike: "seed 7". */
static void list_options(const cli_job *job, char *list, size_t size) {
    char value[512];
    size_t length = 0;
    if (job->args.help) {
        length = (size_t)snprintf(list, size, "help\n");
    } else if (job->args.k_least < 0) {
        length = (size_t)snprintf(list, size, "k auto\n");
    } else if (job->args.k_most > 0) {
        length =
            (size_t)snprintf(list, size, "k %lld:%lld\n", (long long)job->args.k_least, (long long)job->args.k_most);
    }
    for (size_t g = 0; g < job->args.group_count; g++) {
        const cli_group *group = &job->args.groups[g];
        for (size_t i = 0; i < group->table->count && length < size; i++) {
            const clv_option *option = &group->table->options[i];
            if (!is_own(job, group, option->name)) {
                print_value(job, group, option, value, sizeof value);
                length += (size_t)snprintf(list + length, size - length, "%s %s\n", option->name, value);
            }
        }
    }
}

static size_t line_of(const char *text) {
    return strcspn(text, "\n");
}

/* What follows the name in its line. */
static const char *quote(const char *line, char *text, size_t size) {
    size_t name = strcspn(line, " ") + 1;
    snprintf(text, size, "'%.*s'", (int)(line_of(line) - name), line + name);
    return strcmp(text, "''") == 0 ? "not given" : text;
}

static clv_status compare_options(const cli_job *job) {
    enum { MOST = 1 << 14 };
    char mine[MOST] = "", first[MOST];
    list_options(job, mine, sizeof mine);
    memcpy(first, mine, sizeof first);
    CLI_TRY(cli_library(job->app, clv_context_share(job->app->ctx, first, sizeof first)));
    const char *own = mine, *other = first;
    while (*own && line_of(own) == line_of(other) && strncmp(own, other, line_of(own) + 1) == 0) {
        other += line_of(own) + (own[line_of(own)] == '\n');
        own += line_of(own) + (own[line_of(own)] == '\n');
    }
    size_t name = strcspn(own, " ") + 1;
    if (!*own && !*other) {
        return CLV_OK;
    }
    if (strncmp(own, other, name) != 0) {
        return cli_fail(job->app, CLV_EUSAGE,
                        "this process was given another command than the first: all must be given the same");
    }
    char here[512], there[512];
    return cli_fail(
        job->app, CLV_EUSAGE, "%s%.*s is %s for this process, but %s for the first: it must be the same for all",
        name == 2 ? "-" : "--", (int)name - 1, own, quote(own, here, sizeof here), quote(other, there, sizeof there));
}

/* Some methods take other steps where somebody looks at every iterate: then all do, of any group. */
clv_status cli_job_agree(cli_job *job) {
    const cli_output_options *output = &job->output;
    bool wishes[] = {cli_progress_is_wanted(&job->args, output->progress, output->quiet),
                     output->trace || output->report};
    if (cli_ranks(job->app) > 1) {
        CLI_TRY(cli_meet(job->app, compare_options(job)));
        CLI_TRY(cli_library(job->app, clv_context_share(job->app->ctx, wishes, sizeof wishes)));
    }
    job->shows = wishes[0];
    job->traces = wishes[1];
    return CLV_OK;
}

/* --- what was read --- */

static uint64_t hash_word(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count) {
    const char *at = bytes;
    uint64_t word = 0;
    for (; count >= sizeof word; count -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = hash_word(hash, word);
    }
    word = 0;
    if (count > 0) {
        memcpy(&word, at, count);
    }
    return hash_word(hash, word);
}

/* By every bit; of what is mapped, of which a process may need a part alone, a few rows from the first to the last. */
static uint64_t hash_matrix(const clv_matrix *m, bool mapped) {
    enum { SOME = 16 };
    const int64_t kind[] = {m->rows, m->cols, (int64_t)m->scalar};
    size_t row = (size_t)m->cols * (m->scalar == CLV_F32 ? sizeof(float) : sizeof(double));
    uint64_t hash = hash_bytes(1, kind, sizeof kind);
    if (m->start) {
        size_t entries = (size_t)m->start[m->rows];
        hash = hash_bytes(hash, m->start, (size_t)(m->rows + 1) * sizeof *m->start);
        hash = hash_bytes(hash, m->index, entries * sizeof *m->index);
        return hash_bytes(hash, m->values, entries * sizeof(double));
    }
    if (!mapped) {
        return hash_bytes(hash, m->values, (size_t)m->rows * row);
    }
    for (int64_t s = 0; s < SOME && m->rows > 0; s++) {
        int64_t at = s * (m->rows - 1) / (SOME - 1);
        hash = hash_bytes(hash, (const char *)m->values + (size_t)at * row, row);
    }
    return hash;
}

static uint64_t hash_data(const clv_data *data) {
    return data ? hash_matrix(clv_data_matrix(data), clv_data_is_mapped(data)) : 0;
}

/* The library compares what an affinity is made of, and files of which each process maps its part. */
static uint64_t hash_points(const cli_job *job) {
    return cli_has_affinity(job) || clv_data_is_mapped(job->data) ? 0 : hash_data(job->data);
}

static uint64_t hash_truth(const cli_job *job) {
    size_t n = (size_t)clv_data_matrix(job->data)->rows;
    return job->truth ? hash_bytes(1, job->truth, n * sizeof *job->truth) : 0;
}

/* The file that a text option of the method names. */
static const char *file_of(const cli_job *job, const char *name) {
    const clv_option *option = clv_options_find(job->method->options, name);
    bool text = option && option->kind == CLV_OPTION_TEXT;
    return text ? *(const char *const *)(const void *)(job->options + option->offset) : NULL;
}

/* A file that each process has read, or none: hash 0. */
typedef struct read_file {
    const char *path, *what;
    uint64_t hash;
} read_file;
enum { FILES = 10 };

static void list_files(const cli_job *job, read_file list[FILES]) {
    const char *x = job->args.operands[0], *y = job->args.operands[1], *validation = job->own.validation_x;
    const read_file all[FILES] = {
        {x, "numbers", hash_points(job)},
        {y ? y : x, "labels or targets", hash_data(job->targets)},
        {job->points.truth ? job->points.truth : x, "labels", hash_truth(job)},
        {job->sample_weights, "weights", hash_data(job->weights)},
        {file_of(job, "start"), "numbers", job->input.start ? hash_matrix(job->input.start, false) : 0},
        {file_of(job, "object-alpha"), "factors", hash_data(job->object_alpha)},
        {file_of(job, "start-membership"), "memberships", hash_data(job->start_membership)},
        {job->prediction.input, "numbers", hash_data(job->fresh)},
        {validation, "numbers", hash_data(job->validation)},
        {job->own.validation_y ? job->own.validation_y : validation, "targets", hash_data(job->validation_targets)},
    };
    memcpy(list, all, sizeof all);
}

/* What processes compare of all that they have read: the shape of DATA, to be told, and the hashes of files. */
typedef struct readings {
    int64_t rows, cols, scalar, entries;
    uint64_t hashes[FILES];
} readings;

clv_status cli_job_compare(const cli_job *job) {
    const clv_matrix *m = clv_data_matrix(job->data);
    readings mine = {m->rows, m->cols, (int64_t)m->scalar, m->start ? m->start[m->rows] : 0, {0}};
    read_file list[FILES];
    list_files(job, list);
    for (size_t f = 0; f < FILES; f++) {
        mine.hashes[f] = list[f].hash;
    }
    readings first = mine;
    CLI_TRY(cli_library(job->app, clv_context_share(job->app->ctx, &first, sizeof first)));
    if (first.rows != mine.rows || first.cols != mine.cols) {
        return cli_fail(job->app, CLV_EDATA,
                        "%s is %lld x %lld for this process and %lld x %lld for the first: all must "
                        "read the same file",
                        list[0].path, (long long)mine.rows, (long long)mine.cols, (long long)first.rows,
                        (long long)first.cols);
    }
    if (first.scalar != mine.scalar || first.entries != mine.entries) {
        return cli_fail(job->app, CLV_EDATA,
                        "%s has numbers of another type, or another number of entries, for this process than for the "
                        "first: all must read the same file",
                        list[0].path);
    }
    for (size_t f = 0; f < FILES; f++) {
        if (first.hashes[f] != mine.hashes[f]) {
            return cli_fail(job->app, CLV_EDATA,
                            "%s has other %s for this process than for the first: all must read the same file",
                            list[f].path, list[f].what);
        }
    }
    return CLV_OK;
}

/* What depends on a clock is decided by the first process, for all. */
typedef struct decision {
    clv_affinity_options how;
    int kind;
    clv_status status;
    bool late;
    char suggestion[sizeof((cli_job *)0)->suggestion];
} decision;

/* By this process alone: which affinity suits, and whether there is time for it. */
static clv_status decide(cli_job *job, clv_affinity_options *how, bool *late) {
    clv_status status = cli_choose_affinity(job, how);
    *late = status == CLV_ETIME || status == CLV_EINTERRUPTED;
    if (!*late && status >= 0) {
        *late = cli_job_takes_too_long(job, how);
    }
    return *late ? CLV_OK : status;
}

clv_status cli_decide_affinity(cli_job *job, clv_affinity_options *how, bool *late) {
    decision d = {.how = *how};
    if (!cli_job_is_shared(job)) {
        return cli_library_on(job->app, job->args.operands[0], decide(job, how, late));
    }
    if (cli_is_first(job->app)) {
        clv_context_work_alone(job->app->ctx, 1);
        d.status = decide(job, &d.how, &d.late);
        clv_context_work_alone(job->app->ctx, 0);
        d.kind = job->how.kind;
        memcpy(d.suggestion, job->suggestion, sizeof d.suggestion);
    }
    CLI_TRY(cli_library(job->app, clv_context_share(job->app->ctx, &d, sizeof d)));
    CLI_TRY(cli_library_on(job->app, job->args.operands[0], d.status));
    *how = d.how;
    *late = d.late;
    job->how.kind = d.kind;
    job->how.chosen_on = d.how.chosen_on;
    job->how.choice = d.how.choice;
    memcpy(job->how.agreement, d.how.agreement, sizeof d.how.agreement);
    memcpy(job->suggestion, d.suggestion, sizeof d.suggestion);
    return CLV_OK;
}
