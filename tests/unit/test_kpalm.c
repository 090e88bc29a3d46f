/* kpalm: the kernels against their definitions, the fast form against the plain one, options and refusals, policies on
 * empty clusters and odd data, sameness over threads, memory. Theory and optima are in tests/certify. */
#include "failing.h"

#include "base/options.h"
#include "methods/kpalm/kpalm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 16 };

/* Points in groups, away from the origin. */
static void fill(double *x, int64_t n, int64_t p, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t f = 0; f < p; f++) {
            x[i * p + f] = 5 + 3 * (double)((i * 7 + f * f) % 5) + clv_rng_normal(&rng);
        }
    }
}

typedef struct data {
    clv_matrix matrix;
    double values[MOST];
    float narrow[MOST];
    int64_t start[MOST];
    int32_t index[MOST];
} data;

enum { DOUBLES, FLOATS, SPARSE, KINDS };

/* The same points in each kind of storage; every fourth entry is 0. */
static data *make(int64_t n, int64_t p, int kind, uint64_t seed) {
    data *d = calloc(1, sizeof *d);
    assert_non_null(d);
    assert_true(n * p <= MOST);
    fill(d->values, n, p, seed);
    for (int64_t e = 0; e < n * p; e++) {
        d->values[e] = e % 4 == 3 ? 0 : (double)(float)d->values[e];
        d->narrow[e] = (float)d->values[e];
    }
    d->matrix = (clv_matrix){.rows = n, .cols = p, .values = d->values};
    if (kind == FLOATS) {
        d->matrix.scalar = CLV_F32;
        d->matrix.values = d->narrow;
    } else if (kind == SPARSE) {
        int64_t used = 0;
        for (int64_t i = 0; i < n; i++) {
            d->start[i] = used;
            for (int64_t f = 0; f < p; f++) {
                if (d->values[i * p + f] != 0) {
                    d->index[used] = (int32_t)f;
                    d->values[used++] = d->values[i * p + f];
                }
            }
        }
        d->start[n] = used;
        d->matrix.start = d->start;
        d->matrix.index = d->index;
    }
    return d;
}

static clv_kpalm_options options_for(int64_t k) {
    clv_kpalm_options options;
    clv_kpalm_defaults(&options);
    options.k = k;
    options.control.threads = 1;
    return options;
}

/* --- kernels --- */

static void keys_are_distances(void **unused) {
    (void)unused;
    enum { N = 50, P = 13, K = 21 };
    clv_context *ctx = new_context();
    for (int kind = 0; kind < KINDS; kind++) {
        data *d = make(N, P, kind, 3);
        clv_kpalm_options options = options_for(K);
        clv_kpalm_problem problem;
        clv_panel panel;
        double centers[K * P], norms[CLV_TILE_ROWS], row[P];
        int64_t rows[CLV_TILE_ROWS];
        clv_nearest nearest[CLV_TILE_ROWS];
        fill(centers, K, P, 4);
        assert_int_equal(clv_kpalm_problem_new(ctx, &(clv_input){.points = &d->matrix}, &options, &problem), CLV_OK);
        assert_int_equal(clv_panel_new(ctx, &d->matrix, K, &panel), CLV_OK);
        clv_panel_fill(&panel, &problem.frame, centers);
        void *keys = clv_alloc(ctx, CLV_TILE_ROWS * panel.width, sizeof(double));
        for (int64_t r = 0; r < 31; r++) {
            rows[r] = (r * 17) % N;
        }
        clv_tile_keys(&panel, &problem.frame, rows, 31, keys);
        clv_tile_norms(&problem.frame, rows, 31, norms);
        clv_tile_scan(&panel, keys, 31, nearest);
        double unit = problem.frame.unit * problem.frame.unit;
        for (int64_t r = 0; r < 31; r++) {
            double least = HUGE_VAL, next = HUGE_VAL;
            clv_matrix_row(&d->matrix, rows[r], row);
            for (int64_t l = 0; l < K; l++) {
                double distance = 0;
                for (int64_t f = 0; f < P; f++) {
                    distance += (row[f] - centers[l * P + f]) * (row[f] - centers[l * P + f]);
                }
                double key = clv_weight_get(&panel, keys, r * panel.width + l);
                assert_true(fabs((key + norms[r]) * unit - distance) <= panel.error * unit);
                next = distance < least ? least : fmin(next, distance);
                least = fmin(least, distance);
            }
            assert_true(fabs((nearest[r].key + norms[r]) * unit - least) <= panel.error * unit);
            assert_true(fabs((nearest[r].next + norms[r]) * unit - next) <= panel.error * unit);
        }
        assert_true(panel.error < 1e-3);
        clv_free(ctx, keys);
        clv_panel_free(&panel);
        clv_kpalm_problem_free(&problem);
        free(d);
    }
    clv_context_free(ctx);
}

static int descending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? 1 : a > b ? -1 : 0;
}

/* By sorting. */
static void project(double *v, int64_t k) {
    double sorted[128], sum = 0, tau = 0;
    memcpy(sorted, v, (size_t)k * sizeof *v);
    qsort(sorted, (size_t)k, sizeof *sorted, descending);
    for (int64_t l = 0; l < k; l++) {
        sum += sorted[l];
        if (sorted[l] - (sum - 1) / (double)(l + 1) > 0) {
            tau = (sum - 1) / (double)(l + 1);
        }
    }
    for (int64_t l = 0; l < k; l++) {
        v[l] = fmax(v[l] - tau, 0);
    }
}

static void projections_are_projections(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(5, 0);
    for (int trial = 0; trial < 400; trial++) {
        int64_t k = 1 + clv_rng_below(&rng, 100);
        bool narrow = trial % 2, steep = trial % 3 == 0;
        double offset = steep ? 4096 : 0; /* the same for all: nothing changes but what rounding takes */
        double v[128] = {0}, w[128], alpha = exp(8 * clv_rng_uniform(&rng) - 6), sum = 0;
        clv_matrix points = {.rows = 1, .cols = 1, .scalar = narrow ? CLV_F32 : CLV_F64};
        clv_panel panel;
        clv_projection found;
        assert_int_equal(clv_panel_new(ctx, &points, k, &panel), CLV_OK);
        void *d = clv_alloc(ctx, 3 * panel.width, sizeof(double));
        void *weights = clv_tile_row(&panel, d, 1), *work = clv_tile_row(&panel, d, 2);
        for (int64_t l = 0; l < panel.width; l++) {
            w[l] = l < k ? -log(1 - clv_rng_uniform(&rng)) : 0;
            sum += w[l];
        }
        for (int64_t l = 0; l < panel.width; l++) {
            clv_weight_set(&panel, weights, l, w[l] / sum);
            clv_weight_set(&panel, d, l, l < k ? offset + 3 * clv_rng_uniform(&rng) : HUGE_VAL);
            v[l] = clv_weight_get(&panel, weights, l) - clv_weight_get(&panel, d, l) / alpha;
        }
        project(v, k);
        clv_tile_project(&panel, d, weights, 1, work, alpha, steep, &found);
        int64_t support = 0;
        for (int64_t l = 0; l < panel.width; l++) {
            double is = clv_weight_get(&panel, weights, l);
            assert_true(fabs(is - (l < k ? v[l] : 0)) <= (narrow ? 1e-6 / fmin(alpha, 1) : 1e-12 / fmin(alpha, 1)));
            support += is > 0;
        }
        assert_int_equal(found.support, support);
        assert_true(support > 1 || found.sum == 1);
        clv_free(ctx, d);
        clv_panel_free(&panel);
    }
    clv_context_free(ctx);
}

