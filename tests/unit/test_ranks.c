/* Ranks: meetings and shares, and the operator on several ranks against the operator on one, bit for bit. */
#include "ranks_support.h"

#include "affinity/affinity.h"
#include "methods/kpalm/kpalm.h"
#include "methods/methods.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { N = 2200, P = 3, K = 3, SAMPLES = 80, FEATURES = 4000, TEXT = 256 };

static double points[N * P];
static float narrow[N * P];
static int32_t labels[N], after[N];
static int64_t moved[N];
static double x[K * N];
static double wide[SAMPLES * FEATURES], target[SAMPLES];

static clv_matrix make_points(void) {
    clv_rng rng = clv_rng_stream(5, 0);
    for (int64_t e = 0; e < K * N; e++) {
        x[e] = sin((double)e);
    }
    for (int64_t e = 0; e < SAMPLES * FEATURES; e++) {
        wide[e] = clv_rng_normal(&rng);
        target[e / FEATURES] = wide[e / FEATURES * FEATURES] > 0 ? 1 : -1;
    }
    for (int64_t i = 0; i < N; i++) {
        labels[i] = (int32_t)(i % K) - (i % 11 == 0);
        after[i] = (int32_t)((i + i % 2) % K);
        moved[i] = i;
        for (int64_t f = 0; f < P; f++) {
            points[i * P + f] = clv_rng_normal(&rng) + 4 * (double)(i % K == f);
            narrow[i * P + f] = (float)points[i * P + f];
        }
    }
    return (clv_matrix){.rows = N, .cols = P, .values = points};
}

/* --- shares --- */

static void see_shares(clv_context *ctx, int rank, void *user) {
    int64_t *seen = user, first, last;
    (void)rank;
    for (int64_t n = 0; n < 40; n++) {
        clv_share(ctx, n, &first, &last);
        for (int64_t i = first; i < last; i++) {
            seen[n] += i + 1;
        }
    }
}

static void shares_are_all_of_it_once(void **unused) {
    (void)unused;
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
        int64_t seen[MOST_RANKS][40] = {{0}};
        run_all(ranks, see_shares, seen, sizeof seen[0]);
        for (int64_t n = 0; n < 40; n++) {
            int64_t sum = 0;
            for (int q = 0; q < ranks; q++) {
                sum += seen[q][n];
            }
            assert_int_equal(sum, n * (n + 1) / 2);
        }
    }
}

enum { LONG_ROWS = 70000 };
typedef struct columns {
    int64_t n, first, count;
    clv_status status;
    double y[2 * LONG_ROWS];
} columns;

static double column_entry(int64_t row, int64_t i) {
    return (double)(7 * i + row);
}

static void gather_own_columns(clv_context *ctx, int rank, void *user) {
    columns *c = user;
    int64_t from, to;
    (void)rank;
    clv_share_objects(ctx, c->n, CLV_SHARE, &from, &to);
    for (int64_t e = 0; e < 2 * c->n; e++) {
        c->y[e] = e % c->n >= from && e % c->n < to ? column_entry(e / c->n, e % c->n) : -1;
    }
    c->status = clv_gather_columns(ctx, CLV_OK, c->y, 2, c->n, CLV_SHARE, c->first, c->count);
}

/* Rows that are long go one by one, others together; outside of the columns asked for nothing changes. */
static void columns_are_gathered(void **unused) {
    (void)unused;
    const int64_t asked[][3] = {{2200, 0, 2200}, {2200, 300, 1500}, {LONG_ROWS, 0, LONG_ROWS}, {LONG_ROWS, 999, 68000}};
    columns *found = calloc(3, sizeof *found);
    assert_non_null(found);
    for (size_t a = 0; a < CLV_COUNT(asked); a++) {
        for (int q = 0; q < 3; q++) {
            found[q].n = asked[a][0];
            found[q].first = asked[a][1];
            found[q].count = asked[a][2];
        }
        run_all(3, gather_own_columns, found, sizeof *found);
        for (int q = 0; q < 3; q++) {
            const columns *c = &found[q];
            assert_int_equal(c->status, CLV_OK);
            for (int64_t e = 0; e < 2 * c->n; e++) {
                int64_t i = e % c->n;
                bool in = i >= c->first && i < c->first + c->count;
                assert_true(c->y[e] == column_entry(e / c->n, i) || (!in && c->y[e] == -1));
            }
        }
    }
    free(found);
}

/* --- meetings --- */

typedef struct met {
    clv_status status, next;
    char message[TEXT];
    double now;
    bool asked, late;
} met;

