/* The simplex: projections and quadratic programs against their optimality conditions and against brute force. */
#include "failing.h"

#include "sets/simplex.h"

#include <math.h>

enum { MOST = 12 };

static double sum_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return sum;
}

/* The nearest point p satisfies (x - p)'(v - p) <= 0 for every vertex v, and only it does. */
static void projects_to_the_nearest_point(void **unused) {
    (void)unused;
    clv_rng rng = clv_rng_stream(1, 0);
    for (int trial = 0; trial < 2000; trial++) {
        double x[MOST], p[3 * MOST];
        int64_t n = 1 + trial % MOST;
        for (int64_t i = 0; i < n; i++) {
            x[i] = (trial % 5 == 0 ? 100 : 1) * clv_rng_normal(&rng) + (trial % 11 == 0 ? 1e4 : 0);
            x[i] = trial % 7 == 0 ? round(x[i]) : x[i]; /* ties */
            p[3 * i] = x[i];
        }
        clv_simplex_project(p, n, 3);
        double along = 0, total = 0;
        for (int64_t i = 0; i < n; i++) {
            assert_true(p[3 * i] >= 0);
            total += p[3 * i];
            along += (x[i] - p[3 * i]) * p[3 * i];
        }
        assert_true(fabs(total - 1) < 1e-12);
        for (int64_t v = 0; v < n; v++) {
            assert_true(x[v] - p[3 * v] - along <= 1e-9);
        }
    }
}

static void what_is_on_the_simplex_stays(void **unused) {
    (void)unused;
    double x[] = {0.25, 0, 0.5, 0.25}, one[] = {-3};
    clv_simplex_project(x, 4, 1);
    assert_true(x[0] == 0.25 && x[1] == 0 && x[2] == 0.5 && x[3] == 0.25);
    clv_simplex_project(one, 1, 1);
    assert_true(one[0] == 1);
    double huge[] = {1e300, -1e300, 1e300}, lost[] = {0, NAN, 1};
    clv_simplex_project(huge, 3, 1);
    assert_true(huge[0] == 0.5 && huge[1] == 0 && huge[2] == 0.5);
    clv_simplex_project(lost, 3, 1); /* anything, but it ends */
}

static double value_of(const double *m, const double *q, int64_t n, const double *x) {
    double value = 0;
    for (int64_t i = 0; i < n; i++) {
        value -= q[i] * x[i];
        for (int64_t j = 0; j < n; j++) {
            value += m[i * n + j] * x[i] * x[j] / 2;
        }
    }
    return value;
}

/* M = G'G of a given rank, q = G'b. */
static void random_program(clv_rng *rng, int64_t n, int64_t rank, double *m, double *q) {
    double g[MOST * MOST], b[MOST];
    for (int64_t e = 0; e < rank * n; e++) {
        g[e] = clv_rng_normal(rng);
    }
    for (int64_t r = 0; r < rank; r++) {
        b[r] = 0.7 * clv_rng_normal(rng);
    }
    for (int64_t i = 0; i < n; i++) {
        q[i] = 0;
        for (int64_t r = 0; r < rank; r++) {
            q[i] += g[r * n + i] * b[r];
        }
        for (int64_t j = 0; j < n; j++) {
            m[i * n + j] = 0;
            for (int64_t r = 0; r < rank; r++) {
                m[i * n + j] += g[r * n + i] * g[r * n + j];
            }
        }
    }
}

/* Convex, so a gap of 0 is the optimum; nothing that projected gradients find is lower. */
static void programs_are_solved_exactly(void **unused) {
    (void)unused;
    clv_rng rng = clv_rng_stream(2, 0);
    for (int trial = 0; trial < 500; trial++) {
        double m[MOST * MOST], q[MOST], x[MOST], work[MOST * MOST + 3 * MOST], y[MOST];
        int64_t n = 1 + trial % MOST, support[MOST];
        random_program(&rng, n, 1 + trial % 7, m, q); /* singular ones too */
        assert_true(clv_simplex_qp_work(n) <= MOST * MOST + 3 * MOST);
        double gap = clv_simplex_qp(m, q, n, x, work, support);
        assert_true(fabs(sum_of(x, n) - 1) < 1e-12);
        double along = 0, least = INFINITY;
        for (int64_t i = 0; i < n; i++) {
            double slope = -q[i];
            assert_true(x[i] >= 0);
            for (int64_t j = 0; j < n; j++) {
                slope += m[i * n + j] * x[j];
            }
            along += slope * x[i];
            least = fmin(least, slope);
        }
        assert_true(fabs(along - least - gap) < 1e-10);
        assert_true(gap < 1e-10);
        for (int64_t i = 0; i < n; i++) {
            y[i] = clv_rng_uniform(&rng);
        }
        clv_simplex_project(y, n, 1);
        assert_true(value_of(m, q, n, x) <= value_of(m, q, n, y) + 1e-10);
    }
}

static void degenerate_programs_end(void **unused) {
    (void)unused;
    double zero[16] = {0}, q[4], x[4], work[16 + 12], same[16];
    int64_t support[4];
    assert_true(clv_simplex_qp(zero, zero, 4, x, work, support) == 0); /* all are alike */
    assert_true(sum_of(x, 4) == 1);
    for (int e = 0; e < 16; e++) {
        same[e] = 1;
        q[e % 4] = 3;
    }
    assert_true(clv_simplex_qp(same, q, 4, x, work, support) <= 1e-14);
    assert_true(sum_of(x, 4) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projects_to_the_nearest_point),
        cmocka_unit_test(what_is_on_the_simplex_stays),
        cmocka_unit_test(programs_are_solved_exactly),
        cmocka_unit_test(degenerate_programs_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
