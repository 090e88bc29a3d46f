/* Dominant set clustering: a run, and its result. See single.c for the problem, peel.c for the clusters. */
#include "methods/dominant/dominant.h"

#include <math.h>
#include <string.h>

/* --- checks --- */

clv_status clv_dominant_check_landmarks(clv_context *ctx, int64_t landmarks) {
    return landmarks == 0 ? CLV_OK
                          : clv_fail(ctx, CLV_EUSAGE,
                                     "landmarks = %lld: by landmarks similarities may come out below 0, and dominant "
                                     "takes none; leave them out: it looks at few similarities, and needs no matrix",
                                     (long long)landmarks);
}

clv_status clv_dominant_check(clv_context *ctx, const void *chosen) {
    const clv_dominant_options *options = chosen;
    const char *start = options->start ? options->start : "";
    bool vertex = options->start_object >= 0 || strcmp(start, "vertex") == 0 || strcmp(start, "random") == 0;
    if (options->multistart > 0 && options->start_object >= 0) {
        return clv_fail(ctx, CLV_EUSAGE, "multistart samples its starts: it cannot be used with a given start");
    }
    if (vertex && options->solver == CLV_DOMINANT_RD) {
        return clv_fail(ctx, CLV_EUSAGE, "rd cannot start at a single object, which it would never leave; use center");
    }
    return CLV_OK;
}

static clv_status check_weights(clv_context *ctx, const double *weights, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(weights[i]) || weights[i] < 0) {
            return clv_fail(ctx, CLV_EDATA, "the weight of object %lld to start from is %g; it must not be negative",
                            (long long)i + 1, weights[i]);
        }
        sum += weights[i];
    }
    if (!(sum > 0) || !isfinite(sum)) {
        return clv_fail(ctx, CLV_EDATA, "the weights to start from add up to %g; they must add up to more than 0", sum);
    }
    return CLV_OK;
}

/* The weights of the first cluster, where they are given; the others start as by default. */
static clv_status take_start(clv_peeling *p, const clv_matrix *start) {
    const clv_dominant_options *options = p->options;
    if (options->multistart > 0) {
        return clv_fail(p->ctx, CLV_EUSAGE, "multistart samples its starts: it cannot be used with a given start");
    }
    if (options->start_object >= 0) {
        return clv_fail(p->ctx, CLV_EUSAGE, "weights to start from and start-object cannot be used together");
    }
    CLV_TRY(clv_column_of(p->ctx, "start", start, p->n, &p->start_weights));
    return check_weights(p->ctx, p->start_weights, p->n);
}

static clv_status check_objects(const clv_peeling *p) {
    const clv_dominant_options *options = p->options;
    if (options->k > p->n) {
        return clv_fail(p->ctx, CLV_EDATA, "k = %lld exceeds the %lld objects", (long long)options->k, (long long)p->n);
    }
    if (options->start_object >= p->n) {
        return clv_fail(p->ctx, CLV_EDATA, "start-object = %lld is not one of the %lld objects, which count from 0",
                        (long long)options->start_object, (long long)p->n);
    }
    return CLV_OK;
}

/* --- the result --- */

clv_certificate clv_dominant_certificate(const clv_cluster *clusters, int64_t count, double tol) {
    clv_certificate worst = {.name = clv_dominant_method.certificate, .value = NAN};
    double most = -HUGE_VAL;
    for (int64_t c = 0; c < count; c++) {
        double tolerance = tol * clusters[c].similarity, excess = clusters[c].certificate - tolerance;
        if (isnan(excess)) {
            return (clv_certificate){.name = worst.name, .value = NAN, .tolerance = tolerance};
        }
        if (excess > most) {
            most = excess;
            worst.value = clusters[c].certificate;
            worst.tolerance = tolerance;
        }
    }
    worst.holds = most <= 0;
    return worst;
}

double clv_dominant_objective(const clv_cluster *clusters, int64_t count) {
    double total = 0;
    for (int64_t c = 0; c < count; c++) {
        total += clusters[c].cohesiveness;
    }
    return total;
}

/* --- the table of clusters --- */

/* One column by way of k entries of 8 bytes, whatever their kind. */
static clv_status put_column(clv_result *result, const clv_field_info *info, const clv_cluster *clusters, size_t member,
                             int64_t k, void *work) {
    const char **texts = work;
    double *numbers = work;
    for (int64_t c = 0; c < k; c++) {
        if (info->kind == CLV_FIELD_TEXT) {
            texts[c] = clv_stop_name(clusters[c].stop);
        } else {
            memcpy(&numbers[c], (const char *)&clusters[c] + member, sizeof numbers[c]);
        }
    }
    return info->kind == CLV_FIELD_TEXT   ? clv_result_put_texts(result, info->name, work, k)
           : info->kind == CLV_FIELD_REAL ? clv_result_put_reals(result, info->name, work, k)
                                          : clv_result_put_integers(result, info->name, work, k);
}

