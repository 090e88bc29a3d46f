/* New objects and dominant sets: the rule written out, on similarities of every storage and on points; the objective
 * that a new object raises or not, by finite differences. */
#include "affinity/affinity.h"
#include "methods/dominant/dominant.h"

#include "entry_of.h"
#include "failing.h"

#include <math.h>

enum { N = 60, M = 80, K = 3, FEATURES = 2 };

/* --- a result as the method leaves it --- */

/* Weights x (K x N) as N x K compressed rows. */
typedef struct sparse_weights {
    int64_t start[N + 1];
    int32_t index[K * N];
    double values[K * N];
} sparse_weights;

static clv_matrix weigh(const double *x, sparse_weights *out) {
    int64_t at = out->start[0] = 0;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t c = 0; c < K; c++) {
            if (x[c * N + i] > 0) {
                out->index[at] = (int32_t)c;
                out->values[at++] = x[c * N + i];
            }
        }
        out->start[i + 1] = at;
    }
    return (clv_matrix){.rows = N, .cols = K, .values = out->values, .start = out->start, .index = out->index};
}

static clv_status put_cohesiveness(clv_result *result, const double *f, int64_t count) {
    return clv_result_put_reals(result, "clusters.cohesiveness", f, count);
}

static clv_status new_result(clv_context *ctx, const double *x, const double *f, clv_result **out) {
    sparse_weights room;
    clv_matrix membership = weigh(x, &room);
    CLV_TRY(clv_result_new(ctx, N, K, out));
    clv_status status = clv_result_put(
        *out, &(clv_field){.name = "membership", .kind = CLV_FIELD_SPARSE, .count = 1, .matrix = &membership});
    if (status == CLV_OK) {
        status = put_cohesiveness(*out, f, K);
    }
    if (status < 0) {
        clv_result_free(*out);
        *out = NULL;
    }
    return status;
}

/* How a prediction is asked for. */
typedef struct way {
    double shift;
    int nearest;
    int64_t threads;
} way;

static clv_status predict(clv_context *ctx, const clv_affinity *a, const clv_result *result, const clv_fresh *fresh,
                          way how, int32_t *out) {
    clv_dominant_options options;
    clv_result *made;
    clv_dominant_defaults(&options);
    options.shift = how.shift;
    options.assign = how.nearest;
    options.control.threads = how.threads;
    clv_status status = clv_dominant_predict(ctx, &(clv_input){.affinity = a}, &options, result, fresh, &made);
    if (status == CLV_OK) {
        memcpy(out, made->labels, (size_t)made->n * sizeof *out);
    } else {
        assert_null(made);
    }
    clv_result_free(made);
    return status;
}

/* From similarities: the old objects themselves are not needed. */
static clv_status predict_from(clv_context *ctx, const clv_result *result, const clv_matrix *cross, way how,
                               int32_t *out) {
    return predict(ctx, NULL, result, &(clv_fresh){.similarities = cross}, how, out);
}

static clv_status predict_points(clv_context *ctx, const clv_affinity *a, const clv_result *result,
                                 const clv_matrix *points, way how, int32_t *out) {
    return predict(ctx, a, result, &(clv_fresh){.points = points}, how, out);
}

/* Weights that add up to 1 on a few objects of each cluster; clusters share none. */
static void draw_weights(double *x, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 1);
    memset(x, 0, sizeof(double) * K * N);
    for (int64_t c = 0; c < K; c++) {
        double sum = 0;
        for (int64_t i = c; i < N; i += 2 * K) {
            x[c * N + i] = 0.1 + clv_rng_uniform(&rng);
            sum += x[c * N + i];
        }
        for (int64_t i = 0; i < N; i++) {
            x[c * N + i] /= sum;
        }
    }
}

/* --- the rule --- */

static double similar_to(const double *row, const double *x) {
    double r = 0;
    for (int64_t j = 0; j < N; j++) {
        r += row[j] * x[j];
    }
    return r;
}

static void check_label(const double *row, const double *x, const double *f, double shift, int nearest, int32_t got) {
    int32_t accepted = -1, near = -1;
    double surplus[K], r[K];
    for (int32_t c = 0; c < K; c++) {
        r[c] = similar_to(row, x + c * N);
        surplus[c] = r[c] + shift - f[c];
        if (r[c] > 0 && surplus[c] >= 0 && accepted < 0) {
            accepted = c;
        }
        if (r[c] > 0 && (near < 0 || r[c] > r[near])) {
            near = c;
        }
    }
    assert_int_equal(got, accepted >= 0 || !nearest ? accepted : near);
}

