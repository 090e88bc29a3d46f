/* The gamma at which the similarities of gaussian, exponential and local affinities have a given mean over all n^2
 * pairs, those of an object with itself included (0 where the diagonal does not count).
 *
 * With x = d^2 (gaussian), d (exponential) or d^2 in units of the scales (local), the mean of exp(-gamma x) falls from
 * 1 to the share of pairs that coincide, and its logarithm is convex in gamma: Newton's method on it does not overshoot
 * from the left. A first gamma comes from a sample of pairs, at no cost; then each step is a pass over all pairs, n^2 p
 * / 2 operations and as many exponentials, and two or three passes leave rounding only. Where copies alone have a
 * larger mean, it is that of the other pairs; where no gamma has it even so, the rule of clv_gamma_auto serves. With
 * landmarks the sample alone decides. Sums are formed panel by panel in a fixed order: the same bits on any number of
 * threads.
 *
 * For an affinity on a graphics card the passes are made there. A card gives means alone, and the slope is that of the
 * sample first, then that between the last two means. */
#include "affinity/home.h"
#include "affinity/kinds.h"
#include "base/options.h"

#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 60, MOST_PASSES = 20 };
/* Relative deviations from the mean after which one more step of Newton's, which squares them, is the last: on the
 * sample, and on all pairs. */
#define ROUGH 1e-3
#define EXACT 1e-6
#define HUGE_DISTANCE 1e300
/* Of the slope of the sample, what it may be off by; and what a step by a slope that is off may leave. */
#define SAMPLED_SLOPE 0.1
#define LEFT 1e-12
/* The mean must lie so far inside of what any gamma can give. */
#define MARGIN 1e-6

typedef struct calibration {
    clv_context *ctx;
    const clv_matrix *points;
    const clv_affinity_options *options;
    const clv_panels *panels;
    clv_affinity_kind kind;
    int threads;
    bool by_sample; /* alone: passes over all pairs are what landmarks avoid */
    clv_scales scales;
    double own;    /* similarity of an object to itself */
    double target; /* mean over all pairs */
    double *sample;
    int64_t count;
    double *shares; /* panels x 2 */
} calibration;

/* y += a b */
/* The terms exp(-gamma x) and x exp(-gamma x) of a tile of squared distances, which is changed, are added to
 * terms[0..] and terms[CLV_TILE^2..]; the padding beyond rows and cols counts nothing. */
static void add_tile(const calibration *c, double gamma, int64_t rows, int64_t cols, double *tile, double *terms) {
    enum { AREA = CLV_TILE * CLV_TILE };
    _Alignas(64) double e[AREA];
    if (c->kind == CLV_AFFINITY_EXPONENTIAL) {
        clv_kernels->square_root(tile, AREA);
    }
    memcpy(e, tile, sizeof e);
    clv_kernels->gaussian(e, AREA, gamma);
    for (int64_t at = 0; at < AREA && (rows < CLV_TILE || cols < CLV_TILE); at++) {
        e[at] = at / CLV_TILE < rows && at % CLV_TILE < cols ? e[at] : 0;
    }
    clv_kernels->f64.accumulate(terms, e, AREA);
    clv_kernels->add_products(terms + AREA, tile, e, AREA);
}

static void sum_terms(const double *terms, double times, double *sums) {
    sums[0] += times * clv_sum(terms, CLV_TILE * CLV_TILE, 1);
    sums[1] += times * clv_sum(terms + CLV_TILE * CLV_TILE, CLV_TILE * CLV_TILE, 1);
}

/* Tiles beside the diagonal count twice. */
static void sum_panel(const calibration *c, double gamma, int64_t bi, double *sums) {
    _Alignas(64) double tile[CLV_TILE * CLV_TILE], terms[2 * CLV_TILE * CLV_TILE];
    int64_t rows = clv_panel_size(c->panels, bi);
    sums[0] = sums[1] = 0;
    memset(terms, 0, sizeof terms);
    for (int64_t bj = bi; bj < c->panels->count; bj++) {
        clv_distance_tile(c->panels, bi, bj, tile);
        if (c->scales.inverse) {
            clv_scales_tile(c->scales.inverse + bi * CLV_TILE, c->scales.inverse + bj * CLV_TILE, tile);
        }
        add_tile(c, gamma, rows, clv_panel_size(c->panels, bj), tile, terms);
        if (bj == bi) {
            sum_terms(terms, 1, sums);
            memset(terms, 0, sizeof terms);
        }
    }
    sum_terms(terms, 2, sums);
}

