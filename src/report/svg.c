/* Inline SVG: colors, axes and places; and pictures of pixels as data in the page. */
#include "io/io.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>

enum { TICKS = 12, DECADES = 6 };

/* The six of Okabe and Ito that show on light and dark alike, and two more as far from them as there are; the tests
 * measure how far apart they stay for those who do not see all colors. */
const uint8_t clv_palette[CLV_COLORS][3] = {{0x00, 0x72, 0xb2}, {0xe6, 0x9f, 0x00}, {0x00, 0x9e, 0x73},
                                            {0xd5, 0x5e, 0x00}, {0x56, 0xb4, 0xe9}, {0xcc, 0x79, 0xa7},
                                            {0x8a, 0x02, 0xfc}, {0x7e, 0x40, 0x1c}};

void clv_put_color(clv_text *text, int64_t cluster) {
    if (cluster < 0) {
        clv_text_add(text, "var(--soft)");
    } else {
        const uint8_t *color = clv_palette[cluster % CLV_COLORS];
        clv_text_add(text, "#%02x%02x%02x", color[0], color[1], color[2]);
    }
}

void clv_put_cluster(clv_text *text, int64_t cluster) {
    clv_text_add(text, " data-c=\"%lld\"", (long long)cluster);
}

void clv_put_tenths(clv_text *text, double value) {
    long tenths = lround(value * 10);
    clv_text_add(text, "%s%ld.%ld", tenths < 0 ? "-" : "", labs(tenths) / 10, labs(tenths) % 10);
}

static double share(double at, double from, double to, bool by_log) {
    return by_log ? log(at / from) / log(to / from) : (at - from) / (to - from);
}

double clv_svg_x(const clv_axes *a, double x) {
    double width = CLV_SVG_WIDTH - CLV_SVG_LEFT - CLV_SVG_RIGHT;
    return CLV_SVG_LEFT + width * share(x, a->left, a->right, a->log_x);
}

double clv_svg_y(const clv_axes *a, double y) {
    double height = a->height - CLV_SVG_TOP - CLV_SVG_BOTTOM;
    return a->height - CLV_SVG_BOTTOM - height * share(y, a->low, a->high, a->log_y);
}

void clv_svg_point(clv_text *text, char command, const clv_axes *a, double x, double y) {
    clv_text_append(text, &command, 1);
    clv_put_tenths(text, clv_svg_x(a, x));
    clv_text_append(text, " ", 1);
    clv_put_tenths(text, clv_svg_y(a, y));
}

void clv_svg_open(clv_text *text, const char *id, int width, int height, const char *label) {
    clv_text_add(text, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\"", width, height, label);
    if (id) {
        clv_text_add(text, " id=\"%s\" class=\"live\" tabindex=\"0\" aria-describedby=\"keys\"", id);
    }
    clv_text_add(text, ">\n");
}

/* --- axes --- */

void clv_svg_decades(double least, double most, double *low, double *high) {
    *low = pow(10, floor(log10(least) + 1e-9));
    *high = pow(10, ceil(log10(most) - 1e-9));
    *high = *high > *low ? *high : 10 * *low;
}

