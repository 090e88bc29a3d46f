/* Labels of new objects, a row of similarities each, over threads: no row depends on another. Whatever the number of
 * threads, the bad similarity that is reported is the first one. */
#include "methods/fresh.h"

#include <omp.h>

clv_status clv_prediction_new(clv_context *ctx, const clv_result *result, const clv_affinity *a, const clv_fresh *fresh,
                              clv_result **out) {
    int64_t count = (fresh->similarities ? fresh->similarities : fresh->points)->rows;
    if (a && clv_affinity_size(a) != result->n) {
        return clv_fail(ctx, CLV_EDATA, "the result is of %lld objects, but the affinity is of %lld",
                        (long long)result->n, (long long)clv_affinity_size(a));
    }
    CLV_TRY(clv_result_new(ctx, count, result->k, out));
    (*out)->method = result->method;
    return CLV_OK;
}

/* --- one row each --- */

clv_status clv_fresh_fault(const clv_fresh_reader *reader, int64_t object, clv_fault fault) {
    if (reader->least < 0) {
        return clv_fail(reader->ctx, CLV_EDATA,
                        "the similarity of new object %lld to object %lld is %g; it must be finite and at least %g",
                        (long long)object + 1, (long long)fault.object + 1, fault.value, reader->least);
    }
    return clv_fail(reader->ctx, CLV_EDATA,
                    "the similarity of new object %lld to object %lld is %g; it must be finite and not negative",
                    (long long)object + 1, (long long)fault.object + 1, fault.value);
}

/* Labels of the rows of `cross`, which are the new objects from `first` on. */
static clv_status label_rows(void *user, const clv_matrix *cross, int64_t first) {
    const clv_fresh_reader *reader = user;
    int64_t bad_row = INT64_MAX, k = reader->out->k;
    clv_fault fault;
#pragma omp parallel for num_threads(clv_team(reader->threads)) schedule(static) reduction(min : bad_row) private(fault)
    for (int64_t r = 0; r < cross->rows; r++) {
        fault.object = -1;
        reader->out->labels[first + r] =
            reader->rule(reader->user, cross, r, reader->similar + omp_get_thread_num() * k, &fault);
        if (fault.object >= 0 && r < bad_row) {
            bad_row = r;
        }
    }
    if (bad_row < INT64_MAX) {
        reader->rule(reader->user, cross, bad_row, reader->similar, &fault);
        return clv_fresh_fault(reader, first + bad_row, fault);
    }
    return CLV_OK;
}

/* --- all of them --- */

static clv_status read_given(clv_fresh_reader *reader, const clv_matrix *similarities) {
    if (similarities->cols != reader->n) {
        return clv_fail(reader->ctx, CLV_EDATA,
                        "the similarities of the new objects have %lld columns, but there are %lld objects",
                        (long long)similarities->cols, (long long)reader->n);
    }
    CLV_TRY(reader->prepare ? reader->prepare(reader->user, NULL) : CLV_OK);
    return reader->rule ? label_rows(reader, similarities, 0) : reader->use(reader->user, similarities, 0);
}

static clv_status read_points(clv_fresh_reader *reader, const clv_matrix *points, clv_cross *cross) {
    CLV_TRY(clv_cross_new(reader->ctx, reader->affinity, reader->threads, cross));
    CLV_TRY(reader->prepare ? reader->prepare(reader->user, cross) : CLV_OK);
    return reader->rule ? clv_cross_blocks(cross, points, reader->threads, label_rows, reader)
                        : clv_cross_blocks(cross, points, reader->threads, reader->use, reader->user);
}

static clv_status read_all(clv_fresh_reader *reader, const clv_fresh *fresh) {
    clv_cross cross;
    if (fresh->similarities) {
        return read_given(reader, fresh->similarities);
    }
    clv_status status = read_points(reader, fresh->points, &cross);
    clv_cross_free(&cross);
    return status;
}

clv_status clv_fresh_read(clv_fresh_reader *reader, const clv_fresh *fresh) {
    int64_t entries;
    if (!reader->rule) {
        return read_all(reader, fresh);
    }
    if (!clv_mul(reader->out->k, reader->threads, &entries)) {
        return clv_fail(reader->ctx, CLV_ENOMEM, "sums to %lld clusters are more than can be addressed",
                        (long long)reader->out->k);
    }
    reader->similar = CLV_NEW(reader->ctx, double, entries);
    clv_status status = reader->similar ? read_all(reader, fresh) : CLV_ENOMEM;
    clv_free(reader->ctx, reader->similar);
    if (status == CLV_OK) {
        clv_result_count(reader->out);
    }
    return status;
}
