/* Every home against matrices written down by definition: all kinds, sizes around the tile boundaries, both diagonals,
 * double, float and sparse points, every function of the operator, and the same bits on any number of threads. */
#include "affinity/affinity.h"

#include "entry_of.h"
#include "with_context.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct problem {
    int64_t n, p;
    double *points;
    clv_matrix matrix;
    double *reference; /* n x n */
} problem;

/* --- references by definition --- */

static double distance(const problem *q, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t f = 0; f < q->p; f++) {
        double d = q->points[i * q->p + f] - q->points[j * q->p + f];
        sum += d * d;
    }
    return sqrt(sum);
}

static double cosine(const problem *q, int64_t i, int64_t j) {
    double dot = 0, left = 0, right = 0;
    for (int64_t f = 0; f < q->p; f++) {
        double x = q->points[i * q->p + f], y = q->points[j * q->p + f];
        dot += x * y;
        left += x * x;
        right += y * y;
    }
    return left > 0 && right > 0 ? dot / sqrt(left * right) : 0;
}

/* Floyd and Warshall's recursion with (max, min). */
static void minimax_paths(const problem *q, double *out) {
    for (int64_t i = 0; i < q->n; i++) {
        for (int64_t j = 0; j < q->n; j++) {
            out[i * q->n + j] = distance(q, i, j);
        }
    }
    for (int64_t m = 0; m < q->n; m++) {
        for (int64_t i = 0; i < q->n; i++) {
            for (int64_t j = 0; j < q->n; j++) {
                double over = fmax(out[i * q->n + m], out[m * q->n + j]);
                out[i * q->n + j] = fmin(out[i * q->n + j], over);
            }
        }
    }
}

static void from_top(double *out, int64_t entries) {
    double top = 0;
    for (int64_t e = 0; e < entries; e++) {
        top = fmax(top, out[e]);
    }
    for (int64_t e = 0; e < entries; e++) {
        out[e] = top - out[e];
    }
}

/* Whether fewer than k objects are nearer to i than j is, ties by number. */
static bool is_near(const problem *q, int64_t i, int64_t j, int64_t k) {
    int64_t nearer = 0;
    double dj = distance(q, i, j);
    for (int64_t m = 0; m < q->n; m++) {
        double dm = distance(q, i, m);
        nearer += m != i && m != j && (dm < dj || (dm == dj && m < j));
    }
    return nearer < k;
}

/* The k-th smallest distance from object i, but no less than a tenth of the median of such distances above 0. */
static double kth_distance(const problem *q, int64_t i, int64_t k) {
    for (int64_t j = 0; j < q->n; j++) {
        if (j != i && is_near(q, i, j, k) && (k == 1 || !is_near(q, i, j, k - 1))) {
            return distance(q, i, j);
        }
    }
    fail();
    return 0;
}

static int compare(const void *l, const void *r) {
    double a = *(const double *)l, b = *(const double *)r;
    return (a > b) - (a < b);
}

static void write_scales(const problem *q, int64_t k, double *scale) {
    double *positive = malloc((size_t)(q->n * q->n) * sizeof *positive);
    int64_t count = 0;
    for (int64_t i = 0; i < q->n; i++) {
        scale[i] = kth_distance(q, i, k);
        if (scale[i] > 0) {
            positive[count++] = scale[i];
        }
    }
    for (int64_t i = 0, none = count == 0; none && i < q->n; i++) {
        for (int64_t j = 0; j < i; j++) {
            positive[count] = distance(q, i, j);
            count += positive[count] > 0;
        }
    }
    qsort(positive, (size_t)count, sizeof *positive, compare);
    for (int64_t i = 0; i < q->n; i++) {
        scale[i] = fmax(scale[i], count > 0 ? 0.1 * positive[count / 2] : 1);
    }
    free(positive);
}

static void write_local(problem *q, const clv_affinity_options *o, double gamma) {
    double *scale = malloc((size_t)q->n * sizeof *scale);
    bool graph = o->kind == CLV_AFFINITY_LOCAL_KNN;
    write_scales(q, o->neighbors, scale);
    for (int64_t i = 0; i < q->n; i++) {
        for (int64_t j = 0; j < q->n; j++) {
            double d = distance(q, i, j);
            bool joined = i == j || is_near(q, i, j, 2 * o->neighbors) || is_near(q, j, i, 2 * o->neighbors);
            q->reference[i * q->n + j] =
                graph && !joined ? 0 : exp(-(isnan(gamma) ? 1 : gamma) * d * d / (scale[i] * scale[j]));
        }
    }
    free(scale);
}

