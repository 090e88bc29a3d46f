/* Fuzz target: results read back from JSON, and judged against a small data set when they parse. */
#include "linalg/linalg.h"
#include "report/report.h"

#include <stdlib.h>

static void check(int good) {
    if (!good) {
        abort();
    }
}

static double add_up(const clv_data *data) {
    const clv_matrix *m = data ? clv_data_matrix(data) : NULL;
    double row[64], sum = 0;
    for (int64_t i = 0; m && m->cols <= 64 && i < m->rows; i++) {
        clv_matrix_row(m, i, row);
        for (int64_t j = 0; j < m->cols; j++) {
            sum += row[j];
        }
    }
    return sum;
}

/* A method on points that reads all that it is given. */
static clv_status evaluate(clv_context *ctx, const clv_evidence *evidence, clv_verdict *out) {
    const clv_claim *claim = evidence->claim;
    double sum = add_up(claim->membership) + add_up(claim->centers) + add_up(claim->weights);
    (void)ctx;
    for (int64_t c = 0; c < claim->clusters_count; c++) {
        sum += claim->clusters[c].cohesiveness;
    }
    out->objective = (clv_objective){"sum", sum, 0};
    out->certificate = (clv_certificate){"gap", 0, 0, 1};
    return CLV_OK;
}

static size_t no_memory(const clv_claim *claim, const clv_matrix *points) {
    (void)claim;
    (void)points;
    return 0;
}

static void judge_by_hand(clv_context *ctx, const clv_claim *claim, clv_data *data) {
    const clv_verifier method = {.method = "sum",
                                 .table = clv_ncut_table,
                                 .memory = no_memory,
                                 .evaluate = evaluate,
                                 .points_only = true,
                                 .k_at_most = true,
                                 .unlabeled = !claim->labels};
    clv_verdict verdict;
    if (clv_claim_verify_by(ctx, &method, claim, data, NULL, 0, 1, &verdict) == CLV_OK) {
        check(verdict.reason[0] != '\0');
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
    judge_by_hand(ctx, claim, data);
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
