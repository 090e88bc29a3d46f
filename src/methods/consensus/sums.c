/* Sums over clusters, and what moves are worth by them. A row of `sum` holds one column of F for all k clusters, so
 * that the products of a group with all of them run along rows. */
#include "methods/consensus/consensus.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

clv_status clv_sums_new(const clv_groups *g, int64_t k, clv_sums *s) {
    int64_t entries;
    *s = (clv_sums){.groups = g, .kept.ctx = g->ctx, .k = k};
    if (!clv_mul(g->width, k, &entries)) {
        return clv_fail(g->ctx, CLV_ENOMEM, "sums for %lld clusters of %lld columns are more than can be addressed",
                        (long long)k, (long long)g->width);
    }
    s->sum = CLV_TAKE(&s->kept, double, entries);
    s->volume = CLV_TAKE(&s->kept, double, k);
    s->square = CLV_TAKE(&s->kept, double, k);
    s->size = CLV_TAKE(&s->kept, double, k);
    s->dot = CLV_TAKE(&s->kept, double, k);
    return s->kept.status;
}

void clv_sums_free(clv_sums *s) {
    clv_free_kept(&s->kept);
}

void clv_sums_clear(clv_sums *s) {
    size_t k = (size_t)s->k;
    memset(s->sum, 0, (size_t)s->groups->width * k * sizeof *s->sum);
    memset(s->volume, 0, k * sizeof *s->volume);
    memset(s->size, 0, k * sizeof *s->size);
}

void clv_sums_add(clv_sums *s, int64_t group, int32_t cluster, double objects) {
    const clv_groups *g = s->groups;
    for (int64_t e = g->start[group]; e < g->start[group + 1]; e++) {
        s->sum[g->index[e] * s->k + cluster] += objects * g->value[e];
    }
    s->volume[cluster] += objects * g->degree[group];
    s->size[cluster] += objects;
}

void clv_sums_square(clv_sums *s) {
    memset(s->square, 0, (size_t)s->k * sizeof *s->square);
    for (int64_t r = 0; r < s->groups->width; r++) {
        const double *row = s->sum + r * s->k;
        for (int64_t c = 0; c < s->k; c++) {
            s->square[c] += row[c] * row[c];
        }
    }
}

void clv_sums_dots(clv_sums *s, int64_t group) {
    const clv_groups *g = s->groups;
    memset(s->dot, 0, (size_t)s->k * sizeof *s->dot);
    for (int64_t e = g->start[group]; e < g->start[group + 1]; e++) {
        const double *row = s->sum + g->index[e] * s->k;
        double value = g->value[e];
        for (int64_t c = 0; c < s->k; c++) {
            s->dot[c] += value * row[c];
        }
    }
}

/* |s_c|^2 / v_c when so many objects (below 0: they leave) have come, less what it is. A cluster that becomes empty has
 * nothing. */
static double change(const clv_sums *s, int64_t group, int32_t c, double objects) {
    double volume = s->volume[c] + objects * s->groups->degree[group];
    double square = s->square[c] + 2 * objects * s->dot[c] + objects * objects * s->groups->square[group];
    return (s->size[c] + objects > 0.5 ? square / volume : 0) - s->square[c] / s->volume[c];
}

double clv_sums_gain(const clv_sums *s, int64_t group, int32_t from, int32_t to, double objects) {
    return (change(s, group, from, -objects) + change(s, group, to, objects)) / 2;
}

/* Cut by cut: |s_c|^2 and v_c agree in most digits where little is cut, and v_c is s_c times the sum of all. Where all
 * of them agree nothing is: what is left is rounding, of which a bound of 0 would be 100 % away. */
double clv_sums_cut(const clv_sums *s) {
    double cut = 0;
    for (int64_t c = 0; c < s->k; c++) {
        double share = (s->volume[c] - s->square[c]) / s->volume[c];
        cut += share > CLV_CONSENSUS_GAIN ? share : 0;
    }
    return cut / 2;
}