static void write_reference(problem *q, const clv_affinity_options *o, double gamma) {
    int64_t n = q->n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double d = distance(q, i, j), *out = &q->reference[i * n + j];
            switch ((clv_affinity_kind)o->kind) {
            case CLV_AFFINITY_GAUSSIAN:
                *out = exp(-gamma * d * d);
                break;
            case CLV_AFFINITY_EXPONENTIAL:
                *out = exp(-gamma * d);
                break;
            case CLV_AFFINITY_COSINE:
                *out = 1 + cosine(q, i, j);
                break;
            case CLV_AFFINITY_KNN: {
                bool joined = i == j || is_near(q, i, j, o->neighbors) || is_near(q, j, i, o->neighbors);
                *out = joined ? (isnan(gamma) ? 1 : exp(-gamma * d * d)) : 0;
                break;
            }
            default:
                *out = d;
                break;
            }
        }
    }
    if (o->kind == CLV_AFFINITY_MINIMAX) {
        minimax_paths(q, q->reference);
    }
    if (o->kind == CLV_AFFINITY_MINIMAX || o->kind == CLV_AFFINITY_DISTANCE) {
        from_top(q->reference, n * n);
    }
    if (o->kind == CLV_AFFINITY_LOCAL || o->kind == CLV_AFFINITY_LOCAL_KNN) {
        write_local(q, o, gamma);
    }
    for (int64_t i = 0; i < n && o->zero_diagonal; i++) {
        q->reference[i * n + i] = 0;
    }
}

static problem make_problem(int64_t n, int64_t p, uint64_t seed) {
    problem q = {.n = n, .p = p};
    clv_rng rng = clv_rng_stream(seed, 0);
    q.points = malloc((size_t)(n * p) * sizeof(double));
    q.reference = malloc((size_t)(n * n) * sizeof(double));
    for (int64_t e = 0; e < n * p; e++) {
        q.points[e] = clv_rng_normal(&rng);
    }
    for (int64_t f = 0; f < p && n > 3; f++) {
        q.points[2 * p + f] = q.points[f]; /* two equal points and one at the origin */
        q.points[3 * p + f] = 0;
    }
    q.matrix = (clv_matrix){.rows = n, .cols = p, .scalar = CLV_F64, .values = q.points};
    return q;
}

static void free_problem(problem *q) {
    free(q->points);
    free(q->reference);
}

/* --- the operator against the reference --- */

static void assert_near(const double *got, const double *expected, int64_t count, double tolerance) {
    double scale = 0;
    for (int64_t e = 0; e < count; e++) {
        scale = fmax(scale, fabs(expected[e]));
    }
    for (int64_t e = 0; e < count; e++) {
        if (!(fabs(got[e] - expected[e]) <= tolerance * scale)) {
            fail_msg("entry %lld of %lld is %.17g and should be %.17g", (long long)e, (long long)count, got[e],
                     expected[e]);
        }
    }
}

/* What is left of sums after moves: as many terms as objects have come and gone. */
static void assert_left(const double *got, const double *expected, int64_t k, int64_t n, double tolerance) {
    for (int64_t e = 0; e < k * n; e++) {
        assert_true(fabs(got[e] - expected[e]) <= tolerance * (double)n);
    }
}

static void check_columns(const clv_affinity *a, const double *reference, double tolerance) {
    int64_t n = clv_affinity_size(a);
    double *out = calloc((size_t)n, sizeof *out), *expected = calloc((size_t)n, sizeof *out);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(clv_affinity_column(a, i, out), CLV_OK);
        assert_near(out, reference + i * n, n, tolerance);
        for (int64_t j = 0; j < n; j++) {
            out[j] = entry_of(a, i, j);
        }
        assert_near(out, reference + i * n, n, tolerance);
    }
    assert_int_equal(clv_affinity_diagonal(a, out), CLV_OK);
    for (int64_t i = 0; i < n; i++) {
        expected[i] = reference[i * n + i];
    }
    assert_near(out, expected, n, tolerance);
    assert_int_equal(clv_affinity_degrees(a, out, 2), CLV_OK);
    for (int64_t i = 0; i < n; i++) {
        expected[i] = 0;
        for (int64_t j = 0; j < n; j++) {
            expected[i] += reference[i * n + j];
        }
    }
    assert_near(out, expected, n, tolerance);
    free(out);
    free(expected);
}

static void multiply(const double *reference, int64_t n, const double *x, int64_t k, double *y) {
    for (int64_t c = 0; c < k; c++) {
        for (int64_t i = 0; i < n; i++) {
            y[c * n + i] = 0;
            for (int64_t j = 0; j < n; j++) {
                y[c * n + i] += reference[i * n + j] * x[c * n + j];
            }
        }
    }
}

