/* From points or a given matrix to an operator: which home, how many bytes, and making it. */
#include "affinity/affinity.h"

#include "base/options.h"

#include <math.h>
#include <string.h>

#define T clv_affinity_options
static const clv_option affinity_options[] = {
    CLV_OPT_CHOICE(T, kind, "affinity", CLV_AFFINITY_GAUSSIAN,
                   "gaussian|exponential|cosine|distance|minimax|knn|precomputed", "similarity of two objects"),
    CLV_OPT_REAL(T, gamma, "gamma", NAN, 0, 1e300, "auto", "G",
                 "scale of gaussian and exponential; weights of knn (1 if auto)"),
    CLV_OPT_INT(T, neighbors, "neighbors", 0, 15, 1, INT32_MAX, NULL, "N", "neighbors of an object in the knn graph"),
    CLV_OPT_FLAG(T, zero_diagonal, "zero-diagonal", "keep-diagonal", 0, "whether an object is similar to itself"),
    CLV_OPT_FLAG(T, symmetrize, "symmetrize", NULL, 0, "take (A + A')/2 of a given affinity"),
    CLV_OPT_CHOICE(T, home, "home", CLV_HOME_AUTO, "auto|dense-f64|dense-f32|computed|sparse|low-rank",
                   "where the affinity lives; auto: by the budget"),
    CLV_OPT_BYTES(T, memory, "memory", "auto", "memory budget, as 500M or 2G; auto: half of the machine's"),
};
#undef T

const clv_option_table *clv_affinity_table(void) {
    static const clv_option_table table = {"affinity", affinity_options, CLV_COUNT(affinity_options)};
    return &table;
}

void clv_affinity_defaults(clv_affinity_options *options) {
    memset(options, 0, sizeof *options);
    clv_options_defaults(clv_affinity_table(), options);
}

/* --- the plan --- */

static int64_t dense_bytes(int64_t n, clv_home home) {
    int64_t entries, bytes;
    int64_t size = home == CLV_HOME_DENSE32 ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
    return clv_mul(n, n, &entries) && clv_mul(entries, size, &bytes) ? bytes : INT64_MAX;
}

static int64_t plus(int64_t a, int64_t b) {
    int64_t sum;
    return clv_add(a, b, &sum) ? sum : INT64_MAX;
}

/* Bytes held by what the entries are computed from, and the most while it is made. */
static void source_bytes(const clv_matrix *points, const clv_affinity_options *options, int64_t *held, int64_t *peak) {
    int64_t n = points->rows, panels = clv_panels_bytes(n, points->cols);
    switch ((clv_affinity_kind)options->kind) {
    case CLV_AFFINITY_COSINE:
        *held = *peak = clv_panels_bytes(n, plus(points->cols, 1));
        break;
    case CLV_AFFINITY_MINIMAX:
        *held = 3 * 8 * n;
        *peak = plus(panels, *held + (24 + 5 * 8 + 8 + 1) * n);
        break;
    case CLV_AFFINITY_KNN: /* about half of the neighbor pairs are mutual */
        *held = plus((3 * options->neighbors / 2 + 1) * 12 * n, 8 * n);
        *peak = plus(plus(panels, *held), (options->neighbors * 24 + 16) * n);
        break;
    default:
        *held = *peak = panels;
        break;
    }
}

/* The home that serves when n^2 numbers do not fit. */
static clv_home small_home(clv_affinity_kind kind) {
    return kind == CLV_AFFINITY_COSINE ? CLV_HOME_LOWRANK : CLV_HOME_COMPUTED;
}

static bool home_suits(const clv_matrix *points, const clv_affinity_options *options) {
    clv_home home = options->home;
    switch ((clv_affinity_kind)options->kind) {
    case CLV_AFFINITY_PRECOMPUTED:
        return home == (clv_is_sparse(points) ? CLV_HOME_SPARSE
                                              : (points->scalar == CLV_F32 ? CLV_HOME_DENSE32 : CLV_HOME_DENSE64));
    case CLV_AFFINITY_KNN:
        return home == CLV_HOME_SPARSE;
    default:
        return home == CLV_HOME_DENSE64 || home == CLV_HOME_DENSE32 || home == small_home(options->kind);
    }
}

