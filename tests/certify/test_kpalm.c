/* kpalm against its theory: a plain implementation of the slides' formulas in this file, its sufficient decrease and
 * subgradient bounds, the counterexample to a printed constant, the vertex property, limits that are fixed points of
 * Lloyd's algorithm, and the optimum by brute force. */
#include "cleave.h"

#include "base/base.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 40, P = 3, K = 4 };

typedef struct iterate {
    double w[N][K], x[K][P];
} iterate;

typedef struct problem {
    double a[N][P];
    double epsilon;   /* 0: squared distances */
    double factor[N]; /* alpha_i(t) = factor_i alpha(t) */
    double gamma;     /* gamma_x of PALM */
} problem;

static double distance(const problem *q, const iterate *z, int i, int l) {
    double sum = 0;
    for (int f = 0; f < P; f++) {
        sum += (z->x[l][f] - q->a[i][f]) * (z->x[l][f] - q->a[i][f]);
    }
    return q->epsilon > 0 ? sqrt(sum + q->epsilon * q->epsilon) : sum;
}

static double sigma(const problem *q, const iterate *z) {
    double sum = 0;
    for (int i = 0; i < N; i++) {
        for (int l = 0; l < K; l++) {
            sum += z->w[i][l] * distance(q, z, i, l);
        }
    }
    return sum;
}

/* The projection by bisection on tau: another way than the library's. */
static void project(double *v) {
    double low = -HUGE_VAL, high = -HUGE_VAL;
    for (int l = 0; l < K; l++) {
        high = fmax(high, v[l]);
    }
    low = high - 1;
    for (int step = 0; step < 200; step++) {
        double middle = (low + high) / 2, sum = 0;
        for (int l = 0; l < K; l++) {
            sum += fmax(v[l] - middle, 0);
        }
        *(sum > 1 ? &low : &high) = middle;
    }
    for (int l = 0; l < K; l++) {
        v[l] = fmax(v[l] - low, 0);
    }
}

/* One iteration by the formulas. */
static void plain_step(const problem *q, double alpha, const iterate *z, iterate *next) {
    *next = *z;
    for (int i = 0; i < N; i++) {
        for (int l = 0; l < K; l++) {
            next->w[i][l] = z->w[i][l] - distance(q, z, i, l) / (alpha * q->factor[i]);
        }
        project(next->w[i]);
    }
    for (int l = 0; l < K; l++) {
        double mass = 0, sum[P] = {0};
        for (int i = 0; i < N; i++) {
            double weight = next->w[i][l] / (q->epsilon > 0 ? distance(q, z, i, l) : 1);
            mass += weight;
            for (int f = 0; f < P; f++) {
                sum[f] += weight * q->a[i][f];
            }
        }
        for (int f = 0; f < P && mass > 0; f++) {
            next->x[l][f] += (sum[f] / mass - z->x[l][f]) / q->gamma;
        }
    }
}

static void random_problem(clv_rng *rng, problem *q, iterate *z) {
    q->gamma = 1;
    for (int i = 0; i < N; i++) {
        q->factor[i] = 1;
        for (int f = 0; f < P; f++) {
            q->a[i][f] = clv_rng_normal(rng) + 3 * (i % 3) + 10;
        }
        for (int l = 0; l < K; l++) {
            z->w[i][l] = 1.0 / K;
        }
    }
    for (int l = 0; l < K; l++) {
        memcpy(z->x[l], q->a[7 * l + 1], sizeof z->x[l]);
    }
}

/* Factors of alpha from 1/4 to 4, centers that go a part of the way, and weights at random, some of them 0. */
static void make_general(clv_rng *rng, problem *q, iterate *z) {
    q->gamma = 1 + clv_rng_uniform(rng);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        q->factor[i] = exp2(4 * clv_rng_uniform(rng) - 2);
        for (int l = 0; l < K; l++) {
            z->w[i][l] = l == i % K ? 0.5 : fmax(clv_rng_uniform(rng) - 0.3, 0);
            sum += z->w[i][l];
        }
        for (int l = 0; l < K; l++) {
            z->w[i][l] /= sum;
        }
    }
}

static double extreme_factor(const problem *q, double sign) {
    double most = -HUGE_VAL;
    for (int i = 0; i < N; i++) {
        most = fmax(most, sign * q->factor[i]);
    }
    return sign * most;
}

