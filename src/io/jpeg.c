/* JPEG by libjpeg, from memory, to 8-bit gray or RGB. libjpeg would exit on errors and print warnings: ours takes a
 * longjmp and keeps silent. Data that end early are an error here, where libjpeg would fill in gray. */
#include "io/io.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

enum { MOST_SCANS = 500 };   /* a small file with very many scans would take forever */
enum { WORK_A_SAMPLE = 16 }; /* of a picture, as clv_worked counts; of a scan it is 1 */

typedef struct job {
    clv_context *ctx;
    const char *name;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    int64_t work; /* from one call of go_on to the next */
    clv_status status;
    jmp_buf escape;
} job;

static void fail(j_common_ptr jpeg) {
    job *j = jpeg->client_data;
    char message[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, message);
    if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY) {
        j->status = clv_fail(j->ctx, CLV_ENOMEM, "out of memory for the picture %s", j->name);
    } else {
        j->status = clv_fail(j->ctx, CLV_EDATA, "%s is not a valid JPEG picture: %s", j->name, message);
    }
    longjmp(j->escape, 1);
}

/* Warnings that mean lost pixels are errors. */
static void weigh_message(j_common_ptr jpeg, int level) {
    int code = jpeg->err->msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE)) {
        fail(jpeg);
    }
}

static void print_nothing(j_common_ptr jpeg) {
    (void)jpeg;
}

/* libjpeg calls this for every row of blocks of a scan that it keeps, and for every row of pixels. */
static void go_on(j_common_ptr jpeg) {
    job *j = jpeg->client_data;
    j->status = j->jpeg.input_scan_number > MOST_SCANS
                    ? clv_fail(j->ctx, CLV_EDATA, "%s has more than %d scans", j->name, MOST_SCANS)
                    : clv_read_on(j->ctx, j->name, j->work);
    if (j->status < 0) {
        longjmp(j->escape, 1);
    }
}

/* A block of 64 pixels takes a bit of Huffman code at least; arithmetic coding may do with less. */
static double pixels_held(size_t bytes) {
    return 8.0 * 64 * 8 * (double)bytes;
}

/* A progressive picture is held whole while it is read: a number of 16 bits for each sample. */
static int64_t scan_bytes(const job *j, const clv_image *image) {
    return jpeg_has_multiple_scans((j_decompress_ptr)&j->jpeg)
               ? image->width * image->height * image->channels * (int64_t)sizeof(JCOEF)
               : 0;
}

static clv_status read_picture(job *j, clv_bytes bytes, clv_image *image) {
    if (setjmp(j->escape)) {
        return j->status;
    }
    jpeg_create_decompress(&j->jpeg);
    j->jpeg.progress = &j->progress;
    jpeg_mem_src(&j->jpeg, bytes.data, (unsigned long)bytes.size);
    jpeg_read_header(&j->jpeg, TRUE);
    if (j->jpeg.num_components != 1 && j->jpeg.num_components != 3) {
        return clv_fail(j->ctx, CLV_EDATA, "%s has %d color components (CMYK?), where 1 or 3 are read", j->name,
                        j->jpeg.num_components);
    }
    j->jpeg.out_color_space = j->jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    image->width = j->jpeg.image_width;
    image->height = j->jpeg.image_height;
    image->channels = j->jpeg.num_components;
    CLV_TRY(clv_image_reserve(j->ctx, j->name, pixels_held(bytes.size), image));
    CLV_TRY(clv_memory_fits(j->ctx, scan_bytes(j, image)));
    int64_t samples = image->width * image->channels;
    j->work = samples * DCTSIZE * j->jpeg.max_v_samp_factor;
    jpeg_start_decompress(&j->jpeg);
    j->work = samples * WORK_A_SAMPLE;
    while (j->jpeg.output_scanline < j->jpeg.output_height) {
        JSAMPROW row = image->samples + j->jpeg.output_scanline * samples;
        jpeg_read_scanlines(&j->jpeg, &row, 1);
    }
    jpeg_finish_decompress(&j->jpeg);
    return CLV_OK;
}

clv_status clv_jpeg_parse(clv_context *ctx, clv_bytes bytes, clv_image *out) {
    *out = (clv_image){0};
    clv_image image = {0};
    job j = {.ctx = ctx, .name = bytes.name};
    if (bytes.size < 2 || memcmp(bytes.data, "\xff\xd8", 2) != 0) {
        return clv_fail(ctx, CLV_EDATA, "%s is not a JPEG picture", bytes.name);
    }
    j.jpeg.err = jpeg_std_error(&j.errors);
    j.jpeg.client_data = &j;
    j.errors.error_exit = fail;
    j.errors.emit_message = weigh_message;
    j.errors.output_message = print_nothing;
    j.progress.progress_monitor = go_on;
    clv_status status = read_picture(&j, bytes, &image);
    jpeg_destroy_decompress(&j.jpeg);
    if (status < 0) {
        clv_free(ctx, image.samples);
        return status;
    }
    *out = image;
    return CLV_OK;
}
