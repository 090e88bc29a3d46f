/* A run that goes on from a checkpoint ends with the same bits as one that was never interrupted, whatever method and
 * solver, wherever it was and on any number of threads; a checkpoint that is none, is damaged or is of other work is
 * refused; and hostile ones crash nothing. */
#include "engine/checkpoint.h"
#include "methods/methods.h"

#include "failing.h"

#include <math.h>
#include <stdio.h>

enum { P = 4, MOST_N = 30000, MOST_KEPT = 24 };

typedef struct scenario {
    const char *method, *settings, *affinity;
    int64_t n, p; /* 0: 90 points of 4 features */
} scenario;

static const scenario scenarios[] = {
    {"ncut", "k=4 restarts=3", "gaussian", 0, 0},
    {"ncut", "k=4 solver=finc restarts=2 patience=3", "gaussian", 0, 0},
    {"ncut", "k=4 solver=fcd start=kmeans++ patience=3", "gaussian", 0, 0},
    {"ncut", "k=2 solver=dinkelbach patience=4", "gaussian", 0, 0},
    {"ncut", "k=4 solver=finc-at-once polish=false start=random", "gaussian", 0, 0},
    {"ncut", "k=3 solver=spectral patience=3", "cosine", 0, 0},
    {"ncut", "k=4 patience=5", "knn", 0, 0},
    {"ncut", "k=auto patience=5", "gaussian computed", 0, 0},
    {"ncut", "k=6 patience=8 start=random", "knn", 500, 0},
    {"symnmf", "k=4 restarts=2", "gaussian", 0, 0},
    {"symnmf", "k=3", "cosine low-rank", 0, 0},
    {"symnmf", "k=4 solver=fw max-iter=60", "gaussian", 0, 0},
    {"symnmf", "k=4 solver=pairwise max-iter=60 start=random restarts=2", "gaussian", 0, 0},
    {"symnmf", "k=4 solver=pgd max-iter=60 start=random", "gaussian", 0, 0},
    {"symnmf", "k=4 solver=spg max-iter=60 start=kmeans++", "gaussian", 0, 0},
    {"symnmf", "k=4 solver=penalty max-iter=8 start=random", "gaussian", 0, 0},
    {"kpalm", "k=5 restarts=4", "", 0, 0},
    {"kpalm", "k=5 solver=lloyd restarts=3 start=random", "", 0, 0},
    {"kpalm", "k=5 solver=weiszfeld", "", 0, 0},
    {"kpalm", "k=5 solver=lloyd restarts=3 start=kmeans-parallel", "", 0, 0},
    {"kpalm", "k=5 norm=euclidean max-iter=30", "", 0, 0},
    {"kpalm", "k=30 initial-membership=dirichlet", "", 1200, 0},
    {"kpalm", "k=40 solver=lloyd", "", 1200, 0},
    {"kpalm", "k=40 max-iter=14", "", 30000, 0}, /* weights are replayed */
    {"kpalm", "k=40 max-iter=8 initial-membership=dirichlet", "", 30000, 0},
    {"dominant", "k=4", "gaussian", 0, 0},
    {"dominant", "solver=fw k=3 max-iter=40", "gaussian", 0, 0},
    {"dominant", "solver=afw k=3 shift=0.1", "gaussian", 0, 0},
    {"dominant", "solver=rd k=3 max-iter=50", "gaussian", 0, 0},
    {"dominant", "k=3 start=random restarts=3", "gaussian computed", 0, 0},
    {"dominant", "k=2 max-iter=600", "gaussian computed", 9000, 0}, /* an arena of some objects */
    {"dominant", "k=all", "knn", 0, 0},
    {"dominant", "k=6 multistart=5 sampling=dpp", "gaussian", 0, 0},
    {"ksupport", "k=2 solver=fcfw ridge=0.1", "", 0, 0},
    {"ksupport", "k=2 solver=fcfw loss=squares lambda=5", "", 0, 0},
    {"ksupport", "k=2 solver=fista max-iter=60", "", 0, 0},
    {"ksupport", "k=2 solver=admm max-iter=40", "", 0, 0},
    {"ksupport", "k=2 solver=newton", "", 0, 0},
    {"ksupport", "k=5 solver=newton ridge=0.5 tol=1e-9", "", 40, 300},
    {"ksupport", "k=5 lambda=2 tol=1e-7", "", 40, 2000},
    {"ksupport", "k=5 solver=newton lambda=0.01 tol=1e-12 loss=squares", "", 40, 1300},
    {"ksupport", "path=1,3:0.5,2,8", "", 0, 0},
    {"pursuit", "k=200 max-iter=25", "", 0, 0},
    {"pursuit", "k=200 solver=fista max-iter=12", "", 0, 0},
    {"pursuit", "k=200 solver=admm max-iter=12", "", 0, 0},
};

