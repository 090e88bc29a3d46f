/* Dense homes: n^2 doubles or floats, owned, borrowed or mapped. Sums are always in double.
 *
 * group_sums reads the matrix once: rows are taken label by label, four at a time, and added to the row of sums of
 * that label, n^2 additions and 8 n^2 (4 n^2) bytes. Each entry of a sum is formed in the same order whatever the split
 * into column ranges, so threads take ranges and the result does not depend on them.
 *
 * A borrowed matrix whose diagonal is to count as zero keeps it in store: `diagonal` holds it, and it is taken out of
 * the sums again. */
#include "affinity/affinity.h"

#include "linalg/kernels.h"

#include <cblas.h>
#include <string.h>

enum { STRIP = 2048, ROW_BLOCK = 64, WIDE_ROWS = 16, WIDE_COLS = 512, FOLLOW_COLS = 256 };

static const clv_dense_home *home_of(const clv_affinity *a) {
    return a->state;
}

static bool is_f32(const clv_affinity *a) {
    return a->info.home == CLV_HOME_DENSE32;
}

static const double *row64(const clv_affinity *a, int64_t i) {
    return (const double *)home_of(a)->values + i * a->info.n;
}

static const float *row32(const clv_affinity *a, int64_t i) {
    return (const float *)home_of(a)->values + i * a->info.n;
}

static double dense_entry(const clv_affinity *a, int64_t i, int64_t j) {
    if (i == j && a->zero_diagonal) {
        return 0;
    }
    return is_f32(a) ? (double)row32(a, i)[j] : row64(a, i)[j];
}

static clv_status dense_column(const clv_affinity *a, int64_t i, double *out) {
    if (is_f32(a)) {
        clv_widen(out, row32(a, i), a->info.n);
    } else {
        memcpy(out, row64(a, i), (size_t)a->info.n * sizeof *out);
    }
    if (a->zero_diagonal) {
        out[i] = 0;
    }
    return CLV_OK;
}

/* Object i in the columns from `at` on, `width` of them: out of `from` and into `to`, or NULL. */
static void move_in_strip(const clv_affinity *a, int64_t i, int64_t at, int64_t width, double *from, double *to) {
    bool own_inside = i >= at && i < at + width;
    double before[2] = {from && own_inside ? from[i] : 0, to && own_inside ? to[i] : 0};
    if (from && is_f32(a)) {
        clv_deduct_f32(from + at, row32(a, i) + at, width);
    } else if (from) {
        clv_deduct(from + at, row64(a, i) + at, width);
    }
    if (to && is_f32(a)) {
        clv_accumulate_f32(to + at, row32(a, i) + at, width);
    } else if (to) {
        clv_accumulate(to + at, row64(a, i) + at, width);
    }
    if (from && own_inside && a->zero_diagonal) {
        from[i] = before[0];
    }
    if (to && own_inside && a->zero_diagonal) {
        to[i] = before[1];
    }
}

static void dense_move(const clv_affinity *a, int64_t i, double *from, double *to) {
    move_in_strip(a, i, 0, a->info.n, from, to);
}

/* Strip by strip, so that the sums stay in the cache while the rows of the moved objects pass by. */
static void dense_move_many(const clv_affinity *a, const clv_moves *moves, double *y, int threads) {
    int64_t n = a->info.n;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        int64_t end = (t + 1) * n / threads;
        for (int64_t at = t * n / threads; at < end; at += STRIP) {
            int64_t width = end - at < STRIP ? end - at : STRIP;
            for (int64_t m = 0; m < moves->count; m++) {
                int64_t i = moves->objects[m];
                int32_t from = moves->before[i], to = moves->after[i];
                if (from != to) {
                    move_in_strip(a, i, at, width, from >= 0 ? y + from * n : NULL, to >= 0 ? y + to * n : NULL);
                }
            }
        }
    }
}

/* --- group sums --- */

