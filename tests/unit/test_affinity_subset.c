/* Sums of a few columns, compact copies of the operator and the accessors of rows, against single entries: every home
 * and kind, both diagonals, sizes around the tile boundaries, no object, one object, the same object twice. */
#include "affinity/home.h"

#include "entry_of.h"
#include "failing.h"

#include <math.h>

typedef struct sample {
    int64_t n, p;
    double *points; /* n x p */
    double *given;  /* n x n, symmetric, with a diagonal */
    float *single;  /* the same */
    int64_t *start; /* a sparse one, with a diagonal */
    int32_t *index;
    double *weights;
} sample;

static void fill_graph(sample *q) {
    q->start[0] = 0;
    for (int64_t i = 0, at = 0; i < q->n; i++) {
        for (int64_t j = 0; j < q->n; j++) {
            if ((i + j) % 3 == 0 || i == j) {
                q->index[at] = (int32_t)j;
                q->weights[at++] = q->given[i * q->n + j];
            }
        }
        q->start[i + 1] = at;
    }
}

static sample new_sample(int64_t n, int64_t p) {
    sample q = {.n = n, .p = p};
    clv_rng rng = clv_rng_stream(77, (uint64_t)n);
    size_t squares = (size_t)(n * n);
    q.points = calloc((size_t)(n * p), sizeof *q.points);
    q.given = calloc(squares, sizeof *q.given);
    q.single = calloc(squares, sizeof *q.single);
    q.start = calloc((size_t)n + 1, sizeof *q.start);
    q.index = calloc(squares, sizeof *q.index);
    q.weights = calloc(squares, sizeof *q.weights);
    for (int64_t e = 0; e < n * p; e++) {
        q.points[e] = clv_rng_normal(&rng);
    }
    for (int64_t f = 0; f < p && n > 3; f++) {
        q.points[2 * p + f] = q.points[f];
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            q.given[i * n + j] = q.given[j * n + i] = clv_rng_uniform(&rng) + (i == j ? 1e6 : 0);
        }
    }
    for (int64_t e = 0; e < n * n; e++) {
        q.single[e] = (float)q.given[e];
    }
    fill_graph(&q);
    return q;
}

static void free_sample(sample *q) {
    free(q->points);
    free(q->given);
    free(q->single);
    free(q->start);
    free(q->index);
    free(q->weights);
}

