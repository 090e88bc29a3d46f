/* What a claim tells of several k, and of what its clusters of documents are about. Nobody recomputes it, but it must
 * be what a run can have told. */
#include "report/fields.h"

#include "base/options.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* The deviation of two agreements that lie as far apart as they can: adjusted Rand indices are -1/2 or more. */
#define MOST_SPREAD 1.0607

/* The columns of a table of several k, and where their numbers lie. */
static const struct {
    const char *name;
    double least, most;
} columns[] = {{"k", 1, CLV_MOST_COUNTED},
               {"objective", -DBL_MAX, DBL_MAX},
               {"gap_percent", 0, CLV_MOST_TIMES},
               {"eigengap", 0, 2},
               {"silhouette", -1, 1},
               {"stability", -1, 1},
               {"spread", 0, MOST_SPREAD},
               {"seconds", 0, CLV_MOST_SECONDS}};

/* Similarities by landmarks may lie below 0, and sums of them then do as well. */
static bool is_by_landmarks(const json_t *root) {
    return json_integer_value(json_object_get(json_object_get(root, "affinity"), "landmarks")) > 0;
}

/* What is minimized is not below 0, but for rounding. */
static double least_objective(const json_t *root, const clv_method *method) {
    return !method || method->maximize || is_by_landmarks(root) ? -DBL_MAX : 0;
}

/* What a column holds at most in a row of this k. `core`: the method that the objective is of; where that has a bound
 * it is a sum of shares, one of each cluster, and the bound, which is not below 0, is at most all of it away. */
static double most_in(size_t column, const json_t *root, const clv_method *core, int64_t n, int64_t k) {
    bool shares = core && core->bound && !is_by_landmarks(root);
    return column == 0                                                  ? (double)n
           : shares && strcmp(columns[column].name, "objective") == 0   ? (double)k
           : shares && strcmp(columns[column].name, "gap_percent") == 0 ? 100
                                                                        : columns[column].most;
}

/* The name of what is wrong in a row, or NULL. What is not known is null, but for k. Where a method has no bound, it
 * knows nothing that follows from one. */
static const char *wrong_in_row(const json_t *row, const json_t *root, const clv_result *result) {
    const double rounding = 1e-9;
    const clv_method *method = clv_method_find(result->method), *core;
    int64_t k = json_integer_value(json_object_get(row, "k"));
    double least = least_objective(root, method);
    core = method && method->takes == CLV_TAKES_PARTITIONS ? clv_method_find(result->solver) : method;
    if (!json_is_object(row) || !json_is_integer(json_object_get(row, "k")) ||
        json_object_size(row) != CLV_COUNT(columns)) {
        return "k_table";
    }
    for (size_t c = 0; c < CLV_COUNT(columns); c++) {
        const json_t *value = json_object_get(row, columns[c].name);
        double number = json_number_value(value), most = most_in(c, root, core, result->n, k);
        bool objective = strcmp(columns[c].name, "objective") == 0;
        bool inside = number >= (objective ? least : columns[c].least) - rounding && number <= most + rounding;
        inside = inside && (!method || method->bound || !clv_is_listed("gap_percent|eigengap", columns[c].name));
        if (!value || (!json_is_null(value) && !(json_is_number(value) && inside))) {
            return columns[c].name;
        }
    }
    return NULL;
}

/* Rows by rising k, and among them, unless the run was cut short, that of the answer, with its objective. */
static void doubt_table(const json_t *root, const clv_result *result, char *doubt, size_t size) {
    const json_t *table = json_object_get(root, "k_table");
    bool cut = result->stop == CLV_TIME_LIMIT || result->stop == CLV_CANCELLED, found = cut;
    int64_t before = 0;
    for (size_t r = 0; r < json_array_size(table) && !doubt[0]; r++) {
        const json_t *row = json_array_get(table, r), *objective = json_object_get(row, "objective");
        const char *wrong = wrong_in_row(row, root, result);
        int64_t k = json_integer_value(json_object_get(row, "k"));
        double value = json_number_value(objective);
        if (wrong || k <= before) {
            snprintf(doubt, size, "row %zu of k_table is none that a run can have: %s", r + 1, wrong ? wrong : "k");
        } else if (k == result->k && json_is_number(objective) && !cut &&
                   !clv_is_within(value, result->objective.value, clv_allowed_difference(result->objective.value, k))) {
            snprintf(doubt, size, "k_table has another objective of k = %lld than the result", (long long)k);
        }
        found = found || k == result->k;
        before = k;
    }
    if (!doubt[0] && (!json_is_array(table) || !found)) {
        snprintf(doubt, size, "k_table has no row of k = %lld, which is claimed", (long long)result->k);
    }
}

/* Whether a cluster has such a list of terms: the best first, and none that is rarer in the cluster than outside. */
static bool are_terms(const json_t *list) {
    const double rounding = 1e-9;
    double before = DBL_MAX;
    bool possible = json_is_array(list);
    for (size_t t = 0; possible && t < json_array_size(list); t++) {
        const json_t *entry = json_array_get(list, t), *score = json_object_get(entry, "score");
        const char *term = json_string_value(json_object_get(entry, "term"));
        double value = json_number_value(score);
        possible = json_object_size(entry) == 2 && term && *term && json_is_number(score) && value <= before &&
                   value >= -rounding;
        before = value;
    }
    return possible;
}

/* A list for each cluster, of a method that clusters objects, which can be documents. */
static void doubt_terms(const json_t *terms, const clv_result *result, char *doubt, size_t size) {
    const clv_method *method = clv_method_find(result->method);
    if (method && (method->takes == CLV_TAKES_PARTITIONS || !clv_method_gives(method, "labels"))) {
        snprintf(doubt, size, "the field terms is claimed, but %s gives no such field", method->name);
    } else if (!json_is_array(terms) || (int64_t)json_array_size(terms) != result->k) {
        snprintf(doubt, size, "terms are claimed for %zu clusters, but there are %lld", json_array_size(terms),
                 (long long)result->k);
    }
    for (size_t c = 0; c < json_array_size(terms) && !doubt[0]; c++) {
        if (!are_terms(json_array_get(terms, c))) {
            snprintf(doubt, size, "no run can have found the terms claimed for cluster %zu", c);
        }
    }
}

void clv_doubt_range(const json_t *root, const clv_result *result, char *doubt, size_t size) {
    const json_t *terms = json_object_get(root, "terms"), *table = json_object_get(root, "k_table");
    if (table && !json_object_get(root, "k_reason")) {
        snprintf(doubt, size, "k_table is claimed without k_reason, which says what was made of it");
    } else if (table) {
        doubt_table(root, result, doubt, size);
    }
    if (terms && !doubt[0]) {
        doubt_terms(terms, result, doubt, size);
    }
}
