/* Products that follow their factor, sums over all entries and blocks, on every home against the entries; and the gamma
 * that a mean of similarities asks for. */
#include "entry_of.h"
#include "failing.h"

#include "affinity/affinity.h"

#include <math.h>

enum { N = 300, P = 5, K = 4 };

typedef struct fixture {
    clv_context *ctx;
    double points[N * P];
    clv_matrix matrix;
} fixture;

static void fill(fixture *f) {
    clv_rng rng = clv_rng_stream(3, 0);
    f->ctx = new_context();
    for (int64_t e = 0; e < N * P; e++) {
        f->points[e] = clv_rng_normal(&rng);
    }
    f->matrix = (clv_matrix){.rows = N, .cols = P, .values = f->points};
}

/* The affinities that are tried: every kind and home, with and without a diagonal. */
static bool build(fixture *f, int which, clv_affinity **out) {
    static const struct {
        int kind, home;
    } made[] = {{CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE64},  {CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE32},
                {CLV_AFFINITY_GAUSSIAN, CLV_HOME_COMPUTED}, {CLV_AFFINITY_EXPONENTIAL, CLV_HOME_COMPUTED},
                {CLV_AFFINITY_COSINE, CLV_HOME_LOWRANK},    {CLV_AFFINITY_KNN, CLV_HOME_SPARSE},
                {CLV_AFFINITY_MINIMAX, CLV_HOME_COMPUTED},  {CLV_AFFINITY_DISTANCE, CLV_HOME_DENSE64},
                {CLV_AFFINITY_GAUSSIAN, CLV_HOME_LOWRANK}};
    clv_affinity_options how;
    clv_affinity_defaults(&how);
    if (which / 2 >= (int)(sizeof made / sizeof *made)) {
        return false;
    }
    how.kind = made[which / 2].kind;
    how.home = made[which / 2].home;
    how.zero_diagonal = which % 2;
    how.landmarks = how.kind == CLV_AFFINITY_GAUSSIAN && how.home == CLV_HOME_LOWRANK ? N / 3 : 0;
    assert_int_equal(clv_affinity_build(f->ctx, &f->matrix, &how, out), CLV_OK);
    return true;
}

static void moments_and_blocks_are_those_of_the_entries(void **unused) {
    (void)unused;
    static fixture f;
    static double block[N * N];
    fill(&f);
    clv_affinity *a;
    for (int which = 0; build(&f, which, &a); which++) {
        double sum, squares, true_sum = 0, true_squares = 0;
        for (int64_t i = 0; i < N; i++) {
            for (int64_t j = 0; j < N; j++) {
                double entry = entry_of(a, i, j);
                true_sum += entry;
                true_squares += entry * entry;
            }
        }
        for (int threads = 1; threads <= 2; threads++) {
            assert_int_equal(clv_affinity_moments(a, threads, &sum, &squares), CLV_OK);
            assert_true(fabs(sum - true_sum) <= 1e-11 * true_sum);
            assert_true(fabs(squares - true_squares) <= 1e-11 * true_squares);
        }
        for (int64_t first = 0; first < N; first += 2 * CLV_TILE) {
            int64_t count = N - first < 2 * CLV_TILE ? N - first : 2 * CLV_TILE;
            assert_int_equal(clv_affinity_block(a, first, count, block), CLV_OK);
            for (int64_t e = 0; e < count * count; e++) {
                double entry = entry_of(a, first + e / count, first + e % count);
                assert_true(fabs(block[e] - entry) <= 1e-12);
            }
        }
        clv_affinity_free(a);
    }
    end_context(f.ctx);
}

static double product_at(const clv_affinity *a, const double *x, int64_t c, int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < N; j++) {
        sum += entry_of(a, i, j) * x[c * N + j];
    }
    return sum;
}

/* What an errand has seen of the columns that it waited for. */
typedef struct glance {
    const clv_product *product;
    int64_t first, count;
    double *seen; /* k x count */
    int times;
} glance;

static void glance_at(void *user) {
    glance *look = user;
    clv_product_columns(look->product, look->first, look->count, look->seen);
    look->times++;
}

