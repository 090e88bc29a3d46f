/* Eigenpairs of the normalized affinity M = D^-1/2 W D^-1/2: the relaxation of ncut, the bound that it gives, and the
 * number of clusters that its gaps suggest.
 *
 * References: Shi and Malik 2000; von Luxburg 2007 for the gap. The solver is block Lanczos (linalg/krylov.c), set up
 * by where the time goes:
 *
 *   - Dense, computed and low-rank affinities: a product with a block costs little more than one with a vector, so
 *     blocks as wide as the answer; the eigenvalues fall off fast, and a few passes do.
 *   - Sparse graphs: products are cheap, but eigenvalues crowd at 1 and the basis is what costs. After a first filling
 *     of the basis with M itself, Lanczos goes on with a Chebyshev polynomial p(M), scaled such that what lies between
 *     the estimates of the least eigenvalue and of the last wanted one goes to [-1, 1]; above, p rises steeply. The
 *     order of the wanted eigenvalues stays, their gaps grow by up to the square of the degree.
 *
 * The eigenvectors to eigenvalue 1 are known, D^1/2 on each component, and are given to the solver: no multiplicity is
 * left to chance. Rayleigh quotients and residuals are computed from M at the end. Small problems go to clv_eigen.
 *
 * Where the eigenvalues of a dense, computed or low-rank affinity crowd at 1 as well, a wide block is too shallow, and
 * the filter takes over. What does not converge then goes to LAPACK if it is of moderate size; if it is not, the best
 * pairs are kept and said not to have converged. */
#include "base/ranks.h"
#include "linalg/krylov.h"
#include "methods/ncut/ncut.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum {
    SMALL = 300,             /* objects: up to this clv_eigen is as fast */
    SPARSE_BLOCK = 2,        /* vectors to a product: more make the Krylov space shallower */
    MOST_BLOCK = 32,         /* likewise where a product with many costs about as much as with one */
    ROOM = 38,               /* basis vectors beyond those wanted */
    EAGER_BASIS = 80,        /* small enough to look at its Ritz values at every step */
    CYCLES = 60,             /* fillings of the basis */
    MOST_FOR_LAPACK = 4000,  /* objects whose matrix, held in full, is the last resort */
    MOST_DEGREE = 8,         /* of the filter */
    CHECK_STEPS = 12,        /* of the filter: a missed one grows by exp(LAST_ANGLE) a step, up to 6e6 times */
    CHUNK = 4096,            /* entries of vectors rotated at a time */
    WORTH_THREADS = 1 << 16, /* numbers to go over; for fewer, waking threads takes longer */
};
/* The filter takes the wanted eigenvalues to cosh(LAST_ANGLE)..cosh(FILTER_RANGE), and the others to -1..1. */
#define FILTER_RANGE 3.0
#define LAST_ANGLE 1.3
#define LEAST_HALF 1e-3
/* An error of p(M) is one of M through the slope of p where its other part lies: less than at the eigenvalue. */
#define SLOPE_SHARE 0.2
/* A value may be off by the tolerance times itself; values closer to 0 than this count as this. */
#define LEAST_VALUE 0.01
/* Stands for eigenvalues of objects of degree 0: below all others. */
#define OUTSIDE (-2.0)
/* Differences of eigenvalues up to this are rounding. */
#define LEAST_GAP 1e-9

typedef struct normalized {
    const clv_ncut_problem *problem;
    int threads;
    double tol;
    double *root;                 /* n: degree^-1/2, 0 for degree 0 */
    double *now, *before, *image; /* work for a block of vectors each */
    clv_halo halo;                /* of ranks that compute products of their own objects, */
    int64_t first, last;          /* which are these; else all */
    int degree;                   /* of the filter; 1: M itself */
    double center, half;          /* of the interval that goes to [-1, 1] */
} normalized;

/* --- products --- */

/* y = D^-1/2 x for objects first .. last - 1; x and y may be the same. */
static void scale(const normalized *m, const double *x, int64_t count, int64_t first, int64_t last, double *y) {
    int64_t n = m->problem->n;
#pragma omp parallel for num_threads(clv_team(m->threads)) collapse(2) if (count * n >= WORTH_THREADS)
    for (int64_t c = 0; c < count; c++) {
        for (int64_t i = first; i < last; i++) {
            y[c * n + i] = m->root[i] * x[c * n + i];
        }
    }
}

/* y = W x; by ranks that share a graph, for own objects, and x need not have more of them either. */
static clv_status product(const normalized *m, const double *x, int64_t count, double *y) {
    return m->halo.a ? clv_halo_apply(&m->halo, x, count, y, m->threads)
                     : clv_affinity_apply(m->problem->affinity, x, count, y, m->threads);
}

