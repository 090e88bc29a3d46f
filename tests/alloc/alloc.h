/* Every allocation fails once: scenarios, each a small complete use of the library, run under an allocator that fails
 * the k-th request, for k = 1, 2, ... until the scenario gets through. Nothing may leak, crash or report another
 * failure than CLV_ENOMEM. What other libraries (libpng, matio, jansson, ARPACK) take from malloc is not failed. */
#ifndef TESTS_ALLOC_H
#define TESTS_ALLOC_H

#include "linalg/linalg.h"

/* What a scenario made. The harness frees it, whatever the scenario returned: a scenario only fills it in. */
typedef struct holder {
    clv_data *data[3];
    clv_affinity *affinity;
    clv_affinity *restricted;
    clv_result *result;
    clv_claim *claim;
    void *blocks[8]; /* for clv_release */
} holder;

typedef struct scenario scenario;
struct scenario {
    const char *name;
    clv_status (*run)(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
    const char *file; /* what it reads or writes, or NULL */
    int kind, home;   /* clv_affinity_kind or another choice, clv_home */
};

extern const scenario scenarios[];
extern const size_t scenario_count;

/* Of documents and pictures (features.c). */
clv_status read_documents(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status reduce_band(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status segment_picture(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status write_documents(clv_context *ctx);

/* Write the files that the scenarios read into the current folder. */
clv_status write_fixtures(clv_context *ctx);

#endif
