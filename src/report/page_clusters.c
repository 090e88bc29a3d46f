/* Clusters: how large they are, what they are about, what the method says of each, and which classes are in them. */
#include "report/page.h"

#include <ctype.h>
#include <string.h>

enum { BARS = 100 };

static void put_more(clv_text *text, int64_t count) {
    if (count > BARS) {
        clv_text_add(text, "<p class=\"note\">and %lld more</p>\n", (long long)(count - BARS));
    }
}

/* --- sizes --- */

typedef struct bar {
    const char *name;
    int64_t cluster, size;
} bar;

/* A button: it marks the cluster in all pictures. */
static void put_bar(clv_text *text, const bar *b, int64_t largest, int64_t all) {
    clv_text_add(text, "<button type=\"button\" aria-pressed=\"false\" data-pick=\"%lld\"", (long long)b->cluster);
    clv_put_cluster(text, b->cluster);
    clv_text_add(text, "><span>%s", b->name);
    if (b->cluster >= 0) {
        clv_text_add(text, " %lld", (long long)b->cluster);
    }
    clv_text_add(text, "</span><span class=\"track\"><i%s style=\"width:", b->cluster < 0 ? " class=\"out\"" : "");
    clv_put_rounded(text, largest > 0 ? 100 * (double)b->size / (double)largest : 0, 4);
    clv_text_add(text, "%%;background-color:");
    clv_put_color(text, b->cluster);
    clv_text_add(text, "\"></i></span><span>%lld (", (long long)b->size);
    clv_put_rounded(text, all > 0 ? 100 * (double)b->size / (double)all : 0, 3);
    clv_text_add(text, " %%)</span></button>\n");
}

static void put_bars(clv_text *text, const char *name, const int64_t *sizes, int64_t k, int64_t out, int64_t all) {
    int64_t largest = out;
    for (int64_t c = 0; c < k; c++) {
        largest = sizes[c] > largest ? sizes[c] : largest;
    }
    clv_page_open(text, "Sizes");
    clv_text_add(text, "<p class=\"note screen\">Choose a %s to mark it in all pictures.</p>\n<div class=\"bars\">\n",
                 name);
    for (int64_t c = 0; c < k && c < BARS; c++) {
        put_bar(text, &(bar){name, c, sizes[c]}, largest, all);
    }
    if (out > 0) {
        put_bar(text, &(bar){"left out", -1, out}, largest, all);
    }
    clv_text_add(text, "</div>\n");
    put_more(text, k);
    clv_page_close(text);
}

static void put_segment_sizes(const clv_page *page, const clv_report_picture *picture) {
    int64_t pixels = picture->image->width * picture->image->height, out = 0;
    int64_t *sizes = CLV_NEW0(page->ctx, int64_t, picture->segments);
    if (!sizes) {
        page->text->status = CLV_ENOMEM;
        return;
    }
    for (int64_t i = 0; i < pixels; i++) {
        bool known = picture->labels[i] >= 0 && picture->labels[i] < picture->segments;
        out += !known;
        sizes[known ? picture->labels[i] : 0] += known;
    }
    put_bars(page->text, "segment", sizes, picture->segments, out, pixels);
    clv_free(page->ctx, sizes);
}

static void put_terms(clv_text *text, const clv_report_terms *terms, const clv_result *result) {
    clv_page_open(text, "Terms");
    clv_text_add(text, "<p class=\"note\">What the clusters are about: the terms that tell their documents "
                       "from the others best.</p>\n<div class=\"wide\"><table>\n"
                       "<tr><th>cluster</th><th>documents</th><th>terms</th></tr>\n");
    for (int64_t c = 0; c < result->k && c < BARS; c++) {
        clv_text_add(text, "<tr");
        clv_put_cluster(text, c);
        clv_text_add(text, "><td>%lld</td><td>%lld</td><td>", (long long)c, (long long)result->sizes[c]);
        clv_put_terms(text, terms, c);
        clv_text_add(text, "</td></tr>\n");
    }
    clv_text_add(text, "</table></div>\n");
    clv_page_close(text);
}

