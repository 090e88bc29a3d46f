/* A home that has nothing but columns is complete: every method gives on it what it gives on the dense home with the
 * same entries. It wants its callers one by one and gets them so, and when it fails, so does every method, with its
 * status and its sentence, and with nothing left behind. */
#include "affinity/home.h"

#include "entry_of.h"
#include "failing.h"
#include "methods/dominant/dominant.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>

enum { N = 100, P = 3, K = 4 };

/* --- the home --- */

static double matrix[N * N];
static atomic_int callers, most_callers, columns_made;
static int columns_left; /* before it fails; negative: it never does */

static clv_status bare_column(const clv_affinity *a, int64_t i, double *out) {
    int together = atomic_fetch_add(&callers, 1) + 1;
    clv_status status = CLV_OK;
    if (together > atomic_load(&most_callers)) {
        atomic_store(&most_callers, together);
    }
    int made = atomic_fetch_add(&columns_made, 1);
    if (made % 256 == 0) {
        sched_yield(); /* let others in, if they may come */
    }
    if (made == columns_left) {
        status = clv_fail(a->ctx, CLV_EIO, "the cable is out");
    } else {
        memcpy(out, matrix + i * N, N * sizeof *out);
    }
    atomic_fetch_sub(&callers, 1);
    return status;
}

static void bare_destroy(clv_affinity *a) {
    (void)a;
}

static clv_affinity *new_bare(clv_context *ctx, bool serial) {
    const clv_home_functions functions = {
        .name = "bare", .serial = serial, .column = bare_column, .destroy = bare_destroy};
    clv_affinity *a;
    assert_int_equal(clv_affinity_new(ctx, &functions, N, NULL, &a), CLV_OK);
    atomic_store(&most_callers, 0);
    atomic_store(&columns_made, 0);
    columns_left = -1;
    return a;
}

/* The same entries as doubles in memory. */
static clv_affinity *new_dense(clv_context *ctx) {
    const clv_matrix given = {.rows = N, .cols = N, .scalar = CLV_F64, .values = matrix};
    clv_affinity_options how;
    clv_affinity *a;
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    assert_int_equal(clv_affinity_build(ctx, &given, &how, &a), CLV_OK);
    return a;
}

/* K groups of points, and one object that is similar to nobody. */
static int fill_matrix(void **state) {
    clv_rng rng = clv_rng_stream(12, 1);
    double points[N * P];
    (void)state;
    for (int e = 0; e < N * P; e++) {
        points[e] = 3 * ((e / P * (e % P + 1)) % K) + 0.7 * clv_rng_normal(&rng);
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double d2 = 0;
            for (int f = 0; f < P; f++) {
                d2 += pow(points[i * P + f] - points[j * P + f], 2);
            }
            matrix[i * N + j] = i == 5 || j == 5 ? 0 : exp(-0.4 * d2);
        }
    }
    return 0;
}

/* --- the operator --- */

static void assert_close(const double *found, const double *expected, int64_t count) {
    for (int64_t e = 0; e < count; e++) {
        if (!(fabs(found[e] - expected[e]) <= 1e-13 * (1 + fabs(expected[e])))) {
            fail_msg("number %lld is %.17g and should be %.17g", (long long)e, found[e], expected[e]);
        }
    }
}

