/* Selection: the value of a rank, and the k largest of n.
 *
 * Quickselect with a three-way partition, so that ties cost nothing. The pivot is the value of the matching rank in a
 * sample (the idea of Floyd and Rivest 1975), which leaves about n + min(r, n - r) comparisons; when a partition leaves
 * more than three quarters, the next pivot is the median of medians of five (Blum et al. 1973), which bounds the worst
 * case. Cost O(n), in place. Of few among many, all threads first find those above a bar that a sample sets. */
#include "linalg/linalg.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

/* Values in an array of whatever type the caller gave as work space. */
typedef double value __attribute__((may_alias));

enum { SMALL = 24, SAMPLED = 1024 };
enum { MANY = 1 << 17, FEW = 8, STRIDE = 64, BLOCK = 1 << 13 }; /* n from which, and n / k */

static void swap(value *x, int64_t i, int64_t j) {
    double held = x[i];
    x[i] = x[j];
    x[j] = held;
}

static void sort_few(value *x, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        double held = x[i];
        int64_t j = i;
        for (; j > 0 && x[j - 1] > held; j--) {
            x[j] = x[j - 1];
        }
        x[j] = held;
    }
}

/* Values below the pivot to the front, those above to the back; [*low, *high) are the ones equal to it. */
static void partition(value *x, int64_t n, double pivot, int64_t *low, int64_t *high) {
    int64_t below = 0, at = 0, above = n;
    while (at < above) {
        if (x[at] < pivot) {
            swap(x, below++, at++);
        } else if (x[at] > pivot) {
            swap(x, at, --above);
        } else {
            at++;
        }
    }
    *low = below;
    *high = above;
}

static double select_rank(value *x, int64_t n, int64_t r, bool safe);

/* A value with about 3/10 of the values at least on either side. */
static double median_of_medians(value *x, int64_t n) {
    int64_t groups = n / 5;
    for (int64_t g = 0; g < groups; g++) {
        sort_few(x + 5 * g, 5);
        swap(x, g, 5 * g + 2);
    }
    return select_rank(x, groups, groups / 2, true);
}

/* A value of rank near r, from n / 32 or so values spread over the array. */
static double pivot_by_sample(value *x, int64_t n, int64_t r) {
    int64_t count = n >= SAMPLED ? n / 32 : 9;
    int64_t stride = n / count;
    for (int64_t s = 0; s < count; s++) {
        swap(x, s, s * stride);
    }
    return select_rank(x, count, (int64_t)((double)r / (double)n * (double)count), false);
}

static double select_rank(value *x, int64_t n, int64_t r, bool safe) {
    bool guard = safe;
    while (n > SMALL) {
        double pivot = guard ? median_of_medians(x, n) : pivot_by_sample(x, n, r);
        int64_t low, high, before = n;
        partition(x, n, pivot, &low, &high);
        if (r >= low && r < high) {
            return pivot;
        }
        if (r < low) {
            n = low;
        } else {
            x += high;
            r -= high;
            n -= high;
        }
        guard = safe || n > before / 4 * 3;
    }
    sort_few(x, n);
    return x[r];
}

double clv_nth_smallest(double *x, int64_t n, int64_t r) {
    return select_rank(x, n, r, false);
}

/* The k largest of x[0..n-1], of which entry i has index list[i], or i: their indices, in this order. */
static void take_largest(const double *x, int64_t n, int64_t k, const int64_t *list, value *copy, int64_t *out) {
    double threshold = -HUGE_VAL;
    int64_t ties = k, taken = 0;
    if (k < n) {
        memcpy(copy, x, (size_t)n * sizeof *x);
        threshold = select_rank(copy, n, n - k, false);
        for (int64_t i = 0; i < n; i++) {
            ties -= x[i] > threshold;
        }
    }
    for (int64_t i = 0; i < n && taken < k; i++) {
        bool tie = k < n && !(x[i] > threshold) && !(x[i] < threshold);
        if (k >= n || x[i] > threshold || (tie && ties-- > 0)) {
            out[taken++] = list ? list[i] : i;
        }
    }
}

/* Twice k values of x or so, the largest: their indices, ascending. Returns how many; 0: not so few, or too few. */
static int64_t find_candidates(const double *x, int64_t n, int64_t k, int64_t *work, int threads) {
    int64_t blocks = (n + BLOCK - 1) / BLOCK, *count = work + n - blocks, some = n / STRIDE, found = 0;
    value *sample = (value *)work;
    for (int64_t s = 0; s < some; s++) {
        sample[s] = x[s * STRIDE];
    }
    double bar = select_rank(sample, some, some - 1 - 2 * (k / STRIDE) - FEW, false);
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t above = 0, end = (b + 1) * BLOCK < n ? (b + 1) * BLOCK : n;
        for (int64_t i = b * BLOCK; i < end; i++) {
            above += x[i] > bar;
        }
        count[b] = above;
    }
    for (int64_t b = 0; b < blocks; b++) {
        int64_t here = count[b];
        count[b] = found;
        found += here;
    }
    if (found < k || found > n / 3) {
        return 0;
    }
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t at = count[b], end = (b + 1) * BLOCK < n ? (b + 1) * BLOCK : n;
        for (int64_t i = b * BLOCK; i < end; i++) {
            if (x[i] > bar) {
                work[at++] = i;
            }
        }
    }
    return found;
}

void clv_top_k(const double *x, int64_t n, int64_t k, int64_t *out, int64_t *work, int threads) {
    int64_t count = n >= MANY && k < n / FEW / 2 ? find_candidates(x, n, k, work, threads) : 0;
    if (count == 0) {
        take_largest(x, n, k, NULL, (value *)work, out);
        return;
    }
    value *values = (value *)(work + count);
    for (int64_t c = 0; c < count; c++) {
        values[c] = x[work[c]];
    }
    take_largest((const double *)values, count, k, work, values + count, out);
}

int clv_ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}
