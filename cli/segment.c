/* cleave segment: a picture into segments.
 *
 * picture -> superpixels (or the pixels of a smaller picture) -> a point each -> method -> one label per pixel ->
 * pieces too small to see joined to their neighbors -> label image, overlay. */
#include "segment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const clv_option_table *segment_table(void) {
    static clv_option options[] = {
        CLI_CHOICE_OPTION(segment_options, method, "method", NULL, "the method that clusters the objects"),
        CLI_NUMBER_OPTION(CLV_OPTION_INT, segment_options, k, "k", 'k', 0, 1, 65534, "auto", "N",
                          "number of segments (dominant: at most); auto: 4, with symnmf and kpalm 3"),
        CLI_FILE_OPTION(segment_options, pixels, "pixels", 0, "WxH",
                        "shrink the picture to this size and cluster its pixels, not superpixels"),
        CLI_NUMBER_OPTION(CLV_OPTION_INT, segment_options, reach, "reach", 0, 8, 1, 65536, NULL, "N",
                          "objects more than N steps apart are not similar (ncut)"),
        CLI_NUMBER_OPTION(CLV_OPTION_REAL, segment_options, sigma, "sigma", 0, 0.3, 1e-3, 1e3, NULL, "S",
                          "width of the similarity, as a share of the median distance of objects (ncut)"),
        CLI_FILE_OPTION(segment_options, solver, "solver", 0, "NAME",
                        "one of the method's own solvers, by its name in cleave METHOD --help"),
        {.name = "polish",
         .kind = CLV_OPTION_FLAG,
         .offset = offsetof(segment_options, polish),
         .initial = 1,
         .most = 1,
         .help = "go on after the solver until no single move lowers the cut, then search (ncut)"},
        CLI_NUMBER_OPTION(CLV_OPTION_INT, segment_options, least, "min-piece", 0, 0, 0, 0x1p31 - 1, "auto", "N",
                          "connected pieces of fewer pixels join a neighbor; auto: a thousandth of the picture"),
        CLI_MEMORY_OPTION(segment_options),
    };
    static const clv_option_table table = {"segmentation", options, CLI_COUNT(options), 0};
    options[0].choices = cli_segment_methods();
    return &table;
}

static const clv_option_table *output_table(void) {
    static const clv_option options[] = {
        CLI_FILE_OPTION(segment_options, output, "output", 'o', "FILE",
                        "the label image: .png (a color per segment, whose samples are the labels) or .npy"),
        CLI_CHOICE_OPTION(segment_options, numbers, "label-image", "colors|numbers",
                          "-o FILE.png: a palette of colors (up to 255 segments), or 16-bit gray (65535 is no label)"),
        CLI_FILE_OPTION(segment_options, fill, "fill", 0, "FILE.png",
                        "the picture with each segment in its mean color"),
        CLI_FILE_OPTION(segment_options, overlay, "overlay", 0, "FILE.png",
                        "the picture with the borders of the segments drawn on it"),
        CLI_FILE_OPTION(segment_options, labels, "labels-out", 0, "FILE.npy",
                        "labels of the pixels, int32, height x width"),
        CLI_FILE_OPTION(segment_options, points, "points-out", 0, "FILE",
                        "the points that were clustered, one row per object: .npy, .csv, .tsv"),
        CLI_FILE_OPTION(segment_options, json, "json", 0, "FILE|-",
                        "what was found; - writes it to standard output instead of the table"),
        CLI_FILE_OPTION(segment_options, report, "report", 0, "FILE.html", "a self-contained page with pictures"),
        CLI_FLAG_OPTION(segment_options, dry_run, "dry-run", 0,
                        "make the objects, say what would be allocated, and stop"),
        CLI_TALK_OPTIONS(segment_options),
    };
    static const clv_option_table table = {"output", options, CLI_COUNT(options), 0};
    return &table;
}

/* --- before the work --- */

