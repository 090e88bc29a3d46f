/* Labels of new objects, a row of similarities each, over threads: no row depends on another. Whatever the number of
 * threads, the bad similarity that is reported is the first one. */
#include "methods/fresh.h"

#include <omp.h>

static clv_status report_fault(const clv_labeler *fresh, int64_t object, clv_fault fault) {
    if (fresh->least < 0) {
        return clv_fail(fresh->ctx, CLV_EDATA,
                        "the similarity of new object %lld to object %lld is %g; it must be finite and at least %g",
                        (long long)object + 1, (long long)fault.object + 1, fault.value, fresh->least);
    }
    return clv_fail(fresh->ctx, CLV_EDATA,
                    "the similarity of new object %lld to object %lld is %g; it must be finite and not negative",
                    (long long)object + 1, (long long)fault.object + 1, fault.value);
}

/* Labels of the rows of `cross`, which are the new objects from `first` on. */
static clv_status label_rows(void *user, const clv_matrix *cross, int64_t first) {
    const clv_labeler *fresh = user;
    int64_t bad_row = INT64_MAX;
    clv_fault fault;
#pragma omp parallel for num_threads(fresh->threads) schedule(static) reduction(min : bad_row) private(fault)
    for (int64_t r = 0; r < cross->rows; r++) {
        fault.object = -1;
        fresh->out[first + r] =
            fresh->rule(fresh->user, cross, r, fresh->similar + omp_get_thread_num() * fresh->k, &fault);
        if (fault.object >= 0 && r < bad_row) {
            bad_row = r;
        }
    }
    if (bad_row < INT64_MAX) {
        fresh->rule(fresh->user, cross, bad_row, fresh->similar, &fault);
        return report_fault(fresh, first + bad_row, fault);
    }
    return CLV_OK;
}

static clv_status new_sums(clv_labeler *fresh) {
    int64_t entries;
    if (!clv_mul(fresh->k, fresh->threads, &entries)) {
        return clv_fail(fresh->ctx, CLV_ENOMEM, "sums to %lld clusters are more than memory can address",
                        (long long)fresh->k);
    }
    fresh->similar = CLV_NEW(fresh->ctx, double, entries);
    return fresh->similar ? CLV_OK : CLV_ENOMEM;
}

static void free_sums(clv_labeler *fresh) {
    clv_free(fresh->ctx, fresh->similar);
    fresh->similar = NULL;
}

clv_status clv_fresh_check(clv_context *ctx, const clv_matrix *cross, int64_t n) {
    if (cross->cols != n) {
        return clv_fail(ctx, CLV_EDATA,
                        "the similarities of the new objects have %lld columns, but there are %lld objects",
                        (long long)cross->cols, (long long)n);
    }
    return CLV_OK;
}

clv_status clv_prediction_new(clv_context *ctx, const clv_result *result, const clv_affinity *a, int64_t m,
                              clv_result **out) {
    if (a && clv_affinity_size(a) != result->n) {
        return clv_fail(ctx, CLV_EDATA, "the result is of %lld objects, but the affinity is of %lld",
                        (long long)result->n, (long long)clv_affinity_size(a));
    }
    CLV_TRY(clv_result_new(ctx, m, result->k, out));
    (*out)->method = result->method;
    return CLV_OK;
}

clv_status clv_fresh_label(clv_labeler *fresh, const clv_matrix *cross) {
    CLV_TRY(new_sums(fresh));
    clv_status status = label_rows(fresh, cross, 0);
    free_sums(fresh);
    return status;
}

clv_status clv_fresh_label_points(clv_labeler *fresh, const clv_cross *cross, const clv_matrix *points) {
    CLV_TRY(new_sums(fresh));
    clv_status status = clv_cross_blocks(cross, points, fresh->threads, label_rows, fresh);
    free_sums(fresh);
    return status;
}