static double diameter(const problem *q) {
    double most = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            double sum = 0;
            for (int f = 0; f < P; f++) {
                sum += (q->a[i][f] - q->a[j][f]) * (q->a[i][f] - q->a[j][f]);
            }
            most = fmax(most, sum);
        }
    }
    return sqrt(most);
}

static double gap2(const iterate *z, const iterate *next, double *centers) {
    double weights = 0;
    *centers = 0;
    for (int i = 0; i < N; i++) {
        for (int l = 0; l < K; l++) {
            weights += (next->w[i][l] - z->w[i][l]) * (next->w[i][l] - z->w[i][l]);
        }
    }
    for (int l = 0; l < K; l++) {
        for (int f = 0; f < P; f++) {
            *centers += (next->x[l][f] - z->x[l][f]) * (next->x[l][f] - z->x[l][f]);
        }
    }
    return weights + *centers;
}

static double least_mass(const iterate *z) {
    double least = HUGE_VAL;
    for (int l = 0; l < K; l++) {
        double mass = 0;
        for (int i = 0; i < N; i++) {
            mass += z->w[i][l];
        }
        least = fmin(least, mass);
    }
    return least;
}

/* The unit of moves of centers: the root mean square distance of the objects to their mean. */
static double length_of(const problem *q) {
    double sum = 0;
    for (int f = 0; f < P; f++) {
        double mean = 0;
        for (int i = 0; i < N; i++) {
            mean += q->a[i][f] / N;
        }
        for (int i = 0; i < N; i++) {
            sum += (q->a[i][f] - mean) * (q->a[i][f] - mean) / N;
        }
    }
    return sqrt(sum);
}

/* |gamma(t + 1)| of Propositions 2 and 6, from two iterates; slopes are for moves of centers by `unit`. */
static double gamma_norm(const problem *q, double alpha, const iterate *z, const iterate *next, double unit) {
    double sum = 0;
    for (int i = 0; i < N; i++) {
        for (int l = 0; l < K; l++) {
            double part =
                distance(q, next, i, l) - distance(q, z, i, l) - alpha * q->factor[i] * (next->w[i][l] - z->w[i][l]);
            sum += part * part;
        }
    }
    for (int l = 0; l < K; l++) {
        for (int f = 0; f < P; f++) {
            double slope = 0;
            for (int i = 0; i < N; i++) {
                slope +=
                    next->w[i][l] * (next->x[l][f] - q->a[i][f]) / (q->epsilon > 0 ? distance(q, next, i, l) : 0.5);
            }
            sum += unit * slope * unit * slope;
        }
    }
    return sqrt(sum);
}

static clv_kpalm_options options_for(const problem *q) {
    clv_kpalm_options options;
    clv_kpalm_defaults(&options);
    options.k = K;
    options.norm = q->epsilon > 0 ? CLV_KPALM_EUCLIDEAN : CLV_KPALM_SQUARED;
    options.epsilon = q->epsilon > 0 ? q->epsilon : (double)NAN;
    options.control.threads = 1;
    options.polish = 0;
    return options;
}

/* The certificate of an iterate, by the library. */
static double certificate_of(clv_context *ctx, const problem *q, const iterate *z) {
    static int64_t start[N + 1];
    static int32_t index[N * K];
    static double weight[N * K];
    int64_t used = 0;
    for (int i = 0; i < N; i++) {
        start[i] = used;
        for (int l = 0; l < K; l++) {
            if (z->w[i][l] > 0) {
                index[used] = l;
                weight[used++] = z->w[i][l];
            }
        }
    }
    start[N] = used;
    clv_matrix points = {.rows = N, .cols = P, .values = q->a}, centers = {.rows = K, .cols = P, .values = z->x};
    clv_matrix membership = {.rows = N, .cols = K, .values = weight, .start = start, .index = index};
    clv_kpalm_options options = options_for(q);
    clv_result *answer, *found;
    const clv_field fields[] = {
        {.name = "membership", .kind = CLV_FIELD_SPARSE, .count = 1, .matrix = &membership},
        {.name = "centers", .kind = CLV_FIELD_MATRIX, .count = 1, .matrix = &centers},
    };
    assert_int_equal(clv_result_new(ctx, N, K, &answer), CLV_OK);
    for (int i = 0; i < N; i++) {
        answer->labels[i] = 0; /* that of the largest membership */
        for (int l = 1; l < K; l++) {
            answer->labels[i] = z->w[i][l] > z->w[i][answer->labels[i]] ? l : answer->labels[i];
        }
    }
    assert_int_equal(clv_result_put(answer, &fields[0]), CLV_OK);
    assert_int_equal(clv_result_put(answer, &fields[1]), CLV_OK);
    assert_int_equal(clv_kpalm_evaluate(ctx, &(clv_input){.points = &points}, &options, answer, &found), CLV_OK);
    assert_true(fabs(found->objective.value - sigma(q, z)) <= 1e-9 * sigma(q, z));
    double certificate = found->certificate.value;
    clv_result_free(answer);
    clv_result_free(found);
    return certificate;
}

