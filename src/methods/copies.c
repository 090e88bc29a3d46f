/* How many rows of points are copies of others, by one pass and little memory.
 *
 * Rows are known by a hash of their contents, and of all hashes the KEPT + 1 smallest different ones are held. Up to
 * KEPT different rows are counted so; of more, the largest of those held says how dense hashes lie, and with that how
 * many there are, to about 1 / sqrt(KEPT), 1.6 % (Bar-Yossef et al., Counting distinct elements in a data stream,
 * 2002). Where the copies are, side by side or far apart, makes no difference, and neither do ranks. */
#include "methods/methods.h"

#include "base/ranks.h"
#include "engine/archive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 4096, HELD = KEPT + 1, BLOCK = 64 };

typedef struct sketch {
    uint64_t *keys; /* 2 HELD */
    int64_t count;
    uint64_t limit; /* no key from here on is among the smallest */
} sketch;

static int compare_keys(const void *l, const void *r) {
    uint64_t a = *(const uint64_t *)l, b = *(const uint64_t *)r;
    return (a > b) - (a < b);
}

/* The smallest, rising, each once. */
static void settle(sketch *s) {
    int64_t count = 0;
    qsort(s->keys, (size_t)s->count, sizeof *s->keys, compare_keys);
    for (int64_t i = 0; i < s->count; i++) {
        if (count == 0 || s->keys[i] != s->keys[count - 1]) {
            s->keys[count++] = s->keys[i];
        }
    }
    s->count = count < HELD ? count : HELD;
    s->limit = count < HELD ? s->limit : s->keys[HELD - 1];
}

static void add(sketch *s, uint64_t key) {
    if (key < s->limit) {
        s->keys[s->count++] = key;
        if (s->count == 2 * HELD) {
            settle(s);
        }
    }
}

static uint64_t key_of(const double *row, int64_t p) {
    uint64_t key = 0, bits;
    for (int64_t f = 0; f < p; f++) {
        double value = row[f] + 0.0; /* -0 is 0 */
        memcpy(&bits, &value, sizeof bits);
        key = (key ^ bits ^ (key >> 29)) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return clv_hash_mix(key);
}

/* The row that is looked at as number t of `looked`: all, or blocks of neighbors that are evenly spread. */
static int64_t row_at(int64_t n, int64_t looked, int64_t t) {
    int64_t blocks = looked / BLOCK, whole = n / BLOCK, block = t / BLOCK;
    return looked == n ? t : block * whole / blocks * BLOCK + t % BLOCK;
}

/* The rows of this rank, then the smallest keys of all ranks; `room` has HELD keys for each of these. */
static clv_status fill(clv_context *ctx, const clv_matrix *points, int64_t looked, double *row, uint64_t *room,
                       sketch *s) {
    int64_t first, last, own, end, ranks = clv_rank_count(ctx);
    clv_share(ctx, looked, &first, &last);
    for (int64_t t = first; t < last; t++) {
        clv_matrix_row(points, row_at(points->rows, looked, t), row);
        add(s, key_of(row, points->cols));
    }
    settle(s);
    if (ranks == 1) {
        return CLV_OK;
    }
    clv_share(ctx, ranks, &own, &end);
    memset(room + own * HELD, 0xff, HELD * sizeof *room); /* beyond any limit */
    memcpy(room + own * HELD, s->keys, (size_t)s->count * sizeof *room);
    CLV_TRY(clv_gather_items(ctx, CLV_OK, room, HELD * sizeof *room, ranks, 1));
    *s = (sketch){s->keys, 0, UINT64_MAX};
    for (int64_t i = 0; i < ranks * HELD; i++) {
        add(s, room[i]);
    }
    settle(s);
    return CLV_OK;
}

clv_status clv_count_copies(clv_context *ctx, const clv_matrix *points, int64_t most, clv_copies *out) {
    int64_t p = points->cols, blocks = p > 0 ? most / p / BLOCK : 0, looked = (blocks > 0 ? blocks : 1) * BLOCK;
    looked = looked < points->rows ? looked : points->rows;
    clv_kept work = {.ctx = ctx};
    double *row = CLV_TAKE(&work, double, p);
    uint64_t *room = CLV_TAKE(&work, uint64_t, HELD * (int64_t)clv_rank_count(ctx));
    sketch s = {CLV_TAKE(&work, uint64_t, 2 * HELD), 0, UINT64_MAX};
    clv_status status = work.status;
    status = status == CLV_OK ? fill(ctx, points, looked, row, room, &s) : status;
    if (status == CLV_OK) {
        bool exact = s.count <= KEPT;
        double different = exact ? (double)s.count : KEPT / ldexp((double)s.keys[KEPT], -64);
        *out =
            (clv_copies){.looked = looked, .copies = looked - llround(fmin(different, (double)looked)), .exact = exact};
    }
    clv_free_kept(&work);
    return status;
}