static const struct {
    clv_affinity_kind kind;
    clv_home home;
} variants[] = {
    {CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE64},    {CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE32},
    {CLV_AFFINITY_GAUSSIAN, CLV_HOME_COMPUTED},   {CLV_AFFINITY_EXPONENTIAL, CLV_HOME_COMPUTED},
    {CLV_AFFINITY_DISTANCE, CLV_HOME_COMPUTED},   {CLV_AFFINITY_COSINE, CLV_HOME_LOWRANK},
    {CLV_AFFINITY_COSINE, CLV_HOME_DENSE64},      {CLV_AFFINITY_MINIMAX, CLV_HOME_COMPUTED},
    {CLV_AFFINITY_KNN, CLV_HOME_SPARSE},          {CLV_AFFINITY_PRECOMPUTED, CLV_HOME_DENSE64},
    {CLV_AFFINITY_PRECOMPUTED, CLV_HOME_DENSE32}, {CLV_AFFINITY_PRECOMPUTED, CLV_HOME_SPARSE},
    {CLV_AFFINITY_GAUSSIAN, CLV_HOME_LOWRANK},    {CLV_AFFINITY_LOCAL, CLV_HOME_COMPUTED},
    {CLV_AFFINITY_LOCAL, CLV_HOME_DENSE64},       {CLV_AFFINITY_LOCAL_KNN, CLV_HOME_SPARSE},
    {CLV_AFFINITY_GAUSSIAN, CLV_HOME_CUDA},       {CLV_AFFINITY_EXPONENTIAL, CLV_HOME_CUDA},
    {CLV_AFFINITY_COSINE, CLV_HOME_CUDA},         {CLV_AFFINITY_PRECOMPUTED, CLV_HOME_CUDA},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

static clv_matrix input_of(const sample *q, int v) {
    clv_matrix points = {.rows = q->n, .cols = q->p, .values = q->points};
    clv_matrix dense = {.rows = q->n, .cols = q->n, .values = q->given};
    clv_matrix single = {.rows = q->n, .cols = q->n, .scalar = CLV_F32, .values = q->single};
    clv_matrix graph = {.rows = q->n, .cols = q->n, .values = q->weights, .start = q->start, .index = q->index};
    if (variants[v].kind != CLV_AFFINITY_PRECOMPUTED) {
        return points;
    }
    return variants[v].home == CLV_HOME_SPARSE ? graph : variants[v].home == CLV_HOME_DENSE32 ? single : dense;
}

static clv_status build(clv_context *ctx, const sample *q, int v, int zero_diagonal, clv_affinity **out) {
    clv_affinity_options o;
    clv_matrix input = input_of(q, v);
    clv_affinity_defaults(&o);
    o.kind = variants[v].kind;
    o.home = variants[v].home;
    o.zero_diagonal = zero_diagonal;
    o.neighbors = q->n > 9 ? 5 : 1;
    o.landmarks = o.kind == CLV_AFFINITY_GAUSSIAN && o.home == CLV_HOME_LOWRANK ? (q->n + 2) / 3 : 0;
    o.threads = 2;
    return clv_affinity_build(ctx, &input, &o, out);
}

/* A nearest neighbor graph and local scales need a neighbor. */
static bool possible(const sample *q, int v) {
    clv_affinity_kind kind = variants[v].kind;
    return q->n > 1 || (kind != CLV_AFFINITY_KNN && kind != CLV_AFFINITY_LOCAL && kind != CLV_AFFINITY_LOCAL_KNN);
}

/* --- sums --- */

/* Every step-th sum. */
static void assert_sums(const clv_affinity *a, const int64_t *objects, const double *w, int64_t count, const double *y,
                        int64_t step) {
    for (int64_t i = 0; i < clv_affinity_size(a); i += step) {
        double sum = 0, size = 0;
        for (int64_t m = 0; m < count; m++) {
            double term = w[m] * entry_of(a, i, objects[m]);
            sum += term;
            size += fabs(term);
        }
        if (strcmp(a->info.home, "low-rank") == 0 || a->info.kind == CLV_AFFINITY_COSINE) {
            size += (double)count; /* the diagonal is taken out again; 1 + cos may be near 0 */
        }
        if (!(fabs(y[i] - sum) <= 1e-13 * size)) {
            fail_msg("sum %lld of %lld columns is %.17g and should be %.17g", (long long)i, (long long)count, y[i],
                     sum);
        }
    }
}

static const int64_t counts[] = {0, 1, 2, 4, 5, 7, 63, 64, 65, 130, 200};

/* Some objects come twice; `sign` also lets weights be negative or 0. */
static void check_sums(const clv_affinity *a, bool sign) {
    int64_t n = clv_affinity_size(a), objects[200];
    double w[200], *y = malloc((size_t)n * sizeof *y), *again = malloc((size_t)n * sizeof *again);
    clv_rng rng = clv_rng_stream(5, (uint64_t)n);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (int64_t m = 0; m < counts[c]; m++) {
            objects[m] = m % 10 == 9 ? objects[m - 1] : clv_rng_below(&rng, n);
            w[m] = clv_rng_uniform(&rng) - (sign ? 0.5 : 0);
            w[m] = sign && m % 7 == 6 ? 0 : w[m];
        }
        assert_int_equal(clv_affinity_combine(a, objects, w, counts[c], y, 1), CLV_OK);
        assert_sums(a, objects, w, counts[c], y, 1);
        assert_int_equal(clv_affinity_combine(a, objects, w, counts[c], again, 3), CLV_OK);
        assert_memory_equal(y, again, (size_t)n * sizeof *y);
    }
    free(y);
    free(again);
}

static void check_restricted_sums(const clv_affinity *a) {
    int64_t n = clv_affinity_size(a), m = 0, *active = malloc((size_t)n * sizeof *active);
    clv_affinity *some;
    for (int64_t i = n - 1; i >= 0; i -= 2) {
        active[m++] = i;
    }
    assert_int_equal(clv_affinity_restrict(a, active, m, &some), CLV_OK);
    check_sums(some, true);
    clv_affinity_free(some);
    free(active);
}

