/* base: what every layer stands on. Status and message, memory, sizes, random numbers, threads, clock, plugins. */
#ifndef CLV_BASE_H
#define CLV_BASE_H

#include "cleave.h"

#include <locale.h>
#include <stdatomic.h>
#include <stdbool.h>

/* --- status and message (context.c) --- */

/* Put a sentence into the context and return `status`; the first line of every failure. Callable from any thread. */
__attribute__((format(printf, 3, 4))) clv_status clv_fail(clv_context *ctx, clv_status status, const char *format, ...);
/* It returns what it is given; the static analyzer cannot see that from here, and would take failures for successes. */
#ifdef __clang_analyzer__
#define clv_fail(ctx, status, ...) ((void)clv_fail((ctx), (status), __VA_ARGS__), (status))
#endif

/* --- stopping, and the clock (context.c) ---
 *
 * A context has one deadline, absolute: the earlier of the caller's for the context (clv_context_set_time_limit) and
 * that of the solve under way. Nothing else knows how much time is left; long loops ask whether to stop. Until there is
 * something to return, so much work as passes in a moment is done after the deadline too, counted and not timed: on
 * small data a time limit, however short, has a result. */

/* Whether the interrupt hook wants the computation to stop, or the deadline has passed: long loops ask this. */
bool clv_interrupted(clv_context *ctx);
/* The same, after work of about so many multiplications since the last time: for loops without which there is no
 * result. (Bytes that are allocated count by themselves.) */
bool clv_worked(clv_context *ctx, int64_t amount);
/* The same for loops whose threads share `stopped`: false from the first time on that clv_worked is true. */
bool clv_goes_on(clv_context *ctx, atomic_bool *stopped, int64_t amount);
/* The failure of work that is given up because one of these was true: CLV_ETIME or, when the hook asked, which counts
 * first, CLV_EINTERRUPTED, with a sentence about what was being done: "reading %s", "building the affinity". */
__attribute__((format(printf, 2, 3))) clv_status clv_stop_failure(clv_context *ctx, const char *format, ...);
#ifdef __clang_analyzer__
#define clv_stop_failure(ctx, ...) ((void)clv_stop_failure((ctx), __VA_ARGS__), CLV_EINTERRUPTED)
#endif
static inline bool clv_is_stop(clv_status status) {
    return status == CLV_EINTERRUPTED || status == CLV_ETIME;
}
/* The hook alone; the deadline alone. */
bool clv_asked_to_stop(clv_context *ctx);
bool clv_out_of_time(clv_context *ctx);
/* Whether a computation was told to come to an end, so that what it left may not be all, since the deadline was set. */
bool clv_was_hurried(const clv_context *ctx);

/* The hook, held or not: for waits. */
bool clv_asked_to_stop_waiting(clv_context *ctx);
/* The clock that deadlines are set by, as this process has it: that of several processes begins when they join. */
double clv_own_seconds(const clv_context *ctx);
/* Work that is to take at most so many seconds (0: as many as the context has), from here to clv_deadline_end, which
 * takes what this returns and says how many it took. */
typedef struct clv_deadline {
    double since, at; /* by clv_own_seconds; at 0: there is none */
} clv_deadline;
clv_deadline clv_deadline_begin(clv_context *ctx, double seconds);
double clv_deadline_end(clv_context *ctx, clv_deadline before);
/* There is something to return: from here on the deadline cuts into all work. */
void clv_grace_end(clv_context *ctx);
/* Whether this share of the time for the work under way is over. */
bool clv_share_is_over(clv_context *ctx, double share);
/* Between these, work that can be done without: it is to be given up when this share of the time is over. */
void clv_optional_begin(clv_context *ctx, double share);
void clv_optional_end(clv_context *ctx);
/* Between these as much work as takes a moment is done, whatever the hook and the deadline say; then the hook counts,
 * and the deadline when it is a little less than half a second past: for one evaluation without which what was found
 * is worth less. They nest, also across threads. */
void clv_overtime_begin(clv_context *ctx);
void clv_overtime_end(clv_context *ctx);
/* Between true and false long loops run to their end: for short work without which what was found could not be kept. */
void clv_set_patient(clv_context *ctx, bool patient);

/* --- sorting (sort.c) --- */

/* Less than, equal to or greater than 0, as for qsort. */
typedef int (*clv_order)(const void *left, const void *right);
/* In place, without memory of its own; equal items come in any order. False: interrupted, and not sorted. */
bool clv_sort(clv_context *ctx, void *items, int64_t count, size_t size, clv_order compare);

