/* dominant: what its answers are worth. The theory of the paper along the trace, the equivalence with infection and
 * immunization, every stationary point of small problems by brute force, planted clusters with known weights, the rule
 * of multi-start, sameness over threads, the shortest of limits. */
#include "dominant_points.h"

/* --- the theory --- */

/* The largest and the least similarity off the diagonal, with the shift. */
static void bounds_of(const given *g, double shift, double *most, double *least) {
    *most = -HUGE_VAL;
    *least = HUGE_VAL;
    for (int64_t e = 0; e < g->n * g->n; e++) {
        if (e / g->n != e % g->n) {
            *most = fmax(*most, g->dense[e] + shift);
            *least = fmin(*least, g->dense[e] + shift);
        }
    }
}

/* Theorem 2: pairwise steps are swaps and drops at most 3 n! times as often as good, by sum_l n! / (n - l)! for l up to
 * the support, so that (26) holds. Beyond 20 objects the factor says nothing that a double could show. */
static void check_pairwise_rate(const given *g, double most, double t, double good, double rise, double smallest) {
    double orders = 1;
    for (int64_t i = 2; i <= g->n; i++) {
        orders *= (double)i;
    }
    assert_true(t <= 3 * orders * (good + 1)); /* the last run of them may have no good step after it yet */
    if (good > 0 && t <= 3 * orders * good) {
        assert_true(smallest <= sqrt(6 * orders * most * rise / t) * (1 + 1e-9) + 1e-14);
    }
}

/* f never falls, and the least gap so far obeys (24), (25), (26) and (27). The gap of the proofs is twice ours, so that
 * the factor 2 before the root is gone. */
static void check_trace(const clv_result *result, const given *g, const clv_dominant_options *options) {
    double most, least, smallest = HUGE_VAL, first = result->trace[0].objective;
    bounds_of(g, options->shift, &most, &least);
    bool pairwise = options->solver == CLV_DOMINANT_PFW;
    double beta = pairwise ? 2 * most : 2 * most - least, support = result->trace[0].extra[0];
    for (int64_t t = 0; t < result->trace_count; t++) {
        const clv_trace_row *row = &result->trace[t];
        double good = (double)t - row->extra[1] - row->extra[2], rise = row->objective - first;
        assert_int_equal(row->iteration, t);
        assert_true(t == 0 || row->objective >= result->trace[t - 1].objective - 1e-14 * (1 + options->shift));
        smallest = fmin(smallest, row->certificate);
        if (options->solver == CLV_DOMINANT_FW) {
            assert_true(row->extra[1] == 0 && row->extra[2] == 0); /* (25): every step is good */
        }
        if (good > 0) {
            assert_true(smallest <= sqrt(beta * rise / good) * (1 + 1e-9) + 1e-14);
        }
        if (pairwise && t > 0) {
            check_pairwise_rate(g, most, (double)t, good, rise, smallest);
        }
        if (options->solver == CLV_DOMINANT_AFW && (double)t + 1 > support) {
            assert_true(row->extra[2] == 0);
            assert_true(2 * good >= (double)t + 1 - support);
            assert_true(smallest <= sqrt(2 * beta * rise / ((double)t + 1 - support)) * (1 + 1e-9) + 1e-14);
        }
    }
}

static void traces_obey_the_theorems(void **unused) {
    (void)unused;
    clv_context *ctx = open_context();
    int64_t rows = 0;
    for (int variant = 0; variant < 36; variant++) {
        given *g = new_given(30 + variant, (uint64_t)variant, variant % 2 ? 0.4 : 0, variant % 5 == 0 ? 0.8 : 0, 0);
        clv_affinity *base, *a = hold(ctx, g, (holding)(variant / 9), 1, &base);
        clv_dominant_options options = plain_options(variant % 3, variant % 4 == 3 ? 2.5 : variant % 4 == 2 ? 0.3 : 0);
        options.k = 1;
        options.start = variant / 3 % 2 ? "center" : "vertex";
        options.face_solve = 0;
        options.control.tol = 1e-10;
        options.control.max_iter = 2000;
        options.control.keep_trace = 1;
        clv_result *result = solve(ctx, a, &options);
        check_trace(result, g, &options);
        rows += result->trace_count;
        clv_result_free(result);
        clv_affinity_free(a);
        clv_affinity_free(base);
        free_given(g);
    }
    assert_true(rows > 5000);
    clv_context_free(ctx);
}