/* The objects of each label: members[first[c]] to members[first[c + 1] - 1], ascending. */
static void list_members(const int32_t *labels, int64_t n, int64_t k, int64_t *first, int64_t *members) {
    memset(first, 0, (size_t)(k + 1) * sizeof *first);
    for (int64_t i = 0; i < n; i++) {
        if (labels[i] >= 0) {
            first[labels[i] + 1]++;
        }
    }
    for (int64_t c = 0; c < k; c++) {
        first[c + 1] += first[c];
    }
    for (int64_t i = 0; i < n; i++) {
        if (labels[i] >= 0) {
            members[first[labels[i]]++] = i;
        }
    }
    memmove(first + 1, first, (size_t)k * sizeof *first);
    first[0] = 0;
}

/* Add the rows of the objects in `members` to y over the columns from `at` on, `width` of them. */
static void add_members(const clv_affinity *a, const int64_t *members, int64_t count, int64_t at, int64_t width,
                        double *y) {
    int64_t m = 0;
    if (is_f32(a)) {
        for (; m + 4 <= count; m += 4) {
            clv_accumulate_four_f32(y, row32(a, members[m]) + at, row32(a, members[m + 1]) + at,
                                    row32(a, members[m + 2]) + at, row32(a, members[m + 3]) + at, width);
        }
        for (; m < count; m++) {
            clv_accumulate_f32(y, row32(a, members[m]) + at, width);
        }
        return;
    }
    for (; m + 4 <= count; m += 4) {
        clv_accumulate_four(y, row64(a, members[m]) + at, row64(a, members[m + 1]) + at, row64(a, members[m + 2]) + at,
                            row64(a, members[m + 3]) + at, width);
    }
    for (; m < count; m++) {
        clv_accumulate(y, row64(a, members[m]) + at, width);
    }
}

static void sum_strip(const clv_affinity *a, const int64_t *first, const int64_t *members, int64_t k, int64_t at,
                      int64_t width, double *y) {
    for (int64_t c = 0; c < k; c++) {
        double *sums = y + c * a->info.n + at;
        memset(sums, 0, (size_t)width * sizeof *sums);
        add_members(a, members + first[c], first[c + 1] - first[c], at, width, sums);
    }
}

static clv_status dense_group_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads) {
    int64_t n = a->info.n;
    int64_t *first = CLV_NEW(a->ctx, int64_t, k + 1 + n);
    if (!first) {
        return CLV_ENOMEM;
    }
    int64_t *members = first + k + 1;
    list_members(labels, n, k, first, members);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        int64_t end = (t + 1) * n / threads;
        for (int64_t at = t * n / threads; at < end; at += STRIP) {
            sum_strip(a, first, members, k, at, end - at < STRIP ? end - at : STRIP, y);
        }
    }
    const double *stored = home_of(a)->diagonal;
    for (int64_t i = 0; stored && i < n; i++) {
        if (labels[i] >= 0) {
            y[labels[i] * n + i] -= stored[i];
        }
    }
    clv_free(a->ctx, first);
    return CLV_OK;
}

/* --- weighted sums of rows --- */

/* Rows of four objects from column `at` on, `width` of them, into the strip y of sums. */
static void add_four(const clv_affinity *a, const int64_t *objects, const double *w, int64_t at, int64_t width,
                     double *y) {
    if (is_f32(a)) {
        const float *rows[4] = {row32(a, objects[0]) + at, row32(a, objects[1]) + at, row32(a, objects[2]) + at,
                                row32(a, objects[3]) + at};
        clv_add_weighted_four_f32(y, w, rows, width);
    } else {
        const double *rows[4] = {row64(a, objects[0]) + at, row64(a, objects[1]) + at, row64(a, objects[2]) + at,
                                 row64(a, objects[3]) + at};
        clv_add_weighted_four(y, w, rows, width);
    }
}

static void add_one(const clv_affinity *a, int64_t object, double w, int64_t at, int64_t width, double *y) {
    if (is_f32(a)) {
        clv_add_weighted_f32(y, w, row32(a, object) + at, width);
    } else {
        clv_add_weighted(y, w, row64(a, object) + at, width);
    }
}

/* The same for up to four objects of a matrix whose stored diagonal is to count as zero: the sums of these objects
 * themselves are formed again, by entries. */
