/* Threads: the number to use, and BLAS kept to one thread inside nested and concurrent sections. */
#include "base/base.h"

#include "failing.h"

#include <cblas.h>
#include <omp.h>

static void thread_counts(void **state) {
    (void)state;
    int before = omp_get_max_threads(), cores = omp_get_num_procs();
    omp_set_num_threads(cores + 3);
    assert_int_equal(clv_threads(0), cores);
    assert_int_equal(clv_threads(-4), cores);
    omp_set_num_threads(1);
    assert_int_equal(clv_threads(0), 1);
    assert_int_equal(clv_default_threads(), 1);
    omp_set_num_threads(before);
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

/* The team shrinks while threads are put aside often, all the way to one, and grows again when they are not. */
static void look(clv_crowd *crowd, double *now, double *spent, int64_t *put_aside, bool busy) {
    *now += 0.1;
    *put_aside += 20; /* often; alone it says nothing */
    *spent += busy ? 0.05 : 0.099;
    clv_crowd_look(crowd, *now, *put_aside, *spent, false, 8);
}

static void teams_give_way(void **state) {
    clv_crowd crowd = {0};
    double now = 100, spent = 7;
    int64_t put_aside = 5000;
    (void)state;
    for (int i = 0; i < 20; i++) {
        look(&crowd, &now, &spent, &put_aside, false);
        assert_int_equal(clv_crowd_team(&crowd, 8), 8);
    }
    clv_crowd_look(&crowd, now += 0.1, put_aside, spent, false, 8); /* waits, and is not put aside: not crowded */
    assert_int_equal(clv_crowd_team(&crowd, 8), 8);
    for (int i = 0; i < 10; i++) { /* every other look: some program that runs for a moment */
        look(&crowd, &now, &spent, &put_aside, i % 2 == 0);
        assert_int_equal(clv_crowd_team(&crowd, 8), 8);
    }
    for (int i = 0; i < 4; i++) {
        look(&crowd, &now, &spent, &put_aside, true);
    }
    assert_int_equal(clv_crowd_team(&crowd, 8), 1);
    assert_int_equal(clv_crowd_team(&crowd, 1), 1);
    double alone = now;
    while (clv_crowd_team(&crowd, 8) == 1) { /* quiet, and tried again after a while */
        look(&crowd, &now, &spent, &put_aside, false);
        assert_true(now < alone + 5);
    }
    assert_true(now > alone + 0.2);
    assert_int_equal(clv_crowd_team(&crowd, 8), 2);
    look(&crowd, &now, &spent, &put_aside, true); /* still crowded: back, and for longer */
    assert_int_equal(clv_crowd_team(&crowd, 8), 1);
    for (int i = 0; i < 2000; i++) {
        look(&crowd, &now, &spent, &put_aside, false);
    }
    assert_int_equal(clv_crowd_team(&crowd, 8), 8);
    clv_crowd_look(&crowd, now + 10, put_aside + 10000, spent, false,
                   8); /* after a pause of the caller: says nothing */
    assert_int_equal(clv_crowd_team(&crowd, 8), 8);
}

/* Where others have all cores at the first look the team begins small, and grows when they are gone. */
static void teams_begin_small(void **state) {
    clv_crowd crowd = {0};
    double now = 100, spent = 7;
    (void)state;
    clv_crowd_look(&crowd, now, 5000, spent, true, 2);
    assert_int_equal(clv_crowd_team(&crowd, 2), 1);
    for (int i = 0; i < 50; i++) {
        clv_crowd_look(&crowd, now += 0.1, 5000, spent += 0.099, true, 2);
        assert_int_equal(clv_crowd_team(&crowd, 2), 1);
    }
    clv_crowd_look(&crowd, now += 0.1, 5000, spent += 0.099, false, 2);
    assert_int_equal(clv_crowd_team(&crowd, 2), 2);
    clv_crowd_look(&crowd, now += 0.1, 5000, spent += 0.099, true,
                   2); /* in the midst of a run others may come and go */
    assert_int_equal(clv_crowd_team(&crowd, 2), 2);
    clv_crowd_look(&crowd, now += 60, 5000, spent, true, 2);
    assert_int_equal(clv_crowd_team(&crowd, 2), 1);
    clv_crowd_look(&crowd, now + 0.1, 5000, spent, false, 2); /* over at the next look: it was something short */
    assert_int_equal(clv_crowd_team(&crowd, 2), 2);
    assert_true(clv_cores_taken("1.39 1.31 1.52 3/105 6823\n", 2));
    assert_false(clv_cores_taken("9.39 9.31 9.52 2/105 6823\n", 2));
    assert_false(clv_cores_taken("9.39 9.31", 2));
    assert_false(clv_cores_taken("", 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_counts),      cmocka_unit_test(sections_nest),  cmocka_unit_test(sections_overlap),
        cmocka_unit_test(clock_goes_forward), cmocka_unit_test(teams_give_way), cmocka_unit_test(teams_begin_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
