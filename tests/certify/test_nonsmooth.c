/* examples/nonsmooth.c: Frank-Wolfe fails on (13) of the paper and works on (14), from wherever it starts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

int example_main(int argc, char **argv);
#define main example_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): its functions are static, and its main is not wanted */
#include "../../examples/nonsmooth.c"
#undef main

/* A point of the triangle from two numbers of 0..1. */
static point inside(double a, double b) {
    double y = 3 * sqrt(a);
    return (point){(2 * b - 1) * y / 3, y};
}

/* On (13) the value never comes near 0 unless it starts there: x_2 cannot fall, as both corners lie above, and so does
 * every combination of them with the start. */
static void fails_on_13(void **unused) {
    (void)unused;
    for (int i = 1; i <= 20; i++) {
        for (int j = 0; j <= 20; j++) {
            point start = inside(i / 20.0, j / 20.0);
            for (int rule = OPEN_LOOP; rule <= FULLY_CORRECTIVE && start.x != 0; rule++) {
                int met_origin;
                point end = run(5, start, (step_rule)rule, 2000, &met_origin, NULL);
                assert_false(met_origin);
                assert_true(end.y >= start.y - 1e-12);
                assert_true(value_at(5, end) >= start.y - 1e-12);
                assert_true(rule != OPEN_LOOP || value_at(5, end) > 2.9);
            }
        }
    }
}

static void works_on_14(void **unused) {
    (void)unused;
    for (int i = 1; i <= 20; i++) {
        for (int j = 0; j <= 20; j++) {
            for (int rule = OPEN_LOOP; rule <= FULLY_CORRECTIVE; rule++) {
                int met_origin;
                point end = run(0.5, inside(i / 20.0, j / 20.0), (step_rule)rule, 2000, &met_origin, NULL);
                assert_true(met_origin);
                assert_true(value_at(0.5, end) <= 1e-12);
            }
        }
    }
}

/* Subgradients reach both minima; all steps stay in the triangle. */
static void subgradients_work_on_both(void **unused) {
    (void)unused;
    static point path[2000];
    for (int i = 1; i <= 20; i++) {
        for (int j = 0; j <= 20; j++) {
            for (int problem = 0; problem < 2; problem++) {
                int met_origin;
                point end = run(problem ? 0.5 : 5, inside(i / 20.0, j / 20.0), SUBGRADIENT, 2000, &met_origin, path);
                assert_true(value_at(problem ? 0.5 : 5, end) <= 0.05);
                for (int t = 0; t < 2000; t++) {
                    assert_true(path[t].y <= 3 + 1e-12 && 3 * fabs(path[t].x) <= path[t].y + 1e-12);
                }
            }
        }
    }
}

/* The correction is the least of all points of the triangle of the start and the upper corners. */
static void the_correction_is_exact(void **unused) {
    (void)unused;
    for (int i = 1; i <= 20; i++) {
        for (int j = 0; j <= 20; j++) {
            const point atoms[3] = {inside(i / 20.0, j / 20.0), {-1, 3}, {1, 3}};
            double best = value_at(5, correct(5, atoms, 3));
            for (int a = 0; a <= 40; a++) {
                for (int b = 0; a + b <= 40; b++) {
                    double u = a / 40.0, v = b / 40.0, rest = 1 - u - v;
                    point at = {u * atoms[0].x + v * atoms[1].x + rest * atoms[2].x,
                                u * atoms[0].y + v * atoms[1].y + rest * atoms[2].y};
                    assert_true(best <= value_at(5, at) + 1e-12);
                }
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
        cmocka_unit_test(subgradients_work_on_both),
        cmocka_unit_test(the_correction_is_exact),
        cmocka_unit_test(oracle_and_search_are_exact),
    };
    (void)example_main;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
