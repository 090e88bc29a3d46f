/* ncut: options and refusals, policies on empty clusters, objects without similarity and components, the phases of a
 * restart, and sameness over threads. What the optimum is checked against lives in tests/certify. */
#include "failing.h"

#include "base/options.h"
#include "engine/driver.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdio.h>

enum { MOST = 200 };

/* A symmetric matrix over three noisy groups. */
static void fill_groups(double *w, int64_t n, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double draw = clv_rng_uniform(&rng);
            w[i * n + j] = w[j * n + i] = i == j ? 0.3 : (i % 3 == j % 3 ? 0.3 : 0.1) * draw;
        }
    }
}

static clv_affinity *build(clv_context *ctx, const double *w, int64_t n) {
    clv_matrix matrix = {.rows = n, .cols = n, .values = w};
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &how, &a), CLV_OK);
    return a;
}

/* Plain FPC, as in the paper. */
static clv_ncut_options options_for(int64_t k) {
    clv_ncut_options options;
    clv_ncut_defaults(&options);
    options.k = k;
    options.start = "random";
    options.polish = 0;
    options.bound = CLV_NCUT_BOUND_NO;
    options.control.threads = 1;
    return options;
}

/* Labels to start from, as the numbers that a start is given in. */
static clv_matrix start_at(const int32_t *labels, double *numbers, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        numbers[i] = labels[i];
    }
    return (clv_matrix){.rows = n, .cols = 1, .values = numbers};
}

/* The labels as an answer in k clusters, evaluated. */
static clv_status evaluate(clv_context *ctx, const clv_affinity *a, const int32_t *labels, int64_t k,
                           clv_result **found) {
    clv_ncut_options options = options_for(k);
    clv_result *answer;
    *found = NULL;
    CLV_TRY(clv_result_new(ctx, clv_affinity_size(a), k, &answer));
    memcpy(answer->labels, labels, (size_t)answer->n * sizeof *labels);
    clv_status status = clv_ncut_evaluate(ctx, &(clv_input){.affinity = a}, &options, answer, found);
    clv_result_free(answer);
    return status;
}

static void refuses_what_cannot_be(void **unused) {
    (void)unused;
    double w[10 * 10];
    clv_context *ctx = new_context();
    fill_groups(w, 10, 1);
    clv_affinity *a = build(ctx, w, 10);
    clv_result *result;
    clv_ncut_options options = options_for(12);
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EDATA);
    assert_null(result);
    assert_string_equal(clv_message(ctx), "k = 12 exceeds the 10 objects");
    options = options_for(-1);
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "k = '-1'"));
    options = options_for(2);
    options.start = "somewhere";
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "somewhere"));
    options.start = "labels"; /* given as input.start, not by a name */
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EUSAGE);
    assert_string_equal(clv_message(ctx),
                        "start = 'labels' is not allowed: it must be auto, random, spectral or kmeans++");
    const int32_t outside[] = {0, 1, 0, 2, 0, 1, 0, 1, 0, 1}, unknown[] = {0, 1, -1, 0, 0, 1, 0, 1, 0, 1},
                  empty[10] = {0};
    double numbers[10];
    clv_matrix start = start_at(outside, numbers, 10);
    clv_input input = {.affinity = a, .start = &start};
    assert_int_equal(clv_ncut(ctx, &input, &options, &result), CLV_EDATA);
    assert_string_equal(clv_message(ctx), "start: label 2 of object 4 is not a whole number from -1 to 1");
    numbers[3] = 0.5;
    assert_int_equal(clv_ncut(ctx, &input, &options, &result), CLV_EDATA);
    assert_string_equal(clv_message(ctx), "start: label 0.5 of object 4 is not a whole number from -1 to 1");
    start_at(unknown, numbers, 10);
    assert_int_equal(clv_ncut(ctx, &input, &options, &result), CLV_EDATA);
    assert_string_equal(clv_message(ctx),
                        "label -1 of object 3 is not in 0..1: every object that is similar to another needs a cluster");
    start_at(empty, numbers, 10);
    assert_int_equal(clv_ncut(ctx, &input, &options, &result), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "no object has label 1"));
    start.rows = 9;
    assert_int_equal(clv_ncut(ctx, &input, &options, &result), CLV_EDATA);
    assert_string_equal(clv_message(ctx), "start: 9 x 1 numbers, but there must be one for each of 10 objects");
    options = options_for(2);
    assert_int_equal(clv_ncut(ctx, &(clv_input){0}, &options, &result), CLV_EUSAGE);
    assert_string_equal(clv_message(ctx), "ncut needs an affinity, and none was given");
    options.control.restarts = -1;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EUSAGE);
    options = options_for(2);
    options.solver = 7;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EUSAGE);
    clv_affinity_free(a);
    end_context(ctx);
}

