/* Landmarks: a gaussian or exponential affinity K of n points by some of them (Nystrom). With S the landmarks,
 *
 *     K ~ K_.S K_SS^-1 K_S. = F F',   F = K_.S L^-T with L L' = K_SS,   n x rank.
 *
 * F F' is exact between a landmark and any object, and what K has beyond it is positive semidefinite: its diagonal,
 * 1 - |f_i|^2, says how much of object i the landmarks do not explain. That diagonal is put back.
 *
 * Landmarks are drawn by randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2025): each with a probability in
 * proportion to what is not explained of it by then, from a fixed seed. BLOCK of them are proposed at a time by the
 * diagonal before, and taken or not by what those taken before them leave of it, which draws from the same distribution
 * and works by matrix products (Epperly, Tropp and Webber 2024). An object of which no more than EXPLAINED is left is
 * not drawn: equal points are one landmark, and the rank is lower.
 *
 * Row sums. Those of K are at least 1, but far from all landmarks F F' has entries below 0. An object whose
 * similarities to others add up to less than 0 gets f_i = K_il f_l of its nearest landmark l instead: entries K_il
 * K_lj, all at least 0 where j is not such an object too.
 *
 * Cost: n M similarities and n M^2 operations. Memory: F, a copy of the points, a few numbers for each. Threads share
 * fixed blocks of rows. */
#include "affinity/home.h"
#include "affinity/kinds.h"

#include "kernels/kernels.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = CLV_TILE, ROWS = 8 * CLV_TILE, PAIRS = 1 << 16, PAIRS_A_POLL = 1 << 10 };
enum { LANDMARK_STREAM = 1, ERROR_STREAM = 2 }; /* of seed 0 */
/* Far above rounding, and as far below what matters. */
#define EXPLAINED 1e-10

typedef struct making {
    clv_context *ctx;
    clv_landmarks *out;
    clv_affinity_kind kind;
    int threads;
    int64_t n, most, rank; /* landmarks asked for, found */
    clv_panels panels;
    clv_kept kept;
    double *left;    /* n: what is not explained; 0 of what cannot be drawn any more */
    int64_t *chosen; /* most */
    double *rows;    /* BLOCK x most: F of the candidates, then of those taken */
    clv_rng rng;
    int64_t candidates[BLOCK], count;
    double kernel[BLOCK * BLOCK]; /* of the candidates: what is not explained */
    double root[BLOCK * BLOCK];   /* its Cholesky factor for those taken */
} making;

static void to_similarity(const making *m, double *d2, int64_t count) {
    clv_to_similarity(m->kind, m->out->gamma, 0, d2, count);
}

/* --- choosing a block of landmarks --- */

/* Up to BLOCK different objects; none when all are explained. */
static void propose(making *m) {
    double draws[BLOCK], total = clv_sum(m->left, m->n, 1), passed = 0;
    int64_t last = -1, at = 0;
    for (int64_t c = 0; c < BLOCK; c++) {
        draws[c] = total * clv_rng_uniform(&m->rng);
    }
    qsort(draws, BLOCK, sizeof *draws, clv_ascending);
    m->count = 0;
    for (int64_t i = 0; i < m->n && at < BLOCK; i++) {
        bool drawn = false;
        passed += m->left[i];
        last = m->left[i] > 0 ? i : last;
        for (; at < BLOCK && m->left[i] > 0 && draws[at] < passed; at++) {
            drawn = true;
        }
        if (drawn) {
            m->candidates[m->count++] = i;
        }
    }
    if (m->count == 0 && last >= 0) { /* rounding of the sums */
        m->candidates[m->count++] = last;
    }
    clv_rng_shuffle(&m->rng, m->candidates, m->count);
}

/* What is not explained of the candidates' similarities, and their rows of F. */
static clv_status compare(making *m) {
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    clv_panels points;
    CLV_TRY(clv_panels_gather(&m->panels, m->candidates, m->count, 1, &points));
    clv_distance_tile(&points, 0, 0, tile);
    clv_panels_free(&points);
    to_similarity(m, tile, CLV_TILE * CLV_TILE);
    memcpy(m->kernel, tile, sizeof tile);
    for (int64_t c = 0; c < m->count; c++) {
        memcpy(m->rows + c * m->most, m->out->factor + m->candidates[c] * m->most, (size_t)m->rank * sizeof(double));
    }
    if (m->rank > 0) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m->count, (int)m->count, (int)m->rank, -1, m->rows,
                    (int)m->most, m->rows, (int)m->most, 1, m->kernel, BLOCK);
    }
    return CLV_OK;
}