static void check_sums(const clv_affinity *bare, const clv_affinity *dense, int64_t threads) {
    static double x[K * N], y[K * N], z[K * N];
    int32_t labels[N], after[N];
    int64_t objects[N];
    double moments[4];
    for (int64_t i = 0; i < N; i++) {
        labels[i] = (int32_t)(i % (K + 1)) - 1;
        after[i] = (int32_t)(i * i % (K + 1)) - 1;
        objects[i] = (i * 17) % N;
    }
    for (int64_t e = 0; e < K * N; e++) {
        x[e] = sin((double)e);
    }
    assert_int_equal(clv_affinity_apply(bare, x, K, y, threads), CLV_OK);
    assert_int_equal(clv_affinity_apply(dense, x, K, z, threads), CLV_OK);
    assert_close(y, z, K * N);
    assert_int_equal(clv_affinity_group_sums(bare, labels, K, y, threads), CLV_OK);
    assert_int_equal(clv_affinity_group_sums(dense, labels, K, z, threads), CLV_OK);
    assert_close(y, z, K * N);
    memcpy(y, z, sizeof y);
    assert_int_equal(clv_affinity_move_many(bare, objects, labels, after, N, y, threads), CLV_OK);
    assert_int_equal(clv_affinity_move_many(dense, objects, labels, after, N, z, threads), CLV_OK);
    assert_memory_equal(y, z, sizeof y);
    clv_change change = {.first = 64, .count = N - 64, .k = K, .d = x};
    assert_int_equal(clv_affinity_add_rows(bare, &change, y, 1), CLV_OK);
    assert_int_equal(clv_affinity_add_rows(dense, &change, z, 1), CLV_OK);
    assert_close(y, z, K * N);
    assert_int_equal(clv_affinity_combine(bare, objects, x, N, y, threads), CLV_OK);
    assert_int_equal(clv_affinity_combine(dense, objects, x, N, z, threads), CLV_OK);
    assert_close(y, z, N);
    assert_int_equal(clv_affinity_moments(bare, threads, moments, moments + 1), CLV_OK);
    assert_int_equal(clv_affinity_moments(dense, threads, moments + 2, moments + 3), CLV_OK);
    assert_close(moments, moments + 2, 2);
}

/* What needs no sum has the bits of the columns. */
static void check_entries(const clv_affinity *bare) {
    const int64_t objects[] = {90, 3, 77, 12};
    static double out[N * N];
    clv_affinity *some;
    clv_data *written;
    assert_int_equal(clv_affinity_column_threads(bare, 3, out, 2), CLV_OK);
    assert_memory_equal(out, matrix + 3 * N, N * sizeof *out);
    assert_int_equal(clv_affinity_diagonal(bare, out), CLV_OK);
    for (int64_t i = 0; i < N; i++) {
        assert_true(out[i] == matrix[i * N + i] && entry_of(bare, i, 7) == matrix[i * N + 7]);
    }
    assert_int_equal(clv_affinity_block(bare, 64, 10, out), CLV_OK);
    for (int64_t e = 0; e < 100; e++) {
        assert_true(out[e] == matrix[(64 + e / 10) * N + 64 + e % 10]);
    }
    assert_int_equal(clv_affinity_materialize(bare, &written), CLV_OK);
    assert_memory_equal(clv_data_matrix(written)->values, matrix, sizeof matrix);
    clv_data_free(written);
    assert_int_equal(clv_affinity_subset(bare, objects, 4, &some), CLV_OK);
    for (int64_t e = 0; e < 16; e++) {
        assert_true(entry_of(some, e / 4, e % 4) == matrix[objects[e / 4] * N + objects[e % 4]]);
    }
    clv_affinity_free(some);
}

static void the_operator_is_complete(void **state) {
    clv_context *ctx = new_context();
    clv_affinity *dense = new_dense(ctx);
    (void)state;
    for (int serial = 0; serial < 2; serial++) {
        clv_affinity *bare = new_bare(ctx, serial);
        for (int64_t threads = 1; threads <= 2; threads++) {
            check_sums(bare, dense, threads);
        }
        check_entries(bare);
        clv_affinity_free(bare);
    }
    clv_affinity_free(dense);
    end_context(ctx);
}

/* It is taken for no other, and says nothing that it cannot know. */
static void it_is_nobody_else(void **state) {
    clv_context *ctx = new_context();
    clv_affinity *a = new_bare(ctx, true);
    clv_affinity_info info;
    clv_matrix view;
    clv_data *cross;
    double largest;
    (void)state;
    clv_affinity_describe(a, &info);
    assert_string_equal(info.home, "bare");
    assert_int_equal(info.kind, CLV_AFFINITY_PRECOMPUTED);
    assert_false(info.sparse || info.cost.resident || clv_affinity_has_cheap_products(&info));
    assert_true(info.cost.entry == N && info.cost.column == N && info.cost.pass == N * N);
    assert_false(clv_affinity_view(a, &view) || clv_affinity_factor(a, &view));
    assert_int_equal(clv_affinity_largest(a, &largest), CLV_OK);
    assert_true(largest == HUGE_VAL);
    assert_int_equal(clv_affinity_cross(a, &(clv_matrix){.rows = 1, .cols = P}, &cross), CLV_EUSAGE);
    assert_int_equal(atomic_load(&columns_made), 0);
    clv_affinity_free(a);
    end_context(ctx);
}

