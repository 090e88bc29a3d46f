/* Local binary patterns (Ojala, Pietikainen and Maenpaa 2002): the eight neighbors of a pixel on a circle of radius 1,
 * each no darker than the pixel or darker. A pattern with at most two changes around the circle is named by its number
 * of lighter neighbors (0 to 8), all others share the name 9: turning the picture changes nothing.
 *
 * Values between pixels are interpolated linearly, beyond the picture they are 0. Neighbors as dark as the pixel count
 * as lighter, rounding of the interpolation aside: a flat patch is pattern 8. */
#include "features/image/image.h"

enum { NEIGHBORS = 8, OTHER = CLV_LBP_CODES - 1 };

#define DIAGONAL 0.70711 /* of the neighbors at 45 degrees, to five digits as is usual */
#define ROUNDING 1e-9

/* A neighbor of the pixel at `at`, between the four pixels toward (dx, dy) = (+-1, +-1). */
static double diagonal_at(const uint8_t *at, int64_t stride, int dx, int dy) {
    double near_row = (1 - DIAGONAL) * at[0] + DIAGONAL * at[dx];
    double far_row = (1 - DIAGONAL) * at[dy * stride] + DIAGONAL * at[dy * stride + dx];
    return (1 - DIAGONAL) * near_row + DIAGONAL * far_row;
}

static uint8_t pattern_at(const uint8_t *at, int64_t stride) {
    static const int across[NEIGHBORS] = {1, 1, 0, -1, -1, -1, 0, 1};
    static const int down[NEIGHBORS] = {0, -1, -1, -1, 0, 1, 1, 1};
    int lighter[NEIGHBORS], count = 0, changes = 0;
    for (int i = 0; i < NEIGHBORS; i++) {
        double value = i % 2 ? diagonal_at(at, stride, across[i], down[i]) : at[down[i] * stride + across[i]];
        lighter[i] = value >= *at - ROUNDING;
        count += lighter[i];
    }
    for (int i = 0; i < NEIGHBORS; i++) {
        changes += lighter[i] != lighter[(i + 1) % NEIGHBORS];
    }
    return (uint8_t)(changes <= 2 ? count : OTHER);
}

clv_status clv_image_lbp(clv_context *ctx, const clv_image *image, int64_t threads, uint8_t *codes) {
    CLV_NEED(ctx, image);
    CLV_TRY(clv_image_check(ctx, image));
    int64_t width = image->width, height = image->height, stride = width + 2;
    uint8_t *gray = CLV_NEW0(ctx, uint8_t, stride * (height + 2)); /* with a black frame */
    if (!gray) {
        return CLV_ENOMEM;
    }
#pragma omp parallel for num_threads(clv_team(clv_image_threads(image, threads))) schedule(static)
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            double rgb[3];
            clv_image_rgb(image, y * width + x, rgb);
            gray[(y + 1) * stride + x + 1] = clv_brightness(rgb);
        }
    }
#pragma omp parallel for num_threads(clv_team(clv_image_threads(image, threads))) schedule(static)
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            codes[y * width + x] = pattern_at(gray + (y + 1) * stride + x + 1, stride);
        }
    }
    clv_free(ctx, gray);
    return CLV_OK;
}
