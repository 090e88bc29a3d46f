/* Evaluation of given weights: the peeling is replayed with them, f and gap of every cluster are computed from the
 * affinity, and the labels must be those that follow. One combination of columns a cluster. */
#include "methods/dominant/dominant.h"

#include <math.h>

/* How far a sum of weights may lie from 1. */
#define SUM_TOLERANCE 1e-9

/* Column c of the membership, whose entries must be weights of active objects. */
static clv_status take_set(const clv_peeling *p, const clv_matrix *membership, int64_t c, clv_dominant_set *out) {
    const double *values = membership->values;
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t e = membership->start[i]; e < membership->start[i + 1]; e++) {
            if (membership->index[e] == c && values[e] != 0) {
                if (!(values[e] > 0) || p->gone[i]) {
                    return clv_fail(p->ctx, CLV_EDATA, "object %lld has weight %g in cluster %lld%s", (long long)i + 1,
                                    values[e], (long long)c, p->gone[i] ? ", but was peeled off before" : "");
                }
                out->objects[out->count] = i;
                out->weights[out->count++] = values[e];
                sum += values[e];
            }
        }
    }
    if (!(fabs(sum - 1) <= SUM_TOLERANCE)) {
        return clv_fail(p->ctx, CLV_EDATA, "the weights of cluster %lld add up to %.17g, not to 1", (long long)c, sum);
    }
    return CLV_OK;
}

/* f, x'Ax, gap, size and prototype from r = Ax. */
static void measure(const clv_peeling *p, const double *r, clv_dominant_set *set) {
    double shift = p->options->shift, similarity = 0, squares = 0, most = CLV_GONE;
    double cutoff = clv_dominant_cutoff(p->options, p->active_count);
    int64_t heaviest = 0, at = 0;
    for (int64_t t = 0; t < set->count; t++) {
        double weight = set->weights[t];
        similarity += weight * r[set->objects[t]];
        squares += weight * weight;
        set->about.size += weight > cutoff;
        heaviest = weight > set->weights[heaviest] ? t : heaviest;
    }
    for (int64_t t = 0; t < p->active_count; t++) {
        int64_t i = p->active[t];
        while (at < set->count && set->objects[at] < i) {
            at++;
        }
        double weight = at < set->count && set->objects[at] == i ? set->weights[at] : 0;
        most = fmax(most, r[i] - shift * weight);
    }
    set->about.similarity = similarity;
    set->about.cohesiveness = similarity + shift * (1 - squares);
    set->about.certificate = most - (similarity - shift * squares);
    set->about.prototype = set->objects[heaviest];
}

static clv_status replay_cluster(clv_peeling *p, const clv_matrix *membership, int64_t c, bool ends_pass,
                                 clv_dominant_set *set) {
    set->count = 0;
    set->about = (clv_cluster){0};
    CLV_TRY(take_set(p, membership, c, set));
    CLV_TRY(clv_peel_product(p, set));
    measure(p, p->work, set);
    CLV_TRY(clv_peel_label(p, set, (int32_t)c));
    if (ends_pass) {
        clv_peel_off(p);
    }
    return CLV_OK;
}

static clv_status replay(clv_peeling *p, const clv_matrix *membership, const int64_t *pass, clv_cluster *clusters) {
    int64_t k = membership->cols;
    clv_dominant_set set = {.objects = CLV_NEW(p->ctx, int64_t, p->n), .weights = CLV_NEW(p->ctx, double, p->n)};
    clv_status status = set.objects && set.weights ? CLV_OK : CLV_ENOMEM;
    for (int64_t c = 0; status == CLV_OK && c < k; c++) {
        bool ends_pass = !pass || c + 1 == k || pass[c + 1] != pass[c];
        status = replay_cluster(p, membership, c, ends_pass, &set);
        clusters[c] = set.about;
        clusters[c].pass = pass ? pass[c] : c;
    }
    clv_dominant_set_free(p->ctx, &set);
    if (status == CLV_OK && p->options->assign) {
        status = clv_dominant_assign(p->ctx, p->affinity, k, p->options->control.threads, p->labels);
    }
    return status;
}

static clv_status compare_labels(const clv_peeling *p, const int32_t *labels) {
    for (int64_t i = 0; i < p->n; i++) {
        if (labels[i] != p->labels[i]) {
            return clv_fail(p->ctx, CLV_EDATA, "the label of object %lld is %d, but the weights give it %d",
                            (long long)i + 1, (int)labels[i], (int)p->labels[i]);
        }
    }
    return CLV_OK;
}

static clv_status check_membership(clv_context *ctx, const clv_affinity *a, const clv_matrix *membership) {
    if (!clv_is_sparse(membership) || membership->rows != clv_affinity_size(a) || membership->cols < 1) {
        return clv_fail(ctx, CLV_EUSAGE, "the membership must be a sparse matrix with a row for each of %lld objects",
                        (long long)clv_affinity_size(a));
    }
    return CLV_OK;
}

clv_status clv_dominant_evaluate(clv_context *ctx, const clv_affinity *a, const clv_dominant_options *options,
                                 const clv_matrix *membership, const int64_t *pass, const int32_t *labels,
                                 clv_objective *objective, clv_certificate *certificate, clv_cluster *clusters) {
    clv_peeling peeling = {0};
    CLV_TRY(check_membership(ctx, a, membership));
    clv_cluster *found = CLV_NEW0(ctx, clv_cluster, membership->cols);
    clv_status status = found ? clv_peeling_new(ctx, a, options, &peeling) : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = replay(&peeling, membership, pass, found);
    }
    if (status == CLV_OK) {
        status = compare_labels(&peeling, labels);
    }
    if (status == CLV_OK) {
        *objective = clv_dominant_objective(found, membership->cols);
        *certificate = clv_dominant_certificate(found, membership->cols, clv_peel_problem(&peeling).tol);
    }
    for (int64_t c = 0; status == CLV_OK && clusters && c < membership->cols; c++) {
        clusters[c] = found[c];
    }
    if (peeling.ctx) {
        clv_peeling_free(&peeling);
    }
    clv_free(ctx, found);
    return status;
}
