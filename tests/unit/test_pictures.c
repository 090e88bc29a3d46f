/* Features of pictures against their definitions, computed here the plain way. */
#include "io_support.h"

#include "features/image/image.h"

#include <math.h>

static clv_image new_image(int64_t width, int64_t height, int64_t channels) {
    clv_image image = {width, height, channels, calloc((size_t)(width * height * channels), 1)};
    assert_non_null(image.samples);
    return image;
}

static clv_image draw_noise(int64_t width, int64_t height, int64_t channels, uint64_t seed) {
    clv_rng rng = clv_rng_stream(seed, 0);
    clv_image image = new_image(width, height, channels);
    for (int64_t s = 0; s < width * height * channels; s++) {
        image.samples[s] = (uint8_t)clv_rng_below(&rng, 256);
    }
    return image;
}

/* --- colors --- */

static void test_hsv(void **state) {
    (void)state;
    static const struct {
        uint8_t rgb[3];
        double hsv[3];
    } known[] = {{{255, 0, 0}, {0, 1, 1}},         {{0, 255, 0}, {1.0 / 3, 1, 1}},
                 {{0, 0, 255}, {2.0 / 3, 1, 1}},   {{255, 255, 0}, {1.0 / 6, 1, 1}},
                 {{0, 0, 0}, {0, 0, 0}},           {{255, 255, 255}, {0, 0, 1}},
                 {{255, 0, 255}, {5.0 / 6, 1, 1}}, {{51, 51, 51}, {0, 0, 0.2}},
                 {{0, 51, 51}, {0.5, 1, 0.2}},     {{255, 0, 51}, {0.9666666666666667, 1, 1}}};
    clv_data *hsv, *points;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint8_t samples[3] = {known[i].rgb[0], known[i].rgb[1], known[i].rgb[2]};
        clv_image image = {1, 1, 3, samples};
        assert_ok(clv_image_hsv(ctx, &image, &hsv));
        assert_ok(clv_image_points(ctx, &image, &points));
        const double *h = clv_data_matrix(hsv)->values, *f = clv_data_matrix(points)->values;
        for (int c = 0; c < 3; c++) {
            assert_true(fabs(h[c] - known[i].hsv[c]) < 1e-12);
        }
        double angle = 2 * 3.14159265358979323846 * known[i].hsv[0], vs = known[i].hsv[1] * known[i].hsv[2];
        assert_true(fabs(f[0] - known[i].hsv[2]) < 1e-12 && fabs(f[1] - vs * sin(angle)) < 1e-12 &&
                    fabs(f[2] - vs * cos(angle)) < 1e-12);
        clv_data_free(hsv);
        clv_data_free(points);
    }
}