static void evaluates_only_partitions(void **unused) {
    (void)unused;
    double w[4 * 4];
    clv_context *ctx = new_context();
    fill_groups(w, 4, 1);
    clv_affinity *a = build(ctx, w, 4);
    clv_result *found;
    const int32_t left_out[] = {0, 1, -1, 0}, one[] = {0, 0, 0, 0}, apart[] = {3, 1, 0, 2};
    assert_int_equal(evaluate(ctx, a, left_out, 2, &found), CLV_EDATA);
    assert_string_equal(clv_message(ctx),
                        "label -1 of object 3 is not in 0..1: every object that is similar to another needs a cluster");
    assert_null(found);
    assert_int_equal(evaluate(ctx, a, apart, 3, &found), CLV_EDATA);
    assert_string_equal(clv_message(ctx), "label 3 of object 1 is not in -1..2");
    assert_int_equal(evaluate(ctx, a, one, 2, &found), CLV_EDATA);
    assert_int_equal(evaluate(ctx, a, one, 1, &found), CLV_OK);
    assert_true(found && fabs(found->objective.value) < 1e-15);
    assert_true(found && found->certificate.value == 0 && found->certificate.holds); /* nowhere to go */
    clv_result_free(found);
    assert_int_equal(evaluate(ctx, a, apart, 4, &found), CLV_OK);
    assert_true(found && found->certificate.value == 0 &&
                found->certificate.holds); /* every move would empty a cluster */
    clv_result_free(found);
    clv_affinity_free(a);
    end_context(ctx);
}

/* Two objects of a kind and k of them: plain FPC would empty clusters at once. */
static void never_empties_a_cluster(void **unused) {
    (void)unused;
    for (int64_t k = 1; k <= 12; k++) {
        double w[12 * 12];
        clv_context *ctx = new_context();
        for (int64_t i = 0; i < 12; i++) {
            for (int64_t j = 0; j < 12; j++) {
                w[i * 12 + j] = i % 2 == j % 2 ? 1 : 1e-3;
            }
        }
        clv_affinity *a = build(ctx, w, 12);
        clv_ncut_options options = options_for(k);
        options.control.restarts = 20;
        options.control.keep_trace = 1;
        clv_result *result;
        assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        for (int64_t c = 0; c < k; c++) {
            assert_true(result->sizes[c] > 0);
        }
        assert_int_equal(result->stop, CLV_CONVERGED);
        clv_result_free(result);
        clv_affinity_free(a);
        end_context(ctx);
    }
}

static void objects_without_similarity_are_left_out(void **unused) {
    (void)unused;
    enum { N = 9 };
    double w[N * N] = {0};
    clv_context *ctx = new_context();
    for (int64_t i = 0; i < 6; i++) {
        for (int64_t j = 0; j < 6; j++) {
            w[i * N + j] = i / 3 == j / 3 ? 1 : 0.01;
        }
    }
    clv_affinity *a = build(ctx, w, N);
    clv_result *result, *found;
    clv_ncut_options options = options_for(2);
    static const char *const starts[] = {"random", "spectral", "kmeans++"};
    options.polish = 1;
    for (int s = 0; s < 3; s++) {
        options.start = starts[s];
        assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        for (int64_t i = 0; i < N; i++) {
            assert_true(i < 6 ? result->labels[i] == result->labels[i / 3 * 3] : result->labels[i] == -1);
        }
        assert_int_equal(result->left_out, 3);
        assert_int_equal(clv_result_integer(result, "components", 0), 1);
        assert_true(result->certificate.holds);
        assert_int_equal(clv_ncut_evaluate(ctx, &(clv_input){.affinity = a}, &options, result, &found), CLV_OK);
        assert_true(found->objective.value == result->objective.value);
        clv_result_free(found);
        clv_result_free(result);
    }
    options = options_for(7);
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "the other 3 are left out"));
    const int32_t wrong[N] = {0, 0, 0, 1, 1, 1, 0, -1, -1};
    assert_int_equal(evaluate(ctx, a, wrong, 2, &found), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "object 7 is similar to nothing"));
    clv_affinity_free(a);
    end_context(ctx);
}