/* What stands for a projection: the shift that it found gives its weights again, and alpha = 0 the nearest center. */
static void shifts_and_choices_are_projections(void **unused) {
    (void)unused;
    enum { K = 37 };
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(7, 0);
    for (int trial = 0; trial < 100; trial++) {
        clv_matrix points = {.rows = 1, .cols = 1, .scalar = trial % 2 ? CLV_F32 : CLV_F64};
        double alpha = exp(4 * clv_rng_uniform(&rng) - 2);
        int64_t nearest = clv_rng_below(&rng, K);
        clv_panel panel;
        clv_projection found;
        assert_int_equal(clv_panel_new(ctx, &points, K, &panel), CLV_OK);
        void *d = clv_alloc_zero(ctx, 5 * panel.width, sizeof(double)), *row[5];
        for (int64_t r = 0; r < 5; r++) {
            row[r] = clv_tile_row(&panel, d, r);
        }
        for (int64_t l = 0; l < panel.width; l++) {
            clv_weight_set(&panel, d, l, l < K ? (l != nearest) + clv_rng_uniform(&rng) / 2 : HUGE_VAL);
            for (int64_t r = 1; r < 4; r++) {
                clv_weight_set(&panel, row[r], l, l < K ? 1. / K : 0);
            }
        }
        clv_tile_project(&panel, d, row[1], 1, row[4], alpha, false, &found);
        clv_tile_shift(&panel, d, row[2], 1, 1 / alpha, &(float){(float)found.shift});
        clv_tile_choose(&panel, d, row[3], 1, &found);
        for (int64_t l = 0; l < panel.width; l++) {
            assert_true(fabs(clv_weight_get(&panel, row[1], l) - clv_weight_get(&panel, row[2], l)) < 2e-6);
            assert_true(clv_weight_get(&panel, row[3], l) == (l == nearest));
        }
        assert_true(found.support == 1 && found.sum == 1 && fabs(found.change - (1 - 1. / K)) < 1e-6);
        clv_free(ctx, d);
        clv_panel_free(&panel);
    }
    clv_context_free(ctx);
}

/* Any number of centers, with a right, a wrong or no idea of where the least key is; equal keys, and lanes without a
 * center. */
static void scans_find_the_least_keys(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(6, 0);
    for (int64_t trial = 0; trial < 200; trial++) {
        int64_t k = 1 + trial / 2;
        clv_matrix points = {.rows = 1, .cols = 1, .scalar = trial % 2 ? CLV_F32 : CLV_F64};
        clv_panel panel;
        clv_nearest found[CLV_TILE_ROWS];
        assert_int_equal(clv_panel_new(ctx, &points, k, &panel), CLV_OK);
        void *keys = clv_alloc(ctx, CLV_TILE_ROWS * panel.width, sizeof(double));
        for (int64_t e = 0; e < CLV_TILE_ROWS * panel.width; e++) {
            clv_weight_set(&panel, keys, e, e % panel.width < k ? (double)clv_rng_below(&rng, 500) / 8 : HUGE_VAL);
        }
        clv_tile_scan(&panel, keys, CLV_TILE_ROWS, found);
        for (int64_t r = 0; r < CLV_TILE_ROWS; r++) {
            double least = HUGE_VAL, next = HUGE_VAL;
            int64_t at = -1;
            for (int64_t l = 0; l < k; l++) {
                double key = clv_weight_get(&panel, keys, r * panel.width + l);
                next = key < least ? least : fmin(next, key);
                at = key < least ? l : at;
                least = fmin(least, key);
            }
            assert_true(found[r].key == least && found[r].next == next);
            assert_int_equal(found[r].center, at);
        }
        clv_free(ctx, keys);
        clv_panel_free(&panel);
    }
    clv_context_free(ctx);
}

/* --- the fast form --- */

/* The bounds of objects in one cluster hold for the centers that they were last compared with. */
static void expect_true_bounds(const clv_kpalm_state *s) {
    const clv_kpalm_problem *p = s->problem;
    double unit = p->frame.unit;
    for (int64_t i = 0; i < p->n; i++) {
        double own = 0, others = HUGE_VAL;
        if (s->labels[i] < 0 || s->upper[i] == 0) { /* 0: the center was put on it since */
            continue;
        }
        for (int64_t l = 0; l < p->k; l++) {
            double square = 0;
            for (int64_t f = 0; f < p->p; f++) {
                square += s->before[l * p->p + f] * s->before[l * p->p + f];
            }
            double distance = sqrt(clv_row_distance(p->points, i, s->before + l * p->p, square));
            own = l == s->labels[i] ? distance : own;
            others = l != s->labels[i] && distance < others ? distance : others;
        }
        assert_true((double)s->upper[i] * unit >= own * (1 - 1e-6) - 1e-6 * unit);
        assert_true((double)s->lower[i] * unit <= others * (1 + 1e-6) + 1e-6 * unit);
    }
}

/* A run of some iterations in a form; labels (below 0: in several clusters) and centers of the last. */
static void iterate(clv_context *ctx, const clv_input *input, const clv_kpalm_options *options,
                    const clv_kpalm_form *form, int64_t steps, int threads, int32_t *labels, double *centers,
                    double *value) {
    clv_kpalm_problem problem;
    clv_iterate iterate;
    void *state;
    assert_int_equal(clv_kpalm_problem_new(ctx, input, options, &problem), CLV_OK);
    problem.form = *form;
    problem.keeps_weights = false;
    clv_solver solver = clv_kpalm_solver_on(&problem);
    clv_rng rng = clv_rng_stream(11, 0);
    assert_int_equal(solver.create(ctx, &problem, threads, &state), CLV_OK);
    assert_int_equal(solver.start(state, &rng, &iterate), CLV_OK);
    for (int64_t t = 0; t < steps; t++) {
        assert_int_equal(solver.step(state, &iterate), CLV_OK);
    }
    clv_kpalm_state *s = state;
    for (int64_t i = 0; i < problem.n; i++) {
        labels[i] = s->labels[i] < 0 ? -1 : s->labels[i];
    }
    if (form->bounds) {
        expect_true_bounds(s);
    }
    memcpy(centers, s->centers, (size_t)(problem.k * problem.p) * sizeof *centers);
    *value = s->value;
    solver.destroy(ctx, state);
    clv_kpalm_problem_free(&problem);
}

