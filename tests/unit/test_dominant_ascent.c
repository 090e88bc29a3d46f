/* dominant: its steps. The pass, the arenas and the iterate against fresh products (Lemmas 1 to 3), the jump on a face,
 * the replicator, and what the shift and objects that are gone may not do. */
#include "dominant_support.h"
#include "failing.h"

#include "base/options.h"

/* --- the pass --- */

enum { LONGEST = 1100 };

typedef struct passes {
    double r[LONGEST], a[LONGEST], b[LONGEST];
    float af[LONGEST], bf[LONGEST];
} passes;

/* With `coarse`, numbers are small integers: sums are exact, and many are equal. */
static void fill_passes(passes *p, int64_t n, uint64_t seed, bool coarse) {
    clv_rng rng = clv_rng_stream(seed, (uint64_t)n);
    for (int64_t i = 0; i < n; i++) {
        p->r[i] = coarse ? (double)clv_rng_below(&rng, 4) : clv_rng_normal(&rng);
        p->af[i] = coarse ? (float)clv_rng_below(&rng, 3) : (float)clv_rng_normal(&rng);
        p->bf[i] = coarse ? (float)clv_rng_below(&rng, 3) : (float)clv_rng_normal(&rng);
        p->a[i] = (double)p->af[i];
        p->b[i] = (double)p->bf[i];
    }
}

static int64_t first_largest(const double *r, int64_t n) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++) {
        best = r[i] > r[best] ? i : best;
    }
    return best;
}

/* `variant` & 1: floats; & 2: two columns. */
static void check_pass(const passes *p, int64_t n, double wa, double wb, int variant) {
    static double r[LONGEST];
    int64_t place;
    memcpy(r, p->r, sizeof r);
    if (variant & 2) {
        place = variant & 1 ? clv_kernels->f32.pass_two(r, p->af, wa, p->bf, wb, n)
                            : clv_kernels->f64.pass_two(r, p->a, wa, p->b, wb, n);
    } else {
        place = variant & 1 ? clv_kernels->f32.pass_one(r, p->af, wa, n) : clv_kernels->f64.pass_one(r, p->a, wa, n);
    }
    for (int64_t i = 0; i < n; i++) {
        double second = variant & 2 ? wb * p->b[i] : 0, expected = p->r[i] + wa * p->a[i] + second;
        double size = fabs(p->r[i]) + fabs(wa * p->a[i]) + fabs(second);
        assert_true(fabs(r[i] - expected) <= 1e-15 * size);
    }
    for (int64_t i = n; i < LONGEST; i++) {
        assert_true(r[i] == p->r[i]); /* nothing behind the end is touched */
    }
    assert_int_equal(place, first_largest(r, n));
}

static void the_pass_is_a_plain_loop(void **unused) {
    (void)unused;
    static passes p;
    const int64_t sizes[] = {1, 2, 3, 7, 8, 63, 64, 255, 256, 257, 511, 512, 513, 767, 768, 769, 1023, 1024, 1025};
    for (size_t s = 0; s < CLV_COUNT(sizes); s++) {
        for (int variant = 0; variant < 4; variant++) {
            for (uint64_t seed = 0; seed < 6; seed++) {
                fill_passes(&p, LONGEST, seed, seed % 2 == 0);
                check_pass(&p, sizes[s], seed % 2 == 0 ? 1 : 0.37, seed % 2 == 0 ? -1 : -1.21, variant);
            }
        }
    }
}

static void the_largest_and_the_least_are_the_first(void **unused) {
    (void)unused;
    static passes p;
    int32_t at[LONGEST];
    for (int64_t n = 1; n < LONGEST; n = n * 2 + n % 3) {
        for (uint64_t seed = 0; seed < 8; seed++) {
            fill_passes(&p, n, seed, seed % 2 == 0);
            clv_rng rng = clv_rng_stream(seed, 5);
            for (int64_t t = 0; t < n; t++) {
                at[t] = (int32_t)clv_rng_below(&rng, n);
            }
            int64_t least = 0;
            for (int64_t t = 1; t < n; t++) {
                least = p.r[at[t]] < p.r[at[least]] ? t : least;
            }
            assert_int_equal(clv_kernels->place_of_largest(p.r, n), first_largest(p.r, n));
            assert_int_equal(clv_kernels->place_of_least(p.r, at, n), least);
        }
    }
}

