/* The result as one self-contained page: style and script are in it, nothing comes from outside.
 *
 * Everything that it says stands in the page as text and pictures, so that it prints, and reads without the script;
 * that adds who an object is when it is pointed at, and marks a cluster everywhere at once. */
#include "report/page.h"

#include <string.h>

const char *clv_plural(int64_t count) {
    return count == 1 ? "" : "s";
}

void clv_page_open(clv_text *text, const char *heading) {
    clv_text_add(text, "<section><h2>%s</h2>\n", heading);
}

void clv_page_close(clv_text *text) {
    clv_text_add(text, "</section>\n");
}

void clv_page_put_share(const clv_page *page, int64_t shown) {
    if (shown < page->result->n) {
        clv_text_add(page->text, "; %lld of the %lld %s are shown, evenly spaced", (long long)shown,
                     (long long)page->result->n, clv_what_is_counted(page->result));
    }
}

/* --- the sample --- */

enum { MOST_OBJECTS = 4000 };

/* Insertion by cluster and key, runs merged: a stable sort of positions. */
static bool comes_first(const clv_page *page, const double *key, int64_t a, int64_t b) {
    const int32_t *labels = page->result->labels;
    uint32_t of_a = (uint32_t)labels[page->object[a]], of_b = (uint32_t)labels[page->object[b]]; /* -1 is the largest */
    return of_a != of_b ? of_a < of_b : key && key[a] != key[b] ? key[a] > key[b] : a < b;
}

static void merge(const clv_page *page, const double *key, int64_t *order, int64_t *room, int64_t count) {
    int64_t half = count / 2, i = 0, j = half;
    if (count < 2) {
        return;
    }
    merge(page, key, order, room, half);
    merge(page, key, order + half, room, count - half);
    for (int64_t at = 0; at < count; at++) {
        bool first = j == count || (i < half && comes_first(page, key, order[i], order[j]));
        room[at] = first ? order[i++] : order[j++];
    }
    memcpy(order, room, (size_t)count * sizeof *order);
}

int64_t *clv_page_by_cluster(const clv_page *page, int64_t most, const double *key, int64_t *count) {
    *count = page->count < most ? page->count : most;
    int64_t *order = CLV_NEW(page->ctx, int64_t, *count), *room = CLV_NEW(page->ctx, int64_t, *count);
    if (order && room) {
        for (int64_t i = 0; i < *count; i++) {
            order[i] = i * page->count / *count;
        }
        merge(page, key, order, room, *count);
    } else {
        clv_free(page->ctx, order);
        order = NULL;
    }
    clv_free(page->ctx, room);
    return order;
}

static clv_status choose_objects(clv_page *page, const clv_matrix *points) {
    int64_t n = page->result->n, most = points ? clv_plane_most(points) : 0;
    page->count = n < MOST_OBJECTS ? n : MOST_OBJECTS;
    page->count = most > 0 && most < page->count ? most : page->count;
    page->object = CLV_NEW(page->ctx, int64_t, page->count);
    if (!page->object) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < page->count; i++) {
        page->object[i] = (int64_t)((double)i * (double)n / (double)page->count);
    }
    return CLV_OK;
}

/* Regions of a picture are shown where they are, samples by what was learned from them. */
static clv_status place_objects(clv_page *page) {
    const clv_report *report = page->report;
    bool of_samples = page->method && page->method->takes == CLV_TAKES_SAMPLES;
    const clv_matrix *points = report->points && report->points->rows == page->result->n ? report->points : NULL;
    if (of_samples || report->picture || page->result->n < 1) {
        return CLV_OK;
    }
    CLV_TRY(choose_objects(page, points));
    if (points && clv_plane_most(points) > 0) {
        return clv_plane_of_points(page->ctx, points, page->object, page->count, &page->plane);
    }
    page->spectral = report->similarities != NULL && !points;
    return page->spectral
               ? clv_plane_of_affinity(page->ctx, report->similarities, page->object, page->count, &page->plane)
               : CLV_OK;
}

/* --- all of it --- */

/* What the script needs, and the script. */
static void put_end(const clv_page *page) {
    bool labels = page->result->labels != NULL;
    clv_text_add(page->text,
                 "<p id=\"keys\" hidden>Arrow keys go from one to the next%s.</p>\n"
                 "<div id=\"tip\" role=\"status\" aria-live=\"polite\" hidden></div>\n<footer>Made by cleave %s.",
                 labels ? ", Enter marks the cluster, Escape ends that" : "", clv_version());
    if (labels && page->result->k > CLV_COLORS) {
        clv_text_add(page->text, " Colors repeat after %d clusters, with another mark; marks after %d.", CLV_COLORS,
                     CLV_COLORS * CLV_MARKS);
    }
    clv_text_add(page->text, "</footer>\n<script>\n%s</script>\n</body>\n</html>\n", clv_page_script);
}

static clv_status put_parts(const clv_page *page) {
    clv_page_head(page);
    CLV_TRY(clv_page_picture(page));
    clv_page_figures(page);
    clv_page_range(page);
    clv_page_clusters(page);
    clv_page_plane(page);
    CLV_TRY(clv_page_memberships(page));
    CLV_TRY(clv_page_heat(page));
    CLV_TRY(clv_page_weights(page));
    CLV_TRY(clv_page_confusion(page));
    clv_page_metrics(page);
    clv_page_curves(page);
    clv_page_tables(page);
    clv_page_options(page);
    clv_page_list(page);
    put_end(page);
    return CLV_OK;
}

clv_status clv_report_html(clv_context *ctx, const clv_report *report, char **out, size_t *size) {
    clv_text text = {.ctx = ctx};
    *out = NULL;
    CLV_TRY(clv_report_check(ctx, report));
    clv_page page = {.ctx = ctx,
                     .text = &text,
                     .report = report,
                     .result = report->result,
                     .method = clv_method_find(report->result->method)};
    clv_status status = place_objects(&page);
    status = status < 0 ? status : put_parts(&page);
    clv_plane_free(ctx, &page.plane);
    clv_free(ctx, page.object);
    text.status = status < 0 && text.status >= 0 ? status : text.status;
    return clv_take_text(&text, out, size);
}