static void expect_same_run(clv_context *ctx, const clv_input *input, const clv_kpalm_options *options, int64_t steps) {
    static int32_t plain_labels[MOST], labels[MOST];
    static double plain_centers[MOST], centers[MOST];
    const clv_kpalm_form plain = {false, false, 0}, forms[] = {{true, true, 0}, {true, true, 3}, {false, true, 8}};
    double plain_value, value, scale = 0, most = 0;
    int64_t entries = options->k * input->points->cols;
    bool narrow = input->points->scalar == CLV_F32;
    iterate(ctx, input, options, &plain, steps, 1, plain_labels, plain_centers, &plain_value);
    for (size_t f = 0; f < CLV_COUNT(forms); f++) {
        iterate(ctx, input, options, &forms[f], steps, 2, labels, centers, &value);
        int64_t different = 0;
        for (int64_t i = 0; i < input->points->rows; i++) {
            different += labels[i] != plain_labels[i];
        }
        for (int64_t e = 0; e < entries; e++) {
            scale = fmax(scale, fabs(plain_centers[e]));
            most = fmax(most, fabs(centers[e] - plain_centers[e]));
        }
        assert_int_equal(different, 0);
        assert_true(most <= (narrow ? 2e-5 : 1e-10) * scale);
        double cancels = scale * scale * (double)input->points->rows; /* sigma is a difference of such sums */
        assert_true(fabs(value - plain_value) <= (narrow ? 1e-4 : 1e-9) * plain_value + 1e-14 * cancels);
    }
}

static void the_fast_form_is_the_plain_form(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    for (int kind = 0; kind < KINDS; kind++) {
        data *d = make(3000, 7, kind, 8);
        for (int norm = CLV_KPALM_SQUARED; norm <= CLV_KPALM_EUCLIDEAN; norm++) {
            for (int choice = 0; choice < 4; choice++) {
                int solver = choice % 2;
                clv_kpalm_options options = options_for(choice < 2 ? 19 : 60); /* 60: with lists of centers near by */
                bool euclidean = norm == CLV_KPALM_EUCLIDEAN;
                options.norm = norm;
                options.solver = solver == 0 ? CLV_KPALM_KPALM : euclidean ? CLV_KPALM_WEISZFELD : CLV_KPALM_LLOYD;
                options.start = "random";
                for (int64_t steps = 1; steps <= 16; steps += 5) {
                    options.initial_membership = (int)(steps % 3);
                    expect_same_run(ctx, &(clv_input){.points = &d->matrix}, &options, steps);
                }
            }
        }
        free(d);
    }
    clv_context_free(ctx);
}

/* Centers on a line: one at 0, a crowd at 1 that fills its list, another at -1.2 that is not in it. The objects at
 * -0.58 must be compared again after the first iteration, and the nearest other center is one of the second crowd. */
static void centers_that_are_not_listed_bound_too(void **unused) {
    (void)unused;
    enum { RIGHT = 20, LEFT = 27, K = RIGHT + LEFT + 1, EACH = 12, OWN = 60, N = (K - 1) * EACH + OWN };
    clv_context *ctx = new_context();
    data *d = calloc(1, sizeof *d);
    double start[K] = {0};
    assert_non_null(d);
    for (int64_t i = 0; i < N; i++) {
        int64_t c = i / EACH; /* crowd by crowd, then those of the center at 0 */
        d->values[i] = c < RIGHT ? 1 + 0.001 * (double)c : c < RIGHT + LEFT ? -1.2 - 0.001 * (double)c : 0.58;
        d->values[i] *= c >= K - 1 && i % 2 ? -1 : 1;
        start[c < K - 1 ? c : K - 1] = c < RIGHT ? d->values[i] + 0.2 : c < K - 1 ? d->values[i] - 0.1 : 0;
        d->narrow[i] = (float)d->values[i];
    }
    for (int kind = DOUBLES; kind <= FLOATS; kind++) {
        clv_kpalm_options options = options_for(K);
        d->matrix = (clv_matrix){.rows = N, .cols = 1, .values = d->values};
        if (kind == FLOATS) {
            d->matrix.scalar = CLV_F32;
            d->matrix.values = d->narrow;
        }
        options.solver = CLV_KPALM_LLOYD;
        const clv_matrix centers = {.rows = K, .cols = 1, .values = start};
        for (int64_t steps = 1; steps < 4; steps++) {
            expect_same_run(ctx, &(clv_input){.points = &d->matrix, .start = &centers}, &options, steps);
        }
    }
    free(d);
    clv_context_free(ctx);
}

/* Out of range for a square in float; far from the origin; tiny. */
static void scale_and_place_do_not_matter(void **unused) {
    (void)unused;
    enum { N = 600, P = 3 };
    clv_context *ctx = new_context();
    data *d = make(N, P, FLOATS, 21);
    clv_kpalm_options options = options_for(5);
    clv_result *first, *other;
    options.polish = 0;
    assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &d->matrix}, &options, &first), CLV_OK);
    static float moved[N * P];
    const struct { float factor, shift; } ways[] = {{0x1p80f, 0}, {0x1p-80f, 0}, {1, 256}};
    for (size_t way = 0; way < CLV_COUNT(ways); way++) {
        for (int64_t e = 0; e < N * P; e++) {
            moved[e] = (d->narrow[e] + ways[way].shift) * ways[way].factor;
        }
        clv_matrix matrix = {.rows = N, .cols = P, .scalar = CLV_F32, .values = moved};
        assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &matrix}, &options, &other), CLV_OK);
        double factor = (double)ways[way].factor, expected = first->objective.value * factor * factor;
        assert_true(fabs(other->objective.value - expected) <= 1e-3 * expected);
        assert_true(other->certificate.holds);
        clv_result_free(other);
    }
    clv_result_free(first);
    free(d);
    clv_context_free(ctx);
}

/* --- odd data --- */

static clv_result *solve_input(clv_context *ctx, const clv_input *input, const clv_kpalm_options *options) {
    clv_result *result = NULL;
    if (clv_kpalm(ctx, input, options, &result) != CLV_OK) {
        fail_msg("%s", clv_message(ctx));
    }
    return result;
}

