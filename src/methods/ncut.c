/* Normalised cut by fractional programming.
 *
 * Problem: minimise ncut = (k - sum_c N_c / V_c) / 2 over partitions of n objects into k nonempty clusters, with N_c
 * the sum of w_ij over i, j in cluster c, and V_c the sum of the degrees d_i in c.
 *
 * Reference: Chen, Huang, Zhao, Shen, "Multidimensional Fractional Programming for Normalized Cuts" (FPC), algorithm 1.
 *
 * Step, formulas (27) and (28): with S_ci the sum of w_ij over j in c, every object i goes to the cluster with the
 * largest
 *
 *     mu_ci = 2 S_ci / V_c - d_i N_c / V_c^2
 *
 * For positive semidefinite W no step raises ncut (proposition 5). Otherwise it may: the driver keeps the best iterate,
 * and a run that has not improved for PATIENCE steps has stalled.
 *
 * Certificate, one-move-gain: the largest decrease of ncut by giving one object to another cluster, over the moves that
 * leave no cluster empty (0 when there is no such move). At most 0 means 1-move optimal.
 *
 * Cost of a step: one pass over W (group sums, n^2), or one column for each object that moves when these are few; and
 * O(n k). Of the certificate: O(n k) from S, and at most k columns. Memory: S, k n doubles, for each worker.
 *
 * Policies: No cluster is ever emptied. A start gives each one an object, and a step that would empty a cluster leaves
 * it the member that loses least by staying; h of (25) still does not fall, so proposition 5 stands. Objects of degree
 * 0 count nowhere and keep their label; a cluster of such objects has V_c = 0, and N_c / V_c counts as 0. Ties, up to
 * rounding, keep the label. */
#include "base/options.h"
#include "engine/driver.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Steps without a new best value after which FPC on an indefinite W is taken to cycle. */
enum { PATIENCE = 20 };
enum { BLOCK = 512 };
/* A score must exceed the own one by more than this share of its positive part. */
#define ROUNDING 1e-14
/* The gain that rounding can feign, a cluster. */
#define GAIN_TOLERANCE 1e-12

static const clv_option ncut_options[] = {
    CLV_OPT_INT(clv_ncut_options, k, "k", 'k', 0, 1, 0x1p31 - 1, NULL, "N", "clusters"),
    CLV_OPT_CHOICE(clv_ncut_options, solver, "solver", CLV_NCUT_FPC, "fpc", "fpc: fractional programming"),
    CLV_OPT_TEXT(clv_ncut_options, start, "start", "random", "NAME", "random labels, or labels that are given"),
};

const clv_option_table *clv_ncut_table(void) {
    static const clv_option_table table = {"ncut", ncut_options, CLV_COUNT(ncut_options)};
    return &table;
}

void clv_ncut_defaults(clv_ncut_options *options) {
    memset(options, 0, sizeof *options);
    clv_options_defaults(clv_control_table(), &options->control);
    clv_options_defaults(clv_ncut_table(), options);
}

/* What all restarts share. */
typedef struct ncut_problem {
    const clv_affinity *affinity;
    int64_t n, k;
    double *degree;         /* n */
    double *diagonal;       /* n */
    const int32_t *given;   /* start labels, or NULL for random ones */
    double tol;             /* stop at a relative decrease of this; NaN: only when no label moves */
    bool show_certificates; /* someone looks at every iterate */
    int64_t few_moves;      /* up to so many are done column by column */
} ncut_problem;

typedef struct ncut_state {
    const ncut_problem *problem;
    int threads;
    int32_t *labels, *wanted; /* n: now, and after the step */
    double *sums;             /* k x n: S */
    double *column;           /* n */
    double *volume, *within;  /* k: V_c, N_c */
    int64_t *size;            /* k: objects in c */
    int64_t *heavy;           /* k: the member with more than half of V_c, or -1 */
    double *without_heavy;    /* k: N_c / V_c when that one is taken out */
    double value, best;
    int since_best; /* steps without a new best value */
} ncut_state;

static double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

/* --- the iterate: sizes, volumes and objective from labels and S --- */

static void measure(ncut_state *s) {
    int64_t n = s->problem->n, k = s->problem->k;
    memset(s->size, 0, (size_t)k * sizeof *s->size);
    memset(s->volume, 0, (size_t)k * sizeof *s->volume);
    memset(s->within, 0, (size_t)k * sizeof *s->within);
    for (int64_t i = 0; i < n; i++) {
        int32_t c = s->labels[i];
        s->size[c]++;
        s->volume[c] += s->problem->degree[i];
        s->within[c] += s->sums[c * n + i];
    }
    double association = 0;
    for (int64_t c = 0; c < k; c++) {
        association += ratio(s->within[c], s->volume[c]);
    }
    s->value = ((double)k - association) / 2;
}

