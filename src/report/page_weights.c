/* Weights that were learned: of features, with the path of models they were chosen from; or of objects for each other.
 */
#include "linalg/linalg.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

enum { SHOWN = 25, MODELS = 12, HEIGHT = 260 };

/* --- the largest of a list of numbers --- */

typedef struct top {
    int64_t count, at[SHOWN];
    double value[SHOWN];
} top;

static void offer(top *t, int64_t at, double value) {
    if (value == 0 || !isfinite(value) || (t->count == SHOWN && fabs(value) <= fabs(t->value[SHOWN - 1]))) {
        return;
    }
    int64_t i = t->count < SHOWN ? t->count++ : SHOWN - 1;
    for (; i > 0 && fabs(t->value[i - 1]) < fabs(value); i--) {
        t->at[i] = t->at[i - 1];
        t->value[i] = t->value[i - 1];
    }
    t->at[i] = at;
    t->value[i] = value;
}

static void put_feature(const clv_page *page, int64_t j) {
    const char *name = page->report->data ? clv_data_column(page->report->data, j) : NULL;
    if (name) {
        clv_put_html(page->text, name);
    } else {
        clv_text_add(page->text, "feature %lld", (long long)j + 1);
    }
}

static void put_object(const clv_page *page, int64_t i) {
    const clv_data *data = page->report->data;
    const char *id = data ? clv_data_id(data, i) : NULL;
    clv_text_add(page->text, "row %lld", (long long)(data ? clv_data_row(data, i) : i) + 1);
    if (id) {
        clv_text_add(page->text, ", ");
        clv_put_html(page->text, id);
    }
}

/* Bars to both sides of a line: below zero to the left. */
static void put_top(const clv_page *page, const top *t, void (*put_name)(const clv_page *page, int64_t at)) {
    clv_text *text = page->text;
    clv_text_add(text, "<div class=\"weights\">\n");
    for (int64_t i = 0; i < t->count; i++) {
        bool below = t->value[i] < 0;
        clv_text_add(text, "<span>");
        put_name(page, t->at[i]);
        clv_text_add(text, "</span><span class=\"track\"><i class=\"%s\" style=\"width:", below ? "below" : "above");
        clv_put_rounded(text, 50 * fabs(t->value[i] / t->value[0]), 4);
        clv_text_add(text, "%%\"></i></span><span>");
        clv_put_rounded(text, t->value[i], 4);
        clv_text_add(text, "</span>\n");
    }
    clv_text_add(text, "</div>\n");
}

/* --- weights of features --- */

static void put_model(const clv_page *page, const clv_matrix *weights, int64_t model, double *row) {
    const clv_result *result = page->result;
    const clv_field *names = clv_result_field(result, "class_names"), *classes = clv_result_field(result, "classes");
    top t = {0};
    int64_t nonzeros = 0;
    clv_matrix_row(weights, model, row);
    for (int64_t j = 0; j < weights->cols; j++) {
        offer(&t, j, row[j]);
        nonzeros += row[j] != 0;
    }
    clv_text_add(page->text, "<h3>");
    if (weights->rows > 1 && names && names->count == weights->rows) {
        clv_put_html(page->text, names->texts[model]);
    } else if (weights->rows > 1 && classes && classes->reals && classes->count == weights->rows) {
        clv_text_add(page->text, "class ");
        clv_put_rounded(page->text, classes->reals[model], 6);
    } else if (weights->rows > 1) {
        clv_text_add(page->text, "model %lld", (long long)model + 1);
    } else {
        clv_text_add(page->text, "The model");
    }
    clv_text_add(page->text, ": %lld of %lld weights are not 0</h3>\n", (long long)nonzeros, (long long)weights->cols);
    put_top(page, &t, put_feature);
}

