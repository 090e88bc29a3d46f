/* The result as one self-contained page: no scripts, no fonts, nothing from outside. */
#include "report/report.h"

#include <math.h>
#include <string.h>

enum { BARS = 100, WHOLE = 15 /* digits of a count */ };

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fff;--ink:#1f2328;--soft:#6a737d;--line:#e1e4e8;--card:#f6f8fa;"
    "--good:#1a7f37;--good-bg:#e6f4ea;--warn:#8a5a00;--warn-bg:#fff5d9;--accent:#2f6fbb}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#14171c;--ink:#e6e9ee;--soft:#98a2ae;--line:#2c323b;--card:#1c2128;"
    "--good:#57d07c;--good-bg:#14301f;--warn:#f0c35a;--warn-bg:#33290d;--accent:#6cb2ff}}\n"
    "*{box-sizing:border-box}"
    "body{margin:0 auto;padding:2rem 1.25rem 3rem;max-width:860px;background:var(--bg);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\n"
    "h1{font-size:1.7rem;line-height:1.25;margin:.2rem 0 1rem}h2{font-size:1.1rem;margin:2.2rem 0 .7rem}"
    ".over{color:var(--soft);margin:0}.note{color:var(--soft);font-size:.9rem;margin:.2rem 0 .6rem}\n"
    ".claim{border-left:4px solid;border-radius:6px;padding:.8rem 1rem;margin:0 0 1.2rem}"
    ".claim p{margin:0}.claim p+p{margin-top:.2rem;font-size:.9rem;color:var(--ink)}"
    ".holds{color:var(--good);background:var(--good-bg)}.fails{color:var(--warn);background:var(--warn-bg)}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.7rem;margin:0}"
    ".cards div{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.6rem .8rem}"
    ".cards dt{color:var(--soft);font-size:.8rem}.cards dd{margin:0;font-size:1.05rem;"
    "font-variant-numeric:tabular-nums;overflow-wrap:anywhere}\n"
    ".bars{display:grid;grid-template-columns:auto 1fr auto;gap:.3rem .8rem;align-items:center;"
    "font-variant-numeric:tabular-nums}.bars i{display:block;height:.95rem;border-radius:3px;min-width:2px}"
    ".bars span:nth-child(3n){text-align:right;color:var(--soft)}\n"
    "svg{display:block;width:100%;height:auto;background:var(--card);border:1px solid var(--line);border-radius:8px}"
    ".grid{stroke:var(--line);fill:none}.tick{fill:var(--soft);font-size:12px}"
    ".curve{fill:none;stroke:var(--soft);stroke-opacity:.45;stroke-width:1.2}"
    ".best{fill:none;stroke:var(--accent);stroke-width:2.4;stroke-linejoin:round}.end{fill:var(--accent)}"
    ".dots{fill:none;stroke-width:5;stroke-linecap:round;stroke-opacity:.75}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}"
    "td,th{text-align:left;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}"
    "th{font-weight:600;color:var(--soft)}td:nth-child(2){font-variant-numeric:tabular-nums;overflow-wrap:anywhere}"
    "footer{margin-top:2.5rem;color:var(--soft);font-size:.85rem}\n";

static const char *plural(int64_t count) {
    return count == 1 ? "" : "s";
}

/* What was clustered, or learned from. */
static void put_title(clv_text *text, const clv_result *result) {
    if (result->labels) {
        clv_text_add(text, "%lld object%s in %lld cluster%s", (long long)result->n, plural(result->n),
                     (long long)result->k, plural(result->k));
    } else {
        clv_text_add(text, "%lld %s, k = %lld", (long long)result->n, clv_what_is_counted(result),
                     (long long)result->k);
    }
}