/* Propositions 1, 2, 5 and 6 on random problems, with one alpha and with one per object (then also gamma_x > 1 and any
 * w(0)), and the certificate of the library below |gamma|. Assumption 2: alpha_i(t) is bounded, each cluster has mass.
 */
static void theory_holds(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(3, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 40; trial++) {
        problem q = {.epsilon = trial % 2 ? 0.3 : 0};
        iterate z, next;
        random_problem(&rng, &q, &z);
        if (trial % 4 >= 2) {
            make_general(&rng, &q, &z);
        }
        double across = diameter(&q), far = 0, least = extreme_factor(&q, -1), most = extreme_factor(&q, 1);
        double alpha = trial % 2 ? across : 3 * K * across;
        for (int i = 0; i < N; i++) {
            far = fmax(far, sqrt(q.a[i][0] * q.a[i][0] + q.a[i][1] * q.a[i][1] + q.a[i][2] * q.a[i][2]));
        }
        for (int t = 0; t < 12; t++) {
            double way, both, beta, rho;
            plain_step(&q, alpha, &z, &next);
            both = gap2(&z, &next, &way);
            beta = 2 * least_mass(&next);
            assert_true(beta > 0 && least > 0 && most < HUGE_VAL);
            rho = q.epsilon > 0 ? fmin(alpha * least, beta / 2 / sqrt(across * across + q.epsilon * q.epsilon)) / 2
                                : fmin(alpha * least, beta) / 2;
            assert_true(sigma(&q, &z) - sigma(&q, &next) >= rho * both - 1e-9);
            double gamma = gamma_norm(&q, alpha, &z, &next, 1);
            double bound = q.epsilon > 0 ? N * across / q.epsilon + alpha * most * sqrt(N) +
                                               (1 + q.gamma) * N * sqrt(K) / q.epsilon
                                         : N * (4 * far + alpha * most + 2 * (q.gamma - 1));
            assert_true(gamma <= bound * sqrt(both) + 1e-9);
            gamma = gamma_norm(&q, alpha, &z, &next, length_of(&q));
            assert_true(certificate_of(ctx, &q, &next) <= gamma * (1 + 1e-9) + 1e-8);
            z = next;
            alpha /= 2;
        }
    }
    clv_context_free(ctx);
}

/* The library's iterates are those of the formulas, also with an alpha per object, gamma_x > 1 and a given w(0); its
 * `decrease` is at least 1. */
static void iterates_follow_the_formulas(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(4, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 20; trial++) {
        problem q = {.epsilon = trial % 2 ? 0.4 : 0};
        iterate z, next, first;
        random_problem(&rng, &q, &z);
        bool general = trial % 4 >= 2;
        if (general) {
            make_general(&rng, &q, &z);
        }
        first = z;
        double alpha = q.epsilon > 0 ? 10 : 200;
        clv_matrix factors = {.rows = N, .cols = 1, .values = q.factor};
        clv_matrix membership = {.rows = N, .cols = K, .values = first.w};
        clv_matrix points = {.rows = N, .cols = P, .values = q.a}, centers = {.rows = K, .cols = P, .values = first.x};
        clv_kpalm_options options = options_for(&q);
        options.alpha = alpha;
        options.alpha_unit = CLV_KPALM_ONE;
        options.control.keep_trace = 1;
        options.gamma_x = q.gamma;
        clv_input input = {.points = &points, .start = &centers};
        if (general) {
            input.object_alpha = &factors;
            input.start_membership = &membership;
        }
        for (int t = 1; t <= 10; t++) {
            clv_result *result;
            plain_step(&q, alpha, &z, &next);
            z = next;
            options.control.max_iter = t;
            assert_int_equal(clv_kpalm(ctx, &input, &options, &result), CLV_OK);
            if (result->iterations < t) { /* it has converged */
                clv_result_free(result);
                break;
            }
            assert_true(fabs(result->objective.value - sigma(&q, &z)) <= 1e-9 * sigma(&q, &z));
            const double *x = clv_result_matrix(result, "centers")->values;
            for (int e = 0; e < K * P; e++) {
                assert_true(fabs(x[e] - (&z.x[0][0])[e]) <= 1e-8);
            }
            for (int64_t row = 1; row < result->trace_count; row++) {
                double ratio = result->trace[row].extra[1];
                assert_true(isnan(ratio) || ratio >= 1 - 1e-6);
                assert_true(result->trace[row].objective <= result->trace[row - 1].objective * (1 + 1e-12));
            }
            clv_result_free(result);
            alpha /= 2;
        }
    }
    clv_context_free(ctx);
}