static clv_result *solve(clv_context *ctx, const clv_matrix *points, const clv_kpalm_options *options) {
    return solve_input(ctx, &(clv_input){.points = points}, options);
}

/* Object 7 has nearly all of the weight, object 8 has none. */
static void starts_follow_the_weights(void **unused) {
    (void)unused;
    enum { N = 60 };
    static const char *const starts[] = {"random", "kmeans++", "greedy++", "d1++", CLV_KMEANS_PARALLEL};
    clv_context *ctx = new_context();
    data *d = make(N, 2, DOUBLES, 31);
    double weights[N];
    for (int i = 0; i < N; i++) {
        weights[i] = i == 7 ? 1e9 : i == 8 ? 0 : 1e-9;
    }
    for (size_t s = 0; s < CLV_COUNT(starts); s++) {
        for (int64_t k = 1; k < N; k += N - 2) { /* 1, and all that have a weight */
            clv_kpalm_options options = options_for(k);
            options.start = starts[s];
            options.solver = CLV_KPALM_LLOYD;
            options.control.max_iter = 0;
            const clv_matrix column = {.rows = N, .cols = 1, .values = weights};
            const clv_input input = {.points = &d->matrix, .weights = &column};
            clv_result *result = solve_input(ctx, &input, &options);
            assert_int_equal(clv_result_integer(result, "weighted", 0), 1);
            const double *centers = clv_result_matrix(result, "centers")->values;
            bool heavy = false, weightless = false;
            for (int64_t l = 0; l < k; l++) {
                heavy = heavy || memcmp(centers + 2 * l, d->values + 14, 2 * sizeof(double)) == 0;
                weightless = weightless || memcmp(centers + 2 * l, d->values + 16, 2 * sizeof(double)) == 0;
            }
            assert_true(heavy && !weightless);
            clv_result_free(result);
        }
    }
    free(d);
    clv_context_free(ctx);
}

/* Starting centers that are equal, with a schedule that hardly falls: ties are not waited for for ever. */
static void ties_come_to_an_end(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    data *d = make(90, 2, DOUBLES, 32);
    double same[6] = {10, 10, 10, 10, 10, 10};
    clv_matrix start = {.rows = 3, .cols = 2, .values = same};
    for (int schedule = CLV_KPALM_CONSTANT; schedule <= CLV_KPALM_GEOMETRIC; schedule++) {
        clv_kpalm_options options = options_for(3);
        options.schedule = schedule;
        options.control.max_iter = 2000;
        clv_result *result = solve_input(ctx, &(clv_input){.points = &d->matrix, .start = &start}, &options);
        assert_int_equal(result->stop, CLV_CONVERGED);
        clv_result_free(result);
    }
    free(d);
    clv_context_free(ctx);
}

static void expect_whole_weights(clv_context *ctx, const clv_input *input, const clv_kpalm_options *options,
                                 double tolerance) {
    clv_result *result = solve_input(ctx, input, options);
    const clv_matrix *m = clv_result_matrix(result, "membership");
    for (int64_t i = 0; i < input->points->rows; i++) {
        double sum = m ? 0 : 1;
        for (int64_t e = m ? m->start[i] : 0; m && e < m->start[i + 1]; e++) {
            sum += ((const double *)m->values)[e];
        }
        assert_true(fabs(sum - 1) <= tolerance);
        assert_true(result->labels[i] >= 0 && result->labels[i] < options->k);
    }
    clv_result_free(result);
}

/* Weights where d / alpha has no digits left for them add up to 1: centers that start far away, a large epsilon. */
static void large_distances_keep_the_weights(void **unused) {
    (void)unused;
    enum { N = 200, K = 17 };
    clv_context *ctx = new_context();
    for (int kind = DOUBLES; kind <= FLOATS; kind++) {
        data *d = make(N, 3, kind, 33);
        double far[K * 3];
        clv_rng rng = clv_rng_stream(34, 0);
        for (int e = 0; e < K * 3; e++) {
            far[e] = 1e7 * clv_rng_normal(&rng);
        }
        clv_matrix start = {.rows = K, .cols = 3, .values = far};
        for (int64_t steps = 1; steps < 5; steps++) {
            clv_kpalm_options options = options_for(K);
            options.control.max_iter = steps;
            options.norm = CLV_KPALM_EUCLIDEAN;
            options.epsilon = 1000;
            expect_whole_weights(ctx, &(clv_input){.points = &d->matrix}, &options, 5e-6);
            options.norm = CLV_KPALM_SQUARED;
            expect_whole_weights(ctx, &(clv_input){.points = &d->matrix, .start = &start}, &options, 5e-6);
        }
        free(d);
    }
    clv_context_free(ctx);
}

static void odd_sizes_are_solved(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    data *d = make(9, 2, DOUBLES, 2);
    for (int solver = 0; solver < 3; solver++) {
        clv_kpalm_options options = options_for(1);
        options.solver = solver;
        clv_result *one = solve(ctx, &d->matrix, &options);
        assert_int_equal(one->stop, CLV_CONVERGED);
        assert_int_equal(one->sizes[0], 9);
        assert_true(one->certificate.holds);
        clv_result_free(one);
        options.k = 9;
        clv_result *all = solve(ctx, &d->matrix, &options);
        assert_true(all->certificate.holds);
        assert_int_equal(all->stop, CLV_CONVERGED);
        clv_result_free(all);
        options.k = 2;
        d->matrix.rows = 2;
        clv_result_free(solve(ctx, &d->matrix, &options));
        d->matrix.rows = 9;
    }
    clv_kpalm_options options = options_for(9);
    options.start = "kmeans++";
    clv_result *each = solve(ctx, &d->matrix, &options);
    assert_true(each->objective.value <= 1e-20);
    clv_result_free(each);
    free(d);
    clv_context_free(ctx);
}

static void equal_points_are_one_cluster(void **unused) {
    (void)unused;
    double same[40], two[40];
    clv_context *ctx = new_context();
    for (int e = 0; e < 40; e++) {
        same[e] = 0.1;
        two[e] = e < 20 ? 0.3 : 0.7;
    }
    for (int solver = 0; solver < 3; solver++) {
        for (int empty = CLV_KPALM_EMPTY_AUTO; empty <= CLV_KPALM_RESEED; empty++) {
            clv_matrix points = {.rows = 20, .cols = 2, .values = same};
            clv_kpalm_options options = options_for(3);
            options.solver = solver;
            options.empty = empty;
            clv_result *result = solve(ctx, &points, &options);
            assert_true(result->certificate.holds);
            assert_true(result->stop == CLV_CONVERGED); /* though the mean of equal numbers is none of them */
            clv_result_free(result);
            points.values = two;
            options.start = "random";
            result = solve(ctx, &points, &options);
            assert_true(result->certificate.holds);
            assert_true(result->stop == CLV_CONVERGED);
            clv_result_free(result);
        }
    }
    clv_context_free(ctx);
}