static void fail_on_second(clv_context *ctx, int rank, void *user) {
    met *m = user;
    clv_status mine = rank == 1 ? clv_fail(ctx, CLV_EDATA, "row 7 is bad") : CLV_OK;
    m->status = clv_meet(ctx, rank == 1 ? 17 : 4, mine); /* what it meant to do does not matter */
    snprintf(m->message, TEXT, "%s", clv_message(ctx));
    m->next = clv_meet(ctx, 4, CLV_OK);
}

static void a_failure_is_everybodys(void **unused) {
    (void)unused;
    met found[3] = {{0}};
    run_all(3, fail_on_second, found, sizeof found[0]);
    for (int q = 0; q < 3; q++) {
        assert_int_equal(found[q].status, CLV_EDATA);
        assert_int_equal(found[q].next, CLV_EDATA);
        assert_string_equal(found[q].message, "row 7 is bad (on process 2 of 3)");
    }
}

static void come_apart(clv_context *ctx, int rank, void *user) {
    ((met *)user)->status = clv_meet(ctx, (uint64_t)(rank == 2), CLV_OK);
}

static void ranks_that_differ_are_found_out(void **unused) {
    (void)unused;
    met found[3] = {{0}};
    run_all(3, come_apart, found, sizeof found[0]);
    for (int q = 0; q < 3; q++) {
        assert_int_equal(found[q].status, CLV_EINTERNAL);
    }
}

/* The second rank is done, and leaves. */
static void leave_early(clv_context *ctx, int rank, void *user) {
    met *m = user;
    m->status = rank == 1 ? CLV_OK : clv_meet(ctx, 5, CLV_OK);
    m->status = rank == 1 ? clv_context_leave(ctx) : m->status;
}

static void who_leaves_tells_the_others(void **unused) {
    (void)unused;
    met found[3] = {{0}};
    run_all(3, leave_early, found, sizeof found[0]);
    for (int q = 0; q < 3; q++) {
        assert_int_equal(found[q].status, CLV_EINTERNAL);
    }
}

/* Ranks that have ended the job; and those that did what waits for others. */
static atomic_int ended, waiting;

static int cannot_gather(void *self, void *all, const int64_t *counts, const int64_t *places) {
    (void)self, (void)all, (void)counts, (void)places;
    return 1;
}