/* y = M x. */
static clv_status multiply_whole(void *user, const double *x, int64_t count, double *y) {
    const normalized *m = user;
    scale(m, x, count, 0, m->problem->n, m->now);
    CLV_TRY(clv_affinity_apply(m->problem->affinity, m->now, count, y, m->threads));
    scale(m, y, count, 0, m->problem->n, y);
    return CLV_OK;
}

/* The same for own objects. */
static clv_status multiply(void *user, const double *x, int64_t count, double *y) {
    const normalized *m = user;
    scale(m, x, count, m->first, m->last, m->now);
    CLV_TRY(product(m, m->now, count, y));
    scale(m, y, count, m->first, m->last, y);
    return CLV_OK;
}

/* A step of the Chebyshev recurrence, in the variables D^-1/2 x where M is D^-1 W: with L that operator, shifted and
 * scaled, `before` becomes factor L now - before, and the two change places. The first step has no `before`. */
static clv_status filter_step(normalized *m, int64_t count, bool first) {
    int64_t n = m->problem->n;
    double factor = (first ? 1 : 2) / m->half;
    if (clv_worked(m->problem->ctx, n * count)) {
        return clv_stop_failure(m->problem->ctx, "computing eigenvalues");
    }
    CLV_TRY(product(m, m->now, count, m->image));
#pragma omp parallel for num_threads(clv_team(m->threads)) collapse(2) if (count * n >= WORTH_THREADS)
    for (int64_t c = 0; c < count; c++) {
        for (int64_t i = m->first; i < m->last; i++) {
            int64_t e = c * n + i;
            double image = m->root[i] * m->root[i] * m->image[e] - m->center * m->now[e];
            m->before[e] = factor * image - (first ? 0 : m->before[e]);
        }
    }
    double *held = m->now;
    m->now = m->before;
    m->before = held;
    return CLV_OK;
}

/* y = p(M) x, of own objects. */
static clv_status multiply_filtered(void *user, const double *x, int64_t count, double *y) {
    normalized *m = user;
    int64_t n = m->problem->n;
    scale(m, x, count, m->first, m->last, m->now);
    for (int degree = 0; degree < m->degree; degree++) {
        CLV_TRY(filter_step(m, count, degree == 0));
    }
#pragma omp parallel for num_threads(clv_team(m->threads)) collapse(2) if (count * n >= WORTH_THREADS)
    for (int64_t c = 0; c < count; c++) {
        for (int64_t i = m->first; i < m->last; i++) {
            y[c * n + i] = m->root[i] > 0 ? m->now[c * n + i] / m->root[i] : 0;
        }
    }
    return CLV_OK;
}

/* For clv_eigen. */
static clv_status multiply_one(void *user, const double *x, double *y, int64_t n) {
    const normalized *m = user;
    CLV_TRY(multiply_whole(user, x, 1, y));
    for (int64_t i = 0; i < n; i++) {
        y[i] = m->root[i] > 0 ? y[i] : OUTSIDE * x[i];
    }
    return CLV_OK;
}

/* --- convergence --- */

static double error_of(void *user, double value, double residual) {
    const normalized *m = user;
    return residual / (m->tol * fmax(fabs(value), LEAST_VALUE));
}

static double filter_at(const normalized *m, double value) {
    return cosh(m->degree * acosh(fmax((value - m->center) / m->half, 1)));
}

/* From p(M) back to M: p rises with SLOPE_SHARE of its slope at the eigenvalue, on the way to it. */
static double error_of_filtered(void *user, double value, double residual) {
    const normalized *m = user;
    if (value <= 1) {
        return INFINITY;
    }
    double angle = acosh(value) / m->degree;
    double slope = m->degree * sinh(m->degree * angle) / sinh(angle) / m->half;
    return error_of(user, m->center + m->half * cosh(angle), residual / (SLOPE_SHARE * slope));
}

/* The filter for eigenvalues from `last` on, with the others above `lowest`: p(1) is about cosh(FILTER_RANGE), p(last)
 * at least cosh(LAST_ANGLE). An estimate of `last` that is too low costs time only; Ritz values are never too high. */
static void set_filter(normalized *m, double lowest, double last) {
    double half = fmax((last - fmax(lowest, -1)) / 2, LEAST_HALF);
    double angle = acosh(fmax((1 - last) / half + 1, 1));
    m->degree = angle * MOST_DEGREE < FILTER_RANGE ? MOST_DEGREE : (int)fmax(2, FILTER_RANGE / angle);
    double margin = half * (cosh(LAST_ANGLE / m->degree) - 1);
    m->half = half - margin / 2;
    m->center = last - half - margin / 2;
}

