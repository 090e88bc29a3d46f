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
    int64_t n; /* 0: 90 */
} scenario;

static const scenario scenarios[] = {
    {"ncut", "k=4 restarts=3", "gaussian", 0},
    {"ncut", "k=4 solver=finc restarts=2 patience=3", "gaussian", 0},
    {"ncut", "k=4 solver=fcd start=kmeans++ patience=3", "gaussian", 0},
    {"ncut", "k=2 solver=dinkelbach patience=4", "gaussian", 0},
    {"ncut", "k=4 solver=finc-at-once polish=false start=random", "gaussian", 0},
    {"ncut", "k=3 solver=spectral patience=3", "cosine", 0},
    {"ncut", "k=4 patience=5", "knn", 0},
    {"ncut", "k=auto patience=5", "gaussian computed", 0},
    {"symnmf", "k=4 restarts=2", "gaussian", 0},
    {"symnmf", "k=3", "cosine low-rank", 0},
    {"symnmf", "k=4 solver=fw max-iter=60", "gaussian", 0},
    {"symnmf", "k=4 solver=pairwise max-iter=60 start=random restarts=2", "gaussian", 0},
    {"symnmf", "k=4 solver=pgd max-iter=60 start=random", "gaussian", 0},
    {"symnmf", "k=4 solver=spg max-iter=60 start=kmeans++", "gaussian", 0},
    {"symnmf", "k=4 solver=penalty max-iter=8 start=random", "gaussian", 0},
    {"kpalm", "k=5 restarts=4", "", 0},
    {"kpalm", "k=5 solver=lloyd restarts=3 start=random", "", 0},
    {"kpalm", "k=5 solver=weiszfeld", "", 0},
    {"kpalm", "k=5 norm=euclidean max-iter=30", "", 0},
    {"kpalm", "k=30 initial-membership=dirichlet", "", 1200},
    {"kpalm", "k=40 solver=lloyd", "", 1200},
    {"kpalm", "k=40 max-iter=14", "", 30000}, /* weights are replayed */
    {"kpalm", "k=40 max-iter=8 initial-membership=dirichlet", "", 30000},
    {"dominant", "k=4", "gaussian", 0},
    {"dominant", "solver=fw k=3 max-iter=40", "gaussian", 0},
    {"dominant", "solver=afw k=3 shift=0.1", "gaussian", 0},
    {"dominant", "solver=rd k=3 max-iter=50", "gaussian", 0},
    {"dominant", "k=3 start=random restarts=3", "gaussian computed", 0},
    {"dominant", "k=all", "knn", 0},
    {"dominant", "k=6 multistart=5 sampling=dpp", "gaussian", 0},
    {"ksupport", "k=2 solver=fcfw ridge=0.1", "", 0},
    {"ksupport", "k=2 solver=fcfw loss=squares lambda=5", "", 0},
    {"ksupport", "k=2 solver=fista max-iter=60", "", 0},
    {"ksupport", "k=2 solver=admm max-iter=40", "", 0},
    {"ksupport", "k=2 solver=newton", "", 0},
    {"ksupport", "path=1,3:0.5,2,8", "", 0},
    {"pursuit", "k=200 max-iter=25", "", 0},
    {"pursuit", "k=200 solver=fista max-iter=12", "", 0},
    {"pursuit", "k=200 solver=admm max-iter=12", "", 0},
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
    clv_matrix points = {.rows = one->n ? one->n : 90, .cols = P, .values = values};
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_result),
    };
    make_points();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : blocks != 0;
}