static void what_is_out_of_range_is_refused(void **state) {
    clv_context *ctx = new_context();
    clv_affinity *a = new_bare(ctx, true);
    static double out[K * N];
    const int64_t objects[] = {0, N};
    const double weights[] = {1, 1};
    int32_t labels[N] = {0}, before[N + 1] = {0}, after[N + 1] = {0};
    (void)state;
    labels[N - 1] = K;
    assert_int_equal(clv_affinity_column(a, N, out), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "object 100: the affinity is of objects 0 to 99"));
    assert_int_equal(clv_affinity_column(a, -1, out), CLV_EUSAGE);
    assert_int_equal(clv_affinity_entry(a, 0, N, out), CLV_EUSAGE);
    assert_int_equal(clv_affinity_entry(a, -1, 0, out), CLV_EUSAGE);
    assert_int_equal(clv_affinity_combine(a, objects, weights, 2, out, 1), CLV_EUSAGE);
    assert_int_equal(clv_affinity_move(a, N, 0, 1, out), CLV_EUSAGE);
    assert_int_equal(clv_affinity_move_many(a, objects, before, after, 2, out, 1), CLV_EUSAGE);
    assert_int_equal(clv_affinity_group_sums(a, labels, K, out, 1), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "label 4 of object 99"));
    assert_int_equal(atomic_load(&columns_made), 0);
    clv_affinity_free(a);
    end_context(ctx);
    assert_string_equal(clv_home_name((clv_home)99), "?");
    assert_string_equal(clv_home_name((clv_home)-1), "?");
    assert_string_equal(clv_affinity_kind_name((clv_affinity_kind)99), "?");
    assert_string_equal(clv_affinity_kind_name((clv_affinity_kind)-1), "?");
}

/* The table of kinds and the option agree. */
static void kinds_and_homes_have_one_name(void **state) {
    (void)state;
    clv_context *ctx = new_context();
    clv_affinity_options o;
    clv_affinity_defaults(&o);
    for (int kind = CLV_AFFINITY_GAUSSIAN; kind <= CLV_AFFINITY_PRECOMPUTED; kind++) {
        const char *name = clv_affinity_kind_name((clv_affinity_kind)kind);
        assert_int_equal(clv_options_set(ctx, clv_affinity_table(), &o, "affinity", name), CLV_OK);
        assert_int_equal(o.kind, kind);
    }
    for (int home = CLV_HOME_AUTO; home <= CLV_HOME_LOWRANK; home++) {
        assert_int_equal(clv_options_set(ctx, clv_affinity_table(), &o, "home", clv_home_name((clv_home)home)), CLV_OK);
        assert_int_equal(o.home, home);
    }
    end_context(ctx);
}

/* --- the methods ---
 *
 * Ways that depend on rounding, as those by pairwise steps do, are gone to their end, where they meet. Among equal
 * restarts rounding would choose, so that there is one, unless a home is compared with itself. */

typedef clv_status (*runner)(clv_context *ctx, const clv_affinity *a, int variant, int64_t restarts, int64_t threads,
                             clv_result **out);

static clv_status run_ncut(clv_context *ctx, const clv_affinity *a, int variant, int64_t restarts, int64_t threads,
                           clv_result **out) {
    static const char *const starts[] = {"auto", "kmeans++", "spectral"};
    clv_ncut_options options;
    clv_ncut_defaults(&options);
    options.k = variant == 12 ? 0 : K;
    options.solver = variant % 4;
    options.start = starts[variant / 4 % 3];
    options.bound = variant % 3; /* auto, yes, no */
    options.patience = 2;
    options.control.restarts = restarts;
    options.control.threads = threads;
    return clv_ncut(ctx, &(clv_input){.affinity = a}, &options, out);
}

/* Beyond this, rounding decides how far rows come. */
static const double ROWS_TOLERANCE = 1e-7;

