/* Results read back from JSON, by which new objects are labeled: whatever stands in them, there are labels, or there is
 * a sentence. */
#include "draw.h"
#include "mutate.h"
#include "report/report.h"

enum { MOST = 16 };

/* Of three new objects: by points of any width, and by similarities. */
static void predict(clv_context *ctx, const clv_claim *claim) {
    double numbers[MOST * MOST];
    int64_t n = clv_claim_result(claim)->n;
    for (int64_t i = 0; i < MOST * MOST; i++) {
        numbers[i] = (double)(i % 5) / 4;
    }
    for (int64_t cols = 1; cols <= 4 && n >= 1 && n <= MOST; cols++) {
        const clv_matrix old = {.rows = n, .cols = cols, .values = numbers};
        const clv_matrix fresh = {.rows = 3, .cols = cols, .values = numbers};
        const clv_matrix similar = {.rows = 3, .cols = n, .values = numbers};
        const clv_fresh ways[] = {{.points = &fresh}, {.similarities = &similar}};
        for (size_t w = 0; w < CLV_COUNT(ways); w++) {
            clv_result *found = NULL;
            clv_status status = clv_claim_predict(ctx, claim, &old, &ways[w], 4 << 20, 1, &found);
            if (status == CLV_OK ? !found || found->n != 3 : found || clv_message(ctx)[0] == '\0') {
                abort();
            }
            clv_result_free(found);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_memory memory;
    clv_claim *claim = NULL;
    int polls = 0;
    clv_context *ctx = fuzz_open(&memory);
    clv_context_set_interrupt(ctx, fuzz_has_asked_enough, &polls);
    if (clv_claim_parse(ctx, "fuzz.json", (const char *)bytes, size, NULL, &claim) == CLV_OK) {
        if (clv_claim_can_predict(ctx, claim) == CLV_OK) {
            predict(ctx, claim);
        } else if (clv_message(ctx)[0] == '\0') {
            abort();
        }
    }
    clv_claim_free(claim);
    fuzz_close(ctx, &memory);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    return fuzz_mutate(fuzz_mutate_json, bytes, size, most, seed);
}
