/* dominant: the run. Peeling, its starts and its ends by the definitions, what the diagonal may not do, refusals,
 * memory, the page. The steps are in test_dominant_ascent.c; what answers are worth is checked in tests/certify. */
#include "dominant_support.h"
#include "failing.h"

#include "base/options.h"

#include <stdio.h>

/* --- the diagonal --- */

static clv_result *solve_input(clv_context *ctx, const clv_input *input, const clv_dominant_options *options) {
    clv_result *result = NULL;
    if (clv_dominant(ctx, input, options, &result) < 0) {
        fail_msg("%s", clv_message(ctx));
    }
    return result;
}

static clv_result *solve(clv_context *ctx, const clv_affinity *a, const clv_dominant_options *options) {
    return solve_input(ctx, &(clv_input){.affinity = a}, options);
}

static void check_same_clusters(const clv_result *left, const clv_result *right, double shift) {
    assert_int_equal(left->k, right->k);
    assert_memory_equal(left->labels, right->labels, (size_t)left->n * sizeof *left->labels);
    for (int64_t c = 0; c < left->k; c++) {
        const clv_cluster a = cluster_of(left, c), b = cluster_of(right, c);
        assert_int_equal(a.size, b.size);
        assert_int_equal(a.prototype, b.prototype);
        assert_true(fabs(a.cohesiveness - b.cohesiveness) <= 1e-9 * (1 + shift));
        assert_true(fabs(a.similarity - b.similarity) <= 1e-9 * (1 + shift));
    }
}

/* Whatever is stored on the diagonal, and whether it is to count or not: it counts as 0. */
static void the_diagonal_counts_as_zero(void **unused) {
    (void)unused;
    enum { N = 60 };
    clv_context *ctx = new_context();
    given *g = new_given(N, 8, 0.3, 0, 0), *with = new_given(N, 8, 0.3, 0, 25);
    for (int variant = 0; variant < 8; variant++) {
        clv_dominant_options options =
            plain_options(variant % 2 ? CLV_DOMINANT_RD : CLV_DOMINANT_PFW, variant < 4 ? 0 : 1);
        options.k = 3;
        options.cutoff =
            variant / 2 % 2 ? 0.08 : (double)NAN; /* members of little weight stay out, and are absorbed or not */
        options.absorb = 0.95;
        options.control.tol = 1e-10;
        clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 0);
        clv_result *expected = solve(ctx, a, &options);
        for (int how = 0; how < HOLDINGS; how++) {
            for (int zeroed = 0; zeroed < 2; zeroed++) {
                clv_affinity *base, *b = hold(ctx, with, (holding)how, zeroed, &base);
                clv_result *result = solve(ctx, b, &options);
                check_same_clusters(expected, result, options.shift);
                clv_result_free(result);
                clv_affinity_free(b);
                clv_affinity_free(base);
            }
        }
        clv_result_free(expected);
        clv_affinity_free(a);
    }
    free_given(with);
    free_given(g);
    end_context(ctx);
}

/* --- peeling --- */

static const double *weights_of(const clv_result *result, const clv_matrix **m) {
    *m = clv_result_matrix(result, "membership");
    return (*m)->values;
}

/* Column c of the membership, dense. */
static void column_of(const clv_result *result, int64_t c, double *x) {
    const clv_matrix *m;
    const double *values = weights_of(result, &m);
    for (int64_t i = 0; i < m->rows; i++) {
        x[i] = 0;
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            x[i] = m->index[e] == c ? values[e] : x[i];
        }
    }
}