static clv_status check_targets(const segment_job *s) {
    const segment_options *o = &s->options;
    const cli_target targets[] = {
        {"output", o->output, "png|npy"},  {"overlay", o->overlay, "png"},           {"fill", o->fill, "png"},
        {"labels-out", o->labels, "npy"},  {"points-out", o->points, "npy|csv|tsv"}, {"json", o->json, NULL},
        {"report", o->report, "html|htm"}, {"checkpoint", s->checkpoint.path, NULL}};
    const char *const inputs[] = {s->args.operands[0],
                                  cli_checkpoint_is_input(&s->checkpoint) ? s->checkpoint.resume : NULL};
    return cli_targets_check(s->app, targets, CLI_COUNT(targets), inputs, CLI_COUNT(inputs));
}

/* "120x80" as numbers. */
static bool read_size(const char *text, int64_t *width, int64_t *height) {
    char *end;
    if (*text < '0' || *text > '9') {
        return false;
    }
    *width = strtoll(text, &end, 10);
    if ((*end != 'x' && *end != 'X') || end[1] < '0' || end[1] > '9') {
        return false;
    }
    *height = strtoll(end + 1, &end, 10);
    return *end == '\0' && *width >= 1 && *height >= 1 && *width <= 65535 && *height <= 65535 &&
           *width <= INT32_MAX / *height;
}

static clv_status read_pixels(segment_job *s) {
    if (s->options.pixels && !read_size(s->options.pixels, &s->width, &s->height)) {
        return cli_fail(s->app, CLV_EUSAGE,
                        "--pixels: '%s' is not WIDTHxHEIGHT, two numbers of 1 to 65535 with a product below 2^31",
                        s->options.pixels);
    }
    return CLV_OK;
}

/* Options that the others leave without a use. */
static clv_status check_uses(const segment_job *s) {
    static const char *const of_superpixels[] = {"superpixels", "compactness", "rounds", "color",
                                                 "histogram",   "texture",     "place"};
    static const char *const of_graphs[] = {"reach", "sigma", "polish"};
    const cli_segmenter *method = s->segmenter;
    for (size_t i = 0; s->width && i < CLI_COUNT(of_superpixels); i++) {
        if (cli_args_given(&s->args, of_superpixels[i])) {
            return cli_fail(s->app, CLV_EUSAGE, "--pixels and --%s cannot be used together: there are no superpixels",
                            of_superpixels[i]);
        }
    }
    for (size_t i = 0; !method->near && i < CLI_COUNT(of_graphs); i++) {
        if (cli_args_given(&s->args, of_graphs[i])) {
            return cli_fail(s->app, CLV_EUSAGE, "--%s cannot be used with --method %s: it is for ncut", of_graphs[i],
                            s->method->name);
        }
    }
    if (!method->restarts && cli_args_given(&s->args, "restarts")) {
        return cli_fail(s->app, CLV_EUSAGE, "--restarts cannot be used with --method %s: all would be the same",
                        s->method->name);
    }
    return CLV_OK;
}

static bool has_looks(const segment_job *s) {
    return s->width || s->weights.color > 0 || s->weights.histogram > 0 || s->weights.texture > 0;
}

static void set_k(segment_job *s) {
    const clv_option *k = clv_options_find(s->method->options, "k");
    *(int64_t *)(void *)(s->method_options + k->offset) = s->options.k;
}

/* What the method has been told besides its defaults. */
static clv_status set_solver(segment_job *s) {
    clv_context *ctx = s->app->ctx;
    const char *solver = s->options.solver;
    if (solver) {
        CLI_TRY(cli_library(s->app, clv_options_set(ctx, s->method->options, s->method_options, "solver", solver)));
    }
    if (!s->options.polish && s->segmenter->near) {
        CLI_TRY(cli_library(s->app, clv_options_set(ctx, s->method->options, s->method_options, "polish", "false")));
    }
    return CLV_OK;
}