/* --- eigenvalue 1 --- */

/* sqrt(degree / volume) on each of the largest components, as many as there are vectors. */
static clv_status give_kernel(const clv_ncut_problem *p, int64_t *exact, clv_spectrum *out) {
    int64_t components;
    clv_component *parts = clv_components_by_volume(p, &components);
    if (!parts) {
        return CLV_ENOMEM;
    }
    *exact = components < out->count ? components : out->count;
    for (int64_t c = 0; c < *exact; c++) {
        for (int64_t i = 0; i < p->n; i++) {
            bool inside = clv_component_of(p, i) == parts[c].component;
            out->vectors[c * p->n + i] = inside ? sqrt(p->degree[i] / parts[c].volume) : 0;
        }
    }
    clv_free(p->ctx, parts);
    return CLV_OK;
}

/* --- the pairs --- */

static bool is_sparse(const clv_ncut_problem *p) {
    clv_affinity_info info;
    clv_affinity_describe(p->affinity, &info);
    return info.sparse;
}

static clv_krylov plan_for(normalized *m, const clv_spectrum *out, int64_t exact) {
    const clv_ncut_problem *p = m->problem;
    bool sparse = is_sparse(p);
    clv_krylov plan = {.ctx = p->ctx, .n = p->n, .count = out->count, .cycles = CYCLES};
    int64_t wide = out->count - exact + 2;
    plan.block = sparse ? SPARSE_BLOCK : wide < MOST_BLOCK ? wide : MOST_BLOCK;
    int64_t room = 4 * plan.block > ROOM ? 4 * plan.block : ROOM;
    plan.basis = out->count + room;
    plan.eager = !sparse || plan.basis <= EAGER_BASIS;
    plan.check = plan.block < wide;
    plan.support = m->root;
    plan.exact = exact;
    plan.top = 1;
    plan.own_entries = m->halo.a != NULL;
    plan.apply = multiply;
    plan.excess = error_of;
    plan.user = m;
    plan.seed = (uint64_t)p->options.control.seed;
    plan.threads = m->threads;
    return plan;
}

/* Goes on from the pairs in `out` with filtered fillings of the basis: the first has a rough estimate of the
 * eigenvalues to go by, the second a better one. No eigenvalue may lie below `lowest`. */
static clv_status solve_filtered(normalized *m, clv_krylov *plan, double lowest, clv_spectrum *out) {
    m->before = CLV_NEW(plan->ctx, double, plan->block * plan->n);
    m->image = CLV_NEW(plan->ctx, double, plan->block * plan->n);
    if (!m->before || !m->image) {
        return CLV_ENOMEM;
    }
    plan->guessed = plan->count - plan->exact;
    int64_t decisive = plan->count + CHECK_STEPS * plan->block;
    plan->check_basis = decisive < plan->basis ? decisive : plan->basis;
    plan->apply = multiply_filtered;
    plan->excess = error_of_filtered;
    double last = out->values[out->count - 1];
    for (int stage = 0; stage < 2 && !out->converged; stage++) {
        set_filter(m, lowest, last);
        plan->top = filter_at(m, 1);
        plan->cycles = stage == 0 ? 1 : CYCLES;
        CLV_TRY(clv_krylov_solve(plan, out->values, out->vectors, NULL, &out->converged));
        last = m->center + m->half * cosh(acosh(fmax(out->values[out->count - 1], 1)) / m->degree);
    }
    return CLV_OK;
}

/* M in full; objects that are left out stand apart from the others, below all eigenvalues. */
static clv_status fill_matrix(const normalized *m, double *matrix) {
    int64_t n = m->problem->n;
    for (int64_t i = 0; i < n; i++) {
        double *row = matrix + i * n;
        CLV_TRY(clv_affinity_column(m->problem->affinity, i, row));
        for (int64_t j = 0; j < n; j++) {
            row[j] *= m->root[i] * m->root[j];
        }
        row[i] = m->root[i] > 0 ? row[i] : OUTSIDE;
    }
    return CLV_OK;
}

static clv_status solve_in_full(const normalized *m, clv_spectrum *out) {
    clv_context *ctx = out->ctx;
    int64_t n = out->n;
    double *matrix = CLV_NEW(ctx, double, n *n), *all = CLV_NEW(ctx, double, n);
    clv_status status = matrix && all ? fill_matrix(m, matrix) : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = clv_eigen_dense(ctx, matrix, n, all);
    }
    for (int64_t c = 0; status == CLV_OK && c < out->count; c++) {
        memcpy(out->vectors + c * n, matrix + (n - 1 - c) * n, (size_t)n * sizeof *matrix);
    }
    out->converged = status == CLV_OK;
    clv_free(ctx, matrix);
    clv_free(ctx, all);
    return status;
}