static void put_head(clv_text *text, const clv_result *result) {
    clv_text_add(text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>cleave ");
    clv_put_html(text, result->method);
    clv_text_add(text, ": ");
    put_title(text, result);
    clv_text_add(text, "</title>\n<style>\n");
    clv_text_append(text, style, sizeof style - 1);
    clv_text_add(text, "</style>\n</head>\n<body>\n");
}

static void put_warnings(clv_text *text, const clv_result *result) {
    const clv_field *warnings = clv_result_field(result, "warnings");
    for (int64_t i = 0; warnings && i < warnings->count; i++) {
        clv_text_add(text, "<div class=\"claim fails\"><p>Warning: ");
        clv_put_html(text, warnings->texts[i]);
        clv_text_add(text, "</p></div>\n");
    }
}

static void put_headline(clv_text *text, const clv_report *report) {
    const clv_result *result = report->result;
    const clv_certificate *certificate = &result->certificate;
    clv_text_add(text, "<p class=\"over\">cleave ");
    clv_put_html(text, result->method);
    clv_text_add(text, "%s", result->solver[0] ? ", solver " : "");
    clv_put_html(text, result->solver);
    clv_text_add(text, "</p>\n<h1>");
    put_title(text, result);
    clv_text_add(text, "</h1>\n");
    if (report->data && *clv_data_note(report->data)) {
        clv_text_add(text, "<p class=\"note\">");
        clv_put_html(text, clv_data_note(report->data));
        clv_text_add(text, "</p>\n");
    }
    if (report->truth) {
        clv_text_add(text, "<p class=\"note\">truth: ");
        clv_put_html(text, report->truth);
        clv_text_add(text, "</p>\n");
    }
    clv_text_add(text, "<div class=\"claim %s\"><p><strong>", certificate->holds ? "holds" : "fails");
    clv_put_html(text, clv_certificate_words(result));
    clv_text_add(text, "</strong></p><p>");
    clv_put_html(text, certificate->name);
    clv_text_add(text, " = ");
    clv_put_rounded(text, certificate->value, 6);
    clv_text_add(text, ", %s ", certificate->holds ? "at most" : "to be at most");
    clv_put_rounded(text, certificate->tolerance, 3);
    clv_text_add(text, isfinite(certificate->value)
                           ? "; recomputed from the data when the run ended. <code>cleave verify</code> does so again."
                             "</p></div>\n"
                           : ".</p></div>\n");
    put_warnings(text, result);
}

/* --- figures --- */

static void open_card(clv_text *text, const char *name) {
    clv_text_add(text, "<div><dt>");
    clv_put_words(text, name, -1, 0);
    clv_text_add(text, "</dt><dd>");
}

static void put_number_card(clv_text *text, const char *name, double value, int digits) {
    open_card(text, name);
    clv_put_rounded(text, value, digits);
    clv_text_add(text, "</dd></div>\n");
}

static void put_seconds_card(clv_text *text, const char *name, double value) {
    open_card(text, name);
    clv_put_seconds(text, value);
    clv_text_add(text, " s</dd></div>\n");
}

static void put_text_card(clv_text *text, const char *name, const char *value) {
    open_card(text, name);
    clv_put_html(text, value);
    clv_text_add(text, "</dd></div>\n");
}

/* An entry of a field; its texts may hold anything. */
static void put_escaped(clv_text *text, const clv_field *field, int64_t i, int digits) {
    if (field->texts) {
        clv_put_html(text, field->texts[i]);
    } else {
        clv_put_entry(text, field, i, digits);
    }
}

static void put_figures(clv_text *text, const clv_report *report) {
    const clv_result *result = report->result;
    clv_text_add(text, "<dl class=\"cards\">\n");
    put_number_card(text, result->objective.name, result->objective.value, 9);
    if (result->bound.name) {
        put_number_card(text, result->bound.name, result->bound.value, 9);
    }
    put_number_card(text, result->certificate.name, result->certificate.value, 6);
    put_text_card(text, "stop", clv_stop_name(result->stop));
    put_number_card(text, "iterations", (double)result->iterations, WHOLE);
    put_number_card(text, "restarts", (double)result->restarts_count, WHOLE);
    for (int64_t f = 0; f < result->fields_count; f++) {
        const clv_field *field = &result->fields[f];
        if (!field->is_list && !field->matrix) {
            open_card(text, field->name);
            put_escaped(text, field, 0, 6);
            clv_text_add(text, "</dd></div>\n");
        }
    }
    put_number_card(text, "drift", result->drift, 2);
    if (report->affinity) {
        put_text_card(text, "affinity", clv_affinity_kind_name(report->affinity->kind));
        if (report->affinity->chosen_on > 0) {
            char reason[256];
            clv_affinity_reason(report->affinity, reason, sizeof reason);
            put_text_card(text, "why this affinity", reason);
        }
        if (isfinite(report->affinity->gamma)) {
            put_number_card(text, "gamma", report->affinity->gamma, 6);
        }
        if (report->affinity->landmarks > 0) {
            put_number_card(text, "landmarks", (double)report->affinity->landmarks, WHOLE);
            put_number_card(text, "trace error", report->affinity->trace_error, 3);
            put_number_card(text, "sampled error", report->affinity->sampled_error, 3);
        }
        put_text_card(text, "home", report->affinity->home);
    }
    put_seconds_card(text, "solve", result->seconds);
    put_seconds_card(text, "total", report->total_seconds);
    clv_text_add(text, "</dl>\n");
}

/* --- clusters --- */

static void put_bar(clv_text *text, const char *name, int64_t cluster, int64_t size, int64_t largest, int64_t n) {
    clv_text_add(text, "<span>%s", name);
    if (cluster >= 0) {
        clv_text_add(text, " %lld", (long long)cluster);
    }
    clv_text_add(text, "</span><i style=\"width:");
    clv_put_rounded(text, largest > 0 ? 100 * (double)size / (double)largest : 0, 4);
    clv_text_add(text, "%%;background:");
    clv_put_color(text, cluster);
    clv_text_add(text, "\"></i><span>%lld (", (long long)size);
    clv_put_rounded(text, n > 0 ? 100 * (double)size / (double)n : 0, 3);
    clv_text_add(text, " %%)</span>\n");
}

static void put_sizes(clv_text *text, const clv_result *result) {
    int64_t largest = result->left_out;
    for (int64_t c = 0; c < result->k; c++) {
        largest = result->sizes[c] > largest ? result->sizes[c] : largest;
    }
    clv_text_add(text, "<h2>Sizes</h2>\n<div class=\"bars\">\n");
    for (int64_t c = 0; c < result->k && c < BARS; c++) {
        put_bar(text, "cluster", c, result->sizes[c], largest, result->n);
    }
    if (result->left_out > 0) {
        put_bar(text, "left out", -1, result->left_out, largest, result->n);
    }
    clv_text_add(text, "</div>\n");
    if (result->k > BARS) {
        clv_text_add(text, "<p class=\"note\">and %lld more</p>\n", (long long)(result->k - BARS));
    }
}

static void put_terms(clv_text *text, const clv_report_terms *terms, const clv_result *result) {
    clv_text_add(text,
                 "<h2>Terms</h2>\n<p class=\"note\">What the clusters are about: the terms that tell their documents "
                 "from the others best.</p>\n<div class=\"wide\"><table>\n"
                 "<tr><th>cluster</th><th>documents</th><th>terms</th></tr>\n");
    for (int64_t c = 0; c < result->k && c < BARS; c++) {
        clv_text_add(text, "<tr><td>%lld</td><td>%lld</td><td>", (long long)c, (long long)result->sizes[c]);
        clv_put_terms(text, terms, c);
        clv_text_add(text, "</td></tr>\n");
    }
    clv_text_add(text, "</table></div>\n");
}

/* A table of fields. */
static void put_columns(clv_text *text, const clv_field *columns, int64_t count) {
    size_t stem = strcspn(columns->name, ".");
    clv_text_add(text, "<h2>%c", columns->name[0] - 'a' + 'A');
    clv_put_words(text, columns->name + 1, (int)stem - 1, 0);
    clv_text_add(text, "</h2>\n<div class=\"wide\"><table>\n<tr><th></th>");
    for (int64_t c = 0; c < count; c++) {
        clv_text_add(text, "<th>");
        clv_put_words(text, columns[c].name + stem + 1, -1, 0);
        clv_text_add(text, "</th>");
    }
    clv_text_add(text, "</tr>\n");
    for (int64_t row = 0; row < columns->count && row < BARS; row++) {
        clv_text_add(text, "<tr><td>%lld</td>", (long long)row);
        for (int64_t c = 0; c < count; c++) {
            clv_text_add(text, "<td>");
            put_escaped(text, &columns[c], row, 7);
            clv_text_add(text, "</td>");
        }
        clv_text_add(text, "</tr>\n");
    }
    clv_text_add(text, "</table></div>\n");
    if (columns->count > BARS) {
        clv_text_add(text, "<p class=\"note\">and %lld more</p>\n", (long long)(columns->count - BARS));
    }
}

static void put_tables(clv_text *text, const clv_result *result) {
    for (int64_t f = 0; f < result->fields_count; f++) {
        int64_t columns = clv_table_columns(result, f);
        if (columns > 0) {
            put_columns(text, &result->fields[f], columns);
            f += columns - 1;
        }
    }
}

static void put_plane(clv_text *text, const clv_plane *plane, const clv_result *result) {
    clv_text_add(text, "<h2>The objects</h2>\n<p class=\"note\">On their first two principal components, colored by "
                       "cluster");
    if (plane->count < result->n) {
        clv_text_add(text, "; %lld of the %lld are shown", (long long)plane->count, (long long)result->n);
    }
    clv_text_add(text, ".</p>\n");
    clv_put_scatter_plot(text, plane, result);
}

static void put_course(clv_text *text, const clv_result *result) {
    const char *part = result->trace_part;
    clv_text_add(text, "<h2>Convergence</h2>\n<p class=\"note\">The objective by iteration");
    if (part) {
        bool several = result->trace[result->trace_count - 1].restart > 0;
        clv_text_add(text, ", one line per %s%s", part, several ? " and restart" : "");
    } else if (result->restarts_count > 1) {
        clv_text_add(text, ", one line per restart; the one returned stands out");
    }
    clv_text_add(text, ".</p>\n");
    clv_put_convergence_plot(text, result);
}

/* --- tables --- */

static void put_metrics(clv_text *text, const clv_report *report) {
    const char *name, *begin = "<h2>Metrics</h2>\n<table>\n", *end = "";
    double value;
    for (size_t at = 0; clv_next_metric(report, &at, &name, &value);) {
        clv_text_add(text, "%s<tr><td>", begin);
        clv_put_words(text, name, -1, 0);
        clv_text_add(text, "</td><td>");
        clv_put_rounded(text, value, 6);
        clv_text_add(text, "</td></tr>\n");
        begin = "";
        end = "</table>\n";
    }
    clv_text_add(text, "%s", end);
}

/* What a run has chosen stands for what was asked: the k of "auto", the lambda of a path. */
static void put_option_value(clv_text *text, const clv_report *report, const clv_option *option, const void *options) {
    const clv_field *chosen = clv_result_field(report->result, option->name);
    const void *asked = (const char *)options + option->offset;
    if (chosen && chosen->reals && !chosen->is_list) {
        clv_put_number(text, chosen->reals[0]);
    } else if (strcmp(option->name, "k") == 0 && *(const int64_t *)asked == 0) {
        clv_text_add(text, "%lld", (long long)report->result->k);
    } else {
        clv_put_option(text, report, option, options, clv_put_html);
    }
}

static void put_options(clv_text *text, const clv_report *report) {
    if (!report->tables || !report->tables[0]) {
        return;
    }
    clv_text_add(text, "<h2>Options</h2>\n<div class=\"wide\"><table>\n");
    for (clv_listing at = {0}; clv_next_option(report, &at);) {
        clv_text_add(text, "<tr><td>%s</td><td>", at.option->name);
        put_option_value(text, report, at.option, at.options);
        clv_text_add(text, "</td><td>");
        clv_put_html(text, at.option->help ? at.option->help : "");
        clv_text_add(text, "</td></tr>\n");
    }
    clv_text_add(text, "</table></div>\n");
}

static void put_page(clv_text *text, const clv_report *report, const clv_plane *plane) {
    const clv_result *result = report->result;
    put_head(text, result);
    put_headline(text, report);
    put_figures(text, report);
    if (result->sizes) {
        put_sizes(text, result);
    }
    if (report->terms && result->sizes) {
        put_terms(text, report->terms, result);
    }
    put_tables(text, result);
    if (plane->count > 0) {
        put_plane(text, plane, result);
    }
    if (result->trace_count > 0) {
        put_course(text, result);
    }
    put_metrics(text, report);
    put_options(text, report);
    clv_text_add(text, "<footer>Made by cleave %s.</footer>\n</body>\n</html>\n", clv_version());
}

clv_status clv_report_html(clv_context *ctx, const clv_report *report, char **out, size_t *size) {
    clv_text text = {.ctx = ctx};
    clv_plane plane = {0};
    *out = NULL;
    CLV_TRY(clv_report_check(ctx, report));
    bool has_points = report->points && report->result->labels && report->points->rows == report->result->n;
    if (has_points) {
        CLV_TRY(clv_plane_new(ctx, report->points, &plane));
    }
    put_page(&text, report, &plane);
    clv_plane_free(ctx, &plane);
    return clv_take_text(&text, out, size);
}
