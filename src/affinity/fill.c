/* A home written out as n x n numbers. From points, only the tiles on and above the diagonal are computed; the others
 * are their mirror images. */
#include "affinity/affinity.h"

#include "linalg/kernels.h"

#include <omp.h>
#include <string.h>

typedef struct sheet {
    void *values;
    clv_scalar scalar;
    int64_t n;
} sheet;

/* Row i of the sheet from column j on = line[0..count-1]. */
static void write_line(const sheet *s, int64_t i, int64_t j, const double *line, int64_t count) {
    if (s->scalar == CLV_F32) {
        clv_narrow((float *)s->values + i * s->n + j, line, count);
    } else {
        memcpy((double *)s->values + i * s->n + j, line, (size_t)count * sizeof *line);
    }
}

static void write_tile(const sheet *s, int64_t bi, int64_t bj, const double *tile, int64_t rows, int64_t cols) {
    double line[CLV_TILE];
    for (int64_t r = 0; r < rows; r++) {
        write_line(s, bi * CLV_TILE + r, bj * CLV_TILE, tile + r * CLV_TILE, cols);
    }
    for (int64_t c = 0; c < cols && bi != bj; c++) {
        for (int64_t r = 0; r < rows; r++) {
            line[r] = tile[r * CLV_TILE + c];
        }
        write_line(s, bj * CLV_TILE + c, bi * CLV_TILE, line, rows);
    }
}

static clv_status fill_by_tiles(const clv_affinity *source, const sheet *s, int threads) {
    const clv_panels *panels = &((const clv_computed_home *)source->state)->panels;
    int stopped = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t bi = 0; bi < panels->count; bi++) {
        _Alignas(64) double tile[CLV_TILE * CLV_TILE];
        int stop;
#pragma omp atomic read
        stop = stopped;
        for (int64_t bj = bi; bj < panels->count && !stop; bj++) {
            clv_similarity_tile(source, bi, bj, tile);
            write_tile(s, bi, bj, tile, clv_panel_size(panels, bi), clv_panel_size(panels, bj));
        }
        if (!stop && clv_interrupted(source->ctx)) {
#pragma omp atomic write
            stopped = 1;
        }
    }
    return stopped ? clv_fail(source->ctx, CLV_EINTERRUPTED, "interrupted") : CLV_OK;
}

static clv_status fill_by_columns(const clv_affinity *source, const sheet *s, int threads) {
    int64_t n = s->n;
    double *lines = CLV_NEW(source->ctx, double, n *threads);
    int failed = 0;
    if (!lines) {
        return CLV_ENOMEM;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 16)
    for (int64_t i = 0; i < n; i++) {
        double *line = lines + n * omp_get_thread_num();
        clv_status status = source->home->column(source, i, line);
        write_line(s, i, 0, line, n);
        if (status < 0) {
#pragma omp atomic write
            failed = status;
        }
    }
    clv_free(source->ctx, lines);
    return (clv_status)failed;
}

enum { ROW_BLOCK = 32 };

/* By matrix products, a block of rows at a time. */
static clv_status fill_by_rows(const clv_affinity *source, const sheet *s, int threads) {
    int64_t n = s->n;
    double *blocks = CLV_NEW(source->ctx, double, n *ROW_BLOCK *threads);
    if (!blocks) {
        return CLV_ENOMEM;
    }
    clv_blas_serial_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i0 = 0; i0 < n; i0 += ROW_BLOCK) {
        double *block = blocks + n * ROW_BLOCK * omp_get_thread_num();
        int64_t rows = n - i0 < ROW_BLOCK ? n - i0 : ROW_BLOCK;
        clv_lowrank_rows(source, i0, rows, block);
        for (int64_t r = 0; r < rows; r++) {
            if (source->zero_diagonal) {
                block[r * n + i0 + r] = 0;
            }
            write_line(s, i0 + r, 0, block + r * n, n);
        }
    }
    clv_blas_serial_end();
    clv_free(source->ctx, blocks);
    return CLV_OK;
}

clv_status clv_dense_fill(const clv_affinity *source, void *values, clv_scalar scalar, int threads) {
    sheet s = {values, scalar, source->info.n};
    if (source->home == &clv_computed_functions) {
        return fill_by_tiles(source, &s, threads);
    }
    if (source->home == &clv_lowrank_functions) {
        return fill_by_rows(source, &s, threads);
    }
    return fill_by_columns(source, &s, threads);
}
