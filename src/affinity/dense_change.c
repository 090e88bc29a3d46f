/* What a change of some objects adds to a product with a dense home, for products that follow their factor (product.c):
 * exactly, or roughly, in floats, where a sweep corrects itself; and whole products that may be rough. */
#include "affinity/dense.h"

#include "kernels/kernels.h"

#include <cblas.h>
#include <stdatomic.h>
#include <string.h>

enum {
    SPARSE_ROWS = 64,
    ROWS_AHEAD = 4,      /* parts of rows that are asked for before their turn */
    IN_CACHES = 1 << 22, /* entries: of fewer, rough products of all are no faster, */
    FEW_VECTORS = 8      /* nor are those of fewer vectors */
};
/* Changes with fewer nonzeros are multiplied by these alone. */
#define DENSE_CHANGE 0.4

static void add_rows_strip(const clv_affinity *a, const clv_change *change, const void *work, double *y, int64_t at,
                           int64_t width) {
    double wide[CLV_TILE * CLV_SHARE];
    int n = (int)a->info.n, k = (int)change->k, stride = (int)change->count, cols = (int)width;
    (void)work;
    if (!clv_dense_is_f32(a)) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, cols, stride, 1, change->d, stride,
                    clv_dense_row64(a, change->first) + at, (int)clv_dense_of(a)->width, 1, y + at, n);
        return;
    }
    for (int64_t r = 0; r < change->count; r += CLV_TILE) {
        int64_t some = change->count - r < CLV_TILE ? change->count - r : CLV_TILE;
        for (int64_t i = 0; i < some; i++) {
            clv_kernels->widen(wide + i * width, clv_dense_row32(a, change->first + r + i) + at, width);
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, cols, (int)some, 1, change->d + r, stride, wide, cols,
                    1, y + at, n);
    }
}

/* d as floats: whole, or, where most of it is 0, for every SPARSE_ROWS objects the nonzeros of each of its k rows. */
typedef struct rough_change {
    float *all;     /* k x count, or */
    int32_t *start; /* k + 1 for every SPARSE_ROWS objects: where rows begin in the next two */
    int32_t *index; /* the object, among its SPARSE_ROWS */
    float *value;
} rough_change;

static int64_t count_nonzeros(const double *d, int64_t count) {
    int64_t found = 0;
    for (int64_t e = 0; e < count; e++) {
        found += d[e] != 0;
    }
    return found;
}

static void list_nonzeros(const clv_change *change, rough_change *out) {
    int32_t found = 0, *start = out->start;
    for (int64_t r = 0; r < change->count; r += SPARSE_ROWS, start += change->k + 1) {
        int64_t end = change->count - r < SPARSE_ROWS ? change->count : r + SPARSE_ROWS;
        for (int64_t c = 0; c < change->k; c++) {
            start[c] = found;
            for (int64_t i = r; i < end; i++) {
                double d = change->d[c * change->count + i];
                if (d != 0) {
                    out->index[found] = (int32_t)(i - r);
                    out->value[found++] = (float)d;
                }
            }
        }
        start[change->k] = found;
    }
}

/* What is allocated is freed by the caller, also on failure. */
static clv_status roughen(const clv_change *change, rough_change *out, clv_kept *kept) {
    int64_t entries = change->k * change->count, nonzeros = count_nonzeros(change->d, entries);
    if (nonzeros > DENSE_CHANGE * (double)entries) {
        out->all = CLV_TAKE(kept, float, entries);
        if (kept->status == CLV_OK) {
            clv_kernels->narrow(out->all, change->d, entries);
        }
        return kept->status;
    }
    out->index = CLV_TAKE(kept, int32_t, nonzeros);
    out->value = CLV_TAKE(kept, float, nonzeros);
    out->start = CLV_TAKE(kept, int32_t, (change->count + SPARSE_ROWS - 1) / SPARSE_ROWS * (change->k + 1));
    if (kept->status == CLV_OK) {
        list_nonzeros(change, out);
    }
    return kept->status;
}

/* The rows of some objects in a range of columns as floats, padded to whole lines by zeros. */
static void narrow_rows(const clv_affinity *a, int64_t first, int64_t count, int64_t at, int64_t width, int64_t padded,
                        int64_t pitch, float *out) {
    for (int64_t r = 0; r < count; r++, out += pitch) {
        int64_t i = first + r, next = r + ROWS_AHEAD < count ? i + ROWS_AHEAD : i;
        if (clv_dense_is_f32(a)) {
            clv_ask_for(clv_dense_row32(a, next) + at, width * (int64_t)sizeof(float));
            memcpy(out, clv_dense_row32(a, i) + at, (size_t)width * sizeof *out);
        } else {
            clv_ask_for(clv_dense_row64(a, next) + at, width * (int64_t)sizeof(double));
            clv_kernels->narrow(out, clv_dense_row64(a, i) + at, width);
        }
        memset(out + width, 0, (size_t)(padded - width) * sizeof *out);
    }
}

