/* Colors: the HSV cone of the dominant set paper (section 6.3, after Pavan and Pelillo), and CIE Lab, in which
 * distances are about what the eye sees. */
#include "features/image/image.h"

#include <math.h>

enum { WORK_A_POLL = 1 << 17 };

int clv_image_threads(const clv_image *image, int64_t asked) {
    enum { WORTH_THREADS = 1 << 14 }; /* pixels */
    return image->width * image->height < WORTH_THREADS ? 1 : clv_threads(asked);
}

clv_status clv_image_check(clv_context *ctx, const clv_image *image) {
    bool channels = image->channels == 1 || image->channels == 3 || image->channels == 4;
    int64_t pixels;
    if (image->width < 1 || image->height < 1 || !clv_mul(image->width, image->height, &pixels) || pixels > INT32_MAX ||
        !channels || !image->samples) {
        return clv_fail(
            ctx, CLV_EUSAGE,
            "a picture of %lld x %lld pixels with %lld channels is not allowed: there must be 1 to %d pixels "
            "and 1, 3 or 4 channels",
            (long long)image->width, (long long)image->height, (long long)image->channels, INT32_MAX);
    }
    return CLV_OK;
}

clv_status clv_image_poll(clv_context *ctx) {
    return clv_worked(ctx, WORK_A_POLL) ? clv_stop_failure(ctx, "working on the picture") : CLV_OK;
}

clv_status clv_image_poll_at(clv_context *ctx, int64_t i, int64_t step) {
    return i % CLV_POLL_PIXELS < step ? clv_image_poll(ctx) : CLV_OK;
}

void clv_image_rgb(const clv_image *image, int64_t i, double rgb[3]) {
    const uint8_t *at = image->samples + i * image->channels;
    for (int c = 0; c < 3; c++) {
        rgb[c] = at[image->channels == 1 ? 0 : c];
    }
    if (image->channels == 4) {
        double opacity = at[3] / 255.0;
        for (int c = 0; c < 3; c++) {
            rgb[c] = opacity * rgb[c] + (1 - opacity) * 255;
        }
    }
}

uint8_t clv_brightness(const double rgb[3]) {
    return (uint8_t)(0.2125 * rgb[0] + 0.7154 * rgb[1] + 0.0721 * rgb[2] + 0.5);
}

/* --- hue, saturation, value --- */

static void to_hsv(const double rgb[3], double hsv[3]) {
    double top = fmax(rgb[0], fmax(rgb[1], rgb[2]));
    double range = top - fmin(rgb[0], fmin(rgb[1], rgb[2]));
    double sixth = 0;
    if (range > 0) {
        sixth = rgb[2] == top   ? 4 + (rgb[0] - rgb[1]) / range
                : rgb[1] == top ? 2 + (rgb[2] - rgb[0]) / range
                                : (rgb[1] - rgb[2]) / range;
    }
    hsv[0] = sixth < 0 ? (sixth + 6) / 6 : sixth / 6;
    hsv[1] = range > 0 ? range / top : 0;
    hsv[2] = top / 255;
}

static clv_status fill_pixels(clv_context *ctx, const clv_image *image, void (*convert)(const double *, double *),
                              clv_data **out) {
    *out = NULL;
    CLV_TRY(clv_image_check(ctx, image));
    int64_t pixels = image->width * image->height;
    CLV_TRY(clv_data_new_dense(ctx, "the picture", pixels, 3, CLV_F64, out));
    double *values = (*out)->values;
    clv_status status = CLV_OK;
    for (int64_t i = 0; i < pixels && status == CLV_OK; i++) {
        double rgb[3];
        clv_image_rgb(image, i, rgb);
        convert(rgb, values + 3 * i);
        status = clv_image_poll_at(ctx, i, 1);
    }
    return clv_data_made(status, out);
}

clv_status clv_image_hsv(clv_context *ctx, const clv_image *image, clv_data **out) {
    CLV_NEED(ctx, image);
    return fill_pixels(ctx, image, to_hsv, out);
}

static void to_cone(const double rgb[3], double point[3]) {
    static const double turn = 6.283185307179586;
    double hsv[3];
    to_hsv(rgb, hsv);
    point[0] = hsv[2];
    point[1] = hsv[2] * hsv[1] * sin(turn * hsv[0]);
    point[2] = hsv[2] * hsv[1] * cos(turn * hsv[0]);
}

clv_status clv_image_points(clv_context *ctx, const clv_image *image, clv_data **out) {
    CLV_NEED(ctx, image);
    return fill_pixels(ctx, image, to_cone, out);
}

/* --- CIE Lab (sRGB, white point D65) --- */

static double linear_light(double sample) {
    double s = sample / 255;
    return s > 0.04045 ? pow((s + 0.055) / 1.055, 2.4) : s / 12.92;
}

static double lightness_curve(double t) {
    return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

static void to_lab(const double light[3], float *lab, int64_t stride) {
    double x = (0.412453 * light[0] + 0.357580 * light[1] + 0.180423 * light[2]) / 0.95047;
    double y = 0.212671 * light[0] + 0.715160 * light[1] + 0.072169 * light[2];
    double z = (0.019334 * light[0] + 0.119193 * light[1] + 0.950227 * light[2]) / 1.08883;
    double fx = lightness_curve(x), fy = lightness_curve(y), fz = lightness_curve(z);
    lab[0] = (float)(116 * fy - 16);
    lab[stride] = (float)(500 * (fx - fy));
    lab[2 * stride] = (float)(200 * (fy - fz));
}

static void fill_lab(const clv_image *image, const double curve[256], int64_t first, int64_t last, float *lab) {
    for (int64_t i = first; i < last; i++) {
        double rgb[3], light[3];
        clv_image_rgb(image, i, rgb);
        for (int c = 0; c < 3; c++) {
            light[c] = image->channels == 4 ? linear_light(rgb[c]) : curve[(int)rgb[c]];
        }
        to_lab(light, lab + i, image->width * image->height);
    }
}

clv_status clv_image_lab(clv_context *ctx, const clv_image *image, int threads, float **lab) {
    int64_t pixels = image->width * image->height;
    double curve[256];
    atomic_bool stopped = false;
    float *made = *lab = CLV_NEW(ctx, float, 3 * pixels);
    if (!made) {
        return CLV_ENOMEM;
    }
    for (int s = 0; s < 256; s++) {
        curve[s] = linear_light(s);
    }
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t first = 0; first < pixels; first += CLV_POLL_PIXELS) {
        if (clv_goes_on(ctx, &stopped, WORK_A_POLL)) {
            fill_lab(image, curve, first, pixels - first < CLV_POLL_PIXELS ? pixels : first + CLV_POLL_PIXELS, made);
        }
    }
    if (stopped) {
        clv_free(ctx, made);
        *lab = NULL;
        return clv_stop_failure(ctx, "working on the picture");
    }
    return CLV_OK;
}
