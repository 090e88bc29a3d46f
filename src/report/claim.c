/* A result read back from its JSON text. Only the form is checked here, field by field; whether the content is true is
 * for verify.c to say. */
#include "base/options.h"
#include "engine/result.h"
#include "io/input.h"
#include "report/fields.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void clv_claim_free(clv_claim *claim) {
    if (!claim) {
        return;
    }
    clv_context *ctx = claim->ctx;
    for (int64_t i = 0; claim->options && i < claim->options_count; i++) {
        clv_free(ctx, claim->options[i].name);
        clv_free(ctx, claim->options[i].text);
    }
    char *const texts[] = {
        claim->method,     claim->solver, claim->objective_name, claim->sense, claim->certificate_name,
        claim->bound_name, claim->kind,   claim->home,           claim->used,  claim->fingerprint,
        claim->reason};
    for (size_t i = 0; i < CLV_COUNT(texts); i++) {
        clv_free(ctx, texts[i]);
    }
    CLV_FREE_ALL(ctx, claim->options, claim->fill, claim->dropped, claim->shift, claim->factor, claim->metrics,
                 claim->unseen);
    clv_free_texts(ctx, claim->columns, claim->columns_count);
    clv_result_free(claim->result);
    clv_free(ctx, claim);
}

const clv_result *clv_claim_result(const clv_claim *claim) {
    return claim->result;
}

const clv_method *clv_claim_method(const clv_claim *claim) {
    return clv_method_find(claim->method);
}

const char *clv_claim_option(const clv_claim *claim, const char *name) {
    for (int64_t i = 0; i < claim->options_count; i++) {
        if (strcmp(clv_option_name(claim->options[i].name), name) == 0) {
            return claim->options[i].text;
        }
    }
    return NULL;
}

/* The first thing that speaks against the claim. */
__attribute__((format(printf, 2, 3))) static void doubt(clv_claim *claim, const char *format, ...) {
    va_list args;
    if (claim->doubt[0]) {
        return;
    }
    va_start(args, format);
    vsnprintf(claim->doubt, sizeof claim->doubt, format, args);
    va_end(args);
}

/* Of the members that were read from an object: others say nothing that anyone could check. */
static void doubt_strangers(const clv_place *at, const char *outer, const clv_member *members, size_t count) {
    const char *name = clv_json_stranger(at, outer, members, count);
    if (name) {
        doubt(at->claim, "%s has a member %.80s, which no result has", outer ? outer : "a restart", name);
    }
}

/* NaN: not said. */
static void doubt_seconds(clv_claim *claim, const char *what, double seconds) {
    if (seconds < 0) {
        doubt(claim, "the seconds claimed %s lie below 0", what);
    } else if (seconds > CLV_MOST_SECONDS) {
        doubt(claim, "the seconds claimed %s are more than %g", what, CLV_MOST_SECONDS);
    }
}

/* --- labels and sizes --- */

/* A list of whole numbers, none beyond `most`; `what` says what the numbers are of, from `first` on. */
static clv_status get_list(const clv_place *at, const char *name, const char *what, int first, int64_t most,
                           int64_t **out, int64_t *count) {
    const json_t *list = clv_json_find(at, NULL, name);
    if (!json_is_array(list)) {
        return clv_json_refuse(at, NULL, name, "an array");
    }
    *count = (int64_t)json_array_size(list);
    *out = CLV_NEW(at->claim->ctx, int64_t, *count);
    for (int64_t i = 0; *out && i < *count; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        json_int_t number = (*out)[i] = json_integer_value(value);
        if (!json_is_integer(value) || number < -most || number > most) {
            return clv_fail(at->claim->ctx, CLV_EDATA, "%s: the %s %lld is not a whole number", at->file, what,
                            (long long)i + first);
        }
    }
    return *out ? CLV_OK : CLV_ENOMEM;
}

static clv_status get_sizes(const clv_place *at) {
    clv_result *result = at->claim->result;
    int64_t count = 0;
    CLV_TRY(get_list(at, "sizes", "size of cluster", 0, INT64_MAX, &result->sizes, &count));
    if (count != result->k) {
        doubt(at->claim, "%lld sizes are claimed for %lld clusters", (long long)count, (long long)result->k);
        clv_free(at->claim->ctx, result->sizes);
        result->sizes = NULL;
    }
    return CLV_OK;
}

