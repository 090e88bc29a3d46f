/* Fields of a JSON object, each of a kind; what is missing or of another kind is refused by its name. */
#include "report/fields.h"

#include <math.h>

const json_t *clv_json_find(const clv_place *at, const char *outer, const char *name) {
    return json_object_get(outer ? json_object_get(at->root, outer) : at->root, name);
}

clv_status clv_json_refuse(const clv_place *at, const char *outer, const char *name, const char *wanted) {
    return clv_fail(at->claim->ctx, CLV_EDATA, "%s: the field %s%s%s is missing or not %s", at->file,
                    outer ? outer : "", outer ? "." : "", name, wanted);
}

clv_status clv_json_integer(const clv_place *at, const char *name, int64_t *out) {
    const json_t *value = clv_json_find(at, NULL, name);
    if (!json_is_integer(value)) {
        return clv_json_refuse(at, NULL, name, "a whole number");
    }
    *out = json_integer_value(value);
    return CLV_OK;
}

clv_status clv_json_count(const clv_place *at, const char *name, int64_t *out) {
    CLV_TRY(clv_json_integer(at, name, out));
    return *out < 0 ? clv_json_refuse(at, NULL, name, "a whole number of 0 or more") : CLV_OK;
}

clv_status clv_json_number(const clv_place *at, const char *outer, const char *name, double *out) {
    const json_t *value = clv_json_find(at, outer, name);
    if (!json_is_number(value)) {
        return clv_json_refuse(at, outer, name, "a number");
    }
    *out = json_number_value(value);
    return CLV_OK;
}

clv_status clv_json_text(const clv_place *at, const char *outer, const char *name, char **out) {
    const json_t *value = clv_json_find(at, outer, name);
    if (!json_is_string(value)) {
        return clv_json_refuse(at, outer, name, "a text");
    }
    *out = clv_copy_text(at->claim->ctx, json_string_value(value));
    return *out ? CLV_OK : CLV_ENOMEM;
}

/* "" where there is none. */
clv_status clv_json_optional_text(const clv_place *at, const char *outer, const char *name, char **out) {
    if (clv_json_find(at, outer, name)) {
        return clv_json_text(at, outer, name, out);
    }
    *out = clv_copy_text(at->claim->ctx, "");
    return *out ? CLV_OK : CLV_ENOMEM;
}

/* NaN where there is none, or null, which stands for what JSON has no number for. */
clv_status clv_json_optional_number(const clv_place *at, const char *outer, const char *name, double *out) {
    const json_t *value = clv_json_find(at, outer, name);
    *out = NAN;
    return !value || json_is_null(value) ? CLV_OK : clv_json_number(at, outer, name, out);
}
