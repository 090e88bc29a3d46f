/* Home on a graphics card: entries of gaussian, exponential, cosine and distance kernels made from points that lie on
 * the card, and given dense matrices that fit there. The computing is that of the plugin libcleave_cuda.so
 * (plugins/cuda), behind the table of cuda.h; here are memory, messages, limits, and what is faster on the host: single
 * entries, of the copy of the points that is kept for them. On the card it takes the points, and of a call its vectors.
 * A pass costs n^2 p operations there, and vectors of n numbers on the way there and back. */
#include "affinity/card.h"
#include "affinity/home.h"
#include "affinity/kinds.h"

#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct device {
    const clv_cuda *card;
    clv_cuda_operator *there;
    clv_panels panels; /* not of a given matrix; of cosine, its factor */
    clv_matrix given;
    double gamma, top;
} device;

static const device *home_of(const clv_affinity *a) {
    return a->state;
}

/* --- calls of the plugin --- */

/* The status of a function of the table. */
#define ON_CARD(a, doing, function, ...)                                                                               \
    do {                                                                                                               \
        clv_cuda_call call_ = clv_card_call((a)->ctx, (a)->threads);                                                   \
        int status_ = home_of(a)->card->function(&call_, home_of(a)->there, __VA_ARGS__);                              \
        return clv_card_status((a)->ctx, status_, &call_, doing);                                                      \
    } while (0)

static int32_t *narrow(clv_context *ctx, const int64_t *objects, int64_t first, int64_t count) {
    int32_t *out = CLV_NEW(ctx, int32_t, count);
    for (int64_t m = 0; out && m < count; m++) {
        out[m] = (int32_t)(objects ? objects[m] : first + m);
    }
    return out;
}

/* --- entries --- */

static double dot_of(const clv_panels *panels, int64_t i, int64_t j) {
    const double *x = panels->values + i / CLV_TILE * panels->features * CLV_TILE + i % CLV_TILE;
    const double *y = panels->values + j / CLV_TILE * panels->features * CLV_TILE + j % CLV_TILE;
    double sum = 0;
    for (int64_t f = 0; f < panels->features; f++) {
        sum += x[f * CLV_TILE] * y[f * CLV_TILE];
    }
    return sum > 0 ? sum : 0;
}

static clv_status device_entry(const clv_affinity *a, int64_t i, int64_t j, double *out) {
    const device *home = home_of(a);
    if (i == j && a->zero_diagonal) {
        *out = 0;
    } else if (home->given.values) {
        *out = clv_stored(&home->given, i * a->info.n + j);
    } else if (a->info.kind == CLV_AFFINITY_COSINE) {
        *out = dot_of(&home->panels, i, j);
    } else {
        *out = clv_distance(&home->panels, i, j);
        clv_to_similarity(a->info.kind, home->gamma, home->top, out, 1);
    }
    return CLV_OK;
}

/* Of kinds by distance, all the same. */
static clv_status device_diagonal(const clv_affinity *a, double *out) {
    const device *home = home_of(a);
    bool varies = !a->zero_diagonal && (home->given.values || a->info.kind == CLV_AFFINITY_COSINE);
    double own = 0;
    if (!a->zero_diagonal && !varies) {
        clv_to_similarity(a->info.kind, home->gamma, home->top, &own, 1);
    }
    for (int64_t i = 0; i < a->info.n; i++) {
        out[i] = own;
        CLV_TRY(varies ? device_entry(a, i, i, out + i) : CLV_OK);
    }
    return CLV_OK;
}

static clv_status entries_of(const clv_affinity *a, const int32_t *rows, int64_t row_count, const int32_t *columns,
                             int64_t column_count, double *out) {
    ON_CARD(a, "computing similarities", entries, rows, row_count, columns, column_count, out);
}

static clv_status device_column(const clv_affinity *a, int64_t i, double *out) {
    return entries_of(a, &(int32_t){(int32_t)i}, 1, NULL, a->info.n, out);
}

static clv_status device_block(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    int32_t *objects = narrow(a->ctx, NULL, first, count);
    clv_status status = objects ? entries_of(a, objects, count, objects, count, out) : CLV_ENOMEM;
    clv_free(a->ctx, objects);
    return status;
}

/* Rows of so many bytes at a time. */
enum { ROWS_BYTES = 1 << 26 };

