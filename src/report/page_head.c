/* The top of a page: what it is of, where that comes from, what is proved, and what speaks against it.
 *
 * A certificate is about the optimization problem, and a warning about whether its solution is of use: they stand side
 * by side, and neither is said in the words or the color of the other. */
#include "report/page.h"

#include <math.h>

static void put_title(const clv_page *page) {
    clv_text *text = page->text;
    const clv_result *result = page->result;
    const clv_report_picture *picture = page->report->picture;
    if (picture) {
        clv_text_add(text, "%lld x %lld pixels in %lld segment%s", (long long)picture->image->width,
                     (long long)picture->image->height, (long long)picture->segments, clv_plural(picture->segments));
    } else if (result->labels && result->left_out > 0) {
        clv_text_add(text, "%lld object%s: %lld in ", (long long)result->n, clv_plural(result->n),
                     (long long)(result->n - result->left_out));
        clv_put_clusters(text, result);
        clv_text_add(text, ", %lld left out", (long long)result->left_out);
    } else if (result->labels) {
        clv_text_add(text, "%lld object%s in ", (long long)result->n, clv_plural(result->n));
        clv_put_clusters(text, result);
    } else {
        clv_text_add(text, "%lld %s, k = %lld", (long long)result->n, clv_what_is_counted(result),
                     (long long)result->k);
        clv_text_add(text, "%s", page->method && page->method->k_meaning == CLV_K_OF_NORM ? " of the norm" : "");
    }
}

static void put_line(clv_text *text, const char *tag, const char *before, const char *words) {
    if (words && *words) {
        clv_text_add(text, "<%s class=\"note\">%s", tag, before);
        clv_put_html(text, words);
        clv_text_add(text, "</%s>\n", tag);
    }
}

static void put_source(const clv_page *page) {
    const clv_report *report = page->report;
    clv_text *text = page->text;
    put_line(text, "p", "", report->source);
    put_line(text, "p", "used: ", report->data ? clv_data_note(report->data) : NULL);
    put_line(text, "p", "truth: ", report->truth);
    put_line(text, "p", "made on ", report->date);
}

/* --- what is proved --- */

static void put_bound(const clv_page *page) {
    const clv_result *result = page->result;
    double gap = clv_gap_percent(result);
    if (!result->bound.name || !isfinite(result->bound.value)) {
        return;
    }
    clv_text_add(page->text, "<p>No answer can be %s ", result->objective.maximize ? "above" : "below");
    clv_put_objective(page->text, result, result->bound.value, 6);
    clv_text_add(page->text, " (");
    clv_put_words(page->text, result->bound.name, -1, 0);
    clv_text_add(page->text, "); this one ");
    if (gap == 0) {
        clv_text_add(page->text, "reaches that: none is better");
    } else {
        clv_text_add(page->text, "is ");
        clv_put_objective(page->text, result, result->objective.value, 6);
    }
    if (gap > 0 && isfinite(gap)) {
        clv_text_add(page->text, ", a gap of ");
        clv_put_rounded(page->text, gap, 3);
        clv_text_add(page->text, " %%");
    }
    clv_text_add(page->text, ".</p>");
}

static void put_claim(const clv_page *page) {
    clv_text *text = page->text;
    const clv_certificate *certificate = &page->result->certificate;
    clv_text_add(text, "<div class=\"claim %s\"><h2>%s</h2><p><strong>", certificate->holds ? "holds" : "fails",
                 certificate->holds ? "What is proved" : "What is not proved");
    clv_put_html(text, clv_certificate_words(page->result));
    clv_text_add(text, "</strong></p><p>");
    clv_put_html(text, certificate->name);
    if (isfinite(certificate->value)) {
        clv_text_add(text, " = ");
        clv_put_rounded(text, certificate->value, 6);
        clv_text_add(text, ", %s ", certificate->holds ? "at most" : "to be at most");
    } else {
        clv_text_add(text, " is not known; it holds if it is at most ");
    }
    clv_put_rounded(text, certificate->tolerance, 3);
    clv_text_add(text, "%s.%s</p>", isfinite(certificate->value) ? "; recomputed from the data when the run ended" : "",
                 isfinite(certificate->value) && !page->report->picture
                     ? " <code>cleave verify</code> does so again."
                     : ""); /* not of a picture: that has no result to verify */
    put_bound(page);
    clv_text_add(text, "</div>\n");
}

/* --- what speaks against it --- */

static void put_doubts(const clv_page *page) {
    clv_text *text = page->text;
    int64_t at = 0;
    const char *warning = clv_next_warning(page->report, &at);
    if (warning) {
        clv_text_add(text, "<div class=\"claim doubts\"><h2>What speaks against it</h2><ul>");
        for (; warning; warning = clv_next_warning(page->report, &at)) {
            clv_text_add(text, "<li>");
            clv_put_html(text, warning);
            clv_text_add(text, "</li>");
        }
        clv_text_add(text, "</ul>");
    } else {
        clv_text_add(text, "<div class=\"claim plain\"><h2>What speaks against it</h2><p>Nothing was noticed.</p>");
    }
    clv_text_add(
        text, "<p>%s</p></div>\n",
        page->result->labels
            ? "A proof is about the optimization problem. Whether these clusters mean something, it does not say."
            : "A proof is about the optimization problem. Whether this is a good model, it does not say.");
}

void clv_page_head(const clv_page *page) {
    clv_text *text = page->text;
    const clv_result *result = page->result;
    clv_text_add(text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<link rel=\"icon\" href=\"data:,\">\n<title>cleave ");
    clv_put_html(text, page->report->picture ? "segment" : result->method);
    clv_text_add(text, ": ");
    put_title(page);
    clv_text_add(text, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<p class=\"over\">cleave %s", clv_page_style,
                 page->report->picture ? "segment, method " : "");
    clv_put_html(text, result->method);
    clv_text_add(text, "%s", result->solver[0] ? ", solver " : "");
    clv_put_html(text, result->solver);
    clv_text_add(text, "</p>\n<h1>");
    put_title(page);
    clv_text_add(text, "</h1>\n");
    put_source(page);
    clv_text_add(text, "<div class=\"banner\">\n");
    put_claim(page);
    put_doubts(page);
    clv_text_add(text, "</div>\n");
}
