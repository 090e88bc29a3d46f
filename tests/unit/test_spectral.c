/* Eigenpairs of the normalized affinity against LAPACK and known spectra, the bound against brute force, and labels
 * from eigenvectors on graphs whose clusters are known. */
#include "linalg/linalg.h"
#include "methods/ncut/ncut.h"

#include "../certify/brute_force.h"
#include "entry_of.h"
#include "failing.h"

#include <math.h>

/* --- graphs --- */

/* A CSR copy of a dense matrix, without its zeros. */
typedef struct graph {
    clv_matrix matrix;
    int64_t *start;
    int32_t *index;
    double *values;
} graph;

static void set_graph(graph *g, const double *w, int64_t n) {
    g->start = malloc((size_t)(n + 1) * sizeof *g->start);
    g->index = malloc((size_t)(n * n) * sizeof *g->index);
    g->values = malloc((size_t)(n * n) * sizeof *g->values);
    int64_t e = 0;
    for (int64_t i = 0; i < n; i++) {
        g->start[i] = e;
        for (int64_t j = 0; j < n; j++) {
            if (w[i * n + j] > 0) {
                g->index[e] = (int32_t)j;
                g->values[e++] = w[i * n + j];
            }
        }
    }
    g->start[n] = e;
    g->matrix = (clv_matrix){.rows = n, .cols = n, .values = g->values, .start = g->start, .index = g->index};
}

static void free_graph(graph *g) {
    free(g->start);
    free(g->index);
    free(g->values);
}

static clv_affinity *affinity_from(clv_context *ctx, const clv_matrix *matrix, int kind, int home) {
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    how.kind = kind;
    how.home = home;
    how.neighbors = 8;
    how.threads = 1;
    assert_int_equal(clv_affinity_build(ctx, matrix, &how, &a), CLV_OK);
    return a;
}

/* `clusters` normal clouds of n points in 3 dimensions, `apart` from each other; labels are i % clusters. */
static double *new_points(int64_t n, int64_t clusters, double apart) {
    clv_rng rng = clv_rng_stream(11, 2);
    double *x = malloc((size_t)(3 * n) * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t d = 0; d < 3; d++) {
            int64_t steps = i % clusters % 3 == d ? i % clusters / 3 + 1 : 0;
            x[3 * i + d] = clv_rng_normal(&rng) + apart * (double)steps;
        }
    }
    return x;
}

/* Dense blocks of weights in 0.5..1 along i % k, and weights below `between` elsewhere, about half of them 0. */
static double *new_blocks(int64_t n, int64_t k, double between) {
    clv_rng rng = clv_rng_stream(7, (uint64_t)k);
    double *w = malloc((size_t)(n * n) * sizeof *w);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double draw = clv_rng_uniform(&rng);
            double other = draw < 0.5 ? 0 : between * draw;
            w[i * n + j] = w[j * n + i] = i % k == j % k ? 0.5 + draw / 2 : other;
        }
    }
    return w;
}

/* --- problems --- */

static clv_ncut_problem problem_of(clv_context *ctx, const clv_affinity *a, int64_t k) {
    int64_t n = clv_affinity_size(a);
    clv_ncut_problem p = {.ctx = ctx, .affinity = a, .n = n, .k = k};
    p.options.control.seed = 42;
    p.degree = malloc((size_t)n * sizeof *p.degree);
    p.diagonal = malloc((size_t)n * sizeof *p.diagonal);
    p.component = malloc((size_t)n * sizeof *p.component);
    assert_int_equal(clv_affinity_degrees(a, p.degree, 1), CLV_OK);
    assert_int_equal(clv_affinity_diagonal(a, p.diagonal), CLV_OK);
    assert_int_equal(clv_affinity_components(a, p.component, &p.components), CLV_OK);
    for (int64_t i = 0; i < n; i++) {
        p.counted += p.degree[i] > 0;
    }
    return p;
}

static void end_problem(clv_ncut_problem *p) {
    clv_spectrum_free(&p->spectrum);
    free(p->degree);
    free(p->diagonal);
    free(p->component);
}

/* D^-1/2 W D^-1/2 from entries. */
static double *new_normalized(const clv_ncut_problem *p) {
    double *m = malloc((size_t)(p->n * p->n) * sizeof *m);
    for (int64_t e = 0; e < p->n * p->n; e++) {
        double product = p->degree[e / p->n] * p->degree[e % p->n];
        m[e] = product > 0 ? entry_of(p->affinity, e / p->n, e % p->n) / sqrt(product) : 0;
    }
    return m;
}

/* Residuals, lengths and angles of the pairs, from the matrix. */
static void check_pairs(const clv_spectrum *s, const double *m, double tol) {
    int64_t n = s->n;
    for (int64_t c = 0; c < s->count; c++) {
        const double *u = s->vectors + c * n;
        double squares = 0;
        for (int64_t i = 0; i < n; i++) {
            double left = clv_dot(m + i * n, u, n, 1) - s->values[c] * u[i];
            squares += left * left;
        }
        assert_true(sqrt(squares) <= s->residual + 1e-13);
        for (int64_t d = 0; d <= c; d++) {
            assert_true(fabs(clv_dot(u, s->vectors + d * n, n, 1) - (c == d)) <= 1e-9);
        }
    }
    assert_true(s->residual <= tol);
}

