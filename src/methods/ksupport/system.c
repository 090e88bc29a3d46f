/* The linear systems of semismooth Newton: H x = b with H = D + scale A P A', D a positive diagonal.
 *
 * P is the derivative of the proximity operator: a multiple of 1 on the entries with theta = 1, the identity less a
 * rank-one matrix on those in between, 0 elsewhere. P = C C', so that with G = sqrt(scale) D^-1/2 A C, a column for
 * each entry in use,
 *
 *   D^-1/2 H D^-1/2 = I + G G',   (I + G G')^-1 = I - G (I + G'G)^-1 G'.
 *
 * Whichever of the two matrices is smaller, samples x samples or entries x entries, is factorized by Cholesky; where
 * both are large, conjugate gradients do without, preconditioned by D (H is then the identity plus a matrix of low
 * rank). The matrix is formed in tiles, each by one thread, so that no sum depends on their number.
 *
 * Cost: m = min(samples, entries in use): samples x entries x m for the matrix, m^3 / 3 for the factor. */
#include "methods/ksupport/ksupport.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { MOST_ORDER = 3000, MOST_ENTRIES = 1 << 26, TILE = 192, MOST_CONJUGATE = 500 };

/* Whether there is room for the matrix of a working set. */
static bool is_dense(int64_t samples, int64_t working) {
    return (samples < working ? samples : working) <= MOST_ORDER && working * samples <= MOST_ENTRIES;
}

size_t clv_ks_system_memory(int64_t samples, int64_t working) {
    size_t n = (size_t)samples, count = (size_t)working, order = n < count ? n : count;
    size_t dense = is_dense(samples, working) ? order * order + n * count : 0;
    return (dense + 3 * n + 3 * count) * sizeof(double);
}

clv_status clv_ks_system_new(clv_kept *room, const clv_design *x, int threads, clv_ks_system *out) {
    int64_t n = x->samples, count = x->features, order = n < count ? n : count;
    *out = (clv_ks_system){.x = x, .threads = threads};
    out->used = CLV_TAKE(room, int64_t, count);
    out->sign = CLV_TAKE(room, double, count);
    out->value = CLV_TAKE(room, double, count);
    out->part = CLV_TAKE(room, double, 3 * n);
    if (is_dense(n, count)) {
        out->columns = CLV_TAKE(room, double, n *count);
        out->matrix = CLV_TAKE(room, double, order *order);
    }
    return room->status;
}

void clv_ks_system_set(clv_ks_system *s, const double *u, const clv_ksupport_root *root, int64_t k) {
    s->whole = s->used_count = 0;
    for (int part = 0; part < 2; part++) {
        for (int64_t j = 0; j < s->x->features; j++) {
            double theta = isinf(root->a) ? 1 : root->a * fabs(u[j]) - root->beta;
            if (part == 0 ? theta >= 1 : theta > 0 && theta < 1) {
                s->sign[s->used_count] = u[j] < 0 ? -1 : 1;
                s->used[s->used_count++] = j;
            }
        }
        s->whole = part == 0 ? s->used_count : s->whole;
    }
    s->shrink = 1 / (1 + root->beta);
    s->rest = (double)(k - s->whole) / root->beta + (double)(s->used_count - s->whole);
}

/* --- by Cholesky --- */

/* The columns of G, each as a row of `columns`. */
static void fill_columns(clv_ks_system *s) {
    int64_t n = s->x->samples, between = s->used_count - s->whole;
    double *sum = s->part, *narrow = s->part + n;
    double lean = between > 0 ? (1 - sqrt(fmax(1 - (double)between / s->rest, 0))) / (double)between : 0;
    s->x->does->margins(s->x, s->used + s->whole, s->sign + s->whole, between, sum);
    for (int64_t m = 0; m < n; m++) {
        narrow[m] = sqrt(s->scale / s->diagonal[m]);
    }
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(static) if (n * s->used_count > 1 << 17)
    for (int64_t i = 0; i < s->used_count; i++) {
        double *row = s->columns + i * n, factor = i < s->whole ? sqrt(s->shrink) : 1;
        double tilt = i < s->whole ? 0 : lean * s->sign[i];
        clv_matrix_row(&s->x->matrix, s->used[i], row);
        for (int64_t m = 0; m < n; m++) {
            row[m] = factor * narrow[m] * (row[m] - tilt * sum[m]);
        }
    }
}

