/* The context: allocator, message, interrupt hook, deadline, and an account of the memory held. */
#include "base/ranks.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct clv_context {
    clv_allocator allocator;
    clv_interrupt interrupt;
    void *interrupt_user;
    bool interrupt_held;             /* but for waits */
    _Atomic double since, deadline;  /* of the work under way: its begin, its end; deadline 0: it may take for ever */
    _Atomic double cut;              /* when work that can be done without is to end; 0: none is under way */
    atomic_llong grace;              /* work that is still done after the deadline */
    atomic_int overtime;             /* above 0: the deadline does not count */
    atomic_bool hurried;             /* somebody was told to come to an end */
    _Atomic int64_t spare;           /* work left in overtime before the hook counts again */
    atomic_bool patient;             /* nothing is interrupted */
    atomic_size_t held, peak, limit; /* limit 0: none */
    _Atomic int64_t aside;           /* of what is held: checkpoints */
    clv_checkpointing checkpointing;
    clv_ranks *ranks; /* other processes that do the same; NULL: there are none */
    pthread_mutex_t message_lock;
    char message[CLV_MESSAGE];
};

static void *allocate_by_malloc(void *user, size_t bytes) {
    (void)user;
    return malloc(bytes);
}

static void release_by_free(void *user, void *block) {
    (void)user;
    free(block);
}

int clv_interrupt_by_flag(void *user) {
    return __atomic_load_n((const int *)user, __ATOMIC_RELAXED);
}

const char *clv_version(void) {
    return CLV_VERSION;
}

const char *clv_status_name(clv_status status) {
    static const char *const names[] = {[-CLV_OK] = "ok",
                                        [-CLV_EUSAGE] = "usage",
                                        [-CLV_EDATA] = "bad data",
                                        [-CLV_ENOINPUT] = "no such input",
                                        [-CLV_EINTERNAL] = "internal error",
                                        [-CLV_ENOMEM] = "out of memory",
                                        [-CLV_ECREATE] = "cannot write",
                                        [-CLV_EIO] = "input/output error",
                                        [-CLV_EINTERRUPTED] = "interrupted",
                                        [-CLV_ENUMERIC] = "numerical failure",
                                        [-CLV_ETIME] = "out of time"};
    return status <= CLV_OK && status >= CLV_ETIME ? names[-status] : "unknown";
}

clv_status clv_context_new(const clv_allocator *allocator, clv_context **out) {
    *out = NULL;
    clv_allocator from = allocator ? *allocator : (clv_allocator){allocate_by_malloc, release_by_free, NULL};
    clv_context *ctx = clv_blas_room(1) > 0 ? from.allocate(from.user, sizeof *ctx) : NULL;
    if (!ctx) {
        return CLV_ENOMEM;
    }
    memset(ctx, 0, sizeof *ctx);
    ctx->allocator = from;
    pthread_mutex_init(&ctx->message_lock, NULL);
    *out = ctx;
    return CLV_OK;
}

void clv_context_free(clv_context *ctx) {
    if (ctx) {
        clv_ranks_leave(ctx);
        clv_free(ctx, ctx->checkpointing.resume);
        pthread_mutex_destroy(&ctx->message_lock);
        ctx->allocator.release(ctx->allocator.user, ctx);
    }
}

const char *clv_message(const clv_context *ctx) {
    return ctx ? ctx->message : "";
}

clv_status(clv_fail)(clv_context *ctx, clv_status status, const char *format, ...) { /* may be a macro */
    if (ctx) {
        pthread_mutex_lock(&ctx->message_lock);
        locale_t before = clv_point_begin();
        va_list args;
        va_start(args, format);
        vsnprintf(ctx->message, sizeof ctx->message, format, args);
        va_end(args);
        clv_point_end(before);
        pthread_mutex_unlock(&ctx->message_lock);
    }
    return status;
}

void clv_context_set_interrupt(clv_context *ctx, clv_interrupt hook, void *user) {
    ctx->interrupt = hook;
    ctx->interrupt_user = user;
}

void clv_context_hold_interrupt(clv_context *ctx, int held) {
    ctx->interrupt_held = held != 0;
}

void clv_context_set_checkpoint(clv_context *ctx, clv_checkpoint_writer writer, void *user, double every) {
    ctx->checkpointing.write = writer;
    ctx->checkpointing.user = user;
    ctx->checkpointing.every = every;
}

clv_checkpointing *clv_checkpointing_of(clv_context *ctx) {
    return &ctx->checkpointing;
}