static void check_against_lapack(clv_context *ctx, const clv_affinity *a, int64_t count) {
    clv_ncut_problem p = problem_of(ctx, a, count);
    double *m = new_normalized(&p), *copy = malloc((size_t)(p.n * p.n) * sizeof *m);
    double *all = malloc((size_t)p.n * sizeof *all);
    memcpy(copy, m, (size_t)(p.n * p.n) * sizeof *m);
    assert_int_equal(clv_eigen_dense(ctx, copy, p.n, all), CLV_OK);
    for (int known = 0; known < 2; known++) { /* with the components, and without */
        p.components = known ? p.components : 0;
        assert_int_equal(clv_spectrum_new(&p, count, 1e-7, 1, &p.spectrum), CLV_OK);
        assert_int_equal(p.spectrum.count, count);
        assert_true(p.spectrum.converged);
        check_pairs(&p.spectrum, m, 1e-6);
        for (int64_t c = 0; c < count; c++) {
            assert_true(fabs(p.spectrum.values[c] - all[p.n - 1 - c]) <= 1e-9);
        }
        clv_spectrum_free(&p.spectrum);
    }
    free(m);
    free(copy);
    free(all);
    end_problem(&p);
}

static void test_pairs_of_homes(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    for (int64_t n = 60; n <= 420; n += 360) {
        double *x = new_points(n, 4, 3);
        clv_matrix points = {.rows = n, .cols = 3, .values = x};
        const int kinds[] = {CLV_AFFINITY_GAUSSIAN, CLV_AFFINITY_GAUSSIAN, CLV_AFFINITY_EXPONENTIAL, CLV_AFFINITY_KNN};
        const int homes[] = {CLV_HOME_DENSE64, CLV_HOME_COMPUTED, CLV_HOME_DENSE32, CLV_HOME_SPARSE};
        for (int h = 0; h < 4; h++) {
            clv_affinity *a = affinity_from(ctx, &points, kinds[h], homes[h]);
            check_against_lapack(ctx, a, 1);
            check_against_lapack(ctx, a, 7);
            clv_affinity_free(a);
        }
        free(x);
    }
    end_context(ctx);
}

/* --- spectra that are known --- */

/* The side x side torus: every object has its four neighbors, and eigenvalues (cos a + cos b) / 2 come in fours and
 * eights. */
static void test_torus(void **unused) {
    (void)unused;
    enum { SIDE = 40, COUNT = 13 };
    const double turn = 2 * acos(-1.0) / SIDE;
    const double expected[COUNT] = {1,
                                    (1 + cos(turn)) / 2,
                                    (1 + cos(turn)) / 2,
                                    (1 + cos(turn)) / 2,
                                    (1 + cos(turn)) / 2,
                                    cos(turn),
                                    cos(turn),
                                    cos(turn),
                                    cos(turn),
                                    (1 + cos(2 * turn)) / 2,
                                    (1 + cos(2 * turn)) / 2,
                                    (1 + cos(2 * turn)) / 2,
                                    (1 + cos(2 * turn)) / 2};
    clv_context *ctx = new_context();
    int64_t n = SIDE * SIDE;
    graph g = {.start = malloc((size_t)(n + 1) * sizeof(int64_t)), .index = malloc((size_t)(4 * n) * sizeof(int32_t))};
    g.values = malloc((size_t)(4 * n) * sizeof(double));
    for (int32_t i = 0; i < n; i++) {
        int32_t row = i / SIDE * SIDE, column = i % SIDE, *index = g.index + (int64_t)4 * i;
        index[0] = row + (column + 1) % SIDE;
        index[1] = row + (column + SIDE - 1) % SIDE;
        index[2] = (i + SIDE) % (SIDE * SIDE);
        index[3] = (i + SIDE * SIDE - SIDE) % (SIDE * SIDE);
        for (int a = 0; a < 4; a++) {
            for (int b = 0; b < a; b++) {
                if (index[b] > index[a]) {
                    int32_t held = index[a];
                    index[a] = index[b];
                    index[b] = held;
                }
            }
            g.values[(int64_t)4 * i + a] = 1;
        }
        g.start[i] = (int64_t)4 * i;
    }
    g.start[n] = 4 * n;
    g.matrix = (clv_matrix){.rows = n, .cols = n, .values = g.values, .start = g.start, .index = g.index};
    clv_affinity *a = affinity_from(ctx, &g.matrix, CLV_AFFINITY_PRECOMPUTED, CLV_HOME_AUTO);
    clv_ncut_problem p = problem_of(ctx, a, COUNT);
    double *m = new_normalized(&p);
    assert_int_equal(clv_spectrum_new(&p, COUNT, 1e-7, 2, &p.spectrum), CLV_OK);
    check_pairs(&p.spectrum, m, 1e-6);
    for (int64_t c = 0; c < COUNT; c++) {
        assert_true(fabs(p.spectrum.values[c] - expected[c]) <= 1e-9);
    }
    free(m);
    end_problem(&p);
    clv_affinity_free(a);
    free_graph(&g);
    end_context(ctx);
}

