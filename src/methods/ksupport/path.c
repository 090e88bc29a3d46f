/* A path: every k with every lambda, from large lambda to small, each started from the solution before it; scored on
 * validation data where there are some. */
#include "methods/ksupport/ksupport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- scores --- */

/* Squares: the share of the variance that is explained; classes: the share of samples that are right. */
static double score_of(const clv_ksupport_options *options, const double *y, const double *predicted, int64_t n) {
    double wrong = 0, total = 0, center = clv_sum(y, n, 1) / (double)n;
    for (int64_t m = 0; m < n; m++) {
        bool squares = options->loss == CLV_KSUPPORT_SQUARES;
        wrong += squares ? (y[m] - predicted[m]) * (y[m] - predicted[m]) : y[m] != predicted[m];
        total += squares ? (y[m] - center) * (y[m] - center) : 1;
    }
    return 1 - wrong / total;
}

static clv_status score(clv_context *ctx, const clv_input *input, const clv_ksupport_options *options,
                        const clv_result *result, double *out) {
    clv_result *found = NULL;
    int64_t n;
    *out = NAN;
    if (!input->validation) {
        return CLV_OK;
    }
    clv_status status =
        clv_ksupport_predict_fresh(ctx, input, options, result, &(clv_fresh){.points = input->validation}, &found);
    if (status == CLV_OK) {
        const double *values = clv_result_reals(found, "values", &n);
        *out = score_of(options, input->validation_targets->values, values, n);
    }
    clv_result_free(found);
    return status;
}

/* --- the lists: "K,K,...:L,L,..." --- */

typedef struct grid {
    int64_t *k;
    double *lambda; /* ascending */
    int64_t k_count, lambda_count;
    clv_kept room; /* of the lists */
} grid;

/* Each item by the rules of the option that it is for. Free the room also on failure. */
static clv_status read_grid(clv_context *ctx, const char *path, grid *g) {
    const char *colon = strchr(path, ':');
    bool two_lists = colon && !strchr(colon + 1, ':');
    int64_t most = (int64_t)strlen(path);
    clv_ksupport_options one;
    char item[64];
    *g = (grid){.room = {.ctx = ctx}};
    g->k = CLV_TAKE(&g->room, int64_t, most);
    g->lambda = CLV_TAKE(&g->room, double, most);
    CLV_TRY(g->room.status);
    for (const char *at = path; at;) {
        size_t length = two_lists ? strcspn(at, ",:") : 0;
        if (length == 0 || length >= sizeof item) {
            return clv_fail(ctx, CLV_EUSAGE, "path = '%s' must have the form K,K,...:L,L,...", path);
        }
        memcpy(item, at, length);
        item[length] = 0;
        CLV_TRY(clv_options_set(ctx, clv_ksupport_method.options, &one, at < colon ? "k" : "lambda", item));
        if (at < colon) {
            g->k[g->k_count++] = one.k;
        } else {
            g->lambda[g->lambda_count++] = one.lambda;
        }
        at = at[length] ? at + length + 1 : NULL;
    }
    qsort(g->lambda, (size_t)g->lambda_count, sizeof *g->lambda, clv_ks_ascending);
    return CLV_OK;
}

clv_status clv_ks_check_path(clv_context *ctx, const char *path) {
    grid g;
    clv_status status = read_grid(ctx, path, &g);
    clv_free_kept(&g.room);
    return status;
}

clv_status clv_ks_check_row(clv_context *ctx, const char *path, int64_t k, double lambda) {
    grid g;
    bool on_path = false;
    clv_status status = read_grid(ctx, path, &g);
    for (int64_t i = 0; status == CLV_OK && i < g.k_count * g.lambda_count; i++) {
        on_path = on_path || (g.k[i / g.lambda_count] == k && g.lambda[i % g.lambda_count] == lambda);
    }
    clv_free_kept(&g.room);
    if (status < 0) {
        return status == CLV_EUSAGE ? CLV_EDATA : status;
    }
    return on_path ? CLV_OK
                   : clv_fail(ctx, CLV_EDATA, "k = %lld with lambda = %g is not on the path %s", (long long)k, lambda,
                              path);
}

