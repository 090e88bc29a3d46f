/* Results as methods make them: the core, and fields by their names. */
#ifndef CLV_RESULT_H
#define CLV_RESULT_H

#include "linalg/linalg.h"

/* How many of the labels, which lie in -1..k-1, are each of 0..k-1; returns how many are -1. */
int64_t clv_count_labels(const int32_t *labels, int64_t n, int64_t k, int64_t *sizes);
/* So the sizes and left_out of a result. */
void clv_result_count(clv_result *result);

/* What rounding may leave in an objective that has a bound, per cluster: these are sums of shares, one of each. */
#define CLV_ROUNDING_A_CLUSTER 1e-12
/* How far the objective lies from its bound, in percent of the objective; 0 where that is no more than rounding; NaN
 * without a bound. */
double clv_gap_percent(const clv_result *result);

/* The stop that has this name; false: none has. */
bool clv_stop_find(const char *name, clv_stop *out);

/* Objective and certificate, named as the method names them. */
void clv_result_claim(clv_result *result, const clv_method *method, double objective, double certificate,
                      double tolerance);

/* Fields; names and texts are copied. */
clv_status clv_result_put_real(clv_result *result, const char *name, double value);
clv_status clv_result_put_integer(clv_result *result, const char *name, int64_t value);
clv_status clv_result_put_text(clv_result *result, const char *name, const char *value);
clv_status clv_result_put_reals(clv_result *result, const char *name, const double *values, int64_t count);
clv_status clv_result_put_integers(clv_result *result, const char *name, const int64_t *values, int64_t count);
clv_status clv_result_put_texts(clv_result *result, const char *name, const char *const *values, int64_t count);
/* A field of the kind MATRIX or SPARSE that owns `data` from now on, also when this fails. */
clv_status clv_result_take(clv_result *result, const char *name, clv_field_kind kind, clv_data *data);

/* clv_result_add_warning, with what the format makes. */
__attribute__((format(printf, 2, 3))) clv_status clv_result_warn(clv_result *result, const char *format, ...);

#endif
