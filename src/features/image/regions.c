/* Regions of a picture: connected pieces, which ones touch, and labels without crumbs. */
#include "features/image/image.h"

#include <string.h>

void clv_regions_free(clv_regions *regions) {
    if (regions) {
        clv_free(regions->ctx, regions->labels);
        clv_free(regions->ctx, regions);
    }
}

clv_status clv_regions_check(clv_context *ctx, const clv_image *image, const clv_regions *regions) {
    CLV_TRY(clv_image_check(ctx, image));
    if (image->width != regions->width || image->height != regions->height) {
        return clv_fail(ctx, CLV_EUSAGE, "regions of %lld x %lld pixels do not fit a picture of %lld x %lld",
                        (long long)regions->width, (long long)regions->height, (long long)image->width,
                        (long long)image->height);
    }
    return CLV_OK;
}

/* Every pixel a region. */
static clv_status new_regions(clv_context *ctx, int64_t width, int64_t height, clv_regions **out) {
    *out = CLV_NEW0(ctx, clv_regions, 1);
    int32_t *labels = *out ? CLV_NEW(ctx, int32_t, width * height) : NULL;
    if (!labels) {
        clv_free(ctx, *out);
        *out = NULL;
        return CLV_ENOMEM;
    }
    for (int32_t i = 0; i < width * height; i++) {
        labels[i] = i;
    }
    **out = (clv_regions){width, height, width * height, labels, ctx};
    return CLV_OK;
}

clv_status clv_regions_of_pixels(clv_context *ctx, int64_t width, int64_t height, clv_regions **out) {
    *out = NULL;
    if (width < 1 || height < 1 || width > INT32_MAX / height) {
        return clv_fail(ctx, CLV_EUSAGE, "%lld x %lld pixels are not allowed: there must be 1 to %d", (long long)width,
                        (long long)height, INT32_MAX);
    }
    return new_regions(ctx, width, height, out);
}

void clv_region_sizes(const clv_regions *regions, int64_t *sizes) {
    memset(sizes, 0, (size_t)regions->count * sizeof *sizes);
    for (int64_t i = 0; i < regions->width * regions->height; i++) {
        sizes[regions->labels[i]]++;
    }
}

/* --- connected pieces: a forest over the pixels, each tree a piece, its root the first pixel --- */

static int32_t root_of(int32_t *parent, int32_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join(int32_t *parent, int32_t a, int32_t b) {
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b) {
        parent[b] = a;
    } else {
        parent[a] = b;
    }
}

/* The pixels of a row join those of the same label to the left and above. */
static void join_row(const int32_t *labels, int64_t width, int64_t y, int32_t *parent) {
    for (int32_t x = 0, i = (int32_t)(y * width); x < width; x++, i++) {
        int32_t above = i - (int32_t)width;
        bool left = x > 0 && labels[i] == labels[i - 1], up = y > 0 && labels[i] == labels[above];
        parent[i] = left ? parent[i - 1] : i;
        if (up && !(left && labels[above - 1] == labels[i])) { /* else the one to the left has joined it already */
            join(parent, above, i);
        }
    }
}

clv_status clv_regions_of_pieces(clv_context *ctx, int64_t width, int64_t height, const int32_t *labels,
                                 clv_regions **out) {
    CLV_TRY(new_regions(ctx, width, height, out));
    int32_t *parent = (*out)->labels;
    clv_status status = CLV_OK;
    for (int64_t y = 0; y < height && status == CLV_OK; y++) {
        join_row(labels, width, y, parent);
        status = clv_image_poll_at(ctx, y * width, width);
    }
    if (status < 0) {
        clv_regions_free(*out);
        *out = NULL;
        return status;
    }
    /* Roots come first, and hold the number of their piece from then on. */
    (*out)->count = 0;
    for (int32_t i = 0; i < width * height; i++) {
        parent[i] = parent[i] == i ? (int32_t)(*out)->count++ : parent[parent[i]];
    }
    return CLV_OK;
}

/* --- which regions touch --- */

/* Others that region r touches, one for every pair of pixels on their border: those from start[r] to start[r + 1]. */
typedef struct borders {
    int64_t *start;  /* count + 1 */
    int32_t *others; /* start[count] */
    int64_t *length; /* count: of the borders between one region and all others */
} borders;

/* Without `others`, the pairs of a region are counted in `start`; else it says where its next one goes. */
static void note_pair(const borders *b, int32_t one, int32_t other) {
    if (one != other) {
        int64_t at = b->start[one]++, also = b->start[other]++;
        if (b->others) {
            b->others[at] = other;
            b->others[also] = one;
        }
    }
}

