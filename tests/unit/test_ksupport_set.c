/* The k-support norm against its definition, its dual and brute force; the five forms of the proximity operator against
 * each other and against the optimality condition; vertices against a sort. */
#include "sets/ksupport.h"

#include "failing.h"

#include <math.h>

enum { SMALL = 6, SUBSETS = 1 << SMALL };

static int bits(int set) {
    int count = 0;
    for (; set; set >>= 1) {
        count += set & 1;
    }
    return count;
}

static void draw(clv_rng *rng, double *v, int64_t p, int shape) {
    for (int64_t i = 0; i < p; i++) {
        double normal = clv_rng_normal(rng);
        double shapes[] = {normal,
                           exp(8 * normal),
                           (double)(clv_rng_below(rng, 5) - 2),
                           clv_rng_uniform(rng) < 0.8 ? 0 : normal,
                           1.5,
                           normal * 1e-160,
                           0};
        v[i] = shapes[shape];
    }
}
enum { SHAPES = 7 };

/* --- the norm --- */

/* The definition, min sum_g ||v_g|| over w = sum_g v_g, by reweighting: the square is the least sum_i w_i^2 / sum over
 * groups with i of eta_g, eta on the simplex over all groups of size k. */
static double norm_by_definition(const double *w, int p, int k) {
    double eta[SUBSETS], value = 0;
    int groups = 0, group[SUBSETS];
    for (int set = 1; set < 1 << p; set++) {
        if (bits(set) == k) {
            group[groups++] = set;
        }
    }
    for (int g = 0; g < groups; g++) {
        eta[g] = 1.0 / groups;
    }
    for (int round = 0; round < 20000; round++) {
        double cover[SMALL] = {0}, size[SUBSETS] = {0}, total = 0;
        for (int g = 0; g < groups; g++) {
            for (int i = 0; i < p; i++) {
                cover[i] += (group[g] >> i & 1) ? eta[g] : 0;
            }
        }
        for (int g = 0; g < groups; g++) {
            for (int i = 0; i < p; i++) {
                double part = (group[g] >> i & 1) && cover[i] > 0 ? w[i] * eta[g] / cover[i] : 0;
                size[g] += part * part;
            }
            size[g] = sqrt(size[g]);
            total += size[g];
        }
        for (int g = 0; g < groups; g++) {
            eta[g] = size[g] / total;
        }
        value = total;
    }
    return value;
}

static double dual_by_definition(const double *g, int p, int k) {
    double largest = 0;
    for (int set = 0; set < 1 << p; set++) {
        double sum = 0;
        for (int i = 0; i < p; i++) {
            sum += (set >> i & 1) ? g[i] * g[i] : 0;
        }
        largest = bits(set) <= k ? fmax(largest, sum) : largest;
    }
    return sqrt(largest);
}

static void test_norm_is_its_definition(void **state) {
    clv_context *ctx = *state;
    clv_rng rng = clv_rng_stream(1, 0);
    for (int trial = 0; trial < 60; trial++) {
        int p = 2 + trial % (SMALL - 1), k = 1 + (int)clv_rng_below(&rng, p);
        double w[SMALL], norm, dual;
        draw(&rng, w, p, trial % 3 == 2 ? 3 : 0);
        w[0] += 0.5;
        assert_int_equal(clv_ksupport_norm(ctx, w, p, k, 1, &norm), CLV_OK);
        assert_int_equal(clv_ksupport_dual_norm(ctx, w, p, k, 1, &dual), CLV_OK);
        assert_true(fabs(norm - norm_by_definition(w, p, k)) <= 1e-4 * norm);
        assert_true(fabs(dual - dual_by_definition(w, p, k)) <= 1e-14 * dual);
    }
}

/* The closed form of Argyriou et al. with its index r, on sorted entries. */
static int descending(const void *left, const void *right) {
    double a = fabs(*(const double *)left), b = fabs(*(const double *)right);
    return (a < b) - (a > b);
}