/* Theorem 2 where its factor is small: 3 to 6 objects, from all starts. Swaps do occur there. */
static void pairwise_steps_of_few_objects_obey_theorem_2(void **unused) {
    (void)unused;
    clv_context *ctx = open_context();
    double swaps = 0, bad = 0;
    for (int variant = 0; variant < 400; variant++) {
        given *g = new_given(3 + variant % 4, (uint64_t)variant + 77, 0.2, 0, 0);
        clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
        clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, variant % 3 == 2 ? 0.4 : 0);
        options.k = 1;
        options.start = variant % 2 ? "center" : "random";
        options.face_solve = 0;
        options.control.seed = variant;
        options.control.tol = 1e-12;
        options.control.max_iter = 3000;
        options.control.keep_trace = 1;
        clv_result *result = solve(ctx, a, &options);
        check_trace(result, g, &options);
        swaps += result->trace[result->trace_count - 1].extra[2];
        bad += result->trace[result->trace_count - 1].extra[1];
        clv_result_free(result);
        clv_affinity_free(a);
        free_given(g);
    }
    assert_true(swaps > 20 && bad > 20);
    clv_context_free(ctx);
}

/* The weights after so many steps. */
static void weights_after(clv_context *ctx, const clv_affinity *a, clv_dominant_options options, int64_t steps,
                          double *x) {
    options.change = 0;
    options.control.max_iter = steps;
    clv_result *result = solve(ctx, a, &options);
    column_of(result, 0, x);
    clv_result_free(result);
}

static double distance(const double *x, const double *y, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    }
    return sqrt(sum);
}

/* The paper's other rule: the run ends with the first step that moves x by no more than asked for. */
static void a_short_step_ends_a_search(void **unused) {
    (void)unused;
    enum { N = 50 };
    static const double changes[] = {1e-2, 1e-3, 2e-4};
    clv_context *ctx = open_context();
    given *g = new_given(N, 5, 0.2, 0, 0);
    clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
    double last[N], before[N], earlier[N];
    int longer = 0;
    for (int variant = 0; variant < 4 * 3; variant++) {
        clv_dominant_options options = plain_options(variant % 4, 2);
        options.k = 1;
        options.start = "center";
        options.face_solve = 0;
        options.control.tol = 0;
        options.control.max_iter = 20000;
        options.change = changes[variant / 4];
        clv_result *result = solve(ctx, a, &options);
        int64_t steps = result->iterations;
        assert_int_equal(result->stop, CLV_STALLED);
        column_of(result, 0, last);
        weights_after(ctx, a, options, steps - 1, before);
        assert_true(distance(last, before, N) <= options.change * (1 + 1e-6));
        if (steps > 1) { /* equal weights may already be that near, for rd */
            weights_after(ctx, a, options, steps - 2, earlier);
            assert_true(distance(before, earlier, N) > options.change * (1 - 1e-6));
            longer++;
        }
        clv_result_free(result);
    }
    assert_true(longer >= 10);
    clv_affinity_free(a);
    free_given(g);
    clv_context_free(ctx);
}

/* One step of infection and immunization with the pure strategies of Rota Bulo, Pelillo and Bomze (2011): the infective
 * strategy is the pure one that does best against x, or, if it is further from x, the co-strategy of the one in the
 * support that does worst; its share is the largest up to which it is infective, at most 1. `b` is the payoff. */
static void infect(const double *b, int64_t n, double *x, double *y) {
    int64_t best = 0, worst = -1;
    double *r = y + n, *bd = y + 2 * n;
    double f = fresh_r(b, n, 0, x, r), slope = 0, bend = 0;
    for (int64_t i = 0; i < n; i++) {
        best = r[i] > r[best] ? i : best;
        worst = x[i] > 0 && (worst < 0 || r[i] < r[worst]) ? i : worst;
    }
    bool infective = r[best] - f >= f - r[worst];
    for (int64_t i = 0; i < n; i++) {
        double pure = i == (infective ? best : worst) ? 1 : 0;
        y[i] = infective ? pure : x[i] + x[worst] / (x[worst] - 1) * (pure - x[i]);
        y[i] -= x[i]; /* the direction */
    }
    fresh_r(b, n, 0, y, bd);
    for (int64_t i = 0; i < n; i++) {
        slope += y[i] * r[i];
        bend += y[i] * bd[i];
    }
    double share = bend < 0 ? fmin(slope / -bend, 1) : 1;
    for (int64_t i = 0; i < n; i++) {
        x[i] += share * y[i];
    }
    if (!infective && share >= 1) {
        x[worst] = 0;
    }
}