static clv_status fill_rows(const clv_affinity *a, const clv_sheet *s, int64_t first, int64_t count, double *rows) {
    int32_t *objects = narrow(a->ctx, NULL, first, count);
    clv_status status = objects ? entries_of(a, objects, count, NULL, s->n, rows) : CLV_ENOMEM;
    for (int64_t r = 0; status == CLV_OK && r < count; r++) {
        clv_sheet_line(s, first + r, 0, rows + r * s->n, s->n);
    }
    clv_free(a->ctx, objects);
    return status;
}

static clv_status device_fill(const clv_affinity *a, const clv_sheet *s, int threads) {
    int64_t step = 1 + ROWS_BYTES / (8 * s->n);
    double *rows = CLV_NEW(a->ctx, double, (step < s->count ? step : s->count) * s->n);
    clv_status status = rows ? CLV_OK : CLV_ENOMEM;
    (void)threads;
    for (int64_t r = 0; status == CLV_OK && r < s->count; r += step) {
        status = fill_rows(a, s, s->first + r, s->count - r < step ? s->count - r : step, rows);
    }
    clv_free(a->ctx, rows);
    return status;
}

/* Panels of the points, or of the factor of cosine. */
static clv_status make_panels(clv_context *ctx, const clv_matrix *points, int kind, int threads, clv_panels *out) {
    if (kind != CLV_AFFINITY_COSINE) {
        return clv_panels_new(ctx, points, threads, out);
    }
    double *factor = clv_alloc(ctx, clv_panels_bytes(points->rows, points->cols + 1), 1);
    if (!factor) {
        return CLV_ENOMEM;
    }
    clv_cosine_factor(points, factor);
    clv_matrix wide = {.rows = points->rows, .cols = points->cols + 1, .scalar = CLV_F64, .values = factor};
    clv_status status = clv_panels_new(ctx, &wide, threads, out);
    clv_free(ctx, factor);
    return status;
}

static clv_status cross_there(const clv_affinity *a, const clv_panels *fresh, const int32_t *columns, int64_t count,
                              double *out) {
    ON_CARD(a, "comparing new objects with the old ones", cross, fresh->values, fresh->n, columns, count, out);
}

static clv_status device_cross(const clv_affinity *a, const clv_matrix *fresh, const int32_t *columns, int64_t count,
                               double *out) {
    clv_panels panels = {0};
    clv_status status = make_panels(a->ctx, fresh, a->info.kind, a->threads, &panels);
    if (status == CLV_OK) {
        status = cross_there(a, &panels, columns, count, out);
    }
    clv_panels_free(&panels);
    return status;
}

/* --- products and sums --- */

static clv_status product_of(const clv_affinity *a, const int32_t *objects, int64_t count, const double *x, int64_t k,
                             double *y, int how) {
    ON_CARD(a, "multiplying by the affinity", product, objects, count, x, k, y, how);
}

static clv_status device_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    (void)threads;
    return product_of(a, NULL, a->info.n, x, k, y, 0);
}

static clv_status device_rough_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int threads) {
    (void)threads;
    return product_of(a, NULL, a->info.n, x, k, y, CLV_CUDA_ROUGH);
}

static clv_status device_combine(const clv_affinity *a, const clv_terms *terms, double *y, int threads) {
    int32_t *objects = narrow(a->ctx, terms->objects, 0, terms->count);
    clv_status status = objects ? product_of(a, objects, terms->count, terms->weights, 1, y, 0) : CLV_ENOMEM;
    (void)threads;
    clv_free(a->ctx, objects);
    return status;
}

static clv_status device_add_rows(const clv_affinity *a, const clv_change *change, double *y, int threads) {
    int32_t *objects = narrow(a->ctx, NULL, change->first, change->count);
    clv_status status =
        objects ? product_of(a, objects, change->count, change->d, change->k, y, CLV_CUDA_ADD) : CLV_ENOMEM;
    (void)threads;
    clv_free(a->ctx, objects);
    return status;
}

static clv_status sums_of(const clv_affinity *a, const clv_cuda_moves *moves, int64_t k, double *y, int add) {
    ON_CARD(a, "adding up similarities", sums, moves, k, y, add);
}

static clv_status all_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int rough) {
    return sums_of(a, &(clv_cuda_moves){.to = labels, .count = a->info.n, .rough = rough}, k, y, 0);
}

static clv_status device_group_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads) {
    (void)threads;
    return all_sums(a, labels, k, y, 0);
}

static clv_status device_rough_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y, int threads) {
    (void)threads;
    return all_sums(a, labels, k, y, 1);
}

/* Objects that a thread adds at a time, and for how many there is one. */
enum { ADDED = 1 << 16, WORTH_A_THREAD = 1 << 18 };

