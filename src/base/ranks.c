/* Ranks: meetings and shares. A meeting is one exchange of notes, 112 bytes per rank, before what is exchanged
 * otherwise: so a rank that failed, and does not know what the others are about to exchange, can still be heard. Notes
 * are all of one size, and have room for 64 bytes: less than that goes along, and the meeting is all there is. */
#include "base/ranks.h"

#include <cblas.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 64 };

typedef struct note {
    uint64_t signature;
    double now;
    int64_t grace, spare;
    int32_t status, asked;
    uint64_t watches;         /* and notes are a multiple of 16 bytes */
    unsigned char said[ROOM]; /* what is exchanged, if that is little */
} note;

enum { HOST = 128 };
#define UNREACHABLE "the processes that were started together cannot be reached: "

/* The signature of the last meeting: no other one has it. */
enum { LEAVING = 20 };

clv_status clv_break_ranks(clv_context *ctx, clv_status status) {
    clv_ranks *r = clv_ranks_of(ctx);
    strncpy(r->why, clv_message(ctx), CLV_MESSAGE - 1);
    r->asked = true;
    r->broken = status;
    return status;
}

clv_status clv_cut_off(clv_context *ctx, const char *what) {
    clv_ranks_of(ctx)->cut_off = true;
    return clv_break_ranks(ctx, clv_fail(ctx, CLV_EIO, "%s failed: the other processes cannot be reached", what));
}

bool clv_is_shared(const clv_context *ctx) {
    const clv_ranks *r = clv_ranks_of(ctx);
    return r && r->alone == 0;
}

int clv_rank_count(const clv_context *ctx) {
    return clv_is_shared(ctx) ? clv_ranks_of(ctx)->with.ranks : 1;
}

void clv_own_clock_begin(clv_context *ctx) {
    clv_ranks *r = clv_ranks_of(ctx);
    if (r) {
        atomic_fetch_add(&r->own_clock, 1);
    }
}

void clv_own_clock_end(clv_context *ctx) {
    clv_ranks *r = clv_ranks_of(ctx);
    if (r) {
        atomic_fetch_sub(&r->own_clock, 1);
    }
}

double clv_common_seconds(const clv_context *ctx) {
    return clv_is_shared(ctx) ? clv_ranks_of(ctx)->now : clv_seconds();
}

void clv_ask_ranks_to_stop(clv_context *ctx) {
    clv_ranks_of(ctx)->asked_here = true;
}

/* --- shares --- */

void clv_share_of(const clv_context *ctx, int rank, int64_t count, int64_t *first, int64_t *last) {
    int64_t ranks = clv_rank_count(ctx);
    *first = count / ranks * rank + count % ranks * rank / ranks;
    *last = count / ranks * (rank + 1) + count % ranks * (rank + 1) / ranks;
}

void clv_share(const clv_context *ctx, int64_t count, int64_t *first, int64_t *last) {
    clv_share_of(ctx, clv_is_shared(ctx) ? clv_ranks_of(ctx)->with.rank : 0, count, first, last);
}

void clv_share_objects_of(const clv_context *ctx, int rank, int64_t n, int64_t block, int64_t *first, int64_t *last) {
    clv_share_of(ctx, rank, (n + block - 1) / block, first, last);
    *first = *first * block < n ? *first * block : n;
    *last = *last * block < n ? *last * block : n;
}

void clv_share_objects(const clv_context *ctx, int64_t n, int64_t block, int64_t *first, int64_t *last) {
    clv_share_objects_of(ctx, clv_is_shared(ctx) ? clv_ranks_of(ctx)->with.rank : 0, n, block, first, last);
}

int clv_owner_of(const clv_context *ctx, int64_t n, int64_t block, int64_t object) {
    int64_t first, last = 0;
    int rank = -1;
    while (last <= object) {
        clv_share_objects_of(ctx, ++rank, n, block, &first, &last);
    }
    return rank;
}

/* --- meetings --- */

int clv_gather_from(const clv_communicator *with, void *all, const int64_t *counts, const int64_t *places,
                    double *seconds) {
    double begun = clv_seconds();
    int failed = with->gather(with->self, all, counts, places);
    *seconds += clv_seconds() - begun;
    return failed;
}

