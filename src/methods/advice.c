/* Looks at a run for what to warn of: its points, its similarities, its clusters. */
#include "methods/advice.h"

static clv_status advise(clv_advice *advice) {
    bool few = advice->result->n < CLV_FEW_OBJECTS;
    CLV_TRY(few ? CLV_OK : clv_advise_on_points(advice));
    if (advice->settled) {
        return CLV_OK;
    }
    CLV_TRY(clv_advise_on_similarities(advice));
    return few || advice->useless ? CLV_OK : clv_advise_on_clusters(advice);
}

/* Also of a run that was ended, in a moment: what is wrong with its data is what a longer one ends with. */
clv_status clv_advise(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                      clv_result *result) {
    clv_affinity_info info;
    clv_advice advice = {.ctx = ctx, .method = method, .input = input, .options = options, .result = result};
    if (!result->labels || !clv_method_gives(method, "warnings")) {
        return CLV_OK;
    }
    if (method->takes == CLV_TAKES_AFFINITY) {
        clv_affinity_describe(input->affinity, &info);
        advice.info = &info;
        advice.points = clv_affinity_points(input->affinity);
    } else if (method->takes == CLV_TAKES_POINTS) {
        advice.points = input->points;
    }
    clv_status status = advise(&advice);
    return clv_is_stop(status) ? CLV_OK : status;
}
