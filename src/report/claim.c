/* A result read back from its JSON text. Only the form is checked here, field by field; whether the content is true is
 * for verify.c to say. */
#include "engine/result.h"
#include "io/io.h"
#include "report/fields.h"

#include <errno.h>
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
    char *const texts[] = {claim->method,           claim->solver,     claim->objective_name, claim->sense,
                           claim->certificate_name, claim->bound_name, claim->kind,           claim->home};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        clv_free(ctx, texts[i]);
    }
    clv_free(ctx, claim->options);
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

/* --- labels and sizes --- */

static clv_status get_labels(const clv_place *at) {
    const json_t *labels = clv_json_find(at, NULL, "labels");
    clv_result *result = at->claim->result;
    if (!json_is_array(labels)) {
        return clv_json_refuse(at, NULL, "labels", "an array");
    }
    int64_t count = (int64_t)json_array_size(labels);
    result->labels = CLV_NEW(at->claim->ctx, int32_t, count);
    if (!result->labels) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < count; i++) {
        const json_t *label = json_array_get(labels, (size_t)i);
        json_int_t value = json_integer_value(label);
        if (!json_is_integer(label) || value < INT32_MIN || value > INT32_MAX) {
            return clv_fail(at->claim->ctx, CLV_EDATA, "%s: the label of object %lld is not a whole number", at->file,
                            (long long)i + 1);
        }
        result->labels[i] = (int32_t)value;
    }
    if (count != result->n) {
        doubt(at->claim, "%lld labels are claimed for %lld objects", (long long)count, (long long)result->n);
        clv_free(at->claim->ctx, result->labels);
        result->labels = NULL;
    }
    return CLV_OK;
}

static clv_status get_sizes(const clv_place *at) {
    const json_t *sizes = clv_json_find(at, NULL, "sizes");
    clv_result *result = at->claim->result;
    if (!json_is_array(sizes)) {
        return clv_json_refuse(at, NULL, "sizes", "an array");
    }
    int64_t count = (int64_t)json_array_size(sizes);
    result->sizes = CLV_NEW(at->claim->ctx, int64_t, count);
    if (!result->sizes) {
        return CLV_ENOMEM;
    }
    for (int64_t c = 0; c < count; c++) {
        const json_t *size = json_array_get(sizes, (size_t)c);
        if (!json_is_integer(size)) {
            return clv_fail(at->claim->ctx, CLV_EDATA, "%s: the size of cluster %lld is not a whole number", at->file,
                            (long long)c);
        }
        result->sizes[c] = json_integer_value(size);
    }
    if (count != result->k) {
        doubt(at->claim, "%lld sizes are claimed for %lld clusters", (long long)count, (long long)result->k);
        clv_free(at->claim->ctx, result->sizes);
        result->sizes = NULL;
    }
    return CLV_OK;
}

/* --- the course of the run --- */

/* A stop by its name; what is none speaks against the claim. */
static clv_stop stop_of(clv_claim *claim, const char *name) {
    clv_stop stop = CLV_CANCELLED;
    if (!clv_stop_find(name, &stop)) {
        doubt(claim, "no run stops for the reason '%.80s'", name);
    }
    return stop;
}

static clv_status get_stop(const clv_place *at, clv_stop otherwise, clv_stop *out) {
    char *name;
    CLV_TRY(clv_json_optional_text(at, NULL, "stop", &name));
    *out = *name ? stop_of(at->claim, name) : otherwise;
    clv_free(at->claim->ctx, name);
    return CLV_OK;
}