static double square_in_closed_form(const double *w, int64_t p, int64_t k) {
    double *z = malloc((size_t)p * sizeof *z), square = 0;
    memcpy(z, w, (size_t)p * sizeof *z);
    qsort(z, (size_t)p, sizeof *z, descending);
    for (int64_t r = 0; r < k; r++) {
        double tail = 0, first = k - r - 1 > 0 ? fabs(z[k - r - 2]) : (double)INFINITY;
        for (int64_t i = p - 1; i >= k - r - 1; i--) {
            tail += fabs(z[i]);
        }
        if (first > tail / (double)(r + 1) && tail / (double)(r + 1) >= fabs(z[k - r - 1]) * (1 - 1e-12)) {
            square = tail * tail / (double)(r + 1);
            for (int64_t i = 0; i < k - r - 1; i++) {
                square += z[i] * z[i];
            }
            break;
        }
    }
    free(z);
    return square;
}

static void test_norm_in_closed_form(void **state) {
    clv_context *ctx = *state;
    clv_rng rng = clv_rng_stream(2, 0);
    double w[500];
    for (int trial = 0; trial < 300; trial++) {
        int64_t p = 1 + clv_rng_below(&rng, 500), k = 1 + clv_rng_below(&rng, p);
        double norm;
        draw(&rng, w, p, trial % 4);
        assert_int_equal(clv_ksupport_norm(ctx, w, p, k, 2, &norm), CLV_OK);
        double square = square_in_closed_form(w, p, k);
        assert_true(fabs(norm * norm - square) <= 1e-12 * square);
    }
}

/* --- Lemma 1: w is a convex combination of k-sparse vectors, all of 2-norm ||w||_k^sp --- */

/* theta is the mean of indicators of k-subsets: mark off the running sums of theta at u, u + 1, ...; the subset changes
 * only where u passes the fraction of a running sum. */
static void test_lemma_1(void **state) {
    clv_context *ctx = *state;
    clv_rng rng = clv_rng_stream(3, 0);
    enum { P = 40 };
    for (int trial = 0; trial < 100; trial++) {
        int64_t k = 1 + clv_rng_below(&rng, P - 1);
        double w[P], theta[P], run[P + 1] = {0}, cut[P + 2], sum[P] = {0}, norm;
        draw(&rng, w, P, 0);
        clv_ksupport_set set;
        assert_int_equal(clv_ksupport_set_new(ctx, P, k, 1, false, &set), CLV_OK);
        clv_ksupport_root root = clv_ksupport_find_root(&set, w, P, 0);
        norm = sqrt(clv_ksupport_square(&set, w, P));
        for (int i = 0; i < P; i++) {
            theta[i] = fmin(root.a * fabs(w[i]), 1);
            run[i + 1] = run[i] + theta[i];
            cut[i + 1] = run[i + 1] - floor(run[i + 1]);
        }
        assert_true(fabs(run[P] - (double)k) < 1e-10);
        cut[0] = 0;
        cut[P + 1] = 1;
        qsort(cut, P + 2, sizeof *cut, descending);
        for (int c = 0; c <= P; c++) {
            double alpha = cut[c] - cut[c + 1], u = 0.5 * (cut[c] + cut[c + 1]), square = 0;
            int64_t members = 0;
            if (alpha < 1e-9) {
                continue;
            }
            for (int i = 0; i < P; i++) {
                if (floor(run[i + 1] - u) > floor(run[i] - u)) {
                    double entry = w[i] / theta[i];
                    sum[i] += alpha * entry;
                    square += entry * entry;
                    members++;
                }
            }
            assert_true(members <= k);
            assert_true(fabs(sqrt(square) - norm) <= 1e-8 * norm);
        }
        for (int i = 0; i < P; i++) {
            assert_true(fabs(sum[i] - w[i]) <= 1e-7);
        }
        clv_ksupport_set_free(&set);
    }
}

