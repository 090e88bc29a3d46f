/* The operator as its users see it: argument checks are the caller's, dispatch and what all homes share are here. */
#include "affinity/affinity.h"

#include "linalg/kernels.h"

#include <math.h>
#include <omp.h>
#include <string.h>

const char *clv_home_name(clv_home home) {
    static const char *const names[] = {"auto", "dense-f64", "dense-f32", "computed", "sparse", "low-rank"};
    return names[home];
}

const char *clv_affinity_kind_name(clv_affinity_kind kind) {
    static const char *const names[] = {"gaussian", "exponential", "cosine",     "distance",
                                        "minimax",  "knn",         "precomputed"};
    return names[kind];
}

clv_status clv_affinity_new(clv_context *ctx, const clv_home_functions *home, size_t state_size, clv_affinity **out) {
    clv_affinity *a = CLV_NEW0(ctx, clv_affinity, 1);
    void *state = clv_alloc_zero(ctx, (int64_t)state_size, 1);
    *out = NULL;
    if (!a || !state) {
        clv_free(ctx, a);
        clv_free(ctx, state);
        return CLV_ENOMEM;
    }
    a->ctx = ctx;
    a->home = home;
    a->state = state;
    *out = a;
    return CLV_OK;
}

void clv_affinity_free(clv_affinity *a) {
    if (a) {
        a->home->destroy(a);
        clv_free(a->ctx, a->state);
        clv_free(a->ctx, a);
    }
}

void clv_affinity_describe(const clv_affinity *a, clv_affinity_info *out) {
    *out = a->info;
}

int64_t clv_affinity_size(const clv_affinity *a) {
    return a->info.n;
}

clv_status clv_affinity_column(const clv_affinity *a, int64_t i, double *out) {
    return a->home->column(a, i, out);
}

/* Threads for work on so many entries: below this, waking the others up costs more than they save. */
enum { ENTRIES_WORTH_THREADS = 1 << 18 };

static int threads_for(int64_t entries, int64_t asked) {
    return entries < ENTRIES_WORTH_THREADS ? 1 : clv_threads(asked);
}

clv_status clv_affinity_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int64_t threads) {
    return a->home->apply(a, x, k, y, threads_for(a->info.nonzeros, threads));
}

clv_status clv_affinity_group_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y,
                                   int64_t threads) {
    return a->home->group_sums(a, labels, k, y, threads_for(a->info.nonzeros, threads));
}

clv_status clv_affinity_move(const clv_affinity *a, int64_t i, int32_t from, int32_t to, double *y) {
    int64_t n = a->info.n;
    double *loser = from >= 0 ? y + from * n : NULL;
    double *winner = to >= 0 ? y + to * n : NULL;
    if (from == to) {
        return CLV_OK;
    }
    if (a->home->move) {
        a->home->move(a, i, loser, winner);
        return CLV_OK;
    }
    double *column = CLV_NEW(a->ctx, double, n);
    if (!column) {
        return CLV_ENOMEM;
    }
    clv_status status = a->home->column(a, i, column);
    if (status == CLV_OK && loser) {
        clv_deduct(loser, column, n);
    }
    if (status == CLV_OK && winner) {
        clv_accumulate(winner, column, n);
    }
    clv_free(a->ctx, column);
    return status;
}

clv_status clv_affinity_move_many(const clv_affinity *a, const int64_t *objects, const int32_t *before,
                                  const int32_t *after, int64_t count, double *y, int64_t threads) {
    if (a->home->move_many) {
        a->home->move_many(a, &(clv_moves){objects, before, after, count}, y, threads_for(count * a->info.n, threads));
        return CLV_OK;
    }
    for (int64_t m = 0; m < count; m++) {
        CLV_TRY(clv_affinity_move(a, objects[m], before[objects[m]], after[objects[m]], y));
    }
    return CLV_OK;
}

clv_status clv_affinity_degrees(const clv_affinity *a, double *out, int64_t threads) {
    int32_t *one_group = CLV_NEW0(a->ctx, int32_t, a->info.n);
    if (!one_group) {
        return CLV_ENOMEM;
    }
    clv_status status = clv_affinity_group_sums(a, one_group, 1, out, threads);
    clv_free(a->ctx, one_group);
    return status;
}

clv_status clv_affinity_diagonal(const clv_affinity *a, double *out) {
    for (int64_t i = 0; i < a->info.n; i++) {
        out[i] = a->home->entry(a, i, i);
    }
    return CLV_OK;
}

double clv_affinity_entry(const clv_affinity *a, int64_t i, int64_t j) {
    return a->home->entry(a, i, j);
}

/* --- by columns: entry i of every output vector comes from column i alone, so threads share the columns --- */

typedef struct column_job {
    const clv_affinity *a;
    const double *x;
    const int32_t *labels;
    int64_t k;
    double *y;
} column_job;

static void use_column(const column_job *job, int64_t i, const double *column) {
    int64_t n = job->a->info.n;
    for (int64_t c = 0; c < job->k; c++) {
        job->y[c * n + i] = job->labels ? 0 : clv_dot(column, job->x + c * n, n, 1);
    }
    if (job->labels) {
        for (int64_t j = 0; j < n; j++) {
            if (job->labels[j] >= 0) {
                job->y[job->labels[j] * n + i] += column[j];
            }
        }
    }
}

static clv_status run_by_columns(const column_job *job, int threads) {
    int64_t n = job->a->info.n;
    clv_context *ctx = job->a->ctx;
    double *columns = CLV_NEW(ctx, double, n *threads);
    int stopped = 0;
    if (!columns) {
        return CLV_ENOMEM;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 16)
    for (int64_t i = 0; i < n; i++) {
        int stop;
        clv_status status = CLV_OK;
#pragma omp atomic read
        stop = stopped;
        if (!stop) {
            double *column = columns + n * omp_get_thread_num();
            status = job->a->home->column(job->a, i, column);
            use_column(job, i, column);
        }
        if (!stop && status == CLV_OK && i % 256 == 0 && clv_interrupted(ctx)) {
            status = clv_fail(ctx, CLV_EINTERRUPTED, "interrupted");
        }
        if (status < 0) {
#pragma omp atomic write
            stopped = status;
        }
    }
    clv_free(ctx, columns);
    return (clv_status)stopped;
}

clv_status clv_apply_by_columns(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    return run_by_columns(&(column_job){a, x, NULL, k, y}, threads);
}

clv_status clv_group_sums_by_columns(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads) {
    return run_by_columns(&(column_job){a, NULL, labels, k, y}, threads);
}

double clv_affinity_largest(const clv_affinity *a) {
    if (a->home == &clv_minimax_functions) {
        return ((const clv_minimax_home *)a->state)->top;
    }
    if (a->home == &clv_computed_functions) {
        return a->info.kind == CLV_AFFINITY_DISTANCE ? ((const clv_computed_home *)a->state)->top : 1;
    }
    return a->home == &clv_lowrank_functions && a->info.kind == CLV_AFFINITY_COSINE ? 2 : HUGE_VAL;
}