int64_t clv_ks_largest_k(const char *path) {
    int64_t most = 0;
    for (const char *at = path; *at && *at != ':';) {
        int64_t k = strtoll(at, NULL, 10);
        most = k > most ? k : most;
        at += strcspn(at, ",:");
        at += *at == ',';
    }
    return most;
}

/* Whether row i of the table says what the answer says of itself. */
static bool row_agrees(const clv_result *answer, int64_t i) {
    const clv_matrix *weights = clv_result_matrix(answer, "weights");
    int64_t count;
    const double *value = clv_result_reals(answer, "path.objective", &count);
    const double *gap = clv_result_reals(answer, "path.relative_gap", &count);
    const int64_t *nonzeros = clv_result_integers(answer, "path.nonzeros", &count);
    const int64_t *iterations = clv_result_integers(answer, "path.iterations", &count);
    bool said = value && gap && nonzeros && iterations;
    return said && fabs(value[i] - answer->objective.value) <= 1e-9 * fabs(answer->objective.value) &&
           !(fabs(gap[i] - answer->certificate.value) > 1e-9) && iterations[i] == answer->iterations &&
           (!weights->start || nonzeros[i] == weights->start[weights->rows]);
}

clv_status clv_ks_check_table(clv_context *ctx, const clv_result *answer, double lambda) {
    int64_t rows, count;
    const int64_t *k = clv_result_integers(answer, "path.k", &rows);
    const double *lambdas = clv_result_reals(answer, "path.lambda", &count);
    const double *scores = clv_result_reals(answer, "path.score", &count);
    int64_t own = -1;
    for (int64_t i = 0; k && lambdas && i < rows; i++) {
        own = k[i] == answer->k && lambdas[i] == lambda ? i : own;
    }
    if (k && (own < 0 || !row_agrees(answer, own))) {
        return clv_fail(ctx, CLV_EDATA, "no row of the path is this result");
    }
    for (int64_t i = 0; k && scores && i < rows; i++) {
        if (scores[i] > scores[own]) {
            return clv_fail(ctx, CLV_EDATA, "row %lld of the path has a better score than the result", (long long)i);
        }
    }
    return CLV_OK;
}

/* --- the path --- */

/* The table has the columns "path.*" of the method's description, in their order. */
enum { NUMBERS = 9 };
typedef union cell {
    int64_t integer;
    double real;
} cell;

typedef struct walk {
    clv_context *ctx;
    clv_input input; /* start: the weights of the last row */
    clv_ksupport_options options;
    clv_result *last;       /* the last row's */
    clv_result *best;       /* so far; NULL before the first */
    double score, lambda;   /* of that */
    int64_t rows;           /* done */
    cell *columns[NUMBERS]; /* rows each */
    const char **stops;     /* the last column */
    clv_kept room;          /* of the columns */
} walk;

static clv_status new_columns(walk *w, int64_t rows) {
    w->room.ctx = w->ctx;
    for (int c = 0; c < NUMBERS; c++) {
        w->columns[c] = CLV_TAKE(&w->room, cell, rows);
    }
    w->stops = CLV_TAKE(&w->room, const char *, rows);
    return w->room.status;
}

static void note_row(walk *w, const clv_result *result, double scored) {
    const clv_matrix *weights = clv_result_matrix(result, "weights");
    const cell row[NUMBERS] = {{.integer = w->options.k},
                               {.real = w->options.lambda},
                               {.real = result->objective.value},
                               {.real = result->certificate.value},
                               {.integer = weights->start[weights->rows]},
                               {.real = scored},
                               {.integer = result->iterations},
                               {.integer = clv_result_integer(result, "data_passes", 0)},
                               {.real = result->seconds}};
    for (int c = 0; c < NUMBERS; c++) {
        w->columns[c][w->rows] = row[c];
    }
    w->stops[w->rows++] = clv_stop_name(result->stop);
}