static void test_lab(void **state) {
    (void)state;
    /* Published values of CIE Lab under D65. */
    static const struct {
        uint8_t rgb[3];
        double lab[3];
    } known[] = {{{255, 255, 255}, {100, 0, 0}},         {{0, 0, 0}, {0, 0, 0}},
                 {{255, 0, 0}, {53.24, 80.09, 67.20}},   {{0, 255, 0}, {87.73, -86.18, 83.18}},
                 {{0, 0, 255}, {32.30, 79.19, -107.86}}, {{128, 128, 128}, {53.59, 0, 0}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint8_t samples[3] = {known[i].rgb[0], known[i].rgb[1], known[i].rgb[2]};
        float *lab;
        assert_ok(clv_image_lab(ctx, &(clv_image){1, 1, 3, samples}, 1, &lab));
        for (int c = 0; c < 3; c++) {
            assert_true(fabs((double)lab[c] - known[i].lab[c]) < 0.02);
        }
        clv_release(ctx, lab);
    }
}

static void test_gray_and_alpha(void **state) {
    (void)state;
    double rgb[3];
    uint8_t gray[1] = {77}, clear[4] = {10, 20, 30, 0}, half[4] = {0, 100, 200, 51};
    clv_image_rgb(&(clv_image){1, 1, 1, gray}, 0, rgb);
    assert_true(rgb[0] == 77 && rgb[1] == 77 && rgb[2] == 77);
    clv_image_rgb(&(clv_image){1, 1, 4, clear}, 0, rgb);
    assert_true(rgb[0] == 255 && rgb[1] == 255 && rgb[2] == 255);
    clv_image_rgb(&(clv_image){1, 1, 4, half}, 0, rgb);
    assert_true(fabs(rgb[0] - 204) < 1e-12 && fabs(rgb[1] - 224) < 1e-12 && fabs(rgb[2] - 244) < 1e-12);
}

/* --- resizing --- */

static void test_shrink(void **state) {
    (void)state;
    clv_image image = draw_noise(12, 9, 3, 1), small;
    assert_ok(clv_image_resize(ctx, &image, 4, 3, &small));
    for (int64_t s = 0; s < 4 * 3 * 3; s++) {
        double sum = 0;
        for (int64_t i = 0; i < 9; i++) {
            int64_t x = s / 3 % 4 * 3 + i % 3, y = s / 12 * 3 + i / 3;
            sum += image.samples[(y * 12 + x) * 3 + s % 3];
        }
        assert_true(fabs(small.samples[s] - sum / 9) < 0.51);
    }
    clv_release(ctx, small.samples);
    assert_ok(clv_image_resize(ctx, &image, 12, 9, &small)); /* its own size: itself */
    assert_memory_equal(small.samples, image.samples, 12 * 9 * 3);
    clv_release(ctx, small.samples);
    assert_ok(clv_image_resize(ctx, &image, 1, 1, &small));
    for (int c = 0; c < 3; c++) {
        double sum = 0;
        for (int64_t i = 0; i < 12 * 9; i++) {
            sum += image.samples[3 * i + c];
        }
        assert_true(fabs(small.samples[c] - sum / (12 * 9)) < 0.51);
    }
    clv_release(ctx, small.samples);
    free(image.samples);
}

/* Weights by areas when the sizes do not divide; ramps stay ramps when a picture grows. */
static void test_odd_sizes(void **state) {
    (void)state;
    uint8_t three[3] = {0, 90, 240}, ramp[4] = {0, 40, 80, 120}, one[1] = {9};
    clv_image out;
    assert_ok(clv_image_resize(ctx, &(clv_image){3, 1, 1, three}, 2, 1, &out));
    assert_true(out.samples[0] == 30 && out.samples[1] == 190); /* (0 + 45) / 1.5, (45 + 240) / 1.5 */
    clv_release(ctx, out.samples);
    assert_ok(clv_image_resize(ctx, &(clv_image){4, 1, 1, ramp}, 8, 3, &out));
    static const uint8_t grown[8] = {0, 10, 30, 50, 70, 90, 110, 120};
    for (int i = 0; i < 24; i++) {
        assert_int_equal(out.samples[i], grown[i % 8]);
    }
    clv_release(ctx, out.samples);
    assert_ok(clv_image_resize(ctx, &(clv_image){1, 1, 1, one}, 5, 4, &out));
    for (int i = 0; i < 20; i++) {
        assert_int_equal(out.samples[i], 9);
    }
    clv_release(ctx, out.samples);
    assert_refused(clv_image_resize(ctx, &(clv_image){1, 1, 1, one}, 0, 4, &out), CLV_EUSAGE, "0 x 4", NULL);
    assert_refused(clv_image_resize(ctx, &(clv_image){1, 1, 2, one}, 1, 1, &out), CLV_EUSAGE, "2 channels", NULL);
}

/* --- textures --- */

static double gray_between(const uint8_t *gray, int64_t w, int64_t h, double x, double y) {
    double sum = 0;
    for (int64_t j = 0; j < h; j++) {
        for (int64_t i = 0; i < w; i++) {
            double wx = 1 - fabs(x - (double)i), wy = 1 - fabs(y - (double)j);
            sum += wx > 0 && wy > 0 ? wx * wy * gray[j * w + i] : 0;
        }
    }
    return sum;
}

static void test_patterns(void **state) {
    (void)state;
    enum { W = 9, H = 7 };
    clv_image image = draw_noise(W, H, 1, 5);
    uint8_t codes[W * H];
    for (int flat = 0; flat < 3; flat++) { /* a flat patch has ties only */
        image.samples[flat * W + 3] = image.samples[flat * W + 4] = image.samples[flat * W + 5] = 100;
    }
    assert_ok(clv_image_lbp(ctx, &image, 2, codes));
    assert_int_equal(codes[W + 4], 8);
    for (int64_t i = 0; i < W * H; i++) {
        int bits[8], ones = 0, changes = 0;
        for (int n = 0; n < 8; n++) {
            double angle = 2 * 3.14159265358979323846 * n / 8;
            int64_t column = i % W, row = i / W;
            double x = (double)column + round(cos(angle) * 1e5) / 1e5, y = (double)row - round(sin(angle) * 1e5) / 1e5;
            bits[n] = gray_between(image.samples, W, H, x, y) >= image.samples[i] - 1e-9;
            ones += bits[n];
        }
        for (int n = 0; n < 8; n++) {
            changes += bits[n] != bits[(n + 1) % 8];
        }
        assert_int_equal(codes[i], changes <= 2 ? ones : 9);
    }
    free(image.samples);
}

/* --- regions --- */

static int32_t flood(const int32_t *labels, int32_t *seen, int64_t w, int64_t h, int64_t from, int32_t number) {
    int64_t stack[4096], size = 0;
    int32_t pixels = 0;
    stack[size++] = from;
    seen[from] = number;
    while (size > 0) {
        int64_t i = stack[--size], x = i % w, y = i / w;
        int64_t next[4] = {x > 0 ? i - 1 : -1, x + 1 < w ? i + 1 : -1, y > 0 ? i - w : -1, y + 1 < h ? i + w : -1};
        pixels++;
        for (int n = 0; n < 4; n++) {
            if (next[n] >= 0 && seen[next[n]] < 0 && labels[next[n]] == labels[i]) {
                seen[next[n]] = number;
                assert_true(size < 4096);
                stack[size++] = next[n];
            }
        }
    }
    return pixels;
}

/* Connected pieces by flooding, in the order of their first pixels; the size of the smallest. */
static int32_t count_pieces(const int32_t *labels, int32_t *seen, int64_t w, int64_t h, int32_t *smallest) {
    int32_t count = 0;
    *smallest = INT32_MAX;
    memset(seen, 0xff, (size_t)(w * h) * sizeof *seen);
    for (int64_t i = 0; i < w * h; i++) {
        if (seen[i] < 0) {
            int32_t size = flood(labels, seen, w, h, i, count++);
            *smallest = size < *smallest ? size : *smallest;
        }
    }
    return count;
}

static void test_pieces(void **state) {
    (void)state;
    enum { W = 23, H = 17 };
    int32_t labels[W * H], seen[W * H], smallest;
    clv_rng rng = clv_rng_stream(8, 0);
    for (int trial = 0; trial < 20; trial++) {
        for (int i = 0; i < W * H; i++) {
            labels[i] = (int32_t)clv_rng_below(&rng, 2 + trial % 3);
        }
        clv_regions *r;
        assert_ok(clv_regions_of_pieces(ctx, W, H, labels, &r));
        assert_int_equal(r->count, count_pieces(labels, seen, W, H, &smallest));
        assert_memory_equal(r->labels, seen, sizeof seen);
        clv_regions_free(r);
    }
}

static void test_adjacency(void **state) {
    (void)state;
    enum { W = 11, H = 8, R = 7 };
    int32_t labels[W * H];
    clv_rng rng = clv_rng_stream(2, 0);
    for (int i = 0; i < W * H; i++) {
        labels[i] = (int32_t)clv_rng_below(&rng, R - 1); /* region 6 has no pixel */
    }
    clv_regions r = {W, H, R, labels, ctx};
    clv_data *data;
    assert_ok(clv_region_adjacency(ctx, &r, &data));
    double expected[R][R] = {{0}};
    for (int i = 0; i < W * H; i++) {
        for (int j = 0; j < W * H; j++) {
            if (abs(i % W - j % W) + abs(i / W - j / W) == 1 && labels[i] != labels[j]) {
                expected[labels[i]][labels[j]]++;
            }
        }
    }
    for (int i = 0; i < R; i++) {
        double row[R];
        clv_matrix_row(clv_data_matrix(data), i, row);
        assert_memory_equal(row, expected[i], sizeof row);
    }
    clv_data_free(data);
}

static void test_tidy(void **state) {
    (void)state;
    enum { W = 30, H = 20 };
    int32_t labels[W * H], before[W * H], seen[W * H], smallest;
    clv_rng rng = clv_rng_stream(4, 0);
    for (int trial = 0; trial < 30; trial++) {
        int64_t least = trial;
        for (int i = 0; i < W * H; i++) { /* two halves with noise, some of it without a label */
            before[i] = clv_rng_below(&rng, 5) == 0 ? (int32_t)clv_rng_below(&rng, 5) - 1 : 1 + (i % W > W / 2);
            labels[i] = before[i];
        }
        assert_ok(clv_labels_tidy(ctx, W, H, least, trial % 2, labels));
        int32_t pieces = count_pieces(labels, seen, W, H, &smallest);
        assert_true(pieces == 1 || smallest >= least);
        for (int i = 0; i < W * H; i++) {
            assert_true(labels[i] >= -1 && labels[i] <= 3);
            assert_true(trial % 2 == 0 || labels[i] >= 0);
            assert_true(least > 1 || trial % 2 == 1 || labels[i] == before[i]); /* nothing to do */
        }
    }
    int32_t island[9] = {0, 0, 0, 0, 1, 2, 0, 2, 2};
    static const int32_t joined[9] = {0, 0, 0, 0, 0, 2, 0, 2, 2}; /* borders of 2 and 2: the larger neighbor */
    assert_ok(clv_labels_tidy(ctx, 3, 3, 2, 0, island));
    assert_memory_equal(island, joined, sizeof joined);
    int32_t nothing[4] = {-1, -1, -1, -1};
    assert_ok(clv_labels_tidy(ctx, 2, 2, 9, 1, nothing));
    assert_int_equal(nothing[0], -1);
    assert_refused(clv_labels_tidy(ctx, 0, 2, 9, 1, nothing), CLV_EUSAGE, "0 x 2", NULL);
}

/* Steps between regions by Floyd and Warshall, the median by counting. */
static void test_similarity(void **state) {
    (void)state;
    enum { W = 12, H = 9, R = 10 };
    int32_t labels[W * H];
    double points[R * 2], squares[R * R];
    int steps[R][R];
    clv_rng rng = clv_rng_stream(6, 0);
    for (int i = 0; i < W * H; i++) {
        labels[i] = (i % W) / 3 * 2 + (i / W) / 5 + (i % W > 8 && i / W > 6 ? 2 : 0);
    }
    for (int i = 0; i < R * 2; i++) {
        points[i] = clv_rng_normal(&rng);
    }
    clv_regions r = {W, H, R, labels, ctx};
    int count = 0;
    for (int i = 0; i < R; i++) {
        for (int j = 0; j < R; j++) {
            double dx = points[2 * i] - points[2 * j], dy = points[2 * i + 1] - points[2 * j + 1];
            steps[i][j] = i == j ? 0 : 1000;
            if (i < j) {
                squares[count++] = dx * dx + dy * dy;
            }
        }
    }
    for (int i = 0; i < W * H; i++) {
        for (int j = 0; j < W * H; j++) {
            if (abs(i % W - j % W) + abs(i / W - j / W) == 1 && labels[i] != labels[j]) {
                steps[labels[i]][labels[j]] = 1;
            }
        }
    }
    for (int m = 0; m < R; m++) {
        for (int i = 0; i < R; i++) {
            for (int j = 0; j < R; j++) {
                steps[i][j] = steps[i][m] + steps[m][j] < steps[i][j] ? steps[i][m] + steps[m][j] : steps[i][j];
            }
        }
    }
    double median = clv_nth_smallest(squares, count, count / 2);
    for (int64_t reach = 1; reach < 6; reach++) {
        clv_data *data;
        assert_ok(clv_region_similarity(ctx, &r, &(clv_matrix){R, 2, CLV_F64, points, NULL, NULL}, reach, 0.7, &data));
        for (int i = 0; i < R; i++) {
            double row[R];
            clv_matrix_row(clv_data_matrix(data), i, row);
            for (int j = 0; j < R; j++) {
                double dx = points[2 * i] - points[2 * j], dy = points[2 * i + 1] - points[2 * j + 1];
                double w = steps[i][j] <= reach ? exp(-(dx * dx + dy * dy) / (2 * 0.49 * median)) : 0;
                assert_true(fabs(row[j] - w) < 1e-14);
            }
        }
        clv_data_free(data);
    }
}

/* --- superpixels --- */

static clv_image draw_halves(int64_t width, int64_t height) {
    clv_image image = draw_noise(width, height, 3, 3);
    for (int64_t i = 0; i < width * height; i++) {
        bool right = i % width * 2 >= width + i / width / 3; /* a slanted border */
        for (int c = 0; c < 3; c++) {
            image.samples[3 * i + c] = (uint8_t)((right ? 200 : 30) + image.samples[3 * i + c] % 8);
        }
    }
    return image;
}

static void test_superpixels(void **state) {
    (void)state;
    enum { W = 60, H = 45 };
    clv_image image = draw_halves(W, H);
    clv_superpixel_options o;
    clv_regions *r, *again;
    int32_t seen[W * H], smallest;
    clv_superpixel_defaults(&o);
    o.superpixels = 48;
    o.threads = 1;
    assert_ok(clv_superpixels(ctx, &image, &o, &r));
    assert_true(r->count >= 30 && r->count <= 70);
    assert_int_equal(count_pieces(r->labels, seen, W, H, &smallest), r->count); /* each is connected */
    assert_true(smallest >= W * H / 48 / 4);
    int side[128] = {0};
    for (int64_t i = 0; i < W * H; i++) { /* none lies on both sides */
        int right = image.samples[3 * i] >= 200 ? 2 : 1;
        assert_true(r->labels[i] >= 0 && r->labels[i] < r->count);
        side[r->labels[i]] |= right;
    }
    for (int64_t c = 0; c < r->count; c++) {
        assert_int_not_equal(side[c], 3);
    }
    o.threads = 3;
    assert_ok(clv_superpixels(ctx, &image, &o, &again));
    assert_memory_equal(r->labels, again->labels, W * H * sizeof *r->labels);
    clv_regions_free(again);
    clv_regions_free(r);
    free(image.samples);
}

/* Of one color only the places are left: the pieces are the cells of the grid, also where a center reaches over
 * several bands of rows. */
static void test_flat_superpixels(void **state) {
    (void)state;
    enum { SIDE = 128, CELLS = 16 };
    clv_image image = new_image(SIDE, SIDE, 3);
    clv_superpixel_options o;
    clv_regions *r;
    int64_t sizes[CELLS];
    clv_superpixel_defaults(&o);
    o.superpixels = CELLS;
    assert_ok(clv_superpixels(ctx, &image, &o, &r));
    assert_int_equal(r->count, CELLS);
    clv_region_sizes(r, sizes);
    for (int c = 0; c < CELLS; c++) {
        assert_true(llabs(sizes[c] - SIDE * SIDE / CELLS) <= 4 * SIDE / 4); /* a row and a column more or less */
    }
    clv_regions_free(r);
    free(image.samples);
}

/* Memory grows with the pixels, however many centers and rows there are; threads do not matter. */
static void test_many_superpixels(void **state) {
    (void)state;
    enum { W = 40, H = 1600, MOST = 130 };
    clv_image image = draw_noise(W, H, 3, 5);
    clv_superpixel_options o;
    clv_regions *r, *again;
    size_t now, peak;
    clv_superpixel_defaults(&o);
    for (int64_t per = 1; per < 50; per *= 4) {
        o.superpixels = W * H / per;
        o.threads = 1;
        assert_ok(clv_superpixels(ctx, &image, &o, &r));
        o.threads = 3;
        assert_ok(clv_superpixels(ctx, &image, &o, &again));
        assert_int_equal(r->count, again->count);
        assert_memory_equal(r->labels, again->labels, W * H * sizeof *r->labels);
        clv_regions_free(again);
        clv_regions_free(r);
        clv_context_memory(ctx, &now, &peak);
        assert_true(peak <= (size_t)MOST * W * H);
    }
    free(image.samples);
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

static void test_interrupt(void **state) {
    (void)state;
    clv_image image = draw_noise(30, 20, 3, 1), out;
    int32_t labels[600] = {0};
    clv_data *data;
    clv_superpixel_options o;
    clv_regions *r;
    clv_superpixel_defaults(&o);
    clv_context_set_interrupt(ctx, stop_at_once, NULL);
    assert_refused(clv_image_resize(ctx, &image, 9, 5, &out), CLV_EINTERRUPTED, "interrupted", NULL);
    assert_null(out.samples);
    assert_refused(clv_image_points(ctx, &image, &data), CLV_EINTERRUPTED, "interrupted", NULL);
    assert_refused(clv_superpixels(ctx, &image, &o, &r), CLV_EINTERRUPTED, "interrupted", NULL);
    assert_refused(clv_labels_tidy(ctx, 30, 20, 5, 0, labels), CLV_EINTERRUPTED, "interrupted", NULL);
    clv_context_set_interrupt(ctx, NULL, NULL);
    free(image.samples);
}

static void test_extreme_pictures(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {1, 50}, {50, 1}, {2, 2}, {3, 200}};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        clv_image image = draw_noise(sizes[i / 2][0], sizes[i / 2][1], i % 2 ? 4 : 1, i);
        clv_superpixel_options o;
        clv_region_weights weights;
        clv_regions *r;
        clv_data *points;
        clv_superpixel_defaults(&o);
        clv_region_defaults(&weights);
        assert_ok(clv_superpixels(ctx, &image, &o, &r));
        assert_true(r->count >= 1 && r->count <= image.width * image.height);
        assert_ok(clv_region_points(ctx, &image, r, &weights, 2, &points));
        assert_ok(clv_matrix_check(ctx, "points", clv_data_matrix(points), 1e6));
        clv_data_free(points);
        clv_regions_free(r);
        free(image.samples);
    }
}