/* Blocks of ones on the diagonal: five components. */
static void whole_components_cut_nothing(void **unused) {
    (void)unused;
    enum { N = 20 };
    double w[N * N] = {0};
    clv_context *ctx = new_context();
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < N; j++) {
            w[i * N + j] = i % 5 == j % 5;
        }
    }
    clv_affinity *a = build(ctx, w, N);
    for (int64_t k = 1; k <= 5; k++) {
        clv_ncut_options options = options_for(k);
        clv_result *result;
        assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        assert_int_equal(clv_result_integer(result, "components", 0), 5);
        assert_true(fabs(result->objective.value) < 1e-15);
        for (int64_t i = 5; i < N; i++) {
            assert_int_equal(result->labels[i], result->labels[i - 5]);
        }
        clv_result_free(result);
    }
    clv_affinity_free(a);
    end_context(ctx);
}

/* --- solvers, polish and search --- */

static double solve_by(clv_context *ctx, const clv_affinity *a, const clv_ncut_options *options, bool certified) {
    clv_result *result;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, options, &result), CLV_OK);
    assert_true(result->stop == CLV_CONVERGED || (!certified && result->stop == CLV_STALLED)); /* FINC may cycle */
    assert_true(!certified || result->certificate.holds);
    for (int64_t c = 0; c < result->k; c++) {
        assert_true(result->sizes[c] > 0);
    }
    double value = result->objective.value;
    clv_result_free(result);
    return value;
}

/* Each phase goes lower than the one before it or stays; after exact moves nothing single is left to gain. */
static void phases_go_down(void **unused) {
    (void)unused;
    static double w[MOST * MOST];
    static const char *const starts[] = {"random", "spectral", "kmeans++"};
    clv_context *ctx = new_context();
    fill_groups(w, MOST, 5);
    clv_affinity *a = build(ctx, w, MOST);
    for (int variant = 0; variant < 12; variant++) {
        clv_ncut_options options = options_for(5);
        options.solver = variant / 3;
        options.start = starts[variant % 3];
        double plain = solve_by(ctx, a, &options, options.solver == CLV_NCUT_FCD);
        options.polish = 1;
        options.patience = 0;
        double polished = solve_by(ctx, a, &options, true);
        options.patience = 10;
        double searched = solve_by(ctx, a, &options, true);
        assert_true(polished <= plain + 1e-14 && searched <= polished + 1e-14);
    }
    clv_affinity_free(a);
    end_context(ctx);
}

static void both_roundings_find_the_groups(void **unused) {
    (void)unused;
    static double w[MOST * MOST];
    clv_context *ctx = new_context();
    fill_groups(w, MOST, 5);
    clv_affinity *a = build(ctx, w, MOST);
    for (int rounding = CLV_NCUT_KMEANS; rounding <= CLV_NCUT_ROTATION; rounding++) {
        clv_ncut_options options = options_for(3);
        options.solver = CLV_NCUT_SPECTRAL;
        options.rounding = rounding;
        clv_result *result;
        assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        for (int64_t i = 3; i < MOST; i++) {
            assert_int_equal(result->labels[i], result->labels[i - 3]);
        }
        clv_result_free(result);
    }
    clv_affinity_free(a);
    end_context(ctx);
}

