/* The context: messages, interruption, sizes, and memory that is aligned, counted and given back. */
#include "base/base.h"

#include "failing.h"

#include <omp.h>
#include <stdio.h>

static void versions_and_names(void **state) {
    char version[32];
    (void)state;
    snprintf(version, sizeof version, "%d.%d.%d", CLV_VERSION_MAJOR, CLV_VERSION_MINOR, CLV_VERSION_PATCH);
    assert_string_equal(clv_version(), version);
    assert_string_equal(CLV_VERSION, version);
    for (int status = CLV_OK; status >= CLV_ETIME; status--) {
        assert_string_not_equal(clv_status_name((clv_status)status), "unknown");
        for (int other = CLV_OK; other > status; other--) {
            assert_string_not_equal(clv_status_name((clv_status)status), clv_status_name((clv_status)other));
        }
    }
    assert_string_equal(clv_status_name((clv_status)-99), "unknown");
}

static void messages(void **state) {
    clv_context *ctx = new_context();
    char text[4000];
    (void)state;
    assert_string_equal(clv_message(ctx), "");
    assert_string_equal(clv_message(NULL), "");
    assert_int_equal(clv_fail(ctx, CLV_EDATA, "row %d of %s", 3, "a.csv"), CLV_EDATA);
    assert_string_equal(clv_message(ctx), "row 3 of a.csv");
    assert_int_equal(clv_fail(NULL, CLV_EIO, "nobody listens"), CLV_EIO);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    clv_fail(ctx, CLV_EDATA, "%s", text);
    assert_int_equal(strlen(clv_message(ctx)), 2047); /* cut, not overrun */
    end_context(ctx);
}

static int stop_at_zero(void *user) {
    return (*(int *)user)-- == 0;
}

static void interruption(void **state) {
    clv_context *ctx = new_context();
    int left = 1;
    (void)state;
    assert_false(clv_interrupted(ctx));
    clv_context_set_interrupt(ctx, stop_at_zero, &left);
    assert_false(clv_interrupted(ctx));
    assert_true(clv_interrupted(ctx));
    left = 0;
    clv_context_hold_interrupt(ctx, true);
    assert_false(clv_interrupted(ctx));
    assert_true(clv_asked_to_stop_waiting(ctx));
    left = 0;
    clv_context_hold_interrupt(ctx, false);
    assert_true(clv_interrupted(ctx));
    clv_context_set_interrupt(ctx, NULL, NULL);
    assert_false(clv_interrupted(ctx));
    end_context(ctx);
}

/* Until there is something to return, so much work is done after the deadline as passes in a moment. */
static void the_deadline_has_a_grace(void **state) {
    clv_context *ctx = new_context();
    const int64_t much = (int64_t)1 << 40;
    (void)state;
    assert_false(clv_worked(ctx, much) || clv_out_of_time(ctx) || clv_share_is_over(ctx, 0));
    clv_context_set_time_limit(ctx, 1e-9);
    while (!clv_out_of_time(ctx)) {
    }
    assert_false(clv_worked(ctx, 1000) || clv_interrupted(ctx));
    assert_true(clv_worked(ctx, much) && clv_interrupted(ctx));
    assert_int_equal(clv_stop_failure(ctx, "reading %s", "a.csv"), CLV_ETIME);
    assert_string_equal(clv_message(ctx), "the time limit passed while reading a.csv, before there was a result");
    clv_overtime_begin(ctx);
    assert_true(!clv_interrupted(ctx) && clv_out_of_time(ctx));
    clv_overtime_end(ctx);
    clv_context_set_time_limit(ctx, 1e-9); /* as new */
    while (!clv_out_of_time(ctx)) {
    }
    assert_false(clv_interrupted(ctx));
    clv_grace_end(ctx);
    assert_true(clv_interrupted(ctx));
    int left = 0; /* the hook counts first */
    clv_context_set_interrupt(ctx, stop_at_zero, &left);
    assert_int_equal(clv_stop_failure(ctx, "reading"), CLV_EINTERRUPTED);
    assert_string_equal(clv_message(ctx), "interrupted while reading");
    clv_context_set_interrupt(ctx, NULL, NULL);
    clv_context_set_time_limit(ctx, 0);
    assert_false(clv_interrupted(ctx));
    end_context(ctx);
}

/* Overtime is for one evaluation: a moment's work in any case, then the hook counts, and a little later the deadline.
 */