/* The ring of n objects, dense: eigenvalues cos(2 pi j / n), crowded at 1, the first once and the others twice. */
static double *new_ring(int64_t n) {
    double *w = calloc((size_t)(n * n), sizeof *w);
    for (int64_t i = 0; i < n; i++) {
        w[i * n + (i + 1) % n] = w[(i + 1) % n * n + i] = 1;
    }
    return w;
}

static void set_ring(graph *g, int64_t n) {
    g->start = malloc((size_t)(n + 1) * sizeof *g->start);
    g->index = malloc((size_t)(2 * n) * sizeof *g->index);
    g->values = malloc((size_t)(2 * n) * sizeof *g->values);
    for (int64_t i = 0; i < n; i++) {
        int64_t before = (i + n - 1) % n, after = (i + 1) % n;
        g->start[i] = 2 * i;
        g->index[2 * i] = (int32_t)(before < after ? before : after);
        g->index[2 * i + 1] = (int32_t)(before < after ? after : before);
        g->values[2 * i] = g->values[2 * i + 1] = 1;
    }
    g->start[n] = 2 * n;
    g->matrix = (clv_matrix){.rows = n, .cols = n, .values = g->values, .start = g->start, .index = g->index};
}

static void check_ring_values(const clv_spectrum *s, int64_t n, double slack) {
    const double turn = 2 * acos(-1.0) / (double)n;
    for (int64_t c = 0; c < s->count; c++) {
        int64_t pair = (c + 1) / 2; /* eigenvalues come in pairs after the first */
        assert_true(fabs(s->values[c] - cos(turn * (double)pair)) <= slack);
    }
}

/* Too hard for wide blocks alone. What the filter finds is accurate to the tolerance, unlike what LAPACK does. */
static void test_dense_ring(void **unused) {
    (void)unused;
    enum { OBJECTS = 1500, COUNT = 30 };
    clv_context *ctx = new_context();
    double *w = new_ring(OBJECTS), exact = 0;
    clv_affinity *a = affinity_of(ctx, w, OBJECTS);
    clv_ncut_problem p = problem_of(ctx, a, COUNT);
    assert_int_equal(clv_spectrum_new(&p, COUNT, 1e-6, 2, &p.spectrum), CLV_OK);
    assert_true(p.spectrum.converged);
    assert_true(p.spectrum.residual > 1e-12 && p.spectrum.residual <= 1e-5);
    check_ring_values(&p.spectrum, OBJECTS, 1e-8);
    for (int64_t c = 0; c < COUNT; c++) {
        int64_t pair = (c + 1) / 2;
        exact += (1 - cos(2 * acos(-1.0) / OBJECTS * (double)pair)) / 2;
    }
    double bound = clv_spectral_bound(&p.spectrum, COUNT);
    assert_true(bound <= exact && bound >= 0.99 * exact);
    end_problem(&p);
    clv_affinity_free(a);
    free(w);
    end_context(ctx);
}

/* A tolerance below rounding is out of reach of Lanczos: LAPACK has the last word up to 4000 objects, and beyond the
 * pairs, good as they are, are said not to have converged. */
static void test_tolerance_out_of_reach(void **unused) {
    (void)unused;
    enum { OBJECTS = 420, MANY = 4100, COUNT = 4 };
    clv_context *ctx = new_context();
    double *w = new_ring(OBJECTS);
    clv_affinity *a = affinity_of(ctx, w, OBJECTS);
    clv_ncut_problem p = problem_of(ctx, a, COUNT);
    assert_int_equal(clv_spectrum_new(&p, COUNT, 1e-18, 1, &p.spectrum), CLV_OK);
    assert_true(p.spectrum.converged);
    assert_true(p.spectrum.residual <= 1e-12);
    check_ring_values(&p.spectrum, OBJECTS, 1e-12);
    end_problem(&p);
    clv_affinity_free(a);
    free(w);
    graph g;
    set_ring(&g, MANY);
    a = affinity_from(ctx, &g.matrix, CLV_AFFINITY_PRECOMPUTED, CLV_HOME_AUTO);
    p = problem_of(ctx, a, COUNT);
    assert_int_equal(clv_spectrum_new(&p, COUNT, 1e-18, 1, &p.spectrum), CLV_OK);
    assert_false(p.spectrum.converged);
    check_ring_values(&p.spectrum, MANY, 1e-9);
    assert_true(p.spectrum.residual > 0 && p.spectrum.residual <= 1e-9);
    assert_true(fabs(clv_spectral_bound(&p.spectrum, COUNT)) <= 0);
    end_problem(&p);
    clv_affinity_free(a);
    free_graph(&g);
    end_context(ctx);
}