/* --- the work --- */

static double values[MOST_N * P], targets[MOST_N];

static void make_points(void) {
    clv_rng rng = clv_rng_stream(7, 0);
    for (int i = 0; i < MOST_N; i++) {
        targets[i] = i % 3;
        for (int f = 0; f < P; f++) {
            values[i * P + f] = (f < 2 ? 2.5 * ((i % 4) >> f & 1) : 1) + clv_rng_normal(&rng) + 0.1;
        }
    }
}

/* Checkpoints that were written: those after 0, 1, 2, 3, 5, 8, ... others, and the last. */
typedef struct kept {
    int64_t count, next, after;
    size_t used, size[MOST_KEPT + 1];
    unsigned char *bytes[MOST_KEPT + 1];
} kept;

static void put_copy(kept *k, size_t at, const void *bytes, size_t size) {
    free(k->bytes[at]);
    k->bytes[at] = malloc(size);
    assert_non_null(k->bytes[at]);
    memcpy(k->bytes[at], bytes, size);
    k->size[at] = size;
}

static int keep(const void *bytes, size_t size, void *user) {
    kept *k = user;
    if (k->count++ == k->next && k->used < MOST_KEPT) {
        put_copy(k, k->used++, bytes, size);
        k->next += 1 + k->after / 2;
        k->after = k->next - 1;
    }
    put_copy(k, MOST_KEPT, bytes, size);
    return 0;
}

static void free_kept(kept *k) {
    for (size_t i = 0; i <= MOST_KEPT; i++) {
        free(k->bytes[i]);
    }
    *k = (kept){0};
}

/* "a=1 b=2" into options. */
static void set_options(const clv_method *method, const char *settings, clv_options_room *room) {
    char text[256], *at;
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    clv_method_defaults(method, room->bytes, method->options->size);
    snprintf(text, sizeof text, "%s", settings);
    for (char *item = strtok_r(text, " ", &at); item; item = strtok_r(NULL, " ", &at)) {
        char *value = strchr(item, '=');
        *value++ = 0;
        bool own = clv_options_find(method->options, item) != NULL;
        static char held[8][64]; /* texts are borrowed by the options */
        static int used;
        char *copy = held[used++ % 8];
        snprintf(copy, sizeof held[0], "%s", value);
        if (clv_options_set(ctx, own ? method->options : clv_control_table(), room->bytes, item, copy) < 0) {
            fail_msg("%s: %s", settings, clv_message(ctx));
        }
    }
    ((clv_control *)(void *)room->bytes)->keep_trace = 1;
    clv_context_free(ctx);
}

static clv_affinity *build(clv_context *ctx, const scenario *one, const clv_matrix *points) {
    clv_affinity_options how;
    clv_affinity *a = NULL;
    char kind[32];
    const char *home = strchr(one->affinity, ' ');
    clv_affinity_defaults(&how);
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(one->affinity, " "), one->affinity);
    assert_int_equal(clv_options_set(ctx, clv_affinity_table(), &how, "affinity", kind), CLV_OK);
    if (home) {
        assert_int_equal(clv_options_set(ctx, clv_affinity_table(), &how, "home", home + 1), CLV_OK);
    }
    if (clv_affinity_build(ctx, points, &how, &a) < 0) {
        fail_msg("%s: %s", one->affinity, clv_message(ctx));
    }
    return a;
}

/* A context whose memory begins as NaN, so that nothing uninitialized is kept unnoticed. */
static atomic_llong blocks;

static void *allocate(void *user, size_t bytes) {
    void *block = malloc(bytes);
    (void)user;
    if (block) {
        memset(block, 0xff, bytes);
        atomic_fetch_add(&blocks, 1);
    }
    return block;
}

