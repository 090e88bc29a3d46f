/* Normalized cut.
 *
 * Problem      minimize ncut = 1/2 sum_c (V_c - N_c) / V_c = (k - sum_c N_c / V_c) / 2 over partitions of the objects
 *              into k nonempty clusters, N_c the sum of w_ij over i, j in c, V_c the sum of the degrees in c.
 * Reference    Chen, Huang, Zhao and Shen, "Multidimensional fractional programming for normalized cuts" (FPC); the
 *              polish, the search, the bound and the choice of k go beyond it.
 * A restart    start -> descent by the solver -> polish by exact moves -> search by kicks, each polished again and kept
 *              only if lower. Each phase but the first can be switched off.
 * Certificate  one-move-gain: the largest decrease of ncut by giving one object to another cluster, over the moves that
 *              leave no cluster empty. At most 0 (to rounding) means 1-move optimal.
 * Bound        ncut >= 1/2 sum of the k smallest eigenvalues of the normalized Laplacian.
 * Cost         a start: one pass over W; a step: O(n k) and a row of W for each object that moves.
 *
 * Policies. No cluster is ever emptied: starts give each one an object, steps keep one. Objects of degree 0 have no
 * similarity to anything, themselves included: they are left out (-1). When the graph has at least k components, whole
 * components are dealt out to clusters and the cut is 0. Ties keep the label; between
 * other clusters the seed decides. */
#include "methods/ncut/ncut.h"

#include "affinity/kinds.h"

#include <math.h>
#include <string.h>

/* Steps of FPC without a new best value after which, on an indefinite W, it is taken to cycle. */
enum { PATIENCE = 20 };
/* k = auto looks at the gaps up to this k. */
enum { MOST_K = 20 };
#define EIGEN_TOLERANCE 1e-6
/* On large sparse graphs eigenvectors are a start and eigenvalues a bound, lowered by their residuals, that is far from
 * the cut anyway: more digits take longer and change neither. */
#define ROUGH_TOLERANCE 1e-3
enum { ROUGH_FROM = 200000 };

/* --- a restart, as the driver sees it --- */

typedef enum phase { DESCENT, POLISH, SEARCH, DONE } phase;

typedef struct ncut_run {
    clv_partition now;
    clv_partition home; /* the local optimum that the search starts from; all zero without a search, or with `local` */
    clv_local local;    /* of a sparse graph, with a polish; else all zero */
    bool is_local;      /* it has taken over */
    clv_rng rng;
    phase phase;
    int64_t fruitless; /* kicks in a row without gain */
    double lowest;     /* value in the descent */
    int since_lowest;
} ncut_run;

static bool searches(const clv_ncut_options *options) {
    return options->polish && options->patience != 0 && options->k > 1;
}

static void ncut_destroy(clv_context *ctx, void *state) {
    ncut_run *run = state;
    if (run) {
        clv_local_free(&run->local);
        clv_partition_free(&run->now);
        clv_partition_free(&run->home);
        clv_free(ctx, run);
    }
}

static clv_status ncut_create(clv_context *ctx, const void *problem, int threads, void **state) {
    const clv_ncut_problem *p = problem;
    ncut_run *run = *state = CLV_NEW0(ctx, ncut_run, 1);
    if (!run) {
        return CLV_ENOMEM;
    }
    clv_matrix graph;
    CLV_TRY(clv_partition_new(p, threads, &run->now));
    if (p->options.polish && clv_local_suits(p, &graph)) {
        return clv_local_new(&run->now, &run->local);
    }
    return searches(&p->options) ? clv_partition_new(p, threads, &run->home) : CLV_OK;
}

/* Where the start is `start`. */
static bool wants_vectors(const clv_ncut_options *options, const char *start) {
    return options->solver == CLV_NCUT_SPECTRAL || strcmp(start, "spectral") == 0;
}

static clv_status set_start_labels(clv_partition *s, clv_rng *rng) {
    const clv_ncut_problem *p = s->problem;
    const char *start = p->options.start;
    if (p->start_labels) {
        memcpy(s->labels, p->start_labels, (size_t)p->n * sizeof *s->labels);
        return CLV_OK;
    }
    if (p->components >= p->k) {
        return clv_start_components(s);
    }
    if (wants_vectors(&p->options, start)) {
        return clv_start_spectral(s, rng);
    }
    if (strcmp(start, "kmeans++") == 0) {
        return clv_start_plusplus(s, rng);
    }
    clv_start_random(s, rng);
    return CLV_OK;
}

