/* True results of any method on small data, as JSON, and the data that they are judged by. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include "forging.h"

#include "linalg/linalg.h"
#include "methods/methods.h"

enum { N = 30, P = 3 };

/* --- true results --- */

/* Three groups of points. */
static inline void make_points(double *points) {
    clv_rng rng = clv_rng_stream(4, 0);
    for (int64_t i = 0; i < N * P; i++) {
        points[i] = clv_rng_normal(&rng) + 2.5 * (double)(i / P % 3);
    }
}

/* A class per object, and weights of objects. */
static inline void make_columns(double *targets, double *weights) {
    for (int64_t i = 0; i < N; i++) {
        targets[i] = (double)(i % 3);
        weights[i] = 1 + (double)(i % 4);
    }
}

/* The group of each object. */
static inline void make_truth(int32_t *labels) {
    for (int32_t i = 0; i < N; i++) {
        labels[i] = i % 3;
    }
}

/* What a method is asked, with options as on the command line, by pairs. */
typedef struct question {
    const char *method;
    const char *options[12];
    bool weighted;
} question;

typedef struct evidence {
    double points[N * P], targets[N], weights[N], partitions[N * P];
    clv_matrix x, y, w;
    clv_input input;
} evidence;

static inline void collect(const question *asked, evidence *out) {
    make_points(out->points);
    make_columns(out->targets, out->weights);
    out->x = (clv_matrix){.rows = N, .cols = P, .values = out->points};
    out->y = (clv_matrix){.rows = N, .cols = 1, .values = out->targets};
    out->w = (clv_matrix){.rows = N, .cols = 1, .values = out->weights};
    clv_takes takes = clv_method_find(asked->method)->takes;
    if (takes == CLV_TAKES_PARTITIONS) {
        for (int64_t i = 0; i < N * P; i++) { /* three inputs that agree but for a few objects */
            out->partitions[i] = (double)(i / P % (i % 11 == 0 ? 2 : 3));
        }
        out->x.values = out->partitions;
    }
    out->input = (clv_input){.points = &out->x,
                             .targets = takes == CLV_TAKES_SAMPLES ? &out->y : NULL,
                             .weights = asked->weighted ? &out->w : NULL};
}

/* How the points are scaled, the method's options and those of the affinity. */
typedef struct settings {
    int scale;
    clv_options_room own;
    clv_affinity_options how;
} settings;

static const clv_option scale_option = {.name = "scale", .kind = CLV_OPTION_CHOICE, .choices = CLV_SCALE_NAMES};

/* The points are scaled by `standard` unless it is said how. */
static inline void set_options(clv_context *ctx, const question *asked, settings *out) {
    static const clv_option_table points = {.title = "points", .options = &scale_option, .count = 1};
    const clv_method *method = clv_method_find(asked->method);
    const clv_option_table *const tables[] = {method->options, clv_control_table(), clv_affinity_table(), &points};
    void *const structs[] = {out->own.bytes, out->own.bytes, &out->how, &out->scale};
    clv_method_defaults(method, out->own.bytes, method->options->size);
    clv_affinity_defaults(&out->how);
    ((clv_control *)(void *)out->own.bytes)->threads = 1;
    out->scale = method->takes == CLV_TAKES_PARTITIONS ? CLV_SCALE_NONE : CLV_SCALE_STANDARD;
    for (int i = 0; asked->options[i]; i += 2) {
        size_t t = 0;
        while (t + 1 < CLV_COUNT(tables) && !clv_options_find(tables[t], asked->options[i])) {
            t++;
        }
        if (clv_options_set(ctx, tables[t], structs[t], asked->options[i], asked->options[i + 1]) < 0) {
            fail_msg("%s: %s", asked->method, clv_message(ctx));
        }
    }
}

/* The JSON text of the answer, owned by the context. */
static inline char *answer_to_json(clv_context *ctx, const question *asked) {
    const clv_method *method = clv_method_find(asked->method);
    settings set;
    clv_affinity_info info;
    clv_affinity *a = NULL;
    clv_result *result = NULL;
    clv_data *scaled = NULL;
    evidence given;
    char *text = NULL, scale[32];
    size_t size;
    collect(asked, &given);
    set_options(ctx, asked, &set);
    clv_options_print(&scale_option, &set.scale, scale, sizeof scale);
    assert_int_equal(clv_data_copy(ctx, "points", &given.x, &scaled), CLV_OK);
    bool points = method->takes != CLV_TAKES_PARTITIONS;
    assert_int_equal(clv_data_scale(scaled, (clv_scale)set.scale), CLV_OK);
    given.input.points = clv_data_matrix(scaled);
    if (method->takes == CLV_TAKES_AFFINITY) {
        assert_int_equal(clv_suit_affinity(ctx, method, given.input.points, set.own.bytes, &set.how), CLV_OK);
        assert_int_equal(clv_affinity_build(ctx, given.input.points, &set.how, &a), CLV_OK);
        clv_affinity_describe(a, &info);
        given.input.affinity = a;
    }
    if (clv_solve(ctx, method, &given.input, set.own.bytes, &result) < 0) {
        fail_msg("%s: %s", asked->method, clv_message(ctx));
    }
    const clv_option_table *const tables[] = {clv_control_table(), method->options, a ? clv_affinity_table() : NULL,
                                              NULL};
    const void *const structs[] = {set.own.bytes, set.own.bytes, &set.how};
    clv_scores scores;
    int32_t truth[N];
    make_truth(truth);
    if (result->labels) {
        assert_int_equal(clv_compare(ctx, truth, result->labels, N, &scores), CLV_OK);
    }
    clv_report report = {.result = result,
                         .affinity = a ? &info : NULL,
                         .scale = points ? scale : NULL,
                         .tables = tables,
                         .options = structs,
                         .data = points ? scaled : NULL,
                         .scores = result->labels ? &scores : NULL};
    assert_int_equal(clv_report_json(ctx, &report, &text, &size), CLV_OK);
    clv_result_free(result);
    clv_affinity_free(a);
    clv_data_free(scaled);
    return text;
}

#endif
