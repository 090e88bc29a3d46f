/* Which affinity suits points, without labels: `--affinity auto`.
 *
 * A sample of the objects is cut into k clusters under three candidates, gaussian, local and local-knn, and each
 * partition is compared with the other two (adjusted Rand index). local-knn is taken unless another one agrees better
 * with the others by more than a margin (clv_agreed_kind): what an affinity alone sees is more often its own artifact
 * than a structure. Margin and candidates are chosen on half of the sets of experiments/defaults, which has the
 * figures. Candidates are cut by their eigenvectors and single moves, without a search and without a bound. */
#include "methods/ncut/ncut.h"

#include "affinity/kinds.h"

#include <math.h>
#include <string.h>

/* SAMPLE objects, or so many a cluster, are enough. Where clusters or columns are many, and cutting or distances cost
 * the more, a sample is a third of the objects at most, so that three candidates on it cost about what one run on all
 * does; fewer than LEAST, or so many a cluster, would be too few, up to half of the objects: beyond that nothing is
 * compared. */
enum { SAMPLE = 500, OBJECTS_A_CLUSTER = 20, MANY = 12, WIDE = 64, LEAST = 250, LEAST_A_CLUSTER = 4 };

static const clv_affinity_kind candidates[] = {CLV_AFFINITY_GAUSSIAN, CLV_AFFINITY_LOCAL, CLV_AFFINITY_LOCAL_KNN};
enum { COUNT = CLV_COUNT(candidates) };

/* --- how far two partitions agree --- */

static double pairs(double count) {
    return count * (count - 1) / 2;
}

/* The adjusted Rand index of labels -1..k-1. `table`: zeros, (k + 1)^2, and 2 (k + 1) for the sums. */
static double agreement(const int32_t *left, const int32_t *right, int64_t n, int64_t k, double *table) {
    int64_t size = k + 1;
    double *rows = table + size * size, *cols = rows + size, both = 0, in_rows = 0, in_cols = 0;
    for (int64_t i = 0; i < n; i++) {
        table[(left[i] + 1) * size + right[i] + 1]++;
        rows[left[i] + 1]++;
        cols[right[i] + 1]++;
    }
    for (int64_t e = 0; e < size * size; e++) {
        both += pairs(table[e]);
    }
    for (int64_t c = 0; c < size; c++) {
        in_rows += pairs(rows[c]);
        in_cols += pairs(cols[c]);
    }
    double expected = in_rows * in_cols / pairs((double)n), most = (in_rows + in_cols) / 2;
    return most > expected ? (both - expected) / (most - expected) : 1;
}

/* The mean agreement of each of the partitions, n labels each, with the others. */
static clv_status compare(clv_context *ctx, const int32_t *labels, int64_t n, int64_t k, double out[COUNT]) {
    int64_t room = (k + 1) * (k + 3);
    double *table = CLV_NEW(ctx, double, room);
    memset(out, 0, COUNT * sizeof *out);
    for (int a = 0; table && a < COUNT; a++) {
        for (int b = 0; b < a; b++) {
            memset(table, 0, (size_t)room * sizeof *table);
            double share = agreement(labels + a * n, labels + b * n, n, k, table) / (COUNT - 1);
            out[a] += share;
            out[b] += share;
        }
    }
    clv_free(ctx, table);
    return table ? CLV_OK : CLV_ENOMEM;
}

/* --- candidates --- */

static clv_status cut(clv_context *ctx, const clv_matrix *points, const clv_ncut_options *asked,
                      const clv_affinity_options *how, int32_t *labels) {
    clv_ncut_options options;
    clv_affinity *affinity;
    clv_result *result = NULL;
    clv_ncut_defaults(&options);
    options.control.threads = asked->control.threads;
    options.k = asked->k;
    options.start = "spectral";
    options.patience = 0;
    options.bound = CLV_NCUT_BOUND_NO;
    CLV_TRY(clv_affinity_build(ctx, points, how, &affinity));
    /* Not by clv_solve: a checkpoint is of the run to come, and so is the advice. */
    clv_status status = clv_ncut_solve(ctx, &(clv_input){.affinity = affinity}, &options, &result);
    if (status >= 0) {
        memcpy(labels, result->labels, (size_t)points->rows * sizeof *labels);
    }
    clv_result_free(result);
    clv_affinity_free(affinity);
    return status < 0 ? status : CLV_OK;
}

