/* (A + A')/2 of a given matrix, as an owned copy that is symmetric to the last bit. Dense: n^2 numbers, read in blocks
 * that fit the cache both ways. CSR: the union of both patterns, by merging the rows of A with those of its transpose.
 */
#include "affinity/kinds.h"

enum { BLOCK = 64, POLL = 1024 };

/* --- dense --- */

static void average_block(const clv_matrix *given, int64_t i0, int64_t j0, void *out) {
    int64_t n = given->rows;
    int64_t i1 = n - i0 < BLOCK ? n : i0 + BLOCK, j1 = n - j0 < BLOCK ? n : j0 + BLOCK;
    for (int64_t i = i0; i < i1; i++) {
        for (int64_t j = j0; j < j1; j++) {
            double mean = clv_mean_of(clv_stored(given, i * n + j), clv_stored(given, j * n + i));
            if (given->scalar == CLV_F32) {
                ((float *)out)[i * n + j] = (float)mean;
            } else {
                ((double *)out)[i * n + j] = mean;
            }
        }
    }
}

clv_status clv_symmetrize_dense(clv_context *ctx, const clv_matrix *given, int threads, void *out) {
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic)
    for (int64_t i = 0; i < given->rows; i += BLOCK) {
        bool goes_on = clv_goes_on(ctx, &stopped, BLOCK * given->rows);
        for (int64_t j = 0; j < given->rows && goes_on; j += BLOCK) {
            average_block(given, i, j, out);
        }
    }
    return stopped ? clv_stop_failure(ctx, "making the affinity symmetric") : CLV_OK;
}

/* --- sparse --- */

/* Row i of the mean of a and b: how many entries it has; written from `at` on unless `out` is NULL. */
static int64_t merge_row(const clv_matrix *a, const clv_matrix *b, int64_t i, clv_data *out, int64_t at) {
    const double *left = a->values, *right = b->values;
    int64_t l = a->start[i], r = b->start[i], count = 0;
    while (l < a->start[i + 1] || r < b->start[i + 1]) {
        int32_t in_left = l < a->start[i + 1] ? a->index[l] : INT32_MAX;
        int32_t in_right = r < b->start[i + 1] ? b->index[r] : INT32_MAX;
        int32_t j = in_left < in_right ? in_left : in_right;
        if (out) {
            out->index[at + count] = j;
            ((double *)out->values)[at + count] = clv_mean_of(in_left == j ? left[l] : 0, in_right == j ? right[r] : 0);
        }
        l += in_left == j;
        r += in_right == j;
        count++;
    }
    return count;
}

static clv_status merge(clv_context *ctx, const clv_matrix *a, const clv_matrix *b, clv_data **out) {
    int64_t total = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        total += merge_row(a, b, i, NULL, 0);
    }
    CLV_TRY(clv_data_new_csr(ctx, "affinity", a->rows, a->rows, total, out));
    int64_t *start = (*out)->start;
    for (int64_t i = 0, at = 0; i < a->rows; i++) {
        if (i % POLL == 0 && clv_worked(ctx, POLL * (total / a->rows + 1))) {
            return clv_stop_failure(ctx, "making the affinity symmetric");
        }
        at += merge_row(a, b, i, *out, at);
        start[i + 1] = at;
    }
    return CLV_OK;
}

clv_status clv_symmetrize_sparse(clv_context *ctx, const clv_matrix *given, clv_data **out) {
    clv_data *mirror = NULL;
    *out = NULL;
    clv_status status = clv_csr_transpose(ctx, "affinity", given, &mirror);
    if (status == CLV_OK) {
        status = merge(ctx, given, &mirror->matrix, out);
    }
    clv_data_free(mirror);
    return status;
}
