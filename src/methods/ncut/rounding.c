/* From eigenvectors to labels: each object is a point, its row of D^-1/2 U for the k leading eigenvectors U.
 *
 *   k-means   Lloyd's algorithm from greedy k-means++ seeds (Arthur and Vassilvitskii 2007, with several candidates a
 *             seed); the best of RUNS. Of many points, these are on a sample, and all points go on from the best.
 *   rotation  Yu and Shi 2003: the rows scaled to unit length lie near the corners of a rotated cube; label by the
 *             largest entry after a rotation, turn the rotation to fit the labels best (a singular value decomposition
 *             of k x k), and so on; the best of ROTATIONS beginnings.
 *
 * Both alternate between an assignment of all points to k directions or centers and k sums over the points, O(n k^2)
 * together: one loop serves both. Points are stored one coordinate per row, so that the inner loops run over points.
 * Threads share fixed chunks of the points, and so do ranks; sums over chunks are added in order. */
#include "base/ranks.h"
#include "methods/ncut/ncut.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { RUNS = 10, ROTATIONS = 5, MOST_ITERATIONS = 100, TILE = 256, LEAST_CHUNK = 1024, MOST_CHUNKS = 64 };
enum { MOST_CANDIDATES = 32, SAMPLE = 20000, SAMPLE_EACH = 500 };
/* An iteration that improves by less than this share was the last: what follows does better than squeezing. */
#define ENOUGH 1e-5

typedef struct cloud {
    clv_context *ctx;
    int threads;
    int64_t m, k;          /* points, and coordinates: as many as clusters */
    int64_t chunk, chunks; /* of points */
    bool turning;          /* costs are -<x, center> instead of |x - center|^2 */
    int runs;              /* of k-means or rotation, the best of which counts */
    double *x;             /* k x m */
    double *near;          /* m: the cost of a point */
    int32_t *label, *best; /* m */
    double *center;        /* k x k, a row each */
    double *best_center;   /* likewise, of the best run */
    double *partial;       /* chunks x stride */
    double *total;         /* stride: k x k sums over the members, k sizes, the cost of all */
    double *small;         /* 2 k x k + 5 k: work of the decomposition */
    int64_t stride;
} cloud;

static void free_cloud(cloud *w) {
    CLV_FREE_ALL(w->ctx, w->x, w->near, w->label, w->best, w->center, w->best_center, w->partial, w->total, w->small);
}

static clv_status new_cloud(clv_context *ctx, int64_t m, int64_t k, int runs, int threads, cloud *w) {
    int64_t shared = (m + MOST_CHUNKS - 1) / MOST_CHUNKS;
    *w = (cloud){.ctx = ctx, .threads = threads, .runs = runs, .m = m, .k = k, .stride = k * k + k + 1};
    w->chunk = shared > LEAST_CHUNK ? shared : LEAST_CHUNK;
    w->chunks = (m + w->chunk - 1) / w->chunk;
    w->x = CLV_NEW(ctx, double, k *m);
    w->near = CLV_NEW(ctx, double, m);
    w->label = CLV_NEW(ctx, int32_t, m);
    w->best = CLV_NEW(ctx, int32_t, m);
    w->center = CLV_NEW(ctx, double, k *k);
    w->best_center = CLV_NEW(ctx, double, k *k);
    w->partial = CLV_NEW(ctx, double, w->chunks * w->stride);
    w->total = CLV_NEW(ctx, double, w->stride);
    w->small = CLV_NEW(ctx, double, 2 * k * k + 6 * k);
    bool made = w->x && w->near && w->label && w->best && w->center && w->best_center;
    return made && w->partial && w->total && w->small ? CLV_OK : CLV_ENOMEM;
}

