/* Computed home: entries of gaussian, exponential and distance kernels made from the points, a tile of CLV_TILE^2 at a
 * time, when they are needed. Memory is one copy of the points; a pass over the operator costs 2 n^2 p operations and
 * n^2 exponentials. Threads own panels of output columns, so the order of every sum is fixed. */
#include "affinity/affinity.h"

#include "linalg/kernels.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

static const clv_computed_home *home_of(const clv_affinity *a) {
    return a->state;
}

/* n squared distances to similarities. */
static void to_similarity(const clv_affinity *a, double *d2, int64_t n) {
    const clv_computed_home *home = home_of(a);
    if (a->info.kind == CLV_AFFINITY_GAUSSIAN) {
        clv_gaussian(d2, n, home->gamma);
    } else if (a->info.kind == CLV_AFFINITY_EXPONENTIAL) {
        clv_exponential(d2, n, home->gamma);
    } else {
        clv_complement(d2, n, home->top);
    }
}

void clv_similarity_tile(const clv_affinity *a, int64_t bi, int64_t bj, double *tile) {
    clv_distance_tile(&home_of(a)->panels, bi, bj, tile);
    to_similarity(a, tile, CLV_TILE * CLV_TILE);
    if (bi == bj && a->zero_diagonal) {
        for (int64_t r = 0; r < CLV_TILE; r++) {
            tile[r * CLV_TILE + r] = 0;
        }
    }
}

/* Similarities of object i to the objects of panel b. */
static void similarity_line(const clv_affinity *a, int64_t i, int64_t b, double *line) {
    clv_distance_line(&home_of(a)->panels, i, b, line);
    to_similarity(a, line, CLV_TILE);
    if (i / CLV_TILE == b && a->zero_diagonal) {
        line[i % CLV_TILE] = 0;
    }
}

static double computed_entry(const clv_affinity *a, int64_t i, int64_t j) {
    double value = clv_distance(&home_of(a)->panels, i, j);
    to_similarity(a, &value, 1);
    return i == j && a->zero_diagonal ? 0 : value;
}

static clv_status computed_column(const clv_affinity *a, int64_t i, double *out) {
    const clv_panels *panels = &home_of(a)->panels;
    double line[CLV_TILE];
    for (int64_t b = 0; b < panels->count; b++) {
        similarity_line(a, i, b, line);
        memcpy(out + b * CLV_TILE, line, (size_t)clv_panel_size(panels, b) * sizeof *line);
    }
    return CLV_OK;
}

static void computed_move(const clv_affinity *a, int64_t i, double *from, double *to) {
    const clv_panels *panels = &home_of(a)->panels;
    double line[CLV_TILE];
    for (int64_t b = 0; b < panels->count; b++) {
        int64_t size = clv_panel_size(panels, b);
        similarity_line(a, i, b, line);
        if (from) {
            clv_deduct(from + b * CLV_TILE, line, size);
        }
        if (to) {
            clv_accumulate(to + b * CLV_TILE, line, size);
        }
    }
}

/* --- passes over all tiles: `use` folds the tile (bi, bj) into the output columns of panel bj --- */

typedef struct pass {
    const clv_affinity *a;
    const double *x;
    const int32_t *labels;
    int64_t k;
    double *y;
} pass;

static void use_tile(const pass *p, int64_t bi, int64_t bj, const double *tile) {
    const clv_panels *panels = &home_of(p->a)->panels;
    int64_t n = panels->n, rows = clv_panel_size(panels, bi), cols = clv_panel_size(panels, bj);
    double *y = p->y + bj * CLV_TILE;
    if (p->labels) {
        for (int64_t r = 0; r < rows; r++) {
            int32_t label = p->labels[bi * CLV_TILE + r];
            if (label >= 0) {
                clv_accumulate(y + label * n, tile + r * CLV_TILE, cols);
            }
        }
    } else {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)p->k, (int)cols, (int)rows, 1, p->x + bi * CLV_TILE,
                    (int)n, tile, CLV_TILE, 1, y, (int)n);
    }
}