/* --- the proximity operator --- */

/* w is the minimizer if and only if u = (v - w) / (2 lambda) has <u, w> = ||u||_(k) ||w|| and ||u||_(k) = ||w||. */
static void check_optimality(clv_context *ctx, const double *v, const double *w, int64_t p, int64_t k, double lambda,
                             double *u) {
    double norm, dual, inner = 0, scale = 0;
    for (int64_t i = 0; i < p; i++) {
        u[i] = (v[i] - w[i]) / (2 * lambda);
        inner += u[i] * w[i];
        scale += v[i] * v[i];
    }
    assert_int_equal(clv_ksupport_norm(ctx, w, p, k, 1, &norm), CLV_OK);
    assert_int_equal(clv_ksupport_dual_norm(ctx, u, p, k, 1, &dual), CLV_OK);
    double slack = 1e-11 * sqrt(scale) * fmax(1, 1 / lambda);
    assert_true(fabs(dual - norm) <= slack);
    assert_true(fabs(inner - norm * norm) <= slack * fmax(norm, 1e-30) + 1e-13 * norm * norm);
}

static void test_forms_agree(void **state) {
    clv_context *ctx = *state;
    clv_rng rng = clv_rng_stream(4, 0);
    enum { P = 400 };
    double v[P], w[P], other[P], u[P];
    for (int trial = 0; trial < 400; trial++) {
        int64_t p = 1 + clv_rng_below(&rng, P), k = 1 + clv_rng_below(&rng, p + 3);
        double lambda = exp(3 * clv_rng_normal(&rng)), largest = 0;
        draw(&rng, v, p, trial % SHAPES);
        for (int64_t i = 0; i < p; i++) {
            largest = fmax(largest, fabs(v[i]));
        }
        assert_int_equal(clv_ksupport_prox(ctx, v, p, k, lambda, CLV_KSUPPORT_SELECT, 2, w), CLV_OK);
        for (int form = CLV_KSUPPORT_SEARCH; form <= CLV_KSUPPORT_BOX; form++) {
            assert_int_equal(clv_ksupport_prox(ctx, v, p, k, lambda, (clv_ksupport_form)form, 1, other), CLV_OK);
            for (int64_t i = 0; i < p; i++) {
                assert_true(fabs(w[i] - other[i]) <= 1e-10 * largest);
            }
        }
        if (trial % SHAPES != 5) { /* squares of 1e-160 are nothing */
            check_optimality(ctx, v, w, p, k, lambda, u);
        }
    }
}

static void test_large_prox(void **state) {
    clv_context *ctx = *state;
    clv_rng rng = clv_rng_stream(5, 0);
    enum { P = 100003 };
    double *v = malloc(P * sizeof *v), *one = malloc(P * sizeof *v), *two = malloc(P * sizeof *v);
    for (int shape = 0; shape < SHAPES; shape++) {
        draw(&rng, v, P, shape);
        assert_int_equal(clv_ksupport_prox(ctx, v, P, 2000, 0.05, CLV_KSUPPORT_SELECT, 1, one), CLV_OK);
        assert_int_equal(clv_ksupport_prox(ctx, v, P, 2000, 0.05, CLV_KSUPPORT_SELECT, 3, two), CLV_OK);
        assert_memory_equal(one, two, P * sizeof *v);
        assert_int_equal(clv_ksupport_prox(ctx, v, P, 2000, 0.05, CLV_KSUPPORT_ACTIVE, 1, two), CLV_OK);
        double largest = 0;
        for (int64_t i = 0; i < P; i++) {
            largest = fmax(largest, fabs(v[i]));
        }
        for (int64_t i = 0; i < P; i++) {
            assert_true(fabs(one[i] - two[i]) <= 1e-10 * largest);
        }
    }
    free(v);
    free(one);
    free(two);
}

/* --- vertices --- */

