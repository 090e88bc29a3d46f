/* Vectors of which ranks have their own entries alone: products of a graph, and eigenpairs, against those of one rank,
 * bit for bit; and what is exchanged for them, to the byte, as docs/mpi.md has it. */
#include "ranks_support.h"

#include "affinity/affinity.h"
#include "linalg/krylov.h"

#include <math.h>

enum { N = 9000, DEGREE = 9, K = 2, COUNT = 3, BLOCK = 2, BASIS = 10, NOTE = 112, ROOM = 64 };

/* --- products --- */

typedef struct graph {
    int64_t start[N + 1];
    int32_t index[N * DEGREE];
    double values[N * DEGREE];
} graph;

/* A ring, each object with itself and its neighbors at these distances, on both sides. */
static void make_graph(graph *g, bool near) {
    static const int64_t close[] = {1, 2, 5, 9, 0}, far[] = {1, 700, 2100, 4000, 0};
    for (int64_t i = 0; i < N; i++) {
        int32_t *row = g->index + i * DEGREE;
        g->start[i + 1] = (i + 1) * DEGREE;
        for (int64_t e = 0; e < DEGREE; e++) {
            int64_t step = (near ? close : far)[e / 2];
            int64_t j = (i + (e % 2 ? step : N - step)) % N, at = e;
            for (; at > 0 && row[at - 1] > j; at--) {
                row[at] = row[at - 1];
            }
            row[at] = (int32_t)j;
        }
        for (int64_t e = 0; e < DEGREE; e++) {
            double low = fmin((double)i, row[e]), high = fmax((double)i, row[e]);
            g->values[i * DEGREE + e] = 2 + sin(low + 3 * high);
        }
    }
}

typedef struct products {
    const graph *given;
    int64_t k; /* vectors */
    bool zero_diagonal;
    clv_status status;
    bool suits, same;
    int64_t meetings, bytes, border; /* border: objects of other ranks with a neighbor elsewhere */
} products;

/* What others have of the vectors is no number until it is exchanged. */
static clv_status multiply_own(clv_context *ctx, const clv_halo *h, const double *whole, products *out) {
    static _Thread_local double x[K * N], y[K * N];
    for (int64_t e = 0; e < K * N; e++) {
        bool own = e % N >= h->first && e % N < h->last;
        x[e] = own ? sin((double)e) : (double)NAN;
    }
    clv_ranks_info before = clv_context_ranks(ctx);
    CLV_TRY(clv_halo_apply(h, x, out->k, y, 1));
    clv_ranks_info after = clv_context_ranks(ctx);
    out->same = true;
    for (int64_t c = 0; c < out->k; c++) {
        size_t bytes = (size_t)(h->last - h->first) * sizeof *y;
        out->same = out->same && !memcmp(y + c * N + h->first, whole + c * N + h->first, bytes);
    }
    out->meetings = after.meetings - before.meetings;
    out->bytes = after.bytes - before.bytes;
    return CLV_OK;
}

static clv_status use_graph(clv_context *ctx, products *out) {
    static _Thread_local double x[K * N], y[K * N];
    graph *g = (graph *)out->given;
    clv_matrix m = {.rows = N, .cols = N, .values = g->values, .start = g->start, .index = g->index};
    clv_affinity_options how;
    clv_affinity *a;
    clv_halo h = {0};
    clv_affinity_defaults(&how);
    how.kind = CLV_AFFINITY_PRECOMPUTED;
    how.zero_diagonal = out->zero_diagonal;
    CLV_TRY(clv_affinity_build(ctx, &m, &how, &a));
    for (int64_t e = 0; e < K * N; e++) {
        x[e] = sin((double)e);
    }
    clv_status status = clv_affinity_apply(a, x, out->k, y, 1);
    out->suits = clv_halo_suits(a, CLV_SHARE);
    if (status == CLV_OK && out->suits) {
        status = clv_halo_new(a, CLV_SHARE, &h);
        status = status == CLV_OK ? multiply_own(ctx, &h, y, out) : status;
        for (int64_t i = 0; i < N; i++) {
            int owner = clv_owner_of(ctx, N, CLV_SHARE, i), elsewhere = 0;
            for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
                elsewhere += clv_owner_of(ctx, N, CLV_SHARE, g->index[e]) != owner;
            }
            out->border += elsewhere > 0 && (i < h.first || i >= h.last);
        }
        clv_halo_free(&h);
    }
    clv_affinity_free(a);
    return status;
}

static void take_part(clv_context *ctx, int rank, void *user) {
    products *out = user;
    (void)rank;
    out->status = use_graph(ctx, out);
}