static void run_panel(const pass *p, int64_t bj) {
    const clv_panels *panels = &home_of(p->a)->panels;
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    for (int64_t c = 0; c < p->k; c++) {
        memset(p->y + c * panels->n + bj * CLV_TILE, 0, (size_t)clv_panel_size(panels, bj) * sizeof *p->y);
    }
    for (int64_t bi = 0; bi < panels->count; bi++) {
        clv_similarity_tile(p->a, bi, bj, tile);
        use_tile(p, bi, bj, tile);
    }
}

static clv_status run_pass(const pass *p, int threads) {
    int64_t count = home_of(p->a)->panels.count;
    int stopped = 0;
    clv_blas_serial_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t bj = 0; bj < count; bj++) {
        int stop;
#pragma omp atomic read
        stop = stopped;
        if (!stop) {
            run_panel(p, bj);
        }
        if (!stop && clv_interrupted(p->a->ctx)) {
#pragma omp atomic write
            stopped = 1;
        }
    }
    clv_blas_serial_end();
    return stopped ? clv_fail(p->a->ctx, CLV_EINTERRUPTED, "interrupted") : CLV_OK;
}

static clv_status computed_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    return run_pass(&(pass){a, x, NULL, k, y}, threads);
}

static clv_status computed_group_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads) {
    return run_pass(&(pass){a, NULL, labels, k, y}, threads);
}

static void computed_destroy(clv_affinity *a) {
    clv_panels_free(&((clv_computed_home *)a->state)->panels);
}

const clv_home_functions clv_computed_functions = {computed_column, computed_apply, computed_group_sums,
                                                   computed_move,   computed_entry, computed_destroy};

/* --- what the kernels need to know of the points first --- */

clv_status clv_largest_distance(clv_context *ctx, const clv_panels *panels, int threads, double *out) {
    double largest = 0;
    int stopped = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(max : largest)
    for (int64_t bi = 0; bi < panels->count; bi++) {
        _Alignas(64) double tile[CLV_TILE * CLV_TILE];
        int stop;
#pragma omp atomic read
        stop = stopped;
        for (int64_t bj = bi; bj < panels->count && !stop; bj++) {
            clv_distance_tile(panels, bi, bj, tile);
            for (int64_t r = 0; r < clv_panel_size(panels, bi); r++) {
                double most = clv_largest(tile + r * CLV_TILE, clv_panel_size(panels, bj));
                largest = most > largest ? most : largest;
            }
        }
        if (!stop && clv_interrupted(ctx)) {
#pragma omp atomic write
            stopped = 1;
        }
    }
    *out = sqrt(largest);
    return stopped ? clv_fail(ctx, CLV_EINTERRUPTED, "interrupted") : CLV_OK;
}

enum { GAMMA_PAIRS = 1 << 16 };

clv_status clv_gamma_auto(clv_context *ctx, const clv_panels *panels, clv_affinity_kind kind, double *out) {
    int64_t n = panels->n, all = n < 2 ? 0 : n < 1024 ? n * (n - 1) / 2 : GAMMA_PAIRS;
    int64_t count = all < GAMMA_PAIRS ? all : GAMMA_PAIRS;
    double *sample = CLV_NEW(ctx, double, count > 0 ? count : 1);
    if (!sample) {
        return CLV_ENOMEM;
    }
    if (all < GAMMA_PAIRS) {
        int64_t at = 0;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < i; j++) {
                sample[at++] = clv_distance(panels, i, j);
            }
        }
    } else {
        clv_rng rng = clv_rng_stream(0, 0);
        for (int64_t s = 0; s < count; s++) {
            int64_t i = clv_rng_below(&rng, n);
            int64_t j = clv_rng_below(&rng, n - 1);
            sample[s] = clv_distance(panels, i, j < i ? j : j + 1);
        }
    }
    double median = count > 0 ? clv_nth_smallest(sample, count, count / 2) : 0;
    clv_free(ctx, sample);
    if (median <= 0) { /* half of the pairs coincide: no scale to be had */
        *out = 1;
    } else {
        *out = kind == CLV_AFFINITY_EXPONENTIAL ? 1 / sqrt(median) : 0.5 / median;
    }
    return CLV_OK;
}
