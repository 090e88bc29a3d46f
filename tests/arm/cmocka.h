/* As much of cmocka as the tests of the kernels use, for scripts/check-arm: the library is not there for other machines
 * than this one. Included in place of the real one, by the order of the folders. */
#ifndef CLV_TEST_ARM_CMOCKA_H
#define CLV_TEST_ARM_CMOCKA_H

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

static jmp_buf shim_failed;

#define fail_msg(...) (printf("%s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), puts(""), longjmp(shim_failed, 1))
#define assert_true(holds) ((holds) ? (void)0 : fail_msg("%s", #holds))
#define assert_int_equal(a, b) assert_true((a) == (b))
#define assert_string_equal(a, b) assert_true(strcmp((a), (b)) == 0)

#define cmocka_unit_test(test)                                                                                         \
    { #test, test }
#define cmocka_run_group_tests(tests, setup, teardown) shim_run((tests), sizeof(tests) / sizeof *(tests))

static int shim_run(const struct CMUnitTest *tests, size_t count) {
    static size_t failed, i; /* kept over longjmp */
    for (i = 0; i < count; i++) {
        if (setjmp(shim_failed)) {
            printf("FAILED %s\n", tests[i].name);
            failed++;
        } else {
            tests[i].run(NULL);
        }
    }
    printf("%zu passed, %zu failed\n", count - failed, failed);
    return failed > 0;
}

#endif
