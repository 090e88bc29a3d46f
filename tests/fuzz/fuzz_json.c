/* Fuzz target: results read back from JSON, and judged against a small data set when they parse. */
#include "linalg/linalg.h"
#include "report/report.h"

#include <stdlib.h>

static void check(int good) {
    if (!good) {
        abort();
    }
}

static void judge(clv_context *ctx, const clv_claim *claim) {
    clv_data *data = NULL;
    clv_verdict verdict;
    if (claim->n > 16 || clv_data_new_dense(ctx, "fuzz", claim->n, claim->n, CLV_F64, &data) < 0) {
        return;
    }
    for (int64_t i = 0; i < claim->n * claim->n; i++) {
        ((double *)data->values)[i] = i % (claim->n + 1) == 0 ? 1 : 0.5;
    }
    if (clv_claim_verify(ctx, claim, data, 0, 1, &verdict) == CLV_OK) {
        check(verdict.reason[0] != '\0');
    }
    clv_data_free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    clv_context *ctx;
    clv_claim *claim = NULL;
    size_t now, peak;
    check(clv_context_new(NULL, &ctx) == CLV_OK);
    if (clv_claim_parse(ctx, "fuzz.json", (const char *)bytes, size, &claim) == CLV_OK) {
        judge(ctx, claim);
    } else {
        check(clv_message(ctx)[0] != '\0' && !claim);
    }
    clv_claim_free(claim);
    clv_context_memory(ctx, &now, &peak);
    check(now == 0);
    clv_context_free(ctx);
    return 0;
}
