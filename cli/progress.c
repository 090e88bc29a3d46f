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
#include <string.h>
#include <sys/ioctl.h>
#include <sysexits.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
/* The line that the hook draws, if any: the hook is asked from all threads. */
static cli_progress *watched;
static pthread_mutex_t drawing = PTHREAD_MUTEX_INITIALIZER;

static void remember_signal(int number) {
    (void)number;
    interrupted = 1;
}

#define CUT "cleave: a file became shorter while it was used: its data are gone"
/* The message is prepared in advance: hardly anything may be called in a signal handler. */
static char cut_text[sizeof CUT + 64] = CUT "\n";
static size_t cut_size = sizeof CUT;
static int cut_told_to = STDERR_FILENO;

/* A mapped file that became shorter: what is beyond its end cannot be read. */
static void end_mapping(int number) {
    (void)number;
    ssize_t told = write(cut_told_to, cut_text, cut_size);
    _exit(told < 0 ? EXIT_FAILURE : EX_IOERR);
}

void cli_signals_place(int standard_error, int64_t rank, int64_t ranks) {
    cut_told_to = standard_error;
    cut_size = (size_t)snprintf(cut_text, sizeof cut_text, CUT " (on process %lld of %lld)\n", (long long)rank + 1,
                                (long long)ranks);
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
    clv_context_set_memory_limit(app->ctx, memory > 0 ? (size_t)memory : cli_budget(0) / 2 * 3);
}

void cli_reading_end(const cli_app *app) {
    clv_context_set_memory_limit(app->ctx, 0);
    restart_calls(SIGINT);
    restart_calls(SIGTERM);
    restart_calls(SIGHUP);
}

/* --- how long it still takes --- */

/* A prediction is looked at so often, and believed once it has stayed where it is for a while: a share of the time that
 * the run took until then, and LEAST seconds; it has if it differs by no more than a share of what is left. */
#define LOOK_EVERY 0.25
#define LEAST 1.5
#define SHARE 0.2
#define SMOOTHING 0.2
/* So many times the time that has passed is no time to speak of. */
#define TOO_MANY_TIMES 100

/* When all restarts will be over, by those that followed the first; NaN: too few did. Those that run side by side end
 * together. */
static double end_by_restarts(const cli_progress *p) {
    int64_t counted = p->done - p->first_done;
    return p->first_done > 0 && counted >= 4 * p->beside
               ? p->done_at + (p->done_at - p->first_at) * (double)(p->restarts - p->done) / (double)counted
               : (double)NAN;
}

static void note_restarts(cli_progress *p, const clv_progress *at, double now) {
    if (at->done > p->done) {
        p->first_at = p->done == 0 ? now : p->first_at;
        p->first_done = p->done == 0 ? at->done : p->first_done;
        p->done = at->done;
        p->done_at = now;
    }
}

/* When the certificate of the one restart will be its tolerance, if it goes on falling by the same share, which is
 * smoothed; NaN: it does not fall. */
static double end_by_certificate(cli_progress *p, const clv_progress *at, double now) {
    double before = p->certificate, since = now - p->certificate_at;
    if (!(at->tolerance > 0) || !(at->certificate > at->tolerance)) {
        return (double)NAN;
    }
    p->certificate = before > 0 ? fmin(before, at->certificate) : at->certificate;
    p->certificate_at = now;
    if (!(before > 0) || !(since > 0)) {
        return (double)NAN;
    }
    double rate = log(before / p->certificate) / since;
    p->rate = isnan(p->rate) ? rate : (1 - SMOOTHING) * p->rate + SMOOTHING * rate;
    return p->rate > 0 ? now + log(p->certificate / at->tolerance) / p->rate : (double)NAN;
}

/* A prediction that moves is not shown, and what is shown never grows. */
static void believe(cli_progress *p, double end, double now) {
    bool agrees = fabs(end - p->end) <= SHARE * (end - now) + LOOK_EVERY;
    if (!agrees) {
        p->end = end;
        p->agreed_since = now;
    } else if (end < p->end) {
        p->end = end;
    }
}

/* Methods that are run once per cluster or model begin anew: nobody knows how often. */
static void estimate(cli_progress *p, const clv_progress *at) {
    double now = cli_seconds();
    p->several = p->several || at->done < p->done || (p->restarts == 1 && at->seconds < p->seconds);
    p->seconds = at->seconds;
    p->iteration = at->iteration;
    note_restarts(p, at, now);
    if (p->several || now - p->looked_at < LOOK_EVERY) {
        return;
    }
    p->looked_at = now;
    believe(p, p->restarts > 1 ? end_by_restarts(p) : end_by_certificate(p, at, now), now);
}

