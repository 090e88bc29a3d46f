/* Ranks without MPI: threads of one process, each with a context of its own, that exchange by copying. */
#ifndef CLV_TEST_RANKS_H
#define CLV_TEST_RANKS_H

#include "base/ranks.h"

#include "failing.h"

#include <pthread.h>

enum { MOST_RANKS = 8 };

typedef struct fake_group {
    int ranks;
    pthread_barrier_t barrier;
    void *where[MOST_RANKS];
    int colors[MOST_RANKS];
    atomic_bool told;
    atomic_int arrived; /* ever */
} fake_group;

typedef struct fake_rank {
    fake_group *group;
    int rank;
    bool arriving;
    int arrivals;
} fake_rank;

static int fake_gather(void *self, void *all, const int64_t *counts, const int64_t *places) {
    fake_rank *f = self;
    f->group->where[f->rank] = all;
    pthread_barrier_wait(&f->group->barrier);
    for (int q = 0; q < f->group->ranks; q++) {
        if (q != f->rank && counts[q] > 0) {
            memcpy((char *)all + places[q], (const char *)f->group->where[q] + places[q], (size_t)counts[q]);
        }
    }
    pthread_barrier_wait(&f->group->barrier);
    return 0;
}

static int fake_broadcast(void *self, void *data, int64_t bytes, int32_t root) {
    fake_rank *f = self;
    f->group->where[f->rank] = data;
    pthread_barrier_wait(&f->group->barrier);
    if (f->rank != root && bytes > 0) {
        memcpy(data, f->group->where[root], (size_t)bytes);
    }
    pthread_barrier_wait(&f->group->barrier);
    return 0;
}

/* Of a split one, whose first member frees what all of them have; the others have left it when the barrier opens. */
static void fake_close_part(void *self) {
    fake_rank *f = self;
    bool first = f->rank == 0;
    fake_group *group = f->group;
    free(f);
    pthread_barrier_wait(&group->barrier);
    if (first) {
        pthread_barrier_destroy(&group->barrier);
        free(group);
    }
}

static int fake_tell(void *self) {
    atomic_store(&((fake_rank *)self)->group->told, true);
    return 0;
}

static bool fake_is_told(void *self) {
    return atomic_load(&((fake_rank *)self)->group->told);
}

static int fake_arrive(void *self, bool *all) {
    fake_rank *f = self;
    if (!f->arriving) {
        f->arriving = true;
        f->arrivals++;
        atomic_fetch_add(&f->group->arrived, 1);
    }
    *all = atomic_load(&f->group->arrived) >= f->arrivals * f->group->ranks;
    f->arriving = !*all;
    return 0;
}

static void fake_abort(void *self, int status) {
    (void)self;
    exit(status);
}

static int fake_split(void *self, int32_t color, clv_communicator *out) {
    fake_rank *f = self, *part = calloc(1, sizeof *part);
    fake_group *group = f->group, *made = NULL;
    group->colors[f->rank] = color;
    pthread_barrier_wait(&group->barrier);
    int first = -1, members = 0;
    for (int q = 0; q < group->ranks; q++) {
        if (group->colors[q] == color) {
            first = first < 0 ? q : first;
            part->rank += q < f->rank;
            members++;
        }
    }
    if (first == f->rank) {
        made = calloc(1, sizeof *made);
        made->ranks = members;
        pthread_barrier_init(&made->barrier, NULL, (unsigned)members);
        group->where[first] = made;
    }
    pthread_barrier_wait(&group->barrier);
    part->group = group->where[first];
    pthread_barrier_wait(&group->barrier);
    *out = (clv_communicator){.self = part,
                              .rank = part->rank,
                              .ranks = members,
                              .threads = true,
                              .gather = fake_gather,
                              .broadcast = fake_broadcast,
                              .split = fake_split,
                              .tell = fake_tell,
                              .is_told = fake_is_told,
                              .arrive = fake_arrive,
                              .close = fake_close_part,
                              .end_all = fake_abort};
    return 0;
}

static void fake_close(void *self) {
    (void)self;
}

/* What one of them runs; the context has joined. */
typedef void (*rank_body)(clv_context *ctx, int rank, void *user);

typedef struct rank_thread {
    fake_rank fake;
    clv_allocator allocator;
    rank_body body;
    void *user;
    clv_status joined;
} rank_thread;

static void *run_rank(void *argument) {
    rank_thread *t = argument;
    clv_context *ctx = NULL;
    clv_communicator with = {.self = &t->fake,
                             .rank = t->fake.rank,
                             .ranks = t->fake.group->ranks,
                             .threads = true,
                             .gather = fake_gather,
                             .broadcast = fake_broadcast,
                             .split = fake_split,
                             .tell = fake_tell,
                             .is_told = fake_is_told,
                             .arrive = fake_arrive,
                             .close = fake_close,
                             .end_all = fake_abort};
    if (clv_context_new(t->allocator.allocate ? &t->allocator : NULL, &ctx) == CLV_OK) {
        t->joined = clv_ranks_join(ctx, &with);
        if (t->joined == CLV_OK) {
            t->body(ctx, t->fake.rank, t->user);
        }
        clv_context_free(ctx);
    }
    return NULL;
}

/* `body` on so many ranks, `user` + rank * size for each; the allocator of one of them may be another one. */
static void run_ranks(int ranks, rank_body body, void *user, size_t size, int special, clv_allocator allocator) {
    fake_group group = {.ranks = ranks};
    rank_thread threads[MOST_RANKS] = {0};
    pthread_t ids[MOST_RANKS];
    pthread_barrier_init(&group.barrier, NULL, (unsigned)ranks);
    for (int q = 0; q < ranks; q++) {
        threads[q] = (rank_thread){.fake = {&group, q}, .body = body, .user = (char *)user + (size_t)q * size};
        if (q == special) {
            threads[q].allocator = allocator;
        }
        assert_int_equal(pthread_create(&ids[q], NULL, run_rank, &threads[q]), 0);
    }
    for (int q = 0; q < ranks; q++) {
        pthread_join(ids[q], NULL);
        assert_int_equal(threads[q].joined, CLV_OK);
    }
    pthread_barrier_destroy(&group.barrier);
    clv_limit_budget(SIZE_MAX);
}

static inline void run_all(int ranks, rank_body body, void *user, size_t size) {
    run_ranks(ranks, body, user, size, -1, (clv_allocator){0});
}

#endif
