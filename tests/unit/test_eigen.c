/* Eigenpairs of operators with known spectra: values, residuals, orthogonality, and multiplicities. */
#include "linalg/linalg.h"

#include "failing.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* --- operators --- */

typedef struct operator_data {
    const double *diagonal; /* diagonal matrix, or the spectrum that the reflections turn */
    const double *normals;  /* 2 unit vectors: H1 H2 D H2 H1 */
    int64_t blocks;         /* Laplacian of `blocks` disconnected paths of n / blocks objects */
    int64_t fail_after;     /* products until the operator fails; 0: never */
    int64_t products;
} operator_data;

static clv_status apply_diagonal(void *user, const double *x, double *y, int64_t n) {
    const operator_data *data = user;
    for (int64_t i = 0; i < n; i++) {
        y[i] = data->diagonal[i] * x[i];
    }
    return CLV_OK;
}

static clv_status apply_noisy(void *user, const double *x, double *y, int64_t n) {
    operator_data *data = user;
    data->products++;
    for (int64_t i = 0; i < n; i++) {
        y[i] = (data->diagonal[i] + 1e-5 * sin((double)(data->products * (i + 1)))) * x[i];
    }
    return CLV_OK;
}

static clv_status apply_paths(void *user, const double *x, double *y, int64_t n) {
    operator_data *data = user;
    int64_t length = n / data->blocks;
    if (++data->products == data->fail_after) {
        return CLV_EIO;
    }
    for (int64_t i = 0; i < n; i++) {
        y[i] = 0;
        if (i % length > 0) {
            y[i] += x[i] - x[i - 1];
        }
        if (i % length < length - 1) {
            y[i] += x[i] - x[i + 1];
        }
    }
    return CLV_OK;
}

static void reflect(const double *normal, double *x, int64_t n) {
    double along = 2 * clv_dot(normal, x, n, 1);
    for (int64_t i = 0; i < n; i++) {
        x[i] -= along * normal[i];
    }
}

static clv_status apply_turned(void *user, const double *x, double *y, int64_t n) {
    const operator_data *data = user;
    memcpy(y, x, (size_t)n * sizeof *y);
    reflect(data->normals, y, n);
    reflect(data->normals + n, y, n);
    for (int64_t i = 0; i < n; i++) {
        y[i] *= data->diagonal[i];
    }
    reflect(data->normals + n, y, n);
    reflect(data->normals, y, n);
    return CLV_OK;
}

/* --- checks --- */

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void check_vectors(clv_operator apply, operator_data *data, int64_t n, int64_t count, const double *values,
                          const double *vectors, double limit) {
    double *image = calloc((size_t)n, sizeof *image);
    for (int64_t c = 0; c < count; c++) {
        const double *v = vectors + c * n;
        for (int64_t b = 0; b <= c; b++) {
            assert_true(fabs(clv_dot(v, vectors + b * n, n, 1) - (b == c)) < 1e-8);
        }
        assert_int_equal(apply(data, v, image, n), CLV_OK);
        double residual = 0;
        for (int64_t i = 0; i < n; i++) {
            residual += (image[i] - values[c] * v[i]) * (image[i] - values[c] * v[i]);
        }
        assert_true(sqrt(residual) < limit);
    }
    free(image);
}

/* `spectrum` gets sorted. */
static void check_end(clv_operator apply, operator_data *data, int64_t n, int64_t count, clv_eigen_end end,
                      double *spectrum) {
    clv_context *ctx = new_context();
    double *values = malloc((size_t)count * sizeof *values), *vectors = malloc((size_t)(count * n) * sizeof *vectors);
    qsort(spectrum, (size_t)n, sizeof *spectrum, ascending);
    double norm = fmax(fabs(spectrum[0]), fabs(spectrum[n - 1]));
    assert_int_equal(clv_eigen(ctx, apply, data, n, count, end, 1e-12, 5, values, vectors), CLV_OK);
    for (int64_t c = 0; c < count; c++) {
        double expected = spectrum[end == CLV_EIGEN_LARGEST ? n - 1 - c : c];
        assert_true(fabs(values[c] - expected) <= 1e-9 * norm);
        if (c > 0) {
            assert_true(end == CLV_EIGEN_LARGEST ? values[c] <= values[c - 1] : values[c] >= values[c - 1]);
        }
    }
    check_vectors(apply, data, n, count, values, vectors, 1e-9 * norm + 1e-300);
    free(values);
    free(vectors);
    end_context(ctx);
}

