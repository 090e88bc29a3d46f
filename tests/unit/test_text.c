/* Text that grows: content, the ending NUL, and a failure that sticks. */
#include "base/base.h"

#include "failing.h"

static void text_grows(void **state) {
    clv_context *ctx = new_context();
    clv_text text = {.ctx = ctx};
    (void)state;
    assert_null(text.data);
    clv_text_add(&text, "%s", "");
    assert_string_equal(text.data, "");
    for (int i = 0; i < 3000; i++) {
        clv_text_add(&text, "%04d,", i);
        assert_int_equal(text.size, 5 * (i + 1));
        assert_int_equal(text.data[text.size], '\0');
        assert_true(text.size < text.capacity);
    }
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(strtol(text.data + 5 * i, NULL, 10), i);
    }
    assert_int_equal(text.status, CLV_OK);
    clv_free(ctx, text.data);
    end_context(ctx);
}

static void bytes_and_long_pieces(void **state) {
    clv_context *ctx = new_context();
    clv_text text = {.ctx = ctx};
    static char piece[100001];
    (void)state;
    memset(piece, 'y', sizeof piece - 1);
    clv_text_append(&text, "a\0b", 3);
    clv_text_append(&text, "", 0);
    clv_text_add(&text, "%s!", piece);
    assert_int_equal(text.size, 3 + 100000 + 1);
    assert_memory_equal(text.data, "a\0byy", 5);
    assert_string_equal(text.data + text.size - 2, "y!");
    clv_free(ctx, text.data);
    end_context(ctx);
}

static clv_status write_some(clv_context *ctx, void *user) {
    clv_text text = {.ctx = ctx};
    (void)user;
    for (int i = 0; i < 200; i++) {
        clv_text_add(&text, "line %d\n", i);
        clv_text_append(&text, "more\n", 5);
    }
    if (text.status == CLV_OK) {
        assert_int_equal(strlen(text.data), text.size);
    }
    clv_free(ctx, text.data);
    return text.status;
}

static void failures_stick(void **state) {
    failing f = {0};
    clv_allocator allocator = {failing_allocate, failing_release, &f};
    clv_context *ctx;
    (void)state;
    assert_true(check_every_failure(write_some, NULL) >= 3);
    assert_int_equal(clv_context_new(&allocator, &ctx), CLV_OK);
    clv_text text = {.ctx = ctx};
    clv_text_add(&text, "kept");
    f.fail_at = f.calls + 1;
    clv_text_add(&text, "%1000d", 1);
    assert_int_equal(text.status, CLV_ENOMEM);
    clv_text_add(&text, "x"); /* would fit, but the text is broken already */
    assert_string_equal(text.data, "kept");
    clv_free(ctx, text.data);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows),
        cmocka_unit_test(bytes_and_long_pieces),
        cmocka_unit_test(failures_stick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