/* --- checkpoints, as they were asked for (context.c); engine/checkpoint.c makes them --- */
typedef struct clv_checkpointing {
    clv_checkpoint_writer write; /* NULL: none are to be written */
    void *user;
    double every;
    unsigned char *resume; /* to go on from, or NULL; of the context's memory */
    size_t resume_size;
    double spent;  /* seconds that it took to come there */
    void *session; /* of the solve under way */
    int paused;    /* above 0: what is solved is no part of it */
} clv_checkpointing;
clv_checkpointing *clv_checkpointing_of(clv_context *ctx);

/* Return from the calling function when `call` fails. */
#define CLV_TRY(call)                                                                                                  \
    do {                                                                                                               \
        clv_status clv_try_status_ = (call);                                                                           \
        if (clv_try_status_ < 0) {                                                                                     \
            return clv_try_status_;                                                                                    \
        }                                                                                                              \
    } while (0)

/* Likewise where a program gave nothing, NULL, for an argument that is needed; the header may call it otherwise. */
#define CLV_NEED_AS(ctx, given, name)                                                                                  \
    CLV_TRY((given) ? CLV_OK : clv_fail((ctx), CLV_EUSAGE, "the argument %s is needed, and is NULL", (name)))
#define CLV_NEED(ctx, given) CLV_NEED_AS(ctx, given, #given)

#define CLV_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- memory (context.c): every block is 64-byte aligned, large ones ask for huge pages --- */