static void overtime_ends(void **state) {
    clv_context *ctx = new_context();
    const int64_t much = (int64_t)1 << 40;
    (void)state;
    clv_context_set_time_limit(ctx, 1e-9);
    clv_overtime_begin(ctx);
    int left = 0;
    clv_context_set_interrupt(ctx, stop_at_zero, &left);
    assert_false(clv_worked(ctx, 1000));
    assert_true(clv_worked(ctx, much));
    clv_context_set_interrupt(ctx, NULL, NULL);
    while (!clv_interrupted(ctx)) { /* for less than half a second */
    }
    assert_int_equal(clv_stop_failure(ctx, "evaluating"), CLV_ETIME);
    clv_overtime_end(ctx);
    end_context(ctx);
}

/* Of two limits the earlier one counts, and the former comes back. What can be done without has no grace. */
static void deadlines_nest(void **state) {
    clv_context *ctx = new_context();
    (void)state;
    clv_context_set_time_limit(ctx, 1000);
    clv_deadline outer = clv_deadline_begin(ctx, 1e-9), inner = clv_deadline_begin(ctx, 2000);
    while (!clv_out_of_time(ctx)) {
    }
    assert_true(clv_share_is_over(ctx, 1));
    clv_deadline_end(ctx, inner);
    assert_true(clv_out_of_time(ctx));
    clv_deadline_end(ctx, outer);
    assert_false(clv_out_of_time(ctx) || clv_share_is_over(ctx, 0.5));
    assert_true(clv_share_is_over(ctx, 0));
    clv_optional_begin(ctx, 1e-15);
    while (!clv_interrupted(ctx)) {
    }
    assert_int_equal(clv_stop_failure(ctx, "trying"), CLV_ETIME);
    clv_optional_end(ctx);
    assert_false(clv_interrupted(ctx));
    end_context(ctx);
}

static clv_status try_product(int64_t count, size_t size) {
    clv_context *ctx = new_context();
    void *block = clv_alloc(ctx, count, size);
    clv_status status = block ? CLV_OK : CLV_ENOMEM;
    assert_int_equal(clv_message(ctx)[0] != '\0', block == NULL);
    clv_free(ctx, block);
    end_context(ctx);
    return status;
}

static void sizes_are_checked(void **state) {
    int64_t out;
    (void)state;
    assert_true(clv_mul(3000000000, 3000000000, &out) && out == 9000000000000000000);
    assert_false(clv_mul(3100000000, 3100000000, &out));
    assert_false(clv_mul(-1, 5, &out));
    assert_false(clv_mul(5, -1, &out));
    assert_true(clv_mul(0, INT64_MAX, &out) && out == 0);
    assert_true(clv_add(INT64_MAX - 1, 1, &out) && out == INT64_MAX);
    assert_false(clv_add(INT64_MAX, 1, &out));
    assert_false(clv_add(-1, 1, &out));
    assert_int_equal(try_product(INT64_MAX / 8 + 1, 8), CLV_ENOMEM);
    assert_int_equal(try_product(INT64_MAX, 1), CLV_ENOMEM);
    assert_int_equal(try_product(1, SIZE_MAX), CLV_ENOMEM);
    assert_int_equal(try_product(-1, 8), CLV_ENOMEM);
    assert_int_equal(try_product(0, 8), CLV_OK);
    assert_int_equal(try_product(8, 0), CLV_OK);
}

static void blocks_are_aligned_and_counted(void **state) {
    static const int64_t sizes[] = {0, 1, 63, 64, 1000, 100000, 8 << 20, (8 << 20) + 1, 20 << 20};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    clv_context *ctx = new_context();
    char *blocks[COUNT];
    size_t now, peak, total = 0;
    (void)state;
    for (int b = 0; b < COUNT; b++) {
        blocks[b] = clv_alloc(ctx, sizes[b], 1);
        assert_non_null(blocks[b]);
        assert_int_equal((uintptr_t)blocks[b] % 64, 0);
        memset(blocks[b], b, (size_t)sizes[b]);
        total += (size_t)sizes[b];
        clv_context_memory(ctx, &now, &peak);
        assert_true(now == total && peak == total);
    }
    for (int b = 0; b < COUNT; b++) {
        for (int64_t i = 0; i < sizes[b]; i++) {
            if (blocks[b][i] != (char)b) {
                fail_msg("byte %lld of block %d was overwritten", (long long)i, b);
            }
        }
        clv_release(ctx, blocks[b]);
    }
    clv_free(ctx, NULL);
    clv_context_memory(ctx, &now, &peak);
    assert_true(now == 0 && peak == total);
    end_context(ctx);
}