/* An exchange that somebody does not come to, until the job is ended. */
static int gather_in_vain(void *self, void *all, const int64_t *counts, const int64_t *places) {
    while (atomic_load(&ended) + atomic_load(&waiting) == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return cannot_gather(self, all, counts, places);
}

static int arrive_in_vain(void *self, bool *all) {
    *all = false;
    return gather_in_vain(self, all, NULL, NULL);
}

static int arrive_waiting(void *self, bool *all) {
    atomic_fetch_add(&waiting, 1);
    return arrive_in_vain(self, all);
}

static void close_waiting(void *self) {
    (void)self;
    atomic_fetch_add(&waiting, 1);
}

static void end_job(void *self, int status) {
    (void)self;
    assert_int_not_equal(status, 0);
    atomic_fetch_add(&ended, 1);
}

/* What the second rank is about to receive does not come, and the first one knows nothing of it. */
static void cut_off(clv_communicator *with, int rank) {
    with->gather = rank == 1 ? cannot_gather : gather_in_vain;
    with->arrive = rank < 2 ? arrive_waiting : arrive_in_vain;
    with->close = close_waiting;
    with->end_all = end_job;
}

static void lose_one(clv_context *ctx, int rank, void *user) {
    met *m = user;
    cut_off(&clv_ranks_of(ctx)->with, rank);
    m->status = clv_meet(ctx, 4, CLV_OK);
    m->next = clv_context_leave(ctx);
}

/* Two groups of two, of which the second waits for the first one to be done. */
static void lose_one_of_a_group(clv_context *ctx, int rank, void *user) {
    met *m = user;
    clv_ranks *r = clv_ranks_of(ctx);
    assert_int_equal(clv_context_group(ctx, 2), CLV_OK);
    clv_communicator with = r->with, between = r->between;
    cut_off(&r->all, rank);
    cut_off(&r->between, rank);
    if (rank < 2) {
        cut_off(&r->with, rank);
    } else {
        r->with.close = close_waiting;
    }
    m->status = clv_context_ungroup(ctx, clv_meet(ctx, 4, CLV_OK), NULL);
    m->next = clv_context_leave(ctx);
    with.close(with.self);
    between.close(between.self);
}

static void see_the_end(int ranks, rank_body body) {
    met found[4] = {{0}};
    atomic_store(&ended, 0);
    atomic_store(&waiting, 0);
    run_all(ranks, body, found, sizeof found[0]);
    for (int q = 0; q < ranks; q++) {
        assert_int_equal(found[q].status, CLV_EIO);
        assert_int_equal(found[q].next, CLV_EIO);
    }
    assert_int_equal(atomic_load(&waiting), 0);
    assert_int_equal(atomic_load(&ended), ranks);
}

static void who_is_cut_off_ends_the_job(void **unused) {
    (void)unused;
    see_the_end(3, lose_one);
}

static void who_is_cut_off_in_a_group_too(void **unused) {
    (void)unused;
    see_the_end(4, lose_one_of_a_group);
}

typedef struct timed {
    clv_status status;
    double waited, received;
} timed;

/* The second rank comes late to what all then gather. */
static void gather_late(clv_context *ctx, int rank, void *user) {
    timed *t = user;
    double items[64 * 3] = {0};
    clv_ranks_info before = clv_context_ranks(ctx);
    if (rank == 1) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    t->status = clv_gather_items(ctx, CLV_OK, items, 64 * sizeof *items, 3, 1);
    clv_ranks_info after = clv_context_ranks(ctx);
    t->waited = after.waited - before.waited;
    t->received = after.received - before.received;
}

static void who_comes_late_is_waited_for(void **unused) {
    (void)unused;
    timed found[3] = {{0}};
    run_all(3, gather_late, found, sizeof found[0]);
    for (int q = 0; q < 3; q++) {
        assert_int_equal(found[q].status, CLV_OK);
        assert_true(found[q].received > 0);
        assert_true(q == 1 || found[q].waited >= 0.04);
    }
}

typedef struct met_again {
    clv_status status[3];
    int64_t meetings[3];
} met_again;

/* What is said after a meeting is compared at the next one, and costs none by itself. */
static void differ_after_a_meeting(clv_context *ctx, int rank, void *user) {
    met_again *m = user;
    int64_t before = clv_context_ranks(ctx).meetings;
    for (int turn = 0; turn < 3; turn++) {
        m->status[turn] = turn == 1 ? clv_meet(ctx, 5, CLV_OK) : clv_meet_again(ctx, (uint64_t)(rank == 2), CLV_OK);
        m->meetings[turn] = clv_context_ranks(ctx).meetings - before;
    }
}

/* The second rank has a monitor: all meet each time. */
static void one_watches(clv_context *ctx, int rank, void *user) {
    met_again *m = user;
    clv_watch_ranks(ctx, rank == 1);
    m->status[0] = clv_meet(ctx, 5, CLV_OK);
    int64_t before = clv_context_ranks(ctx).meetings;
    m->status[1] = clv_meet_again(ctx, 6, CLV_OK);
    m->meetings[1] = clv_context_ranks(ctx).meetings - before;
}

static void who_has_met_need_not_meet_again(void **unused) {
    (void)unused;
    met_again found[3] = {{{0}, {0}}};
    run_all(3, differ_after_a_meeting, found, sizeof found[0]);
    for (int q = 0; q < 3; q++) {
        assert_int_equal(found[q].status[0], CLV_OK);
        assert_int_equal(found[q].meetings[0], 0); /* they met when they joined */
        assert_int_equal(found[q].status[1], CLV_EINTERNAL);
        assert_int_equal(found[q].meetings[1], 1);
    }
    run_all(3, one_watches, found, sizeof found[0]);
    for (int q = 0; q < 3; q++) {
        assert_int_equal(found[q].status[1], CLV_OK);
        assert_int_equal(found[q].meetings[1], 1);
    }
}

/* Calls without a meeting in between: few of them meet, but for those that are long apart, as the clock must go on; a
 * failure is learned at the next one. */
static void go_on_without_meeting(clv_context *ctx, int rank, void *user) {
    met_again *m = user;
    int64_t before = clv_context_ranks(ctx).meetings;
    for (int turn = 0; turn < 100000 && m->status[0] == CLV_OK; turn++) {
        m->status[0] = clv_meet_again(ctx, (uint64_t)turn, CLV_OK);
    }
    m->meetings[0] = clv_context_ranks(ctx).meetings - before;
    m->status[1] = clv_meet(ctx, 5, CLV_OK);
    before = clv_context_ranks(ctx).meetings;
    for (int turn = 0; turn < 12; turn++) {
        clv_meet_again(ctx, 7, CLV_OK);
        nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    }
    m->meetings[1] = clv_context_ranks(ctx).meetings - before;
    m->status[2] = CLV_OK;
    for (int turn = 0; turn < 1000000 && m->status[2] == CLV_OK; turn++) {
        m->status[2] = clv_meet_again(ctx, 8, rank == 1 && turn >= 1000 ? CLV_EDATA : CLV_OK);
    }
}

static void steps_that_exchange_nothing_meet_rarely(void **unused) {
    (void)unused;
    met_again found[3] = {{{0}, {0}}};
    run_all(3, go_on_without_meeting, found, sizeof found[0]);
    for (int q = 0; q < 3; q++) {
        assert_int_equal(found[q].status[0], CLV_OK);
        assert_in_range(found[q].meetings[0], 10, 10000);
        assert_int_equal(found[q].meetings[1], 11);
        assert_int_equal(found[q].status[2], CLV_EDATA);
    }
}

static int always(void *user) {
    (void)user;
    return 1;
}

/* The hook of one rank and the clock of another are seen by none before they meet, and by all after. */
static void stop_together(clv_context *ctx, int rank, void *user) {
    met *m = user;
    clv_context_set_time_limit(ctx, 1e-3);
    if (rank == 1) {
        clv_context_set_interrupt(ctx, always, NULL);
    }
    /* The limit runs from the time that was agreed upon when they joined, which on a busy machine is long after 0. */
    while (clv_seconds() - clv_ranks_of(ctx)->epoch < clv_ranks_of(ctx)->now + 2e-3) {
    }
    assert_false(clv_asked_to_stop(ctx) || clv_out_of_time(ctx));
    m->status = clv_meet(ctx, 1, CLV_OK);
    m->asked = clv_asked_to_stop(ctx);
    m->late = clv_out_of_time(ctx);
    m->now = clv_ranks_of(ctx)->now;
}

static void stops_are_agreed_upon(void **unused) {
    (void)unused;
    met found[4] = {{0}};
    run_all(4, stop_together, found, sizeof found[0]);
    for (int q = 0; q < 4; q++) {
        assert_int_equal(found[q].status, CLV_OK);
        assert_true(found[q].asked && found[q].late);
        assert_true(found[q].now == found[0].now);
    }
}

/* Labels of a pass that is given up are those of all ranks, as far as each has come. */
typedef struct given_up {
    clv_status status;
    int32_t nearest[N];
} given_up;

static void give_up(clv_context *ctx, int rank, void *user) {
    given_up *g = user;
    clv_matrix matrix = {.rows = N, .cols = P, .values = points}, centers = matrix;
    centers.rows = N / 2;
    if (rank == 1) {
        clv_context_set_interrupt(ctx, always, NULL);
    }
    g->status = clv_kpalm_nearest(ctx, &centers, &matrix, NULL, 1, g->nearest);
}

static void what_is_given_up_is_the_same(void **unused) {
    (void)unused;
    static given_up found[3];
    make_points();
    run_all(3, give_up, found, sizeof found[0]);
    int64_t labeled = 0;
    for (int64_t i = 0; i < N; i++) {
        labeled += found[0].nearest[i] > 0;
    }
    assert_true(labeled > N / 2 && labeled < N - N / 4); /* not by the second */
    for (int q = 0; q < 3; q++) {
        assert_int_equal(found[q].status, CLV_EINTERRUPTED);
        assert_memory_equal(found[q].nearest, found[0].nearest, sizeof found[0].nearest);
    }
}

/* --- the operator --- */

typedef struct numbers {
    int kind, home;
    bool zero_diagonal, given;
    clv_status status;
    double y[K * N], sums[K * N], column[N], product[K * N], rows[K * CLV_SHARE], block[64 * 64], moments[2], entry;
    double own[K * N]; /* sums of own objects, first..last - 1, by moves of these alone; alike those of all */
    int64_t first, last;
    bool alike;
    int64_t bytes;
} numbers;

/* Columns that one rank has, for all. */
static clv_status look_at_columns(clv_context *ctx, int rank, const clv_product *product, double *out) {
    int owner = clv_product_owner(product, CLV_SHARE);
    if (owner < 0 || owner == rank) {
        clv_product_columns(product, CLV_SHARE, CLV_SHARE, out);
    }
    return owner < 0 ? CLV_OK : clv_broadcast(ctx, CLV_OK, out, K * CLV_SHARE * (int64_t)sizeof *out, owner);
}

static clv_status use_operator(clv_context *ctx, int rank, clv_affinity *a, numbers *out) {
    clv_product product;
    CLV_TRY(clv_affinity_apply(a, x, K, out->y, 1));
    CLV_TRY(clv_affinity_apply(a, x, 1, out->product, 1));
    memcpy(out->y, out->product, N * sizeof(double));
    CLV_TRY(clv_affinity_group_sums(a, labels, K, out->sums, 1));
    memcpy(out->own, out->sums, sizeof out->own);
    CLV_TRY(clv_affinity_move_many(a, moved, labels, after, N, out->sums, 1));
    if (clv_affinity_shares_moves(a, &out->first, &out->last)) {
        CLV_TRY(clv_affinity_move_own(a, moved, labels, after, N, out->own, 1));
        out->alike = true;
        for (int64_t c = 0; c < K; c++) {
            size_t bytes = (size_t)(out->last - out->first) * sizeof(double);
            out->alike = out->alike && !memcmp(out->own + c * N + out->first, out->sums + c * N + out->first, bytes);
        }
    }
    CLV_TRY(clv_affinity_move(a, 70, 0, 1, out->sums));
    CLV_TRY(clv_affinity_column(a, 1999, out->column));
    CLV_TRY(clv_affinity_entry(a, 3, 1234, &out->entry));
    CLV_TRY(clv_affinity_block(a, 64, 64, out->block));
    CLV_TRY(clv_affinity_moments(a, 1, &out->moments[0], &out->moments[1]));
    CLV_TRY(clv_product_new(a, K, x, 1, &product));
    clv_status status = clv_product_begin(&product);
    status =
        status < 0 ? status : clv_product_change(&product, &(clv_change){.first = 256, .count = 64, .k = K, .d = x});
    status = status < 0 ? status : look_at_columns(ctx, rank, &product, out->rows);
    status = status < 0 ? status : clv_product_values(&product);
    if (status == CLV_OK) {
        memcpy(out->product, product.y, sizeof out->product);
    }
    clv_product_free(&product);
    return status;
}

static void build_and_use(clv_context *ctx, int rank, void *user) {
    numbers *out = user;
    static double *whole; /* of a given one: made once, by the first run, which is on one rank */
    clv_matrix m = {.rows = N, .cols = P, .values = points};
    clv_affinity_options how;
    clv_affinity *a;
    clv_affinity_defaults(&how);
    if (out->given && !whole) {
        whole = malloc(sizeof *whole * N * N);
        for (int64_t e = 0; whole && e < N * N; e++) {
            whole[e] = exp(-fabs(points[e / N * P] - points[e % N * P]));
        }
    }
    m = out->given ? (clv_matrix){.rows = N, .cols = N, .values = whole} : m;
    how.kind = out->given ? CLV_AFFINITY_PRECOMPUTED : out->kind;
    how.home = out->given ? CLV_HOME_AUTO : out->home;
    how.zero_diagonal = out->zero_diagonal;
    how.threads = 1;
    out->status = clv_affinity_build(ctx, &m, &how, &a);
    if (out->status == CLV_OK) {
        out->status = use_operator(ctx, rank, a, out);
        clv_affinity_free(a);
    }
    out->bytes = clv_context_ranks(ctx).bytes;
}

static void assert_same(const numbers *one, const numbers *other) {
    assert_int_equal(other->status, CLV_OK);
    assert_memory_equal(one->y, other->y, sizeof one->y);
    assert_memory_equal(one->sums, other->sums, sizeof one->sums);
    assert_memory_equal(one->column, other->column, sizeof one->column);
    assert_memory_equal(one->product, other->product, sizeof one->product);
    assert_memory_equal(one->block, other->block, sizeof one->block);
    assert_memory_equal(one->rows, other->rows, sizeof one->rows);
    assert_memory_equal(one->moments, other->moments, sizeof one->moments);
    assert_true(one->entry == other->entry);
}

static void the_operator_is_the_same(void **unused) {
    (void)unused;
    static const struct {
        int kind, home;
    } made[] = {{CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE64},  {CLV_AFFINITY_GAUSSIAN, CLV_HOME_DENSE32},
                {CLV_AFFINITY_GAUSSIAN, CLV_HOME_COMPUTED}, {CLV_AFFINITY_KNN, CLV_HOME_SPARSE},
                {CLV_AFFINITY_COSINE, CLV_HOME_LOWRANK},    {0, 0}};
    numbers *found = calloc(MOST_RANKS + 1, sizeof *found);
    assert_non_null(found);
    make_points();
    for (size_t m = 0; m < CLV_COUNT(made); m++) {
        for (int ranks = 1; ranks <= 4; ranks += ranks == 1 ? 1 : 2) {
            for (int q = 0; q < ranks; q++) {
                found[q] = (numbers){.kind = made[m].kind,
                                     .home = made[m].home,
                                     .zero_diagonal = m % 2,
                                     .given = m + 1 == CLV_COUNT(made)};
            }
            run_all(ranks, build_and_use, found, sizeof *found);
            for (int q = 0; q < ranks; q++) {
                assert_same(ranks == 1 ? found : &found[MOST_RANKS], &found[q]);
                assert_true(ranks == 1 || made[m].home == CLV_HOME_LOWRANK || found[q].bytes > N * 8);
                bool follows = ranks > 1 && made[m].home != CLV_HOME_LOWRANK && made[m].home != CLV_HOME_SPARSE;
                assert_true(found[q].alike == follows && (found[q].last - found[q].first < N) == follows);
            }
            found[MOST_RANKS] = ranks == 1 ? found[0] : found[MOST_RANKS];
        }
    }
    free(found);
}

/* --- methods --- */

typedef struct answer {
    const char *method, *k, *solver; /* NULL: 3, and the first */
    const char *option, *value;      /* one more, or NULL */
    bool wide;                       /* samples with many features instead of points */
    int kind, home;
    clv_scalar scalar;
    int64_t restarts; /* 0: as many as it has by itself */
    clv_status status;
    char message[TEXT];
    double objective, certificate;
    int64_t iterations;
    int32_t labels[N];
} answer;

static void solve(clv_context *ctx, int rank, void *user) {
    answer *out = user;
    const clv_method *method = clv_method_find(out->method);
    bool narrows = out->scalar == CLV_F32;
    clv_matrix m = {
        .rows = N, .cols = P, .scalar = out->scalar, .values = narrows ? (const void *)narrow : (const void *)points};
    clv_options_room options;
    clv_affinity_options how;
    clv_matrix samples = {.rows = SAMPLES, .cols = FEATURES, .values = wide};
    clv_matrix targets = {.rows = SAMPLES, .cols = 1, .values = target};
    clv_input input = {.points = out->wide ? &samples : &m, .targets = out->wide ? &targets : NULL};
    clv_affinity *a = NULL;
    clv_result *result = NULL;
    (void)rank;
    clv_affinity_defaults(&how);
    how.kind = out->kind;
    how.home = out->home;
    how.threads = 1;
    clv_method_defaults(method, options.bytes, method->options->size);
    clv_control *control = (clv_control *)(void *)options.bytes;
    control->threads = 1;
    control->max_iter = 8;
    control->restarts = out->restarts > 0 ? out->restarts : control->restarts;
    out->status = clv_options_set(ctx, method->options, options.bytes, "k", out->k ? out->k : "3");
    if (out->solver) {
        out->status = clv_options_set(ctx, method->options, options.bytes, "solver", out->solver);
    }
    if (out->option) {
        out->status = clv_options_set(ctx, method->options, options.bytes, out->option, out->value);
    }
    if (out->status == CLV_OK && method->takes == CLV_TAKES_AFFINITY) {
        out->status = clv_affinity_build(ctx, &m, &how, &a);
        input.affinity = a;
    }
    if (out->status == CLV_OK) {
        out->status = clv_solve(ctx, method, &input, options.bytes, &result);
    }
    out->status = clv_meet(ctx, 99, out->status);
    snprintf(out->message, TEXT, "%s", clv_message(ctx));
    if (result) {
        out->objective = result->objective.value;
        out->certificate = result->certificate.value;
        out->iterations = result->iterations;
        if (result->labels) {
            memcpy(out->labels, result->labels, sizeof out->labels);
        }
    }
    clv_result_free(result);
    clv_affinity_free(a);
}

static const answer solved[] = {
    {.method = "ncut", .home = CLV_HOME_DENSE64},
    {.method = "ncut", .kind = CLV_AFFINITY_KNN},
    {.method = "symnmf", .home = CLV_HOME_DENSE32},
    {.method = "symnmf", .home = CLV_HOME_COMPUTED},
    {.method = "kpalm", .k = "500"}, /* memberships of few enough are kept, and not shared */
    {.method = "kpalm", .k = "500", .scalar = CLV_F32},
    {.method = "kpalm", .k = "30", .solver = "lloyd"},
    {.method = "kpalm", .k = "30", .solver = "weiszfeld"},
    {.method = "kpalm", .k = "30", .solver = "lloyd", .option = "start", .value = "kmeans-parallel"},
    {.method = "kpalm", .k = "30", .solver = "weiszfeld", .option = "start", .value = "kmeans-parallel"},
    {.method = "kpalm", .k = "500", .option = "start", .value = "kmeans-parallel", .scalar = CLV_F32},
    {.method = "ksupport", .wide = true},
    {.method = "ksupport", .solver = "fcfw", .wide = true},
    {.method = "dominant", .home = CLV_HOME_DENSE64, .option = "shift", .value = "3"},
    {.method = "dominant", .home = CLV_HOME_COMPUTED, .solver = "afw", .option = "assign", .value = "true"},
    {.method = "dominant", .home = CLV_HOME_DENSE32, .solver = "rd"},
    {.method = "dominant", .home = CLV_HOME_DENSE32, .solver = "fw", .option = "multistart", .value = "3"},
    {.method = "dominant", .kind = CLV_AFFINITY_KNN},
    {.method = "ncut", .home = CLV_HOME_COMPUTED, .solver = "finc"}};

static void methods_are_the_same(void **unused) {
    (void)unused;
    answer *found = calloc(MOST_RANKS + 1, sizeof *found);
    assert_non_null(found);
    make_points();
    for (size_t m = 0; m < CLV_COUNT(solved); m++) {
        const int sizes[] = {1, m % 3 == 0 ? 2 : m % 3 == 1 ? 3 : 8};
        for (size_t r = 0; r < CLV_COUNT(sizes); r++) {
            for (int q = 0; q < sizes[r]; q++) {
                found[q] = solved[m];
            }
            run_all(sizes[r], solve, found, sizeof *found);
            found[MOST_RANKS] = r == 0 ? found[0] : found[MOST_RANKS];
            for (int q = 0; q < sizes[r]; q++) {
                assert_int_equal(found[q].status, CLV_OK);
                assert_memory_equal(&found[q].objective, &found[MOST_RANKS].objective, sizeof(double));
                assert_memory_equal(&found[q].certificate, &found[MOST_RANKS].certificate, sizeof(double));
                assert_int_equal(found[q].iterations, found[MOST_RANKS].iterations);
                assert_memory_equal(found[q].labels, found[MOST_RANKS].labels, sizeof found[q].labels);
            }
        }
    }
    free(found);
}

/* Memory that one rank cannot have ends all of them, with its sentence and nothing held. */
static void one_without_memory_ends_all(void **unused) {
    (void)unused;
    static answer found[3];
    make_points();
    for (size_t m = 0; m < CLV_COUNT(solved); m++) {
        for (int64_t at = 12, failed = 1; failed && at < 3000; at *= 4) {
            failing f = {.fail_at = at};
            for (int q = 0; q < 3; q++) {
                found[q] = solved[m];
            }
            run_ranks(3, solve, found, sizeof *found, 1, (clv_allocator){failing_allocate, failing_release, &f});
            assert_int_equal(f.blocks, 0);
            failed = f.calls >= at;
            for (int q = 0; q < 3; q++) {
                assert_int_equal(found[q].status, failed ? CLV_ENOMEM : CLV_OK);
                assert_true(!failed || strstr(found[q].message, "process 2 of 3"));
            }
        }
    }
}

/* --- groups --- */

typedef struct grouped {
    int64_t groups;
    int failing;            /* the rank that fails inside, or -1 */
    int64_t stop_at, looks; /* the look at which its hook asks for an end, 0: never; and how many there were */
    answer found;
    clv_status grouped, met;
} grouped;

static int after_some_looks(void *user) {
    grouped *g = user;
    return ++g->looks >= g->stop_at;
}

static void solve_in_groups(clv_context *ctx, int rank, void *user) {
    grouped *g = user;
    g->grouped = clv_context_group(ctx, g->groups);
    if (g->grouped < 0) {
        return;
    }
    clv_status status = CLV_OK;
    if (rank / (clv_ranks_of(ctx)->all.ranks / (int)g->groups) == g->failing) { /* all of that group */
        status = clv_meet(ctx, 0, clv_fail(ctx, CLV_EDATA, "row 7 is bad"));
    } else {
        if (g->stop_at > 0) {
            clv_context_set_interrupt(ctx, after_some_looks, g);
        }
        solve(ctx, rank, &g->found);
        status = g->found.status;
    }
    g->met = clv_context_ungroup(ctx, status, NULL);
    snprintf(g->found.message, sizeof g->found.message, "%s", clv_message(ctx));
}

static const answer several = {.method = "ncut", .home = CLV_HOME_DENSE64, .restarts = 5};

static void groups_find_the_same(void **unused) {
    (void)unused;
    static grouped found[MOST_RANKS];
    static answer alone;
    const int sizes[][2] = {{2, 2}, {4, 2}, {6, 3}};
    make_points();
    alone = several;
    run_all(1, solve, &alone, sizeof alone);
    assert_int_equal(alone.status, CLV_OK);
    for (size_t s = 0; s < CLV_COUNT(sizes); s++) {
        for (int q = 0; q < sizes[s][0]; q++) {
            found[q] = (grouped){.groups = sizes[s][1], .failing = -1, .found = several};
        }
        run_all(sizes[s][0], solve_in_groups, found, sizeof *found);
        for (int q = 0; q < sizes[s][0]; q++) {
            assert_int_equal(found[q].met, CLV_OK);
            assert_memory_equal(&found[q].found.objective, &alone.objective, sizeof(double));
            assert_int_equal(found[q].found.iterations, alone.iterations);
            assert_memory_equal(found[q].found.labels, alone.labels, sizeof alone.labels);
        }
    }
}

/* Also where the others are in the middle of a run: they get its sentence. */
static void a_group_that_fails_ends_all(void **unused) {
    (void)unused;
    static grouped found[4];
    make_points();
    for (int q = 0; q < 4; q++) {
        found[q] = (grouped){.groups = 2, .failing = 1, .found = several};
    }
    run_all(4, solve_in_groups, found, sizeof *found);
    for (int q = 0; q < 4; q++) {
        assert_int_equal(found[q].met, CLV_EDATA);
        assert_non_null(strstr(found[q].found.message, "row 7 is bad"));
    }
    for (int q = 0; q < 4; q++) {
        found[q] = (grouped){.groups = 3, .failing = -1};
    }
    run_all(4, solve_in_groups, found, sizeof *found);
    assert_int_equal(found[3].grouped, CLV_EUSAGE);
}

static const answer stopped[] = {
    {.method = "ncut", .home = CLV_HOME_DENSE64, .restarts = 5},
    {.method = "dominant", .home = CLV_HOME_DENSE64, .option = "start", .value = "random", .restarts = 4}};

/* Two groups of one, of which `who` is asked to end at a look: whether both have the same result, or there is none for
 * want of an affinity. */
static bool is_one_result(const answer *run, int who, int64_t look, grouped found[2]) {
    found[0] = found[1] = (grouped){.groups = 2, .failing = -1, .found = *run};
    found[who].stop_at = look;
    run_all(2, solve_in_groups, found, sizeof *found);
    const answer *a = &found[0].found, *b = &found[1].found;
    bool ended = found[0].met == CLV_OK && found[1].met == CLV_OK, rough = isnan(a->objective) && isnan(b->objective);
    bool same = a->objective == b->objective && memcmp(a->labels, b->labels, sizeof a->labels) == 0;
    bool built = a->status != CLV_EINTERRUPTED && b->status != CLV_EINTERRUPTED;
    return !built || (ended && (rough || same));
}

/* At any moment, also before its first start, or between two clusters. */
static void a_group_may_be_stopped(void **unused) {
    (void)unused;
    static grouped found[2];
    make_points();
    for (int run = 0; run < 4; run++) {
        int who = run % 2, known = 0, rough = 0;
        assert_true(is_one_result(&stopped[run / 2], who, INT64_MAX, found));
        int64_t looks = found[who].looks;
        for (int64_t back = 0; looks - back > 0; back += 1 + back / 2) {
            assert_true(is_one_result(&stopped[run / 2], who, looks - back, found));
            known += isfinite(found[0].found.objective);
            rough += isnan(found[0].found.objective);
        }
        assert_true(known > 0 && (run > 1 || rough > 0));
    }
}

/* The second group waits for the first, which looks at its own hook now and then. */
static void wait_or_look(clv_context *ctx, int rank, void *user) {
    met *m = user;
    m->status = clv_context_group(ctx, 2);
    if (rank == 1) {
        clv_context_set_interrupt(ctx, always, NULL);
    }
    for (double began = clv_seconds(); rank == 0 && !m->asked && clv_seconds() - began < 60;) {
        m->asked = clv_asked_to_stop(ctx);
    }
    m->next = clv_context_meet(ctx, CLV_OK, NULL);
    clv_context_ungroup(ctx, CLV_OK, NULL);
}

static void who_waits_may_be_asked(void **unused) {
    (void)unused;
    met found[2] = {{0}};
    run_all(2, wait_or_look, found, sizeof *found);
    assert_true(found[0].asked);
    assert_int_equal(found[0].next, CLV_OK);
    assert_int_equal(found[1].next, CLV_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_all_of_it_once),
        cmocka_unit_test(columns_are_gathered),
        cmocka_unit_test(a_failure_is_everybodys),
        cmocka_unit_test(ranks_that_differ_are_found_out),
        cmocka_unit_test(who_leaves_tells_the_others),
        cmocka_unit_test(who_is_cut_off_ends_the_job),
        cmocka_unit_test(who_is_cut_off_in_a_group_too),
        cmocka_unit_test(what_is_given_up_is_the_same),
        cmocka_unit_test(stops_are_agreed_upon),
        cmocka_unit_test(who_has_met_need_not_meet_again),
        cmocka_unit_test(steps_that_exchange_nothing_meet_rarely),
        cmocka_unit_test(the_operator_is_the_same),
        cmocka_unit_test(methods_are_the_same),
        cmocka_unit_test(one_without_memory_ends_all),
        cmocka_unit_test(groups_find_the_same),
        cmocka_unit_test(a_group_that_fails_ends_all),
        cmocka_unit_test(a_group_may_be_stopped),
        cmocka_unit_test(who_waits_may_be_asked),
        cmocka_unit_test(who_comes_late_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
