/* What a home has no function of its own for, from its columns: the operator of a home with nothing but columns is
 * complete. A column each time that one is needed, and memory of a few columns: slow and small. */
#include "affinity/home.h"

#include "kernels/kernels.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { POLL = 16, ENTRIES_A_POLL = 8192 };

/* Columns, each of which is used for something: those of first..first + count - 1, or of the objects of the terms. */
typedef struct column_job {
    const clv_affinity *a;
    int64_t first, count;
    const clv_terms *terms;
    void (*use)(const struct column_job *job, int64_t m, const double *column); /* the m-th of them */
    /* what for */
    const double *x;
    const int32_t *labels;
    int64_t k, place;
    double *y, *from, *to;
    const clv_sheet *sheet;
} column_job;

static clv_status run(const column_job *job, int threads) {
    const clv_affinity *a = job->a;
    double *columns = CLV_NEW(a->ctx, double, a->info.n *threads);
    atomic_int stopped = columns ? CLV_OK : CLV_ENOMEM;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic, 16)
    for (int64_t m = 0; m < job->count; m++) {
        if (atomic_load(&stopped)) {
            continue;
        }
        double *column = columns + a->info.n * omp_get_thread_num();
        clv_status status = a->home.column(a, job->terms ? job->terms->objects[m] : job->first + m, column);
        if (status == CLV_OK) {
            job->use(job, m, column);
        }
        if (status == CLV_OK && m % POLL == POLL - 1 && clv_worked(a->ctx, POLL * a->info.n)) {
            status = clv_stop_failure(a->ctx, "reading the affinity column by column");
        }
        if (status < 0) {
            atomic_store(&stopped, status);
        }
    }
    clv_free(a->ctx, columns);
    return (clv_status)atomic_load(&stopped);
}

/* --- every column once: entries of the output that belong to column i are nobody else's --- */

static void use_in_product(const column_job *job, int64_t i, const double *column) {
    int64_t n = job->a->info.n;
    for (int64_t c = 0; c < job->k; c++) {
        job->y[c * n + i] = clv_dot(column, job->x + c * n, n, 1);
    }
}

static clv_status apply_by_columns(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    return run(&(column_job){.a = a, .count = a->info.n, .use = use_in_product, .x = x, .k = k, .y = y}, threads);
}

static void use_in_sums(const column_job *job, int64_t i, const double *column) {
    int64_t n = job->a->info.n;
    for (int64_t c = 0; c < job->k; c++) {
        job->y[c * n + i] = 0;
    }
    for (int64_t j = 0; j < n; j++) {
        if (job->labels[j] >= 0) {
            job->y[job->labels[j] * n + i] += column[j];
        }
    }
}

static clv_status sums_by_columns(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads) {
    return run(&(column_job){.a = a, .count = a->info.n, .use = use_in_sums, .labels = labels, .k = k, .y = y},
               threads);
}

static void use_in_moments(const column_job *job, int64_t i, const double *column) {
    int64_t n = job->a->info.n;
    job->y[i] = clv_sum(column, n, 1);
    job->y[n + i] = clv_dot(column, column, n, 1);
}

static clv_status moments_by_columns(const clv_affinity *a, int threads, double *sum, double *squares) {
    int64_t n = a->info.n;
    double *sums = CLV_NEW(a->ctx, double, 2 * n);
    clv_status status =
        sums ? run(&(column_job){.a = a, .count = n, .use = use_in_moments, .y = sums}, threads) : CLV_ENOMEM;
    if (status == CLV_OK) {
        *sum = clv_sum(sums, n, 1);
        *squares = clv_sum(sums + n, n, 1);
    }
    clv_free(a->ctx, sums);
    return status;
}

void clv_sheet_line(const clv_sheet *sheet, int64_t i, int64_t j, const double *line, int64_t count) {
    int64_t at = (i - sheet->first) * sheet->n + j;
    if (i < sheet->first || i >= sheet->first + sheet->count) {
        return;
    }
    if (sheet->turned) {
        at = j * sheet->count + i - sheet->first;
        for (int64_t t = 0; t < count; t++, at += sheet->count) {
            if (sheet->scalar == CLV_F32) {
                ((float *)sheet->values)[at] = (float)line[t];
            } else {
                ((double *)sheet->values)[at] = line[t];
            }
        }
        return;
    }
    if (sheet->scalar == CLV_F32) {
        clv_kernels->narrow((float *)sheet->values + at, line, count);
    } else {
        memcpy((double *)sheet->values + at, line, (size_t)count * sizeof *line);
    }
}

static void use_in_sheet(const column_job *job, int64_t m, const double *column) {
    clv_sheet_line(job->sheet, job->first + m, 0, column, job->a->info.n);
}

static clv_status fill_by_columns(const clv_affinity *a, const clv_sheet *out, int threads) {
    column_job job = {.a = a, .first = out->first, .count = out->count, .use = use_in_sheet, .sheet = out};
    return run(&job, threads);
}

/* --- some columns, one after the other --- */

static void use_in_entry(const column_job *job, int64_t m, const double *column) {
    (void)m;
    *job->y = column[job->place];
}

static clv_status entry_by_column(const clv_affinity *a, int64_t i, int64_t j, double *out) {
    return run(&(column_job){.a = a, .first = i, .count = 1, .use = use_in_entry, .place = j, .y = out}, 1);
}