static phase after_descent(const ncut_run *run) {
    return run->now.problem->options.polish ? POLISH : DONE;
}

static void begin_phases(ncut_run *run) {
    run->phase = run->now.problem->options.solver == CLV_NCUT_SPECTRAL ? after_descent(run) : DESCENT;
    run->is_local = false;
    run->fruitless = 0;
    run->lowest = run->now.value;
    run->since_lowest = 0;
}

static clv_status show(ncut_run *run, bool certificate, clv_iterate *out) {
    clv_partition *s = &run->now;
    /* With what it may be off by, so that no exact value is taken to be worse. */
    out->value = s->value + (s->rough ? CLV_ROUGH * (double)s->problem->k : 0);
    out->converged = run->phase == DONE;
    out->extra[0] = s->surrogate;
    if (certificate && run->is_local) {
        CLV_TRY(clv_affinity_group_sums(s->problem->affinity, s->labels, s->problem->k, s->sums, s->threads));
    }
    return certificate ? clv_partition_gain(s, &out->certificate) : CLV_OK;
}

static clv_status ncut_start(void *state, clv_rng *rng, clv_iterate *out) {
    ncut_run *run = state;
    const clv_ncut_problem *p = run->now.problem;
    CLV_TRY(set_start_labels(&run->now, rng));
    run->now.rough = clv_affinity_is_rough(p->affinity) && p->options.solver != CLV_NCUT_SPECTRAL;
    CLV_TRY(clv_partition_refresh(&run->now));
    run->now.ties = clv_rng_next(rng);
    run->now.surrogate = NAN;
    run->rng = *rng;
    begin_phases(run);
    return show(run, run->now.problem->show_certificates, out);
}

/* --- the phases --- */

/* The rough descent is over: from here on sums are exact, and it goes on. */
static clv_status refine(ncut_run *run) {
    run->now.rough = false;
    CLV_TRY(clv_partition_refresh(&run->now));
    run->lowest = run->now.value;
    run->since_lowest = 0;
    return CLV_OK;
}

/* One step of the solver. On an indefinite affinity FPC may rise: then the polish takes over, or without one it goes on
 * for a while, as the best iterate is kept. */
static clv_status descend(ncut_run *run, clv_iterate *out) {
    static clv_status (*const steps[])(clv_partition *, int64_t *) = {[CLV_NCUT_FPC] = clv_fpc_step,
                                                                      [CLV_NCUT_FINC] = clv_finc_sweep,
                                                                      [CLV_NCUT_FCD] = clv_move_sweep,
                                                                      [CLV_NCUT_DINKELBACH] = clv_dinkelbach_sweep,
                                                                      [CLV_NCUT_FINC_AT_ONCE] = clv_finc_step};
    clv_partition *s = &run->now;
    const clv_ncut_options *options = &s->problem->options;
    double before = s->value;
    int64_t moved;
    CLV_TRY(steps[options->solver](s, &moved));
    double decrease = before - s->value;
    run->since_lowest = s->value < run->lowest ? 0 : run->since_lowest + 1;
    run->lowest = fmin(run->lowest, s->value);
    bool settled = decrease >= 0 && decrease <= options->control.tol * fmax(1, fabs(s->value));
    bool cycling = run->since_lowest >= PATIENCE;
    if (moved == 0 || settled || (options->polish && (decrease < 0 || cycling))) {
        if (s->rough) {
            return refine(run);
        }
        run->phase = after_descent(run);
    } else {
        out->stalled = cycling;
    }
    return CLV_OK;
}

/* Nothing lower is to be had: the cut is at its bound, or no object can move. */
static bool is_optimal(const clv_partition *s) {
    const clv_ncut_problem *p = s->problem;
    double least = p->open ? -HUGE_VAL : 0;
    double bound = p->spectrum.count >= p->k ? clv_spectral_bound(&p->spectrum, p->k) : least;
    return s->value <= bound + CLV_GAIN_TOLERANCE || p->k == p->counted;
}

