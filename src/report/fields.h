/* Values in the JSON text of a result (fields.c), and the fields of a method's result (model.c). */
#ifndef CLV_REPORT_FIELDS_H
#define CLV_REPORT_FIELDS_H

#include "report/report.h"

#include <jansson.h>

/* An object of the result, and what is made of it. */
typedef struct clv_place {
    clv_claim *claim;
    const char *file; /* for messages */
    json_t *root;
} clv_place;

/* The field `name` of the object, or of its field `outer`; NULL when it is not there. */
const json_t *clv_json_find(const clv_place *at, const char *outer, const char *name);
clv_status clv_json_refuse(const clv_place *at, const char *outer, const char *name, const char *wanted);

typedef enum clv_json_kind {
    CLV_JSON_INTEGER,        /* int64_t */
    CLV_JSON_COUNT,          /* the same, 0 or more */
    CLV_JSON_NUMBER,         /* double */
    CLV_JSON_NUMBER_OR_NULL, /* the same; null is what JSON has no number for: NaN */
    CLV_JSON_TEXT,           /* char *, owned */
    CLV_JSON_FLAG            /* int */
} clv_json_kind;

/* The member `name` of the object, or of its member `outer`, and where it goes. */
typedef struct clv_member {
    const char *outer, *name;
    clv_json_kind kind;
    void *out;
    bool optional; /* without it: 0, NaN or "" */
} clv_member;
clv_status clv_json_get(const clv_place *at, const clv_member *members, size_t count);
/* A member of the object (of its member `outer`, if that is not NULL) that is none of these; NULL: there is none. */
const char *clv_json_stranger(const clv_place *at, const char *outer, const clv_member *members, size_t count);

/* What speaks against the table of several k that a result tells, and against the terms of its clusters; left alone:
 * nothing. */
void clv_doubt_range(const json_t *root, const clv_result *result, char *doubt, size_t size);

/* The fields of the claim's method that are there, into its result. What is read is a valid field of its kind, whatever
 * it says. */
clv_status clv_claim_get_fields(const clv_place *at, const clv_method *method);

#endif