static int exchange(clv_ranks *r, void *all, const int64_t *counts, const int64_t *places, double *seconds) {
    for (int32_t q = 0; q < r->with.ranks; q++) {
        r->bytes += q == r->with.rank ? 0 : counts[q];
    }
    return clv_gather_from(&r->with, all, counts, places, seconds);
}

/* What rank `root` has to say becomes the message of this context. */
static clv_status pass_message(clv_context *ctx, int32_t root, clv_status status) {
    clv_ranks *r = clv_ranks_of(ctx);
    char text[CLV_MESSAGE] = "";
    if (root == r->with.rank) {
        strncpy(text, clv_message(ctx), CLV_MESSAGE - 1);
    }
    if (r->with.broadcast(r->with.self, text, CLV_MESSAGE, root)) {
        return clv_cut_off(ctx, "a meeting");
    }
    return root == 0 || clv_is_stop(status)
               ? clv_fail(ctx, status, "%s", text)
               : clv_fail(ctx, status, "%s (on process %d of %d)", text, (int)root + 1, (int)r->with.ranks);
}

/* The rank whose failure counts: the first that failed, else the first that was interrupted or late; -1: none. */
static int32_t find_failure(const note *notes, int32_t ranks) {
    int32_t stopped = -1;
    for (int32_t q = 0; q < ranks; q++) {
        if (notes[q].status < 0 && !clv_is_stop((clv_status)notes[q].status)) {
            return q;
        }
        stopped = stopped < 0 && notes[q].status < 0 ? q : stopped;
    }
    return stopped;
}

static bool came_apart(const note *notes, int32_t ranks) {
    for (int32_t q = 1; q < ranks; q++) {
        if (notes[q].signature != notes[0].signature) {
            return true;
        }
    }
    return false;
}

static void adopt(clv_ranks *r, const note *notes) {
    r->watched = false;
    for (int32_t q = 0; q < r->with.ranks; q++) {
        r->now = fmax(r->now, notes[q].now);
        r->asked = r->asked || notes[q].asked;
        r->watched = r->watched || notes[q].watches;
        r->grace = q == 0 || notes[q].grace < r->grace ? notes[q].grace : r->grace;
        r->spare = q == 0 || notes[q].spare < r->spare ? notes[q].spare : r->spare;
    }
    r->left = clv_seconds();
}

/* A meeting to which this rank brings `bytes` that fit into its note. */
static clv_status meet(clv_context *ctx, uint64_t signature, clv_status status, const void *said, int64_t bytes) {
    clv_ranks *r = clv_ranks_of(ctx);
    if (!clv_is_shared(ctx)) {
        return status;
    }
    if (r->broken < 0) {
        return clv_fail(ctx, r->broken, "%s", r->why);
    }
    note *notes = r->notes;
    note *mine = &notes[r->with.rank];
    signature = (signature ^ r->token) & 0xffffffffffff;
    r->token = 0;
    *mine = (note){.signature = signature + (r->sequence++ << 48), .status = status, .watches = r->watches};
    clv_own_clock_begin(ctx);
    clv_ranks_state(ctx, &mine->now, &mine->grace, &mine->spare);
    mine->asked = r->asked_here || clv_asked_to_stop(ctx);
    clv_own_clock_end(ctx);
    if (bytes > 0) {
        memcpy(mine->said, said, (size_t)bytes);
    }
    for (int32_t q = 0; q < r->with.ranks; q++) {
        r->counts[q] = sizeof *notes;
        r->places[q] = q * (int64_t)sizeof *notes;
    }
    r->meetings++;
    if (exchange(r, notes, r->counts, r->places, &r->waited)) {
        return clv_cut_off(ctx, "a meeting");
    }
    int32_t failed = find_failure(notes, r->with.ranks);
    clv_status found = failed < 0 ? CLV_OK : (clv_status)notes[failed].status;
    adopt(r, notes);
    if ((found == CLV_OK || clv_is_stop(found)) && came_apart(notes, r->with.ranks)) {
        clv_fail(ctx, CLV_EINTERNAL,
                 "the processes have come apart: they do not compute the same numbers; are their options the same, "
                 "their machines alike, and "
                 "their files the same? (CLEAVE_ISA and OPENBLAS_CORETYPE make machines alike)");
        return clv_break_ranks(ctx, CLV_EINTERNAL);
    }
    if (failed < 0) {
        return CLV_OK;
    }
    found = pass_message(ctx, failed, found);
    return clv_is_stop(found) ? found : clv_break_ranks(ctx, found);
}

