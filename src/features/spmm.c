/* A sparse matrix times a few vectors side by side: a cache line of x for every nonzero, one pass over M for all. */
#include "features/reduce.h"

enum { WIDTH = CLV_SPMM_WIDTH, ROWS = 64 };

CLV_KERNEL
static void multiply_rows(const clv_matrix *m, int64_t first, int64_t last, const double *restrict x,
                          double *restrict y) {
    const double *values = m->values;
    for (int64_t i = first; i < last; i++) {
        double sums[WIDTH] = {0};
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            const double *from = x + (int64_t)m->index[e] * WIDTH;
#pragma omp simd
            for (int c = 0; c < WIDTH; c++) {
                sums[c] += values[e] * from[c];
            }
        }
        for (int c = 0; c < WIDTH; c++) {
            y[i * WIDTH + c] = sums[c];
        }
    }
}

void clv_spmm(const clv_matrix *m, const double *x, double *y, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t first = 0; first < m->rows; first += ROWS) {
        multiply_rows(m, first, first + ROWS < m->rows ? first + ROWS : m->rows, x, y);
    }
}