static clv_status judge(clv_context *ctx, const clv_matrix *points, const clv_ncut_options *asked,
                        clv_affinity_options *how) {
    int64_t n = points->rows;
    int32_t *labels = CLV_NEW(ctx, int32_t, COUNT * n);
    clv_status status = labels ? CLV_OK : CLV_ENOMEM;
    for (int c = 0; status == CLV_OK && c < COUNT; c++) {
        clv_affinity_options own = *how;
        own.kind = (int)candidates[c];
        status = cut(ctx, points, asked, &own, labels + c * n);
    }
    status = status < 0 ? status : compare(ctx, labels, n, asked->k, how->agreement);
    clv_free(ctx, labels);
    CLV_TRY(status);
    how->kind = (int)clv_agreed_kind(how->agreement);
    how->chosen_on = n;
    how->choice = CLV_CHOICE_COMPARED;
    return CLV_OK;
}

/* --- the sample --- */

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t sample_size(int64_t n, int64_t cols, int64_t k) {
    int64_t enough = larger(SAMPLE, OBJECTS_A_CLUSTER * k), least = larger(LEAST, LEAST_A_CLUSTER * k);
    if (k <= MANY && cols <= WIDE) {
        return enough < n ? enough : n;
    }
    least = least < n / 2 ? least : n / 2;
    return larger(n / 3 < enough ? n / 3 : enough, least);
}

/* So many rows, from a fixed seed, in their order. */
static void draw_rows(const clv_matrix *points, int64_t count, double *out) {
    clv_rng rng = clv_rng_stream(0, 0);
    int64_t taken = 0;
    for (int64_t i = 0; i < points->rows && taken < count; i++) {
        if (clv_rng_uniform(&rng) * (double)(points->rows - i) < (double)(count - taken)) {
            clv_matrix_row(points, i, out + taken++ * points->cols);
        }
    }
}

static clv_status judge_sample(clv_context *ctx, const clv_matrix *points, const clv_ncut_options *asked, int64_t count,
                               clv_affinity_options *how) {
    int64_t numbers;
    if (!clv_mul(count, points->cols, &numbers)) {
        return clv_fail(ctx, CLV_ENOMEM, "%lld rows of %lld columns are more than can be addressed", (long long)count,
                        (long long)points->cols);
    }
    double *rows = CLV_NEW(ctx, double, numbers);
    if (!rows) {
        return CLV_ENOMEM;
    }
    draw_rows(points, count, rows);
    clv_matrix sample = {.rows = count, .cols = points->cols, .values = rows};
    clv_status status = judge(ctx, &sample, asked, how);
    clv_free(ctx, rows);
    return status;
}

/* Whether this affinity of so many objects has room, with all of its entries where that is asked for. */
static bool fits(clv_context *ctx, const clv_matrix *points, int64_t rows, clv_affinity_options how, bool resident) {
    clv_matrix some = *points;
    clv_affinity_info plan;
    some.rows = rows;
    how.kind = CLV_AFFINITY_LOCAL;
    return clv_affinity_plan(ctx, &some, &how, &plan) >= 0 && (!resident || plan.cost.resident);
}

clv_status clv_ncut_choose(clv_context *ctx, const clv_matrix *points, const void *options, clv_affinity_options *how) {
    const clv_ncut_options *asked = options;
    int64_t n = points->rows, count = sample_size(n, points->cols, asked->k);
    bool open = clv_kind_is_open(how), many = asked->k > MANY && LEAST_A_CLUSTER * asked->k > count;
    bool enough = count > 2 * how->neighbors && asked->k <= count / 2 && !many;
    how->kind = CLV_AFFINITY_GAUSSIAN;
    if (!open || asked->k < 2 || !enough || !fits(ctx, points, count, *how, false)) {
        how->choice = open ? CLV_CHOICE_FEW_OBJECTS : CLV_CHOICE_GIVEN;
        return CLV_OK;
    }
    if (!fits(ctx, points, n, *how, true)) {
        how->kind = CLV_AFFINITY_LOCAL_KNN;
        how->choice = CLV_CHOICE_NO_ROOM;
        return CLV_OK;
    }
    return count < n ? judge_sample(ctx, points, asked, count, how) : judge(ctx, points, asked, how);
}