static void own_products_are_those_of_all(void **unused) {
    (void)unused;
    static graph given;
    for (int way = 0; way < 8; way++) {
        int64_t k = 1 + way % K;
        bool near = way & 2, zero_diagonal = way & 4;
        make_graph(&given, near);
        for (int ranks = 1; ranks <= 4; ranks++) {
            products found[4];
            for (int q = 0; q < ranks; q++) {
                found[q] = (products){.given = &given, .k = k, .zero_diagonal = zero_diagonal};
            }
            run_all(ranks, take_part, found, sizeof found[0]);
            for (int q = 0; q < ranks; q++) {
                assert_int_equal(found[q].status, CLV_OK);
                assert_int_equal(found[q].suits, ranks > 1);
                assert_true(ranks == 1 || found[q].same);
                assert_int_equal(found[q].meetings, ranks > 1);
                assert_int_equal(found[q].bytes, ranks == 1 ? 0 : 8 * k * found[q].border + NOTE * (ranks - 1));
            }
        }
    }
}

/* --- eigenpairs --- */

typedef struct pairs {
    bool own; /* the operator takes and gives own entries alone */
    int64_t first, last, steps;
    clv_status status;
    double values[COUNT], vectors[COUNT * N];
    int64_t meetings, bytes;
} pairs;

/* A diagonal matrix, which needs nothing of others: their entries are spoiled, if they must not count. */
static clv_status scale_entries(void *user, const double *x, int64_t count, double *y) {
    pairs *p = user;
    p->steps++;
    for (int64_t e = 0; e < count * N; e++) {
        bool counts = !p->own || (e % N >= p->first && e % N < p->last);
        y[e] = counts ? x[e] / (1 + (double)(e % N) / 7) : (double)NAN;
    }
    return CLV_OK;
}

static double error_of(void *user, double value, double residual) {
    (void)user;
    (void)value;
    return residual / 1e-9; /* not reached: the basis is filled once */
}

static void find_pairs(clv_context *ctx, int rank, void *user) {
    pairs *p = user;
    bool converged;
    clv_krylov plan = {.ctx = ctx, .n = N, .count = COUNT, .block = BLOCK, .basis = BASIS, .cycles = 1};
    (void)rank;
    plan.own_entries = p->own && clv_is_shared(ctx);
    plan.apply = scale_entries;
    plan.excess = error_of;
    plan.user = p;
    plan.threads = 1;
    clv_share_objects(ctx, N, clv_krylov_chunk(N), &p->first, &p->last);
    clv_ranks_info before = clv_context_ranks(ctx);
    p->status = clv_krylov_solve(&plan, p->values, p->vectors, NULL, &converged);
    clv_ranks_info after = clv_context_ranks(ctx);
    p->meetings = after.meetings - before.meetings;
    p->bytes = after.bytes - before.bytes;
}

/* The table of docs/mpi.md for a basis that is filled once, from a random block: what is little is told in the notes.
 */
static void check_exchanges(const pairs *p, int ranks) {
    int64_t chunk = clv_krylov_chunk(N), chunks = (N + chunk - 1) / chunk;
    int64_t others = chunks - (p->last - p->first + chunk - 1) / chunk;
    int64_t steps = BASIS / BLOCK, small = 3 * BLOCK - 2; /* of small: a block becomes orthonormal */
    int64_t meetings = 2 * BLOCK + small + steps * (BLOCK + 2 + small) + 1;
    int64_t bytes = COUNT * 8 * (N - (p->last - p->first));
    for (int64_t s = BLOCK; s <= BASIS; s += BLOCK) {
        bool little = (chunks + ranks - 1) / ranks * 8 * s * BLOCK <= ROOM;
        bytes += little ? 0 : 2 * 8 * s * BLOCK * others;
    }
    assert_int_equal(p->steps, steps);
    assert_int_equal(p->meetings, meetings);
    assert_int_equal(p->bytes, bytes + meetings * NOTE * (ranks - 1));
}

static void own_entries_give_the_pairs_of_all(void **unused) {
    (void)unused;
    static pairs one, found[5];
    one = (pairs){0};
    run_all(1, find_pairs, &one, sizeof one);
    assert_int_equal(one.status, CLV_OK);
    for (int ranks = 2; ranks <= 5; ranks++) {
        for (int own = 0; own < 2; own++) {
            for (int q = 0; q < ranks; q++) {
                found[q] = (pairs){.own = own};
            }
            run_all(ranks, find_pairs, found, sizeof found[0]);
            for (int q = 0; q < ranks; q++) {
                assert_int_equal(found[q].status, CLV_OK);
                assert_memory_equal(found[q].values, one.values, sizeof one.values);
                assert_memory_equal(found[q].vectors, one.vectors, sizeof one.vectors);
                if (own) {
                    check_exchanges(&found[q], ranks);
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_products_are_those_of_all),
        cmocka_unit_test(own_entries_give_the_pairs_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
