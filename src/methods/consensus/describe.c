/* What is said of a consensus besides its cut: how far the inputs agree, object by object and as a whole. */
#include "methods/consensus/consensus.h"

#include "metrics/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-12

/* --- agreement --- */

/* Labels of the groups, for two labelings to be compared over all objects. */
typedef struct labeling {
    const int32_t *labels; /* count */
    int64_t k;
} labeling;

typedef struct weighted_pair {
    uint64_t key;
    int64_t objects;
} weighted_pair;

static int by_key(const void *left, const void *right) {
    uint64_t a = ((const weighted_pair *)left)->key, b = ((const weighted_pair *)right)->key;
    return (a > b) - (a < b);
}

/* Cells by sorting, where the whole table would be larger than the groups. */
static clv_status count_sorted(const clv_groups *g, labeling a, labeling b, clv_contingency *table) {
    weighted_pair *pairs = CLV_TAKE(&table->kept, weighted_pair, g->count);
    table->count = CLV_TAKE(&table->kept, int64_t, g->count);
    CLV_TRY(table->kept.status);
    int64_t known = 0;
    for (int64_t i = 0; i < g->count; i++) {
        if (a.labels[i] >= 0 && b.labels[i] >= 0) {
            uint64_t key = (uint64_t)a.labels[i] << 32 | (uint64_t)b.labels[i];
            pairs[known++] = (weighted_pair){key, (int64_t)g->weight[i]};
        }
    }
    qsort(pairs, (size_t)known, sizeof *pairs, by_key);
    for (int64_t i = 0; i < known; i++) {
        if (i == 0 || pairs[i].key != pairs[i - 1].key) {
            table->count[table->cells++] = 0;
        }
        table->count[table->cells - 1] += pairs[i].objects;
    }
    return CLV_OK;
}

static clv_status count_whole(const clv_groups *g, labeling a, labeling b, clv_contingency *table) {
    table->cells = a.k * b.k; /* those of 0 add nothing */
    table->count = CLV_TAKE0(&table->kept, int64_t, table->cells);
    CLV_TRY(table->kept.status);
    for (int64_t i = 0; i < g->count; i++) {
        if (a.labels[i] >= 0 && b.labels[i] >= 0) {
            table->count[a.labels[i] * b.k + b.labels[i]] += (int64_t)g->weight[i];
        }
    }
    return CLV_OK;
}

/* The adjusted Rand index over the objects that both know; NaN: there are none. */
static clv_status agreement(const clv_groups *g, labeling a, labeling b, double *out) {
    clv_contingency table = {.kept.ctx = g->ctx, .classes = a.k, .clusters = b.k};
    table.class_size = CLV_TAKE0(&table.kept, int64_t, a.k);
    table.cluster_size = CLV_TAKE0(&table.kept, int64_t, b.k);
    clv_status status = table.kept.status;
    if (status == CLV_OK) {
        bool small = a.k <= INT32_MAX / b.k && a.k * b.k <= g->count + 65536;
        status = small ? count_whole(g, a, b, &table) : count_sorted(g, a, b, &table);
    }
    for (int64_t i = 0; status == CLV_OK && i < g->count; i++) {
        if (a.labels[i] >= 0 && b.labels[i] >= 0) {
            table.class_size[a.labels[i]] += (int64_t)g->weight[i];
            table.cluster_size[b.labels[i]] += (int64_t)g->weight[i];
            table.objects += (int64_t)g->weight[i];
        }
    }
    *out = table.objects > 0 ? clv_adjusted_rand(&table) : NAN;
    clv_contingency_free(&table);
    CLV_TRY(status);
    return clv_worked(g->ctx, 4 * g->count) ? clv_stop_failure(g->ctx, "comparing the inputs") : CLV_OK;
}

static int64_t width_of(const clv_groups *g, int64_t input) {
    int64_t width = g->first[input + 1] - g->first[input];
    return width > 0 ? width : 1;
}