clv_status clv_meet(clv_context *ctx, uint64_t signature, clv_status status) {
    return meet(ctx, signature, status, NULL, 0);
}

/* How many calls of clv_meet_again meet at any rate: what short runs exchange does not depend on the clock. */
enum { FEW = 8 };

/* How often clv_meet_again may be called before ranks meet for it: by the longest time that any of them has worked for
 * the last calls, so that all find the same. Never more than twice as often: the next ones may take longer. */
static int64_t calls_apart(const clv_ranks *r) {
    const note *notes = r->notes;
    double longest = 0, worked;
    for (int32_t q = 0; q < r->with.ranks; q++) {
        memcpy(&worked, notes[q].said, sizeof worked);
        longest = fmax(longest, worked);
    }
    double calls = (double)r->calls;
    return (int64_t)fmax(1, calls * fmin(2, CLV_APART / longest));
}

clv_status clv_meet_again(clv_context *ctx, uint64_t signature, clv_status status) {
    clv_ranks *r = clv_ranks_of(ctx);
    if (!clv_is_shared(ctx)) {
        return status;
    }
    bool met = r->meetings != r->seen;
    r->quiet = met ? 0 : r->quiet + 1;
    r->calls = met ? 0 : r->calls + 1;
    bool due = !met && (r->quiet <= FEW || r->calls >= r->most);
    if (status < 0 || r->broken < 0 || r->watched || due) {
        double worked = clv_seconds() - r->left;
        status = meet(ctx, signature, status, &worked, sizeof worked);
        r->most = status == CLV_OK && due ? calls_apart(r) : 1;
        r->calls = 0;
    } else {
        r->token = signature;
    }
    r->seen = r->meetings;
    return status;
}

void clv_watch_ranks(clv_context *ctx, bool watches) {
    clv_ranks *r = clv_ranks_of(ctx);
    if (r) {
        r->watches = watches;
    }
}

clv_status clv_gather_bytes(clv_context *ctx, clv_status status, void *all, const int64_t *counts,
                            const int64_t *places) {
    clv_ranks *r = clv_ranks_of(ctx);
    uint64_t signature = 1;
    int64_t most = 0;
    if (!clv_is_shared(ctx)) {
        return status;
    }
    for (int32_t q = 0; q < r->with.ranks; q++) {
        signature = signature * 31 + (uint64_t)counts[q];
        most = counts[q] > most ? counts[q] : most;
    }
    int32_t me = r->with.rank;
    bool little = most <= ROOM;
    CLV_TRY(meet(ctx, signature & 0xffffffffffff, status, (char *)all + places[me], little ? counts[me] : 0));
    if (!little) {
        return exchange(r, all, counts, places, &r->received) ? clv_cut_off(ctx, "gathering results") : CLV_OK;
    }
    const note *notes = r->notes;
    for (int32_t q = 0; q < r->with.ranks; q++) {
        if (counts[q] > 0 && q != me) {
            memcpy((char *)all + places[q], notes[q].said, (size_t)counts[q]);
        }
    }
    return CLV_OK;
}

clv_status clv_broadcast(clv_context *ctx, clv_status status, void *data, int64_t bytes, int root) {
    clv_ranks *r = clv_ranks_of(ctx);
    if (!clv_is_shared(ctx)) {
        return status;
    }
    bool here = r->with.rank == root, little = bytes <= ROOM;
    CLV_TRY(meet(ctx, (uint64_t)bytes * 7 + 3, status, data, here && little ? bytes : 0));
    if (little && !here && bytes > 0) {
        memcpy(data, ((const note *)r->notes)[root].said, (size_t)bytes);
    }
    if (little) {
        return CLV_OK;
    }
    r->bytes += here ? 0 : bytes;
    double begun = clv_seconds();
    int failed = r->with.broadcast(r->with.self, data, bytes, root);
    r->received += clv_seconds() - begun;
    return failed ? clv_cut_off(ctx, "a message to all") : CLV_OK;
}

/* --- shares that are gathered --- */

