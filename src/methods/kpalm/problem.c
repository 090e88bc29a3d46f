/* What all restarts share, from the points and the options: mean and spread, the units of alpha and epsilon, and how
 * the work is divided. Three passes over the points, and a few more (n <= 2048: all pairs) where the diameter is
 * needed. */
#include "methods/kpalm/kpalm.h"

#include "base/options.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST_CHUNKS = 32,
    MOST_BLOCK = 512,
    LEAST_BLOCK = 16,
    MOST_REPLAY = 8,         /* iterations whose centers are kept to replay weights */
    BLOCK_WEIGHTS = 1 << 18, /* weights of a block, at most */
    EXACT_DIAMETER = 2048,   /* objects up to which all pairs are compared */
    SWEEPS = 3,
    LEAST_PAIRS = 1024, /* pairs of objects that are looked at, and coordinates of them */
    MOST_PAIRS = 1 << 14,
    PAIR_WORK = 1 << 26,
    PAIR_ROOM = 1 << 15 /* numbers of the first objects of pairs, at a time */
};
/* Weights up to which a snapshot holds them all, and nothing is replayed. */
#define KEPT_WEIGHTS (INT64_C(1) << 20)
/* Bytes for the sums of all chunks together. */
#define MOST_SUMS (INT64_C(1) << 26)
/* Multiplications of a pass that is over before another thread is awake. */
#define SHORT_PASS 0x1p20
/* The fourth power of nothing larger is a number; and sample weights. */
#define LARGEST 1e70
#define LARGEST_WEIGHT 1e30
/* Centers to start from that lie this many times farther than the objects set the unit of lengths. */
#define FAR 1024
/* Factors of alpha are not less than this, nor more than its inverse; and what sums of given memberships may be off. */
#define LEAST_FACTOR 1e-6
#define ROW_TOLERANCE 1e-6
/* alpha does not fall below this part of alpha(0): Assumption 2 wants a lower bound. */
#define ALPHA_FLOOR 0x1p-30

void clv_kpalm_problem_free(clv_kpalm_problem *p) {
    if (p->ctx) {
        clv_free(p->ctx, p->mean);
        clv_free(p->ctx, p->norms);
        clv_free(p->ctx, p->sample);
        clv_free(p->ctx, p->factor);
        clv_free(p->ctx, p->initial);
        p->mean = p->norms = p->sample = p->factor = p->initial = NULL;
    }
}

clv_status clv_kpalm_poll(const clv_kpalm_problem *p) {
    return clv_interrupted(p->ctx) ? clv_stop_failure(p->ctx, "assigning objects to centers") : CLV_OK;
}

/* --- the division of the work --- */

void clv_kpalm_chunk(const clv_kpalm_problem *p, int64_t c, int64_t *from, int64_t *to) {
    int64_t blocks = (p->n + p->block - 1) / p->block;
    *from = blocks * c / p->chunks * p->block;
    *to = blocks * (c + 1) / p->chunks * p->block;
    *to = *to < p->n ? *to : p->n;
}

