/* Agreement of a labeling with the truth, over the objects that neither leaves out. All measures come from the table of
 * counts n_ij (class i, cluster j) with its margins a_i and b_j. O(n) time, and the matching for the accuracy.
 *
 * The adjusted Rand index (Hubert and Arabie 1985) is a ratio of whole numbers, formed exactly. The measures of
 * information rest on the conditional entropies H(class | cluster) and H(cluster | class), sums of terms that are never
 * negative: they are exactly 0 where one labeling refines the other. Where a measure is 0/0 the value is 1 (both
 * labelings trivial in the same way), as in scikit-learn. */
#include "metrics/metrics.h"

#include <math.h>

__extension__ typedef __int128 wide;

static wide pairs(int64_t n) {
    return (wide)n * (n - 1) / 2;
}

static wide pairs_in(const int64_t *sizes, int64_t count) {
    wide total = 0;
    for (int64_t i = 0; i < count; i++) {
        total += pairs(sizes[i]);
    }
    return total;
}

/* (index - expected) / (mean - expected), both multiplied by 2 (all pairs): below 2^125 for 2^31 objects. */
double clv_adjusted_rand(const clv_contingency *table) {
    wide together = pairs_in(table->count, table->cells), all = pairs(table->objects);
    wide in_class = pairs_in(table->class_size, table->classes);
    wide in_cluster = pairs_in(table->cluster_size, table->clusters);
    wide above = 2 * (together * all - in_class * in_cluster);
    wide below = (in_class + in_cluster) * all - 2 * in_class * in_cluster;
    return below == 0 ? 1.0 : (double)above / (double)below;
}

/* -part/all log(part/whole), for 0 < part <= whole <= all */
static long double surprise(int64_t part, int64_t whole, int64_t all) {
    return part == whole ? 0.0L : (long double)part / (long double)all * logl((long double)whole / (long double)part);
}

static double entropy(const int64_t *sizes, int64_t count, int64_t all) {
    long double total = 0;
    for (int64_t i = 0; i < count; i++) {
        total += surprise(sizes[i], all, all);
    }
    return (double)total;
}

/* H(class | cluster) and H(cluster | class) */
static void conditional_entropies(const clv_contingency *table, double *of_class, double *of_cluster) {
    long double given_cluster = 0, given_class = 0;
    for (int64_t i = 0; i < table->classes; i++) {
        for (int64_t c = table->start[i]; c < table->start[i + 1]; c++) {
            given_cluster += surprise(table->count[c], table->cluster_size[table->cluster[c]], table->objects);
            given_class += surprise(table->count[c], table->class_size[i], table->objects);
        }
    }
    *of_class = (double)given_cluster;
    *of_cluster = (double)given_class;
}

/* 1 - lost / total, which rounding may bring just below 0; 1 when there is nothing to lose. */
static double share_kept(double lost, double total) {
    return total > 0 ? fmax(0.0, 1.0 - lost / total) : 1.0;
}

static void measure_information(const clv_contingency *table, clv_scores *out) {
    double class_entropy = entropy(table->class_size, table->classes, table->objects);
    double cluster_entropy = entropy(table->cluster_size, table->clusters, table->objects);
    double class_given_cluster, cluster_given_class;
    conditional_entropies(table, &class_given_cluster, &cluster_given_class);
    out->vi = class_given_cluster + cluster_given_class;
    out->homogeneity = share_kept(class_given_cluster, class_entropy);
    out->completeness = share_kept(cluster_given_class, cluster_entropy);
    out->nmi = share_kept(out->vi, class_entropy + cluster_entropy);
    out->nmi_max = fmin(out->homogeneity, out->completeness); /* the larger entropy gives the smaller share */
    double sum = out->homogeneity + out->completeness;
    out->v_measure = sum > 0 ? 2 * out->homogeneity * out->completeness / sum : 0.0;
}

/* The share of objects in the largest class of their cluster. */
static clv_status measure_purity(const clv_contingency *table, clv_scores *out) {
    int64_t *largest = CLV_NEW0(table->kept.ctx, int64_t, table->clusters);
    if (!largest) {
        return CLV_ENOMEM;
    }
    for (int64_t c = 0; c < table->cells; c++) {
        int64_t *here = &largest[table->cluster[c]];
        *here = table->count[c] > *here ? table->count[c] : *here;
    }
    int64_t covered = 0;
    for (int64_t j = 0; j < table->clusters; j++) {
        covered += largest[j];
    }
    clv_free(table->kept.ctx, largest);
    out->purity = (double)covered / (double)table->objects;
    return CLV_OK;
}

static clv_status measure(const clv_contingency *table, clv_scores *out) {
    int64_t covered = 0;
    out->compared = table->objects;
    out->classes = table->classes;
    out->clusters = table->clusters;
    if (table->objects == 0) {
        out->ari = out->nmi = out->homogeneity = out->completeness = out->v_measure = NAN;
        out->accuracy = out->vi = out->purity = out->nmi_max = NAN;
        return CLV_OK;
    }
    CLV_TRY(clv_match(table, &covered));
    CLV_TRY(measure_purity(table, out));
    out->accuracy = (double)covered / (double)table->objects;
    out->ari = clv_adjusted_rand(table);
    measure_information(table, out);
    return CLV_OK;
}

const clv_metric *clv_metrics(size_t *count) {
    static const clv_metric metrics[] = {
        {"ari", offsetof(clv_scores, ari), "adjusted Rand index"},
        {"nmi", offsetof(clv_scores, nmi), "normalized mutual information"},
        {"nmi_max", offsetof(clv_scores, nmi_max), "the same by the larger of the two entropies"},
        {"homogeneity", offsetof(clv_scores, homogeneity), "clusters hold one class each"},
        {"completeness", offsetof(clv_scores, completeness), "classes lie in one cluster each"},
        {"v_measure", offsetof(clv_scores, v_measure), "harmonic mean of these two"},
        {"accuracy", offsetof(clv_scores, accuracy), "under the best matching"},
        {"vi", offsetof(clv_scores, vi), "variation of information, nats; 0 is best"},
        {"purity", offsetof(clv_scores, purity), "share in the majority class of their cluster"},
        {"assignment_rate", offsetof(clv_scores, assignment_rate), "share of objects with a label"},
    };
    *count = CLV_COUNT(metrics);
    return metrics;
}

clv_status clv_compare(clv_context *ctx, const int32_t *truth, const int32_t *labels, int64_t n, clv_scores *out) {
    *out = (clv_scores){.n = n};
    CLV_NEED(ctx, truth);
    CLV_NEED(ctx, labels);
    if (n < 1) {
        return clv_fail(ctx, CLV_EDATA, "there are %lld labels to compare: at least 1 is needed", (long long)n);
    }
    CLV_TRY(clv_labels_check(ctx, "true labels", truth, n));
    CLV_TRY(clv_labels_check(ctx, "labels", labels, n));
    int64_t assigned = 0;
    for (int64_t i = 0; i < n; i++) {
        assigned += labels[i] >= 0;
    }
    out->assignment_rate = (double)assigned / (double)n;
    clv_contingency table;
    CLV_TRY(clv_contingency_new(ctx, truth, labels, n, &table));
    clv_status status = measure(&table, out);
    clv_contingency_free(&table);
    return status;
}