static void the_bound_and_k_come_from_eigenvalues(void **unused) {
    (void)unused;
    static double w[MOST * MOST];
    clv_context *ctx = new_context();
    fill_groups(w, MOST, 5);
    clv_affinity *a = build(ctx, w, MOST);
    clv_ncut_options options = options_for(0);
    clv_result *result;
    options.bound = CLV_NCUT_BOUND_YES;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
    assert_int_equal(result->k, 3);
    int64_t count;
    const double *eigenvalues = clv_result_reals(result, "eigenvalues", &count);
    assert_int_equal(count, 21);
    assert_true(fabs(eigenvalues[0] - 1) < 1e-9);
    const int64_t *choices = clv_result_integers(result, "k_alternatives.k", &count);
    assert_true(count == 19 && choices[0] == 2 && choices[18] == 20);
    const double *gaps = clv_result_reals(result, "k_alternatives.gap", &count);
    assert_true(count == 19 && gaps[1] == eigenvalues[2] - eigenvalues[3]);
    for (int64_t c = 0; c < count; c++) {
        assert_true(gaps[c] <= gaps[1]); /* that of 3, the choice */
    }
    assert_string_equal(result->bound.name, "eigenvalue");
    assert_true(result->bound.value > 0 && result->bound.value <= result->objective.value);
    clv_result_free(result);
    options.k = 3;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
    assert_null(clv_result_field(result, "k_alternatives.k")); /* nothing was chosen */
    clv_result_free(result);
    clv_affinity_free(a);
    end_context(ctx);
}

/* The least eigenvalue of W, or of D^-1/2 W D^-1/2, by LAPACK. */
static double least_eigenvalue(clv_context *ctx, const double *w, int64_t n, bool normalize) {
    double matrix[30 * 30], values[30], degree[30] = {0};
    for (int64_t e = 0; e < n * n; e++) {
        degree[e / n] += w[e];
    }
    for (int64_t e = 0; e < n * n; e++) {
        matrix[e] = normalize ? w[e] / sqrt(degree[e / n] * degree[e % n]) : w[e];
    }
    assert_int_equal(clv_eigen_dense(ctx, matrix, n, values), CLV_OK);
    return values[0];
}

/* Proposition 6: with the shift no step of FPC raises the cut, whatever the matrix. */
static void the_shift_makes_fpc_monotone(void **unused) {
    (void)unused;
    enum { N = 30 };
    clv_context *ctx = new_context();
    for (uint64_t seed = 0; seed < 20; seed++) {
        double w[N * N], least = HUGE_VAL;
        clv_rng rng = clv_rng_stream(seed, 9);
        for (int64_t i = 0; i < N; i++) {
            for (int64_t j = 0; j <= i; j++) {
                w[i * N + j] = w[j * N + i] = i == j ? 0 : clv_rng_uniform(&rng);
            }
        }
        for (int64_t i = 0; i < N; i++) {
            double degree = 0;
            for (int64_t j = 0; j < N; j++) {
                degree += w[i * N + j];
            }
            least = fmin(least, degree);
        }
        clv_affinity *a = build(ctx, w, N);
        for (int shift = CLV_NCUT_SHIFT_PAPER; shift <= CLV_NCUT_SHIFT_TIGHT; shift++) {
            clv_ncut_options options = options_for(3);
            clv_result *result;
            options.shift = shift;
            options.control.keep_trace = 1;
            assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
            bool tight = shift == CLV_NCUT_SHIFT_TIGHT;
            double expected = -least_eigenvalue(ctx, w, N, tight) / (tight ? 1 : least);
            assert_true(fabs(clv_result_real(result, "shift", 0) - expected) <= 1e-5 * expected);
            for (int64_t i = 1; i < result->trace_count; i++) {
                assert_true(result->trace[i].objective <= result->trace[i - 1].objective + 1e-14);
            }
            clv_result_free(result);
        }
        clv_affinity_free(a);
    }
    end_context(ctx);
}

static int stop_after_kicks(const clv_progress *progress, void *user) {
    (void)user;
    return progress->iteration >= 2000;
}

/* Without patience to lose the search goes on until something else ends it; a time limit alone makes nothing longer. */
static void a_search_without_end_and_a_limit_that_is_none(void **unused) {
    (void)unused;
    double w[30 * 30];
    clv_context *ctx = new_context();
    fill_groups(w, 30, 3);
    clv_affinity *a = build(ctx, w, 30);
    clv_ncut_options options = options_for(3);
    clv_result *result;
    options.polish = 1;
    options.control.monitor = stop_after_kicks;
    for (int none = 0; none < 2; none++) {
        options.patience = none ? -1 : 1;
        options.control.time_limit = none ? 0 : 1000;
        assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        assert_int_equal(result->stop, none ? CLV_CANCELLED : CLV_CONVERGED);
        assert_true(result->certificate.holds);
        clv_result_free(result);
    }
    options.patience = -1;
    options.control.monitor = NULL;
    options.control.time_limit = 0.01;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
    assert_int_equal(result->stop, CLV_TIME_LIMIT);
    clv_result_free(result);
    options.patience = -2;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "patience = '-2'"));
    clv_affinity_free(a);
    end_context(ctx);
}

