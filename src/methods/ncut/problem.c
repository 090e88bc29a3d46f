/* The problem of normalized cut, from an affinity and the options: the graph, its spectrum, the shift, a given start.
 */
#include "methods/ncut/ncut.h"

#include <math.h>
#include <string.h>

#define EIGEN_TOLERANCE 1e-6
/* On large sparse graphs eigenvectors are a start and eigenvalues a bound, lowered by their residuals, that is far from
 * the cut anyway: more digits take longer and change neither. */
#define ROUGH_TOLERANCE 1e-3
enum { ROUGH_FROM = 200000 };

void clv_ncut_free(clv_ncut_problem *p) {
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

/* Of no component is an object whose similarities add up to nothing, as sums round or where some lie below 0; nor are
 * such objects alone one. */
static clv_status drop_uncounted(clv_ncut_problem *p) {
    int32_t *number = CLV_NEW(p->ctx, int32_t, p->components + 1), count = 0;
    for (int64_t c = 0; number && c < p->components; c++) {
        number[c] = -1;
    }
    for (int64_t i = 0; number && i < p->n; i++) {
        int32_t c = p->degree[i] > 0 ? p->component[i] : -1;
        if (c >= 0 && number[c] < 0) {
            number[c] = count++;
        }
        p->component[i] = c >= 0 ? number[c] : -1;
    }
    p->components = number ? count : p->components;
    clv_free(p->ctx, number);
    return number ? CLV_OK : CLV_ENOMEM;
}

/* Degrees, diagonal, components. The caller frees the problem also on failure. */
clv_status clv_ncut_describe(int64_t threads, clv_ncut_problem *p) {
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
    for (int64_t i = 0; i < n; i++) {
        p->degree[i] = 1;
    }
    CLV_TRY(p->summed_degrees ? CLV_OK : clv_affinity_degrees(a, p->degree, threads));
    CLV_TRY(clv_affinity_diagonal(a, p->diagonal));
    CLV_TRY(clv_affinity_components(a, p->component, &p->components));
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(p->degree[i])) {
            return clv_fail(ctx, CLV_EDATA, "the similarities of object %lld add up to more than a number can hold",
                            (long long)clv_ncut_object(p, i) + 1);
        }
        p->counted += p->degree[i] > 0;
    }
    return p->counted < p->n ? drop_uncounted(p) : CLV_OK;
}

clv_status clv_ncut_check_k(const clv_ncut_problem *p, int64_t k) {
    CLV_TRY(clv_check_k(p->ctx, &clv_ncut_method, k, p->n));
    if (k > p->counted) {
        return clv_fail(p->ctx, CLV_EDATA,
                        "k = %lld exceeds the %lld objects that are similar to anything; the other %lld are left out",
                        (long long)k, (long long)p->counted, (long long)(p->n - p->counted));
    }
    return CLV_OK;
}

static bool is_possible(const clv_ncut_problem *p, int64_t i, int32_t label, int64_t k) {
    return p->degree[i] <= 0 ? label == -1 : label >= 0 && label < k;
}

static clv_status refuse_label(const clv_ncut_problem *p, int64_t i, int32_t label, int64_t k) {
    long long object = (long long)clv_ncut_object(p, i) + 1;
    if (p->degree[i] <= 0) {
        return clv_fail(p->ctx, CLV_EDATA, "object %lld is similar to nothing and must be left out (-1), not %d",
                        object, (int)label);
    }
    return clv_fail(p->ctx, CLV_EDATA, "label %d of object %lld is not in 0..%lld%s", (int)label, object,
                    (long long)k - 1, label == -1 ? ": every object that is similar to another needs a cluster" : "");
}

