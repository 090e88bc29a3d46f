/* Labels of new objects against formula (28) written out, from matrices of every type and from points; the clustered
 * objects themselves get what a step of fractional programming gives them. */
#include "affinity/affinity.h"

#include "failing.h"

#include <math.h>

enum { N = 90, M = 40, K = 4, FEATURES = 3 };

typedef struct scene {
    double w[N * N], cross[M * N];
    float single[M * N];
    int32_t labels[N];
    clv_matrix given, dense, floats;
} scene;

static void draw(scene *s, uint64_t seed, double density) {
    clv_rng rng = clv_rng_stream(seed, 0);
    for (int64_t i = 0; i < N; i++) {
        s->labels[i] = (int32_t)clv_rng_below(&rng, K + 1) - 1;
        for (int64_t j = 0; j <= i; j++) {
            double value = clv_rng_uniform(&rng) < density ? clv_rng_uniform(&rng) : 0;
            s->w[i * N + j] = s->w[j * N + i] = value;
        }
    }
    for (int64_t e = 0; e < M * N; e++) {
        s->single[e] = clv_rng_uniform(&rng) < density ? (float)clv_rng_uniform(&rng) : 0;
        s->cross[e] = (double)s->single[e];
    }
    s->given = (clv_matrix){.rows = N, .cols = N, .scalar = CLV_F64, .values = s->w};
    s->dense = (clv_matrix){.rows = M, .cols = N, .scalar = CLV_F64, .values = s->cross};
    s->floats = (clv_matrix){.rows = M, .cols = N, .scalar = CLV_F32, .values = s->single};
}

static clv_affinity *build(clv_context *ctx, const clv_matrix *given) {
    clv_affinity_options o;
    clv_affinity *a;
    clv_affinity_defaults(&o);
    o.kind = CLV_AFFINITY_PRECOMPUTED;
    assert_int_equal(clv_affinity_build(ctx, given, &o, &a), CLV_OK);
    return a;
}

/* Labels of new objects by the clusters that `labels` are. */
static clv_status predict(clv_context *ctx, const clv_affinity *a, const int32_t *labels, int64_t k,
                          const clv_fresh *fresh, int64_t threads, int32_t *out) {
    clv_ncut_options options;
    clv_result *result, *made = NULL;
    clv_ncut_defaults(&options);
    options.control.threads = threads;
    CLV_TRY(clv_result_new(ctx, clv_affinity_size(a), k, &result));
    memcpy(result->labels, labels, (size_t)result->n * sizeof *labels);
    clv_status status = clv_ncut_predict(ctx, &(clv_input){.affinity = a}, &options, result, fresh, &made);
    if (status == CLV_OK) {
        memcpy(out, made->labels, (size_t)made->n * sizeof *out);
    } else {
        assert_null(made);
    }
    clv_result_free(made);
    clv_result_free(result);
    return status;
}

static clv_status predict_from(clv_context *ctx, const clv_affinity *a, const int32_t *labels, int64_t k,
                               const clv_matrix *similarities, int64_t threads, int32_t *out) {
    return predict(ctx, a, labels, k, &(clv_fresh){.similarities = similarities}, threads, out);
}

static clv_status predict_points(clv_context *ctx, const clv_affinity *a, const int32_t *labels, int64_t k,
                                 const clv_matrix *fresh, int64_t threads, int32_t *out) {
    return predict(ctx, a, labels, k, &(clv_fresh){.points = fresh}, threads, out);
}

/* mu_c of an object with this row of similarities; -infinity for a cluster without volume. */
static void scores(const double *w, const int32_t *labels, const double *row, double *mu) {
    double degree = 0;
    for (int64_t j = 0; j < N; j++) {
        degree += labels[j] >= 0 ? row[j] : 0;
    }
    for (int32_t c = 0; c < K; c++) {
        double similar = 0, volume = 0, within = 0;
        for (int64_t i = 0; i < N; i++) {
            for (int64_t j = 0; j < N; j++) {
                if (labels[i] == c && labels[j] >= 0) {
                    volume += w[i * N + j];
                    within += labels[j] == c ? w[i * N + j] : 0;
                }
            }
            similar += labels[i] == c ? row[i] : 0;
        }
        mu[c] = volume > 0 ? 2 * similar / volume - degree * within / (volume * volume) : -HUGE_VAL;
    }
}

