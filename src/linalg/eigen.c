/* Extreme eigenpairs of a symmetric operator that is known only by its products with vectors.
 *
 * ARPACK-NG's implicitly restarted Lanczos method (Lehoucq, Sorensen and Yang 1998) on the operator
 *
 *     B = 2 s I + A  (largest end)   or   B = 2 s I - A  (smallest end),   s an estimate of the norm of A,
 *
 * whose wanted eigenvalues are the largest ones and of size s: ARPACK's tolerance is relative to the eigenvalue, and so
 * to the scale of A, also where an eigenvalue of A is 0.
 *
 * A Krylov space holds one direction of each eigenspace, so that copies of a multiple eigenvalue (the zeros of the
 * Laplacian of a disconnected graph) are found through rounding only, and may be missed. After each solve the best pair
 * of B restricted to the complement of what was found is therefore computed as well: if it beats the last accepted pair
 * it takes its place, and the check is repeated until it does not. Residuals |A v - l v| are then recomputed.
 *
 * A failed attempt is repeated with twice the basis and more restarts; after ATTEMPTS, or at once where Lanczos has no
 * room, small problems go to LAPACK. Cost: a product with A a step, plus 2 n (basis size) a step for ARPACK. */
#include "linalg/linalg.h"

#include <arpack.h>
#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

enum {
    ATTEMPTS = 3,
    DENSE_AT_ONCE = 64,   /* up to this size LAPACK is as fast */
    DENSE_AT_MOST = 2000, /* the fall-back builds n^2 doubles */
    DENSE_LIMIT = 30000,  /* LAPACK's work array of 2 n^2 has a 32-bit length */
    NORM_STEPS = 12,
    LEAST_BASIS = 20,
    MOST_ROWS = INT32_MAX / 4 /* ARPACK counts in 32 bits; products of two such numbers fit in 64 */
};

/* ARPACK keeps the state of a solve in Fortran SAVE variables: one solve at a time in a process. */
static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct problem {
    clv_context *ctx;
    clv_kept kept;
    clv_operator apply;
    void *user;
    int64_t n, count;
    double sign; /* 1: largest end, -1: smallest end */
    double norm; /* s */
    double tol;
    uint64_t seed, solves; /* solves so far */
    double *values;        /* count: of A, the most wanted first */
    double *basis;         /* count x n: their unit vectors */
    double *projected;     /* n */
    double *image;         /* n */
    double *missed;        /* n */
    double *coefficients;  /* count */
} problem;

static clv_status new_problem(problem *p) {
    p->values = CLV_TAKE(&p->kept, double, p->count);
    p->basis = CLV_TAKE(&p->kept, double, p->count * p->n);
    p->projected = CLV_TAKE(&p->kept, double, p->n);
    p->image = CLV_TAKE(&p->kept, double, p->n);
    p->missed = CLV_TAKE(&p->kept, double, p->n);
    p->coefficients = CLV_TAKE(&p->kept, double, p->count);
    return p->kept.status;
}

/* --- the operator --- */

/* A x, with the hook polled: every step of every stage comes through here. */
static clv_status apply_operator(problem *p, const double *x, double *y) {
    if (clv_worked(p->ctx, p->n)) {
        return clv_stop_failure(p->ctx, "computing eigenvalues");
    }
    return p->apply(p->user, x, y, p->n);
}

/* x -= Q'Q x with the found vectors as the rows of Q. */
static void project_out(problem *p, double *x) {
    int rows = (int)p->count, cols = (int)p->n;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, cols, 1.0, p->basis, cols, x, 1, 0.0, p->coefficients, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, rows, cols, -1.0, p->basis, cols, p->coefficients, 1, 1.0, x, 1);
}

/* y = B x, or P B P x with P the projector on the complement of the found vectors. */
static clv_status apply_shifted(problem *p, bool deflated, const double *x, double *y) {
    const double *from = x;
    if (deflated) {
        memcpy(p->projected, x, (size_t)p->n * sizeof *x);
        project_out(p, p->projected);
        from = p->projected;
    }
    CLV_TRY(apply_operator(p, from, y));
    for (int64_t i = 0; i < p->n; i++) {
        y[i] = 2 * p->norm * from[i] + p->sign * y[i];
    }
    if (deflated) {
        project_out(p, y);
    }
    return CLV_OK;
}

static void random_vector(uint64_t seed, uint64_t stream, int64_t n, double *x) {
    clv_rng rng = clv_rng_stream(seed, stream);
    for (int64_t i = 0; i < n; i++) {
        x[i] = clv_rng_normal(&rng);
    }
}

