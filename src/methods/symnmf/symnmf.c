/* Simplicial symmetric NMF: soft clusters.
 *
 * Problem      minimize f(W) = 1/4 |P - W W'|_F^2 over W in R^{n x k} with rows on the simplex. Row i holds the
 *              probabilities that object i belongs to the clusters, and w_i'w_j is to be p_ij, the probability that two
 *              objects belong together.
 * Reference    Zhao and Gordon, "Frank-Wolfe optimization for symmetric-NMF under simplicial constraint" (2018); the
 *              default solver (rows), pairwise, spg and the exact line searches go beyond it.
 * Certificate  frank-wolfe-gap: max over S of <gradient, W - S> on the product of simplices; 0 exactly at KKT points
 *              (theorem 1). A run stops at tol f.
 * Cost         an iteration of any solver is one product of P with a block of k vectors, 2 n^2 k operations; fw needs
 *              n^2 additions instead. Nothing of n x n is made besides P.
 *
 * Policies. Uniform memberships are no start (starts.c). Labels are the largest memberships, the smaller cluster of
 * two. A column of W may end empty: its size is 0 then, no error. */
#include "methods/symnmf/symnmf.h"

#include "base/options.h"
#include "engine/driver.h"

#include <math.h>
#include <string.h>

#define DEFAULT_TOLERANCE 1e-4
/* The recomputed gap may be larger than the carried one by rounding: stop a little early. */
#define STOP_EARLY (1 - 1e-6)
/* mean(W W') >= 1/k: similarities should have a mean somewhat above that. */
#define MEAN_TIMES_K 1.25
/* Below this mean(P) k, P is too close to the identity; below this variation, to all ones. */
#define NEAR_IDENTITY 0.5
#define NEAR_ONES 0.05
/* Of memberships that are given, rows may miss a sum of 1 by this. */
#define ROW_SUM 1e-6
/* Pairwise moves a row. */
enum { MOVES = 10, CLUSTERS_A_MOVE = 2 };
/* Steps without a lower value after which rounding is all that is left. */
enum { PATIENCE = 5 };

#define T clv_symnmf_options
static const clv_option symnmf_options[] = {
    CLV_OPT_INT(T, k, "k", 'k', 0, 1, 0x1p31 - 1, NULL, "N", "clusters"),
    CLV_OPT_CHOICE(T, solver, "solver", CLV_SYMNMF_ROWS, "rows|fw|pairwise|pgd|spg|penalty", "how f is lowered"),
    CLV_OPT_TEXT(T, start, "start", "spectral", "NAME|FILE",
                 "spectral, random, kmeans++, or a file of labels or memberships"),
    CLV_OPT_CHOICE(T, step, "step", CLV_SYMNMF_EXACT, "curvature|exact", "length of the steps of fw"),
    CLV_OPT_INT(T, moves, "moves", 0, 0, 0, 1e9, "auto", "N",
                "pairwise moves a row, of rows; auto: 10, or k / 2 if more"),
};
#undef T

const clv_option_table *clv_symnmf_table(void) {
    static const clv_option_table table = {"symnmf", symnmf_options, CLV_COUNT(symnmf_options)};
    return &table;
}

void clv_symnmf_defaults(clv_symnmf_options *options) {
    memset(options, 0, sizeof *options);
    clv_options_defaults(clv_control_table(), &options->control);
    clv_options_defaults(clv_symnmf_table(), options);
}

double clv_symnmf_mean(int64_t k) {
    return MEAN_TIMES_K / (double)k;
}

/* --- a restart, as the driver sees it --- */

typedef struct symnmf_run {
    clv_memberships now;
    int since_lower; /* steps */
} symnmf_run;

static void symnmf_destroy(clv_context *ctx, void *state) {
    symnmf_run *run = state;
    if (run) {
        clv_memberships_free(&run->now);
        clv_free(ctx, run);
    }
}

static clv_status symnmf_create(clv_context *ctx, const void *problem, int threads, void **state) {
    symnmf_run *run = CLV_NEW0(ctx, symnmf_run, 1);
    if (!run) {
        return CLV_ENOMEM;
    }
    clv_status status = clv_memberships_new(problem, threads, &run->now);
    if (status < 0) {
        clv_free(ctx, run);
        return status;
    }
    *state = run;
    return CLV_OK;
}

