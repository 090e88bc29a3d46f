/* Dense homes made: of points, written out from the home that has the entries by their definition, all columns or those
 * of a rank's own objects; of a given matrix, looked at where it lies or copied. */
#include "affinity/dense.h"
#include "affinity/kinds.h"

#include <math.h>

static clv_scalar scalar_of(const clv_affinity_options *options) {
    return options->home == CLV_HOME_DENSE32 ? CLV_F32 : CLV_F64;
}

static bool suits(const clv_matrix *points, const clv_affinity_options *options) {
    bool given = options->kind == CLV_AFFINITY_PRECOMPUTED;
    return given ? !clv_is_sparse(points) && points->scalar == scalar_of(options)
                 : options->landmarks == 0 && clv_home_source(points, options) != NULL;
}

/* Whether a stored diagonal that is to count as zero is so large that sums from which it is taken out again would lose
 * their digits: it is compared with the entries of some rows. */
static bool has_heavy_diagonal(const clv_matrix *given) {
    enum { LOOKED_AT = 64, HEAVY = 1000 };
    int64_t n = given->rows, step = n / LOOKED_AT + 1;
    double own = 0, others = 0;
    if (!given->values || given->cols != n) { /* which a plan may do without, and which is refused later */
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        own = fmax(own, fabs(clv_stored(given, i * n + i)));
        for (int64_t j = 0; j < n && i % step == 0; j++) {
            others = j == i ? others : fmax(others, fabs(clv_stored(given, i * n + j)));
        }
    }
    return own > HEAVY * others;
}

/* Whether a given matrix is copied rather than looked at where it lies. */
static bool is_copied(const clv_matrix *given, const clv_affinity_options *options) {
    return options->symmetrize || (options->zero_diagonal && has_heavy_diagonal(given));
}

static void plan(const clv_matrix *points, const clv_affinity_options *options, clv_affinity_info *out) {
    int64_t bytes = clv_square_bytes(points->rows, scalar_of(options));
    bool given = options->kind == CLV_AFFINITY_PRECOMPUTED;
    out->bytes = out->peak = given && !is_copied(points, options) ? 0 : (size_t)bytes;
    if (!given) {
        clv_affinity_info source = {.n = points->rows};
        clv_home_source(points, options)->plan(points, options, &source);
        out->peak = (size_t)clv_bytes_plus((int64_t)source.bytes, bytes);
        out->peak = source.peak > out->peak ? source.peak : out->peak;
    }
    out->nonzeros = points->rows * points->rows;
    out->cost = clv_dense_cost(points->rows);
}

/* The mean of a dense matrix and its transpose, with the diagonal as asked for. */
static clv_status copy_symmetric(const clv_matrix *given, int threads, clv_affinity *a) {
    CLV_TRY(clv_dense_room(a, given->scalar));
    void *values = ((clv_dense *)a->state)->owned;
    int64_t n = given->rows;
    CLV_TRY(clv_symmetrize_dense(a->ctx, given, threads, values));
    for (int64_t i = 0; a->zero_diagonal && i < n; i++) {
        clv_dense_write(values, given->scalar, i * n + i, 0);
    }
    return CLV_OK;
}

/* The matrix where it lies; its stored diagonal aside, for the sums to leave it out again. */
static clv_status borrow(const clv_matrix *given, clv_affinity *a) {
    clv_dense *home = a->state;
    *home = (clv_dense){.values = given->values, .scalar = given->scalar, .width = given->cols};
    if (!a->zero_diagonal) {
        return CLV_OK;
    }
    home->diagonal = CLV_NEW(a->ctx, double, a->info.n);
    for (int64_t i = 0; home->diagonal && i < a->info.n; i++) {
        home->diagonal[i] = clv_stored(given, i * a->info.n + i);
    }
    return home->diagonal ? CLV_OK : CLV_ENOMEM;
}

static clv_status write_out(const clv_affinity *source, clv_scalar scalar, int threads, clv_affinity *a) {
    CLV_TRY(clv_dense_room(a, scalar));
    a->info.gamma = source->info.gamma;
    a->info.recall = source->info.recall;
    return clv_affinity_fill(
        source, &(clv_sheet){((clv_dense *)a->state)->owned, scalar, a->info.n, 0, a->info.n, false}, threads);
}

