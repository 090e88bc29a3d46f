/* Objects to start from: a uniform sample, or a k-DPP.
 *
 * Uniform: the first steps of a shuffle. O(m).
 *
 * k-DPP (Kulesza and Taskar, "Determinantal point processes for machine learning", 2012, algorithms 1 and 8): a subset
 * S of k objects has the probability det(L_S) / e_k(lambda), with lambda the eigenvalues of L and e_k the elementary
 * symmetric polynomial. Eigenvectors are chosen first, from the last to the first,
 *
 *   vector i with probability lambda_i e_{l-1}(lambda_1..i-1) / e_l(lambda_1..i),   l of them still to be chosen,
 *
 * then k objects from the projection onto them: the next one with a probability proportional to the squared length of
 * its row of V that is left when its parts along the rows of those before are taken out. The polynomials are kept as
 * logarithms: products of a few hundred eigenvalues leave the range of a double.
 *
 * L is the affinity with the self-similarity that belongs to its kind on the diagonal, whatever the affinity itself has
 * there: 1 (gaussian, exponential, knn), 2 (cosine), else the largest entry of L, which for max(D) - D and a diagonal
 * that is kept is max(D). Those are positive semidefinite (knn graphs and given affinities need not be): eigenvalues
 * that are negative, or zero to rounding, count as 0. When fewer than k are left, there are no more than so many
 * objects to choose like this; the others are a uniform sample of the rest.
 *
 * The sample is exact for m <= POOL. A full eigendecomposition of more objects would cost m^3, so that for larger m L
 * is that of a uniform sample of POOL objects: k objects spread out among those, which a few hundred represent as long
 * as k is small beside POOL. Cost: POOL^2 entries, POOL^3 operations for the eigenvectors, k^2 POOL for the choice. */
#include "methods/dominant/dominant.h"

#include "affinity/kinds.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { POOL = 1024, LOG_WORK = 32 }; /* a sum of logarithms, in operations */

/* Shares of a projection below this are rounding. */
static const double NO_SHARE = 1e-13;

typedef struct dpp {
    clv_context *ctx;
    const clv_affinity *affinity;
    const int64_t *objects; /* m: the pool */
    int64_t m, rank, count; /* of the pool; positive eigenvalues; objects to choose, at most rank */
    double *kernel;         /* m x m: L, then its eigenvectors, a row each; those of positive eigenvalues last */
    double *values;         /* m eigenvalues, ascending */
    double *logs;           /* (rank + 1) x (count + 1): log e_l of the first i positive eigenvalues */
    double *basis;          /* count x count: orthonormal, of the rows of V chosen so far */
    double *share, *along;  /* m: squared length that is left of a row of V; its part along the last choice */
    int64_t *vectors;       /* count: the eigenvectors chosen */
    bool *chosen;           /* m: whether the object at a place of the pool was chosen */
} dpp;

/* --- the kernel and its spectrum --- */

/* Whether an entry costs what its column does, as on minimax paths, where it is a walk that a column makes once. */
static bool by_columns(const clv_affinity *a) {
    clv_affinity_info info;
    clv_affinity_describe(a, &info);
    return !info.cost.resident && info.cost.entry >= info.cost.column;
}

static clv_status fill_row(dpp *d, int64_t i, double *column) {
    double *row = d->kernel + i * d->m;
    if (column) {
        CLV_TRY(clv_affinity_column(d->affinity, d->objects[i], column));
    }
    for (int64_t j = 0; j < d->m; j++) {
        if (column || j < i) {
            row[j] = column ? column[d->objects[j]] : d->kernel[j * d->m + i];
        } else {
            CLV_TRY(clv_affinity_entry(d->affinity, d->objects[i], d->objects[j], row + j));
        }
    }
    return CLV_OK;
}

/* The similarity of an object to itself by the kind of the affinity; 0: it does not say. */
static double self_similarity(const clv_affinity *a) {
    clv_affinity_info info;
    clv_affinity_describe(a, &info);
    double largest = clv_kind_of(info.kind)->largest;
    return isfinite(largest) ? largest : 0;
}

static clv_status go_on(const dpp *d, int64_t work) {
    return clv_worked(d->ctx, work) ? clv_stop_failure(d->ctx, "sampling starts") : CLV_OK;
}

