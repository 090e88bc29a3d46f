/* Interruption and the progress line: the command's side of the library's hooks.
 *
 * The handler only sets a flag. The interrupt hook and the monitor hand it to the library, which then returns the
 * best result so far. The handler is installed for one signal only, so that a second one ends the program. */
#include "cli.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void remember_signal(int number) {
    (void)number;
    interrupted = 1;
}

static int interrupt_hook(void *user) {
    (void)user;
    return interrupted;
}

bool cli_interrupted(void) {
    return interrupted != 0;
}

void cli_signals_catch(clv_context *ctx) {
    struct sigaction action = {.sa_handler = remember_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    /* Also where the caller ignores SIGINT, as a shell does for its background jobs: whoever sends it means it. */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    cli_signals_watch(ctx, true);
}

void cli_signals_watch(clv_context *ctx, bool watch) {
    clv_context_set_interrupt(ctx, watch ? interrupt_hook : NULL, NULL);
}

static void restart_calls(int number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0) {
        action.sa_flags |= SA_RESTART;
        sigaction(number, &action, NULL);
    }
}

void cli_signals_restart_calls(void) {
    restart_calls(SIGINT);
    restart_calls(SIGTERM);
}

void cli_progress_begin(cli_progress *progress, const cli_app *app, const cli_args *args, int asked, int quiet,
                        clv_control *control) {
    bool terminal = isatty(STDERR_FILENO) != 0, wanted = cli_args_given(args, "progress") ? asked != 0 : terminal;
    *progress = (cli_progress){.app = app, .shown = wanted && !quiet, .terminal = terminal, .last = -INFINITY};
    if (control && progress->shown) {
        progress->restarts = control->restarts;
        control->monitor = cli_progress_monitor;
        control->monitor_user = progress;
    }
}

/* Ten times a second for a reader; once a second for a log. */
static bool is_time(cli_progress *progress) {
    double seconds = cli_seconds();
    if (!progress->shown || seconds - progress->last < (progress->terminal ? 0.1 : 1.0)) {
        return false;
    }
    progress->last = seconds;
    return true;
}

/* A line between these two, in the place of the one before on a terminal. */
static void begin_line(cli_progress *progress) {
    fputs(progress->terminal ? "\r\033[K" : "", stderr);
    progress->drawn = true;
}

static void end_line(const cli_progress *progress) {
    fprintf(stderr, "  %.1f s%s", cli_elapsed(progress->app), progress->terminal ? "" : "\n");
    fflush(stderr);
}

int cli_progress_monitor(const clv_progress *now, void *user) {
    cli_progress *progress = user;
    if (is_time(progress)) {
        begin_line(progress);
        fprintf(stderr, "restart %lld of %lld  iteration %lld  objective %.8g", (long long)now->restart + 1,
                (long long)progress->restarts, (long long)now->iteration, now->objective);
        if (!isnan(now->certificate)) {
            fprintf(stderr, "  certificate %.3g", now->certificate);
        }
        end_line(progress);
    }
    return interrupted;
}

void cli_progress_count(cli_progress *progress, const char *what, int64_t count) {
    if (is_time(progress)) {
        begin_line(progress);
        fprintf(stderr, "%s %lld", what, (long long)count);
        end_line(progress);
    }
}

void cli_progress_end(cli_progress *progress) {
    if (progress->drawn && progress->terminal) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    progress->drawn = false;
}
