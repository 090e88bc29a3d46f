/* From points or a given matrix to an operator: which home, how many bytes, and making it. */
#include "affinity/home.h"
#include "affinity/kinds.h"

#include "base/options.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- kinds and names --- */

static const clv_kind kinds[] = {
    [CLV_AFFINITY_GAUSSIAN] = {.name = "gaussian", .largest = 1, .has_gamma = true, .definite = true},
    [CLV_AFFINITY_EXPONENTIAL] = {.name = "exponential", .largest = 1, .has_gamma = true, .definite = true},
    [CLV_AFFINITY_COSINE] = {.name = "cosine", .largest = 2},
    [CLV_AFFINITY_DISTANCE] = {.name = "distance", .largest = HUGE_VAL, .needs_top = true},
    [CLV_AFFINITY_MINIMAX] = {.name = "minimax",
                              .largest = HUGE_VAL,
                              .no_newcomers =
                                  "a minimax affinity cannot be extended to new points: they would change the "
                                  "paths between the old ones"},
    [CLV_AFFINITY_KNN] = {.name = "knn", .largest = 1, .is_graph = true},
    [CLV_AFFINITY_PRECOMPUTED] = {.name = "precomputed",
                                  .largest = HUGE_VAL,
                                  .no_newcomers = "a given affinity cannot be extended to new points: give their "
                                                  "similarities too"},
    [CLV_AFFINITY_LOCAL] = {.name = "local", .largest = 1, .has_gamma = true, .has_scales = true},
    [CLV_AFFINITY_AUTO] = {.name = "auto", .largest = 1, .has_gamma = true},
    [CLV_AFFINITY_LOCAL_KNN] = {.name = "local-knn", .largest = 1, .has_scales = true, .is_graph = true},
};

const clv_kind *clv_kind_of(clv_affinity_kind kind) {
    static const clv_kind none = {.name = "?", .largest = HUGE_VAL};
    return (size_t)kind < CLV_COUNT(kinds) ? &kinds[kind] : &none;
}

const char *clv_affinity_kind_name(clv_affinity_kind kind) {
    return clv_kind_of(kind)->name;
}

const char *clv_home_name(clv_home home) {
    static const char *const names[] = {"auto", "dense-f64", "dense-f32", "computed", "sparse", "low-rank", "cuda"};
    return (size_t)home < CLV_COUNT(names) ? names[home] : "?";
}

#define T clv_affinity_options
static const clv_option affinity_options[] = {
    CLV_OPT_CHOICE(T, kind, "affinity", CLV_AFFINITY_AUTO,
                   "gaussian|exponential|cosine|distance|minimax|knn|precomputed|local|local-knn|auto",
                   "similarity of two objects; auto: for ncut the one that suits the points, else gaussian"),
    CLV_OPT_REAL(T, gamma, "gamma", NAN, DBL_TRUE_MIN, 1e300, "auto", "G",
                 "scale of gaussian and exponential; factor of local; weights of knn (1 if auto)"),
    CLV_OPT_INT(T, neighbors, "neighbors", 0, 15, 1, INT32_MAX, NULL, "N",
                "neighbors of an object in the knn graph; the last of them is its scale in local"),
    CLV_OPT_FLAG(T, zero_diagonal, "zero-diagonal", "keep-diagonal", 0, "the similarity of an object to itself is 0"),
    CLV_OPT_FLAG(T, symmetrize, "symmetrize", NULL, 0, "take (A + A')/2 of a given affinity"),
    CLV_OPT_CHOICE(T, home, "home", CLV_HOME_AUTO, "auto|dense-f64|dense-f32|computed|sparse|low-rank|cuda",
                   "how the affinity is kept; auto: as the budget allows"),
    CLV_OPT_CHOICE(T, search, "search", CLV_SEARCH_AUTO, "auto|exact|approximate",
                   "how neighbors are found; auto: exact where that takes seconds"),
    CLV_OPT_INT(T, landmarks, "landmarks", 0, 0, 0, INT32_MAX, "none", "M",
                "objects that stand for all in a low-rank gaussian or exponential affinity"),
    CLV_OPT_BYTES(T, memory, "memory", "auto", "memory budget, as 500M or 2G; auto: half of the machine's"),
    CLV_OPT_BYTES(T, device_memory, "device-memory", "auto",
                  "memory budget on a graphics card (home cuda); auto: what is free there"),
};
#undef T

