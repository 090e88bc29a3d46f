/* Elementwise kernels against the C library and plain loops; distances against their definition. */
#include "linalg/distance.h"
#include "linalg/kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 1003 }; /* no multiple of any vector length */

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

static void test_exp(void **state) {
    double x[N], y[N];
    (void)state;
    for (int scale = -20; scale <= 9; scale++) {
        draw(x, N, -ldexp(1, scale), 0, (uint64_t)(scale + 100));
        memcpy(y, x, sizeof x);
        clv_exp_nonpositive(y, N);
        for (int i = 0; i < N; i++) {
            assert_ulps(y[i], exp(x[i]), 2);
        }
    }
    double edges[] = {0, -0.0, -707.99, -708.5, -745, -1e6, -HUGE_VAL};
    clv_exp_nonpositive(edges, 7);
    assert_true(edges[0] == 1 && edges[1] == 1);
    assert_ulps(edges[2], exp(-707.99), 2);
    for (int i = 3; i < 7; i++) {
        assert_true(edges[i] == 0);
    }
}

static void test_transforms(void **state) {
    double d2[N], y[N];
    (void)state;
    draw(d2, N, 0, 9, 1);
    d2[0] = 0;
    memcpy(y, d2, sizeof y);
    clv_gaussian(y, N, 0.7);
    for (int i = 0; i < N; i++) {
        assert_ulps(y[i], exp(-0.7 * d2[i]), 10);
    }
    memcpy(y, d2, sizeof y);
    clv_exponential(y, N, 0.7);
    for (int i = 0; i < N; i++) {
        assert_ulps(y[i], exp(-0.7 * sqrt(d2[i])), 6);
    }
    memcpy(y, d2, sizeof y);
    clv_complement(y, N, 2);
    for (int i = 0; i < N; i++) {
        assert_true(y[i] == fmax(2 - sqrt(d2[i]), 0));
    }
    memcpy(y, d2, sizeof y);
    clv_square_root(y, N);
    for (int i = 0; i < N; i++) {
        assert_true(y[i] == sqrt(d2[i]));
    }
}

static void test_extremes(void **state) {
    double x[N];
    (void)state;
    for (int n = 1; n < 70; n++) {
        draw(x, n, -5, 5, (uint64_t)n);
        double most = x[0], least = x[0];
        for (int i = 0; i < n; i++) {
            most = fmax(most, x[i]);
            least = fmin(least, x[i]);
        }
        assert_true(clv_largest(x, n) == most && clv_smallest(x, n) == least);
    }
}

static void test_sums(void **state) {
    double a[4][N], y[N], z[N];
    float f[4][N];
    (void)state;
    draw(y, N, -1, 1, 9);
    for (int r = 0; r < 4; r++) {
        draw(a[r], N, -1, 1, (uint64_t)r);
        clv_narrow(f[r], a[r], N);
        clv_widen(a[r], f[r], N);
    }
    for (int i = 0; i < N; i++) {
        assert_true(a[0][i] == (double)f[0][i]);
        z[i] = y[i] + ((a[0][i] + a[1][i]) + (a[2][i] + a[3][i]));
    }
    double y32[N];
    memcpy(y32, y, sizeof y);
    clv_accumulate_four(y, a[0], a[1], a[2], a[3], N);
    assert_memory_equal(y, z, sizeof y);
    clv_accumulate_four_f32(y32, f[0], f[1], f[2], f[3], N);
    assert_memory_equal(y32, z, sizeof y);
    clv_accumulate(y, a[0], N);
    clv_accumulate_f32(y32, f[0], N);
    assert_memory_equal(y, y32, sizeof y);
    clv_deduct(y, a[1], N);
    clv_deduct_f32(y32, f[1], N);
    assert_memory_equal(y, y32, sizeof y);
    for (int i = 0; i < N; i++) {
        assert_true(y[i] == z[i] + a[0][i] - a[1][i]);
    }
}

/* Four weighted rows at once are four calls for one, bit for bit, wherever the call is split; doubles and floats. */
static void test_weighted_sums(void **state) {
    double a[4][N], y[N], four[N], four_f32[N], one[N], one_f32[N], w[4] = {0.3, -1.7, 1e-3, 5};
    float f[4][N];
    (void)state;
    for (int r = 0; r < 4; r++) {
        draw(a[r], N, -1, 1, (uint64_t)r);
        clv_narrow(f[r], a[r], N);
        clv_widen(a[r], f[r], N);
    }
    draw(y, N, -1, 1, 9);
    memcpy(four, y, sizeof y);
    memcpy(four_f32, y, sizeof y);
    memcpy(one, y, sizeof y);
    memcpy(one_f32, y, sizeof y);
    clv_add_weighted_four(four, w, (const double *[]){a[0], a[1], a[2], a[3]}, N);
    clv_add_weighted_four_f32(four_f32, w, (const float *[]){f[0], f[1], f[2], f[3]}, N);
    for (int r = 0; r < 4; r++) {
        clv_add_weighted(one, w[r], a[r], 13);
        clv_add_weighted(one + 13, w[r], a[r] + 13, N - 13);
        clv_add_weighted_f32(one_f32, w[r], f[r], N);
    }
    for (int i = 0; i < N; i++) {
        double sum = y[i] + w[0] * a[0][i] + w[1] * a[1][i] + w[2] * a[2][i] + w[3] * a[3][i];
        assert_true(fabs(four[i] - sum) <= 1e-14);
    }
    assert_memory_equal(one, four, sizeof y);
    assert_memory_equal(one_f32, four, sizeof y);
    assert_memory_equal(four_f32, four, sizeof y);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp),  cmocka_unit_test(test_transforms),    cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_sums), cmocka_unit_test(test_weighted_sums), cmocka_unit_test(test_distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