/* Proposition 1. */
static void away_steps_are_infection_and_immunization(void **unused) {
    (void)unused;
    enum { N = 60 };
    clv_context *ctx = open_context();
    double x[N], theirs[N], work[3 * N];
    int64_t steps = 0, drops = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        double shift = seed % 4 == 3 ? 1.25 : 0;
        given *g = new_given(N, seed + 100, seed % 2 ? 0.5 : 0, 0, 0), *payoff = new_given(N, 0, 1, 0, 0);
        clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
        clv_dominant_options options = plain_options(CLV_DOMINANT_AFW, shift);
        uint8_t gone[N] = {0};
        clv_dominant_problem problem = {.ctx = ctx,
                                        .affinity = a,
                                        .options = &options,
                                        .n = N,
                                        .active_count = N,
                                        .active = g->all,
                                        .gone = gone,
                                        .largest = HUGE_VAL};
        clv_ascent ascent;
        bool stuck = false;
        for (int64_t e = 0; e < N * N; e++) {
            payoff->dense[e] = e / N == e % N ? 0 : g->dense[e] + shift;
        }
        assert_int_equal(clv_ascent_new(&problem, 1, &ascent), CLV_OK);
        clv_ascent_begin(&ascent);
        memset(theirs, 0, sizeof theirs);
        for (int64_t i = 0; i < N; i++) {
            theirs[i] = seed % 3 == 0 ? 1.0 / N : i == 5;
        }
        assert_int_equal(clv_ascent_set(&ascent, theirs), CLV_OK);
        for (int t = 0; t < 400 && !stuck && clv_ascent_gap(&ascent) > 1e-8; t++) {
            infect(payoff->dense, N, theirs, work);
            assert_int_equal(clv_ascent_step(&ascent, &stuck), CLV_OK);
            clv_ascent_get(&ascent, x);
            for (int64_t i = 0; i < N; i++) {
                assert_true(fabs(x[i] - theirs[i]) <= 1e-10);
            }
            steps++;
        }
        drops += ascent.drops;
        clv_ascent_free(&ascent);
        clv_affinity_free(a);
        free_given(payoff);
        free_given(g);
    }
    assert_true(steps > 1000 && drops > 100);
    clv_context_free(ctx);
}

/* --- small problems --- */

enum { MOST = 7 };

/* Solve a small system in place by elimination with pivots; false when it is singular. */
static bool eliminate(double m[MOST][MOST + 1], int64_t size) {
    for (int64_t c = 0; c < size; c++) {
        int64_t pivot = c;
        for (int64_t r = c; r < size; r++) {
            pivot = fabs(m[r][c]) > fabs(m[pivot][c]) ? r : pivot;
        }
        if (fabs(m[pivot][c]) < 1e-12) {
            return false;
        }
        for (int64_t e = 0; e <= size; e++) {
            double held = m[c][e];
            m[c][e] = m[pivot][e];
            m[pivot][e] = held;
        }
        for (int64_t r = 0; r < size; r++) {
            double factor = r == c ? 0 : m[r][c] / m[c][c];
            for (int64_t e = c; e <= size; e++) {
                m[r][e] -= factor * m[c][e];
            }
        }
    }
    for (int64_t r = 0; r < size; r++) {
        m[r][size] /= m[r][r];
    }
    return true;
}

/* The weights on the objects in the bits of `support` with B x constant there; false: none, or not all positive. */
static bool weights_on(const double *b, int64_t n, unsigned support, double *x) {
    double m[MOST][MOST + 1], sum = 0;
    int64_t member[MOST], size = 0;
    for (int64_t i = 0; i < n; i++) {
        x[i] = 0;
        if (support >> i & 1) {
            member[size++] = i;
        }
    }
    for (int64_t r = 0; r < size; r++) {
        for (int64_t c = 0; c < size; c++) {
            m[r][c] = b[member[r] * n + member[c]];
        }
        m[r][size] = 1;
    }
    if (!eliminate(m, size)) {
        return false;
    }
    for (int64_t r = 0; r < size; r++) {
        sum += m[r][size];
    }
    for (int64_t r = 0; r < size; r++) {
        x[member[r]] = m[r][size] / sum;
        if (!(x[member[r]] > 1e-9)) {
            return false;
        }
    }
    return true;
}