/* k-median is not moved by outliers, nor is it by the smoothing that is chosen for it. */
static void outliers_do_not_smooth(void **unused) {
    (void)unused;
    enum { N = 100, FAR = 30 };
    double values[2 * N];
    clv_context *ctx = new_context();
    fill(values, N, 2, 3);
    double near[2] = {0, 0};
    for (int i = 0; i < 2 * N; i++) {
        near[i % 2] += i < 2 * (N - FAR) ? values[i] / (N - FAR) : 0;
        values[i] += i < 2 * (N - FAR) ? 0 : 1e4;
    }
    clv_kpalm_options options = options_for(1);
    options.norm = CLV_KPALM_EUCLIDEAN;
    clv_result *result = solve(ctx, &(clv_matrix){.rows = N, .cols = 2, .values = values}, &options);
    const double *center = clv_result_matrix(result, "centers")->values;
    assert_true(result->certificate.holds);
    double radius = 0;
    for (int i = 0; i < 2 * (N - FAR); i++) {
        radius = fmax(radius, fabs(values[i] - near[i % 2]));
    }
    assert_true(fabs(center[0] - near[0]) < radius && fabs(center[1] - near[1]) < radius);
    clv_result_free(result);
    clv_context_free(ctx);
}

/* Two starting centers that are the same never separate by themselves; a reseed moves one. */
static void empty_clusters_are_kept_or_reseeded(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    data *d = make(60, 2, DOUBLES, 6);
    double centers[] = {6, 6, 6, 6, 12, 12};
    clv_matrix given = {.rows = 3, .cols = 2, .values = centers};
    for (int solver = CLV_KPALM_KPALM; solver <= CLV_KPALM_LLOYD; solver++) {
        double value[3];
        for (int empty = CLV_KPALM_EMPTY_AUTO; empty <= CLV_KPALM_RESEED; empty++) {
            clv_kpalm_options options = options_for(3);
            options.solver = solver;
            options.empty = empty;
            options.polish = 0;
            clv_result *result = solve_input(ctx, &(clv_input){.points = &d->matrix, .start = &given}, &options);
            int64_t least = 60;
            for (int l = 0; l < 3; l++) {
                least = result->sizes[l] < least ? result->sizes[l] : least;
            }
            if (solver == CLV_KPALM_KPALM) { /* with lloyd the center left behind may find objects later */
                assert_int_equal(least == 0, empty != CLV_KPALM_RESEED);
            }
            value[empty] = result->objective.value;
            clv_result_free(result);
        }
        assert_true(value[CLV_KPALM_RESEED] <= value[CLV_KPALM_KEEP] * (solver == CLV_KPALM_KPALM ? 0.9 : 1.1));
        assert_true(value[CLV_KPALM_EMPTY_AUTO] ==
                    value[solver == CLV_KPALM_KPALM ? CLV_KPALM_KEEP : CLV_KPALM_RESEED]);
    }
    free(d);
    clv_context_free(ctx);
}

/* Three clouds and an object far from all, which is the farthest from its center. One center has the first cloud, one
 * lies between the others, and the third has nothing: it goes to one of the two, not to the single object. */
static void refills_are_not_outliers(void **unused) {
    (void)unused;
    enum { EACH = 200, N = 3 * EACH + 1 };
    clv_context *ctx = new_context();
    double points[2 * N], centers[] = {0, 0, 15, 0, 1000, 1000};
    float narrow[2 * N];
    clv_matrix given = {.rows = 3, .cols = 2, .values = centers};
    clv_rng rng = clv_rng_stream(21, 0);
    for (int e = 0; e < 2 * N; e++) {
        int cloud = e / 2 / EACH; /* at 0, 10 and 20, or the single object */
        points[e] = clv_rng_normal(&rng) / 2 + (e % 2 == 0 ? 10 * (cloud % 3) : cloud == 3 ? 14 : 0);
        narrow[e] = (float)points[e];
    }
    for (int turn = 0; turn < 4; turn++) {
        clv_matrix matrix = {.rows = N, .cols = 2, .values = points};
        if (turn % 2 == 1) {
            matrix.scalar = CLV_F32;
            matrix.values = narrow;
        }
        clv_kpalm_options options = options_for(3);
        options.solver = turn < 2 ? CLV_KPALM_LLOYD : CLV_KPALM_WEISZFELD;
        clv_result *result[3];
        for (int threads = 1; threads <= 3; threads++) {
            options.control.threads = threads;
            result[threads - 1] = solve_input(ctx, &(clv_input){.points = &matrix, .start = &given}, &options);
        }
        for (int l = 0; l < 3; l++) {
            assert_true(result[0]->sizes[l] >= EACH);
        }
        assert_true(result[0]->certificate.holds);
        for (int threads = 0; threads < 3; threads++) {
            assert_true(result[threads]->objective.value == result[0]->objective.value);
            assert_memory_equal(result[threads]->labels, result[0]->labels, N * sizeof *result[0]->labels);
        }
        for (int threads = 0; threads < 3; threads++) {
            clv_result_free(result[threads]);
        }
    }
    clv_context_free(ctx);
}

/* A weight of 2 is the same as the object twice. */
static void sample_weights_count_objects(void **unused) {
    (void)unused;
    enum { N = 80, P = 2 };
    clv_context *ctx = new_context();
    double points[2 * N * P], sample[N], centers[4 * P];
    fill(points, N, P, 12);
    memcpy(points + N * P, points, (N / 2) * P * sizeof *points); /* the first half twice */
    memcpy(centers, points + 10 * P, sizeof centers);
    for (int i = 0; i < N; i++) {
        sample[i] = i < N / 2 ? 2 : 1;
    }
    clv_matrix given = {.rows = 4, .cols = P, .values = centers};
    for (int norm = CLV_KPALM_SQUARED; norm <= CLV_KPALM_EUCLIDEAN; norm++) {
        clv_kpalm_options options = options_for(4);
        options.norm = norm;
        options.epsilon = 0.1;
        options.polish = 0;
        options.alpha_unit = CLV_KPALM_VARIANCE;
        clv_matrix repeated = {.rows = N + N / 2, .cols = P, .values = points},
                   once = {.rows = N, .cols = P, .values = points};
        const clv_matrix column = {.rows = N, .cols = 1, .values = sample};
        clv_result *twice = solve_input(ctx, &(clv_input){.points = &repeated, .start = &given}, &options);
        clv_result *weighted =
            solve_input(ctx, &(clv_input){.points = &once, .weights = &column, .start = &given}, &options);
        assert_true(!clv_result_field(twice, "weighted") && clv_result_field(weighted, "weighted"));
        assert_true(fabs(twice->objective.value - weighted->objective.value) <= 1e-6 * twice->objective.value);
        assert_memory_equal(twice->labels, weighted->labels, N * sizeof(int32_t));
        clv_result_free(twice);
        clv_result_free(weighted);
    }
    clv_context_free(ctx);
}

