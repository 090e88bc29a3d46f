/* Given similarities that are not symmetric or not nonnegative: (A + A')/2 and negative entries on dense homes of both
 * types and on sparse ones, every function against the definition; what is refused, and with which words; bytes. */
#include "affinity/affinity.h"

#include "entry_of.h"
#include "failing.h"

#include <math.h>
#include <stdio.h>

enum { DENSE, SINGLE, SPARSE, FORMS };

typedef struct given {
    int64_t n;
    double *values; /* n x n, by definition; 0: not stored in the sparse form */
    float *single;  /* the same */
    int64_t *start; /* the same, sparse */
    int32_t *index;
    double *entries;
} given;

static void write_forms(given *g) {
    g->start[0] = 0;
    for (int64_t i = 0, at = 0; i < g->n; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            g->single[i * g->n + j] = (float)g->values[i * g->n + j];
            if (g->values[i * g->n + j] != 0) {
                g->index[at] = (int32_t)j;
                g->entries[at++] = g->values[i * g->n + j];
            }
        }
        g->start[i + 1] = at;
    }
}

/* Entries from `low` to 1, all of them floats; a third is 0, not the same on both sides. */
static given new_given(int64_t n, double low, bool symmetric) {
    given g = {.n = n};
    clv_rng rng = clv_rng_stream(21, (uint64_t)n);
    size_t squares = (size_t)(n * n);
    g.values = calloc(squares, sizeof *g.values);
    g.single = calloc(squares, sizeof *g.single);
    g.start = calloc((size_t)n + 1, sizeof *g.start);
    g.index = calloc(squares, sizeof *g.index);
    g.entries = calloc(squares, sizeof *g.entries);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double value = clv_rng_below(&rng, 3) ? low + (1 - low) * clv_rng_uniform(&rng) : 0;
            g.values[i * n + j] = symmetric && j < i ? g.values[j * n + i] : (double)(float)value;
        }
    }
    write_forms(&g);
    return g;
}

static void free_given(given *g) {
    free(g->values);
    free(g->single);
    free(g->start);
    free(g->index);
    free(g->entries);
}

static clv_matrix as_form(const given *g, int form) {
    clv_matrix m = {.rows = g->n, .cols = g->n, .values = g->values};
    if (form == SINGLE) {
        m.scalar = CLV_F32;
        m.values = g->single;
    } else if (form == SPARSE) {
        m.values = g->entries;
        m.start = g->start;
        m.index = g->index;
    }
    return m;
}

static clv_affinity_options options_of(int symmetrize, double least, int zero_diagonal) {
    clv_affinity_options o;
    clv_affinity_defaults(&o);
    o.kind = CLV_AFFINITY_PRECOMPUTED;
    o.symmetrize = symmetrize;
    o.least = least;
    o.zero_diagonal = zero_diagonal;
    o.threads = 2;
    return o;
}

static double expected(const given *g, int64_t i, int64_t j, const clv_affinity_options *o) {
    double value = g->values[i * g->n + j], mirror = g->values[j * g->n + i];
    if (i == j && o->zero_diagonal) {
        return 0;
    }
    return o->symmetrize ? (value + mirror) / 2 : value;
}

/* --- every function --- */

static void assert_close(const double *got, const double *wanted, int64_t n, double tolerance) {
    for (int64_t i = 0; i < n; i++) {
        if (!(fabs(got[i] - wanted[i]) <= tolerance)) {
            fail_msg("entry %lld is %.17g and should be %.17g", (long long)i, got[i], wanted[i]);
        }
    }
}

