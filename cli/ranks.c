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

/* Whether the launcher says that this is another than the first of them. */
static bool is_numbered_later(void) {
    static const char *const numbers[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK"};
    for (size_t i = 0; i < CLI_COUNT(numbers); i++) {
        const char *number = getenv(numbers[i]);
        if (number) {
            return strtol(number, NULL, 10) > 0;
        }
    }
    return false;
}

/* What others would say and write goes nowhere. */
static void be_silent(void) {
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
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

/* CLEAVE_MPI=1 joins where no launcher is recognized, CLEAVE_MPI=0 never. */
clv_status cli_ranks_join(const cli_app *app) {
    const char *asked = getenv("CLEAVE_MPI");
    bool never = asked && strcmp(asked, "0") == 0, always = asked && strcmp(asked, "1") == 0;
    long started = cli_started_together();
    if (never || !(always || started > 1)) {
        return CLV_OK;
    }
    clv_status status = clv_context_join(app->ctx, "mpi");
    clv_ranks_info found = clv_context_ranks(app->ctx);
    if (found.rank > 0 || (status < 0 && is_numbered_later())) { /* of a failure that all have, the first one tells */
        be_silent();
    }
    if (status >= 0 && started > 1 && found.ranks == 1) {
        return cli_fail(app, CLV_EUSAGE,
                        "%ld processes were started, but this one finds itself alone: libcleave_mpi.so was built with "
                        "another MPI than that of the launcher; build it with the same one",
                        started);
    }
    return cli_library(app, status);
}

/* The sentence of a failure that this process has not told: that of another one. */
static clv_status tell(const cli_app *app, clv_status before, clv_status status) {
    return before >= 0 && status < 0 ? cli_library(app, status) : status;
}

clv_status cli_meet(const cli_app *app, clv_status status) {
    return cli_ranks(app) == 1 ? status : tell(app, status, clv_context_meet(app->ctx, status, cli_last_failure()));
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

/* All must have read the same. */
clv_status cli_job_compare(const cli_job *job) {
    const clv_matrix *m = clv_data_matrix(job->data);
    const int64_t mine[] = {m->rows, m->cols, (int64_t)m->scalar, m->start ? m->start[m->rows] : 0};
    int64_t first[CLI_COUNT(mine)];
    memcpy(first, mine, sizeof first);
    CLI_TRY(cli_library(job->app, clv_context_share(job->app->ctx, first, sizeof first)));
    if (memcmp(first, mine, sizeof first) == 0) {
        return CLV_OK;
    }
    if (first[0] == mine[0] && first[1] == mine[1]) {
        return cli_fail(job->app, CLV_EDATA,
                        "%s has numbers of another type, or another number of entries, for this process than for the "
                        "first: all must read the same file",
                        job->args.operands[0]);
    }
    return cli_fail(job->app, CLV_EDATA,
                    "%s is %lld x %lld for this process and %lld x %lld for the first: all must "
                    "read the same file",
                    job->args.operands[0], (long long)mine[0], (long long)mine[1], (long long)first[0],
                    (long long)first[1]);
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
