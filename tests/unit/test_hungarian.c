/* Assignment: against all permutations for small tables, and by certificate for larger ones: the cheapest exchange of
 * tasks among agents is found by Floyd-Warshall, and a matching is optimal when no cycle of exchanges gains. */
#include "linalg/linalg.h"

#include "failing.h"

#include <math.h>

static double total_weight(const double *weight, int64_t rows, int64_t cols, const int64_t *match) {
    double total = 0;
    int64_t matched = 0;
    unsigned char *used = calloc((size_t)cols + 1, 1);
    for (int64_t i = 0; i < rows; i++) {
        assert_true(match[i] >= -1 && match[i] < cols);
        if (match[i] >= 0) {
            assert_false(used[match[i]]);
            used[match[i]] = 1;
            total += weight[i * cols + match[i]];
            matched++;
        }
    }
    free(used);
    assert_int_equal(matched, rows < cols ? rows : cols);
    return total;
}

/* The best total over all matchings that use every line of the shorter side, by trying them. */
static double best_by_trying(const double *weight, int64_t rows, int64_t cols, int64_t row, unsigned used) {
    double best = -HUGE_VAL;
    int64_t free_cols = cols - __builtin_popcount(used);
    if (row == rows) {
        return 0;
    }
    for (int64_t j = 0; j < cols; j++) {
        if (!(used >> j & 1)) {
            double rest = best_by_trying(weight, rows, cols, row + 1, used | 1u << j);
            best = fmax(best, weight[row * cols + j] + rest);
        }
    }
    if (rows - row > free_cols) { /* a row can be left over */
        best = fmax(best, best_by_trying(weight, rows, cols, row + 1, used));
    }
    return best;
}

static double draw(clv_rng *rng, int kind) {
    switch (kind) {
    case 0:
        return clv_rng_normal(rng);
    case 1:
        return (double)clv_rng_below(rng, 3);
    case 2:
        return 1.0;
    default:
        return (double)clv_rng_below(rng, 1000) - 2000;
    }
}

static void small_tables_match_all_permutations(void **state) {
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(3, 0);
    (void)state;
    for (int64_t rows = 1; rows <= 6; rows++) {
        for (int64_t cols = 1; cols <= 6; cols++) {
            for (int kind = 0; kind < 12; kind++) {
                double weight[36];
                int64_t match[6];
                for (int64_t e = 0; e < rows * cols; e++) {
                    weight[e] = draw(&rng, kind % 4);
                }
                assert_int_equal(clv_assign(ctx, weight, rows, cols, match), CLV_OK);
                double best = best_by_trying(weight, rows, cols, 0, 0);
                assert_true(fabs(total_weight(weight, rows, cols, match) - best) < 1e-12 * (1 + fabs(best)));
            }
        }
    }
    end_context(ctx);
}

/* Exchange graph on the n = max(rows, cols) lines of the table padded with zeros: agent i taking the task of agent j
 * costs its own weight less the new one. No cycle of negative length: optimal. */
static void check_no_gain(const double *weight, int64_t rows, int64_t cols, const int64_t *match) {
    int64_t n = rows > cols ? rows : cols, next_free = 0;
    double *cost = malloc((size_t)(n * n) * sizeof *cost);
    int64_t *task = malloc((size_t)n * sizeof *task);
    unsigned char *used = calloc((size_t)n, 1);
    for (int64_t i = 0; i < rows; i++) {
        if (match[i] >= 0) {
            used[match[i]] = 1;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        task[i] = i < rows && match[i] >= 0 ? match[i] : -1;
        for (; task[i] < 0; next_free++) {
            task[i] = used[next_free] ? -1 : next_free;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double now = i < rows && task[i] < cols ? weight[i * cols + task[i]] : 0;
            double then = i < rows && task[j] < cols ? weight[i * cols + task[j]] : 0;
            cost[i * n + j] = now - then;
        }
    }
    for (int64_t m = 0; m < n; m++) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                cost[i * n + j] = fmin(cost[i * n + j], cost[i * n + m] + cost[m * n + j]);
            }
        }
    }
    for (int64_t i = 0; i < n; i++) {
        assert_true(cost[i * n + i] > -1e-9);
    }
    free(cost);
    free(task);
    free(used);
}

static void larger_tables_allow_no_exchange(void **state) {
    static const int64_t shapes[][2] = {{60, 60}, {40, 90}, {90, 40}, {1, 50}, {50, 1}};
    clv_context *ctx = new_context();
    clv_rng rng = clv_rng_stream(4, 0);
    (void)state;
    for (size_t s = 0; s < 5; s++) {
        int64_t rows = shapes[s][0], cols = shapes[s][1];
        double *weight = malloc((size_t)(rows * cols) * sizeof *weight);
        int64_t *match = malloc((size_t)rows * sizeof *match);
        for (int kind = 0; kind < 2; kind++) {
            for (int64_t e = 0; e < rows * cols; e++) {
                weight[e] = draw(&rng, kind);
            }
            assert_int_equal(clv_assign(ctx, weight, rows, cols, match), CLV_OK);
            total_weight(weight, rows, cols, match);
            check_no_gain(weight, rows, cols, match);
        }
        free(weight);
        free(match);
    }
    end_context(ctx);
}

static void empty_tables(void **state) {
    clv_context *ctx = new_context();
    int64_t match[3] = {7, 7, 7};
    (void)state;
    assert_int_equal(clv_assign(ctx, NULL, 0, 4, match), CLV_OK);
    assert_int_equal(match[0], 7);
    assert_int_equal(clv_assign(ctx, NULL, 3, 0, match), CLV_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(match[i], -1);
    }
    end_context(ctx);
}

static int say_stop(void *user) {
    (void)user;
    return 1;
}

static clv_status assign_two(clv_context *ctx, void *user) {
    double weight[] = {1, 2, 3, 5};
    int64_t match[2];
    (void)user;
    return clv_assign(ctx, weight, 2, 2, match);
}

static clv_status assign_many(clv_context *ctx) {
    enum { MANY = 500 };
    static double weight[MANY * MANY];
    int64_t match[MANY];
    return clv_assign(ctx, weight, MANY, MANY, match);
}

static void failures_leave_nothing(void **state) {
    clv_context *ctx = new_context();
    (void)state;
    assert_true(check_every_failure(assign_two, NULL) > 0);
    /* What takes a moment is done, what takes long is not. */
    clv_context_set_interrupt(ctx, say_stop, NULL);
    assert_int_equal(assign_two(ctx, NULL), CLV_OK);
    assert_int_equal(assign_many(ctx), CLV_EINTERRUPTED);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_tables_match_all_permutations),
        cmocka_unit_test(larger_tables_allow_no_exchange),
        cmocka_unit_test(empty_tables),
        cmocka_unit_test(failures_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