/* The labels of all inputs, a row of `count` each. */
static clv_status label_inputs(const clv_groups *g, int32_t **out) {
    int64_t entries;
    *out = clv_mul(g->inputs, g->count, &entries) ? CLV_NEW(g->ctx, int32_t, entries) : NULL;
    if (!*out) {
        return CLV_ENOMEM;
    }
    for (int64_t m = 0; m < g->inputs; m++) {
        for (int64_t i = 0; i < g->count; i++) {
            (*out)[m * g->count + i] = clv_groups_label(g, m, i);
        }
    }
    return CLV_OK;
}

static clv_status find_medoid(const clv_groups *g, const int32_t *labels, double *mean, int64_t *out) {
    memset(mean, 0, (size_t)g->inputs * sizeof *mean);
    for (int64_t a = 0; a < g->inputs; a++) {
        for (int64_t b = 0; b < a; b++) {
            double ari;
            CLV_TRY(agreement(g, (labeling){labels + a * g->count, width_of(g, a)},
                              (labeling){labels + b * g->count, width_of(g, b)}, &ari));
            mean[a] += isnan(ari) ? 0 : ari; /* no object in common: nothing that speaks for either */
            mean[b] += isnan(ari) ? 0 : ari;
        }
    }
    *out = 0;
    for (int64_t m = 0; m < g->inputs; m++) {
        mean[m] = g->inputs > 1 ? mean[m] / (double)(g->inputs - 1) : 1;
        *out = mean[m] > mean[*out] ? m : *out;
    }
    return CLV_OK;
}

clv_status clv_consensus_medoid(const clv_groups *g, double *mean, int64_t *out) {
    int32_t *labels = NULL;
    CLV_TRY(label_inputs(g, &labels));
    clv_status status = find_medoid(g, labels, mean, out);
    clv_free(g->ctx, labels);
    return status;
}

/* --- confidence --- */

/* The share of the objects of a cluster that an input knows and puts where it puts this one, over the inputs that know
 * it: how likely one of them, drawn at random, puts it with another object of its cluster. */
static clv_status find_confidence(const clv_groups *g, const int32_t *labels, int64_t k, double *out) {
    clv_kept kept = {.ctx = g->ctx};
    int64_t entries = 0;
    double *share = clv_mul(g->width, k, &entries) ? CLV_TAKE0(&kept, double, entries) : NULL;
    double *known = CLV_TAKE0(&kept, double, g->inputs *k);
    if (!share || kept.status < 0) {
        clv_free_kept(&kept);
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < g->n; i++) {
        for (int64_t e = labels[i] >= 0 ? g->start[g->group[i]] : 0,
                     end = labels[i] >= 0 ? g->start[g->group[i] + 1] : 0;
             e < end; e++) {
            share[g->index[e] * k + labels[i]] += g->value[e] * sqrt(g->known[g->group[i]]);
        }
    }
    for (int64_t m = 0; m < g->inputs; m++) { /* the memberships of an object add up to 1 */
        for (int64_t r = g->first[m]; r < g->first[m + 1]; r++) {
            for (int64_t c = 0; c < k; c++) {
                known[m * k + c] += share[r * k + c];
            }
        }
        for (int64_t r = g->first[m]; r < g->first[m + 1]; r++) {
            for (int64_t c = 0; c < k; c++) {
                share[r * k + c] = known[m * k + c] > 0 ? share[r * k + c] / known[m * k + c] : 0;
            }
        }
    }
    for (int64_t i = 0; i < g->n; i++) {
        double sum = 0;
        for (int64_t e = labels[i] >= 0 ? g->start[g->group[i]] : 0,
                     end = labels[i] >= 0 ? g->start[g->group[i] + 1] : 0;
             e < end; e++) {
            sum += g->value[e] * share[g->index[e] * k + labels[i]];
        }
        double found = labels[i] >= 0 ? sum / sqrt(g->known[g->group[i]]) : 0;
        out[i] = found > 1 - ROUNDING ? 1 : found; /* where all agree */
    }
    clv_free_kept(&kept);
    return clv_worked(g->ctx, 2 * g->n) ? clv_stop_failure(g->ctx, "judging the consensus") : CLV_OK;
}

/* --- fields --- */

/* Labels of an answer may split groups: those of the groups are then no labels of all objects, and the comparison is
 * with a copy of the groups in which each object is its own. */
