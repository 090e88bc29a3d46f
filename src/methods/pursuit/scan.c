/* The k largest entries of the gradient P R', n x n, of which no more than a few tiles are ever there.
 *
 * Blocks of rows are multiplied in single precision, the product stays in the cache, and entries above a bar are noted
 * as candidates. The bar is a little below the k-th largest entry of the time before (the first time: of a sample of
 * rows), less what single precision can be wrong by; so the candidates contain the k largest for certain as soon as k
 * of them, computed anew in double, are above the bar itself. Those decide. When there are too few, the bar is lowered
 * and the scan repeated; when it is so low that single precision cannot tell, tiles are computed in double.
 *
 * Cost 2 n^2 d operations in single precision and d for each candidate. */
#include "methods/pursuit/pursuit.h"

#include "kernels/kernels.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

enum { ROWS = CLV_PURSUIT_ROWS, MOST_SCANS = 60, SAMPLED = 32, STRIP = 32, MANY = 1 << 16 };

/* Rows i0.. of P R' into a tile. */
static void fill_tile(const clv_pursuit_work *s, int64_t i0, int64_t rows, float *tile) {
    const clv_pursuit_points *p = s->points;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)p->n, (int)p->d, 1, p->single + i0 * p->d,
                (int)p->d, s->slope, (int)p->d, 0, tile, (int)p->n);
    for (int64_t i = 0; p->zero_diagonal && i < rows; i++) {
        tile[i * p->n + i0 + i] = 0;
    }
}

/* The slope as floats in units of a power of two that makes its largest entry about 1. Returns that power, as what an
 * entry is multiplied by; 0: all entries are 0. */
static double take_slope(clv_pursuit_work *s, const double *r) {
    const clv_pursuit_points *p = s->points;
    double largest = 0;
    int exponent;
    int64_t count = p->n * p->d;
#pragma omp parallel for num_threads(clv_team(p->threads)) schedule(static) reduction(max : largest) if (count > MANY)
    for (int64_t i = 0; i < count; i++) {
        double size = fabs(r[i]);
        largest = size > largest ? size : largest;
    }
    if (!(largest >= DBL_MIN)) {
        return 0;
    }
    frexp(largest, &exponent);
    double unit = ldexp(1, -exponent);
#pragma omp parallel for num_threads(clv_team(p->threads)) schedule(static) if (count > MANY)
    for (int64_t i = 0; i < count; i++) {
        s->slope[i] = (float)(unit * r[i]);
    }
    return unit;
}

/* How much an entry in single precision can be off: roundings of d products and of the factors. */
static double uncertainty(const clv_pursuit_points *p, const double *r, double unit) {
    double longest = 0;
#pragma omp parallel for num_threads(clv_team(p->threads)) schedule(static)                                            \
    reduction(max                                                                                                      \
              : longest) if (p->n * p->d > MANY)
    for (int64_t j = 0; j < p->n; j++) {
        double square = 0;
        for (int64_t f = 0; f < p->d; f++) {
            square += unit * r[j * p->d + f] * (unit * r[j * p->d + f]);
        }
        longest = square > longest ? square : longest;
    }
    return (double)(p->d + 4) * 0x1p-24 * p->longest * sqrt(longest);
}

/* --- one scan --- */

/* Most entries are below the bar: they are passed over a strip at a time. */
static bool any_above(const float *x, float bar) {
    return clv_kernels->count_above(x, STRIP, bar) > 0;
}

/* The places of those from `e` on, which begin with `first`, to candidate[at...]; where the next one goes. */
static int64_t list_above(const float *tile, int64_t e, int64_t end, float bar, int64_t first, int64_t *candidate,
                          int64_t at) {
    for (; e < end; e++) {
        if (fabsf(tile[e]) >= bar) {
            candidate[at++] = first + e;
        }
    }
    return at;
}