static void show(const symnmf_run *run, clv_iterate *out) {
    const clv_memberships *s = &run->now;
    out->value = s->value;
    out->certificate = s->gap;
    out->converged = s->gap <= STOP_EARLY * clv_symnmf_tolerance(s->problem, s->value);
}

static clv_status symnmf_start(void *state, clv_rng *rng, clv_iterate *out) {
    symnmf_run *run = state;
    run->now.primed = run->now.stuck = false;
    run->since_lower = 0;
    CLV_TRY(clv_symnmf_start(&run->now, rng));
    CLV_TRY(clv_memberships_refresh(&run->now));
    show(run, out);
    return CLV_OK;
}

static clv_status symnmf_step(void *state, clv_iterate *out) {
    static clv_status (*const steps[])(clv_memberships *) = {clv_rows_step, clv_fw_step,  clv_pairwise_step,
                                                             clv_pgd_step,  clv_spg_step, clv_penalty_step};
    symnmf_run *run = state;
    int solver = run->now.problem->options.solver;
    double before = run->now.value;
    CLV_TRY(steps[solver](&run->now));
    run->since_lower = run->now.value < before ? 0 : run->since_lower + 1;
    show(run, out);
    out->stalled = run->now.stuck || (run->since_lower >= PATIENCE && solver != CLV_SYMNMF_PENALTY);
    return CLV_OK;
}

static void symnmf_save(const void *state, void *snapshot) {
    clv_memberships_save(&((const symnmf_run *)state)->now, snapshot);
}

static clv_status symnmf_resume(void *state, const void *snapshot, clv_iterate *out) {
    symnmf_run *run = state;
    run->now.primed = run->now.stuck = false;
    run->since_lower = 0;
    clv_memberships_load(&run->now, snapshot);
    CLV_TRY(clv_memberships_refresh(&run->now));
    show(run, out);
    return CLV_OK;
}

/* --- what is given --- */

static clv_status check_k(clv_context *ctx, int64_t n, int64_t k) {
    if (k < 1) {
        return clv_fail(ctx, CLV_EUSAGE,
                        "k = %lld is not a number of clusters: symnmf needs k from 1 to the %lld objects", (long long)k,
                        (long long)n);
    }
    if (k > n) {
        return clv_fail(ctx, CLV_EDATA, "k = %lld exceeds the %lld objects", (long long)k, (long long)n);
    }
    return CLV_OK;
}

/* A row of memberships: nonnegative, adding up to 1. */
static clv_status check_row(clv_context *ctx, const double *row, int64_t k, int64_t i) {
    double sum = 0;
    for (int64_t c = 0; c < k; c++) {
        if (!(row[c] >= 0 && row[c] <= 1 + ROW_SUM)) {
            return clv_fail(ctx, CLV_EDATA, "membership %g of object %lld in cluster %lld is outside 0..1", row[c],
                            (long long)i + 1, (long long)c + 1);
        }
        sum += row[c];
    }
    if (!(fabs(sum - 1) <= ROW_SUM)) {
        return clv_fail(ctx, CLV_EDATA, "the memberships of object %lld add up to %.9g, not to 1", (long long)i + 1,
                        sum);
    }
    return CLV_OK;
}

/* Memberships this near to 1/k are uniform, rounded to the digits of a file or to floats. */
#define UNIFORM 2e-6

static clv_status check_start_membership(clv_context *ctx, const double *given, int64_t n, int64_t k) {
    bool uniform = true;
    for (int64_t i = 0; i < n; i++) {
        CLV_TRY(check_row(ctx, given + i * k, k, i));
        for (int64_t c = 0; c < k; c++) {
            uniform = uniform && fabs(given[i * k + c] - 1 / (double)k) < UNIFORM;
        }
    }
    if (uniform && k > 1) {
        return clv_fail(ctx, CLV_EDATA,
                        "the memberships to start from are all 1/%lld: a stationary point that no solver leaves",
                        (long long)k);
    }
    return CLV_OK;
}

static clv_status check_start_labels(clv_context *ctx, const int32_t *labels, int64_t n, int64_t k) {
    bool any = false;
    for (int64_t i = 0; i < n; i++) {
        if (labels[i] < -1 || labels[i] >= k) {
            return clv_fail(ctx, CLV_EDATA, "label %d of object %lld is outside -1..%lld", (int)labels[i],
                            (long long)i + 1, (long long)k - 1);
        }
        any = any || labels[i] >= 0;
    }
    return any ? CLV_OK : clv_fail(ctx, CLV_EDATA, "no object has a label to start from: all are -1");
}

