/* Scales of self-tuned similarities exp(-gamma d^2 / (s_i s_j)) (Zelnik-Manor and Perona 2004): s_i is the distance
 * from object i to its q-th nearest neighbor, q the `neighbors` of the options. Where many objects coincide that is 0,
 * and where some nearly do it says nothing about the data: no scale is less than a tenth of their median, or, where all
 * of them are 0, of the median distance of objects that differ. */
#include "affinity/home.h"
#include "affinity/knn.h"

#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

#define LEAST_SHARE 0.1 /* of the median of the scales above 0, or of the distances */

/* The q-th smallest distance in a list of k. `work`: k. */
static double scale_of(const clv_neighbor *list, int64_t k, int64_t q, double *work) {
    for (int64_t e = 0; e < k; e++) {
        work[e] = list[e].d2;
    }
    return sqrt(clv_nth_smallest(work, k, q - 1));
}

/* The median of those above 0, which come first in the end; 0: there are none. */
static double median_above_0(double *values, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (values[i] > 0) {
            values[count++] = values[i];
        }
    }
    return count > 0 ? clv_nth_smallest(values, count, count / 2) : 0;
}

/* What a scale may be; `work`: n. Where all objects are equal, any number will do. */
static clv_status find_least(clv_context *ctx, const clv_panels *panels, const double *scales, double *work,
                             double *least) {
    int64_t count;
    double *sample;
    memcpy(work, scales, (size_t)panels->n * sizeof *work);
    double typical = median_above_0(work, panels->n);
    if (typical <= 0) {
        CLV_TRY(clv_sample_distances(ctx, panels, NULL, &sample, &count));
        typical = sqrt(median_above_0(sample, count));
        clv_free(ctx, sample);
    }
    *least = typical > 0 ? LEAST_SHARE * typical : 1;
    return CLV_OK;
}

clv_status clv_scales_from(clv_context *ctx, const clv_panels *panels, const clv_neighbor *found, int64_t k, int64_t q,
                           clv_scales *out) {
    int64_t n = panels->n, room = (n + CLV_TILE - 1) / CLV_TILE * CLV_TILE;
    double *work = CLV_NEW(ctx, double, n > k ? n : k);
    *out = (clv_scales){.inverse = CLV_NEW0(ctx, double, room)};
    clv_status status = work && out->inverse ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0; status == CLV_OK && i < n; i++) {
        out->inverse[i] = scale_of(found + i * k, k, q, work);
    }
    if (status == CLV_OK) {
        status = find_least(ctx, panels, out->inverse, work, &out->least);
    }
    for (int64_t i = 0; status == CLV_OK && i < n; i++) {
        out->inverse[i] = 1 / fmax(out->inverse[i], out->least);
    }
    clv_free(ctx, work);
    return status;
}

clv_status clv_scales_new(clv_context *ctx, const clv_panels *panels, const clv_affinity_options *options, int threads,
                          clv_scales *out) {
    int64_t n = panels->n, k = clv_knn_neighbors(options->kind, options->neighbors, n), entries;
    clv_kept work = {.ctx = ctx};
    *out = (clv_scales){0};
    if (!clv_mul(n, k, &entries)) {
        return clv_fail(ctx, CLV_ENOMEM, "%lld neighbors of %lld objects are more than can be addressed", (long long)k,
                        (long long)n);
    }
    clv_neighbor *found = CLV_TAKE(&work, clv_neighbor, entries);
    int64_t *order = CLV_TAKE(&work, int64_t, n);
    double recall = NAN;
    clv_status status = work.status;
    if (status == CLV_OK) {
        status = clv_find_nearest(ctx, panels, options, k, threads, found, order, &recall);
    }
    if (status == CLV_OK) {
        status = clv_scales_from(ctx, panels, found, k, options->neighbors, out);
        out->recall = recall;
    }
    clv_free_kept(&work);
    return status;
}

/* A point that equals an old one has the scale of that: it does not count as its own neighbor. */
clv_status clv_scales_fresh(clv_context *ctx, const clv_panels *fresh, const clv_panels *old, const clv_scales *scales,
                            int64_t q, int threads, double **out) {
    int64_t k = q + 1 < old->n ? q + 1 : old->n;
    int64_t room = fresh->count * CLV_TILE;
    clv_kept work = {.ctx = ctx};
    clv_neighbor *found = CLV_TAKE(&work, clv_neighbor, fresh->n * k);
    double *list = CLV_TAKE(&work, double, k);
    double *inverse = *out = CLV_NEW0(ctx, double, room);
    clv_status status = inverse ? work.status : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = clv_nearest_among(ctx, fresh, old, k, threads, found);
    }
    for (int64_t i = 0; status == CLV_OK && i < fresh->n; i++) {
        bool known = scale_of(found + i * k, k, 1, list) <= 0;
        int64_t nth = known && q < k ? q + 1 : q;
        inverse[i] = 1 / fmax(scale_of(found + i * k, k, nth, list), scales->least);
    }
    clv_free_kept(&work);
    return status;
}

void clv_scales_free(clv_context *ctx, clv_scales *scales) {
    clv_free(ctx, scales->inverse);
    *scales = (clv_scales){0};
}

void clv_scales_tile(const double *rows, const double *cols, double *tile) {
    for (int64_t r = 0; r < CLV_TILE; r++) {
        clv_kernels->scale_pairs(tile + r * CLV_TILE, CLV_TILE, rows[r], cols);
    }
}

/* Panels, twice while neighbors are looked for, and their lists. */
int64_t clv_scales_peak(int64_t n, int64_t features, const clv_affinity_options *options) {
    return clv_bytes_plus(clv_knn_peak(n, features, options, 0), 16 * n);
}
