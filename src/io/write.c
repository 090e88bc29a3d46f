/* Files written whole or not at all: the bytes go to a temporary file beside the target, which takes its place when it
 * is complete and on the disk. Where the file system can, the file has no name until then, so that nothing of it stays
 * when the program is killed. Symbolic links are followed, the mode of an existing file is kept. What is no regular
 * file (a terminal, a pipe) is written directly. A name that ends in .gz is compressed. */
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER = 1 << 16, ATTEMPTS = 100, MOST_LINKS = 40 };

struct clv_writer {
    clv_context *ctx;
    int file;
    clv_status status;
    const char *path; /* as asked for, borrowed */
    bool direct;
    char target[PATH_MAX];    /* after links */
    char temporary[PATH_MAX]; /* "": the file has no name yet */
    bool compressed;
    z_stream stream; /* if so */
    size_t used;
    char buffer[BUFFER];
};

static clv_status refuse(clv_writer *w, int code) {
    return clv_fail(w->ctx, CLV_ECREATE, "cannot write %s: %s", w->path, clv_errno_text(code));
}

/* `name` beside the file `path`. */
static bool join(char out[PATH_MAX], const char *path, const char *name) {
    const char *slash = name[0] == '/' ? NULL : strrchr(path, '/');
    int directory = slash ? (int)(slash - path) + 1 : 0;
    char joined[PATH_MAX];
    int size = snprintf(joined, sizeof joined, "%.*s%s", directory, path, name);
    if (size < 0 || size >= PATH_MAX) {
        return false;
    }
    memcpy(out, joined, (size_t)size + 1);
    return true;
}

/* The file that is meant, through links, also when it does not exist yet. */
static clv_status follow_links(clv_writer *w) {
    if (!join(w->target, "", w->path)) {
        return refuse(w, ENAMETOOLONG);
    }
    for (int i = 0; i < MOST_LINKS; i++) {
        char link[PATH_MAX];
        ssize_t size = readlink(w->target, link, sizeof link - 1);
        if (size < 0) {
            return CLV_OK;
        }
        link[size] = '\0';
        if (!join(w->target, w->target, link)) {
            return refuse(w, ENAMETOOLONG);
        }
    }
    return refuse(w, ELOOP);
}

/* The descriptor that a name such as /dev/stdout or /dev/fd/3 stands for, or -1. It must be used as it is: it may be a
 * regular file that the shell appends to. */
static int named_descriptor(const char *path) {
    int64_t number;
    if (strcmp(path, "/dev/stdout") == 0) {
        return STDOUT_FILENO;
    }
    if (strcmp(path, "/dev/stderr") == 0) {
        return STDERR_FILENO;
    }
    const char *end = path + strlen(path);
    bool listed = strncmp(path, "/dev/fd/", 8) == 0 && clv_scan_integer(path + 8, end, &number) == end;
    return listed && number >= 0 && number <= INT_MAX ? (int)number : -1;
}

/* The file under the name `temporary`: made now or, where it is open without a name, linked. */
static bool appear(clv_writer *w) {
    char unnamed[64];
    if (w->file < 0) {
        w->file = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        return w->file >= 0;
    }
    snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", w->file);
    return linkat(AT_FDCWD, unnamed, AT_FDCWD, w->temporary, AT_SYMLINK_FOLLOW) == 0;
}