static void add_without_own(const clv_affinity *a, const int64_t *objects, const double *w, int64_t some, int64_t at,
                            int64_t width, double *y) {
    double own[4];
    for (int64_t m = 0; m < some; m++) {
        int64_t i = objects[m];
        own[m] = 0;
        if (i >= at && i < at + width) {
            own[m] = y[i - at];
            for (int64_t l = 0; l < some; l++) {
                own[m] += w[l] * dense_entry(a, objects[l], i);
            }
        }
    }
    for (int64_t m = 0; m < some; m++) {
        add_one(a, objects[m], w[m], at, width, y);
    }
    for (int64_t m = 0; m < some; m++) {
        if (objects[m] >= at && objects[m] < at + width) {
            y[objects[m] - at] = own[m];
        }
    }
}

static void combine_strip(const clv_affinity *a, const clv_terms *terms, int64_t at, int64_t width, double *y) {
    memset(y, 0, (size_t)width * sizeof *y);
    for (int64_t m = 0; m < terms->count; m += 4) {
        int64_t some = terms->count - m < 4 ? terms->count - m : 4;
        if (home_of(a)->diagonal) {
            add_without_own(a, terms->objects + m, terms->weights + m, some, at, width, y);
        } else if (some == 4) {
            add_four(a, terms->objects + m, terms->weights + m, at, width, y);
        } else {
            for (int64_t l = m; l < terms->count; l++) {
                add_one(a, terms->objects[l], terms->weights[l], at, width, y);
            }
        }
    }
}

static clv_status dense_combine(const clv_affinity *a, const clv_terms *terms, double *y, int threads) {
    int64_t n = a->info.n;
    int stopped = 0;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        int64_t end = (t + 1) * n / threads;
        for (int64_t at = t * n / threads; at < end; at += STRIP) {
            if (clv_interrupted(a->ctx)) {
#pragma omp atomic write
                stopped = 1;
                break;
            }
            combine_strip(a, terms, at, end - at < STRIP ? end - at : STRIP, y + at);
        }
    }
    return stopped ? clv_fail(a->ctx, CLV_EINTERRUPTED, "interrupted") : CLV_OK;
}

/* --- products --- */

/* y[:, i0..i0+rows) = x A[i0..i0+rows, :]' for doubles. */
static void apply_rows64(const clv_affinity *a, const double *x, int64_t k, double *y, int64_t i0, int64_t rows) {
    int n = (int)a->info.n;
    if (k == 1) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)rows, n, 1, row64(a, i0), n, x, 1, 0, y + i0, 1);
    } else {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, (int)rows, n, 1, x, n, row64(a, i0), n, 0, y + i0,
                    n);
    }
}

/* The same for floats: WIDE_ROWS x WIDE_COLS entries at a time become doubles. */
static void apply_rows32(const clv_affinity *a, const double *x, int64_t k, double *y, int64_t i0, int64_t rows) {
    double wide[WIDE_ROWS * WIDE_COLS];
    int64_t n = a->info.n;
    for (int64_t j = 0; j < n; j += WIDE_COLS) {
        int64_t cols = n - j < WIDE_COLS ? n - j : WIDE_COLS;
        for (int64_t r = 0; r < rows; r++) {
            clv_widen(wide + r * WIDE_COLS, row32(a, i0 + r) + j, cols);
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, (int)rows, (int)cols, 1, x + j, (int)n, wide,
                    WIDE_COLS, j > 0, y + i0, (int)n);
    }
}

static clv_status dense_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    int64_t n = a->info.n, block = is_f32(a) ? WIDE_ROWS : ROW_BLOCK;
    clv_blas_serial_begin();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i += block) {
        int64_t rows = n - i < block ? n - i : block;
        if (is_f32(a)) {
            apply_rows32(a, x, k, y, i, rows);
        } else {
            apply_rows64(a, x, k, y, i, rows);
        }
    }
    clv_blas_serial_end();
    const double *stored = home_of(a)->diagonal;
    for (int64_t c = 0; stored && c < k; c++) {
        for (int64_t i = 0; i < n; i++) {
            y[c * n + i] -= stored[i] * x[c * n + i];
        }
    }
    return CLV_OK;
}