static void check_apply(const clv_affinity *a, const double *reference, double tolerance, clv_rng *rng) {
    int64_t n = clv_affinity_size(a);
    for (int64_t k = 1; k <= 3; k += 2) {
        double *x = malloc((size_t)(k * n) * sizeof *x), *y = malloc((size_t)(k * n) * sizeof *y);
        double *expected = malloc((size_t)(k * n) * sizeof *y), *again = malloc((size_t)(k * n) * sizeof *y);
        for (int64_t e = 0; e < k * n; e++) {
            x[e] = clv_rng_uniform(rng);
        }
        multiply(reference, n, x, k, expected);
        assert_int_equal(clv_affinity_apply(a, x, k, y, 1), CLV_OK);
        assert_near(y, expected, k * n, tolerance);
        assert_int_equal(clv_affinity_apply(a, x, k, again, 3), CLV_OK);
        assert_memory_equal(y, again, (size_t)(k * n) * sizeof *y);
        free(x);
        free(y);
        free(expected);
        free(again);
    }
}

static void check_sums(const clv_affinity *a, const double *reference, double tolerance, clv_rng *rng) {
    int64_t n = clv_affinity_size(a), k = 4;
    int32_t *labels = malloc((size_t)n * sizeof *labels);
    double *onehot = calloc((size_t)(k * n), sizeof *onehot), *y = malloc((size_t)(k * n) * sizeof *y);
    double *expected = malloc((size_t)(k * n) * sizeof *y), *again = malloc((size_t)(k * n) * sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        labels[i] = (int32_t)clv_rng_below(rng, k + 1) - 1;
        if (labels[i] >= 0) {
            onehot[labels[i] * n + i] = 1;
        }
    }
    multiply(reference, n, onehot, k, expected);
    assert_int_equal(clv_affinity_group_sums(a, labels, k, y, 1), CLV_OK);
    assert_near(y, expected, k * n, tolerance);
    assert_int_equal(clv_affinity_group_sums(a, labels, k, again, 3), CLV_OK);
    assert_memory_equal(y, again, (size_t)(k * n) * sizeof *y);
    for (int move = 0; move < 10; move++) {
        int64_t i = clv_rng_below(rng, n);
        int32_t to = (int32_t)clv_rng_below(rng, k + 1) - 1;
        assert_int_equal(clv_affinity_move(a, i, labels[i], to, y), CLV_OK);
        labels[i] = to;
    }
    assert_int_equal(clv_affinity_group_sums(a, labels, k, again, 2), CLV_OK);
    assert_left(y, again, k, n, tolerance);
    free(labels);
    free(onehot);
    free(y);
    free(expected);
    free(again);
}

static bool is_on_card(const clv_affinity *a) {
    clv_affinity_info info;
    clv_affinity_describe(a, &info);
    return strcmp(info.home, "cuda") == 0;
}

/* Many moves at once against one after the other, bit for bit (but on a card, which adds columns before it adds them to
 * the sums), on any number of threads; some objects stay. */
static void check_many_moves(const clv_affinity *a, clv_rng rng) {
    int64_t n = clv_affinity_size(a), k = 4, count = (n + 1) / 2;
    int64_t *objects = malloc((size_t)n * sizeof *objects);
    int32_t *before = malloc((size_t)n * sizeof *before), *after = malloc((size_t)n * sizeof *after);
    double *start = malloc((size_t)(k * n) * sizeof *start), *y = malloc((size_t)(k * n) * sizeof *y);
    double *expected = malloc((size_t)(k * n) * sizeof *expected);
    for (int64_t i = 0; i < n; i++) {
        objects[i] = i;
        before[i] = (int32_t)clv_rng_below(&rng, k + 1) - 1;
        after[i] = (int32_t)clv_rng_below(&rng, k + 1) - 1;
    }
    clv_rng_shuffle(&rng, objects, n);
    assert_int_equal(clv_affinity_group_sums(a, before, k, start, 1), CLV_OK);
    memcpy(expected, start, (size_t)(k * n) * sizeof *y);
    for (int64_t m = 0; m < count; m++) {
        assert_int_equal(clv_affinity_move(a, objects[m], before[objects[m]], after[objects[m]], expected), CLV_OK);
    }
    for (int threads = 1; threads <= 3; threads++) {
        memcpy(y, start, (size_t)(k * n) * sizeof *y);
        assert_int_equal(clv_affinity_move_many(a, objects, before, after, count, y, threads), CLV_OK);
        if (is_on_card(a)) {
            assert_left(y, expected, k, n, 1e-12);
        } else {
            assert_memory_equal(y, expected, (size_t)(k * n) * sizeof *y);
        }
    }
    free(objects);
    free(before);
    free(after);
    free(start);
    free(y);
    free(expected);
}

static void check_restricted(const clv_affinity *a, const double *reference, double tolerance, clv_rng *rng) {
    int64_t n = clv_affinity_size(a), m = 0;
    int64_t *active = malloc((size_t)n * sizeof *active);
    for (int64_t i = 0; i < n; i++) {
        if (clv_rng_below(rng, 2)) {
            active[m++] = i;
        }
    }
    double *part = malloc((size_t)(m * m + 1) * sizeof *part);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++) {
            part[i * m + j] = reference[active[i] * n + active[j]];
        }
    }
    clv_affinity *some;
    assert_int_equal(clv_affinity_restrict(a, active, m, &some), CLV_OK);
    if (m > 0) {
        check_columns(some, part, tolerance);
        check_apply(some, part, tolerance, rng);
        check_sums(some, part, tolerance, rng);
        check_many_moves(some, *rng);
    }
    clv_affinity_free(some);
    free(active);
    free(part);
}