static void use_in_move(const column_job *job, int64_t m, const double *column) {
    (void)m;
    if (job->from) {
        clv_kernels->f64.deduct(job->from, column, job->a->info.n);
    }
    if (job->to) {
        clv_kernels->f64.accumulate(job->to, column, job->a->info.n);
    }
}

static clv_status move_by_column(const clv_affinity *a, int64_t i, double *from, double *to) {
    return run(&(column_job){.a = a, .first = i, .count = 1, .use = use_in_move, .from = from, .to = to}, 1);
}

static void use_in_combination(const column_job *job, int64_t m, const double *column) {
    clv_kernels->f64.add_weighted(job->y, job->terms->weights[m], column, job->a->info.n);
}

static clv_status combine_by_columns(const clv_affinity *a, const clv_terms *terms, double *y, int threads) {
    (void)threads;
    memset(y, 0, (size_t)a->info.n * sizeof *y);
    return run(&(column_job){.a = a, .count = terms->count, .use = use_in_combination, .terms = terms, .y = y}, 1);
}

static void use_in_rows(const column_job *job, int64_t m, const double *column) {
    int64_t n = job->a->info.n;
    for (int64_t c = 0; c < job->k; c++) {
        if (job->x[c * job->count + m] != 0) {
            cblas_daxpy((int)n, job->x[c * job->count + m], column, 1, job->y + c * n, 1);
        }
    }
}

static clv_status rows_by_columns(const clv_affinity *a, const clv_change *change, double *y, int threads) {
    column_job job = {.a = a, .first = change->first, .count = change->count, .use = use_in_rows};
    job.x = change->d;
    job.k = change->k;
    job.y = y;
    (void)threads;
    return run(&job, 1);
}

static void use_in_block(const column_job *job, int64_t m, const double *column) {
    memcpy(job->y + m * job->count, column + job->first, (size_t)job->count * sizeof *column);
}

static void use_in_diagonal(const column_job *job, int64_t i, const double *column) {
    job->y[i] = column[i];
}

/* --- from what else the home has --- */

static bool has_entries(const clv_affinity *a) {
    return a->home.entry != entry_by_column;
}

static clv_status diagonal_by_entries(const clv_affinity *a, double *out) {
    if (!has_entries(a)) {
        return run(&(column_job){.a = a, .count = a->info.n, .use = use_in_diagonal, .y = out}, 1);
    }
    for (int64_t i = 0; i < a->info.n; i++) {
        if (i % ENTRIES_A_POLL == 0 && clv_interrupted(a->ctx)) {
            return clv_stop_failure(a->ctx, "computing the diagonal of the affinity");
        }
        CLV_TRY(a->home.entry(a, i, i, out + i));
    }
    return CLV_OK;
}

static clv_status block_by_entries(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    if (!has_entries(a)) {
        return run(&(column_job){.a = a, .first = first, .count = count, .use = use_in_block, .y = out}, 1);
    }
    for (int64_t e = 0; e < count * count; e++) {
        CLV_TRY(a->home.entry(a, first + e / count, first + e % count, out + e));
    }
    return CLV_OK;
}

static clv_status move_one_by_one(const clv_affinity *a, const clv_moves *moves, double *y, int threads) {
    int64_t n = a->info.n;
    (void)threads;
    for (int64_t m = 0; m < moves->count; m++) {
        int64_t i = moves->objects[m];
        int32_t from = moves->before[i], to = moves->after[i];
        if (from != to) {
            CLV_TRY(a->home.move(a, i, from >= 0 ? y + from * n : NULL, to >= 0 ? y + to * n : NULL));
        }
    }
    return CLV_OK;
}

static clv_status column_on_one(const clv_affinity *a, int64_t i, double *out, int threads) {
    (void)threads;
    return a->home.column(a, i, out);
}

static clv_status largest_unknown(const clv_affinity *a, double *out) {
    (void)a;
    *out = HUGE_VAL;
    return CLV_OK;
}

/* As if columns were computed, and an entry took one unless the home says better. */
static clv_status cost_of_columns(const clv_affinity *a, clv_affinity_cost *out) {
    double n = (double)a->info.n;
    *out = (clv_affinity_cost){.entry = has_entries(a) ? 1 : n, .column = n, .pass = n * n};
    return CLV_OK;
}

#define OR_ELSE(slot, fallback) (home->slot = home->slot ? home->slot : (fallback))

void clv_home_complete(clv_home_functions *home) {
    OR_ELSE(column_threads, column_on_one);
    OR_ELSE(entry, entry_by_column);
    OR_ELSE(diagonal, diagonal_by_entries);
    OR_ELSE(apply, apply_by_columns);
    OR_ELSE(group_sums, sums_by_columns);
    OR_ELSE(rough_apply, home->apply);
    OR_ELSE(rough_sums, home->group_sums);
    OR_ELSE(move, move_by_column);
    OR_ELSE(move_many, move_one_by_one);
    OR_ELSE(rough_moves, home->move_many);
    OR_ELSE(combine, combine_by_columns);
    OR_ELSE(moments, moments_by_columns);
    OR_ELSE(block, block_by_entries);
    OR_ELSE(add_rows, rows_by_columns);
    OR_ELSE(rough_add_rows, home->add_rows);
    OR_ELSE(fill, fill_by_columns);
    OR_ELSE(subset, clv_restricted_copy);
    OR_ELSE(largest, largest_unknown);
    OR_ELSE(cost, cost_of_columns);
}