/* x, a vector of any signs, in all the ways that the operator can be multiplied by it. */
static void check_products(const clv_affinity *a, const double *matrix, double tolerance) {
    int64_t n = clv_affinity_size(a);
    double *x = calloc((size_t)n, sizeof *x), *wanted = calloc((size_t)(3 * n), sizeof *x);
    double *got = calloc((size_t)(2 * n), sizeof *got);
    int64_t *objects = calloc((size_t)n, sizeof *objects);
    int32_t *labels = calloc((size_t)n, sizeof *labels);
    clv_rng rng = clv_rng_stream(4, (uint64_t)n);
    for (int64_t i = 0; i < n; i++) {
        x[i] = clv_rng_normal(&rng);
        labels[i] = (int32_t)clv_rng_below(&rng, 2);
        objects[i] = i;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            wanted[i] += matrix[i * n + j] * x[j];
            wanted[(1 + labels[j]) * n + i] += matrix[i * n + j];
        }
    }
    assert_int_equal(clv_affinity_apply(a, x, 1, got, 2), CLV_OK);
    assert_close(got, wanted, n, tolerance);
    assert_int_equal(clv_affinity_combine(a, objects, x, n, got, 2), CLV_OK);
    assert_close(got, wanted, n, tolerance);
    assert_int_equal(clv_affinity_group_sums(a, labels, 2, got, 2), CLV_OK);
    assert_close(got, wanted + n, 2 * n, tolerance);
    assert_int_equal(clv_affinity_degrees(a, got, 2), CLV_OK);
    for (int64_t i = 0; i < n; i++) {
        wanted[i] = wanted[n + i] + wanted[2 * n + i];
    }
    assert_close(got, wanted, n, tolerance);
    free(x);
    free(wanted);
    free(got);
    free(objects);
    free(labels);
}

static void check_operator(const clv_affinity *a, const given *g, const clv_affinity_options *o, bool exact) {
    int64_t n = g->n;
    double *matrix = calloc((size_t)(n * n), sizeof *matrix), *row = malloc((size_t)n * sizeof *row);
    clv_data *written;
    assert_int_equal(clv_affinity_materialize(a, &written), CLV_OK);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double wanted = expected(g, i, j, o), got = entry_of(a, i, j);
            assert_true(got == (exact ? wanted : (double)(float)wanted));
            matrix[i * n + j] = got;
        }
        assert_int_equal(clv_affinity_column(a, i, row), CLV_OK);
        assert_memory_equal(row, matrix + i * n, (size_t)n * sizeof *row);
        clv_matrix_row(clv_data_matrix(written), i, row);
        assert_memory_equal(row, matrix + i * n, (size_t)n * sizeof *row);
    }
    check_products(a, matrix, 1e-12);
    clv_data_free(written);
    free(matrix);
    free(row);
}

static void check_given(clv_context *ctx, const given *g, int form, clv_affinity_options o) {
    clv_matrix matrix = as_form(g, form);
    clv_affinity *a;
    if (clv_affinity_build(ctx, &matrix, &o, &a) != CLV_OK) {
        fail_msg("%s", clv_message(ctx));
    }
    check_operator(a, g, &o, form != SINGLE);
    clv_affinity_free(a);
}

static void test_operators(void **state) {
    static const int64_t sizes[] = {1, 2, 9, 64, 65, 130};
    clv_context *ctx = new_context();
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int v = 0; v < 2 * FORMS; v++) {
            given any = new_given(sizes[s], 0, false), any_sign = new_given(sizes[s], -5, false);
            given symmetric = new_given(sizes[s], -5, true);
            check_given(ctx, &any, v / 2, options_of(1, 0, v % 2));
            check_given(ctx, &any_sign, v / 2, options_of(1, -5, v % 2));
            check_given(ctx, &symmetric, v / 2, options_of(0, -5, v % 2));
            free_given(&any);
            free_given(&any_sign);
            free_given(&symmetric);
        }
    }
    end_context(ctx);
}

/* --- refusals --- */

static void assert_refused(clv_context *ctx, given *g, clv_affinity_options o, const char *words) {
    write_forms(g);
    for (int form = 0; form < FORMS; form++) {
        clv_matrix matrix = as_form(g, form);
        clv_affinity *a;
        assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_EDATA);
        assert_null(a);
        if (!strstr(clv_message(ctx), words)) {
            fail_msg("'%s' is not in '%s'", words, clv_message(ctx));
        }
    }
}

