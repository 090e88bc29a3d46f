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

#include <float.h>
#include <math.h>
#include <string.h>

#define DEFAULT_TOLERANCE 1e-4
/* The recomputed gap may be larger than the carried one by rounding: stop a little early, with floats sooner. */
#define STOP_EARLY (1 - 1e-6)
#define STOP_EARLY_ROUGH 0.98
/* Chosen by the labels that come out, on half of the sets of experiments/defaults: above 1, where a uniform W is far
 * from P, similarities are so flat that differences within clusters count as much as those between them. */
#define MEAN_TIMES_K 0.8
/* Of memberships that are given, rows may miss a sum of 1 by this. */
#define ROW_SUM 1e-6
/* Pairwise moves per row. */
enum { MOVES = 10, CLUSTERS_A_MOVE = 2 };
/* Of as many clusters, and to no less than this share of f, a sweep is a product of floats more than anything else. */
enum { MANY_CLUSTERS = 32 };
#define ROUGH_TOLERANCE 1e-5
/* Of so many, an object is left when its gap has fallen to this share: the others move meanwhile, so that more digits
 * are lost again, and fewer memberships change. Of 0, 0.1, 0.2 and 0.4, all but 0 took less time on landsat (k = 40)
 * and satimage (k = 60), and on pendigits (k = 100) the last twice as many sweeps. */
#define SETTLED 0.1
/* Objects on a card from which on spg takes less time than rows: its product is one call, while those of a sweep go
 * there and back 256 objects at a time. */
enum { LARGE = 100000 };
/* Steps with neither a lower value nor a lower gap than any before, after which rounding is all that is left. Near a
 * minimum f changes by the square of what the gap does, and is exact long before it. */
enum { PATIENCE = 5 };

double clv_symnmf_mean(int64_t k) {
    return MEAN_TIMES_K / (double)k;
}

/* --- a restart, as the driver sees it --- */

typedef struct symnmf_run {
    clv_memberships now;
    double least_gap;
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
    symnmf_run *run = *state = CLV_NEW0(ctx, symnmf_run, 1);
    return run ? clv_memberships_new(problem, threads, &run->now) : CLV_ENOMEM;
}

static void show(const symnmf_run *run, clv_iterate *out) {
    const clv_memberships *s = &run->now;
    out->value = s->value;
    out->certificate = s->gap;
    double early = s->rough ? STOP_EARLY_ROUGH : STOP_EARLY;
    out->converged = s->gap <= early * clv_symnmf_tolerance(s->problem, s->value);
}

/* Whether products of floats serve for the changes of many clusters: to the digits of the tolerance, and with
 * similarities that floats can hold. */
static bool suits_floats(const clv_symnmf_problem *p) {
    return p->k >= MANY_CLUSTERS && p->tol >= ROUGH_TOLERANCE && p->squares < FLT_MAX &&
           clv_affinity_adds_roughly(p->affinity);
}

/* Whether a run begins with rough products: one in which each step needs a product and little else. */
static bool begins_rough(const clv_symnmf_problem *p) {
    bool joint = p->options.solver == CLV_SYMNMF_PAIRWISE || p->options.solver == CLV_SYMNMF_SPG;
    return p->options.solver == CLV_SYMNMF_ROWS ? suits_floats(p) : joint && clv_affinity_is_rough(p->affinity);
}

/* From memberships that are new. */
static clv_status begin(symnmf_run *run, bool rough, clv_iterate *out) {
    run->now.primed = run->now.stuck = false;
    run->now.rough = rough;
    run->since_lower = 0;
    CLV_TRY(clv_memberships_refresh(&run->now));
    run->least_gap = run->now.gap;
    show(run, out);
    return CLV_OK;
}

static clv_status symnmf_start(void *state, clv_rng *rng, clv_iterate *out) {
    symnmf_run *run = state;
    CLV_TRY(clv_symnmf_start(&run->now, rng));
    return begin(run, begins_rough(run->now.problem), out);
}