/* Labels, sizes, prototypes and objectives of a run that peels one by one, from its weights and the definitions. */
static void check_peeling(const clv_result *result, const given *g, const clv_dominant_options *options) {
    int64_t n = g->n, left = 0;
    double *x = test_malloc((size_t)(2 * n) * sizeof *x), *r = x + n, total = 0;
    int32_t *labels = test_malloc((size_t)n * sizeof *labels);
    for (int64_t i = 0; i < n; i++) {
        labels[i] = -1;
    }
    for (int32_t c = 0; c < result->k; c++) {
        const clv_cluster cluster = cluster_of(result, c);
        double shift = options->shift, sum = 0, squares = 0, most = -HUGE_VAL;
        double cutoff = isnan(options->cutoff) ? 2e-12 : options->cutoff;
        int64_t heaviest = 0, size = 0;
        column_of(result, c, x);
        double value = fresh_r(g->dense, n, shift, x, r);
        for (int64_t i = 0; i < n; i++) {
            sum += x[i];
            squares += x[i] * x[i];
            heaviest = x[i] > x[heaviest] ? i : heaviest;
            size += x[i] > cutoff;
            assert_true(x[i] >= 0 && (x[i] == 0 || labels[i] < 0)); /* of objects that were still there */
            most = labels[i] < 0 ? fmax(most, r[i]) : most;
        }
        for (int64_t i = 0; i < n; i++) {
            double ax = r[i] + shift * x[i];
            bool absorbed = options->absorb > 0 && ax >= options->absorb * cluster.similarity;
            labels[i] = labels[i] < 0 && (x[i] > cutoff || absorbed) ? c : labels[i];
        }
        assert_true(fabs(sum - 1) <= 1e-12);
        assert_int_equal(cluster.prototype, heaviest);
        assert_int_equal(cluster.size, size);
        assert_int_equal(cluster.pass, c);
        assert_int_equal(cluster.stop, CLV_CONVERGED);
        assert_true(fabs(cluster.cohesiveness - (value + shift)) <= 1e-12 * (1 + shift));
        assert_true(fabs(cluster.similarity - (value + shift * squares)) <= 1e-12 * (1 + shift));
        assert_true(fabs(cluster.certificate - (most - value)) <= 1e-12 * (1 + shift));
        assert_true(cluster.similarity > 0 && cluster.similarity >= options->min_cohesiveness);
        assert_true(cluster.size >= options->min_size);
        total += cluster.cohesiveness;
    }
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(result->labels[i], labels[i]);
        left += labels[i] < 0;
    }
    assert_int_equal(result->left_out, left);
    assert_true(fabs(result->objective.value - total) <= 1e-12 * (1 + total));
    assert_int_equal(clv_result_integer(result, "passes", 0), 0);
    test_free(labels);
    test_free(x);
}

static void peeling_is_what_it_says(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    given *g = new_given(90, 10, 0.6, 0, 0);
    for (int variant = 0; variant < 4 * HOLDINGS; variant++) {
        clv_affinity *base, *a = hold(ctx, g, (holding)(variant % HOLDINGS), 1, &base);
        clv_dominant_options options = plain_options(variant / HOLDINGS % 2 ? CLV_DOMINANT_AFW : CLV_DOMINANT_PFW, 0);
        options.shift = variant >= 2 * HOLDINGS ? 0.7 : 0;
        for (int way = 0; way < 5; way++) {
            options.absorb = way == 1 ? 0.6 : 0;
            options.cutoff = way == 2 ? 0.05 : (double)NAN;
            options.k = way == 3 ? 2 : 0;
            options.min_size = way == 4 ? 4 : 1;
            clv_result *result = solve(ctx, a, &options);
            check_peeling(result, g, &options);
            assert_true(way == 3 ? result->k == 2 : result->k > (way == 4 ? 0 : 2));
            assert_int_equal(result->stop, CLV_CONVERGED);
            assert_true(result->certificate.holds);
            clv_result_free(result);
        }
        clv_affinity_free(a);
        clv_affinity_free(base);
    }
    free_given(g);
    end_context(ctx);
}