/* D^-1/2 U over the objects that count, with rows of unit length for a rotation. */
static void fill_points(const clv_ncut_problem *p, cloud *w) {
    int64_t j = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double squares = 0;
        if (p->degree[i] <= 0) {
            continue;
        }
        for (int64_t d = 0; d < w->k; d++) {
            double u = p->spectrum.vectors[d * p->n + i];
            w->x[d * w->m + j] = u / sqrt(p->degree[i]);
            squares += u * u;
        }
        for (int64_t d = 0; d < w->k && w->turning; d++) {
            w->x[d * w->m + j] = squares > 0 ? p->spectrum.vectors[d * p->n + i] / sqrt(squares) : 0;
        }
        j++;
    }
}

/* --- costs of points --- */

/* cost[j] for the `length` points from `at` on. */
static void price_tile(const cloud *w, const double *center, int64_t at, int64_t length, double *cost) {
    memset(cost, 0, (size_t)length * sizeof *cost);
    for (int64_t d = 0; d < w->k; d++) {
        const double *x = w->x + d * w->m + at;
        if (w->turning) {
            clv_kernels->f64.add_weighted(cost, -center[d], x, length);
        } else {
            clv_kernels->add_squares(cost, x, center[d], length);
        }
    }
}

/* Labels and costs of a tile. */
static void assign_tile(cloud *w, int64_t at, int64_t length) {
    double cost[TILE], *near = w->near + at;
    int32_t *label = w->label + at;
    price_tile(w, w->center, at, length, near);
    for (int64_t j = 0; j < length; j++) {
        label[j] = 0;
    }
    for (int64_t c = 1; c < w->k; c++) {
        price_tile(w, w->center + c * w->k, at, length, cost);
        for (int64_t j = 0; j < length; j++) {
            label[j] = cost[j] < near[j] ? (int32_t)c : label[j];
            near[j] = cost[j] < near[j] ? cost[j] : near[j];
        }
    }
}

/* Sums, sizes and cost of a tile, onto those of its chunk. */
static void add_tile(const cloud *w, int64_t at, int64_t length, double *sums) {
    int64_t k = w->k;
    for (int64_t d = 0; d < k; d++) {
        const double *x = w->x + d * w->m + at;
        for (int64_t j = 0; j < length; j++) {
            sums[w->label[at + j] * k + d] += x[j];
        }
    }
    for (int64_t j = 0; j < length; j++) {
        sums[k * k + w->label[at + j]]++;
        sums[k * k + k] += w->near[at + j];
    }
}

/* Whether going over all points and centers is worth sharing with other ranks, */
static bool is_large(const cloud *w) {
    return w->m * w->k * w->k >= 1 << 21;
}

/* and waking up other threads. */
static bool is_threaded(const cloud *w) {
    return w->m * w->k * w->k >= 1 << 18;
}

/* The chunks of this rank: all of them, if what there is to do is not worth sharing. */
static void own_chunks(const cloud *w, int64_t *first, int64_t *last) {
    *first = 0;
    *last = w->chunks;
    if (is_large(w)) {
        clv_share(w->ctx, w->chunks, first, last);
    }
}

/* What ranks have of their points becomes everybody's. */
static clv_status gather_points(const cloud *w, void *items, size_t size) {
    return is_large(w) && clv_is_shared(w->ctx) ? clv_gather_items(w->ctx, CLV_OK, items, size, w->m, w->chunk)
                                                : CLV_OK;
}

/* Partial sums of the chunks, `count` each, into `total`, in order. */
static clv_status add_chunks(cloud *w, int64_t count) {
    size_t bytes = (size_t)count * sizeof *w->total;
    if (is_large(w) && clv_is_shared(w->ctx)) {
        CLV_TRY(clv_gather_items(w->ctx, CLV_OK, w->partial, bytes, w->chunks, 1));
    }
    memcpy(w->total, w->partial, bytes);
    for (int64_t q = 1; q < w->chunks; q++) {
        for (int64_t e = 0; e < count; e++) {
            w->total[e] += w->partial[q * count + e];
        }
    }
    return CLV_OK;
}

