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

clv_status clv_regions_of_pixels(clv_context *ctx, int64_t width, int64_t height, clv_regions **out) {
    *out = NULL;
    if (width < 1 || height < 1 || width > INT32_MAX / height) {
        return clv_fail(ctx, CLV_EUSAGE, "%lld x %lld pixels cannot be: 1 to %d are allowed", (long long)width,
                        (long long)height, INT32_MAX);
    }
    clv_regions *made = CLV_NEW0(ctx, clv_regions, 1);
    int32_t *labels = made ? CLV_NEW(ctx, int32_t, width * height) : NULL;
    if (!labels) {
        clv_free(ctx, made);
        return CLV_ENOMEM;
    }
    for (int32_t i = 0; i < width * height; i++) {
        labels[i] = i;
    }
    *made = (clv_regions){width, height, width * height, labels, ctx};
    *out = made;
    return CLV_OK;
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
    clv_regions *made = CLV_NEW0(ctx, clv_regions, 1);
    int32_t *parent = made ? CLV_NEW(ctx, int32_t, width * height) : NULL;
    if (!parent) {
        clv_free(ctx, made);
        return CLV_ENOMEM;
    }
    for (int32_t i = 0; i < width * height; i++) {
        parent[i] = i;
        if (i % width > 0 && labels[i] == labels[i - 1]) {
            join(parent, i - 1, i);
        }
        if (i >= width && labels[i] == labels[i - width]) {
            join(parent, i - (int32_t)width, i);
        }
    }
    *made = (clv_regions){width, height, 0, parent, ctx};
    /* Roots come first, and hold the number of their piece from then on. */
    for (int32_t i = 0; i < width * height; i++) {
        parent[i] = parent[i] == i ? (int32_t)made->count++ : parent[parent[i]];
    }
    *out = made;
    return CLV_OK;
}

/* --- which regions touch --- */

static int by_key(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void add_pair(uint64_t *keys, int64_t *count, int32_t a, int32_t b) {
    if (a != b) {
        keys[(*count)++] = (uint64_t)a << 32 | (uint32_t)b;
        keys[(*count)++] = (uint64_t)b << 32 | (uint32_t)a;
    }
}

/* Pairs of regions, both ways round, one for every pair of pixels on their border; sorted. */
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
    qsort(keys, (size_t)count, sizeof *keys, by_key);
    return count;
}

static int64_t count_border(const clv_regions *r) {
    int64_t count = 0;
    for (int64_t i = 0; i < r->width * r->height; i++) {
        count += i % r->width + 1 < r->width && r->labels[i] != r->labels[i + 1];
        count += i + r->width < r->width * r->height && r->labels[i] != r->labels[i + r->width];
    }
    return count;
}

static clv_status fill_adjacency(clv_context *ctx, int64_t regions, const uint64_t *keys, int64_t count,
                                 clv_data **out) {
    int64_t different = 0;
    for (int64_t e = 0; e < count; e++) {
        different += e == 0 || keys[e] != keys[e - 1];
    }
    CLV_TRY(clv_data_new_csr(ctx, "region adjacency", regions, regions, different, out));
    memset((*out)->start, 0, (size_t)(regions + 1) * sizeof *(*out)->start);
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
    for (int64_t r = 0; r < regions; r++) { /* rows without an entry */
        (*out)->start[r + 1] = (*out)->start[r + 1] > 0 ? (*out)->start[r + 1] : (*out)->start[r];
    }
    return CLV_OK;
}

clv_status clv_region_adjacency(clv_context *ctx, const clv_regions *regions, clv_data **out) {
    *out = NULL;
    uint64_t *keys = CLV_NEW(ctx, uint64_t, 2 * count_border(regions));
    if (!keys) {
        return CLV_ENOMEM;
    }
    int64_t count = list_pairs(regions, keys);
    clv_status status = fill_adjacency(ctx, regions->count, keys, count, out);
    clv_free(ctx, keys);
    return status;
}

/* --- labels without crumbs --- */

typedef struct tidying {
    clv_context *ctx;
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
    CLV_TRY(clv_regions_of_pieces(t->ctx, width, height, t->labels, &t->pieces));
    CLV_TRY(clv_region_adjacency(t->ctx, t->pieces, &t->touching));
    t->sizes = CLV_NEW(t->ctx, int64_t, t->pieces->count);
    t->label = CLV_NEW(t->ctx, int32_t, t->pieces->count);
    t->parent = CLV_NEW(t->ctx, int32_t, t->pieces->count);
    if (!t->sizes || !t->label || !t->parent) {
        return CLV_ENOMEM;
    }
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
    clv_free(t->ctx, t->sizes);
    clv_free(t->ctx, t->label);
    clv_free(t->ctx, t->parent);
    t->pieces = NULL;
    t->touching = NULL;
    t->sizes = NULL;
    t->label = t->parent = NULL;
}

clv_status clv_labels_tidy(clv_context *ctx, int64_t width, int64_t height, int64_t least, int fill, int32_t *labels) {
    tidying t = {.ctx = ctx, .least = least, .fill = fill != 0, .labels = labels};
    bool left = true;
    clv_status status = CLV_OK;
    if (width < 1 || height < 1 || width > INT32_MAX / height) {
        return clv_fail(ctx, CLV_EUSAGE, "labels of %lld x %lld pixels cannot be: 1 to %d pixels are allowed",
                        (long long)width, (long long)height, INT32_MAX);
    }
    while (left && status == CLV_OK) { /* crumbs that joined crumbs may still be small */
        status = clv_image_poll(ctx);
        if (status == CLV_OK) {
            status = describe_pieces(&t, width, height);
        }
        if (status == CLV_OK) {
            merge_crumbs(&t, &left);
        }
        forget_pieces(&t);
    }
    return status;
}