static clv_status symnmf_step(void *state, clv_iterate *out) {
    static clv_status (*const steps[])(clv_memberships *) = {clv_rows_step, clv_fw_step,  clv_pairwise_step,
                                                             clv_pgd_step,  clv_spg_step, clv_penalty_step};
    symnmf_run *run = state;
    int solver = run->now.problem->options.solver;
    double before = run->now.value, change = run->now.problem->options.change;
    CLV_TRY(steps[solver](&run->now));
    bool lower = run->now.value < before || run->now.gap < run->least_gap;
    run->least_gap = fmin(run->least_gap, run->now.gap);
    run->since_lower = lower ? 0 : run->since_lower + 1;
    show(run, out);
    out->stalled = run->now.stuck || (run->since_lower >= PATIENCE && solver != CLV_SYMNMF_PENALTY) ||
                   fabs(before - run->now.value) < change;
    return CLV_OK;
}

static clv_status symnmf_pass(void *state, clv_archive *archive) {
    symnmf_run *run = state;
    clv_pass_real(archive, &run->least_gap);
    clv_pass_int(archive, &run->since_lower, 0, INT32_MAX / 2);
    return clv_memberships_pass(&run->now, archive);
}

static clv_status symnmf_pass_snapshot(const void *problem, void *snapshot, clv_archive *archive) {
    const clv_symnmf_problem *p = problem;
    clv_pass_reals(archive, snapshot, p->n * p->k);
    return archive->status;
}

/* Memberships, one row per object: the rest of an iterate follows from them. */
static clv_status symnmf_new_snapshot(clv_context *ctx, const void *problem, void **snapshot) {
    const clv_symnmf_problem *p = problem;
    *snapshot = CLV_NEW(ctx, double, p->n * p->k);
    return *snapshot ? CLV_OK : CLV_ENOMEM;
}

static clv_status symnmf_save(void *state, void *snapshot) {
    clv_memberships_save(&((const symnmf_run *)state)->now, snapshot);
    return CLV_OK;
}

static clv_status symnmf_resume(void *state, const void *snapshot, clv_iterate *out) {
    symnmf_run *run = state;
    clv_memberships_load(&run->now, snapshot);
    out->rough = run->now.rough;
    CLV_TRY(begin(run, false, out));
    out->converged = out->certificate <= clv_symnmf_tolerance(run->now.problem, out->value);
    return CLV_OK;
}

/* --- what is given --- */

/* A row of memberships: nonnegative, adding up to 1. */
static clv_status check_row(clv_context *ctx, const double *row, int64_t k, int64_t i) {
    double sum = 0;
    for (int64_t c = 0; c < k; c++) {
        if (!(row[c] >= 0 && row[c] <= 1 + ROW_SUM)) {
            return clv_fail(ctx, CLV_EDATA, "membership %g of object %lld in cluster %lld is not in 0..1", row[c],
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
                        "the memberships to start from are all 1/%lld, which no solver can leave: start from others",
                        (long long)k);
    }
    return CLV_OK;
}

static clv_status check_start_labels(clv_context *ctx, const int32_t *labels, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        if (labels[i] >= 0) {
            return CLV_OK;
        }
    }
    return clv_fail(ctx, CLV_EDATA, "no object has a label to start from: all are -1");
}

/* Whether auto is in a hurry. */
static bool is_large(const clv_symnmf_options *options, const clv_affinity_info *info) {
    return options->solver == CLV_SYMNMF_AUTO && info->on_card && info->n >= LARGE;
}

/* The solver that is meant. */
static int solver_of(const clv_symnmf_options *options, const clv_affinity_info *info) {
    return is_large(options, info)              ? CLV_SYMNMF_SPG
           : options->solver == CLV_SYMNMF_AUTO ? CLV_SYMNMF_ROWS
                                                : options->solver;
}

static bool is_start(const clv_symnmf_options *options, const char *name) {
    return options->start && strcmp(options->start, name) == 0;
}

/* --- the problem --- */