/* Objects that are gone lie far below all others, whatever is added. */
static void who_is_gone_is_never_the_largest(void **unused) {
    (void)unused;
    double r[300], a[300];
    for (int64_t i = 0; i < 300; i++) {
        r[i] = i == 280 ? -5 : CLV_GONE;
        a[i] = i == 280 ? -1 : 1e6;
    }
    for (int step = 0; step < 100; step++) {
        assert_int_equal(clv_kernels->f64.pass_one(r, a, 1, 300), 280);
    }
}

/* --- the steps, by hand --- */

/* A problem on all objects but every `skip`-th one; 0: on all. */
typedef struct setting {
    clv_dominant_options options;
    clv_dominant_problem problem;
    int64_t *active;
    uint8_t *gone;
} setting;

static void open_setting(setting *s, clv_context *ctx, const clv_affinity *a, int solver, double shift, int64_t skip) {
    int64_t n = clv_affinity_size(a), count = 0;
    s->options = plain_options(solver, shift);
    s->active = test_malloc((size_t)n * sizeof *s->active);
    s->gone = test_calloc((size_t)n, 1);
    for (int64_t i = 0; i < n; i++) {
        s->gone[i] = skip > 0 && i % skip == skip - 1;
        s->active[count] = i;
        count += !s->gone[i];
    }
    s->problem = (clv_dominant_problem){.ctx = ctx,
                                        .affinity = a,
                                        .options = &s->options,
                                        .n = n,
                                        .active_count = count,
                                        .active = s->active,
                                        .gone = s->gone,
                                        .tol = 1e-6,
                                        .seed = {.object = -1}};
    assert_int_equal(clv_affinity_largest(a, &s->problem.largest), CLV_OK);
}

static void close_setting(setting *s) {
    test_free(s->active);
    test_free(s->gone);
}

static void start_at(clv_ascent *s, int64_t object) {
    double *x = test_calloc((size_t)s->problem->n, sizeof *x);
    x[object] = 1;
    clv_ascent_begin(s);
    assert_int_equal(clv_ascent_set(s, x), CLV_OK);
    test_free(x);
}

/* The lists of the support agree with each other and with the weights. */
static void check_support(const clv_ascent *s) {
    int64_t in = 0;
    for (int64_t t = 0; t < s->size; t++) {
        assert_int_equal(s->position[s->support[t]], t);
        assert_true(s->y[s->support[t]] > 0);
        assert_false(s->problem->gone[clv_arena_object(&s->arena, s->support[t])]);
    }
    for (int64_t slot = 0; slot < s->arena.slots; slot++) {
        in += s->position[slot] >= 0;
        assert_true(s->position[slot] >= 0 || s->y[slot] == 0); /* exactly */
    }
    assert_int_equal(in, s->size);
}

/* Lemmas 1 to 3: what was carried along is what a fresh product with `dense` gives. `x` and `r` are work. */
static void check_fresh(const clv_ascent *s, const double *dense, double *x, double *r) {
    const clv_dominant_problem *p = s->problem;
    double shift = p->options->shift, most = -HUGE_VAL, sum = 0, squares = 0, allowed = 1e-12 * (1 + shift);
    clv_ascent_get(s, x);
    double value = fresh_r(dense, p->n, shift, x, r);
    for (int64_t i = 0; i < p->n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
        assert_true(x[i] == 0 || !p->gone[i]);
        most = p->gone[i] ? most : fmax(most, r[i]);
    }
    for (int64_t slot = 0; slot < s->arena.slots; slot++) {
        int64_t i = clv_arena_object(&s->arena, slot);
        assert_true(p->gone[i] || fabs(s->scale * s->arena.rho[slot] - r[i]) <= allowed);
    }
    assert_true(fabs(sum - 1) <= 1e-12);
    assert_true(fabs(s->value - value) <= allowed);
    assert_true(fabs(s->squares - squares) <= 1e-12);
    assert_true(fabs(clv_ascent_similarity(s) - (value + shift * squares)) <= allowed);
    assert_true(fabs(clv_ascent_gap(s) - (most - value)) <= allowed); /* the largest r of all is in the arena */
    check_support(s);
}