static const int64_t sizes[][2] = {{1, 2}, {2, 1}, {3, 2}, {17, 3}, {64, 2}, {65, 7}, {150, 70}};

/* Run a check on every home of every size and with both diagonals. */
static void on_every_home(void (*check)(const clv_affinity *a)) {
    clv_context *ctx = new_context();
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        sample q = new_sample(sizes[s][0], sizes[s][1]);
        for (int v = 0; v < 2 * VARIANTS; v++) {
            clv_affinity *a;
            if (possible(&q, v / 2)) {
                if (build(ctx, &q, v / 2, v % 2, &a) != CLV_OK) {
                    fail_msg("%s", clv_message(ctx));
                }
                check(a);
                clv_affinity_free(a);
            }
        }
        free_sample(&q);
    }
    end_context(ctx);
}

static void check_all_sums(const clv_affinity *a) {
    check_sums(a, false);
    check_sums(a, true);
    check_restricted_sums(a);
}

static void test_sums(void **state) {
    (void)state;
    on_every_home(check_all_sums);
}

/* So many objects that threads are used, and more than a strip of columns. */
static void test_threads(void **state) {
    enum { N = 2300, COUNT = 150 };
    clv_context *ctx = new_context();
    sample q = new_sample(N, 3);
    (void)state;
    for (int v = 0; v < 2 * VARIANTS; v++) {
        clv_affinity *a;
        static double y[N], again[N], w[COUNT];
        int64_t objects[COUNT];
        clv_rng rng = clv_rng_stream(6, 6);
        assert_int_equal(build(ctx, &q, v / 2, v % 2, &a), CLV_OK);
        for (int64_t m = 0; m < COUNT; m++) {
            objects[m] = clv_rng_below(&rng, N);
            w[m] = clv_rng_normal(&rng);
        }
        a->info.nonzeros = (int64_t)N * N; /* threads also for few edges */
        assert_int_equal(clv_affinity_combine(a, objects, w, COUNT, y, 1), CLV_OK);
        assert_sums(a, objects, w, COUNT, y, 97);
        for (int64_t threads = 2; threads <= 3; threads++) {
            assert_int_equal(clv_affinity_combine(a, objects, w, COUNT, again, threads), CLV_OK);
            assert_memory_equal(y, again, sizeof y);
        }
        clv_affinity_free(a);
    }
    free_sample(&q);
    end_context(ctx);
}

/* Columns of many points: the same bits with threads. */
static void test_long_columns(void **state) {
    enum { N = 33000 };
    clv_context *ctx = new_context();
    static double points[N], one[N], many[N];
    clv_affinity_options o;
    clv_affinity *a;
    clv_rng rng = clv_rng_stream(8, 8);
    (void)state;
    for (int64_t i = 0; i < N; i++) {
        points[i] = clv_rng_normal(&rng);
    }
    clv_affinity_defaults(&o);
    o.home = CLV_HOME_COMPUTED;
    o.zero_diagonal = 1;
    assert_int_equal(clv_affinity_build(ctx, &(clv_matrix){.rows = N, .cols = 1, .values = points}, &o, &a), CLV_OK);
    for (int64_t i = 0; i < N; i += N - 1) {
        assert_int_equal(clv_affinity_column(a, i, one), CLV_OK);
        assert_true(one[i] == 0 && one[N / 2] == entry_of(a, i, N / 2));
        for (int64_t threads = 1; threads <= 3; threads++) {
            memset(many, 0xff, sizeof many);
            assert_int_equal(clv_affinity_column_threads(a, i, many, threads), CLV_OK);
            assert_memory_equal(one, many, sizeof one);
        }
    }
    clv_affinity_free(a);
    end_context(ctx);
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

static void check_interrupt(const clv_affinity *a) {
    double *y = malloc((size_t)clv_affinity_size(a) * sizeof *y);
    const int64_t objects[] = {0, 0, 0, 0, 0, 0};
    const double w[] = {1, 2, 3, 4, 5, 6};
    clv_context_set_interrupt(a->ctx, stop_at_once, NULL);
    assert_int_equal(clv_affinity_combine(a, objects, w, 6, y, 2), CLV_EINTERRUPTED);
    clv_context_set_interrupt(a->ctx, NULL, NULL);
    free(y);
}

static void test_interrupt(void **state) {
    (void)state;
    on_every_home(check_interrupt);
}

/* --- copies --- */

static void assert_copy(const clv_affinity *base, const int64_t *objects, int64_t m, const clv_affinity *some) {
    clv_affinity_info info, of_base;
    double *column = malloc((size_t)m * sizeof *column);
    clv_affinity_describe(some, &info);
    clv_affinity_describe(base, &of_base);
    assert_true(info.n == m && info.kind == of_base.kind && info.home == of_base.home);
    assert_true(info.gamma == of_base.gamma || isnan(of_base.gamma));
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++) {
            double expected = entry_of(base, objects[i], objects[j]);
            assert_true(entry_of(some, i, j) == expected);
        }
        assert_int_equal(clv_affinity_column(some, i, column), CLV_OK);
        for (int64_t j = 0; j < m; j++) {
            double expected = entry_of(some, i, j);
            assert_true(fabs(column[j] - expected) <= 1e-14 * fmax(1, expected));
        }
    }
    free(column);
}