const clv_option_table *clv_affinity_table(void) {
    static const clv_option_table table = {"affinity", affinity_options, CLV_COUNT(affinity_options),
                                           sizeof(clv_affinity_options)};
    return &table;
}

/* Options of whatever size; what nobody chose is gaussian. */
static clv_status take_options(clv_context *ctx, const clv_affinity_options *given, clv_affinity_options *out) {
    CLV_TRY(clv_options_adopt(ctx, clv_affinity_table(), given, out));
    out->kind = out->kind == CLV_AFFINITY_AUTO ? CLV_AFFINITY_GAUSSIAN : out->kind;
    return CLV_OK;
}

bool clv_kind_is_open(const clv_affinity_options *options) {
    return options->kind == CLV_AFFINITY_AUTO && isnan(options->gamma) && options->landmarks == 0 &&
           options->home == CLV_HOME_AUTO;
}

clv_affinity_kind clv_agreed_kind(const double agreement[3]) {
    static const clv_affinity_kind candidates[] = {CLV_AFFINITY_GAUSSIAN, CLV_AFFINITY_LOCAL};
    clv_affinity_kind kind = CLV_AFFINITY_LOCAL_KNN;
    double least = agreement[2] + CLV_AGREEMENT_MARGIN;
    for (int c = 0; c < 2; c++) {
        if (agreement[c] > least) {
            kind = candidates[c];
            least = agreement[c];
        }
    }
    return kind;
}

/* In two digits, of which -0.00 is 0.00. */
static double printed(double agreement) {
    return round(100 * agreement) / 100 + 0.0;
}

void clv_affinity_reason(const clv_affinity_info *info, char *text, size_t size) {
    static const char few[] = "gaussian: a sample to compare candidates on would be too small for so many neighbors or "
                              "clusters";
    static const char *const others[] = {
        [CLV_CHOICE_NO_ROOM] = "local-knn, as the similarities of all pairs of objects do not fit the memory",
        [CLV_CHOICE_FEW_OBJECTS] = few,
        [CLV_CHOICE_GIVEN] = "gaussian, which a gamma, landmarks or home that is given is about"};
    const double *a = info->agreement;
    bool known = info->choice > 0 && info->choice < (int)CLV_COUNT(others) && others[info->choice];
    if (info->choice != CLV_CHOICE_COMPARED) {
        snprintf(text, size, "%s", known ? others[info->choice] : "");
        return;
    }
    snprintf(text, size,
             "%s, chosen on %lld objects: the clusters by gaussian, local and local-knn agree with the others' by "
             "%.2f, %.2f and %.2f (ARI)%s",
             clv_affinity_kind_name(info->kind), (long long)info->chosen_on, printed(a[0]), printed(a[1]),
             printed(a[2]), info->kind == CLV_AFFINITY_LOCAL_KNN ? ", neither of the first two by 0.1 better" : "");
}

/* --- the plan --- */

/* In the order in which they are tried. */
static const clv_home_maker *const makers[] = {&clv_dense64_maker, &clv_dense32_maker, &clv_computed_maker,
                                               &clv_minimax_maker, &clv_lowrank_maker, &clv_sparse_maker,
                                               &clv_cuda_maker};

int64_t clv_bytes_plus(int64_t a, int64_t b) {
    int64_t sum;
    return clv_add(a, b, &sum) ? sum : INT64_MAX;
}

int64_t clv_square_bytes(int64_t n, clv_scalar scalar) {
    int64_t entries, bytes;
    return clv_mul(n, n, &entries) && clv_mul(entries, (int64_t)clv_scalar_bytes(scalar), &bytes) ? bytes : INT64_MAX;
}

static clv_affinity_options options_of(const clv_home_maker *maker, const clv_affinity_options *options) {
    clv_affinity_options own = *options;
    own.home = maker->asked;
    return own;
}

static bool suits(const clv_home_maker *maker, const clv_matrix *points, const clv_affinity_options *options) {
    clv_affinity_options own = options_of(maker, options);
    return maker->suits(points, &own);
}

const clv_home_maker *clv_home_source(const clv_matrix *points, const clv_affinity_options *options) {
    for (size_t m = 0; m < CLV_COUNT(makers); m++) {
        if (makers[m]->source && suits(makers[m], points, options)) {
            return makers[m];
        }
    }
    return NULL;
}