/* c blocks without edges between them: c eigenvalues 1, a bound of 0 for k = c and above 0 for k = c + 1. */
static void check_components(clv_context *ctx, const clv_affinity *a, int64_t parts) {
    clv_ncut_problem p = problem_of(ctx, a, parts);
    assert_int_equal(p.components, parts);
    for (int known = 1; known >= 0; known--) {
        p.components = known ? parts : 0;
        for (int64_t count = parts - 1; count <= parts + 2; count++) {
            assert_int_equal(clv_spectrum_new(&p, count, 1e-7, 1, &p.spectrum), CLV_OK);
            for (int64_t c = 0; c < count; c++) {
                assert_true(fabs(p.spectrum.values[c] - 1) <= 1e-9 ? c < parts : c >= parts);
            }
            double *m = new_normalized(&p);
            check_pairs(&p.spectrum, m, 1e-6);
            free(m);
            assert_true(clv_spectral_bound(&p.spectrum, parts) >= 0);
            assert_true(clv_spectral_bound(&p.spectrum, parts) <= 1e-9);
            if (count > parts) {
                assert_true(clv_spectral_bound(&p.spectrum, parts + 1) > 0.01);
            }
            clv_spectrum_free(&p.spectrum);
        }
    }
    end_problem(&p);
}

static void test_components(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    for (int64_t n = 50; n <= 450; n += 400) {
        double *w = new_blocks(n, 5, 0);
        graph g;
        set_graph(&g, w, n);
        clv_matrix dense = {.rows = n, .cols = n, .values = w};
        clv_affinity *a = affinity_from(ctx, &dense, CLV_AFFINITY_PRECOMPUTED, CLV_HOME_AUTO);
        check_components(ctx, a, 5);
        clv_affinity_free(a);
        a = affinity_from(ctx, &g.matrix, CLV_AFFINITY_PRECOMPUTED, CLV_HOME_AUTO);
        check_components(ctx, a, 5);
        clv_affinity_free(a);
        free_graph(&g);
        free(w);
    }
    end_context(ctx);
}

/* The complete graph: 1, then -1 / (m - 1) only. Objects without edges add no eigenvalue 0 to that. */
static void test_objects_left_out(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    for (int64_t m = 20; m <= 400; m += 380) {
        int64_t n = m + 5;
        double *w = malloc((size_t)(n * n) * sizeof *w);
        for (int64_t e = 0; e < n * n; e++) {
            w[e] = e / n % (m / 4) != 3 && e % n % (m / 4) != 3 && e / n != e % n;
        }
        clv_matrix dense = {.rows = n, .cols = n, .values = w};
        clv_affinity *a = affinity_from(ctx, &dense, CLV_AFFINITY_PRECOMPUTED, CLV_HOME_AUTO);
        clv_ncut_problem p = problem_of(ctx, a, 4);
        assert_true(p.counted < n);
        assert_int_equal(clv_spectrum_new(&p, 4, 1e-7, 1, &p.spectrum), CLV_OK);
        for (int64_t c = 0; c < 4; c++) {
            assert_true(fabs(p.spectrum.values[c] - (c == 0 ? 1 : -1 / (double)(p.counted - 1))) <= 1e-9);
            assert_true(fabs(p.spectrum.vectors[c * n + 3]) <= 1e-12);
        }
        clv_spectrum_free(&p.spectrum);
        end_problem(&p);
        clv_affinity_free(a);
        free(w);
    }
    end_context(ctx);
}

/* The same by LAPACK. With w_ij = a_i a_j but for the diagonal, M is of rank 1 less a positive diagonal matrix: all
 * eigenvalues but one are negative. */
static void test_objects_left_out_of_reach(void **unused) {
    (void)unused;
    enum { OBJECTS = 400, LEFT_OUT = 3, COUNT = 4 };
    clv_context *ctx = new_context();
    double *w = malloc(sizeof(double) * OBJECTS * OBJECTS);
    for (int64_t e = 0; e < OBJECTS * OBJECTS; e++) {
        int64_t i = e / OBJECTS, j = e % OBJECTS;
        w[e] = i == j || i == LEFT_OUT || j == LEFT_OUT ? 0 : (1 + sqrt((double)i)) * (1 + sqrt((double)j));
    }
    clv_affinity *a = affinity_of(ctx, w, OBJECTS);
    clv_ncut_problem p = problem_of(ctx, a, COUNT);
    assert_int_equal(clv_spectrum_new(&p, COUNT, 1e-18, 1, &p.spectrum), CLV_OK);
    assert_true(p.spectrum.converged && p.spectrum.residual <= 1e-12);
    for (int64_t c = 0; c < COUNT; c++) {
        assert_true(c == 0 ? p.spectrum.values[c] > 1 - 1e-12 : p.spectrum.values[c] < 0);
        assert_true(fabs(p.spectrum.vectors[c * OBJECTS + LEFT_OUT]) <= 1e-12);
    }
    end_problem(&p);
    clv_affinity_free(a);
    free(w);
    end_context(ctx);
}