/* Rows by themselves have the bits that they have among all; `row` is room for one. */
static void check_rows(const clv_affinity *a, const clv_matrix *all, double *row) {
    int64_t n = clv_affinity_size(a), parts[][2] = {{0, n / 3}, {n / 3, n - n / 3}, {n - 1, 1}, {n / 2, 0}};
    double *some = malloc((size_t)(n * n) * sizeof *some);
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        assert_int_equal(clv_affinity_rows(a, parts[p][0], parts[p][1], some), CLV_OK);
        for (int64_t i = 0; i < parts[p][1]; i++) {
            clv_matrix_row(all, parts[p][0] + i, row);
            assert_memory_equal(some + i * n, row, (size_t)n * sizeof *row);
        }
    }
    assert_int_equal(clv_affinity_rows(a, n - 1, 2, some), CLV_EUSAGE);
    assert_int_equal(clv_affinity_rows(a, -1, 1, some), CLV_EUSAGE);
    free(some);
}

static void check_matrix(const clv_affinity *a, const double *reference, double tolerance) {
    clv_data *data;
    int64_t n = clv_affinity_size(a);
    double *row = malloc((size_t)n * sizeof *row);
    assert_int_equal(clv_affinity_materialize(a, &data), CLV_OK);
    for (int64_t i = 0; i < n; i++) {
        clv_matrix_row(clv_data_matrix(data), i, row);
        assert_near(row, reference + i * n, n, tolerance);
    }
    check_rows(a, clv_data_matrix(data), row);
    clv_data_free(data);
    free(row);
}

static void check_all(const clv_affinity *a, const double *reference, double tolerance, clv_rng *rng) {
    check_columns(a, reference, tolerance);
    check_apply(a, reference, tolerance, rng);
    check_sums(a, reference, tolerance, rng);
    check_many_moves(a, *rng);
    check_matrix(a, reference, tolerance);
    check_restricted(a, reference, tolerance, rng);
}

static double tolerance_of(const clv_affinity *a) {
    clv_affinity_info info;
    clv_affinity_describe(a, &info);
    return strcmp(info.home, "dense-f32") == 0 ? 1e-6 : 1e-12;
}

static void check_home(problem *q, const clv_affinity_options *o, clv_rng *rng) {
    clv_affinity *a;
    clv_affinity_info info;
    if (clv_affinity_build(ctx, &q->matrix, o, &a) != CLV_OK) {
        fail_msg("%s", clv_message(ctx));
    }
    clv_affinity_describe(a, &info);
    assert_int_equal(info.n, q->n);
    assert_string_equal(info.home, clv_home_name(o->home));
    write_reference(q, o, info.gamma);
    check_all(a, q->reference, tolerance_of(a), rng);
    clv_affinity_free(a);
}

static const int64_t sizes[][2] = {{2, 1}, {3, 2}, {17, 3}, {64, 2}, {65, 7}, {129, 70}};

static void check_kind(clv_affinity_kind kind, const clv_home *homes, int home_count) {
    clv_rng rng = clv_rng_stream(7, kind);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        problem q = make_problem(sizes[s][0], sizes[s][1], s);
        for (int variant = 0; variant < 2 * home_count; variant++) {
            clv_affinity_options o;
            clv_affinity_defaults(&o);
            o.kind = (int)kind;
            o.home = (int)homes[variant / 2];
            o.zero_diagonal = variant % 2;
            o.gamma = variant % 3 == 0 ? 0.3 : (double)NAN;
            o.neighbors = q.n > 9 ? 5 : 1;
            o.threads = 1 + variant % 3;
            check_home(&q, &o, &rng);
        }
        free_problem(&q);
    }
}

static const clv_home point_homes[] = {CLV_HOME_DENSE64, CLV_HOME_DENSE32, CLV_HOME_COMPUTED, CLV_HOME_CUDA};

static void test_gaussian(void **state) {
    (void)state;
    check_kind(CLV_AFFINITY_GAUSSIAN, point_homes, 4);
}

static void test_exponential(void **state) {
    (void)state;
    check_kind(CLV_AFFINITY_EXPONENTIAL, point_homes, 4);
}

static void test_distance(void **state) {
    (void)state;
    check_kind(CLV_AFFINITY_DISTANCE, point_homes, 4);
}

static void test_minimax(void **state) {
    (void)state;
    check_kind(CLV_AFFINITY_MINIMAX, point_homes, 3);
}

