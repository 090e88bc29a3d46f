/* The operator as its users see it: arguments are checked, a home that wants its callers one by one gets them so, and
 * the home does the rest. */
#include "affinity/home.h"

#include "linalg/linalg.h"

#include <math.h>

/* Of the largest term of a sum: sums that are less have too few digits that are not rounding. */
#define ROUNDED_AWAY 0x1p-28

/* Threads for work on so many entries: below this, waking the others up costs more than they save. */
enum { ENTRIES_WORTH_THREADS = 1 << 18 };

/* --- making and freeing --- */

/* A lock that its holder may take again: slots may call the functions below. */
static clv_status make_lock(clv_affinity *a) {
    pthread_mutexattr_t again;
    a->lock = CLV_NEW(a->ctx, pthread_mutex_t, 1);
    if (!a->lock) {
        return CLV_ENOMEM;
    }
    pthread_mutexattr_init(&again);
    pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(a->lock, &again);
    pthread_mutexattr_destroy(&again);
    return CLV_OK;
}

static void free_parts(clv_affinity *a) {
    if (a->lock) {
        pthread_mutex_destroy(a->lock);
    }
    clv_free(a->ctx, a->lock);
    clv_free(a->ctx, a->state);
    clv_free(a->ctx, a);
}

clv_status clv_affinity_new(clv_context *ctx, const clv_home_functions *home, int64_t n,
                            const clv_affinity_options *options, clv_affinity **out) {
    clv_affinity *a = CLV_NEW0(ctx, clv_affinity, 1);
    *out = NULL;
    if (!a) {
        return CLV_ENOMEM;
    }
    a->ctx = ctx;
    a->home = *home;
    clv_home_complete(&a->home);
    a->info = (clv_affinity_info){
        .kind = CLV_AFFINITY_PRECOMPUTED, .gamma = NAN, .recall = NAN, .home = home->name, .n = n, .nonzeros = n * n};
    clv_affinity_defaults(&a->options);
    a->options = options ? *options : a->options;
    a->budget = clv_memory_budget(a->options.memory);
    a->threads = clv_threads(a->options.threads);
    a->zero_diagonal = a->options.zero_diagonal;
    a->state = clv_alloc_zero(ctx, (int64_t)home->state_size, 1);
    clv_status status = a->state ? CLV_OK : CLV_ENOMEM;
    if (status == CLV_OK && home->serial) {
        status = make_lock(a);
    }
    if (status < 0) {
        free_parts(a);
        return status;
    }
    *out = a;
    return CLV_OK;
}

clv_status clv_affinity_like(const clv_affinity *base, int64_t m, clv_affinity **out) {
    CLV_TRY(clv_affinity_new(base->ctx, &base->home, m, &base->options, out));
    (*out)->info = base->info;
    (*out)->info.n = m;
    (*out)->info.nonzeros = m * m;
    (*out)->budget = base->budget;
    (*out)->zero_diagonal = base->zero_diagonal;
    return CLV_OK;
}

void clv_affinity_free(clv_affinity *a) {
    if (a) {
        a->home.destroy(a);
        free_parts(a);
    }
}

/* --- calls of the home --- */

static void enter(const clv_affinity *a) {
    if (a->lock) {
        pthread_mutex_lock(a->lock);
    }
}

static clv_status leave(const clv_affinity *a, clv_status status) {
    if (a->lock) {
        pthread_mutex_unlock(a->lock);
    }
    return status;
}

/* The status of a slot: of a serial home, one at a time. */
#define CALL(a, slot, ...) (enter(a), leave((a), (a)->home.slot((a), __VA_ARGS__)))

static int threads_for(const clv_affinity *a, double entries, int64_t asked) {
    return a->lock || entries < ENTRIES_WORTH_THREADS ? 1 : clv_threads(asked);
}

static bool is_object(const clv_affinity *a, int64_t i) {
    return (uint64_t)i < (uint64_t)a->info.n;
}

static clv_status no_object(const clv_affinity *a, int64_t i) {
    return clv_fail(a->ctx, CLV_EUSAGE, "there is no object %lld: the affinity is of objects 0 to %lld", (long long)i,
                    (long long)a->info.n - 1);
}

static clv_status check_objects(const clv_affinity *a, const int64_t *objects, int64_t count) {
    if (count < 0) {
        return clv_fail(a->ctx, CLV_EUSAGE, "%lld objects cannot be listed", (long long)count);
    }
    for (int64_t m = 0; m < count; m++) {
        if (!is_object(a, objects[m])) {
            return no_object(a, objects[m]);
        }
    }
    return CLV_OK;
}

static clv_status check_labels(const clv_affinity *a, const int32_t *labels, int64_t k) {
    for (int64_t i = 0; i < a->info.n; i++) {
        if (labels[i] >= k) {
            return clv_fail(a->ctx, CLV_EUSAGE, "label %d of object %lld must be below %lld, the number of sums",
                            (int)labels[i], (long long)i, (long long)k);
        }
    }
    return CLV_OK;
}

