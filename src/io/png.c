/* PNG in and out by libpng. Any depth, palette, transparency or interlacing becomes 8-bit gray, RGB or RGBA. libpng
 * reports errors by a longjmp out of our handler; state that must survive it lives in a struct of the caller. */
#include "io/io.h"

#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

enum { PALETTE = 256, MOST_INFLATED = 1032 }; /* bytes that deflate makes of one */

typedef struct job {
    clv_context *ctx;
    const char *name;
    clv_bytes bytes; /* reading */
    size_t at;
    clv_writer *writer;       /* writing to a file, */
    clv_text *text;           /* or to memory */
    int depth;                /* bits of a sample that is written */
    const png_color *palette; /* NULL: none */
    png_structp png;
    png_infop info;
    bool last;         /* the last row is being read, and what follows it */
    clv_status status; /* of what has failed, and was told */
    jmp_buf escape;
} job;

static void fail(png_structp png, png_const_charp message) {
    job *j = png_get_error_ptr(png);
    if (j->status == CLV_OK) {
        j->status = clv_fail(j->ctx, CLV_EDATA, "%s is not a valid PNG picture: %s", j->name, message);
    }
    longjmp(j->escape, 1);
}

static void ignore_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static png_voidp allocate(png_structp png, png_alloc_size_t size) {
    job *j = png_get_mem_ptr(png);
    void *block = size < PTRDIFF_MAX ? clv_alloc(j->ctx, (int64_t)size, 1) : NULL;
    j->status = block ? j->status : CLV_ENOMEM;
    return block;
}

static void release(png_structp png, png_voidp block) {
    job *j = png_get_mem_ptr(png);
    clv_free(j->ctx, block);
}

static void go_on(job *j, clv_status status) {
    if (status < 0) {
        j->status = status;
        longjmp(j->escape, 1);
    }
}

/* libpng asks for a few KB at a time. It inflates all data, those after the last row as well, which nothing else
 * counts: as many as there may be. */
static void give_bytes(png_structp png, png_bytep to, size_t size) {
    job *j = png_get_io_ptr(png);
    go_on(j, clv_read_on(j->ctx, j->name, (int64_t)size * (j->last ? MOST_INFLATED : 1)));
    if (size > j->bytes.size - j->at) {
        png_error(png, "it is cut off");
    }
    memcpy(to, j->bytes.data + j->at, size);
    j->at += size;
}