/* What a step did to the support, from the weights before and after it. */
static void count_change(const double *before, const double *after, int64_t n, int64_t *drops, int64_t *swaps) {
    int64_t entered = 0, left = 0;
    for (int64_t i = 0; i < n; i++) {
        entered += before[i] == 0 && after[i] > 0;
        left += before[i] > 0 && after[i] == 0;
    }
    assert_true(entered <= 1 && left <= 1);
    *drops += left == 1 && entered == 0;
    *swaps += left == 1 && entered == 1;
}

typedef struct tally {
    int64_t steps, drops, swaps, jumps, lengths;
} tally;

static double distance(const double *x, const double *y, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    }
    return sqrt(sum);
}

/* Steps from an object, each checked, until the gap is nothing. `faces`: every so many steps a jump. */
static void walk(clv_ascent *s, const given *g, int64_t object, int64_t steps, int64_t faces, tally *seen) {
    int64_t n = g->n, drops = 0, swaps = 0;
    double *x = test_calloc((size_t)(3 * n), sizeof *x), *before = x + n, *r = x + 2 * n;
    bool stuck = false;
    start_at(s, object);
    check_fresh(s, g->dense, x, r);
    for (int64_t t = 0; t < steps && !stuck && clv_ascent_gap(s) > 1e-11; t++) {
        double value = s->value;
        memcpy(before, x, (size_t)n * sizeof *x);
        if (faces > 0 && t % faces == faces - 1 && s->size > 1) {
            int64_t size = s->size, earlier = s->drops;
            assert_int_equal(clv_face_jump(s), CLV_OK);
            assert_int_equal(s->drops - earlier, size - s->size); /* a jump only takes objects out */
            drops = s->drops;
            seen->jumps += s->value > value;
            check_fresh(s, g->dense, x, r);
        } else {
            s->step = HUGE_VAL;
            assert_int_equal(clv_ascent_step(s, &stuck), CLV_OK);
            check_fresh(s, g->dense, x, r);
            count_change(before, x, n, &drops, &swaps);
            assert_true(s->step == HUGE_VAL || fabs(s->step - distance(before, x, n)) <= 1e-12);
            seen->lengths += s->step < HUGE_VAL;
        }
        assert_true(s->value >= value - 1e-15 * (1 + s->problem->options->shift));
        assert_int_equal(s->drops, drops);
        assert_int_equal(s->swaps, swaps);
        seen->steps++;
    }
    seen->drops += drops;
    seen->swaps += swaps;
    test_free(x);
}