/* Sizes of n / k from near cliques of a few: all of the peeling is then that at the shift that the result has. */
static void a_shift_is_found_for_k_clusters(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    given *g = new_given(90, 10, 0, 0.2, 0);
    for (int variant = 0; variant < HOLDINGS; variant++) {
        clv_affinity *base, *a = hold(ctx, g, (holding)variant, 1, &base);
        clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, NAN);
        clv_result *found, *result = solve(ctx, a, &options);
        assert_null(clv_result_field(result, "shift")); /* without k it is 0 */
        clv_result_free(result);
        options.k = 3;
        result = solve(ctx, a, &options);
        int64_t first = integer_of(result, "clusters.size", 0);
        assert_true(first >= 22 && first <= 42 && result->certificate.holds);
        const clv_method *method = clv_method_find("dominant");
        assert_int_equal(clv_evaluate(ctx, method, &(clv_input){.affinity = a}, &options, result, &found), CLV_OK);
        assert_true(fabs(found->objective.value - result->objective.value) <= 1e-9 * result->objective.value);
        clv_result_free(found);
        options.shift = clv_result_real(result, "shift", NAN);
        assert_true(options.shift > 0);
        check_peeling(result, g, &options);
        clv_result_free(result);
        clv_affinity_free(a);
        clv_affinity_free(base);
    }
    free_given(g);
    end_context(ctx);
}

/* Three groups in a row, the automatic gamma so wide that the middle of one is a dominant set: k of them are the
 * groups, not what is left of the first one. */
static void groups_are_found_whole(void **unused) {
    (void)unused;
    enum { EACH = 100, GROUPS = 3, COLUMNS = 3 };
    static double values[EACH * GROUPS * COLUMNS];
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(8, 0);
    for (int64_t e = 0; e < EACH * GROUPS * COLUMNS; e++) {
        values[e] = 5 * (double)(e / (EACH * COLUMNS)) + clv_rng_normal(&rng);
    }
    clv_matrix points = {.rows = EACH * GROUPS, .cols = COLUMNS, .values = values};
    clv_affinity_options how;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_GAUSSIAN;
    clv_affinity *a = NULL;
    assert_int_equal(clv_affinity_build(ctx, &points, &how, &a), CLV_OK);
    clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, NAN);
    options.k = GROUPS;
    clv_result *result = solve(ctx, a, &options);
    int64_t right = 0, seen[GROUPS] = {0};
    for (int64_t c = 0; c < GROUPS; c++) {
        int64_t members[GROUPS] = {0}, most = 0;
        for (int64_t i = 0; i < points.rows; i++) {
            members[i / EACH] += result->labels[i] == c;
        }
        for (int64_t g = 1; g < GROUPS; g++) {
            most = members[g] > members[most] ? g : most;
        }
        right += members[most];
        seen[most]++;
    }
    assert_true(seen[0] == 1 && seen[1] == 1 && seen[2] == 1);
    assert_true(right >= points.rows * 9 / 10);
    clv_result_free(result);
    clv_affinity_free(a);
    end_context(ctx);
}

/* The rows of the clusters one after the other, each with its iterations from 0 on. */
static void check_trace(const clv_result *result) {
    int64_t row = 0;
    assert_string_equal(result->trace_part, "cluster");
    for (int64_t c = 0; c < result->k; c++) {
        for (int64_t i = 0; i <= integer_of(result, "clusters.iterations", c); i++, row++) {
            assert_true(row < result->trace_count && result->trace[row].restart == 0);
            assert_int_equal(result->trace[row].part, c);
            assert_int_equal(result->trace[row].iteration, i);
        }
    }
}

