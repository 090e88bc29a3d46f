/* What a checkpoint is of: the options as lines "name=value", so that one that differs can be named, and a hash of the
 * input. The hash of a matrix is a sum over its rows, each with its number: rows that lie in several places add up to
 * the same. */
#include "affinity/affinity.h"
#include "affinity/kinds.h"
#include "base/ranks.h"
#include "methods/methods.h"

#include <string.h>

/* --- data --- */

static uint64_t hash_row(const clv_matrix *m, int64_t i) {
    uint64_t seed = (uint64_t)i + 1;
    if (m->start) {
        size_t first = (size_t)m->start[i], count = (size_t)(m->start[i + 1] - m->start[i]);
        seed = clv_hash(seed, m->index + first, count * sizeof *m->index);
        return clv_hash(seed, (const double *)m->values + first, count * sizeof(double));
    }
    size_t row = (size_t)m->cols * clv_scalar_bytes(m->scalar);
    return clv_hash(seed, (const char *)m->values + (size_t)i * row, row);
}

static clv_status hash_matrix(clv_context *ctx, const clv_matrix *m, int threads, uint64_t *out) {
    uint64_t sum = 0;
    int64_t first, last;
    atomic_bool stopped = false;
    if (!m) {
        *out = clv_hash_mix(*out);
        return CLV_OK;
    }
    clv_share(ctx, m->rows, &first, &last); /* of several processes, which may hold but these */
    clv_own_clock_begin(ctx);
#pragma omp parallel for num_threads(clv_team(threads)) schedule(static) reduction(+ : sum)
    for (int64_t i = first; i < last; i++) {
        sum += clv_goes_on(ctx, &stopped, m->cols) ? hash_row(m, i) : 0;
    }
    clv_status status = atomic_load(&stopped) ? clv_stop_failure(ctx, "looking at the data for a checkpoint") : CLV_OK;
    clv_own_clock_end(ctx);
    CLV_TRY(clv_agree_sum(ctx, status, &sum));
    int64_t shape[] = {m->rows, m->cols, m->scalar, m->start != NULL, (int64_t)sum};
    *out = clv_hash(*out, shape, sizeof shape);
    return CLV_OK;
}

/* An affinity whose entries lie nowhere: what it makes of one vector. */
static clv_status hash_product(clv_context *ctx, const clv_affinity *a, int threads, uint64_t *out) {
    int64_t n = clv_affinity_size(a);
    double *x = CLV_NEW(ctx, double, 2 * n);
    clv_rng rng = clv_rng_stream(0, 0);
    if (!x) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] = clv_rng_uniform(&rng);
    }
    clv_status status = clv_affinity_apply(a, x, 1, x + n, threads);
    if (status == CLV_OK) {
        *out = clv_hash(*out, x + n, (size_t)n * sizeof *x);
    }
    clv_free(ctx, x);
    return status;
}

/* The points that it was made of say it all, but for a graph, in which a search may have found others. */
static clv_status hash_affinity(clv_context *ctx, const clv_affinity *a, int threads, uint64_t *out) {
    const clv_matrix *points = clv_affinity_points(a);
    clv_matrix found;
    bool stored = clv_affinity_view(a, &found);
    CLV_TRY(points ? hash_matrix(ctx, points, threads, out) : CLV_OK);
    if (stored && (!points || clv_is_sparse(&found))) {
        return hash_matrix(ctx, &found, threads, out);
    }
    if (points) {
        return CLV_OK;
    }
    return clv_affinity_factor(a, &found) ? hash_matrix(ctx, &found, threads, out) : hash_product(ctx, a, threads, out);
}