static clv_status polish(ncut_run *run) {
    int64_t moved;
    if (run->local.s && !run->is_local) {
        clv_local_begin(&run->local);
        run->is_local = true;
    }
    CLV_TRY(run->is_local ? clv_local_pass(&run->local, &moved) : clv_move_sweep(&run->now, &moved));
    if (moved == 0) {
        run->phase = searches(&run->now.problem->options) && !is_optimal(&run->now) ? SEARCH : DONE;
        if (run->phase == SEARCH && !run->is_local) {
            clv_partition_copy(&run->home, &run->now);
        }
    }
    return CLV_OK;
}

/* One kick and its polish. What is not lower is forgotten. */
static clv_status kick(ncut_run *run) {
    int64_t moved = 1;
    CLV_TRY(clv_kick(&run->now, &run->rng));
    while (moved > 0) {
        CLV_TRY(clv_move_sweep(&run->now, &moved));
    }
    if (run->now.value < run->home.value - CLV_GAIN_TOLERANCE) {
        clv_partition_copy(&run->home, &run->now);
        run->fruitless = 0;
    } else {
        clv_partition_copy(&run->now, &run->home);
        run->fruitless++;
    }
    return CLV_OK;
}

static clv_status search(ncut_run *run) {
    const clv_ncut_options *options = &run->now.problem->options;
    CLV_TRY(run->is_local ? clv_local_round(&run->local, &run->rng, options->patience, &run->fruitless) : kick(run));
    bool exhausted = options->patience >= 0 && run->fruitless >= options->patience;
    if (exhausted || is_optimal(&run->now)) {
        run->phase = DONE;
    }
    return CLV_OK;
}

static clv_status go_on(ncut_run *run, clv_iterate *out) {
    return run->phase == DESCENT  ? descend(run, out)
           : run->phase == POLISH ? polish(run)
           : run->phase == SEARCH ? search(run)
                                  : CLV_OK;
}

static clv_status ncut_step(void *state, clv_iterate *out) {
    ncut_run *run = state;
    run->now.measured = false;
    run->now.surrogate = NAN;
    clv_status status = go_on(run, out);
    if (clv_is_stop(status) && run->now.measured) { /* what the sweep has moved so far counts */
        out->value = run->now.value;
    }
    CLV_TRY(status);
    return show(run, run->now.problem->show_certificates, out);
}

/* Whether a run can be at this phase. */
static bool is_possible(const ncut_run *run, phase at) {
    const clv_ncut_options *options = &run->now.problem->options;
    bool polished = at == POLISH || at == SEARCH;
    bool local = !run->is_local || (run->local.s && (polished || at == DONE));
    bool has_home = at != SEARCH || (searches(options) && (run->is_local || run->home.problem));
    return local && has_home && (!polished || options->polish);
}

/* Between two steps the search is at the local optimum that it goes on from: kicks that gained nothing were taken back.
 */
static clv_status ncut_pass(void *state, clv_archive *archive) {
    ncut_run *run = state;
    int at = (int)run->phase;
    clv_pass_flag(archive, &run->is_local);
    clv_pass_int(archive, &at, DESCENT, DONE);
    if (archive->loading && !is_possible(run, (phase)at)) {
        return clv_archive_refuse(archive);
    }
    run->phase = (phase)at;
    clv_partition_pass(&run->now, !run->is_local, archive);
    clv_pass_rng(archive, &run->rng);
    clv_pass_places(archive, (int64_t *)&run->now.ties, 1, INT64_MIN, INT64_MAX);
    clv_pass_integer(archive, &run->fruitless, 0, INT64_MAX / 2);
    clv_pass_real(archive, &run->lowest);
    clv_pass_int(archive, &run->since_lowest, 0, INT32_MAX / 2);
    if (run->is_local) {
        clv_local_pass_state(&run->local, archive);
    } else if (run->phase == SEARCH && archive->loading && archive->status == CLV_OK) {
        clv_partition_copy(&run->home, &run->now);
    }
    return archive->status;
}

static clv_status check_labels(const clv_ncut_problem *p, const int32_t *labels, int64_t k);

static clv_status ncut_pass_snapshot(const void *problem, void *snapshot, clv_archive *archive) {
    const clv_ncut_problem *p = problem;
    clv_pass_labels(archive, snapshot, p->n, -1, p->k - 1);
    clv_status status = archive->status;
    if (archive->loading && status == CLV_OK) {
        status = check_labels(p, snapshot, p->k);
    }
    return status == CLV_EDATA ? clv_archive_refuse(archive) : status;
}

