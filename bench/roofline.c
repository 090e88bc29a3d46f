/* The hot kernels beside what the machine can do: bytes a second against a streaming read, operations a second against
 * a matrix product, all on one thread and in one run.
 *
 *   roofline [ROUNDS]    default 7
 *
 * Prints lines of fields between tabs: kernel, type, set, rate, limit. The rate is in units of 1e9 a second; the limit
 * is read, dgemm or sgemm, and each of these is a line itself, with the set "machine", at the beginning and at the end.
 * A rate is the median of ROUNDS times, each of TIME_LEAST seconds or more; the sets of a kernel are timed in turn.
 * Rows that a method streams come from STREAM bytes, which no cache holds; tiles and panels are in the caches, as in
 * the methods. */
#include "kernels/kernels.h"
#include "stream.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_LEAST 0.02
enum {
    STREAM = 1024000000, /* rows of whose lengths begin at all places of a page */
    LONG = 8000,         /* entries of a row of an affinity */
    SHORT = 500,         /* samples: entries of a row of X */
    RUN = 256,           /* rows of X at a time, as ksupport takes them */
    CENTERS = 100,       /* of k-means; CLV_LINE pads them */
    WIDTH = 112,
    MOST_FEATURES = 256,
    ENTRIES = 4096, /* of a tile of similarities */
    CHANGED = 16,   /* memberships of a cluster, of those of CLV_TILE objects */
    STRIP = 256,    /* their similarities at a time */
    ORDER = 768,    /* of the matrix product */
    EXP_FLOPS = 30, /* of an exponential, as similarities.h counts */
    MOST_ROUNDS = 99
};

/* All that kernels read and write: numbers from 1/2 to 1, as floats and as doubles. */
static struct {
    void *stream;
    double y[LONG], out[STREAM / SHORT / sizeof(float)], square[STREAM / SHORT / sizeof(float)];
    int64_t rows[CLV_TILE_ROWS];
    int32_t at[CLV_TILE_ROWS];
    clv_nearest nearest[CLV_TILE_ROWS];
    clv_projection projected[CLV_TILE_ROWS];
    double sums[CENTERS * MOST_FEATURES];
    int32_t first[CENTERS + 1], index[CENTERS * CHANGED];
    double *panel, *other, *tile; /* CLV_TILE x MOST_FEATURES, twice; CLV_TILE x CLV_TILE */
    float *points32, *lines32, *weights32, *keys32, *work32, *sparse;
    double *points64, *lines64, *weights64, *keys64, *work64;
} arena;
static volatile double sink; /* so that no sum is left out */

/* --- kernels: one call each, of `p` features where that matters --- */

typedef void one_call(const clv_kernel_set *set, int64_t p);
#define UNUSED __attribute__((unused))
#define CALL(name) static void call_##name(UNUSED const clv_kernel_set *set, UNUSED int64_t p)

CALL(gaussian) {
    set->gaussian(arena.tile, ENTRIES, 0.5);
}

CALL(exponential) {
    set->exponential(arena.tile, ENTRIES, 0.5);
}

CALL(distance_tile) {
    set->distance_tile(arena.panel, arena.other, p, arena.tile);
}

CALL(distance_line) {
    for (int64_t i = 0; i < CLV_TILE; i++) {
        set->distance_line(arena.panel + i, arena.other, p, arena.tile + i * CLV_TILE);
    }
}

CALL(sum) {
    sink = set->sum(arena.stream, STREAM / sizeof(double));
}

CALL(dot) {
    const double *x = arena.stream;
    sink = set->dot(x, x + STREAM / 2 / sizeof *x, STREAM / 2 / sizeof *x);
}

CALL(steepest) { /* rows of memberships, as many as lie in the caches */
    clv_steepest out;
    for (int64_t r = 0; r < CLV_TILE_ROWS; r++) {
        set->steepest(arena.weights64 + r * WIDTH, arena.keys64 + r * WIDTH, WIDTH, &out);
    }
    sink = out.gap;
}