clv_status clv_gather_items(clv_context *ctx, clv_status status, void *items, size_t size, int64_t n, int64_t block) {
    int ranks = clv_rank_count(ctx);
    int64_t *counts = CLV_NEW(ctx, int64_t, 2 * ranks), first, last;
    status = counts ? status : CLV_ENOMEM;
    for (int q = 0; counts && q < ranks; q++) {
        clv_share_objects_of(ctx, q, n, block, &first, &last);
        counts[q] = (last - first) * (int64_t)size;
        counts[ranks + q] = first * (int64_t)size;
    }
    status = counts ? clv_gather_bytes(ctx, status, items, counts, counts + ranks) : clv_meet(ctx, 0, status);
    clv_free(ctx, counts);
    return status;
}

/* What rank q has of the columns first .. end - 1. */
static void columns_of(const clv_context *ctx, int q, int64_t n, int64_t block, int64_t first, int64_t end,
                       int64_t *from, int64_t *to) {
    clv_share_objects_of(ctx, q, n, block, from, to);
    *from = *from > first ? *from : first;
    *to = *to < end ? *to : end;
    *to = *to > *from ? *to : *from;
}

/* To (or, `back`, from) the place of a rank's columns in `packed`, k rows of them one after the other. */
static void pack(double *packed, double *y, int64_t k, int64_t n, int64_t from, int64_t to, bool back) {
    for (int64_t c = 0; c < k && to > from; c++) {
        double *there = packed + c * (to - from), *here = y + c * n + from;
        memcpy(back ? here : there, back ? there : here, (size_t)(to - from) * sizeof *y);
    }
}

/* Packed, in one exchange: counts and places have room for all ranks. */
static clv_status gather_packed(clv_context *ctx, clv_status status, double *y, int64_t k, int64_t n, int64_t block,
                                int64_t first, int64_t count, int64_t *counts, int64_t *places) {
    int ranks = clv_rank_count(ctx), me = clv_ranks_of(ctx)->with.rank;
    int64_t at = 0, from, to;
    double *packed = CLV_NEW(ctx, double, k *count);
    for (int q = 0; packed && q < ranks; q++) {
        columns_of(ctx, q, n, block, first, first + count, &from, &to);
        counts[q] = k * (to - from) * (int64_t)sizeof *y;
        places[q] = at * (int64_t)sizeof *y;
        if (q == me) {
            pack(packed + at, y, k, n, from, to, false);
        }
        at += k * (to - from);
    }
    status = packed ? clv_gather_bytes(ctx, status, packed, counts, places) : clv_meet(ctx, 0, CLV_ENOMEM);
    for (int q = 0; status == CLV_OK && q < ranks; q++) {
        columns_of(ctx, q, n, block, first, first + count, &from, &to);
        if (q != me) {
            pack(packed + places[q] / (int64_t)sizeof *y, y, k, n, from, to, true);
        }
    }
    clv_free(ctx, packed);
    return status;
}

clv_status clv_gather_columns(clv_context *ctx, clv_status status, double *y, int64_t k, int64_t n, int64_t block,
                              int64_t first, int64_t count) {
    /* Bytes of a row that a rank has from which on rows go one by one, where they lie: that takes no memory, and more
     * exchanges are not what it costs. */
    enum { LONG = 1 << 16 };
    if (!clv_is_shared(ctx)) {
        return status;
    }
    clv_ranks *r = clv_ranks_of(ctx);
    int ranks = clv_rank_count(ctx);
    int64_t *counts = CLV_NEW(ctx, int64_t, 2 * ranks), from, to;
    if (!counts) {
        return clv_meet(ctx, 0, CLV_ENOMEM);
    }
    int64_t *places = counts + ranks;
    if (k > 1 && count * (int64_t)sizeof *y < LONG * ranks) {
        status = gather_packed(ctx, status, y, k, n, block, first, count, counts, places);
        clv_free(ctx, counts);
        return status;
    }
    for (int q = 0; q < ranks; q++) {
        columns_of(ctx, q, n, block, first, first + count, &from, &to);
        counts[q] = (to - from) * (int64_t)sizeof *y;
        places[q] = from * (int64_t)sizeof *y;
    }
    status = k > 0 ? clv_gather_bytes(ctx, status, y, counts, places) : clv_meet(ctx, 0, status);
    for (int64_t c = 1; c < k && status == CLV_OK; c++) {
        bool failed = exchange(r, y + c * n, counts, places, &r->received);
        status = failed ? clv_cut_off(ctx, "gathering results") : CLV_OK;
    }
    clv_free(ctx, counts);
    return status;
}

