/* Output files: whether they can be written, asked before any work is done; the writing itself is the library's. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_has_ending(const char *path, const char *endings) {
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    if (!dot || dot == path || dot[-1] == '/') {
        return false;
    }
    for (const char *at = endings; at;) {
        size_t size = strcspn(at, "|");
        if (strlen(dot + 1) == size && strncasecmp(dot + 1, at, size) == 0) {
            return true;
        }
        at = at[size] ? at + size + 1 : NULL;
    }
    return false;
}

/* "a/b.npy" lies in "a", "/b.npy" in "/", "b.npy" in "."; false: the name is too long. */
static bool folder_of(const char *path, char folder[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    if (strlen(path) >= PATH_MAX) {
        return false;
    }
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) + (slash == path) : 1, slash ? path : ".");
    return true;
}

static clv_status check_folder(const cli_app *app, const char *option, const char *path) {
    char folder[PATH_MAX];
    if (!folder_of(path, folder)) {
        return cli_fail(app, CLV_ECREATE, "--%s %s cannot be written: the name is too long", option, path);
    }
    if (access(folder, W_OK | X_OK)) {
        return cli_fail(app, CLV_ECREATE, "--%s %s cannot be written: folder %s: %s", option, path, folder,
                        strerror(errno));
    }
    return CLV_OK;
}

clv_status cli_output_check(const cli_app *app, const char *option, const char *path, const char *endings,
                            const char *input) {
    struct stat target, source;
    if (!path) {
        return CLV_OK;
    }
    if (!*path || path[strlen(path) - 1] == '/') {
        return cli_fail(app, CLV_ECREATE, "--%s '%s' cannot be written: it names no file", option, path);
    }
    if (endings && !cli_has_ending(path, endings)) {
        return cli_fail(app, CLV_ECREATE, "--%s '%s' cannot be written: its name must end in one of .%s", option, path,
                        endings);
    }
    if (stat(path, &target) == 0) {
        if (S_ISDIR(target.st_mode) || (!S_ISREG(target.st_mode) && access(path, W_OK))) {
            return cli_fail(app, CLV_ECREATE, "--%s %s cannot be written: %s", option, path,
                            strerror(S_ISDIR(target.st_mode) ? EISDIR : errno));
        }
        if (S_ISREG(target.st_mode) && input && stat(input, &source) == 0 && source.st_dev == target.st_dev &&
            source.st_ino == target.st_ino) {
            return cli_fail(app, CLV_EUSAGE, "--%s %s would overwrite the input", option, path);
        }
        if (!S_ISREG(target.st_mode)) {
            return CLV_OK; /* a device or a pipe is written in place */
        }
    }
    return check_folder(app, option, path);
}

/* --- several outputs --- */

static bool same_object(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether two paths name one file: both spelled alike, the same file that is there, or the same name in the same
 * folder. A device may be written twice. */
static bool same_file(const char *a, const char *b) {
    char folder_a[PATH_MAX], folder_b[PATH_MAX];
    struct stat info;
    if (strcmp(a, b) == 0) {
        return true;
    }
    if (stat(a, &info) == 0 && !S_ISREG(info.st_mode)) {
        return false;
    }
    return same_object(a, b) || (strcmp(last_name(a), last_name(b)) == 0 && folder_of(a, folder_a) &&
                                 folder_of(b, folder_b) && same_object(folder_a, folder_b));
}

static bool is_standard_output(const cli_target *target) {
    return target->path && strcmp(target->path, "-") == 0 && strcmp(target->option, "json") == 0;
}

static clv_status check_distinct(const cli_app *app, const cli_target *targets, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            const char *one = targets[j].path, *other = targets[i].path;
            if (one && other && same_file(one, other)) {
                return cli_fail(app, CLV_EUSAGE, "--%s and --%s both name %s", targets[j].option, targets[i].option,
                                other);
            }
        }
    }
    return CLV_OK;
}

clv_status cli_targets_check(const cli_app *app, const cli_target *targets, size_t count, const char *const *inputs,
                             size_t input_count) {
    CLI_TRY(check_distinct(app, targets, count));
    for (size_t i = 0; i < input_count; i++) {
        for (size_t t = 0; inputs[i] && t < count; t++) {
            if (!is_standard_output(&targets[t])) {
                CLI_TRY(cli_output_check(app, targets[t].option, targets[t].path, targets[t].endings, inputs[i]));
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