/* --- other ranks --- */

clv_ranks *clv_ranks_of(const clv_context *ctx) {
    return ctx->ranks;
}

void clv_set_ranks(clv_context *ctx, clv_ranks *ranks) {
    ctx->ranks = ranks;
}

/* Whether clock and hook are those that were agreed upon at the last meeting. */
static bool is_agreed(const clv_context *ctx) {
    return ctx->ranks && ctx->ranks->alone == 0 && atomic_load(&ctx->ranks->own_clock) == 0;
}

double clv_own_seconds(const clv_context *ctx) {
    return clv_seconds() - (ctx->ranks ? ctx->ranks->epoch : 0);
}

/* The time by which deadlines are set: that of all ranks where there are several. */
static double time_of(const clv_context *ctx) {
    return is_agreed(ctx) ? ctx->ranks->now : clv_own_seconds(ctx);
}

bool clv_asked_to_stop(clv_context *ctx) {
    return is_agreed(ctx) ? ctx->ranks->asked : !ctx->interrupt_held && clv_asked_to_stop_waiting(ctx);
}

bool clv_asked_to_stop_waiting(clv_context *ctx) {
    return clv_hear_groups(ctx, ctx->interrupt && ctx->interrupt(ctx->interrupt_user));
}

void clv_set_patient(clv_context *ctx, bool patient) {
    atomic_store(&ctx->patient, patient);
}

/* --- the clock --- */

/* About a twentieth of a second of work: multiplications, in numbers. */
enum { GRACE = 1 << 27 };
/* Seconds after the deadline at which overtime ends too. */
#define OVERTIME 0.4

static bool is_past(const clv_context *ctx, double when) {
    return when > 0 && time_of(ctx) >= when;
}

/* Whether work is to end, which is remembered. */
static bool hurry(clv_context *ctx, bool ends) {
    if (ends) {
        atomic_store(&ctx->hurried, true);
        if (ctx->ranks) {
            atomic_store(&ctx->ranks->hurried, true);
        }
    }
    return ends;
}

bool clv_was_hurried(const clv_context *ctx) {
    return atomic_load(&ctx->hurried);
}

bool clv_out_of_time(clv_context *ctx) {
    return hurry(ctx, is_past(ctx, atomic_load(&ctx->deadline)));
}

void clv_ranks_state(clv_context *ctx, double *now, int64_t *grace, int64_t *spare) {
    *now = clv_seconds() - ctx->ranks->epoch;
    *grace = atomic_load(&ctx->grace);
    *spare = atomic_load(&ctx->spare);
}

static int64_t grace_left(const clv_context *ctx) {
    return is_agreed(ctx) ? ctx->ranks->grace : atomic_load(&ctx->grace);
}

static int64_t spare_left(const clv_context *ctx) {
    return is_agreed(ctx) ? ctx->ranks->spare : atomic_load(&ctx->spare);
}

/* What all ranks do at the same point needs no meeting. */
static void set_grace(clv_context *ctx, int64_t grace) {
    atomic_store(&ctx->grace, grace);
    if (ctx->ranks) {
        ctx->ranks->grace = grace;
    }
}

bool clv_interrupted(clv_context *ctx) {
    if (atomic_load(&ctx->patient)) {
        return false;
    }
    bool counts = atomic_load(&ctx->overtime) == 0;
    if (!counts) {
        double deadline = atomic_load(&ctx->deadline);
        bool moment = spare_left(ctx) > 0;
        return !moment && (clv_asked_to_stop(ctx) || (deadline > 0 && is_past(ctx, deadline + OVERTIME)));
    }
    bool spent = grace_left(ctx) <= 0;
    bool ends = clv_asked_to_stop(ctx) || is_past(ctx, atomic_load(&ctx->cut)) || (spent && clv_out_of_time(ctx));
    return hurry(ctx, ends);
}

static void spend_grace(clv_context *ctx, int64_t amount) {
    if (atomic_load(&ctx->deadline) > 0 && atomic_load(&ctx->grace) > 0) {
        atomic_fetch_sub(&ctx->grace, amount);
    }
}

bool clv_worked(clv_context *ctx, int64_t amount) {
    spend_grace(ctx, amount);
    if (atomic_load(&ctx->overtime) > 0) {
        atomic_fetch_sub(&ctx->spare, amount);
    }
    return clv_interrupted(ctx);
}

bool clv_goes_on(clv_context *ctx, atomic_bool *stopped, int64_t amount) {
    if (!atomic_load(stopped) && clv_worked(ctx, amount)) {
        atomic_store(stopped, true);
    }
    return !atomic_load(stopped);
}

