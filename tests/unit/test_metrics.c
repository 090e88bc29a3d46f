/* Agreement of two labelings, against the definitions: pairs counted one by one, entropies from raw counts, all
 * matchings tried. */
#include "metrics/metrics.h"

#include "failing.h"

#include <math.h>

enum { MOST = 60 };

/* --- definitions --- */

typedef struct labelings {
    int32_t truth[MOST], labels[MOST];
    int64_t n;
} labelings;

static bool is_compared(const labelings *l, int64_t i) {
    return l->truth[i] >= 0 && l->labels[i] >= 0;
}

/* Adjusted Rand index from the four kinds of pairs of objects. */
static double ari_by_pairs(const labelings *l) {
    double both = 0, class_only = 0, cluster_only = 0, neither = 0;
    for (int64_t i = 0; i < l->n; i++) {
        for (int64_t j = 0; j < i; j++) {
            bool same_class = l->truth[i] == l->truth[j], same_cluster = l->labels[i] == l->labels[j];
            if (is_compared(l, i) && is_compared(l, j)) {
                both += same_class && same_cluster;
                class_only += same_class && !same_cluster;
                cluster_only += !same_class && same_cluster;
                neither += !same_class && !same_cluster;
            }
        }
    }
    double below = (both + class_only) * (class_only + neither) + (both + cluster_only) * (cluster_only + neither);
    return below > 0 ? 2 * (both * neither - class_only * cluster_only) / below : 1.0;
}

/* Sum over compared objects of -log(share of objects with the same class and/or cluster) / compared. */
static double entropy_by_objects(const labelings *l, bool by_class, bool by_cluster) {
    double total = 0, compared = 0;
    for (int64_t i = 0; i < l->n; i++) {
        compared += is_compared(l, i);
    }
    for (int64_t i = 0; i < l->n; i++) {
        double alike = 0;
        for (int64_t j = 0; j < l->n; j++) {
            alike += is_compared(l, j) && (!by_class || l->truth[i] == l->truth[j]) &&
                     (!by_cluster || l->labels[i] == l->labels[j]);
        }
        total -= is_compared(l, i) ? log(alike / compared) / compared : 0;
    }
    return total;
}

static int64_t shared(const labelings *l, int32_t class, int32_t cluster) {
    int64_t count = 0;
    for (int64_t i = 0; i < l->n; i++) {
        count += l->truth[i] == class && l->labels[i] == cluster;
    }
    return count;
}

/* The different values of the compared objects; returns how many there are. */
static int64_t distinct(const labelings *l, const int32_t *values, int32_t *out) {
    int64_t count = 0;
    for (int64_t i = 0; i < l->n; i++) {
        bool is_new = is_compared(l, i);
        for (int64_t d = 0; d < count; d++) {
            is_new = is_new && out[d] != values[i];
        }
        if (is_new) {
            out[count++] = values[i];
        }
    }
    return count;
}

/* The most objects that a one-to-one matching of the classes from `at` on covers, by trying all. */
static int64_t cover_by_trying(const labelings *l, const int32_t *classes, int64_t at, int64_t class_count,
                               const int32_t *clusters, int64_t cluster_count, uint64_t used) {
    if (at == class_count) {
        return 0;
    }
    int64_t best = cover_by_trying(l, classes, at + 1, class_count, clusters, cluster_count, used);
    for (int64_t j = 0; j < cluster_count; j++) {
        int64_t here = shared(l, classes[at], clusters[j]);
        if (!(used >> j & 1) && here > 0) {
            int64_t rest =
                cover_by_trying(l, classes, at + 1, class_count, clusters, cluster_count, used | (uint64_t)1 << j);
            best = here + rest > best ? here + rest : best;
        }
    }
    return best;
}

static double purity_by_counting(const labelings *l, const int32_t *classes, int64_t class_count,
                                 const int32_t *clusters, int64_t cluster_count, double compared) {
    int64_t covered = 0;
    for (int64_t j = 0; j < cluster_count; j++) {
        int64_t most = 0;
        for (int64_t i = 0; i < class_count; i++) {
            int64_t here = shared(l, classes[i], clusters[j]);
            most = here > most ? here : most;
        }
        covered += most;
    }
    return (double)covered / compared;
}