static void draw_cross(double *cross, float *single, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 2);
    for (int64_t e = 0; e < M * N; e++) {
        int64_t like = e / N % (K + 2); /* of cluster 0.. K - 1, of none, of all */
        double level = like == K + 1 || like == e % N % K ? 1 : 0.3;
        single[e] = e / N % 16 == 15 ? 0 : (float)(level * clv_rng_uniform(&rng));
        cross[e] = (double)single[e];
    }
}

static void to_csr(const double *dense, int64_t *start, int32_t *index, double *values) {
    int64_t at = start[0] = 0;
    for (int64_t e = 0; e < M * N; e++) {
        if (dense[e] > 0) {
            index[at] = (int32_t)(e % N);
            values[at++] = dense[e];
        }
        start[e / N + 1] = at;
    }
}

static void test_rule(void **state) {
    clv_context *ctx = new_context();
    static double x[K * N], cross[M * N], values[M * N];
    static float single[M * N];
    static int64_t start[M + 1];
    static int32_t index[M * N];
    const clv_matrix storages[] = {
        {.rows = M, .cols = N, .scalar = CLV_F64, .values = cross},
        {.rows = M, .cols = N, .scalar = CLV_F32, .values = single},
        {.rows = M, .cols = N, .values = values, .start = start, .index = index},
    };
    int64_t outcomes[2] = {0};
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        double shift = seed % 3 == 0 ? 0 : 2.5, f[K] = {shift + 0.4, shift + 0.35, shift + 0.38};
        clv_result *result;
        draw_weights(x, seed);
        draw_cross(cross, single, seed);
        to_csr(cross, start, index, values);
        assert_int_equal(new_result(ctx, x, f, &result), CLV_OK);
        for (int run = 0; run < 12; run++) {
            int32_t out[M];
            int nearest = run % 2;
            memset(out, 0x55, sizeof out);
            way how = {shift, nearest, 1 + run / 2 % 2 * 2};
            assert_int_equal(predict_from(ctx, result, &storages[run / 4], how, out), CLV_OK);
            for (int64_t m = 0; m < M; m++) {
                check_label(cross + m * N, x, f, shift, nearest, out[m]);
                outcomes[out[m] >= 0] += !nearest;
            }
        }
        clv_result_free(result);
    }
    assert_true(outcomes[0] > 1000 && outcomes[1] > 1000); /* both happen often */
    end_context(ctx);
}

/* Accepted are those that raise the objective: f of the old weights and a little weight on the new object, computed
 * from the extended matrix. */
static void test_objective(void **state) {
    clv_context *ctx = new_context();
    static double w[(N + 1) * (N + 1)], x[K * N];
    const double step = 1e-5, alpha = 1.5;
    int64_t raised = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        clv_rng rng = clv_rng_stream(seed, 3);
        double f[K] = {1e9, 0, 1e9}, moved = 0, y[N + 1]; /* nobody joins the clusters 0 and 2 */
        clv_result *result;
        int32_t out;
        draw_weights(x, seed);
        for (int64_t i = 0; i <= N; i++) {
            for (int64_t j = 0; j < i; j++) {
                w[i * (N + 1) + j] = w[j * (N + 1) + i] = (i < N ? 1 : (double)seed / 30) * clv_rng_uniform(&rng);
            }
            w[i * (N + 1) + i] = -alpha;
            y[i] = i < N ? (1 - step) * x[N + i] : step;
        }
        for (int64_t e = 0; e < (N + 1) * (N + 1); e++) {
            int64_t i = e / (N + 1), j = e % (N + 1);
            f[1] += i < N && j < N ? x[N + i] * x[N + j] * (w[e] + alpha) : 0;
            moved += y[i] * y[j] * (w[e] + alpha);
        }
        assert_int_equal(new_result(ctx, x, f, &result), CLV_OK);
        clv_matrix row = {.rows = 1, .cols = N, .scalar = CLV_F64, .values = w + N * (N + 1)};
        assert_int_equal(predict_from(ctx, result, &row, (way){alpha, 0, 1}, &out), CLV_OK);
        if (fabs(moved - f[1]) > 10 * step * step * alpha) { /* the slope decides */
            assert_int_equal(out, moved > f[1] ? 1 : -1);
            raised += moved > f[1];
        }
        clv_result_free(result);
    }
    assert_in_range(raised, 5, 35);
    end_context(ctx);
}

