/* Copies among the rows of points: counted, or estimated, wherever they are, and the same on any number of ranks. */
#include "ranks_support.h"

#include "methods/methods.h"

enum { N = 20000, P = 3, NUMBERS = 1 << 20 };

static double points[N * P];

/* Row i is the i % different-th of small whole numbers, or the i / times-th: copies far apart, or side by side. */
static void make_points(int64_t different, int64_t times) {
    for (int64_t i = 0; i < N; i++) {
        int64_t which = times > 0 ? i / times : i % different, sevens = which / 7;
        points[i * P] = (double)(which % 7);
        points[i * P + 1] = which % 2 && i % 3 ? -0.0 : 0.0;
        points[i * P + 2] = (double)(sevens * 2 + which % 2);
    }
}

typedef struct count {
    int64_t rows, most;
    clv_copies found;
    clv_status status;
} count;

static void count_here(clv_context *ctx, int rank, void *user) {
    count *c = user;
    const clv_matrix x = {.rows = c->rows, .cols = P, .values = points};
    (void)rank;
    c->status = clv_count_copies(ctx, &x, c->most, &c->found);
}

static clv_copies count_on_ranks(int64_t rows, int64_t most) {
    clv_copies first = {0};
    for (int ranks = 1; ranks <= 3; ranks++) {
        count counts[3];
        for (int q = 0; q < 3; q++) {
            counts[q] = (count){.rows = rows, .most = most};
        }
        run_all(ranks, count_here, counts, sizeof *counts);
        first = ranks == 1 ? counts[0].found : first;
        for (int q = 0; q < ranks; q++) {
            assert_int_equal(counts[q].status, CLV_OK);
            assert_int_equal(counts[q].found.copies, first.copies);
            assert_int_equal(counts[q].found.looked, first.looked);
            assert_int_equal(counts[q].found.exact, first.exact);
        }
    }
    return first;
}

static void few_different_rows_are_counted(void **unused) {
    (void)unused;
    const int64_t different[] = {1, 2, 1000, 4095, 4096};
    for (size_t d = 0; d < CLV_COUNT(different); d++) {
        make_points(different[d], 0);
        clv_copies found = count_on_ranks(N, NUMBERS);
        assert_true(found.exact && found.looked == N);
        assert_int_equal(found.copies, N - different[d]);
    }
    make_points(0, 2);
    assert_int_equal(count_on_ranks(8192, NUMBERS).copies, 4096);
    assert_int_equal(count_on_ranks(1, NUMBERS).copies, 0);
}

static void many_are_estimated(void **unused) {
    (void)unused;
    const int64_t different[] = {N, 4097, N / 2, 3 * N / 4};
    for (size_t d = 0; d < CLV_COUNT(different); d++) {
        make_points(different[d], 0);
        clv_copies found = count_on_ranks(N, NUMBERS);
        assert_true(!found.exact && found.copies >= 0);
        assert_in_range(found.copies + N / 20, N - different[d], N - different[d] + N / 10);
    }
    make_points(0, 2);
    assert_in_range(count_on_ranks(N, NUMBERS).copies, N / 2 - N / 20, N / 2 + N / 20);
}

/* Where there is no time for all: neighbors are looked at together. */
static void some_are_looked_at(void **unused) {
    (void)unused;
    make_points(0, 2);
    clv_copies found = count_on_ranks(N, (int64_t)640 * P);
    assert_int_equal(found.looked, 640);
    assert_int_equal(found.copies, 320);
    assert_int_equal(count_on_ranks(N, 1).looked, 64);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_different_rows_are_counted),
        cmocka_unit_test(many_are_estimated),
        cmocka_unit_test(some_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