/* Pairs of pixels side by side in two rows. Nearly all are of one region: stretches of such are compared at once. */
static void note_rows(const borders *b, const int32_t *one, const int32_t *other, int64_t count) {
    enum { STRETCH = 16 };
    for (int64_t first = 0; first < count; first += STRETCH) {
        int64_t end = first + STRETCH < count ? first + STRETCH : count;
        if (memcmp(one + first, other + first, (size_t)(end - first) * sizeof *one) != 0) {
            for (int64_t x = first; x < end; x++) {
                note_pair(b, one[x], other[x]);
            }
        }
    }
}

static clv_status note_pairs(clv_context *ctx, const borders *b, const clv_regions *r) {
    for (int64_t y = 0; y < r->height; y++) {
        CLV_TRY(clv_image_poll_at(ctx, y * r->width, r->width));
        const int32_t *row = r->labels + y * r->width;
        note_rows(b, row, row + 1, r->width - 1);
        if (y + 1 < r->height) {
            note_rows(b, row, row + r->width, r->width);
        }
    }
    return CLV_OK;
}

static clv_status list_borders(clv_kept *work, const clv_regions *r, borders *b) {
    int64_t total = 0;
    b->start = CLV_TAKE0(work, int64_t, r->count + 1);
    b->length = CLV_TAKE0(work, int64_t, r->count);
    CLV_TRY(work->status);
    CLV_TRY(note_pairs(work->ctx, b, r));
    for (int64_t i = 0; i <= r->count; i++) {
        int64_t own = b->start[i];
        b->start[i] = total;
        total += own;
    }
    b->others = CLV_TAKE(work, int32_t, total);
    CLV_TRY(work->status);
    CLV_TRY(note_pairs(work->ctx, b, r));
    memmove(b->start + 1, b->start, (size_t)r->count * sizeof *b->start); /* each has become that of the next */
    b->start[0] = 0;
    return CLV_OK;
}

/* The different ones that region r touches to the front of its others, ascending, and the lengths of their borders; how
 * many there are. */
static int64_t sum_up(const borders *b, int64_t r) {
    int32_t *others = b->others + b->start[r];
    int64_t different = 0;
    for (int64_t e = 0; e < b->start[r + 1] - b->start[r]; e++) {
        int32_t other = others[e];
        if (b->length[other]++ == 0) {
            int64_t to = different++;
            for (; to > 0 && others[to - 1] > other; to--) {
                others[to] = others[to - 1];
            }
            others[to] = other;
        }
    }
    return different;
}

static int64_t count_different(const borders *b, int64_t n) {
    int64_t different = 0;
    for (int64_t r = 0; r < n; r++) {
        for (int64_t e = b->start[r]; e < b->start[r + 1]; e++) {
            different += b->length[b->others[e]]++ == 0;
        }
        for (int64_t e = b->start[r]; e < b->start[r + 1]; e++) {
            b->length[b->others[e]] = 0;
        }
    }
    return different;
}

static clv_status fill_adjacency(clv_context *ctx, const clv_regions *regions, clv_kept *work, clv_data **out) {
    borders b = {0};
    int64_t n = regions->count, at = 0;
    CLV_TRY(list_borders(work, regions, &b));
    CLV_TRY(clv_image_poll(ctx));
    CLV_TRY(clv_data_new_csr(ctx, "region adjacency", n, n, count_different(&b, n), out));
    double *lengths = (*out)->values;
    (*out)->start[0] = 0;
    for (int64_t r = 0; r < n; r++) {
        CLV_TRY(clv_image_poll_at(ctx, b.start[r], b.start[r + 1] - b.start[r]));
        int64_t different = sum_up(&b, r);
        for (int64_t e = 0; e < different; e++, at++) {
            int32_t other = b.others[b.start[r] + e];
            (*out)->index[at] = other;
            lengths[at] = (double)b.length[other];
            b.length[other] = 0;
        }
        (*out)->start[r + 1] = at;
    }
    return CLV_OK;
}

clv_status clv_region_adjacency(clv_context *ctx, const clv_regions *regions, clv_data **out) {
    *out = NULL;
    CLV_NEED(ctx, regions);
    clv_kept work = {.ctx = ctx};
    clv_status status = fill_adjacency(ctx, regions, &work, out);
    clv_free_kept(&work);
    return clv_data_made(status, out);
}

/* --- labels without crumbs --- */

typedef struct tidying {
    clv_context *ctx;
    clv_kept kept; /* sizes, label and parent */
    int64_t least;
    bool fill;
    int32_t *labels;
    clv_regions *pieces;
    clv_data *touching;
    int64_t *sizes;
    int32_t *label;  /* of a piece */
    int32_t *parent; /* the piece that a piece joins, a forest */
} tidying;

static bool is_crumb(const tidying *t, int64_t piece) {
    return t->sizes[piece] < t->least || (t->fill && t->label[piece] < 0);
}

/* The neighbor with the longest common border, the larger piece among equals; one without a label only if there is no
 * other. -1: there is none at all. */
