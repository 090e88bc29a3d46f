/* MATLAB files, with and without the name of a variable. */
#include "fuzz.h"

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
