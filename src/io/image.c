/* What PNG and JPEG have in common: the size that is allowed, and pictures as data. */
#include "io/io.h"

static const int64_t most_pixels = (int64_t)1 << 28;

clv_status clv_image_reserve(clv_context *ctx, const char *name, double most, clv_image *image) {
    int64_t pixels;
    if (image->width < 1 || image->height < 1 || !clv_mul(image->width, image->height, &pixels) ||
        pixels > most_pixels) {
        return clv_fail(ctx, CLV_EDATA, "%s has %lld x %lld pixels, where 1 to %lld are allowed", name,
                        (long long)image->width, (long long)image->height, (long long)most_pixels);
    }
    if ((double)pixels > most) {
        return clv_fail(ctx, CLV_EDATA, "%s declares %lld x %lld pixels, more than the file can hold", name,
                        (long long)image->width, (long long)image->height);
    }
    image->samples = CLV_NEW(ctx, uint8_t, pixels * image->channels);
    return image->samples ? CLV_OK : CLV_ENOMEM;
}

clv_status clv_image_to_data(clv_context *ctx, const clv_image *image, const char *name, clv_data **out) {
    int64_t pixels = image->width * image->height;
    CLV_TRY(clv_data_new_dense(ctx, name, pixels, image->channels, CLV_F64, out));
    double *values = (*out)->values;
    for (int64_t s = 0; s < pixels * image->channels; s++) {
        values[s] = image->samples[s];
    }
    return CLV_OK;
}