/* --- what is known of it --- */

clv_context *clv_affinity_context(const clv_affinity *a) {
    return a->ctx;
}

void clv_affinity_describe(const clv_affinity *a, clv_affinity_info *out) {
    *out = a->info;
    if (CALL(a, cost, &out->cost) < 0) {
        out->cost = (clv_affinity_cost){0}; /* not known */
    }
}

bool clv_affinity_has_own_gamma(const clv_affinity *a) {
    return isnan(a->options.gamma);
}

int64_t clv_affinity_size(const clv_affinity *a) {
    return a->info.n;
}

bool clv_affinity_has_diagonal(const clv_affinity *a) {
    return !a->zero_diagonal;
}

size_t clv_affinity_budget(const clv_affinity *a) {
    return a->budget;
}

bool clv_affinity_view(const clv_affinity *a, clv_matrix *out) {
    *out = (clv_matrix){0};
    return a->home.view && CALL(a, view, out) == CLV_OK;
}

bool clv_affinity_part(const clv_affinity *a, clv_matrix *out, int64_t *first) {
    *out = (clv_matrix){0};
    return a->home.part && CALL(a, part, out, first) == CLV_OK;
}

const clv_matrix *clv_affinity_points(const clv_affinity *a) {
    bool made = a->info.kind != CLV_AFFINITY_PRECOMPUTED && a->points.rows == a->info.n;
    return made ? &a->points : NULL;
}

bool clv_affinity_factor(const clv_affinity *a, clv_matrix *out) {
    *out = (clv_matrix){0};
    return a->home.factor && CALL(a, factor, out) == CLV_OK;
}

bool clv_affinity_radial(const clv_affinity *a, clv_radial *out) {
    *out = (clv_radial){0};
    return a->home.radial && CALL(a, radial, out) == CLV_OK;
}

const int64_t *clv_affinity_order(const clv_affinity *a) {
    return a->home.order ? a->home.order(a) : NULL;
}

clv_status clv_affinity_largest(const clv_affinity *a, double *out) {
    return CALL(a, largest, out);
}

/* --- entries and columns --- */

clv_status clv_affinity_column(const clv_affinity *a, int64_t i, double *out) {
    return is_object(a, i) ? CALL(a, column, i, out) : no_object(a, i);
}

clv_status clv_affinity_column_threads(const clv_affinity *a, int64_t i, double *out, int64_t threads) {
    clv_affinity_info info;
    clv_affinity_describe(a, &info);
    return is_object(a, i) ? CALL(a, column_threads, i, out, threads_for(a, info.cost.column, threads))
                           : no_object(a, i);
}

clv_status clv_affinity_entry(const clv_affinity *a, int64_t i, int64_t j, double *out) {
    if (!is_object(a, i) || !is_object(a, j)) {
        return no_object(a, is_object(a, i) ? j : i);
    }
    return CALL(a, entry, i, j, out);
}

clv_status clv_affinity_diagonal(const clv_affinity *a, double *out) {
    return CALL(a, diagonal, out);
}

clv_status clv_affinity_newcomers(const clv_affinity *a, const clv_matrix *fresh, const int32_t *columns, int64_t count,
                                  double *out) {
    return CALL(a, cross, fresh, columns, count, out);
}

clv_status clv_affinity_block(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    return CALL(a, block, first, count, out);
}

clv_status clv_affinity_fill(const clv_affinity *a, const clv_sheet *out, int threads) {
    return CALL(a, fill, out, a->lock ? 1 : threads);
}

clv_status clv_affinity_rows(const clv_affinity *a, int64_t first, int64_t count, double *out) {
    if (first < 0 || count < 0 || first > a->info.n - count) {
        return no_object(a, first < 0 ? first : first + count - 1);
    }
    return clv_affinity_fill(a, &(clv_sheet){out, CLV_F64, a->info.n, first, count, false}, a->threads);
}

/* --- passes that ranks share --- */

bool clv_is_worth_parts(const clv_context *ctx, int64_t n) {
    return clv_is_shared(ctx) && n >= 2 * (int64_t)clv_rank_count(ctx) * CLV_SHARE;
}

/* The clock is the rank's own until the results are gathered. */
clv_spread clv_spread_begin(const clv_affinity *a, double entries) {
    clv_spread spread = {.shared = clv_is_shared(a->ctx) && entries >= CLV_WORTH_RANKS, .last = a->info.n};
    if (spread.shared) {
        clv_share_objects(a->ctx, a->info.n, CLV_SHARE, &spread.first, &spread.last);
        clv_own_clock_begin(a->ctx);
    }
    return spread;
}

