/* The library as a careless program uses it: nothing where something must be, structs of other sizes, a hook that
 * another thread sets off, several contexts at once, a child process. Errors with a sentence, never a crash. */
#include "methods/methods.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "with_context.h"

enum { N = 60, P = 4, THREADS = 4 };

/* What any method can work on. */
typedef struct problem {
    double points[N * P], targets[N];
    clv_matrix x, y;
    clv_affinity *affinity;
    clv_input input;
    clv_options_room options;
} problem;

static void set(clv_context *own, const clv_method *method, problem *p, const char *name, const char *value) {
    bool of_method = clv_options_find(method->options, name) != NULL;
    assert_int_equal(
        clv_options_set(own, of_method ? method->options : clv_control_table(), p->options.bytes, name, value), CLV_OK);
}

static void pose_on(clv_context *own, const clv_method *method, problem *p, int threads) {
    clv_rng rng = clv_rng_stream(9, 0);
    clv_affinity_options how;
    bool partitions = method->takes == CLV_TAKES_PARTITIONS;
    for (int64_t i = 0; i < N * P; i++) {
        p->points[i] = partitions ? (double)(i / P % 3) : clv_rng_normal(&rng) + 3 * (double)(i / P % 3);
        p->targets[i % N] = (double)(i % 2);
    }
    p->x = (clv_matrix){.rows = N, .cols = P, .values = p->points};
    p->y = (clv_matrix){.rows = N, .cols = 1, .values = p->targets};
    p->affinity = NULL;
    p->input = (clv_input){.points = &p->x, .targets = method->takes == CLV_TAKES_SAMPLES ? &p->y : NULL};
    clv_method_defaults(method, p->options.bytes, method->options->size);
    set(own, method, p, "k", "3");
    set(own, method, p, "threads", threads == 1 ? "1" : "2");
    if (method->takes == CLV_TAKES_AFFINITY) {
        clv_affinity_defaults(&how);
        how.threads = threads;
        assert_int_equal(clv_suit_affinity(own, method, &p->x, p->options.bytes, &how), CLV_OK);
        assert_int_equal(clv_affinity_build(own, &p->x, &how, &p->affinity), CLV_OK);
        p->input.affinity = p->affinity;
    }
}

static void pose(clv_context *own, const clv_method *method, problem *p) {
    pose_on(own, method, p, 1);
}

static void assert_refused(clv_status status) {
    assert_true(status == CLV_EUSAGE || status == CLV_EDATA);
    assert_true(clv_message(ctx)[0] != '\0');
}

/* --- nothing --- */

static void nothing_is_an_error(void **state) {
    size_t count;
    const clv_method *const *list = clv_methods(&count);
    (void)state;
    for (size_t m = 0; m < count; m++) {
        problem p;
        clv_result *result = NULL, *found = NULL;
        const clv_input none = {0};
        const clv_fresh nobody = {0};
        const clv_matrix empty = {.rows = N, .cols = P}, negative = {.rows = -1, .cols = -1, .values = p.points};
        pose(ctx, list[m], &p);
        assert_refused(clv_solve(ctx, NULL, &p.input, p.options.bytes, &result));
        assert_refused(clv_solve(ctx, list[m], NULL, p.options.bytes, &result));
        assert_refused(clv_solve(ctx, list[m], &none, p.options.bytes, &result));
        assert_refused(clv_solve(ctx, list[m], &p.input, NULL, &result));
        assert_refused(clv_method_check(ctx, list[m], NULL));
        assert_null(result);
        const clv_input without = {.points = &empty, .targets = p.input.targets}, odd = {.points = &negative};
        if (list[m]->takes != CLV_TAKES_AFFINITY) {
            assert_refused(clv_solve(ctx, list[m], &without, p.options.bytes, &result));
            assert_refused(clv_solve(ctx, list[m], &odd, p.options.bytes, &result));
        }
        assert_refused(clv_evaluate(ctx, list[m], &p.input, p.options.bytes, NULL, &found));
        assert_int_equal(clv_result_new(ctx, 0, 0, &result), CLV_OK);
        assert_refused(
            clv_evaluate(ctx, list[m], &p.input, p.options.bytes, result, &found)); /* an answer of nothing */
        assert_refused(clv_predict(ctx, list[m], &p.input, p.options.bytes, NULL, &nobody, &found));
        assert_refused(clv_predict(ctx, list[m], &p.input, p.options.bytes, result, NULL, &found));
        assert_null(found);
        clv_result_free(result);
        clv_affinity_free(p.affinity);
    }
    clv_result_free(NULL);
    clv_affinity_free(NULL);
    clv_data_free(NULL);
    clv_claim_free(NULL);
    clv_context_free(NULL);
    clv_release(ctx, NULL);
}

/* Numbers that are of no kind are none. */
static void scalars_of_no_kind(void **state) {
    size_t count;
    const clv_method *const *list = clv_methods(&count);
    clv_affinity_options how;
    clv_affinity *a = NULL;
    (void)state;
    for (size_t m = 0; m < count; m++) {
        problem p = {0};
        clv_result *result = NULL;
        pose(ctx, list[m], &p);
        clv_matrix odd = p.x;
        clv_input other = p.input;
        odd.scalar = (clv_scalar)7;
        other.points = &odd;
        if (list[m]->takes != CLV_TAKES_AFFINITY) {
            assert_refused(clv_solve(ctx, list[m], &other, p.options.bytes, &result));
        }
        clv_affinity_free(p.affinity);
    }
    const double values[N * P] = {0};
    const clv_matrix odd = {.rows = N, .cols = P, .scalar = (clv_scalar)7, .values = values};
    clv_affinity_defaults(&how);
    assert_refused(clv_affinity_build(ctx, &odd, &how, &a));
}

