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
    return wrong / total < HUGE_VAL ? 1 - wrong / total : (double)NAN; /* no variance to explain: no score */
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
    qsort(g->lambda, (size_t)g->lambda_count, sizeof *g->lambda, clv_ascending);
    return CLV_OK;
}

clv_status clv_ks_check_path(clv_context *ctx, const char *path) {
    grid g;
    clv_status status = read_grid(ctx, path, &g);
    clv_free_kept(&g.room);
    return status;
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

/* Row i of the path. */
static int64_t k_of(const grid *g, int64_t i) {
    return g->k[i / g->lambda_count];
}

static double lambda_of(const grid *g, int64_t i) {
    return g->lambda[g->lambda_count - 1 - i % g->lambda_count];
}

/* Whether the row with this score is to be reported rather than the best before it. */
static bool is_better(double scored, double best) {
    return isnan(scored) || scored > best;
}

static bool is_cut(clv_stop stop) {
    return stop == CLV_TIME_LIMIT || stop == CLV_CANCELLED;
}

/* --- the table of an answer, which may come from anywhere --- */

typedef struct claimed {
    int64_t rows;
    const int64_t *k, *nonzeros, *iterations;
    const double *lambda, *objective, *gap, *score, *seconds;
    const char *const *stop;
} claimed;

/* False: a column is missing. The columns of a table have one length. */
static bool read_table(const clv_result *answer, claimed *out) {
    const clv_field *stop = clv_result_field(answer, "path.stop");
    *out = (claimed){.stop = stop ? stop->texts : NULL};
    out->k = clv_result_integers(answer, "path.k", &out->rows);
    out->nonzeros = clv_result_integers(answer, "path.nonzeros", &out->rows);
    out->iterations = clv_result_integers(answer, "path.iterations", &out->rows);
    out->lambda = clv_result_reals(answer, "path.lambda", &out->rows);
    out->objective = clv_result_reals(answer, "path.objective", &out->rows);
    out->gap = clv_result_reals(answer, "path.relative_gap", &out->rows);
    out->score = clv_result_reals(answer, "path.score", &out->rows);
    out->seconds = clv_result_reals(answer, "path.seconds", &out->rows);
    return out->k && out->nonzeros && out->iterations && out->lambda && out->objective && out->gap && out->score &&
           out->seconds && out->stop;
}

/* No row takes 300 years, or ends so many times as far from 0 as the one reported. */
#define MOST_SECONDS 1e10
#define MOST_TIMES 1e100

/* Whether row i can have come of a run: the numbers that it is about are those of the path, and what it says of them is
 * possible: all rows have a score, or none; only the last can have been cut short, and then the run was. */
static clv_status check_line(clv_context *ctx, const grid *g, const claimed *t, int64_t i, const clv_result *answer) {
    const clv_matrix *weights = clv_result_matrix(answer, "weights");
    clv_stop stop = CLV_CONVERGED;
    double most = MOST_TIMES * (1 + fabs(answer->objective.value));
    bool open = isnan(t->gap[i]) && is_cut(answer->stop) && i + 1 == t->rows; /* it had no time for its gap */
    const char *wrong = t->k[i] != k_of(g, i)                                           ? "k"
                        : t->lambda[i] != lambda_of(g, i)                               ? "lambda"
                        : !(t->objective[i] >= 0 && t->objective[i] <= most)            ? "objective"
                        : !(t->gap[i] >= 0 && t->gap[i] <= most) && !open               ? "relative_gap"
                        : t->nonzeros[i] > weights->rows * weights->cols                ? "nonzeros"
                        : t->score[i] > 1 || !isnan(t->score[i]) != !isnan(t->score[0]) ? "score"
                        : !(t->seconds[i] >= 0 && t->seconds[i] <= MOST_SECONDS)        ? "seconds"
                        : !clv_stop_find(t->stop[i], &stop)                             ? "stop"
                                                                                        : NULL;
    if (!wrong && is_cut(stop) && (i + 1 < t->rows || stop != answer->stop)) {
        wrong = "stop";
    }
    return wrong ? clv_fail(ctx, CLV_EDATA, "the %s in row %lld of the path cannot have come from a run", wrong,
                            (long long)i + 1)
                 : CLV_OK;
}

/* The row that is reported, by the rule of a run. */
static int64_t reported(const claimed *t) {
    int64_t best = 0;
    for (int64_t i = 1; i < t->rows; i++) {
        best = is_better(t->score[i], t->score[best]) ? i : best;
    }
    return best;
}

/* Whether row i says what the answer says of itself. */
static bool row_agrees(const claimed *t, int64_t i, const clv_result *answer, double lambda) {
    const clv_matrix *weights = clv_result_matrix(answer, "weights");
    return t->k[i] == answer->k && t->lambda[i] == lambda &&
           fabs(t->objective[i] - answer->objective.value) <= 1e-9 * fabs(answer->objective.value) &&
           !(fabs(t->gap[i] - answer->certificate.value) > 1e-9) && t->iterations[i] == answer->iterations &&
           (is_cut(answer->stop) || strcmp(t->stop[i], clv_stop_name(answer->stop)) == 0) &&
           (!weights->start || t->nonzeros[i] == weights->start[weights->rows]);
}

static clv_status check_rows(clv_context *ctx, const grid *g, const clv_result *answer, double lambda) {
    int64_t count = g->k_count * g->lambda_count;
    bool on_path = false, cut = is_cut(answer->stop);
    claimed t;
    for (int64_t i = 0; i < count; i++) {
        on_path = on_path || (k_of(g, i) == answer->k && lambda_of(g, i) == lambda);
    }
    if (!on_path) {
        return clv_fail(ctx, CLV_EDATA, "k = %lld with lambda = %g is not on the path", (long long)answer->k, lambda);
    }
    if (!read_table(answer, &t)) {
        return clv_fail(ctx, CLV_EDATA, "the table of the path is not there, or not whole");
    }
    if (t.rows < 1 || t.rows > count || (t.rows < count && !cut)) {
        return clv_fail(ctx, CLV_EDATA, "the table of the path has %lld rows, but there are %lld", (long long)t.rows,
                        (long long)count);
    }
    for (int64_t i = 0; i < t.rows; i++) {
        CLV_TRY(check_line(ctx, g, &t, i, answer));
    }
    if (cut && t.rows == count && strcmp(t.stop[count - 1], clv_stop_name(answer->stop)) != 0) {
        return clv_fail(ctx, CLV_EDATA, "the path was cut short, but all of its rows are there");
    }
    int64_t own = reported(&t);
    return row_agrees(&t, own, answer, lambda)
               ? CLV_OK
               : clv_fail(ctx, CLV_EDATA, "row %lld is the best of the path, and it is not this result",
                          (long long)own + 1);
}

clv_status clv_ks_check_table(clv_context *ctx, const char *path, const clv_result *answer, double lambda) {
    grid g;
    clv_status status = read_grid(ctx, path, &g);
    status = status == CLV_EUSAGE ? CLV_EDATA : status;
    if (status == CLV_OK) {
        status = check_rows(ctx, &g, answer, lambda);
    }
    clv_free_kept(&g.room);
    return status;
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
    bool better = !w->best || is_better(scored, w->score);
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

/* All rows, one after the other, until there is no time for another one; then the result says so. */
static clv_status walk_rows(walk *w, const grid *g) {
    int64_t count = g->k_count * g->lambda_count;
    clv_status status = CLV_OK;
    for (int64_t i = 0; i < count && status == CLV_OK && !(w->last && is_cut(w->last->stop)); i++) {
        status = i > 0 && clv_interrupted(w->ctx) ? clv_stop_failure(w->ctx, "following a path")
                                                  : walk_row(w, k_of(g, i), lambda_of(g, i));
    }
    if (!w->last || (status < 0 && !clv_is_stop(status))) {
        return status;
    }
    clv_stop stop = status < 0 ? clv_stop_of(status) : w->last->stop;
    if (!is_cut(stop)) {
        return CLV_OK;
    }
    int64_t solved = w->rows - is_cut(w->last->stop);
    w->best->stop = stop;
    return clv_result_warn(w->best, "The path was ended by '%s': %lld of its %lld rows were solved.",
                           clv_stop_name(stop), (long long)solved, (long long)count);
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

/* Samples to score on are numbers; their targets must be of the classes that there are models for. */
static clv_status check_validation(clv_context *ctx, const clv_input *input, const clv_ksupport_options *options) {
    const clv_matrix *fresh = input->validation_targets;
    double *classes = NULL;
    int64_t count;
    if (!fresh) {
        return CLV_OK;
    }
    CLV_TRY(clv_matrix_check(ctx, "the validation samples:", input->validation, CLV_KS_LARGEST));
    CLV_TRY(clv_matrix_check(ctx, "the validation targets:", fresh, CLV_KS_LARGEST));
    if (options->loss != CLV_KSUPPORT_LOGISTIC) {
        return CLV_OK;
    }
    clv_status status = clv_ks_classes(ctx, input->targets->values, input->targets->rows, &classes, &count);
    for (int64_t m = 0; status == CLV_OK && m < fresh->rows; m++) {
        const double *y = (const double *)fresh->values + m;
        if (!bsearch(y, classes, (size_t)count, sizeof *classes, clv_ascending)) {
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
