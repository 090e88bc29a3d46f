/* The console: one-line failures on standard error, checked writing on standard output, exit statuses. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double cli_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double cli_elapsed(const cli_app *app) {
    return cli_seconds() - app->started;
}

/* --- messages --- */

static bool as_json;

void cli_tell_as_json(void) {
    as_json = true;
}

static void tell_json(const char *kind, const char *text) {
    fprintf(stderr, "{\"%s\": ", kind);
    cli_json_string(stderr, text);
    fputs("}\n", stderr);
}

void cli_tell(const char *format, ...) {
    static const char mark[] = "warning: ";
    char text[PATH_MAX + 1024];
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the analyzer overlooks the line above */
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *warning = strstr(text, mark);
    if (!as_json) {
        fprintf(stderr, "%s\n", text);
    } else if (warning) { /* of a file, whose name stands before it */
        memmove(warning, warning + sizeof mark - 1, strlen(warning + sizeof mark - 1) + 1);
        tell_json("warning", text);
    } else {
        tell_json("message", text);
    }
}

void cli_tell_end(const cli_app *app, int code) {
    if (as_json) {
        fprintf(stderr, "{\"phase\": \"done\", \"elapsed\": %.3f, \"status\": %d}\n", cli_elapsed(app), code);
    }
}

static char last_failure[2048];
static bool told, enough; /* a failure; no more of them are */

const char *cli_last_failure(void) {
    return last_failure;
}

void cli_one_line(char *text) {
    for (char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f) {
            *at = '?';
        }
    }
}

void cli_tell_no_more_failures(void) {
    enough = told;
}

clv_status cli_fail(const cli_app *app, clv_status status, const char *format, ...) {
    char *text = last_failure;
    va_list args;
    if (enough) {
        return status;
    }
    told = true;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the analyzer overlooks the line above */
    vsnprintf(text, sizeof last_failure, format, args);
    va_end(args);
    cli_one_line(text);
    if (as_json) {
        tell_json("error", text);
    } else {
        fprintf(stderr, "cleave%s%s: %s\n", app->command ? " " : "", app->command ? app->command : "", text);
    }
    return status;
}

clv_status cli_library(const cli_app *app, clv_status status) {
    if (status >= 0) {
        return status;
    }
    if (cli_interrupted() && (status == CLV_EINTERRUPTED || status == CLV_EIO)) {
        return cli_fail(app, CLV_EINTERRUPTED, "interrupted before there was a result");
    }
    const char *message = clv_message(app->ctx);
    return cli_fail(app, status, "%s", *message ? message : clv_status_name(status));
}

const char *cli_input_name(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

clv_status cli_library_on(const cli_app *app, const char *path, clv_status status) {
    if (status == CLV_EDATA) {
        return cli_fail(app, status, "%s: %s", cli_input_name(path), clv_message(app->ctx));
    }
    return cli_library(app, status);
}

/* Whether nobody reads what is written any more. */
static bool is_left(void) {
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* `reason` 0: it was an earlier write that failed. */
static clv_status fail_stdout(const cli_app *app, int reason) {
    if (reason == EPIPE || (reason == 0 && is_left())) {
        return CLV_EIO; /* the reader has seen enough; it need not be told */
    }
    return cli_fail(app, CLV_EIO, "standard output cannot be written: %s", reason ? strerror(reason) : "write error");
}

clv_status cli_put(const cli_app *app, const char *text, size_t size) {
    errno = 0;
    if (fwrite(text, 1, size, stdout) != size) {
        return fail_stdout(app, errno);
    }
    return cli_flush(app);
}

clv_status cli_flush(const cli_app *app) {
    errno = 0;
    if (fflush(stdout) || ferror(stdout)) {
        return fail_stdout(app, errno);
    }
    return CLV_OK;
}

int cli_exit_status(clv_status status) {
    static const int codes[] = {
        [-CLV_EUSAGE] = 64,  [-CLV_EDATA] = 65, [-CLV_ENOINPUT] = 66,      [-CLV_EINTERNAL] = 70, [-CLV_ENOMEM] = 71,
        [-CLV_ECREATE] = 73, [-CLV_EIO] = 74,   [-CLV_EINTERRUPTED] = 130, [-CLV_ENUMERIC] = 70,  [-CLV_ETIME] = 75};
    return codes[-status];
}

clv_status cli_end(bool others, int quiet) {
    if (!others && !cli_interrupted()) {
        return CLV_OK;
    }
    if (!quiet) {
        cli_tell("interrupted: this is the best result so far");
    }
    return CLV_EINTERRUPTED;
}

/* A launcher of several processes gives them a terminal of its own, wherever their output goes. */
static bool colored(void) {
    const char *forbidden = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return cli_started_together() <= 1 && !(forbidden && *forbidden) && !(terminal && strcmp(terminal, "dumb") == 0) &&
           isatty(STDOUT_FILENO);
}

const char *cli_styled(cli_style style) {
    static const char *const sequences[] = {"\033[0m", "\033[1m", "\033[32m", "\033[31m"};
    return colored() ? sequences[style] : "";
}

void cli_print_bytes(double bytes, char *text, size_t size) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

void cli_json_number(FILE *stream, double value) {
    if (isfinite(value)) {
        fprintf(stream, "%.17g", value);
    } else {
        fputs("null", stream);
    }
}

void cli_json_string(FILE *stream, const char *text) {
    if (!text) {
        fputs("null", stream);
        return;
    }
    fputc('"', stream);
    for (; *text; text++) {
        unsigned char letter = (unsigned char)*text;
        if (letter < 0x20) {
            fprintf(stream, "\\u%04x", letter);
        } else {
            fprintf(stream, letter == '"' || letter == '\\' ? "\\%c" : "%c", letter);
        }
    }
    fputc('"', stream);
}

double cli_shown_objective(const clv_result *result) {
    bool nothing = result->bound.name && fabs(result->objective.value) <= 1e-12 * (double)result->k;
    return nothing ? 0 : result->objective.value;
}

void cli_outcome_note(const cli_app *app, const clv_result *result, double ari) {
    if (app->outcome) {
        *app->outcome = (cli_outcome){.n = result->n,
                                      .k = result->k,
                                      .labeled = result->labels != NULL,
                                      .value = cli_shown_objective(result),
                                      .bound = result->bound.name ? result->bound.value : (double)NAN,
                                      .ari = ari,
                                      .holds = result->certificate.holds != 0};
        snprintf(app->outcome->objective, sizeof app->outcome->objective, "%s", result->objective.name);
    }
}
