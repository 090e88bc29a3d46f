/* Threads: the number to use, and BLAS kept to one thread inside nested and concurrent sections. */
#include "base/base.h"

#include "failing.h"

#include <cblas.h>
#include <omp.h>

static void thread_counts(void **state) {
    (void)state;
    assert_int_equal(clv_threads(0), omp_get_num_procs());
    assert_int_equal(clv_threads(-4), omp_get_num_procs());
    assert_int_equal(clv_threads(1), 1);
    assert_int_equal(clv_threads(7), 7);
    assert_int_equal(clv_threads(1000000), 1024);
}

static void sections_nest(void **state) {
    (void)state;
    for (int before = 1; before <= 2; before++) {
        openblas_set_num_threads(before);
        clv_blas_serial_begin();
        assert_int_equal(openblas_get_num_threads(), 1);
        clv_blas_serial_begin();
        assert_int_equal(openblas_get_num_threads(), 1);
        clv_blas_serial_end();
        assert_int_equal(openblas_get_num_threads(), 1);
        clv_blas_serial_end();
        assert_int_equal(openblas_get_num_threads(), before);
    }
}

static void sections_overlap(void **state) {
    int wrong = 0;
    (void)state;
    openblas_set_num_threads(2);
#pragma omp parallel for num_threads(4) reduction(+ : wrong)
    for (int i = 0; i < 400; i++) {
        clv_blas_serial_begin();
        wrong += openblas_get_num_threads() != 1;
        clv_blas_serial_end();
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(openblas_get_num_threads(), 2);
}

static void clock_goes_forward(void **state) {
    double last = clv_seconds();
    (void)state;
    for (int i = 0; i < 1000; i++) {
        double now = clv_seconds();
        assert_true(now >= last);
        last = now;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_counts),
        cmocka_unit_test(sections_nest),
        cmocka_unit_test(sections_overlap),
        cmocka_unit_test(clock_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
