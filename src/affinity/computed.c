/* Computed home: entries of gaussian, exponential and distance kernels made from the points, a tile of CLV_TILE^2 at a
 * time, when they are needed. Memory is one copy of the points; a pass over the operator costs n^2 p operations and n^2
 * / 2 exponentials. */
#include "affinity/affinity.h"

#include "linalg/kernels.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

static const clv_computed_home *home_of(const clv_affinity *a) {
    return a->state;
}

void clv_to_similarity(clv_affinity_kind kind, double gamma, double top, double *d2, int64_t n) {
    if (kind == CLV_AFFINITY_GAUSSIAN) {
        clv_gaussian(d2, n, gamma);
    } else if (kind == CLV_AFFINITY_EXPONENTIAL) {
        clv_exponential(d2, n, gamma);
    } else {
        clv_complement(d2, n, top);
    }
}

static void to_similarity(const clv_affinity *a, double *d2, int64_t n) {
    clv_to_similarity(a->info.kind, home_of(a)->gamma, home_of(a)->top, d2, n);
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

void clv_similarity_line(const clv_affinity *a, int64_t i, int64_t b, double *line) {
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
        clv_similarity_line(a, i, b, line);
        memcpy(out + b * CLV_TILE, line, (size_t)clv_panel_size(panels, b) * sizeof *line);
    }
    return CLV_OK;
}

/* The share of panel b in a move of object i. */
static void move_in_panel(const clv_affinity *a, int64_t i, int64_t b, double *from, double *to) {
    int64_t size = clv_panel_size(&home_of(a)->panels, b);
    double line[CLV_TILE];
    clv_similarity_line(a, i, b, line);
    if (from) {
        clv_deduct(from + b * CLV_TILE, line, size);
    }
    if (to) {
        clv_accumulate(to + b * CLV_TILE, line, size);
    }
}

static void computed_move(const clv_affinity *a, int64_t i, double *from, double *to) {
    for (int64_t b = 0; b < home_of(a)->panels.count; b++) {
        move_in_panel(a, i, b, from, to);
    }
}

static void computed_move_many(const clv_affinity *a, const clv_moves *moves, double *y, int threads) {
    int64_t n = a->info.n;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t b = 0; b < home_of(a)->panels.count; b++) {
        for (int64_t m = 0; m < moves->count; m++) {
            int64_t i = moves->objects[m];
            int32_t from = moves->before[i], to = moves->after[i];
            if (from != to) {
                move_in_panel(a, i, b, from >= 0 ? y + from * n : NULL, to >= 0 ? y + to * n : NULL);
            }
        }
    }
}

/* --- passes over all tiles ---
 *
 * A tile serves twice: its rows go to the output columns of panel bj and, as its own mirror image, its columns to those
 * of panel bi. The pairs of panels are taken in the rounds of a tournament, in each of which every panel meets one
 * other: the pairs of a round have no output in common, so threads share them, and every output adds up its tiles in
 * the order of the rounds. */

typedef struct pass {
    const clv_affinity *a;
    const double *x;
    const int32_t *labels;
    int64_t k;
    double *y;
} pass;

/* y of panel bj += what the objects of panel bi give it. `mirrored`: the tile holds bj's objects as rows. */
static void use_tile(const pass *p, int64_t bi, int64_t bj, const double *tile, bool mirrored) {
    const clv_panels *panels = &home_of(p->a)->panels;
    int64_t n = panels->n, rows = clv_panel_size(panels, bi), cols = clv_panel_size(panels, bj);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, mirrored ? CblasTrans : CblasNoTrans, (int)p->k, (int)cols, (int)rows, 1,
                p->x + bi * CLV_TILE, (int)n, tile, CLV_TILE, 1, p->y + bj * CLV_TILE, (int)n);
}

/* The same for sums by label. */
static void sum_tile(const pass *p, int64_t bi, int64_t bj, const double *tile) {
    const clv_panels *panels = &home_of(p->a)->panels;
    int64_t rows = clv_panel_size(panels, bi), cols = clv_panel_size(panels, bj);
    for (int64_t r = 0; r < rows; r++) {
        int32_t label = p->labels[bi * CLV_TILE + r];
        if (label >= 0) {
            clv_accumulate(p->y + label * panels->n + bj * CLV_TILE, tile + r * CLV_TILE, cols);
        }
    }
}

static void run_pair(const pass *p, int64_t bi, int64_t bj) {
    _Alignas(64) double tile[CLV_TILE * CLV_TILE], mirror[CLV_TILE * CLV_TILE];
    clv_similarity_tile(p->a, bi, bj, tile);
    if (!p->labels) {
        use_tile(p, bi, bj, tile, false);
        if (bi != bj) {
            use_tile(p, bj, bi, tile, true);
        }
        return;
    }
    sum_tile(p, bi, bj, tile);
    if (bi != bj) {
        clv_transpose_tile(mirror, tile);
        sum_tile(p, bj, bi, mirror);
    }
}

/* Pair number `m` of round `round` among `players` (even): the last player stays, the others turn around it. */
static void find_pair(int64_t players, int64_t round, int64_t m, int64_t *first, int64_t *second) {
    int64_t turning = players - 1;
    int64_t left = (round + m) % turning, right = (round - m + turning) % turning;
    right = m == 0 ? turning : right;
    *first = left < right ? left : right;
    *second = left < right ? right : left;
}

/* All pairs of a round; round -1 is every panel with itself. */
static void run_round(const pass *p, int64_t round, int threads) {
    int64_t count = home_of(p->a)->panels.count, players = count + count % 2;
    int64_t pairs = round < 0 ? count : players / 2;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t m = 0; m < pairs; m++) {
        int64_t bi = m, bj = m;
        if (round >= 0) {
            find_pair(players, round, m, &bi, &bj);
        }
        if (bj < count) { /* an odd panel sits out */
            run_pair(p, bi, bj);
        }
    }
}