/* m of the objects in a random order (ascending when m is odd), and again some of those. */
static void check_copy_of(const clv_affinity *a, int64_t m) {
    int64_t n = clv_affinity_size(a), *objects = malloc((size_t)n * sizeof *objects);
    clv_rng rng = clv_rng_stream(13, (uint64_t)m);
    clv_affinity *some, *fewer;
    for (int64_t i = 0; i < n; i++) {
        objects[i] = m % 2 ? i + n - m : i;
    }
    if (m % 2 == 0) {
        clv_rng_shuffle(&rng, objects, n);
    }
    assert_int_equal(clv_affinity_subset(a, objects, m, &some), CLV_OK);
    assert_copy(a, objects, m, some);
    if (m > 0) {
        check_sums(some, true);
        for (int64_t i = 0; i < m; i++) {
            objects[i] = m - 1 - i;
        }
        assert_int_equal(clv_affinity_subset(some, objects, (m + 1) / 2, &fewer), CLV_OK);
        assert_copy(some, objects, (m + 1) / 2, fewer);
        clv_affinity_free(fewer);
    }
    clv_affinity_free(some);
    free(objects);
}

static void check_copies(const clv_affinity *a) {
    int64_t n = clv_affinity_size(a);
    if (getenv("CLEAVE_TEST_SMALL")) { /* under tools that make everything slow */
        check_copy_of(a, (n + 1) / 2);
        return;
    }
    for (int64_t m = 0; m <= n; m += m < 4 ? 1 : n / 3 + 1) {
        check_copy_of(a, m);
    }
    check_copy_of(a, n);
}

static void test_copies(void **state) {
    (void)state;
    on_every_home(check_copies);
}

/* A copy of a restricted operator is one of its base. */
static void check_copy_of_restricted(const clv_affinity *a) {
    const int64_t active[] = {16, 3, 2, 9, 0, 11, 5}, objects[] = {5, 0, 3};
    clv_affinity *restricted, *some;
    if (clv_affinity_size(a) < 17) {
        return;
    }
    assert_int_equal(clv_affinity_restrict(a, active, 7, &restricted), CLV_OK);
    assert_int_equal(clv_affinity_subset(restricted, objects, 3, &some), CLV_OK);
    clv_affinity_free(restricted);
    assert_copy(a, (const int64_t[]){11, 16, 9}, 3, some);
    clv_affinity_free(some);
}

static void test_copies_of_restricted(void **state) {
    (void)state;
    on_every_home(check_copy_of_restricted);
}

