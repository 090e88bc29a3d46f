/* CLEAVE_ISA chooses the set of kernels when the library is loaded: seen in a child, which is this program again. */
#include "kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { AS_ASKED = 17, ANOTHER = 18 };

/* Whether a child that finds `asked` in its environment (NULL: nothing) computes with the set called `expected`. */
static bool child_has(const char *asked, const char *expected) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        if (asked) {
            setenv("CLEAVE_ISA", asked, 1);
        } else {
            unsetenv("CLEAVE_ISA");
        }
        execl("/proc/self/exe", "test_isa", expected, (char *)NULL);
        _exit(1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == AS_ASKED || WEXITSTATUS(status) == ANOTHER));
    return WEXITSTATUS(status) == AS_ASKED;
}

static void test_every_set_can_be_asked_for(void **state) {
    int count = 0;
    (void)state;
    for (; clv_isa_name(count); count++) {
        assert_true(child_has(clv_isa_name(count), clv_isa_name(count)));
    }
    assert_true(count >= 1);
    assert_true(count == 1 || !child_has(clv_isa_name(0), clv_isa_name(1)));
}

static void test_else_it_is_the_best(void **state) {
    const char *best = clv_isa_name(0);
    (void)state;
    for (int i = 1; clv_isa_name(i); i++) {
        best = clv_isa_name(i);
    }
    assert_true(child_has(NULL, best));
    assert_true(child_has("", best));
    assert_true(child_has("nonsense", best)); /* the command refuses it; a library has nobody to tell */
    assert_true(child_has("AVX2", best));
}

/* An OpenBLAS that does not know the processor takes it for one without AVX; one that knows it is left alone. */
static void test_blas_is_told_what_it_missed(void **state) {
    (void)state;
    assert_string_equal(clv_blas_core_for("Prescott", "avx512"), "SkylakeX");
    assert_string_equal(clv_blas_core_for("Prescott", "avx2"), "Haswell");
    assert_string_equal(clv_blas_core_for("Barcelona", "avx2"), "Haswell");
    assert_null(clv_blas_core_for("Prescott", "baseline"));
    assert_null(clv_blas_core_for("Zen", "avx512"));
    assert_null(clv_blas_core_for("Haswell", "avx2"));
    assert_null(clv_blas_core_for("armv8", "baseline"));
    assert_null(clv_blas_core_for("of next year", "avx512"));
    assert_null(clv_blas_core_for(NULL, "avx512"));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_set_can_be_asked_for),
        cmocka_unit_test(test_else_it_is_the_best),
        cmocka_unit_test(test_blas_is_told_what_it_missed),
    };
    if (argc > 1) {
        return strcmp(clv_isa(), argv[1]) == 0 && strcmp(clv_kernels->name, argv[1]) == 0 ? AS_ASKED : ANOTHER;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
