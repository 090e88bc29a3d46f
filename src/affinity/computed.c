/* Computed home: entries of gaussian, exponential, local and distance kernels made from the points, a tile of
 * CLV_TILE^2 at a time, when they are needed. Memory is one copy of the points; a pass over the operator costs n^2 p
 * operations and n^2 / 2 exponentials. An entry costs 2 p operations and its kernel, some 25 operations for an
 * exponential. */
#include "affinity/dense.h"
#include "affinity/kinds.h"

#include "kernels/kernels.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

typedef struct computed {
    clv_panels panels;
    double gamma, top; /* top: max(D) of the kind distance */
    clv_scales scales; /* of the kind local */
} computed;

static const computed *home_of(const clv_affinity *a) {
    return a->state;
}

static void to_similarity(const clv_affinity *a, double *d2, int64_t n) {
    clv_to_similarity(a->info.kind, home_of(a)->gamma, home_of(a)->top, d2, n);
}

/* Similarities from a tile of squared distances between panels bi and bj, with the diagonal as asked for. */
static void similarity_tile(const clv_affinity *a, int64_t bi, int64_t bj, double *tile) {
    const double *inverse = home_of(a)->scales.inverse;
    clv_distance_tile(&home_of(a)->panels, bi, bj, tile);
    if (inverse) {
        clv_scales_tile(inverse + bi * CLV_TILE, inverse + bj * CLV_TILE, tile);
    }
    to_similarity(a, tile, CLV_TILE * CLV_TILE);
    if (bi == bj && a->zero_diagonal) {
        for (int64_t r = 0; r < CLV_TILE; r++) {
            tile[r * CLV_TILE + r] = 0;
        }
    }
}

/* Similarities of object i to the objects of panel b. */
static void similarity_line(const clv_affinity *a, int64_t i, int64_t b, double *line) {
    const double *inverse = home_of(a)->scales.inverse;
    clv_distance_line(&home_of(a)->panels, i, b, line);
    if (inverse) {
        clv_kernels->scale_pairs(line, CLV_TILE, inverse[i], inverse + b * CLV_TILE);
    }
    to_similarity(a, line, CLV_TILE);
    if (i / CLV_TILE == b && a->zero_diagonal) {
        line[i % CLV_TILE] = 0;
    }
}

static clv_status computed_entry(const clv_affinity *a, int64_t i, int64_t j, double *out) {
    const double *inverse = home_of(a)->scales.inverse;
    double value = clv_distance(&home_of(a)->panels, i, j);
    value *= inverse ? inverse[i] * inverse[j] : 1;
    to_similarity(a, &value, 1);
    *out = i == j && a->zero_diagonal ? 0 : value;
    return CLV_OK;
}

void clv_computed_range(const clv_affinity *a, int64_t i, int64_t first, int64_t last, double *out) {
    const clv_panels *panels = &home_of(a)->panels;
    double line[CLV_TILE];
    for (int64_t b = first / CLV_TILE; b * CLV_TILE < last; b++) {
        similarity_line(a, i, b, line);
        memcpy(out + b * CLV_TILE, line, (size_t)clv_panel_size(panels, b) * sizeof *line);
    }
}

static clv_status computed_column(const clv_affinity *a, int64_t i, double *out) {
    clv_computed_range(a, i, 0, a->info.n, out);
    return CLV_OK;
}

/* The share of panel b in a move of object i. */
static void move_in_panel(const clv_affinity *a, int64_t i, int64_t b, double *from, double *to) {
    int64_t size = clv_panel_size(&home_of(a)->panels, b);
    double line[CLV_TILE];
    similarity_line(a, i, b, line);
    if (from) {
        clv_kernels->f64.deduct(from + b * CLV_TILE, line, size);
    }
    if (to) {
        clv_kernels->f64.accumulate(to + b * CLV_TILE, line, size);
    }
}

static clv_status computed_move(const clv_affinity *a, int64_t i, double *from, double *to) {
    for (int64_t b = 0; b < home_of(a)->panels.count; b++) {
        move_in_panel(a, i, b, from, to);
    }
    return CLV_OK;
}

/* In panels first..last - 1. */
static void move_in_panels(const clv_affinity *a, const clv_moves *moves, double *y, int64_t first, int64_t last,
                           int threads) {
    int64_t n = a->info.n;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic)
    for (int64_t b = first; b < last; b++) {
        for (int64_t m = 0; m < moves->count; m++) {
            int64_t i = moves->objects[m];
            int32_t from = moves->before[i], to = moves->after[i];
            if (from != to) {
                move_in_panel(a, i, b, from >= 0 ? y + from * n : NULL, to >= 0 ? y + to * n : NULL);
            }
        }
    }
}

