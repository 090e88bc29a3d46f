/* Block Lanczos on operators with known spectra: multiplicities, guesses, known vectors, support, failures. */
#include "linalg/krylov.h"

#include "failing.h"

#include <math.h>

enum { N = 500 };

/* H D H with a Householder reflection H: the spectrum of D, vectors that are not unit vectors. */
typedef struct turned {
    double diagonal[N], normal[N];
    double tol;
    int64_t products, fail_after; /* 0: never */
    double spoil;                 /* added to a product */
    bool masked;                  /* the diagonal matrix alone, with zero rows where it is 0 */
} turned;

static void reflect(const turned *t, double *x) {
    double along = 2 * clv_dot(t->normal, x, N, 1);
    for (int64_t i = 0; i < N; i++) {
        x[i] -= along * t->normal[i];
    }
}

static clv_status apply_turned(void *user, const double *x, int64_t count, double *y) {
    turned *t = user;
    if (++t->products == t->fail_after) {
        return CLV_EIO;
    }
    memcpy(y, x, (size_t)(count * N) * sizeof *y);
    for (int64_t c = 0; c < count; c++) {
        double *row = y + c * N;
        if (!t->masked) {
            reflect(t, row);
        }
        for (int64_t i = 0; i < N; i++) {
            row[i] = row[i] * t->diagonal[i] + t->spoil;
        }
        if (!t->masked) {
            reflect(t, row);
        }
    }
    return CLV_OK;
}

static double error_of(void *user, double value, double residual) {
    (void)value;
    return residual / ((const turned *)user)->tol;
}

/* Eigenvalues from 1 downwards, each `copies` times, crowded at the lower end. */
static void set_turned(turned *t, int64_t copies) {
    clv_rng rng = clv_rng_stream(5, 1);
    *t = (turned){.tol = 1e-9};
    for (int64_t i = 0; i < N; i++) {
        int64_t first = i - i % copies;
        t->diagonal[i] = 1 - 1.8 * sqrt((double)first / N);
        t->normal[i] = clv_rng_normal(&rng);
    }
    double length = sqrt(clv_dot(t->normal, t->normal, N, 1));
    for (int64_t i = 0; i < N; i++) {
        t->normal[i] /= length;
    }
}

static clv_krylov plan_of(clv_context *ctx, turned *t, int64_t count, int64_t block) {
    clv_krylov plan = {.ctx = ctx, .n = N, .count = count, .block = block, .cycles = 200};
    plan.basis = count + 20 + 4 * block;
    plan.apply = apply_turned;
    plan.excess = error_of;
    plan.user = t;
    plan.seed = 3;
    plan.threads = 1;
    plan.check = true;
    return plan;
}

static void check_pairs(turned *t, int64_t count, const double *values, const double *vectors, double slack) {
    double image[N];
    t->fail_after = 0;
    for (int64_t c = 0; c < count; c++) {
        assert_true(fabs(values[c] - t->diagonal[c]) <= slack);
        assert_int_equal(apply_turned(t, vectors + c * N, 1, image), CLV_OK);
        for (int64_t i = 0; i < N; i++) {
            assert_true(fabs(image[i] - values[c] * vectors[c * N + i]) <= 10 * slack);
        }
        for (int64_t d = 0; d <= c; d++) {
            assert_true(fabs(clv_dot(vectors + c * N, vectors + d * N, N, 1) - (c == d)) <= 1e-10);
        }
    }
}

static void test_known_spectra(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    turned t;
    double values[9], vectors[9 * N];
    for (int64_t copies = 1; copies <= 4; copies += 3) {
        for (int64_t block = 1; block <= 11; block += 5) {
            for (int eager = 0; eager < 2; eager++) {
                bool converged;
                double lowest;
                set_turned(&t, copies);
                clv_krylov plan = plan_of(ctx, &t, 9, block);
                plan.eager = eager;
                assert_int_equal(clv_krylov_solve(&plan, values, vectors, &lowest, &converged), CLV_OK);
                assert_true(converged);
                assert_true(lowest <= t.diagonal[N - 1] + 1e-3);
                check_pairs(&t, 9, values, vectors, 1e-8);
            }
        }
    }
    end_context(ctx);
}

static void test_known_vectors_and_guesses(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    turned t;
    bool converged;
    double values[6], vectors[6 * N];
    set_turned(&t, 2);
    clv_krylov plan = plan_of(ctx, &t, 6, 2);
    plan.eager = true;
    assert_int_equal(clv_krylov_solve(&plan, values, vectors, NULL, &converged), CLV_OK);
    int64_t cold = t.products;
    t.products = 0;
    plan.exact = 2;
    plan.top = 1;
    plan.guessed = 4;
    assert_int_equal(clv_krylov_solve(&plan, values, vectors, NULL, &converged), CLV_OK);
    assert_true(converged);
    assert_true(t.products < cold);
    check_pairs(&t, 6, values, vectors, 1e-8);
    end_context(ctx);
}

/* Vectors vanish outside the support, where the operator has eigenvalue 0 that others, below, must not give way to. */
static void test_support(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    turned t;
    bool converged;
    double values[4], vectors[4 * N], support[N];
    set_turned(&t, 1);
    t.masked = true;
    for (int64_t i = 0; i < N; i++) {
        support[i] = i % 3 != 0;
        t.diagonal[i] = support[i] != 0 ? -0.1 - (double)(i * i) * 1e-5 : 0;
    }
    clv_krylov plan = plan_of(ctx, &t, 4, 2);
    plan.support = support;
    assert_int_equal(clv_krylov_solve(&plan, values, vectors, NULL, &converged), CLV_OK);
    assert_true(converged);
    for (int64_t c = 0; c < 4; c++) {
        int64_t object = c / 2 * 3 + c % 2 + 1; /* 1, 2, 4, 5 */
        assert_true(fabs(values[c] - t.diagonal[object]) <= 1e-8);
        assert_true(fabs(vectors[c * N]) <= 0);
    }
    end_context(ctx);
}

static void test_out_of_time(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    turned t;
    bool converged;
    double values[9], vectors[9 * N];
    set_turned(&t, 1);
    clv_krylov plan = plan_of(ctx, &t, 9, 3);
    plan.cycles = 1;
    plan.basis = 18;
    assert_int_equal(clv_krylov_solve(&plan, values, vectors, NULL, &converged), CLV_OK);
    assert_false(converged);
    for (int64_t c = 0; c < 9; c++) { /* Ritz values are never too high */
        assert_true(values[c] <= t.diagonal[c] + 1e-12);
    }
    end_context(ctx);
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

static void test_failures(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    turned t;
    bool converged;
    double values[3], vectors[3 * N];
    set_turned(&t, 1);
    clv_krylov plan = plan_of(ctx, &t, 3, 2);
    t.fail_after = 5;
    assert_int_equal(clv_krylov_solve(&plan, values, vectors, NULL, &converged), CLV_EIO);
    set_turned(&t, 1);
    t.spoil = NAN;
    assert_int_equal(clv_krylov_solve(&plan, values, vectors, NULL, &converged), CLV_ENUMERIC);
    assert_non_null(strstr(clv_message(ctx), "not finite"));
    set_turned(&t, 1);
    clv_context_set_interrupt(ctx, stop_at_once, NULL);
    assert_int_equal(clv_krylov_solve(&plan, values, vectors, NULL, &converged), CLV_EINTERRUPTED);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_spectra), cmocka_unit_test(test_known_vectors_and_guesses),
        cmocka_unit_test(test_support),       cmocka_unit_test(test_out_of_time),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