static clv_home choose_home(const clv_matrix *points, const clv_affinity_options *options, int64_t room) {
    int64_t n = points->rows, held, peak;
    if (options->home != CLV_HOME_AUTO) {
        return options->home;
    }
    if (options->kind == CLV_AFFINITY_PRECOMPUTED) {
        return clv_is_sparse(points) ? CLV_HOME_SPARSE
                                     : (points->scalar == CLV_F32 ? CLV_HOME_DENSE32 : CLV_HOME_DENSE64);
    }
    if (options->kind == CLV_AFFINITY_KNN) {
        return CLV_HOME_SPARSE;
    }
    if (options->kind == CLV_AFFINITY_COSINE && points->cols < n / 4) {
        return CLV_HOME_LOWRANK; /* exact, and a pass over it is cheaper than one over n^2 numbers */
    }
    source_bytes(points, options, &held, &peak);
    if (plus(dense_bytes(n, CLV_HOME_DENSE64), held) <= room) {
        return CLV_HOME_DENSE64;
    }
    return plus(dense_bytes(n, CLV_HOME_DENSE32), held) <= room ? CLV_HOME_DENSE32 : small_home(options->kind);
}

/* The same of the symmetrized copy of a given matrix; of a sparse one the most, with no entry on both sides. */
static void copy_bytes(const clv_matrix *given, clv_home home, int64_t *held, int64_t *peak) {
    *held = *peak = dense_bytes(given->rows, home);
    if (clv_is_sparse(given)) {
        int64_t once = plus(12 * given->start[given->rows], 8 * (given->rows + 1));
        *held = plus(once, 12 * given->start[given->rows]);
        *peak = plus(*held, once);
    }
}

static void count_bytes(const clv_matrix *points, const clv_affinity_options *options, clv_affinity_info *plan) {
    int64_t held = 0, peak = 0;
    plan->nonzeros = clv_is_sparse(points) ? points->start[points->rows] : points->rows * points->rows;
    if (options->kind != CLV_AFFINITY_PRECOMPUTED) {
        source_bytes(points, options, &held, &peak);
        plan->nonzeros = options->kind == CLV_AFFINITY_KNN ? held / 12 : points->rows * points->rows;
        if (plan->home == CLV_HOME_DENSE64 || plan->home == CLV_HOME_DENSE32) {
            int64_t both = plus(held, dense_bytes(points->rows, plan->home));
            held = dense_bytes(points->rows, plan->home);
            peak = peak > both ? peak : both;
        }
    } else if (options->symmetrize) {
        copy_bytes(points, plan->home, &held, &peak);
    }
    plan->bytes = (size_t)held;
    plan->peak = (size_t)peak;
}

clv_status clv_affinity_plan(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                             clv_affinity_info *out) {
    size_t now, most, budget = clv_memory_budget(options->memory);
    CLV_TRY(clv_options_check(ctx, clv_affinity_table(), options));
    if (points->rows < 1 || points->cols < 1) {
        return clv_fail(ctx, CLV_EDATA, "there are no points: %lld rows and %lld columns", (long long)points->rows,
                        (long long)points->cols);
    }
    if (points->rows > INT32_MAX || points->cols > INT32_MAX) {
        return clv_fail(ctx, CLV_EDATA, "%lld rows and %lld columns: at most 2147483647 of each can be handled",
                        (long long)points->rows, (long long)points->cols);
    }
    clv_affinity_kind kind = options->kind;
    if (kind == CLV_AFFINITY_KNN && options->neighbors >= points->rows) {
        return clv_fail(ctx, CLV_EUSAGE, "neighbors = %lld is not less than the %lld objects%s",
                        (long long)options->neighbors, (long long)points->rows,
                        points->rows > 1 ? "; give --neighbors a smaller number" : ", which have none");
    }
    if (options->home != CLV_HOME_AUTO && !home_suits(points, options)) {
        return clv_fail(ctx, CLV_EUSAGE, "home = %s cannot hold this %s affinity", clv_home_name(options->home),
                        clv_affinity_kind_name(kind));
    }
    clv_context_memory(ctx, &now, &most);
    int64_t room = (int64_t)(budget > now ? budget - now : 0);
    *out = (clv_affinity_info){.kind = kind, .gamma = options->gamma, .n = points->rows};
    out->home = choose_home(points, options, room);
    count_bytes(points, options, out);
    if (out->peak > (size_t)room) {
        return clv_fail(
            ctx, CLV_ENOMEM,
            "the %s affinity of %lld objects needs %zu bytes in its %s home, and %lld of the budget of %zu are "
            "left; allow more memory or choose another home",
            clv_affinity_kind_name(kind), (long long)points->rows, out->peak, clv_home_name(out->home), (long long)room,
            budget);
    }
    return CLV_OK;
}