/* Two rounds of changes, block by block; columns are right before every change, everything at the end: rough ones to
 * CLV_ROUGH of the magnitudes that were added up. */
static void check_following(bool rough) {
    static fixture f;
    static double x[K * N], sizes[K * N], d[K * 2 * CLV_TILE], columns[K * 2 * CLV_TILE], first_bits[K * N];
    static double seen[K * CLV_TILE];
    fill(&f);
    clv_affinity *a;
    for (int which = 0; build(&f, which, &a); which++) {
        for (int threads = 1; threads <= 2; threads++) {
            clv_rng rng = clv_rng_stream(4, 0);
            clv_product p;
            for (int64_t e = 0; e < K * N; e++) {
                x[e] = sizes[e] = clv_rng_uniform(&rng);
            }
            assert_int_equal(clv_product_new(a, K, x, threads, &p), CLV_OK);
            p.rough = rough;
            assert_int_equal(clv_product_begin(&p), CLV_OK);
            for (int64_t step = 0; step < 2 * N; step += 2 * CLV_TILE) {
                int64_t first = step % (3 * 2 * CLV_TILE), left = N - first;
                int64_t count = left < 2 * CLV_TILE ? left : 2 * CLV_TILE;
                clv_product_columns(&p, first, count, columns);
                for (int64_t r = 0; r < count; r += 37) {
                    for (int64_t c = 0; c < K; c++) {
                        double off = fabs(columns[c * count + r] - product_at(a, x, c, first + r));
                        assert_true(off <= 1e-10 + rough * CLV_ROUGH * product_at(a, sizes, c, first + r));
                    }
                }
                for (int64_t c = 0; c < K; c++) {
                    for (int64_t r = 0; r < count; r++) {
                        d[c * count + r] = r % 3 ? clv_rng_normal(&rng) : 0;
                        x[c * N + first + r] += d[c * count + r];
                        sizes[c * N + first + r] += fabs(d[c * count + r]);
                    }
                }
                int64_t next = (step + 2 * CLV_TILE) % (3 * 2 * CLV_TILE);
                glance look = {.product = &p, .first = next, .seen = seen};
                look.count = N - next < CLV_TILE ? N - next : CLV_TILE;
                clv_errand errand = {.at = next, .run = glance_at, .user = &look};
                clv_change change = {.first = first, .count = count, .k = K, .d = d, .errand = &errand};
                assert_int_equal(clv_product_change(&p, &change), CLV_OK);
                assert_int_equal(look.times, 1);
                clv_product_columns(&p, next, look.count, columns);
                assert_memory_equal(seen, columns, sizeof *columns * (size_t)(K * look.count));
            }
            assert_int_equal(clv_product_values(&p), CLV_OK);
            const double *y = p.y;
            for (int64_t e = 0; e < K * N; e++) {
                double off = fabs(y[e] - product_at(a, x, e / N, e % N));
                assert_true(off <= 1e-10 + rough * CLV_ROUGH * product_at(a, sizes, e / N, e % N));
                assert_true(threads == 1 || first_bits[e] == y[e]);
                first_bits[e] = y[e];
            }
            clv_product_free(&p);
        }
        clv_affinity_free(a);
    }
    end_context(f.ctx);
}

static void products_follow(void **unused) {
    (void)unused;
    check_following(false);
}

static void rough_products_follow(void **unused) {
    (void)unused;
    check_following(true);
}

