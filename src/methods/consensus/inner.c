/* symnmf and dominant on the co-association: F is written out, a row per object, and F F' is their low-rank affinity.
 */
#include "methods/consensus/consensus.h"

#include "affinity/affinity.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { ROWS_A_LOOK = 256 };

const clv_method *clv_consensus_inner(const clv_consensus_options *options) {
    bool cut = options->medoid || options->method == CLV_CONSENSUS_NCUT;
    return cut ? &clv_ncut_method : options->method == CLV_CONSENSUS_SYMNMF ? &clv_symnmf_method : &clv_dominant_method;
}

void clv_association_free(clv_association *a) {
    clv_affinity_free(a->affinity);
    clv_data_free(a->factor);
}

/* F, a row per object. */
static clv_status write_out(const clv_groups *g, double *rows) {
    for (int64_t i = 0; i < g->n; i++) {
        double *row = rows + i * g->width;
        int64_t group = g->group[i], end = group < 0 ? 0 : g->start[group + 1];
        memset(row, 0, (size_t)g->width * sizeof *row);
        for (int64_t e = group < 0 ? 0 : g->start[group]; e < end; e++) {
            row[g->index[e]] = g->value[e];
        }
        if (i % ROWS_A_LOOK == 0 && clv_interrupted(g->ctx)) { /* memory that is new may be slow to come */
            return clv_stop_failure(g->ctx, "writing out the co-association");
        }
    }
    return CLV_OK;
}

clv_status clv_association_new(const clv_groups *g, bool zero_diagonal, int64_t threads, clv_association *out) {
    clv_affinity_options how;
    *out = (clv_association){0};
    CLV_TRY(clv_data_new_dense(g->ctx, "co-association", g->n, g->width, CLV_F64, &out->factor));
    CLV_TRY(write_out(g, out->factor->values));
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    how.threads = threads;
    how.zero_diagonal = zero_diagonal;
    return clv_affinity_lowrank(g->ctx, clv_data_matrix(out->factor), &how, &out->affinity);
}

/* The options of the inner method: k and the control are those of the consensus, dominant finds the shift that suits k,
 * and objects that it leaves out go to the cluster that they are most similar to. */
static void set_options(const clv_consensus_options *options, const clv_method *method, clv_options_room *out) {
    clv_method_defaults(method, out->bytes, method->options->size);
    clv_control *control = (clv_control *)(void *)out->bytes;
    size_t size = control->size;
    *control = options->control;
    control->size = size;
    control->time_limit = 0; /* the deadline is set */
    if (method == &clv_symnmf_method) {
        ((clv_symnmf_options *)(void *)out->bytes)->k = options->k;
    } else {
        ((clv_dominant_options *)(void *)out->bytes)->k = options->k;
        ((clv_dominant_options *)(void *)out->bytes)->assign = 1;
    }
}

/* symnmf has memberships, and so a label, of every object, and where dominant adds a shift all objects are similar:
 * those that no input knows are left out. */
static void leave_out(const clv_groups *g, clv_result *result) {
    for (int64_t i = 0; i < g->n; i++) {
        result->labels[i] = g->group[i] < 0 ? -1 : result->labels[i];
    }
}

/* The labels as the method gave them: those that are left out by the largest membership; with none, dominant had left
 * them out as well. */
static clv_status labels_before(const clv_groups *g, const clv_result *answer, int32_t without, int32_t *labels) {
    const clv_matrix *membership = clv_result_matrix(answer, "membership");
    double *row = CLV_NEW(g->ctx, double, answer->k);
    if (!row) {
        return CLV_ENOMEM;
    }
    bool fits = membership && membership->rows == g->n && membership->cols == answer->k;
    for (int64_t i = 0; i < g->n; i++) {
        labels[i] = answer->labels[i];
        if (g->group[i] < 0 && fits) {
            clv_matrix_row(membership, i, row);
            double most = 0;
            labels[i] = without;
            for (int32_t c = 0; c < answer->k; c++) {
                labels[i] = row[c] > most ? c : labels[i];
                most = fmax(most, row[c]);
            }
        }
    }
    clv_free(g->ctx, row);
    return CLV_OK;
}

/* Where time ends before the method has evaluated a start: the labels of a cut, of which nothing is claimed. There is
 * none into more clusters than groups; symnmf then has clusters that are empty, as it may have on its own, and
 * dominant, of which k are the most, has fewer. */
static clv_status solve_roughly(const clv_groups *g, const clv_consensus_options *options, clv_result **out) {
    const clv_method *method = clv_consensus_inner(options);
    clv_consensus_options own = *options;
    clv_result *cut = NULL;
    own.k = options->k < g->count ? options->k : g->count;
    clv_status status = clv_result_new(g->ctx, g->n, own.k, &cut);
    if (status == CLV_OK) {
        clv_session_pause(g->ctx); /* the method itself is to be resumed, not this */
        status = clv_consensus_search(g, &own, cut);
        clv_session_go_on(g->ctx);
    }
    if (status == CLV_OK) {
        status = clv_result_new(g->ctx, g->n, method == &clv_dominant_method ? own.k : options->k, out);
    }
    if (status == CLV_OK) {
        memcpy((*out)->labels, cut->labels, (size_t)g->n * sizeof *cut->labels);
        status = clv_describe_rough(g->ctx, method, &options->control, "those of a cut of the same similarities", *out);
    }
    clv_result_free(cut);
    return status;
}

clv_status clv_consensus_solve_inner(const clv_groups *g, const clv_consensus_options *options, clv_result **out) {
    const clv_method *method = clv_consensus_inner(options);
    clv_options_room own;
    clv_association a;
    set_options(options, method, &own);
    clv_status status = clv_association_new(g, method == &clv_dominant_method, options->control.threads, &a);
    if (status == CLV_OK) {
        status = method->solve(g->ctx, &(clv_input){.affinity = a.affinity}, own.bytes, out);
    }
    if (status == CLV_OK) {
        leave_out(g, *out);
    }
    clv_association_free(&a);
    if (clv_is_stop(status) && g->count > 0) {
        clv_result_free(*out);
        *out = NULL;
        status = solve_roughly(g, options, out);
    }
    return status;
}

clv_status clv_consensus_evaluate_inner(const clv_groups *g, const clv_consensus_options *options,
                                        const clv_result *answer, clv_result *found) {
    const clv_method *method = clv_consensus_inner(options);
    clv_options_room own;
    clv_association a;
    clv_result whole = *answer;
    set_options(options, method, &own);
    clv_status status = clv_association_new(g, method == &clv_dominant_method, options->control.threads, &a);
    int32_t *labels = status == CLV_OK ? CLV_NEW(g->ctx, int32_t, g->n) : NULL;
    if (status == CLV_OK) {
        status = labels ? labels_before(g, answer, method == &clv_symnmf_method ? 0 : -1, labels) : CLV_ENOMEM;
        whole.labels = labels;
    }
    if (status == CLV_OK) {
        status = method->evaluate(g->ctx, &(clv_input){.affinity = a.affinity}, own.bytes, &whole, found);
    }
    clv_free(g->ctx, labels);
    clv_association_free(&a);
    return status;
}
