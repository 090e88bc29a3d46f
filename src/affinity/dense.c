/* Dense homes: n^2 doubles or floats, owned, borrowed or mapped. Sums are always in double.
 *
 * group_sums reads the matrix once: rows are taken label by label, four at a time, and added to the row of sums of
 * that label, n^2 additions and 8 n^2 (4 n^2) bytes. Each entry of a sum is formed in the same order whatever the split
 * into column ranges, so threads take ranges and the result does not depend on them.
 *
 * Ranks that share the work hold, of a matrix that is made of points, the columns of their own objects alone: all n
 * rows of them, as most functions go along rows. Single entries, columns and blocks of others then come from the
 * points, which have them to the last bit; products need rows, which by symmetry are columns, turned a block at a time.
 *
 * A borrowed matrix whose diagonal is to count as zero keeps it in store: `diagonal` holds it, and it is taken out of
 * the sums again. */
#include "affinity/dense.h"
#include "affinity/kinds.h"

#include "kernels/kernels.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { STRIP = 2048, ROW_BLOCK = 64, WIDE_ROWS = 16, WIDE_COLS = 512, POLL = 256 };

static double stored(const clv_affinity *a, int64_t i, int64_t j) {
    return clv_dense_is_f32(a) ? (double)clv_dense_row32(a, i)[j] : clv_dense_row64(a, i)[j];
}

static double entry(const clv_affinity *a, int64_t i, int64_t j) {
    return i == j && a->zero_diagonal ? 0 : stored(a, i, j);
}

static bool is_part(const clv_affinity *a) {
    return clv_dense_of(a)->source != NULL;
}

/* As it would be stored. */
static void round_to_stored(const clv_affinity *a, double *values, int64_t n) {
    for (int64_t i = 0; clv_dense_is_f32(a) && i < n; i++) {
        values[i] = (double)(float)values[i];
    }
}

static clv_status dense_entry(const clv_affinity *a, int64_t i, int64_t j, double *out) {
    if (is_part(a)) {
        CLV_TRY(clv_affinity_entry(clv_dense_of(a)->source, i, j, out));
        round_to_stored(a, out, 1);
        return CLV_OK;
    }
    *out = entry(a, i, j);
    return CLV_OK;
}

/* Row i over the columns from `at` on, `width` of them. */
static void copy_row(const clv_affinity *a, int64_t i, int64_t at, int64_t width, double *out) {
    if (clv_dense_is_f32(a)) {
        clv_kernels->widen(out, clv_dense_row32(a, i) + at, width);
    } else {
        memcpy(out, clv_dense_row64(a, i) + at, (size_t)width * sizeof *out);
    }
    if (a->zero_diagonal && i >= at && i < at + width) {
        out[i - at] = 0;
    }
}

static clv_status dense_column(const clv_affinity *a, int64_t i, double *out) {
    const clv_dense *home = clv_dense_of(a);
    if (is_part(a)) {
        clv_computed_range(home->source, i, 0, home->first, out);
        clv_computed_range(home->source, i, home->first + home->width, a->info.n, out);
        round_to_stored(a, out, a->info.n);
    }
    copy_row(a, i, home->first, home->width, out + home->first);
    return CLV_OK;
}

/* Whether this rank holds the columns of these objects. */
static bool holds(const clv_affinity *a, int64_t first, int64_t count) {
    const clv_dense *home = clv_dense_of(a);
    return !is_part(a) || (first >= home->first && first + count <= home->first + home->width);
}

static clv_status dense_block(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    if (!holds(a, first, count)) {
        CLV_TRY(clv_affinity_block(clv_dense_of(a)->source, first, count, out));
        round_to_stored(a, out, count * count);
        return CLV_OK;
    }
    for (int64_t r = 0; r < count; r++) {
        copy_row(a, first + r, first, count, out + r * count);
    }
    return CLV_OK;
}

