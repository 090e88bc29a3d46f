/* The matrix X of samples and features, in the layout it came in.
 *
 *   one row per feature, dense   X'r is a row of X after the other with r in the cache; X w is a sum of rows
 *   one row per sample, dense    X'r goes over strips of columns, whose sums stay in the cache; X w gathers from each
 * row one row per feature, CSR     as the first; X with one row per sample is turned around once
 *
 * X'r over all features is the pass over X that everything else is measured by. Threads take strips or rows of fixed
 * extent; a sum never depends on who computed it. Ranks that share a run take a share of these each, and gather. */
#include "methods/ksupport/ksupport.h"

#include "base/ranks.h"

#include <string.h>

enum { STRIP = 1024, SLICE = 256 };
enum { RUN = 64, RUN_BYTES = 1 << 19 }; /* rows of X that are multiplied in one go, where a row is short more of them */
enum { GROUPS = 8, MANY = 4096 };       /* of samples, where features are few and samples many */

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Threads for so many multiplications: few are done before another thread is awake. */
static int threads_for(const clv_design *x, int64_t work) {
    return work > 1 << 17 ? x->threads : 1;
}

/* --- ranks --- */

enum { WORTH_RANKS = 1 << 18 }; /* multiplications */

/* The parts of the work that this rank does: all of `count` where it is not shared. */
typedef struct part {
    bool shared;
    int64_t first, last;
} part;

static part part_of(const clv_design *x, int64_t work, int64_t count) {
    part mine = {.shared = work >= WORTH_RANKS && clv_is_shared(x->ctx), .last = count};
    if (mine.shared) {
        clv_share(x->ctx, count, &mine.first, &mine.last);
    }
    return mine;
}

/* What all ranks found, in parts of `block` entries. A failure is that of all of them, and of their next meeting: the
 * run asks for an end from here on. */
static void gather_parts(const clv_design *x, const part *mine, int64_t count, int64_t block, double *g,
                         double *squares) {
    if (mine->shared) {
        clv_status status = clv_gather_items(x->ctx, CLV_OK, g, sizeof *g, count, block);
        if (status == CLV_OK && squares) {
            status = clv_gather_items(x->ctx, CLV_OK, squares, sizeof *squares, count, block);
        }
        (void)status;
    }
}

/* --- dense, one row per feature --- */

static void dot_rows(const clv_matrix *m, const int64_t *list, int64_t first, int64_t count, const double *r,
                     double *out, double *square) {
    if (m->scalar == CLV_F32 && square) {
        clv_kernels->f32.dot_square_rows(m->values, list, first, count, m->cols, r, out, square);
    } else if (m->scalar == CLV_F32) {
        clv_kernels->f32.dot_rows(m->values, list, first, count, m->cols, r, out);
    } else if (square) {
        clv_kernels->f64.dot_square_rows(m->values, list, first, count, m->cols, r, out, square);
    } else {
        clv_kernels->f64.dot_rows(m->values, list, first, count, m->cols, r, out);
    }
}

static int64_t rows_of_run(const clv_matrix *m) {
    int64_t rows = RUN, bytes = m->cols * (int64_t)clv_scalar_bytes(m->scalar);
    while (rows < 16 * RUN && 2 * rows * bytes <= RUN_BYTES) {
        rows *= 2;
    }
    return rows;
}

static void features_gradient(const clv_design *x, const double *r, const int64_t *list, int64_t count, double *g,
                              double *squares) {
    int64_t run = rows_of_run(&x->matrix);
    part mine = part_of(x, count * x->samples, (count + run - 1) / run);
#pragma omp parallel for num_threads(clv_team(threads_for(x, count * x->samples))) schedule(static)
    for (int64_t b = mine.first; b < mine.last; b++) {
        int64_t first = b * run;
        dot_rows(&x->matrix, list ? list + first : NULL, first, least(run, count - first), r, g + first,
                 squares ? squares + first : NULL);
    }
    gather_parts(x, &mine, count, run, g, squares);
}

/* Rows i..i + 3 of m, or of a list of its rows, on n columns from `first` on: acc += weight x and, unless NULL, squares
 * += x^2. Rows past the last of `count` weigh nothing. The rows that come next are asked for. */