/* Mean of the similarities at gamma, and the slope of its logarithm, from all pairs. */
static clv_status measure_all(const calibration *c, double gamma, double *mean, double *slope) {
    int stopped = 0;
    double n = (double)c->panels->n, sums[2] = {0, 0};
#pragma omp parallel for num_threads(clv_team(c->threads)) schedule(dynamic)
    for (int64_t b = 0; b < c->panels->count; b++) {
        int stop;
#pragma omp atomic read
        stop = stopped;
        if (!stop) {
            sum_panel(c, gamma, b, c->shares + 2 * b);
        }
        if (!stop && clv_worked(c->ctx, clv_panel_work(c->panels))) {
#pragma omp atomic write
            stopped = 1;
        }
    }
    if (stopped) {
        return clv_stop_failure(c->ctx, "calibrating gamma");
    }
    for (int64_t b = 0; b < c->panels->count; b++) {
        sums[0] += c->shares[2 * b];
        sums[1] += c->shares[2 * b + 1];
    }
    sums[0] -= (1 - c->own) * n;
    *mean = sums[0] / (n * n);
    *slope = -sums[1] / sums[0];
    return CLV_OK;
}

/* The same from the sample, in tiles that are filled up with points too far away to be similar. */
static clv_status measure_sample(const calibration *c, double gamma, double *mean, double *slope) {
    enum { AREA = CLV_TILE * CLV_TILE };
    _Alignas(64) double tile[AREA], terms[2 * AREA];
    double n = (double)c->panels->n, sums[2] = {0, 0};
    memset(terms, 0, sizeof terms);
    for (int64_t at = 0; at < c->count; at += AREA) {
        for (int64_t e = 0; e < AREA; e++) {
            tile[e] = at + e < c->count ? c->sample[at + e] : HUGE_DISTANCE;
        }
        add_tile(c, gamma, CLV_TILE, CLV_TILE, tile, terms);
    }
    sum_terms(terms, 1, sums);
    double others = (n - 1) / n / (double)c->count;
    *mean = c->own / n + others * sums[0];
    *slope = -others * sums[1] / *mean;
    return CLV_OK;
}

typedef clv_status (*measurer)(const calibration *c, double gamma, double *mean, double *slope);

/* Newton's steps from *gamma, kept within what is known of the root and a factor of 4. */
static clv_status find_root(const calibration *c, measurer measure, double enough, int steps, double *gamma) {
    double low = 0, high = INFINITY;
    for (int step = 0; step < steps; step++) {
        double mean, slope;
        CLV_TRY(measure(c, *gamma, &mean, &slope));
        double excess = mean > 0 ? log(mean / c->target) : -HUGE_VAL;
        if (fabs(excess) <= enough) {
            *gamma -= excess / slope;
            return CLV_OK;
        }
        if (excess > 0) {
            low = *gamma;
        } else {
            high = *gamma;
        }
        double next = *gamma - excess / slope;
        if (!(next > low && next < high)) {
            next = high < HUGE_VAL ? (low + high) / 2 : 4 * *gamma;
        }
        *gamma = fmin(fmax(next, *gamma / 4), *gamma * 4);
    }
    return CLV_OK;
}

/* --- on a card --- */

static bool is_on_card(const calibration *c) {
    bool possible = clv_cuda_maker.suits(c->points, c->options);
    bool asked = c->options->home == CLV_HOME_CUDA;
    bool pays =
        c->options->home == CLV_HOME_AUTO && !clv_is_shared(c->ctx) && clv_cuda_pays(c->ctx, c->points, c->options);
    return possible && (asked || pays);
}

static clv_status measure_on_card(const calibration *c, double gamma, double *degree, double *mean) {
    clv_affinity_options how = *c->options;
    clv_affinity *a = NULL;
    double n = (double)c->panels->n;
    how.home = CLV_HOME_CUDA;
    how.gamma = gamma;
    clv_status status = clv_affinity_build(c->ctx, c->points, &how, &a);
    if (status == CLV_OK) {
        status = clv_affinity_degrees(a, degree, c->threads);
        *mean = status == CLV_OK ? clv_sum(degree, c->panels->n, c->threads) / (n * n) : NAN;
    }
    clv_affinity_free(a);
    return status;
}

