/* A sparse matrix times a few vectors side by side: a cache line of x for every nonzero, one pass over M for all. */
#include "features/reduce.h"

enum { ROWS = 64 };

void clv_spmm(const clv_matrix *m, const double *x, double *y, int threads) {
    const double *values = m->values;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic, ROWS)
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t at = m->start[i];
        clv_kernels->sparse_times_row(values + at, m->index + at, m->start[i + 1] - at, x, y + i * CLV_SPMM_WIDTH);
    }
}
