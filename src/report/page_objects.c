/* The objects: in the plane, by their memberships, and as the list that says who each of them is. */
#include "linalg/linalg.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

enum { PLANE_HEIGHT = 480, MEMBER_HEIGHT = 220, MEMBERS = 300, LAYERS = 24, NAME = 60 /* bytes of an id */ };

/* --- in the plane --- */

/* Both coordinates on one scale, centered; spectral ones have no common scale. */
static clv_axes plane_axes(const clv_page *page) {
    const clv_plane *plane = &page->plane;
    clv_axes a = {.left = INFINITY, .right = -INFINITY, .low = INFINITY, .high = -INFINITY, .height = PLANE_HEIGHT};
    for (int64_t i = 0; i < plane->count; i++) {
        a.left = fmin(a.left, plane->x[i]);
        a.right = fmax(a.right, plane->x[i]);
        a.low = fmin(a.low, plane->y[i]);
        a.high = fmax(a.high, plane->y[i]);
    }
    double width = CLV_SVG_WIDTH - CLV_SVG_LEFT - CLV_SVG_RIGHT, height = PLANE_HEIGHT - CLV_SVG_TOP - CLV_SVG_BOTTOM;
    double wide = (a.right - a.left) / width, high = (a.high - a.low) / height, most = fmax(wide, high);
    double x = (a.left + a.right) / 2, y = (a.low + a.high) / 2;
    wide = !(most > 0) ? 1 : 1.04 * (page->spectral && wide > 0 ? wide : most);
    high = !(most > 0) ? 1 : 1.04 * (page->spectral && high > 0 ? high : most);
    a.left = x - wide * width / 2;
    a.right = x + wide * width / 2;
    a.low = y - high * height / 2;
    a.high = y + high * height / 2;
    return a;
}

/* All marks of a cluster are one path: dots and squares are strokes of no length with round or square ends. */
static void put_marks(const clv_page *page, const clv_axes *a, int64_t cluster) {
    static const char *const names[CLV_MARKS] = {"dots", "dots square", "dots plus"};
    static const char *const strokes[CLV_MARKS] = {"h0", "h0", "m-4 0h8m-4-4v8"};
    static const char cross[] = "m-3-3l6 6m0-6l-6 6";
    clv_text *text = page->text;
    const int32_t *labels = page->result->labels;
    int64_t mark = cluster < 0 ? 0 : cluster / CLV_COLORS % CLV_MARKS;
    const char *stroke = cluster < 0 && labels ? cross : strokes[mark];
    clv_text_add(text, "<path class=\"%s\"", cluster < 0 && labels ? "dots out" : names[mark]);
    clv_put_cluster(text, cluster);
    clv_text_add(text, " stroke=\"");
    clv_put_color(text, labels ? cluster : 0);
    clv_text_add(text, "\" d=\"");
    for (int64_t i = 0; i < page->plane.count; i++) {
        if (!labels || labels[page->object[i]] == cluster) {
            clv_svg_point(text, 'M', a, page->plane.x[i], page->plane.y[i]);
            clv_text_append(text, stroke, strlen(stroke));
        }
    }
    clv_text_add(text, "\"/>\n");
}

static void put_axis_names(clv_text *text, bool spectral) {
    const char *first = spectral ? "first spectral coordinate" : "first component";
    const char *second = spectral ? "second spectral coordinate" : "second component";
    int x = CLV_SVG_LEFT - 12, y = PLANE_HEIGHT - CLV_SVG_BOTTOM;
    clv_text_add(text,
                 "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%d\">%s</text>"
                 "<text class=\"tick\" transform=\"rotate(-90 %d %d)\" x=\"%d\" y=\"%d\">%s</text>\n",
                 CLV_SVG_WIDTH - CLV_SVG_RIGHT, PLANE_HEIGHT - 8, first, x, y, x, y, second);
}

void clv_page_plane(const clv_page *page) {
    clv_text *text = page->text;
    const clv_result *result = page->result;
    if (page->plane.count == 0) {
        return;
    }
    clv_axes a = plane_axes(page);
    if (!isfinite(a.left) || !isfinite(a.low)) {
        return;
    }
    clv_page_open(text, "The objects");
    clv_text_add(text, "<p class=\"note\">%s%s",
                 page->of_sample  ? "By the eigenvectors of their co-association"
                 : page->spectral ? "By the eigenvectors of their similarities"
                                  : "On their first two principal components",
                 result->labels ? ", colored by cluster" : "");
    clv_text_add(text, "%s", page->of_sample ? "; those that no input tells apart lie around one place" : "");
    clv_text_add(text, "%s", result->left_out > 0 ? "; those left out are gray crosses" : "");
    clv_page_put_share(page, page->plane.count);
    clv_text_add(text, ".</p>\n");
    clv_svg_open(text, "plane", CLV_SVG_WIDTH, PLANE_HEIGHT,
                 result->labels ? "the objects in the plane, colored by cluster" : "the objects in the plane");
    for (int64_t c = result->left_out > 0 || !result->labels ? -1 : 0; c < (result->labels ? result->k : 0); c++) {
        put_marks(page, &a, c);
    }
    put_axis_names(text, page->spectral);
    clv_text_add(text, "</svg>\n");
    clv_page_close(text);
}

