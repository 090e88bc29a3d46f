/* The iterate: memberships W (k x n here, one cluster per row), the product P W that follows them, and what is measured
 * of both.
 *
 *   f(W)     1/4 (|P|^2 - 2 <W, P W> + |W'W|^2), with |P|^2 known
 *   gradient W W'W - P W
 *   gap      sum over objects of (gradient . row - least entry of the gradient of the row): what the linear model can
 *            still gain on the product of simplices
 *
 * One measurement costs 4 n k^2 operations, in fixed chunks of objects whose sums are added in order. */
#include "methods/symnmf/symnmf.h"

#include "sets/simplex.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Chunks for sums over objects: as many on any number of threads. */
enum { MOST_PARTS = 64 };
/* Below this share of |P|^2 / 4 an objective counts as this: that is what rounding leaves of an exact factorization. */
#define LEAST_SHARE 1e-6

/* At least k objects to a part, so that all k x k sums together take no more room than memberships. */
static int64_t part_length(int64_t n, int64_t k) {
    int64_t shared = (n + MOST_PARTS - 1) / MOST_PARTS;
    shared = shared > k ? shared : k;
    return shared > CLV_SYMNMF_CHUNK ? (shared + CLV_SYMNMF_CHUNK - 1) / CLV_SYMNMF_CHUNK * CLV_SYMNMF_CHUNK
                                     : CLV_SYMNMF_CHUNK;
}

static int64_t part_count(int64_t n, int64_t k) {
    return (n + part_length(n, k) - 1) / part_length(n, k);
}

/* --- making --- */

typedef struct needs {
    bool held, direction, image, previous, vertex, rows;
} needs;

static needs needs_of(int solver) {
    switch ((clv_symnmf_solver)solver) {
    case CLV_SYMNMF_ROWS:
        return (needs){.rows = true};
    case CLV_SYMNMF_FW:
        return (needs){.direction = true, .image = true, .previous = true, .vertex = true};
    case CLV_SYMNMF_PAIRWISE:
        return (needs){.direction = true, .image = true};
    case CLV_SYMNMF_SPG:
        return (needs){.direction = true, .image = true, .previous = true};
    case CLV_SYMNMF_PGD:
        return (needs){.held = true, .direction = true};
    case CLV_SYMNMF_PENALTY:
        return (needs){.held = true, .direction = true, .image = true, .previous = true};
    case CLV_SYMNMF_AUTO: /* stands for another */
        break;
    }
    return (needs){0};
}

static bool make(clv_context *ctx, bool wanted, int64_t count, double **out) {
    *out = wanted ? CLV_NEW(ctx, double, count) : NULL;
    return *out || !wanted;
}

clv_status clv_memberships_new(const clv_symnmf_problem *problem, int threads, clv_memberships *out) {
    const clv_symnmf_problem *p = problem;
    clv_context *ctx = p->ctx;
    int64_t block = p->n * p->k, square = p->k * p->k;
    needs need = needs_of(p->options.solver);
    *out = (clv_memberships){.problem = p, .threads = threads};
    bool complete = make(ctx, true, block, &out->w) && make(ctx, true, square, &out->gram) &&
                    make(ctx, true, block, &out->gradient) && make(ctx, need.held, block, &out->held) &&
                    make(ctx, need.direction, block, &out->direction) && make(ctx, need.image, block, &out->image) &&
                    make(ctx, need.previous, block, &out->previous) && make(ctx, true, 2 * square, &out->cross) &&
                    make(ctx, true, part_count(p->n, p->k) * (square + 2), &out->partial) &&
                    make(ctx, need.rows, clv_rows_work(p->n, p->k), &out->rows);
    if (complete && !need.rows) {
        out->pw = CLV_NEW(ctx, double, block);
        complete = out->pw != NULL;
    }
    if (complete && need.vertex) {
        out->vertex = CLV_NEW(ctx, int32_t, 2 * p->n);
        out->moved = CLV_NEW(ctx, int64_t, p->n);
        complete = out->vertex && out->moved;
    }
    if (!complete) {
        return CLV_ENOMEM;
    }
    if (need.rows) {
        CLV_TRY(clv_product_new(p->affinity, p->k, out->w, threads, &out->product));
        out->pw = out->product.y;
    }
    return CLV_OK;
}

void clv_memberships_free(clv_memberships *s) {
    if (s->problem) {
        clv_context *ctx = s->problem->ctx;
        CLV_FREE_ALL(ctx, s->w, s->gram, s->gradient, s->held, s->direction, s->image, s->previous, s->cross,
                     s->partial, s->rows, s->vertex, s->moved, s->product.a ? NULL : s->pw);
        clv_product_free(&s->product);
    }
    *s = (clv_memberships){0};
}