static const char *const starts[] = {"spectral", "random", "kmeans++", "labels", "membership"};

static bool is_start(const clv_symnmf_options *options, const char *name) {
    return strcmp(options->start ? options->start : "", name) == 0;
}

static clv_status check_options(clv_context *ctx, const clv_symnmf_options *options, int64_t n) {
    CLV_TRY(clv_options_check(ctx, clv_control_table(), &options->control));
    CLV_TRY(check_k(ctx, n, options->k));
    CLV_TRY(clv_options_check(ctx, clv_symnmf_table(), options));
    if (is_start(options, "labels")) {
        return options->start_labels ? check_start_labels(ctx, options->start_labels, n, options->k)
                                     : clv_fail(ctx, CLV_EUSAGE, "start = 'labels' needs the labels to start from");
    }
    if (is_start(options, "membership")) {
        return options->start_membership
                   ? check_start_membership(ctx, options->start_membership, n, options->k)
                   : clv_fail(ctx, CLV_EUSAGE, "start = 'membership' needs the memberships to start from");
    }
    for (size_t i = 0; i < CLV_COUNT(starts); i++) {
        if (is_start(options, starts[i])) {
            return CLV_OK;
        }
    }
    return clv_fail(ctx, CLV_EUSAGE, "start = '%s' is not one of spectral, random, kmeans++, labels, membership",
                    options->start ? options->start : "");
}

/* --- the problem --- */

static void free_problem(clv_symnmf_problem *p) {
    clv_free(p->ctx, p->embedding);
}

/* What f needs to know of P. */
static clv_status describe(clv_context *ctx, const clv_affinity *a, int64_t k, double tol, int64_t threads,
                           clv_symnmf_problem *p) {
    *p = (clv_symnmf_problem){.ctx = ctx, .affinity = a, .n = clv_affinity_size(a), .k = k, .curvature = NAN};
    int64_t entries;
    if (!clv_mul(p->n, k, &entries) || !clv_mul(entries, (int64_t)sizeof(double), &entries)) {
        return clv_fail(ctx, CLV_ENOMEM, "%lld x %lld memberships are more than memory can address", (long long)p->n,
                        (long long)k);
    }
    p->tol = isnan(tol) ? DEFAULT_TOLERANCE : tol;
    p->options.solver = -1;
    CLV_TRY(clv_affinity_moments(a, threads, &p->sum, &p->squares));
    if (!isfinite(p->squares)) {
        return clv_fail(ctx, CLV_EDATA, "the squares of the similarities add up to more than a number can hold");
    }
    return CLV_OK;
}

typedef struct largest_operator {
    const clv_affinity *affinity;
    int64_t threads;
} largest_operator;

static clv_status multiply(void *user, const double *x, double *y, int64_t n) {
    const largest_operator *op = user;
    (void)n;
    return clv_affinity_apply(op->affinity, x, 1, y, op->threads);
}

/* C = 2 n (3 n + |P|_2), rounded up: what the eigensolver may be off by is added. */
static clv_status find_curvature(clv_symnmf_problem *p) {
    largest_operator op = {p->affinity, p->options.control.threads};
    double n = (double)p->n, norm;
    CLV_TRY(clv_eigen(p->ctx, multiply, &op, p->n, 1, CLV_EIGEN_LARGEST, 1e-7, (uint64_t)p->options.control.seed, &norm,
                      NULL));
    p->curvature = 2 * n * (3 * n + norm * (1 + 1e-6));
    return CLV_OK;
}

/* The eigenpairs of a spectral start. Within a time limit they get half of it. If that is over, or there is no finding
 * them, k-means++ serves, and the result says so. */
static clv_status find_embedding(clv_symnmf_problem *p) {
    const clv_control *control = &p->options.control;
    if (control->time_limit > 0) {
        clv_set_deadline(p->ctx, clv_seconds() + control->time_limit / 2);
    }
    clv_status status = clv_symnmf_embed(p, clv_threads(control->threads));
    clv_set_deadline(p->ctx, 0);
    if (status == CLV_ENUMERIC || (status == CLV_EINTERRUPTED && !clv_asked_to_stop(p->ctx))) {
        clv_free(p->ctx, p->embedding);
        p->embedding = NULL;
        return CLV_OK;
    }
    return status;
}