/* The norm of A from below, by a few steps of the power method: its size is all that matters. */
static clv_status estimate_norm(problem *p) {
    double *x = p->projected, *y = p->image;
    random_vector(p->seed, UINT64_MAX, p->n, x);
    p->norm = 0;
    for (int step = 0; step < NORM_STEPS; step++) {
        double length = sqrt(clv_dot(x, x, p->n, 1));
        if (step > 0) {
            p->norm = fmax(p->norm, length);
        }
        if (!isfinite(length)) {
            return clv_fail(p->ctx, CLV_ENUMERIC, "the operator of %lld rows gives a product that is not finite",
                            (long long)p->n);
        }
        if (length <= 0) {
            break;
        }
        for (int64_t i = 0; i < p->n; i++) {
            x[i] /= length;
        }
        CLV_TRY(apply_operator(p, x, y));
        double *held = x;
        x = y;
        y = held;
    }
    p->norm = p->norm > 0 ? p->norm : 1.0;
    return CLV_OK;
}

/* --- ARPACK --- */

typedef struct lanczos {
    clv_kept kept;
    int n, wanted, size; /* size of the basis */
    int lwork;
    double *residual, *vectors, *products, *work, *values;
    int *chosen;
    int control[11], where[14];
} lanczos;

static clv_status new_lanczos(clv_context *ctx, int64_t n, int64_t wanted, int attempt, lanczos *z) {
    int64_t size = 2 * wanted + 1 > LEAST_BASIS ? 2 * wanted + 1 : LEAST_BASIS;
    size <<= attempt;
    size = size < n ? size : n;
    int64_t work_entries = size * (size + 8);
    *z = (lanczos){.kept.ctx = ctx, .n = (int)n, .wanted = (int)wanted, .size = (int)size};
    if (work_entries > INT32_MAX) {
        return clv_fail(ctx, CLV_ENOMEM, "%lld eigenvectors of %lld rows need a basis that is too large",
                        (long long)wanted, (long long)n);
    }
    z->lwork = (int)work_entries;
    z->residual = CLV_TAKE(&z->kept, double, n);
    z->vectors = CLV_TAKE(&z->kept, double, n *size);
    z->products = CLV_TAKE(&z->kept, double, 3 * n);
    z->work = CLV_TAKE(&z->kept, double, work_entries);
    z->values = CLV_TAKE(&z->kept, double, size);
    z->chosen = CLV_TAKE0(&z->kept, int, size);
    z->control[0] = 1;                        /* exact shifts */
    z->control[2] = 400 * (1 << 2 * attempt); /* restarts */
    z->control[3] = 1;                        /* block size */
    z->control[6] = 1;                        /* A x = l x */
    return z->kept.status;
}

/* ARPACK's reverse communication until it is done; *converged says whether all wanted pairs are there. */
static clv_status iterate(problem *p, lanczos *z, bool deflated, bool *converged) {
    enum { START = 0, MULTIPLY_FIRST = -1, MULTIPLY = 1 };
    int ido = START, info = 1; /* 1: the start vector is in z->residual */
    /* A start vector of its own for each solve: an old one has no part left in an eigenspace of which it gave one
     * direction, and would never lead to another. */
    random_vector(p->seed, p->solves++, p->n, z->residual);
    if (deflated) {
        project_out(p, z->residual);
    }
    do {
        dsaupd_c(&ido, "I", z->n, "LA", z->wanted, p->tol, z->residual, z->size, z->vectors, z->n, z->control, z->where,
                 z->products, z->work, z->lwork, &info);
        if (ido == MULTIPLY_FIRST || ido == MULTIPLY) {
            CLV_TRY(apply_shifted(p, deflated, z->products + z->where[0] - 1, z->products + z->where[1] - 1));
        }
    } while (ido == MULTIPLY_FIRST || ido == MULTIPLY);
    *converged = info == 0 && z->control[4] >= z->wanted;
    if (*converged) {
        dseupd_c(1, "A", z->chosen, z->values, z->vectors, z->n, 0.0, "I", z->n, "LA", z->wanted, p->tol, z->residual,
                 z->size, z->vectors, z->n, z->control, z->where, z->products, z->work, z->lwork, &info);
        *converged = info == 0 && z->control[4] >= z->wanted;
    }
    return CLV_OK;
}