/* 1, 2 or 5 times a power of ten, such that about `count` of them make `range`. */
static double nice_step(double range, int count) {
    double rough = range / count, power = pow(10, floor(log10(rough)));
    double factor = rough / power;
    return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

static void put_y_tick(clv_text *text, const clv_axes *a, double value, int digits) {
    double y = clv_svg_y(a, value);
    clv_text_add(text, "<path class=\"grid\" d=\"M%d ", CLV_SVG_LEFT);
    clv_put_tenths(text, y);
    clv_text_add(text, "H%d\"/><text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"", CLV_SVG_WIDTH - CLV_SVG_RIGHT,
                 CLV_SVG_LEFT - 8);
    clv_put_tenths(text, y + 4);
    clv_text_add(text, "\">");
    clv_put_rounded(text, value, digits);
    clv_text_add(text, "</text>\n");
}

static void put_x_tick(clv_text *text, const clv_axes *a, double value) {
    clv_text_add(text, "<text class=\"tick\" text-anchor=\"middle\" y=\"%d\" x=\"", a->height - CLV_SVG_BOTTOM + 18);
    clv_put_tenths(text, clv_svg_x(a, value));
    clv_text_add(text, "\">");
    clv_put_rounded(text, value, 7);
    clv_text_add(text, "</text>\n");
}

typedef void (*put_tick)(clv_text *text, const clv_axes *a, double value, int digits);

static void put_x_tick_of(clv_text *text, const clv_axes *a, double value, int digits) {
    (void)digits;
    put_x_tick(text, a, value);
}

static void put_decades(clv_text *text, const clv_axes *a, double low, double high, put_tick put) {
    int first = (int)lround(log10(low)), last = (int)lround(log10(high));
    int stride = 1 + (last - first - 1) / DECADES;
    for (int power = first; power <= last; power += stride) {
        put(text, a, pow(10, power), 1);
    }
}

static void put_steps(clv_text *text, const clv_axes *a, double low, double high, double step, put_tick put) {
    double size = fmax(fabs(high), fabs(low));
    int digits = (int)fmin(15, fmax(3, ceil(log10(size / step)) + 1));
    double first = ceil(low / step - 1e-9), last = floor(high / step + 1e-9);
    for (int i = 0; i < TICKS && first + i <= last; i++) {
        put(text, a, (first + i) * step, digits);
    }
}

void clv_svg_axes(clv_text *text, const clv_axes *a, const char *x_name, const char *y_name) {
    if (a->log_y) {
        put_decades(text, a, a->low, a->high, put_y_tick);
    } else {
        put_steps(text, a, a->low, a->high, nice_step(a->high - a->low, 5), put_y_tick);
    }
    if (a->log_x) {
        put_decades(text, a, a->left, a->right, put_x_tick_of);
    } else {
        double step = nice_step(a->right - a->left, 8);
        put_steps(text, a, a->left, a->right, fmax(1, step), put_x_tick_of);
    }
    clv_text_add(text, "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%d\">%s</text>\n",
                 CLV_SVG_WIDTH - CLV_SVG_RIGHT, a->height - 4, x_name);
    clv_text_add(text, "<text class=\"tick\" x=\"4\" y=\"%d\">", CLV_SVG_TOP - 24);
    clv_put_html(text, y_name);
    clv_text_add(text, "%s</text>\n", a->log_y ? " (log scale)" : "");
}

void clv_svg_level(clv_text *text, const clv_axes *a, double value, const char *name) {
    double y = clv_svg_y(a, value);
    clv_text_add(text, "<path class=\"level\" d=\"M%d ", CLV_SVG_LEFT);
    clv_put_tenths(text, y);
    clv_text_add(text, "H%d\"/><text class=\"tick named\" x=\"%d\" y=\"", CLV_SVG_WIDTH - CLV_SVG_RIGHT,
                 CLV_SVG_LEFT + 4);
    clv_put_tenths(text, y - 5);
    clv_text_add(text, "\">%s</text>\n", name);
}

/* --- pixels --- */

static void put_base64(clv_text *text, const unsigned char *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        unsigned a = bytes[i], b = i + 1 < size ? bytes[i + 1] : 0, c = i + 2 < size ? bytes[i + 2] : 0;
        const char four[4] = {digits[a >> 2], digits[(a & 3) << 4 | b >> 4],
                              i + 1 < size ? digits[(b & 15) << 2 | c >> 6] : '=', i + 2 < size ? digits[c & 63] : '='};
        clv_text_append(text, four, 4);
    }
}

clv_status clv_put_png(clv_text *text, const clv_image *image) {
    clv_text bytes = {.ctx = text->ctx};
    CLV_TRY(clv_png_to_text(image, &bytes));
    clv_text_add(text, "data:image/png;base64,");
    put_base64(text, (const unsigned char *)bytes.data, bytes.size);
    clv_free(text->ctx, bytes.data);
    return text->status;
}