clv_status clv_spread_gather(const clv_affinity *a, const clv_spread *spread, clv_status status, double *y, int64_t k) {
    if (!spread->shared) {
        return status;
    }
    clv_own_clock_end(a->ctx);
    return clv_gather_columns(a->ctx, status, y, k, a->info.n, CLV_SHARE, 0, a->info.n);
}

/* --- sums and products --- */

static clv_status check_vectors(const clv_affinity *a, int64_t k) {
    return k >= 1 ? CLV_OK
                  : clv_fail(a->ctx, CLV_EUSAGE, "%lld vectors cannot be multiplied: there must be 1 or more",
                             (long long)k);
}

clv_status clv_affinity_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int64_t threads) {
    CLV_NEED(a->ctx, x);
    CLV_TRY(check_vectors(a, k));
    return CALL(a, apply, x, k, y, threads_for(a, (double)a->info.nonzeros, threads));
}

clv_status clv_affinity_rough_apply(const clv_affinity *a, const double *x, int64_t k, double *y, int64_t threads) {
    CLV_TRY(check_vectors(a, k));
    return CALL(a, rough_apply, x, k, y, threads_for(a, (double)a->info.nonzeros, threads));
}

clv_status clv_affinity_group_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y,
                                   int64_t threads) {
    CLV_NEED(a->ctx, labels);
    CLV_TRY(check_labels(a, labels, k));
    return CALL(a, group_sums, labels, k, y, threads_for(a, (double)a->info.nonzeros, threads));
}

bool clv_affinity_is_rough(const clv_affinity *a) {
    return a->home.rough_sums != a->home.group_sums;
}

clv_status clv_affinity_rough_sums(const clv_affinity *a, const int32_t *labels, int64_t k, double *y,
                                   int64_t threads) {
    CLV_TRY(check_labels(a, labels, k));
    return CALL(a, rough_sums, labels, k, y, threads_for(a, (double)a->info.nonzeros, threads));
}

/* Sums by a factor have the rounding of the similarities of objects to themselves, also where these are taken off, and
 * 1 + cos that of a cosine: what is as small beside them is nothing. Below 0 where that cannot be. */
static double rounding_of_sums(const clv_affinity *a) {
    clv_matrix factor;
    double own = 0;
    if (a->zero_diagonal && a->info.kind == CLV_AFFINITY_COSINE) {
        return ROUNDED_AWAY;
    }
    if (!a->zero_diagonal || !clv_affinity_factor(a, &factor)) {
        return -1;
    }
    for (int64_t i = 0; i < factor.rows; i++) {
        const double *row = (const double *)factor.values + i * factor.cols;
        own = fmax(own, clv_dot(row, row, factor.cols, 1));
    }
    return ROUNDED_AWAY * own;
}

/* Objects without a degree leave the group; whether others have something of them. */
static bool drop_rounding(int64_t n, double least, int32_t *group, double *degree) {
    bool any = false;
    for (int64_t i = 0; i < n; i++) {
        if (group[i] >= 0 && fabs(degree[i]) <= least) {
            any = any || degree[i] != 0;
            group[i] = -1;
        }
        degree[i] = group[i] >= 0 ? degree[i] : 0;
    }
    return any;
}

clv_status clv_affinity_degrees(const clv_affinity *a, double *out, int64_t threads) {
    int32_t *group = CLV_NEW0(a->ctx, int32_t, a->info.n);
    clv_status status = group ? CLV_OK : CLV_ENOMEM;
    double least = rounding_of_sums(a);
    bool more = true;
    while (status == CLV_OK && more) {
        status = clv_affinity_group_sums(a, group, 1, out, threads);
        more = status == CLV_OK && drop_rounding(a->info.n, least, group, out);
    }
    clv_free(a->ctx, group);
    return status;
}

clv_status clv_affinity_combine(const clv_affinity *a, const int64_t *objects, const double *weights, int64_t count,
                                double *y, int64_t threads) {
    CLV_NEED_AS(a->ctx, count == 0 || objects, "objects");
    CLV_NEED_AS(a->ctx, count == 0 || weights, "weights");
    clv_affinity_info info;
    clv_terms terms = {objects, weights, count};
    clv_affinity_describe(a, &info);
    CLV_TRY(check_objects(a, objects, count));
    double one_by_one = (double)count * info.cost.column, work = fmin(one_by_one, info.cost.pass);
    return CALL(a, combine, &terms, y, threads_for(a, work, threads));
}

clv_status clv_affinity_moments(const clv_affinity *a, int64_t threads, double *sum, double *squares) {
    return CALL(a, moments, threads_for(a, (double)a->info.nonzeros, threads), sum, squares);
}

clv_status clv_affinity_add_rows(const clv_affinity *a, const clv_change *change, double *y, int threads) {
    return CALL(a, add_rows, change, y, a->lock ? 1 : threads);
}

