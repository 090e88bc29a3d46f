/* Output files: whether they can be written, asked before any work is done; the writing itself is the library's. */
#include "cli.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_is_listed(const char *list, const char *name, int (*compare)(const char *, const char *, size_t)) {
    size_t length = strlen(name);
    while (list) {
        size_t size = strcspn(list, "|");
        if (size == length && compare(list, name, size) == 0) {
            return true;
        }
        list = list[size] ? list + size + 1 : NULL;
    }
    return false;
}

static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void cli_print_list(const char *list, const char *before, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (const char *at = list; at && used + 1 < size;) {
        size_t length = strcspn(at, "|");
        const char *next = at[length] ? at + length + 1 : NULL;
        bool last = next && !strchr(next, '|');
        used += (size_t)snprintf(text + used, size - used, "%s%.*s%s", before, (int)length, at,
                                 !next  ? ""
                                 : last ? " or "
                                        : ", ");
        at = next;
    }
}

/* A name that ends in .gz is that of a file to be compressed: what stands before it counts. */
bool cli_has_ending(const char *path, const char *endings) {
    const char *name = last_name(path);
    size_t length = strlen(name);
    length -= length > 3 && strcasecmp(name + length - 3, ".gz") == 0 ? 3 : 0;
    size_t dot = length;
    while (dot > 0 && name[dot - 1] != '.') {
        dot--;
    }
    char ending[16];
    return dot > 1 && length - dot < sizeof ending &&
           snprintf(ending, sizeof ending, "%.*s", (int)(length - dot), name + dot) > 0 &&
           cli_is_listed(endings, ending, strncasecmp);
}

/* --- one output --- */

/* "a/b.npy" lies in "a", "/b.npy" in "/", "b.npy" in "."; false: the name is too long. */
static bool folder_of(const char *path, char folder[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    if (strlen(path) >= PATH_MAX) {
        return false;
    }
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) + (slash == path) : 1, slash ? path : ".");
    return true;
}

static clv_status check_folder(const cli_app *app, const cli_target *target) {
    char folder[PATH_MAX];
    if (!folder_of(target->path, folder)) {
        return cli_fail(app, CLV_ECREATE, "--%s %s cannot be written: the name is too long", target->option,
                        target->path);
    }
    if (access(folder, W_OK | X_OK)) {
        return cli_fail(app, CLV_ECREATE, "--%s %s cannot be written: folder %s: %s", target->option, target->path,
                        folder, strerror(errno));
    }
    return CLV_OK;
}

static clv_status check_target(const cli_app *app, const cli_target *target) {
    const char *option = target->option, *path = target->path;
    struct stat info;
    if (!*path || path[strlen(path) - 1] == '/') {
        return cli_fail(app, CLV_ECREATE, "--%s '%s' cannot be written: it is not the name of a file", option, path);
    }
    if (target->endings && !cli_has_ending(path, target->endings)) {
        char endings[128];
        cli_print_list(target->endings, ".", endings, sizeof endings);
        return cli_fail(app, CLV_ECREATE, "--%s '%s' cannot be written: its name must end in %s", option, path,
                        endings);
    }
    bool there = stat(path, &info) == 0;
    if (there && (S_ISDIR(info.st_mode) || access(path, W_OK))) {
        return cli_fail(app, CLV_ECREATE, "--%s %s cannot be written: %s", option, path,
                        strerror(S_ISDIR(info.st_mode) ? EISDIR : errno));
    }
    return !there || S_ISREG(info.st_mode) ? check_folder(app, target) : CLV_OK; /* others are written in place */
}

/* --- outputs and inputs that are one file --- */

static bool same_object(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Where a path leads to, through links, also if there is no file yet: its folder without links, and its name there.
 * false: it cannot be told. */
static bool find_place(const char *path, char place[PATH_MAX]) {
    enum { MOST_LINKS = 40 };
    char link[PATH_MAX], at[PATH_MAX], folder[PATH_MAX];
    ssize_t size = 0;
    if (!folder_of(path, folder)) {
        return false;
    }
    snprintf(at, sizeof at, "%s", path);
    for (int i = 0; i < MOST_LINKS && (size = readlink(at, link, sizeof link - 1)) >= 0; i++) {
        link[size] = '\0';
        int room = link[0] == '/' ? 0 : (int)(last_name(at) - at);
        if (snprintf(place, PATH_MAX, "%.*s%s", room, at, link) >= PATH_MAX) {
            return false;
        }
        memcpy(at, place, sizeof at);
    }
    return size < 0 && folder_of(at, link) && realpath(link, folder) &&
           snprintf(place, PATH_MAX, "%s/%s", folder, last_name(at)) < PATH_MAX;
}

/* Whether two paths name one file: both spelled alike, the same file that is there, or one that will be in the same
 * place. A device may be written twice. */
static bool same_file(const char *a, const char *b) {
    char place_a[PATH_MAX], place_b[PATH_MAX];
    struct stat info_a, info_b;
    bool there_a = stat(a, &info_a) == 0, there_b = stat(b, &info_b) == 0;
    if (strcmp(a, b) == 0) {
        return true;
    }
    if (there_a && there_b) {
        return S_ISREG(info_a.st_mode) && same_object(&info_a, &info_b);
    }
    return there_a == there_b && find_place(a, place_a) && find_place(b, place_b) && strcmp(place_a, place_b) == 0;
}

/* What a walk through a folder looks for, as nftw has no room for it. */
static struct {
    struct stat file;
    size_t root; /* the length of the folder's own name */
} sought;

/* Names that begin with a dot are no documents. */
static int is_sought(const char *path, const struct stat *info, int kind, struct FTW *walk) {
    (void)walk;
    return kind == FTW_F && same_object(info, &sought.file) && !strstr(path + sought.root, "/.");
}

static bool holds_file(const char *folder, const struct stat *file) {
    enum { OPEN_FOLDERS = 16 };
    sought.file = *file;
    sought.root = strlen(folder);
    while (sought.root > 1 && folder[sought.root - 1] == '/') {
        sought.root--;
    }
    return nftw(folder, is_sought, OPEN_FOLDERS, 0) == 1;
}

/* Whether a regular file would be read as `input`: is it, is the .mat file of which that names a variable, or lies in
 * that folder. */
static bool is_read(const char *input, const struct stat *file) {
    char name[PATH_MAX];
    struct stat info;
    const char *colon = strrchr(input, ':');
    if (colon && snprintf(name, sizeof name, "%.*s", (int)(colon - input), input) < PATH_MAX &&
        cli_has_ending(name, "mat") && stat(name, &info) == 0 && same_object(&info, file)) {
        return true;
    }
    if (strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &info) : stat(input, &info)) {
        return false;
    }
    return S_ISDIR(info.st_mode) ? holds_file(input, file) : same_object(&info, file);
}