/* Two clusters that mirror each other, on the threshold to rounding; strangers, also where the threshold is below 0. */
static void test_ties_and_strangers(void **state) {
    clv_context *ctx = new_context();
    static double x[K * N], cross[6 * N];
    double f[K] = {0.1 + 0.2, 0.3, 0.9};
    int32_t out[6];
    clv_result *result;
    (void)state;
    x[0 * N + 4] = x[1 * N + 9] = x[2 * N + 20] = 1;
    cross[0 * N + 4] = cross[0 * N + 9] = 0.3;  /* on one threshold, and on the other but for a rounding */
    cross[1 * N + 4] = 0.3 * (1 - 1e-9);        /* below */
    cross[2 * N + 30] = 5;                      /* similar to no member */
    cross[3 * N + 20] = cross[3 * N + 9] = 0.5; /* enough for one of them */
    cross[4 * N + 20] = cross[4 * N + 9] = 0.2; /* for none */
    cross[5 * N + 4] = 0.3;                     /* on the threshold but for a rounding */
    const clv_matrix view = {.rows = 6, .cols = N, .scalar = CLV_F64, .values = cross};
    assert_int_equal(new_result(ctx, x, f, &result), CLV_OK);
    assert_int_equal(predict_from(ctx, result, &view, (way){0, 0, 1}, out), CLV_OK);
    assert_memory_equal(out, ((int32_t[]){0, -1, -1, 1, -1, 0}), sizeof out);
    f[1] = f[0];
    assert_int_equal(put_cohesiveness(result, f, K), CLV_OK);
    assert_int_equal(predict_from(ctx, result, &view, (way){0, 1, 1}, out), CLV_OK);
    assert_memory_equal(out, ((int32_t[]){0, 0, -1, 1, 1, 0}), sizeof out);
    /* All thresholds are below 0. */
    assert_int_equal(predict_from(ctx, result, &view, (way){1, 0, 1}, out), CLV_OK);
    assert_memory_equal(out, ((int32_t[]){0, 0, -1, 1, 1, 0}), sizeof out);
    clv_result_free(result);
    end_context(ctx);
}

static void assert_refused(clv_context *ctx, clv_status got, clv_status expected, const char *words) {
    assert_int_equal(got, expected);
    if (!strstr(clv_message(ctx), words)) {
        fail_msg("'%s' is not in '%s'", words, clv_message(ctx));
    }
}

/* Weights and cohesiveness of as many clusters as there are, the weights as rows of what is not 0. */
static void refuses_incomplete_results(clv_context *ctx, clv_result *result, const clv_matrix *cross) {
    static double whole[N * K];
    const clv_matrix dense = {.rows = N, .cols = K, .values = whole},
                     narrow = {.rows = N, .cols = K - 1, .values = whole};
    clv_field membership = {.name = "membership", .kind = CLV_FIELD_SPARSE, .count = 1, .matrix = &dense};
    const double f[K] = {0};
    int32_t out[M];
    clv_result *bare;
    assert_int_equal(put_cohesiveness(result, f, K - 1), CLV_OK);
    assert_refused(ctx, predict_from(ctx, result, cross, (way){0, 0, 1}, out), CLV_EUSAGE, "cohesiveness");
    assert_int_equal(put_cohesiveness(result, f, K), CLV_OK);
    assert_int_equal(clv_result_put(result, &membership), CLV_OK);
    assert_refused(ctx, predict_from(ctx, result, cross, (way){0, 0, 1}, out), CLV_EUSAGE, "sparse membership");
    membership.matrix = &narrow;
    assert_int_equal(clv_result_put(result, &membership), CLV_OK);
    assert_refused(ctx, predict_from(ctx, result, cross, (way){0, 0, 1}, out), CLV_EDATA,
                   "membership must be 60 x 3, not 60 x 2");
    assert_int_equal(clv_result_new(ctx, N, K, &bare), CLV_OK);
    assert_refused(ctx, predict_from(ctx, bare, cross, (way){0, 0, 1}, out), CLV_EDATA, "lacks its membership");
    clv_result_free(bare);
}