static clv_status measure_from_scratch(ncut_state *s) {
    const ncut_problem *p = s->problem;
    CLV_TRY(clv_affinity_group_sums(p->affinity, s->labels, p->k, s->sums, s->threads));
    measure(s);
    s->best = s->value;
    s->since_best = 0;
    return CLV_OK;
}

/* --- the step --- */

/* mu_ci; a cluster without volume has y = 0 in (21), hence mu = 0. */
static double score(const ncut_state *s, int64_t c, int64_t i) {
    double volume = s->volume[c];
    if (volume <= 0) {
        return 0;
    }
    return 2 * s->sums[c * s->problem->n + i] / volume - s->problem->degree[i] * s->within[c] / (volume * volume);
}

static void choose_in_block(ncut_state *s, int64_t from, int64_t to) {
    const ncut_problem *p = s->problem;
    double best[BLOCK];
    for (int64_t i = from; i < to; i++) {
        int32_t own = s->labels[i];
        double margin = ROUNDING * ratio(2 * s->sums[own * p->n + i], s->volume[own]);
        best[i - from] = score(s, own, i) + margin;
        s->wanted[i] = own;
    }
    for (int64_t c = 0; c < p->k; c++) {
        for (int64_t i = from; i < to; i++) {
            double here = score(s, c, i);
            if (here > best[i - from]) {
                best[i - from] = here;
                s->wanted[i] = (int32_t)c;
            }
        }
    }
}

/* (27): every object's best cluster, for all objects at once. */
static void choose_labels(ncut_state *s) {
    int64_t n = s->problem->n;
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1)
    for (int64_t from = 0; from < n; from += BLOCK) {
        choose_in_block(s, from, n - from < BLOCK ? n : from + BLOCK);
    }
}

/* Leave in cluster c the member that loses least by staying. */
static void keep_one_member(ncut_state *s, int32_t c) {
    int64_t kept = -1;
    double least = INFINITY;
    for (int64_t i = 0; i < s->problem->n; i++) {
        if (s->labels[i] == c) {
            double loss = score(s, s->wanted[i], i) - score(s, c, i);
            if (kept < 0 || loss < least) {
                kept = i;
                least = loss;
            }
        }
    }
    s->size[s->wanted[kept]]--;
    s->size[c]++;
    s->wanted[kept] = c;
}

/* One member kept may have been the only arrival of another emptied cluster, hence the rounds: each round fixes a
 * cluster for good, as those kept are never called away again. */
static void keep_all_clusters(ncut_state *s) {
    int64_t k = s->problem->k;
    memset(s->size, 0, (size_t)k * sizeof *s->size);
    for (int64_t i = 0; i < s->problem->n; i++) {
        s->size[s->wanted[i]]++;
    }
    int64_t c = 0;
    while (c < k) {
        if (s->size[c] == 0) {
            keep_one_member(s, (int32_t)c);
            c = 0;
        } else {
            c++;
        }
    }
}

/* Labels become the wanted ones, and S follows. */
static clv_status move_objects(ncut_state *s, int64_t *moved) {
    const ncut_problem *p = s->problem;
    *moved = 0;
    for (int64_t i = 0; i < p->n; i++) {
        *moved += s->wanted[i] != s->labels[i];
    }
    if (*moved > p->few_moves) {
        memcpy(s->labels, s->wanted, (size_t)p->n * sizeof *s->labels);
        return clv_affinity_group_sums(p->affinity, s->labels, p->k, s->sums, s->threads);
    }
    for (int64_t i = 0; i<p->n && * moved> 0; i++) {
        if (s->wanted[i] != s->labels[i]) {
            CLV_TRY(clv_affinity_move(p->affinity, i, s->labels[i], s->wanted[i], s->sums));
            s->labels[i] = s->wanted[i];
        }
    }
    return CLV_OK;
}

/* --- the certificate --- */

/* A member with more than half of a cluster's volume: V_c - d_i would lose digits, so what remains without it is summed
 * up afresh. There is at most one a cluster. */
