/* Similarities of new points to old ones, against the definitions; new points that equal old ones get their rows of the
 * affinity; double, float and sparse points; the same bits on any number of threads. */
#include "affinity/affinity.h"

#include "failing.h"

#include <math.h>

enum { OLD = 131, FRESH = 70, FEATURES = 5 };

static double old_points[OLD * FEATURES], new_points[FRESH * FEATURES];
static clv_matrix old = {.rows = OLD, .cols = FEATURES, .scalar = CLV_F64, .values = old_points};
static clv_matrix fresh = {.rows = FRESH, .cols = FEATURES, .scalar = CLV_F64, .values = new_points};

/* Numbers that a float holds, so that float points are the same; the first few new points are old ones. */
static void draw_points(void) {
    clv_rng rng = clv_rng_stream(21, 0);
    for (int64_t e = 0; e < OLD * FEATURES; e++) {
        old_points[e] = (double)(float)clv_rng_normal(&rng);
    }
    for (int64_t e = 0; e < FRESH * FEATURES; e++) {
        new_points[e] = e < 3 * FEATURES ? old_points[e + FEATURES] : (double)(float)(2 * clv_rng_normal(&rng));
    }
    for (int64_t f = 0; f < FEATURES; f++) {
        new_points[5 * FEATURES + f] = 0;
    }
}

static double distance(const double *x, const double *y) {
    double sum = 0;
    for (int64_t f = 0; f < FEATURES; f++) {
        sum += (x[f] - y[f]) * (x[f] - y[f]);
    }
    return sqrt(sum);
}

static double cosine(const double *x, const double *y) {
    double dot = 0, left = 0, right = 0;
    for (int64_t f = 0; f < FEATURES; f++) {
        dot += x[f] * y[f];
        left += x[f] * x[f];
        right += y[f] * y[f];
    }
    return left > 0 && right > 0 ? dot / sqrt(left * right) : 0;
}

static double largest_distance(void) {
    double top = 0;
    for (int64_t i = 0; i < OLD; i++) {
        for (int64_t j = 0; j < i; j++) {
            top = fmax(top, distance(old_points + i * FEATURES, old_points + j * FEATURES));
        }
    }
    return top;
}

/* Whether fewer than k old points are nearer to x than j is, ties by number. */
static bool is_near(const double *x, int64_t j, int64_t k) {
    int64_t nearer = 0;
    double dj = distance(x, old_points + j * FEATURES);
    for (int64_t m = 0; m < OLD; m++) {
        double dm = distance(x, old_points + m * FEATURES);
        nearer += m != j && (dm < dj || (dm == dj && m < j));
    }
    return nearer < k;
}

/* The distance from x to the k-th nearest old point that is not x itself. */
static double scale_of(const double *x, int64_t k) {
    bool known = false;
    for (int64_t j = 0; j < OLD; j++) {
        known = known || distance(x, old_points + j * FEATURES) <= 0;
    }
    for (int64_t j = 0; j < OLD; j++) {
        if (is_near(x, j, k + known) && !is_near(x, j, k + known - 1)) {
            return distance(x, old_points + j * FEATURES);
        }
    }
    fail();
    return 0;
}

static double expected_entry(const clv_affinity_options *o, double gamma, double top, int64_t i, int64_t j) {
    const double *x = new_points + i * FEATURES, *y = old_points + j * FEATURES;
    double d = distance(x, y);
    switch ((clv_affinity_kind)o->kind) {
    case CLV_AFFINITY_GAUSSIAN:
        return exp(-gamma * d * d);
    case CLV_AFFINITY_EXPONENTIAL:
        return exp(-gamma * d);
    case CLV_AFFINITY_COSINE:
        return 1 + cosine(x, y);
    case CLV_AFFINITY_DISTANCE:
        return fmax(top - d, 0);
    case CLV_AFFINITY_LOCAL:
    case CLV_AFFINITY_LOCAL_KNN:
        return o->kind == CLV_AFFINITY_LOCAL || is_near(x, j, 2 * o->neighbors)
                   ? exp(-gamma * d * d / (scale_of(x, o->neighbors) * scale_of(y, o->neighbors)))
                   : 0;
    default:
        return is_near(x, j, o->neighbors) ? (isnan(gamma) ? 1 : exp(-gamma * d * d)) : 0;
    }
}