static void assert_taken(clv_context *ctx, given *g, clv_affinity_options o) {
    write_forms(g);
    for (int form = 0; form < FORMS; form++) {
        check_given(ctx, g, form, o);
    }
}

static void test_refusals(void **state) {
    clv_context *ctx = new_context();
    given g = new_given(140, 0, true);
    double *at = &g.values[3 * g.n + 137], *mirror = &g.values[137 * g.n + 3], *own = &g.values[7 * g.n + 7];
    (void)state;
    *at = 0.25;
    *mirror = 0.5;
    assert_refused(ctx, &g, options_of(0, 0, 0),
                   "not symmetric: row 4, column 138 is 0.25, row 138, column 4 is 0.5; --symmetrize");
    assert_taken(ctx, &g, options_of(1, 0, 0));
    *at = -1; /* what counts is the mean */
    *mirror = 1.5;
    assert_taken(ctx, &g, options_of(1, 0, 0));
    *mirror = 0.5;
    assert_refused(ctx, &g, options_of(1, 0, 0), "(A + A')/2 in row 4, column 138 is -0.25; it must not be negative");
    *mirror = -1;
    assert_refused(ctx, &g, options_of(0, 0, 0), "row 4, column 138 is -1; it must not be negative");
    assert_refused(ctx, &g, options_of(0, -0.5, 0), "is -1; with --shift 0.5 it must be at least -0.5");
    assert_taken(ctx, &g, options_of(0, -1, 0));
    *own = -2; /* of no matter when the diagonal is left out */
    assert_refused(ctx, &g, options_of(0, -1, 0), "row 8, column 8 is -2; with --shift 1");
    assert_taken(ctx, &g, options_of(0, -1, 1));
    assert_taken(ctx, &g, options_of(1, -1, 1));
    *mirror = -INFINITY; /* the place of the value, not that of the mean */
    assert_refused(ctx, &g, options_of(1, -1, 1), "row 138, column 4 is -inf; it must be finite");
    *mirror = -1 - 1e-3; /* negative ones must be alike too */
    assert_refused(ctx, &g, options_of(0, -2, 1), "not symmetric");
    *mirror = -1 - 1e-12;
    write_forms(&g);
    clv_affinity_options to_rounding = options_of(0, -2, 1);
    clv_matrix matrix = as_form(&g, DENSE);
    clv_affinity *a;
    assert_int_equal(clv_affinity_build(ctx, &matrix, &to_rounding, &a), CLV_OK);
    clv_affinity_free(a);
    free_given(&g);
    end_context(ctx);
}

/* Whether entry (i, j) breaks a rule, by definition; a mirror that is infinite breaks one at its own place. */
static bool breaks_rule(const given *g, int64_t i, int64_t j, const clv_affinity_options *o) {
    double value = g->values[i * g->n + j], mirror = g->values[j * g->n + i];
    double here = o->symmetrize && isfinite(mirror) ? (value + mirror) / 2 : value;
    bool too_small = here < o->least && !(i == j && o->zero_diagonal);
    return !isfinite(value) || too_small || (!o->symmetrize && value != mirror && !isinf(mirror));
}

