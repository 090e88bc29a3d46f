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

static clv_status copy_samples(const clv_image *image, const char *name, clv_data *to) {
    enum { TILE = 1 << 18 };
    double *values = to->values;
    int64_t count = image->width * image->height * image->channels;
    for (int64_t s = 0; s < count; s++) {
        if (s % TILE == 0) {
            CLV_TRY(clv_read_on(to->ctx, name, s > 0 ? TILE : 0));
        }
        values[s] = image->samples[s];
    }
    return CLV_OK;
}

clv_status clv_image_to_data(clv_context *ctx, const clv_image *image, const char *name, clv_data **out) {
    CLV_TRY(clv_data_new_dense(ctx, name, image->width * image->height, image->channels, CLV_F64, out));
    clv_status status = copy_samples(image, name, *out);
    if (status < 0) {
        clv_data_free(*out);
        *out = NULL;
    }
    return status;
}