static void release(void *user, void *block) {
    (void)user;
    atomic_fetch_sub(&blocks, block != NULL);
    free(block);
}

static clv_context *new_world(void) {
    clv_allocator allocator = {allocate, release, NULL};
    clv_context *ctx = NULL;
    assert_int_equal(clv_context_new(&allocator, &ctx), CLV_OK);
    return ctx;
}

static void end_world(clv_context *ctx) {
    size_t now, peak;
    clv_context_memory(ctx, &now, &peak);
    clv_context_free(ctx);
    assert_int_equal(now, 0);
}

/* One solve; `options` NULL: those of the scenario. */
static clv_status solve(clv_context *ctx, const scenario *one, const clv_options_room *options, clv_result **out) {
    const clv_method *method = clv_method_find(one->method);
    clv_matrix points = {.rows = one->n ? one->n : 90, .cols = one->p ? one->p : P, .values = values};
    clv_matrix y = {.rows = points.rows, .cols = 1, .values = targets};
    clv_options_room own;
    clv_input input = {0};
    set_options(method, one->settings, &own);
    own = options ? *options : own;
    clv_affinity *affinity = NULL;
    if (method->takes == CLV_TAKES_AFFINITY) {
        affinity = build(ctx, one, &points);
        input.affinity = affinity;
    } else {
        input.points = &points;
        input.targets = method->takes == CLV_TAKES_SAMPLES ? &y : NULL;
    }
    clv_status status = clv_solve(ctx, method, &input, own.bytes, out);
    clv_affinity_free(affinity);
    return status;
}

/* --- what must be the same --- */

static bool same(const void *a, const void *b, size_t size) {
    return size == 0 || memcmp(a, b, size) == 0;
}

static bool same_matrix(const clv_matrix *a, const clv_matrix *b) {
    size_t rows = (size_t)a->rows;
    if (a->rows != b->rows || a->cols != b->cols || !a->start != !b->start) {
        return false;
    }
    if (!a->start) {
        return same(a->values, b->values, rows * (size_t)a->cols * sizeof(double));
    }
    size_t entries = (size_t)a->start[rows];
    return same(a->start, b->start, (rows + 1) * sizeof *a->start) &&
           same(a->index, b->index, entries * sizeof *a->index) && same(a->values, b->values, entries * sizeof(double));
}

static bool same_field(const clv_field *a, const clv_field *b) {
    size_t count = (size_t)a->count;
    if (!b || a->kind != b->kind || a->count != b->count) {
        return false;
    }
    for (size_t i = 0; a->texts && i < count; i++) {
        if (strcmp(a->texts[i], b->texts[i]) != 0) {
            return false;
        }
    }
    return (!a->integers || same(a->integers, b->integers, count * sizeof *a->integers)) &&
           (!a->reals || same(a->reals, b->reals, count * sizeof *a->reals)) &&
           (!a->matrix || same_matrix(a->matrix, b->matrix));
}

static bool same_restarts(const clv_result *a, const clv_result *b) {
    bool equal = a->restarts_count == b->restarts_count;
    for (int64_t r = 0; equal && r < a->restarts_count; r++) {
        const clv_restart *x = &a->restarts[r], *y = &b->restarts[r];
        equal =
            same(&x->objective, &y->objective, sizeof(double)) && x->iterations == y->iterations && x->stop == y->stop;
    }
    return equal;
}

static bool same_trace(const clv_result *a, const clv_result *b) {
    bool equal = a->trace_count == b->trace_count;
    for (int64_t t = 0; equal && t < a->trace_count; t++) {
        clv_trace_row x = a->trace[t], y = b->trace[t];
        x.seconds = y.seconds = 0;
        equal = same(&x, &y, sizeof x);
    }
    return equal;
}