/* --- refusals --- */

static void refuse_input(clv_context *ctx, const clv_input *input, const clv_kpalm_options *options, clv_status status,
                         const char *words) {
    clv_result *result;
    assert_int_equal(clv_kpalm(ctx, input, options, &result), status);
    assert_null(result);
    if (!strstr(clv_message(ctx), words)) {
        fail_msg("'%s' does not say '%s'", clv_message(ctx), words);
    }
}

static void expect_refusal(clv_context *ctx, const clv_matrix *points, const clv_kpalm_options *options,
                           clv_status status, const char *words) {
    refuse_input(ctx, &(clv_input){.points = points}, options, status, words);
}

static void refuses_what_cannot_be(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    data *d = make(10, 2, DOUBLES, 1);
    clv_kpalm_options options = options_for(12);
    double sample[10] = {1, 1, -1};
    expect_refusal(ctx, &d->matrix, &options, CLV_EDATA, "k = 12 exceeds the 10 objects");
    options = options_for(2);
    options.solver = CLV_KPALM_LLOYD;
    options.norm = CLV_KPALM_EUCLIDEAN;
    expect_refusal(ctx, &d->matrix, &options, CLV_EUSAGE, "lloyd");
    options.solver = CLV_KPALM_WEISZFELD;
    options.norm = CLV_KPALM_SQUARED;
    expect_refusal(ctx, &d->matrix, &options, CLV_EUSAGE, "weiszfeld");
    options = options_for(2);
    options.start = "elsewhere";
    expect_refusal(ctx, &d->matrix, &options, CLV_EUSAGE, "elsewhere");
    options.start = "centers";
    expect_refusal(ctx, &d->matrix, &options, CLV_EUSAGE, "centers");
    clv_matrix given = {.rows = 3, .cols = 2, .values = d->values};
    clv_input input = {.points = &d->matrix, .start = &given};
    refuse_input(ctx, &input, &options, CLV_EDATA, "3 x 2");
    options = options_for(2);
    clv_matrix weights = {.rows = 10, .cols = 1, .values = sample};
    input = (clv_input){.points = &d->matrix, .weights = &weights};
    refuse_input(ctx, &input, &options, CLV_EDATA, "object 3");
    weights.rows = 9;
    refuse_input(ctx, &input, &options, CLV_EDATA, "9 x 1");
    weights.rows = 10;
    d->values[7] = NAN;
    expect_refusal(ctx, &d->matrix, &options, CLV_EDATA, "row 4 column 2: nan");
    d->values[7] = 1e200;
    expect_refusal(ctx, &d->matrix, &options, CLV_EDATA, "row 4 column 2: 1e+200");
    d->values[7] = 1;
    options.alpha = 0;
    expect_refusal(ctx, &d->matrix, &options, CLV_EUSAGE, "alpha = 0");
    options = options_for(2);
    double far[4] = {1e30, 0, 0, 1e30}, heavy[10] = {1, 1, 1e40};
    given = (clv_matrix){.rows = 2, .cols = 2, .values = far};
    refuse_input(ctx, &(clv_input){.points = &d->matrix, .start = &given}, &options, CLV_EDATA,
                 "the starting centers lie up to");
    weights.values = heavy;
    refuse_input(ctx, &input, &options, CLV_EDATA, "1e+40 of object 3");
    for (int e = 0; e < 20; e++) { /* the squares are 0, the points are not */
        d->values[e] *= 1e-200;
    }
    expect_refusal(ctx, &d->matrix, &options, CLV_EDATA, "as doubles, that must be 1e-70 to 1e+70");
    for (int e = 0; e < 20; e++) {
        d->narrow[e] *= 1e-40f;
    }
    clv_matrix narrow = {.rows = 10, .cols = 2, .scalar = CLV_F32, .values = d->narrow};
    expect_refusal(ctx, &narrow, &options, CLV_EDATA, "as floats, that must be 1e-32 to 1e+36");
    free(d);
    clv_context_free(ctx);
}

/* --- results --- */

static void same_bits_on_any_threads(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    for (int kind = 0; kind < KINDS; kind++) {
        data *d = make(6000, 5, kind, 31);
        for (int solver = 0; solver < 3; solver++) {
            clv_kpalm_options options = options_for(12);
            options.solver = solver;
            options.control.restarts = 2;
            clv_result *one = solve(ctx, &d->matrix, &options);
            options.control.threads = 5;
            clv_result *many = solve(ctx, &d->matrix, &options);
            assert_memory_equal(one->labels, many->labels, 6000 * sizeof(int32_t));
            assert_memory_equal(clv_result_matrix(one, "centers")->values, clv_result_matrix(many, "centers")->values,
                                12 * 5 * sizeof(double));
            assert_true(one->objective.value == many->objective.value);
            assert_true(one->certificate.value == many->certificate.value);
            clv_result_free(one);
            clv_result_free(many);
        }
        free(d);
    }
    clv_context_free(ctx);
}

/* Stopped early: memberships are in the result, add up to 1 and can be evaluated. */
static void early_answers_are_soft(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    data *d = make(200, 3, FLOATS, 9);
    clv_kpalm_options options = options_for(4);
    for (int64_t steps = 0; steps < 4; steps++) {
        options.control.max_iter = steps;
        clv_result *result = solve(ctx, &d->matrix, &options), *found;
        assert_int_equal(result->stop, CLV_ITERATION_LIMIT);
        assert_non_null(clv_result_matrix(result, "membership"));
        assert_int_equal(clv_kpalm_evaluate(ctx, &(clv_input){.points = &d->matrix}, &options, result, &found), CLV_OK);
        assert_true(found->objective.value == result->objective.value);
        assert_true(found->certificate.value == result->certificate.value);
        clv_result_free(found);
        int32_t kept = result->labels[0]; /* a label that is not that of the largest membership */
        result->labels[0] = kept == 0;
        assert_int_equal(clv_kpalm_evaluate(ctx, &(clv_input){.points = &d->matrix}, &options, result, &found),
                         steps == 0 ? CLV_OK : CLV_EDATA); /* at first all are equal */
        clv_result_free(found);
        assert_true(result->drift <= 1e-5);
        clv_result_free(result);
    }
    free(d);
    clv_context_free(ctx);
}