static clv_affinity_info plan_alone(const clv_home_maker *maker, const clv_matrix *points,
                                    const clv_affinity_options *options) {
    clv_affinity_options own = options_of(maker, options);
    clv_affinity_info plan = {.kind = options->kind,
                              .gamma = options->gamma,
                              .recall = NAN,
                              .home = clv_home_name(maker->asked),
                              .n = points->rows};
    maker->plan(points, &own, &plan);
    return plan;
}

/* Of this process, where several share a home. */
static clv_affinity_info plan_of(const clv_context *ctx, const clv_home_maker *maker, const clv_matrix *points,
                                 const clv_affinity_options *options) {
    clv_affinity_options own = options_of(maker, options);
    clv_affinity_info plan = plan_alone(maker, points, options);
    clv_dense_plan_part(ctx, points, &own, &plan);
    return plan;
}

/* Whether what will be looked at is less work to compute than all of it to keep. */
static bool looks_at_few(const clv_matrix *points, const clv_affinity_options *options) {
    bool by_distance = options->kind == CLV_AFFINITY_GAUSSIAN || options->kind == CLV_AFFINITY_EXPONENTIAL;
    return options->home == CLV_HOME_AUTO && by_distance && options->landmarks == 0 && options->looks > 0 &&
           options->looks < points->rows;
}

/* A graphics card is not always there: it is asked for, or taken in plan_home. */
static bool is_asked(const clv_home_maker *maker, const clv_affinity_options *options) {
    return options->home == CLV_HOME_AUTO ? maker != &clv_cuda_maker : options->home == (int)maker->asked;
}

/* The home asked for, or that which computes where little will be looked at. Else one with passes at half the price of
 * n^2 numbers, or less; else the first that fits; else the one that takes the least. NULL: none suits. */
static const clv_home_maker *choose(const clv_context *ctx, const clv_matrix *points,
                                    const clv_affinity_options *options, size_t room) {
    double entries = (double)points->rows * (double)points->rows;
    const clv_home_maker *fits = NULL, *smallest = NULL;
    size_t least = 0;
    if (looks_at_few(points, options)) {
        return clv_home_source(points, options);
    }
    for (size_t m = 0; m < CLV_COUNT(makers); m++) {
        if (is_asked(makers[m], options) && suits(makers[m], points, options)) {
            clv_affinity_info plan = plan_of(ctx, makers[m], points, options);
            if (2 * plan.cost.pass <= entries) {
                return makers[m];
            }
            fits = !fits && plan.peak <= room ? makers[m] : fits;
            if (!smallest || plan.peak < least) {
                smallest = makers[m];
                least = plan.peak;
            }
        }
    }
    return fits ? fits : smallest;
}

static clv_status check_landmarks(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options) {
    if (options->landmarks > 0 && !clv_kind_of(options->kind)->definite) {
        return clv_fail(ctx, CLV_EUSAGE, "landmarks = %lld: they are for gaussian and exponential affinities, not %s",
                        (long long)options->landmarks, clv_affinity_kind_name(options->kind));
    }
    if (options->landmarks > points->rows) {
        return clv_fail(ctx, CLV_EUSAGE, "landmarks = %lld exceeds the %lld objects that they are chosen from",
                        (long long)options->landmarks, (long long)points->rows);
    }
    if (options->landmarks > 0 && options->home != CLV_HOME_AUTO && options->home != CLV_HOME_LOWRANK) {
        return clv_fail(ctx, CLV_EUSAGE, "home = %s: an affinity by landmarks is kept as its factor, home low-rank",
                        clv_home_name(options->home));
    }
    return CLV_OK;
}

static clv_status check_points(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options) {
    CLV_TRY(clv_options_check(ctx, clv_affinity_table(), options));
    if (points->rows < 1 || points->cols < 1) {
        return clv_fail(ctx, CLV_EDATA, "there are no points: %lld rows and %lld columns", (long long)points->rows,
                        (long long)points->cols);
    }
    if (points->rows > INT32_MAX || points->cols > INT32_MAX) {
        return clv_fail(ctx, CLV_EDATA, "%lld rows and %lld columns: at most 2147483647 of each can be handled",
                        (long long)points->rows, (long long)points->cols);
    }
    bool near = clv_kind_of(options->kind)->is_graph || clv_kind_of(options->kind)->has_scales;
    if (near && options->neighbors >= points->rows) {
        return clv_fail(ctx, CLV_EUSAGE, "neighbors = %lld is not less than the %lld objects%s",
                        (long long)options->neighbors, (long long)points->rows,
                        points->rows > 1 ? "; give --neighbors a smaller number" : ", which have none");
    }
    return check_landmarks(ctx, points, options);
}