void clv_grace_end(clv_context *ctx) {
    set_grace(ctx, 0);
}

clv_status(clv_stop_failure)(clv_context *ctx, const char *format, ...) { /* may be a macro */
    char doing[sizeof ctx->message / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(doing, sizeof doing, format, args);
    va_end(args);
    bool late = clv_out_of_time(ctx) || is_past(ctx, atomic_load(&ctx->cut));
    if (late && !clv_asked_to_stop(ctx)) {
        return clv_fail(ctx, CLV_ETIME, "the time limit passed while %s, before there was a result", doing);
    }
    return clv_fail(ctx, CLV_EINTERRUPTED, "interrupted while %s", doing);
}

clv_deadline clv_deadline_begin(clv_context *ctx, double seconds) {
    clv_deadline before = {atomic_load(&ctx->since), atomic_load(&ctx->deadline)};
    double now = time_of(ctx), end = seconds > 0 ? now + seconds : before.at;
    atomic_store(&ctx->since, now);
    atomic_store(&ctx->deadline, before.at > 0 && before.at < end ? before.at : end);
    if (!(before.at > 0)) {
        set_grace(ctx, GRACE);
        atomic_store(&ctx->hurried, false);
    }
    return before;
}

double clv_deadline_end(clv_context *ctx, clv_deadline before) {
    double took = time_of(ctx) - atomic_load(&ctx->since);
    atomic_store(&ctx->since, before.since);
    atomic_store(&ctx->deadline, before.at);
    return took;
}

void clv_context_set_time_limit(clv_context *ctx, double seconds) {
    clv_deadline_end(ctx, (clv_deadline){0, 0});
    clv_deadline_begin(ctx, seconds);
}

/* When this share of the time of the work under way is over; 0: never. */
static double end_of_share(clv_context *ctx, double share) {
    double since = atomic_load(&ctx->since), deadline = atomic_load(&ctx->deadline);
    return deadline > 0 ? since + share * (deadline - since) : 0;
}

bool clv_share_is_over(clv_context *ctx, double share) {
    bool over = is_past(ctx, end_of_share(ctx, share));
    return share > 0 ? hurry(ctx, over) : over; /* by no share at all, one asks whether there is a limit */
}

void clv_optional_begin(clv_context *ctx, double share) {
    atomic_store(&ctx->cut, end_of_share(ctx, share));
}

void clv_optional_end(clv_context *ctx) {
    atomic_store(&ctx->cut, 0);
}

void clv_overtime_begin(clv_context *ctx) {
    atomic_store(&ctx->spare, GRACE);
    if (ctx->ranks) {
        ctx->ranks->spare = GRACE;
    }
    atomic_fetch_add(&ctx->overtime, 1);
}

void clv_overtime_end(clv_context *ctx) {
    atomic_fetch_sub(&ctx->overtime, 1);
}

void clv_context_memory(const clv_context *ctx, size_t *now, size_t *peak) {
    *now = atomic_load(&ctx->held);
    *peak = atomic_load(&ctx->peak);
}

void clv_set_aside(clv_context *ctx, int64_t bytes) {
    atomic_fetch_add(&ctx->aside, bytes);
}

size_t clv_memory_at_work(const clv_context *ctx) {
    size_t held = atomic_load(&ctx->held), aside = (size_t)atomic_load(&ctx->aside);
    return held > aside ? held - aside : 0;
}

void clv_context_set_memory_limit(clv_context *ctx, size_t bytes) {
    atomic_store(&ctx->limit, bytes);
}

clv_status clv_memory_fits(clv_context *ctx, int64_t bytes) {
    enum { BUFFERS = 1 << 20 }; /* which every reader may have, however small the limit */
    size_t limit = atomic_load(&ctx->limit), held = atomic_load(&ctx->held);
    size_t most = limit < SIZE_MAX - BUFFERS ? limit + BUFFERS : SIZE_MAX;
    bool fits = limit == 0 || (held < most && (size_t)bytes <= most - held);
    return fits ? CLV_OK
                : clv_fail(ctx, CLV_ENOMEM,
                           "%lld bytes more than the %zu held would be over the budget of %zu (--memory)",
                           (long long)bytes, held, limit);
}

/* --- memory: a header before each block keeps what was allocated and how large it is --- */

enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20 };

typedef struct block_header {
    void *base;
    size_t bytes; /* usable */
} block_header;