static clv_status get_labels(const clv_place *at) {
    clv_result *result = at->claim->result;
    int64_t count = 0, *list = NULL;
    clv_status status = get_list(at, "labels", "label of object", 1, INT32_MAX, &list, &count);
    if (status == CLV_OK && count != result->n) {
        doubt(at->claim, "%lld labels are claimed for %lld objects", (long long)count, (long long)result->n);
    } else if (status == CLV_OK) {
        result->labels = CLV_NEW(at->claim->ctx, int32_t, count);
        status = result->labels ? CLV_OK : CLV_ENOMEM;
    }
    for (int64_t i = 0; result->labels && i < count; i++) {
        result->labels[i] = (int32_t)list[i];
    }
    clv_free(at->claim->ctx, list);
    return status;
}

/* --- the course of the run --- */

/* A stop by its name; what is none speaks against the claim. */
static clv_status get_stop(const clv_place *at, clv_stop *out) {
    char *name = NULL;
    clv_status status = clv_json_get(at, &(clv_member){NULL, "stop", CLV_JSON_TEXT, &name, false}, 1);
    *out = CLV_CANCELLED;
    if (status == CLV_OK && !clv_stop_find(name, out)) {
        doubt(at->claim, "no run stops for the reason '%.80s'", name);
    }
    clv_free(at->claim->ctx, name);
    return status;
}

static clv_status get_restart(const clv_place *at, int64_t number) {
    clv_restart *restart = &at->claim->result->restarts[number];
    if (!json_is_object(at->root)) {
        return clv_fail(at->claim->ctx, CLV_EDATA, "%s: restart %lld is not an object", at->file,
                        (long long)number + 1);
    }
    const clv_member members[] = {{NULL, "objective", CLV_JSON_NUMBER_OR_NULL, &restart->objective, false},
                                  {NULL, "iterations", CLV_JSON_INTEGER, &restart->iterations, false},
                                  {NULL, "seconds", CLV_JSON_NUMBER_OR_NULL, &restart->seconds, false},
                                  {NULL, "stop", CLV_JSON_TEXT, NULL, false}};
    CLV_TRY(clv_json_get(at, members, CLV_COUNT(members) - 1));
    doubt_strangers(at, NULL, members, CLV_COUNT(members));
    doubt_seconds(at->claim, "of a restart", restart->seconds);
    return get_stop(at, &restart->stop);
}

static clv_status get_restarts(const clv_place *at) {
    const json_t *restarts = clv_json_find(at, NULL, "restarts");
    clv_claim *claim = at->claim;
    if (!json_is_array(restarts)) {
        return clv_json_refuse(at, NULL, "restarts", "an array");
    }
    int64_t count = (int64_t)json_array_size(restarts);
    claim->result->restarts = CLV_NEW0(claim->ctx, clv_restart, count);
    if (!claim->result->restarts) {
        return CLV_ENOMEM;
    }
    claim->result->restarts_count = count;
    for (int64_t r = 0; r < count; r++) {
        CLV_TRY(get_restart(&(clv_place){claim, at->file, json_array_get(restarts, (size_t)r)}, r));
    }
    return CLV_OK;
}

/* --- options: any scalar, as the text that sets it --- */

static char *scalar_text(clv_context *ctx, const json_t *value) {
    char number[CLV_NUMBER_SIZE];
    if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
    } else {
        clv_print_number(json_real_value(value), number);
    }
    return clv_copy_text(ctx, json_is_string(value)    ? json_string_value(value)
                              : json_is_boolean(value) ? (json_is_true(value) ? "true" : "false")
                                                       : number);
}