/* With M itself, then filtered, then in full, until converged. On a sparse graph M itself serves to estimate the ends
 * of the spectrum, by one filling of the basis. After many the basis says nothing of the lower end, which is above -1:
 * what the filter leaves outside its interval there would come up as if it were large. */
static clv_status solve_large(normalized *m, const clv_krylov *given, clv_spectrum *out) {
    clv_krylov plan = *given;
    bool sparse = is_sparse(m->problem);
    double lowest;
    out->converged = plan.exact == out->count;
    if (out->converged) {
        return CLV_OK;
    }
    plan.cycles = sparse ? 1 : CYCLES;
    CLV_TRY(clv_krylov_solve(&plan, out->values, out->vectors, &lowest, &out->converged));
    if (!out->converged) {
        CLV_TRY(solve_filtered(m, &plan, sparse ? lowest : -1, out));
    }
    return out->converged || out->n > MOST_FOR_LAPACK ? CLV_OK : solve_in_full(m, out);
}

/* rows of x become their mixtures by `mix` (count x count, ascending as LAPACK has it), the last one first. */
static void rotate(const double *mix, int64_t count, int64_t n, double *x, double *scratch) {
    for (int64_t at = 0; at < n; at += CHUNK) {
        int64_t length = n - at < CHUNK ? n - at : CHUNK;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)length, (int)count, 1.0, mix,
                    (int)count, x + at, (int)n, 0.0, scratch, (int)length);
        for (int64_t c = 0; c < count; c++) {
            memcpy(x + c * n + at, scratch + (count - 1 - c) * length, (size_t)length * sizeof *x);
        }
    }
}

static clv_status finish_with(normalized *m, int64_t block, double *images, double *gram, double *scratch,
                              clv_spectrum *out) {
    int64_t n = out->n, count = out->count;
    for (int64_t c = 0; c < count; c += block) {
        int64_t width = count - c < block ? count - c : block;
        CLV_TRY(multiply_whole(m, out->vectors + c * n, width, images + c * n));
    }
    int64_t first = 0, last = count * count;
    if (m->halo.a) {
        clv_share(out->ctx, count * count, &first, &last);
    }
    for (int64_t c = first; c < last; c++) {
        gram[c] = clv_dot(out->vectors + c / count * n, images + c % count * n, n, m->threads);
    }
    CLV_TRY(m->halo.a ? clv_gather_items(out->ctx, CLV_OK, gram, sizeof *gram, count * count, 1) : CLV_OK);
    for (int64_t c = 0; c < count; c++) {
        for (int64_t d = 0; d < c; d++) {
            gram[c * count + d] = gram[d * count + c] = (gram[c * count + d] + gram[d * count + c]) / 2;
        }
    }
    CLV_TRY(clv_eigen_dense(out->ctx, gram, count, out->values));
    rotate(gram, count, n, out->vectors, scratch);
    rotate(gram, count, n, images, scratch);
    for (int64_t c = 0; c < count / 2; c++) {
        double held = out->values[c];
        out->values[c] = out->values[count - 1 - c];
        out->values[count - 1 - c] = held;
    }
    for (int64_t c = 0; c < count; c++) {
        cblas_daxpy((int)n, -out->values[c], out->vectors + c * n, 1, images + c * n, 1);
        double squares = clv_dot(images + c * n, images + c * n, n, m->threads);
        out->residual = fmax(out->residual, sqrt(squares));
    }
    return CLV_OK;
}

/* Rayleigh and Ritz with M on the span of the vectors, and residuals. */
static clv_status finish(normalized *m, int64_t block, clv_spectrum *out) {
    double *images = CLV_NEW(out->ctx, double, out->count * out->n); /* M times the vectors */
    double *gram = CLV_NEW(out->ctx, double, out->count * out->count);
    double *scratch = CLV_NEW(out->ctx, double, out->count *(out->n < CHUNK ? out->n : CHUNK));
    clv_status status = images && gram && scratch ? CLV_OK : CLV_ENOMEM;
    if (status == CLV_OK) {
        clv_blas_serial_begin();
        status = finish_with(m, block, images, gram, scratch, out);
        clv_blas_serial_end();
    }
    CLV_FREE_ALL(out->ctx, images, gram, scratch);
    return status;
}

