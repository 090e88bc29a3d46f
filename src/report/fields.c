/* Members of a JSON object, each of a kind; what is missing or of another kind is refused by its name. */
#include "report/fields.h"

#include <math.h>
#include <string.h>

const json_t *clv_json_find(const clv_place *at, const char *outer, const char *name) {
    return json_object_get(outer ? json_object_get(at->root, outer) : at->root, name);
}

clv_status clv_json_refuse(const clv_place *at, const char *outer, const char *name, const char *wanted) {
    return clv_fail(at->claim->ctx, CLV_EDATA, "%s: the field %s%s%s is missing or not %s", at->file,
                    outer ? outer : "", outer ? "." : "", name, wanted);
}

static clv_status get_member(const clv_place *at, const clv_member *m) {
    static const char *const wanted[] = {
        "a whole number", "a whole number of 0 or more", "a number", "a number or null", "a text", "true or false"};
    const json_t *value = clv_json_find(at, m->outer, m->name);
    bool good = m->optional && !value;
    switch (m->kind) {
    case CLV_JSON_INTEGER:
    case CLV_JSON_COUNT:
        *(int64_t *)m->out = json_integer_value(value);
        good = good || (json_is_integer(value) && (m->kind == CLV_JSON_INTEGER || *(int64_t *)m->out >= 0));
        break;
    case CLV_JSON_NUMBER:
    case CLV_JSON_NUMBER_OR_NULL:
        *(double *)m->out = json_is_number(value) ? json_number_value(value) : (double)NAN;
        good = good || json_is_number(value) || (m->kind == CLV_JSON_NUMBER_OR_NULL && json_is_null(value));
        break;
    case CLV_JSON_TEXT:
        *(char **)m->out = clv_copy_text(at->claim->ctx, json_is_string(value) ? json_string_value(value) : "");
        if (!*(char **)m->out) {
            return CLV_ENOMEM;
        }
        good = good || json_is_string(value);
        break;
    case CLV_JSON_FLAG:
        *(int *)m->out = json_is_true(value);
        good = good || json_is_boolean(value);
        break;
    }
    return good ? CLV_OK : clv_json_refuse(at, m->outer, m->name, wanted[m->kind]);
}

clv_status clv_json_get(const clv_place *at, const clv_member *members, size_t count) {
    for (size_t m = 0; m < count; m++) {
        CLV_TRY(get_member(at, &members[m]));
    }
    return CLV_OK;
}

static bool is_member(const clv_member *members, size_t count, const char *outer, const char *name) {
    for (size_t m = 0; m < count; m++) {
        bool here = outer ? members[m].outer && strcmp(members[m].outer, outer) == 0 : !members[m].outer;
        if (here && strcmp(members[m].name, name) == 0) {
            return true;
        }
    }
    return false;
}

const char *clv_json_stranger(const clv_place *at, const char *outer, const clv_member *members, size_t count) {
    json_t *object = outer ? json_object_get(at->root, outer) : at->root, *value;
    const char *name;
    json_object_foreach(object, name, value) {
        if (!is_member(members, count, outer, name)) {
            return name;
        }
    }
    return NULL;
}
