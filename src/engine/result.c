/* Results: their making and end, the counts that follow from labels, and the fields. */
#include "engine/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What a field owns. */
struct clv_field_store {
    void *block;    /* name, numbers, texts */
    clv_data *data; /* matrices */
};

clv_status clv_result_new(clv_context *ctx, int64_t n, int64_t k, clv_result **out) {
    *out = NULL;
    if (n < 0 || k < 0) {
        return clv_fail(ctx, CLV_EUSAGE, "a result cannot be of %lld objects and %lld clusters", (long long)n,
                        (long long)k);
    }
    clv_result *result = CLV_NEW0(ctx, clv_result, 1);
    if (!result) {
        return CLV_ENOMEM;
    }
    result->ctx = ctx;
    result->n = n;
    result->k = k;
    result->objective.value = NAN;
    result->certificate.value = NAN;
    result->bound.value = NAN;
    if (n > 0) {
        result->labels = CLV_NEW(ctx, int32_t, n);
        result->sizes = CLV_NEW0(ctx, int64_t, k);
        if (!result->labels || !result->sizes) {
            clv_result_free(result);
            return CLV_ENOMEM;
        }
        for (int64_t i = 0; i < n; i++) {
            result->labels[i] = -1;
        }
    }
    *out = result;
    return CLV_OK;
}

static void free_store(clv_context *ctx, const struct clv_field_store *store) {
    clv_free(ctx, store->block);
    clv_data_free(store->data);
}

void clv_result_free(clv_result *result) {
    if (result) {
        clv_context *ctx = result->ctx;
        for (int64_t f = 0; f < result->fields_count; f++) {
            free_store(ctx, &result->store[f]);
        }
        clv_free(ctx, result->fields);
        clv_free(ctx, result->store);
        clv_free(ctx, result->restarts);
        clv_free(ctx, result->trace);
        clv_free(ctx, result->labels);
        clv_free(ctx, result->sizes);
        clv_free(ctx, result);
    }
}

int64_t clv_count_labels(const int32_t *labels, int64_t n, int64_t k, int64_t *sizes) {
    int64_t left_out = 0;
    memset(sizes, 0, (size_t)k * sizeof *sizes);
    for (int64_t i = 0; i < n; i++) {
        if (labels[i] < 0) {
            left_out++;
        } else {
            sizes[labels[i]]++;
        }
    }
    return left_out;
}

void clv_result_count(clv_result *result) {
    result->left_out = clv_count_labels(result->labels, result->n, result->k, result->sizes);
}

double clv_gap_percent(const clv_result *result) {
    double objective = result->objective.value, bound = result->bound.value;
    double distance = result->objective.maximize ? bound - objective : objective - bound;
    if (!result->bound.name) {
        return NAN;
    }
    double rounding = CLV_ROUNDING_A_CLUSTER * fmax((double)result->k, 1);
    return distance <= rounding ? 0 : 100 * distance / fabs(objective);
}

static const char *const stops[] = {"converged", "stalled", "iteration limit", "time limit", "cancelled"};

const char *clv_stop_name(clv_stop stop) {
    return (size_t)stop < CLV_COUNT(stops) ? stops[stop] : "unknown";
}

bool clv_stop_find(const char *name, clv_stop *out) {
    for (size_t stop = 0; stop < CLV_COUNT(stops); stop++) {
        if (strcmp(stops[stop], name) == 0) {
            *out = (clv_stop)stop;
            return true;
        }
    }
    return false;
}

void clv_result_claim(clv_result *result, const clv_method *method, double objective, double certificate,
                      double tolerance) {
    bool holds = isfinite(certificate) && certificate <= tolerance;
    result->method = method->name;
    result->objective = (clv_objective){method->objective, objective, method->maximize};
    result->certificate = (clv_certificate){method->certificate, certificate, tolerance, holds};
}

/* --- fields: reading --- */