/* 99 points at 0, one at 1, x(0) = 1, epsilon = 0.3, k = 1: the printed constant of Proposition 5 is too large. */
static void the_printed_constant_is_too_large(void **unused) {
    (void)unused;
    double points[100] = {0}, x0 = 1, epsilon = 0.3, mass = 0, sum = 0, before = 0, after = 0;
    points[99] = 1;
    for (int i = 0; i < 100; i++) {
        double root = sqrt((x0 - points[i]) * (x0 - points[i]) + epsilon * epsilon);
        before += root;
        mass += 1 / root;
        sum += points[i] / root;
    }
    double x1 = sum / mass;
    for (int i = 0; i < 100; i++) {
        after += sqrt((x1 - points[i]) * (x1 - points[i]) + epsilon * epsilon);
    }
    double bound = 2 * 100 / sqrt(1 + epsilon * epsilon); /* of L, by Proposition 3 (i) as printed */
    assert_true(mass < bound && mass >= bound / 2);
    double printed = 0.5 * bound * (x1 - x0) * (x1 - x0);
    assert_true(before - after < printed);
    assert_true(before - after >= printed / 2);
    clv_context *ctx;
    clv_result *result;
    clv_kpalm_options options;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    clv_kpalm_defaults(&options);
    clv_matrix matrix = {.rows = 100, .cols = 1, .values = points}, start = {.rows = 1, .cols = 1, .values = &x0};
    options.k = 1;
    options.norm = CLV_KPALM_EUCLIDEAN;
    options.epsilon = epsilon;
    options.control.max_iter = 1;
    options.control.keep_trace = 1;
    assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &matrix, .start = &start}, &options, &result), CLV_OK);
    assert_true(fabs(result->objective.value - after) <= 1e-9);
    assert_true(result->trace[1].extra[1] >= 1);
    clv_result_free(result);
    clv_context_free(ctx);
}

/* f_epsilon, h_epsilon and L_epsilon of the slides for one center and weights v. */
typedef struct weber {
    double a[N][P], v[N], epsilon;
} weber;

static double root_at(const weber *q, int i, const double *x) {
    double sum = q->epsilon * q->epsilon;
    for (int f = 0; f < P; f++) {
        sum += (x[f] - q->a[i][f]) * (x[f] - q->a[i][f]);
    }
    return sqrt(sum);
}

/* f, L and the gradient at x; h(x, y). */
static double weber_at(const weber *q, const double *x, double *modulus, double *gradient) {
    double sum = 0;
    *modulus = 0;
    memset(gradient, 0, P * sizeof *gradient);
    for (int i = 0; i < N; i++) {
        double root = root_at(q, i, x);
        sum += q->v[i] * root;
        *modulus += q->v[i] / root;
        for (int f = 0; f < P; f++) {
            gradient[f] += q->v[i] * (x[f] - q->a[i][f]) / root;
        }
    }
    return sum;
}

static double majorant(const weber *q, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < N; i++) {
        sum += q->v[i] * root_at(q, i, x) * root_at(q, i, x) / root_at(q, i, y);
    }
    return sum;
}