size_t clv_memberships_memory(int64_t n, int64_t k, int solver) {
    needs need = needs_of(solver);
    size_t block = (size_t)(n * k), square = (size_t)(k * k);
    size_t blocks = 3 + (size_t)need.held + (size_t)need.direction + (size_t)need.image + (size_t)need.previous;
    size_t numbers = blocks * block + 3 * square + (size_t)part_count(n, k) * (square + 2) +
                     (need.rows ? (size_t)clv_rows_work(n, k) : 0);
    return (numbers + (size_t)(need.vertex ? 3 * n : n)) * sizeof(double);
}

/* Rows on the simplex, but for rounding. */
static bool are_memberships(const clv_memberships *s) {
    int64_t n = s->problem->n, k = s->problem->k;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t c = 0; c < k; c++) {
            if (!(s->w[c * n + i] >= 0)) {
                return false;
            }
            sum += s->w[c * n + i];
        }
        if (!(fabs(sum - 1) < 0.5)) {
            return false;
        }
    }
    return true;
}

/* W, P W and what a solver has kept of its last step; gram matrix, gradient, objective and gap are measured anew, from
 * the same numbers. With a factor P W comes from its k x rank sums. */
clv_status clv_memberships_pass(clv_memberships *s, clv_archive *archive) {
    const clv_symnmf_problem *p = s->problem;
    int64_t block = p->n * p->k;
    needs need = needs_of(p->options.solver);
    clv_pass_reals(archive, s->w, block);
    if (s->product.t) {
        clv_pass_reals(archive, s->product.t, p->k * s->product.factor.cols);
    } else {
        clv_pass_reals(archive, s->pw, block);
    }
    clv_pass_flag(archive, &s->primed);
    clv_pass_flag(archive, &s->stuck);
    clv_pass_flag(archive, &s->rough);
    clv_pass_real(archive, &s->step);
    clv_pass_real(archive, &s->weight);
    if (p->options.solver == CLV_SYMNMF_PENALTY && s->primed) {
        clv_pass_reals(archive, s->held, block);
    }
    if (need.vertex && s->primed) {
        clv_pass_labels(archive, s->vertex, p->n, 0, p->k - 1);
        clv_pass_reals(archive, s->previous, block);
    }
    if (archive->loading && archive->status == CLV_OK) {
        if (!are_memberships(s)) {
            return clv_archive_refuse(archive);
        }
        if (s->product.a) {
            clv_product_values(&s->product);
        }
        clv_memberships_measure(s);
    }
    return archive->status;
}

/* --- measuring --- */

/* out = left right' for k x n blocks, part by part. */
static void multiply_across(clv_memberships *s, const double *left, const double *right, double *out) {
    int64_t n = s->problem->n, k = s->problem->k, square = k * k, length = part_length(n, k), parts = part_count(n, k);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(static) if (clv_memberships_are_many(s))
    for (int64_t part = 0; part < parts; part++) {
        int64_t at = part * length, some = n - at < length ? n - at : length;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, (int)k, (int)some, 1, left + at, (int)n,
                    right + at, (int)n, 0, s->partial + part * square, (int)k);
    }
    memcpy(out, s->partial, (size_t)square * sizeof *out);
    for (int64_t part = 1; part < parts; part++) {
        for (int64_t e = 0; e < square; e++) {
            out[e] += s->partial[part * square + e];
        }
    }
}

/* What the gap and <W, P W> get from `some` objects. */
static void add_objects(const clv_memberships *s, int64_t at, int64_t some, double *sums) {
    int64_t n = s->problem->n, k = s->problem->k;
    double along[CLV_SYMNMF_CHUNK], least[CLV_SYMNMF_CHUNK], inner = 0, gap = 0;
    for (int64_t i = 0; i < some; i++) {
        along[i] = 0;
        least[i] = INFINITY;
    }
    for (int64_t c = 0; c < k; c++) {
        const double *w = s->w + c * n + at, *slope = s->gradient + c * n + at;
        for (int64_t i = 0; i < some; i++) {
            along[i] += slope[i] * w[i];
            least[i] = slope[i] < least[i] ? slope[i] : least[i];
        }
        inner += clv_dot(w, s->pw + c * n + at, some, 1);
    }
    for (int64_t i = 0; i < some; i++) {
        gap += fmax(along[i] - least[i], 0);
    }
    sums[0] += gap;
    sums[1] += inner;
}

/* Gradients of a chunk of objects: gram W - P W. */
static void find_gradient(const clv_memberships *s, int64_t at, int64_t some) {
    int64_t n = s->problem->n, k = s->problem->k;
    double *g = s->gradient + at;
    for (int64_t c = 0; c < k; c++) {
        memcpy(g + c * n, s->pw + c * n + at, (size_t)some * sizeof *g);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, (int)some, (int)k, 1, s->gram, (int)k, s->w + at,
                (int)n, -1, g, (int)n);
}

static void measure_part(const clv_memberships *s, int64_t part, double *sums) {
    int64_t n = s->problem->n, length = part_length(n, s->problem->k),
            end = (part + 1) * length < n ? (part + 1) * length : n;
    sums[0] = sums[1] = 0;
    for (int64_t at = part * length; at < end; at += CLV_SYMNMF_CHUNK) {
        int64_t some = end - at < CLV_SYMNMF_CHUNK ? end - at : CLV_SYMNMF_CHUNK;
        find_gradient(s, at, some);
        add_objects(s, at, some, sums);
    }
}

