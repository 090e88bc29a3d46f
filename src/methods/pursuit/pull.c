/* The smooth half of admm on the design of matrix pursuit: W from (rho + X'X) W = X'Y + rho V.
 *
 * With the margins V'P of V and Q = Y - V'P, n x d, it is W = V + H', where
 *
 *   H = Q (rho + P'P)^-1 P'   by features,   H = Q P' (rho + P P')^-1   by objects,
 *
 * the same for any shape of P. The smaller one of the two matrices is kept, so that neither many objects nor many
 * features take more than the points and W do. The margins of W are V'P + H P, and the gradient there is -rho H'.
 *
 * Cost 4 n^2 d for a W, min(n, d)^3 / 3 for a factor, which stays as long as rho does. */
#include "methods/pursuit/pursuit.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { ROWS = CLV_PURSUIT_ROWS, PANEL = 128 };

/* The order of the matrix that is kept, and whether it is that of the objects. */
static int64_t order_of(int64_t n, int64_t d) {
    return n < d ? n : d;
}

static bool is_by_objects(const clv_pursuit_points *p) {
    return p->n < p->d;
}

size_t clv_pursuit_pull_memory(int64_t n, int64_t d) {
    size_t m = (size_t)order_of(n, d);
    return (2 * m + (size_t)n) * m * sizeof(double);
}

/* The mean eigenvalue of X X'. */
double clv_pursuit_scale(const clv_design *x) {
    const clv_pursuit_points *p = x->user;
    return fmax(clv_dot(p->points, p->points, p->n * p->d, 1) / (double)p->d, 1e-12);
}

/* --- the matrix and its factor --- */

/* Rows of P'P, or of P P'. */
static void gram_rows(const clv_pursuit_work *s, int64_t first, int64_t rows) {
    const clv_pursuit_points *p = s->points;
    int n = (int)p->n, d = (int)p->d;
    if (is_by_objects(p)) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, n, d, 1, p->points + first * p->d, d, p->points,
                    d, 0, s->gram + first * p->n, n);
    } else {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)rows, d, n, 1, p->points + first, d, p->points, d, 0,
                    s->gram + first * p->d, d);
    }
}

static clv_status form_gram(clv_pursuit_work *s) {
    const clv_pursuit_points *p = s->points;
    int64_t m = order_of(p->n, p->d), blocks = (m + ROWS - 1) / ROWS;
    atomic_bool stopped = false;
    s->gram = CLV_NEW(p->ctx, double, m *m);
    s->factor = CLV_NEW(p->ctx, double, m *m);
    s->pulled = CLV_NEW(p->ctx, double, p->n *m);
    if (!s->gram || !s->factor || !s->pulled) {
        return CLV_ENOMEM;
    }
#pragma omp parallel for num_threads(clv_team(p->threads)) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        if (clv_goes_on(p->ctx, &stopped, ROWS * p->n * p->d)) {
            gram_rows(s, b * ROWS, m - b * ROWS < ROWS ? m - b * ROWS : ROWS);
        }
    }
    return stopped ? clv_stop_failure(p->ctx, "taking a step of admm") : CLV_OK;
}

/* One panel of U in A = U'U, m x m, column by column, from row and column `at` on: its block on the diagonal, then the
 * blocks beside it, and then what follows loses what the panel explains. */
static clv_status factor_panel(const clv_pursuit_points *p, double *a, int64_t m, int64_t at, bool *solvable) {
    int64_t next = at + PANEL < m ? at + PANEL : m, blocks = (m - next + PANEL - 1) / PANEL;
    int wide = (int)(next - at), apart = (int)m;
    atomic_bool stopped = false;
    *solvable = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', wide, a + at * m + at, apart) == 0;
    if (!*solvable) {
        return CLV_OK;
    }
#pragma omp parallel for num_threads(clv_team(p->threads)) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t first = next + b * PANEL, columns = m - first < PANEL ? m - first : PANEL;
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, wide, (int)columns, 1,
                    a + at * m + at, apart, a + first * m + at, apart);
    }
#pragma omp parallel for num_threads(clv_team(p->threads)) schedule(dynamic)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t first = next + b * PANEL, columns = m - first < PANEL ? m - first : PANEL;
        if (clv_goes_on(p->ctx, &stopped, PANEL * columns * m)) {
            cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)(first + columns - next), (int)columns, wide, -1,
                        a + next * m + at, apart, a + first * m + at, apart, 1, a + first * m + next, apart);
        }
    }
    return stopped ? clv_stop_failure(p->ctx, "taking a step of admm") : CLV_OK;
}

