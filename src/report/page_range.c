/* A range of k: how stable and how well apart the clusters are, by their number. */
#include "report/page.h"

#include <math.h>

enum { HEIGHT = 300 };

/* One column of the table, divided by `unit`, with a bar for what it may be off by. */
static void put_curve(clv_text *text, const clv_axes *a, const clv_field *k, const double *values, const double *spread,
                      double unit, int color) {
    char command = 'M';
    clv_text_add(text, "<path fill=\"none\" stroke-width=\"2\" stroke=\"");
    clv_put_color(text, color);
    clv_text_add(text, "\" d=\"");
    for (int64_t i = 0; i < k->count; i++) {
        if (isfinite(values[i])) {
            clv_svg_point(text, command, a, (double)k->integers[i], fmax(values[i] / unit, a->low));
            command = 'L';
        }
    }
    for (int64_t i = 0; spread && i < k->count; i++) {
        if (isfinite(values[i]) && isfinite(spread[i])) {
            clv_svg_point(text, 'M', a, (double)k->integers[i], fmax(values[i] - spread[i], a->low));
            clv_svg_point(text, 'L', a, (double)k->integers[i], fmin(values[i] + spread[i], a->high));
        }
    }
    clv_text_add(text, "\"/>\n");
}

static double largest(const double *values, int64_t count) {
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        most = isfinite(values[i]) ? fmax(most, values[i]) : most;
    }
    return most;
}

static void put_taken(clv_text *text, const clv_axes *a, int64_t taken) {
    clv_text_add(text, "<path class=\"level\" d=\"");
    clv_svg_point(text, 'M', a, (double)taken, a->low);
    clv_svg_point(text, 'L', a, (double)taken, a->high);
    clv_text_add(text, "\"/><text class=\"tick\" x=\"");
    clv_put_tenths(text, clv_svg_x(a, (double)taken) + 5);
    clv_text_add(text, "\" y=\"%d\">k = %lld</text>\n", CLV_SVG_TOP - 4, (long long)taken);
}

static void put_plot(clv_text *text, const clv_result *result, const clv_field *k) {
    static const struct {
        const char *field, *name;
        int color;
    } curves[] = {{"k_table.stability", "stability", 0},
                  {"k_table.silhouette", "silhouette", 1},
                  {"k_table.eigengap", "eigenvalue gap, by the largest", 2}};
    int64_t count;
    clv_axes a = {.left = (double)k->integers[0] - 0.5,
                  .right = (double)k->integers[k->count - 1] + 0.5,
                  .low = 0,
                  .high = 1.05,
                  .height = HEIGHT};
    clv_svg_open(text, NULL, CLV_SVG_WIDTH, HEIGHT,
                 "stability, silhouette and eigenvalue gap by the number of clusters");
    clv_svg_axes(text, &a, "k", "");
    put_taken(text, &a, result->k);
    for (size_t c = 0, shown = 0; c < sizeof curves / sizeof *curves; c++) {
        const double *values = clv_result_reals(result, curves[c].field, &count);
        double most = values && count == k->count ? largest(values, count) : 0;
        if (!(most > 0)) {
            continue;
        }
        put_curve(text, &a, k, values, c == 0 ? clv_result_reals(result, "k_table.spread", &count) : NULL,
                  c == 2 ? most : 1, curves[c].color);
        int x = CLV_SVG_LEFT + 20 + 190 * (int)shown++;
        clv_text_add(text, "<circle r=\"5\" cx=\"%d\" cy=\"%d\" fill=\"", x, HEIGHT - 8);
        clv_put_color(text, curves[c].color);
        clv_text_add(text, "\"/><text class=\"tick\" x=\"%d\" y=\"%d\">%s</text>\n", x + 10, HEIGHT - 4,
                     curves[c].name);
    }
    clv_text_add(text, "</svg>\n");
}

void clv_page_range(const clv_page *page) {
    const clv_field *k = clv_result_field(page->result, "k_table.k");
    const char *reason = clv_result_text(page->result, "k_reason");
    if (k && k->count > 0 && k->integers && reason) {
        clv_page_open(page->text, "The number of clusters");
        clv_text_add(page->text, "<p class=\"note\">");
        clv_put_html(page->text, reason);
        clv_text_add(page->text, ".</p>\n");
        put_plot(page->text, page->result, k);
        clv_page_close(page->text);
    }
}
