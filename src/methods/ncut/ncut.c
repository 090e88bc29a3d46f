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
/* Sweeps of single moves on rough sums: what they leave is for exact ones. */
enum { ROUGH_SWEEPS = 20 };

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
    int rough_sweeps; /* of the polish so far */
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
    if (clv_ncut_wants_vectors(&p->options, start)) {
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
    run->rough_sweeps = 0;
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

/* Descent and polish on rough sums are over: both go on with exact ones, which seldom move another object, so that the
 * pass that gives these is also the last. */
static clv_status refine(ncut_run *run) {
    run->now.rough = false;
    CLV_TRY(clv_partition_refresh(&run->now));
    run->phase = DESCENT;
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
        if (s->rough && !options->polish) {
            return refine(run);
        }
        CLV_TRY(clv_partition_bring_back(s));
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
        CLV_TRY(clv_local_begin(&run->local));
        run->is_local = true;
    }
    CLV_TRY(run->is_local ? clv_local_pass(&run->local, &moved) : clv_move_sweep(&run->now, &moved));
    if (run->now.rough) {
        return moved == 0 || ++run->rough_sweeps >= ROUGH_SWEEPS ? refine(run) : CLV_OK;
    }
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
    CLV_TRY(clv_partition_bring_back(&run->now));
    clv_partition_pass(&run->now, !run->is_local, archive);
    clv_pass_rng(archive, &run->rng);
    clv_pass_places(archive, (int64_t *)&run->now.ties, 1, INT64_MIN, INT64_MAX);
    clv_pass_integer(archive, &run->fruitless, 0, INT64_MAX / 2);
    clv_pass_real(archive, &run->lowest);
    clv_pass_int(archive, &run->since_lowest, 0, INT32_MAX / 2);
    clv_pass_flag(archive, &run->now.rough);
    clv_pass_int(archive, &run->rough_sweeps, 0, ROUGH_SWEEPS);
    if (run->is_local) {
        clv_local_pass_state(&run->local, archive);
    } else if (run->phase == SEARCH && archive->loading && archive->status == CLV_OK) {
        clv_partition_copy(&run->home, &run->now);
    }
    return archive->status;
}

static clv_status ncut_pass_snapshot(const void *problem, void *snapshot, clv_archive *archive) {
    const clv_ncut_problem *p = problem;
    clv_pass_labels(archive, snapshot, p->n, -1, p->k - 1);
    clv_status status = archive->status;
    if (archive->loading && status == CLV_OK) {
        status = clv_ncut_check_labels(p, snapshot, p->k);
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
    size_t bytes = (size_t)run->now.problem->n * sizeof *run->now.labels;
    if (!run->now.fresh || memcmp(run->now.labels, snapshot, bytes) != 0) { /* else the same pass would give the same */
        memcpy(run->now.labels, snapshot, bytes);
        run->now.rough = false;
        CLV_TRY(clv_partition_refresh(&run->now));
    }
    begin_phases(run);
    CLV_TRY(show(run, true, out));
    if (run->now.problem->options.polish) { /* a descent may have led away from it, to an end that is worse */
        run->phase = POLISH;
        out->converged = out->certificate <= CLV_GAIN_TOLERANCE * (double)run->now.problem->k;
    }
    return CLV_OK;
}

/* --- the public functions --- */

/* The bound, unless labels with a lower cut refute it: where more eigenvalues crowd at 1 than the solver can tell apart
 * it may have missed larger ones, and then nothing is known. */
static double proved_bound(const clv_ncut_problem *p, double cut) {
    double bound = clv_spectral_bound(&p->spectrum, p->k);
    bool refuted = bound - cut > 1e-9 * cut + CLV_ROUNDING_A_CLUSTER * (double)p->k;
    return refuted ? 0 : bound;
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
    result->bound = (clv_bound){clv_ncut_method.bound, proved_bound(p, result->objective.value)};
    CLV_TRY(clv_result_put_reals(result, "eigenvalues", p->spectrum.values, p->spectrum.count));
    return chosen ? clv_ncut_add_alternatives(result, p->spectrum.values, p->spectrum.count) : CLV_OK;
}

static clv_status drive(clv_ncut_problem *p, const clv_ncut_options *options, clv_result **out) {
    clv_solver solver = {.method = &clv_ncut_method,
                         .extras = {options->solver == CLV_NCUT_FPC ? "h" : NULL},
                         .tolerance = CLV_GAIN_TOLERANCE * (double)p->k,
                         .rule_on_iterate = options->polish,
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
        (*out)->labels[clv_ncut_object(p, i)] = ((const int32_t *)labels)[i];
    }
    clv_free(p->ctx, labels);
    clv_result_count(*out);
    return add_findings(p, options->k == 0, *out);
}

clv_status clv_ncut_solve(clv_context *ctx, const clv_input *input, const void *options, clv_result **out) {
    clv_ncut_problem problem = {.ctx = ctx};
    clv_status status = clv_ncut_set(ctx, input, options, &problem);
    if (status == CLV_OK) {
        status = drive(&problem, options, out);
    }
    clv_ncut_free(&problem);
    return status;
}

size_t clv_ncut_bytes(const clv_input *input, const void *chosen) {
    const clv_ncut_options *options = chosen;
    clv_control control = clv_control_for(&options->control, input->start && !searches(options));
    int64_t n = input->plan->n, k = options->k > 0 ? options->k : CLV_NCUT_MOST_K;
    size_t objects = (size_t)n;
    size_t shared = objects * (2 * sizeof(double) + sizeof(int32_t));
    bool reordered = clv_kind_of(input->plan->kind)->is_graph && input->plan->sparse;
    shared += reordered ? (size_t)input->plan->nonzeros * 12 + objects * 8 : 0;
    size_t result = sizeof(clv_result) + objects * sizeof(int32_t) + (size_t)k * sizeof(int64_t);
    size_t run = sizeof(ncut_run) + clv_partition_memory(n, k);
    int threads = clv_driver_threads_each(&control);
    run += input->plan->sparse ? clv_local_memory(n, k, threads) : searches(options) ? clv_partition_memory(n, k) : 0;
    size_t runs = (size_t)clv_driver_workers(&control) * run + clv_driver_memory(&control, objects * sizeof(int32_t));
    /* Over, but for the vectors, before the runs begin. */
    size_t eigen = clv_ncut_spectrum_bytes(input->plan, options);
    return shared + result + (runs > eigen ? runs : eigen);
}