/* The row of candidate c in the Cholesky factor, and what the `taken` before leave of it. */
static double leave_of(const making *m, int64_t c, const int64_t *taken, int64_t count, double *row) {
    double left = m->kernel[c * BLOCK + c];
    for (int64_t a = 0; a < count; a++) {
        double sum = m->kernel[c * BLOCK + taken[a]];
        for (int64_t b = 0; b < a; b++) {
            sum -= row[b] * m->root[a * BLOCK + b];
        }
        row[a] = sum / m->root[a * BLOCK + a];
        left -= row[a] * row[a];
    }
    return left;
}

/* Of the candidates those that are taken, with their rows and their Cholesky factor, become the first. */
static void take(making *m) {
    int64_t taken[BLOCK], count = 0;
    for (int64_t c = 0; c < m->count && m->rank + count < m->most; c++) {
        int64_t i = m->candidates[c];
        double left = leave_of(m, c, taken, count, m->root + count * BLOCK);
        bool wins = clv_rng_uniform(&m->rng) * m->left[i] < left;
        if (m->kernel[c * BLOCK + c] <= EXPLAINED) {
            m->left[i] = 0;
        } else if (wins && left > EXPLAINED) {
            m->root[count * BLOCK + count] = sqrt(left);
            taken[count++] = c;
        }
    }
    for (int64_t a = 0; a < count; a++) {
        m->candidates[a] = m->candidates[taken[a]];
        memmove(m->rows + a * m->most, m->rows + taken[a] * m->most, (size_t)m->rank * sizeof(double));
    }
    m->count = count;
}

/* --- columns of F --- */

/* The columns of the landmarks taken, for the rows from `first` on. */
static void fill_rows(making *m, const clv_panels *points, int64_t first) {
    int64_t rows = m->n - first < ROWS ? m->n - first : ROWS, width = m->count;
    double *factor = m->out->factor + first * m->most;
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    for (int64_t r0 = 0; r0 < rows; r0 += CLV_TILE) {
        clv_distance_cross_tile(&m->panels, (first + r0) / CLV_TILE, points, 0, tile);
        to_similarity(m, tile, CLV_TILE * CLV_TILE);
        for (int64_t r = r0; r < rows && r < r0 + CLV_TILE; r++) {
            memcpy(factor + r * m->most + m->rank, tile + (r - r0) * CLV_TILE, (size_t)width * sizeof *tile);
        }
    }
    if (m->rank > 0) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)width, (int)m->rank, -1, factor,
                    (int)m->most, m->rows, (int)m->most, 1, factor + m->rank, (int)m->most);
    }
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)rows, (int)width, 1, m->root,
                BLOCK, factor + m->rank, (int)m->most);
    for (int64_t r = 0; r < rows; r++) {
        double left = m->left[first + r];
        for (int64_t c = 0; c < width; c++) {
            double f = factor[r * m->most + m->rank + c];
            left -= f * f;
        }
        m->left[first + r] = left > EXPLAINED ? left : 0;
    }
}

static clv_status fill_columns(making *m) {
    atomic_bool stopped = false;
    clv_panels points;
    CLV_TRY(clv_panels_gather(&m->panels, m->candidates, m->count, 1, &points));
    clv_blas_serial_begin();
#pragma omp parallel for num_threads(clv_team(m->threads)) schedule(dynamic)
    for (int64_t first = 0; first < m->n; first += ROWS) {
        if (clv_goes_on(m->ctx, &stopped, ROWS * m->count * (m->panels.features + m->rank))) {
            fill_rows(m, &points, first);
        }
    }
    clv_blas_serial_end();
    clv_panels_free(&points);
    for (int64_t a = 0; a < m->count; a++) {
        m->left[m->candidates[a]] = 0;
        m->chosen[m->rank + a] = m->candidates[a];
    }
    m->rank += m->count;
    return atomic_load(&stopped) ? clv_stop_failure(m->ctx, "choosing landmarks") : CLV_OK;
}