/* Labels: the rest of an iterate follows from them. */
static clv_status ncut_new_snapshot(clv_context *ctx, const void *problem, void **snapshot) {
    *snapshot = CLV_NEW(ctx, int32_t, ((const clv_ncut_problem *)problem)->n);
    return *snapshot ? CLV_OK : CLV_ENOMEM;
}

static clv_status ncut_save(void *state, void *snapshot) {
    const ncut_run *run = state;
    memcpy(snapshot, run->now.labels, (size_t)run->now.problem->n * sizeof *run->now.labels);
    return CLV_OK;
}

static clv_status ncut_resume(void *state, const void *snapshot, clv_iterate *out) {
    ncut_run *run = state;
    memcpy(run->now.labels, snapshot, (size_t)run->now.problem->n * sizeof *run->now.labels);
    run->now.rough = false;
    CLV_TRY(clv_partition_refresh(&run->now));
    begin_phases(run);
    return show(run, true, out);
}

/* --- the problem --- */

static void free_problem(clv_ncut_problem *p) {
    CLV_FREE_ALL(p->ctx, p->degree, p->diagonal, p->component, p->start_labels);
    clv_spectrum_free(&p->spectrum);
    clv_affinity_free(p->reordered);
}

/* What takes the time on a graph is finding what belongs to neighbors: where an order is known in which they are near
 * each other in memory, the objects are renumbered. */
static clv_status choose_order(const clv_affinity *given, clv_ncut_problem *p) {
    const int64_t *order = clv_affinity_order(given);
    if (order) {
        CLV_TRY(clv_affinity_subset(given, order, clv_affinity_size(given), &p->reordered));
        p->affinity = p->reordered;
        p->order = order;
    }
    return CLV_OK;
}

/* The number of object i in the affinity given. */
static int64_t object_of(const clv_ncut_problem *p, int64_t i) {
    return p->order ? p->order[i] : i;
}

/* Degrees, diagonal, components. The caller frees the problem also on failure. */
static clv_status describe_graph(int64_t threads, clv_ncut_problem *p) {
    clv_context *ctx = p->ctx;
    const clv_affinity *a = p->affinity;
    int64_t n = p->n = clv_affinity_size(a);
    clv_affinity_info info;
    clv_affinity_describe(a, &info);
    p->open = info.landmarks > 0;
    p->degree = CLV_NEW(ctx, double, n);
    p->diagonal = CLV_NEW(ctx, double, n);
    p->component = CLV_NEW(ctx, int32_t, n);
    if (!p->degree || !p->diagonal || !p->component) {
        return CLV_ENOMEM;
    }
    CLV_TRY(clv_affinity_degrees(a, p->degree, threads));
    CLV_TRY(clv_affinity_diagonal(a, p->diagonal));
    CLV_TRY(clv_affinity_components(a, p->component, &p->components));
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(p->degree[i])) {
            return clv_fail(ctx, CLV_EDATA, "the similarities of object %lld add up to more than a number can hold",
                            (long long)object_of(p, i) + 1);
        }
        p->counted += p->degree[i] > 0;
    }
    return CLV_OK;
}

static clv_status check_k(const clv_ncut_problem *p, int64_t k) {
    CLV_TRY(clv_check_k(p->ctx, &clv_ncut_method, k, p->n));
    if (k > p->counted) {
        return clv_fail(p->ctx, CLV_EDATA,
                        "k = %lld exceeds the %lld objects that are similar to anything; the other %lld are left out",
                        (long long)k, (long long)p->counted, (long long)(p->n - p->counted));
    }
    return CLV_OK;
}

static clv_status check_label(const clv_ncut_problem *p, int64_t i, int32_t label, int64_t k) {
    bool left_out = p->degree[i] <= 0;
    if (left_out && label != -1) {
        return clv_fail(p->ctx, CLV_EDATA, "object %lld is similar to nothing and must be left out (-1), not %d",
                        (long long)object_of(p, i) + 1, (int)label);
    }
    if (!left_out && (label < 0 || label >= k)) {
        return clv_fail(p->ctx, CLV_EDATA, "label %d of object %lld is not in 0..%lld", (int)label,
                        (long long)object_of(p, i) + 1, (long long)k - 1);
    }
    return CLV_OK;
}