static void limits_hold(void **state) {
    enum { BUFFERS = 1 << 20 };
    clv_context *ctx = new_context();
    (void)state;
    clv_context_set_memory_limit(ctx, 1000);
    char *first = clv_alloc(ctx, BUFFERS + 600, 1);
    assert_non_null(first);
    assert_null(clv_alloc(ctx, 401, 1));
    assert_non_null(strstr(clv_message(ctx), "401 bytes more than the 1049176 held"));
    assert_non_null(strstr(clv_message(ctx), "the budget of 1000 ")); /* as it was given */
    assert_int_equal(clv_memory_fits(ctx, 401), CLV_ENOMEM);
    assert_int_equal(clv_memory_fits(ctx, 400), CLV_OK);
    assert_null(clv_resize(ctx, first, BUFFERS + 601, 1)); /* both are held for a moment */
    clv_context_set_memory_limit(ctx, 500);                /* less than is held */
    assert_null(clv_alloc(ctx, 1, 1));
    clv_context_set_memory_limit(ctx, SIZE_MAX);
    assert_int_equal(clv_memory_fits(ctx, INT64_MAX), CLV_OK);
    clv_context_set_memory_limit(ctx, 0);
    first = clv_resize(ctx, first, 2 * BUFFERS, 1);
    assert_non_null(first);
    clv_free(ctx, first);
    end_context(ctx);
}

static void zeroed_and_resized(void **state) {
    clv_context *ctx = new_context();
    int64_t *block = CLV_NEW0(ctx, int64_t, 100);
    size_t now, peak;
    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(block[i], 0);
        block[i] = i;
    }
    block = clv_resize(ctx, block, 1000, sizeof *block);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(block[i], i);
    }
    block = clv_resize(ctx, block, 10, sizeof *block);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(block[i], i);
    }
    clv_context_memory(ctx, &now, &peak);
    assert_int_equal(now, 10 * sizeof *block);
    assert_null(clv_resize(ctx, block, INT64_MAX, 1)); /* the old block stays */
    assert_int_equal(block[9], 9);
    clv_free(ctx, block);
    block = clv_resize(ctx, NULL, 5, sizeof *block);
    assert_non_null(block);
    clv_free(ctx, block);
    char *copy = clv_copy_text(ctx, "some text");
    assert_string_equal(copy, "some text");
    clv_free(ctx, copy);
    end_context(ctx);
}

static clv_status allocate_three_ways(clv_context *ctx, void *user) {
    double *numbers = CLV_NEW0(ctx, double, 10);
    double *grown = numbers ? clv_resize(ctx, numbers, 20, sizeof *numbers) : NULL;
    char *text = grown ? clv_copy_text(ctx, "text") : NULL;
    (void)user;
    clv_free(ctx, text);
    clv_free(ctx, grown ? grown : numbers);
    return text ? CLV_OK : CLV_ENOMEM;
}

static void failures_leave_nothing(void **state) {
    failing f = {.fail_at = 1};
    clv_allocator allocator = {failing_allocate, failing_release, &f};
    clv_context *ctx = (clv_context *)(uintptr_t)1;
    (void)state;
    assert_int_equal(check_every_failure(allocate_three_ways, NULL), 3);
    assert_int_equal(clv_context_new(&allocator, &ctx), CLV_ENOMEM);
    assert_null(ctx);
    clv_context_free(NULL);
}

static void threads_share_an_account(void **state) {
    clv_context *ctx = new_context();
    (void)state;
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 2000; i++) {
        void *block = clv_alloc(ctx, i, 8);
        clv_fail(ctx, CLV_EDATA, "message %d", i);
        clv_free(ctx, block);
    }
    assert_int_equal(strncmp(clv_message(ctx), "message ", 8), 0);
    end_context(ctx);
}

static void budget(void **state) {
    (void)state;
    assert_int_equal(clv_memory_budget(12345), 12345);
    assert_true(clv_memory_budget(0) > (size_t)64 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_names),
        cmocka_unit_test(messages),
        cmocka_unit_test(interruption),
        cmocka_unit_test(the_deadline_has_a_grace),
        cmocka_unit_test(overtime_ends),
        cmocka_unit_test(deadlines_nest),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(blocks_are_aligned_and_counted),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(zeroed_and_resized),
        cmocka_unit_test(failures_leave_nothing),
        cmocka_unit_test(threads_share_an_account),
        cmocka_unit_test(budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