/* --- for products that follow their factor (product.c) --- */

/* y += d A[first.., at..], a range of columns. */
static void add_rows_strip(const clv_affinity *a, int64_t first, int64_t count, const double *d, int64_t k, double *y,
                           int64_t at, int64_t width) {
    double wide[CLV_TILE * FOLLOW_COLS];
    int n = (int)a->info.n, stride = (int)count, cols = (int)width;
    if (!is_f32(a)) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, cols, stride, 1, d, stride, row64(a, first) + at,
                    n, 1, y + at, n);
        return;
    }
    for (int64_t r = 0; r < count; r += CLV_TILE) {
        int64_t some = count - r < CLV_TILE ? count - r : CLV_TILE;
        for (int64_t i = 0; i < some; i++) {
            clv_widen(wide + i * width, row32(a, first + r + i) + at, width);
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, cols, (int)some, 1, d + r, stride, wide, cols, 1,
                    y + at, n);
    }
}

static void dense_add_rows(const clv_affinity *a, int64_t first, int64_t count, const double *d, int64_t k, double *y,
                           int threads) {
    int64_t n = a->info.n;
    const double *stored = home_of(a)->diagonal;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t at = 0; at < n; at += FOLLOW_COLS) {
        add_rows_strip(a, first, count, d, k, y, at, n - at < FOLLOW_COLS ? n - at : FOLLOW_COLS);
    }
    for (int64_t c = 0; stored && c < k; c++) {
        for (int64_t r = 0; r < count; r++) {
            y[c * n + first + r] -= stored[first + r] * d[c * count + r];
        }
    }
}

static void dense_block(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    for (int64_t r = 0; r < count; r++) {
        if (is_f32(a)) {
            clv_widen(out + r * count, row32(a, first + r) + first, count);
        } else {
            memcpy(out + r * count, row64(a, first + r) + first, (size_t)count * sizeof *out);
        }
        if (a->zero_diagonal) {
            out[r * count + r] = 0;
        }
    }
}

static void row_moments(const clv_affinity *a, int64_t i, double *sum, double *squares) {
    double wide[WIDE_COLS], own = dense_entry(a, i, i), stored = is_f32(a) ? (double)row32(a, i)[i] : row64(a, i)[i];
    int64_t n = a->info.n;
    *sum = own - stored;
    *squares = own * own - stored * stored;
    for (int64_t j = 0; j < n; j += WIDE_COLS) {
        int64_t cols = n - j < WIDE_COLS ? n - j : WIDE_COLS;
        if (is_f32(a)) {
            clv_widen(wide, row32(a, i) + j, cols);
        }
        const double *line = is_f32(a) ? wide : row64(a, i) + j;
        *sum += clv_sum(line, cols, 1);
        *squares += clv_dot(line, line, cols, 1);
    }
}

static clv_status dense_moments(const clv_affinity *a, int threads, double *sum, double *squares) {
    int64_t n = a->info.n;
    double *rows = CLV_NEW(a->ctx, double, 2 * n);
    if (!rows) {
        return CLV_ENOMEM;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        row_moments(a, i, rows + i, rows + n + i);
    }
    *sum = clv_sum(rows, n, 1);
    *squares = clv_sum(rows + n, n, 1);
    clv_free(a->ctx, rows);
    return CLV_OK;
}

static void dense_destroy(clv_affinity *a) {
    clv_dense_home *home = a->state;
    clv_free(a->ctx, home->owned);
    clv_free(a->ctx, home->diagonal);
}

const clv_home_functions clv_dense_functions = {
    .column = dense_column,
    .apply = dense_apply,
    .group_sums = dense_group_sums,
    .move = dense_move,
    .move_many = dense_move_many,
    .moments = dense_moments,
    .block = dense_block,
    .add_rows = dense_add_rows,
    .combine = dense_combine,
    .entry = dense_entry,
    .destroy = dense_destroy,
};