static clv_status fill_kernel(dpp *d) {
    double *column = NULL;
    if (by_columns(d->affinity)) {
        column = CLV_NEW(d->ctx, double, clv_affinity_size(d->affinity));
        if (!column) {
            return CLV_ENOMEM;
        }
    }
    clv_status status = CLV_OK;
    for (int64_t i = 0; i < d->m && status == CLV_OK; i++) {
        status = go_on(d, d->m);
        status = status == CLV_OK ? fill_row(d, i, column) : status;
    }
    clv_free(d->ctx, column);
    CLV_TRY(status);
    double self = self_similarity(d->affinity);
    for (int64_t e = 0; e < d->m * d->m; e++) {
        self = fmax(self, d->kernel[e]);
    }
    for (int64_t i = 0; i < d->m; i++) {
        d->kernel[i * d->m + i] = self;
    }
    return CLV_OK;
}

static clv_status find_spectrum(dpp *d) {
    d->kernel = CLV_NEW(d->ctx, double, d->m * d->m);
    d->values = CLV_NEW(d->ctx, double, d->m);
    if (!d->kernel || !d->values) {
        return CLV_ENOMEM;
    }
    CLV_TRY(fill_kernel(d));
    CLV_TRY(clv_eigen_dense(d->ctx, d->kernel, d->m, d->values));
    double least = (double)d->m * DBL_EPSILON * d->values[d->m - 1];
    while (d->rank < d->m && d->values[d->m - 1 - d->rank] > fmax(least, 0)) {
        d->rank++;
    }
    d->count = d->count < d->rank ? d->count : d->rank;
    return CLV_OK;
}

/* --- which eigenvectors --- */

static double log_of_sum(double a, double b) {
    double large = fmax(a, b), small = fmin(a, b);
    return isinf(large) ? large : large + log1p(exp(small - large));
}

/* lambda_i, from 0, of the positive eigenvalues. */
static double log_eigenvalue(const dpp *d, int64_t i) {
    return log(d->values[d->m - d->rank + i]);
}

static clv_status fill_logs(dpp *d) {
    int64_t width = d->count + 1;
    for (int64_t l = 0; l < width; l++) {
        d->logs[l] = l == 0 ? 0 : -HUGE_VAL;
    }
    for (int64_t i = 0; i < d->rank; i++) {
        const double *before = d->logs + i * width;
        double *now = d->logs + (i + 1) * width, value = log_eigenvalue(d, i);
        now[0] = 0;
        for (int64_t l = 1; l < width; l++) {
            now[l] = log_of_sum(before[l], value + before[l - 1]);
        }
        CLV_TRY(go_on(d, width * LOG_WORK));
    }
    return CLV_OK;
}

static clv_status choose_vectors(dpp *d, clv_rng *rng) {
    int64_t width = d->count + 1, left = d->count;
    CLV_TRY(fill_logs(d));
    for (int64_t i = d->rank - 1; i >= 0 && left > 0; i--) {
        double chance = log_eigenvalue(d, i) + d->logs[i * width + left - 1] - d->logs[(i + 1) * width + left];
        /* When all that are left are needed, the chance is 1 whatever the logarithms' last digits are. */
        if (i < left || clv_rng_uniform(rng) < exp(chance)) {
            d->vectors[--left] = d->m - d->rank + i;
        }
    }
    return CLV_OK;
}

/* --- which objects --- */

/* The row of V at a place, less its parts along the t rows before it, as a unit vector: row t of the basis. */
static void add_to_basis(dpp *d, int64_t t, int64_t place) {
    double *q = d->basis + t * d->count;
    for (int64_t e = 0; e < d->count; e++) {
        q[e] = d->kernel[d->vectors[e] * d->m + place];
    }
    for (int twice = 0; twice < 2; twice++) {
        for (int64_t b = 0; b < t; b++) {
            const double *earlier = d->basis + b * d->count;
            double part = clv_dot(earlier, q, d->count, 1);
            for (int64_t e = 0; e < d->count; e++) {
                q[e] -= part * earlier[e];
            }
        }
    }
    double length = sqrt(clv_dot(q, q, d->count, 1));
    for (int64_t e = 0; e < d->count; e++) {
        q[e] /= length;
    }
}

/* Take the parts along row t of the basis out of all shares. */
static void take_out(dpp *d, int64_t t) {
    const double *q = d->basis + t * d->count;
    memset(d->along, 0, (size_t)d->m * sizeof *d->along);
    for (int64_t e = 0; e < d->count; e++) {
        const double *vector = d->kernel + d->vectors[e] * d->m;
        for (int64_t j = 0; j < d->m; j++) {
            d->along[j] += q[e] * vector[j];
        }
    }
    for (int64_t j = 0; j < d->m; j++) {
        d->share[j] -= d->along[j] * d->along[j];
        d->share[j] = d->share[j] > NO_SHARE ? d->share[j] : 0;
    }
}

