/* Pictures: ours written and read back; others made by libpng and libjpeg themselves. */
#include "io_support.h"

#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

enum { WIDTH = 13, HEIGHT = 9 };

typedef struct buffer {
    uint8_t bytes[1 << 16];
    size_t size;
} buffer;

static void take(png_structp png, png_bytep bytes, size_t size) {
    buffer *b = png_get_io_ptr(png);
    assert_true(b->size + size <= sizeof b->bytes);
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
}

static void flush(png_structp png) {
    (void)png;
}

static uint8_t sample(int64_t x, int64_t y, int64_t channel) {
    return (uint8_t)(17 * x + 29 * y + 91 * channel);
}

/* A PNG of any kind; 16-bit samples have the 8-bit one as their high byte. `transparent` gives entry 0 no opacity. */
static void make_png(buffer *out, int type, int depth, int interlace, bool transparent) {
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_color palette[4] = {{10, 20, 30}, {40, 50, 60}, {70, 80, 90}, {100, 110, 120}};
    png_byte opacity[1] = {0};
    int channels = type == PNG_COLOR_TYPE_GRAY || type == PNG_COLOR_TYPE_PALETTE ? 1
                   : type == PNG_COLOR_TYPE_GRAY_ALPHA                           ? 2
                   : type == PNG_COLOR_TYPE_RGB                                  ? 3
                                                                                 : 4;
    uint8_t rows[HEIGHT][WIDTH * 8] = {{0}};
    png_bytep pointers[HEIGHT];
    for (int y = 0; y < HEIGHT; y++) {
        pointers[y] = rows[y];
        for (int x = 0; x < WIDTH; x++) {
            for (int c = 0; c < channels; c++) {
                int at = x * channels + c;
                if (depth == 16) {
                    rows[y][2 * at] = sample(x, y, c);
                } else if (depth == 8) {
                    rows[y][at] = type == PNG_COLOR_TYPE_PALETTE ? sample(x, y, c) % 4 : sample(x, y, c);
                } else {
                    rows[y][x / 8] = (uint8_t)(rows[y][x / 8] | (sample(x, y, 0) & 1) << (7 - x % 8));
                }
            }
        }
    }
    out->size = 0;
    png_set_write_fn(png, out, take, flush);
    png_set_IHDR(png, info, WIDTH, HEIGHT, depth, type, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (type == PNG_COLOR_TYPE_PALETTE) {
        png_set_PLTE(png, info, palette, 4);
    }
    if (transparent) {
        png_set_tRNS(png, info, opacity, 1, NULL);
    }
    png_set_rows(png, info, pointers);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    png_destroy_write_struct(&png, &info);
}

static clv_status parse_png(const buffer *b, clv_image *out) {
    return clv_png_parse(ctx, (clv_bytes){b->bytes, b->size, "p.png"}, out);
}

/* What a pixel of make_png must become. */
static uint8_t expected_sample(int type, int depth, int64_t x, int64_t y, int64_t channel) {
    static const uint8_t colors[4][3] = {{10, 20, 30}, {40, 50, 60}, {70, 80, 90}, {100, 110, 120}};
    if (type == PNG_COLOR_TYPE_PALETTE) {
        int entry = sample(x, y, 0) % 4;
        return channel < 3 ? colors[entry][channel] : entry == 0 ? 0 : 255;
    }
    if (type == PNG_COLOR_TYPE_GRAY_ALPHA) {
        return sample(x, y, channel == 3);
    }
    return depth == 1 ? (sample(x, y, 0) & 1) * 255 : sample(x, y, channel);
}

static void test_png_kinds(void **state) {
    (void)state;
    static const struct {
        int type, depth, channels;
        bool transparent;
    } kinds[] = {{PNG_COLOR_TYPE_GRAY, 1, 1, false},      {PNG_COLOR_TYPE_GRAY, 8, 1, false},
                 {PNG_COLOR_TYPE_GRAY, 16, 1, false},     {PNG_COLOR_TYPE_GRAY_ALPHA, 8, 4, false},
                 {PNG_COLOR_TYPE_RGB, 8, 3, false},       {PNG_COLOR_TYPE_RGB, 16, 3, false},
                 {PNG_COLOR_TYPE_RGB_ALPHA, 8, 4, false}, {PNG_COLOR_TYPE_RGB_ALPHA, 16, 4, false},
                 {PNG_COLOR_TYPE_PALETTE, 8, 3, false},   {PNG_COLOR_TYPE_PALETTE, 8, 4, true}};
    buffer b;
    for (size_t k = 0; k < 2 * sizeof kinds / sizeof kinds[0]; k++) {
        int type = kinds[k / 2].type;
        int depth = kinds[k / 2].depth;
        make_png(&b, type, depth, k % 2 ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, kinds[k / 2].transparent);
        clv_image image;
        assert_ok(parse_png(&b, &image));
        assert_true(image.width == WIDTH && image.height == HEIGHT && image.channels == kinds[k / 2].channels);
        for (int64_t at = 0; at < WIDTH * HEIGHT * image.channels; at++) {
            int64_t pixel = at / image.channels;
            assert_int_equal(image.samples[at],
                             expected_sample(type, depth, pixel % WIDTH, pixel / WIDTH, at % image.channels));
        }
        clv_release(ctx, image.samples);
    }
}

static void test_png_refused(void **state) {
    (void)state;
    buffer b;
    clv_image image;
    make_png(&b, PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_NONE, false);
    for (size_t size = 0; size < b.size; size++) {
        buffer cut = b;
        cut.size = size;
        assert_refused(parse_png(&cut, &image), CLV_EDATA, "p.png", NULL);
        assert_null(image.samples);
    }
    buffer broken = b;
    broken.bytes[b.size / 2] ^= 0x55;
    assert_refused(parse_png(&broken, &image), CLV_EDATA, "p.png", NULL);
}

static void put_number(uint8_t *to, uint64_t number) {
    for (int d = 0; d < 4; d++) {
        to[d] = (uint8_t)(number >> (8 * (3 - d)));
    }
}

/* A header that announces 60000 x 60000 pixels, or 500000 x 400: refused before anything is allocated. */
static void test_png_bombs(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{60000, 60000}, {500000, 400}};
    for (int i = 0; i < 2; i++) {
        buffer b;
        clv_image image;
        make_png(&b, PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_NONE, false);
        put_number(b.bytes + 16, sizes[i][0]);
        put_number(b.bytes + 20, sizes[i][1]);
        put_number(b.bytes + 29, crc32(0, b.bytes + 12, 17)); /* of type and data of the header chunk */
        assert_refused(parse_png(&b, &image), CLV_EDATA, "p.png", i ? "500000 x 400" : "60000 x 60000", NULL);
        size_t now;
        size_t peak;
        clv_context_memory(ctx, &now, &peak);
        assert_true(peak < 10 << 20);
    }
}