static clv_status computed_move_many(const clv_affinity *a, const clv_moves *moves, double *y, int threads) {
    move_in_panels(a, moves, y, 0, home_of(a)->panels.count, threads);
    return CLV_OK;
}

static clv_status computed_move_own(const clv_affinity *a, const clv_moves *moves, double *y, int threads) {
    int64_t first, last;
    clv_share_objects(a->ctx, a->info.n, CLV_SHARE, &first, &last);
    move_in_panels(a, moves, y, first / CLV_TILE, (last + CLV_TILE - 1) / CLV_TILE, threads);
    return CLV_OK;
}

/* --- passes over all tiles ---
 *
 * A tile serves twice: its rows go to the output columns of panel bj and, as its own mirror image, its columns to those
 * of panel bi. The pairs of panels are taken in the rounds of a tournament, in each of which every panel meets one
 * other: the pairs of a round have no output in common, so threads share them, and every output adds up its tiles in
 * the order of the rounds. */

typedef struct pass {
    const clv_affinity *a;
    const double *x;
    const int32_t *labels;
    int64_t k;
    double *y;
    int64_t first, last; /* the panels of outputs that are computed */
} pass;

static bool wants(const pass *p, int64_t b) {
    return b >= p->first && b < p->last;
}

/* y of panel bj += what the objects of panel bi give it. `mirrored`: the tile holds bj's objects as rows. */
static void use_tile(const pass *p, int64_t bi, int64_t bj, const double *tile, bool mirrored) {
    const clv_panels *panels = &home_of(p->a)->panels;
    int64_t n = panels->n, rows = clv_panel_size(panels, bi), cols = clv_panel_size(panels, bj);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, mirrored ? CblasTrans : CblasNoTrans, (int)p->k, (int)cols, (int)rows, 1,
                p->x + bi * CLV_TILE, (int)n, tile, CLV_TILE, 1, p->y + bj * CLV_TILE, (int)n);
}

/* The same for sums by label. */
static void sum_tile(const pass *p, int64_t bi, int64_t bj, const double *tile) {
    const clv_panels *panels = &home_of(p->a)->panels;
    int64_t rows = clv_panel_size(panels, bi), cols = clv_panel_size(panels, bj);
    for (int64_t r = 0; r < rows; r++) {
        int32_t label = p->labels[bi * CLV_TILE + r];
        if (label >= 0) {
            clv_kernels->f64.accumulate(p->y + label * panels->n + bj * CLV_TILE, tile + r * CLV_TILE, cols);
        }
    }
}

static void run_pair(const pass *p, int64_t bi, int64_t bj) {
    _Alignas(64) double tile[CLV_TILE * CLV_TILE], mirror[CLV_TILE * CLV_TILE];
    bool left = bi != bj && wants(p, bi), right = wants(p, bj);
    if (!left && !right) {
        return;
    }
    similarity_tile(p->a, bi, bj, tile);
    if (!p->labels) {
        if (right) {
            use_tile(p, bi, bj, tile, false);
        }
        if (left) {
            use_tile(p, bj, bi, tile, true);
        }
        return;
    }
    if (right) {
        sum_tile(p, bi, bj, tile);
    }
    if (left) {
        clv_kernels->transpose_tile(mirror, tile);
        sum_tile(p, bj, bi, mirror);
    }
}

/* Pair number `m` of round `round` among `players` (even): the last player stays, the others turn around it. */
static void find_pair(int64_t players, int64_t round, int64_t m, int64_t *first, int64_t *second) {
    int64_t turning = players - 1;
    int64_t left = (round + m) % turning, right = (round - m + turning) % turning;
    right = m == 0 ? turning : right;
    *first = left < right ? left : right;
    *second = left < right ? right : left;
}

/* All pairs of a round; round -1 is every panel with itself. */
static void run_round(const pass *p, int64_t round, int threads) {
    int64_t count = home_of(p->a)->panels.count, players = count + count % 2;
    int64_t pairs = round < 0 ? count : players / 2;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t m = 0; m < pairs; m++) {
        int64_t bi = m, bj = m;
        if (round >= 0) {
            find_pair(players, round, m, &bi, &bj);
        }
        if (bj < count) { /* an odd panel sits out */
            run_pair(p, bi, bj);
        }
    }
}