static clv_status choose_positions(dpp *d, clv_rng *rng) {
    memset(d->share, 0, (size_t)d->m * sizeof *d->share);
    for (int64_t e = 0; e < d->count; e++) {
        const double *vector = d->kernel + d->vectors[e] * d->m;
        for (int64_t j = 0; j < d->m; j++) {
            d->share[j] += vector[j] * vector[j];
        }
    }
    for (int64_t t = 0; t < d->count; t++) {
        int64_t place = clv_draw(d->share, d->m, clv_sum(d->share, d->m, 1), rng);
        d->chosen[place] = true;
        add_to_basis(d, t, place);
        take_out(d, t);
        d->share[place] = 0; /* and not only to rounding: nobody comes twice */
        CLV_TRY(go_on(d, d->count * d->m));
    }
    return CLV_OK;
}

static clv_status run_dpp(dpp *d, clv_rng *rng) {
    CLV_TRY(find_spectrum(d));
    d->logs = CLV_NEW(d->ctx, double, (d->rank + 1) * (d->count + 1));
    d->basis = CLV_NEW(d->ctx, double, d->count * d->count);
    d->share = CLV_NEW(d->ctx, double, d->m);
    d->along = CLV_NEW(d->ctx, double, d->m);
    d->vectors = CLV_NEW(d->ctx, int64_t, d->count);
    d->chosen = CLV_NEW0(d->ctx, bool, d->m);
    if (!d->logs || !d->basis || !d->share || !d->along || !d->vectors || !d->chosen) {
        return CLV_ENOMEM;
    }
    CLV_TRY(choose_vectors(d, rng));
    return choose_positions(d, rng);
}

/* --- samples --- */

static void swap(int64_t *items, int64_t i, int64_t j) {
    int64_t held = items[i];
    items[i] = items[j];
    items[j] = held;
}

/* Places first..last - 1 of m items get a uniform sample of what is there and behind. */
static void draw(clv_rng *rng, int64_t *items, int64_t m, int64_t first, int64_t last) {
    for (int64_t t = first; t < last; t++) {
        swap(items, t, t + clv_rng_below(rng, m - t));
    }
}

/* A copy of the active objects to draw from, the caller's. */
static clv_status copy_active(clv_context *ctx, const int64_t *active, int64_t m, int64_t count, int64_t **out) {
    if (count < 0 || count > m) {
        return clv_fail(ctx, CLV_EUSAGE, "%lld objects to start from were asked for, but there are only %lld",
                        (long long)count, (long long)m);
    }
    int64_t *items = *out = CLV_NEW(ctx, int64_t, m);
    if (items && m > 0) {
        memcpy(items, active, (size_t)m * sizeof *items);
    }
    return items ? CLV_OK : CLV_ENOMEM;
}

clv_status clv_sample_uniform(clv_context *ctx, const int64_t *active, int64_t m, int64_t count, clv_rng *rng,
                              int64_t *out) {
    int64_t *items;
    CLV_TRY(copy_active(ctx, active, m, count, &items));
    draw(rng, items, m, 0, count);
    memcpy(out, items, (size_t)count * sizeof *items);
    clv_free(ctx, items);
    return CLV_OK;
}

/* What the process chose to the front of the items. */
static void bring_forward(const dpp *d, int64_t *items) {
    int64_t front = 0;
    for (int64_t j = 0; j < d->m; j++) {
        if (d->chosen[j]) {
            swap(items, front++, j);
        }
    }
}

clv_status clv_sample_dpp(clv_context *ctx, const clv_affinity *a, const int64_t *active, int64_t m, int64_t count,
                          clv_rng *rng, int64_t *out) {
    int64_t *items;
    if (count == 0) {
        return CLV_OK;
    }
    CLV_TRY(copy_active(ctx, active, m, count, &items));
    if (m > POOL) {
        draw(rng, items, m, 0, POOL);
    }
    dpp d = {.ctx = ctx, .affinity = a, .objects = items, .m = m < POOL ? m : POOL, .count = count};
    clv_status status = run_dpp(&d, rng);
    if (status == CLV_OK) {
        bring_forward(&d, items);
        draw(rng, items, m, d.count, count);
        memcpy(out, items, (size_t)count * sizeof *items);
    }
    CLV_FREE_ALL(d.ctx, d.kernel, d.values, d.logs, d.basis, d.share, d.along, d.vectors, d.chosen);
    clv_free(ctx, items);
    return status;
}