static int32_t best_neighbor(const tidying *t, int64_t piece) {
    const clv_matrix *m = clv_data_matrix(t->touching);
    const double *lengths = m->values;
    int32_t best = -1;
    double longest = 0;
    for (int64_t e = m->start[piece]; e < m->start[piece + 1]; e++) {
        int32_t other = m->index[e];
        bool labeled = t->label[other] >= 0, before = best >= 0 && t->label[best] >= 0;
        bool longer = lengths[e] > longest || (lengths[e] == longest && t->sizes[other] > t->sizes[best]);
        if (best < 0 || (labeled && !before) || (labeled == before && longer)) {
            best = other;
            longest = lengths[e];
        }
    }
    return best;
}

/* The larger of two trees gives its label to the other: that of its largest piece. A piece that is to be filled gives
 * none. */
static void merge(tidying *t, int32_t a, int32_t b) {
    a = root_of(t->parent, a);
    b = root_of(t->parent, b);
    if (a == b) {
        return;
    }
    bool a_gives = t->label[a] >= 0 && (t->label[b] < 0 || t->sizes[a] >= t->sizes[b]);
    int32_t to = a_gives || (t->label[b] < 0 && t->sizes[a] >= t->sizes[b]) ? a : b;
    int32_t from = to == a ? b : a;
    t->parent[from] = to;
    t->sizes[to] += t->sizes[from];
}

/* Every crumb joins a neighbor; *left says whether there may be more to do. */
static clv_status merge_crumbs(tidying *t, bool *left) {
    *left = false;
    for (int64_t p = 0; p < t->pieces->count; p++) {
        CLV_TRY(clv_image_poll_at(t->ctx, p, 1));
        if (t->parent[p] == p && is_crumb(t, p)) {
            int32_t to = best_neighbor(t, p);
            if (to >= 0) {
                merge(t, (int32_t)p, to);
                *left = true;
            }
        }
    }
    CLV_TRY(clv_image_poll(t->ctx));
    for (int32_t p = 0; p < t->pieces->count; p++) {
        t->label[p] = t->label[root_of(t->parent, p)]; /* that of a root stays as it is */
    }
    for (int64_t i = 0; i < t->pieces->width * t->pieces->height; i++) {
        t->labels[i] = t->label[t->pieces->labels[i]];
    }
    return CLV_OK;
}

static bool has_crumbs(const tidying *t) {
    bool any = false;
    for (int64_t p = 0; p < t->pieces->count && !any; p++) {
        any = is_crumb(t, p);
    }
    return any;
}

static clv_status describe_pieces(tidying *t, int64_t width, int64_t height) {
    CLV_TRY(clv_image_poll(t->ctx));
    CLV_TRY(clv_regions_of_pieces(t->ctx, width, height, t->labels, &t->pieces));
    t->sizes = CLV_TAKE(&t->kept, int64_t, t->pieces->count);
    t->label = CLV_TAKE(&t->kept, int32_t, t->pieces->count);
    t->parent = CLV_TAKE(&t->kept, int32_t, t->pieces->count);
    CLV_TRY(t->kept.status);
    CLV_TRY(clv_image_poll(t->ctx));
    clv_region_sizes(t->pieces, t->sizes);
    for (int64_t i = 0; i < width * height; i++) {
        t->label[t->pieces->labels[i]] = t->labels[i];
    }
    for (int32_t p = 0; p < t->pieces->count; p++) {
        t->parent[p] = p;
    }
    return CLV_OK;
}

static void forget_pieces(tidying *t) {
    clv_regions_free(t->pieces);
    clv_data_free(t->touching);
    clv_free_kept(&t->kept);
    t->pieces = NULL;
    t->touching = NULL;
}

clv_status clv_labels_tidy(clv_context *ctx, int64_t width, int64_t height, int64_t least, int fill, int32_t *labels) {
    CLV_NEED(ctx, labels);
    tidying t = {.ctx = ctx, .kept.ctx = ctx, .least = least, .fill = fill != 0, .labels = labels};
    bool left = true;
    clv_status status = CLV_OK;
    if (width < 1 || height < 1 || width > INT32_MAX / height) {
        return clv_fail(ctx, CLV_EUSAGE, "labels of %lld x %lld pixels are not allowed: there must be 1 to %d pixels",
                        (long long)width, (long long)height, INT32_MAX);
    }
    while (left && status == CLV_OK) { /* crumbs that joined crumbs may still be small */
        status = describe_pieces(&t, width, height);
        left = status == CLV_OK && has_crumbs(&t);
        if (left) {
            status = clv_region_adjacency(ctx, t.pieces, &t.touching);
        }
        if (left && status == CLV_OK) {
            status = merge_crumbs(&t, &left);
        }
        forget_pieces(&t);
    }
    return status;
}
