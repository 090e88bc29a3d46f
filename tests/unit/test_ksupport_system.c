/* The systems of semismooth Newton: what is solved satisfies H x = b, with H applied by its definition. The proximity
 * operator is linear in pieces, so that a difference of two of its values is its derivative. And X'DX, and the hull of
 * 0 and the unit vectors. */
#include "methods/ksupport/ksupport.h"

#include "failing.h"

#include <math.h>

enum { MOST = 60, LARGEST = MOST * MOST };

typedef struct problem {
    int64_t samples, features, k;
    double lambda, scale;
    double a[LARGEST], u[MOST], diagonal[MOST], b[MOST]; /* a: one row per feature */
} problem;

static void draw(problem *p, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 1);
    for (int64_t i = 0; i < LARGEST; i++) {
        p->a[i] = clv_rng_uniform(&rng) < 0.3 ? 0 : clv_rng_normal(&rng);
    }
    for (int64_t i = 0; i < MOST; i++) {
        p->u[i] = clv_rng_normal(&rng);
        p->diagonal[i] = 4 + 10 * clv_rng_uniform(&rng);
        p->b[i] = clv_rng_normal(&rng);
    }
}

/* The largest entry of H x - b. */
static double residual(const problem *p, const clv_ksupport_set *set, const double *x) {
    double moved[2][MOST], most = 0, small = 1e-5;
    for (int64_t j = 0; j < p->features; j++) {
        double product = 0;
        for (int64_t m = 0; m < p->samples; m++) {
            product += p->a[j * p->samples + m] * x[m];
        }
        moved[0][j] = p->u[j] - small * product;
        moved[1][j] = p->u[j] + small * product;
    }
    for (int side = 0; side < 2; side++) {
        (void)clv_ksupport_set_prox(set, CLV_KSUPPORT_SELECT, moved[side], p->features, p->lambda, moved[side]);
    }
    for (int64_t m = 0; m < p->samples; m++) {
        double sum = p->diagonal[m] * x[m] - p->b[m];
        for (int64_t j = 0; j < p->features; j++) {
            sum += p->scale * p->a[j * p->samples + m] * (moved[1][j] - moved[0][j]) / (2 * small);
        }
        most = fmax(most, fabs(sum));
    }
    return most;
}

/* By Cholesky and by conjugate gradients. */
static void check_solutions(clv_context *ctx, const problem *p, const clv_design *x) {
    clv_kept room = {.ctx = ctx};
    clv_ks_system system;
    clv_ksupport_set set;
    double out[MOST], w[MOST];
    assert_int_equal(clv_ksupport_set_new(ctx, p->features, p->k, 1, false, &set), CLV_OK);
    clv_ksupport_root root = clv_ksupport_set_prox(&set, CLV_KSUPPORT_SELECT, p->u, p->features, p->lambda, w);
    assert_int_equal(clv_ks_system_new(&room, x, 2, &system), CLV_OK);
    clv_ks_system_set(&system, p->u, &root, p->k);
    for (int by_gradients = 0; by_gradients < 2; by_gradients++) {
        system.matrix = by_gradients ? NULL : system.matrix;
        assert_true(clv_ks_system_prepare(&system, p->diagonal, p->scale));
        clv_ks_system_solve(&system, p->b, out);
        assert_true(residual(p, &set, out) < 1e-7);
    }
    clv_ksupport_set_free(&set);
    clv_free_kept(&room);
}

/* Fewer entries in use than samples, and more; k up to all features. */
static void test_solutions(void **state) {
    clv_context *ctx = *state;
    static const int64_t sizes[][3] = {{60, 20, 3}, {20, 60, 10}, {20, 60, 60}, {1, 60, 7}, {60, 1, 1}, {40, 60, 5}};
    static problem p;
    for (uint64_t trial = 0; trial < 24; trial++) {
        const int64_t *size = sizes[trial % CLV_COUNT(sizes)];
        p = (problem){.samples = size[0], .features = size[1], .k = size[2]};
        p.lambda = trial % 4 == 0 ? 10 : 0.3;
        p.scale = trial % 5 == 0 ? 100 : 0.5;
        draw(&p, trial);
        clv_matrix dense = {p.features, p.samples, CLV_F64, p.a, NULL, NULL};
        clv_design x;
        assert_int_equal(clv_design_new(ctx, &dense, true, 1, &x), CLV_OK);
        check_solutions(ctx, &p, &x);
        clv_design_free(&x);
    }
}

/* X'DX of every layout against its definition; samples in several groups, and fewer than these. */
static void test_gram(void **state) {
    clv_context *ctx = *state;
    static problem p;
    static const int64_t sizes[][2] = {{60, 7}, {60, 60}, {3, 5}, {1, 1}};
    for (size_t trial = 0; trial < 2 * CLV_COUNT(sizes); trial++) {
        int64_t n = sizes[trial / 2][0], count = sizes[trial / 2][1];
        bool transposed = trial % 2;
        clv_kept room = {.ctx = ctx};
        clv_ks_gram gram;
        clv_design x;
        double out[LARGEST];
        draw(&p, trial);
        clv_matrix dense = {transposed ? count : n, transposed ? n : count, CLV_F64, p.a, NULL, NULL};
        assert_int_equal(clv_design_new(ctx, &dense, transposed, 2, &x), CLV_OK);
        assert_int_equal(clv_ks_gram_new(&room, &x, &gram), CLV_OK);
        clv_ks_gram_form(&gram, p.diagonal, NULL, out);
        for (int64_t j = 0; j < count; j++) {
            for (int64_t i = 0; i <= j; i++) {
                double sum = 0;
                for (int64_t m = 0; m < n; m++) {
                    sum += p.diagonal[m] *
                           (transposed ? p.a[i * n + m] * p.a[j * n + m] : p.a[m * count + i] * p.a[m * count + j]);
                }
                assert_true(fabs(out[j * count + i] - sum) <= 1e-11);
            }
        }
        clv_free_kept(&room);
        clv_design_free(&x);
    }
}

/* What is projected from outside is what it was less one number, or 0 where that is more; its sum is 1 however far the
 * way was. */
static void test_hull(void **state) {
    enum { ENTRIES = 7 };
    (void)state;
    for (uint64_t trial = 0; trial < 300; trial++) {
        clv_rng rng = clv_rng_stream(3, trial);
        double given[ENTRIES], x[ENTRIES], work[ENTRIES], scale = pow(10, (double)(trial % 15)), sum = 0, shift = 0;
        for (int64_t i = 0; i < ENTRIES; i++) {
            given[i] = x[i] = scale + 2 * clv_rng_uniform(&rng) - 1 - (i % 3 == 0 ? scale : 0);
        }
        clv_hull_project(x, ENTRIES, work);
        for (int64_t i = 0; i < ENTRIES; i++) {
            assert_true(x[i] >= 0);
            sum += x[i];
            shift = x[i] > 0 ? given[i] - x[i] : shift;
        }
        assert_true(fabs(sum - 1) <= 1e-14);
        for (int64_t i = 0; i < ENTRIES; i++) {
            assert_true(fabs(x[i] - fmax(given[i] - shift, 0)) <= 1e-15 * scale + 1e-14);
        }
    }
}

static int make(void **state) {
    return clv_context_new(NULL, (clv_context **)state) == CLV_OK ? 0 : -1;
}

static int finish(void **state) {
    size_t now, peak;
    clv_context_memory(*state, &now, &peak);
    clv_context_free(*state);
    return now == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_solutions, make, finish),
                                       cmocka_unit_test_setup_teardown(test_gram, make, finish),
                                       cmocka_unit_test(test_hull)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
