/* Objects in the plane, for a picture: on their first two principal components, or on spectral coordinates.
 *
 * Of points, a dense, centered copy of at most POINTS rows (fewer when there are very many columns) and the two leading
 * eigenvectors of its scatter matrix X'X, applied as X'(X v): memory for the copy, 4 m p additions and multiplications
 * an application. Of an affinity A, the second and third eigenvector of D^-1/2 A D^-1/2, divided by the roots of the
 * degrees: a product with all of A an application, so only where such a product is cheap. */
#include "linalg/linalg.h"
#include "report/report.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { POINTS = 4000, FEWEST = 50, COORDINATES = 3 /* the first is the same for all */ };
/* Numbers in the copy. */
#define ROOM 40000000
#define EIGEN_TOLERANCE 1e-6
/* Additions and multiplications of a product with an affinity: a few hundred of them take a second or two. */
#define MOST_WORK 2e7

typedef struct sample {
    double *x;          /* m x p, centered */
    double *projection; /* m */
    int64_t m, p;
} sample;

void clv_plane_free(clv_context *ctx, clv_plane *plane) {
    clv_free(ctx, plane->x);
    *plane = (clv_plane){0};
}

int64_t clv_plane_most(const clv_matrix *points) {
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

static clv_status find_plane(clv_context *ctx, const clv_matrix *points, const int64_t *object, sample *s,
                             double *directions, clv_plane *out) {
    if (!s->x || !s->projection || !directions) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < s->m; i++) {
        clv_matrix_row(points, object[i], s->x + i * s->p);
    }
    center(s);
    clv_blas_serial_begin();
    clv_status status = find_components(ctx, s, directions, out);
    clv_blas_serial_end();
    return status;
}

static clv_status plane_new(clv_context *ctx, int64_t count, clv_plane *out) {
    *out = (clv_plane){.count = count, .x = CLV_NEW(ctx, double, 2 * count)};
    out->y = out->x ? out->x + count : NULL;
    return out->x ? CLV_OK : CLV_ENOMEM;
}

/* No picture is no failure. */
static clv_status plane_end(clv_context *ctx, clv_status status, clv_plane *out) {
    if (status < 0) {
        clv_plane_free(ctx, out);
    }
    return status == CLV_ENUMERIC ? CLV_OK : status;
}

clv_status clv_plane_of_points(clv_context *ctx, const clv_matrix *points, const int64_t *object, int64_t count,
                               clv_plane *out) {
    sample s = {.m = count, .p = points->cols};
    *out = (clv_plane){0};
    if (count == 0 || s.p == 0) {
        return CLV_OK;
    }
    s.x = CLV_NEW(ctx, double, s.m *s.p);
    s.projection = CLV_NEW(ctx, double, s.m);
    double *directions = CLV_NEW(ctx, double, 2 * s.p);
    clv_status status = plane_new(ctx, count, out);
    status = status < 0 ? status : find_plane(ctx, points, object, &s, directions, out);
    clv_free(ctx, s.x);
    clv_free(ctx, s.projection);
    clv_free(ctx, directions);
    return plane_end(ctx, status, out);
}

/* --- spectral coordinates --- */

typedef struct spectrum {
    const clv_affinity *affinity;
    double *root; /* 1 / sqrt(degree); 0 where there is no degree */
    double *scaled;
} spectrum;

static clv_status apply_normalized(void *user, const double *x, double *y, int64_t n) {
    const spectrum *s = user;
    for (int64_t i = 0; i < n; i++) {
        s->scaled[i] = s->root[i] * x[i];
    }
    CLV_TRY(clv_affinity_apply(s->affinity, s->scaled, 1, y, 1));
    for (int64_t i = 0; i < n; i++) {
        y[i] *= s->root[i];
    }
    return CLV_OK;
}

static clv_status find_coordinates(clv_context *ctx, spectrum *s, int64_t n, double *vectors) {
    double values[COORDINATES];
    if (!s->root || !s->scaled || !vectors) {
        return CLV_ENOMEM;
    }
    CLV_TRY(clv_affinity_degrees(s->affinity, s->root, 1));
    for (int64_t i = 0; i < n; i++) {
        s->root[i] = s->root[i] > 0 ? 1 / sqrt(s->root[i]) : 0;
    }
    CLV_TRY(
        clv_eigen(ctx, apply_normalized, s, n, COORDINATES, CLV_EIGEN_LARGEST, EIGEN_TOLERANCE, 1, values, vectors));
    for (int64_t c = 1; c < COORDINATES; c++) {
        fix_sign(vectors + c * n, n);
    }
    return CLV_OK;
}

clv_status clv_plane_of_affinity(clv_context *ctx, const clv_affinity *affinity, const int64_t *object, int64_t count,
                                 clv_plane *out) {
    clv_affinity_info info;
    clv_affinity_describe(affinity, &info);
    *out = (clv_plane){0};
    if (count <= COORDINATES || info.cost.pass > MOST_WORK) {
        return CLV_OK;
    }
    spectrum s = {affinity, CLV_NEW(ctx, double, info.n), CLV_NEW(ctx, double, info.n)};
    double *vectors = CLV_NEW(ctx, double, COORDINATES *info.n);
    clv_status status = find_coordinates(ctx, &s, info.n, vectors);
    status = status < 0 ? status : plane_new(ctx, count, out);
    for (int64_t i = 0; status == CLV_OK && i < count; i++) {
        out->x[i] = vectors[info.n + object[i]] * s.root[object[i]];
        out->y[i] = vectors[2 * info.n + object[i]] * s.root[object[i]];
    }
    clv_free(ctx, s.root);
    clv_free(ctx, s.scaled);
    clv_free(ctx, vectors);
    return plane_end(ctx, status, out);
}