/* Of a matrix that is larger than the caches, against exact products. */
static void rough_products_of_many_are_near(void **unused) {
    (void)unused;
    enum { MANY = 2100, VECTORS = 9 };
    static double points[MANY * P], x[VECTORS * MANY], y[VECTORS * MANY], sizes[VECTORS * MANY];
    static double rough[2][VECTORS * MANY];
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(5, 0);
    clv_matrix matrix = {.rows = MANY, .cols = P, .values = points};
    for (int64_t e = 0; e < MANY * P; e++) {
        points[e] = clv_rng_normal(&rng);
    }
    for (int which = 0; which < 4; which++) {
        clv_affinity_options how;
        clv_affinity *a;
        clv_affinity_defaults(&how);
        how.kind = CLV_AFFINITY_GAUSSIAN;
        how.home = which < 2 ? CLV_HOME_DENSE64 : CLV_HOME_DENSE32;
        how.zero_diagonal = which % 2;
        assert_int_equal(clv_affinity_build(ctx, &matrix, &how, &a), CLV_OK);
        for (int64_t e = 0; e < VECTORS * MANY; e++) {
            x[e] = fabs(clv_rng_normal(&rng));
        }
        assert_int_equal(clv_affinity_apply(a, x, VECTORS, sizes, 2), CLV_OK);
        for (int64_t e = 0; e < VECTORS * MANY; e += 2) {
            x[e] = -x[e];
        }
        assert_int_equal(clv_affinity_apply(a, x, VECTORS, y, 2), CLV_OK);
        for (int threads = 1; threads <= 2; threads++) {
            assert_int_equal(clv_affinity_rough_apply(a, x, VECTORS, rough[threads - 1], threads), CLV_OK);
        }
        assert_memory_equal(rough[0], rough[1], sizeof rough[0]);
        assert_memory_not_equal(rough[0], y, sizeof y); /* or nothing was tried */
        for (int64_t e = 0; e < VECTORS * MANY; e++) {
            assert_true(fabs(rough[0][e] - y[e]) <= CLV_ROUGH * sizes[e]);
        }
        clv_affinity_free(a);
    }
    end_context(ctx);
}

/* --- calibration --- */

static double mean_at(fixture *f, const clv_affinity_options *how, double gamma) {
    clv_affinity_options fixed = *how;
    clv_affinity *a;
    double sum, squares;
    fixed.gamma = gamma;
    assert_int_equal(clv_affinity_build(f->ctx, &f->matrix, &fixed, &a), CLV_OK);
    assert_int_equal(clv_affinity_moments(a, 1, &sum, &squares), CLV_OK);
    clv_affinity_free(a);
    return sum / ((double)N * N);
}

static void gamma_gives_the_mean(void **unused) {
    (void)unused;
    static const double means[] = {0.005, 0.0125, 0.125, 0.5, 0.9, 0.99};
    static fixture f;
    fill(&f);
    for (int trial = 0; trial < 24; trial++) {
        clv_affinity_options how;
        double gamma, again, mean = means[trial / 4];
        clv_affinity_defaults(&how);
        how.kind = trial % 2 ? CLV_AFFINITY_EXPONENTIAL : CLV_AFFINITY_GAUSSIAN;
        how.zero_diagonal = trial / 2 % 2;
        how.threads = 1;
        assert_int_equal(clv_affinity_calibrate(f.ctx, &f.matrix, &how, mean, &gamma), CLV_OK);
        assert_true(fabs(mean_at(&f, &how, gamma) / mean - 1) < 1e-10);
        how.threads = 2;
        assert_int_equal(clv_affinity_calibrate(f.ctx, &f.matrix, &how, mean, &again), CLV_OK);
        assert_true(gamma == again);
    }
    end_context(f.ctx);
}

/* With a diagonal of ones no mean is below 1/n, and none above 1: then the rule of the median. */
static void impossible_means_fall_back(void **unused) {
    (void)unused;
    static fixture f;
    fill(&f);
    clv_affinity_options how;
    clv_affinity *a;
    clv_affinity_info info;
    double gamma;
    clv_affinity_defaults(&how);
    assert_int_equal(clv_affinity_build(f.ctx, &f.matrix, &how, &a), CLV_OK);
    clv_affinity_describe(a, &info);
    clv_affinity_free(a);
    assert_int_equal(clv_affinity_calibrate(f.ctx, &f.matrix, &how, 1.25, &gamma), CLV_OK);
    assert_true(gamma == info.gamma);
    assert_int_equal(clv_affinity_calibrate(f.ctx, &f.matrix, &how, 1.0 / (2 * N), &gamma), CLV_OK);
    assert_true(gamma == info.gamma);
    assert_int_equal(clv_affinity_calibrate(f.ctx, &f.matrix, &how, 0, &gamma), CLV_EUSAGE);
    how.kind = CLV_AFFINITY_COSINE;
    assert_int_equal(clv_affinity_calibrate(f.ctx, &f.matrix, &how, 0.5, &gamma), CLV_EUSAGE);
    for (int64_t e = 0; e < N * P; e++) {
        f.points[e] = 1; /* all coincide: mean 1 whatever gamma */
    }
    how.kind = CLV_AFFINITY_GAUSSIAN;
    assert_int_equal(clv_affinity_calibrate(f.ctx, &f.matrix, &how, 0.5, &gamma), CLV_OK);
    assert_true(gamma == 1);
    for (int64_t i = N / 2; i < N; i++) {
        f.points[i * P] = 3; /* two groups of copies: no gamma has a mean below 1 / 2, so the others have it */
    }
    assert_int_equal(clv_affinity_calibrate(f.ctx, &f.matrix, &how, 0.4, &gamma), CLV_OK);
    double half = (double)(N / 2), others = 2 * half * (N - half) / ((double)N * N);
    assert_true(fabs(1 - others + others * exp(-4 * gamma) - 0.7) < 0.05); /* 0.5 + 0.5 * 0.4, by a sample's half */
    end_context(f.ctx);
}

