/* What a claim tells of several k. Nobody recomputes it, but it must be what a run can have told. */
#include "report/fields.h"

#include <stdio.h>

/* The columns of a table of several k, and where their numbers lie. */
static const struct {
    const char *name;
    double least, most;
} columns[] = {{"k", 1, CLV_MOST_COUNTED},
               {"objective", -CLV_MOST_TIMES, CLV_MOST_TIMES},
               {"gap_percent", 0, CLV_MOST_TIMES},
               {"eigengap", 0, 2},
               {"silhouette", -1, 1},
               {"stability", -1, 1},
               {"spread", 0, 2},
               {"seconds", 0, CLV_MOST_SECONDS}};

/* The name of what is wrong in a row, or NULL. What is not known is null, but for k. */
static const char *wrong_in_row(const json_t *row, int64_t n) {
    const double rounding = 1e-9;
    if (!json_is_object(row) || !json_is_integer(json_object_get(row, "k")) ||
        json_object_size(row) != CLV_COUNT(columns)) {
        return "k_table";
    }
    for (size_t c = 0; c < CLV_COUNT(columns); c++) {
        const json_t *value = json_object_get(row, columns[c].name);
        double number = json_number_value(value), most = c == 0 ? (double)n : columns[c].most;
        bool inside = number >= columns[c].least - rounding && number <= most + rounding;
        if (!value || (!json_is_null(value) && !(json_is_number(value) && inside))) {
            return columns[c].name;
        }
    }
    return NULL;
}

/* Rows by rising k, and among them, unless the run was cut short, that of the answer, with its objective. */
static void doubt_table(const json_t *table, const clv_result *result, char *doubt, size_t size) {
    bool cut = result->stop == CLV_TIME_LIMIT || result->stop == CLV_CANCELLED, found = cut;
    int64_t before = 0;
    for (size_t r = 0; r < json_array_size(table) && !doubt[0]; r++) {
        const json_t *row = json_array_get(table, r), *objective = json_object_get(row, "objective");
        const char *wrong = wrong_in_row(row, result->n);
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

void clv_doubt_range(const json_t *root, const clv_result *result, char *doubt, size_t size) {
    const json_t *table = json_object_get(root, "k_table");
    if (table && !json_object_get(root, "k_reason")) {
        snprintf(doubt, size, "k_table is claimed without k_reason, which says what was made of it");
    } else if (table) {
        doubt_table(table, result, doubt, size);
    }
}
