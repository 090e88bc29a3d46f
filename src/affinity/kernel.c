/* Kernels of distances: similarities from them, and what has to be known of the points first. */
#include "affinity/kinds.h"

#include "kernels/kernels.h"

#include <math.h>

void clv_to_similarity(clv_affinity_kind kind, double gamma, double top, double *d2, int64_t n) {
    if (kind == CLV_AFFINITY_GAUSSIAN || kind == CLV_AFFINITY_LOCAL) {
        clv_kernels->gaussian(d2, n, gamma);
    } else if (kind == CLV_AFFINITY_EXPONENTIAL) {
        clv_kernels->exponential(d2, n, gamma);
    } else {
        clv_kernels->complement(d2, n, top);
    }
}

clv_status clv_largest_distance(clv_context *ctx, const clv_panels *panels, int threads, double *out) {
    double largest = 0;
    int stopped = 0;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic) reduction(max : largest)
    for (int64_t bi = 0; bi < panels->count; bi++) {
        _Alignas(64) double tile[CLV_TILE * CLV_TILE];
        int stop;
#pragma omp atomic read
        stop = stopped;
        for (int64_t bj = bi; bj < panels->count && !stop; bj++) {
            clv_distance_tile(panels, bi, bj, tile);
            for (int64_t r = 0; r < clv_panel_size(panels, bi); r++) {
                double most = clv_kernels->largest(tile + r * CLV_TILE, clv_panel_size(panels, bj));
                largest = most > largest ? most : largest;
            }
            stop = clv_worked(ctx, clv_tile_work(panels));
        }
        if (stop) {
#pragma omp atomic write
            stopped = 1;
        }
    }
    *out = sqrt(largest);
    return stopped ? clv_stop_failure(ctx, "finding the largest distance") : CLV_OK;
}

/* --- distances of a sample of pairs --- */

/* Of up to TILED objects with many columns, pairs are looked up in the tiles of all of them: a distance there costs a
 * hundredth of that of a pair alone. */
enum { GAMMA_PAIRS = 1 << 16, TILED = 16 * CLV_TILE, MANY_COLUMNS = 32 };

/* The pairs of a sample, one after the other: all, or as many as are asked for, drawn. */
typedef struct pairs {
    int64_t n, i, j;
    bool drawn;
    clv_rng rng;
} pairs;

static pairs pairs_of(int64_t n, int64_t count) {
    return (pairs){.n = n, .i = 1, .j = -1, .drawn = count == GAMMA_PAIRS, .rng = clv_rng_stream(0, 0)};
}

static void next_pair(pairs *p) {
    if (p->drawn) {
        p->i = clv_rng_below(&p->rng, p->n);
        p->j = clv_rng_below(&p->rng, p->n - 1);
        p->j += p->j >= p->i;
    } else if (++p->j == p->i) {
        p->i++;
        p->j = 0;
    }
}

/* The panels of two objects (4 bits each), and their places there (6 bits each): those of the tile on or below the
 * diagonal. */
static int32_t code_of(const pairs *p) {
    int64_t i = p->i > p->j ? p->i : p->j, j = p->i > p->j ? p->j : p->i;
    return (int32_t)((i / CLV_TILE * 16 + j / CLV_TILE) * CLV_TILE * CLV_TILE + i % CLV_TILE * CLV_TILE + j % CLV_TILE);
}

static clv_status sample_tiles(clv_context *ctx, const clv_panels *panels, int64_t count, double *sample) {
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    pairs p = pairs_of(panels->n, count);
    int32_t *codes = CLV_NEW(ctx, int32_t, count);
    if (!codes) {
        return CLV_ENOMEM;
    }
    for (int64_t s = 0; s < count; s++) {
        next_pair(&p);
        codes[s] = code_of(&p);
    }
    for (int32_t bi = 0; bi < panels->count; bi++) {
        for (int32_t bj = 0; bj <= bi; bj++) {
            clv_distance_tile(panels, bi, bj, tile);
            for (int64_t s = 0; s < count; s++) {
                if (codes[s] / (CLV_TILE * CLV_TILE) == bi * 16 + bj) {
                    sample[s] = tile[codes[s] % (CLV_TILE * CLV_TILE)];
                }
            }
        }
    }
    clv_free(ctx, codes);
    return CLV_OK;
}

static void sample_pairs(const clv_panels *panels, int64_t count, double *sample) {
    pairs p = pairs_of(panels->n, count);
    for (int64_t at = 0; at < count; at += CLV_TILE) {
        int64_t i[CLV_TILE], j[CLV_TILE], some = count - at < CLV_TILE ? count - at : CLV_TILE;
        for (int64_t t = 0; t < some; t++) {
            next_pair(&p);
            i[t] = p.i;
            j[t] = p.j;
        }
        clv_distances(panels, i, j, some, sample + at);
    }
}

/* In units of scales. */
static void scale_sample(int64_t n, int64_t count, const double *inverse, double *sample) {
    pairs p = pairs_of(n, count);
    for (int64_t s = 0; s < count; s++) {
        next_pair(&p);
        sample[s] *= inverse[p.i] * inverse[p.j];
    }
}

clv_status clv_sample_distances(clv_context *ctx, const clv_panels *panels, const double *inverse, double **out,
                                int64_t *out_count) {
    int64_t n = panels->n, all = n < 2 ? 0 : n < TILED ? n * (n - 1) / 2 : GAMMA_PAIRS;
    int64_t count = all < GAMMA_PAIRS ? all : GAMMA_PAIRS;
    double *sample = CLV_NEW(ctx, double, count > 0 ? count : 1);
    *out = sample;
    *out_count = count;
    if (!sample) {
        return CLV_ENOMEM;
    }
    if (n > TILED || panels->features < MANY_COLUMNS || count == 0) {
        sample_pairs(panels, count, sample);
    } else if (sample_tiles(ctx, panels, count, sample) < 0) {
        clv_free(ctx, sample);
        *out = NULL;
        return CLV_ENOMEM;
    }
    if (inverse) {
        scale_sample(n, count, inverse, sample);
    }
    return CLV_OK;
}

/* --- gamma --- */

clv_status clv_gamma_auto(clv_context *ctx, const clv_panels *panels, clv_affinity_kind kind, double *out) {
    int64_t count;
    double *sample;
    if (kind == CLV_AFFINITY_LOCAL) {
        *out = 1;
        return CLV_OK;
    }
    CLV_TRY(clv_sample_distances(ctx, panels, NULL, &sample, &count));
    double median = count > 0 ? clv_nth_smallest(sample, count, count / 2) : 0;
    clv_free(ctx, sample);
    if (median <= 0) { /* half of the pairs coincide: no scale to be had */
        *out = 1;
    } else {
        *out = kind == CLV_AFFINITY_EXPONENTIAL ? 1 / sqrt(median) : 0.5 / median;
    }
    return CLV_OK;
}