/* Whether ranks keep the columns of their own objects alone: of a matrix whose entries can be had one by one with the
 * bits that a pass would give them. */
static bool is_shared_out(const clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options) {
    return clv_is_worth_parts(ctx, points->rows) && options->kind != CLV_AFFINITY_PRECOMPUTED &&
           clv_home_source(points, options) == &clv_computed_maker;
}

void clv_dense_plan_part(const clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                         clv_affinity_info *out) {
    bool dense_home = options->home == CLV_HOME_DENSE64 || options->home == CLV_HOME_DENSE32;
    if (!dense_home || !is_shared_out(ctx, points, options)) {
        return;
    }
    int64_t ranks = clv_rank_count(ctx), n = points->rows, blocks = (n + CLV_SHARE - 1) / CLV_SHARE;
    int64_t width = (blocks + ranks - 1) / ranks * CLV_SHARE, bytes = INT64_MAX;
    clv_affinity_info source = {.n = n};
    clv_computed_maker.plan(points, options, &source);
    (void)clv_mul(n * width, (int64_t)clv_scalar_bytes(scalar_of(options)), &bytes);
    out->bytes = out->peak = (size_t)clv_bytes_plus((int64_t)source.peak, bytes);
}

/* The columns of this rank; the source stays. */
static clv_status write_part(clv_affinity *source, clv_scalar scalar, int threads, clv_affinity *a) {
    clv_dense *home = a->state;
    int64_t last, n = a->info.n;
    clv_share_objects(a->ctx, n, CLV_SHARE, &home->first, &last);
    home->source = source;
    home->width = last - home->first;
    home->scalar = scalar;
    home->owned = clv_alloc(a->ctx, n * home->width, clv_scalar_bytes(scalar)); /* n and width fit 31 bits each */
    home->values = home->owned;
    a->info.gamma = source->info.gamma;
    clv_status status = home->owned ? CLV_OK : CLV_ENOMEM;
    clv_own_clock_begin(a->ctx);
    if (status == CLV_OK) {
        status =
            clv_affinity_fill(source, &(clv_sheet){home->owned, scalar, n, home->first, home->width, true}, threads);
    }
    clv_own_clock_end(a->ctx);
    return clv_meet(a->ctx, 5, status);
}

clv_status clv_dense_part_subset(const clv_affinity *a, const int64_t *objects, int64_t m, clv_affinity **out) {
    const clv_dense *home = a->state;
    clv_affinity *source = NULL;
    CLV_TRY(clv_affinity_like(a, m, out));
    clv_status status = clv_affinity_subset(home->source, objects, m, &source);
    if (status == CLV_OK && clv_is_worth_parts(a->ctx, m)) {
        return write_part(source, home->scalar, a->threads, *out);
    }
    if (status == CLV_OK) {
        status = write_out(source, home->scalar, a->threads, *out);
    }
    clv_affinity_free(source);
    return status;
}

static clv_status make(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options, int threads,
                       clv_affinity **out) {
    clv_scalar scalar = scalar_of(options);
    const clv_home_functions *functions = scalar == CLV_F32 ? &clv_dense32_home : &clv_dense64_home;
    if (options->kind == CLV_AFFINITY_PRECOMPUTED) {
        CLV_TRY(clv_affinity_new(ctx, functions, points->rows, options, out));
        return is_copied(points, options) ? copy_symmetric(points, threads, *out) : borrow(points, *out);
    }
    clv_affinity *source;
    clv_status status = clv_home_source(points, options)->make(ctx, points, options, threads, &source);
    if (status == CLV_OK) {
        status = clv_affinity_new(ctx, functions, points->rows, options, out);
    }
    if (status == CLV_OK && is_shared_out(ctx, points, options)) {
        return write_part(source, scalar, threads, *out);
    }
    if (status == CLV_OK) {
        status = write_out(source, scalar, threads, *out);
    }
    clv_affinity_free(source);
    return status;
}

const clv_home_maker clv_dense64_maker = {CLV_HOME_DENSE64, false, suits, plan, make};
const clv_home_maker clv_dense32_maker = {CLV_HOME_DENSE32, false, suits, plan, make};