CALL(row_distances) { /* of a point to its candidates */
    set->row_distances(arena.points64, arena.points64, p, arena.at, CLV_TILE_ROWS, arena.sums);
}

CALL(add_sparse_rows) { /* rows from the stream: as many as lie in the caches */
    set->add_sparse_rows(arena.first, arena.index, arena.weights32, CENTERS, arena.stream, STRIP + 16, STRIP,
                         arena.sparse);
}

/* What there is for floats and for doubles. */
#define REAL_CALLS(real, f, bits)                                                                                      \
    CALL(accumulate##bits) {                                                                                           \
        const real *x = arena.stream, *end = x + STREAM / sizeof *x;                                                   \
        for (; x < end; x += LONG) {                                                                                   \
            set->f.accumulate(arena.y, x, LONG);                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    CALL(accumulate_four##bits) {                                                                                      \
        const real *x = arena.stream, *end = x + STREAM / sizeof *x;                                                   \
        for (; x < end; x += 4 * LONG) {                                                                               \
            set->f.accumulate_four(arena.y, x, x + LONG, x + 2 * LONG, x + 3 * LONG, LONG);                            \
        }                                                                                                              \
    }                                                                                                                  \
    CALL(add_four##bits) {                                                                                             \
        const real *x = arena.stream, *end = x + STREAM / sizeof *x;                                                   \
        for (; x < end; x += 4 * LONG) {                                                                               \
            set->f.add_four(arena.y, (const real *[]){x, x + LONG, x + 2 * LONG, x + 3 * LONG},                        \
                            (double[]){0.1, -0.2, 0.3, -0.2}, LONG);                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    CALL(add_weighted_four##bits) {                                                                                    \
        const real *x = arena.stream, *end = x + STREAM / sizeof *x;                                                   \
        for (; x < end; x += 4 * LONG) {                                                                               \
            set->f.add_weighted_four(arena.y, (double[]){0.1, -0.2, 0.3, -0.2},                                        \
                                     (const real *[]){x, x + LONG, x + 2 * LONG, x + 3 * LONG}, LONG);                 \
        }                                                                                                              \
    }                                                                                                                  \
    CALL(pass_one##bits) {                                                                                             \
        const real *x = arena.stream, *end = x + STREAM / sizeof *x;                                                   \
        for (double w = 0.1; x < end; x += LONG, w = -w) {                                                             \
            sink = (double)set->f.pass_one(arena.y, x, w, LONG);                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    CALL(pass_two##bits) {                                                                                             \
        const real *x = arena.stream, *end = x + STREAM / sizeof *x;                                                   \
        for (; x < end; x += 2 * LONG) {                                                                               \
            sink = (double)set->f.pass_two(arena.y, x, 0.1, x + LONG, -0.1, LONG);                                     \
        }                                                                                                              \
    }                                                                                                                  \
    CALL(dot_rows##bits) {                                                                                             \
        for (int64_t row = 0; row < (int64_t)(STREAM / SHORT / sizeof(real)); row += RUN) {                            \
            set->f.dot_rows(arena.stream, NULL, row, RUN, SHORT, arena.y, arena.out + row);                            \
        }                                                                                                              \
    }                                                                                                                  \
    CALL(dot_square_rows##bits) {                                                                                      \
        for (int64_t row = 0; row < (int64_t)(STREAM / SHORT / sizeof(real)); row += RUN) {                            \
            set->f.dot_square_rows(arena.stream, NULL, row, RUN, SHORT, arena.y, arena.out + row, arena.square + row); \
        }                                                                                                              \
    }                                                                                                                  \
    CALL(keys##bits) {                                                                                                 \
        set->f.keys(arena.points##bits, p, arena.rows, CLV_TILE_ROWS, arena.lines##bits, arena.lines##bits, WIDTH,     \
                    arena.keys##bits);                                                                                 \
    }                                                                                                                  \
    CALL(nearest##bits) {                                                                                              \
        set->f.nearest(arena.points##bits, p, arena.rows, CLV_TILE_ROWS, arena.lines##bits, arena.lines##bits, WIDTH,  \
                       CENTERS, arena.nearest);                                                                        \
    }                                                                                                                  \
    CALL(scan##bits) {                                                                                                 \
        set->f.scan(arena.weights##bits, CLV_TILE_ROWS, WIDTH, arena.nearest);                                         \
    }                                                                                                                  \
    CALL(project##bits) { /* from the same weights each time */                                                        \
        memcpy(arena.keys##bits, arena.weights##bits, CLV_TILE_ROWS *WIDTH * sizeof *arena.keys##bits);                \
        set->f.project(arena.lines##bits, arena.keys##bits, arena.work##bits, CLV_TILE_ROWS, WIDTH, WIDTH, 1, false,   \
                       arena.projected);                                                                               \
    }                                                                                                                  \
    CALL(project_few##bits) { /* of four places each */                                                                \
        static const int32_t index[] = {3, 22, 47, 61};                                                                \
        clv_short_list list[CLV_TILE_ROWS];                                                                            \
        double alpha[CLV_TILE_ROWS];                                                                                   \
        for (int64_t r = 0; r < CLV_TILE_ROWS; r++) {                                                                  \
            list[r] = (clv_short_list){index, arena.lines##bits + r, 4};                                               \
            alpha[r] = 1;                                                                                              \
        }                                                                                                              \
        int32_t index_out[CLV_TILE_ROWS * CLV_FEW];                                                                    \
        set->f.project_few(arena.weights##bits, WIDTH, list, CLV_TILE_ROWS, alpha, index_out, arena.work##bits,        \
                           arena.projected);                                                                           \
    }                                                                                                                  \
    CALL(spread##bits) {                                                                                               \
        int64_t line = CLV_LINE / sizeof(real), pitch = (p + line - 1) / line * line;                                  \
        set->f.spread(arena.weights##bits, WIDTH, arena.points##bits, pitch, CLV_TILE_ROWS, CENTERS, p, arena.sums,    \
                      p);                                                                                              \
    }
REAL_CALLS(float, f32, 32)
REAL_CALLS(double, f64, 64)

CALL(read) { /* not a kernel of ours */
    sink = stream_sum(arena.stream, STREAM / sizeof(float));
}

CALL(dgemm) {
    double *a = arena.stream, *c = a + 2 * ORDER * ORDER;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, ORDER, ORDER, ORDER, 1, a, ORDER, a + ORDER * ORDER, ORDER,
                0, c, ORDER);
}

CALL(sgemm) {
    float *a = arena.stream, *c = a + 2 * ORDER * ORDER;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, ORDER, ORDER, ORDER, 1, a, ORDER, a + ORDER * ORDER, ORDER,
                0, c, ORDER);
}

/* --- the list --- */

typedef struct kernel {
    const char *name, *type;
    one_call *call;
    double amount; /* bytes or operations of a call, by the limit */
    const char *limit;
    int64_t features;
} kernel;

#define TILE_PAIRS ((double)CLV_TILE * CLV_TILE)
#define TILE_KEYS ((double)CLV_TILE_ROWS * WIDTH)
#define PER_FEATURES(name, type, call, each, limit)                                                                    \
    {name, type, call, 4 * (each), limit, 4}, {name, type, call, 16 * (each), limit, 16},                              \
        {name, type, call, 64 * (each), limit, 64}, {                                                                  \
        name, type, call, 256 * (each), limit, 256                                                                     \
    }
#define REAL_KERNELS(type, bits, gemm)                                                                                 \
    {"accumulate", type, call_accumulate##bits, STREAM, "read", 0},                                                    \
        {"accumulate_four", type, call_accumulate_four##bits, STREAM, "read", 0},                                      \
        {"add_weighted_four", type, call_add_weighted_four##bits, STREAM, "read", 0},                                  \
        {"add_four", type, call_add_four##bits, STREAM, "read", 0},                                                    \
        {"pass_one", type, call_pass_one##bits, STREAM, "read", 0},                                                    \
        {"pass_two", type, call_pass_two##bits, STREAM, "read", 0},                                                    \
        {"dot_rows", type, call_dot_rows##bits, STREAM, "read", 0},                                                    \
        {"dot_square_rows", type, call_dot_square_rows##bits, STREAM, "read", 0},                                      \
        {"scan", type, call_scan##bits, TILE_KEYS * bits / 8, "read", 0},                                              \
        {"project", type, call_project##bits, 3 * TILE_KEYS * bits / 8, "read", 0},                                    \
        {"project_few", type, call_project_few##bits, TILE_KEYS * bits / 8, "read", 0},                                \
        PER_FEATURES("keys", type, call_keys##bits, 2 * TILE_KEYS, gemm),                                              \
        {"nearest", type, call_nearest##bits, 16 * 2 * TILE_KEYS, gemm, 16},                                           \
        {"nearest", type, call_nearest##bits, 64 * 2 * TILE_KEYS, gemm, 64},                                           \
        PER_FEATURES("spread", type, call_spread##bits, 2.0 * CLV_TILE_ROWS * CENTERS, gemm)

static const kernel kernels[] = {
    {"gaussian", "double", call_gaussian, (double)ENTRIES *EXP_FLOPS, "dgemm", 0},
    {"exponential", "double", call_exponential, (double)ENTRIES *(EXP_FLOPS + 1), "dgemm", 0},
    PER_FEATURES("distance_tile", "double", call_distance_tile, 3 * TILE_PAIRS, "dgemm"),
    {"distance_line", "double", call_distance_line, 16 * 3 * TILE_PAIRS, "dgemm", 16},
    {"sum", "double", call_sum, STREAM, "read", 0},
    {"dot", "double", call_dot, STREAM, "read", 0},
    {"row_distances", "double", call_row_distances, 16 * 3.0 * CLV_TILE_ROWS, "dgemm", 16},
    {"steepest", "double", call_steepest, 2 * 8.0 * CLV_TILE_ROWS *WIDTH, "read", 0},
    {"add_sparse_rows", "float", call_add_sparse_rows, 2.0 * CENTERS *CHANGED *STRIP, "sgemm", 0},
    REAL_KERNELS("float", 32, "sgemm"),
    REAL_KERNELS("double", 64, "dgemm"),
};
static const kernel machine[] = {
    {"read", "float", call_read, STREAM, "read", 0},
    {"dgemm", "double", call_dgemm, 2.0 * ORDER *ORDER *ORDER, "dgemm", 0},
    {"sgemm", "float", call_sgemm, 2.0 * ORDER *ORDER *ORDER, "sgemm", 0},
};

/* --- timing --- */

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Units of 1e9 a second, over as many calls as the time takes. */
static double rate_of(const kernel *one, const clv_kernel_set *set) {
    int64_t calls = 0, more = 1;
    double began = clv_seconds(), passed = 0;
    while (passed < TIME_LEAST) {
        for (int64_t c = 0; c < more; c++) {
            one->call(set, one->features);
        }
        calls += more;
        more = calls;
        passed = clv_seconds() - began;
    }
    return (double)calls * one->amount / passed * 1e-9;
}

static void time_kernel(const kernel *one, const clv_kernel_set *const *sets, int count, const char *as, int rounds) {
    double rates[CLV_KERNEL_SETS][MOST_ROUNDS];
    for (int round = -1; round < rounds; round++) { /* the first warms up */
        for (int s = 0; s < count; s++) {
            rates[s][round < 0 ? 0 : round] = rate_of(one, sets[s]);
        }
    }
    for (int s = 0; s < count; s++) {
        qsort(rates[s], (size_t)rounds, sizeof rates[s][0], by_size);
        printf(one->features ? "%s, p = %d\t" : "%s\t", one->name, (int)one->features);
        printf("%s\t%s\t%.4g\t%s\n", one->type, as ? as : sets[s]->name, rates[s][rounds / 2], one->limit);
    }
    fflush(stdout);
}

static void time_machine(const clv_kernel_set *const *sets, int rounds) {
    for (size_t m = 0; m < sizeof machine / sizeof *machine; m++) {
        time_kernel(&machine[m], sets, 1, "machine", rounds);
    }
}

/* --- data --- */

static void *room(size_t bytes) {
    void *out = aligned_alloc(CLV_LINE, bytes);
    if (!out) {
        fprintf(stderr, "roofline: out of memory\n");
        exit(71);
    }
    return out;
}

#define DRAWN(real)                                                                                                    \
    static real *real##s_of(int64_t n, clv_rng *rng) {                                                                 \
        real *out = room((size_t)n * sizeof *out);                                                                     \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            out[i] = (real)(0.5 + 0.5 * clv_rng_uniform(rng));                                                         \
        }                                                                                                              \
        return out;                                                                                                    \
    }
DRAWN(float)
DRAWN(double)

static void fill_arena(void) {
    clv_rng rng = clv_rng_stream(1, 0);
    arena.panel = doubles_of(CLV_TILE * MOST_FEATURES, &rng);
    arena.other = doubles_of(CLV_TILE * MOST_FEATURES, &rng);
    arena.tile = doubles_of(CLV_TILE * CLV_TILE, &rng);
    arena.points32 = floats_of(CLV_TILE_ROWS * MOST_FEATURES, &rng);
    arena.points64 = doubles_of(CLV_TILE_ROWS * MOST_FEATURES, &rng);
    arena.lines32 = floats_of(WIDTH * MOST_FEATURES, &rng);
    arena.lines64 = doubles_of(WIDTH * MOST_FEATURES, &rng);
    arena.weights32 = floats_of(CLV_TILE_ROWS * WIDTH, &rng);
    arena.weights64 = doubles_of(CLV_TILE_ROWS * WIDTH, &rng);
    arena.keys32 = floats_of(CLV_TILE_ROWS * WIDTH, &rng);
    arena.keys64 = doubles_of(CLV_TILE_ROWS * WIDTH, &rng);
    arena.work32 = floats_of(CLV_PROJECTED_AT_ONCE * WIDTH, &rng);
    arena.work64 = doubles_of(CLV_PROJECTED_AT_ONCE * WIDTH, &rng);
    for (int64_t r = 0; r < CLV_TILE_ROWS; r++) {
        arena.rows[r] = r;
        arena.at[r] = (int32_t)r;
    }
    arena.sparse = floats_of(CENTERS * STRIP, &rng);
    for (int32_t e = 0; e < CENTERS * CHANGED; e++) {
        arena.first[e / CHANGED + 1] = e + 1;
        arena.index[e] = e * (CLV_TILE / CHANGED) % CLV_TILE;
    }
    arena.stream = room(STREAM);
    memset(arena.stream, 0x3f, STREAM); /* 0.747 as a float, 4.8e-4 as a double */
}

int main(int argc, char **argv) {
    const clv_kernel_set *sets[CLV_KERNEL_SETS];
    int count = clv_kernel_sets(sets), rounds = argc > 1 ? atoi(argv[1]) : 7;
    if (rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "usage: roofline [ROUNDS]\n");
        return 64;
    }
    openblas_set_num_threads(1);
    fill_arena();
    time_machine(sets, rounds);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        time_kernel(&kernels[i], sets, count, NULL, rounds);
    }
    time_machine(sets, rounds);
    return 0; /* the system takes the memory back */
}