static clv_status weigh_without_heavy(ncut_state *s) {
    const ncut_problem *p = s->problem;
    for (int64_t c = 0; c < p->k; c++) {
        s->heavy[c] = -1;
    }
    for (int64_t i = 0; i < p->n; i++) {
        int32_t c = s->labels[i];
        if (p->degree[i] > s->volume[c] / 2 && s->size[c] > 1) {
            s->heavy[c] = i;
        }
    }
    for (int64_t c = 0; c < p->k; c++) {
        double volume = 0, within = 0;
        if (s->heavy[c] < 0) {
            continue;
        }
        CLV_TRY(clv_affinity_column(p->affinity, s->heavy[c], s->column));
        for (int64_t j = 0; j < p->n; j++) {
            if (s->labels[j] == c && j != s->heavy[c]) {
                volume += p->degree[j];
                within += s->sums[c * p->n + j] - s->column[j];
            }
        }
        s->without_heavy[c] = ratio(fmax(within, 0), volume);
    }
    return CLV_OK;
}

/* The best decrease of ncut by moving object i; -INFINITY when it may not move. */
static double object_gain(const ncut_state *s, int64_t i) {
    const ncut_problem *p = s->problem;
    int32_t a = s->labels[i];
    double degree = p->degree[i], self = p->diagonal[i], arrival = -INFINITY, left;
    if (s->size[a] < 2) {
        return -INFINITY;
    }
    for (int64_t b = 0; b < p->k; b++) {
        double grown = ratio(s->within[b] + 2 * s->sums[b * p->n + i] + self, s->volume[b] + degree);
        double gain = grown - ratio(s->within[b], s->volume[b]);
        arrival = b != a && gain > arrival ? gain : arrival;
    }
    if (i == s->heavy[a]) {
        left = s->without_heavy[a];
    } else {
        left = ratio(s->within[a] - 2 * s->sums[a * p->n + i] + self, s->volume[a] - degree);
    }
    return (arrival + left - ratio(s->within[a], s->volume[a])) / 2;
}

static clv_status best_move_gain(ncut_state *s, double *out) {
    double best = -DBL_MAX; /* what compilers start a max reduction from is this or -INFINITY */
    CLV_TRY(weigh_without_heavy(s));
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1) reduction(max : best)
    for (int64_t i = 0; i < s->problem->n; i++) {
        best = fmax(best, object_gain(s, i));
    }
    *out = best > -DBL_MAX ? best : 0;
    return CLV_OK;
}

/* --- what the driver calls --- */

static void ncut_destroy(clv_context *ctx, void *state) {
    ncut_state *s = state;
    if (s) {
        clv_free(ctx, s->labels);
        clv_free(ctx, s->sums);
        clv_free(ctx, s->volume);
        clv_free(ctx, s->size);
        clv_free(ctx, s);
    }
}

static clv_status ncut_create(clv_context *ctx, const void *problem, int threads, void **state) {
    const ncut_problem *p = problem;
    int64_t entries;
    if (!clv_mul(p->n, p->k + 1, &entries)) {
        return clv_fail(ctx, CLV_ENOMEM, "%lld x %lld sums are more than memory can address", (long long)p->k,
                        (long long)p->n);
    }
    ncut_state *s = CLV_NEW0(ctx, ncut_state, 1);
    if (!s) {
        return CLV_ENOMEM;
    }
    s->problem = p;
    s->threads = threads;
    s->labels = CLV_NEW(ctx, int32_t, 2 * p->n);
    s->sums = CLV_NEW(ctx, double, entries);
    s->volume = CLV_NEW(ctx, double, 3 * p->k);
    s->size = CLV_NEW(ctx, int64_t, 2 * p->k);
    if (!s->labels || !s->sums || !s->volume || !s->size) {
        ncut_destroy(ctx, s);
        return CLV_ENOMEM;
    }
    s->wanted = s->labels + p->n;
    s->column = s->sums + p->n * p->k;
    s->within = s->volume + p->k;
    s->without_heavy = s->within + p->k;
    s->heavy = s->size + p->k;
    *state = s;
    return CLV_OK;
}

/* Bytes that ncut_create takes. */
static size_t state_memory(size_t n, size_t k) {
    return sizeof(ncut_state) + 2 * n * sizeof(int32_t) + (k + 1) * n * sizeof(double) + 3 * k * sizeof(double) +
           2 * k * sizeof(int64_t);
}

/* Every cluster gets an object of its own, the others a label each, all uniformly. */
static void draw_labels(const ncut_problem *p, clv_rng *rng, int32_t *labels) {
    for (int64_t i = 0; i < p->n; i++) {
        labels[i] = -1;
    }
    for (int64_t c = 0; c < p->k; c++) {
        int64_t i;
        do {
            i = clv_rng_below(rng, p->n);
        } while (labels[i] >= 0);
        labels[i] = (int32_t)c;
    }
    for (int64_t i = 0; i < p->n; i++) {
        labels[i] = labels[i] < 0 ? (int32_t)clv_rng_below(rng, p->k) : labels[i];
    }
}

