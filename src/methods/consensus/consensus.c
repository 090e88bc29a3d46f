/* Solving and evaluating a consensus: groups, then the search of ncut, another method on F F', or the medoid. */
#include "methods/consensus/consensus.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

clv_status clv_consensus_check(clv_context *ctx, const void *chosen) {
    const clv_consensus_options *options = chosen;
    if (options->k == 0 && !options->medoid) {
        return clv_fail(ctx, CLV_EUSAGE, "consensus needs k, the number of clusters, or medoid");
    }
    return CLV_OK;
}

size_t clv_consensus_bytes(const clv_input *input, const void *chosen) {
    const clv_consensus_options *options = chosen;
    size_t n = (size_t)input->points->rows, k = (size_t)(options->k > 0 ? options->k : 1);
    size_t inputs = (size_t)(input->widths ? input->widths->rows * input->widths->cols : input->points->cols);
    size_t groups = clv_groups_bytes(input->points);
    size_t run = n * (2 * sizeof(int32_t) + sizeof(double));
    size_t runs =
        (size_t)clv_driver_workers(&options->control) * run + clv_driver_memory(&options->control, n * sizeof(int32_t));
    size_t search = n * (k * sizeof(double) + inputs * sizeof(int64_t)) + runs;
    size_t describe = n * (sizeof(double) + 4 * sizeof(int32_t) + inputs * sizeof(int32_t));
    return groups + n * sizeof(double) + n * sizeof(int32_t) + (search > describe ? search : describe);
}

static clv_status check_k(const clv_groups *g, int64_t k) {
    if (k > g->count) {
        return clv_fail(g->ctx, CLV_EDATA,
                        "k = %lld exceeds the %lld groups of objects that the inputs tell apart: take a smaller k, or "
                        "inputs with more clusters",
                        (long long)k, (long long)g->count);
    }
    return CLV_OK;
}

/* --- cut and certificate of any labels --- */

/* Labels of -1 where every input leaves the object out, and only there, unless others may be left out as well. */
static clv_status check_labels(const clv_groups *g, const clv_result *answer, bool may_lack) {
    for (int64_t i = 0; i < g->n; i++) {
        bool known = g->group[i] >= 0;
        if (known ? answer->labels[i] < 0 && !may_lack : answer->labels[i] >= 0) {
            return clv_fail(g->ctx, CLV_EDATA, "object %lld has the label %d, but %s", (long long)i + 1,
                            (int)answer->labels[i],
                            known ? "an input knows it" : "every input leaves it out: it must be -1");
        }
    }
    return CLV_OK;
}

/* Over the objects with a label, as they lie: labels that split groups are judged object by object. */
static clv_status judge(const clv_groups *g, const int32_t *labels, clv_sums *s, clv_iterate *out) {
    double most = -HUGE_VAL;
    clv_sums_clear(s);
    for (int64_t i = 0; i < g->n; i++) {
        if (labels[i] >= 0) {
            clv_sums_add(s, g->group[i], labels[i], 1);
        }
    }
    for (int64_t c = 0; c < s->k; c++) {
        if (s->size[c] == 0) {
            return clv_fail(g->ctx, CLV_EDATA, "no object has label %lld of the labels 0..%lld", (long long)c,
                            (long long)s->k - 1);
        }
    }
    clv_sums_square(s);
    out->value = clv_sums_cut(s);
    for (int64_t i = 0; i < g->n; i++) {
        if (labels[i] < 0 || s->size[labels[i]] < 1.5) {
            continue;
        }
        clv_sums_dots(s, g->group[i]);
        for (int32_t c = 0; c < s->k; c++) {
            most = c != labels[i] ? fmax(most, clv_sums_gain(s, g->group[i], labels[i], c, 1)) : most;
        }
        if (i % 4096 == 0 && clv_worked(g->ctx, 4096 * s->k * g->inputs)) {
            return clv_stop_failure(g->ctx, "evaluating a consensus");
        }
    }
    out->certificate = most > -HUGE_VAL ? most : 0;
    return CLV_OK;
}

