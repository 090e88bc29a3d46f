/* The confidences of a consensus: as a picture, by cluster, and the objects that the inputs agree on least. */
#include "report/page.h"

enum { HEIGHT = 160, SHOWN = 300, LISTED = 10 };

/* --- the picture --- */

/* A bar for each object of the cluster, from `first` on in the order, as high as its confidence. Returns the next. */
static int64_t put_bars(const clv_page *page, const int64_t *order, const double *own, int64_t count, int64_t first) {
    clv_text *text = page->text;
    const int32_t *labels = page->result->labels;
    int32_t cluster = labels[page->object[order[first]]];
    double width = (double)CLV_SVG_WIDTH / (double)count;
    int64_t i = first;
    clv_text_add(text, "<path");
    clv_put_cluster(text, cluster);
    clv_text_add(text, " fill=\"");
    clv_put_color(text, cluster);
    clv_text_add(text, "\" d=\"");
    for (; i < count && labels[page->object[order[i]]] == cluster; i++) {
        clv_text_add(text, "M");
        clv_put_tenths(text, width * (double)i);
        clv_text_add(text, " %dh", HEIGHT);
        clv_put_tenths(text, width + 0.1); /* no gap where places are rounded */
        clv_text_add(text, "v");
        clv_put_tenths(text, -HEIGHT * own[order[i]]);
        clv_text_add(text, "h");
        clv_put_tenths(text, -width - 0.1);
        clv_text_add(text, "z");
    }
    clv_text_add(text, "\"/>\n");
    return i;
}

static clv_status put_picture(const clv_page *page, const double *confidence) {
    clv_text *text = page->text;
    int64_t count = 0;
    double *own = CLV_NEW(page->ctx, double, page->count);
    for (int64_t i = 0; own && i < page->count; i++) {
        own[i] = confidence[page->object[i]];
    }
    int64_t *order = own ? clv_page_by_cluster(page, SHOWN, own, &count) : NULL;
    if (order) {
        clv_text_add(text, "<p class=\"note\">How likely an input puts an object with another one of its cluster, by "
                           "cluster and confidence: full height is 1, where all inputs agree");
        clv_page_put_share(page, count);
        clv_text_add(text, ".</p>\n");
        clv_svg_open(text, "confidences", CLV_SVG_WIDTH, HEIGHT, "the confidences of the objects as bars");
        for (int64_t i = 0; i < count;) {
            i = put_bars(page, order, own, count, i);
        }
        clv_text_add(text, "</svg>\n<p class=\"data\" id=\"confidences-order\" hidden>");
        for (int64_t i = 0; i < count; i++) {
            clv_text_add(text, "%s%lld", i > 0 ? " " : "", (long long)order[i]);
        }
        clv_text_add(text, "</p>\n");
    }
    clv_status status = order ? CLV_OK : CLV_ENOMEM;
    CLV_FREE_ALL(page->ctx, own, order);
    return status;
}

/* --- the list --- */

/* The objects with a label that have the smallest confidences below 1, the smallest first; how many. */
static int64_t find_least(const clv_result *result, const double *confidence, int64_t least[LISTED]) {
    int64_t count = 0;
    for (int64_t i = 0; i < result->n; i++) {
        bool counts = result->labels[i] >= 0 && confidence[i] < 1;
        if (!counts || (count == LISTED && confidence[i] >= confidence[least[LISTED - 1]])) {
            continue;
        }
        int64_t at = count < LISTED ? count++ : LISTED - 1;
        for (; at > 0 && confidence[i] < confidence[least[at - 1]]; at--) {
            least[at] = least[at - 1];
        }
        least[at] = i;
    }
    return count;
}

static void put_least(const clv_page *page, const double *confidence) {
    clv_text *text = page->text;
    const clv_data *data = page->report->data;
    int64_t least[LISTED], count = find_least(page->result, confidence, least);
    if (count == 0) {
        return;
    }
    clv_text_add(text, "<h3>Who the inputs agree on least</h3>\n<div class=\"wide\"><table>\n"
                       "<tr><th>object</th><th>confidence</th><th>cluster</th></tr>\n");
    for (int64_t l = 0; l < count; l++) {
        const char *id = data ? clv_data_id(data, least[l]) : NULL;
        int32_t cluster = page->result->labels[least[l]];
        clv_text_add(text, "<tr");
        clv_put_cluster(text, cluster);
        clv_text_add(text, "><td>");
        if (id) {
            clv_put_html(text, id);
        } else {
            clv_text_add(text, "%lld", (long long)(data ? clv_data_row(data, least[l]) : least[l]) + 1);
        }
        clv_text_add(text, "</td><td>");
        clv_put_rounded(text, confidence[least[l]], 4);
        clv_text_add(text, "</td><td>%d</td></tr>\n", (int)cluster);
    }
    clv_text_add(text, "</table></div>\n");
}

clv_status clv_page_confidence(const clv_page *page) {
    int64_t count = 0;
    const double *confidence = clv_result_reals(page->result, "confidence", &count);
    if (!confidence || count != page->result->n || !page->result->labels || page->count == 0) {
        return CLV_OK;
    }
    clv_page_open(page->text, "Confidences");
    CLV_TRY(put_picture(page, confidence));
    put_least(page, confidence);
    clv_page_close(page->text);
    return CLV_OK;
}
