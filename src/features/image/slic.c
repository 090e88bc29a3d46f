/* Superpixels: k-means of pixels in colour and place, each centre looking only at its surroundings.
 *
 * Reference: Achanta et al. 2012 (SLIC). Centres begin on a grid of step S = sqrt(pixels / superpixels); the distance
 * is |Lab - Lab'|^2 + (compactness / S)^2 |xy - xy'|^2; a centre is offered to the pixels within S of it, both ways.
 * Pieces that are cut off from the rest of their superpixel, or have less than S^2 / 4 pixels, go to the neighbour with
 * the longest border, so that every superpixel is connected.
 *
 * Cost: a round compares every pixel with about four centres. The rows are cut into bands, a thread each at a time;
 * sums over bands are added in order, so that the result does not depend on the number of threads. */
#include "base/options.h"
#include "features/image/image.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BAND = 16, SUMS = 6 }; /* rows to a band; sums of L, a, b, x, y and 1 */

const clv_option_table *clv_superpixel_table(void) {
    static const clv_option options[] = {
        CLV_OPT_INT(clv_superpixel_options, superpixels, "superpixels", 0, 500, 1, 0x1p31 - 1, NULL, "N",
                    "cluster about N superpixels"),
        CLV_OPT_REAL(clv_superpixel_options, compactness, "compactness", 10, 0.01, 1e4, NULL, "C",
                     "of superpixels: a distance in colour (CIE Lab) that weighs as much as their width"),
        CLV_OPT_INT(clv_superpixel_options, rounds, "rounds", 0, 10, 1, 1000, NULL, "N", "of making superpixels"),
    };
    static const clv_option_table table = {"superpixels", options, CLV_COUNT(options)};
    return &table;
}

void clv_superpixel_defaults(clv_superpixel_options *options) {
    *options = (clv_superpixel_options){0};
    clv_options_defaults(clv_superpixel_table(), options);
}

typedef struct slic {
    clv_context *ctx;
    int64_t width, height, count, bands;
    double step;
    float spread; /* weight of squared pixels */
    float *lab;   /* three planes */
    clv_slic_centre *centres;
    float *nearest;
    int32_t *labels;
    double *sums; /* bands x count x SUMS */
    int threads;
} slic;

/* About as many centres as asked for, on a grid with the proportions of the picture. */
static int64_t along(int64_t side, double step) {
    double cells = floor((double)side / step + 0.5);
    return cells < 1 ? 1 : cells > (double)side ? side : (int64_t)cells;
}

static clv_status place_centres(slic *s) {
    int64_t columns = along(s->width, s->step), rows = along(s->height, s->step);
    s->count = columns * rows;
    s->centres = CLV_NEW(s->ctx, clv_slic_centre, s->count);
    s->sums = CLV_NEW(s->ctx, double, s->bands * s->count * SUMS);
    if (!s->centres || !s->sums) {
        return CLV_ENOMEM;
    }
    int64_t pixels = s->width * s->height;
    for (int64_t c = 0; c < s->count; c++) {
        int64_t x = (int64_t)(((double)(c % columns) + 0.5) * (double)s->width / (double)columns);
        int64_t y = (int64_t)(((double)(c / columns) + 0.5) * (double)s->height / (double)rows);
        clv_slic_centre *centre = &s->centres[c];
        for (int k = 0; k < 3; k++) {
            centre->colour[k] = s->lab[k * pixels + y * s->width + x];
        }
        centre->x = (float)x;
        centre->y = (float)y;
    }
    return CLV_OK;
}

/* One centre to the rows of a band within its reach. */
static void offer(const slic *s, int64_t c, int64_t first, int64_t last) {
    const clv_slic_centre *centre = &s->centres[c];
    int64_t pixels = s->width * s->height;
    double reach = s->step + 1, x = (double)centre->x, y = (double)centre->y;
    int64_t left = (int64_t)fmax(x - reach, 0);
    int64_t right = (int64_t)fmin(x + reach + 1, (double)s->width);
    int64_t top = (int64_t)fmax(y - reach, (double)first);
    int64_t bottom = (int64_t)fmin(y + reach + 1, (double)last);
    for (int64_t row = top; row < bottom; row++) {
        int64_t at = row * s->width + left;
        const float *lab[3] = {s->lab + at, s->lab + pixels + at, s->lab + 2 * pixels + at};
        clv_slic_row(lab, right - left, (float)left, (float)row, centre, s->spread, (int32_t)c, s->nearest + at,
                     s->labels + at);
    }
}