static clv_status put_models(const clv_page *page, const clv_matrix *weights) {
    double *row = CLV_NEW(page->ctx, double, weights->cols);
    if (!row) {
        return CLV_ENOMEM;
    }
    clv_page_open(page->text, "Weights");
    clv_text_add(page->text, "<p class=\"note\">The largest, at most %d of a model.</p>\n", SHOWN);
    for (int64_t model = 0; model < weights->rows && model < MODELS; model++) {
        put_model(page, weights, model, row);
    }
    if (weights->rows > MODELS) {
        clv_text_add(page->text, "<p class=\"note\">and %lld more models</p>\n", (long long)(weights->rows - MODELS));
    }
    clv_page_close(page->text);
    clv_free(page->ctx, row);
    return CLV_OK;
}

/* --- weights of objects --- */

/* Column j of W says what object j is written by: sum[i] is what the others need of object i, that is of its row, and
 * needs[j] how many others object j needs. */
static clv_status sum_rows(const clv_page *page, const clv_matrix *weights, double *sum, double *needs) {
    double *row = CLV_NEW(page->ctx, double, weights->cols);
    for (int64_t i = 0; row && i < weights->rows; i++) {
        clv_matrix_row(weights, i, row);
        for (int64_t j = 0; j < weights->cols; j++) {
            sum[i] += i != j ? fabs(row[j]) : 0;
            needs[j] += i != j && row[j] != 0;
        }
    }
    clv_free(page->ctx, row);
    return row ? CLV_OK : CLV_ENOMEM;
}

static void put_needs(const clv_page *page, const double *needs, int64_t n) {
    double all = 0;
    int64_t written = 0;
    for (int64_t j = 0; j < n; j++) {
        all += needs[j];
        written += needs[j] > 0;
    }
    clv_text_add(page->text, "<p class=\"note\">%lld of the %lld objects %s written as a combination of others",
                 (long long)written, (long long)n, written == 1 ? "is" : "are");
    if (written > 0) {
        clv_text_add(page->text, ", of ");
        clv_put_rounded(page->text, all / (double)written, 3);
        clv_text_add(page->text,
                     " on average. Those that the others need most, by the sum of the sizes of their weights:");
    } else {
        clv_text_add(page->text, ".");
    }
    clv_text_add(page->text, "</p>\n");
}

static clv_status put_sources(const clv_page *page, const clv_matrix *weights) {
    double *sum = CLV_NEW0(page->ctx, double, 2 * weights->cols), *needs = sum ? sum + weights->cols : NULL;
    top t = {0};
    clv_status status = sum ? sum_rows(page, weights, sum, needs) : CLV_ENOMEM;
    if (status == CLV_OK) {
        clv_page_open(page->text, "Weights");
        put_needs(page, needs, weights->cols);
        for (int64_t j = 0; j < weights->cols; j++) {
            offer(&t, j, sum[j]);
        }
        put_top(page, &t, put_object);
        clv_page_close(page->text);
    }
    clv_free(page->ctx, sum);
    return status;
}

/* --- the path --- */

typedef struct path {
    const clv_field *k, *lambda, *value;
    const char *name;
} path;

static double entry(const clv_field *field, int64_t i) {
    return field->integers ? (double)field->integers[i] : field->reals[i];
}

static bool find_path_axes(const path *p, clv_axes *a) {
    double least = INFINITY, most = 0;
    *a = (clv_axes){.low = INFINITY, .high = -INFINITY, .height = HEIGHT, .log_x = true};
    for (int64_t i = 0; i < p->lambda->count; i++) {
        double lambda = entry(p->lambda, i), value = entry(p->value, i);
        if (lambda > 0 && isfinite(lambda) && isfinite(value)) {
            least = fmin(least, lambda);
            most = fmax(most, lambda);
            a->low = fmin(a->low, value);
            a->high = fmax(a->high, value);
        }
    }
    double room = fmax(0.06 * (a->high - a->low), 1e-9 * fmax(1, fabs(a->high)));
    a->low -= room;
    a->high += room;
    if (!(most > 0) || !isfinite(a->low) || !isfinite(a->high)) {
        return false;
    }
    clv_svg_decades(least, most, &a->left, &a->right);
    return true;
}

