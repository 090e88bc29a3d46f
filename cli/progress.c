/* Interruption and the progress line: the command's side of the library's hooks.
 *
 * The handler only sets a flag. The interrupt hook and the monitor hand it to the library, which then returns the
 * best result so far; the hook also keeps the line alive in phases that have no iterations. The handler is installed
 * for one signal only, so that a second one ends the program. */
#include "cli.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
/* The line that the hook draws, if any: the hook is asked from all threads. */
static cli_progress *watched;
static pthread_mutex_t drawing = PTHREAD_MUTEX_INITIALIZER;

static void remember_signal(int number) {
    (void)number;
    interrupted = 1;
}

/* A mapped file that became shorter: what is beyond its end cannot be read. */
static void end_mapping(int number) {
    static const char text[] = "cleave: a file became shorter while it was used: its data are gone\n";
    (void)number;
    ssize_t told = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(told < 0 ? EXIT_FAILURE : cli_exit_status(CLV_EIO));
}

static void draw_phase(void);

static int interrupt_hook(void *user) {
    (void)user;
    draw_phase();
    return interrupted;
}

bool cli_interrupted(void) {
    return interrupted != 0;
}

void cli_signals_catch(clv_context *ctx) {
    struct sigaction action = {.sa_handler = remember_signal, .sa_flags = (int)SA_RESETHAND}, before;
    sigemptyset(&action.sa_mask);
    /* Also where the caller ignores SIGINT, as a shell does for its background jobs: whoever sends it means it. */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) { /* else it was started by nohup */
        sigaction(SIGHUP, &action, NULL);
    }
    signal(SIGBUS, end_mapping);
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

void cli_reading_begin(const cli_app *app, int64_t memory) {
    enum { BUFFERS = 1 << 20 }; /* which every reader may have */
    clv_context_set_memory_limit(app->ctx, BUFFERS + (memory > 0 ? (size_t)memory : cli_budget(0) / 2 * 3));
}

void cli_reading_end(const cli_app *app) {
    clv_context_set_memory_limit(app->ctx, 0);
    restart_calls(SIGINT);
    restart_calls(SIGTERM);
    restart_calls(SIGHUP);
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

void cli_progress_phase(cli_progress *progress, const char *what) {
    pthread_mutex_lock(&drawing);
    progress->what = what;
    progress->last = cli_seconds(); /* what takes a moment is not worth a line */
    watched = progress->shown ? progress : NULL;
    pthread_mutex_unlock(&drawing);
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

static void draw_phase(void) {
    if (!__atomic_load_n(&watched, __ATOMIC_RELAXED) || pthread_mutex_trylock(&drawing) != 0) {
        return;
    }
    if (watched && is_time(watched)) {
        begin_line(watched);
        fputs(watched->what, stderr);
        end_line(watched);
    }
    pthread_mutex_unlock(&drawing);
}

int cli_progress_monitor(const clv_progress *now, void *user) {
    cli_progress *progress = user;
    pthread_mutex_lock(&drawing);
    if (progress == watched) { /* from the first iterate on that is what there is to show */
        watched = NULL;
        progress->last = -INFINITY;
    }
    if (is_time(progress)) {
        begin_line(progress);
        fprintf(stderr, "restart %lld of %lld  iteration %lld  objective %.8g", (long long)now->restart + 1,
                (long long)progress->restarts, (long long)now->iteration, now->objective);
        if (!isnan(now->certificate)) {
            fprintf(stderr, "  certificate %.3g", now->certificate);
        }
        end_line(progress);
    }
    pthread_mutex_unlock(&drawing);
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
    pthread_mutex_lock(&drawing);
    watched = NULL;
    pthread_mutex_unlock(&drawing);
    if (progress->drawn && progress->terminal) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    progress->drawn = false;
}