static void add_four(const clv_matrix *m, const int64_t *list, const double *weight, int64_t count, int64_t i,
                     int64_t first, int64_t n, double *acc, double *squares) {
    double r[4], once[4];
    int64_t offset[4], size = (int64_t)clv_scalar_bytes(m->scalar);
    for (int64_t j = 0; j < 4; j++) {
        int64_t at = least(i + j, count - 1), next = least(at + 4, count - 1);
        once[j] = i + j < count;
        r[j] = i + j < count ? weight[at] : 0;
        offset[j] = (list ? list[at] : at) * m->cols + first;
        clv_ask_for((const char *)m->values + size * ((list ? list[next] : next) * m->cols + first), n * size);
    }
    if (m->scalar == CLV_F32) {
        const float *base = m->values;
        const float *x[4] = {base + offset[0], base + offset[1], base + offset[2], base + offset[3]};
        clv_kernels->f32.add_four(acc, x, r, n);
        if (squares) {
            clv_kernels->f32.add_square_four(squares, x, once, n);
        }
    } else {
        const double *base = m->values;
        const double *x[4] = {base + offset[0], base + offset[1], base + offset[2], base + offset[3]};
        clv_kernels->f64.add_four(acc, x, r, n);
        if (squares) {
            clv_kernels->f64.add_square_four(squares, x, once, n);
        }
    }
}

static void features_margins(const clv_design *x, const int64_t *index, const double *value, int64_t count, double *z) {
    int64_t slices = (x->samples + SLICE - 1) / SLICE;
#pragma omp parallel for num_threads(clv_team(threads_for(x, count * x->samples))) schedule(static)
    for (int64_t s = 0; s < slices; s++) {
        int64_t first = s * SLICE, n = least(SLICE, x->samples - first);
        memset(z + first, 0, (size_t)n * sizeof *z);
        for (int64_t j = 0; j < count; j += 4) {
            add_four(&x->matrix, index, value, count, j, first, n, z + first, NULL);
        }
    }
}

static const clv_design_functions by_features;

/* Pages that are written for the first time cost more than what is written, so that room is kept, with as much to
 * spare: working sets grow by the support of the weights. */
static clv_status new_gathered(const clv_design *x, int64_t count, clv_design *out) {
    clv_data *room = out->owned;
    int64_t rows = least(2 * count, x->features);
    *out = (clv_design){
        .ctx = x->ctx, .does = &by_features, .samples = x->samples, .features = count, .threads = x->threads};
    if (room && room->matrix.rows < count) {
        clv_data_free(room);
        room = NULL;
    }
    if (!room) {
        CLV_TRY(clv_data_new_dense(x->ctx, "working set", rows, x->samples, x->matrix.scalar, &room));
    }
    out->owned = room;
    out->matrix = room->matrix;
    out->matrix.rows = count;
    return CLV_OK;
}

static clv_status features_gather(const clv_design *x, const int64_t *list, int64_t count, clv_design *out) {
    size_t row = (size_t)x->samples * clv_scalar_bytes(x->matrix.scalar);
    CLV_TRY(new_gathered(x, count, out));
#pragma omp parallel for num_threads(clv_team(threads_for(x, count * x->samples))) schedule(static)
    for (int64_t j = 0; j < count; j++) {
        memcpy((char *)out->owned->values + (size_t)j * row, (const char *)x->matrix.values + (size_t)list[j] * row,
               row);
    }
    return CLV_OK;
}

static const clv_design_functions by_features = {
    .gradient = features_gradient, .margins = features_margins, .gather = features_gather};

/* --- dense, one row per sample --- */

static double dense_entry(const clv_matrix *m, int64_t i, int64_t j) {
    return m->scalar == CLV_F32 ? (double)((const float *)m->values)[i * m->cols + j]
                                : ((const double *)m->values)[i * m->cols + j];
}

/* Columns of a list, `n` from `first` on. */
static void add_listed(const clv_matrix *m, const int64_t *list, int64_t n, const double *r, double *g,
                       double *squares) {
    for (int64_t i = 0; i < m->rows; i++) {
        for (int64_t j = 0; j < n; j++) {
            double entry = dense_entry(m, i, list[j]);
            g[j] += r[i] * entry;
            if (squares) {
                squares[j] += entry * entry;
            }
        }
    }
}