static clv_data *cross_of(clv_context *ctx, const clv_affinity *a, const clv_matrix *new_ones) {
    clv_data *out;
    if (clv_affinity_cross(a, new_ones, &out) != CLV_OK) {
        fail_msg("%s", clv_message(ctx));
    }
    assert_int_equal(clv_data_matrix(out)->rows, FRESH);
    assert_int_equal(clv_data_matrix(out)->cols, OLD);
    return out;
}

static void check_entries(const clv_data *got, const clv_affinity_options *o, double gamma) {
    double row[OLD], top = largest_distance();
    for (int64_t i = 0; i < FRESH; i++) {
        clv_matrix_row(clv_data_matrix(got), i, row);
        for (int64_t j = 0; j < OLD; j++) {
            double expected = expected_entry(o, gamma, top, i, j);
            if (!(fabs(row[j] - expected) <= 1e-13 * (1 + top))) {
                fail_msg("kind %d, entry %lld, %lld is %.17g and should be %.17g", o->kind, (long long)i, (long long)j,
                         row[j], expected);
            }
        }
    }
}

/* New points 0, 1, 2 are the old points 1, 2, 3. A neighbor list of a new point has the old one itself first. */
static void check_old_rows(const clv_data *got, const clv_affinity *a) {
    double row[OLD], column[OLD];
    clv_affinity_info info;
    clv_affinity_describe(a, &info);
    for (int64_t i = 0; i < 3 && !info.sparse; i++) {
        clv_matrix_row(clv_data_matrix(got), i, row);
        assert_int_equal(clv_affinity_column(a, i + 1, column), CLV_OK);
        if (info.kind != CLV_AFFINITY_COSINE) {
            assert_memory_equal(row, column, sizeof row);
        }
        for (int64_t j = 0; j < OLD; j++) {
            assert_true(fabs(row[j] - column[j]) < 1e-14);
        }
    }
}

static void assert_same(const clv_data *l, const clv_data *r) {
    double left[OLD], right[OLD];
    for (int64_t i = 0; i < FRESH; i++) {
        clv_matrix_row(clv_data_matrix(l), i, left);
        clv_matrix_row(clv_data_matrix(r), i, right);
        assert_memory_equal(left, right, sizeof left);
    }
}

static const int kinds[] = {CLV_AFFINITY_GAUSSIAN, CLV_AFFINITY_EXPONENTIAL, CLV_AFFINITY_COSINE,
                            CLV_AFFINITY_DISTANCE, CLV_AFFINITY_KNN,         CLV_AFFINITY_LOCAL,
                            CLV_AFFINITY_LOCAL_KNN};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void test_definitions(void **state) {
    clv_context *ctx = new_context();
    (void)state;
    for (int variant = 0; variant < 2 * KINDS; variant++) {
        clv_affinity_options o;
        clv_affinity_info info;
        clv_affinity *a;
        clv_affinity_defaults(&o);
        o.kind = kinds[variant / 2];
        o.gamma = variant % 2 ? 0.3 : (double)NAN;
        o.neighbors = 7;
        o.threads = 1;
        assert_int_equal(clv_affinity_build(ctx, &old, &o, &a), CLV_OK);
        clv_affinity_describe(a, &info);
        clv_data *got = cross_of(ctx, a, &fresh);
        assert_int_equal(clv_is_sparse(clv_data_matrix(got)), info.sparse);
        check_entries(got, &o, info.gamma);
        check_old_rows(got, a);
        o.threads = 3;
        clv_data *again = cross_of(ctx, a, &fresh);
        assert_same(got, again);
        clv_data_free(again);
        clv_data_free(got);
        clv_affinity_free(a);
    }
    end_context(ctx);
}