static void check_same(const clv_result *left, const clv_result *right) {
    assert_memory_equal(left->labels, right->labels, (size_t)left->n * sizeof *left->labels);
    assert_true(left->objective.value == right->objective.value);
    assert_true(left->certificate.value == right->certificate.value);
    assert_true(left->drift == right->drift);
    assert_int_equal(left->iterations, right->iterations);
    assert_int_equal(left->restarts_count, right->restarts_count);
    assert_int_equal(left->trace_count, right->trace_count);
    for (int64_t i = 0; i < left->trace_count; i++) {
        assert_true(left->trace[i].objective == right->trace[i].objective);
        assert_true(left->trace[i].certificate == right->trace[i].certificate);
    }
}

static void same_bits_on_any_threads(void **unused) {
    (void)unused;
    static double w[MOST * MOST];
    clv_context *ctx = new_context();
    fill_groups(w, MOST, 3);
    clv_affinity *a = build(ctx, w, MOST);
    const int64_t restarts[] = {1, 2, 5};
    for (int which = 0; which < 3; which++) {
        clv_result *serial, *parallel;
        clv_ncut_options options = options_for(4);
        options.control.restarts = restarts[which];
        options.control.keep_trace = 1;
        options.polish = which > 0;
        options.start = which > 1 ? "spectral" : "random";
        options.bound = CLV_NCUT_BOUND_YES;
        assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &serial), CLV_OK);
        for (int64_t threads = 2; threads <= 3; threads++) {
            options.control.threads = threads;
            assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &parallel), CLV_OK);
            check_same(serial, parallel);
            clv_result_free(parallel);
        }
        clv_result_free(serial);
    }
    clv_affinity_free(a);
    end_context(ctx);
}

/* The objects of a neighbor graph are renumbered inside: a start and the answer keep their numbers. */
static void labels_keep_their_objects(void **unused) {
    (void)unused;
    enum { N = 600, K = 3 };
    static double x[N * 2], numbers[N];
    static int32_t labels[N];
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(11, 0);
    for (int64_t i = 0; i < N; i++) {
        labels[i] = (int32_t)clv_rng_below(&rng, K);
        x[2 * i] = 3.5 * labels[i] + clv_rng_normal(&rng);
        x[2 * i + 1] = clv_rng_normal(&rng);
    }
    clv_matrix points = {.rows = N, .cols = 2, .values = x};
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_KNN;
    how.neighbors = 8;
    assert_int_equal(clv_affinity_build(ctx, &points, &how, &a), CLV_OK);
    clv_matrix start = start_at(labels, numbers, N);
    clv_ncut_options options = options_for(K);
    options.control.max_iter = 1;
    clv_result *result, *found;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a, .start = &start}, &options, &result), CLV_OK);
    int64_t same = 0;
    for (int64_t i = 0; i < N; i++) {
        same += result->labels[i] == labels[i];
    }
    assert_true(same > 9 * N / 10);
    assert_int_equal(evaluate(ctx, a, result->labels, K, &found), CLV_OK);
    assert_true(fabs(found->objective.value - result->objective.value) < 1e-12);
    clv_result_free(found);
    clv_result_free(result);
    clv_affinity_free(a);
    end_context(ctx);
}

static void seeds_make_the_difference(void **unused) {
    (void)unused;
    static double w[MOST * MOST];
    clv_context *ctx = new_context();
    fill_groups(w, MOST, 3);
    clv_affinity *a = build(ctx, w, MOST);
    clv_ncut_options options = options_for(4);
    clv_result *first, *second;
    options.control.max_iter = 0;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &first), CLV_OK);
    options.control.seed = 2;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &second), CLV_OK);
    assert_memory_not_equal(first->labels, second->labels, MOST * sizeof(int32_t));
    assert_int_equal(first->stop, CLV_ITERATION_LIMIT);
    clv_result_free(first);
    clv_result_free(second);
    clv_affinity_free(a);
    end_context(ctx);
}