/* y += or -= row i, over the columns from `at` on, `width` of them. */
static void add_row(const clv_affinity *a, int64_t i, int64_t at, int64_t width, double *y) {
    if (clv_dense_is_f32(a)) {
        clv_kernels->f32.accumulate(y, clv_dense_row32(a, i) + at, width);
    } else {
        clv_kernels->f64.accumulate(y, clv_dense_row64(a, i) + at, width);
    }
}

static void deduct_row(const clv_affinity *a, int64_t i, int64_t at, int64_t width, double *y) {
    if (clv_dense_is_f32(a)) {
        clv_kernels->f32.deduct(y, clv_dense_row32(a, i) + at, width);
    } else {
        clv_kernels->f64.deduct(y, clv_dense_row64(a, i) + at, width);
    }
}

/* Object i in the columns from `at` on, `width` of them: out of `from` and into `to`, or NULL. */
static void move_in_strip(const clv_affinity *a, int64_t i, int64_t at, int64_t width, double *from, double *to) {
    double *sums[2] = {from, to};
    for (int side = 0; side < 2; side++) {
        bool restore = sums[side] && a->zero_diagonal && i >= at && i < at + width;
        double own = restore ? sums[side][i] : 0;
        if (sums[side]) {
            (side == 0 ? deduct_row : add_row)(a, i, at, width, sums[side] + at);
        }
        if (restore) {
            sums[side][i] = own;
        }
    }
}

static clv_status move_by_column(const clv_affinity *a, int64_t i, double *from, double *to) {
    int64_t n = a->info.n;
    double *column = CLV_NEW(a->ctx, double, n);
    clv_status status = column ? dense_column(a, i, column) : CLV_ENOMEM;
    if (status == CLV_OK && from) {
        clv_kernels->f64.deduct(from, column, n);
    }
    if (status == CLV_OK && to) {
        clv_kernels->f64.accumulate(to, column, n);
    }
    clv_free(a->ctx, column);
    return status;
}

static clv_status dense_move(const clv_affinity *a, int64_t i, double *from, double *to) {
    if (is_part(a)) {
        return move_by_column(a, i, from, to);
    }
    move_in_strip(a, i, 0, a->info.n, from, to);
    return CLV_OK;
}