static clv_status run_share(const pass *p, int threads) {
    int64_t count = home_of(p->a)->panels.count, rounds = count + count % 2 - 1;
    bool stopped = false;
    memset(p->y, 0, (size_t)(p->k * p->a->info.n) * sizeof *p->y);
    clv_blas_serial_begin();
    for (int64_t round = -1; round < rounds && !stopped; round++) {
        run_round(p, round, threads);
        stopped = clv_worked(p->a->ctx, clv_panel_work(&home_of(p->a)->panels));
    }
    clv_blas_serial_end();
    return stopped ? clv_stop_failure(p->a->ctx, "multiplying by the affinity") : CLV_OK;
}

/* Ranks share the panels of outputs: a tile between those of two ranks is computed by both. */
static clv_status run_pass(pass *p, int threads) {
    clv_spread spread = clv_spread_begin(p->a, (double)p->a->info.nonzeros);
    p->first = spread.first / CLV_TILE;
    p->last = (spread.last + CLV_TILE - 1) / CLV_TILE;
    return clv_spread_gather(p->a, &spread, run_share(p, threads), p->y, p->k);
}

static clv_status computed_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    return run_pass(&(pass){.a = a, .x = x, .k = k, .y = y}, threads);
}

static clv_status computed_group_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads) {
    return run_pass(&(pass){.a = a, .labels = labels, .k = k, .y = y}, threads);
}

/* --- for products that follow their factor (product.c) --- */

/* A panel of outputs takes the panels of the objects in their order. */
static void add_rows_strip(const clv_affinity *a, const clv_change *change, const void *work, double *y, int64_t at,
                           int64_t width) {
    const clv_panels *panels = &home_of(a)->panels;
    int n = (int)panels->n, count = (int)change->count;
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    (void)work;
    for (int64_t b = at / CLV_TILE; b * CLV_TILE < at + width; b++) {
        for (int64_t r = 0; r < count; r += CLV_TILE) {
            int64_t some = count - r < CLV_TILE ? count - r : CLV_TILE;
            similarity_tile(a, (change->first + r) / CLV_TILE, b, tile);
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)change->k, (int)clv_panel_size(panels, b),
                        (int)some, 1, change->d + r, count, tile, CLV_TILE, 1, y + b * CLV_TILE, n);
        }
    }
}

static clv_status computed_add_rows(const clv_affinity *a, const clv_change *change, double *y, int threads) {
    clv_change_strips(a, change, add_rows_strip, NULL, y, threads);
    return CLV_OK;
}

static clv_status computed_block(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    for (int64_t e = 0; e < count; e += CLV_TILE) {
        for (int64_t f = 0; f < count; f += CLV_TILE) {
            int64_t cols = count - f < CLV_TILE ? count - f : CLV_TILE;
            similarity_tile(a, (first + e) / CLV_TILE, (first + f) / CLV_TILE, tile);
            for (int64_t r = 0; r < CLV_TILE && e + r < count; r++) {
                memcpy(out + (e + r) * count + f, tile + r * CLV_TILE, (size_t)cols * sizeof *out);
            }
        }
    }
    return CLV_OK;
}

/* The shares of panel bi: tiles beside the diagonal count twice. */
static void panel_moments(const clv_affinity *a, int64_t bi, double *sum, double *squares) {
    const clv_panels *panels = &home_of(a)->panels;
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    *sum = *squares = 0;
    for (int64_t bj = bi; bj < panels->count; bj++) {
        int64_t rows = clv_panel_size(panels, bi), cols = clv_panel_size(panels, bj);
        double times = bi == bj ? 1 : 2;
        similarity_tile(a, bi, bj, tile);
        for (int64_t at = 0; at < CLV_TILE * CLV_TILE && (rows < CLV_TILE || cols < CLV_TILE); at++) {
            tile[at] = at / CLV_TILE < rows && at % CLV_TILE < cols ? tile[at] : 0;
        }
        *sum += times * clv_sum(tile, CLV_TILE * CLV_TILE, 1);
        *squares += times * clv_dot(tile, tile, CLV_TILE * CLV_TILE, 1);
    }
}