static int64_t between(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

/* Replaying saves memory where the weights of all objects would take more than the points; it costs the centers of a
 * few iterations, which must be small beside the points. */
static int64_t replayed_iterations(const clv_kpalm_problem *p) {
    size_t points = (size_t)p->n * (size_t)p->p * clv_scalar_bytes(p->points->scalar);
    size_t panel = clv_panel_bytes(p->points, p->k);
    if (p->hard || p->keeps_weights || clv_is_sparse(p->points)) {
        return 0;
    }
    return between((int64_t)(points / 8 / panel), 0, MOST_REPLAY);
}

/* Of the sizes alone, never of the threads. */
void clv_kpalm_divide(clv_kpalm_problem *p) {
    int64_t width = clv_panel_width(p->points->scalar, p->k);
    int64_t bytes = 2 * (int64_t)sizeof(double) * p->k * (p->p + 1);
    p->block = between(BLOCK_WEIGHTS / width, LEAST_BLOCK, MOST_BLOCK);
    p->chunks = between(MOST_SUMS / bytes, 1, MOST_CHUNKS);
    int64_t blocks = (p->n + p->block - 1) / p->block;
    p->chunks = p->chunks < blocks ? p->chunks : blocks;
    p->keeps_weights = !p->hard && p->n <= KEPT_WEIGHTS / p->k;
    bool uniform = p->options.initial_membership == CLV_KPALM_UNIFORM && !p->factor;
    p->affine = !p->hard && !p->euclidean && uniform && !clv_is_sparse(p->points);
    bool card = p->options.place == CLV_KPALM_CUDA; /* which computes all distances and keeps all weights */
    p->form = (clv_kpalm_form){!card, true, card ? 0 : replayed_iterations(p)};
    p->shared = !card && clv_kpalm_is_shared(p);
}

/* --- mean and spread --- */

int clv_kpalm_threads(const clv_kpalm_problem *p, int threads) {
    bool moments = (double)p->n * (double)p->p * (double)p->k < SHORT_PASS;
    return moments ? 1 : threads < p->chunks ? threads : (int)p->chunks;
}

static int threads_for(const clv_kpalm_problem *p) {
    return clv_kpalm_threads(p, clv_threads(p->options.control.threads));
}

typedef struct extent {
    double most; /* squared distance */
    int64_t object;
    double sum;
} extent;

/* What is not a number exceeds everything, and stays. */
static bool exceeds(double distance, double most) {
    return !isnan(most) && !(distance <= most);
}

typedef void (*chunk_pass)(const clv_kpalm_problem *p, int64_t chunk, void *user);

/* `pass` for every chunk of one's own, unless time ends. */
static clv_status pass_over(const clv_kpalm_problem *p, chunk_pass pass, void *user) {
    atomic_bool stopped = false;
    int64_t first, last;
    clv_kpalm_own_chunks(p, &first, &last);
    clv_kpalm_begin_own(p);
#pragma omp parallel for num_threads(clv_team(threads_for(p))) schedule(dynamic, 1)
    for (int64_t b = first; b < last; b++) {
        if (clv_goes_on(p->ctx, &stopped, p->n / p->chunks * p->p)) {
            pass(p, b, user);
        }
    }
    clv_status status = stopped ? clv_stop_failure(p->ctx, "measuring the points") : CLV_OK;
    clv_kpalm_end_own(p);
    return status;
}

typedef struct measuring {
    const double *c;
    double square, *squares;
    extent parts[MOST_CHUNKS];
} measuring;

static void measure_chunk(const clv_kpalm_problem *p, int64_t chunk, void *user) {
    measuring *m = user;
    int64_t from, to;
    clv_kpalm_chunk(p, chunk, &from, &to);
    extent part = {-1, from, 0};
    for (int64_t i = from; i < to; i++) {
        double distance = clv_row_distance(p->points, i, m->c, m->square);
        part.sum += clv_kpalm_sample(p, i) * distance;
        if (m->squares) {
            m->squares[i] = distance;
        }
        if (exceeds(distance, part.most)) {
            part.most = distance;
            part.object = i;
        }
    }
    m->parts[chunk] = part;
}

/* The sum of sample |a - c|^2 and the farthest object from c; all |a - c|^2 into `squares` unless it is NULL. */
static clv_status measure(const clv_kpalm_problem *p, const double *c, double *squares, extent *out) {
    measuring m = {.c = c, .square = clv_square_of(c, NULL, p->p), .squares = squares};
    CLV_TRY(clv_kpalm_gather_chunks(p, pass_over(p, measure_chunk, &m), m.parts, sizeof *m.parts));
    *out = m.parts[0];
    for (int64_t b = 1; b < p->chunks; b++) {
        out->sum += m.parts[b].sum;
        if (exceeds(m.parts[b].most, out->most)) {
            out->most = m.parts[b].most;
            out->object = m.parts[b].object;
        }
    }
    return CLV_OK;
}

static void add_chunk(const clv_kpalm_problem *p, int64_t chunk, void *user) {
    double *sum = (double *)user + chunk * p->p;
    int64_t from, to;
    clv_kpalm_chunk(p, chunk, &from, &to);
    for (int64_t i = from; i < to; i++) {
        clv_row_add(p->points, i, clv_kpalm_sample(p, i) / p->mass, sum);
    }
}

static clv_status find_mean(clv_kpalm_problem *p) {
    double *parts = CLV_NEW0(p->ctx, double, p->chunks * p->p);
    if (!parts) {
        return CLV_ENOMEM;
    }
    clv_status status = pass_over(p, add_chunk, parts);
    status = clv_kpalm_gather_chunks(p, status, parts, (size_t)p->p * sizeof *parts);
    for (int64_t b = 0; b < p->chunks; b++) {
        for (int64_t f = 0; f < p->p; f++) {
            p->mean[f] += parts[b * p->p + f];
        }
    }
    clv_free(p->ctx, parts);
    return status;
}

static double power_of_two(double length) {
    return length > 0 ? ldexp(1, ilogb(length)) : 1;
}

/* How far the centers to start from lie, if that is much farther than the objects: keys must not overflow. */
static double farthest_start(const clv_kpalm_problem *p) {
    double most = 0, *row = p->mean + p->p;
    for (int64_t l = 0; p->start_centers && l < p->k; l++) {
        clv_matrix_row(p->start_centers, l, row);
        most = fmax(most, clv_squared_distance(row, p->mean, p->p));
    }
    return sqrt(most) > FAR * sqrt(p->spread / p->mass) ? sqrt(most) : 0;
}

/* Powers of lengths near `length` must be numbers, those in keys of the type of the points. */
static clv_status check_range(const clv_kpalm_problem *p, double length) {
    bool narrow = p->points->scalar == CLV_F32;
    double least = narrow ? 1e-32 : 1 / LARGEST, most = narrow ? 1e36 : LARGEST;
    if (length == 0 || (length >= least && length <= most)) {
        return CLV_OK;
    }
    return clv_fail(p->ctx, CLV_EDATA,
                    "the points and centers spread over %g: as %s, that must be %g to %g; scale them", length,
                    narrow ? "floats" : "doubles", least, most);
}

/* The squares of all coordinates are 0: so must they be. */
static clv_status check_zeros(clv_kpalm_problem *p) {
    double *row = p->mean + p->p;
    for (int64_t i = 0; i < p->n; i++) {
        clv_matrix_row(p->points, i, row);
        for (int64_t f = 0; f < p->p; f++) {
            if (row[f] != 0) {
                return check_range(p, fabs(row[f]));
            }
        }
    }
    return CLV_OK;
}

static clv_status find_frame(clv_kpalm_problem *p) {
    extent origin, center;
    p->mean = CLV_NEW0(p->ctx, double, 2 * p->p); /* and a row to work in */
    p->norms = CLV_NEW(p->ctx, double, p->n);
    if (!p->mean || !p->norms) {
        return CLV_ENOMEM;
    }
    CLV_TRY(measure(p, p->mean, NULL, &origin)); /* the mean is still 0 */
    if (!(origin.most <= LARGEST * LARGEST)) {
        CLV_TRY(clv_matrix_check(p->ctx, "the points:", p->points, LARGEST));
        return clv_fail(p->ctx, CLV_EDATA, "object %lld is too far from the origin", (long long)origin.object + 1);
    }
    if (origin.most == 0) {
        CLV_TRY(check_zeros(p));
    }
    CLV_TRY(find_mean(p));
    CLV_TRY(measure(p, p->mean, p->norms, &center));
    double square = clv_square_of(p->mean, NULL, p->p);
    double radius = sqrt(center.most), unit = power_of_two(radius > 0 ? radius : sqrt(origin.most));
    p->spread = center.sum;
    p->length = fmax(sqrt(p->spread / p->mass), 1e-12 * sqrt(origin.most)); /* less is rounding */
    double far = farthest_start(p);
    unit = far > radius ? power_of_two(far) : unit;
    if (radius > 1e-12 * sqrt(origin.most) && far > (p->points->scalar == CLV_F32 ? 1e9 : 1e15) * radius) {
        return clv_fail(
            p->ctx, CLV_EDATA,
            "the starting centers lie up to %g from the mean, too far from the objects, which lie within %g", far,
            radius);
    }
    p->frame =
        (clv_frame){p->points, p->mean, unit, sqrt(origin.most) / unit, radius / unit, sqrt(square) / unit, p->norms};
    double reach = fmax(radius, far);
    return check_range(p, reach > 1e-12 * sqrt(origin.most) ? reach : 0);
}

/* --- pairs of objects --- */

typedef void (*pair_visit)(const clv_kpalm_problem *p, int64_t pair, const int64_t *both, const double *rows,
                           void *user);

/* The points of pair after pair of a list of them; some at a time, as ranks meet for them. */
static clv_status visit_pairs(const clv_kpalm_problem *p, const int64_t *objects, int64_t pairs, pair_visit visit,
                              void *user) {
    int64_t some = between(PAIR_ROOM / p->p, 1, LEAST_PAIRS);
    double *rows = CLV_NEW(p->ctx, double, 2 * some * p->p);
    clv_status status = rows ? CLV_OK : clv_kpalm_meet(p, CLV_ENOMEM);
    for (int64_t at = 0; at < pairs && status == CLV_OK; at += some) {
        int64_t count = pairs - at < some ? pairs - at : some;
        status = clv_kpalm_rows(p, objects + 2 * at, 2 * count, rows);
        for (int64_t m = 0; m < count && status == CLV_OK; m++) {
            visit(p, at + m, objects + 2 * (at + m), rows + 2 * m * p->p, user);
        }
    }
    clv_free(p->ctx, rows);
    return status;
}

/* --- the effective variance --- */

/* tr(S^2) / tr(S) of the covariance S: the variance along the directions that matter, whatever the number of columns.
 * tr(S^2) is the mean of ((a - mean).(b - mean))^2 over pairs of objects: all of them where they are few, else a sample
 * that depends on the sizes alone. */
typedef struct squares {
    double sum, weight;
} squares;

static void add_square(const clv_kpalm_problem *p, int64_t pair, const int64_t *both, const double *rows, void *user) {
    squares *all = user;
    double product = 0, scale = 1 / p->frame.unit, weight = clv_kpalm_sample(p, both[0]) * clv_kpalm_sample(p, both[1]);
    (void)pair;
    if (both[0] == both[1]) {
        return;
    }
    for (int64_t f = 0; f < p->p; f++) {
        product += (rows[f] - p->mean[f]) * scale * ((rows[p->p + f] - p->mean[f]) * scale);
    }
    all->sum += weight * product * product;
    all->weight += weight;
}

/* `most` pairs at random, or all that there are. */
static int64_t list_pairs(const clv_kpalm_problem *p, int64_t most, int64_t *objects) {
    bool all = p->n * (p->n - 1) / 2 <= most;
    int64_t count = 0;
    clv_rng rng = clv_rng_stream(1, 0);
    for (int64_t i = 0; all ? i < p->n : count < most; i++) {
        int64_t first = all ? i : clv_rng_below(&rng, p->n);
        for (int64_t j = 0; j < (all ? i : 1); j++, count++) {
            objects[2 * count] = first;
            objects[2 * count + 1] = all ? j : clv_rng_below(&rng, p->n);
        }
    }
    return count;
}

static clv_status find_effective(clv_kpalm_problem *p) {
    int64_t most = between(PAIR_WORK / p->p, LEAST_PAIRS, MOST_PAIRS), *objects = CLV_NEW(p->ctx, int64_t, 2 * most);
    double unit = p->frame.unit, variance = p->spread / p->mass / unit / unit;
    squares all = {0};
    clv_status status = objects ? CLV_OK : clv_kpalm_meet(p, CLV_ENOMEM);
    if (status == CLV_OK && p->n <= INT32_MAX) {
        status = visit_pairs(p, objects, list_pairs(p, most, objects), add_square, &all);
    }
    clv_free(p->ctx, objects);
    double effective = all.weight > 0 && variance > 0 ? all.sum / all.weight / variance : 0;
    p->effective = (effective > 0 ? fmin(effective, variance) : variance) * unit * unit;
    return status;
}

/* --- diameter --- */

static clv_status farthest_pair(clv_kpalm_problem *p, double *row, double *most) {
    for (int64_t i = 0; i < p->n; i++) {
        clv_matrix_row(p->points, i, row);
        double square = clv_square_of(row, NULL, p->p);
        for (int64_t j = 0; j < i; j++) {
            *most = fmax(*most, clv_row_distance(p->points, j, row, square));
        }
        if (i % 64 == 0 && clv_worked(p->ctx, 64 * i * p->p)) {
            return clv_stop_failure(p->ctx, "measuring the diameter");
        }
    }
    return CLV_OK;
}

/* From the farthest object of the mean to the farthest object of that, and so on: at least half of the diameter. */
static clv_status sweep(clv_kpalm_problem *p, double *row, double *most) {
    extent found;
    memcpy(row, p->mean, (size_t)p->p * sizeof *row);
    for (int s = 0; s <= SWEEPS; s++) {
        CLV_TRY(measure(p, row, NULL, &found));
        *most = s > 0 ? fmax(*most, found.most) : 0;
        CLV_TRY(clv_kpalm_rows(p, &found.object, 1, row));
    }
    return CLV_OK;
}

static clv_status find_diameter(clv_kpalm_problem *p) {
    double most = 0, *row = CLV_NEW(p->ctx, double, p->p);
    if (!row) {
        return CLV_ENOMEM;
    }
    clv_status status = p->n <= EXACT_DIAMETER ? farthest_pair(p, row, &most) : sweep(p, row, &most);
    p->diameter = sqrt(most);
    clv_free(p->ctx, row);
    return status;
}

/* --- alpha and epsilon --- */

/* A length that few objects far away do not change: three times the median distance of pairs, drawn by the sizes alone.
 * The diameter of data without such objects is hardly longer. */
static void measure_pair(const clv_kpalm_problem *p, int64_t pair, const int64_t *both, const double *rows,
                         void *user) {
    (void)both;
    ((double *)user)[pair] = clv_squared_distance(rows, rows + p->p, p->p);
}

static clv_status find_extent(clv_kpalm_problem *p) {
    enum { PAIRS = 1001 };
    double far[PAIRS];
    int64_t objects[2 * PAIRS];
    clv_rng rng = clv_rng_stream(2, 0);
    for (int s = 0; s < PAIRS; s++) {
        int64_t first = clv_rng_below(&rng, p->n), second = clv_rng_below(&rng, p->n > 1 ? p->n - 1 : 1);
        objects[2 * s] = first;
        objects[2 * s + 1] = second < first ? second : (second + 1) % p->n;
    }
    CLV_TRY(visit_pairs(p, objects, PAIRS, measure_pair, far));
    double median = 3 * sqrt(fmax(clv_nth_smallest(far, PAIRS, PAIRS / 2), 0));
    p->extent = median > 0 ? fmin(median, p->diameter) : p->diameter; /* most are equal: the rest decides */
    return CLV_OK;
}

static bool needs_diameter(const clv_kpalm_problem *p) {
    bool alpha = !p->hard && p->options.alpha_unit == CLV_KPALM_DIAMETER;
    return alpha || (p->euclidean && isnan(p->options.epsilon));
}

static void find_parameters(clv_kpalm_problem *p) {
    const clv_kpalm_options *options = &p->options;
    double variance = p->spread / p->mass, length = p->euclidean ? sqrt(variance) : variance;
    double effective = p->euclidean ? sqrt(p->effective) : p->effective;
    double unit = options->alpha_unit == CLV_KPALM_EFFECTIVE  ? (double)p->k * effective
                  : options->alpha_unit == CLV_KPALM_VARIANCE ? (double)p->k * length
                  : options->alpha_unit == CLV_KPALM_DIAMETER ? p->diameter
                                                              : 1;
    double factor = options->alpha_unit == CLV_KPALM_EFFECTIVE  ? 3 * sqrt(3 / (double)p->k)
                    : options->alpha_unit == CLV_KPALM_VARIANCE ? 3
                                                                : 1;
    p->alpha = options->gamma_w * unit * (isnan(options->alpha) ? factor : options->alpha);
    p->alpha = p->alpha > 0 ? p->alpha : 1; /* objects that are all equal */
    if (p->euclidean) {
        double share = options->solver == CLV_KPALM_WEISZFELD ? 0.001 : 0.05;
        p->epsilon = isnan(options->epsilon) ? share * p->extent : options->epsilon;
        double reach = p->frame.reach * p->frame.unit;
        bool equal = p->frame.radius * p->frame.unit <= 1e-12 * reach; /* any will do, but rounding */
        p->epsilon = fmax(p->epsilon, (equal ? 1 : 1e-12) * (reach > 0 ? reach : 1));
    }
    double tol = isnan(options->control.tol) ? (p->euclidean ? 1e-6 : 1e-9) : options->control.tol;
    double rounding = 64 * DBL_EPSILON * (p->euclidean ? p->length : p->frame.reach * p->frame.unit * p->length);
    p->rounding = p->mass * rounding;
    p->tolerance = p->mass * (tol * (p->euclidean ? p->length : p->length * p->length) + rounding);
}

double clv_kpalm_alpha(const clv_kpalm_problem *p, int64_t t) {
    double factor = p->options.schedule == CLV_KPALM_CONSTANT   ? 1
                    : p->options.schedule == CLV_KPALM_HARMONIC ? 1 / ((double)t + 1)
                                                                : ldexp(1, t < 1000 ? -(int)t : -1000);
    return p->alpha * fmax(factor, ALPHA_FLOOR);
}

bool clv_kpalm_alpha_at_floor(const clv_kpalm_problem *p, int64_t t) {
    return clv_kpalm_alpha(p, t) <= p->alpha * ALPHA_FLOOR;
}

/* --- checks --- */

static clv_status check_start(clv_context *ctx, const clv_matrix *points, const clv_kpalm_options *options,
                              const clv_matrix *centers) {
    if (centers->rows != options->k || centers->cols != points->cols) {
        return clv_fail(ctx, CLV_EDATA, "%lld x %lld starting centers were given, where k x columns = %lld x %lld",
                        (long long)centers->rows, (long long)centers->cols, (long long)options->k,
                        (long long)points->cols);
    }
    return clv_matrix_check(ctx, "the starting centers:", centers, LARGEST);
}

static clv_status check_sizes(clv_context *ctx, const clv_matrix *points, const clv_kpalm_options *options) {
    CLV_TRY(clv_check_k(ctx, &clv_kpalm_method, options->k, points->rows));
    if (points->cols < 1) {
        return clv_fail(ctx, CLV_EDATA, "the points have no columns");
    }
    if (options->alpha <= 0) {
        return clv_fail(ctx, CLV_EUSAGE, "alpha = %g: it must be more than 0", options->alpha);
    }
    if (options->solver == CLV_KPALM_LLOYD && options->norm == CLV_KPALM_EUCLIDEAN) {
        return clv_fail(ctx, CLV_EUSAGE, "solver 'lloyd' is for norm 'squared': use kpalm or weiszfeld");
    }
    if (options->solver == CLV_KPALM_WEISZFELD && options->norm == CLV_KPALM_SQUARED) {
        return clv_fail(ctx, CLV_EUSAGE, "solver 'weiszfeld' is for norm 'euclidean': use kpalm or lloyd");
    }
    return CLV_OK;
}

/* The sum of the sample weights. */
static clv_status weigh(clv_kpalm_problem *p) {
    double most = 0;
    p->mass = p->sample ? 0 : (double)p->n;
    for (int64_t i = 0; p->sample && i < p->n; i++) {
        if (!(p->sample[i] >= 0 && p->sample[i] <= LARGEST_WEIGHT)) {
            return clv_fail(p->ctx, CLV_EDATA, "the sample weight %g of object %lld is not a number from 0 to %g",
                            p->sample[i], (long long)i + 1, LARGEST_WEIGHT);
        }
        p->mass += p->sample[i];
        most = fmax(most, p->sample[i]);
    }
    if (p->mass > 0 && (!p->sample || most >= 1 / LARGEST_WEIGHT)) {
        return CLV_OK;
    }
    return clv_fail(p->ctx, CLV_EDATA, "the largest sample weight is %g, where %g or more is needed", most,
                    1 / LARGEST_WEIGHT);
}

/* "auto" becomes what it stands for. */
static void resolve(clv_kpalm_options *options) {
    bool euclidean = options->norm == CLV_KPALM_EUCLIDEAN || options->solver == CLV_KPALM_WEISZFELD;
    options->norm = euclidean ? CLV_KPALM_EUCLIDEAN : CLV_KPALM_SQUARED;
    if (options->start && strcmp(options->start, "auto") == 0) {
        options->start = euclidean ? "d1++" : "greedy++";
    }
    if (options->alpha_unit == CLV_KPALM_UNIT_AUTO) {
        options->alpha_unit = euclidean ? CLV_KPALM_DIAMETER : CLV_KPALM_EFFECTIVE;
    }
}

clv_status clv_kpalm_problem_new(clv_context *ctx, const clv_input *input, const clv_kpalm_options *options,
                                 clv_kpalm_problem *out) {
    const clv_matrix *points = input->points;
    *out = (clv_kpalm_problem){.ctx = ctx, .points = points, .options = *options, .start_centers = input->start};
    out->least_factor = out->most_factor = 1;
    CLV_TRY(check_sizes(ctx, points, options));
    CLV_TRY(input->start ? check_start(ctx, points, options, input->start) : CLV_OK);
    CLV_TRY(input->weights ? clv_column_of(ctx, "weights", input->weights, points->rows, &out->sample) : CLV_OK);
    resolve(&out->options);
    out->n = points->rows;
    out->p = points->cols;
    out->k = options->k;
    out->euclidean = out->options.norm == CLV_KPALM_EUCLIDEAN;
    out->hard = options->solver != CLV_KPALM_KPALM;
    out->damping = out->hard ? 1 : options->gamma_x;
    out->show = options->control.keep_trace;
    if (options->place == CLV_KPALM_PLACE_AUTO) {
        out->options.place = clv_kpalm_card_pays(out) ? CLV_KPALM_CUDA : CLV_KPALM_HOST;
    }
    CLV_TRY(weigh(out));
    clv_kpalm_divide(out);
    CLV_TRY(find_frame(out));
    if (needs_diameter(out)) {
        CLV_TRY(find_diameter(out));
        CLV_TRY(find_extent(out));
    }
    if (!out->hard && out->options.alpha_unit == CLV_KPALM_EFFECTIVE) {
        CLV_TRY(find_effective(out));
    }
    find_parameters(out);
    return CLV_OK;
}

/* --- what is given beside the problem --- */

/* By the mean distance of object i to all objects, |a_i - mean|^2 + V, over the average of these, 2 V: 1/2 or more, as
 * Assumption 2 wants a lower bound. The square root for the Euclidean norm, whose alpha is a length. */
static clv_status factors_by_distance(clv_kpalm_problem *p) {
    double variance = p->spread / p->mass;
    CLV_TRY(clv_kpalm_gather_objects(p, p->norms, sizeof *p->norms));
    p->factor = CLV_NEW(p->ctx, double, p->n);
    for (int64_t i = 0; p->factor && i < p->n; i++) {
        double factor = variance > 0 ? (p->norms[i] / variance + 1) / 2 : 1;
        p->factor[i] = p->euclidean ? sqrt(factor) : factor;
    }
    return p->factor ? CLV_OK : CLV_ENOMEM;
}

static clv_status take_factors(clv_kpalm_problem *p, const clv_matrix *given) {
    const char *name = p->options.object_alpha ? p->options.object_alpha : "same";
    if (given) {
        CLV_TRY(clv_column_of(p->ctx, "object-alpha", given, p->n, &p->factor));
    } else if (strcmp(name, "distance") == 0) {
        CLV_TRY(factors_by_distance(p));
    } else if (strcmp(name, "same") != 0) {
        return clv_fail(p->ctx, CLV_EUSAGE, "object-alpha '%s' is not allowed: it must be same or distance, or a file",
                        name);
    }
    for (int64_t i = 0; p->factor && i < p->n; i++) {
        double factor = p->factor[i];
        if (!(factor >= LEAST_FACTOR && factor <= 1 / LEAST_FACTOR)) {
            return clv_fail(p->ctx, CLV_EDATA,
                            "object-alpha: the factor %g of object %lld is not a number from %g to %g", factor,
                            (long long)i + 1, LEAST_FACTOR, 1 / LEAST_FACTOR);
        }
        p->least_factor = i == 0 ? factor : fmin(p->least_factor, factor);
        p->most_factor = i == 0 ? factor : fmax(p->most_factor, factor);
    }
    return CLV_OK;
}

/* Rows that add up to 1 but for rounding, made to do so. */
static clv_status take_membership(clv_kpalm_problem *p, const clv_matrix *given) {
    if (given->rows != p->n || given->cols != p->k) {
        return clv_fail(p->ctx, CLV_EDATA, "start-membership: %lld x %lld numbers, where n x k = %lld x %lld",
                        (long long)given->rows, (long long)given->cols, (long long)p->n, (long long)p->k);
    }
    p->initial = CLV_NEW(p->ctx, double, p->n * p->k);
    for (int64_t i = 0; p->initial && i < p->n; i++) {
        double *row = p->initial + i * p->k, sum = 0, least = 0;
        clv_matrix_row(given, i, row);
        for (int64_t l = 0; l < p->k; l++) {
            sum += row[l];
            least = fmin(least, row[l]);
        }
        if (least < 0 || !(fabs(sum - 1) <= ROW_TOLERANCE)) {
            return clv_fail(p->ctx, CLV_EDATA,
                            "start-membership: row %lld has the sum %g and the least number %g; memberships are not "
                            "negative and add up to 1",
                            (long long)i + 1, sum, least);
        }
        for (int64_t l = 0; l < p->k; l++) {
            row[l] /= sum;
        }
    }
    p->options.initial_membership = CLV_KPALM_GIVEN;
    return p->initial ? CLV_OK : CLV_ENOMEM;
}

clv_status clv_kpalm_take_given(clv_kpalm_problem *p, const clv_input *input) {
    if (p->hard) {
        return CLV_OK; /* neither alpha nor memberships */
    }
    if (!input->start_membership && p->options.start_membership) {
        return clv_fail(p->ctx, CLV_EUSAGE,
                        "start-membership '%s': only the command reads files; give the memberships themselves",
                        p->options.start_membership);
    }
    CLV_TRY(take_factors(p, input->object_alpha));
    CLV_TRY(input->start_membership ? take_membership(p, input->start_membership) : CLV_OK);
    clv_kpalm_divide(p);
    return CLV_OK;
}