static clv_status get_restart(const clv_place *at, int64_t number) {
    clv_restart *restart = &at->claim->result->restarts[number];
    if (!json_is_object(at->root)) {
        return clv_fail(at->claim->ctx, CLV_EDATA, "%s: restart %lld is not an object", at->file,
                        (long long)number + 1);
    }
    CLV_TRY(clv_json_number(at, NULL, "objective", &restart->objective));
    CLV_TRY(clv_json_integer(at, "iterations", &restart->iterations));
    CLV_TRY(clv_json_optional_number(at, NULL, "seconds", &restart->seconds));
    return get_stop(at, at->claim->result->stop, &restart->stop);
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
    if (json_is_string(value)) {
        return clv_copy_text(ctx, json_string_value(value));
    }
    if (json_is_boolean(value)) {
        return clv_copy_text(ctx, json_is_true(value) ? "true" : "false");
    }
    if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        return clv_copy_text(ctx, number);
    }
    clv_print_number(json_real_value(value), number);
    return clv_copy_text(ctx, number);
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
        if (json_is_null(value)) {
            continue;
        }
        if (json_is_object(value) || json_is_array(value)) {
            return clv_fail(claim->ctx, CLV_EDATA, "%s: the option %.80s is neither a number, a text nor true or false",
                            at->file, name);
        }
        clv_claim_entry *entry = &claim->options[claim->options_count++];
        entry->name = clv_copy_text(claim->ctx, name);
        entry->text = scalar_text(claim->ctx, value);
        if (!entry->name || !entry->text) {
            return CLV_ENOMEM;
        }
    }
    return CLV_OK;
}

/* --- the whole --- */

static clv_status get_affinity(const clv_place *at) {
    clv_claim *claim = at->claim;
    CLV_TRY(clv_json_optional_number(at, "affinity", "gamma", &claim->gamma));
    CLV_TRY(clv_json_optional_text(at, "affinity", "kind", &claim->kind));
    return clv_json_optional_text(at, "affinity", "home", &claim->home);
}

static clv_status get_objective(const clv_place *at) {
    clv_claim *claim = at->claim;
    clv_result *result = claim->result;
    CLV_TRY(clv_json_text(at, "objective", "name", &claim->objective_name));
    CLV_TRY(clv_json_number(at, "objective", "value", &result->objective.value));
    CLV_TRY(clv_json_text(at, "objective", "sense", &claim->sense));
    result->objective.name = claim->objective_name;
    result->objective.maximize = strcmp(claim->sense, "max") == 0;
    CLV_TRY(clv_json_optional_text(at, "bound", "name", &claim->bound_name));
    CLV_TRY(clv_json_optional_number(at, "bound", "gap_percent", &claim->gap_percent));
    CLV_TRY(clv_json_optional_number(at, "bound", "value", &result->bound.value));
    result->bound.name = isnan(result->bound.value) ? NULL : claim->bound_name;
    return CLV_OK;
}

static clv_status get_certificate(const clv_place *at) {
    clv_claim *claim = at->claim;
    clv_certificate *certificate = &claim->result->certificate;
    const json_t *holds = clv_json_find(at, "certificate", "holds");
    CLV_TRY(clv_json_text(at, "certificate", "name", &claim->certificate_name));
    CLV_TRY(clv_json_number(at, "certificate", "tolerance", &certificate->tolerance));
    if (!json_is_boolean(holds)) {
        return clv_json_refuse(at, "certificate", "holds", "true or false");
    }
    certificate->name = claim->certificate_name;
    certificate->holds = json_is_true(holds);
    if (!clv_json_find(at, "certificate", "value")) {
        return clv_json_refuse(at, "certificate", "value", "a number or null");
    }
    return clv_json_optional_number(at, "certificate", "value", &certificate->value);
}

static clv_status get_course(const clv_place *at) {
    clv_claim *claim = at->claim;
    clv_result *result = claim->result;
    char *stop = NULL;
    CLV_TRY(clv_json_text(at, NULL, "solver", &claim->solver));
    snprintf(result->solver, sizeof result->solver, "%s", claim->solver);
    CLV_TRY(clv_json_integer(at, "seed", &result->seed));
    CLV_TRY(clv_json_text(at, NULL, "stop", &stop));
    result->stop = stop_of(claim, stop);
    clv_free(claim->ctx, stop);
    CLV_TRY(clv_json_integer(at, "iterations", &result->iterations));
    CLV_TRY(clv_json_optional_number(at, NULL, "drift", &result->drift));
    return get_restarts(at);
}

