/* A result read back from its JSON text. Only the form is checked here, field by field; whether the content is true is
 * for verify.c to say. */
#include "io/io.h"
#include "report/fields.h"

#include <errno.h>
#include <math.h>
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
    for (int64_t r = 0; claim->restarts && r < claim->restarts_count; r++) {
        clv_free(ctx, claim->restarts[r].stop);
    }
    char *const texts[] = {claim->method,         claim->solver, claim->stop,
                           claim->objective_name, claim->sense,  claim->certificate_name,
                           claim->bound_name,     claim->kind,   claim->home};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        clv_free(ctx, texts[i]);
    }
    clv_free(ctx, claim->options);
    clv_free(ctx, claim->restarts);
    clv_free(ctx, claim->labels);
    clv_free(ctx, claim->sizes);
    clv_free(ctx, claim->eigenvalues);
    clv_free(ctx, claim->soft.entropy);
    clv_free(ctx, claim->soft.expected_sizes);
    clv_data_free(claim->membership);
    clv_data_free(claim->centers);
    clv_data_free(claim->weights);
    clv_free(ctx, claim->intercepts);
    clv_free(ctx, claim->classes);
    clv_free(ctx, claim->clusters);
    clv_free(ctx, claim);
}

const char *clv_claim_option(const clv_claim *claim, const char *name) {
    for (int64_t i = 0; i < claim->options_count; i++) {
        if (strcmp(clv_option_name(claim->options[i].name), name) == 0) {
            return claim->options[i].text;
        }
    }
    return NULL;
}

/* --- lists --- */

static clv_status get_labels(const clv_place *at) {
    const json_t *labels = clv_json_find(at, NULL, "labels");
    clv_claim *claim = at->claim;
    if (!json_is_array(labels)) {
        return clv_json_refuse(at, NULL, "labels", "an array");
    }
    claim->labels_count = (int64_t)json_array_size(labels);
    claim->labels = CLV_NEW(claim->ctx, int32_t, claim->labels_count);
    if (!claim->labels) {
        return CLV_ENOMEM;
    }
    for (int64_t i = 0; i < claim->labels_count; i++) {
        const json_t *label = json_array_get(labels, (size_t)i);
        json_int_t value = json_integer_value(label);
        if (!json_is_integer(label) || value < INT32_MIN || value > INT32_MAX) {
            return clv_fail(claim->ctx, CLV_EDATA, "%s: the label of object %lld is not a whole number", at->file,
                            (long long)i + 1);
        }
        claim->labels[i] = (int32_t)value;
    }
    return CLV_OK;
}

static clv_status get_sizes(const clv_place *at) {
    const json_t *sizes = clv_json_find(at, NULL, "sizes");
    clv_claim *claim = at->claim;
    if (!json_is_array(sizes)) {
        return clv_json_refuse(at, NULL, "sizes", "an array");
    }
    claim->sizes_count = (int64_t)json_array_size(sizes);
    claim->sizes = CLV_NEW(claim->ctx, int64_t, claim->sizes_count);
    if (!claim->sizes) {
        return CLV_ENOMEM;
    }
    for (int64_t c = 0; c < claim->sizes_count; c++) {
        const json_t *size = json_array_get(sizes, (size_t)c);
        if (!json_is_integer(size)) {
            return clv_fail(claim->ctx, CLV_EDATA, "%s: the size of cluster %lld is not a whole number", at->file,
                            (long long)c);
        }
        claim->sizes[c] = json_integer_value(size);
    }
    return CLV_OK;
}

static clv_status get_soft(const clv_place *at) {
    clv_claim *claim = at->claim;
    CLV_TRY(clv_json_optional_number(at, "soft", "residual", &claim->soft.residual));
    CLV_TRY(clv_json_optional_number(at, "soft", "mean_similarity", &claim->soft.mean_similarity));
    CLV_TRY(clv_json_optional_number(at, "soft", "variation", &claim->soft.variation));
    CLV_TRY(clv_json_optional_numbers(at, "soft", "entropy", &claim->soft.entropy, &claim->entropy_count));
    return clv_json_optional_numbers(at, "soft", "expected_sizes", &claim->soft.expected_sizes, &claim->expected_count);
}

static clv_status get_restart(const clv_place *at, int64_t number) {
    clv_claim_restart *restart = &at->claim->restarts[number];
    if (!json_is_object(at->root)) {
        return clv_fail(at->claim->ctx, CLV_EDATA, "%s: restart %lld is not an object", at->file,
                        (long long)number + 1);
    }
    CLV_TRY(clv_json_number(at, NULL, "objective", &restart->objective));
    CLV_TRY(clv_json_integer(at, "iterations", &restart->iterations));
    return clv_json_optional_text(at, NULL, "stop", &restart->stop);
}