/* The same in floats, ROUGH_CLUSTERS rows of d at a time. */
static void add_rows_rough(const clv_affinity *a, const clv_change *change, const void *work, double *y, int64_t at,
                           int64_t width) {
    enum { ROUGH_CLUSTERS = 128, LINE = CLV_LINE / sizeof(float) };
    const rough_change *d = work;
    float narrow[CLV_SHARE * (CLV_SHARE + LINE)], sums[ROUGH_CLUSTERS * CLV_SHARE];
    int64_t n = a->info.n, count = change->count, padded = (width + LINE - 1) / LINE * LINE;
    int64_t pitch = padded | LINE; /* an odd number of lines, so that rows do not share places in the caches */
    narrow_rows(a, change->first, count, at, width, padded, pitch, narrow);
    for (int64_t c = 0; c < change->k; c += ROUGH_CLUSTERS) {
        int64_t some = change->k - c < ROUGH_CLUSTERS ? change->k - c : ROUGH_CLUSTERS;
        if (d->all) {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)some, (int)padded, (int)count, 1,
                        d->all + c * count, (int)count, narrow, (int)pitch, 0, sums, (int)padded);
        } else {
            memset(sums, 0, (size_t)(some * padded) * sizeof *sums);
            const int32_t *start = d->start + c;
            for (int64_t r = 0; r < count; r += SPARSE_ROWS, start += change->k + 1) {
                clv_kernels->add_sparse_rows(start, d->index, d->value, some, narrow + r * pitch, pitch, padded, sums);
            }
        }
        for (int64_t e = 0; e < some; e++) {
            int64_t next = e + ROWS_AHEAD / 2 < some ? e + ROWS_AHEAD / 2 : e;
            clv_ask_for(y + (c + next) * n + at, width * (int64_t)sizeof *y);
            clv_kernels->f32.accumulate(y + (c + e) * n + at, sums + e * padded, width);
        }
    }
}

/* What the strips have added of a diagonal that is 0. */
static void drop_diagonal(const clv_affinity *a, const clv_change *change, double *y) {
    const double *own = clv_dense_of(a)->diagonal;
    for (int64_t c = 0; own && c < change->k; c++) {
        for (int64_t r = 0; r < change->count; r++) {
            y[c * a->info.n + change->first + r] -= own[change->first + r] * change->d[c * change->count + r];
        }
    }
}

clv_status clv_dense_add_rows(const clv_affinity *a, const clv_change *change, double *y, int threads) {
    clv_change_strips(a, change, add_rows_strip, NULL, y, threads);
    drop_diagonal(a, change, y);
    return CLV_OK;
}

clv_status clv_dense_rough_add_rows(const clv_affinity *a, const clv_change *change, double *y, int threads) {
    rough_change rough = {0};
    clv_kept kept = {.ctx = a->ctx};
    clv_status status = roughen(change, &rough, &kept);
    if (status == CLV_OK) {
        clv_change_strips(a, change, add_rows_rough, &rough, y, threads);
        drop_diagonal(a, change, y);
    }
    clv_free_kept(&kept);
    return status;
}

/* --- whole products --- */

/* x (k x n) as floats, CLV_SHARE objects after the others, so that each lot is a change of its own. */
static float *narrow_by_lots(const double *x, int64_t k, int64_t n, clv_kept *kept) {
    float *all = CLV_TAKE(kept, float, k *n), *to = all;
    for (int64_t first = 0; all && first < n; first += CLV_SHARE) {
        int64_t count = n - first < CLV_SHARE ? n - first : CLV_SHARE;
        for (int64_t c = 0; c < k; c++, to += count) {
            clv_kernels->narrow(to, x + c * n + first, count);
        }
    }
    return all;
}

/* The columns at..at + width - 1 of x A. */
static void multiply_strip(const clv_affinity *a, float *x, int64_t k, double *y, int64_t at, int64_t width) {
    int64_t n = a->info.n;
    for (int64_t c = 0; c < k; c++) {
        memset(y + c * n + at, 0, (size_t)width * sizeof *y);
    }
    for (int64_t first = 0; first < n; first += CLV_SHARE) {
        clv_change lot = {.first = first, .count = n - first < CLV_SHARE ? n - first : CLV_SHARE, .k = k};
        rough_change narrow = {.all = x + first * k};
        add_rows_rough(a, &lot, &narrow, y, at, width);
    }
}

clv_status clv_dense_rough_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    int64_t n = a->info.n;
    if (n * n < IN_CACHES || k < FEW_VECTORS) {
        return a->home.apply(a, x, k, y, threads);
    }
    clv_kept kept = {.ctx = a->ctx};
    float *narrow = narrow_by_lots(x, k, n, &kept);
    CLV_TRY(kept.status);
    atomic_bool stopped = false;
    clv_spread spread = clv_dense_begin_pass(a);
    clv_blas_serial_begin();
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t at = spread.first; at < spread.last; at += CLV_SHARE) {
        int64_t width = n - at < CLV_SHARE ? n - at : CLV_SHARE;
        if (clv_goes_on(a->ctx, &stopped, width * n)) {
            multiply_strip(a, narrow, k, y, at, width);
        }
    }
    clv_blas_serial_end();
    clv_free_kept(&kept);
    return clv_dense_end_product(a, &spread, stopped, x, k, y);
}
