/* Sorting in place: the qsort of the system may take as much memory again, which no budget counts, and goes on to its
 * end whatever is asked of it. Quicksort, by heaps where its parts do not get smaller: n log n comparisons at most. */
#include "base/base.h"

#include <string.h>

enum { FEW = 12, LONG = 1 << 12, WORK = 16 }; /* WORK: of an item that is passed, as clv_worked counts */

typedef struct sorting {
    clv_context *ctx;
    char *items;
    size_t size;
    clv_order compare;
} sorting;

static bool is_before(const sorting *s, int64_t a, int64_t b) {
    return s->compare(s->items + (size_t)a * s->size, s->items + (size_t)b * s->size) < 0;
}

static void swap(const sorting *s, int64_t a, int64_t b) {
    char held[64], *x = s->items + (size_t)a * s->size, *y = s->items + (size_t)b * s->size;
    for (size_t at = 0, some; at < s->size; at += some) {
        some = s->size - at < sizeof held ? s->size - at : sizeof held;
        memcpy(held, x + at, some);
        memcpy(x + at, y + at, some);
        memcpy(y + at, held, some);
    }
}

static void sort_few(const sorting *s, int64_t from, int64_t to) {
    for (int64_t i = from + 1; i < to; i++) {
        for (int64_t j = i; j > from && is_before(s, j, j - 1); j--) {
            swap(s, j, j - 1);
        }
    }
}

/* Item `at` of the heap of `count` items from `from` on sinks to its place. */
static void sink(const sorting *s, int64_t from, int64_t at, int64_t count) {
    while (2 * at + 1 < count) {
        int64_t child = 2 * at + 1;
        child += child + 1 < count && is_before(s, from + child, from + child + 1);
        if (!is_before(s, from + at, from + child)) {
            break;
        }
        swap(s, from + at, from + child);
        at = child;
    }
}

static bool sort_by_heap(const sorting *s, int64_t from, int64_t to) {
    int64_t count = to - from;
    bool goes_on = true;
    for (int64_t at = count / 2; at-- > 0 && goes_on;) {
        sink(s, from, at, count);
        goes_on = at % LONG > 0 || !clv_worked(s->ctx, LONG * WORK);
    }
    for (int64_t last = count - 1; last > 0 && goes_on; last--) {
        swap(s, from, from + last);
        sink(s, from, 0, last);
        goes_on = last % LONG > 0 || !clv_worked(s->ctx, LONG * WORK);
    }
    return goes_on;
}

/* Around the middle one of three: what is before it, the place where it belongs, and what is not before it. */
static int64_t divide(const sorting *s, int64_t from, int64_t to) {
    int64_t middle = from + (to - from) / 2, last = to - 1, i = from, j = to;
    if (is_before(s, middle, from)) {
        swap(s, middle, from);
    }
    if (is_before(s, last, middle)) {
        swap(s, last, middle);
        if (is_before(s, middle, from)) {
            swap(s, middle, from);
        }
    }
    swap(s, from, middle);
    for (;;) { /* equal items stop both, so that many of them are halved */
        do {
            i++;
        } while (i < last && is_before(s, i, from));
        do {
            j--;
        } while (is_before(s, from, j));
        if (i >= j) {
            break;
        }
        swap(s, i, j);
    }
    swap(s, from, j);
    return j;
}

static bool sort_range(const sorting *s, int64_t from, int64_t to, int depth) {
    while (to - from > FEW) {
        if (to - from >= LONG && clv_worked(s->ctx, (to - from) * WORK)) {
            return false;
        }
        if (depth-- == 0) {
            return sort_by_heap(s, from, to);
        }
        int64_t at = divide(s, from, to);
        bool left = at - from < to - at;
        if (!sort_range(s, left ? from : at + 1, left ? at : to, depth)) {
            return false;
        }
        from = left ? at + 1 : from;
        to = left ? to : at;
    }
    sort_few(s, from, to);
    return true;
}

bool clv_sort(clv_context *ctx, void *items, int64_t count, size_t size, clv_order compare) {
    sorting s = {ctx, items, size, compare};
    int depth = 2;
    for (int64_t left = count; left > 1; left /= 2) {
        depth += 2;
    }
    return sort_range(&s, 0, count, depth);
}