/* Where peeling ends: the cluster that is too small, or not cohesive enough, is not in the result any more. */
static void peeling_ends_where_asked(void **unused) {
    (void)unused;
    enum { N = 14 };
    clv_context *ctx = new_context();
    given *g = new_given(N, 0, 1, 0, 0);
    /* Cliques of 6, 5 and 3 objects with similarities 1, 0.8 and 0.9. */
    for (int64_t e = 0; e < N * N; e++) {
        int64_t i = e / N, j = e % N;
        int ci = i < 6 ? 0 : i < 11 ? 1 : 2, cj = j < 6 ? 0 : j < 11 ? 1 : 2;
        g->dense[e] = i == j || ci != cj ? 0 : ci == 0 ? 1 : ci == 1 ? 0.8 : 0.9;
    }
    clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
    clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, 0);
    options.control.keep_trace = 1;
    clv_result *result = solve(ctx, a, &options);
    assert_int_equal(result->k, 3);
    check_trace(result);
    clv_result_free(result);
    options.min_size = 4;
    result = solve(ctx, a, &options);
    assert_int_equal(result->k, 2);
    assert_int_equal(result->left_out, 3);
    clv_result_free(result);
    options.min_size = 1;
    options.min_cohesiveness = 0.65; /* 5/6, then 0.8 4/5 = 0.64 */
    result = solve(ctx, a, &options);
    assert_int_equal(result->k, 1);
    clv_result_free(result);
    options.min_cohesiveness = 0.9;
    assert_int_equal(clv_dominant(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EDATA);
    assert_null(result);
    assert_non_null(strstr(clv_message(ctx), "smaller or less cohesive than asked for"));
    clv_affinity_free(a);
    free_given(g);
    end_context(ctx);
}

/* --- starts --- */

/* `weights`, of all objects, may be NULL. */
static clv_result *start_of(clv_context *ctx, const clv_affinity *a, const double *weights,
                            clv_dominant_options options) {
    const clv_matrix start = {.rows = clv_affinity_size(a), .cols = 1, .values = weights};
    options.k = 1;
    options.control.keep_trace = 1;
    return solve_input(ctx, &(clv_input){.affinity = a, .start = weights ? &start : NULL}, &options);
}

static void starts_are_where_they_say(void **unused) {
    (void)unused;
    enum { N = 50 };
    clv_context *ctx = new_context();
    given *g = new_given(N, 11, 0.2, 0, 0);
    clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
    double uniform[N], r[N], weights[N];
    int64_t vertex = 0;
    for (int64_t i = 0; i < N; i++) {
        uniform[i] = 1.0 / N;
        weights[i] = i == 7 || i == 9 ? 3 : 0;
    }
    double value = fresh_r(g->dense, N, 0, uniform, r);
    for (int64_t i = 0; i < N; i++) {
        vertex = r[i] > r[vertex] ? i : vertex;
    }
    clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, 0);
    clv_result *automatic = start_of(ctx, a, NULL, options);
    options.start = "vertex";
    clv_result *result = start_of(ctx, a, NULL, options);
    assert_true(result->trace[0].objective == 0 && result->trace[0].extra[0] == 1);
    assert_string_equal(result->trace_extras[0], "support");
    assert_string_equal(result->trace_part, "cluster");
    options.start_object = vertex;
    clv_result *object = start_of(ctx, a, NULL, options);
    assert_int_equal(result->trace_count, object->trace_count);
    assert_int_equal(result->trace_count, automatic->trace_count);
    for (int64_t t = 0; t < result->trace_count; t++) {
        assert_true(result->trace[t].objective == object->trace[t].objective);
        assert_true(result->trace[t].objective == automatic->trace[t].objective);
    }
    clv_result_free(automatic);
    clv_result_free(object);
    clv_result_free(result);
    options.start_object = -1;
    options.start = "center";
    result = start_of(ctx, a, NULL, options);
    assert_true(fabs(result->trace[0].objective - value) <= 1e-14 && result->trace[0].extra[0] == N);
    clv_result_free(result);
    result = start_of(ctx, a, weights, options);
    assert_true(fabs(result->trace[0].objective - g->dense[7 * N + 9] / 2) <= 1e-15);
    assert_true(result->trace[0].extra[0] == 2);
    clv_result_free(result);
    clv_affinity_free(a);
    free_given(g);
    end_context(ctx);
}