static void steps_carry_what_is_true(void **unused) {
    (void)unused;
    enum { N = 150 };
    clv_context *ctx = new_context();
    tally seen[3] = {{0}};
    given *g = new_given(N, 1, 0.3, 0, 0);
    for (int how = 0; how < HOLDINGS; how++) {
        clv_affinity *base, *a = hold(ctx, g, (holding)how, 1, &base);
        for (int variant = 0; variant < 24; variant++) {
            setting s;
            clv_ascent ascent;
            int solver = variant % 3;
            open_setting(&s, ctx, a, solver, variant / 3 % 2 ? 3.5 : 0, variant / 6 % 2 ? 7 : 0);
            assert_int_equal(clv_ascent_new(&s.problem, 1, &ascent), CLV_OK);
            walk(&ascent, g, s.active[variant], 200, variant >= 12 ? 9 : 0, &seen[solver]);
            walk(&ascent, g, s.active[variant + 1], 100, 0, &seen[solver]); /* nothing stays from the run before */
            clv_ascent_free(&ascent);
            close_setting(&s);
        }
        clv_affinity_free(a);
        clv_affinity_free(base);
    }
    assert_true(seen[0].steps > 500 && seen[1].steps > 500 && seen[2].steps > 500);
    assert_int_equal(seen[0].swaps + seen[2].swaps, 0);
    assert_true(seen[1].drops > 20 && seen[1].swaps > 10 && seen[2].drops > 20);
    assert_true(seen[0].jumps > 5 && seen[1].jumps > 5 && seen[2].jumps > 5);
    free_given(g);
    end_context(ctx);
}

/* Two iterates that ought to be the same take the same step, unless rounding decides between equals: then the second
 * one is put where the first one goes. Weights differ by at most `allowed`, r by a constant. */
static void step_both(clv_ascent pair[2], bool jump, double allowed, double *left, double *right, bool *stuck) {
    int64_t chosen[2][2];
    for (int side = 0; side < 2; side++) {
        clv_ascent *s = &pair[side];
        bool alone;
        chosen[side][0] = clv_arena_object(&s->arena, s->arena.top);
        chosen[side][1] =
            clv_arena_object(&s->arena, s->support[clv_kernels->place_of_least(s->arena.rho, s->support, s->size)]);
        assert_int_equal(jump ? clv_face_jump(s) : clv_ascent_step(s, &alone), CLV_OK);
        *stuck = *stuck || (!jump && alone);
    }
    clv_ascent_get(&pair[0], left);
    if (chosen[0][0] != chosen[1][0] || chosen[0][1] != chosen[1][1] || jump) {
        assert_int_equal(clv_ascent_set(&pair[1], left), CLV_OK);
        pair[1].drops = pair[0].drops;
        pair[1].swaps = pair[0].swaps;
    }
    clv_ascent_get(&pair[1], right);
    for (int64_t i = 0; i < pair[0].problem->n; i++) {
        assert_true(fabs(left[i] - right[i]) <= allowed);
        assert_int_equal(left[i] > 0, right[i] > 0);
    }
    assert_true(fabs(clv_ascent_gap(&pair[0]) - clv_ascent_gap(&pair[1])) <= allowed);
    assert_int_equal(pair[0].drops, pair[1].drops);
    assert_int_equal(pair[0].swaps, pair[1].swaps);
}

/* The same matrix in two homes: the same steps. */
static void homes_take_the_same_steps(void **unused) {
    (void)unused;
    enum { N = 150 };
    clv_context *ctx = new_context();
    given *g = new_given(N, 2, 0.5, 0, 0);
    double left[N], right[N];
    int64_t steps = 0;
    for (int variant = 0; variant < 6 * HOLDINGS; variant++) {
        clv_affinity *bases[2], *a = hold(ctx, g, HELD_DOUBLES, 1, &bases[0]);
        clv_affinity *b = hold(ctx, g, (holding)(variant % HOLDINGS), 1, &bases[1]);
        setting s[2];
        clv_ascent ascent[2];
        bool stuck = false;
        for (int side = 0; side < 2; side++) {
            open_setting(&s[side], ctx, side ? b : a, variant / HOLDINGS % 3, variant >= 3 * HOLDINGS ? 2 : 0, 5);
            assert_int_equal(clv_ascent_new(&s[side].problem, 1, &ascent[side]), CLV_OK);
            start_at(&ascent[side], 3);
        }
        for (int t = 0; t < 300 && !stuck && clv_ascent_gap(&ascent[0]) > 1e-10; t++) {
            step_both(ascent, false, 1e-12, left, right, &stuck);
            assert_true(fabs(ascent[0].value - ascent[1].value) <= 1e-12);
            steps++;
        }
        for (int side = 0; side < 2; side++) {
            clv_ascent_free(&ascent[side]);
            close_setting(&s[side]);
        }
        clv_affinity_free(a);
        clv_affinity_free(b);
        clv_affinity_free(bases[1]);
    }
    assert_true(steps > 1000);
    free_given(g);
    end_context(ctx);
}