/* A new k begins a new line. */
static bool is_first(const path *p, int64_t i) {
    return i == 0 || (p->k && entry(p->k, i) != entry(p->k, i - 1));
}

static void put_legend(clv_text *text, const path *p) {
    for (int64_t i = 0, curve = 0; p->k && i < p->k->count; i++) {
        if (is_first(p, i)) {
            clv_text_add(text, " <span style=\"color:");
            clv_put_color(text, curve++);
            clv_text_add(text, "\">&#9632;</span>&nbsp;k&nbsp;=&nbsp;");
            clv_put_rounded(text, entry(p->k, i), 15);
        }
    }
}

static void put_path(const clv_page *page, const path *p) {
    clv_text *text = page->text;
    double chosen = clv_result_real(page->result, "lambda", (double)NAN);
    int64_t curve = 0;
    char command = 'M';
    clv_axes a;
    if (!p->value || !p->lambda || p->lambda->count < 2 || !find_path_axes(p, &a)) {
        return;
    }
    clv_svg_open(text, NULL, CLV_SVG_WIDTH, HEIGHT, p->name);
    clv_svg_axes(text, &a, "lambda", p->name);
    for (int64_t i = 0; i < p->lambda->count; i++) {
        if (is_first(p, i)) {
            clv_text_add(text, "%s<path class=\"path\" stroke=\"", curve > 0 ? "\"/>\n" : "");
            clv_put_color(text, curve++);
            clv_text_add(text, "\" d=\"");
            command = 'M';
        }
        if (isfinite(entry(p->value, i)) && entry(p->lambda, i) > 0) {
            clv_svg_point(text, command, &a, entry(p->lambda, i), entry(p->value, i));
            command = 'L';
        }
    }
    clv_text_add(text, "%s", curve > 0 ? "\"/>\n" : "");
    for (int64_t i = 0; i < p->lambda->count; i++) {
        bool own = entry(p->lambda, i) == chosen && (!p->k || entry(p->k, i) == (double)page->result->k);
        if (own && isfinite(entry(p->value, i))) {
            clv_text_add(text, "<circle class=\"end\" r=\"5\" cx=\"");
            clv_put_tenths(text, clv_svg_x(&a, entry(p->lambda, i)));
            clv_text_add(text, "\" cy=\"");
            clv_put_tenths(text, clv_svg_y(&a, entry(p->value, i)));
            clv_text_add(text, "\"/>\n");
        }
    }
    clv_text_add(text, "</svg>\n");
}

static bool has_number(const clv_field *field) {
    for (int64_t i = 0; field && i < field->count; i++) {
        if (isfinite(entry(field, i))) {
            return true;
        }
    }
    return false;
}

static void put_paths(const clv_page *page) {
    const clv_result *result = page->result;
    path p = {.k = clv_result_field(result, "path.k"), .lambda = clv_result_field(result, "path.lambda")};
    const clv_field *score = clv_result_field(result, "path.score");
    if (!p.lambda || p.lambda->count < 2) {
        return;
    }
    clv_page_open(page->text, "The path");
    clv_text_add(page->text, "<p class=\"note\">One line per k of the norm; the point is the model reported.");
    put_legend(page->text, &p);
    clv_text_add(page->text, "</p>\n");
    p.value = has_number(score) ? score : clv_result_field(result, "path.objective");
    p.name = has_number(score) ? "score on the validation samples" : "objective";
    put_path(page, &p);
    p.value = clv_result_field(result, "path.nonzeros");
    p.name = "weights that are not 0";
    put_path(page, &p);
    clv_page_close(page->text);
}

clv_status clv_page_weights(const clv_page *page) {
    const clv_matrix *weights = clv_result_matrix(page->result, "weights");
    put_paths(page);
    if (!weights || weights->rows < 1 || weights->cols < 1) {
        return CLV_OK;
    }
    bool of_objects = page->method && page->method->takes != CLV_TAKES_SAMPLES;
    return of_objects ? put_sources(page, weights) : put_models(page, weights);
}
