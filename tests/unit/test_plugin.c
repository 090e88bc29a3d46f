/* Plugins: one that is there, and every way in which one is not. */
#include "base/base.h"

#include "with_context.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct good {
    clv_plugin_head head;
    int (*twice)(int);
} good;

static clv_status open_plugin(const char *name, int32_t interface) {
    const clv_plugin_head *head;
    return clv_plugin_open(ctx, name, interface, "do without it", &head);
}

static void assert_says(const char *part) {
    if (!strstr(clv_message(ctx), part)) {
        fail_msg("\"%s\" does not say \"%s\"", clv_message(ctx), part);
    }
}

static void test_opens(void **state) {
    const clv_plugin_head *head, *again;
    (void)state;
    /* Folders that are not there, or empty names, do no harm. */
    setenv("CLEAVE_PLUGINS", "/no/such/folder::" CLEAVE_TEST_PLUGINS, 1);
    assert_int_equal(clv_plugin_open(ctx, "good", 1, "", &head), CLV_OK);
    assert_int_equal(((const good *)head)->twice(21), 42);
    assert_int_equal(clv_plugin_open(ctx, "good", 1, "", &again), CLV_OK);
    assert_ptr_equal(head, again);
}

static void test_missing(void **state) {
    (void)state;
    setenv("CLEAVE_PLUGINS", "/no/such/folder", 1);
    assert_int_equal(open_plugin("nowhere", 1), CLV_EUSAGE);
    assert_says("libcleave_nowhere.so is not installed");
    assert_says("/no/such/folder, ");
    assert_says("or do without it");
    unsetenv("CLEAVE_PLUGINS");
    assert_int_equal(open_plugin("nowhere", 1), CLV_EUSAGE);
    assert_says("is not installed: it is not in /");
}

/* The first `size` bytes of the good one, under a name of their own. */
static size_t write_part(size_t size) {
    static char bytes[1 << 20];
    FILE *whole = fopen(CLEAVE_TEST_PLUGINS "/libcleave_good.so", "rb");
    FILE *part = fopen(CLEAVE_TEST_PLUGINS "/libcleave_part.so", "wb");
    assert_non_null(whole);
    assert_non_null(part);
    size_t all = fread(bytes, 1, sizeof bytes, whole);
    assert_true(all < sizeof bytes);
    fwrite(bytes, 1, size < all ? size : all, part);
    fclose(whole);
    fclose(part);
    return all;
}

static void test_cut_off(void **state) {
    (void)state;
    setenv("CLEAVE_PLUGINS", CLEAVE_TEST_PLUGINS, 1);
    size_t all = write_part(SIZE_MAX);
    for (size_t size = 0; size < all; size += size < 256 ? 16 : 499) {
        write_part(size);
        assert_int_equal(open_plugin("part", 1), CLV_EUSAGE);
        assert_says(size < 64 ? "libcleave_part.so cannot be opened (" : "libcleave_part.so is cut off, or no file: ");
        assert_says("do without it");
    }
    write_part(all - 1);
    assert_int_equal(open_plugin("part", 1), CLV_EUSAGE);
    assert_says("is cut off");
    remove(CLEAVE_TEST_PLUGINS "/libcleave_part.so");
}

static void test_refused(void **state) {
    (void)state;
    setenv("CLEAVE_PLUGINS", CLEAVE_TEST_PLUGINS, 1);
    assert_int_equal(open_plugin("broken", 1), CLV_EUSAGE);
    assert_says("libcleave_broken.so cannot be opened (");
    assert_says("; do without it");
    assert_int_equal(open_plugin("stranger", 1), CLV_EUSAGE);
    assert_says("has no function clv_plugin_stranger");
    assert_int_equal(open_plugin("stale", 1), CLV_EUSAGE);
    assert_says("is the plugin of cleave 0.0.1 (interface 1)");
    assert_int_equal(open_plugin("good", 2), CLV_EUSAGE);
    assert_says("(interface 1), and this is cleave " CLV_VERSION " (interface 2)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_opens, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
