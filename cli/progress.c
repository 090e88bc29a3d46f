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
#include <sys/ioctl.h>
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
    clv_context_set_interrupt(ctx, interrupt_hook, NULL);
}

void cli_signals_watch(clv_context *ctx, bool watch) {
    clv_context_hold_interrupt(ctx, !watch);
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

/* --- how long it still takes --- */

/* Seconds until all restarts are done, by those that are; NaN: none is. Restarts begin in order, so many at a time. */
static double left_by_restarts(const cli_progress *p, double now) {
    double done = (double)(p->last_restart + 1 - p->beside);
    return done >= 1 && p->restarts > 1 ? (now - p->began) * ((double)p->restarts / done - 1) : (double)NAN;
}

/* Seconds until the gap is that of the tolerance, if it goes on falling by the same share; NaN: it does not fall. */
static double left_by_gap(const cli_progress *p, double now) {
    double rate = log(p->first_gap / p->gap) / (now - p->gap_began);
    return p->restarts == 1 && rate > 0 && p->gap > p->tol ? log(p->gap / p->tol) / rate : (double)NAN;
}

/* The most that the limits of time and of iterations leave. */
static double most_left(const cli_progress *p, int64_t iteration, double now) {
    double by_time = p->time_limit > 0 ? p->time_limit - cli_elapsed(p->app) : (double)INFINITY;
    double by_steps = p->restarts == 1 && iteration > 0
                          ? (double)(p->max_iter - iteration) * (now - p->began) / (double)iteration
                          : (double)INFINITY;
    return fmax(0, fmin(by_time, by_steps));
}

static void estimate(cli_progress *p, const clv_progress *at) {
    double now = cli_seconds(), by_restarts, by_gap;
    p->last_restart = at->restart > p->last_restart ? at->restart : p->last_restart;
    p->gap = at->certificate;
    if (!(p->first_gap > 0)) {
        p->first_gap = at->certificate;
        p->gap_began = now;
    }
    by_restarts = left_by_restarts(p, now);
    by_gap = left_by_gap(p, now);
    p->most = most_left(p, at->iteration, now);
    p->left = isfinite(by_restarts) ? by_restarts : isfinite(by_gap) ? by_gap : (double)NAN;
    p->left = p->left > p->most ? p->most : p->left;
}

/* --- the line --- */

enum { LINE = 256, TOO_LONG = 1000000 /* seconds that say nothing */ };
/* When the last update was: of all lines, as there is one standard error. */
static double drawn_at = -INFINITY;

void cli_progress_begin(cli_progress *progress, const cli_app *app, const cli_args *args, int asked, int quiet,
                        clv_control *control) {
    bool terminal = isatty(STDERR_FILENO) != 0, wanted = cli_args_given(args, "progress") ? asked != 0 : terminal;
    bool json = asked == CLI_PROGRESS_JSON;
    *progress = (cli_progress){.app = app,
                               .shown = wanted && !quiet,
                               .terminal = terminal && !json,
                               .json = json,
                               .not_before = -INFINITY,
                               .left = NAN,
                               .most = INFINITY};
    if (control && progress->shown) {
        int64_t threads = control->threads > 0 ? control->threads : sysconf(_SC_NPROCESSORS_ONLN);
        progress->restarts = control->restarts;
        progress->beside = threads < control->restarts ? threads : control->restarts;
        progress->max_iter = control->max_iter;
        progress->time_limit = control->time_limit;
        progress->tol = control->tol;
        progress->began = cli_seconds();
        control->monitor = cli_progress_monitor;
        control->monitor_user = progress;
    }
}

/* Ten times a second for a reader or a program; once a second for a log. */
static bool is_time(const cli_progress *progress) {
    double seconds = cli_seconds(), apart = progress->terminal || progress->json ? 0.1 : 1.0;
    if (!progress->shown || seconds - drawn_at < apart || seconds < progress->not_before) {
        return false;
    }
    drawn_at = seconds;
    return true;
}

void cli_progress_phase(cli_progress *progress, const char *what) {
    pthread_mutex_lock(&drawing);
    progress->what = what;
    /* What takes a moment is not worth a line. */
    progress->not_before = cli_seconds() + (progress->terminal || progress->json ? 0.1 : 1.0);
    watched = progress->shown ? progress : NULL;
    pthread_mutex_unlock(&drawing);
}

/* In the place of the line before, and no wider than the terminal. */
static void put_line(cli_progress *progress, const char *line) {
    struct winsize size;
    int room = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : LINE;
    if (progress->terminal) {
        fprintf(stderr, "\r\033[K%.*s", room, line);
    } else {
        fprintf(stderr, "%s\n", line);
    }
    fflush(stderr);
    progress->drawn = true;
}

/* "3.1 s, about 12 s left". */
static void put_times(const cli_progress *progress, FILE *stream) {
    fprintf(stream, "  %.1f s", cli_elapsed(progress->app));
    if (isfinite(progress->left)) {
        fprintf(stream, ", about %.0f s left", progress->left);
    } else if (progress->most < TOO_LONG) {
        fprintf(stream, ", at most %.0f s left", progress->most);
    }
}

static void put_json_times(const cli_progress *progress, FILE *stream) {
    fprintf(stream, ", \"elapsed\": %.3f, \"estimate\": ", cli_elapsed(progress->app));
    cli_json_number(stream, progress->left);
    fputs(", \"at_most\": ", stream);
    cli_json_number(stream, progress->most);
    putc('}', stream);
}

/* What is done, and how many of it if they are counted (below 0: they are not). */
static void draw(cli_progress *progress, const char *what, int64_t count) {
    char line[LINE];
    FILE *stream = fmemopen(line, sizeof line, "w");
    if (!stream) {
        return;
    }
    fprintf(stream, progress->json ? "{\"phase\": \"%s\"" : "%s", what);
    if (count >= 0) {
        fprintf(stream, progress->json ? ", \"count\": %lld" : " %lld", (long long)count);
    }
    (progress->json ? put_json_times : put_times)(progress, stream);
    fclose(stream);
    put_line(progress, line);
}

static void draw_iterate(cli_progress *progress, const clv_progress *now) {
    char line[LINE];
    FILE *stream = fmemopen(line, sizeof line, "w");
    if (!stream) {
        return;
    }
    if (progress->json) {
        fprintf(stream,
                "{\"phase\": \"solve\", \"restart\": %lld, \"restarts\": %lld, \"iteration\": %lld, \"objective\": ",
                (long long)now->restart + 1, (long long)progress->restarts, (long long)now->iteration);
        cli_json_number(stream, now->objective);
        fputs(", \"gap\": ", stream);
        cli_json_number(stream, now->certificate);
        put_json_times(progress, stream);
    } else {
        fprintf(stream, "solve  restart %lld of %lld  iteration %lld  objective %.8g", (long long)now->restart + 1,
                (long long)progress->restarts, (long long)now->iteration, now->objective);
        if (!isnan(now->certificate)) {
            fprintf(stream, "  gap %.3g", now->certificate);
        }
        put_times(progress, stream);
    }
    fclose(stream);
    put_line(progress, line);
}

static void draw_phase(void) {
    if (!__atomic_load_n(&watched, __ATOMIC_RELAXED) || pthread_mutex_trylock(&drawing) != 0) {
        return;
    }
    if (watched && is_time(watched)) {
        draw(watched, watched->what, -1);
    }
    pthread_mutex_unlock(&drawing);
}

int cli_progress_monitor(const clv_progress *now, void *user) {
    cli_progress *progress = user;
    pthread_mutex_lock(&drawing);
    if (progress == watched) { /* from the first iterate on that is what there is to show */
        watched = NULL;
        progress->not_before = -INFINITY;
    }
    estimate(progress, now);
    if (is_time(progress)) {
        draw_iterate(progress, now);
    }
    pthread_mutex_unlock(&drawing);
    return interrupted;
}

void cli_progress_count(cli_progress *progress, const char *what, int64_t count) {
    if (is_time(progress)) {
        draw(progress, what, count);
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