/* --- memberships --- */

static const clv_matrix *find_memberships(const clv_page *page) {
    const clv_matrix *m = clv_result_matrix(page->result, "membership");
    bool fits = m && page->result->labels && m->rows == page->result->n && m->cols == page->result->k;
    return fits && page->count > 0 ? m : NULL;
}

/* The membership of every object of the sample in its own cluster, and whether they are shares: rows that add up to 1,
 * not all of them whole. */
static clv_status own_memberships(const clv_page *page, const clv_matrix *m, double *own, bool *soft) {
    double *row = CLV_NEW(page->ctx, double, m->cols);
    bool whole = true, shares = true;
    if (!row) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < page->count; i++) {
        int32_t label = page->result->labels[page->object[i]];
        double sum = 0;
        clv_matrix_row(m, page->object[i], row);
        for (int64_t c = 0; c < m->cols; c++) {
            sum += row[c];
            whole = whole && (row[c] < 1e-9 || row[c] > 1 - 1e-9);
        }
        shares = shares && (label < 0 || fabs(sum - 1) < 1e-6);
        own[i] = label >= 0 && label < m->cols ? row[label] : 0;
    }
    *soft = shares && !whole;
    clv_free(page->ctx, row);
    return CLV_OK;
}

/* One path per cluster: a box above those of the clusters before it, wherever the object has a share. */
static void put_layer(clv_text *text, int64_t c, const double *shares, const double *below, int64_t count) {
    double width = (double)CLV_SVG_WIDTH / (double)count;
    clv_text_add(text, "<path");
    clv_put_cluster(text, c);
    clv_text_add(text, " fill=\"");
    clv_put_color(text, c);
    clv_text_add(text, "\" d=\"");
    for (int64_t i = 0; i < count; i++) {
        if (shares[i] * MEMBER_HEIGHT >= 0.3) {
            clv_text_add(text, "M");
            clv_put_tenths(text, width * (double)i);
            clv_text_add(text, " ");
            clv_put_tenths(text, MEMBER_HEIGHT * (1 - below[i]));
            clv_text_add(text, "h");
            clv_put_tenths(text, width + 0.1); /* no gap where places are rounded */
            clv_text_add(text, "v");
            clv_put_tenths(text, -MEMBER_HEIGHT * shares[i]);
            clv_text_add(text, "h");
            clv_put_tenths(text, -width - 0.1);
            clv_text_add(text, "z");
        }
    }
    clv_text_add(text, "\"/>\n");
}

static void put_layers(const clv_page *page, const clv_matrix *m, const int64_t *order, int64_t count, double *room) {
    double *shares = room, *below = room + count, *row = room + 2 * count;
    memset(below, 0, (size_t)count * sizeof *below);
    for (int64_t c = 0; c < m->cols && c < LAYERS; c++) {
        for (int64_t i = 0; i < count; i++) {
            clv_matrix_row(m, page->object[order[i]], row);
            shares[i] = row[c];
        }
        put_layer(page->text, c, shares, below, count);
        for (int64_t i = 0; i < count; i++) {
            below[i] += shares[i];
        }
    }
}

static clv_status put_memberships(const clv_page *page, const clv_matrix *m, const double *own) {
    int64_t count;
    clv_text *text = page->text;
    int64_t *order = clv_page_by_cluster(page, MEMBERS, own, &count);
    double *room = CLV_NEW(page->ctx, double, 2 * count + m->cols);
    bool enough = order && room;
    if (enough) {
        clv_page_open(text, "Memberships");
        clv_text_add(text, "<p class=\"note\">How much of each object belongs to which cluster, by cluster and share; "
                           "bars of even stripes belong nowhere");
        clv_page_put_share(page, count);
        clv_text_add(text, "%s.</p>\n", m->cols > LAYERS ? "; the first 24 clusters are drawn" : "");
        clv_svg_open(text, "members", CLV_SVG_WIDTH, MEMBER_HEIGHT, "the memberships of the objects as stacked bars");
        put_layers(page, m, order, count, room);
        clv_text_add(text, "</svg>\n<p class=\"data\" id=\"members-order\" hidden>");
        for (int64_t i = 0; i < count; i++) {
            clv_text_add(text, "%s%lld", i > 0 ? " " : "", (long long)order[i]);
        }
        clv_text_add(text, "</p>\n");
        clv_page_close(text);
    }
    clv_free(page->ctx, order);
    clv_free(page->ctx, room);
    return enough ? CLV_OK : CLV_ENOMEM;
}