static void test_refusals(void **state) {
    clv_context *ctx = new_context();
    static double x[K * N], cross[M * N], values[M * N];
    static float single[M * N];
    static int64_t start[M + 1];
    static int32_t index[M * N];
    const double f[K] = {0};
    int32_t out[M];
    clv_result *result;
    clv_matrix dense = {.rows = M, .cols = N, .scalar = CLV_F64, .values = cross}, narrow = dense;
    const clv_matrix csr = {.rows = M, .cols = N, .values = values, .start = start, .index = index};
    (void)state;
    draw_weights(x, 1);
    draw_cross(cross, single, 1);
    assert_int_equal(new_result(ctx, x, f, &result), CLV_OK);
    narrow.cols--;
    assert_refused(ctx, predict_from(ctx, result, &narrow, (way){0, 0, 1}, out), CLV_EDATA,
                   "59 columns, but there are 60 objects");
    to_csr(cross, start, index, values);
    for (int64_t e = start[20]; e < start[21]; e++) {
        values[e] = index[e] == 3 || index[e] == 7 ? (double)NAN : values[e]; /* object 4 is no member */
    }
    cross[50 * N + 6] = -HUGE_VAL;
    cross[20 * N + 3] = cross[20 * N + 7] = -0.25;
    cross[20 * N + 13] = -1;
    for (int threads = 1; threads <= 3; threads++) {
        assert_refused(ctx, predict_from(ctx, result, &dense, (way){0, 0, threads}, out), CLV_EDATA,
                       "new object 21 to object 8 is -0.25");
        assert_refused(ctx, predict_from(ctx, result, &csr, (way){0, 0, threads}, out), CLV_EDATA,
                       "new object 21 to object 8 is nan");
    }
    refuses_incomplete_results(ctx, result, &dense);
    clv_result_free(result);
    end_context(ctx);
}

/* --- from points --- */

static double points[N * FEATURES];
static const clv_matrix old = {.rows = N, .cols = FEATURES, .scalar = CLV_F64, .values = points};

static clv_matrix draw_points(int64_t rows, double *values, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    for (int64_t e = 0; e < rows * FEATURES; e++) {
        values[e] = clv_rng_normal(&rng) + 3 * (double)(e / FEATURES % K);
    }
    return (clv_matrix){.rows = rows, .cols = FEATURES, .scalar = CLV_F64, .values = values};
}

static int set_up(void **state) {
    (void)state;
    draw_points(N, points, 2);
    return 0;
}

static const int kinds[] = {CLV_AFFINITY_GAUSSIAN, CLV_AFFINITY_EXPONENTIAL, CLV_AFFINITY_COSINE, CLV_AFFINITY_DISTANCE,
                            CLV_AFFINITY_KNN};

/* By blocks and similarities to members only as from the whole matrix: so many points that there are several blocks. */
static void test_points_in_blocks(void **state) {
    enum { LOTS = 150000 };
    clv_context *ctx = new_context();
    static double x[K * N];
    double *values = malloc((size_t)LOTS * FEATURES * sizeof *values);
    int32_t *out = malloc(LOTS * sizeof *out), *expected = malloc(LOTS * sizeof *out);
    clv_matrix fresh = draw_points(LOTS, values, 3);
    (void)state;
    draw_weights(x, 7);
    for (int kind = 0; kind < 5; kind++) {
        clv_affinity_options o;
        clv_affinity *a;
        clv_data *cross;
        clv_result *result;
        clv_affinity_defaults(&o);
        o.kind = kinds[kind];
        assert_int_equal(clv_affinity_build(ctx, &old, &o, &a), CLV_OK);
        const double level = entry_of(a, 0, 0) * (kind == 4 ? 0.05 : 0.6), f[K] = {level, level, level};
        assert_int_equal(new_result(ctx, x, f, &result), CLV_OK);
        assert_int_equal(clv_affinity_cross(a, &fresh, &cross), CLV_OK);
        assert_int_equal(predict_from(ctx, result, clv_data_matrix(cross), (way){0, kind % 2, 1}, expected), CLV_OK);
        for (int threads = 1; threads <= 2; threads++) {
            memset(out, 0x55, LOTS * sizeof *out);
            assert_int_equal(predict_points(ctx, a, result, &fresh, (way){0, kind % 2, threads}, out), CLV_OK);
            assert_memory_equal(out, expected, LOTS * sizeof *out);
        }
        clv_data_free(cross);
        clv_result_free(result);
        clv_affinity_free(a);
    }
    free(values);
    free(out);
    free(expected);
    end_context(ctx);
}