static clv_status show(ncut_state *s, bool certificate, clv_iterate *out) {
    out->value = s->value;
    return certificate ? best_move_gain(s, &out->certificate) : CLV_OK;
}

static clv_status ncut_start(void *state, clv_rng *rng, clv_iterate *out) {
    ncut_state *s = state;
    const ncut_problem *p = s->problem;
    if (p->given) {
        memcpy(s->labels, p->given, (size_t)p->n * sizeof *s->labels);
    } else {
        draw_labels(p, rng, s->labels);
    }
    CLV_TRY(measure_from_scratch(s));
    return show(s, p->show_certificates, out);
}

static clv_status ncut_step(void *state, clv_iterate *out) {
    ncut_state *s = state;
    const ncut_problem *p = s->problem;
    double before = s->value;
    int64_t moved;
    choose_labels(s);
    keep_all_clusters(s);
    CLV_TRY(move_objects(s, &moved));
    measure(s);
    s->since_best = s->value < s->best ? 0 : s->since_best + 1;
    s->best = fmin(s->best, s->value);
    double decrease = before - s->value;
    out->converged = moved == 0 || (decrease >= 0 && decrease <= p->tol * fmax(1, fabs(s->value)));
    out->stalled = s->since_best >= PATIENCE;
    return show(s, p->show_certificates, out);
}

static void ncut_save(const void *state, void *snapshot) {
    const ncut_state *s = state;
    memcpy(snapshot, s->labels, (size_t)s->problem->n * sizeof *s->labels);
}

static clv_status ncut_resume(void *state, const void *snapshot, clv_iterate *out) {
    ncut_state *s = state;
    memcpy(s->labels, snapshot, (size_t)s->problem->n * sizeof *s->labels);
    CLV_TRY(measure_from_scratch(s));
    return show(s, true, out);
}

/* --- the problem --- */

static clv_status check_labels(clv_context *ctx, const int32_t *labels, int64_t n, int64_t k) {
    int64_t *size = CLV_NEW0(ctx, int64_t, k);
    clv_status status = size ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0; status == CLV_OK && i < n; i++) {
        if (labels[i] < 0 || labels[i] >= k) {
            status = clv_fail(ctx, CLV_EDATA, "label %d of object %lld is outside 0..%lld", (int)labels[i],
                              (long long)i + 1, (long long)k - 1);
        } else {
            size[labels[i]]++;
        }
    }
    for (int64_t c = 0; status == CLV_OK && c < k; c++) {
        if (size[c] == 0) {
            status = clv_fail(ctx, CLV_EDATA, "no object has label %lld of the labels 0..%lld", (long long)c,
                              (long long)k - 1);
        }
    }
    clv_free(ctx, size);
    return status;
}

static clv_status check_k(clv_context *ctx, int64_t k, int64_t n) {
    if (k < 1) {
        return clv_fail(ctx, CLV_EUSAGE,
                        "k = %lld is not a number of clusters: ncut needs k from 1 to the %lld objects", (long long)k,
                        (long long)n);
    }
    if (k > n) {
        return clv_fail(ctx, CLV_EDATA, "k = %lld exceeds the %lld objects", (long long)k, (long long)n);
    }
    return CLV_OK;
}

static clv_status check_options(clv_context *ctx, const clv_ncut_options *options, int64_t n) {
    CLV_TRY(check_k(ctx, options->k, n));
    CLV_TRY(clv_options_check(ctx, clv_ncut_table(), options));
    CLV_TRY(clv_options_check(ctx, clv_control_table(), &options->control));
    const char *start = options->start ? options->start : "";
    if (strcmp(start, "random") == 0) {
        return CLV_OK;
    }
    if (strcmp(start, "labels") != 0) {
        return clv_fail(ctx, CLV_EUSAGE, "start = '%s' is neither random nor labels", start);
    }
    if (!options->start_labels) {
        return clv_fail(ctx, CLV_EUSAGE, "start = 'labels' needs the labels to start from");
    }
    return check_labels(ctx, options->start_labels, n, options->k);
}

static void free_problem(clv_context *ctx, ncut_problem *p) {
    clv_free(ctx, p->degree);
    clv_free(ctx, p->diagonal);
}

/* A column costs 1/n of a pass over W, and its update of S about as much again, on one thread; group sums use them all.
 * Low-rank affinities form all sums at the price of about k columns. */