/* The label has the largest score, up to rounding; none is given only to an object without similarities. */
static void check_label(const double *w, const int32_t *labels, const double *row, int32_t got) {
    double mu[K], degree = 0, best = -HUGE_VAL;
    scores(w, labels, row, mu);
    for (int64_t j = 0; j < N; j++) {
        degree += labels[j] >= 0 ? row[j] : 0;
    }
    if (degree <= 0) {
        assert_int_equal(got, -1);
        return;
    }
    assert_in_range(got, 0, K - 1);
    for (int c = 0; c < K; c++) {
        best = fmax(best, mu[c]);
    }
    assert_true(mu[got] >= best - 1e-13 * (fabs(best) + 1));
}

static void to_csr(const double *dense, int64_t rows, int64_t *start, int32_t *index, double *values) {
    int64_t at = start[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < N; j++) {
            if (dense[i * N + j] > 0) {
                index[at] = (int32_t)j;
                values[at++] = dense[i * N + j];
            }
        }
        start[i + 1] = at;
    }
}

static void test_formula(void **state) {
    clv_context *ctx = new_context();
    static scene s;
    static int64_t start[M + 1];
    static int32_t index[M * N];
    static double values[M * N];
    clv_matrix csr = {.rows = M, .cols = N, .values = values, .start = start, .index = index};
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        int32_t out[M] = {0}, again[M] = {0};
        draw(&s, seed, seed % 3 == 0 ? 0.02 : 0.5);
        for (int64_t i = 0; i < N && seed % 4 == 3; i++) {
            s.labels[i] = s.labels[i] == 2 ? 1 : s.labels[i]; /* nobody is in cluster 2 */
        }
        to_csr(s.cross, M, start, index, values);
        clv_affinity *a = build(ctx, &s.given);
        assert_int_equal(predict_from(ctx, a, s.labels, K, &s.dense, 1, out), CLV_OK);
        for (int64_t m = 0; m < M; m++) {
            check_label(s.w, s.labels, s.cross + m * N, out[m]);
        }
        assert_int_equal(predict_from(ctx, a, s.labels, K, &s.dense, 3, again), CLV_OK);
        assert_memory_equal(out, again, sizeof out);
        assert_int_equal(predict_from(ctx, a, s.labels, K, &s.floats, 2, again), CLV_OK);
        assert_memory_equal(out, again, sizeof out);
        assert_int_equal(predict_from(ctx, a, s.labels, K, &csr, 2, again), CLV_OK);
        assert_memory_equal(out, again, sizeof out);
        clv_affinity_free(a);
    }
    end_context(ctx);
}

/* The objects themselves, by their rows of W: each gets the cluster that (28) gives it, S from the operator. */
static void test_the_clustered_objects(void **state) {
    clv_context *ctx = new_context();
    static scene s;
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        double sums[K * N], volume[K] = {0}, within[K] = {0}, degree[N];
        int32_t out[N];
        draw(&s, 100 + seed, 0.3);
        for (int64_t i = 0; i < N; i++) {
            s.labels[i] = s.labels[i] < 0 ? 0 : s.labels[i];
        }
        clv_affinity *a = build(ctx, &s.given);
        assert_int_equal(clv_affinity_group_sums(a, s.labels, K, sums, 1), CLV_OK);
        assert_int_equal(clv_affinity_degrees(a, degree, 1), CLV_OK);
        for (int64_t i = 0; i < N; i++) {
            volume[s.labels[i]] += degree[i];
            within[s.labels[i]] += sums[s.labels[i] * N + i];
        }
        assert_int_equal(predict_from(ctx, a, s.labels, K, &s.given, 2, out), CLV_OK);
        for (int64_t i = 0; i < N; i++) {
            int32_t best = 0;
            double mu[K];
            for (int32_t c = 0; c < K; c++) {
                mu[c] = 2 * sums[c * N + i] / volume[c] - degree[i] * within[c] / (volume[c] * volume[c]);
                best = mu[c] > mu[best] ? c : best;
            }
            assert_int_equal(out[i], best);
        }
        clv_affinity_free(a);
    }
    end_context(ctx);
}

/* Two blocks that mirror each other: who stands between them goes to the first, who is similar to none to neither,
 * and who is similar only to an object that was left out as well. */