static void test_more_than_there_are(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    const double w[9] = {0, 1, 0, 1, 0, 0, 0, 0, 0};
    clv_affinity *a = affinity_of(ctx, w, 3);
    clv_ncut_problem p = problem_of(ctx, a, 2);
    assert_int_equal(clv_spectrum_new(&p, 5, 1e-7, 1, &p.spectrum), CLV_OK);
    assert_int_equal(p.spectrum.count, 2);
    assert_true(fabs(p.spectrum.values[0] - 1) <= 1e-12);
    assert_true(fabs(p.spectrum.values[1] + 1) <= 1e-12);
    end_problem(&p);
    clv_affinity_free(a);
    end_context(ctx);
}

/* --- the bound --- */

static void test_bound_by_brute_force(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(3, 9);
    double w[9 * 9];
    int positive = 0;
    for (int trial = 0; trial < 40; trial++) {
        int64_t n = 5 + trial % 5, k = 2 + trial % 3;
        k = n > 8 && k > 3 ? 3 : k;
        random_similarity(&rng, w, n, trial % 2 == 0);
        clv_affinity *a = affinity_of(ctx, w, n);
        clv_ncut_problem p = problem_of(ctx, a, k);
        if (p.counted == n) {
            assert_int_equal(clv_spectrum_new(&p, k + 1, 1e-7, 1, &p.spectrum), CLV_OK);
            double bound = clv_spectral_bound(&p.spectrum, k), exact = 0;
            for (int64_t c = 0; c < k; c++) {
                exact += (1 - p.spectrum.values[c]) / 2;
            }
            assert_true(bound >= 0 && bound <= exact + 1e-12);
            assert_true(bound >= exact - 1e-6 * (double)k);
            assert_true(bound <= brute_optimum(w, n, k) + 1e-12);
            positive += bound > 0.1;
        }
        end_problem(&p);
        clv_affinity_free(a);
    }
    assert_true(positive > 20);
    end_context(ctx);
}

static void test_bound_is_lowered_by_residuals(void **unused) {
    (void)unused;
    double values[3] = {1, 0.9, 0.4};
    clv_spectrum s = {.n = 3, .count = 3, .values = values, .residual = 0.2, .converged = true};
    assert_true(fabs(clv_spectral_bound(&s, 3) - 0.2) <= 1e-12);
    assert_true(fabs(clv_spectral_bound(&s, 2)) <= 0);
    s.residual = 0;
    assert_true(fabs(clv_spectral_bound(&s, 3) - 0.35) <= 1e-12);
    s.converged = false; /* larger values may be missing */
    assert_true(fabs(clv_spectral_bound(&s, 3)) <= 0);
}

/* --- the number of clusters --- */

static void test_choice_of_k(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    for (int64_t k = 2; k <= 6; k++) {
        double *w = new_blocks(120, k, 0.05);
        clv_affinity *a = affinity_of(ctx, w, 120);
        clv_ncut_problem p = problem_of(ctx, a, 1);
        assert_int_equal(clv_spectrum_new(&p, 12, 1e-6, 1, &p.spectrum), CLV_OK);
        assert_int_equal(clv_choose_k(&p.spectrum, p.components), k);
        end_problem(&p);
        clv_affinity_free(a);
        free(w);
    }
    double ties[6] = {1, 0.875, 0.75, 0.5, 0.25, 0.125};
    clv_spectrum s = {.n = 6, .count = 6, .values = ties};
    assert_int_equal(clv_choose_k(&s, 1), 3);
    s.count = 3;
    assert_int_equal(clv_choose_k(&s, 1), 2);
    ties[5] = -1;
    s.count = 6;
    assert_int_equal(clv_choose_k(&s, 1), 5);
    end_context(ctx);
}

/* Differences within rounding or within the residual are none. */
static void test_no_gap(void **unused) {
    (void)unused;
    double values[5] = {1, 0.5, 0.5 - 1e-13, 0.5 - 3e-13, 0.5 - 4e-13};
    clv_spectrum s = {.n = 9, .count = 5, .values = values};
    assert_int_equal(clv_choose_k(&s, 1), 1);
    values[4] = 0.49;
    assert_int_equal(clv_choose_k(&s, 1), 4);
    s.residual = 0.02;
    assert_int_equal(clv_choose_k(&s, 1), 1);
}

/* k = auto on a graph of n objects, with 21 eigenvalues as in ncut. */
static int64_t chosen_k(clv_context *ctx, const double *w, int64_t n) {
    clv_affinity *a = affinity_of(ctx, w, n);
    clv_ncut_problem p = problem_of(ctx, a, 1);
    assert_int_equal(clv_spectrum_new(&p, 21, 1e-6, 1, &p.spectrum), CLV_OK);
    int64_t k = clv_choose_k(&p.spectrum, p.components);
    end_problem(&p);
    clv_affinity_free(a);
    return k;
}

