/* cleave kpalm: files of what it is given per object, beside a start. */
#include "job.h"

#include <string.h>

static const clv_kpalm_options *options_of(const cli_job *job) {
    return (const clv_kpalm_options *)(const void *)job->options;
}

/* The file of --object-alpha; NULL: it is a name, which the library knows. */
static const char *factors_file(const cli_job *job) {
    const char *given = options_of(job)->object_alpha;
    return strpbrk(given, "./") ? given : NULL;
}

/* Files that would be read for nothing are refused. */
static clv_status check(const cli_job *job) {
    static const char *const names[] = {"object-alpha", "start-membership"};
    for (size_t i = 0; i < CLI_COUNT(names); i++) {
        if (options_of(job)->solver != CLV_KPALM_KPALM && cli_args_given(&job->args, names[i])) {
            return cli_fail(job->app, CLV_EUSAGE,
                            "--%s is for --solver kpalm: the others have no memberships to change", names[i]);
        }
    }
    if (cli_args_given(&job->args, "initial-membership") && cli_args_given(&job->args, "start-membership")) {
        return cli_fail(job->app, CLV_EUSAGE,
                        "--initial-membership cannot be used with --start-membership, which takes its place");
    }
    return CLV_OK;
}

static void files(const cli_job *job, cli_own_file list[CLI_OWN_FILES]) {
    list[0] = (cli_own_file){"object-alpha", factors_file(job), NULL, true};
    list[1] = (cli_own_file){"start-membership", options_of(job)->start_membership, NULL, true};
}

static clv_status read(cli_job *job) {
    const clv_kpalm_options *options = options_of(job);
    if (factors_file(job)) {
        CLI_TRY(cli_read_objects(job, "object-alpha", factors_file(job), 1, &job->object_alpha));
        job->input.object_alpha = clv_data_matrix(job->object_alpha);
    }
    if (options->start_membership) {
        CLI_TRY(
            cli_read_objects(job, "start-membership", options->start_membership, options->k, &job->start_membership));
        job->input.start_membership = clv_data_matrix(job->start_membership);
    }
    return CLV_OK;
}

const cli_special cli_kpalm_special = {.method = "kpalm", .check = check, .files = files, .read = read};