static clv_status get_options(const clv_place *at) {
    json_t *options = json_object_get(at->root, "options");
    clv_claim *claim = at->claim;
    const char *name;
    json_t *value;
    if (!json_is_object(options)) {
        return clv_json_refuse(at, NULL, "options", "an object");
    }
    claim->options = CLV_NEW0(claim->ctx, clv_claim_entry, (int64_t)json_object_size(options));
    if (!claim->options) {
        return CLV_ENOMEM;
    }
    json_object_foreach(options, name, value) {
        if (json_is_object(value) || json_is_array(value)) {
            return clv_fail(claim->ctx, CLV_EDATA, "%s: the option %.80s is neither a number, a text nor true or false",
                            at->file, name);
        }
        clv_claim_entry *entry = &claim->options[claim->options_count++];
        entry->name = clv_copy_text(claim->ctx, name);
        entry->text = json_is_null(value) ? NULL : scalar_text(claim->ctx, value); /* NULL: it was not given */
        if (!entry->name || !(entry->text || json_is_null(value))) {
            return CLV_ENOMEM;
        }
    }
    return CLV_OK;
}

/* --- the data --- */

/* The names of the columns, if they have names. */
static clv_status get_columns(const clv_place *at) {
    clv_claim *claim = at->claim;
    const json_t *list = clv_json_find(at, "data", "columns");
    if (!list) {
        return CLV_OK;
    }
    claim->columns = CLV_NEW0(claim->ctx, char *, (int64_t)json_array_size(list));
    CLV_TRY(claim->columns ? CLV_OK : CLV_ENOMEM);
    claim->columns_count = (int64_t)json_array_size(list);
    for (int64_t c = 0; c < claim->columns_count; c++) {
        const char *name = json_string_value(json_array_get(list, (size_t)c));
        CLV_TRY(name ? CLV_OK : clv_json_refuse(at, "data", "columns", "an array of texts"));
        claim->columns[c] = clv_copy_text(claim->ctx, name);
        CLV_TRY(claim->columns[c] ? CLV_OK : CLV_ENOMEM);
    }
    return json_is_array(list) ? CLV_OK : clv_json_refuse(at, "data", "columns", "an array of texts");
}

/* A list of numbers of the data; NULL where it is not there. */
static clv_status get_reals(const clv_place *at, const char *name, double **out, int64_t *count) {
    const json_t *list = clv_json_find(at, "data", name);
    *count = (int64_t)json_array_size(list);
    if (!list) {
        return CLV_OK;
    }
    *out = CLV_NEW(at->claim->ctx, double, *count);
    for (int64_t i = 0; *out && i < *count; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        (*out)[i] = json_number_value(value);
        CLV_TRY(json_is_number(value) ? CLV_OK : clv_json_refuse(at, "data", name, "an array of numbers"));
    }
    return !*out ? CLV_ENOMEM : json_is_array(list) ? CLV_OK : clv_json_refuse(at, "data", name, "an array of numbers");
}

static clv_status get_data(const clv_place *at) {
    clv_claim *claim = at->claim;
    char *listed = NULL; /* read below */
    int64_t factors;
    const clv_member members[] = {{"data", "used", CLV_JSON_TEXT, &claim->used, true},
                                  {"data", "fingerprint", CLV_JSON_TEXT, &claim->fingerprint, true},
                                  {"data", "columns", CLV_JSON_TEXT, &listed, true},
                                  {"data", "fill", CLV_JSON_TEXT, &listed, true},
                                  {"data", "dropped", CLV_JSON_TEXT, &listed, true},
                                  {"data", "shift", CLV_JSON_TEXT, &listed, true},
                                  {"data", "factor", CLV_JSON_TEXT, &listed, true}};
    CLV_TRY(clv_json_get(at, members, 2));
    doubt_strangers(at, "data", members, CLV_COUNT(members));
    CLV_TRY(get_reals(at, "fill", &claim->fill, &claim->filled));
    CLV_TRY(get_reals(at, "dropped", &claim->dropped, &claim->dropped_count));
    CLV_TRY(get_reals(at, "shift", &claim->shift, &claim->scaled));
    CLV_TRY(get_reals(at, "factor", &claim->factor, &factors));
    if (claim->scaled != factors) {
        doubt(claim, "%lld columns are claimed to be shifted, but %lld to be scaled", (long long)claim->scaled,
              (long long)factors);
        claim->scaled = 0;
    }
    return get_columns(at);
}

