/* libsvm text. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_memory memory;
    clv_context *ctx = fuzz_open(&memory);
    clv_data *data;
    fuzz_check(ctx, clv_svm_parse(ctx, (clv_bytes){bytes, size, "fuzz.svm"}, &data), data);
    fuzz_close(ctx, &memory);
    return 0;
}