/* Every point to its best center; `total` follows, with the cost of all. Labels and costs are those of own points. */
static clv_status assign(cloud *w, double *cost) {
    int64_t first, last;
    own_chunks(w, &first, &last);
#pragma omp parallel for num_threads(clv_team(w->threads)) schedule(static) if (is_threaded(w))
    for (int64_t q = first; q < last; q++) {
        int64_t end = (q + 1) * w->chunk < w->m ? (q + 1) * w->chunk : w->m;
        double *sums = w->partial + q * w->stride;
        memset(sums, 0, (size_t)w->stride * sizeof *sums);
        for (int64_t at = q * w->chunk; at < end; at += TILE) {
            int64_t length = end - at < TILE ? end - at : TILE;
            assign_tile(w, at, length);
            add_tile(w, at, length, sums);
        }
    }
    CLV_TRY(add_chunks(w, w->stride));
    *cost = w->total[w->stride - 1];
    return CLV_OK;
}

/* --- k-means --- */

static void take_point(const cloud *w, int64_t j, double *center) {
    for (int64_t d = 0; d < w->k; d++) {
        center[d] = w->x[d * w->m + j];
    }
}

/* The sum of the costs if the candidates were added, one at a time: total[t]. With one candidate and `keep`, it is. */
static clv_status price_candidates(cloud *w, const int64_t *candidate, int64_t count, bool keep) {
    int64_t first, last;
    own_chunks(w, &first, &last);
    for (int64_t t = 0; t < count; t++) {
        take_point(w, candidate[t], w->small + t * w->k);
    }
#pragma omp parallel for num_threads(clv_team(w->threads)) schedule(static) if (is_threaded(w))
    for (int64_t q = first; q < last; q++) {
        int64_t end = (q + 1) * w->chunk < w->m ? (q + 1) * w->chunk : w->m;
        double cost[TILE], *sums = w->partial + q * count;
        memset(sums, 0, (size_t)count * sizeof *sums);
        for (int64_t at = q * w->chunk; at < end; at += TILE) {
            int64_t length = end - at < TILE ? end - at : TILE;
            for (int64_t t = 0; t < count; t++) {
                price_tile(w, w->small + t * w->k, at, length, cost);
                for (int64_t j = 0; j < length; j++) {
                    double least = cost[j] < w->near[at + j] ? cost[j] : w->near[at + j];
                    sums[t] += least;
                    w->near[at + j] = keep ? least : w->near[at + j];
                }
            }
        }
    }
    CLV_TRY(add_chunks(w, count));
    return keep ? gather_points(w, w->near, sizeof *w->near) : CLV_OK;
}

/* A point drawn with probability proportional to its cost, any where all are 0; the costs add up to `sum`. */
static int64_t draw_point(const cloud *w, double sum, clv_rng *rng) {
    int64_t drawn = clv_draw(w->near, w->m, sum, rng), any = clv_rng_below(rng, w->m);
    return drawn >= 0 ? drawn : any;
}

/* Greedy k-means++: of 2 + log k candidates the one that lowers the costs most. */
static clv_status seed_centers(cloud *w, clv_rng *rng) {
    int64_t candidates = 2 + (int64_t)log((double)w->k), chosen = clv_rng_below(rng, w->m);
    int64_t candidate[MOST_CANDIDATES] = {0};
    candidates = candidates < w->k ? candidates : w->k;
    for (int64_t j = 0; j < w->m; j++) {
        w->near[j] = INFINITY;
    }
    for (int64_t c = 0;; c++) {
        take_point(w, chosen, w->center + c * w->k);
        if (c + 1 == w->k) {
            return CLV_OK;
        }
        CLV_TRY(price_candidates(w, &chosen, 1, true));
        double sum = w->total[0];
        for (int64_t t = 0; t < candidates; t++) {
            candidate[t] = draw_point(w, sum, rng);
        }
        CLV_TRY(price_candidates(w, candidate, candidates, false));
        int64_t best = 0;
        for (int64_t t = 1; t < candidates; t++) {
            best = w->total[t] < w->total[best] ? t : best;
        }
        chosen = candidate[best];
    }
}