/* The method that was asked for, with its options. */
static clv_status set_method(segment_job *s) {
    s->method = cli_segment_method(s->options.method);
    s->segmenter = cli_segmenter_of(s->method);
    clv_method_defaults(s->method, s->method_options, s->method->options->size);
    s->control = (clv_control *)(void *)s->method_options;
    s->asked.size = s->control->size;
    *s->control = s->asked;
    if (s->segmenter->set) {
        s->segmenter->set(s->method_options);
    }
    if (s->options.k == 0) {
        s->options.k = s->segmenter->k;
        s->chosen_k = true;
    }
    set_k(s);
    return set_solver(s);
}

static clv_status check(segment_job *s) {
    const segment_options *o = &s->options;
    CLI_TRY(set_method(s));
    if (!o->output && !o->overlay && !o->fill && !o->labels && !o->points && !o->report && !o->dry_run) {
        return cli_fail(s->app, CLV_EUSAGE, "segment needs -o FILE, where the label image goes (.png or .npy)");
    }
    CLI_TRY(read_pixels(s));
    CLI_TRY(check_uses(s));
    if (!has_looks(s) && s->weights.place == 0) {
        return cli_fail(s->app, CLV_EUSAGE,
                        "--color, --histogram, --texture and --place are all 0: nothing tells superpixels apart");
    }
    return check_targets(s);
}

/* --- the objects --- */

static clv_status make_pixels(segment_job *s) {
    clv_context *ctx = s->app->ctx;
    CLI_TRY(cli_library(s->app, clv_image_resize(ctx, &s->image, s->width, s->height, &s->small)));
    CLI_TRY(cli_library(s->app, clv_regions_of_pixels(ctx, s->width, s->height, &s->regions)));
    return cli_library(s->app, clv_image_points(ctx, &s->small, &s->points));
}

static clv_status make_superpixels(segment_job *s) {
    clv_context *ctx = s->app->ctx;
    s->superpixels.threads = s->control->threads;
    CLI_TRY(cli_library(s->app, clv_superpixels(ctx, &s->image, &s->superpixels, &s->regions)));
    return cli_library(s->app,
                       clv_region_points(ctx, &s->image, s->regions, &s->weights, s->control->threads, &s->points));
}

static clv_status fit_k(segment_job *s) {
    int64_t count = s->regions->count;
    if (s->chosen_k && s->options.k > count) {
        s->options.k = count; /* what nobody asked for is as much as there can be */
        set_k(s);
    }
    if (s->options.k > count) {
        return cli_fail(s->app, CLV_EDATA, "k = %lld exceeds the %lld %s of %s", (long long)s->options.k,
                        (long long)count, s->width ? "pixels" : "superpixels", s->args.operands[0]);
    }
    return CLV_OK;
}

static clv_status make_objects(segment_job *s) {
    double began = cli_seconds();
    cli_reading_begin(s->app, s->options.memory);
    cli_progress_begin(&s->progress, s->app, cli_progress_is_wanted(&s->args, s->options.progress, s->options.quiet),
                       s->options.progress, NULL);
    cli_progress_phase(&s->progress, "reading");
    CLI_TRY(cli_library(s->app, clv_read_image(s->app->ctx, s->args.operands[0], &s->image)));
    cli_reading_end(s->app);
    CLI_TRY(cli_segment_plan_objects(s));
    cli_progress_phase(&s->progress, "objects");
    CLI_TRY(s->width ? make_pixels(s) : make_superpixels(s));
    CLI_TRY(fit_k(s));
    cli_progress_end(&s->progress);
    s->object_seconds = cli_seconds() - began;
    if (s->options.verbose) {
        cli_tell("%s: %lld x %lld pixels with %lld channels; %lld %s, %.3f s", s->args.operands[0],
                 (long long)s->image.width, (long long)s->image.height, (long long)s->image.channels,
                 (long long)s->regions->count, s->width ? "pixels" : "superpixels", s->object_seconds);
    }
    return cli_segment_plan_method(s);
}

/* --- the method, and labels for all pixels --- */

/* Whether there is nothing to tell apart: one object, or many that differ by rounding at most; by their place only if
 * nothing else has a weight. */
