/* Points on their first two principal components, for a picture.
 *
 * A dense, centered copy of at most POINTS rows (fewer when there are very many columns) and the two leading
 * eigenvectors of its scatter matrix X'X, applied as X'(X v): memory for the copy, 4 m p additions and multiplications
 * an application. */
#include "linalg/linalg.h"
#include "report/report.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { POINTS = 5000, FEWEST = 50 };
/* Numbers in the copy. */
#define ROOM 40000000
#define EIGEN_TOLERANCE 1e-6

typedef struct sample {
    double *x;          /* m x p, centered */
    double *projection; /* m */
    int64_t m, p;
} sample;

void clv_plane_free(clv_context *ctx, clv_plane *plane) {
    clv_free(ctx, plane->object);
    clv_free(ctx, plane->x);
    *plane = (clv_plane){0};
}

static int64_t sample_size(const clv_matrix *points) {
    int64_t most = points->cols > 0 ? ROOM / points->cols : 0;
    most = most < POINTS ? most : POINTS;
    return points->rows <= most ? points->rows : most < FEWEST ? 0 : most;
}

static void center(sample *s) {
    for (int64_t j = 0; j < s->p; j++) {
        double mean = 0;
        for (int64_t i = 0; i < s->m; i++) {
            mean += s->x[i * s->p + j] / (double)s->m;
        }
        for (int64_t i = 0; i < s->m; i++) {
            s->x[i * s->p + j] -= mean;
        }
    }
}

static void project(const sample *s, const double *direction, double *out) {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)s->m, (int)s->p, 1, s->x, (int)s->p, direction, 1, 0, out, 1);
}

static clv_status apply_scatter(void *user, const double *x, double *y, int64_t n) {
    const sample *s = user;
    (void)n;
    project(s, x, s->projection);
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)s->m, (int)s->p, 1, s->x, (int)s->p, s->projection, 1, 0, y, 1);
    return CLV_OK;
}

/* Eigenvectors have no sign of their own: the largest entry is made positive. */
static void fix_sign(double *v, int64_t p) {
    double largest = 0;
    for (int64_t j = 0; j < p; j++) {
        largest = fabs(v[j]) > fabs(largest) ? v[j] : largest;
    }
    for (int64_t j = 0; j < p && largest < 0; j++) {
        v[j] = -v[j];
    }
}

static clv_status find_components(clv_context *ctx, sample *s, double *directions, clv_plane *out) {
    double values[2];
    int64_t count = s->p < 2 ? s->p : 2;
    CLV_TRY(clv_eigen(ctx, apply_scatter, s, s->p, count, CLV_EIGEN_LARGEST, EIGEN_TOLERANCE, 1, values, directions));
    memset(out->y, 0, (size_t)s->m * sizeof *out->y);
    for (int64_t c = 0; c < count; c++) {
        fix_sign(directions + c * s->p, s->p);
        project(s, directions + c * s->p, c == 0 ? out->x : out->y);
    }
    return CLV_OK;
}

static clv_status fill_plane(clv_context *ctx, const clv_matrix *points, sample *s, double *directions,
                             clv_plane *out) {
    if (!s->x || !s->projection || !directions || !out->x || !out->object) {
        return CLV_ENOMEM;
    }
    out->y = out->x + s->m;
    for (int64_t i = 0; i < s->m; i++) {
        out->object[i] = (int64_t)((double)i * (double)points->rows / (double)s->m);
        clv_matrix_row(points, out->object[i], s->x + i * s->p);
    }
    center(s);
    clv_blas_serial_begin();
    clv_status status = find_components(ctx, s, directions, out);
    clv_blas_serial_end();
    return status;
}

clv_status clv_plane_new(clv_context *ctx, const clv_matrix *points, clv_plane *out) {
    sample s = {.m = sample_size(points), .p = points->cols};
    *out = (clv_plane){0};
    if (s.m == 0) {
        return CLV_OK;
    }
    s.x = CLV_NEW(ctx, double, s.m *s.p);
    s.projection = CLV_NEW(ctx, double, s.m);
    double *directions = CLV_NEW(ctx, double, 2 * s.p);
    out->x = CLV_NEW(ctx, double, 2 * s.m);
    out->object = CLV_NEW(ctx, int64_t, s.m);
    clv_status status = fill_plane(ctx, points, &s, directions, out);
    clv_free(ctx, s.x);
    clv_free(ctx, s.projection);
    clv_free(ctx, directions);
    if (status < 0) {
        clv_plane_free(ctx, out);
        return status == CLV_ENUMERIC ? CLV_OK : status; /* no picture is no failure */
    }
    out->count = s.m;
    return CLV_OK;
}
