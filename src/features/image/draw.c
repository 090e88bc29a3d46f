/* A segmentation to look at: borders drawn on the picture, segments painted in their mean colors. */
#include "features/image/image.h"

#include <math.h>

static clv_status make_rgb(clv_context *ctx, const clv_image *image, clv_image *out) {
    *out = (clv_image){0};
    CLV_TRY(clv_image_check(ctx, image));
    int64_t pixels = image->width * image->height;
    clv_image made = {image->width, image->height, 3, CLV_NEW(ctx, uint8_t, 3 * pixels)};
    if (!made.samples) {
        return CLV_ENOMEM;
    }
    *out = made;
    return CLV_OK;
}

static void put_pixel(clv_image *image, int64_t i, const double rgb[3]) {
    for (int c = 0; c < 3; c++) {
        image->samples[3 * i + c] = (uint8_t)lround(rgb[c]);
    }
}

/* --- borders --- */

/* Whether a pixel has another label than the one on its right or below: lines of one pixel. */
static bool is_border(const clv_image *image, const int32_t *labels, int64_t i) {
    bool right = i % image->width + 1 < image->width && labels[i] != labels[i + 1];
    bool below = i / image->width + 1 < image->height && labels[i] != labels[i + image->width];
    return right || below;
}

/* Whether a pixel touches a line: its edge. */
static bool is_edge(const clv_image *image, const int32_t *labels, int64_t i) {
    int64_t x = i % image->width, y = i / image->width;
    return (x > 0 && is_border(image, labels, i - 1)) || (x + 1 < image->width && is_border(image, labels, i + 1)) ||
           (y > 0 && is_border(image, labels, i - image->width)) ||
           (y + 1 < image->height && is_border(image, labels, i + image->width));
}

/* A bright line with dark edges is seen on any picture. */
clv_status clv_image_overlay(clv_context *ctx, const clv_image *image, const int32_t *labels, clv_image *out) {
    CLV_NEED(ctx, image);
    CLV_NEED(ctx, labels);
    static const double line[3] = {255, 225, 0}, edge[3] = {0, 0, 0};
    CLV_TRY(make_rgb(ctx, image, out));
    for (int64_t i = 0; i < image->width * image->height; i++) {
        double rgb[3];
        clv_image_rgb(image, i, rgb);
        put_pixel(out, i, is_border(image, labels, i) ? line : is_edge(image, labels, i) ? edge : rgb);
    }
    return CLV_OK;
}

/* --- segments --- */

/* The sums of colors and the pixels of each label. */
typedef struct segment {
    double rgb[3], pixels;
} segment;

static void add_colors(const clv_image *image, const int32_t *labels, segment *sums) {
    for (int64_t i = 0; i < image->width * image->height; i++) {
        double rgb[3];
        clv_image_rgb(image, i, rgb);
        for (int c = 0; c < 3 && labels[i] >= 0; c++) {
            sums[labels[i]].rgb[c] += rgb[c];
            sums[labels[i]].pixels += c == 0;
        }
    }
}

clv_status clv_image_fill(clv_context *ctx, const clv_image *image, const int32_t *labels, clv_image *out) {
    CLV_NEED(ctx, image);
    CLV_NEED(ctx, labels);
    int64_t most = -1;
    CLV_TRY(make_rgb(ctx, image, out));
    for (int64_t i = 0; i < image->width * image->height; i++) {
        most = labels[i] > most ? labels[i] : most;
    }
    segment *sums = CLV_NEW0(ctx, segment, most + 1);
    if (!sums) {
        clv_free(ctx, out->samples);
        *out = (clv_image){0};
        return CLV_ENOMEM;
    }
    add_colors(image, labels, sums);
    for (int64_t i = 0; i < image->width * image->height; i++) {
        double rgb[3] = {0, 0, 0};
        for (int c = 0; c < 3 && labels[i] >= 0; c++) {
            rgb[c] = sums[labels[i]].rgb[c] / sums[labels[i]].pixels;
        }
        put_pixel(out, i, rgb);
    }
    clv_free(ctx, sums);
    return CLV_OK;
}