static void assert_near(double value, double expected) {
    assert_true(fabs(value - expected) < 1e-12);
}

/* Every score of clv_compare against its definition. */
static void check(const labelings *l) {
    clv_context *ctx = new_context();
    clv_scores s;
    int32_t classes[MOST], clusters[MOST];
    assert_int_equal(clv_compare(ctx, l->truth, l->labels, l->n, &s), CLV_OK);
    int64_t class_count = distinct(l, l->truth, classes), cluster_count = distinct(l, l->labels, clusters);
    double compared = 0, assigned = 0;
    for (int64_t i = 0; i < l->n; i++) {
        compared += is_compared(l, i);
        assigned += l->labels[i] >= 0;
    }
    double of_class = entropy_by_objects(l, true, false), of_cluster = entropy_by_objects(l, false, true);
    double joint = entropy_by_objects(l, true, true), mutual = of_class + of_cluster - joint;
    double homogeneity = class_count > 1 ? mutual / of_class : 1,
           completeness = cluster_count > 1 ? mutual / of_cluster : 1;
    assert_near(s.ari, ari_by_pairs(l));
    assert_near(s.vi, 2 * joint - of_class - of_cluster);
    assert_near(s.homogeneity, homogeneity);
    assert_near(s.completeness, completeness);
    assert_near(s.nmi, class_count == 1 && cluster_count == 1 ? 1 : 2 * mutual / (of_class + of_cluster));
    double larger = fmax(of_class, of_cluster);
    assert_near(s.nmi_max, class_count == 1 && cluster_count == 1 ? 1 : mutual / larger);
    double sum = homogeneity + completeness;
    assert_true(fabs(s.v_measure - (sum > 0 ? 2 * homogeneity * completeness / sum : 0)) < 1e-7);
    int64_t covered = cover_by_trying(l, classes, 0, class_count, clusters, cluster_count, 0);
    assert_near(s.accuracy, (double)covered / compared);
    assert_near(s.purity, purity_by_counting(l, classes, class_count, clusters, cluster_count, compared));
    assert_near(s.assignment_rate, assigned / (double)l->n);
    assert_true(s.n == l->n && (double)s.compared == compared);
    assert_true(s.classes == class_count && s.clusters == cluster_count);
    end_context(ctx);
}

/* --- tests --- */

static int32_t draw_label(clv_rng *rng, int64_t kinds, int64_t gap, bool with_left_out) {
    if (with_left_out && clv_rng_below(rng, 5) == 0) {
        return -1;
    }
    return (int32_t)(gap * clv_rng_below(rng, kinds));
}

static void random_labelings(void **state) {
    clv_rng rng = clv_rng_stream(10, 0);
    (void)state;
    for (int round = 0; round < 300; round++) {
        labelings l = {.n = 2 + clv_rng_below(&rng, MOST - 2)};
        int64_t classes = 1 + clv_rng_below(&rng, 5), clusters = 1 + clv_rng_below(&rng, 5);
        int64_t gap = round % 3 == 0 ? 1 : round % 3 == 1 ? 7 : 400000000;
        for (int64_t i = 0; i < l.n; i++) {
            l.truth[i] = draw_label(&rng, classes, gap, round % 2);
            l.labels[i] = clv_rng_below(&rng, 3) > 0 ? l.truth[i] : draw_label(&rng, clusters, gap, round % 2);
        }
        l.truth[0] = l.labels[0] = 0; /* one object at least is compared */
        check(&l);
    }
}

static void trivial_labelings(void **state) {
    labelings l = {.n = 7};
    (void)state;
    check(&l); /* one cluster each */
    for (int32_t i = 0; i < 7; i++) {
        l.labels[i] = 6 - i;
    }
    check(&l); /* one class, all singletons */
    for (int32_t i = 0; i < 7; i++) {
        l.truth[i] = 3 * i;
    }
    check(&l); /* singletons each */
    memset(l.labels, 0, sizeof l.labels);
    check(&l);
    l.n = 1;
    check(&l);
}