static int64_t find_field(const clv_result *result, const char *name) {
    for (int64_t f = 0; f < result->fields_count; f++) {
        if (strcmp(result->fields[f].name, name) == 0) {
            return f;
        }
    }
    return -1;
}

const clv_field *clv_result_field(const clv_result *result, const char *name) {
    int64_t f = find_field(result, name);
    return f < 0 ? NULL : &result->fields[f];
}

/* clv_result_real and clv_result_reals; clv_result_integer and clv_result_integers. */
#define GETTERS(one, many, type)                                                                                       \
    type clv_result_##one(const clv_result *result, const char *name, type otherwise) {                                \
        const clv_field *field = clv_result_field(result, name);                                                       \
        return field && field->many && field->count > 0 ? field->many[0] : otherwise;                                  \
    }                                                                                                                  \
    const type *clv_result_##many(const clv_result *result, const char *name, int64_t *count) {                        \
        const clv_field *field = clv_result_field(result, name);                                                       \
        *count = field && field->many ? field->count : 0;                                                              \
        return field ? field->many : NULL;                                                                             \
    }
GETTERS(real, reals, double)
GETTERS(integer, integers, int64_t)

const char *clv_result_text(const clv_result *result, const char *name) {
    const clv_field *field = clv_result_field(result, name);
    return field && field->texts && field->count > 0 ? field->texts[0] : NULL;
}

const clv_matrix *clv_result_matrix(const clv_result *result, const char *name) {
    const clv_field *field = clv_result_field(result, name);
    return field ? field->matrix : NULL;
}

/* --- fields: making --- */

static clv_status add_room(clv_result *result) {
    int64_t count = result->fields_count + 1;
    clv_field *fields = clv_resize(result->ctx, result->fields, count, sizeof *fields);
    if (!fields) {
        return CLV_ENOMEM;
    }
    result->fields = fields;
    struct clv_field_store *store = clv_resize(result->ctx, result->store, count, sizeof *store);
    if (!store) {
        return CLV_ENOMEM;
    }
    result->store = store;
    return CLV_OK;
}

/* In the place of a field of that name, or at the end. What it owns is freed when there is no room. */
static clv_status keep(clv_result *result, clv_field field, struct clv_field_store store) {
    int64_t at = find_field(result, field.name);
    if (at >= 0) {
        free_store(result->ctx, &result->store[at]);
    } else if (add_room(result) == CLV_OK && result->fields) {
        at = result->fields_count++;
    } else {
        free_store(result->ctx, &store);
        return CLV_ENOMEM;
    }
    result->fields[at] = field;
    result->store[at] = store;
    return CLV_OK;
}

/* A copy of the text at *place, which goes on behind it. */
static const char *pack_text(char **place, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*place, text, size);
    *place += size;
    return copy;
}

/* The columns of a table are lists of one length. */
static clv_status check_column(const clv_result *result, const clv_field *from) {
    size_t stem = strcspn(from->name, ".");
    for (int64_t f = 0; from->name[stem] && result->fields && f < result->fields_count; f++) {
        const clv_field *other = &result->fields[f];
        bool beside = strncmp(other->name, from->name, stem + 1) == 0 && strcmp(other->name, from->name) != 0;
        if (!from->is_list || (beside && other->count != from->count)) {
            return clv_fail(result->ctx, CLV_EUSAGE, "%s has %lld entries, but the table beside it has %lld rows",
                            from->name, (long long)from->count, (long long)other->count);
        }
    }
    return CLV_OK;
}