/* X'r where all features are one strip: samples in a fixed number of groups instead, each with `wide` numbers for its
 * sums, of whole lines. */
static void samples_few(const clv_design *x, const double *r, double *g, double *squares) {
    enum { IN_LINE = CLV_LINE / sizeof(double) };
    const clv_matrix *m = &x->matrix;
    _Alignas(CLV_LINE) double sums[GROUPS * STRIP];
    _Alignas(CLV_LINE) double square[GROUPS * STRIP];
    int64_t wide = (m->cols + IN_LINE - 1) / IN_LINE * IN_LINE;
    size_t bytes = (size_t)wide * sizeof *sums;
    part mine = part_of(x, m->cols * m->rows, GROUPS);
#pragma omp parallel for num_threads(clv_team(threads_for(x, m->cols * m->rows))) schedule(static)
    for (int64_t b = mine.first; b < mine.last; b++) {
        int64_t begin = m->rows * b / GROUPS, count = m->rows * (b + 1) / GROUPS - begin;
        clv_matrix rows = *m;
        rows.rows = count;
        rows.values = (const char *)m->values + (size_t)(begin * m->cols) * clv_scalar_bytes(m->scalar);
        memset(sums + b * wide, 0, bytes);
        memset(square + b * wide, 0, bytes);
        for (int64_t i = 0; i < count; i += 4) {
            add_four(&rows, NULL, r + begin, count, i, 0, m->cols, sums + b * wide, squares ? square + b * wide : NULL);
        }
    }
    gather_parts(x, &mine, GROUPS * wide, wide, sums, squares ? square : NULL);
    for (int64_t j = 0; j < m->cols; j++) {
        double sum = 0, whole = 0;
        for (int64_t b = 0; b < GROUPS; b++) {
            sum += sums[b * wide + j];
            whole += square[b * wide + j];
        }
        g[j] = sum;
        if (squares) {
            squares[j] = whole;
        }
    }
}

static void samples_gradient(const clv_design *x, const double *r, const int64_t *list, int64_t count, double *g,
                             double *squares) {
    const clv_matrix *m = &x->matrix;
    if (!list && count <= STRIP && m->rows > MANY) {
        samples_few(x, r, g, squares);
        return;
    }
    part mine = part_of(x, count * x->samples, (count + STRIP - 1) / STRIP);
#pragma omp parallel for num_threads(clv_team(threads_for(x, count * x->samples))) schedule(static)
    for (int64_t s = mine.first; s < mine.last; s++) {
        int64_t first = s * STRIP, n = least(STRIP, count - first);
        double *square = squares ? squares + first : NULL;
        memset(g + first, 0, (size_t)n * sizeof *g);
        if (square) {
            memset(square, 0, (size_t)n * sizeof *g);
        }
        if (list) {
            add_listed(m, list + first, n, r, g + first, square);
            continue;
        }
        for (int64_t i = 0; i < m->rows; i += 4) {
            add_four(m, NULL, r, m->rows, i, first, n, g + first, square);
        }
    }
    gather_parts(x, &mine, count, STRIP, g, squares);
}

static void samples_margins(const clv_design *x, const int64_t *index, const double *value, int64_t count, double *z) {
    const clv_matrix *m = &x->matrix;
#pragma omp parallel for num_threads(clv_team(threads_for(x, count * x->samples))) schedule(static)
    for (int64_t i = 0; i < m->rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < count; j++) {
            sum += value[j] * dense_entry(m, i, index[j]);
        }
        z[i] = sum;
    }
}

static clv_status samples_gather(const clv_design *x, const int64_t *list, int64_t count, clv_design *out) {
    const clv_matrix *m = &x->matrix;
    int64_t strips = (count + SLICE - 1) / SLICE;
    CLV_TRY(new_gathered(x, count, out));
#pragma omp parallel for num_threads(clv_team(threads_for(x, count * x->samples))) schedule(static)
    for (int64_t s = 0; s < strips; s++) {
        int64_t end = least(count, (s + 1) * SLICE);
        for (int64_t i = 0; i < m->rows; i++) {
            for (int64_t j = s * SLICE; j < end; j++) {
                double entry = dense_entry(m, i, list[j]);
                if (m->scalar == CLV_F32) {
                    ((float *)out->owned->values)[j * m->rows + i] = (float)entry;
                } else {
                    ((double *)out->owned->values)[j * m->rows + i] = entry;
                }
            }
        }
    }
    return CLV_OK;
}

