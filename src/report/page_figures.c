/* The figures of a run as cards; metrics, options and the command as tables. */
#include "report/page.h"

#include <math.h>
#include <string.h>

enum { WHOLE = 15 /* digits of a count */, SENTENCE = 30 /* bytes of a text that is one */ };

static void open_card(clv_text *text, const char *name) {
    clv_text_add(text, "<div><dt>");
    clv_put_words(text, name, -1, 0);
    clv_text_add(text, "</dt><dd>");
}

static void close_card(clv_text *text) {
    clv_text_add(text, "</dd></div>\n");
}

static void put_number_card(clv_text *text, const char *name, double value, int digits) {
    open_card(text, name);
    clv_put_rounded(text, value, digits);
    close_card(text);
}

static void put_seconds_card(clv_text *text, const char *name, double value) {
    open_card(text, name);
    clv_put_seconds(text, value);
    clv_text_add(text, " s");
    close_card(text);
}

static void put_text_card(clv_text *text, const char *name, const char *value) {
    open_card(text, name);
    clv_put_html(text, value);
    close_card(text);
}

static void put_bound_card(clv_text *text, const clv_result *result) {
    double gap = clv_gap_percent(result);
    open_card(text, result->bound.name);
    clv_put_objective(text, result, result->bound.value, 9);
    if (gap == 0) {
        clv_text_add(text, "<br><small>reached</small>");
    } else if (isfinite(gap)) {
        clv_text_add(text, "<br><small>gap ");
        clv_put_rounded(text, gap, 3);
        clv_text_add(text, " %%</small>");
    }
    close_card(text);
}

/* An entry of a field; its texts may hold anything. */
static void put_value(clv_text *text, const clv_field *field) {
    if (field->texts) {
        clv_put_html(text, field->texts[0]);
    } else {
        clv_put_entry(text, field, 0, 6);
    }
}

/* Sentences are no figures: they stand below the cards, or where they belong. */
static bool fits_card(const clv_field *field) {
    return !field->is_list && !field->matrix && !(field->texts && strlen(field->texts[0]) > SENTENCE);
}

static void put_reason(clv_text *text, const clv_affinity_info *affinity) {
    char reason[256];
    clv_affinity_reason(affinity, reason, sizeof reason);
    clv_text_add(text, "<p class=\"note\">Why this affinity: ");
    clv_put_html(text, reason);
    clv_text_add(text, ".</p>\n");
}

static void put_affinity_cards(clv_text *text, const clv_affinity_info *affinity) {
    put_text_card(text, "affinity", clv_affinity_kind_name(affinity->kind));
    if (isfinite(affinity->gamma)) {
        put_number_card(text, "gamma", affinity->gamma, 6);
    }
    if (affinity->landmarks > 0) {
        put_number_card(text, "landmarks", (double)affinity->landmarks, WHOLE);
        put_number_card(text, "trace error", affinity->trace_error, 3);
        put_number_card(text, "sampled error", affinity->sampled_error, 3);
    }
    put_text_card(text, "home", affinity->home);
}

void clv_page_figures(const clv_page *page) {
    const clv_report *report = page->report;
    const clv_result *result = page->result;
    clv_text *text = page->text;
    clv_text_add(text, "<dl class=\"cards\">\n");
    open_card(text, result->objective.name);
    clv_put_objective(text, result, result->objective.value, 9);
    close_card(text);
    if (result->bound.name) {
        put_bound_card(text, result);
    }
    put_number_card(text, result->certificate.name, result->certificate.value, 6);
    put_text_card(text, "stop", clv_stop_name(result->stop));
    put_number_card(text, "iterations", (double)result->iterations, WHOLE);
    put_number_card(text, "restarts", (double)result->restarts_count, WHOLE);
    for (int64_t f = 0; f < result->fields_count; f++) {
        const clv_field *field = &result->fields[f];
        if (fits_card(field)) {
            open_card(text, field->name);
            put_value(text, field);
            close_card(text);
        }
    }
    put_number_card(text, "drift", result->drift, 2);
    if (report->affinity) {
        put_affinity_cards(text, report->affinity);
    }
    put_seconds_card(text, "solve", result->seconds);
    put_seconds_card(text, "total", report->total_seconds);
    clv_text_add(text, "</dl>\n");
    if (report->affinity && report->affinity->choice != CLV_CHOICE_NAMED) {
        put_reason(text, report->affinity);
    }
}

/* --- tables --- */

void clv_page_metrics(const clv_page *page) {
    const char *name;
    double value;
    size_t at = 0, first = 0;
    if (!clv_next_metric(page->report, &first, &name, &value)) {
        return;
    }
    clv_page_open(page->text, "Metrics");
    clv_text_add(page->text, "<table>\n");
    while (clv_next_metric(page->report, &at, &name, &value)) {
        clv_text_add(page->text, "<tr><td>");
        clv_put_words(page->text, name, -1, 0);
        clv_text_add(page->text, "</td><td>");
        clv_put_rounded(page->text, value, 6);
        clv_text_add(page->text, "</td></tr>\n");
    }
    clv_text_add(page->text, "</table>\n");
    clv_page_close(page->text);
}

/* What a run has chosen stands for what was asked, as the lambda of a path; of a k that was not given, beside it. */
static void put_option_value(clv_text *text, const clv_report *report, const clv_option *option, const void *options) {
    const clv_field *chosen = clv_result_field(report->result, option->name);
    const void *asked = (const char *)options + option->offset;
    if (chosen && chosen->reals && !chosen->is_list) {
        clv_put_number(text, chosen->reals[0]);
    } else if (strcmp(option->name, "k") == 0 && option->kind == CLV_OPTION_INT && *(const int64_t *)asked == 0) {
        clv_put_option(text, report, option, options, clv_put_html);
        clv_text_add(text, ": %lld", (long long)report->result->k);
    } else {
        clv_put_option(text, report, option, options, clv_put_html);
    }
}

static void put_command(const clv_page *page) {
    if (page->report->command) {
        clv_page_open(page->text, "To get this again");
        clv_text_add(page->text, "<pre tabindex=\"0\"><code>");
        clv_put_html(page->text, page->report->command);
        clv_text_add(page->text, "</code></pre>\n");
        clv_page_close(page->text);
    }
}

void clv_page_options(const clv_page *page) {
    const clv_report *report = page->report;
    clv_text *text = page->text;
    put_command(page);
    if (!report->tables || !report->tables[0]) {
        return;
    }
    clv_page_open(text, "Options");
    clv_text_add(text, "<div class=\"wide\"><table class=\"options\">\n");
    for (clv_listing at = {0}; clv_next_option(report, &at);) {
        clv_text_add(text, "<tr><td>%s</td><td>", at.option->name);
        put_option_value(text, report, at.option, at.options);
        clv_text_add(text, "</td><td>");
        clv_put_html(text, at.option->help ? at.option->help : "");
        clv_text_add(text, "</td></tr>\n");
    }
    clv_text_add(text, "</table></div>\n");
    clv_page_close(text);
}