/* Lemmas 5 (which is 8 again) and 7 at pairs of points near, far and on top of objects. */
static void lemmas_of_the_smoothed_distance_hold(void **unused) {
    (void)unused;
    clv_rng rng = clv_rng_stream(21, 0);
    for (int trial = 0; trial < 2000; trial++) {
        weber q = {.epsilon = exp2(8 * clv_rng_uniform(&rng) - 6)};
        double x[P], y[P], gx[P], gy[P], lx, ly, way = 0, turn = 0, slope = 0;
        for (int i = 0; i < N; i++) {
            q.v[i] = trial % 3 ? clv_rng_uniform(&rng) : i == 0; /* of one object alone, some of these are equalities */
            for (int f = 0; f < P; f++) {
                q.a[i][f] = clv_rng_normal(&rng);
            }
        }
        for (int f = 0; f < P; f++) {
            x[f] = trial % 2 ? q.a[0][f] : 3 * clv_rng_normal(&rng);
            y[f] = trial % 5 ? x[f] + exp2(6 * clv_rng_uniform(&rng) - 4) * clv_rng_normal(&rng) : 2 * q.a[0][f] - x[f];
        }
        double fx = weber_at(&q, x, &lx, gx), fy = weber_at(&q, y, &ly, gy), rounding = 1e-12 * (fx + fy);
        for (int f = 0; f < P; f++) {
            way += (x[f] - y[f]) * (x[f] - y[f]);
            turn += (gx[f] - gy[f]) * (gx[f] - gy[f]);
            slope += gy[f] * (x[f] - y[f]);
        }
        assert_true(fabs(majorant(&q, y, y) - fy) <= rounding);                               /* 7 (i) */
        assert_true(majorant(&q, x, y) >= 2 * fx - fy - rounding);                            /* 7 (ii) */
        assert_true(fx <= fy + slope + ly / 2 * way + rounding);                              /* 7 (iii) */
        assert_true(sqrt(turn) <= 2 * lx * ly / (lx + ly) * sqrt(way) * (1 + 1e-12) + 1e-12); /* 5 */
    }
}

/* Weights and centers of a result. */
static void take_iterate(const clv_result *result, iterate *out) {
    const clv_field *soft = clv_result_field(result, "membership");
    memset(out->w, 0, sizeof out->w);
    for (int i = 0; i < N; i++) {
        if (!soft) {
            out->w[i][result->labels[i]] = 1;
        }
        for (int64_t e = soft ? soft->matrix->start[i] : 0; soft && e < soft->matrix->start[i + 1]; e++) {
            out->w[i][soft->matrix->index[e]] = ((const double *)soft->matrix->values)[e];
        }
    }
    memcpy(out->x, clv_result_matrix(result, "centers")->values, sizeof out->x);
}

/* Propositions 3 (with half of the constant printed) and 4 along a run of the library, whose centers take gradient
 * steps of length 1 / (gamma_x L_l). */
static void check_center_steps(const problem *q, const iterate *z, const iterate *next) {
    double across = diameter(q), mass = least_mass(next), model = 0;
    iterate half = *z; /* w(t + 1), x(t) */
    memcpy(half.w, next->w, sizeof half.w);
    for (int l = 0; l < K; l++) {
        double modulus = 0, gradient[P] = {0};
        for (int i = 0; i < N; i++) {
            double pull = next->w[i][l] / distance(q, z, i, l);
            modulus += pull;
            for (int f = 0; f < P; f++) {
                gradient[f] += pull * (z->x[l][f] - q->a[i][f]);
            }
        }
        assert_true(modulus >= mass / sqrt(across * across + q->epsilon * q->epsilon) * (1 - 1e-12)); /* 3 (i) */
        assert_true(modulus <= N / q->epsilon * (1 + 1e-12));                                         /* 3 (ii) */
        for (int f = 0; f < P; f++) {
            double step = next->x[l][f] - z->x[l][f];
            assert_true(fabs(step + gradient[f] / (q->gamma * modulus)) <= 1e-9);
            model += gradient[f] * step + modulus / 2 * step * step;
        }
    }
    assert_true(sigma(q, next) <= sigma(q, &half) + model + 1e-9); /* 4 */
}

static void propositions_3_and_4_hold(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(22, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 8; trial++) {
        problem q = {.epsilon = exp2(trial - 5)};
        iterate z, next;
        random_problem(&rng, &q, &z);
        q.gamma = trial % 2 ? 1.5 : 1;
        iterate first = z;
        clv_matrix points = {.rows = N, .cols = P, .values = q.a}, centers = {.rows = K, .cols = P, .values = first.x};
        clv_kpalm_options options = options_for(&q);
        options.gamma_x = q.gamma;
        for (int t = 1; t <= 12; t++) {
            clv_result *result;
            options.control.max_iter = t;
            assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &points, .start = &centers}, &options, &result),
                             CLV_OK);
            bool ended = result->iterations < t;
            take_iterate(result, &next);
            clv_result_free(result);
            if (ended) {
                break;
            }
            check_center_steps(&q, &z, &next);
            z = next;
        }
    }
    clv_context_free(ctx);
}