/* The `wanted` leading pairs of B (deflated or not): unit vectors to vectors[c * n + i], the largest first. */
static clv_status solve(problem *p, int64_t wanted, bool deflated, int attempt, double *vectors, bool *converged) {
    lanczos z;
    clv_status status = new_lanczos(p->ctx, p->n, wanted, attempt, &z);
    if (status == CLV_OK) {
        pthread_mutex_lock(&arpack_lock);
        status = iterate(p, &z, deflated, converged);
        pthread_mutex_unlock(&arpack_lock);
    }
    for (int64_t c = 0; status == CLV_OK && *converged && c < wanted; c++) {
        const double *vector = z.vectors + (wanted - 1 - c) * p->n; /* ARPACK's order is ascending */
        memcpy(vectors + c * p->n, vector, (size_t)p->n * sizeof *vector);
    }
    clv_free_kept(&z.kept);
    return status;
}

/* --- from leading pairs to checked ones --- */

/* How far a residual or a missed eigenvalue may be off: what was asked for, and rounding. */
static double slack(const problem *p) {
    return (10 * p->tol + 1e-11) * p->norm;
}

/* Rayleigh quotient and residual of a vector, which is scaled to unit length. */
static clv_status measure(problem *p, double *vector, double *value, double *residual) {
    double length = sqrt(clv_dot(vector, vector, p->n, 1));
    for (int64_t i = 0; i < p->n; i++) {
        vector[i] /= length;
    }
    CLV_TRY(apply_operator(p, vector, p->image));
    *value = clv_dot(vector, p->image, p->n, 1);
    for (int64_t i = 0; i < p->n; i++) {
        p->image[i] -= *value * vector[i];
    }
    *residual = sqrt(clv_dot(p->image, p->image, p->n, 1));
    return CLV_OK;
}

/* Sort the pairs c..count-1 into the ones before them, the most wanted first. */
static void sort_from(problem *p, int64_t first) {
    for (int64_t c = first > 0 ? first : 1; c < p->count; c++) {
        for (int64_t b = c; b > 0 && p->sign * p->values[b] > p->sign * p->values[b - 1]; b--) {
            double held = p->values[b];
            p->values[b] = p->values[b - 1];
            p->values[b - 1] = held;
            cblas_dswap((int)p->n, p->basis + b * p->n, 1, p->basis + (b - 1) * p->n, 1);
        }
    }
}

static clv_status measure_all(problem *p, bool *good) {
    for (int64_t c = 0; c < p->count && *good; c++) {
        double residual = 0;
        CLV_TRY(measure(p, p->basis + c * p->n, &p->values[c], &residual));
        *good = residual <= slack(p);
    }
    sort_from(p, 0);
    return CLV_OK;
}

/* Look for a pair that the solve has missed, in the complement of what it found, until there is none. */
static clv_status add_missed(problem *p, int attempt, bool *good) {
    double *vector = p->missed;
    for (int64_t round = 0; round <= p->count && *good; round++) {
        double value = 0, residual = 0;
        CLV_TRY(solve(p, 1, true, attempt, vector, good));
        if (!*good) {
            return CLV_OK;
        }
        CLV_TRY(measure(p, vector, &value, &residual));
        *good = residual <= slack(p);
        double last = p->values[p->count - 1];
        if (!*good || p->sign * (value - last) <= slack(p)) {
            return CLV_OK;
        }
        p->values[p->count - 1] = value;
        memcpy(p->basis + (p->count - 1) * p->n, vector, (size_t)p->n * sizeof *vector);
        sort_from(p, p->count - 1);
    }
    return CLV_OK;
}

/* One attempt: *good when all pairs are there and checked. */
static clv_status attempt_lanczos(problem *p, int attempt, bool *good) {
    *good = false;
    CLV_TRY(solve(p, p->count, false, attempt, p->basis, good));
    if (!*good) {
        return CLV_OK;
    }
    CLV_TRY(measure_all(p, good));
    return add_missed(p, attempt, good);
}

/* --- LAPACK --- */