/* Away steps multiply the scale, steps toward an object divide it: it is brought back before anything overflows. */
static void the_scale_has_no_end(void **unused) {
    (void)unused;
    enum { N = 40 };
    clv_context *ctx = new_context();
    given *g = new_given(N, 3, 0, 0.5, 0);
    for (int how = 0; how < HOLDINGS; how++) {
        clv_affinity *base, *a = hold(ctx, g, (holding)how, 1, &base);
        setting s;
        clv_ascent ascent;
        bool stuck;
        double x[N], r[N];
        open_setting(&s, ctx, a, CLV_DOMINANT_FW, 60, 6); /* all r below 0: a gone object must not rise to 0 */
        assert_int_equal(clv_ascent_new(&s.problem, 1, &ascent), CLV_OK);
        start_at(&ascent, 0);
        for (int t = 0; t < 2000; t++) {
            ascent.scale *= 1e-30; /* as after many steps, with y and rho to match */
            for (int64_t slot = 0; slot < ascent.arena.slots; slot++) {
                ascent.y[slot] *= 1e30;
                ascent.arena.rho[slot] *= s.gone[clv_arena_object(&ascent.arena, slot)] ? 1 : 1e30;
            }
            assert_int_equal(clv_ascent_step(&ascent, &stuck), CLV_OK);
            assert_true(ascent.scale > 1e-125);
        }
        check_fresh(&ascent, g->dense, x, r);
        clv_ascent_free(&ascent);
        close_setting(&s);
        clv_affinity_free(a);
        clv_affinity_free(base);
    }
    free_given(g);
    end_context(ctx);
}

/* --- arenas that hold a part of the objects --- */

static clv_affinity *spread_points(clv_context *ctx, int64_t n, clv_affinity_kind kind, double gamma, clv_home home,
                                   clv_data **points) {
    clv_rng rng = clv_rng_stream(21, 0);
    clv_affinity_options how;
    clv_affinity *a = NULL;
    assert_int_equal(clv_data_new_dense(ctx, "points", n, 3, CLV_F64, points), CLV_OK);
    double *values = (*points)->values;
    for (int64_t i = 0; i < n * 3; i++) {
        values[i] = clv_rng_normal(&rng) + 4 * (double)(i / 3 % 3 == i % 3);
    }
    clv_affinity_defaults(&how);
    how.kind = kind;
    how.gamma = gamma;
    how.home = home;
    how.zero_diagonal = 1;
    how.threads = 2;
    assert_int_equal(clv_affinity_build(ctx, &(*points)->matrix, &how, &a), CLV_OK);
    return a;
}

/* The largest r over all active objects, from the affinity. */
static double largest_r(const clv_ascent *s, double *x, double *r) {
    const clv_dominant_problem *p = s->problem;
    int64_t count = 0;
    double most = -HUGE_VAL;
    clv_ascent_get(s, x);
    for (int64_t i = 0; i < p->n; i++) {
        if (x[i] > 0) {
            s->objects[count] = i;
            s->weights[count++] = x[i];
        }
    }
    assert_int_equal(clv_affinity_combine(p->affinity, s->objects, s->weights, count, r, 2), CLV_OK);
    for (int64_t i = 0; i < p->n; i++) {
        most = p->gone[i] ? most : fmax(most, r[i] - p->options->shift * x[i]);
    }
    return most;
}

typedef struct part {
    clv_affinity_kind kind;
    double gamma;
    clv_home home;
    int solver;
    double shift;
    int64_t skip;
} part;

