/* Every allocation fails once: scenarios, each a small complete use of the library, run under an allocator that fails
 * the k-th request, for k = 1, 2, ... until the scenario gets through. Nothing may leak, crash or report another
 * failure than CLV_ENOMEM. What other libraries (libpng, matio, jansson, ARPACK) take from malloc is not failed. */
#ifndef TESTS_ALLOC_H
#define TESTS_ALLOC_H

#include "linalg/linalg.h"

/* What a scenario made. The harness frees it, whatever the scenario returned: a scenario only fills it in. */
typedef struct holder {
    clv_data *data[4];
    clv_affinity *affinity;
    clv_affinity *restricted;
    clv_result *result;
    clv_result *found, *fresh; /* an evaluation of it, and a prediction */
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

/* What the scenarios of methods.c have in common with those of affinities: points.npy, or the file of the scenario. */
clv_affinity_options how_to_build(const scenario *self, int64_t threads);
clv_status build(clv_context *ctx, holder *made, const scenario *self, int64_t threads);

/* Of methods (methods.c). use_method is run for every method of the library, `kind` is its place in the list: solved,
 * evaluated, asked about new objects, written as JSON, read back and verified. The others are for what a method has
 * beyond that. */
clv_status use_method(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
/* For every method too: checkpointed, and gone on with. */
clv_status go_on(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status cut(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status cut_from_labels(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status soft_clusters(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status peel(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status peel_random(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status center(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status fit(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status pursue(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status report(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status verify(clv_context *ctx, holder *made, const scenario *self, int64_t threads);

/* Of documents and pictures (features.c). */
clv_status read_documents(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status reduce_band(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status segment_picture(clv_context *ctx, holder *made, const scenario *self, int64_t threads);
clv_status write_documents(clv_context *ctx);

/* Write the files that the scenarios read into the current folder. */
clv_status write_fixtures(clv_context *ctx);

#endif