/* The best of several random objects to start from, and the best of them is the first of equals. */
static void random_starts_are_restarts(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    given *g = new_given(80, 12, 0.5, 0, 0);
    clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
    clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, 0);
    double best = 0, once;
    options.k = 1;
    options.start = "random";
    clv_result *result = solve(ctx, a, &options);
    once = result->objective.value;
    clv_result_free(result);
    options.control.restarts = 40;
    result = solve(ctx, a, &options);
    best = result->objective.value;
    clv_result_free(result);
    assert_true(best >= once);
    options.control.restarts = 1;
    for (int64_t i = 0; i < 80; i++) {
        options.start_object = i;
        result = solve(ctx, a, &options);
        assert_true(i > 0 || result->restarts_count == 1);
        once = fmax(once, result->objective.value);
        clv_result_free(result);
    }
    assert_true(best <= once + 1e-9);
    clv_affinity_free(a);
    free_given(g);
    end_context(ctx);
}

/* An object that is similar to nothing is no place to end at as long as others are similar. */
static void lonely_starts_do_not_end_the_peeling(void **unused) {
    (void)unused;
    enum { N = 30 };
    clv_context *ctx = new_context();
    given *g = new_given(N, 0, 1, 0, 0);
    for (int64_t e = 0; e < N * N; e++) {
        int64_t i = e / N, j = e % N;
        g->dense[e] = i != j && i < 10 && j < 10 && i / 5 == j / 5 ? 1 : 0;
    }
    clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
    for (int64_t seed = 0; seed < 10; seed++) {
        clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, 0);
        options.start = "random";
        options.control.seed = seed;
        clv_result *result = solve(ctx, a, &options);
        assert_int_equal(result->k, 2);
        assert_int_equal(result->left_out, 20);
        clv_result_free(result);
    }
    clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, 0);
    clv_result *result = NULL;
    options.start_object = 20;
    clv_status status = clv_dominant(ctx, &(clv_input){.affinity = a}, &options, &result);
    assert_true(status == CLV_OK || !strstr(clv_message(ctx), "no two objects are similar"));
    clv_result_free(result);
    clv_affinity_free(a);
    free_given(g);
    end_context(ctx);
}

