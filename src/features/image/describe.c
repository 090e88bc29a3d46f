/* What regions look like: histograms of their colors and textures, and all of it as points to be clustered (after the
 * normalized cut paper, section 5.2: color histograms and local binary patterns of about 500 superpixels). */
#include "base/options.h"
#include "features/image/image.h"

#include <math.h>
#include <string.h>

/* Columns of points: color, histogram, texture, place. */
enum {
    MOST_BINS = 256,
    BINS = 8,
    HISTOGRAM = 3,
    TEXTURE = HISTOGRAM + 3 * BINS,
    PLACE = TEXTURE + CLV_LBP_CODES,
    COLS = PLACE + 2
};

/* What the bins of L, a and b range over; few colors lie beyond, and count for the last bin. */
static const double lowest[3] = {0, -60, -60}, highest[3] = {100, 60, 60};

const clv_option_table *clv_region_table(void) {
    static const clv_option options[] = {
        CLV_OPT_REAL(clv_region_weights, color, "color", 1, 0, 1e6, NULL, "W",
                     "weight of the mean color of a superpixel (CIE Lab, divided by 100)"),
        CLV_OPT_REAL(clv_region_weights, histogram, "histogram", 0.3, 0, 1e6, NULL, "W",
                     "weight of its color histogram"),
        CLV_OPT_REAL(clv_region_weights, texture, "texture", 0.15, 0, 1e6, NULL, "W",
                     "weight of its histogram of local binary patterns"),
        CLV_OPT_REAL(clv_region_weights, place, "place", 0.3, 0, 1e6, NULL, "W",
                     "weight of its place (the longer side of the picture is 1)"),
    };
    static const clv_option_table table = {"features", options, CLV_COUNT(options), sizeof(clv_region_weights)};
    return &table;
}

/* --- histograms --- */

/* Share the count of a value between the two bins whose centers it lies between. */
static void count_value(double value, int channel, int64_t bins, double weight, double *row) {
    double at = (value - lowest[channel]) / (highest[channel] - lowest[channel]) * (double)bins - 0.5;
    at = fmin(fmax(at, 0), (double)(bins - 1));
    int64_t left = (int64_t)at;
    double share = at - (double)left;
    row[left] += weight * (1 - share);
    row[left + 1 < bins ? left + 1 : left] += weight * share;
}

/* The sizes of the regions go to `sizes`. */
static clv_status new_histograms(clv_context *ctx, const clv_regions *regions, const float *lab, int64_t bins,
                                 int64_t *sizes, clv_data **histograms) {
    int64_t pixels = regions->width * regions->height;
    CLV_TRY(clv_data_new_dense(ctx, "color histograms", regions->count, 3 * bins, CLV_F64, histograms));
    double *out = (*histograms)->values;
    clv_region_sizes(regions, sizes);
    memset(out, 0, (size_t)(regions->count * 3 * bins) * sizeof *out);
    for (int64_t i = 0; i < pixels; i++) {
        CLV_TRY(clv_image_poll_at(ctx, i, 1));
        int32_t region = regions->labels[i];
        for (int c = 0; c < 3; c++) {
            count_value(lab[c * pixels + i], c, bins, 1 / (double)sizes[region], out + (region * 3 + c) * bins);
        }
    }
    return CLV_OK;
}

clv_status clv_region_histograms(clv_context *ctx, const clv_image *image, const clv_regions *regions, int64_t bins,
                                 int64_t threads, clv_data **out) {
    *out = NULL;
    CLV_NEED(ctx, image);
    CLV_NEED(ctx, regions);
    CLV_TRY(clv_regions_check(ctx, image, regions));
    if (bins < 1 || bins > MOST_BINS) {
        return clv_fail(ctx, CLV_EUSAGE, "bins = %lld is not allowed: it must be 1 to %d", (long long)bins,
                        (int)MOST_BINS);
    }
    float *lab = NULL;
    int64_t *sizes = CLV_NEW(ctx, int64_t, regions->count);
    clv_status status = sizes ? clv_image_lab(ctx, image, clv_image_threads(image, threads), &lab) : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = new_histograms(ctx, regions, lab, bins, sizes, out);
    }
    clv_free(ctx, lab);
    clv_free(ctx, sizes);
    return clv_data_made(status, out);
}

/* The outermost pixels have neighbors beyond the picture.
 * What they look like says more of the frame than of the region. */
static bool is_outermost(const clv_regions *r, int64_t i) {
    return i % r->width == 0 || i % r->width + 1 == r->width || i < r->width || i + r->width >= r->width * r->height;
}

