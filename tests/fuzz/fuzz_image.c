/* PNG and JPEG: the same bytes to both readers. */
/* Some 10,000 pixels: where there are more, nothing but time is spent on them. */
#define FUZZ_MOST_BYTES ((size_t)256 << 10)
#include "fuzz.h"
#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_memory memory;
    clv_context *ctx = fuzz_open(&memory);
    clv_image image;
    clv_data *data = NULL;
    if (clv_png_parse(ctx, (clv_bytes){bytes, size, "fuzz.png"}, &image) == CLV_OK) {
        fuzz_check(ctx, clv_image_to_data(ctx, &image, "fuzz.png", &data), data);
    }
    clv_release(ctx, image.samples);
    if (clv_jpeg_parse(ctx, (clv_bytes){bytes, size, "fuzz.jpg"}, &image) == CLV_OK) {
        fuzz_check(ctx, clv_image_to_data(ctx, &image, "fuzz.jpg", &data), data);
    }
    clv_release(ctx, image.samples);
    fuzz_close(ctx, &memory);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    return fuzz_mutate(fuzz_mutate_png, bytes, size, most, seed);
}