/* Candidates of a block of rows, to a place that is reserved for them; false when there is no room. */
static bool scan_block(clv_pursuit_work *s, int64_t b, float bar, float *tile, atomic_llong *taken) {
    const clv_pursuit_points *p = s->points;
    int64_t i0 = b * ROWS, rows = p->n - i0 < ROWS ? p->n - i0 : ROWS;
    fill_tile(s, i0, rows, tile);
    int64_t count = clv_kernels->count_above(tile, rows * p->n, bar), at = atomic_fetch_add(taken, count);
    s->first[b] = at;
    s->count[b] = count;
    if (at + count > s->capacity) {
        return false;
    }
    for (int64_t e = 0; count > 0 && e < rows * p->n; e += STRIP) {
        int64_t end = rows * p->n - e < STRIP ? rows * p->n : e + STRIP;
        if (end - e < STRIP || any_above(tile + e, bar)) {
            at = list_above(tile, e, end, bar, i0 * p->n, s->candidate, at);
        }
    }
    return true;
}

/* All candidates with magnitudes of at least `bar` in single precision, and how many there are; more than the capacity
 * means that they are not there. */
static clv_status scan(clv_pursuit_work *s, double bar, int64_t *count) {
    const clv_pursuit_points *p = s->points;
    int64_t blocks = (p->n + ROWS - 1) / ROWS;
    atomic_llong taken = 0;
    atomic_bool stopped = false;
    float level = (float)bar;
#pragma omp parallel for num_threads(clv_team(p->threads)) schedule(dynamic)
    for (int64_t b = 0; b < blocks; b++) {
        if (clv_goes_on(p->ctx, &stopped, ROWS * p->n * p->d)) {
            scan_block(s, b, level, s->tile + omp_get_thread_num() * ROWS * p->n, &taken);
        }
    }
    *count = (int64_t)atomic_load(&taken);
    return stopped ? clv_stop_failure(p->ctx, "looking for the steepest entries") : CLV_OK;
}

/* Candidates in the order of their places, whoever found them, with their values in double. */
static void measure_candidates(clv_pursuit_work *s, const double *r, int64_t count) {
    const clv_pursuit_points *p = s->points;
    int64_t blocks = (p->n + ROWS - 1) / ROWS, at = 0;
    for (int64_t b = 0; b < blocks; b++) {
        memcpy(s->order + at, s->candidate + s->first[b], (size_t)s->count[b] * sizeof *s->order);
        at += s->count[b];
    }
#pragma omp parallel for num_threads(clv_team(p->threads)) schedule(static) if (count * p->d > 1 << 17)
    for (int64_t c = 0; c < count; c++) {
        int64_t i = s->order[c] / p->n, j = s->order[c] % p->n;
        s->value[c] = cblas_ddot((int)p->d, p->points + i * p->d, 1, r + j * p->d, 1);
    }
}

/* --- the bar --- */

/* A value that about 3/2 k of all entries exceed, by the entries of some rows. */
static clv_status first_bar(clv_pursuit_work *s, int64_t k, double *bar) {
    const clv_pursuit_points *p = s->points;
    int64_t rows = p->n < SAMPLED ? p->n : SAMPLED, entries = rows * p->n;
    double *sample = (double *)(void *)s->tile; /* room for 64 rows of floats: 32 of doubles */
    for (int64_t row = 0; row < rows; row++) {
        int64_t i = row * p->n / rows;
        if (clv_worked(p->ctx, p->n * p->d)) {
            return clv_stop_failure(p->ctx, "looking for the steepest entries");
        }
        for (int64_t j = 0; j < p->n; j++) {
            double entry = (double)cblas_sdot((int)p->d, p->single + i * p->d, 1, s->slope + j * p->d, 1);
            sample[row * p->n + j] = i == j && p->zero_diagonal ? 0 : fabs(entry);
        }
    }
    int64_t rank = (int64_t)(1.5 * (double)k * (double)rows / (double)p->n) + 1;
    rank = rank < entries ? rank : entries;
    *bar = clv_nth_smallest(sample, entries, entries - rank);
    return CLV_OK;
}

static clv_status grow(clv_pursuit_work *s, int64_t count) {
    const clv_pursuit_points *p = s->points;
    int64_t capacity = count + count / 4;
    int64_t *candidate = clv_resize(p->ctx, s->candidate, capacity, sizeof *candidate);
    s->candidate = candidate ? candidate : s->candidate;
    int64_t *order = clv_resize(p->ctx, s->order, capacity, sizeof *order);
    s->order = order ? order : s->order;
    double *value = clv_resize(p->ctx, s->value, capacity, sizeof *value);
    s->value = value ? value : s->value;
    if (!candidate || !order || !value) {
        return CLV_ENOMEM;
    }
    int64_t k = s->set.k;
    s->capacity = capacity;
    clv_ksupport_set_free(&s->set);
    return clv_ksupport_set_new(p->ctx, capacity, k, p->threads, false, &s->set);
}

