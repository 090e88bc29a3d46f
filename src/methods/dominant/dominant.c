/* Dominant set clustering: options, the public functions. See single.c for the problem, peel.c for the clusters. */
#include "methods/dominant/dominant.h"

#include "base/options.h"

#include <math.h>
#include <string.h>

#define T clv_dominant_options
static const clv_option dominant_options[] = {
    CLV_OPT_INT(T, k, "k", 'k', 0, 1, 0x1p31 - 1, "all", "N", "the most clusters to peel off"),
    CLV_OPT_CHOICE(T, solver, "solver", CLV_DOMINANT_PFW, "fw|pfw|afw|rd", "how a start is improved"),
    CLV_OPT_TEXT(T, start, "start", "auto", "NAME|FILE", "vertex, center, random, or a file of weights"),
    CLV_OPT_REAL(T, shift, "shift", 0, 0, 1e100, NULL, "A", "added to all similarities but the diagonal"),
    CLV_OPT_REAL(T, cutoff, "cutoff", NAN, 0, 1, "auto", "D", "objects of more weight are members"),
    CLV_OPT_INT(T, min_size, "min-size", 0, 1, 1, 0x1p31 - 1, NULL, "N", "peeling ends at a smaller cluster"),
    CLV_OPT_REAL(T, min_cohesiveness, "min-cohesiveness", 0, 0, 1e100, NULL, "C",
                 "peeling ends at a cluster of smaller x'Ax"),
    CLV_OPT_FLAG(T, assign, "assign", NULL, 0, "give what is left out to the cluster it is most similar to"),
    CLV_OPT_REAL(T, absorb, "absorb", 0, 0, 1e100, "none", "THETA", "also take objects with (Ax)_i >= THETA x'Ax"),
    CLV_OPT_FLAG(T, face_solve, "face-solve", NULL, 1, "jump to the stationary point once the support has settled"),
    CLV_OPT_INT(T, multistart, "multistart", 0, 0, 1, 0x1p31 - 1, "none", "N", "starts a pass, several clusters each"),
    CLV_OPT_CHOICE(T, sampling, "sampling", CLV_DOMINANT_UNIFORM, "uniform|dpp", "of these starts"),
    CLV_OPT_REAL(T, overlap, "overlap", 10, 0, 100, NULL, "P",
                 "percent that such a cluster may share with better ones"),
    CLV_OPT_INT(T, start_object, "start-object", 0, -1, -1, 0x1p31 - 1, NULL, "I",
                "the first cluster starts at this object, from 0; -1: none"),
};
#undef T

const clv_option_table *clv_dominant_table(void) {
    static const clv_option_table table = {"dominant", dominant_options, CLV_COUNT(dominant_options)};
    return &table;
}

void clv_dominant_defaults(clv_dominant_options *options) {
    memset(options, 0, sizeof *options);
    clv_options_defaults(clv_control_table(), &options->control);
    clv_options_defaults(clv_dominant_table(), options);
}

/* --- checks --- */

static clv_status check_start_weights(clv_context *ctx, const clv_dominant_options *options, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double weight = options->start_weights[i];
        if (!isfinite(weight) || weight < 0) {
            return clv_fail(ctx, CLV_EDATA, "the weight of object %lld to start from is %g; it must not be negative",
                            (long long)i + 1, weight);
        }
        sum += weight;
    }
    if (!(sum > 0) || !isfinite(sum)) {
        return clv_fail(ctx, CLV_EDATA, "the weights to start from add up to %g; they must add up to more than 0", sum);
    }
    return CLV_OK;
}

static clv_status check_start(clv_context *ctx, const clv_dominant_options *options, int64_t n) {
    static const char *const starts[] = {"auto", "vertex", "center", "random"};
    const char *start = options->start ? options->start : "";
    bool known = false;
    for (size_t i = 0; i < CLV_COUNT(starts); i++) {
        known = known || strcmp(start, starts[i]) == 0;
    }
    if (!known) {
        return clv_fail(ctx, CLV_EUSAGE, "start = '%s' is not one of auto, vertex, center, random", start);
    }
    if (options->start_object >= n) {
        return clv_fail(ctx, CLV_EDATA, "start-object = %lld is not one of the %lld objects, which count from 0",
                        (long long)options->start_object, (long long)n);
    }
    if (options->start_weights && options->start_object >= 0) {
        return clv_fail(ctx, CLV_EUSAGE, "weights to start from and start-object do not go together");
    }
    bool vertex = options->start_object >= 0 || strcmp(start, "vertex") == 0 || strcmp(start, "random") == 0;
    if (vertex && options->solver == CLV_DOMINANT_RD) {
        return clv_fail(ctx, CLV_EUSAGE, "rd cannot start at a single object, which it would never leave; use center");
    }
    return options->start_weights ? check_start_weights(ctx, options, n) : CLV_OK;
}