/* All x that satisfy the first-order conditions on the simplex for x'Cx, C = A + shift (ee' - I). How many. */
static int64_t stationary_points(const given *g, double shift, double points[][MOST], double *values) {
    double c[MOST * MOST] = {0}, r[MOST];
    int64_t n = g->n, count = 0;
    for (int64_t e = 0; e < n * n; e++) {
        c[e] = e / n == e % n ? 0 : g->dense[e] + shift;
    }
    for (unsigned support = 1; support < 1U << n; support++) {
        double *x = points[count];
        bool single = (support & (support - 1)) == 0;
        if (single || !weights_on(c, n, support, x)) {
            continue; /* a single object has r = f = 0 and is stationary only if it is similar to none */
        }
        double f = fresh_r(c, n, 0, x, r);
        bool stationary = true;
        for (int64_t i = 0; i < n; i++) {
            stationary = stationary && r[i] <= f + 1e-9;
        }
        if (stationary) {
            values[count++] = f;
        }
    }
    return count;
}

/* fw never takes an object out again, and is slow to get rid of its weight. */
static void check_is_stationary(const clv_result *result, int64_t n, double points[][MOST], const double *values,
                                int64_t count, bool slow) {
    double x[MOST], nearby = slow ? 0.01 : 1e-4, close = slow ? 1e-3 : 1e-10;
    bool found = false;
    column_of(result, 0, x);
    for (int64_t p = 0; p < count; p++) {
        double far = 0;
        for (int64_t i = 0; i < n; i++) {
            far = fmax(far, fabs(x[i] - points[p][i]));
        }
        found = found || (far <= nearby && fabs(values[p] - result->objective.value) <= close);
    }
    assert_true(found);
}

/* From wherever it starts, the answer is one of the stationary points, and the best of all starts nearly always the
 * best of them. */
static void small_answers_are_stationary_points(void **unused) {
    (void)unused;
    static double points[1 << MOST][MOST], values[1 << MOST];
    clv_context *ctx = open_context();
    int64_t cases = 0, reached = 0;
    for (int trial = 0; trial < 60; trial++) {
        int64_t n = 3 + trial % 5;
        double shift = trial % 3 == 2 ? 0.4 : 0;
        given *g = new_given(n, (uint64_t)trial + 500, 0, 0.02, 0);
        clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
        int64_t count = stationary_points(g, shift, points, values);
        double best = 0, found = 0;
        for (int64_t p = 0; p < count; p++) {
            best = fmax(best, values[p]);
        }
        for (int solver = CLV_DOMINANT_FW; solver <= CLV_DOMINANT_RD; solver++) {
            for (int64_t i = 0; i < (solver == CLV_DOMINANT_RD ? 1 : n); i++) {
                clv_dominant_options options = plain_options(solver, shift);
                options.k = 1;
                options.start_object = solver == CLV_DOMINANT_RD ? -1 : i;
                options.control.tol = 1e-11;
                options.control.max_iter = solver == CLV_DOMINANT_FW ? 5000 : 1000000;
                clv_result *result = solve(ctx, a, &options);
                check_is_stationary(result, n, points, values, count, solver == CLV_DOMINANT_FW);
                found = fmax(found, result->objective.value);
                clv_result_free(result);
            }
        }
        cases++;
        reached += found >= best - 1e-9;
        clv_affinity_free(a);
        free_given(g);
    }
    assert_true(10 * reached >= 9 * cases);
    clv_context_free(ctx);
}

/* --- planted clusters --- */

/* Blocks of the sizes given, one after the other; the block of an object, or -1 behind them. */
static int block_of(const int64_t *sizes, int count, int64_t i) {
    for (int b = 0; b < count; b++) {
        if (i < sizes[b]) {
            return b;
        }
        i -= sizes[b];
    }
    return -1;
}

static given *planted(int64_t n, const int64_t *sizes, int count, double within, double between) {
    given *g = new_given(n, 0, 1, 0, 0);
    for (int64_t e = 0; e < n * n; e++) {
        int64_t i = e / n, j = e % n;
        int b = block_of(sizes, count, i), c = block_of(sizes, count, j);
        g->dense[e] = i == j || b < 0 || c < 0 ? 0 : b == c ? within : between;
    }
    copy_given(g);
    return g;
}