/* The most that the limits of time and of iterations leave; infinity: nothing to speak of. */
static double most_left(const cli_progress *p) {
    double gone = cli_seconds() - p->began;
    double by_time = p->time_limit > 0 ? p->time_limit - cli_elapsed(p->app) : (double)INFINITY;
    double by_steps = p->restarts == 1 && p->iteration > 0 && !p->several
                          ? (double)(p->max_iter - p->iteration) * gone / (double)p->iteration
                          : (double)INFINITY;
    return fmax(0, fmin(by_time, by_steps > TOO_MANY_TIMES * gone ? (double)INFINITY : by_steps));
}

/* Seconds left; NaN: not known. */
static double seconds_left(cli_progress *p) {
    double now = cli_seconds(), left = fmin(p->end - now, most_left(p));
    bool sure =
        !p->several && isfinite(p->end) && now - p->agreed_since >= fmax(LEAST, SHARE * (p->agreed_since - p->began));
    if (!sure || !(left > 0) || left > p->least_left) {
        return (double)NAN;
    }
    p->least_left = left;
    return left;
}

/* --- the line --- */

enum { LINE = 256 };
/* When the last update was: of all lines, as there is one standard error. */
static double drawn_at = -INFINITY;

bool cli_progress_is_wanted(const cli_args *args, int asked, int quiet) {
    return cli_args_given(args, "progress") ? asked != 0 : isatty(STDERR_FILENO) && !quiet;
}

void cli_progress_begin(cli_progress *progress, const cli_app *app, bool shown, int asked, clv_control *control) {
    bool terminal = isatty(STDERR_FILENO) != 0, json = asked == CLI_PROGRESS_JSON;
    *progress = (cli_progress){.app = app,
                               .shown = shown,
                               .terminal = terminal && !json,
                               .json = json,
                               .not_before = -INFINITY,
                               .end = NAN,
                               .rate = NAN,
                               .certificate = NAN,
                               .least_left = INFINITY,
                               .began = cli_seconds()};
    if (control && progress->shown) {
        int64_t threads = control->threads > 0 ? control->threads : sysconf(_SC_NPROCESSORS_ONLN);
        progress->restarts = control->restarts;
        progress->beside = threads < control->restarts ? threads : control->restarts;
        progress->max_iter = control->max_iter;
        progress->time_limit = control->time_limit;
        progress->solves = true;
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
static void put_times(cli_progress *progress, FILE *stream) {
    double left = seconds_left(progress), most = most_left(progress);
    fprintf(stream, "  %.1f s", cli_elapsed(progress->app));
    if (isfinite(left)) {
        fprintf(stream, ", about %.0f s left", ceil(left));
    } else if (isfinite(most)) {
        fprintf(stream, ", at most %.0f s left", ceil(most));
    }
}

static void put_json_times(cli_progress *progress, FILE *stream) {
    double left = seconds_left(progress), most = most_left(progress);
    fprintf(stream, ", \"elapsed\": %.3f, \"estimate\": ", cli_elapsed(progress->app));
    cli_json_number(stream, left);
    fputs(", \"at_most\": ", stream);
    cli_json_number(stream, most);
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

/* An iterate, or with NULL the start that is still being made. */
static void draw_iterate(cli_progress *progress, const clv_progress *now) {
    static const clv_progress start = {.objective = NAN, .certificate = NAN};
    char line[LINE];
    const char *phase = now ? "solve" : "start";
    FILE *stream = fmemopen(line, sizeof line, "w");
    if (!stream) {
        return;
    }
    now = now ? now : &start;
    if (progress->json) {
        fprintf(stream,
                "{\"phase\": \"%s\", \"restart\": %lld, \"restarts\": %lld, \"iteration\": %lld, \"objective\": ",
                phase, (long long)now->restart + 1, (long long)progress->restarts, (long long)now->iteration);
        cli_json_number(stream, now->objective);
        fputs(", \"gap\": ", stream);
        cli_json_number(stream, now->certificate);
        put_json_times(progress, stream);
    } else {
        fprintf(stream, "%s  restart %lld of %lld  iteration %lld", phase, (long long)now->restart + 1,
                (long long)progress->restarts, (long long)now->iteration);
        if (!isnan(now->objective)) {
            fprintf(stream, "  objective %.8g", now->objective);
        }
        if (!isnan(now->certificate)) {
            fprintf(stream, "  certificate %.3g", now->certificate);
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
        bool start = watched->solves && strcmp(watched->what, "start") == 0;
        start ? draw_iterate(watched, NULL) : draw(watched, watched->what, -1);
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
