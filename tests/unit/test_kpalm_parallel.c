/* The start kmeans-parallel (k-means||): who is drawn, against the definition by a plain loop over the same streams;
 * what candidates weigh; how good the centers are; odd sizes, equal points; every allocation that can fail. */
#include "failing.h"

#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "with_context.h"

enum { N = 3000, P = 4, K = 12, GROUPS = 12 };

static double values[N * P], sample[N];
static float narrow[N * P];

/* Groups that lie far apart; weights, of which every fifth is 0. */
static void fill(double spread) {
    clv_rng rng = clv_rng_stream(11, 0);
    for (int64_t e = 0; e < N * P; e++) {
        int64_t group = e / P % GROUPS;
        double center = 40 * sin((double)(group * 7 + e % P * 3 + 1));
        values[e] = (double)(float)(center + spread * clv_rng_normal(&rng));
        narrow[e] = (float)values[e];
    }
    for (int64_t i = 0; i < N; i++) {
        sample[i] = i % 5 == 0 ? 0 : 0.5 + clv_rng_uniform(&rng);
    }
}

static clv_kpalm_options options_for(int64_t k, int64_t seed) {
    clv_kpalm_options options;
    clv_kpalm_defaults(&options);
    options.k = k;
    options.solver = CLV_KPALM_LLOYD;
    options.start = CLV_KMEANS_PARALLEL;
    options.control.seed = seed;
    options.control.threads = 2;
    return options;
}

/* --- who is drawn --- */

typedef struct drawn {
    clv_kpalm_problem problem;
    void *state;
    clv_candidates c;
    clv_rng before; /* of the numbers that it took */
} drawn;

static void draw(bool euclidean, bool single, bool weighted, int64_t room, drawn *d) {
    clv_matrix points = {.rows = N, .cols = P, .values = values};
    static clv_matrix kept;
    clv_matrix weights = {.rows = N, .cols = 1, .values = sample};
    clv_kpalm_options options = options_for(K, 1);
    options.solver = euclidean ? CLV_KPALM_WEISZFELD : CLV_KPALM_LLOYD;
    points.scalar = single ? CLV_F32 : CLV_F64;
    points.values = single ? (void *)narrow : (void *)values;
    kept = points;
    clv_input input = {.points = &kept, .weights = weighted ? &weights : NULL};
    assert_int_equal(clv_kpalm_problem_new(ctx, &input, &options, &d->problem), CLV_OK);
    assert_int_equal(clv_kpalm_state_new(ctx, &d->problem, 2, &d->state), CLV_OK);
    assert_int_equal(clv_candidates_new(&d->problem, &d->c), CLV_OK);
    d->c.room = room > 0 ? room : d->c.room;
    d->before = clv_rng_stream(5, (uint64_t)single);
    clv_rng rng = d->before;
    assert_int_equal(clv_kpalm_oversample(d->state, &rng, &d->c), CLV_OK);
}

static void end_draw(drawn *d) {
    clv_candidates_free(&d->c);
    clv_kpalm_state_free(ctx, d->state);
    clv_kpalm_problem_free(&d->problem);
}

/* The distance of object i to the nearest of the first `count` candidates, as it counts; and which that is. */
static double nearest(const drawn *d, int64_t i, int64_t count, int64_t *which) {
    double least = HUGE_VAL;
    for (int64_t c = 0; c < count; c++) {
        double square = clv_square_of(values + i * P, values + d->c.object[c] * P, P);
        *which = square < least ? c : *which;
        least = fmin(least, square);
    }
    return d->problem.euclidean ? sqrt(least) : least;
}

/* Whether exactly those were drawn in a round that had to be; objects within rounding of the threshold may be or not.
 */
static void check_round(const drawn *d, int64_t begin, int64_t end, uint64_t salt) {
    static double part[N];
    double phi = 0;
    int64_t which, at = begin, certain = 0;
    for (int64_t i = 0; i < N; i++) {
        part[i] = clv_kpalm_sample(&d->problem, i) * nearest(d, i, begin, &which);
        phi += part[i];
    }
    for (int64_t i = 0; i < N; i++) {
        clv_rng own = clv_rng_stream(salt, (uint64_t)i);
        double drawn_at = clv_rng_uniform(&own), chance = CLV_OVERSAMPLING * K * part[i] / phi;
        bool is = at < end && d->c.object[at] == i;
        if (fabs(drawn_at - chance) > 1e-4 * chance) {
            assert_int_equal(is, drawn_at < chance);
            certain += is;
        }
        at += is;
    }
    assert_int_equal(at, end); /* in order, and no others */
    assert_true(certain > 0);
}