/* One number of eight bytes from every rank, for the caller to free. */
static clv_status gather_numbers(clv_context *ctx, const void *own, void **all) {
    enum { BYTES = 8 };
    int ranks = clv_rank_count(ctx);
    *all = clv_alloc(ctx, ranks, BYTES);
    if (!*all) {
        return clv_meet(ctx, 0, CLV_ENOMEM);
    }
    memcpy((char *)*all + (size_t)clv_ranks_of(ctx)->with.rank * BYTES, own, BYTES);
    return clv_gather_items(ctx, CLV_OK, *all, BYTES, ranks, 1);
}

clv_status clv_agree_least(clv_context *ctx, int64_t *value) {
    void *all = NULL;
    clv_status status = clv_is_shared(ctx) ? gather_numbers(ctx, value, &all) : CLV_OK;
    for (int q = 0; all && status == CLV_OK && q < clv_rank_count(ctx); q++) {
        *value = ((int64_t *)all)[q] < *value ? ((int64_t *)all)[q] : *value;
    }
    clv_free(ctx, all);
    return status;
}

clv_status clv_agree_largest(clv_context *ctx, double *value) {
    void *all = NULL;
    clv_status status = clv_is_shared(ctx) ? gather_numbers(ctx, value, &all) : CLV_OK;
    for (int q = 0; all && status == CLV_OK && q < clv_rank_count(ctx); q++) {
        *value = fmax(*value, ((double *)all)[q]);
    }
    clv_free(ctx, all);
    return status;
}

clv_status clv_agree_same(clv_context *ctx, clv_status status, uint64_t hash, const char *what) {
    void *all = NULL;
    if (!clv_is_shared(ctx)) {
        return status;
    }
    CLV_TRY(clv_meet(ctx, 16, status));
    status = gather_numbers(ctx, &hash, &all);
    if (status == CLV_OK && ((uint64_t *)all)[0] != hash) {
        status =
            clv_fail(ctx, CLV_EDATA,
                     "this process has read other numbers from %s than process 1: all must read the same file", what);
    }
    clv_free(ctx, all);
    return clv_meet(ctx, 17, status);
}

clv_status clv_agree_sum(clv_context *ctx, clv_status status, uint64_t *value) {
    void *all = NULL;
    uint64_t sum = 0;
    if (!clv_is_shared(ctx)) {
        return status;
    }
    CLV_TRY(clv_meet(ctx, 6, status));
    status = gather_numbers(ctx, value, &all);
    for (int q = 0; all && status == CLV_OK && q < clv_rank_count(ctx); q++) {
        sum += ((uint64_t *)all)[q];
    }
    *value = sum;
    clv_free(ctx, all);
    return status;
}

/* --- joining --- */

/* What must be the same on all ranks for their numbers to be the same. */
static void describe_machine(char text[HOST]) {
    char *core = openblas_get_corename();
    snprintf(text, HOST, "%s, BLAS %s, cleave %s", clv_isa(), core ? core : "?", clv_version());
}

/* The names of all hosts, how many ranks there are on this one, and whether all machines are alike. */
static clv_status compare_machines(clv_context *ctx) {
    clv_ranks *r = clv_ranks_of(ctx);
    int32_t ranks = r->with.ranks, here = 1, other = -1;
    char *all = clv_alloc_zero(ctx, ranks, 2 * HOST);
    if (!all) {
        return clv_meet(ctx, 0, CLV_ENOMEM);
    }
    char *own = all + r->with.rank * 2 * HOST;
    gethostname(own, HOST - 1);
    describe_machine(own + HOST);
    clv_status status = clv_gather_items(ctx, CLV_OK, all, 2 * HOST, ranks, 1);
    for (int32_t q = 0; status == CLV_OK && q < ranks; q++) {
        here += q != r->with.rank && strcmp(all + q * 2 * HOST, own) == 0;
        other = other < 0 && strcmp(all + q * 2 * HOST + HOST, all + HOST) != 0 ? q : other;
    }
    if (status == CLV_OK && other > 0) {
        status = clv_fail(ctx, CLV_EUSAGE,
                          "the machines differ, and would not compute the same numbers: %s has %s, %s has %s; set "
                          "CLEAVE_ISA and OPENBLAS_CORETYPE for all of them to what the lesser one has",
                          all, all + HOST, all + other * 2 * HOST, all + other * 2 * HOST + HOST);
    }
    clv_free(ctx, all);
    CLV_TRY(status);
    int64_t budget = (int64_t)(clv_memory_budget(0) / (size_t)here);
    CLV_TRY(clv_agree_least(ctx, &budget));
    clv_limit_budget((size_t)budget);
    return CLV_OK;
}