int64_t clv_claim_scaling(const clv_claim *claim, const double **shift, const double **factor) {
    *shift = claim->shift;
    *factor = claim->factor;
    return claim->scaled;
}

const double *clv_claim_fill(const clv_claim *claim, int64_t *count) {
    *count = claim->filled;
    return claim->fill;
}

const double *clv_claim_dropped(const clv_claim *claim, int64_t *count) {
    *count = claim->dropped_count;
    return claim->dropped;
}

bool clv_claim_is_of(const clv_claim *claim, const clv_matrix *points) {
    char found[24];
    snprintf(found, sizeof found, "%016llx", (unsigned long long)clv_matrix_fingerprint(points));
    return !claim->fingerprint[0] || strcmp(claim->fingerprint, found) == 0;
}

const char *clv_claim_used(const clv_claim *claim) {
    return claim->used;
}

const char *const *clv_claim_columns(const clv_claim *claim, int64_t *count) {
    *count = claim->columns_count;
    return (const char *const *)claim->columns;
}

/* --- metrics --- */

/* That there was a range of k, and whether the reason for this one is about it. */
static void note_range(const clv_place *at) {
    clv_claim *claim = at->claim;
    const json_t *reason = json_object_get(at->root, "k_reason");
    const char *text = json_string_value(reason);
    char said[32];
    snprintf(said, sizeof said, "k = %lld ", (long long)claim->result->k);
    claim->has_range = json_object_get(at->root, "k_table") != NULL;
    claim->has_reason = reason != NULL;
    claim->other_reason = reason && (!text || strncmp(text, said, strlen(said)) != 0);
}

/* Numbers by the names that reports have them by, each where it can lie. */
static clv_status get_metrics(const clv_place *at) {
    clv_claim *claim = at->claim;
    json_t *metrics = json_object_get(at->root, "metrics"), *value;
    const char *name;
    size_t count;
    const clv_metric *known = clv_metrics(&count);
    claim->has_terms = json_object_get(at->root, "terms") != NULL;
    note_range(at);
    if (!claim->doubt[0]) {
        clv_doubt_range(at->root, claim->result, claim->doubt, sizeof claim->doubt);
    }
    if (!metrics) {
        return CLV_OK;
    }
    claim->metrics = CLV_NEW(claim->ctx, double, (int64_t)count + 1);
    CLV_TRY(claim->metrics ? CLV_OK : CLV_ENOMEM);
    for (size_t m = 0; m <= count; m++) {
        claim->metrics[m] = NAN;
    }
    json_object_foreach(metrics, name, value) {
        size_t m = 0;
        while (m < count && strcmp(name, known[m].name) != 0) {
            m++;
        }
        if ((m == count && strcmp(name, "silhouette") != 0) || !json_is_number(value)) {
            doubt(claim, "metrics has a member %.80s, which is none or not a number", name);
            continue;
        }
        claim->metrics[m] = json_number_value(value);
        bool signed_one = m == count || strcmp(name, "ari") == 0, open = strcmp(name, "vi") == 0;
        if (!clv_is_within(claim->metrics[m], 0, open ? 2 * log(fmax((double)claim->result->n, 1)) + 1 : 1 + 1e-9) ||
            (!signed_one && claim->metrics[m] < -1e-9)) {
            doubt(claim, "the %.80s claimed lies where none can lie", name);
        }
    }
    return json_is_object(metrics) ? CLV_OK : clv_json_refuse(at, NULL, "metrics", "an object");
}

clv_status clv_claim_compare(clv_context *ctx, clv_claim *claim, const int32_t *truth, clv_verdict *out) {
    CLV_NEED(ctx, claim);
    CLV_NEED(ctx, truth);
    clv_scores scores;
    size_t count;
    const clv_metric *known = clv_metrics(&count);
    if (!claim->metrics || !claim->result->labels || !out->accepted) {
        return CLV_OK;
    }
    CLV_TRY(clv_compare(ctx, truth, claim->result->labels, claim->result->n, &scores));
    for (size_t m = 0; m < count; m++) {
        double found = *(const double *)(const void *)((const char *)&scores + known[m].offset);
        if (!isnan(claim->metrics[m]) && !clv_is_within(claim->metrics[m], found, 1e-9 * (1 + fabs(found)))) {
            clv_reject_number(out, known[m].name, claim->metrics[m], found);
            return CLV_OK;
        }
    }
    claim->compared = true;
    return CLV_OK;
}