/* Pixels of a band to their nearest centres, and the sums of those. Before the first round no pixel has a centre; from
 * then on one that no centre reaches keeps the last one. */
static void assign_band(const slic *s, int64_t band) {
    int64_t first = band * BAND, last = first + BAND < s->height ? first + BAND : s->height;
    int64_t pixels = s->width * s->height;
    double *sums = s->sums + band * s->count * SUMS;
    for (int64_t i = first * s->width; i < last * s->width; i++) {
        s->nearest[i] = FLT_MAX;
    }
    for (int64_t c = 0; c < s->count; c++) {
        offer(s, c, first, last);
    }
    memset(sums, 0, (size_t)(s->count * SUMS) * sizeof *sums);
    for (int64_t i = first * s->width; i < last * s->width; i++) {
        double *own = sums + s->labels[i] * (int64_t)SUMS;
        own[0] += (double)s->lab[i];
        own[1] += (double)s->lab[pixels + i];
        own[2] += (double)s->lab[2 * pixels + i];
        own[3] += (double)(i % s->width);
        own[4] += (double)(i / s->width);
        own[5] += 1;
    }
}

static void move_centre(slic *s, int64_t c) {
    double total[SUMS] = {0};
    for (int64_t band = 0; band < s->bands; band++) {
        for (int k = 0; k < SUMS; k++) {
            total[k] += s->sums[(band * s->count + c) * SUMS + k];
        }
    }
    if (total[5] > 0) {
        clv_slic_centre *centre = &s->centres[c];
        for (int k = 0; k < 3; k++) {
            centre->colour[k] = (float)(total[k] / total[5]);
        }
        centre->x = (float)(total[3] / total[5]);
        centre->y = (float)(total[4] / total[5]);
    }
}

static clv_status iterate(slic *s, int64_t rounds) {
    for (int64_t round = 0; round < rounds; round++) {
        if (clv_interrupted(s->ctx)) {
            return clv_fail(s->ctx, CLV_EINTERRUPTED, "interrupted while making superpixels");
        }
#pragma omp parallel for num_threads(s->threads) schedule(dynamic)
        for (int64_t band = 0; band < s->bands; band++) {
            assign_band(s, band);
        }
        for (int64_t c = 0; c < s->count; c++) {
            move_centre(s, c);
        }
    }
    return CLV_OK;
}

static clv_status compute(slic *s, const clv_image *image, int64_t rounds, clv_regions **out) {
    int64_t pixels = s->width * s->height;
    s->lab = clv_image_lab(s->ctx, image, s->threads);
    s->nearest = CLV_NEW(s->ctx, float, pixels);
    s->labels = CLV_NEW0(s->ctx, int32_t, pixels);
    if (!s->lab || !s->nearest || !s->labels) {
        return CLV_ENOMEM;
    }
    CLV_TRY(place_centres(s));
    CLV_TRY(iterate(s, rounds));
    CLV_TRY(clv_labels_tidy(s->ctx, s->width, s->height, (int64_t)(s->step * s->step / 4), 0, s->labels));
    return clv_regions_of_pieces(s->ctx, s->width, s->height, s->labels, out);
}

clv_status clv_superpixels(clv_context *ctx, const clv_image *image, const clv_superpixel_options *options,
                           clv_regions **out) {
    *out = NULL;
    CLV_TRY(clv_options_check(ctx, clv_superpixel_table(), options));
    CLV_TRY(clv_image_check(ctx, image));
    slic s = {.ctx = ctx,
              .width = image->width,
              .height = image->height,
              .threads = clv_image_threads(image, options->threads)};
    s.step = fmax(sqrt((double)(s.width * s.height) / (double)options->superpixels), 1);
    s.spread = (float)((options->compactness / s.step) * (options->compactness / s.step));
    s.bands = (s.height + BAND - 1) / BAND;
    clv_status status = compute(&s, image, options->rounds, out);
    clv_free(ctx, s.lab);
    clv_free(ctx, s.centres);
    clv_free(ctx, s.nearest);
    clv_free(ctx, s.labels);
    clv_free(ctx, s.sums);
    return status;
}