/* The same numbers as float and sparse points; sparse ones may lack the last columns where these are zero. */
static void test_points_of_other_types(void **state) {
    clv_context *ctx = new_context();
    static float single[FRESH * FEATURES];
    static int64_t start[FRESH + 1];
    static int32_t index[FRESH * FEATURES];
    static double values[FRESH * FEATURES];
    int64_t at = 0;
    (void)state;
    for (int64_t i = 0; i < FRESH; i++) {
        new_points[i * FEATURES + FEATURES - 1] = 0;
        for (int64_t f = 0; f < FEATURES; f++) {
            single[i * FEATURES + f] = (float)new_points[i * FEATURES + f];
            if (new_points[i * FEATURES + f] != 0) {
                index[at] = (int32_t)f;
                values[at++] = new_points[i * FEATURES + f];
            }
        }
        start[i + 1] = at;
    }
    clv_matrix as_float = {.rows = FRESH, .cols = FEATURES, .scalar = CLV_F32, .values = single};
    clv_matrix as_csr = {.rows = FRESH, .cols = FEATURES - 1, .values = values, .start = start, .index = index};
    for (int kind = 0; kind < KINDS; kind++) {
        clv_affinity_options o;
        clv_affinity *a;
        clv_affinity_defaults(&o);
        o.kind = kinds[kind];
        assert_int_equal(clv_affinity_build(ctx, &old, &o, &a), CLV_OK);
        clv_data *plain = cross_of(ctx, a, &fresh);
        clv_data *by_float = cross_of(ctx, a, &as_float), *by_csr = cross_of(ctx, a, &as_csr);
        assert_same(plain, by_float);
        assert_same(plain, by_csr);
        clv_data_free(plain);
        clv_data_free(by_float);
        clv_data_free(by_csr);
        clv_affinity_free(a);
    }
    draw_points();
    end_context(ctx);
}

static void assert_refused(clv_context *ctx, const clv_affinity *a, const clv_matrix *new_ones, clv_status status,
                           const char *words) {
    clv_data *out;
    assert_int_equal(clv_affinity_cross(a, new_ones, &out), status);
    assert_null(out);
    if (!strstr(clv_message(ctx), words)) {
        fail_msg("'%s' is not in '%s'", words, clv_message(ctx));
    }
}

static void test_refusals(void **state) {
    clv_context *ctx = new_context();
    clv_affinity_options o;
    clv_affinity *a, *part;
    clv_matrix narrow = fresh;
    const int64_t some = 3;
    (void)state;
    clv_affinity_defaults(&o);
    assert_int_equal(clv_affinity_build(ctx, &old, &o, &a), CLV_OK);
    narrow.cols--;
    assert_refused(ctx, a, &narrow, CLV_EDATA, "4 columns, but the old ones have 5");
    assert_int_equal(clv_affinity_restrict(a, &some, 1, &part), CLV_OK);
    assert_refused(ctx, part, &fresh, CLV_EUSAGE, "some of the objects");
    clv_affinity_free(part);
    clv_affinity_free(a);
    o.home = CLV_HOME_COMPUTED;
    o.memory = 8 * OLD * FRESH;
    assert_int_equal(clv_affinity_build(ctx, &old, &o, &a), CLV_OK);
    assert_refused(ctx, a, &fresh, CLV_ENOMEM, "budget");
    clv_affinity_free(a);
    clv_affinity_defaults(&o);
    o.kind = CLV_AFFINITY_MINIMAX;
    assert_int_equal(clv_affinity_build(ctx, &old, &o, &a), CLV_OK);
    assert_refused(ctx, a, &fresh, CLV_EUSAGE, "minimax affinity cannot be extended to new points");
    clv_affinity_free(a);
    clv_affinity_defaults(&o);
    assert_int_equal(clv_affinity_lowrank(ctx, &old, &o, &a), CLV_OK);
    assert_refused(ctx, a, &fresh, CLV_EUSAGE, "given affinity");
    clv_affinity_free(a);
    end_context(ctx);
}

static clv_status build_and_cross(clv_context *ctx, void *user) {
    clv_affinity_options o;
    clv_affinity *a;
    clv_data *out = NULL;
    clv_affinity_defaults(&o);
    o.kind = *(const int *)user;
    CLV_TRY(clv_affinity_build(ctx, &old, &o, &a));
    clv_status status = clv_affinity_cross(a, &fresh, &out);
    clv_data_free(out);
    clv_affinity_free(a);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        int given = kinds[kind];
        assert_in_range(check_every_failure(build_and_cross, &given), 7, 60);
    }
}

static int set_up(void **state) {
    (void)state;
    draw_points();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_points_of_other_types),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