static void objects_are_drawn_by_their_part(void **unused) {
    (void)unused;
    fill(3);
    for (int way = 0; way < 8; way++) {
        drawn d;
        draw(way & 1, way & 2, way & 4, 0, &d);
        clv_rng rng = d.before;
        assert_int_equal(d.c.object[0], clv_kpalm_draw_object(&d.problem, &rng));
        for (int round = 0; round < CLV_ROUNDS; round++) {
            check_round(&d, round > 0 ? d.c.ends[round - 1] : 1, d.c.ends[round], clv_rng_next(&rng));
        }
        assert_int_equal(d.c.ends[CLV_ROUNDS - 1], d.c.count);
        for (int64_t e = 0; e < d.c.count * P; e++) {
            assert_true(d.c.rows[e] == values[d.c.object[e / P] * P + e % P]);
        }
        end_draw(&d);
    }
}

static void candidates_weigh_what_is_nearest(void **unused) {
    (void)unused;
    fill(3);
    for (int way = 0; way < 2; way++) {
        drawn d;
        double mass[N] = {0};
        draw(false, false, way, 0, &d);
        for (int64_t i = 0; i < N; i++) {
            int64_t which = -1;
            (void)nearest(&d, i, d.c.count, &which);
            mass[which] += way ? sample[i] : 1;
        }
        for (int64_t c = 0; c < d.c.count; c++) {
            assert_true(fabs(mass[c] - d.c.mass[c]) <= 1e-9 * N);
        }
        end_draw(&d);
    }
}

/* However many are drawn, no more than there is room for: the first of them. */
static void candidates_fit_their_room(void **unused) {
    (void)unused;
    fill(3);
    drawn all, few;
    draw(false, false, false, 0, &all);
    int64_t room = all.c.ends[0] + 5;
    assert_true(room < all.c.ends[1]);
    draw(false, false, false, room, &few);
    assert_int_equal(few.c.count, room);
    assert_memory_equal(few.c.object, all.c.object, (size_t)room * sizeof *few.c.object);
    end_draw(&all);
    end_draw(&few);
}

/* --- the centers --- */

static double value_of_start(const clv_matrix *points, const char *start, int64_t k, int64_t seed, int solver,
                             double *centers) {
    clv_kpalm_options options = options_for(k, seed);
    clv_result *result = NULL;
    options.start = start;
    options.solver = solver;
    options.control.max_iter = 0;
    if (clv_kpalm(ctx, &(clv_input){.points = points}, &options, &result) != CLV_OK) {
        fail_msg("%s", clv_message(ctx));
    }
    double value = result->objective.value;
    if (centers) {
        memcpy(centers, clv_result_matrix(result, "centers")->values, (size_t)(k * points->cols) * sizeof(double));
    }
    clv_result_free(result);
    return value;
}

/* Groups far apart all get a center: the potential is that of objects within their groups. k-means++ misses some. */
static void the_potential_is_that_of_kmeans_plus_plus(void **unused) {
    (void)unused;
    enum { SEEDS = 12 };
    clv_matrix points = {.rows = N, .cols = P, .values = values};
    fill(1);
    for (int norm = 0; norm < 2; norm++) {
        int solver = norm == 0 ? CLV_KPALM_LLOYD : CLV_KPALM_WEISZFELD;
        double parallel = 0, serial = 0;
        for (int64_t seed = 0; seed < SEEDS; seed++) {
            parallel += value_of_start(&points, CLV_KMEANS_PARALLEL, K, seed, solver, NULL) / SEEDS;
            serial += value_of_start(&points, norm == 0 ? "kmeans++" : "d1++", K, seed, solver, NULL) / SEEDS;
        }
        assert_true(parallel <= 1.25 * serial);
    }
}

/* Whether each of k centers is an object, and how many different ones there are. */
static int64_t count_different(const double *centers, int64_t k, int64_t n) {
    int64_t different = 0;
    for (int64_t l = 0; l < k; l++) {
        bool object = false, copy = false;
        for (int64_t i = 0; i < n; i++) {
            object = object || memcmp(centers + l * P, values + i * P, P * sizeof(double)) == 0;
        }
        for (int64_t m = 0; m < l; m++) {
            copy = copy || memcmp(centers + l * P, centers + m * P, P * sizeof(double)) == 0;
        }
        assert_true(object);
        different += !copy;
    }
    return different;
}