static void add_column(int64_t n, const double *column, double *from, double *to, int threads) {
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static)
    for (int64_t at = 0; at < n; at += ADDED) {
        int64_t count = n - at < ADDED ? n - at : ADDED;
        if (from) {
            clv_kernels->f64.deduct(from + at, column + at, count);
        }
        if (to) {
            clv_kernels->f64.accumulate(to + at, column + at, count);
        }
    }
}

/* One move: its column, added here, which costs less than to send the sums. */
static clv_status device_move(const clv_affinity *a, int64_t i, double *from, double *to) {
    int64_t n = a->info.n, most = n / WORTH_A_THREAD + 1;
    double *column = CLV_NEW(a->ctx, double, n);
    clv_status status = column ? device_column(a, i, column) : CLV_ENOMEM;
    if (status == CLV_OK) {
        add_column(n, column, from, to, a->threads < most ? a->threads : (int)most);
    }
    clv_free(a->ctx, column);
    return status;
}

/* The lists of those that change their labels: objects, from, to, each with room for all. */
static int64_t list_moves(const clv_moves *moves, int32_t *lists, int64_t *labels) {
    int32_t *from = lists + moves->count, *to = from + moves->count;
    int64_t count = 0;
    *labels = 0;
    for (int64_t m = 0; m < moves->count; m++) {
        int64_t i = moves->objects[m];
        int32_t before = moves->before[i], after = moves->after[i];
        if (before != after) {
            lists[count] = (int32_t)i;
            from[count] = before < 0 ? -1 : before;
            to[count++] = after < 0 ? -1 : after;
            *labels = before >= *labels ? before + 1 : *labels;
            *labels = after >= *labels ? after + 1 : *labels;
        }
    }
    return count;
}

/* Up to this many moves their columns are sent, above it the sums; rough moves have the same bits however many. */
enum { FEW_MOVES = 4 };

static clv_status move_some(const clv_affinity *a, const clv_moves *moves, double *y, int rough) {
    int64_t n = a->info.n, k, count;
    int32_t *lists = CLV_NEW(a->ctx, int32_t, 3 * moves->count);
    clv_status status = lists ? CLV_OK : CLV_ENOMEM;
    if (!lists) {
        return status;
    }
    count = list_moves(moves, lists, &k);
    const int32_t *from = lists + moves->count, *to = from + moves->count;
    bool few = count <= FEW_MOVES && !rough;
    for (int64_t m = 0; few && m < count && status == CLV_OK; m++) {
        status = device_move(a, lists[m], from[m] >= 0 ? y + from[m] * n : NULL, to[m] >= 0 ? y + to[m] * n : NULL);
    }
    if (!few && count > 0) {
        status = sums_of(a, &(clv_cuda_moves){lists, from, to, count, rough}, k, y, 1);
    }
    clv_free(a->ctx, lists);
    return status;
}

static clv_status device_move_many(const clv_affinity *a, const clv_moves *moves, double *y, int threads) {
    (void)threads;
    return move_some(a, moves, y, 0);
}

static clv_status device_rough_moves(const clv_affinity *a, const clv_moves *moves, double *y, int threads) {
    (void)threads;
    return move_some(a, moves, y, 1);
}

/* --- sums that stay there --- */

static clv_status device_keep(const clv_affinity *a, int64_t k, const double *y, const double *degree, void **kept) {
    ON_CARD(a, "sending sums", keep, k, y, degree, (clv_cuda_kept **)kept);
}

/* The same for what is kept. */
#define ON_KEPT(a, doing, function, ...)                                                                               \
    do {                                                                                                               \
        clv_cuda_call call_ = clv_card_call((a)->ctx, (a)->threads);                                                   \
        int status_ = home_of(a)->card->function(&call_, __VA_ARGS__);                                                 \
        return clv_card_status((a)->ctx, status_, &call_, doing);                                                      \
    } while (0)

static clv_status follow_there(const clv_affinity *a, void *kept, const clv_cuda_moves *moves, const int32_t *labels,
                               double *own) {
    ON_KEPT(a, "adding up similarities", follow, kept, moves, labels, own);
}

static clv_status device_kept_follow(const clv_affinity *a, void *kept, const clv_moves *moves, double *own) {
    int32_t *lists = CLV_NEW(a->ctx, int32_t, 3 * moves->count);
    clv_status status = lists ? CLV_OK : CLV_ENOMEM;
    if (lists) {
        int64_t k, count = list_moves(moves, lists, &k);
        const int32_t *from = lists + moves->count, *to = from + moves->count;
        status = follow_there(a, kept, &(clv_cuda_moves){lists, from, to, count, 1}, moves->after, own);
    }
    clv_free(a->ctx, lists);
    return status;
}

