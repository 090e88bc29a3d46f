/* A small picture, from bytes: superpixels, their features and similarities, labels made whole and drawn. */
#include "fuzz.h"

#include <string.h>

enum { MOST_SIDE = 12 };

static void check(bool good) {
    if (!good) {
        abort();
    }
}

static void check_labels(const int32_t *labels, int64_t pixels, int64_t least, int64_t most) {
    for (int64_t i = 0; i < pixels; i++) {
        check(labels[i] >= least && labels[i] < most);
    }
}

/* A failure has a sentence, and nothing else. */
static void check_data(clv_context *ctx, clv_status status, clv_data *data, int64_t rows) {
    check(status == CLV_OK ? clv_data_matrix(data)->rows == rows && clv_data_check_finite(data) == CLV_OK
                           : !data && clv_message(ctx)[0] != '\0');
    clv_data_free(data);
}

static void use_regions(clv_context *ctx, const clv_image *image, const clv_regions *regions, int64_t bins) {
    clv_region_weights weights;
    clv_data *data = NULL, *points = NULL;
    clv_region_defaults(&weights);
    check_labels(regions->labels, image->width * image->height, 0, regions->count);
    check_data(ctx, clv_region_histograms(ctx, image, regions, bins, 1, &data), data, regions->count);
    check_data(ctx, clv_region_textures(ctx, image, regions, 1, &data), data, regions->count);
    check_data(ctx, clv_region_adjacency(ctx, regions, &data), data, regions->count);
    if (clv_region_points(ctx, image, regions, &weights, 1, &points) == CLV_OK) {
        data = NULL;
        check_data(ctx, clv_region_similarity(ctx, regions, clv_data_matrix(points), bins % 4, (double)bins / 8, &data),
                   data, regions->count);
    }
    clv_data_free(points);
}

/* Pieces by the labels, each pixel's own byte among few. */
static void draw(clv_context *ctx, const clv_image *image, int least, bool fill) {
    int32_t labels[MOST_SIDE * MOST_SIDE];
    int64_t pixels = image->width * image->height;
    clv_image drawn = {0};
    for (int64_t i = 0; i < pixels; i++) {
        labels[i] = image->samples[i * image->channels] % 4 - 1;
    }
    if (clv_labels_tidy(ctx, image->width, image->height, least, fill, labels) == CLV_OK) {
        check_labels(labels, pixels, -1, 3);
    }
    clv_status (*const ways[])(clv_context *, const clv_image *, const int32_t *, clv_image *) = {clv_image_overlay,
                                                                                                  clv_image_fill};
    for (size_t w = 0; w < CLV_COUNT(ways); w++) {
        check(ways[w](ctx, image, labels, &drawn) == CLV_OK ? drawn.channels == 3 : !drawn.samples);
        clv_release(ctx, drawn.samples);
        drawn = (clv_image){0};
    }
}

static void use_picture(clv_context *ctx, const clv_image *image, const uint8_t *how) {
    clv_superpixel_options options;
    clv_regions *regions = NULL;
    clv_data *data = NULL;
    clv_image resized = {0};
    uint8_t codes[MOST_SIDE * MOST_SIDE];
    int64_t pixels = image->width * image->height;
    check_data(ctx, clv_image_hsv(ctx, image, &data), data, pixels);
    check_data(ctx, clv_image_points(ctx, image, &data), data, pixels);
    check(clv_image_lbp(ctx, image, 1, codes) < 0 || codes[pixels - 1] < CLV_LBP_CODES);
    check(clv_image_resize(ctx, image, how[3] % 20, how[4] % 20, &resized) == CLV_OK || !resized.samples);
    clv_release(ctx, resized.samples);
    clv_superpixel_defaults(&options);
    options.superpixels = how[5] % 20;
    options.compactness = how[6];
    options.rounds = how[7] % 4;
    options.threads = 1;
    if (clv_superpixels(ctx, image, &options, &regions) == CLV_OK) {
        use_regions(ctx, image, regions, how[8] % 16);
    } else {
        check(!regions && clv_message(ctx)[0] != '\0');
    }
    clv_regions_free(regions);
    draw(ctx, image, how[9] % 8, how[9] & 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const int64_t channels[] = {1, 3, 4};
    enum { HOW = 10 };
    uint8_t samples[MOST_SIDE * MOST_SIDE * 4];
    fuzz_memory memory;
    if (size < HOW + 1) {
        return 0;
    }
    clv_image image = {.width = 1 + bytes[0] % MOST_SIDE,
                       .height = 1 + bytes[1] % MOST_SIDE,
                       .channels = channels[bytes[2] % 3],
                       .samples = samples};
    for (size_t i = 0; i < sizeof samples; i++) {
        samples[i] = bytes[HOW + i % (size - HOW)];
    }
    clv_context *ctx = fuzz_open(&memory);
    use_picture(ctx, &image, bytes);
    fuzz_close(ctx, &memory);
    return 0;
}
