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

static const struct {
    const char *field, *name;
} curves[] = {{"k_table.stability", "stability"},
              {"k_table.silhouette", "silhouette"},
              {"k_table.eigengap", "eigenvalue gap, by the largest"}};

/* The largest value of a curve; 0: it is not drawn. */
static double height_of(const clv_result *result, const clv_field *k, size_t curve, const double **values) {
    int64_t count = 0;
    *values = clv_result_reals(result, curves[curve].field, &count);
    return *values && count == k->count ? largest(*values, count) : 0;
}

static void put_plot(clv_text *text, const clv_result *result, const clv_field *k) {
    int64_t count;
    const double *values;
    clv_axes a = {.left = (double)k->integers[0] - 0.5,
                  .right = (double)k->integers[k->count - 1] + 0.5,
                  .low = 0,
                  .high = 1.05,
                  .height = HEIGHT};
    clv_text_add(text, "<p class=\"key\">");
    for (size_t c = 0; c < CLV_COUNT(curves); c++) {
        if (height_of(result, k, c, &values) > 0) {
            clv_text_add(text, "<span><i style=\"background:");
            clv_put_color(text, (int64_t)c);
            clv_text_add(text, "\"></i>%s</span> ", curves[c].name);
        }
    }
    clv_text_add(text, "</p>\n");
    clv_svg_open(text, NULL, CLV_SVG_WIDTH, HEIGHT,
                 "stability, silhouette and eigenvalue gap by the number of clusters");
    clv_svg_axes(text, &a, "k", "");
    put_taken(text, &a, result->k);
    for (size_t c = 0; c < CLV_COUNT(curves); c++) {
        double most = height_of(result, k, c, &values);
        if (most > 0) {
            put_curve(text, &a, k, values, c == 0 ? clv_result_reals(result, "k_table.spread", &count) : NULL,
                      c == 2 ? most : 1, (int)c);
        }
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
