/* The similarities as a heat map, objects ordered by cluster: blocks on the diagonal are clusters that hold together.
 *
 * A sample of the objects shows its own similarities. Of a sparse graph a sample would have next to no edges: there,
 * all objects are put into blocks of one cluster each, and a cell is the mean over the pairs of two blocks, by products
 * with the 0/1 vectors of GROUP blocks at a time. */
#include "report/page.h"

#include <math.h>
#include <string.h>

enum { CELLS = 200, GROUP = 8, SIDE = 620, STRIP = 14 };
/* Numbers in the vectors of a group. */
#define ROOM 20000000

typedef struct heat {
    int64_t m;        /* cells on a side */
    double *cells;    /* m x m */
    int32_t *label;   /* of each row */
    int64_t *order;   /* positions in the sample; NULL: rows are blocks */
    int64_t *members; /* of each block */
    int32_t *block;   /* of each object; -1: none */
    double least, most;
} heat;

static void free_heat(clv_context *ctx, heat *h) {
    clv_free(ctx, h->cells);
    clv_free(ctx, h->label);
    clv_free(ctx, h->order);
    clv_free(ctx, h->members);
    clv_free(ctx, h->block);
}

/* --- a sample --- */

static clv_status sample_cells(const clv_page *page, heat *h) {
    clv_affinity *part = NULL;
    h->order = clv_page_by_cluster(page, CELLS, NULL, &h->m);
    h->cells = CLV_NEW(page->ctx, double, h->m * h->m);
    h->label = CLV_NEW(page->ctx, int32_t, h->m);
    int64_t *active = CLV_NEW(page->ctx, int64_t, h->m);
    clv_status status = h->order && h->cells && h->label && active ? CLV_OK : CLV_ENOMEM;
    for (int64_t i = 0; status == CLV_OK && i < h->m; i++) {
        int64_t object = page->object[h->order[i]];
        active[i] = page->of_sample ? h->order[i] : object;
        h->label[i] = page->result->labels[object];
    }
    status = status < 0 ? status : clv_affinity_restrict(page->similarities, active, h->m, &part);
    status = status < 0 ? status : clv_affinity_rows(part, 0, h->m, h->cells);
    clv_affinity_free(part);
    clv_free(page->ctx, active);
    return status;
}

/* --- blocks of a sparse graph --- */

/* Every cluster gets blocks by its share of the objects, at least one; they are filled in order. */
static void fill_blocks(const clv_page *page, heat *h) {
    const clv_result *result = page->result;
    int64_t labeled = result->n - result->left_out, first = 0;
    h->m = 0;
    for (int64_t c = 0; c < result->k; c++) {
        int64_t size = result->sizes[c], share = size * (CELLS - result->k) / labeled + 1;
        int64_t blocks = share < size ? share : size, seen = 0;
        first = h->m;
        h->m += blocks;
        for (int64_t b = first; b < h->m; b++) {
            h->label[b] = (int32_t)c;
        }
        for (int64_t i = 0; i < result->n; i++) {
            if (result->labels[i] == c) {
                int64_t at = first + seen++ * blocks / size;
                h->block[i] = (int32_t)at;
                h->members[at]++;
            }
        }
    }
}

static clv_status add_group(const clv_page *page, heat *h, int64_t first, double *x, double *y) {
    int64_t n = page->result->n, count = h->m - first < GROUP ? h->m - first : GROUP;
    memset(x, 0, (size_t)(GROUP * n) * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = h->block[i] - first;
        if (h->block[i] >= 0 && at >= 0 && at < count) {
            x[at * n + i] = 1;
        }
    }
    CLV_TRY(clv_affinity_apply(page->similarities, x, count, y, 1));
    for (int64_t g = 0; g < count; g++) {
        for (int64_t i = 0; i < n; i++) {
            if (h->block[i] >= 0) {
                h->cells[(first + g) * h->m + h->block[i]] += y[g * n + i];
            }
        }
    }
    return CLV_OK;
}

static clv_status mean_cells(const clv_page *page, heat *h) {
    int64_t n = page->result->n;
    h->block = CLV_NEW(page->ctx, int32_t, n);
    h->label = CLV_NEW(page->ctx, int32_t, CELLS);
    h->members = CLV_NEW0(page->ctx, int64_t, CELLS);
    h->cells = CLV_NEW0(page->ctx, double, CELLS *CELLS);
    double *x = CLV_NEW(page->ctx, double, 2 * GROUP * n);
    clv_status status = h->block && h->label && h->members && h->cells && x ? CLV_OK : CLV_ENOMEM;
    if (status == CLV_OK) {
        memset(h->block, 0xff, (size_t)n * sizeof *h->block);
        fill_blocks(page, h);
    }
    for (int64_t first = 0; status == CLV_OK && first < h->m; first += GROUP) {
        status = add_group(page, h, first, x, x + GROUP * n);
    }
    for (int64_t e = 0; status == CLV_OK && e < h->m * h->m; e++) {
        int64_t row = e / h->m, col = e % h->m;
        h->cells[e] /= (double)h->members[row] * (double)h->members[col];
    }
    clv_free(page->ctx, x);
    return status;
}

/* --- the picture --- */