static bool are_alike(const segment_job *s) {
    static const double rounding = 1e-6;
    const clv_matrix *points = clv_data_matrix(s->points);
    const double *values = points->values;
    int64_t looks = points->cols - (s->width || !has_looks(s) ? 0 : 2);
    for (int64_t e = 0; e < points->rows * points->cols; e++) {
        if (e % points->cols < looks && fabs(values[e] - values[e % points->cols]) > rounding) {
            return false;
        }
    }
    return true;
}

static void tell_result(const segment_job *s) {
    char bytes[32];
    cli_print_bytes((double)(s->plan.affinity.bytes + s->plan.method), bytes, sizeof bytes);
    cli_tell("%s: %s, %s for the method and its similarities, %.3f s", s->method->name, clv_stop_name(s->result->stop),
             bytes, s->solve_seconds);
}

static clv_status solve(segment_job *s) {
    clv_input input = {0};
    double began = cli_seconds();
    if (are_alike(s)) {
        return CLV_OK;
    }
    cli_progress_begin(&s->progress, s->app, cli_progress_is_wanted(&s->args, s->options.progress, s->options.quiet),
                       s->options.progress, s->control);
    s->control->keep_trace = s->options.report != NULL;
    cli_progress_phase(&s->progress, "affinity");
    clv_status status = s->segmenter->input(s, &input);
    if (status >= 0) {
        cli_progress_phase(&s->progress, "start");
        status = cli_library(s->app, clv_solve(s->app->ctx, s->method, &input, s->method_options, &s->result));
    }
    cli_progress_end(&s->progress);
    cli_checkpoint_end(&s->checkpoint, s->result, s->options.quiet);
    s->solve_seconds = cli_seconds() - began;
    if (status >= 0 && s->options.verbose) {
        tell_result(s);
    }
    return status;
}

/* The object that a pixel of the image lies in. */
static int32_t object_at(const segment_job *s, int64_t x, int64_t y) {
    const clv_regions *r = s->regions;
    int64_t column = x * r->width / s->image.width, row = y * r->height / s->image.height;
    return r->labels[row * r->width + column];
}

/* Labels 0, 1, ... in the order of their first pixels; the number of them. */
static int64_t renumber(int32_t *labels, int64_t pixels, int32_t *fresh, int64_t k) {
    int64_t count = 0;
    memset(fresh, 0xff, (size_t)k * sizeof *fresh);
    for (int64_t i = 0; i < pixels; i++) {
        if (labels[i] >= 0) {
            if (fresh[labels[i]] < 0) {
                fresh[labels[i]] = (int32_t)count++;
            }
            labels[i] = fresh[labels[i]];
        }
    }
    return count;
}

static clv_status label_pixels(segment_job *s) {
    int64_t width = s->image.width, height = s->image.height, pixels = width * height;
    int64_t least = s->options.least ? s->options.least : pixels / 1000;
    int64_t clusters = s->result ? s->result->k : 1;
    int32_t *fresh = malloc((size_t)clusters * sizeof *fresh);
    s->labels = malloc((size_t)pixels * sizeof *s->labels);
    if (!s->labels || !fresh) {
        free(fresh);
        return cli_fail(s->app, CLV_ENOMEM, "out of memory");
    }
    for (int64_t i = 0; i < pixels; i++) {
        s->labels[i] = s->result ? s->result->labels[object_at(s, i % width, i / width)] : 0;
    }
    clv_status status = cli_library(s->app, clv_labels_tidy(s->app->ctx, width, height, least, 1, s->labels));
    s->segments = status == CLV_OK ? renumber(s->labels, pixels, fresh, clusters) : 0;
    free(fresh);
    return status;
}

/* --- outputs --- */

typedef clv_status (*painter)(clv_context *ctx, const clv_image *image, const int32_t *labels, clv_image *out);