static clv_status computed_moments(const clv_affinity *a, int threads, double *sum, double *squares) {
    int64_t count = home_of(a)->panels.count;
    double *shares = CLV_NEW0(a->ctx, double, 4 * count), *work = shares + 2 * count;
    int stopped = 0;
    if (!shares) {
        return CLV_ENOMEM;
    }
    int64_t first, last;
    clv_share(a->ctx, count, &first, &last);
    clv_own_clock_begin(a->ctx);
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic)
    for (int64_t b = first; b < last; b++) {
        int stop;
#pragma omp atomic read
        stop = stopped;
        if (!stop) {
            panel_moments(a, b, shares + 2 * b, shares + 2 * b + 1);
        }
        if (!stop && clv_worked(a->ctx, clv_panel_work(&home_of(a)->panels))) {
#pragma omp atomic write
            stopped = 1;
        }
    }
    clv_status status = stopped ? clv_stop_failure(a->ctx, "adding up the similarities") : CLV_OK;
    clv_own_clock_end(a->ctx);
    status = clv_gather_items(a->ctx, status, shares, 2 * sizeof *shares, count, 1);
    for (int64_t b = 0; b < count; b++) { /* pairs: sums first, as clv_sum adds up what lies side by side */
        work[b] = shares[2 * b];
        work[count + b] = shares[2 * b + 1];
    }
    *sum = clv_sum(work, count, 1);
    *squares = clv_sum(work + count, count, 1);
    clv_free(a->ctx, shares);
    return status;
}

/* --- weighted sums of columns, and single columns of many objects ---
 *
 * The points of the chosen objects are copied side by side, CLV_TILE at a time, and meet every panel in a tile; what is
 * left over, fewer than a tile, goes line by line. Threads share the panels of rows: a sum is formed by one thread, in
 * the order of the objects. */

enum { ENTRIES_A_POLL = 1 << 16, LINES = 4, WORTH_THREADS = 1 << 15 };

/* What is done for panel b of the rows: `out` gets the values of its objects. */
typedef struct panel_work {
    const clv_affinity *a;
    const clv_terms *terms;
    clv_panels chosen; /* the points of the first chosen.count * CLV_TILE objects */
    int64_t column;    /* without terms: the column that is wanted */
} panel_work;

static void add_tiles(const panel_work *work, int64_t b, double *sums) {
    const computed *home = home_of(work->a);
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    for (int64_t c = 0; c < work->chosen.count; c++) {
        const int64_t *objects = work->terms->objects + c * CLV_TILE;
        const double *weights = work->terms->weights + c * CLV_TILE;
        clv_distance_cross_tile(&work->chosen, c, &home->panels, b, tile);
        for (int64_t r = 0; r < CLV_TILE && home->scales.inverse; r++) {
            clv_kernels->scale_pairs(tile + r * CLV_TILE, CLV_TILE, home->scales.inverse[objects[r]],
                                     home->scales.inverse + b * CLV_TILE);
        }
        clv_to_similarity(work->a->info.kind, home->gamma, home->top, tile, CLV_TILE * CLV_TILE);
        for (int64_t r = 0; r < CLV_TILE && work->a->zero_diagonal; r++) {
            if (objects[r] / CLV_TILE == b) {
                tile[r * CLV_TILE + objects[r] % CLV_TILE] = 0;
            }
        }
        for (int64_t r = 0; r < CLV_TILE; r += LINES) {
            const double *rows[LINES] = {tile + r * CLV_TILE, tile + (r + 1) * CLV_TILE, tile + (r + 2) * CLV_TILE,
                                         tile + (r + 3) * CLV_TILE};
            clv_kernels->f64.add_weighted_four(sums, weights + r, rows, CLV_TILE);
        }
    }
}

static void add_lines(const panel_work *work, int64_t b, double *sums) {
    _Alignas(64) double line[CLV_TILE];
    for (int64_t m = work->chosen.n; m < work->terms->count; m++) {
        similarity_line(work->a, work->terms->objects[m], b, line);
        clv_kernels->f64.add_weighted(sums, work->terms->weights[m], line, CLV_TILE);
    }
}

static void fill_panel(const panel_work *work, int64_t b, double *out) {
    _Alignas(64) double values[CLV_TILE] = {0};
    if (work->terms) {
        add_tiles(work, b, values);
        add_lines(work, b, values);
    } else {
        similarity_line(work->a, work->column, b, values);
    }
    memcpy(out + b * CLV_TILE, values, (size_t)clv_panel_size(&home_of(work->a)->panels, b) * sizeof *values);
}