static clv_status hash_input(clv_context *ctx, const clv_input *input, int threads, uint64_t *out) {
    const clv_matrix *const parts[] = {input->affinity ? NULL : input->points,
                                       input->targets,
                                       input->weights,
                                       input->start,
                                       input->validation,
                                       input->validation_targets,
                                       input->object_alpha,
                                       input->start_membership,
                                       input->widths};
    *out = 0;
    for (size_t i = 0; i < CLV_COUNT(parts); i++) {
        CLV_TRY(hash_matrix(ctx, parts[i], threads, out));
    }
    return input->affinity ? hash_affinity(ctx, input->affinity, threads, out) : CLV_OK;
}

/* --- options --- */

/* Those that may be others when a run goes on. */
static bool is_free(const char *name) {
    return clv_is_listed("threads|time-limit|max-iter", name);
}

/* A file by its content, which is part of the input. */
static bool is_given(const clv_input *input, const char *name) {
    return (strcmp(name, "start") == 0 && input->start) || (strcmp(name, "object-alpha") == 0 && input->object_alpha) ||
           (strcmp(name, "start-membership") == 0 && input->start_membership);
}

static void add_options(clv_text *text, const clv_option_table *table, const clv_input *input, const void *options) {
    for (size_t i = 0; i < table->count; i++) {
        const clv_option *option = &table->options[i];
        char value[128];
        if (is_free(option->name)) {
            continue;
        }
        if (is_given(input, option->name)) {
            clv_text_add(text, "%s=given\n", option->name);
        } else if (option->kind == CLV_OPTION_TEXT) {
            const char *given = *(const char *const *)((const char *)options + option->offset);
            clv_text_add(text, "%s=%s\n", option->name, given ? given : "none");
        } else {
            clv_options_print(option, options, value, sizeof value);
            clv_text_add(text, "%s=%s\n", option->name, value);
        }
    }
}

static void add_affinity(clv_text *text, const clv_affinity *a) {
    clv_affinity_info info;
    clv_affinity_describe(a, &info);
    clv_text_add(text, "affinity=%s\nhome=%s\ngamma=%.17g\nnonzeros=%lld\nlandmarks=%lld\ndiagonal=%d\n",
                 clv_kind_of(info.kind)->name, info.home, info.gamma, (long long)info.nonzeros,
                 (long long)info.landmarks, clv_affinity_has_diagonal(a));
}

/* The first line that differs is told of: what others follow from, such as a gamma from k, comes before them. */
static void describe(clv_text *text, const clv_method *method, const clv_input *input, const void *options) {
    const clv_control *control = options;
    if (input->affinity) {
        clv_text_add(text, "objects=%lld\n", (long long)clv_affinity_size(input->affinity));
    } else {
        clv_text_add(text, "rows=%lld\ncolumns=%lld\n", (long long)input->points->rows, (long long)input->points->cols);
    }
    add_options(text, method->options, input, options);
    if (input->affinity) {
        add_affinity(text, input->affinity);
    }
    add_options(text, clv_control_table(), input, options);
    clv_text_add(text, "trace=%s\n", control->keep_trace ? "yes" : "no");
}

clv_status clv_begin_checkpoints(clv_context *ctx, const clv_method *method, const clv_input *input,
                                 const void *options, double since, clv_session **out) {
    const clv_checkpointing *asked = clv_checkpointing_of(ctx);
    const clv_control *control = options;
    clv_text about = {.ctx = ctx};
    uint64_t data;
    *out = NULL;
    if (asked->paused > 0 || asked->session || !(asked->write || asked->resume)) {
        return CLV_OK;
    }
    if (!(method->abilities & CLV_CHECKPOINTS)) {
        return clv_fail(ctx, CLV_EUSAGE, "%s cannot keep checkpoints, nor go on from one", method->name);
    }
    CLV_TRY(hash_input(ctx, input, clv_threads(control->threads), &data));
    describe(&about, method, input, options);
    clv_status status = about.status;
    if (status == CLV_OK) {
        status = clv_session_begin(ctx, method->name, about.data, data, control->max_iter, since, out);
    }
    clv_free(ctx, about.data);
    return status;
}
