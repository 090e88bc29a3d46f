/* Sorting in place, against qsort: any order of items, any size of them, no memory, and an end when that is asked for.
 */
#include "base/base.h"

#include "failing.h"

enum { MOST = 40000 };

typedef struct wide {
    int64_t key;
    char rest[83]; /* of no size that is copied at once */
} wide;

static int64_t compared;

static int by_key(const void *l, const void *r) {
    int64_t a = *(const int64_t *)l, b = *(const int64_t *)r;
    compared++;
    return (a > b) - (a < b);
}

/* The key of item i of n: rising, falling, equal, few different ones, up and down, at random. */
static int64_t key_of(int pattern, int64_t i, int64_t n, clv_rng *rng) {
    const int64_t keys[] = {
        i,      n - i,      7, i % 3, i < n / 2 ? i : n - i, i % 2 ? i : -i, (int64_t)clv_rng_below(rng, n + 1),
        i ^ 21, i * i % 101};
    return keys[pattern];
}
enum { PATTERNS = 9 };

static void sorts_like_qsort(void **state) {
    static const int64_t counts[] = {0, 1, 2, 3, 12, 13, 14, 50, 1000, 4097, MOST};
    failing f = {0};
    clv_allocator allocator = {failing_allocate, failing_release, &f};
    clv_context *ctx;
    (void)state;
    assert_int_equal(clv_context_new(&allocator, &ctx), CLV_OK);
    int64_t calls = f.calls, *items = malloc(MOST * sizeof *items), *known = malloc(MOST * sizeof *known);
    wide *rows = malloc(MOST * sizeof *rows);
    clv_rng rng = clv_rng_stream(3, 0);
    for (size_t c = 0; c < CLV_COUNT(counts) * PATTERNS; c++) {
        int64_t n = counts[c / PATTERNS];
        for (int64_t i = 0; i < n; i++) {
            items[i] = known[i] = rows[i].key = key_of((int)(c % PATTERNS), i, n, &rng);
            memset(rows[i].rest, (int)(rows[i].key & 0x7f), sizeof rows[i].rest);
        }
        qsort(known, (size_t)n, sizeof *known, by_key);
        compared = 0;
        assert_true(clv_sort(ctx, items, n, sizeof *items, by_key));
        assert_true(compared <= 60 * n); /* some times n log n: no order takes n^2 */
        assert_true(clv_sort(ctx, rows, n, sizeof *rows, by_key));
        for (int64_t i = 0; i < n; i++) {
            assert_true(items[i] == known[i] && rows[i].key == known[i] && rows[i].rest[82] == (known[i] & 0x7f));
        }
    }
    assert_int_equal(f.calls, calls); /* nothing was allocated */
    free(items);
    free(known);
    free(rows);
    clv_context_free(ctx);
}

/* An order made for quicksort to fail at: keys are decided as they are compared, the pivot's as late as possible
 * (McIlroy, A killer adversary for quicksort, 1999). */
static int64_t *value, solid, candidate, gas;

static int adversary(const void *l, const void *r) {
    int64_t x = *(const int64_t *)l, y = *(const int64_t *)r;
    compared++;
    if (value[x] == gas && value[y] == gas) {
        value[x == candidate ? x : y] = solid++;
    }
    candidate = value[x] == gas ? x : value[y] == gas ? y : candidate;
    return (value[x] > value[y]) - (value[x] < value[y]);
}

static void no_order_is_too_hard(void **state) {
    clv_context *ctx;
    (void)state;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    int64_t *items = malloc(MOST * sizeof *items);
    value = malloc(MOST * sizeof *value);
    compared = solid = candidate = 0;
    gas = MOST;
    for (int64_t i = 0; i < MOST; i++) {
        items[i] = i;
        value[i] = gas;
    }
    assert_true(clv_sort(ctx, items, MOST, sizeof *items, adversary));
    assert_true(compared < 100 * MOST);
    for (int64_t i = 1; i < MOST; i++) {
        assert_true(value[items[i - 1]] <= value[items[i]]);
    }
    free(items);
    free(value);
    clv_context_free(ctx);
}

static void ends_when_asked(void **state) {
    clv_context *ctx;
    int asked = 1;
    (void)state;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    clv_context_set_interrupt(ctx, clv_interrupt_by_flag, &asked);
    int64_t *items = malloc(MOST * sizeof *items);
    for (int64_t i = 0; i < MOST; i++) {
        items[i] = -i;
    }
    compared = 0;
    assert_false(clv_sort(ctx, items, MOST, sizeof *items, by_key));
    assert_true(compared < MOST);
    free(items);
    clv_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_like_qsort),
        cmocka_unit_test(no_order_is_too_hard),
        cmocka_unit_test(ends_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