static void new_points_go_to_the_nearest_center(void **unused) {
    (void)unused;
    enum { K = 6, P = 4, M = 100 };
    clv_context *ctx = new_context();
    double centers[K * P];
    clv_kpalm_options options = options_for(K);
    clv_result *model, *told;
    options.control.threads = 2;
    fill(centers, K, P, 14);
    clv_matrix given = {.rows = K, .cols = P, .values = centers};
    clv_field field = {.name = "centers", .kind = CLV_FIELD_MATRIX, .count = 1, .matrix = &given};
    assert_int_equal(clv_result_new(ctx, 0, K, &model), CLV_OK);
    assert_int_equal(clv_kpalm_predict(ctx, &(clv_input){0}, &options, model, &(clv_fresh){.points = &given}, &told),
                     CLV_EUSAGE); /* without centers */
    assert_int_equal(clv_result_put(model, &field), CLV_OK);
    for (int kind = 0; kind < KINDS; kind++) {
        data *d = make(M, P, kind, 15);
        double row[P];
        assert_int_equal(
            clv_kpalm_predict(ctx, &(clv_input){0}, &options, model, &(clv_fresh){.points = &d->matrix}, &told),
            CLV_OK);
        assert_int_equal(told->n, M);
        for (int64_t i = 0; i < M; i++) {
            double least = HUGE_VAL, own = 0;
            clv_matrix_row(&d->matrix, i, row);
            for (int64_t l = 0; l < K; l++) {
                double distance = 0;
                for (int64_t f = 0; f < P; f++) {
                    distance += (row[f] - centers[l * P + f]) * (row[f] - centers[l * P + f]);
                }
                least = fmin(least, distance);
                own = l == told->labels[i] ? distance : own;
            }
            assert_true(own <= least * (1 + 1e-12));
        }
        clv_result_free(told);
        free(d);
    }
    clv_matrix narrow = {.rows = K, .cols = P - 1, .values = centers};
    assert_int_equal(clv_kpalm_predict(ctx, &(clv_input){0}, &options, model, &(clv_fresh){.points = &narrow}, &told),
                     CLV_EDATA);
    assert_null(told);
    clv_result_free(model);
    end_context(ctx);
}

static int stop_soon(void *user) {
    return --*(int *)user < 0;
}

/* Wherever a run is interrupted, starts included, there are labels, and the objective is theirs. */
static void an_interruption_keeps_an_answer(void **unused) {
    (void)unused;
    static const char *const starts[] = {"random", "greedy++", "kmeans++", CLV_KMEANS_PARALLEL};
    clv_context *ctx = new_context();
    data *d = make(1000, 4, DOUBLES, 40);
    for (int turn = 0; turn < 4 * 3 * 12; turn++) {
        int polls = turn / 12 < 6 ? turn / 12 : (turn / 12 - 5) * 14;
        clv_kpalm_options options = options_for(8);
        options.start = starts[turn % 4];
        options.solver = turn / 4 % 3;
        clv_result *result = NULL, *found = NULL;
        clv_input input = {.points = &d->matrix};
        clv_context_set_interrupt(ctx, stop_soon, &polls);
        assert_int_equal(clv_kpalm(ctx, &input, &options, &result), CLV_OK);
        clv_context_set_interrupt(ctx, NULL, NULL);
        assert_true(polls >= 0 || result->stop == CLV_CANCELLED);
        assert_int_equal(clv_kpalm_evaluate(ctx, &input, &options, result, &found), CLV_OK);
        assert_true(fabs(found->objective.value / result->objective.value - 1) < 1e-9);
        clv_result_free(found);
        clv_result_free(result);
        options.control.time_limit = 1e-9;
        result = solve(ctx, &d->matrix, &options);
        assert_int_equal(result->stop, CLV_TIME_LIMIT);
        assert_true(isfinite(result->objective.value));
        clv_result_free(result);
    }
    free(d);
    clv_context_free(ctx);
}

/* Also where one pass over the points is more than the moment that an interrupted run has left. */
static void an_interruption_labels_all_objects_of_many(void **unused) {
    (void)unused;
    enum { N = 600000, COLUMNS = 20, CLUSTERS = 16 };
    clv_context *ctx = new_context();
    float *values = malloc(sizeof(float) * N * COLUMNS);
    assert_non_null(values);
    for (int64_t e = 0; e < (int64_t)N * COLUMNS; e++) {
        values[e] = (float)(e * 7919 % 10007) / 10007 + (float)(e / COLUMNS % CLUSTERS);
    }
    clv_matrix points = {.rows = N, .cols = COLUMNS, .scalar = CLV_F32, .values = values};
    for (int norm = 0; norm < 2; norm++) {
        clv_kpalm_options options = options_for(CLUSTERS);
        clv_result *result = NULL;
        int polls = 0;
        options.norm = norm;
        clv_context_set_interrupt(ctx, stop_soon, &polls);
        assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &points}, &options, &result), CLV_OK);
        clv_context_set_interrupt(ctx, NULL, NULL);
        for (int64_t i = 0; i < N; i++) {
            assert_in_range(result->labels[i], 0, CLUSTERS - 1);
        }
        clv_result_free(result);
    }
    free(values);
    clv_context_free(ctx);
}

/* Each of the three passes that come before all others asks at every chunk of the points. */
static void measuring_is_interrupted(void **unused) {
    (void)unused;
    enum { PLENTY = 1 << 20, PASSES = 3 };
    clv_context *ctx = new_context();
    data *d = make(5000, 3, DOUBLES, 7);
    clv_kpalm_options options = options_for(2);
    clv_input input = {.points = &d->matrix};
    clv_kpalm_problem problem = {0};
    int left = PLENTY;
    clv_context_set_interrupt(ctx, stop_soon, &left);
    assert_int_equal(clv_kpalm_problem_new(ctx, &input, &options, &problem), CLV_OK);
    int polls = PLENTY - left;
    assert_true(problem.chunks > 1 && polls >= PASSES * problem.chunks);
    clv_kpalm_problem_free(&problem);
    for (int p = 0; p < polls; p++) {
        left = p;
        problem = (clv_kpalm_problem){0};
        assert_int_equal(clv_kpalm_problem_new(ctx, &input, &options, &problem), CLV_EINTERRUPTED);
        assert_non_null(strstr(clv_message(ctx), "measuring the points"));
        clv_kpalm_problem_free(&problem);
    }
    free(d);
    clv_context_free(ctx);
}

