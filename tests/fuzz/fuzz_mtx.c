/* Matrix Market files. */
#include "fuzz.h"
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_memory memory;
    clv_context *ctx = fuzz_open(&memory);
    clv_data *data;
    fuzz_check(ctx, clv_mtx_parse(ctx, (clv_bytes){bytes, size, "fuzz.mtx"}, &data), data);
    fuzz_close(ctx, &memory);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    return fuzz_mutate(fuzz_mutate_mtx, bytes, size, most, seed);
}