static void nothing_to_read_or_to_build(void **state) {
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_data *data = NULL;
    const clv_matrix empty = {.rows = N, .cols = P}, negative = {.rows = -3, .cols = 2};
    (void)state;
    clv_affinity_defaults(&how);
    assert_refused(clv_affinity_build(ctx, NULL, &how, &a));
    assert_refused(clv_affinity_build(ctx, &empty, &how, &a));
    assert_refused(clv_affinity_build(ctx, &negative, &how, &a));
    assert_refused(clv_affinity_build(ctx, &empty, NULL, &a));
    assert_true(clv_read(ctx, NULL, NULL, &data) < 0 && clv_message(ctx)[0]);
    assert_true(clv_read(ctx, "", NULL, &data) < 0 && clv_message(ctx)[0]);
    assert_null(a);
    assert_null(data);
}

/* --- options of another size --- */

/* Exactly as many bytes as the struct says it has, so that a sanitizer sees whoever reads on. */
static void options_of_every_size(void **state) {
    size_t count;
    const clv_method *const *list = clv_methods(&count);
    (void)state;
    for (size_t m = 0; m < count; m++) {
        size_t whole = list[m]->options->size;
        for (size_t size = sizeof(size_t); size <= whole + 64; size += sizeof(int64_t)) {
            char *bytes = calloc(1, size);
            size_t known = size < whole ? size : whole;
            clv_options_room full;
            clv_method_defaults(list[m], full.bytes, whole);
            memcpy(bytes, full.bytes, known);
            memcpy(bytes, &size, sizeof size);
            clv_status status = clv_method_check(ctx, list[m], bytes);
            assert_true(size >= sizeof(clv_control) || status == CLV_EUSAGE);
            assert_true(status == CLV_OK || clv_message(ctx)[0] != '\0');
            free(bytes);
        }
    }
}

/* --- a hook that another thread sets off --- */

typedef struct stopping {
    int flag, polls;
} stopping;

/* The run has begun: another thread may end it. */
static int poll(void *user) {
    stopping *s = user;
    __atomic_add_fetch(&s->polls, 1, __ATOMIC_RELAXED);
    return __atomic_load_n(&s->flag, __ATOMIC_RELAXED);
}

static void *stop_it(void *user) {
    stopping *s = user;
    while (__atomic_load_n(&s->polls, __ATOMIC_RELAXED) < 3) {
        usleep(100);
    }
    __atomic_store_n(&s->flag, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void another_thread_ends_a_run(void **state) {
    size_t count;
    const clv_method *const *list = clv_methods(&count);
    (void)state;
    for (size_t m = 0; m < count; m++) {
        problem p;
        clv_result *result = NULL;
        stopping s = {0};
        pthread_t other;
        pose(ctx, list[m], &p);
        set(ctx, list[m], &p, "restarts", "1000000"); /* far longer than anyone waits */
        clv_context_set_interrupt(ctx, poll, &s);
        assert_int_equal(pthread_create(&other, NULL, stop_it, &s), 0);
        clv_status status = clv_solve(ctx, list[m], &p.input, p.options.bytes, &result);
        __atomic_store_n(&s.polls, 3, __ATOMIC_RELAXED); /* it may have been over before it was asked so often */
        assert_int_equal(pthread_join(other, NULL), 0);
        clv_context_set_interrupt(ctx, NULL, NULL);
        assert_true(status == CLV_OK ? result->n == N : status == CLV_EINTERRUPTED);
        clv_result_free(result);
        clv_affinity_free(p.affinity);
    }
}

/* --- several contexts, and a child --- */

/* The objectives of all methods, one after the other, each on so many threads; by malloc. */
static void *solve_all(void *threads) {
    size_t count;
    const clv_method *const *list = clv_methods(&count);
    double *values = calloc(count, sizeof *values);
    for (size_t m = 0; m < count; m++) {
        clv_context *own;
        clv_result *result = NULL;
        problem p;
        if (clv_context_new(NULL, &own) < 0) {
            continue;
        }
        pose_on(own, list[m], &p, *(int *)threads);
        if (clv_solve(own, list[m], &p.input, p.options.bytes, &result) == CLV_OK) {
            values[m] = result->objective.value;
        }
        clv_result_free(result);
        clv_affinity_free(p.affinity);
        clv_context_free(own);
    }
    return values;
}

static void contexts_side_by_side(void **state) {
    size_t count;
    pthread_t team[THREADS];
    int one = 1;
    (void)state;
    clv_methods(&count);
    double *alone = solve_all(&one);
    for (int threads = 1; threads <= 2; threads++) {
        for (int t = 0; t < THREADS; t++) {
            assert_int_equal(pthread_create(&team[t], NULL, solve_all, &threads), 0);
        }
        for (int t = 0; t < THREADS; t++) {
            void *values;
            assert_int_equal(pthread_join(team[t], &values), 0);
            assert_memory_equal(values, alone, count * sizeof *alone);
            free(values);
        }
    }
    free(alone);
}

/* On one thread: the threads of OpenMP are not there in a child, which docs/c.md says. */
static void a_child_solves(void **state) {
    size_t count;
    int one = 1;
    (void)state;
    clv_methods(&count);
    double *before = solve_all(&one);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        double *values = solve_all(&one);
        _exit(memcmp(values, before, count * sizeof *values) == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    free(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scalars_of_no_kind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_to_read_or_to_build, set_up, tear_down),
        cmocka_unit_test_setup_teardown(options_of_every_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_thread_ends_a_run, set_up, tear_down),
        cmocka_unit_test(contexts_side_by_side),
        cmocka_unit_test(a_child_solves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