/* What another method gives, and this one does not, is nothing that it can have said. Labels have their own check. */
static void doubt_foreign_field(const clv_place *at, const clv_method *method, const char *name) {
    char member[64];
    size_t stem = strcspn(name, ".");
    bool own = strcmp(name, "labels") == 0;
    for (size_t f = 0; f < method->gives_count && !own; f++) {
        const char *given = method->gives[f].name;
        own = strcspn(given, ".") == stem && strncmp(given, name, stem) == 0;
    }
    snprintf(member, sizeof member, "%.*s", (int)stem, name);
    if (!own && clv_json_find(at, NULL, member)) {
        doubt(at->claim, "the field %s is claimed, but %s gives none", member, method->name);
    }
}

static clv_status get_fields(const clv_place *at, const clv_method *method) {
    size_t count;
    const clv_method *const *others = clv_methods(&count);
    for (size_t m = 0; m < count; m++) {
        for (size_t f = 0; f < others[m]->gives_count; f++) {
            doubt_foreign_field(at, method, others[m]->gives[f].name);
        }
    }
    return clv_claim_get_fields(at, method);
}

static clv_status get_all(const clv_place *at, const clv_method *method) {
    clv_claim *claim = at->claim;
    clv_result *result = claim->result;
    if (!json_is_object(at->root)) {
        return clv_fail(claim->ctx, CLV_EDATA, "%s: a result is a JSON object, and this is none", at->file);
    }
    CLV_TRY(clv_json_text(at, NULL, "method", &claim->method));
    result->method = claim->method;
    CLV_TRY(clv_json_count(at, "n", &result->n));
    CLV_TRY(clv_json_count(at, "k", &result->k));
    CLV_TRY(get_objective(at));
    CLV_TRY(get_certificate(at));
    CLV_TRY(get_course(at));
    CLV_TRY(get_affinity(at));
    CLV_TRY(get_options(at));
    if (clv_json_find(at, NULL, "labels")) {
        CLV_TRY(clv_json_count(at, "left_out", &result->left_out));
        CLV_TRY(get_sizes(at));
        CLV_TRY(get_labels(at));
    }
    method = method ? method : clv_claim_method(claim);
    return method ? get_fields(at, method) : CLV_OK;
}

clv_status clv_claim_parse(clv_context *ctx, const char *name, const char *text, size_t size, const clv_method *method,
                           clv_claim **out) {
    json_error_t error;
    *out = NULL;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        return clv_fail(ctx, CLV_EDATA, "%s is not JSON: line %d, column %d: %s", name, error.line, error.column,
                        error.text);
    }
    clv_claim *claim = CLV_NEW0(ctx, clv_claim, 1);
    clv_status status = CLV_ENOMEM;
    if (claim) {
        claim->ctx = ctx;
        status = clv_result_new(ctx, 0, 0, &claim->result);
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

static clv_status read_all(const char *path, clv_text *text) {
    char chunk[1 << 14];
    FILE *file = fopen(path, "rb");
    if (!file) {
        return errno == ENOENT
                   ? clv_fail(text->ctx, CLV_ENOINPUT, "there is no file %s", path)
                   : clv_fail(text->ctx, CLV_ENOINPUT, "%s cannot be opened: %s", path, clv_errno_text(errno));
    }
    size_t size;
    while ((size = fread(chunk, 1, sizeof chunk, file)) > 0) {
        clv_text_append(text, chunk, size);
    }
    int failure = ferror(file) ? errno : 0;
    fclose(file);
    if (failure) {
        return clv_fail(text->ctx, CLV_EIO, "reading %s failed: %s", path, clv_errno_text(failure));
    }
    return text->status;
}

clv_status clv_claim_read(clv_context *ctx, const char *path, clv_claim **out) {
    clv_text text = {.ctx = ctx};
    *out = NULL;
    clv_status status = read_all(path, &text);
    if (status == CLV_OK) {
        status = clv_claim_parse(ctx, path, text.data ? text.data : "", text.size, NULL, out);
    }
    clv_free(ctx, text.data);
    return status;
}