void clv_memberships_measure(clv_memberships *s) {
    int64_t n = s->problem->n, k = s->problem->k, parts = part_count(n, k);
    clv_blas_serial_begin();
    multiply_across(s, s->w, s->w, s->gram);
    double *sums = s->partial + parts * k * k;
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(static) if (clv_memberships_are_many(s))
    for (int64_t part = 0; part < parts; part++) {
        measure_part(s, part, sums + 2 * part);
    }
    clv_blas_serial_end();
    s->gap = s->inner = 0;
    for (int64_t part = 0; part < parts; part++) {
        s->gap += sums[2 * part];
        s->inner += sums[2 * part + 1];
    }
    double overlap = clv_dot(s->gram, s->gram, k * k, 1);
    s->value = fmax((s->problem->squares - 2 * s->inner + overlap) / 4, 0);
}

clv_status clv_memberships_multiply(const clv_memberships *s, const double *x, double *y) {
    const clv_symnmf_problem *p = s->problem;
    return (s->rough ? clv_affinity_rough_apply : clv_affinity_apply)(p->affinity, x, p->k, y, s->threads);
}

clv_status clv_memberships_refresh(clv_memberships *s) {
    if (s->product.a) {
        s->product.rough = s->rough;
        CLV_TRY(clv_product_begin(&s->product));
        CLV_TRY(clv_product_values(&s->product));
    } else {
        CLV_TRY(clv_memberships_multiply(s, s->w, s->pw));
    }
    clv_memberships_measure(s);
    return CLV_OK;
}

double clv_symnmf_tolerance(const clv_symnmf_problem *problem, double value) {
    return problem->tol * fmax(value, LEAST_SHARE * problem->squares / 4);
}

/* --- along a direction --- */

/* (W + tD)'(W + tD) = A + t B + t^2 C with A = W'W, B = W'D + D'W, C = D'D. */
double clv_memberships_best(clv_memberships *s, double most) {
    int64_t n = s->problem->n, k = s->problem->k, square = k * k;
    double *b = s->cross, *c = s->cross + square, z[5]; /* z: f along W + t D, coefficients of 1, t, ..., t^4 */
    clv_blas_serial_begin();
    multiply_across(s, s->w, s->direction, b);
    multiply_across(s, s->direction, s->direction, c);
    clv_blas_serial_end();
    for (int64_t i = 0; i < k; i++) {
        for (int64_t j = 0; j <= i; j++) {
            b[i * k + j] = b[j * k + i] = b[i * k + j] + b[j * k + i];
        }
    }
    z[0] = s->value;
    z[1] = clv_dot(s->gram, b, square, 1) / 2 - clv_dot(s->direction, s->pw, n * k, s->threads);
    z[2] = (clv_dot(b, b, square, 1) + 2 * clv_dot(s->gram, c, square, 1)) / 4 -
           clv_dot(s->direction, s->image, n * k, s->threads) / 2;
    z[3] = clv_dot(b, c, square, 1) / 2;
    z[4] = clv_dot(c, c, square, 1) / 4;
    return clv_quartic_least(z, most);
}

/* Entries that rounding takes below 0 are 0. */
void clv_memberships_go(clv_memberships *s, double t) {
    int64_t count = s->problem->n * s->problem->k;
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(static) if (clv_memberships_are_many(s))
    for (int64_t e = 0; e < count; e++) {
        s->w[e] = fmax(s->w[e] + t * s->direction[e], 0);
        s->pw[e] += t * s->image[e];
    }
    s->stuck = !(t > 0);
    clv_memberships_measure(s);
}

/* --- rows --- */

void clv_project_rows(const clv_memberships *s, double *block) {
    int64_t n = s->problem->n, k = s->problem->k;
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(static) if (clv_memberships_are_many(s))
    for (int64_t i = 0; i < n; i++) {
        clv_simplex_project(block + i, k, n);
    }
}

double clv_memberships_length(const clv_memberships *s) {
    double trace = 0;
    for (int64_t c = 0; c < s->problem->k; c++) {
        trace += s->gram[c * s->problem->k + c];
    }
    return 1 / trace;
}

void clv_memberships_save(const clv_memberships *s, double *rows) {
    int64_t n = s->problem->n, k = s->problem->k;
    for (int64_t c = 0; c < k; c++) {
        for (int64_t i = 0; i < n; i++) {
            rows[i * k + c] = s->w[c * n + i];
        }
    }
}

void clv_memberships_load(clv_memberships *s, const double *rows) {
    int64_t n = s->problem->n, k = s->problem->k;
    for (int64_t c = 0; c < k; c++) {
        for (int64_t i = 0; i < n; i++) {
            s->w[c * n + i] = rows[i * k + c];
        }
    }
}