/* Equal points are one cluster; disjoint cliques are a cluster each, be they fewer than the eigenvalues or more. */
static void test_choice_of_k_for_cliques(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    const int64_t cliques[] = {1, 2, 19, 20, 21, 22, 25};
    for (int64_t size = 10; size <= 20; size += 10) { /* for clv_eigen and, the last ones, for Lanczos */
        for (size_t c = 0; c < sizeof cliques / sizeof *cliques; c++) {
            int64_t n = size * cliques[c];
            double *w = malloc((size_t)(n * n) * sizeof *w);
            for (int64_t e = 0; e < n * n; e++) {
                w[e] = e / n / size == e % n / size;
            }
            assert_int_equal(chosen_k(ctx, w, n), cliques[c]);
            free(w);
        }
    }
    end_context(ctx);
}

/* --- labels --- */

/* Whether the labels are those of i % k, up to names, and -1 where the degree is 0. */
static void check_planted(const clv_partition *s) {
    const clv_ncut_problem *p = s->problem;
    for (int64_t i = 0; i < p->n; i++) {
        assert_int_equal(s->labels[i] < 0, p->degree[i] <= 0);
        for (int64_t j = 0; j < i; j++) {
            if (s->labels[i] >= 0 && s->labels[j] >= 0) {
                assert_int_equal(s->labels[i] == s->labels[j], i % p->k == j % p->k);
            }
        }
    }
}

static void check_roundings(clv_context *ctx, const clv_affinity *a, int64_t k) {
    for (int rounding = CLV_NCUT_KMEANS; rounding <= CLV_NCUT_ROTATION; rounding++) {
        clv_ncut_problem p = problem_of(ctx, a, k);
        clv_partition s;
        clv_rng rng = clv_rng_stream(1, 1);
        p.options.rounding = rounding;
        assert_int_equal(clv_spectrum_new(&p, k, 1e-6, 1, &p.spectrum), CLV_OK);
        assert_int_equal(clv_partition_new(&p, 1, &s), CLV_OK);
        assert_int_equal(clv_start_spectral(&s, &rng), CLV_OK);
        check_planted(&s);
        clv_partition_free(&s);
        end_problem(&p);
    }
}

static void test_planted_blocks(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    for (int64_t k = 1; k <= 7; k++) {
        for (int64_t n = 14 * k; n <= 400; n += 390 - 14 * k) {
            for (int apart = 0; apart < 2; apart++) {
                double *w = new_blocks(n, k, apart ? 0 : 0.08);
                for (int64_t i = 0; i < n && apart; i++) { /* and two objects without any edge */
                    w[2 * n + i] = w[i * n + 2] = w[(n - 1) * n + i] = w[i * n + n - 1] = 0;
                }
                graph g;
                set_graph(&g, w, n);
                clv_affinity *a = affinity_of(ctx, w, n);
                check_roundings(ctx, a, k);
                clv_affinity_free(a);
                a = affinity_from(ctx, &g.matrix, CLV_AFFINITY_PRECOMPUTED, CLV_HOME_AUTO);
                check_roundings(ctx, a, k);
                clv_affinity_free(a);
                free_graph(&g);
                free(w);
            }
        }
    }
    end_context(ctx);
}

/* More clusters than distinct points: still an object for each. */
static void test_equal_points(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    double w[6 * 6];
    for (int e = 0; e < 36; e++) {
        w[e] = 1;
    }
    clv_affinity *a = affinity_of(ctx, w, 6);
    for (int rounding = CLV_NCUT_KMEANS; rounding <= CLV_NCUT_ROTATION; rounding++) {
        for (int64_t k = 2; k <= 6; k++) {
            clv_ncut_problem p = problem_of(ctx, a, k);
            clv_partition s;
            clv_rng rng = clv_rng_stream(2, 1);
            p.options.rounding = rounding;
            assert_int_equal(clv_spectrum_new(&p, k, 1e-6, 1, &p.spectrum), CLV_OK);
            assert_int_equal(clv_partition_new(&p, 1, &s), CLV_OK);
            memset(p.spectrum.vectors, 0, (size_t)(6 * k) * sizeof(double));
            assert_int_equal(clv_start_spectral(&s, &rng), CLV_OK);
            for (int32_t c = 0; c < k; c++) {
                assert_true(brute_size(s.labels, 6, c) > 0);
            }
            clv_partition_free(&s);
            end_problem(&p);
        }
    }
    clv_affinity_free(a);
    end_context(ctx);
}