clv_status clv_ncut_check_labels(const clv_ncut_problem *p, const int32_t *labels, int64_t k) {
    int64_t *size = CLV_NEW0(p->ctx, int64_t, k), wrong = -1;
    for (int64_t i = 0; size && i < p->n; i++) {
        if (is_possible(p, i, labels[i], k)) {
            size[labels[i] < 0 ? 0 : labels[i]] += labels[i] >= 0;
        } else if (wrong < 0 || clv_ncut_object(p, i) < clv_ncut_object(p, wrong)) {
            wrong = i; /* the first in the order of the data */
        }
    }
    clv_status status = !size ? CLV_ENOMEM : wrong >= 0 ? refuse_label(p, wrong, labels[wrong], k) : CLV_OK;
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

bool clv_ncut_wants_vectors(const clv_ncut_options *options, const char *start) {
    return options->solver == CLV_NCUT_SPECTRAL || strcmp(start, "spectral") == 0;
}

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

/* Whether a run goes on without eigenpairs where there is no time for them. */
static bool can_do_without(const clv_ncut_options *options) {
    return options->k > 0 && options->solver != CLV_NCUT_SPECTRAL;
}

double clv_ncut_eigen_tolerance(const clv_affinity_info *info, const clv_ncut_options *options) {
    return info->sparse && info->n >= ROUGH_FROM && can_do_without(options) ? ROUGH_TOLERANCE : EIGEN_TOLERANCE;
}

int64_t clv_ncut_eigen_count(const clv_ncut_problem *p, int64_t k) {
    int64_t count = k > 0 ? k : CLV_NCUT_MOST_K + 1;
    return count < p->counted ? count : p->counted;
}

/* Eigenpairs, if anything needs them, and with them k if it is to be chosen. Where they can be done without they get
 * half of the time. */
static clv_status find_spectrum(clv_ncut_problem *p, const clv_affinity_info *info) {
    clv_ncut_options *options = &p->options;
    bool optional = can_do_without(options);
    int threads = clv_threads(options->control.threads);
    int64_t count = clv_ncut_eigen_count(p, options->k);
    if (options->k == 0) {
        if (count < 3) {
            return clv_fail(p->ctx, CLV_EDATA, "k = auto needs 3 objects that are similar to something; there are %lld",
                            (long long)p->counted);
        }
    } else if (!clv_ncut_wants_vectors(options, options->start) && !wants_bound(options, info)) {
        return CLV_OK;
    }
    if (optional) {
        clv_optional_begin(p->ctx, 0.5);
    }
    clv_status status = clv_spectrum_new(p, count, clv_ncut_eigen_tolerance(info, options), threads, &p->spectrum);
    clv_optional_end(p->ctx);
    if (status == CLV_ETIME && optional) { /* the time is needed for the cut itself */
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

clv_status clv_ncut_find_shift(clv_ncut_problem *p) {
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
        p->start_labels[i] = given[clv_ncut_object(p, i)];
    }
    clv_free(p->ctx, given);
    return p->start_labels ? CLV_OK : CLV_ENOMEM;
}

/* A pass for degrees alone is saved where they are above 0 in any case, by the similarity of an object to itself, and
 * where sums that come first are less than exact: then degrees are exact only if the sums that come last give them. */
bool clv_ncut_sums_give_degrees(const clv_affinity *a) {
    return clv_affinity_is_rough(a) && clv_affinity_has_diagonal(a);
}

/* Everything about the problem, from the affinity and the options. The caller frees it also on failure. */
clv_status clv_ncut_set(clv_context *ctx, const clv_input *input, const clv_ncut_options *options,
                        clv_ncut_problem *p) {
    clv_affinity_info info;
    *p = (clv_ncut_problem){.ctx = ctx, .affinity = input->affinity, .options = *options};
    clv_affinity_describe(input->affinity, &info);
    p->options.start = input->start ? "given" : resolved_start(&info, options->start);
    CLV_TRY(choose_order(input->affinity, p));
    bool others = options->k == 0 || options->shift != CLV_NCUT_SHIFT_NONE || wants_bound(options, &info) ||
                  strcmp(p->options.start, "random") != 0 || options->control.restarts > 1;
    p->summed_degrees = clv_ncut_sums_give_degrees(p->affinity) && options->solver != CLV_NCUT_SPECTRAL && !others;
    CLV_TRY(clv_ncut_describe(options->control.threads, p));
    if (options->k != 0) {
        CLV_TRY(clv_ncut_check_k(p, options->k));
    }
    p->k = p->options.k;
    CLV_TRY(find_spectrum(p, &info));
    p->k = p->options.k;
    if (options->solver == CLV_NCUT_DINKELBACH && p->k != 2) {
        return clv_fail(ctx, CLV_EUSAGE,
                        "solver dinkelbach is for k = 2, where the cut is a single ratio, not for k = %lld",
                        (long long)p->k);
    }
    CLV_TRY(clv_ncut_find_shift(p));
    if (input->start) {
        CLV_TRY(give_start(p, input->start));
        CLV_TRY(clv_ncut_check_labels(p, p->start_labels, p->k));
    }
    p->show_certificates = options->control.keep_trace || options->control.monitor;
    return CLV_OK;
}

/* Bytes of the eigensolver at its peak: its basis and work arrays, after how it sets itself up (spectral.c). */
size_t clv_ncut_spectrum_bytes(const clv_affinity_info *plan, const clv_ncut_options *options) {
    size_t count = (size_t)(options->k > 0 ? options->k : CLV_NCUT_MOST_K + 1);
    const char *start = options->start ? resolved_start(plan, options->start) : "";
    bool vectors = options->k == 0 || clv_ncut_wants_vectors(options, start);
    if (!vectors && !wants_bound(options, plan)) {
        return 0;
    }
    enum { FEW = 300, IN_FULL = 64 }; /* objects that clv_eigen is for, with a basis of its own or the whole matrix */
    size_t n = (size_t)plan->n, small = n > FEW ? 0 : 28 + 4 * (n < IN_FULL ? n : IN_FULL);
    return n * sizeof(double) * (small + (plan->sparse ? 2 * count + 48 : 11 * count));
}
