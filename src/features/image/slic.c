/* Superpixels: k-means of pixels in color and place, each center looking only at its surroundings.
 *
 * Reference: Achanta et al. 2012 (SLIC). Centers begin on a grid of step S = sqrt(pixels / superpixels); the distance
 * is |Lab - Lab'|^2 + (compactness / S)^2 |xy - xy'|^2; a center is offered to the pixels within S of it, both ways.
 * Pieces that are cut off from the rest of their superpixel, or have less than S^2 / 4 pixels, go to the neighbor with
 * the longest border, so that every superpixel is connected.
 *
 * Cost: a round compares every pixel with about four centers. The rows are cut into bands, a thread each at a time;
 * a band looks only at centers near it. Sums are taken over groups of bands and added in order: the result does not
 * depend on the number of threads. There are fewer groups the more centers there are, so that the sums take at most
 * 16 bytes per pixel, or 48 per center where one group is all. */
#include "base/options.h"
#include "features/image/image.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    BAND = 16,       /* rows */
    SUMS = 6,        /* of L, a, b, x, y and 1 */
    GROUP_SHARE = 3, /* pixels that a center must have for each group: 48 bytes of sums for 3 pixels */
};

const clv_option_table *clv_superpixel_table(void) {
    static const clv_option options[] = {
        CLV_OPT_INT(clv_superpixel_options, superpixels, "superpixels", 0, 500, 1, 0x1p31 - 1, NULL, "N",
                    "cluster about N superpixels"),
        CLV_OPT_REAL(clv_superpixel_options, compactness, "compactness", 10, 0.01, 1e4, NULL, "C",
                     "the distance in color (CIE Lab) that counts as much as the width of a superpixel"),
        CLV_OPT_INT(clv_superpixel_options, rounds, "rounds", 0, 10, 1, 1000, NULL, "N",
                    "rounds of giving pixels to the nearest centers and moving the centers"),
    };
    static const clv_option_table table = {"superpixels", options, CLV_COUNT(options), sizeof(clv_superpixel_options)};
    return &table;
}

typedef struct slic {
    clv_context *ctx;
    clv_kept work; /* all but the labels */
    int64_t width, height, count, bands, groups;
    double step;
    float spread; /* weight of squared pixels */
    float *lab;   /* three planes */
    clv_slic_center *centers;
    int32_t *by_band;    /* the centers, by the band that they lie in */
    int64_t *band_start; /* of a band in by_band; one more for the end */
    float *nearest;
    int32_t *labels;
    double *sums; /* groups x count x SUMS */
    int threads;
} slic;

/* About as many centers as asked for, on a grid with the proportions of the picture. */
static int64_t along(int64_t side, double step) {
    double cells = floor((double)side / step + 0.5);
    return cells < 1 ? 1 : cells > (double)side ? side : (int64_t)cells;
}

static clv_status place_centers(slic *s) {
    int64_t columns = along(s->width, s->step), rows = along(s->height, s->step);
    int64_t pixels = s->width * s->height;
    s->count = columns * rows;
    s->groups = pixels / (GROUP_SHARE * s->count);
    s->groups = s->groups < 1 ? 1 : s->groups > s->bands ? s->bands : s->groups;
    s->centers = CLV_TAKE(&s->work, clv_slic_center, s->count);
    s->by_band = CLV_TAKE(&s->work, int32_t, s->count);
    s->band_start = CLV_TAKE(&s->work, int64_t, s->bands + 1);
    s->sums = CLV_TAKE(&s->work, double, s->groups * s->count * SUMS);
    CLV_TRY(s->work.status);
    for (int64_t c = 0; c < s->count; c++) {
        int64_t column = c % columns, row = c / columns;
        int64_t x = (int64_t)(((double)column + 0.5) * (double)s->width / (double)columns);
        int64_t y = (int64_t)(((double)row + 0.5) * (double)s->height / (double)rows);
        clv_slic_center *center = &s->centers[c];
        for (int k = 0; k < 3; k++) {
            center->color[k] = s->lab[k * pixels + y * s->width + x];
        }
        center->x = (float)x;
        center->y = (float)y;
    }
    return CLV_OK;
}

/* One center to the rows of a band within its reach. */
static void offer(const slic *s, int64_t c, int64_t first, int64_t last) {
    const clv_slic_center *center = &s->centers[c];
    int64_t pixels = s->width * s->height;
    double reach = s->step + 1, x = (double)center->x, y = (double)center->y;
    int64_t left = (int64_t)fmax(x - reach, 0);
    int64_t right = (int64_t)fmin(x + reach + 1, (double)s->width);
    int64_t top = (int64_t)fmax(y - reach, (double)first);
    int64_t bottom = (int64_t)fmin(y + reach + 1, (double)last);
    for (int64_t row = top; row < bottom; row++) {
        int64_t at = row * s->width + left;
        const float *lab[3] = {s->lab + at, s->lab + pixels + at, s->lab + 2 * pixels + at};
        clv_kernels->slic_row(lab, right - left, (float)left, (float)row, center, s->spread, (int32_t)c,
                              s->nearest + at, s->labels + at);
    }
}

static int64_t band_of(const slic *s, int64_t c) {
    int64_t band = (int64_t)s->centers[c].y / BAND;
    return band < s->bands ? band : s->bands - 1; /* a float may be rounded past the last row */
}