/* What differs, or NULL. */
static const char *difference(const clv_result *a, const clv_result *b) {
    bool core = a->n == b->n && a->k == b->k && a->stop == b->stop;
    const char *what = !core                                                            ? "n, k or stop"
                       : a->iterations != b->iterations                                 ? "iterations"
                       : !same(&a->objective.value, &b->objective.value, 8)             ? "objective"
                       : !same(&a->certificate.value, &b->certificate.value, 8)         ? "certificate"
                       : !same(&a->certificate.tolerance, &b->certificate.tolerance, 8) ? "tolerance"
                       : !same(&a->bound.value, &b->bound.value, 8)                     ? "bound"
                       : !same(&a->drift, &b->drift, 8)                                 ? "drift"
                       : !same_restarts(a, b)                                           ? "restarts"
                       : !same_trace(a, b)                                              ? "trace"
                       : a->labels && !same(a->labels, b->labels, (size_t)a->n * 4)     ? "labels"
                       : a->fields_count != b->fields_count                             ? "number of fields"
                                                                                        : NULL;
    for (int64_t f = 0; !what && f < a->fields_count; f++) {
        const clv_field *field = &a->fields[f];
        bool timed = strstr(field->name, "seconds") != NULL;
        what = timed || same_field(field, clv_result_field(b, field->name)) ? NULL : field->name;
    }
    return what;
}

/* --- going on --- */

static void set_threads(const scenario *one, int64_t threads, clv_options_room *room) {
    set_options(clv_method_find(one->method), one->settings, room);
    ((clv_control *)(void *)room->bytes)->threads = threads;
}

/* Go on from a checkpoint; if `again`, others are kept on the way. */
static void check_from(const scenario *one, const clv_result *whole, const kept *from, size_t at, kept *again) {
    clv_context *ctx = new_world();
    clv_result *result = NULL;
    clv_options_room room;
    set_threads(one, at % 2 ? 1 : 3, &room);
    if (again) {
        clv_context_set_checkpoint(ctx, keep, again, 0);
    }
    if (clv_context_resume(ctx, from->bytes[at], from->size[at]) < 0 || solve(ctx, one, &room, &result) < 0) {
        fail_msg("%s %s, from checkpoint %zu: %s", one->method, one->settings, at, clv_message(ctx));
    }
    const char *what = difference(whole, result);
    if (what) {
        fail_msg("%s %s %s, from checkpoint %zu of %lld: another %s", one->method, one->settings, one->affinity, at,
                 (long long)from->count, what);
    }
    clv_result_free(result);
    end_world(ctx);
}

static void check_scenario(const scenario *one) {
    clv_context *plain = new_world();
    clv_result *whole = NULL, *watched = NULL;
    clv_options_room room;
    kept first = {0}, second = {0};
    set_threads(one, 1, &room);
    if (solve(plain, one, &room, &whole) < 0) {
        fail_msg("%s %s: %s", one->method, one->settings, clv_message(plain));
    }
    clv_context *ctx = new_world();
    set_threads(one, 3, &room);
    clv_context_set_checkpoint(ctx, keep, &first, 0);
    if (solve(ctx, one, &room, &watched) < 0) {
        fail_msg("%s %s, checkpointed: %s", one->method, one->settings, clv_message(ctx));
    }
    const char *what = difference(whole, watched);
    if (what) {
        fail_msg("%s %s, checkpointed: another %s", one->method, one->settings, what);
    }
    assert_true(first.count > 0);
    clv_result_free(watched);
    end_world(ctx);
    for (size_t at = 0; at < first.used; at++) {
        check_from(one, whole, &first, at, at == first.used / 2 ? &second : NULL);
    }
    check_from(one, whole, &first, MOST_KEPT, NULL);
    for (size_t at = 0; at < second.used; at += 3) {
        check_from(one, whole, &second, at, NULL);
    }
    free_kept(&first);
    free_kept(&second);
    clv_result_free(whole);
    end_world(plain);
}

static void test_same_result(void **state) {
    (void)state;
    for (size_t i = 0; i < CLV_COUNT(scenarios); i++) {
        check_scenario(&scenarios[i]);
    }
}

/* --- limits --- */

static int stop_after(void *user) {
    int64_t *left = user;
    return --*left < 0;
}