static void test_ties_and_strangers(void **state) {
    clv_context *ctx = new_context();
    double w[25] = {1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1};
    double cross[20] = {1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0.1, 0, 0, 0, 0, 0, 0, 3};
    int32_t labels[5] = {0, 0, 1, 1, -1}, out[4] = {0};
    clv_matrix given = {.rows = 5, .cols = 5, .scalar = CLV_F64, .values = w};
    clv_matrix new_ones = {.rows = 4, .cols = 5, .scalar = CLV_F64, .values = cross};
    clv_affinity *a = build(ctx, &given);
    (void)state;
    assert_int_equal(predict_from(ctx, a, labels, 2, &new_ones, 1, out), CLV_OK);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], -1);
    assert_int_equal(out[2], 1);
    assert_int_equal(out[3], -1);
    clv_affinity_free(a);
    end_context(ctx);
}

static void assert_refused(clv_context *ctx, clv_status got, clv_status expected, const char *words) {
    assert_int_equal(got, expected);
    if (!strstr(clv_message(ctx), words)) {
        fail_msg("'%s' is not in '%s'", words, clv_message(ctx));
    }
}

/* The rule needs the affinity of the old objects, also for similarities of new ones, and their labels. */
static void refuses_what_is_missing(clv_context *ctx, const clv_affinity *a, const clv_matrix *cross) {
    const clv_fresh fresh = {.similarities = cross};
    clv_ncut_options options;
    clv_result *result, *made;
    clv_ncut_defaults(&options);
    assert_int_equal(clv_result_new(ctx, N, K, &result), CLV_OK);
    assert_refused(ctx, clv_ncut_predict(ctx, &(clv_input){0}, &options, result, &fresh, &made), CLV_EUSAGE,
                   "there are no similarities of these");
    assert_refused(ctx, clv_ncut_predict(ctx, &(clv_input){.affinity = a}, &options, result, &(clv_fresh){0}, &made),
                   CLV_EUSAGE, "points of the new objects");
    clv_result_free(result);
    assert_int_equal(clv_result_new(ctx, 0, K, &result), CLV_OK);
    result->n = N;
    assert_refused(ctx, clv_ncut_predict(ctx, &(clv_input){.affinity = a}, &options, result, &fresh, &made), CLV_EUSAGE,
                   "there are no labels");
    assert_null(made);
    clv_result_free(result);
}

static void test_refusals(void **state) {
    clv_context *ctx = new_context();
    static scene s;
    static int64_t start[M + 1];
    static int32_t index[M * N];
    static double values[M * N];
    int32_t out[M];
    (void)state;
    draw(&s, 5, 0.5);
    clv_affinity *a = build(ctx, &s.given);
    clv_matrix narrow = s.dense, csr = {.rows = M, .cols = N, .values = values, .start = start, .index = index};
    narrow.cols--;
    assert_refused(ctx, predict_from(ctx, a, s.labels, K, &narrow, 1, out), CLV_EDATA,
                   "89 columns, but there are 90 objects");
    assert_refused(ctx, predict_from(ctx, a, s.labels, 0, &s.dense, 1, out), CLV_EUSAGE, "k = 0");
    s.cross[30 * N + 4] = -HUGE_VAL;
    s.cross[20 * N + 7] = 0.125;
    to_csr(s.cross, M, start, index, values);
    for (int64_t e = start[20]; e < start[21]; e++) {
        values[e] = index[e] == 7 ? (double)NAN : values[e];
    }
    s.cross[20 * N + 7] = -0.25;
    for (int threads = 1; threads <= 3; threads++) {
        assert_refused(ctx, predict_from(ctx, a, s.labels, K, &s.dense, threads, out), CLV_EDATA,
                       "new object 21 to object 8 is -0.25");
        assert_refused(ctx, predict_from(ctx, a, s.labels, K, &csr, threads, out), CLV_EDATA,
                       "new object 21 to object 8 is nan");
    }
    s.labels[3] = K;
    assert_refused(ctx, predict_from(ctx, a, s.labels, K, &s.dense, 1, out), CLV_EDATA,
                   "label 4 of object 4 is not in -1..3");
    refuses_what_is_missing(ctx, a, &s.dense);
    clv_affinity_free(a);
    end_context(ctx);
}

/* --- from points --- */

static double points[N * FEATURES];
static clv_matrix old = {.rows = N, .cols = FEATURES, .scalar = CLV_F64, .values = points};

static clv_matrix draw_points(int64_t rows, double *values, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    for (int64_t e = 0; e < rows * FEATURES; e++) {
        values[e] = clv_rng_normal(&rng) + 3 * (double)(e / FEATURES % K);
    }
    return (clv_matrix){.rows = rows, .cols = FEATURES, .scalar = CLV_F64, .values = values};
}