void clv_page_clusters(const clv_page *page) {
    const clv_result *result = page->result;
    if (page->report->picture) {
        put_segment_sizes(page, page->report->picture);
    } else if (result->sizes) {
        put_bars(page->text, "cluster", result->sizes, result->k, result->left_out, result->n);
        if (page->report->terms) {
            put_terms(page->text, page->report->terms, result);
        }
    }
}

/* --- tables of fields --- */

static void put_entry(clv_text *text, const clv_field *field, int64_t i) {
    clv_text_add(text, field->texts ? "<td>" : "<td class=\"number\">");
    if (field->texts) {
        clv_put_html(text, field->texts[i]);
    } else {
        clv_put_entry(text, field, i, 7);
    }
    clv_text_add(text, "</td>");
}

static void put_columns(const clv_page *page, const clv_field *columns, int64_t count) {
    clv_text *text = page->text;
    size_t stem = strcspn(columns->name, ".");
    bool of_clusters = strncmp(columns->name, "clusters", stem) == 0 && !page->report->picture;
    bool by_k = strcmp(columns->name + stem, ".k") == 0; /* rows that have a k need no number */
    if (strncmp(columns->name, "k_table", stem) == 0) {
        clv_page_open(text, "Each number of clusters");
    } else {
        clv_text_add(text, "<section><h2>%c", columns->name[0] - 'a' + 'A');
        clv_put_words(text, columns->name + 1, (int)stem - 1, 0);
        clv_text_add(text, "</h2>\n");
    }
    clv_text_add(text, "<div class=\"wide\"><table>\n<tr>%s", by_k ? "" : "<th></th>");
    for (int64_t c = 0; c < count; c++) {
        clv_text_add(text, "<th>");
        clv_put_words(text, columns[c].name + stem + 1, -1, 0);
        clv_text_add(text, "</th>");
    }
    clv_text_add(text, "</tr>\n");
    for (int64_t row = 0; row < columns->count && row < BARS; row++) {
        clv_text_add(text, "<tr");
        if (of_clusters) {
            clv_put_cluster(text, row);
        }
        clv_text_add(text, ">");
        if (!by_k) {
            clv_text_add(text, "<td>%lld</td>", (long long)row);
        }
        for (int64_t c = 0; c < count; c++) {
            put_entry(text, &columns[c], row);
        }
        clv_text_add(text, "</tr>\n");
    }
    clv_text_add(text, "</table></div>\n");
    put_more(text, columns->count);
    clv_page_close(text);
}

void clv_page_tables(const clv_page *page) {
    const clv_result *result = page->result;
    for (int64_t f = 0; f < result->fields_count; f++) {
        int64_t columns = clv_table_columns(result, f);
        if (columns > 0) {
            put_columns(page, &result->fields[f], columns);
            f += columns - 1;
        }
    }
}

/* --- the true classes --- */

enum { CLASSES = 40, COLUMNS = 40, SIDE_BY_SIDE = 10 };
static const char DIGITS[] = "0123456789";

static int64_t count_classes(const int32_t *classes, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        count = classes[i] >= count ? classes[i] + 1 : count;
    }
    return count;
}

typedef struct confusion {
    const char *const *names; /* of the classes; NULL: they are numbers */
    const int64_t *counts;    /* classes x (clusters + 1): the last is of those left out */
    const int64_t *order;     /* of the classes */
    int64_t classes, clusters, named;
    bool out; /* some are left out */
} confusion;

static void put_class(clv_text *text, const confusion *t, int64_t c) {
    clv_text_add(text, "<tr><th scope=\"row\"");
    if (c < t->named) {
        clv_text_add(text, " title=\"");
        clv_put_html(text, t->names[c]);
        clv_text_add(text, "\">");
        clv_put_html(text, t->names[c]);
    } else {
        clv_text_add(text, ">%lld", (long long)c);
    }
    clv_text_add(text, "</th>");
}

static void put_count(clv_text *text, const confusion *t, int64_t class, int64_t c) {
    const int64_t *own = t->counts + class * (t->clusters + 1);
    int64_t all = 0;
    for (int64_t i = 0; i <= t->clusters; i++) {
        all += own[i];
    }
    clv_text_add(text, "<td style=\"--share:%lld%%\"", (long long)(all > 0 ? 100 * own[c] / all : 0));
    clv_put_cluster(text, c < t->clusters ? c : -1);
    clv_text_add(text, ">%lld</td>", (long long)own[c]);
}