static void test_cosine(void **state) {
    static const clv_home homes[] = {CLV_HOME_DENSE64, CLV_HOME_DENSE32, CLV_HOME_LOWRANK, CLV_HOME_CUDA};
    (void)state;
    check_kind(CLV_AFFINITY_COSINE, homes, 4);
}

static void test_knn(void **state) {
    static const clv_home homes[] = {CLV_HOME_SPARSE};
    (void)state;
    check_kind(CLV_AFFINITY_KNN, homes, 1);
}

static void test_local(void **state) {
    static const clv_home homes[] = {CLV_HOME_SPARSE};
    (void)state;
    check_kind(CLV_AFFINITY_LOCAL, point_homes, 3);
    check_kind(CLV_AFFINITY_LOCAL_KNN, homes, 1);
}

/* Of agreements next to 0 there is no sign. */
static void test_reason(void **state) {
    char text[256];
    clv_affinity_info info = {.kind = CLV_AFFINITY_LOCAL,
                              .choice = CLV_CHOICE_COMPARED,
                              .chosen_on = 500,
                              .agreement = {-0.001, 0.504, -0.25}};
    (void)state;
    clv_affinity_reason(&info, text, sizeof text);
    assert_non_null(strstr(text, "by 0.00, 0.50 and -0.25 (ARI)"));
}

/* Scales are never 0: where all points coincide, where more than `neighbors` do, and where all do that with others, in
 * any unit. */
static void test_scales_of_equal_points(void **state) {
    (void)state;
    for (int layout = 0; layout < 4; layout++) {
        problem q = make_problem(50, 2, 5);
        memset(q.points, 0, (size_t)(50 * 2) * sizeof(double));
        for (int64_t i = 0; i < 50; i++) {
            double far = (double)(i + 1) * (i + 1), group = (double)(i % 3 * (i % 3));
            q.points[2 * i] = layout == 0 ? 0 : layout == 1 ? (i < 20 ? far : 0) : (layout == 2 ? 1e-5 : 1e4) * group;
        }
        for (int variant = 0; variant < 4; variant++) {
            clv_affinity_options o;
            clv_rng rng = clv_rng_stream(3, 0);
            clv_affinity_defaults(&o);
            o.kind = variant < 3 ? CLV_AFFINITY_LOCAL : CLV_AFFINITY_LOCAL_KNN;
            o.home = (int)(variant < 3 ? point_homes[variant] : CLV_HOME_SPARSE);
            o.neighbors = 7;
            check_home(&q, &o, &rng);
        }
        free_problem(&q);
    }
}

/* Large enough for several threads to be used: the same bits on 1, 2 and 3 of them. */
static void check_threads(const clv_affinity *a) {
    int64_t n = clv_affinity_size(a), k = 3;
    size_t bytes = (size_t)(k * n) * sizeof(double);
    double *x = malloc(bytes), *one = malloc(bytes), *many = malloc(bytes);
    int32_t *labels = malloc((size_t)n * sizeof *labels);
    clv_rng rng = clv_rng_stream(11, 0);
    for (int64_t e = 0; e < k * n; e++) {
        x[e] = clv_rng_uniform(&rng);
        labels[e % n] = (int32_t)clv_rng_below(&rng, k);
    }
    for (int64_t threads = 1; threads <= 3; threads++) {
        assert_int_equal(clv_affinity_apply(a, x, k, threads == 1 ? one : many, threads), CLV_OK);
        assert_true(threads == 1 || memcmp(one, many, bytes) == 0);
    }
    for (int64_t threads = 1; threads <= 3; threads++) {
        assert_int_equal(clv_affinity_group_sums(a, labels, k, threads == 1 ? one : many, threads), CLV_OK);
        assert_true(threads == 1 || memcmp(one, many, bytes) == 0);
    }
    free(x);
    free(one);
    free(many);
    free(labels);
}

static void test_threads(void **state) {
    (void)state;
    problem q = make_problem(700, 3, 12);
    for (int kind = CLV_AFFINITY_GAUSSIAN; kind <= CLV_AFFINITY_LOCAL_KNN; kind++) {
        bool graph = kind == CLV_AFFINITY_KNN || kind == CLV_AFFINITY_LOCAL_KNN;
        if (kind == CLV_AFFINITY_PRECOMPUTED) {
            continue;
        }
        for (int variant = 0; variant < 4; variant++) {
            clv_affinity_options o;
            clv_affinity *a;
            clv_affinity_defaults(&o);
            o.kind = kind;
            o.home =
                (int)point_homes[kind == CLV_AFFINITY_MINIMAX || kind == CLV_AFFINITY_LOCAL ? variant % 3 : variant];
            o.neighbors = 400; /* edges enough for threads */
            if (graph) {
                o.home = CLV_HOME_SPARSE;
            } else if (kind == CLV_AFFINITY_COSINE && o.home == CLV_HOME_COMPUTED) {
                o.home = CLV_HOME_LOWRANK;
            }
            assert_int_equal(clv_affinity_build(ctx, &q.matrix, &o, &a), CLV_OK);
            check_threads(a);
            clv_affinity_free(a);
        }
    }
    free_problem(&q);
}

