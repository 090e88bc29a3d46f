/* Weighted sums of a few columns, y = sum over j of w_j A e_{o_j}, and single columns of large operators.
 *
 * On the computed home the points of the chosen objects are copied side by side, CLV_TILE at a time, and meet every
 * panel in a tile; what is left over, fewer than a tile, goes line by line. An entry costs 2 p operations, its kernel
 * (some 25 operations for an exponential) and one multiply-add. Threads share the panels of rows: a sum is formed by
 * one thread, in the order of the objects. */
#include "affinity/affinity.h"

#include "linalg/kernels.h"

#include <string.h>

enum {
    ENTRIES_WORTH_THREADS = 1 << 18, /* below this, waking the others up costs more than they save */
    COMPUTED_WORTH_THREADS = 1 << 15,
    ENTRIES_A_POLL = 1 << 16,
    LINES = 4
};

static bool is_computed(const clv_affinity *a) {
    return a->home == &clv_computed_functions;
}

/* How many numbers are looked at for the sum of so many columns. */
static int64_t entries_of(const clv_affinity *a, int64_t count) {
    int64_t n = a->info.n, entries;
    if (a->home == &clv_lowrank_functions) {
        return n * ((const clv_lowrank_home *)a->state)->rank;
    }
    return clv_mul(n > 0 ? a->info.nonzeros / n : 0, count, &entries) ? entries : INT64_MAX;
}

clv_status clv_affinity_combine(const clv_affinity *a, const int64_t *objects, const double *weights, int64_t count,
                                double *y, int64_t threads) {
    int64_t worth = is_computed(a) ? COMPUTED_WORTH_THREADS : ENTRIES_WORTH_THREADS;
    clv_terms terms = {objects, weights, count};
    return a->home->combine(a, &terms, y, entries_of(a, count) < worth ? 1 : clv_threads(threads));
}

static const clv_computed_home *home_of(const clv_affinity *a) {
    return a->state;
}

/* What is done for panel b of the rows: `out` gets the values of its objects. */
typedef struct panel_work {
    const clv_affinity *a;
    const clv_terms *terms;
    clv_panels chosen; /* the points of the first chosen.count * CLV_TILE objects */
    int64_t column;    /* without terms: the column that is wanted */
} panel_work;

static void add_tiles(const panel_work *work, int64_t b, double *sums) {
    const clv_computed_home *home = home_of(work->a);
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    for (int64_t c = 0; c < work->chosen.count; c++) {
        const int64_t *objects = work->terms->objects + c * CLV_TILE;
        const double *weights = work->terms->weights + c * CLV_TILE;
        clv_distance_cross_tile(&work->chosen, c, &home->panels, b, tile);
        clv_to_similarity(work->a->info.kind, home->gamma, home->top, tile, CLV_TILE * CLV_TILE);
        for (int64_t r = 0; r < CLV_TILE && work->a->zero_diagonal; r++) {
            if (objects[r] / CLV_TILE == b) {
                tile[r * CLV_TILE + objects[r] % CLV_TILE] = 0;
            }
        }
        for (int64_t r = 0; r < CLV_TILE; r += LINES) {
            const double *rows[LINES] = {tile + r * CLV_TILE, tile + (r + 1) * CLV_TILE, tile + (r + 2) * CLV_TILE,
                                         tile + (r + 3) * CLV_TILE};
            clv_add_weighted_four(sums, weights + r, rows, CLV_TILE);
        }
    }
}

static void add_lines(const panel_work *work, int64_t b, double *sums) {
    _Alignas(64) double line[CLV_TILE];
    for (int64_t m = work->chosen.n; m < work->terms->count; m++) {
        clv_similarity_line(work->a, work->terms->objects[m], b, line);
        clv_add_weighted(sums, work->terms->weights[m], line, CLV_TILE);
    }
}

static void fill_panel(const panel_work *work, int64_t b, double *out) {
    _Alignas(64) double values[CLV_TILE] = {0};
    if (work->terms) {
        add_tiles(work, b, values);
        add_lines(work, b, values);
    } else {
        clv_similarity_line(work->a, work->column, b, values);
    }
    memcpy(out + b * CLV_TILE, values, (size_t)clv_panel_size(&home_of(work->a)->panels, b) * sizeof *values);
}

/* All panels, in strips of about ENTRIES_A_POLL entries. */
static clv_status run_panels(const panel_work *work, double *out, int threads) {
    clv_context *ctx = work->a->ctx;
    int64_t terms = work->terms ? work->terms->count + 1 : 1, count = home_of(work->a)->panels.count;
    int64_t strip = 1 + ENTRIES_A_POLL / CLV_TILE / terms;
    int stopped = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t first = 0; first < count; first += strip) {
        int stop;
#pragma omp atomic read
        stop = stopped;
        for (int64_t b = first; b < count && b < first + strip && !stop; b++) {
            fill_panel(work, b, out);
        }
        if (!stop && clv_interrupted(ctx)) {
#pragma omp atomic write
            stopped = 1;
        }
    }
    return stopped ? clv_fail(ctx, CLV_EINTERRUPTED, "interrupted") : CLV_OK;
}

clv_status clv_computed_combine(const clv_affinity *a, const clv_terms *terms, double *y, int threads) {
    panel_work work = {.a = a, .terms = terms};
    int64_t full = terms->count / CLV_TILE * CLV_TILE;
    if (full > 0) {
        CLV_TRY(clv_panels_gather(&home_of(a)->panels, terms->objects, full, threads, &work.chosen));
    }
    clv_status status = run_panels(&work, y, threads);
    clv_panels_free(&work.chosen);
    return status;
}

clv_status clv_affinity_column_threads(const clv_affinity *a, int64_t i, double *out, int64_t threads) {
    int team = a->info.n < COMPUTED_WORTH_THREADS ? 1 : clv_threads(threads);
    if (!is_computed(a) || team == 1) {
        return clv_affinity_column(a, i, out);
    }
    return run_panels(&(panel_work){.a = a, .column = i}, out, team);
}