static void write_painted(cli_outputs *out, const segment_job *s, painter paint, const char *path) {
    clv_image drawn = {0};
    if (path) {
        clv_status status = paint(s->app->ctx, &s->image, s->labels, &drawn);
        status = status < 0 ? status : clv_write_png(s->app->ctx, path, &drawn);
        clv_release(s->app->ctx, drawn.samples);
        cli_outputs_note(out, path, cli_library(s->app, status));
    }
}

static void write_labels(cli_outputs *out, const segment_job *s, const char *path, bool numbers) {
    enum { COLORS = 255 };
    clv_context *ctx = s->app->ctx;
    if (path) {
        clv_status status = numbers || s->segments > COLORS
                                ? clv_write_label_image(ctx, path, s->image.width, s->image.height, s->labels)
                                : clv_write_label_colors(ctx, path, s->image.width, s->image.height, s->labels);
        cli_outputs_note(out, path, cli_library(s->app, status));
    }
}

static void print_result_json(FILE *stream, const clv_result *r) {
    fprintf(stream, " \"solver\": \"%s\", \"k\": %lld, \"seed\": %lld, \"objective\": {\"name\": \"%s\", \"value\": ",
            r->solver, (long long)r->k, (long long)r->seed, r->objective.name);
    cli_json_number(stream, r->objective.value);
    fprintf(stream, "},\n \"certificate\": {\"name\": \"%s\", \"value\": ", r->certificate.name);
    cli_json_number(stream, r->certificate.value);
    fprintf(stream, ", \"holds\": %s}, \"stop\": \"%s\",\n", r->certificate.holds ? "true" : "false",
            clv_stop_name(r->stop));
}

static void print_json(FILE *stream, const void *what) {
    const segment_job *s = what;
    size_t now, peak;
    fprintf(stream,
            "{\"cleave\": \"%s\", \"method\": \"%s\", \"width\": %lld, \"height\": %lld, \"objects\": %lld, "
            "\"segments\": %lld,\n",
            clv_version(), s->method->name, (long long)s->image.width, (long long)s->image.height,
            (long long)s->regions->count, (long long)s->segments);
    if (s->result) {
        print_result_json(stream, s->result);
    }
    clv_context_memory(s->app->ctx, &now, &peak);
    fprintf(stream,
            " \"bytes\": {\"peak\": %zu}, \"seconds\": {\"total\": %.6f, \"objects\": %.6f, \"solve\": %.6f}}\n", peak,
            cli_elapsed(s->app), s->object_seconds, s->solve_seconds);
}

static void print_table(FILE *stream, const void *what) {
    const segment_job *s = what;
    const clv_result *r = s->result;
    fprintf(stream, "picture      %lld x %lld\nobjects      %lld %s\nmethod       %s\n", (long long)s->image.width,
            (long long)s->image.height, (long long)s->regions->count, s->width ? "pixels" : "superpixels",
            s->method->name);
    if (r) {
        fprintf(stream, "objective    %s %.9g\ncertificate  %s %.6g: %s\nstop         %s\n", r->objective.name,
                cli_shown_objective(r), r->certificate.name, r->certificate.value,
                r->certificate.holds ? "holds" : "does not hold", clv_stop_name(r->stop));
    }
    fprintf(stream, "segments     %lld\nseconds      %.3f: objects %.3f, solve %.3f\n", (long long)s->segments,
            cli_elapsed(s->app), s->object_seconds, s->solve_seconds);
}

static void write_page(cli_outputs *out, const segment_job *s) {
    const clv_option_table *tables[] = {segment_table(), clv_superpixel_table(), clv_region_table(),
                                        clv_control_table(), NULL};
    const void *options[] = {&s->options, &s->superpixels, &s->weights, &s->asked};
    const clv_report_picture picture = {&s->image, s->labels, s->segments};
    clv_affinity_info info;
    cli_origin origin;
    if (!s->result) {
        cli_outputs_note(
            out, s->options.report,
            cli_fail(s->app, CLV_EDATA,
                     "--report %s: all of the picture looks alike, nothing was solved, and there is nothing to "
                     "report",
                     s->options.report));
        return;
    }
    if (s->affinity) {
        clv_affinity_describe(s->affinity, &info);
    }
    cli_origin_find(&origin, &s->args);
    const clv_report report = {.result = s->result,
                               .affinity = s->affinity ? &info : NULL,
                               .total_seconds = cli_elapsed(s->app),
                               .tables = tables,
                               .options = options,
                               .source = origin.source,
                               .command = origin.command,
                               .date = origin.date,
                               .picture = &picture};
    cli_outputs_render(out, s->options.report, clv_report_html, &report);
    cli_origin_free(&origin);
}

