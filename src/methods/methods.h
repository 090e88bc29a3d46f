/* The methods: each is one clv_method, written in its own folder and listed in methods.c. */
#ifndef CLV_METHODS_H
#define CLV_METHODS_H

#include "base/options.h"
#include "engine/driver.h"

extern const clv_method clv_dominant_method, clv_symnmf_method, clv_ncut_method, clv_kpalm_method, clv_ksupport_method,
    clv_pursuit_method;

/* Room for the options of any method at their full size. */
typedef struct clv_options_room {
    _Alignas(max_align_t) char bytes[1024];
} clv_options_room;

/* The options that a program gave, at their full size and in range. */
clv_status clv_method_adopt(clv_context *ctx, const clv_method *method, const void *options, clv_options_room *out);

/* A column of `count` numbers of any kind of matrix, as doubles, owned by the caller. A row will do as well. `what` is
 * for the message where the shape is another one. */
clv_status clv_column_of(clv_context *ctx, const char *what, const clv_matrix *m, int64_t count, double **out);
/* The same for labels, which must be whole numbers from -1 to k - 1. */
clv_status clv_labels_of(clv_context *ctx, const char *what, const clv_matrix *m, int64_t count, int64_t k,
                         int32_t **out);

/* Shapes and ranges of what an evaluation is given: the message says that the answer cannot be. */
clv_status clv_answer_matrix(clv_context *ctx, const clv_result *answer, const char *name, int64_t rows, int64_t cols,
                             const clv_matrix **out);

#endif