/* Values that a reader can work out: the truth itself, renamed; a refinement; independence. */
static void known_values(void **state) {
    clv_context *ctx = new_context();
    const int32_t truth[] = {0, 0, 0, 0, 1, 1, 1, 1};
    const int32_t renamed[] = {9, 9, 9, 9, 2, 2, 2, 2};
    const int32_t refined[] = {0, 0, 1, 1, 2, 2, 3, 3};
    const int32_t independent[] = {0, 0, 1, 1, 0, 0, 1, 1};
    clv_scores s;
    (void)state;
    assert_int_equal(clv_compare(ctx, truth, renamed, 8, &s), CLV_OK);
    assert_true(s.ari == 1 && s.nmi == 1 && s.homogeneity == 1 && s.completeness == 1 && s.v_measure == 1);
    assert_true(s.accuracy == 1 && s.purity == 1 && s.vi == 0);
    assert_int_equal(clv_compare(ctx, truth, refined, 8, &s), CLV_OK);
    assert_true(s.homogeneity == 1 && s.purity == 1 && s.accuracy == 0.5);
    assert_near(s.completeness, 0.5);
    assert_near(s.vi, log(2));
    assert_int_equal(clv_compare(ctx, truth, independent, 8, &s), CLV_OK);
    assert_near(s.nmi, 0);
    assert_near(s.vi, 2 * log(2));
    assert_true(s.accuracy == 0.5 && s.purity == 0.5 && s.ari < 0);
    end_context(ctx);
}

static void nothing_to_compare(void **state) {
    clv_context *ctx = new_context();
    const int32_t truth[] = {-1, -1, 3}, labels[] = {0, 4, -1}, bad[] = {0, -2, 0}, none[] = {-1, -1, -1};
    clv_scores s;
    (void)state;
    assert_int_equal(clv_compare(ctx, truth, labels, 3, &s), CLV_OK);
    assert_true(isnan(s.ari) && isnan(s.nmi) && isnan(s.nmi_max) && isnan(s.homogeneity) && isnan(s.completeness) &&
                isnan(s.v_measure));
    assert_true(isnan(s.accuracy) && isnan(s.vi) && isnan(s.purity));
    assert_near(s.assignment_rate, 2.0 / 3);
    assert_true(s.n == 3 && s.compared == 0 && s.classes == 0 && s.clusters == 0);
    assert_int_equal(clv_compare(ctx, truth, none, 3, &s), CLV_OK);
    assert_true(s.assignment_rate == 0);
    assert_int_equal(clv_compare(ctx, truth, labels, 0, &s), CLV_EDATA);
    assert_int_equal(clv_compare(ctx, truth, bad, 3, &s), CLV_EDATA);
    assert_string_equal(clv_message(ctx), "number 2 of the labels is -2: it must be 0 or more, or -1 for left out");
    assert_int_equal(clv_compare(ctx, bad, labels, 3, &s), CLV_EDATA);
    assert_non_null(strstr(clv_message(ctx), "true labels"));
    end_context(ctx);
}

/* A million objects: counts of pairs beyond 2^53, and singletons without a table of n^2. */
static void large_labelings(void **state) {
    enum { N = 1000000 };
    clv_context *ctx = new_context();
    int32_t *truth = malloc(N * sizeof *truth), *labels = malloc(N * sizeof *labels);
    clv_scores s;
    (void)state;
    for (int32_t i = 0; i < N; i++) {
        truth[i] = i;
        labels[i] = N - 1 - i;
    }
    assert_int_equal(clv_compare(ctx, truth, labels, N, &s), CLV_OK);
    assert_true(s.ari == 1 && s.nmi == 1 && s.accuracy == 1 && s.vi == 0 && s.clusters == N);
    size_t now, peak;
    clv_context_memory(ctx, &now, &peak);
    assert_true(peak < (size_t)N * 200);
    for (int32_t i = 0; i < N; i++) {
        truth[i] = i < N / 2;
        labels[i] = i < N / 2 + 1; /* one object astray */
    }
    assert_int_equal(clv_compare(ctx, truth, labels, N, &s), CLV_OK);
    assert_true(s.accuracy == (N - 1.0) / N && s.ari < 1 && s.ari > 1 - 5.0 / N);
    free(truth);
    free(labels);
    end_context(ctx);
}