/* Ask libpng for 8-bit samples and describe them. */
static void set_conversion(job *j, clv_image *image) {
    png_set_expand(j->png);
    png_set_strip_16(j->png);
    int type = png_get_color_type(j->png, j->info);
    bool alpha = (type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(j->png, j->info, PNG_INFO_tRNS) != 0;
    if (alpha) {
        png_set_gray_to_rgb(j->png);
    }
    image->width = png_get_image_width(j->png, j->info);
    image->height = png_get_image_height(j->png, j->info);
    image->channels = alpha ? 4 : (type & PNG_COLOR_MASK_COLOR) ? 3 : 1;
}

/* A byte holds eight pixels at most. */
static double pixels_held(const job *j) {
    double bits = png_get_bit_depth(j->png, j->info) * png_get_channels(j->png, j->info);
    return (double)MOST_INFLATED * (double)j->bytes.size * 8 / bits;
}

static clv_status read_picture(job *j, clv_image *image) {
    if (setjmp(j->escape)) {
        return j->status;
    }
    png_set_read_fn(j->png, j, give_bytes);
    png_read_info(j->png, j->info);
    set_conversion(j, image);
    CLV_TRY(clv_image_reserve(j->ctx, j->name, pixels_held(j), image));
    int passes = png_set_interlace_handling(j->png);
    png_read_update_info(j->png, j->info);
    size_t row_bytes = (size_t)(image->width * image->channels);
    if (png_get_rowbytes(j->png, j->info) != row_bytes) {
        png_error(j->png, "its rows have an unexpected length");
    }
    for (int64_t at = 0, rows = passes * image->height; at < rows; at++) {
        j->last = at == rows - 1;
        png_read_row(j->png, image->samples + (size_t)(at % image->height) * row_bytes, NULL);
        go_on(j, clv_parse_on(j->ctx, j->name, (int64_t)row_bytes));
    }
    png_read_end(j->png, NULL);
    return CLV_OK;
}

static clv_status begin(job *j) {
    if (setjmp(j->escape)) {
        return j->status;
    }
    j->png = (j->depth ? png_create_write_struct_2 : png_create_read_struct_2)(PNG_LIBPNG_VER_STRING, j, fail,
                                                                               ignore_warning, j, allocate, release);
    j->info = j->png ? png_create_info_struct(j->png) : NULL;
    return j->info ? CLV_OK : CLV_ENOMEM;
}

clv_status clv_png_parse(clv_context *ctx, clv_bytes bytes, clv_image *out) {
    *out = (clv_image){0};
    clv_image image = {0};
    job j = {.ctx = ctx, .name = bytes.name, .bytes = bytes};
    if (bytes.size < 8 || png_sig_cmp(bytes.data, 0, 8) != 0) {
        return clv_fail(ctx, CLV_EDATA, "%s is not a PNG picture", bytes.name);
    }
    clv_status status = begin(&j);
    if (status == CLV_OK) {
        status = read_picture(&j, &image);
    }
    png_destroy_read_struct(&j.png, &j.info, NULL);
    if (status < 0) {
        clv_free(ctx, image.samples);
        return status;
    }
    *out = image;
    return CLV_OK;
}

/* --- writing --- */

static void take_bytes(png_structp png, png_bytep from, size_t size) {
    job *j = png_get_io_ptr(png);
    if (j->text) {
        clv_text_append(j->text, (const char *)from, size);
    } else {
        clv_writer_put(j->writer, from, size);
    }
}

static void flush_nothing(png_structp png) {
    (void)png;
}

static clv_status write_picture(job *j, const clv_image *image) {
    if (setjmp(j->escape)) {
        return j->status;
    }
    int type = j->palette             ? PNG_COLOR_TYPE_PALETTE
               : image->channels == 1 ? PNG_COLOR_TYPE_GRAY
               : image->channels == 3 ? PNG_COLOR_TYPE_RGB
                                      : PNG_COLOR_TYPE_RGB_ALPHA;
    png_set_write_fn(j->png, j, take_bytes, flush_nothing);
    png_set_IHDR(j->png, j->info, (png_uint_32)image->width, (png_uint_32)image->height, j->depth, type,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (j->palette) {
        png_set_PLTE(j->png, j->info, j->palette, PALETTE);
    }
    png_write_info(j->png, j->info);
    for (int64_t row = 0; row < image->height; row++) {
        png_write_row(j->png, image->samples + row * image->width * image->channels * (j->depth / 8));
    }
    png_write_end(j->png, NULL);
    return CLV_OK;
}

static clv_status check_picture(clv_context *ctx, const clv_image *image) {
    int64_t limit = 1000000; /* libpng's own */
    bool channels = image->channels == 1 || image->channels == 3 || image->channels == 4;
    if (image->width < 1 || image->height < 1 || image->width > limit || image->height > limit || !channels) {
        return clv_fail(
            ctx, CLV_EUSAGE,
            "a picture of %lld x %lld pixels with %lld channels cannot be written: 1 to %lld pixels per side "
            "and 1, 3 or 4 channels are allowed",
            (long long)image->width, (long long)image->height, (long long)image->channels, (long long)limit);
    }
    CLV_NEED(ctx, image->samples);
    return CLV_OK;
}

static clv_status put_samples(job *j, const clv_image *image) {
    clv_status status = begin(j);
    if (status == CLV_OK) {
        status = write_picture(j, image);
    }
    png_destroy_write_struct(&j->png, &j->info);
    return status;
}

static clv_status write_samples(clv_context *ctx, const char *path, const clv_image *image, int depth,
                                const png_color *palette) {
    job j = {.ctx = ctx, .name = path, .depth = depth, .palette = palette};
    CLV_TRY(check_picture(ctx, image));
    CLV_TRY(clv_writer_open(ctx, path, &j.writer));
    return clv_writer_finish(j.writer, put_samples(&j, image));
}

clv_status clv_png_to_text(const clv_image *image, clv_text *out) {
    job j = {.ctx = out->ctx, .name = "a picture", .depth = 8, .text = out};
    clv_status status = check_picture(out->ctx, image);
    status = status == CLV_OK ? put_samples(&j, image) : status;
    status = status == CLV_OK ? out->status : status;
    if (status < 0) {
        clv_free(out->ctx, out->data);
        *out = (clv_text){.ctx = out->ctx, .status = status};
    }
    return status;
}

clv_status clv_write_png(clv_context *ctx, const char *path, const clv_image *image) {
    CLV_NEED(ctx, path);
    CLV_NEED(ctx, image);
    return write_samples(ctx, path, image, 8, NULL);
}

/* Hues a golden ratio of the circle apart, in turn light, dark and pale: neighbors in number differ. */
static void fill_palette(png_color palette[PALETTE]) {
    for (int c = 0; c < PALETTE - 1; c++) {
        double hue = 6 * fmod(0.58 + c * 0.61803398874989485, 1), light = c % 3 == 1 ? 0.62 : 0.93,
               pale = c % 3 == 2 ? 0.45 : 0.75;
        double rgb[3];
        for (int i = 0; i < 3; i++) {
            double at = fmod(hue + 6 - 2 * i, 6); /* from the peak of this color */
            double share = at > 3 ? 6 - at : at;
            rgb[i] = light * (1 - pale * fmin(fmax(share - 1, 0), 1));
        }
        palette[c] =
            (png_color){(png_byte)lround(255 * rgb[0]), (png_byte)lround(255 * rgb[1]), (png_byte)lround(255 * rgb[2])};
    }
    palette[PALETTE - 1] = (png_color){0, 0, 0};
}

clv_status clv_png_write_colors(clv_context *ctx, const char *path, int64_t width, int64_t height,
                                const int32_t *labels) {
    png_color palette[PALETTE];
    clv_image image = {width, height, 1, CLV_NEW(ctx, uint8_t, width * height)};
    clv_status status = image.samples ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0; status == CLV_OK && i < width * height; i++) {
        if (labels[i] >= PALETTE - 1) {
            status = clv_fail(ctx, CLV_EUSAGE,
                              "%s: label %d does not fit a picture of %d colors; 16-bit numbers and .npy take it", path,
                              labels[i], PALETTE - 1);
        }
        image.samples[i] = (uint8_t)(labels[i] < 0 ? PALETTE - 1 : labels[i]);
    }
    if (status == CLV_OK) {
        fill_palette(palette);
        status = write_samples(ctx, path, &image, 8, palette);
    }
    clv_free(ctx, image.samples);
    return status;
}

clv_status clv_png_write_labels(clv_context *ctx, const char *path, int64_t width, int64_t height,
                                const int32_t *labels) {
    enum { NONE = 65535 };
    clv_image image = {width, height, 1, CLV_NEW(ctx, uint8_t, 2 * width * height)};
    if (!image.samples) {
        return CLV_ENOMEM;
    }
    clv_status status = CLV_OK;
    for (int64_t i = 0; i < width * height && status == CLV_OK; i++) {
        int32_t value = labels[i] < 0 ? NONE : labels[i];
        if (labels[i] >= NONE) {
            status = clv_fail(ctx, CLV_EUSAGE, "%s: label %d does not fit a picture of 16 bits; .npy takes it", path,
                              labels[i]);
        }
        image.samples[2 * i] = (uint8_t)(value >> 8); /* PNG has the high byte first */
        image.samples[2 * i + 1] = (uint8_t)(value & 255);
    }
    if (status == CLV_OK) {
        status = write_samples(ctx, path, &image, 16, NULL);
    }
    clv_free(ctx, image.samples);
    return status;
}