/* The next row is started from this one; the best is kept. */
static void keep_row(walk *w, clv_result *result, double scored) {
    clv_result *before = w->last;
    bool better = !w->best || isnan(scored) || scored > w->score;
    w->last = result;
    w->input.start = clv_result_matrix(result, "weights");
    if (before != w->best) {
        clv_result_free(before);
    }
    if (better) {
        clv_result *old = w->best;
        w->best = result;
        w->score = scored;
        w->lambda = w->options.lambda;
        clv_result_free(old);
    }
}

static clv_status walk_row(walk *w, int64_t k, double lambda) {
    clv_result *result = NULL;
    double scored = NAN;
    w->options.k = k;
    w->options.lambda = lambda;
    CLV_TRY(clv_solve(w->ctx, &clv_ksupport_method, &w->input, &w->options, &result));
    clv_status status = score(w->ctx, &w->input, &w->options, result, &scored);
    if (status < 0) {
        clv_result_free(result);
        return status;
    }
    note_row(w, result, scored);
    keep_row(w, result, scored);
    return CLV_OK;
}

/* All rows, one after the other, until there is no time for another one. */
static clv_status walk_rows(walk *w, const grid *g) {
    for (int64_t i = 0; i < g->k_count * g->lambda_count; i++) {
        if (i > 0 && clv_interrupted(w->ctx)) {
            return CLV_OK;
        }
        double lambda = g->lambda[g->lambda_count - 1 - i % g->lambda_count];
        clv_status status = walk_row(w, g->k[i / g->lambda_count], lambda);
        if (clv_is_stop(status) && i > 0) {
            return CLV_OK;
        }
        CLV_TRY(status);
    }
    return CLV_OK;
}

/* The best row is the result, with the table of all. */
static clv_status put_table(const walk *w) {
    const clv_field_info *info = clv_method_gives(&clv_ksupport_method, "path.k");
    CLV_TRY(clv_result_put_real(w->best, "lambda", w->lambda));
    for (int c = 0; c < NUMBERS; c++) {
        clv_field field = {.name = info[c].name, .kind = info[c].kind, .is_list = 1, .count = w->rows};
        field.integers = field.kind == CLV_FIELD_INTEGER ? &w->columns[c]->integer : NULL;
        field.reals = field.kind == CLV_FIELD_REAL ? &w->columns[c]->real : NULL;
        CLV_TRY(clv_result_put(w->best, &field));
    }
    return clv_result_put_texts(w->best, "path.stop", w->stops, w->rows);
}

/* Targets to score on must be of the classes that there are models for. */
static clv_status check_validation(clv_context *ctx, const clv_input *input, const clv_ksupport_options *options) {
    const clv_matrix *fresh = input->validation_targets;
    double *classes = NULL;
    int64_t count;
    if (!fresh || options->loss != CLV_KSUPPORT_LOGISTIC) {
        return CLV_OK;
    }
    clv_status status = clv_ks_classes(ctx, input->targets->values, input->targets->rows, &classes, &count);
    for (int64_t m = 0; status == CLV_OK && m < fresh->rows; m++) {
        const double *y = (const double *)fresh->values + m;
        if (!bsearch(y, classes, (size_t)count, sizeof *classes, clv_ks_ascending)) {
            status = clv_fail(ctx, CLV_EDATA, "y of validation sample %lld is %g, which no sample of X has",
                              (long long)m + 1, *y);
        }
    }
    clv_free(ctx, classes);
    return status;
}

clv_status clv_ks_walk(clv_context *ctx, const clv_input *input, const clv_ksupport_options *options,
                       clv_result **out) {
    walk w = {.ctx = ctx, .input = *input, .options = *options};
    grid g;
    w.options.path = NULL;
    CLV_TRY(check_validation(ctx, input, options));
    clv_status status = read_grid(ctx, options->path, &g);
    if (status == CLV_OK) {
        status = new_columns(&w, g.k_count * g.lambda_count);
    }
    if (status == CLV_OK) {
        status = walk_rows(&w, &g);
    }
    if (status == CLV_OK) {
        status = put_table(&w);
    }
    if (w.last != w.best) {
        clv_result_free(w.last);
    }
    *out = w.best;
    clv_free_kept(&w.room);
    clv_free_kept(&g.room);
    return status;
}