clv_status clv_eigen_dense(clv_context *ctx, double *a, int64_t n, double *values) {
    if (n == 0) {
        return CLV_OK;
    }
    if (n > DENSE_LIMIT) {
        return clv_fail(ctx, CLV_EUSAGE, "a dense matrix of %lld rows is too large for LAPACK: %d at most",
                        (long long)n, DENSE_LIMIT);
    }
    int64_t work_size = 1 + 6 * n + 2 * n * n, iwork_size = 3 + 5 * n;
    clv_kept kept = {.ctx = ctx};
    double *work = CLV_TAKE(&kept, double, work_size);
    lapack_int *iwork = CLV_TAKE(&kept, lapack_int, iwork_size);
    lapack_int info = 0;
    if (kept.status == CLV_OK) {
        /* Symmetric: column-major is row-major, and the eigenvectors, columns to LAPACK, are rows to us. */
        clv_blas_serial_begin();
        info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)n, a, (lapack_int)n, values, work,
                                   (lapack_int)work_size, iwork, (lapack_int)iwork_size);
        clv_blas_serial_end();
    }
    clv_free_kept(&kept);
    if (kept.status == CLV_OK && (info != 0 || !isfinite(clv_sum(values, n, 1)))) {
        return clv_fail(ctx, CLV_ENUMERIC, "LAPACK found no eigenvalues of a matrix of %lld rows (dsyevd: %d)",
                        (long long)n, (int)info);
    }
    return kept.status;
}

/* The matrix row by row, as the products with unit vectors. */
static clv_status fill_dense(problem *p, double *matrix) {
    double *unit = p->projected;
    memset(unit, 0, (size_t)p->n * sizeof *unit);
    for (int64_t i = 0; i < p->n; i++) {
        unit[i] = 1;
        CLV_TRY(apply_operator(p, unit, matrix + i * p->n));
        unit[i] = 0;
    }
    return CLV_OK;
}

static void take_from_dense(problem *p, const double *matrix, const double *all) {
    for (int64_t c = 0; c < p->count; c++) {
        int64_t from = p->sign > 0 ? p->n - 1 - c : c;
        p->values[c] = all[from];
        memcpy(p->basis + c * p->n, matrix + from * p->n, (size_t)p->n * sizeof *matrix);
    }
}

static clv_status solve_dense(problem *p) {
    double *matrix = CLV_NEW(p->ctx, double, p->n * p->n);
    double *all = CLV_NEW(p->ctx, double, p->n);
    clv_status status = matrix && all ? fill_dense(p, matrix) : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = clv_eigen_dense(p->ctx, matrix, p->n, all);
    }
    if (status == CLV_OK) {
        take_from_dense(p, matrix, all);
    }
    clv_free(p->ctx, matrix);
    clv_free(p->ctx, all);
    return status;
}

/* --- the whole --- */

/* Lanczos needs a basis larger than what is wanted; where half of the spectrum is, LAPACK is cheaper. */
static bool is_for_lapack(const problem *p) {
    return p->n <= DENSE_AT_ONCE || p->count + 1 >= p->n || (p->n <= DENSE_AT_MOST && p->count >= p->n / 4);
}

static clv_status solve_any(problem *p) {
    if (is_for_lapack(p)) {
        return solve_dense(p);
    }
    CLV_TRY(estimate_norm(p));
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        bool good;
        CLV_TRY(attempt_lanczos(p, attempt, &good));
        if (good) {
            return CLV_OK;
        }
    }
    if (p->n <= DENSE_AT_MOST) {
        return solve_dense(p);
    }
    return clv_fail(p->ctx, CLV_ENUMERIC,
                    "ARPACK did not find the %lld %s eigenvalues of %lld rows to a tolerance of %g in %d attempts",
                    (long long)p->count, p->sign > 0 ? "largest" : "smallest", (long long)p->n, p->tol, ATTEMPTS);
}

clv_status clv_eigen(clv_context *ctx, clv_operator apply, void *user, int64_t n, int64_t count, clv_eigen_end end,
                     double tol, uint64_t seed, double *values, double *vectors) {
    if (count < 0 || count > n || n > MOST_ROWS) {
        return clv_fail(ctx, CLV_EUSAGE,
                        "%lld eigenvalues of %lld rows were asked for: 0 to %lld of at most %d rows are "
                        "allowed",
                        (long long)count, (long long)n, (long long)n, MOST_ROWS);
    }
    if (count == 0) {
        return CLV_OK;
    }
    problem p = {.ctx = ctx, .kept.ctx = ctx, .apply = apply, .user = user, .n = n, .count = count, .seed = seed};
    p.sign = end == CLV_EIGEN_LARGEST ? 1 : -1;
    p.tol = tol > DBL_EPSILON ? tol : DBL_EPSILON;
    clv_status status = new_problem(&p);
    if (status == CLV_OK) {
        clv_blas_serial_begin();
        status = solve_any(&p);
        clv_blas_serial_end();
    }
    if (status == CLV_OK) {
        memcpy(values, p.values, (size_t)count * sizeof *values);
        if (vectors) {
            memcpy(vectors, p.basis, (size_t)count * (size_t)n * sizeof *vectors);
        }
    }
    clv_free_kept(&p.kept);
    return status;
}