/* Regions of outermost pixels only count those. */
static void fill_textures(const clv_regions *regions, const uint8_t *codes, int64_t *sizes, double *out) {
    int64_t pixels = regions->width * regions->height;
    memset(sizes, 0, (size_t)regions->count * sizeof *sizes);
    memset(out, 0, (size_t)(regions->count * CLV_LBP_CODES) * sizeof *out);
    for (int64_t i = 0; i < pixels; i++) {
        sizes[regions->labels[i]] += !is_outermost(regions, i);
    }
    for (int64_t i = 0; i < pixels; i++) {
        int32_t region = regions->labels[i];
        out[region * CLV_LBP_CODES + codes[i]] += sizes[region] == 0 || !is_outermost(regions, i) ? 1 : 0;
    }
    for (int64_t r = 0; r < regions->count; r++) {
        double total = 0;
        for (int code = 0; code < CLV_LBP_CODES; code++) {
            total += out[r * CLV_LBP_CODES + code];
        }
        for (int code = 0; code < CLV_LBP_CODES; code++) {
            out[r * CLV_LBP_CODES + code] /= total > 0 ? total : 1;
        }
    }
}

clv_status clv_region_textures(clv_context *ctx, const clv_image *image, const clv_regions *regions, int64_t threads,
                               clv_data **out) {
    *out = NULL;
    CLV_NEED(ctx, image);
    CLV_NEED(ctx, regions);
    CLV_TRY(clv_regions_check(ctx, image, regions));
    uint8_t *codes = CLV_NEW(ctx, uint8_t, image->width * image->height);
    int64_t *sizes = CLV_NEW(ctx, int64_t, regions->count);
    clv_status status = codes && sizes ? clv_image_lbp(ctx, image, threads, codes) : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = clv_data_new_dense(ctx, "textures", regions->count, CLV_LBP_CODES, CLV_F64, out);
    }
    if (status == CLV_OK) {
        fill_textures(regions, codes, sizes, (*out)->values);
    }
    clv_free(ctx, codes);
    clv_free(ctx, sizes);
    return status;
}

/* --- points --- */

static clv_status fill_means(clv_context *ctx, const clv_regions *regions, const float *lab, const int64_t *sizes,
                             const clv_region_weights *weights, double *out) {
    int64_t pixels = regions->width * regions->height;
    double side = (double)(regions->width > regions->height ? regions->width : regions->height);
    for (int64_t i = 0; i < pixels; i++) {
        CLV_TRY(clv_image_poll_at(ctx, i, 1));
        int32_t region = regions->labels[i];
        double share = 1 / (double)sizes[region];
        double *row = out + region * (int64_t)COLS;
        int64_t x = i % regions->width, y = i / regions->width;
        for (int c = 0; c < 3; c++) {
            row[c] += share * weights->color * (double)lab[c * pixels + i] / 100;
        }
        row[PLACE] += share * weights->place * ((double)x + 0.5) / side;
        row[PLACE + 1] += share * weights->place * ((double)y + 0.5) / side;
    }
    return CLV_OK;
}

/* weight times the square roots of `from`, in the columns from `first` on. */
static void fill_roots(const clv_data *from, double weight, int64_t first, double *out) {
    const clv_matrix *m = clv_data_matrix(from);
    for (int64_t e = 0; e < m->rows * m->cols; e++) {
        out[e / m->cols * COLS + first + e % m->cols] = weight * sqrt(((const double *)m->values)[e]);
    }
}

static clv_status fill_points(clv_context *ctx, const clv_image *image, const clv_regions *regions,
                              const clv_region_weights *weights, int64_t threads, double *out) {
    clv_data *histograms = NULL, *textures = NULL;
    float *lab = NULL;
    int64_t *sizes = CLV_NEW(ctx, int64_t, regions->count);
    clv_status status = sizes ? clv_image_lab(ctx, image, clv_image_threads(image, threads), &lab) : CLV_ENOMEM;
    if (status == CLV_OK) {
        status = new_histograms(ctx, regions, lab, BINS, sizes, &histograms);
    }
    if (status == CLV_OK) {
        status = clv_region_textures(ctx, image, regions, threads, &textures);
    }
    if (status == CLV_OK) {
        memset(out, 0, (size_t)(regions->count * COLS) * sizeof *out);
        status = fill_means(ctx, regions, lab, sizes, weights, out);
    }
    if (status == CLV_OK) {
        fill_roots(histograms, weights->histogram, HISTOGRAM, out);
        fill_roots(textures, weights->texture, TEXTURE, out);
    }
    clv_data_free(histograms);
    clv_data_free(textures);
    clv_free(ctx, lab);
    clv_free(ctx, sizes);
    return status;
}

clv_status clv_region_points(clv_context *ctx, const clv_image *image, const clv_regions *regions,
                             const clv_region_weights *given, int64_t threads, clv_data **out) {
    *out = NULL;
    CLV_NEED(ctx, image);
    CLV_NEED(ctx, regions);
    CLV_NEED_AS(ctx, given, "weights");
    clv_region_weights own, *weights = &own;
    CLV_TRY(clv_options_adopt(ctx, clv_region_table(), given, weights));
    CLV_TRY(clv_options_check(ctx, clv_region_table(), weights));
    CLV_TRY(clv_regions_check(ctx, image, regions));
    CLV_TRY(clv_data_new_dense(ctx, "superpixels", regions->count, COLS, CLV_F64, out));
    return clv_data_made(fill_points(ctx, image, regions, weights, threads, (*out)->values), out);
}