static clv_status take_top(clv_pursuit_work *s, int64_t count, int64_t k, clv_list *out) {
    CLV_TRY(clv_list_reserve(s->points->ctx, out, k));
    out->count = clv_ksupport_vertex(&s->set, s->value, count, s->top);
    for (int64_t i = 0; i < out->count; i++) {
        out->index[i] = s->order[s->top[i]];
        out->value[i] = s->value[s->top[i]];
    }
    return CLV_OK;
}

/* --- where single precision does not tell --- */

/* Of the candidates, the k largest stay. Returns the least of them. */
static double compress(clv_pursuit_work *s, int64_t *count) {
    double least = INFINITY;
    *count = clv_ksupport_vertex(&s->set, s->value, *count, s->top);
    for (int64_t i = 0; i < *count; i++) {
        s->order[i] = s->order[s->top[i]];
        s->value[i] = s->value[s->top[i]];
        least = fmin(least, fabs(s->value[i]));
    }
    return least;
}

/* The k largest entries, from tiles in double: what is larger than the k-th so far is kept, until there is no room. */
static clv_status scan_exactly(clv_pursuit_work *s, const double *r, int64_t k, clv_list *out) {
    const clv_pursuit_points *p = s->points;
    double *tile = (double *)(void *)s->tile, bar = 0; /* room for 64 rows of floats: 32 of doubles */
    int64_t count = 0;
    for (int64_t i0 = 0; i0 < p->n; i0 += ROWS / 2) {
        int64_t rows = p->n - i0 < ROWS / 2 ? p->n - i0 : ROWS / 2;
        if (clv_worked(p->ctx, rows * p->n * p->d)) {
            return clv_stop_failure(p->ctx, "looking for the steepest entries");
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)p->n, (int)p->d, 1, p->points + i0 * p->d,
                    (int)p->d, r, (int)p->d, 0, tile, (int)p->n);
        for (int64_t i = 0; p->zero_diagonal && i < rows; i++) {
            tile[i * p->n + i0 + i] = 0;
        }
        for (int64_t e = 0; e < rows * p->n; e++) {
            if (fabs(tile[e]) > bar) {
                s->order[count] = i0 * p->n + e;
                s->value[count++] = tile[e];
                bar = count == s->capacity ? compress(s, &count) : bar;
            }
        }
    }
    s->bar = count < k ? 0 : compress(s, &count);
    return take_top(s, count, k, out);
}

clv_status clv_pursuit_steepest(const clv_design *x, void *work, const double *r, int64_t k, clv_list *out) {
    clv_pursuit_work *s = work;
    double unit = take_slope(s, r);
    if (!(unit > 0)) {
        out->count = 0;
        return CLV_OK;
    }
    double slack = uncertainty(x->user, r, unit), bar = s->keep * s->bar * unit;
    if (!(s->bar > 0)) {
        CLV_TRY(first_bar(s, k, &bar));
    }
    for (int scans = 0; scans < MOST_SCANS && bar > 2 * slack; scans++) {
        int64_t above, count;
        double least = 0;
        CLV_TRY(scan(s, bar - slack, &count));
        if (count > s->capacity) {
            CLV_TRY(grow(s, count));
            CLV_TRY(scan(s, bar - slack, &count));
        }
        if (count >= k) {
            measure_candidates(s, r, count);
            least = clv_ksupport_rank(&s->set, s->value, count, &above);
        }
        if (least * unit >= bar) {
            bool many = count > 3 * k, few = 2 * count < 3 * k;
            s->bar = least;
            s->keep = many ? fmin(0.5 * (1 + s->keep), 0.98) : few ? fmax(s->keep - 0.05, 0.5) : s->keep;
            return take_top(s, count, k, out);
        }
        bar *= 0.7;
    }
    return scan_exactly(s, r, k, out);
}