/* Cut short by the hook after so many questions, again and again, each time from the last checkpoint. */
static void test_interrupted(void **state) {
    static const scenario some[] = {
        {"ncut", "k=4 restarts=3", "gaussian", 0, 0}, {"symnmf", "k=4 restarts=2 start=random", "gaussian", 0, 0},
        {"kpalm", "k=5 restarts=4", "", 0, 0},        {"dominant", "k=4", "gaussian", 0, 0},
        {"ksupport", "path=1,3:0.5,2,8", "", 0, 0},   {"pursuit", "k=200 max-iter=25", "", 0, 0}};
    (void)state;
    for (size_t i = 0; i < CLV_COUNT(some); i++) {
        clv_context *plain = new_world();
        clv_result *whole = NULL, *result = NULL;
        kept cut = {0};
        bool done = false;
        assert_int_equal(solve(plain, &some[i], NULL, &whole), CLV_OK);
        for (int64_t turn = 0; !done && turn < 400; turn++) {
            clv_context *ctx = new_world();
            int64_t left = 30 + 10 * turn;
            clv_options_room room;
            set_threads(&some[i], 1, &room);
            clv_context_set_interrupt(ctx, stop_after, &left);
            clv_context_set_checkpoint(ctx, keep, &cut, 1e9); /* the last one alone */
            if (cut.size[MOST_KEPT] > 0) {
                assert_int_equal(clv_context_resume(ctx, cut.bytes[MOST_KEPT], cut.size[MOST_KEPT]), CLV_OK);
            }
            clv_status status = solve(ctx, &some[i], &room, &result);
            assert_true(status == CLV_OK || status == CLV_EINTERRUPTED);
            done = status == CLV_OK && result->stop != CLV_CANCELLED;
            const char *what = done ? difference(whole, result) : NULL;
            if (what) {
                fail_msg("%s, interrupted %lld times: another %s", some[i].method, (long long)turn, what);
            }
            clv_result_free(result);
            result = NULL;
            end_world(ctx);
        }
        assert_true(done);
        free_kept(&cut);
        clv_result_free(whole);
        end_world(plain);
    }
}

/* More iterations than before: as if there had been so many from the first. */
static void test_more_iterations(void **state) {
    const scenario one = {"symnmf", "k=4 solver=pgd start=random max-iter=9", "gaussian", 0, 0};
    const scenario more = {"symnmf", "k=4 solver=pgd start=random max-iter=30", "gaussian", 0, 0};
    const scenario fewer = {"symnmf", "k=4 solver=pgd start=random max-iter=5", "gaussian", 0, 0};
    const scenario several = {"dominant", "k=3 max-iter=4", "gaussian", 0, 0};
    const scenario changed = {"dominant", "k=3 max-iter=40", "gaussian", 0, 0};
    clv_context *ctx = new_world();
    clv_result *whole = NULL, *part = NULL;
    kept last = {0};
    (void)state;
    assert_int_equal(solve(ctx, &more, NULL, &whole), CLV_OK);
    clv_context_set_checkpoint(ctx, keep, &last, 1e9);
    assert_int_equal(solve(ctx, &one, NULL, &part), CLV_OK);
    assert_int_equal(part->stop, CLV_ITERATION_LIMIT);
    clv_result_free(part);
    for (int turn = 0; turn < 2; turn++) { /* as it was, and further */
        assert_int_equal(clv_context_resume(ctx, last.bytes[MOST_KEPT], last.size[MOST_KEPT]), CLV_OK);
        assert_int_equal(solve(ctx, turn ? &more : &one, NULL, &part), CLV_OK);
        assert_int_equal(part->iterations, turn ? whole->iterations : 9);
        assert_true(!turn || !difference(whole, part));
        clv_result_free(part);
    }
    assert_int_equal(clv_context_resume(ctx, last.bytes[MOST_KEPT], last.size[MOST_KEPT]), CLV_OK);
    assert_int_equal(solve(ctx, &fewer, NULL, &part), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "max-iter = 30"));
    assert_int_equal(solve(ctx, &several, NULL, &part), CLV_OK);
    clv_result_free(part);
    assert_int_equal(clv_context_resume(ctx, last.bytes[MOST_KEPT], last.size[MOST_KEPT]), CLV_OK);
    assert_int_equal(solve(ctx, &changed, NULL, &part), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "max-iter = 4, which has ended"));
    clv_result_free(whole);
    free_kept(&last);
    end_world(ctx);
}

/* --- refusals --- */

