/* What a change of some objects adds to a product with a dense home, for products that follow their factor (product.c):
 * exactly, or roughly, in floats, where a sweep corrects itself. */
#include "affinity/dense.h"

#include "kernels/kernels.h"

#include <cblas.h>
#include <omp.h>
#include <string.h>

enum { FOLLOW_COLS = CLV_SHARE, SPARSE_ROWS = 64 };
/* Changes with fewer nonzeros are multiplied by these alone. */
#define DENSE_CHANGE 0.4

/* y += d A[first.., at..], a range of columns. */
static void add_rows_strip(const clv_affinity *a, int64_t first, int64_t count, const double *d, int64_t k, double *y,
                           int64_t at, int64_t width) {
    double wide[CLV_TILE * FOLLOW_COLS];
    int n = (int)a->info.n, stride = (int)count, cols = (int)width;
    if (!clv_dense_is_f32(a)) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, cols, stride, 1, d, stride,
                    clv_dense_row64(a, first) + at, (int)clv_dense_of(a)->width, 1, y + at, n);
        return;
    }
    for (int64_t r = 0; r < count; r += CLV_TILE) {
        int64_t some = count - r < CLV_TILE ? count - r : CLV_TILE;
        for (int64_t i = 0; i < some; i++) {
            clv_kernels->widen(wide + i * width, clv_dense_row32(a, first + r + i) + at, width);
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, cols, (int)some, 1, d + r, stride, wide, cols, 1,
                    y + at, n);
    }
}

/* d as floats: whole, or, where most of it is 0, for every SPARSE_ROWS objects the nonzeros of each of its k rows. */
typedef struct rough_change {
    int64_t first, count, k;
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

static void list_nonzeros(rough_change *change, const double *d) {
    int32_t found = 0, *start = change->start;
    for (int64_t r = 0; r < change->count; r += SPARSE_ROWS, start += change->k + 1) {
        int64_t end = change->count - r < SPARSE_ROWS ? change->count : r + SPARSE_ROWS;
        for (int64_t c = 0; c < change->k; c++) {
            start[c] = found;
            for (int64_t i = r; i < end; i++) {
                if (d[c * change->count + i] != 0) {
                    change->index[found] = (int32_t)(i - r);
                    change->value[found++] = (float)d[c * change->count + i];
                }
            }
        }
        start[change->k] = found;
    }
}

/* What is allocated is freed by the caller, also on failure. */
static clv_status roughen(const double *d, rough_change *out, clv_kept *kept) {
    int64_t entries = out->k * out->count, nonzeros = count_nonzeros(d, entries);
    if (nonzeros > DENSE_CHANGE * (double)entries) {
        out->all = CLV_TAKE(kept, float, entries);
        if (kept->status == CLV_OK) {
            clv_kernels->narrow(out->all, d, entries);
        }
        return kept->status;
    }
    out->index = CLV_TAKE(kept, int32_t, nonzeros);
    out->value = CLV_TAKE(kept, float, nonzeros);
    out->start = CLV_TAKE(kept, int32_t, (out->count + SPARSE_ROWS - 1) / SPARSE_ROWS * (out->k + 1));
    if (kept->status == CLV_OK) {
        list_nonzeros(out, d);
    }
    return kept->status;
}

/* The rows of some objects in a range of columns as floats, padded to whole lines by zeros. */
static void narrow_rows(const clv_affinity *a, int64_t first, int64_t count, int64_t at, int64_t width, int64_t padded,
                        int64_t pitch, float *out) {
    for (int64_t r = 0; r < count; r++, out += pitch) {
        if (clv_dense_is_f32(a)) {
            memcpy(out, clv_dense_row32(a, first + r) + at, (size_t)width * sizeof *out);
        } else {
            clv_kernels->narrow(out, clv_dense_row64(a, first + r) + at, width);
        }
        memset(out + width, 0, (size_t)(padded - width) * sizeof *out);
    }
}

/* The same in floats, ROUGH_CLUSTERS rows of d at a time. */
static void add_rows_rough(const clv_affinity *a, const rough_change *d, double *y, int64_t at, int64_t width) {
    enum { ROUGH_CLUSTERS = 128, LINE = CLV_LINE / sizeof(float) };
    float narrow[CLV_SHARE * (FOLLOW_COLS + LINE)], sums[ROUGH_CLUSTERS * FOLLOW_COLS];
    int64_t n = a->info.n, padded = (width + LINE - 1) / LINE * LINE;
    int64_t pitch = padded | LINE; /* an odd number of lines, so that rows do not share places in the caches */
    narrow_rows(a, d->first, d->count, at, width, padded, pitch, narrow);
    for (int64_t c = 0; c < d->k; c += ROUGH_CLUSTERS) {
        int64_t some = d->k - c < ROUGH_CLUSTERS ? d->k - c : ROUGH_CLUSTERS;
        if (d->all) {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)some, (int)padded, (int)d->count, 1,
                        d->all + c * d->count, (int)d->count, narrow, (int)pitch, 0, sums, (int)padded);
        } else {
            memset(sums, 0, (size_t)(some * padded) * sizeof *sums);
            const int32_t *start = d->start + c;
            for (int64_t r = 0; r < d->count; r += SPARSE_ROWS, start += d->k + 1) {
                clv_kernels->add_sparse_rows(start, d->index, d->value, some, narrow + r * pitch, pitch, padded, sums);
            }
        }
        for (int64_t e = 0; e < some; e++) {
            clv_kernels->f32.accumulate(y + (c + e) * n + at, sums + e * padded, width);
        }
    }
}

/* With floats of d: roughly. */
static clv_status add_rows(const clv_affinity *a, int64_t first, int64_t count, const double *d,
                           const rough_change *rough, int64_t k, double *y, int threads) {
    int64_t n = a->info.n, begin, end; /* what product.c wants of this rank */
    const double *own = clv_dense_of(a)->diagonal;
    clv_share_objects(a->ctx, n, CLV_SHARE, &begin, &end);
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t at = begin; at < end; at += FOLLOW_COLS) {
        int64_t width = n - at < FOLLOW_COLS ? n - at : FOLLOW_COLS;
        if (rough) {
            add_rows_rough(a, rough, y, at, width);
        } else {
            add_rows_strip(a, first, count, d, k, y, at, width);
        }
    }
    for (int64_t c = 0; own && c < k; c++) {
        for (int64_t r = 0; r < count; r++) {
            y[c * n + first + r] -= own[first + r] * d[c * count + r];
        }
    }
    return CLV_OK;
}

clv_status clv_dense_add_rows(const clv_affinity *a, int64_t first, int64_t count, const double *d, int64_t k,
                              double *y, int threads) {
    return add_rows(a, first, count, d, NULL, k, y, threads);
}

clv_status clv_dense_rough_add_rows(const clv_affinity *a, int64_t first, int64_t count, const double *d, int64_t k,
                                    double *y, int threads) {
    rough_change rough = {.first = first, .count = count, .k = k};
    clv_kept kept = {.ctx = a->ctx};
    clv_status status = roughen(d, &rough, &kept);
    if (status == CLV_OK) {
        status = add_rows(a, first, count, d, &rough, k, y, threads);
    }
    clv_free_kept(&kept);
    return status;
}