static clv_status check_labels(const clv_ncut_problem *p, const int32_t *labels, int64_t k) {
    int64_t *size = CLV_NEW0(p->ctx, int64_t, k);
    clv_status status = size ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0; status == CLV_OK && i < p->n; i++) {
        status = check_label(p, i, labels[i], k);
        if (status == CLV_OK && labels[i] >= 0) {
            size[labels[i]]++;
        }
    }
    for (int64_t c = 0; status == CLV_OK && c < k; c++) {
        if (size[c] == 0) {
            status = clv_fail(p->ctx, CLV_EDATA, "no object has label %lld of the labels 0..%lld", (long long)c,
                              (long long)k - 1);
        }
    }
    clv_free(p->ctx, size);
    return status;
}

/* --- what eigenvalues are needed for --- */

/* Unless asked for, the many passes of an eigensolver are over entries that are there or by products that cost less. */
static bool wants_bound(const clv_ncut_options *options, const clv_affinity_info *info) {
    bool affordable = info->cost.resident || clv_affinity_has_cheap_products(info);
    return options->bound == CLV_NCUT_BOUND_YES || (options->bound == CLV_NCUT_BOUND_AUTO && affordable);
}

/* By landmarks a spectral start costs no more than the bound, and ends in lower cuts than a random one. */
static const char *resolved_start(const clv_affinity_info *info, const char *asked) {
    if (strcmp(asked, "auto") != 0) {
        return asked;
    }
    return info->sparse || info->landmarks > 0 ? "spectral" : "random";
}

/* Eigenpairs, if anything needs them, and with them k if it is to be chosen. Where they can be done without they get
 * half of the time. */
static clv_status find_spectrum(clv_ncut_problem *p, const clv_affinity_info *info) {
    clv_ncut_options *options = &p->options;
    bool can_do_without = options->k > 0 && options->solver != CLV_NCUT_SPECTRAL;
    int threads = clv_threads(options->control.threads);
    int64_t count = options->k;
    if (options->k == 0) {
        count = p->counted < MOST_K + 1 ? p->counted : MOST_K + 1;
        if (count < 3) {
            return clv_fail(p->ctx, CLV_EDATA, "k = auto needs 3 objects that are similar to something; there are %lld",
                            (long long)p->counted);
        }
    } else if (!wants_vectors(options, options->start) && !wants_bound(options, info)) {
        return CLV_OK;
    }
    if (can_do_without) {
        clv_optional_begin(p->ctx, 0.5);
    }
    bool rough = info->sparse && p->n >= ROUGH_FROM && can_do_without;
    clv_status status = clv_spectrum_new(p, count, rough ? ROUGH_TOLERANCE : EIGEN_TOLERANCE, threads, &p->spectrum);
    clv_optional_end(p->ctx);
    if (status == CLV_ETIME && can_do_without) { /* the time is needed for the cut itself */
        options->start = strcmp(options->start, "spectral") == 0 ? "kmeans++" : options->start;
        return CLV_OK;
    }
    CLV_TRY(status);
    if (options->k == 0) {
        options->k = clv_choose_k(&p->spectrum, p->components);
    }
    return CLV_OK;
}

typedef struct scaled_operator {
    const clv_ncut_problem *problem;
    bool normalize;
    int threads;
    double *scaled; /* n */
} scaled_operator;

/* y = W x, or D^-1/2 W D^-1/2 x. */
static clv_status apply_scaled(void *user, const double *x, double *y, int64_t n) {
    scaled_operator *op = user;
    const double *degree = op->problem->degree;
    for (int64_t i = 0; i < n; i++) {
        op->scaled[i] = op->normalize ? clv_ratio(x[i], sqrt(degree[i])) : x[i];
    }
    CLV_TRY(clv_affinity_apply(op->problem->affinity, op->scaled, 1, y, op->threads));
    for (int64_t i = 0; i < n && op->normalize; i++) {
        y[i] = clv_ratio(y[i], sqrt(degree[i]));
    }
    return CLV_OK;
}

static double least_degree(const clv_ncut_problem *p) {
    double least = HUGE_VAL;
    for (int64_t i = 0; i < p->n; i++) {
        least = p->degree[i] > 0 ? fmin(least, p->degree[i]) : least;
    }
    return least;
}