/* On a graph that several ranks have, the objects of this one. */
static clv_status divide(normalized *m) {
    const clv_ncut_problem *p = m->problem;
    int64_t chunk = clv_krylov_chunk(p->n);
    m->last = p->n;
    if (clv_halo_suits(p->affinity, chunk)) {
        CLV_TRY(clv_halo_new(p->affinity, chunk, &m->halo));
        m->first = m->halo.first;
        m->last = m->halo.last;
    }
    return CLV_OK;
}

static clv_status solve(normalized *m, clv_spectrum *out) {
    const clv_ncut_problem *p = m->problem;
    int64_t exact;
    CLV_TRY(divide(m));
    CLV_TRY(give_kernel(p, &exact, out));
    clv_krylov plan = plan_for(m, out, exact);
    m->now = CLV_NEW(p->ctx, double, plan.block * p->n);
    if (!m->now) {
        return CLV_ENOMEM;
    }
    if (p->counted <= SMALL || 3 * plan.basis > p->counted) {
        uint64_t seed = (uint64_t)p->options.control.seed;
        CLV_TRY(clv_eigen(p->ctx, multiply_one, m, p->n, out->count, CLV_EIGEN_LARGEST, fmin(m->tol, 1e-10), seed,
                          out->values, out->vectors));
        out->converged = true; /* or it had failed */
    } else {
        CLV_TRY(solve_large(m, &plan, out));
    }
    return finish(m, plan.block, out);
}

clv_status clv_spectrum_new(const clv_ncut_problem *problem, int64_t count, double tol, int threads,
                            clv_spectrum *out) {
    const clv_ncut_problem *p = problem;
    normalized m = {.problem = p, .threads = threads, .tol = tol};
    *out = (clv_spectrum){.ctx = p->ctx, .n = p->n, .count = count < p->counted ? count : p->counted};
    out->open = p->open;
    if (p->n > INT32_MAX) {
        return clv_fail(p->ctx, CLV_EUSAGE,
                        "eigenvalues of %lld objects cannot be computed: at most %d objects are allowed",
                        (long long)p->n, INT32_MAX);
    }
    m.root = CLV_NEW(p->ctx, double, p->n);
    out->values = CLV_NEW(p->ctx, double, out->count);
    out->vectors = CLV_NEW(p->ctx, double, out->count * p->n);
    clv_status status = m.root && out->values && out->vectors ? CLV_OK : CLV_ENOMEM;
    if (status == CLV_OK) {
        for (int64_t i = 0; i < p->n; i++) {
            m.root[i] = p->degree[i] > 0 ? 1 / sqrt(p->degree[i]) : 0;
        }
        out->converged = out->count == 0;
        status = out->count > 0 ? solve(&m, out) : CLV_OK;
    }
    CLV_FREE_ALL(p->ctx, m.root, m.now, m.before, m.image);
    clv_halo_free(&m.halo);
    if (status < 0) {
        clv_spectrum_free(out);
    }
    return status;
}

void clv_spectrum_free(clv_spectrum *spectrum) {
    clv_free(spectrum->ctx, spectrum->values);
    clv_free(spectrum->ctx, spectrum->vectors);
    *spectrum = (clv_spectrum){0};
}

/* --- what the values say --- */

/* For any partition, sum_c N_c / V_c is the trace of M on k orthonormal vectors, hence at most the sum of the k largest
 * eigenvalues. Each of these is at most the value found plus the residual, provided that the solver has missed none:
 * it is a Krylov method, whose check for missed eigenvalues starts at random and errs with a probability that is
 * negligible, not zero. Pairs that have not converged were not checked, and larger eigenvalues may be missing: they
 * give 0 only. No eigenvalue exceeds 1, unless similarities may lie below 0. */
double clv_spectral_bound(const clv_spectrum *spectrum, int64_t k) {
    double bound = 0;
    for (int64_t c = 0; c < k && c < spectrum->count && spectrum->converged; c++) {
        double most = spectrum->values[c] + spectrum->residual;
        bound += (1 - (spectrum->open ? most : fmin(most, 1))) / 2;
    }
    return bound;
}

/* With as many components as eigenvalues, or more, all of these are 1 and their gaps say nothing. */
int64_t clv_choose_k(const clv_spectrum *spectrum, int64_t components) {
    int64_t best = 1;
    double widest = fmax(spectrum->residual, LEAST_GAP);
    if (components > 1 && components >= spectrum->count) {
        return components;
    }
    for (int64_t k = 2; k < spectrum->count; k++) {
        double gap = spectrum->values[k - 1] - spectrum->values[k];
        if (gap > widest) {
            best = k;
            widest = gap;
        }
    }
    return best;
}
