/* Pictures of another size: means over the area that a pixel covers where the picture shrinks, linear interpolation
 * between the centers of pixels where it grows. Rows, then columns; each its own way. */
#include "features/image/image.h"

#include <math.h>

static const int64_t most_side = 1 << 20;

/* How one side is resampled: new pixel i is the sum of weights[i * taps + t] times old pixel first[i] + t. */
typedef struct axis {
    int64_t taps;
    int64_t *first;
    float *weights;
} axis;

/* The part of [from, to] that lies in [at, at + 1]. */
static double overlap(double from, double to, double at) {
    return fmax(0, fmin(to, at + 1) - fmax(from, at));
}

static void cover_area(axis *a, int64_t old, int64_t size, int64_t i) {
    double from = (double)i * (double)old / (double)size;
    double to = (double)(i + 1) * (double)old / (double)size;
    a->first[i] = (int64_t)from;
    for (int64_t t = 0; t < a->taps; t++) {
        double share = overlap(from, to, (double)(a->first[i] + t)) / (to - from);
        a->weights[i * a->taps + t] = a->first[i] + t < old ? (float)share : 0;
    }
}

static void interpolate(axis *a, int64_t old, int64_t size, int64_t i) {
    double at = ((double)i + 0.5) * (double)old / (double)size - 0.5;
    at = fmin(fmax(at, 0), (double)(old - 1));
    int64_t left = (int64_t)at < old - 1 ? (int64_t)at : old - 1;
    a->first[i] = left;
    a->weights[i * a->taps] = (float)(1 - (at - (double)left));
    a->weights[i * a->taps + 1] = (float)(at - (double)left); /* 0 when there is no right one */
}

static clv_status plan_axis(clv_kept *work, int64_t old, int64_t size, axis *a) {
    a->taps = size < old ? (old + size - 1) / size + 1 : 2;
    a->first = CLV_TAKE(work, int64_t, size);
    a->weights = CLV_TAKE0(work, float, size * a->taps);
    CLV_TRY(work->status);
    for (int64_t i = 0; i < size; i++) {
        (size < old ? cover_area : interpolate)(a, old, size, i);
    }
    return CLV_OK;
}

static clv_status resample_rows(clv_context *ctx, const clv_image *image, const axis *a, int64_t width, float *out) {
    int64_t channels = image->channels;
    for (int64_t y = 0; y < image->height; y++) {
        CLV_TRY(clv_image_poll(ctx));
        const uint8_t *row = image->samples + y * image->width * channels;
        for (int64_t x = 0; x < width * channels; x++) {
            const float *weights = a->weights + x / channels * a->taps;
            int64_t first = a->first[x / channels];
            float sum = 0;
            for (int64_t t = 0; t < a->taps && first + t < image->width; t++) {
                sum += weights[t] * (float)row[(first + t) * channels + x % channels];
            }
            out[y * width * channels + x] = sum;
        }
    }
    return CLV_OK;
}

static clv_status resample_columns(clv_context *ctx, const float *rows, const axis *a, int64_t old, int64_t stride,
                                   clv_image *out) {
    for (int64_t y = 0; y < out->height; y++) {
        CLV_TRY(clv_image_poll(ctx));
        const float *weights = a->weights + y * a->taps;
        for (int64_t x = 0; x < stride; x++) {
            float sum = 0;
            for (int64_t t = 0; t < a->taps && a->first[y] + t < old; t++) {
                sum += weights[t] * rows[(a->first[y] + t) * stride + x];
            }
            out->samples[y * stride + x] = (uint8_t)fminf(sum + 0.5f, 255);
        }
    }
    return CLV_OK;
}

clv_status clv_image_resize(clv_context *ctx, const clv_image *image, int64_t width, int64_t height, clv_image *out) {
    *out = (clv_image){0};
    CLV_NEED(ctx, image);
    CLV_TRY(clv_image_check(ctx, image));
    if (width < 1 || height < 1 || width > most_side || height > most_side || width > INT32_MAX / height) {
        return clv_fail(
            ctx, CLV_EUSAGE,
            "a picture cannot be resized to %lld x %lld pixels: each side must be 1 to %lld, and the total at most %d",
            (long long)width, (long long)height, (long long)most_side, INT32_MAX);
    }
    axis across = {0}, down = {0};
    int64_t stride = width * image->channels;
    clv_kept work = {.ctx = ctx};
    float *rows = CLV_TAKE(&work, float, image->height *stride);
    clv_image made = {width, height, image->channels, CLV_NEW(ctx, uint8_t, height * stride)};
    clv_status status = rows && made.samples ? plan_axis(&work, image->width, width, &across) : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = plan_axis(&work, image->height, height, &down);
    }
    if (status == CLV_OK) {
        status = resample_rows(ctx, image, &across, width, rows);
    }
    if (status == CLV_OK) {
        status = resample_columns(ctx, rows, &down, image->height, stride, &made);
    }
    if (status == CLV_OK) {
        *out = made;
    } else {
        clv_free(ctx, made.samples);
    }
    clv_free_kept(&work);
    return status;
}