static void test_too_few_vectors(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    const double w[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    clv_affinity *a = affinity_of(ctx, w, 3);
    clv_ncut_problem p = problem_of(ctx, a, 3);
    clv_partition s;
    clv_rng rng = clv_rng_stream(2, 1);
    assert_int_equal(clv_spectrum_new(&p, 2, 1e-6, 1, &p.spectrum), CLV_OK);
    assert_int_equal(clv_partition_new(&p, 1, &s), CLV_OK);
    assert_int_equal(clv_start_spectral(&s, &rng), CLV_EINTERNAL);
    clv_partition_free(&s);
    end_problem(&p);
    clv_affinity_free(a);
    end_context(ctx);
}

/* The sum of squared distances of the rows of D^-1/2 U to the means of their clusters, and how many rows are nearer to
 * the mean of another one. */
static double cost_of_labels(const clv_partition *s, int64_t *misplaced) {
    enum { MOST = 8 };
    const clv_ncut_problem *p = s->problem;
    double mean[MOST][MOST] = {{0}}, size[MOST] = {0}, cost = 0;
    for (int64_t e = 0; e < p->n * p->k; e++) {
        int64_t i = e / p->k, d = e % p->k;
        mean[s->labels[i]][d] += p->spectrum.vectors[d * p->n + i] / sqrt(p->degree[i]);
        size[s->labels[i]] += d == 0;
    }
    *misplaced = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double distance[MOST] = {0};
        bool least = true;
        for (int64_t e = 0; e < p->k * p->k; e++) {
            int64_t c = e / p->k, d = e % p->k;
            double apart = p->spectrum.vectors[d * p->n + i] / sqrt(p->degree[i]) - mean[c][d] / size[c];
            distance[c] += apart * apart;
        }
        for (int64_t c = 0; c < p->k; c++) {
            least = least && distance[s->labels[i]] <= distance[c] * (1 + 1e-9);
        }
        *misplaced += !least;
        cost += distance[s->labels[i]];
    }
    return cost;
}

/* Where Lloyd's algorithm ends every point is at its nearest mean, but for the last iterations, which may be left
 * undone; and the best of the runs hardly depends on the random numbers, on data without clusters where runs differ. */
static void test_labels_are_nearest_means(void **unused) {
    (void)unused;
    enum { OBJECTS = 2500, K = 8 };
    clv_context *ctx = new_context();
    double *x = new_points(OBJECTS, 3, 1);
    clv_matrix points = {.rows = OBJECTS, .cols = 3, .values = x};
    clv_affinity *a = affinity_from(ctx, &points, CLV_AFFINITY_GAUSSIAN, CLV_HOME_AUTO);
    clv_ncut_problem p = problem_of(ctx, a, K);
    clv_partition s;
    double least = INFINITY, most = 0;
    assert_int_equal(clv_spectrum_new(&p, K, 1e-6, 1, &p.spectrum), CLV_OK);
    assert_int_equal(clv_partition_new(&p, 1, &s), CLV_OK);
    for (uint64_t run = 0; run < 6; run++) {
        clv_rng rng = clv_rng_stream(4, run);
        int64_t misplaced;
        assert_int_equal(clv_start_spectral(&s, &rng), CLV_OK);
        double cost = cost_of_labels(&s, &misplaced);
        least = fmin(least, cost);
        most = fmax(most, cost);
        assert_true(misplaced <= 5);
    }
    assert_true(most <= 1.02 * least);
    clv_partition_free(&s);
    end_problem(&p);
    clv_affinity_free(a);
    free(x);
    end_context(ctx);
}

/* --- the same on any number of threads --- */

static void test_threads(void **unused) {
    (void)unused;
    enum { OBJECTS = 5000, K = 5, COUNT = 6 };
    clv_context *ctx = new_context();
    double *x = new_points(OBJECTS, K, 3);
    clv_matrix points = {.rows = OBJECTS, .cols = 3, .values = x};
    clv_affinity *a = affinity_from(ctx, &points, CLV_AFFINITY_KNN, CLV_HOME_AUTO);
    clv_ncut_problem p = problem_of(ctx, a, K);
    clv_spectrum first = {0};
    int32_t *labels = malloc((size_t)(2 * OBJECTS) * sizeof *labels);
    for (int threads = 1; threads <= 3; threads++) {
        assert_int_equal(clv_spectrum_new(&p, COUNT, 1e-6, threads, &p.spectrum), CLV_OK);
        for (int rounding = CLV_NCUT_KMEANS; rounding <= CLV_NCUT_ROTATION; rounding++) {
            clv_partition s;
            clv_rng rng = clv_rng_stream(6, 1);
            int32_t *kept = labels + (int64_t)rounding * OBJECTS;
            p.options.rounding = rounding;
            assert_int_equal(clv_partition_new(&p, threads, &s), CLV_OK);
            assert_int_equal(clv_start_spectral(&s, &rng), CLV_OK);
            if (threads == 1) {
                memcpy(kept, s.labels, OBJECTS * sizeof *kept);
            }
            assert_memory_equal(kept, s.labels, OBJECTS * sizeof *kept);
            clv_partition_free(&s);
        }
        if (threads == 1) {
            first = p.spectrum;
        } else {
            assert_memory_equal(first.values, p.spectrum.values, COUNT * sizeof(double));
            assert_memory_equal(first.vectors, p.spectrum.vectors, (size_t)COUNT * OBJECTS * sizeof(double));
            clv_spectrum_free(&p.spectrum);
        }
    }
    p.spectrum = first;
    free(labels);
    end_problem(&p);
    clv_affinity_free(a);
    free(x);
    end_context(ctx);
}

/* --- failures --- */

typedef struct failing_case {
    const clv_matrix *matrix;
    int rounding;
} failing_case;