/* The panels begin .. count - 1, in strips of at most about ENTRIES_A_POLL entries, of which every thread has some. */
static clv_status run_panels(const panel_work *work, int64_t begin, int64_t count, double *out, int threads) {
    enum { STRIPS = 4 };
    clv_context *ctx = work->a->ctx;
    int64_t terms = work->terms ? work->terms->count + 1 : 1;
    int64_t strip = 1 + ENTRIES_A_POLL / CLV_TILE / terms, fair = 1 + (count - begin) / (STRIPS * (int64_t)threads);
    strip = strip < fair ? strip : fair;
    int stopped = 0;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic)
    for (int64_t first = begin; first < count; first += strip) {
        int stop;
#pragma omp atomic read
        stop = stopped;
        for (int64_t b = first; b < count && b < first + strip && !stop; b++) {
            fill_panel(work, b, out);
        }
        if (!stop && clv_worked(ctx, strip * CLV_TILE * terms * home_of(work->a)->panels.features)) {
#pragma omp atomic write
            stopped = 1;
        }
    }
    return stopped ? clv_stop_failure(ctx, "adding columns of the affinity") : CLV_OK;
}

static clv_status computed_combine(const clv_affinity *a, const clv_terms *terms, double *y, int threads) {
    panel_work work = {.a = a, .terms = terms};
    int64_t full = terms->count / CLV_TILE * CLV_TILE;
    if (full > 0) {
        CLV_TRY(clv_panels_gather(&home_of(a)->panels, terms->objects, full, threads, &work.chosen));
    }
    clv_spread spread = clv_spread_begin(a, (double)terms->count * (double)a->info.n);
    clv_status status = run_panels(&work, spread.first / CLV_TILE, (spread.last + CLV_TILE - 1) / CLV_TILE, y, threads);
    clv_panels_free(&work.chosen);
    return clv_spread_gather(a, &spread, status, y, 1);
}

static clv_status computed_column_threads(const clv_affinity *a, int64_t i, double *out, int threads) {
    panel_work work = {.a = a, .column = i};
    return threads > 1 ? run_panels(&work, 0, home_of(a)->panels.count, out, threads) : computed_column(a, i, out);
}

/* --- rows: the tiles on and above the diagonal, and their mirror images --- */

/* What the sheet has of a tile and of its mirror image. */
static void write_tile(const clv_sheet *s, int64_t bi, int64_t bj, const double *tile, int64_t rows, int64_t cols) {
    double line[CLV_TILE];
    for (int64_t r = 0; r < rows; r++) {
        clv_sheet_line(s, bi * CLV_TILE + r, bj * CLV_TILE, tile + r * CLV_TILE, cols);
    }
    for (int64_t c = 0; c < cols && bi != bj && (bj + 1) * CLV_TILE > s->first && bj * CLV_TILE < s->first + s->count;
         c++) {
        for (int64_t r = 0; r < rows; r++) {
            line[r] = tile[r * CLV_TILE + c];
        }
        clv_sheet_line(s, bj * CLV_TILE + c, bi * CLV_TILE, line, rows);
    }
}

static clv_status computed_fill(const clv_affinity *a, const clv_sheet *s, int threads) {
    const clv_panels *panels = &home_of(a)->panels;
    int64_t begin = s->first / CLV_TILE, end = (s->first + s->count + CLV_TILE - 1) / CLV_TILE;
    int stopped = 0;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic)
    for (int64_t b = begin; b < end; b++) {
        _Alignas(64) double tile[CLV_TILE * CLV_TILE];
        int stop;
#pragma omp atomic read
        stop = stopped;
        for (int64_t other = 0; other < panels->count && !stop; other++) {
            int64_t bi = b < other ? b : other, bj = b < other ? other : b;
            if (other >= begin && other < b) { /* came with the other one */
                continue;
            }
            similarity_tile(a, bi, bj, tile);
            write_tile(s, bi, bj, tile, clv_panel_size(panels, bi), clv_panel_size(panels, bj));
            stop = clv_worked(a->ctx, clv_tile_work(panels)); /* the first tiles pay for fresh memory */
        }
        if (stop) {
#pragma omp atomic write
            stopped = 1;
        }
    }
    return stopped ? clv_stop_failure(a->ctx, "building the affinity") : CLV_OK;
}

/* --- what else it can do --- */