static clv_status get_restarts(const clv_place *at) {
    const json_t *restarts = clv_json_find(at, NULL, "restarts");
    clv_claim *claim = at->claim;
    if (!json_is_array(restarts)) {
        return clv_json_refuse(at, NULL, "restarts", "an array");
    }
    claim->restarts_count = (int64_t)json_array_size(restarts);
    claim->restarts = CLV_NEW0(claim->ctx, clv_claim_restart, claim->restarts_count);
    if (!claim->restarts) {
        return CLV_ENOMEM;
    }
    for (int64_t r = 0; r < claim->restarts_count; r++) {
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
    CLV_TRY(clv_json_text(at, "objective", "name", &claim->objective_name));
    CLV_TRY(clv_json_number(at, "objective", "value", &claim->objective));
    CLV_TRY(clv_json_text(at, "objective", "sense", &claim->sense));
    CLV_TRY(clv_json_optional_text(at, "bound", "name", &claim->bound_name));
    CLV_TRY(clv_json_optional_number(at, "bound", "gap_percent", &claim->gap_percent));
    return clv_json_optional_number(at, "bound", "value", &claim->bound);
}

static clv_status get_graph(const clv_place *at) {
    clv_claim *claim = at->claim;
    claim->components = -1;
    if (clv_json_find(at, NULL, "components")) {
        CLV_TRY(clv_json_count(at, "components", &claim->components));
    }
    CLV_TRY(clv_json_optional_number(at, NULL, "shift", &claim->shift));
    CLV_TRY(clv_json_optional_number(at, NULL, "drift", &claim->drift));
    return clv_json_optional_numbers(at, NULL, "eigenvalues", &claim->eigenvalues, &claim->eigenvalues_count);
}

static clv_status get_certificate(const clv_place *at) {
    clv_claim *claim = at->claim;
    const json_t *holds = clv_json_find(at, "certificate", "holds");
    CLV_TRY(clv_json_text(at, "certificate", "name", &claim->certificate_name));
    CLV_TRY(clv_json_number(at, "certificate", "tolerance", &claim->tolerance));
    if (!json_is_boolean(holds)) {
        return clv_json_refuse(at, "certificate", "holds", "true or false");
    }
    claim->holds = json_is_true(holds);
    if (!clv_json_find(at, "certificate", "value")) {
        return clv_json_refuse(at, "certificate", "value", "a number or null");
    }
    return clv_json_optional_number(at, "certificate", "value", &claim->certificate);
}

static clv_status get_course(const clv_place *at) {
    clv_claim *claim = at->claim;
    CLV_TRY(clv_json_text(at, NULL, "solver", &claim->solver));
    CLV_TRY(clv_json_integer(at, "seed", &claim->seed));
    CLV_TRY(clv_json_text(at, NULL, "stop", &claim->stop));
    CLV_TRY(clv_json_integer(at, "iterations", &claim->iterations));
    return get_restarts(at);
}

static clv_status get_fields(const clv_place *at) {
    clv_claim *claim = at->claim;
    if (!json_is_object(at->root)) {
        return clv_fail(claim->ctx, CLV_EDATA, "%s: a result is a JSON object, and this is none", at->file);
    }
    CLV_TRY(clv_json_text(at, NULL, "method", &claim->method));
    CLV_TRY(clv_json_count(at, "n", &claim->n));
    CLV_TRY(clv_json_count(at, "k", &claim->k));
    CLV_TRY(get_objective(at));
    CLV_TRY(get_certificate(at));
    CLV_TRY(get_course(at));
    CLV_TRY(get_affinity(at));
    CLV_TRY(get_graph(at));
    CLV_TRY(get_soft(at));
    CLV_TRY(get_options(at));
    if (clv_json_find(at, NULL, "labels")) {
        CLV_TRY(clv_json_count(at, "left_out", &claim->left_out));
        CLV_TRY(get_sizes(at));
        CLV_TRY(get_labels(at));
    }
    return clv_claim_get_model(at);
}

clv_status clv_claim_parse(clv_context *ctx, const char *name, const char *text, size_t size, clv_claim **out) {
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
        status = get_fields(&(clv_place){claim, name, root});
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
        status = clv_claim_parse(ctx, path, text.data ? text.data : "", text.size, out);
    }
    clv_free(ctx, text.data);
    return status;
}