/* --- the whole --- */

/* What every result has, and the affinity and the bound where there is one. */
static clv_status get_core(const clv_place *at) {
    clv_claim *claim = at->claim;
    clv_result *result = claim->result;
    static const char *const objects[] = {"affinity", "objective", "bound", "certificate", "seconds", "data"};
    double seconds[3];
    const clv_member members[] = {
        {NULL, "method", CLV_JSON_TEXT, &claim->method, false},
        {NULL, "solver", CLV_JSON_TEXT, &claim->solver, false},
        {NULL, "n", CLV_JSON_COUNT, &result->n, false},
        {NULL, "k", CLV_JSON_COUNT, &result->k, false},
        {NULL, "seed", CLV_JSON_INTEGER, &result->seed, false},
        {"affinity", "kind", CLV_JSON_TEXT, &claim->kind, true},
        {"affinity", "gamma", CLV_JSON_NUMBER_OR_NULL, &claim->gamma, true},
        {"affinity", "recall", CLV_JSON_NUMBER_OR_NULL, &claim->recall, true},
        {"affinity", "landmarks", CLV_JSON_COUNT, &claim->landmarks, true},
        {"affinity", "trace_error", CLV_JSON_NUMBER_OR_NULL, &claim->trace_error, true},
        {"affinity", "sampled_error", CLV_JSON_NUMBER_OR_NULL, &claim->sampled_error, true},
        {"affinity", "chosen_on", CLV_JSON_COUNT, &claim->chosen_on, true},
        {"affinity", "agreement_gaussian", CLV_JSON_NUMBER_OR_NULL, &claim->agreement[0], true},
        {"affinity", "agreement_local", CLV_JSON_NUMBER_OR_NULL, &claim->agreement[1], true},
        {"affinity", "agreement_local_knn", CLV_JSON_NUMBER_OR_NULL, &claim->agreement[2], true},
        {"affinity", "reason", CLV_JSON_TEXT, &claim->reason, true},
        {"affinity", "home", CLV_JSON_TEXT, &claim->home, true},
        {"affinity", "bytes", CLV_JSON_COUNT, &claim->bytes, true},
        {"affinity", "nonzeros", CLV_JSON_COUNT, &claim->nonzeros, true},
        {"objective", "name", CLV_JSON_TEXT, &claim->objective_name, false},
        {"objective", "value", CLV_JSON_NUMBER_OR_NULL, &result->objective.value, false},
        {"objective", "sense", CLV_JSON_TEXT, &claim->sense, false},
        {"bound", "name", CLV_JSON_TEXT, &claim->bound_name, true},
        {"bound", "value", CLV_JSON_NUMBER_OR_NULL, &result->bound.value, true},
        {"bound", "gap_percent", CLV_JSON_NUMBER_OR_NULL, &claim->gap_percent, true},
        {"certificate", "name", CLV_JSON_TEXT, &claim->certificate_name, false},
        {"certificate", "value", CLV_JSON_NUMBER_OR_NULL, &result->certificate.value, false},
        {"certificate", "tolerance", CLV_JSON_NUMBER, &result->certificate.tolerance, false},
        {"certificate", "holds", CLV_JSON_FLAG, &result->certificate.holds, false},
        {NULL, "iterations", CLV_JSON_INTEGER, &result->iterations, false},
        {"seconds", "solve", CLV_JSON_NUMBER_OR_NULL, &result->seconds, false},
        {"seconds", "total", CLV_JSON_NUMBER_OR_NULL, &seconds[0], true},
        {"seconds", "load", CLV_JSON_NUMBER_OR_NULL, &seconds[1], true},
        {"seconds", "affinity", CLV_JSON_NUMBER_OR_NULL, &seconds[2], true},
        {NULL, "drift", CLV_JSON_NUMBER_OR_NULL, &result->drift, false},
    };
    for (size_t o = 0; o < CLV_COUNT(objects); o++) {
        const json_t *object = clv_json_find(at, NULL, objects[o]);
        CLV_TRY(!object || json_is_object(object) ? CLV_OK : clv_json_refuse(at, NULL, objects[o], "an object"));
    }
    CLV_TRY(clv_json_get(at, members, CLV_COUNT(members)));
    for (size_t o = 0; o + 1 < CLV_COUNT(objects); o++) { /* those of the data are read apart */
        doubt_strangers(at, objects[o], members, CLV_COUNT(members));
    }
    for (size_t s = 0; s < CLV_COUNT(seconds); s++) {
        doubt_seconds(claim, "of a part of the run", seconds[s]);
    }
    doubt_seconds(claim, "of the run", result->seconds);
    snprintf(result->solver, sizeof result->solver, "%s", claim->solver);
    result->method = claim->method;
    result->objective.name = claim->objective_name;
    result->objective.maximize = strcmp(claim->sense, "max") == 0;
    result->bound.name = isnan(result->bound.value) ? NULL : claim->bound_name;
    result->certificate.name = claim->certificate_name;
    CLV_TRY(get_stop(at, &result->stop));
    return get_restarts(at);
}

