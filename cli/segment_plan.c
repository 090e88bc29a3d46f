/* What cleave segment will hold, found out before it is allocated: a picture can be made as large as --pixels says.
 *
 * The budget is for the picture, the objects, their similarities and the method together. Bytes of the objects follow
 * from the arrays of the library (below), those of similarities and methods are the library's own forecasts. */
#include "segment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes a pixel, and a superpixel, of the stages. */
enum {
    ROUNDS = 36,           /* colors 12, distances 4, labels 4, sums 16 */
    ROUNDS_CENTER = 80,    /* centers 20, their order 12, sums 48 */
    TIDYING = 80,          /* measured on noise, where nearly every pixel is a piece; photographs take 20 to 30 */
    PIECE = 100,           /* sizes, labels, parents 16, which ones touch about 84 */
    FEATURES = 18,         /* regions 4, colors 12, textures and gray 1 each */
    FEATURES_OBJECT = 608, /* 39 columns, histograms of 24, textures of 10, sizes: 76 numbers */
    PIXEL_POINT = 28,      /* three numbers and a label */
    BORDER = 16,           /* a pair of pixels with different labels, both ways round */
    LABEL = 12,            /* labels, pieces, and what is written */
};

static size_t held(const segment_job *s) {
    size_t now, peak;
    clv_context_memory(s->app->ctx, &now, &peak);
    return now;
}