static const double *keys;
static int by_magnitude(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    double x = fabs(keys[a]), y = fabs(keys[b]);
    return x > y ? -1 : x < y ? 1 : (a > b) - (a < b);
}

static void test_vertex_is_the_top(void **state) {
    clv_context *ctx = *state;
    clv_rng rng = clv_rng_stream(6, 0);
    enum { P = 30000 };
    double *g = malloc(P * sizeof *g);
    int64_t *order = malloc(P * sizeof *order), *index = malloc(P * sizeof *index);
    for (int trial = 0; trial < 4 * SHAPES; trial++) {
        int64_t p = trial % 2 ? P : 1 + clv_rng_below(&rng, 300), k = 1 + clv_rng_below(&rng, p), above;
        clv_ksupport_set set;
        draw(&rng, g, p, trial % SHAPES);
        assert_int_equal(clv_ksupport_set_new(ctx, p, k, 1 + trial % 3, false, &set), CLV_OK);
        keys = g;
        for (int64_t i = 0; i < p; i++) {
            order[i] = i;
        }
        qsort(order, (size_t)p, sizeof *order, by_magnitude);
        int64_t nonzero = 0, count = clv_ksupport_vertex(&set, g, p, index);
        double square = 0, dual = clv_ksupport_dual_square(&set, g, p);
        while (nonzero < k && fabs(g[order[nonzero]]) > 0) {
            square += g[order[nonzero]] * g[order[nonzero]];
            nonzero++;
        }
        assert_int_equal(count, nonzero);
        assert_true(fabs(square - dual) <= 1e-12 * square);
        assert_true(clv_ksupport_rank(&set, g, p, &above) == fabs(g[order[k - 1]]));
        bool *marked = calloc((size_t)p, sizeof *marked);
        for (int64_t i = 0; i < count; i++) {
            marked[index[i]] = true;
            assert_true(i == 0 || index[i] > index[i - 1]);
        }
        for (int64_t i = 0; i < count; i++) {
            assert_true(marked[order[i]]);
        }
        free(marked);
        clv_ksupport_set_free(&set);
    }
    free(g);
    free(order);
    free(index);
}

/* --- the conjugate and the projection --- */

/* The supremum is reached at the proximity point of g / tau, and nowhere passed. */
static void test_conjugate(void **state) {
    clv_context *ctx = *state;
    clv_rng rng = clv_rng_stream(7, 0);
    enum { P = 60 };
    double g[P], w[P], v[P];
    for (int trial = 0; trial < 100; trial++) {
        int64_t k = 1 + clv_rng_below(&rng, P + 3);
        double lambda = exp(2 * clv_rng_normal(&rng)), tau = exp(4 * clv_rng_normal(&rng)), norm;
        clv_ksupport_set set;
        draw(&rng, g, P, trial % 4);
        assert_int_equal(clv_ksupport_set_new(ctx, P, k, 1, false, &set), CLV_OK);
        double found = clv_ksupport_conjugate(&set, g, P, lambda, tau), linear = 0, square = 0;
        for (int i = 0; i < P; i++) {
            v[i] = g[i] / tau;
        }
        assert_int_equal(clv_ksupport_prox(ctx, v, P, k, lambda / tau, CLV_KSUPPORT_SEARCH, 1, w), CLV_OK);
        assert_int_equal(clv_ksupport_norm(ctx, w, P, k, 1, &norm), CLV_OK);
        for (int i = 0; i < P; i++) {
            linear += g[i] * w[i];
            square += w[i] * w[i];
        }
        double reached = linear - tau / 2 * square - lambda * norm * norm;
        assert_true(fabs(found - reached) <= 1e-9 * fabs(linear) + 1e-300);
        double without = clv_ksupport_conjugate(&set, g, P, lambda, 0);
        assert_true(without >= found * (1 - 1e-12));
        double nearly = clv_ksupport_conjugate(&set, g, P, lambda, lambda * 1e-9);
        assert_true(fabs(nearly - without) <= 1e-6 * without);
        clv_ksupport_set_free(&set);
    }
}