/* Whether a method gives the column `member` of its table `name`. */
static bool gives_column(const clv_method *method, const char *name, const char *member) {
    size_t stem = strlen(name);
    for (size_t f = 0; f < method->gives_count; f++) {
        const char *given = method->gives[f].name;
        if (strncmp(given, name, stem) == 0 && given[stem] == '.' && strcmp(given + stem + 1, member) == 0) {
            return true;
        }
    }
    return false;
}

/* Members of a row of a table, or of a sparse matrix. */
static void doubt_foreign_members(const clv_place *at, const clv_method *method, const char *name, json_t *object) {
    const char *member;
    json_t *value;
    json_object_foreach(object, member, value) {
        if (!clv_is_listed("rows|cols|start|index|value", member) && !gives_column(method, name, member)) {
            doubt(at->claim, "%.80s has a member %.80s, but %s gives no such one", name, member, method->name);
            return;
        }
    }
}

/* What a method without labels has not; and similarities of a method that looks at none, also if nothing is said of
 * them (otherwise: consistency.c). */
static bool is_out_of_place(const clv_place *at, const clv_method *method, const char *name, const json_t *value) {
    bool similar = method->takes == CLV_TAKES_AFFINITY || method->takes == CLV_TAKES_PARTITIONS;
    bool labels = clv_method_gives(method, "labels") || clv_json_find(at, NULL, "labels"); /* then those are refused */
    return (!labels && clv_is_listed("sizes|left_out|metrics|terms", name)) ||
           (!similar && strcmp(name, "affinity") == 0 && json_object_size(value) == 0);
}

/* What neither every result has nor this method gives is nothing that it can have said. */
static void doubt_foreign_fields(const clv_place *at, const clv_method *method) {
    static const char core[] = "cleave|method|solver|n|k|seed|data|options|affinity|objective|bound|certificate|stop|"
                               "iterations|seconds|drift|restarts|sizes|left_out|labels|metrics|terms|"
                               "k_table|k_reason";
    const char *name;
    json_t *value;
    json_object_foreach(at->root, name, value) {
        size_t length = strlen(name);
        bool own = clv_is_listed(core, name);
        for (size_t f = 0; f < method->gives_count && !own; f++) {
            const char *given = method->gives[f].name;
            own = strcspn(given, ".") == length && strncmp(given, name, length) == 0;
        }
        if (!own || is_out_of_place(at, method, name, value)) {
            doubt(at->claim, "the field %.80s is claimed, but %s gives no such field", name, method->name);
        }
        for (size_t r = 0; own && !clv_is_listed(core, name) && r < json_array_size(value); r++) {
            doubt_foreign_members(at, method, name, json_array_get(value, r));
        }
        if (own && !clv_is_listed(core, name) && json_is_object(value)) {
            doubt_foreign_members(at, method, name, value);
        }
    }
}