static void label_points(int32_t *labels) {
    for (int64_t i = 0; i < N; i++) {
        labels[i] = (int32_t)(i % K);
    }
}

static const int kinds[] = {CLV_AFFINITY_GAUSSIAN, CLV_AFFINITY_EXPONENTIAL, CLV_AFFINITY_COSINE, CLV_AFFINITY_DISTANCE,
                            CLV_AFFINITY_KNN};

/* By blocks as from the whole matrix of similarities: so many new points that there are several blocks. */
static void test_points_in_blocks(void **state) {
    clv_context *ctx = new_context();
    enum { MANY = 50000 };
    double *values = malloc((size_t)MANY * FEATURES * sizeof *values);
    int32_t labels[N], *out = malloc(MANY * sizeof *out), *expected = malloc(MANY * sizeof *out);
    clv_matrix fresh = draw_points(MANY, values, 3);
    (void)state;
    label_points(labels);
    for (int kind = 0; kind < 5; kind++) {
        clv_affinity_options o;
        clv_affinity *a;
        clv_data *cross;
        clv_affinity_defaults(&o);
        o.kind = kinds[kind];
        assert_int_equal(clv_affinity_build(ctx, &old, &o, &a), CLV_OK);
        assert_int_equal(clv_affinity_cross(a, &fresh, &cross), CLV_OK);
        assert_int_equal(predict_from(ctx, a, labels, K, clv_data_matrix(cross), 1, expected), CLV_OK);
        for (int threads = 1; threads <= 2; threads++) {
            memset(out, 0x55, MANY * sizeof *out);
            assert_int_equal(predict_points(ctx, a, labels, K, &fresh, threads, out), CLV_OK);
            assert_memory_equal(out, expected, MANY * sizeof *out);
        }
        clv_data_free(cross);
        clv_affinity_free(a);
    }
    free(values);
    free(out);
    free(expected);
    end_context(ctx);
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

/* A result and an affinity of other numbers of objects. */
static void refuses_other_objects(clv_context *ctx, const clv_affinity *a, const clv_matrix *fresh) {
    clv_ncut_options options;
    clv_result *result, *made;
    clv_ncut_defaults(&options);
    assert_int_equal(clv_result_new(ctx, N - 1, K, &result), CLV_OK);
    assert_refused(
        ctx, clv_ncut_predict(ctx, &(clv_input){.affinity = a}, &options, result, &(clv_fresh){.points = fresh}, &made),
        CLV_EDATA, "the result is of 89 objects, but the affinity is of 90");
    clv_result_free(result);
}

static void test_point_refusals(void **state) {
    clv_context *ctx = new_context();
    double values[M * FEATURES];
    clv_matrix fresh = draw_points(M, values, 4);
    int32_t labels[N], out[M];
    clv_affinity_options o;
    clv_affinity *a;
    (void)state;
    label_points(labels);
    clv_affinity_defaults(&o);
    assert_int_equal(clv_affinity_build(ctx, &old, &o, &a), CLV_OK);
    clv_context_set_interrupt(ctx, stop_at_once, NULL);
    assert_refused(ctx, predict_points(ctx, a, labels, K, &fresh, 1, out), CLV_EINTERRUPTED, "interrupted");
    clv_context_set_interrupt(ctx, NULL, NULL);
    fresh.cols--;
    assert_refused(ctx, predict_points(ctx, a, labels, K, &fresh, 1, out), CLV_EDATA, "2 columns");
    fresh.cols++;
    refuses_other_objects(ctx, a, &fresh);
    clv_affinity_free(a);
    end_context(ctx);
}

static clv_status build_and_predict(clv_context *ctx, void *user) {
    double values[M * FEATURES];
    clv_matrix fresh = draw_points(M, values, 4);
    int32_t labels[N], out[M];
    clv_affinity_options o;
    clv_affinity *a;
    label_points(labels);
    clv_affinity_defaults(&o);
    o.kind = *(const int *)user;
    CLV_TRY(clv_affinity_build(ctx, &old, &o, &a));
    clv_status status = predict_points(ctx, a, labels, K, &fresh, 2, out);
    clv_affinity_free(a);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        int given = kinds[kind];
        assert_in_range(check_every_failure(build_and_predict, &given), 10, 50);
    }
}

static int set_up(void **state) {
    (void)state;
    draw_points(N, points, 2);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula),
        cmocka_unit_test(test_the_clustered_objects),
        cmocka_unit_test(test_ties_and_strangers),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_points_in_blocks),
        cmocka_unit_test(test_point_refusals),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