static clv_status run_pass(const pass *p, int threads) {
    int64_t count = home_of(p->a)->panels.count, rounds = count + count % 2 - 1;
    bool stopped = false;
    memset(p->y, 0, (size_t)(p->k * p->a->info.n) * sizeof *p->y);
    clv_blas_serial_begin();
    for (int64_t round = -1; round < rounds && !stopped; round++) {
        run_round(p, round, threads);
        stopped = clv_interrupted(p->a->ctx);
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

/* --- for products that follow their factor (product.c) --- */

/* A panel of outputs takes the panels of the objects in their order. */
static void computed_add_rows(const clv_affinity *a, int64_t first, int64_t count, const double *d, int64_t k,
                              double *y, int threads) {
    const clv_panels *panels = &home_of(a)->panels;
    int n = (int)panels->n;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t b = 0; b < panels->count; b++) {
        _Alignas(64) double tile[CLV_TILE * CLV_TILE];
        for (int64_t r = 0; r < count; r += CLV_TILE) {
            int64_t some = count - r < CLV_TILE ? count - r : CLV_TILE;
            clv_similarity_tile(a, (first + r) / CLV_TILE, b, tile);
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, (int)clv_panel_size(panels, b), (int)some, 1,
                        d + r, (int)count, tile, CLV_TILE, 1, y + b * CLV_TILE, n);
        }
    }
}

static void computed_block(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    for (int64_t e = 0; e < count; e += CLV_TILE) {
        for (int64_t f = 0; f < count; f += CLV_TILE) {
            int64_t cols = count - f < CLV_TILE ? count - f : CLV_TILE;
            clv_similarity_tile(a, (first + e) / CLV_TILE, (first + f) / CLV_TILE, tile);
            for (int64_t r = 0; r < CLV_TILE && e + r < count; r++) {
                memcpy(out + (e + r) * count + f, tile + r * CLV_TILE, (size_t)cols * sizeof *out);
            }
        }
    }
}

/* The shares of panel bi: tiles beside the diagonal count twice. */
static void panel_moments(const clv_affinity *a, int64_t bi, double *sum, double *squares) {
    const clv_panels *panels = &home_of(a)->panels;
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    *sum = *squares = 0;
    for (int64_t bj = bi; bj < panels->count; bj++) {
        int64_t rows = clv_panel_size(panels, bi), cols = clv_panel_size(panels, bj);
        double times = bi == bj ? 1 : 2;
        clv_similarity_tile(a, bi, bj, tile);
        for (int64_t at = 0; at < CLV_TILE * CLV_TILE && (rows < CLV_TILE || cols < CLV_TILE); at++) {
            tile[at] = at / CLV_TILE < rows && at % CLV_TILE < cols ? tile[at] : 0;
        }
        *sum += times * clv_sum(tile, CLV_TILE * CLV_TILE, 1);
        *squares += times * clv_dot(tile, tile, CLV_TILE * CLV_TILE, 1);
    }
}

static clv_status computed_moments(const clv_affinity *a, int threads, double *sum, double *squares) {
    int64_t count = home_of(a)->panels.count;
    double *shares = CLV_NEW0(a->ctx, double, 2 * count);
    int stopped = 0;
    if (!shares) {
        return CLV_ENOMEM;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t b = 0; b < count; b++) {
        int stop;
#pragma omp atomic read
        stop = stopped;
        if (!stop) {
            panel_moments(a, b, shares + b, shares + count + b);
        }
        if (!stop && clv_interrupted(a->ctx)) {
#pragma omp atomic write
            stopped = 1;
        }
    }
    *sum = clv_sum(shares, count, 1);
    *squares = clv_sum(shares + count, count, 1);
    clv_free(a->ctx, shares);
    return stopped ? clv_fail(a->ctx, CLV_EINTERRUPTED, "interrupted") : CLV_OK;
}

static void computed_destroy(clv_affinity *a) {
    clv_panels_free(&((clv_computed_home *)a->state)->panels);
}

const clv_home_functions clv_computed_functions = {
    .column = computed_column,
    .apply = computed_apply,
    .group_sums = computed_group_sums,
    .move = computed_move,
    .move_many = computed_move_many,
    .moments = computed_moments,
    .block = computed_block,
    .add_rows = computed_add_rows,
    .combine = clv_computed_combine,
    .entry = computed_entry,
    .destroy = computed_destroy,
};

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

clv_status clv_sample_distances(clv_context *ctx, const clv_panels *panels, double **out, int64_t *out_count) {
    int64_t n = panels->n, all = n < 2 ? 0 : n < 1024 ? n * (n - 1) / 2 : GAMMA_PAIRS;
    int64_t count = all < GAMMA_PAIRS ? all : GAMMA_PAIRS;
    double *sample = CLV_NEW(ctx, double, count > 0 ? count : 1);
    *out = sample;
    *out_count = count;
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
    return CLV_OK;
}

clv_status clv_gamma_auto(clv_context *ctx, const clv_panels *panels, clv_affinity_kind kind, double *out) {
    int64_t count;
    double *sample;
    CLV_TRY(clv_sample_distances(ctx, panels, &sample, &count));
    double median = count > 0 ? clv_nth_smallest(sample, count, count / 2) : 0;
    clv_free(ctx, sample);
    if (median <= 0) { /* half of the pairs coincide: no scale to be had */
        *out = 1;
    } else {
        *out = kind == CLV_AFFINITY_EXPONENTIAL ? 1 / sqrt(median) : 0.5 / median;
    }
    return CLV_OK;
}