/* From a gamma that is near: a step leaves the error times that of the slope. */
static clv_status find_root_on_card(const calibration *c, double *degree, double *gamma) {
    double before = 0, excess_before = 0, mean, slope, left = INFINITY;
    CLV_TRY(measure_sample(c, *gamma, &mean, &slope));
    for (int pass = 0; pass < MOST_PASSES && left > LEFT; pass++) {
        CLV_TRY(measure_on_card(c, *gamma, degree, &mean));
        double excess = log(mean / c->target);
        slope = pass > 0 && *gamma != before ? (excess - excess_before) / (*gamma - before) : slope;
        left = fabs(excess) * (pass > 0 ? fabs(excess_before) : SAMPLED_SLOPE);
        before = *gamma;
        excess_before = excess;
        *gamma = fmin(fmax(before - excess / slope, before / 4), before * 4);
    }
    return CLV_OK;
}

static clv_status finish_on_card(const calibration *c, double *gamma) {
    double *degree = CLV_NEW(c->ctx, double, c->panels->n);
    clv_status status = degree ? find_root_on_card(c, degree, gamma) : CLV_ENOMEM;
    clv_free(c->ctx, degree);
    return status;
}

/* --- all --- */

/* Whether some gamma has the mean, as far as the sample tells. Where copies alone have a larger one, the mean is that
 * of the pairs that differ. */
static bool is_reachable(calibration *c) {
    double n = (double)c->panels->n;
    int64_t equal = 0;
    for (int64_t s = 0; s < c->count; s++) {
        equal += c->sample[s] <= 0;
    }
    double others = c->count > 0 ? (n - 1) / n : 0;
    double least = c->own / n + (c->count > 0 ? others * (double)equal / (double)c->count : 0);
    double most = c->own / n + others, floor = least * (1 + MARGIN) + MARGIN * MARGIN;
    if (c->target <= floor && equal > 0) {
        c->target = least + (most - least) * c->target;
    }
    return c->target > floor && c->target < most * (1 - MARGIN);
}

static clv_status calibrate(calibration *c, double *gamma) {
    CLV_TRY(clv_gamma_auto(c->ctx, c->panels, c->kind, gamma));
    CLV_TRY(clv_sample_distances(c->ctx, c->panels, c->scales.inverse, &c->sample, &c->count));
    c->shares = CLV_NEW(c->ctx, double, 2 * c->panels->count);
    if (!c->shares) {
        return CLV_ENOMEM;
    }
    if (!is_reachable(c)) {
        return CLV_OK;
    }
    CLV_TRY(find_root(c, measure_sample, c->by_sample ? EXACT : ROUGH, MOST_STEPS, gamma));
    if (c->by_sample) {
        return CLV_OK;
    }
    return is_on_card(c) ? finish_on_card(c, gamma) : find_root(c, measure_all, EXACT, MOST_PASSES, gamma);
}

clv_status clv_affinity_calibrate(clv_context *ctx, const clv_matrix *points, const clv_affinity_options *given,
                                  double mean, double *gamma) {
    CLV_NEED(ctx, points);
    CLV_NEED_AS(ctx, given, "options");
    clv_affinity_options own, *options = &own;
    clv_affinity_info plan;
    clv_panels panels;
    CLV_TRY(clv_options_adopt(ctx, clv_affinity_table(), given, options));
    options->kind = options->kind == CLV_AFFINITY_AUTO ? CLV_AFFINITY_GAUSSIAN : options->kind;
    if (!clv_kind_of(options->kind)->has_gamma) {
        return clv_fail(ctx, CLV_EUSAGE, "a %s affinity has no gamma to calibrate",
                        clv_affinity_kind_name(options->kind));
    }
    if (!(mean > 0)) {
        return clv_fail(ctx, CLV_EUSAGE, "mean = %g: similarities can only have a mean above 0", mean);
    }
    CLV_TRY(clv_affinity_plan(ctx, points, options, &plan)); /* for its checks */
    CLV_TRY(clv_points_check(ctx, points));
    calibration c = {.ctx = ctx,
                     .points = points,
                     .options = options,
                     .panels = &panels,
                     .kind = options->kind,
                     .threads = clv_threads(options->threads),
                     .by_sample = options->landmarks > 0,
                     .own = options->zero_diagonal ? 0 : 1,
                     .target = mean};
    CLV_TRY(clv_panels_new(ctx, points, c.threads, &panels));
    clv_status status = CLV_OK;
    if (clv_kind_of(options->kind)->has_scales) {
        status = clv_scales_new(ctx, &panels, options, c.threads, &c.scales);
    }
    status = status < 0 ? status : calibrate(&c, gamma);
    clv_scales_free(ctx, &c.scales);
    clv_free(ctx, c.sample);
    clv_free(ctx, c.shares);
    clv_panels_free(&panels);
    return status;
}