/* The rule "distance": factors from the distances of an object to all, the same as when they are given. */
static void alpha_by_distance_is_its_formula(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(23, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 6; trial++) {
        problem q = {.epsilon = trial % 2 ? 0.4 : 0};
        iterate z;
        double sum = 0;
        random_problem(&rng, &q, &z);
        for (int i = 0; i < N; i++) {
            q.factor[i] = 0;
            for (int j = 0; j < N; j++) {
                for (int f = 0; f < P; f++) {
                    q.factor[i] += (q.a[i][f] - q.a[j][f]) * (q.a[i][f] - q.a[j][f]) / N;
                }
            }
            sum += q.factor[i] / N;
        }
        for (int i = 0; i < N; i++) {
            q.factor[i] = q.epsilon > 0 ? sqrt(q.factor[i] / sum) : q.factor[i] / sum;
        }
        clv_matrix points = {.rows = N, .cols = P, .values = q.a}, factors = {.rows = N, .cols = 1, .values = q.factor};
        clv_kpalm_options options = options_for(&q);
        options.control.max_iter = 3;
        clv_result *given, *ruled;
        assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &points, .object_alpha = &factors}, &options, &given),
                         CLV_OK);
        options.object_alpha = "distance";
        assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &points}, &options, &ruled), CLV_OK);
        double alpha = clv_result_real(ruled, "alpha", NAN), least = clv_result_real(ruled, "alpha_least", NAN);
        assert_true(fabs(given->objective.value - ruled->objective.value) <= 1e-9 * given->objective.value);
        assert_true(fabs(least - alpha * extreme_factor(&q, -1)) <= 1e-9 * alpha);
        assert_true(fabs(clv_result_real(ruled, "alpha_most", NAN) - alpha * extreme_factor(&q, 1)) <= 1e-9 * alpha);
        assert_true(least >= alpha / 2);
        clv_result_free(given);
        clv_result_free(ruled);
    }
    clv_context_free(ctx);
}

/* At the end every object is at its nearest center, every center the mean of its objects; with the polish no single
 * object improves by moving. */
static void limits_are_fixed_points(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(9, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 30; trial++) {
        problem q = {0};
        iterate z;
        clv_result *result;
        random_problem(&rng, &q, &z);
        clv_matrix points = {.rows = N, .cols = P, .values = q.a};
        clv_kpalm_options options = options_for(&q);
        options.polish = trial % 2;
        options.start = trial % 3 ? "random" : "kmeans++";
        options.schedule = trial % 5 == 0   ? CLV_KPALM_CONSTANT
                           : trial % 5 == 1 ? CLV_KPALM_HARMONIC
                                            : CLV_KPALM_GEOMETRIC;
        options.control.seed = trial;
        assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &points}, &options, &result), CLV_OK);
        assert_int_equal(result->stop, CLV_CONVERGED);
        assert_null(clv_result_field(result, "membership"));
        assert_true(result->certificate.holds);
        memcpy(z.x, clv_result_matrix(result, "centers")->values, sizeof z.x);
        for (int i = 0; i < N; i++) {
            int own = result->labels[i];
            double size = (double)result->sizes[own];
            for (int l = 0; l < K; l++) {
                double there = (double)result->sizes[l];
                assert_true(distance(&q, &z, i, own) <= distance(&q, &z, i, l) * (1 + 1e-12));
                if (options.polish && l != own && size > 1) {
                    double gain =
                        size / (size - 1) * distance(&q, &z, i, own) - there / (there + 1) * distance(&q, &z, i, l);
                    assert_true(gain <= 1e-9);
                }
            }
        }
        for (int l = 0; l < K; l++) {
            for (int f = 0; f < P && result->sizes[l] > 0; f++) {
                double mean = 0;
                for (int i = 0; i < N; i++) {
                    mean += result->labels[i] == l ? q.a[i][f] / (double)result->sizes[l] : 0;
                }
                assert_true(fabs(mean - z.x[l][f]) <= 1e-10 * fabs(mean));
            }
        }
        clv_result_free(result);
    }
    clv_context_free(ctx);
}