/* What else would do, where a home that was asked for cannot hold the affinity. */
static const char *what_it_holds(const clv_matrix *points, const clv_affinity_options *options) {
    if (options->kind == CLV_AFFINITY_PRECOMPUTED) {
        return clv_is_sparse(points)       ? ": it is a sparse matrix, which home sparse holds"
               : points->scalar == CLV_F32 ? ": it is a dense matrix of floats, which home dense-f32 holds"
                                           : ": it is a dense matrix of doubles, which home dense-f64 holds";
    }
    switch ((clv_home)options->home) {
    case CLV_HOME_SPARSE:
        return ", which has all pairs: only --affinity knn and local-knn are limited to near pairs";
    case CLV_HOME_CUDA:
        return ": it holds those of kind gaussian, exponential, cosine or distance of dense points with up to 1024 "
               "columns, and dense matrices that are given; choose another home";
    case CLV_HOME_COMPUTED:
        return ": it holds those of kind gaussian, exponential, distance, local or minimax, without landmarks; choose "
               "another home";
    case CLV_HOME_LOWRANK:
        return ": it holds those of kind cosine, and gaussian or exponential ones with --landmarks";
    default:
        return ": it holds all pairs, but this affinity has near pairs alone: use --home sparse";
    }
}

static clv_status plan_home(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                            const clv_home_maker **maker, clv_affinity_info *out) {
    size_t now, most, budget = clv_memory_budget(options->memory);
    CLV_TRY(check_points(ctx, points, options));
    clv_context_memory(ctx, &now, &most);
    size_t room = budget > now ? budget - now : 0;
    int64_t least = room < INT64_MAX ? (int64_t)room : INT64_MAX; /* ranks choose the same home */
    CLV_TRY(clv_agree_least(ctx, &least));
    room = clv_is_shared(ctx) ? (size_t)least : room;
    bool on_card = options->home == CLV_HOME_AUTO && !clv_is_shared(ctx) && clv_cuda_pays(ctx, points, options);
    *maker = on_card ? &clv_cuda_maker : choose(ctx, points, options, room);
    if (!*maker) {
        return clv_fail(ctx, CLV_EUSAGE, "home = %s cannot hold this %s affinity%s", clv_home_name(options->home),
                        clv_affinity_kind_name(options->kind), what_it_holds(points, options));
    }
    *out = plan_of(ctx, *maker, points, options);
    bool given = options->kind == CLV_AFFINITY_PRECOMPUTED;
    if (out->peak > room) {
        return clv_fail(
            ctx, CLV_ENOMEM,
            "the %s affinity of %lld objects needs %zu bytes in its %s home, and %zu of the budget of %zu are "
            "left; allow more memory or %s%s",
            clv_affinity_kind_name(options->kind), (long long)points->rows, out->peak, out->home, room, budget,
            options->landmarks > 0 ? "take fewer landmarks" : "choose another home",
            given || points->rows != points->cols ? "" : "; if the data are similarities, say --affinity precomputed");
    }
    return CLV_OK;
}

clv_status clv_affinity_plan(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options,
                             clv_affinity_info *out) {
    CLV_NEED(ctx, points);
    CLV_NEED(ctx, options);
    const clv_home_maker *maker;
    clv_affinity_options own;
    CLV_TRY(take_options(ctx, options, &own));
    return plan_home(ctx, points, &own, &maker, out);
}

clv_status clv_affinity_rehome(clv_context *ctx, const clv_matrix *points, const char *home,
                               clv_affinity_options *options, clv_affinity_info *planned) {
    clv_affinity_options named = *options;
    const clv_home_maker *maker;
    clv_affinity_info plan;
    named.memory = INT64_C(1) << 62;
    CLV_TRY(clv_options_set(ctx, clv_affinity_table(), &named, "home", home));
    if (named.home == CLV_HOME_AUTO) {
        return clv_fail(ctx, CLV_EUSAGE, "home = %s is not the name of a home", home);
    }
    CLV_TRY(plan_home(ctx, points, &named, &maker, planned));
    if (named.home == CLV_HOME_DENSE32) {
        options->home = CLV_HOME_DENSE32;
        return CLV_OK;
    }
    CLV_TRY(plan_home(ctx, points, options, &maker, &plan));
    if (maker->asked == CLV_HOME_DENSE32 && options->kind != CLV_AFFINITY_PRECOMPUTED) {
        options->home = (int)clv_home_source(points, options)->asked;
    }
    return CLV_OK;
}