/* One that needs no eigenpairs where there are none; with one cluster, any is the same. */
static const char *start_taken(const clv_symnmf_problem *p) {
    clv_symnmf_options taken = p->options;
    size_t at = 0;
    if (is_start(&taken, "spectral") && p->k > 1 && !p->embedding) {
        taken.start = "kmeans++";
    }
    while (at + 1 < CLV_COUNT(starts) && !is_start(&taken, starts[at])) {
        at++;
    }
    return starts[at]; /* not the caller's text, which the result may outlive */
}

static clv_status set_problem(clv_context *ctx, const clv_affinity *a, const clv_symnmf_options *options,
                              clv_symnmf_problem *p) {
    CLV_TRY(describe(ctx, a, options->k, options->control.tol, options->control.threads, p));
    p->options = *options;
    int64_t many = options->k / CLUSTERS_A_MOVE;
    p->moves = options->moves > 0 ? options->moves : many > MOVES ? many : MOVES;
    if (options->solver == CLV_SYMNMF_FW && options->step == CLV_SYMNMF_CURVATURE) {
        CLV_TRY(find_curvature(p));
    }
    return is_start(options, "spectral") && options->k > 1 ? find_embedding(p) : CLV_OK;
}

/* --- the result --- */

static clv_method method_on(const clv_symnmf_problem *p) {
    static const char *const solvers[] = {"rows", "fw", "pairwise", "pgd", "spg", "penalty"};
    return (clv_method){.name = "symnmf",
                        .solver = p->options.solver >= 0 ? solvers[p->options.solver] : NULL,
                        .objective = "symnmf",
                        .certificate = "frank-wolfe-gap",
                        .monotone = p->options.solver != CLV_SYMNMF_PENALTY,
                        .snapshot_size = (size_t)(p->n * p->k) * sizeof(double),
                        .problem = p,
                        .create = symnmf_create,
                        .destroy = symnmf_destroy,
                        .start = symnmf_start,
                        .step = symnmf_step,
                        .save = symnmf_save,
                        .resume = symnmf_resume};
}

/* Without anything random in it, one restart says it all. */
static clv_control control_of(const clv_symnmf_options *options) {
    clv_control control = options->control;
    if (is_start(options, "labels") || is_start(options, "membership")) {
        control.restarts = 1;
    }
    return control;
}

static clv_certificate certificate_of(const clv_symnmf_problem *p, double value, double gap) {
    double tolerance = clv_symnmf_tolerance(p, value);
    return (clv_certificate){"frank-wolfe-gap", gap, tolerance, gap <= tolerance};
}

/* Labels, entropies and expected sizes from the memberships. */
static void read_rows(const clv_symnmf_problem *p, clv_result *result) {
    const double *w = result->membership->values;
    for (int64_t i = 0; i < p->n; i++) {
        const double *row = w + i * p->k;
        int32_t best = 0;
        double entropy = 0;
        for (int32_t c = 0; c < p->k; c++) {
            best = row[c] > row[best] ? c : best;
            entropy -= row[c] > 0 ? row[c] * log(row[c]) : 0;
            result->soft->expected_sizes[c] += row[c];
        }
        result->labels[i] = best;
        result->soft->entropy[i] = fmax(entropy, 0);
    }
    clv_result_count(result);
}

static clv_status add_findings(const clv_symnmf_problem *p, clv_result *result) {
    double n = (double)p->n;
    clv_soft *soft = result->soft = CLV_NEW0(p->ctx, clv_soft, 1);
    if (!soft) {
        return CLV_ENOMEM;
    }
    soft->entropy = CLV_NEW(p->ctx, double, p->n);
    soft->expected_sizes = CLV_NEW0(p->ctx, double, p->k);
    if (!soft->entropy || !soft->expected_sizes) {
        return CLV_ENOMEM;
    }
    soft->start = start_taken(p);
    soft->residual = p->squares > 0 ? 2 * sqrt(result->objective.value / p->squares) : 0;
    soft->mean_similarity = p->sum / (n * n);
    soft->variation = p->squares > 0 ? fmax(1 - p->sum / n * (p->sum / n) / p->squares, 0) : 0;
    if (p->k > 1 && p->n > 1) {
        soft->degenerate = soft->mean_similarity * (double)p->k < NEAR_IDENTITY ? -1 : soft->variation < NEAR_ONES;
    }
    read_rows(p, result);
    return CLV_OK;
}