/* --- making --- */

static clv_status set_kernel(clv_context *ctx, const clv_affinity_options *options, int threads, clv_affinity *a) {
    clv_computed_home *home = a->state;
    home->gamma = options->gamma;
    if (a->info.kind == CLV_AFFINITY_DISTANCE) {
        a->info.gamma = NAN;
        return clv_largest_distance(ctx, &home->panels, threads, &home->top);
    }
    if (isnan(options->gamma)) {
        CLV_TRY(clv_gamma_auto(ctx, &home->panels, a->info.kind, &home->gamma));
    }
    a->info.gamma = home->gamma;
    return CLV_OK;
}

static clv_status make_computed(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                                int threads, clv_affinity **out) {
    CLV_TRY(clv_affinity_new(ctx, &clv_computed_functions, sizeof(clv_computed_home), out));
    (*out)->info.kind = options->kind;
    CLV_TRY(clv_panels_new(ctx, points, threads, &((clv_computed_home *)(*out)->state)->panels));
    return set_kernel(ctx, options, threads, *out);
}

static clv_status make_minimax(clv_context *ctx, const clv_matrix *points, int threads, clv_affinity **out) {
    clv_panels panels;
    CLV_TRY(clv_affinity_new(ctx, &clv_minimax_functions, sizeof(clv_minimax_home), out));
    (*out)->info.gamma = NAN;
    CLV_TRY(clv_panels_new(ctx, points, threads, &panels));
    clv_status status = clv_minimax_tree(ctx, &panels, threads, (*out)->state);
    clv_panels_free(&panels);
    return status;
}

static clv_status make_cosine(clv_context *ctx, const clv_matrix *points, clv_affinity **out) {
    CLV_TRY(clv_affinity_new(ctx, &clv_lowrank_functions, sizeof(clv_lowrank_home), out));
    (*out)->info.gamma = NAN;
    clv_lowrank_home *home = (*out)->state;
    int64_t n = points->rows, rank = points->cols + 1;
    home->owned = clv_alloc(ctx, clv_panels_bytes(n, rank), 1);
    home->factor = home->owned;
    home->rank = rank;
    if (!home->owned) {
        return CLV_ENOMEM;
    }
    clv_cosine_factor(points, home->owned);
    return CLV_OK;
}

static clv_status make_knn(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options, int threads,
                           clv_affinity **out) {
    clv_panels panels;
    CLV_TRY(clv_affinity_new(ctx, &clv_sparse_functions, sizeof(clv_sparse_home), out));
    clv_sparse_home *home = (*out)->state;
    CLV_TRY(clv_panels_new(ctx, points, threads, &panels));
    clv_status status =
        clv_knn_graph(ctx, &panels, options->neighbors, options->gamma, !options->zero_diagonal, threads, &home->owned);
    clv_panels_free(&panels);
    CLV_TRY(status);
    home->graph = home->owned->matrix;
    (*out)->info.gamma = options->gamma;
    return CLV_OK;
}

/* The stored diagonal of a borrowed matrix, for the sums to leave it out again. */
static clv_status keep_diagonal_aside(clv_context *ctx, clv_affinity *a) {
    clv_dense_home *home = a->state;
    int64_t n = a->info.n;
    home->diagonal = CLV_NEW(ctx, double, n);
    if (!home->diagonal) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < n; i++) {
        home->diagonal[i] = a->home->entry(a, i, i);
    }
    return CLV_OK;
}