/* In one block: the entries, the texts that they point to, and the name. */
static clv_status put_entries(clv_result *result, const clv_field *from) {
    const void *values = from->integers ? (const void *)from->integers : (const void *)from->reals;
    size_t each = from->texts ? sizeof(char *) : sizeof(double), names = strlen(from->name) + 1;
    clv_field field = *from;
    int64_t entries, bytes;
    CLV_TRY(check_column(result, from));
    for (int64_t i = 0; from->texts && i < from->count; i++) {
        if (!from->texts[i]) {
            return clv_fail(result->ctx, CLV_EUSAGE, "%s: text %lld of %lld is not there", from->name, (long long)i + 1,
                            (long long)from->count);
        }
        names += strlen(from->texts[i]) + 1;
    }
    bool fits = clv_mul(from->count, (int64_t)each, &entries) && clv_add(entries, (int64_t)names, &bytes);
    char *block = fits ? clv_alloc(result->ctx, bytes, 1) : NULL;
    if (!block) {
        return CLV_ENOMEM;
    }
    char *place = block + entries;
    if (from->texts) {
        const char **texts = (const char **)(void *)block;
        for (int64_t i = 0; i < from->count; i++) {
            texts[i] = pack_text(&place, from->texts[i]);
        }
        field.texts = texts;
    } else if (from->count > 0) {
        memcpy(block, values, (size_t)entries);
    }
    field.integers = from->integers ? (const int64_t *)(const void *)block : NULL;
    field.reals = from->reals ? (const double *)(const void *)block : NULL;
    field.name = pack_text(&place, from->name);
    return keep(result, field, (struct clv_field_store){.block = block});
}

clv_status clv_result_take(clv_result *result, const char *name, clv_field_kind kind, clv_data *data) {
    char *own = clv_copy_text(result->ctx, name);
    clv_field field = {.name = own, .kind = kind, .count = 1, .matrix = clv_data_matrix(data)};
    if (!own) {
        clv_data_free(data);
        return CLV_ENOMEM;
    }
    return keep(result, field, (struct clv_field_store){own, data});
}

clv_status clv_result_put(clv_result *result, const clv_field *field) {
    CLV_NEED(result->ctx, field);
    clv_data *copy = NULL;
    bool whole = field->kind == CLV_FIELD_INTEGER ? field->integers != NULL
                 : field->kind == CLV_FIELD_REAL  ? field->reals != NULL
                 : field->kind == CLV_FIELD_TEXT  ? field->texts != NULL
                                                  : field->matrix != NULL;
    if (!field->name || !whole || field->count < 0) {
        return clv_fail(result->ctx, CLV_EUSAGE, "a field needs a name, entries of its kind and how many they are");
    }
    if (!field->matrix) {
        return put_entries(result, field);
    }
    CLV_TRY(clv_csr_check(result->ctx, field->name, field->matrix, true)); /* as all that read it take for granted */
    CLV_TRY(clv_data_copy(result->ctx, field->name, field->matrix, &copy));
    return clv_result_take(result, field->name, field->kind, copy);
}

/* clv_result_put_real and clv_result_put_reals, and so on. */
#define PUTTERS(one, many, kind_, type)                                                                                \
    clv_status clv_result_put_##one(clv_result *result, const char *name, type value) {                                \
        return put_entries(result, &(clv_field){.name = name, .kind = (kind_), .count = 1, .many = &value});           \
    }                                                                                                                  \
    clv_status clv_result_put_##many(clv_result *result, const char *name, type const *values, int64_t count) {        \
        clv_field field = {.name = name, .kind = (kind_), .is_list = 1, .count = count, .many = values};               \
        return put_entries(result, &field);                                                                            \
    }
PUTTERS(real, reals, CLV_FIELD_REAL, double)
PUTTERS(integer, integers, CLV_FIELD_INTEGER, int64_t)
PUTTERS(text, texts, CLV_FIELD_TEXT, const char *)

clv_status clv_result_add_warning(clv_result *result, const char *sentence) {
    CLV_NEED(result->ctx, sentence);
    enum { MOST = 8 };
    const clv_field *before = clv_result_field(result, "warnings");
    const char *texts[MOST];
    int64_t count = 0;
    for (; before && count < before->count && count < MOST - 1; count++) {
        texts[count] = before->texts[count];
    }
    texts[count] = sentence;
    return clv_result_put_texts(result, "warnings", texts, count + 1);
}

clv_status clv_result_warn(clv_result *result, const char *format, ...) {
    char sentence[512];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return clv_result_add_warning(result, sentence);
}