/* alpha of (29): by (30), or the smallest that serves. */
static clv_status find_shift(clv_ncut_problem *p) {
    double smallest, *scaled;
    if (p->options.shift == CLV_NCUT_SHIFT_NONE) {
        return CLV_OK;
    }
    scaled = CLV_NEW(p->ctx, double, p->n);
    if (!scaled) {
        return CLV_ENOMEM;
    }
    scaled_operator op = {p, p->options.shift == CLV_NCUT_SHIFT_TIGHT, clv_threads(p->options.control.threads), scaled};
    clv_status status = clv_eigen(p->ctx, apply_scaled, &op, p->n, 1, CLV_EIGEN_SMALLEST, EIGEN_TOLERANCE,
                                  (uint64_t)p->options.control.seed, &smallest, NULL);
    clv_free(p->ctx, scaled);
    CLV_TRY(status);
    smallest -= EIGEN_TOLERANCE * fabs(smallest);
    p->shift = fmax(-smallest, 0) / (op.normalize ? 1 : least_degree(p));
    return CLV_OK;
}

static clv_status give_start(clv_ncut_problem *p, const clv_matrix *start) {
    CLV_TRY(clv_labels_of(p->ctx, "start", start, p->n, p->k, &p->start_labels));
    int32_t *given = p->start_labels;
    p->start_labels = CLV_NEW(p->ctx, int32_t, p->n);
    for (int64_t i = 0; i < p->n && p->start_labels; i++) {
        p->start_labels[i] = given[object_of(p, i)];
    }
    clv_free(p->ctx, given);
    return p->start_labels ? CLV_OK : CLV_ENOMEM;
}

/* Everything about the problem, from the affinity and the options. The caller frees it also on failure. */
static clv_status set_problem(clv_context *ctx, const clv_input *input, const clv_ncut_options *options,
                              clv_ncut_problem *p) {
    clv_affinity_info info;
    *p = (clv_ncut_problem){.ctx = ctx, .affinity = input->affinity};
    CLV_TRY(choose_order(input->affinity, p));
    CLV_TRY(describe_graph(options->control.threads, p));
    clv_affinity_describe(input->affinity, &info);
    p->options = *options;
    p->options.start = input->start ? "given" : resolved_start(&info, options->start);
    if (options->k != 0) {
        CLV_TRY(check_k(p, options->k));
    }
    p->k = p->options.k;
    CLV_TRY(find_spectrum(p, &info));
    p->k = p->options.k;
    if (options->solver == CLV_NCUT_DINKELBACH && p->k != 2) {
        return clv_fail(ctx, CLV_EUSAGE,
                        "solver dinkelbach is for k = 2, where the cut is a single ratio, not for k = %lld",
                        (long long)p->k);
    }
    CLV_TRY(find_shift(p));
    if (input->start) {
        CLV_TRY(give_start(p, input->start));
        CLV_TRY(check_labels(p, p->start_labels, p->k));
    }
    p->show_certificates = options->control.keep_trace || options->control.monitor;
    return CLV_OK;
}

/* --- the public functions --- */

/* k = auto: the gaps that speak for other choices. */
static clv_status add_alternatives(clv_result *result, const double *eigenvalues, int64_t count) {
    enum { MOST = MOST_K + 1 };
    int64_t k[MOST], rows = 0;
    double gap[MOST];
    for (; eigenvalues && rows + 2 < count && rows < MOST; rows++) {
        k[rows] = rows + 2;
        gap[rows] = eigenvalues[rows + 1] - eigenvalues[rows + 2];
    }
    CLV_TRY(clv_result_put_integers(result, "k_alternatives.k", k, rows));
    return clv_result_put_reals(result, "k_alternatives.gap", gap, rows);
}

/* Components, shift, eigenvalues and bound into the result. */
static clv_status add_findings(const clv_ncut_problem *p, bool chosen, clv_result *result) {
    CLV_TRY(clv_result_put_integer(result, "components", p->components));
    if (p->shift > 0) {
        CLV_TRY(clv_result_put_real(result, "shift", p->shift));
    }
    if (p->spectrum.count == 0) {
        return CLV_OK;
    }
    result->bound = (clv_bound){clv_ncut_method.bound, clv_spectral_bound(&p->spectrum, p->k)};
    CLV_TRY(clv_result_put_reals(result, "eigenvalues", p->spectrum.values, p->spectrum.count));
    return chosen ? add_alternatives(result, p->spectrum.values, p->spectrum.count) : CLV_OK;
}