/* Cliques: x = 1/m and f = (m - 1)/m, the largest first; who is similar to nobody is left out. */
static void cliques_come_off_in_order(void **unused) {
    (void)unused;
    const int64_t sizes[] = {4, 9, 6, 2};
    const int order[] = {1, 2, 0, 3};
    clv_context *ctx = open_context();
    given *g = planted(25, sizes, 4, 1, 0.05);
    clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
    for (int solver = CLV_DOMINANT_FW; solver <= CLV_DOMINANT_AFW; solver++) {
        clv_dominant_options options = plain_options(solver, 0);
        options.control.tol = 1e-12;
        clv_result *result = solve(ctx, a, &options);
        assert_int_equal(result->k, 4);
        assert_int_equal(result->left_out, 4);
        for (int64_t i = 0; i < 25; i++) {
            int b = block_of(sizes, 4, i);
            assert_true(b < 0 ? result->labels[i] == -1 : order[result->labels[i]] == b);
        }
        for (int c = 0; c < 4; c++) {
            double x[25], m = (double)sizes[order[c]];
            column_of(result, c, x);
            assert_int_equal(count_of(result, "clusters.size", c), sizes[order[c]]);
            assert_true(fabs(number_of(result, "clusters.cohesiveness", c) - (m - 1) / m) <= 1e-12);
            for (int64_t i = 0; i < 25; i++) {
                assert_true(fabs(x[i] - (block_of(sizes, 4, i) == order[c] ? 1 / m : 0)) <= 1e-9);
            }
        }
        clv_result_free(result);
    }
    clv_affinity_free(a);
    free_given(g);
    clv_context_free(ctx);
}

/* Two blocks with similarities that differ inside: the weights are those of the linear system on each. */
static void weights_solve_the_system_of_their_block(void **unused) {
    (void)unused;
    enum { M = 6, N = 2 * M };
    clv_context *ctx = open_context();
    for (uint64_t seed = 0; seed < 10; seed++) {
        given *g = new_given(N, seed + 40, 0, 0.9, 0);
        double block[2][M * M], expected[2][M];
        for (int64_t e = 0; e < N * N; e++) {
            int64_t i = e / N, j = e % N;
            g->dense[e] *= i / M == j / M ? 1 + (double)(i < M) : 0.1; /* the first block is the stronger one */
            if (i / M == j / M) {
                block[i / M][i % M * M + j % M] = g->dense[e];
            }
        }
        clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
        clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, 0);
        options.k = 2;
        options.control.tol = 1e-13;
        clv_result *result = solve(ctx, a, &options);
        for (int64_t c = 0; c < 2; c++) {
            double x[N];
            assert_true(weights_on(block[c], M, (1U << M) - 1, expected[c]));
            column_of(result, c, x);
            for (int64_t i = 0; i < N; i++) {
                assert_true(fabs(x[i] - (i / M == c ? expected[c][i % M] : 0)) <= 1e-9);
            }
        }
        clv_result_free(result);
        clv_affinity_free(a);
        free_given(g);
    }
    clv_context_free(ctx);
}

/* A block of m objects with similarity w and nothing around it holds while shift < w (m - 1). */
static void a_block_holds_up_to_its_shift(void **unused) {
    (void)unused;
    const int64_t sizes[] = {8, 8, 8};
    const double w = 0.625, limit = w * 7;
    clv_context *ctx = open_context();
    given *g = planted(24, sizes, 3, w, 0);
    for (int how = 0; how < HOLDINGS; how++) {
        clv_affinity *base, *a = hold(ctx, g, (holding)how, 1, &base);
        for (int variant = 0; variant < 6; variant++) {
            bool above = variant % 2;
            clv_dominant_options options = plain_options(variant / 2, limit * (above ? 1.001 : 0.999));
            options.control.tol = 1e-10;
            options.control.max_iter = 1000000;
            clv_result *result = solve(ctx, a, &options);
            assert_int_equal(result->k, above ? 1 : 3);
            assert_int_equal(count_of(result, "clusters.size", 0), above ? 24 : 8);
            clv_result_free(result);
        }
        clv_affinity_free(a);
        clv_affinity_free(base);
    }
    free_given(g);
    clv_context_free(ctx);
}