/* Faults anywhere in a dense matrix, of any kind: the first in row order is named, on any number of threads. */
static void test_first_place(void **state) {
    static const double faults[] = {-6, 3, NAN, INFINITY, -INFINITY};
    clv_context *ctx = new_context();
    (void)state;
    for (int64_t draw = 0; draw < 120; draw++) {
        clv_rng rng = clv_rng_stream(77, (uint64_t)draw);
        given g = new_given(1 + clv_rng_below(&rng, 300), -5, draw % 2);
        clv_affinity_options o = options_of(draw % 4 != 1, -5, draw % 3 == 0);
        for (int64_t f = 0; f <= draw % 7; f++) {
            g.values[clv_rng_below(&rng, g.n * g.n)] = faults[clv_rng_below(&rng, 5)];
        }
        int64_t first = 0;
        while (first < g.n * g.n && !breaks_rule(&g, first / g.n, first % g.n, &o)) {
            first++;
        }
        write_forms(&g);
        for (int v = 0; v < 2 * SPARSE && first < g.n * g.n; v++) {
            clv_matrix matrix = as_form(&g, v / 2);
            clv_affinity *a;
            char place[64];
            snprintf(place, sizeof place, "row %lld, column %lld is", (long long)(first / g.n) + 1,
                     (long long)(first % g.n) + 1);
            o.threads = 1 + 2 * (v % 2);
            assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_EDATA);
            if (!strstr(clv_message(ctx), place)) {
                fail_msg("'%s' is not in '%s'", place, clv_message(ctx));
            }
        }
        free_given(&g);
    }
    end_context(ctx);
}

static void test_options(void **state) {
    clv_context *ctx = new_context();
    clv_affinity_options o;
    (void)state;
    memset(&o, 0xff, sizeof o);
    clv_affinity_defaults(&o);
    assert_true(o.symmetrize == 0 && o.least == 0);
    assert_int_equal(clv_options_set(ctx, clv_affinity_table(), &o, "symmetrize", "true"), CLV_OK);
    assert_int_equal(o.symmetrize, 1);
    assert_null(clv_options_find(clv_affinity_table(), "least"));
    end_context(ctx);
}

/* --- memory --- */

static void test_bytes(void **state) {
    (void)state;
    for (int form = 0; form < FORMS; form++) {
        clv_context *ctx = new_context();
        given g = new_given(300, 0, false);
        clv_matrix matrix = as_form(&g, form);
        clv_affinity_options o = options_of(1, 0, 0);
        clv_affinity_info plan, info;
        clv_affinity *a;
        size_t now, peak;
        assert_int_equal(clv_affinity_plan(ctx, &matrix, &o, &plan), CLV_OK);
        assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
        clv_affinity_describe(a, &info);
        clv_context_memory(ctx, &now, &peak);
        assert_int_equal(info.bytes, now);
        assert_in_range(now, form == SPARSE ? plan.bytes / 2 : plan.bytes, plan.bytes + 4096);
        assert_in_range(peak, form == SPARSE ? plan.peak / 2 : plan.peak, plan.peak + 4096);
        clv_affinity_free(a);
        o.memory = (int64_t)plan.peak;
        assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_OK);
        clv_affinity_free(a);
        o.memory--;
        assert_int_equal(clv_affinity_build(ctx, &matrix, &o, &a), CLV_ENOMEM);
        assert_null(a);
        o.symmetrize = 0;
        assert_int_equal(clv_affinity_plan(ctx, &matrix, &o, &plan), CLV_OK);
        assert_int_equal(plan.bytes, 0);
        free_given(&g);
        end_context(ctx);
    }
}

static clv_status build_symmetrized(clv_context *ctx, void *user) {
    const clv_matrix *matrix = user;
    clv_affinity_options o = options_of(1, 0, 1);
    clv_affinity *a;
    clv_status status = clv_affinity_build(ctx, matrix, &o, &a);
    clv_affinity_free(a);
    return status;
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

static void test_failures(void **state) {
    given g = new_given(70, 0, false);
    clv_context *ctx = new_context();
    (void)state;
    clv_context_set_interrupt(ctx, stop_at_once, NULL);
    for (int form = 0; form < FORMS; form++) {
        clv_matrix matrix = as_form(&g, form);
        assert_true(check_every_failure(build_symmetrized, &matrix) > 2);
        assert_int_equal(build_symmetrized(ctx, &matrix), CLV_EINTERRUPTED);
    }
    free_given(&g);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators), cmocka_unit_test(test_refusals), cmocka_unit_test(test_first_place),
        cmocka_unit_test(test_options),   cmocka_unit_test(test_bytes),    cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