/* One FPC step by formula (28), the long way, from the labels in `from`. */
static void step_by_formula(const double *w, int64_t n, int64_t k, const int32_t *from, int32_t *to) {
    for (int64_t i = 0; i < n; i++) {
        double best = -INFINITY, own = 0;
        for (int32_t c = 0; c < k; c++) {
            double sum = 0, within = 0, volume = 0, degree = 0;
            for (int64_t j = 0; j < n; j++) {
                degree += w[i * n + j];
                sum += from[j] == c ? w[i * n + j] : 0;
                for (int64_t l = 0; l < n && from[j] == c; l++) {
                    volume += w[j * n + l];
                    within += from[l] == c ? w[j * n + l] : 0;
                }
            }
            double mu = 2 * sum / volume - degree * within / (volume * volume);
            own = from[i] == c ? mu : own;
            if (mu > best) {
                best = mu;
                to[i] = c;
            }
        }
        to[i] = best - own < 1e-13 ? from[i] : to[i];
    }
}

/* The driver runs max_iter steps from given labels: each must be the formula's. */
static void steps_follow_the_formula(void **unused) {
    (void)unused;
    enum { N = 24, K = 3 };
    double w[N * N];
    clv_context *ctx = new_context();
    fill_groups(w, N, 8);
    clv_affinity *a = build(ctx, w, N);
    int32_t now[N], next[N];
    int moved_at_all = 0;
    for (int64_t i = 0; i < N; i++) {
        now[i] = (int32_t)(i / 8);
    }
    for (int step = 0; step < 4; step++) {
        step_by_formula(w, N, K, now, next);
        clv_ncut_options options = options_for(K);
        double numbers[N];
        clv_matrix start = start_at(now, numbers, N);
        options.control.max_iter = 1;
        clv_result *result;
        assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a, .start = &start}, &options, &result), CLV_OK);
        assert_memory_equal(result->labels, next, sizeof next);
        clv_result_free(result);
        moved_at_all += memcmp(now, next, sizeof now) != 0;
        memcpy(now, next, sizeof now);
    }
    assert_true(moved_at_all > 0);
    clv_affinity_free(a);
    end_context(ctx);
}

/* On an indefinite matrix FPC can cycle: it must end, say so, and give the best that it met. */
static void a_cycle_is_a_stall(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    int stalls = 0;
    for (uint64_t seed = 0; seed < 30; seed++) {
        enum { N = 20 };
        double w[N * N];
        clv_rng rng = clv_rng_stream(seed, 9);
        for (int64_t i = 0; i < N; i++) {
            for (int64_t j = 0; j <= i; j++) {
                bool linked = i % 2 != j % 2 && clv_rng_uniform(&rng) < 0.7;
                w[i * N + j] = w[j * N + i] = linked ? 1 : 0;
            }
        }
        clv_affinity *a = build(ctx, w, N);
        clv_ncut_options options = options_for(2);
        options.control.keep_trace = 1;
        clv_result *result;
        assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        assert_true(result->stop == CLV_CONVERGED || result->stop == CLV_STALLED);
        stalls += result->stop == CLV_STALLED;
        for (int64_t i = 0; i < result->trace_count; i++) {
            assert_true(result->objective.value <= result->trace[i].objective + 1e-14);
        }
        clv_result_free(result);
        clv_affinity_free(a);
    }
    assert_true(stalls > 0);
    end_context(ctx);
}