/* The same numbers as float and as sparse points give the same operator. */
static void test_points_of_other_types(void **state) {
    (void)state;
    problem q = make_problem(70, 5, 99);
    clv_affinity_options o;
    clv_affinity_defaults(&o);
    o.kind = CLV_AFFINITY_GAUSSIAN;
    float *single = malloc((size_t)(q.n * q.p) * sizeof *single);
    int64_t *start = malloc((size_t)(q.n + 1) * sizeof *start);
    int32_t *index = malloc((size_t)(q.n * q.p) * sizeof *index);
    for (int64_t e = 0; e < q.n * q.p; e++) {
        single[e] = (float)q.points[e];
        q.points[e] = (double)single[e];
        index[e] = (int32_t)(e % q.p);
    }
    for (int64_t i = 0; i <= q.n; i++) {
        start[i] = i * q.p;
    }
    clv_matrix as_float = {.rows = q.n, .cols = q.p, .scalar = CLV_F32, .values = single};
    clv_matrix as_csr = {.rows = q.n, .cols = q.p, .values = q.points, .start = start, .index = index};
    clv_rng rng = clv_rng_stream(1, 1);
    o.home = CLV_HOME_DENSE64;
    q.matrix = as_float;
    check_home(&q, &o, &rng);
    q.matrix = as_csr;
    check_home(&q, &o, &rng);
    o.kind = CLV_AFFINITY_COSINE;
    check_home(&q, &o, &rng);
    free(single);
    free(start);
    free(index);
    free_problem(&q);
}

/* --- given matrices --- */

static void fill_symmetric(problem *q, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    for (int64_t i = 0; i < q->n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            q->reference[i * q->n + j] = q->reference[j * q->n + i] = clv_rng_uniform(&rng);
        }
    }
}

static void test_precomputed(void **state) {
    (void)state;
    for (int variant = 0; variant < 8; variant++) {
        problem q = make_problem(131, 1, 5);
        fill_symmetric(&q, 5);
        float *single = malloc((size_t)(q.n * q.n) * sizeof *single);
        double *given = malloc((size_t)(q.n * q.n) * sizeof *given);
        for (int64_t e = 0; e < q.n * q.n; e++) {
            single[e] = (float)q.reference[e];
            given[e] = q.reference[e];
        }
        clv_affinity_options o;
        clv_affinity_defaults(&o);
        o.kind = CLV_AFFINITY_PRECOMPUTED;
        o.zero_diagonal = variant / 2 % 2;
        o.home = variant < 4 ? CLV_HOME_AUTO : CLV_HOME_CUDA;
        clv_matrix matrix = {.rows = q.n, .cols = q.n, .scalar = CLV_F64, .values = given};
        if (variant % 2) {
            matrix.scalar = CLV_F32;
            matrix.values = single;
        }
        for (int64_t i = 0; i < q.n && o.zero_diagonal; i++) {
            q.reference[i * q.n + i] = 0;
        }
        clv_affinity *a;
        clv_rng rng = clv_rng_stream(3, 3);
        assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
        check_all(a, q.reference, variant % 2 ? 1e-6 : tolerance_of(a), &rng);
        clv_affinity_free(a);
        free(single);
        free(given);
        free_problem(&q);
    }
}

/* Sums wider than a strip of columns. */
static void test_many_moves_over_strips(void **state) {
    (void)state;
    problem q = make_problem(2100, 1, 6);
    fill_symmetric(&q, 6);
    clv_affinity_options o;
    clv_affinity *a;
    clv_rng rng = clv_rng_stream(9, 9);
    clv_affinity_defaults(&o);
    o.kind = CLV_AFFINITY_PRECOMPUTED;
    o.zero_diagonal = 1;
    clv_matrix matrix = {.rows = q.n, .cols = q.n, .scalar = CLV_F64, .values = q.reference};
    assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
    check_many_moves(a, rng);
    clv_affinity_free(a);
    free_problem(&q);
}

/* A sparse matrix with its diagonal stored, kept and left out. */
static void test_precomputed_sparse(void **state) {
    int64_t start[] = {0, 2, 4, 7, 8};
    int32_t index[] = {0, 2, 1, 2, 0, 1, 2, 3};
    double values[] = {3, .5, 2, .25, .5, .25, 1, 4};
    double reference[16] = {3, 0, .5, 0, 0, 2, .25, 0, .5, .25, 1, 0, 0, 0, 0, 4};
    clv_matrix matrix = {.rows = 4, .cols = 4, .values = values, .start = start, .index = index};
    clv_affinity_options o;
    clv_rng rng = clv_rng_stream(4, 4);
    (void)state;
    clv_affinity_defaults(&o);
    o.kind = CLV_AFFINITY_PRECOMPUTED;
    for (o.zero_diagonal = 0; o.zero_diagonal < 2; o.zero_diagonal++) {
        clv_affinity *a;
        for (int i = 0; i < 4 && o.zero_diagonal; i++) {
            reference[5 * i] = 0;
        }
        assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
        check_all(a, reference, 1e-15, &rng);
        clv_affinity_free(a);
    }
}