/* However large the file. */
static void test_most_pixels(void **state) {
    (void)state;
    clv_image image = {.width = 1 << 20, .height = 1 << 20, .channels = 1};
    assert_refused(clv_image_reserve(ctx, "p.png", 1e30, &image), CLV_EDATA, "p.png", "1048576 x 1048576", NULL);
    image = (clv_image){.width = 0, .height = 3, .channels = 1};
    assert_refused(clv_image_reserve(ctx, "p.png", 1e30, &image), CLV_EDATA, "0 x 3", NULL);
    assert_null(image.samples);
}

/* JPEG from libjpeg; smooth, so that little is lost. */
static void make_jpeg(buffer *out, int channels, bool progressive) {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *memory = NULL;
    unsigned long size = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &memory, &size);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = channels;
    jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    if (progressive) {
        jpeg_simple_progression(&jpeg);
    }
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < HEIGHT; y++) {
        uint8_t row[WIDTH * 4];
        for (int at = 0; at < WIDTH * channels; at++) {
            row[at] = (uint8_t)(100 + 5 * (at / channels) + 3 * y + 20 * (at % channels));
        }
        JSAMPROW pointer = row;
        jpeg_write_scanlines(&jpeg, &pointer, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    assert_true(size <= sizeof out->bytes);
    memcpy(out->bytes, memory, size);
    out->size = size;
    free(memory);
}

static clv_status parse_jpeg(const buffer *b, clv_image *out) {
    return clv_jpeg_parse(ctx, (clv_bytes){b->bytes, b->size, "p.jpg"}, out);
}

static void test_jpeg(void **state) {
    (void)state;
    buffer b;
    clv_image image;
    for (int kind = 0; kind < 4; kind++) {
        int channels = kind < 2 ? 1 : 3;
        make_jpeg(&b, channels, kind % 2);
        assert_ok(parse_jpeg(&b, &image));
        assert_true(image.width == WIDTH && image.height == HEIGHT && image.channels == channels);
        for (int at = 0; at < WIDTH * HEIGHT * channels; at++) {
            int x = at / channels % WIDTH;
            int y = at / channels / WIDTH;
            assert_in_range(image.samples[at] + 8 - (100 + 5 * x + 3 * y + 20 * (at % channels)), 0, 16);
        }
        clv_release(ctx, image.samples);
        for (size_t size = 0; size + 2 < b.size; size++) { /* the end marker itself may be missing */
            buffer cut = b;
            cut.size = size;
            assert_refused(parse_jpeg(&cut, &image), CLV_EDATA, "p.jpg", NULL);
            assert_null(image.samples);
        }
    }
    make_jpeg(&b, 4, false);
    assert_refused(parse_jpeg(&b, &image), CLV_EDATA, "p.jpg has 4 color components", NULL);
}

static void test_round_trip(void **state) {
    (void)state;
    static const int channels[] = {1, 3, 4};
    const char *path = in_folder("p.png");
    for (int i = 0; i < 3; i++) {
        uint8_t samples[WIDTH * HEIGHT * 4];
        for (size_t s = 0; s < sizeof samples; s++) {
            samples[s] = (uint8_t)(s * 37);
        }
        clv_image image = {WIDTH, HEIGHT, channels[i], samples};
        clv_image back;
        clv_data *data;
        assert_ok(clv_write_png(ctx, path, &image));
        assert_ok(clv_read_image(ctx, path, &back));
        assert_true(back.width == WIDTH && back.height == HEIGHT && back.channels == channels[i]);
        assert_memory_equal(back.samples, samples, (size_t)(WIDTH * HEIGHT * channels[i]));
        clv_release(ctx, back.samples);
        assert_ok(clv_read(ctx, path, NULL, &data));
        assert_int_equal(clv_data_matrix(data)->rows, WIDTH * HEIGHT);
        assert_int_equal(clv_data_matrix(data)->cols, channels[i]);
        assert_true(((const double *)data->values)[5] == samples[5]);
        clv_data_free(data);
    }
    unlink(path);
    clv_image image = {3, 3, 2, NULL};
    assert_refused(clv_write_png(ctx, path, &image), CLV_EUSAGE, "2 channels", NULL);
    assert_refused(clv_read_image(ctx, path, &image), CLV_ENOINPUT, path, NULL);
    assert_refused(clv_read_image(ctx, "p.gif", &image), CLV_EUSAGE, "p.gif", ".png", NULL);
}

static clv_status write_and_read(clv_context *in, void *user) {
    uint8_t samples[4] = {1, 2, 3, 4};
    clv_image image = {2, 2, 1, samples};
    clv_image back;
    clv_data *data;
    CLV_TRY(clv_write_png(in, user, &image));
    CLV_TRY(clv_read_image(in, user, &back));
    clv_release(in, back.samples);
    CLV_TRY(clv_read(in, user, NULL, &data));
    clv_data_free(data);
    return CLV_OK;
}

static clv_status read_jpeg(clv_context *in, void *user) {
    const buffer *b = user;
    clv_image image;
    CLV_TRY(clv_jpeg_parse(in, (clv_bytes){b->bytes, b->size, "p.jpg"}, &image));
    clv_release(in, image.samples);
    return CLV_OK;
}

static void test_allocations(void **state) {
    (void)state;
    char path[256];
    buffer b;
    snprintf(path, sizeof path, "%s", in_folder("p.png"));
    fail_each_allocation(write_and_read, path);
    unlink(path);
    make_jpeg(&b, 3, false);
    fail_each_allocation(read_jpeg, &b);
}

/* --- looks --- */

typedef struct looks {
    int count, stop; /* stop: at this one; 0: at none */
} looks;

static int look(void *user) {
    looks *l = user;
    return ++l->count == l->stop;
}

typedef clv_status (*parser)(const buffer *b, clv_image *out);

/* How often a picture is looked up from while it is read; each of these looks can end it. */
static int count_looks(parser parse, const buffer *b) {
    looks all = {0};
    clv_image image;
    clv_context_set_interrupt(ctx, look, &all);
    assert_ok(parse(b, &image));
    clv_release(ctx, image.samples);
    for (int stop = 1; stop <= all.count; stop++) {
        looks some = {.stop = stop};
        clv_context_set_interrupt(ctx, look, &some);
        assert_refused(parse(b, &image), CLV_EINTERRUPTED, "reading p.", NULL);
        assert_null(image.samples);
        assert_int_equal(some.count, stop);
    }
    return all.count;
}

static void test_looks_of_png(void **state) {
    (void)state;
    buffer b;
    make_png(&b, PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_NONE, false);
    assert_true(count_looks(parse_png, &b) > HEIGHT);
    make_png(&b, PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_ADAM7, false);
    assert_true(count_looks(parse_png, &b) > 7 * HEIGHT);
}

/* Data that inflate to far more than the pixels are looked up from every few KB. */
static void test_looks_of_surplus(void **state) {
    (void)state;
    enum { SURPLUS = 40 << 20, PIECE = 1 << 13, HEAD = 33 };
    static const uint8_t end[12] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
    buffer b;
    make_png(&b, PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_NONE, false);
    int looks = count_looks(parse_png, &b);
    uint8_t *zeros = calloc(SURPLUS, 1), *chunk = b.bytes + HEAD;
    uLongf size = sizeof b.bytes - HEAD - 12 - sizeof end;
    assert_int_equal(compress2(chunk + 8, &size, zeros, SURPLUS, 9), Z_OK);
    free(zeros);
    put_number(chunk, size);
    memcpy(chunk + 4, "IDAT", 4);
    put_number(chunk + 8 + size, crc32(0, chunk + 4, (uInt)size + 4));
    memcpy(chunk + 12 + size, end, sizeof end);
    b.size = HEAD + 12 + size + sizeof end;
    assert_true(size > 4 * PIECE);
    assert_true(count_looks(parse_png, &b) >= looks + (int)(size / PIECE));
}

static void test_looks_of_jpeg(void **state) {
    (void)state;
    enum { SCANS = 6, BLOCK_ROWS = (HEIGHT + 7) / 8 }; /* of jpeg_simple_progression for a gray picture */
    buffer b;
    make_jpeg(&b, 1, false);
    assert_true(count_looks(parse_jpeg, &b) >= HEIGHT);
    make_jpeg(&b, 1, true);
    assert_true(count_looks(parse_jpeg, &b) >= HEIGHT + SCANS * BLOCK_ROWS);
}

static void test_looks_of_data(void **state) {
    (void)state;
    enum { SIDE = 1000, SAMPLES_A_LOOK = 1 << 18 };
    clv_image image = {SIDE, SIDE, 1, calloc(SIDE, SIDE)};
    clv_data *data;
    looks all = {0}, last;
    clv_context_set_interrupt(ctx, look, &all);
    assert_ok(clv_image_to_data(ctx, &image, "p.png", &data));
    clv_data_free(data);
    assert_true(all.count >= SIDE * SIDE / SAMPLES_A_LOOK);
    last = (looks){.stop = all.count};
    clv_context_set_interrupt(ctx, look, &last);
    assert_refused(clv_image_to_data(ctx, &image, "p.png", &data), CLV_EINTERRUPTED, "reading p.png", NULL);
    assert_null(data);
    free(image.samples);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)
    const struct CMUnitTest tests[] = {
        CASE(test_png_kinds),     CASE(test_png_refused),   CASE(test_png_bombs),
        CASE(test_most_pixels),   CASE(test_jpeg),          CASE(test_round_trip),
        CASE(test_allocations),   CASE(test_looks_of_png),  CASE(test_looks_of_surplus),
        CASE(test_looks_of_jpeg), CASE(test_looks_of_data),
    };
    return cmocka_run_group_tests_name("io_image", tests, NULL, NULL);
}
