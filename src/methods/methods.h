/* The methods: each is one clv_method, written in its own folder and listed in methods.c. */
#ifndef CLV_METHODS_H
#define CLV_METHODS_H

#include "base/options.h"
#include "engine/checkpoint.h"
#include "engine/driver.h"

extern const clv_method clv_dominant_method, clv_symnmf_method, clv_ncut_method, clv_kpalm_method, clv_ksupport_method,
    clv_pursuit_method, clv_consensus_method;

/* The functions that the description of a method points to; not every method has a check and a prediction. */
#define CLV_METHOD_PARTS(name_)                                                                                        \
    clv_status clv_##name_##_check(clv_context *ctx, const void *options);                                             \
    size_t clv_##name_##_bytes(const clv_input *input, const void *options);                                           \
    clv_status clv_##name_##_solve(clv_context *ctx, const clv_input *input, const void *options, clv_result **out);   \
    clv_status clv_##name_##_evaluate_answer(clv_context *ctx, const clv_input *input, const void *options,            \
                                             const clv_result *answer, clv_result *found);                             \
    clv_status clv_##name_##_predict_fresh(clv_context *ctx, const clv_input *input, const void *options,              \
                                           const clv_result *result, const clv_fresh *fresh, clv_result **out);

/* Room for the options of any method at their full size. */
typedef struct clv_options_room {
    _Alignas(max_align_t) char bytes[1024];
} clv_options_room;

/* The options that a program gave, at their full size and in range. */
clv_status clv_method_adopt(clv_context *ctx, const clv_method *method, const void *options, clv_options_room *out);

/* The name of the solver into the result, as the option table has it. */
void clv_name_solver(const clv_method *method, const void *options, clv_result *result);

/* What a result says whose labels are there, but not evaluated; `how` they were found (rough.c). */
clv_status clv_describe_rough(clv_context *ctx, const clv_method *method, const clv_control *control, const char *how,
                              clv_result *result);

/* The session of checkpoints for a solve under the options at their full size, if there are to be any and none is under
 * way; else NULL. `since`: as for clv_session_begin (fingerprint.c). */
clv_status clv_begin_checkpoints(clv_context *ctx, const clv_method *method, const clv_input *input,
                                 const void *options, double since, clv_session **out);

/* How to run a solver: without anything random in it, one restart says it all. */
static inline clv_control clv_control_for(const clv_control *asked, bool fixed) {
    clv_control control = *asked;
    control.restarts = fixed ? 1 : control.restarts;
    return control;
}

/* A column of `count` numbers of any kind of matrix, as doubles, owned by the caller. A row will do as well. `what` is
 * for the message where the shape is another one. */
clv_status clv_column_of(clv_context *ctx, const char *what, const clv_matrix *m, int64_t count, double **out);
/* The same for labels, which must be whole numbers from -1 to k - 1; to be freed also on failure. */
clv_status clv_labels_of(clv_context *ctx, const char *what, const clv_matrix *m, int64_t count, int64_t k,
                         int32_t **out);

/* A place drawn with probability proportional to its weight, which add up to `total`; -1: all are 0. */
int64_t clv_draw(const double *weight, int64_t n, double total, clv_rng *rng);

/* Whether there can be k clusters of n objects; whether the labels lie in -1..k-1. */
clv_status clv_check_k(clv_context *ctx, const clv_method *method, int64_t k, int64_t n);
clv_status clv_check_labels(clv_context *ctx, const int32_t *labels, int64_t n, int64_t k);

/* Shapes and ranges of what an evaluation is given: the message says that the answer cannot be. */
clv_status clv_answer_matrix(clv_context *ctx, const clv_result *answer, const char *name, int64_t rows, int64_t cols,
                             const clv_matrix **out);

/* copies.c: rows of points that are copies of others, among those looked at: all, or as many as have `most` numbers. */
typedef struct clv_copies {
    int64_t looked, copies;
    bool exact; /* else estimated, to a few hundredths of those looked at */
} clv_copies;
clv_status clv_count_copies(clv_context *ctx, const clv_matrix *points, int64_t most, clv_copies *out);

/* advice.c: warnings about points, similarities and clusters, with what to try. */
clv_status clv_advise(clv_context *ctx, const clv_method *method, const clv_input *input, const void *options,
                      clv_result *result);

#endif
