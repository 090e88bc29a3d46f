/* examples/nonsmooth.c: Frank-Wolfe fails on (13) of the paper and works on (14), from wherever it starts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

int example_main(void);
#define main example_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): its functions are static, and its main is not wanted */
#include "../../examples/nonsmooth.c"
#undef main

/* A point of the triangle from two numbers of 0..1. */
static point inside(double a, double b) {
    double y = 3 * sqrt(a);
    return (point){(2 * b - 1) * y / 3, y};
}

/* On (13) the value never comes near 0 unless it starts there: x_2 cannot fall, as both corners lie above. */
static void fails_on_13(void **unused) {
    (void)unused;
    for (int i = 1; i <= 20; i++) {
        for (int j = 0; j <= 20; j++) {
            point start = inside(i / 20.0, j / 20.0);
            for (int rule = OPEN_LOOP; rule <= LINE_SEARCH && start.x != 0; rule++) {
                int met_origin;
                point end = frank_wolfe(5, start, (step_rule)rule, 2000, &met_origin);
                assert_false(met_origin);
                assert_true(end.y >= start.y - 1e-12);
                assert_true(value_at(5, end) >= start.y - 1e-12);
                assert_true(rule == LINE_SEARCH || value_at(5, end) > 2.9);
            }
        }
    }
}

static void works_on_14(void **unused) {
    (void)unused;
    for (int i = 1; i <= 20; i++) {
        for (int j = 0; j <= 20; j++) {
            for (int rule = OPEN_LOOP; rule <= LINE_SEARCH; rule++) {
                int met_origin;
                point end = frank_wolfe(0.5, inside(i / 20.0, j / 20.0), (step_rule)rule, 2000, &met_origin);
                assert_true(met_origin);
                assert_true(value_at(0.5, end) <= 1e-12);
            }
        }
    }
}

/* The oracle is the least of all three corners, and the line search of all points on the way. */
static void oracle_and_search_are_exact(void **unused) {
    (void)unused;
    for (int i = 1; i <= 20; i++) {
        for (int j = 0; j <= 20; j++) {
            point at = inside(i / 20.0, j / 20.0), corner = best_corner(5, at);
            double gx = at.x < 0 ? -5 : 5;
            assert_true(gx * corner.x + corner.y <= fmin(fmin(gx + 3, -gx + 3), 0));
            double best = value_at(5, between(at, corner, search_length(5, at, corner)));
            for (int t = 0; t <= 1000; t++) {
                assert_true(best <= value_at(5, between(at, corner, t / 1000.0)) + 1e-12);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fails_on_13),
        cmocka_unit_test(works_on_14),
        cmocka_unit_test(oracle_and_search_are_exact),
    };
    (void)example_main;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
