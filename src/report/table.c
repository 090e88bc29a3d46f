/* The result as a short table for a person at a terminal. */
#include "report/report.h"

#include <math.h>

/* The longest name is assignment_rate. */
enum { SIZES_SHOWN = 20, CLUSTERS_SHOWN = 20, NAME_WIDTH = 17 };

static void put_name(clv_text *text, const char *name) {
    clv_text_add(text, "%-*s", NAME_WIDTH, name);
}

static void put_run(clv_text *text, const clv_result *result) {
    put_name(text, "method");
    clv_text_add(text, "%s, solver %s\n", result->method, result->solver);
    put_name(text, "objects");
    if (result->weights && !result->labels) {
        const clv_matrix *w = clv_data_matrix(result->weights);
        clv_text_add(text, "%lld\n", (long long)result->n);
        put_name(text, "weights");
        clv_text_add(text, "%lld x %lld", (long long)w->rows, (long long)w->cols);
        if (w->start) {
            clv_text_add(text, ", %lld nonzero; k = %lld", (long long)w->start[w->rows], (long long)result->k);
        }
    } else {
        clv_text_add(text, "%lld in %lld cluster%s", (long long)result->n, (long long)result->k,
                     result->k == 1 ? "" : "s");
    }
    if (result->left_out > 0) {
        clv_text_add(text, ", %lld left out", (long long)result->left_out);
    }
    clv_text_add(text, "\n");
    put_name(text, "objective");
    clv_text_add(text, "%s ", result->objective.name);
    clv_put_rounded(text, result->objective.value, 9);
    clv_text_add(text, " (%s)\n", result->objective.maximize ? "maximized" : "minimized");
    if (result->bound.name) {
        put_name(text, "bound");
        clv_text_add(text, "%s ", result->bound.name);
        clv_put_rounded(text, result->bound.value, 9);
        clv_text_add(text, ", ");
        clv_put_rounded(text, clv_gap_percent(result), 3);
        clv_text_add(text, " %% below\n");
    }
    if (result->components > 1) {
        put_name(text, "components");
        clv_text_add(text, "%lld\n", (long long)result->components);
    }
}

/* What the rows of the weights are for; of two classes the second is the positive one. */
static void put_classes(clv_text *text, const clv_report *report) {
    const clv_result *result = report->result;
    int64_t models = result->weights ? clv_data_matrix(result->weights)->rows : 0;
    bool shifted = false; /* without the option, all intercepts are 0 */
    for (int64_t c = 0; result->intercepts && c < models; c++) {
        shifted = shifted || result->intercepts[c] != 0;
    }
    if (result->classes_count > 0) {
        put_name(text, "classes");
    }
    for (int64_t c = 0; c < result->classes_count && c < SIZES_SHOWN; c++) {
        clv_text_add(text, "%s", c > 0 ? " " : "");
        if (report->class_names) {
            clv_text_add(text, "%.40s", report->class_names[c]);
        } else {
            clv_put_rounded(text, result->classes[c], 9);
        }
    }
    if (result->classes_count > 0) {
        clv_text_add(text, "%s%s\n", result->classes_count > SIZES_SHOWN ? " ..." : "",
                     result->classes_count == 2 ? " (positive)" : "");
    }
    for (int64_t c = 0; shifted && c < models && c < SIZES_SHOWN; c++) {
        put_name(text, c > 0 ? "" : models > 1 ? "intercepts" : "intercept");
        clv_put_rounded(text, result->intercepts[c], 9);
        clv_text_add(text, "\n");
    }
}

/* k = auto: the choice beside the gaps that speak for other ones. */
static void put_alternatives(clv_text *text, const clv_result *result) {
    put_name(text, "k chosen");
    clv_text_add(text, "%lld; gaps", (long long)result->k);
    for (int64_t k = 2; k < result->eigenvalues_count && k <= 8; k++) {
        clv_text_add(text, " %lld:", (long long)k);
        clv_put_rounded(text, result->eigenvalues[k - 1] - result->eigenvalues[k], 2);
    }
    clv_text_add(text, "\n");
}

static void put_certificate(clv_text *text, const clv_certificate *certificate) {
    put_name(text, "certificate");
    clv_text_add(text, "%s ", certificate->name);
    clv_put_rounded(text, certificate->value, 6);
    clv_text_add(text, ", at most ");
    clv_put_rounded(text, certificate->tolerance, 3);
    clv_text_add(text, ": %s\n", certificate->holds ? "yes" : "no");
    put_name(text, "");
    clv_text_add(text, "%s\n", clv_certificate_words(certificate));
}