clv_status clv_page_memberships(const clv_page *page) {
    const clv_matrix *m = find_memberships(page);
    bool soft = false;
    if (!m) {
        return CLV_OK;
    }
    double *own = CLV_NEW(page->ctx, double, page->count);
    clv_status status = own ? own_memberships(page, m, own, &soft) : CLV_ENOMEM;
    status = status == CLV_OK && soft ? put_memberships(page, m, own) : status;
    clv_free(page->ctx, own);
    return status;
}

/* --- who they are --- */

/* An id in a script element: "<" cannot stand there. */
static void put_id(clv_text *text, const char *id) {
    char head[NAME + 4];
    size_t size = 0, step;
    while (id[size] && size < NAME && (step = clv_utf8_size(id + size, strlen(id + size))) > 0) {
        size += step;
    }
    memcpy(head, id, size);
    head[size] = '\0';
    clv_text quoted = {.ctx = text->ctx};
    clv_put_json_string(&quoted, head);
    for (size_t i = 0; quoted.status >= 0 && i < quoted.size; i++) {
        if (quoted.data[i] == '<') {
            clv_text_add(text, "\\u003c");
        } else {
            clv_text_append(text, quoted.data + i, 1);
        }
    }
    text->status = quoted.status < 0 ? quoted.status : text->status;
    clv_free(text->ctx, quoted.data);
}

typedef void (*put_item)(const clv_page *page, int64_t object);

static void put_list(const clv_page *page, const char *name, put_item put) {
    clv_text_add(page->text, ",\n\"%s\":[", name);
    for (int64_t i = 0; i < page->count; i++) {
        clv_text_append(page->text, ",", i > 0);
        put(page, page->object[i]);
    }
    clv_text_add(page->text, "]");
}

static void put_row(const clv_page *page, int64_t object) {
    int64_t row = page->report->data ? clv_data_row(page->report->data, object) : object;
    clv_text_add(page->text, "%lld", (long long)row + 1);
}

static void put_object_id(const clv_page *page, int64_t object) {
    put_id(page->text, clv_data_id(page->report->data, object));
}

static void put_label(const clv_page *page, int64_t object) {
    clv_text_add(page->text, "%d", page->result->labels[object]);
}

static void put_true_class(const clv_page *page, int64_t object) {
    int64_t count = 0;
    const clv_report *report = page->report;
    const char *const *names = report->data && !report->truth ? clv_data_classes(report->data, &count) : NULL;
    int32_t label = report->classes[object];
    if (label >= 0 && label < count) {
        put_id(page->text, names[label]);
    } else {
        clv_text_add(page->text, "%d", label);
    }
}

static void put_weight(const clv_page *page, int64_t object) {
    const clv_matrix *m = clv_result_matrix(page->result, "membership");
    int32_t label = page->result->labels[object];
    double value = label < 0 || label >= m->cols ? 0
                   : m->start                    ? clv_csr_entry(m, object, label)
                   : m->scalar == CLV_F32        ? (double)((const float *)m->values)[object * m->cols + label]
                                                 : ((const double *)m->values)[object * m->cols + label];
    clv_put_rounded(page->text, isfinite(value) ? value : 0, 4);
}

static void put_confidence(const clv_page *page, int64_t object) {
    int64_t count;
    const double *confidence = clv_result_reals(page->result, "confidence", &count);
    bool known = confidence && object < count && isfinite(confidence[object]);
    clv_put_rounded(page->text, known ? confidence[object] : 0, 3);
}

void clv_page_list(const clv_page *page) {
    const clv_report *report = page->report;
    clv_text_add(page->text, "<script type=\"application/json\" id=\"objects\">{\"count\":%lld",
                 (long long)page->count);
    if (page->count > 0) {
        put_list(page, "rows", put_row);
    }
    if (page->count > 0 && report->data && clv_data_id(report->data, page->object[0])) {
        put_list(page, "ids", put_object_id);
    }
    if (page->count > 0 && page->result->labels) {
        put_list(page, "labels", put_label);
    }
    if (find_memberships(page)) { /* those of dominant sets are weights, and they alone */
        bool weights = clv_result_field(page->result, "clusters.cohesiveness") != NULL;
        put_list(page, weights ? "weights" : "memberships", put_weight);
    }
    if (page->count > 0 && clv_result_field(page->result, "confidence")) {
        put_list(page, "confidence", put_confidence);
    }
    if (page->count > 0 && report->classes) {
        put_list(page, "classes", put_true_class);
    }
    clv_text_add(page->text, "}</script>\n");
}