/* The least over all partitions of 9 points into 3. */
static void restarts_find_the_optimum(void **unused) {
    (void)unused;
    enum { POINTS = 9 };
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(12, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 5; trial++) {
        double a[POINTS][2], best = HUGE_VAL;
        for (int i = 0; i < POINTS; i++) {
            a[i][0] = clv_rng_normal(&rng);
            a[i][1] = clv_rng_normal(&rng);
        }
        for (int code = 0; code < 19683; code++) {
            double sum[3][3] = {{0}}, value = 0;
            for (int i = 0, rest = code; i < POINTS; i++, rest /= 3) {
                sum[rest % 3][0] += a[i][0];
                sum[rest % 3][1] += a[i][1];
                sum[rest % 3][2] += 1;
                value += a[i][0] * a[i][0] + a[i][1] * a[i][1];
            }
            for (int l = 0; l < 3; l++) {
                value -= sum[l][2] > 0 ? (sum[l][0] * sum[l][0] + sum[l][1] * sum[l][1]) / sum[l][2] : 0;
            }
            best = fmin(best, value);
        }
        clv_matrix points = {.rows = POINTS, .cols = 2, .values = a};
        for (int solver = CLV_KPALM_KPALM; solver <= CLV_KPALM_LLOYD; solver++) {
            clv_kpalm_options options;
            clv_result *result;
            clv_kpalm_defaults(&options);
            options.k = 3;
            options.solver = solver;
            options.start = "random";
            options.control.restarts = 60;
            assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &points}, &options, &result), CLV_OK);
            assert_true(fabs(result->objective.value - best) <= 1e-9);
            clv_result_free(result);
        }
    }
    clv_context_free(ctx);
}

/* The gradient part of the certificate by finite differences: labels at the nearest centers, centers anywhere. */
static void the_certificate_is_the_gradient(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(15, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 10; trial++) {
        problem q = {.epsilon = trial % 2 ? 0.5 : 0};
        iterate z;
        double norm = 0;
        random_problem(&rng, &q, &z);
        for (int l = 0; l < K; l++) {
            for (int f = 0; f < P; f++) {
                z.x[l][f] += clv_rng_normal(&rng);
            }
        }
        memset(z.w, 0, sizeof z.w);
        for (int i = 0; i < N; i++) {
            int own = 0;
            for (int l = 1; l < K; l++) {
                own = distance(&q, &z, i, l) < distance(&q, &z, i, own) ? l : own;
            }
            z.w[i][own] = 1;
        }
        for (int l = 0; l < K; l++) {
            for (int f = 0; f < P; f++) {
                iterate up = z, down = z;
                up.x[l][f] += 1e-5;
                down.x[l][f] -= 1e-5;
                double slope = (sigma(&q, &up) - sigma(&q, &down)) / 2e-5;
                norm += length_of(&q) * slope * length_of(&q) * slope;
            }
        }
        assert_true(fabs(certificate_of(ctx, &q, &z) - sqrt(norm)) <= 1e-5 * sqrt(norm));
    }
    clv_context_free(ctx);
}

/* The least over c of sum over the support (d - c)^2 + sum over the rest max(c - d, 0)^2, by trying every c that is the
 * mean of the support and of some of the nearest others. */
static double cone_by_trial(const double *d, const double *w) {
    double best = HUGE_VAL;
    for (int subset = 0; subset < 1 << K; subset++) {
        double sum = 0, count = 0, value = 0;
        for (int l = 0; l < K; l++) {
            bool in = w[l] > 0 || subset >> l & 1;
            sum += in ? d[l] : 0;
            count += in;
        }
        for (int l = 0; l < K; l++) {
            double step = d[l] - sum / count;
            value += w[l] > 0 ? step * step : step < 0 ? step * step : 0;
        }
        best = fmin(best, value);
    }
    return best;
}

/* The part of the objects in the certificate: centers at the weighted means, where their own part is 0, and weights
 * that are no projections of anything. */