static void check_both_ends(clv_operator apply, operator_data *data, int64_t n, int64_t count, const double *spectrum) {
    double *sorted = malloc((size_t)n * sizeof *sorted);
    memcpy(sorted, spectrum, (size_t)n * sizeof *sorted);
    check_end(apply, data, n, count, CLV_EIGEN_LARGEST, sorted);
    check_end(apply, data, n, count, CLV_EIGEN_SMALLEST, sorted);
    free(sorted);
}

/* --- tests --- */

static void diagonal_spectra(void **state) {
    static const int64_t cases[][2] = {{1, 1},   {2, 1},   {2, 2},  {3, 1},   {3, 3},    {10, 4},   {64, 7},
                                       {65, 64}, {65, 63}, {65, 5}, {200, 1}, {200, 10}, {200, 60}, {3000, 4}};
    static double diagonal[3000];
    clv_rng rng = clv_rng_stream(6, 0);
    (void)state;
    for (size_t s = 0; s < sizeof cases / sizeof cases[0]; s++) {
        int64_t n = cases[s][0];
        for (int shift = -1; shift <= 1; shift++) { /* all negative, mixed, all positive */
            for (int64_t i = 0; i < n; i++) {
                diagonal[i] = shift * 10.0 + 3 * tanh(clv_rng_normal(&rng)) + (double)(i % 7 == 3);
            }
            operator_data data = {.diagonal = diagonal};
            check_both_ends(apply_diagonal, &data, n, cases[s][1], diagonal);
        }
    }
}

/* 2 - 2 cos(pi j / m), j = 0..m-1, once for each of the paths. */
static void paths_spectrum(int64_t n, int64_t blocks, double *spectrum) {
    int64_t m = n / blocks;
    for (int64_t i = 0; i < n; i++) {
        spectrum[i] = 2 - 2 * cos(pi * (double)(i % m) / (double)m);
    }
}

static void path_laplacians(void **state) {
    static const int64_t cases[][3] = {{2, 1, 2},    {3, 1, 1},     {300, 1, 3},    {300, 10, 10},  {300, 10, 14},
                                       {300, 60, 5}, {400, 20, 45}, {600, 200, 30}, {3000, 30, 30}, {3000, 300, 12}};
    static double spectrum[3000];
    (void)state;
    for (size_t s = 0; s < sizeof cases / sizeof cases[0]; s++) {
        operator_data data = {.blocks = cases[s][1]};
        paths_spectrum(cases[s][0], cases[s][1], spectrum);
        check_both_ends(apply_paths, &data, cases[s][0], cases[s][2], spectrum);
    }
}

/* The smallest eigenvalues of a long path lie close to each other: many restarts. */
static void hard_spectrum(void **state) {
    static double spectrum[1200];
    operator_data data = {.blocks = 1};
    (void)state;
    paths_spectrum(1200, 1, spectrum);
    check_end(apply_paths, &data, 1200, 2, CLV_EIGEN_SMALLEST, spectrum);
}

/* An operator that is never the same twice satisfies ARPACK but not the residuals: LAPACK steps in where the matrix is
 * small, and where it is not there is an error instead of a wrong answer. */
