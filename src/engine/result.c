/* Results: their making and end, and the counts that follow from labels. */
#include "engine/driver.h"

#include <math.h>

clv_status clv_result_new(clv_context *ctx, int64_t n, int64_t k, clv_result **out) {
    *out = NULL;
    clv_result *result = CLV_NEW0(ctx, clv_result, 1);
    if (!result) {
        return CLV_ENOMEM;
    }
    result->ctx = ctx;
    result->n = n;
    result->k = k;
    result->objective.value = NAN;
    result->certificate.value = NAN;
    result->bound.value = NAN;
    if (n > 0) {
        result->labels = CLV_NEW0(ctx, int32_t, n);
        result->sizes = CLV_NEW0(ctx, int64_t, k);
        if (!result->labels || !result->sizes) {
            clv_result_free(result);
            return CLV_ENOMEM;
        }
    }
    *out = result;
    return CLV_OK;
}

void clv_result_free(clv_result *result) {
    if (result) {
        clv_context *ctx = result->ctx;
        clv_free(ctx, result->restarts);
        clv_free(ctx, result->trace);
        clv_free(ctx, result->labels);
        clv_free(ctx, result->sizes);
        clv_free(ctx, result->eigenvalues);
        if (result->soft) {
            clv_free(ctx, result->soft->entropy);
            clv_free(ctx, result->soft->expected_sizes);
            clv_free(ctx, result->soft);
        }
        clv_data_free(result->membership);
        clv_data_free(result->centers);
        clv_data_free(result->weights);
        clv_free(ctx, result->intercepts);
        clv_free(ctx, result->classes);
        clv_free(ctx, result->clusters);
        clv_free(ctx, result);
    }
}

void clv_result_count(clv_result *result) {
    result->left_out = 0;
    for (int64_t c = 0; c < result->k; c++) {
        result->sizes[c] = 0;
    }
    for (int64_t i = 0; i < result->n; i++) {
        if (result->labels[i] < 0) {
            result->left_out++;
        } else {
            result->sizes[result->labels[i]]++;
        }
    }
}

const char *clv_stop_name(clv_stop stop) {
    switch (stop) {
    case CLV_CONVERGED:
        return "converged";
    case CLV_STALLED:
        return "stalled";
    case CLV_ITERATION_LIMIT:
        return "iteration limit";
    case CLV_TIME_LIMIT:
        return "time limit";
    case CLV_CANCELLED:
        return "cancelled";
    }
    return "unknown";
}