static clv_status device_kept_choose(const clv_affinity *a, void *kept, const clv_kept_scores *by,
                                     const int32_t *labels, int32_t *wanted) {
    clv_cuda_scores scores = {by->inverse, by->ratio, by->shift, by->margin, by->ties};
    ON_KEPT(a, "choosing clusters", choose, kept, &scores, labels, wanted);
}

static clv_status device_kept_back(const clv_affinity *a, void *kept, double *y) {
    ON_KEPT(a, "fetching sums", back, kept, y);
}

static void device_let_go(const clv_affinity *a, void *kept) {
    home_of(a)->card->let_go(kept);
}

static clv_status device_moments(const clv_affinity *a, int threads, double *sum, double *squares) {
    (void)threads;
    ON_CARD(a, "adding up the similarities", moments, sum, squares);
}

/* --- what else it can do --- */

static clv_status select_there(const clv_affinity *a, const int32_t *objects, int64_t m, device *to) {
    ON_CARD(a, "choosing objects", select, objects, m, &to->there);
}

static clv_status device_subset(const clv_affinity *a, const int64_t *objects, int64_t m, clv_affinity **out) {
    const device *from = home_of(a);
    if (from->given.values) {
        return clv_restricted_copy(a, objects, m, out);
    }
    CLV_TRY(clv_affinity_like(a, m, out));
    device *to = (*out)->state;
    to->card = from->card;
    to->gamma = from->gamma;
    to->top = from->top;
    CLV_TRY(clv_panels_gather(&from->panels, objects, m, a->threads, &to->panels));
    int32_t *list = narrow(a->ctx, objects, 0, m);
    clv_status status = list ? select_there(a, list, m, to) : CLV_ENOMEM;
    clv_free(a->ctx, list);
    return status;
}

static clv_status device_largest(const clv_affinity *a, double *out) {
    double largest = clv_kind_of(a->info.kind)->largest;
    *out = a->info.kind == CLV_AFFINITY_DISTANCE ? home_of(a)->top : largest;
    return CLV_OK;
}

static clv_status device_radial(const clv_affinity *a, clv_radial *out) {
    const device *home = home_of(a);
    if (home->given.values || a->info.kind == CLV_AFFINITY_COSINE) {
        return CLV_EUSAGE;
    }
    *out = (clv_radial){&home->panels, a->info.kind, home->gamma, home->top};
    return CLV_OK;
}

static clv_affinity_cost cost_of(int64_t n, int64_t features) {
    double entry = 2 * (double)features + 25, size = (double)n;
    return (clv_affinity_cost){.entry = entry, .column = size * entry, .pass = size * (size * entry)};
}

static clv_status device_cost(const clv_affinity *a, clv_affinity_cost *out) {
    *out = cost_of(a->info.n, home_of(a)->panels.features);
    return CLV_OK;
}

static void device_destroy(clv_affinity *a) {
    device *home = a->state;
    if (home->there) {
        home->card->close(home->there);
    }
    clv_panels_free(&home->panels);
}

static const clv_home_functions functions = {
    .name = "cuda",
    .state_size = sizeof(device),
    .serial = true,
    .column = device_column,
    .destroy = device_destroy,
    .entry = device_entry,
    .diagonal = device_diagonal,
    .apply = device_apply,
    .rough_apply = device_rough_apply,
    .group_sums = device_group_sums,
    .rough_sums = device_rough_sums,
    .move = device_move,
    .move_many = device_move_many,
    .rough_moves = device_rough_moves,
    .combine = device_combine,
    .moments = device_moments,
    .block = device_block,
    .add_rows = device_add_rows,
    .fill = device_fill,
    .subset = device_subset,
    .cross = device_cross,
    .largest = device_largest,
    .cost = device_cost,
    .radial = device_radial,
    .keep = device_keep,
    .kept_follow = device_kept_follow,
    .kept_choose = device_kept_choose,
    .kept_back = device_kept_back,
    .let_go = device_let_go,
};

/* --- making one --- */

enum { MOST_FEATURES = 1024 };

static bool suits(const clv_matrix *points, const clv_affinity_options *options) {
    bool given = options->kind == CLV_AFFINITY_PRECOMPUTED && !clv_is_sparse(points) && !options->symmetrize;
    bool made = options->kind == CLV_AFFINITY_GAUSSIAN || options->kind == CLV_AFFINITY_EXPONENTIAL ||
                options->kind == CLV_AFFINITY_COSINE || options->kind == CLV_AFFINITY_DISTANCE;
    return given || (made && options->landmarks == 0 && points->cols <= MOST_FEATURES);
}