static const clv_design_functions by_samples = {
    .gradient = samples_gradient, .margins = samples_margins, .gather = samples_gather};

/* --- sparse, one row per feature --- */

static void sparse_gradient(const clv_design *x, const double *r, const int64_t *list, int64_t count, double *g,
                            double *squares) {
    const clv_matrix *m = &x->matrix;
    const double *values = m->values;
    part mine = part_of(x, m->start[m->rows], count);
#pragma omp parallel for num_threads(clv_team(threads_for(x, m->start[m->rows]))) schedule(dynamic, 1024)
    for (int64_t j = mine.first; j < mine.last; j++) {
        int64_t row = list ? list[j] : j;
        double sum = 0, square = 0;
        for (int64_t e = m->start[row]; e < m->start[row + 1]; e++) {
            sum += values[e] * r[m->index[e]];
            square += values[e] * values[e];
        }
        g[j] = sum;
        if (squares) {
            squares[j] = square;
        }
    }
    gather_parts(x, &mine, count, 1, g, squares);
}

static void sparse_margins(const clv_design *x, const int64_t *index, const double *value, int64_t count, double *z) {
    const clv_matrix *m = &x->matrix;
    const double *values = m->values;
    memset(z, 0, (size_t)x->samples * sizeof *z);
    for (int64_t j = 0; j < count; j++) {
        for (int64_t e = m->start[index[j]]; e < m->start[index[j] + 1]; e++) {
            z[m->index[e]] += value[j] * values[e];
        }
    }
}

static clv_status sparse_gather(const clv_design *x, const int64_t *list, int64_t count, clv_design *out) {
    const clv_matrix *m = &x->matrix;
    int64_t entries = 0;
    for (int64_t j = 0; j < count; j++) {
        entries += m->start[list[j] + 1] - m->start[list[j]];
    }
    clv_data_free(out->owned);
    *out = *x;
    out->owned = NULL;
    out->features = count;
    CLV_TRY(clv_data_new_csr(x->ctx, "working set", count, x->samples, entries, &out->owned));
    clv_data *own = out->owned;
    for (int64_t j = 0, at = 0; j < count; j++) {
        int64_t first = m->start[list[j]], n = m->start[list[j] + 1] - first;
        memcpy((double *)own->values + at, (const double *)m->values + first, (size_t)n * sizeof(double));
        memcpy(own->index + at, m->index + first, (size_t)n * sizeof *own->index);
        own->start[j + 1] = at += n;
    }
    out->matrix = own->matrix;
    return CLV_OK;
}

static const clv_design_functions by_sparse_features = {
    .gradient = sparse_gradient, .margins = sparse_margins, .gather = sparse_gather};

/* --- making --- */

clv_status clv_design_new(clv_context *ctx, const clv_matrix *x, bool transposed, int threads, clv_design *out) {
    *out = (clv_design){.ctx = ctx,
                        .samples = transposed ? x->cols : x->rows,
                        .features = transposed ? x->rows : x->cols,
                        .numbers = clv_is_sparse(x) ? (double)(x->start[x->rows] - x->start[0])
                                                    : (double)x->rows * (double)x->cols,
                        .threads = threads,
                        .matrix = *x,
                        .does = transposed ? &by_features : &by_samples};
    if (clv_is_sparse(x)) {
        out->does = &by_sparse_features;
        if (!transposed) {
            CLV_TRY(clv_csr_transpose(ctx, "X transposed", x, &out->owned));
            out->matrix = out->owned->matrix;
        }
    }
    return CLV_OK;
}

bool clv_design_has_features_as_rows(const clv_design *x) {
    return x->does != &by_samples;
}

void clv_design_free(clv_design *x) {
    clv_data_free(x->owned);
    *x = (clv_design){0};
}
