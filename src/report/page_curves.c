/* The course of all restarts, on logarithmic scales: how far the objective was from where it ended, and the
 * certificate. */
#include "report/page.h"

#include <math.h>

enum { HEIGHT = 300, CURVES = 60 /* drawn, beside the best one */, CURVE_POINTS = 400 };
/* What rounding leaves of a certificate is not shown. */
#define ROUNDING 1e-15

typedef struct panel {
    const clv_result *result;
    bool certificate; /* else the objective */
    double best;      /* of all restarts */
    double floor;     /* what is below is drawn here */
    clv_axes axes;
} panel;

/* The rows of the curve that begins at row `at` of the trace. */
static int64_t curve_rows(const clv_result *result, int64_t at) {
    int64_t rows = 1;
    const clv_trace_row *trace = result->trace;
    while (at + rows < result->trace_count && trace[at + rows].restart == trace[at].restart &&
           trace[at + rows].part == trace[at].part) {
        rows++;
    }
    return rows;
}

static bool is_better(const clv_result *result, double a, double b) {
    return isfinite(a) && (!isfinite(b) || (result->objective.maximize ? a > b : a < b));
}

static double best_of(const clv_result *result, int64_t at, int64_t count) {
    double best = (double)NAN;
    for (int64_t i = at; i < at + count; i++) {
        best = is_better(result, result->trace[i].objective, best) ? result->trace[i].objective : best;
    }
    return best;
}

/* Clusters and models that are found one after the other end at values of their own. */
static double reference(const panel *p, int64_t at) {
    return p->result->trace_part ? best_of(p->result, at, curve_rows(p->result, at)) : p->best;
}

static double value_of(const panel *p, const clv_trace_row *row, double from) {
    return p->certificate ? row->certificate : fabs(row->objective - from);
}

/* Whether there is anything to draw: one number above zero and rounding at least. */
static bool find_axes(panel *p) {
    const clv_result *result = p->result;
    double least = INFINITY, most = 0, last = 1, size = p->certificate ? 0 : clv_objective_rounding(result);
    for (int64_t at = 0, rows; at < result->trace_count; at += rows) {
        double from = reference(p, at);
        rows = curve_rows(result, at);
        for (int64_t i = at; i < at + rows; i++) {
            double value = value_of(p, &result->trace[i], from);
            if (isfinite(value)) {
                last = fmax(last, (double)result->trace[i].iteration);
                most = fmax(most, value);
                least = value > size ? fmin(least, value) : least;
            }
        }
    }
    double tolerance = result->certificate.tolerance;
    if (!(most > size) || !isfinite(least)) {
        return false;
    }
    least = p->certificate && tolerance > 0 ? fmin(least, tolerance) : least;
    p->floor = fmax(least, p->certificate ? ROUNDING * most : size);
    p->axes = (clv_axes){.left = 0, .right = last, .height = HEIGHT, .log_y = true};
    clv_svg_decades(p->floor, most, &p->axes.low, &p->axes.high);
    p->floor = p->axes.low;
    return true;
}

static void put_name(clv_text *text, const clv_result *result, const clv_trace_row *rows, int64_t count) {
    const clv_trace_row *last = &rows[count - 1];
    clv_text_add(text, "%s %lld", result->trace_part ? result->trace_part : "restart",
                 (long long)(result->trace_part ? rows[0].part : rows[0].restart + 1));
    clv_text_add(text, ": ");
    clv_put_html(text, result->objective.name);
    clv_text_add(text, " ");
    clv_put_objective(text, result, last->objective, 9);
    clv_text_add(text, " after %lld iteration%s", (long long)last->iteration, clv_plural(last->iteration));
}