/* Where plain FPC cycles, the polish takes over: nothing is left to gain by a single move. */
static void the_polish_ends_a_cycle(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    for (uint64_t seed = 0; seed < 60; seed++) {
        enum { N = 20 };
        double w[N * N];
        clv_rng rng = clv_rng_stream(seed, 9);
        for (int64_t i = 0; i < N; i++) {
            for (int64_t j = 0; j <= i; j++) {
                bool linked = i % 2 != j % 2 && clv_rng_uniform(&rng) < 0.7;
                w[i * N + j] = w[j * N + i] = linked ? 1 : 0;
            }
        }
        clv_affinity *a = build(ctx, w, N);
        clv_ncut_options options = options_for(2 + (int64_t)seed % 3);
        options.polish = 1;
        options.patience = 3;
        clv_result *result;
        assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        assert_int_equal(result->stop, CLV_CONVERGED);
        assert_true(result->certificate.holds);
        clv_result_free(result);
        clv_affinity_free(a);
    }
    end_context(ctx);
}

/* ncut does not depend on the unit of the similarities; neither may the way to it. */
static void the_unit_does_not_matter(void **unused) {
    (void)unused;
    enum { N = 60 };
    static const char *const starts[] = {"random", "spectral", "kmeans++"};
    static const double units[] = {1, 0x1p500, 0x1p-500};
    double w[N * N], scaled[N * N];
    clv_context *ctx = new_context();
    fill_groups(w, N, 4);
    for (int variant = 0; variant < 12; variant++) {
        int32_t first[N];
        for (int unit = 0; unit < 3; unit++) {
            for (int64_t e = 0; e < (int64_t)N * N; e++) {
                scaled[e] = w[e] * units[unit];
            }
            clv_affinity *a = build(ctx, scaled, N);
            clv_ncut_options options = options_for(4);
            clv_result *result;
            options.solver = variant / 3;
            options.start = starts[variant % 3];
            assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
            if (unit == 0) {
                memcpy(first, result->labels, sizeof first);
            }
            assert_memory_equal(first, result->labels, sizeof first);
            clv_result_free(result);
            clv_affinity_free(a);
        }
    }
    end_context(ctx);
}

/* A cut of 0 cannot be beaten: no search, whatever the patience. */
static void the_search_knows_an_optimum(void **unused) {
    (void)unused;
    enum { N = 12 };
    double w[N * N];
    clv_context *ctx = new_context();
    for (int64_t e = 0; e < (int64_t)N * N; e++) {
        w[e] = e / N % 3 == e % N % 3;
    }
    clv_affinity *a = build(ctx, w, N);
    clv_ncut_options options = options_for(3);
    clv_result *result;
    options.polish = 1;
    options.patience = -1;
    options.control.time_limit = 1000;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
    assert_int_equal(result->stop, CLV_CONVERGED);
    clv_result_free(result);
    clv_affinity_free(a);
    end_context(ctx);
}

static void a_tolerance_ends_earlier(void **unused) {
    (void)unused;
    static double w[MOST * MOST];
    clv_context *ctx = new_context();
    fill_groups(w, MOST, 3);
    clv_affinity *a = build(ctx, w, MOST);
    clv_result *fixed_point, *tolerant;
    clv_ncut_options options = options_for(4);
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &fixed_point), CLV_OK);
    options.control.tol = 1e-2;
    assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &tolerant), CLV_OK);
    assert_int_equal(tolerant->stop, CLV_CONVERGED);
    assert_true(tolerant->iterations < fixed_point->iterations);
    clv_result_free(fixed_point);
    clv_result_free(tolerant);
    clv_affinity_free(a);
    end_context(ctx);
}

