/* Labels of new objects by a result that was kept: its method, options and affinity are those that it names. */
#include "affinity/affinity.h"
#include "methods/methods.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

/* A claim that names what does not exist cannot be used. */
static clv_status refuse_claim(clv_context *ctx, const clv_verdict *doubt) {
    return doubt->reason[0] ? clv_fail(ctx, CLV_EDATA, "%s", doubt->reason) : CLV_OK;
}

int clv_claim_needs_points(const clv_claim *claim) {
    const clv_method *method = clv_claim_method(claim);
    return method && method->takes == CLV_TAKES_AFFINITY;
}

clv_status clv_claim_can_predict(clv_context *ctx, const clv_claim *claim) {
    CLV_NEED(ctx, claim);
    const clv_method *method = clv_claim_method(claim);
    const char *kind = clv_claim_option(claim, "affinity");
    if (!method || !method->predict) {
        return clv_fail(ctx, CLV_EDATA, "results of '%.80s' cannot label new objects", claim->method);
    }
    if (clv_claim_needs_points(claim) && kind && strcmp(kind, "minimax") == 0) {
        return clv_fail(ctx, CLV_EDATA,
                        "a result with a minimax affinity cannot label new objects: they would change the paths "
                        "between the old ones");
    }
    if (clv_claim_needs_points(claim) && !claim->kind[0] && isnan(claim->result->objective.value)) {
        return clv_fail(ctx, CLV_EDATA,
                        "this rough result cannot label new objects: %s was ended before it had the affinity to label "
                        "them by; give it more time, or an affinity that takes less (knn)",
                        method->name);
    }
    clv_verdict doubt = {0};
    clv_claim_has_shape(claim, method, &doubt);
    return refuse_claim(ctx, &doubt);
}

static clv_status predict_by_affinity(clv_context *ctx, const clv_claim *claim, const clv_input *input,
                                      const void *options, int64_t memory, const clv_fresh *fresh, clv_result **out) {
    const clv_method *method = clv_claim_method(claim);
    const clv_control *control = options;
    clv_affinity_options how;
    clv_affinity *a = NULL;
    clv_affinity_info planned;
    clv_verdict doubt = {0};
    CLV_TRY(clv_claimed_affinity(ctx, claim, &how, &doubt));
    CLV_TRY(refuse_claim(ctx, &doubt));
    how.gamma = claim->gamma;
    how.memory = memory;
    how.threads = control->threads;
    CLV_TRY(clv_suit_affinity(ctx, method, input->points, options, &how));
    CLV_TRY(clv_affinity_rehome(ctx, input->points, claim->home, &how, &planned));
    CLV_TRY(clv_affinity_build(ctx, input->points, &how, &a));
    clv_input with = *input;
    with.affinity = a;
    clv_status status = clv_predict(ctx, method, &with, options, claim->result, fresh, out);
    clv_affinity_free(a);
    return status;
}

clv_status clv_claim_predict(clv_context *ctx, const clv_claim *claim, const clv_matrix *points, const clv_fresh *fresh,
                             int64_t memory, int64_t threads, clv_result **out) {
    *out = NULL;
    CLV_NEED(ctx, claim);
    const clv_method *method = clv_claim_method(claim);
    clv_options_room options;
    clv_verdict doubt = {0};
    CLV_TRY(clv_claim_can_predict(ctx, claim));
    if (clv_claim_needs_points(claim) && (!points || points->rows != claim->result->n)) {
        return clv_fail(
            ctx, CLV_EDATA,
            "a result of %s labels new objects by those that were clustered: give these %lld points, not %lld",
            method->name, (long long)claim->result->n, points ? (long long)points->rows : 0);
    }
    if (clv_claim_needs_points(claim) && !clv_claim_is_of(claim, points)) {
        return clv_fail(ctx, CLV_EDATA,
                        "the %lld points given are not those that were clustered, which a result of %s "
                        "labels new objects by",
                        (long long)points->rows, method->name);
    }
    CLV_TRY(clv_claimed_options(ctx, claim, method, threads, &options, &doubt));
    CLV_TRY(refuse_claim(ctx, &doubt));
    clv_input input = {.points = points};
    return clv_claim_needs_points(claim) ? predict_by_affinity(ctx, claim, &input, options.bytes, memory, fresh, out)
                                         : clv_predict(ctx, method, &input, options.bytes, claim->result, fresh, out);
}