/* Tile i, j of the upper triangle of G'G (`inner`) or of G G'. */
static void form_tile(const clv_ks_system *s, bool inner, int64_t i, int64_t j) {
    int n = (int)s->x->samples, count = (int)s->used_count, order = inner ? count : n, depth = inner ? n : count;
    int rows = order - (int)i < TILE ? order - (int)i : TILE, cols = order - (int)j < TILE ? order - (int)j : TILE;
    const double *left = s->columns + i * (inner ? n : 1), *right = s->columns + j * (inner ? n : 1);
    double *out = s->matrix + j * order + i;
    CBLAS_TRANSPOSE first = inner ? CblasTrans : CblasNoTrans, second = inner ? CblasNoTrans : CblasTrans;
    if (i == j) {
        cblas_dsyrk(CblasColMajor, CblasUpper, first, rows, depth, 1, left, n, 0, out, order);
    } else {
        cblas_dgemm(CblasColMajor, first, second, rows, cols, depth, 1, left, n, right, n, 0, out, order);
    }
}

/* The factor of I + G'G or I + G G'. */
static bool factorize(clv_ks_system *s) {
    int64_t n = s->x->samples, order = s->used_count < n ? s->used_count : n, tiles = (order + TILE - 1) / TILE;
    bool inner = s->used_count < n;
    fill_columns(s);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic) if (order * n > 1 << 15)
    for (int64_t t = 0; t < tiles * tiles; t++) {
        if (t / tiles <= t % tiles) {
            form_tile(s, inner, t / tiles * TILE, t % tiles * TILE);
        }
    }
    for (int64_t i = 0; i < order; i++) {
        s->matrix[i * order + i] += 1;
    }
    return order == 0 || LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (int)order, s->matrix, (int)order) == 0;
}

static void solve_factorized(clv_ks_system *s, const double *b, double *out) {
    int n = (int)s->x->samples, count = (int)s->used_count, order = count < n ? count : n;
    for (int64_t m = 0; m < n; m++) {
        out[m] = b[m] / sqrt(s->diagonal[m]);
    }
    if (count >= n) {
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', n, 1, s->matrix, n, out, n);
    } else if (count > 0) {
        cblas_dgemv(CblasColMajor, CblasTrans, n, count, 1, s->columns, n, out, 1, 0, s->value, 1);
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', order, 1, s->matrix, order, s->value, order);
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, count, -1, s->columns, n, s->value, 1, 1, out, 1);
    }
    for (int64_t m = 0; m < n; m++) {
        out[m] /= sqrt(s->diagonal[m]);
    }
}

/* --- by conjugate gradients --- */

/* H v, without H: out may not be v. */
static void apply(const clv_ks_system *s, const double *v, double *out) {
    const clv_design *x = s->x;
    double sum = 0, *g = s->value;
    x->does->gradient(x, v, s->used, s->used_count, g, NULL);
    for (int64_t i = s->whole; i < s->used_count; i++) {
        sum += s->sign[i] * g[i];
    }
    for (int64_t i = 0; i < s->used_count; i++) {
        g[i] = s->scale * (i < s->whole ? g[i] * s->shrink : g[i] - s->sign[i] * sum / s->rest);
    }
    x->does->margins(x, s->used, g, s->used_count, out);
    for (int64_t m = 0; m < x->samples; m++) {
        out[m] += s->diagonal[m] * v[m];
    }
}

static void solve_iteratively(const clv_ks_system *s, const double *b, double *out) {
    int64_t n = s->x->samples;
    double *residual = s->part, *direction = residual + n, *image = direction + n, scaled = 0;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int64_t m = 0; m < n; m++) {
        residual[m] = b[m];
        direction[m] = b[m] / s->diagonal[m];
        scaled += residual[m] * direction[m];
    }
    double first = scaled;
    for (int pass = 0; pass < MOST_CONJUGATE && scaled > 1e-20 * first; pass++) {
        apply(s, direction, image);
        double step = scaled / cblas_ddot((int)n, direction, 1, image, 1), next = 0;
        for (int64_t m = 0; m < n; m++) {
            out[m] += step * direction[m];
            residual[m] -= step * image[m];
            next += residual[m] * residual[m] / s->diagonal[m];
        }
        for (int64_t m = 0; m < n; m++) {
            direction[m] = residual[m] / s->diagonal[m] + next / scaled * direction[m];
        }
        scaled = next;
    }
}

bool clv_ks_system_prepare(clv_ks_system *s, const double *diagonal, double scale) {
    s->diagonal = diagonal;
    s->scale = scale;
    return !s->matrix || factorize(s);
}

void clv_ks_system_solve(clv_ks_system *s, const double *b, double *out) {
    if (s->matrix) {
        solve_factorized(s, b, out);
    } else {
        solve_iteratively(s, b, out);
    }
}
