/* .npy as a matrix, as labels and as a picture. */
#include "fuzz.h"
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_memory memory;
    clv_context *ctx = fuzz_open(&memory);
    clv_bytes input = {bytes, size, "fuzz.npy"};
    clv_data *data;
    clv_image image;
    int64_t n;
    int32_t *labels;
    fuzz_check(ctx, clv_npy_parse(ctx, input, &data), data);
    clv_npy_parse_labels(ctx, input, &n, &labels);
    clv_release(ctx, labels);
    clv_npy_parse_image(ctx, input, &image);
    clv_release(ctx, image.samples);
    fuzz_close(ctx, &memory);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    return fuzz_mutate(fuzz_mutate_npy, bytes, size, most, seed);
}
