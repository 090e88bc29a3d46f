/* Threads and clock. The library runs its own OpenMP loops and keeps BLAS to one thread inside them. */
#include "base/base.h"

#include <cblas.h>
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

int64_t clv_default_threads(void) {
    int cores = omp_get_num_procs(), most = omp_get_max_threads();
    return most < cores ? most : cores;
}

int clv_threads(int64_t asked) {
    int64_t threads = asked > 0 ? asked : clv_default_threads();
    return threads < 1024 ? (int)threads : 1024;
}

/* The threads of OpenMP do not follow a process through fork: a child that waits for them waits for ever. It works
 * alone. */
static bool forked;

static void remember_fork(void) {
    forked = true;
}

static __attribute__((constructor)) void watch_forks(void) {
    pthread_atfork(NULL, NULL, remember_fork);
}

/* --- threads that do not fight ---
 *
 * Where other work is on the cores, a team of threads is as slow as its unluckiest member: one that the system has put
 * aside holds up all others at the end of a region, for milliseconds where the region itself takes microseconds, while
 * they burn what is left of their time by spinning. No result depends on the number of threads, so a team may shrink.
 * Two things together tell when: threads are put aside against their will often, which the system counts, and the
 * calling thread does not get its core (while it waits for others it spins, at first). Once is nothing: some other
 * program always runs for a moment; the second time in a row counts. A team that shrank is tried again with twice the
 * threads after a while, and after ever longer whiles if that fails.
 *
 * A short run is over before this shows. So the first look, or one after a pause, asks how much else is running at the
 * moment, where the system tells: if that is enough for all cores, the team begins small, and stays so for as long. The
 * next look may end that, as what was running then may have been another program of a pipeline that was starting. */

#define LOOK 0.1       /* seconds from one look to the next */
#define OFTEN 50.0     /* times per second: the cores are crowded */
#define SHARE 0.85     /* of a core, which a thread has where nothing is beside it */
#define FIRST_REST 0.5 /* seconds until more threads are tried again */
#define LONGEST_REST 4.0

static _Thread_local clv_crowd crowd;

int clv_crowd_team(const clv_crowd *c, int threads) {
    int team = threads >> c->halvings;
    return team > 1 ? team : 1;
}

void clv_crowd_look(clv_crowd *c, double now, int64_t put_aside, double spent, bool taken, int threads) {
    double span = now - c->looked;
    bool fresh = span < 10 * LOOK; /* what came before a long pause says nothing */
    bool crowded = (double)(put_aside - c->put_aside) > OFTEN * span && spent - c->spent < SHARE * span;
    crowded = fresh ? crowded : taken;
    bool lasts = !fresh || c->crowded || c->rest > 0;
    c->crowded = crowded;
    c->looked = now;
    c->put_aside = put_aside;
    c->spent = spent;
    if (crowded && lasts && clv_crowd_team(c, threads) > 1) {
        c->halvings++;
        if (fresh) {
            c->rest = c->rest == 0 ? FIRST_REST : c->rest * 2 < LONGEST_REST ? c->rest * 2 : LONGEST_REST;
        }
        c->retry = fresh ? now + c->rest : now;
    } else if (c->halvings > 0 && now >= c->retry && !taken) {
        c->halvings--;
        c->retry = now + c->rest;
    } else if (c->halvings == 0 && fresh) {
        c->rest = 0;
    }
}

bool clv_cores_taken(const char *loads, int64_t cores) {
    const char *at = loads;
    for (int field = 0; at && field < 3; field++) { /* three averages, then "running/all" */
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at && strtoll(at, NULL, 10) > cores; /* this thread is one of them */
}

/* Whether other work has all cores at this moment. */
static bool cores_taken_now(void) {
    char loads[128] = "";
    int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, loads, sizeof loads - 1) : 0;
    if (file >= 0) {
        close(file);
    }
    return length > 0 && clv_cores_taken(loads, sysconf(_SC_NPROCESSORS_ONLN));
}

/* --- room for BLAS ---
 *
 * OpenBLAS maps a buffer for each thread that calls it at a time, and keeps it; where there is no room for one it tries
 * again for ever, and neither limits nor signals end that. So there is one from the beginning, or the context fails,
 * and a team that calls BLAS has no more threads than there are buffers: these are made sure of before. */

enum { BUFFER = 32 << 22, MOST_BUFFERS = 128 }; /* bytes of one, at most */

/* Of OpenBLAS, without a declaration; another BLAS has none. */
extern void *blas_memory_alloc(int user) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

/* OpenBLAS has one thread count for the whole process: the first to come lowers it, the last to go restores it. */
static pthread_mutex_t blas_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int blas_users;
static int blas_threads_before;
static atomic_int blas_buffers; /* that are there */
static atomic_int blas_asked;   /* the most that were asked for */

static bool has_room(void) {
    void *trial = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return trial != MAP_FAILED && munmap(trial, BUFFER) == 0;
}

static void reserve(int threads) {
    void *held[MOST_BUFFERS];
    int count = 0;
    while (count < threads && count < MOST_BUFFERS && has_room()) {
        held[count++] = blas_memory_alloc(0);
    }
    for (int i = 0; i < count; i++) {
        blas_memory_free(held[i]);
    }
    count = count == MOST_BUFFERS ? threads : count;
    blas_buffers = count > blas_buffers ? count : blas_buffers;
    blas_asked = threads;
}

int clv_blas_room(int threads) {
    if (!blas_memory_alloc || !blas_memory_free) {
        return threads;
    }
    if (threads > blas_asked) {
        pthread_mutex_lock(&blas_lock);
        if (threads > blas_asked) {
            reserve(threads);
        }
        pthread_mutex_unlock(&blas_lock);
    }
    return threads < blas_buffers ? threads : blas_buffers;
}

int clv_team(int threads) {
    if (threads <= 1 || forked) {
        return 1;
    }
    double now = clv_seconds();
    struct rusage used;
    if (now - crowd.looked >= LOOK && getrusage(RUSAGE_SELF, &used) == 0) {
        struct timespec spent;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
        clv_crowd_look(&crowd, now, used.ru_nivcsw, (double)spent.tv_sec + 1e-9 * (double)spent.tv_nsec,
                       cores_taken_now(), threads);
    }
    int team = clv_crowd_team(&crowd, threads);
    return blas_users > 0 ? clv_blas_room(team) : team;
}

void clv_blas_serial_begin(void) {
    pthread_mutex_lock(&blas_lock);
    if (blas_users++ == 0) {
        blas_threads_before = openblas_get_num_threads();
        if (blas_threads_before != 1) {
            openblas_set_num_threads(1);
        }
    }
    pthread_mutex_unlock(&blas_lock);
}

void clv_blas_serial_end(void) {
    pthread_mutex_lock(&blas_lock);
    if (--blas_users == 0 && blas_threads_before != 1) {
        openblas_set_num_threads(blas_threads_before);
    }
    pthread_mutex_unlock(&blas_lock);
}

double clv_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