/* Strip by strip, so that the sums stay in the cache while the rows of the moved objects pass by. */
static void move_range(const clv_affinity *a, const clv_moves *moves, double *y, int64_t first, int64_t last,
                       int threads) {
    int64_t n = a->info.n;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int t = 0; t < threads; t++) {
        int64_t end = first + (t + 1) * (last - first) / threads;
        for (int64_t at = first + t * (last - first) / threads; at < end; at += STRIP) {
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

static clv_status dense_move_own(const clv_affinity *a, const clv_moves *moves, double *y, int threads) {
    int64_t first, last;
    clv_share_objects(a->ctx, a->info.n, CLV_SHARE, &first, &last);
    move_range(a, moves, y, first, last, threads);
    return CLV_OK;
}

static clv_status dense_move_many(const clv_affinity *a, const clv_moves *moves, double *y, int threads) {
    int64_t n = a->info.n, sums = 0;
    if (!is_part(a)) {
        move_range(a, moves, y, 0, n, threads);
        return CLV_OK;
    }
    for (int64_t m = 0; m < moves->count; m++) {
        int32_t from = moves->before[moves->objects[m]], to = moves->after[moves->objects[m]];
        sums = from >= sums ? from + 1 : sums;
        sums = to >= sums ? to + 1 : sums;
    }
    clv_spread spread = {.shared = true};
    clv_share_objects(a->ctx, n, CLV_SHARE, &spread.first, &spread.last);
    move_range(a, moves, y, spread.first, spread.last, threads);
    clv_own_clock_begin(a->ctx);
    return clv_spread_gather(a, &spread, CLV_OK, y, sums);
}

/* Of a matrix of which every rank has but a part, every pass is shared. */
clv_spread clv_dense_begin_pass(const clv_affinity *a) {
    return clv_spread_begin(a, is_part(a) ? HUGE_VAL : (double)a->info.nonzeros);
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
    for (; m + 4 <= count; m += 4) {
        const int64_t *i = members + m;
        if (clv_dense_is_f32(a)) {
            clv_kernels->f32.accumulate_four(y, clv_dense_row32(a, i[0]) + at, clv_dense_row32(a, i[1]) + at,
                                             clv_dense_row32(a, i[2]) + at, clv_dense_row32(a, i[3]) + at, width);
        } else {
            clv_kernels->f64.accumulate_four(y, clv_dense_row64(a, i[0]) + at, clv_dense_row64(a, i[1]) + at,
                                             clv_dense_row64(a, i[2]) + at, clv_dense_row64(a, i[3]) + at, width);
        }
    }
    for (; m < count; m++) {
        add_row(a, members[m], at, width, y);
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
    atomic_bool stopped = false;
    list_members(labels, n, k, first, members);
    clv_spread spread = clv_dense_begin_pass(a);
    int64_t size = spread.last - spread.first;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int t = 0; t < threads; t++) {
        int64_t at = spread.first + t * size / threads, end = spread.first + (t + 1) * size / threads;
        for (; at < end && clv_goes_on(a->ctx, &stopped, STRIP * n); at += STRIP) {
            sum_strip(a, first, members, k, at, end - at < STRIP ? end - at : STRIP, y);
        }
    }
    const double *own = clv_dense_of(a)->diagonal;
    for (int64_t i = spread.first; own && i < spread.last; i++) {
        if (labels[i] >= 0) {
            y[labels[i] * n + i] -= own[i];
        }
    }
    clv_free(a->ctx, first);
    clv_status status = stopped ? clv_stop_failure(a->ctx, "adding up the similarities") : CLV_OK;
    return clv_spread_gather(a, &spread, status, y, k);
}

/* --- weighted sums of rows --- */

/* Rows of four objects from column `at` on, `width` of them, into the strip y of sums. */
static void add_four(const clv_affinity *a, const int64_t *objects, const double *w, int64_t at, int64_t width,
                     double *y) {
    if (clv_dense_is_f32(a)) {
        const float *rows[4] = {clv_dense_row32(a, objects[0]) + at, clv_dense_row32(a, objects[1]) + at,
                                clv_dense_row32(a, objects[2]) + at, clv_dense_row32(a, objects[3]) + at};
        clv_kernels->f32.add_weighted_four(y, w, rows, width);
    } else {
        const double *rows[4] = {clv_dense_row64(a, objects[0]) + at, clv_dense_row64(a, objects[1]) + at,
                                 clv_dense_row64(a, objects[2]) + at, clv_dense_row64(a, objects[3]) + at};
        clv_kernels->f64.add_weighted_four(y, w, rows, width);
    }
}

static void add_one(const clv_affinity *a, int64_t object, double w, int64_t at, int64_t width, double *y) {
    if (clv_dense_is_f32(a)) {
        clv_kernels->f32.add_weighted(y, w, clv_dense_row32(a, object) + at, width);
    } else {
        clv_kernels->f64.add_weighted(y, w, clv_dense_row64(a, object) + at, width);
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
                own[m] += w[l] * entry(a, objects[l], i);
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
        if (clv_dense_of(a)->diagonal) {
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
    int64_t work = STRIP * terms->count;
    atomic_bool stopped = false;
    clv_spread spread = is_part(a) ? clv_dense_begin_pass(a) : (clv_spread){.last = a->info.n};
    int64_t size = spread.last - spread.first;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int t = 0; t < threads; t++) {
        int64_t at = spread.first + t * size / threads, end = spread.first + (t + 1) * size / threads;
        for (; at < end && clv_goes_on(a->ctx, &stopped, work); at += STRIP) {
            combine_strip(a, terms, at, end - at < STRIP ? end - at : STRIP, y + at);
        }
    }
    clv_status status = stopped ? clv_stop_failure(a->ctx, "adding columns of the affinity") : CLV_OK;
    return clv_spread_gather(a, &spread, status, y, 1);
}

/* --- rows of a matrix of which there are but columns --- */

/* room[r * n + i] = entry (i, first + r). By tiles that are copied first: widths are multiples of CLV_SHARE, so that
 * entries of a column where they lie share few sets of a cache. */
#define TURN(type)                                                                                                     \
    for (int64_t i0 = 0; i0 < n; i0 += CLV_TILE) {                                                                     \
        type tile[CLV_TILE * ROW_BLOCK];                                                                               \
        int64_t some = n - i0 < CLV_TILE ? n - i0 : CLV_TILE;                                                          \
        for (int64_t i = 0; i < some; i++) {                                                                           \
            memcpy(tile + i * ROW_BLOCK, (const type *)from + (i0 + i) * width, (size_t)rows * sizeof(type));          \
        }                                                                                                              \
        for (int64_t r = 0; r < rows; r++) {                                                                           \
            for (int64_t i = 0; i < some; i++) {                                                                       \
                ((type *)room)[r * n + i0 + i] = tile[i * ROW_BLOCK + r];                                              \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Rows first .. first + rows - 1, n numbers each, where they lie or in `room`. */
static const void *whole_rows(const clv_affinity *a, int64_t first, int64_t rows, void *room) {
    int64_t n = a->info.n, width = clv_dense_of(a)->width;
    const void *from = clv_dense_is_f32(a) ? (const void *)(clv_dense_row32(a, 0) + first)
                                           : (const void *)(clv_dense_row64(a, 0) + first);
    if (!is_part(a)) {
        return clv_dense_is_f32(a) ? (const void *)clv_dense_row32(a, first) : (const void *)clv_dense_row64(a, first);
    }
    if (clv_dense_is_f32(a)) {
        TURN(float)
    } else {
        TURN(double)
    }
    return room;
}

/* Room for a block of them for each thread; NULL where none is needed. */
static char *room_for_rows(const clv_affinity *a, int64_t rows, int threads, clv_kept *kept) {
    int64_t bytes = rows * a->info.n * (int64_t)clv_scalar_bytes(clv_dense_of(a)->scalar);
    return is_part(a) ? CLV_TAKE(kept, char, threads *bytes) : NULL;
}

static void *room_of_thread(const clv_affinity *a, int64_t rows, char *room) {
    return room ? room + omp_get_thread_num() * rows * a->info.n * (int64_t)clv_scalar_bytes(clv_dense_of(a)->scalar)
                : NULL;
}

/* --- products --- */

/* y[:, i0..i0+rows) = x A[i0..i0+rows, :]' for doubles. */
static void apply_rows64(const clv_affinity *a, const double *x, int64_t k, double *y, int64_t i0, int64_t rows,
                         const double *lines) {
    int n = (int)a->info.n;
    if (k == 1) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)rows, n, 1, lines, n, x, 1, 0, y + i0, 1);
    } else {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, (int)rows, n, 1, x, n, lines, n, 0, y + i0, n);
    }
}

/* The same from columns, where a part of the matrix has these. OpenBLAS copies both factors into one layout before it
 * multiplies, so that the bits are those of rows; but not those of small products, for which it has other kernels (up
 * to 10^6 multiplications), nor those of single vectors. */
static bool can_use_columns(const clv_affinity *a, int64_t k, int64_t rows) {
    enum { LARGE_PRODUCT = 1 << 21 };
    return is_part(a) && !clv_dense_is_f32(a) && k > 1 && k * rows * a->info.n >= LARGE_PRODUCT;
}

static void apply_columns64(const clv_affinity *a, const double *x, int64_t k, double *y, int64_t i0, int64_t rows) {
    int n = (int)a->info.n;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, (int)rows, n, 1, x, n, clv_dense_row64(a, 0) + i0,
                (int)clv_dense_of(a)->width, 0, y + i0, n);
}

/* The same for floats: WIDE_ROWS x WIDE_COLS entries at a time become doubles. */
static void apply_rows32(const clv_affinity *a, const double *x, int64_t k, double *y, int64_t i0, int64_t rows,
                         const float *lines) {
    double wide[WIDE_ROWS * WIDE_COLS];
    int64_t n = a->info.n;
    for (int64_t j = 0; j < n; j += WIDE_COLS) {
        int64_t cols = n - j < WIDE_COLS ? n - j : WIDE_COLS;
        for (int64_t r = 0; r < rows; r++) {
            clv_kernels->widen(wide + r * WIDE_COLS, lines + r * n + j, cols);
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, (int)rows, (int)cols, 1, x + j, (int)n, wide,
                    WIDE_COLS, j > 0, y + i0, (int)n);
    }
}

static void apply_block(const clv_affinity *a, const double *x, int64_t k, double *y, int64_t i0, int64_t rows,
                        void *room) {
    if (can_use_columns(a, k, rows)) {
        apply_columns64(a, x, k, y, i0, rows);
    } else if (clv_dense_is_f32(a)) {
        apply_rows32(a, x, k, y, i0, rows, whole_rows(a, i0, rows, room));
    } else {
        apply_rows64(a, x, k, y, i0, rows, whole_rows(a, i0, rows, room));
    }
}

clv_status clv_dense_end_product(const clv_affinity *a, const clv_spread *spread, bool stopped, const double *x,
                                 int64_t k, double *y) {
    const double *own = clv_dense_of(a)->diagonal;
    for (int64_t c = 0; own && c < k; c++) {
        for (int64_t i = spread->first; i < spread->last; i++) {
            y[c * a->info.n + i] -= own[i] * x[c * a->info.n + i];
        }
    }
    clv_status status = stopped ? clv_stop_failure(a->ctx, "multiplying by the affinity") : CLV_OK;
    return clv_spread_gather(a, spread, status, y, k);
}

static clv_status dense_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    int64_t n = a->info.n, block = clv_dense_is_f32(a) ? WIDE_ROWS : ROW_BLOCK;
    atomic_bool stopped = false;
    clv_kept kept = {.ctx = a->ctx};
    char *room = room_for_rows(a, block, threads, &kept);
    CLV_TRY(kept.status);
    clv_spread spread = clv_dense_begin_pass(a);
    clv_blas_serial_begin();
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t i = spread.first; i < spread.last; i += block) {
        int64_t rows = n - i < block ? n - i : block;
        if (clv_goes_on(a->ctx, &stopped, rows * n)) {
            apply_block(a, x, k, y, i, rows, room_of_thread(a, block, room));
        }
    }
    clv_blas_serial_end();
    clv_free_kept(&kept);
    return clv_dense_end_product(a, &spread, stopped, x, k, y);
}