/* A copy says how much it holds, and one of n^2 numbers must fit the budget. */
static void test_bytes(void **state) {
    clv_context *ctx = new_context();
    sample q = new_sample(70, 3);
    (void)state;
    for (int v = 0; v < VARIANTS; v++) {
        const int64_t objects[] = {4, 8, 2, 60};
        clv_affinity *a, *some;
        size_t before, after, peak;
        assert_int_equal(build(ctx, &q, v, 1, &a), CLV_OK);
        clv_context_memory(ctx, &before, &peak);
        assert_int_equal(clv_affinity_subset(a, objects, 4, &some), CLV_OK);
        clv_context_memory(ctx, &after, &peak);
        assert_int_equal(some->info.bytes, after - before);
        clv_affinity_free(some);
        clv_matrix stored;
        if (clv_affinity_view(a, &stored) && !clv_is_sparse(&stored)) {
            a->budget = before + 16 * sizeof(double);
            assert_int_equal(clv_affinity_subset(a, objects, 4, &some), CLV_ENOMEM);
            assert_null(some);
            assert_non_null(strstr(clv_message(ctx), "4 objects"));
        }
        clv_affinity_free(a);
    }
    free_sample(&q);
    end_context(ctx);
}

/* --- the matrix where it lies --- */

/* Row i of a view holds the entries, but for a diagonal that does not count. */
static void check_row(const clv_affinity *a, const clv_matrix *stored, int64_t i) {
    double *row = test_calloc((size_t)stored->cols, sizeof *row);
    clv_matrix_row(stored, i, row);
    for (int64_t j = 0; j < stored->cols; j++) {
        bool counts = i != j || clv_affinity_has_diagonal(a);
        assert_true(entry_of(a, i, j) == (counts ? row[j] : 0));
    }
    test_free(row);
}

static void check_rows_of_all(const clv_affinity *a) {
    const int64_t active[] = {0};
    clv_affinity_info info;
    clv_affinity *restricted;
    clv_matrix stored;
    clv_affinity_describe(a, &info);
    bool seen = clv_affinity_view(a, &stored);
    assert_int_equal(seen, info.cost.resident);
    assert_int_equal(clv_is_sparse(&stored), info.sparse);
    assert_int_equal(stored.rows, seen ? info.n : 0);
    for (int64_t i = 0; i < stored.rows; i++) {
        check_row(a, &stored, i);
    }
    assert_int_equal(clv_affinity_restrict(a, active, 1, &restricted), CLV_OK);
    assert_false(clv_affinity_view(restricted, &stored));
    clv_affinity_free(restricted);
}

static void test_rows(void **state) {
    (void)state;
    on_every_home(check_rows_of_all);
}

/* --- memory --- */

typedef struct attempt {
    const sample *q;
    int variant;
} attempt;

static clv_status use_all(clv_context *ctx, void *user) {
    const attempt *try = user;
    const int64_t active[] = {16, 3, 2, 9, 0, 11, 5}, objects[] = {5, 0, 3, 3, 1};
    const double w[] = {1, 2, 3, 4, 5};
    clv_affinity *a = NULL, *restricted = NULL, *some = NULL;
    int64_t many[70];
    double y[70], weights[70];
    for (int64_t m = 0; m < 70; m++) {
        many[m] = m;
        weights[m] = 1;
    }
    clv_status status = build(ctx, try->q, try->variant, 1, &a);
    status = status ? status : clv_affinity_combine(a, many, weights, 70, y, 1);
    status = status ? status : clv_affinity_restrict(a, active, 7, &restricted);
    status = status ? status : clv_affinity_combine(restricted, objects, w, 5, y, 1);
    status = status ? status : clv_affinity_subset(restricted, objects, 3, &some);
    clv_affinity_free(some);
    clv_affinity_free(restricted);
    clv_affinity_free(a);
    return status;
}

static void test_failing_memory(void **state) {
    sample q = new_sample(70, 3);
    (void)state;
    for (int v = 0; v < VARIANTS; v++) {
        assert_true(check_every_failure(use_all, &(attempt){&q, v}) > 6);
    }
    free_sample(&q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),      cmocka_unit_test(test_threads), cmocka_unit_test(test_long_columns),
        cmocka_unit_test(test_interrupt), cmocka_unit_test(test_copies),  cmocka_unit_test(test_copies_of_restricted),
        cmocka_unit_test(test_bytes),     cmocka_unit_test(test_rows),    cmocka_unit_test(test_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