static clv_status computed_subset(const clv_affinity *a, const int64_t *objects, int64_t m, clv_affinity **out) {
    const computed *from = home_of(a);
    CLV_TRY(clv_affinity_like(a, m, out));
    computed *to = (*out)->state;
    to->gamma = from->gamma;
    to->top = from->top;
    to->scales.inverse = from->scales.inverse ? CLV_NEW0(a->ctx, double, m + CLV_TILE) : NULL;
    if (from->scales.inverse && !to->scales.inverse) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; to->scales.inverse && i < m; i++) {
        to->scales.inverse[i] = from->scales.inverse[objects[i]];
    }
    return clv_panels_gather(&from->panels, objects, m, m < WORTH_THREADS ? 1 : a->threads, &to->panels);
}

static clv_status computed_largest(const clv_affinity *a, double *out) {
    *out = a->info.kind == CLV_AFFINITY_DISTANCE ? home_of(a)->top : 1;
    return CLV_OK;
}

static clv_status computed_radial(const clv_affinity *a, clv_radial *out) {
    const computed *home = home_of(a);
    if (home->scales.inverse) {
        return CLV_EUSAGE; /* what is far away may have a large scale */
    }
    *out = (clv_radial){&home->panels, a->info.kind, home->gamma, home->top};
    return CLV_OK;
}

static clv_affinity_cost cost_of(int64_t n, int64_t features) {
    double entry = 2 * (double)features + 25, size = (double)n;
    return (clv_affinity_cost){.entry = entry, .column = size * entry, .pass = size * (size * entry)};
}

static clv_status computed_cost(const clv_affinity *a, clv_affinity_cost *out) {
    *out = cost_of(a->info.n, home_of(a)->panels.features);
    return CLV_OK;
}

static void computed_destroy(clv_affinity *a) {
    computed *home = a->state;
    clv_panels_free(&home->panels);
    clv_scales_free(a->ctx, &home->scales);
}

static const clv_home_functions functions = {
    .name = "computed",
    .state_size = sizeof(computed),
    .column = computed_column,
    .destroy = computed_destroy,
    .column_threads = computed_column_threads,
    .entry = computed_entry,
    .apply = computed_apply,
    .group_sums = computed_group_sums,
    .move = computed_move,
    .move_many = computed_move_many,
    .move_own = computed_move_own,
    .combine = computed_combine,
    .moments = computed_moments,
    .block = computed_block,
    .add_rows = computed_add_rows,
    .fill = computed_fill,
    .subset = computed_subset,
    .largest = computed_largest,
    .cost = computed_cost,
    .radial = computed_radial,
};

/* --- making one --- */

static bool suits(const clv_matrix *points, const clv_affinity_options *options) {
    (void)points;
    bool by_distance = options->kind == CLV_AFFINITY_GAUSSIAN || options->kind == CLV_AFFINITY_EXPONENTIAL ||
                       options->kind == CLV_AFFINITY_DISTANCE || options->kind == CLV_AFFINITY_LOCAL;
    return by_distance && options->landmarks == 0;
}

static void plan(const clv_matrix *points, const clv_affinity_options *options, clv_affinity_info *out) {
    out->nonzeros = points->rows * points->rows;
    out->bytes = out->peak = (size_t)clv_panels_bytes(points->rows, points->cols);
    if (options->kind == CLV_AFFINITY_LOCAL) {
        out->bytes += (size_t)points->rows * sizeof(double);
        out->peak = (size_t)clv_scales_peak(points->rows, points->cols, options);
    }
    out->cost = cost_of(points->rows, points->cols);
}

static clv_status make(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options, int threads,
                       clv_affinity **out) {
    CLV_TRY(clv_affinity_new(ctx, &functions, points->rows, options, out));
    computed *home = (*out)->state;
    (*out)->info.kind = options->kind;
    CLV_TRY(clv_panels_new(ctx, points, threads, &home->panels));
    if (options->kind == CLV_AFFINITY_DISTANCE) {
        return clv_largest_distance(ctx, &home->panels, threads, &home->top);
    }
    if (options->kind == CLV_AFFINITY_LOCAL) {
        CLV_TRY(clv_scales_new(ctx, &home->panels, options, threads, &home->scales));
        (*out)->info.recall = home->scales.recall;
    }
    home->gamma = options->gamma;
    if (isnan(options->gamma)) {
        CLV_TRY(clv_gamma_auto(ctx, &home->panels, options->kind, &home->gamma));
    }
    (*out)->info.gamma = home->gamma;
    return CLV_OK;
}

const clv_home_maker clv_computed_maker = {CLV_HOME_COMPUTED, true, suits, plan, make};