/* It is on by default, spares steps, and --no-face-solve is without it. */
static void jumps_spare_steps(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    given *g = new_given(200, 6, 0, 0.5, 0);
    clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
    int64_t iterations[2];
    double value[2];
    for (int on = 0; on < 2; on++) {
        clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, 30);
        clv_result *result;
        assert_int_equal(options.face_solve, 1);
        options.k = 1;
        options.face_solve = on;
        options.control.tol = 1e-12;
        options.control.max_iter = 100000;
        assert_int_equal(clv_dominant(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
        iterations[on] = result->iterations;
        value[on] = result->objective.value;
        clv_result_free(result);
    }
    assert_true(iterations[1] < iterations[0]);
    assert_true(fabs(value[1] - value[0]) <= 1e-9);
    clv_affinity_free(a);
    free_given(g);
    end_context(ctx);
}

/* --- refusals --- */

static void check_refused_input(clv_context *ctx, const clv_input *input, clv_dominant_options options,
                                clv_status status, const char *words) {
    clv_result *result = NULL;
    assert_int_equal(clv_dominant(ctx, input, &options, &result), status);
    assert_null(result);
    if (!strstr(clv_message(ctx), words)) {
        fail_msg("'%s' does not say '%s'", clv_message(ctx), words);
    }
}

static void check_refusal(clv_context *ctx, const clv_affinity *a, clv_dominant_options options, clv_status status,
                          const char *words) {
    check_refused_input(ctx, &(clv_input){.affinity = a}, options, status, words);
}

static void check_refused_start(clv_context *ctx, const clv_affinity *a, const double *weights,
                                clv_dominant_options options, clv_status status, const char *words) {
    const clv_matrix start = {.rows = clv_affinity_size(a), .cols = 1, .values = weights};
    check_refused_input(ctx, &(clv_input){.affinity = a, .start = &start}, options, status, words);
}

static void refuses_what_cannot_be(void **unused) {
    (void)unused;
    enum { N = 8 };
    clv_context *ctx = new_context();
    given *g = new_given(N, 13, 0, 0, 0);
    clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
    const clv_dominant_options good = plain_options(CLV_DOMINANT_PFW, 0);
    double weights[N] = {1, 2, 3, -1, 0, 0, 0, 0}, none[N] = {0}, unknown[N] = {0, 0, NAN, 0, 0, 0, 0, 0};
    double endless[N] = {1e308, 1e308, 1e308};
    clv_dominant_options bad = good;
    bad.k = N + 1;
    check_refusal(ctx, a, bad, CLV_EDATA, "k = 9 exceeds the 8 objects");
    bad = good;
    bad.k = -1;
    check_refusal(ctx, a, bad, CLV_EUSAGE, "k = '-1'");
    bad = good;
    bad.shift = -1;
    check_refusal(ctx, a, bad, CLV_EUSAGE, "shift");
    bad = good;
    bad.overlap = 101;
    check_refusal(ctx, a, bad, CLV_EUSAGE, "overlap");
    bad = good;
    bad.solver = 4;
    check_refusal(ctx, a, bad, CLV_EUSAGE, "solver");
    bad = good;
    bad.control.restarts = 0;
    check_refusal(ctx, a, bad, CLV_EUSAGE, "restarts");
    bad = good;
    bad.start = "somewhere";
    check_refusal(ctx, a, bad, CLV_EUSAGE, "somewhere");
    bad.start = NULL;
    check_refusal(ctx, a, bad, CLV_EUSAGE, "start");
    bad = good;
    bad.start_object = N;
    check_refusal(ctx, a, bad, CLV_EDATA, "start-object = 8 is not one of the 8 objects");
    bad = good;
    check_refused_start(ctx, a, weights, bad, CLV_EDATA, "weight of object 4 to start from is -1");
    check_refused_start(ctx, a, none, bad, CLV_EDATA, "add up to 0");
    check_refused_start(ctx, a, unknown, bad, CLV_EDATA, "start row 3 column 1: nan is not a finite number");
    check_refused_start(ctx, a, endless, bad, CLV_EDATA, "add up to inf");
    bad.multistart = 3;
    check_refused_start(ctx, a, endless, bad, CLV_EUSAGE, "multistart");
    bad = good;
    bad.solver = CLV_DOMINANT_RD;
    bad.start = "vertex";
    check_refusal(ctx, a, bad, CLV_EUSAGE, "rd cannot start at a single object");
    bad.start = "auto";
    bad.start_object = 2;
    check_refusal(ctx, a, bad, CLV_EUSAGE, "rd cannot start at a single object");
    clv_affinity_free(a);
    free_given(g);
    end_context(ctx);
}

/* Weights on objects that are not similar to each other: rd has nowhere to go, and says so or stays. */
static void the_replicator_does_not_divide_by_zero(void **unused) {
    (void)unused;
    enum { N = 6 };
    clv_context *ctx = new_context();
    given *g = new_given(N, 13, 0, 0.5, 0);
    clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
    clv_dominant_options options = plain_options(CLV_DOMINANT_RD, 0);
    double weights[N] = {0, 1};
    clv_result *result = NULL;
    const clv_matrix start = {.rows = N, .cols = 1, .values = weights};
    clv_status status = clv_dominant(ctx, &(clv_input){.affinity = a, .start = &start}, &options, &result);
    assert_true(status == CLV_OK || status == CLV_EUSAGE || status == CLV_EDATA);
    clv_result_free(result);
    clv_affinity_free(a);
    free_given(g);
    end_context(ctx);
}

/* --- memory, and the page --- */

/* At least what the forecast says is held, and little more: what depends on the result, and the work of the face. */
static void memory_is_foretold(void **unused) {
    (void)unused;
    enum { N = 600 };
    given *g = new_given(N, 14, 0.7, 0, 0);
    for (int variant = 0; variant < 6; variant++) {
        clv_context *ctx = new_context();
        holding how = variant % 3 == 2 ? HELD_SPARSE : HELD_DOUBLES;
        clv_affinity *a = hold_base(ctx, g, how, 1);
        clv_dominant_options options = plain_options(variant % 3 == 1 ? CLV_DOMINANT_RD : CLV_DOMINANT_PFW, 0);
        size_t before, now, peak;
        options.k = 2;
        options.face_solve = 0;
        options.multistart = variant >= 3 ? 3 : 0;
        options.control.threads = variant >= 3 ? 2 : 1;
        clv_context_memory(ctx, &before, &peak);
        clv_result *result = solve(ctx, a, &options);
        clv_context_memory(ctx, &now, &peak);
        clv_affinity_info info;
        clv_affinity_describe(a, &info);
        double foretold = (double)clv_dominant_memory(&(clv_input){.plan = &info}, &options);
        double held = (double)(peak - before);
        assert_true(clv_dominant_memory(&(clv_input){.affinity = a}, &options) == (size_t)foretold);
        assert_true(held <= 1.15 * foretold + 4096);
        assert_true(held >= 0.5 * foretold);
        clv_result_free(result);
        clv_affinity_free(a);
        end_context(ctx);
    }
    free_given(g);
}

#ifdef CLEAVE_SOURCE_DIR
/* docs/dominant.md lists each option of the table with its default and its help. */
static void the_page_lists_the_options(void **unused) {
    (void)unused;
    static char page[1 << 16];
    FILE *file = fopen(CLEAVE_SOURCE_DIR "/docs/dominant.md", "r");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[size] = '\0';
    const clv_option_table *table = clv_method_find("dominant")->options;
    clv_dominant_options options;
    clv_dominant_defaults(&options);
    for (size_t i = 0; i < table->count; i++) {
        const clv_option *option = &table->options[i];
        char row[256], value[64];
        clv_options_print(option, &options, value, sizeof value);
        const char *taken = option->kind == CLV_OPTION_CHOICE ? option->choices : option->meta;
        snprintf(row, sizeof row, "| `--%s%s%s` | %s | %s |\n", option->name, taken ? " " : "", taken ? taken : "",
                 value, option->help);
        for (char *bar = strchr(row + 1, '|'); bar && taken && strchr(taken, '|'); bar = strchr(bar + 1, '|')) {
            if (bar[1] != ' ' && bar[1] != '\n') { /* a bar inside a cell is escaped */
                memmove(bar + 1, bar, strlen(bar) + 1);
                *bar++ = '\\';
            }
        }
        if (!strstr(page, row)) {
            fail_msg("docs/dominant.md lacks: %s", row);
        }
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jumps_spare_steps),
        cmocka_unit_test(the_diagonal_counts_as_zero),
        cmocka_unit_test(peeling_is_what_it_says),
        cmocka_unit_test(a_shift_is_found_for_k_clusters),
        cmocka_unit_test(groups_are_found_whole),
        cmocka_unit_test(peeling_ends_where_asked),
        cmocka_unit_test(starts_are_where_they_say),
        cmocka_unit_test(random_starts_are_restarts),
        cmocka_unit_test(lonely_starts_do_not_end_the_peeling),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(the_replicator_does_not_divide_by_zero),
        cmocka_unit_test(memory_is_foretold),
#ifdef CLEAVE_SOURCE_DIR
        cmocka_unit_test(the_page_lists_the_options),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