/* --- what regions look like --- */

static void test_histograms(void **state) {
    (void)state;
    clv_image image = draw_noise(16, 10, 3, 12);
    int32_t labels[160];
    for (int i = 0; i < 160; i++) {
        labels[i] = i % 16 / 4;
    }
    clv_regions r = {16, 10, 4, labels, ctx};
    clv_data *data, *textures;
    uint8_t codes[160];
    assert_ok(clv_region_histograms(ctx, &image, &r, 6, 1, &data));
    assert_ok(clv_region_textures(ctx, &image, &r, 1, &textures));
    assert_ok(clv_image_lbp(ctx, &image, 1, codes));
    float *lab;
    assert_ok(clv_image_lab(ctx, &image, 1, &lab));
    for (int region = 0; region < 4; region++) {
        const double *row = (const double *)clv_data_matrix(data)->values + 18 * (ptrdiff_t)region;
        const double *texture = (const double *)clv_data_matrix(textures)->values + CLV_LBP_CODES * (ptrdiff_t)region;
        for (int bin = 0; bin < 18; bin++) { /* a tent over the bin's center; flat beyond the outer ones */
            double low = bin < 6 ? 0 : -60, width = bin < 6 ? 100.0 / 6 : 20, sum = 0;
            double center = low + (bin % 6 + 0.5) * width, first = low + width / 2, last = low + 5.5 * width;
            for (int i = 0; i < 160; i++) {
                double value = fmin(fmax((double)lab[bin / 6 * 160 + i], first), last);
                sum += labels[i] == region ? fmax(0, 1 - fabs(value - center) / width) / 40 : 0;
            }
            assert_true(fabs(row[bin] - sum) < 1e-12);
        }
        for (int code = 0; code < CLV_LBP_CODES; code++) {
            double share = 0, all = 0;
            for (int i = 0; i < 160; i++) { /* without the frame */
                bool inner = i % 16 > 0 && i % 16 < 15 && i / 16 > 0 && i / 16 < 9;
                share += labels[i] == region && inner && codes[i] == code;
                all += labels[i] == region && inner;
            }
            assert_true(fabs(texture[code] - share / all) < 1e-12);
        }
    }
    clv_release(ctx, lab);
    clv_data_free(data);
    clv_data_free(textures);
    assert_refused(clv_region_histograms(ctx, &image, &r, 0, 1, &data), CLV_EUSAGE, "bins = 0", NULL);
    r.width = 8;
    assert_refused(clv_region_histograms(ctx, &image, &r, 4, 1, &data), CLV_EUSAGE, "8 x 10", "16 x 10", NULL);
    free(image.samples);
}