clv_status clv_dominant_table(clv_result *result, const clv_cluster *clusters, int64_t k, bool all) {
#define MEMBER(name_)                                                                                                  \
    { "clusters." #name_, offsetof(clv_cluster, name_) }
    static const struct {
        const char *name;
        size_t at;
    } members[] = {MEMBER(size),       MEMBER(cohesiveness), MEMBER(certificate), MEMBER(iterations), MEMBER(stop),
                   MEMBER(similarity), MEMBER(drops),        MEMBER(swaps),       MEMBER(prototype),  MEMBER(pass)};
#undef MEMBER
    void *work = CLV_NEW(result->ctx, double, k);
    clv_status status = work ? CLV_OK : CLV_ENOMEM;
    for (size_t m = 0; m < CLV_COUNT(members) && status == CLV_OK; m++) {
        const clv_field_info *info = clv_method_gives(&clv_dominant_method, members[m].name);
        if (all || info->role == CLV_DERIVED) {
            status = put_column(result, info, clusters, members[m].at, k, work);
        }
    }
    clv_free(result->ctx, work);
    return status;
}

/* --- the rest of the result --- */

/* The weights of all clusters as the columns of a CSR matrix. */
static clv_status make_membership(const clv_peeling *p, clv_data **out) {
    int64_t nonzeros = 0;
    for (int64_t c = 0; c < p->count; c++) {
        nonzeros += p->sets[c].count;
    }
    CLV_TRY(clv_data_new_csr(p->ctx, "membership", p->n, p->count, nonzeros, out));
    int64_t *start = (*out)->start;
    double *values = (*out)->values;
    memset(start, 0, (size_t)(p->n + 1) * sizeof *start);
    for (int64_t c = 0; c < p->count; c++) {
        for (int64_t t = 0; t < p->sets[c].count; t++) {
            start[p->sets[c].objects[t] + 1]++;
        }
    }
    for (int64_t i = 0; i < p->n; i++) {
        start[i + 1] += start[i];
    }
    for (int64_t c = 0; c < p->count; c++) {
        for (int64_t t = 0; t < p->sets[c].count; t++) {
            int64_t at = start[p->sets[c].objects[t]]++;
            (*out)->index[at] = (int32_t)c;
            values[at] = p->sets[c].weights[t];
        }
    }
    memmove(start + 1, start, (size_t)p->n * sizeof *start);
    start[0] = 0;
    return CLV_OK;
}

/* Traces one after the other, each with the number of its cluster. */
static clv_status join_traces(const clv_peeling *p, clv_result *result) {
    int64_t rows = 0;
    for (int64_t c = 0; c < p->count; c++) {
        rows += p->sets[c].trace_count;
    }
    if (rows == 0) {
        return CLV_OK;
    }
    result->trace = CLV_NEW(p->ctx, clv_trace_row, rows);
    if (!result->trace) {
        return CLV_ENOMEM;
    }
    for (int64_t c = 0; c < p->count; c++) {
        for (int64_t t = 0; t < p->sets[c].trace_count; t++) {
            result->trace[result->trace_count] = p->sets[c].trace[t];
            result->trace[result->trace_count++].part = c;
        }
    }
    return CLV_OK;
}

/* The course of the run, and the clusters, from those that were peeled. */
static clv_status describe(const clv_peeling *p, clv_cluster *clusters, clv_result *result) {
    result->stop = p->stop;
    for (int64_t c = 0; c < p->count; c++) {
        const clv_cluster *cluster = &p->sets[c].about;
        clusters[c] = *cluster;
        result->iterations += cluster->iterations;
        result->drift = fmax(result->drift, p->sets[c].drift);
        if (result->stop == CLV_CONVERGED) {
            result->stop = cluster->stop;
        }
    }
    clv_certificate worst = clv_dominant_certificate(clusters, p->count, clv_peel_problem(p).tol);
    clv_result_claim(result, &clv_dominant_method, clv_dominant_objective(clusters, p->count), worst.value,
                     worst.tolerance);
    result->restarts_count = 1;
    result->restarts[0] = (clv_restart){result->objective.value, result->iterations, NAN, result->stop};
    return clv_dominant_table(result, clusters, p->count, true);
}

static clv_status fill_result(const clv_peeling *p, clv_result *result) {
    static const char *const extras[CLV_TRACE_EXTRAS] = {"support", "drops", "swaps"};
    clv_data *membership;
    memcpy(result->trace_extras, extras, sizeof extras);
    result->trace_part = "cluster";
    memcpy(result->labels, p->labels, (size_t)p->n * sizeof *result->labels);
    clv_result_count(result);
    result->restarts = CLV_NEW(p->ctx, clv_restart, 1);
    clv_cluster *clusters = CLV_NEW(p->ctx, clv_cluster, p->count);
    clv_status status = result->restarts && clusters ? make_membership(p, &membership) : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = clv_result_take(result, "membership", CLV_FIELD_SPARSE, membership);
    }
    if (status == CLV_OK) {
        status = describe(p, clusters, result);
    }
    clv_free(p->ctx, clusters);
    CLV_TRY(status);
    if (p->passes > 0) {
        CLV_TRY(clv_result_put_integer(result, "passes", p->passes));
    }
    if (p->shift_found) {
        CLV_TRY(clv_result_put_real(result, "shift", p->options->shift));
    }
    CLV_TRY(clv_dominant_warn_of_cores(p, result));
    return join_traces(p, result);
}