static clv_status check(clv_context *ctx, const clv_dominant_options *options, int64_t n) {
    CLV_TRY(clv_options_check(ctx, clv_dominant_table(), options));
    CLV_TRY(clv_options_check(ctx, clv_control_table(), &options->control));
    if (options->k > n) {
        return clv_fail(ctx, CLV_EDATA, "k = %lld exceeds the %lld objects", (long long)options->k, (long long)n);
    }
    if (options->multistart > 0 && (options->start_object >= 0 || options->start_weights)) {
        return clv_fail(ctx, CLV_EUSAGE, "multistart samples its starts: it does not go with a given start");
    }
    return check_start(ctx, options, n);
}

/* --- the result --- */

clv_certificate clv_dominant_certificate(const clv_cluster *clusters, int64_t count, double tol) {
    clv_certificate worst = {.name = "frank-wolfe-gap", .value = NAN};
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

clv_objective clv_dominant_objective(const clv_cluster *clusters, int64_t count) {
    clv_objective total = {.name = "cohesiveness", .value = 0, .maximize = 1};
    for (int64_t c = 0; c < count; c++) {
        total.value += clusters[c].cohesiveness;
    }
    return total;
}

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

/* Traces one after the other; the column `restart` holds the number of the cluster. */
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
            result->trace[result->trace_count++].restart = c;
        }
    }
    return CLV_OK;
}

static clv_status describe(const clv_peeling *p, clv_result *result) {
    clv_dominant_problem problem = clv_peel_problem(p);
    result->clusters = CLV_NEW(p->ctx, clv_cluster, p->count);
    result->restarts = CLV_NEW(p->ctx, clv_restart, 1);
    if (!result->clusters || !result->restarts) {
        return CLV_ENOMEM;
    }
    result->clusters_count = p->count;
    result->stop = p->stop;
    for (int64_t c = 0; c < p->count; c++) {
        const clv_cluster *cluster = &p->sets[c].about;
        result->clusters[c] = *cluster;
        result->iterations += cluster->iterations;
        result->drift = fmax(result->drift, p->sets[c].drift);
        if (result->stop == CLV_CONVERGED) {
            result->stop = cluster->stop;
        }
    }
    result->objective = clv_dominant_objective(result->clusters, p->count);
    result->certificate = clv_dominant_certificate(result->clusters, p->count, problem.tol);
    result->restarts_count = 1;
    result->restarts[0] =
        (clv_restart){result->objective.value, result->iterations, clv_seconds() - p->began, result->stop};
    return CLV_OK;
}

static clv_status make_result(clv_peeling *p, clv_result **out) {
    static const char *const extras[CLV_TRACE_EXTRAS] = {"support", "drops", "swaps"};
    const clv_dominant_options *options = p->options;
    CLV_TRY(clv_result_new(p->ctx, p->n, p->count, out));
    clv_result *result = *out;
    result->method = "dominant";
    result->solver = clv_dominant_solvers[options->solver];
    result->seed = options->control.seed;
    result->shift = options->shift;
    result->passes = p->passes;
    memcpy(result->trace_extras, extras, sizeof extras);
    memcpy(result->labels, p->labels, (size_t)p->n * sizeof *result->labels);
    clv_result_count(result);
    CLV_TRY(describe(p, result));
    CLV_TRY(make_membership(p, &result->membership));
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

static clv_status run(clv_peeling *p, clv_result **out) {
    CLV_TRY(clv_peel(p));
    if (p->count == 0) {
        return no_cluster(p);
    }
    if (p->options->assign && p->stop != CLV_CANCELLED) {
        clv_status status = clv_dominant_assign(p->ctx, p->affinity, p->count, p->options->control.threads, p->labels);
        if (status == CLV_EINTERRUPTED) { /* the clusters stand without it */
            clv_peel_note(p, CLV_CANCELLED);
            status = CLV_OK;
        }
        CLV_TRY(status);
    }
    return make_result(p, out);
}

clv_status clv_dominant(clv_context *ctx, const clv_affinity *a, const clv_dominant_options *options,
                        clv_result **out) {
    clv_peeling peeling = {0};
    double began = clv_seconds();
    *out = NULL;
    CLV_TRY(check(ctx, options, clv_affinity_size(a)));
    clv_status status = clv_peeling_new(ctx, a, options, &peeling);
    if (status == CLV_OK) {
        status = run(&peeling, out);
    }
    clv_peeling_free(&peeling);
    if (status != CLV_OK) {
        clv_result_free(*out);
        *out = NULL;
        return status;
    }
    (*out)->seconds = clv_seconds() - began;
    return CLV_OK;
}

size_t clv_dominant_memory(int64_t n, clv_home home, const clv_dominant_options *options) {
    size_t objects = (size_t)n;
    size_t peeling = objects * (sizeof(int64_t) + 1 + 2 * sizeof(double) + sizeof(int32_t));
    size_t result = objects * (sizeof(int32_t) + sizeof(int64_t));
    int workers = clv_threads(options->control.threads);
    bool several = options->multistart > 1 || (options->start && strcmp(options->start, "random") == 0);
    size_t searches = several ? (size_t)workers : 1;
    return peeling + result + searches * clv_dominant_single_memory(n, home, options);
}