/* --- what is drawn and written --- */

static void test_overlay(void **state) {
    (void)state;
    clv_image image = draw_noise(6, 5, 4, 1), drawn;
    int32_t labels[30];
    for (int i = 0; i < 30; i++) {
        labels[i] = i % 6 >= 3;
    }
    assert_ok(clv_image_overlay(ctx, &image, labels, &drawn));
    for (int i = 0; i < 30; i++) {
        double rgb[3];
        clv_image_rgb(&image, i, rgb);
        bool same = fabs(drawn.samples[3 * i] - rgb[0]) <= 0.5 && fabs(drawn.samples[3 * i + 1] - rgb[1]) <= 0.5;
        const uint8_t *pixel = &drawn.samples[3 * i];
        if (i % 6 == 2) { /* the last column of the left part: bright */
            assert_true(pixel[0] == 255 && pixel[1] == 225 && pixel[2] == 0);
        } else if (i % 6 == 1 || i % 6 == 3) { /* beside it: dark */
            assert_true(pixel[0] == 0 && pixel[1] == 0 && pixel[2] == 0);
        } else {
            assert_true(same);
        }
    }
    clv_release(ctx, drawn.samples);
    free(image.samples);
}

/* Each segment has the mean of its pixels. */
static void test_fill(void **state) {
    (void)state;
    uint8_t samples[6] = {10, 20, 30, 200, 100, 7};
    const clv_image image = {3, 2, 1, samples};
    const int32_t labels[6] = {0, 0, 0, 2, 2, -1};
    const uint8_t expected[6] = {20, 20, 20, 150, 150, 0};
    clv_image filled;
    assert_ok(clv_image_fill(ctx, &image, labels, &filled));
    for (int i = 0; i < 18; i++) {
        assert_int_equal(filled.samples[i], expected[i / 3]);
    }
    clv_release(ctx, filled.samples);
}