/* Earlier versions had other fields, and their own rules. */
static clv_status check_version(const clv_place *at) {
    char *version = NULL;
    size_t minor = strlen(CLV_VERSION) - strlen(strrchr(CLV_VERSION, '.')) + 1;
    static const char digits[] = "0123456789";
    clv_status status = clv_json_get(at, &(clv_member){NULL, "cleave", CLV_JSON_TEXT, &version, false}, 1);
    bool same = status == CLV_OK && strncmp(version, CLV_VERSION, minor) == 0 && version[minor] &&
                strspn(version + minor, digits) == strlen(version + minor);
    if (status == CLV_OK && !same) {
        status = clv_fail(at->claim->ctx, CLV_EDATA, "%s was written by cleave %.40s; verify it with that version",
                          at->file, version);
    }
    clv_free(at->claim->ctx, version);
    return status;
}

static clv_status get_all(const clv_place *at, const clv_method *method) {
    clv_claim *claim = at->claim;
    if (!json_is_object(at->root)) {
        return clv_fail(claim->ctx, CLV_EDATA, "%s: a result must be a JSON object, and this is not one", at->file);
    }
    CLV_TRY(check_version(at));
    if (clv_json_find(at, NULL, "segments")) {
        return clv_fail(claim->ctx, CLV_EDATA,
                        "%s is a result of segment, which keeps no objects to verify or predict by: use one that a "
                        "method wrote (cleave ncut --json, ...)",
                        at->file);
    }
    CLV_TRY(get_core(at));
    CLV_TRY(get_options(at));
    CLV_TRY(get_data(at));
    CLV_TRY(get_metrics(at));
    if (clv_json_find(at, NULL, "labels")) {
        CLV_TRY(clv_json_get(at, &(clv_member){NULL, "left_out", CLV_JSON_COUNT, &claim->result->left_out, false}, 1));
        CLV_TRY(get_sizes(at));
        CLV_TRY(get_labels(at));
    }
    method = method ? method : clv_claim_method(claim);
    if (!method) {
        return CLV_OK;
    }
    doubt_foreign_fields(at, method);
    return clv_claim_get_fields(at, method);
}

/* What the parser will take at most: a value with its place in a list, an object, a member. */
static int64_t parsed_bytes(const char *text, size_t size) {
    enum { VALUE = 48, OBJECT = 240, MEMBER = 96 };
    int64_t bytes = (int64_t)size;
    for (size_t i = 0; i < size; i++) {
        bytes += text[i] == ',' || text[i] == '[' ? VALUE : text[i] == '{' ? OBJECT : text[i] == ':' ? MEMBER : 0;
    }
    return bytes;
}

clv_status clv_claim_parse(clv_context *ctx, const char *name, const char *text, size_t size, const clv_method *method,
                           clv_claim **out) {
    json_error_t error;
    *out = NULL;
    CLV_TRY(clv_memory_fits(ctx, parsed_bytes(text, size)));
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        return clv_fail(ctx, CLV_EDATA, "%s is not JSON: line %d, column %d: %s", name, error.line, error.column,
                        error.text);
    }
    clv_claim *claim = CLV_NEW0(ctx, clv_claim, 1);
    clv_status status = CLV_ENOMEM;
    if (claim) {
        claim->ctx = ctx;
        claim->unseen = CLV_NEW0(ctx, char, CLV_UNSEEN);
        status = claim->unseen ? clv_result_new(ctx, 0, 0, &claim->result) : CLV_ENOMEM;
    }
    if (status == CLV_OK) {
        status = get_all(&(clv_place){claim, name, root}, method);
    }
    json_decref(root);
    if (status < 0) {
        clv_claim_free(claim);
        return status;
    }
    *out = claim;
    return CLV_OK;
}

clv_status clv_claim_read(clv_context *ctx, const char *path, clv_claim **out) {
    *out = NULL;
    CLV_NEED(ctx, path);
    clv_source in;
    clv_bytes bytes;
    CLV_TRY(clv_input_open(ctx, path, &in));
    clv_status status = clv_input_content(&in, &bytes);
    if (status == CLV_OK) {
        status = clv_claim_parse(ctx, path, (const char *)bytes.data, bytes.size, NULL, out);
    }
    return clv_input_end(&in, status);
}