static clv_status choose(making *m) {
    m->rng = clv_rng_stream(0, LANDMARK_STREAM);
    for (int64_t i = 0; i < m->n; i++) {
        m->left[i] = 1;
    }
    for (propose(m); m->count > 0 && m->rank < m->most; propose(m)) {
        clv_blas_serial_begin();
        clv_status status = compare(m);
        clv_blas_serial_end();
        CLV_TRY(status);
        take(m);
        if (m->count > 0) {
            CLV_TRY(fill_columns(m));
        }
    }
    return CLV_OK;
}

/* Without the columns of landmarks that were not there. */
static clv_status shrink(making *m) {
    clv_landmarks *out = m->out;
    out->rank = m->rank;
    if (m->rank == m->most) {
        return CLV_OK;
    }
    for (int64_t i = 0; i < m->n; i++) {
        memmove(out->factor + i * m->rank, out->factor + i * m->most, (size_t)m->rank * sizeof *out->factor);
    }
    double *smaller = clv_resize(m->ctx, out->factor, clv_panels_bytes(m->n, m->rank), 1);
    out->factor = smaller ? smaller : out->factor;
    return smaller ? CLV_OK : CLV_ENOMEM;
}

/* --- row sums --- */

static double squared_length(const making *m, int64_t i) {
    const double *f = m->out->factor + i * m->rank;
    return clv_dot(f, f, m->rank, 1);
}

/* Of each object the sum of its similarities to the others. */
static clv_status sum_rows(const making *m, double *sums, double *total) {
    clv_matrix factor = {.rows = m->n, .cols = m->rank, .scalar = CLV_F64, .values = m->out->factor};
    atomic_bool stopped = false;
    memset(total, 0, (size_t)m->rank * sizeof *total);
    for (int64_t i = 0; i < m->n && clv_goes_on(m->ctx, &stopped, ROWS * m->rank); i += ROWS) {
        for (int64_t r = i; r < i + ROWS && r < m->n; r++) {
            clv_kernels->f64.accumulate(total, m->out->factor + r * m->rank, m->rank);
        }
    }
    clv_blas_serial_begin();
#pragma omp parallel for num_threads(clv_team(m->threads)) schedule(static)
    for (int64_t i = 0; i < m->n; i += ROWS) {
        int64_t rows = m->n - i < ROWS ? m->n - i : ROWS;
        if (clv_goes_on(m->ctx, &stopped, ROWS * m->rank)) {
            clv_factor_expand(&factor, total, 1, i, rows, sums + i, m->n);
            for (int64_t r = i; r < i + rows; r++) {
                sums[r] -= squared_length(m, r);
            }
        }
    }
    clv_blas_serial_end();
    return stopped ? clv_stop_failure(m->ctx, "adding up similarities by landmarks") : CLV_OK;
}

/* Object i is what its nearest landmark is, as far as it is similar to that. */
static void take_after_nearest(const making *m, const clv_panels *landmarks, int64_t i) {
    double line[CLV_TILE], nearest = HUGE_VAL;
    int64_t landmark = 0;
    for (int64_t b = 0; b < landmarks->count; b++) {
        clv_distance_cross_line(&m->panels, i, landmarks, b, line);
        for (int64_t c = 0; c < clv_panel_size(landmarks, b); c++) {
            if (line[c] < nearest) {
                nearest = line[c];
                landmark = m->chosen[b * CLV_TILE + c];
            }
        }
    }
    to_similarity(m, &nearest, 1);
    for (int64_t r = 0; r < m->rank; r++) {
        m->out->factor[i * m->rank + r] = nearest * m->out->factor[landmark * m->rank + r];
    }
}

/* What one object changes may lower the sums of others: until none is below 0 any more. */
static clv_status raise_sums(making *m, const clv_panels *landmarks) {
    double *sums = m->out->excess, *total = m->rows;
    bool again = true;
    while (again) {
        again = false;
        CLV_TRY(sum_rows(m, sums, total));
        for (int64_t i = 0; i < m->n; i++) {
            if (sums[i] < 0 && m->left[i] >= 0) {
                take_after_nearest(m, landmarks, i);
                m->left[i] = -1; /* once */
                again = true;
            }
        }
    }
    return CLV_OK;
}

static clv_status check_sums(making *m) {
    clv_panels landmarks;
    CLV_TRY(clv_panels_gather(&m->panels, m->chosen, m->rank, 1, &landmarks));
    clv_status status = raise_sums(m, &landmarks);
    clv_panels_free(&landmarks);
    return status;
}

/* --- errors --- */