/* The object with the least sum of similarities to some others: far from where the weight will go. */
static int64_t far_object(const setting *s, double *r) {
    int64_t sample[64], worst = s->active[0];
    double ones[64];
    for (int64_t t = 0; t < 64; t++) {
        sample[t] = s->active[t * (s->problem.active_count / 64)];
        ones[t] = 1;
    }
    assert_int_equal(clv_affinity_combine(s->problem.affinity, sample, ones, 64, r, 2), CLV_OK);
    for (int64_t t = 0; t < s->problem.active_count; t++) {
        worst = r[s->active[t]] < r[worst] ? s->active[t] : worst;
    }
    return worst;
}

/* How often the arena was chosen again. */
static int64_t walk_in_part(clv_context *ctx, const part *how, int64_t n) {
    clv_data *points;
    clv_affinity *a = spread_points(ctx, n, how->kind, how->gamma, how->home, &points);
    setting s;
    clv_ascent ascent;
    bool stuck = false;
    int64_t reloads = 0, partial = 0;
    double *x = test_malloc((size_t)(2 * n) * sizeof *x);
    open_setting(&s, ctx, a, how->solver, how->shift, how->skip);
    assert_int_equal(clv_ascent_new(&s.problem, 2, &ascent), CLV_OK);
    start_at(&ascent, far_object(&s, x));
    for (int t = 0; t < 150 && !stuck; t++) {
        double moved = ascent.moved, value = ascent.value;
        assert_int_equal(t % 40 == 39 ? clv_face_jump(&ascent) : clv_ascent_step(&ascent, &stuck), CLV_OK);
        reloads += ascent.moved < moved;
        partial += ascent.arena.slots < s.problem.active_count;
        double top = ascent.scale * ascent.arena.rho[ascent.arena.top];
        assert_true(fabs(largest_r(&ascent, x, x + n) - top) <= 1e-12 * (1 + how->shift));
        assert_true(ascent.value >= value - 1e-15 * (1 + how->shift));
        check_support(&ascent);
    }
    assert_true(partial > 0);
    clv_ascent_free(&ascent);
    close_setting(&s);
    test_free(x);
    clv_affinity_free(a);
    clv_data_free(points);
    return reloads;
}

static void nobody_outside_the_arena_is_larger(void **unused) {
    (void)unused;
    const part parts[] = {
        {CLV_AFFINITY_GAUSSIAN, 2, CLV_HOME_COMPUTED, CLV_DOMINANT_PFW, 0, 0},
        {CLV_AFFINITY_GAUSSIAN, 0.3, CLV_HOME_COMPUTED, CLV_DOMINANT_AFW, 2, 9},
        {CLV_AFFINITY_GAUSSIAN, 0.002, CLV_HOME_COMPUTED, CLV_DOMINANT_PFW, 5, 12},
        {CLV_AFFINITY_DISTANCE, NAN, CLV_HOME_COMPUTED, CLV_DOMINANT_AFW, 9, 0},
        {CLV_AFFINITY_EXPONENTIAL, 1, CLV_HOME_COMPUTED, CLV_DOMINANT_FW, 0.5, 0},
        {CLV_AFFINITY_MINIMAX, NAN, CLV_HOME_COMPUTED, CLV_DOMINANT_PFW, 1, 11},
        {CLV_AFFINITY_COSINE, NAN, CLV_HOME_LOWRANK, CLV_DOMINANT_PFW, 5, 0},
    };
    clv_context *ctx = new_context();
    int64_t reloads = 0;
    for (size_t i = 0; i < CLV_COUNT(parts); i++) {
        reloads += walk_in_part(ctx, &parts[i], 9500);
    }
    assert_true(reloads > 10);
    end_context(ctx);
}

/* --- the face --- */

