/* A context for each test, which must leave nothing allocated. */
#ifndef CLV_TEST_WITH_CONTEXT_H
#define CLV_TEST_WITH_CONTEXT_H

#include "cleave.h"

static clv_context *ctx;

static int set_up(void **state) {
    (void)state;
    return clv_context_new(NULL, &ctx) == CLV_OK ? 0 : -1;
}

static int tear_down(void **state) {
    size_t now, peak;
    (void)state;
    clv_context_memory(ctx, &now, &peak);
    clv_context_free(ctx);
    return now == 0 ? 0 : -1;
}

#endif