/* The centers by the bands they lie in, ascending in each. */
static void sort_centers(slic *s) {
    memset(s->band_start, 0, (size_t)(s->bands + 1) * sizeof *s->band_start);
    for (int64_t c = 0; c < s->count; c++) {
        s->band_start[band_of(s, c) + 1]++;
    }
    for (int64_t band = 0; band < s->bands; band++) {
        s->band_start[band + 1] += s->band_start[band];
    }
    for (int64_t c = 0; c < s->count; c++) {
        s->by_band[s->band_start[band_of(s, c)]++] = (int32_t)c;
    }
    memmove(s->band_start + 1, s->band_start, (size_t)s->bands * sizeof *s->band_start);
    s->band_start[0] = 0;
}

/* Pixels of a band to their nearest centers. Before the first round no pixel has a center; from then on one that no
 * center reaches keeps the last one. */
static void assign_band(const slic *s, int64_t band) {
    int64_t first = band * BAND, last = first + BAND < s->height ? first + BAND : s->height;
    int64_t away = (int64_t)(s->step + 1) / BAND + 2; /* bands whose centers may reach this one */
    int64_t from = band > away ? band - away : 0, to = band + away < s->bands ? band + away : s->bands - 1;
    for (int64_t i = first * s->width; i < last * s->width; i++) {
        s->nearest[i] = FLT_MAX;
    }
    for (int64_t at = s->band_start[from]; at < s->band_start[to + 1]; at++) {
        offer(s, s->by_band[at], first, last);
    }
}

static void add_up(const slic *s, int64_t group) {
    int64_t pixels = s->width * s->height;
    int64_t first = group * s->bands / s->groups * BAND, last = (group + 1) * s->bands / s->groups * BAND;
    double *sums = s->sums + group * s->count * SUMS;
    last = last < s->height ? last : s->height;
    memset(sums, 0, (size_t)(s->count * SUMS) * sizeof *sums);
    for (int64_t i = first * s->width; i < last * s->width; i++) {
        int64_t x = i % s->width, y = i / s->width;
        double *own = sums + s->labels[i] * (int64_t)SUMS;
        own[0] += (double)s->lab[i];
        own[1] += (double)s->lab[pixels + i];
        own[2] += (double)s->lab[2 * pixels + i];
        own[3] += (double)x;
        own[4] += (double)y;
        own[5] += 1;
    }
}

static void move_center(slic *s, int64_t c) {
    double total[SUMS] = {0};
    for (int64_t group = 0; group < s->groups; group++) {
        for (int k = 0; k < SUMS; k++) {
            total[k] += s->sums[(group * s->count + c) * SUMS + k];
        }
    }
    if (total[5] > 0) {
        clv_slic_center *center = &s->centers[c];
        for (int k = 0; k < 3; k++) {
            center->color[k] = (float)(total[k] / total[5]);
        }
        center->x = (float)(total[3] / total[5]);
        center->y = (float)(total[4] / total[5]);
    }
}

static clv_status iterate(slic *s, int64_t rounds) {
    for (int64_t round = 0; round < rounds; round++) {
        atomic_bool stopped = false;
        sort_centers(s);
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic)
        for (int64_t band = 0; band < s->bands; band++) {
            if (clv_goes_on(s->ctx, &stopped, s->width * BAND)) {
                assign_band(s, band);
            }
        }
        if (stopped) {
            return clv_stop_failure(s->ctx, "working on the picture");
        }
#pragma omp parallel for num_threads(clv_team(s->threads)) schedule(dynamic)
        for (int64_t group = 0; group < s->groups; group++) {
            add_up(s, group);
        }
        for (int64_t c = 0; c < s->count; c++) {
            move_center(s, c);
        }
    }
    return CLV_OK;
}

static clv_status compute(slic *s, const clv_image *image, int64_t rounds, clv_regions **out) {
    int64_t pixels = s->width * s->height;
    CLV_TRY(clv_image_lab(s->ctx, image, s->threads, &s->lab));
    clv_keep(&s->work, s->lab);
    s->nearest = CLV_TAKE(&s->work, float, pixels);
    s->labels = CLV_NEW0(s->ctx, int32_t, pixels);
    CLV_TRY(s->labels ? s->work.status : CLV_ENOMEM);
    CLV_TRY(place_centers(s));
    CLV_TRY(iterate(s, rounds));
    clv_free_kept(&s->work); /* tidying needs as much */
    CLV_TRY(clv_labels_tidy(s->ctx, s->width, s->height, (int64_t)(s->step * s->step / 4), 0, s->labels));
    return clv_regions_of_pieces(s->ctx, s->width, s->height, s->labels, out);
}

clv_status clv_superpixels(clv_context *ctx, const clv_image *image, const clv_superpixel_options *given,
                           clv_regions **out) {
    *out = NULL;
    CLV_NEED(ctx, image);
    CLV_NEED_AS(ctx, given, "options");
    clv_superpixel_options own, *options = &own;
    CLV_TRY(clv_options_adopt(ctx, clv_superpixel_table(), given, options));
    CLV_TRY(clv_options_check(ctx, clv_superpixel_table(), options));
    CLV_TRY(clv_image_check(ctx, image));
    slic s = {.ctx = ctx,
              .work.ctx = ctx,
              .width = image->width,
              .height = image->height,
              .threads = clv_image_threads(image, options->threads)};
    s.step = fmax(sqrt((double)(s.width * s.height) / (double)options->superpixels), 1);
    s.spread = (float)((options->compactness / s.step) * (options->compactness / s.step));
    s.bands = (s.height + BAND - 1) / BAND;
    clv_status status = compute(&s, image, options->rounds, out);
    clv_free_kept(&s.work);
    clv_free(ctx, s.labels);
    return status;
}