static void false_convergence(void **state) {
    static double diagonal[2100];
    double values[2] = {0};
    clv_context *ctx = new_context();
    operator_data data = {.diagonal = diagonal};
    (void)state;
    for (int64_t i = 0; i < 2100; i++) {
        diagonal[i] = i < 3 ? (double)(6 - i) : 1.0 / (double)i;
    }
    assert_int_equal(clv_eigen(ctx, apply_noisy, &data, 300, 2, CLV_EIGEN_LARGEST, 1e-10, 1, values, NULL), CLV_OK);
    assert_true(fabs(values[0] - 6) < 1e-3 && fabs(values[1] - 5) < 1e-3);
    assert_int_equal(clv_eigen(ctx, apply_noisy, &data, 2100, 2, CLV_EIGEN_LARGEST, 1e-10, 1, values, NULL),
                     CLV_ENUMERIC);
    assert_non_null(strstr(clv_message(ctx), "the 2 largest eigenvalues of 2100 rows"));
    end_context(ctx);
}

static void turned_spectra(void **state) {
    enum { N = 300 };
    static double spectrum[N], normals[2 * N];
    clv_rng rng = clv_rng_stream(8, 0);
    (void)state;
    for (int v = 0; v < 2; v++) {
        for (int64_t i = 0; i < N; i++) {
            normals[v * N + i] = clv_rng_normal(&rng);
        }
        double length = sqrt(clv_dot(normals + v * N, normals + v * N, N, 1));
        for (int64_t i = 0; i < N; i++) {
            normals[v * N + i] /= length;
        }
    }
    for (int kind = 0; kind < 4; kind++) {
        for (int64_t i = 0; i < N; i++) {
            double kinds[] = {(double)i - 100, i < 5 ? 7.0 : 1.0 / (double)(i + 1), i < 290 ? 0.0 : -1.0,
                              1e-9 * (double)i};
            spectrum[i] = kinds[kind];
        }
        operator_data data = {.diagonal = spectrum, .normals = normals};
        check_both_ends(apply_turned, &data, N, 7, spectrum);
    }
}

/* Multiples of the identity, zero among them: Lanczos has nothing to hold on to. */
static void scalar_operators(void **state) {
    static double diagonal[500];
    (void)state;
    for (int kind = -1; kind <= 1; kind++) {
        for (int64_t i = 0; i < 500; i++) {
            diagonal[i] = 4.0 * kind;
        }
        operator_data data = {.diagonal = diagonal};
        check_both_ends(apply_diagonal, &data, 500, 5, diagonal);
    }
}

static void same_seed_same_bits(void **state) {
    enum { N = 400, COUNT = 4 };
    clv_context *ctx = new_context();
    static double first[N * COUNT], second[N * COUNT], diagonal[N];
    double values[2][COUNT];
    (void)state;
    for (int64_t i = 0; i < N; i++) {
        diagonal[i] = sqrt((double)i);
    }
    operator_data data = {.diagonal = diagonal};
    for (int run = 0; run < 2; run++) {
        assert_int_equal(clv_eigen(ctx, apply_diagonal, &data, N, COUNT, CLV_EIGEN_LARGEST, 1e-10, 1, values[run],
                                   run ? second : first),
                         CLV_OK);
    }
    assert_memory_equal(first, second, sizeof first);
    assert_memory_equal(values[0], values[1], sizeof values[0]);
    assert_int_equal(clv_eigen(ctx, apply_diagonal, &data, N, 0, CLV_EIGEN_LARGEST, 1e-10, 1, NULL, NULL), CLV_OK);
    assert_int_equal(clv_eigen(ctx, apply_diagonal, &data, N, 1, CLV_EIGEN_LARGEST, 0, 1, values[0], NULL), CLV_OK);
    assert_true(fabs(values[0][0] - sqrt(N - 1)) < 1e-10);
    end_context(ctx);
}