/* Centers to the means; a center without points goes to the point that is the farthest from its own. */
static clv_status move_centers(cloud *w) {
    bool whole = false; /* the costs of all points are here */
    for (int64_t c = 0; c < w->k; c++) {
        double size = w->total[w->k * w->k + c];
        for (int64_t d = 0; d < w->k && size > 0; d++) {
            w->center[c * w->k + d] = w->total[c * w->k + d] / size;
        }
        if (size <= 0) {
            CLV_TRY(whole ? CLV_OK : gather_points(w, w->near, sizeof *w->near));
            whole = true;
            int64_t farthest = 0;
            for (int64_t j = 1; j < w->m; j++) {
                farthest = w->near[j] > w->near[farthest] ? j : farthest;
            }
            w->near[farthest] = 0;
            take_point(w, farthest, w->center + c * w->k);
        }
    }
    return CLV_OK;
}

/* From the centers that there are. */
static clv_status run_lloyd(cloud *w, double *cost) {
    CLV_TRY(assign(w, cost));
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        double before = *cost;
        CLV_TRY(move_centers(w));
        CLV_TRY(assign(w, cost));
        if (before - *cost <= ENOUGH * before) {
            break;
        }
    }
    return CLV_OK;
}

/* --- rotation --- */

/* Directions to begin with: a random point, then points that are as orthogonal to the ones before as can be. */
static void begin_rotation(cloud *w, clv_rng *rng) {
    int64_t chosen = clv_rng_below(rng, w->m);
    memset(w->near, 0, (size_t)w->m * sizeof *w->near);
    for (int64_t c = 0; c < w->k; c++) {
        double *direction = w->center + c * w->k;
        take_point(w, chosen, direction);
        for (int64_t j = 0; j < w->m; j++) {
            double product = 0;
            for (int64_t d = 0; d < w->k; d++) {
                product += direction[d] * w->x[d * w->m + j];
            }
            w->near[j] += fabs(product);
        }
        chosen = 0;
        for (int64_t j = 1; j < w->m; j++) {
            chosen = w->near[j] < w->near[chosen] ? j : chosen;
        }
    }
}

/* The rotation that fits the sums over the clusters best: with B the sums, B' = P S Q', it is P Q'. LAPACK sees B' in
 * the rows of B, and we see (P Q')' in what it writes: a row for each cluster. */
static clv_status turn(cloud *w) {
    lapack_int k = (lapack_int)w->k, lwork = 5 * k;
    double *left = w->small, *right = left + w->k * w->k, *values = w->near; /* free until the next assignment */
    double *work = right + w->k * w->k;
    lapack_int info =
        LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'A', 'A', k, k, w->total, k, values, left, k, right, k, work, lwork);
    if (info != 0) {
        return clv_fail(w->ctx, CLV_ENUMERIC, "LAPACK found no singular values of a %d x %d matrix (dgesvd: %d)",
                        (int)k, (int)k, (int)info);
    }
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, k, k, k, 1.0, left, k, right, k, 0.0, w->center, k);
    return CLV_OK;
}

static clv_status run_rotation(cloud *w, clv_rng *rng, double *cost) {
    begin_rotation(w, rng);
    CLV_TRY(assign(w, cost));
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        double before = iteration > 0 ? *cost : HUGE_VAL; /* the first directions are no rotation: not comparable */
        CLV_TRY(turn(w));
        CLV_TRY(assign(w, cost));
        if (before - *cost <= ENOUGH * fabs(*cost)) {
            break;
        }
    }
    return CLV_OK;
}

/* --- the whole --- */

