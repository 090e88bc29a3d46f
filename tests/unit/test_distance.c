/* Distances of panels of points against their definition; the kernels under them have tests of their own. */
#include "linalg/distance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void draw(double *x, int64_t n, double low, double high, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    for (int64_t i = 0; i < n; i++) {
        x[i] = low + (high - low) * clv_rng_uniform(&rng);
    }
}

static void assert_ulps(double got, double expected, double ulps) {
    double unit = nextafter(fabs(expected), HUGE_VAL) - fabs(expected);
    if (!(fabs(got - expected) <= ulps * unit)) {
        fail_msg("%.17g should be %.17g", got, expected);
    }
}

static double squared_distance(const double *points, int64_t p, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t f = 0; f < p; f++) {
        double d = points[i * p + f] - points[j * p + f];
        sum += d * d;
    }
    return sum;
}

static void check_distances(clv_context *ctx, int64_t n, int64_t p) {
    double *points = malloc((size_t)(n * p) * sizeof *points);
    _Alignas(64) double tile[CLV_TILE * CLV_TILE], line[CLV_TILE];
    clv_panels panels;
    draw(points, n * p, 1000, 1001, (uint64_t)(n + p)); /* far from the origin: no digit may be lost */
    memcpy(points + (n - 1) * p, points, (size_t)p * sizeof *points);
    clv_matrix matrix = {.rows = n, .cols = p, .scalar = CLV_F64, .values = points};
    assert_int_equal(clv_panels_new(ctx, &matrix, 2, &panels), CLV_OK);
    for (int64_t bi = 0; bi < panels.count; bi++) {
        for (int64_t bj = 0; bj < panels.count; bj++) {
            clv_distance_tile(&panels, bi, bj, tile);
            for (int64_t r = 0; r < clv_panel_size(&panels, bi); r++) {
                int64_t i = bi * CLV_TILE + r;
                clv_distance_line(&panels, i, bj, line);
                for (int64_t c = 0; c < clv_panel_size(&panels, bj); c++) {
                    double expected = squared_distance(points, p, i, bj * CLV_TILE + c);
                    assert_ulps(tile[r * CLV_TILE + c], expected, 64);
                    assert_ulps(line[c], expected, 64);
                    assert_ulps(clv_distance(&panels, i, bj * CLV_TILE + c), expected, 64);
                }
            }
        }
    }
    assert_true(clv_distance(&panels, 0, n - 1) == 0);
    clv_panels_free(&panels);
    free(points);
}

static void test_distances(void **state) {
    clv_context *ctx;
    (void)state;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    check_distances(ctx, 2, 1);
    check_distances(ctx, 63, 3);
    check_distances(ctx, 64, 64);
    check_distances(ctx, 65, 65);
    check_distances(ctx, 130, 200);
    clv_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_distances)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