/* From dark blue to yellow over gray, as light as the number is large: it reads the same without red or green. */
static void set_color(uint8_t *pixel, double share) {
    static const double anchors[][3] = {{0, 32, 76}, {66, 78, 108}, {124, 123, 120}, {187, 173, 108}, {255, 233, 69}};
    double at = 4 * fmin(fmax(share, 0), 1);
    int low = at >= 4 ? 3 : (int)at;
    for (int i = 0; i < 3; i++) {
        pixel[i] = (uint8_t)lround(anchors[low][i] + (at - low) * (anchors[low + 1][i] - anchors[low][i]));
    }
}

/* The least and the largest number, but for those of an object with itself. */
static void find_range(heat *h) {
    h->least = INFINITY;
    h->most = -INFINITY;
    for (int64_t e = 0; e < h->m * h->m; e++) {
        bool own = e / h->m == e % h->m && h->order;
        if (!own && isfinite(h->cells[e])) {
            h->least = fmin(h->least, h->cells[e]);
            h->most = fmax(h->most, h->cells[e]);
        }
    }
}

/* The means of a sparse graph are near 0 but for a few: by their roots, these others show as well. */
static double share_of(const heat *h, double value) {
    double share = h->most > h->least ? (value - h->least) / (h->most - h->least) : 0;
    return !isfinite(share) ? 0 : h->order ? share : sqrt(fmax(share, 0));
}

static clv_status put_cells(clv_text *text, const heat *h) {
    clv_image image = {h->m, h->m, 3, CLV_NEW(text->ctx, uint8_t, 3 * h->m * h->m)};
    if (!image.samples) {
        return CLV_ENOMEM;
    }
    for (int64_t e = 0; e < h->m * h->m; e++) {
        set_color(image.samples + 3 * e, share_of(h, h->cells[e]));
    }
    clv_text_add(text, "<image x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" preserveAspectRatio=\"none\" href=\"",
                 STRIP, STRIP, SIDE, SIDE);
    clv_status status = clv_put_png(text, &image);
    clv_text_add(text, "\"/>\n");
    clv_free(text->ctx, image.samples);
    return status;
}

/* The clusters along both sides, in their colors. */
static void put_strips(clv_text *text, const heat *h) {
    double cell = (double)SIDE / (double)h->m;
    for (int64_t from = 0, to; from < h->m; from = to) {
        for (to = from + 1; to < h->m && h->label[to] == h->label[from]; to++) {
        }
        double at = STRIP + cell * (double)from, size = cell * (double)(to - from);
        clv_text_add(text, "<path");
        clv_put_cluster(text, h->label[from]);
        clv_text_add(text, " fill=\"");
        clv_put_color(text, h->label[from]);
        clv_text_add(text, "\" d=\"M");
        clv_put_tenths(text, at);
        clv_text_add(text, " 0h");
        clv_put_tenths(text, size);
        clv_text_add(text, "v%dh-", STRIP - 2);
        clv_put_tenths(text, size);
        clv_text_add(text, "zM0 ");
        clv_put_tenths(text, at);
        clv_text_add(text, "v");
        clv_put_tenths(text, size);
        clv_text_add(text, "h%dv-", STRIP - 2);
        clv_put_tenths(text, size);
        clv_text_add(text, "z\"/>\n");
    }
}

static clv_status put_heat(const clv_page *page, const heat *h) {
    clv_text *text = page->text;
    bool of_inputs = page->report->partitions != NULL;
    clv_page_open(text, of_inputs ? "Co-association" : "Similarities");
    clv_text_add(text,
                 "<p class=\"note\">Objects by cluster, left to right and top to bottom; the lighter, the %s, from ",
                 of_inputs ? "larger the share of the inputs that put both together" : "more similar");
    clv_put_rounded(text, h->least, 3);
    clv_text_add(text, " to ");
    clv_put_rounded(text, h->most, 3);
    if (h->order) {
        clv_page_put_share(page, h->m);
    } else {
        clv_text_add(text, " by the root; a cell is the mean over a block of objects");
    }
    clv_text_add(text, ".</p>\n");
    clv_svg_open(text, "heat", STRIP + SIDE, STRIP + SIDE,
                 of_inputs ? "heat map of the co-association, objects ordered by cluster"
                           : "heat map of the similarities, objects ordered by cluster");
    CLV_TRY(put_cells(text, h));
    put_strips(text, h);
    clv_text_add(text, "</svg>\n<p class=\"data\" id=\"heat-%s\" hidden>", h->order ? "order" : "labels");
    for (int64_t i = 0; i < h->m; i++) {
        clv_text_add(text, "%s%lld", i > 0 ? " " : "", h->order ? (long long)h->order[i] : (long long)h->label[i]);
    }
    clv_text_add(text, "</p>\n");
    clv_page_close(text);
    return CLV_OK;
}

clv_status clv_page_heat(const clv_page *page) {
    const clv_result *result = page->result;
    const clv_affinity *a = page->similarities;
    if (!a || !result->labels || page->count < 2 ||
        clv_affinity_size(a) != (page->of_sample ? page->count : result->n)) {
        return CLV_OK;
    }
    clv_affinity_info info;
    heat h = {0};
    clv_affinity_describe(a, &info);
    bool many = info.sparse && result->n > CELLS;
    bool fits = result->k <= CELLS / 2 && result->n <= ROOM / GROUP && result->left_out < result->n;
    clv_status status = !many ? sample_cells(page, &h) : fits ? mean_cells(page, &h) : CLV_OK;
    if (status == CLV_OK) {
        find_range(&h);
    }
    status = status == CLV_OK && h.m > 0 ? put_heat(page, &h) : status;
    free_heat(page->ctx, &h);
    return status;
}