/* One center, and as many as there are objects: each of these once, also where others do so. */
static void odd_numbers_of_clusters_have_centers(void **unused) {
    (void)unused;
    static const char *const starts[] = {CLV_KMEANS_PARALLEL, "kmeans++", "greedy++", "d1++"};
    static double centers[N * P];
    fill(1);
    for (int64_t n = 1; n < 300; n += n < 8 ? 1 : 97) {
        clv_matrix points = {.rows = n, .cols = P, .values = values};
        for (int64_t seed = 0; seed < 20; seed++) {
            (void)value_of_start(&points, CLV_KMEANS_PARALLEL, 1, seed, CLV_KPALM_LLOYD, centers);
            assert_int_equal(count_different(centers, 1, n), 1);
            for (size_t s = 0; s < CLV_COUNT(starts); s++) {
                double all = value_of_start(&points, starts[s], n, seed, CLV_KPALM_LLOYD, centers);
                assert_int_equal(count_different(centers, n, n), n);
                assert_true(all <= 1e-9);
            }
        }
    }
}

/* m different points, each many times: all m are found, also where there are to be more centers than that. */
static void equal_points_are_centers_once(void **unused) {
    (void)unused;
    enum { DIFFERENT = 9, COPIES = 40 };
    static double centers[N * P];
    clv_matrix points = {.rows = DIFFERENT * COPIES, .cols = P, .values = values};
    fill(1);
    for (int64_t e = DIFFERENT * P; e < (int64_t)DIFFERENT * COPIES * P; e++) {
        values[e] = values[e - DIFFERENT * P];
    }
    for (int64_t seed = 0; seed < 30; seed++) {
        for (int64_t k = DIFFERENT - 1; k <= DIFFERENT + 3; k++) {
            double value = value_of_start(&points, CLV_KMEANS_PARALLEL, k, seed, CLV_KPALM_LLOYD, centers);
            assert_int_equal(count_different(centers, k, points.rows), k < DIFFERENT ? k : DIFFERENT);
            assert_true(k < DIFFERENT ? value > 1 : value <= 1e-9);
        }
    }
    for (int64_t e = 0; e < N * P; e++) {
        values[e] = 0.1;
    }
    (void)value_of_start(&points, CLV_KMEANS_PARALLEL, 5, 1, CLV_KPALM_LLOYD, centers);
    assert_int_equal(count_different(centers, 5, points.rows), 1);
}

/* Threads of the start ask at the same time. */
static int stop_soon(void *user) {
    return atomic_fetch_sub((atomic_int *)user, 1) <= 0;
}

/* Wherever it is ended, the centers are different objects. */
static void a_hasty_start_has_different_centers(void **unused) {
    (void)unused;
    enum { MANY = 1500 };
    static double centers[MANY * P];
    clv_matrix points = {.rows = N, .cols = P, .values = values};
    int hurried = 0;
    fill(1);
    for (int polls = 0; polls < 400; polls += 8) {
        atomic_int left = polls;
        clv_context_set_interrupt(ctx, stop_soon, &left);
        (void)value_of_start(&points, CLV_KMEANS_PARALLEL, MANY, 1, CLV_KPALM_LLOYD, centers);
        clv_context_set_interrupt(ctx, NULL, NULL);
        assert_int_equal(count_different(centers, MANY, N), MANY);
        hurried += left < 0;
    }
    assert_true(hurried > 20);
}

static clv_status start_once(clv_context *in, void *user) {
    const clv_matrix points = {.rows = 60, .cols = P, .values = values};
    clv_kpalm_options options = options_for(5, 1);
    clv_result *result = NULL;
    (void)user;
    options.control.max_iter = 0;
    clv_status status = clv_kpalm(in, &(clv_input){.points = &points}, &options, &result);
    clv_result_free(result);
    return status;
}

static void every_allocation_may_fail(void **unused) {
    (void)unused;
    fill(1);
    assert_true(check_every_failure(start_once, NULL) > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(objects_are_drawn_by_their_part, set_up, tear_down),
        cmocka_unit_test_setup_teardown(candidates_weigh_what_is_nearest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(candidates_fit_their_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_potential_is_that_of_kmeans_plus_plus, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_numbers_of_clusters_have_centers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equal_points_are_centers_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hasty_start_has_different_centers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
