/* New objects to dominant sets that were found before (Pavan and Pelillo, "Efficient out-of-sample extension of
 * dominant-set clusters", 2004). With x the weights of a cluster, A the affinity without its diagonal, alpha the shift
 * and f = x'Ax + alpha (1 - x'x) the cohesiveness, giving some weight to a new object with the similarities b to the
 * members does not lower the objective when
 *
 *   b'x + alpha >= f,   that is   r >= t   with   r = b'x   and   t = f - alpha.
 *
 * The object joins the first cluster that accepts it, in the order in which they were peeled off, as it would have, had
 * it been there; a cluster with r = 0 never does (t may be 0 or less where a cluster holds everything there was).
 * Cluster and weights stay as they are, so that the order of the new objects does not matter.
 *
 * Only similarities to members are looked at: a new object costs as many as there are members in all. */
#include "methods/dominant/dominant.h"

#include "methods/fresh.h"

#include <math.h>

/* Accept with this much less, relative to f and alpha: a member's own r is t to rounding. */
static const double SLACK = 1e-12;

typedef struct predictor {
    clv_context *ctx;
    const clv_result *result;
    const clv_matrix *membership; /* n x k, CSR */
    const double *cohesiveness;   /* k */
    double shift;
    int64_t k, count; /* clusters, members of them */
    int64_t *members; /* ascending */
    int64_t *first;   /* k + 1: cluster c has the terms first[c]..first[c + 1] - 1 */
    int64_t *column;  /* of a term: where the similarity to the member is in a dense row */
    double *weight;   /* of a term */
    bool narrow;      /* dense rows have similarities to the members only, not to all objects */
    bool nearest;     /* who is not accepted goes to the cluster with the largest r */
} predictor;

static clv_status check_result(predictor *p) {
    int64_t count;
    CLV_TRY(clv_answer_matrix(p->ctx, p->result, "membership", p->result->n, p->result->k, &p->membership));
    p->cohesiveness = clv_result_reals(p->result, "clusters.cohesiveness", &count);
    if (!clv_is_sparse(p->membership) || !p->cohesiveness || count != p->k) {
        return clv_fail(
            p->ctx, CLV_EUSAGE,
            "to label new objects, the clusters need a sparse membership and a cohesiveness, and the result "
            "lacks one of them");
    }
    return CLV_OK;
}

static bool is_member(const predictor *p, int64_t j) {
    return p->membership->start[j] < p->membership->start[j + 1];
}

/* Where the similarity to member q is in a dense row. */
static int64_t column_of(const predictor *p, int64_t q) {
    return p->narrow ? q : p->members[q];
}

/* The weights by clusters, members ascending, from the rows of objects. */
static void list_terms(predictor *p) {
    const clv_matrix *rows = p->membership;
    for (int64_t c = 0; c <= p->k; c++) {
        p->first[c] = 0;
    }
    for (int64_t e = rows->start[0]; e < rows->start[rows->rows]; e++) {
        p->first[rows->index[e] + 1]++;
    }
    for (int64_t c = 0; c < p->k; c++) {
        p->first[c + 1] += p->first[c];
    }
    for (int64_t q = p->count - 1; q >= 0; q--) { /* backwards, from the ends of the lists to their beginnings */
        int64_t j = p->members[q];
        for (int64_t e = rows->start[j]; e < rows->start[j + 1]; e++) {
            int64_t at = --p->first[rows->index[e] + 1];
            p->column[at] = column_of(p, q);
            p->weight[at] = ((const double *)rows->values)[e];
        }
    }
    for (int64_t c = 0; c < p->k; c++) {
        p->first[c] = p->first[c + 1];
    }
    p->first[p->k] = rows->start[rows->rows] - rows->start[0];
}

static clv_status new_predictor(predictor *p, clv_context *ctx, const clv_result *result,
                                const clv_dominant_options *options) {
    *p = (predictor){.ctx = ctx,
                     .result = result,
                     .k = result->k,
                     .shift = clv_dominant_shift(options, result),
                     .nearest = options->assign != 0};
    CLV_TRY(check_result(p));
    int64_t n = p->membership->rows, terms = p->membership->start[n] - p->membership->start[0];
    p->members = CLV_NEW(ctx, int64_t, n);
    p->first = CLV_NEW(ctx, int64_t, p->k + 1);
    p->column = CLV_NEW(ctx, int64_t, terms);
    p->weight = CLV_NEW(ctx, double, terms);
    if (!p->members || !p->first || !p->column || !p->weight) {
        return CLV_ENOMEM;
    }
    for (int64_t j = 0; j < n; j++) {
        if (is_member(p, j)) {
            p->members[p->count++] = j;
        }
    }
    return CLV_OK;
}

/* --- one object --- */