static int64_t moves_cheaper_than_pass(const clv_affinity *a, int64_t n, int64_t k) {
    clv_affinity_info info;
    clv_affinity_describe(a, &info);
    return info.home == CLV_HOME_LOWRANK ? k : n / 8;
}

static clv_status set_problem(clv_context *ctx, const clv_affinity *a, int64_t k, int64_t threads, ncut_problem *p) {
    int64_t n = clv_affinity_size(a);
    *p = (ncut_problem){.affinity = a, .n = n, .k = k, .tol = NAN, .few_moves = moves_cheaper_than_pass(a, n, k)};
    p->degree = CLV_NEW(ctx, double, n);
    p->diagonal = CLV_NEW(ctx, double, n);
    clv_status status = p->degree && p->diagonal ? CLV_OK : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = clv_affinity_degrees(a, p->degree, threads);
    }
    if (status == CLV_OK) {
        status = clv_affinity_diagonal(a, p->diagonal);
    }
    if (status < 0) {
        free_problem(ctx, p);
    }
    return status;
}

/* --- the public functions --- */

static clv_method method_on(const ncut_problem *p) {
    return (clv_method){.name = "ncut",
                        .solver = "fpc",
                        .objective = "ncut",
                        .certificate = "one-move-gain",
                        .tolerance = GAIN_TOLERANCE * (double)p->k,
                        .snapshot_size = (size_t)p->n * sizeof(int32_t),
                        .problem = p,
                        .create = ncut_create,
                        .destroy = ncut_destroy,
                        .start = ncut_start,
                        .step = ncut_step,
                        .save = ncut_save,
                        .resume = ncut_resume};
}

/* From given labels FPC has one way to go: one restart says it all. */
static clv_control control_of(const clv_ncut_options *options) {
    clv_control control = options->control;
    if (options->start && strcmp(options->start, "labels") == 0) {
        control.restarts = 1;
    }
    return control;
}

clv_status clv_ncut(clv_context *ctx, const clv_affinity *a, const clv_ncut_options *options, clv_result **out) {
    ncut_problem problem;
    clv_result *result = NULL;
    *out = NULL;
    CLV_TRY(check_options(ctx, options, clv_affinity_size(a)));
    clv_control control = control_of(options);
    CLV_TRY(set_problem(ctx, a, options->k, control.threads, &problem));
    problem.given = strcmp(options->start, "labels") == 0 ? options->start_labels : NULL;
    problem.tol = control.tol;
    problem.show_certificates = control.keep_trace || control.monitor;
    clv_method method = method_on(&problem);
    clv_status status = clv_result_new(ctx, problem.n, problem.k, &result);
    if (status == CLV_OK) {
        status = clv_drive(ctx, &method, &control, result, result->labels);
    }
    free_problem(ctx, &problem);
    if (status < 0) {
        clv_result_free(result);
        return status;
    }
    clv_result_count(result);
    *out = result;
    return CLV_OK;
}

size_t clv_ncut_memory(int64_t n, const clv_ncut_options *options) {
    clv_control control = control_of(options);
    size_t objects = (size_t)n, clusters = (size_t)options->k;
    size_t shared = 2 * objects * sizeof(double);
    size_t result = sizeof(clv_result) + objects * sizeof(int32_t) + clusters * sizeof(int64_t);
    size_t states = (size_t)clv_driver_workers(&control) * state_memory(objects, clusters);
    return shared + result + states + clv_driver_memory(&control, objects * sizeof(int32_t));
}

clv_status clv_ncut_evaluate(clv_context *ctx, const clv_affinity *a, const int32_t *labels, int64_t k, int64_t threads,
                             clv_objective *objective, clv_certificate *certificate) {
    ncut_problem problem;
    void *state = NULL;
    clv_iterate iterate = {.value = NAN, .certificate = NAN};
    CLV_TRY(check_k(ctx, k, clv_affinity_size(a)));
    CLV_TRY(check_labels(ctx, labels, clv_affinity_size(a), k));
    CLV_TRY(set_problem(ctx, a, k, threads, &problem));
    clv_method method = method_on(&problem);
    clv_status status = ncut_create(ctx, &problem, clv_threads(threads), &state);
    if (status == CLV_OK) {
        status = ncut_resume(state, labels, &iterate);
    }
    ncut_destroy(ctx, state);
    free_problem(ctx, &problem);
    CLV_TRY(status);
    *objective = (clv_objective){method.objective, iterate.value, method.maximise};
    *certificate = (clv_certificate){method.certificate, iterate.certificate, method.tolerance,
                                     iterate.certificate <= method.tolerance};
    return CLV_OK;
}
