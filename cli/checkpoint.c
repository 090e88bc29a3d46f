/* --checkpoint and --resume: a run that is killed goes on from its last checkpoint. What is in one, and whether it is
 * of this run, is the library's business; here it is a file. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const clv_option_table *cli_checkpoint_table(void) {
    static const clv_option options[] = {
        CLI_FILE_OPTION(cli_checkpoint, path, "checkpoint", 0, "FILE",
                        "keep there what a run has found and where it is, so that it can be gone on with"),
        {.name = "checkpoint-every",
         .kind = CLV_OPTION_REAL,
         .offset = offsetof(cli_checkpoint, every),
         .initial = 60,
         .most = 1e9,
         .meta = "SECONDS",
         .help = "how often; 0: after each iteration"},
        CLI_FILE_OPTION(cli_checkpoint, resume, "resume", 0, "FILE",
                        "go on from a checkpoint of the same command on the same data; the time limit includes the "
                        "time used before"),
    };
    static const clv_option_table table = {"checkpoint", options, CLI_COUNT(options), 0};
    return &table;
}

/* A checkpoint that cannot be written is told, once; the run is worth more than it. */
static int keep(const void *bytes, size_t size, void *user) {
    cli_checkpoint *c = user;
    clv_status status = clv_write_text(c->app->ctx, c->path, bytes, size);
    if (status < 0 && !c->told) {
        c->told = true;
        cli_tell("warning: no checkpoint is kept, and the run goes on: %s", clv_message(c->app->ctx));
    }
    c->kept |= status >= 0;
    return status < 0;
}

static clv_status refuse(const cli_app *app, const char *path, int code) {
    return cli_fail(app, code == ENOENT ? CLV_ENOINPUT : CLV_EIO, "--resume %s cannot be read: %s", path,
                    strerror(code));
}

static clv_status read_all(const cli_app *app, const char *path, FILE *file, size_t budget, char **bytes,
                           size_t *size) {
    struct stat info;
    char needs[32], has[32];
    if (fstat(fileno(file), &info)) {
        return refuse(app, path, errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return cli_fail(app, CLV_EDATA, "--resume %s: this is no checkpoint", path);
    }
    if ((size_t)info.st_size > budget) {
        cli_print_bytes((double)info.st_size, needs, sizeof needs);
        cli_print_bytes((double)budget, has, sizeof has);
        return cli_fail(app, CLV_ENOMEM, "--resume %s has %s, more than the %s of --memory", path, needs, has);
    }
    *size = (size_t)info.st_size;
    *bytes = malloc(*size + 1);
    if (!*bytes) {
        return cli_fail(app, CLV_ENOMEM, "out of memory");
    }
    return fread(*bytes, 1, *size, file) == *size ? CLV_OK : refuse(app, path, ferror(file) ? errno : EIO);
}

static clv_status read_resume(const cli_app *app, const char *path, size_t budget, char **bytes, size_t *size) {
    FILE *file = fopen(path, "rb");
    CLI_TRY(file ? CLV_OK : refuse(app, path, errno));
    clv_status status = read_all(app, path, file, budget, bytes, size);
    fclose(file);
    return status;
}

/* Of several processes the first one reads: it has written it, perhaps where the others cannot see it. */
static clv_status share_resume(const cli_app *app, char **bytes, size_t *size) {
    CLI_TRY(cli_library(app, clv_context_share(app->ctx, size, sizeof *size)));
    *bytes = *bytes ? *bytes : malloc(*size + 1);
    return *bytes ? cli_library(app, clv_context_share(app->ctx, *bytes, *size))
                  : cli_fail(app, CLV_ENOMEM, "out of memory");
}

static clv_status resume(const cli_app *app, const char *path, size_t budget) {
    char *bytes = NULL;
    size_t size = 0;
    clv_status status = cli_is_first(app) ? read_resume(app, path, budget, &bytes, &size) : CLV_OK;
    status = cli_meet(app, status);
    status = status < 0 ? status : share_resume(app, &bytes, &size);
    status = status < 0 ? status : cli_library_on(app, path, clv_context_resume(app->ctx, bytes, size));
    free(bytes);
    return status;
}

clv_status cli_checkpoint_begin(const cli_app *app, const cli_args *args, cli_checkpoint *c, double limit,
                                int64_t memory) {
    c->app = app;
    if (!c->path && cli_args_given(args, "checkpoint-every")) {
        return cli_fail(app, CLV_EUSAGE, "--checkpoint-every needs --checkpoint FILE, where checkpoints go");
    }
    CLI_TRY(c->resume ? resume(app, c->resume, cli_budget(memory)) : CLV_OK);
    double spent = clv_context_spent(app->ctx);
    if (limit > 0 && spent >= limit) {
        return cli_fail(app, CLV_EUSAGE,
                        "--time-limit %g includes the %.3g seconds that --resume %s has taken already: give it more",
                        limit, spent, c->resume);
    }
    if (c->path) {
        clv_context_set_checkpoint(app->ctx, keep, c, c->every);
    }
    clv_context_set_time_limit(app->ctx, limit > 0 ? limit - spent : 0);
    return CLV_OK;
}

bool cli_checkpoint_is_input(const cli_checkpoint *c) {
    struct stat from, to;
    bool same = c->resume && c->path && stat(c->resume, &from) == 0 && stat(c->path, &to) == 0 &&
                from.st_dev == to.st_dev && from.st_ino == to.st_ino;
    return c->resume && !same;
}

void cli_checkpoint_end(const cli_checkpoint *c, const clv_result *result, int quiet) {
    bool cut = result && (result->stop == CLV_TIME_LIMIT || result->stop == CLV_CANCELLED);
    if (!c->path || !cut || c->told || quiet) {
        return;
    }
    if (c->kept) {
        cli_tell("to go on from here: the same command with --resume %s%s", c->path,
                 result->stop == CLV_TIME_LIMIT ? " and a longer --time-limit" : "");
    } else {
        cli_tell("no checkpoint was written: the run was ended before there was anything to go on from");
    }
}