static size_t most(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Sizes of pictures are at most 2^31 pixels: sums of these products stay far below 2^63. */
static size_t pixel_bytes(const segment_job *s) {
    size_t pixels = (size_t)s->width * (size_t)s->height, channels = (size_t)s->image.channels;
    size_t rows = sizeof(float) * (size_t)s->image.height * (size_t)s->width * channels; /* while it is resized */
    size_t weights = sizeof(float) * (size_t)(s->image.width + s->image.height + 4 * (s->width + s->height));
    return pixels * channels + most(rows + weights, pixels * PIXEL_POINT);
}

static size_t superpixel_bytes(const segment_job *s) {
    size_t pixels = (size_t)s->image.width * (size_t)s->image.height;
    size_t count = (size_t)s->superpixels.superpixels < pixels ? (size_t)s->superpixels.superpixels : pixels;
    return most(most(ROUNDS * pixels + ROUNDS_CENTER * count, TIDYING * pixels),
                FEATURES * pixels + FEATURES_OBJECT * count);
}

/* Pairs of pixels, side by side or above each other, of different superpixels. */
static size_t count_borders(const segment_job *s) {
    const int32_t *labels = s->regions->labels;
    int64_t width = s->regions->width, pixels = width * s->regions->height;
    size_t count = 0;
    for (int64_t i = 0; i < pixels; i++) {
        count += i % width + 1 < width && labels[i] != labels[i + 1];
        count += i + width < pixels && labels[i] != labels[i + width];
    }
    return count;
}

/* While pixels get their labels: borders are those of objects at most. The lines between W x H objects are W - 1 of the
 * height of the picture, H - 1 of its width. */
static size_t label_bytes(const segment_job *s, size_t objects) {
    size_t width = (size_t)s->image.width, height = (size_t)s->image.height;
    size_t lines = (size_t)(s->width < s->image.width ? s->width : s->image.width) * height +
                   (size_t)(s->height < s->image.height ? s->height : s->image.height) * width;
    size_t borders = s->width ? lines : count_borders(s);
    return LABEL * width * height + BORDER * borders + PIECE * objects;
}

static clv_status refuse(const segment_job *s, const char *what, size_t bytes) {
    char needed[32], budget[32];
    cli_print_bytes((double)(held(s) + bytes), needed, sizeof needed);
    cli_print_bytes((double)cli_budget(s->options.memory), budget, sizeof budget);
    return cli_fail(s->app, CLV_ENOMEM, "%s (%lld x %lld): %s would take %s, more than the budget of %s (--memory)",
                    s->args.operands[0], (long long)s->image.width, (long long)s->image.height, what, needed, budget);
}

static clv_status check(const segment_job *s, const char *what, size_t bytes) {
    return held(s) + bytes > cli_budget(s->options.memory) ? refuse(s, what, bytes) : CLV_OK;
}

/* --- the method --- */

/* A sample of the distances of all pairs, from which the width of similarities comes. */
static size_t sample_bytes(size_t objects) {
    static const size_t most_pairs = (size_t)1 << 17;
    size_t pairs = objects < 512 ? objects * objects / 2 : most_pairs;
    return pairs * sizeof(double);
}

/* The graph of objects near each other: regions within `reach` steps. Pixels have 2 r (r + 1) of those, superpixels up
 * to 4 r (r + 1), as squares that touch at their corners; what finds them takes a list of all borders, and before that
 * a sample of distances. */
static void plan_graph(segment_job *s, size_t objects) {
    double reach = (double)s->options.reach, near = (s->width ? 2 : 4) * reach * (reach + 1) + 1;
    size_t each = near < (double)objects ? (size_t)near : objects;
    size_t borders = s->width ? 2 * objects : count_borders(s);
    size_t bytes = objects * (each * (sizeof(double) + sizeof(int32_t)) + sizeof(int64_t));
    s->plan.affinity =
        (clv_affinity_info){.home = clv_home_name(CLV_HOME_SPARSE),
                            .n = (int64_t)objects,
                            .sparse = 1,
                            .bytes = bytes,
                            .peak = most(bytes + BORDER * borders + PIECE * objects, sample_bytes(objects)),
                            .cost = {.resident = 1}};
}

/* Bytes that the method holds itself on so many threads; `plan` is what is known of its similarities, or NULL. */
static size_t method_bytes(const segment_job *s, const clv_matrix *points, const clv_affinity_info *plan,
                           int64_t threads) {
    const cli_segmenter *segmenter = s->segmenter;
    clv_affinity_info known = plan ? *plan : (clv_affinity_info){0};
    clv_matrix objects = *points;
    clv_input input = {.points = &objects, .plan = &known};
    known.n = points->rows;
    objects.cols = segmenter->columns ? segmenter->columns(points) : points->cols;
    return cli_method_bytes(s->method, &input, s->method_options, threads) +
           (segmenter->more ? segmenter->more(points) : 0);
}

static clv_status plan_similarity(segment_job *s, const clv_matrix *points, size_t later) {
    clv_affinity_options how;
    size_t taken = later + method_bytes(s, points, NULL, 1);
    size_t budget = cli_budget(s->options.memory);
    cli_segment_similarity(s, &how);
    if (held(s) + taken >= budget) {
        return refuse(s, s->method->name, taken);
    }
    how.memory = (int64_t)(budget - taken);
    return cli_library(s->app, clv_affinity_plan(s->app->ctx, points, &how, &s->plan.affinity));
}

/* Fewer threads where the work arrays of all would not fit. */
static void fit_threads(segment_job *s, const clv_matrix *points, size_t later) {
    const clv_affinity_info *plan = &s->plan.affinity;
    int64_t threads = s->control->threads > 0 ? s->control->threads : sysconf(_SC_NPROCESSORS_ONLN);
    size_t budget = cli_budget(s->options.memory), others = held(s) + later + s->plan.affinity.bytes;
    while (threads > 1 && others + method_bytes(s, points, plan, threads) > budget) {
        threads--;
    }
    s->control->threads = threads;
    s->plan.method = method_bytes(s, points, plan, threads);
    s->plan.method_thread = method_bytes(s, points, plan, 1);
}

/* `later` bytes are not held yet, but will be. */
static clv_status plan_method(segment_job *s, const clv_matrix *points, size_t later) {
    const cli_segmenter *method = s->segmenter;
    if (method->similarity && (method->most == 0 || points->rows <= method->most)) {
        CLI_TRY(plan_similarity(s, points, later));
    }
    if (method->near) {
        plan_graph(s, (size_t)points->rows);
    }
    fit_threads(s, points, later);
    s->plan.labels = label_bytes(s, (size_t)points->rows);
    CLI_TRY(check(s, "the labels of the pixels", later + s->plan.labels));
    return check(s, s->method->name, later + most(s->plan.affinity.peak, s->plan.affinity.bytes + s->plan.method));
}

clv_status cli_segment_plan_objects(segment_job *s) {
    s->plan.objects = s->width ? pixel_bytes(s) : superpixel_bytes(s);
    CLI_TRY(check(s, s->width ? "the pixels of --pixels" : "superpixels", s->plan.objects));
    if (s->width) {
        clv_matrix points = {.rows = s->width * s->height, .cols = 3, .scalar = CLV_F64};
        size_t later = (size_t)points.rows * (PIXEL_POINT + (size_t)s->image.channels);
        return plan_method(s, &points, later);
    }
    return CLV_OK;
}

clv_status cli_segment_plan_method(segment_job *s) {
    size_t now;
    clv_context_memory(s->app->ctx, &now, &s->plan.objects); /* they are made: measured */
    return plan_method(s, clv_data_matrix(s->points), 0);
}

/* --- --dry-run --- */

static size_t resident_peak(const segment_job *s) {
    return cli_resident_peak(
        most(s->plan.labels, most(s->plan.affinity.peak, s->plan.affinity.bytes + s->plan.method)));
}

static void print_table(FILE *stream, const void *what) {
    const segment_job *s = what;
    const segment_plan *plan = &s->plan;
    char note[128];
    snprintf(note, sizeof note, "%lld %s, while they were made", (long long)s->regions->count,
             s->width ? "pixels" : "superpixels");
    cli_forecast_line(stream, "objects", plan->objects, note);
    if (plan->affinity.home) {
        snprintf(note, sizeof note, "home %s", plan->affinity.home);
        cli_forecast_line(stream, "affinity", plan->affinity.bytes, note);
        cli_forecast_line(stream, "  while built", plan->affinity.peak, "");
    }
    cli_forecast_line(stream, s->method->name, plan->method, "total");
    cli_forecast_line(stream, "  per thread", plan->method_thread, "");
    cli_forecast_line(stream, "labels", plan->labels, "of the pixels, at most");
    cli_forecast_line(stream, "resident, peak", resident_peak(s), "predicted for the whole program");
}

static void print_json(FILE *stream, const void *what) {
    const segment_job *s = what;
    const segment_plan *plan = &s->plan;
    fprintf(stream,
            "{\"cleave\": \"%s\", \"method\": \"%s\", \"dry_run\": true, \"width\": %lld, \"height\": %lld, "
            "\"objects\": %lld,\n \"bytes\": {\"objects\": %zu, ",
            clv_version(), s->method->name, (long long)s->image.width, (long long)s->image.height,
            (long long)s->regions->count, plan->objects);
    if (plan->affinity.home) {
        fprintf(stream, "\"affinity\": %zu, \"affinity_peak\": %zu, ", plan->affinity.bytes, plan->affinity.peak);
    }
    fprintf(stream, "\"method\": %zu, \"method_per_thread\": %zu, \"labels\": %zu, \"resident_peak\": %zu}}\n",
            plan->method, plan->method_thread, plan->labels, resident_peak(s));
}

clv_status cli_segment_forecast(const segment_job *s) {
    cli_outputs out = {.app = s->app};
    return cli_outputs_tell(&out, s->options.json, s->options.quiet, print_json, print_table, s);
}