static clv_status take_graph(clv_context *ctx, const clv_matrix *given, const clv_affinity_options *options,
                             clv_affinity **out) {
    CLV_TRY(clv_affinity_new(ctx, &clv_sparse_functions, sizeof(clv_sparse_home), out));
    clv_sparse_home *home = (*out)->state;
    (*out)->info.gamma = NAN;
    if (options->symmetrize) {
        CLV_TRY(clv_symmetrize_sparse(ctx, given, &home->owned));
        given = &home->owned->matrix;
    }
    home->graph = *given;
    return CLV_OK;
}

/* The mean of a dense matrix and its transpose, with the diagonal as asked for. */
static clv_status copy_symmetric(clv_context *ctx, const clv_matrix *given, const clv_affinity_options *options,
                                 int threads, clv_affinity *a) {
    clv_dense_home *home = a->state;
    int64_t n = given->rows;
    home->owned = clv_alloc(ctx, dense_bytes(n, a->info.home), 1);
    home->values = home->owned;
    if (!home->owned) {
        return CLV_ENOMEM;
    }
    CLV_TRY(clv_symmetrize_dense(ctx, given, threads, home->owned));
    for (int64_t i = 0; options->zero_diagonal && i < n; i++) {
        if (given->scalar == CLV_F32) {
            ((float *)home->owned)[i * n + i] = 0;
        } else {
            ((double *)home->owned)[i * n + i] = 0;
        }
    }
    return CLV_OK;
}

static clv_status make_precomputed(clv_context *ctx, const clv_matrix *given, const clv_affinity_options *options,
                                   int threads, clv_affinity **out) {
    CLV_TRY(clv_affinity_check(ctx, given, options, threads));
    if (clv_is_sparse(given)) {
        return take_graph(ctx, given, options, out);
    }
    CLV_TRY(clv_affinity_new(ctx, &clv_dense_functions, sizeof(clv_dense_home), out));
    (*out)->info = (clv_affinity_info){
        .n = given->rows, .home = given->scalar == CLV_F32 ? CLV_HOME_DENSE32 : CLV_HOME_DENSE64, .gamma = NAN};
    if (options->symmetrize) {
        return copy_symmetric(ctx, given, options, threads, *out);
    }
    ((clv_dense_home *)(*out)->state)->values = given->values;
    return options->zero_diagonal ? keep_diagonal_aside(ctx, *out) : CLV_OK;
}

/* What the entries come from: everything but a dense home is this already. */
static clv_status make_source(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                              int threads, clv_affinity **out) {
    switch ((clv_affinity_kind)options->kind) {
    case CLV_AFFINITY_PRECOMPUTED:
        return make_precomputed(ctx, points, options, threads, out);
    case CLV_AFFINITY_KNN:
        return make_knn(ctx, points, options, threads, out);
    case CLV_AFFINITY_COSINE:
        return make_cosine(ctx, points, out);
    case CLV_AFFINITY_MINIMAX:
        return make_minimax(ctx, points, threads, out);
    default:
        return make_computed(ctx, points, options, threads, out);
    }
}

/* Write the source out as a dense home of the planned type. */
static clv_status make_dense(const clv_affinity *source, clv_home type, int threads, clv_affinity **out) {
    clv_context *ctx = source->ctx;
    CLV_TRY(clv_affinity_new(ctx, &clv_dense_functions, sizeof(clv_dense_home), out));
    clv_dense_home *home = (*out)->state;
    home->owned = clv_alloc(ctx, dense_bytes(source->info.n, type), 1);
    home->values = home->owned;
    if (!home->owned) {
        return CLV_ENOMEM;
    }
    (*out)->info.gamma = source->info.gamma;
    return clv_dense_fill(source, home->owned, type == CLV_HOME_DENSE32 ? CLV_F32 : CLV_F64, threads);
}

static void finish_info(clv_affinity *a, const clv_affinity_info *plan, const clv_affinity_options *options,
                        size_t held_before) {
    size_t now, most;
    double gamma = a->info.gamma;
    clv_context_memory(a->ctx, &now, &most);
    a->info = *plan;
    a->info.gamma = gamma;
    a->info.bytes = now - held_before;
    if (a->home == &clv_sparse_functions) {
        const clv_matrix *graph = &((clv_sparse_home *)a->state)->graph;
        a->info.nonzeros = graph->start[graph->rows];
    }
    a->zero_diagonal = options->zero_diagonal;
    a->budget = clv_memory_budget(options->memory);
    a->threads = clv_threads(options->threads);
}