static clv_status drive(clv_ncut_problem *p, const clv_ncut_options *options, clv_result **out) {
    clv_solver solver = {.method = &clv_ncut_method,
                         .extras = {options->solver == CLV_NCUT_FPC ? "h" : NULL},
                         .tolerance = CLV_GAIN_TOLERANCE * (double)p->k,
                         .problem = p,
                         .create = ncut_create,
                         .destroy = ncut_destroy,
                         .start = ncut_start,
                         .step = ncut_step,
                         .new_snapshot = ncut_new_snapshot,
                         .free_snapshot = clv_free,
                         .save = ncut_save,
                         .resume = ncut_resume,
                         .pass = ncut_pass,
                         .pass_snapshot = ncut_pass_snapshot};
    clv_control control = clv_control_for(&options->control, p->start_labels && !searches(options));
    void *labels;
    CLV_TRY(clv_result_new(p->ctx, p->n, p->k, out));
    CLV_TRY(clv_drive(p->ctx, &solver, &control, *out, &labels));
    for (int64_t i = 0; i < p->n; i++) {
        (*out)->labels[object_of(p, i)] = ((const int32_t *)labels)[i];
    }
    clv_free(p->ctx, labels);
    clv_result_count(*out);
    return add_findings(p, options->k == 0, *out);
}

clv_status clv_ncut_solve(clv_context *ctx, const clv_input *input, const void *options, clv_result **out) {
    clv_ncut_problem problem = {.ctx = ctx};
    clv_status status = set_problem(ctx, input, options, &problem);
    if (status == CLV_OK) {
        status = drive(&problem, options, out);
    }
    free_problem(&problem);
    return status;
}

/* Bytes of the eigensolver at its peak: its basis and work arrays, after how it sets itself up (spectral.c). */
static size_t spectrum_memory(const clv_affinity_info *plan, const clv_ncut_options *options) {
    size_t count = (size_t)(options->k > 0 ? options->k : MOST_K + 1);
    const char *start = options->start ? resolved_start(plan, options->start) : "";
    bool vectors = options->k == 0 || wants_vectors(options, start);
    if (!vectors && !wants_bound(options, plan)) {
        return 0;
    }
    return (size_t)plan->n * sizeof(double) * (plan->sparse ? 2 * count + 48 : 11 * count);
}

size_t clv_ncut_bytes(const clv_input *input, const void *chosen) {
    const clv_ncut_options *options = chosen;
    clv_control control = clv_control_for(&options->control, input->start && !searches(options));
    int64_t n = input->plan->n, k = options->k > 0 ? options->k : MOST_K;
    size_t objects = (size_t)n;
    size_t shared = objects * (2 * sizeof(double) + sizeof(int32_t));
    bool reordered = clv_kind_of(input->plan->kind)->is_graph && input->plan->sparse;
    shared += reordered ? (size_t)input->plan->nonzeros * 12 + objects * 8 : 0;
    size_t result = sizeof(clv_result) + objects * sizeof(int32_t) + (size_t)k * sizeof(int64_t);
    size_t run = sizeof(ncut_run) + clv_partition_memory(n, k);
    run += input->plan->sparse ? clv_local_memory(n, k) : searches(options) ? clv_partition_memory(n, k) : 0;
    size_t runs = (size_t)clv_driver_workers(&control) * run + clv_driver_memory(&control, objects * sizeof(int32_t));
    /* Over, but for the vectors, before the runs begin. */
    size_t eigen = spectrum_memory(input->plan, options);
    return shared + result + (runs > eigen ? runs : eigen);
}

/* --- evaluation --- */

static clv_status evaluate(clv_ncut_problem *p, const int32_t *labels, int64_t threads, clv_iterate *out) {
    clv_partition s = {0};
    CLV_TRY(check_k(p, p->k));
    CLV_TRY(check_labels(p, labels, p->k));
    CLV_TRY(clv_partition_new(p, clv_threads(threads), &s));
    memcpy(s.labels, labels, (size_t)p->n * sizeof *labels);
    clv_status status = clv_partition_refresh(&s);
    if (status == CLV_OK) {
        out->value = s.value;
        status = clv_partition_gain(&s, &out->certificate);
    }
    clv_partition_free(&s);
    return status;
}

/* No eigenvalue of the normalized affinity lies outside -1..1, and the first is 1, but for what an eigensolver leaves.
 * Where similarities may lie below 0 (`open`), 1 is one of them, and others may be larger. */