void clv_affinity_ask(clv_affinity_options *options, clv_home home) {
    options->home = home == CLV_HOME_AUTO ? options->home : (int)home;
}

bool clv_affinity_lives_in(const clv_affinity_info *info, const char *home) {
    return strcmp(info->home, home) == 0;
}

/* --- making --- */

/* Ranks that have all points each have the same ones: else each would do its share on its own. */
static clv_status compare_points(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *options) {
    bool whole = options->kind != CLV_AFFINITY_PRECOMPUTED && clv_is_shared(ctx);
    return whole ? clv_agree_same(ctx, CLV_OK, clv_matrix_hash(points), "the points") : CLV_OK;
}

clv_status clv_affinity_build(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *given,
                              clv_affinity **out) {
    clv_affinity_options asked, *options = &asked;
    const clv_home_maker *maker;
    clv_affinity_info plan;
    clv_affinity *a = NULL;
    size_t held, now, most;
    *out = NULL;
    if (!points || !given) {
        return clv_fail(ctx, CLV_EUSAGE, "there are no %s to build an affinity %s", points ? "options" : "points",
                        points ? "by" : "of");
    }
    CLV_TRY(take_options(ctx, given, options));
    int threads = clv_threads(options->threads);
    CLV_TRY(clv_view_check(ctx, "the points", points));
    CLV_TRY(plan_home(ctx, points, options, &maker, &plan));
    CLV_TRY(options->kind == CLV_AFFINITY_PRECOMPUTED ? clv_affinity_check(ctx, points, options, threads)
                                                      : clv_points_check(ctx, points));
    CLV_TRY(compare_points(ctx, points, options));
    clv_affinity_options own = options_of(maker, options);
    clv_context_memory(ctx, &held, &most);
    clv_status status = maker->make(ctx, points, &own, threads, &a);
    if (status < 0) {
        clv_affinity_free(a);
        return status;
    }
    clv_context_memory(ctx, &now, &most);
    a->info.kind = options->kind;
    a->info.chosen_on = options->chosen_on;
    a->info.choice = (int)options->choice;
    memcpy(a->info.agreement, options->agreement, sizeof a->info.agreement);
    size_t whole = plan_alone(maker, points, options).bytes; /* of a home that ranks share, a result states all */
    a->info.bytes = plan.bytes < whole ? whole : now - held;
    a->info.peak = plan.peak;
    a->points = *points;
    *out = a;
    return CLV_OK;
}

/* --- as a matrix --- */

/* Whether what is stored on the diagonal is what counts there. */
static bool is_as_stored(const clv_affinity *a, const clv_matrix *stored) {
    for (int64_t i = 0; a->zero_diagonal && i < stored->rows; i++) {
        if (clv_is_sparse(stored) || clv_stored(stored, i * stored->rows + i) != 0) {
            return false;
        }
    }
    return true;
}

clv_status clv_affinity_materialize(const clv_affinity *a, clv_data **out) {
    clv_context *ctx = a->ctx;
    clv_matrix stored;
    size_t now, most;
    if (clv_affinity_view(a, &stored) && is_as_stored(a, &stored)) {
        CLV_TRY(clv_data_new(ctx, "affinity", out));
        (*out)->matrix = stored;
        return CLV_OK;
    }
    clv_context_memory(ctx, &now, &most);
    int64_t bytes = clv_square_bytes(a->info.n, CLV_F64);
    if (clv_bytes_plus(bytes, (int64_t)now) > (int64_t)a->budget) {
        return clv_fail(ctx, CLV_ENOMEM,
                        "the matrix of %lld objects needs %lld bytes, more than the budget of %zu allows",
                        (long long)a->info.n, (long long)bytes, a->budget);
    }
    CLV_TRY(clv_data_new_dense(ctx, "affinity", a->info.n, a->info.n, CLV_F64, out));
    return clv_data_made(clv_affinity_rows(a, 0, a->info.n, (*out)->values), out);
}