static void make_one(const scenario *one, kept *out) {
    clv_context *ctx = new_world();
    clv_result *result = NULL;
    clv_context_set_checkpoint(ctx, keep, out, 0);
    assert_int_equal(solve(ctx, one, NULL, &result), CLV_OK);
    clv_result_free(result);
    end_world(ctx);
}

static void check_refused(const scenario *one, const kept *from, const char *sentence) {
    clv_context *ctx = new_world();
    clv_result *result = NULL;
    assert_int_equal(clv_context_resume(ctx, from->bytes[0], from->size[0]), CLV_OK);
    clv_status status = solve(ctx, one, NULL, &result);
    if (status != CLV_EDATA || !strstr(clv_message(ctx), sentence)) {
        fail_msg("%s %s: %s, and not '%s'", one->method, one->settings, clv_message(ctx), sentence);
    }
    assert_null(result);
    end_world(ctx);
}

static void test_other_work(void **state) {
    static const scenario own = {"ncut", "k=4 restarts=2", "gaussian", 0, 0};
    static const struct {
        scenario one;
        const char *sentence;
    } others[] = {{{"symnmf", "k=4", "gaussian", 0, 0}, "of a run of ncut, and this is one of symnmf"},
                  {{"ncut", "k=5 restarts=2", "gaussian", 0, 0}, "made with k=4, and this run has k=5"},
                  {{"ncut", "k=4 restarts=3", "gaussian", 0, 0}, "made with restarts=2, and this run has restarts=3"},
                  {{"ncut", "k=4 restarts=2 seed=9", "gaussian", 0, 0}, "seed=1, and this run has seed=9"},
                  {{"ncut", "k=4 restarts=2", "gaussian", 91, 0}, "objects=90, and this run has objects=91"},
                  {{"ncut", "k=4 restarts=2", "cosine", 0, 0}, "affinity=gaussian, and this run has affinity=cosine"},
                  {{"ncut", "k=4 restarts=2", "gaussian computed", 0, 0}, "this run has home=computed"}};
    kept from = {0};
    (void)state;
    make_one(&own, &from);
    for (size_t i = 0; i < CLV_COUNT(others); i++) {
        check_refused(&others[i].one, &from, others[i].sentence);
    }
    free_kept(&from);
    scenario points = {"kpalm", "k=5", "", 0, 0};
    make_one(&points, &from);
    double held = values[17];
    values[17] = nextafter(held, 9);
    check_refused(&points, &from, "other data");
    values[17] = held;
    free_kept(&from);
}

/* --- bytes --- */

static clv_status read_bytes(const unsigned char *bytes, size_t size, char *message, size_t room) {
    clv_context *ctx = new_world();
    clv_status status = clv_context_resume(ctx, bytes, size);
    snprintf(message, room, "%s", clv_message(ctx));
    clv_context_free(ctx);
    return status;
}

/* The hash made right again: what is behind it must be as safe. */
static void seal(unsigned char *bytes, size_t size) {
    uint64_t hash = clv_hash(1, bytes, size - 8);
    for (int b = 0; b < 8; b++) {
        bytes[size - 8 + (size_t)b] = (unsigned char)(hash >> (8 * b));
    }
}

static void test_damaged(void **state) {
    static const scenario own = {"kpalm", "k=3", "", 30, 0};
    kept from = {0};
    char message[256];
    (void)state;
    make_one(&own, &from);
    unsigned char *bytes = from.bytes[0];
    size_t size = from.size[0];
    for (size_t cut = 0; cut < size; cut += 1 + size / 97) {
        assert_int_equal(read_bytes(bytes, cut, message, sizeof message), CLV_EDATA);
    }
    for (size_t at = 0; at < size; at += 1 + size / 211) {
        bytes[at] ^= 0x20;
        assert_int_equal(read_bytes(bytes, size, message, sizeof message), CLV_EDATA);
        bytes[at] ^= 0x20;
    }
    assert_int_equal(read_bytes(bytes, size, message, sizeof message), CLV_OK);
    unsigned char *version = memmem(bytes, size, CLV_VERSION, strlen(CLV_VERSION));
    version[0] ^= 1;
    seal(bytes, size);
    assert_int_equal(read_bytes(bytes, size, message, sizeof message), CLV_EDATA);
    assert_non_null(strstr(message, "was made by cleave 1.2.0, and this is " CLV_VERSION));
    assert_int_equal(read_bytes((const unsigned char *)"1,2,3\n4,5,6\n", 12, message, sizeof message), CLV_EDATA);
    assert_non_null(strstr(message, "no checkpoint"));
    free_kept(&from);
}

