/* Similarities of new points to the points of an affinity, by its home if that can, else by the same kernels: a tile of
 * squared distances at a time (gaussian, exponential, distance), products of factors (cosine), or the nearest old
 * points (knn); with local scales a search for those comes first. m new points cost 2 m n p operations. A new point
 * that equals an old one gets its row of the affinity, but for a diagonal left out. */
#include "affinity/home.h"
#include "affinity/kinds.h"

#include <math.h>
#include <string.h>

enum {
    ROW_BLOCK = 32,
    BLOCK_BYTES = 1 << 25 /* similarities of so many bytes are held at a time by clv_cross_blocks */
};

static bool is_graph(const clv_cross *cross) {
    return clv_kind_of(cross->kind)->is_graph;
}

static clv_status check_kind(clv_context *ctx, const clv_affinity *a) {
    const char *no_newcomers = clv_kind_of(a->info.kind)->no_newcomers;
    if (no_newcomers) {
        return clv_fail(ctx, CLV_EUSAGE, "%s", no_newcomers);
    }
    if (a->points.rows != a->info.n) {
        return clv_fail(ctx, CLV_EUSAGE, "an affinity of some of the objects cannot be extended to new points");
    }
    return CLV_OK;
}

/* The scales of the old points, as they were found when the affinity was made. */
static clv_status find_scales(const clv_affinity *a, int threads, clv_cross *cross) {
    clv_scales scales;
    clv_status status = clv_scales_new(cross->ctx, &cross->panels, &a->options, threads, &scales);
    cross->inverse = scales.inverse;
    cross->least = scales.least;
    return status;
}

clv_status clv_cross_new(clv_context *ctx, const clv_affinity *a, int threads, clv_cross *out) {
    const clv_matrix *points = &a->points;
    *out = (clv_cross){.ctx = ctx,
                       .kind = a->info.kind,
                       .n = points->rows,
                       .features = points->cols,
                       .neighbors = a->options.neighbors,
                       .gamma = a->info.gamma};
    CLV_TRY(check_kind(ctx, a));
    if (a->home.cross) {
        out->home = a;
        return CLV_OK;
    }
    if (out->kind == CLV_AFFINITY_COSINE) {
        out->factor = clv_alloc(ctx, clv_panels_bytes(out->n, out->features + 1), 1);
        if (!out->factor) {
            return CLV_ENOMEM;
        }
        clv_cosine_factor(points, out->factor);
        return CLV_OK;
    }
    CLV_TRY(clv_panels_new(ctx, points, threads, &out->panels));
    if (clv_kind_of(out->kind)->has_scales) {
        return find_scales(a, threads, out);
    }
    return clv_kind_of(out->kind)->needs_top ? clv_largest_distance(ctx, &out->panels, threads, &out->top) : CLV_OK;
}

void clv_cross_free(clv_cross *cross) {
    clv_panels_free(&cross->panels);
    CLV_FREE_ALL(cross->ctx, cross->factor, cross->inverse, cross->columns);
    cross->factor = cross->inverse = NULL;
    cross->columns = NULL;
}

clv_status clv_cross_check(const clv_cross *cross, const clv_matrix *fresh) {
    bool fits = clv_is_sparse(fresh) ? fresh->cols <= cross->features : fresh->cols == cross->features;
    if (!fits) {
        return clv_fail(cross->ctx, CLV_EDATA, "the new points have %lld columns, but the old ones have %lld",
                        (long long)fresh->cols, (long long)cross->features);
    }
    return clv_matrix_check(cross->ctx, "the new points:", fresh, CLV_LARGEST_POINT);
}

/* --- some of the old points --- */

/* Object o of the panels to the place of object q <= o. */
static void move_point(clv_panels *panels, int64_t o, int64_t q) {
    const double *from = panels->values + o / CLV_TILE * panels->features * CLV_TILE + o % CLV_TILE;
    double *to = panels->values + q / CLV_TILE * panels->features * CLV_TILE + q % CLV_TILE;
    for (int64_t f = 0; f < panels->features; f++) {
        to[f * CLV_TILE] = from[f * CLV_TILE];
    }
}

/* Behind the last of them the last panel keeps other points instead of zeros; nothing here reads that far. */
static void narrow_panels(clv_panels *panels, const int64_t *objects, int64_t count) {
    for (int64_t q = 0; q < count; q++) {
        move_point(panels, objects[q], q);
    }
    panels->n = count;
    panels->count = (count + CLV_TILE - 1) / CLV_TILE;
}