static block_header *header_of(void *block) {
    return (block_header *)((char *)block - sizeof(block_header));
}

static void count_held(clv_context *ctx, size_t bytes) {
    size_t now = atomic_fetch_add(&ctx->held, bytes) + bytes;
    size_t peak = atomic_load(&ctx->peak);
    while (now > peak && !atomic_compare_exchange_weak(&ctx->peak, &peak, now)) {
    }
}

void *clv_alloc(clv_context *ctx, int64_t count, size_t size) {
    int64_t bytes;
    if (size > INT64_MAX / 2 || !clv_mul(count, (int64_t)size, &bytes) || bytes > INT64_MAX / 2) {
        clv_fail(ctx, CLV_ENOMEM, "%lld items of %zu bytes are more than can be addressed", (long long)count, size);
        return NULL;
    }
    bool large = bytes >= 2 * HUGE_PAGE;
    size_t alignment = large ? HUGE_PAGE : ALIGNMENT;
    size_t total = (size_t)bytes + sizeof(block_header) + alignment;
    if (clv_memory_fits(ctx, bytes) < 0) {
        return NULL;
    }
    char *base = ctx->allocator.allocate(ctx->allocator.user, total);
    if (!base) {
        clv_fail(ctx, CLV_ENOMEM, "out of memory: %lld bytes could not be allocated", (long long)bytes);
        return NULL;
    }
    uintptr_t first = (uintptr_t)base + sizeof(block_header);
    char *block = base + ((first + alignment - 1) / alignment * alignment - (uintptr_t)base);
    *header_of(block) = (block_header){base, (size_t)bytes};
    if (large) {
        madvise(block, (size_t)bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    }
    count_held(ctx, (size_t)bytes);
    spend_grace(ctx, bytes); /* memory is asked for to be written */
    return block;
}

void *clv_alloc_zero(clv_context *ctx, int64_t count, size_t size) {
    void *block = clv_alloc(ctx, count, size);
    if (block) {
        memset(block, 0, (size_t)count * size);
    }
    return block;
}

void *clv_resize(clv_context *ctx, void *block, int64_t count, size_t size) {
    void *fresh = clv_alloc(ctx, count, size);
    if (fresh && block) {
        size_t old = header_of(block)->bytes;
        size_t wanted = (size_t)count * size;
        memcpy(fresh, block, old < wanted ? old : wanted);
        clv_free(ctx, block);
    }
    return fresh;
}

void clv_free(clv_context *ctx, void *block) {
    if (block) {
        block_header *header = header_of(block);
        atomic_fetch_sub(&ctx->held, header->bytes);
        ctx->allocator.release(ctx->allocator.user, header->base);
    }
}

void clv_free_blocks(clv_context *ctx, void *const *blocks, size_t count) {
    for (size_t b = 0; b < count; b++) {
        clv_free(ctx, blocks[b]);
    }
}

void clv_release(clv_context *ctx, void *block) {
    clv_free(ctx, block);
}

void *clv_keep(clv_kept *kept, void *block) {
    if (block && kept->count == CLV_MOST_KEPT) {
        clv_free(kept->ctx, block);
        block = NULL;
        clv_fail(kept->ctx, CLV_ENOMEM, "more than %d blocks of memory were to be kept at once", CLV_MOST_KEPT);
    }
    if (!block) {
        kept->status = CLV_ENOMEM;
        return NULL;
    }
    return kept->blocks[kept->count++] = block;
}

void clv_free_kept(clv_kept *kept) {
    while (kept->count > 0) {
        clv_free(kept->ctx, kept->blocks[--kept->count]);
    }
}

char *clv_copy_text(clv_context *ctx, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = clv_alloc(ctx, (int64_t)size, 1);
    if (copy) {
        memcpy(copy, text, size);
    }
    return copy;
}

/* What the processes of one machine share is not for one of them alone: a property of the process, not of a context. */
static atomic_size_t most_budget = SIZE_MAX;

void clv_limit_budget(size_t bytes) {
    atomic_store(&most_budget, bytes);
}

size_t clv_memory_budget(int64_t asked) {
    if (asked > 0) {
        return (size_t)asked;
    }
    size_t half = (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGE_SIZE),
           most = atomic_load(&most_budget);
    return half < most ? half : most;
}

bool clv_mul(int64_t a, int64_t b, int64_t *out) {
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, out);
}

bool clv_add(int64_t a, int64_t b, int64_t *out) {
    return a >= 0 && b >= 0 && !__builtin_add_overflow(a, b, out);
}