static void nothing_similar_is_refused(void **unused) {
    (void)unused;
    clv_context *ctx = open_context();
    given *g = new_given(10, 0, 1, 0, 3);
    for (int how = 0; how < HOLDINGS; how++) {
        clv_affinity *base, *a = hold(ctx, g, (holding)how, how % 2, &base);
        for (int variant = 0; variant < 8; variant++) {
            clv_dominant_options options = plain_options(variant % 4, 0);
            clv_result *result;
            options.multistart = variant >= 4 ? 3 : 0;
            assert_int_equal(clv_dominant(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_EDATA);
            assert_null(result);
            assert_non_null(strstr(clv_message(ctx), "no two objects are similar"));
        }
        clv_affinity_free(a);
        clv_affinity_free(base);
    }
    free_given(g);
    clv_context_free(ctx);
}

/* --- points --- */

static void check_same(const clv_result *left, const clv_result *right) {
    const clv_matrix *a = clv_result_matrix(left, "membership"), *b = clv_result_matrix(right, "membership");
    assert_int_equal(left->k, right->k);
    assert_int_equal(clv_result_integer(left, "passes", 0), clv_result_integer(right, "passes", 0));
    assert_int_equal(left->iterations, right->iterations);
    assert_memory_equal(left->labels, right->labels, (size_t)left->n * sizeof *left->labels);
    assert_true(left->objective.value == right->objective.value);
    assert_true(left->certificate.value == right->certificate.value);
    assert_int_equal(a->start[a->rows], b->start[b->rows]);
    assert_memory_equal(a->index, b->index, (size_t)a->start[a->rows] * sizeof *a->index);
    assert_memory_equal(a->values, b->values, (size_t)a->start[a->rows] * sizeof(double));
    assert_int_equal(left->trace_count, right->trace_count);
    for (int64_t t = 0; t < left->trace_count; t++) {
        assert_true(left->trace[t].objective == right->trace[t].objective);
        assert_true(left->trace[t].certificate == right->trace[t].certificate);
    }
}

/* The results are the same bits on 1, 2 and 3 threads. */
static void threads_do_not_matter(void **unused) {
    (void)unused;
    const struct {
        clv_affinity_kind kind;
        clv_home home;
        int64_t n;
    } homes[] = {
        {CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE64, 250},  {CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE32, 250},
        {CLV_AFFINITY_DISTANCE, CLV_HOME_COMPUTED, 250}, {CLV_AFFINITY_GAUSSIAN, CLV_HOME_COMPUTED, 8300},
        {CLV_AFFINITY_KNN, CLV_HOME_AUTO, 250},          {CLV_AFFINITY_MINIMAX, CLV_HOME_COMPUTED, 250},
        {CLV_AFFINITY_COSINE, CLV_HOME_LOWRANK, 250},
    };
    clv_context *ctx = open_context();
    for (size_t h = 0; h < sizeof homes / sizeof homes[0]; h++) {
        clv_data *data = make_points(ctx, homes[h].n);
        clv_affinity_options how = how_to_build(homes[h].kind, homes[h].home);
        clv_affinity *a = NULL;
        assert_int_equal(clv_affinity_build(ctx, clv_data_matrix(data), &how, &a), CLV_OK);
        for (int way = 0; way < (homes[h].n > 1000 ? 2 : 6); way++) {
            clv_dominant_options options = plain_options(way == 4 ? CLV_DOMINANT_RD : CLV_DOMINANT_PFW, 1);
            clv_result *results[3];
            options.k = 3;
            options.assign = way % 2;
            options.absorb = way == 3 ? 0.4 : 0;
            options.multistart = way == 1 || way == 2 ? 5 : 0;
            options.sampling = way == 2 ? CLV_DOMINANT_DPP : CLV_DOMINANT_UNIFORM;
            options.start = way == 5 ? "random" : "auto";
            options.control.restarts = way == 5 ? 4 : 1;
            options.control.max_iter = 300;
            options.control.keep_trace = 1;
            for (int threads = 1; threads <= 3; threads++) {
                options.control.threads = threads;
                results[threads - 1] = solve(ctx, a, &options);
            }
            check_same(results[0], results[1]);
            check_same(results[0], results[2]);
            for (int t = 0; t < 3; t++) {
                clv_result_free(results[t]);
            }
        }
        clv_affinity_free(a);
        clv_data_free(data);
    }
    clv_context_free(ctx);
}

/* Clusters of a pass: in descending order of f, each shares at most the percentage asked for with those before it. */
static void multistart_keeps_its_rule(void **unused) {
    (void)unused;
    enum { N = 200 };
    clv_context *ctx = open_context();
    given *g = new_given(N, 31, 0.8, 0, 0);
    clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
    int64_t shared_pass = 0;
    for (int variant = 0; variant < 12; variant++) {
        clv_dominant_options options = plain_options(CLV_DOMINANT_PFW, variant % 2 ? 1.5 : 0);
        int32_t labels[N];
        options.multistart = 6;
        options.k = variant % 3 == 0 ? 4 : 0;
        options.overlap = variant % 4 == 0 ? 0 : variant % 4 == 1 ? 50 : 10;
        options.sampling = variant / 2 % 2;
        options.control.seed = variant;
        clv_result *result = solve(ctx, a, &options);
        for (int64_t i = 0; i < N; i++) {
            labels[i] = -1;
        }
        int64_t passes = clv_result_integer(result, "passes", 0);
        assert_true(passes >= 1 && passes <= result->k);
        assert_true(options.k == 0 || result->k <= 4);
        for (int32_t c = 0; c < result->k; c++) {
            double x[N], shared = 0;
            int64_t pass = count_of(result, "clusters.pass", c);
            column_of(result, c, x);
            assert_true(pass >= 0 && pass < passes);
            if (c > 0) {
                int64_t before = count_of(result, "clusters.pass", c - 1);
                double value = number_of(result, "clusters.cohesiveness", c);
                shared_pass += pass == before;
                assert_true(pass == before || pass == before + 1);
                assert_true(pass != before || value <= number_of(result, "clusters.cohesiveness", c - 1));
            }
            for (int64_t i = 0; i < N; i++) {
                bool member = x[i] > 2e-12;
                shared += member && labels[i] >= 0;
                assert_true(!member || labels[i] < 0 || count_of(result, "clusters.pass", labels[i]) == pass);
            }
            assert_true(100 * shared <= options.overlap * (double)count_of(result, "clusters.size", c) + 1e-9);
            for (int64_t i = 0; i < N; i++) {
                labels[i] = x[i] > 2e-12 && labels[i] < 0 ? c : labels[i];
            }
        }
        assert_memory_equal(labels, result->labels, sizeof labels);
        clv_result_free(result);
    }
    assert_true(shared_pass > 10);
    clv_affinity_free(a);
    free_given(g);
    clv_context_free(ctx);
}

static void a_short_time_limit_has_a_result(void **unused) {
    (void)unused;
    clv_context *ctx = open_context();
    given *g = new_given(400, 32, 0, 0.5, 0);
    for (int how = 0; how < HOLDINGS; how++) {
        clv_affinity *base, *a = hold(ctx, g, (holding)how, 1, &base);
        for (int variant = 0; variant < 12; variant++) {
            clv_dominant_options options = plain_options(variant % 4, variant % 3 == 0 ? 2 : 0);
            clv_result *result = NULL;
            options.control.time_limit = 1e-9;
            options.control.threads = 2;
            options.multistart = variant % 3 == 1 ? 4 : 0;
            options.assign = variant % 2;
            assert_int_equal(clv_dominant(ctx, &(clv_input){.affinity = a}, &options, &result), CLV_OK);
            assert_int_equal(result->stop, CLV_TIME_LIMIT);
            clv_result *found = NULL; /* it was cut short, and assigned nothing: the evaluation sees that */
            assert_int_equal(clv_dominant_evaluate(ctx, &(clv_input){.affinity = a}, &options, result, &found), CLV_OK);
            assert_true(fabs(found->objective.value - result->objective.value) <= 1e-9);
            clv_result_free(found);
            clv_result_free(result);
        }
        clv_affinity_free(a);
        clv_affinity_free(base);
    }
    free_given(g);
    clv_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_obey_the_theorems),
        cmocka_unit_test(pairwise_steps_of_few_objects_obey_theorem_2),
        cmocka_unit_test(a_short_step_ends_a_search),
        cmocka_unit_test(away_steps_are_infection_and_immunization),
        cmocka_unit_test(small_answers_are_stationary_points),
        cmocka_unit_test(cliques_come_off_in_order),
        cmocka_unit_test(weights_solve_the_system_of_their_block),
        cmocka_unit_test(a_block_holds_up_to_its_shift),
        cmocka_unit_test(nothing_similar_is_refused),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(multistart_keeps_its_rule),
        cmocka_unit_test(a_short_time_limit_has_a_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