/* What f needs to know of P. */
static clv_status describe(clv_context *ctx, const clv_affinity *a, int64_t k, double tol, int64_t threads,
                           clv_symnmf_problem *p) {
    *p = (clv_symnmf_problem){.ctx = ctx, .affinity = a, .n = clv_affinity_size(a), .k = k, .curvature = NAN};
    int64_t entries;
    if (!clv_mul(p->n, k, &entries) || !clv_mul(entries, (int64_t)sizeof(double), &entries)) {
        return clv_fail(ctx, CLV_ENOMEM, "%lld x %lld memberships are more than can be addressed", (long long)p->n,
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

/* C = 2 n (3 n + |P|_2), rounded up: what the eigensolver may be off by is added. */
static clv_status find_curvature(clv_symnmf_problem *p) {
    double n = (double)p->n, norm;
    CLV_TRY(clv_eigen(p->ctx, clv_symnmf_multiply, p, p->n, 1, CLV_EIGEN_LARGEST, 1e-7,
                      (uint64_t)p->options.control.seed, &norm, NULL));
    p->curvature = 2 * n * (3 * n + norm * (1 + 1e-6));
    return CLV_OK;
}

/* The eigenpairs of a spectral start get half of the time. If that is over, or there is no finding them, k-means++
 * serves, and the result says so. */
static clv_status find_embedding(clv_symnmf_problem *p) {
    clv_optional_begin(p->ctx, 0.5);
    clv_status status = clv_symnmf_embed(p);
    clv_optional_end(p->ctx);
    if (status == CLV_ENUMERIC || status == CLV_ETIME) {
        clv_free(p->ctx, p->embedding);
        p->embedding = NULL;
        return CLV_OK;
    }
    return status;
}

/* A start that is given: memberships, or labels in one column, unless that is a column of ones for k = 1. */
static clv_status take_start(clv_symnmf_problem *p, const clv_matrix *start) {
    double first = 0;
    if (start->rows > 0 && start->cols == 1) {
        clv_matrix_row(start, 0, &first);
    }
    bool labels = start->cols == 1 && !(p->k == 1 && first > 0);
    if (labels) {
        p->options.start = "labels";
        CLV_TRY(clv_labels_of(p->ctx, "start", start, p->n, p->k, &p->start_labels));
        return check_start_labels(p->ctx, p->start_labels, p->n);
    }
    if (start->rows != p->n || start->cols != p->k) {
        return clv_fail(p->ctx, CLV_EDATA,
                        "the start is %lld x %lld; memberships are %lld x %lld, and labels have one column",
                        (long long)start->rows, (long long)start->cols, (long long)p->n, (long long)p->k);
    }
    p->options.start = "memberships";
    p->start_membership = CLV_NEW(p->ctx, double, p->n * p->k);
    for (int64_t i = 0; p->start_membership && i < p->n; i++) {
        clv_matrix_row(start, i, p->start_membership + i * p->k);
    }
    return p->start_membership ? check_start_membership(p->ctx, p->start_membership, p->n, p->k) : CLV_ENOMEM;
}

/* The start that was taken; of one cluster, any is the same. */
static const char *start_taken(const clv_symnmf_problem *p) {
    return is_start(&p->options, "spectral") && p->k > 1 && !p->embedding ? "kmeans++" : p->options.start;
}

static clv_status set_problem(clv_context *ctx, const clv_input *input, const clv_symnmf_options *options,
                              clv_symnmf_problem *p) {
    CLV_TRY(clv_check_k(ctx, &clv_symnmf_method, options->k, clv_affinity_size(input->affinity)));
    CLV_TRY(describe(ctx, input->affinity, options->k, options->control.tol, options->control.threads, p));
    p->options = *options;
    clv_affinity_info info;
    clv_affinity_describe(p->affinity, &info);
    p->large = is_large(options, &info);
    p->options.solver = solver_of(options, &info);
    int64_t many = options->k / CLUSTERS_A_MOVE;
    p->moves = options->moves > 0 ? options->moves : many > MOVES ? many : MOVES;
    p->settled = options->k < MANY_CLUSTERS || options->moves > 0 ? 0 : SETTLED;
    if (input->start) {
        CLV_TRY(take_start(p, input->start));
    }
    if (options->solver == CLV_SYMNMF_FW && options->step == CLV_SYMNMF_CURVATURE) {
        CLV_TRY(find_curvature(p));
    }
    return is_start(&p->options, "spectral") && options->k > 1 ? find_embedding(p) : CLV_OK;
}

/* --- the result --- */

/* What follows from memberships, row by row: labels, which are those of the result or must be as `claimed`, entropies,
 * expected sizes. */
static clv_status read_rows(const clv_symnmf_problem *p, const clv_matrix *membership, const int32_t *claimed,
                            clv_result *result) {
    double *entropy = CLV_NEW(p->ctx, double, p->n + 2 * p->k);
    if (!entropy) {
        return CLV_ENOMEM;
    }
    clv_status status = CLV_OK;
    double *sizes = entropy + p->n, *row = sizes + p->k;
    memset(sizes, 0, (size_t)p->k * sizeof *sizes);
    for (int64_t i = 0; i < p->n && status == CLV_OK; i++) {
        int32_t best = 0;
        entropy[i] = 0;
        clv_matrix_row(membership, i, row);
        for (int32_t c = 0; c < p->k; c++) {
            best = row[c] > row[best] ? c : best;
            entropy[i] -= row[c] > 0 ? row[c] * log(row[c]) : 0;
            sizes[c] += row[c];
        }
        entropy[i] = fmax(entropy[i], 0);
        if (!claimed) {
            result->labels[i] = best;
        } else if (claimed[i] != best) {
            status = clv_fail(p->ctx, CLV_EDATA, "object %lld has the label %d, but its largest membership is in %d",
                              (long long)i + 1, (int)claimed[i], (int)best);
        }
    }
    if (status == CLV_OK) {
        status = clv_result_put_reals(result, "expected_sizes", sizes, p->k);
    }
    if (status == CLV_OK) {
        status = clv_result_put_reals(result, "entropy", entropy, p->n);
    }
    clv_free(p->ctx, entropy);
    return status;
}

/* Residual, mean and variation of the similarities, and what follows from the memberships. */
static clv_status add_findings(const clv_symnmf_problem *p, const clv_matrix *membership, double objective,
                               const int32_t *claimed, clv_result *result) {
    double n = (double)p->n, value = fmax(objective, 0);
    double variation = p->squares > 0 ? fmax(1 - p->sum / n * (p->sum / n) / p->squares, 0) : 0;
    CLV_TRY(clv_result_put_real(result, "residual", p->squares > 0 ? 2 * sqrt(value) / sqrt(p->squares) : 0));
    CLV_TRY(clv_result_put_real(result, "mean_similarity", p->sum / (n * n)));
    CLV_TRY(clv_result_put_real(result, "variation", variation));
    return read_rows(p, membership, claimed, result);
}

/* A start that was not the one asked for. */
static clv_status warn_of_start(const clv_symnmf_problem *p, const char *asked, clv_result *result) {
    bool another = strcmp(asked, start_taken(p)) != 0 && !p->start_labels && !p->start_membership;
    return another
               ? clv_result_warn(result, "the eigenvectors for the start %s were not found%s: the start is %s", asked,
                                 p->options.control.time_limit > 0 ? " in half of the time limit" : "", start_taken(p))
               : CLV_OK;
}

/* The memberships of the answer, n x k, as a field that owns them. */
static clv_status take_membership(const clv_symnmf_problem *p, const double *rows, clv_result *result) {
    clv_data *membership;
    CLV_TRY(clv_data_new_dense(p->ctx, "memberships", p->n, p->k, CLV_F64, &membership));
    memcpy(membership->values, rows, (size_t)(p->n * p->k) * sizeof *rows);
    return clv_result_take(result, "membership", CLV_FIELD_SPARSE, membership);
}

static clv_status drive(clv_symnmf_problem *p, const clv_symnmf_options *options, clv_result **out) {
    clv_solver solver = {.method = &clv_symnmf_method,
                         .rule_on_iterate = true,
                         .monotone = p->options.solver != CLV_SYMNMF_PENALTY,
                         .problem = p,
                         .create = symnmf_create,
                         .destroy = symnmf_destroy,
                         .start = symnmf_start,
                         .step = symnmf_step,
                         .new_snapshot = symnmf_new_snapshot,
                         .free_snapshot = clv_free,
                         .save = symnmf_save,
                         .resume = symnmf_resume,
                         .pass = symnmf_pass,
                         .pass_snapshot = symnmf_pass_snapshot};
    clv_control control = clv_control_for(&options->control, p->start_labels || p->start_membership);
    void *rows;
    CLV_TRY(clv_result_new(p->ctx, p->n, p->k, out));
    clv_result *result = *out;
    clv_name_solver(&clv_symnmf_method, &p->options, result); /* the one that auto stands for */
    CLV_TRY(clv_drive(p->ctx, &solver, &control, result, &rows));
    clv_status status = take_membership(p, rows, result);
    clv_free(p->ctx, rows);
    CLV_TRY(status);
    clv_result_claim(result, &clv_symnmf_method, result->objective.value, result->certificate.value,
                     clv_symnmf_tolerance(p, result->objective.value));
    CLV_TRY(clv_result_put_text(result, "start_taken", start_taken(p)));
    CLV_TRY(add_findings(p, clv_result_matrix(result, "membership"), result->objective.value, NULL, result));
    clv_result_count(result);
    return warn_of_start(p, options->start, result);
}

clv_status clv_symnmf_solve(clv_context *ctx, const clv_input *input, const void *options, clv_result **out) {
    clv_symnmf_problem problem = {.ctx = ctx};
    clv_status status = set_problem(ctx, input, options, &problem);
    if (status == CLV_OK) {
        status = drive(&problem, options, out);
    }
    CLV_FREE_ALL(problem.ctx, problem.embedding, problem.start_labels, problem.start_membership);
    return status;
}

/* Bytes of the eigensolver at its peak, after how it sets itself up (starts.c). */
static size_t embedding_memory(int64_t n, int64_t k) {
    int64_t block = k + 2 < 32 ? k + 2 : 32;
    return (size_t)(n * (2 * k + 5 * block + 1)) * sizeof(double);
}

size_t clv_symnmf_bytes(const clv_input *input, const void *chosen) {
    const clv_symnmf_options *options = chosen;
    clv_control control = clv_control_for(&options->control, input->start != NULL);
    int64_t n = input->plan->n, k = options->k;
    bool spectral = !input->start && is_start(options, "spectral") && k > 1;
    size_t snapshot = (size_t)(n * k) * sizeof(double);
    size_t run = sizeof(symnmf_run) + clv_memberships_memory(n, k, solver_of(options, input->plan));
    size_t kept = spectral ? snapshot : 0;
    /* Of a spectral start (starts.c): sweeps of its own, the factor, the rival. */
    bool large = is_large(options, input->plan);
    size_t sweepers = large ? 1 : (size_t)clv_symnmf_side_by_side(k, clv_driver_threads_each(&control));
    size_t sweeper =
        clv_memberships_memory(n, k, large ? CLV_SYMNMF_SPG : CLV_SYMNMF_ROWS) + (size_t)n * sizeof(int32_t);
    run += spectral ? sweepers * sweeper + 2 * snapshot : 0;
    size_t runs = (size_t)clv_driver_workers(&control) * run + clv_driver_memory(&control, snapshot) + kept +
                  sizeof(clv_result) + snapshot + (size_t)n * (sizeof(double) + 2 * sizeof(int32_t));
    size_t eigen = spectral ? embedding_memory(n, k) : 0;
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

/* Near 0, f is a difference of numbers of the size of |P|^2 and keeps few of their digits: with `scale` the unit of the
 * tolerance, the larger of f and a share of |P|^2, what lies closer than this share of it is the same number. */
#define ROUNDING 1e-8

static clv_status judge(const clv_symnmf_problem *p, const clv_matrix *membership, const clv_result *answer, double tol,
                        clv_memberships *s, clv_result *found) {
    CLV_TRY(load_given(s, membership));
    CLV_TRY(clv_memberships_refresh(s));
    /* A tolerance of 0 has no unit: that of the method's own serves for rounding. */
    double unit = clv_symnmf_tolerance(p, s->value) / p->tol;
    clv_result_claim(found, &clv_symnmf_method, s->value, s->gap, isnan(tol) ? p->tol * unit : tol * unit);
    CLV_TRY(clv_result_put_real(found, "rounding", ROUNDING * unit));
    CLV_TRY(clv_result_put_integer(found, "certified", 1));
    /* The residual is a root, in which the rounding of f near 0 is many times as large: that of the f of the answer. */
    bool same = answer->method && fabs(answer->objective.value - s->value) <= ROUNDING * unit;
    return add_findings(p, membership, same ? answer->objective.value : s->value, answer->labels, found);
}

clv_status clv_symnmf_evaluate_answer(clv_context *ctx, const clv_input *input, const void *options,
                                      const clv_result *answer, clv_result *found) {
    const clv_control *control = options;
    clv_symnmf_problem p;
    clv_memberships s = {0};
    const clv_matrix *membership;
    CLV_TRY(clv_answer_matrix(ctx, answer, "membership", answer->n, answer->k, &membership));
    CLV_TRY(clv_check_k(ctx, &clv_symnmf_method, answer->k, answer->n));
    double tol = control->tol > 0 ? control->tol : (double)NAN;
    CLV_TRY(describe(ctx, input->affinity, answer->k, tol, control->threads, &p));
    clv_status status = clv_memberships_new(&p, clv_threads(control->threads), &s);
    if (status == CLV_OK) {
        status = judge(&p, membership, answer, control->tol, &s, found);
    }
    clv_memberships_free(&s);
    return status;
}
