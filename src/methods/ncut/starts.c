/* Starting labels. Objects of degree 0 have -1; every cluster gets an object. */
#include "methods/ncut/ncut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool counts(const clv_ncut_problem *p, int64_t i) {
    return p->degree[i] > 0;
}

void clv_start_random(clv_partition *s, clv_rng *rng) {
    const clv_ncut_problem *p = s->problem;
    for (int64_t i = 0; i < p->n; i++) {
        s->labels[i] = counts(p, i) ? (int32_t)clv_rng_below(rng, p->k) : -1;
    }
    clv_fill_empty(s, rng);
}

static int64_t largest_cluster(const clv_partition *s) {
    int64_t largest = 0;
    for (int64_t c = 1; c < s->problem->k; c++) {
        largest = s->size[c] > s->size[largest] ? c : largest;
    }
    return largest;
}

/* The r-th member of cluster c. */
static int64_t member(const clv_partition *s, int64_t c, int64_t r) {
    int64_t i = 0;
    for (;; i++) {
        if (s->labels[i] == c && r-- == 0) {
            return i;
        }
    }
}

void clv_fill_empty(clv_partition *s, clv_rng *rng) {
    const clv_ncut_problem *p = s->problem;
    clv_partition_count(s, s->labels);
    for (int32_t c = 0; c < p->k; c++) {
        if (s->size[c] == 0) {
            int64_t from = largest_cluster(s);
            s->labels[member(s, from, clv_rng_below(rng, s->size[from]))] = c;
            s->size[from]--;
            s->size[c] = 1;
        }
    }
}

/* --- k-means++ in the space where ncut is weighted k-means: weights d_i, inner products w_ij / (d_i d_j) --- */

/* w / (d_i d_j) in units of 1 / d_j, divided step by step: the degrees may be very large or very small. */
static double product_of(const clv_ncut_problem *p, double w, int64_t i, int64_t j, double unit) {
    return w / p->degree[i] * (unit / p->degree[j]);
}

/* An object drawn with probability proportional to weight[i]; uniformly among those that count if all are 0. */
static int64_t draw(const clv_ncut_problem *p, const double *weight, clv_rng *rng) {
    double total = 0;
    for (int64_t i = 0; i < p->n; i++) {
        total += weight[i];
    }
    if (!(total > 0)) {
        int64_t any;
        do {
            any = clv_rng_below(rng, p->n);
        } while (!counts(p, any));
        return any;
    }
    return clv_draw(weight, p->n, total, rng);
}

/* Label c for the objects that are nearer to seed i than to the seeds before; near[] and weight[] follow. */
static clv_status add_seed(clv_partition *s, int32_t c, int64_t i, double unit, double *near, double *weight) {
    const clv_ncut_problem *p = s->problem;
    CLV_TRY(clv_affinity_column(p->affinity, i, s->column));
    for (int64_t j = 0; j < p->n; j++) {
        if (!counts(p, j)) {
            continue;
        }
        double own = product_of(p, p->diagonal[i], i, i, unit) + product_of(p, p->diagonal[j], j, j, unit);
        double distance = j == i ? 0 : fmax(own - 2 * product_of(p, s->column[j], i, j, unit), 0);
        if (c == 0 || distance < near[j] || j == i) {
            near[j] = distance;
            s->labels[j] = c;
        }
        weight[j] = p->degree[j] / unit * near[j];
    }
    return CLV_OK;
}

clv_status clv_start_plusplus(clv_partition *s, clv_rng *rng) {
    const clv_ncut_problem *p = s->problem;
    double *near = CLV_NEW(p->ctx, double, 2 * p->n);
    clv_status status = near ? CLV_OK : CLV_ENOMEM;
    double unit = 0;
    for (int64_t j = 0; j < p->n; j++) {
        unit = fmax(unit, p->degree[j]);
    }
    if (near) {
        for (int64_t j = 0; j < p->n; j++) {
            near[p->n + j] = p->degree[j] / unit; /* the first seed: by degree */
            s->labels[j] = -1;
        }
    }
    for (int32_t c = 0; c < p->k && status == CLV_OK; c++) {
        status = add_seed(s, c, draw(p, near + p->n, rng), unit, near, near + p->n);
    }
    clv_free(p->ctx, near);
    if (status == CLV_OK) {
        clv_fill_empty(s, rng);
    }
    return status;
}

/* --- components --- */

static int by_volume(const void *left, const void *right) {
    const clv_component *l = left, *r = right;
    if (l->volume != r->volume) {
        return l->volume > r->volume ? -1 : 1;
    }
    return l->component < r->component ? -1 : l->component > r->component;
}

int64_t clv_component_of(const clv_ncut_problem *p, int64_t i) {
    if (p->degree[i] <= 0) {
        return -1;
    }
    return p->component && p->components > 0 ? p->component[i] : 0;
}

clv_component *clv_components_by_volume(const clv_ncut_problem *p, int64_t *count) {
    *count = p->component && p->components > 0 ? p->components : 1;
    clv_component *parts = CLV_NEW0(p->ctx, clv_component, *count);
    if (!parts) {
        return NULL;
    }
    for (int64_t e = 0; e < *count; e++) {
        parts[e].component = e;
    }
    for (int64_t i = 0; i < p->n; i++) {
        if (clv_component_of(p, i) >= 0) {
            parts[clv_component_of(p, i)].volume += p->degree[i];
        }
    }
    qsort(parts, (size_t)*count, sizeof *parts, by_volume);
    return parts;
}

/* The largest component first, each to the cluster with the least volume so far. `cluster` follows component. */
static void pack(const clv_partition *s, const clv_component *parts, int32_t *cluster) {
    const clv_ncut_problem *p = s->problem;
    double *volume = s->column;
    memset(volume, 0, (size_t)p->k * sizeof *volume);
    for (int64_t e = 0; e < p->components; e++) {
        int32_t least = 0;
        for (int32_t c = 1; c < p->k; c++) {
            least = volume[c] < volume[least] ? c : least;
        }
        volume[least] += parts[e].volume;
        cluster[parts[e].component] = least;
    }
}

clv_status clv_start_components(clv_partition *s) {
    const clv_ncut_problem *p = s->problem;
    int64_t count;
    clv_component *parts = clv_components_by_volume(p, &count);
    int32_t *cluster = CLV_NEW(p->ctx, int32_t, p->components);
    clv_status status = parts && cluster ? CLV_OK : CLV_ENOMEM;
    if (status == CLV_OK) {
        pack(s, parts, cluster);
        for (int64_t i = 0; i < p->n; i++) {
            s->labels[i] = p->component[i] >= 0 ? cluster[p->component[i]] : -1;
        }
    }
    clv_free(p->ctx, parts);
    clv_free(p->ctx, cluster);
    return status;
}