static clv_status solve(clv_symnmf_problem *p, const clv_symnmf_options *options, double began, clv_result **out) {
    clv_method method = method_on(p);
    clv_control control = control_of(options);
    if (control.time_limit > 0) { /* the limit is for all of clv_symnmf */
        control.time_limit = fmax(control.time_limit - (clv_seconds() - began), 1e-9);
    }
    CLV_TRY(clv_result_new(p->ctx, p->n, p->k, out));
    CLV_TRY(clv_data_new_dense(p->ctx, "memberships", p->n, p->k, CLV_F64, &(*out)->membership));
    CLV_TRY(clv_drive(p->ctx, &method, &control, *out, (*out)->membership->values));
    (*out)->certificate = certificate_of(p, (*out)->objective.value, (*out)->certificate.value);
    return add_findings(p, *out);
}

clv_status clv_symnmf(clv_context *ctx, const clv_affinity *a, const clv_symnmf_options *options, clv_result **out) {
    clv_symnmf_problem problem = {.ctx = ctx};
    double began = clv_seconds();
    *out = NULL;
    CLV_TRY(check_options(ctx, options, clv_affinity_size(a)));
    clv_status status = set_problem(ctx, a, options, &problem);
    if (status == CLV_OK) {
        status = solve(&problem, options, began, out);
    }
    free_problem(&problem);
    if (status != CLV_OK) {
        clv_result_free(*out);
        *out = NULL;
        return status;
    }
    (*out)->seconds = clv_seconds() - began;
    return CLV_OK;
}

/* Bytes of the eigensolver at its peak, after how it sets itself up (starts.c). */
static size_t embedding_memory(int64_t n, const clv_symnmf_options *options) {
    bool wanted = is_start(options, "spectral") && options->k > 1;
    int64_t k = options->k, block = k + 2 < 32 ? k + 2 : 32;
    return wanted ? (size_t)(n * (2 * k + 5 * block + 1)) * sizeof(double) : 0;
}

size_t clv_symnmf_memory(int64_t n, clv_home home, const clv_symnmf_options *options) {
    clv_control control = control_of(options);
    int64_t k = options->k;
    size_t snapshot = (size_t)(n * k) * sizeof(double);
    size_t run = sizeof(symnmf_run) + clv_memberships_memory(n, k, options->solver);
    size_t kept = is_start(options, "spectral") && k > 1 ? snapshot : 0;
    size_t runs = (size_t)clv_driver_workers(&control) * run + clv_driver_memory(&control, snapshot) + 2 * kept +
                  sizeof(clv_result) + snapshot + (size_t)n * (sizeof(double) + 2 * sizeof(int32_t));
    size_t eigen = embedding_memory(n, options);
    (void)home;
    return runs > eigen ? runs : eigen;
}

/* --- evaluation --- */

static clv_status load_given(clv_memberships *s, const clv_matrix *membership) {
    const clv_symnmf_problem *p = s->problem;
    double *row = s->gram; /* k numbers, free until measured */
    for (int64_t i = 0; i < p->n; i++) {
        clv_matrix_row(membership, i, row);
        CLV_TRY(check_row(p->ctx, row, p->k, i));
        for (int64_t c = 0; c < p->k; c++) {
            s->w[c * p->n + i] = row[c];
        }
    }
    return CLV_OK;
}

clv_status clv_symnmf_evaluate(clv_context *ctx, const clv_affinity *a, const clv_matrix *membership, double tol,
                               int64_t threads, clv_objective *objective, clv_certificate *certificate) {
    clv_symnmf_problem p;
    clv_memberships s = {0};
    int64_t n = clv_affinity_size(a);
    if (membership->rows != n) {
        return clv_fail(ctx, CLV_EDATA, "there are memberships of %lld objects, but the affinity is of %lld",
                        (long long)membership->rows, (long long)n);
    }
    CLV_TRY(check_k(ctx, n, membership->cols));
    CLV_TRY(describe(ctx, a, membership->cols, tol, threads, &p));
    clv_status status = clv_memberships_new(&p, clv_threads(threads), &s);
    if (status == CLV_OK) {
        status = load_given(&s, membership);
    }
    if (status == CLV_OK) {
        status = clv_memberships_refresh(&s);
    }
    if (status == CLV_OK) {
        *objective = (clv_objective){"symnmf", s.value, 0};
        *certificate = certificate_of(&p, s.value, s.gap);
    }
    clv_memberships_free(&s);
    return status;
}