static clv_status run_symnmf(clv_context *ctx, const clv_affinity *a, int variant, int64_t restarts, int64_t threads,
                             clv_result **out) {
    clv_symnmf_options options;
    clv_symnmf_defaults(&options);
    options.k = K;
    options.solver = variant < 6 ? variant : CLV_SYMNMF_ROWS;
    options.start = variant < 6 ? "kmeans++" : variant == 6 ? "spectral" : "random";
    options.control.tol = options.solver == CLV_SYMNMF_ROWS ? ROWS_TOLERANCE : 1e-4;
    options.control.max_iter = options.solver == CLV_SYMNMF_ROWS ? 1000 : 10;
    options.control.restarts = restarts;
    options.control.threads = threads;
    return clv_symnmf(ctx, &(clv_input){.affinity = a}, &options, out);
}

static clv_status run_dominant(clv_context *ctx, const clv_affinity *a, int variant, int64_t restarts, int64_t threads,
                               clv_result **out) {
    static const double tolerances[] = {1e-3, 1e-11, 1e-11, 0.1};
    clv_dominant_options options;
    clv_dominant_defaults(&options);
    options.solver = variant % 4;
    options.multistart = variant >= 4 ? 6 : 0;
    options.sampling = variant >= 8 ? CLV_DOMINANT_DPP : CLV_DOMINANT_UNIFORM;
    options.assign = 1;
    options.min_cohesiveness = 0.05; /* of what is less, rounding decides whether it holds */
    options.shift = variant % 3 * 0.2;
    options.absorb = variant % 2 ? 0.8 : 0;
    options.control.tol = tolerances[options.solver];
    options.control.restarts = restarts;
    options.control.threads = threads;
    return clv_dominant(ctx, &(clv_input){.affinity = a}, &options, out);
}

static const struct {
    const char *name;
    runner run;
    int variants;
} methods[] = {{"ncut", run_ncut, 13}, {"symnmf", run_symnmf, 8}, {"dominant", run_dominant, 12}};

static void assert_same(const char *name, int variant, const clv_result *found, const clv_result *expected,
                        double rounding) {
    double scale = rounding * (1 + fabs(expected->objective.value));
    bool same = found->k == expected->k && found->certificate.holds == expected->certificate.holds &&
                fabs(found->objective.value - expected->objective.value) <= scale &&
                fabs(found->certificate.value - expected->certificate.value) <= scale;
    for (int64_t i = 0; i < N; i++) {
        same = same && found->labels[i] == expected->labels[i];
    }
    if (!same) {
        fail_msg("%s, variant %d: %.17g (%.17g) instead of %.17g (%.17g), or other labels", name, variant,
                 found->objective.value, found->certificate.value, expected->objective.value,
                 expected->certificate.value);
    }
}

static void every_method_gives_what_it_gives_on_dense(void **state) {
    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        for (int variant = 0; variant < methods[m].variants; variant++) {
            clv_context *ctx = new_context();
            clv_affinity *dense = new_dense(ctx), *bare = new_bare(ctx, true);
            clv_result *expected, *found;
            assert_int_equal(methods[m].run(ctx, dense, variant, 1, 2, &expected), CLV_OK);
            assert_int_equal(methods[m].run(ctx, bare, variant, 1, 2, &found), CLV_OK);
            bool by_rows = strcmp(found->solver, "rows") == 0;
            assert_same(methods[m].name, variant, found, expected, by_rows ? ROWS_TOLERANCE : 1e-10);
            clv_result_free(expected);
            clv_result_free(found);
            clv_affinity_free(dense);
            clv_affinity_free(bare);
            end_context(ctx);
        }
    }
}

/* Restarts and starts on two threads, all at once in their columns but for the lock. */
static void it_is_called_by_one_thread_at_a_time(void **state) {
    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        for (int variant = 0; variant < methods[m].variants; variant += 3) {
            clv_context *ctx = new_context();
            clv_affinity *bare = new_bare(ctx, true);
            clv_result *alone, *together;
            assert_int_equal(methods[m].run(ctx, bare, variant, 4, 1, &alone), CLV_OK);
            assert_int_equal(methods[m].run(ctx, bare, variant, 4, 3, &together), CLV_OK);
            assert_int_equal(atomic_load(&most_callers), 1);
            assert_same(methods[m].name, variant, together, alone, 0);
            clv_result_free(alone);
            clv_result_free(together);
            clv_affinity_free(bare);
            end_context(ctx);
        }
    }
}