/* count * size bytes, or NULL with the message set (also on overflow). Never returns NULL for 0 bytes. */
void *clv_alloc(clv_context *ctx, int64_t count, size_t size);
void *clv_alloc_zero(clv_context *ctx, int64_t count, size_t size);
/* A larger (or smaller) block with the same content; on failure the old one stays. NULL `block` allocates. */
void *clv_resize(clv_context *ctx, void *block, int64_t count, size_t size);
void clv_free(clv_context *ctx, void *block); /* takes NULL */
void clv_free_blocks(clv_context *ctx, void *const *blocks, size_t count);
/* CLV_FREE_ALL(ctx, a, b, c): each of these blocks. */
#define CLV_FREE_ALL(ctx, ...)                                                                                         \
    clv_free_blocks((ctx), (void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
char *clv_copy_text(clv_context *ctx, const char *text);
/* CLV_ENOMEM with its sentence if so much more is over the limit of the context: for memory that is not allocated in
 * it. */
clv_status clv_memory_fits(clv_context *ctx, int64_t bytes);
/* Of what the context holds, so much more is that of checkpoints: what work decides by the memory at hand must not
 * depend on whether it is checkpointed. And all that is held but that. */
void clv_set_aside(clv_context *ctx, int64_t bytes);
size_t clv_memory_at_work(const clv_context *ctx);
/* The memory budget: `asked` bytes, or half of the machine's memory when 0. */
size_t clv_memory_budget(int64_t asked);

/* CLV_NEW(ctx, double, n): n of a type, uninitialized; CLV_NEW0: zeroed. */
#define CLV_NEW(ctx, type, count) ((type *)clv_alloc((ctx), (count), sizeof(type)))
#define CLV_NEW0(ctx, type, count) ((type *)clv_alloc_zero((ctx), (count), sizeof(type)))

/* Blocks that are freed together. clv_keep takes a block over and returns it; of NULL, an allocation that failed, the
 * status becomes CLV_ENOMEM: ask for it once, after the last. */
enum { CLV_MOST_KEPT = 64 };
typedef struct clv_kept {
    clv_context *ctx;
    clv_status status;
    int count;
    void *blocks[CLV_MOST_KEPT];
} clv_kept;
void *clv_keep(clv_kept *kept, void *block);
void clv_free_kept(clv_kept *kept);
#define CLV_TAKE(kept, type, count) ((type *)clv_keep((kept), CLV_NEW((kept)->ctx, type, (count))))
#define CLV_TAKE0(kept, type, count) ((type *)clv_keep((kept), CLV_NEW0((kept)->ctx, type, (count))))

/* --- sizes: false on overflow or a negative factor --- */
bool clv_mul(int64_t a, int64_t b, int64_t *out);
bool clv_add(int64_t a, int64_t b, int64_t *out);

/* --- text that grows (text.c), for messages and reports --- */
typedef struct clv_text {
    clv_context *ctx;
    char *data; /* always ends in NUL; NULL before the first append */
    size_t size, capacity;
    clv_status status; /* the first failure sticks; check it once at the end */
} clv_text;
__attribute__((format(printf, 2, 3))) void clv_text_add(clv_text *text, const char *format, ...);
void clv_text_append(clv_text *text, const char *bytes, size_t size);
/* The same for Latin-1, one byte per character, made into UTF-8 (utf8.c). */
void clv_text_append_latin1(clv_text *text, const char *bytes, size_t size);
/* The length of the character at the beginning of `left` bytes, or 0 when it is not valid UTF-8 (RFC 3629: no overlong
 * forms, no surrogates, nothing above U+10FFFF; utf8.c). */
size_t clv_utf8_size(const char *text, size_t left);
/* Where the bytes stop being UTF-8, or `size` (utf8.c). */
size_t clv_utf8_valid(const char *text, size_t size);
/* Between these two, printf and strtod use a decimal point in the calling thread, whatever the program's locale:
 * clv_point_end takes what clv_point_begin returned. */
locale_t clv_point_begin(void);
void clv_point_end(locale_t before);

/* --- random numbers (rng.c): xoshiro256++, seeded by splitmix64 --- */
typedef struct clv_rng {
    uint64_t s[4];
} clv_rng;
/* Stream number `stream` of `seed`: streams of one seed are independent of each other. */
clv_rng clv_rng_stream(uint64_t seed, uint64_t stream);
uint64_t clv_rng_next(clv_rng *rng);
double clv_rng_uniform(clv_rng *rng);           /* [0, 1) */
int64_t clv_rng_below(clv_rng *rng, int64_t n); /* 0..n-1, without bias */
double clv_rng_normal(clv_rng *rng);            /* mean 0, variance 1 */
void clv_rng_shuffle(clv_rng *rng, int64_t *items, int64_t n);

/* --- threads and clock (threads.c) --- */

/* The number of threads to use for `asked` (0: as many as the process may run on); at least 1. */
int clv_threads(int64_t asked);
/* How many of `threads` the next parallel region should have: all of them, or fewer while other work keeps the cores
 * busy. For the num_threads clause of every region. */
int clv_team(int threads);
/* How that is decided, by how often threads were put aside by then (all of the process, ever more), by the seconds
 * that the calling thread has had of a core, and by whether other work has all cores at the moment. Starts as zeros. */
typedef struct clv_crowd {
    double looked, retry; /* when: the last look, and the earliest time for more threads */
    double rest;          /* how long the next retry waits */
    int64_t put_aside;
    double spent;
    bool crowded; /* at the last look */
    int halvings; /* of the team */
} clv_crowd;
int clv_crowd_team(const clv_crowd *crowd, int threads);
void clv_crowd_look(clv_crowd *crowd, double now, int64_t put_aside, double spent, bool taken, int threads);
/* Whether that is so, by the line of the system: three averages, "running/all", and more; false where it is none. */
bool clv_cores_taken(const char *loads, int64_t cores);
/* Make BLAS calls single-threaded until the matching end: the library parallelizes over fixed blocks by itself, so
 * that no result depends on the number of threads and no more threads run than were asked for. These nest, also
 * across threads. */
void clv_blas_serial_begin(void);
/* How many threads, of so many, there is memory for inside of BLAS. */
int clv_blas_room(int threads);
void clv_blas_serial_end(void);
double clv_seconds(void); /* monotonic */

/* --- plugins (plugin.c) ---
 *
 * A plugin is a library libcleave_NAME.so with one function, clv_plugin_NAME (a clv_plugin_entry), that returns a table
 * of functions which begins with this head. */
typedef struct clv_plugin_head {
    int32_t interface;   /* of the table: another number, another table */
    const char *version; /* CLV_VERSION of the cleave that it was built with */
} clv_plugin_head;
typedef const clv_plugin_head *(*clv_plugin_entry)(void);
/* The table of plugin NAME, which stays open. It is looked for in the folders of CLEAVE_PLUGINS (with colons between
 * them), beside this library and the program and in a folder cleave/ there, in LIBDIR/cleave, and where the system
 * looks. CLV_EUSAGE: it is missing, cannot be opened, or belongs to another version; a sentence says which, and, if
 * there is none to be had, what to do `instead` ("choose another home"). */
clv_status clv_plugin_open(clv_context *ctx, const char *name, int32_t interface, const char *instead,
                           const clv_plugin_head **out);

#endif