clv_status clv_affinity_build(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                              clv_affinity **out) {
    clv_affinity_info plan;
    clv_affinity *source = NULL, *dense = NULL;
    int threads = clv_threads(options->threads);
    size_t held, most;
    *out = NULL;
    CLV_TRY(clv_affinity_plan(ctx, points, options, &plan));
    if (options->kind != CLV_AFFINITY_PRECOMPUTED) {
        CLV_TRY(clv_matrix_check(ctx, "points", points, CLV_LARGEST_POINT));
    }
    clv_context_memory(ctx, &held, &most);
    clv_status status = make_source(ctx, points, options, threads, &source);
    bool to_dense =
        options->kind != CLV_AFFINITY_PRECOMPUTED && (plan.home == CLV_HOME_DENSE64 || plan.home == CLV_HOME_DENSE32);
    if (status == CLV_OK && to_dense) {
        source->info.n = plan.n;
        source->zero_diagonal = options->zero_diagonal;
        status = make_dense(source, plan.home, threads, &dense);
        clv_affinity_free(source);
        source = dense;
    }
    if (status < 0) {
        clv_affinity_free(source);
        return status;
    }
    finish_info(source, &plan, options, held);
    *out = source;
    return CLV_OK;
}

clv_status clv_affinity_lowrank(clv_context *ctx, const clv_matrix *factor, const clv_affinity_options *options,
                                clv_affinity **out) {
    *out = NULL;
    if (clv_is_sparse(factor) || factor->scalar != CLV_F64) {
        return clv_fail(ctx, CLV_EUSAGE, "the factor of a low-rank affinity must be dense and double");
    }
    CLV_TRY(clv_affinity_new(ctx, &clv_lowrank_functions, sizeof(clv_lowrank_home), out));
    clv_lowrank_home *home = (*out)->state;
    home->factor = factor->values;
    home->rank = factor->cols;
    (*out)->info = (clv_affinity_info){.kind = CLV_AFFINITY_PRECOMPUTED,
                                       .gamma = NAN,
                                       .home = CLV_HOME_LOWRANK,
                                       .n = factor->rows,
                                       .nonzeros = factor->rows * factor->rows};
    (*out)->zero_diagonal = options->zero_diagonal;
    (*out)->budget = clv_memory_budget(options->memory);
    (*out)->threads = clv_threads(options->threads);
    return CLV_OK;
}

clv_status clv_affinity_materialize(const clv_affinity *a, clv_data **out) {
    clv_context *ctx = a->ctx;
    size_t now, most;
    if (a->home == &clv_sparse_functions && !a->zero_diagonal) {
        CLV_TRY(clv_data_new(ctx, "affinity", out));
        (*out)->matrix = ((const clv_sparse_home *)a->state)->graph;
        return CLV_OK;
    }
    const clv_dense_home *dense = a->state;
    if (a->home == &clv_dense_functions && !dense->diagonal) {
        CLV_TRY(clv_data_new(ctx, "affinity", out));
        (*out)->matrix = (clv_matrix){.rows = a->info.n,
                                      .cols = a->info.n,
                                      .scalar = a->info.home == CLV_HOME_DENSE32 ? CLV_F32 : CLV_F64,
                                      .values = dense->values};
        return CLV_OK;
    }
    clv_context_memory(ctx, &now, &most);
    int64_t bytes = dense_bytes(a->info.n, CLV_HOME_DENSE64);
    if (plus(bytes, (int64_t)now) > (int64_t)a->budget) {
        return clv_fail(ctx, CLV_ENOMEM,
                        "the matrix of %lld objects needs %lld bytes, more than the budget of %zu allows",
                        (long long)a->info.n, (long long)bytes, a->budget);
    }
    CLV_TRY(clv_data_new_dense(ctx, "affinity", a->info.n, a->info.n, CLV_F64, out));
    clv_status status = clv_dense_fill(a, (*out)->values, CLV_F64, a->threads);
    if (status < 0) {
        clv_data_free(*out);
        *out = NULL;
    }
    return status;
}
