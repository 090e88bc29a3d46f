/* Sums and inner products whose bits do not depend on the number of threads.
 *
 * Floating-point addition is not associative, so the order of additions is fixed by the length alone: blocks of BLOCK
 * entries, each added up by a kernel, the block sums combined as a balanced tree. Threads share out the blocks. The
 * error grows with log n instead of n, and nothing is allocated:
 * block sums live on the stack, BATCH at a time. Cost: one pass over the data. */
#include "kernels/kernels.h"
#include "linalg/linalg.h"

enum { BLOCK = 4096, BATCH = 512, LEVELS = 64 };

static double reduce_block(const double *x, const double *y, int64_t n) {
    return y ? clv_kernels->dot(x, y, n) : clv_kernels->sum(x, n);
}

/* The sum of up to BATCH blocks: block sums in parallel, added as a balanced tree. */
static double reduce_batch(const double *x, const double *y, int64_t n, int threads) {
    double sums[BATCH];
    int64_t blocks = (n + BLOCK - 1) / BLOCK;
    if (blocks == 1) { /* not worth a team, even of one thread */
        return reduce_block(x, y, n);
    }
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static) if (blocks > 4 && threads > 1)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t first = b * BLOCK, left = n - first;
        sums[b] = reduce_block(x + first, y ? y + first : NULL, left < BLOCK ? left : BLOCK);
    }
    for (int64_t step = 1; step < blocks; step *= 2) {
        for (int64_t b = 0; b + step < blocks; b += 2 * step) {
            sums[b] += sums[b + step];
        }
    }
    return sums[0];
}

/* Batches are combined like a binary counter: level l holds the sum of 2^l batches, and two of a level make one of the
 * next. `y` NULL: the plain sum of x. */
static double reduce(const double *x, const double *y, int64_t n, int threads) {
    const int64_t batch = (int64_t)BLOCK * BATCH;
    double level[LEVELS];
    uint64_t batches = 0;
    for (int64_t first = 0; first < n; first += batch, batches++) {
        int64_t left = n - first;
        double sum = reduce_batch(x + first, y ? y + first : NULL, left < batch ? left : batch, threads);
        int l = 0;
        for (; (batches >> l) & 1; l++) {
            sum += level[l];
        }
        level[l] = sum;
    }
    double total = 0;
    for (int l = 0; l < LEVELS; l++) {
        if ((batches >> l) & 1) {
            total += level[l];
        }
    }
    return total;
}

double clv_sum(const double *x, int64_t n, int threads) {
    return reduce(x, NULL, n, threads);
}

double clv_dot(const double *x, const double *y, int64_t n, int threads) {
    return reduce(x, y, n, threads);
}
