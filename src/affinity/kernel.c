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

enum { GAMMA_PAIRS = 1 << 16 };

static double distance_of(const clv_panels *panels, const double *inverse, int64_t i, int64_t j) {
    double d2 = clv_distance(panels, i, j);
    return inverse ? d2 * (inverse[i] * inverse[j]) : d2;
}

clv_status clv_sample_distances(clv_context *ctx, const clv_panels *panels, const double *inverse, double **out,
                                int64_t *out_count) {
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
                sample[at++] = distance_of(panels, inverse, i, j);
            }
        }
    } else {
        clv_rng rng = clv_rng_stream(0, 0);
        for (int64_t s = 0; s < count; s++) {
            int64_t i = clv_rng_below(&rng, n);
            int64_t j = clv_rng_below(&rng, n - 1);
            sample[s] = distance_of(panels, inverse, i, j < i ? j : j + 1);
        }
    }
    return CLV_OK;
}

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
