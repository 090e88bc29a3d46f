/* The mean silhouette (Rousseeuw 1987) with Euclidean distances: for an object at mean distance a to the others of its
 * cluster and b to the nearest other cluster, (b - a) / max(a, b); 0 for a cluster of one object.
 *
 * Panels of CLV_TILE objects are the unit of work: one thread adds the distances from all objects to a panel, in order,
 * to one sum per cluster and object, so that nothing depends on the number of threads. O(n^2 features) time; memory is
 * the panels of the points and CLV_TILE k sums per thread. */
#include "kernels/kernels.h"
#include "linalg/distance.h"
#include "metrics/metrics.h"

#include <math.h>
#include <omp.h>
#include <string.h>

typedef struct silhouette {
    clv_context *ctx;
    clv_kept kept;
    clv_panels panels;
    int64_t n, k;
    int threads;
    int32_t *ids;   /* n: cluster 0..k-1 or -1 */
    int64_t *sizes; /* k */
    double *widths; /* n: the silhouette of each object; 0 where it is left out */
    double *sums;   /* threads x k x CLV_TILE */
    double *tiles;  /* threads x CLV_TILE x CLV_TILE */
} silhouette;

static clv_status prepare(silhouette *s, const clv_matrix *points, const int32_t *labels) {
    int64_t sums;
    s->ids = CLV_TAKE(&s->kept, int32_t, s->n);
    CLV_TRY(s->kept.status);
    CLV_TRY(clv_labels_compress(s->ctx, labels, s->n, s->ids, &s->k));
    if (s->k < 2) {
        return clv_fail(s->ctx, CLV_EDATA, "the silhouette needs 2 clusters or more: the %lld labels have %lld",
                        (long long)s->n, (long long)s->k);
    }
    s->sizes = CLV_TAKE0(&s->kept, int64_t, s->k);
    CLV_TRY(s->kept.status);
    for (int64_t i = 0; i < s->n; i++) {
        if (s->ids[i] >= 0) {
            s->sizes[s->ids[i]]++;
        }
    }
    if (!clv_mul((int64_t)s->threads * CLV_TILE, s->k, &sums)) {
        return clv_fail(s->ctx, CLV_ENOMEM, "sums for %lld clusters are more than can be addressed", (long long)s->k);
    }
    CLV_TRY(clv_panels_new(s->ctx, points, s->threads, &s->panels));
    s->widths = CLV_TAKE0(&s->kept, double, s->n);
    s->sums = CLV_TAKE(&s->kept, double, sums);
    s->tiles = CLV_TAKE(&s->kept, double, (int64_t)s->threads *CLV_TILE *CLV_TILE);
    return s->kept.status;
}

/* sums[c * CLV_TILE + r] = the distances from the objects of cluster c to object r of panel b */
static void sum_distances(const silhouette *s, int64_t b, double *sums, double *tile) {
    memset(sums, 0, (size_t)s->k * CLV_TILE * sizeof *sums);
    for (int64_t from = 0; from < s->panels.count; from++) {
        clv_distance_tile(&s->panels, from, b, tile);
        clv_kernels->square_root(tile, (int64_t)CLV_TILE * CLV_TILE);
        for (int64_t r = 0; r < clv_panel_size(&s->panels, from); r++) {
            int32_t id = s->ids[from * CLV_TILE + r];
            if (id >= 0) {
                clv_kernels->f64.accumulate(sums + (int64_t)id * CLV_TILE, tile + r * CLV_TILE, CLV_TILE);
            }
        }
    }
}

/* From the sums of one object, which lie CLV_TILE apart. */
static double width_of(const silhouette *s, int32_t own, const double *sums) {
    double within = 0, nearest = HUGE_VAL;
    if (s->sizes[own] < 2) {
        return 0.0;
    }
    for (int64_t c = 0; c < s->k; c++) {
        if (c == own) {
            within = sums[c * CLV_TILE] / (double)(s->sizes[c] - 1);
        } else {
            nearest = fmin(nearest, sums[c * CLV_TILE] / (double)s->sizes[c]);
        }
    }
    double larger = fmax(within, nearest);
    return larger > 0 ? (nearest - within) / larger : 0.0;
}

static void measure_panel(silhouette *s, int64_t b, int thread) {
    double *sums = s->sums + thread * s->k * CLV_TILE;
    sum_distances(s, b, sums, s->tiles + (int64_t)thread * CLV_TILE * CLV_TILE);
    for (int64_t r = 0; r < clv_panel_size(&s->panels, b); r++) {
        int32_t own = s->ids[b * CLV_TILE + r];
        if (own >= 0) {
            s->widths[b * CLV_TILE + r] = width_of(s, own, sums + r);
        }
    }
}

static clv_status measure_all(silhouette *s) {
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic)
    for (int64_t b = 0; b < s->panels.count; b++) {
        if (clv_goes_on(s->ctx, &stopped, clv_panel_work(&s->panels))) {
            measure_panel(s, b, omp_get_thread_num());
        }
    }
    return stopped ? clv_stop_failure(s->ctx, "computing the silhouette") : CLV_OK;
}

static double mean_width(const silhouette *s) {
    int64_t counted = 0;
    for (int64_t c = 0; c < s->k; c++) {
        counted += s->sizes[c];
    }
    return clv_sum(s->widths, s->n, s->threads) / (double)counted;
}

clv_status clv_silhouette(clv_context *ctx, const clv_matrix *points, const int32_t *labels, int64_t threads,
                          double *out) {
    CLV_NEED(ctx, points);
    CLV_NEED(ctx, labels);
    silhouette s = {.ctx = ctx, .kept.ctx = ctx, .n = points->rows, .threads = clv_threads(threads)};
    CLV_TRY(clv_labels_check(ctx, "labels", labels, s.n));
    CLV_TRY(clv_csr_check(ctx, "the points", points, false));
    clv_status status = prepare(&s, points, labels);
    if (status == CLV_OK && !clv_asked_to_stop(ctx)) {
        clv_overtime_begin(ctx); /* of few objects it is there however late it is */
        status = measure_all(&s);
        clv_overtime_end(ctx);
    } else if (status == CLV_OK) {
        status = clv_stop_failure(ctx, "computing the silhouette");
    }
    if (status == CLV_OK) {
        *out = mean_width(&s);
    }
    clv_panels_free(&s.panels);
    clv_free_kept(&s.kept);
    return status;
}
