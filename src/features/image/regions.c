/* Regions of a picture: connected pieces, which ones touch, and labels without crumbs. */
#include "features/image/image.h"

#include <stdlib.h>
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

clv_status clv_regions_of_pieces(clv_context *ctx, int64_t width, int64_t height, const int32_t *labels,
                                 clv_regions **out) {
    CLV_TRY(new_regions(ctx, width, height, out));
    int32_t *parent = (*out)->labels;
    for (int32_t i = 0; i < width * height; i++) {
        if (i % width > 0 && labels[i] == labels[i - 1]) {
            join(parent, i - 1, i);
        }
        if (i >= width && labels[i] == labels[i - width]) {
            join(parent, i - (int32_t)width, i);
        }
    }
    /* Roots come first, and hold the number of their piece from then on. */
    (*out)->count = 0;
    for (int32_t i = 0; i < width * height; i++) {
        parent[i] = parent[i] == i ? (int32_t)(*out)->count++ : parent[parent[i]];
    }
    return CLV_OK;
}

/* --- which regions touch --- */

static int by_key(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void add_pair(uint64_t *keys, int64_t *count, int32_t a, int32_t b) {
    if (a != b && keys) {
        keys[*count] = (uint64_t)a << 32 | (uint32_t)b;
        keys[*count + 1] = (uint64_t)b << 32 | (uint32_t)a;
    }
    *count += a != b ? 2 : 0;
}

/* Pairs of regions, both ways round, one for every pair of pixels on their border; they are only counted unless there
 * are keys. */
static int64_t list_pairs(const clv_regions *r, uint64_t *keys) {
    int64_t count = 0;
    for (int64_t i = 0; i < r->width * r->height; i++) {
        if (i % r->width + 1 < r->width) {
            add_pair(keys, &count, r->labels[i], r->labels[i + 1]);
        }
        if (i + r->width < r->width * r->height) {
            add_pair(keys, &count, r->labels[i], r->labels[i + r->width]);
        }
    }
    return count;
}

/* `keys` has room for all pairs. */
static clv_status fill_adjacency(clv_context *ctx, const clv_regions *regions, uint64_t *keys, clv_data **out) {
    int64_t count = list_pairs(regions, keys), n = regions->count, different = 0;
    qsort(keys, (size_t)count, sizeof *keys, by_key);
    for (int64_t e = 0; e < count; e++) {
        different += e == 0 || keys[e] != keys[e - 1];
    }
    CLV_TRY(clv_data_new_csr(ctx, "region adjacency", n, n, different, out));
    memset((*out)->start, 0, (size_t)(n + 1) * sizeof *(*out)->start);
    double *values = (*out)->values;
    int64_t at = -1;
    for (int64_t e = 0; e < count; e++) {
        if (e == 0 || keys[e] != keys[e - 1]) {
            at++;
            (*out)->index[at] = (int32_t)(keys[e] & 0xffffffffu);
            (*out)->start[(keys[e] >> 32) + 1] = at + 1;
            values[at] = 0;
        }
        values[at]++;
    }
    for (int64_t r = 0; r < n; r++) { /* rows without an entry */
        (*out)->start[r + 1] = (*out)->start[r + 1] > 0 ? (*out)->start[r + 1] : (*out)->start[r];
    }
    return CLV_OK;
}

clv_status clv_region_adjacency(clv_context *ctx, const clv_regions *regions, clv_data **out) {
    *out = NULL;
    uint64_t *keys = CLV_NEW(ctx, uint64_t, list_pairs(regions, NULL));
    clv_status status = keys ? fill_adjacency(ctx, regions, keys, out) : CLV_ENOMEM;
    clv_free(ctx, keys);
    return status;
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
static void merge_crumbs(tidying *t, bool *left) {
    *left = false;
    for (int64_t p = 0; p < t->pieces->count; p++) {
        if (t->parent[p] == p && is_crumb(t, p)) {
            int32_t to = best_neighbor(t, p);
            if (to >= 0) {
                merge(t, (int32_t)p, to);
                *left = true;
            }
        }
    }
    for (int64_t i = 0; i < t->pieces->width * t->pieces->height; i++) {
        t->labels[i] = t->label[root_of(t->parent, t->pieces->labels[i])];
    }
}

static clv_status describe_pieces(tidying *t, int64_t width, int64_t height) {
    CLV_TRY(clv_image_poll(t->ctx));
    CLV_TRY(clv_regions_of_pieces(t->ctx, width, height, t->labels, &t->pieces));
    CLV_TRY(clv_region_adjacency(t->ctx, t->pieces, &t->touching));
    t->sizes = CLV_TAKE(&t->kept, int64_t, t->pieces->count);
    t->label = CLV_TAKE(&t->kept, int32_t, t->pieces->count);
    t->parent = CLV_TAKE(&t->kept, int32_t, t->pieces->count);
    CLV_TRY(t->kept.status);
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
    tidying t = {.ctx = ctx, .kept.ctx = ctx, .least = least, .fill = fill != 0, .labels = labels};
    bool left = true;
    clv_status status = CLV_OK;
    if (width < 1 || height < 1 || width > INT32_MAX / height) {
        return clv_fail(ctx, CLV_EUSAGE, "labels of %lld x %lld pixels are not allowed: there must be 1 to %d pixels",
                        (long long)width, (long long)height, INT32_MAX);
    }
    while (left && status == CLV_OK) { /* crumbs that joined crumbs may still be small */
        status = describe_pieces(&t, width, height);
        if (status == CLV_OK) {
            merge_crumbs(&t, &left);
        }
        forget_pieces(&t);
    }
    return status;
}