static void put_curve(clv_text *text, const panel *p, int64_t at, bool best) {
    const clv_trace_row *rows = p->result->trace + at;
    int64_t count = curve_rows(p->result, at);
    int64_t stride = 1 + (count - 1) / CURVE_POINTS;
    double from = reference(p, at);
    char command = 'M';
    clv_text_add(text, "<path class=\"%s\" d=\"", best ? "best" : "curve");
    for (int64_t i = 0; i < count; i++) {
        double value = value_of(p, &rows[i], from);
        if ((i % stride == 0 || i == count - 1) && isfinite(value)) {
            clv_svg_point(text, command, &p->axes, (double)rows[i].iteration, fmax(value, p->floor));
            command = 'L';
        }
    }
    clv_text_add(text, "\"><title>");
    put_name(text, p->result, rows, count);
    clv_text_add(text, "</title></path>\n");
}

static void put_panel(clv_text *text, const panel *p) {
    const clv_result *result = p->result;
    int64_t curve = 0, best_at = -1;
    double rounding = clv_objective_rounding(result);
    clv_svg_open(text, p->certificate ? "certificates" : "objectives", CLV_SVG_WIDTH, HEIGHT,
                 p->certificate ? "certificate by iteration" : "objective by iteration, as a distance from its best");
    clv_svg_axes(text, &p->axes, "iteration", p->certificate ? result->certificate.name : "distance from the best");
    for (int64_t at = 0; at < result->trace_count; at += curve_rows(result, at), curve++) {
        bool is_best = best_at < 0 && !result->trace_part && curve < result->restarts_count &&
                       fabs(result->restarts[curve].objective - result->objective.value) <= rounding;
        best_at = is_best ? at : best_at;
        if (!is_best && curve < CURVES) {
            put_curve(text, p, at, false);
        }
    }
    if (best_at >= 0) {
        put_curve(text, p, best_at, true);
    }
    if (p->certificate && result->certificate.tolerance >= p->axes.low) {
        clv_svg_level(text, &p->axes, result->certificate.tolerance, "tolerance");
    }
    clv_text_add(text, "</svg>\n");
}

static void put_note(clv_text *text, const clv_result *result) {
    const char *part = result->trace_part;
    clv_text_add(text, "<p class=\"note\">By iteration");
    if (part) {
        bool several = result->trace[result->trace_count - 1].restart > 0;
        clv_text_add(text, ", one line per %s%s", part, several ? " and restart" : "");
    } else if (result->restarts_count > 1) {
        clv_text_add(text, ", one line per restart; the one returned stands out");
    }
    clv_text_add(text, ".</p>\n");
}

static bool has_certificates(const clv_result *result) {
    for (int64_t i = 0; i < result->trace_count; i++) {
        if (isfinite(result->trace[i].certificate)) {
            return true;
        }
    }
    return false;
}

void clv_page_curves(const clv_page *page) {
    const clv_result *result = page->result;
    clv_text *text = page->text;
    if (result->trace_count < 1) {
        return;
    }
    panel of_objective = {.result = result, .best = best_of(result, 0, result->trace_count)};
    panel of_certificate = {.result = result, .certificate = true};
    bool objective = isfinite(of_objective.best) && find_axes(&of_objective), certificate = find_axes(&of_certificate);
    clv_page_open(text, "Convergence");
    if (objective || certificate) {
        put_note(text, result);
    } else {
        clv_text_add(text, "<p class=\"note\">No iteration improved the start%s.</p>\n",
                     result->restarts_count > 1 && !result->trace_part ? ", and all restarts end at one value" : "");
    }
    if (objective) {
        clv_text_add(text, "<p class=\"note\">The objective: its distance from the best value%s",
                     result->trace_part ? " on the same line" : ", ");
        if (!result->trace_part) {
            clv_put_objective(text, result, of_objective.best, 9);
        }
        clv_text_add(text, "; that itself lies at the bottom.</p>\n");
        put_panel(text, &of_objective);
    }
    if (!certificate && has_certificates(result)) {
        clv_text_add(text, "<p class=\"note\">The certificate was 0 or less throughout.</p>\n");
    }
    if (certificate) {
        clv_text_add(text, "<p class=\"note\">The certificate; what is 0 or less lies at the bottom.</p>\n");
        put_panel(text, &of_certificate);
    }
    clv_page_close(text);
}