/* What is foretold is what is held, but for the scratch of the operator and the list of restarts. */
static void memory_is_foretold(void **unused) {
    (void)unused;
    static double w[MOST * MOST];
    fill_groups(w, MOST, 3);
    for (int64_t threads = 1; threads <= 2; threads++) {
        clv_context *ctx = new_context();
        clv_affinity *a = build(ctx, w, MOST);
        clv_ncut_options options = options_for(20);
        options.control.threads = threads;
        options.control.restarts = 3;
        clv_result *result;
        size_t before, now, peak;
        clv_context_memory(ctx, &before, &peak);
        assert_int_equal(clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        clv_context_memory(ctx, &now, &peak);
        clv_affinity_info info;
        clv_affinity_describe(a, &info);
        double foretold = (double)clv_ncut_memory(&(clv_input){.plan = &info}, &options),
               held = (double)(peak - before);
        double scratch = (double)threads * 8 * (MOST + 21) + 16 * 200;
        assert_true(clv_ncut_memory(&(clv_input){.affinity = a}, &options) == (size_t)foretold);
        assert_true(held >= foretold);
        assert_true(held <= foretold + scratch);
        clv_result_free(result);
        clv_affinity_free(a);
        end_context(ctx);
    }
}

static clv_status run_once(clv_context *ctx, void *user) {
    clv_matrix matrix = {.rows = 30, .cols = 30, .values = user};
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_result *result = NULL, *found = NULL;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    how.threads = 1;
    clv_status status = clv_affinity_build(ctx, &matrix, &how, &a);
    if (status == CLV_OK) {
        clv_ncut_options options = options_for(3);
        options.control.restarts = 3;
        options.control.keep_trace = 1;
        options.polish = 1;
        options.start = "spectral";
        options.bound = CLV_NCUT_BOUND_YES;
        status = clv_ncut(ctx, &(clv_input){.affinity = a}, &options, &result);
    }
    if (status == CLV_OK) {
        status = evaluate(ctx, a, result->labels, 3, &found);
        assert_true(status < 0 || found->objective.value == result->objective.value);
        assert_true(status < 0 || found->certificate.value == result->certificate.value);
    }
    clv_result_free(found);
    clv_result_free(result);
    clv_affinity_free(a);
    return status;
}

static void survives_every_failed_allocation(void **unused) {
    (void)unused;
    double w[30 * 30];
    fill_groups(w, 30, 3);
    assert_true(check_every_failure(run_once, w) > 20);
}

#ifdef CLEAVE_SOURCE_DIR
/* docs/ncut.md lists each option of the table with its default and its help. */
static void the_page_lists_the_options(void **unused) {
    (void)unused;
    static char page[1 << 16];
    FILE *file = fopen(CLEAVE_SOURCE_DIR "/docs/ncut.md", "r");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[size] = '\0';
    const clv_option_table *table = clv_method_find("ncut")->options;
    clv_ncut_options options;
    clv_ncut_defaults(&options);
    for (size_t i = 0; i < table->count; i++) {
        const clv_option *option = &table->options[i];
        char row[256], value[64];
        clv_options_print(option, &options, value, sizeof value);
        const char *given = option->kind == CLV_OPTION_CHOICE ? option->choices : option->meta;
        snprintf(row, sizeof row, "| `--%s%s%s` | %s | %s |\n", option->name, given ? " " : "", given ? given : "",
                 strcmp(option->name, "k") == 0 ? "required" : value, option->help);
        for (char *bar = strchr(row + 1, '|'); bar && given && strchr(given, '|'); bar = strchr(bar + 1, '|')) {
            if (bar[1] != ' ' && bar[1] != '\n') { /* a bar inside a cell is escaped */
                memmove(bar + 1, bar, strlen(bar) + 1);
                *bar++ = '\\';
            }
        }
        if (!strstr(page, row)) {
            fail_msg("docs/ncut.md lacks: %s", row);
        }
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(evaluates_only_partitions),
        cmocka_unit_test(never_empties_a_cluster),
        cmocka_unit_test(objects_without_similarity_are_left_out),
        cmocka_unit_test(whole_components_cut_nothing),
        cmocka_unit_test(phases_go_down),
        cmocka_unit_test(both_roundings_find_the_groups),
        cmocka_unit_test(the_bound_and_k_come_from_eigenvalues),
        cmocka_unit_test(the_shift_makes_fpc_monotone),
        cmocka_unit_test(a_search_without_end_and_a_limit_that_is_none),
        cmocka_unit_test(same_bits_on_any_threads),
        cmocka_unit_test(labels_keep_their_objects),
        cmocka_unit_test(seeds_make_the_difference),
        cmocka_unit_test(steps_follow_the_formula),
        cmocka_unit_test(a_cycle_is_a_stall),
        cmocka_unit_test(the_polish_ends_a_cycle),
        cmocka_unit_test(the_unit_does_not_matter),
        cmocka_unit_test(the_search_knows_an_optimum),
        cmocka_unit_test(a_tolerance_ends_earlier),
        cmocka_unit_test(memory_is_foretold),
        cmocka_unit_test(survives_every_failed_allocation),
#ifdef CLEAVE_SOURCE_DIR
        cmocka_unit_test(the_page_lists_the_options),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