static clv_status no_cluster(const clv_peeling *p) {
    const clv_dominant_options *options = p->options;
    const char *reason = "no two objects are similar";
    if (p->n == 1) {
        reason = "there is only one object";
    } else if (options->min_size > 1 || options->min_cohesiveness > 0) {
        reason = "the first is smaller or less cohesive than asked for";
    } else if (options->cutoff > 0) {
        reason = "no two objects are similar, or none has more weight than the cutoff";
    }
    return clv_fail(p->ctx, CLV_EDATA, "there is no cluster: %s", reason);
}

/* A run that was cut short assigns nothing any more. */
static clv_status assign(clv_peeling *p) {
    if (!p->options->assign || p->stop != CLV_CONVERGED) {
        return CLV_OK;
    }
    clv_status status = clv_dominant_assign(p->ctx, p->affinity, p->count, p->options->control.threads, p->labels);
    if (clv_is_stop(status)) { /* the clusters stand without it */
        clv_peel_note(p, clv_stop_of(status));
        return CLV_OK;
    }
    return status;
}

/* Its trials are no part of what a checkpoint holds: a resumed run makes them again. */
static clv_status settle_shift(clv_peeling *p, clv_dominant_options *options) {
    if (!isnan(options->shift)) {
        return CLV_OK;
    }
    options->shift = 0;
    p->shift_found = options->k > 0;
    clv_session_pause(p->ctx);
    clv_status status = clv_dominant_find_shift(p, &options->shift);
    clv_session_go_on(p->ctx);
    return status;
}

static clv_status run(clv_context *ctx, const clv_input *input, clv_dominant_options *options, clv_peeling *p,
                      clv_result **out) {
    CLV_TRY(clv_peeling_new(ctx, input->affinity, options, p));
    CLV_TRY(check_objects(p));
    CLV_TRY(input->start ? take_start(p, input->start) : CLV_OK);
    CLV_TRY(settle_shift(p, options));
    CLV_TRY(clv_peel(p));
    if (p->count == 0) {
        return no_cluster(p);
    }
    CLV_TRY(assign(p));
    CLV_TRY(clv_result_new(p->ctx, p->n, p->count, out));
    return fill_result(p, *out);
}

clv_status clv_dominant_solve(clv_context *ctx, const clv_input *input, const void *options, clv_result **out) {
    clv_dominant_options own = *(const clv_dominant_options *)options;
    clv_peeling peeling = {0};
    own.start = input->start ? "auto" : own.start;
    clv_status status = run(ctx, input, &own, &peeling, out);
    clv_peeling_free(&peeling);
    return status;
}

size_t clv_dominant_bytes(const clv_input *input, const void *chosen) {
    const clv_dominant_options *options = chosen;
    size_t objects = (size_t)input->plan->n;
    size_t peeling = objects * (sizeof(int64_t) + 1 + 2 * sizeof(double) + sizeof(int32_t));
    size_t result = objects * (sizeof(int32_t) + sizeof(int64_t));
    int workers = clv_threads(options->control.threads);
    bool several = options->multistart > 1 || (options->start && strcmp(options->start, "random") == 0);
    size_t searches = several ? (size_t)workers : 1;
    return peeling + result + searches * clv_dominant_single_memory(input->plan, options);
}