static void add_pair(const making *m, int64_t i, int64_t j, double *errors, double *entries) {
    const double *factor = m->out->factor;
    double exact = clv_distance(&m->panels, i, j);
    to_similarity(m, &exact, 1);
    double error = exact - clv_dot(factor + i * m->rank, factor + j * m->rank, m->rank, 1);
    *errors += error * error;
    *entries += exact * exact;
}

/* By all pairs, or by as many drawn from a fixed seed. */
static clv_status measure_entries(making *m) {
    double n = (double)m->n, errors = 0, entries = 0;
    bool all = n * (n - 1) / 2 <= PAIRS;
    int64_t count = all ? m->n * (m->n - 1) / 2 : PAIRS;
    clv_rng rng = clv_rng_stream(0, ERROR_STREAM);
    for (int64_t s = 0, i = 1, j = 0; s < count; s++) {
        if (!all) {
            i = clv_rng_below(&rng, m->n);
            j = clv_rng_below(&rng, m->n - 1);
            j += j >= i;
        }
        add_pair(m, i, j, &errors, &entries);
        j++;
        if (all && j == i) {
            i++;
            j = 0;
        }
        if (s % PAIRS_A_POLL == 0 && clv_worked(m->ctx, PAIRS_A_POLL * m->rank)) {
            return clv_stop_failure(m->ctx, "measuring the error of landmarks");
        }
    }
    m->out->sampled_error = entries > 0 ? sqrt(errors / entries) : errors > 0 ? 1 : 0;
    return CLV_OK;
}

/* The diagonal beyond that of F F', and what it is of the whole. */
static void measure_diagonal(making *m, bool zero_diagonal) {
    double *excess = m->out->excess;
    for (int64_t i = 0; i < m->n; i++) {
        excess[i] = fmax(1 - squared_length(m, i), 0);
    }
    m->out->trace_error = clv_sum(excess, m->n, 1) / (double)m->n;
    for (int64_t i = 0; zero_diagonal && i < m->n; i++) {
        excess[i] = -squared_length(m, i);
    }
}

/* --- all of it --- */

int64_t clv_landmarks_bytes(int64_t n, int64_t landmarks) {
    return clv_bytes_plus(clv_panels_bytes(n, landmarks), clv_panels_bytes(n, 1));
}

int64_t clv_landmarks_peak(int64_t n, int64_t features, int64_t landmarks) {
    int64_t points = clv_bytes_plus(clv_panels_bytes(n, features), clv_panels_bytes(n, 1));
    int64_t chosen = clv_panels_bytes(landmarks, clv_bytes_plus(features, BLOCK + 1));
    return clv_bytes_plus(clv_landmarks_bytes(n, landmarks), clv_bytes_plus(points, chosen));
}

static clv_status make(making *m, const clv_affinity_options *options) {
    clv_landmarks *out = m->out;
    m->kept.ctx = m->ctx;
    m->left = CLV_TAKE(&m->kept, double, m->n);
    m->chosen = CLV_TAKE(&m->kept, int64_t, m->most);
    m->rows = CLV_TAKE(&m->kept, double, BLOCK * m->most);
    out->factor = clv_alloc(m->ctx, clv_panels_bytes(m->n, m->most), 1);
    out->excess = CLV_NEW(m->ctx, double, m->n);
    if (m->kept.status < 0 || !out->factor || !out->excess) {
        return CLV_ENOMEM;
    }
    out->gamma = options->gamma;
    if (isnan(options->gamma)) {
        CLV_TRY(clv_gamma_auto(m->ctx, &m->panels, m->kind, &out->gamma));
    }
    CLV_TRY(choose(m));
    CLV_TRY(shrink(m));
    CLV_TRY(check_sums(m));
    measure_diagonal(m, options->zero_diagonal);
    return measure_entries(m);
}

clv_status clv_landmarks_new(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                             int threads, clv_landmarks *out) {
    making *m = CLV_NEW0(ctx, making, 1);
    *out = (clv_landmarks){.gamma = NAN};
    if (!m) {
        return CLV_ENOMEM;
    }
    m->ctx = ctx;
    m->out = out;
    m->kind = options->kind;
    m->threads = threads;
    m->n = points->rows;
    m->most = options->landmarks;
    clv_status status = clv_panels_new(ctx, points, threads, &m->panels);
    if (status == CLV_OK) {
        status = make(m, options);
    }
    clv_panels_free(&m->panels);
    clv_free_kept(&m->kept);
    clv_free(ctx, m);
    return status;
}