static bool narrow_columns(clv_cross *cross, const int64_t *objects, int64_t count) {
    cross->columns = CLV_NEW(cross->ctx, int32_t, count);
    for (int64_t q = 0; cross->columns && q < count; q++) {
        cross->columns[q] = (int32_t)objects[q];
    }
    return cross->columns;
}

bool clv_cross_narrow(clv_cross *cross, const int64_t *objects, int64_t count) {
    int64_t rank = cross->features + 1;
    if (is_graph(cross) || cross->inverse || (cross->home && !narrow_columns(cross, objects, count))) {
        return false;
    }
    if (cross->home) {
        cross->n = count;
        return true;
    }
    if (cross->kind == CLV_AFFINITY_COSINE) {
        for (int64_t q = 0; q < count; q++) {
            memmove(cross->factor + q * rank, cross->factor + objects[q] * rank, (size_t)rank * sizeof *cross->factor);
        }
    } else {
        narrow_panels(&cross->panels, objects, count);
    }
    cross->n = count;
    return true;
}

/* --- blocks of rows --- */

static void fill_panel(const clv_cross *cross, const clv_panels *fresh, const double *inverse, int64_t bi,
                       double *out) {
    const clv_panels *old = &cross->panels;
    _Alignas(64) double tile[CLV_TILE * CLV_TILE];
    for (int64_t bj = 0; bj < old->count; bj++) {
        clv_distance_cross_tile(fresh, bi, old, bj, tile);
        if (inverse) {
            clv_scales_tile(inverse + bi * CLV_TILE, cross->inverse + bj * CLV_TILE, tile);
        }
        clv_to_similarity(cross->kind, cross->gamma, cross->top, tile, CLV_TILE * CLV_TILE);
        for (int64_t r = 0; r < clv_panel_size(fresh, bi); r++) {
            memcpy(out + (bi * CLV_TILE + r) * cross->n + bj * CLV_TILE, tile + r * CLV_TILE,
                   (size_t)clv_panel_size(old, bj) * sizeof *out);
        }
    }
}

static clv_status rows_by_tiles(const clv_cross *cross, const clv_panels *fresh, const double *inverse, int threads,
                                clv_data **out) {
    CLV_TRY(clv_data_new_dense(cross->ctx, "similarities", fresh->n, cross->n, CLV_F64, out));
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic)
    for (int64_t bi = 0; bi < fresh->count; bi++) {
        fill_panel(cross, fresh, inverse, bi, (*out)->values);
    }
    return CLV_OK;
}

static clv_status rows_by_panels(const clv_cross *cross, const clv_matrix *part, int threads, clv_data **out) {
    clv_panels fresh;
    CLV_TRY(clv_panels_new(cross->ctx, part, threads, &fresh));
    double *inverse = NULL;
    clv_status status = CLV_OK;
    if (cross->inverse) {
        clv_scales old = {.inverse = cross->inverse, .least = cross->least};
        status = clv_scales_fresh(cross->ctx, &fresh, &cross->panels, &old, cross->neighbors, threads, &inverse);
    }
    if (status == CLV_OK && is_graph(cross)) {
        clv_knn_weights weights = {cross->gamma, inverse, cross->inverse};
        int64_t neighbors = clv_knn_neighbors(cross->kind, cross->neighbors, cross->n);
        status = clv_knn_cross(cross->ctx, &fresh, &cross->panels, neighbors, &weights, threads, out);
    } else if (status == CLV_OK) {
        status = rows_by_tiles(cross, &fresh, inverse, threads, out);
    }
    clv_free(cross->ctx, inverse);
    clv_panels_free(&fresh);
    return status;
}

static clv_status rows_by_factors(const clv_cross *cross, const clv_matrix *part, int threads, clv_data **out) {
    int64_t rank = cross->features + 1;
    double *factor = clv_alloc(cross->ctx, clv_panels_bytes(part->rows, rank), 1);
    clv_status status =
        factor ? clv_data_new_dense(cross->ctx, "similarities", part->rows, cross->n, CLV_F64, out) : CLV_ENOMEM;
    if (status == CLV_OK) {
        double *rows = (*out)->values;
        clv_cosine_factor(part, factor);
        clv_blas_serial_begin();
#pragma omp parallel for num_threads(clv_team(threads)) schedule(dynamic)
        for (int64_t i = 0; i < part->rows; i += ROW_BLOCK) {
            int64_t some = part->rows - i < ROW_BLOCK ? part->rows - i : ROW_BLOCK;
            clv_lowrank_product(factor + i * rank, some, cross->factor, cross->n, rank, rows + i * cross->n);
        }
        clv_blas_serial_end();
    }
    clv_free(cross->ctx, factor);
    return status;
}

