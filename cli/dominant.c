/* cleave dominant: what its command alone has to check. */
#include "job.h"

static clv_status check(const cli_job *job) {
    if (cli_args_given(&job->args, "zero-diagonal") && !job->how.zero_diagonal) {
        return cli_fail(
            job->app, CLV_EUSAGE,
            "--keep-diagonal cannot be used with dominant: the similarity of an object to itself counts as 0");
    }
    return CLV_OK;
}

const cli_special cli_dominant_special = {.method = "dominant", .check = check};