static void the_certificate_knows_the_cones(void **unused) {
    (void)unused;
    clv_context *ctx;
    clv_rng rng = clv_rng_stream(18, 0);
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 40; trial++) {
        problem q = {0};
        iterate z;
        double norm = 0;
        random_problem(&rng, &q, &z);
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int l = 0; l < K; l++) {
                z.w[i][l] = clv_rng_below(&rng, 3) == 0 ? clv_rng_uniform(&rng) : 0;
                sum += z.w[i][l];
            }
            for (int l = 0; l < K; l++) {
                z.w[i][l] = sum > 0 ? z.w[i][l] / sum : l == i % K;
            }
        }
        for (int l = 0; l < K; l++) {
            for (int f = 0; f < P; f++) {
                double sum = 0, mass = 0;
                for (int i = 0; i < N; i++) {
                    sum += z.w[i][l] * q.a[i][f];
                    mass += z.w[i][l];
                }
                z.x[l][f] = mass > 0 ? sum / mass : z.x[l][f];
            }
        }
        for (int i = 0; i < N; i++) {
            double d[K];
            for (int l = 0; l < K; l++) {
                d[l] = distance(&q, &z, i, l);
            }
            norm += cone_by_trial(d, z.w[i]);
        }
        assert_true(fabs(certificate_of(ctx, &q, &z) - sqrt(norm)) <= 1e-9 * sqrt(norm));
    }
    clv_context_free(ctx);
}

/* A vertex e_l stays, P(e_l - d / alpha) = e_l, if and only if d_l is least, whatever alpha: how far the projection by
 * bisection is from e_l says which. */
static void vertices_stay_while_nearest(void **unused) {
    (void)unused;
    clv_rng rng = clv_rng_stream(16, 0);
    for (int trial = 0; trial < 1000; trial++) {
        double d[K], v[K], alpha = exp(10 * clv_rng_uniform(&rng) - 5);
        int own = (int)clv_rng_below(&rng, K), nearest = 0;
        for (int l = 0; l < K; l++) {
            d[l] = clv_rng_uniform(&rng);
            nearest = d[l] < d[nearest] ? l : nearest;
        }
        for (int l = 0; l < K; l++) {
            v[l] = (l == own) - d[l] / alpha;
        }
        project(v);
        double lost = 1 - v[own];
        assert_true(own == nearest ? lost <= 1e-9 : lost >= fmin((d[own] - d[nearest]) / alpha / K, 1) - 1e-9);
    }
}

/* The same problem in other units: the certificate is in the unit of sigma, and holds or not alike. */
static void units_do_not_matter(void **unused) {
    (void)unused;
    clv_context *ctx;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    for (int trial = 0; trial < 12; trial++) {
        clv_rng rng = clv_rng_stream(17, (uint64_t)trial);
        problem q = {.epsilon = trial % 2 ? 0.5 : 0};
        iterate z;
        clv_certificate first = {0};
        random_problem(&rng, &q, &z);
        for (int unit = 0; unit < 3; unit++) {
            const double scales[] = {1, 0x1p-40, 0x1p40};
            double scale = scales[unit], squared = q.epsilon > 0 ? scale : scale * scale;
            problem scaled = {.epsilon = q.epsilon * scale};
            for (int e = 0; e < N * P; e++) {
                (&scaled.a[0][0])[e] = scale * (&q.a[0][0])[e];
            }
            clv_matrix points = {.rows = N, .cols = P, .values = scaled.a};
            clv_kpalm_options options = options_for(&scaled);
            options.control.max_iter = trial;
            clv_result *result;
            assert_int_equal(clv_kpalm(ctx, &(clv_input){.points = &points}, &options, &result), CLV_OK);
            first = unit == 0 ? result->certificate : first;
            assert_true(fabs(result->certificate.tolerance - first.tolerance * squared) <=
                        1e-9 * first.tolerance * squared);
            assert_true(fabs(result->certificate.value - first.value * squared) <=
                        1e-6 * first.tolerance * squared + 1e-9 * first.value * squared);
            assert_int_equal(result->certificate.holds, first.holds);
            clv_result_free(result);
        }
    }
    clv_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theory_holds),
        cmocka_unit_test(lemmas_of_the_smoothed_distance_hold),
        cmocka_unit_test(propositions_3_and_4_hold),
        cmocka_unit_test(alpha_by_distance_is_its_formula),
        cmocka_unit_test(vertices_stay_while_nearest),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(the_certificate_knows_the_cones),
        cmocka_unit_test(iterates_follow_the_formulas),
        cmocka_unit_test(the_printed_constant_is_too_large),
        cmocka_unit_test(limits_are_fixed_points),
        cmocka_unit_test(restarts_find_the_optimum),
        cmocka_unit_test(the_certificate_is_the_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