/* Of the points that the entries are made of: their features, for cosine with the column of ones. */
static int64_t features_of(const clv_matrix *points, const clv_affinity_options *options) {
    return options->kind == CLV_AFFINITY_PRECOMPUTED ? 0 : points->cols + (options->kind == CLV_AFFINITY_COSINE);
}

static void plan(const clv_matrix *points, const clv_affinity_options *options, clv_affinity_info *out) {
    int64_t features = features_of(points, options);
    out->nonzeros = points->rows * points->rows;
    out->bytes = out->peak = features ? (size_t)clv_panels_bytes(points->rows, features) : 0;
    out->peak *= options->kind == CLV_AFFINITY_COSINE ? 2 : 1;
    out->cost = cost_of(points->rows, features);
    out->on_card = 1;
}

static clv_cuda_kind kind_of(int kind) {
    switch (kind) {
    case CLV_AFFINITY_GAUSSIAN:
        return CLV_CUDA_GAUSSIAN;
    case CLV_AFFINITY_EXPONENTIAL:
        return CLV_CUDA_EXPONENTIAL;
    case CLV_AFFINITY_DISTANCE:
        return CLV_CUDA_DISTANCE;
    case CLV_AFFINITY_COSINE:
        return CLV_CUDA_PRODUCT;
    default:
        return CLV_CUDA_GIVEN;
    }
}

static clv_status send(const clv_affinity *a, const clv_affinity_options *options, device *home) {
    clv_cuda_call call = clv_card_call(a->ctx, a->threads);
    clv_cuda_source source = {.kind = kind_of(options->kind),
                              .gamma = home->gamma,
                              .top = NAN,
                              .zero_diagonal = a->zero_diagonal,
                              .n = a->info.n,
                              .features = home->panels.features,
                              .panels = home->panels.values,
                              .given = home->given.values,
                              .single = home->given.scalar == CLV_F32,
                              .memory = (size_t)options->device_memory};
    int status = home->card->open(&call, &source, &home->there);
    home->top = source.top;
    return clv_card_status(a->ctx, status, &call, "building the affinity");
}

static clv_status make(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options, int threads,
                       clv_affinity **out) {
    CLV_TRY(clv_affinity_new(ctx, &functions, points->rows, options, out));
    device *home = (*out)->state;
    (*out)->info.kind = options->kind;
    (*out)->info.on_card = 1;
    CLV_TRY(clv_card_open(ctx, &home->card));
    if (options->kind == CLV_AFFINITY_PRECOMPUTED) {
        home->given = *points;
        return send(*out, options, home);
    }
    CLV_TRY(make_panels(ctx, points, options->kind, threads, &home->panels));
    if (clv_kind_of(options->kind)->has_gamma) {
        home->gamma = options->gamma;
        if (isnan(options->gamma)) {
            CLV_TRY(clv_gamma_auto(ctx, &home->panels, options->kind, &home->gamma));
        }
        (*out)->info.gamma = home->gamma;
    }
    return send(*out, options, home);
}

const clv_home_maker clv_cuda_maker = {CLV_HOME_CUDA, false, suits, plan, make};

/* --- whether to take it unasked --- */

/* Operations of a pass from which on a card is looked for: half a minute of one core. What is smaller is done before a
 * driver has started. */
#define WORTH_A_CARD 2e11

bool clv_cuda_pays(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options) {
    bool by_distance = options->kind == CLV_AFFINITY_GAUSSIAN || options->kind == CLV_AFFINITY_EXPONENTIAL;
    bool large = cost_of(points->rows, points->cols).pass >= WORTH_A_CARD;
    const clv_cuda *card;
    clv_cuda_card found;
    if (!by_distance || !large || options->looks > 0 || !suits(points, options) || clv_card_open(ctx, &card) < 0) {
        return false;
    }
    clv_cuda_call call = clv_card_call(ctx, 1);
    size_t room = options->device_memory > 0 ? (size_t)options->device_memory : SIZE_MAX;
    int64_t padded = (points->cols + 15) / 16 * 16; /* columns of tensor cores, for rows and for columns of tiles */
    return card->look(&call, &found) == CLV_CUDA_OK &&
           3 * (size_t)clv_panels_bytes(points->rows, padded) < (found.free / 4 * 3 < room ? found.free / 4 * 3 : room);
}