static clv_status round_points(cloud *w, clv_rng *rng) {
    double least = INFINITY;
    for (int run = 0; run < w->runs; run++) {
        double cost = 0;
        if (clv_interrupted(w->ctx)) {
            return clv_stop_failure(w->ctx, "rounding eigenvectors");
        }
        if (w->turning) {
            clv_blas_serial_begin();
            clv_status status = run_rotation(w, rng, &cost);
            clv_blas_serial_end();
            CLV_TRY(status);
        } else {
            CLV_TRY(seed_centers(w, rng));
            CLV_TRY(run_lloyd(w, &cost));
        }
        if (run == 0 || cost < least) {
            least = cost;
            memcpy(w->best, w->label, (size_t)w->m * sizeof *w->best);
            memcpy(w->best_center, w->center, (size_t)(w->k * w->k) * sizeof *w->center);
        }
    }
    return gather_points(w, w->best, sizeof *w->best);
}

/* One point of each of `count` equal parts of all. */
static void take_sample(const cloud *all, clv_rng *rng, cloud *some) {
    for (int64_t t = 0; t < some->m; t++) {
        int64_t first = t * all->m / some->m, last = (t + 1) * all->m / some->m;
        int64_t j = first + clv_rng_below(rng, last - first);
        for (int64_t d = 0; d < all->k; d++) {
            some->x[d * some->m + t] = all->x[d * all->m + j];
        }
    }
}

/* Of a large cloud: points for runs of k-means. */
static int64_t sample_size(const cloud *w) {
    return SAMPLE_EACH * w->k > SAMPLE ? SAMPLE_EACH * w->k : SAMPLE;
}

/* The runs on a sample, then all points from the centers of the best. */
static clv_status round_large(cloud *w, clv_rng *rng) {
    double cost;
    cloud some;
    clv_status status = new_cloud(w->ctx, sample_size(w), w->k, w->runs, w->threads, &some);
    if (status == CLV_OK) {
        take_sample(w, rng, &some);
        status = round_points(&some, rng);
    }
    if (status == CLV_OK) {
        memcpy(w->center, some.best_center, (size_t)(w->k * w->k) * sizeof *w->center);
        status = run_lloyd(w, &cost);
    }
    if (status == CLV_OK) {
        memcpy(w->best, w->label, (size_t)w->m * sizeof *w->best);
        status = gather_points(w, w->best, sizeof *w->best);
    }
    free_cloud(&some);
    return status;
}

clv_status clv_start_spectral(clv_partition *s, clv_rng *rng) {
    const clv_ncut_problem *p = s->problem;
    cloud w;
    if (p->spectrum.count < p->k) {
        return clv_fail(p->ctx, CLV_EINTERNAL, "spectral labels of %lld clusters need as many eigenvectors, not %lld",
                        (long long)p->k, (long long)p->spectrum.count);
    }
    bool turning = p->options.rounding == CLV_NCUT_ROTATION;
    clv_status status = new_cloud(p->ctx, p->counted, p->k, turning ? ROTATIONS : RUNS, s->threads, &w);
    if (status == CLV_OK) {
        w.turning = turning;
        fill_points(p, &w);
        status = turning || w.m <= sample_size(&w) ? round_points(&w, rng) : round_large(&w, rng);
    }
    if (status == CLV_OK) {
        const int32_t *label = w.best;
        for (int64_t i = 0; i < p->n; i++) {
            s->labels[i] = p->degree[i] > 0 ? *label++ : -1;
        }
        clv_fill_empty(s, rng);
    }
    free_cloud(&w);
    return status;
}

clv_status clv_kmeans_points(clv_context *ctx, const double *x, int64_t m, int64_t k, int runs, int threads,
                             clv_rng *rng, int32_t *labels) {
    cloud w;
    clv_status status = new_cloud(ctx, m, k, runs, threads, &w);
    if (status == CLV_OK) {
        memcpy(w.x, x, (size_t)(k * m) * sizeof *x);
        status = round_points(&w, rng);
    }
    if (status == CLV_OK) {
        memcpy(labels, w.best, (size_t)m * sizeof *labels);
    }
    free_cloud(&w);
    return status;
}