typedef struct agreements {
    double *ari, *mean; /* inputs */
    int64_t *clusters, *left_out;
    double *confidence; /* n */
    int32_t *inputs;    /* inputs x count */
    int32_t *input;     /* n: the labels of one input */
} agreements;

static clv_status compare_inputs(const clv_groups *g, const int32_t *labels, int64_t k, agreements *a) {
    clv_groups objects = {.ctx = g->ctx, .count = g->n, .weight = a->confidence}; /* all weights 1, for now */
    for (int64_t i = 0; i < g->n; i++) {
        a->confidence[i] = 1;
    }
    for (int64_t m = 0; m < g->inputs; m++) {
        a->clusters[m] = g->first[m + 1] - g->first[m];
        a->left_out[m] = 0;
        for (int64_t i = 0; i < g->n; i++) {
            a->input[i] = g->group[i] < 0 ? -1 : a->inputs[m * g->count + g->group[i]];
            a->left_out[m] += a->input[i] < 0;
        }
        CLV_TRY(agreement(&objects, (labeling){labels, k}, (labeling){a->input, width_of(g, m)}, &a->ari[m]));
    }
    return CLV_OK;
}

static clv_status name_inputs(const clv_groups *g, clv_kept *kept, clv_result *out) {
    enum { SIZE = 24 };
    const char **names = CLV_TAKE(kept, const char *, g->inputs);
    char *text = CLV_TAKE(kept, char, g->inputs *SIZE);
    CLV_TRY(kept->status);
    for (int64_t m = 0; m < g->inputs; m++) {
        snprintf(text + m * SIZE, SIZE, "%lld", (long long)m + 1);
        names[m] = text + m * SIZE;
    }
    return clv_result_put_texts(out, "inputs.name", names, g->inputs);
}

static clv_status put_fields(const clv_groups *g, const agreements *a, int64_t medoid, clv_kept *kept,
                             clv_result *out) {
    CLV_TRY(clv_result_put_integer(out, "groups", g->count));
    CLV_TRY(clv_result_put_integer(out, "medoid", medoid));
    CLV_TRY(name_inputs(g, kept, out));
    CLV_TRY(clv_result_put_integers(out, "inputs.clusters", a->clusters, g->inputs));
    CLV_TRY(clv_result_put_integers(out, "inputs.left_out", a->left_out, g->inputs));
    CLV_TRY(clv_result_put_reals(out, "inputs.ari", a->ari, g->inputs));
    CLV_TRY(clv_result_put_reals(out, "inputs.mean_ari", a->mean, g->inputs));
    return clv_result_put_reals(out, "confidence", a->confidence, g->n);
}

static clv_status describe(const clv_groups *g, const int32_t *labels, int64_t k, agreements *a, clv_kept *kept,
                           clv_result *out) {
    int64_t medoid;
    CLV_TRY(label_inputs(g, &a->inputs));
    CLV_TRY(compare_inputs(g, labels, k, a));
    CLV_TRY(find_medoid(g, a->inputs, a->mean, &medoid));
    CLV_TRY(find_confidence(g, labels, k, a->confidence));
    for (int64_t m = 0; m < g->inputs; m++) {
        a->ari[m] = isnan(a->ari[m]) ? 0 : a->ari[m];
    }
    return put_fields(g, a, medoid, kept, out);
}

clv_status clv_consensus_describe(const clv_groups *g, const int32_t *labels, int64_t k, clv_result *out) {
    clv_kept kept = {.ctx = g->ctx};
    agreements a = {.ari = CLV_TAKE(&kept, double, g->inputs),
                    .mean = CLV_TAKE(&kept, double, g->inputs),
                    .clusters = CLV_TAKE(&kept, int64_t, g->inputs),
                    .left_out = CLV_TAKE(&kept, int64_t, g->inputs),
                    .confidence = CLV_TAKE(&kept, double, g->n),
                    .input = CLV_TAKE(&kept, int32_t, g->n)};
    clv_status status = kept.status == CLV_OK ? describe(g, labels, k, &a, &kept, out) : kept.status;
    clv_free(g->ctx, a.inputs);
    clv_free_kept(&kept);
    return status;
}