static void test_lowrank_factor(void **state) {
    (void)state;
    problem q = make_problem(90, 4, 8);
    clv_affinity_options o;
    clv_affinity *a;
    clv_rng rng = clv_rng_stream(4, 4);
    clv_affinity_defaults(&o);
    for (int64_t e = 0; e < q.n * q.p; e++) {
        q.points[e] = fabs(q.points[e]);
    }
    for (o.zero_diagonal = 0; o.zero_diagonal < 2; o.zero_diagonal++) {
        for (int64_t i = 0; i < q.n; i++) {
            for (int64_t j = 0; j < q.n; j++) {
                double sum = 0;
                for (int64_t f = 0; f < q.p; f++) {
                    sum += q.points[i * q.p + f] * q.points[j * q.p + f];
                }
                q.reference[i * q.n + j] = i == j && o.zero_diagonal ? 0 : sum;
            }
        }
        assert_int_equal(clv_affinity_lowrank(ctx, &q.matrix, &o, &a), CLV_OK);
        check_all(a, q.reference, 1e-12, &rng);
        clv_affinity_free(a);
    }
    free_problem(&q);
}

/* --- refusals --- */

static void assert_refused(const clv_matrix *matrix, const clv_affinity_options *o, clv_status status,
                           const char *words) {
    clv_affinity *a;
    assert_int_equal(clv_affinity_build(ctx, matrix, o, &a), status);
    assert_null(a);
    if (!strstr(clv_message(ctx), words)) {
        fail_msg("'%s' is not in '%s'", words, clv_message(ctx));
    }
}

static void test_bad_matrices(void **state) {
    (void)state;
    problem q = make_problem(200, 1, 5);
    clv_affinity_options o;
    clv_affinity_defaults(&o);
    o.kind = CLV_AFFINITY_PRECOMPUTED;
    o.threads = 2;
    fill_symmetric(&q, 6);
    clv_matrix matrix = {.rows = q.n, .cols = q.n, .scalar = CLV_F64, .values = q.reference};
    q.reference[150 * q.n + 3] += 1e-3;
    assert_refused(&matrix, &o, CLV_EDATA, "row 4, column 151");
    q.reference[150 * q.n + 3] = q.reference[3 * q.n + 150] = -0.25;
    assert_refused(&matrix, &o, CLV_EDATA, "row 4, column 151 is -0.25");
    q.reference[2 * q.n + 7] = NAN;
    assert_refused(&matrix, &o, CLV_EDATA, "row 3, column 8 is nan");
    matrix.rows = 100;
    assert_refused(&matrix, &o, CLV_EDATA, "100 rows and 200 columns");
    free_problem(&q);
    int64_t start[] = {0, 1, 1};
    int32_t index[] = {1};
    double values[] = {1};
    clv_matrix one_way = {.rows = 2, .cols = 2, .values = values, .start = start, .index = index};
    assert_refused(&one_way, &o, CLV_EDATA, "row 1, column 2 is 1, row 2, column 1 is 0");
}

static void test_budget_chooses_the_home(void **state) {
    (void)state;
    problem q = make_problem(512, 2, 5);
    clv_affinity_options o;
    clv_affinity_info info;
    clv_affinity_defaults(&o);
    int64_t panels = clv_panels_bytes(q.n, q.p), squares = q.n * q.n;
    o.memory = squares * 8 + panels;
    assert_int_equal(clv_affinity_plan(ctx, &q.matrix, &o, &info), CLV_OK);
    assert_string_equal(info.home, clv_home_name(CLV_HOME_DENSE64));
    o.memory--;
    assert_int_equal(clv_affinity_plan(ctx, &q.matrix, &o, &info), CLV_OK);
    assert_string_equal(info.home, clv_home_name(CLV_HOME_DENSE32));
    o.memory = squares * 4;
    assert_int_equal(clv_affinity_plan(ctx, &q.matrix, &o, &info), CLV_OK);
    assert_string_equal(info.home, clv_home_name(CLV_HOME_COMPUTED));
    o.memory = 1000;
    assert_refused(&q.matrix, &o, CLV_ENOMEM, "budget of 1000");
    o.memory = squares * 8;
    o.home = CLV_HOME_DENSE64;
    assert_refused(&q.matrix, &o, CLV_ENOMEM, "dense-f64");
    o.home = CLV_HOME_SPARSE;
    assert_refused(&q.matrix, &o, CLV_EUSAGE, "home = sparse");
    o.home = CLV_HOME_AUTO;
    o.kind = CLV_AFFINITY_KNN;
    o.neighbors = 512;
    assert_refused(&q.matrix, &o, CLV_EUSAGE, "neighbors = 512");
    free_problem(&q);
}