static void dense_matrices(void **state) {
    enum { N = 40 };
    clv_context *ctx = new_context();
    static double a[N * N], kept[N * N], values[N];
    clv_rng rng = clv_rng_stream(9, 0);
    (void)state;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j <= i; j++) {
            a[i * N + j] = a[j * N + i] = clv_rng_normal(&rng);
        }
    }
    memcpy(kept, a, sizeof a);
    assert_int_equal(clv_eigen_dense(ctx, a, N, values), CLV_OK);
    for (int64_t c = 0; c < N; c++) {
        assert_true(c == 0 || values[c] >= values[c - 1]);
        for (int64_t i = 0; i < N; i++) {
            assert_true(fabs(clv_dot(kept + i * N, a + c * N, N, 1) - values[c] * a[c * N + i]) < 1e-12);
            assert_true(fabs(clv_dot(a + c * N, a + i * N, N, 1) - (i == c)) < 1e-13);
        }
    }
    assert_int_equal(clv_eigen_dense(ctx, a, 0, values), CLV_OK);
    assert_int_equal(clv_eigen_dense(ctx, a, 30001, values), CLV_EUSAGE);
    end_context(ctx);
}

static int say_stop(void *user) {
    int64_t *left = user;
    return (*left)-- <= 0;
}

static void refusals(void **state) {
    clv_context *ctx = new_context();
    double values[8];
    static double bad[100];
    (void)state;
    operator_data data = {.blocks = 1, .diagonal = bad};
    assert_int_equal(clv_eigen(ctx, apply_paths, &data, 100, 101, CLV_EIGEN_LARGEST, 0, 1, values, NULL), CLV_EUSAGE);
    assert_int_equal(clv_eigen(ctx, apply_paths, &data, 100, -1, CLV_EIGEN_LARGEST, 0, 1, values, NULL), CLV_EUSAGE);
    for (int64_t at = 1; at < 60; at += 6) { /* an operator that fails, a hook that says stop: at any stage */
        data.fail_after = at;
        data.products = 0;
        assert_int_equal(clv_eigen(ctx, apply_paths, &data, 100, 2, CLV_EIGEN_LARGEST, 0, 1, values, NULL), CLV_EIO);
        data.fail_after = 0;
        int64_t left = at;
        clv_context_set_interrupt(ctx, say_stop, &left);
        assert_int_equal(clv_eigen(ctx, apply_paths, &data, 100, 2, CLV_EIGEN_LARGEST, 0, 1, values, NULL),
                         CLV_EINTERRUPTED);
        clv_context_set_interrupt(ctx, NULL, NULL);
    }
    bad[50] = NAN;
    assert_int_equal(clv_eigen(ctx, apply_diagonal, &data, 100, 2, CLV_EIGEN_LARGEST, 0, 1, values, NULL),
                     CLV_ENUMERIC);
    assert_int_equal(clv_eigen(ctx, apply_diagonal, &data, 60, 2, CLV_EIGEN_LARGEST, 0, 1, values, NULL), CLV_ENUMERIC);
    assert_true(strlen(clv_message(ctx)) > 0);
    end_context(ctx);
}

static clv_status solve_some(clv_context *ctx, void *user) {
    operator_data data = {.blocks = 10};
    double values[3];
    return clv_eigen(ctx, apply_paths, &data, *(int64_t *)user, 3, CLV_EIGEN_SMALLEST, 1e-10, 1, values, NULL);
}

static void failures_leave_nothing(void **state) {
    int64_t sizes[] = {20, 100};
    (void)state;
    assert_true(check_every_failure(solve_some, &sizes[0]) >= 8);
    assert_true(check_every_failure(solve_some, &sizes[1]) >= 18);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diagonal_spectra),       cmocka_unit_test(path_laplacians), cmocka_unit_test(hard_spectrum),
        cmocka_unit_test(false_convergence),      cmocka_unit_test(turned_spectra),  cmocka_unit_test(scalar_operators),
        cmocka_unit_test(same_seed_same_bits),    cmocka_unit_test(dense_matrices),  cmocka_unit_test(refusals),
        cmocka_unit_test(failures_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