/* However small the ridge, the conjugate lies between what the k largest entries alone give and its value without a
 * ridge: a bound that is too small would prove what is not so. */
static void test_conjugate_of_a_tiny_ridge(void **state) {
    clv_context *ctx = *state;
    clv_rng rng = clv_rng_stream(9, 0);
    enum { P = 40, K = 7 };
    double g[P];
    clv_ksupport_set set;
    assert_int_equal(clv_ksupport_set_new(ctx, P, K, 1, false, &set), CLV_OK);
    for (int power = 5; power <= 320; power += 5) {
        double tau = pow(10, -power), lambda = 0.3;
        for (int i = 0; i < P; i++) {
            g[i] = (power % 2 ? 1e-60 : 1) * clv_rng_normal(&rng);
        }
        double found = clv_ksupport_conjugate(&set, g, P, lambda, tau), most = clv_ksupport_dual_square(&set, g, P);
        assert_true(found >= most / (2 * tau + 4 * lambda) * (1 - 1e-12));
        assert_true(found <= most / (4 * lambda) * (1 + 1e-12));
    }
    clv_ksupport_set_free(&set);
}

/* The projection p of v has norm r and <v - p, p> = r ||v - p||_(k). */
static void test_projection(void **state) {
    clv_context *ctx = *state;
    clv_rng rng = clv_rng_stream(8, 0);
    enum { P = 50 };
    double v[P], w[P], rest[P], norm, dual;
    for (int trial = 0; trial < 100; trial++) {
        int64_t k = 1 + clv_rng_below(&rng, P);
        clv_ksupport_set set;
        draw(&rng, v, P, trial % 4);
        v[0] += 1;
        assert_int_equal(clv_ksupport_set_new(ctx, P, k, 1, false, &set), CLV_OK);
        double length = sqrt(clv_ksupport_square(&set, v, P)), radius = length * (0.01 + 1.2 * clv_rng_uniform(&rng));
        clv_ksupport_project(&set, v, P, radius, w);
        assert_int_equal(clv_ksupport_norm(ctx, w, P, k, 1, &norm), CLV_OK);
        assert_true(fabs(norm - fmin(radius, length)) <= 1e-10 * radius);
        double inner = 0;
        for (int i = 0; i < P; i++) {
            rest[i] = v[i] - w[i];
            inner += rest[i] * w[i];
        }
        assert_int_equal(clv_ksupport_dual_norm(ctx, rest, P, k, 1, &dual), CLV_OK);
        assert_true(fabs(inner - norm * dual) <= 1e-8 * length * length);
        clv_ksupport_set_free(&set);
    }
}

static void test_refusals(void **state) {
    clv_context *ctx = *state;
    double v[2] = {1, NAN}, out[2];
    assert_int_equal(clv_ksupport_norm(ctx, v, 2, 1, 1, out), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "entry 2"));
    assert_int_equal(clv_ksupport_norm(ctx, v, 1, 0, 1, out), CLV_EUSAGE);
    assert_int_equal(clv_ksupport_prox(ctx, v, 1, 1, 0, CLV_KSUPPORT_SELECT, 1, out), CLV_EUSAGE);
}

static int make(void **state) {
    return clv_context_new(NULL, (clv_context **)state);
}

static int finish(void **state) {
    size_t now, peak;
    clv_context_memory(*state, &now, &peak);
    clv_context_free(*state);
    return now == 0 ? 0 : -1;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make, finish)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_norm_is_its_definition),
        CASE(test_norm_in_closed_form),
        CASE(test_lemma_1),
        CASE(test_forms_agree),
        CASE(test_large_prox),
        CASE(test_vertex_is_the_top),
        CASE(test_conjugate),
        CASE(test_conjugate_of_a_tiny_ridge),
        CASE(test_projection),
        CASE(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
