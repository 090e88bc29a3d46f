/* The design of matrix pursuit: the linear map W -> X W from n x n weights to d x n margins, never written out. */
#include "methods/pursuit/pursuit.h"

#include "kernels/kernels.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { ROWS = CLV_PURSUIT_ROWS, SLICE = 32 };

/* --- the map and its transpose --- */

static double one_entry(const clv_pursuit_points *p, const double *r, int64_t place) {
    int64_t i = place / p->n, j = place % p->n;
    bool left_out = p->zero_diagonal && i == j;
    return left_out ? 0 : cblas_ddot((int)p->d, p->points + i * p->d, 1, r + j * p->d, 1);
}

static void kron_gradient(const clv_design *x, const double *r, const int64_t *list, int64_t count, double *g,
                          double *squares) {
    const clv_pursuit_points *p = x->user;
    int64_t blocks = (p->n + ROWS - 1) / ROWS;
    (void)squares; /* nothing is screened here */
    if (list) {
        for (int64_t e = 0; e < count; e++) {
            g[e] = one_entry(p, r, list[e]);
        }
        return;
    }
#pragma omp parallel for num_threads(clv_team(x->threads)) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t i0 = b * ROWS, rows = p->n - i0 < ROWS ? p->n - i0 : ROWS;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)p->n, (int)p->d, 1, p->points + i0 * p->d,
                    (int)p->d, r, (int)p->d, 0, g + i0 * p->n, (int)p->n);
        for (int64_t i = i0; p->zero_diagonal && i < i0 + rows; i++) {
            g[i * p->n + i] = 0;
        }
    }
}

/* Z = W'P: each entry of W adds a multiple of a row of P to a row of Z. Threads take columns of both. */
static void kron_margins(const clv_design *x, const int64_t *index, const double *value, int64_t count, double *z) {
    const clv_pursuit_points *p = x->user;
    int64_t slices = (p->d + SLICE - 1) / SLICE;
#pragma omp parallel for num_threads(clv_team(x->threads)) schedule(static) if (count > 256)
    for (int64_t s = 0; s < slices; s++) {
        int64_t first = s * SLICE, width = p->d - first < SLICE ? p->d - first : SLICE;
        for (int64_t j = 0; j < p->n; j++) {
            memset(z + j * p->d + first, 0, (size_t)width * sizeof *z);
        }
        for (int64_t e = 0; e < count; e++) {
            const double *from = p->points + index[e] / p->n * p->d + first;
            double *to = z + index[e] % p->n * p->d + first, weight = value[e];
            clv_kernels->f64.add_weighted(to, weight, from, width);
        }
    }
}

/* --- the work space --- */

static void free_work(clv_context *ctx, void *work) {
    clv_pursuit_work *s = work;
    if (s) {
        clv_free(ctx, s->slope);
        clv_free(ctx, s->tile);
        clv_free(ctx, s->first);
        clv_free(ctx, s->count);
        clv_free(ctx, s->candidate);
        clv_free(ctx, s->value);
        clv_free(ctx, s->order);
        clv_free(ctx, s->top);
        clv_free(ctx, s->gram);
        clv_free(ctx, s->factor);
        clv_free(ctx, s->pulled);
        clv_ksupport_set_free(&s->set);
        clv_free(ctx, s);
    }
}

static clv_status new_work(const clv_design *x, int64_t k, void **work) {
    const clv_pursuit_points *p = x->user;
    clv_context *ctx = p->ctx;
    int64_t blocks = (p->n + ROWS - 1) / ROWS;
    clv_pursuit_work *s = CLV_NEW0(ctx, clv_pursuit_work, 1);
    *work = s;
    if (!s) {
        return CLV_ENOMEM;
    }
    s->points = p;
    s->keep = 0.9;
    s->capacity = 2 * k + 64;
    s->slope = CLV_NEW(ctx, float, p->n * p->d);
    s->tile = CLV_NEW(ctx, float, (int64_t)p->threads *ROWS * p->n);
    s->first = CLV_NEW(ctx, int64_t, blocks);
    s->count = CLV_NEW(ctx, int64_t, blocks);
    s->candidate = CLV_NEW(ctx, int64_t, s->capacity);
    s->order = CLV_NEW(ctx, int64_t, s->capacity);
    s->value = CLV_NEW(ctx, double, s->capacity);
    s->top = CLV_NEW(ctx, int64_t, k);
    bool complete = s->slope && s->tile && s->first && s->count && s->candidate && s->order && s->value && s->top;
    return complete ? clv_ksupport_set_new(ctx, s->capacity, k, p->threads, false, &s->set) : CLV_ENOMEM;
}

/* Where the next search for the largest entries begins. */
static void pass_work(void *work, clv_archive *archive) {
    clv_pursuit_work *s = work;
    clv_pass_real(archive, &s->bar);
    clv_pass_real(archive, &s->keep);
    if (!(s->bar >= 0 && s->keep > 0 && s->keep < 1)) {
        clv_archive_refuse(archive);
    }
}

static const clv_design_functions kron = {.gradient = kron_gradient,
                                          .margins = kron_margins,
                                          .steepest = clv_pursuit_steepest,
                                          .pull = clv_pursuit_pull,
                                          .scale = clv_pursuit_scale,
                                          .new_work = new_work,
                                          .free_work = free_work,
                                          .pass_work = pass_work};

clv_design clv_pursuit_design(const clv_pursuit_points *points) {
    return (clv_design){.ctx = points->ctx,
                        .does = &kron,
                        .samples = points->n * points->d,
                        .features = points->n * points->n,
                        .numbers = (double)points->n * (double)points->n * (double)points->d,
                        .threads = points->threads,
                        .user = points};
}

/* --- the points --- */

void clv_pursuit_points_free(clv_pursuit_points *p) {
    clv_free(p->ctx, p->points);
    clv_free(p->ctx, p->single);
    *p = (clv_pursuit_points){0};
}

clv_status clv_pursuit_points_new(clv_context *ctx, const clv_matrix *points, bool zero_diagonal, int threads,
                                  clv_pursuit_points *out) {
    *out = (clv_pursuit_points){
        .ctx = ctx, .n = points->rows, .d = points->cols, .threads = threads, .zero_diagonal = zero_diagonal};
    out->points = CLV_NEW(ctx, double, out->n * out->d);
    out->single = CLV_NEW(ctx, float, out->n * out->d);
    if (!out->points || !out->single) {
        clv_pursuit_points_free(out);
        return CLV_ENOMEM;
    }
    double largest = 0;
    for (int64_t i = 0; i < out->n; i++) {
        clv_matrix_row(points, i, out->points + i * out->d);
    }
    for (int64_t e = 0; e < out->n * out->d; e++) {
        largest = fmax(largest, fabs(out->points[e]));
    }
    frexp(largest, &out->exponent);
    for (int64_t i = 0; i < out->n; i++) {
        double *row = out->points + i * out->d;
        for (int64_t f = 0; f < out->d; f++) {
            row[f] = ldexp(row[f], -out->exponent);
        }
        out->longest = fmax(out->longest, sqrt(clv_dot(row, row, out->d, 1)));
    }
    for (int64_t e = 0; e < out->n * out->d; e++) {
        out->single[e] = (float)out->points[e];
    }
    return CLV_OK;
}