/* Faces without a stationary point, or with a whole line of them: f does not fall, and nothing else happens. */
static void a_face_without_a_solution_changes_nothing(void **unused) {
    (void)unused;
    enum { N = 6 };
    clv_context *ctx = new_context();
    for (int kind = 0; kind < 3; kind++) {
        given *g = new_given(N, 4, 0, 0, 0);
        for (int64_t e = 0; e < N * N; e++) {
            int64_t i = e / N, j = e % N;
            /* Nothing similar; two equal halves, so that B is singular; pairs, all alike. */
            g->dense[e] = kind == 0 ? 0 : kind == 1 ? (double)(i % 2 != j % 2) : (double)(i / 2 == j / 2 && i != j);
        }
        clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
        setting s;
        clv_ascent ascent;
        double x[N], r[N];
        open_setting(&s, ctx, a, CLV_DOMINANT_PFW, 0, 0);
        assert_int_equal(clv_ascent_new(&s.problem, 1, &ascent), CLV_OK);
        for (int64_t size = 2; size <= N; size++) {
            for (int64_t i = 0; i < N; i++) {
                x[i] = i < size ? 2 * (double)(i + 1) / (double)(size * (size + 1)) : 0;
            }
            clv_ascent_begin(&ascent);
            assert_int_equal(clv_ascent_set(&ascent, x), CLV_OK);
            double before = ascent.value;
            assert_int_equal(clv_face_jump(&ascent), CLV_OK);
            assert_true(ascent.value >= before);
            check_fresh(&ascent, g->dense, x, r);
        }
        clv_ascent_free(&ascent);
        close_setting(&s);
        clv_affinity_free(a);
        free_given(g);
    }
    end_context(ctx);
}

/* On the support of a strict maximum one jump is enough. */
static void a_jump_ends_at_the_stationary_point(void **unused) {
    (void)unused;
    enum { N = 30 };
    clv_context *ctx = new_context();
    given *g = new_given(N, 5, 0, 0.9, 0);
    clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1);
    setting s;
    clv_ascent ascent;
    double x[N], r[N];
    open_setting(&s, ctx, a, CLV_DOMINANT_PFW, 10, 0); /* so much shift that all objects are in */
    assert_int_equal(clv_ascent_new(&s.problem, 1, &ascent), CLV_OK);
    for (int64_t i = 0; i < N; i++) {
        x[i] = (double)(i + 1) / (0.5 * N * (N + 1));
    }
    clv_ascent_begin(&ascent);
    assert_int_equal(clv_ascent_set(&ascent, x), CLV_OK);
    assert_true(clv_ascent_gap(&ascent) > 1e-3);
    assert_int_equal(clv_face_jump(&ascent), CLV_OK);
    assert_true(clv_ascent_gap(&ascent) < 1e-13);
    assert_int_equal(ascent.size, N);
    check_fresh(&ascent, g->dense, x, r);
    clv_ascent_free(&ascent);
    close_setting(&s);
    clv_affinity_free(a);
    free_given(g);
    end_context(ctx);
}

/* --- the replicator --- */