static clv_status try_start(clv_ncut_problem *p) {
    clv_partition s;
    clv_rng rng = clv_rng_stream(1, 1);
    CLV_TRY(clv_partition_new(p, 1, &s));
    clv_status status = clv_start_spectral(&s, &rng);
    clv_partition_free(&s);
    return status;
}

static clv_status try_all(clv_context *ctx, void *user) {
    const failing_case *what = user;
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    how.threads = 1;
    CLV_TRY(clv_affinity_build(ctx, what->matrix, &how, &a));
    clv_ncut_problem p = {.ctx = ctx, .affinity = a, .n = what->matrix->rows, .k = 3, .counted = what->matrix->rows};
    p.options.rounding = what->rounding;
    p.degree = malloc((size_t)p.n * sizeof *p.degree);
    clv_status status = clv_affinity_degrees(a, p.degree, 1);
    if (status == CLV_OK) {
        status = clv_spectrum_new(&p, 4, 1e-5, 1, &p.spectrum);
    }
    if (status == CLV_OK) {
        status = try_start(&p);
    }
    clv_spectrum_free(&p.spectrum);
    free(p.degree);
    clv_affinity_free(a);
    return status;
}

static void test_every_failure(void **unused) {
    (void)unused;
    for (int64_t n = 30; n <= 330; n += 300) {
        double *w = new_blocks(n, 3, 0.3);
        graph g;
        set_graph(&g, w, n);
        clv_matrix dense = {.rows = n, .cols = n, .values = w};
        failing_case of_dense = {&dense, CLV_NCUT_KMEANS}, of_sparse = {&g.matrix, CLV_NCUT_ROTATION};
        assert_true(check_every_failure(try_all, &of_dense) > 10);
        assert_true(check_every_failure(try_all, &of_sparse) > 10);
        free_graph(&g);
        free(w);
    }
}

/* Out of memory after Lanczos has given up: with LAPACK, and after it. */
static void test_failures_of_last_resorts(void **unused) {
    (void)unused;
    enum { OBJECTS = 330, LAST = 12 };
    double *w = new_ring(OBJECTS);
    failing f = {0};
    clv_allocator allocator = {failing_allocate, failing_release, &f};
    clv_context *ctx;
    assert_int_equal(clv_context_new(&allocator, &ctx), CLV_OK);
    clv_affinity *a = affinity_of(ctx, w, OBJECTS);
    clv_ncut_problem p = problem_of(ctx, a, 2);
    int64_t before = f.calls;
    assert_int_equal(clv_spectrum_new(&p, 2, 1e-18, 1, &p.spectrum), CLV_OK);
    clv_spectrum_free(&p.spectrum);
    int64_t total = f.calls - before, blocks = f.blocks;
    for (int64_t k = total - LAST + 1; k <= total; k++) {
        f.fail_at = f.calls + k;
        assert_int_equal(clv_spectrum_new(&p, 2, 1e-18, 1, &p.spectrum), CLV_ENOMEM);
        assert_int_equal(f.blocks, blocks);
    }
    end_problem(&p);
    clv_affinity_free(a);
    free(w);
    end_context(ctx);
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

static void test_interruption(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    double *w = new_blocks(330, 3, 0.3);
    clv_affinity *a = affinity_of(ctx, w, 330);
    clv_ncut_problem p = problem_of(ctx, a, 3);
    clv_partition s;
    clv_rng rng = clv_rng_stream(1, 1);
    clv_spectrum none;
    assert_int_equal(clv_spectrum_new(&p, 3, 1e-5, 1, &p.spectrum), CLV_OK);
    assert_int_equal(clv_partition_new(&p, 1, &s), CLV_OK);
    clv_context_set_interrupt(ctx, stop_at_once, NULL);
    assert_int_equal(clv_start_spectral(&s, &rng), CLV_EINTERRUPTED);
    assert_int_equal(clv_spectrum_new(&p, 3, 1e-5, 1, &none), CLV_EINTERRUPTED);
    clv_partition_free(&s);
    end_problem(&p);
    clv_affinity_free(a);
    free(w);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_of_homes),
        cmocka_unit_test(test_torus),
        cmocka_unit_test(test_dense_ring),
        cmocka_unit_test(test_tolerance_out_of_reach),
        cmocka_unit_test(test_components),
        cmocka_unit_test(test_objects_left_out),
        cmocka_unit_test(test_objects_left_out_of_reach),
        cmocka_unit_test(test_more_than_there_are),
        cmocka_unit_test(test_bound_by_brute_force),
        cmocka_unit_test(test_bound_is_lowered_by_residuals),
        cmocka_unit_test(test_choice_of_k),
        cmocka_unit_test(test_no_gap),
        cmocka_unit_test(test_choice_of_k_for_cliques),
        cmocka_unit_test(test_planted_blocks),
        cmocka_unit_test(test_equal_points),
        cmocka_unit_test(test_too_few_vectors),
        cmocka_unit_test(test_labels_are_nearest_means),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_every_failure),
        cmocka_unit_test(test_failures_of_last_resorts),
        cmocka_unit_test(test_interruption),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