/* Enough to be shared by threads: the errand sees its columns with this change and without another, while they go on.
 */
static void an_errand_runs_beside_the_rest(void **unused) {
    (void)unused;
    enum { MANY = 1100, CLUSTERS = 40, BLOCK = CLV_SHARE };
    static double points[MANY * P], x[CLUSTERS * MANY], d[CLUSTERS * BLOCK], seen[CLUSTERS * BLOCK];
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(5, 0);
    for (int64_t e = 0; e < MANY * P; e++) {
        points[e] = clv_rng_normal(&rng);
    }
    clv_matrix matrix = {.rows = MANY, .cols = P, .values = points};
    for (int which = 0; which < 6; which++) {
        clv_affinity_options how;
        clv_affinity *a;
        clv_affinity_defaults(&how);
        how.home = which / 2 == 0 ? CLV_HOME_DENSE64 : which / 2 == 1 ? CLV_HOME_DENSE32 : CLV_HOME_COMPUTED;
        assert_int_equal(clv_affinity_build(ctx, &matrix, &how, &a), CLV_OK);
        clv_product p[2];
        for (int threads = 1; threads <= 2; threads++) {
            assert_int_equal(clv_product_new(a, CLUSTERS, x, threads, &p[threads - 1]), CLV_OK);
            p[threads - 1].rough = which % 2;
            assert_int_equal(clv_product_begin(&p[threads - 1]), CLV_OK);
        }
        for (int64_t first = 0; first < MANY; first += BLOCK) {
            int64_t count = MANY - first < BLOCK ? MANY - first : BLOCK, next = (first + BLOCK) % (5 * BLOCK);
            for (int64_t e = 0; e < CLUSTERS * count; e++) {
                d[e] = e % 3 ? clv_rng_normal(&rng) : 0;
            }
            glance look = {.product = &p[1], .first = next, .seen = seen};
            look.count = MANY - next < BLOCK ? MANY - next : BLOCK;
            clv_errand errand = {.at = next, .run = glance_at, .user = &look};
            clv_change change = {.first = first, .count = count, .k = CLUSTERS, .d = d};
            assert_int_equal(clv_product_change(&p[0], &change), CLV_OK);
            change.errand = &errand;
            assert_int_equal(clv_product_change(&p[1], &change), CLV_OK);
            assert_int_equal(look.times, 1);
            for (int64_t c = 0; c < CLUSTERS; c++) {
                assert_memory_equal(seen + c * look.count, p[0].y + c * MANY + next, (size_t)look.count * sizeof *x);
            }
            assert_memory_equal(p[0].y, p[1].y, sizeof x);
        }
        clv_product_free(&p[0]);
        clv_product_free(&p[1]);
        clv_affinity_free(a);
    }
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_and_blocks_are_those_of_the_entries),
        cmocka_unit_test(products_follow),
        cmocka_unit_test(rough_products_follow),
        cmocka_unit_test(rough_products_of_many_are_near),
        cmocka_unit_test(an_errand_runs_beside_the_rest),
        cmocka_unit_test(gamma_gives_the_mean),
        cmocka_unit_test(impossible_means_fall_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