#define EIGENVALUE_ROUNDING 1e-6

static clv_status check_eigenvalues(clv_context *ctx, const double *values, int64_t count, int64_t n, bool open) {
    if (count > n) {
        return clv_fail(ctx, CLV_EDATA, "there are %lld eigenvalues of %lld objects", (long long)count, (long long)n);
    }
    for (int64_t e = 0; e < count; e++) {
        bool falls = e == 0 ? values[e] >= 1 - EIGENVALUE_ROUNDING : values[e] <= values[e - 1] + 1e-9;
        bool small = open ? isfinite(values[e]) : fabs(values[e]) <= 1 + EIGENVALUE_ROUNDING;
        if (!falls || !small) {
            return clv_fail(
                ctx, CLV_EDATA,
                "eigenvalue %lld is %.12g, but those of a normalized affinity begin with 1 and fall to -1 at "
                "most",
                (long long)e + 1, values[e]);
        }
    }
    return CLV_OK;
}

/* The shift makes eigenvalues rise, and only where one was asked for. */
static clv_status check_shift(clv_context *ctx, const clv_ncut_options *options, const clv_result *answer) {
    double shift = clv_result_real(answer, "shift", 0);
    bool possible = options->shift == CLV_NCUT_SHIFT_NONE ? shift == 0 : shift >= 0;
    return possible ? CLV_OK : clv_fail(ctx, CLV_EDATA, "a shift of %g cannot come from these options", shift);
}

/* The most that the eigenvalues of the answer give: those not listed may be as large as 1, and give nothing. */
static clv_status add_bound(clv_context *ctx, const clv_result *answer, bool open, clv_result *found) {
    int64_t count;
    const double *values = clv_result_reals(answer, "eigenvalues", &count);
    double bound = 0;
    if (!values) {
        return CLV_OK;
    }
    CLV_TRY(check_eigenvalues(ctx, values, count, answer->n, open));
    for (int64_t c = 0; c < answer->k && c < count; c++) {
        bound += (1 - (open ? values[c] : fmin(values[c], 1))) / 2;
    }
    found->bound = (clv_bound){clv_ncut_method.bound, bound};
    return CLV_OK;
}

/* k = auto: what the eigenvalues of the answer give, or 1 where they hardly differ. */
static clv_status check_choice(clv_context *ctx, const clv_result *answer, int64_t components, clv_result *found) {
    clv_spectrum spectrum = {0};
    const double *values = clv_result_reals(answer, "eigenvalues", &spectrum.count);
    spectrum.values = (double *)(uintptr_t)values;
    int64_t k = values ? clv_choose_k(&spectrum, components) : 0;
    if (answer->k != k && (answer->k != 1 || !values)) {
        return clv_fail(ctx, CLV_EDATA, "k = auto gives %lld by the eigenvalues, not %lld", (long long)k,
                        (long long)answer->k);
    }
    return add_alternatives(found, values, spectrum.count);
}

clv_status clv_ncut_evaluate_answer(clv_context *ctx, const clv_input *input, const void *options,
                                    const clv_result *answer, clv_result *found) {
    clv_ncut_problem problem = {.ctx = ctx, .affinity = input->affinity};
    clv_iterate iterate = {.value = NAN, .certificate = NAN};
    int64_t threads = ((const clv_control *)options)->threads, components;
    CLV_TRY(check_shift(ctx, options, answer));
    clv_status status = describe_graph(threads, &problem);
    problem.k = answer->k;
    if (status == CLV_OK) {
        status = evaluate(&problem, answer->labels, threads, &iterate);
    }
    components = problem.components;
    free_problem(&problem);
    CLV_TRY(status);
    clv_result_claim(found, &clv_ncut_method, iterate.value, iterate.certificate,
                     CLV_GAIN_TOLERANCE * (double)answer->k);
    CLV_TRY(clv_result_put_integer(found, "components", components));
    CLV_TRY(clv_result_put_integer(found, "certified", ((const clv_ncut_options *)options)->polish));
    CLV_TRY(add_bound(ctx, answer, problem.open, found));
    bool chosen = ((const clv_ncut_options *)options)->k == 0 && answer->method; /* else it is for the program to say */
    return chosen ? check_choice(ctx, answer, components, found) : CLV_OK;
}