static void row_moments(const clv_affinity *a, int64_t i, const void *row, double *sum, double *squares) {
    double wide[WIDE_COLS], own = entry(a, i, i), there = stored(a, i, i);
    int64_t n = a->info.n;
    *sum = own - there;
    *squares = own * own - there * there;
    for (int64_t j = 0; j < n; j += WIDE_COLS) {
        int64_t cols = n - j < WIDE_COLS ? n - j : WIDE_COLS;
        if (clv_dense_is_f32(a)) {
            clv_kernels->widen(wide, (const float *)row + j, cols);
        }
        const double *line = clv_dense_is_f32(a) ? wide : (const double *)row + j;
        *sum += clv_sum(line, cols, 1);
        *squares += clv_dot(line, line, cols, 1);
    }
}

static clv_status dense_moments(const clv_affinity *a, int threads, double *sum, double *squares) {
    int64_t n = a->info.n;
    clv_kept kept = {.ctx = a->ctx};
    double *sums = CLV_TAKE(&kept, double, 2 * n);
    char *room = room_for_rows(a, WIDE_ROWS, threads, &kept);
    if (kept.status < 0) {
        clv_free_kept(&kept);
        return kept.status;
    }
    clv_spread spread = clv_dense_begin_pass(a);
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t first = spread.first; first < spread.last; first += WIDE_ROWS) {
        int64_t rows = n - first < WIDE_ROWS ? n - first : WIDE_ROWS,
                bytes = n * (int64_t)clv_scalar_bytes(clv_dense_of(a)->scalar);
        const char *lines = whole_rows(a, first, rows, room_of_thread(a, WIDE_ROWS, room));
        for (int64_t r = 0; r < rows; r++) {
            row_moments(a, first + r, lines + r * bytes, sums + first + r, sums + n + first + r);
        }
    }
    clv_status status = clv_spread_gather(a, &spread, CLV_OK, sums, 2);
    *sum = clv_sum(sums, n, 1);
    *squares = clv_sum(sums + n, n, 1);
    clv_free_kept(&kept);
    return status;
}