static int32_t nearest_cluster(const predictor *p, const double *similar) {
    int32_t best = -1;
    for (int64_t c = 0; c < p->k; c++) {
        if (similar[c] > (best < 0 ? 0 : similar[best])) {
            best = (int32_t)c;
        }
    }
    return best;
}

static int32_t best_cluster(const predictor *p, const double *similar) {
    double alpha = p->shift;
    int32_t best = -1;
    for (int64_t c = 0; best < 0 && c < p->k; c++) {
        double f = p->cohesiveness[c], surplus = similar[c] - (f - alpha);
        if (similar[c] > 0 && surplus >= -SLACK * (fabs(f) + fabs(alpha))) {
            best = (int32_t)c;
        }
    }
    return best < 0 && p->nearest ? nearest_cluster(p, similar) : best;
}

/* r of every cluster; false, and a fault, where a similarity to a member is none. */
static bool add_sparse(const predictor *p, const clv_matrix *cross, int64_t row, double *similar, clv_fault *fault) {
    const clv_matrix *weights = p->membership;
    for (int64_t c = 0; c < p->k; c++) {
        similar[c] = 0;
    }
    for (int64_t at = cross->start[row]; at < cross->start[row + 1]; at++) {
        int64_t j = cross->index[at];
        double value = clv_stored(cross, at);
        if (is_member(p, j) && !clv_is_similarity(value, -p->shift)) {
            *fault = (clv_fault){j, value};
            return false;
        }
        for (int64_t e = weights->start[j]; e < weights->start[j + 1]; e++) {
            similar[weights->index[e]] += value * ((const double *)weights->values)[e];
        }
    }
    return true;
}

/* r of a cluster from the row of similarities at `from`; whether all of them are good. */
static bool add_terms(const predictor *p, const clv_matrix *cross, int64_t from, int64_t c, double *r) {
    const double *values = cross->values;
    const float *singles = cross->values;
    bool single = cross->scalar == CLV_F32, good = true;
    double sum = 0;
    for (int64_t t = p->first[c]; t < p->first[c + 1]; t++) {
        int64_t at = from + p->column[t];
        double value = single ? (double)singles[at] : values[at];
        good &= clv_is_similarity(value, -p->shift);
        sum += value * p->weight[t];
    }
    *r = sum;
    return good;
}

/* The first bad one of a dense row. */
static clv_fault find_fault(const predictor *p, const clv_matrix *cross, int64_t row) {
    clv_fault fault = {.object = -1};
    for (int64_t q = 0; q < p->count && fault.object < 0; q++) {
        double value = clv_stored(cross, row * cross->cols + column_of(p, q));
        if (!clv_is_similarity(value, -p->shift)) {
            fault = (clv_fault){p->members[q], value};
        }
    }
    return fault;
}

static bool add_dense(const predictor *p, const clv_matrix *cross, int64_t row, double *similar, clv_fault *fault) {
    bool good = true;
    for (int64_t c = 0; c < p->k; c++) {
        good &= add_terms(p, cross, row * cross->cols, c, &similar[c]);
    }
    if (!good) {
        *fault = find_fault(p, cross, row);
    }
    return good;
}

/* A rule as in fresh.h. */
static int32_t predict_row(const void *user, const clv_matrix *cross, int64_t row, double *similar, clv_fault *fault) {
    const predictor *p = user;
    bool good =
        clv_is_sparse(cross) ? add_sparse(p, cross, row, similar, fault) : add_dense(p, cross, row, similar, fault);
    return good ? best_cluster(p, similar) : -1;
}

/* Where similarities are made, those to members will do. */
static clv_status narrow(void *user, clv_cross *cross) {
    predictor *p = user;
    p->narrow = cross && p->count > 0 && clv_cross_narrow(cross, p->members, p->count);
    list_terms(p);
    return CLV_OK;
}

clv_status clv_dominant_predict_fresh(clv_context *ctx, const clv_input *input, const void *options,
                                      const clv_result *result, const clv_fresh *fresh, clv_result **out) {
    predictor p;
    CLV_TRY(clv_prediction_new(ctx, result, fresh->similarities ? NULL : input->affinity, fresh, out));
    clv_status status = new_predictor(&p, ctx, result, options);
    if (status == CLV_OK) {
        clv_fresh_reader reader = {.ctx = ctx,
                                   .affinity = fresh->similarities ? NULL : input->affinity,
                                   .n = p.membership->rows,
                                   .threads = clv_threads(((const clv_control *)options)->threads),
                                   .least = -p.shift,
                                   .user = &p,
                                   .prepare = narrow,
                                   .rule = predict_row,
                                   .out = *out};
        status = clv_fresh_read(&reader, fresh);
    }
    CLV_FREE_ALL(p.ctx, p.members, p.first, p.column, p.weight);
    return status;
}