static void change(unsigned char *bytes, size_t size, clv_rng *rng) {
    static const int64_t odd[] = {0, -1, 1, INT64_MAX, INT64_MIN, 1 << 20, -3, INT64_C(0x7ff0000000000000)};
    int64_t times = 1 + clv_rng_below(rng, 3);
    for (int64_t t = 0; t < times; t++) {
        size_t at = 12 + (size_t)clv_rng_below(rng, (int64_t)size - 28);
        if (clv_rng_below(rng, 2)) {
            memcpy(bytes + at, &odd[clv_rng_below(rng, (int64_t)CLV_COUNT(odd))], 8);
        } else {
            bytes[at] ^= (unsigned char)(1 << clv_rng_below(rng, 8));
        }
    }
}

/* Whatever it says, it is refused or leads to a result. */
static void try_hostile(const scenario *one, const unsigned char *bytes, size_t size) {
    clv_context *ctx = new_world();
    clv_result *result = NULL;
    int64_t left = 3000;
    clv_context_set_interrupt(ctx, stop_after, &left);
    if (clv_context_resume(ctx, bytes, size) == CLV_OK && solve(ctx, one, NULL, &result) == CLV_OK) {
        clv_result_free(result);
    }
    clv_context_free(ctx);
}

static void test_hostile(void **state) {
    enum { TRIES = 60 };
    clv_rng rng = clv_rng_stream(3, 0);
    (void)state;
    for (size_t i = 0; i < CLV_COUNT(scenarios); i++) {
        scenario one = scenarios[i];
        kept from = {0};
        if (one.n > 500) {
            continue;
        }
        one.n = one.p ? one.n : 40;
        make_one(&one, &from);
        for (int t = 0; t < TRIES; t++) {
            size_t at = (size_t)clv_rng_below(&rng, (int64_t)from.used), size = from.size[at];
            unsigned char *copy = malloc(size);
            assert_non_null(copy);
            memcpy(copy, from.bytes[at], size);
            change(copy, size, &rng);
            seal(copy, size);
            try_hostile(&one, copy, size);
            free(copy);
        }
        free_kept(&from);
    }
}

/* Huge numbers in the place of any others, while objects are in several clusters: weights may vanish, and lists of them
 * must still be lists. */
static void test_huge_numbers(void **state) {
    static const scenario own = {"kpalm", "k=5", "", 40, 0};
    static const double huge[] = {1e300, -1e200, 1e-300};
    kept from = {0};
    (void)state;
    make_one(&own, &from);
    size_t size = from.size[1];
    unsigned char *copy = malloc(size);
    assert_non_null(copy);
    for (size_t at = 12; at + 16 < size; at++) {
        memcpy(copy, from.bytes[1], size);
        memcpy(copy + at, &huge[at % CLV_COUNT(huge)], sizeof huge[0]);
        seal(copy, size);
        try_hostile(&own, copy, size);
    }
    free(copy);
    free_kept(&from);
}

/* A writer that keeps nothing: the run goes on, and its result says so. */
static int lose(const void *bytes, size_t size, void *user) {
    (void)bytes;
    (void)size;
    (void)user;
    return 1;
}

static void test_not_kept(void **state) {
    static const scenario own = {"kpalm", "k=3", "", 30, 0};
    clv_context *ctx = new_world();
    clv_result *result = NULL;
    (void)state;
    clv_context_set_checkpoint(ctx, lose, NULL, 0);
    assert_int_equal(solve(ctx, &own, NULL, &result), CLV_OK);
    assert_non_null(strstr(clv_result_text(result, "warnings"), "checkpoint could not be kept"));
    clv_result_free(result);
    end_world(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_result),  cmocka_unit_test(test_interrupted), cmocka_unit_test(test_more_iterations),
        cmocka_unit_test(test_other_work),   cmocka_unit_test(test_damaged),     cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_huge_numbers), cmocka_unit_test(test_not_kept),
    };
    make_points();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : blocks != 0;
}
