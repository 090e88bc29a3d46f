/* Pictures as inline SVG: the course of the restarts, and the points in the plane. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>

enum {
    WIDTH = 760,
    LEFT = 96,
    RIGHT = 16,
    TOP = 14,
    BOTTOM = 40,
    CURVE_HEIGHT = 300,
    PLANE_HEIGHT = 480,
    CURVES = 60,        /* restarts drawn, beside the best one */
    CURVE_POINTS = 400, /* points of a curve */
    LEGEND = 24,
    TICKS = 12
};

/* From numbers to places. */
typedef struct axes {
    double left, right, low, high; /* of the data */
    int height;
} axes;

void clv_put_color(clv_text *text, int64_t cluster) {
    static const char *const palette[] = {"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1",
                                          "#76b7b2", "#d4a72c", "#ff7f9c", "#9c755f", "#8a8f98"};
    int64_t count = (int64_t)(sizeof palette / sizeof palette[0]);
    if (cluster < 0) {
        clv_text_add(text, "var(--soft)");
    } else if (cluster < count) {
        clv_text_add(text, "%s", palette[cluster]);
    } else { /* golden angle: neighbors differ */
        clv_text_add(text, "hsl(%lld 60%% %lld%%)", (long long)(cluster % 360 * 137 % 360),
                     (long long)(42 + cluster % 3 * 10));
    }
}

/* A coordinate with one digit after the point. */
static void put_tenths(clv_text *text, double value) {
    long tenths = lround(value * 10);
    clv_text_add(text, "%s%ld.%ld", tenths < 0 ? "-" : "", labs(tenths) / 10, labs(tenths) % 10);
}

static double x_of(const axes *a, double x) {
    return LEFT + (WIDTH - LEFT - RIGHT) * (x - a->left) / (a->right - a->left);
}

static double y_of(const axes *a, double y) {
    return a->height - BOTTOM - (a->height - TOP - BOTTOM) * (y - a->low) / (a->high - a->low);
}

static void put_point(clv_text *text, char command, const axes *a, double x, double y) {
    clv_text_append(text, &command, 1);
    put_tenths(text, x_of(a, x));
    clv_text_append(text, " ", 1);
    put_tenths(text, y_of(a, y));
}

