/* MATLAB files, with and without the name of a variable. */
#include "fuzz.h"
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_memory memory;
    clv_context *ctx = fuzz_open(&memory);
    clv_bytes input = {bytes, size, "fuzz.mat"};
    clv_data *data;
    fuzz_check(ctx, clv_mat_parse(ctx, input, NULL, &data), data);
    fuzz_check(ctx, clv_mat_parse(ctx, input, "x", &data), data);
    fuzz_close(ctx, &memory);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    return fuzz_mutate(fuzz_mutate_mat, bytes, size, most, seed);
}