/* Centers that there was no time to choose are other objects, not one of them twice. */
static void hasty_starts_are_distinct(void **unused) {
    (void)unused;
    clv_context *ctx = new_context();
    data *d = make(200, 3, DOUBLES, 7);
    for (int polls = 0; polls < 40; polls++) {
        int left = polls / 2;
        clv_kpalm_options options = options_for(150);
        clv_result *result = NULL;
        options.start = polls % 2 ? CLV_KMEANS_PARALLEL : "auto";
        options.solver = CLV_KPALM_LLOYD;
        clv_context_set_interrupt(ctx, stop_soon, &left);
        assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &d->matrix}, &options, &result), CLV_OK);
        clv_context_set_interrupt(ctx, NULL, NULL);
        int64_t empty = 0;
        for (int64_t c = 0; c < result->k; c++) {
            empty += result->sizes[c] == 0;
        }
        assert_true(empty < 5);
        clv_result_free(result);
    }
    free(d);
    clv_context_free(ctx);
}

/* Where fewer than k points differ, means that lie together but for rounding hand objects to each other: runs end. */
static void copies_of_few_points_end(void **unused) {
    (void)unused;
    enum { OBJECTS = 2000, WIDE = 30, DIFFERENT = 7 };
    clv_context *ctx = new_context();
    data *d = make(OBJECTS, WIDE, DOUBLES, 7);
    double *values = (double *)d->matrix.values;
    for (int64_t e = 0; e < OBJECTS * WIDE; e++) {
        values[e] = sin((double)(e % (DIFFERENT * WIDE) + 1));
    }
    for (int way = 0; way < 6; way++) {
        static const char *const starts[] = {"greedy++", CLV_KMEANS_PARALLEL, "random"};
        clv_kpalm_options options = options_for(20);
        clv_result *result = NULL;
        options.start = starts[way % 3];
        options.solver = way < 3 ? CLV_KPALM_LLOYD : CLV_KPALM_KPALM;
        options.control.max_iter = 300;
        assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &d->matrix}, &options, &result), CLV_OK);
        assert_int_equal(result->stop, CLV_CONVERGED);
        assert_true(result->certificate.value <= result->certificate.tolerance);
        clv_result_free(result);
    }
    free(d);
    clv_context_free(ctx);
}

/* Points that differ by some units in the last place: means that take turns within their rounding end a run, and so
 * do memberships that these hand to and fro. */
static void points_that_differ_by_rounding_end(void **unused) {
    (void)unused;
    enum { OBJECTS = 51, RUNS = 40 };
    double values[OBJECTS];
    clv_context *ctx = new_context();
    const clv_matrix points = {OBJECTS, 1, CLV_F64, values, NULL, NULL};
    for (int run = 0; run < RUNS; run++) {
        clv_rng rng = clv_rng_stream((uint64_t)run, 0);
        for (int64_t i = 0; i < OBJECTS; i++) {
            double place = clv_rng_uniform(&rng) < 0.5 ? 999997.5585326182 : 999999.5869364568;
            values[i] = place + (double)clv_rng_below(&rng, 16) * 0x1p-33;
        }
        clv_kpalm_options options = options_for(3);
        clv_result *result = NULL;
        options.norm = run % 2 ? CLV_KPALM_EUCLIDEAN : CLV_KPALM_SQUARED;
        options.control.restarts = 5;
        options.control.max_iter = 3000;
        assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &points}, &options, &result), CLV_OK);
        for (int64_t r = 0; r < result->restarts_count; r++) {
            assert_int_not_equal(result->restarts[r].stop, CLV_ITERATION_LIMIT);
        }
        clv_result_free(result);
    }
    clv_context_free(ctx);
}

/* What a run holds at most, in the ways that lists of weights become long or do not. */
static void memory_is_an_upper_bound(void **unused) {
    enum { AS_USUAL, LARGE_ALPHA, CONSTANT, BY_DISTANCE, EUCLIDEAN, LLOYD, PARALLEL, WAYS };
    (void)unused;
    for (int run = 0; run < KINDS * WAYS; run++) {
        int way = run / KINDS;
        data *d = make(30000, 2, run % KINDS, 3);
        clv_context *ctx = new_context();
        clv_kpalm_options options = options_for(40);
        clv_input input = {.points = &d->matrix};
        size_t now, peak;
        options.alpha = way == LARGE_ALPHA ? 1e4 : NAN;
        options.schedule = way == CONSTANT ? CLV_KPALM_CONSTANT : CLV_KPALM_GEOMETRIC;
        options.object_alpha = way == BY_DISTANCE ? "distance" : "same";
        options.norm = way == EUCLIDEAN ? CLV_KPALM_EUCLIDEAN : CLV_KPALM_SQUARED;
        options.solver = way == LLOYD || way == PARALLEL ? CLV_KPALM_LLOYD : CLV_KPALM_KPALM;
        options.start = way == PARALLEL ? CLV_KMEANS_PARALLEL : "auto";
        options.control.threads = 1 + run % 2;
        options.control.max_iter = 10;
        clv_result_free(solve(ctx, &d->matrix, &options));
        clv_context_memory(ctx, &now, &peak);
        if (peak > clv_kpalm_memory(&input, &options)) {
            fail_msg("way %d, kind %d: %zu bytes, not %zu", way, run % KINDS, peak, clv_kpalm_memory(&input, &options));
        }
        clv_context_free(ctx);
        free(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_distances),
        cmocka_unit_test(projections_are_projections),
        cmocka_unit_test(shifts_and_choices_are_projections),
        cmocka_unit_test(scans_find_the_least_keys),
        cmocka_unit_test(the_fast_form_is_the_plain_form),
        cmocka_unit_test(centers_that_are_not_listed_bound_too),
        cmocka_unit_test(scale_and_place_do_not_matter),
        cmocka_unit_test(starts_follow_the_weights),
        cmocka_unit_test(ties_come_to_an_end),
        cmocka_unit_test(large_distances_keep_the_weights),
        cmocka_unit_test(odd_sizes_are_solved),
        cmocka_unit_test(equal_points_are_one_cluster),
        cmocka_unit_test(outliers_do_not_smooth),
        cmocka_unit_test(empty_clusters_are_kept_or_reseeded),
        cmocka_unit_test(refills_are_not_outliers),
        cmocka_unit_test(sample_weights_count_objects),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(same_bits_on_any_threads),
        cmocka_unit_test(early_answers_are_soft),
        cmocka_unit_test(new_points_go_to_the_nearest_center),
        cmocka_unit_test(an_interruption_keeps_an_answer),
        cmocka_unit_test(an_interruption_labels_all_objects_of_many),
        cmocka_unit_test(measuring_is_interrupted),
        cmocka_unit_test(hasty_starts_are_distinct),
        cmocka_unit_test(copies_of_few_points_end),
        cmocka_unit_test(points_that_differ_by_rounding_end),
        cmocka_unit_test(memory_is_an_upper_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