static clv_status rows_by_home(const clv_cross *cross, const clv_matrix *part, clv_data **out) {
    CLV_TRY(clv_data_new_dense(cross->ctx, "similarities", part->rows, cross->n, CLV_F64, out));
    return clv_affinity_newcomers(cross->home, part, cross->columns, cross->n, (*out)->values);
}

clv_status clv_cross_rows(const clv_cross *cross, const clv_matrix *part, int threads, clv_data **out) {
    clv_matrix wide = *part;
    wide.cols = cross->features; /* what a sparse matrix does not have is zero */
    *out = NULL;
    if (cross->home) {
        return rows_by_home(cross, &wide, out);
    }
    return cross->kind == CLV_AFFINITY_COSINE ? rows_by_factors(cross, &wide, threads, out)
                                              : rows_by_panels(cross, &wide, threads, out);
}

/* How many rows to take at a time: whole panels, at least one. */
static int64_t rows_of_block(const clv_cross *cross) {
    int64_t near = 24 * clv_knn_neighbors(cross->kind, cross->neighbors, cross->n);
    int64_t row = is_graph(cross) ? near : 8 * cross->n + (cross->inverse ? near : 0);
    int64_t panels = BLOCK_BYTES / (row * CLV_TILE);
    return (panels > 1 ? panels : 1) * CLV_TILE;
}

clv_status clv_cross_blocks(const clv_cross *cross, const clv_matrix *fresh, int threads, clv_cross_use use,
                            void *user) {
    int64_t step = rows_of_block(cross);
    CLV_TRY(clv_cross_check(cross, fresh));
    for (int64_t first = 0; first < fresh->rows; first += step) {
        int64_t rows = fresh->rows - first < step ? fresh->rows - first : step;
        clv_matrix part = clv_matrix_part(fresh, first, rows);
        clv_data *similarities;
        if (clv_interrupted(cross->ctx)) {
            return clv_stop_failure(cross->ctx, "comparing new objects with the old ones");
        }
        CLV_TRY(clv_cross_rows(cross, &part, threads, &similarities));
        clv_status status = use(user, clv_data_matrix(similarities), first);
        clv_data_free(similarities);
        CLV_TRY(status);
    }
    return CLV_OK;
}

/* --- all of it --- */

static clv_status check_budget(const clv_cross *cross, int64_t rows, size_t budget) {
    int64_t neighbors = clv_knn_neighbors(cross->kind, cross->neighbors, cross->n);
    int64_t row = is_graph(cross) ? 12 * neighbors + 8 : 8 * cross->n, bytes, total;
    size_t now, most;
    clv_context_memory(cross->ctx, &now, &most);
    if (!clv_mul(rows, row, &bytes) || !clv_add(bytes, (int64_t)now, &total) || (size_t)total > budget) {
        return clv_fail(cross->ctx, CLV_ENOMEM,
                        "the similarities of %lld new points to %lld old ones are more than the budget of %zu bytes "
                        "allows: take them in parts",
                        (long long)rows, (long long)cross->n, budget);
    }
    return CLV_OK;
}

static clv_status cross_all(const clv_cross *cross, const clv_matrix *fresh, const clv_affinity *a, clv_data **out) {
    CLV_TRY(clv_cross_check(cross, fresh));
    CLV_TRY(check_budget(cross, fresh->rows, a->budget));
    return clv_cross_rows(cross, fresh, a->threads, out);
}

clv_status clv_affinity_cross(const clv_affinity *a, const clv_matrix *fresh, clv_data **out) {
    *out = NULL;
    CLV_NEED(a->ctx, fresh);
    clv_cross cross;
    clv_status status = clv_cross_new(a->ctx, a, a->threads, &cross);
    if (status == CLV_OK) {
        status = cross_all(&cross, fresh, a, out);
    }
    clv_cross_free(&cross);
    return status;
}