/* A palette: as many colors as labels, all different, none black but that of no label. */
static void test_label_colors(void **state) {
    (void)state;
    int32_t labels[256];
    clv_image back;
    for (int i = 0; i < 256; i++) {
        labels[i] = i < 255 ? i : -1;
    }
    assert_ok(clv_write_label_colors(ctx, in_folder("l.png"), 16, 16, labels));
    assert_ok(clv_read_image(ctx, in_folder("l.png"), &back));
    assert_true(back.width == 16 && back.height == 16 && back.channels == 3);
    for (int i = 0; i < 256; i++) {
        const uint8_t *a = &back.samples[3 * i];
        assert_true((a[0] + a[1] + a[2] == 0) == (i == 255));
        for (int j = 0; j < i; j++) {
            assert_true(memcmp(a, &back.samples[3 * j], 3) != 0);
        }
    }
    clv_release(ctx, back.samples);
    labels[0] = 255;
    assert_refused(clv_write_label_colors(ctx, in_folder("l.png"), 16, 16, labels), CLV_EUSAGE, "label 255",
                   "255 colors", NULL);
    unlink(in_folder("l.png"));
}

static void test_label_images(void **state) {
    (void)state;
    int32_t labels[6] = {0, 1, 65534, -1, 300, 7};
    clv_image back;
    assert_ok(clv_write_label_image(ctx, in_folder("l.png"), 3, 2, labels));
    assert_ok(clv_read_image(ctx, in_folder("l.png"), &back)); /* the high bytes */
    assert_true(back.width == 3 && back.height == 2 && back.channels == 1);
    assert_true(back.samples[2] == 255 && back.samples[3] == 255 && back.samples[4] == 1 && back.samples[5] == 0);
    clv_release(ctx, back.samples);
    labels[0] = 65535;
    assert_refused(clv_write_label_image(ctx, in_folder("l.png"), 3, 2, labels), CLV_EUSAGE, "65535", ".npy", NULL);
    labels[0] = 70000;
    assert_ok(clv_write_label_image(ctx, in_folder("l.npy"), 3, 2, labels));
    clv_data *data;
    assert_ok(clv_read(ctx, in_folder("l.npy"), NULL, &data));
    const double expected[6] = {70000, 1, 65534, -1, 300, 7};
    assert_dense(data, 2, 3, expected);
    clv_data_free(data);
    assert_refused(clv_write_label_image(ctx, in_folder("l.txt"), 3, 2, labels), CLV_EUSAGE, ".png or .npy", NULL);
    assert_refused(clv_write_label_image(ctx, in_folder("m.npy"), 0, 2, labels), CLV_EUSAGE, "0 x 2", NULL);
    unlink(in_folder("l.png"));
    unlink(in_folder("l.npy"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_hsv, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_lab, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_gray_and_alpha, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_shrink, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_odd_sizes, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_patterns, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_pieces, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_adjacency, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_tidy, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_similarity, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_superpixels, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_flat_superpixels, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_many_superpixels, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_interrupt, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_extreme_pictures, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_histograms, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_overlay, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_fill, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_label_colors, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_label_images, open_context, close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
