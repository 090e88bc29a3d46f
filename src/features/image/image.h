/* Pictures as points: colors, superpixels, textures, regions. One file per stage. */
#ifndef CLV_FEATURES_IMAGE_H
#define CLV_FEATURES_IMAGE_H

#include "kernels/kernels.h"
#include "linalg/linalg.h"

/* Threads for work on all pixels of a picture: small ones take longer to wake them. */
int clv_image_threads(const clv_image *image, int64_t asked);
/* CLV_EUSAGE unless the picture has a size, samples and 1, 3 or 4 channels. */
clv_status clv_image_check(clv_context *ctx, const clv_image *image);
/* A failure when the computation is to stop. */
clv_status clv_image_poll(clv_context *ctx);
/* The same in a loop over pixels, at i of them, `step` at a time: asked about every CLV_POLL_PIXELS. */
enum { CLV_POLL_PIXELS = 1 << 16 };
clv_status clv_image_poll_at(clv_context *ctx, int64_t i, int64_t step);
/* The color of pixel i: over white where it is transparent, three times the same where it is gray. */
void clv_image_rgb(const clv_image *image, int64_t i, double rgb[3]);
/* Brightness of a color, 0 to 255: 0.2125 red + 0.7154 green + 0.0721 blue, rounded. */
uint8_t clv_brightness(const double rgb[3]);

/* CIE L, a, b of all pixels, one plane after the other (3 x pixels); owned. */
clv_status clv_image_lab(clv_context *ctx, const clv_image *image, int threads, float **lab);

/* A region of its own for each connected piece of one label (4 neighbors), numbered in the order of their first
 * pixels. */
clv_status clv_regions_of_pieces(clv_context *ctx, int64_t width, int64_t height, const int32_t *labels,
                                 clv_regions **out);
/* Pixels of every region. */
void clv_region_sizes(const clv_regions *regions, int64_t *sizes /* count */);
/* CLV_EUSAGE unless the regions are of this picture. */
clv_status clv_regions_check(clv_context *ctx, const clv_image *image, const clv_regions *regions);

#endif