/* The clusters from..to-1; those left out stand before the first of them, where nobody misses them. */
static void put_counts(clv_text *text, const confusion *t, int64_t from, int64_t to) {
    bool out = t->out && from == 0;
    clv_text_add(text, "<div class=\"wide\"><table class=\"counts\">\n<tr><th></th>%s",
                 out ? "<th scope=\"col\" data-c=\"-1\">left out</th>" : "");
    for (int64_t c = from; c < to; c++) {
        clv_text_add(text, "<th scope=\"col\"");
        clv_put_cluster(text, c);
        clv_text_add(text, ">%lld</th>", (long long)c);
    }
    clv_text_add(text, "</tr>\n");
    for (int64_t row = 0; row < t->classes; row++) {
        put_class(text, t, t->order[row]);
        if (out) {
            put_count(text, t, t->order[row], t->clusters);
        }
        for (int64_t c = from; c < to; c++) {
            put_count(text, t, t->order[row], c);
        }
        clv_text_add(text, "</tr>\n");
    }
    clv_text_add(text, "</table></div>\n");
}

/* Side by side as many clusters as a page of paper has room for; the others below. */
static void put_confusion(clv_text *text, const confusion *t) {
    clv_page_open(text, "True classes");
    clv_text_add(text,
                 "<p class=\"note\">How many objects of each true class (rows) are in each cluster (columns%s); "
                 "the darker, the larger the share of the class. The method has not seen the classes.</p>\n",
                 t->clusters > SIDE_BY_SIDE ? ", in several tables" : "");
    int64_t tables = t->clusters > 0 ? (t->clusters + SIDE_BY_SIDE - 1) / SIDE_BY_SIDE : 1;
    for (int64_t i = 0; i < tables; i++) {
        put_counts(text, t, i * t->clusters / tables, (i + 1) * t->clusters / tables);
    }
    clv_page_close(text);
}

/* Whether a comes before b, numbers in them by their value: "class 2" before "class 10". */
static bool comes_before(const char *a, const char *b) {
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a += strspn(a, "0");
            b += strspn(b, "0");
            size_t long_a = strspn(a, DIGITS), long_b = strspn(b, DIGITS);
            if (long_a != long_b) {
                return long_a < long_b;
            }
        }
        if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b;
        }
        a += *a != '\0';
        b += *b != '\0';
    }
    return *b != '\0';
}

/* An insertion: there are few. */
static void order_classes(const confusion *t, int64_t *order) {
    for (int64_t c = 0; c < t->classes; c++) {
        int64_t at = c;
        for (; at > 0 && c < t->named && comes_before(t->names[c], t->names[order[at - 1]]); at--) {
            order[at] = order[at - 1];
        }
        order[at] = c;
    }
}

clv_status clv_page_confusion(const clv_page *page) {
    const clv_result *result = page->result;
    const int32_t *classes = page->report->classes;
    int64_t count = classes && result->labels ? count_classes(classes, result->n) : 0;
    if (count < 1 || count > CLASSES || result->k > COLUMNS) {
        return CLV_OK;
    }
    const clv_report *report = page->report;
    int64_t *counts = CLV_NEW0(page->ctx, int64_t, count * (result->k + 1)), order[CLASSES];
    if (!counts) {
        return CLV_ENOMEM;
    }
    confusion t = {.counts = counts, .order = order, .classes = count, .clusters = result->k};
    t.names = report->data && !report->truth ? clv_data_classes(report->data, &t.named) : NULL;
    t.named = t.names ? t.named : 0;
    order_classes(&t, order);
    for (int64_t i = 0; i < result->n; i++) {
        if (classes[i] >= 0) {
            int64_t c = result->labels[i] < 0 ? result->k : result->labels[i];
            counts[classes[i] * (result->k + 1) + c]++;
            t.out = t.out || c == result->k;
        }
    }
    put_confusion(page->text, &t);
    clv_free(page->ctx, counts);
    return CLV_OK;
}
