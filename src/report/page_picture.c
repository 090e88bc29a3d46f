/* A picture and its segments, made smaller where it is large: the borders drawn on it, the segments in their colors,
 * and for the script the number of the segment in red and green of each pixel. */
#include "report/page.h"

#include <string.h>

enum { SIDE = 480, NONE = 65535 };

typedef struct small {
    clv_image picture, drawn;
    int32_t *labels;
} small;

static void free_small(clv_context *ctx, small *s) {
    clv_free(ctx, s->picture.samples);
    clv_free(ctx, s->drawn.samples);
    clv_free(ctx, s->labels);
}

static clv_status make_small(clv_context *ctx, const clv_report_picture *from, small *s) {
    int64_t width = from->image->width, height = from->image->height, longest = width > height ? width : height;
    int64_t w = longest > SIDE ? width * SIDE / longest : width, h = longest > SIDE ? height * SIDE / longest : height;
    w = w > 0 ? w : 1;
    h = h > 0 ? h : 1;
    CLV_TRY(clv_image_resize(ctx, from->image, w, h, &s->picture));
    s->labels = CLV_NEW(ctx, int32_t, w * h);
    if (!s->labels) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < w * h; i++) {
        int64_t x = (i % w * 2 + 1) * width / (2 * w), y = (i / w * 2 + 1) * height / (2 * h);
        s->labels[i] = from->labels[y * width + x];
    }
    return clv_image_overlay(ctx, &s->picture, s->labels, &s->drawn);
}

static void open_image(clv_text *text, const char *id, const char *alt) {
    clv_text_add(text, "<img id=\"%s\" alt=\"%s\" src=\"", id, alt);
}

/* All three have the size of the picture that is drawn, and take its place one after the other. */
static clv_status put_images(clv_text *text, small *s) {
    int64_t pixels = s->drawn.width * s->drawn.height;
    clv_text_add(text, "<div class=\"pictures\">\n<div>");
    open_image(text, "borders", "the picture with the borders of its segments");
    CLV_TRY(clv_put_png(text, &s->drawn));
    clv_text_add(text, "\"><canvas></canvas></div>\n<div>");
    for (int64_t i = 0; i < pixels; i++) {
        static const uint8_t black[3] = {0};
        memcpy(s->drawn.samples + 3 * i, s->labels[i] < 0 ? black : clv_palette[s->labels[i] % CLV_COLORS], 3);
    }
    open_image(text, "segments", "the segments, each in a color of its own");
    CLV_TRY(clv_put_png(text, &s->drawn));
    clv_text_add(text, "\"><canvas></canvas></div>\n</div>\n");
    for (int64_t i = 0; i < pixels; i++) {
        int32_t label = s->labels[i] < 0 || s->labels[i] > NONE ? NONE : s->labels[i];
        const uint8_t numbers[3] = {(uint8_t)(label & 255), (uint8_t)(label >> 8), 0};
        memcpy(s->drawn.samples + 3 * i, numbers, sizeof numbers);
    }
    clv_text_add(text, "<div hidden>");
    open_image(text, "numbers", "");
    CLV_TRY(clv_put_png(text, &s->drawn));
    clv_text_add(text, "\"></div>\n");
    return CLV_OK;
}

clv_status clv_page_picture(const clv_page *page) {
    const clv_report_picture *from = page->report->picture;
    clv_text *text = page->text;
    small s = {0};
    if (!from) {
        return CLV_OK;
    }
    clv_status status = make_small(page->ctx, from, &s);
    if (status == CLV_OK) {
        clv_page_open(text, "The picture");
        clv_text_add(text, "<p class=\"note\">What was clustered are %lld regions of it%s.</p>\n",
                     (long long)page->result->n,
                     s.drawn.width < from->image->width ? "; shown smaller than it is" : "");
        status = put_images(text, &s);
        clv_page_close(text);
    }
    free_small(page->ctx, &s);
    return status;
}