/* The plan says what is then held, and the most that is held on the way. */
static void test_plan_is_true(void **state) {
    (void)state;
    problem q = make_problem(700, 9, 5);
    static const int kinds[] = {CLV_AFFINITY_GAUSSIAN, CLV_AFFINITY_DISTANCE, CLV_AFFINITY_COSINE, CLV_AFFINITY_MINIMAX,
                                CLV_AFFINITY_LOCAL};
    for (int variant = 0; variant < 15; variant++) {
        clv_context *fresh;
        clv_affinity_options o;
        clv_affinity_info plan;
        clv_affinity *a;
        size_t now, peak;
        clv_affinity_defaults(&o);
        o.kind = kinds[variant % 5];
        o.home = (int)point_homes[variant / 5];
        if (o.kind == CLV_AFFINITY_COSINE && o.home == CLV_HOME_COMPUTED) {
            o.home = CLV_HOME_LOWRANK;
        }
        o.threads = 1;
        assert_int_equal(clv_context_new(NULL, &fresh), CLV_OK);
        assert_int_equal(clv_affinity_plan(fresh, &q.matrix, &o, &plan), CLV_OK);
        assert_int_equal(clv_affinity_build(fresh, &q.matrix, &o, &a), CLV_OK);
        clv_context_memory(fresh, &now, &peak);
        assert_in_range(now, plan.bytes, plan.bytes + plan.bytes / 10 + 4096);
        assert_in_range(peak, plan.peak, plan.peak + plan.peak / 10 + 1400000); /* work arrays of the threads */
        clv_affinity_free(a);
        clv_context_free(fresh);
    }
    free_problem(&q);
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

static void test_interrupt(void **state) {
    (void)state;
    problem q = make_problem(300, 3, 5);
    clv_affinity_options o;
    clv_affinity_defaults(&o);
    clv_context_set_interrupt(ctx, stop_at_once, NULL);
    for (int kind = 0; kind < CLV_AFFINITY_PRECOMPUTED; kind++) {
        if (kind != CLV_AFFINITY_COSINE) {
            o.kind = kind;
            assert_refused(&q.matrix, &o, CLV_EINTERRUPTED, "interrupted");
        }
    }
    clv_context_set_interrupt(ctx, NULL, NULL);
    free_problem(&q);
}

/* Views that a program got wrong are refused before they are read. */
static void test_views_that_cannot_be(void **state) {
    double values[] = {1, 2, 3}, x[3] = {1, 1, 1}, y[3];
    int64_t start[] = {0, 1, 2, 3};
    int32_t index[] = {0, 77, 1};
    clv_affinity_options o;
    clv_affinity *a;
    (void)state;
    clv_affinity_defaults(&o);
    o.gamma = 1;
    assert_refused(&(clv_matrix){3, 3, CLV_F64, values, start, index}, &o, CLV_EUSAGE, "column 77 of row 2");
    assert_refused(&(clv_matrix){3, 1, CLV_F64, NULL, NULL, NULL}, &o, CLV_EUSAGE, "no values");
    o.kind = CLV_AFFINITY_PRECOMPUTED;
    assert_refused(&(clv_matrix){3, 3, CLV_F64, values, start, index}, &o, CLV_EUSAGE, "column 77 of row 2");
    o.kind = CLV_AFFINITY_GAUSSIAN;
    assert_int_equal(clv_affinity_build(ctx, &(clv_matrix){3, 1, CLV_F64, values, NULL, NULL}, &o, &a), CLV_OK);
    assert_int_equal(clv_affinity_apply(a, x, -1, y, 1), CLV_EUSAGE);
    assert_int_equal(clv_affinity_combine(a, (int64_t[]){0}, x, -5, y, 1), CLV_EUSAGE);
    clv_affinity_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaussian),
        cmocka_unit_test(test_views_that_cannot_be),
        cmocka_unit_test(test_exponential),
        cmocka_unit_test(test_cosine),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_minimax),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_reason),
        cmocka_unit_test(test_scales_of_equal_points),
        cmocka_unit_test(test_knn),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_points_of_other_types),
        cmocka_unit_test(test_precomputed),
        cmocka_unit_test(test_many_moves_over_strips),
        cmocka_unit_test(test_precomputed_sparse),
        cmocka_unit_test(test_lowrank_factor),
        cmocka_unit_test(test_bad_matrices),
        cmocka_unit_test(test_budget_chooses_the_home),
        cmocka_unit_test(test_plan_is_true),
        cmocka_unit_test(test_interrupt),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
