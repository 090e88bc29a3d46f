/* Preloaded into the command by tests/limits/run --looks: how long it computes between two looks at whether it was
 * interrupted, which is how long a Ctrl-C at the worst moment waits. $CLEAVE_LOOKS is the file that is told, in seconds
 * of the processor: the longest such stretch, when it began, and when the command learned that it was interrupted; then
 * the calls that the two looks of the stretch came from. */
#include "cleave.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH = 8 };
#define WORTH_A_STACK 1e-3 /* seconds: stretches below are not told where they began */

typedef struct look {
    double at;
    void *stack[DEPTH];
    int depth;
} look;

static struct {
    clv_interrupt hook;
    look last, from, to; /* the last one; those of the longest stretch */
    double learned;
} watched;

static double processor_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void note(void) {
    look here = {.at = processor_time()};
    if (here.at - watched.last.at > WORTH_A_STACK) {
        here.depth = backtrace(here.stack, DEPTH);
    }
    if (here.at - watched.last.at > watched.to.at - watched.from.at) {
        watched.from = watched.last;
        watched.to = here;
    }
    watched.last = here;
}

static int look_through(void *user) {
    int stop = watched.hook(user);
    note();
    if (stop && watched.learned == 0) {
        watched.learned = watched.last.at;
    }
    return stop;
}

void clv_context_set_interrupt(clv_context *ctx, clv_interrupt hook, void *user) {
    void (*next)(clv_context *, clv_interrupt, void *);
    void *found = dlsym(RTLD_NEXT, "clv_context_set_interrupt");
    memcpy(&next, &found, sizeof next);
    watched.hook = hook;
    watched.last.at = processor_time();
    next(ctx, hook ? look_through : NULL, user);
}

static void tell_stack(FILE *out, const look *at) {
    for (int i = 2; i < at->depth; i++) {
        Dl_info where;
        if (dladdr(at->stack[i], &where) && where.dli_fname) {
            fprintf(out, "%s+%#lx ", where.dli_fname, (unsigned long)((char *)at->stack[i] - (char *)where.dli_fbase));
        }
    }
    fputc('\n', out);
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("CLEAVE_LOOKS");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out) {
        return;
    }
    if (watched.learned == 0 && watched.last.at > 0) {
        note(); /* the end */
    }
    fprintf(out, "%.6f %.6f %.6f\n", watched.to.at - watched.from.at, watched.from.at, watched.learned);
    tell_stack(out, &watched.from);
    tell_stack(out, &watched.to);
    fclose(out);
}