/* --- what else it can do --- */

clv_status clv_dense_room(clv_affinity *a, clv_scalar scalar) {
    clv_dense *home = a->state;
    home->owned = clv_alloc(a->ctx, clv_square_bytes(a->info.n, scalar), 1);
    home->values = home->owned;
    home->width = a->info.n;
    home->scalar = scalar;
    return home->owned ? CLV_OK : CLV_ENOMEM;
}

static clv_status dense_subset(const clv_affinity *a, const int64_t *objects, int64_t m, clv_affinity **out) {
    clv_scalar scalar = clv_dense_of(a)->scalar;
    size_t now, most;
    if (is_part(a)) {
        return clv_dense_part_subset(a, objects, m, out);
    }
    CLV_TRY(clv_affinity_like(a, m, out));
    clv_context_memory(a->ctx, &now, &most);
    if (clv_bytes_plus(clv_square_bytes(m, scalar), (int64_t)now) > (int64_t)a->budget) {
        return clv_fail(a->ctx, CLV_ENOMEM,
                        "a copy of the similarities of %lld objects is more than the budget of %zu bytes allows",
                        (long long)m, a->budget);
    }
    CLV_TRY(clv_dense_room(*out, scalar));
    for (int64_t j = 0; j < m; j++) {
        if (j % POLL == 0 && clv_worked(a->ctx, POLL * m)) {
            return clv_stop_failure(a->ctx, "copying similarities");
        }
        for (int64_t l = 0; l < m; l++) {
            clv_dense_write(((clv_dense *)(*out)->state)->owned, scalar, j * m + l, entry(a, objects[j], objects[l]));
        }
    }
    return CLV_OK;
}

