/* Files and streams that are read: opened, waited for, and read in pieces or whole, asking about interrupts on the way.
 */
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_input(const clv_source *in) {
    clv_free(in->ctx, in->content);
    if (!in->standard && in->file >= 0) {
        close(in->file);
    }
}

clv_status clv_input_end(clv_source *in, clv_status status) {
    char what[400];
    if (status == CLV_ENOMEM) {
        snprintf(what, sizeof what, "%s", clv_message(in->ctx));
        clv_fail(in->ctx, status, "%s takes too much memory to read: %s", in->name, what);
    }
    close_input(in);
    return status;
}

static clv_status look_at_input(clv_source *in) {
    struct stat info;
    if (in->file < 0 || fstat(in->file, &info) != 0) {
        return clv_fail(in->ctx, CLV_ENOINPUT, "cannot read %s: %s", in->name, clv_errno_text(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        return clv_fail(in->ctx, CLV_ENOINPUT, "cannot read %s: it is a directory", in->name);
    }
    in->size = S_ISREG(info.st_mode) ? info.st_size : -1;
    return CLV_OK;
}

clv_status clv_input_open(clv_context *ctx, const char *path, clv_source *in) {
    bool standard = strcmp(path, "-") == 0;
    *in = (clv_source){.ctx = ctx, .name = standard ? "standard input" : path, .standard = standard};
    struct stat info;
    bool pipe = !standard && stat(path, &info) == 0 && S_ISFIFO(info.st_mode);
    int how = O_RDONLY | O_CLOEXEC | (pipe ? O_NONBLOCK : 0); /* its writer is waited for below */
    in->file = standard ? STDIN_FILENO : open(path, how);
    while (in->file < 0 && errno == EINTR) {
        CLV_TRY(clv_read_on(ctx, in->name, 0));
        in->file = open(path, how);
    }
    clv_status status = look_at_input(in);
    return status < 0 ? clv_input_end(in, status) : status;
}

clv_status clv_read_on(clv_context *ctx, const char *name, int64_t bytes) {
    return clv_worked(ctx, bytes) ? clv_stop_failure(ctx, "reading %s", name) : CLV_OK;
}

clv_status clv_parse_on(clv_context *ctx, const char *name, int64_t bytes) {
    enum { WORK_A_BYTE = 16 };
    return clv_read_on(ctx, name, WORK_A_BYTE * bytes);
}

/* Until a stream has something to read, or its end. The hook is asked now and then, as a signal that comes just before
 * the wait does not end it. To wait is work, too: a stream that nothing comes from does not outlast a deadline. */
static clv_status wait_for_bytes(const clv_source *in) {
    enum { SLICE = 100, WORK_A_SLICE = 1 << 24 }; /* milliseconds */
    struct pollfd stream = {.fd = in->file, .events = POLLIN};
    int64_t waited = 0;
    for (int ready = in->size >= 0; ready == 0; waited = WORK_A_SLICE) {
        CLV_TRY(clv_read_on(in->ctx, in->name, waited));
        ready = poll(&stream, 1, SLICE);
        ready = ready < 0 && errno == EINTR ? 0 : ready;
    }
    return clv_read_on(in->ctx, in->name, 0);
}

clv_status clv_input_some(const clv_source *in, uint8_t *to, int64_t room, int64_t *got) {
    ssize_t count = -1;
    room = room < CLV_PIECE ? room : CLV_PIECE;
    for (errno = EINTR; count < 0 && (errno == EINTR || errno == EAGAIN);) {
        CLV_TRY(wait_for_bytes(in));
        count = read(in->file, to, (size_t)room);
    }
    *got = count;
    if (count < 0) {
        return clv_fail(in->ctx, CLV_EIO, "reading %s failed: %s", in->name, clv_errno_text(errno));
    }
    return clv_read_on(in->ctx, in->name, count);
}

clv_status clv_input_content(clv_source *in, clv_bytes *bytes) {
    int64_t room = in->size >= 0 ? in->size + 1 : 1 << 16; /* one to spare shows the end without another block */
    int64_t used = 0;
    int64_t got = 1;
    in->content = CLV_NEW(in->ctx, uint8_t, room);
    if (!in->content) {
        return CLV_ENOMEM;
    }
    while (got > 0) {
        if (used == room) {
            uint8_t *grown = clv_resize(in->ctx, in->content, 2 * room, 1);
            if (!grown) {
                return CLV_ENOMEM;
            }
            in->content = grown;
            room *= 2;
        }
        CLV_TRY(clv_input_some(in, in->content + used, room - used, &got));
        used += got;
    }
    *bytes = (clv_bytes){in->content, (size_t)used, in->name};
    return clv_is_gzip(*bytes) ? clv_gunzip(in, bytes) : CLV_OK;
}

clv_status clv_input_read(clv_context *ctx, const char *path, clv_source *in, clv_bytes *bytes) {
    CLV_TRY(clv_input_open(ctx, path, in));
    clv_status status = clv_input_content(in, bytes);
    return status < 0 ? clv_input_end(in, status) : status;
}