clv_status clv_ranks_join(clv_context *ctx, const clv_communicator *with) {
    clv_ranks *r = CLV_NEW0(ctx, clv_ranks, 1);
    if (!r) {
        with->end_all(with->self, 71);
        with->close(with->self);
        return CLV_ENOMEM;
    }
    r->with = *with;
    r->notes = clv_alloc_zero(ctx, with->ranks, sizeof(note));
    r->counts = CLV_NEW(ctx, int64_t, with->ranks);
    r->places = CLV_NEW(ctx, int64_t, with->ranks);
    clv_set_ranks(ctx, r);
    if (!r->notes || !r->counts || !r->places) { /* and nobody can be told */
        r->broken = CLV_ENOMEM;
        with->end_all(with->self, 71);
        return CLV_ENOMEM;
    }
    if (!with->threads) { /* still joined: as soon as others leave, the launcher ends those that did not */
        return clv_break_ranks(
            ctx, clv_fail(ctx, CLV_EIO, UNREACHABLE "this MPI does not allow threads (MPI_THREAD_FUNNELED)"));
    }
    r->epoch = clv_seconds();
    r->alone = with->ranks == 1;
    CLV_TRY(clv_meet(ctx, 0, CLV_OK));
    r->epoch = clv_seconds(); /* when all are there */
    r->now = 0;
    return with->ranks > 1 ? compare_machines(ctx) : CLV_OK;
}

clv_status clv_ranks_leave(clv_context *ctx) {
    clv_ranks *r = clv_ranks_of(ctx);
    if (!r) {
        return CLV_OK;
    }
    clv_status status = clv_meet(ctx, LEAVING, CLV_OK);
    if (r->cut_off) {
        r->with.end_all(r->with.self, 74);
    } else {
        r->with.close(r->with.self);
    }
    clv_set_ranks(ctx, NULL);
    CLV_FREE_ALL(ctx, r->notes, r->counts, r->places, r);
    return status;
}

/* --- what programs use of it --- */

void clv_take_message(clv_context *ctx, clv_status status, const char *message) {
    if (status < 0 && message && *message) {
        clv_fail(ctx, status, "%s", message);
    }
}

clv_status clv_context_join(clv_context *ctx, const char *plugin) {
    CLV_NEED(ctx, plugin);
    const clv_plugin_head *head;
    clv_communicator with;
    CLV_TRY(clv_plugin_open(ctx, plugin, CLV_MPI_INTERFACE,
                            "run the command without it, as one process that uses all cores", &head));
    const clv_ranks_plugin *table = (const clv_ranks_plugin *)(const void *)head;
    if (table->open(&with)) {
        return clv_fail(ctx, CLV_EIO, UNREACHABLE "MPI does not start");
    }
    return clv_ranks_join(ctx, &with);
}

clv_status clv_context_leave(clv_context *ctx) {
    return clv_ranks_leave(ctx);
}

clv_status clv_context_meet(clv_context *ctx, clv_status status, const char *message) {
    clv_take_message(ctx, status, message);
    return clv_groups_meet(ctx, clv_meet(ctx, 1, status));
}

clv_status clv_context_share(clv_context *ctx, void *data, size_t bytes) {
    return clv_broadcast(ctx, CLV_OK, data, (int64_t)bytes, 0);
}

void clv_context_work_alone(clv_context *ctx, int alone) {
    clv_ranks *r = clv_ranks_of(ctx);
    if (r) {
        r->alone += alone ? 1 : -1;
    }
}

clv_ranks_info clv_context_ranks(const clv_context *ctx) {
    const clv_ranks *r = clv_ranks_of(ctx);
    return r ? (clv_ranks_info){r->with.rank, r->with.ranks, r->meetings, r->bytes, r->waited, r->received}
             : (clv_ranks_info){.ranks = 1};
}