/* A run that was cut short may have had no time for the eigenvalues: then nothing is said of them. */
static bool lacks_spectrum(const clv_result *answer) {
    bool cut = answer->stop == CLV_TIME_LIMIT || answer->stop == CLV_CANCELLED;
    return cut && !clv_result_field(answer, "eigenvalues");
}

static clv_status evaluate(const clv_groups *g, const clv_result *answer, clv_result *found) {
    bool without = lacks_spectrum(answer);
    clv_iterate iterate = {.value = NAN, .certificate = NAN};
    clv_sums s;
    double *values = CLV_NEW(g->ctx, double, answer->k);
    clv_status status = clv_sums_new(g, answer->k, &s);
    status = status == CLV_OK && !values ? CLV_ENOMEM : status;
    if (status == CLV_OK) {
        status = judge(g, answer->labels, &s, &iterate);
    }
    if (status == CLV_OK) {
        clv_result_claim(found, &clv_consensus_method, iterate.value, iterate.certificate,
                         CLV_CONSENSUS_GAIN * (double)answer->k);
    }
    if (status == CLV_OK && !without) {
        status = clv_consensus_spectrum(g, answer->k, (uint64_t)answer->seed, values, NULL);
    }
    if (status == CLV_OK && !without) {
        found->bound = (clv_bound){clv_consensus_method.bound, clv_consensus_bound(values, answer->k)};
        status = clv_result_put_reals(found, "eigenvalues", values, answer->k);
    }
    clv_sums_free(&s);
    clv_free(g->ctx, values);
    return status;
}

/* --- the medoid --- */

/* The labels of the medoid, without those that nobody has; *k of them. */
static clv_status medoid_labels(const clv_groups *g, int32_t *labels, int64_t *k) {
    int64_t medoid;
    double *mean = CLV_NEW(g->ctx, double, g->inputs);
    clv_status status = mean ? clv_consensus_medoid(g, mean, &medoid) : CLV_ENOMEM;
    clv_free(g->ctx, mean);
    CLV_TRY(status);
    int64_t width = g->first[medoid + 1] - g->first[medoid];
    int32_t *name = CLV_NEW0(g->ctx, int32_t, width);
    if (!name) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < g->n; i++) {
        labels[i] = g->group[i] < 0 ? -1 : clv_groups_label(g, medoid, g->group[i]);
        if (labels[i] >= 0) {
            name[labels[i]] = 1;
        }
    }
    *k = 0;
    for (int64_t c = 0; c < width; c++) {
        name[c] = name[c] ? (int32_t)(*k)++ : -1;
    }
    for (int64_t i = 0; i < g->n; i++) {
        labels[i] = labels[i] < 0 ? -1 : name[labels[i]];
    }
    clv_free(g->ctx, name);
    return *k > 0 ? CLV_OK
                  : clv_fail(g->ctx, CLV_EDATA, "the medoid, input %lld, labels no object", (long long)medoid + 1);
}

/* Nothing is searched for: every restart is the same. */
static clv_status list_restarts(const clv_control *control, clv_result *result) {
    result->restarts = CLV_NEW(result->ctx, clv_restart, control->restarts);
    if (!result->restarts) {
        return CLV_ENOMEM;
    }
    result->restarts_count = control->restarts;
    for (int64_t r = 0; r < control->restarts; r++) {
        result->restarts[r] = (clv_restart){result->objective.value, 0, NAN, CLV_CONVERGED};
    }
    return CLV_OK;
}

static clv_status take_medoid(const clv_groups *g, const clv_consensus_options *options, clv_result **out) {
    int32_t *labels = CLV_NEW(g->ctx, int32_t, g->n);
    int64_t k = 0;
    clv_status status = labels ? medoid_labels(g, labels, &k) : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = clv_result_new(g->ctx, g->n, k, out);
    }
    if (status == CLV_OK) {
        memcpy((*out)->labels, labels, (size_t)g->n * sizeof *labels);
        (*out)->stop = CLV_CONVERGED;
        (*out)->seed = options->control.seed;
        status = evaluate(g, *out, *out);
    }
    clv_free(g->ctx, labels);
    return status < 0 ? status : list_restarts(&options->control, *out);
}