/* The columns of a cross that was narrowed are those of the members, whatever panel they lie in. */
static void test_narrow(void **state) {
    enum { TALL = 300 };
    clv_context *ctx = new_context();
    static double many[TALL * FEATURES], values[M * FEATURES];
    clv_matrix all = draw_points(TALL, many, 5), fresh = draw_points(M, values, 6);
    int64_t members[TALL], count = 0;
    (void)state;
    for (int64_t j = 2; j < TALL; j += j < 100 ? 1 : 7) {
        members[count++] = j;
    }
    for (int kind = 0; kind < 5; kind++) {
        clv_affinity_options o;
        clv_affinity *a;
        clv_data *whole, *part;
        clv_cross cross;
        clv_affinity_defaults(&o);
        o.kind = kinds[kind];
        assert_int_equal(clv_affinity_build(ctx, &all, &o, &a), CLV_OK);
        assert_int_equal(clv_affinity_cross(a, &fresh, &whole), CLV_OK);
        assert_int_equal(clv_cross_new(ctx, a, 1, &cross), CLV_OK);
        bool narrowed = clv_cross_narrow(&cross, members, count);
        assert_int_equal(narrowed, kinds[kind] != CLV_AFFINITY_KNN);
        assert_int_equal(clv_cross_rows(&cross, &fresh, 2, &part), CLV_OK);
        assert_int_equal(clv_data_matrix(part)->cols, narrowed ? count : TALL);
        for (int64_t e = 0; narrowed && e < M * count; e++) {
            double expected = ((const double *)whole->values)[e / count * TALL + members[e % count]];
            assert_true(fabs(((const double *)part->values)[e] - expected) <= 1e-14 * expected);
        }
        clv_data_free(whole);
        clv_data_free(part);
        clv_cross_free(&cross);
        clv_affinity_free(a);
    }
    end_context(ctx);
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

static void test_point_refusals(void **state) {
    clv_context *ctx = new_context();
    static double x[K * N], values[M * FEATURES];
    clv_matrix fresh = draw_points(M, values, 4);
    const double f[K] = {0};
    int32_t out[M] = {0};
    clv_affinity_options o;
    clv_affinity *a;
    clv_result *result = NULL;
    (void)state;
    clv_affinity_defaults(&o);
    assert_int_equal(clv_affinity_build(ctx, &old, &o, &a), CLV_OK);
    assert_int_equal(new_result(ctx, x, f, &result), CLV_OK);
    assert_int_equal(predict_points(ctx, a, result, &fresh, (way){0, 1, 1}, out), CLV_OK);
    for (int64_t m = 0; m < M; m++) {
        assert_int_equal(out[m], -1); /* the clusters have no members */
    }
    clv_context_set_interrupt(ctx, stop_at_once, NULL);
    assert_refused(ctx, predict_points(ctx, a, result, &fresh, (way){0, 0, 1}, out), CLV_EINTERRUPTED, "interrupted");
    clv_context_set_interrupt(ctx, NULL, NULL);
    fresh.cols--;
    assert_refused(ctx, predict_points(ctx, a, result, &fresh, (way){0, 0, 1}, out), CLV_EDATA, "1 columns");
    fresh.cols++;
    clv_affinity_free(a);
    clv_matrix few = {.rows = N - 1, .cols = FEATURES, .scalar = CLV_F64, .values = points};
    assert_int_equal(clv_affinity_build(ctx, &few, &o, &a), CLV_OK);
    assert_refused(ctx, predict_points(ctx, a, result, &fresh, (way){0, 0, 1}, out), CLV_EDATA,
                   "the result is of 60 objects, but the affinity is of 59");
    clv_affinity_free(a);
    clv_result_free(result);
    end_context(ctx);
}

static clv_status build_and_predict(clv_context *ctx, void *user) {
    static double x[K * N], values[M * FEATURES];
    clv_matrix fresh = draw_points(M, values, 4);
    const double f[K] = {0.5, 0.5, 0.5};
    int32_t out[M];
    clv_affinity_options o;
    clv_affinity *a;
    clv_result *result = NULL;
    draw_weights(x, 1);
    clv_affinity_defaults(&o);
    o.kind = *(const int *)user;
    CLV_TRY(clv_affinity_build(ctx, &old, &o, &a));
    clv_status status = new_result(ctx, x, f, &result);
    if (status == CLV_OK) {
        status = predict_points(ctx, a, result, &fresh, (way){0, 0, 2}, out);
    }
    clv_result_free(result);
    clv_affinity_free(a);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        int given = kinds[kind];
        assert_in_range(check_every_failure(build_and_predict, &given), 10, 60);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule),
        cmocka_unit_test(test_objective),
        cmocka_unit_test(test_ties_and_strangers),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_points_in_blocks),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_point_refusals),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