static clv_status dense_cost(const clv_affinity *a, clv_affinity_cost *out) {
    *out = clv_dense_cost(a->info.n);
    return CLV_OK;
}

static clv_status dense_view(const clv_affinity *a, clv_matrix *out) {
    const clv_dense *home = clv_dense_of(a);
    *out = (clv_matrix){.rows = a->info.n, .cols = a->info.n, .scalar = home->scalar, .values = home->values};
    return is_part(a) ? CLV_EUSAGE : CLV_OK; /* nobody has all of it */
}

static clv_status dense_part(const clv_affinity *a, clv_matrix *out, int64_t *first) {
    const clv_dense *home = clv_dense_of(a);
    *out = (clv_matrix){.rows = a->info.n, .cols = home->width, .scalar = home->scalar, .values = home->values};
    *first = home->first;
    return is_part(a) ? CLV_OK : CLV_EUSAGE;
}

static void dense_destroy(clv_affinity *a) {
    clv_dense *home = a->state;
    clv_free(a->ctx, home->owned);
    clv_free(a->ctx, home->diagonal);
    clv_affinity_free(home->source);
}

#define DENSE_HOME(name_)                                                                                              \
    {                                                                                                                  \
        .name = (name_), .state_size = sizeof(clv_dense), .column = dense_column, .destroy = dense_destroy,            \
        .entry = dense_entry, .apply = dense_apply, .rough_apply = clv_dense_rough_apply,                              \
        .group_sums = dense_group_sums, .move = dense_move, .move_many = dense_move_many, .move_own = dense_move_own,  \
        .combine = dense_combine, .moments = dense_moments, .block = dense_block, .add_rows = clv_dense_add_rows,      \
        .rough_add_rows = clv_dense_rough_add_rows, .subset = dense_subset, .cost = dense_cost, .view = dense_view,    \
        .part = dense_part,                                                                                            \
    }
const clv_home_functions clv_dense64_home = DENSE_HOME("dense-f64"), clv_dense32_home = DENSE_HOME("dense-f32");