static clv_status check_distinct(const cli_app *app, const cli_target *targets, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            const char *one = targets[j].path, *other = targets[i].path;
            if (one && other && same_file(one, other)) {
                return cli_fail(app, CLV_EUSAGE, "--%s and --%s both name %s: give each its own file",
                                targets[j].option, targets[i].option, other);
            }
        }
    }
    return CLV_OK;
}

clv_status cli_targets_check(const cli_app *app, const cli_target *targets, size_t count, const char *const *inputs,
                             size_t input_count) {
    CLI_TRY(check_distinct(app, targets, count));
    for (const cli_target *t = targets; t < targets + count; t++) {
        struct stat file;
        if (!t->path || (strcmp(t->path, "-") == 0 && strcmp(t->option, "json") == 0)) {
            continue;
        }
        CLI_TRY(check_target(app, t));
        bool replaced = stat(t->path, &file) == 0 && S_ISREG(file.st_mode);
        for (size_t i = 0; replaced && i < input_count; i++) {
            if (inputs[i] && is_read(inputs[i], &file)) {
                return cli_fail(app, CLV_EUSAGE, "--%s %s would overwrite the input %s: give it another name",
                                t->option, t->path, inputs[i]);
            }
        }
    }
    return CLV_OK;
}

/* --- writing --- */

clv_status cli_output_text(const cli_app *app, const char *path, const char *text, size_t size) {
    if (strcmp(path, "-") == 0) {
        return cli_put(app, text, size);
    }
    return cli_library(app, clv_write_text(app->ctx, path, text, size));
}

clv_status cli_output_json(const cli_app *app, const char *path, cli_printer print, const void *what) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) {
        return cli_fail(app, CLV_ENOMEM, "out of memory");
    }
    print(stream, what);
    bool whole = fclose(stream) == 0;
    clv_status status = whole ? cli_output_text(app, path, text, size) : cli_fail(app, CLV_ENOMEM, "out of memory");
    free(text);
    return status;
}

void cli_outputs_note(cli_outputs *out, const char *path, clv_status status) {
    if (status < 0 && out->first >= 0) {
        out->first = status == CLV_EIO && strcmp(path, "-") != 0 ? CLV_ECREATE : status;
    }
    if (status < 0) {
        cli_tell_no_more_failures();
    }
}

void cli_outputs_matrix(cli_outputs *out, const char *path, const clv_data *data) {
    if (path) {
        clv_status status = clv_write_matrix(out->app->ctx, path, clv_data_matrix(data));
        cli_outputs_note(out, path, cli_library(out->app, status));
    }
}

/* Labels for standard output that nobody reads any more: the reader has seen enough, and need not be told. */
static bool nobody_reads(const char *path, clv_status status) {
    struct pollfd standard = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return status == CLV_EIO && strcmp(path, "-") == 0 && poll(&standard, 1, 0) == 1 && (standard.revents & POLLERR);
}

void cli_outputs_labels(cli_outputs *out, const char *path, const int32_t *labels, int64_t n, const clv_data *of,
                        const char *const *classes) {
    if (path) {
        clv_status status = clv_write_labels_of(out->app->ctx, path, labels, n, of, classes);
        cli_outputs_note(out, path, nobody_reads(path, status) ? status : cli_library(out->app, status));
    }
}

void cli_outputs_render(cli_outputs *out, const char *path, cli_renderer render, const clv_report *report) {
    char *text = NULL;
    size_t size = 0;
    if (path) {
        clv_status status = cli_library(out->app, render(out->app->ctx, report, &text, &size));
        cli_outputs_note(out, path, status < 0 ? status : cli_output_text(out->app, path, text, size));
        clv_release(out->app->ctx, text);
    }
}

void cli_outputs_print(cli_outputs *out, const char *path, cli_printer print, const void *what) {
    if (path) {
        cli_outputs_note(out, path, cli_output_json(out->app, path, print, what));
    }
}

clv_status cli_outputs_tell(cli_outputs *out, const char *json, int quiet, cli_printer print_json,
                            cli_printer print_table, const void *what) {
    bool table = !quiet && !(json && strcmp(json, "-") == 0);
    cli_outputs_print(out, json, print_json, what);
    cli_outputs_print(out, table ? "-" : NULL, print_table, what);
    return out->first;
}