static clv_status name_temporary(clv_writer *w) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t moment = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    clv_rng names = clv_rng_stream(moment, (uint64_t)getpid() ^ (uint64_t)(uintptr_t)w);
    for (int i = 0; i < ATTEMPTS; i++) {
        char name[64];
        snprintf(name, sizeof name, ".cleave-%016llx.tmp", (unsigned long long)clv_rng_next(&names));
        if (!join(w->temporary, w->target, name)) {
            w->temporary[0] = '\0';
            return refuse(w, ENAMETOOLONG);
        }
        if (appear(w)) {
            return CLV_OK;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    w->temporary[0] = '\0';
    return refuse(w, errno);
}

/* A new file beside the target. Its mode comes from the umask, which only the kernel can read without changing it. */
static clv_status open_temporary(clv_writer *w) {
    char folder[PATH_MAX];
    w->temporary[0] = '\0';
#ifdef O_TMPFILE
    if (join(folder, w->target, ".") && access("/proc/self/fd", X_OK) == 0) {
        w->file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    }
#endif
    return w->file >= 0 ? CLV_OK : name_temporary(w);
}

/* A pipe, opened when somebody reads it. A signal ends the wait, also where other calls go on after one; it may come
 * between two of them, or when the sleep is over, and is then known by the hook, unless that has ended the run before.
 */
static clv_status open_pipe(clv_writer *w) {
    static const struct timespec slice = {.tv_nsec = 50000000};
    bool ended = clv_asked_to_stop_waiting(w->ctx);
    while ((w->file = open(w->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO) {
        if (nanosleep(&slice, NULL) != 0 || (!ended && clv_asked_to_stop_waiting(w->ctx))) {
            return clv_fail(w->ctx, CLV_ECREATE, "cannot write %s: interrupted, and nobody reads that pipe", w->path);
        }
    }
    bool opened = w->file >= 0 && fcntl(w->file, F_SETFL, O_WRONLY) == 0;
    return opened ? CLV_OK : refuse(w, errno);
}

/* The new file looks like the one that it replaces; the owner stays if we may set it. */
static clv_status keep_mode(clv_writer *w, const struct stat *info) {
    if (fchown(w->file, info->st_uid, info->st_gid) != 0) {
        errno = 0;
    }
    return fchmod(w->file, info->st_mode & 0777) == 0 ? CLV_OK : refuse(w, errno);
}

static clv_status open_target(clv_writer *w) {
    struct stat info;
    int descriptor = named_descriptor(w->path);
    bool exists = stat(w->path, &info) == 0;
    w->direct = descriptor >= 0 || (exists && !S_ISREG(info.st_mode));
    if (descriptor < 0 && exists && S_ISFIFO(info.st_mode)) {
        return open_pipe(w);
    }
    if (w->direct) {
        w->file = descriptor >= 0 ? dup(descriptor) : open(w->path, O_WRONLY | O_CLOEXEC);
        return w->file >= 0 ? CLV_OK : refuse(w, errno);
    }
    if (exists && access(w->path, W_OK) != 0) {
        return refuse(w, errno);
    }
    CLV_TRY(follow_links(w));
    CLV_TRY(open_temporary(w));
    return exists ? keep_mode(w, &info) : CLV_OK;
}

static clv_status begin_compressing(clv_writer *w) {
    enum { GZIP = 16 + MAX_WBITS, MEMORY = 8 };
    w->stream = (z_stream){.zalloc = clv_zlib_allocate, .zfree = clv_zlib_release, .opaque = w->ctx};
    w->compressed =
        deflateInit2(&w->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
    return w->compressed ? CLV_OK : clv_fail(w->ctx, CLV_ENOMEM, "out of memory to compress %s", w->path);
}

static void drop(clv_writer *w) {
    if (w->compressed) {
        deflateEnd(&w->stream);
    }
    if (w->file >= 0) {
        close(w->file);
        if (!w->direct && w->temporary[0]) {
            unlink(w->temporary);
        }
    }
    clv_free(w->ctx, w);
}

clv_status clv_writer_open(clv_context *ctx, const char *path, clv_writer **out) {
    *out = NULL;
    clv_writer *w = CLV_NEW(ctx, clv_writer, 1);
    if (!w) {
        return CLV_ENOMEM;
    }
    w->ctx = ctx;
    w->path = path;
    w->file = -1;
    w->used = 0;
    w->compressed = false;
    w->status = CLV_OK;
    clv_status status = clv_is_compressed(path) ? begin_compressing(w) : CLV_OK;
    status = status < 0 ? status : open_target(w);
    if (status < 0) {
        drop(w);
        return status;
    }
    *out = w;
    return CLV_OK;
}

static clv_status refuse_write(clv_writer *w) {
    return clv_fail(w->ctx, CLV_EIO, "writing %s failed: %s", w->path, clv_errno_text(errno));
}

static void write_out(clv_writer *w, const char *bytes, size_t size) {
    while (size > 0 && w->status == CLV_OK) {
        ssize_t written = write(w->file, bytes, size);
        if (written < 0 && errno != EINTR) {
            w->status = refuse_write(w);
        } else if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
}

/* Compress some bytes, the last ones if `flush` is Z_FINISH, and write what comes of it. */
static void compress_out(clv_writer *w, const char *bytes, size_t size, int flush) {
    char room[1 << 14];
    for (bool more = true; more && w->status == CLV_OK;) {
        size_t piece = size < CLV_PIECE ? size : CLV_PIECE;
        w->stream.next_in = (z_const Bytef *)(uintptr_t)bytes; /* zlib does not write there */
        w->stream.avail_in = (unsigned)piece;
        w->stream.next_out = (Bytef *)room;
        w->stream.avail_out = sizeof room;
        deflate(&w->stream, piece == size ? flush : Z_NO_FLUSH);
        size_t taken = piece - w->stream.avail_in;
        bytes += taken;
        size -= taken;
        more = size > 0 || w->stream.avail_out == 0;
        write_out(w, room, sizeof room - w->stream.avail_out);
    }
}

static void send(clv_writer *w, const char *bytes, size_t size, int flush) {
    if (w->compressed) {
        compress_out(w, bytes, size, flush);
    } else {
        write_out(w, bytes, size);
    }
}

void clv_writer_put(clv_writer *writer, const void *bytes, size_t size) {
    if (size > BUFFER - writer->used) {
        send(writer, writer->buffer, writer->used, Z_NO_FLUSH);
        writer->used = 0;
    }
    if (size > BUFFER) {
        send(writer, bytes, size, Z_NO_FLUSH);
    } else if (size > 0) {
        memcpy(writer->buffer + writer->used, bytes, size);
        writer->used += size;
    }
}

clv_status clv_writer_status(const clv_writer *writer) {
    return writer->status;
}

bool clv_writer_goes_on(clv_writer *writer, int64_t i) {
    enum { ROWS_A_POLL = 64 };
    if (writer->status == CLV_OK && i % ROWS_A_POLL == 0 && clv_asked_to_stop(writer->ctx)) {
        writer->status = clv_stop_failure(writer->ctx, "writing %s", writer->path);
    }
    return writer->status == CLV_OK;
}

/* Some file systems cannot sync, which is no failure to write. */
static clv_status sync_file(clv_writer *w) {
    if (fsync(w->file) != 0 && errno != EINVAL && errno != ENOTSUP) {
        return refuse_write(w);
    }
    return CLV_OK;
}

static clv_status put_in_place(clv_writer *w) {
    send(w, w->buffer, w->used, Z_FINISH);
    CLV_TRY(w->status);
    if (!w->direct) {
        CLV_TRY(sync_file(w));
        CLV_TRY(w->temporary[0] ? CLV_OK : name_temporary(w));
    }
    int file = w->file;
    w->file = -1;
    bool closed = close(file) == 0;
    clv_status status = closed ? CLV_OK : refuse_write(w);
    if (closed && !w->direct && rename(w->temporary, w->target) != 0) {
        status = refuse(w, errno);
    }
    if (status < 0 && !w->direct) {
        unlink(w->temporary);
    }
    return status;
}

clv_status clv_writer_finish(clv_writer *writer, clv_status status) {
    if (status == CLV_OK) {
        status = put_in_place(writer);
    }
    drop(writer);
    return status;
}

clv_status clv_write_text(clv_context *ctx, const char *path, const char *text, size_t size) {
    CLV_NEED(ctx, path);
    CLV_NEED_AS(ctx, size == 0 || text, "text");
    clv_writer *writer;
    CLV_TRY(clv_writer_open(ctx, path, &writer));
    clv_writer_put(writer, text, size);
    return clv_writer_finish(writer, CLV_OK);
}
