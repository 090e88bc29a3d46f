/* Plugins: libraries of their own, libcleave_NAME.so, for what needs another toolchain (a GPU, a set of processes). The
 * library depends on none of them; one is opened when it is asked for, and then stays until the process ends, for the
 * run-times that plugins bring along do not survive being unloaded. */
#include "base/base.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef CLEAVE_PLUGIN_DIR
#define CLEAVE_PLUGIN_DIR "/usr/local/lib/cleave"
#endif

typedef struct search {
    clv_text file, looked; /* the name of the library; the folders that were looked into, for the message */
    clv_text path;         /* of the library, when it was found */
    bool found;
} search;

/* The library in this folder, of `size` bytes, if it is there. */
static void look_into(search *s, const char *folder, size_t size) {
    if (s->found || size == 0) {
        return;
    }
    s->path.size = 0;
    clv_text_append(&s->path, folder, size);
    clv_text_add(&s->path, "/%s", s->file.data);
    clv_text_add(&s->looked, "%s%.*s", s->looked.size ? ", " : "", (int)size, folder);
    s->found = s->path.status == CLV_OK && access(s->path.data, R_OK) == 0;
}

/* The folders of a list with colons. */
static void look_into_list(search *s, const char *list) {
    while (list && *list) {
        size_t size = strcspn(list, ":");
        look_into(s, list, size);
        list += size + (list[size] == ':');
    }
}

/* The folder of this file, and its folder cleave/. */
static void look_beside(search *s, const char *file) {
    const char *slash = file ? strrchr(file, '/') : NULL;
    clv_text below = {.ctx = s->path.ctx};
    if (slash) {
        clv_text_add(&below, "%.*s/cleave", (int)(slash - file), file);
        look_into(s, file, (size_t)(slash - file));
        if (below.status == CLV_OK) {
            look_into(s, below.data, below.size);
        }
        s->path.status = below.status < 0 ? below.status : s->path.status;
    }
    clv_free(s->path.ctx, below.data);
}

static void look_everywhere(search *s) {
    char program[4096];
    Dl_info self;
    static const char here = 0; /* an address in this library */
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    look_into_list(s, getenv("CLEAVE_PLUGINS"));
    if (dladdr(&here, &self)) {
        look_beside(s, self.dli_fname);
    }
    if (size > 0) {
        program[size] = '\0';
        look_beside(s, program);
    }
    look_into(s, CLEAVE_PLUGIN_DIR, strlen(CLEAVE_PLUGIN_DIR));
}

/* Whether the end of a library is there, by the table of sections, which is its last part: one that was cut off is
 * opened all the same, and the first look beyond its end kills the process. Of what is no library dlopen says so. */
static bool is_whole(const char *path) {
    ElfW(Ehdr) head = {0};
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait, here and in dlopen */
    bool there = file >= 0 && fstat(file, &about) == 0;
    bool odd = there && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
    bool read_all = there && !odd && read(file, &head, sizeof head) == (ssize_t)sizeof head;
    if (file >= 0) {
        close(file);
    }
    if (odd) {
        return false;
    }
    uint64_t size = read_all ? (uint64_t)about.st_size : 0, table = (uint64_t)head.e_shnum * head.e_shentsize;
    return !read_all || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
           (head.e_shoff <= size && table <= size - head.e_shoff);
}

/* The table that the open library has, if it is one for this version. */
static clv_status take_table(clv_context *ctx, void *library, const char *name, const char *path, int32_t interface,
                             const clv_plugin_head **out) {
    clv_text symbol = {.ctx = ctx};
    clv_text_add(&symbol, "clv_plugin_%s", name);
    clv_plugin_entry entry = NULL;
    if (symbol.status == CLV_OK) {
        void *address = dlsym(library, symbol.data);
        memcpy(&entry, &address, sizeof entry); /* ISO C has no cast from data to functions */
    }
    clv_free(ctx, symbol.data);
    CLV_TRY(symbol.status);
    const clv_plugin_head *head = entry ? entry() : NULL;
    if (!head) {
        return clv_fail(ctx, CLV_EUSAGE, "%s is not a plugin of cleave: it has no function clv_plugin_%s", path, name);
    }
    if (head->interface != interface || strcmp(head->version, CLV_VERSION) != 0) {
        return clv_fail(ctx, CLV_EUSAGE,
                        "%s is the plugin of cleave %s (interface %d), and this is cleave %s (interface %d): install "
                        "the one that was built with it",
                        path, head->version, (int)head->interface, CLV_VERSION, (int)interface);
    }
    *out = head;
    return CLV_OK;
}

static clv_status open_found(clv_context *ctx, const char *name, int32_t interface, const char *instead, search *s,
                             const clv_plugin_head **out) {
    CLV_TRY(s->file.status);
    look_everywhere(s);
    CLV_TRY(s->path.status);
    CLV_TRY(s->looked.status);
    const char *path = s->found ? s->path.data : s->file.data;
    if (s->found && !is_whole(path)) {
        return clv_fail(ctx, CLV_EUSAGE, "the plugin %s is cut off, or no file: install it again, or %s", path,
                        instead);
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) {
        return take_table(ctx, library, name, path, interface, out);
    }
    const char *why = dlerror();
    if (s->found) {
        return clv_fail(ctx, CLV_EUSAGE, "the plugin %s cannot be opened (%s); %s", path, why ? why : "no reason given",
                        instead);
    }
    return clv_fail(ctx, CLV_EUSAGE,
                    "the plugin %s is not installed: it is not in %s, nor where the system looks for libraries; build "
                    "it and name its folder in CLEAVE_PLUGINS, or %s",
                    path, s->looked.data, instead);
}

clv_status clv_plugin_open(clv_context *ctx, const char *name, int32_t interface, const char *instead,
                           const clv_plugin_head **out) {
    search s = {.file = {.ctx = ctx}, .looked = {.ctx = ctx}, .path = {.ctx = ctx}};
    *out = NULL;
    clv_text_add(&s.file, "libcleave_%s.so", name);
    clv_status status = open_found(ctx, name, interface, instead, &s, out);
    CLV_FREE_ALL(ctx, s.file.data, s.looked.data, s.path.data);
    return status;
}
