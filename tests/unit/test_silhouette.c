/* The silhouette against a double loop over the objects, for every kind of storage and number of threads. */
#include "linalg/linalg.h"

#include "failing.h"

#include <math.h>

enum { MOST = 200, FEATURES = 5 };

typedef struct points {
    double f64[MOST * FEATURES];
    float f32[MOST * FEATURES];
    double entries[MOST * FEATURES];
    int64_t start[MOST + 1];
    int32_t index[MOST * FEATURES];
    clv_matrix views[3]; /* the same numbers as double, float and CSR */
} points;

/* Multiples of 1/8, a third of them zero: the same in all storages. */
static void fill(points *p, int64_t n, clv_rng *rng) {
    int64_t nonzeros = 0;
    p->start[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int32_t f = 0; f < FEATURES; f++) {
            int64_t draw = clv_rng_below(rng, 3) ? clv_rng_below(rng, 200) - 100 : 0;
            double x = (double)draw / 8;
            p->f64[i * FEATURES + f] = x;
            p->f32[i * FEATURES + f] = (float)x;
            if (draw) {
                p->entries[nonzeros] = x;
                p->index[nonzeros++] = f;
            }
        }
        p->start[i + 1] = nonzeros;
    }
    p->views[0] = (clv_matrix){n, FEATURES, CLV_F64, p->f64, NULL, NULL};
    p->views[1] = (clv_matrix){n, FEATURES, CLV_F32, p->f32, NULL, NULL};
    p->views[2] = (clv_matrix){n, FEATURES, CLV_F64, p->entries, p->start, p->index};
}

static double distance(const points *p, int64_t i, int64_t j) {
    double total = 0;
    for (int f = 0; f < FEATURES; f++) {
        double d = p->f64[i * FEATURES + f] - p->f64[j * FEATURES + f];
        total += d * d;
    }
    return sqrt(total);
}

/* The mean distance of i to the other objects with a label; NaN when there is none. */
static double mean_distance(const points *p, const int32_t *labels, int64_t n, int64_t i, int32_t label) {
    double total = 0, count = 0;
    for (int64_t j = 0; j < n; j++) {
        if (j != i && labels[j] == label) {
            total += distance(p, i, j);
            count++;
        }
    }
    return total / count;
}

static double by_definition(const points *p, const int32_t *labels, int64_t n) {
    double total = 0, count = 0;
    for (int64_t i = 0; i < n; i++) {
        double within = mean_distance(p, labels, n, i, labels[i]), nearest = HUGE_VAL;
        for (int64_t j = 0; j < n; j++) {
            if (labels[j] >= 0 && labels[j] != labels[i]) {
                nearest = fmin(nearest, mean_distance(p, labels, n, i, labels[j]));
            }
        }
        double larger = fmax(within, nearest);
        count += labels[i] >= 0;
        if (labels[i] >= 0 && !isnan(within) && larger > 0) {
            total += (nearest - within) / larger;
        }
    }
    return total / count;
}

static void check(const points *p, const int32_t *labels, int64_t n) {
    clv_context *ctx = new_context();
    double expected = by_definition(p, labels, n), first = NAN;
    for (int view = 0; view < 3; view++) {
        for (int64_t threads = 0; threads <= 3; threads++) {
            double value = NAN;
            assert_int_equal(clv_silhouette(ctx, &p->views[view], labels, threads, &value), CLV_OK);
            assert_true(fabs(value - expected) < 1e-12);
            first = isnan(first) ? value : first;
            assert_true(value == first); /* the same bits */
        }
    }
    end_context(ctx);
}

static void random_points(void **state) {
    static points p;
    static const int64_t sizes[] = {2, 3, 10, 63, 64, 65, 129, MOST};
    int32_t labels[MOST];
    clv_rng rng = clv_rng_stream(13, 0);
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int64_t n = sizes[s];
        fill(&p, n, &rng);
        for (int kind = 0; kind < 4; kind++) {
            for (int64_t i = 0; i < n; i++) {
                int64_t drawn = clv_rng_below(&rng, kind < 2 ? 3 : 20);
                labels[i] = (int32_t)(kind == 1 && drawn == 0 ? -1 : kind == 3 ? 1000000 * drawn : drawn);
            }
            labels[0] = 1; /* two clusters at least */
            labels[n - 1] = 2;
            check(&p, labels, n);
        }
    }
}

static void degenerate_clusters(void **state) {
    static points p;
    int32_t labels[MOST];
    clv_rng rng = clv_rng_stream(14, 0);
    clv_context *ctx = new_context();
    double value = NAN;
    (void)state;
    fill(&p, 70, &rng);
    for (int32_t i = 0; i < 70; i++) {
        labels[i] = i;
    }
    check(&p, labels, 70);
    assert_int_equal(clv_silhouette(ctx, &p.views[0], labels, 1, &value), CLV_OK);
    assert_true(value == 0); /* all singletons */
    memset(p.f64, 0, sizeof p.f64);
    for (int32_t i = 0; i < 70; i++) {
        labels[i] = i % 2;
    }
    assert_int_equal(clv_silhouette(ctx, &p.views[0], labels, 1, &value), CLV_OK);
    assert_true(value == 0); /* all objects in one place */
    end_context(ctx);
}

static void refusals(void **state) {
    static points p;
    int32_t labels[MOST] = {0};
    clv_rng rng = clv_rng_stream(15, 0);
    clv_context *ctx = new_context();
    double value;
    (void)state;
    fill(&p, 10, &rng);
    assert_int_equal(clv_silhouette(ctx, &p.views[0], labels, 1, &value), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "needs 2 clusters or more: the 10 labels have 1"));
    labels[3] = -1;
    assert_int_equal(clv_silhouette(ctx, &p.views[0], labels, 1, &value), CLV_EDATA);
    labels[3] = -5;
    assert_int_equal(clv_silhouette(ctx, &p.views[0], labels, 1, &value), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "number 4 of the labels is -5"));
    labels[3] = 1;
    p.index[2] = FEATURES;
    assert_int_equal(clv_silhouette(ctx, &p.views[2], labels, 1, &value), CLV_EUSAGE);
    assert_non_null(strstr(clv_message(ctx), "the points: column 5 of row"));
    p.views[0].rows = 0;
    assert_int_equal(clv_silhouette(ctx, &p.views[0], labels, 1, &value), CLV_EDATA);
    end_context(ctx);
}

static int say_stop(void *user) {
    (void)user;
    return 1;
}

static clv_status measure_some(clv_context *ctx, void *user) {
    const int32_t labels[] = {0, 0, 1, 1, -1, 2};
    double value;
    return clv_silhouette(ctx, user, labels, 1, &value);
}

static void failures_leave_nothing(void **state) {
    static points p;
    clv_rng rng = clv_rng_stream(16, 0);
    clv_context *ctx = new_context();
    (void)state;
    fill(&p, 6, &rng);
    assert_true(check_every_failure(measure_some, &p.views[2]) >= 8);
    clv_context_set_interrupt(ctx, say_stop, NULL);
    assert_int_equal(measure_some(ctx, &p.views[0]), CLV_EINTERRUPTED);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_points),
        cmocka_unit_test(degenerate_clusters),
        cmocka_unit_test(refusals),
        cmocka_unit_test(failures_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