/* A panel at a time, as a large matrix takes long. */
static clv_status factor(clv_pursuit_work *s, double rho) {
    const clv_pursuit_points *p = s->points;
    int64_t m = order_of(p->n, p->d);
    bool solvable = true;
    memcpy(s->factor, s->gram, (size_t)(m * m) * sizeof *s->gram);
    for (int64_t i = 0; i < m; i++) {
        s->factor[i * m + i] += rho;
    }
    for (int64_t at = 0; solvable && at < m; at += PANEL) {
        CLV_TRY(factor_panel(p, s->factor, m, at, &solvable));
    }
    s->rho = rho;
    return solvable ? CLV_OK
                    : clv_fail(p->ctx, CLV_EDATA,
                               "the rho of admm is lost beside the squares of the points, so that its systems have no "
                               "solution: scale the points (--scale), or take a larger --rho or another --solver");
}

/* --- the weights --- */

/* Rows j0.. of Q (rho + P'P)^-1, and of the margins from those of V'P. */
static void pull_by_features(const clv_pursuit_work *s, int64_t j0, int64_t rows, const double *y, double *margin) {
    const clv_pursuit_points *p = s->points;
    int d = (int)p->d;
    double *pulled = s->pulled + j0 * p->d;
    for (int64_t e = 0; e < rows * p->d; e++) {
        pulled[e] = y[e] - margin[e];
    }
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', d, (int)rows, s->factor, d, pulled, d);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, d, d, 1, pulled, d, s->gram, d, 1, margin, d);
}

/* Rows j0.. of H, and of the margins from those of V'P, where Q is in the meantime. */
static void pull_by_objects(const clv_pursuit_work *s, int64_t j0, int64_t rows, const double *y, double *margin) {
    const clv_pursuit_points *p = s->points;
    int n = (int)p->n, d = (int)p->d;
    double *pulled = s->pulled + j0 * p->n;
    for (int64_t e = 0; e < rows * p->d; e++) {
        margin[e] = y[e] - margin[e];
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, n, d, 1, margin, d, p->points, d, 0, pulled, n);
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', n, (int)rows, s->factor, n, pulled, n);
    for (int64_t e = 0; e < rows * p->d; e++) {
        margin[e] = y[e] - margin[e];
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, d, n, 1, pulled, n, p->points, d, 1, margin, d);
}

static void pull_rows(const clv_pursuit_work *s, int64_t j0, int64_t rows, const double *y, const double *v,
                      double *margin) {
    const clv_pursuit_points *p = s->points;
    int n = (int)p->n, d = (int)p->d;
    const double *wanted = y + j0 * p->d;
    double *out = margin + j0 * p->d;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)rows, d, n, 1, v + j0, n, p->points, d, 0, out, d);
    (is_by_objects(p) ? pull_by_objects : pull_by_features)(s, j0, rows, wanted, out);
}

/* Rows i0.. of H'. */
static void turn_rows(const clv_pursuit_work *s, int64_t i0, int64_t rows, double *out) {
    const clv_pursuit_points *p = s->points;
    if (!is_by_objects(p)) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)p->n, (int)p->d, 1, p->points + i0 * p->d,
                    (int)p->d, s->pulled, (int)p->d, 0, out, (int)p->n);
        return;
    }
    for (int64_t j = 0; j < p->n; j++) {
        for (int64_t i = 0; i < rows; i++) {
            out[i * p->n + j] = s->pulled[j * p->n + i0 + i];
        }
    }
}

clv_status clv_pursuit_pull(const clv_design *x, void *work, const double *y, double rho, const double *v, double *w,
                            double *margin, double *gradient) {
    const clv_pursuit_points *p = x->user;
    clv_pursuit_work *s = work;
    int64_t blocks = (p->n + ROWS - 1) / ROWS;
    CLV_TRY(s->gram ? CLV_OK : form_gram(s));
    CLV_TRY(s->rho == rho ? CLV_OK : factor(s, rho));
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(clv_team(p->threads)) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        if (clv_goes_on(p->ctx, &stopped, ROWS * p->n * p->d)) {
            pull_rows(s, b * ROWS, p->n - b * ROWS < ROWS ? p->n - b * ROWS : ROWS, y, v, margin);
        }
    }
#pragma omp parallel for num_threads(clv_team(p->threads)) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        if (!clv_goes_on(p->ctx, &stopped, ROWS * p->n * p->d)) {
            continue;
        }
        int64_t i0 = b * ROWS, rows = p->n - i0 < ROWS ? p->n - i0 : ROWS;
        double *out = w + i0 * p->n, *slope = gradient + i0 * p->n;
        turn_rows(s, i0, rows, out);
        for (int64_t e = 0; e < rows * p->n; e++) {
            slope[e] = -rho * out[e];
            out[e] += v[i0 * p->n + e];
        }
    }
    return stopped ? clv_stop_failure(p->ctx, "taking a step of admm") : CLV_OK;
}