static clv_status check_medoid(const clv_groups *g, const clv_result *answer) {
    int32_t *labels = CLV_NEW(g->ctx, int32_t, g->n);
    int64_t k = 0;
    clv_status status = labels ? medoid_labels(g, labels, &k) : CLV_ENOMEM;
    if (status == CLV_OK && (k != answer->k || memcmp(labels, answer->labels, (size_t)g->n * sizeof *labels) != 0)) {
        status = clv_fail(g->ctx, CLV_EDATA, "the labels are not those of the medoid");
    }
    clv_free(g->ctx, labels);
    return status;
}

/* --- the functions of the method --- */

static clv_status solve_groups(const clv_groups *g, const clv_consensus_options *options, clv_result **out) {
    if (options->medoid) {
        CLV_TRY(take_medoid(g, options, out));
    } else if (options->method != CLV_CONSENSUS_NCUT) {
        CLV_TRY(clv_consensus_solve_inner(g, options, out));
    } else {
        CLV_TRY(check_k(g, options->k));
        CLV_TRY(clv_result_new(g->ctx, g->n, options->k, out));
        CLV_TRY(clv_consensus_search(g, options, *out));
    }
    clv_result_count(*out);
    clv_set_patient(g->ctx, true); /* what was found in time is worth these few passes */
    clv_status status = clv_consensus_describe(g, (*out)->labels, (*out)->k, *out);
    clv_set_patient(g->ctx, false);
    return status < 0 ? status : clv_consensus_advise(g, options, *out);
}

clv_status clv_consensus_solve(clv_context *ctx, const clv_input *input, const void *options, clv_result **out) {
    clv_groups g;
    clv_status status = clv_groups_new(ctx, input->points, input->widths, &g);
    if (status == CLV_OK) {
        status = solve_groups(&g, options, out);
    }
    if (status == CLV_OK) {
        const clv_method *inner = clv_consensus_inner(options);
        memccpy((*out)->solver, inner->name, '\0', sizeof(*out)->solver);
    }
    clv_groups_free(&g);
    return status;
}

/* Which of the methods has a shift. */
static clv_status check_shift(const clv_groups *g, const clv_consensus_options *options, const clv_result *answer) {
    bool has = clv_consensus_inner(options) == &clv_dominant_method;
    return has || !clv_result_field(answer, "shift")
               ? CLV_OK
               : clv_fail(g->ctx, CLV_EDATA, "the answer has a shift, which only method dominant has");
}

static clv_status evaluate_groups(const clv_groups *g, const clv_consensus_options *options, const clv_result *answer,
                                  clv_result *found) {
    CLV_TRY(check_shift(g, options, answer));
    CLV_TRY(check_labels(g, answer, options->medoid || options->method == CLV_CONSENSUS_DOMINANT));
    if (options->medoid || options->method == CLV_CONSENSUS_NCUT) {
        CLV_TRY(options->medoid ? check_medoid(g, answer) : CLV_OK);
        CLV_TRY(evaluate(g, answer, found));
    } else {
        CLV_TRY(clv_consensus_evaluate_inner(g, options, answer, found));
    }
    return clv_consensus_describe(g, answer->labels, answer->k, found);
}

clv_status clv_consensus_evaluate_answer(clv_context *ctx, const clv_input *input, const void *options,
                                         const clv_result *answer, clv_result *found) {
    clv_groups g;
    clv_status status = clv_groups_new(ctx, input->points, input->widths, &g);
    if (status == CLV_OK) {
        status = evaluate_groups(&g, options, answer, found);
    }
    clv_groups_free(&g);
    return status;
}
