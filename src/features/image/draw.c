/* A segmentation to look at: borders drawn on the picture. */
#include "features/image/image.h"

#include <math.h>

/* Whether a pixel has another label than the one on its right or below: lines of one pixel. */
static bool is_border(const clv_image *image, const int32_t *labels, int64_t i) {
    bool right = i % image->width + 1 < image->width && labels[i] != labels[i + 1];
    bool below = i / image->width + 1 < image->height && labels[i] != labels[i + image->width];
    return right || below;
}

clv_status clv_image_overlay(clv_context *ctx, const clv_image *image, const int32_t *labels, clv_image *out) {
    static const uint8_t line[3] = {255, 40, 0};
    *out = (clv_image){0};
    CLV_TRY(clv_image_check(ctx, image));
    int64_t pixels = image->width * image->height;
    clv_image made = {image->width, image->height, 3, CLV_NEW(ctx, uint8_t, 3 * pixels)};
    if (!made.samples) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < pixels; i++) {
        double rgb[3];
        clv_image_rgb(image, i, rgb);
        for (int c = 0; c < 3; c++) {
            made.samples[3 * i + c] = is_border(image, labels, i) ? line[c] : (uint8_t)lround(rgb[c]);
        }
    }
    *out = made;
    return CLV_OK;
}
