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
        clv_text_add(page->text, "; %lld of the %lld %s are shown, drawn%s at random", (long long)shown,
                     (long long)page->result->n, clv_what_is_counted(page->result),
                     page->result->labels ? " from each cluster" : "");
    }
}

/* --- the sample --- */

enum { MOST_OBJECTS = 4000, MOST_OF_INPUTS = 2000 };

/* Whose turn it is: the cluster of an object, or k of one that is in none. */
static int64_t group_of(const clv_result *result, int64_t object) {
    int32_t label = result->labels ? result->labels[object] : -1;
    return label >= 0 && label < result->k ? label : result->k;
}

/* From sizes to how many of each group are drawn, `most` in all: by size, and at least one of each, if there is room
 * for that. */
static void share_out(int64_t *sizes, int64_t groups, int64_t count, int64_t most) {
    int64_t some = 0, before = 0;
    for (int64_t g = 0; g < groups; g++) {
        some += sizes[g] > 0;
    }
    int64_t sure = some <= most ? 1 : 0, places = most - sure * some, rest = count - sure * some;
    for (int64_t g = 0; g < groups; g++) {
        int64_t own = sizes[g] > 0 ? sure : 0, after = before + sizes[g] - own;
        sizes[g] = own + (rest > 0 ? after * places / rest - before * places / rest : 0);
        before = after;
    }
}

/* To out[0..most-1], rising: which of `count` objects (of[i]; NULL: i) are drawn. Every k-th of them would miss
 * clusters that come in turns, so they are drawn at random within each cluster, always by the same seed: the next of a
 * group is taken with the chance (to be drawn) / (not yet seen). */
static clv_status draw(const clv_page *page, const int64_t *of, int64_t count, int64_t most, int64_t *out) {
    int64_t groups = page->result->k + 1, taken = 0;
    int64_t *left = CLV_NEW0(page->ctx, int64_t, 2 * groups), *wanted = left ? left + groups : NULL;
    clv_rng rng = clv_rng_stream(0, 0);
    if (!left) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < count; i++) {
        left[group_of(page->result, of ? of[i] : i)]++;
    }
    memcpy(wanted, left, (size_t)groups * sizeof *left);
    share_out(wanted, groups, count, most);
    for (int64_t i = 0; i < count && taken < most; i++) {
        int64_t g = group_of(page->result, of ? of[i] : i);
        if (wanted[g] > 0 && clv_rng_below(&rng, left[g]) < wanted[g]) {
            out[taken++] = i;
            wanted[g]--;
        }
        left[g]--;
    }
    clv_free(page->ctx, left);
    return CLV_OK;
}

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
    if (order && room && draw(page, page->object, page->count, *count, order) == CLV_OK) {
        merge(page, key, order, room, *count);
    } else {
        clv_free(page->ctx, order);
        order = NULL;
    }
    clv_free(page->ctx, room);
    return order;
}

static clv_status choose_objects(clv_page *page, const clv_matrix *points) {
    int64_t n = page->result->n, most = points ? clv_plane_most(points) : page->report->partitions ? MOST_OF_INPUTS : 0;
    page->count = n < MOST_OBJECTS ? n : MOST_OBJECTS;
    page->count = most > 0 && most < page->count ? most : page->count;
    page->object = CLV_NEW(page->ctx, int64_t, page->count);
    return page->object ? draw(page, NULL, n, page->count, page->object) : CLV_ENOMEM;
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
    page->similarities = report->similarities;
    if (report->partitions) {
        return clv_page_associate(page);
    }
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
    CLV_TRY(clv_page_confidence(page));
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
    *out = NULL;
    CLV_NEED(ctx, report);
    clv_text text = {.ctx = ctx};
    CLV_TRY(clv_report_check(ctx, report));
    clv_page page = {.ctx = ctx,
                     .text = &text,
                     .report = report,
                     .result = report->result,
                     .method = clv_method_find(report->result->method)};
    clv_status status = place_objects(&page);
    status = status < 0 ? status : put_parts(&page);
    clv_plane_free(ctx, &page.plane);
    clv_page_inputs_free(&page);
    clv_free(ctx, page.object);
    text.status = status < 0 && text.status >= 0 ? status : text.status;
    return clv_take_text(&text, out, size);
}
