/* Values in the JSON text of a result (fields.c), and the fields of a method's result (model.c). */
#ifndef CLV_REPORT_FIELDS_H
#define CLV_REPORT_FIELDS_H

#include "report/report.h"

#include <jansson.h>

/* An object of the result, and what is made of it. */
typedef struct clv_place {
    clv_claim *claim;
    const char *file; /* for messages */
    const json_t *root;
} clv_place;

/* The field `name` of the object, or of its field `outer`; NULL when it is not there. */
const json_t *clv_json_find(const clv_place *at, const char *outer, const char *name);
clv_status clv_json_refuse(const clv_place *at, const char *outer, const char *name, const char *wanted);
clv_status clv_json_integer(const clv_place *at, const char *name, int64_t *out);
clv_status clv_json_count(const clv_place *at, const char *name, int64_t *out); /* 0 or more */
clv_status clv_json_number(const clv_place *at, const char *outer, const char *name, double *out);
clv_status clv_json_text(const clv_place *at, const char *outer, const char *name, char **out); /* owned */
/* "" where there is none. */
clv_status clv_json_optional_text(const clv_place *at, const char *outer, const char *name, char **out);
/* NaN where there is none, or null, which stands for what JSON has no number for. */
clv_status clv_json_optional_number(const clv_place *at, const char *outer, const char *name, double *out);

/* The fields of the claim's method that are there, into its result. What is read is a valid field of its kind, whatever
 * it says. */
clv_status clv_claim_get_fields(const clv_place *at, const clv_method *method);

#endif