static void put_course(clv_text *text, const clv_report *report) {
    const clv_result *result = report->result;
    put_name(text, "stop");
    clv_text_add(text, "%s after %lld iteration%s", clv_stop_name(result->stop), (long long)result->iterations,
                 result->iterations == 1 ? "" : "s");
    if (result->restarts_count > 1) {
        clv_text_add(text, ", the best of %lld restarts", (long long)result->restarts_count);
    }
    clv_text_add(text, "\n");
    put_name(text, "seconds");
    clv_put_seconds(text, report->total_seconds);
    clv_text_add(text, ": load ");
    clv_put_seconds(text, report->load_seconds);
    if (report->affinity) {
        clv_text_add(text, ", affinity ");
        clv_put_seconds(text, report->affinity_seconds);
    }
    clv_text_add(text, ", solve ");
    clv_put_seconds(text, result->seconds);
    clv_text_add(text, "\n");
}

static void put_sizes(clv_text *text, const clv_result *result) {
    put_name(text, "sizes");
    for (int64_t c = 0; c < result->k && c < SIZES_SHOWN; c++) {
        clv_text_add(text, "%s%lld", c > 0 ? " " : "", (long long)result->sizes[c]);
    }
    if (result->k > SIZES_SHOWN) {
        clv_text_add(text, " and %lld more", (long long)(result->k - SIZES_SHOWN));
    }
    clv_text_add(text, "\n");
}

static void put_soft(clv_text *text, const clv_result *result) {
    const clv_soft *soft = result->soft;
    double sum = 0;
    for (int64_t i = 0; i < result->n; i++) {
        sum += soft->entropy[i];
    }
    put_name(text, "expected sizes");
    for (int64_t c = 0; c < result->k && c < SIZES_SHOWN; c++) {
        clv_text_add(text, "%s", c > 0 ? " " : "");
        clv_put_rounded(text, soft->expected_sizes[c], 4);
    }
    clv_text_add(text, "\n");
    put_name(text, "residual");
    clv_put_rounded(text, soft->residual, 6);
    clv_text_add(text, " of |P|; mean similarity ");
    clv_put_rounded(text, soft->mean_similarity, 4);
    clv_text_add(text, "\n");
    put_name(text, "entropy");
    clv_put_rounded(text, sum / (double)result->n, 4);
    clv_text_add(text, " on average, of at most ");
    clv_put_rounded(text, log((double)result->k), 4);
    clv_text_add(text, "\n");
}

/* A number in a column of its own, to the right of it. */
static void put_cell(clv_text *text, double value, int digits, int width) {
    clv_text cell = {.ctx = text->ctx};
    clv_put_rounded(&cell, value, digits);
    clv_text_add(text, "%*s", width, cell.data ? cell.data : "");
    text->status = cell.status < 0 ? cell.status : text->status;
    clv_free(text->ctx, cell.data);
}

/* Clusters found one by one, in the order found. */
static void put_clusters(clv_text *text, const clv_result *result) {
    int64_t count = result->clusters_count;
    put_name(text, "clusters");
    clv_text_add(text, "no.      size  cohesiveness           gap  iterations  stop\n");
    for (int64_t c = 0; c < count && c < CLUSTERS_SHOWN; c++) {
        const clv_cluster *cluster = &result->clusters[c];
        put_name(text, "");
        clv_text_add(text, "%-5lld%8lld", (long long)c, (long long)cluster->size);
        put_cell(text, cluster->cohesiveness, 7, 14);
        put_cell(text, cluster->certificate, 3, 14);
        clv_text_add(text, "%12lld  %s\n", (long long)cluster->iterations, clv_stop_name(cluster->stop));
    }
    if (count > CLUSTERS_SHOWN) {
        put_name(text, "");
        clv_text_add(text, "and %lld more\n", (long long)(count - CLUSTERS_SHOWN));
    }
}

static void put_metric(clv_text *text, const char *name, double value) {
    if (isfinite(value)) {
        put_name(text, name);
        clv_put_rounded(text, value, 6);
        clv_text_add(text, "\n");
    }
}

clv_status clv_report_table(clv_context *ctx, const clv_report *report, char **out, size_t *size) {
    clv_text text = {.ctx = ctx};
    put_run(&text, report->result);
    if (report->result->k_chosen) {
        put_alternatives(&text, report->result);
    }
    put_classes(&text, report);
    put_certificate(&text, &report->result->certificate);
    put_course(&text, report);
    if (report->result->sizes) {
        put_sizes(&text, report->result);
    }
    if (report->result->soft) {
        put_soft(&text, report->result);
    }
    if (report->result->clusters) {
        put_clusters(&text, report->result);
    }
    if (report->result->passes > 0) {
        put_name(&text, "passes");
        clv_text_add(&text, "%lld\n", (long long)report->result->passes);
    }
    for (size_t m = 0; report->scores && m < clv_score_count; m++) {
        put_metric(&text, clv_score_names[m].name, clv_score(report->scores, &clv_score_names[m]));
    }
    put_metric(&text, "silhouette", report->silhouette);
    return clv_take_text(&text, out, size);
}