static clv_status write(const segment_job *s) {
    const segment_options *o = &s->options;
    cli_outputs out = {.app = s->app};
    if (s->result) {
        cli_outcome_note(s->app, s->result, (double)NAN);
    }
    write_labels(&out, s, o->output, o->numbers);
    write_labels(&out, s, o->labels, true);
    cli_outputs_matrix(&out, o->points, s->points);
    write_painted(&out, s, clv_image_overlay, o->overlay);
    write_painted(&out, s, clv_image_fill, o->fill);
    if (o->report) {
        write_page(&out, s);
    }
    return cli_outputs_tell(&out, o->json, o->quiet, print_json, print_table, s);
}

/* --- all of it --- */

static clv_status work(void *job) {
    segment_job *s = job;
    CLI_TRY(cli_checkpoint_begin(s->app, &s->args, &s->checkpoint, s->asked.time_limit, s->options.memory));
    CLI_TRY(check(s));
    CLI_TRY(cli_library_on(s->app, s->checkpoint.resume, clv_context_check_resume(s->app->ctx, s->method->name)));
    CLI_TRY(make_objects(s));
    if (s->options.dry_run) {
        return cli_segment_forecast(s);
    }
    CLI_TRY(solve(s));
    cli_signals_watch(s->app->ctx, false);      /* what is computed is written whole, */
    clv_context_set_time_limit(s->app->ctx, 0); /* however late it is */
    CLI_TRY(label_pixels(s));
    CLI_TRY(write(s));
    return cli_end(false, s->options.quiet);
}

static void close(segment_job *s) {
    clv_context *ctx = s->app->ctx;
    cli_progress_end(&s->progress);
    clv_result_free(s->result);
    clv_affinity_free(s->affinity);
    clv_data_free(s->graph);
    clv_data_free(s->points);
    clv_regions_free(s->regions);
    clv_release(ctx, s->small.samples);
    clv_release(ctx, s->image.samples);
    free(s->scaled);
    free(s->labels);
}

static int run(cli_app *app, const cli_command *command, int argc, char **argv) {
    segment_job s = {.app = app, .args = {.command = command, .k_optional = true}};
    clv_superpixel_defaults(&s.superpixels);
    clv_region_defaults(&s.weights);
    cli_args_own(&s.args, segment_table(), &s.options);
    cli_args_add(&s.args, clv_superpixel_table(), &s.superpixels);
    cli_args_add(&s.args, clv_region_table(), &s.weights);
    cli_args_own(&s.args, clv_control_table(), &s.asked);
    cli_args_own(&s.args, output_table(), &s.options);
    cli_args_own(&s.args, cli_checkpoint_table(), &s.checkpoint);
    clv_status status = cli_perform(app, &s.args, argc, argv, work, &s);
    close(&s);
    return cli_exit_status(status);
}

const cli_command cli_segment = {
    .name = "segment",
    .summary = "split a picture into segments",
    .operands = {"IMAGE"},
    .about =
        "Cuts a picture (.png, .jpg, or .npy of uint8) into about 500 superpixels, clusters them by color, texture\n"
        "and nearness, and writes the label of every pixel; --overlay draws the borders on the picture.\n",
    .examples = "  cleave segment photo.jpg -o labels.png --overlay borders.png\n"
                "  cleave segment photo.jpg -o labels.png -k 5 --superpixels 1000\n"
                "  cleave segment photo.jpg -o labels.npy --pixels 120x80\n",
    .run = run,
};