static void open_svg(clv_text *text, int height, const char *label) {
    clv_text_add(text, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", WIDTH, height, label);
}

/* --- axes --- */

/* 1, 2 or 5 times a power of ten, such that about `count` of them make `range`. */
static double nice_step(double range, int count) {
    double rough = range / count, power = pow(10, floor(log10(rough)));
    double factor = rough / power;
    return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

static void put_grid_line(clv_text *text, const axes *a, double value, int digits) {
    double y = y_of(a, value);
    clv_text_add(text, "<path class=\"grid\" d=\"M%d ", LEFT);
    put_tenths(text, y);
    clv_text_add(text, "H%d\"/><text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"", WIDTH - RIGHT, LEFT - 8);
    put_tenths(text, y + 4);
    clv_text_add(text, "\">");
    clv_put_rounded(text, value, digits);
    clv_text_add(text, "</text>\n");
}

static void put_curve_axes(clv_text *text, const axes *a, const char *name) {
    double step = nice_step(a->high - a->low, 5);
    double size = fmax(fabs(a->high), fabs(a->low));
    int digits = (int)fmin(15, fmax(3, ceil(log10(size / step)) + 1));
    double first = ceil(a->low / step - 1e-9), last = floor(a->high / step + 1e-9);
    for (int i = 0; i < TICKS && first + i <= last; i++) {
        put_grid_line(text, a, (first + i) * step, digits);
    }
    double stride = fmax(1, nice_step(a->right, 8));
    int64_t labels = (int64_t)(a->right * (1 + 1e-9) / stride);
    for (int64_t label = 0; label <= labels; label++) {
        double x = (double)label * stride;
        clv_text_add(text, "<text class=\"tick\" text-anchor=\"middle\" y=\"%d\" x=\"", a->height - BOTTOM + 18);
        put_tenths(text, x_of(a, x));
        clv_text_add(text, "\">%.0f</text>\n", x);
    }
    clv_text_add(text, "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%d\">iteration</text>\n", WIDTH - RIGHT,
                 a->height - 4);
    clv_text_add(text, "<text class=\"tick\" x=\"4\" y=\"%d\">", TOP - 2);
    clv_put_html(text, name);
    clv_text_add(text, "</text>\n");
}

/* --- the course of the restarts --- */

/* The rows of the restart that begins at row `at` of the trace. */
static int64_t curve_rows(const clv_result *result, int64_t at) {
    int64_t rows = 1;
    const clv_trace_row *trace = result->trace;
    while (at + rows < result->trace_count && trace[at + rows].restart == trace[at].restart &&
           trace[at + rows].part == trace[at].part) {
        rows++;
    }
    return rows;
}

static axes curve_axes(const clv_result *result) {
    axes a = {.left = 0, .right = 1, .low = INFINITY, .high = -INFINITY, .height = CURVE_HEIGHT};
    for (int64_t i = 0; i < result->trace_count; i++) {
        const clv_trace_row *row = &result->trace[i];
        if (isfinite(row->objective)) {
            a.right = fmax(a.right, (double)row->iteration);
            a.low = fmin(a.low, row->objective);
            a.high = fmax(a.high, row->objective);
        }
    }
    double room = fmax(0.05 * (a.high - a.low), 1e-12 * fmax(1, fabs(a.high)));
    a.low -= room;
    a.high += room;
    return a;
}

static void put_curve(clv_text *text, const axes *a, const clv_result *result, int64_t at, bool best) {
    const clv_trace_row *rows = result->trace + at;
    int64_t count = curve_rows(result, at);
    int64_t stride = 1 + (count - 1) / CURVE_POINTS;
    char command = 'M';
    clv_text_add(text, "<path class=\"%s\" d=\"", best ? "best" : "curve");
    for (int64_t i = 0; i < count; i++) {
        if ((i % stride == 0 || i == count - 1) && isfinite(rows[i].objective)) {
            put_point(text, command, a, (double)rows[i].iteration, rows[i].objective);
            command = 'L';
        }
    }
    clv_text_add(text, "\"><title>%s %lld</title></path>\n", result->trace_part ? result->trace_part : "restart",
                 (long long)(result->trace_part ? rows[0].part : rows[0].restart + 1));
}

static void put_end_point(clv_text *text, const axes *a, const clv_trace_row *last) {
    clv_text_add(text, "<circle class=\"end\" r=\"4\" cx=\"");
    put_tenths(text, x_of(a, (double)last->iteration));
    clv_text_add(text, "\" cy=\"");
    put_tenths(text, y_of(a, last->objective));
    clv_text_add(text, "\"/>\n");
}

void clv_put_convergence_plot(clv_text *text, const clv_result *result) {
    axes a = curve_axes(result);
    int64_t curve = 0, best_at = -1;
    if (!isfinite(a.low) || !isfinite(a.high)) {
        return;
    }
    open_svg(text, a.height, "objective by iteration");
    put_curve_axes(text, &a, result->objective.name);
    for (int64_t at = 0; at < result->trace_count; at += curve_rows(result, at), curve++) {
        bool is_best = best_at < 0 && !result->trace_part && curve < result->restarts_count &&
                       result->restarts[curve].objective == result->objective.value;
        best_at = is_best ? at : best_at;
        if (!is_best && curve < CURVES) {
            put_curve(text, &a, result, at, false);
        }
    }
    if (best_at >= 0) {
        put_curve(text, &a, result, best_at, true);
        put_end_point(text, &a, &result->trace[best_at + curve_rows(result, best_at) - 1]);
    }
    clv_text_add(text, "</svg>\n");
}

/* --- a range of k --- */

/* One column of the table, divided by `unit`, with a bar for what it may be off by. */
static void put_k_curve(clv_text *text, const axes *a, const clv_field *k, const double *values, const double *spread,
                        double unit, int color) {
    char command = 'M';
    clv_text_add(text, "<path fill=\"none\" stroke-width=\"2\" stroke=\"");
    clv_put_color(text, color);
    clv_text_add(text, "\" d=\"");
    for (int64_t i = 0; i < k->count; i++) {
        if (isfinite(values[i])) {
            put_point(text, command, a, (double)k->integers[i], values[i] / unit);
            command = 'L';
        }
    }
    for (int64_t i = 0; spread && i < k->count; i++) {
        if (isfinite(values[i]) && isfinite(spread[i])) {
            put_point(text, 'M', a, (double)k->integers[i], fmax(values[i] - spread[i], a->low));
            put_point(text, 'L', a, (double)k->integers[i], fmin(values[i] + spread[i], a->high));
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

static void put_k_axes(clv_text *text, const axes *a, const clv_field *k, int64_t taken) {
    for (int i = 0; i <= 4; i++) {
        put_grid_line(text, a, i / 4.0, 3);
    }
    for (int64_t i = 0; i < k->count; i++) {
        bool is_taken = k->integers[i] == taken;
        clv_text_add(text, "<text class=\"tick\" text-anchor=\"middle\"%s y=\"%d\" x=\"",
                     is_taken ? " font-weight=\"bold\"" : "", a->height - BOTTOM + 18);
        put_tenths(text, x_of(a, (double)k->integers[i]));
        clv_text_add(text, "\">%s%lld</text>\n", is_taken ? "k = " : "", (long long)k->integers[i]);
    }
    clv_text_add(text, "<path class=\"grid\" stroke-dasharray=\"4 4\" d=\"");
    put_point(text, 'M', a, (double)taken, a->low);
    put_point(text, 'L', a, (double)taken, a->high);
    clv_text_add(text, "\"/>\n");
}

void clv_put_k_plot(clv_text *text, const clv_result *result) {
    static const struct {
        const char *field, *name;
        int color;
    } curves[] = {{"k_table.stability", "stability", 0},
                  {"k_table.silhouette", "silhouette", 1},
                  {"k_table.eigengap", "eigenvalue gap, by the largest", 2}};
    const clv_field *k = clv_result_field(result, "k_table.k");
    int64_t count;
    axes a = {.left = (double)k->integers[0] - 0.5,
              .right = (double)k->integers[k->count - 1] + 0.5,
              .low = 0,
              .high = 1.05,
              .height = CURVE_HEIGHT};
    open_svg(text, a.height, "stability, silhouette and eigenvalue gap by the number of clusters");
    put_k_axes(text, &a, k, result->k);
    for (size_t c = 0, shown = 0; c < sizeof curves / sizeof *curves; c++) {
        const double *values = clv_result_reals(result, curves[c].field, &count);
        double most = values && count == k->count ? largest(values, count) : 0;
        if (!(most > 0)) {
            continue;
        }
        put_k_curve(text, &a, k, values, c == 0 ? clv_result_reals(result, "k_table.spread", &count) : NULL,
                    c == 2 ? most : 1, curves[c].color);
        int x = LEFT + 20 + 230 * (int)shown++;
        clv_text_add(text, "<circle r=\"5\" cx=\"%d\" cy=\"%d\" fill=\"", x, a.height - 8);
        clv_put_color(text, curves[c].color);
        clv_text_add(text, "\"/><text class=\"tick\" x=\"%d\" y=\"%d\">%s</text>\n", x + 10, a.height - 4,
                     curves[c].name);
    }
    clv_text_add(text, "</svg>\n");
}

/* --- the points in the plane --- */

/* Both components on one scale, centered. */
static axes plane_axes(const clv_plane *plane) {
    axes a = {.left = INFINITY, .right = -INFINITY, .low = INFINITY, .high = -INFINITY, .height = PLANE_HEIGHT};
    for (int64_t i = 0; i < plane->count; i++) {
        a.left = fmin(a.left, plane->x[i]);
        a.right = fmax(a.right, plane->x[i]);
        a.low = fmin(a.low, plane->y[i]);
        a.high = fmax(a.high, plane->y[i]);
    }
    double width = WIDTH - LEFT - RIGHT, height = PLANE_HEIGHT - TOP - BOTTOM;
    double unit = fmax((a.right - a.left) / width, (a.high - a.low) / height);
    unit = unit > 0 ? 1.04 * unit : 1;
    double x = (a.left + a.right) / 2, y = (a.low + a.high) / 2;
    a.left = x - unit * width / 2;
    a.right = x + unit * width / 2;
    a.low = y - unit * height / 2;
    a.high = y + unit * height / 2;
    return a;
}

/* All points of a cluster in one path: dots are strokes of no length with round ends. */
static void put_dots(clv_text *text, const axes *a, const clv_plane *plane, const int32_t *labels, int64_t cluster) {
    clv_text_add(text, "<path class=\"dots\" stroke=\"");
    clv_put_color(text, cluster);
    clv_text_add(text, "\" d=\"");
    for (int64_t i = 0; i < plane->count; i++) {
        if (labels[plane->object[i]] == cluster) {
            put_point(text, 'M', a, plane->x[i], plane->y[i]);
            clv_text_append(text, "h0", 2);
        }
    }
    clv_text_add(text, "\"/>\n");
}

static void put_legend(clv_text *text, const clv_result *result) {
    for (int64_t c = 0; c < result->k && c < LEGEND; c++) {
        clv_text_add(text, "<circle cx=\"14\" cy=\"%d\" r=\"5\" fill=\"", 20 + 18 * (int)c);
        clv_put_color(text, c);
        clv_text_add(text, "\"/><text class=\"tick\" x=\"26\" y=\"%d\">%lld</text>\n", 24 + 18 * (int)c, (long long)c);
    }
}

void clv_put_scatter_plot(clv_text *text, const clv_plane *plane, const clv_result *result) {
    axes a = plane_axes(plane);
    if (!isfinite(a.left) || !isfinite(a.low)) {
        return;
    }
    open_svg(text, a.height, "points on their first two principal components, colored by cluster");
    for (int64_t c = result->left_out > 0 ? -1 : 0; c < result->k; c++) {
        put_dots(text, &a, plane, result->labels, c);
    }
    put_legend(text, result);
    clv_text_add(text,
                 "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%d\">first component</text>"
                 "<text class=\"tick\" transform=\"rotate(-90 %d %d)\" x=\"%d\" y=\"%d\">second component</text>\n",
                 WIDTH - RIGHT, PLANE_HEIGHT - 8, LEFT - 20, PLANE_HEIGHT - BOTTOM, LEFT - 20, PLANE_HEIGHT - BOTTOM);
    clv_text_add(text, "</svg>\n");
}