static void the_replicator_follows_its_formula(void **unused) {
    (void)unused;
    enum { N = 40 };
    clv_context *ctx = new_context();
    given *g = new_given(N, 7, 0.2, 0, 4);
    double x[N], r[N], own[N];
    for (int variant = 0; variant < 8 * HOLDINGS; variant++) {
        clv_affinity *base, *a = hold(ctx, g, (holding)(variant % HOLDINGS), variant / HOLDINGS % 2, &base);
        setting s;
        clv_replicator state;
        double shift = variant / (2 * HOLDINGS) % 2 ? 1.5 : 0;
        bool few = variant >= 4 * HOLDINGS; /* of the objects are left: it works on a copy */
        open_setting(&s, ctx, a, CLV_DOMINANT_RD, shift, few ? 2 : 5);
        assert_int_equal(clv_replicator_decide(&s.problem), CLV_OK);
        assert_int_equal(clv_replicator_new(&s.problem, 1, &state), CLV_OK);
        assert_int_equal(state.m, few ? s.problem.active_count : N);
        for (int64_t i = 0; i < N; i++) {
            x[i] = s.gone[i] ? 0 : 1 / (double)s.problem.active_count;
        }
        assert_int_equal(clv_replicator_set(&state, x), CLV_OK);
        for (int t = 0; t < 50; t++) {
            double value = fresh_r(g->dense, N, shift, x, r), most = -HUGE_VAL, way = 0;
            clv_replicator_get(&state, own);
            for (int64_t i = 0; i < N; i++) {
                most = s.gone[i] ? most : fmax(most, r[i]);
                assert_true(fabs(own[i] - x[i]) <= 1e-13);
                double next = x[i] * (r[i] + shift) / (value + shift);
                way += (next - x[i]) * (next - x[i]);
                x[i] = next;
            }
            assert_true(fabs(state.value - value) <= 1e-13 && fabs(state.gap - (most - value)) <= 1e-13);
            double before = state.value;
            bool stuck = true;
            assert_int_equal(clv_replicator_step(&state, &stuck), CLV_OK);
            assert_false(stuck);
            assert_true(state.value >= before - 1e-15 && fabs(state.step - sqrt(way)) <= 1e-13);
        }
        clv_replicator_free(&state);
        close_setting(&s);
        clv_affinity_free(a);
        clv_affinity_free(base);
    }
    free_given(g);
    end_context(ctx);
}

/* --- the shift --- */

/* The shift is A + shift (ee' - I) written out, but for the constant: the same iterates. */
static void the_shift_is_that_of_the_matrix(void **unused) {
    (void)unused;
    enum { N = 120 };
    const double shift = 6.25;
    clv_context *ctx = new_context();
    given *g = new_given(N, 9, 0.4, 0, 0), *shifted = new_given(N, 9, 0.4, 0, 0);
    double left[N], right[N];
    for (int64_t e = 0; e < N * N; e++) {
        shifted->dense[e] += e / N == e % N ? 0 : shift;
    }
    clv_affinity *a = hold_base(ctx, g, HELD_DOUBLES, 1), *b = hold_base(ctx, shifted, HELD_DOUBLES, 1);
    for (int solver = CLV_DOMINANT_FW; solver <= CLV_DOMINANT_AFW; solver++) {
        setting s[2];
        clv_ascent ascent[2];
        bool stuck = false;
        for (int side = 0; side < 2; side++) {
            open_setting(&s[side], ctx, side ? b : a, solver, side ? 0 : shift, 7);
            assert_int_equal(clv_ascent_new(&s[side].problem, 1, &ascent[side]), CLV_OK);
            start_at(&ascent[side], 11);
        }
        for (int t = 0; t < 250 && !stuck && clv_ascent_gap(&ascent[0]) > 1e-9; t++) {
            step_both(ascent, t == 100, 1e-11, left, right, &stuck);
            assert_true(fabs(ascent[0].value + shift - ascent[1].value) <= 1e-11);
        }
        for (int side = 0; side < 2; side++) {
            clv_ascent_free(&ascent[side]);
            close_setting(&s[side]);
        }
    }
    clv_affinity_free(a);
    clv_affinity_free(b);
    free_given(g);
    free_given(shifted);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pass_is_a_plain_loop),
        cmocka_unit_test(the_largest_and_the_least_are_the_first),
        cmocka_unit_test(who_is_gone_is_never_the_largest),
        cmocka_unit_test(steps_carry_what_is_true),
        cmocka_unit_test(homes_take_the_same_steps),
        cmocka_unit_test(the_scale_has_no_end),
        cmocka_unit_test(nobody_outside_the_arena_is_larger),
        cmocka_unit_test(a_face_without_a_solution_changes_nothing),
        cmocka_unit_test(a_jump_ends_at_the_stationary_point),
        cmocka_unit_test(the_replicator_follows_its_formula),
        cmocka_unit_test(the_shift_is_that_of_the_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