bool clv_affinity_adds_roughly(const clv_affinity *a) {
    return a->home.rough_add_rows != a->home.add_rows;
}

clv_status clv_affinity_rough_add_rows(const clv_affinity *a, const clv_change *change, double *y, int threads) {
    return CALL(a, rough_add_rows, change, y, a->lock ? 1 : threads);
}

/* --- sums that follow their labels --- */

clv_status clv_affinity_move(const clv_affinity *a, int64_t i, int32_t from, int32_t to, double *y) {
    int64_t n = a->info.n;
    if (!is_object(a, i)) {
        return no_object(a, i);
    }
    return from == to ? CLV_OK : CALL(a, move, i, from >= 0 ? y + from * n : NULL, to >= 0 ? y + to * n : NULL);
}

clv_status clv_affinity_move_many(const clv_affinity *a, const int64_t *objects, const int32_t *before,
                                  const int32_t *after, int64_t count, double *y, int64_t threads) {
    CLV_NEED_AS(a->ctx, count == 0 || objects, "objects");
    CLV_NEED(a->ctx, before);
    CLV_NEED(a->ctx, after);
    clv_moves moves = {objects, before, after, count};
    CLV_TRY(check_objects(a, objects, count));
    return CALL(a, move_many, &moves, y, threads_for(a, (double)count * (double)a->info.n, threads));
}

clv_status clv_affinity_rough_moves(const clv_affinity *a, const int64_t *objects, const int32_t *before,
                                    const int32_t *after, int64_t count, double *y, int64_t threads) {
    clv_moves moves = {objects, before, after, count};
    CLV_TRY(check_objects(a, objects, count));
    return CALL(a, rough_moves, &moves, y, threads_for(a, (double)count * (double)a->info.n, threads));
}

bool clv_affinity_shares_moves(const clv_affinity *a, int64_t *first, int64_t *last) {
    bool shares = a->home.move_own && clv_is_worth_parts(a->ctx, a->info.n);
    *first = 0;
    *last = a->info.n;
    if (shares) {
        clv_share_objects(a->ctx, a->info.n, CLV_SHARE, first, last);
    }
    return shares;
}

clv_status clv_affinity_move_own(const clv_affinity *a, const int64_t *objects, const int32_t *before,
                                 const int32_t *after, int64_t count, double *y, int64_t threads) {
    double entries = (double)count * (double)a->info.n / clv_rank_count(a->ctx);
    return CALL(a, move_own, &(clv_moves){objects, before, after, count}, y, threads_for(a, entries, threads));
}

/* --- sums that stay where they are made --- */

clv_status clv_affinity_keep(const clv_affinity *a, int64_t k, const double *y, const double *degree, void **kept) {
    *kept = NULL;
    clv_status status = a->home.keep ? CALL(a, keep, k, y, degree, kept) : CLV_OK;
    return status == CLV_ENOMEM ? CLV_OK : status;
}

clv_status clv_affinity_kept_follow(const clv_affinity *a, void *kept, const int64_t *objects, const int32_t *before,
                                    const int32_t *after, int64_t count, double *own) {
    return CALL(a, kept_follow, kept, &(clv_moves){objects, before, after, count}, own);
}

clv_status clv_affinity_kept_choose(const clv_affinity *a, void *kept, const clv_kept_scores *by, const int32_t *labels,
                                    int32_t *wanted) {
    return CALL(a, kept_choose, kept, by, labels, wanted);
}

clv_status clv_affinity_kept_back(const clv_affinity *a, void *kept, double *y) {
    return CALL(a, kept_back, kept, y);
}

void clv_affinity_let_go(const clv_affinity *a, void *kept) {
    if (kept) {
        enter(a);
        a->home.let_go(a, kept);
        leave(a, CLV_OK);
    }
}

/* --- some of the objects --- */

int32_t *clv_number_objects(const clv_affinity *base, const int64_t *objects, int64_t m) {
    int32_t *number = CLV_NEW(base->ctx, int32_t, base->info.n);
    for (int64_t i = 0; number && i < base->info.n; i++) {
        number[i] = -1;
    }
    for (int64_t j = 0; number && j < m; j++) {
        number[objects[j]] = (int32_t)j;
    }
    return number;
}

clv_status clv_affinity_subset(const clv_affinity *base, const int64_t *objects, int64_t m, clv_affinity **out) {
    size_t before, now, most;
    *out = NULL;
    CLV_TRY(check_objects(base, objects, m));
    clv_context_memory(base->ctx, &before, &most);
    clv_status status = CALL(base, subset, objects, m, out);
    if (status < 0) {
        clv_affinity_free(*out);
        *out = NULL;
        return status;
    }
    clv_context_memory(base->ctx, &now, &most);
    (*out)->info.bytes = (*out)->info.peak = now - before;
    return CLV_OK;
}