/* The first part is what clv_dominant_assign is for; the second has all of it in one call. */
static void assignment_and_cut_are_the_same(void **state) {
    clv_context *ctx = new_context();
    clv_affinity *homes[] = {new_dense(ctx), new_bare(ctx, true)};
    int32_t labels[2][N], component[2][N];
    int64_t count[2];
    double cut[2];
    (void)state;
    for (int few = 0; few < 2; few++) {
        for (int h = 0; h < 2; h++) {
            for (int64_t i = 0; i < N; i++) {
                labels[h][i] = i % 10 < (few ? 2 : 8) ? (int32_t)(i % K) : -1;
            }
            assert_int_equal(clv_dominant_assign(ctx, homes[h], K, 2, labels[h]), CLV_OK);
            assert_int_equal(clv_ncut_value(ctx, homes[h], labels[h], 2, &cut[h]), CLV_OK);
            assert_int_equal(clv_affinity_components(homes[h], component[h], &count[h]), CLV_OK);
        }
        assert_memory_equal(labels[0], labels[1], sizeof labels[0]);
        assert_memory_equal(component[0], component[1], sizeof component[0]);
        assert_int_equal(count[0], count[1]);
        assert_close(&cut[1], &cut[0], 1);
    }
    clv_affinity_free(homes[0]);
    clv_affinity_free(homes[1]);
    end_context(ctx);
}

/* --- failures --- */

static void check_failure(runner run, int variant, int after) {
    clv_context *ctx = new_context();
    clv_affinity *a = new_bare(ctx, true);
    clv_result *result;
    columns_left = after;
    assert_int_equal(run(ctx, a, variant, 2, 2, &result), CLV_EIO);
    assert_string_equal(clv_message(ctx), "the cable is out");
    assert_null(result);
    clv_affinity_free(a);
    end_context(ctx);
}

static void when_it_fails_so_does_the_method(void **state) {
    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        for (int variant = 0; variant < methods[m].variants; variant++) {
            clv_context *ctx = new_context();
            clv_affinity *a = new_bare(ctx, true);
            clv_result *result;
            assert_int_equal(methods[m].run(ctx, a, variant, 2, 2, &result), CLV_OK);
            int all = atomic_load(&columns_made);
            clv_result_free(result);
            clv_affinity_free(a);
            end_context(ctx);
            for (int after = 0; after < all; after += all < 1000 ? 1 : all / 8) {
                check_failure(methods[m].run, variant, after);
            }
        }
    }
}

/* What a dense home is written out from is not a matter of order: of each kind that has a dense home it is one maker,
 * which is not dense itself. */
static void each_kind_has_one_source(void **state) {
    static const clv_home_maker *const all[] = {&clv_dense64_maker, &clv_dense32_maker, &clv_computed_maker,
                                                &clv_minimax_maker, &clv_lowrank_maker, &clv_sparse_maker};
    const double values[4] = {0, 1, 2, 3};
    const clv_matrix points = {2, 2, CLV_F64, values, NULL, NULL};
    (void)state;
    for (int kind = CLV_AFFINITY_GAUSSIAN; kind < CLV_AFFINITY_PRECOMPUTED; kind++) {
        clv_affinity_options how;
        int sources = 0, dense = 0;
        clv_affinity_defaults(&how);
        how.kind = kind;
        for (size_t m = 0; m < CLV_COUNT(all); m++) {
            how.home = all[m]->asked;
            bool suits = all[m]->suits(&points, &how), square = all[m]->asked <= CLV_HOME_DENSE32;
            sources += suits && all[m]->source;
            dense += suits && square;
            assert_false(square && all[m]->source);
            assert_true(!suits || !all[m]->source || clv_home_source(&points, &how) == all[m]);
        }
        assert_true(sources == (kind != CLV_AFFINITY_KNN) && dense == 2 * sources);
        assert_int_equal(clv_home_source(&points, &how) != NULL, sources);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_one_source),
        cmocka_unit_test(the_operator_is_complete),
        cmocka_unit_test(it_is_nobody_else),
        cmocka_unit_test(what_is_out_of_range_is_refused),
        cmocka_unit_test(kinds_and_homes_have_one_name),
        cmocka_unit_test(every_method_gives_what_it_gives_on_dense),
        cmocka_unit_test(it_is_called_by_one_thread_at_a_time),
        cmocka_unit_test(assignment_and_cut_are_the_same),
        cmocka_unit_test(when_it_fails_so_does_the_method),
    };
    return cmocka_run_group_tests(tests, fill_matrix, NULL);
}