/* The matching by cells against the one by the whole table, on tables that are sparse, dense, tall and wide. */
static void both_matchings_agree(void **state) {
    enum { N = 3000 };
    static int32_t truth[N], labels[N];
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(11, 0);
    (void)state;
    for (int round = 0; round < 150; round++) {
        int64_t n = 1 + clv_rng_below(&rng, N), classes = 1 + clv_rng_below(&rng, 120);
        int64_t clusters = 1 + clv_rng_below(&rng, 120), dense = -1, sparse = -2;
        for (int64_t i = 0; i < n; i++) {
            truth[i] = (int32_t)clv_rng_below(&rng, classes);
            bool kept = round % 2 && clv_rng_below(&rng, 2);
            labels[i] = (int32_t)(kept ? truth[i] % clusters : clv_rng_below(&rng, clusters));
        }
        clv_contingency table;
        assert_int_equal(clv_contingency_new(ctx, truth, labels, n, &table), CLV_OK);
        assert_int_equal(clv_match_dense(&table, &dense), CLV_OK);
        assert_int_equal(clv_match_sparse(&table, &sparse), CLV_OK);
        assert_int_equal(dense, sparse);
        clv_contingency_free(&table);
    }
    end_context(ctx);
}

/* A table of 3000 x 3000, matched by cells: blocks that each hold their best on the diagonal. */
static void many_labels(void **state) {
    enum { LABELS = 3000, N = 5 * LABELS };
    static int32_t truth[N], labels[N];
    clv_context *ctx = new_context();
    clv_scores s;
    (void)state;
    for (int32_t i = 0; i < N; i++) { /* class c: three objects in cluster c, two in the next: one long cycle */
        truth[i] = i / 5;
        labels[i] = (i / 5 + (i % 5 >= 3)) % LABELS;
    }
    assert_int_equal(clv_compare(ctx, truth, labels, N, &s), CLV_OK);
    assert_near(s.accuracy, 0.6);
    assert_near(s.purity, 0.6);
    end_context(ctx);
}

static int say_stop(void *user) {
    (void)user;
    return 1;
}

static clv_status compare_some(clv_context *ctx, void *user) {
    const int32_t truth[] = {0, 0, 1, 1, 2, 2}, labels[] = {0, 1, 1, 1, -1, 2};
    clv_scores s;
    (void)user;
    return clv_compare(ctx, truth, labels, 6, &s);
}

static clv_status match_by_cells(clv_context *ctx, void *user) {
    const int32_t truth[] = {0, 0, 1, 1, 2, 2}, labels[] = {0, 1, 1, 1, -1, 2};
    int64_t covered;
    clv_contingency table;
    (void)user;
    CLV_TRY(clv_contingency_new(ctx, truth, labels, 6, &table));
    clv_status status = clv_match_sparse(&table, &covered);
    clv_contingency_free(&table);
    return status;
}

static void failures_leave_nothing(void **state) {
    clv_context *ctx = new_context();
    (void)state;
    assert_true(check_every_failure(compare_some, NULL) > 10);
    assert_true(check_every_failure(match_by_cells, NULL) > 10);
    clv_context_set_interrupt(ctx, say_stop, NULL);
    assert_int_equal(compare_some(ctx, NULL), CLV_OK); /* a small table */
    assert_int_equal(match_by_cells(ctx, NULL), CLV_EINTERRUPTED);
    end_context(ctx);
}

static void keys_are_sorted(void **state) {
    uint64_t keys[500], buffer[500];
    clv_rng rng = clv_rng_stream(12, 0);
    (void)state;
    for (int64_t n = 0; n <= 500; n += 50) {
        uint64_t mixed = 0, after = 0;
        for (int64_t i = 0; i < n; i++) {
            keys[i] = clv_rng_next(&rng) >> clv_rng_below(&rng, 64);
            mixed += keys[i] * keys[i];
        }
        clv_sort_keys(keys, buffer, n, 0);
        for (int64_t i = 0; i < n; i++) {
            assert_true(i == 0 || keys[i] >= keys[i - 1]);
            after += keys[i] * keys[i];
        }
        assert_true(mixed == after);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_labelings), cmocka_unit_test(trivial_labelings),
        cmocka_unit_test(known_values),     cmocka_unit_test(nothing_to_compare),
        cmocka_unit_test(large_labelings),  cmocka_unit_test(both_matchings_agree),
        cmocka_unit_test(many_labels),      cmocka_unit_test(failures_leave_nothing),
        cmocka_unit_test(keys_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
