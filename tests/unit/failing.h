/* An allocator for tests: it fails at an allocation of choice, counts what is outstanding, and fills what it gives with
 * bytes that make doubles NaN, so that nothing works by luck. */
#ifndef CLV_TEST_FAILING_H
#define CLV_TEST_FAILING_H

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct failing {
    int64_t calls, fail_at; /* fail_at 0: never */
    int64_t blocks;
} failing;

static void *failing_allocate(void *user, size_t bytes) {
    failing *f = user;
    f->calls++;
    void *block = f->calls == f->fail_at ? NULL : malloc(bytes);
    if (block) {
        memset(block, 0xff, bytes);
        f->blocks++;
    }
    return block;
}

static void failing_release(void *user, void *block) {
    failing *f = user;
    f->blocks -= block != NULL;
    free(block);
}

/* Run `body` with its first allocation failing, then its second, until none of them fails: each run must give
 * CLV_ENOMEM and a message, and leave nothing behind. Returns how many allocations there are. */
static inline int64_t check_every_failure(clv_status (*body)(clv_context *ctx, void *user), void *user) {
    for (int64_t k = 1;; k++) {
        failing f = {0};
        clv_allocator allocator = {failing_allocate, failing_release, &f};
        clv_context *ctx;
        assert_int_equal(clv_context_new(&allocator, &ctx), CLV_OK);
        f.fail_at = f.calls + k;
        clv_status status = body(ctx, user);
        size_t now, peak;
        clv_context_memory(ctx, &now, &peak);
        assert_int_equal(now, 0);
        assert_int_equal(f.blocks, 1); /* the context itself */
        bool failed = f.calls >= f.fail_at;
        assert_int_equal(status, failed ? CLV_ENOMEM : CLV_OK);
        assert_int_equal(clv_message(ctx)[0] != '\0', failed);
        clv_context_free(ctx);
        assert_int_equal(f.blocks, 0);
        if (!failed) {
            return k - 1;
        }
    }
}

static inline clv_context *new_context(void) {
    clv_context *ctx = NULL;
    assert_int_equal(clv_context_new(NULL, &ctx), CLV_OK);
    return ctx;
}

/* Nothing may be held when a test ends. */
static inline void end_context(clv_context *ctx) {
    size_t now, peak;
    clv_context_memory(ctx, &now, &peak);
    assert_int_equal(now, 0);
    clv_context_free(ctx);
}

#endif
